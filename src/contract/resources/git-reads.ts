import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { codeAs } from '../row-fields.ts';
import { flag, inRepository, int, list, pages, resource, text } from '../shape.ts';
import { CommitEntry } from './branches.ts';
import { PullRequest } from './pulls.ts';

/** A ref with its full name; `object.type` is `tag` for an annotated tag, otherwise `commit`. */
const GitRef = resource(
  { ref: text },
  { url: text, object: resource({}, { type: text, sha: text, url: text }) },
);

/** The git object of an annotated tag. */
const TagObject = resource(
  { tag: text, sha: text },
  {
    url: text,
    message: text,
    tagger: resource({}, { name: text, email: text, date: text }),
    object: resource({}, { type: text, url: text, sha: text }),
    verification: resource({}, { verified: flag, reason: text, signature: text, payload: text }),
  },
);

const Tree = resource(
  { sha: text },
  {
    url: text,
    tree: z.array(resource({ path: text }, { mode: text, type: text, size: int, sha: text, url: text })),
    truncated: flag,
    page: int,
    total_count: int,
  },
);

/** `commit` is the commit that wrote the note, not the commit that the note is about. */
const Note = resource({ message: text }, { commit: CommitEntry });

/** Optional parts of a commit; `false` omits a part. */
const parts = { stat: flag.optional(), verification: flag.optional(), files: flag.optional() };
const path = '/repos/{owner}/{repo}';
const bySha = z.object({ ...inRepository, sha: text });

export const gitReadOperations = {
  listRefs: defineOperation({
    id: 'ref.list',
    meaning: 'Lists all refs of a repository, by name; 404 where there is none.',
    method: 'GET',
    path: `${path}/git/refs`,
    ...codeAs('reader'),
    success: 200,
    response: list(GitRef),
    errors: [404],
    source: 'routers/api/v1/repo/git_ref.go GetGitAllRefs',
  }),
  findRefs: defineOperation({
    id: 'ref.find',
    meaning:
      'Lists the refs whose name without `refs/` begins with a text, such as `heads/main`; 404 where there is none.',
    method: 'GET',
    path: `${path}/git/refs/{ref*}`,
    ...codeAs('reader'),
    params: z.object({ ...inRepository, ref: text }),
    success: 200,
    response: list(GitRef),
    errors: [404],
    source: 'routers/api/v1/repo/git_ref.go GetGitRefs',
  }),
  getTagObject: defineOperation({
    id: 'tag.get-object',
    meaning: 'Returns an annotated tag by the id of its object; 400 for any other id.',
    method: 'GET',
    path: `${path}/git/tags/{sha}`,
    ...codeAs('reader'),
    params: bySha,
    success: 200,
    response: TagObject,
    errors: [400, 404],
    source: 'routers/api/v1/repo/tag.go GetAnnotatedTag',
  }),
  getTree: defineOperation({
    id: 'tree.get',
    meaning:
      'Returns the entries of a tree by its id, or by a commit, branch or tag; `recursive` those of its folders too. A page has 1,000 entries at most, and `tree` is null beyond the last one. `sha` is the id of the tree, before Gitea 1.28 and on Forgejo that of the commit.',
    method: 'GET',
    path: `${path}/git/trees/{sha}`,
    ...codeAs('reader'),
    params: bySha,
    query: z.object({ recursive: flag.optional(), page: int.optional(), per_page: int.optional() }),
    success: 200,
    response: Tree,
    errors: [400, 404],
    paging: 'count',
    source: 'routers/api/v1/repo/tree.go GetTree; services/repository/files/tree.go',
  }),
  getNote: defineOperation({
    id: 'note.get',
    meaning:
      'Returns the note of a commit (`git notes`), with the commit that wrote it; `false` omits optional parts.',
    method: 'GET',
    path: `${path}/git/notes/{sha}`,
    ...codeAs('reader'),
    params: bySha,
    query: z.object({ verification: flag.optional(), files: flag.optional() }),
    success: 200,
    response: Note,
    errors: [404, 422],
    source: 'routers/api/v1/repo/notes.go GetNote; modules/git/notes.go',
  }),
  listCommits: defineOperation({
    id: 'commit.list',
    meaning:
      'Lists the commits of a branch, tag or commit, newest first, without those of `not`; of a path 50 at a time, whatever `limit` says. Forgejo ignores `since` and `until`. `X-Page`, `X-PerPage`, `X-Total`, `X-PageCount` and `X-HasMore` repeat the paging.',
    method: 'GET',
    path: `${path}/commits`,
    ...codeAs('reader'),
    query: z.object({
      ...pages,
      ...parts,
      sha: text.optional(),
      path: text.optional(),
      since: text.optional(),
      until: text.optional(),
      not: text.optional(),
    }),
    success: 200,
    response: list(CommitEntry),
    errors: [404, 409, 422],
    paging: 'link',
    baseline: { 'unknown `not`, unknown `sha` with a path, path outside of the tree': 500 },
    source: 'routers/api/v1/repo/commits.go GetAllCommits',
  }),
  getCommitPull: defineOperation({
    id: 'commit.get-pull',
    meaning: 'Returns the pull request whose merge created a commit, by the whole id of the commit.',
    method: 'GET',
    path: `${path}/commits/{sha}/pull`,
    ...codeAs('reader'),
    params: bySha,
    success: 200,
    response: PullRequest,
    errors: [404],
    source: 'routers/api/v1/repo/commits.go GetCommitPullRequest',
  }),
} as const;

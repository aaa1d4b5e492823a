import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { codeAs } from '../row-fields.ts';
import { flag, inRepository, instant, int, list, pages, resource, text } from '../shape.ts';
import { User } from './users.ts';

const Identity = resource({}, { name: text, email: text, username: text });
const Verification = resource(
  {},
  {
    verified: flag,
    reason: text,
    signature: text,
    payload: text,
    signer: resource({}, { name: text, email: text, username: text }),
  },
);

/** A commit in pushes and branches. `timestamp` is the author's date. */
export const Commit = resource(
  { id: text },
  {
    message: text,
    url: text,
    author: Identity,
    committer: Identity,
    timestamp: instant,
    verification: Verification,
    added: z.array(text),
    modified: z.array(text),
    removed: z.array(text),
  },
);
export type Commit = z.output<typeof Commit>;

export const Branch = resource(
  { name: text },
  {
    commit: Commit,
    protected: flag,
    required_approvals: int,
    enable_status_check: flag,
    status_check_contexts: z.array(text),
    user_can_push: flag,
    user_can_merge: flag,
    effective_branch_protection_name: text,
  },
);
export type Branch = z.output<typeof Branch>;

/** A commit in commit lists. `commit` contains the message, the author and the committer; `sha` is the commit id. */
export const CommitEntry = resource(
  { sha: text },
  {
    url: text,
    html_url: text,
    created: instant,
    commit: resource(
      {},
      {
        message: text,
        url: text,
        author: resource({}, { name: text, email: text, date: instant }),
        committer: resource({}, { name: text, email: text, date: instant }),
        tree: resource({}, { sha: text, url: text, created: instant }),
        verification: Verification,
      },
    ),
    /** Accounts with the e-mail addresses of author and committer; null if no account has the address. */
    author: User,
    committer: User,
    parents: z.array(resource({ sha: text }, { url: text, created: instant })),
    /** `status` is added, removed or modified. Some lists omit the files. */
    files: z.array(resource({ filename: text }, { status: text })),
    /** Line counts. */
    stats: resource({}, { total: int, additions: int, deletions: int }),
  },
);
export type CommitEntry = z.output<typeof CommitEntry>;

/** A file changed by a pull request or in a comparison. `previous_filename` is set only if the file was renamed. */
export const ChangedFile = resource(
  { filename: text },
  {
    previous_filename: text,
    /** added, changed, deleted, renamed, copied, unchanged. */
    status: text,
    additions: int,
    deletions: int,
    changes: int,
    html_url: text,
    contents_url: text,
    raw_url: text,
  },
);
export type ChangedFile = z.output<typeof ChangedFile>;

/**
 * Only Forgejo sends `files` of the whole comparison; for other forges, the client combines the files of the commits.
 */
export const Compare = resource(
  {},
  { total_commits: int, commits: z.array(CommitEntry), files: z.array(ChangedFile) },
);
export type Compare = z.output<typeof Compare>;

export const branchOperations = {
  listBranches: defineOperation({
    id: 'branch.list',
    meaning:
      'Lists branches, last committed first; `null` for an empty repository; `q` filters by name (not on Forgejo).',
    method: 'GET',
    path: '/repos/{owner}/{repo}/branches',
    ...codeAs('reader'),
    query: z.object({ ...pages, q: text.optional() }),
    success: 200,
    response: list(Branch),
    errors: [404],
    paging: 'link',
    source: 'routers/api/v1/repo/branch.go ListBranches',
  }),
  getBranch: defineOperation({
    id: 'branch.get',
    meaning: 'Returns a branch; its name may contain slashes.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/branches/{branch*}',
    ...codeAs('reader'),
    params: z.object({ ...inRepository, branch: text }),
    success: 200,
    response: Branch,
    errors: [404],
    source: 'routers/api/v1/repo/branch.go GetBranch',
  }),
  createBranch: defineOperation({
    id: 'branch.create',
    meaning: 'Creates a branch from a branch, tag or commit (default: the default branch).',
    method: 'POST',
    path: '/repos/{owner}/{repo}/branches',
    ...codeAs('writer'),
    body: z.strictObject({
      new_branch_name: text,
      old_ref_name: text.optional(),
      old_branch_name: text.optional(),
    }),
    success: 201,
    response: Branch,
    errors: [403, 404, 409, 422, 423],
    archived: 'after-role',
    baseline: { 'unknown old_ref_name': 500 },
    source: 'routers/api/v1/repo/branch.go CreateBranch',
  }),
  deleteBranch: defineOperation({
    id: 'branch.delete',
    meaning: 'Deletes a branch, but not the default branch or a protected one.',
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/branches/{branch*}',
    ...codeAs('writer'),
    params: z.object({ ...inRepository, branch: text }),
    success: 204,
    errors: [403, 404, 423],
    archived: 'after-role',
    source: 'routers/api/v1/repo/branch.go DeleteBranch',
  }),
  updateBranch: defineOperation({
    id: 'branch.update',
    meaning: 'Moves a branch to another commit; a non-fast-forward only with `force`.',
    method: 'PUT',
    path: '/repos/{owner}/{repo}/branches/{branch*}',
    ...codeAs('writer'),
    params: z.object({ ...inRepository, branch: text }),
    body: z.strictObject({
      new_commit_id: text,
      /** The request is refused with 422 if the branch is no longer at this commit. */
      old_commit_id: text.optional(),
      force: flag.optional(),
    }),
    success: 204,
    errors: [403, 404, 422, 423],
    archived: 'after-role',
    baseline: { 'unknown commit': 500 },
    source: 'routers/api/v1/repo/branch.go UpdateBranch; services/repository/branch.go UpdateBranch',
  }),
  renameBranch: defineOperation({
    id: 'branch.rename',
    meaning: 'Renames a branch; for the default branch, only administrators of the repository may.',
    method: 'PATCH',
    path: '/repos/{owner}/{repo}/branches/{branch*}',
    ...codeAs('writer'),
    params: z.object({ ...inRepository, branch: text }),
    body: z.strictObject({ name: text }),
    success: 204,
    errors: [403, 404, 422, 423],
    archived: 'after-role',
    source: 'routers/api/v1/repo/branch.go RenameBranch; services/repository/branch.go RenameBranch',
  }),
  compare: defineOperation({
    id: 'repository.compare',
    meaning: 'Compares two refs or commits: commits and files since their merge base (`base...head`).',
    method: 'GET',
    path: '/repos/{owner}/{repo}/compare/{basehead*}',
    ...codeAs('reader'),
    params: z.object({ ...inRepository, basehead: text }),
    success: 200,
    response: Compare,
    errors: [404],
    normalize: 'compare',
    source: 'routers/api/v1/repo/compare.go CompareDiff',
  }),
} as const;

import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { codeAs } from '../row-fields.ts';
import { flag, inRepository, instant, int, resource, text } from '../shape.ts';

export const ContentsEntry = resource(
  { name: text, path: text, type: z.enum(['file', 'dir', 'symlink', 'submodule']) },
  {
    sha: text,
    size: int,
    url: text,
    html_url: text,
    git_url: text,
    download_url: text,
    /** `base64`; null if the entry is not a file or is larger than the forge's blob limit. */
    encoding: text,
    content: text,
    target: text,
    submodule_git_url: text,
    last_commit_sha: text,
    last_commit_message: text,
    last_committer_date: instant,
    last_author_date: instant,
    lfs_oid: text,
    lfs_size: int,
    _links: resource({}, { self: text, git: text, html: text }),
  },
);
export type ContentsEntry = z.output<typeof ContentsEntry>;

/** Exactly one of the two fields is set; for an empty directory, neither is. */
const ExtendedContents = resource({}, { file_contents: ContentsEntry, dir_contents: z.array(ContentsEntry) });

const CommitUser = resource({}, { name: text, email: text, date: text });
const FileResponse = resource(
  {},
  {
    content: ContentsEntry,
    commit: resource(
      { sha: text },
      {
        url: text,
        html_url: text,
        created: instant,
        message: text,
        author: CommitUser,
        committer: CommitUser,
        parents: z.array(resource({ sha: text }, { url: text, created: instant })),
        tree: resource({}, { sha: text, url: text, created: instant }),
      },
    ),
    verification: resource({}, { verified: flag, reason: text, signature: text, payload: text }),
  },
);

/** The response to a change of several files: one entry per file, `null` for removed files. */
const FilesResponse = FileResponse.omit({ content: true }).extend({
  files: z.array(ContentsEntry.nullable()).nullish(),
});

/** Change of one file in a commit. */
const ChangeFile = z.strictObject({
  /** create, update, upload (create or update), rename or delete. */
  operation: text,
  path: text,
  /** Content in base64. */
  content: text.optional(),
  sha: text.optional(),
  from_path: text.optional(),
});

const person = z.strictObject({ name: text.optional(), email: text.optional() }).optional();
const writing = {
  message: text.optional(),
  branch: text.optional(),
  new_branch: text.optional(),
  author: person,
  committer: person,
  dates: z.strictObject({ author: instant.optional(), committer: instant.optional() }).optional(),
  signoff: flag.optional(),
};
const atPath = { ...inRepository, filepath: text };

export const contentsOperations = {
  getContents: defineOperation({
    id: 'contents.get',
    meaning:
      'Returns an entry with its content, or the entries of a directory; `ref` is a branch, tag or commit.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/contents/{filepath*}',
    ...codeAs('reader'),
    params: z.object(atPath),
    query: z.object({ ref: text.optional() }),
    success: 200,
    response: z.union([ContentsEntry, z.array(ContentsEntry)]),
    errors: [400, 404],
    normalize: 'contents',
    source: 'routers/api/v1/repo/file.go GetContents',
  }),
  listContents: defineOperation({
    id: 'contents.list',
    meaning: 'Returns the entries of the root; on an empty repository 404, on Forgejo an empty list.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/contents',
    ...codeAs('reader'),
    query: z.object({ ref: text.optional() }),
    success: 200,
    response: z.union([ContentsEntry, z.array(ContentsEntry)]),
    errors: [404],
    normalize: 'contents',
    source: 'routers/api/v1/repo/file.go GetContentsList',
  }),
  getContentsExt: defineOperation({
    id: 'contents.get-ext',
    meaning:
      'Returns the same with the members in `includes`; not on Forgejo. Errors may be followed by junk bytes.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/contents-ext/{filepath*}',
    ...codeAs('reader'),
    params: z.object(atPath),
    query: z.object({ ref: text.optional(), includes: text.optional() }),
    success: 200,
    response: ExtendedContents,
    errors: [400, 404],
    normalize: 'contents',
    source: 'routers/api/v1/repo/file.go GetContentsExt',
  }),
  createFile: defineOperation({
    id: 'contents.create',
    meaning: 'Commits a new file; `content` is base64.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/contents/{filepath*}',
    ...codeAs('writer'),
    params: z.object(atPath),
    body: z.strictObject({ ...writing, content: text }),
    mayBeMissing: ['content'],
    success: 201,
    response: FileResponse,
    errors: [403, 404, 422, 423],
    archived: 'after-role',
    source: 'routers/api/v1/repo/file.go CreateFile',
  }),
  changeFiles: defineOperation({
    id: 'contents.change',
    meaning: 'Commits changes of several files at once.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/contents',
    ...codeAs('writer'),
    body: z.strictObject({ ...writing, files: z.array(ChangeFile) }),
    success: 201,
    response: FilesResponse,
    errors: [403, 404, 422, 423],
    archived: 'after-role',
    source: 'routers/api/v1/repo/file.go ChangeFiles',
  }),
  applyDiffPatch: defineOperation({
    id: 'contents.apply-patch',
    meaning:
      'Commits a patch: `git apply -3 --whitespace=fix --ignore-whitespace`, which repairs whitespace. A patch that does not apply: 500 on both forges.',
    method: 'POST',
    path: '/repos/{owner}/{repo}/diffpatch',
    ...codeAs('writer'),
    body: z.strictObject({
      ...writing,
      /** Unified diff, or mails from `git format-patch`, which are applied as one commit. */
      content: text,
      /** Ignored; Forgejo requires any text. */
      sha: text.optional(),
    }),
    success: 201,
    response: FileResponse,
    errors: [403, 404, 422, 423],
    archived: 'after-role',
    baseline: { 'patch that does not apply': 500 },
    source: 'routers/api/v1/repo/patch.go ApplyDiffPatch; services/repository/files/patch.go',
  }),
  updateFile: defineOperation({
    id: 'contents.update',
    meaning:
      'Commits a changed file; 200 with the `sha` of the old content, without it the file is created (201).',
    method: 'PUT',
    path: '/repos/{owner}/{repo}/contents/{filepath*}',
    ...codeAs('writer'),
    params: z.object(atPath),
    body: z.strictObject({ ...writing, content: text, sha: text.optional(), from_path: text.optional() }),
    mayBeMissing: ['content'],
    success: 200,
    response: FileResponse,
    errors: [403, 404, 422, 423],
    archived: 'after-role',
    source: 'routers/api/v1/repo/file.go UpdateFile',
  }),
  deleteFile: defineOperation({
    id: 'contents.delete',
    meaning: 'Commits the deletion of a file; the `sha` of its content is required.',
    method: 'DELETE',
    path: '/repos/{owner}/{repo}/contents/{filepath*}',
    ...codeAs('writer'),
    params: z.object(atPath),
    body: z.strictObject({ ...writing, sha: text }),
    success: 200,
    response: FileResponse,
    errors: [400, 403, 404, 422, 423],
    archived: 'after-role',
    source: 'routers/api/v1/repo/file.go DeleteFile',
  }),
} as const;

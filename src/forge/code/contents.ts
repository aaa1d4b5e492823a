import { posix } from 'node:path';
import { toVerification } from '../accounts/gpg-keys-rows.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import type { Signature } from '../platform/git/commit.ts';
import type { FileEdit } from '../platform/git/commit-files.ts';
import { lastCommits } from '../platform/git/history.ts';
import { applyPatch, commitTree } from '../platform/git/merge.ts';
import { cleanTreePath, cleanWritePath, isObjectId, isRefName } from '../platform/git/names.ts';
import { moveRefs, readBranch, readCommit, resolveRef } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { findEntry, readTree, type TreeEntry } from '../platform/git/tree.ts';
import { defineHandlers, type HandlerCall } from '../platform/http/handler.ts';
import type { UserRow } from '../platform/rows.ts';
import { parseTimestamp } from '../platform/time.ts';
import { guardFiles, guardMove, refuseMirror } from '../pulls/enforcement.ts';
import { repositoryAddress, signatureOf, toFileCommit } from './commits-rows.ts';
import { type ContentsRevision, type Includes, toContentsEntry } from './contents-rows.ts';
import { withPush } from './pushes.ts';

type ContentsRequest = RepositoryTarget & {
  readonly context: ForgeContext;
  readonly filepath: string;
  readonly ref: string | undefined;
};

type EntryView = Awaited<ReturnType<typeof toContentsEntry>>;

/** Handlers for reading `contents` and `contents-ext` from git. */
export const contentsHandlers = defineHandlers({
  listContents: async ({ query, ...call }) => {
    const includes = { fileContent: true, lfs: false, commit: true, message: false };
    return await readContents({ ...call, filepath: '', ref: query.ref || undefined }, includes);
  },

  getContents: async ({ params, query, ...call }) => {
    const includes = { fileContent: true, lfs: false, commit: true, message: false };
    return await readContents({ ...call, filepath: params.filepath, ref: query.ref || undefined }, includes);
  },

  getContentsExt: async ({ params, query, ...call }) => {
    const filepath = /^[./]$/.test(params.filepath) ? '' : params.filepath;
    const includes = parseIncludes(query.includes ?? '');
    try {
      const found = await readContents({ ...call, filepath, ref: query.ref || undefined }, includes);
      if (!Array.isArray(found)) return { file_contents: found };
      // An empty list is omitted, like a missing one.
      return found.length === 0 ? {} : { dir_contents: found };
    } catch (error) {
      // After sending the error, Gitea continues and appends its empty response.
      if (error instanceof ForgeProblem)
        throw new ForgeProblem(error.status, error.message, 'followed-by-null');
      throw error;
    }
  },
});

const options: Readonly<Record<string, keyof Includes>> = {
  file_content: 'fileContent',
  lfs_metadata: 'lfs',
  commit_metadata: 'commit',
  commit_message: 'message',
};

function parseIncludes(text: string): Includes {
  const includes = { fileContent: false, lfs: false, commit: false, message: false };
  for (const word of text.split(',')) {
    if (word === '') continue;
    const option = Object.hasOwn(options, word) ? options[word] : undefined;
    if (option === undefined) throw new ForgeProblem(400, `unknown include option "${word}"`);
    includes[option] = true;
  }
  return includes;
}

async function readContents(asked: ContentsRequest, includes: Includes): Promise<EntryView | EntryView[]> {
  const { context, repository, ref, filepath } = asked;
  const git = context.git.open(repository.id);
  const path = cleanTreePath(withoutClimbing(filepath));
  const word = ref ?? repository.default_branch;
  // Accepts a branch, a tag or a full commit id; a full ref name or an abbreviated id is not accepted.
  const resolved = word.startsWith('refs/') ? undefined : await resolveRef(git, word);
  const isShort = resolved?.kind === 'commit' && !isObjectId(word.toLowerCase());
  if (resolved === undefined || isShort)
    throw new ForgeProblem(404, `object does not exist [id: ${word}, rel_path: ]`);
  if (filepath.includes('\0')) throw new ForgeProblem(404, 'object does not exist');
  if (path === undefined || (path === '' && filepath !== '')) {
    throw new ForgeProblem(400, `path contains a malformed path component [path: ${filepath}]`);
  }
  const view = { ref: resolved, word };
  if (path === '')
    return await listDirectory(asked, git, view, { path, treeId: resolved.commit.id }, includes);
  const entry = await findEntry(git, resolved.commit.id, path);
  if (entry === undefined) throw new ForgeProblem(404, `object does not exist [id: , rel_path: ${path}]`);
  if (entry.kind === 'dir') {
    return await listDirectory(asked, git, view, { path, treeId: entry.id }, includes);
  }
  return await describeEntry(asked, git, view, { path, entry }, includes);
}

/** Resolves `..` segments, even at the start of the path, so that reads never leave the tree. */
function withoutClimbing(filepath: string): string {
  return filepath.split('/').includes('..') ? posix.join('/', filepath).slice(1) : filepath;
}

async function describeEntry(
  { context, owner, repository }: ContentsRequest,
  git: GitRepository,
  view: ContentsRevision,
  { path, entry }: { path: string; entry: TreeEntry },
  includes: Includes,
): Promise<EntryView> {
  const directory = path.split('/').slice(0, -1).join('/');
  const wantsCommit = includes.commit || includes.message;
  const last = wantsCommit ? await lastCommits(git, view.ref.commit.id, directory, [entry.name]) : undefined;
  const address = repositoryAddress(context.rootUrl(), owner.name, repository.name);
  return await toContentsEntry(
    { repository: git, address, view, path },
    entry,
    includes,
    last?.get(entry.name),
  );
}

async function listDirectory(
  { context, owner, repository }: ContentsRequest,
  git: GitRepository,
  view: ContentsRevision,
  { path, treeId }: { path: string; treeId: string },
  includes: Includes,
): Promise<EntryView[]> {
  const entries = (await readTree(git, treeId)) ?? [];
  const names = entries.map((entry) => entry.name);
  const wantsCommit = (includes.commit || includes.message) && names.length > 0;
  const last = wantsCommit ? await lastCommits(git, view.ref.commit.id, path, names) : undefined;
  const address = repositoryAddress(context.rootUrl(), owner.name, repository.name);
  // Only single files include their content; a list would grow without bound.
  const inList = { ...includes, fileContent: false };
  return await Promise.all(
    entries.map((entry) => {
      const place = {
        repository: git,
        address,
        view,
        path: path === '' ? entry.name : `${path}/${entry.name}`,
      };
      return toContentsEntry(place, entry, inList, last?.get(entry.name));
    }),
  );
}

type Person = { readonly name?: string | undefined; readonly email?: string | undefined };

/** Fields shared by all file writes. */
type FileWrite = {
  readonly message?: string | undefined;
  readonly branch?: string | undefined;
  readonly new_branch?: string | undefined;
  readonly author?: Person | undefined;
  readonly committer?: Person | undefined;
  readonly dates?:
    | { readonly author?: string | undefined; readonly committer?: string | undefined }
    | undefined;
  readonly signoff?: boolean | undefined;
};

type Writer = RepositoryTarget & Pick<HandlerCall, 'context'> & { readonly caller: UserRow };

/** Handlers for writing `contents`: each call creates a commit and has the effects of a push. */
export const fileHandlers = defineHandlers({
  createFile: ({ params, body, ...call }) =>
    writeFile(call, body, {
      kind: 'create',
      path: params.filepath,
      content: decodeContent(body.content),
    }),

  updateFile: async ({ params, body, ...call }) => {
    const kind = body.sha ? 'update' : 'create';
    if (kind === 'create') call.reply.status(201);
    return await writeFile(call, body, {
      kind,
      path: params.filepath,
      content: decodeContent(body.content),
      from: body.from_path || undefined,
      sha: body.sha,
    });
  },

  deleteFile: ({ params, body, ...call }) =>
    writeFile(call, body, { kind: 'delete', path: params.filepath, sha: body.sha }),

  changeFiles: async ({ body, ...call }) => {
    const requests = body.files.map(
      (file): FileEditRequest => ({
        kind: readKind(file.operation),
        path: file.path,
        content: decodeContent(file.content ?? ''),
        from: file.from_path || undefined,
        sha: file.sha,
      }),
    );
    const { entries, ...rest } = await writeFiles(call, body, requests);
    return { files: entries.length === 0 ? null : entries, ...rest };
  },
});

const kinds = ['create', 'update', 'upload', 'rename', 'delete'] as const;

function readKind(operation: string): FileEditRequest['kind'] {
  const kind = kinds.find((known) => known === operation);
  if (!kind) throw new ForgeProblem(422, `[Operation]: In(${kinds.join(',')})`);
  return kind;
}

function decodeContent(text: string): Buffer {
  const plain = text.replace(/[\r\n]/g, '');
  const isBase64 = /^[A-Za-z0-9+/]*={0,2}$/.test(plain) && plain.length % 4 === 0;
  if (!isBase64) throw new ForgeProblem(422, 'illegal base64 data');
  return Buffer.from(plain, 'base64');
}

async function writeFile(writer: Writer, writing: FileWrite, request: FileEditRequest) {
  const { entries, ...rest } = await writeFiles(writer, writing, [request]);
  return { content: entries[0] ?? null, ...rest };
}

async function writeFiles(writer: Writer, writing: FileWrite, given: readonly FileEditRequest[]) {
  const { context, repository, owner, caller } = writer;
  refuseMirror(repository);
  const branch = writing.branch || repository.default_branch;
  const target = writing.new_branch || branch;
  const requests = given.map((request) => {
    const path = cleanWritePath(request.path);
    if (!path)
      throw new ForgeProblem(422, `path contains a malformed path component [path: ${request.path}]`);
    return { ...request, path };
  });
  return await withPush(context, { repository, owner, pusher: caller }, async () => {
    const git = context.git.open(repository.id);
    const head = await readBranch(git, branch);
    if (!head && repository.is_empty === 0)
      throw new ForgeProblem(404, `branch does not exist [name: ${branch}]`);
    if (target !== branch && (!isRefName(target) || (await readBranch(git, target)))) {
      throw new ForgeProblem(422, `branch already exists or its name is invalid [name: ${target}]`);
    }
    if (!isRefName(target)) throw new ForgeProblem(422, `"${target}" is not a valid branch name`);
    const edits: FileEdit[] = [];
    for (const request of requests) edits.push(...(await planEdit(git, head?.id, request)));
    guardFiles(
      { db: context.db, repository, owner },
      caller,
      target,
      edits.map((edit) => edit.path),
    );
    const before = target === branch ? head?.id : undefined;
    const people = signaturesOf(writer, writing);
    const message = commitMessage(requests, writing, people.committer);
    const commit = { branch: target, before, parent: head?.id, message, ...people, edits };
    const after = await context.git.commitFiles(repository.id, commit);
    const paths = requests.map(({ path }) => path);
    const result = await describe(writer, { target, paths, commitId: after });
    return { result, changes: [{ ref: `refs/heads/${target}`, before, after }] };
  });
}

async function describe(
  { context, repository, owner }: Writer,
  { target, paths, commitId }: { target: string; paths: readonly string[]; commitId: string },
) {
  const git = context.git.open(repository.id);
  const commit = await readCommit(git, commitId);
  if (!commit) throw new TypeError(`commit ${commitId} is missing right after it was written`);
  const view = { ref: { kind: 'branch' as const, commit }, word: target };
  const includes = { fileContent: true, lfs: false, commit: true, message: false };
  const address = repositoryAddress(context.rootUrl(), owner.name, repository.name);
  const entries = await Promise.all(
    paths.map(async (path) => {
      const entry = await findEntry(git, commitId, path);
      // The new commit is the last change of the files that it wrote, so no history walk is needed.
      const place = { repository: git, address, view, path };
      return entry ? await toContentsEntry(place, entry, includes, commit) : null;
    }),
  );
  return { entries, commit: toFileCommit(address, commit), verification: toVerification(context.db, commit) };
}

/**
 * Returns the author and the committer. If only one of them is named, it is used for both; if neither is, the caller is
 * used.
 */
function signaturesOf(
  { context, caller }: Pick<Writer, 'context' | 'caller'>,
  { author, committer, dates }: FileWrite,
) {
  const own = signatureOf(context, caller);
  const sign = (
    person: Person | undefined,
    other: Person | undefined,
    date: string | undefined,
  ): Signature => {
    const named = isNamed(person) ? person : isNamed(other) ? other : undefined;
    return {
      name: named?.name || own.name,
      email: named?.email || own.email,
      seconds: parseTimestamp(date) ?? own.seconds,
      zone: own.zone,
    };
  };
  return {
    author: sign(author, committer, dates?.author),
    committer: sign(committer, author, dates?.committer),
  };
}

function isNamed(person: Person | undefined): boolean {
  return Boolean(person?.name || person?.email);
}

const verbs = [
  ['Add', ['create']],
  ['Update', ['update', 'upload', 'rename']],
  ['Delete', ['delete']],
] as const;

/** Returns the commit message: the given one, or one that names the files; adds a sign-off line if requested. */
function commitMessage(
  requests: readonly FileEditRequest[],
  writing: FileWrite,
  committer: Signature,
): string {
  const lines = verbs.flatMap(([verb, ofVerb]) => {
    const paths = requests
      .filter(({ kind }) => ofVerb.some((known) => known === kind))
      .map(({ path }) => path);
    return paths.length > 0 ? [`${verb} ${paths.join(', ')}`] : [];
  });
  const text = writing.message?.trim() || lines.join('\n');
  const sign = writing.signoff ? `\n\nSigned-off-by: ${committer.name} <${committer.email}>` : '';
  return `${text}${sign}\n`;
}

/** A requested edit of one path. */
type FileEditRequest = {
  /** `upload` overwrites without checking the previous content; `rename` keeps the content. */
  readonly kind: 'create' | 'update' | 'upload' | 'rename' | 'delete';
  readonly path: string;
  readonly content?: Buffer;
  /** Current path of a file to move. */
  readonly from?: string | undefined;
  /** Blob id of the content that the caller has seen. */
  readonly sha?: string | undefined;
};

/**
 * Returns the edits for a file edit request. Ends the HTTP request if the tree of `commitId` (undefined if the
 * repository is empty) does not allow them.
 */
async function planEdit(
  git: GitRepository,
  commitId: string | undefined,
  request: FileEditRequest,
): Promise<FileEdit[]> {
  const { kind, path, content } = request;
  const from = request.from === undefined ? path : cleanTreePath(request.from);
  if (!from) throw new ForgeProblem(422, `path contains a malformed path component [path: ${request.from}]`);
  const old = await findBefore(git, commitId, { ...request, from });
  if (kind === 'delete') return [{ path, content: undefined }];
  const isNew = kind === 'create' || from !== path;
  if (commitId !== undefined) await guardTarget(git, commitId, path, isNew);
  const mode = old?.mode === '100755' ? '100755' : '100644';
  const kept = kind === 'rename' && old ? (await git.objects.read(old.id))?.content : content;
  const write = { path, content: kept ?? Buffer.alloc(0), mode } as const;
  return from === path ? [write] : [{ path: from, content: undefined }, write];
}

/** Returns the current entry at the path. An upload accepts any entry or none. */
async function findBefore(
  git: GitRepository,
  commitId: string | undefined,
  { kind, from, sha }: FileEditRequest & { readonly from: string },
): Promise<TreeEntry | undefined> {
  if (kind === 'create' || commitId === undefined) {
    return kind === 'create' || kind === 'upload' ? undefined : await findOld(git, commitId, from, sha);
  }
  if (kind === 'upload' && !sha) return await findEntry(git, commitId, from);
  return await findOld(git, commitId, from, sha);
}

async function findOld(
  git: GitRepository,
  commitId: string | undefined,
  path: string,
  sha: string | undefined,
): Promise<TreeEntry> {
  const entry = commitId === undefined ? undefined : await findEntry(git, commitId, path);
  if (entry === undefined) throw new ForgeProblem(404, `repository file does not exist [path: ${path}]`);
  if (entry.id !== sha) {
    throw new ForgeProblem(422, `sha does not match [given: ${sha}, expected: ${entry.id}]`);
  }
  return entry;
}

/**
 * Ends the request with 422 if a parent of the path is a file, or if the target exists and is not a file that may be
 * overwritten.
 */
async function guardTarget(
  git: GitRepository,
  commitId: string,
  path: string,
  isNew: boolean,
): Promise<void> {
  const segments = path.split('/');
  for (let count = 1; count <= segments.length; count += 1) {
    const part = segments.slice(0, count).join('/');
    const entry = await findEntry(git, commitId, part);
    if (entry === undefined) return;
    const isEnd = count === segments.length;
    if (!isEnd && entry.kind !== 'dir') {
      throw new ForgeProblem(422, `a file exists where a directory is needed [path: ${part}]`);
    }
    if (isEnd && entry.kind !== 'file') {
      throw new ForgeProblem(422, `a ${entry.kind} exists where a file is needed [path: ${part}]`);
    }
    if (isEnd && isNew) throw new ForgeProblem(422, `repository file already exists [path: ${part}]`);
  }
}

/** Handlers for patches: git applies a patch to the tip of a branch, with the effects of a push. */
export const patchHandlers = defineHandlers({
  async applyDiffPatch({ body, ...call }) {
    const { context, repository, owner, caller } = call;
    refuseMirror(repository);
    const branch = body.branch || repository.default_branch;
    const target = body.new_branch || branch;
    const git = context.git.open(repository.id);
    const commit = await withPush(context, { repository, owner, pusher: caller }, async () => {
      const head = await readBranch(git, branch);
      if (!head) throw new ForgeProblem(404, `branch does not exist [name: ${branch}]`);
      const isTaken = target !== branch && (await readBranch(git, target)) !== undefined;
      if (isTaken || !isRefName(target))
        throw new ForgeProblem(422, `branch already exists or its name is invalid [name: ${target}]`);
      const tree = await applyPatch(git, head.id, body.content);
      // Gitea and Forgejo respond with 500.
      if (tree === undefined) throw new ForgeProblem(422, 'git apply error: the patch does not apply');
      const people = signaturesOf(call, body);
      const message = commitMessage(
        [],
        { ...body, message: body.message || 'apply-patch' },
        people.committer,
      );
      const after = await commitTree(git, tree, { parents: [head.id], message, ...people });
      const change = { ref: `refs/heads/${target}`, before: target === branch ? head.id : undefined, after };
      await guardMove({ db: context.db, repository, owner, user: caller, git }, change);
      if (!(await moveRefs(git, [{ ...change, name: change.ref }]))) {
        throw new ForgeProblem(409, 'the branch was moved in the meantime');
      }
      return { result: await readCommit(git, after), changes: [change] };
    });
    if (!commit) throw new TypeError('the commit of a patch is missing right after it was written');
    const address = repositoryAddress(context.rootUrl(), owner.name, repository.name);
    return {
      content: null,
      commit: toFileCommit(address, commit),
      verification: toVerification(context.db, commit),
    };
  },
});

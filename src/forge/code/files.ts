import type { RepositoryTarget } from '../access/targets.ts';
import { ForgeProblem } from '../core/errors.ts';
import type { UserRow } from '../core/rows.ts';
import { parseTimestamp } from '../core/time.ts';
import type { Signature } from '../git/commit.ts';
import type { FileEdit } from '../git/commit-files.ts';
import { cleanTreePath, cleanWritePath, isRefName } from '../git/names.ts';
import { readBranch, readCommit } from '../git/refs.ts';
import type { GitRepository } from '../git/repository.ts';
import { findEntry, type TreeEntry } from '../git/tree.ts';
import { defineHandlers, type HandlerCall } from '../http/handler.ts';
import { guardFiles, refuseMirror } from '../protections/enforcement.ts';
import { repositoryAddress, toFileCommit } from '../views/commit.ts';
import { signatureOf } from '../views/signature.ts';
import { toVerification } from '../views/verification.ts';
import { toContentsEntry } from './contents-entry.ts';
import { withPush } from './pushes.ts';

type Person = { readonly name?: string | undefined; readonly email?: string | undefined };

/** Members that every way of writing a file shares. */
export type FileWrite = {
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

/** `contents` written: each call is a commit, and a push like any other. */
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
      throw new ForgeProblem(422, `branch already exists or is no name of one [name: ${target}]`);
    }
    if (!isRefName(target)) throw new ForgeProblem(422, `"${target}" is no name of a branch`);
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
  if (!commit) throw new TypeError(`commit ${commitId} is gone right after it was written`);
  const view = { ref: { kind: 'branch' as const, commit }, word: target };
  const includes = { fileContent: true, lfs: false, commit: true, message: false };
  const address = repositoryAddress(context.rootUrl(), owner.name, repository.name);
  const entries = await Promise.all(
    paths.map(async (path) => {
      const entry = await findEntry(git, commitId, path);
      // What was written just now was changed last by this very commit: no walk through history.
      const place = { repository: git, address, view, path };
      return entry ? await toContentsEntry(place, entry, includes, commit) : null;
    }),
  );
  return { entries, commit: toFileCommit(address, commit), verification: toVerification(context.db, commit) };
}

/** Returns author and committer: a single name is both; without names, the caller is both. */
export function signaturesOf(
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

/** Returns the message of a commit: the given one, or one that names the files; with a line of who signs it off. */
export function commitMessage(
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

/** What a caller wants done to one path. */
type FileEditRequest = {
  /** `upload` writes over what is there without asking what it was; `rename` keeps the content. */
  readonly kind: 'create' | 'update' | 'upload' | 'rename' | 'delete';
  readonly path: string;
  readonly content?: Buffer;
  /** The path the file has now, where it moves. */
  readonly from?: string | undefined;
  /** Id of the content that the caller has seen. */
  readonly sha?: string | undefined;
};

/**
 * Returns the edits of a commit that does what was asked, or ends the request where the tree of `commitId` (undefined:
 * nothing there yet) does not allow it.
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

/** Returns what is at the path before; an upload takes whatever that is, and nothing too. */
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

/** No part of the way may be a file, and the end must be a file that may be written over, or nothing. */
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
      throw new ForgeProblem(422, `a ${entry.kind} exists where the file shall be [path: ${part}]`);
    }
    if (isEnd && isNew) throw new ForgeProblem(422, `repository file already exists [path: ${part}]`);
  }
}

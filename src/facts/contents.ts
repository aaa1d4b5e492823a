import { createHash } from 'node:crypto';
import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import type { ContentsEntry } from '../contract/resources/contents.ts';
import { instant, int, text } from '../contract/shape.ts';
import { type AskContext, defineFact, requestOf } from './fact.ts';
import { defaultBranch, isZeroCommit } from './files.ts';
import { pullRequest } from './pull-request.ts';
import { ways } from './ways.ts';
import { absentAsUndefined, repositoryParams } from './where.ts';

/** A file of the repository with its text; a directory, link or submodule has none. */
const File = z.object({
  path: text,
  /** file, dir, symlink, submodule. */
  type: text,
  /** The text, decoded as UTF-8; null if the entry is not a file or is larger than the forge's limit. */
  content: text.nullable(),
  /** Size in bytes. */
  size: int.nullish(),
  sha: text.nullish(),
  last_commit_sha: text.nullish(),
  last_commit_message: text.nullish(),
  last_committer_date: instant.nullish(),
  last_author_date: instant.nullish(),
  lfs_oid: text.nullish(),
  lfs_size: int.nullish(),
});
type File = z.output<typeof File>;

/**
 * One file of the repository by its path: for a pull request, from its base branch; for a push, from the pushed commit;
 * for another branch or tag, from that ref; otherwise from the default branch.
 */
export const contents = defineFact({
  name: 'contents',
  meaning:
    'One file of the repository with its text and, if the forge provides it, its last commit; null if it does not exist. Read from the default branch; for a push, from the pushed commit; for a pull request, from its base branch. In a facts file, the text is enough.',
  shows: 'repository',
  visibleTo: 'code',
  shape: File.nullable(),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.basePushed, ways.retargeted],
  needs: { access: 'reader', scopes: ['repository'] },
  argument: 'path',
  requests: 1,
  example: 'contents("CODEOWNERS") != null && contents("CODEOWNERS").content.contains("@acme/release")',
  complete: (written) =>
    typeof written === 'string' ? { path: '', type: 'file', content: written } : written,
  async ask(context, path = '') {
    return readFile(context, path, await contentsRef(context));
  },
});

/** Returns a file of the default branch, whatever the subject is; null if it does not exist. */
export async function readDefaultFile(context: AskContext, path: string): Promise<File | null> {
  return readFile(context, path, await refOfBranch(context, undefined));
}

async function readFile(context: AskContext, path: string, query: { ref?: string }): Promise<File | null> {
  const params = { ...repositoryParams(context.subject), filepath: path };
  const entry = (await extended(context, params, query)) ?? (await plainEntry(context, params, query));
  return entry === undefined ? null : toFile(entry, path);
}

type ContentsParams = { readonly owner: string; readonly repo: string; readonly filepath: string };
/** Cache key set once the forge is known to have the operation that includes the last commit. */
const hasExtended = 'forge/contents-ext';

type FoundContents = ContentsEntry | 'directory';

/** Returns the ref to read from; without a ref, the forge reads the default branch. */
async function contentsRef(context: AskContext): Promise<{ ref?: string }> {
  const { subject, ask } = context;
  if (subject.kind === 'pull_request') {
    const { base } = await ask(requestOf(pullRequest));
    return refOfBranch(context, base?.ref);
  }
  if (subject.kind !== 'branch') return refOfBranch(context, undefined);
  const { range, ref, isTag } = subject;
  if (range && !isZeroCommit(range.after)) return { ref: range.after };
  return isTag && ref !== undefined ? { ref } : refOfBranch(context, ref);
}

/**
 * Returns the ref of a branch, the default branch if absent; the full ref name for a forge that resolves a tag before a
 * branch of the same name.
 */
async function refOfBranch(
  { client, ask }: AskContext,
  branch: string | undefined,
): Promise<{ ref?: string }> {
  if (branch !== undefined) return { ref: await branchRef(client, branch) };
  if ((await client.capabilities()).has.branches_before_tags) return {};
  return { ref: await branchRef(client, await defaultBranch(ask)) };
}

/** Returns a branch name for requests: the full name if the forge resolves a tag before a branch of the same name. */
export async function branchRef(client: AskContext['client'], branch: string): Promise<string> {
  return (await client.capabilities()).has.branches_before_tags ? branch : `refs/heads/${branch}`;
}

/**
 * Reads an entry with its last commit. A forge without this operation returns 404, as for a missing file, so the caller
 * then tries the plain operation.
 */
async function extended(
  { client, memory }: AskContext,
  params: ContentsParams,
  query: { ref?: string },
): Promise<FoundContents | undefined> {
  const includes = 'file_content,lfs_metadata,commit_metadata,commit_message';
  const answer = await absentAsUndefined(
    client.call(operations.getContentsExt, { params, query: { ...query, includes } }),
  );
  if (answer === undefined) return undefined;
  memory.set(hasExtended, true);
  return answer.file_contents ?? 'directory';
}

async function plainEntry(
  { client, memory }: AskContext,
  params: ContentsParams,
  query: { ref?: string },
): Promise<FoundContents | undefined> {
  if (memory.get(hasExtended)) return undefined;
  const answer = await absentAsUndefined(client.call(operations.getContents, { params, query }));
  return Array.isArray(answer) ? 'directory' : answer;
}

function toFile(entry: FoundContents, path: string): File {
  if (entry === 'directory') return { path, type: 'dir', content: null };
  const { encoding, content, ...rest } = entry;
  const isText = entry.type === 'file' && encoding === 'base64' && typeof content === 'string';
  return { ...rest, content: isText ? Buffer.from(content, 'base64').toString('utf8') : null };
}

const example = 'file_at("release:VERSION") != null && file_at("release:VERSION").size > 0';

/** A file of a branch or commit, without its content. */
export const fileAt = defineFact({
  name: 'file_at',
  meaning:
    'A file of a branch or commit of the repository (`branch:path`), without its content: `sha` is the id of its content in git; null if it does not exist. In a facts file, the text is enough.',
  shows: 'repository',
  visibleTo: 'code',
  shape: z
    .object({
      path: text,
      /** file, dir, symlink, submodule. */
      type: text,
      /** Empty for a directory. */
      sha: text,
      /** Size in bytes. */
      size: int,
    })
    .nullable(),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.elsewhere],
  needs: { access: 'reader', scopes: ['repository'] },
  argument: 'branch:path',
  examineArgument: (argument) => (/^[^:]+:[^/]/.test(argument) ? undefined : 'name the file as branch:path'),
  requests: 1,
  example,
  complete: (written) => {
    if (typeof written !== 'string') return written;
    const bytes = Buffer.from(written);
    return { path: '', type: 'file', sha: gitBlobId(bytes), size: bytes.length };
  },
  async ask(context, argument = '') {
    const { ref: name, path } = splitAddress(argument);
    // A full id always means a commit, even if a branch has that name.
    const query = isCommitId(name) ? { ref: name } : await refOfBranch(context, name);
    const params = { ...repositoryParams(context.subject), filepath: path };
    const entry = await absentAsUndefined(context.client.call(operations.getContents, { params, query }));
    if (entry === undefined) return null;
    if (Array.isArray(entry)) return { path, type: 'dir', sha: '', size: 0 };
    return { path, type: entry.type, sha: entry.sha ?? '', size: entry.size ?? 0 };
  },
});

/** Splits at the first colon: branch names contain no colon. */
function splitAddress(argument: string): { ref: string; path: string } {
  const colon = argument.indexOf(':');
  return { ref: argument.slice(0, colon), path: argument.slice(colon + 1) };
}

/** Returns whether a name is the full id of a commit. */
export function isCommitId(name: string): boolean {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(name);
}

/**
 * Returns git's blob id for the content of a file. `like` is another object id of the repository, which determines the
 * object format.
 */
export function gitBlobId(content: Uint8Array, like = ''): string {
  const hash = createHash(like.length === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${content.length}\0`).update(content).digest('hex');
}

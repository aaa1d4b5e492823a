import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { int, text } from '../contract/shape.ts';
import { branchRef, isCommitId } from './contents.ts';
import { type AskContext, defineFact } from './fact.ts';
import { ways } from './ways.ts';
import { absentAsUndefined } from './where.ts';

const SourceFile = z
  .object({
    path: text,
    /** file, dir, symlink, submodule. */
    type: text,
    /** Size in bytes. */
    size: int,
    /** The content in base64; null if the entry is not a file or is larger than the forge's limit. */
    base64: text.nullable(),
  })
  .nullable();
type SourceFile = z.output<typeof SourceFile>;

/** A file of any repository that the account can read. */
export const fileOf = defineFact({
  name: 'file_of',
  meaning:
    'A file of any repository that the account of Reeve can read, as `owner/repo:path@ref`; `ref` is a branch, a tag as `refs/tags/NAME`, or the id of a commit, by default the default branch. `base64` is its content; null if there is no such file, or the account cannot read it. Cached for a few minutes. For rules of the operator alone. In a facts file, the text is enough.',
  shows: 'beyond',
  onlyFor: 'operator',
  visibleTo: 'operators',
  shape: SourceFile,
  of: ['repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.elsewhere],
  needs: { access: 'reader', scopes: ['repository'] },
  argument: 'owner/repo:path@ref',
  examineArgument: (argument) =>
    parseFileAddress(argument) === undefined ? 'name the file as owner/repo:path@ref' : undefined,
  requests: 1,
  example: 'file_of("acme/templates:LICENSE@main") != null',
  complete: (written) => {
    if (typeof written !== 'string') return written;
    const bytes = Buffer.from(written);
    return { path: '', type: 'file', size: bytes.length, base64: bytes.toString('base64') };
  },
  async ask({ client, memory, anew }, argument = '') {
    const key = `file_of/${argument}`;
    const remembered = anew ? undefined : memory.get(key);
    // The cast is safe: only the code below sets this key.
    if (remembered !== undefined) return remembered as SourceFile;
    const found = await readSource(client, argument);
    // Cached, because a sweep requests the same file for every repository. Large files would fill the cache.
    if (found?.base64 && found.base64.length <= maxCached) memory.set(key, found);
    return found;
  },
});

const maxCached = 64 * 1024;

async function readSource(client: AskContext['client'], argument: string): Promise<SourceFile> {
  const address = parseFileAddress(argument);
  if (address === undefined) return null;
  const { owner, repo, path } = address;
  const params = { owner, repo, filepath: path };
  const query = await absentAsUndefined(refQuery(client, address));
  if (query === undefined) return null;
  const entry = await absentAsUndefined(client.call(operations.getContents, { params, query }));
  if (entry === undefined) return null;
  if (Array.isArray(entry)) return { path, type: 'dir', size: 0, base64: null };
  const { type, size, encoding, content } = entry;
  const isWhole = type === 'file' && encoding === 'base64' && typeof content === 'string';
  return { path, type, size: size ?? 0, base64: isWhole ? content : null };
}

/**
 * Returns the `ref` query for a file, protected against shadowing: a forge that resolves a tag before a branch of the
 * same name gets the full ref name. Rejects with `forge-not-found` if the repository does not exist.
 */
async function refQuery(
  client: AskContext['client'],
  { owner, repo, ref }: FileAddress,
): Promise<{ ref?: string }> {
  const isFull = ref !== undefined && (ref.startsWith('refs/') || isCommitId(ref));
  if (isFull) return { ref };
  if (ref !== undefined) return { ref: await branchRef(client, ref) };
  if ((await client.capabilities()).has.branches_before_tags) return {};
  const repository = await client.call(operations.getRepository, { params: { owner, repo } });
  return { ref: await branchRef(client, repository.default_branch ?? 'main') };
}

type FileAddress = {
  readonly owner: string;
  readonly repo: string;
  readonly path: string;
  readonly ref: string | undefined;
};

/** Parses `owner/repo:path@ref`; the ref follows the last `@`. Returns undefined if the text has another form. */
export function parseFileAddress(text: string): FileAddress | undefined {
  const [, owner = '', repo = '', rest = ''] = /^([\w.-]+)\/([\w.-]+):(.+)$/s.exec(text) ?? [];
  const at = rest.lastIndexOf('@');
  const path = at < 0 ? rest : rest.slice(0, at);
  const ref = at < 0 ? undefined : rest.slice(at + 1);
  const isPlace = ![owner, repo].some((name) => /^\.*$/.test(name));
  return isPlace && path !== '' && ref !== '' ? { owner, repo, path, ref } : undefined;
}

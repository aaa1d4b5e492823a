import type { GitRepository } from './repository.ts';

type EntryKind = 'file' | 'dir' | 'symlink' | 'submodule';
export type TreeEntry = {
  readonly name: string;
  readonly id: string;
  readonly kind: EntryKind;
  /** Mode as git writes it, such as `100644`. */
  readonly mode: string;
};

/** Blobs above this are never read whole; their answers carry no content. */
const maxBlobBytes = 10 * 1024 * 1024;

const kinds: Readonly<Record<string, EntryKind>> = {
  '40000': 'dir',
  '120000': 'symlink',
  '160000': 'submodule',
};

/** Returns the entries of a tree, or of a commit's root, in git's order; undefined where it is none. */
export async function readTree(
  repository: GitRepository,
  id: string,
): Promise<readonly TreeEntry[] | undefined> {
  const object = await repository.objects.read(`${id}^{tree}`);
  if (object?.type !== 'tree') return undefined;
  return parseTree(object.content, object.id.length / 2);
}

function parseTree(content: Buffer, idBytes: number): TreeEntry[] {
  const entries: TreeEntry[] = [];
  let at = 0;
  while (at < content.length) {
    const space = content.indexOf(32, at);
    const nul = content.indexOf(0, space);
    const mode = content.toString('latin1', at, space);
    const name = content.toString('utf8', space + 1, nul);
    at = nul + 1 + idBytes;
    entries.push({ name, id: content.toString('hex', nul + 1, at), kind: kinds[mode] ?? 'file', mode });
  }
  return entries;
}

/** Returns the entry at a clean path below a commit; undefined where the path leads nowhere. The root has no entry. */
export async function findEntry(
  repository: GitRepository,
  commitId: string,
  path: string,
): Promise<TreeEntry | undefined> {
  let entries = await readTree(repository, commitId);
  let found: TreeEntry | undefined;
  for (const segment of path.split('/')) {
    if (found) entries = found.kind === 'dir' ? await readTree(repository, found.id) : undefined;
    found = entries?.find((entry) => entry.name === segment);
    if (found === undefined) return undefined;
  }
  return found;
}

/** A blob's size, and its content where that is small enough. */
type Blob = { readonly size: number; readonly content: Buffer | undefined };

/** Returns a blob; the content is left out above `maxBytes`, and then it was not read either. */
export async function readBlob(
  repository: GitRepository,
  id: string,
  maxBytes = maxBlobBytes,
): Promise<Blob | undefined> {
  const info = await repository.objects.info(id);
  if (info?.type !== 'blob') return undefined;
  if (info.size > maxBytes) return { size: info.size, content: undefined };
  return { size: info.size, content: (await repository.objects.read(id))?.content };
}

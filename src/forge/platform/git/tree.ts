import type { GitRepository } from './repository.ts';

type EntryKind = 'file' | 'dir' | 'symlink' | 'submodule';
export type TreeEntry = {
  readonly name: string;
  readonly id: string;
  readonly kind: EntryKind;
  /** Mode as git writes it, for example `100644`. */
  readonly mode: string;
};

/** Maximum size of a blob that is read whole; responses omit the content of larger blobs. */
const maxBlobBytes = 10 * 1024 * 1024;

const kinds: Readonly<Record<string, EntryKind>> = {
  '40000': 'dir',
  '120000': 'symlink',
  '160000': 'submodule',
};

/** Returns the entries of a tree, or of a commit's root tree, in git's order; undefined for any other object. */
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

/** An entry at any depth of a tree, with its full path. */
export type DeepEntry = TreeEntry & { readonly path: string };

/** Maximum entries read below one tree: a tree may contain the same subtree a million times. */
const maxDeepEntries = 200_000;

/** Returns every entry below a tree in git's order, each folder before its content; undefined if there are too many. */
export async function readTreeDeep(
  repository: GitRepository,
  id: string,
): Promise<readonly DeepEntry[] | undefined> {
  const all: DeepEntry[] = [];
  const known = new Map<string, readonly TreeEntry[]>();
  /**
   * Adds the entries of a tree; returns false if there are too many. Requests all subfolders at once: the single git
   * process responds in order, without waiting between requests.
   */
  async function walk(treeId: string, prefix: string): Promise<boolean> {
    const entries = known.get(treeId) ?? (await readTree(repository, treeId)) ?? [];
    known.set(treeId, entries);
    await Promise.all(
      entries.map(async (entry) => {
        if (entry.kind !== 'dir' || known.has(entry.id)) return;
        known.set(entry.id, (await readTree(repository, entry.id)) ?? []);
      }),
    );
    for (const entry of entries) {
      const path = `${prefix}${entry.name}`;
      all.push({ ...entry, path });
      if (all.length > maxDeepEntries) return false;
      if (entry.kind === 'dir' && !(await walk(entry.id, `${path}/`))) return false;
    }
    return true;
  }
  return (await walk(id, '')) ? all : undefined;
}

/** Returns the entry at a normalized path of a commit; undefined if the path does not exist. The root has no entry. */
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

/** A blob's size, and its content if it is small enough. */
type Blob = { readonly size: number; readonly content: Buffer | undefined };

/** Returns a blob; above `maxBytes`, the content is omitted and not read. */
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

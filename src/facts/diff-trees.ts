import { operations } from '../contract/operations.ts';
import { type AskedRepository, unlessLasting } from './where.ts';

/** A file, link or submodule: mode, kind and content id, as one text. */
type Content = string;
/** Content of a path before and after; undefined where the path does not exist. */
type Difference = { readonly before: Content | undefined; readonly after: Content | undefined };

type Entry = { readonly mode: string; readonly type: string; readonly sha: string };
type Level = ReadonlyMap<string, Entry>;
/** Reads one folder by the id of its tree or commit; undefined if the folder cannot be read completely. */
type ReadLevel = (sha: string) => Promise<Level | undefined>;

/** Maximum number of pages read per comparison, over all folders. */
const maxPages = 400;
const entriesPerPage = 1_000;
/** Valid modes in a git tree, by entry type; all other modes are treated as unknown. */
const modes: Readonly<Record<string, readonly string[]>> = {
  tree: ['040000'],
  blob: ['100644', '100755', '120000'],
  commit: ['160000'],
};

/**
 * Creates a function that reads folders of a repository, each at most once. Trees and commits are requested by id; this
 * operation never resolves an id to a branch. Reads all pages of a folder; a folder that is listed incompletely counts
 * as unreadable.
 */
export function createTreeReader({ client, params }: AskedRepository): ReadLevel {
  const known = new Map<string, Promise<Level | undefined>>();
  let pages = 0;
  const read: ReadLevel = async (sha) => {
    const found = new Map<string, Entry>();
    let count = 0;
    for (let page = 1; ; page += 1) {
      pages += 1;
      if (pages > maxPages) return undefined;
      const query = { page, per_page: entriesPerPage };
      const answer = await client.call(operations.getTree, { params: { ...params, sha }, query });
      const entries = answer.tree ?? [];
      count += entries.length;
      for (const { path, mode, type, sha: id } of entries) {
        if (!mode || !type || !id || !modes[type]?.includes(mode)) return undefined;
        found.set(path, { mode, type, sha: id });
      }
      const total = answer.total_count;
      if (!answer.truncated) return total == null || total === count ? found : undefined;
      if (entries.length === 0) return undefined;
    }
  };
  return (sha) => {
    const asked = known.get(sha) ?? read(sha).catch(unlessLasting);
    known.set(sha, asked);
    return asked;
  };
}

/**
 * Returns the paths whose content differs between the trees of two commits; without a first commit, all paths of the
 * second commit. Returns undefined if a tree is missing, too large or truncated, or has an entry of an unknown kind.
 * Reads only folders that differ.
 */
export async function diffTrees(
  asked: AskedRepository,
  before: string | undefined,
  after: string,
  readLevel: ReadLevel = createTreeReader(asked),
): Promise<ReadonlyMap<string, Difference> | undefined> {
  const found = new Map<string, Difference>();
  const compare = async (
    one: string | undefined,
    other: string | undefined,
    folder: string,
  ): Promise<boolean> => {
    const [old, young] = await Promise.all([levelOf(one, readLevel), levelOf(other, readLevel)]);
    if (old === undefined || young === undefined) return false;
    for (const name of new Set([...old.keys(), ...young.keys()])) {
      const [left, right] = [old.get(name), young.get(name)];
      if (left?.sha === right?.sha && left?.mode === right?.mode) continue;
      const path = folder === '' ? name : `${folder}/${name}`;
      const [fileBefore, fileAfter] = [contentOf(left), contentOf(right)];
      if (fileBefore !== undefined || fileAfter !== undefined)
        found.set(path, { before: fileBefore, after: fileAfter });
      const [treeBefore, treeAfter] = [treeOf(left), treeOf(right)];
      if (treeBefore === undefined && treeAfter === undefined) continue;
      if (!(await compare(treeBefore, treeAfter, path))) return false;
    }
    return true;
  };
  return (await compare(before, after, '')) ? found : undefined;
}

async function levelOf(sha: string | undefined, readLevel: ReadLevel): Promise<Level | undefined> {
  return sha === undefined ? new Map() : readLevel(sha);
}

function contentOf(entry: Entry | undefined): Content | undefined {
  return entry === undefined || entry.type === 'tree' ? undefined : `${entry.mode} ${entry.sha}`;
}

function treeOf(entry: Entry | undefined): string | undefined {
  return entry?.type === 'tree' ? entry.sha : undefined;
}

/** Returns whether a content is a submodule, that is, a commit of another repository, whose files are not read. */
export function isSubmodule(content: Content | undefined): boolean {
  return content?.startsWith('160000 ') ?? false;
}

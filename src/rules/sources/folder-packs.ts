import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { ReeveError } from '../../platform/errors.ts';
import { nearest } from '../expressions/parse/nearest.ts';
import { isRuleFileName } from '../files/load.ts';
import { gatherPacks, type PackReader } from '../packs/gather-packs.ts';
import { maxOffered, type NoPack, notOffered, type Pack, type PackTree } from '../packs/pack.ts';

/** The folder of packs: its files are no rules in force, and those in it that of the top folder are offered by name. */
export const packsFolder = 'packs';

/** Returns whether a file is a pack: one of its folders, counted from the given one, is called `packs`. */
export function isPackPath(path: string): boolean {
  return dirname(path).split(sep).includes(packsFolder);
}

/** Reads the packs beside a file of a folder. `folder` is that of the file, `shown` how its path is written. */
export function createFolderReader(
  { folder, shown, isReadable }: { folder: string; shown: string; isReadable: boolean },
  offered: PackReader = nothingOffered,
): PackReader {
  return {
    async read(request) {
      if ('pack' in request) return offered.read(request);
      const { file } = request;
      const path = join(shown, file);
      const text = await readPlain(folder, file);
      if (typeof text !== 'object' || 'missing' in text) return text;
      const inner = { folder: dirname(join(folder, file)), shown: dirname(path), isReadable };
      return { path, text, isReadable, reader: createFolderReader(inner) };
    },
  };
}

/** Reads packs by name among those that are offered. `where` says what to do where none is. */
export function createOfferedReader(offered: PackTree, where?: string): PackReader {
  return {
    async read(request) {
      const name = 'pack' in request ? request.pack : request.file;
      return offered.get(name) ?? notOffered(name, [...offered.keys()], where);
    },
  };
}

/** For files without an offer: those of the operator include by path, and a repository's are read with another reader. */
const nothingOffered = createOfferedReader(
  new Map(),
  'none is offered here: reeve check and reeve test take the folder with them after --packs',
);

/** Returns the packs that the operator offers: the files in the folder `packs` of the folder of rules, by their names. */
export async function readOffers(rulesFolder: string): Promise<PackTree> {
  return readPacks(join(rulesFolder, packsFolder), { shown: packsFolder });
}

/** Reads packs by name in a folder that a person names; undefined if none is named. Throws `usage` if there is no such folder. */
export async function readOfferedIn(folder: string | undefined): Promise<PackReader | undefined> {
  if (folder === undefined) return undefined;
  const about = await stat(folder).catch(() => undefined); // The next line says so.
  if (!about?.isDirectory()) throw new ReeveError('usage', `the folder of packs ${folder} does not exist`);
  return createOfferedReader(await readPacks(folder, { isReadable: true }), `${folder} has none`);
}

/**
 * Returns the packs of a folder by their names; `shown` begins their paths in messages. `isReadable`: those who are shown the
 * problems of a file that includes them may read them.
 */
export async function readPacks(
  folder: string,
  { shown = folder, isReadable = false }: { readonly shown?: string; readonly isReadable?: boolean } = {},
): Promise<PackTree> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []); // No such folder: nothing is offered.
  const files = entries.filter((entry) => entry.isFile() && isRuleFileName(entry.name)).slice(0, maxOffered);
  const offers = new Map<string, Pack | NoPack>();
  for (const { name: file } of files.toSorted((a, b) => a.name.localeCompare(b.name))) {
    const reader = createFolderReader({ folder, shown, isReadable });
    const text = await readPlain(folder, file);
    const source = { path: `${shown}/${file}`, isReadable };
    if ('missing' in text) offers.set(basename(file, '.yml'), text);
    else {
      const packs = await gatherPacks({ path: source.path, text }, reader);
      offers.set(basename(file, '.yml'), { ...source, text, packs });
    }
  }
  return offers;
}

/** Reads a file below a folder that is no symbolic link, nor behind one: a link could leave the folder. */
async function readPlain(folder: string, file: string): Promise<Uint8Array | NoPack> {
  try {
    const expected = join(await realpath(folder), file);
    if ((await realpath(expected)) !== expected)
      return { missing: `${file} is a symbolic link, or behind one` };
    return await readFile(expected);
  } catch (error) {
    const isAway = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isAway) return { missing: `${file} cannot be read` };
    const beside = await readdir(dirname(join(folder, file))).catch(() => []); // Nor is there such a folder.
    const packs = beside.filter(isRuleFileName).map((one) => join(dirname(file), one));
    return { missing: `there is no file ${file}`, near: nearest(file, packs) };
  }
}

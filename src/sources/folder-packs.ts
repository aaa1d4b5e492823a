import { readdir, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { isRuleFileName } from '../rules/files/load.ts';
import { gatherPacks, type PackReader } from '../rules/packs/gather-packs.ts';
import { maxOffered, type NoPack, notOffered, type Pack, type PackTree } from '../rules/packs/pack.ts';

/** The folder of packs: its files are no rules in force, and those in it that of the top folder are offered by name. */
export const packsFolder = 'packs';

/** Says whether a file is a pack: one of its folders, counted from the given one, is called `packs`. */
export function isPackPath(path: string): boolean {
  return dirname(path).split(sep).includes(packsFolder);
}

/** Reads the packs beside a file of a folder. `folder` is that of the file, `shown` how its path is written. */
export function createFolderReader(
  { folder, shown, isReadable }: { folder: string; shown: string; isReadable: boolean },
  offered: PackTree = new Map(),
): PackReader {
  return {
    async read(request) {
      if ('pack' in request) {
        return offered.get(request.pack) ?? notOffered(request.pack, [...offered.keys()]);
      }
      const { file } = request;
      const path = join(shown, file);
      const text = await readPlain(folder, file);
      if (typeof text !== 'object' || 'missing' in text) return text;
      const inner = { folder: dirname(join(folder, file)), shown: dirname(path), isReadable };
      return { path, text, isReadable, reader: createFolderReader(inner) };
    },
  };
}

/** Returns the packs that the operator offers: the files in the folder `packs` of the folder of rules, by their names. */
export async function readOffers(rulesFolder: string): Promise<PackTree> {
  return readPacks(join(rulesFolder, packsFolder), packsFolder);
}

/** Returns the packs of a folder by their names; `shown` begins their paths in messages. */
export async function readPacks(folder: string, shown = folder): Promise<PackTree> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []); // No such folder: nothing is offered.
  const files = entries.filter((entry) => entry.isFile() && isRuleFileName(entry.name)).slice(0, maxOffered);
  const offers = new Map<string, Pack | NoPack>();
  for (const { name: file } of files.toSorted((a, b) => a.name.localeCompare(b.name))) {
    const reader = createFolderReader({ folder, shown, isReadable: false });
    const text = await readPlain(folder, file);
    const source = { path: `${shown}/${file}`, isReadable: false };
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
    return { missing: isAway ? `there is no file ${file}` : `${file} cannot be read` };
  }
}

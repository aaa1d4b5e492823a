import { isRecord } from '../../contract/events/payload-members.ts';
import { decodeText } from '../files/decode-text.ts';
import { IncludeForm, maxIncludes } from '../files/grammar.ts';
import { readYaml } from '../files/yaml-source.ts';
import {
  type NoPack,
  type Pack,
  type PackSource,
  type PackTree,
  problemOfChain,
  problemOfPackPath,
} from './pack.ts';

/** What an include asks for: a path from the folder of its file, or the name of an offered pack. */
export type PackRequest = { readonly file: string } | { readonly pack: string };

/** Finds the packs that one file may include. */
export interface PackReader {
  /**
   * Returns the pack with the reader for its own includes, or with its packs where they are known. Rejects if it
   * cannot be read now.
   */
  read(request: PackRequest): Promise<FoundPack | Pack | NoPack>;
}

type FoundPack = PackSource & { readonly reader: PackReader };

/** Returns whether a file includes packs, as far as its text shows. */
export function mayInclude(text: string | Uint8Array): boolean {
  return (typeof text === 'string' ? text : Buffer.from(text)).includes('include');
}

/**
 * Reads the packs that a file includes, and those that they include, so that the file can be loaded without waiting. What
 * is not there, goes round in a circle or is too deep has its reason instead. At most 50 packs are read for one file.
 */
export async function gatherPacks(
  file: { readonly path: string; readonly text: string | Uint8Array },
  reader: PackReader,
): Promise<PackTree> {
  return gather(file, reader, { chain: [file.path], read: { count: 0 } });
}

type Gathering = { readonly chain: readonly string[]; readonly read: { count: number } };

async function gather(
  file: { readonly path: string; readonly text: string | Uint8Array },
  reader: PackReader,
  gathering: Gathering,
): Promise<PackTree> {
  const found = new Map<string, Pack | NoPack>();
  for (const entry of includesOf(file)) {
    if (found.has(entry.name)) continue;
    found.set(entry.name, await gatherOne(entry, reader, gathering));
  }
  return found;
}

async function gatherOne(
  { name, file, pack = name }: IncludeForm,
  reader: PackReader,
  { chain, read }: Gathering,
): Promise<Pack | NoPack> {
  read.count += 1;
  if (read.count > maxIncludes) {
    return { missing: `a file includes at most ${maxIncludes} packs, with those of its packs` };
  }
  const wrong = file === undefined ? undefined : problemOfPackPath(file);
  if (wrong !== undefined) return { missing: wrong };
  const found = await reader.read(file === undefined ? { pack } : { file });
  if ('missing' in found) return found;
  const missing = problemOfChain(chain, found.path);
  if (missing !== undefined) return { missing };
  if ('packs' in found) return found;
  const { reader: inner, ...source } = found;
  const packs = await gather(source, inner, { chain: [...chain, found.path], read });
  return { ...source, packs };
}

/** Includes of texts by their bytes: a pack that many files include is parsed once. */
const parsedIncludes = new WeakMap<Uint8Array, readonly IncludeForm[]>();

function includesOf({
  path,
  text,
}: {
  readonly path: string;
  readonly text: string | Uint8Array;
}): readonly IncludeForm[] {
  if (!mayInclude(text)) return [];
  const known = typeof text === 'string' ? undefined : parsedIncludes.get(text);
  if (known !== undefined) return known;
  const { value } = readYaml(path, typeof text === 'string' ? text : decodeText(text).text);
  const written = isRecord(value) && Array.isArray(value.include) ? value.include : [];
  const found = written.flatMap((entry) => {
    const parsed = IncludeForm.safeParse(entry);
    return parsed.success ? [parsed.data] : [];
  });
  if (typeof text !== 'string') parsedIncludes.set(text, found);
  return found;
}

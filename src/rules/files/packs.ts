import { posix } from 'node:path';
import { isRecord } from '../../contract/events/payload-members.ts';
import { nearest, type ProblemCode } from '../problem.ts';
import type { Level } from '../rule.ts';
import { IncludeForm, maxIncludes, maxRules } from './grammar.ts';
import { decodeText, readYaml } from './yaml-source.ts';

/** The text of a pack, with its origin. */
type PackSource = {
  /** Path of the pack, shown only to people who may read the pack. */
  readonly path: string;
  readonly text: string | Uint8Array;
  /** Whether everyone who sees the problems of an including file may also read the pack. */
  readonly isReadable: boolean;
};

/** A pack with the packs that it includes. */
export type Pack = PackSource & { readonly packs: PackTree };

/** Why there is no pack for an include. `near` is the most similar available name. */
export type NoPack = { readonly missing: string; readonly near?: string | undefined };

/** The packs that a file includes, by include name. */
export type PackTree = ReadonlyMap<string, Pack | NoPack>;

/** Maximum nesting depth of packs. */
export const maxPackDepth = 3;

/** Returns why a pack cannot be included by this chain of files (outermost first); undefined if it can. */
export function problemOfChain(chain: readonly string[], path: string): string | undefined {
  const words = [...chain, path].join(' → ');
  if (chain.includes(path)) return `it includes itself: ${words}`;
  if (chain.length > maxPackDepth) return `packs may be nested at most ${maxPackDepth} levels deep: ${words}`;
  return undefined;
}

/** Maximum number of packs that one location offers by name. */
export const maxOffered = 100;

/** Returns the result for an unknown pack name. `where` is the remedy to show if no packs are offered at all. */
export function notOffered(
  name: string,
  known: readonly string[],
  where = 'no packs are offered here: the operator offers those in packs/ of its folder of rules, an organization those in rules/packs/ of its rules repository',
): NoPack {
  const near = nearest(name, known);
  const missing = `there is no pack "${name}"`;
  if (near !== undefined) return { missing, near };
  const [only] = known;
  const list = known.length === 1 ? `the only pack is ${only}` : `there are ${known.toSorted().join(', ')}`;
  return { missing: `${missing}; ${known.length === 0 ? where : list}` };
}

/** Maximum number of characters of all packs of a file, in total. */
const maxPackCharacters = 256 * 1024;

/** Counts the size of a file with all its packs, so that nested packs cannot exceed the limits. */
export class PackBudget {
  rules = 0;
  #includes = 0;
  #characters = 0;

  countRules(count: number): void {
    this.rules += count;
  }

  /** Counts a pack. Returns a problem if a limit is exceeded, otherwise undefined. */
  countPack(text: string | Uint8Array): string | undefined {
    this.#includes += 1;
    this.#characters += text.length;
    if (this.#includes > maxIncludes)
      return `a file may include at most ${maxIncludes} packs, counting those that its packs include`;
    if (this.#characters > maxPackCharacters) return 'the packs of a file may have at most 256 KiB in total';
    if (this.rules > maxRules) return tooManyRules;
    return undefined;
  }

  /** Returns a problem if the rules counted so far exceed the limit, otherwise undefined. */
  problemOfRules(): string | undefined {
    return this.rules > maxRules ? tooManyRules : undefined;
  }
}

const tooManyRules = `a file may have at most ${maxRules} rules, counting those of its packs`;

type RequestProblem = { readonly key: string; readonly code: ProblemCode; readonly message: string };

/** Returns the problem with the path or name of an include in a file of this level; undefined if there is none. */
export function problemOfRequest(
  { name, file, pack }: IncludeForm,
  level: Level,
): RequestProblem | undefined {
  if (file !== undefined && pack !== undefined) {
    return { key: 'pack', code: 'include', message: 'an include names a file or a pack, not both' };
  }
  if (level === 'repository' && file !== undefined) {
    const message = `files of the repository include packs by name, from those that the organization or the operator offers: write include: [{ name: ${name} }]`;
    return { key: 'file', code: 'level', message };
  }
  if (level === 'operator' && file === undefined) {
    const message = `files of the operator include packs by a path relative to the folder of the file: write file: packs/${pack ?? name}.yml`;
    return { key: 'name', code: 'include', message };
  }
  const wrong = file === undefined ? undefined : problemOfPackPath(file);
  return wrong === undefined ? undefined : { key: 'file', code: 'include', message: wrong };
}

/**
 * Returns the problem with a path that does not lead to a pack in or below the folder of the including file; undefined
 * if there is none.
 */
function problemOfPackPath(file: string): string | undefined {
  const parts = file.split('/');
  if (parts.includes('..'))
    return 'a pack must be in the folder of the including file, or below it: ".." is not allowed';
  if (posix.isAbsolute(file) || /^[A-Za-z]:|\\/.test(file)) {
    return 'the path of a pack is relative to the folder of the including file, with "/" between folders, as in packs/stale.yml';
  }
  if (parts.some((part) => part === '' || part.startsWith('.')))
    return 'the path of a pack must not have parts that are empty or start with "."';
  if (/\p{Cc}/u.test(file)) return 'the path of a pack must not have control characters';
  return /\.yml$/.test(file) && !file.endsWith('.test.yml')
    ? undefined
    : 'packs are files that end in .yml and are not rule tests';
}

/** Target of an include: a path relative to the folder of the including file, or the name of an offered pack. */
type PackRequest = { readonly file: string } | { readonly pack: string };

/** Finds the packs that one file may include. */
export interface PackReader {
  /**
   * Returns the pack, either with a reader for the packs that it includes, or with these packs if they are already
   * known. Rejects if the pack cannot be read at present.
   */
  read(request: PackRequest): Promise<FoundPack | Pack | NoPack>;
}

type FoundPack = PackSource & { readonly reader: PackReader };

/** Returns whether the text of a file may contain includes. */
function mayInclude(text: string | Uint8Array): boolean {
  return (typeof text === 'string' ? text : Buffer.from(text)).includes('include');
}

/**
 * Reads the included packs recursively, so that the file can then be loaded synchronously. Missing, cyclic and too
 * deeply nested includes get a reason instead of a pack. Reads at most 50 packs per file.
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
    return {
      missing: `a file may include at most ${maxIncludes} packs, counting those that its packs include`,
    };
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

/** Parsed includes, by the bytes of the text, so that a pack included by many files is parsed only once. */
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

/**
 * Returns whether each pack that a file included still exists, even if it can no longer be used. `packs` are the packs
 * that the file had, and `reader` finds those of now.
 */
export async function areStillThere(
  file: { readonly path: string; readonly text: string | Uint8Array },
  packs: PackTree,
  reader: PackReader,
): Promise<boolean> {
  for (const { name, file: path, pack = name } of includesOf(file)) {
    const known = packs.get(name);
    if (known === undefined || 'missing' in known) continue;
    const found = await reader.read(path === undefined ? { pack } : { file: path });
    if ('missing' in found) return false;
    const isThere =
      'packs' in found
        ? hasAll(found.packs, known.packs)
        : await areStillThere(known, known.packs, found.reader);
    if (!isThere) return false;
  }
  return true;
}

/** Returns whether packs that were gathered now include all packs of an earlier time. */
function hasAll(now: PackTree, earlier: PackTree): boolean {
  return [...earlier].every(([name, known]) => {
    if ('missing' in known) return true;
    const found = now.get(name);
    return found !== undefined && !('missing' in found) && hasAll(found.packs, known.packs);
  });
}

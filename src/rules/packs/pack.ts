import { posix } from 'node:path';
import { nearest } from '../expressions/parse/nearest.ts';
import { type IncludeForm, maxIncludes, maxRules } from '../files/grammar.ts';
import type { ProblemCode } from '../problem.ts';
import type { Level } from '../rule.ts';

/** The text of a pack, and where it is from. */
export type PackSource = {
  /** Path of the pack as those who may read it know it. */
  readonly path: string;
  readonly text: string | Uint8Array;
  /** Whether people who are shown the problems of an including file may read the pack. */
  readonly isReadable: boolean;
};

/** A pack with the packs that it includes itself. */
export type Pack = PackSource & { readonly packs: PackTree };

/** Why there is no pack for an include; `near`: the name that may be meant. */
export type NoPack = { readonly missing: string; readonly near?: string | undefined };

/** The packs that a file includes, by the name of their include. */
export type PackTree = ReadonlyMap<string, Pack | NoPack>;

/** Levels of packs within packs. */
export const maxPackDepth = 3;

/** Returns why a chain of paths, the outermost first, cannot go on with this pack; undefined where it can. */
export function problemOfChain(chain: readonly string[], path: string): string | undefined {
  const words = [...chain, path].join(' → ');
  if (chain.includes(path)) return `it includes itself: ${words}`;
  if (chain.length > maxPackDepth) return `packs may include packs at most ${maxPackDepth} deep: ${words}`;
  return undefined;
}

/** Packs that one place may offer by name. */
export const maxOffered = 100;

/** Returns why a pack cannot be found under a name. `where` says what to do where no pack is known at all. */
export function notOffered(
  name: string,
  known: readonly string[],
  where = 'none is offered here: the operator offers those in packs/ of its folder of rules, an organization those in rules/packs/ of its rules repository',
): NoPack {
  const near = nearest(name, known);
  const missing = `there is no pack "${name}"`;
  if (near !== undefined) return { missing, near };
  const [only] = known;
  const list = known.length === 1 ? `the only one is ${only}` : `there are ${known.toSorted().join(', ')}`;
  return { missing: `${missing}; ${known.length === 0 ? where : list}` };
}

/** Characters that the packs of a file may have together. */
const maxPackCharacters = 256 * 1024;

/** Counts what a file comes to with its packs, so that packs within packs cannot grow without bounds. */
export class PackBudget {
  rules = 0;
  #includes = 0;
  #characters = 0;

  countRules(count: number): void {
    this.rules += count;
  }

  /** Counts a pack. Returns why it is too much, or undefined. */
  countPack(text: string | Uint8Array): string | undefined {
    this.#includes += 1;
    this.#characters += text.length;
    if (this.#includes > maxIncludes)
      return `a file includes at most ${maxIncludes} packs, with those of its packs`;
    if (this.#characters > maxPackCharacters) return 'the packs of a file have at most 256 KiB together';
    if (this.rules > maxRules) return tooManyRules;
    return undefined;
  }

  /** Returns why the rules counted so far are too many, or undefined. */
  problemOfRules(): string | undefined {
    return this.rules > maxRules ? tooManyRules : undefined;
  }
}

const tooManyRules = `a file has at most ${maxRules} rules, with those of its packs`;

type RequestProblem = { readonly key: string; readonly code: ProblemCode; readonly message: string };

/** Returns what is wrong with the place that an include names, for a file of this level; undefined where nothing is. */
export function problemOfRequest(
  { name, file, pack }: Pick<IncludeForm, 'name' | 'file' | 'pack'>,
  level: Level,
): RequestProblem | undefined {
  if (file !== undefined && pack !== undefined) {
    return { key: 'pack', code: 'include', message: 'an include names a file or a pack, not both' };
  }
  if (level === 'repository' && file !== undefined) {
    const message = `files of the repository include packs by name, those that its organization or the operator offers: write include: [{ name: ${name} }]`;
    return { key: 'file', code: 'level', message };
  }
  if (level === 'operator' && file === undefined) {
    const message = `files of the operator include packs by their path from the folder of the file: write file: packs/${pack ?? name}.yml`;
    return { key: 'name', code: 'include', message };
  }
  const wrong = file === undefined ? undefined : problemOfPackPath(file);
  return wrong === undefined ? undefined : { key: 'file', code: 'include', message: wrong };
}

/** Returns why a path is none of a pack below the folder of the including file, or undefined. */
export function problemOfPackPath(file: string): string | undefined {
  const parts = file.split('/');
  if (parts.includes('..')) return 'a pack is in the folder of its file, or below it: ".." is not allowed';
  if (posix.isAbsolute(file) || /^[A-Za-z]:|\\/.test(file)) {
    return 'the path of a pack starts at the folder of its file, and has "/" between folders, as in packs/stale.yml';
  }
  if (parts.some((part) => part === '' || part.startsWith('.')))
    return 'the path of a pack has no empty parts, and none that starts with "."';
  if (/\p{Cc}/u.test(file)) return 'the path of a pack has no control characters';
  return /\.yml$/.test(file) && !file.endsWith('.test.yml')
    ? undefined
    : 'packs are files that end in .yml, and no rule tests';
}

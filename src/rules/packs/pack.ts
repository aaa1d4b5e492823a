import { nearest } from '../expressions/parse/nearest.ts';

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

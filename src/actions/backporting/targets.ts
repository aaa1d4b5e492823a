import type { Branch } from '../../contract/resources/branches.ts';
import type { PullRequest } from '../../contract/resources/pulls.ts';
import { isBackportBranch } from '../../facts/backports.ts';
import { compileGlob } from '../../patterns/glob.ts';
import { GlobError } from '../../patterns/glob-error.ts';
import type { Meter } from '../../patterns/meter.ts';
import { sidesOf } from '../merging/pull.ts';

/** Maximum number of branches that one pull request is backported to by one step. */
export const maxTargets = 20;

/** The branches of a step: those that exist, and names in it that no branch has. */
export type BackportTargets = { readonly there: readonly string[]; readonly missing: readonly string[] };

const isGlobEntry = (entry: string): boolean => /^!|[*?[\]{}\\]/.test(entry);

/** Returns the problem of a list of branches, if one of its patterns is broken. */
export function examineTargets(
  to: readonly string[],
): readonly { readonly path: readonly (string | number)[]; readonly message: string }[] {
  try {
    compileGlob(to);
    return [];
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    const place = to.findIndex((entry) => entry === error.pattern || entry === `!${error.pattern}`);
    return [{ path: place < 0 ? ['to'] : ['to', place], message: error.message }];
  }
}

/**
 * Returns the branches that a step names, by name. Without the branches of the repository (a what-if), those that it names
 * literally. The two branches of the pull request and backports themselves are no targets. Throws if there are too many.
 */
export function targetsOf(
  pull: PullRequest,
  to: readonly string[],
  { branches, meter }: { readonly branches: readonly Branch[] | undefined; readonly meter: Meter },
): BackportTargets {
  const { base, isFork } = sidesOf(pull);
  const isOwn = (name: string): boolean => name === base || (!isFork && name === pull.head?.ref);
  const literal = to.filter((entry) => !isGlobEntry(entry));
  const names = branches?.map(({ name }) => name) ?? literal;
  const matches = compileGlob(to);
  const there = names.filter((name) => {
    // A glob means branches that people made; a backport is meant only where it is named.
    if (isOwn(name) || (isBackportBranch(name) && !literal.includes(name))) return false;
    return matches(name, meter);
  });
  if (there.length > maxTargets) {
    throw new Error(`\`to\` matches ${there.length} branches, and at most ${maxTargets} are allowed`);
  }
  return { there: there.toSorted(), missing: literal.filter((name) => !names.includes(name)) };
}

import { forgejoDifferences } from './forgejo-differences.ts';
import { giteaDifferences } from './gitea-differences.ts';

/** Known cases of this suite in which a real forge differs, and why that is the forge's own behaviour. */
export type Difference = {
  /** Lines of releases: `gitea 1.26`, `forgejo 15.0`, or a whole kind: `forgejo`. */
  readonly on: readonly string[];
  /** Names as in the report, joined by ` > `, without the forge's URL; one that ends in `*` is a prefix. */
  readonly cases: readonly string[];
  /** The behaviour of the forge, and why. */
  readonly reason: string;
};

/** All known differences; a case that no longer differs fails. */
export const differences: readonly Difference[] = [...giteaDifferences, ...forgejoDifferences];

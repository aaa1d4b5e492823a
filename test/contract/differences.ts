import { forgejoDifferences } from './forgejo-differences.ts';
import { giteaDifferences } from './gitea-differences.ts';

/** Cases of this suite that a real forge is known to answer otherwise, and why that is the forge's own way. */
export type Difference = {
  /** Lines of releases: `gitea 1.26`, `forgejo 15.0`, or a whole kind: `forgejo`. */
  readonly on: readonly string[];
  /** Names as the report prints them, joined by ` > `, without the forge's address; one that ends in `*` is a beginning. */
  readonly cases: readonly string[];
  /** What the forge does instead, and why. */
  readonly reason: string;
};

/** Everything known; a case that no longer differs fails. */
export const differences: readonly Difference[] = [...giteaDifferences, ...forgejoDifferences];

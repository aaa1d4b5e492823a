import { forgejoDifferences } from './forgejo-differences.ts';
import { giteaDifferences } from './gitea-differences.ts';

/** Known cases of this suite in which a real forge differs, and the reason. */
export type Difference = {
  /** Forge and release line, such as `gitea 1.26` or `forgejo 15.0`, or all releases of a forge: `forgejo`. */
  readonly on: readonly string[];
  /** Case names as in the report, joined by ` > `, without the forge's URL. A name that ends in `*` is a prefix. */
  readonly cases: readonly string[];
  /** What the forge does, and why. */
  readonly reason: string;
};

/** All known differences. A case listed here fails once the forge no longer differs. */
export const differences: readonly Difference[] = [...giteaDifferences, ...forgejoDifferences];

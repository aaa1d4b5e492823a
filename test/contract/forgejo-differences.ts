import type { Difference } from './differences.ts';
import { code } from './forgejo/code.ts';
import { instance } from './forgejo/instance.ts';
import { issues } from './forgejo/issues.ts';
import { people } from './forgejo/people.ts';
import { reads } from './forgejo/reads.ts';
import { surface } from './forgejo/surface.ts';

/** Observed differences of Forgejo 15. */
export const forgejoDifferences: readonly Difference[] = [
  ...surface,
  ...people,
  ...code,
  ...issues,
  ...instance,
  ...reads,
];

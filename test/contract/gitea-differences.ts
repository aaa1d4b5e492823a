import type { Difference } from './differences.ts';

/** What a running Gitea does otherwise than the embedded forge. */
export const giteaDifferences: readonly Difference[] = [
  {
    on: ['gitea', 'forgejo'],
    cases: ['issues > in a list > are narrowed by q=ALPH'],
    reason: 'The search of a server with an index finds whole words; the embedded forge finds parts of them.',
  },
  {
    on: ['gitea'],
    cases: [
      'branches > may not be named "-x"',
      'branches > may not be named "--help"',
      'branches > may not be named "HEAD"',
    ],
    reason:
      'Gitea takes branches by the API that git itself does not make: names that begin with a dash, and HEAD. The embedded forge keeps them away from every git command.',
  },
];

import type { Difference } from '../differences.ts';
import { onForgejo } from './row.ts';

/** Secrets, variables, and what the instance says of itself. */
export const instance: readonly Difference[] = [
  onForgejo(
    'Forgejo answers 204 to a new variable, bounds no value, and takes `CI` for the name of a secret.',
    'secrets and variables > of variables have a value, and another name on request',
    'secrets and variables > need a value, and one that is not too long',
    'secrets and variables > are not named CI',
  ),
  onForgejo(
    'Forgejo reads limit on the list of variables only where page is named too.',
    'secrets and variables > of variables are pages in the order of their names',
  ),
  onForgejo(
    'A token for public resources reaches the secrets and variables of its account.',
    'secrets and variables > of an account are closed to a token for public resources',
  ),
  onForgejo(
    'Forgejo gives the registration token of runners by GET alone.',
    'registration tokens of runners > are the same by GET and by POST',
  ),
];

import type { Difference } from '../differences.ts';
import { onForgejo } from './row.ts';

/** Secrets, variables, and instance information. */
export const instance: readonly Difference[] = [
  onForgejo(
    'Forgejo answers 204 to a new variable, bounds no value, and takes `CI` for the name of a secret.',
    'secrets and variables > of variables have a value, and another name on request',
    'secrets and variables > need a value, and one that is not too long',
    'secrets and variables > are not named CI',
    'members that a Go client leaves unset > D2: createOrganizationVariable takes zero values for absent members',
    'members that a Go client leaves unset > D2: createRepositoryVariable takes zero values for absent members',
    'members that a Go client leaves unset > D2: createUserVariable takes zero values for absent members',
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
  onForgejo(
    'Forgejo resolves links from the root of the server where they begin with a slash, and numbers of issues only in a context with a slash at its beginning.',
    'markup > of a file has links beside the file, and no way out of the repository',
    'markup > of a comment has line breaks, mentions, numbers of issues and links into the repository',
  ),
  onForgejo(
    'Forgejo takes an unknown mode of `/markdown` for Markdown, and needs the mode of `/markup`.',
    'members that a Go client leaves unset > D2: renderMarkup takes zero values for absent members',
    "markup > of an unknown kind is refused by /markdown { Text: 'x', Mode: 'other' }",
  ),
  onForgejo(
    'Servers answer node info only where federation is switched on.',
    'node info > counts accounts, issues and comments',
  ),
  onForgejo(
    'Forgejo lists the files of a package in the order in which they came, and calls their size `Size`.',
    'packages > hold files with their digests',
  ),
  onForgejo(
    'Forgejo knows no HEAD for files of packages, and shows packages of public accounts to anonymous callers.',
    'packages > give their files back, whole and in parts',
    'packages > are for > writers alone where they change',
  ),
];

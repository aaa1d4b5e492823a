import type { Difference } from '../differences.ts';
import { onForgejo } from './row.ts';

/** Secrets, variables, and instance information. */
export const instance: readonly Difference[] = [
  onForgejo(
    'Forgejo answers 204 to a new variable, bounds no value, and takes `CI` for the name of a secret.',
    'secrets and variables > include variables with a value, which can be renamed',
    'secrets and variables > require a value of limited length',
    'secrets and variables > cannot be named CI',
    'fields that a Go client leaves unset > D2: createOrganizationVariable accepts zero values for absent fields',
    'fields that a Go client leaves unset > D2: createRepositoryVariable accepts zero values for absent fields',
    'fields that a Go client leaves unset > D2: createUserVariable accepts zero values for absent fields',
  ),
  onForgejo(
    'Forgejo reads limit on the list of variables only where page is named too.',
    'secrets and variables > include variables that are listed by name, page by page',
  ),
  onForgejo(
    'A token for public resources reaches the secrets and variables of its account.',
    'secrets and variables > of an account are closed to a token limited to public resources',
  ),
  onForgejo(
    'Forgejo gives the registration token of runners by GET alone.',
    'runner registration tokens > are the same for GET and for POST',
  ),
  onForgejo(
    'Forgejo resolves links from the root of the server where they begin with a slash, and numbers of issues only in a context with a slash at its beginning.',
    'rendered markup > from a file resolves relative links, and never outside the repository',
    'rendered markup > from a comment has line breaks, mentions, issue references and links into the repository',
  ),
  onForgejo(
    'Forgejo takes an unknown mode of `/markdown` for Markdown, and needs the mode of `/markup`.',
    'fields that a Go client leaves unset > D2: renderMarkup accepts zero values for absent fields',
    "rendered markup > with an unknown mode or file type is refused by /markdown { Text: 'x', Mode: 'other' }",
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
    'packages > serve their files, whole and by range',
    'packages > require > write access for changes',
  ),
];

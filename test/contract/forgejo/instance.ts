import type { Difference } from '../differences.ts';
import { onForgejo } from './row.ts';

/** Secrets, variables, and instance information. */
export const instance: readonly Difference[] = [
  onForgejo(
    'Forgejo returns 204 for a new variable, limits no value, and accepts `CI` as the name of a secret.',
    'secrets and variables > include variables with a value, which can be renamed',
    'secrets and variables > require a value of limited length',
    'secrets and variables > cannot be named CI',
    'fields that a Go client leaves unset > D2: createOrganizationVariable accepts zero values for absent fields',
    'fields that a Go client leaves unset > D2: createRepositoryVariable accepts zero values for absent fields',
    'fields that a Go client leaves unset > D2: createUserVariable accepts zero values for absent fields',
  ),
  onForgejo(
    'Forgejo applies `limit` to the list of variables only together with `page`.',
    'secrets and variables > include variables that are listed by name, page by page',
  ),
  onForgejo(
    'A token limited to public resources can access the secrets and variables of its account.',
    'secrets and variables > of an account are closed to a token limited to public resources',
  ),
  onForgejo(
    'Forgejo returns the registration token of runners only for GET.',
    'runner registration tokens > are the same for GET and for POST',
  ),
  onForgejo(
    'Forgejo resolves links that begin with a slash from the root of the server, and issue numbers only in a context that begins with a slash.',
    'rendered markup > from a file resolves relative links, and never outside the repository',
    'rendered markup > from a comment has line breaks, mentions, issue references and links into the repository',
  ),
  onForgejo(
    'Forgejo treats an unknown mode of `/markdown` as Markdown, and requires a mode for `/markup`.',
    'fields that a Go client leaves unset > D2: renderMarkup accepts zero values for absent fields',
    "rendered markup > with an unknown mode or file type is refused by /markdown { Text: 'x', Mode: 'other' }",
  ),
  onForgejo(
    'Servers return node info only if federation is enabled.',
    'node info > counts accounts, issues and comments',
  ),
  onForgejo(
    'Forgejo lists the files of a package in upload order, and names their size field `Size`.',
    'packages > hold files with their digests',
  ),
  onForgejo(
    'Forgejo does not support HEAD for files of packages, and shows packages of public accounts to anonymous callers.',
    'packages > serve their files, whole and by range',
    'packages > require > write access for changes',
  ),
];

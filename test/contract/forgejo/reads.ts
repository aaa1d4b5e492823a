import type { Difference } from '../differences.ts';
import { onForgejo } from './row.ts';

/** Refs, trees, lists of commits, files, archives and releases. */
export const reads: readonly Difference[] = [
  onForgejo(
    'Forgejo answers a tree with the id of the commit.',
    'git reads > of a tree > has the id of the tree, not that of the commit',
  ),
  onForgejo(
    'Forgejo says of the last page of a tree that more follows.',
    'git reads > of a tree > go through its folders when asked, page by page',
  ),
  onForgejo(
    'Forgejo 15 ignores `since` and `until` in lists of commits.',
    'git reads > of commits > are those of a time',
    'git reads > of commits > of a time that is none are refused: since=yesterday',
    'git reads > of commits > of a time that is none are refused: until=2024-01-01',
    'git reads > of commits > of a time that is none are refused: since=2024-13-01T00:00:00Z',
  ),
  onForgejo(
    'Forgejo takes the beginning of an id for a `ref` of contents.',
    'files > as they are > are not found by the contents at the beginning of an id',
  ),
  onForgejo(
    'Forgejo answers 404 for the raw file of an unknown `ref`.',
    'files > as they are > of an unknown ref are those of the default branch',
  ),
  onForgejo('Forgejo makes archives of the whole commit.', 'files > in an archive > are those of a path'),
  onForgejo('Forgejo 15 has no operation for licences.', 'files > say the licence of a repository'),
  onForgejo(
    'Forgejo ignores `tag_message`, and says more of a release.',
    'releases > come with everything that is known of them, and with a tag',
  ),
  onForgejo(
    'Forgejo answers 404 for releases whose unit is off.',
    'releases > are closed where their unit is off, but not to administrators',
  ),
  onForgejo(
    'Forgejo 15 shows a file of a draft to everyone who knows its id.',
    'releases > with files > show the files of a draft to writers alone',
  ),
  onForgejo(
    'Forgejo 15 lists all forks on every page.',
    'people of a repository > fork it, and the forks that a caller cannot read are not listed',
  ),
  onForgejo(
    'Forgejo lists reviewers of a public repository for every signed-in account.',
    'people of a repository > can be asked for reviews where they read, by those who may ask',
  ),
  onForgejo(
    'Forgejo answers an empty text where there is no signing key.',
    'releases > need no key: without one, there is none to return',
  ),
];

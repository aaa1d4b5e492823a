import type { Difference } from '../differences.ts';
import { onForgejo } from './row.ts';

/** Refs, trees, lists of commits, files, archives and releases. */
export const reads: readonly Difference[] = [
  onForgejo(
    'Forgejo returns a tree with the id of the commit.',
    'git data > a tree > has its own id, not that of the commit',
  ),
  onForgejo(
    'Forgejo marks the last page of a tree as truncated.',
    'git data > a tree > is recursive on request, page by page',
  ),
  onForgejo(
    'Forgejo 15 ignores `since` and `until` in lists of commits.',
    'git data > commits > are filtered by time',
    'git data > commits > are refused for an invalid time: since=yesterday',
    'git data > commits > are refused for an invalid time: until=2024-01-01',
    'git data > commits > are refused for an invalid time: since=2024-13-01T00:00:00Z',
  ),
  onForgejo(
    'Forgejo accepts an abbreviated commit id as the `ref` of contents.',
    'files > as raw bytes > are not found by an abbreviated commit id in `ref` of the contents operation',
  ),
  onForgejo(
    'Forgejo returns 404 for the raw file of an unknown `ref`.',
    'files > as raw bytes > come from the default branch if the ref is unknown',
  ),
  onForgejo(
    'Forgejo always creates archives of the whole commit.',
    'files > in an archive > can be limited to a path',
  ),
  onForgejo('Forgejo 15 has no operation for licenses.', 'files > determine the license of a repository'),
  onForgejo(
    'Forgejo ignores `tag_message`, and returns more fields of a release.',
    'releases > include every field, and create a tag',
  ),
  onForgejo(
    'Forgejo returns 404 for releases whose unit is disabled.',
    'releases > are closed if their unit is disabled, except to administrators',
  ),
  onForgejo(
    'Forgejo 15 shows a file of a draft to everyone who knows its id.',
    'releases > with files > show the files of a draft only to writers',
  ),
  onForgejo(
    'Forgejo 15 lists all forks on every page.',
    'users of a repository > who fork it are listed, without the forks that the caller cannot read',
  ),
  onForgejo(
    'Forgejo lists the reviewers of a public repository for every signed-in account.',
    'users of a repository > can be requested as reviewers if they can read, and are listed for accounts that may request them',
  ),
  onForgejo(
    'Forgejo returns an empty text if there is no signing key.',
    'releases > return 404 for the signing key if there is none',
  ),
];

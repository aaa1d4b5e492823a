import type { Difference } from '../differences.ts';
import { onForgejo } from './row.ts';

/** Attachments, files, branches, wikis, protections, merging and pull requests. */
export const code: readonly Difference[] = [
  onForgejo(
    "Forgejo applies the repository's default for deleting the head branch only on its web page, not to merges through the API.",
    'merging > deletes the head branch if this is the default of the repository and the request does not override it: {}',
  ),
  onForgejo(
    'Forgejo also returns the type of an attachment.',
    'attachments > are uploaded to an issue and a comment, listed, read, renamed and removed',
  ),
  onForgejo(
    'Forgejo has no contents-ext operation, and returns 404 before it checks the token.',
    'described operations > refuse GET /repos/REPO/contents-ext/README.md to a token of another scope',
  ),
  onForgejo(
    'Forgejo also shows the files of a single comment.',
    'attachments > are shown on their issue and in its list of comments',
  ),
  onForgejo(
    'Forgejo accepts attachments of every file type through the API, regardless of its settings.',
    'attachments > are refused if their file type is not allowed, on upload and on rename',
  ),
  onForgejo(
    'Forgejo lets every writer attach files to comments of other accounts.',
    'attachments > cannot be added to a comment by a writer who is not its author',
  ),
  onForgejo(
    'Forgejo returns 404 for attachments of a comment whose unit is disabled.',
    'attachments > are an empty response if the unit of their comment is disabled',
  ),
  onForgejo(
    'Forgejo accepts attachments of up to 2 GiB, more than this suite can hold in a string.',
    'attachments > are refused if they are too large',
  ),
  onForgejo(
    'Forgejo has no operation that moves a branch, and returns 405.',
    'branch and pull request updates > moves a branch forwards, and backwards only with force',
    'branch and pull request updates > refuses unknown branches and commits',
    'branch and pull request updates > lets only writers move and rename a branch, and only administrators rename the default branch',
    'merging into a protected branch > refuses file writes, and the creation, move, rename and deletion of protected branches',
  ),
  onForgejo(
    'Forgejo counts in the background how far a branch is behind, and returns 500 for a rebase before the count is complete.',
    'merging > as rebase adds the files to the base',
  ),
  onForgejo(
    'Forgejo does not filter branches by name.',
    'branches > are listed by newest commit first, page by page, filtered by `q`',
  ),
  onForgejo(
    'Forgejo accepts HEAD and names that begin with a dash as branch names.',
    'branches > may not be named "-x"',
    'branches > may not be named "--help"',
    'branches > may not be named "HEAD"',
  ),
  onForgejo(
    'Forgejo returns 500 for the deletion of a missing branch.',
    'branches > can be deleted, except the default branch',
  ),
  onForgejo(
    'Forgejo returns last_commit_when for an entry, but neither its two dates nor the target of a Git LFS pointer.',
    'contents > of a file > include every field',
    'contents > of a file > include the object id and size from a Git LFS pointer',
  ),
  onForgejo(
    'Forgejo returns an empty base64 text for files over 10 MiB.',
    'contents > of a file > omit content larger than 10 MiB',
  ),
  onForgejo(
    'Forgejo does not respond within 30 seconds if a ref is a git expression instead of the name of a branch, tag or commit.',
    'contents > at a missing or invalid path or ref > are refused: /contents/README.md?ref=HEAD@%7B1%7D returns 404',
    'contents > at a missing or invalid path or ref > are refused: /contents/README.md?ref=main%0Amain returns 404',
  ),
  onForgejo(
    'Forgejo ignores everything after a NUL byte in a ref.',
    'contents > at a missing or invalid path or ref > are refused: /contents/README.md?ref=main%00x returns 404',
  ),
  onForgejo(
    'Forgejo returns 500 for paths inside .git.',
    'contents > at a missing or invalid path or ref > are refused: /contents/.git/config returns 400',
    'contents > at a missing or invalid path or ref > are refused: /contents/a/.GIT/b returns 400',
  ),
  onForgejo(
    'Forgejo has no extended contents operation, and returns 404 in plain text.',
    'contents > at a missing or invalid path or ref > return the error followed by `null` from `contents-ext`',
    'contents > with selected fields > include only the parts that `includes` lists',
    'contents > with selected fields > list the root at "", always without content',
    'contents > with selected fields > list the root at ".", always without content',
    'contents > with selected fields > list the root at "%2F", always without content',
    'contents > with selected fields > refuse an unknown option',
  ),
  onForgejo(
    'Forgejo returns 409 for an edit and 400 for a deletion with the SHA of other content.',
    'contents > when written > can be changed only with the current SHA, and moved with `from_path`',
    'contents > when written > can be deleted only with the current SHA',
  ),
  onForgejo(
    'Forgejo requires the SHA in every edit of a file, and otherwise returns 422.',
    'contents > when written > can be created by an update without `sha`',
  ),
  onForgejo(
    'Forgejo also accepts `refs/heads/…` as a ref.',
    'contents > of a file > are read at the branch, tag or commit that `ref` names',
  ),
  onForgejo(
    'Forgejo lets every reader of the base update the head by rebase.',
    'branch and pull request updates > updates the head of a pull request with its base by rebase',
  ),
  onForgejo(
    'Forgejo accepts an approval of a closed pull request.',
    'a review > cannot be dismissed if it is a comment, belongs to another pull request or is unknown, or if its pull request is closed',
  ),
  onForgejo(
    'Forgejo returns 500 if several files are changed at once and one of the updates has no SHA.',
    'tags and commits > commits several files at once',
  ),
  onForgejo(
    'Forgejo returns 422 for several files with a wrong SHA.',
    'tags and commits > refuses several files with a wrong sha, and writes none of them',
  ),
  onForgejo(
    'Forgejo returns an empty list of the files that a commit removed, where Gitea returns null.',
    'tags and commits > lets only writers commit several files',
  ),
  onForgejo(
    'Forgejo sends no links with the pages of a wiki.',
    'a wiki > treats a limit of 1 as the default, has no maximum limit, and sends links',
  ),
  onForgejo(
    'Forgejo returns an empty list for the contents of an empty repository.',
    'contents > of a directory > are not found in an empty repository',
  ),
  onForgejo(
    'Forgejo has no priority, force-push, bypass and override fields in branch protections; it has apply_to_admins instead.',
    'a branch protection > has all 36 fields, off or empty by default',
    'a branch protection > on creation, ignores dependent flags without enable_push',
    'a branch protection > on creation, ignores dependent flags without the flag they depend on',
    'a branch protection > reads the force-push flags of an edit only together with enable_force_push',
    'a branch protection > keeps the fields that an edit omits, replaces lists, and clears the bypass list when its flag is turned off',
    'a branch protection > is listed in order of precedence',
    'merging into a protected branch > can be forced by administrators and the bypass list, only on request, unless overrides are blocked',
  ),
  onForgejo(
    'Forgejo finds a branch protection with a slash in its name only if the slash is encoded as %2F.',
    'a branch protection > accepts branch_name for rule_name, and returns no branch_name for a pattern',
  ),
  onForgejo(
    'Forgejo does not sort the names in branch protections, and has no bypass list.',
    'a branch protection > silently drops accounts that could not use the permission',
  ),
  onForgejo(
    'Forgejo has no operation that orders branch protections, and returns 405.',
    'a branch protection > requires an administrator',
  ),
  onForgejo(
    'Forgejo returns 500 for the deletion of a branch protection in an archived repository.',
    'a branch protection > is refused on an archived repository after its body has been validated',
  ),
  onForgejo(
    'Forgejo accepts the title of a merge only as MergeTitleField.',
    'merging > deletes the head branch on request',
  ),
  onForgejo(
    'Forgejo returns 422 for a fork into an unknown organization.',
    "merging > from a fork > allows one fork per account, and only in the account's own organizations",
  ),
  onForgejo(
    'Forgejo does not rebase if the head contains the base, so merge commits of the head remain.',
    'merging > as rebase drops a merge with the base, even if the head contains the base',
  ),
  onForgejo(
    'Forgejo returns 409 if a protected file blocks a merge.',
    'merging into a protected branch > is blocked by a protected file',
  ),
  onForgejo(
    'Forgejo returns 403 for a merge that would delete a protected head branch.',
    'merging into a protected branch > keeps a protected head branch',
  ),
  onForgejo(
    'Forgejo ignores reviewers on creation of a pull request.',
    'pull requests > opened > include every field',
    'pull requests > opened > are refused if a reviewer is unknown',
    'notifications > report pull requests: opened, requested for review, pushed to and merged',
  ),
  onForgejo(
    'Forgejo has no content_version.',
    'pull requests > edited > refuse a body based on an outdated version',
    'issues > when edited > refuse a body based on an outdated version',
    'pull requests > edited > return 201 with the new values',
  ),
  onForgejo(
    'Forgejo also returns counts of added and removed lines in lists.',
    'pull requests > listed > include the total count, but no line counts',
  ),
  onForgejo(
    'Forgejo does not filter pull requests by their base branch.',
    'pull requests > listed > with "?base_branch=topic" are ["third"]',
  ),
  onForgejo(
    'Forgejo ignores an unknown state, and returns 201.',
    'pull requests > edited > close and reopen',
    'issues > when edited > close and reopen, and accept no other state',
  ),
  onForgejo(
    'Forgejo returns 404 for a head of a user who has no fork.',
    "pull requests > opened > are refused if the head's user has no fork",
  ),
  onForgejo(
    'Forgejo returns 500 for a head that is a commit.',
    'pull requests > opened > are refused if the head is a commit',
  ),
  onForgejo(
    'Forgejo lets everyone who can read a repository open pull requests between its branches.',
    'pull requests > opened > are refused to strangers and in an archived repository',
  ),
  onForgejo(
    'Forgejo has no operation that resolves a comment on a line, and returns 405.',
    'a review > keeps comments on lines, with their resolution and replies',
  ),
  onForgejo(
    'Forgejo has no merge-upstream operation; its own operation is named sync_fork.',
    'forks > pull commits from their parent repository',
    'forks > merge the default branch of the parent if the parent has no branch of the same name',
    'forks > refuse to merge the parent if the branch, the parent or access is missing, or if archived',
  ),
  onForgejo(
    'Forgejo returns 500 for a commit to a mirror.',
    'mirrors > of other repositories > refuse commits',
  ),
  onForgejo(
    'Forgejo returns 500 if a push to a mirror is refused.',
    'mirrors > on other servers > that fail are reported with the reason and without the password',
  ),
  onForgejo(
    'Forgejo does not evaluate again which reviews are official.',
    'a review > is evaluated again when the base of the pull request changes',
  ),
  onForgejo(
    'Forgejo gives other reasons when it refuses a push, keeps the line feed at the end of a description, and links to other pages.',
    'pushes for review > open a pull request for a reader with title and body from the commit, and create no branch',
    'pushes for review > update the pull request of the topic, and rewrite its commits only with the force-push option',
    'pushes for review > report why they are refused',
    'pushes for review > can be combined with branches in one push, and fail together with them if the push is atomic',
    'pushes for review > are rejected for accounts that cannot read the repository, and in an empty repository',
    'pushes for review > can make a repository private or a template only with the first push',
  ),
  onForgejo(
    'Forgejo counts the size in Content-Range from the start of the range.',
    'Git LFS > objects > are uploaded once, verified, and downloaded whole or resumed',
  ),
  onForgejo(
    'Forgejo adds an object to a repository without an upload if the account can read the object elsewhere.',
    'Git LFS > objects > of other repositories cannot be used to read content without access',
  ),
  onForgejo(
    'Forgejo returns 500 for a merge that would delete the branch of a pull request that was pushed for review.',
    'pushes for review > create pull requests that are merged and closed like any other, but cannot be updated with the base',
  ),
  onForgejo(
    'Forgejo requests reviews from code owners only when a pull request is opened.',
    'code owners > are requested when a push adds files that they own, and not again after they have reviewed',
  ),
  onForgejo(
    'Forgejo sends its realm without quotation marks.',
    'Git LFS > access > to a public repository requires write access only for uploads',
  ),
  onForgejo(
    'Forgejo returns no Git LFS fields in the contents.',
    'Git LFS > resolves a pointer in the media operation, and describes it in the contents',
  ),
  onForgejo(
    'Forgejo has another operation that blocks an account.',
    'pushes for review > need no push permission on a protected branch, but are rejected for blocked accounts',
  ),
  onForgejo(
    'Forgejo returns 500 if a patch changes a protected file.',
    'patches > require write access, respect protected files and branches, and are refused in an archived repository',
  ),
];

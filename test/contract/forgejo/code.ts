import type { Difference } from '../differences.ts';
import { onForgejo } from './row.ts';

/** Attachments, files, branches, wikis, protections, merging and pull requests. */
export const code: readonly Difference[] = [
  onForgejo(
    'Forgejo reads the default of the repository for the head branch on its page alone, not for merges by the API.',
    'merging > deletes the head branch if this is the default of the repository and the request does not override it: {}',
  ),
  onForgejo(
    'Forgejo says the type of an attachment, too.',
    'attachments > are uploaded to an issue and a comment, listed, read, renamed and removed',
  ),
  onForgejo(
    'Forgejo has no contents-ext, and answers 404 before it looks at the token.',
    'described operations > refuse GET /repos/REPO/contents-ext/README.md to a token of another scope',
  ),
  onForgejo(
    'Forgejo shows the files of a comment that is read alone, too.',
    'attachments > are shown on their issue and in its list of comments',
  ),
  onForgejo(
    'Forgejo takes attachments of every kind by the API, whatever its settings allow.',
    'attachments > are refused if their file type is not allowed, on upload and on rename',
  ),
  onForgejo(
    'Forgejo lets every writer attach files to the comment of another.',
    'attachments > cannot be added to a comment by a writer who is not its author',
  ),
  onForgejo(
    'Forgejo answers 404 for attachments of a comment on a kind that is switched off.',
    'attachments > are an empty response if the unit of their comment is disabled',
  ),
  onForgejo(
    'Forgejo takes attachments of 2 GiB, more than this suite can hold in a text.',
    'attachments > are refused if they are too large',
  ),
  onForgejo(
    'Forgejo has no operation that moves a branch, and answers 405.',
    'branch and pull request updates > moves a branch forwards, and backwards only with force',
    'branch and pull request updates > refuses unknown branches and commits',
    'branch and pull request updates > lets only writers move and rename a branch, and only administrators rename the default branch',
    'merging into a protected branch > refuses file writes, and the creation, move, rename and deletion of protected branches',
  ),
  onForgejo(
    'Forgejo counts in the background how far a branch is behind, and answers 500 to a rebase before it has.',
    'merging > as rebase adds the files to the base',
  ),
  onForgejo(
    'Forgejo does not filter branches by name.',
    'branches > are listed by newest commit first, page by page, filtered by `q`',
  ),
  onForgejo(
    'Forgejo takes names of branches that begin with a dash, and HEAD.',
    'branches > may not be named "-x"',
    'branches > may not be named "--help"',
    'branches > may not be named "HEAD"',
  ),
  onForgejo(
    'Forgejo answers 500 where a branch that is not there is removed.',
    'branches > can be deleted, except the default branch',
  ),
  onForgejo(
    'Forgejo says last_commit_when of an entry, and neither its two dates nor what a pointer to a large file points at.',
    'contents > of a file > include every field',
    'contents > of a file > include the object id and size from a Git LFS pointer',
  ),
  onForgejo(
    'Forgejo answers an empty text in base64 for files over ten MiB.',
    'contents > of a file > omit content larger than 10 MiB',
  ),
  onForgejo(
    'Forgejo does not answer within half a minute for a ref that is not the name of a branch, tag or commit but an expression of git.',
    'contents > at a missing or invalid path or ref > are refused: /contents/README.md?ref=HEAD@%7B1%7D returns 404',
    'contents > at a missing or invalid path or ref > are refused: /contents/README.md?ref=main%0Amain returns 404',
  ),
  onForgejo(
    'Forgejo ignores what follows a zero byte in a ref.',
    'contents > at a missing or invalid path or ref > are refused: /contents/README.md?ref=main%00x returns 404',
  ),
  onForgejo(
    'Forgejo answers 500 for paths inside .git.',
    'contents > at a missing or invalid path or ref > are refused: /contents/.git/config returns 400',
    'contents > at a missing or invalid path or ref > are refused: /contents/a/.GIT/b returns 400',
  ),
  onForgejo(
    'Forgejo has no extended contents operation, and answers 404 in plain text.',
    'contents > at a missing or invalid path or ref > return the error followed by `null` from `contents-ext`',
    'contents > with selected fields > include only the parts that `includes` lists',
    'contents > with selected fields > list the root at "", always without content',
    'contents > with selected fields > list the root at ".", always without content',
    'contents > with selected fields > list the root at "%2F", always without content',
    'contents > with selected fields > refuse an unknown option',
  ),
  onForgejo(
    'Forgejo answers 409 to an edit and 400 to a removal with the sha of another content.',
    'contents > when written > can be changed only with the current SHA, and moved with `from_path`',
    'contents > when written > can be deleted only with the current SHA',
  ),
  onForgejo(
    'Forgejo wants the sha in every edit of a file, and answers 422 without.',
    'contents > when written > can be created by an update without `sha`',
  ),
  onForgejo(
    'Forgejo reads `refs/heads/…` as a ref, too.',
    'contents > of a file > are read at the branch, tag or commit that `ref` names',
  ),
  onForgejo(
    'Forgejo lets every reader of the base bring the head up to date by a rebase.',
    'branch and pull request updates > updates the head of a pull request with its base by rebase',
  ),
  onForgejo(
    'Forgejo takes an approval of a pull request that is closed.',
    'a review > cannot be dismissed if it is a comment, belongs to another pull request or is unknown, or if its pull request is closed',
  ),
  onForgejo(
    'Forgejo answers 500 where several files are changed at once, one of them by an update without sha.',
    'tags and commits > commits several files at once',
  ),
  onForgejo(
    'Forgejo answers 422 for several files with a wrong sha.',
    'tags and commits > refuses several files with a wrong sha, and writes none of them',
  ),
  onForgejo(
    'Forgejo answers an empty list for the files that a commit removed, the baseline null.',
    'tags and commits > lets only writers commit several files',
  ),
  onForgejo(
    'Forgejo sends no links with the pages of a wiki.',
    'a wiki > treats a limit of 1 as the default, has no maximum limit, and sends links',
  ),
  onForgejo(
    'Forgejo answers an empty list for the contents of an empty repository.',
    'contents > of a directory > are not found in an empty repository',
  ),
  onForgejo(
    'Forgejo has no priority, force-push, bypass and override members of branch protections, and apply_to_admins instead.',
    'a branch protection > has all 36 fields, off or empty by default',
    'a branch protection > on creation, ignores dependent flags without enable_push',
    'a branch protection > on creation, ignores dependent flags without the flag they depend on',
    'a branch protection > reads the force-push flags of an edit only together with enable_force_push',
    'a branch protection > keeps the fields that an edit omits, replaces lists, and clears the bypass list when its flag is turned off',
    'a branch protection > is listed in order of precedence',
    'merging into a protected branch > can be forced by administrators and the bypass list, only on request, unless overrides are blocked',
  ),
  onForgejo(
    'Forgejo finds a branch protection with a slash in its name only where the slash is sent as %2F.',
    'a branch protection > accepts branch_name for rule_name, and returns no branch_name for a pattern',
  ),
  onForgejo(
    'Forgejo does not sort the names in branch protections, and has no bypass list.',
    'a branch protection > silently drops accounts that could not use the permission',
  ),
  onForgejo(
    'Forgejo has no operation that orders branch protections, and answers 405.',
    'a branch protection > requires an administrator',
  ),
  onForgejo(
    'Forgejo answers 500 where the branch protection of an archived repository is removed.',
    'a branch protection > is refused on an archived repository after its body has been validated',
  ),
  onForgejo(
    'Forgejo knows the title of a merge as MergeTitleField alone.',
    'merging > deletes the head branch on request',
  ),
  onForgejo(
    'Forgejo answers 422 for a fork into an organization that is not there.',
    "merging > from a fork > allows one fork per account, and only in the account's own organizations",
  ),
  onForgejo(
    'Forgejo rebases nothing where the head contains the base: merge commits of the head stay.',
    'merging > as rebase drops a merge with the base, even if the head contains the base',
  ),
  onForgejo(
    'Forgejo answers 409 where a protected file stops a merge.',
    'merging into a protected branch > is blocked by a protected file',
  ),
  onForgejo(
    'Forgejo answers 403 to a merge that shall take a protected head branch along.',
    'merging into a protected branch > keeps a protected head branch',
  ),
  onForgejo(
    'Forgejo ignores reviewers where a pull request is made.',
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
    'Forgejo tells added and removed lines in lists, too.',
    'pull requests > listed > include the total count, but no line counts',
  ),
  onForgejo(
    'Forgejo does not filter pull requests by the branch they aim at.',
    'pull requests > listed > with "?base_branch=topic" are ["third"]',
  ),
  onForgejo(
    'Forgejo takes no other state for the same, and answers 201.',
    'pull requests > edited > close and reopen',
    'issues > when edited > close and reopen, and accept no other state',
  ),
  onForgejo(
    'Forgejo answers 404 for a head of a user who has no fork.',
    "pull requests > opened > are refused if the head's user has no fork",
  ),
  onForgejo(
    'Forgejo answers 500 for a head that is a commit.',
    'pull requests > opened > are refused if the head is a commit',
  ),
  onForgejo(
    'Forgejo lets everybody who reads a repository open pull requests between its branches.',
    'pull requests > opened > are refused to strangers and in an archived repository',
  ),
  onForgejo(
    'Forgejo has no operation that resolves a comment on lines, and answers 405.',
    'a review > keeps comments on lines, with their resolution and replies',
  ),
  onForgejo(
    'Forgejo has no operation merge-upstream; its own is named sync_fork.',
    'forks > pull commits from their parent repository',
    'forks > merge the default branch of the parent if the parent has no branch of the same name',
    'forks > refuse to merge the parent if the branch, the parent or access is missing, or if archived',
  ),
  onForgejo(
    'Forgejo answers 500 to a commit in a mirror.',
    'mirrors > of other repositories > refuse commits',
  ),
  onForgejo(
    'Forgejo answers 500 where a push to a mirror is refused.',
    'mirrors > on other servers > that fail are reported with the reason and without the password',
  ),
  onForgejo(
    'Forgejo does not count anew whose reviews are official.',
    'a review > is evaluated again when the base of the pull request changes',
  ),
  onForgejo(
    'Forgejo says otherwise why it refuses a push, keeps the line feed at the end of a description, and names other pages.',
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
    'Forgejo gives a repository an object that the account can read elsewhere, without its bytes.',
    'Git LFS > objects > of other repositories cannot be used to read content without access',
  ),
  onForgejo(
    'Forgejo answers 500 where the branch of a pull request that was pushed for review shall go with the merge.',
    'pushes for review > create pull requests that are merged and closed like any other, but cannot be updated with the base',
  ),
  onForgejo(
    'Forgejo asks owners of code when a pull request is opened alone.',
    'code owners > are requested when a push adds files that they own, and not again after they have reviewed',
  ),
  onForgejo(
    'Forgejo writes its realm without quotation marks.',
    'Git LFS > access > to a public repository requires write access only for uploads',
  ),
  onForgejo(
    'Forgejo shows no members of Git LFS in the contents.',
    'Git LFS > resolves a pointer in the media operation, and describes it in the contents',
  ),
  onForgejo(
    'Forgejo has another operation that blocks an account.',
    'pushes for review > need no push permission on a protected branch, but are rejected for blocked accounts',
  ),
  onForgejo(
    'Forgejo answers 500 where a patch changes a file that a protection of the branch closes.',
    'patches > require write access, respect protected files and branches, and are refused in an archived repository',
  ),
];

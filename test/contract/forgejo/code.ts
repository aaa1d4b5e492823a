import type { Difference } from '../differences.ts';
import { onForgejo } from './row.ts';

/** Attachments, files, branches, wikis, protections, merging and pull requests. */
export const code: readonly Difference[] = [
  onForgejo(
    'Forgejo reads the default of the repository for the head branch on its page alone, not for merges by the API.',
    'merging > takes the head branch along by default where the repository says so: {}',
  ),
  onForgejo(
    'Forgejo says the type of an attachment, too.',
    'attachments > are uploaded to an issue and a comment, listed, read, renamed and removed',
  ),
  onForgejo(
    'Forgejo has no contents-ext, and answers 404 before it looks at the token.',
    'described operations > refuses GET /repos/REPO/contents-ext/README.md to a token of another scope',
  ),
  onForgejo(
    'Forgejo shows the files of a comment that is read alone, too.',
    'attachments > show on what they hang on',
  ),
  onForgejo(
    'Forgejo takes attachments of every kind by the API, whatever its settings allow.',
    'attachments > of a kind that is not allowed are refused, as new ones and as new names',
  ),
  onForgejo(
    'Forgejo lets every writer attach files to the comment of another.',
    'attachments > of a comment are not for a writer who did not write it',
  ),
  onForgejo(
    'Forgejo answers 404 for attachments of a comment on a kind that is switched off.',
    'attachments > of a comment on a kind that is switched off are an empty answer',
  ),
  onForgejo(
    'Forgejo takes attachments of 2 GiB, more than this suite can hold in a text.',
    'attachments > that are too large are refused',
  ),
  onForgejo(
    'Forgejo has no operation that moves a branch, and answers 405.',
    'branches and pull requests that move > moves a branch forwards, and backwards only by force',
    'branches and pull requests that move > answers for branches and commits that are not there',
    'branches and pull requests that move > lets writers alone move and rename, and administrators the default branch',
    'merging into a protected branch > stops files written, branches made, moved, renamed and removed',
  ),
  onForgejo(
    'Forgejo counts in the background how far a branch is behind, and answers 500 to a rebase before it has.',
    'merging > as rebase brings the files',
  ),
  onForgejo(
    'Forgejo does not filter branches by name.',
    'branches > are listed last committed first, page by page, narrowed by `q`',
  ),
  onForgejo(
    'Forgejo takes names of branches that begin with a dash, and HEAD.',
    'branches > may not be named "-x"',
    'branches > may not be named "--help"',
    'branches > may not be named "HEAD"',
  ),
  onForgejo(
    'Forgejo answers 500 where a branch that is not there is removed.',
    'branches > go, except the default one',
  ),
  onForgejo(
    'Forgejo says last_commit_when of an entry, and neither its two dates nor what a pointer to a large file points at.',
    'contents > of a file > come with everything that is known of it',
    'contents > of a file > tell what a pointer to a large file points at',
  ),
  onForgejo(
    'Forgejo answers an empty text in base64 for files over ten MiB.',
    'contents > of a file > leave out what is larger than ten MiB',
  ),
  onForgejo(
    'Forgejo does not answer within half a minute for a ref that is not the name of a branch, tag or commit but an expression of git.',
    'contents > that cannot be had > answer /contents/README.md?ref=HEAD@%7B1%7D with 404',
    'contents > that cannot be had > answer /contents/README.md?ref=main%0Amain with 404',
  ),
  onForgejo(
    'Forgejo ignores what follows a zero byte in a ref.',
    'contents > that cannot be had > answer /contents/README.md?ref=main%00x with 404',
  ),
  onForgejo(
    'Forgejo answers 500 for paths inside .git.',
    'contents > that cannot be had > answer /contents/.git/config with 400',
    'contents > that cannot be had > answer /contents/a/.GIT/b with 400',
  ),
  onForgejo(
    'Forgejo has no extended contents operation, and answers 404 in plain text.',
    'contents > that cannot be had > have their errors followed by junk in `contents-ext`',
    'contents > with chosen members > carry only what `includes` asks for',
    'contents > with chosen members > list the root at "", never with content',
    'contents > with chosen members > list the root at ".", never with content',
    'contents > with chosen members > list the root at "%2F", never with content',
    'contents > with chosen members > refuse an unknown option',
  ),
  onForgejo(
    'Forgejo answers 409 to an edit and 400 to a removal with the sha of another content.',
    'contents > written > are changed by who knows what was there, and moved with `from_path`',
    'contents > written > are removed by who knows what was there',
  ),
  onForgejo(
    'Forgejo wants the sha in every edit of a file, and answers 422 without.',
    'contents > written > are made by an update without `sha`',
  ),
  onForgejo(
    'Forgejo reads `refs/heads/…` as a ref, too.',
    'contents > of a file > are those of the branch, the tag or the commit that `ref` names',
  ),
  onForgejo(
    'Forgejo lets every reader of the base bring the head up to date by a rebase.',
    'branches and pull requests that move > brings the head up to date by a rebase',
  ),
  onForgejo(
    'Forgejo takes an approval of a pull request that is closed.',
    'reviews > is not dismissed where it is a comment, elsewhere, unknown, or its pull request is closed',
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
    'tags and commits > lets writers alone commit several files',
  ),
  onForgejo(
    'Forgejo sends no links with the pages of a wiki.',
    'wikis > takes a limit of one for thirty, has no upper limit, and links',
  ),
  onForgejo(
    'Forgejo answers an empty list for the contents of an empty repository.',
    'contents > of a directory > are not there in an empty repository',
  ),
  onForgejo(
    'Forgejo has no priority, force-push, bypass and override members of branch protections, and apply_to_admins instead.',
    'branch protections > has all 36 members, off and empty where nothing is said',
    'branch protections > counts no dependent flag without enable_push when it is made',
    'branch protections > counts no dependent flag without the flag above when it is made',
    'branch protections > reads the force-push flags of an edit only together with enable_force_push',
    'branch protections > keeps what an edit does not name, replaces lists, and empties the bypass list with its flag',
    'branch protections > lists in the order in which the rules win',
    'merging into a protected branch > is forced by administrators and by the bypass list, only when asked, unless blocked',
  ),
  onForgejo(
    'Forgejo finds a branch protection with a slash in its name only where the slash is sent as %2F.',
    'branch protections > takes the older name of its name and shows none for a pattern',
  ),
  onForgejo(
    'Forgejo does not sort the names in branch protections, and has no bypass list.',
    'branch protections > drops who could not use the right, without a word',
  ),
  onForgejo(
    'Forgejo has no operation that orders branch protections, and answers 405.',
    'branch protections > is for administrators alone',
  ),
  onForgejo(
    'Forgejo answers 500 where the branch protection of an archived repository is removed.',
    'branch protections > is refused on an archived repository after its body was read',
  ),
  onForgejo(
    'Forgejo knows the title of a merge as MergeTitleField alone.',
    'merging > takes the head branch along where asked',
  ),
  onForgejo(
    'Forgejo answers 422 for a fork into an organization that is not there.',
    'merging > from a fork > is made once in each account, and only in one’s own organizations',
  ),
  onForgejo(
    'Forgejo rebases nothing where the head contains the base: merge commits of the head stay.',
    'merging > as rebase leaves out a merge with the base, also where the head contains the base',
  ),
  onForgejo(
    'Forgejo answers 409 where a protected file stops a merge.',
    'merging into a protected branch > is stopped by a protected file',
  ),
  onForgejo(
    'Forgejo answers 403 to a merge that shall take a protected head branch along.',
    'merging into a protected branch > keeps a protected head branch',
  ),
  onForgejo(
    'Forgejo ignores reviewers where a pull request is made.',
    'pull requests > opened > come with everything that is known of them',
    'pull requests > opened > are refused where a reviewer is unknown',
    'notifications > tell of pull requests: opened, asked to review, pushed to and merged',
  ),
  onForgejo(
    'Forgejo has no content_version.',
    'pull requests > edited > refuse a body over one that the caller has not seen',
    'issues > when edited > refuse a body written upon another version',
    'pull requests > edited > answer 201 with what they are now',
  ),
  onForgejo(
    'Forgejo tells added and removed lines in lists, too.',
    'pull requests > listed > tell how many there are, and no lines',
  ),
  onForgejo(
    'Forgejo does not filter pull requests by the branch they aim at.',
    'pull requests > listed > with "?base_branch=topic" are ["third"]',
  ),
  onForgejo(
    'Forgejo takes no other state for the same, and answers 201.',
    'pull requests > edited > close and open again',
    'issues > when edited > open and close, and take no other state',
  ),
  onForgejo(
    'Forgejo answers 404 for a head of a user who has no fork.',
    'pull requests > opened > are refused from a user without a fork',
  ),
  onForgejo(
    'Forgejo answers 500 for a head that is a commit.',
    'pull requests > opened > are refused from a commit',
  ),
  onForgejo(
    'Forgejo lets everybody who reads a repository open pull requests between its branches.',
    'pull requests > opened > are refused to strangers and in the archive',
  ),
  onForgejo(
    'Forgejo has no operation that resolves a comment on lines, and answers 405.',
    'reviews > keeps comments on lines, resolved and answered',
  ),
  onForgejo(
    'Forgejo has no operation merge-upstream; its own is named sync_fork.',
    'forks > take commits of the repository that they come from',
    'forks > take the default branch where there is none of the same name',
    'forks > are refused',
  ),
  onForgejo(
    'Forgejo answers 500 to a commit in a mirror.',
    'mirrors > of other repositories > take no commits of their own',
  ),
  onForgejo(
    'Forgejo answers 500 where a push to a mirror is refused.',
    'mirrors > on other servers > that refuse are named, with the reason and without the password',
  ),
  onForgejo(
    'Forgejo does not count anew whose reviews are official.',
    'reviews > counts anew when the pull request is aimed at another branch',
  ),
  onForgejo(
    'Forgejo says otherwise why it refuses a push, keeps the line feed at the end of a description, and names other pages.',
    'pushes for review > open a pull request of a reader, with the texts of the commit, and make no branch',
    'pushes for review > update the pull request of the topic, and rewrite it where that is asked for alone',
    'pushes for review > say why they are refused',
    'pushes for review > stand beside branches in one push, and fall with them where the push is atomic',
    'pushes for review > are closed to who cannot read the repository, and to an empty one',
    'pushes for review > make the repository of a first push private or a template, and no other',
  ),
  onForgejo(
    'Forgejo counts the size in Content-Range from the start of the range.',
    'Git LFS > objects > are sent once, verified, and come back whole or from where a client stopped',
  ),
  onForgejo(
    'Forgejo gives a repository an object that the account can read elsewhere, without its bytes.',
    'Git LFS > objects > of another repository are no way to what one cannot read',
  ),
  onForgejo(
    'Forgejo answers 500 where the branch of a pull request that was pushed for review shall go with the merge.',
    'pushes for review > are merged, closed and opened anew like any other pull request, and cannot be brought up to date',
  ),
  onForgejo(
    'Forgejo asks owners of code when a pull request is opened alone.',
    'owners of code > are asked when a push brings what they own, and not again after they have answered',
  ),
  onForgejo(
    'Forgejo writes its realm without quotation marks.',
    'Git LFS > access > to a public repository is for all to read, and for writers to send',
  ),
  onForgejo(
    'Forgejo shows no members of Git LFS in the contents.',
    'Git LFS > is what the media operation and the contents show of a pointer',
  ),
  onForgejo(
    'Forgejo has another operation that blocks an account.',
    'pushes for review > need no right to push to a protected branch, and must not be blocked',
  ),
  onForgejo(
    'Forgejo answers 500 where a patch changes a file that a protection of the branch closes.',
    'patches > are for writers, of what protections let them write, and not for the archive',
  ),
];

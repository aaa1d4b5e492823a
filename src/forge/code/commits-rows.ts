import { toVerification } from '../accounts/gpg-keys-rows.ts';
import { accountByEmail, noReplyAddress } from '../accounts/users-rows.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { Database } from '../platform/database.ts';
import { type FileChange, type Touched, touchedBy } from '../platform/git/changes.ts';
import { type CommitData, instantOf, type Signature } from '../platform/git/commit.ts';
import type { UserRow } from '../platform/rows.ts';
import { secondsOf, toInstant, yearOne } from '../platform/time.ts';

/** URLs of a repository: for the API and for the browser. */
export type RepositoryAddress = { readonly api: string; readonly html: string };

/** Returns the URLs of a repository under ROOT_URL. */
export function repositoryAddress(rootUrl: string, owner: string, name: string): RepositoryAddress {
  const path = `${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;
  return { api: `${rootUrl}/api/v1/repos/${path}`, html: `${rootUrl}/${path}` };
}

/** Returns a path with every segment percent-encoded and its slashes kept. */
export function escapePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/**
 * Returns a commit as branches and push payloads show it. In a push payload, it has the changed paths, and
 * `verification` is null; in a branch, it has a verification, and the paths are null. `timestamp` is the author's date.
 */
export function toPayloadCommit(
  db: Database,
  address: RepositoryAddress,
  commit: CommitData,
  touched?: Touched,
) {
  const person = ({ name, email }: Signature) => ({
    name,
    email,
    username: accountByEmail(db, email)?.name ?? '',
  });
  return {
    id: commit.id,
    message: commit.message,
    url: `${address.html}/commit/${commit.id}`,
    author: person(commit.author),
    committer: person(commit.committer),
    verification: touched === undefined ? toVerification(db, commit) : null,
    timestamp: instantOf(commit.author),
    added: touched?.added ?? null,
    removed: touched?.removed ?? null,
    modified: touched?.modified ?? null,
  };
}

function toMeta(address: RepositoryAddress, kind: 'commits' | 'trees', sha: string, created: string) {
  return { url: `${address.api}/git/${kind}/${sha}`, sha, created };
}

/** Returns a commit as commit lists show it. */
export function toCommitEntry<Person>(
  db: Database,
  address: RepositoryAddress,
  commit: CommitData,
  toUser: (email: string) => Person | null,
) {
  const created = instantOf(commit.committer);
  const url = `${address.api}/git/commits/${commit.id}`;
  const person = (signature: Signature) => ({
    name: signature.name,
    email: signature.email,
    date: instantOf(signature),
  });
  return {
    url,
    sha: commit.id,
    created,
    html_url: `${address.html}/commit/${commit.id}`,
    commit: {
      url,
      author: person(commit.author),
      committer: person(commit.committer),
      message: commit.message,
      // Gitea reports the id of the commit instead of the id of its tree.
      tree: toMeta(address, 'trees', commit.id, created),
      verification: toVerification(db, commit),
    },
    author: toUser(commit.author.email),
    committer: toUser(commit.committer.email),
    parents: commit.parents.map((sha) => toMeta(address, 'commits', sha, yearOne)),
  };
}

/** Returns a commit as the responses to file changes show it. */
export function toFileCommit(address: RepositoryAddress, commit: CommitData) {
  const person = ({ name, email, seconds }: Signature) => ({ name, email, date: toInstant(seconds) });
  return {
    ...toMeta(address, 'commits', commit.id, yearOne),
    html_url: `${address.html}/commit/${commit.id}`,
    author: person(commit.author),
    committer: person(commit.committer),
    parents: commit.parents.map((sha) => toMeta(address, 'commits', sha, yearOne)),
    message: commit.message,
    tree: toMeta(address, 'trees', commit.tree, yearOne),
  };
}

/** Returns the files that a commit touches and its line counts, as the API shows them. */
export function toChangeSummary(changes: readonly FileChange[]) {
  const sum = (member: 'additions' | 'deletions') =>
    changes.reduce((total, change) => total + change[member], 0);
  const [additions, deletions] = [sum('additions'), sum('deletions')];
  const paths = touchedBy(changes);
  return {
    files: (['added', 'removed', 'modified'] as const).flatMap((status) =>
      paths[status].map((filename) => ({ filename, status })),
    ),
    stats: { total: additions + deletions, additions, deletions },
  };
}

/**
 * Returns the signature, with the current time, for commits and tags that the API writes for an account. Every reader
 * of the repository sees the e-mail address in the signature, so an account that is not public or hides its address
 * signs with its no-reply address.
 */
export function signatureOf({ clock }: Pick<ForgeContext, 'clock'>, user: UserRow): Signature {
  const isShown = user.visibility === 'public' && user.email !== '' && user.keep_email_private === 0;
  return {
    name: user.full_name || user.name,
    email: isShown ? user.email : noReplyAddress(user),
    seconds: secondsOf(clock()),
    zone: '+0000',
  };
}

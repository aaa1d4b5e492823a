import type { Database } from '../core/database.ts';
import type { UserRow } from '../core/rows.ts';
import { toInstant, yearOne } from '../core/time.ts';
import { type FileChange, type Touched, touchedBy } from '../git/changes.ts';
import { type CommitData, instantOf, type Signature } from '../git/commit.ts';
import { readNoReplyAddress } from './user.ts';

/** Where a repository is found: its address in the API and its address for people. */
export type RepositoryAddress = { readonly api: string; readonly html: string };

/** Returns the addresses of a repository below ROOT_URL. */
export function repositoryAddress(rootUrl: string, owner: string, name: string): RepositoryAddress {
  const path = `${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;
  return { api: `${rootUrl}/api/v1/repos/${path}`, html: `${rootUrl}/${path}` };
}

/** Returns a path with every segment percent-encoded and its slashes kept. */
export function escapePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** Returns the account whose e-mail address, or no-reply address, a commit names. */
export function accountByEmail(db: Database, email: string): UserRow | undefined {
  if (email === '') return undefined;
  const id = readNoReplyAddress(email);
  if (id !== undefined) return db.get<UserRow>(`SELECT * FROM users WHERE id = ? AND type = 'user'`, id);
  return db.get<UserRow>(
    'SELECT u.* FROM email_addresses e JOIN users u ON u.id = e.user_id WHERE e.lower_email = lower(?)',
    email,
  );
}

/** Returns what the forge says of a commit's signature; it knows no keys, so none is ever verified. */
export function toVerification(commit: CommitData) {
  const reason = commit.signature === '' ? 'gpg.error.not_signed_commit' : 'gpg.error.no_gpg_keys_found';
  return {
    verified: false,
    reason,
    signature: commit.signature,
    signer: null,
    payload: commit.signedText,
  };
}

/**
 * Returns a commit as branches and pushes carry it. A push tells the paths but leaves the verification `null`, a branch
 * the reverse. `timestamp` is the author's date.
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
    verification: touched === undefined ? toVerification(commit) : null,
    timestamp: instantOf(commit.author),
    added: touched?.added ?? null,
    removed: touched?.removed ?? null,
    modified: touched?.modified ?? null,
  };
}

function toMeta(address: RepositoryAddress, kind: 'commits' | 'trees', sha: string, created: string) {
  return { url: `${address.api}/git/${kind}/${sha}`, sha, created };
}

/** Returns a commit as the lists of commits carry it. */
export function toCommitEntry<Person>(
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
      // The baseline tells the id of the commit instead of that of its tree.
      tree: toMeta(address, 'trees', commit.id, created),
      verification: toVerification(commit),
    },
    author: toUser(commit.author.email),
    committer: toUser(commit.committer.email),
    parents: commit.parents.map((sha) => toMeta(address, 'commits', sha, yearOne)),
  };
}

/** Returns a commit as the answer to a changed file carries it. */
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

/** Returns the files that a commit touches and how many lines it changes, as the API tells them of commits. */
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

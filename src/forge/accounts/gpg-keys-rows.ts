import type { Database } from '../platform/database.ts';
import type { CommitData } from '../platform/git/commit.ts';
import {
  isDocumentSignedBy,
  OpenPgpError,
  type PgpSignature,
  packetTags,
  readPackets,
  readPublicKeyPacket,
  readSignature,
  signatureTypes,
} from '../platform/openpgp.ts';
import type { Bit, Seconds, UserRow } from '../platform/rows.ts';
import { accountByEmail } from './users-rows.ts';

/** An OpenPGP key or subkey. */
export type GpgKeyRow = {
  readonly id: number;
  readonly user_id: number;
  /** Id of the primary key; null if this is a primary key. */
  readonly primary_id: number | null;
  /** 16 hexadecimal digits in upper case. */
  readonly key_id: string;
  /** The key packet in base64. */
  readonly content: string;
  /** JSON list of the account's addresses that the key contains, in lower case. */
  readonly emails: string;
  readonly can_sign: Bit;
  readonly can_encrypt: Bit;
  /** Whether commit signatures are verified with the key. */
  readonly is_signer: Bit;
  readonly is_verified: Bit;
  /** When the key was added (as in Gitea), not when it was generated. */
  readonly created_at: Seconds;
  readonly expires_at: Seconds;
};

const noKey = 'gpg.error.no_gpg_keys_found';

type SignatureVerdict = {
  readonly reason: string;
  readonly signer?: { readonly username: string; readonly name: string; readonly email: string };
};

/**
 * Returns the verification of a commit's signature. The signature is verified, with its signer, if an account's key
 * made it and the key contains an address of the account, or the account has proved ownership of the key. SSH
 * signatures are never verified: no operation proves ownership of an SSH key.
 */
export function toVerification(db: Database, commit: CommitData) {
  const { reason, signer } = verdictOf(db, commit);
  return {
    verified: signer !== undefined,
    reason,
    signature: commit.signature,
    signer: signer ?? null,
    payload: commit.signedText,
  };
}

function verdictOf(db: Database, commit: CommitData): SignatureVerdict {
  if (commit.signature === '') return { reason: 'gpg.error.not_signed_commit' };
  if (commit.signature.startsWith('-----BEGIN SSH SIGNATURE-----')) return { reason: noKey };
  let signature: PgpSignature;
  try {
    signature = readSignature(commit.signature);
  } catch (error) {
    if (error instanceof OpenPgpError) return { reason: 'gpg.error.extract_sign' };
    throw error;
  }
  const named = byKeyId(db, signature, commit);
  if (named?.signer) return named;
  return byCommitter(db, signature, commit) ?? named ?? { reason: noKey };
}

/** Checks the keys that the signature names. If none of them made the signature, it is reported as probably bad. */
function byKeyId(db: Database, signature: PgpSignature, commit: CommitData): SignatureVerdict | undefined {
  if (signature.issuer === '') return undefined;
  const keys = db.all<GpgKeyRow>('SELECT * FROM gpg_keys WHERE key_id = ? LIMIT 20', signature.issuer);
  if (keys.length === 0) return undefined;
  for (const key of keys) {
    const primary = primaryOf(db, key);
    const addresses = addressesOf(db, key.user_id);
    const own = namedAddresses(primary).find((email) => addresses.has(email));
    const email = own ?? (primary.is_verified ? addresses.values().next().value : undefined);
    if (email === undefined) continue;
    const verdict = verdictBy(db, key, signature, commit, email);
    if (verdict) return verdict;
  }
  return { reason: 'gpg.error.probable_bad_signature' };
}

/**
 * Tries the committer's keys that contain the committer address or have proven ownership: a signature without a key id
 * may come from any of them.
 */
function byCommitter(
  db: Database,
  signature: PgpSignature,
  commit: CommitData,
): SignatureVerdict | undefined {
  const committer = accountByEmail(db, commit.committer.email);
  if (!committer) return undefined;
  const sql = 'SELECT * FROM gpg_keys WHERE user_id = ? AND primary_id IS NULL ORDER BY id LIMIT 100';
  const email = commit.committer.email;
  for (const key of db.all<GpgKeyRow>(sql, committer.id)) {
    if (!key.is_verified && !namedAddresses(key).includes(email.toLowerCase())) continue;
    const verdict = verdictBy(db, key, signature, commit, email);
    if (verdict) return verdict;
  }
  return undefined;
}

function primaryOf(db: Database, key: GpgKeyRow): GpgKeyRow {
  if (key.primary_id === null) return key;
  return db.get<GpgKeyRow>('SELECT * FROM gpg_keys WHERE id = ?', key.primary_id) ?? key;
}

/** Returns the e-mail addresses of a key. The cast is safe: the handler that adds a key writes this column. */
function namedAddresses({ emails }: GpgKeyRow): readonly string[] {
  return JSON.parse(emails) as string[];
}

/** Returns the current addresses of an account. A removed address no longer counts. */
function addressesOf(db: Database, userId: number): ReadonlySet<string> {
  const sql = 'SELECT lower_email FROM email_addresses WHERE user_id = ? ORDER BY id';
  return new Set(
    db.all<{ lower_email: string }>(sql, userId).map(({ lower_email: lowerEmail }) => lowerEmail),
  );
}

/** Returns the verdict if a key or one of its subkeys made the signature. */
function verdictBy(
  db: Database,
  key: GpgKeyRow,
  signature: PgpSignature,
  commit: CommitData,
  email: string,
): SignatureVerdict | undefined {
  const subkeys = db.all<GpgKeyRow>('SELECT * FROM gpg_keys WHERE primary_id = ? ORDER BY id', key.id);
  const maker = [key, ...subkeys].find((one) => hasSigned(one, signature, commit.signedText));
  const user = maker && db.get<UserRow>('SELECT * FROM users WHERE id = ?', maker.user_id);
  if (!user) return undefined;
  return {
    reason: `${user.name} / ${maker.key_id}`,
    signer: { username: user.name, name: user.full_name.trim() || user.name, email },
  };
}

/** Returns whether the key signed the commit's bytes with a binary signature, the type that git creates. */
function hasSigned(key: GpgKeyRow, signature: PgpSignature, text: string): boolean {
  if (!key.is_signer || signature.type !== signatureTypes.binary) return false;
  const [packet] = readPackets(Buffer.from(key.content, 'base64'));
  if (packet?.tag !== packetTags.publicKey && packet?.tag !== packetTags.subkey) return false;
  return isDocumentSignedBy(readPublicKeyPacket(packet.body), signature, text);
}

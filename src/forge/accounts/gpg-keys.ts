import { createHash } from 'node:crypto';
import type { ForgeContext } from '../platform/context.ts';
import type { Database } from '../platform/database.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers, type Reply } from '../platform/http/handler.ts';
import {
  isDocumentSignedBy,
  OpenPgpError,
  type PgpEntity,
  type PgpPublicKey,
  type PgpSignature,
  type PgpSubkey,
  packetTags,
  readKeyRing,
  readPackets,
  readPublicKeyPacket,
  readSignature,
  writePacket,
} from '../platform/openpgp.ts';
import type { PageRange } from '../platform/paging.ts';
import type { UserRow } from '../platform/rows.ts';
import { secondsOf, toInstant, yearOne } from '../platform/time.ts';
import type { GpgKeyRow } from './gpg-keys-rows.ts';

function toKeyMembers(key: GpgKeyRow, primaryKeyId: string) {
  const canSign = key.can_sign === 1;
  const canEncrypt = key.can_encrypt === 1;
  return {
    id: key.id,
    primary_key_id: primaryKeyId,
    key_id: key.key_id,
    public_key: key.content,
    can_sign: canSign,
    can_encrypt_comms: canEncrypt,
    can_encrypt_storage: canEncrypt,
    // Gitea shows the same value for `can_sign` and `can_certify`.
    can_certify: canSign,
    verified: key.is_verified === 1,
    created_at: toInstant(key.created_at),
    expires_at: key.expires_at === 0 ? yearOne : toInstant(key.expires_at),
  };
}

/** Returns a key as the API shows it; addresses that the account has removed are omitted. */
function toGpgKey({ db }: ForgeContext, key: GpgKeyRow) {
  const subkeys = db.all<GpgKeyRow>('SELECT * FROM gpg_keys WHERE primary_id = ? ORDER BY id', key.id);
  const emails = db.all<{ email: string }>(
    `SELECT email FROM email_addresses WHERE user_id = ? AND lower_email IN (SELECT value FROM json_each(?)) ORDER BY id`,
    key.user_id,
    key.emails,
  );
  return {
    ...toKeyMembers(key, ''),
    emails: emails.map(({ email }) => ({ email, verified: true })),
    subkeys: subkeys.map((subkey) => ({ ...toKeyMembers(subkey, key.key_id), emails: null, subkeys: null })),
  };
}

type GpgKeyListing = { readonly context: ForgeContext; readonly page: PageRange; readonly reply: Reply };

function listGpgKeysOf({ context, page, reply }: GpgKeyListing, account: UserRow) {
  const { db } = context;
  const from = 'FROM gpg_keys WHERE user_id = ? AND primary_id IS NULL';
  reply.total(db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, account.id)?.count ?? 0);
  const sql = `SELECT * ${from} ORDER BY id LIMIT ? OFFSET ?`;
  const rows = db.all<GpgKeyRow>(sql, account.id, page.limit, page.offset);
  return rows.map((row) => toGpgKey(context, row));
}

/**
 * Returns the token of a minute; `minutes` is its offset from the current minute. Signing the token proves ownership of
 * a key; the token itself is not secret.
 */
function verificationToken({ clock }: ForgeContext, user: UserRow, minutes: number): string {
  const minute = Math.floor(secondsOf(clock()) / 60) + minutes;
  const parts = [minute, user.created_at, user.name, user.email, user.id];
  return createHash('sha256').update(parts.join(':')).digest('hex');
}

/** Issues the token of the next minute, so that at least a minute remains to sign it. */
function currentToken(context: ForgeContext, user: UserRow): string {
  return verificationToken(context, user, 1);
}

function hasSignedToken(context: ForgeContext, user: UserRow, isSigned: (text: string) => boolean): boolean {
  const tokens = [currentToken(context, user), verificationToken(context, user, 0)];
  // Some programs append a line ending to the signed text.
  return tokens.some((token) => ['', '\n', '\r\n', '\n\n'].some((end) => isSigned(`${token}${end}`)));
}

function wrongSignature(context: ForgeContext, user: UserRow): ForgeProblem {
  return new ForgeProblem(
    422,
    `The provided GPG key, signature and token do not match or token is out of date. Provide a valid signature for the token: ${currentToken(context, user)}`,
  );
}

function tryReadSignature(text: string): PgpSignature | undefined {
  try {
    return readSignature(text);
  } catch (error) {
    if (error instanceof OpenPgpError) return undefined;
    throw error;
  }
}

/** Returns the keys in a text, or ends the request with 422 and the reason. */
function readEntities(text: string): readonly PgpEntity[] {
  try {
    return readKeyRing(text);
  } catch (error) {
    if (error instanceof OpenPgpError)
      throw new ForgeProblem(422, `failed to parse gpg key ${error.message}`);
    throw error;
  }
}

/** Returns the key that signed the token, or ends the request with 422. */
function findSigner(
  context: ForgeContext,
  user: UserRow,
  entities: readonly PgpEntity[],
  armored: string,
): PgpEntity {
  const signature = tryReadSignature(armored);
  const now = secondsOf(context.clock());
  const isOver = (end: number) => end !== 0 && end <= now;
  const signers = (entity: PgpEntity): readonly PgpPublicKey[] => [
    ...(isOver(entity.expiresAt) ? [] : [entity.primary]),
    ...entity.subkeys
      .filter(({ isSigner, expiresAt }) => isSigner && !isOver(expiresAt))
      .map(({ key }) => key),
  ];
  const isEnded = signature && signature.lifetime !== 0 && isOver(signature.createdAt + signature.lifetime);
  const signer =
    signature &&
    !isEnded &&
    entities.find((entity) =>
      hasSignedToken(context, user, (text) =>
        signers(entity).some((key) => isDocumentSignedBy(key, signature, text)),
      ),
    );
  if (!signer) throw wrongSignature(context, user);
  return signer;
}

/** Returns the addresses of a key that belong to an account. */
function ownAddresses(db: Database, user: UserRow, entity: PgpEntity): readonly string[] {
  const sql = `SELECT lower_email FROM email_addresses
    WHERE user_id = ? AND lower_email IN (SELECT value FROM json_each(?)) ORDER BY id`;
  return db
    .all<{ lower_email: string }>(sql, user.id, JSON.stringify(entity.emails))
    .map(({ lower_email: email }) => email);
}

type StoredKey = {
  readonly key: PgpPublicKey;
  readonly expiresAt: number;
  readonly isSigner: boolean;
  readonly isVerified: boolean;
  readonly primaryId?: number;
  readonly emails?: readonly string[];
};

function storeGpgKey({ db, clock }: ForgeContext, user: UserRow, stored: StoredKey): number {
  const { key, primaryId } = stored;
  const tag = primaryId === undefined ? packetTags.publicKey : packetTags.subkey;
  return db.run(
    `INSERT INTO gpg_keys (user_id, primary_id, key_id, content, emails, can_sign, can_encrypt, is_signer, is_verified,
       created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    user.id,
    primaryId,
    key.keyId,
    writePacket({ tag, body: key.body }).toString('base64'),
    JSON.stringify(stored.emails ?? []),
    key.canSign,
    key.canEncrypt,
    stored.isSigner,
    stored.isVerified,
    secondsOf(clock()),
    stored.expiresAt,
  ).lastId;
}

/**
 * Maximum number of keys per account, including subkeys. A signature without a key id is checked against every key of
 * the committer.
 */
const maxKeys = 100;

function assertRoom({ db }: ForgeContext, user: UserRow, more: number): void {
  const sql = 'SELECT count(*) AS count FROM gpg_keys WHERE user_id = ?';
  const held = db.get<{ count: number }>(sql, user.id)?.count ?? 0;
  if (held + more > maxKeys)
    throw new ForgeProblem(422, `an account has at most ${maxKeys} keys with subkeys`);
}

function storeEntity(context: ForgeContext, user: UserRow, entity: PgpEntity, isVerified: boolean): number {
  const { db } = context;
  const { primary, expiresAt } = entity;
  if (db.get('SELECT 1 AS one FROM gpg_keys WHERE key_id = ? AND primary_id IS NULL', primary.keyId))
    throw new ForgeProblem(422, 'A key with the same id already exists');
  assertRoom(context, user, 1 + entity.subkeys.length);
  const emails = ownAddresses(db, user, entity);
  if (!isVerified && emails.length === 0) {
    const message =
      'None of the emails attached to the GPG key could be found. It may still be added if you provide a valid signature for the token: ';
    throw new ForgeProblem(404, `${message}${currentToken(context, user)}`);
  }
  const stored = { key: primary, expiresAt, isSigner: primary.canSign, isVerified, emails };
  const primaryId = storeGpgKey(context, user, stored);
  for (const subkey of entity.subkeys) storeSubkey(context, user, subkey, primaryId);
  return primaryId;
}

function storeSubkey(context: ForgeContext, user: UserRow, subkey: PgpSubkey, primaryId: number): void {
  storeGpgKey(context, user, { ...subkey, isVerified: false, primaryId });
}

function findGpgKey({ db }: ForgeContext, id: number): GpgKeyRow {
  return found(db.get<GpgKeyRow>('SELECT * FROM gpg_keys WHERE id = ?', id));
}

function keyOfRow({ content }: GpgKeyRow): PgpPublicKey {
  const [packet] = readPackets(Buffer.from(content, 'base64'));
  return readPublicKeyPacket(packet?.body ?? Buffer.alloc(0));
}

/** Handlers for OpenPGP keys. */
export const gpgKeyHandlers = defineHandlers({
  listOwnGpgKeys: (call) => listGpgKeysOf(call, call.caller),
  listGpgKeys: (call) => listGpgKeysOf(call, call.account),

  getGpgKey({ context, caller, params }) {
    const sql = 'SELECT * FROM gpg_keys WHERE id = ? AND user_id = ?';
    return toGpgKey(context, found(context.db.get<GpgKeyRow>(sql, params.id, caller.id)));
  },

  createGpgKey({ context, caller, body }) {
    const entities = readEntities(body.armored_public_key);
    const signature = body.armored_signature;
    const wanted = signature ? [findSigner(context, caller, entities, signature)] : entities;
    const ids = context.db.transaction(() =>
      wanted.map((entity) => storeEntity(context, caller, entity, Boolean(signature))),
    );
    return toGpgKey(context, findGpgKey(context, ids[0] ?? 0));
  },

  deleteGpgKey({ context, caller, params }) {
    const sql = 'SELECT * FROM gpg_keys WHERE id = ? AND user_id = ?';
    const key = context.db.get<GpgKeyRow>(sql, params.id, caller.id);
    // As in Gitea, the id of a subkey deletes only the subkey.
    if (key) context.db.run('DELETE FROM gpg_keys WHERE id = ?', key.id);
    return undefined;
  },

  getGpgKeyToken: ({ context, caller }) => currentToken(context, caller),

  verifyGpgKey({ context, caller, body }) {
    const { db } = context;
    const keyId = body.key_id.toUpperCase().padStart(16, '0');
    const sql =
      'SELECT * FROM gpg_keys WHERE user_id = ? AND key_id = ? ORDER BY primary_id IS NOT NULL LIMIT 1';
    const row = found(db.get<GpgKeyRow>(sql, caller.id, keyId));
    const signature = tryReadSignature(body.armored_signature);
    const subkeys = 'SELECT * FROM gpg_keys WHERE id = ?1 OR (primary_id = ?1 AND is_signer = 1)';
    const keys = db.all<GpgKeyRow>(subkeys, row.id).map(keyOfRow);
    const isSigned =
      signature !== undefined &&
      hasSignedToken(context, caller, (text) => keys.some((key) => isDocumentSignedBy(key, signature, text)));
    if (!isSigned) throw wrongSignature(context, caller);
    db.run('UPDATE gpg_keys SET is_verified = 1 WHERE id = ?', row.id);
    return toGpgKey(context, findGpgKey(context, row.id));
  },
});

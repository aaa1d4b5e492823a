import { isVisible } from '../platform/access/permissions.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers, type Reply } from '../platform/http/handler.ts';
import type { PageRange } from '../platform/paging.ts';
import type { UserRow } from '../platform/rows.ts';
import { secondsOf, toInstant } from '../platform/time.ts';
import { type PublicKeyRow, parsePublicKey } from './public-keys.ts';
import { loadUsers, toUser } from './users-rows.ts';

type KeyReading = { readonly context: ForgeContext; readonly caller: UserRow };

/** Returns public keys as the API shows them. Only the owner and site administrators see the owner of a key. */
function toPublicKeys({ context, caller }: KeyReading, keys: readonly PublicKeyRow[]) {
  const owners = loadUsers(
    context,
    keys.flatMap(({ user_id }) => user_id ?? []),
  );
  return keys.map((key) => {
    const owner = owners.get(key.user_id ?? 0);
    const seesOwner = caller.is_admin === 1 || caller.id === key.user_id;
    return {
      id: key.id,
      key: key.content,
      url: `${context.rootUrl()}/api/v1/user/keys/${key.id}`,
      title: key.name,
      fingerprint: key.fingerprint,
      created_at: toInstant(key.created_at),
      last_used_at: toInstant(key.updated_at),
      read_only: seesOwner && isReadOnly(context, key),
      ...(seesOwner ? { key_type: key.user_id === null ? 'deploy' : 'user' } : {}),
      ...(seesOwner && owner ? { user: toUser(context, owner, owner) } : {}),
    };
  });
}

/** Returns whether a key is read-only. An account's key has the write access of the account. */
function isReadOnly({ db }: ForgeContext, key: PublicKeyRow): boolean {
  const sql = 'SELECT 1 AS one FROM deploy_keys WHERE key_id = ? AND is_read_only = 0';
  return key.user_id === null && db.get(sql, key.id) === undefined;
}

/**
 * Returns whether the caller sees a key. The title of a deploy key reveals something about its repository, so only site
 * administrators see deploy keys outside their repository.
 */
function isShown({ context, caller }: KeyReading, key: PublicKeyRow): boolean {
  if (caller.is_admin) return true;
  const owner = key.user_id === null ? undefined : loadUsers(context, [key.user_id]).get(key.user_id);
  return owner !== undefined && isVisible(context.db, owner, caller);
}

type KeyListing = KeyReading & {
  readonly query: { readonly fingerprint?: string | undefined };
  readonly page: PageRange;
  readonly reply: Reply;
};

function listKeysOf(call: KeyListing, account: UserRow) {
  const { context, query, page, reply } = call;
  const where = query.fingerprint ? 'user_id = ? AND fingerprint = ?' : 'user_id = ?';
  const values = [account.id, ...(query.fingerprint ? [query.fingerprint] : [])];
  const { db } = context;
  const count = db.get<{ count: number }>(
    `SELECT count(*) AS count FROM public_keys WHERE ${where}`,
    ...values,
  );
  reply.total(count?.count ?? 0);
  const sql = `SELECT * FROM public_keys WHERE ${where} ORDER BY id LIMIT ? OFFSET ?`;
  return toPublicKeys(call, db.all<PublicKeyRow>(sql, ...values, page.limit, page.offset));
}

/** Returns the key with this fingerprint from any account; services use this to identify the signer. */
function listByFingerprint(call: KeyListing, fingerprint: string) {
  const { context, page, reply } = call;
  const sql = 'SELECT * FROM public_keys WHERE fingerprint = ?';
  const keys = context.db.all<PublicKeyRow>(sql, fingerprint).filter((key) => isShown(call, key));
  reply.total(keys.length);
  return page.page > 1 ? [] : toPublicKeys(call, keys);
}

const longestTitle = 255;

type KeyWriting = KeyReading & { readonly body: { readonly title: string; readonly key: string } };

function addKey(call: KeyWriting, account: UserRow) {
  const { context, body } = call;
  const { db, clock } = context;
  const key = parsePublicKey(body.key);
  if (body.title.length > longestTitle) throw new ForgeProblem(422, `[Title]: MaxSize(${longestTitle})`);
  const row = db.transaction(() => {
    if (db.get('SELECT 1 AS one FROM public_keys WHERE fingerprint = ?', key.fingerprint))
      throw new ForgeProblem(422, 'Key content has been used as non-deploy key');
    if (db.get('SELECT 1 AS one FROM public_keys WHERE user_id = ? AND name = ?', account.id, body.title))
      throw new ForgeProblem(422, 'Key title has been used');
    const now = secondsOf(clock());
    const { lastId } = db.run(
      'INSERT INTO public_keys (user_id, name, fingerprint, content, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)',
      account.id,
      body.title,
      key.fingerprint,
      key.line,
      now,
      now,
    );
    return found(db.get<PublicKeyRow>('SELECT * FROM public_keys WHERE id = ?', lastId));
  });
  return found(toPublicKeys(call, [row])[0]);
}

function removeKey({ db }: ForgeContext, doer: UserRow, id: number): undefined {
  const key = found(db.get<PublicKeyRow>('SELECT * FROM public_keys WHERE id = ?', id));
  if (!doer.is_admin && doer.id !== key.user_id)
    throw new ForgeProblem(403, 'You do not have access to this key');
  db.run('DELETE FROM public_keys WHERE id = ?', id);
  return undefined;
}

/** Handlers for the public keys of accounts. */
export const userKeyHandlers = defineHandlers({
  listOwnKeys: (call) =>
    call.query.fingerprint ? listByFingerprint(call, call.query.fingerprint) : listKeysOf(call, call.caller),
  listKeys: (call) => listKeysOf(call, call.account),

  getKey(call) {
    const sql = 'SELECT * FROM public_keys WHERE id = ?';
    const key = found(call.context.db.get<PublicKeyRow>(sql, call.params.id));
    return found(isShown(call, key) ? toPublicKeys(call, [key])[0] : undefined);
  },

  createKey: (call) => addKey(call, call.caller),
  createKeyFor: (call) => addKey(call, call.account),
  deleteKey: ({ context, caller, params }) => removeKey(context, caller, params.id),
  deleteKeyOf: ({ context, account, params }) => removeKey(context, account, params.id),
});

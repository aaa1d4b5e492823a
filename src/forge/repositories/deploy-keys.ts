import {
  type DeployKeyRow,
  type PublicKeyRow,
  parsePublicKey,
  type SshPublicKey,
} from '../accounts/public-keys.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { UserRow } from '../platform/rows.ts';
import { secondsOf, toInstant } from '../platform/time.ts';
import { toRepository } from './repositories-rows.ts';

type KeyPlace = RepositoryTarget & { readonly context: ForgeContext; readonly caller: UserRow };

const columns = `d.*, k.fingerprint, k.content FROM deploy_keys d JOIN public_keys k ON k.id = d.key_id`;

function findDeployKey({ context, repository }: KeyPlace, id: number): DeployKeyRow {
  const sql = `SELECT ${columns} WHERE d.id = ? AND d.repo_id = ?`;
  return found(context.db.get<DeployKeyRow>(sql, id, repository.id));
}

/**
 * Returns a deploy key as the API shows it. Its repository is included only for the repository's owner and for site
 * administrators.
 */
function toDeployKey({ context, repository, owner, caller }: KeyPlace, key: DeployKeyRow) {
  const isReadOnly = key.is_read_only === 1;
  const permission = isReadOnly ? 'read' : 'write';
  const seesAll = caller.is_admin || caller.id === owner.id;
  return {
    id: key.id,
    key_id: key.key_id,
    key: key.content,
    url: `${context.rootUrl()}/api/v1/repos/${owner.name}/${repository.name}/keys/${key.id}`,
    title: key.name,
    fingerprint: key.fingerprint,
    created_at: toInstant(key.created_at),
    read_only: isReadOnly,
    ...(seesAll
      ? { repository: toRepository(context, repository, { owner, viewer: caller, permission }) }
      : {}),
  };
}

/**
 * Returns the id of a deploy key, which is stored if it is new. Ends the request with 422 if an account uses the key.
 */
function storeKey({ db, clock }: ForgeContext, key: SshPublicKey, name: string): number {
  const known = db.get<PublicKeyRow>('SELECT * FROM public_keys WHERE fingerprint = ?', key.fingerprint);
  if (known === undefined) {
    const now = secondsOf(clock());
    const sql =
      'INSERT INTO public_keys (name, fingerprint, content, created_at, updated_at) VALUES (?, ?, ?, ?, ?)';
    return db.run(sql, name, key.fingerprint, key.line, now, now).lastId;
  }
  if (known.user_id !== null) throw new ForgeProblem(422, 'Key content has been used as non-deploy key');
  return known.id;
}

function addDeployKey(place: KeyPlace, key: SshPublicKey, title: string, isReadOnly: boolean): DeployKeyRow {
  const { context, repository } = place;
  const { db } = context;
  const keyId = storeKey(context, key, title);
  if (db.get('SELECT 1 AS one FROM deploy_keys WHERE repo_id = ? AND key_id = ?', repository.id, keyId))
    throw new ForgeProblem(422, 'This key has already been added to this repository');
  if (db.get('SELECT 1 AS one FROM deploy_keys WHERE repo_id = ? AND name = ?', repository.id, title))
    throw new ForgeProblem(422, 'A key with the same name already exists');
  const { lastId } = db.run(
    'INSERT INTO deploy_keys (key_id, repo_id, name, is_read_only, created_at) VALUES (?, ?, ?, ?, ?)',
    keyId,
    repository.id,
    title,
    isReadOnly ? 1 : 0,
    secondsOf(context.clock()),
  );
  return findDeployKey(place, lastId);
}

/** Handlers for the deploy keys of a repository. */
export const deployKeyHandlers = defineHandlers({
  listDeployKeys(call) {
    const { context, repository, query, page, reply } = call;
    const filters: [string, number | string | undefined][] = [
      ['d.repo_id = ?', repository.id],
      ['d.key_id = ?', query.key_id],
      ['k.fingerprint = ?', query.fingerprint],
    ];
    const given = filters.filter((filter): filter is [string, number | string] => Boolean(filter[1]));
    const where = given.map(([sql]) => sql).join(' AND ');
    const values = given.map(([, value]) => value);
    const { db } = context;
    const counted = db.get<{ count: number }>(
      `SELECT count(*) AS count FROM deploy_keys d JOIN public_keys k ON k.id = d.key_id WHERE ${where}`,
      ...values,
    );
    reply.total(counted?.count ?? 0);
    const sql = `SELECT ${columns} WHERE ${where} ORDER BY d.id LIMIT ? OFFSET ?`;
    const rows = db.all<DeployKeyRow>(sql, ...values, page.limit, page.offset);
    return rows.map((row) => toDeployKey(call, row));
  },

  getDeployKey: (call) => toDeployKey(call, findDeployKey(call, call.params.id)),

  createDeployKey(call) {
    const { context, body } = call;
    const key = parsePublicKey(body.key);
    const row = context.db.transaction(() => addDeployKey(call, key, body.title, body.read_only === true));
    // The response contains the key comment that was sent; later responses contain the comment from the first request
    // with this key.
    const { repository: _, ...shape } = toDeployKey(call, { ...row, content: key.line });
    return shape;
  },

  deleteDeployKey({ context, repository, params }) {
    const { db } = context;
    const row = db.get<DeployKeyRow>('SELECT * FROM deploy_keys WHERE id = ?', params.id);
    if (row && row.repo_id !== repository.id)
      throw new ForgeProblem(403, 'You do not have access to this key');
    db.run('DELETE FROM deploy_keys WHERE id = ?', params.id);
    return undefined;
  },
});

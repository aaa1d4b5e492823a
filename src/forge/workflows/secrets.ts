import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers, type Reply } from '../platform/http/handler.ts';
import type { PageRange } from '../platform/paging.ts';
import type { Seconds } from '../platform/rows.ts';
import { secondsOf, toInstant } from '../platform/time.ts';
import { assertActionName, holders, type NamedHolder, toStoredDescription } from './workflows-service.ts';

const maxValueBytes = 65_536;

type SecretListing = { readonly context: ForgeContext; readonly page: PageRange; readonly reply: Reply };
type SecretNaming = { readonly context: ForgeContext; readonly params: { readonly secretname: string } };
type SecretWriting = SecretNaming & {
  readonly body: { readonly data: string; readonly description?: string | undefined };
  readonly reply: Reply;
};

function listSecrets({ context, page, reply }: SecretListing, { column, id }: NamedHolder) {
  const { db } = context;
  const from = `FROM action_secrets WHERE ${column} = ?`;
  reply.total(db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, id)?.count ?? 0);
  const rows = db.all<{ name: string; description: string; created_at: Seconds }>(
    `SELECT name, description, created_at ${from} ORDER BY name LIMIT ? OFFSET ?`,
    id,
    page.limit,
    page.offset,
  );
  return rows.map((row) => ({ ...row, created_at: toInstant(row.created_at) }));
}

/**
 * Stores a secret without its value, which is validated and discarded: no part of this forge reads it, and a copy of
 * the database cannot leak it.
 */
function putSecret({ context, params, body, reply }: SecretWriting, { column, id }: NamedHolder): undefined {
  const { db, clock } = context;
  assertActionName(params.secretname);
  if (Buffer.byteLength(body.data) > maxValueBytes) throw new ForgeProblem(400, 'data too long');
  const name = params.secretname.toUpperCase();
  const description = toStoredDescription(body.description);
  const { changes } = db.run(
    `UPDATE action_secrets SET description = ? WHERE ${column} = ? AND name = ?`,
    description,
    id,
    name,
  );
  if (changes > 0) {
    reply.status(204);
    return;
  }
  db.run(
    `INSERT INTO action_secrets (${column}, name, description, created_at) VALUES (?, ?, ?, ?)`,
    id,
    name,
    description,
    secondsOf(clock()),
  );
}

function deleteSecret({ context, params }: SecretNaming, { column, id }: NamedHolder): undefined {
  const sql = `DELETE FROM action_secrets WHERE ${column} = ? AND name = ?`;
  const { changes } = context.db.run(sql, id, params.secretname.toUpperCase());
  found(changes || undefined, 'secret was not found [name: ]');
}

/** Handlers for Actions secrets. */
export const secretHandlers = defineHandlers({
  listOrganizationSecrets: (call) => listSecrets(call, holders.organization(call)),
  putOrganizationSecret: (call) => putSecret(call, holders.organization(call)),
  deleteOrganizationSecret: (call) => deleteSecret(call, holders.organization(call)),
  listRepositorySecrets: (call) => listSecrets(call, holders.repository(call)),
  putRepositorySecret: (call) => putSecret(call, holders.repository(call)),
  deleteRepositorySecret: (call) => deleteSecret(call, holders.repository(call)),
  putUserSecret: (call) => putSecret(call, holders.caller(call)),
  deleteUserSecret: (call) => deleteSecret(call, holders.caller(call)),
});

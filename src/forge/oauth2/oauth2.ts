import { randomUUID } from 'node:crypto';
import type { CreateOAuth2Application } from '../../contract/resources/oauth2.ts';
import { tokenDigest } from '../platform/access/actor.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { OAuth2ApplicationRow, UserRow } from '../platform/rows.ts';
import { secondsOf, toInstant } from '../platform/time.ts';
import { makeClientSecret } from './oauth2-service.ts';

/** Returns an application as the API shows it; the secret is known only in the response that creates it. */
function toApplication(row: OAuth2ApplicationRow, secret = '') {
  return {
    id: row.id,
    name: row.name,
    client_id: row.client_id,
    client_secret: secret,
    confidential_client: row.is_confidential === 1,
    skip_secondary_authorization: row.skip_secondary_authorization === 1,
    // The cast is safe: this file writes the column.
    redirect_uris: JSON.parse(row.redirect_uris) as string[],
    created: toInstant(row.created_at),
  };
}

function assertAddresses(addresses: readonly string[]): void {
  const wrong = addresses.find((address) => {
    const url = URL.parse(address);
    return !url || !/^https?:\/\/[^\s/?#]/i.test(address) || url.hostname === '';
  });
  if (wrong !== undefined) throw new ForgeProblem(400, `invalid redirect URI: ${wrong}`);
}

function insertApplication(
  context: ForgeContext,
  owner: UserRow,
  wanted: CreateOAuth2Application,
  secret: string,
) {
  const { db, clock } = context;
  const now = secondsOf(clock());
  const { lastId } = db.run(
    `INSERT INTO oauth2_applications (user_id, name, client_id, secret_digest, is_confidential,
       skip_secondary_authorization, redirect_uris, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    owner.id,
    wanted.name,
    randomUUID(),
    tokenDigest(secret),
    wanted.confidential_client ?? false,
    wanted.skip_secondary_authorization ?? false,
    JSON.stringify(wanted.redirect_uris),
    now,
    now,
  );
  return found(db.get<OAuth2ApplicationRow>('SELECT * FROM oauth2_applications WHERE id = ?', lastId));
}

type OwnCall = {
  readonly context: ForgeContext;
  readonly caller: UserRow;
  readonly params: { readonly id: number };
};

function ownApplication({ context, caller, params }: OwnCall): OAuth2ApplicationRow {
  const sql = 'SELECT * FROM oauth2_applications WHERE id = ? AND user_id = ?';
  return found(context.db.get<OAuth2ApplicationRow>(sql, params.id, caller.id));
}

/** Handlers for OAuth2 applications. Only the SHA-256 of a secret is stored; an edit generates a new one. */
export const oauth2Handlers = defineHandlers({
  createOAuth2Application({ context, caller, body }) {
    assertAddresses(body.redirect_uris);
    const secret = makeClientSecret('gto');
    return toApplication(insertApplication(context, caller, body, secret), secret);
  },

  listOAuth2Applications({ context, caller, page, reply }) {
    const { db } = context;
    const count = 'SELECT count(*) AS count FROM oauth2_applications WHERE user_id = ?';
    reply.total(db.get<{ count: number }>(count, caller.id)?.count ?? 0);
    const rows = db.all<OAuth2ApplicationRow>(
      'SELECT * FROM oauth2_applications WHERE user_id = ? ORDER BY id DESC LIMIT ? OFFSET ?',
      caller.id,
      page.limit,
      page.offset,
    );
    return rows.map((row) => toApplication(row));
  },

  getOAuth2Application: (call) => toApplication(ownApplication(call)),

  editOAuth2Application(call) {
    const { context, body } = call;
    assertAddresses(body.redirect_uris);
    const { id } = ownApplication(call);
    const secret = makeClientSecret('gto');
    context.db.run(
      `UPDATE oauth2_applications SET name = ?, secret_digest = ?, is_confidential = ?,
         skip_secondary_authorization = ?, redirect_uris = ?, updated_at = ? WHERE id = ?`,
      body.name,
      tokenDigest(secret),
      body.confidential_client ?? false,
      body.skip_secondary_authorization ?? false,
      JSON.stringify(body.redirect_uris),
      secondsOf(context.clock()),
      id,
    );
    return toApplication(ownApplication(call), secret);
  },

  deleteOAuth2Application(call) {
    call.context.db.run('DELETE FROM oauth2_applications WHERE id = ?', ownApplication(call).id);
    return undefined;
  },
});

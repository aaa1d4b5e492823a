import { createHmac, randomUUID } from 'node:crypto';
import fastify, { type FastifyInstance } from 'fastify';
import { silentLog } from '../../../src/platform/log.ts';
import {
  type ReceiverLimits,
  type ReceiverOptions,
  receiver,
  serverOptions,
} from '../../../src/server/receiver/route.ts';
import type { SecretEntry } from '../../../src/server/receiver/secrets.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';

export const authorization = 'Bearer authorization-value-of-24-bytes-or-more';
export const secret = 'a-secret-that-signs-with-24-bytes-or-more';

/** Creates an entry that by default requires both header and signature, and covers the whole forge. */
export function makeEntry(given: Partial<SecretEntry> = {}): SecretEntry {
  return { name: 'all', scope: ['*'], authorization: [authorization], hmac: [secret], ...given };
}

/** Account that causes an event. */
export const sender = { id: 1, login: 'ada' };

/** Returns the body of a push to a repository. */
export function makePush(repository: object = { id: 7, full_name: 'acme/tool', owner: { id: 3 } }) {
  return { ref: 'refs/heads/main', before: 'a'.repeat(40), after: randomUUID(), repository, sender };
}

/** Signs a body as the forge does: hex without a prefix. */
export function sign(body: string | Buffer, key = secret): string {
  return createHmac('sha256', key).update(body).digest('hex');
}

/** Returns the headers of a delivery that passes every guard. */
export function makeHeaders(
  body: string | Buffer,
  given: Record<string, string | undefined> = {},
): Record<string, string> {
  const headers = {
    'content-type': 'application/json',
    authorization,
    'x-gitea-delivery': randomUUID(),
    'x-gitea-event': 'push',
    'x-gitea-event-type': 'push',
    'x-gitea-signature': sign(body),
    ...given,
  };
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** Creates a receiver with its own store, in memory unless one is given. */
export async function makeReceiver(
  given: Partial<ReceiverOptions> & { limits?: ReceiverLimits } = {},
): Promise<{ app: FastifyInstance; store: Store }> {
  const { limits, ...options } = given;
  const store = await openSqliteStore({ path: ':memory:', role: 'worker' });
  const app = fastify(serverOptions(limits));
  await app.register(receiver, { store, secrets: [makeEntry()], log: silentLog, ...options });
  app.addHook('onClose', async () => store.close());
  return { app, store };
}

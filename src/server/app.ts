import fastify, { type FastifyInstance } from 'fastify';
import { messageOf, ReeveError } from '../platform/errors.ts';
import { noSchemas } from '../platform/http/no-schemas.ts';
import type { Store } from '../store/store.ts';
import type { Activity } from './activity.ts';
import { type DashboardParts, dashboard } from './dashboard/route.ts';
import { maxConnections, receiver, serverOptions } from './receiver/route.ts';
import type { SecretEntry } from './receiver/secrets.ts';

/** Parts of the HTTP application. */
export type AppParts = Omit<DashboardParts, 'hasPages'> & {
  /** If false, only health and metrics are served. Default: true, which adds the receiver and the pages. */
  readonly isPublic?: boolean | undefined;
  readonly store: Store;
  /** Entries validated by `examineSecrets`. */
  readonly secrets: readonly SecretEntry[];
  readonly onStored: () => void;
  /** Counts received deliveries, for charts; absent: nothing is counted. */
  readonly activity?: Activity | undefined;
  /** Largest body of a delivery in bytes; default: the receiver's, 8 MiB. */
  readonly maxBodyBytes?: number | undefined;
};

/** Creates the HTTP application: the receiver, the dashboard and the health endpoints. */
export function createApp({
  store,
  secrets,
  onStored,
  maxBodyBytes,
  isPublic = true,
  activity,
  ...parts
}: AppParts): FastifyInstance {
  const { log, metrics } = parts;
  const app = fastify({
    ...serverOptions(),
    schemaController: noSchemas,
    logger: false,
    forceCloseConnections: 'idle',
  });
  app.server.maxConnections = maxConnections;
  // A connection kept alive after its last response would delay the shutdown by its idle timeout (72 s).
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onSend', async (_request, reply) => {
    if (isClosing) reply.header('connection', 'close');
  });
  const onAnswer = (code: number, result: string): void => {
    metrics.countDelivery(code, result);
    activity?.countReceived(result);
  };
  // With polling, there may be no secrets, and then nothing to receive.
  if (isPublic && secrets.length > 0)
    app.register(receiver, { store, secrets, log, onStored, onAnswer, maxBodyBytes });
  app.addHook('onResponse', async (request, reply) => {
    if (request.routeOptions.url === '/webhook') metrics.countAnswer(reply.elapsedTime);
  });
  app.register(dashboard, { ...parts, hasPages: isPublic });
  // The health endpoints are public, so they expose only the state.
  app.get('/healthz', async (_request, reply) => reply.type('application/json').send('{"status":"ok"}'));
  app.get('/readyz', async (_request, reply) => {
    const health = await store.healthy();
    if (!health.ok) log.warn({ reason: health.reason }, 'not ready');
    const { state: forge } = parts.dashboardData.forge();
    const status = !health.ok ? 'unavailable' : forge === 'ok' ? 'ok' : 'degraded';
    // Deliveries are still stored while the forge fails or denies access. A 503 here would make a proxy reject them,
    // and forges do not resend.
    return reply
      .code(health.ok ? 200 : 503)
      .type('application/json')
      .send(JSON.stringify(forge === 'ok' ? { status } : { status, forge }));
  });
  return app;
}

/** Starts listening; returns the URL. Throws `port-taken` or `settings`. */
export async function listenOn(
  app: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (cause) {
    if (typeof cause === 'object' && cause !== null && 'code' in cause && cause.code === 'EADDRINUSE') {
      throw new ReeveError(
        'port-taken',
        `PORT ${port} on ${host} is taken: another program listens there; set PORT`,
        { cause },
      );
    }
    throw new ReeveError('settings', `HOST ${host} PORT ${port}: ${messageOf(cause)}`, { cause });
  }
}

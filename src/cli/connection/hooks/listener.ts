import fastify from 'fastify';
import ky from 'ky';
import { messageOf, ReeveError } from '../../../platform/errors.ts';
import { noSchemas } from '../../../platform/http/no-schemas.ts';
import { silentLog } from '../../../platform/log.ts';
import { maxConnections, receiver, serverOptions } from '../../../server/receiver/route.ts';
import type { SecretEntry } from '../../../server/receiver/secrets.ts';
import type { Settings } from '../../../server/settings/config.ts';
import { openDashboardPassword } from '../../../server/settings/secrets/dashboard-password.ts';
import { openStoreAt } from '../../../store/open-store.ts';
import type { Store } from '../../../store/store.ts';
import { localAddress, probeReceiver } from './probe-receiver.ts';

/** A receiver of deliveries, with its store. */
export interface DeliveryListener {
  /** `running`: the receiver of a running Reeve; `own`: a receiver opened for this check. */
  readonly by: 'running' | 'own';
  readonly store: Store;
  /**
   * Returns the number of requests that have been refused because of their secrets; for a running Reeve, from its
   * metrics.
   */
  refused(): Promise<number>;
  close(): Promise<void>;
}

/** Why deliveries cannot be observed: `text` is the observation, `advice` the remedy. */
export type ListenFailure = { readonly text: string; readonly advice: string };

/**
 * Observes the deliveries of the running Reeve or, if there is none, opens the real receiver on the real store. Other
 * deliveries that arrive meanwhile are stored and handled when Reeve starts, so that none is lost.
 */
export async function openListener(
  settings: Settings,
  entry: SecretEntry,
): Promise<DeliveryListener | ListenFailure> {
  const { host, port } = settings;
  const address = localAddress(host, port);
  const there = await probeReceiver(address, entry);
  if (there.who === 'silent') return open(settings);
  if (there.who === 'ours') return beside(settings, address);
  if (there.who === 'stranger') {
    return {
      text: `another program listens on ${host}:${port} (${there.why})`,
      advice: 'set PORT to a free port, or stop that program',
    };
  }
  return {
    text: `a Reeve runs on ${host}:${port} with other webhook secrets`,
    advice: 'restart it with these settings (reeve serve --settings FILE), then run this again',
  };
}

async function beside(settings: Settings, address: string): Promise<DeliveryListener> {
  const store = await openStoreAt(settings, { role: 'reader' });
  const refused = (): Promise<number> => readRefused(address, settings.data, store).catch(() => 0);
  return { by: 'running', store, refused, close: () => store.close() };
}

/**
 * Returns the number of requests that a running Reeve has refused because of their secrets. Rejects if the metrics
 * cannot be read.
 */
async function readRefused(address: string, data: string, store: Store): Promise<number> {
  const readPassword = await openDashboardPassword(data, { store });
  const credentials = Buffer.from(`doctor:${await readPassword()}`).toString('base64');
  const text = await ky
    .get(new URL('/metrics', address), {
      headers: { authorization: `Basic ${credentials}` },
      redirect: 'manual',
      retry: 0,
      timeout: 5_000,
    })
    .text();
  const counts = text.matchAll(/^reeve_webhook_requests_total\{[^}]*code="(?:401|429)"[^}]*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

async function open(settings: Settings): Promise<DeliveryListener | ListenFailure> {
  const store = await openStoreAt(settings, { role: 'all', isAlone: true }).catch((error: unknown) => {
    if (error instanceof ReeveError && error.code === 'store-locked') return error.message;
    throw error;
  });
  if (typeof store === 'string') {
    return {
      text: `${store}; and nothing listens on ${settings.host}:${settings.port}`,
      advice: 'set HOST and PORT to those of the running Reeve, or stop it',
    };
  }
  let refusedCount = 0;
  const app = fastify({
    ...serverOptions(),
    schemaController: noSchemas,
    logger: false,
    forceCloseConnections: 'idle',
  });
  app.server.maxConnections = maxConnections;
  app.register(receiver, {
    store,
    secrets: settings.secrets,
    log: silentLog,
    onAnswer: (_status, reason) => {
      if (reason === 'unauthorized' || reason === 'throttled') refusedCount += 1;
    },
  });
  try {
    await app.listen({ host: settings.host, port: settings.port });
  } catch (error) {
    await store.close();
    return {
      text: `cannot listen on ${settings.host}:${settings.port}: ${messageOf(error)}`,
      advice: 'set HOST to an address of this machine, and PORT to a free port',
    };
  }
  return {
    by: 'own',
    store,
    refused: async () => refusedCount,
    async close() {
      await app.close();
      await store.close();
    },
  };
}

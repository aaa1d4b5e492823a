import fastify from 'fastify';
import { messageOf, ReeveError } from '../../errors.ts';
import { silentLog } from '../../log.ts';
import { maxConnections, serverOptions } from '../../receiver/limits.ts';
import { receiver } from '../../receiver/route.ts';
import type { SecretEntry } from '../../receiver/secrets.ts';
import type { Settings } from '../../settings/config.ts';
import { openStoreAt } from '../../store/open-store.ts';
import type { Store } from '../../store/store.ts';
import { localAddress, probeReceiver } from './probe-receiver.ts';

/** A receiver that deliveries come to, and the store they are in. */
export interface DeliveryListener {
  /** `running`: that of a running Reeve; `own`: one that was opened for this. */
  readonly by: 'running' | 'own';
  readonly store: Store;
  /** Requests refused for their secrets so far; a running Reeve tells them to its log alone. */
  refused(): number;
  close(): Promise<void>;
}

/** Why nothing can be heard: the text says what was seen, the advice what to do. */
export type ListenFailure = { readonly text: string; readonly advice: string };

/**
 * Listens where deliveries come in: beside the Reeve that runs, or, where none does, with the real receiver on the real
 * store. Whatever comes meanwhile is kept and handled when Reeve starts: nothing is lost to a look.
 */
export async function openListener(
  settings: Settings,
  entry: SecretEntry,
): Promise<DeliveryListener | ListenFailure> {
  const { host, port } = settings;
  const address = localAddress(host, port);
  const there = await probeReceiver(address, entry);
  if (there.who === 'silent') return open(settings);
  if (there.who === 'ours') return beside(settings);
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

async function beside(settings: Settings): Promise<DeliveryListener> {
  const store = await openStoreAt(settings, { role: 'reader' });
  return { by: 'running', store, refused: () => 0, close: () => store.close() };
}

async function open(settings: Settings): Promise<DeliveryListener | ListenFailure> {
  const store = await openStoreAt(settings, { role: 'all', isAlone: true }).catch((error: unknown) => {
    if (error instanceof ReeveError && error.code === 'store-locked') return error.message;
    throw error;
  });
  if (typeof store === 'string') {
    return {
      text: `${store}; and nothing listens on ${settings.host}:${settings.port}`,
      advice: 'give this command the HOST and PORT of the Reeve that runs, or end it',
    };
  }
  let refusedCount = 0;
  const app = fastify({ ...serverOptions(), logger: false, forceCloseConnections: 'idle' });
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
    refused: () => refusedCount,
    async close() {
      await app.close();
      await store.close();
    },
  };
}

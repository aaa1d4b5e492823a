import fastify from 'fastify';
import { silentLog } from '../../src/platform/log.ts';
import { type ReceiverOptions, receiver, serverOptions } from '../../src/server/receiver/route.ts';
import { authorization, secret } from './sender.ts';

/** Secrets of the hook of benchmarks and drills, in the form of settings. */
export const hookSecrets = [
  { name: 'bench', scope: ['*'], authorization: [authorization], hmac: [secret] },
] as const;

/** Serves Reeve's receiver on a free port; returns the port. */
export async function serveReceiver(
  store: ReceiverOptions['store'],
  onStored: () => void = () => {},
): Promise<number> {
  const app = fastify(serverOptions());
  await app.register(receiver, { store, secrets: hookSecrets, log: silentLog, onStored });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return Number(new URL(app.listeningOrigin).port);
}

import { systemClock } from '../../../src/platform/clock.ts';
import { silentLog } from '../../../src/platform/log.ts';
import { startServer } from '../../../src/server/server.ts';
import { authorization, secret } from '../bot-hook.ts';

/** What the process is started with, as JSON. */
export type ServeOptions = {
  readonly url: string;
  readonly token: string;
  readonly data: string;
  readonly rules: string;
  readonly repository: string;
  readonly port: number;
  /** How far its clock is ahead from the start. */
  readonly aheadMs: number;
};

/** The server in a process of its own, with a clock that its parent sets ahead: polls come when a test says. */
const options = JSON.parse(process.argv[2] ?? '{}') as ServeOptions;
let { aheadMs } = options;
process.on('message', (message: { readonly aheadMs: number }) => {
  aheadMs = message.aheadMs;
});
const server = await startServer({
  forge: { url: options.url, credentials: { token: options.token } },
  secrets: [{ name: 'test', scope: ['*'], authorization: [authorization], hmac: [secret] }],
  data: options.data,
  rules: options.rules,
  repositories: [options.repository],
  allowAdmin: false,
  host: '127.0.0.1',
  port: options.port,
  log: silentLog,
  clock: { ...systemClock, now: () => new Date(Date.now() + aheadMs) },
  backoff: { firstMs: 50 },
});
process.send?.({ port: Number(new URL(server.url).port) });
// A test that died leaves no server behind.
process.on('disconnect', () => process.exit(1));

import { systemClock } from '../../../src/platform/clock.ts';
import { silentLog } from '../../../src/platform/log.ts';
import { startServer } from '../../../src/server/server.ts';
import { authorization, secret } from '../bot-hook.ts';

/** Start options of the process, as JSON. */
export type ServeOptions = {
  readonly url: string;
  readonly token: string;
  readonly data: string;
  readonly rules: string;
  readonly repository: string;
  readonly port: number;
  /** Initial offset of its clock. */
  readonly aheadMs: number;
};

/**
 * Runs the server in a separate process, with a clock that the parent process advances, so that a test decides when
 * polls occur.
 */
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
// A crashed test leaves no server behind.
process.on('disconnect', () => process.exit(1));

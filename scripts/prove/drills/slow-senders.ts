import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startInstallation } from '../../harness/installation.ts';
import { describeOthers, headersOf, sendAtRate } from '../../harness/sender.ts';
import type { Drill } from '../promise.ts';

const maxP99Ms = 200;
/** Headers time out after 5 s, bodies after 10 s; both are checked every second, and a busy machine checks late. */
const maxOpenMs = 12_000;
const rules =
  'version: 1\nrules:\n  never: { on: issues.opened, if: "false", steps: [{ uses: set-labels, with: { add: [never] } }] }\n';

/** Holds many slow connections open, reopens those that are closed, and measures deliveries meanwhile. */
export const drill: Drill = async ({ isQuick, signal }) => {
  const count = isQuick ? 200 : 1_000;
  const seconds = isQuick ? 14 : 60;
  const installation = await startInstallation({ rules });
  try {
    const port = Number(new URL(installation.url).port);
    const make = () => ({
      eventType: 'push',
      body: bodyOf(installation.repositoryId),
    });
    const common = { url: installation.url, perSecond: 50, make, signal };
    // Sends deliveries first, so that the code is compiled before the measurement.
    await sendAtRate({ ...common, seconds: 3 });
    const until = performance.now() + seconds * 1_000;
    const slow = Array.from({ length: count }, (_, number) => keepSlow(port, { number, until, signal }));
    // The slow connections start first.
    await sleep(1_000, undefined, { signal });
    const load = sendAtRate({ ...common, seconds: seconds - 2 });
    const { sent, others, p99Ms } = await Promise.race([load, installation.failed]);
    const closed = (await Promise.all(slow)).flat();
    const longestMs = Math.max(...closed.map(({ openMs }) => openMs));
    const answered = closed.filter(({ answer }) => answer === '408').length;
    return {
      figure: `${count.toLocaleString('en')} slow connections for ${seconds} s, each replaced when it is closed: ${closed.length.toLocaleString('en')} closed, ${answered.toLocaleString('en')} with 408, the longest after ${(longestMs / 1_000).toFixed(1)} s; ${sent.toLocaleString('en')} deliveries beside them: p99 ${p99Ms.toFixed(0)} ms${describeOthers(others)}`,
      isKept: others.size === 0 && p99Ms <= maxP99Ms && longestMs <= maxOpenMs && answered === closed.length,
    };
  } finally {
    await installation.close();
  }
};

const bodyOf = (id: number): string =>
  JSON.stringify({
    ref: 'refs/heads/main',
    before: '1'.repeat(40),
    after: randomUUID(),
    repository: { id, name: 'demo', full_name: 'acme/demo', owner: { id: 2, login: 'acme' } },
    sender: { id: 1, login: 'root' },
  });

type Closed = { readonly openMs: number; readonly answer: string };
type Slow = { readonly number: number; readonly until: number; readonly signal: AbortSignal };

/**
 * Keeps one slow connection until a given time, and reopens it when it is closed. Returns how long each connection
 * lived.
 */
async function keepSlow(port: number, { number, until, signal }: Slow): Promise<readonly Closed[]> {
  const closed: Closed[] = [];
  while (performance.now() < until) {
    signal.throwIfAborted();
    closed.push(await drip(port, kinds[number % kinds.length] ?? kinds[0]));
  }
  return closed;
}

type Kind = { readonly head: () => string; readonly drop: string };
const { 'x-gitea-signature': _none, ...headers } = headersOf('', 'push');
const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
const requestLine = 'POST /webhook HTTP/1.1\r\nhost: localhost\r\n';

/** Headers that do not end, a body that arrives byte by byte, and a body that does not arrive. */
const kinds: readonly [Kind, ...Kind[]] = [
  { head: () => requestLine, drop: 'x' },
  { head: () => `${requestLine}${lines.join('')}content-length: 1000\r\n\r\n`, drop: ' ' },
  { head: () => `${requestLine}${lines.join('')}content-length: 1000\r\n\r\n`, drop: '' },
];

/** Sends the first part at once and then one byte per second, until the receiver closes the connection. */
async function drip(port: number, { head, drop }: Kind): Promise<Closed> {
  const startedMs = performance.now();
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket
    .on('error', () => {})
    .on('data', (part) => {
      answer += part.toString('latin1');
    });
  socket.write(head());
  const timer = setInterval(() => drop !== '' && socket.write(drop), 1_000);
  await new Promise<void>((resolve) => socket.once('close', () => resolve()));
  clearInterval(timer);
  const status = /^HTTP\/1\.1 (\d+) /.exec(answer)?.[1] ?? 'closed';
  return { openMs: performance.now() - startedMs, answer: status };
}

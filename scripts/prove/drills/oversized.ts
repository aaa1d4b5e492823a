import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { canReadMemory, peakBytes, resetPeak } from '../../harness/process-memory.ts';
import { describeOthers, headersOf, sendAtRate } from '../../harness/sender.ts';
import type { Drill } from '../promise.ts';

const streamBytes = 2 ** 30;
const maxGrowthBytes = 50 * 2 ** 20;
/**
 * 503: dropped to make room before the body was known to be too large. 400: data beyond the declared length is not a
 * valid request.
 */
const usual = new Set(['413', '503', '400', 'closed']);
const rules =
  'version: 1\nrules:\n  never: { on: issues.opened, if: "false", steps: [{ uses: set-labels, with: { add: [never] } }] }\n';

/** Sends many unlimited bodies at once, and measures the memory of the process that refuses them. */
export const drill: Drill = async ({ isQuick, signal }) => {
  if (!canReadMemory) return { skipped: 'the memory of a process is read from /proc, which is not there' };
  const count = isQuick ? 30 : 100;
  const rounds = isQuick ? 1 : 5;
  const installation = await startInstallation({ rules });
  try {
    const sendHonest = () =>
      sendAtRate({
        url: installation.url,
        perSecond: 20,
        seconds: rounds * 5,
        make: (number) => ({ eventType: 'push', body: JSON.stringify({ ...push(installation), number }) }),
        signal,
      });
    const pid = installation.reeve().pid ?? 0;
    // Sends bodies of the largest accepted size, then the same deliveries without streams, whose memory is not counted.
    // A new process grows by about 25 MB until its heap is in use.
    await sendAll(installation, { count: 8, maxBytes: 7 * 2 ** 20, endsAfter: true });
    await sleep(1_000, undefined, { signal });
    resetPeak(pid);
    await Promise.race([sendHonest(), installation.failed]);
    const beforeBytes = peakBytes(pid);
    resetPeak(pid);
    const honest = sendHonest();
    const answers = new Map<string, number>();
    let sentBytes = 0;
    for (let round = 0; round < rounds; round += 1) {
      signal.throwIfAborted();
      for (const { answer, sent } of await sendAll(installation, { count, maxBytes: streamBytes })) {
        answers.set(answer, (answers.get(answer) ?? 0) + 1);
        sentBytes += sent;
      }
    }
    const { others, p99Ms } = await Promise.race([honest, installation.failed]);
    const growthBytes = peakBytes(pid) - beforeBytes;
    const answered = [...answers].map(([answer, number]) => `${number} × ${answer}`).join(', ');
    const megabytes = (bytes: number): string => Math.round(bytes / 2 ** 20).toLocaleString('en');
    return {
      figure: `${rounds * count} streams of up to 1 GB, ${count} at once, ${megabytes(sentBytes)} MB sent until they were refused: ${answered} (400: more is sent than the length says); memory + ${megabytes(growthBytes)} MB; deliveries beside them: p99 ${p99Ms.toFixed(0)} ms${describeOthers(others)}`,
      isKept:
        growthBytes < maxGrowthBytes &&
        others.size === 0 &&
        [...answers.keys()].every((answer) => usual.has(answer)) &&
        (answers.get('413') ?? 0) > 0,
    };
  } finally {
    await installation.close();
  }
};

const push = ({ repositoryId }: Installation) => ({
  ref: 'refs/heads/main',
  before: '1'.repeat(40),
  after: '2'.repeat(40),
  repository: { id: repositoryId, name: 'demo', full_name: 'acme/demo', owner: { id: 2, login: 'acme' } },
  sender: { id: 1, login: 'root' },
});

type Streams = { readonly count: number; readonly maxBytes: number; readonly endsAfter?: boolean };
type StreamResult = { readonly answer: string; readonly sent: number };

/**
 * Sends all bodies: half of them declare their length, the others are chunked; every fourth declares a wrong length.
 */
function sendAll(
  { url }: Installation,
  { count, maxBytes, endsAfter = false }: Streams,
): Promise<readonly StreamResult[]> {
  return Promise.all(
    Array.from({ length: count }, (_, number) => {
      const { 'x-gitea-signature': _none, ...headers } = headersOf('', 'push');
      const length = endsAfter ? maxBytes : [maxBytes, undefined, 1_000, undefined][number % 4];
      return stream(Number(new URL(url).port), headers, { length, maxBytes });
    }),
  );
}

const block = Buffer.alloc(65_536, 'x');
const chunk = Buffer.concat([Buffer.from('10000\r\n'), block, Buffer.from('\r\n')]);

/** Sends a body until the receiver closes the connection; returns the status, or `closed` without one. */
async function stream(
  port: number,
  headers: Readonly<Record<string, string>>,
  { length, maxBytes }: { readonly length: number | undefined; readonly maxBytes: number },
): Promise<StreamResult> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  let sent = 0;
  let isDone = false;
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  // A reset after the response is expected.
  socket
    .on('error', () => {})
    .on('data', (part) => {
      answer += part.toString('latin1');
      // Data beyond the declared length is another request, and the response to this one has already arrived.
      if (length !== undefined && length <= sent) isDone = true;
    });
  const encoding = length === undefined ? 'transfer-encoding: chunked' : `content-length: ${length}`;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST /webhook HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}${encoding}\r\n\r\n`);
  while (sent < maxBytes && !socket.destroyed && !isDone) {
    sent += block.length;
    if (!socket.write(length === undefined ? chunk : block))
      await Promise.race([closed, new Promise((resolve) => socket.once('drain', resolve))]);
  }
  if (isDone || sent >= maxBytes) setTimeout(() => socket.destroy(), 500);
  await closed;
  return { answer: /^HTTP\/1\.1 (\d+) /.exec(answer)?.[1] ?? 'closed', sent };
}

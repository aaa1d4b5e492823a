import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  intakeRow,
  type Kind,
  loadInTurns,
  medianOf,
  requireStored,
  type Server,
  startServer,
} from './intake/rounds.ts';
import { authorization } from './intake/secrets.ts';
import { type BenchRow, type Measure, round } from './row.ts';

/**
 * Durable intake: 8 KB deliveries over 64 connections, each with its own uuid and body, header and signature verified,
 * synced before the 202. Beside it, in turns, a bare fastify that parses the same body, and @octokit/webhooks.
 */
export const measure: Measure = async ({ quick }) => {
  const rounds = quick ? 4 : 7;
  const perConnection = quick ? 150 : 300;
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'));
  const servers = new Map<Kind, Server>();
  try {
    for (const kind of ['bare', 'reeve', 'octokit'] as const)
      servers.set(kind, await startServer(kind, join(folder, 'reeve.db')));
    const { results, sent } = await loadInTurns(servers, { rounds, perConnection });
    const reeve = serverOf(servers, 'reeve');
    await requireStored(reeve, sent);
    const loadedBytes = await reeve.child.ask<number>('memory');
    await sendHostile(reeve.port, 200 * 2 ** 20);
    const hostileBytes = await reeve.child.ask<number>('memory');
    return rowsOf(results, loadedBytes, hostileBytes);
  } finally {
    for (const { child } of servers.values()) await child.stop();
    await rm(folder, { recursive: true, force: true });
  }
};

function rowsOf(results: Parameters<typeof medianOf>[0], loaded: number, hostile: number): BenchRow[] {
  const of = (kind: Kind, member: 'perSecond' | 'p99Ms'): number => medianOf(results, kind, member);
  const p99 = of('reeve', 'p99Ms');
  const p99Ratio = p99 / of('bare', 'p99Ms');
  const megabytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
  const memory = (name: string, bytes: number): BenchRow => ({
    name,
    value: megabytes(bytes),
    unit: 'MB',
    against: '',
    ratio: null,
    target: '<= 150 MB',
    ok: megabytes(bytes) <= 150,
  });
  const intake = (against: string, other: Kind, target: number): BenchRow =>
    intakeRow(results, { name: 'durable intake', kind: 'reeve', against, other, target });
  return [
    intake('bare fastify that parses and stores nothing', 'bare', 0.9),
    intake('@octokit/webhooks, stores nothing', 'octokit', 1),
    {
      name: 'p99 latency of that intake',
      value: round(p99),
      unit: 'ms',
      against: `bare fastify: ${round(of('bare', 'p99Ms'))} ms`,
      ratio: round(p99Ratio),
      target: '<= 2 x and <= 25 ms',
      ok: p99Ratio <= 2 && p99 <= 25,
    },
    memory('memory under that load, started as reeve serve does', loaded),
    memory('memory after a hostile 200 MB body, started as reeve serve does', hostile),
  ];
}

function serverOf(servers: ReadonlyMap<Kind, Server>, kind: Kind): Server {
  const server = servers.get(kind);
  if (server === undefined) throw new Error(`no server ${kind}`);
  return server;
}

/** Sends a body without a length and without an end in sight, as fast as it is read, until it is cut off. */
async function sendHostile(port: number, bytes: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 'x'), Buffer.from('\r\n')]);
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  let answer = '';
  // Being reset is expected.
  socket
    .on('error', () => {})
    .on('data', (data) => {
      answer += data.toString('latin1');
    });
  socket.write(
    `POST /webhook HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nauthorization: ${authorization}\r\ntransfer-encoding: chunked\r\n\r\n`,
  );
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += chunk.length) {
    if (!socket.write(chunk))
      await Promise.race([closed, new Promise((resolve) => socket.once('drain', resolve))]);
  }
  socket.destroy();
  await closed;
  if (!answer.startsWith('HTTP/1.1 413 '))
    throw new Error(`a hostile body was answered ${answer.slice(0, 40)}`);
}

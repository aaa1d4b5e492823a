import { connect } from 'node:net';
import { join } from 'node:path';
import startedAs from '../../bin/memory.json' with { type: 'json' };
import { authorization } from '../harness/sender.ts';
import type { Load, LoadResult } from './children/intake-load.ts';
import type { Child } from './process.ts';
import {
  type BenchRow,
  benchRow,
  inTurns,
  type Measure,
  megabytes,
  onStage,
  type Rounds,
  round,
  type Stage,
} from './runner.ts';
import { copyStored, storedCount, storedText } from './stored.ts';

/**
 * Measures durable intake: 8 KB deliveries over 64 connections, each with a unique UUID and body. Header and signature
 * are verified, and the delivery is synced before the 202. The store is either empty or has been used for a while.
 * Rounds alternate with a bare fastify that parses the same body, and with @octokit/webhooks.
 */
export const measure: Measure = ({ quick }) =>
  onStage(async (stage) => {
    const load = quick ? { rounds: 4, perConnection: 150 } : { rounds: 7, perConnection: 300 };
    const stored = storedCount(quick);
    const usedPath = join(stage.folder, 'used/reeve.db');
    await copyStored(usedPath, stored);
    const bare = await startIntake(stage, 'bare');
    const reeve = await startIntake(stage, 'reeve', join(stage.folder, 'reeve.db'));
    const used = await startIntake(stage, 'used', usedPath);
    const octokit = await startIntake(stage, 'octokit');
    const { results, sent } = await loadInTurns(stage, [bare, reeve, used, octokit], load);
    const bareP99 = results.median('bare', p99Of);
    const memory = (name: string, bytes: number): BenchRow =>
      benchRow({ name, value: megabytes(bytes), unit: 'MB', target: '<= 150 MB' });
    const rowsOf = async (server: Server, count: number, target: string): Promise<readonly BenchRow[]> => {
      const beside = `beside ${storedText(count)}`;
      const p99 = results.median(server.contender, p99Of);
      await requireStored(server, sent);
      return [
        intakeRow(results, [server.contender, 'octokit'], {
          name: `durable intake ${beside}`,
          against: '@octokit/webhooks, stores nothing',
          target,
        }),
        benchRow({
          name: `p99 latency of that intake ${beside}`,
          value: p99,
          unit: 'ms',
          against: `bare fastify that parses and stores nothing: ${round(bareP99)} ms`,
          ratio: p99 / bareP99,
          target: '<= 2 x and <= 25 ms',
        }),
        memory(
          `memory under that load ${beside}, started as reeve serve does`,
          await server.child.ask<number>('memory'),
        ),
      ];
    };
    const rows = [...(await rowsOf(reeve, 0, '>= 1 x')), ...(await rowsOf(used, stored, '>= 0.8 x'))];
    await sendHostile(reeve.port, 200 * 2 ** 20);
    const hostileBytes = await reeve.child.ask<number>('memory');
    return [...rows, memory('memory after a hostile 200 MB body, started as reeve serve does', hostileBytes)];
  });

/**
 * Servers under load: Reeve with an empty store, with a used one, and with one in PostgreSQL; and the servers with
 * which Reeve is compared.
 */
type Contender = 'bare' | 'octokit' | 'reeve' | 'used' | 'postgres';
type Server = { readonly contender: Contender; readonly child: Child; readonly port: number };
type Results = Rounds<Contender, LoadResult>;

const connections = 64;
export const p99Of = ({ p99Ms }: LoadResult): number => p99Ms;
const rateOf = ({ perSecond }: LoadResult): number => perSecond;

/** Starts a server. Reeve starts like `reeve serve`, with its store at `address`. */
export async function startIntake({ start }: Stage, contender: Contender, address = ''): Promise<Server> {
  const kind = contender === 'used' ? 'reeve' : contender;
  const { child, ready } = await start<number>(
    'intake-server',
    [kind, address],
    address === '' ? {} : startedAs,
  );
  return { contender, child, port: ready };
}

/**
 * Loads the servers in turns over 64 connections. Returns the rounds, and the number of deliveries that each server
 * received.
 */
export async function loadInTurns(
  { start }: Stage,
  servers: readonly Server[],
  { rounds, perConnection }: { readonly rounds: number; readonly perConnection: number },
): Promise<{ readonly results: Results; readonly sent: number }> {
  const { child: load } = await start('intake-load');
  const ports = new Map(servers.map(({ contender, port }) => [contender, port]));
  const results = await inTurns(ports.keys(), { rounds }, async (contender) => {
    const wanted: Load = { port: ports.get(contender) ?? 0, connections, perConnection };
    const result = await load.ask<LoadResult>('load', wanted);
    if (result.refused !== '') throw new Error(`${contender} refused requests: ${result.refused}`);
    return result;
  });
  return { results, sent: (rounds + 1) * connections * perConnection };
}

/** Throws unless a Reeve server has stored everything that was sent to it. */
export async function requireStored({ child }: Server, sent: number): Promise<void> {
  const counts = await child.ask<Record<string, number>>('counts');
  if (counts.accepted !== sent) throw new Error(`${sent} sent, stored ${JSON.stringify(counts)}`);
}

/** Returns a row that compares the rate of one server with that of another. */
export function intakeRow(
  results: Results,
  [contender, other]: readonly [Contender, Contender],
  { name, against, target }: { readonly name: string; readonly against: string; readonly target: string },
): BenchRow {
  return benchRow({
    name: `${name}, 8 KB, ${connections} connections`,
    value: Math.round(results.median(contender, rateOf)),
    unit: 'deliveries/s',
    against: `${against}: ${Math.round(results.median(other, rateOf))}/s`,
    ratio: results.ratio(contender, other, rateOf),
    target,
  });
}

/** Sends a chunked body without an end, as fast as the server reads it, until the server closes the connection. */
async function sendHostile(port: number, bytes: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 'x'), Buffer.from('\r\n')]);
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  let answer = '';
  // A connection reset is expected.
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

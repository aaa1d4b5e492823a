import { mkdir } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Child } from '../child.ts';
import { makeRequest } from '../intake/request.ts';
import { type BenchRow, round } from '../row.ts';
import { nowMs } from './answers.ts';
import { type PartOptions, storeUrl } from './places.ts';
import { startReeve } from './processes.ts';

type Store = 'SQLite' | 'PostgreSQL';
/** Where deliveries are sent to, and which process handles them. */
type Stage = { readonly port: number; readonly worker: Child; readonly sentMs: Map<string, number> };

/**
 * From the request to the begin of its handler, one delivery at a time: with PostgreSQL in another process than the one that
 * accepts it, with SQLite in the same.
 */
export async function measureStarts({ quick, makePlace }: PartOptions): Promise<readonly BenchRow[]> {
  const deliveries = quick ? 60 : 300;
  const place = makePlace();
  await mkdir(place.folder);
  const options = { data: place.folder, concurrency: 8 };
  const databaseUrl = storeUrl(place);
  const children: Child[] = [];
  const start = async (more: Pick<Parameters<typeof startReeve>[0], 'role' | 'databaseUrl'>) => {
    const started = await startReeve({ ...options, ...more });
    children.push(started.child);
    return started;
  };
  try {
    const alone = await start({ role: 'all' });
    const web = await start({ role: 'web', databaseUrl });
    const { child: worker } = await start({ role: 'worker', databaseUrl });
    const stages = new Map<Store, Stage>([
      ['SQLite', { port: alone.port, worker: alone.child, sentMs: new Map() }],
      ['PostgreSQL', { port: web.port, worker, sentMs: new Map() }],
    ]);
    for (const stage of stages.values()) await stage.worker.ask({ ask: 'start' });
    const agent = new Agent({ keepAlive: true });
    for (let at = 0; at < deliveries + warmUp; at += 1) {
      for (const stage of stages.values()) {
        await send(stage, agent, at);
        await pause(15 + Math.random() * 10);
      }
    }
    agent.destroy();
    const latencies = new Map<Store, readonly number[]>();
    for (const [store, stage] of stages) latencies.set(store, await latenciesOf(stage));
    return rowsOf((store) => latencies.get(store) ?? []);
  } finally {
    for (const child of children) await child.stop();
  }
}

/** Deliveries that are not counted. */
const warmUp = 20;
const repositories = 50;

function send({ port, sentMs }: Stage, agent: Agent, at: number): Promise<void> {
  const { method, headers, body } = makeRequest(1 + (at % repositories));
  return new Promise((resolve, reject) => {
    const outgoing = request({ agent, host: '127.0.0.1', port, path: '/webhook', method, headers });
    outgoing.on('error', reject).on('response', (answer) => {
      if (answer.statusCode !== 202) reject(new Error(`answered ${answer.statusCode}`));
      answer.on('error', reject).on('end', resolve).resume();
    });
    sentMs.set(headers['x-gitea-delivery'] ?? '', nowMs());
    outgoing.end(body);
  });
}

/** Waits until all have begun. */
async function latenciesOf({ worker, sentMs }: Stage): Promise<readonly number[]> {
  for (let look = 0; look < 100; look += 1) {
    const begun = new Map(await worker.ask<readonly (readonly [string, number])[]>({ ask: 'starts' }));
    if (begun.size === sentMs.size)
      return [...sentMs]
        .slice(warmUp)
        .map(([uuid, ms]) => (begun.get(uuid) ?? Number.NaN) - ms)
        .sort((a, b) => a - b);
    await pause(100);
  }
  throw new Error('deliveries were not handled within 10 s');
}

function rowsOf(of: (store: Store) => readonly number[]): readonly BenchRow[] {
  const row = (name: string, share: number, target: number): BenchRow => {
    const [sqlite, postgres] = [percentile(of('SQLite'), share), percentile(of('PostgreSQL'), share)];
    return {
      name: `PostgreSQL: from the request to the begin of its handler in another process, ${name}`,
      value: round(postgres),
      unit: 'ms',
      against: `SQLite, in one process: ${round(sqlite)} ms`,
      ratio: round(postgres / sqlite),
      target: `<= ${target} ms`,
      ok: postgres <= target,
    };
  };
  return [row('p50', 0.5, 50), row('p99', 0.99, 250)];
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
}

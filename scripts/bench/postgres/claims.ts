import { mkdir } from 'node:fs/promises';
import type { Child } from '../child.ts';
import { type BenchRow, median, round } from '../row.ts';
import { analyze, type PartOptions, storeUrl } from './places.ts';
import { startLibrary, startReeve } from './processes.ts';

/** As many as a process handles at once. */
const limit = 8;

/** A claim while many wait, each from another of 1,000 lanes; what is claimed is settled before the next claim. */
export async function measureClaims({ quick, makePlace }: PartOptions): Promise<readonly BenchRow[]> {
  const waiting = quick ? 10_000 : 100_000;
  const rounds = quick ? 4 : 10;
  const [own, boss] = [makePlace(), makePlace()];
  await mkdir(own.folder);
  const process = { data: own.folder, role: 'worker', concurrency: limit } as const;
  const contenders = new Map<'sqlite' | 'postgres' | 'boss', Child>();
  try {
    contenders.set('sqlite', (await startReeve(process)).child);
    contenders.set('postgres', (await startReeve({ ...process, databaseUrl: storeUrl(own) })).child);
    contenders.set(
      'boss',
      await startLibrary({ library: 'pg-boss', ...boss, concurrency: limit, isOrdered: true }),
    );
    for (const [name, child] of contenders) {
      await child.ask({ ask: 'store', value: waiting });
      if (name !== 'boss') await child.ask({ ask: 'route' });
    }
    await analyze(own.url);
    const taken = new Map<string, number[]>();
    for (let at = 0; at <= rounds; at += 1) {
      for (const [name, child] of contenders) {
        const times = await child.ask<readonly number[]>({ ask: 'claim', value: { times: 10, limit } });
        // The first round warms up and is not counted.
        if (at > 0) taken.set(name, [...(taken.get(name) ?? []), ...times]);
      }
    }
    return rowsOf(waiting, (name) => taken.get(name) ?? []);
  } finally {
    for (const child of contenders.values()) await child.stop();
  }
}

function rowsOf(waiting: number, of: (name: string) => readonly number[]): readonly BenchRow[] {
  const value = median(of('postgres'));
  const row = {
    name: `PostgreSQL: claim of ${limit} with ${waiting.toLocaleString('en')} waiting`,
    unit: 'ms',
  };
  const beside = (title: string, name: string) => ({
    value: round(value),
    against: `${title}: ${round(median(of(name)))} ms`,
    ratio: round(value / median(of(name))),
  });
  const ofBoss = beside('pg-boss, fetch, order per lane', 'boss');
  return [
    { ...row, ...beside('SQLite', 'sqlite'), target: '<= 20 ms', ok: value <= 20 },
    { ...row, ...ofBoss, target: '<= 1 x', ok: ofBoss.ratio <= 1 },
  ];
}

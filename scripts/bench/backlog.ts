import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DrainResult } from './backlog/drain.ts';
import { type Child, startChild } from './child.ts';
import type { Measure } from './row.ts';

/** A backlog of deliveries over many lanes, drained by the real store and worker with a handler that does nothing. */
export const measure: Measure = async ({ quick }) => {
  const deliveries = quick ? 5_000 : 100_000;
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'));
  let child: Child | undefined;
  try {
    ({ child } = await startChild(new URL('./backlog/drain.ts', import.meta.url), [
      join(folder, 'reeve.db'),
    ]));
    const result = await child.ask<DrainResult>({ deliveries });
    const isDrained = result.handled === deliveries && result.misordered === 0;
    const megabytes = Math.round(result.growthBytes / 2 ** 20);
    const name = `backlog of ${deliveries.toLocaleString('en')} deliveries`;
    return [
      {
        name: `${name}: drained, out of order`,
        value: result.misordered,
        unit: `of ${result.handled}`,
        against: '',
        ratio: null,
        target: 'all handled, 0 out of order in their lane',
        ok: isDrained,
      },
      {
        name: `${name}: rate of draining`,
        value: Math.round(result.perSecond),
        unit: 'deliveries/s',
        against: '',
        ratio: null,
        target: '>= 500 /s',
        ok: result.perSecond >= 500,
      },
      {
        name: `${name}: memory gained from the first tenth to the end`,
        value: megabytes,
        unit: 'MB',
        against: '',
        ratio: null,
        target: '<= 30 MB',
        ok: megabytes <= 30,
      },
    ];
  } finally {
    await child?.stop();
    await rm(folder, { recursive: true, force: true });
  }
};

import { join } from 'node:path';
import startedAs from '../../bin/memory.json' with { type: 'json' };
import type { DrainResult } from './children/backlog.ts';
import { benchRow, type Measure, megabytes, onStage } from './runner.ts';

/**
 * Drains a backlog of deliveries over many lanes, with the real store and worker and a handler that does nothing, in a
 * process that is started as `reeve serve` starts.
 */
export const measure: Measure = ({ quick }) =>
  onStage(async ({ folder, start }) => {
    const deliveries = quick ? 5_000 : 100_000;
    const { child } = await start('backlog', [join(folder, 'reeve.db')], startedAs);
    const { handled, misordered, perSecond, growthBytes } = await child.ask<DrainResult>('drain', deliveries);
    const name = `backlog of ${deliveries.toLocaleString('en')} deliveries`;
    return [
      benchRow({
        name: `${name}: drained, out of order`,
        value: misordered,
        unit: `of ${handled}`,
        target: 'all handled, 0 out of order in their lane',
        ok: handled === deliveries && misordered === 0,
      }),
      benchRow({
        name: `${name}: rate of draining`,
        value: Math.round(perSecond),
        unit: 'deliveries/s',
        target: '>= 500 /s',
      }),
      benchRow({
        name: `${name}: memory gained from the first tenth to the end`,
        value: megabytes(growthBytes),
        unit: 'MB',
        target: '<= 30 MB',
      }),
    ];
  });

import type { DatabaseSync } from 'node:sqlite';
import { maxSamplesRead, type Sample, type SampleRows, samplePointOf, sampleSeconds } from '../samples.ts';
import type { StoreContext } from './methods/context.ts';

/** Returns the methods of the store that keep sums and levels over time. */
export function createSampleMethods(
  database: DatabaseSync,
  { write, read }: Pick<StoreContext, 'write' | 'read'>,
): SampleRows {
  const put = (merged: string) =>
    database.prepare(
      `INSERT INTO samples (minutes, at, name, amount) VALUES (?, ?, ?, ?)
       ON CONFLICT (minutes, at, name) DO UPDATE SET amount = ${merged}`,
    );
  const merges: Record<Sample['merge'], ReturnType<typeof put>> = {
    sum: put('amount + excluded.amount'),
    max: put('max(amount, excluded.amount)'),
    last: put('excluded.amount'),
  };
  const list = database.prepare(
    `SELECT at, name, amount FROM samples WHERE minutes = ? AND at >= ? ORDER BY at, name LIMIT ${maxSamplesRead}`,
  );
  return {
    async addSamples(samples) {
      if (samples.length === 0) return;
      await write(() => {
        for (const { minutes, at, name, amount, merge } of samples)
          merges[merge].run(minutes, sampleSeconds(at), name, Math.round(amount));
      });
    },
    readSamples: async ({ minutes, since }) =>
      read(() => list.all(minutes, sampleSeconds(since)).map(samplePointOf)),
  };
}

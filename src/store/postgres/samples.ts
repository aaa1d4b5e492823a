import { maxSamplesRead, type Sample, type SampleRows, samplePointOf, sampleSeconds } from '../samples.ts';
import type { PostgresContext } from './context.ts';
import { indexableText } from './link/text.ts';

/** Returns the methods of the store that keep sums and levels over time. Several processes may add to one span. */
export function createPostgresSamples({ database }: Pick<PostgresContext, 'database'>): SampleRows {
  return {
    async addSamples(samples) {
      for (const [merge, merged] of Object.entries(mergedAmount)) {
        const given = samples.filter((sample) => sample.merge === merge);
        if (given.length === 0) continue;
        await database.query(`${insertSamples} DO UPDATE SET amount = ${merged}`, [
          given.map(({ minutes }) => minutes),
          given.map(({ at }) => sampleSeconds(at)),
          given.map(({ name }) => indexableText(name)),
          given.map(({ amount }) => Math.round(amount)),
        ]);
      }
    },
    async readSamples({ minutes, since }) {
      const { rows } = await database.query(
        `SELECT at, name, amount FROM samples WHERE minutes = $1 AND at >= $2 ORDER BY at, name LIMIT ${maxSamplesRead}`,
        [minutes, sampleSeconds(since)],
      );
      return rows.map(samplePointOf);
    },
  };
}

const mergedAmount: Record<Sample['merge'], string> = {
  sum: 'samples.amount + excluded.amount',
  max: 'greatest(samples.amount, excluded.amount)',
  last: 'excluded.amount',
};

/** In the order of the key: two processes that add to the same spans do not wait for each other. */
const insertSamples = `
  INSERT INTO samples (minutes, at, name, amount)
  SELECT * FROM unnest($1::integer[], $2::bigint[], $3::text[], $4::bigint[]) AS given (minutes, at, name, amount)
  ORDER BY minutes, at, name
  ON CONFLICT (minutes, at, name)`;

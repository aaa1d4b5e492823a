import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../test/support/postgres-server.ts';
import { measureClaims } from './postgres/claims.ts';
import { measureIntake } from './postgres/intake.ts';
import { type Place, removeSchema } from './postgres/places.ts';
import { measureStarts } from './postgres/starts.ts';
import { measureThroughput } from './postgres/throughput.ts';
import type { BenchRow, Measure } from './row.ts';

/**
 * The store in PostgreSQL, on a server with its own settings that syncs. Beside it, in turns, the store in a file; and pg-boss and
 * graphile-worker on the same server.
 */
export const measure: Measure = async ({ quick }) => {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'));
  const server = await startPostgres();
  try {
    const rows: BenchRow[] = [];
    for (const part of [measureIntake, measureClaims, measureStarts, measureThroughput]) {
      let count = 0;
      const schemas: string[] = [];
      const makePlace = (): Place => {
        count += 1;
        const schema = `${part.name.toLowerCase()}_${count}`;
        schemas.push(schema);
        return { folder: join(folder, schema), url: server.url, schema };
      };
      rows.push(...(await part({ quick, makePlace })));
      // What one part leaves behind must not slow down the next.
      for (const schema of schemas) await removeSchema(server.url, schema);
    }
    return rows;
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
};

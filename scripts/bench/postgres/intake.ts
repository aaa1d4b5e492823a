import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  intakeRow,
  type Kind,
  loadInTurns,
  medianOf,
  requireStored,
  type Server,
  startServer,
} from '../intake/rounds.ts';
import { type BenchRow, round } from '../row.ts';
import { type PartOptions, storeUrl } from './places.ts';

/** The intake of `../intake.ts`: the 202 comes after the commit of the server. */
export async function measureIntake({ quick, makePlace }: PartOptions): Promise<readonly BenchRow[]> {
  const place = makePlace();
  await mkdir(place.folder);
  const servers = new Map<Kind, Server>();
  try {
    servers.set('bare', await startServer('bare', ''));
    servers.set('reeve', await startServer('reeve', join(place.folder, 'reeve.db')));
    servers.set('postgres', await startServer('postgres', storeUrl(place)));
    const load = quick ? { rounds: 2, perConnection: 75 } : { rounds: 5, perConnection: 150 };
    const { results, sent } = await loadInTurns(servers, load);
    for (const [kind, server] of servers) if (kind !== 'bare') await requireStored(server, sent);
    return rowsOf(results);
  } finally {
    for (const { child } of servers.values()) await child.stop();
  }
}

function rowsOf(results: Parameters<typeof medianOf>[0]): readonly BenchRow[] {
  const p99 = medianOf(results, 'postgres', 'p99Ms');
  const sqliteP99 = medianOf(results, 'reeve', 'p99Ms');
  const intake = (against: string, other: Kind, target: number): BenchRow =>
    intakeRow(results, { name: 'PostgreSQL: durable intake', kind: 'postgres', against, other, target });
  return [
    intake('bare fastify that parses and stores nothing', 'bare', 0.1),
    intake('SQLite', 'reeve', 0.2),
    {
      name: 'PostgreSQL: p99 latency of that intake',
      value: round(p99),
      unit: 'ms',
      against: `SQLite: ${round(sqliteP99)} ms`,
      ratio: round(p99 / sqliteP99),
      target: '<= 100 ms',
      ok: p99 <= 100,
    },
  ];
}

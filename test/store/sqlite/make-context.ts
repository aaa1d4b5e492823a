import type { DatabaseSync } from 'node:sqlite';
import { Leases } from '../../../src/store/leases.ts';
import { Commits, noCheckpoints, noDurability } from '../../../src/store/sqlite/commits.ts';
import { SettledCount, type SqliteContext } from '../../../src/store/sqlite/context.ts';
import { SqliteSql } from '../../../src/store/sqlite/sqlite-sql.ts';

/** Creates the context of a store with an in-memory database. */
export function makeContext(database: DatabaseSync, now: () => Date = () => new Date()): SqliteContext {
  const path = 'reeve.db';
  const commits = new Commits(database, {
    path,
    durability: noDurability,
    checkpoints: noCheckpoints,
    onRefused() {},
  });
  return {
    database,
    path,
    clock: { now, monotonicMs: () => now().getTime() },
    commits,
    sql: new SqliteSql(database, { path, now, write: (work) => commits.write(work) }),
    leases: new Leases(),
    settled: new SettledCount(() => 0, { isAlone: true }),
    requireWorker() {},
  };
}

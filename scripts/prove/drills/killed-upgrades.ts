import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { migrate, schemaVersionOf, schemaVersions } from '../../../src/store/sqlite/migrations.ts';
import { openSqliteFile } from '../../../src/store/sqlite/sqlite-store.ts';
import { watchProcess } from '../../../test/support/processes.ts';
import { withWorkspace } from '../../harness/workspace.ts';
import type { Drill } from '../promise.ts';

const fixtures = fileURLToPath(new URL('../../../test/fixtures/upgrade/', import.meta.url));
const child = fileURLToPath(new URL('../children/migrate.ts', import.meta.url));
/** Number of copies, which makes the store large enough that building an index takes time in which a kill can occur. */
const copies = 100;

/** Kills a process that upgrades the store of an earlier version, at random times, and then lets the upgrade finish. */
export const drill: Drill = ({ isQuick, signal }) =>
  withWorkspace('upgrades', async ({ folder }) => {
    const kills = isQuick ? 10 : 100;
    const prepared = new Map<string, Prepared>();
    const archives = readdirSync(fixtures).filter((name) => name.endsWith('.tar.gz'));
    let [between, damaged, different] = [0, 0, 0];
    for (let kill = 0; kill < kills; kill += 1) {
      signal.throwIfAborted();
      const archive = archives[kill % archives.length] ?? '';
      const original = prepared.get(archive) ?? prepare(folder, archive);
      prepared.set(archive, original);
      const path = join(folder, 'killed.db');
      for (const suffix of ['', '-wal', '-shm']) await rm(`${path}${suffix}`, { force: true });
      copyFileSync(original.path, path);
      await upgradeUntil(path, Math.random() * original.upgradeMs);

      const database = openSqliteFile({ path });
      const version = schemaVersionOf(database);
      if (version > original.version && version < schemaVersions) between += 1;
      if (database.prepare('PRAGMA integrity_check').get()?.integrity_check !== 'ok') damaged += 1;
      migrate(database, path);
      if (contentsOf(database) !== original.upgraded) different += 1;
      database.close();
    }
    return {
      figure: `${kills} kills during an upgrade, ${between} of them between two of its ${schemaVersions - 1} steps: ${damaged} damaged, ${different} with other contents than without a kill`,
      // If all kills were too early or too late, the drill would prove nothing.
      isKept: damaged + different === 0 && between > 0,
    };
  });

type Prepared = {
  readonly path: string;
  readonly version: number;
  /** Contents of the store after an upgrade without a kill, and the duration of that upgrade. */
  readonly upgraded: string;
  readonly upgradeMs: number;
};

/** Unpacks a recorded store and fills it with copies of its deliveries. */
function prepare(folder: string, archive: string): Prepared {
  execFileSync('tar', ['--extract', '--gzip', '--file', join(fixtures, archive), '-C', folder]);
  const path = join(folder, `${archive}.db`);
  const recorded = new DatabaseSync(join(folder, 'reeve.db'));
  const columns = recorded
    .prepare('PRAGMA table_info(deliveries)')
    .all()
    .map(({ name }) => String(name))
    .filter((name) => name !== 'id');
  recorded.exec(`BEGIN;
    WITH RECURSIVE copies (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < ${copies})
    INSERT INTO deliveries (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM deliveries, copies;
    WITH RECURSIVE copies (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < ${copies})
    INSERT INTO bodies (body) SELECT body FROM bodies, copies;
    COMMIT; PRAGMA wal_checkpoint(TRUNCATE)`);
  const version = schemaVersionOf(recorded);
  recorded.close();
  copyFileSync(join(folder, 'reeve.db'), path);

  const startMs = performance.now();
  const database = openSqliteFile({ path: join(folder, 'reeve.db') });
  migrate(database, path);
  const upgradeMs = performance.now() - startMs;
  const upgraded = contentsOf(database);
  database.close();
  return { path, version, upgraded, upgradeMs };
}

/** Returns a digest of the schema and of the rows of all tables. */
function contentsOf(database: DatabaseSync): string {
  const schema = database.prepare('SELECT type, name, sql FROM sqlite_master ORDER BY type, name').all();
  const tables = schema.filter(({ type }) => type === 'table').map(({ name }) => String(name));
  const hash = createHash('sha256').update(JSON.stringify(schema));
  for (const name of tables) {
    for (const row of database.prepare(`SELECT * FROM ${name}`).iterate()) {
      for (const value of Object.values(row)) hash.update(ArrayBuffer.isView(value) ? value : `${value};`);
    }
  }
  return hash.digest('hex');
}

/** Starts an upgrade in a process and kills it after this time. */
async function upgradeUntil(path: string, ms: number): Promise<void> {
  const running = spawn(process.execPath, [child, path], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  watchProcess(running);
  const ended = once(running, 'exit');
  await once(running, 'message');
  running.send('go');
  await pause(ms);
  running.kill('SIGKILL');
  await ended;
}

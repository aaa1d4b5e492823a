import { constants, mkdtempSync, rmSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { migrate, migrations } from '../../src/store/sqlite/migrations.ts';
import { openSqliteFile, openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';

/** Number of deliveries in a store that has been used for a while. */
export const storedCount = (quick: boolean): number => (quick ? 200_000 : 1_000_000);

/** `1,000,000 stored deliveries`. */
export const storedText = (count: number): string => `${count.toLocaleString('en')} stored deliveries`;

let made: Promise<string> | undefined;

/** Copies a store with this many ended deliveries to a path. The original is created once per run. */
export async function copyStored(path: string, count: number): Promise<void> {
  made ??= makeStored(count);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await copyFile(await made, path, constants.COPYFILE_FICLONE);
}

async function makeStored(count: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-bench-stored-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'reeve.db');
  fill(path, count);
  // Applies the later steps of the schema, as an upgrade does, and leaves no log.
  await (await openSqliteStore({ path, role: 'worker', checkpoints: 'in-commits' })).close();
  return path;
}

/** Step of the schema that has the columns used by `fill`; released steps do not change. */
const filledStep = 8;

/** Days from the oldest delivery to the newest: none is old enough to be deleted. */
const days = 25;

/**
 * Fills the tables in one transaction. Every hundredth delivery is a job, every thousandth is dead, and the others are
 * settled events of 50 repositories with bodies of 1 KB. UUIDs, marks and digests are as random and unordered as those
 * of real deliveries.
 */
function fill(path: string, count: number): void {
  const database = openSqliteFile({ path });
  // After a failure, the file is created again; no rollback is needed.
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536');
  migrate(database, path, migrations.slice(0, filledStep));
  const stepMs = Math.floor((days * 86_400_000) / count);
  const at = `strftime('%Y-%m-%dT%H:%M:%fZ', (${Date.now() - count * stepMs} + n * ${stepMs}) / 1000.0, 'unixepoch')`;
  const body = `{"action":"opened","title":"%08d","padding":"${'x'.repeat(970)}"}`;
  const bytes = body.length + '00000000'.length - '%08d'.length;
  const hex = (digits: number): string => `substr(hex(randomblob(6)), 1, ${digits})`;
  const uuid = `lower(${hex(8)} || '-' || ${hex(4)} || '-4' || ${hex(3)} || '-8' || ${hex(3)} || '-' || ${hex(12)})`;
  database.exec(`BEGIN;
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    INSERT INTO deliveries (id, door, uuid, event_type, entry, content_type, received_at, state, routed, mark, bytes, lane, turn,
      repository_id, repository, attempts, settled_at, reason)
    SELECT n, iif(n % 100 = 0, 'cron', 'webhook'), ${uuid}, iif(n % 100 = 0, 'sweep', 'pull_request'), 'default', 'application/json',
      ${at}, iif(n % 1000 = 1, 'dead', 'settled'), 1, abs(random() % 4503599627370496), ${bytes},
      'acme/shop-' || (n % 50) || '#' || (n % 9000), 'acme/shop-' || (n % 50), n % 50, 'acme/shop-' || (n % 50), 1, ${at},
      iif(n % 1000 = 1, 'given up', NULL) FROM numbers;
    INSERT INTO bodies (id, body) SELECT id, CAST(printf('${body}', id) AS BLOB) FROM deliveries;
    INSERT INTO digests (delivery, digest) SELECT id, randomblob(32) FROM deliveries WHERE door = 'webhook';
    COMMIT`);
  database.close();
}

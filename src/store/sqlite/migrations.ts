import type { DatabaseSync } from 'node:sqlite';
import { ReeveError } from '../../platform/errors.ts';

/**
 * The numbered steps of the schema; `user_version` is the number of steps applied to a database. A released step never
 * changes. Bodies are in a separate table: a state changes several times, and rewriting a page of small rows is cheap,
 * while rewriting a page with bodies is not. No index is UNIQUE over data sent by a forge, because files of earlier
 * versions may contain a uuid twice. The ids of deliveries and runs are not AUTOINCREMENT, which would write one more
 * page per transaction: the newest delivery is never deleted, so its id is not reused. Each partial index contains only
 * the rows that it serves.
 */
export const migrations: readonly string[] = [
  `
  CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY,
    door TEXT NOT NULL,
    uuid TEXT NOT NULL,
    event_type TEXT NOT NULL,
    entry TEXT NOT NULL,
    content_type TEXT NOT NULL,
    received_at TEXT NOT NULL,
    state TEXT NOT NULL,
    routed INTEGER NOT NULL,
    mark INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    lane TEXT,
    turn TEXT,
    repository_id INTEGER,
    repository TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    lease TEXT,
    failing_since TEXT,
    retry_at TEXT,
    settled_at TEXT,
    reason TEXT,
    copy_of INTEGER,
    checkpoint TEXT,
    redriven_at TEXT,
    redriven_by TEXT
  ) STRICT;
  CREATE TABLE bodies (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
  CREATE INDEX unrouted ON deliveries (id) WHERE state = 'accepted' AND routed = 0;
  CREATE INDEX waiting ON deliveries (turn, lane, id) WHERE state = 'accepted' AND routed = 1;
  CREATE INDEX claimed ON deliveries (lane) WHERE state = 'claimed';
  CREATE INDEX retrying ON deliveries (retry_at) WHERE state = 'retry';
  CREATE INDEX dead ON deliveries (id) WHERE state = 'dead';
  CREATE INDEX jobs ON deliveries (uuid) WHERE door <> 'webhook';
  CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    delivery INTEGER,
    repository_id INTEGER,
    started_at TEXT NOT NULL,
    run TEXT NOT NULL
  ) STRICT;
  CREATE INDEX runs_of_delivery ON runs (delivery) WHERE delivery IS NOT NULL;
  CREATE INDEX runs_of_repository ON runs (repository_id, number) WHERE repository_id IS NOT NULL;
  CREATE INDEX runs_without_delivery ON runs (started_at) WHERE delivery IS NULL;
  CREATE TABLE memory (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
  `,
  // Digests of bodies, by which repeats are recognised.
  `
  ALTER TABLE deliveries ADD COLUMN repeat_of INTEGER;
  CREATE TABLE digests (
    delivery INTEGER PRIMARY KEY REFERENCES deliveries (id) ON DELETE CASCADE,
    digest BLOB NOT NULL
  ) STRICT;
  `,
  // Waits that tolerate a clock set back, and the deliveries in flight when the process died.
  `
  ALTER TABLE deliveries ADD COLUMN retry_wait_ms INTEGER;
  ALTER TABLE deliveries ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE deliveries ADD COLUMN suspicion INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX suspected ON deliveries (id) WHERE suspicion > 0;
  `,
  // Deliveries whose run was stopped by an hourly budget.
  `
  ALTER TABLE deliveries ADD COLUMN deferral_key TEXT;
  CREATE INDEX deferred ON deliveries (retry_at) WHERE state = 'deferred';
  CREATE INDEX deferred_of_lane ON deliveries (lane) WHERE state = 'deferred';
  `,
  // Incidents: few rows, read as a whole.
  `
  CREATE TABLE incidents (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    count INTEGER NOT NULL,
    first_at TEXT NOT NULL,
    last_at TEXT NOT NULL,
    subject TEXT,
    details TEXT NOT NULL,
    PRIMARY KEY (kind, key)
  ) STRICT, WITHOUT ROWID;
  `,
  // Pauses, deliveries that wait for the end of a pause, and the audit.
  `
  CREATE TABLE pauses (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    repository_id INTEGER,
    at TEXT NOT NULL,
    by TEXT NOT NULL,
    PRIMARY KEY (kind, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    by TEXT NOT NULL,
    action TEXT NOT NULL,
    object TEXT NOT NULL
  ) STRICT;
  ALTER TABLE deliveries ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;
  `,
  // Merge queues. A lease may start before its queue has a row, and the history outlives both.
  `
  CREATE TABLE queues (
    repository_id INTEGER NOT NULL,
    base TEXT NOT NULL,
    repository TEXT NOT NULL,
    state TEXT NOT NULL,
    revision INTEGER NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (repository_id, base)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE queue_leases (
    repository_id INTEGER NOT NULL,
    base TEXT NOT NULL,
    token TEXT NOT NULL,
    lease_ms INTEGER NOT NULL,
    lease_until TEXT NOT NULL,
    PRIMARY KEY (repository_id, base)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE queue_history (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    repository_id INTEGER NOT NULL,
    base TEXT NOT NULL,
    repository TEXT NOT NULL,
    at TEXT NOT NULL,
    event TEXT NOT NULL
  ) STRICT;
  CREATE INDEX history_of_queue ON queue_history (repository_id, base, id);
  CREATE INDEX history_by_age ON queue_history (at);
  `,
  // Headers of deliveries: those of a hook are the same, and share a row. Sums and levels over time for charts.
  `
  CREATE TABLE header_sets (id INTEGER PRIMARY KEY, headers TEXT NOT NULL, used_at TEXT NOT NULL) STRICT;
  ALTER TABLE deliveries ADD COLUMN header_set INTEGER;
  CREATE TABLE samples (
    minutes INTEGER NOT NULL,
    at INTEGER NOT NULL,
    name TEXT NOT NULL,
    amount INTEGER NOT NULL,
    PRIMARY KEY (minutes, at, name)
  ) STRICT, WITHOUT ROWID;
  `,
  // Known uuids, copies and repeats are found in the database, not in tables in memory that are read at startup.
  `
  CREATE INDEX known ON deliveries (uuid) WHERE door = 'webhook';
  CREATE INDEX unclaimed ON deliveries (mark) WHERE state = 'accepted' AND attempts = 0 AND door = 'webhook';
  CREATE INDEX deliveries_of_digest ON digests (substr(digest, 1, 8));
  `,
  // What an event is about, for lists.
  'ALTER TABLE deliveries ADD COLUMN summary TEXT',
  // The last valid texts of rule files. `content` is last, because the other columns are read without it.
  `
  CREATE TABLE rule_texts (
    place TEXT NOT NULL,
    path TEXT NOT NULL,
    commit_id TEXT NOT NULL,
    at TEXT NOT NULL,
    size INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (place, path)
  ) STRICT;
  `,
];

/** The newest schema that this program knows. */
export const schemaVersions = migrations.length;

/**
 * Migrates a database to the newest schema, one step per transaction. Throws `store-newer` if a later program has
 * changed it.
 */
export function migrate(database: DatabaseSync, path: string, steps: readonly string[] = migrations): void {
  for (;;) {
    // Two processes may open a new file at once: the version is read under the lock of the step.
    database.exec('BEGIN IMMEDIATE');
    try {
      const version = schemaVersionOf(database);
      if (version > steps.length) {
        throw new ReeveError(
          'store-newer',
          `the store ${path} has schema ${version}, this program knows ${steps.length}: start the newer Reeve`,
        );
      }
      const step = steps[version];
      if (step !== undefined) database.exec(`${step}; PRAGMA user_version = ${version + 1}`);
      database.exec('COMMIT');
      if (step === undefined) return;
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  }
}

/** Returns the schema version of a database: 0 if Reeve has not created one. */
export function schemaVersionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version);
}

import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { BoundedMap } from '../../platform/cache/bounded-map.ts';
import { ReeveError } from '../../platform/errors.ts';
import {
  accounts,
  activities,
  agit,
  avatars,
  conversation,
  conversations,
  cron,
  gpgKeys,
  hooks,
  hookTargets,
  issues,
  keys,
  lfs,
  memberships,
  mirrors,
  movedHeads,
  packages,
  people,
  protections,
  references,
  releases,
  removedRepositories,
  repositories,
  runners,
  scheduledMerges,
  searches,
  secrets,
  timeline,
  unfinished,
  workflows,
} from './migrations.ts';

/** Migrations in order. A released migration never changes; new ones are appended. */
const migrations = [
  accounts,
  repositories,
  issues,
  hooks,
  runners,
  memberships,
  conversation,
  protections,
  unfinished,
  timeline,
  workflows,
  references,
  releases,
  secrets,
  keys,
  people,
  searches,
  avatars,
  cron,
  gpgKeys,
  packages,
  mirrors,
  activities,
  scheduledMerges,
  agit,
  lfs,
  removedRepositories,
  conversations,
  hookTargets,
  movedHeads,
];

/** Statement parameter: booleans become 0 and 1, undefined becomes NULL. */
type Value = SQLInputValue | boolean | undefined;

/** The forge's database. Every call is synchronous, so no other code runs between two consecutive calls. */
export interface Database {
  /** Returns all rows. The caller asserts `Row`: it knows the schema, SQLite does not. */
  all<Row>(sql: string, ...values: Value[]): Row[];
  /** Returns the first row, or undefined. */
  get<Row>(sql: string, ...values: Value[]): Row | undefined;
  /** Returns the number of changed rows and the id of the last inserted row. */
  run(sql: string, ...values: Value[]): { readonly changes: number; readonly lastId: number };
  /** Runs `work` atomically: if it throws, nothing is changed. A nested transaction is a savepoint. */
  transaction<T>(work: () => T): T;
  /**
   * Runs `work` after the surrounding transaction commits, but not if it rolls back. Outside a transaction, runs it
   * immediately.
   */
  afterCommit(work: () => void): void;
  close(): void;
}

/**
 * Opens a database file (or `:memory:`) and migrates its schema. Throws `store-newer` if a later version wrote it.
 *
 * WAL with `synchronous=NORMAL`: acknowledged writes survive the death of the process, even by `kill -9`; a power
 * failure may lose the last transactions, but never corrupts the file. An embedded forge does not justify an fsync per
 * request.
 */
export function openDatabase(file: string): Database {
  const sqlite = new DatabaseSync(file, { timeout: 5000, enableForeignKeyConstraints: true });
  sqlite.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA recursive_triggers = OFF;');
  migrateForge(sqlite, file);
  return createDatabase(sqlite);
}

function migrateForge(sqlite: DatabaseSync, file: string): void {
  const { user_version: version } = sqlite.prepare('PRAGMA user_version').get() as { user_version: number };
  if (version > migrations.length) {
    throw new ReeveError(
      'store-newer',
      `${file}: schema ${version} is newer than this program knows (${migrations.length}); use the newer program`,
    );
  }
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue;
    sqlite.exec(`BEGIN IMMEDIATE; ${migration}; PRAGMA user_version = ${index + 1}; COMMIT;`);
  }
}

/**
 * Maximum cached statements. Lists build their SQL from a few filters; the bound guards against code that puts values
 * into the SQL.
 */
const maxStatements = 2_000;

type Statement = {
  readonly prepared: StatementSync;
  readonly bind: (values: readonly Value[]) => readonly SQLInputValue[];
};

function createDatabase(sqlite: DatabaseSync): Database {
  const statements = new BoundedMap<string, Statement>(maxStatements);
  const isPositional = bindsNumbersByPosition(sqlite);
  let waiting: (() => void)[] = [];
  let depth = 0;

  function prepare(sql: string): Statement {
    const known = statements.get(sql);
    if (known) return known;
    const prepared = sqlite.prepare(sql);
    const isNamed = isNumbered(sql) && !isPositional;
    const statement: Statement = {
      prepared,
      bind: (values) => {
        const inputs = values.map(toInput);
        return isNamed ? byNumber(inputs) : inputs;
      },
    };
    statements.set(sql, statement);
    return statement;
  }

  function transaction<T>(work: () => T): T {
    const [begin, commit, rollback] =
      depth === 0
        ? ['BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK']
        : [`SAVEPOINT s${depth}`, `RELEASE s${depth}`, `ROLLBACK TO s${depth}; RELEASE s${depth}`];
    const before = waiting.length;
    sqlite.exec(begin);
    depth += 1;
    let result: T;
    try {
      result = work();
      // A promise would continue after the commit, outside the transaction.
      if (result instanceof Promise) throw new TypeError('a transaction must not return a promise');
      sqlite.exec(commit);
    } catch (error) {
      // Some failures (disk full) make SQLite roll back by itself; a second rollback would mask the original error.
      if (sqlite.isTransaction) sqlite.exec(rollback);
      waiting.length = before;
      throw error;
    } finally {
      depth -= 1;
    }
    if (depth === 0) runWaiting();
    return result;
  }

  function runWaiting(): void {
    const due = waiting;
    waiting = [];
    for (const work of due) work();
  }

  return {
    // Only callers know the row types; SQLite does not provide them.
    all<Row>(sql: string, ...values: Value[]) {
      const { prepared, bind } = prepare(sql);
      return prepared.all(...bind(values)) as Row[];
    },
    get<Row>(sql: string, ...values: Value[]) {
      const { prepared, bind } = prepare(sql);
      return prepared.get(...bind(values)) as Row | undefined;
    },
    run(sql, ...values) {
      const { prepared, bind } = prepare(sql);
      const { changes, lastInsertRowid } = prepared.run(...bind(values));
      return { changes: Number(changes), lastId: Number(lastInsertRowid) };
    },
    transaction,
    afterCommit(work) {
      if (depth === 0) work();
      else waiting.push(work);
    },
    close: () => sqlite.close(),
  };
}

function toInput(value: Value): SQLInputValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return value === undefined ? null : value;
}

/**
 * Returns whether this version of Node binds numbered parameters (`?1`) by position. Node 22 treats them as names and
 * fails with "column index out of range".
 */
export function bindsNumbersByPosition(sqlite: DatabaseSync): boolean {
  try {
    sqlite.prepare('SELECT ?1').get(1);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether a statement numbers its parameters. Throws if it numbers only some of them. */
export function isNumbered(sql: string): boolean {
  const numbered = /\?\d/.test(sql);
  if (numbered && /\?(?!\d)/.test(sql)) throw new TypeError(`number all parameters or none: ${sql}`);
  return numbered;
}

/** Returns the arguments that bind numbered parameters by name, which works in every Node version. */
export function byNumber(values: readonly SQLInputValue[]): readonly SQLInputValue[] {
  const named = Object.fromEntries(values.map((value, index) => [`?${index + 1}`, value]));
  // `all`, `get` and `run` accept an object of named parameters as their first value; the type `SQLInputValue` does not
  // include it.
  return [named as unknown as SQLInputValue];
}

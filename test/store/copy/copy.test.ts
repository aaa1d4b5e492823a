import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { copiedTables, omittedTables } from '../../../src/store/copy/copied-tables.ts';
import {
  type BatchLimits,
  type CopyReport,
  type CopySide,
  type CopyTarget,
  transferStore,
  unknownColumnsOf,
} from '../../../src/store/copy/copy-store.ts';
import { openPostgresSource, openPostgresTarget } from '../../../src/store/copy/postgres-side.ts';
import { openSqliteSource, openSqliteTarget } from '../../../src/store/copy/sqlite-side.ts';
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { isThorough } from '../../support/figure.ts';
import { fillStore, readEverything } from '../../support/full-store.ts';
import { makeSchema } from '../../support/postgres.ts';
import { makeDelivery } from '../make.ts';

/** Limits that produce both kinds of batches: full by rows, or with a single row that exceeds the bytes. */
const small: BatchLimits = { rows: 2, bytes: 60 };

type Place = {
  readonly title: string;
  source(limits?: BatchLimits): Promise<CopySide>;
  target(limits?: BatchLimits): Promise<CopyTarget>;
  open(role: 'worker' | 'reader'): Promise<Store>;
  /** Runs a statement directly on the database. */
  run(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-copy-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function file(): Place {
  const path = join(folder, `${randomUUID()}.db`);
  return {
    title: 'SQLite',
    source: async (limits) => openSqliteSource(path, limits),
    target: async (limits) => openSqliteTarget(path, limits),
    open: (role) => openSqliteStore({ path, role }),
    async run(sql) {
      const database = new DatabaseSync(path);
      try {
        return database.prepare(sql).all();
      } finally {
        database.close();
      }
    },
  };
}

async function schema(): Promise<Place> {
  const url = await makeSchema();
  const [base = '', query = ''] = url.split('?');
  const parameters = new URLSearchParams(query);
  const name = parameters.get('schema');
  parameters.delete('schema');
  return {
    title: 'PostgreSQL',
    source: (limits) => openPostgresSource(url, limits),
    target: (limits) => openPostgresTarget(url, limits),
    open: (role) => openPostgresStore({ url, role, isVolatile: true }),
    async run(sql) {
      const client = new pg.Client({ connectionString: `${base}?${parameters}` });
      await client.connect();
      try {
        await client.query(`SET search_path = ${name}`);
        return (await client.query(sql)).rows;
      } finally {
        await client.end();
      }
    },
  };
}

const places: Readonly<Record<string, () => Place | Promise<Place>>> = { SQLite: file, PostgreSQL: schema };
/** The mixed pairs cover each kind as source and as target; pairs of the same kind run only in a thorough run. */
const pairs = Object.keys(places)
  .flatMap((from) => Object.keys(places).map((to) => [from, to] as const))
  .filter(([from, to]) => isThorough || from !== to);
const make = async (kind: string): Promise<Place> => {
  const place = places[kind];
  if (place === undefined) throw new Error(kind);
  return place();
};

async function use<Result>(
  place: Place,
  role: 'worker' | 'reader',
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await place.open(role);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function copy(
  from: Place,
  to: Place,
  { limits, ...options }: Partial<Parameters<typeof transferStore>[2]> & { limits?: BatchLimits } = {},
): Promise<CopyReport> {
  const source = await from.source(limits);
  try {
    const target = await to.target(limits);
    try {
      return await transferStore(source, target, { now: () => new Date(), ...options });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

const isEqual = ({ tables }: CopyReport): boolean => tables.every((table) => table.isEqual);

/** Returns every row of a place, limited to the columns that are copied. */
const rowsOf = async (place: Place): Promise<unknown> => {
  const tables: Record<string, unknown> = {};
  for (const { name, columns, key, only = 'true' } of copiedTables)
    tables[name] = await place.run(
      `SELECT ${Object.keys(columns)} FROM ${name} WHERE ${only} ORDER BY ${key}`,
    );
  return tables;
};

describe('the list of copied tables', () => {
  it.each(Object.keys(places))('names every table and column of %s', async (kind) => {
    const place = await make(kind);
    const target = await place.target();
    const columns = await target.columns();
    await target.close();

    expect(unknownColumnsOf(target.kind, columns)).toEqual([]);
    expect(columns.size).toBeGreaterThanOrEqual(copiedTables.length);
    expect(
      Object.keys(omittedTables).filter((name) => copiedTables.some((table) => table.name === name)),
    ).toEqual([]);
  });

  it.each(Object.keys(places))('rejects a store in %s that has other tables or columns', async (kind) => {
    const [from, to] = [await make(kind), file()];
    await use(from, 'worker', fillStore);
    await from.run('CREATE TABLE later (id integer)');
    await from.run('ALTER TABLE pauses ADD COLUMN later integer');

    await expect(copy(from, to)).rejects.toThrow(
      /table later.*column pauses.later|column pauses.later.*table later/,
    );
    expect(await use(to, 'reader', (store) => store.counts())).toMatchObject({ accepted: 0, settled: 0 });
  });
});

describe.each(pairs)('a copy from %s to %s', (fromKind, toKind) => {
  it('looks the same to a server, which then assigns greater ids', async () => {
    const [from, to] = [await make(fromKind), await make(toKind)];
    await use(from, 'worker', fillStore);
    const before = await use(from, 'reader', readEverything);

    const report = await copy(from, to, { limits: small });

    expect(report).toMatchObject({ begun: 'new' });
    expect(isEqual(report), JSON.stringify(report)).toBe(true);
    expect(
      report.tables.every(({ rows }) => rows > 0),
      JSON.stringify(report.tables),
    ).toBe(true);
    expect(await use(to, 'reader', readEverything)).toEqual(before);
    const newest = Math.max(...before.deliveries.map((delivery) => Number(delivery?.id)));
    await use(to, 'worker', async (store) => {
      expect(Number((await store.accept(makeDelivery())).id)).toBeGreaterThan(newest);
      expect(await store.accept(makeDelivery({ uuid: 'uuid-5' }))).toMatchObject({ known: true });
      await store.noteAudit({ by: 'ada', action: 'revert', object: 'later' });
      const [entry, ...others] = await store.listAudit();
      expect(entry?.number).toBeGreaterThan(Math.max(...others.map(({ number }) => number)));
    });
  });

  it('makes claimed deliveries wait again, and counts the crash as a server does when it starts', async () => {
    for (const claims of [1, 2]) {
      const [from, to] = [await make(fromKind), await make(toKind)];
      await use(from, 'worker', fillStore);
      // State after a server was killed.
      await from.run(
        `UPDATE deliveries SET state = 'claimed', lease = '${randomUUID()}', attempts = 1 WHERE id IN
           (SELECT id FROM deliveries WHERE state = 'accepted' AND lane LIKE 'acme%' ORDER BY id LIMIT ${claims})`,
      );

      const report = await copy(from, to);

      expect(isEqual(report)).toBe(true);
      const [row] = await to.run(
        `SELECT count(*) AS n, sum(attempts) AS attempts, sum(crashes) AS crashes, sum(suspicion) AS suspicion FROM deliveries
         WHERE state = 'accepted' AND (crashes > 0 OR suspicion > 0) AND lease IS NULL`,
      );
      const numbers = Object.fromEntries(
        Object.entries(row ?? {}).map(([name, value]) => [name, Number(value)]),
      );
      expect(numbers).toEqual(
        claims === 1
          ? { n: 1, attempts: 1, crashes: 1, suspicion: 0 }
          : { n: 2, attempts: 0, crashes: 0, suspicion: 2 },
      );
    }
  });

  it('continues after an interruption at any batch, and cannot be opened until it is complete', async () => {
    const [from, to] = [await make(fromKind), await make(toKind)];
    await use(from, 'worker', fillStore);
    const before = await use(from, 'reader', readEverything);
    let ends = 0;
    let report: CopyReport | undefined;
    while (report === undefined) {
      let batches = 0;
      const onProgress = (): void => {
        batches += 1;
        if (batches === 2) throw new Error('the process ends here');
      };
      report = await copy(from, to, { limits: small, onProgress }).catch((error: Error) => {
        if (error.message !== 'the process ends here') throw error;
        return undefined;
      });
      if (report !== undefined) break;
      ends += 1;
      for (const role of ['worker', 'reader'] as const)
        await expect(to.open(role)).rejects.toMatchObject({
          code: 'store-unfinished',
          message: expect.stringContaining('--restart'),
        });
    }

    expect(ends).toBeGreaterThan(10);
    expect(report.begun).toBe('resumed');
    expect(isEqual(report)).toBe(true);
    expect(await use(to, 'reader', readEverything)).toEqual(before);
    expect(await copy(from, to)).toMatchObject({ begun: 'verified' });
  });

  it('detects changes of the source since the interruption, and starts again on request', async () => {
    const [from, to, other] = [await make(fromKind), await make(toKind), await make(fromKind)];
    await use(from, 'worker', fillStore);
    await use(other, 'worker', fillStore);
    const onProgress = ({ table }: { table: string }): void => {
      if (table === 'audit') throw new Error('the process ends here');
    };
    await expect(copy(from, to, { onProgress })).rejects.toThrow('the process ends here');
    await use(from, 'reader', (store) => store.redrive(['4'], 'ada'));

    await expect(copy(other, to)).rejects.toMatchObject({ code: 'usage' });
    const report = await copy(from, to);
    await expect(to.open('worker')).rejects.toMatchObject({ code: 'store-unfinished' });
    const again = await copy(from, to, { restart: true });

    expect(report.tables.filter((table) => !table.isEqual).map(({ table }) => table)).toEqual(['deliveries']);
    expect(isEqual(again)).toBe(true);
    expect((await use(to, 'reader', (store) => store.describeDelivery('4')))?.state).toBe('accepted');
  });

  it('never overwrites a store, and needs exclusive access to both stores', async () => {
    const [from, to] = [await make(fromKind), await make(toKind)];
    await use(from, 'worker', fillStore);
    await use(from, 'worker', async () => {
      await expect(copy(from, to)).rejects.toMatchObject({ code: 'store-locked' });
    });
    await use(to, 'worker', async (store) => {
      await expect(copy(from, to)).rejects.toMatchObject({ code: 'store-locked' });
      await store.pause({ kind: 'all' }, 'ada');
    });

    await expect(copy(from, to)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('pauses'),
    });
    const fresh = await make(toKind);
    const source = await from.source();
    await expect(from.open('worker')).rejects.toMatchObject({ code: 'store-locked' });
    await source.close();
    await copy(from, fresh);
    await copy(from, fresh);
    await use(fresh, 'worker', (store) =>
      store.pause({ kind: 'all' }, 'ada again').then(() => store.remember('x', 1)),
    );
    await expect(copy(from, fresh)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('has changed since'),
    });
  });

  it('detects a target that is damaged during the copy', async () => {
    const [from, to] = [await make(fromKind), await make(toKind)];
    await use(from, 'worker', fillStore);
    const source = await from.source();
    const target = await to.target();
    const broken: CopyTarget = Object.assign(Object.create(target), {
      page: target.page.bind(target),
      write: (
        table: Parameters<CopyTarget['write']>[0],
        rows: Parameters<CopyTarget['write']>[1],
        mark: string,
      ) =>
        target.write(
          table,
          table.name === 'bodies' ? rows.map((row) => ({ ...row, body: Buffer.from('damaged') })) : rows,
          mark,
        ),
    });
    for (const name of [
      'columns',
      'lastNumber',
      'readMark',
      'writeMark',
      'isEmpty',
      'setLastNumber',
      'settleDown',
    ] as const)
      Object.assign(broken, { [name]: (target[name] as (...args: unknown[]) => unknown).bind(target) });

    const report = await transferStore(source, broken, { now: () => new Date() });
    await target.close();
    await source.close();

    expect(report.tables.filter((table) => !table.isEqual).map(({ table }) => table)).toEqual(['bodies']);
    await expect(to.open('reader')).rejects.toMatchObject({ code: 'store-unfinished' });
  });
});

describe('a copy to PostgreSQL and back', () => {
  it('preserves every row, even if a file contains a uuid twice', async () => {
    const [first, second, third] = [file(), await schema(), file()];
    await use(first, 'worker', fillStore);
    await first.run("UPDATE deliveries SET uuid = 'uuid-1', entry = 'default' WHERE id IN (1, 5, 6)");

    expect(isEqual(await copy(first, second, { limits: small }))).toBe(true);
    expect(await second.run('SELECT uuid FROM deliveries WHERE id IN (1, 5, 6) ORDER BY id')).toEqual([
      { uuid: 'uuid-1' },
      { uuid: 'uuid-1 (delivery 5)' },
      { uuid: 'uuid-1 (delivery 6)' },
    ]);
    expect(isEqual(await copy(second, third))).toBe(true);

    const [before, after] = [await rowsOf(first), await rowsOf(third)];
    const shortened = (rows: unknown): unknown =>
      JSON.parse(
        JSON.stringify(rows, (_name, value) => (typeof value === 'string' ? value.slice(0, 450) : value)),
      );
    expect(shortened(after)).toEqual(shortened(before));
  });

  it('replaces characters that PostgreSQL text cannot contain, as the PostgreSQL store does, and keeps them in JSON and bodies', async () => {
    const [from, to] = [file(), await schema()];
    await use(from, 'worker', async (store) => {
      await store.accept(makeDelivery({ uuid: 'a\0b', body: Buffer.from('\0{}'), eventType: 'push\0' }));
      await store.remember('key\0', { text: 'value\0 \ud800' });
    });

    expect(isEqual(await copy(from, to))).toBe(true);

    await use(to, 'worker', async (store) => {
      expect(await store.readDelivery('1')).toMatchObject({
        uuid: 'a\ufffdb',
        eventType: 'push\ufffd',
        body: Buffer.from('\0{}'),
      });
      expect(await store.accept(makeDelivery({ uuid: 'a\0b' }))).toMatchObject({ known: true, id: '1' });
      expect(await store.recall('key\0')).toEqual({ text: 'value\0 \ud800' });
    });
  });

  it('continues the row numbers after deleted rows', async () => {
    const [first, second, third] = [file(), await schema(), file()];
    await use(first, 'worker', fillStore);
    await first.run('DELETE FROM queue_history');
    await first.run('DELETE FROM audit');

    await copy(first, second);
    await copy(second, third);

    for (const place of [second, third]) {
      await use(place, 'worker', async (store) => {
        await store.noteAudit({ by: 'ada', action: 'revert', object: 'later' });
        expect((await store.listAudit()).map(({ number }) => number)).toEqual([4]);
      });
    }
  });
});

describe('a source', () => {
  it.each(Object.keys(places))('in %s is not created if it has no store', async (kind) => {
    const place = await make(kind);

    await expect(place.source()).rejects.toMatchObject({ code: 'usage' });
    await expect(place.source()).rejects.toMatchObject({ code: 'usage' });
  });
});

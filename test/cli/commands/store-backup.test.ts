import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeDelivery, makeRun } from '../../store/make.ts';
import { reeve, reeveProcess } from '../../support/command.ts';
import { recordFigure } from '../../support/figure.ts';

let data: string;
let store: Store;
const pathOf = (name: string): string => join(data, name);
const openWorker = (): Promise<Store> => openSqliteStore({ path: pathOf('reeve.db'), role: 'worker' });
const run = (...args: readonly string[]) => reeve(['store', ...args], { environment: { REEVE_DATA: data } });
const uuidsOf = async (opened: Store): Promise<readonly string[]> => {
  const uuids: string[] = [];
  for (let before: string | undefined; ; ) {
    const { items, next } = await opened.listDeliveries({ limit: 500, ...(before ? { before } : {}) });
    uuids.unshift(...items.map(({ uuid }) => uuid).toReversed());
    if (next === undefined) return uuids;
    before = next;
  }
};
const uuidsIn = async (path: string): Promise<readonly string[]> => {
  const opened = await openSqliteStore({ path, role: 'reader' });
  try {
    return await uuidsOf(opened);
  } finally {
    await opened.close();
  }
};
const acceptAll = async (uuids: readonly string[]): Promise<void> => {
  for (const uuid of uuids)
    await store.accept(makeDelivery({ uuid, body: Buffer.from(`{"uuid":"${uuid}"}`) }));
};

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'reeve-backup-'));
  store = await openWorker();
});
afterEach(async () => {
  await store.close();
  await rm(data, { recursive: true, force: true });
});

describe('reeve store backup', () => {
  it('copies the store of a running server as of one instant', async (context) => {
    await acceptAll(['a', 'b']);
    await store.appendRuns([makeRun({})]);
    const target = pathOf('copy.db');
    const written: string[] = ['a', 'b'];
    let isCopied = false;
    const copying = reeveProcess(['store', 'backup', target], { environment: { REEVE_DATA: data } }).finally(
      () => {
        isCopied = true;
      },
    );
    while (!isCopied) {
      const uuid = `during-${written.length}`;
      await acceptAll([uuid]);
      written.push(uuid);
    }

    const { status, out, error } = await copying;
    const copied = await uuidsIn(target);

    expect({ status, error }).toEqual({ status: 0, error: '' });
    expect(out).toBe(
      `${target}: deliveries: ${copied.length}, runs: 1, size: ${(statSync(target).size / 1024 / 1024).toFixed(1)} MiB\n`,
    );
    expect(copied).toEqual(written.slice(0, copied.length));
    expect(copied.length).toBeGreaterThanOrEqual(2);
    expect(statSync(target).mode & 0o777).toBe(0o600);
    expect(readdirSync(data).filter((name) => name.includes('.part'))).toEqual([]);
    recordFigure(
      context,
      `a backup while ${written.length - 2} deliveries arrived has the first ${copied.length} without a gap`,
    );
  });

  it('overwrites no file, and leaves no file behind if it cannot write', async () => {
    writeFileSync(pathOf('precious'), 'mine');

    const taken = await run('backup', pathOf('precious'));
    const nowhere = await run('backup', pathOf('missing/copy.db'));

    expect(taken).toMatchObject({ status: 2, error: expect.stringContaining('precious already exists') });
    expect(await readFile(pathOf('precious'), 'utf8')).toBe('mine');
    expect(nowhere.status).not.toBe(0);
    expect(nowhere.error).toContain('missing');
    expect(readdirSync(data).filter((name) => name.includes('copy'))).toEqual([]);
  });

  it('names the folder if it contains no store', async () => {
    const { status, error } = await reeve(['store', 'backup', pathOf('copy.db')], {
      environment: { REEVE_DATA: pathOf('elsewhere') },
    });

    expect(status).toBe(2);
    expect(error).toContain(`there is no store at ${pathOf('elsewhere/reeve.db')}`);
  });
});

describe('reeve store restore', () => {
  it('puts the copy in place, and moves the previous store aside with its log', async () => {
    await acceptAll(['a', 'b']);
    await run('backup', pathOf('copy.db'));
    await acceptAll(['later']);
    // State after a server was killed: the last delivery is only in the log (WAL file).
    mkdirSync(pathOf('killed'));
    for (const name of ['reeve.db', 'reeve.db-wal']) cpSync(pathOf(name), pathOf(`killed/${name}`));
    const environment = { REEVE_DATA: pathOf('killed') };

    const { status, out } = await reeve(['store', 'restore', '--json', pathOf('copy.db')], { environment });

    const { replaced, ...told } = JSON.parse(out);
    expect(status).toBe(0);
    expect(told).toMatchObject({ file: pathOf('killed/reeve.db'), deliveries: 2, runs: 0 });
    expect(await uuidsIn(pathOf('killed/reeve.db'))).toEqual(['a', 'b']);
    expect(await uuidsIn(replaced)).toEqual(['a', 'b', 'later']);
    const restored = await openSqliteStore({ path: pathOf('killed/reeve.db'), role: 'worker' });
    const { id } = await restored.accept(makeDelivery({ uuid: 'next' }));
    expect(Number(id)).toBeGreaterThan(2);
    await restored.close();
  });

  it('creates the store if there is none', async () => {
    await acceptAll(['a']);
    await run('backup', pathOf('copy.db'));

    const { status, out } = await reeve(['store', 'restore', pathOf('copy.db')], {
      environment: { REEVE_DATA: pathOf('fresh') },
    });

    expect(status).toBe(0);
    expect(out).not.toContain('that was there');
    expect(await uuidsIn(pathOf('fresh/reeve.db'))).toEqual(['a']);
  });

  it('replaces a damaged store, and a log without a store', async () => {
    await acceptAll(['a']);
    await run('backup', pathOf('copy.db'));
    const replacedBy = async (folder: string, files: Record<string, string>) => {
      mkdirSync(pathOf(folder));
      for (const [name, content] of Object.entries(files))
        writeFileSync(pathOf(`${folder}/${name}`), content);
      const environment = { REEVE_DATA: pathOf(folder) };
      const { status } = await reeve(['store', 'restore', pathOf('copy.db')], { environment });
      expect(status).toBe(0);
      expect(await uuidsIn(pathOf(`${folder}/reeve.db`))).toEqual(['a']);
      return readdirSync(pathOf(folder)).filter((name) => name.includes('replaced'));
    };

    const damaged = await replacedBy('damaged', { 'reeve.db': 'no database', 'reeve.db-wal': 'its log' });
    const alone = await replacedBy('alone', { 'reeve.db-wal': 'a log' });

    expect(damaged).toHaveLength(2);
    expect(alone).toHaveLength(1);
  });

  it('changes nothing while a server uses the store', async () => {
    await acceptAll(['a']);
    await run('backup', pathOf('copy.db'));
    await acceptAll(['b']);

    const { status, error } = await run('restore', pathOf('copy.db'));

    expect(status).toBe(2);
    expect(error).toContain('in use by another Reeve');
    expect(await uuidsOf(store)).toEqual(['a', 'b']);
  });

  const text = (path: string): void =>
    writeFileSync(path, 'no database, and longer than a header. '.repeat(20));
  const other = (path: string): void => {
    const database = new DatabaseSync(path);
    database.exec('CREATE TABLE notes (text TEXT); PRAGMA user_version = 3');
    database.close();
  };
  const newer = (path: string): void => {
    cpSync(pathOf('good.db'), path);
    const database = new DatabaseSync(path);
    database.exec('PRAGMA user_version = 9999');
    database.close();
  };
  const damaged = (path: string): void => {
    const bytes = readFileSync(pathOf('good.db'));
    writeFileSync(path, bytes.fill(0xff, 40_000, bytes.length - 4_000));
  };
  it.each([
    ['text', text, 'not a SQLite database'],
    ['a database of another program', other, 'not a store of Reeve'],
    ['a store of a newer Reeve', newer, 'use the newer Reeve'],
    ['a damaged store', damaged, 'malformed'],
    ['a file that does not exist', () => {}, 'there is no file'],
  ])('changes nothing if the copy is %s', async (_, make, message) => {
    await acceptAll(['a']);
    await run('backup', pathOf('good.db'));
    make(pathOf('bad.db'));
    await store.close();

    const { status, error } = await run('restore', pathOf('bad.db'));

    expect(status).not.toBe(0);
    expect(error).toContain(message);
    expect(readdirSync(data).filter((name) => /replaced|part/.test(name))).toEqual([]);
    expect(existsSync(pathOf('reeve.db'))).toBe(true);
    expect(await uuidsIn(pathOf('reeve.db'))).toEqual(['a']);
    store = await openWorker();
  });
});

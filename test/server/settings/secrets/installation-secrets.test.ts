import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../../../src/platform/log.ts';
import {
  openDashboardPassword,
  passwordPath,
  renewDashboardPassword,
} from '../../../../src/server/settings/secrets/dashboard-password.ts';
import {
  loadFingerprintKey,
  readFingerprintKey,
} from '../../../../src/server/settings/secrets/installation-secret.ts';
import { openPostgresStore } from '../../../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../../../src/store/store.ts';
import { makeSchema } from '../../../support/postgres.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-secrets-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const fileOfKey = (data: string): string => join(data, 'fingerprint.key');
const inFiles = { store: undefined };

describe('the fingerprint key in a file', () => {
  it('is created once, readable only by this account, and is kept', async () => {
    const [first, second] = await Promise.all([
      loadFingerprintKey(folder, inFiles),
      loadFingerprintKey(folder, inFiles),
    ]);
    const path = fileOfKey(folder);

    expect(await loadFingerprintKey(folder, inFiles)).toEqual(first);
    expect(second).toEqual(first);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await readFile(path)).byteLength).toBe(32);
  });

  it('that was truncated is not used', async () => {
    await writeFile(fileOfKey(folder), 'short');

    await expect(loadFingerprintKey(folder, inFiles)).rejects.toMatchObject({ code: 'settings' });
  });

  it('is not created by a read', async () => {
    expect(await readFingerprintKey(folder, undefined)).toBeUndefined();
    expect(existsSync(fileOfKey(folder))).toBe(false);
  });
});

describe('the password in a file', () => {
  it('is replaced atomically, readable only by this account', async () => {
    const readPassword = await openDashboardPassword(folder, inFiles);
    const before = await readPassword();

    const renewed = await renewDashboardPassword(folder, undefined);

    expect(renewed).not.toBe(before);
    expect((await readFile(passwordPath(folder), 'utf8')).trim()).toBe(renewed);
    expect((await stat(passwordPath(folder))).mode & 0o777).toBe(0o600);
    // A running server keeps the password it started with.
    expect(await readPassword()).toBe(before);
  });

  it('of fewer than 16 characters is refused without repeating it', async () => {
    await writeFile(passwordPath(folder), 'hunter2\n');

    const error = await openDashboardPassword(folder, inFiles).catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({ code: 'settings' });
    expect(String(error)).not.toContain('hunter2');
  });
});

describe('secrets of processes that share a database', () => {
  let opened: Store[] = [];
  const open = async (url: string): Promise<Store> => {
    const store = await openPostgresStore({ url, role: 'web', isVolatile: true });
    opened.push(store);
    return store;
  };
  afterEach(async () => {
    for (const store of opened) await store.close();
    opened = [];
  });

  /** Returns a separate data folder for a process, with these files. */
  const makeData = async (name: string, files: Readonly<Record<string, string>> = {}): Promise<string> => {
    const data = join(folder, name);
    await mkdir(data);
    for (const [file, value] of Object.entries(files)) await writeFile(join(data, file), value);
    return data;
  };
  const recordLog = () => {
    const lines: string[] = [];
    const write = (line: string): void => void lines.push(line);
    return { lines, log: createLog({ destination: { write } }) };
  };

  it('are generated once by processes that start together, and are not written to a file', async () => {
    const url = await makeSchema();
    const stores = [await open(url), await open(url), await open(url)];
    const folders = [await makeData('a'), await makeData('b'), await makeData('c')];

    const keys = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        loadFingerprintKey(folders[n % 3] ?? '', { store: stores[n % 3] }),
      ),
    );
    const passwords = await Promise.all(
      Array.from({ length: 12 }, async (_, n) =>
        (await openDashboardPassword(folders[n % 3] ?? '', { store: stores[n % 3] }))(),
      ),
    );

    expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1);
    expect(new Set(passwords).size).toBe(1);
    expect(keys[0]?.byteLength).toBe(32);
    expect(passwords[0]).toMatch(/^[\w-]{32}$/);
    for (const data of folders) {
      expect([existsSync(fileOfKey(data)), existsSync(passwordPath(data))]).toEqual([false, false]);
    }
  });

  it('are taken over from files, and the log reports the takeover without the values', async () => {
    const url = await makeSchema();
    const [first, second] = [await open(url), await open(url)];
    const key = 'k'.repeat(32);
    const data = await makeData('old', {
      'fingerprint.key': key,
      'dashboard.password': 'a password of old times\n',
    });
    const other = await makeData('other', { 'dashboard.password': 'a password of another one\n' });
    const { log, lines } = recordLog();

    const held = Buffer.from(await loadFingerprintKey(data, { store: first, log }));
    const password = await (await openDashboardPassword(data, { store: first, log }))();
    const elsewhere = await (await openDashboardPassword(other, { store: second, log }))();
    await openDashboardPassword(data, { store: first, log });

    // The first process decides which values are taken over.
    expect([held.toString(), password, elsewhere]).toEqual([
      key,
      'a password of old times',
      'a password of old times',
    ]);
    const text = lines.join('\n');
    expect(lines).toHaveLength(3);
    expect(text).toContain('the key of the fingerprints of secrets is in the database now');
    expect(text).toContain('the password of the dashboard is in the database now');
    expect(lines[2]).toContain('this file is not read');
    for (const secret of [key, 'old times', 'another one']) expect(text).not.toContain(secret);
  });

  it('are not taken over from an unusable file', async () => {
    const store = await open(await makeSchema());
    const data = await makeData('cut', { 'fingerprint.key': 'short' });

    await expect(loadFingerprintKey(data, { store })).rejects.toMatchObject({ code: 'settings' });
    await expect(readFingerprintKey(data, store)).rejects.toMatchObject({ code: 'settings' });
    expect(await store.recall('installation/fingerprint.key')).toBeUndefined();
  });

  it('are not created by a read', async () => {
    const store = await open(await makeSchema());

    expect(await readFingerprintKey(folder, store)).toBeUndefined();
    const key = await loadFingerprintKey(folder, { store });
    expect(await readFingerprintKey(folder, store)).toEqual(key);
  });

  it('change for every process at once', async () => {
    const url = await makeSchema();
    const [first, second] = [await open(url), await open(url)];
    const readFirst = await openDashboardPassword(folder, { store: first });
    const readSecond = await openDashboardPassword(folder, { store: second });
    const before = await readFirst();

    const renewed = await renewDashboardPassword(folder, second);

    expect(renewed).not.toBe(before);
    expect([await readFirst(), await readSecond()]).toEqual([renewed, renewed]);
  });
});

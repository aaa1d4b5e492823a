import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  bindsNumbersByPosition,
  byNumber,
  type Database,
  isNumbered,
  openDatabase,
} from '../../../src/forge/platform/database.ts';

let folder: string;
let file: string;
let db: Database;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'database-'));
  file = join(folder, 'forge.db');
  db = openDatabase(file);
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true, force: true });
});

function addUser(name: string): void {
  db.run('INSERT INTO users (name, lower_name, created_at, updated_at) VALUES (?, ?, 0, 0)', name, name);
}
function names(): string[] {
  return db.all<{ name: string }>('SELECT name FROM users ORDER BY name').map((row) => row.name);
}

describe('a transaction', () => {
  it('rolls back everything when its function throws', () => {
    const work = () =>
      db.transaction(() => {
        addUser('ada');
        throw new Error('no');
      });

    expect(work).toThrow('no');
    expect(names()).toEqual([]);
  });

  it('rolls back only its own part if it is nested', () => {
    db.transaction(() => {
      addUser('ada');
      expect(() =>
        db.transaction(() => {
          addUser('bob');
          throw new Error('no');
        }),
      ).toThrow('no');
      addUser('eve');
    });

    expect(names()).toEqual(['ada', 'eve']);
  });

  it('rejects an async function', () => {
    expect(() => db.transaction(async () => addUser('ada'))).toThrow('must not return a promise');
    expect(names()).toEqual([]);
  });

  it('runs after-commit callbacks in order, except callbacks of a part that was rolled back', () => {
    const said: string[] = [];
    db.transaction(() => {
      db.afterCommit(() => said.push('first'));
      expect(() =>
        db.transaction(() => {
          db.afterCommit(() => said.push('undone'));
          throw new Error('no');
        }),
      ).toThrow('no');
      db.transaction(() => db.afterCommit(() => said.push('second')));
      said.push('before');
    });
    db.afterCommit(() => said.push('at once'));

    expect(said).toEqual(['before', 'first', 'second', 'at once']);
  });
});

describe('a database file', () => {
  it('keeps its data, and is not migrated twice', () => {
    addUser('ada');
    db.close();

    db = openDatabase(file);

    expect(names()).toEqual(['ada']);
  });

  it('of a later version is refused, with its version number in the error', () => {
    const other = new DatabaseSync(file);
    other.exec('PRAGMA user_version = 9999');
    other.close();

    expect(() => openDatabase(file)).toThrow(/schema 9999 is newer/);
  });

  it('converts booleans and absent values', () => {
    addUser('ada');
    db.run('UPDATE users SET is_admin = ?, full_name = coalesce(?, full_name)', true, undefined);

    expect(db.get('SELECT is_admin, full_name FROM users')).toEqual({ is_admin: 1, full_name: '' });
  });
});

describe('numbered parameters', () => {
  const sql = 'SELECT ?2 AS second, ?1 AS first, ?2 AS again';

  it('are bound on every Node version', () => {
    expect(db.get(sql, 'a', true)).toEqual({ second: 1, first: 'a', again: 1 });
  });

  it('are bound by name if Node does not bind them by position', () => {
    const sqlite = new DatabaseSync(':memory:');

    expect(sqlite.prepare(sql).get(...byNumber(['a', 2]))).toEqual({ second: 2, first: 'a', again: 2 });
    // Node 22 does not bind them by position, and Node 24 does. Binding by name and by position gives the same result.
    if (bindsNumbersByPosition(sqlite)) {
      expect(sqlite.prepare(sql).get('a', 2)).toEqual({ second: 2, first: 'a', again: 2 });
    }
    sqlite.close();
  });

  it('must be used for all parameters of a statement or for none', () => {
    expect(isNumbered('SELECT ?')).toBe(false);
    expect(() => isNumbered('SELECT ?1, ?')).toThrow('number all parameters or none');
  });
});

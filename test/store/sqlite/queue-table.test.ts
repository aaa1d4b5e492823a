import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { describeQueueRows } from '../queue-contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-queues-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const pathOf = (name: string): string => join(folder, name, 'reeve.db');

describeQueueRows('the SQLite store', {
  open: ({ name, ...options }) => openSqliteStore({ path: pathOf(name), ...options }),
});

it('a page of the history of one queue reads only its own rows', async () => {
  const path = pathOf('plan');
  await (await openSqliteStore({ path, role: 'worker' })).close();
  const database = new DatabaseSync(path);

  const plan = database
    .prepare(
      'EXPLAIN QUERY PLAN SELECT id FROM queue_history WHERE repository_id = ? AND base = ? AND id < ? ORDER BY id DESC LIMIT ?',
    )
    .all();
  database.close();

  expect(plan.map(({ detail }) => detail)).toEqual([expect.stringContaining('history_of_queue')]);
});

import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEndings } from '../../../src/store/sqlite/complete.ts';
import { migrate } from '../../../src/store/sqlite/migrations.ts';
import { makeContext } from './make-context.ts';

const at = new Date('2026-03-01T12:00:00.000Z');
let database: DatabaseSync;
beforeEach(() => {
  database = new DatabaseSync(':memory:');
  migrate(database, 'reeve.db');
  // Deliveries 1 and 2 are dead, 3 and 4 are settled, 5 is a settled job, 6 waits, and 7 is claimed.
  for (const [index, state] of [
    'dead',
    'dead',
    'settled',
    'settled',
    'settled',
    'accepted',
    'claimed',
  ].entries())
    database
      .prepare(
        `INSERT INTO deliveries (id, door, uuid, event_type, entry, content_type, received_at, state, routed, mark, bytes, lane,
           attempts, crashes, failing_since, settled_at, reason)
         VALUES (?, ?, 'u', 'push', 'e', 't', '2026-02-01', ?, 1, 0, 0, '7', 3, 2, '2026-02-02', '2026-02-03', 'why')`,
      )
      .run(index + 1, index === 4 ? 'cron' : 'webhook', state);
});
afterEach(() => database.close());
const states = () =>
  database
    .prepare('SELECT state FROM deliveries ORDER BY id')
    .all()
    .map(({ state }) => state);
const audit = () => database.prepare('SELECT at, by, action, object FROM audit ORDER BY number').all();
const endings = () => createEndings(makeContext(database, () => at));
const all = ['1', '2', '3', '4', '5', '6', '7', '999', 'nonsense'];

describe('a redrive', () => {
  it('revives dead deliveries, and counts them', async () => {
    const { redrive } = endings();

    expect(await redrive(all, 'ada')).toBe(2);

    expect(states()).toEqual([
      'accepted',
      'accepted',
      'settled',
      'settled',
      'settled',
      'accepted',
      'claimed',
    ]);
  });

  it('revives settled deliveries only on request, and never a settled job', async () => {
    const { redrive } = endings();

    expect(await redrive(all, 'ada', { settled: true })).toBe(4);

    expect(states()).toEqual([
      'accepted',
      'accepted',
      'accepted',
      'accepted',
      'settled',
      'accepted',
      'claimed',
    ]);
  });

  it('starts with all attempts and without a lane, and records who requested it', async () => {
    await endings().redrive(['2', '3'], 'ada', { settled: true });

    const row = database.prepare(
      `SELECT routed, attempts, crashes, failing_since, settled_at, reason, redriven_at, redriven_by
       FROM deliveries WHERE id = ?`,
    );
    const life = {
      routed: 0,
      attempts: 0,
      crashes: 0,
      failing_since: null,
      settled_at: null,
      reason: null,
      redriven_at: at.toISOString(),
      redriven_by: 'ada',
    };
    expect([row.get(2), row.get(3)]).toEqual([life, life]);
    expect(row.get(1)).toMatchObject({ attempts: 3, reason: 'why', redriven_at: null });
  });

  it('is in the audit log once for each revived delivery', async () => {
    const { redrive } = endings();

    await redrive(all, 'ada');
    await redrive(all, 'bob', { settled: true });

    expect(audit()).toEqual(
      [
        ['ada', '1'],
        ['ada', '2'],
        ['bob', '3'],
        ['bob', '4'],
      ].map(([by, id]) => ({ at: at.toISOString(), by, action: 'redrive', object: `delivery ${id}` })),
    );
  });
});

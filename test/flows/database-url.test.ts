import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { unreserved } from '../../src/engine/budget/budgets.ts';
import type { Run } from '../../src/engine/record.ts';
import { reeve } from '../support/command.ts';
import { at, type Harness, startHarness } from '../support/harness.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { markRule, startSecondServer } from '../support/second-server.ts';

/** Changes per hour. */
const hour = { all: 12, repository: 12 };

describe('a bot with DATABASE_URL', () => {
  let database: Awaited<ReturnType<typeof startPostgres>>;
  let harness: Harness;
  beforeAll(async () => {
    // A separate server that syncs to disk, because the bot refuses one that does not.
    database = await startPostgres();
    harness = await startHarness({
      on: 'the embedded forge',
      server: { databaseUrl: database.url, budgets: { delivery: { all: 50, repository: 20 }, hour } },
      rules: markRule('kept'),
    });
  });
  afterAll(async () => {
    await harness.close();
    await database.stop();
  });

  it('handles deliveries, keeps no store in its folder, and continues after a restart', async () => {
    const first = await harness.ada.call(operations.createIssue, { params: at, body: { title: 'one' } });
    await harness.waitForRun(({ changes }) => changes.length === 1);
    await harness.restart();
    const second = await harness.ada.call(operations.createIssue, { params: at, body: { title: 'two' } });
    await harness.waitForRun(
      ({ trigger }) => trigger.item === `issue ${second.number}` || harness.runs.length > 1,
    );
    await harness.idle();

    expect(await harness.labelsOf(first.number ?? 0)).toEqual(['kept']);
    expect(await harness.labelsOf(second.number ?? 0)).toEqual(['kept']);
    expect((await harness.server.store.listRuns()).items.length).toBeGreaterThanOrEqual(2);
    expect(existsSync(join(harness.data, 'reeve.db'))).toBe(false);
  });

  it('keeps its data in a database that commands also use; commands for SQLite files name their replacement', async () => {
    const environment = { ...harness.environment, DATABASE_URL: database.url };
    const [run] = (await harness.server.store.listRuns()).items;

    const paused = await reeve(['pause', 'acme/shop'], { environment });
    const explained = await reeve(['explain', run?.id ?? ''], { environment });
    const copied = await reeve(['store', 'backup', join(harness.data, 'copy.db')], { environment });

    expect([paused.status, explained.status, copied.status], paused.error + explained.error).toEqual([
      0, 0, 2,
    ]);
    expect(await harness.server.store.listPauses()).toHaveLength(1);
    expect(copied.error).toContain('pg_dump');
    await harness.server.store.resume({ kind: 'repository', name: 'acme/shop' }, 'test');
  });

  it('shares one hourly budget with a second process, which handles part of the deliveries', async () => {
    const before = harness.runs.length;
    const others: Run[] = [];
    const second = await startSecondServer(harness, database.url, {
      budgets: { delivery: { all: 50, repository: 20 }, hour },
      onRun: (run) => void others.push(run),
    });
    try {
      const titles = Array.from({ length: 40 }, (_, place) => `many ${place}`);
      await Promise.all(
        titles.map((title) => harness.ada.call(operations.createIssue, { params: at, body: { title } })),
      );
      await harness.idle();

      // Two changes of the budget were used above, and a part of the budget is reserved.
      const room = unreserved(hour).all - 2;
      const applied = [...harness.runs.slice(before), ...others].flatMap(({ outcomes }) => outcomes);
      expect(applied.filter(({ status }) => status === 'applied')).toHaveLength(room);
      expect(await second.store.counts()).toMatchObject({ deferred: 40 - room, dead: 0, retry: 0 });
      expect([harness.runs.length - before, others.length]).not.toContain(0);
    } finally {
      await second.stop();
    }
  });
});

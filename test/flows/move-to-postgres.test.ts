import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { reeve } from '../support/command.ts';
import { at, type Harness, startHarness } from '../support/harness.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { markRule } from '../support/second-server.ts';

describe('a bot that moves from SQLite to PostgreSQL', () => {
  let database: Awaited<ReturnType<typeof startPostgres>>;
  let harness: Harness;
  let databaseUrl: string | undefined;
  beforeAll(async () => {
    // A separate server that syncs to disk, because the bot refuses one that does not.
    database = await startPostgres();
    harness = await startHarness({
      on: 'the embedded forge',
      server: {
        // The URL is read at each start.
        get databaseUrl() {
          return databaseUrl;
        },
      },
      rules: markRule('kept'),
    });
  });
  afterAll(async () => {
    await harness.close();
    await database.stop();
  });

  it('handles its waiting deliveries after the move, and shows earlier ones under their old id', async () => {
    const open = (title: string) => harness.ada.call(operations.createIssue, { params: at, body: { title } });
    const first = await open('one');
    await harness.waitForRun(({ changes }) => changes.length === 1);
    await harness.idle();
    const before = await harness.server.store.listDeliveries({ limit: 500 });
    harness.proxy.decide = () => ({ kind: 'answer', status: 502, body: 'out' });
    const second = await open('two');
    await harness.forge.settle();
    const environment = { OLD: harness.data, NEW: database.url };
    const move = () => reeve(['store', 'copy', '--from', 'env:OLD', '--to', 'env:NEW'], { environment });

    const refused = await move();
    let moved: Awaited<typeof refused> | undefined;
    await harness.restart({
      async between() {
        moved = await move();
        databaseUrl = database.url;
        harness.proxy.decide = () => ({ kind: 'pass' });
      },
    });
    await expect.poll(() => harness.labelsOf(second.number)).toEqual(['kept']);
    await harness.idle();

    expect(refused).toMatchObject({ status: 2, error: expect.stringContaining('in use by another Reeve') });
    expect(moved?.status, moved?.error).toBe(0);
    expect(await harness.labelsOf(first.number)).toEqual(['kept']);
    const after = await harness.server.store.listDeliveries({ limit: 500 });
    expect(after.items.slice(-before.items.length)).toEqual(before.items);
    expect(after.items.length).toBeGreaterThan(before.items.length);
    expect((await harness.server.store.counts()).dead).toBe(0);
  });
});

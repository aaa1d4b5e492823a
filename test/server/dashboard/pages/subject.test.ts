import { expect, it } from 'vitest';
import { makeDelivery, makeRun } from '../../../store/make.ts';
import { serveDashboard, tableCells } from '../../../support/serve-dashboard.ts';
import { makeQueueEntry, saveQueueState } from '../../../support/stored-queue.ts';

const dashboard = serveDashboard();
const route = { lane: '7#1', repositoryId: 7, repository: 'acme/shop' };

/** Stores a delivery about `acme/shop#1` and settles it with a run; returns their ids. */
async function settle(): Promise<{ id: string; run: string }> {
  const { store } = dashboard;
  const { id } = await store.accept(makeDelivery({ eventType: 'pull_request', route }));
  await store.route([{ id, to: 'lane', ...route }]);
  const [claim] = await store.claim({ limit: 1, leaseMs: 1_000 });
  if (claim === undefined) throw new Error('nothing to claim');
  const run = makeRun({});
  const trigger = { ...run.trigger, delivery: id, kind: 'pull_request', activity: 'opened' };
  await store.settle(claim, [{ ...run, trigger }]);
  return { id, run: run.id };
}

it('shows all runs about a pull request, its place in the queue, what it waits for, and the next look', async () => {
  const { store } = dashboard;
  const { id, run } = await settle();
  const { id: job } = await store.enqueue({
    door: 'cron',
    uuid: 'look',
    kind: 'waiting',
    lane: '7#1',
    receivedAt: new Date(),
    payload: {},
  });
  await store.route([{ id: job, to: 'lane', lane: '7#1', repositoryId: 7 }]);
  const [claim] = await store.claim({ limit: 1, leaseMs: 1_000 });
  if (claim === undefined) throw new Error('nothing to claim');
  await store.defer(claim, [], { afterMs: 60_000, why: 'its merge waits for ci/test' });
  await saveQueueState(store, { entries: [makeQueueEntry(5), makeQueueEntry(1)] });

  const { text } = await dashboard.operator.get('/subjects/acme/shop/issues/1');

  expect(text).toContain('<h1>Pull request acme/shop#1</h1>');
  expect(text).toContain('href="https://forge.example.org/acme/shop/pulls/1"');
  expect(text).toMatch(new RegExp(`Next look</dt><dd><time [^>]*>.*?</time> by job <a [^>]*>${job}</a>`));
  expect(text).toMatch(/number 2 in the <a href="[./]+queues">merge queue<\/a> of main/);
  const cells = tableCells(text);
  expect(cells[0]?.slice(0, 2)).toEqual(['queued', '#5']);
  expect(cells[1]?.slice(0, 2)).toEqual(['deferred', 'its merge waits for ci/test']);
  expect(cells[2]).toMatchObject({ 1: 'pull_request.opened', 4: id });
  expect(text).toContain(`/runs/${run}"`);
  expect(text).toContain('simulate?kind=pull_request&amp;subject=acme%2Fshop%231');
});

it('says what would make something appear about an item without runs', async () => {
  const { status, text } = await dashboard.operator.get('/subjects/acme/shop/issues/4711');

  expect(status).toBe(200);
  expect(text).toContain('A run appears here when the forge sends an event about it');
  expect(text).toContain('Nothing about it waits');
  expect(text).toContain('<dt>Next look</dt><dd>at its next event</dd>');
});

it.each([
  '/subjects/acme/shop/wiki/1',
  '/subjects/acme/shop/pulls/x',
  '/subjects/acme/a%20b/pulls/1',
  '/subjects/acme/shop/pulls/0',
])('%s does not exist', async (path) => {
  expect((await dashboard.operator.get(path)).status).toBe(404);
});

it('shows only the newest 50 runs, and says how many there are', async () => {
  await settle();
  const item = 'acme/shop#1';
  const runs = Array.from({ length: 60 }, () => makeRun({})).map((run) => ({
    ...run,
    trigger: { ...run.trigger, item },
  }));
  await dashboard.store.appendRuns(runs, { repositoryId: 7 });

  const { text } = await dashboard.operator.get('/subjects/acme/shop/pulls/1');

  expect(tableCells(text)).toHaveLength(50);
  expect(text).toContain('These are the newest 50 of 61 runs');
});

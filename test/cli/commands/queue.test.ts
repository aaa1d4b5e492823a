import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mergeQueueKind } from '../../../src/actions/queue-desk.ts';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { queueStateOf, readQueueJob } from '../../../src/work/merge-queue/state.ts';
import { reeve } from '../../support/command.ts';
import { makeQueueEntry, saveQueueState } from '../../support/stored-queue.ts';

let data: string;
let store: Store;
const by = `${userInfo().username} by reeve queue`;
const main = { repositoryId: 7, base: 'main' };
const hoursAgo = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
const run = (...args: readonly string[]) => reeve(['queue', ...args], { environment: { REEVE_DATA: data } });
const numbers = async (key = main): Promise<readonly number[]> =>
  queueStateOf(await store.readQueue(key)).entries.map(({ number }) => number);
const stateOf = async (key = main) => queueStateOf(await store.readQueue(key));
const auditOf = async () => (await store.listAudit()).map(({ by, action, object }) => [by, action, object]);
/** Returns the queues that a running server was woken for, each with its pull request. */
const wakes = async (): Promise<readonly unknown[]> => {
  const { items } = await store.listDeliveries();
  const bodies = await Promise.all(items.map(({ id }) => store.readDelivery(id)));
  return bodies.map((job) => {
    expect(job?.eventType).toBe(mergeQueueKind);
    const { repository, base, number } = readQueueJob(JSON.parse(Buffer.from(job?.body ?? []).toString()));
    return [repository, base, number];
  });
};
const shop = { id: 7, owner: 'acme', name: 'shop' };

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'reeve-data-'));
  // Holds the store open, like a running server.
  store = await openSqliteStore({ path: join(data, 'reeve.db'), role: 'worker' });
  const first = makeQueueEntry(11, {
    enteredAt: hoursAgo(3),
    turnAt: hoursAgo(1),
    sinceAt: hoursAgo(1),
    phase: 'testing',
  });
  const others = [12, 13].map((number) => makeQueueEntry(number, { enteredAt: hoursAgo(2.5) }));
  await saveQueueState(store, { entries: [first, ...others] });
});
afterEach(async () => {
  await store.close();
  await rm(data, { recursive: true, force: true });
});

describe('queue list', () => {
  it('prints positions, phases and what each pull request waits for, while another process holds the store', async () => {
    const { status, out, error } = await run('list');

    expect({ status, error }).toEqual({ status: 0, error: '' });
    expect(out.trimEnd().split('\n')).toEqual([
      'acme/shop main: 3 pull requests',
      'position  pull request  priority  phase    queued  waits for',
      '1         #11           0         testing  3 h     its checks',
      '2         #12           0         waiting  2 h     #11',
      '3         #13           0         waiting  2 h     #11 and 1 more',
    ]);
  });

  it('prints who paused a queue and who wrote to its base, and replaces control characters', async () => {
    const since = hoursAgo(1);
    const blocked = { commit: 'c'.repeat(40), since };
    const hostile = 'ada\u001b[2J\n::error::';
    await saveQueueState(
      store,
      { paused: { by: hostile, at: since } },
      { repositoryId: 8, repository: 'acme/web' },
    );
    await saveQueueState(
      store,
      {
        blocked,
        entries: [makeQueueEntry(4, { phase: 'testing', turnAt: since, removal: { by: hostile } })],
      },
      { repositoryId: 9, repository: 'acme/site', base: 'release' },
    );

    const { out } = await run('list');

    expect(out).toContain(`acme/web main: 0 pull requests\n  paused since ${since} by ada·[2J·::error::\n`);
    expect(out).toContain(
      `waits since ${since} for checks of ${'c'.repeat(40)}, which someone else wrote to release`,
    );
    expect(out).toContain('its removal, asked for by ada·[2J·::error::');
    expect(out).not.toContain('\u001b');
  });

  it('prints one JSON list, for one repository or one branch', async () => {
    const release = { base: 'release', repositoryId: 7 };
    await saveQueueState(store, { entries: [makeQueueEntry(20)] }, release);
    await saveQueueState(
      store,
      { entries: [makeQueueEntry(20)] },
      { repositoryId: 8, repository: 'acme/web' },
    );
    const namesOf = async (...args: readonly string[]) => {
      const found: { repository: string; base: string }[] = JSON.parse(
        (await run('list', '--json', ...args)).out,
      );
      return found.map(({ repository, base }) => `${repository} ${base}`);
    };

    expect(await namesOf()).toEqual(['acme/shop main', 'acme/shop release', 'acme/web main']);
    expect(await namesOf('ACME/Shop')).toEqual(['acme/shop main', 'acme/shop release']);
    expect(await namesOf('acme/shop', '--branch', 'release')).toEqual(['acme/shop release']);
    expect(await namesOf('--branch', 'main')).toEqual(['acme/shop main', 'acme/web main']);
    expect(await namesOf('acme/none')).toEqual([]);
    const [queue] = JSON.parse((await run('list', 'acme/web', '--json')).out);
    expect(queue).toEqual({
      repositoryId: 8,
      repository: 'acme/web',
      pauses: [],
      base: 'main',
      entries: [
        {
          position: 1,
          number: 20,
          priority: 0,
          phase: 'waiting',
          waitsFor: 'the next look at the queue',
          head: makeQueueEntry(20).head,
          rule: 'rules/merge.yml#queue',
          enteredAt: '2030-01-01T00:00:00.000Z',
        },
      ],
    });
  });

  it('prints no idle queues', async () => {
    await saveQueueState(store, { entries: [] });

    expect(await run('list')).toMatchObject({
      status: 0,
      out: 'No merge queue contains a pull request or is paused.\n',
    });
    expect(await run('list', '--json')).toMatchObject({ status: 0, out: '[]\n' });
  });

  it('prints the history, newest first', async () => {
    expect((await run('list', '--history')).out).toBe('Nothing has happened in a merge queue yet.\n');
    const at = new Date('2030-01-01T00:00:00Z');
    await saveQueueState(
      store,
      {},
      {
        events: [
          { at, kind: 'entered', number: 11, text: 'entered with priority 0' },
          { at, kind: 'left', number: 11, reason: 'checks', text: 'the check \u001b[31mci failed' },
          { at, kind: 'paused', text: 'paused', by: 'ada' },
        ],
      },
    );

    expect((await run('list', 'acme/shop', '--history')).out.trimEnd().split('\n')).toEqual([
      'acme/shop main',
      '  2030-01-01T00:00:00.000Z  paused: paused, by ada',
      '  2030-01-01T00:00:00.000Z  #11 left: the check ·[31mci failed',
      '  2030-01-01T00:00:00.000Z  #11 entered: entered with priority 0',
    ]);
    const events = JSON.parse((await run('list', '--history', '--json')).out);
    expect(events[1]).toMatchObject({ kind: 'left', reason: 'checks', number: 11, repository: 'acme/shop' });
  });
});

describe('queue move', () => {
  it('moves a pull request, wakes the server, and records who moved it', async () => {
    expect(await run('move', 'acme/shop#13', '1')).toEqual({
      status: 0,
      out: '#13 is moved to position 1 in the queue of acme/shop main\n',
      error: '',
    });

    expect(await numbers()).toEqual([13, 11, 12]);
    // The pull request whose turn it was waits again.
    expect((await stateOf()).entries[1]).toMatchObject({ number: 11, phase: 'waiting' });
    expect(await auditOf()).toEqual([[by, 'move', 'acme/shop#13 in the queue of main to position 1']]);
    expect(await wakes()).toEqual([[shop, 'main', 13]]);
    expect(await store.listQueueHistory()).toMatchObject([{ kind: 'moved', number: 13, by }]);
  });

  it('treats a position beyond the end as the last one', async () => {
    expect(await run('move', 'ACME/shop#11', '999')).toMatchObject({ status: 0 });

    expect(await numbers()).toEqual([12, 13, 11]);
  });

  it('changes nothing if the position is the current one', async () => {
    const { status, out } = await run('move', 'acme/shop#12', '2');

    expect([status, out]).toEqual([0, '#12 is already at this position in the queue of acme/shop main\n']);
    expect([await auditOf(), await wakes()]).toEqual([[], []]);
  });

  it('prints the queue as JSON', async () => {
    const { status, out } = await run('move', 'acme/shop#13', '1', '--json');

    expect(status).toBe(0);
    expect(JSON.parse(out)).toMatchObject([
      { changed: true, repository: 'acme/shop', base: 'main', entries: [{ number: 13 }, {}, {}] },
    ]);
  });

  it.each([
    [['acme/shop#14', '1'], 1, 'acme/shop#14 is not in a queue\n'],
    [['acme/web#11', '1'], 1, 'acme/web#11 is not in a queue\n'],
  ])('%j exits 1', async (args, status, out) => {
    expect(await run('move', ...args)).toEqual({ status, out, error: '' });
    expect(await run('move', ...args, '--json')).toMatchObject({ status: 1, out: '[]\n' });
  });

  it.each([
    [['acme/shop', '1'], 'is not a pull request: write OWNER/REPO#NUMBER'],
    [['acme/shop#0', '1'], 'is not a pull request'],
    [['acme/shop#11', '0'], 'is not a position'],
    [['acme/shop#11', 'first'], 'is not a position'],
    [['acme/shop#11'], "missing required argument 'position'"],
  ])('%j exits 2 and changes nothing', async (args, words) => {
    const { status, out, error } = await run('move', ...args);

    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(error).toContain(words);
    expect(await numbers()).toEqual([11, 12, 13]);
  });
});

describe('queue remove', () => {
  it('requests the removal of a pull request, wakes the server, and records who requested it', async () => {
    expect(await run('remove', 'acme/shop#12')).toEqual({
      status: 0,
      out: '#12 leaves the queue of acme/shop main at its next step\n',
      error: '',
    });

    expect((await stateOf()).entries[1]).toMatchObject({ number: 12, removal: { by } });
    expect(await auditOf()).toEqual([[by, 'remove', 'acme/shop#12 in the queue of main']]);
    expect(await wakes()).toEqual([[shop, 'main', 12]]);
    expect((await run('list')).out).toContain(`its removal, asked for by ${by}`);
  });

  it('reports a repeated request as such, and does not record it again', async () => {
    await run('remove', 'acme/shop#12');

    const again = await run('remove', 'acme/shop#12');

    expect(again).toMatchObject({ status: 0, out: '#12 is already leaving the queue of acme/shop main\n' });
    expect(await auditOf()).toHaveLength(1);
  });

  it('exits 1 for a pull request that is not in a queue', async () => {
    expect(await run('remove', 'acme/shop#99')).toEqual({
      status: 1,
      out: 'acme/shop#99 is not in a queue\n',
      error: '',
    });
  });
});

describe('queue pause and resume', () => {
  it('stop and restart a queue, and record who did so', async () => {
    const paused = await run('pause', 'acme/shop');
    const during = await stateOf();
    const again = await run('pause', 'acme/shop');
    const resumed = await run('resume', 'acme/shop');

    expect([paused.status, again.status, resumed.status]).toEqual([0, 0, 0]);
    expect(paused.out).toBe(
      'the queue of acme/shop main is paused: it keeps its pull requests, and reeve queue resume acme/shop ends the pause\n',
    );
    expect(again.out).toBe('the queue of acme/shop main is already paused\n');
    expect(resumed.out).toBe('the queue of acme/shop main is resumed\n');
    expect(during.paused).toMatchObject({ by });
    const after = await stateOf();
    expect(after.paused).toBeUndefined();
    // The duration of the pause does not count towards any timeout.
    expect(Date.parse(after.entries[0]?.turnAt ?? '')).toBeGreaterThanOrEqual(
      Date.parse(during.paused?.at ?? ''),
    );
    expect(await auditOf()).toEqual([
      [by, 'resume', 'queue acme/shop main'],
      [by, 'pause', 'queue acme/shop main'],
    ]);
    expect(await wakes()).toHaveLength(2);
  });

  it('apply to all queues of a repository, or to that of one branch', async () => {
    const release = { repositoryId: 7, base: 'release' };
    await saveQueueState(store, {}, release);

    await run('pause', 'acme/shop', '--branch', 'release');
    expect([(await stateOf()).paused, (await stateOf(release)).paused?.by]).toEqual([undefined, by]);
    await run('pause', 'acme/shop');
    expect((await stateOf()).paused?.by).toBe(by);
    const { out } = await run('resume', 'acme/shop', '--json');

    expect(JSON.parse(out)).toMatchObject([
      { changed: true, base: 'main' },
      { changed: true, base: 'release' },
    ]);
  });

  it('resume of a queue that is not paused exits 1', async () => {
    expect(await run('resume', 'acme/shop')).toEqual({
      status: 1,
      out: 'the queue of acme/shop main is not paused\n',
      error: '',
    });
  });

  it.each([
    [['pause', 'acme/shopp'], 'there is no merge queue of acme/shopp'],
    [['pause', 'acme/shop', '--branch', 'mian'], 'there is no merge queue of acme/shop mian'],
    [['resume', 'acme/shopp'], 'acme/shop main'],
    [['pause', 'shop'], '"shop" is not a repository name: write OWNER/REPO'],
    [['pause'], "missing required argument 'repository'"],
    [['dance'], "unknown command 'dance'"],
  ])('%j exits 2', async (args, words) => {
    const { status, out, error } = await run(...args);

    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(error).toContain(words);
    expect(await auditOf()).toEqual([]);
  });
});

it('two concurrent commands both take effect', async () => {
  const results = await Promise.all([
    run('move', 'acme/shop#13', '1'),
    run('remove', 'acme/shop#12'),
    run('pause', 'acme/shop'),
  ]);

  expect(results.map(({ status }) => status)).toEqual([0, 0, 0]);
  const state = await stateOf();
  expect(state.entries.map(({ number, removal }) => [number, removal?.by])).toEqual([
    [13, undefined],
    [11, undefined],
    [12, by],
  ]);
  expect(state.paused).toBeDefined();
  expect(await auditOf()).toHaveLength(3);
});

it('without a store, the commands report where they looked for one', async () => {
  const { status, error } = await reeve(['queue', 'list'], {
    environment: { REEVE_DATA: join(data, 'none') },
  });

  expect([status, error]).toEqual([2, expect.stringContaining('there is no store at')]);
});

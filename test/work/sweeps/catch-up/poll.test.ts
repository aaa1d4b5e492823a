import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '../../../../src/client/client.ts';
import { parsePayload } from '../../../../src/contract/events/parse-payload.ts';
import { operations } from '../../../../src/contract/operations.ts';
import type { Log } from '../../../../src/platform/log.ts';
import { createOwnNotes, type OwnNotes } from '../../../../src/work/sweeps/catch-up/own-notes.ts';
import { Poller } from '../../../../src/work/sweeps/catch-up/poll.ts';
import type { RepositorySnapshot } from '../../../../src/work/sweeps/catch-up/snapshots.ts';
import { makeReeve } from '../../../support/make-reeve.ts';
import { acme, people, type SweepHarness, startSweepHarness } from '../../../support/sweep-harness.ts';

const demo = { owner: acme, repo: 'demo' } as const;

let harness: SweepHarness;
let poller: Poller;
let ownNotes: OwnNotes;
let lines: { readonly level: string; readonly text: string }[];
let isLeader: boolean;
/** Time of the monotonic clock, which decides about the interval. */
let steadyMs = 0;

/** Creates the poller of a process. `harness.store` and the snapshots in it are those of the process before. */
function openPoller(): void {
  const { FORGE_URL: url = '', FORGE_TOKEN: token = '' } = harness.environment;
  const { clock, snapshots } = harness;
  const note = (level: string) => (_: unknown, text: string) => void lines.push({ level, text });
  const log = { info: note('info'), warn: note('warn'), error: note('error'), debug() {} } as unknown as Log;
  const client = createClient({
    url,
    credentials: { token },
    sleep: async () => {},
    onWrite: (operation, input) => ownNotes.onWrite(operation, input),
  });
  ownNotes = createOwnNotes({ client, snapshots, clock, isPolling: true });
  const store = { ...harness.store, isLeader: () => isLeader };
  const rules = { forget: () => {}, operator: () => [] };
  const served = { login: async () => people.bot, listed: ['acme/gone'] };
  const steady = { ...clock, monotonicMs: () => steadyMs };
  const reeve = makeReeve({ client, store, clock: steady, log, rules, served } as never);
  poller = new Poller(reeve, { snapshots, ownNotes, everySeconds: 60 });
  writer = client;
}
let writer: ReturnType<typeof createClient>;

beforeEach(async () => {
  harness = await startSweepHarness();
  lines = [];
  isLeader = true;
  openPoller();
});
afterEach(async () => {
  await poller.stop();
  await harness.close();
});

/** Polls, a minute later, and returns the events that this poll found. */
async function poll(): Promise<readonly string[]> {
  const before = await stored();
  harness.advance(1);
  await poller.poll();
  return (await stored()).slice(before.length);
}

/** Returns all events that polls have stored: type, activity and number. */
async function stored(): Promise<readonly string[]> {
  const { items } = await harness.store.listDeliveries({ limit: 500 });
  const found: string[] = [];
  for (const { id } of items.toSorted((a, b) => Number(a.id) - Number(b.id))) {
    const { body = new Uint8Array(), eventType } = (await harness.store.readDelivery(id)) ?? {};
    if (eventType !== 'caught-up') continue;
    const { eventType: type, payload } = parsePayload(body) as {
      eventType: string;
      payload: Record<string, unknown>;
    };
    const index =
      payload.number ??
      (payload.issue as { number?: number } | undefined)?.number ??
      payload.ref ??
      payload.context;
    found.push(`${type} ${payload.action ?? ''} ${index}`);
  }
  return found;
}

async function open(title: string): Promise<number> {
  return (await harness.ada.call(operations.createIssue, { params: demo, body: { title } })).number;
}

const edit = (index: number, body: object) =>
  harness.bot.call(operations.editIssue, { params: { ...demo, index }, body });

async function makeLabel(name: string): Promise<void> {
  await harness.bot.call(operations.createLabel, { params: demo, body: { name, color: 'ff0000' } });
}

const setLabels = (index: number, labels: string[], by = harness.bot) =>
  by.call(operations.replaceIssueLabels, { params: { ...demo, index }, body: { labels } });

/** Edits the stored snapshot of the repository, as if it were another. */
async function editSnapshot(change: (seen: RepositorySnapshot) => RepositorySnapshot): Promise<void> {
  const { id } = await harness.bot.call(operations.getRepository, { params: demo });
  await harness.snapshots.save();
  await harness.store.revise(`seen ${id}`, (seen) => change(seen as RepositorySnapshot));
}

describe('the first poll', () => {
  it('begins with what is there: issues of several pages, comments and branches are no events', async () => {
    for (let n = 0; n < 55; n += 1) await open(`${n}`);
    await harness.ada.call(operations.createComment, { params: { ...demo, index: 1 }, body: { body: 'x' } });
    const result = await poller.poll();

    expect(await stored()).toEqual([]);
    expect(result).toMatchObject({ repositories: 2, found: 0, failed: 0 });
    expect(await poll()).toEqual([]);

    await edit(1, { title: 'other' });
    expect(await poll()).toEqual(['issues edited 1']);
  });

  it('logs once what polling costs, without the pages of the first contact, and listed repositories that are hidden', async () => {
    for (let n = 0; n < 55; n += 1) await open(`${n}`);
    harness.advance(1);
    await open('later');
    const first = await poller.poll();
    const second = await poller.poll();

    expect(first.requests).toBeGreaterThan(second.requests);
    expect(first.usualRequests).toBe(second.requests);
    expect(lines.map(({ text }) => text)).toEqual([
      'could not poll a repository',
      `polling every 60 s: 2 repositories, about ${second.requests * 60} requests an hour`,
    ]);
  });
});

describe('a poll', () => {
  it('finds what happens to an item that is not kept, from its timeline', async () => {
    await makeLabel('bug');
    const numbers = [
      await open('labelled'),
      await open('edited'),
      await open('closed'),
      await open('commented'),
    ];
    await poller.poll();
    harness.advance(10);
    await open('later');
    await poll();
    // As if a thousand others had been updated since.
    await editSnapshot((seen) => ({
      ...seen,
      items: Object.fromEntries(
        Object.entries(seen.items).filter(([number]) => !numbers.includes(Number(number))),
      ),
    }));
    expect(await poll()).toEqual([]);

    const [labelled = 0, edited = 0, closed = 0, commented = 0] = numbers;
    await setLabels(labelled, ['bug']);
    await edit(edited, { body: 'new text' });
    await edit(closed, { state: 'closed' });
    await harness.ada.call(operations.createComment, {
      params: { ...demo, index: commented },
      body: { body: 'x' },
    });

    expect((await poll()).toSorted()).toEqual([
      `issue_comment created ${commented}`,
      `issue_label label_updated ${labelled}`,
      `issues closed ${closed}`,
      `issues edited ${edited}`,
    ]);
    expect(await poll()).toEqual([]);
  });

  it('finds a change that becomes visible after one with a later time', async () => {
    const index = await open('x');
    await poller.poll();
    // The forge shows a slow transaction late. Until then, the snapshot has what came after it.
    await edit(index, { title: 'slow' });
    const later = new Date(harness.now().getTime() + 20_000).toISOString();
    await editSnapshot((seen) => ({ ...seen, at: later }));

    expect(await poll()).toEqual([`issues edited ${index}`]);
  });

  it('notes the difference that a write of Reeve makes, and finds what a person changed before and after it', async () => {
    for (const name of ['own', 'before', 'after']) await makeLabel(name);
    const index = await open('x');
    await poller.poll();

    await setLabels(index, ['own'], writer);
    await writer.call(operations.editIssue, {
      params: { ...demo, index },
      body: { title: 'own', state: 'closed' },
    });
    await writer.call(operations.createComment, { params: { ...demo, index }, body: { body: 'own' } });
    expect(await poll()).toEqual([]);

    await setLabels(index, ['own', 'before']);
    await edit(index, { body: 'of a person' });
    await setLabels(index, ['before'], writer);
    await writer.call(operations.editIssue, { params: { ...demo, index }, body: { body: 'own' } });
    expect((await poll()).toSorted()).toEqual([
      `issue_label label_updated ${index}`,
      `issues edited ${index}`,
    ]);

    await setLabels(index, ['own'], writer);
    await setLabels(index, ['own', 'after']);
    expect(await poll()).toEqual([`issue_label label_updated ${index}`]);
    expect(await poll()).toEqual([]);
  });

  it('finds each time that a branch goes to a commit, also from the same commit', async () => {
    const { name } = await harness.bot.call(operations.getBranch, { params: { ...demo, branch: 'main' } });
    await poller.poll();
    const make = () =>
      harness.bot.call(operations.createBranch, {
        params: demo,
        body: { new_branch_name: 'work', old_branch_name: name },
      });
    const remove = () => harness.bot.call(operations.deleteBranch, { params: { ...demo, branch: 'work' } });
    const found: string[] = [];
    for (const change of [make, remove, make, remove]) {
      await change();
      found.push(...(await poll()));
    }

    expect(found.filter((one) => one.startsWith('create'))).toHaveLength(2);
    expect(found.filter((one) => one.startsWith('delete'))).toHaveLength(2);
  });

  it('finds that a pull request is labelled and closed within one second, in two polls', async () => {
    await makeLabel('bug');
    const body = { content: 'YQ==', message: 'work', new_branch: 'work' };
    await harness.bot.call(operations.createFile, { params: { ...demo, filepath: 'a.txt' }, body });
    const pull = { title: 'Work', head: 'work', base: 'main' };
    const { number } = await harness.bot.call(operations.createPull, { params: demo, body: pull });
    await poller.poll();
    harness.advance(1);
    await setLabels(number, ['bug']);
    await poller.poll();
    await edit(number, { state: 'closed' });
    await poller.poll();

    expect(await stored()).toEqual([
      `pull_request_label label_updated ${number}`,
      `pull_request closed ${number}`,
    ]);
  });

  it('finds no write of Reeve that comes while the repository is read', async () => {
    await makeLabel('own');
    const index = await open('x');
    await poller.poll();
    let isDone = false;
    harness.proxy.decide = ({ method, path }) => {
      // The issues have been listed, the comments have not.
      if (method !== 'GET' || !path.includes('/demo/issues/comments') || isDone) return { kind: 'pass' };
      isDone = true;
      return { kind: 'pass', before: () => setLabels(index, ['own'], writer) };
    };

    expect(await poll()).toEqual([]);
    expect(isDone).toBe(true);
    expect(await poll()).toEqual([]);
  });

  it('waits as long as the forge requests (429), and continues', async () => {
    const index = await open('x');
    await poller.poll();
    await edit(index, { title: 'other' });
    let refusals = 0;
    harness.proxy.decide = ({ path }) => {
      if (!path.includes('/demo/issues') || refusals === 2) return { kind: 'pass' };
      refusals += 1;
      return { kind: 'answer', status: 429, body: '{}', headers: { 'retry-after': '7' } };
    };
    const before = harness.now().getTime();

    expect(await poll()).toEqual([`issues edited ${index}`]);
    expect(harness.now().getTime() - before).toBeGreaterThanOrEqual(60_000 + 14_000);
  });

  it('leaves out a repository that fails, and finds its changes when it answers again', async () => {
    const index = await open('x');
    await poller.poll();
    await edit(index, { title: 'other' });
    harness.proxy.decide = ({ path }) =>
      path.includes('/demo/') ? { kind: 'answer', status: 404, body: '{}' } : { kind: 'pass' };
    expect(await poll()).toEqual([]);
    expect(await poller.poll()).toMatchObject({ repositories: 1, failed: 1 });
    harness.proxy.decide = () => ({ kind: 'pass' });

    expect(await poll()).toEqual([`issues edited ${index}`]);
  });

  it('follows a repository that is renamed, and leaves out one that is deleted', async () => {
    const index = await open('x');
    await poller.poll();
    await harness.bot.call(operations.editRepository, { params: demo, body: { name: 'renamed' } });
    await harness.bot.call(operations.editIssue, {
      params: { owner: acme, repo: 'renamed', index },
      body: { title: 'y' },
    });
    expect(await poll()).toEqual([`issues edited ${index}`]);

    await harness.bot.call(operations.deleteRepository, { params: { owner: acme, repo: 'renamed' } });
    harness.advance(1);
    expect(await poller.poll()).toMatchObject({ repositories: 1, failed: 0 });
  });

  it('writes no snapshot if nothing has changed', async () => {
    await open('x');
    await poller.poll();
    await poll();
    const { id } = await harness.bot.call(operations.getRepository, { params: demo });
    const before = await harness.store.recall(`seen ${id}`);
    await poll();

    expect(await harness.store.recall(`seen ${id}`)).toEqual(before);
  });
});

describe('a running poller', () => {
  const polls = () =>
    harness.proxy.passed.filter(({ path }) => path.includes('/demo/issues/comments')).length;
  /** Waits until the poller has looked at the clock again. */
  const look = () => new Promise((resolve) => setTimeout(resolve, 1_500));

  it('polls in its interval, and only as the leader', async () => {
    isLeader = false;
    poller.start();
    await look();
    expect(polls()).toBe(0);

    isLeader = true;
    await expect.poll(polls, { timeout: 30_000 }).toBe(1);
    steadyMs += 59_000;
    await look();
    expect(polls()).toBe(1);
    steadyMs += 1_000;
    await expect.poll(polls, { timeout: 30_000 }).toBe(2);
  });

  it('polls early after a notification, and leaves it unread', async () => {
    const index = await open('x');
    poller.start();
    await expect.poll(polls, { timeout: 30_000 }).toBe(1);
    const looks = () => harness.proxy.passed.filter(({ path }) => path.includes('/notifications')).length;
    await expect.poll(looks, { timeout: 30_000 }).toBe(1);
    // The first look has its answer.
    await look();
    harness.advance(1);
    await harness.ada.call(operations.createComment, {
      params: { ...demo, index },
      body: { body: `@${people.bot} look` },
    });
    steadyMs += 31_000;

    await expect.poll(polls, { timeout: 30_000 }).toBe(2);
    expect((await harness.bot.call(operations.countNotifications, {})).new).toBeGreaterThan(0);
    expect(
      harness.proxy.passed.filter(({ method, path }) => method !== 'GET' && path.includes('/notifications')),
    ).toEqual([]);
  });
});

it('a new process continues where the one before it stopped', async () => {
  const index = await open('x');
  await poller.poll();
  await poller.stop();
  await edit(index, { title: 'other' });
  openPoller();

  expect(await poll()).toEqual([`issues edited ${index}`]);
});

it('misses and repeats nothing if the clock of the forge is behind', async () => {
  await harness.close();
  harness = await startSweepHarness({ behindMs: 90_000 });
  openPoller();
  const index = await open('x');
  await poller.poll();
  await edit(index, { title: 'other' });
  const { number } = { number: await open('new') };

  expect((await poll()).toSorted()).toEqual([`issues edited ${index}`, `issues opened ${number}`]);
  expect(await poll()).toEqual([]);
});

import { beforeEach, describe, expect, it } from 'vitest';
import type { Cause } from '../../src/actions/change.ts';
import type { Client } from '../../src/client/client.ts';
import { type Event, parseEvent } from '../../src/contract/events/events.ts';
import { Consequences, type EventCause } from '../../src/engine/bounds/consequences.ts';
import { selectRules } from '../../src/engine/evaluate-rules.ts';
import { ReeveError } from '../../src/platform/errors.ts';
import { createRuleSet, type LoadedRule } from '../../src/rules/rule.ts';
import { makeClock } from '../support/make-clock.ts';
import { makeFacts } from '../support/make-facts.ts';

const head = 'a'.repeat(40);
const moved = 'b'.repeat(40);
/** Live commits: the head of the pull request, and the latest commit of the branch. */
const pullHead = 'e'.repeat(40);
const tip = 'f'.repeat(40);
const repository = { id: 1, full_name: 'acme/demo', owner: { id: 2 } };
const sender = { id: 9, login: 'reeve' };
const merged: Cause = { event: 'merged', number: 7, head, base: 'main' };
const updated: Cause = { event: 'updated', number: 7, head, branch: 'work' };
const because = { run: 'r1', change: 'c1' };

const onPull = (eventType: string, action: string, sha: string, number = 7, base = 'main') =>
  parseEvent(eventType, {
    action,
    number,
    pull_request: { number, head: { ref: 'work', sha }, base: { ref: base } },
    repository,
    sender,
  });
const closed = (number = 7, sha = head) => onPull('pull_request', 'closed', sha, number);
const push = (ref: string, after: string, before = head) =>
  parseEvent('push', { ref: `refs/heads/${ref}`, before, after, repository, sender });
const pushedTag = (ref: string, after: string) =>
  parseEvent('push', { ref: `refs/tags/${ref}`, before: head, after, repository, sender });
const created = (ref: string, sha: string, type = 'branch') =>
  parseEvent('create', { ref, ref_type: type, sha, repository, sender });
const removed = (ref: string) => parseEvent('delete', { ref, ref_type: 'branch', repository, sender });

let stored: Map<string, unknown>;
let nowMs: number;
let isShared: boolean;
/** Runs while a process waits. */
let sleep: (ms: number) => Promise<void>;
let live: object;
let asked: number;
/** Path parameters of the last request. */
let askedFor: unknown;
const client = {
  async call(_operation: unknown, { params }: { params: unknown }) {
    asked += 1;
    askedFor = params;
    if (live instanceof Error) throw live;
    return live;
  },
} as unknown as Client;
/** Opens the record of our changes, as a process does when it starts. */
const start = () =>
  new Consequences(
    {
      isShared,
      recall: async (key) => stored.get(key),
      async revise(key, edit) {
        stored.set(key, structuredClone(edit(stored.get(key))));
        return stored.get(key);
      },
    },
    makeClock({ now: () => new Date(nowMs), sleep: (ms) => sleep(ms) }),
  );
const begin = async (book: ReturnType<typeof start>, causes: Cause, more: Partial<EventCause> = {}) =>
  book.begin(1, { because, causes, rules: ['r.yml#merge'], depth: 1, ...more });
beforeEach(() => {
  stored = new Map();
  isShared = false;
  sleep = async (ms) => {
    nowMs += ms;
  };
  nowMs = Date.parse('2026-03-01T12:00:00Z');
  live = { merge_commit_sha: moved, head: { sha: pullHead }, commit: { id: tip } };
  asked = 0;
});

describe('an event caused by our own account', () => {
  it.each<[string, Cause, Event]>([
    ['the end of a pull request that it merged', merged, closed()],
    ['the push of its merge commit', merged, push('main', moved)],
    [
      'the new head of a pull request that it updated',
      { event: 'updated', number: 7, head, branch: 'work' },
      onPull('pull_request_sync', 'synchronized', moved),
    ],
    [
      'the push to the branch that it updated',
      { event: 'updated', number: 7, head, branch: 'work' },
      push('work', pullHead),
    ],
    ['the branch that it made', { event: 'created', branch: 'work' }, created('work', moved)],
    ['the push of the branch that it made', { event: 'created', branch: 'work' }, push('work', tip)],
    ['the branch that it deleted', { event: 'deleted', branch: 'work' }, removed('work')],
    [
      'the pull request that it opened',
      { event: 'opened', head: 'work', base: 'main' },
      onPull('pull_request', 'opened', head, 12),
    ],
  ])('is a consequence: %s', async (_title, causes, event) => {
    const book = start();
    (await begin(book, causes))();

    expect(await book.find(event, client)).toEqual({ because, rules: ['r.yml#merge'], depth: 1 });
    // The result is the same after a restart, and for a redelivery.
    expect(await start().find(event, client)).toMatchObject({ because });
  });

  it.each<[string, Cause, Event]>([
    ['another pull request', merged, closed(8)],
    ['another head', merged, closed(7, moved)],
    ['another activity', merged, onPull('pull_request', 'edited', head)],
    ['another commit on the base', merged, push('main', 'c'.repeat(40))],
    ['another branch', merged, push('release', moved)],
    ['another branch that was made', { event: 'created', branch: 'work' }, created('other', moved)],
    [
      'a branch that was made where it deleted one',
      { event: 'deleted', branch: 'work' },
      created('work', moved),
    ],
    ['another commit on the branch that it made', { event: 'created', branch: 'work' }, push('work', head)],
    ['another deleted branch', { event: 'deleted', branch: 'work' }, removed('other')],
    ['a deleted branch that it made', { event: 'created', branch: 'work' }, removed('work')],
    ['a tag of that name', { event: 'created', branch: 'work' }, created('work', moved, 'tag')],
    ['the end of one that it updated', updated, closed()],
    ['a new head of one that it merged', merged, onPull('pull_request_sync', 'synchronized', moved)],
    ['the same head of one that it updated', updated, onPull('pull_request_sync', 'synchronized', head)],
    ['another activity of one that it updated', updated, onPull('pull_request', 'edited', moved)],
    [
      'another activity of one that it opened',
      { event: 'opened', head: 'work', base: 'main' },
      onPull('pull_request', 'edited', head, 12),
    ],
    [
      'another head branch',
      { event: 'opened', head: 'other', base: 'main' },
      onPull('pull_request', 'opened', head, 12),
    ],
    [
      'a tag, where the updated head is in a fork',
      { event: 'updated', number: 7, head },
      pushedTag('v1', pullHead),
    ],
    ['an event outside of repositories', merged, { ...closed(), repository: undefined }],
    [
      'another base',
      { event: 'opened', head: 'work', base: 'main' },
      onPull('pull_request', 'opened', head, 12, 'release'),
    ],
  ])('is not a consequence: %s', async (_title, causes, event) => {
    const book = start();
    (await begin(book, causes))();

    expect(await book.find(event, client)).toBeUndefined();
  });

  describe('for a commit made by a change', () => {
    const committed: Cause = { event: 'committed', branch: 'main', head, message: 'Keep files' };
    const shown = (message: string, parents: readonly string[]) => ({
      sha: moved,
      commit: { message },
      parents: parents.map((sha) => ({ sha })),
    });

    it('is recognised by the commit in the response, without a request', async () => {
      const book = start();
      await (await begin(book, committed))({ commit: { sha: moved } });

      expect(await book.find(push('main', moved), client)).toMatchObject({ because });
      expect(await start().find(push('main', moved), client)).toMatchObject({ because });
      expect(asked).toBe(0);
      live = shown('Keep files', [head]);
      expect(await book.find(push('main', 'c'.repeat(40)), client)).toBeUndefined();
      expect(await book.find(push('release', moved), client)).toBeUndefined();
    });

    it.each([
      ['its message and its parent', shown('Keep files\n', [head]), true],
      ['another message', shown('By hand', [head]), false],
      ['another parent', shown('Keep files', ['c'.repeat(40)]), false],
      ['two parents', shown('Keep files', [head, 'c'.repeat(40)]), false],
      ['nothing', {}, false],
      ['no message', { parents: [{ sha: head }] }, false],
    ])('is found by parent and message if the response was lost: %s', async (_, found, isIt) => {
      const book = start();
      await (await begin(book, { ...committed, message: '\nKeep files' } as Cause))({ commit: { sha: '' } });
      live = found;

      expect(await book.find(push('main', moved), client)).toEqual(
        isIt ? { because, rules: ['r.yml#merge'], depth: 1 } : undefined,
      );
      expect(askedFor).toEqual({ owner: 'acme', repo: 'demo', sha: moved });
    });

    it('is not searched for if the push starts from another commit', async () => {
      const book = start();
      await (await begin(book, committed))();
      live = shown('Keep files', [head]);

      expect(await book.find(push('main', moved, 'c'.repeat(40)), client)).toBeUndefined();
      expect(asked).toBe(0);
    });
  });

  it.each<[string, Cause, string, (sha: string) => object, unknown]>([
    ['merged', merged, 'main', (sha) => ({ merge_commit_sha: sha }), { index: 7 }],
    ['updated', updated, 'work', (sha) => ({ head: { sha } }), { index: 7 }],
    [
      'made',
      { event: 'created', branch: 'work' },
      'work',
      (sha) => ({ commit: { id: sha } }),
      { branch: 'work' },
    ],
  ])('matches one push, found by the live commit: %s', async (_title, causes, branch, commitOf, params) => {
    const book = start();
    // The response to a change of another kind may contain a commit, but not the one that the change made.
    await (await begin(book, causes))({ commit: { sha: head } });
    live = commitOf(moved);
    expect(await book.find(push(branch, moved), client)).toMatchObject({ because });
    expect(askedFor).toEqual({ owner: 'acme', repo: 'demo', ...(params as object) });

    live = commitOf(tip);
    expect(await book.find(push(branch, tip), client)).toBeUndefined();
  });

  it('matches one creation of a branch, and no second creation with a different commit', async () => {
    const book = start();
    await (await begin(book, { event: 'created', branch: 'work' }))();
    expect(await book.find(created('work', moved), client)).toMatchObject({ because });
    expect(await book.find(created('work', tip), client)).toBeUndefined();
  });

  it('is not a consequence if the created branch is gone, and is undecided if the forge cannot answer', async () => {
    const book = start();
    await (await begin(book, { event: 'created', branch: 'work' }))();
    for (const lacking of [{}, new ReeveError('forge-not-found', '404')]) {
      live = lacking;
      expect(await book.find(push('work', tip), client)).toBeUndefined();
    }
    live = new ReeveError('forge-unavailable', '502');
    await expect(book.find(push('work', tip), client)).rejects.toThrow('502');
  });

  it('is not a consequence if our account updates the branch a second time: the change is bound to the first commit', async () => {
    const book = start();
    (await begin(book, { event: 'updated', number: 7, head, branch: 'work' }))();
    await book.find(onPull('pull_request_sync', 'synchronized', moved), client);

    const later = onPull('pull_request_sync', 'synchronized', 'd'.repeat(40));
    expect(await book.find(later, client)).toBeUndefined();
  });

  it('is decided only after the response to the change', async () => {
    const book = start();
    live = { merge_commit_sha: null };
    const end = await begin(book, merged);
    const endOther = await begin(book, { event: 'deleted', branch: 'other' });
    const found = book.find(push('main', moved), client);
    await endOther();
    const later = book.find(push('main', moved), client);
    // One turn of the event loop completes everything that is not awaited.
    await new Promise(setImmediate);
    expect(asked).toBe(0);
    live = { merge_commit_sha: moved };
    await end();

    expect(await Promise.all([found, later])).toMatchObject([{ because }, { because }]);
  });

  describe('of a change that another process sends', () => {
    beforeEach(() => {
      isShared = true;
    });

    it('waits for the response to that change, and not for later changes', async () => {
      const [one, two] = [start(), start()];
      live = { merge_commit_sha: null };
      const end = await begin(one, merged);
      let looks = 0;
      sleep = async (ms) => {
        nowMs += ms;
        looks += 1;
        if (looks === 2)
          await begin(one, { event: 'deleted', branch: 'other' }, { because: { run: 'r2', change: 'c1' } });
        if (looks !== 3) return;
        live = { merge_commit_sha: moved };
        await end();
      };

      expect(await two.find(push('main', moved), client)).toMatchObject({ because });
      expect(looks).toBe(3);
    });

    it.each([
      { run: 'r1', change: 'c2' },
      { run: 'r2', change: 'c1' },
    ])('is not settled by another change made at the same instant: %j', async (other) => {
      const one = start();
      const end = await begin(one, merged);
      const endOther = await begin(one, { event: 'deleted', branch: 'other' }, { because: other });
      await endOther();
      let looks = 0;
      sleep = async () => {
        looks += 1;
        if (looks === 3) await end();
      };

      expect(await start().find(push('main', moved), client)).toMatchObject({ because });
      expect(looks).toBe(3);
    });

    it('waits no longer than the maximum duration of a request if the process died', async () => {
      await begin(start(), merged);
      const beganMs = nowMs;

      expect(await start().find(closed(), client)).toMatchObject({ because });
      expect(nowMs - beganMs).toBe(60_000);
    });

    it('stops waiting when the signal aborts, even if the clock of the other process is ahead', async () => {
      nowMs += 600_000;
      await begin(start(), merged);
      nowMs -= 600_000;
      const stop = new AbortController();
      let looks = 0;
      sleep = async () => {
        looks += 1;
        if (looks === 5) stop.abort(new Error('stopped'));
        stop.signal.throwIfAborted();
      };
      await expect(start().find(closed(), client, stop.signal)).rejects.toThrow('stopped');

      sleep = async () => {};
      expect(await start().find(closed(), client)).toMatchObject({ because });
    });

    it('is found among changes that several processes stored', async () => {
      const [one, two] = [start(), start()];
      for (const [number, book] of [one, two, one].entries()) {
        await (
          await begin(
            book,
            { ...merged, number: number + 1 },
            { because: { run: `r${number}`, change: '1' } },
          )
        )();
      }
      for (const number of [1, 2, 3]) {
        expect(await two.find(closed(number), client)).toMatchObject({ because: { run: `r${number - 1}` } });
      }
    });
  });

  it('costs no request if we know of no change of our own', async () => {
    expect(await start().find(push('main', moved), client)).toBeUndefined();
    expect(asked).toBe(0);
  });

  it('keeps up to a hundred changes of a repository for a day', async () => {
    const book = start();
    for (let number = 1; number <= 150; number += 1) (await begin(book, { ...merged, number } as Cause))();

    expect(await book.find(closed(150), client)).toBeDefined();
    expect(await book.find(closed(50), client)).toBeUndefined();
    nowMs += 90_000_000;
    (await begin(book, { ...merged, number: 200 } as Cause))();
    expect(stored.get('own changes 1')).toHaveLength(1);
  });
});

describe('a chain of changes', () => {
  const rule = (name: string): LoadedRule =>
    ({
      id: `r.yml#${name}`,
      name,
      source: 'r.yml',
      level: 'operator',
      on: [{ family: 'pull_request' }],
      schedules: [],
      scopes: [],
      steps: [],
    }) as unknown as LoadedRule;
  const consider = (cause: EventCause | undefined) => {
    const { considered, decided } = selectRules({
      event: closed(),
      rules: createRuleSet([rule('merge'), rule('tidy')]),
      facts: makeFacts({}, { subject: { kind: 'pull_request', index: 7 } }),
      account: { id: 9 },
      cause,
    });
    return { runs: considered.map((one) => one.rule.name), own: decided.map(({ reason }) => reason) };
  };

  it('runs the rules that are not part of it, and no rule if the causing change is unknown', () => {
    expect(consider(undefined)).toEqual({ runs: [], own: ['own', 'own'] });
    expect(consider({ because, rules: ['r.yml#merge'], depth: 1 })).toEqual({ runs: ['tidy'], own: ['own'] });
    expect(consider({ because, rules: ['r.yml#merge', 'r.yml#tidy'], depth: 2 })).toEqual({
      runs: [],
      own: ['own', 'own'],
    });
  });

  it('ends at depth three', async () => {
    const book = start();
    (await begin(book, merged, { depth: 3 }))();
    (await begin(book, { ...merged, number: 8 } as Cause, { depth: 4 }))();

    expect(await book.find(closed(7), client)).toMatchObject({ depth: 3 });
    expect(await book.find(closed(8), client)).toBe('deep');
  });
});

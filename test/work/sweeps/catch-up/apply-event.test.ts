import { describe, expect, it } from 'vitest';
import { type Event, parseEvent } from '../../../../src/contract/events/events.ts';
import { differencesOf } from '../../../../src/work/sweeps/catch-up/catch-up.ts';
import {
  applyNote,
  type CurrentRepository,
  noteOf,
  type RepositorySnapshot,
  toItemSnapshot,
} from '../../../../src/work/sweeps/catch-up/snapshots.ts';

const at = '2026-05-04T10:00:00Z';
const zeros = '0'.repeat(40);
const repository = { id: 1, full_name: 'acme/demo', owner: { id: 2, login: 'acme' } };

const pull = (given: object = {}): Record<string, unknown> => ({
  number: 7,
  state: 'open',
  title: 'Work',
  body: '',
  labels: [],
  updated_at: '2026-05-04T11:00:00Z',
  created_at: '2026-05-04T09:00:00Z',
  base: { ref: 'main' },
  head: { sha: 'aaa' },
  ...given,
});

const seenWith = (item: object | undefined): RepositorySnapshot => {
  const known = toItemSnapshot(item, 'pull_request');
  return { at, refs: { main: 'c1' }, tags: { v1: 't1' }, items: known ? { 7: known } : {} };
};

const liveWith = (
  given: Partial<CurrentRepository> & { pull?: Record<string, unknown> },
): CurrentRepository => ({
  refs: { main: 'c1' },
  tags: { v1: { id: 't1', commit: 't1' } },
  items: given.pull ? [{ kind: 'pull_request', number: 7, value: given.pull }] : [],
  ...given,
});

function applyEvent(seen: RepositorySnapshot, event: Event): RepositorySnapshot {
  const note = noteOf(event, new Date(at));
  if (note === undefined) return seen;
  const after = applyNote(seen, note);
  // A note is applied twice if a process dies between the two writes.
  expect(applyNote(after, note)).toEqual(after);
  return after;
}

/** Returns the differences found after an event was handled, each as event type with activity or ref. */
const foundAfter = (seen: RepositorySnapshot, live: CurrentRepository): readonly string[] =>
  differencesOf(seen, live).map(({ eventType, payload }) => `${eventType} ${payload.action ?? payload.ref}`);

describe('a delivery that arrives before catching up does not hide', () => {
  const pushed = pull({ head: { sha: 'bbb' }, labels: [{ name: 'blocked' }] });
  const hear = (
    seen: RepositorySnapshot,
    eventType: string,
    action: string,
    now: object,
  ): RepositorySnapshot =>
    applyEvent(
      seen,
      parseEvent(eventType, { action, number: 7, pull_request: now, repository, sender: null }),
    );

  it.each([
    {
      what: 'a push to the pull request that it labels',
      known: pull(),
      now: pushed,
      left: ['pull_request_sync synchronized'],
    },
    {
      what: 'that the pull request it labels was opened',
      known: undefined,
      now: { ...pushed, created_at: '2026-05-04T10:30:00Z' },
      left: ['pull_request opened'],
    },
    {
      what: 'that it was closed',
      known: pull({ labels: [] }),
      now: pull({ state: 'closed', labels: [{ name: 'blocked' }] }),
      left: ['pull_request closed'],
    },
    {
      what: 'nothing where there was nothing',
      known: pull(),
      now: pull({ labels: [{ name: 'blocked' }] }),
      left: [],
    },
  ])('$what', ({ known, now, left }) => {
    const seen = hear(seenWith(known), 'pull_request_label', 'label_updated', now);

    expect(foundAfter(seen, liveWith({ pull: now }))).toEqual(left);
  });

  it('a push before the push of the delivery', () => {
    const event = parseEvent('push', { ref: 'refs/heads/main', before: 'c2', after: 'c3', repository });

    const seen = applyEvent(seenWith(undefined), event);

    expect(foundAfter(seen, liveWith({ refs: { main: 'c3' } }))).toEqual(['push refs/heads/main']);
  });
});

describe('refs', () => {
  it.each([
    { what: 'a tag that is new', tags: { v1: 't1', v2: 't2' }, found: ['push refs/tags/v2', 'create v2'] },
    { what: 'a tag that moved', tags: { v1: 't9' }, found: ['push refs/tags/v1', 'create v1'] },
    { what: 'a tag that is gone', tags: {}, found: ['push refs/tags/v1', 'delete v1'] },
  ])('are found: $what', ({ tags, found }) => {
    const live = Object.fromEntries(Object.entries(tags).map(([name, id]) => [name, { id, commit: id }]));

    expect(foundAfter(seenWith(undefined), liveWith({ tags: live }))).toEqual(found);
  });

  it('are recognised by the id of an annotated tag as well as by its commit', () => {
    const live = liveWith({ tags: { v1: { id: 'object', commit: 't1' } } });

    expect(foundAfter(seenWith(undefined), live)).toEqual([]);
  });

  it('of tags become the baseline if they were never read', () => {
    const { tags: _, ...old } = seenWith(undefined);

    expect(foundAfter(old, liveWith({ tags: {} }))).toEqual([]);
  });

  it.each([
    { kind: 'push', payload: { ref: 'refs/tags/v2', before: zeros, after: 't2' } },
    { kind: 'create', payload: { ref: 'v2', ref_type: 'tag', sha: 't2' } },
  ])('that a $kind reported are not found again', ({ kind, payload }) => {
    const seen = applyEvent(seenWith(undefined), parseEvent(kind, { ...payload, repository }));

    const tags = { v1: { id: 't1', commit: 't1' }, v2: { id: 't2', commit: 't2' } };
    expect(foundAfter(seen, liveWith({ tags }))).toEqual([]);
  });
});

describe('a pull request', () => {
  it('that received a push and was then closed is found as both events', () => {
    const live = liveWith({ pull: pull({ state: 'closed', head: { sha: 'bbb' } }) });

    expect(foundAfter(seenWith(pull()), live)).toEqual([
      'pull_request_sync synchronized',
      'pull_request closed',
    ]);
  });

  it('that was opened, received a push and was closed meanwhile is found as all three events', () => {
    const value = pull({ state: 'closed', created_at: '2026-05-04T10:30:00Z', merge_base: 'base' });
    const live = liveWith({ items: [{ kind: 'pull_request', number: 7, value, hasMoved: true }] });

    expect(foundAfter(seenWith(undefined), live)).toEqual([
      'pull_request opened',
      'pull_request_sync synchronized',
      'pull_request closed',
    ]);
    expect(differencesOf(seenWith(undefined), live)[1]?.payload).toMatchObject({
      before: 'base',
      after: 'aaa',
    });
  });

  it('that was migrated together with its new repository is not reported', () => {
    const seen: RepositorySnapshot = { ...seenWith(undefined), at: '2026-05-04T10:30:00Z', isNew: true };

    expect(foundAfter(seen, liveWith({ pull: pull() }))).toEqual(['repository created']);
  });
});

import { describe, expect, it } from 'vitest';
import { memoryDateOf } from '../../src/store/action-memory.ts';
import { contentFingerprint, copyWindowMs, digestOfBody } from '../../src/store/fingerprint.ts';
import { incidentsOf } from '../../src/store/incidents.ts';
import { isolationMsOf, Leases, leaseLost, nextSuspected } from '../../src/store/leases.ts';
import { standardRetention } from '../../src/store/prune.ts';
import { isAtRest } from '../../src/store/queues.ts';
import { deliveryOf, deliveryWithBodyOf, encodeJob, pageSizeOf, rowNumberOf } from '../../src/store/rows.ts';
import { samplePointOf, sampleSeconds } from '../../src/store/samples.ts';
import type { Claim, NewJob } from '../../src/store/store.ts';
import {
  decodeHeaders,
  encodeHeaders,
  headerSetId,
  KnownHeaderSets,
} from '../../src/store/stored-headers.ts';

const at = new Date('2026-03-01T12:00:00.000Z');

it.each([
  [{ at: '2026-03-01', more: 1 }, '2026-03-01'],
  [{ at: 7 }, undefined],
  [{ since: '2026-03-01' }, undefined],
  [null, undefined],
  [undefined, undefined],
  ['at', undefined],
  [7, undefined],
])('the date in the plain data %j is %s', (value, date) => {
  expect(memoryDateOf(value)).toBe(date);
});

it.each([
  [{ entries: [], outbox: [] }, true],
  [{ entries: [], outbox: [], paused: null, blocked: null }, true],
  [{ entries: [{}], outbox: [] }, false],
  [{ entries: [], outbox: [{}] }, false],
  [{ entries: [], outbox: [], paused: { by: 'ada' } }, false],
  [{ entries: [], outbox: [], blocked: { commit: 'c' } }, false],
  [{ outbox: [] }, false],
  [{ entries: '', outbox: '' }, false],
  [{}, false],
  [null, false],
  ['entries', false],
])('a queue with the state %j: at rest is %s', (state, isRest) => {
  expect(isAtRest(state)).toBe(isRest);
});

describe('a content fingerprint', () => {
  it('differs by event type, bytes and length, and is a safe integer', () => {
    const body = Buffer.from('{}');
    const marks = [
      contentFingerprint('push', body),
      contentFingerprint('issues', body),
      contentFingerprint('push', Buffer.from('[]')),
      contentFingerprint('push', Buffer.alloc(2 ** 20 + 2)),
    ];

    expect(new Set(marks).size).toBe(4);
    expect(marks.map((mark) => Math.floor(mark / 2 ** 32))).toEqual([2, 2, 2, 2]);
    expect(copyWindowMs).toBe(60_000);
    expect(digestOfBody(body).toString('hex')).toMatch(/^44136fa355b3678a/);
  });
});

describe('a job', () => {
  const job: NewJob = {
    door: 'cron',
    uuid: 'u',
    kind: 'sweep',
    lane: 'l',
    receivedAt: at,
    payload: { a: 1 },
  };

  it.each([
    [{}, '{"a":1}'],
    [{ payload: undefined }, 'null'],
  ])('with %j has its payload as its body', (given, text) => {
    expect(encodeJob({ ...job, ...given }).toString()).toBe(text);
  });

  it.each([
    [{ lane: '' }, /sweep has no lane/],
    [{ payload: () => 1 }, /payload of job sweep is not plain data/],
  ])('with %j is refused', (given, message) => {
    expect(() => encodeJob({ ...job, ...given })).toThrow(
      expect.objectContaining({ code: 'internal', message: expect.stringMatching(message) }),
    );
  });
});

it.each([
  ['1', 1],
  ['007', 7],
  ['999999999999999', 999_999_999_999_999],
  ['1234567890123456', -1],
  ['1x', -1],
  ['x1', -1],
  ['-1', -1],
  ['1.5', -1],
  ['', -1],
])('the row number of the id %j is %i', (id, number) => {
  expect(rowNumberOf(id)).toBe(number);
});

it.each([
  [undefined, 50],
  [0, 1],
  [-3, 1],
  [7.9, 7],
  [500, 500],
  [501, 500],
])('a page with the limit %s has %i items', (limit, size) => {
  expect(pageSizeOf(limit)).toBe(size);
});

it('the instant of a sample is stored to the second, and its amount is read as a number', () => {
  const instant = new Date(at.getTime() + 999);

  expect(sampleSeconds(instant)).toBe(at.getTime() / 1_000);
  expect(samplePointOf({ at: sampleSeconds(instant), name: 'load', amount: 7n })).toEqual({
    at,
    name: 'load',
    amount: 7,
  });
});

it('ended deliveries are kept for 30 days, dead ones for 90, up to 5 GiB', () => {
  const dayMs = 86_400_000;

  expect(standardRetention).toEqual({ settledMs: 30 * dayMs, deadMs: 90 * dayMs, maxBytes: 5_368_709_120 });
});

describe('a suspected delivery', () => {
  it.each([
    [0, 10_000],
    [1, 10_000],
    [2, 20_000],
    [3, 40_000],
    [7, 600_000],
    [100, 600_000],
  ])('with suspicion %i runs alone for %i ms', (suspicion, ms) => {
    expect(isolationMsOf(suspicion)).toBe(ms);
  });

  it.each([
    [[], undefined],
    [[1, 1, 1], 1],
    [[2, 2, 2], 3],
    [[2, 2, 3], 1],
    [[4, 1, 3], 3],
  ])('that has the next turn among suspicions %j is number %s', (suspicions, id) => {
    expect(nextSuspected(suspicions.map((suspicion, index) => ({ id: index + 1, suspicion })))).toBe(id);
  });
});

describe('leases', () => {
  const claim = (lease: string) => ({ id: '7', lease }) as Claim;

  it('end at their instant, and can be extended only before', () => {
    const leases = new Leases();
    leases.grant('a', 100);
    leases.grant('b', 200);

    expect([leases.endedBy(99), leases.endedBy(100), leases.endedBy(200)]).toEqual([[], ['a'], ['a', 'b']]);
    leases.extend(claim('a'), 99, 50);
    expect([leases.endedBy(148), leases.endedBy(149)]).toEqual([[], ['a']]);
    for (const late of [() => leases.extend(claim('a'), 149, 50), () => leases.extend(claim('c'), 1, 50)])
      expect(late).toThrow(expect.objectContaining({ code: 'lease-lost' }));
    expect(leaseLost(claim('a')).message).toContain('delivery 7');
  });

  it('are known until they end, individually or all at once, and leases that end in the meantime are noted', () => {
    const leases = new Leases();
    for (const lease of ['a', 'b', 'c']) leases.grant(lease, 100);
    leases.end('a');
    const ends = leases.noteEnds();

    leases.end('b');
    leases.end('unknown');

    expect([...ends]).toEqual(['b']);
    expect(['a', 'b', 'c'].map((lease) => leases.has(lease))).toEqual([false, false, true]);
    expect([...leases.noteEnds()]).toEqual([]);
    leases.clear();
    expect(leases.has('c')).toBe(false);
    expect(leases.endedBy(1_000)).toEqual([]);
  });
});

describe('a stored row', () => {
  const row = {
    id: 7,
    door: 'cron',
    uuid: 'u',
    event_type: 'sweep',
    entry: 'e',
    content_type: 't',
    received_at: at.toISOString(),
    state: 'retry',
    bytes: 3,
    lane: null,
    repository_id: null,
    repository: null,
    attempts: 2,
    crashes: 1,
    failing_since: null,
    retry_at: at.toISOString(),
    settled_at: null,
    reason: null,
    copy_of: null,
    repeat_of: 5,
    checkpoint: '{"page":2}',
    redriven_at: null,
    redriven_by: null,
  };
  const none = {
    lane: undefined,
    repositoryId: undefined,
    repository: undefined,
    failingSince: undefined,
    settledAt: undefined,
    reason: undefined,
    copyOf: undefined,
    redrivenAt: undefined,
    redrivenBy: undefined,
  };

  it('is read as a delivery with every member, and null as undefined', () => {
    expect(deliveryOf(row)).toEqual({
      ...none,
      id: '7',
      door: 'cron',
      uuid: 'u',
      eventType: 'sweep',
      entry: 'e',
      contentType: 't',
      receivedAt: at,
      state: 'retry',
      bytes: 3,
      attempts: 2,
      crashes: 1,
      retryAt: at,
      repeatOf: '5',
      checkpoint: { page: 2 },
    });
    expect(deliveryOf({ ...row, repository_id: 9, checkpoint: null })).toMatchObject({
      repositoryId: 9,
      checkpoint: undefined,
    });
  });

  it.each([
    ['cli', 'cli', 'accepted', 'accepted'],
    ['webhook', 'webhook', 'dead', 'dead'],
    ['door of a later version', 'webhook', 'state of a later version', 'dead'],
  ])('with door %j is read as %s, with state %j as %s', (door, asDoor, state, asState) => {
    expect(deliveryOf({ ...row, door, state })).toMatchObject({ door: asDoor, state: asState });
  });

  it('is read with its body, or with an empty one', () => {
    const body = new Uint8Array([1, 2]);

    expect(deliveryWithBodyOf({ ...row, body }).body).toBe(body);
    expect(deliveryWithBodyOf({ ...row, body: null }).body).toEqual(new Uint8Array());
  });
});

it('stored incidents are read with their subject, except those of kinds that only a later version knows', () => {
  const row = {
    kind: 'sweep-failed',
    key: 'k',
    count: 2,
    first_at: at.toISOString(),
    last_at: at.toISOString(),
    subject: null,
    details: '{"reason":"r","level":"operator"}',
  };
  const incident = {
    kind: 'sweep-failed',
    key: 'k',
    count: 2,
    firstAt: at,
    lastAt: at,
    reason: 'r',
    level: 'operator',
  };

  expect(incidentsOf([row, { ...row, kind: 'toString' }, { ...row, subject: '7#1' }])).toStrictEqual([
    incident,
    { ...incident, subject: '7#1' },
  ]);
});

describe('headers', () => {
  it('are read as they were written, with values that refer to their delivery filled in', () => {
    const text = encodeHeaders(
      [
        ['user-agent', 'a: b=c'],
        ['x-empty', ''],
        ['cookie'],
        ['x-gitea-delivery', { same: 'uuid' }],
        ['content-length', { same: 'bytes' }],
      ],
      0,
    );
    const headers = [
      { name: 'user-agent', value: 'a: b=c' },
      { name: 'x-empty', value: '' },
      { name: 'cookie' },
      { name: 'x-gitea-delivery', value: 'u' },
      { name: 'content-length', value: '12' },
    ];

    expect(decodeHeaders(text, { uuid: 'u', bytes: 12 })).toEqual({ headers, leftOut: 0 });
    expect(decodeHeaders(`${text}:3\n`, { uuid: 'u', bytes: 12 })).toEqual({ headers, leftOut: 3 });
    expect(encodeHeaders([['cookie']], 12)).toBe('cookie\n:12\n');
  });

  it('are stored once, again after more than a day in either direction, and again after they were forgotten', () => {
    const known = new KnownHeaderSets();
    const dayMs = 86_400_000;
    const find = (text: string, ms = 0) => known.find(text, new Date(at.getTime() + ms));
    const id = headerSetId('a');

    expect(find('a')).toEqual({ id, isNew: true });
    known.add('a', id, at);
    expect([find('a'), find('a', dayMs), find('a', -dayMs)]).toEqual(Array(3).fill({ id, isNew: false }));
    expect([find('a', dayMs + 1), find('a', -dayMs - 1), find('b')].map(({ isNew }) => isNew)).toEqual([
      true,
      true,
      true,
    ]);
    for (let count = 1; count < 1_000; count += 1) known.add(`text ${count}`, count, at);
    expect([find('a').isNew, find('text 999').isNew]).toEqual([false, false]);
    known.add('one more', 1, at);
    expect([find('a').isNew, find('one more').isNew]).toEqual([true, false]);
    known.clear();
    expect(find('one more').isNew).toBe(true);
  });
});

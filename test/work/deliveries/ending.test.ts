import { describe, expect, it } from 'vitest';
import { ReeveError } from '../../../src/platform/errors.ts';
import type { Claim } from '../../../src/store/store.ts';
import { AttemptAborted, type Ending, endingOf } from '../../../src/work/deliveries/attempt.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const claim = { id: '1', attempts: 1, receivedAt: now } as Claim;
const unreachable = new ReeveError('forge-unreachable', 'no answer');

type Given = { blame?: 'host' | 'item'; isTrial?: boolean; isTooOld?: boolean };
const end = (error: unknown, { blame = 'item', isTrial = false, isTooOld = false }: Given = {}): Ending =>
  endingOf({
    error,
    claim,
    blame,
    isTrial,
    now,
    backoff: (_claim, { retryAfterMs }) =>
      isTooOld ? { giveUp: 'older than 7 days' } : { afterMs: retryAfterMs ?? 10_000 },
  });

describe('the ending of an attempt that threw', () => {
  it.each<[string, unknown, Given, Ending]>([
    ['lost its lease', new AttemptAborted('lost', 'gone'), {}, { how: 'lost' }],
    ['wrote without its lease', new ReeveError('lease-lost', 'gone'), {}, { how: 'lost' }],
    ['gave back its work', new AttemptAborted('released', 'x'), {}, { how: 'released', reason: 'x' }],
    ['met the stop', new ReeveError('stopped', 'stopping'), {}, { how: 'released', reason: 'stopping' }],
    ['hung', new AttemptAborted('retry', 'slow'), {}, { how: 'retry', afterMs: 10_000, reason: 'slow' }],
    ['met a defect', new TypeError('x'), {}, { how: 'dead', reason: 'unexpected: x' }],
    ['was refused', new ReeveError('forge-refused', 'no'), {}, { how: 'dead', reason: 'no' }],
    [
      'was asked to wait',
      new ReeveError('forge-throttled', 'slow down', { retryAfterMs: 90_000 }),
      {},
      { how: 'retry', afterMs: 90_000, reason: 'slow down' },
    ],
    ['failed alone', unreachable, {}, { how: 'retry', afterMs: 10_000, reason: 'no answer' }],
    [
      'failed alone, and is too old',
      unreachable,
      { isTooOld: true },
      { how: 'dead', reason: 'older than 7 days; last: no answer' },
    ],
    ['failed with the forge', unreachable, { blame: 'host' }, { how: 'released', reason: 'no answer' }],
    [
      'failed with the forge, as the one that was tried',
      unreachable,
      { blame: 'host', isTrial: true },
      { how: 'released', reason: 'no answer' },
    ],
    [
      'failed with the forge, and is too old: it waits',
      unreachable,
      { blame: 'host', isTooOld: true },
      { how: 'released', reason: 'no answer' },
    ],
    [
      'failed with the forge as the one that was tried, and is too old',
      unreachable,
      { blame: 'host', isTrial: true, isTooOld: true },
      { how: 'dead', reason: 'older than 7 days; last: no answer' },
    ],
    [
      'failed for a reason of its own during an outage',
      new ReeveError('forge-throttled', 'slow down'),
      { blame: 'host' },
      { how: 'retry', afterMs: 10_000, reason: 'slow down' },
    ],
  ])('because it %s', (_title, error, given, expected) => {
    expect(end(error, given)).toEqual(expected);
  });
});

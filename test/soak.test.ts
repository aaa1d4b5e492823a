import { describe, expect, it } from 'vitest';
import { findSpellings, proveSearch, spellingsOf } from '../scripts/prove/drills/canary.ts';
import { judgeSoak, type Sample, type SoakRecord, trendOf } from '../scripts/soak/judge.ts';

const mib = 2 ** 20;
const hourMs = 3_600_000;

/** Creates the samples of an hour in which the memory grows by this many MiB, with small variations. */
const samplesOf = (growthMib: number): readonly Sample[] =>
  Array.from({ length: 100 }, (_, at) => {
    const bytes = (50 + (growthMib * at) / 100 + (at % 3) * 0.2) * mib;
    const sizes = { databaseBytes: 500 * mib, logBytes: 20 * mib };
    const memory = { heapBytes: bytes, committedBytes: bytes, externalBytes: 0, rssBytes: 2 * bytes };
    return {
      ...{ ...memory, atMs: (at * hourMs) / 100, delayMs: 20, mappedBytes: 0 },
      used: at % 5 === 0 ? { ...memory, delayMs: 20 } : undefined,
      ...{ ...sizes, descriptors: 40, waiting: 3 },
    };
  });
const record: SoakRecord = {
  ...{ minutes: 60, perSecond: 100, samples: samplesOf(0), answers: [5, 9], acknowledged: 360_000 },
  ...{ unexpected: [], lost: 0, unfinished: 0, dead: 0, edits: 900, wrong: 0, effectMs: [80], restarts: 60 },
  ...{ descriptors: [30, 30] as const, days: 40, oldestDays: 10.5 },
};
const missed = (changes: Partial<SoakRecord>): readonly string[] =>
  judgeSoak({ ...record, ...changes }).flatMap(({ name, ok }) => (ok === false ? name : []));

describe('a soak', () => {
  it('passes if nothing grows and nothing is lost', () => {
    expect(missed({})).toEqual([]);
  });

  it('does not report pages that the heap keeps as a leak', () => {
    const samples = samplesOf(20).map((sample) => {
      const used = sample.used && { ...sample.used, rssBytes: 100 * mib };
      return { ...sample, heapBytes: 50 * mib, used };
    });

    expect(missed({ samples })).toEqual([]);
  });

  it('reports which part of the memory grows', () => {
    const parts = judgeSoak({ ...record, samples: samplesOf(20) }).find(({ name }) =>
      name.includes('by part'),
    );

    expect(parts?.value).toBe(
      'heap +19.9, buffers and libraries +0.0, mapped files +0.0, the rest +19.9 MiB/h',
    );
  });

  it.each<[string, Partial<SoakRecord>, string]>([
    ['memory that grows by 20 MiB an hour', { samples: samplesOf(20) }, 'heap in use after collection'],
    [
      'memory beside the heap that grows by 20 MiB an hour',
      { samples: samplesOf(20).map((sample) => ({ ...sample, heapBytes: 50 * mib })) },
      'resident memory without free pages of the heap',
    ],
    ['one descriptor that stays open', { descriptors: [30, 31] }, 'open descriptors at rest'],
    ['a delivery that is lost', { lost: 1 }, 'acknowledged and lost'],
    ['a delivery that waits for ever', { unfinished: 1 }, 'acknowledged and lost'],
    ['a label that is wrong', { wrong: 1 }, 'issues with wrong labels'],
    ['a delivery that was kept too long', { oldestDays: 20 }, 'age of the oldest settled delivery'],
    ['a forged delivery that was accepted', { unexpected: [['forged 202', 1]] }, 'answers other than'],
    [
      'a log above 64 MiB',
      { samples: samplesOf(0).map((sample) => ({ ...sample, logBytes: 65 * mib })) },
      'write-ahead log',
    ],
    [
      'resident memory that is never measured without free pages',
      { samples: samplesOf(0).map((sample) => ({ ...sample, used: undefined })) },
      'resident memory without free pages of the heap',
    ],
    ['no samples', { samples: [] }, 'heap in use after collection'],
  ])('misses its target because of %s', (_title, changes, name) => {
    expect(missed(changes)).toEqual(expect.arrayContaining([expect.stringContaining(name)]));
  });

  it('measures growth by least squares', () => {
    const points = [0, 1, 2, 3].map((hour) => ({ atMs: hour * hourMs, value: 7 + 2 * hour }));

    expect(trendOf(points).perHour).toBeCloseTo(2);
    expect(trendOf(points).errorPerHour).toBeCloseTo(0);
  });
});

describe('the search for secrets', () => {
  const secret = 'b32a77f0c1+/&"e4d9a11e7c55aa0b';

  it('finds a secret in every spelling, even a part of a secret, and finds nothing in other texts', () => {
    expect(() => proveSearch(secret)).not.toThrow();
    for (const before of ['', 'x', 'reeve:', 'ab']) {
      const header = `Basic ${Buffer.from(`${before}${secret}\n`).toString('base64')}`;
      expect(findSpellings(spellingsOf(secret), Buffer.from(header))).not.toEqual([]);
    }
    expect(findSpellings(spellingsOf(secret), Buffer.from(secret.slice(0, 15)))).toEqual([]);
  });
});

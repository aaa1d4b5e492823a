import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toInstant } from '../../../src/forge/platform/time.ts';
import { type Account, startEmbedded } from '../../support/contract-forge.ts';

describe('the date of a commit created through the API', () => {
  let forge: Awaited<ReturnType<typeof startEmbedded>>;
  let ada: Account;
  beforeAll(async () => {
    forge = await startEmbedded();
    ada = await forge.makeUser();
  });
  afterAll(() => forge.close());

  it.each([
    '0001-01-01T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '1970-01-01T00:00:00Z',
    '1970-01-01T01:00:00+02:00',
  ])('D2: is the current time instead of %s, which git cannot sort by or which means unset', async (date) => {
    const start = Math.floor(Date.now() / 1000) * 1000;
    const repository = await forge.makeRepository(ada, { auto_init: true });
    const body = { content: '', message: 'x', dates: { author: date, committer: date } };

    const written = await forge.ask('POST', `/repos/${repository}/contents/a.txt`, { as: ada, body });
    const branches = await forge.ask('GET', `/repos/${repository}/branches`, { as: ada });

    expect([written.status, branches.status]).toEqual([201, 200]);
    expect(Date.parse(written.json.commit.author.date)).toBeGreaterThanOrEqual(start);
    expect(Date.parse(branches.json[0].commit.timestamp)).toBeGreaterThanOrEqual(start);
  });

  it('D2: may be the last date that a response can contain', async () => {
    const repository = await forge.makeRepository(ada, { auto_init: true });
    const date = '9999-12-31T23:59:59Z';
    const body = { content: '', message: 'x', dates: { author: date, committer: date } };

    const written = await forge.ask('POST', `/repos/${repository}/contents/a.txt`, { as: ada, body });
    const branches = await forge.ask('GET', `/repos/${repository}/branches`, { as: ada });

    expect([written.json.commit.committer.date, branches.status]).toEqual([date, 200]);
  });
});

it.each([
  [0, '1970-01-01T00:00:00Z'],
  [253_402_300_799, '9999-12-31T23:59:59Z'],
  [253_402_300_800, '0001-01-01T00:00:00Z'],
  [-62_135_596_801, '0001-01-01T00:00:00Z'],
  [Number.MAX_SAFE_INTEGER, '0001-01-01T00:00:00Z'],
])('a time of %d seconds is written as %s', (seconds, text) => {
  expect(toInstant(seconds)).toBe(text);
});

import { describe, expect, it } from 'vitest';
import { createEntryScope, examineSecrets, isWholeScope } from '../../../src/server/receiver/secrets.ts';
import { makeEntry } from './make.ts';

describe('examineSecrets', () => {
  it('accepts usable entries', () => {
    expect(
      examineSecrets([makeEntry(), makeEntry({ name: 'acme', scope: ['acme/*', 'umbra/x'], hmac: [] })]),
    ).toEqual([]);
    expect(examineSecrets([makeEntry()])).toEqual([]);
    // Any bytes can sign; 24 of them are enough.
    expect(examineSecrets([makeEntry({ authorization: [], hmac: [`${' '.repeat(22)}\u00fc`] })])).toEqual([]);
  });

  it('refuses to start without any value', () => {
    const none =
      'no webhook secret is configured: set WEBHOOK_AUTHORIZATION or WEBHOOK_SECRET, or name entries, or REEVE_POLL, to poll without hooks';
    expect(examineSecrets([])).toEqual([none]);
    expect(examineSecrets([makeEntry({ authorization: [], hmac: [] })])).toEqual([
      none,
      'webhook entry "all" has neither an authorization nor an hmac value: it would accept every request',
    ]);
  });

  it('reports all problems at once, without any of the values', () => {
    const short = 'only-twenty-three-bytes';

    const problems = examineSecrets([
      makeEntry({ name: '', scope: [] }),
      makeEntry({ name: 'acme', scope: ['acme', 'acme/{x'], hmac: [short, ''] }),
      makeEntry({ name: 'acme', authorization: ['Bearer with a trailing blank here '], hmac: [] }),
    ]);

    expect(problems).toEqual([
      'webhook entry 1 has no name',
      'webhook entry 1 has no scope: name repositories ("acme/*"), or "*" for all',
      'webhook entry "acme": scope "acme" covers no repository; write "acme/*"',
      expect.stringMatching(/^webhook entry "acme": scope "acme\/\{x" is not a pattern/),
      'webhook entry "acme": hmac value 1 has 23 bytes, at least 24 are needed',
      'webhook entry "acme": hmac value 2 has 0 bytes, at least 24 are needed',
      'webhook entry "acme" appears twice',
      'webhook entry "acme": authorization value 1 has characters that a header cannot contain',
    ]);
    expect(problems.join()).not.toContain(short);
  });
});

describe('a scope', () => {
  it('of several patterns covers what any of the patterns covers', () => {
    const covers = createEntryScope(['acme/*', 'umbra/x']);

    expect([covers('acme/tool'), covers('umbra/x'), covers('umbra/y')]).toEqual([true, true, false]);
    expect([isWholeScope(['acme/*', '*']), isWholeScope(['acme/*', 'umbra/*'])]).toEqual([true, false]);
  });

  it.each(['*', '**', '*/*'])('%s is the whole forge, including events without a repository', (pattern) => {
    const covers = createEntryScope([pattern]);

    expect(isWholeScope([pattern])).toBe(true);
    expect([covers('acme/tool'), covers(undefined)]).toEqual([true, true]);
  });

  it("with an owner covers that owner's repositories, but no event without a repository", () => {
    const covers = createEntryScope(['acme/*']);

    expect([
      covers('acme/tool'),
      covers('ACME/Tool'),
      covers('acmeX/tool'),
      covers('x/acme'),
      covers(undefined),
    ]).toEqual([true, true, false, false, false]);
  });
});

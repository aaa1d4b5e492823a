import { describe, expect, it } from 'vitest';
import { createEntryScope, isWholeScope } from '../../src/receiver/scope.ts';
import { examineSecrets } from '../../src/receiver/secrets.ts';
import { makeEntry } from './make.ts';

describe('examineSecrets', () => {
  it('finds nothing wrong with entries that can be used', () => {
    expect(
      examineSecrets([makeEntry(), makeEntry({ name: 'acme', scope: ['acme/*', 'umbra/x'], hmac: [] })]),
    ).toEqual([]);
  });

  it('refuses to start without any value', () => {
    expect(examineSecrets([])).toHaveLength(1);
    expect(examineSecrets([makeEntry({ authorization: [], hmac: [] })])).toHaveLength(2);
  });

  it('tells all problems at once, and repeats no value', () => {
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
  it.each(['*', '**', '*/*'])('%s is the whole forge, events without a repository included', (pattern) => {
    const covers = createEntryScope([pattern]);

    expect(isWholeScope([pattern])).toBe(true);
    expect([covers('acme/tool'), covers(undefined)]).toEqual([true, true]);
  });

  it('that names an owner covers its repositories and nothing without one', () => {
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

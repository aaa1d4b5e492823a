import { describe, expect, it } from 'vitest';
import {
  type CaseChange,
  compareCase,
  eventTypeFor,
  loadRuleTests,
  runRuleTests,
} from '../../src/rules/rule-tests.ts';
import type { Verdict } from '../../src/rules/verdict.ts';
import { fileOf, ruleOf } from './support/load.ts';

const text = `cases:
  - name: labels documentation
    event: { kind: pull_request, activity: synchronized, payload: { number: 7 } }
    facts: { files: [docs/a.md] }
    now: 2026-01-01T00:00:00Z
    expect:
      changes: [{ action: set-labels, target: "label:docs", value: true }]
      verdicts: { "rules/other.yml#one": unmatched }
  - name: recorded
    event: { kind: push, file: push.json }
    expect: { failed: one }
`;

const change = (target: string, value: unknown = true): CaseChange => ({
  rules: ['rules/test.yml#one'],
  step: '1 say',
  action: 'set-labels',
  target,
  value,
});
const verdict = (name: string, kind: Verdict['verdict'], reason?: string): Verdict => ({
  rule: `rules/test.yml#${name}`,
  source: 'rules/test.yml',
  commit: '',
  line: 1,
  verdict: kind,
  findings: [],
  ...(reason !== undefined && { reason }),
});

describe('a file of rule tests', () => {
  it('returns its cases, ready to run', () => {
    expect(loadRuleTests({ path: 'a.test.yml', text })).toMatchObject({
      problems: [],
      cases: [
        {
          name: 'labels documentation',
          line: 2,
          eventType: 'pull_request_sync',
          payload: { action: 'synchronized', number: 7 },
          facts: { files: ['docs/a.md'] },
          now: new Date('2026-01-01T00:00:00Z'),
        },
        { name: 'recorded', eventType: 'push', file: 'push.json' },
      ],
    });
  });

  it.each([
    [
      'an unknown key',
      'cases:\n  - { name: a, event: { kind: push, file: a }, expects: {}, expect: {} }',
      '2:48 unknown-key',
    ],
    [
      'an unknown kind',
      'cases:\n  - { name: a, event: { kind: pushed, file: a }, expect: {} }',
      '2:31 value',
    ],
    ['neither payload nor file', 'cases:\n  - { name: a, event: { kind: push }, expect: {} }', '2:23 value'],
    [
      'an unknown verdict',
      'cases:\n  - { name: a, event: { kind: push, file: a }, expect: { verdicts: { a: met } } }',
      '2:73 value',
    ],
    ['no cases', 'cases: []', '1:8 value'],
  ])('is refused for %s', (_, broken, expected) => {
    const [problem] = loadRuleTests({ path: 'a.test.yml', text: broken }).problems;

    expect(`${problem?.line}:${problem?.column} ${problem?.code}`).toBe(expected);
  });

  it.each([
    ['pull_request', 'synchronized', 'pull_request_sync'],
    ['pull_request', 'opened', 'pull_request'],
    ['pull_request_review', 'rejected', 'pull_request_review_rejected'],
    ['pull_request_sync', '', 'pull_request_sync'],
    ['push', '', 'push'],
  ])('derives the Event-Type header for %s %s', (kind, activity, expected) => {
    expect(eventTypeFor(kind, activity)).toBe(expected);
  });
});

describe('a comparison', () => {
  it('compares changes as a set and ignores fields that the case does not name', () => {
    const changes = [change('label:b'), change('label:a')];

    expect(
      compareCase(
        { changes: [{ action: 'set-labels' }, { target: 'label:b' }] },
        { rules: [], changes, refused: [] },
      ),
    ).toEqual([]);
  });

  it('reports missing changes, unexpected changes and different verdicts', () => {
    const outcome = {
      rules: [verdict('one', 'failed', 'no access')],
      changes: [change('label:a', false)],
      refused: [],
    };

    expect(
      compareCase({ changes: [{ target: 'label:a', value: true }], verdicts: { two: 'matched' } }, outcome),
    ).toEqual([
      'missing change: {"target":"label:a","value":true}',
      'unexpected change: {"action":"set-labels","target":"label:a","value":false}',
      'rule two: expected matched, was skipped',
      'rule one failed (no access)',
    ]);
  });
});

describe('a refused change', () => {
  const outcome = {
    rules: [verdict('one', 'matched')],
    changes: [],
    refused: [{ change: change('label:a'), why: 'one and two want different values' }],
  };

  it('is a difference, whatever else is expected', () => {
    for (const expected of [{}, { changes: [] }, { verdicts: { one: 'matched' as const } }]) {
      expect(compareCase(expected, outcome)).toEqual([
        'refused change: {"action":"set-labels","target":"label:a","value":true} (one and two want different values); if that is expected, list it under expect.refused',
      ]);
    }
  });

  it('is not a difference if the case names it, by any number of fields', () => {
    for (const named of [{}, { target: 'label:a' }, { value: true, why: 'different values' }]) {
      expect(compareCase({ refused: [named] }, outcome)).toEqual([]);
    }
  });

  it('that the case names but the run lacks is a difference', () => {
    expect(compareCase({ refused: [{ target: 'label:a', why: 'over the limit' }] }, outcome)).toEqual([
      'missing refusal: {"target":"label:a","why":"over the limit"}',
      expect.stringContaining('refused change: '),
    ]);
    expect(compareCase({ refused: [{}, {}] }, outcome)).toEqual(['missing refusal: {}']);
  });
});

describe('expect.includes', () => {
  it('lists changes that must be present, among others', () => {
    const outcome = { rules: [], changes: [change('label:a'), change('label:b')], refused: [] };

    expect(compareCase({ includes: [{ target: 'label:b' }] }, outcome)).toEqual([]);
    expect(compareCase({ includes: [{ target: 'label:b' }, { target: 'label:c' }] }, outcome)).toEqual([
      'missing change: {"target":"label:c"}',
    ]);
  });

  it('cannot be combined with changes', () => {
    const both =
      'cases:\n  - { name: a, event: { kind: push, file: a }, expect: { changes: [], includes: [{ target: a }] } }';
    expect(loadRuleTests({ path: 'a.test.yml', text: both }).problems[0]?.message).toContain(
      'specify either changes (exactly these) or includes (at least these)',
    );
  });
});

describe('running rule tests', () => {
  it('reports each case, and which rules and steps no case reached', async () => {
    const { cases } = loadRuleTests({ path: 'a.test.yml', text });
    const rule = ruleOf(
      fileOf(
        'on: push\nsteps: [{ uses: say, with: { text: a } }, { name: last, uses: say, with: { text: b } }]',
      ),
    );
    const other = ruleOf(fileOf('on: push\nsteps: [{ uses: say, with: { text: a } }]'), {
      path: 'rules/other.yml',
    });

    const found = await runRuleTests({
      files: [{ path: 'a.test.yml', cases, rules: [rule, other] }],
      run: async (one) => {
        if (one.file !== undefined) throw new Error('push.json is not there');
        return {
          rules: [verdict('one', 'matched'), { ...verdict('one', 'unmatched'), rule: 'rules/other.yml#one' }],
          changes: [change('label:docs')],
          refused: [],
        };
      },
    });

    expect(found).toEqual({
      results: [
        { path: 'a.test.yml', name: 'labels documentation', line: 2, differences: [] },
        {
          path: 'a.test.yml',
          name: 'recorded',
          line: 9,
          differences: ['the case could not run: push.json is not there'],
        },
      ],
      unreached: {
        rules: ['rules/other.yml#one'],
        steps: ['rules/test.yml#one / last', 'rules/other.yml#one / 1 say'],
      },
    });
  });
});

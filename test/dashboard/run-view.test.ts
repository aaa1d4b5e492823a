import { describe, expect, it } from 'vitest';
import { type Onlooker, viewRun } from '../../src/dashboard/run-view.ts';
import type { RecordedChange, Run } from '../../src/engine/record.ts';
import type { Finding } from '../../src/rules/verdict.ts';
import { makeRun } from '../store/make.ts';

const operator: Onlooker = { isOperator: true, sight: 'administrator', repository: undefined };
const administrator: Onlooker = { isOperator: false, sight: 'administrator', repository: 'acme/demo' };
const reader: Onlooker = { isOperator: false, sight: 'reader', repository: 'acme/demo' };

const withValue = (name: string): Run => ({
  ...makeRun({}),
  rules: [
    {
      ...{
        rule: '/srv/rules/a.yml#mark',
        source: '/srv/rules/a.yml',
        commit: '',
        line: 3,
        verdict: 'matched',
      },
      findings: [
        {
          ...{
            expression: name,
            result: 'held',
            values: { [name]: 'what it saw' },
            file: 'a.yml',
            line: 1,
            column: 1,
          },
        } satisfies Finding,
      ],
    },
  ],
});

describe('what a condition saw', () => {
  const table: readonly [string, boolean, boolean][] = [
    ['issue.title', true, true],
    ['event.action', true, true],
    ['labels', true, true],
    ['files', true, true],
    ['contents("README.md")', true, true],
    ['branch_protections', false, true],
    ['hooks', false, true],
    ['organization.description', false, false],
    ['dependencies', false, false],
  ];

  it.each(table)(
    'of %s is for readers: %s, for administrators: %s, and for operators',
    (name, read, administer) => {
      const run = withValue(name);
      const sees = (onlooker: Onlooker) => viewRun(run, onlooker).text.includes('what it saw');

      expect([sees(reader), sees(administrator), sees(operator)]).toEqual([read, administer, true]);
    },
  );
});

describe('what was changed', () => {
  const change = (given: Partial<RecordedChange>): RecordedChange => ({
    ...{ id: '1', rules: ['a.yml#mark'], step: '1', action: 'set-labels', operation: 'issue.replace-labels' },
    ...{ method: 'PUT', path: '/repos/acme/demo/issues/1/labels', input: { body: { labels: [4711] } } },
    ...{
      target: 'label:kept',
      value: true,
      before: false,
      after: true,
      reason: 'the rule says so',
      ...given,
    },
  });
  const table: readonly [string, Partial<RecordedChange>, boolean, boolean][] = [
    ['a label here', {}, true, true],
    ['a label here, by another spelling', { path: '/repos/ACME/Demo/issues/1/labels' }, true, true],
    ['a protection here', { action: 'protect-tags', path: '/repos/acme/demo/tag_protections' }, false, true],
    ['a hook here', { action: 'sync-hooks', path: '/repos/acme/demo/hooks' }, false, true],
    ['a label in another repository', { path: '/repos/acme/other/issues/1/labels' }, false, false],
    ['a label in one whose name begins alike', { path: '/repos/acme/demo2/issues/1/labels' }, false, false],
    ['an organization', { action: 'sync-organization', path: '/orgs/acme' }, false, false],
  ];

  it.each(table)('%s is for readers: %s…', (_title, given, read, administer) => {
    const made = {
      ...makeRun({}),
      changes: [change(given)],
      outcomes: [{ change: '1', status: 'failed' as const, error: 'because' }],
    };
    const refused = { ...makeRun({}), refused: [{ change: change(given), why: 'because' }] };
    for (const run of [made, refused]) {
      const sees = (onlooker: Onlooker) => {
        const { text } = viewRun(run, onlooker);
        const words = ['4711', 'label:kept', 'the rule says so', 'because'].filter((word) =>
          text.includes(word),
        );
        expect([0, 4]).toContain(words.length);
        return words.length === 4;
      };

      expect([sees(reader), sees(administrator), sees(operator)]).toEqual([read, administer, true]);
    }
  });
});

it('names files of the operator without their folder to others', () => {
  const run = withValue('issue.title');

  expect(viewRun(run, reader).text).not.toContain('/srv/rules');
  expect(viewRun(run, operator).text).toContain('/srv/rules/a.yml:3');
});

it('folds the rules that were not asked, with why', () => {
  const skipped = {
    rule: 'b.yml#other',
    source: 'b.yml',
    commit: '',
    line: 1,
    verdict: 'skipped',
    findings: [],
  } as const;
  const { text } = viewRun(
    {
      ...makeRun({}),
      rules: [
        { ...skipped, reason: 'scope' },
        { ...skipped, reason: 'of a later version' },
      ],
    },
    reader,
  );

  expect(text).toContain('<summary>Rules that were not asked: 2</summary>');
  expect(text).toContain('scope: its `in` leaves this repository out');
  expect(text).toContain('of a later version');
});

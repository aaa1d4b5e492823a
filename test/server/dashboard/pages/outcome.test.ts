import { describe, expect, it } from 'vitest';
import type { Outcome, RecordedChange, Run } from '../../../../src/engine/record.ts';
import { summarizeRun } from '../../../../src/server/dashboard/pages/deliveries.ts';
import { operatorAccess, type ViewerAccess } from '../../../../src/server/dashboard/visibility.ts';
import { makeRun } from '../../../store/make.ts';

const reader: ViewerAccess = {
  isOperator: false,
  access: 'reader',
  repository: 'acme/shop',
  units: new Set(['issues', 'pulls', 'code']),
};

const verdictOf = (verdict: 'matched' | 'unmatched' | 'failed' | 'skipped') => ({
  rule: `a.yml#${verdict}`,
  source: 'a.yml',
  commit: '',
  line: 1,
  verdict,
  findings: [],
});

const change = (id: string, more: Partial<RecordedChange> = {}): RecordedChange => ({
  id,
  rules: ['a.yml#matched'],
  step: 'steps[0]',
  action: 'set-labels',
  operation: 'replaceIssueLabels',
  method: 'PUT',
  path: '/repos/acme/shop/issues/1/labels',
  input: null,
  target: 'label:bug',
  value: true,
  before: false,
  after: true,
  reason: 'add',
  ...more,
});

const run = (
  verdicts: readonly Parameters<typeof verdictOf>[0][],
  changes: readonly (readonly [RecordedChange, Outcome['status']])[] = [],
  more: Partial<Run> = {},
): Run => ({
  ...makeRun({}),
  rules: verdicts.map(verdictOf),
  changes: changes.map(([one]) => one),
  outcomes: changes.map(([one, status]) => ({ change: one.id, status })),
  ms: 52,
  ...more,
});

const told = (made: Run, viewer = operatorAccess) => {
  const { mark, parts } = summarizeRun(made, viewer);
  return `${mark}: ${parts.join(' · ')}`;
};

describe('the outcome of a run', () => {
  it('counts the matched rules and the changes, and states the duration', () => {
    const both = run(
      ['matched', 'matched', 'skipped'],
      [
        [change('1'), 'applied'],
        [change('2'), 'applied'],
        [change('3'), 'skipped'],
      ],
    );

    expect(told(both)).toBe('applied: 2 rules matched · 3 changes · 52 ms');
    expect(told(run(['unmatched']))).toBe('unmatched: 0 rules matched · 52 ms');
    expect(told(run(['skipped']))).toBe('unmatched: no rule was evaluated · 52 ms');
    const own = { ...verdictOf('skipped'), reason: 'own' };
    const filtered = { ...verdictOf('skipped'), reason: 'filter' };
    expect(told({ ...run([]), rules: [own, own] })).toBe(
      'unmatched: no rule was evaluated: Reeve itself caused this event, or cannot rule it out · 52 ms',
    );
    expect(told({ ...run([]), rules: [own, filtered] })).toBe('unmatched: no rule was evaluated · 52 ms');
    expect(told(run(['matched']))).toBe('matched: 1 rule matched · 52 ms');
  });

  it('is a failure if a rule or a change failed, even if other changes were applied', () => {
    const half = run(
      ['matched', 'failed'],
      [
        [change('1'), 'applied'],
        [change('2'), 'failed'],
      ],
    );

    expect(told(half)).toBe('failed: 1 rule matched · 1 rule failed · 1 of 2 changes failed · 52 ms');
  });

  it('distinguishes observed, refused and deferred changes from those that were sent', () => {
    expect(told(run(['matched'], [[change('1', { observed: true }), 'planned']]))).toBe(
      'observed: 1 rule matched · 1 change observed, not sent · 52 ms',
    );
    const refused = [
      { change: change('1'), why: 'no' },
      { change: change('2'), why: 'budget', until: 'later' },
    ];
    expect(told(run(['matched'], [], { refused }))).toBe(
      'refused: 1 rule matched · 1 change refused · 1 change deferred · 52 ms',
    );
  });

  it('counts for a reader only the changes that the reader may see', () => {
    const hidden = run(
      ['matched'],
      [
        [change('1'), 'applied'],
        [change('2', { action: 'sync-hooks', path: '/repos/acme/shop/hooks' }), 'failed'],
        [change('3', { path: '/repos/acme/secret/issues/1/labels' }), 'applied'],
      ],
    );

    expect(told(hidden, reader)).toBe('applied: 1 rule matched · 1 change · 52 ms');
    expect(told(hidden)).toBe('failed: 1 rule matched · 1 of 3 changes failed · 52 ms');
  });
});

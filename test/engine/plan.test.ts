import { describe, expect, it } from 'vitest';
import type { Action } from '../../src/actions/action.ts';
import type { Change } from '../../src/actions/change.ts';
import { setLabels } from '../../src/actions/set-labels.ts';
import { makePlan, refuseUnfounded } from '../../src/engine/plan.ts';
import type { Proposal } from '../../src/engine/proposal.ts';
import type { Level, LoadedRule } from '../../src/rules/rule.ts';
import { makeContext } from '../support/make-context.ts';

function makeRule(name: string, level: Level = 'repository', changes?: number): LoadedRule {
  return {
    id: `${level}/rules.yml#${name}`,
    name,
    source: `${level}/rules.yml`,
    level,
    commit: '',
    revision: '',
    line: 1,
    mode: 'enforce',
    limits: changes === undefined ? {} : { changes },
    scopes: [],
    on: [],
    schedules: [],
    steps: [],
  };
}

function change(target: string, value: unknown, more: Partial<Change> = {}): Change {
  const params = { owner: 'acme', repo: 'demo', index: 1 };
  const operation = 'issue.replace-labels';
  return {
    action: 'set-labels',
    operation,
    input: { params },
    target,
    value,
    before: !value,
    after: value,
    reason: '',
    ...more,
  };
}

const proposal = (rule: LoadedRule, ...changes: readonly Change[]): Proposal => ({
  rule,
  step: '1',
  action: setLabels as Action,
  arguments: {},
  context: makeContext({ rule: rule.name, level: rule.level }),
  changes,
});

const shape = (proposals: readonly Proposal[]) => {
  const plan = makePlan(proposals);
  return {
    changes: plan.changes.map(({ change: { target, value }, proposals: by }) => [
      target,
      value,
      by.map(({ rule }) => rule.name),
    ]),
    refused: plan.refused.map(({ planned, why }) => [planned.change.target, planned.change.value, why]),
  };
};

describe('several rules and one target', () => {
  it('become one change if they agree', () => {
    expect(
      shape([
        proposal(makeRule('a'), change('label:x', true)),
        proposal(makeRule('b'), change('label:x', true)),
      ]),
    ).toEqual({
      changes: [['label:x', true, ['a', 'b']]],
      refused: [],
    });
  });

  it('are decided by the level of the rules', () => {
    const operator = makeRule('from-above', 'operator');

    expect(
      shape([proposal(makeRule('a'), change('label:x', true)), proposal(operator, change('label:x', false))]),
    ).toEqual({
      changes: [['label:x', false, ['from-above']]],
      refused: [['label:x', true, 'operator/rules.yml#from-above wants a different value, and ranks higher']],
    });
  });

  it('are refused if rules of equal level disagree', () => {
    const { changes, refused } = shape([
      proposal(makeRule('a'), change('label:x', true)),
      proposal(makeRule('b'), change('label:x', false)),
    ]);

    expect(changes).toEqual([]);
    expect(refused.map(([target, value]) => [target, value])).toEqual([
      ['label:x', true],
      ['label:x', false],
    ]);
  });

  it('do not give way to a rule in observe mode, whatever its level', () => {
    const above = { ...makeRule('above', 'operator'), mode: 'observe' } as const;
    const own = proposal(makeRule('own'), change('label:x', true));

    expect(shape([proposal(above, change('label:x', false)), own])).toEqual({
      changes: [['label:x', true, ['own']]],
      refused: [
        ['label:x', false, 'it is only observed, and its target is decided by repository/rules.yml#own'],
      ],
    });
    expect(shape([proposal(above, change('label:x', false))]).changes).toEqual([
      ['label:x', false, ['above']],
    ]);
  });

  it('gain nothing from a rule in observe mode: no rank, no members, no budget and no reason for a deletion', () => {
    const above = { ...makeRule('above', 'operator'), mode: 'observe' } as const;
    const own = makeRule('own');
    const same = change('label:x', true);
    const watched = change('label:x', true, { requires: ['hook_names'] });

    const ranked = makePlan([
      proposal(above, watched),
      proposal(own, same),
      proposal(makeRule('middle', 'organization'), change('label:x', false)),
    ]);
    expect(ranked.changes.map(({ change: { value } }) => value)).toEqual([false]);

    const [planned] = makePlan([proposal(above, watched), proposal(own, same)]).changes;
    expect(planned?.change).toBe(same);
    expect(planned?.proposals.map(({ rule }) => rule.name)).toEqual(['own']);
    expect(planned?.watchers?.map(({ rule }) => rule.name)).toEqual(['above']);

    const many = Array.from({ length: 50 }, (_, at) => change(`label:${at}`, true));
    const limited = makePlan([
      proposal(above, ...many),
      proposal(makeRule('one', 'operator', 1), same, ...many),
    ]);
    const enforced = limited.changes.filter(({ proposals }) =>
      proposals.some(({ rule }) => rule.name === 'one'),
    );
    expect(enforced).toHaveLength(1);

    const removed = (count: number, from: number) =>
      Array.from({ length: count }, (_, at) =>
        change(`tag:${from + at}`, null, { removes: { from: 'tags', there: 10 } }),
      );
    const pruned = makePlan([proposal(above, ...removed(5, 0)), proposal(makeRule('b'), ...removed(1, 5))]);
    expect(pruned.refused).toEqual([]);
  });

  it('do not justify removing an object if only a rule in observe mode wants both the removal and the chosen replacement', () => {
    const make = (secret: string): Change => change('hook:u', { hmac: secret }, { stage: 0 });
    const remove = change('hook:u#7', null, { stage: 2, needs: 'hook:u' });
    const above = { ...makeRule('above', 'operator'), mode: 'observe' } as const;

    const plan = refuseUnfounded(
      makePlan([
        proposal(above, make('C'), remove),
        proposal(makeRule('b'), make('B'), remove),
        proposal(makeRule('c', 'organization'), make('C')),
      ]),
    );

    expect(plan.changes.map(({ change: { target } }) => target)).toEqual(['hook:u']);
  });

  it('include a rule whose proposal already matches the live state', () => {
    const content = proposal(makeRule('content'), change('label:x', true, { already: true }));

    expect(shape([content, proposal(makeRule('other'), change('label:x', false))])).toMatchObject({
      changes: [],
      refused: [['label:x', false, expect.stringContaining('neither ranks higher')]],
    });
    expect(shape([content])).toEqual({ changes: [], refused: [] });
  });

  it('are separated by subject', () => {
    const elsewhere = { input: { params: { owner: 'acme', repo: 'demo', index: 2 } } };

    expect(
      shape([
        proposal(makeRule('a'), change('label:x', true)),
        proposal(makeRule('b'), change('label:x', false, elsewhere)),
      ]).refused,
    ).toEqual([]);
  });
});

describe('a change that needs another change', () => {
  const make = (secret: string): Change => change('hook:u', { hmac: secret }, { stage: 0 });
  const remove = change('hook:u#7', null, {
    input: { params: { owner: 'acme', repo: 'demo', index: 1, id: 7 } },
    stage: 2,
    needs: 'hook:u',
  });
  const left = (...proposals: readonly Proposal[]) => {
    const { changes, refused } = refuseUnfounded(makePlan(proposals));
    return {
      changes: changes.map(({ change: { target } }) => target),
      refused: refused.map(({ why }) => why),
    };
  };

  it('is planned together with that change', () => {
    expect(left(proposal(makeRule('a'), make('A'), remove)).changes).toEqual(['hook:u', 'hook:u#7']);
  });

  it('is refused if rules disagree about the other change, even if one of them would edit the object being replaced', () => {
    const quarrel = left(
      proposal(makeRule('a'), make('A'), remove),
      proposal(makeRule('b'), make('B'), remove),
    );
    const numbered = { input: { params: { ...remove.input.params } } };
    const edit = left(
      proposal(makeRule('a'), make('A'), remove),
      proposal(makeRule('b'), change('hook:u', {}, numbered)),
    );

    for (const { changes, refused } of [quarrel, edit]) {
      expect(changes).toEqual([]);
      expect(refused.at(-1)).toContain('it requires hook:u');
    }
  });

  it('is refused if the other change is only observed', () => {
    const observing = { ...makeRule('above', 'operator'), mode: 'observe' } as const;

    // The enforcing rule removes the hook without a replacement, and the replacement of the observing rule is never
    // made.
    expect(left(proposal(observing, make('A'), remove), proposal(makeRule('b'), remove)).changes).toEqual([
      'hook:u',
    ]);
    expect(
      left(proposal(observing, make('A'), remove), proposal(makeRule('b'), make('B'), remove)).changes,
    ).toEqual(['hook:u', 'hook:u#7']);
  });
});

describe('budgets', () => {
  const many = (count: number): Change[] =>
    Array.from({ length: count }, (_, place) => change(`label:${place}`, true));

  it.each([
    ['files of repositories', 'repository', 20],
    ['all rules together', 'operator', 50],
  ] as const)('limit the changes of %s', (_title, level, budget) => {
    const { changes, refused } = shape([proposal(makeRule('a', level), ...many(60))]);

    expect(changes).toHaveLength(budget);
    expect(refused).toHaveLength(60 - budget);
    expect(refused[0]?.[2]).toContain(`budget of ${budget} changes`);
  });

  it("are narrowed by a rule's own limit", () => {
    const { changes, refused } = shape([proposal(makeRule('a', 'operator', 2), ...many(3))]);

    expect(changes).toHaveLength(2);
    expect(refused[0]?.[2]).toContain('sets for itself');
  });
});

it('puts changes that others need first and keeps the order of the rest', () => {
  const { changes } = shape([
    proposal(
      makeRule('a'),
      change('label:b', true),
      change('label:a', true),
      change('label-definition:c', {}, { stage: 0 }),
    ),
  ]);

  expect(changes.map(([target]) => target)).toEqual(['label-definition:c', 'label:b', 'label:a']);
});

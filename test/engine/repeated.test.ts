import { expect, it } from 'vitest';
import type { Action } from '../../src/actions/action.ts';
import { setLabels } from '../../src/actions/set-labels.ts';
import { refuseRepeated } from '../../src/engine/bounds/refusals.ts';
import { makePlan } from '../../src/engine/plan.ts';
import type { Trigger } from '../../src/engine/record.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { makeContext } from '../support/make-context.ts';

const text = `version: 1
rules:
  both: { on: issues.opened, steps: [{ uses: set-labels, with: { add: [x] } }] }
`;
const [rule] = loadRuleFile({ path: 'r.yml', text, level: 'operator', commit: '', registry }).rules;
const labels = setLabels as Action;
/** Action that has an effect each time, such as sending a message. */
const message: Action = { ...labels, name: 'message', describesState: false };

const plan = makePlan(
  [labels, message].map((action) => ({
    rule: rule ?? never(),
    step: '1',
    action,
    arguments: {},
    context: makeContext(),
    changes: [
      {
        action: action.name,
        operation: 'issue.replace-labels',
        input: { params: { owner: 'acme', repo: 'demo', index: 1 } },
        target: action.name,
        value: true,
        before: false,
        after: true,
        reason: '',
      },
    ],
  })),
);
const trigger: Trigger = { door: 'webhook', kind: 'issues', activity: 'opened', at: '' };
const targets = (of: readonly { change: { target: string } }[]) => of.map(({ change }) => change.target);

function never(): never {
  throw new Error('the rule was not loaded');
}

it('a repeated delivery repeats steps that describe a state, and refuses the others with the reason', () => {
  const { changes, refused } = refuseRepeated(plan, { ...trigger, repeated: true });

  expect(targets(changes)).toEqual(['set-labels']);
  expect(refused.map(({ planned, why }) => [planned.change.target, why])).toEqual([
    ['message', 'message is not repeated: an earlier delivery had the same content'],
  ]);
});

it('a delivery that is not a repetition executes both kinds of steps', () => {
  expect(targets(refuseRepeated(plan, trigger).changes)).toEqual(['set-labels', 'message']);
});

import type { Action } from '../../src/actions/action.ts';
import type { Change } from '../../src/actions/change.ts';
import { setLabels } from '../../src/actions/set-labels.ts';
import { budgets } from '../../src/engine/budget/budgets.ts';
import { makePlan } from '../../src/engine/plan.ts';
import type { Plan } from '../../src/engine/proposal.ts';
import type { Level, LoadedRule } from '../../src/rules/rule.ts';
import { makeContext } from './make-context.ts';

/**
 * Returns a plan with this many changes of the operator and of the repository's file. `condition` is the condition of
 * their rules.
 */
export function planOf(operator: number, repository = 0, condition = 'true'): Plan {
  const [root = '', ...path] = condition.split('.');
  const wish = (level: Level, count: number) => {
    const id = `${level}.yml#rule`;
    const rule = {
      id,
      name: 'rule',
      level,
      limits: {},
      mode: 'enforce',
      condition: { source: condition, reads: [{ root: { name: root }, path }] },
      steps: [],
    };
    const changes = Array.from({ length: count }, (_, place): Change => {
      const input = { params: { owner: 'acme', repo: 'demo', index: 1 } };
      const target = `label:${level} ${place}`;
      return {
        action: 'x',
        operation: 'x',
        input,
        target,
        value: true,
        before: false,
        after: true,
        reason: 'x',
      };
    });
    const context = makeContext();
    return {
      rule: rule as unknown as LoadedRule,
      step: '1',
      action: setLabels as Action,
      arguments: {},
      context,
      changes,
    };
  };
  return makePlan([wish('operator', operator), wish('repository', repository)], {
    budgets: { ...budgets, delivery: { all: 1_000, repository: 1_000 } },
  });
}

import { expect, it } from 'vitest';
import { parseEvent } from '../../src/contract/events/events.ts';
import { runRules } from '../../src/engine/run.ts';
import { createGivenFacts } from '../../src/facts/given-facts.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { createRuleSet } from '../../src/rules/rule.ts';
import { makeClock } from '../support/make-clock.ts';

const text = `version: 1
rules:
  three:
    on: pull_request.opened
    steps:
      - { uses: set-labels, with: { add: [first] } }
      - { uses: comment, with: { text: "\${{ milestone.title }}" } }
      - { uses: set-labels, with: { add: [third] } }
  other:
    on: pull_request.opened
    steps:
      - { uses: set-labels, with: { add: [other] } }
`;

it('a failing step refuses the later steps of its rule, but neither the earlier ones nor other rules', async () => {
  const { rules, problems } = loadRuleFile({ path: 'r.yml', text, level: 'operator', commit: '', registry });
  const payload = {
    action: 'opened',
    number: 1,
    pull_request: { number: 1, labels: [], milestone: null },
    repository: { id: 1, full_name: 'acme/site' },
  };
  const event = parseEvent('pull_request', payload);
  const subject = event.subject ?? { kind: 'repository' as const };

  const { run } = await runRules({
    id: 'r',
    mode: 'plan',
    trigger: { door: 'cli', kind: 'pull_request', activity: 'opened', at: '' },
    rules: createRuleSet(rules),
    event,
    facts: createGivenFacts({ subject, given: {}, payload }),
    now: new Date(),
    clock: makeClock({ monotonicMs: () => 0 }),
  });

  expect(problems).toEqual([]);
  expect(run.changes.map(({ target }) => target)).toEqual(['label:first', 'label:other']);
  expect(run.rules.map(({ verdict }) => verdict)).toEqual(['failed', 'matched']);
  expect(run.rules[0]?.reason).toMatch(/^step 2 comment: .*milestone/);
});

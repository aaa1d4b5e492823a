import { expect, it } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { parseEvent } from '../../../src/contract/events/events.ts';
import { createBudgetLedger } from '../../../src/engine/budget/ledger.ts';
import { runRules } from '../../../src/engine/run.ts';
import { createGivenFacts } from '../../../src/facts/given-facts.ts';
import { ReeveError } from '../../../src/platform/errors.ts';
import { loadRuleFile } from '../../../src/rules/files/load.ts';
import { registry } from '../../../src/rules/registry.ts';
import { createRuleSet } from '../../../src/rules/rule.ts';
import { makeClock } from '../../support/make-clock.ts';

const text = `version: 1
rules:
  protect:
    on: pull_request.opened
    steps:
      - uses: sync-branch-protections
        with: { protections: [{ rule_name: main, priority: 1 }] }
`;

it('changes that were not sent because the forge did not reveal its capabilities use no budget', async () => {
  const { rules } = loadRuleFile({ path: 'r.yml', text, level: 'operator', commit: '', registry });
  const payload = {
    action: 'opened',
    number: 1,
    pull_request: { number: 1 },
    repository: { id: 1, full_name: 'acme/site' },
  };
  const event = parseEvent('pull_request', payload);
  const now = new Date();
  const ledger = createBudgetLedger({ now: () => now });
  let asked = 0;

  const run = runRules({
    id: 'r',
    mode: 'enforce',
    trigger: { door: 'webhook', kind: 'pull_request', activity: 'opened', at: now.toISOString() },
    rules: createRuleSet(rules),
    event,
    facts: createGivenFacts({
      subject: event.subject ?? { kind: 'repository' },
      given: { branch_protections: [] },
      payload,
    }),
    client: createClient({ url: 'http://127.0.0.1:9' }),
    capabilities: async () => {
      asked += 1;
      throw new ReeveError('forge-unavailable', 'the forge answered 502');
    },
    ledger,
    now,
    clock: makeClock({ monotonicMs: () => 0 }),
  });

  await expect(run).rejects.toMatchObject({ code: 'forge-unavailable' });
  expect(asked).toBe(1);
  expect(await ledger.edit(1, (past) => past.spent())).toEqual({ all: 0, repository: 0 });
});

import { afterEach, beforeEach, expect, it } from 'vitest';
import { adopt } from '../../src/cli/commands/sweeps/drift.ts';
import { operations } from '../../src/contract/operations.ts';
import { readDrift } from '../../src/work/sweeps/drift.ts';
import { acme, people, type SweepHarness, startSweepHarness } from '../support/sweep-harness.ts';

let harness: SweepHarness;
const demo = { owner: acme, repo: 'demo' } as const;

beforeEach(async () => {
  harness = await startSweepHarness();
});
afterEach(() => harness.close());

it.each([`${acme}/demo`, acme])(
  'describes the live state of %s so that the rule plans no changes',
  async (name) => {
    await harness.bot.call(operations.createBranchProtection, {
      params: demo,
      body: { rule_name: 'main', required_approvals: 2, enable_push: false, block_on_rejected_reviews: true },
    });
    await harness.bot.call(operations.createTagProtection, {
      params: demo,
      body: { name_pattern: 'v*', whitelist_usernames: [people.bot] },
    });
    await harness.bot.call(operations.createLabel, { params: demo, body: { name: 'bug', color: 'ff0000' } });
    await harness.bot.call(operations.editOrganization, {
      params: { org: acme },
      body: { description: 'Makers' },
    });

    const { yaml, left } = await adopt(harness.bot, name);
    harness.setRules(yaml);
    await harness.tick();
    harness.advance(24 * 60);
    await harness.tick();

    expect(left).toEqual([]);
    expect(harness.runs.map(({ trigger }) => trigger.item)).toEqual([name]);
    expect(harness.runs[0]?.rules).toMatchObject([{ verdict: 'matched' }]);
    expect(harness.runs[0]?.changes).toEqual([]);
    expect(await readDrift(harness.store)).toEqual([]);
  },
);

import { afterEach, beforeEach, expect, it } from 'vitest';
import { adopt } from '../../src/commands/adopt.ts';
import { operations } from '../../src/contract/operations.ts';
import { readDrift } from '../../src/sweeps/drift.ts';
import { acme, people, type SweepStage, setSweepStage } from '../support/sweep-stage.ts';

let stage: SweepStage;
const demo = { owner: acme, repo: 'demo' } as const;

beforeEach(async () => {
  stage = await setSweepStage();
});
afterEach(() => stage.close());

it.each([`${acme}/demo`, acme])(
  'describes what is live in %s so that the rule wants nothing',
  async (name) => {
    await stage.bot.call(operations.createBranchProtection, {
      params: demo,
      body: { rule_name: 'main', required_approvals: 2, enable_push: false, block_on_rejected_reviews: true },
    });
    await stage.bot.call(operations.createTagProtection, {
      params: demo,
      body: { name_pattern: 'v*', whitelist_usernames: [people.bot] },
    });
    await stage.bot.call(operations.createLabel, { params: demo, body: { name: 'bug', color: 'ff0000' } });
    await stage.bot.call(operations.editOrganization, {
      params: { org: acme },
      body: { description: 'Makers' },
    });

    const { yaml, left } = await adopt(stage.bot, name);
    stage.setRules(yaml);
    await stage.tick();
    stage.pass(24 * 60);
    await stage.tick();

    expect(left).toEqual([]);
    expect(stage.runs.map(({ trigger }) => trigger.item)).toEqual([name]);
    expect(stage.runs[0]?.rules).toMatchObject([{ verdict: 'matched' }]);
    expect(stage.runs[0]?.changes).toEqual([]);
    expect(await readDrift(stage.store)).toEqual([]);
  },
);

import { afterEach, beforeEach, expect, it } from 'vitest';
import { createClient } from '../../../../src/client/client.ts';
import { operations } from '../../../../src/contract/operations.ts';
import type { Each } from '../../../../src/rules/rule.ts';
import type { Target } from '../../../../src/work/sweeps/targets/repositories.ts';
import { createRunnerMemory } from '../../../../src/work/sweeps/targets/runner-memory.ts';
import { eachTarget } from '../../../../src/work/sweeps/targets/targets.ts';
import { people } from '../../../support/flow-names.ts';
import { acme, rulesOf, type SweepHarness, startSweepHarness } from '../../../support/sweep-harness.ts';

let harness: SweepHarness;
beforeEach(async () => {
  harness = await startSweepHarness();
});
afterEach(() => harness.close());

const [rule] = rulesOf(`
version: 1
rules:
  each: { on: { schedule: "0 * * * *" }, each: milestone, steps: [{ uses: report-issue, with: { when: "true", key: k, title: t, repository: ${acme}/ops } }] }
`);

/** Reads several pages of items, starting at a position. Returns the items, and the position after each page. */
async function walk(each: Each, options: { from?: unknown; pages?: number } = {}) {
  const { token } = await harness.forge.makeToken(people.bot, ['read:repository', 'read:issue', 'read:user']);
  const client = createClient({ url: harness.proxy.url, credentials: { token }, sleep: async () => {} });
  if (rule === undefined) throw new Error('the rule has not been loaded');
  const targets: Target[] = [];
  const positions: unknown[] = [];
  const pages = eachTarget(each, {
    client,
    served: { login: async () => people.bot, listed: [] },
    rule,
    isInScope: () => true,
    runners: createRunnerMemory(harness.store),
    now: harness.now(),
    from: options.from,
  });
  for await (const page of pages) {
    expect(page.failures ?? []).toEqual([]);
    targets.push(...page.targets);
    positions.push(page.next);
    if (positions.length === options.pages) break;
  }
  return { keys: targets.map(({ key }) => key), targets, positions };
}

it('visits each milestone once, even after an interruption at any page', async () => {
  const repositories = ['demo', 'ops'].map((repo) => ({ owner: acme, repo }));
  for (const params of repositories) {
    for (let number = 1; number <= 60; number += 1)
      await harness.root.call(operations.createMilestone, { params, body: { title: `m${number}` } });
  }
  const each: Each = { kind: 'milestone', state: 'open' };
  const whole = await walk(each);
  expect(whole.keys).toHaveLength(120);
  expect(new Set(whole.keys).size).toBe(120);
  expect(whole.positions.length).toBeGreaterThan(3);
  expect(whole.targets[0]).toMatchObject({
    subject: { kind: 'milestone', repository: { owner: acme }, milestone: expect.any(Number) },
    item: { milestone: { title: expect.stringMatching(/^m\d+$/) } },
  });

  for (const pages of whole.positions.keys()) {
    const before = await walk(each, { pages: pages + 1 });
    const after = await walk(each, { from: before.positions.at(-1) });
    expect([...before.keys, ...after.keys].toSorted()).toEqual(whole.keys.toSorted());
  }
});

it('visits milestones in the state given by the rule', async () => {
  const params = { owner: acme, repo: 'demo' };
  await harness.root.call(operations.createMilestone, { params, body: { title: 'open' } });
  await harness.root.call(operations.createMilestone, { params, body: { title: 'done', state: 'closed' } });
  const titles = async (state: 'open' | 'closed' | 'all') =>
    (await walk({ kind: 'milestone', state })).targets.map(
      ({ item }) => (item.milestone as { title: string }).title,
    );

  expect(await titles('open')).toEqual(['open']);
  expect(await titles('closed')).toEqual(['done']);
  expect((await titles('all')).toSorted()).toEqual(['done', 'open']);
});

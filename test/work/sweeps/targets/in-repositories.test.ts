import { afterEach, beforeEach, describe, expect, it } from 'vitest';
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
async function walk(each: readonly Each[], options: { from?: unknown; pages?: number } = {}) {
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
  const each: readonly Each[] = [{ kind: 'milestone', state: 'open' }];
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
    (await walk([{ kind: 'milestone', state }])).targets.map(
      ({ item }) => (item.milestone as { title: string }).title,
    );

  expect(await titles('open')).toEqual(['open']);
  expect(await titles('closed')).toEqual(['done']);
  expect((await titles('all')).toSorted()).toEqual(['done', 'open']);
});

describe('issues and pull requests together', () => {
  const demo = { owner: acme, repo: 'demo' } as const;
  /** Opens an issue, or a pull request from a new branch. */
  const make = async (kind: 'issue' | 'pull_request', title: string): Promise<number> => {
    if (kind === 'issue')
      return (await harness.root.call(operations.createIssue, { params: demo, body: { title } })).number;
    await harness.root.call(operations.createFile, {
      params: { ...demo, filepath: `${title}.txt` },
      body: { content: Buffer.from(title).toString('base64'), branch: 'main', new_branch: title },
    });
    const body = { title, head: title, base: 'main' };
    return (await harness.root.call(operations.createPull, { params: demo, body })).number;
  };
  const close = (index: number) =>
    harness.root.call(operations.editIssue, { params: { ...demo, index }, body: { state: 'closed' } });
  const bothOpen: readonly Each[] = [
    { kind: 'issue', state: 'open' },
    { kind: 'pull_request', state: 'open' },
  ];

  it('are one list, in which each is visited once, even after an interruption at any page', async () => {
    const kinds = new Map<number, string>();
    for (let number = 1; number <= 120; number += 1) {
      const kind = number % 40 === 0 ? 'pull_request' : 'issue';
      kinds.set(await make(kind, `t${number}`), kind);
    }
    const from = harness.proxy.passed.length;

    const whole = await walk(bothOpen);

    const listings = harness.proxy.passed.slice(from).filter(({ path }) => path.includes('/demo/'));
    expect(listings.map(({ path }) => path.split('?')[0])).toEqual(
      Array.from(listings, () => `/api/v1/repos/${acme}/demo/issues`),
    );
    expect(whole.targets.map(({ subject }) => [subject.index, subject.kind]).toSorted()).toEqual(
      [...kinds].toSorted(),
    );
    for (const { subject, item } of whole.targets) {
      expect(item).toMatchObject({ item: { number: subject.index, state: 'open' } });
      expect(Object.hasOwn(item, 'issue')).toBe(subject.kind === 'issue');
    }
    for (const pages of whole.positions.keys()) {
      const before = await walk(bothOpen, { pages: pages + 1 });
      const after = await walk(bothOpen, { from: before.positions.at(-1) });
      expect([...before.keys, ...after.keys].toSorted()).toEqual(whole.keys.toSorted());
    }
  });

  it('each have the state that the rule gives for their kind', async () => {
    const [openIssue, closedIssue] = [await make('issue', 'a'), await make('issue', 'b')];
    const [openPull, closedPull] = [await make('pull_request', 'c'), await make('pull_request', 'd')];
    await close(closedIssue);
    await close(closedPull);
    const numbers = async (issues: Each['state'], pulls: Each['state']) =>
      (
        await walk([
          { kind: 'issue', ...(issues && { state: issues }) },
          { kind: 'pull_request', ...(pulls && { state: pulls }) },
        ])
      ).targets.map(({ subject }) => subject.index);

    expect((await numbers(undefined, 'open')).toSorted()).toEqual([openIssue, openPull].toSorted());
    expect((await numbers('closed', 'closed')).toSorted()).toEqual([closedIssue, closedPull].toSorted());
    expect((await numbers('all', 'open')).toSorted()).toEqual([openIssue, closedIssue, openPull].toSorted());
    expect((await numbers('open', 'closed')).toSorted()).toEqual([openIssue, closedPull].toSorted());
  });
});

import { afterAll, beforeAll, expect } from 'vitest';
import { createActionMemory } from '../../src/actions/memory.ts';
import { parseEvent } from '../../src/contract/events/events.ts';
import { operations } from '../../src/contract/operations.ts';
import { makeEventRun } from '../../src/engine/make-run.ts';
import { createFactMemory } from '../../src/facts/ask.ts';
import { createRuleSet } from '../../src/rules/rule.ts';
import { simulate } from '../../src/work/runs/simulate.ts';
import { decided } from '../support/compare-plans.ts';
import { requiring } from '../support/flow-requirements.ts';
import { makeClock } from '../support/make-clock.ts';
import { appliedRules, namesIn, shippedRules } from '../support/shipped-rules.ts';
import { acme, rulesOf, type SweepHarness, startSweepHarness } from '../support/sweep-harness.ts';

// A subject is stale if the forge has reported no update for some time, by the forge's own clock.
const it = requiring('a stopped clock');
const demo = { owner: acme, repo: 'demo' } as const;
const day = 24 * 60;
let harness: SweepHarness;
let yaml = '';

beforeAll(async () => {
  harness = await startSweepHarness();
  await harness.root.call(operations.createLabel, { params: demo, body: { name: 'stale', color: 'cccccc' } });
});
afterAll(() => harness.close());

async function inForce(name: string): Promise<readonly string[]> {
  yaml = await shippedRules(name);
  harness.setRules(yaml);
  await harness.tick();
  return namesIn({ [name]: yaml });
}

/** Plans every rule about a subject at this moment, as `reeve plan` does. Returns the plan of each rule. */
async function planned(kind: 'issue' | 'pull_request', index: number): Promise<ReadonlyMap<string, string>> {
  const self = await harness.bot.call(operations.getSelf, {});
  const rules = createRuleSet(rulesOf(yaml));
  const { runs } = await simulate(
    { subject: { kind, ...demo, index } },
    {
      client: harness.bot,
      account: async () => ({ id: self.id }),
      own: 'changes',
      isServed: async () => true,
      rulesFor: async () => ({ rules, broken: [] }),
      memory: createFactMemory({ monotonicMs: () => 0 }),
      actionMemory: createActionMemory(),
      clock: makeClock({ now: harness.now, monotonicMs: () => 0 }),
    },
  );
  const scheduled = runs.filter(({ trigger }) => trigger.kind === 'schedule');
  return new Map(scheduled.map((run) => [run.rules[0]?.rule ?? '', decided(run)]));
}

/** Advances time, plans, runs the sweeps, and compares each sweep with its plan. Returns the rules that ran. */
async function pass(days: number, kind: 'issue' | 'pull_request', index: number): Promise<readonly string[]> {
  harness.advance(days * day);
  const plan = await planned(kind, index);
  const from = harness.runs.length;
  await harness.tick();
  const swept = harness.runs
    .slice(from)
    .filter(({ trigger }) => trigger.item?.endsWith(`#${index}`) && trigger.kind === 'schedule');
  for (const run of swept) expect(decided(run)).toBe(plan.get(run.rules[0]?.rule ?? ''));
  return swept.map(({ rules }) => rules[0]?.rule.split('#')[1] ?? '').toSorted();
}

/** Advances time by less than the interval until the next sweep of a rule. */
async function laterBy(minutes: number): Promise<void> {
  harness.advance(minutes);
  await harness.tick();
}

const commentsOf = async (index: number) =>
  (await harness.root.call(operations.listComments, { params: { ...demo, index } })).map(({ body }) =>
    body?.split('\n').at(-1),
  );

it('stale-issues.yml warns, closes two weeks later, and does not overrule a person who reopens an issue', async () => {
  const names = await inForce('stale-issues.yml');
  const { number: index } = await harness.ada.call(operations.createIssue, {
    params: demo,
    body: { title: 'quiet' },
  });
  const live = () => harness.root.call(operations.getIssue, { params: { ...demo, index } });
  const state = async () => {
    const { state: is, labels } = await live();
    return [is, labels.map(({ name }) => name)];
  };

  expect(await pass(59, 'issue', index)).toEqual(['close-stale-issue', 'warn-stale-issue']);
  expect([await state(), await commentsOf(index)]).toEqual([['open', []], []]);
  await pass(2, 'issue', index);
  expect(await state()).toEqual(['open', ['stale']]);
  const warning =
    'This issue had no activity for 60 days. It is closed in two weeks unless it gets a comment.';
  expect(await commentsOf(index)).toEqual([warning]);

  await pass(13, 'issue', index);
  expect(await state()).toEqual(['open', ['stale']]);
  await pass(2, 'issue', index);
  expect(await state()).toEqual(['closed', ['stale']]);

  // This harness receives no deliveries. Catching up finds the closing and the reopening half an hour later.
  await laterBy(30);
  await harness.ada.call(operations.editIssue, { params: { ...demo, index }, body: { state: 'open' } });
  await laterBy(30);
  expect(await state()).toEqual(['open', []]);
  expect(appliedRules(harness.runs)).toEqual(names);

  const stale = { labels: ['stale'] };
  await harness.root.call(operations.addIssueLabels, { params: { ...demo, index }, body: stale });
  await pass(15, 'issue', index);
  expect([await state(), await commentsOf(index)]).toEqual([['open', ['stale']], [warning]]);
});

it('stale-issues.yml warns again before it closes an issue again, and keeps the label of closed issues', async () => {
  await inForce('stale-issues.yml');
  const { number: index } = await harness.ada.call(operations.createIssue, {
    params: demo,
    body: { title: 'quiet twice' },
  });
  const params = { ...demo, index };
  const live = async () => {
    const { state, labels } = await harness.root.call(operations.getIssue, { params });
    return [state, labels.map(({ name }) => name), (await commentsOf(index)).length];
  };
  const say = (body: string) => harness.ada.call(operations.createComment, { params, body: { body } });
  await pass(61, 'issue', index);
  expect(await live()).toEqual(['open', ['stale'], 1]);
  // This harness receives no deliveries, so the test responds to the comment as the rule would.
  await say('Still here');
  await harness.root.call(operations.replaceIssueLabels, { params, body: { labels: [] } });

  await pass(61, 'issue', index);
  expect(await live()).toEqual(['open', ['stale'], 3]);
  await pass(13, 'issue', index);
  expect((await live())[0]).toBe('open');
  await pass(2, 'issue', index);
  expect(await live()).toEqual(['closed', ['stale'], 3]);

  const revived = async () => {
    const issue = await harness.root.call(operations.getIssue, { params });
    const event = parseEvent('issue_comment', {
      action: 'created',
      issue,
      comment: await say('Same here'),
      repository: await harness.root.call(operations.getRepository, { params: demo }),
      sender: await harness.ada.call(operations.getSelf, {}),
    });
    const { run } = await makeEventRun(
      event,
      {
        mode: 'plan',
        door: 'cli',
        rules: createRuleSet(rulesOf(yaml)),
      },
      {
        client: harness.bot,
        memory: createFactMemory({ monotonicMs: () => 0 }),
        clock: makeClock({ now: harness.now, monotonicMs: () => 0 }),
      },
    );
    return run.changes.map(({ target, value }) => [target, value]);
  };
  expect(await revived()).toEqual([]);
  await harness.root.call(operations.editIssue, { params, body: { state: 'open' } });
  expect(await revived()).toEqual([['label:stale', false]]);
});

it('stale-pulls.yml sends a weekly reminder about a quiet pull request, and closes an old draft', async () => {
  const names = await inForce('stale-pulls.yml');
  const open = async (branch: string, title: string) => {
    await harness.root.call(operations.createFile, {
      params: { ...demo, filepath: `${branch}.txt` },
      body: { branch: 'main', new_branch: branch, content: 'YQ==', message: branch },
    });
    const body = { title, head: branch, base: 'main' };
    return (await harness.root.call(operations.createPull, { params: demo, body })).number;
  };
  const quiet = await open('quiet', 'Quiet');
  const draft = await open('draft', 'WIP: draft');
  const from = harness.runs.length;

  await pass(8, 'pull_request', quiet);
  expect(await commentsOf(quiet)).toEqual([expect.stringContaining('Is it waiting for a review?')]);
  await pass(1, 'pull_request', quiet);
  expect((await commentsOf(quiet)).length).toBe(1);
  await pass(7, 'pull_request', quiet);
  expect((await commentsOf(quiet)).length).toBe(2);

  await pass(60, 'pull_request', draft);
  const stateOf = async () =>
    (await harness.root.call(operations.getPull, { params: { ...demo, index: draft } })).state;
  expect(await stateOf()).toBe('open');
  await pass(16, 'pull_request', draft);
  expect([await stateOf(), await commentsOf(draft)]).toEqual(['closed', []]);
  expect(appliedRules(harness.runs.slice(from))).toEqual(names);
});

import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import { parse } from 'yaml';
import { actions } from '../../src/actions/actions.ts';
import { createActionMemory } from '../../src/actions/memory.ts';
import { createNamedSecrets } from '../../src/actions/secrets.ts';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { createFactMemory } from '../../src/facts/ask.ts';
import { facts } from '../../src/facts/facts.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { createRuleSet, type LoadedRule } from '../../src/rules/rule.ts';
import { simulate } from '../../src/work/runs/simulate.ts';
import { planSweep } from '../../src/work/sweeps/plan-sweep.ts';
import { workflowByHand } from '../actions/scenarios.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { requiring } from '../support/flow-requirements.ts';
import { addFile } from '../support/privilege-setup.ts';
import { acme, type SweepHarness, startSweepHarness } from '../support/sweep-harness.ts';

/** Tests that need a separate forge, because the examples use names of organizations and accounts. */
const flow = requiring('control routes');
const demo = { owner: acme, repo: 'demo' } as const;
const secrets = createNamedSecrets(
  new Map(['CI_HEADER', 'CI_SIGNATURE', 'CHAT_HOOK'].map((name) => [name, `https://example.org/${name}`])),
  new Uint8Array(32),
);
/** Triggers of a rule, simplest first: live subjects with their events, then items of a sweep. */
const triggers: readonly Readonly<Record<string, unknown>>[] = [
  ...['pull_request', 'issues', 'push', 'repository', 'pull_request_review', 'pull_request_comment'],
  'issue_comment',
]
  .map((on): Readonly<Record<string, unknown>> => ({ on }))
  .concat(
    ['repository', 'organization', 'notification', 'runner'].map((each) => ({
      on: { schedule: '7 3 * * *' },
      each,
    })),
  );
const subjects = [
  { kind: 'pull_request', ...demo, index: 1 },
  { kind: 'pull_request', ...demo, index: 2 },
  { kind: 'issue', ...demo, index: 3 },
  { kind: 'branch', ...demo, branch: 'main' },
  { kind: 'repository', ...demo },
] as const;

let harness: SweepHarness;
beforeAll(async () => {
  harness = await startSweepHarness();
  await arrangePeople();
  await arrangePulls();
  await arrangeIssue();
  await harness.putRunners([{ name: 'builder', owner: acme, state: 'idle' }]);
});
afterAll(() => harness?.close());

async function arrangePeople(): Promise<void> {
  const { root } = harness;
  for (const name of ['grace', 'linus', 'release-bot']) await harness.forge.makePerson(name);
  for (const collaborator of ['ada', 'grace', 'linus'])
    await root.call(operations.putCollaborator, {
      params: { ...demo, collaborator },
      body: { permission: 'write' },
    });
  for (const name of ['site', 'templates']) await harness.makeRepository(name);
  await addFile(root, { owner: acme, repo: 'templates' }, 'main', 'LICENSE', 'Free.\n');
  const units = ['repo.code', 'repo.issues', 'repo.pulls'];
  const body = { name: 'release', permission: 'read', includes_all_repositories: false, units } as const;
  await root.call(operations.createTeam, { params: { org: acme }, body });
  for (const name of [
    'triage',
    'release',
    'urgent',
    'auto-merge',
    'backport',
    'keep-updated',
    'area/docs',
    'size/L',
  ])
    await root.call(operations.createLabel, { params: demo, body: { name, color: 'cccccc' } });
  await root.call(operations.createMilestone, { params: demo, body: { title: 'next' } });
  await root.call(operations.editRepository, {
    params: demo,
    body: { has_actions: true, description: 'Well tested.' },
  });
}

/**
 * Creates pull request 1, which is open, behind its base, and approved before its newest commit, and pull request 2,
 * which is merged.
 */
async function arrangePulls(): Promise<void> {
  const { root, ada } = harness;
  await addFile(root, demo, 'main', 'CODEOWNERS', '.* @grace\n');
  await addFile(root, demo, 'main', '.gitea/workflows/deploy.yml', workflowByHand);
  for (const name of ['develop', 'release/1'])
    await root.call(operations.createBranch, {
      params: demo,
      body: { new_branch_name: name, old_ref_name: 'main' },
    });
  const all = await root.call(operations.listLabels, { params: demo });
  const labels = all
    .filter(({ name }) => ['auto-merge', 'backport', 'keep-updated'].includes(name))
    .map(({ id }) => id);
  for (const head of ['open', 'merged']) {
    await addFile(ada, demo, head, `docs/${head}.md`, 'line\n'.repeat(900));
    await ada.call(operations.createPull, {
      params: demo,
      body: { title: head, head, base: 'main', labels },
    });
  }
  const params = { ...demo, index: 1 };
  await root.call(operations.createReview, { params, body: { event: 'APPROVED', body: 'Good.' } });
  await addFile(ada, demo, 'open', 'src/more.ts');
  await root.call(operations.mergePull, { params: { ...demo, index: 2 }, body: { Do: 'merge' } });
  await root.call(operations.createComment, { params, body: { body: '/label bug' } });
  await addFile(root, demo, 'develop', 'next.txt');
}

async function arrangeIssue(): Promise<void> {
  const { number: index } = await harness.ada.call(operations.createIssue, {
    params: demo,
    body: { title: 'Does it crash?' },
  });
  const all = await harness.root.call(operations.listLabels, { params: demo });
  const labels = all.filter(({ name }) => name === 'urgent').map(({ id }) => id);
  await harness.ada.call(operations.addIssueLabels, { params: { ...demo, index }, body: { labels } });
  await harness.ada.call(operations.createComment, { params: { ...demo, index }, body: { body: 'Yes.' } });
  await vi.waitFor(
    async () => expect(await harness.bot.call(operations.listNotifications, {})).not.toEqual([]),
    { timeout: timeoutMs },
  );
}

/** Returns a rule with this content for each trigger for which the rule loads. */
function rulesWith(content: object): readonly LoadedRule[] {
  return triggers.flatMap((trigger) => {
    const text = JSON.stringify({ version: 1, rules: { example: { ...trigger, ...content } } });
    const { rules, problems } = loadRuleFile({
      path: 'a.yml',
      text,
      level: 'operator',
      commit: '',
      registry,
    });
    return problems.length === 0 ? rules : [];
  });
}

/** Plans a rule for all live subjects that it may run on. */
async function planLive(rule: LoadedRule): Promise<readonly Run[]> {
  const { id } = await harness.bot.call(operations.getSelf, {});
  const parts = {
    client: harness.bot,
    account: async () => ({ id }),
    memory: createFactMemory(harness.clock),
    actionMemory: createActionMemory(),
    secrets,
    capabilities: () => harness.bot.capabilities(),
    clock: harness.clock,
  };
  const runs: Run[] = [];
  if (rule.each === undefined) {
    const rules = createRuleSet([rule]);
    const more = {
      own: 'changes' as const,
      isServed: async () => true,
      rulesFor: async () => ({ rules, broken: [] }),
    };
    for (const subject of subjects) runs.push(...(await simulate({ subject }, { ...parts, ...more })).runs);
  } else {
    const served = { login: async () => (await harness.bot.call(operations.getSelf, {})).login, listed: [] };
    const { signal } = new AbortController();
    const more = { served, recall: async () => undefined, signal };
    for await (const page of planSweep(rule, undefined, { ...parts, ...more })) runs.push(...page.runs);
  }
  return runs.filter(({ rules }) => rules.some(({ verdict }) => verdict !== 'skipped'));
}

const failuresOf = (runs: readonly Run[]) =>
  runs.flatMap(({ rules }) => rules.filter(({ verdict }) => verdict === 'failed'));
const isFine = (runs: readonly Run[]): boolean => runs.length > 0 && failuresOf(runs).length === 0;

/**
 * Plans the content with one trigger after another until a result is as wished. Returns the runs of that trigger, or of
 * the first trigger if no result is.
 */
async function planUntil(
  isWished: (runs: readonly Run[]) => boolean,
  content: object,
): Promise<readonly Run[]> {
  let first: readonly Run[] | undefined;
  for (const rule of rulesWith(content)) {
    const runs = await planLive(rule);
    if (isWished(runs)) return runs;
    first ??= runs;
  }
  return first ?? [];
}

describe('the example on the page of each fact is evaluated', () => {
  flow.each(facts.map((fact) => [fact.name, fact.example] as const))('%s', async (_, example) => {
    const steps = [{ uses: 'notify', with: { to: { secret: 'CHAT_HOOK' }, text: 'x' } }];

    const runs = await planUntil(isFine, { if: example, steps });

    expect(runs.length).toBeGreaterThan(0);
    expect(failuresOf(runs)).toEqual([]);
    // A condition of which no part was evaluated would not fail either.
    const results = runs.flatMap(({ rules }) => rules.flatMap(({ findings }) => findings));
    expect(results.filter(({ result }) => result === 'held' || result === 'not')).not.toEqual([]);
  });
});

describe('the example on the page of each action is planned', () => {
  const idle: string[] = [];
  const hasChanges = (runs: readonly Run[]): boolean => runs.some(({ changes }) => changes.length > 0);

  flow.each(actions.map((action) => [action.name, action.example] as const))('%s', async (name, example) => {
    const runs = await planUntil((all) => isFine(all) && hasChanges(all), { steps: [parse(example)] });

    expect(runs.length).toBeGreaterThan(0);
    expect(failuresOf(runs)).toEqual([]);
    if (!hasChanges(runs)) idle.push(name);
  });

  flow('and has changes here, except report-issue, which needs fifty pull requests', () => {
    expect(idle).toEqual(['report-issue']);
  });
});

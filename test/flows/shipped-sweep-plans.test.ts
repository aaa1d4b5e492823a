import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { printSweepPlan } from '../../src/cli/commands/sweeps/sweep-plan.ts';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { createMessageSender } from '../../src/platform/http/message-sender.ts';
import { loadSettings } from '../../src/server/settings/config.ts';
import { decided } from '../support/compare-plans.ts';
import { isThorough } from '../support/figure.ts';
import { people, timeoutMs, uniqueName } from '../support/flow-names.ts';
import { type HookReceiver, startReceiver } from '../support/hook-receiver.ts';
import { addFile } from '../support/privilege-setup.ts';
import { appliedRules, createTeams, loadShippedRules, shippedRules } from '../support/shipped-rules.ts';
import { acme, type SweepHarness, startSweepHarness } from '../support/sweep-harness.ts';

/** Every shipped rule with a schedule. */
const scheduled = (await loadShippedRules()).filter(({ rule }) => rule.schedules.length > 0);
const demo = { owner: acme, repo: 'demo' } as const;
const hour = 60;
const day = 24 * hour;
/** Rules, by file and name, whose sweep made the planned changes. */
const swept = new Set<string>();

let harness: SweepHarness;
/** The chat receiver that rules notify. */
let chat: HookReceiver;
/** Folder with the active rule, as the command reads it. */
let rules: string;
let named: Readonly<Record<string, string>>;

const whenThorough = it.runIf(isThorough);

beforeAll(async () => {
  chat = await startReceiver();
  rules = await mkdtemp(join(tmpdir(), 'reeve-rules-'));
  named = {
    CHAT_HOOK: chat.url,
    CI_HEADER: 'Bearer a-value-for-the-build-server',
    CI_SIGNATURE: 'a-signature-for-the-build-server',
  };
  harness = await startSweepHarness({
    namedSecrets: new Map(Object.entries(named)),
    settings: { messages: createMessageSender({ hosts: ['127.0.0.1'] }) },
  });
  await createTeams(harness, (await harness.bot.call(operations.getSelf, {})).login);
  for (const name of ['build-bot', 'auditor']) await harness.forge.makePerson(uniqueName(name));
  for (const name of ['auto-merge', 'blocked', 'stale', 'next-release'])
    for (const repo of ['demo', 'ops'])
      await harness.root.call(operations.createLabel, {
        params: { owner: acme, repo },
        body: { name, color: 'cccccc' },
      });
});
afterAll(async () => {
  await harness?.close();
  await chat?.close();
  await rm(rules, { recursive: true, force: true });
});

/** Activates one rule of a shipped file, for the sweeps and for the command. */
async function inForce(id: string): Promise<void> {
  const [file = '', name = ''] = id.split('#');
  const whole = parse(await shippedRules(file));
  const text = stringify({ ...whole, rules: { [name]: whole.rules[name] } });
  const path = join(rules, 'rules.yml');
  await writeFile(path, text);
  harness.setRules(text, path);
  await harness.tick();
}

/**
 * Returns the runs that `reeve sweep RULE --plan --json` prints at this moment of the harness. The command must send no
 * write.
 */
async function plan(name: string): Promise<readonly Run[]> {
  const secrets = Object.entries(named).map(([secret, value]) => [`REEVE_SECRET_${secret}`, value]);
  const settings = await loadSettings(
    { ...harness.environment, ...Object.fromEntries(secrets), REEVE_RULES: rules },
    { needsSecrets: false },
  );
  const printed = { out: [] as string[], error: [] as string[] };
  const terminal = {
    out: (text: string) => void printed.out.push(text),
    error: (text: string) => void printed.error.push(text),
    style: (_style: unknown, text: string) => text,
  };
  const from = harness.proxy.passed.length;
  const received = chat.received.length;

  const options = { clock: harness.clock, stream: { write: () => {} } };
  const status = await printSweepPlan(name, { json: true }, settings, terminal, options);

  expect([status, ...printed.error]).toEqual([0, expect.stringContaining('nothing was written')]);
  expect(harness.proxy.passed.slice(from).filter(({ method }) => method !== 'GET')).toEqual([]);
  expect(chat.received.length).toBe(received);
  return printed.out.map((line) => JSON.parse(line));
}

const byItem = (runs: readonly Run[]): Readonly<Record<string, string>> =>
  Object.fromEntries(runs.map((run) => [run.trigger.item ?? '', decided(run)]));

const openIssue = async (title: string, labels: readonly string[] = []) => {
  const all = await harness.root.call(operations.listLabels, { params: demo });
  const ids = all.filter(({ name }) => labels.includes(name)).map(({ id }) => id);
  const body = { title, labels: ids };
  return (await harness.root.call(operations.createIssue, { params: demo, body })).number;
};
const openPull = async (head: string, title = head) => {
  await addFile(harness.root, demo, head, `${head}.txt`);
  const body = { title, head, base: 'main' };
  return (await harness.root.call(operations.createPull, { params: demo, body })).number;
};
const dependsOn = (index: number, other: number) =>
  harness.root.call(operations.addDependency, {
    params: { ...demo, index },
    body: { ...demo, index: other },
  });
const notified = (title: string) =>
  expect
    .poll(() => harness.bot.call(operations.listNotifications, {}), { timeout: timeoutMs })
    .toContainEqual(expect.objectContaining({ subject: expect.objectContaining({ title }) }));

/**
 * A situation in which a rule has something to do, and the minutes until then. A rule that needs two sweeps is swept in
 * between.
 */
type Situation = {
  readonly arrange?: () => Promise<unknown>;
  readonly minutes?: number;
  /**
   * Whether the change counts as activity, after which the subject must become quiet again. A real server's clock is
   * months behind by then.
   */
  readonly isActivity?: boolean;
};

async function offlineRunner(name: string): Promise<void> {
  await harness.putRunners([{ name, owner: acme, state: 'offline' }]);
  harness.advance(5);
  await harness.tick();
}

/** Situations in order of execution. Branch protections come last. */
const situations: Readonly<Record<string, Situation>> = {
  'blocked.yml#blocked': {
    arrange: async () => dependsOn(await openPull('waits'), await openIssue('first')),
  },
  'blocked.yml#blocked-label': {
    arrange: async () => dependsOn(await openIssue('waits'), await openIssue('second')),
  },
  'approvals-by-team.yml#security': {
    async arrange() {
      const body = { name: 'security', permission: 'read', units: ['repo.code', 'repo.pulls'] };
      await harness.root.call(operations.createTeam, { params: { org: acme }, body });
      await openPull('unapproved');
    },
  },
  'auto-merge.yml#auto-merge': {
    async arrange() {
      const collaborator = { ...demo, collaborator: people.ada };
      await harness.root.call(operations.putCollaborator, {
        params: collaborator,
        body: { permission: 'write' },
      });
      const params = { ...demo, index: await openPull('approved') };
      await harness.ada.call(operations.createReview, { params, body: { event: 'APPROVED', body: 'Good.' } });
      await harness.ada.call(operations.addIssueLabels, { params, body: { labels: ['auto-merge'] } });
    },
  },
  'changelog.yml#changelog': { arrange: () => openPull('unlisted') },
  'codeowners.yml#owners': { arrange: () => openPull('unowned') },
  'required-label.yml#labels': { arrange: () => openPull('unlabelled') },
  'collaborators.yml#collaborators': {},
  'freeze.yml#freeze': { arrange: () => openPull('frozen') },
  'hooks.yml#ci-hook': {},
  'label-definitions.yml#label-definitions': {},
  'notifications.yml#quiet-what-is-over': {
    async arrange() {
      const index = await openIssue('over');
      await harness.root.call(operations.editIssue, {
        params: { ...demo, index },
        body: { state: 'closed' },
      });
      await notified('over');
    },
  },
  'notifications.yml#quiet-what-is-old': {
    async arrange() {
      await openIssue('old');
      await notified('old');
    },
    minutes: 31 * day,
  },
  'notify-chat.yml#tell-offline-runners': { arrange: () => offlineRunner('builder'), minutes: 20 },
  'organization-settings.yml#organization-settings': {},
  'overdue-milestones.yml#overdue-milestone': {
    async arrange() {
      const due_on = new Date(harness.now().getTime() + 86_400_000).toISOString();
      const made = { params: demo, body: { title: 'soon', due_on } };
      const { id: milestone } = await harness.root.call(operations.createMilestone, made);
      const params = { ...demo, index: await openIssue('in time') };
      await harness.root.call(operations.editIssue, { params, body: { milestone } });
      // Forgejo counts the issues of a milestone in the background.
      const live = { params: { ...demo, id: milestone } };
      await expect
        .poll(() => harness.root.call(operations.getMilestone, live), { timeout: timeoutMs })
        .toMatchObject({ open_issues: 1 });
    },
    minutes: 3 * day,
  },
  'release-pull-request.yml#release-pull-request': {
    arrange: () => addFile(harness.root, demo, 'develop', 'next.txt'),
  },
  'repository-settings.yml#repository-settings': {},
  'rollout-files.yml#rollout-files': {
    async arrange() {
      await harness.makeRepository('templates');
      await addFile(
        harness.root,
        { owner: acme, repo: 'templates' },
        'main',
        '.editorconfig',
        'root = true\n',
      );
    },
  },
  'runners.yml#runner-offline': { arrange: () => offlineRunner('tester'), minutes: 20 },
  'stale-issues.yml#warn-stale-issue': { arrange: () => openIssue('quiet'), minutes: 61 * day },
  'stale-issues.yml#close-stale-issue': { arrange: () => openIssue('warned', ['stale']), minutes: 15 * day },
  'stale-pulls.yml#remind-of-pull': {
    arrange: () => openPull('reminded'),
    minutes: 14 * day,
    isActivity: true,
  },
  'stale-pulls.yml#close-old-draft': {
    arrange: () => openPull('draft', 'WIP: draft'),
    minutes: 91 * day,
  },
  'tag-protections.yml#release-tags': {},
  'branch-protections.yml#guard-branches': {},
};

whenThorough.each(Object.entries(situations))(
  'the sweep of %s makes the planned changes of each item, once',
  async (id, situation) => {
    const name = id.split('#')[1] ?? '';
    await inForce(id);
    await situation.arrange?.();
    harness.advance(situation.minutes ?? day);
    const planned = await plan(name);
    const from = harness.runs.length;

    await harness.tick();

    const runs = harness.runs.slice(from).filter(({ trigger }) => trigger.kind === 'schedule');
    expect(byItem(runs)).toEqual(byItem(planned));
    expect(runs.flatMap(({ outcomes }) => outcomes.filter(({ status }) => status === 'failed'))).toEqual([]);
    expect(appliedRules(runs)).toEqual([name]);
    if (harness.forge.embedded || !situation.isActivity)
      expect((await plan(name)).flatMap(({ changes }) => changes)).toEqual([]);
    swept.add(id);
  },
);

whenThorough('the chat is notified once each time a runner goes offline', async () => {
  const id = 'notify-chat.yml#tell-offline-runners';
  const told = () => chat.received.map(({ body }) => JSON.parse(body).text);
  const sentence = 'Runner again of the organization is offline';
  const sweep = async (minutes: number): Promise<void> => {
    harness.advance(minutes);
    await harness.tick();
  };
  await inForce(id);
  await offlineRunner('again');
  expect(told()).not.toContain(sentence);
  await sweep(20);
  await sweep(20);
  expect(told().filter((text) => text === sentence)).toHaveLength(1);

  await harness.putRunners([{ name: 'again', owner: acme, state: 'idle' }]);
  await sweep(5);
  await offlineRunner('again');
  await sweep(20);
  expect(told().filter((text) => text === sentence)).toHaveLength(2);
});

whenThorough('every shipped rule with a schedule was swept as planned', () => {
  expect([...swept].toSorted()).toEqual(scheduled.map(({ id }) => id).toSorted());
});

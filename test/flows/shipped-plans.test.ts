import { mkdtemp, rm, writeFile as writeLocalFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { loadRuleFiles } from '../../src/rules/sources/folder.ts';
import { nameOfRule } from '../../src/rules/verdict.ts';
import { queueStateOf } from '../../src/work/merge-queue/state.ts';
import { type PlanComparison, startPlanComparison } from '../support/compare-plans.ts';
import { post } from '../support/deliveries.ts';
import { isThorough } from '../support/figure.ts';
import { timeoutMs, uniqueName } from '../support/flow-names.ts';
import { acme, at, type Harness, people, startHarness } from '../support/harness.ts';
import { type HookReceiver, startReceiver } from '../support/hook-receiver.ts';
import { mergeByHand } from '../support/merge-by-hand.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';
import { addFile } from '../support/privilege-setup.ts';
import { jsonOf, kindOf, readRecordings } from '../support/recording/fixture.ts';
import {
  appliedRules,
  createTeams,
  demoRules,
  loadShippedRules,
  shippedFiles,
  shippedRules,
} from '../support/shipped-rules.ts';

/** Every shipped rule with events, and their files. A new file is included automatically. */
const heard = (await loadShippedRules()).filter(({ rule }) => rule.on.length > 0);
const files = await shippedFiles(
  [...new Set(heard.map(({ file }) => file))].filter((file) => file !== demoRules),
);
/** Rules, by file and name, whose plan matched the webhook's run, and those among them with a change. */
const compared = new Set<string>();
const changed = new Set<string>();
const labels = [
  ...['area/docs', 'area/build', 'area/tests', 'area/api', 'size/S', 'size/M', 'size/L'],
  ...[
    'kind/bug',
    'kind/feature',
    'kind/question',
    'release',
    'next-release',
    'hotfix',
    'dependencies',
    'urgent',
  ],
  ...[
    'first-contribution',
    'hold',
    'stale',
    'blocked',
    'keep-updated',
    'auto-merge',
    'merge-queue',
    'no-changelog',
    'backport',
  ],
];
const named = {
  CI_HEADER: 'Bearer a-value-for-the-build-server',
  CI_SIGNATURE: 'a-signature-for-the-build',
};
const fresh = { owner: acme, repo: 'fresh' } as const;

let harness: Harness;
/** The chat receiver that rules notify. */
let chat: HookReceiver;
let plans: PlanComparison;
let eve: Client;
let renovate: Client;
/** Folder of the payloads to plan. */
let payloads: string;

const whenThorough = it.runIf(isThorough);

beforeAll(async () => {
  chat = await startReceiver();
  payloads = await mkdtemp(join(tmpdir(), 'reeve-payloads-'));
  const secrets = { ...named, CHAT_HOOK: chat.url };
  const server = {
    repositories: [`${acme}/*`],
    namedSecrets: new Map(Object.entries(secrets)),
    notifyHosts: ['127.0.0.1'],
  };
  harness = await startOperatorHarness(files, { labels, hook: 'organization', server });
  const rules = (await loadRuleFiles([harness.rules ?? ''])).flatMap((file) => file.rules);
  const variables = Object.entries(secrets).map(([name, value]) => [`REEVE_SECRET_${name}`, value]);
  plans = await startPlanComparison(harness, { rules, secrets: Object.fromEntries(variables) });
  await createTeams(harness, people.bot);
  eve = await harness.forge.makePerson(people.eve);
  for (const name of ['build-bot', 'auditor']) await harness.forge.makePerson(uniqueName(name));
  renovate = await harness.forge.makePerson(uniqueName('renovate-bot'));
  await harness.root.call(operations.putCollaborator, {
    params: { ...at, collaborator: uniqueName('renovate-bot') },
    body: { permission: 'write' },
  });
  await harness.root.call(operations.createMilestone, { params: at, body: { title: 'next' } });
  await createSecurityTeam();
  await createTemplates();
  await writeFile(harness.root, 'CODEOWNERS', `(src/auth|docs)/login[.].* @${people.root}\n`, {
    branch: 'main',
  });
  const body = { new_branch_name: 'release/1', old_branch_name: 'main' };
  await harness.root.call(operations.createBranch, { params: at, body });
});
let closing: Promise<void> | undefined;
/** Closes the harness that all but one flow share. */
const closeShared = (): Promise<void> => {
  closing ??= (async () => {
    await plans?.close();
    await harness?.close();
  })();
  return closing;
};
afterAll(async () => {
  await rm(payloads, { recursive: true, force: true });
  await closeShared();
  await chat?.close();
});

async function createSecurityTeam(): Promise<void> {
  const units = ['repo.code', 'repo.issues', 'repo.pulls'];
  const { id } = await harness.root.call(operations.createTeam, {
    params: { org: acme },
    body: { name: 'security', permission: 'read', includes_all_repositories: true, units },
  });
  await harness.root.call(operations.putTeamMember, { params: { id, username: people.ada } });
}

/** Creates the repository whose files other repositories receive. */
async function createTemplates(): Promise<void> {
  const templates = { owner: acme, repo: 'templates' };
  const body = { name: templates.repo, auto_init: true, default_branch: 'main' };
  await harness.root.call(operations.createOrganizationRepository, { params: { org: acme }, body });
  await harness.idle();
  await harness.root.call(operations.deleteBranchProtection, { params: { ...templates, name: 'main' } });
  await addFile(harness.root, templates, 'main', '.editorconfig', 'root = true\n');
}

/** Returns the newest recorded body of a kind, changed as if a person had caused it in this flow's repository now. */
async function recordedPayload(kind: string) {
  const fixture = readRecordings()
    .filter(({ server }) => server === 'gitea')
    .flatMap(({ fixtures }) => fixtures)
    .findLast((one) => kindOf(one) === kind && one.hook === 'repository');
  if (fixture === undefined) throw new Error(`no delivery ${kind} was recorded`);
  const payload = JSON.parse(jsonOf(fixture));
  const repository = await harness.root.call(operations.getRepository, { params: at });
  return { ...payload, repository, sender: await harness.root.call(operations.getSelf, {}) };
}

/** Writes a file as a person, and waits until the bot has received the push. */
async function writeFile(
  person: Client,
  filepath: string,
  text: string,
  branch: { readonly branch: string; readonly new_branch?: string },
): Promise<void> {
  const body = { ...branch, content: Buffer.from(text).toString('base64'), message: `Add ${filepath}` };
  await harness.waitForPush(() => person.call(operations.createFile, { params: { ...at, filepath }, body }));
}

/** Compares the plan of a pull request with the webhook's run. */
const comparePull = (
  index: () => number,
  activity: string,
  doing: () => Promise<unknown>,
  kind = 'pull_request',
) =>
  plans.compare(doing, {
    kind,
    activity,
    args: () => ['--pull', `${acme}/${at.repo}#${index()}`, '--activity', activity],
  });
const compareIssue = (
  index: () => number,
  activity: string,
  doing: () => Promise<unknown>,
  kind = 'issues',
) =>
  plans.compare(doing, {
    kind,
    activity,
    args: () => ['--issue', `${acme}/${at.repo}#${index()}`, '--activity', activity],
  });

/** Returns the newest state of each status on a pull request's head. */
async function statusesOf(index: number): Promise<Readonly<Record<string, string>>> {
  const { head } = await harness.root.call(operations.getPull, { params: { ...at, index } });
  const all = await harness.root.call(operations.listStatuses, { params: { ...at, sha: head?.sha ?? '' } });
  const inOrder = all.toSorted((one, other) => one.id - other.id);
  return Object.fromEntries(inOrder.map(({ context, status }) => [context ?? '', status ?? '']));
}

/** Returns the first line below the marker of each comment by the bot. */
async function commentsOf(index: number): Promise<readonly string[]> {
  const all = await harness.root.call(operations.listComments, { params: { ...at, index } });
  return all
    .filter(({ user }) => user?.login === people.bot)
    .map(({ body }) => body?.split('\n')[1] ?? '')
    .toSorted();
}

async function labelIds(...names: readonly string[]): Promise<number[]> {
  const all = await harness.root.call(operations.listLabels, { params: at });
  return all.filter(({ name }) => names.includes(name)).map(({ id }) => id);
}

async function isUpToDate(index: number): Promise<boolean> {
  const { merge_base, base } = await harness.root.call(operations.getPull, { params: { ...at, index } });
  return merge_base === base?.sha;
}

const comment = (person: Client, index: number, body: string) =>
  person.call(operations.createComment, { params: { ...at, index }, body: { body } });
const labelsOf = async (index: number) => (await harness.labelsOf(index)).toSorted();
const reactionsOf = async (index: number) =>
  (await harness.root.call(operations.listComments, { params: { ...at, index } })).at(-1)?.id ?? 0;

whenThorough('a first pull request from a fork passes through every check as planned', async () => {
  const fork = { owner: people.eve, repo: at.repo };
  await eve.call(operations.createFork, { params: at, body: {} });
  await expect
    .poll(() => eve.call(operations.getRepository, { params: fork }), { timeout: timeoutMs })
    .toMatchObject({ empty: false });
  const write = (filepath: string, text: string, branch: { branch: string; new_branch?: string }) =>
    eve.call(operations.createFile, {
      params: { ...fork, filepath },
      body: { ...branch, content: Buffer.from(text).toString('base64'), message: `Add ${filepath}` },
    });
  await write('src/auth/login.ts', 'line\n'.repeat(900), { branch: 'main', new_branch: 'hotfix/login' });
  await write('docs/login.md', 'How to', { branch: 'hotfix/login' });
  let index = 0;
  await comparePull(
    () => index,
    'opened',
    async () => {
      const head = `${people.eve}:hotfix/login`;
      const body = { title: 'fix: login', head, base: 'release/1', body: '- [ ] try it' };
      ({ number: index } = await eve.call(operations.createPull, { params: at, body }));
    },
  );

  expect(await statusesOf(index)).toEqual({
    'reeve/blocked': 'success',
    'reeve/changelog': 'failure',
    'reeve/dco': 'failure',
    'reeve/labels': 'failure',
    'reeve/owners': 'pending',
    'reeve/security': 'pending',
    'reeve/signed': 'failure',
    'reeve/tasks': 'pending',
    'reeve/title': 'success',
  });
  expect(await labelsOf(index)).toEqual([
    ...['area/docs', 'first-contribution', 'hotfix', 'kind/bug', 'release', 'size/L'],
  ]);
  expect(await commentsOf(index)).toEqual([
    'Please name the issue that this pull request solves in its description: the word Fixes, a space, and # with the number.',
    `Thank you for your first contribution, ${people.eve}!`,
    `Thank you for your work, ${people.eve}!`,
    'This pull request is hard to review because of its size. Can it be split?',
  ]);
  const { requested_reviewers: requested } = await harness.root.call(operations.getPull, {
    params: { ...at, index },
  });
  expect(requested?.map(({ login }) => login).toSorted()).toEqual([people.ada, people.root].toSorted());

  const edit = (body: object) => () => eve.call(operations.editPull, { params: { ...at, index }, body });
  await comparePull(() => index, 'edited', edit({ body: '- [x] try it\n\nFixes #1' }));
  expect(await statusesOf(index)).toMatchObject({ 'reeve/tasks': 'success' });
  expect((await commentsOf(index)).length).toBe(3);
  await comparePull(() => index, 'closed', edit({ state: 'closed' }));
  await comparePull(() => index, 'reopened', edit({ state: 'open' }));

  for (const [person, expected] of [
    [harness.root, { 'reeve/owners': 'success', 'reeve/security': 'pending' }],
    [harness.ada, { 'reeve/owners': 'success', 'reeve/security': 'success' }],
  ] as const) {
    const review = { params: { ...at, index }, body: { event: 'APPROVED', body: 'Good.' } } as const;
    await comparePull(
      () => index,
      'approved',
      () => person.call(operations.createReview, review),
      'pull_request_review',
    );
    expect(await statusesOf(index)).toMatchObject(expected);
  }

  const approvals = async (mark: 'stale' | 'dismissed') => {
    const reviews = await harness.root.call(operations.listReviews, { params: { ...at, index } });
    return reviews.filter(({ state }) => state === 'APPROVED').map((review) => review[mark]);
  };
  await comparePull(
    () => index,
    'synchronized',
    async () => {
      await write('more.ts', 'more', { branch: 'hotfix/login' });
      // A real server processes a push in the background. Until then, the plan differs.
      await expect.poll(() => approvals('stale'), { timeout: timeoutMs }).toEqual([true, true]);
      await expect
        .poll(() => harness.root.call(operations.getPull, { params: { ...at, index } }), {
          timeout: timeoutMs,
        })
        .toMatchObject({ changed_files: 3 });
    },
  );
  expect(await approvals('dismissed')).toEqual([true, true]);
});

whenThorough(
  'a pull request into main is frozen unless it is urgent, held by a command, updated, and cleaned up after its merge',
  async () => {
    await writeFile(harness.ada, 'work.txt', 'work', { branch: 'main', new_branch: 'work' });
    let index = 0;
    await comparePull(
      () => index,
      'opened',
      async () => {
        const body = {
          title: 'docs: work',
          head: 'work',
          base: 'main',
          body: 'Fixes #1',
          labels: await labelIds('urgent'),
        };
        ({ number: index } = await harness.ada.call(operations.createPull, { params: at, body }));
      },
    );
    expect(await statusesOf(index)).toMatchObject({ 'reeve/freeze': 'success' });

    await comparePull(
      () => index,
      'created',
      () => comment(harness.root, index, '/hold'),
      'pull_request_comment',
    );
    expect(await labelsOf(index)).toContain('hold');
    const id = await reactionsOf(index);
    const reactions = await harness.root.call(operations.listCommentReactions, { params: { ...at, id } });
    expect(reactions.map(({ content, user }) => [content, user?.login])).toEqual([['+1', people.bot]]);

    await writeFile(harness.root, 'base.txt', 'newer', { branch: 'main' });
    const keep = { params: { ...at, index }, body: { labels: await labelIds('keep-updated') } };
    await comparePull(
      () => index,
      'label_updated',
      () => harness.ada.call(operations.addIssueLabels, keep),
    );
    await expect.poll(() => isUpToDate(index), { timeout: timeoutMs }).toBe(true);
    await writeFile(harness.root, 'base-2.txt', 'newest', { branch: 'main' });
    await harness.idle();
    await expect.poll(() => isUpToDate(index), { timeout: timeoutMs }).toBe(true);

    await comparePull(
      () => index,
      'closed',
      () => mergeByHand(harness.root, index, { Do: 'merge' }),
    );
    const merged = await harness.root.call(operations.getPull, { params: { ...at, index } });
    expect(merged.milestone?.title).toBe('next');
    const branches = await harness.root.call(operations.listBranches, { params: at });
    expect(branches.map(({ name }) => name)).not.toContain('work');
  },
);

/** Opens a pull request with a file into main as ada, and merges it. Returns its number. */
async function mergeFile(name: string, labels: readonly string[], compare: boolean): Promise<number> {
  await writeFile(harness.ada, `${name}.txt`, name, { branch: 'main', new_branch: name });
  const body = {
    title: `fix: ${name}`,
    head: name,
    base: 'main',
    body: 'Fixes #1',
    labels: await labelIds(...labels),
  };
  const { number: index } = await harness.ada.call(operations.createPull, { params: at, body });
  await harness.idle();
  const merge = () => mergeByHand(harness.root, index, { Do: 'merge' });
  if (compare) await comparePull(() => index, 'closed', merge);
  else await merge();
  await harness.idle();
  return index;
}

/** Returns the files in open pull requests by the bot into a branch, by title. */
async function broughtTo(base: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const open = await harness.root.call(operations.listPulls, { params: at, query: { state: 'open' } });
  const ours = open.filter((pull) => pull.base?.ref === base && pull.user?.login === people.bot);
  const read = async ({ number: index, title }: (typeof ours)[number]) => {
    const brought = await harness.root.call(operations.listPullFiles, { params: { ...at, index } });
    return [title, brought.map(({ filename }) => filename)] as const;
  };
  return Object.fromEntries(await Promise.all(ours.map(read)));
}

whenThorough(
  'a merged pull request is backported to the release branches: by its label, and by a command of an account with write access',
  async () => {
    const labeled = await mergeFile('door', ['backport'], true);
    expect(await broughtTo('release/1')).toEqual({ '[release/1] fix: door': ['door.txt'] });

    const index = await mergeFile('window', [], false);
    const commanded = (person: Client) =>
      comparePull(
        () => index,
        'created',
        () => comment(person, index, '/backport'),
        'pull_request_comment',
      );
    await commanded(eve);
    expect(Object.keys(await broughtTo('release/1'))).toEqual(['[release/1] fix: door']);
    await commanded(harness.root);
    expect(await broughtTo('release/1')).toEqual({
      '[release/1] fix: door': ['door.txt'],
      '[release/1] fix: window': ['window.txt'],
    });
    // A later command does not backport a pull request that was already backported.
    await comment(harness.root, labeled, '/backport');
    await harness.idle();
    expect(Object.keys(await broughtTo('release/1'))).toHaveLength(2);
  },
);

whenThorough(
  'a command of an account with write access starts the deployment once, and gets a reply',
  async () => {
    await harness.root.call(operations.editRepository, { params: at, body: { has_actions: true } });
    const workflow = `on: { workflow_dispatch: { inputs: { target: {}, pull_request: {} } } }
jobs: { deploy: { runs-on: nowhere, steps: [{ run: "true" }] } }
`;
    await writeFile(harness.root, '.gitea/workflows/deploy.yml', workflow, { branch: 'main' });
    await writeFile(harness.ada, 'deploy.txt', 'a', { branch: 'main', new_branch: 'deploy' });
    const body = { title: 'feat: deploy', head: 'deploy', base: 'main', body: 'Fixes #1' };
    const { number: index } = await harness.ada.call(operations.createPull, { params: at, body });
    await harness.idle();
    const started = async () =>
      (await harness.root.call(operations.listWorkflowRuns, { params: at })).workflow_runs ?? [];
    const say = (person: Client, text: string) =>
      comparePull(
        () => index,
        'created',
        () => comment(person, index, text),
        'pull_request_comment',
      );

    await say(eve, '/deploy staging');
    await say(harness.root, '/deploy production');
    expect(await started()).toEqual([]);
    await say(harness.root, '/deploy staging');

    expect(await started()).toMatchObject([
      { path: expect.stringContaining('deploy.yml'), event: 'workflow_dispatch' },
    ]);
    const id = await reactionsOf(index);
    const reactions = await harness.root.call(operations.listCommentReactions, { params: { ...at, id } });
    expect(reactions.map(({ content, user }) => [content, user?.login])).toEqual([['rocket', people.bot]]);
  },
);

whenThorough(
  'the chat is notified of a published release once, and again after a change of its name',
  async () => {
    const before = chat.received.length;
    const told = () => chat.received.slice(before).map(({ body }) => JSON.parse(body).text);
    const published = await recordedPayload('release.published');
    const { tag_name: tag, html_url: address } = published.release;
    const tell = async (payload: typeof published) => {
      const file = join(payloads, `${payload.action}.json`);
      await writeLocalFile(file, JSON.stringify(payload));
      await plans.compare(() => post(harness.server.url, { eventType: 'release', payload }), {
        kind: 'release',
        activity: payload.action,
        args: () => ['--event', 'release', '--payload', file],
      });
    };
    const release = { ...published.release, name: 'Spring', draft: false, prerelease: false };

    await tell({ ...published, release });
    expect(told()).toEqual([`${acme}/demo: release Spring (${tag}) ${address}`]);
    await tell({ ...published, action: 'updated', release: { ...release, body: 'Other notes.' } });
    expect(told()).toHaveLength(1);
    await tell({
      ...published,
      action: 'updated',
      release: { ...release, name: 'Summer', prerelease: true },
    });
    expect(told().slice(1)).toEqual([`${acme}/demo: pre-release Summer (${tag}) ${address}`]);
  },
);

whenThorough('a green update by the dependency bot is labeled and merged', async () => {
  await harness.root.call(operations.createBranchProtection, {
    params: at,
    body: {
      rule_name: 'main',
      enable_push: true,
      enable_status_check: true,
      status_check_contexts: ['ci/test'],
    },
  });
  await writeFile(renovate, 'lock.txt', '2', { branch: 'main', new_branch: 'renovate/zod' });
  const { commit } = await harness.root.call(operations.getBranch, {
    params: { ...at, branch: 'renovate/zod' },
  });
  await harness.root.call(operations.createStatus, {
    params: { ...at, sha: commit?.id ?? '' },
    body: { state: 'success', context: 'ci/test' },
  });
  let index = 0;
  await comparePull(
    () => index,
    'opened',
    async () => {
      const body = { title: 'chore: update zod', head: 'renovate/zod', base: 'main', body: 'Fixes #1' };
      ({ number: index } = await renovate.call(operations.createPull, { params: at, body }));
    },
  );

  const { merged } = await harness.root.call(operations.getPull, { params: { ...at, index } });
  expect([merged, await labelsOf(index)]).toEqual([true, expect.arrayContaining(['dependencies'])]);
});

whenThorough(
  'a pull request with the label auto-merge is merged as soon as its statuses have passed',
  async () => {
    await writeFile(harness.ada, 'auto.txt', 'auto', { branch: 'release/1', new_branch: 'auto' });
    const body = { title: 'chore: auto', head: 'auto', base: 'release/1', body: '' };
    let index = 0;
    await comparePull(
      () => index,
      'opened',
      async () => ({ number: index } = await harness.ada.call(operations.createPull, { params: at, body })),
    );
    expect(await commentsOf(index)).toContain(
      'Please say what **chore: auto** is for and how you tried it: the description is empty.',
    );
    // The branch requires no checks, so an approval is needed.
    const review = { params: { ...at, index }, body: { event: 'APPROVED', body: 'Good.' } } as const;
    await harness.root.call(operations.createReview, review);
    await harness.idle();
    const { head } = await harness.root.call(operations.getPull, { params: { ...at, index } });
    for (const context of Object.keys(await statusesOf(index))) {
      const params = { ...at, sha: head?.sha ?? '' };
      await harness.root.call(operations.createStatus, { params, body: { state: 'success', context } });
    }
    const only = await labelIds('auto-merge', 'kind/feature', 'no-changelog');
    await comparePull(
      () => index,
      'label_updated',
      () => harness.ada.call(operations.addIssueLabels, { params: { ...at, index }, body: { labels: only } }),
    );

    await expect
      .poll(() => harness.root.call(operations.getPull, { params: { ...at, index } }), { timeout: timeoutMs })
      .toMatchObject({ merged: true });
  },
);

whenThorough('a pull request with the label merge-queue enters the queue', async () => {
  // Without a required check, the queue waits for all checks, and the sign-off check has failed.
  await harness.root.call(operations.createBranchProtection, {
    params: at,
    body: {
      rule_name: 'release/1',
      enable_push: true,
      enable_status_check: true,
      status_check_contexts: ['ci'],
    },
  });
  await writeFile(harness.ada, 'queued.txt', 'queued', { branch: 'release/1', new_branch: 'queued' });
  const body = { title: 'chore: queued', head: 'queued', base: 'release/1', body: '' };
  let index = 0;
  await comparePull(
    () => index,
    'opened',
    async () => ({ number: index } = await harness.ada.call(operations.createPull, { params: at, body })),
  );
  const { head } = await harness.root.call(operations.getPull, { params: { ...at, index } });
  const params = { ...at, sha: head?.sha ?? '' };
  await harness.root.call(operations.createStatus, { params, body: { state: 'pending', context: 'ci' } });
  const only = await labelIds('merge-queue', 'kind/feature', 'no-changelog');
  await comparePull(
    () => index,
    'label_updated',
    () => harness.ada.call(operations.addIssueLabels, { params: { ...at, index }, body: { labels: only } }),
  );
  await harness.idle();

  expect((await statusesOf(index))['reeve/queue']).toBe('pending');
  const [row] = await harness.server.store.listQueues();
  expect(queueStateOf(row).entries.map(({ number }) => number)).toEqual([index]);
  await harness.ada.call(operations.editPull, { params: { ...at, index }, body: { state: 'closed' } });
});

whenThorough('a branch that is ahead gets a release pull request', async () => {
  await plans.compare(
    () => writeFile(harness.root, 'next.txt', 'next', { branch: 'main', new_branch: 'develop' }),
    { kind: 'push', activity: '', args: () => ['--branch', `${acme}/${at.repo}@develop`] },
  );

  const open = await harness.root.call(operations.listPulls, { params: at, query: { state: 'open' } });
  expect(
    open
      .filter(({ head }) => head?.ref === 'develop')
      .map(({ title, base, user, labels: has }) => [
        title,
        base?.ref,
        user?.login,
        has.map(({ name }) => name),
      ]),
  ).toEqual([['Release', 'main', people.bot, expect.arrayContaining(['next-release'])]]);
});

whenThorough('a bug is triaged, assigned, acknowledged and closed by a command', async () => {
  const before = chat.received.length;
  let index = 0;
  await compareIssue(
    () => index,
    'opened',
    async () => {
      const body = {
        title: 'Does the API crash?',
        body: 'It does.',
        labels: await labelIds('kind/bug', 'urgent'),
      };
      ({ number: index } = await harness.ada.call(operations.createIssue, { params: at, body }));
    },
  );
  const live = () => harness.root.call(operations.getIssue, { params: { ...at, index } });
  const { assignees, milestone } = await live();
  expect([assignees?.length, milestone?.title]).toEqual([1, 'next']);
  expect(await labelsOf(index)).toEqual(['area/api', 'kind/bug', 'kind/question', 'urgent']);
  expect(chat.received.slice(before).map(({ body }) => JSON.parse(body).text)).toEqual([
    expect.stringMatching(/^Urgent: Does the API crash\?/),
  ]);
  expect(await commentsOf(index)).toEqual([
    'Please describe how to reproduce this, under a heading "Steps to reproduce".',
  ]);

  await compareIssue(
    () => index,
    'created',
    () => comment(harness.root, index, '/close'),
    'issue_comment',
  );
  expect(await live()).toMatchObject({ state: 'closed' });
});

whenThorough('a comment revives a stale issue, and commands set labels', async () => {
  const body = { title: 'Quiet', body: 'Still there.', labels: await labelIds('stale') };
  const { number: index } = await harness.ada.call(operations.createIssue, { params: at, body });
  const speak = '/label kind/feature';
  await compareIssue(
    () => index,
    'created',
    () => comment(harness.root, index, speak),
    'issue_comment',
  );

  expect(await labelsOf(index)).toEqual(['kind/feature']);
});

whenThorough('a subject that depends on an open issue is blocked', async () => {
  const create = (title: string) =>
    harness.ada.call(operations.createIssue, { params: at, body: { title, body: 'Because.' } });
  const [first, second] = [await create('First'), await create('Second')];
  const params = { ...at, index: second.number };
  await harness.idle();
  await harness.ada.call(operations.addDependency, { params, body: { ...at, index: first.number } });
  await compareIssue(
    () => second.number,
    'edited',
    () => harness.ada.call(operations.editIssue, { params, body: { body: 'Waits for the first.' } }),
  );

  expect(await labelsOf(second.number)).toEqual(['blocked']);
});

whenThorough('a new repository gets its settings, collaborators, labels, hook and protections', async () => {
  await plans.compare(
    () =>
      harness.root.call(operations.createOrganizationRepository, {
        params: { org: acme },
        body: { name: fresh.repo, auto_init: true, default_branch: 'main' },
      }),
    {
      kind: 'repository',
      activity: 'created',
      args: () => ['--repository', `${acme}/${fresh.repo}`, '--activity', 'created'],
    },
  );

  const permissionOf = async (name: string) =>
    (
      await harness.root.call(operations.getPermission, {
        params: { ...fresh, collaborator: uniqueName(name) },
      })
    ).permission;
  expect([await permissionOf('build-bot'), await permissionOf('auditor')]).toEqual(['write', 'read']);
  expect(await harness.root.call(operations.getRepository, { params: fresh })).toMatchObject({
    has_wiki: false,
    allow_merge_commits: false,
    allow_rebase: false,
    allow_squash_merge: true,
    default_merge_style: 'squash',
    default_delete_branch_after_merge: true,
  });
  const read = async () => ({
    labels: (await harness.root.call(operations.listLabels, { params: fresh })).length,
    hooks: (await harness.root.call(operations.listHooks, { params: fresh })).length,
    branches: (await harness.root.call(operations.listBranchProtections, { params: fresh })).length,
    tags: (await harness.root.call(operations.listTagProtections, { params: fresh })).length,
  });
  expect(await read()).toEqual({ labels: 3, hooks: 1, branches: 2, tags: 1 });
  const contentOf = async (filepath: string) => {
    const entry = await harness.root.call(operations.getContents, { params: { ...fresh, filepath } });
    return Array.isArray(entry) ? undefined : Buffer.from(entry.content ?? '', 'base64').toString();
  };
  expect(await contentOf('.editorconfig')).toBe('root = true\n');
  expect(await contentOf('SECURITY.md')).toContain(`Report vulnerabilities of ${acme}/${fresh.repo} to`);
});

whenThorough('repository rules are planned as the webhook runs them', async () => {
  // On a server, each of these accounts exists once.
  await closeShared();
  const rules = await shippedRules(demoRules);
  const alone = await startHarness({ rules, labels: ['area/docs', 'area/code', 'size/L'] });
  try {
    const loaded = heard.filter(({ file }) => file === demoRules).map(({ rule }) => rule);
    const ofRepository = await startPlanComparison(alone, { rules: loaded });
    await alone.openPull('demo', { 'docs/a.md': 'line\n'.repeat(50) });
    await alone.idle();
    await ofRepository.compare(() => addFile(alone.ada, at, 'demo', 'src/a.ts'), {
      kind: 'pull_request',
      activity: 'synchronized',
      args: () => ['--pull', `${acme}/${at.repo}#1`, '--activity', 'synchronized'],
    });
    await ofRepository.close();

    expect((await alone.labelsOf(1)).toSorted()).toEqual(['area/code', 'area/docs', 'size/L']);
    const idOf = (id: string): string => `${demoRules}#${nameOfRule(id)}`;
    for (const id of ofRepository.compared) compared.add(idOf(id));
    for (const id of ofRepository.changed) changed.add(idOf(id));
  } finally {
    await alone.close();
  }
});

whenThorough('every shipped rule with events was planned as its webhook run, and changed something', () => {
  for (const id of plans.compared) compared.add(relative(harness.rules ?? '', id));
  for (const id of plans.changed) changed.add(relative(harness.rules ?? '', id));
  const applied = appliedRules(harness.runs);

  expect([...compared].toSorted()).toEqual(heard.map(({ id }) => id).toSorted());
  const unchanged = heard.filter(({ id }) => !changed.has(id));
  const unapplied = heard.filter(({ file, rule }) => file !== demoRules && !applied.includes(rule.name));
  expect([...unchanged, ...unapplied].map(({ id }) => id)).toEqual([]);
});

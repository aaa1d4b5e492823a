import { expect } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { workflowByHand } from '../actions/scenarios.ts';
import { uniqueName } from '../support/flow-names.ts';
import { acme, at, type Harness, people } from '../support/harness.ts';
import { addFile } from '../support/privilege-setup.ts';
import { type ActionRow, type Arranged, onEverySweep, onPush, openIssue, push } from './action-row.ts';

const grace = uniqueName('grace');

const hooksTo =
  (names: RegExp) =>
  async ({ root }: Harness): Promise<unknown> => {
    const hooks = await root.call(operations.listHooks, { params: at });
    return hooks
      .filter(({ config }) => names.test(config?.url ?? ''))
      .map(({ config, events, active, branch_filter }) => [
        ...[config?.url?.split('/').at(-1), events.toSorted(), active, branch_filter ?? ''],
      ]);
  };

async function makeHook({ root }: Harness, url: string): Promise<Arranged> {
  const body = { type: 'gitea', active: true, events: ['push'], config: { url, content_type: 'json' } };
  await root.call(operations.createHook, { params: at, body });
  return { index: 0 };
}

async function notified({ bot }: Harness) {
  const threads = await bot.call(operations.listNotifications, { query: { all: true } });
  return threads
    .filter(({ subject }) => subject?.title === 'notified')
    .map(({ unread, pinned }) => ({ unread, pinned }));
}

async function unreadIn({ bot }: Harness): Promise<readonly string[]> {
  const threads = await bot.call(operations.listRepositoryNotifications, {
    params: at,
    query: { 'status-types': ['unread'] },
  });
  return threads.map(({ subject }) => subject?.title ?? '').toSorted();
}

/** Actions on settings of repositories, organizations and the account. */
export const settingsRows: readonly ActionRow[] = [
  {
    action: 'sync-branch-protections',
    rule: () => `${onPush('guarded')}
steps:
  - uses: sync-branch-protections
    with:
      protections:
        - { rule_name: old/*, required_approvals: 2, enable_push: true, enable_push_whitelist: true }
        - { rule_name: "new/*", block_on_rejected_reviews: true }`,
    async arrange({ root }) {
      const body = { rule_name: 'old/*', required_approvals: 1, block_on_outdated_branch: true };
      await root.call(operations.createBranchProtection, { params: at, body });
      return { index: 0 };
    },
    happens: push('guarded'),
    read: async ({ root }) =>
      (await root.call(operations.listBranchProtections, { params: at })).map((one) => [
        ...[one.rule_name, one.required_approvals, one.enable_push, one.enable_push_whitelist],
        ...[one.block_on_outdated_branch, one.block_on_rejected_reviews],
      ]),
    declared: [
      ['old/*', 2, true, true, true, false],
      ['new/*', 0, false, false, false, true],
    ],
  },
  {
    action: 'commit-files',
    rule: () => `${onPush('filed')}
steps:
  - uses: commit-files
    with:
      branch: filed
      message: Keep files
      files:
        - { path: pushed/filed.txt, content: "kept\\n" }
        - { path: docs/copy.md, from: "${at.owner}/${at.repo}:README.md@main" }`,
    happens: push('filed'),
    read: async ({ root }) => {
      const textOf = async (filepath: string, ref: string) => {
        const found = root.call(operations.getContents, { params: { ...at, filepath }, query: { ref } });
        const entry = await found.catch(() => undefined);
        if (entry === undefined || Array.isArray(entry)) return null;
        return Buffer.from(entry.content ?? '', 'base64').toString('utf8');
      };
      const copy = await textOf('docs/copy.md', 'filed');
      const isCopy = copy !== null && copy === (await textOf('README.md', 'main'));
      return { kept: await textOf('pushed/filed.txt', 'filed'), copy: isCopy ? 'equal' : copy };
    },
    declared: { kept: 'kept\n', copy: 'equal' },
    // The branch did not exist before the push.
    back: { kept: 'pushed/filed.txt', copy: null },
  },
  {
    action: 'run-workflow',
    requires: 'workflow_runs',
    rule: () => `${onPush('deployed')}
steps: [{ uses: run-workflow, with: { workflow: deploy.yml, ref: main, inputs: { target: "\${{ event.ref }}" } } }]`,
    async arrange({ root }) {
      await root.call(operations.editRepository, { params: at, body: { has_actions: true } });
      await addFile(root, at, 'main', '.gitea/workflows/deploy.yml', workflowByHand);
      return { index: 0 };
    },
    happens: push('deployed'),
    read: async ({ root }) => {
      const { workflow_runs } = await root.call(operations.listWorkflowRuns, { params: at });
      // Forgejo's path is only the name of the file.
      return (workflow_runs ?? []).map(({ path, head_branch, event, actor }) => [
        ...[path?.replace(/@.*/, ''), head_branch, event, actor?.login],
      ]);
    },
    declared: [['deploy.yml', 'main', 'workflow_dispatch', people.bot]],
    stays: { workflow: /a workflow that was started cannot be taken back/ },
    back: [['deploy.yml', 'main', 'workflow_dispatch', people.bot]],
  },
  {
    action: 'protect-tags',
    rule: () => `${onPush('tagged')}
steps: [{ uses: protect-tags, with: { tags: [{ name_pattern: "v*", whitelist_usernames: [${people.ada}] }] } }]`,
    happens: push('tagged'),
    read: async ({ root }) =>
      (await root.call(operations.listTagProtections, { params: at })).map((one) => [
        ...[one.name_pattern, one.whitelist_usernames],
      ]),
    declared: [['v*', [people.ada]]],
  },
  {
    action: 'sync-repository',
    rule: () => `${onEverySweep('repository')}
steps:
  - uses: sync-repository
    with: { description: Tidy, allow_rebase: false, default_merge_style: squash, topics: [tidy, small], template: true }`,
    read: async ({ root }) => {
      const { description, allow_rebase, default_merge_style, template } = await root.call(
        operations.getRepository,
        { params: at },
      );
      const { topics } = await root.call(operations.listTopics, { params: at, query: {} });
      return { description, allow_rebase, default_merge_style, template, topics: topics?.toSorted() };
    },
    declared: {
      description: 'Tidy',
      allow_rebase: false,
      default_merge_style: 'squash',
      template: true,
      topics: ['small', 'tidy'],
    },
  },
  {
    action: 'sync-collaborators',
    rule: () => `${onEverySweep('repository')}
steps:
  - uses: sync-collaborators
    with:
      prune: true
      collaborators: [{ login: ${people.ada}, permission: write }, { login: ${people.eve}, permission: read }]`,
    async arrange({ root, forge }) {
      await forge.makePerson(people.eve);
      await forge.makePerson(grace);
      for (const name of [people.ada, grace]) {
        const params = { ...at, collaborator: name };
        await root.call(operations.putCollaborator, { params, body: { permission: 'admin' } });
      }
      return { index: 0 };
    },
    async read({ root }) {
      const users = await root.call(operations.listCollaborators, { params: at });
      const held = users
        .filter(({ login }) => login !== people.bot)
        .map(async ({ login }) => {
          const params = { ...at, collaborator: login };
          return `${login} ${(await root.call(operations.getPermission, { params })).permission}`;
        });
      return (await Promise.all(held)).toSorted();
    },
    declared: [`${people.ada} write`, `${people.eve} read`].toSorted(),
  },
  {
    action: 'sync-teams',
    rule: () => `${onEverySweep('organization')}
in: ${acme}/*
steps:
  - uses: sync-teams
    with:
      teams:
        - name: core
          units_map: { repo.code: write }
          members: [${people.ada}]
          repositories: [${at.repo}]
        - { name: fresh, permission: read, members: [${people.ada}] }`,
    async arrange({ root }) {
      const body = {
        name: 'core',
        permission: 'read',
        units_map: { 'repo.code': 'read', 'repo.issues': 'read' },
      };
      await root.call(operations.createTeam, { params: { org: acme }, body });
      return { index: 0 };
    },
    async read({ root }) {
      const teams = await root.call(operations.listTeams, { params: { org: acme } });
      const read = teams
        .filter(({ name }) => ['core', 'fresh'].includes(name))
        .map(async ({ id, name, units_map }) => {
          const params = { id };
          const members = await root.call(operations.listTeamMembers, { params });
          const repositories = await root.call(operations.listTeamRepositories, { params });
          const [code, issues] = [units_map?.['repo.code'], units_map?.['repo.issues']];
          const names = [members.map(({ login }) => login), repositories.map((one) => one.name)];
          return [name, code, issues, ...names];
        });
      return Promise.all(read);
    },
    declared: [
      ['core', 'write', 'read', [people.ada], [at.repo]],
      ['fresh', 'read', 'read', [people.ada], []],
    ],
  },
  {
    action: 'sync-milestones',
    rule: () => `${onEverySweep('repository')}
steps:
  - uses: sync-milestones
    with: { milestones: [{ title: kept, description: Kept, state: closed }, { title: made, due_on: 2026-12-31 }] }`,
    async arrange({ root }) {
      await root.call(operations.createMilestone, { params: at, body: { title: 'kept' } });
      return { index: 0 };
    },
    read: async ({ root }) =>
      (await root.call(operations.listMilestones, { params: at, query: { state: 'all' } }))
        .filter(({ title }) => /^(kept|made)$/.test(title))
        .map(({ title, description, state, due_on }) => [title, description, state, due_on?.slice(0, 10)])
        .toSorted(),
    declared: [
      ['kept', 'Kept', 'closed', undefined],
      ['made', '', 'open', '2026-12-31'],
    ],
  },
  {
    action: 'sync-labels',
    rule: () => `${onEverySweep('repository')}
steps:
  - uses: sync-labels
    with: { labels: [{ name: kind/code, color: 0000ff, previously: [area/code] }, { name: kind/new, color: 00ffff }] }`,
    read: async ({ root }) =>
      (await root.call(operations.listLabels, { params: at }))
        .filter(({ name }) => /code|kind/.test(name))
        .map(({ name, color }) => [name, color]),
    declared: [
      ['kind/code', '0000ff'],
      ['kind/new', '00ffff'],
    ],
  },
  {
    action: 'sync-hooks',
    rule: (receiver) => `${onEverySweep('repository')}
steps:
  - uses: sync-hooks
    with:
      hooks:
        - { url: "${receiver}/every-action/old", events: [create], authorization: none, active: false, branch_filter: main }
        - { url: "${receiver}/every-action/new", events: [delete], active: false }`,
    arrange: (harness, receiver) => makeHook(harness, `${receiver}/every-action/old`),
    read: hooksTo(/every-action\/(old|new)$/),
    declared: [
      ['old', ['create'], false, 'main'],
      ['new', ['delete'], false, ''],
    ],
  },
  {
    action: 'sync-hooks',
    called: 'with another secret',
    rule: (receiver) => `${onEverySweep('repository')}
steps:
  - uses: sync-hooks
    with: { hooks: [{ url: "${receiver}/every-action/signed", events: [create], authorization: none, hmac: { secret: SIGN } }] }`,
    arrange: (harness, receiver) => makeHook(harness, `${receiver}/every-action/signed`),
    read: hooksTo(/every-action\/signed$/),
    declared: [['signed', ['create'], true, '']],
    stays: {
      hook: /the hook that it replaced is gone, and the secret of that hook cannot be read/,
      'hook-test': /a test delivery cannot be reverted/,
      'hook-gone': /another hook has replaced it, and the secret of the deleted hook cannot be read/,
    },
    back: [['signed', ['create'], true, '']],
  },
  {
    action: 'sync-organization',
    rule: () => `${onEverySweep('organization')}
in: ${acme}/*
steps: [{ uses: sync-organization, with: { visibility: private, location: Moon } }]`,
    // Some forges cannot change the visibility back to `public`.
    arrange: async ({ root }) => {
      await root.call(operations.editOrganization, {
        params: { org: acme },
        body: { visibility: 'limited' },
      });
      return { index: 0 };
    },
    read: async ({ root }) => {
      const { visibility, location, website } = await root.call(operations.getOrganization, {
        params: { org: acme },
      });
      return { visibility, location, website };
    },
    declared: { visibility: 'private', location: 'Moon', website: '' },
  },
  {
    action: 'mark-notifications',
    rule: () => `${onEverySweep('notification')}
if: notification.subject.title == "notified"
steps: [{ uses: mark-notifications, with: { as: pinned } }]`,
    async arrange(harness) {
      const arranged = await openIssue(harness, 'notified');
      const params = { ...at, ...arranged };
      await harness.ada.call(operations.createComment, {
        params,
        body: { body: `@${people.bot} please look` },
      });
      // A server creates notifications a moment later.
      await expect.poll(() => notified(harness)).toHaveLength(1);
      return arranged;
    },
    read: notified,
    declared: [{ unread: false, pinned: true }],
  },
  {
    action: 'mark-notifications',
    called: 'all',
    rule: () => `${onEverySweep('repository')}
steps: [{ uses: mark-notifications, with: { as: read, all: true } }]`,
    async arrange(harness) {
      const arranged = await openIssue(harness, 'noticed');
      const body = { body: `@${people.bot} please look` };
      await harness.ada.call(operations.createComment, { params: { ...at, ...arranged }, body });
      await expect.poll(() => unreadIn(harness)).toContain('noticed');
      return arranged;
    },
    read: unreadIn,
    declared: [],
    stays: { [`notifications:${acme}/${at.repo}`]: /it is no longer known which threads were unread/ },
    back: [],
  },
];

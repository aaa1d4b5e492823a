import type { Subject } from '../../src/contract/events/subject.ts';
import { operations } from '../../src/contract/operations.ts';
import { addFile, type PrivilegeSetup } from '../support/privilege-setup.ts';

/** One situation in which an action has something to do: the existing state, and the arguments as `plan` takes them. */
export type Scenario = {
  /** What cannot be undone, as `target: why`. */
  readonly stays?: RegExp;
  /**
   * True if undoing counts as a response to the rule: the change is not planned again until the rule has once stopped
   * asking for it.
   */
  readonly rests?: true;
  readonly arguments: (setup: PrivilegeSetup) => unknown;
  readonly on: keyof PrivilegeSetup['subjects'] | ((setup: PrivilegeSetup) => Promise<Subject>);
  readonly arrange?: (setup: PrivilegeSetup) => Promise<unknown>;
  /** Fields of the repository that the arguments set. */
  readonly names?: readonly string[];
  /**
   * Statuses with which the forge may refuse an account with less access. Default: 403. Others apply if the target is
   * not even visible.
   */
  readonly refusal?: readonly number[];
  /** What the action itself says to an account with less access. Default: it leaves the refusal to the forge. */
  readonly refuses?: RegExp;
};

/** A workflow that can be dispatched manually. */
export const workflowByHand = `on: { workflow_dispatch: { inputs: { target: {}, count: {} } } }
jobs: { deploy: { runs-on: nowhere, steps: [{ run: "true" }] } }
`;

/** A scenario for every action of the table. The laws are tested on all of them. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  'set-labels': {
    on: 'pull_request',
    arrange: ({ owner, at }) =>
      owner.client.call(operations.createLabel, { params: at, body: { name: 'bug', color: 'ff0000' } }),
    arguments: () => ({ add: ['bug'] }),
  },
  'set-issue': {
    on: 'pull_request',
    arrange: ({ owner, at }) =>
      owner.client.call(operations.createMilestone, { params: at, body: { title: 'next' } }),
    arguments: ({ ada }) => ({
      title: 'Better work',
      milestone: 'next',
      due_date: '2026-12-31',
      assignees: { add: [ada.name] },
    }),
  },
  'request-reviewers': {
    on: 'pull_request',
    async arrange({ owner, ada, at }) {
      const org = { org: at.owner };
      const units = ['repo.code', 'repo.pulls'];
      const body = { name: 'release', permission: 'write', includes_all_repositories: true, units };
      const { id } = await owner.client.call(operations.createTeam, { params: org, body });
      await owner.client.call(operations.putTeamMember, { params: { id, username: ada.name } });
    },
    arguments: ({ owner }) => ({ users: [owner.name], teams: ['release'] }),
    refusal: [403, 404],
  },
  react: {
    on: 'issue',
    arguments: () => ({ reaction: 'eyes' }),
    refusal: [403, 404],
  },
  'sync-repository': {
    on: 'repository',
    names: [
      'description',
      'default_branch',
      'allow_merge_commits',
      'default_merge_style',
      'topics',
      'template',
    ],
    arrange: ({ ada, at }) => addFile(ada.client, at, 'develop', 'src/c.ts'),
    arguments: () => ({
      description: 'Tidy',
      default_branch: 'develop',
      allow_merge_commits: false,
      default_merge_style: 'squash',
      topics: ['tidy', 'small'],
      template: true,
    }),
  },
  'sync-collaborators': {
    on: 'repository',
    arguments: ({ ada, underprivileged }) => ({
      collaborators: [
        { login: ada.name, permission: 'read' },
        { login: underprivileged.name, permission: 'admin' },
      ],
    }),
  },
  'sync-teams': {
    on: 'organization',
    async arrange({ holder, at, ada }) {
      const units_map = { 'repo.code': 'read', 'repo.wiki': 'read' };
      const body = { name: 'core', permission: 'read', units_map };
      const { id } = await holder.client.call(operations.createTeam, { params: { org: at.owner }, body });
      await holder.client.call(operations.putTeamMember, { params: { id, username: ada.name } });
    },
    arguments: ({ ada, owner, at }) => ({
      teams: [
        { name: 'core', description: 'The core', units_map: { 'repo.code': 'write' }, members: [owner.name] },
        { name: 'release', permission: 'write', members: [ada.name], repositories: [at.repo] },
      ],
    }),
  },
  comment: {
    on: 'pull_request',
    arguments: () => ({ key: 'main', text: 'Welcome.' }),
    // An account that cannot read a private repository gets 404.
    refusal: [403, 404],
  },
  notify: {
    stays: /a message that was sent cannot be taken back/,
    on: 'issue',
    arguments: () => ({ to: { secret: 'CHAT' }, key: 'main', text: 'Look at it.' }),
  },
  'set-status': {
    stays: /cannot be taken back/,
    on: 'pull_request',
    arguments: () => ({ context: 'reeve/tidy', state: 'success', description: 'All is well.' }),
  },
  'report-issue': {
    rests: true,
    on: 'repository',
    arguments: () => ({ key: 'drift', title: 'Something drifts', body: 'Look at it.' }),
    refusal: [403, 404],
  },
  'dismiss-stale-reviews': {
    on: 'pull_request',
    async arrange({ owner, ada, at, pull }) {
      const params = { ...at, index: pull.number };
      await owner.client.call(operations.createReview, {
        params,
        body: { event: 'APPROVED', body: 'Good.' },
      });
      await addFile(ada.client, at, 'work', 'src/b.ts');
    },
    arguments: () => ({
      states: ['APPROVED'],
      message: 'New commits.',
      'keep-on-rebase': false,
      priors: false,
    }),
  },
  review: {
    on: 'pull_request',
    // A dismissed review is not repeated on the same commit.
    rests: true,
    refuses: /has to be an administrator of the repository/,
    arguments: () => ({ verdict: 'request-changes', text: 'Not like this.', message: 'Not any more.' }),
  },
  'open-pull-request': {
    on: 'repository',
    arrange: ({ ada, at }) => addFile(ada.client, at, 'develop', 'src/c.ts'),
    arguments: () => ({ head: 'develop', base: 'main', title: 'Merge develop', body: 'All of it.' }),
    refusal: [403, 404],
  },
  'commit-files': {
    on: 'repository',
    arrange: ({ ada, at }) => addFile(ada.client, at, 'main', 'docs/old.md', 'old'),
    arguments: ({ at }) => ({
      files: [
        { path: 'docs/old.md', content: 'new\n' },
        { path: '.editorconfig', content: 'root = true\n' },
        { path: 'COPY.md', from: `${at.owner}/${at.repo}:README.md@main` },
        { path: 'README.md', from: `${at.owner}/${at.repo}:README.md` },
      ],
    }),
  },
  'run-workflow': {
    stays: /a workflow that was started cannot be taken back/,
    on: 'repository',
    async arrange({ owner, ada, at }) {
      await owner.client.call(operations.editRepository, { params: at, body: { has_actions: true } });
      await addFile(ada.client, at, 'main', '.gitea/workflows/deploy.yml', workflowByHand);
    },
    arguments: () => ({ workflow: 'deploy.yml', inputs: { target: 'staging', count: 3 } }),
  },
  'sync-branch-protections': {
    on: 'repository',
    arrange: ({ owner, at }) =>
      owner.client.call(operations.createBranchProtection, {
        params: at,
        body: { rule_name: 'main', required_approvals: 2, block_on_outdated_branch: true },
      }),
    arguments: ({ ada }) => ({
      prune: false,
      protections: [
        { rule_name: 'main', required_approvals: 1, enable_push: true, enable_push_whitelist: true },
        {
          rule_name: 'release/*',
          enable_push: false,
          enable_merge_whitelist: true,
          merge_whitelist_usernames: [ada.name],
        },
      ],
    }),
  },
  'protect-tags': {
    on: 'repository',
    arguments: ({ ada }) => ({
      prune: false,
      tags: [{ name_pattern: 'v*', whitelist_usernames: [ada.name] }],
    }),
  },
  'sync-organization': {
    on: 'organization',
    arguments: () => ({ visibility: 'private', location: 'Moon' }),
  },
  'sync-labels': {
    on: 'repository',
    arrange: ({ owner, at }) =>
      owner.client.call(operations.createLabel, {
        params: at,
        body: { name: 'bug', color: 'ff0000', is_archived: true },
      }),
    arguments: () => ({
      labels: [
        { name: 'kind/bug', color: '00ff00', exclusive: true, previously: ['bug'] },
        { name: 'kind/feature', color: '#abc', description: 'New' },
      ],
    }),
    // An account that cannot read a private repository gets 404.
    refusal: [403, 404],
  },
  'sync-milestones': {
    on: 'repository',
    async arrange({ owner, at }) {
      for (const title of ['v1', 'empty']) {
        const body = { title, due_on: '2026-06-30T23:59:59Z' };
        await owner.client.call(operations.createMilestone, { params: at, body });
      }
    },
    arguments: () => ({
      milestones: [
        { title: 'v1', description: 'First', state: 'closed' },
        { title: 'v2', description: 'Second', due_on: '2026-12-31' },
      ],
      prune: true,
    }),
    // An account that cannot read a private repository gets 404.
    refusal: [403, 404],
  },
  'sync-hooks': {
    on: 'repository',
    arguments: () => ({
      'of-account': false,
      hooks: [
        { url: 'https://ci.example.org/hook', events: ['issues', 'push'], active: true, name: 'ci' },
        { url: 'https://chat.example.org/', events: ['pull_request_only'], active: false },
      ],
    }),
  },
  'mark-notifications': {
    async arrange({ owner, ada, holder, at, issue }) {
      const params = { ...at, collaborator: holder.name };
      await owner.client.call(operations.putCollaborator, { params, body: { permission: 'read' } });
      const body = { body: `@${holder.name} please look` };
      await ada.client.call(operations.createComment, { params: { ...at, index: issue }, body });
    },
    async on({ holder }) {
      const [thread] = await holder.client.call(operations.listNotifications, {});
      return { kind: 'notification', ...(thread && { thread: thread.id }) };
    },
    arguments: () => ({ as: 'read' }),
  },
  merge: {
    stays: /a merge cannot be taken back/,
    on: (setup) => pullFrom(setup, 'topic'),
    arguments: () => ({ method: 'merge', title: 'Topic', 'delete-branch': true }),
    // Accounts that may not merge get 405.
    refusal: [405],
  },
  'queue-merge': {
    on: (setup) => pullFrom(setup, 'queued'),
    arguments: () => ({ method: 'merge', priority: 0, timeout: 60, forks: false }),
  },
  'delete-branch': {
    async on(setup) {
      const subject = await pullFrom(setup, 'done');
      const params = { ...setup.at, index: subject.index ?? 0 };
      const body = { do: 'merge', delete_branch_after_merge: false };
      await setup.owner.client.call(operations.mergePull, { params, body });
      return subject;
    },
    arguments: () => ({}),
  },
  backport: {
    // A pull request cannot be deleted once it is opened, and is not opened again once it is closed.
    rests: true,
    async on(setup) {
      const { owner, at } = setup;
      const release = { new_branch_name: 'release', old_ref_name: 'main' };
      await owner.client.call(operations.createBranch, { params: at, body: release });
      const subject = await pullFrom(setup, 'fix');
      const params = { ...at, index: subject.index ?? 0 };
      const body = { do: 'squash', delete_branch_after_merge: false } as const;
      await owner.client.call(operations.mergePull, { params, body });
      return subject;
    },
    arguments: () => ({ to: ['rel*'] }),
  },
  'update-branch': {
    stays: /the update of a branch cannot be reverted/,
    async on(setup) {
      const subject = await pullFrom(setup, 'behind');
      await addFile(setup.owner.client, setup.at, 'main', 'ahead.txt');
      return subject;
    },
    arguments: () => ({ how: 'merge', forks: false }),
  },
};

/** Opens a pull request from its own branch, as ada. */
async function pullFrom({ ada, at, subjects }: PrivilegeSetup, branch: string): Promise<Subject> {
  await addFile(ada.client, at, branch, `${branch}.txt`);
  const body = { title: branch, head: branch, base: 'main' };
  const { number } = await ada.client.call(operations.createPull, { params: at, body });
  return { ...subjects.pull_request, index: number };
}

import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseEvent } from '../../src/contract/events/events.ts';
import { operations } from '../../src/contract/operations.ts';
import { facts } from '../../src/facts/facts.ts';
import { type Way, ways } from '../../src/facts/ways.ts';
import { type AutomaticKind, eventsAbout } from '../../src/rules/automatic-events.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { at, authorization, type Harness, people, secret, startHarness } from '../support/harness.ts';
import { addFile } from '../support/privilege-setup.ts';

/**
 * Makes each change of `ways` on a forge, and compares the events that arrive with those of the table: for a change
 * without an event, none about the item arrives before the event of a later comment.
 */
let harness: Harness;
let isForgejo = false;
let pull = 0;
let issue = 0;
let other = 0;
let merging = 0;
let review = 0;
let label = 0;
let milestone = 0;
let team = 0;
let protection = '';

const item = (index: number) => ({ ...at, index });

beforeAll(async () => {
  harness = await startHarness({ labels: ['kept', 'renamed'] });
  const { ada, root } = harness;
  const { version } = await root.call(operations.getVersion, {});
  isForgejo = /gitea-/.test(version ?? '');
  // The hook of flows is one for every forge, and Forgejo has no events of statuses.
  if (!isForgejo) {
    const config = { url: `${harness.server.url}/webhook`, content_type: 'json', secret };
    const hook = {
      type: 'gitea',
      active: true,
      events: ['status'],
      config,
      authorization_header: authorization,
    };
    await root.call(operations.createHook, { params: at, body: hook });
  }
  const branch = { new_branch_name: 'other', old_branch_name: 'main' };
  await ada.call(operations.createBranch, { params: at, body: branch });
  pull = (await harness.openPull('change', { 'a.txt': 'a' })).number;
  merging = (await harness.openPull('merged', { 'b.txt': 'b' })).number;
  issue = (await ada.call(operations.createIssue, { params: at, body: { title: 'An issue' } })).number;
  other = (await ada.call(operations.createIssue, { params: at, body: { title: 'Another issue' } })).number;
  milestone = (await ada.call(operations.createMilestone, { params: at, body: { title: 'v1' } })).id;
  label =
    (await ada.call(operations.listLabels, { params: at })).find(({ name }) => name === 'kept')?.id ?? 0;
  const members = { name: 'ways', permission: 'write', units: ['repo.code', 'repo.pulls', 'repo.issues'] };
  team = (await root.call(operations.createTeam, { params: { org: at.owner }, body: members })).id;
  await root.call(operations.putTeamRepository, { params: { id: team, org: at.owner, repo: at.repo } });
  await harness.idle();
});
afterAll(() => harness?.close());

type Arrived = { readonly name: string; readonly index: number | undefined };

/** Returns the events that arrived after a delivery, but those of the marker. */
async function eventsAfter(last: bigint): Promise<readonly Arrived[]> {
  const found: Arrived[] = [];
  for (const { id } of (await harness.server.store.listDeliveries({ limit: 100 })).items) {
    if (BigInt(id) <= last) continue;
    const delivery = await harness.server.store.readDelivery(id);
    if (delivery === undefined || delivery.door !== 'webhook') continue;
    const { family, activity, subject } = parseEvent(
      delivery.eventType,
      JSON.parse(Buffer.from(delivery.body).toString('utf8')),
    );
    const isMarker = family === 'issue_comment' && subject?.index === other;
    if (family === undefined || isMarker) continue;
    found.push({ name: activity === '' ? family : `${family}.${activity}`, index: subject?.index });
  }
  return found;
}

/** Makes a change and then a comment as a marker, and returns the id of the last delivery before. */
async function makeChange(make: () => Promise<unknown>): Promise<bigint> {
  await harness.idle();
  const { items } = await harness.server.store.listDeliveries({ limit: 1 });
  await make();
  await harness.ada.call(operations.createComment, { params: item(other), body: { body: 'A marker.' } });
  await harness.idle();
  return BigInt(items[0]?.id ?? 0);
}

type Change = {
  readonly way: keyof typeof ways;
  readonly kind: AutomaticKind;
  readonly make: () => Promise<unknown>;
  /** The item; default: the pull request or the issue. */
  readonly index?: () => number;
  /** Set if Forgejo has no API for the change. */
  readonly giteaOnly?: true;
};

const call = () => harness;
const changes: readonly Change[] = [
  { way: 'pushed', kind: 'pull_request', make: () => addFile(call().ada, at, 'change', 'c.txt') },
  { way: 'basePushed', kind: 'pull_request', make: () => addFile(call().ada, at, 'main', 'd.txt') },
  {
    way: 'retargeted',
    kind: 'pull_request',
    make: async () => {
      await call().ada.call(operations.editPull, { params: item(pull), body: { base: 'other' } });
      await call().ada.call(operations.editPull, { params: item(pull), body: { base: 'main' } });
    },
  },
  {
    way: 'merged',
    kind: 'pull_request',
    index: () => merging,
    make: () => call().ada.call(operations.mergePull, { params: item(merging), body: { Do: 'merge' } }),
  },
  {
    way: 'reviewed',
    kind: 'pull_request',
    make: async () => {
      const body = { event: 'APPROVED', body: 'Fine.' } as const;
      review = (await call().root.call(operations.createReview, { params: item(pull), body })).id;
    },
  },
  {
    way: 'dismissed',
    kind: 'pull_request',
    make: () =>
      call().root.call(operations.dismissReview, {
        params: { ...item(pull), id: review },
        body: { message: 'Not any more.' },
      }),
  },
  {
    way: 'requested',
    kind: 'pull_request',
    make: async () => {
      const body = { reviewers: [people.bot] };
      await call().ada.call(operations.requestReviews, { params: item(pull), body });
      await call().ada.call(operations.cancelReviewRequests, { params: item(pull), body });
    },
  },
  {
    way: 'teamRequested',
    kind: 'pull_request',
    make: () =>
      call().ada.call(operations.cancelReviewRequests, {
        params: item(pull),
        body: { team_reviewers: ['ways'] },
      }),
  },
  {
    way: 'reported',
    kind: 'pull_request',
    make: async () => {
      const { head } = await call().ada.call(operations.getPull, { params: item(pull) });
      const body = { context: 'ci/test', state: 'success' } as const;
      await call().ada.call(operations.createStatus, { params: { ...at, sha: head?.sha ?? '' }, body });
    },
  },
  {
    way: 'scheduled',
    kind: 'pull_request',
    make: async () => {
      const protection = { rule_name: 'main', enable_status_check: true, status_check_contexts: ['never'] };
      await call().root.call(operations.createBranchProtection, { params: at, body: protection });
      const isMergeable = async () =>
        (await call().ada.call(operations.getPull, { params: item(pull) })).mergeable;
      await expect.poll(isMergeable, { timeout: timeoutMs }).toBe(true);
      await call().ada.call(operations.mergePull, {
        params: item(pull),
        body: { Do: 'merge', merge_when_checks_succeed: true },
      });
      await call().ada.call(operations.cancelScheduledMerge, { params: item(pull) });
      await call().root.call(operations.deleteBranchProtection, { params: { ...at, name: 'main' } });
    },
  },
  {
    way: 'protected',
    kind: 'pull_request',
    make: async () => {
      const body = { rule_name: 'release/*', required_approvals: 1 };
      const made = await call().root.call(operations.createBranchProtection, { params: at, body });
      protection = made.rule_name ?? '';
    },
  },
  ...(['pull_request', 'issue'] as const).flatMap((kind): readonly Change[] => {
    const on = () => item(kind === 'issue' ? issue : pull);
    const edit = (body: Parameters<typeof editItem>[1]) => editItem(on().index, body);
    return [
      { way: 'edited', kind, make: () => edit({ title: 'Another title' }) },
      {
        way: 'closed',
        kind,
        make: async () => {
          await edit({ state: 'closed' });
          await edit({ state: 'open' });
        },
      },
      {
        way: 'labels',
        kind,
        make: async () => {
          await call().ada.call(operations.addIssueLabels, { params: on(), body: { labels: [label] } });
          await call().ada.call(operations.clearIssueLabels, { params: on() });
          await call().ada.call(operations.addIssueLabels, { params: on(), body: { labels: [label] } });
        },
      },
      {
        way: 'labelEdited',
        kind,
        make: () =>
          call().ada.call(operations.editLabel, {
            params: { ...at, id: label },
            body: { name: `renamed for the ${kind}` },
          }),
      },
      {
        way: 'assignees',
        kind,
        make: async () => {
          await edit({ assignees: [people.ada] });
          await edit({ assignees: [] });
        },
      },
      {
        way: 'milestone',
        kind,
        make: async () => {
          await edit({ milestone });
          await edit({ milestone: 0 });
          await edit({ milestone });
        },
      },
      {
        way: 'milestoneEdited',
        kind,
        make: () =>
          call().ada.call(operations.editMilestone, {
            params: { ...at, id: milestone },
            body: { title: `v2 of the ${kind}` },
          }),
      },
      {
        way: 'locked',
        kind,
        giteaOnly: true,
        make: () =>
          call().root.call(operations.lockIssue, { params: on(), body: { lock_reason: 'Resolved' } }),
      },
      {
        way: 'dueDate',
        kind,
        make: () =>
          call().ada.call(operations.setIssueDeadline, {
            params: on(),
            body: { due_date: '2030-01-02T00:00:00Z' },
          }),
      },
      {
        way: 'reacted',
        kind,
        make: () => call().ada.call(operations.addIssueReaction, { params: on(), body: { content: '+1' } }),
      },
      {
        way: 'commented',
        kind,
        make: async () => {
          const { id } = await call().root.call(operations.createComment, {
            params: on(),
            body: { body: 'A comment.' },
          });
          const params = { ...at, id };
          await call().root.call(operations.editComment, { params, body: { body: 'Another comment.' } });
          await call().root.call(operations.deleteComment, { params });
        },
      },
      {
        way: 'permitted',
        kind,
        make: () =>
          call().root.call(operations.putCollaborator, {
            params: { ...at, collaborator: people.bot },
            body: { permission: kind === 'issue' ? 'write' : 'read' },
          }),
      },
      {
        way: 'joined',
        kind,
        make: () =>
          kind === 'issue'
            ? call().root.call(operations.deleteTeamMember, { params: { id: team, username: people.ada } })
            : call().root.call(operations.putTeamMember, { params: { id: team, username: people.ada } }),
      },
      {
        way: 'configured',
        kind,
        make: () =>
          call().root.call(operations.editRepository, {
            params: at,
            body: { description: `About each ${kind}.` },
          }),
      },
    ];
  }),
];

function editItem(
  index: number,
  body: { title?: string; state?: 'open' | 'closed'; assignees?: string[]; milestone?: number },
): Promise<unknown> {
  return call().ada.call(operations.editIssue, { params: item(index), body });
}

it.each(changes)(
  '$way of a $kind has the events of the table',
  async ({ way: name, kind, make, index, giteaOnly }) => {
    if (giteaOnly && isForgejo) return;
    const way: Way = ways[name];
    const number = index?.() ?? (kind === 'issue' ? issue : pull);
    const isSilent = way.silentOn === (isForgejo ? 'Forgejo' : 'Gitea');
    const expected = isSilent ? [] : eventsAbout(way, kind);
    const last = await makeChange(make);
    const names = async () =>
      (await eventsAfter(last))
        .filter((event) => event.index === number || event.index === undefined)
        .map((event) => event.name);
    // Each event of the table arrives, so that it has none that the forge never sends for this change.
    for (const event of expected)
      await expect
        .poll(names, { timeout: timeoutMs })
        .toContainEqual(expect.stringMatching(new RegExp(`^${event.replace('.', '[.]')}(\\.|$)`)));
    if (expected.length === 0) expect(await names()).toEqual([]);
  },
);

it('makes each change of the table but those that need a runner, a minute or another item', () => {
  const made = new Set<string>(changes.map(({ way }) => way));
  expect(Object.keys(ways).filter((name) => !made.has(name))).toEqual([
    'attached',
    'ran',
    'conflicted',
    'elsewhere',
    'time',
  ]);
  expect(protection).not.toBe('');
});

it('every fact of an issue or a pull request says how its value changes, but those that an event brings along', () => {
  const without = facts.filter(
    ({ of, changes: said }) => !said && of.some((kind) => kind === 'issue' || kind === 'pull_request'),
  );
  expect(without.map(({ name }) => name)).toEqual(['comment', 'review', 'sender_permission', 'command']);
});

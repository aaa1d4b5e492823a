import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { at, type Harness, people } from '../support/harness.ts';
import { mergeByHand } from '../support/merge-by-hand.ts';
import { addFile } from '../support/privilege-setup.ts';
import { type ActionRow, type Arranged, onPush, openIssue, push } from './action-row.ts';

const named = (list: readonly { readonly name: string }[]): readonly string[] =>
  list.map(({ name }) => name).toSorted();

async function editBody({ ada }: Harness, { index }: Arranged): Promise<unknown> {
  return ada.call(operations.editIssue, { params: { ...at, index }, body: { body: 'Look again.' } });
}

const onEdited = (title: string): string => `on: issues.edited
if: event.issue.title == "${title}"`;

async function openPull(harness: Harness, branch: string): Promise<Arranged> {
  const { number } = await harness.openPull(branch, { [`${branch}.txt`]: branch });
  return { index: number };
}

async function statusesOf({ root }: Harness, { index }: Arranged): Promise<unknown> {
  const { head } = await root.call(operations.getPull, { params: { ...at, index } });
  const all = await root.call(operations.listStatuses, { params: { ...at, sha: head?.sha ?? '' } });
  const newest = all.toSorted((one, other) => one.id - other.id).map((one) => [one.context, one.status]);
  return Object.fromEntries(newest);
}

/** Actions on issues, pull requests and commits. */
export const conversationRows: readonly ActionRow[] = [
  {
    action: 'set-labels',
    rule: () => `${onEdited('labels')}
steps:
  - uses: set-labels
    with: { add: [area/docs, fresh], remove: [kept], create: { color: 00ff00 } }`,
    async arrange(harness) {
      const arranged = await openIssue(harness, 'labels');
      const known = await harness.root.call(operations.listLabels, { params: at });
      const ids = known.filter(({ name }) => name === 'kept' || name === 'area/code').map(({ id }) => id);
      await harness.root.call(operations.addIssueLabels, {
        params: { ...at, ...arranged },
        body: { labels: ids },
      });
      return arranged;
    },
    happens: editBody,
    read: async ({ root }, arranged) => ({
      carried: named(await root.call(operations.listIssueLabels, { params: { ...at, ...arranged } })),
      defined: named(await root.call(operations.listLabels, { params: at })),
    }),
    declared: {
      carried: ['area/code', 'area/docs', 'fresh'],
      defined: ['area/code', 'area/docs', 'fresh', 'kept'],
    },
  },
  {
    action: 'set-issue',
    rule: () => `${onEdited('set')}
steps:
  - uses: set-issue
    with:
      title: set
      state: closed
      assignees: { add: [${people.ada}], remove: [${people.root}] }
      milestone: next
      due_date: 2026-12-31
      pinned: true`,
    async arrange(harness) {
      const arranged = await openIssue(harness, 'set');
      await harness.root.call(operations.createMilestone, { params: at, body: { title: 'next' } });
      const params = { ...at, ...arranged };
      await harness.root.call(operations.editIssue, { params, body: { assignees: [people.root] } });
      return arranged;
    },
    happens: editBody,
    read: async ({ root }, arranged) => {
      const one = await root.call(operations.getIssue, { params: { ...at, ...arranged } });
      const assignees = (one.assignees ?? []).map(({ login }) => login);
      const { state, title, due_date } = one;
      const day = due_date?.slice(0, 10) ?? null;
      const isPinned = (one.pin_order ?? 0) > 0;
      return { state, title, assignees, milestone: one.milestone?.title ?? null, day, isPinned };
    },
    declared: {
      state: 'closed',
      title: 'set',
      assignees: [people.ada],
      milestone: 'next',
      day: '2026-12-31',
      isPinned: true,
    },
  },
  {
    action: 'set-issue',
    called: 'locked',
    requires: 'issue_lock',
    rule: () => `${onEdited('lock')}
steps: [{ uses: set-issue, with: { locked: true } }]`,
    arrange: (harness) => openIssue(harness, 'lock'),
    happens: editBody,
    read: async ({ root }, arranged) =>
      (await root.call(operations.getIssue, { params: { ...at, ...arranged } })).is_locked,
    declared: true,
  },
  {
    action: 'request-reviewers',
    rule: () => `on: pull_request.edited
if: event.pull_request.title == "reviewers"
steps: [{ uses: request-reviewers, with: { users: [${people.ada}, ${people.root}, ${people.bot}], pick: 2 } }]`,
    arrange: (harness) => openPull(harness, 'reviewers'),
    happens: ({ ada }, arranged) =>
      ada.call(operations.editPull, { params: { ...at, ...arranged }, body: { title: 'reviewers' } }),
    // No rule requests a review from the author.
    read: async ({ root }, arranged) =>
      (await root.call(operations.listReviews, { params: { ...at, ...arranged } }))
        .map(({ user, state }) => `${state} ${user?.login}`)
        .toSorted(),
    declared: [people.bot, people.root].map((login) => `REQUEST_REVIEW ${login}`).toSorted(),
  },
  {
    action: 'react',
    rule: () => `on: issue_comment.created
if: event.issue.title == "react"
steps: [{ uses: react, with: { reaction: eyes } }]`,
    arrange: (harness) => openIssue(harness, 'react'),
    happens: ({ ada }, arranged) =>
      ada.call(operations.createComment, { params: { ...at, ...arranged }, body: { body: 'Look.' } }),
    async read({ root }, arranged) {
      const [comment] = await root.call(operations.listComments, { params: { ...at, ...arranged } });
      if (comment === undefined) return [];
      const params = { ...at, id: comment.id };
      return (await root.call(operations.listCommentReactions, { params })).map(
        ({ content, user }) => `${user?.login} ${content}`,
      );
    },
    declared: [`${people.bot} eyes`],
  },
  {
    action: 'comment',
    rule: () => `${onEdited('comment')}
steps: [{ uses: comment, with: { text: Welcome. } }]`,
    arrange: (harness) => openIssue(harness, 'comment'),
    happens: editBody,
    read: async ({ root }, arranged) =>
      (await root.call(operations.listComments, { params: { ...at, ...arranged } })).map(({ body }) =>
        body?.split('\n').at(-1),
      ),
    declared: ['Welcome.'],
  },
  {
    action: 'notify',
    rule: () => `${onEdited('notify')}
steps: [{ uses: notify, with: { to: { secret: CHAT }, text: "Look at \${{ issue.title }}." } }]`,
    arrange: (harness) => openIssue(harness, 'notify'),
    happens: editBody,
    read: async (_harness, _arranged, { received }) =>
      received.filter(({ headers }) => headers['idempotency-key']).map(({ body }) => body),
    declared: ['Look at notify.'],
    stays: { message: /a message that was sent cannot be taken back/ },
    back: ['Look at notify.'],
  },
  {
    action: 'report-issue',
    rule: () => `${onEdited('report')}
steps: [{ uses: report-issue, with: { key: k, title: Something drifts } }]`,
    arrange: (harness) => openIssue(harness, 'report'),
    happens: editBody,
    read: async ({ root }) =>
      (await root.call(operations.listIssues, { params: at, query: { state: 'all', type: 'issues' } }))
        .filter(({ title }) => title === 'Something drifts')
        .map(({ state }) => state),
    declared: ['open'],
    // Only administrators of a repository can delete issues, so the revert closes the issue.
    back: ['closed'],
  },
  {
    action: 'set-status',
    rule: () => `on: pull_request.edited
if: event.pull_request.title == "status"
steps: [{ uses: set-status, with: { context: every/action, state: success } }]`,
    async arrange(harness) {
      const arranged = await openPull(harness, 'status');
      const { head } = await harness.root.call(operations.getPull, { params: { ...at, ...arranged } });
      const body = { context: 'every/action', state: 'pending' } as const;
      const params = { ...at, sha: head?.sha ?? '' };
      await harness.bot.call(operations.createStatus, { params, body });
      return arranged;
    },
    happens: ({ ada }, arranged) =>
      ada.call(operations.editPull, { params: { ...at, ...arranged }, body: { title: 'status' } }),
    read: statusesOf,
    declared: { 'every/action': 'success' },
  },
  {
    action: 'set-status',
    called: 'where there was none',
    rule: () => `on: pull_request.edited
if: event.pull_request.title == "first status"
steps: [{ uses: set-status, with: { context: every/first, state: success } }]`,
    arrange: (harness) => openPull(harness, 'first'),
    happens: ({ ada }, arranged) =>
      ada.call(operations.editPull, { params: { ...at, ...arranged }, body: { title: 'first status' } }),
    read: statusesOf,
    declared: { 'every/first': 'success' },
    stays: { 'status:every/first': /a status cannot be taken back, and there was none before/ },
    back: { 'every/first': 'success' },
  },
  {
    action: 'dismiss-stale-reviews',
    rule: () => `on: { pull_request: [synchronized] }
steps: [{ uses: dismiss-stale-reviews, with: { states: [APPROVED], message: New commits. } }]`,
    async arrange(harness) {
      const arranged = await openPull(harness, 'reviewed');
      const body = { event: 'APPROVED', body: 'Good.' };
      await harness.root.call(operations.createReview, { params: { ...at, ...arranged }, body });
      return arranged;
    },
    happens: ({ ada }) => addFile(ada, at, 'reviewed', 'later.txt'),
    read: async ({ root }, arranged) =>
      (await root.call(operations.listReviews, { params: { ...at, ...arranged } })).map(
        ({ state, dismissed }) => [...[state, dismissed]],
      ),
    declared: [['APPROVED', true]],
  },
  {
    action: 'review',
    rule: () => `on: pull_request.edited
if: event.pull_request.title == "not like this"
steps: [{ uses: review, with: { verdict: request-changes, text: No. } }]`,
    arrange: (harness) => openPull(harness, 'criticised'),
    happens: ({ ada }, arranged) =>
      ada.call(operations.editPull, { params: { ...at, ...arranged }, body: { title: 'not like this' } }),
    read: async ({ root }, arranged) =>
      (await root.call(operations.listReviews, { params: { ...at, ...arranged } })).map(
        ({ state, dismissed }) => [...[state, dismissed]],
      ),
    declared: [['REQUEST_CHANGES', false]],
    // No API ends a review without a trace, so the revert dismisses it.
    back: [['REQUEST_CHANGES', true]],
  },
  {
    action: 'open-pull-request',
    rule: () => `${onPush('promote')}
steps: [{ uses: open-pull-request, with: { head: promote, base: main, title: Promote } }]`,
    happens: push('promote'),
    read: async ({ root }) =>
      (await root.call(operations.listPulls, { params: at, query: { state: 'all' } }))
        .filter(({ head }) => head?.ref === 'promote')
        .map(({ state, title }) => [state, title]),
    declared: [['open', 'Promote']],
    // No API deletes a pull request, so the revert closes it.
    back: [['closed', 'Promote']],
  },
  {
    action: 'merge',
    rule: () => `on: pull_request.edited
if: event.pull_request.title == "merge me"
steps: [{ uses: merge, with: { method: squash, title: "Merged #\${{ pull_request.number }}", delete-branch: true } }]`,
    arrange: (harness) => openPull(harness, 'mergeable'),
    happens: ({ ada }, arranged) =>
      ada.call(operations.editPull, { params: { ...at, ...arranged }, body: { title: 'merge me' } }),
    read: async ({ root }, arranged) => ({
      merged: (await root.call(operations.getPull, { params: { ...at, ...arranged } })).merged,
      branches: await branchesLike(root, 'mergeable'),
    }),
    declared: { merged: true, branches: [] },
    stays: { merge: /a merge cannot be taken back/ },
    back: { merged: true, branches: ['mergeable'] },
  },
  {
    action: 'queue-merge',
    rule: () => `on: pull_request.edited
if: event.pull_request.title == "line up"
steps: [{ uses: queue-merge, with: { method: merge } }]`,
    async arrange(harness) {
      const arranged = await openPull(harness, 'lined-up');
      const { head } = await harness.root.call(operations.getPull, { params: { ...at, ...arranged } });
      // The queue waits for this status, so the pull request stays in the queue.
      const params = { ...at, sha: head?.sha ?? '' };
      await harness.root.call(operations.createStatus, { params, body: { state: 'pending', context: 'ci' } });
      return arranged;
    },
    happens: ({ ada }, arranged) =>
      ada.call(operations.editPull, { params: { ...at, ...arranged }, body: { title: 'line up' } }),
    read: statusesOf,
    declared: { ci: 'pending', 'reeve/queue': 'pending' },
    back: { ci: 'pending', 'reeve/queue': 'error' },
  },
  {
    action: 'delete-branch',
    rule: () => `on: pull_request.edited
if: event.pull_request.title == "tidy up"
steps: [{ uses: delete-branch }]`,
    async arrange(harness) {
      const arranged = await openPull(harness, 'merged-before');
      const body = { do: 'merge', delete_branch_after_merge: false } as const;
      await mergeByHand(harness.root, arranged.index, body);
      return arranged;
    },
    happens: ({ ada }, arranged) =>
      ada.call(operations.editPull, { params: { ...at, ...arranged }, body: { title: 'tidy up' } }),
    read: ({ root }) => branchesLike(root, 'merged-before'),
    declared: [],
  },
  {
    called: 'closed',
    action: 'delete-branch',
    rule: () => `on: pull_request.edited
if: event.pull_request.title == "give up"
steps: [{ uses: delete-branch, with: { closed: true } }]`,
    async arrange(harness) {
      const arranged = await openPull(harness, 'closed-before');
      const params = { ...at, ...arranged };
      await harness.root.call(operations.editPull, { params, body: { state: 'closed' } });
      return arranged;
    },
    happens: ({ ada }, arranged) =>
      ada.call(operations.editPull, { params: { ...at, ...arranged }, body: { title: 'give up' } }),
    read: ({ root }) => branchesLike(root, 'closed-before'),
    declared: [],
  },
  {
    action: 'update-branch',
    rule: () => `on: pull_request.edited
if: event.pull_request.title == "keep up"
steps: [{ uses: update-branch }]`,
    async arrange(harness) {
      const arranged = await openPull(harness, 'slow');
      await addFile(harness.root, at, 'main', 'ahead.txt');
      await harness.idle();
      // The pull request counts as conflicting until the forge has checked it again.
      const read = () => harness.root.call(operations.getPull, { params: { ...at, ...arranged } });
      for (let tries = 0; tries < 2_000 && (await read()).mergeable !== true; tries += 1) await sleep(100);
      return arranged;
    },
    happens: ({ ada }, arranged) =>
      ada.call(operations.editPull, { params: { ...at, ...arranged }, body: { title: 'keep up' } }),
    read: async ({ root }) =>
      (await root.call(operations.compare, { params: { ...at, basehead: 'slow...main' } })).total_commits,
    declared: 0,
    stays: { update: /the update of a branch cannot be reverted/ },
    back: 0,
  },
  {
    action: 'backport',
    rule: () => `on: pull_request.edited
if: event.pull_request.title == "carry over"
steps: [{ uses: backport, with: { to: ["stable/*"] } }]`,
    async arrange(harness) {
      const stable = { new_branch_name: 'stable/1', old_ref_name: 'main' };
      await harness.root.call(operations.createBranch, { params: at, body: stable });
      const arranged = await openPull(harness, 'carried');
      const body = { do: 'squash', delete_branch_after_merge: true } as const;
      await mergeByHand(harness.root, arranged.index, body);
      return arranged;
    },
    happens: ({ ada }, arranged) =>
      ada.call(operations.editPull, { params: { ...at, ...arranged }, body: { title: 'carry over' } }),
    read: async ({ root }, { index }) => ({
      pulls: (await root.call(operations.listPulls, { params: at, query: { state: 'all' } }))
        .filter(({ base }) => base?.ref === 'stable/1')
        .map(({ state, title }) => [state, title]),
      branches: (await branchesLike(root, `backport-${index}-to-stable/1`)).length,
    }),
    declared: { pulls: [['open', '[stable/1] carry over']], branches: 1 },
    // No API deletes a pull request, so the revert closes it, and it is not reopened.
    back: { pulls: [['closed', '[stable/1] carry over']], branches: 0 },
  },
];

async function branchesLike(root: Client, name: string): Promise<readonly string[]> {
  const all = await root.call(operations.listBranches, { params: at });
  return all.map((branch) => branch.name).filter((one) => one === name);
}

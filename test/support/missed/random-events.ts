import { operations } from '../../../src/contract/operations.ts';
import {
  type At,
  addFile,
  type EventHistory,
  freePulls,
  next,
  openPull,
  openPulls,
  type Pull,
  push,
  waiting,
} from './event-history.ts';

/** Possible event. It has no effect if there is nothing to which it applies. */
type RandomEvent = {
  readonly name: string;
  readonly weight: number;
  readonly perform: (history: EventHistory) => Promise<unknown>;
};

const edit = ({ installation }: EventHistory, { at, index }: Pull, body: object): Promise<unknown> =>
  installation.ada.call(operations.editPull, { params: { ...at, index }, body });

const close = async (history: EventHistory, pull: Pull): Promise<void> => {
  await edit(history, pull, { state: 'closed' });
  pull.isOpen = false;
};

/**
 * Events of pull requests and issues. Two kinds of events are left out, because no later read can detect them: a draft
 * that becomes a draft again after a push, and a rule's own label set manually after the last event that the rule
 * receives.
 */
const work: readonly RandomEvent[] = [
  {
    name: 'a pull request is opened',
    weight: 12,
    perform: async (history) =>
      openPull(history, history.random.pick(history.repositories) ?? place(history)),
  },
  { name: 'commits are pushed', weight: 16, perform: onPull(openPulls, push) },
  {
    name: 'labels are set by hand, then commits are pushed',
    weight: 5,
    perform: onPull(openPulls, async (history, pull) => {
      const wrong = history.random.pick(['size/S', 'size/M', 'size/L']) ?? '';
      const params = { ...pull.at, index: pull.index };
      await history.installation.ada.call(operations.replaceIssueLabels, {
        params,
        body: { labels: [wrong, 'area/docs', 'kept'] },
      });
      await push(history, pull);
    }),
  },
  {
    name: 'a pull request is described, or its description removed',
    weight: 8,
    perform: onPull(openPulls, (history, pull) =>
      edit(history, pull, { body: history.random.below(2) === 0 ? '' : `Said in ${history.serial}.` }),
    ),
  },
  {
    name: 'a draft is ready, and goes on',
    weight: 3,
    perform: onPull(
      (history) => openPulls(history).filter(({ isDraft }) => isDraft),
      async (history, pull) => {
        await edit(history, pull, { title: `Ready ${pull.index}` });
        pull.isDraft = false;
        await push(history, pull);
      },
    ),
  },
  {
    name: 'a pull request is reviewed',
    weight: 10,
    perform: onPull(openPulls, ({ installation, random }, { at, index }) =>
      installation.bob.call(operations.createReview, {
        params: { ...at, index },
        body: {
          event: random.pick(['APPROVED', 'APPROVED', 'REQUEST_CHANGES', 'COMMENT']) ?? '',
          body: 'Seen.',
        },
      }),
    ),
  },
  {
    name: 'a pull request that no protection watches is approved, then commits are pushed',
    weight: 5,
    perform: onPull(
      (history) => openPulls(history).filter(({ base, isDraft }) => base === 'next' && !isDraft),
      async (history, pull) => {
        const params = { ...pull.at, index: pull.index };
        const body = { event: 'APPROVED', body: 'Good.' };
        await history.installation.bob.call(operations.createReview, { params, body });
        await push(history, pull);
      },
    ),
  },
  { name: 'a pull request is closed', weight: 4, perform: onPull(freePulls, close) },
  {
    name: 'commits are pushed, and the pull request is closed',
    weight: 4,
    perform: onPull(freePulls, async (history, pull) => {
      await push(history, pull);
      await history.installation.idle();
      await close(history, pull);
    }),
  },
  {
    name: 'a pull request is opened again',
    weight: 4,
    perform: onPull(
      (history) => history.pulls.filter(({ isOpen, isMerged }) => !isOpen && !isMerged),
      async (history, pull) => {
        await edit(history, pull, { state: 'open' });
        pull.isOpen = true;
      },
    ),
  },
  {
    name: 'a pull request is merged',
    weight: 4,
    perform: onPull(freePulls, async ({ installation }, pull) => {
      const params = { ...pull.at, index: pull.index };
      // A shipped rule allows only this merge style and lets the forge delete the branch. In new repositories, this
      // holds as soon as the rule has run.
      const body = { Do: 'squash', force_merge: true, delete_branch_after_merge: true };
      await installation.root.call(operations.mergePull, { params, body });
      pull.isOpen = false;
      pull.isMerged = true;
    }),
  },
  {
    name: 'an issue is opened',
    weight: 10,
    async perform(history) {
      const at = place(history);
      const title = `Issue ${next(history)}`;
      const { number } = await history.installation.ada.call(operations.createIssue, {
        params: at,
        body: { title },
      });
      history.issues.push({ at, index: number, waits: history.random.below(3) === 0, isOpen: true });
    },
  },
  {
    name: 'an issue is edited',
    weight: 6,
    perform: onIssue(({ installation, serial }, issue) =>
      installation.ada.call(operations.editIssue, {
        params: paramsOf(issue),
        body: { title: `Told ${serial}` },
      }),
    ),
  },
  {
    name: 'an issue is closed or opened again',
    weight: 10,
    perform: onIssue(async ({ installation }, issue) => {
      if (issue.waits) return;
      const state = issue.isOpen ? 'closed' : 'open';
      await installation.ada.call(operations.editIssue, { params: paramsOf(issue), body: { state } });
      issue.isOpen = !issue.isOpen;
    }),
  },
  {
    name: 'a person comments',
    weight: 5,
    perform: onIssue(({ installation, serial }, issue) =>
      installation.ada.call(operations.createComment, {
        params: paramsOf(issue),
        body: { body: `Said ${serial}` },
      }),
    ),
  },
  {
    name: 'something waits for an issue',
    weight: 8,
    perform: onWaiting(async ({ installation, random, issues }, one) => {
      const blocker = random.pick(issues.filter(({ at, waits }) => !waits && at.repo === one.at.repo));
      if (!blocker) return;
      const body = { owner: 'acme', repo: blocker.at.repo, index: blocker.index };
      await installation.bob.call(operations.addDependency, { params: paramsOf(one), body });
    }),
  },
  {
    name: 'a label is put on or taken off that no rule names',
    weight: 4,
    perform: onIssue(async ({ installation, random }, issue) => {
      const call = random.below(2) === 0 ? operations.addIssueLabels : operations.replaceIssueLabels;
      await installation.ada.call(call, { params: paramsOf(issue), body: { labels: ['kept'] } });
    }),
  },
  {
    name: 'the label of a rule with a clock is put on by hand',
    weight: 3,
    perform: onWaiting(({ installation }, one) =>
      installation.ada.call(operations.addIssueLabels, {
        params: paramsOf(one),
        body: { labels: ['blocked'] },
      }),
    ),
  },
];

/** Events of branches and tags. */
const refs: readonly RandomEvent[] = [
  {
    name: 'a branch is made',
    weight: 3,
    async perform(history) {
      const at = place(history);
      const name = `side-${next(history)}`;
      await addFile(history, at, { branch: 'main', new_branch: name });
      history.branches.push({ at, name });
    },
  },
  {
    name: 'a branch is removed',
    weight: 2,
    async perform({ installation, random, branches }) {
      const [gone] = branches.splice(random.below(branches.length), 1);
      if (gone)
        await installation.ada.call(operations.deleteBranch, { params: { ...gone.at, branch: gone.name } });
    },
  },
  {
    name: 'a tag is made',
    weight: 3,
    async perform(history) {
      const at = place(history);
      const name = `t${next(history)}`;
      await history.installation.ada.call(operations.createTag, { params: at, body: { tag_name: name } });
      history.tags.push({ at, name });
    },
  },
  {
    name: 'a tag is removed',
    weight: 2,
    async perform({ installation, random, tags }) {
      const [gone] = tags.splice(random.below(tags.length), 1);
      if (gone) await installation.ada.call(operations.deleteTag, { params: { ...gone.at, tag: gone.name } });
    },
  },
];

/** Returns a random repository. */
function place({ random, repositories }: EventHistory): EventHistory['repositories'][number] {
  return random.pick(repositories) ?? { owner: 'acme', repo: 'site' };
}

function paramsOf({ at, index }: { at: Pull['at']; index: number }): Pull['at'] & { index: number } {
  return { ...at, index };
}

function onPull(
  among: (history: EventHistory) => readonly Pull[],
  happen: (history: EventHistory, pull: Pull) => Promise<unknown>,
) {
  return async (history: EventHistory): Promise<void> => {
    const pull = history.random.pick(among(history));
    if (pull) await happen(history, pull);
  };
}

function onIssue(happen: (history: EventHistory, issue: EventHistory['issues'][number]) => Promise<unknown>) {
  return async (history: EventHistory): Promise<void> => {
    const issue = history.random.pick(history.issues);
    if (issue) await happen(history, issue);
  };
}

function onWaiting(
  happen: (history: EventHistory, one: ReturnType<typeof waiting>[number]) => Promise<unknown>,
) {
  return async (history: EventHistory): Promise<void> => {
    const one = history.random.pick(waiting(history));
    if (one) await happen(history, one);
  };
}

/** Manual changes by administrators, most of which send no event. */
const settings: readonly RandomEvent[] = [
  {
    name: 'a branch protection is changed',
    weight: 3,
    perform: byHand(async ({ installation, random }, at) => {
      const params = { ...at, name: 'main' };
      const body = { required_approvals: random.below(4), block_on_rejected_reviews: false };
      await installation.root.call(operations.editBranchProtection, { params, body });
    }),
  },
  {
    name: 'a branch protection is removed, another added',
    weight: 2,
    perform: byHand(async (history, at) => {
      const { root } = history.installation;
      const body = { rule_name: `old-${next(history)}` };
      await root.call(operations.createBranchProtection, { params: at, body });
      await root.call(operations.deleteBranchProtection, { params: { ...at, name: 'release/**' } });
    }),
  },
  {
    name: 'a tag protection is removed or changed',
    weight: 3,
    perform: byHand(async ({ installation, random }, at) => {
      const known = await installation.root.call(operations.listTagProtections, { params: at });
      const id = known.find(({ name_pattern }) => name_pattern === 'v*')?.id ?? 0;
      const params = { ...at, id };
      if (random.below(2) === 0) await installation.root.call(operations.deleteTagProtection, { params });
      else
        await installation.root.call(operations.editTagProtection, {
          params,
          body: { whitelist_teams: ['people'] },
        });
    }),
  },
  {
    name: 'a label gets another color',
    weight: 2,
    perform: byHand(async ({ installation, random }, at) => {
      const known = await installation.root.call(operations.listLabels, { params: at });
      const id = known.find(({ name }) => name === 'kind/bug')?.id ?? 0;
      const body = { color: random.pick(['123456', '654321']) ?? '' };
      await installation.root.call(operations.editLabel, { params: { ...at, id }, body });
    }),
  },
  {
    name: 'a label is removed',
    weight: 1,
    perform: byHand(async ({ installation }, at) => {
      const known = await installation.root.call(operations.listLabels, { params: at });
      const id = known.find(({ name }) => name === 'kind/feature')?.id ?? 0;
      await installation.root.call(operations.deleteLabel, { params: { ...at, id } });
    }),
  },
  {
    name: 'the hook of the build server is removed or turned off',
    weight: 2,
    perform: byHand(async ({ installation, random }, at) => {
      const [hook] = await installation.root.call(operations.listHooks, { params: at });
      const params = { ...at, id: hook?.id ?? 0 };
      if (random.below(2) === 0) await installation.root.call(operations.deleteHook, { params });
      else await installation.root.call(operations.editHook, { params, body: { active: false } });
    }),
  },
  {
    name: 'the organization is changed',
    weight: 3,
    async perform({ installation, random, serial }) {
      const body = {
        description: `Said ${serial}`,
        visibility: random.pick(['public', 'limited']) ?? '',
        website: random.pick(['', 'https://elsewhere.example.org']) ?? '',
      };
      await installation.root.call(operations.editOrganization, { params: { org: 'acme' }, body });
    },
  },
  {
    name: 'a repository is described',
    weight: 1,
    perform: byHand(async ({ installation, serial }, at) => {
      await installation.root.call(operations.editRepository, {
        params: at,
        body: { description: `Said ${serial}` },
      });
    }),
  },
  {
    name: 'a runner goes or comes back',
    weight: 3,
    async perform({ installation, random }) {
      const states = ['idle', 'offline'] as const;
      await installation.putRunners(
        ['one', 'two'].map((name) => ({ name, owner: 'acme', state: random.pick(states) ?? 'idle' })),
      );
    },
  },
  {
    name: 'a repository is made',
    weight: 1,
    async perform(history) {
      if (history.repositories.length >= 4) return;
      const repo = `new-${next(history)}`;
      await history.installation.makeRepository(repo);
      history.repositories.push({ owner: 'acme', repo });
    },
  },
];

/** All possible events. */
export const randomEvents: readonly RandomEvent[] = [...work, ...refs, ...settings];

/**
 * Makes a manual change. A missing object cannot be changed: on one forge, a rule has already restored the object; on
 * the other forge, it will do so later.
 */
function byHand(happen: (history: EventHistory, at: At) => Promise<unknown>) {
  return async (history: EventHistory): Promise<void> => {
    const at = history.random.pick(history.repositories);
    if (at) await happen(history, at).catch(() => undefined);
  };
}

import { operations } from '../../../src/contract/operations.ts';
import { settings } from './settings.ts';
import {
  addFile,
  freePulls,
  next,
  openPull,
  openPulls,
  type Pull,
  push,
  type Story,
  waiting,
} from './story.ts';

/** One thing that may happen; it does nothing where there is nothing for it to happen to. */
export type Happening = {
  readonly name: string;
  readonly weight: number;
  readonly happen: (story: Story) => Promise<unknown>;
};

const edit = ({ manor }: Story, { at, index }: Pull, body: object): Promise<unknown> =>
  manor.ada.call(operations.editPull, { params: { ...at, index }, body });

const close = async (story: Story, pull: Pull): Promise<void> => {
  await edit(story, pull, { state: 'closed' });
  pull.isOpen = false;
};

/**
 * What happens to pull requests and issues. Left out is what no reading can find again: a draft that becomes one again
 * after a push, and a rule's own label set by hand after the last event that its rule hears.
 */
const work: readonly Happening[] = [
  {
    name: 'a pull request is opened',
    weight: 12,
    happen: async (story) => openPull(story, story.chance.of(story.places) ?? place(story)),
  },
  { name: 'commits are pushed', weight: 16, happen: onPull(openPulls, push) },
  {
    name: 'labels are set by hand, then commits are pushed',
    weight: 5,
    happen: onPull(openPulls, async (story, pull) => {
      const wrong = story.chance.of(['size/S', 'size/M', 'size/L']) ?? '';
      const params = { ...pull.at, index: pull.index };
      await story.manor.ada.call(operations.replaceIssueLabels, {
        params,
        body: { labels: [wrong, 'area/docs', 'kept'] },
      });
      await push(story, pull);
    }),
  },
  {
    name: 'a pull request is described, or its description removed',
    weight: 8,
    happen: onPull(openPulls, (story, pull) =>
      edit(story, pull, { body: story.chance.below(2) === 0 ? '' : `Said in ${story.serial}.` }),
    ),
  },
  {
    name: 'a draft is ready, and goes on',
    weight: 3,
    happen: onPull(
      (story) => openPulls(story).filter(({ isDraft }) => isDraft),
      async (story, pull) => {
        await edit(story, pull, { title: `Ready ${pull.index}` });
        pull.isDraft = false;
        await push(story, pull);
      },
    ),
  },
  {
    name: 'a pull request is reviewed',
    weight: 10,
    happen: onPull(openPulls, ({ manor, chance }, { at, index }) =>
      manor.bob.call(operations.createReview, {
        params: { ...at, index },
        body: {
          event: chance.of(['APPROVED', 'APPROVED', 'REQUEST_CHANGES', 'COMMENT']) ?? '',
          body: 'Seen.',
        },
      }),
    ),
  },
  {
    name: 'a pull request that no protection watches is approved, then commits are pushed',
    weight: 5,
    happen: onPull(
      (story) => openPulls(story).filter(({ base, isDraft }) => base === 'next' && !isDraft),
      async (story, pull) => {
        const params = { ...pull.at, index: pull.index };
        const body = { event: 'APPROVED', body: 'Good.' };
        await story.manor.bob.call(operations.createReview, { params, body });
        await push(story, pull);
      },
    ),
  },
  { name: 'a pull request is closed', weight: 4, happen: onPull(freePulls, close) },
  {
    name: 'commits are pushed, and the pull request is closed',
    weight: 4,
    happen: onPull(freePulls, async (story, pull) => {
      await push(story, pull);
      await story.manor.quiet();
      await close(story, pull);
    }),
  },
  {
    name: 'a pull request is opened again',
    weight: 4,
    happen: onPull(
      (story) => story.pulls.filter(({ isOpen, isMerged }) => !isOpen && !isMerged),
      async (story, pull) => {
        await edit(story, pull, { state: 'open' });
        pull.isOpen = true;
      },
    ),
  },
  {
    name: 'a pull request is merged',
    weight: 4,
    happen: onPull(freePulls, async ({ manor }, pull) => {
      const params = { ...pull.at, index: pull.index };
      await manor.root.call(operations.mergePull, { params, body: { Do: 'merge', force_merge: true } });
      pull.isOpen = false;
      pull.isMerged = true;
    }),
  },
  {
    name: 'an issue is opened',
    weight: 10,
    async happen(story) {
      const at = place(story);
      const title = `Issue ${next(story)}`;
      const { number } = await story.manor.ada.call(operations.createIssue, { params: at, body: { title } });
      story.issues.push({ at, index: number, waits: story.chance.below(3) === 0, isOpen: true });
    },
  },
  {
    name: 'an issue is edited',
    weight: 6,
    happen: onIssue(({ manor, serial }, issue) =>
      manor.ada.call(operations.editIssue, { params: paramsOf(issue), body: { title: `Told ${serial}` } }),
    ),
  },
  {
    name: 'an issue is closed or opened again',
    weight: 10,
    happen: onIssue(async ({ manor }, issue) => {
      if (issue.waits) return;
      const state = issue.isOpen ? 'closed' : 'open';
      await manor.ada.call(operations.editIssue, { params: paramsOf(issue), body: { state } });
      issue.isOpen = !issue.isOpen;
    }),
  },
  {
    name: 'a person comments',
    weight: 5,
    happen: onIssue(({ manor, serial }, issue) =>
      manor.ada.call(operations.createComment, { params: paramsOf(issue), body: { body: `Said ${serial}` } }),
    ),
  },
  {
    name: 'something waits for an issue',
    weight: 8,
    happen: onWaiting(async ({ manor, chance, issues }, one) => {
      const blocker = chance.of(issues.filter(({ at, waits }) => !waits && at.repo === one.at.repo));
      if (!blocker) return;
      const body = { owner: 'acme', repo: blocker.at.repo, index: blocker.index };
      await manor.bob.call(operations.addDependency, { params: paramsOf(one), body });
    }),
  },
  {
    name: 'a label is put on or taken off that no rule names',
    weight: 4,
    happen: onIssue(async ({ manor, chance }, issue) => {
      const call = chance.below(2) === 0 ? operations.addIssueLabels : operations.replaceIssueLabels;
      await manor.ada.call(call, { params: paramsOf(issue), body: { labels: ['kept'] } });
    }),
  },
  {
    name: 'the label of a rule with a clock is put on by hand',
    weight: 3,
    happen: onWaiting(({ manor }, one) =>
      manor.ada.call(operations.addIssueLabels, { params: paramsOf(one), body: { labels: ['blocked'] } }),
    ),
  },
];

/** What happens to branches and tags. */
const refs: readonly Happening[] = [
  {
    name: 'a branch is made',
    weight: 3,
    async happen(story) {
      const at = place(story);
      const name = `side-${next(story)}`;
      await addFile(story, at, { branch: 'main', new_branch: name });
      story.branches.push({ at, name });
    },
  },
  {
    name: 'a branch is removed',
    weight: 2,
    async happen({ manor, chance, branches }) {
      const [gone] = branches.splice(chance.below(branches.length), 1);
      if (gone) await manor.ada.call(operations.deleteBranch, { params: { ...gone.at, branch: gone.name } });
    },
  },
  {
    name: 'a tag is made',
    weight: 3,
    async happen(story) {
      const at = place(story);
      const name = `t${next(story)}`;
      await story.manor.ada.call(operations.createTag, { params: at, body: { tag_name: name } });
      story.tags.push({ at, name });
    },
  },
  {
    name: 'a tag is removed',
    weight: 2,
    async happen({ manor, chance, tags }) {
      const [gone] = tags.splice(chance.below(tags.length), 1);
      if (gone) await manor.ada.call(operations.deleteTag, { params: { ...gone.at, tag: gone.name } });
    },
  },
];

/** Everything that may happen. */
export const happenings: readonly Happening[] = [...work, ...refs, ...settings];

/** Returns some repository. */
function place({ chance, places }: Story): Story['places'][number] {
  return chance.of(places) ?? { owner: 'acme', repo: 'site' };
}

function paramsOf({ at, index }: { at: Pull['at']; index: number }): Pull['at'] & { index: number } {
  return { ...at, index };
}

function onPull(
  among: (story: Story) => readonly Pull[],
  happen: (story: Story, pull: Pull) => Promise<unknown>,
) {
  return async (story: Story): Promise<void> => {
    const pull = story.chance.of(among(story));
    if (pull) await happen(story, pull);
  };
}

function onIssue(happen: (story: Story, issue: Story['issues'][number]) => Promise<unknown>) {
  return async (story: Story): Promise<void> => {
    const issue = story.chance.of(story.issues);
    if (issue) await happen(story, issue);
  };
}

function onWaiting(happen: (story: Story, one: ReturnType<typeof waiting>[number]) => Promise<unknown>) {
  return async (story: Story): Promise<void> => {
    const one = story.chance.of(waiting(story));
    if (one) await happen(story, one);
  };
}

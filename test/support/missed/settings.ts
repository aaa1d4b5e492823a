import { operations } from '../../../src/contract/operations.ts';
import type { Happening } from './happenings.ts';
import { type At, next, type Story } from './story.ts';

/** What administrators change by hand; most of it sends no event. */
export const settings: readonly Happening[] = [
  {
    name: 'a branch protection is changed',
    weight: 3,
    happen: byHand(async ({ manor, chance }, at) => {
      const params = { ...at, name: 'main' };
      const body = { required_approvals: chance.below(4), block_on_rejected_reviews: false };
      await manor.root.call(operations.editBranchProtection, { params, body });
    }),
  },
  {
    name: 'a branch protection is removed, another added',
    weight: 2,
    happen: byHand(async (story, at) => {
      const { root } = story.manor;
      const body = { rule_name: `old-${next(story)}` };
      await root.call(operations.createBranchProtection, { params: at, body });
      await root.call(operations.deleteBranchProtection, { params: { ...at, name: 'release/**' } });
    }),
  },
  {
    name: 'a tag protection is removed or changed',
    weight: 3,
    happen: byHand(async ({ manor, chance }, at) => {
      const known = await manor.root.call(operations.listTagProtections, { params: at });
      const id = known.find(({ name_pattern }) => name_pattern === 'v*')?.id ?? 0;
      const params = { ...at, id };
      if (chance.below(2) === 0) await manor.root.call(operations.deleteTagProtection, { params });
      else
        await manor.root.call(operations.editTagProtection, {
          params,
          body: { whitelist_teams: ['people'] },
        });
    }),
  },
  {
    name: 'a label gets another color',
    weight: 2,
    happen: byHand(async ({ manor, chance }, at) => {
      const known = await manor.root.call(operations.listLabels, { params: at });
      const id = known.find(({ name }) => name === 'kind/bug')?.id ?? 0;
      const body = { color: chance.of(['123456', '654321']) ?? '' };
      await manor.root.call(operations.editLabel, { params: { ...at, id }, body });
    }),
  },
  {
    name: 'a label is removed',
    weight: 1,
    happen: byHand(async ({ manor }, at) => {
      const known = await manor.root.call(operations.listLabels, { params: at });
      const id = known.find(({ name }) => name === 'kind/feature')?.id ?? 0;
      await manor.root.call(operations.deleteLabel, { params: { ...at, id } });
    }),
  },
  {
    name: 'the hook of the build server is removed or turned off',
    weight: 2,
    happen: byHand(async ({ manor, chance }, at) => {
      const [hook] = await manor.root.call(operations.listHooks, { params: at });
      const params = { ...at, id: hook?.id ?? 0 };
      if (chance.below(2) === 0) await manor.root.call(operations.deleteHook, { params });
      else await manor.root.call(operations.editHook, { params, body: { active: false } });
    }),
  },
  {
    name: 'the organization is changed',
    weight: 3,
    async happen({ manor, chance, serial }) {
      const body = {
        description: `Said ${serial}`,
        visibility: chance.of(['public', 'limited']) ?? '',
        website: chance.of(['', 'https://elsewhere.example.org']) ?? '',
      };
      await manor.root.call(operations.editOrganization, { params: { org: 'acme' }, body });
    },
  },
  {
    name: 'a repository is described',
    weight: 1,
    happen: byHand(async ({ manor, serial }, at) => {
      await manor.root.call(operations.editRepository, {
        params: at,
        body: { description: `Said ${serial}` },
      });
    }),
  },
  {
    name: 'a runner goes or comes back',
    weight: 3,
    async happen({ manor, chance }) {
      const states = ['idle', 'offline'] as const;
      await manor.putRunners(
        ['one', 'two'].map((name) => ({ name, owner: 'acme', state: chance.of(states) ?? 'idle' })),
      );
    },
  },
  {
    name: 'a repository is made',
    weight: 1,
    async happen(story) {
      if (story.places.length >= 4) return;
      const repo = `new-${next(story)}`;
      await story.manor.makeRepository(repo);
      story.places.push({ owner: 'acme', repo });
    },
  },
];

/** What is not there just now cannot be changed: a rule has put it back on one forge, and will on the other. */
function byHand(happen: (story: Story, at: At) => Promise<unknown>) {
  return async (story: Story): Promise<void> => {
    const at = story.chance.of(story.places);
    if (at) await happen(story, at).catch(() => undefined);
  };
}

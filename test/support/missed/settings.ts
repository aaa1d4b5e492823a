import { operations } from '../../../src/contract/operations.ts';
import { type At, type EventHistory, next } from './event-history.ts';
import type { RandomEvent } from './random-events.ts';

/** What administrators change by hand; most of it sends no event. */
export const settings: readonly RandomEvent[] = [
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

/** What is not there just now cannot be changed: a rule has put it back on one forge, and will on the other. */
function byHand(happen: (history: EventHistory, at: At) => Promise<unknown>) {
  return async (history: EventHistory): Promise<void> => {
    const at = history.random.pick(history.repositories);
    if (at) await happen(history, at).catch(() => undefined);
  };
}

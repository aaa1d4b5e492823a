import { z } from 'zod';
import type { Client } from '../client/client.ts';
import { operations } from '../contract/operations.ts';
import { Repository } from '../contract/resources/repositories.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { repository as repositoryRow, topics as topicsRow } from '../facts/repository.ts';
import { repositoryParams } from '../facts/where.ts';
import { type Adopted, type AdoptedPlace, defineAction } from './action.ts';
import type { Change } from './change.ts';
import { type Inverse, pathParams, undoMember } from './inverses.ts';
import { isSame, toNames } from './names.ts';

const styles = ['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only', 'manually-merged'] as const;
const flag = z.boolean().optional();
/** Settings of the pull request unit. Forges read them only in a request that enables the unit. */
const ofPulls = {
  allow_merge_commits: flag,
  allow_rebase: flag,
  allow_rebase_explicit: flag,
  allow_squash_merge: flag,
  allow_fast_forward_only_merge: flag,
  allow_manual_merge: flag,
  autodetect_manual_merge: flag,
  allow_rebase_update: flag,
  ignore_whitespace_conflicts: flag,
  default_merge_style: z.enum(styles).optional(),
  default_delete_branch_after_merge: flag,
  default_allow_maintainer_edit: flag,
};
const topic = z
  .string()
  .max(35)
  .regex(/^[a-z0-9][-.a-z0-9]*$/, 'a topic consists of lower-case letters, digits, - and .');
const single = {
  description: z.string().max(2_048).optional(),
  website: z
    .union([z.literal(''), z.url({ protocol: /^https?$/ }).max(1_024)])
    .optional()
    .meta({ description: 'An http or https address, or empty.' }),
  default_branch: z
    .string()
    .min(1)
    .max(255)
    .regex(/^(?!.*\.\.)[^\s~^:?*[\\]+$/, 'name a branch')
    .optional()
    .meta({ description: 'A branch that exists.' }),
  has_code: flag,
  has_issues: flag,
  has_pull_requests: flag,
  has_releases: flag,
  has_wiki: flag,
  has_projects: flag,
  has_packages: flag,
  has_actions: flag,
  ...ofPulls,
};
const SyncRepository = z
  .strictObject({
    ...single,
    topics: z
      .array(topic)
      .max(25)
      .optional()
      .meta({ description: 'All topics of the repository; others are removed.' }),
  })
  .refine((given) => Object.keys(given).length > 0, { message: 'name at least one setting' });
type SyncRepository = z.output<typeof SyncRepository>;
type RepositorySetting = keyof typeof single;

const settings = Object.keys(single) as readonly RepositorySetting[];
const repositoryFact = requestOf(repositoryRow);
const topicsFact = requestOf(topicsRow);

const undoTopics: Inverse = async (change, client) => {
  const params = pathParams(change) as { readonly owner: string; readonly repo: string };
  const live = await client.call(operations.listTopics, { params, query: {} });
  const input = { params, body: { topics: change.before } };
  return { value: toNames(live.topics), undo: () => ({ operation: operations.replaceTopics, input }) };
};

/**
 * Keeps these settings of the repository. All differences are sent as one PATCH, and the response is compared with the
 * desired values.
 */
export const syncRepository = defineAction<SyncRepository>({
  name: 'sync-repository',
  meaning:
    'Keeps these settings of the repository: description, website, default branch, topics, units, and how pull requests are merged. Others are left unchanged. Forges send no events for repository settings: use a schedule.',
  example: `uses: sync-repository
with:
  has_wiki: false
  allow_merge_commits: false
  allow_squash_merge: true
  default_merge_style: squash
  default_delete_branch_after_merge: true
`,
  arguments: SyncRepository,
  of: ['repository'],
  needs: { access: 'admin', scopes: ['repository'] },
  describesState: true,
  granted: false,
  onlyFor: 'organization',
  visibleTo: 'administrators',
  inverses: {
    [operations.editRepository.id]: undoMember(
      operations.getRepository,
      operations.editRepository,
      ':',
      (name) => (name in ofPulls ? ['has_pull_requests'] : []),
    ),
    [operations.replaceTopics.id]: undoTopics,
  },
  adoption: { read: adoptRepository },
  requires: { has_code: 'code_unit' },
  facts: ({ topics }) => (topics === undefined ? [repositoryFact] : [repositoryFact, topicsFact]),
  async plan({ topics, ...given }, facts) {
    const live = await facts.ask(repositoryFact);
    const changes = Object.entries(given).flatMap(([name, value]) =>
      value === undefined ? [] : [repositoryChange(name as RepositorySetting, value, given, live, facts)],
    );
    return topics === undefined ? changes : [...changes, await topicsChange(topics, facts)];
  },
  async join(changes, facts) {
    const wanted = Object.fromEntries(changes.map((change) => [settingIn(change), change.value]));
    const isOfPulls = changes.some((change) => settingIn(change) in ofPulls);
    const body = { ...(isOfPulls && { has_pull_requests: true }), ...wanted };
    return { params: repositoryParams(facts.subject), body };
  },
  confirm(change, answer) {
    if (change.operation !== operations.editRepository.id) return undefined;
    const answered = Repository.safeParse(answer);
    if (!answered.success || answered.data[settingIn(change)] === change.value) return undefined;
    return `the forge did not set ${settingIn(change)} to this value`;
  },
});

function repositoryChange(
  name: RepositorySetting,
  value: string | boolean,
  given: SyncRepository,
  live: Repository,
  facts: Facts,
): Change {
  const before = live[name] ?? null;
  const isUpToDate = before === value;
  // If the unit is disabled, sending the setting would enable it.
  if (!isUpToDate && name in ofPulls && !(given.has_pull_requests ?? live.has_pull_requests)) {
    throw new Error(
      `${name} requires pull requests, which are disabled in the repository (has_pull_requests)`,
    );
  }
  const { owner, repo } = repositoryParams(facts.subject);
  return {
    action: 'sync-repository',
    operation: operations.editRepository.id,
    input: { params: { owner, repo } },
    target: `repository:${name}`,
    value,
    before,
    after: value,
    reason: isUpToDate ? 'already in the desired state' : 'it has another value',
    reads: [repositoryFact],
    joins: `settings of ${owner}/${repo}`,
    ...(isUpToDate && { already: true }),
    ...(!isUpToDate && name === 'has_code' && { requires: ['code_unit'] }),
  };
}

async function topicsChange(wanted: readonly string[], facts: Facts): Promise<Change> {
  const value = toNames(wanted);
  const before = toNames(await facts.ask(topicsFact));
  const isUpToDate = isSame(before, value);
  return {
    action: 'sync-repository',
    operation: operations.replaceTopics.id,
    input: { params: repositoryParams(facts.subject), body: { topics: value } },
    target: 'repository:topics',
    value,
    before,
    after: value,
    reason: isUpToDate ? 'already in the desired state' : 'it has other topics',
    reads: [topicsFact],
    verify: true,
    ...(isUpToDate && { already: true }),
  };
}

function settingIn({ target }: Change): RepositorySetting {
  return target.slice('repository:'.length) as RepositorySetting;
}

async function adoptRepository(client: Client, { owner, repo }: AdoptedPlace): Promise<Adopted> {
  if (repo === undefined) return {};
  const live = await client.call(operations.getRepository, { params: { owner, repo } });
  const { has } = await client.capabilities();
  const { topics } = await client.call(operations.listTopics, { params: { owner, repo }, query: {} });
  const known = settings.flatMap((name): readonly (readonly [string, unknown])[] => {
    const value = live[name];
    const isLeft = (name in ofPulls && !live.has_pull_requests) || (name === 'has_code' && !has.code_unit);
    return value === undefined || value === null || isLeft ? [] : [[name, value] as const];
  });
  return { arguments: { ...Object.fromEntries(known), topics: toNames(topics) } };
}

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
import type { PlanContext } from './plan-context.ts';

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
/** Settings that only rule files of the operator may name, whatever is granted. */
const ofOperator = {
  name: z
    .string()
    .max(100)
    .regex(
      /^(?![-.]+$)[\w.-]+(?<!\.(git|wiki|rss|atom))$/i,
      'write a name as it is in the URL, without the owner',
    )
    .optional()
    .meta({
      description:
        'New name of the repository. The `in` of the rule lists both of its names, and nothing else: `in: [acme/old, acme/new]`.',
    }),
  private: z
    .boolean()
    .optional()
    .meta({ description: 'false publishes the repository, and needs `publish: true`.' }),
  archived: z.boolean().optional().meta({
    description:
      'With it, a schedule also visits archived repositories, where only `archived: false` is written. `true` is written last in a run.',
  }),
  template: z.boolean().optional().meta({ description: 'Whether repositories can be generated from it.' }),
} as const;
const publish = z.literal(true).optional().meta({
  description: 'Confirms `private: false`, which `reeve revert` cannot take back.',
});

const SyncRepository = z
  .strictObject({
    ...single,
    ...ofOperator,
    publish,
    topics: z
      .array(topic)
      .max(25)
      .optional()
      .meta({ description: 'All topics of the repository; others are removed.' }),
  })
  .refine((given) => Object.keys(given).length > 0, { message: 'name at least one setting' });
type SyncRepository = z.output<typeof SyncRepository>;
type RepositorySetting = keyof typeof single | keyof typeof ofOperator;

/** The settings that `reeve drift --adopt` declares. */
const settings = Object.keys(single) as readonly (keyof typeof single)[];
const repositoryFact = requestOf(repositoryRow);
const topicsFact = requestOf(topicsRow);

const undoTopics: Inverse = async (change, client) => {
  const params = pathParams(change) as { readonly owner: string; readonly repo: string };
  const live = await client.call(operations.listTopics, { params, query: {} });
  const input = { params, body: { topics: change.before } };
  return { value: toNames(live.topics), undo: () => ({ operation: operations.replaceTopics, input }) };
};

const undoSetting = undoMember(operations.getRepository, operations.editRepository, ':', (name) =>
  name in ofPulls ? ['has_pull_requests'] : [],
);

/** Restores a setting under the name that the repository has now. Never publishes, and never takes a publication back. */
const undoRepositorySetting: Inverse = async (change, client) => {
  const setting = settingIn(change);
  const params = pathParams(change) as { readonly owner: string; readonly repo: string };
  // After a rename, the former name leads to the repository; writes need the present one.
  const live = await client.call(operations.getRepository, { params });
  const now = { ...change, input: { ...change.input, params: { ...params, repo: live.name } } };
  if (setting !== 'private') return undoSetting(now, client);
  return {
    value: live.private,
    undo: () =>
      change.after === false
        ? 'a publication cannot be taken back by reverting it: others may have copied the repository; a rule with private: true hides it from now on'
        : 'this would publish the repository: only a step with private: false and publish: true does that',
  };
};

/** A rename: the present and the new name of a repository, as `owner/name`. */
type Rename = { readonly from: string; readonly to: string };

/**
 * Returns the repository that a rule with these `in` renames to `name`, or why the `in` does not say which it is. It has
 * to list both names: with the former one alone, the rule would lose the repository, and with more, several
 * repositories would get one name.
 */
export function renameIn(
  scopes: readonly (readonly string[])[],
  name: string,
): Rename | { readonly why: string } {
  const isName = (pattern: string): boolean => /^[\w.-]+\/[\w.-]+$/.test(pattern);
  const listed = scopes.findLast((patterns) => patterns.every(isName));
  const remedy = `write both names of the repository in the in of the rule, such as in: [acme/old, acme/${name}]`;
  if (listed === undefined) return { why: `name is for one repository: ${remedy}` };
  const names = [...new Map(listed.map((one) => [one.toLowerCase(), one])).values()];
  const isNew = (one: string): boolean => one.toLowerCase().endsWith(`/${name.toLowerCase()}`);
  const [to] = names.filter(isNew);
  const others = names.filter((one) => !isNew(one));
  const owners = new Set(names.map((one) => one.split('/')[0]?.toLowerCase()));
  if (to === undefined) return { why: `the rule would lose the repository after the change: ${remedy}` };
  if (others.length > 1 || owners.size > 1)
    return { why: `several repositories would get this name: ${remedy}` };
  return { from: others[0] ?? to, to };
}

/**
 * Keeps these settings of the repository. All differences are sent as one PATCH, and the response is compared with the
 * desired values. What ends something is sent by itself, afterwards: a publication, a new name, then the archived state.
 */
export const syncRepository = defineAction<SyncRepository>({
  name: 'sync-repository',
  meaning:
    'Keeps these settings of the repository: description, website, default branch, topics, units, and how pull requests are merged; in rule files of the operator also name, visibility, archived and template, whatever is granted. Others are left unchanged. Forges send no events for repository settings: use a schedule. A new name is refused if a rule, a grant, a secret or another setting includes the former name only, or if the name is taken. Forges remove the stars of a repository that becomes private: list it under `repositories` of the operator file.',
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
    [operations.editRepository.id]: undoRepositorySetting,
    [operations.replaceTopics.id]: undoTopics,
  },
  adoption: { read: adoptRepository },
  requires: { has_code: 'code_unit' },
  examine: (given) => {
    if (given.private === false && given.publish === undefined) {
      const message =
        'private: false publishes the repository, which reeve revert cannot take back: add publish: true to the step, or remove private';
      return [{ path: ['private'], message }];
    }
    if (given.publish === undefined || given.private === false) return [];
    return [{ path: ['publish'], message: 'publish confirms private: false, which this step does not set' }];
  },
  examineAt: ({ name }, { scopes }) => {
    const rename = name === undefined ? undefined : renameIn(scopes, name);
    return rename && 'why' in rename ? [{ path: ['name'], message: rename.why }] : [];
  },
  examineBelowOperator: (given) =>
    [...(Object.keys(ofOperator) as (keyof typeof ofOperator)[]), 'publish' as const].flatMap((name) =>
      given[name] === undefined
        ? []
        : [{ path: [name], message: `only those of the operator may set ${name}` }],
    ),
  visitsArchived: ({ archived }) => archived !== undefined,
  facts: ({ topics }) => (topics === undefined ? [repositoryFact] : [repositoryFact, topicsFact]),
  async plan({ topics, publish: _publish, ...given }, facts, context) {
    const live = await facts.ask(repositoryFact);
    const { name, archived, ...others } = given;
    const settingOf = (setting: RepositorySetting, value: string | boolean): Change =>
      repositoryChange(setting, value, given, live, facts);
    const changes = Object.entries(others).flatMap(([setting, value]) =>
      value === undefined ? [] : [settingOf(setting as RepositorySetting, value)],
    );
    if (topics !== undefined) changes.push(await topicsChange(topics, facts));
    if (name !== undefined) changes.push(await renamed(settingOf('name', name), context));
    const isRenamed = changes.some(({ target, already }) => target === 'repository:name' && !already);
    if (archived !== undefined) changes.push(archive(settingOf('archived', archived), { live, isRenamed }));
    if (!live.archived) return changes;
    const why = `the repository is archived, and only archived: false is written there${archived === false ? ' first' : ''}`;
    return changes.map((change) =>
      change.already || change.unarchives ? change : { ...change, waits: { why, polls: false } },
    );
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
  // If the unit is disabled, sending the setting would enable it. Nothing is sent to an archived repository.
  if (
    !isUpToDate &&
    !live.archived &&
    name in ofPulls &&
    !(given.has_pull_requests ?? live.has_pull_requests)
  ) {
    throw new Error(
      `${name} requires pull requests, which are disabled in the repository (has_pull_requests)`,
    );
  }
  const { owner, repo } = repositoryParams(facts.subject);
  const change: Change = {
    action: 'sync-repository',
    operation: operations.editRepository.id,
    input: { params: { owner, repo } },
    target: `repository:${name}`,
    value,
    before,
    after: value,
    reason: isUpToDate ? 'already in the desired state' : 'it has another value',
    reads: [repositoryFact],
    ...(isUpToDate && { already: true }),
    ...(!isUpToDate && name === 'has_code' && { requires: ['code_unit'] }),
  };
  // A fork takes its visibility from its parent, and the forge ignores the field (`updateBasicProperties`).
  const why = name === 'private' && live.fork ? 'a fork has the visibility of its parent' : undefined;
  const isAlone = name === 'name' || name === 'archived' || (name === 'private' && value === false);
  return {
    ...change,
    ...(isAlone
      ? { input: { params: { owner, repo }, body: { [name]: value } }, stage: 3 }
      : { joins: `settings of ${owner}/${repo}` }),
    ...(name === 'private' &&
      value === false &&
      !isUpToDate && { reason: 'publish is set: this cannot be reverted' }),
    ...(why !== undefined && !isUpToDate && { reason: why, waits: { why, polls: false } }),
  };
}

/** Returns the change of the name, or why it waits. */
async function renamed(change: Change, { barToRename }: PlanContext): Promise<Change> {
  if (change.already) return change;
  const why = await barToRename?.(String(change.value));
  return why === undefined ? change : { ...change, reason: why, waits: { why, polls: false } };
}

/**
 * Returns the change of the archived state. `true` comes after everything else in the run, `false` before it. The other
 * changes of the step wait for the next run.
 */
function archive(
  change: Change,
  { live, isRenamed }: { readonly live: Repository; readonly isRenamed: boolean },
): Change {
  if (change.already) return change;
  const why = live.mirror
    ? 'forges do not archive mirrors'
    : isRenamed && change.value === true
      ? 'the repository does not have its new name yet'
      : undefined;
  return {
    ...change,
    ...(change.value === true ? { stage: 4 } : { stage: 0, unarchives: true }),
    ...(why !== undefined && { reason: why, waits: { why, polls: false } }),
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

function settingIn({ target }: Pick<Change, 'target'>): RepositorySetting {
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

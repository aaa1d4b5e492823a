import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { packageRoot } from '../../src/platform/package.ts';
import type { LoadedRule } from '../../src/rules/rule.ts';
import { findRuleFiles, loadRuleFiles } from '../../src/rules/sources/folder.ts';
import { acme, people, uniqueName } from './flow-names.ts';
import type { Harness } from './harness.ts';

/** Rule files whose flows start with a delivery. */
export const deliveryRules = [
  'labels.yml',
  'welcome.yml',
  'stale-reviews.yml',
  'blocked.yml',
  'branch-protections.yml',
  'tag-protections.yml',
  'label-definitions.yml',
  'hooks.yml',
] as const;
/** Rule files about people; their flows start with a delivery. */
export const peopleRules = ['owner-reviewers.yml', 'acknowledge.yml', 'slash-labels.yml'] as const;
/** Rule files whose flows start with a schedule. */
export const scheduledRules = [
  'notifications.yml',
  'organization-settings.yml',
  'overdue-milestones.yml',
  'runners.yml',
  'rollout-files.yml',
] as const;
/** Rule files about merging. Their flows start with a delivery or a status. */
export const mergeRules = ['auto-merge.yml', 'branches.yml'] as const;
/** Rule files of the merge queue. Their flow is merge-queue.test.ts. */
export const queueRules = ['merge-queue.yml'] as const;
/** Rule files that run together with all other rule files, each with an event. */
export const checkRules = [
  'approvals-by-team.yml',
  'assign.yml',
  'backport.yml',
  'branch-labels.yml',
  'changelog.yml',
  'codeowners.yml',
  'collaborators.yml',
  'commands.yml',
  'dco.yml',
  'dependencies.yml',
  'deploy-command.yml',
  'first-contribution.yml',
  'freeze.yml',
  'large-pull.yml',
  'linked-issue.yml',
  'milestones.yml',
  'notify-chat.yml',
  'release-pull-request.yml',
  'repository-settings.yml',
  'required-label.yml',
  'reviewers.yml',
  'signed-commits.yml',
  'stale-issues.yml',
  'task-list.yml',
  'title.yml',
  'triage.yml',
] as const;
/**
 * Rule files about inactive pull requests and issues. Their flows start with a schedule, and with a comment by a
 * person.
 */
export const staleRules = ['stale-pulls.yml'] as const;
/** Rule file that flows of hook levels push to a repository. */
export const demoRules = 'demo/labels.yml';

/** Shipped rule, with the path of its file below `rules/`. */
type ShippedRule = { readonly file: string; readonly id: string; readonly rule: LoadedRule };

/** Returns every rule in `rules/`, even if no list above contains its file. */
export async function loadShippedRules(): Promise<readonly ShippedRule[]> {
  const folder = join(packageRoot, 'rules');
  const loaded = await loadRuleFiles(await findRuleFiles([folder]));
  return loaded.flatMap(({ rules }) =>
    rules.map((rule) => {
      const id = relative(folder, rule.id);
      return { file: id.slice(0, id.lastIndexOf('#')), id, rule };
    }),
  );
}

/**
 * Returns a shipped rule file in which acme, maintainers and bots are replaced by this flow's organization and people.
 */
export async function shippedRules(name: string): Promise<string> {
  const text = await readFile(join(packageRoot, 'rules', name), 'utf8');
  return text
    .replaceAll('acme/', `${acme}/`)
    .replace(/\[ada, (bob, grace|bob, grace, linus|root)\]/g, `[${people.ada}, ${people.root}]`)
    .replace(/(build-bot|auditor|renovate-bot)/g, (name) => uniqueName(name));
}

/** Returns rule files by their names. */
export async function shippedFiles(names: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const read = async (name: string) => [name, await shippedRules(name)] as const;
  return Object.fromEntries(await Promise.all(names.map(read)));
}

/** Returns the names of rules with at least one applied change in these runs, in order. */
export function appliedRules(runs: readonly Run[]): readonly string[] {
  const names = runs.flatMap(({ changes, outcomes }) =>
    changes
      .filter(({ id }) => outcomes.some(({ change, status }) => change === id && status === 'applied'))
      .flatMap(({ rules }) => rules.map((rule) => rule.split('#').at(-1) ?? '')),
  );
  return [...new Set(names)].toSorted();
}

/** Returns the names of the rules in files, in order. */
export function namesIn(files: Readonly<Record<string, string>>): readonly string[] {
  return Object.values(files)
    .flatMap((text) => [...text.matchAll(/^ {2}([a-z-]+):$/gm)].map(([, name]) => name ?? ''))
    .toSorted();
}

/** Creates the team that rules about releases name, and makes the bot an owner of the organization. */
export async function createTeams({ root }: Pick<Harness, 'root'>, bot: string): Promise<void> {
  const org = { org: acme };
  const teams = await root.call(operations.listTeams, { params: org });
  const owners = teams.find(({ name }) => name === 'Owners');
  await root.call(operations.putTeamMember, { params: { id: owners?.id ?? 0, username: bot } });
  const units = ['repo.code', 'repo.issues', 'repo.pulls'];
  await root.call(operations.createTeam, {
    params: org,
    body: { name: 'release', permission: 'write', includes_all_repositories: true, units },
  });
}

import type { Client } from '../../client/client.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import { operations } from '../../contract/operations.ts';
import { ReeveError } from '../../platform/errors.ts';
import type { LoadedRule, LoadedStep } from '../../rules/rule.ts';

/** A team or a repository that a step names and that does not exist, or that the account cannot see. */
export type MissingObject = { readonly rule: LoadedRule; readonly line: number; readonly text: string };

/**
 * Returns the teams and repositories that steps name in plain text and that the account does not find. `placesOf` returns
 * the repositories in which a rule applies. `unread` has the reasons for lists that the forge refuses.
 */
export async function findMissingObjects(
  rules: readonly LoadedRule[],
  client: Client,
  placesOf: (rule: LoadedRule) => readonly RepositoryRef[],
): Promise<{ readonly missing: readonly MissingObject[]; readonly unread: readonly string[] }> {
  const teams = new Map<string, Promise<ReadonlySet<string> | string>>();
  const repositories = new Map<string, Promise<boolean>>();
  const found: MissingObject[] = [];
  const unread = new Set<string>();
  for (const rule of rules) {
    for (const step of rule.steps) {
      const named = teamsNamedBy(step);
      const owners = named.length === 0 ? [] : [...new Set(placesOf(rule).map(({ owner }) => owner))];
      for (const owner of owners) {
        const known = await once(teams, owner, () => readTeams(client, owner));
        if (typeof known === 'string') {
          unread.add(known);
          continue;
        }
        for (const name of named)
          if (!known.has(name.toLowerCase()))
            found.push({ rule, line: step.line, text: `there is no team "${name}" in ${owner}` });
      }
      for (const name of repositoriesNamedBy(step))
        if (!(await once(repositories, name, () => isThere(client, name))))
          found.push({
            rule,
            line: step.line,
            text: `there is no repository ${name} that the account can see`,
          });
    }
  }
  return { missing: found, unread: [...unread] };
}

function once<Value>(known: Map<string, Promise<Value>>, name: string, read: () => Promise<Value>) {
  const key = name.toLowerCase();
  const reading = known.get(key) ?? read();
  known.set(key, reading);
  return reading;
}

/** Returns the names of the teams of an organization, in lower case; the reason if the account may not list them. */
async function readTeams(client: Client, org: string): Promise<ReadonlySet<string> | string> {
  const names = new Set<string>();
  try {
    for await (const { name } of client.items(operations.listTeams, { params: { org } }))
      names.add(name.toLowerCase());
    return names;
  } catch (error) {
    if (!(error instanceof ReeveError) || error.isHostFailure) throw error;
    return error.message;
  }
}

async function isThere(client: Client, name: string): Promise<boolean> {
  const [owner = '', repo = ''] = name.split('/');
  try {
    await client.call(operations.getRepository, { params: { owner, repo } });
    return true;
  } catch (error) {
    if (!(error instanceof ReeveError) || error.isHostFailure) throw error;
    return error.code !== 'forge-not-found';
  }
}

/** Returns the teams that a step names: in lists of protections, and as reviewers. */
function teamsNamedBy({ action, arguments: { written } }: LoadedStep): readonly string[] {
  const isOfReviewers = action.name === 'request-reviewers';
  return textsUnder(written, (key) => key.endsWith('_teams') || (isOfReviewers && key === 'teams'));
}

function repositoriesNamedBy({ action, arguments: { written } }: LoadedStep): readonly string[] {
  return action.name === 'report-issue' ? textsUnder(written, (key) => key === 'repository') : [];
}

/** Returns the plain texts under these keys, however deep. */
function textsUnder(value: unknown, isWanted: (key: string) => boolean, isUnder = false): readonly string[] {
  if (typeof value === 'string') return isUnder && !value.includes('${{') ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => textsUnder(item, isWanted, isUnder));
  return Object.entries(value).flatMap(([key, item]) => textsUnder(item, isWanted, isUnder || isWanted(key)));
}

import { type Capabilities, findCapabilities } from '../../client/capabilities.ts';
import { type Client, createClient } from '../../client/client.ts';
import { askScopes } from '../../client/token-scopes.ts';
import type { ScopeCategory } from '../../contract/operation.ts';
import { operations } from '../../contract/operations.ts';
import type { User } from '../../contract/resources/users.ts';
import { type OwnEvents, ownEventsText } from '../../engine/bounds/own-writes.ts';
import { ReeveError } from '../../platform/errors.ts';
import { factsOfRule } from '../../rules/needs.ts';
import { type LoadedRule, visits } from '../../rules/rule.ts';
import { type Finding, ok, warning, wrong } from './finding.ts';

/** Token scopes that every installation needs, with reasons. */
const always: readonly Need[] = [
  { scope: 'read:user', why: 'to know its own account and the repositories it has starred' },
  { scope: 'read:repository', why: 'to read repositories, pull requests and rule files' },
  { scope: 'read:organization', why: 'to read organizations and their labels' },
  { scope: 'write:issue', why: 'to set labels and comment, which every rule file may' },
];

/** A scope of the token, and the reason for it. */
type Need = { readonly scope: string; readonly why: string };

/**
 * Returns the token scopes that Reeve needs for these rules, and further ones, without duplicates, each with the first
 * reason found. A write scope includes the read scope.
 */
export function neededScopes(rules: readonly LoadedRule[], more: readonly Need[]): readonly Need[] {
  const found = new Map(always.map((need) => [need.scope, need]));
  const add = (scope: string, why: string): void => {
    if (!found.has(scope)) found.set(scope, { scope, why });
  };
  for (const rule of rules) {
    if (visits(rule, 'notification')) add('read:notification', `for rule ${rule.name}, each: notification`);
    for (const fact of factsOfRule(rule)) {
      for (const category of fact.needs.scopes)
        add(`read:${category}`, `for rule ${rule.name}, fact ${fact.name}`);
    }
    for (const { action, arguments: given } of rule.steps) {
      const why = `for rule ${rule.name}, action ${action.name}`;
      for (const category of categoriesOf(rule, action.needs.scopes, given.written))
        add(`write:${category}`, why);
    }
  }
  for (const { scope, why } of more) add(scope, why);
  return [...found.values()].filter(
    ({ scope }) => !found.has(scope.replace(/^read:/, 'write:')) || !scope.startsWith('read:'),
  );
}

/**
 * Hooks and labels of an organization or an account have different paths from those of a repository, and therefore need
 * a different scope.
 */
function categoriesOf(
  rule: LoadedRule,
  declared: readonly ScopeCategory[],
  written: unknown,
): readonly ScopeCategory[] {
  const isOfAccount =
    typeof written === 'object' &&
    written !== null &&
    'of-account' in written &&
    written['of-account'] === true;
  if (isOfAccount) return ['user'];
  const isOfOrganization = declared.length > 0 && visits(rule, 'organization');
  return isOfOrganization ? ['organization'] : declared;
}

/** Finding of a check, with the value that the check has read. */
type Learnt<Value> = { readonly finding: Finding; readonly value: Value };

/** Checks that an address is a forge, and which kind. Rejects if it is not a forge or is unreachable. */
export async function checkForge(client: Client, url: string): Promise<Learnt<Capabilities>> {
  const value = await findCapabilities(client).catch((error: unknown) => {
    // Forges refuse an unknown token on every path, so this is a problem of the token, not of the forge.
    if (error instanceof ReeveError && error.code === 'forge-unauthorized')
      return findCapabilities(createClient({ url }));
    throw error;
  });
  const name = value.version.includes('+gitea-') ? 'Forgejo' : 'Gitea';
  return { finding: ok(`${name} ${value.version} answers at ${url}`), value };
}

/** Looks up the account of a credential. Rejects if the forge does not know the credential. */
export async function checkAccount(client: Client): Promise<Learnt<User>> {
  const value = await client.call(operations.getSelf, {});
  return { finding: ok(`the forge accepts the token of @${value.login}`), value };
}

/**
 * Checks whether Reeve may use an account. The account of a site administrator is allowed only if the operator permits
 * it.
 */
export function checkAdministrator({ login, is_admin }: User, allowAdmin: boolean): Finding {
  if (!is_admin) return ok(`@${login} is not a site administrator`);
  if (allowAdmin) return ok(`@${login} is a site administrator, which the operator file allows`);
  return wrong(
    `@${login} is a site administrator: a stolen token or a wrong rule could change everything`,
    'create an account with the access that the rules need and use its token; or set --allow-admin (allow-admin: true in the operator file)',
  );
}

/**
 * Returns which events of the account start rules. `isOwner`: the account owns a served repository, so that a person
 * probably works with it.
 */
export function ownEventsFinding(login: string, own: OwnEvents, isOwner: boolean): Finding {
  const text = ownEventsText(own, login);
  if (own === 'changes' || !isOwner) return ok(text);
  return warning(
    `${text}, and @${login} owns served repositories: what a person does with it starts no rule`,
    'remove own: account from the operator file, or let Reeve act with a second account',
  );
}

/**
 * Examines whether workflows of forks that are started by a change of this account wait for approval. Gitea requires no
 * approval if the account can write, and takes the workflow from the fork; for a restricted account it always requires
 * approval. `isOwner`: the account owns a repository that it serves. Returns undefined for a forge with other rules. Source: forge `services/actions/notifier_helper.go`,
 * `ifNeedApproval`.
 */
export function checkRestriction(
  { login, restricted }: User,
  { has }: Capabilities,
  isOwner = false,
): Finding | undefined {
  if (!has.restricted_approval) return undefined;
  if (restricted) return ok(`@${login} is restricted: workflows of forks wait for approval`);
  const explained = 'docs/security.md, "Workflows of forks", explains';
  return warning(
    `@${login} is not restricted: a label or review request by it can run the workflow of a fork without approval`,
    isOwner
      ? `the owner of a repository cannot be restricted: if workflows of forks could do harm there (secrets, a runner of your own), let Reeve act with a second account that is restricted, and make it a collaborator; ${explained}`
      : `ask a site administrator to mark @${login} as restricted (Site Administration, User Accounts, Edit), and add it as a collaborator or team member wherever it works; ${explained}`,
  );
}

/** Checks which of the needed scopes the token lacks, and for which reasons they are needed. */
export async function checkScopes(
  client: Client,
  needs: readonly Need[],
  options: { capabilities: Capabilities; readOnly?: boolean },
): Promise<Finding> {
  const held = await askScopes(
    client,
    needs.map(({ scope }) => scope),
    options,
  );
  const missing = needs.filter(({ scope }) => held.get(scope) === 'missing');
  const unknown = needs.filter(({ scope }) => held.get(scope) === 'unknown');
  if (missing.length > 0) {
    const isForHooks = missing.every(({ why }) => why.startsWith('to create the hook'));
    const setup = isForHooks
      ? 'run reeve setup --admin-token-file FILE with a token that may create it; or '
      : '';
    return wrong(
      `the token lacks the scopes ${missing.map(({ scope, why }) => `${scope} (${why})`).join(', ')}`,
      `${setup}create a token with the scopes ${needs.map(({ scope }) => scope).join(', ')}${needs.some(({ scope }) => scope === 'write:repository') ? '' : ', and write:repository if it creates hooks'}`,
    );
  }
  const rest = unknown.length === 0 ? '' : `; not tried: ${unknown.map(({ scope }) => scope).join(', ')}`;
  const names = needs.filter((need) => !unknown.includes(need)).map(({ scope }) => scope);
  return ok(`the token has ${names.join(', ')}${rest}`);
}

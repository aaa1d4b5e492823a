import { readFileSync } from 'node:fs';
import { askForgeDate } from '../../../client/address.ts';
import type { Client } from '../../../client/client.ts';
import { operations } from '../../../contract/operations.ts';
import type { Repository } from '../../../contract/resources/repositories.ts';
import type { User } from '../../../contract/resources/users.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { checkCapabilities } from '../../../rules/needs.ts';
import { visits } from '../../../rules/rule.ts';
import { hookLocations, scopesForHooks } from '../../../server/hooks/places.ts';
import { nameOfAccount, recallServerAccount } from '../../../server/server-account.ts';
import type { Store } from '../../../store/store.ts';
import { type BlindSpot, objectSpots } from '../../../work/alarms/blind-spots.ts';
import { count, plain } from '../../output/terminal.ts';
import { type Finding, ok, skipped, warning, wrong } from '../finding.ts';
import {
  checkAdministrator,
  checkRestriction,
  checkScopes,
  neededScopes,
  ownEventsFinding,
} from '../forge-findings.ts';
import { faultOf, findApplication } from '../steps/sign-in.ts';
import { checkAccess } from './access.ts';
import { checkCodeowners } from './codeowners-lines.ts';
import type { Check, Examination } from './examination.ts';
import { checkTeams } from './write-teams.ts';

const mostSkewMs = 30_000;

/** Returns the finding about the skew between two clocks. */
export function clockFinding(forgeMs: number, ourMs: number): Finding {
  const skewMs = Math.abs(forgeMs - ourMs);
  const seconds = Math.round(skewMs / 1_000);
  // The Date header has whole seconds, and the response takes time.
  if (seconds <= 1) return ok('the clocks of this machine and the forge agree');
  const text = `this machine’s clock is ${seconds} s ${forgeMs > ourMs ? 'behind' : 'ahead of'} the forge’s`;
  if (skewMs <= mostSkewMs) return ok(text);
  return wrong(text, 'synchronize both clocks by NTP: the order of events and catch-up depend on them');
}

/** Checks that send requests to the forge with the account’s own token. */
export const forgeChecks: readonly Check[] = [
  {
    id: 'forge',
    looks: '`FORGE_URL`: whether a Gitea or Forgejo answers there, and its version.',
    fails: 'There is no answer, or the server is not a forge.',
    remedy: 'Check that the forge is running and reachable from this machine; correct `FORGE_URL`.',
    run: async ({ capabilities }) => ok((await capabilities()).version),
  },
  {
    id: 'clock',
    looks: 'The forge’s `Date` header compared with this machine’s clock.',
    fails: 'They differ by more than 30 s.',
    remedy: 'Synchronize both clocks by NTP.',
    after: ['forge'],
    run: async ({ forgeUrl }) => {
      const date = await askForgeDate(forgeUrl);
      return date ? clockFinding(date.forgeMs, date.ourMs) : skipped('the forge sends no Date header');
    },
  },
  {
    id: 'token',
    looks: 'Whether the forge accepts the token, and which account it belongs to.',
    fails: 'The token is wrong, expired or revoked, or its account may not sign in.',
    remedy: 'Create a new token on the forge with the bot’s account, and set it as `FORGE_TOKEN`.',
    after: ['forge'],
    run: async ({ account }) => ok(`the forge accepts the token of @${(await account()).login}`),
  },
  {
    id: 'account',
    looks: 'The account of the token compared with the one as which `reeve serve` last started.',
    fails: 'They differ. A running server refuses a token of another account in its token file.',
    remedy:
      'Create the token with the account that the check names. If Reeve is to act as another account from now on, start `reeve serve` again.',
    after: ['token', 'store'],
    run: async ({ account, store }) => checkServerAccount(await account(), await store()),
  },
  {
    id: 'own-events',
    looks: 'Which events of the account start rules: `own` in the operator file.',
    fails:
      'Never: it says which, and warns if the account owns a served repository and all of its events are ignored.',
    remedy: 'If a person works with the account as well, remove `own: account` from the operator file.',
    after: ['token'],
    run: async (examination) => checkOwnEvents(examination),
  },
  {
    id: 'administrator',
    looks: 'Whether the account is a site administrator.',
    fails: 'It is one, and `allow-admin` is not set.',
    remedy:
      'Create an account with only the access that the rules need, or set `allow-admin: true` in the operator file.',
    after: ['token'],
    run: async ({ account, settings }) => checkAdministrator(await account(), settings.allowAdmin),
  },
  {
    id: 'scopes',
    looks:
      'The scopes of the token compared with those that Reeve, the operator’s rules and missing hooks need. If the forge does not list scopes, each is tested with a request that has no effect.',
    fails: 'A scope is missing.',
    remedy: 'Create a token with the listed scopes.',
    after: ['token'],
    run: async ({ client, account, capabilities, rules, settings }) => {
      if (settings.forge && !('token' in settings.forge.credentials))
        return ok('a password has no scopes: it has all access of the account');
      const loaded = (await rules()).flatMap((file) => file.rules);
      const { webhook, setupToken } = settings;
      const signed = [{ client, login: (await account()).login }];
      // With a token for setup, the other token creates no hooks.
      const forHooks =
        webhook && setupToken === undefined
          ? await scopesForHooks(hookLocations(webhook), webhook.url, signed)
          : [];
      return checkScopes(client, neededScopes(loaded, forHooks), await capabilities());
    },
  },
  {
    id: 'served',
    looks: 'The served repositories: starred by the bot’s account, or listed in the operator file.',
    fails:
      'There are none, so Reeve does nothing, or a listed one does not exist or is hidden from the account.',
    remedy:
      'Star a repository as the bot, or list some under `repositories` in the operator file; correct the name, or make the account a collaborator.',
    after: ['token'],
    run: async (examination) => checkServed(examination),
  },
  {
    id: 'access',
    looks:
      'The account’s access in the served repositories, and in the organizations that own them, compared with the access that the operator’s rules need; whether rules with `each: organization` see one; whether the account can read the teams that expressions name: `team("acme/core")`.',
    fails:
      'A rule needs more access: its changes would be refused; or it sees no organization, or not one that it names, or not a team. Not checked: whether the account is a member, if the forge does not say it. It warns if a fact can need more, depending on the repository.',
    remedy:
      'Make the account a collaborator with that permission, or an owner or a member of the organization, by a team of its own. A team that a rule names needs the visibility `limited`, or the account as a member. Or restrict the rule with `in`.',
    after: ['token'],
    run: async (examination) =>
      checkAccess(
        (await examination.rules()).flatMap((file) => file.rules),
        { ...examination, listed: examination.settings.repositories },
      ),
  },
  {
    id: 'workflows',
    looks:
      'Whether a served repository runs workflows (`.gitea/workflows`, `.github/workflows`) while the account is not restricted. On Gitea, a label or review request by such an account starts the workflow of a fork without approval.',
    fails: 'Never: it only warns, and a warning does not change the exit status.',
    remedy:
      'Ask a site administrator to mark the account as restricted, and add it as a collaborator or team member wherever it works: [Workflows of forks](../security.md#workflows-of-forks).',
    after: ['token'],
    run: async (examination) => checkWorkflows(examination),
  },
  {
    id: 'runners',
    looks: 'The runners that the account sees, if a rule of the operator has `each: runner`.',
    fails: 'Never: it warns if a rule sees none, or if the forge refuses it a list.',
    remedy:
      'Runners of an organization need an owner of it (`read:organization`), those of a repository an administrator of it (`read:repository`), those of a person that person (`read:user`), those of the instance a site administrator (`read:admin`).',
    after: ['token'],
    run: async (examination) => checkRunners(examination),
  },
  {
    id: 'scope',
    looks: 'Whether `in` of each rule of the operator includes a served repository.',
    fails: 'Never: it only warns, and a warning does not change the exit status.',
    remedy: 'Correct `in`, or serve the repository.',
    after: ['token'],
    run: async (examination) => checkReach(examination, 'scope', 'every rule includes a served repository'),
  },
  {
    id: 'labels',
    looks:
      'Labels that rules of the operator set without `create`, or that their conditions wait for, in at most 100 served repositories.',
    fails: 'Never: it warns if one does not exist there.',
    remedy: 'Create the label, correct its name, or restrict the rule with `in`.',
    after: ['token'],
    run: async (examination) =>
      checkReach(examination, 'unknown-label', 'the labels that rules name exist where the rules apply'),
  },
  {
    id: 'names',
    looks:
      'Teams and repositories that steps of the operator’s rules name in plain text: teams in the organizations of at most 100 served repositories. Teams in expressions are part of `access`.',
    fails:
      'Never: it warns if the account does not find one. Not checked: teams of an organization that the account may not list.',
    remedy: 'Create it, give the account access to it, or correct the name in the rule.',
    after: ['token'],
    run: async (examination) => checkNames(examination),
  },
  {
    id: 'codeowners',
    looks:
      'CODEOWNERS of the served repositories in which rules of the operator read it: whether each line can match a file.',
    fails: 'Never: it only warns, and a warning does not change the exit status.',
    remedy: 'Write patterns as regular expressions of the whole path: `lib/.*`, not `/lib`, `lib/` or `lib`.',
    after: ['token'],
    run: async (examination) => checkCodeowners(examination),
  },
  {
    id: 'teams',
    looks:
      'Teams with write access to the served repositories, if rules of the operator depend on who may write: whether the account sees their members.',
    fails: 'Never: it only warns, and a warning does not change the exit status.',
    remedy:
      'Make the account a member of these teams, with a token that has `read:organization`, or see [write access through teams](../forges.md#write-access-through-teams).',
    after: ['token'],
    run: async (examination) => checkTeams(examination),
  },
  {
    id: 'capabilities',
    looks: 'Features of the forge that the operator’s rules use.',
    fails:
      'This version does not support one, or sends no event to which a rule listens. A warning if the rule listens to others as well.',
    remedy: 'Update the forge, or remove the feature from the rule; `reeve check` shows the line.',
    after: ['forge'],
    run: async ({ rules, capabilities }) => {
      const loaded = (await rules()).flatMap((file) => file.rules);
      const known = await capabilities();
      const lacking = checkCapabilities(loaded, known.capabilities, (path) => readFileSync(path, 'utf8'));
      const [first] = [...lacking.problems, ...lacking.warnings];
      if (first === undefined)
        return ok(`${count(loaded.length, 'rule')} of the operator, all supported by the forge`);
      const text = `${first.path}:${first.line}: ${first.message}`;
      if (lacking.problems.length === 0)
        return warning(
          text,
          'reeve check lists all of them; a schedule for the rule looks at what no event announces',
        );
      return wrong(
        text,
        `update the forge, or remove the feature from the rule (${count(lacking.problems.length, 'place')})`,
      );
    },
  },
  {
    id: 'sign-in',
    looks: 'The OAuth2 application for dashboard sign-in.',
    fails: 'It does not exist, or redirects to another URL than `dashboard.url`.',
    remedy: '`reeve setup --dashboard URL` registers it.',
    after: ['token'],
    run: async ({ client, settings: { dashboard, signIn } }) => {
      if (dashboard === undefined) return skipped('the operator file does not set a dashboard');
      const fault = faultOf(await findApplication(client, signIn), dashboard, signIn);
      if (fault === undefined) return ok('the OAuth2 application has the required configuration');
      return wrong(`the OAuth2 application: ${fault}`, `reeve setup --dashboard ${dashboard}`);
    },
  },
];

/** Checks that a server that reads the token again would use it, and that no other account slipped in. */
async function checkServerAccount({ id, login }: User, store: Store): Promise<Finding> {
  const known = await recallServerAccount(store);
  if (known === undefined) return skipped('no server has worked with this store yet');
  if (known.id === id) return ok(`the token belongs to the account of the server, @${login}`);
  const name = nameOfAccount(known);
  return wrong(
    `the token belongs to @${login}, and the server started as ${name}`,
    `create a token with ${name}; if Reeve is to act as @${login} from now on, start reeve serve again`,
  );
}

async function checkOwnEvents({ account, settings, served }: Examination): Promise<Finding> {
  const user = await account();
  const owns = async (): Promise<boolean> =>
    (await served()).repositories.some((repository) => isOwner(user, repository));
  return ownEventsFinding(user.login, settings.own, settings.own === 'account' && (await owns()));
}

function isOwner({ id }: User, { owner }: Repository): boolean {
  return owner.id === id;
}

/** Checks whether the rules about runners see all of them. Otherwise they stay silent for ever. */
async function checkRunners(examination: Examination): Promise<Finding> {
  const rules = (await examination.rules()).flatMap((file) => file.rules);
  if (!rules.some((rule) => visits(rule, 'runner'))) return skipped('no rule of the operator visits runners');
  const { login } = await examination.account();
  return spotFinding(examination, ['runners'], `@${login} sees the runners that rules visit`);
}

/** Checks whether each rule includes a served repository, and whether the labels exist that the rules name. */
async function checkReach(
  examination: Examination,
  code: 'scope' | 'unknown-label' | 'unknown-object',
  good: string,
): Promise<Finding> {
  const loaded = (await examination.rules()).flatMap((file) => file.rules);
  if (loaded.length === 0) return skipped('there are no rules of the operator');
  if ((await examination.served()).repositories.length === 0) return skipped('no repository is served');
  return spotFinding(examination, [code], good);
}

/** Checks whether the teams and repositories exist that steps name. Of lists that the forge refuses, nothing is known. */
async function checkNames(examination: Examination): Promise<Finding> {
  const good = 'the teams and repositories that steps name exist';
  const finding = await checkReach(examination, 'unknown-object', good);
  if (finding.state !== 'ok') return finding;
  const { client, rules, served } = examination;
  const loaded = (await rules()).flatMap((file) => file.rules);
  const { repositories } = await served();
  const [first, ...others] = (await objectSpots(loaded, { client, repositories })).unread;
  if (first === undefined) return finding;
  const more = others.length === 0 ? '' : `; ${others.length} more`;
  return skipped(plain(`steps name teams that the account may not list: ${first}${more}`));
}

/** Returns a warning about the blind spots with one of these codes, with the time since which the server knows them. */
async function spotFinding(
  { blindSpots, store }: Examination,
  codes: readonly BlindSpot['code'][],
  good: string,
): Promise<Finding> {
  const found = (await blindSpots()).filter(({ code }) => codes.includes(code));
  const [first, ...others] = found;
  if (first === undefined) return ok(good);
  const { rule, isBlind, text, advice } = first;
  // A store that cannot be opened has a check of its own.
  const incidents = await store().then(
    (opened) => opened.listIncidents(),
    () => [],
  );
  const known = incidents.find(
    ({ kind, key }) => kind === (isBlind ? 'rule-blind' : 'rule-hindered') && key === rule.id,
  );
  const since =
    known === undefined ? '' : ` (since ${known.firstAt.toISOString().slice(0, 16).replace('T', ' ')} UTC)`;
  const more = others.length === 0 ? '' : `; ${others.length} more`;
  return warning(plain(`rule ${rule.name}: ${text}${since}${more}`), advice);
}

async function checkServed({ served, account, settings }: Examination): Promise<Finding> {
  const { repositories, hidden, isWhole } = await served();
  const listed = settings.repositories;
  const [first] = hidden;
  if (first !== undefined) {
    return wrong(
      `${first.item} in the operator file: there is no such repository, or the account cannot read it${hidden.length > 1 ? `; ${hidden.length - 1} more` : ''}`,
      'correct the name, or make the account a collaborator',
    );
  }
  const { login } = await account();
  if (repositories.length === 0) {
    const files =
      listed.length === 0
        ? 'the operator file lists none'
        : `no repository that it can read matches ${listed.join(', ')}`;
    return wrong(
      `@${login} has starred no repository, and ${files}: no repository is served`,
      `star the repositories to serve, as @${login}, or list them under repositories in the operator file`,
    );
  }
  const text = `${isWhole ? '' : 'more than '}${count(repositories.length, 'repository')}: starred by @${login}`;
  return ok(listed.length === 0 ? text : `${text}, or matching ${listed.join(', ')}`);
}

/** Folders from which forges read workflows. */
const folders = ['.gitea/workflows', '.github/workflows'] as const;

/**
 * Checks whether changes by Reeve can start workflows of forks without approval, which is the case if a served
 * repository has workflows and the account is not restricted.
 */
async function checkWorkflows(examination: Examination): Promise<Finding> {
  const { account, capabilities } = examination;
  const user = await account();
  const { capabilities: known } = await capabilities();
  const finding = checkRestriction(user, known);
  if (finding === undefined)
    return skipped('on this forge, the account that labels or assigns does not decide on approval');
  if (finding.state === 'ok') return finding;
  const { repositories, isWhole } = await examination.served();
  const searched = repositories.filter(runsActions).slice(0, maxSearched);
  if (searched.length === 0) return skipped('no served repository runs Actions');
  for (const repository of searched)
    if (await hasWorkflows(examination.client, repository)) {
      const found = checkRestriction(user, known, isOwner(user, repository)) ?? finding;
      return { ...found, text: `${repository.full_name} has workflows, and ${found.text}` };
    }
  const places = count(searched.length, 'served repository');
  return ok(
    isWhole && searched.length < maxSearched
      ? `no workflows in ${places} with Actions`
      : `no workflows in the first ${places}`,
  );
}

/** Maximum number of repositories searched for workflows. The first match ends the search. */
const maxSearched = 200;

/** Returns whether a repository may run Actions. On a forge without this field, every repository may. */
function runsActions({ has_actions }: Repository): boolean {
  return has_actions !== false;
}

async function hasWorkflows(client: Client, { owner, name }: Repository): Promise<boolean> {
  for (const filepath of folders) {
    const params = { owner: owner.login, repo: name, filepath };
    const entries = await unlessHidden(client.call(operations.getContents, { params }));
    if (Array.isArray(entries) && entries.some((entry) => /\.ya?ml$/.test(entry.name))) return true;
  }
  return false;
}

/** Returns undefined for a missing folder or for code that the account may not read. */
async function unlessHidden<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    const isHidden =
      error instanceof ReeveError && (error.code === 'forge-not-found' || error.code === 'forge-forbidden');
    if (isHidden) return undefined;
    throw error;
  }
}

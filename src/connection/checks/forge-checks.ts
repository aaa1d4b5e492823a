import { readFileSync } from 'node:fs';
import { askForgeDate } from '../../client/forge-date.ts';
import { operations } from '../../contract/operations.ts';
import { count } from '../../output/terminal.ts';
import { lackingIn } from '../../rules/check-capabilities.ts';
import { type Finding, ok, skipped, wrong } from '../finding.ts';
import { lookAtAdministrator, lookAtScopes } from '../forge-findings.ts';
import { neededScopes } from '../needed-scopes.ts';
import { faultOf, findApplication } from '../steps/sign-in.ts';
import { lookAtAccess } from './access.ts';
import type { Check } from './check.ts';
import type { Examination } from './examination.ts';
import { lookAtWorkflows } from './workflows.ts';

const mostSkewMs = 30_000;

/** Returns what the difference between two clocks means. */
export function clockFinding(forgeMs: number, ourMs: number): Finding {
  const skewMs = Math.abs(forgeMs - ourMs);
  const seconds = Math.round(skewMs / 1_000);
  if (skewMs <= mostSkewMs) return ok(`the clocks differ by ${seconds} s at most`);
  const which = forgeMs > ourMs ? 'behind' : 'before';
  return wrong(
    `this machine’s clock is ${seconds} s ${which} the forge’s`,
    'set both by NTP: what happened when, and what was missed, is told by the two',
  );
}

/** Checks that ask the forge, with the account’s own token. */
export const forgeChecks: readonly Check[] = [
  {
    id: 'forge',
    looks: '`FORGE_URL`: whether a Gitea or Forgejo answers there, and which.',
    fails: 'Nobody answers, or something that is no forge.',
    remedy: 'See whether the forge runs and this machine reaches it; mend `FORGE_URL`.',
    run: async ({ capabilities }) => ok((await capabilities()).version),
  },
  {
    id: 'clock',
    looks: 'The forge’s `Date` header beside this machine’s clock.',
    fails: 'They differ by more than 30 s.',
    remedy: 'Set both clocks by NTP.',
    after: ['forge'],
    run: async ({ forgeUrl }) => {
      const date = await askForgeDate(forgeUrl);
      return date ? clockFinding(date.forgeMs, date.ourMs) : skipped('the forge tells no date');
    },
  },
  {
    id: 'token',
    looks: 'Whether the forge knows the token, and whose it is.',
    fails: 'It is wrong, expired or removed, or its account may not sign in.',
    remedy: 'Make a new token on the forge, as the account of the bot, and give it as `FORGE_TOKEN`.',
    after: ['forge'],
    run: async ({ account }) => ok(`the forge knows it: it belongs to @${(await account()).login}`),
  },
  {
    id: 'administrator',
    looks: 'Whether the account is a site administrator.',
    fails: 'It is, and `allow-admin` does not say that this is meant.',
    remedy:
      'Make an account with the rights that the rules need; or set `allow-admin: true` in the operator file.',
    after: ['token'],
    run: async ({ account, settings }) => lookAtAdministrator(await account(), settings.allowAdmin),
  },
  {
    id: 'scopes',
    looks:
      'The scopes of the token beside those that Reeve and the actions of the operator’s rules need. Where the forge lists none, each is tried by a call that can do nothing.',
    fails: 'One is missing.',
    remedy: 'Make a token with the scopes that it names.',
    after: ['token'],
    run: async ({ client, capabilities, rules, settings }) => {
      if (settings.forge && !('token' in settings.forge.credentials))
        return ok('a password has no scopes: it may what the account may');
      const loaded = (await rules()).flatMap((file) => file.rules);
      return lookAtScopes(client, neededScopes(loaded), await capabilities());
    },
  },
  {
    id: 'served',
    looks: 'The repositories that Reeve serves: starred by its account, or listed in the operator file.',
    fails: 'There is none: nothing is done anywhere.',
    remedy: 'Star a repository as the bot, or name some under `repositories` in the operator file.',
    after: ['token'],
    run: async (examination) => lookAtServed(examination),
  },
  {
    id: 'access',
    looks:
      'What the account may do in the starred repositories, beside what the operator’s rules need there.',
    fails: 'A rule needs more: its changes would be refused.',
    remedy: 'Make the account a collaborator with that permission, or narrow the rule by `in`.',
    after: ['token'],
    run: async (examination) => lookAtAccess(examination),
  },
  {
    id: 'workflows',
    looks:
      'Whether a served repository runs workflows (`.gitea/workflows`, `.github/workflows`) while the account is not restricted. On Gitea, a label or review request by such an account runs the workflow of a fork without approval.',
    fails: 'Never: it warns, which changes no exit status.',
    remedy:
      'Ask a site administrator to mark the account as restricted, and add it as a collaborator or team member wherever it works: [Workflows of forks](../security.md#workflows-of-forks).',
    after: ['token'],
    run: async (examination) => lookAtWorkflows(examination),
  },
  {
    id: 'capabilities',
    looks: 'What the operator’s rules ask of the forge.',
    fails: 'This version cannot do it, or does not send that event.',
    remedy: 'Update the forge, or take that out of the rule; `reeve check` shows the line.',
    after: ['forge'],
    run: async ({ rules, capabilities }) => {
      const loaded = (await rules()).flatMap((file) => file.rules);
      const known = await capabilities();
      const lacking = lackingIn(loaded, known.capabilities, (path) => readFileSync(path, 'utf8'));
      const [first] = lacking;
      if (first === undefined)
        return ok(`${count(loaded.length, 'rule')} of the operator, nothing the forge cannot do`);
      return wrong(
        `${first.path}:${first.line}: ${first.message}`,
        `update the forge, or take it out (${count(lacking.length, 'place')})`,
      );
    },
  },
  {
    id: 'sign-in',
    looks: 'The OAuth2 application that people sign in to the dashboard with.',
    fails: 'It is not there, or leads back to another address than `dashboard.url`.',
    remedy: '`reeve setup --dashboard URL` registers it.',
    after: ['token'],
    run: async ({ client, settings: { dashboard, signIn } }) => {
      if (dashboard === undefined) return skipped('the operator file names no dashboard');
      const fault = faultOf(await findApplication(client, signIn), dashboard, signIn);
      if (fault === undefined) return ok('the OAuth2 application is as it must be');
      return wrong(`the OAuth2 application: ${fault}`, `reeve setup --dashboard ${dashboard}`);
    },
  },
];

async function lookAtServed({ client, account, settings }: Examination): Promise<Finding> {
  const { login } = await account();
  let starred = 0;
  for await (const { archived } of client.items(operations.listStarred, { params: { username: login } })) {
    if (!archived) starred += 1;
  }
  const listed = settings.repositories.length;
  if (starred + listed === 0) {
    return wrong(
      `@${login} has starred no repository, and the operator file lists none: nothing is done anywhere`,
      `star the repositories that Reeve shall serve, as @${login}`,
    );
  }
  const more = listed === 0 ? '' : `, and ${count(listed, 'pattern')} in the operator file`;
  return ok(`${count(starred, 'starred repository').replace(/repositorys$/, 'repositories')}${more}`);
}

import { createClient } from '../../client/client.ts';
import type { LoadedRule } from '../../rules/rule.ts';
import { loadRuleFiles } from '../../rules/sources/folder.ts';
import type { Variables } from '../../server/settings/config.ts';
import { parseOperatorFile } from '../../server/settings/operator-file/operator-file.ts';
import { describeNeededAccess } from '../connection/checks/access.ts';
import { closingCommands, findOpenSecretFiles } from '../connection/checks/file-modes.ts';
import { ok, warning } from '../connection/finding.ts';
import {
  checkAccount,
  checkAdministrator,
  checkForge,
  checkRestriction,
  checkScopes,
} from '../connection/forge-findings.ts';
import type { Signed } from '../connection/hooks/read-hooks.ts';
import { neededScopes } from '../connection/needed-scopes.ts';
import type { Answers, SetupOptions } from '../connection/steps/answers.ts';
import { readOperatorText } from '../connection/steps/files.ts';
import type { Steps } from '../connection/steps/steps.ts';
import type { wantWebhook } from '../connection/steps/wanted-webhook.ts';
import type { Prompt } from '../output/prompt.ts';

/** A run of setup: what it was asked for, and what became of it so far. */
export type SetupRun = {
  readonly options: SetupOptions;
  readonly answers: Answers;
  readonly prompt: Prompt | undefined;
  readonly steps: Steps;
  /** Values that no line may hold; grows with what is made. */
  readonly secrets: string[];
  /** Takes back what a run that fails has written to the operator file. */
  undo?: (() => Promise<void>) | undefined;
};

/** Where the hooks are to be. */
export type WantedWebhook = Awaited<ReturnType<typeof wantWebhook>>;

/** What is known of the forge and the accounts once they were checked. */
export type CheckedConnection = Awaited<ReturnType<typeof checkConnection>>;

/** Checks the forge, the accounts, the operator file and the rules. */
export async function checkConnection({ options, answers, steps }: SetupRun) {
  const plan = options.plan ?? false;
  const client = createClient(answers.forge);
  const capabilities = await learn(steps, 'forge', () => checkForge(client, answers.forge.url));
  const account = await learn(steps, 'token', () => checkAccount(client));
  const open = await findOpenSecretFiles(answers.environment);
  if (open.length > 0) {
    const text = `other users of this machine can read ${open.map(({ path }) => path).join(', ')}`;
    steps.tell('file-modes', warning(text, closingCommands(open)));
  }
  const { file } = parseOperatorFile(
    answers.config,
    await steps.attempt('operator-file', () => readOperatorText(answers.config)),
  );
  const allowAdmin = options.allowAdmin || file?.['allow-admin'] || false;
  steps.tell('administrator', checkAdministrator(account, allowAdmin), { mustBeRight: true });
  const restriction = checkRestriction(account, capabilities);
  if (restriction) steps.tell('restricted', restriction);
  const rules = await steps.attempt('rules', () => loadRules(answers.environment));
  if ('token' in answers.forge.credentials) {
    const look = () => checkScopes(client, neededScopes(rules), { capabilities, readOnly: plan });
    steps.tell('scopes', await steps.attempt('scopes', look));
  }
  if (rules.length > 0) {
    const needed = describeNeededAccess(rules);
    steps.tell('access', ok(`make @${account.login} a collaborator with the access that ${needed}`));
  }
  const maker =
    answers.setupToken === undefined
      ? client
      : createClient({ url: answers.forge.url, credentials: { token: answers.setupToken } });
  const makerAccount =
    maker === client ? account : await learn(steps, 'admin-token', () => checkAccount(maker));
  return { client, capabilities, account, file, allowAdmin, rules, maker, makerAccount };
}

/** Returns the accounts that can make hooks, the one that is to make them first. */
export function makersOf({ client, account, maker, makerAccount }: CheckedConnection): readonly Signed[] {
  const first = { client: maker, login: makerAccount.login };
  return maker === client ? [first] : [first, { client, login: account.login }];
}

/** Looks, tells what was found, and returns what was learnt. */
async function learn<Value>(
  steps: Steps,
  id: string,
  look: () => Promise<{ finding: ReturnType<typeof ok>; value: Value }>,
): Promise<Value> {
  const { finding, value } = await steps.attempt(id, look);
  steps.tell(id, finding);
  return value;
}

async function loadRules(environment: Variables): Promise<readonly LoadedRule[]> {
  if (!environment.REEVE_RULES) return [];
  return (await loadRuleFiles([environment.REEVE_RULES])).flatMap(({ rules }) => rules);
}

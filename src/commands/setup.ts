import { existsSync } from 'node:fs';
import { type Client, createClient } from '../client/client.ts';
import { secretsOf } from '../client/credentials.ts';
import { describeNeededAccess } from '../connection/checks/access.ts';
import { createReport, ok } from '../connection/finding.ts';
import {
  checkAccount,
  checkAdministrator,
  checkForge,
  checkRestriction,
  checkScopes,
} from '../connection/forge-findings.ts';
import { hookKinds } from '../connection/hooks/event-kinds.ts';
import { hookLocations } from '../connection/hooks/places.ts';
import { localAddress } from '../connection/hooks/probe-receiver.ts';
import { checkServedHooks } from '../connection/hooks/served-hooks.ts';
import { neededScopes } from '../connection/needed-scopes.ts';
import {
  type Answers,
  gatherAnswers,
  keptVariables,
  type SetupOptions,
} from '../connection/steps/answers.ts';
import { saveEnvFile, saveOperatorFile } from '../connection/steps/files.ts';
import { readOperatorText } from '../connection/steps/operator-text.ts';
import { planSecrets, secretVariables, withoutOldValues } from '../connection/steps/secrets.ts';
import { settleHooks } from '../connection/steps/settle-hooks.ts';
import { setUpSignIn } from '../connection/steps/sign-in.ts';
import { createSteps, type Steps, Stopped } from '../connection/steps/steps.ts';
import { wantWebhook } from '../connection/steps/wanted-webhook.ts';
import type { Prompt } from '../output/prompt.ts';
import { count, type Terminal } from '../output/terminal.ts';
import type { LoadedRule } from '../rules/rule.ts';
import { loadSettings, secretValues, type Variables } from '../settings/config.ts';
import { parseOperatorFile } from '../settings/operator-file/operator-file.ts';
import { loadRuleFiles } from '../sources/folder.ts';

type SetupRun = {
  readonly options: SetupOptions;
  readonly answers: Answers;
  readonly prompt: Prompt | undefined;
  readonly steps: Steps;
  /** Values that no line may hold; grows with what is made. */
  readonly secrets: string[];
};

/**
 * Connects a forge: token, secrets, env file, operator file, OAuth2 application, hooks, and a delivery by each of them. Run
 * again it changes nothing that is as it must be. Returns the exit status: 0 where everything is right at the end.
 */
export async function setup(
  options: SetupOptions,
  given: Variables,
  terminal: Terminal,
  prompt?: Prompt,
): Promise<number> {
  const answers = await gatherAnswers(options, given, prompt);
  const secrets = [
    ...secretsOf(answers.forge.credentials),
    ...(answers.setupToken ? [answers.setupToken] : []),
  ];
  const report = createReport(terminal, { json: options.json ?? false, secrets: () => secrets });
  const steps = createSteps(report);
  try {
    await connect({ options, answers, prompt, steps, secrets });
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  }
  const states = report.entries.map(({ state }) => state);
  const changed = states.filter((state) => state === 'changed').length;
  if (options.json) {
    terminal.out(
      JSON.stringify({ ok: steps.status === 0, changed, plan: options.plan ?? false, steps: report.entries }),
    );
  } else if (steps.status !== 0) {
    terminal.out(terminal.style('red', 'Not connected yet: repair what is marked, and run this again.'));
  } else if (options.plan) {
    const planned = states.filter((state) => state === 'planned').length;
    terminal.out(
      planned === 0 ? 'Nothing would change.' : `${count(planned, 'change')} would be made; nothing was.`,
    );
  } else {
    terminal.out(
      terminal.style('green', changed === 0 ? 'Connected; nothing had to be changed.' : 'Connected.'),
    );
    terminal.out(
      `Next: reeve doctor --settings ${answers.envFile}, then reeve serve --settings ${answers.envFile}`,
    );
  }
  return steps.status;
}

async function connect(run: SetupRun): Promise<void> {
  const { options, answers, prompt } = run;
  const { environment } = answers;
  const checked = await checkConnection(run);
  const { file, rules, capabilities, makerAccount } = checked;

  const standardUrl = localAddress(environment.HOST || '127.0.0.1', Number(environment.PORT || 8080));
  const webhook = await wantWebhook(options, file?.webhook, {
    prompt,
    login: makerAccount.login,
    standardUrl,
  });
  const kinds = hookKinds(webhook.events ?? 'all', rules, capabilities);
  const dashboard = options.dashboard ?? file?.dashboard?.url;

  const saved = await saveFiles(run, checked, { webhook, dashboard });
  if (dashboard !== undefined) await connectSignIn(run, { client: checked.client, dashboard, saved });
  const isWhole = await connectHooks(run, checked, { webhook, kinds, saved });
  if (options.rotate && isWhole) await endRotation(run, saved);
}

type WantedWebhook = Awaited<ReturnType<typeof wantWebhook>>;

/** What is known of the forge and the accounts once they were checked. */
type CheckedConnection = Awaited<ReturnType<typeof checkConnection>>;

/** Checks the forge, the accounts, the operator file and the rules. */
async function checkConnection({ options, answers, steps }: SetupRun) {
  const plan = options.plan ?? false;
  const client = createClient(answers.forge);
  const capabilities = await learn(steps, 'forge', () => checkForge(client, answers.forge.url));
  const account = await learn(steps, 'token', () => checkAccount(client));
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

/** The environment that the env file gets, and what writes it. */
type SavedFiles = {
  readonly wanted: Record<string, string | undefined>;
  readonly writeEnvFile: () => ReturnType<typeof saveEnvFile>;
};

/** Writes the env file, with new secrets where they are needed, and the operator file. */
async function saveFiles(
  run: SetupRun,
  { file, allowAdmin }: CheckedConnection,
  { webhook, dashboard }: { webhook: WantedWebhook; dashboard: string | undefined },
): Promise<SavedFiles> {
  const { options, answers, steps } = run;
  const { environment } = answers;
  const plan = options.plan ?? false;
  const secretPlan = planSecrets(environment, {
    hasEntries: (file?.secrets ?? []).length > 0,
    rotate: options.rotate ?? false,
    isRotating: secretVariables.some((name) => (environment[name] ?? '').includes('\n')),
    plan,
  });
  run.secrets.push(...Object.values(secretPlan.values).flatMap((value) => value.split('\n')));
  steps.tell('secrets', secretPlan.finding, { mustBeRight: true });
  const wanted: Record<string, string | undefined> = { ...environment, ...secretPlan.values };
  const writeEnvFile = () => saveEnvFile(answers.envFile, keptOf(wanted), plan);
  steps.tell('env-file', await steps.attempt('env-file', writeEnvFile));
  const edit = {
    webhook,
    dashboard: dashboard && { url: dashboard },
    'allow-admin': allowAdmin || file?.['allow-admin'],
  };
  const writeOperatorFile = () => saveOperatorFile(answers.config, edit, plan);
  steps.tell('operator-file', await steps.attempt('operator-file', writeOperatorFile));
  return { wanted, writeEnvFile };
}

/** Registers the OAuth2 application by which people sign in to the dashboard. */
async function connectSignIn(
  run: SetupRun,
  { client, dashboard, saved }: { client: Client; dashboard: string; saved: SavedFiles },
): Promise<void> {
  const { steps } = run;
  const { wanted, writeEnvFile } = saved;
  const plan = run.options.plan ?? false;
  const [clientId, clientSecret] = [wanted.OAUTH2_CLIENT_ID, wanted.OAUTH2_CLIENT_SECRET];
  const live = clientId && clientSecret ? { clientId, clientSecret } : undefined;
  const made = await steps.attemptAlone('sign-in', () => setUpSignIn(client, dashboard, live, plan));
  if (made?.signIn) {
    run.secrets.push(made.signIn.clientSecret);
    wanted.OAUTH2_CLIENT_ID = made.signIn.clientId;
    wanted.OAUTH2_CLIENT_SECRET = made.signIn.clientSecret;
    await steps.attempt('env-file', writeEnvFile);
  }
  if (made) steps.tell('sign-in', made.finding);
}

/** Sets up the hooks and tries them. Returns whether every hook has the secrets of now. */
async function connectHooks(
  run: SetupRun,
  { client, account, maker, makerAccount }: CheckedConnection,
  {
    webhook,
    kinds,
    saved: { wanted },
  }: { webhook: WantedWebhook; kinds: ReturnType<typeof hookKinds>; saved: SavedFiles },
): Promise<boolean> {
  const { options, answers, steps } = run;
  const plan = options.plan ?? false;
  // A plan has written no operator file.
  const isFileless = plan && !existsSync(answers.config);
  const settings = await steps.attempt('settings', () =>
    loadSettings(isFileless ? { ...wanted, REEVE_CONFIG: '' } : wanted),
  );
  run.secrets.push(...secretValues(settings));
  const isWhole = await settleHooks({
    settings,
    steps,
    plan,
    test: options.test ?? true,
    kinds,
    makers: [
      { client: maker, login: makerAccount.login },
      ...(maker === client ? [] : [{ client, login: account.login }]),
    ],
    places: hookLocations(webhook),
    url: webhook.url,
  });
  const served = { client, login: account.login, listed: settings.repositories, store: undefined };
  const checkServed = () => checkServedHooks({ ...served, places: hookLocations(webhook), url: webhook.url });
  const servedFinding = await steps.attemptAlone('served-hooks', checkServed);
  if (servedFinding) steps.tell('served-hooks', servedFinding);
  return isWhole;
}

/** Removes the former secrets from the env file: no hook sends them any more. */
async function endRotation({ options, answers, steps }: SetupRun, saved: SavedFiles): Promise<void> {
  const { wanted, writeEnvFile } = saved;
  const left = withoutOldValues(wanted);
  if (options.plan || Object.keys(left).length === 0) return;
  Object.assign(wanted, left);
  await steps.attempt('env-file', writeEnvFile);
  steps.tell('rotation', {
    state: 'changed',
    text: `no hook sends the old values any more: ${answers.envFile} holds the new ones alone`,
  });
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

/** The variables that stand in the env file, with undefined for the form that is not used. */
function keptOf(wanted: Variables): Variables {
  const names = [
    ...keptVariables,
    ...secretVariables.flatMap((name) => [name, `${name}_FILE`]),
    'OAUTH2_CLIENT_ID',
    'OAUTH2_CLIENT_SECRET',
  ];
  return Object.fromEntries(names.map((name) => [name, wanted[name] || undefined]));
}

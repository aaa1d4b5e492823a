import { existsSync } from 'node:fs';
import type { Client } from '../../client/client.ts';
import { secretsOf } from '../../client/credentials.ts';
import { loadSettings, secretValues, type Variables } from '../../server/settings/config.ts';
import { createReport, skipped } from '../connection/finding.ts';
import { hookKinds } from '../connection/hooks/event-kinds.ts';
import {
  coveredLocations,
  type HookLocation,
  hookLocations,
  locationName,
} from '../connection/hooks/places.ts';
import { localAddress } from '../connection/hooks/probe-receiver.ts';
import { checkServedHooks } from '../connection/hooks/served-hooks.ts';
import { adoptWiderHooks } from '../connection/steps/adopt-hooks.ts';
import { gatherAnswers, keptVariables, type SetupOptions } from '../connection/steps/answers.ts';
import { rememberOperatorFile, saveEnvFile, saveOperatorFile } from '../connection/steps/files.ts';
import { planSecrets, secretVariables, withoutOldValues } from '../connection/steps/secrets.ts';
import { checkServedNames } from '../connection/steps/serve-repositories.ts';
import { settleHooks } from '../connection/steps/settle-hooks.ts';
import { setUpSignIn } from '../connection/steps/sign-in.ts';
import { createSteps, Stopped } from '../connection/steps/steps.ts';
import { wantWebhook, withoutLocations } from '../connection/steps/wanted-webhook.ts';
import type { Prompt } from '../output/prompt.ts';
import { count, type Terminal } from '../output/terminal.ts';
import {
  type CheckedConnection,
  checkConnection,
  makersOf,
  type SetupRun,
  type WantedWebhook,
} from './setup-checks.ts';

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
  const run: SetupRun = { options, answers, prompt, steps, secrets };
  try {
    await connect(run);
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  } finally {
    await run.undo?.();
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
  const { options, answers, prompt, steps } = run;
  const { environment } = answers;
  const checked = await checkConnection(run);
  const { file, rules, capabilities, makerAccount } = checked;

  const standardUrl = localAddress(environment.HOST || '127.0.0.1', Number(environment.PORT || 8080));
  const asked = await wantWebhook(options, file?.webhook, {
    prompt,
    login: makerAccount.login,
    standardUrl,
  });
  const adopted = await steps.attempt('hook', () => adoptWiderHooks(asked, makersOf(checked)));
  for (const finding of adopted.findings) steps.tell('hook', finding);
  const { webhook } = adopted;
  const serve = options.serve ?? [];
  if (serve.length > 0) {
    const look = () => checkServedNames(checked.client, serve);
    steps.tell('serve', await steps.attempt('serve', look), { mustBeRight: true });
  }
  const repositories = [...new Set([...(file?.repositories ?? []), ...serve])];
  const kinds = hookKinds(webhook.events ?? 'all', rules, capabilities);
  const dashboard = options.dashboard ?? file?.dashboard?.url;

  const saved = await saveFiles(run, checked, { webhook, repositories, dashboard });
  if (dashboard !== undefined) await connectSignIn(run, { client: checked.client, dashboard, saved });
  const isWhole = await connectHooks(run, checked, { webhook, repositories, kinds, wanted: saved.wanted });
  if (options.rotate && isWhole) await endRotation(run, saved);
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
  {
    webhook,
    repositories,
    dashboard,
  }: { webhook: WantedWebhook; repositories: readonly string[]; dashboard: string | undefined },
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
    repositories: repositories.length === 0 ? undefined : repositories,
    dashboard: dashboard && { url: dashboard },
    'allow-admin': allowAdmin || file?.['allow-admin'],
  };
  const writeOperatorFile = () => saveOperatorFile(answers.config, edit, plan);
  if (!plan) run.undo = await steps.attempt('operator-file', () => rememberOperatorFile(answers.config));
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

/** Sets up the hooks and tries them. Returns whether every hook has the secrets of now. */
async function connectHooks(
  run: SetupRun,
  checked: CheckedConnection,
  {
    webhook,
    repositories,
    kinds,
    wanted,
  }: {
    webhook: WantedWebhook;
    repositories: readonly string[];
    kinds: ReturnType<typeof hookKinds>;
    /** The environment that the env file gets. */
    wanted: Variables;
  },
): Promise<boolean> {
  const { options, answers, steps } = run;
  const { client, account, file } = checked;
  const plan = options.plan ?? false;
  // A plan has written no operator file.
  const isFileless = plan && !existsSync(answers.config);
  const settings = await steps.attempt('settings', () =>
    loadSettings(isFileless ? { ...wanted, REEVE_CONFIG: '' } : wanted),
  );
  run.secrets.push(...secretValues(settings));
  const undo = run.undo;
  // What stops the run from here on is no fault of the file: a Reeve that listens has to read it first.
  run.undo = undefined;
  const { isWhole, absent } = await settleHooks({
    settings,
    steps,
    plan,
    test: options.test ?? true,
    kinds,
    makers: makersOf(checked),
    covered: coveredLocations(webhook),
    places: hookLocations(webhook),
    url: webhook.url,
  });
  const before = hookLocations(file?.webhook ?? { url: webhook.url });
  const isNew = (one: HookLocation): boolean =>
    !before.some(({ level, name }) => level === one.level && name === one.name);
  const gone = absent.filter(isNew);
  if (gone.length > 0 && !plan) await leaveOut(run, webhook, gone, undo);
  const served = { client, login: account.login, listed: repositories, store: undefined };
  const checkServed = () => checkServedHooks({ ...served, places: hookLocations(webhook), url: webhook.url });
  const servedFinding = await steps.attemptAlone('served-hooks', checkServed);
  if (servedFinding) steps.tell('served-hooks', servedFinding);
  return isWhole;
}

/** Takes places without a hook out of the operator file again: the next run would fail at them, whatever it is asked for. */
async function leaveOut(
  { answers, steps }: SetupRun,
  webhook: WantedWebhook,
  gone: readonly HookLocation[],
  undo: SetupRun['undo'],
): Promise<void> {
  const left = withoutLocations(webhook, gone);
  await steps.attempt('operator-file', async () =>
    left === undefined
      ? await undo?.()
      : void (await saveOperatorFile(answers.config, { webhook: left }, false)),
  );
  const names = gone.map(locationName).join(', ');
  steps.tell('operator-file', skipped(`${names} taken out of ${answers.config} again: no hook was created`));
}

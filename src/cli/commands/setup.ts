import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import { type Client, createClient } from '../../client/client.ts';
import { secretsOf } from '../../client/credentials.ts';
import { askScopes } from '../../client/token-scopes.ts';
import { operations } from '../../contract/operations.ts';
import { systemClock } from '../../platform/clock.ts';
import { ReeveError } from '../../platform/errors.ts';
import type { LoadedRule } from '../../rules/rule.ts';
import { pollingGaps } from '../../rules/verdict.ts';
import {
  coveredLocations,
  deliversFrom,
  type HookLocation,
  hookLocations,
  locationName,
  repositoryAt,
  type Signed,
  scopesForHooks,
} from '../../server/hooks/places.ts';
import {
  loadSettings,
  readPoll,
  readSecret,
  type Settings,
  secretValues,
  type Variables,
} from '../../server/settings/config.ts';
import { parseOperatorFile, type WebhookForm } from '../../server/settings/operator-file.ts';
import { openStoreAt } from '../../store/open-store.ts';
import { readServed } from '../../work/served.ts';
import { beginSnapshots, listCandidates } from '../../work/sweeps/catch-up/catch-up.ts';
import { onOpenItems } from '../../work/sweeps/open-items.ts';
import {
  type ServedBy,
  servedRepositories,
  toRepositoryRef,
} from '../../work/sweeps/targets/repositories.ts';
import { checkAccess, describeNeededAccess } from '../connection/checks/access.ts';
import { closingCommands, findOpenSecretFiles } from '../connection/checks/file-modes.ts';
import { findServedGaps, gapsFinding } from '../connection/checks/hook-checks.ts';
import { findingOfAddress, findingOfSecrets } from '../connection/checks/machine-checks.ts';
import { readServedRules } from '../connection/checks/served-rules.ts';
import { createReport, type Finding, ok, skipped, warning, wrong } from '../connection/finding.ts';
import {
  checkAccount,
  checkAdministrator,
  checkForge,
  checkRestriction,
  checkScopes,
  neededScopes,
  ownEventsFinding,
} from '../connection/forge-findings.ts';
import { checkOtherReceivers } from '../connection/hooks/other-receivers.ts';
import { localAddress } from '../connection/hooks/probe-receiver.ts';
import { checkServedHooks, hookKinds } from '../connection/hooks/served-hooks.ts';
import {
  type Answers,
  gatherAnswers,
  keptVariables,
  type SetupOptions,
} from '../connection/steps/answers.ts';
import {
  readOperatorText,
  rememberOperatorFile,
  saveEnvFile,
  saveOperatorFile,
} from '../connection/steps/files.ts';
import {
  askFirstRules,
  copyFirstRules,
  createMissingLabels,
  folderOfRules,
  loadFirstRules,
  ownRulesFinding,
  shortList,
  sortFirstRules,
} from '../connection/steps/first-rules.ts';
import { settleHooks } from '../connection/steps/settle-hooks.ts';
import { setUpSignIn } from '../connection/steps/sign-in.ts';
import { createSteps, type Steps, Stopped } from '../connection/steps/steps.ts';
import { wantWebhook, withoutLocations } from '../connection/steps/wanted-webhook.ts';
import { calledAs } from '../output/called-as.ts';
import type { Prompt } from '../output/prompt.ts';
import { count, type Terminal } from '../output/terminal.ts';

/**
 * Connects a forge: token, first rules, secrets, env file, operator file, OAuth2 application, hooks, a test delivery of
 * each hook, and the labels that the rules need. Idempotent. Returns the exit status: 0 if everything is correct at the
 * end.
 */
export async function setup(
  options: SetupOptions,
  given: Variables,
  terminal: Terminal,
  terminalPrompt?: Prompt,
): Promise<number> {
  const prompt = options.yes ? undefined : terminalPrompt;
  const answers = await gatherAnswers(options, given, prompt);
  const secrets = [
    ...secretsOf(answers.forge.credentials),
    ...(answers.setupToken ? [answers.setupToken] : []),
  ];
  const report = createReport(terminal, { isSilent: options.json ?? false, secrets: () => secrets });
  const steps = createSteps(report);
  const run: SetupRun = { options, answers, prompt, terminal, steps, secrets };
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
    terminal.out(
      terminal.style('red', 'Not connected yet: fix the marked problems, and run this command again.'),
    );
  } else if (options.plan) {
    const planned = states.filter((state) => state === 'planned').length;
    terminal.out(
      planned === 0 ? 'Nothing would change.' : `${count(planned, 'change')} would be made; nothing was.`,
    );
  } else {
    terminal.out(
      terminal.style('green', changed === 0 ? 'Connected; nothing had to be changed.' : 'Connected.'),
    );
    for (const line of nextSteps(run, calledAs(process.argv[1], given))) terminal.out(line);
  }
  return steps.status;
}

/** Returns the lines that say what to do after a successful run; `reeve` is the command. */
function nextSteps({ answers, rules = [], isRunning }: SetupRun, reeve: string): readonly string[] {
  const { environment } = answers;
  const settings = `--settings ${shownPath(answers.envFile)}`;
  const observed = rules.filter(({ mode }) => mode === 'observe');
  const page = localAddress(environment.HOST || '127.0.0.1', Number(environment.PORT || 8080));
  return [
    isRunning
      ? `Next: ${reeve} doctor ${settings}, which checks everything; Reeve is running`
      : `Next: ${reeve} serve ${settings}, and leave it running (${reeve} doctor ${settings} checks everything)`,
    ...(rules.length === 0
      ? [
          `Rules: the files .reeve.yml of repositories. Those of the operator: ${reeve} setup ${settings} --rules triage labels begins with two that ship with Reeve, --rules ./FOLDER uses rule files of your own (reeve import writes imported-rules).`,
        ]
      : []),
    ...(rules.some((rule) => 'parts' in onOpenItems(rule))
      ? [
          `What is open already: ${reeve} apply ${settings} --open --plan shows what the rules would do with it.`,
        ]
      : []),
    ...(observed.length === 0
      ? []
      : [
          `Rules: ${shortList(observed.map(({ name }) => name))} only observe. ${reeve} runs ${settings} --changes lists what they would have changed.`,
          `To let them act, remove "mode: observe" from ${observingPlaces(observed).join(', ')}; a running Reeve notices.`,
        ]),
    `Dashboard: ${new URL('/', page).href} with the password that ${reeve} password ${settings} prints`,
  ];
}

/**
 * Returns the places of `mode: observe` by file: the line of the file itself, or those of its rules. Of a file that does
 * not say it in one line, the rules.
 */
function observingPlaces(observed: readonly LoadedRule[]): readonly string[] {
  return [...Map.groupBy(observed, ({ source }) => source)].map(([source, rules]) => {
    const lines = readFileSync(source, 'utf8')
      .split('\n')
      .flatMap((text, index) =>
        /^[^#]*\bmode: *["']?observe\b/.test(text) ? [{ text, line: index + 1 }] : [],
      );
    const ofFile = lines.find(({ text }) => text.startsWith('mode:'));
    const found = ofFile ? [ofFile] : lines;
    const where =
      found.length === 0
        ? `rule ${shortList(rules.map(({ name }) => name))}`
        : `${found.length === 1 ? 'line' : 'lines'} ${shortList(found.map(({ line }) => String(line)))}`;
    return `${shownPath(source)} (${where})`;
  });
}

/** Returns a path relative to the working folder, if it is inside. */
function shownPath(path: string): string {
  const inside = relative(process.cwd(), path);
  return inside.startsWith('..') || isAbsolute(inside) ? path : inside;
}

async function connect(run: SetupRun): Promise<void> {
  const { options, answers, prompt } = run;
  const { environment } = answers;
  const checked = await checkConnection(run);
  const { file, makerAccount } = checked;
  const problems: string[] = [];
  const poll = readPoll((name) => environment[name] || undefined, file, problems);
  if (problems.length > 0) throw new ReeveError('usage', problems.join('\n'));
  const standardUrl = localAddress(environment.HOST || '127.0.0.1', Number(environment.PORT || 8080));
  const asked = await wantWebhook(options, file?.webhook, {
    prompt,
    login: makerAccount.login,
    standardUrl,
    isPolled: poll !== undefined,
  });
  const repositories = asked
    ? await connectByHooks(run, checked, asked)
    : await connectByPolling(run, checked);
  const label = (): ReturnType<typeof createMissingLabels> =>
    createMissingLabels(checked.client, checked.rules, {
      listed: repositories,
      isWanted: options.createLabels ?? (options.yes ? false : undefined),
      prompt,
      plan: options.plan ?? false,
    });
  const labels = await run.steps.attemptAlone('labels', label);
  if (labels) run.steps.tell('labels', labels);
  const { settings } = run;
  const secret = async () => settings && (await findingOfSecrets(settings, checked.rules));
  const secrets = await run.steps.attemptAlone('named-secrets', secret);
  if (secrets?.state === 'wrong') run.steps.tell('named-secrets', { ...secrets, state: 'warning' });
}

/** Lets the forge announce events by hooks. Returns the repositories that the operator file lists. */
async function connectByHooks(
  run: SetupRun,
  checked: CheckedConnection,
  asked: WantedWebhook,
): Promise<readonly string[]> {
  const { options, steps } = run;
  const { file, rules, capabilities } = checked;
  await checkTokenScopes(run, checked, asked);
  const adopted = await steps.attempt('hook', () => adoptWiderHooks(asked, makersOf(checked)));
  for (const finding of adopted.findings) steps.tell('hook', finding);
  const { webhook } = adopted;
  const serve = options.serve ?? [];
  const named = async (): Promise<readonly string[]> => {
    const hooked = asked.repositories?.filter((name) => !file?.webhook?.repositories?.includes(name));
    const listed = [...(file?.repositories ?? []), ...serve];
    return [...serve, ...(await unservedNames(checked, hooked ?? [], listed))];
  };
  const repositories = await serveAlso(run, checked, await steps.attempt('serve', named));
  await tellOfAccount(run, checked, [...repositories, ...(webhook.repositories ?? [])]);
  const kinds = hookKinds(webhook.events ?? 'all', rules, capabilities);
  const saved = await saveFiles(run, checked, { webhook, repositories });
  const isWhole = await connectHooks(run, checked, { webhook, repositories, kinds, wanted: saved.wanted });
  if (options.rotate && isWhole) await endRotation(run, saved);
  return repositories;
}

/** Interval of polling that is the answer to a question, in seconds. */
const standardPoll = '60';

/** Lets Reeve poll the forge, which cannot reach it. Returns the repositories that the operator file lists. */
async function connectByPolling(run: SetupRun, checked: CheckedConnection): Promise<readonly string[]> {
  const { options, answers, prompt, steps } = run;
  const { client, account, file, rules } = checked;
  const { environment } = answers;
  const plan = options.plan ?? false;
  if (file?.poll === undefined) environment.REEVE_POLL ||= standardPoll;
  await checkTokenScopes(run, checked, undefined);
  const given = [...(options.serve ?? []), ...(options.repository ?? [])];
  const isSaid = given.length > 0 || (file?.repositories ?? []).length > 0;
  const answer = isSaid ? '' : await prompt?.ask('Repositories to poll (owner/name), if they have no star');
  const names = [...given, ...(answer ?? '').split(/[\s,]+/).filter(Boolean)];
  const repositories = await serveAlso(run, checked, names);
  await tellOfAccount(run, checked, repositories);
  const { wanted } = await saveFiles(run, checked, { repositories });
  const isFileless = plan && !existsSync(answers.config);
  const settings = await steps.attempt('settings', () =>
    loadSettings(isFileless ? { ...wanted, REEVE_CONFIG: '' } : wanted),
  );
  run.secrets.push(...secretValues(settings));
  run.settings = settings;
  run.undo = undefined;
  if (!plan && (options.test ?? true)) {
    const look = () => findingOfAddress(settings);
    steps.tell('receiver', await steps.attempt('receiver', look), { mustBeRight: true });
  }
  const served = { login: async () => account.login, listed: repositories };
  const polled = await steps.attempt('polling', () => listCandidates(client, served));
  const everySeconds = settings.poll ?? Number(standardPoll);
  const own = await findServedGaps({
    servedRules: () => readServedRules(client, settings, { repositories: polled, isWhole: true }),
  });
  steps.tell('polling', findingOfPolling(everySeconds, polled.length, rules, own));
  const status = await steps.attemptAlone('rule-status', () => checkStatusScope(run, checked, settings));
  if (status) steps.tell('rule-status', status);
  const others = await steps.attemptAlone('polling-hooks', () =>
    checkOtherReceivers(client, polled.map(toRepositoryRef), settings.webhook?.url),
  );
  if (others?.state === 'warning') steps.tell('polling-hooks', others);
  if (polled.length > 0 && !plan) await beginWith(run, client, settings, served);
  return repositories;
}

function findingOfPolling(
  everySeconds: number,
  served: number,
  rules: readonly LoadedRule[],
  own: Awaited<ReturnType<typeof findServedGaps>>,
): Finding {
  const every = `Reeve polls ${count(served, 'repository')} every ${everySeconds} s, and needs no hook`;
  if (served === 0)
    return wrong(
      'no repository is served: nothing would be polled',
      'name them: reeve setup --serve OWNER/NAME; or star them with the account on the forge',
    );
  return gapsFinding([...pollingGaps(rules), ...own.gaps], every) ?? ok(`${every}${own.note}`);
}

/** Checks the repositories to serve in addition. Returns all that the operator file will list. */
async function serveAlso(
  { steps }: SetupRun,
  { client, file }: CheckedConnection,
  toServe: readonly string[],
): Promise<readonly string[]> {
  if (toServe.length > 0) {
    const look = () => checkServedNames(client, toServe);
    steps.tell('serve', await steps.attempt('serve', look), { mustBeRight: true });
  }
  return [...new Set([...(file?.repositories ?? []), ...toServe])];
}

/** Notes the present of the served repositories, so that what happens before the first start is found. */
async function beginWith(
  { steps }: SetupRun,
  client: Client,
  settings: Settings,
  served: ServedBy,
): Promise<void> {
  await steps.attemptAlone('store', async () => {
    const store = await openStoreAt(settings, { role: 'reader' });
    try {
      await beginSnapshots(client, served, { store, clock: systemClock });
    } finally {
      await store.close();
    }
  });
}

/** Checks the scopes of the token, including those for the missing hooks if no other account creates them. */
async function checkTokenScopes(
  { options, answers, steps }: SetupRun,
  checked: CheckedConnection,
  webhook: WantedWebhook | undefined,
): Promise<void> {
  if (!('token' in answers.forge.credentials)) return;
  const { client, maker, rules, capabilities } = checked;
  const look = async () => {
    const forHooks =
      maker === client && webhook
        ? await scopesForHooks(hookLocations(webhook), webhook.url, makersOf(checked))
        : [];
    const needs = neededScopes(rules, forHooks);
    return checkScopes(client, needs, { capabilities, readOnly: options.plan ?? false });
  };
  steps.tell('scopes', await steps.attempt('scopes', look));
}

/** Returns a warning if the token cannot set the status that reports problems of a repository's rule file. */
async function checkStatusScope(
  { options, answers }: SetupRun,
  { client, capabilities }: CheckedConnection,
  { reportProblems }: Settings,
): Promise<Finding | undefined> {
  if (reportProblems !== 'status' || !('token' in answers.forge.credentials)) return undefined;
  const scope = 'write:repository';
  const held = await askScopes(client, [scope], { capabilities, readOnly: options.plan ?? false });
  if (held.get(scope) !== 'missing') return undefined;
  return warning(
    'without write:repository, problems of a .reeve.yml appear in reeve doctor, in the log and on the dashboard, not as the status reeve/rules',
    'create a token with write:repository, or set report-problems: issue in the operator file',
  );
}

/** Prints what follows from the account: whose events start rules, what a fork's workflow could do, and the access. */
async function tellOfAccount(
  { steps }: SetupRun,
  { client, account, capabilities, file, rules }: CheckedConnection,
  names: readonly string[],
): Promise<void> {
  const isOwner = names.some((name) => name.toLowerCase().startsWith(`${account.login.toLowerCase()}/`));
  steps.tell('own-events', ownEventsFinding(account.login, file?.own ?? 'changes', isOwner));
  const restriction = checkRestriction(account, capabilities, isOwner);
  if (restriction) steps.tell('restricted', restriction);
  if (rules.length === 0) return;
  const access = await steps.attemptAlone('access', () =>
    checkAccess(rules, {
      client,
      account: async () => account,
      listed: names,
      served: () => readServed(client, names, { max: maxCompared, login: async () => account.login }),
    }),
  );
  if (access === undefined) return;
  // The connection works without it, and the access can be given afterwards.
  const advice = `${access.advice}; ${describeNeededAccess(rules)}`;
  steps.tell('access', access.state === 'wrong' ? { ...access, state: 'warning', advice } : access);
}

/** Maximum number of repositories in which the access of the account is compared with what the rules need. */
const maxCompared = 1_000;

/**
 * Returns the repositories of new hooks that the account can read, and that would not be served: a hook whose
 * deliveries are ignored is of no use.
 */
async function unservedNames(
  { client, account }: CheckedConnection,
  hooked: readonly string[],
  listed: readonly string[],
): Promise<readonly string[]> {
  if (hooked.length === 0) return [];
  const served = new Set<string>();
  for await (const page of servedRepositories(client, { login: async () => account.login, listed })) {
    for (const { owner, name } of page.repositories.map(toRepositoryRef))
      served.add(`${owner}/${name}`.toLowerCase());
  }
  const unserved = hooked.filter((name) => !served.has(name.toLowerCase()));
  const readable = await Promise.all(unserved.map((name) => canRead(client, name)));
  return unserved.filter((_name, index) => readable[index]);
}

/** The variables for the env file, and the function that writes it. */
type SavedFiles = {
  readonly wanted: Record<string, string | undefined>;
  readonly writeEnvFile: () => ReturnType<typeof saveEnvFile>;
};

/** Writes the env file, with new secrets if hooks need them, and the operator file. Connects the sign-in. */
async function saveFiles(
  run: SetupRun,
  { client, file, allowAdmin }: CheckedConnection,
  { webhook, repositories }: { webhook?: WantedWebhook; repositories: readonly string[] },
): Promise<SavedFiles> {
  const { options, answers, steps } = run;
  const { environment } = answers;
  const plan = options.plan ?? false;
  const dashboard = options.dashboard ?? file?.dashboard?.url;
  const wanted: Record<string, string | undefined> = { ...environment };
  if (webhook !== undefined) {
    const secretPlan = planSecrets(environment, {
      hasEntries: (file?.secrets ?? []).length > 0,
      rotate: options.rotate ?? false,
      isRotating: secretVariables.some((name) => (environment[name] ?? '').includes('\n')),
      plan,
    });
    run.secrets.push(...Object.values(secretPlan.values).flatMap((value) => value.split('\n')));
    steps.tell('secrets', secretPlan.finding, { mustBeRight: true });
    Object.assign(wanted, secretPlan.values);
  }
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
  const saved = { wanted, writeEnvFile };
  if (dashboard !== undefined) await connectSignIn(run, { client, dashboard, saved });
  return saved;
}

/** Registers the OAuth2 application for sign-in to the dashboard. */
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

/** Removes the old secrets from the env file, because no hook sends them any more. */
async function endRotation(
  { options, answers, steps, isRunning }: SetupRun,
  saved: SavedFiles,
): Promise<void> {
  const { wanted, writeEnvFile } = saved;
  const left = withoutOldValues(wanted);
  if (options.plan || Object.keys(left).length === 0) return;
  Object.assign(wanted, left);
  await steps.attempt('env-file', writeEnvFile);
  steps.tell('rotation', {
    state: 'changed',
    text: `no hook sends the old values any more: ${answers.envFile} now contains only the new ones`,
  });
  if (isRunning)
    steps.tell('restart', {
      state: 'warning',
      text: 'the running Reeve still accepts the old values',
      advice: 'restart Reeve once more',
    });
}

/** Returns the variables to keep in the env file. The unused form of a secret is undefined. */
function keptOf(wanted: Variables): Variables {
  const names = [
    ...keptVariables,
    ...secretVariables.flatMap((name) => [name, `${name}_FILE`]),
    'OAUTH2_CLIENT_ID',
    'OAUTH2_CLIENT_SECRET',
  ];
  return Object.fromEntries(names.map((name) => [name, wanted[name] || undefined]));
}

/** Sets up and tests the hooks. Returns whether every hook is as required. */
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
    /** The variables for the env file. */
    wanted: Variables;
  },
): Promise<boolean> {
  const { options, answers, steps } = run;
  const { client, account, file } = checked;
  const plan = options.plan ?? false;
  // A plan writes no operator file, so the file may be missing.
  const isFileless = plan && !existsSync(answers.config);
  const settings = await steps.attempt('settings', () =>
    loadSettings(isFileless ? { ...wanted, REEVE_CONFIG: '' } : wanted),
  );
  run.secrets.push(...secretValues(settings));
  run.settings = settings;
  const undo = run.undo;
  // From here on, the operator file is not restored after a failure, because a running Reeve has to read it first.
  run.undo = undefined;
  const { isWhole, absent, isRunning } = await settleHooks({
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
  run.isRunning = isRunning;
  if (isWhole && !plan && !isRunning)
    await beginWith(run, client, settings, {
      login: async () => account.login,
      listed: settings.repositories,
    });
  const before = hookLocations(file?.webhook ?? { url: webhook.url });
  const isNew = (one: HookLocation): boolean =>
    !before.some(({ level, name }) => level === one.level && name === one.name);
  const gone = absent.filter(isNew);
  if (gone.length > 0 && !plan) {
    const before = repositories.length > 0 ? { webhook: file?.webhook } : undefined;
    await leaveOut(run, webhook, gone, before ? () => saveOperatorFile(answers.config, before, false) : undo);
  }
  const served = { client, login: account.login, listed: repositories, store: undefined };
  const made = hookLocations(webhook).filter(
    (one) => plan || !absent.some(({ level, name }) => level === one.level && name === one.name),
  );
  const checkServed = () => checkServedHooks({ ...served, places: made, url: webhook.url });
  const servedFinding = await steps.attemptAlone('served-hooks', checkServed);
  if (servedFinding) steps.tell('served-hooks', servedFinding);
  return isWhole;
}

/** Removes locations without a hook from the operator file, because every later run would fail at those locations. */
async function leaveOut(
  { answers, steps }: SetupRun,
  webhook: WantedWebhook,
  gone: readonly HookLocation[],
  undo: (() => Promise<unknown>) | undefined,
): Promise<void> {
  const left = withoutLocations(webhook, gone);
  await steps.attempt('operator-file', async () =>
    left === undefined
      ? void (await undo?.())
      : void (await saveOperatorFile(answers.config, { webhook: left }, false)),
  );
  const names = gone.map(locationName).join(', ');
  steps.tell('operator-file', skipped(`${names} removed from ${answers.config} again: no hook was created`));
}

/** State of a setup run: its options and its results so far. */
type SetupRun = {
  readonly options: SetupOptions;
  readonly answers: Answers;
  readonly prompt: Prompt | undefined;
  readonly terminal: Terminal;
  readonly steps: Steps;
  /** Secret values to redact, including those generated during the run. */
  readonly secrets: string[];
  /** The operator's rules. */
  rules?: readonly LoadedRule[];
  /** The settings that were written. */
  settings?: Settings;
  /** Whether a Reeve with these settings is running. */
  isRunning?: boolean;
  /** Restores the operator file if the run fails. */
  undo?: (() => Promise<void>) | undefined;
};

/** The wanted locations of the hooks. */
type WantedWebhook = WebhookForm;

/** Results of the checks of the forge and the accounts. */
type CheckedConnection = Awaited<ReturnType<typeof checkConnection>>;

/** Checks the forge, the accounts, the operator file and the rules. */
async function checkConnection(run: SetupRun) {
  const { options, answers, steps } = run;
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
  const rules = await steps.attempt('rules', () => beginWithRules(run));
  run.rules = rules;
  const maker =
    answers.setupToken === undefined
      ? client
      : createClient({ url: answers.forge.url, credentials: { token: answers.setupToken } });
  const makerAccount =
    maker === client ? account : await learn(steps, 'admin-token', () => checkAccount(maker));
  return { client, capabilities, account, file, allowAdmin, rules, maker, makerAccount };
}

/** Returns the accounts that can create hooks, the preferred one first. */
function makersOf({ client, account, maker, makerAccount }: CheckedConnection): readonly Signed[] {
  const first = { client: maker, login: makerAccount.login };
  return maker === client ? [first] : [first, { client, login: account.login }];
}

/** Runs a check, prints its finding, and returns its value. */
async function learn<Value>(
  steps: Steps,
  id: string,
  look: () => Promise<{ finding: ReturnType<typeof ok>; value: Value }>,
): Promise<Value> {
  const { finding, value } = await steps.attempt(id, look);
  steps.tell(id, finding);
  return value;
}

/**
 * Puts a folder or file of own rules in force, copies the shipped rules to begin with, which a first run asks for, and
 * loads the operator's rules.
 */
async function beginWithRules(run: SetupRun): Promise<readonly LoadedRule[]> {
  const { options, answers, prompt, terminal, steps } = run;
  const { environment } = answers;
  const plan = options.plan ?? false;
  const isAsked = answers.isFirst && !environment.REEVE_RULES && options.rules === undefined && !plan;
  const { own, names } =
    options.rules !== undefined
      ? await steps.attempt('first-rules', () => sortFirstRules(options.rules ?? []))
      : { own: undefined, names: isAsked && prompt ? await askFirstRules(prompt, terminal) : [] };
  if (own !== undefined) {
    steps.tell('first-rules', ownRulesFinding(own, environment.REEVE_RULES, plan));
    environment.REEVE_RULES = own;
  }
  if (names.length > 0) {
    const folder = folderOfRules(answers);
    const copy = () => copyFirstRules(names, folder, plan);
    steps.tell('first-rules', await steps.attempt('first-rules', copy));
    environment.REEVE_RULES = folder;
  }
  return loadFirstRules(environment.REEVE_RULES, plan ? names : []);
}

/**
 * Returns the wanted hooks. A repository is replaced with its organization or account if the hook there already
 * delivers to the same address, because an additional hook of the repository would deliver every event twice. Hooks
 * that the accounts cannot see are treated as missing.
 */
async function adoptWiderHooks(
  webhook: WebhookForm,
  makers: readonly Signed[],
): Promise<{ readonly webhook: WebhookForm; readonly findings: readonly Finding[] }> {
  const repositories = hookLocations(webhook).filter(({ level }) => level === 'repository');
  const owners = new Set(repositories.map((location) => repositoryAt(location).owner));
  const found: HookLocation[] = [];
  for (const name of owners) {
    for (const level of ['organization', 'user'] as const) {
      const location = { level, name };
      if (await deliversFrom(location, webhook.url, makers)) found.push(location);
    }
  }
  const named = (level: HookLocation['level']): string[] | undefined => {
    const names = found.filter((location) => location.level === level).map(({ name }) => name);
    const before = (level === 'organization' ? webhook.organizations : webhook.users) ?? [];
    return before.length + names.length === 0 ? undefined : [...before, ...names];
  };
  return {
    webhook:
      found.length === 0
        ? webhook
        : { ...webhook, organizations: named('organization'), users: named('user') },
    findings: found.map((location) => ({
      state: 'ok',
      text: `${locationName(location)} has a hook that delivers to ${webhook.url}: it is used for its repositories`,
    })),
  };
}

/**
 * Checks whether the account can read the repositories that are served without a star. Patterns are accepted unchecked.
 */
async function checkServedNames(client: Client, names: readonly string[]): Promise<Finding> {
  const hidden: string[] = [];
  for (const name of names.filter((one) => !one.includes('*'))) {
    if (!(await canRead(client, name))) hidden.push(name);
  }
  if (hidden.length === 0) return ok(`serves ${names.join(', ')} without a star`);
  return wrong(
    `${hidden.join(', ')}: there is no such repository, or the account cannot read it`,
    'correct the name, or make the account a collaborator; write --serve OWNER/NAME',
  );
}

async function canRead(client: Client, name: string): Promise<boolean> {
  const [owner = '', repo = ''] = name.split('/');
  try {
    await client.call(operations.getRepository, { params: { owner, repo } });
    return true;
  } catch (error) {
    if (error instanceof ReeveError && error.status === 404) return false;
    throw error;
  }
}

/** The two variables that contain the secrets of hooks. */
const secretVariables = ['WEBHOOK_AUTHORIZATION', 'WEBHOOK_SECRET'] as const;
type Variable = (typeof secretVariables)[number];

/** Plan for the webhook secrets: the variables to write, and the finding. Absent variables are left unchanged. */
type SecretPlan = {
  readonly values: Readonly<Partial<Record<Variable, string>>>;
  readonly finding: Finding;
};

/** Returns 32 random bytes in an encoding that every header and file accepts. */
const make = (variable: Variable): string => {
  const random = randomBytes(32).toString('base64url');
  return variable === 'WEBHOOK_AUTHORIZATION' ? `Bearer ${random}` : random;
};

/**
 * Plans the webhook secrets: existing ones are kept, and missing ones are generated. With `rotate`, new secrets are put
 * before the current ones, so that deliveries with either are accepted until the hooks are replaced. An unfinished
 * rotation is continued.
 */
function planSecrets(
  environment: Variables,
  options: { hasEntries: boolean; rotate: boolean; isRotating: boolean; plan: boolean },
): SecretPlan {
  const given = secretVariables.filter((name) => readSecret(environment, name) !== undefined);
  if (given.length === 0 && options.hasEntries) {
    return {
      values: {},
      finding: ok('the operator file has entries of secrets: the hooks get their first values'),
    };
  }
  const missing = secretVariables.filter((name) => !given.includes(name));
  const inFiles = given.filter((name) => environment[`${name}_FILE`]);
  if (options.rotate && inFiles.length > 0) {
    return {
      values: {},
      finding: wrong(
        `${inFiles.join(' and ')} come from files that setup does not write`,
        'add a new value on a line before the old one in each file, then run setup without --rotate',
      ),
    };
  }
  const rotated = options.rotate && !options.isRotating ? given : [];
  const values = Object.fromEntries([
    ...missing.map((name) => [name, make(name)]),
    ...rotated.map((name) => [name, `${make(name)}\n${environment[name]}`]),
  ]);
  return { values, finding: findingOf(missing, rotated, options) };
}

function findingOf(
  missing: readonly string[],
  rotated: readonly string[],
  { plan, rotate }: { plan: boolean; rotate: boolean },
): Finding {
  if (missing.length + rotated.length === 0) {
    return ok(
      rotate
        ? 'new secrets already exist; the rotation continues'
        : 'header and signature have their secrets',
    );
  }
  const what = [
    ...(missing.length > 0 ? [`${missing.join(' and ')}: 32 random bytes each`] : []),
    ...(rotated.length > 0 ? [`${rotated.join(' and ')}: a new value before the live one`] : []),
  ].join('; ');
  return { state: plan ? 'planned' : 'changed', text: plan ? `would create ${what}` : `created ${what}` };
}

/** Returns the variables with several values, reduced to their first value, once no hook sends the older values. */
function withoutOldValues(environment: Variables): Readonly<Partial<Record<Variable, string>>> {
  const several = secretVariables.filter((name) => (environment[name] ?? '').includes('\n'));
  return Object.fromEntries(several.map((name) => [name, environment[name]?.split('\n')[0] ?? '']));
}

import { execFile } from 'node:child_process';
import events from 'node:events';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '../../client/client.ts';
import type { Event } from '../../contract/events/events.ts';
import { operations } from '../../contract/operations.ts';
import type { PullRequest } from '../../contract/resources/pulls.ts';
import type { Run } from '../../engine/record.ts';
import { createForgeInstance, type ForgeInstance } from '../../forge/forge.ts';
import { count } from '../../platform/count.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import { createLog } from '../../platform/log.ts';
import { packageRoot } from '../../platform/package.ts';
import { loadRuleFile } from '../../rules/files/load.ts';
import { formatProblems } from '../../rules/problem.ts';
import { registry } from '../../rules/registry.ts';
import { type ServerOptions, startServer } from '../../server/server.ts';
import type { Settings } from '../../server/settings/config.ts';
import { passwordPath } from '../../server/settings/secrets/dashboard-password.ts';
import type { Store } from '../../store/store.ts';
import type { Terminal } from '../output/terminal.ts';
import {
  at,
  findOrCreateHook,
  findOrCreatePeople,
  findOrCreateRepository,
  findOrCreateToken,
  type People,
  pushRules,
  readDemoSecrets,
  writeDemoFile,
} from './repository.ts';

const ownRuleFile = join(packageRoot, 'rules/demo/labels.yml');

/**
 * Starts the embedded forge and the bot, and plays a short scenario through the real receiver. Every step is
 * find-or-create, so a second start on the same data finds what the first one created. With `once`, all data is in a
 * temporary folder, and the demo ends after the scenario. `ruleFile` is pushed instead of the built-in rules. Aborting
 * `stop` closes everything, and pending steps throw its reason.
 */
export async function runDemo(
  options: { once: boolean; stop: AbortSignal; ruleFile?: string },
  settings: Settings,
  terminal: Terminal,
): Promise<void> {
  const { once, stop } = options;
  const say = (about: string, text: string): void => {
    stop.throwIfAborted();
    terminal.out(`${terminal.style('bold', about.padEnd(10))} ${text}`);
  };
  const rules = await readDemoRules(options.ruleFile ?? ownRuleFile);
  const data = once ? await mkdtemp(join(tmpdir(), 'reeve-demo-')) : settings.data;
  const scratch = await mkdtemp(join(tmpdir(), 'reeve-clone-'));
  const temporary = once ? [data, scratch] : [scratch];
  const closing: (() => Promise<unknown>)[] = temporary.map(
    (folder) => () => rm(folder, { recursive: true, force: true }),
  );
  // A second signal, or the shutdown deadline, ends the process without the steps below.
  const removeAtExit = (): void => {
    for (const folder of temporary) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  process.once('exit', removeAtExit);
  try {
    const secrets = readDemoSecrets(data);
    const level = settings.logLevel === 'info' ? 'warn' : settings.logLevel;
    const log = createLog({ level, secrets: Object.values(secrets) });
    const forge = await createForgeInstance({ clock: () => new Date(), data: join(data, 'forge'), log });
    closing.push(() => forge.close());
    await forge.createAdministrator({ name: 'root', password: secrets.rootPassword });
    const forgeUrl = await listen(
      forge,
      once ? { port: 0, host: '127.0.0.1' } : { port: settings.forgePort, host: settings.host },
    );
    say(
      'forge',
      `${forgeUrl} is the embedded forge, with the accounts root (administrator), ada and reeve (the bot)`,
    );

    const people = await findOrCreatePeople(forgeUrl, secrets);
    const repository = await findOrCreateRepository(people);
    const rulesWere = await pushRules(people.root, rules);
    say(
      'repository',
      `${repository.html_url}, its rules in .reeve.yml (${rulesWere}, from rules/demo/labels.yml)`,
    );

    const token = await findOrCreateToken(forgeUrl, people, secrets.reeveToken);
    const watch = createWatch(stop);
    const server = await startServer({
      ...demoServerOptions(settings, { secrets, forgeUrl, token, data, once, level }),
      signal: stop,
      onRun: watch.onRun,
    });
    closing.push(() => server.stop());
    const webhook = `${server.url}/webhook`;
    const hook = await findOrCreateHook(people.root, webhook, secrets);
    say(
      'hook',
      `number ${hook} of ${at.owner}/${at.repo} → ${webhook}, signed, and with an authorization header`,
    );

    const path = await writeDemoFile(data, { ...secrets, reeveToken: token }, { forge: forgeUrl, webhook });
    await playScenario({
      people,
      cloneUrl: `${forgeUrl}/${at.owner}/${at.repo}.git`,
      ada: { name: 'ada', password: secrets.adaPassword },
      folder: scratch,
      store: server.store,
      waitForRun: watch.waitForRun,
      say,
    });
    if (once) {
      say('done', 'the labels are what the rules ask for');
      return;
    }
    sayNext({ path, data, url: server.url }, terminal);
    if (stop.aborted) return;
    const failure = await Promise.race([events.once(stop, 'abort'), server.failed]);
    if (failure instanceof ReeveError) throw failure;
  } catch (error) {
    // An error caused by the shutdown is not the reason for the shutdown.
    throw stop.aborted ? stop.reason : error;
  } finally {
    // Closed in reverse order: the bot finishes its work while the forge still answers.
    for (const close of closing.toReversed()) await close();
    process.off('exit', removeAtExit);
  }
}

/** Returns the options of the bot: the settings, with the forge of the demo. */
function demoServerOptions(
  settings: Settings,
  {
    secrets,
    forgeUrl,
    token,
    data,
    once,
    level,
  }: {
    readonly secrets: ReturnType<typeof readDemoSecrets>;
    readonly forgeUrl: string;
    readonly token: string;
    readonly data: string;
    readonly once: boolean;
    readonly level: Settings['logLevel'];
  },
): ServerOptions {
  return {
    forge: { url: forgeUrl, credentials: { token } },
    secrets: [
      { name: 'demo', scope: ['*'], authorization: [secrets.authorization], hmac: [secrets.secret] },
      ...settings.secrets,
    ],
    data,
    rules: settings.rules,
    repositories: settings.repositories,
    allowAdmin: settings.allowAdmin,
    host: settings.host,
    port: once ? 0 : settings.port,
    log: createLog({ level, secrets: [...Object.values(secrets), token] }),
  };
}

/** Starts the forge on the bot's host, and returns its URL. Throws `port-taken`. */
async function listen(forge: ForgeInstance, { port, host }: { port: number; host: string }): Promise<string> {
  return forge.listen({ port, host }).catch((cause: unknown) => {
    if (!(cause instanceof ReeveError) || cause.code !== 'port-taken') throw cause;
    throw new ReeveError('port-taken', `FORGE_PORT ${port}: ${cause.message}; set FORGE_PORT`, {
      cause,
    });
  });
}

/** Reads the rule file that the demo pushes. Problems are reported with line and column before anything is started. */
async function readDemoRules(ruleFile: string): Promise<string> {
  const text = await readFile(ruleFile, 'utf8');
  const path = relative(process.cwd(), ruleFile);
  const { problems } = loadRuleFile({ path, text, level: 'repository', commit: '', registry });
  if (problems.length === 0) return text;
  throw new ReeveError(
    'rules-broken',
    `the rule file of the demo cannot be used:\n\n${formatProblems(problems)}`,
  );
}

const patienceMs = 20_000;

/** Records runs, and lets the scenario wait for one. */
function createWatch(stop: AbortSignal): { onRun: (run: Run, event: Event) => void; waitForRun: WaitForRun } {
  const seen: { run: Run; index: number | undefined; atMs: number }[] = [];
  const listeners = new Set<() => void>();
  return {
    onRun(run, event) {
      seen.push({ run, index: event.subject?.index, atMs: Date.now() });
      for (const listener of listeners) listener();
    },
    waitForRun: ({ activity, index, after }) =>
      new Promise((resolve, reject) => {
        const giveUp = (): void => {
          clearTimeout(timer);
          listeners.delete(look);
          reject(stop.reason);
        };
        stop.addEventListener('abort', giveUp, { once: true });
        const timer = setTimeout(() => {
          listeners.delete(look);
          const told =
            seen.map(({ run }) => `${run.trigger.kind}.${run.trigger.activity}`).join(', ') || 'nothing';
          reject(
            new ReeveError(
              'internal',
              `no run for ${activity} of #${index} within ${patienceMs / 1_000} s; seen: ${told}`,
            ),
          );
        }, patienceMs);
        const look = (): void => {
          const found = seen.find(
            (one) => one.run.trigger.activity === activity && one.index === index && one.atMs >= after,
          );
          if (!found) return;
          clearTimeout(timer);
          listeners.delete(look);
          stop.removeEventListener('abort', giveUp);
          resolve(found.run);
        };
        listeners.add(look);
        look();
      }),
  };
}

function sayNext({ path, data, url }: { path: string; data: string; url: string }, terminal: Terminal): void {
  terminal.out(`
Everything is up; Ctrl-C stops it. Addresses and accounts are in ${path}. In another shell:

  . ${path}
  git clone "http://ada:$DEMO_ADA_PASSWORD@\${DEMO_URL#http://}/acme/demo.git"
  curl -u "ada:$DEMO_ADA_PASSWORD" "$DEMO_URL/api/v1/repos/acme/demo/issues/1/labels"
  curl -i -X POST "$DEMO_WEBHOOK_URL" -H 'content-type: application/json' -d '{}'    # 401: no secret matches

In a browser, ${url}/ shows every delivery and why each rule did what it did; the password is in ${passwordPath(data)}.
`);
}

/** Prints one step: a word for its subject, and a sentence. */
type Say = (about: string, text: string) => void;

/** Waits for the run that an event of a pull request causes. */
type WaitForRun = (wanted: { activity: string; index: number; after: number }) => Promise<Run>;

const branch = 'ada/handbook';
const title = 'Write the handbook';

const handbook = [
  '# Handbook',
  '',
  ...Array.from({ length: 12 }, (_, line) => `${line + 1}. Ask the reeve.`),
  '',
].join('\n');
const program = Array.from({ length: 60 }, (_, line) => `export const rule${line} = ${line};`).join('\n');

/**
 * Plays a typical scenario: a branch is pushed, a pull request is opened and labels are set; another push changes the
 * kind of the pull request, and the labels follow. Every step is real. If the pull request already exists, nothing is
 * played. Throws if a label differs from what the rules require.
 */
async function playScenario(options: {
  people: People;
  cloneUrl: string;
  ada: { name: string; password: string };
  folder: string;
  store: Store;
  waitForRun: WaitForRun;
  say: Say;
}): Promise<void> {
  const { people, say, waitForRun } = options;
  const known = await findDemoPull(people.ada);
  if (known) {
    say('pull', `#${known.number} "${known.title}" is there already: ${known.html_url}`);
    say('labels', await labelsOf(people.ada, known.number));
    return;
  }
  const checkout = await cloneAs({
    url: options.cloneUrl,
    folder: join(options.folder, 'ada'),
    person: options.ada,
  });
  await checkout.switchTo(branch);
  const first = await checkout.commit('Write the handbook', { 'docs/handbook.md': handbook });
  say('push', `ada pushes ${branch} at ${first.slice(0, 10)}: docs/handbook.md`);

  const wanted = await labelId(people.root, 'help wanted');
  let after = Date.now();
  const pull = await people.ada.call(operations.createPull, {
    params: at,
    body: { title, head: branch, base: 'main', labels: [wanted], body: 'There is work to do.' },
  });
  say('pull', `#${pull.number} "${pull.title}" by ada, labelled by her: help wanted   ${pull.html_url}`);
  await follow('opened', pull.number, after, ['help wanted']);

  const before = await labelNames(people.ada, pull.number);
  after = Date.now();
  const second = await checkout.commit('Write a program instead', {
    'docs/handbook.md': null,
    'src/rules.js': program,
  });
  say(
    'push',
    `ada pushes ${branch} at ${second.slice(0, 10)}: no docs/handbook.md any more, but src/rules.js with 60 lines`,
  );
  await follow('synchronized', pull.number, after, before);

  async function follow(
    activity: string,
    index: number,
    since: number,
    labelsBefore: readonly string[],
  ): Promise<void> {
    const run = await waitForRun({ activity, index, after: since });
    const delivery = await options.store.readDelivery(run.trigger.delivery ?? '');
    say(
      'delivery',
      `${run.trigger.kind}.${activity} accepted as ${run.trigger.delivery}, ${delivery?.bytes ?? 0} bytes, verified with secret "${delivery?.entry}"`,
    );
    sayRun(run, say);
    const labelsAfter = await labelNames(people.ada, index);
    say('labels', `before: ${show(labelsBefore)}   after: ${show(labelsAfter)}`);
    assertDone(run, labelsAfter);
  }
}

function sayRun(run: Run, say: Say): void {
  for (const rule of run.rules) {
    const name = rule.rule.slice(rule.rule.lastIndexOf('#') + 1);
    const place = `${rule.source}:${rule.line}${rule.commit ? ` at ${rule.commit.slice(0, 10)}` : ''}`;
    const reason = rule.reason === undefined ? '' : `: ${rule.reason}`;
    say('rule', `${name} ${rule.verdict}${reason}   (${place})`);
  }
  const requests = new Map(run.changes.map((change) => [JSON.stringify(change.input), change]));
  for (const { method, path, input } of requests.values()) {
    const body = (input as { body?: unknown } | undefined)?.body;
    say(
      'request',
      `${method} ${path} ${JSON.stringify(body ?? {})}   (${count(run.requests, 'request')} in ${run.ms} ms)`,
    );
  }
}

/** Throws unless the final state matches the rules: every planned change was applied and is visible in the labels. */
function assertDone(run: Run, labels: readonly string[]): void {
  const failed = run.rules.find(({ verdict }) => verdict === 'failed');
  if (failed) throw new ReeveError('rules-broken', `${failed.rule} failed: ${failed.reason}`);
  if (run.changes.length === 0) {
    throw new ReeveError(
      'rules-broken',
      'no rule asked for a change of labels here: look at rules/demo/labels.yml',
    );
  }
  for (const { change, status, error } of run.outcomes) {
    if (status === 'failed')
      throw new ReeveError('rules-broken', `${change} was not applied: ${error ?? status}`);
  }
  for (const { target, value } of run.changes) {
    const name = target.slice('label:'.length);
    if (target.startsWith('label:') && labels.includes(name) !== value) {
      throw new ReeveError('rules-broken', `the label "${name}" should ${value ? '' : 'not '}be there`);
    }
  }
}

async function findDemoPull(client: Client): Promise<PullRequest | undefined> {
  for await (const pull of client.items(operations.listPulls, { params: at, query: { state: 'all' } })) {
    if (pull.title === title) return pull;
  }
  return undefined;
}

async function labelId(client: Client, name: string): Promise<number> {
  for await (const label of client.items(operations.listLabels, { params: at }))
    if (label.name === name) return label.id;
  throw new ReeveError('internal', `the demo's repository has no label "${name}"`);
}

async function labelNames(client: Client, index: number): Promise<readonly string[]> {
  const labels = await client.call(operations.listIssueLabels, { params: { ...at, index } });
  return labels.map((label) => label.name);
}

async function labelsOf(client: Client, index: number): Promise<string> {
  return show(await labelNames(client, index));
}

function show(names: readonly string[]): string {
  return names.length === 0 ? '(none)' : names.join(', ');
}

const execute = promisify(execFile);

/** Clone of a repository that is used through the git program. */
interface Checkout {
  /** Starts or continues a branch from the default branch. */
  switchTo(branch: string): Promise<void>;
  /** Commits files (null content removes a file) and pushes the branch. Returns the new commit. */
  commit(message: string, files: Readonly<Record<string, string | null>>): Promise<string>;
}

/**
 * Clones a repository over HTTP into a folder. The password is passed in the environment of git, not in the arguments.
 */
async function cloneAs(options: {
  url: string;
  folder: string;
  person: { name: string; password: string };
}): Promise<Checkout> {
  const { url, folder, person } = options;
  const basic = Buffer.from(`${person.name}:${person.password}`).toString('base64');
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: person.name,
    GIT_AUTHOR_EMAIL: `${person.name}@example.org`,
    GIT_COMMITTER_NAME: person.name,
    GIT_COMMITTER_EMAIL: `${person.name}@example.org`,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic}`,
  };
  const git = async (...args: readonly string[]): Promise<string> => {
    try {
      const { stdout } = await execute('git', args, { cwd: folder, env, timeout: 30_000 });
      return stdout.trim();
    } catch (cause) {
      const said =
        typeof cause === 'object' && cause !== null && 'stderr' in cause
          ? String(cause.stderr)
          : messageOf(cause);
      throw new ReeveError('git-failed', `git ${args[0]}: ${said.trim()}`, { cause });
    }
  };
  await mkdir(folder, { recursive: true });
  await git('clone', '--quiet', url, '.');
  return {
    async switchTo(branch) {
      const known = await git('ls-remote', '--heads', 'origin', branch);
      await (known === '' ? git('switch', '--quiet', '-c', branch) : git('switch', '--quiet', branch));
    },
    async commit(message, files) {
      for (const [path, content] of Object.entries(files)) {
        if (content === null) {
          await git('rm', '--quiet', '--', path);
          continue;
        }
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), content);
        await git('add', '--', path);
      }
      // An interrupted demo may already have committed these files.
      if ((await git('status', '--porcelain')) !== '') await git('commit', '--quiet', '-m', message);
      await git('push', '--quiet', 'origin', 'HEAD');
      return git('rev-parse', 'HEAD');
    },
  };
}

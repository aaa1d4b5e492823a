import events from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { Event } from '../../contract/events/events.ts';
import type { Run } from '../../engine/record.ts';
import { createForgeInstance, type ForgeInstance } from '../../forge/forge.ts';
import { ReeveError } from '../../platform/errors.ts';
import { createLog } from '../../platform/log.ts';
import { packageRoot } from '../../platform/package.ts';
import { loadRuleFile } from '../../rules/files/load.ts';
import { formatProblems } from '../../rules/problem.ts';
import { registry } from '../../rules/registry.ts';
import { type ServerOptions, startServer } from '../../server/server.ts';
import type { Settings } from '../../server/settings/config.ts';
import { passwordPath } from '../../server/settings/secrets/dashboard-password.ts';
import type { Terminal } from '../output/terminal.ts';
import { readDemoSecrets, writeDemoFile } from './env-file.ts';
import {
  at,
  findOrCreateHook,
  findOrCreatePeople,
  findOrCreateRepository,
  findOrCreateToken,
  pushRules,
} from './repository.ts';
import { playScenario, type WaitForRun } from './scenario.ts';

const ownRuleFile = join(packageRoot, 'rules/demo/labels.yml');

/**
 * Starts the embedded forge and the bot beside it, and plays a short scenario through the real receiver. Every step is
 * find-or-create: a second start on the same data finds what the first one made. With `once` all of it lives in a
 * temporary folder and ends with the scenario. `ruleFile` is pushed instead of the rules that ship. Once `stop` is aborted, everything is closed; what is not done yet throws its reason.
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
  // A second signal, or a stop that takes too long, ends the process without the steps below.
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
    // A step that fails because everything around it is being closed is not what went wrong.
    throw stop.aborted ? stop.reason : error;
  } finally {
    // What was started last is stopped first: the bot finishes its work while the forge still answers.
    for (const close of closing.toReversed()) await close();
    process.off('exit', removeAtExit);
  }
}

/** Returns the bot's options: those of the settings, and the forge of the demo. */
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

/** Lets the forge listen, where the bot does, and returns its URL. Throws `port-taken`. */
async function listen(forge: ForgeInstance, { port, host }: { port: number; host: string }): Promise<string> {
  return forge.listen({ port, host }).catch((cause: unknown) => {
    if (!(cause instanceof ReeveError) || cause.code !== 'port-taken') throw cause;
    throw new ReeveError('port-taken', `FORGE_PORT ${port}: ${cause.message}; set FORGE_PORT`, {
      cause,
    });
  });
}

/** Reads the rule file that the demo pushes; a broken one is reported here, with line and column, before anything is started. */
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

/** Remembers the runs as they come, and lets the scenario wait for one. */
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

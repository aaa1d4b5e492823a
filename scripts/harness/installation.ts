import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import startedAs from '../../bin/memory.json' with { type: 'json' };
import { type Client, createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { packageRoot } from '../../src/platform/package.ts';
import { builtProgram } from '../../test/support/built-program.ts';
import { start, waitForOutput } from '../../test/support/command.ts';
import { type FaultProxy, startFaultProxy } from '../../test/support/fault-proxy.ts';
import { endProcesses, watchProcess } from '../../test/support/processes.ts';
import * as usual from './sender.ts';

type InstallationOptions = {
  /** Rules of the operator, as YAML. */
  readonly rules: string;
  /** Lines of the operator file in addition to `version` and `repositories`. */
  readonly settings?: string;
  readonly labels?: readonly string[];
  /** Whether the forge sends its events to Reeve. Default: no. */
  readonly isHooked?: boolean;
  /** Returns the address of the forge that Reeve uses. Default: the forge's own. */
  readonly between?: (forgeUrl: string) => Promise<string>;
  /** Default: the header and secret of `sender.ts`. Without a secret, deliveries are not signed. */
  readonly authorization?: string;
  readonly secret?: string;
  /** Additional environment for `reeve serve`. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Node arguments for `reeve serve`. */
  readonly nodeArgs?: readonly string[];
  /** Whether the process of Reeve has a channel for messages. Default: no. */
  readonly hasChannel?: boolean;
  /** Receives the output of the process. */
  readonly onOutput?: (text: string) => void;
};

/**
 * Embedded forge and a `reeve serve`, each in a separate process started like the package does, on a free port each.
 */
export interface Installation extends ArrangedForge {
  readonly folder: string;
  /** Data folder of Reeve, and the file of its store. */
  readonly data: string;
  readonly database: string;
  /** Settings of Reeve, for further commands. */
  readonly environment: Readonly<Record<string, string>>;
  /** Address of Reeve, the same after each start. */
  readonly url: string;
  /** Returns the latest process of Reeve. */
  readonly reeve: () => ChildProcess;
  /** Returns the latest output of that process. */
  readonly log: () => string;
  /** Rejects when Reeve ends without having been stopped. */
  readonly failed: Promise<never>;
  /** Starts Reeve again on the same data and port, after it ended. */
  startReeve(): Promise<void>;
  /** Ends the process of Reeve; returns its exit status and the time it took. */
  stopReeve(signal: NodeJS.Signals): Promise<{ readonly status: number | null; readonly ms: number }>;
  /** Ends the process of the forge and starts it again on the same address after `awayMs`. */
  restartForge(awayMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts an installation with one served repository. */
export async function startInstallation(options: InstallationOptions): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-installation-'));
  try {
    return await startIn(folder, options);
  } catch (error) {
    await endProcesses();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    throw error;
  }
}

async function startIn(folder: string, options: InstallationOptions): Promise<Installation> {
  const { authorization = usual.authorization, secret = usual.secret, labels = [], between } = options;
  const files = await writeSettings(folder, options);
  let forge = await startForge(folder, 0);
  const arranged = await arrangeForge(forge.url, labels);
  const environment = {
    FORGE_URL: (await between?.(forge.url)) ?? forge.url,
    ...(await writeSecrets(folder, {
      FORGE_TOKEN: arranged.token,
      WEBHOOK_AUTHORIZATION: authorization,
      ...(secret === '' ? {} : { WEBHOOK_SECRET: secret }),
    })),
    ...files,
    ...options.environment,
  };
  const failed = Promise.withResolvers<never>();
  // The promise may reject while nothing waits for it.
  failed.promise.catch(() => {});
  let reeve: ChildProcess | undefined;
  let log = '';
  const onOutput = (text: string): void => {
    log = (log + text).slice(-20_000);
    options.onOutput?.(text);
  };
  const startReeve = async (port: string): Promise<string> => {
    const { child, url } = await startServe({ ...options, onOutput }, { ...environment, PORT: port });
    reeve = child;
    child.once('exit', (status, signal) => {
      if (reeve === child)
        failed.reject(new Error(`reeve serve ended with ${status ?? signal}: ${log.slice(-2_000)}`));
    });
    return url;
  };
  const url = await startReeve('0');
  const current = (): ChildProcess => {
    if (reeve === undefined) throw new Error('reeve serve does not run');
    return reeve;
  };
  if (options.isHooked === true) await createHook(arranged.root, `${url}/webhook`, { authorization, secret });
  return {
    ...{ ...arranged, folder, environment, url },
    data: files.REEVE_DATA,
    database: join(files.REEVE_DATA, 'reeve.db'),
    reeve: current,
    log: () => log,
    failed: failed.promise,
    async startReeve() {
      await startReeve(new URL(url).port);
    },
    async stopReeve(signal) {
      const child = current();
      reeve = undefined;
      const startMs = performance.now();
      const ended = once(child, 'exit');
      child.kill(signal);
      const [status] = (await ended) as [number | null];
      return { status, ms: performance.now() - startMs };
    },
    async restartForge(awayMs) {
      await end(forge.child);
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      forge = await startForge(folder, Number(new URL(forge.url).port));
    },
    async close() {
      const child = reeve;
      reeve = undefined;
      if (child !== undefined) await end(child);
      await end(forge.child);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Writes rules and operator file. Returns the settings that name them. */
async function writeSettings(folder: string, { rules, settings = '' }: InstallationOptions) {
  const [data, rulesFolder, operatorFile] = [
    join(folder, 'reeve'),
    join(folder, 'rules'),
    join(folder, 'reeve.yml'),
  ];
  for (const path of [data, rulesFolder]) await mkdir(path, { mode: 0o700 });
  await writeFile(join(rulesFolder, 'rules.yml'), rules);
  await writeFile(operatorFile, `version: 1\nrepositories: ["${at.owner}/*"]\n${settings}`, { mode: 0o600 });
  return { REEVE_DATA: data, REEVE_RULES: rulesFolder, REEVE_CONFIG: operatorFile };
}

/** Writes secrets to files, because the environment of a process can be read. Returns the settings that name them. */
async function writeSecrets(
  folder: string,
  secrets: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const settings: Record<string, string> = {};
  for (const [name, secret] of Object.entries(secrets)) {
    const path = join(folder, name.toLowerCase());
    await writeFile(path, `${secret}\n`, { mode: 0o600 });
    settings[`${name}_FILE`] = path;
  }
  return settings;
}

/** Starts `reeve serve` like bin/reeve.mjs: with a small heap, and a C library that returns freed memory. */
async function startServe(
  { nodeArgs = [], hasChannel = false, onOutput }: InstallationOptions,
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = spawn(process.execPath, [...startedAs.nodeFlags, ...nodeArgs, builtProgram(), 'serve'], {
    cwd: packageRoot,
    env: {
      PATH: process.env.PATH,
      NO_COLOR: '1',
      ...startedAs.environment,
      ...environment,
      HOST: '127.0.0.1',
    },
    stdio: ['ignore', 'pipe', 'pipe', ...(hasChannel ? (['ipc'] as const) : [])],
  });
  watchProcess(child);
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part) => onOutput?.(String(part)));
  const printed = await waitForOutput(child, /"url":"[^"]+"[^\n]*"listening"/);
  const problem = /[^\n]*("problems"|rule file refused)[^\n]*/.exec(printed)?.[0];
  if (problem !== undefined) throw new Error(`the rules cannot be used: ${problem}`);
  return { child, url: /"url":"([^"]+)"[^\n]*"listening"/.exec(printed)?.[1] ?? '' };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  if (child.kill('SIGKILL')) await ended;
}

/** Repository of an installation. */
export const at = { owner: 'acme', repo: 'demo' } as const;

export const botName = 'reeve';
const administrator = 'root';
const passwordOf = (name: string): string => `${name}-password`;
/** Writes of the forge are slow on a busy machine, so that only a hanging request reaches this limit. */
const timeoutMs = 120_000;

/** Starts an embedded forge in `folder` as a separate process; port 0: a free one. */
export async function startForge(
  folder: string,
  port: number,
): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const data = join(folder, 'forge');
  await mkdir(data, { recursive: true });
  const admin = `${administrator}:${passwordOf(administrator)}`;
  const child = start(['forge', '--port', String(port), '--data', data, '--admin', admin, '--json'], {
    environment: { TMPDIR: folder },
  });
  const url = /"url":"([^"]+)"/.exec(await waitForOutput(child, /"url":"[^"]+"/))?.[1] ?? '';
  // A full pipe blocks its writer.
  child.stdout?.resume();
  child.stderr?.resume();
  return { child, url };
}

/** Contents of a new forge after `arrangeForge`. */
type ArrangedForge = {
  /** Client of the administrator. */
  readonly root: Client;
  /** Token of the bot. */
  readonly token: string;
  readonly repositoryId: number;
};

/** Creates the account of the bot, the organization, and this many tokens of the bot. */
export async function arrangeAccounts(
  url: string,
  count = 1,
): Promise<{ readonly root: Client; readonly tokens: readonly string[] }> {
  const clientOf = (user: string): Client =>
    createClient({ url, timeoutMs, credentials: { user, password: passwordOf(user) } });
  const root = clientOf(administrator);
  const body = {
    username: botName,
    password: passwordOf(botName),
    email: `${botName}@example.org`,
    must_change_password: false,
  };
  await root.call(operations.createUser, { body });
  await root.call(operations.createOrganization, { body: { username: at.owner } });
  const tokens: string[] = [];
  while (tokens.length < count) {
    const { sha1 } = await clientOf(botName).call(operations.createToken, {
      params: { username: botName },
      body: {
        name: `reeve-${tokens.length}`,
        scopes: ['read:user', 'read:organization', 'write:repository', 'write:issue'],
      },
    });
    tokens.push(sha1 ?? '');
  }
  return { root, tokens };
}

/** Creates the accounts, and the repository with its labels. */
async function arrangeForge(url: string, labels: readonly string[]): Promise<ArrangedForge> {
  const { root, tokens } = await arrangeAccounts(url);
  const { id } = await root.call(operations.createOrganizationRepository, {
    params: { org: at.owner },
    body: { name: at.repo, auto_init: true, default_branch: 'main' },
  });
  const params = { ...at, collaborator: botName };
  await root.call(operations.putCollaborator, { params, body: { permission: 'write' } });
  for (const name of labels)
    await root.call(operations.createLabel, { params: at, body: { name, color: 'ff0000' } });
  return { root, token: tokens[0] ?? '', repositoryId: id };
}

/** Makes the forge send the events of the repository to an address. */
export async function createHook(
  root: Client,
  url: string,
  {
    events = ['push', 'issues', 'issue_comment', 'pull_request'],
    ...hook
  }: { readonly authorization: string; readonly secret: string; readonly events?: readonly string[] },
): Promise<void> {
  await root.call(operations.createHook, {
    params: at,
    body: {
      type: 'gitea',
      active: true,
      events: [...events],
      config: { url, content_type: 'json', secret: hook.secret },
      authorization_header: hook.authorization,
    },
  });
}

/** Installation whose requests to the forge pass through a fault proxy. */
export type ProxiedInstallation = Installation & { readonly proxy: FaultProxy };

/** Starts an installation with hooks: the forge sends its events directly to Reeve. */
export async function startProxiedInstallation(options: InstallationOptions): Promise<ProxiedInstallation> {
  let proxy: FaultProxy | undefined;
  try {
    const installation = await startInstallation({
      ...options,
      isHooked: true,
      async between(forgeUrl) {
        proxy = await startFaultProxy(forgeUrl);
        return proxy.url;
      },
    });
    // The callback has run, because an installation has an address of its forge.
    const between = proxy as unknown as FaultProxy;
    return {
      ...installation,
      proxy: between,
      async close() {
        await installation.close();
        await between.close();
      },
    };
  } catch (error) {
    await (proxy as FaultProxy | undefined)?.close();
    throw error;
  }
}

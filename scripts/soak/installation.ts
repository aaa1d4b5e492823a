import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { packageRoot } from '../../src/package.ts';
import { builtProgram } from '../../test/support/built-program.ts';
import { start, waitForOutput } from '../../test/support/command.ts';
import { type FaultProxy, startFaultProxy } from '../../test/support/fault-proxy.ts';
import { endProcesses, watchProcess } from '../../test/support/processes.ts';

/** An embedded forge and `reeve serve`, each a process, connected by a hook. Requests of the bot pass a fault proxy. */
export interface Installation {
  readonly folder: string;
  /** Data folder of Reeve. */
  readonly data: string;
  readonly at: { readonly owner: string; readonly repo: string };
  /** Acts as the administrator of the forge, directly. */
  readonly root: Client;
  readonly token: string;
  readonly proxy: FaultProxy;
  /** Settings of Reeve, for further commands. */
  readonly environment: Readonly<Record<string, string>>;
  /** Address of Reeve, the same after each start. */
  readonly url: string;
  /** The process of Reeve that was started last. */
  readonly reeve: () => ChildProcess;
  /** Starts Reeve again, after it ended. */
  startReeve(): Promise<void>;
  /** Ends the process of Reeve; returns its exit status and how long it took. */
  stopReeve(signal: NodeJS.Signals): Promise<{ readonly status: number | null; readonly ms: number }>;
  /** Ends the process of the forge and starts it on the same address, after a while. */
  restartForge(awayMs: number): Promise<void>;
  close(): Promise<void>;
}

export type InstallationOptions = {
  /** The operator's rules. */
  readonly rules: string;
  readonly labels: readonly string[];
  /** Lines of the operator file beside `version` and `repositories`. */
  readonly settings?: string;
  readonly authorization: string;
  readonly secret: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Arguments of Node for the process of Reeve; it then has a channel for messages. */
  readonly nodeArgs?: readonly string[];
  /** Takes what the process prints. */
  readonly onOutput?: (text: string) => void;
};

const [org, botName] = ['acme', 'reeve'] as const;
const at = { owner: org, repo: 'demo' } as const;
const passwordOf = (name: string): string => `${name}-password`;
/** On a busy machine, a write of the forge takes long: only a request that hangs ends here. */
const timeoutMs = 120_000;

/** As bin/reeve.mjs starts it: with a small heap, and a C library that returns what is freed. */
const memory = JSON.parse(readFileSync(join(packageRoot, 'bin/memory.json'), 'utf8')) as {
  readonly nodeFlags: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
};

/** Starts it, with one served repository. */
export async function startInstallation(options: InstallationOptions): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-soak-'));
  try {
    return await startIn(folder, options);
  } catch (error) {
    await endProcesses();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function startIn(folder: string, options: InstallationOptions): Promise<Installation> {
  const data = join(folder, 'reeve');
  const rules = join(folder, 'rules');
  for (const path of [data, rules]) await mkdir(path, { mode: 0o700 });
  await writeFile(join(rules, 'rules.yml'), options.rules);
  const operatorFile = `version: 1\nrepositories: ["${org}/*"]\n${options.settings ?? ''}`;
  await writeFile(join(folder, 'reeve.yml'), operatorFile, { mode: 0o600 });

  let forge = await startForge(join(folder, 'forge'), 0);
  const root = createClient({
    timeoutMs,
    url: forge.url,
    credentials: { user: 'root', password: passwordOf('root') },
  });
  const token = await arrange(root, forge.url, options.labels);
  const proxy = await startFaultProxy(forge.url);
  const environment = {
    FORGE_URL: proxy.url,
    ...(await writeSecrets(folder, {
      FORGE_TOKEN: token,
      WEBHOOK_AUTHORIZATION: options.authorization,
      WEBHOOK_SECRET: options.secret,
    })),
    REEVE_RULES: rules,
    REEVE_CONFIG: join(folder, 'reeve.yml'),
    REEVE_DATA: data,
    ...options.environment,
  };
  let reeve = await startServe(environment, options, '0');
  await createHook(root, `${reeve.url}/webhook`, options);
  return {
    ...{ folder, data, at, root, token, proxy, environment, url: reeve.url },
    reeve: () => reeve.child,
    async startReeve() {
      reeve = await startServe(environment, options, new URL(reeve.url).port);
    },
    async stopReeve(signal) {
      const startMs = performance.now();
      const ended = once(reeve.child, 'exit');
      reeve.child.kill(signal);
      const [status] = (await ended) as [number | null];
      return { status, ms: performance.now() - startMs };
    },
    async restartForge(awayMs) {
      await end(forge.child);
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      forge = await startForge(join(folder, 'forge'), Number(new URL(forge.url).port));
    },
    async close() {
      await end(reeve.child);
      await proxy.close();
      await end(forge.child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Writes secrets to files, and returns the settings that name them. */
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

async function startForge(data: string, port: number) {
  await mkdir(data, { recursive: true });
  const admin = `root:${passwordOf('root')}`;
  const child = start(['forge', '--port', String(port), '--data', data, '--admin', admin, '--json']);
  const url = /"url":"([^"]+)"/.exec(await waitForOutput(child, /"url":"[^"]+"/))?.[1] ?? '';
  // A pipe that is full stops its writer.
  child.stdout?.resume();
  child.stderr?.resume();
  return { child, url };
}

/** Makes the account of the bot, its token, and the repository with its labels. Returns the token. */
async function arrange(root: Client, url: string, labels: readonly string[]): Promise<string> {
  const body = {
    username: botName,
    password: passwordOf(botName),
    email: `${botName}@example.org`,
    must_change_password: false,
  };
  await root.call(operations.createUser, { body });
  await root.call(operations.createOrganization, { body: { username: org } });
  await root.call(operations.createOrganizationRepository, {
    params: { org },
    body: { name: at.repo, auto_init: true, default_branch: 'main' },
  });
  const params = { ...at, collaborator: botName };
  await root.call(operations.putCollaborator, { params, body: { permission: 'write' } });
  for (const name of labels)
    await root.call(operations.createLabel, { params: at, body: { name, color: 'ff0000' } });
  const credentials = { user: botName, password: passwordOf(botName) };
  const owner = createClient({ timeoutMs, url, credentials });
  const { sha1 } = await owner.call(operations.createToken, {
    params: { username: botName },
    body: {
      name: 'reeve',
      scopes: ['read:user', 'read:organization', 'write:repository', 'write:issue'],
    },
  });
  return sha1 ?? '';
}

async function createHook(root: Client, url: string, options: InstallationOptions): Promise<void> {
  const config = { url, content_type: 'json', secret: options.secret };
  const body = {
    type: 'gitea',
    active: true,
    events: ['push', 'issues', 'issue_comment', 'pull_request'],
    config,
    authorization_header: options.authorization,
  } as const;
  await root.call(operations.createHook, { params: at, body: { ...body, events: [...body.events] } });
}

async function startServe(
  environment: Readonly<Record<string, string>>,
  { nodeArgs, onOutput }: InstallationOptions,
  port: string,
) {
  const child = spawn(process.execPath, [...memory.nodeFlags, ...(nodeArgs ?? []), builtProgram(), 'serve'], {
    cwd: packageRoot,
    env: {
      PATH: process.env.PATH,
      NO_COLOR: '1',
      ...memory.environment,
      ...environment,
      HOST: '127.0.0.1',
      PORT: port,
    },
    stdio: ['ignore', 'pipe', 'pipe', ...(nodeArgs ? (['ipc'] as const) : [])],
  });
  watchProcess(child);
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part) => onOutput?.(String(part)));
  const printed = await waitForOutput(child, /"url":"[^"]+"[^\n]*"listening"/);
  const problem = /[^\n]*"problems"[^\n]*/.exec(printed)?.[0];
  if (problem !== undefined) throw new Error(`the rules cannot be used: ${problem}`);
  return { child, url: /"url":"([^"]+)"[^\n]*"listening"/.exec(printed)?.[1] ?? '' };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

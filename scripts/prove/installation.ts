import type { ChildProcess } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import startedAs from '../../bin/memory.json' with { type: 'json' };
import { type Client, createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { start, waitForOutput } from '../../test/support/command.ts';

/** The repository of an installation. */
export const at = { owner: 'acme', repo: 'demo' } as const;
export const authorization = 'Bearer only-for-drills-on-loopback';
const secret = 'only-for-drills-on-loopback';
const bot = 'reeve';
const [administrator, password] = ['root', 'root-password'];
const scopes = ['read:user', 'read:organization', 'write:repository', 'write:issue'];

export type InstallationOptions = {
  /** Rules of the operator, as YAML. */
  readonly rules: string;
  /** Lines of the operator file. */
  readonly settings?: string;
  readonly labels?: readonly string[];
  /** Whether the forge sends what happens to Reeve. Default: no. */
  readonly isHooked?: boolean;
  /** Returns the address that Reeve knows the forge by. Default: its own. */
  readonly between?: (forgeUrl: string) => Promise<string>;
  /** More environment for `reeve serve`. */
  readonly environment?: Readonly<Record<string, string>>;
};

/** An embedded forge and a `reeve serve`, each in a process of its own as the package starts them, on a free port each. */
export interface Installation {
  /** The administrator, past everything that stands between Reeve and the forge. */
  readonly root: Client;
  readonly repositoryId: number;
  /** Where Reeve listens, also after a restart. */
  readonly url: string;
  /** The process of Reeve. */
  readonly pid: number;
  /** The file of its store. */
  readonly database: string;
  /** What it has logged last. */
  log(): string;
  /** Ends Reeve with SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again on the same data and port. */
  begin(): Promise<void>;
  /** Rejects when Reeve ends although it was not killed. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

export async function createInstallation(options: InstallationOptions): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-prove-'));
  const children: ChildProcess[] = [];
  try {
    return await arrange(folder, children, options);
  } catch (error) {
    await endAll(children, folder);
    throw error;
  }
}

async function arrange(
  folder: string,
  children: ChildProcess[],
  { rules, settings = '', labels = [], isHooked = false, between, environment = {} }: InstallationOptions,
): Promise<Installation> {
  const forge = start(
    [
      'forge',
      '--port',
      '0',
      '--data',
      join(folder, 'forge'),
      '--admin',
      `${administrator}:${password}`,
      '--json',
    ],
    { environment: { TMPDIR: folder } },
  );
  children.push(forge);
  const forgeUrl = /"url":"([^"]+)"/.exec(await waitForOutput(forge, /"url":"[^"]+"/))?.[1] ?? '';
  const { root, token, repositoryId } = await arrangeForge(forgeUrl, labels);

  const [rulesFolder, data, config] = [
    join(folder, 'rules'),
    join(folder, 'reeve'),
    join(folder, 'reeve.yml'),
  ];
  await mkdir(rulesFolder);
  await mkdir(data, { mode: 0o700 });
  await writeFile(join(rulesFolder, 'rules.yml'), rules);
  await writeFile(config, `version: 1\n${settings}`, { mode: 0o600 });
  const settled = {
    FORGE_URL: (await between?.(forgeUrl)) ?? forgeUrl,
    FORGE_TOKEN: token,
    WEBHOOK_AUTHORIZATION: authorization,
    WEBHOOK_SECRET: secret,
    REEVE_DATA: data,
    REEVE_RULES: rulesFolder,
    REEVE_CONFIG: config,
    HOST: '127.0.0.1',
    NODE_OPTIONS: startedAs.nodeFlags.join(' '),
    ...startedAs.environment,
    ...environment,
  };
  const failed = Promise.withResolvers<never>();
  // It may fail between two waits.
  failed.promise.catch(() => {});
  let child: ChildProcess | undefined;
  let url = '';
  let log = '';
  const begin = async (): Promise<void> => {
    const port = url === '' ? '0' : new URL(url).port;
    const process = start(['serve'], { environment: { ...settled, PORT: port } });
    child = process;
    children.push(process);
    for (const stream of [process.stdout, process.stderr])
      stream?.on('data', (part) => {
        log = (log + String(part)).slice(-20_000);
      });
    process.once('exit', (code, signal) => {
      if (child === process)
        failed.reject(new Error(`reeve serve ended with ${code ?? signal}: ${log.slice(-2_000)}`));
    });
    const printed = await waitForOutput(process, /"url":"http:[^"]+".*"listening"/);
    url = /"url":"(http:[^"]+)"/.exec(printed)?.[1] ?? '';
    if (printed.includes('rule file refused'))
      throw new Error(`the rules of the drill are refused: ${printed}`);
  };
  const kill = async (): Promise<void> => {
    const dying = child;
    child = undefined;
    await end(dying);
  };
  await begin();
  if (isHooked) await createHook(root, `${url}/webhook`);
  return {
    root,
    repositoryId,
    failed: failed.promise,
    database: join(data, 'reeve.db'),
    get url() {
      return url;
    },
    get pid() {
      return child?.pid ?? 0;
    },
    log: () => log,
    kill,
    begin,
    async close() {
      child = undefined;
      await endAll(children, folder);
    },
  };
}

async function arrangeForge(url: string, labels: readonly string[]) {
  const root = createClient({ url, credentials: { user: administrator, password }, timeoutMs: 120_000 });
  const body = {
    username: bot,
    password: `${bot}-password`,
    email: 'reeve@example.org',
    must_change_password: false,
  };
  await root.call(operations.createUser, { body });
  await root.call(operations.createOrganization, { body: { username: at.owner } });
  const repository = await root.call(operations.createOrganizationRepository, {
    params: { org: at.owner },
    body: { name: at.repo, auto_init: true, default_branch: 'main' },
  });
  const params = { ...at, collaborator: bot };
  await root.call(operations.putCollaborator, { params, body: { permission: 'write' } });
  for (const name of labels)
    await root.call(operations.createLabel, { params: at, body: { name, color: 'ff0000' } });
  const credentials = { user: bot, password: body.password };
  const own = createClient({ url, credentials, timeoutMs: 120_000 });
  await own.call(operations.star, { params: at });
  const { sha1 = '' } = await own.call(operations.createToken, {
    params: { username: bot },
    body: { name: 'drill', scopes },
  });
  return { root, token: sha1 ?? '', repositoryId: repository.id };
}

async function createHook(root: Client, url: string): Promise<void> {
  await root.call(operations.createHook, {
    params: at,
    body: {
      type: 'gitea',
      active: true,
      events: ['push', 'issues', 'issue_comment', 'pull_request'],
      config: { url, content_type: 'json', secret },
      authorization_header: authorization,
    },
  });
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  if (child.kill('SIGKILL')) await gone;
}

async function endAll(children: readonly ChildProcess[], folder: string): Promise<void> {
  await Promise.all(children.map(end));
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Returns the headers of a delivery, signed as the forge signs. */
export function headersOf(body: string | Buffer, eventType: string): Record<string, string> {
  return {
    'content-type': 'application/json',
    authorization,
    'x-gitea-delivery': randomUUID(),
    'x-gitea-event': eventType,
    'x-gitea-event-type': eventType,
    'x-gitea-signature': createHmac('sha256', secret).update(body).digest('hex'),
  };
}

/** Whether the memory of a process can be read here. */
export const canReadMemory = process.platform === 'linux';

/** Returns the most memory that a process has held since `resetPeak`, in bytes. */
export function peakBytes(pid: number): number {
  return memberOf(pid, 'VmHWM');
}

export function residentBytes(pid: number): number {
  return memberOf(pid, 'VmRSS');
}

/** Lets the peak of a process begin anew. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function memberOf(pid: number, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(found?.[1]) * 1_024;
}

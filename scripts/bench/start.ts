import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/platform/package.ts';
import { canReadMemory, peakBytes, residentBytes } from '../harness/process-memory.ts';
import { nowMs } from '../harness/progress.ts';
import { authorization, createSender, secret } from '../harness/sender.ts';
import { ask, LabelForge } from './label-forge.ts';
import { type BenchRow, benchRow, inTurns, type Measure, megabytes, onStage, round } from './runner.ts';
import { copyStored, storedCount, storedText } from './stored.ts';

const execute = promisify(execFile);

/**
 * Measures the installed package, as created by `npm pack` and `npm install`: the time of `reeve --help`; and `reeve
 * serve` with the embedded forge: the time from its start to the first label, and its memory at rest and under load,
 * with an empty store and with one that has been used for a while. Both stores are kept from one start to the next.
 */
export const measure: Measure = ({ quick }) =>
  onStage(async (stage) => {
    const { folder } = stage;
    const installed = await install(folder);
    const reeve = join(installed, 'node_modules/@reeve-forge/reeve/bin/reeve.mjs');
    const starts = { bare: ['-e', '0'], help: [reeve, '--help'] };
    const times = await inTurns(['bare', 'help'] as const, { rounds: quick ? 5 : 15 }, (name) =>
      timeRun(starts[name], folder),
    );
    const rounds = quick ? 3 : 9;
    const events = quick ? 600 : 1_500;
    const repositories = 20;
    const forge = await LabelForge.start(stage, {
      repositories,
      issues: Math.ceil((1 + 2 * (1 + rounds) + 2 * events) / repositories),
    });
    const stored = storedCount(quick);
    const stores = { empty: join(folder, 'empty'), used: join(folder, 'used') };
    await mkdir(stores.empty, { mode: 0o700 });
    await copyStored(join(stores.used, 'reeve.db'), stored);
    const begin = await prepareServe(reeve, folder, forge);
    const first = await startToLabel(begin, stores.empty, forge);
    const served = await inTurns(['empty', 'used'] as const, { rounds }, (name) =>
      startToLabel(begin, stores[name], forge),
    );
    const beside = storedText(stored);
    const asIs = (ms: number): number => ms;
    const readyMs = (name: keyof typeof stores): number => served.median(name, (one) => one.readyMs);
    const labelMs = (name: keyof typeof stores): number => served.median(name, (one) => one.labelMs);
    return [
      benchRow({
        name: 'reeve --help, installed package',
        value: times.median('help', asIs),
        unit: 'ms',
        against: `node -e 0: ${round(times.median('bare', asIs))} ms`,
        ratio: times.ratio('help', 'bare', asIs),
        target: '<= 100 ms',
      }),
      benchRow({
        name: 'reeve serve, start until it accepts deliveries',
        value: readyMs('empty'),
        unit: 'ms',
        against: `first start: ${round(first.readyMs)} ms; beside ${beside}: ${round(readyMs('used'))} ms`,
        target: '<= 400 ms',
      }),
      benchRow({
        name: `reeve serve, start until the first label, beside ${beside}`,
        value: labelMs('used'),
        unit: 'ms',
        against: `an empty store: ${round(labelMs('empty'))} ms`,
        ratio: served.ratio('used', 'empty', (one) => one.labelMs),
        target: '<= 1.2 x',
      }),
      ...(canReadMemory
        ? [
            memoryRow(`reeve serve, memory after its first label, beside ${beside}`, 150, {
              empty: served.median('empty', (one) => one.bytes),
              used: served.median('used', (one) => one.bytes),
            }),
            memoryRow(`reeve serve, memory at rest, 30 s after its start, beside ${beside}`, 100, {
              empty: await restBytes(begin, stores.empty),
              used: await restBytes(begin, stores.used),
            }),
            memoryRow(
              `reeve serve, most memory under ${events.toLocaleString('en')} events, 64 connections, beside ${beside}`,
              150,
              {
                empty: await loadedBytes(begin, stores.empty, forge, events),
                used: await loadedBytes(begin, stores.used, forge, events),
              },
            ),
          ]
        : []),
      benchRow({
        name: 'size of the installed package',
        value: (await sizeOf(join(installed, 'node_modules'))) / 2 ** 20,
        unit: 'MiB',
        target: '<= 40 MiB',
      }),
    ];
  });

/** Returns a row that compares the memory with a used store to that with an empty one. */
function memoryRow(
  name: string,
  limit: number,
  bytes: { readonly empty: number; readonly used: number },
): BenchRow {
  return benchRow({
    name,
    value: megabytes(bytes.used),
    unit: 'MB',
    against: `an empty store: ${megabytes(bytes.empty)} MB`,
    target: `<= ${limit} MB`,
  });
}

/** Installs the package in a folder below `folder`; returns the new folder. */
async function install(folder: string): Promise<string> {
  const npm = (args: readonly string[], cwd: string) =>
    execute('npm', args, { cwd, maxBuffer: 64 * 2 ** 20 });
  const { stdout } = await npm(['pack', '--json', '--pack-destination', folder], packageRoot);
  // The output of the build precedes the JSON.
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[')));
  const installed = join(folder, 'installed');
  await mkdir(installed);
  await npm(['install', '--offline', '--prefix', installed, join(folder, packed.filename)], folder);
  return installed;
}

/** Environment of a person's shell, without HOME and without the other variables of the measuring process. */
const plainEnvironment = { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR };

/** Returns the time of a process from its start to its end. Rejects if the process fails. */
async function timeRun(args: readonly string[], home: string): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { env: { ...plainEnvironment, HOME: home }, stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  return performance.now() - startedAt;
}

type Served = { readonly process: ChildProcess; readonly pid: number; readonly url: string };
/** Starts `reeve serve` on a data folder. Resolves when it accepts deliveries. */
type Begin = (data: string) => Promise<Served>;

/** Returns a function that starts `reeve serve` for the repositories of the forge. */
async function prepareServe(reeve: string, folder: string, forge: LabelForge): Promise<Begin> {
  const config = join(folder, 'reeve.yml');
  await writeFile(config, 'version: 1\nrepositories: ["reeve/*"]\n', { mode: 0o600 });
  const environment = {
    HOME: folder,
    REEVE_CONFIG: config,
    FORGE_URL: forge.url,
    FORGE_TOKEN: forge.token,
    WEBHOOK_AUTHORIZATION: authorization,
    WEBHOOK_SECRET: secret,
    PORT: '0',
  };
  return async (data) => {
    const server = startReeve(reeve, ['serve'], {
      cwd: folder,
      environment: { ...environment, REEVE_DATA: data },
    });
    try {
      const { url } = JSON.parse(await firstLine(server, /^\{.*"listening".*\}$/m));
      const ready = await fetch(new URL('/readyz', url));
      if (!ready.ok) throw new Error(`/readyz answered ${ready.status}`);
      return { process: server, pid: server.pid ?? 0, url };
    } catch (error) {
      await end(server);
      throw error;
    }
  };
}

type Started = { readonly readyMs: number; readonly labelMs: number; readonly bytes: number };

/** Starts the server, and sends an event as soon as the server accepts deliveries. */
async function startToLabel(begin: Begin, data: string, forge: LabelForge): Promise<Started> {
  const sender = createSender(1);
  const startMs = nowMs();
  const served = await begin(data);
  try {
    const readyMs = nowMs() - startMs;
    const [place] = forge.take(1);
    if (place === undefined) throw new Error('no issue is left');
    const labelMs = (await forge.labelBy(sender, served.url, place)) - startMs;
    return { readyMs, labelMs, bytes: canReadMemory ? residentBytes(served.pid) : Number.NaN };
  } finally {
    sender.close();
    await end(served.process);
  }
}

/** Returns the memory of the server half a minute after its start, while nothing is sent to it: V8 returns free pages after some seconds. */
async function restBytes(begin: Begin, data: string): Promise<number> {
  const startMs = nowMs();
  const served = await begin(data);
  try {
    await pause(30_000 - (nowMs() - startMs));
    return residentBytes(served.pid);
  } finally {
    await end(served.process);
  }
}

/**
 * Sends this many events as fast as the server accepts them. Returns the peak memory of the server until all of them
 * have led to their labels.
 */
async function loadedBytes(begin: Begin, data: string, forge: LabelForge, events: number): Promise<number> {
  const sender = createSender(64);
  const served = await begin(data);
  try {
    const labels = forge.untilLabelled(events);
    const deliveries = forge.take(events).map((place) => forge.deliveryOf(place));
    await Promise.all(deliveries.map((delivery) => ask(sender, `${served.url}/webhook`, delivery)));
    await labels;
    return peakBytes(served.pid);
  } finally {
    sender.close();
    await end(served.process);
  }
}

function startReeve(
  reeve: string,
  args: readonly string[],
  { cwd, environment = {} }: { cwd: string; environment?: Record<string, string> },
): ChildProcess {
  // The cache of compiled code is below HOME.
  const env = { ...plainEnvironment, HOME: cwd, ...environment };
  return spawn(process.execPath, [reeve, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Resolves with the first text in the output of a process that matches. */
function firstLine(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let seen = '';
    const look = (chunk: unknown): void => {
      seen += chunk;
      const found = pattern.exec(seen);
      if (found) resolve(found[0]);
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.once('exit', (code) => reject(new Error(`ended with ${code}:\n${seen}`)));
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

async function sizeOf(path: string): Promise<number> {
  const about = await lstat(path);
  if (!about.isDirectory()) return about.size;
  let bytes = 0;
  for (const name of await readdir(path)) bytes += await sizeOf(join(path, name));
  return bytes;
}

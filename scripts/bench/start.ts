import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/platform/package.ts';
import { benchRow, inTurns, type Measure, median, onStage, round } from './runner.ts';

const execute = promisify(execFile);

/**
 * The start of the installed package, as `npm pack` and `npm install` make it: time of `reeve --help`, time from the start of
 * `reeve serve` until it accepts deliveries, and the size on disk. The forge is the embedded one.
 */
export const measure: Measure = ({ quick }) =>
  onStage(async ({ folder }) => {
    const installed = await install(folder);
    const reeve = join(installed, 'node_modules/@reeve-forge/reeve/bin/reeve.mjs');
    const starts = { bare: ['-e', '0'], help: [reeve, '--help'] };
    const times = await inTurns(['bare', 'help'] as const, { rounds: quick ? 5 : 15 }, (name) =>
      timeRun(starts[name], folder),
    );
    const asIs = (ms: number): number => ms;
    const [firstMs = 0, ...readyMs] = await timeServe(reeve, folder, quick ? 3 : 9);
    return [
      benchRow({
        name: 'reeve --help, installed package',
        value: times.median('help', asIs),
        unit: 'ms',
        against: `node -e 0: ${round(times.median('bare', asIs))} ms`,
        ratio: times.ratio('help', 'bare', asIs),
        target: '<= 150 ms',
      }),
      benchRow({
        name: 'reeve serve, start until it accepts deliveries',
        value: median(readyMs),
        unit: 'ms',
        against: `first start: ${round(firstMs)} ms`,
        target: '<= 500 ms',
      }),
      benchRow({
        name: 'size of the installed package',
        value: (await sizeOf(join(installed, 'node_modules'))) / 2 ** 20,
        unit: 'MiB',
        target: '<= 40 MiB',
      }),
    ];
  });

/** Returns a folder in which the package is installed. */
async function install(folder: string): Promise<string> {
  const npm = (args: readonly string[], cwd: string) =>
    execute('npm', args, { cwd, maxBuffer: 64 * 2 ** 20 });
  const { stdout } = await npm(['pack', '--json', '--pack-destination', folder], packageRoot);
  // What the build prints comes before the JSON.
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[')));
  const installed = join(folder, 'installed');
  await mkdir(installed);
  await npm(['install', '--offline', '--prefix', installed, join(folder, packed.filename)], folder);
  return installed;
}

/** Variables that a person at a shell has, without HOME; what the measuring process was started with is left out. */
const plainEnvironment = { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR };

/** Returns the time of a process from its start to its end. Rejects where it fails. */
async function timeRun(args: readonly string[], home: string): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { env: { ...plainEnvironment, HOME: home }, stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  return performance.now() - startedAt;
}

/** Returns the times from the start of the server until `/readyz` answers 200; in the first, no code is compiled yet. */
async function timeServe(reeve: string, folder: string, rounds: number): Promise<readonly number[]> {
  const forge = startReeve(reeve, ['forge', '--port', '0', '--admin', 'bench:a-long-password', '--json'], {
    cwd: await makeFolder(folder, 'forge'),
  });
  try {
    const { url } = JSON.parse(await firstLine(forge, /^\{.*\}$/m));
    const config = join(folder, 'reeve.yml');
    await writeFile(config, 'version: 1\nallow-admin: true\n', { mode: 0o600 });
    const found: number[] = [];
    for (let at = -1; at < rounds; at += 1) {
      const startedAt = performance.now();
      const server = startReeve(reeve, ['serve'], {
        cwd: await makeFolder(folder, `serve-${at}`),
        environment: {
          HOME: folder,
          REEVE_CONFIG: config,
          FORGE_URL: url,
          FORGE_USER: 'bench',
          FORGE_PASSWORD: 'a-long-password',
          WEBHOOK_SECRET: 'a-secret-of-the-benchmark-alone',
          PORT: '0',
        },
      });
      try {
        const line = JSON.parse(await firstLine(server, /^\{.*"listening".*\}$/m));
        const ready = await fetch(new URL('/readyz', line.url));
        if (!ready.ok) throw new Error(`/readyz answered ${ready.status}`);
        found.push(performance.now() - startedAt);
      } finally {
        await end(server);
      }
    }
    return found;
  } finally {
    await end(forge);
  }
}

async function makeFolder(parent: string, name: string): Promise<string> {
  const path = join(parent, name);
  await mkdir(path);
  return path;
}

function startReeve(
  reeve: string,
  args: readonly string[],
  { cwd, environment = {} }: { cwd: string; environment?: Record<string, string> },
): ChildProcess {
  // Compiled code is kept below HOME.
  const env = { ...plainEnvironment, HOME: cwd, ...environment };
  return spawn(process.execPath, [reeve, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Resolves with the first line of a process that matches. */
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

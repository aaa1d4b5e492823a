import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { buildSync, version } from 'esbuild';
import { bundling, requireBanner, root } from '../../scripts/build/bundling.ts';

/** Programs that tests start as separate processes. The programs share chunks, whose compiled code Node caches. */
const programs = {
  cli: 'src/cli/cli.ts',
  'render-thread': 'src/forge/issues/render-markdown.ts',
  'crash-server': 'scripts/crash/server-child.ts',
  'crash-worker': 'scripts/crash/worker-child.ts',
  'serve-process': 'test/support/queue/serve-process.ts',
  'soak-probe': 'scripts/soak/probe.ts',
} as const;

const { plugins: _plugins, ...bundle } = bundling;
const options = {
  ...bundle,
  entryPoints: programs,
  splitting: true,
  chunkNames: 'chunks/[hash]',
  target: 'node22',
  legalComments: 'none',
  banner: { js: requireBanner },
} as const;

const builds = join(root, 'node_modules/.cache/reeve-tests');
/** File that records the latest build and the digests of its input files. */
const record = join(builds, 'newest.json');
const lock = join(builds, 'lock');
/** Maximum wait for another build; a build takes two seconds on an idle machine. */
const maxWaitMs = 60_000;

type Build = {
  readonly options: string;
  readonly folder: string;
  /** Digests of the input files, by path. */
  readonly inputs: Readonly<Record<string, string>>;
};

let built: string | undefined;

/**
 * Returns the path of a program that is built from the current sources in the same way as the package. It starts in
 * half the time that the sources need. A build is reused as long as all of its input files are unchanged.
 */
export function builtProgram(name: keyof typeof programs = 'cli'): string {
  built ??= knownBuild() ?? buildAlone();
  return join(built, `${name}.js`);
}

const digestOf = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
const optionsNow = digestOf(JSON.stringify([options, version]));

/** Returns the folder of the latest build if a new build would be the same. */
function knownBuild(): string | undefined {
  try {
    const { options: given, folder, inputs } = JSON.parse(readFileSync(record, 'utf8')) as Build;
    const isCurrent =
      given === optionsNow &&
      existsSync(folder) &&
      Object.entries(inputs).every(([path, digest]) => digestOf(readFileSync(join(root, path))) === digest);
    return isCurrent ? folder : undefined;
  } catch {
    // There is no build, or one of its files is gone.
    return undefined;
  }
}

/** Builds while other workers that need the same build wait. */
function buildAlone(): string {
  mkdirSync(builds, { recursive: true });
  const endMs = performance.now() + maxWaitMs;
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      break;
    } catch {
      // A lock whose owner was killed does not count.
      if (performance.now() > endMs || !isHeld()) rmSync(lock, { force: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
  }
  try {
    return knownBuild() ?? build();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Returns whether the building process is alive. Building twice would be slow, but correct. */
function isHeld(): boolean {
  try {
    const owner = Number(readFileSync(lock, 'utf8'));
    if (owner > 0) process.kill(owner, 0);
    return true;
  } catch {
    return false;
  }
}

function build(): string {
  const { outputFiles, metafile } = buildSync({ ...options, outdir: builds, metafile: true, write: false });
  const hash = createHash('sha256');
  for (const { path, hash: content } of outputFiles) hash.update(`${path} ${content}\n`);
  const folder = join(builds, hash.digest('hex').slice(0, 16));
  if (!existsSync(folder)) {
    // The folder must be complete or missing: another worker may create the same build.
    const unfinished = `${folder}-${process.pid}`;
    for (const { path, contents } of outputFiles)
      replaceFile(join(unfinished, relative(builds, path)), contents);
    try {
      renameSync(unfinished, folder);
    } catch {
      rmSync(unfinished, { recursive: true, force: true });
    }
  }
  const paths = Object.keys(metafile.inputs);
  const inputs = Object.fromEntries(paths.map((path) => [path, digestOf(readFileSync(join(root, path)))]));
  const known: Build = { options: optionsNow, folder, inputs };
  const written = `${record}-${process.pid}`;
  writeFileSync(written, JSON.stringify(known));
  renameSync(written, record);
  return folder;
}

function replaceFile(file: string, contents: Uint8Array): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, contents);
}

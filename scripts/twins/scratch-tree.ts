import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ProcessResult, runProcess } from './run-process.ts';

const listFiles = promisify(execFile);
const prefix = 'reeve-twins-';

/** Copy of a checkout in which patches are applied and undone. */
export interface ScratchTree {
  readonly folder: string;
  /** Runs a program in the copy; its temporary files are in the scratch folder as well. */
  run(program: string, args: readonly string[]): Promise<ProcessResult>;
  /** Applies a diff; returns why it does not apply, or undefined. */
  apply(diff: string): Promise<string | undefined>;
  /** Restores every file to the copied state, and removes added files. */
  restore(): Promise<void>;
  remove(): Promise<void>;
}

/** Arguments of `git` that apply a patch: moved lines and changed context around a hunk are tolerated. */
export const applyArguments: readonly string[] = ['apply', '-C1', '--recount', '--whitespace=nowarn'];

/**
 * Copies the tracked and the new files of the checkout at `root`, including uncommitted changes, into a new folder
 * inside `temporary`, and links `node_modules`. Copies of killed runs are removed first.
 */
export async function createScratchTree(
  root: string,
  options: { temporary: string; signal: AbortSignal; timeoutMs: number },
): Promise<ScratchTree> {
  const { signal, timeoutMs } = options;
  const base = await realpath(options.temporary);
  await removeLeftovers(base);
  const scratch = await mkdtemp(join(base, `${prefix}${process.pid}-`));
  const folder = join(scratch, 'tree');
  const temporary = join(scratch, 'tmp');
  const env = childEnvironment(temporary);
  const run = (program: string, args: readonly string[]) =>
    runProcess(program, args, { cwd: folder, env, signal, timeoutMs });
  const git = async (...args: string[]): Promise<void> => {
    const { status, tail } = await run('git', args);
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${tail.trim()}`);
  };
  const remove = () => rm(scratch, { recursive: true, force: true, maxRetries: 5 });
  try {
    await Promise.all([mkdir(folder), mkdir(temporary)]);
    // A test that root runs starts its database as another user, who must be able to reach the folder.
    await chmod(scratch, 0o711);
    await copyCheckout(root, folder);
    await symlink(await realpath(join(root, 'node_modules')), join(folder, 'node_modules'));
    await git('init', '--quiet');
    // .gitignore only ignores a folder of this name, but here `node_modules` is a link.
    await writeFile(join(folder, '.git/info/exclude'), '/node_modules\n');
    await git('add', '--all');
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    folder,
    run,
    async apply(diff) {
      const path = join(scratch, 'twin.patch');
      await writeFile(path, diff);
      const { status, tail } = await run('git', [...applyArguments, path]);
      return status === 0 ? undefined : tail.trim().replaceAll(/\s*\n\s*/g, '; ');
    },
    async restore() {
      await git('checkout', '--quiet', '--', '.');
      await git('clean', '--quiet', '-ffdx', '--exclude=/node_modules');
    },
    remove,
  };
}

/**
 * Returns the environment of processes in the copy, without the variables of a surrounding git command or test run.
 * `CHECK` enables the tests that only `npm run check` runs.
 */
function childEnvironment(temporary: string): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(GIT_|VITEST)/.test(name));
  return { ...Object.fromEntries(inherited), CHECK: '1', TMPDIR: temporary };
}

async function copyCheckout(root: string, folder: string): Promise<void> {
  const { stdout } = await listFiles(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    {
      cwd: root,
      maxBuffer: 64 * 2 ** 20,
    },
  );
  for (const path of new Set(stdout.split('\0').filter((each) => each !== ''))) {
    try {
      await cp(join(root, path), join(folder, path), { verbatimSymlinks: true });
    } catch (error) {
      // A tracked file that was deleted in the work tree.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

async function removeLeftovers(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    const [, pid] = new RegExp(`^${prefix}(\\d+)-`).exec(name) ?? [];
    if (pid === undefined || isRunning(Number(pid))) continue;
    await rm(join(base, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

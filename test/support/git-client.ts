import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launcher } from './launcher.ts';

/**
 * Clone of a person. It uses the real git program with the person's identity, independent of the machine's settings.
 */
export interface GitClone {
  readonly folder: string;
  /** Runs git in the clone and returns its output. If git fails, throws with git's error message. */
  git(...args: string[]): Promise<string>;
  /** Writes files, commits them, and returns the id of the commit. */
  commit(files: Readonly<Record<string, string>>, message?: string): Promise<string>;
  remove(): void;
}

/** Default committer. */
const ada = { name: 'Ada', email: 'ada@example.org' };

/** Clones an address (including credentials, if needed) into a temporary folder. */
export async function cloneRepository(address: string, person = ada): Promise<GitClone> {
  const folder = mkdtempSync(join(tmpdir(), 'clone-'));
  await runGit(folder, ['clone', '--quiet', address, '.']);
  const git = (...args: string[]): Promise<string> => runGit(folder, args, person);
  return {
    folder,
    git,
    async commit(files, message = 'change') {
      for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
      await git('add', '--all');
      await git('commit', '--quiet', '-m', message);
      return (await git('rev-parse', 'HEAD')).trim();
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Runs git in any folder. If git fails, throws with git's error message. */
export async function runGit(cwd: string, args: readonly string[], person = ada): Promise<string> {
  const { code, output, complaint } = await tryGit(cwd, args, person);
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${complaint}`);
  return output;
}

type GitOutcome = { readonly code: number | null; readonly output: string; readonly complaint: string };

/** Runs git in any folder and returns its exit status and output. */
export function tryGit(cwd: string, args: readonly string[], person = ada): Promise<GitOutcome> {
  const child = launcher.start({
    file: 'git',
    args,
    cwd,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: cwd,
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_TERMINAL_PROMPT: '0',
      GIT_AUTHOR_NAME: person.name,
      GIT_AUTHOR_EMAIL: person.email,
      GIT_COMMITTER_NAME: person.name,
      GIT_COMMITTER_EMAIL: person.email,
    },
  });
  child.stdin.end();
  const { promise, resolve, reject } = Promise.withResolvers<GitOutcome>();
  let [output, complaint] = ['', ''];
  child.stdout.on('data', (piece) => {
    output += piece;
  });
  child.stderr.on('data', (piece) => {
    complaint += piece;
  });
  child.on('error', reject);
  child.on('close', (code) => resolve({ code, output, complaint }));
  return promise;
}

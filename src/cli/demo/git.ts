import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf, ReeveError } from '../../platform/errors.ts';

const execute = promisify(execFile);

/** A person's clone of a repository, worked on with the git program as a person would. */
interface Checkout {
  /** Starts or continues a branch from the default branch. */
  switchTo(branch: string): Promise<void>;
  /** Commits files (a null content removes one) and pushes the branch. Returns the new commit. */
  commit(message: string, files: Readonly<Record<string, string | null>>): Promise<string>;
}

/** Clones a repository over HTTP into a folder. The password stands in the environment of git alone, not in its arguments. */
export async function cloneAs(options: {
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
      // A demo that was interrupted has committed this already.
      if ((await git('status', '--porcelain')) !== '') await git('commit', '--quiet', '-m', message);
      await git('push', '--quiet', 'origin', 'HEAD');
      return git('rev-parse', 'HEAD');
    },
  };
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unreleasedNotes } from './changelog.ts';
import type { RunProgram } from './run-program.ts';
import { compareVersions, parseVersion } from './version.ts';

export const releaseBranch = 'main';

/** Returns the version of the checkout. */
export async function currentVersion(root: string): Promise<string> {
  return (JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

/** Returns everything that forbids to release this version now, in sentences; none: it can be released. */
export async function findObstacles(
  version: string,
  { root, run }: { readonly root: string; readonly run: RunProgram },
): Promise<readonly string[]> {
  const git = (...args: readonly string[]) => run('git', args);
  const found: string[] = [];
  const changed = (await git('status', '--porcelain')).split('\n').filter((line) => line !== '');
  if (changed.length > 0)
    found.push(
      `The working tree has changes that are not committed: ${changed.map((line) => line.slice(3)).join(', ')}`,
    );
  const branch = await git('branch', '--show-current');
  if (branch !== releaseBranch)
    found.push(
      `The branch is ${branch === '' ? 'no branch' : branch}; releases are made from ${releaseBranch}`,
    );
  const tags = (await git('tag', '--list', 'v*')).split('\n').filter((tag) => tag !== '');
  if (tags.includes(`v${version}`)) found.push(`The tag v${version} exists already`);
  const wanted = parseVersion(version);
  if (wanted === undefined)
    found.push(`${version} is no version: write MAJOR.MINOR.PATCH, such as 1.4.0 or 2.0.0-rc.1`);
  for (const name of [await currentVersion(root), ...tags.map((tag) => tag.slice(1))]) {
    const other = parseVersion(name);
    if (wanted !== undefined && other !== undefined && name !== version && compareVersions(wanted, other) < 0)
      found.push(`${version} is not greater than ${name}, which exists already`);
  }
  if (version === (await currentVersion(root)))
    found.push(`${version} is not greater than ${version}, the version of package.json`);
  if (unreleasedNotes(await readFile(join(root, 'CHANGELOG.md'), 'utf8')) === '')
    found.push('The section Unreleased of CHANGELOG.md is empty: nothing to release');
  // git would refuse the commit at the end.
  await git('var', 'GIT_COMMITTER_IDENT').catch(() => found.push('git has no user.name and user.email'));
  return found;
}

import { readFile, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createRunProgram, packTwice, provenanceOf, type RunProgram, type Tarball } from './release/pack.ts';
import {
  compareVersions,
  parseVersion,
  releaseNotes,
  replaceVersion,
  unreleasedNotes,
} from './release/version.ts';

/**
 * `npm run release -- --version X.Y.Z [--dry-run]`: sets the version, dates the changelog, builds and packs, commits
 * and tags. It pushes and publishes nothing, but prints the commands for that. After a failure or a dry run, the
 * checkout is unchanged. Exit 0 when the release is made, 1 when something prevents it or fails, 2 for wrong usage.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const run = createRunProgram(root);
const git = (...args: readonly string[]): Promise<string> => run('git', args);
const packageName = '@reeve-forge/reeve';
const say = (text: string): void => console.log(text);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { version: { type: 'string' }, 'dry-run': { type: 'boolean', default: false } },
  });
  const { version, 'dry-run': isDry } = values;
  // npm consumes arguments that do not follow `--`.
  if (version === undefined || process.env.npm_config_dry_run === 'true') {
    console.error('usage: npm run release -- --version X.Y.Z [--dry-run]');
    return 2;
  }
  const obstacles = await findObstacles(version, { root, run });
  for (const obstacle of obstacles) console.error(`release: ${obstacle}`);
  if (obstacles.length > 0) return 1;
  const before = await git('rev-parse', 'HEAD');
  // Child processes also receive the signal and fail; the changes are then undone.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});
  try {
    const tarball = await makeRelease(version, { isDry });
    if (isDry) {
      await restore(before);
      say('dry run: there is no commit and no tag, and the files are as before');
      return 0;
    }
    say(`\ncommitted, and tagged v${version}. Nothing is pushed or published; these commands do it:\n`);
    say(`  git push --atomic origin ${releaseBranch} v${version}`);
    say(`  npm publish ${relative(root, tarball.path)}`);
    return 0;
  } catch (error) {
    await restore(before);
    throw error;
  }
}

/** Resets the checkout to a commit. The work tree was clean, so nothing is lost. */
const restore = (commit: string): Promise<string> => git('reset', '--quiet', '--hard', commit);

/** Changes the files, builds and packs; commits and tags except in a dry run. */
async function makeRelease(version: string, { isDry }: { readonly isDry: boolean }): Promise<Tarball> {
  const startedAt = new Date();
  const notes = unreleasedNotes(await readFile(join(root, 'CHANGELOG.md'), 'utf8'));
  const paths = await changeFiles(version, startedAt);
  const tarball = await packTwice(join(root, 'dist/release'), run);
  const file = basename(tarball.path);
  say(await git('diff', '--stat'));
  say(`${relative(root, tarball.path)}\nsha256 ${tarball.sha256}`);
  if (isDry) return tarball;
  await git('commit', '--quiet', '--message', `chore: release ${version}`, '--', ...paths);
  const statement = await provenanceOf({
    root,
    name: packageName,
    version,
    tarball,
    commit: await git('rev-parse', 'HEAD'),
    repository: await git('remote', 'get-url', 'origin').then(withoutCredentials, () => undefined),
    npm: await run('npm', ['--version']),
    startedAt,
    finishedAt: new Date(),
  });
  const statementPath = `${tarball.path.replace(/\.tgz$/, '')}.provenance.json`;
  await writeFile(statementPath, `${JSON.stringify(statement, null, 2)}\n`);
  say(`${relative(root, statementPath)}: provenance, unsigned`);
  // Lines that start with # are headings here, not comments.
  const message = `Reeve ${version}\n\n${file}\nsha256 ${tarball.sha256}\n\n${notes}\n`;
  await run('git', ['tag', '--annotate', '--cleanup=verbatim', '--file=-', `v${version}`], message);
  return tarball;
}

/** Writes the version, the changelog and the action's bundle. Returns the paths. */
async function changeFiles(version: string, at: Date): Promise<readonly string[]> {
  const paths = await replaceVersion(root, await currentVersion(root), version);
  const changelog = join(root, 'CHANGELOG.md');
  const text = await readFile(changelog, 'utf8');
  await writeFile(changelog, releaseNotes(text, version, at.toISOString().slice(0, 10)));
  await run(process.execPath, ['scripts/build-action.ts']);
  return [...paths, 'CHANGELOG.md', 'dist/action.mjs'];
}

/** Returns the address of a remote without the user and the token that it may contain. */
function withoutCredentials(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.href;
}

const releaseBranch = 'main';

/** Returns the version of the checkout. */
async function currentVersion(root: string): Promise<string> {
  return (JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

/** Returns everything that prevents a release of this version now, as sentences; empty if nothing does. */
async function findObstacles(
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
  // Otherwise git would refuse the commit at the end.
  await git('var', 'GIT_COMMITTER_IDENT').catch(() => found.push('git has no user.name and user.email'));
  return found;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(`release: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}

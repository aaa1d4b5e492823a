import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Database, openDatabase } from '../../../src/forge/platform/database.ts';
import type { PullRow, RepositoryRow } from '../../../src/forge/platform/rows.ts';
import type { AskKilled } from './kinds-of-write.ts';

type Refs = ReadonlyMap<string, string>;

function gitIn(folder: string) {
  return (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
}

function refsOf(folder: string): Refs {
  const lines = gitIn(folder)('for-each-ref', '--format=%(refname) %(objectname)')
    .split('\n')
    .filter(Boolean);
  return new Map(lines.map((line) => line.split(' ') as [string, string]));
}

function namesOf(refs: Refs, prefix: string): readonly string[] {
  return [...refs.keys()].filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
}

/** Returns all differences between the database, the git repositories and the files of a stopped forge. */
export function findDifferences(data: string): readonly string[] {
  const db = openDatabase(join(data, 'forge.db'));
  try {
    const [check] = db.all<{ integrity_check: string }>('PRAGMA integrity_check');
    const isWhole = check?.integrity_check === 'ok';
    return [
      ...(isWhole ? [] : [`database: ${check?.integrity_check}`]),
      ...db.all('PRAGMA foreign_key_check').map((row) => `database: ${JSON.stringify(row)}`),
      ...checkRepositories(db, join(data, 'repositories')),
      ...checkFiles(db, join(data, 'attachments')),
    ];
  } finally {
    db.close();
  }
}

function checkRepositories(db: Database, folder: string): readonly string[] {
  const problems: string[] = [];
  const folders = new Set(readdirSync(folder).filter((name) => name.endsWith('.git')));
  const all = new Map<number, Refs>();
  const rows = db.all<RepositoryRow>('SELECT * FROM repositories');
  for (const row of rows) {
    if (folders.delete(`${row.id}.wiki.git`)) problems.push(...fsck(join(folder, `${row.id}.wiki.git`)));
    if (!folders.delete(`${row.id}.git`)) {
      problems.push(`${row.name} has no folder`);
      continue;
    }
    const path = join(folder, `${row.id}.git`);
    const refs = refsOf(path);
    all.set(row.id, refs);
    problems.push(...checkRepository(row, refs), ...fsck(path));
  }
  for (const name of folders) problems.push(`${name} belongs to nothing`);
  for (const row of rows) {
    const pulls = db.all<PullRow & { is_closed: number }>(
      'SELECT p.*, i.is_closed FROM pulls p JOIN issues i ON i.id = p.issue_id WHERE p.repo_id = ?',
      row.id,
    );
    problems.push(...checkPulls(row, pulls, all), ...checkReleases(db, row, all.get(row.id)));
  }
  return problems;
}

function fsck(folder: string): readonly string[] {
  try {
    gitIn(folder)('fsck', '--full', '--no-dangling');
    return [];
  } catch (error) {
    return [`${basename(folder)}: ${String(error)}`];
  }
}

function checkRepository({ name, num_branches, is_empty, default_branch }: RepositoryRow, refs: Refs) {
  const problems: string[] = [];
  const branches = namesOf(refs, 'refs/heads/');
  if (branches.length !== num_branches) {
    problems.push(`${name}: ${branches.length} branches, ${num_branches} in the database`);
  }
  if ((branches.length === 0) !== (is_empty === 1)) problems.push(`${name}: is_empty ${is_empty}`);
  if (branches.length > 0 && !branches.includes(default_branch)) {
    problems.push(`${name}: the default branch ${default_branch} is not there`);
  }
  for (const prefix of ['refs/reeve/', 'refs/for/']) {
    for (const left of namesOf(refs, prefix)) problems.push(`${name}: ${prefix}${left} was left`);
  }
  return problems;
}

/** Checks that stored heads, heads of open pull requests, and their bases match git. */
function checkPulls(
  { name, id }: RepositoryRow,
  pulls: readonly (PullRow & { is_closed: number })[],
  all: ReadonlyMap<number, Refs>,
): readonly string[] {
  const problems: string[] = [];
  const refs = all.get(id) ?? new Map();
  for (const pull of pulls) {
    const say = (text: string) => problems.push(`${name}#${pull.number}: ${text}`);
    const kept = refs.get(`refs/pull/${pull.number}/head`);
    if (kept !== pull.head_sha) say(`head ${pull.head_sha}, ${kept} in git`);
    if (pull.is_closed === 1) continue;
    const base = refs.get(`refs/heads/${pull.base_branch}`);
    if (base !== pull.base_sha) say(`base ${pull.base_sha}, ${base} in git`);
    const head = all.get(pull.head_repo_id ?? 0)?.get(`refs/heads/${pull.head_branch}`);
    if (pull.flow === 0 && head !== pull.head_sha) say(`head ${pull.head_sha}, its branch is at ${head}`);
  }
  const numbers = new Set(pulls.map(({ number }) => String(number)));
  for (const kept of namesOf(refs, 'refs/pull/')) {
    if (!numbers.has(kept.replace('/head', '')))
      problems.push(`${name}: refs/pull/${kept} belongs to nothing`);
  }
  return problems;
}

function checkReleases(db: Database, { id, name }: RepositoryRow, refs: Refs | undefined): readonly string[] {
  const releases = db.all<{ tag: string }>('SELECT tag FROM releases WHERE repo_id = ? AND is_draft = 0', id);
  const missing = releases.filter(({ tag }) => !refs?.has(`refs/tags/${tag}`));
  return missing.map(({ tag }) => `${name}: the release ${tag} has no tag`);
}

/**
 * Checks that every file named by a row exists with the recorded size and, if known, hash, and that there is no other
 * file.
 */
function checkFiles(db: Database, folder: string): readonly string[] {
  const problems: string[] = [];
  const rows = db.all<{ uuid: string; size: number; hash: string | null }>(
    `SELECT uuid, size, NULL AS hash FROM attachments UNION ALL SELECT uuid, size, NULL FROM release_assets
     UNION ALL SELECT uuid, size, NULL FROM avatars UNION ALL SELECT uuid, size, sha256 FROM package_files
     UNION ALL SELECT uuid, size, oid FROM lfs_contents`,
  );
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const files = new Map(paths.map((entry) => [entry.name, join(entry.parentPath, entry.name)]));
  for (const { uuid, size, hash } of rows) {
    const path = files.get(uuid);
    files.delete(uuid);
    const bytes = path === undefined ? undefined : readFileSync(path);
    if (bytes?.length !== size) problems.push(`${uuid}: ${bytes?.length} bytes, ${size} in the database`);
    const isOther = bytes && hash !== null && createHash('sha256').update(bytes).digest('hex') !== hash;
    if (isOther) problems.push(`${uuid} is not ${hash}`);
  }
  for (const path of files.values()) problems.push(`${path} belongs to nothing`);
  const unlinked = db.all<{ oid: string }>(
    'SELECT oid FROM lfs_contents WHERE oid NOT IN (SELECT oid FROM lfs_objects)',
  );
  for (const { oid } of unlinked) problems.push(`no repository has ${oid}`);
  return problems;
}

/**
 * Returns the branches, tags and heads of pull requests of `root/r` for which a running forge reports other commits
 * than git.
 */
export async function findUntold(ask: AskKilled, data: string): Promise<readonly string[]> {
  const { json: repository } = await ask('GET', '/repos/root/r');
  const refs = refsOf(join(data, 'repositories', `${repository.id}.git`));
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  const all = async (path: string): Promise<any[]> => {
    const rows = [];
    for (let page = 1; ; page += 1) {
      const { json } = await ask('GET', `/repos/root/r/${path}limit=50&page=${page}`);
      rows.push(...json);
      if (json.length < 50) return rows;
    }
  };
  const told = new Map<string, string>([
    ...(await all('branches?')).map((row) => [`refs/heads/${row.name}`, row.commit.id] as const),
    ...(await all('tags?')).map((row) => [`refs/tags/${row.name}`, row.id] as const),
    ...(await all('pulls?state=all&')).map((row) => {
      const name = `refs/pull/${row.number}/head`;
      // The branch of a closed pull request may have moved since.
      return [name, row.state === 'closed' ? (refs.get(name) ?? '') : row.head.sha] as const;
    }),
  ]);
  const names = [...new Set([...refs.keys(), ...told.keys()])];
  return names
    .filter((name) => refs.get(name) !== told.get(name))
    .map((name) => `${name}: ${told.get(name)}, ${refs.get(name)} in git`);
}

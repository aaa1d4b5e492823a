import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { type Client, createClient } from '../../client/client.ts';
import { operations } from '../../contract/operations.ts';
import {
  type ConversionContext,
  type Format,
  SourceError,
  type SourceFile,
  type Target,
} from '../../import/conversion.ts';
import { formats } from '../../import/formats.ts';
import { type ImportedFile, importFile } from '../../import/import-file.ts';
import { createNames, type ForgeNames, type NameMappings } from '../../import/names.ts';
import { createGlob } from '../../patterns/glob.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import { formatProblem } from '../../rules/problem.ts';
import { loadRuleFiles } from '../../rules/sources/folder.ts';
import type { Settings } from '../../server/settings/config.ts';
import { count, plain, type Terminal } from '../output/terminal.ts';
import { orNothing, recentContexts } from './rules/check-forge.ts';
import { runCase, testRules } from './rules/rule-tests.ts';

/** Flags of `reeve import`. */
export type ImportOptions = {
  readonly as?: string;
  readonly for?: string;
  readonly repository?: string;
  readonly team?: readonly string[];
  readonly user?: readonly string[];
  readonly checks?: readonly string[];
  readonly out: string;
  readonly force?: boolean;
  readonly json?: boolean;
};

const maxSourceBytes = 1_048_576;
/** Folders of a checkout in which no configuration stands, and how deep a file may stand below the others. */
const skippedFolders = new Set(['node_modules', '.git', 'vendor', 'third_party', 'dist', 'build']);
const maxFolders = 20_000;
const maxWorkflows = 200;

/**
 * Converts files of other bots into rule files, tests and a report, and checks and tests the result. Returns the exit
 * status: 1 if a part of a source was left out. Only reads at the forge.
 */
export async function importRules(
  given: readonly string[],
  options: ImportOptions,
  { forge: signedIn, terminal }: { readonly forge: Settings['forge']; readonly terminal: Terminal },
): Promise<number> {
  const target = targetOf(options.for);
  const mappings = readMappings(options);
  const { sources, unread } = await findSources(given, options.as);
  const repository = options.repository;
  const client = signedIn && createClient(signedIn);
  const forge = client && repository !== undefined ? await askNames(client, repository) : {};
  const context: ConversionContext = { target, names: createNames(mappings, forge), repository };
  const scopes = target === 'repository' || repository === undefined ? undefined : [repository];
  const taken = new Set<string>();
  const imported: ImportedFile[] = [];
  for (const { format, ...source } of sources) {
    const { path } = source;
    const workflows = await workflowsBeside(path);
    const base = basename(path)
      .replace(/^\.+/, '')
      .replace(/\.(ya?ml|toml|json5?)$/, '')
      .replace(/[^A-Za-z0-9._-]/g, '-');
    const name = freeName(base === '' || base === 'config' ? format.name : base, taken);
    try {
      imported.push(
        await importFile({ ...source, workflows }, { format, context, name, scopes, run: runCase }),
      );
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      unread.push(
        `${path}:${error.line}: ${error.message} (read as ${format.title}; --as names another format)`,
      );
    }
  }
  // One unreadable file does not stop the others.
  if (imported.length === 0 && unread.length > 0) throw new ReeveError('usage', unread.join('\n'));
  const written = await writeAll(
    imported.flatMap(({ files }) => files),
    options,
  );
  const left = imported
    .flatMap(({ entries }) => entries)
    .filter(({ outcome }) => outcome === 'left-out').length;
  if (options.json) {
    const files = imported.map(({ source, format, counts, entries }) => ({
      path: source.path,
      format: format.name,
      ...counts,
      entries,
    }));
    terminal.out(JSON.stringify({ files, written, unread }));
    return left > 0 || unread.length > 0 ? 1 : 0;
  }
  for (const { source, format, counts, files, todo, dangers } of imported) {
    const total = counts.exact + counts.differs + counts.leftOut;
    terminal.out(
      plain(
        `${source.path} (${format.title}): ${total} ${format.counts}, ${counts.exact} exact, ${counts.differs} with a difference, ${counts.leftOut} left out`,
      ),
    );
    terminal.out(plain(`  ${files.map(({ name }) => join(options.out, name)).join(', ')}`));
    for (const danger of dangers) terminal.out(terminal.style('yellow', plain(`  dangerous: ${danger}`)));
    for (const one of todo) terminal.out(plain(`  to do: ${one}`));
  }
  const rules = written.filter((path) => path.endsWith('.yml') && !path.endsWith('.test.yml'));
  const isGood = rules.length === 0 || (await examine(rules, terminal));
  for (const one of unread) terminal.out(terminal.style('yellow', plain(`not read: ${one}`)));
  if (left > 0)
    terminal.out(
      terminal.style(
        'yellow',
        `${count(left, 'part')} left out; the reports (*.import.md) say which and why`,
      ),
    );
  if (rules.length > 0)
    terminal.out(
      plain(
        `Next: read ${join(options.out, '*.import.md')}, then \`reeve setup --rules ${options.out}\`, \`reeve apply --open --plan\` and \`reeve sweep --plan\`.`,
      ),
    );
  return left > 0 || unread.length > 0 || !isGood ? 1 : 0;
}

/**
 * Checks and tests the rule files that were written. Prints problems and failed cases; warnings are counted, because most
 * of them say how the source differs from a rule that a person would write. Returns whether all is well.
 */
async function examine(rules: readonly string[], terminal: Terminal): Promise<boolean> {
  const loaded = await loadRuleFiles(rules);
  const problems = loaded.flatMap((file) => file.problems);
  const warnings = loaded.flatMap((file) => file.warnings ?? []);
  for (const problem of problems) terminal.out(`${formatProblem(problem)}\n`);
  const { failed, problems: faults, summary } = await testRules(rules);
  for (const fault of faults) terminal.out(`${formatProblem(fault)}\n`);
  for (const { path, line, name, differences } of failed)
    terminal.out(plain(`${path}:${line} ${name}: ${differences.join('; ')}`));
  const also =
    warnings.length === 0 ? '' : `, ${count(warnings.length, 'warning')} (\`reeve check\` lists them)`;
  terminal.out(
    `${count(loaded.flatMap((file) => file.rules).length, 'rule')}: ${count(problems.length, 'problem')}${also}; ${summary}`,
  );
  return problems.length + faults.length + failed.length === 0;
}

function targetOf(given: string | undefined): Target {
  const known: readonly Target[] = ['operator', 'organization', 'repository'];
  const target = known.find((one) => one === (given ?? 'operator'));
  if (target === undefined)
    throw new ReeveError('usage', `--for is one of ${known.join(', ')}, not ${given}`);
  return target;
}

function readMappings({ user = [], team = [], checks = [] }: ImportOptions): NameMappings {
  const pairOf = (flag: string, written: string): readonly [string, string] => {
    const place = written.indexOf('=');
    const [from, to] = [written.slice(0, place), written.slice(place + 1)];
    if (place < 1 || to === '')
      throw new ReeveError('usage', `--${flag} has the form FROM=TO, not ${written}`);
    return [from.replace(/^@/, ''), to.replace(/^@/, '')];
  };
  return {
    users: new Map(user.map((one) => pairOf('user', one))),
    teams: new Map(team.map((one) => pairOf('team', one))),
    checks: checks.map((one) => pairOf('checks', one)),
  };
}

type FoundSource = SourceFile & { readonly format: Format };

/**
 * Returns the files to import: given ones, and those of given folders that stand where a bot reads them. Files of a
 * format that reads them together are one source for each folder, and one for all given files. `unread`: files of
 * folders at such a place that cannot be read, with the reason.
 */
async function findSources(
  given: readonly string[],
  as: string | undefined,
): Promise<{ readonly sources: readonly FoundSource[]; readonly unread: string[] }> {
  const named = as === undefined ? undefined : formats.find(({ name }) => name === as);
  if (as !== undefined && named === undefined)
    throw new ReeveError(
      'usage',
      `there is no format ${as}; there are ${formats.map(({ name }) => name).join(', ')}`,
    );
  const found: FoundSource[] = [];
  const single: FoundSource[] = [];
  const unread: string[] = [];
  for (const path of given) {
    const info = await stat(path).catch((error: unknown) => {
      throw new ReeveError('usage', `${path} cannot be read: ${messageOf(error)}`);
    });
    if (info.isDirectory()) {
      const inFolder: FoundSource[] = [];
      for (const inner of await filesBelow(path)) {
        const text = await readSource(join(path, inner)).catch((error: unknown) => {
          unread.push(messageOf(error));
          return undefined;
        });
        if (text === undefined) continue;
        const fitting = formats.filter((format) => isOf(format, { path: inner, text }));
        // Most workflows have nothing to do with a bot.
        if (fitting.length === 0 && !inner.includes('.github/workflows/'))
          unread.push(
            `${join(path, inner)}: it stands where ${botsAt(inner)} reads, and is not of that form`,
          );
        for (const format of named ? fitting.filter((one) => one === named) : fitting)
          inFolder.push({ path: join(path, inner), text, place: inner, format });
      }
      found.push(...grouped(inFolder));
      continue;
    }
    const text = await readSource(path);
    const fitting = named
      ? [named]
      : formats.filter((format) => isOf(format, { path, text }, { isNamed: true }));
    const [format] = fitting;
    if (format === undefined || fitting.length > 1) {
      const names = (fitting.length > 1 ? fitting : formats).map(({ name }) => name).join(', ');
      throw new ReeveError('usage', `the format of ${path} is not clear: --as names it, one of ${names}`);
    }
    const place = relative('.', path).split(sep).join('/');
    single.push({ path, text, format, ...(place.startsWith('..') ? {} : { place }) });
  }
  found.push(...grouped(single));
  if (found.length === 0)
    throw new ReeveError(
      'usage',
      [`no configuration of another bot was found in ${given.join(', ')}`, ...unread].join('\n'),
    );
  return { sources: found, unread };
}

/** The bots that read a path. */
function botsAt(path: string): string {
  return formats
    .filter(({ places }) => places.some((place) => createGlob(place)(path)))
    .map(({ title }) => title)
    .join(' or ');
}

/** Joins the files of each format that reads them together into its first one. */
function grouped(all: readonly FoundSource[]): readonly FoundSource[] {
  return all.flatMap((source) => {
    if (!source.format.isGrouped) return [source];
    const [first, ...others] = all.filter(({ format }) => format === source.format);
    return first === source ? [{ ...first, others }] : [];
  });
}

/** Whether a file is of a format, by its place in a repository; for a file that the user names, its name is enough. */
function isOf(
  { places, isFormat }: Format,
  file: { readonly path: string; readonly text: string },
  { isNamed = false }: { readonly isNamed?: boolean } = {},
): boolean {
  const path = isNamed ? basename(file.path) : file.path;
  const isThere = places.some((place) => createGlob(isNamed ? basename(place) : place)(path));
  return isThere && (isFormat?.(file) ?? true);
}

/** Returns the workflows of the repository in which a file stands, as far as they are beside it. */
async function workflowsBeside(path: string): Promise<readonly SourceFile[]> {
  const folder = dirname(path);
  const workflows = join(folder, basename(folder) === '.github' ? 'workflows' : '.github/workflows');
  const names = await readdir(workflows).catch(() => []);
  const found: SourceFile[] = [];
  for (const name of names.toSorted().slice(0, maxWorkflows)) {
    const inner = join(workflows, name);
    if (/\.ya?ml$/.test(name) && (await lstat(inner)).isFile())
      found.push({ path: inner, text: await readSource(inner) });
  }
  return found;
}

async function readSource(path: string): Promise<string> {
  const { size } = await stat(path);
  if (size > maxSourceBytes) throw new ReeveError('usage', `${path} is larger than ${maxSourceBytes} bytes`);
  return readFile(path, 'utf8');
}

/** Returns the paths below a folder at which a format has its place. Symbolic links are not followed. */
async function filesBelow(folder: string): Promise<readonly string[]> {
  const matchers = formats.flatMap(({ places }) => places.map((place) => createGlob(place)));
  const found: string[] = [];
  const left = [''];
  for (let visited = 0; left.length > 0 && visited < maxFolders; visited += 1) {
    const inner = left.shift() ?? '';
    for (const entry of await readdir(join(folder, inner), { withFileTypes: true })) {
      const path = inner === '' ? entry.name : `${inner}/${entry.name}`;
      if (entry.isDirectory() && !skippedFolders.has(entry.name)) left.push(path);
      if (entry.isFile() && matchers.some((isAt) => isAt(path))) found.push(path);
    }
  }
  return found.toSorted();
}

function freeName(base: string, taken: Set<string>): string {
  let name = base;
  for (let number = 2; taken.has(name); number += 1) name = `${base}-${number}`;
  taken.add(name);
  return name;
}

/** Writes the files into the folder of the result. Returns their paths. Without `force`, nothing is overwritten. */
async function writeAll(
  files: readonly { readonly name: string; readonly text: string }[],
  { out, force = false }: ImportOptions,
): Promise<readonly string[]> {
  await mkdir(out, { recursive: true });
  const folder = await realpath(out);
  const existing: string[] = [];
  for (const { name } of files) {
    const info = await lstat(join(folder, name)).catch(() => undefined);
    if (info?.isSymbolicLink() || (info !== undefined && !info.isFile()))
      throw new ReeveError(
        'usage',
        `${join(out, name)} is no file: nothing is written through links; choose another --out`,
      );
    if (info !== undefined) existing.push(join(out, name));
  }
  if (existing.length > 0 && !force)
    throw new ReeveError(
      'usage',
      `${existing.join(', ')} exists; --force overwrites, --out names another folder`,
    );
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;
  const flags = O_WRONLY | O_CREAT | O_NOFOLLOW | (force ? O_TRUNC : O_EXCL);
  for (const { name, text } of files) {
    await using file = await open(join(folder, name), flags, 0o644);
    await file.writeFile(text);
  }
  return files.map(({ name }) => relative('.', join(folder, name)) || name);
}

const maxCommits = 20;
const maxFiles = 100_000;

/** Asks the forge for the names that a conversion can use. What the account may not read stays unknown. */
async function askNames(client: Client, repository: string): Promise<ForgeNames> {
  const [owner = '', repo = '', ...more] = repository.split('/');
  if (owner === '' || repo === '' || more.length > 0)
    throw new ReeveError('usage', `--repository is OWNER/NAME, not ${repository}`);
  const params = { owner, repo };
  const live = await client.call(operations.getRepository, { params });
  const at = { id: live.id, owner, name: repo };
  const org = { params: { org: owner } };
  const { has } = await client.capabilities();
  const [labels, ofOwner, branches, contexts, teams, files] = await Promise.all([
    orNothing(namesOf(client.items(operations.listLabels, { params }))),
    orNothing(namesOf(client.items(operations.listOrganizationLabels, org))),
    orNothing(namesOf(client.items(operations.listBranches, { params }))),
    orNothing(recentContexts(client, at, { atMost: maxCommits })),
    orNothing(namesOf(client.items(operations.listTeams, org))),
    orNothing(filesOf(client, params, live.default_branch ?? '')),
  ]);
  return {
    ...(labels && { labels: [...labels, ...(ofOwner ?? [])] }),
    ...(branches && { branches }),
    ...(contexts && contexts.commits > 0 && { contexts: [...contexts.names] }),
    ...(teams && { teams: teams.map((team) => `${owner}/${team}`) }),
    ...(files && { files }),
    hasOwnerLookahead: has.code_owner_paths,
  };
}

async function namesOf(
  items: AsyncIterable<{ readonly name?: string | null | undefined }>,
): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name } of items) if (name) found.push(name);
  return found;
}

async function filesOf(
  client: Client,
  params: { readonly owner: string; readonly repo: string },
  branch: string,
): Promise<readonly string[] | undefined> {
  const found: string[] = [];
  for (let page = 1; found.length < maxFiles; page += 1) {
    const query = { recursive: true, page, per_page: 1_000 };
    const { tree, truncated } = await client.call(operations.getTree, {
      params: { ...params, sha: branch },
      query,
    });
    for (const { path, type } of tree ?? []) if (type === 'blob' && path) found.push(path);
    if (truncated !== true || (tree ?? []).length === 0) return found;
  }
  return undefined;
}

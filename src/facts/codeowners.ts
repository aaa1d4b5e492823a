import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import type { ChangedFile } from '../contract/resources/branches.ts';
import { int, list, text } from '../contract/shape.ts';
import {
  findPathOwners,
  findUnmatchedLines,
  literalPath,
  type PathOwners,
  parseCodeowners,
  type UnmatchedLine,
} from '../patterns/codeowners-file.ts';
import { ReeveError } from '../platform/errors.ts';
import { readDefaultFile } from './contents.ts';
import { type AskContext, defineFact, requestOf } from './fact.ts';
import { files as filesRow } from './files.ts';
import { repository as repositoryRow } from './repository.ts';
import { ways } from './ways.ts';
import { absentAsUndefined, repositoryOf, repositoryParams } from './where.ts';

const OwnedFile = z.object({ file: text, users: list(text), teams: list(text) });
type OwnedFile = z.output<typeof OwnedFile>;

/** Locations of the CODEOWNERS file, in order of precedence. */
const places = ['CODEOWNERS', 'docs/CODEOWNERS', '.gitea/CODEOWNERS'] as const;
const placeOfForgejo = '.forgejo/CODEOWNERS';
export const codeownersLimits = {
  /** Maximum number of characters in the file. */
  length: 256 * 1024,
  /** Maximum number of names looked up per pull request. */
  owners: 100,
  /** Maximum number of patterns looked up as folders per repository. */
  literals: 50,
} as const;

/** The owners of the changed files. */
export const codeowners = defineFact({
  name: 'codeowners',
  meaning:
    'The owners of each changed file, as the forge reads CODEOWNERS: the first of `CODEOWNERS`, `docs/CODEOWNERS`, `.gitea/CODEOWNERS` (Forgejo also `.forgejo/CODEOWNERS`) of the default branch; a pattern is a regular expression that must match the whole path; the owners of all matching lines are added up, and those of a line with `!` for files that do not match. `users` are login names, `teams` are `organization/team`; owners that do not exist, or that the account cannot see, are left out; of teams it sees those of its own organizations, and those with access to the repository. A renamed file is there with both names. A pattern that is not RE2 (look-ahead) is an error that names its line. Lines that no file can match are in `codeowners_problems`.',
  shows: 'repository',
  visibleTo: 'code',
  shape: list(OwnedFile),
  of: ['pull_request'],
  changes: [ways.pushed, ways.retargeted, ways.basePushed, ways.joined],
  needs: { access: 'reader', scopes: ['repository', 'user', 'organization'] },
  requests: 4,
  example: 'codeowners.all(c, c.users.size() + c.teams.size() > 0)',
  async ask(context) {
    const { ask, meter } = context;
    const [{ dialect, written }, changed] = await Promise.all([
      readCodeowners(context),
      ask(requestOf(filesRow)),
    ]);
    const paths = [...pathsOf(changed)];
    const found = findPathOwners(parseCodeowners(written, dialect), paths, { dialect, meter });
    return withAccounts(found, context);
  },
});

/** Returns the changed paths. The forge compares the two trees, so a renamed file counts as deleted and added. */
function pathsOf(changed: readonly ChangedFile[]): ReadonlySet<string> {
  return new Set(
    changed.flatMap(({ filename, previous_filename }) =>
      previous_filename ? [previous_filename, filename] : [filename],
    ),
  );
}

const UnmatchedLines = z.object({
  /** A sentence that lists the first unmatched lines; empty if there are none. */
  text,
  lines: list(z.object({ line: int, pattern: text, why: text })),
});

/** The lines in CODEOWNERS that no file can match. */
export const codeownersProblems = defineFact({
  name: 'codeowners_problems',
  meaning:
    'The lines of CODEOWNERS that no file can match, as in files from other forges: the forge reads a pattern as a regular expression of the whole path, so that `lib/`, the folder `lib` and (before Gitea 1.27 and on Forgejo) `/lib/a.ts` match nothing. For a pull request, folders are those of its changed files; for a repository, each of the first 50 patterns that may be one is looked up. `text` is a sentence for a status; empty if there are none.',
  shows: 'repository',
  visibleTo: 'code',
  shape: UnmatchedLines,
  of: ['pull_request', 'repository'],
  changes: [ways.pushed, ways.retargeted, ways.basePushed],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 4,
  example: 'codeowners_problems.lines.size() == 0',
  async ask(context) {
    const { dialect, written, path } = await readCodeowners(context);
    const lines = parseCodeowners(written, dialect);
    const literals = lines.flatMap(({ pattern }) => literalPath(pattern) ?? []);
    const folders = await foldersAmong(literals, context);
    const isFolder = (one: string): boolean => folders.has(one);
    const found = findUnmatchedLines(lines, { isFolder, meter: context.meter });
    return {
      text: describeUnmatched(found, path),
      lines: found.map(({ line, written: pattern, why }) => ({ line, pattern, why })),
    };
  },
});

/** Maximum number of characters per pattern and maximum number of lines in the sentence. */
const [maxNamed, maxLines] = [30, 3];

function describeUnmatched(found: readonly UnmatchedLine[], path: string): string {
  if (found.length === 0) return '';
  const named = found
    .slice(0, maxLines)
    .map(({ line, written }) => `${line} (${written.slice(0, maxNamed).toWellFormed()})`);
  const more = found.length > maxLines ? ` and ${found.length - maxLines} more` : '';
  return `Of ${path}, no file matches line ${named.join(', ')}${more}.`;
}

/** Returns which paths are folders: in the changed files of a pull request, or on the default branch. */
async function foldersAmong(paths: readonly string[], context: AskContext): Promise<ReadonlySet<string>> {
  if (context.subject.kind === 'pull_request') {
    const changed = pathsOf(await context.ask(requestOf(filesRow)));
    return new Set(Array.from(changed, parentsOf).flat());
  }
  // This request fails if the account cannot see the repository, which would otherwise look like a repository without
  // files.
  await context.ask(requestOf(repositoryRow));
  const asked = [...new Set(paths)].slice(0, codeownersLimits.literals);
  const found = await Promise.all(
    asked.map(async (path) => ((await readDefaultFile(context, path))?.type === 'dir' ? [path] : [])),
  );
  return new Set(found.flat());
}

function parentsOf(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

type OwnersFile = { readonly written: string; readonly path: string };
type ReadOwners = OwnersFile & {
  readonly dialect: { readonly hasRoot: boolean; readonly hasLookaround: boolean };
};

async function readCodeowners(context: AskContext): Promise<ReadOwners> {
  const { has } = await context.client.capabilities();
  const dialect = { hasRoot: has.code_owner_paths, hasLookaround: has.code_owner_paths };
  return { dialect, ...(await readFirst(context, has.code_owners_of_forgejo)) };
}

/**
 * Returns the text of the first CODEOWNERS file that exists, even if it is empty. A symbolic link counts as a file
 * without owners.
 */
async function readFirst(context: AskContext, isForgejo: boolean): Promise<OwnersFile> {
  for (const place of isForgejo ? [...places, placeOfForgejo] : places) {
    const file = await readDefaultFile(context, place);
    if (file === null || (file.type !== 'file' && file.type !== 'symlink')) continue;
    if (file.type === 'symlink') return { written: '', path: place };
    if (file.content === null || file.content.length > codeownersLimits.length)
      throw new Error(`too large to judge: ${place} has more than ${codeownersLimits.length} characters`);
    return { written: file.content, path: place };
  }
  return { written: '', path: places[0] };
}

/** Replaces the owners' names with the names of existing accounts and teams; unknown names are omitted. */
async function withAccounts(found: readonly PathOwners[], context: AskContext): Promise<OwnedFile[]> {
  const names = new Set(found.flatMap(({ owners }) => [...owners]));
  if (names.size > codeownersLimits.owners)
    throw new Error(`too large to judge: more than ${codeownersLimits.owners} owners of the changed files`);
  const teams = createTeamLookup(context);
  const known = new Map<string, string | undefined>();
  await Promise.all(
    Array.from(names, async (name) => {
      known.set(name, name.includes('/') ? await teams(name) : await findUser(name, context));
    }),
  );
  return found.map(({ path, owners }) => {
    const [users, ofTeams] = [new Set<string>(), new Set<string>()];
    for (const name of owners) {
      const account = known.get(name);
      if (account !== undefined) (name.includes('/') ? ofTeams : users).add(account);
    }
    return { file: path, users: [...users], teams: [...ofTeams] };
  });
}

/** Matches account names that forges allow; other texts are ignored as owners. */
const accountName = /^[\w.-]{1,255}$/;

/** Returns the login of a user; undefined if the user does not exist. Cached for a few minutes. */
async function findUser(username: string, context: AskContext): Promise<string | undefined> {
  if (!accountName.test(username) || /^\.+$/.test(username)) return undefined;
  const { client, memory, subject, anew } = context;
  const key = `${repositoryOf(subject).id}/codeowners/${username.toLowerCase()}`;
  const remembered = anew ? undefined : (memory.get(key) as { login: string | undefined } | undefined);
  if (remembered) return remembered.login;
  const user = await absentAsUndefined(client.call(operations.getUser, { params: { username } }));
  memory.set(key, { login: user?.login });
  return user?.login;
}

/**
 * Returns a function that looks up teams. Members of an organization see its teams; other accounts see only the teams
 * with access to the repository.
 */
function createTeamLookup({ client, subject }: AskContext): (name: string) => Promise<string | undefined> {
  const lists = new Map<string, Promise<ReadonlySet<string>>>();
  const { owner } = repositoryOf(subject);
  const listTeams = async (org: string): Promise<ReadonlySet<string>> => {
    try {
      return await namesOf(client.items(operations.listTeams, { params: { org } }));
    } catch (error) {
      if (!(error instanceof ReeveError) || error.keepsWork) throw error;
      if (org.toLowerCase() !== owner.toLowerCase()) return new Set();
      const teams = await client.call(operations.listRepositoryTeams, { params: repositoryParams(subject) });
      return new Set(teams.map(({ name }) => name));
    }
  };
  return async (written) => {
    const [org = '', name = '', ...rest] = written.split('/');
    if (rest.length > 0 || !accountName.test(org) || /^\.+$/.test(org) || name === '') return undefined;
    const key = org.toLowerCase();
    const listed = lists.get(key) ?? listTeams(org);
    lists.set(key, listed);
    return (await listed).has(name) ? `${org}/${name}` : undefined;
  };
}

async function namesOf(teams: AsyncIterable<{ readonly name: string }>): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for await (const { name } of teams) names.add(name);
  return names;
}

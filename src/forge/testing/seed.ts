import type { FastifyInstance } from 'fastify';
import { operations } from '../../contract/operations.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import { ensureBadge } from '../accounts/badges.ts';
import { createAccount } from '../accounts/users-service.ts';
import { userNamed } from '../platform/access/redirects.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { Database } from '../platform/database.ts';
import { replaceRunners, type ToldRunner } from '../workflows/runners-service.ts';
import { createSeedCaller, createSeedRepository, hookBody, type SeedCaller } from './seed-repository.ts';
import { readRunner, type SeedRunner } from './seed-runner.ts';
import type {
  Seed,
  SeedFile,
  SeedIssue,
  SeedOrganization,
  SeedProblem,
  SeedRepository,
} from './seed-shape.ts';

const plainPlace = (path: readonly PropertyKey[]): string => path.map(String).join('.');

/**
 * Creates the objects of a seed: accounts, organizations, repositories, runners. Existing objects, found by name, are
 * left unchanged with all their content; a repository that fails midway is removed. Throws `usage` before anything is
 * written, with every error and its position, or later at the first operation that is refused.
 */
export async function applySeed(
  app: FastifyInstance,
  context: ForgeContext,
  { seed, positionOf = plainPlace }: { readonly seed: Seed } & Partial<Pick<SeedFile, 'positionOf'>>,
): Promise<void> {
  const problems = findSeedProblems(seed, context.db);
  if (problems.length > 0) {
    const lines = problems.map(({ path, message }) => `${positionOf(path)}: ${message}`);
    throw new ReeveError('usage', `the seed cannot be used\n${lines.join('\n')}`);
  }
  const caller = createSeedCaller(app, context);
  const at = async (path: readonly PropertyKey[], work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (cause) {
      throw new ReeveError('usage', `${positionOf(path)}: the seed stopped here: ${messageOf(cause)}`, {
        cause,
      });
    }
  };
  try {
    for (const [index, account] of (seed.accounts ?? []).entries()) {
      await at(['accounts', index], () => ensureAccount(context, account));
    }
    for (const [index, organization] of (seed.organizations ?? []).entries()) {
      await at(['organizations', index], () => ensureOrganization(context, caller, organization));
    }
    for (const [index, repository] of (seed.repositories ?? []).entries()) {
      await at(['repositories', index], () => createSeedRepository(context, caller, seed, repository));
    }
    for (const [index, account] of (seed.accounts ?? []).entries()) {
      await at(['accounts', index, 'starred'], () => giveStars(caller, account));
    }
    for (const badge of seed.badges ?? []) ensureBadge(context, badge);
    if (seed.runners !== undefined) putRunners(context, seed.runners);
  } finally {
    caller.close();
  }
}

/** Replaces the runners of the instance. Throws `usage` if one belongs to an unknown owner. */
export function putRunners(
  context: Pick<ForgeContext, 'db' | 'clock'>,
  runners: readonly SeedRunner[],
): void {
  const told: ToldRunner[] = [];
  for (const [at, runner] of runners.entries()) {
    const row = readRunner(context.db, runner);
    if ('problem' in row) throw new ReeveError('usage', `runners.${at}: ${row.problem}`);
    told.push(row);
  }
  replaceRunners(context, told);
}

type SeedAccount = NonNullable<Seed['accounts']>[number];

async function ensureAccount(context: ForgeContext, account: SeedAccount): Promise<void> {
  if (userNamed(context.db, account.name)) return;
  await createAccount(context, {
    name: account.name,
    email: account.email ?? `${account.name}@localhost`,
    password: account.password,
    full_name: account.full_name,
    visibility: account.visibility,
    isRestricted: account.restricted,
    isAdmin: account.admin,
  });
}

async function giveStars(caller: SeedCaller, account: SeedAccount): Promise<void> {
  for (const fullName of account.starred ?? []) {
    const [owner = '', repo = ''] = fullName.split('/');
    await caller.call(account.name, operations.star, { params: { owner, repo } });
  }
}

async function ensureOrganization(
  context: ForgeContext,
  caller: SeedCaller,
  organization: SeedOrganization,
): Promise<void> {
  const { name, owner, teams = [], labels = [], hooks = [], ...profile } = organization;
  if (userNamed(context.db, name)) return;
  const params = { org: name };
  await caller.call(owner, operations.createOrganization, { body: { username: name, ...profile } });
  for (const { members = [], repositories: _, ...team } of teams) {
    const { id } = await caller.call(owner, operations.createTeam, { params, body: team });
    for (const username of members) {
      await caller.call(owner, operations.putTeamMember, { params: { id, username } });
    }
  }
  for (const label of labels) {
    await caller.call(owner, operations.createOrganizationLabel, { params, body: label });
  }
  for (const hook of hooks) {
    await caller.call(owner, operations.createOrganizationHook, { params, body: hookBody(hook) });
  }
}

type Path = readonly PropertyKey[];
type SeedNames = {
  isPerson(name: string): boolean;
  isOwner(name: string): boolean;
  isRepository(fullName: string): boolean;
};

const lowerCase = (text: string): string => text.toLowerCase();

/** Collects the names that the seed creates and the names that already exist in the forge. */
function collectNames(seed: Seed, db: Database): SeedNames {
  const people = new Set(seed.accounts?.map(({ name }) => lowerCase(name)));
  const organizations = new Set(seed.organizations?.map(({ name }) => lowerCase(name)));
  const repositories = new Set(seed.repositories?.map(({ name }) => lowerCase(name)));
  return {
    isPerson: (name) => people.has(lowerCase(name)) || userNamed(db, name)?.type === 'user',
    isOwner: (name) =>
      people.has(lowerCase(name)) || organizations.has(lowerCase(name)) || userNamed(db, name) !== undefined,
    isRepository(fullName) {
      if (repositories.has(lowerCase(fullName))) return true;
      const sql = `SELECT 1 AS one FROM repositories r JOIN users o ON o.id = r.owner_id
        WHERE o.lower_name || '/' || r.lower_name = ?`;
      return db.get(sql, lowerCase(fullName)) !== undefined;
    },
  };
}

/** Returns all unknown references and duplicates in a seed, without writing anything. */
function findSeedProblems(seed: Seed, db: Database): readonly SeedProblem[] {
  const problems: SeedProblem[] = [];
  const names = collectNames(seed, db);
  const report = (path: Path, message: string): void => {
    problems.push({ path, message });
  };
  const person = (path: Path, name: string): void => {
    if (!names.isPerson(name)) report(path, `there is no account ${name}`);
  };
  const repository = (path: Path, name: string): void => {
    if (!names.isRepository(name)) report(path, `there is no repository ${name}`);
  };

  findDoubles(seed, report);
  for (const [at, account] of (seed.accounts ?? []).entries()) {
    for (const [star, name] of (account.starred ?? []).entries())
      repository(['accounts', at, 'starred', star], name);
  }
  for (const [at, organization] of (seed.organizations ?? []).entries())
    checkOrganization(organization, ['organizations', at], { person, repository });
  for (const [at, one] of (seed.repositories ?? []).entries()) {
    const path = ['repositories', at];
    const [owner = ''] = one.name.split('/');
    if (!names.isOwner(owner)) report([...path, 'name'], `there is no account or organization ${owner}`);
    const organization = seed.organizations?.find(({ name }) => lowerCase(name) === lowerCase(owner));
    checkRepository(one, path, { person, report, organization });
  }
  for (const [at, runner] of (seed.runners ?? []).entries()) {
    const path = ['runners', at];
    if (runner.repository !== undefined) repository([...path, 'repository'], runner.repository);
    if (runner.owner !== undefined && !names.isOwner(runner.owner))
      report([...path, 'owner'], `there is no organization or account ${runner.owner}`);
    if (runner.repository !== undefined && runner.owner !== undefined)
      report(path, 'a runner has a repository or an owner, not both');
  }
  return problems;
}

function findDoubles(seed: Seed, report: (path: Path, message: string) => void): void {
  const seen = new Set<string>();
  const once = (path: Path, key: string, name: string): void => {
    if (seen.has(key)) report(path, `${name} is made twice`);
    seen.add(key);
  };
  for (const list of ['accounts', 'organizations', 'repositories'] as const) {
    for (const [at, { name }] of (seed[list] ?? []).entries())
      once([list, at, 'name'], lowerCase(name), name);
  }
}

type ReferenceCheck = {
  readonly person: (path: Path, name: string) => void;
  readonly repository: (path: Path, name: string) => void;
};

function checkOrganization(organization: SeedOrganization, path: Path, check: ReferenceCheck): void {
  check.person([...path, 'owner'], organization.owner);
  for (const [at, team] of (organization.teams ?? []).entries()) {
    for (const [place, name] of (team.members ?? []).entries())
      check.person([...path, 'teams', at, 'members', place], name);
    for (const [place, name] of (team.repositories ?? []).entries())
      check.repository([...path, 'teams', at, 'repositories', place], `${organization.name}/${name}`);
  }
}

type RepositoryCheck = {
  readonly person: (path: Path, name: string) => void;
  readonly report: (path: Path, message: string) => void;
  readonly organization: SeedOrganization | undefined;
};

function checkRepository(repository: SeedRepository, path: Path, check: RepositoryCheck): void {
  const { person, report, organization } = check;
  const branches = new Set([repository.default_branch ?? 'main']);
  const needsCommits = ['branches', 'tags', 'pulls'] as const;
  for (const member of needsCommits) {
    if (repository.files === undefined && (repository[member]?.length ?? 0) > 0)
      report([...path, member], 'a repository without files has no commit to start from');
  }
  for (const name of Object.keys(repository.collaborators ?? {}))
    person([...path, 'collaborators', name], name);
  for (const [at, branch] of (repository.branches ?? []).entries()) {
    if (branch.from !== undefined && !branches.has(branch.from))
      report([...path, 'branches', at, 'from'], `there is no branch ${branch.from} before this one`);
    branches.add(branch.name);
  }
  const labels = new Set(
    [...(repository.labels ?? []), ...(organization?.labels ?? [])].map(({ name }) => name),
  );
  const milestones = new Set(repository.milestones?.map(({ title }) => title));
  const conversation = (issue: SeedIssue, place: Path): void => {
    person([...place, 'by'], issue.by);
    for (const [at, name] of (issue.assignees ?? []).entries()) person([...place, 'assignees', at], name);
    for (const [at, { by }] of (issue.comments ?? []).entries()) person([...place, 'comments', at, 'by'], by);
    for (const [at, name] of (issue.labels ?? []).entries()) {
      if (!labels.has(name)) report([...place, 'labels', at], `there is no label ${name}`);
    }
    if (issue.milestone !== undefined && !milestones.has(issue.milestone))
      report([...place, 'milestone'], `there is no milestone ${issue.milestone}`);
  };
  for (const [at, issue] of (repository.issues ?? []).entries()) conversation(issue, [...path, 'issues', at]);
  for (const [at, pull] of (repository.pulls ?? []).entries()) {
    const place = [...path, 'pulls', at];
    conversation(pull, place);
    for (const member of ['head', 'base'] as const) {
      const branch = pull[member];
      if (branch !== undefined && !branches.has(branch))
        report([...place, member], `there is no branch ${branch}`);
    }
    for (const [one, name] of (pull.reviewers ?? []).entries()) person([...place, 'reviewers', one], name);
    for (const [one, { by }] of (pull.reviews ?? []).entries()) person([...place, 'reviews', one, 'by'], by);
    if (pull.merged !== undefined && pull.state !== undefined)
      report([...place, 'state'], 'a merged pull request is closed');
  }
}

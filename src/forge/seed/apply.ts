import type { FastifyInstance } from 'fastify';
import { operations } from '../../contract/operations.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import { userNamed } from '../access/redirects.ts';
import { ensureBadge } from '../accounts/badges.ts';
import { createAccount } from '../accounts/users.ts';
import type { ForgeContext } from '../core/context.ts';
import { replaceRunners, type ToldRunner } from '../runners/registry.ts';
import { createSeedCaller, type SeedCaller } from './caller.ts';
import type { SeedFile } from './file.ts';
import { findSeedProblems } from './references.ts';
import { createSeedRepository, hookBody } from './repository.ts';
import { readRunner, type SeedRunner } from './runner-shape.ts';
import type { Seed, SeedOrganization } from './shape.ts';

const plainPlace = (path: readonly PropertyKey[]): string => path.map(String).join('.');

/**
 * Brings about what a seed says: accounts, organizations, repositories, runners. What is there already, by its name,
 * stays as it is with everything in it; a repository that fails half-way goes again. Throws `usage` with every problem
 * and its place before anything is written, or with the first refusal.
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

/** Makes the runners of the instance those told. Throws `usage` where one belongs to nothing that is there. */
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

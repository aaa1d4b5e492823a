import { operations } from '../../contract/operations.ts';
import { ReeveError } from '../../platform/errors.ts';
import { userNamed } from '../access/redirects.ts';
import type { ForgeContext } from '../core/context.ts';
import type { Making, SeedCaller } from './caller.ts';
import { createConversations } from './conversations.ts';
import type { Seed, SeedHook, SeedRepository } from './shape.ts';

/** Makes a repository of a seed with everything in it, unless it is there; a failure half-way removes it again. */
export async function createSeedRepository(
  context: ForgeContext,
  caller: SeedCaller,
  seed: Seed,
  repository: SeedRepository,
): Promise<void> {
  const [owner = '', repo = ''] = repository.name.split('/');
  if (isThere(context, owner, repo)) return;
  const by = makerOf(context, seed, owner);
  const making = { caller, by, params: { owner, repo }, repository };
  await createEmpty(context, making);
  try {
    await giveToTeams(context, seed, making);
    await fill(making);
  } catch (error) {
    await caller.call(by, operations.deleteRepository, { params: making.params });
    throw error;
  }
}

function isThere({ db }: ForgeContext, owner: string, name: string): boolean {
  const sql = `SELECT 1 AS one FROM repositories r JOIN users o ON o.id = r.owner_id
    WHERE o.lower_name = ? AND r.lower_name = ?`;
  return db.get(sql, owner.toLowerCase(), name.toLowerCase()) !== undefined;
}

/** An account makes its own repositories; those of an organization are made by an owner of it. */
function makerOf({ db }: ForgeContext, seed: Seed, owner: string): string {
  const told = seed.organizations?.find(({ name }) => name.toLowerCase() === owner.toLowerCase());
  if (told) return told.owner;
  const row = userNamed(db, owner);
  if (row?.type === 'user') return row.name;
  const first = db.get<{ name: string }>(
    `SELECT u.name FROM team_members m JOIN teams t ON t.id = m.team_id JOIN users u ON u.id = m.user_id
     WHERE m.org_id = ? AND t.permission = 'owner' ORDER BY u.id LIMIT 1`,
    row?.id,
  );
  if (!first) throw new ReeveError('usage', `${owner} has no owner`);
  return first.name;
}

async function createEmpty(context: ForgeContext, { caller, by, params, repository }: Making): Promise<void> {
  const { description, private: isPrivate, template, default_branch } = repository;
  const body = { name: params.repo, description, private: isPrivate, template, default_branch };
  if (userNamed(context.db, params.owner)?.type === 'organization') {
    await caller.call(by, operations.createOrganizationRepository, { params: { org: params.owner }, body });
  } else await caller.call(by, operations.createRepository, { body });
}

/** Before its content: accounts that are assigned to its issues must have access by then. */
async function giveToTeams(context: ForgeContext, seed: Seed, { caller, by, params }: Making): Promise<void> {
  const isNamed = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();
  const organization = seed.organizations?.find(({ name }) => isNamed(name, params.owner));
  for (const { name, repositories = [] } of organization?.teams ?? []) {
    if (!repositories.some((repository) => isNamed(repository, params.repo))) continue;
    const row = context.db.get<{ id: number }>(
      'SELECT t.id FROM teams t JOIN users o ON o.id = t.org_id WHERE o.lower_name = ? AND t.lower_name = ?',
      params.owner.toLowerCase(),
      name.toLowerCase(),
    );
    if (!row) throw new ReeveError('usage', `the organization has no team ${name}`);
    const at = { id: row.id, org: params.owner, repo: params.repo };
    await caller.call(by, operations.putTeamRepository, { params: at });
  }
}

async function fill(making: Making): Promise<void> {
  const { caller, by, params, repository } = making;
  for (const [collaborator, permission] of Object.entries(repository.collaborators ?? {})) {
    const at = { ...params, collaborator };
    await caller.call(by, operations.putCollaborator, { params: at, body: { permission } });
  }
  await writeHistory(making);
  for (const [title, text] of Object.entries(repository.wiki ?? {})) {
    const body = { title, content_base64: toBase64(text) };
    await caller.call(by, operations.createWikiPage, { params, body });
  }
  for (const body of repository.labels ?? []) await caller.call(by, operations.createLabel, { params, body });
  for (const { state, ...body } of repository.milestones ?? []) {
    await caller.call(by, operations.createMilestone, { params, body: { ...body, state } });
  }
  for (const hook of repository.hooks ?? []) {
    await caller.call(by, operations.createHook, { params, body: hookBody(hook) });
  }
  await createConversations(making);
  for (const body of repository.protections ?? []) {
    await caller.call(by, operations.createBranchProtection, { params, body });
  }
  if (repository.archived)
    await caller.call(by, operations.editRepository, { params, body: { archived: true } });
}

async function writeHistory({ caller, by, params, repository }: Making): Promise<void> {
  const commit = async (files: Record<string, string>, message: string, branch?: string): Promise<void> => {
    const edits = Object.entries(files).map(([path, text]) => ({
      operation: 'upload',
      path,
      content: toBase64(text),
    }));
    await caller.call(by, operations.changeFiles, { params, body: { message, branch, files: edits } });
  };
  if (repository.files) await commit(repository.files, 'Initial commit', repository.default_branch ?? 'main');
  for (const { name, from, files, message } of repository.branches ?? []) {
    const body = { new_branch_name: name, ...(from === undefined ? {} : { old_ref_name: from }) };
    await caller.call(by, operations.createBranch, { params, body });
    if (files) await commit(files, message ?? `Work on ${name}`, name);
  }
  for (const { name, target, message } of repository.tags ?? []) {
    await caller.call(by, operations.createTag, { params, body: { tag_name: name, target, message } });
  }
}

/** Returns the body that makes a hook of a seed; it is active unless the seed says otherwise. */
export function hookBody({
  url,
  type = 'gitea',
  content_type = 'json',
  secret,
  active = true,
  ...rest
}: SeedHook) {
  return {
    type,
    config: { url, content_type, ...(secret === undefined ? {} : { secret }) },
    active,
    ...rest,
  };
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}

import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import {
  type AnswerOf,
  type AnyInput,
  fillPath,
  type InputOf,
  type Operation,
} from '../../contract/operation.ts';
import { operations } from '../../contract/operations.ts';
import { ReeveError } from '../../platform/errors.ts';
import { tokenDigest } from '../platform/access/actor.ts';
import { userNamed } from '../platform/access/redirects.ts';
import type { ForgeContext } from '../platform/context.ts';
import { secondsOf } from '../platform/time.ts';
import type { Seed, SeedHook, SeedIssue, SeedPull, SeedRepository } from './seed-shape.ts';

/** Calls operations of this forge as the users of a seed, so that a seed creates only what a client could create. */
export interface SeedCaller {
  /** Returns the response; throws `usage` with the forge's message if the operation is refused. */
  call<O extends Operation>(name: string, operation: O, input: InputOf<O>): Promise<AnswerOf<O>>;
  /** Revokes the users' credentials. */
  close(): void;
}

/** A seed repository during its creation: its creator and its path parameters. */
type Making = {
  readonly caller: SeedCaller;
  readonly by: string;
  readonly params: { readonly owner: string; readonly repo: string };
  readonly repository: SeedRepository;
};

/** Creates the caller. Each user gets a token while the seed runs; the tokens are never shown. */
export function createSeedCaller(app: FastifyInstance, context: ForgeContext): SeedCaller {
  const { db, clock } = context;
  const tokens = new Map<string, { id: number; secret: string }>();

  function tokenOf(name: string): string {
    const known = tokens.get(name.toLowerCase());
    if (known) return known.secret;
    const user = userNamed(db, name);
    if (!user) throw new ReeveError('usage', `there is no account ${name}`);
    const secret = randomBytes(20).toString('hex');
    const { lastId } = db.run(
      'INSERT INTO tokens (user_id, name, digest, last_eight, scopes, created_at) VALUES (?, ?, ?, ?, ?, ?)',
      user.id,
      `seed-${secret.slice(0, 8)}`,
      tokenDigest(secret),
      secret.slice(-8),
      '["all"]',
      secondsOf(clock()),
    );
    tokens.set(name.toLowerCase(), { id: lastId, secret });
    return secret;
  }

  return {
    async call<O extends Operation>(name: string, operation: O, input: InputOf<O>) {
      // The operation's type has already checked the input; only its fields are used here.
      const { params, query, body } = input as AnyInput;
      const path = fillPath(operation, params);
      const search = new URLSearchParams(
        Object.entries(query ?? {}).map(([member, value]) => [member, String(value)]),
      );
      const answer = await app.inject({
        method: operation.method,
        url: `/api/v1${path}?${search}`,
        headers: { authorization: `token ${tokenOf(name)}`, 'content-type': 'application/json' },
        ...(operation.body ? { payload: JSON.stringify(body ?? {}) } : {}),
      });
      if (answer.statusCode >= 300) {
        throw new ReeveError(
          'usage',
          `${operation.method} ${path} as ${name}: ${answer.statusCode} ${answer.body.slice(0, 300)}`,
        );
      }
      const shaped = operation.response?.parse(answer.body === '' ? null : answer.json());
      return shaped as AnswerOf<O>;
    },
    close() {
      for (const { id } of tokens.values()) db.run('DELETE FROM tokens WHERE id = ?', id);
      tokens.clear();
    },
  };
}

/** Creates a repository of a seed with its content, unless it exists. If its creation fails, it is removed again. */
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

/** Returns the account that creates a repository: its owner, or an owner of the organization. */
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

/**
 * Gives teams access to the repository. Called before the content is created, because assignees of issues need access.
 */
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

/** Returns the request body that creates a webhook of a seed, which is active unless the seed says otherwise. */
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

type Ids = { readonly labels: ReadonlyMap<string, number>; readonly milestones: ReadonlyMap<string, number> };

/** Creates the issues of a repository, then its pull requests, each on behalf of its own author. */
async function createConversations(making: Making): Promise<void> {
  const { issues = [], pulls = [] } = making.repository;
  if (issues.length + pulls.length === 0) return;
  const ids = await readIds(making);
  for (const issue of issues) await createIssue(making, ids, issue);
  for (const pull of pulls) await createPull(making, ids, pull);
}

/**
 * Returns the ids of labels and milestones. Labels of the organization count as well; if names are equal, the
 * repository's label wins.
 */
async function readIds({ caller, by, params, repository }: Making): Promise<Ids> {
  const wanted = new Set(
    [...(repository.issues ?? []), ...(repository.pulls ?? [])].flatMap(({ labels }) => labels ?? []),
  );
  const own = new Set(repository.labels?.map(({ name }) => name));
  const labels = new Map<string, number>();
  const milestones = new Map<string, number>();
  const isShared = [...wanted].some((name) => !own.has(name));
  if (isShared) {
    const at = { org: params.owner };
    await forEachPage(async (query) => {
      const page = await caller.call(by, operations.listOrganizationLabels, { params: at, query });
      for (const { name, id } of page) labels.set(name, id);
      return page.length;
    });
  }
  await forEachPage(async (query) => {
    const page = await caller.call(by, operations.listLabels, { params, query });
    for (const { name, id } of page) labels.set(name, id);
    return page.length;
  });
  for (const { title } of repository.milestones ?? []) {
    const at = { params: { ...params, id: title } };
    milestones.set(title, (await caller.call(by, operations.getMilestone, at)).id);
  }
  return { labels, milestones };
}

async function forEachPage(read: (query: { page: number; limit: number }) => Promise<number>): Promise<void> {
  for (let page = 1; (await read({ page, limit: 50 })) > 0; ) page += 1;
}

/** Returns the request body that opens an issue or pull request. */
function opening(issue: SeedIssue) {
  return { title: issue.title, body: issue.body, assignees: issue.assignees, due_date: issue.due_date };
}

/**
 * Adds labels, milestone, assignees, due date and comments. The repository's creator sets the labels and the milestone:
 * those set by an author with only read access would be silently dropped.
 */
async function dress(making: Making, ids: Ids, issue: SeedIssue, index: number): Promise<void> {
  const { caller, by, params } = making;
  const at = { ...params, index };
  const labels = (issue.labels ?? []).map((name) => idOf(ids.labels, name));
  if (labels.length > 0) await caller.call(by, operations.addIssueLabels, { params: at, body: { labels } });
  const body = {
    ...(issue.milestone === undefined ? {} : { milestone: idOf(ids.milestones, issue.milestone) }),
    ...(issue.assignees === undefined ? {} : { assignees: issue.assignees }),
    ...(issue.due_date === undefined ? {} : { due_date: issue.due_date }),
  };
  if (Object.keys(body).length > 0) await caller.call(by, operations.editIssue, { params: at, body });
  for (const comment of issue.comments ?? []) {
    const said = { body: comment.body };
    await caller.call(comment.by, operations.createComment, { params: at, body: said });
  }
}

function idOf(ids: ReadonlyMap<string, number>, name: string): number {
  const id = ids.get(name);
  if (id === undefined) throw new ReeveError('usage', `the repository has no label or milestone "${name}"`);
  return id;
}

async function createIssue(making: Making, ids: Ids, issue: SeedIssue): Promise<void> {
  const { caller, by, params } = making;
  const { title, body } = opening(issue);
  const { number } = await caller.call(issue.by, operations.createIssue, { params, body: { title, body } });
  await dress(making, ids, issue, number);
  if (issue.state === 'closed') {
    const at = { ...params, index: number };
    await caller.call(by, operations.editIssue, { params: at, body: { state: 'closed' } });
  }
}

async function createPull(making: Making, ids: Ids, pull: SeedPull): Promise<void> {
  const { caller, by, params, repository } = making;
  const { title, body } = opening(pull);
  const base = pull.base ?? repository.default_branch ?? 'main';
  const made = await caller.call(pull.by, operations.createPull, {
    params,
    body: { title, body, head: pull.head, base },
  });
  const at = { ...params, index: made.number };
  await dress(making, ids, pull, made.number);
  if (pull.reviewers) {
    await caller.call(by, operations.requestReviews, { params: at, body: { reviewers: pull.reviewers } });
  }
  for (const status of pull.statuses ?? []) {
    const commit = { ...params, sha: made.head?.sha ?? '' };
    await caller.call(by, operations.createStatus, { params: commit, body: status });
  }
  for (const { by: reviewer, ...review } of pull.reviews ?? []) {
    await caller.call(reviewer, operations.createReview, { params: at, body: review });
  }
  if (pull.merged) await caller.call(by, operations.mergePull, { params: at, body: { do: pull.merged } });
  else if (pull.state === 'closed')
    await caller.call(by, operations.editPull, { params: at, body: { state: 'closed' } });
}

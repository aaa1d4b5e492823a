import { randomBytes } from 'node:crypto';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { PageRange } from '../platform/paging.ts';
import { secondsOf } from '../platform/time.ts';
import { findRunner, listRunners, type RunnerHolder, toRunner } from './runners-service.ts';

type HolderListing = {
  readonly context: ForgeContext;
  readonly page: PageRange;
  readonly query: { readonly disabled?: boolean | undefined };
};
type Naming = { readonly context: ForgeContext; readonly params: { readonly runner_id: number } };

function listForHolder({ context, page, query }: HolderListing, holder: RunnerHolder) {
  const { runners, total } = listRunners(context, holder, { ...page, disabled: query.disabled });
  const now = context.clock();
  return { runners: runners.map((runner) => toRunner(runner, now)), total_count: total };
}

function show({ context, params }: Naming, holder: RunnerHolder) {
  const runner = found(findRunner(context, holder, params.runner_id), 'No permission to access this runner');
  return toRunner(runner, context.clock());
}

function edit(
  call: Naming & { readonly body: { readonly disabled?: boolean | undefined } },
  holder: RunnerHolder,
) {
  const { id } = show(call, holder);
  // Checked after the lookup, so that an unknown runner ends the request with 404.
  if (call.body.disabled === undefined) throw new ForgeProblem(422, '[disabled]: Required');
  call.context.db.run('UPDATE runners SET is_disabled = ? WHERE id = ?', call.body.disabled, id);
  return show(call, holder);
}

function remove(call: Naming, holder: RunnerHolder): undefined {
  call.context.db.run('DELETE FROM runners WHERE id = ?', show(call, holder).id);
}

/**
 * Returns the registration token of an owner, the same on every call. It is valid until it is reset, which no operation
 * of the API does.
 */
function register({ context }: { readonly context: ForgeContext }, holder: RunnerHolder) {
  const { db, clock } = context;
  const repositoryId = holder.column === 'repo_id' ? holder.id : null;
  const ownerId = holder.column === 'owner_id' ? holder.id : null;
  const known = db.get<{ token: string }>(
    'SELECT token FROM runner_tokens WHERE repo_id IS ? AND owner_id IS ? ORDER BY id DESC LIMIT 1',
    repositoryId,
    ownerId,
  );
  if (known) return known;
  const token = randomBytes(20).toString('hex');
  db.run(
    'INSERT INTO runner_tokens (repo_id, owner_id, token, created_at) VALUES (?, ?, ?, ?)',
    repositoryId,
    ownerId,
    token,
    secondsOf(clock()),
  );
  return { token };
}

const ofOrganization = (call: { readonly organization: { readonly id: number } }): RunnerHolder => ({
  column: 'owner_id',
  id: call.organization.id,
});
const ofRepository = (call: { readonly repository: { readonly id: number } }): RunnerHolder => ({
  column: 'repo_id',
  id: call.repository.id,
});
const ofCaller = (call: { readonly caller: { readonly id: number } }): RunnerHolder => ({
  column: 'owner_id',
  id: call.caller.id,
});
const ofSite: RunnerHolder = { column: 'all' };

/** Handlers that read, disable and remove runners. Runners are created through a seed or the control routes. */
export const runnerHandlers = defineHandlers({
  listOrganizationRunners: (call) => listForHolder(call, ofOrganization(call)),
  getOrganizationRunner: (call) => show(call, ofOrganization(call)),
  editOrganizationRunner: (call) => edit(call, ofOrganization(call)),
  deleteOrganizationRunner: (call) => remove(call, ofOrganization(call)),
  createOrganizationRunnerToken: (call) => register(call, ofOrganization(call)),
  getOrganizationRunnerToken: (call) => register(call, ofOrganization(call)),
  listRepositoryRunners: (call) => listForHolder(call, ofRepository(call)),
  getRepositoryRunner: (call) => show(call, ofRepository(call)),
  editRepositoryRunner: (call) => edit(call, ofRepository(call)),
  deleteRepositoryRunner: (call) => remove(call, ofRepository(call)),
  createRepositoryRunnerToken: (call) => register(call, ofRepository(call)),
  getRepositoryRunnerToken: (call) => register(call, ofRepository(call)),
  listOwnRunners: (call) => listForHolder(call, ofCaller(call)),
  getOwnRunner: (call) => show(call, ofCaller(call)),
  editOwnRunner: (call) => edit(call, ofCaller(call)),
  deleteOwnRunner: (call) => remove(call, ofCaller(call)),
  createOwnRunnerToken: (call) => register(call, ofCaller(call)),
  getOwnRunnerToken: (call) => register(call, ofCaller(call)),
  listSiteRunners: (call) => listForHolder(call, ofSite),
  getSiteRunner: (call) => show(call, ofSite),
  editSiteRunner: (call) => edit(call, ofSite),
  deleteSiteRunner: (call) => remove(call, ofSite),
  createSiteRunnerToken: (call) => register(call, ofSite),
  getSiteRunnerToken: (call) => register(call, ofSite),
});

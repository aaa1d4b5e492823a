import { type FoundPull, findPull } from '../access/find-issue.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import { toChangedFile, toEntries, toEntry } from '../code/compare.ts';
import { findHead } from '../code/head-repository.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { PageRange } from '../core/paging.ts';
import { listChanges } from '../git/changes.ts';
import { countCommits, listCommits } from '../git/history.ts';
import { defineHandlers, type Reply } from '../http/handler.ts';
import { requireAuthorOrWriter } from '../issues/issues.ts';
import { checkPull } from '../pull-sync/checks.ts';
import { repositoryAddress } from '../views/commit.ts';
import { toPull, toPulls } from '../views/pull.ts';
import { openPull } from './create.ts';
import { changePull } from './edit.ts';
import { findByBranches, listPullRows } from './list.ts';

/** What answers for pull requests; their labels, comments and state of discussion are those of issues. */
export const pullHandlers = defineHandlers({
  listPulls(call) {
    const { context, query, page, caller, reply } = call;
    // A repository without a commit has no pull requests, not even an empty list.
    if (call.repository.is_empty === 1) throw new ForgeProblem(404, 'not found');
    const { pulls, total } = listPullRows(context, call, query, page);
    reply.total(total);
    return toPulls(context, pulls, { ...call, viewer: caller });
  },

  getPull: async (call) => {
    const { issue } = await findChecked(call.context, call, call.params.index);
    return toPull(call.context, issue, { ...call, viewer: call.caller });
  },

  async getPullByBranches(call) {
    const { context, params, caller } = call;
    const head = findHead(context, call, params.head, caller);
    const branches = {
      baseId: call.repository.id,
      base: params.base,
      headId: head.repository.id,
      head: head.name,
    };
    const number = found(findByBranches(context, branches, { openOnly: false }));
    const { issue } = await findChecked(context, call, number);
    return toPull(context, issue, { ...call, viewer: caller });
  },

  async createPull(call) {
    const issue = await openPull(call, call.body);
    const { issue: row } = findPull(call.context, call, issue.number);
    return toPull(call.context, row, { ...call, viewer: call.caller });
  },

  async editPull(call) {
    const { context, params, caller } = call;
    requireAuthorOrWriter(call, caller, findPull(context, call, params.index).issue.poster_id);
    await changePull(call, params.index, call.body);
    return toPull(context, findPull(context, call, params.index).issue, { ...call, viewer: caller });
  },

  async listPullFiles({ context, params, page, reply, ...target }) {
    const { pull } = await findChecked(context, target, params.index);
    const git = context.git.open(target.repository.id);
    const changes = await listChanges(git, pull.merge_base, pull.head_sha);
    addPagingHeaders(reply, page, changes.length);
    const address = repositoryAddress(context.rootUrl(), target.owner.name, target.repository.name);
    return changes
      .slice(page.offset, page.offset + page.limit)
      .map((change) => toChangedFile(address, change, pull.head_sha));
  },

  async listPullCommits({ context, params, page, reply, caller, ...target }) {
    const { pull } = await findChecked(context, target, params.index);
    const git = context.git.open(target.repository.id);
    const stretch = { from: pull.merge_base, to: pull.head_sha };
    addPagingHeaders(reply, page, await countCommits(git, stretch));
    const commits = await listCommits(git, stretch, { skip: page.offset, limit: page.limit });
    const address = repositoryAddress(context.rootUrl(), target.owner.name, target.repository.name);
    return toEntries(git, commits, (commit) => toEntry(context, address, commit));
  },
});

/** Returns both sides of a pull request that is not being checked any more. */
async function findChecked(
  context: ForgeContext,
  target: RepositoryTarget,
  number: number,
): Promise<FoundPull> {
  const { pull } = findPull(context, target, number);
  if (pull.status === 'checking') await checkPull(context, pull.id);
  return findPull(context, target, number);
}

/** Two lists tell their place in headers of their own beside the usual ones. */
function addPagingHeaders(reply: Reply, page: PageRange, total: number): void {
  reply.total(total);
  const last = Math.ceil(total / page.limit);
  reply.header('X-Page', String(page.page));
  reply.header('X-PerPage', String(page.limit));
  reply.header('X-PageCount', String(last));
  reply.header('X-HasMore', String(page.page < last));
}

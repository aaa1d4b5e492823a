import type { Client } from '../../../src/client/client.ts';
import { operations } from '../../../src/contract/operations.ts';
import type { At } from './event-history.ts';

type Value = Readonly<Record<string, unknown>>;

/** Fields that are left out: they contain times, addresses or numbers, or follow from other data that is compared. */
const passing =
  /^(id|.*_at|.*url|uid|node_id|size|.*_count|.*_counter|comments|watchers.*|priority|repository|repo|created|updated)$/;

/**
 * Returns the contents of a forge, read over HTTP, without numbers, times and addresses. In the repository `ops`, to
 * which the bot reports, only open issues count: an issue that was opened and closed again is history. Comments that
 * contain one of the `ignored` markers are left out.
 */
export async function stateOf(client: Client, bot: Client, ignored: readonly string[]): Promise<Value> {
  const found: Record<string, unknown> = {};
  found.organization = plain(await client.call(operations.getOrganization, { params: { org: 'acme' } }));
  for await (const { name } of client.items(operations.listOrganizationRepositories, {
    params: { org: 'acme' },
  })) {
    const at: At = { owner: 'acme', repo: name };
    found[name] = name === 'ops' ? await reportsOf(client, at) : await repositoryState(client, at, ignored);
  }
  const threads: string[] = [];
  const all = { query: { 'status-types': ['unread', 'read', 'pinned'] } };
  for await (const { subject, repository, unread, pinned } of bot.items(operations.listNotifications, all))
    threads.push(
      `${repository?.full_name} ${subject?.type} ${subject?.title}: ${unread} ${pinned} ${subject?.state}`,
    );
  found.notifications = threads.toSorted();
  return found;
}

async function reportsOf(client: Client, at: At): Promise<readonly string[]> {
  const open = await client.call(operations.listIssues, { params: at, query: { state: 'open' } });
  return open.map(({ title }) => title ?? '').toSorted();
}

async function repositoryState(client: Client, at: At, ignored: readonly string[]): Promise<Value> {
  const params = at;
  const items: Record<string, unknown> = {};
  for await (const { number, pull_request } of client.items(operations.listIssues, {
    params,
    query: { state: 'all' },
  }))
    items[number] = await itemState(
      client,
      { ...at, index: number },
      { isPull: Boolean(pull_request), ignored },
    );
  const names = async (list: AsyncIterable<{ name: string }>): Promise<readonly string[]> => {
    const all: string[] = [];
    for await (const { name } of list) all.push(name);
    return all.toSorted();
  };
  const hooks = await client.call(operations.listHooks, { params });
  return {
    settings: plain({ ...(await client.call(operations.getRepository, { params })), owner: undefined }),
    labels: sorted((await client.call(operations.listLabels, { params, query: { limit: 50 } })).map(plain)),
    branches: await names(client.items(operations.listBranches, { params })),
    tags: await names(client.items(operations.listTags, { params })),
    branchProtections: sorted((await client.call(operations.listBranchProtections, { params })).map(plain)),
    tagProtections: sorted((await client.call(operations.listTagProtections, { params })).map(plain)),
    hooks: sorted(hooks.map(({ active, events, branch_filter }) => ({ active, events, branch_filter }))),
    items,
  };
}

async function itemState(
  client: Client,
  params: At & { index: number },
  { isPull, ignored }: { isPull: boolean; ignored: readonly string[] },
): Promise<Value> {
  const { title, body, state, labels } = await client.call(operations.getIssue, { params });
  const comments = await client.call(operations.listComments, { params });
  const dependencies = await client.call(operations.listDependencies, { params });
  const shared = {
    title,
    body,
    state,
    labels: (labels ?? []).map(({ name }) => name).toSorted(),
    comments: comments
      .map((comment) => `${comment.user?.login}: ${comment.body}`)
      .filter((text) => !ignored.some((marker) => text.includes(marker)))
      // After catching up, rules handle events together that originally occurred one after another, so the order of
      // their comments differs.
      .toSorted(),
    dependencies: dependencies.map(({ number }) => number).toSorted(),
  };
  if (!isPull) return shared;
  const { merged, draft, head } = await client.call(operations.getPull, { params });
  const reviews = await client.call(operations.listReviews, { params });
  const statuses = await client.call(operations.getCombinedStatus, {
    params: { ...params, ref: head?.sha ?? '' },
  });
  return {
    ...shared,
    merged,
    draft,
    // A review is requested while the pull request is open. A pull request that was closed meanwhile has no request,
    // and a late request is not stale.
    reviews: reviews
      .filter(({ state: said }) => said !== 'REQUEST_REVIEW')
      .map(({ user, state: said, stale, dismissed }) => ({
        by: user?.login,
        said,
        stale,
        // Forges refuse (403) to dismiss a review of a closed pull request, so catching up cannot dismiss it.
        dismissed: state === 'open' ? dismissed : 'closed',
      })),
    statuses: sorted(
      (statuses.statuses ?? []).map(({ context, status, description }) => ({ context, status, description })),
    ),
  };
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !passing.test(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, plain(inner)]));
}

/** Sorts lists whose order has no meaning. */
function sorted<Item>(items: readonly Item[]): readonly Item[] {
  return items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

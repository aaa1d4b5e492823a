import type { Client } from '../../../client/client.ts';
import { operations } from '../../../contract/operations.ts';
import { ReeveError } from '../../../platform/errors.ts';
import type { CurrentItem, CurrentRepository, CurrentTag } from './difference.ts';
import { type ItemSnapshot, type RepositorySnapshot, toItemSnapshot } from './snapshot.ts';

/**
 * Reads what a repository is like: its branches, its tags, its open pull requests, and what changed since it was last
 * seen, or its open issues where it never was. Four lists, one request for each pull request that was closed since, and one for
 * each that was opened since and is not as it was opened.
 */
export async function readCurrent(
  { login, name }: { readonly login: string; readonly name: string },
  client: Client,
  before: RepositorySnapshot | undefined,
): Promise<CurrentRepository> {
  const params = { owner: login, repo: name };
  const refs: Record<string, string> = {};
  for await (const branch of client.items(operations.listBranches, { params })) {
    if (branch.commit?.id) refs[branch.name] = branch.commit.id;
  }
  const tags: Record<string, CurrentTag> = {};
  for await (const tag of client.items(operations.listTags, { params })) {
    const commit = tag.commit?.sha ?? tag.id;
    if (commit) tags[tag.name] = { id: tag.id ?? commit, commit };
  }
  const items = new Map<number, CurrentItem>();
  const add = (kind: ItemSnapshot['kind'], number: number, value: object): void => {
    items.set(number, { kind, number, value: value as Readonly<Record<string, unknown>> });
  };
  for await (const pull of client.items(operations.listPulls, { params, query: { state: 'open' } })) {
    add('pull_request', pull.number, pull);
  }
  // Issues of the first sight are the open ones; later, whatever changed, and the pull requests that are open no more.
  const query = before === undefined ? { state: 'open', type: 'issues' } : { state: 'all', since: before.at };
  for await (const issue of client.items(operations.listIssues, { params, query })) {
    if (!issue.pull_request) add('issue', issue.number, issue);
    else if (!items.has(issue.number) && isNews(issue, before)) {
      const index = issue.number;
      add('pull_request', index, await client.call(operations.getPull, { params: { ...params, index } }));
    }
  }
  for (const [number, item] of items) {
    if (before === undefined || !(await hasMoved(item, { client, params, before }))) continue;
    items.set(number, { ...item, hasMoved: true });
  }
  return { refs, tags, items: [...items.values()] };
}

/** Says whether a pull request that was not known before was pushed to since: its newest commit is younger than it. */
async function hasMoved(
  { kind, number, value }: CurrentItem,
  {
    client,
    params,
    before,
  }: { client: Client; params: { owner: string; repo: string }; before: RepositorySnapshot },
): Promise<boolean> {
  const [createdMs, updatedMs] = [value.created_at, value.updated_at].map((at) => Date.parse(String(at)));
  const sha = toItemSnapshot(value, kind)?.head;
  if (sha === undefined || before.items[number] !== undefined || createdMs === updatedMs) return false;
  try {
    const query = { stat: false, verification: false, files: false };
    const { created } = await client.call(operations.getCommit, { params: { ...params, sha }, query });
    return Date.parse(created ?? '') > Math.max(createdMs ?? 0, Date.parse(before.at));
  } catch (error) {
    // A head that is gone has nothing to tell.
    if (error instanceof ReeveError && error.code === 'forge-not-found') return false;
    throw error;
  }
}

/** The bound of a listing includes its instant, so that what is known comes again. */
function isNews(
  { number, updated_at }: { number: number; updated_at?: string | null | undefined },
  before: RepositorySnapshot | undefined,
): boolean {
  const known = before?.items[number];
  return known === undefined || Date.parse(known.updated) !== Date.parse(updated_at ?? '');
}

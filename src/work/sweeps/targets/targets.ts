import type { Client } from '../../../client/client.ts';
import type { ListPage } from '../../../client/paging.ts';
import type { RepositoryRef, Subject } from '../../../contract/events/subject.ts';
import { operations } from '../../../contract/operations.ts';
import { itemOf } from '../../../facts/item.ts';
import type { Each, LoadedRule } from '../../../rules/rule.ts';
import { targetsInNotifications } from './notifications.ts';
import {
  countRepositories,
  failuresIn,
  freshPages,
  type ListPosition,
  servedRepositories,
  type Target,
  type TargetPage,
  toRepositoryRef,
  type Walk,
} from './repositories.ts';
import { targetsInRunners } from './runners.ts';

/**
 * Yields the items of `each`, page by page, from the position at which an earlier attempt stopped. Keeps at most one
 * page.
 */
export function eachTarget(each: LoadedRule['each'], walk: Walk): AsyncGenerator<TargetPage> {
  const [first] = each ?? [];
  switch (first?.kind) {
    case undefined:
    case 'repository':
      return ofRepositories(walk);
    case 'organization':
      return ofOrganizations(walk);
    case 'notification':
      return targetsInNotifications(first, walk);
    case 'runner':
      return targetsInRunners(walk);
    default:
      return targetsInRepositories(each ?? [], walk);
  }
}

/** Totals of a sweep that are known in advance. */
export type Totals = { readonly items?: number | undefined; readonly repositories?: number | undefined };

/**
 * Counts what a sweep will visit, for a progress bar: repositories, or for items in repositories the repositories that
 * contain them. Costs one listing of the served repositories; nothing else is counted.
 */
export async function countTotals(each: LoadedRule['each'], walk: Walk): Promise<Totals> {
  switch (each?.[0]?.kind) {
    case undefined:
    case 'repository':
      return { items: await countRepositories(walk) };
    case 'organization':
    case 'notification':
    case 'runner':
      return {};
    default:
      return { repositories: await countRepositories(walk) };
  }
}

async function* ofRepositories(walk: Walk): AsyncGenerator<TargetPage> {
  const from = walk.from as ListPosition | undefined;
  for await (const page of servedRepositories(walk.client, walk.served, from)) {
    const targets = page.repositories
      .map((repository): Target => {
        const ref = toRepositoryRef(repository);
        const isArchived = repository.archived ? { isArchived: true as const } : {};
        const subject: Subject = { kind: 'repository', repository: ref, ...isArchived };
        return { key: `${ref.owner}/${ref.name}`, subject, item: { repository } };
      })
      .filter(({ subject }) => walk.isInScope(subject));
    // If some repositories are left out, the total is unknown before the end.
    const isWhole = targets.length === page.repositories.length;
    const failures = failuresIn(page, walk.isInScope);
    yield { targets, next: page.following, total: isWhole ? page.total : undefined, failures };
  }
}

/**
 * Yields the organizations of the account. If the rule names an organization that the account is not a member of, this
 * is a failure.
 */
async function* ofOrganizations(walk: Walk): AsyncGenerator<TargetPage> {
  const from = (walk.from as { page: number } | undefined)?.page;
  let next = from ?? 1;
  const named = from === undefined ? organizationsNamedBy(walk) : new Set<string>();
  for await (const { items, page, total } of walk.client.pages(operations.listOwnOrganizations, {}, from)) {
    for (const { name } of items) named.delete(name.toLowerCase());
    const targets = items
      .map((organization): Target => {
        const { name } = organization;
        return {
          key: name,
          subject: { kind: 'organization', organization: name },
          item: { organization },
        };
      })
      .filter(({ subject }) => walk.isInScope(subject));
    next = page + 1;
    yield { targets, next: { page: next }, total };
  }
  const failures = [...named].map((item) => ({
    item,
    error: new Error('the account is not a member of it'),
  }));
  if (failures.length > 0) yield { targets: [], next: { page: next }, failures };
}

/**
 * Returns the names, in lower case, of organizations that the rule's patterns name in full (`acme/*`) and do not
 * exclude.
 */
function organizationsNamedBy({ rule, isInScope }: Walk): Set<string> {
  const written = rule.scopes.flatMap((scope) => scope.written);
  const names = written.flatMap((pattern) => /^([^!*?[\]{}/]+)\/\*{1,2}$/.exec(pattern)?.[1] ?? []);
  return new Set(
    names
      .filter((organization) => isInScope({ kind: 'organization', organization }))
      .map((name) => name.toLowerCase()),
  );
}

/** Number of repositories whose first pages are requested concurrently. */
const atOnce = 8;

/**
 * Position among repositories: the page of repositories, the number of repositories already processed on it, and the
 * page within the long list of one of the next repositories.
 */
type RepositoriesPosition = ListPosition & {
  readonly done: number;
  readonly inside?: { readonly repository: number; readonly page: number };
};

/**
 * Yields the pull requests, issues, branches or milestones of the served repositories. The first pages of several
 * repositories are yielded together; a repository with more pages follows page by page. A repository that cannot be
 * listed is reported as a failure.
 */
async function* targetsInRepositories(each: readonly Each[], walk: Walk): AsyncGenerator<TargetPage> {
  const from = walk.from as RepositoriesPosition | undefined;
  for await (const page of servedRepositories(walk.client, walk.served, from)) {
    const isFirst = from?.source === page.place.source && from.page === page.place.page;
    const refs = page.repositories
      .map(toRepositoryRef)
      .filter((repository) => walk.isInScope({ kind: 'repository', repository }));
    let done = isFirst ? from.done : 0;
    let inside = isFirst ? from.inside : undefined;
    for (; done < refs.length; done += atOnce) {
      yield* ofSome(refs.slice(done, done + atOnce), { each, walk, place: { ...page.place, done }, inside });
      inside = undefined;
    }
    const failures = failuresIn(page, walk.isInScope);
    yield { targets: [], next: { ...page.following, done: 0 }, failures };
  }
}

type Some = {
  readonly each: readonly Each[];
  readonly walk: Walk;
  readonly place: RepositoriesPosition;
  readonly inside: RepositoriesPosition['inside'];
};

async function* ofSome(refs: readonly RepositoryRef[], some: Some): AsyncGenerator<TargetPage> {
  const { each, walk, place, inside } = some;
  const skipped = inside ? refs.findIndex(({ id }) => id === inside.repository) : -1;
  const lists = refs.slice(Math.max(skipped, 0)).map((ref) => {
    const start = inside === undefined ? 1 : ref.id === inside.repository ? inside.page : 2;
    return { ref, pages: listOf(each, ref, { client: walk.client, from: start }) };
  });
  const firsts = await Promise.all(lists.map(async (list) => ({ ...list, first: await step(list.pages) })));
  const [longest] = firsts.filter(({ first }) => 'page' in first);
  yield {
    // After a crash within a long list, these repositories were reached before.
    reached: inside === undefined ? refs.length : 0,
    targets: firsts.flatMap(({ first }) => ('page' in first ? first.page.items : [])),
    failures: firsts.flatMap(({ ref, first }) => ('error' in first ? [failureAt(ref, first.error)] : [])),
    next: longest
      ? { ...place, inside: { repository: longest.ref.id, page: (inside?.page ?? 1) + 1 } }
      : { ...place, done: place.done + atOnce },
  };
  for (const { ref, pages, first } of firsts) {
    if (!('page' in first)) continue;
    for (let at = await step(pages); !('end' in at); at = await step(pages)) {
      if ('error' in at) {
        yield { targets: [], failures: [failureAt(ref, at.error)], next: place };
        break;
      }
      const next = { ...place, inside: { repository: ref.id, page: at.page.page + 1 } };
      yield { targets: at.page.items, next };
    }
  }
}

type WalkStep = { readonly page: ListPage<Target> } | { readonly error: Error } | { readonly end: true };

async function step(pages: AsyncGenerator<ListPage<Target>>): Promise<WalkStep> {
  try {
    const { value, done } = await pages.next();
    return done ? { end: true } : { page: value };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}

function failureAt({ owner, name }: RepositoryRef, error: Error): { item: string; error: Error } {
  return { item: `${owner}/${name}`, error };
}

function listOf(
  each: readonly Each[],
  repository: RepositoryRef,
  { client, from }: { client: Client; from: number },
): AsyncGenerator<ListPage<Target>> {
  const at = `${repository.owner}/${repository.name}`;
  const params = { owner: repository.owner, repo: repository.name };
  const states = new Map(each.map(({ kind, state = 'open' }) => [kind, state]));
  const [state = 'open', other] = states.values();
  switch (each[0]?.kind) {
    case 'branch':
      return targetPages((page) => client.pages(operations.listBranches, { params }, page), {
        from,
        idOf: ({ name }) => name,
        toTarget: (branch) => ({
          key: `${at}@${branch.name}`,
          subject: { kind: 'branch', repository, ref: branch.name },
          item: { branch },
        }),
      });
    case 'milestone':
      return targetPages(
        (page) => client.pages(operations.listMilestones, { params, query: { state } }, page),
        {
          from,
          idOf: ({ id }) => id,
          toTarget: (milestone) => ({
            key: `${at}/milestone/${milestone.id}`,
            subject: { kind: 'milestone', repository, milestone: milestone.id },
            item: { milestone },
          }),
        },
      );
    case 'issue': {
      // Without a type, the list has issues and pull requests, as far as the account may read them.
      const query =
        other === undefined ? { type: 'issues', state } : { state: other === state ? state : 'all' };
      return targetPages((page) => client.pages(operations.listIssues, { params, query }, page), {
        from,
        idOf: ({ number }) => number,
        toTarget(issue) {
          const kind = issue.pull_request ? 'pull_request' : 'issue';
          if (![issue.state, 'all'].includes(states.get(kind) ?? '')) return undefined;
          return {
            key: `${at}#${issue.number}`,
            subject: { kind, repository, index: issue.number },
            item: { item: itemOf(issue), ...(kind === 'issue' && { issue }) },
          };
        },
      });
    }
    default:
      return targetPages((page) => client.pages(operations.listPulls, { params, query: { state } }, page), {
        from,
        idOf: ({ number }) => number,
        // A listed pull request lacks its additions and deletions, so conditions use the fact instead.
        toTarget: ({ number }) => ({
          key: `${at}#${number}`,
          subject: { kind: 'pull_request', repository, index: number },
          item: {},
        }),
      });
  }
}

type Listing<Row> = {
  readonly from: number;
  readonly idOf: (row: Row) => number | string;
  /** Undefined: the row is not visited. */
  readonly toTarget: (row: Row) => Target | undefined;
};

async function* targetPages<Row>(
  open: (page: number) => AsyncGenerator<ListPage<Row>>,
  { from, idOf, toTarget }: Listing<Row>,
): AsyncGenerator<ListPage<Target>> {
  for await (const page of freshPages(open, { from, idOf }))
    yield { ...page, items: page.items.flatMap((row) => toTarget(row) ?? []) };
}

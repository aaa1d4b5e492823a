import type { Client } from '../../../client/client.ts';
import type { ListPage } from '../../../client/paging.ts';
import type { RepositoryRef, Subject } from '../../../contract/events/subject.ts';
import { operations } from '../../../contract/operations.ts';
import type { Repository } from '../../../contract/resources/repositories.ts';
import { createRepositoryScope } from '../../../patterns/glob.ts';
import { ReeveError } from '../../../platform/errors.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import type { ListedRepository } from '../../../rules/sources/rule-source.ts';
import type { RunnerMemory } from './runner-memory.ts';

/** Served repositories: those that the account has starred, and those that the operator lists. */
export type ServedBy = {
  /** The account's name. */
  readonly login: () => Promise<string>;
  /** Patterns of the operator file (`acme/*`). */
  readonly listed: readonly string[];
  /** Full names of the only repositories to process, because a rule of a repository processes only that repository. */
  readonly only?: readonly string[] | undefined;
  /** Whether to include archived repositories. Absent: they are left out. */
  readonly withArchived?: boolean | undefined;
};

/** A list that could not be read. `item` says where it belongs: `acme`, `acme/demo`. */
export type ListFailure = { readonly item: string; readonly error: Error };

/** Position in the lists of repositories: the list, and the page in it. */
export type ListPosition = { readonly source: number; readonly page: number };

/** Some served repositories, each once. `place` is their position, `following` the next one. */
type RepositoryPage = {
  readonly repositories: readonly Repository[];
  readonly place: ListPosition;
  readonly following: ListPosition;
  /** Number of repositories in all pages of this list, if the forge returns it. */
  readonly total: number | undefined;
  /** Repositories listed by full name that the forge does not show. */
  readonly failures: readonly ListFailure[];
};

/** A list of served repositories. A 404 is an error unless `missing` is set. */
type Source = {
  readonly open: (from: number) => AsyncGenerator<ListPage<Repository>>;
  /**
   * What a 404 means: the owner in a pattern is a user and not an organization, or the repository was deleted or is
   * hidden.
   */
  readonly missing?: 'no organization' | { readonly repository: string };
};

/**
 * Yields the served repositories page by page, without archived ones by default, starting at a position. Only their ids are kept.
 * A repository in several lists is yielded once; after a restart at a later position, it may be yielded again.
 */
export async function* servedRepositories(
  client: Client,
  { login, listed, only, withArchived }: ServedBy,
  from: ListPosition = { source: 0, page: 1 },
): AsyncGenerator<RepositoryPage> {
  const isListed = listed.length === 0 ? () => false : createRepositoryScope(listed);
  const seen = new Set<unknown>();
  const sources = only
    ? only.map((name) => named(client, name))
    : [starredBy(client, login), ...listedSources(client, listed)];
  for (const [source, { open, missing }] of sources.entries()) {
    if (source < from.source) continue;
    const start = source === from.source ? from.page : 1;
    try {
      for await (const { items, page, total } of freshPages(open, { from: start, idOf, seen })) {
        const repositories = items.filter(
          (one) =>
            (withArchived || !one.archived) &&
            (only || source === 0 || isListed(`${one.owner.login}/${one.name}`)),
        );
        yield {
          repositories,
          place: { source, page },
          following: { source, page: page + 1 },
          total: source === 0 && sources.length === 1 ? total : undefined,
          failures: [],
        };
      }
    } catch (error) {
      if (missing === undefined || !(error instanceof ReeveError) || error.code !== 'forge-not-found')
        throw error;
      if (missing === 'no organization') continue;
      const places = { place: { source, page: 1 }, following: { source, page: 2 } };
      const failures = [{ item: missing.repository, error }];
      yield { repositories: [], ...places, total: undefined, failures };
    }
  }
}

/** Lists all served repositories. */
export async function* everyServed(client: Client, served: ServedBy): AsyncGenerator<ListedRepository> {
  for await (const { repositories } of servedRepositories(client, served)) {
    for (const one of repositories)
      yield { at: toRepositoryRef(one), updatedAt: one.updated_at ?? undefined };
  }
}

/** Maximum number of repositories that are counted in advance. */
const maxCounted = 10_000;

/**
 * Returns the number of served repositories in scope. Undefined if there are more than ten thousand, or if a list
 * cannot be read.
 */
export async function countRepositories({
  client,
  served,
  isInScope,
}: Pick<Walk, 'client' | 'served' | 'isInScope'>): Promise<number | undefined> {
  let counted = 0;
  try {
    for await (const { repositories } of servedRepositories(client, served)) {
      counted += repositories.filter((one) =>
        isInScope({ kind: 'repository', repository: toRepositoryRef(one) }),
      ).length;
      if (counted > maxCounted) return undefined;
    }
    return counted;
  } catch (error) {
    if (error instanceof ReeveError) return undefined;
    throw error;
  }
}

/** Returns the failures of a page that are in scope. */
export function failuresIn(
  { failures }: RepositoryPage,
  isInScope: (subject: Subject) => boolean,
): readonly ListFailure[] {
  return failures.filter(({ item }) => {
    const [owner = '', name = ''] = item.split('/');
    return isInScope({ kind: 'repository', repository: { id: 0, owner, name } });
  });
}

/** Returns the reference to a listed repository. */
export function toRepositoryRef({
  id,
  owner,
  name,
}: Pick<Repository, 'id' | 'name'> & { readonly owner: { readonly login: string } }): RepositoryRef {
  return { id, owner: owner.login, name };
}

function idOf({ id }: Repository): number {
  return id;
}

function starredBy(client: Client, login: () => Promise<string>): Source {
  return {
    open: async function* (from) {
      yield* client.pages(operations.listStarred, { params: { username: await login() } }, from);
    },
  };
}

/**
 * Returns the lists: repositories the account works on, those of organizations named in patterns, and those listed by
 * full name.
 */
function listedSources(client: Client, listed: readonly string[]): readonly Source[] {
  const positive = listed.filter((pattern) => !pattern.startsWith('!'));
  if (positive.length === 0) return [];
  const exact = positive.filter((pattern) => /^[^/*?[\]{}]+\/[^/*?[\]{}]+$/.test(pattern));
  const owners = new Set(
    positive
      .filter((pattern) => !exact.includes(pattern))
      .map((pattern) => pattern.split('/')[0] ?? '')
      .filter((owner) => /^[^*?[\]{}]+$/.test(owner)),
  );
  return [
    { open: (from) => client.pages(operations.listOwnRepositories, {}, from) },
    ...[...owners].map((org): Source => ofOrganization(client, org)),
    ...exact.map((name): Source => named(client, name)),
  ];
}

function ofOrganization(client: Client, org: string): Source {
  const open: Source['open'] = (from) =>
    client.pages(operations.listOrganizationRepositories, { params: { org } }, from);
  return { open, missing: 'no organization' };
}

function named(client: Client, name: string): Source {
  const [owner = '', repo = ''] = name.split('/');
  return {
    async *open(from) {
      if (from > 1) return;
      const found = await client.call(operations.getRepository, { params: { owner, repo } });
      yield { page: 1, items: [found], total: 1 };
    },
    missing: { repository: name },
  };
}

/** Number of consecutive pages without a new item after which a list is considered endless. */
const maxStalePages = 20;
/** Maximum number of times that pages are read again because a list got shorter while it was read. */
const maxReturns = 50;

/**
 * Yields the pages of a list without items that were yielded before. A list that got shorter has shifted: items of the
 * next page may now be on a page that was already read, so those pages are read again. Ends with `forge-paging` if too
 * many pages contain nothing new. `seen` contains the identities of the yielded items, and grows with them.
 */
export async function* freshPages<Item>(
  open: (from: number) => AsyncGenerator<ListPage<Item>>,
  options: { from?: number; idOf: (item: Item) => unknown; seen?: Set<unknown> },
): AsyncGenerator<ListPage<Item>> {
  const { idOf, seen = new Set() } = options;
  let from: number | undefined = options.from ?? 1;
  let before: number | undefined;
  let stale = 0;
  let returns = 0;
  while (from !== undefined) {
    const start: number = from;
    from = undefined;
    for await (const page of open(start)) {
      const lost: number = before === undefined || page.total === undefined ? 0 : before - page.total;
      before = page.total ?? before;
      if (lost > 0 && page.page > 1 && returns < maxReturns) {
        returns += 1;
        from = Math.max(1, page.page - Math.ceil(lost / Math.max(page.items.length, 1)));
        if (from < page.page) break;
        from = undefined;
      }
      const items = page.items.filter((item) => !seen.has(idOf(item)));
      for (const item of items) seen.add(idOf(item));
      stale = items.length === 0 && page.items.length > 0 ? stale + 1 : 0;
      if (stale > maxStalePages) {
        throw new ReeveError('forge-paging', `the list does not end: ${stale} pages brought nothing new`);
      }
      yield { ...page, items };
    }
  }
}

/** One item of `each`: its subject, and its listed fields for conditions. */
export type Target = {
  /** Name for display, which also identifies the item within a sweep: `acme/demo#5`. */
  readonly key: string;
  readonly subject: Subject;
  readonly item: Readonly<Record<string, unknown>>;
};

/** Some items, with the position at which a sweep that was interrupted after them continues. */
export type TargetPage = {
  readonly targets: readonly Target[];
  /** Plain data that is passed back as `from`. */
  readonly next: unknown;
  /** Total number of items, if known. */
  readonly total?: number | undefined;
  /** Number of repositories that this page reaches first. Absent if the items are not in repositories. */
  readonly reached?: number;
  /** Lists that could not be read, and why. The sweep continues without them. */
  readonly failures?: readonly ListFailure[];
};

/** Input of an iteration over items. */
export type Walk = {
  readonly client: Client;
  readonly served: ServedBy;
  readonly rule: LoadedRule;
  /** Returns whether the rule and the patterns of the command line include this subject. */
  readonly isInScope: (subject: Subject) => boolean;
  readonly runners: RunnerMemory;
  readonly now: Date;
  /** Position at which an earlier attempt stopped. */
  readonly from: unknown;
};

/** An item that a sweep could not finish, or a list that the forge refused. */
export type SweepFailure = {
  readonly item: string;
  readonly error: string;
  /** For a list: the refused request and its status: `GET /orgs/acme/actions/runners: 403`. */
  readonly refused?: string;
  /** For an item: set if it was evaluated, and a change failed. */
  readonly isChange?: true;
  /** For an item: id of its recorded run. Absent in sweeps of earlier versions. */
  readonly run?: string;
};

/** Returns an unreadable list as a failure of the sweep, with the request. */
export function failureOfList({ item, error }: ListFailure): SweepFailure {
  const { request, status } = error instanceof ReeveError ? error : {};
  const refused = request === undefined || status === undefined ? error.message : `${request}: ${status}`;
  return { item, error: error.message, refused };
}

/**
 * Yields the pages. If the forge refuses the list that all others depend on (403, 404), the last page contains that
 * failure, because a retry would also be refused.
 */
export async function* refusedAsFailure(pages: AsyncGenerator<TargetPage>): AsyncGenerator<TargetPage> {
  let next: unknown;
  try {
    for await (const page of pages) {
      ({ next } = page);
      yield page;
    }
  } catch (error) {
    if (!(error instanceof ReeveError) || !isRefusal(error)) throw error;
    yield { targets: [], next, failures: [{ item: 'the list', error }] };
  }
}

function isRefusal({ code }: ReeveError): boolean {
  return code === 'forge-forbidden' || code === 'forge-not-found';
}

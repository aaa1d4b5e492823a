import type { Client } from '../../../client/client.ts';
import type { ListPage } from '../../../client/paging.ts';
import type { RepositoryRef, Subject } from '../../../contract/events/subject.ts';
import { operations } from '../../../contract/operations.ts';
import type { Repository } from '../../../contract/resources/repositories.ts';
import { createRepositoryScope } from '../../../patterns/glob.ts';
import { ReeveError } from '../../../platform/errors.ts';
import type { LoadedRule } from '../../../rules/rule.ts';
import type { SweepFailure } from '../progress.ts';
import type { RunnerMemory } from './runner-memory.ts';

/** What is served: the repositories that the account has starred, and those that the operator lists. */
export type ServedBy = {
  /** The account's name. */
  readonly login: () => Promise<string>;
  /** Patterns of the operator file (`acme/*`). */
  readonly listed: readonly string[];
  /** Full names, where nothing else is wanted: a rule of a repository walks over that repository alone. */
  readonly only?: readonly string[] | undefined;
};

/** A list that could not be read. `item` is the place it belongs to: `acme`, `acme/demo`. */
export type ListFailure = { readonly item: string; readonly error: Error };

/** A place in the lists of repositories: which list, and its page. */
export type ListPosition = { readonly source: number; readonly page: number };

/** Some served repositories, each once; `place` is where they stand, `following` the place after them. */
type RepositoryPage = {
  readonly repositories: readonly Repository[];
  readonly place: ListPosition;
  readonly following: ListPosition;
  /** Repositories in all pages of this list, where the forge tells. */
  readonly total: number | undefined;
  /** A repository that is named in full, and that the forge does not show. */
  readonly failures: readonly ListFailure[];
};

/** One list in which served repositories are found. A 404 is an error where nothing is said here. */
type Source = {
  readonly open: (from: number) => AsyncGenerator<ListPage<Repository>>;
  /** What a 404 means: the owner in a pattern is a person, not an organization; or the repository is gone or hidden. */
  readonly missing?: 'no organization' | { readonly repository: string };
};

/**
 * Yields the served repositories page by page, archived ones left out, from a place on. Only their ids are kept. A
 * repository in several lists is yielded once; after a restart at a later place it may come again.
 */
export async function* servedRepositories(
  client: Client,
  { login, listed, only }: ServedBy,
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
          (one) => !one.archived && (only || source === 0 || isListed(`${one.owner.login}/${one.name}`)),
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

/** Returns what identifies a repository, from how it is listed. */
export function toRepositoryRef({ id, owner, name }: Repository): RepositoryRef {
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

/** What the account works on, what organizations named in patterns own, and what is named in full. */
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

/** Pages in a row that bring nothing new before a list is said not to end. */
const maxStalePages = 20;
/** How often a list may get shorter while it is read before the sweep stops going back. */
const maxReturns = 50;

/**
 * Yields the pages of a list without what was yielded before. A list that got shorter has moved up: what stood on the
 * next page may stand on one that was read already, so those are read again. Ends with `forge-paging` where pages bring
 * nothing new for long. `seen` holds the identities of what was yielded, and grows with it.
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

/** One item of `each`: what it is about, and what conditions see of it as it was listed. */
export type Target = {
  /** For people and as identity within a sweep: `acme/demo#5`. */
  readonly key: string;
  readonly subject: Subject;
  readonly item: Readonly<Record<string, unknown>>;
};

/** Some items, with the place at which a sweep that was interrupted after them goes on. */
export type TargetPage = {
  readonly targets: readonly Target[];
  /** Plain data; given back as `from`. */
  readonly next: unknown;
  /** How many items there are in all, where that is known. */
  readonly total?: number | undefined;
  /** What could not be listed, and why: the sweep goes on without it. */
  readonly failures?: readonly ListFailure[];
};

/** What walking over items needs. */
export type Walk = {
  readonly client: Client;
  readonly served: ServedBy;
  readonly rule: LoadedRule;
  /** Returns whether the rule, and what a person named on the command line, take this subject. */
  readonly isInScope: (subject: Subject) => boolean;
  readonly runners: RunnerMemory;
  readonly now: Date;
  /** Where an earlier attempt stopped. */
  readonly from: unknown;
};

/** Returns a list that could not be read as a failure of the sweep, which names the request. */
export function failureOfList({ item, error }: ListFailure): SweepFailure {
  const { request, status } = error instanceof ReeveError ? error : {};
  const refused = request === undefined || status === undefined ? error.message : `${request}: ${status}`;
  return { item, error: error.message, refused };
}

/**
 * Yields the pages. Where the forge refuses the list from which all others come (403, 404), that is the failure of a last
 * page: what it refuses today it refuses in the next attempt as well.
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

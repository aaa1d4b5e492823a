import type { Client } from '../../../client/client.ts';
import type { ListPage } from '../../../client/paging.ts';
import type { RepositoryRef, Subject } from '../../../contract/events/subject.ts';
import { operations } from '../../../contract/operations.ts';
import type { Repository } from '../../../contract/resources/repositories.ts';
import { createRepositoryScope } from '../../../patterns/repository-scope.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { freshPages } from './pages.ts';

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

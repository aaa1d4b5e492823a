import type { Client } from '../../client/client.ts';
import type { Event } from '../../contract/events/events.ts';
import type { RepositoryRef, Subject } from '../../contract/events/subject.ts';
import { operations } from '../../contract/operations.ts';
import { createRepositoryScope } from '../../patterns/glob.ts';
import { createTtlCache } from '../../platform/cache/caches.ts';
import type { Clock } from '../../platform/clock.ts';
import { type ErrorCode, isDenied, ReeveError } from '../../platform/errors.ts';

/** Origin of an event. */
export type Origin = {
  /** Name of the secret entry that verified the delivery; absent for an event that catch-up found. */
  readonly entry?: string;
};

/** An event about a repository whose identity has been verified: id and names are those that the forge has now. */
export type AdmittedEvent = Event & { readonly repository: RepositoryRef; readonly subject: Subject };

/** Result of admitting an event. */
type Admission =
  | { readonly state: 'admitted'; readonly event: AdmittedEvent }
  | { readonly state: 'ignored'; readonly reason: string };

/**
 * Reason for refusing a delivery: the secret entry is not configured (`entry`) or does not cover the repository
 * (`scope`), or id and name do not match (`identity`).
 */
type RefusalKind = 'entry' | 'scope' | 'identity';

/**
 * Returns whether a secret entry covers a repository (`owner/name`, or undefined for an event without a repository).
 * Returns undefined if there is no entry with this name.
 */
type CoverageOf = (entry: string, fullName: string | undefined) => boolean | undefined;

/** Decides which events reach rules, caches, snapshots and records, and for which repository. */
export interface Admissions {
  /** Admits or ignores an event. Throws `delivery-refused`, or a `forge-…` error if the forge does not respond. */
  admit(origin: Origin, event: Event): Promise<Admission>;
  /** Removes a repository from the cache when its name has changed. */
  forget(repositoryId: number): void;
  /** Removes everything from the cache. */
  forgetAll(): void;
}

/**
 * Creates the admission of events. The sender of a delivery chooses both the id and the name of its repository, and the
 * receiver has compared the secret's scope only with the name. Therefore, before any other processing, the id must be
 * the id of the repository found under the name, and the entry must cover the name that the repository has now.
 */
export function createAdmissions(options: {
  identities: Identities;
  served: Enrolment;
  /** Returns whether a repository exists only to test a hook. Default: none does. */
  isTest?: (repository: RepositoryRef) => Promise<boolean>;
  coverageOf: CoverageOf;
  onRefused?: (kind: RefusalKind) => void;
}): Admissions {
  const { identities, served, coverageOf, onRefused = () => {} } = options;
  const { isTest = async () => false } = options;

  const refuse = (kind: RefusalKind, message: string): never => {
    onRefused(kind);
    throw new ReeveError('delivery-refused', message);
  };
  const requireEntry = ({ entry }: Origin, { repository }: Event): void => {
    if (entry === undefined) return;
    const covers = coverageOf(entry, undefined);
    if (covers === undefined) {
      refuse(
        'entry',
        `the secret entry "${entry}", which verified this delivery, is no longer configured; configure it again and redrive the delivery`,
      );
    }
    if (repository === undefined && !covers) {
      refuse(
        'scope',
        `the event does not name a repository: the secret entry "${entry}" needs the scope "*"`,
      );
    }
  };
  const requireCoverage = ({ entry }: Origin, { id, owner, name }: RepositoryRef): void => {
    if (entry === undefined || coverageOf(entry, `${owner}/${name}`)) return;
    refuse('scope', `repository ${id} is ${owner}/${name}: outside the scope of the secret entry "${entry}"`);
  };
  const identify = async ({ entry }: Origin, repository: RepositoryRef) => {
    try {
      return await identities.read(repository);
    } catch (error) {
      if (!hasCode(error, 'delivery-refused')) throw error;
      const by = entry === undefined ? '' : `; verified by the secret entry "${entry}"`;
      return refuse('identity', `${error.message}${by}`);
    }
  };

  return {
    async admit(origin, event) {
      requireEntry(origin, event);
      const { repository, subject } = event;
      if (repository === undefined || subject === undefined)
        return ignored('the event does not name a repository');
      if (await isTest(repository)) return ignored(`${nameOf(repository)} tested a hook`);
      const isDeleted = event.family === 'repository' && event.activity === 'deleted';
      // What an earlier event has cached no longer exists: every request about it would be retried for ten minutes.
      if (isDeleted) identities.forget(repository.id);
      let identity: Identity;
      try {
        // Checked with the claimed identity, so that no request is made for a repository that is not served.
        if (!(await served.has(repository))) return ignored(`${nameOf(repository)} is not served`);
        identity = await identify(origin, repository);
      } catch (error) {
        if (isDeleted && hasCode(error, 'forge-not-found'))
          return ignored(`${nameOf(repository)} is deleted`);
        throw error;
      }
      const { at, archived } = identity;
      requireCoverage(origin, at);
      // After a transfer, the repository may no longer match the operator's list.
      const isRenamed = nameOf(at) !== nameOf(repository);
      if (isRenamed && !(await served.has(at))) return ignored(`${nameOf(at)} is not served`);
      if (archived) return ignored(`${nameOf(at)} is archived`);
      return { state: 'admitted', event: eventAbout(event, subject, at) };
    },
    forget: (repositoryId) => identities.forget(repositoryId),
    forgetAll: () => identities.forgetAll(),
  };
}

/** Returns the event with the current identity of its repository. Its payload is unchanged. */
export function eventAbout(event: Event, subject: Subject, at: RepositoryRef): AdmittedEvent {
  return { ...event, repository: at, subject: { ...subject, repository: at } };
}

function ignored(reason: string): Admission {
  return { state: 'ignored', reason };
}

function nameOf({ owner, name }: RepositoryRef): string {
  return `${owner}/${name}`.toLowerCase();
}

function hasCode(error: unknown, code: ErrorCode): error is ReeveError {
  return error instanceof ReeveError && error.code === code;
}

/**
 * How long access to a served repository is retried after a 403 or 404: the token may be in rotation, or the forge may
 * be restored from a backup.
 */
const doubtMs = 10 * 60_000;

/** The field of a delivery that contains the time of its first failure. */
type FailingSince = { readonly failingSince: Date | undefined };

/**
 * Returns the error to throw for an error that occurred while a served repository was handled. A 403 or 404 is accepted
 * only after the delivery has failed for ten minutes; before that, it is retried.
 */
export function retryDenial(error: unknown, { failingSince }: FailingSince, now: Date): unknown {
  if (!isDenied(error) || error.code === 'repository-missing') return error;
  const untilMs = (failingSince ?? now).getTime() + doubtMs;
  if (now.getTime() >= untilMs) return error;
  const until = new Date(untilMs).toISOString();
  return new ReeveError(
    'repository-missing',
    `${error.message}; the repository is served, so access is retried until ${until}`,
    { cause: error, status: error.status },
  );
}

/** Returns the error if the forge denies access to the repository as a whole; otherwise undefined. */
export async function findDenial(
  client: Client,
  { owner, name }: RepositoryRef,
): Promise<ReeveError | undefined> {
  try {
    await client.call(operations.getRepository, { params: { owner, repo: name } });
    return undefined;
  } catch (error) {
    if (isDenied(error)) return error;
    throw error;
  }
}

/**
 * The served repositories: those that the bot's account has starred, and those that the operator lists. Archived
 * repositories are not served.
 */
export interface Enrolment {
  /**
   * Returns whether the repository is served. Reads the stars again if the list is old, or if the repository is
   * unknown. Rejects if a repository is no longer among the stars because the forge denies access to it, which may be
   * temporary.
   */
  has(repository: RepositoryRef): Promise<boolean>;
}

/** Maximum age of the list of stars before it is read again. */
const maxAgeMs = 5 * 60_000;
/**
 * Minimum age of the list before it is read again because of an unknown repository, which may just have been starred.
 */
const minAgeMs = 10_000;

/** Maximum number of remembered repositories that are no longer starred. */
const maxMissing = 1_000;

/** Creates the list of served repositories. `listed` contains the operator's patterns, which need no request. */
export function createEnrolment(options: {
  client: Client;
  /** Login of the account whose stars are read. */
  login: () => Promise<string>;
  listed: readonly string[];
  clock: Clock;
}): Enrolment {
  const isListed = options.listed.length === 0 ? () => false : createRepositoryScope(options.listed);
  let stars: ReadonlyMap<number, RepositoryRef> = new Map();
  /** Repositories that are missing from the current list of stars but were in an earlier one. */
  const missing = new Map<number, RepositoryRef>();
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const read = (): Promise<void> => {
    reading ??= options
      .login()
      .then((login) => readStars(options.client, login))
      .then((found) => {
        for (const [id, ref] of stars) if (!found.has(id) && missing.size < maxMissing) missing.set(id, ref);
        for (const id of found.keys()) missing.delete(id);
        stars = found;
        readAtMs = options.clock.monotonicMs();
      })
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };

  return {
    async has(repository) {
      if (isListed(`${repository.owner}/${repository.name}`)) return true;
      const ageMs = options.clock.monotonicMs() - readAtMs;
      if (ageMs > maxAgeMs || (ageMs > minAgeMs && !stars.has(repository.id))) await read();
      const lost = missing.get(repository.id);
      if (lost !== undefined) {
        const denial = await findDenial(options.client, lost);
        if (denial) throw denial;
        // The repository is accessible, so its star was removed.
        missing.delete(repository.id);
      }
      return stars.has(repository.id);
    },
  };
}

async function readStars(client: Client, login: string): Promise<ReadonlyMap<number, RepositoryRef>> {
  const found = new Map<number, RepositoryRef>();
  for await (const repository of client.items(operations.listStarred, { params: { username: login } })) {
    if (repository.archived) continue;
    found.set(repository.id, { id: repository.id, owner: repository.owner.login, name: repository.name });
  }
  return found;
}

/** Current identity of a repository. */
type Identity = {
  /** Id of the repository, with its current owner and name. */
  readonly at: RepositoryRef;
  readonly archived: boolean;
};

/** Looks up repositories by a claimed id and name. */
interface Identities {
  /**
   * Returns the repository with this id, found by this name or, after a rename, by its new name. Throws
   * `delivery-refused` if the name belongs to a repository with a different id.
   */
  read(claimed: RepositoryRef): Promise<Identity>;
  /** Removes a repository from the cache when its name has changed. */
  forget(repositoryId: number): void;
  /** Removes everything from the cache. */
  forgetAll(): void;
}

/** How long an identity is cached. The forge refuses a write under an outdated name (301). */
const identityMaxAgeMs = 10 * 60_000;
const maxEntries = 5_000;

/**
 * Creates the cached lookup. The cache key is the whole claim, id and name: a wrong claim fails and is never cached,
 * and it cannot use the cached identity of the repository with that id.
 */
export function createIdentities({ client, clock }: { client: Client; clock: Clock }): Identities {
  const cache = createTtlCache<string, Identity>({ maxAgeMs: identityMaxAgeMs, maxEntries, clock });

  const ask = async ({ id, owner, name }: RepositoryRef): Promise<Identity> => {
    const live = await client.call(operations.getRepository, { params: { owner, repo: name } });
    if (live.id !== id) {
      throw new ReeveError(
        'delivery-refused',
        `the delivery names repository ${id} as ${owner}/${name}, but ${owner}/${name} is repository ${live.id}`,
      );
    }
    return {
      at: { id, owner: live.owner.login, name: live.name },
      archived: live.archived === true,
    };
  };

  return {
    read: (claimed) => cache.get(identityKey(claimed), () => ask(claimed)),
    forget: (repositoryId) => cache.deleteWhere(({ at }) => at.id === repositoryId),
    forgetAll: () => cache.deleteWhere(() => true),
  };
}

function identityKey({ id, owner, name }: RepositoryRef): string {
  return `${id} ${owner}/${name}`.toLowerCase();
}

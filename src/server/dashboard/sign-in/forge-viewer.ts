import type { Client } from '../../../client/client.ts';
import { eventFamilies, familyOf, type ReadableUnit } from '../../../contract/events/event-families.ts';
import { operations } from '../../../contract/operations.ts';
import type { Repository } from '../../../contract/resources/repositories.ts';
import type { User } from '../../../contract/resources/users.ts';
import { createTtlCache } from '../../../platform/cache/caches.ts';
import type { MonotonicClock } from '../../../platform/clock.ts';
import { type ErrorCode, ReeveError } from '../../../platform/errors.ts';
import type { Delivery } from '../../../store/store.ts';
import { type DeliveryAccess, SignedOut, type Viewer } from '../visibility.ts';

/** Scopes requested at sign-in: the viewer's account, and the repositories and issues that it can read. */
export const signInScopes = ['read:user', 'read:repository', 'read:issue'] as const;

/** Time for which the forge's response about a viewer's access is cached. */
const maxAgeMs = 60_000;
const maxKept = 5_000;

type RepositoryParams = { readonly owner: string; readonly repo: string };

/** Requests for lists that the forge shows only to accounts that may read the unit. */
const accessProbes: Readonly<
  Record<ReadableUnit, (client: Client, params: RepositoryParams) => Promise<unknown>>
> = {
  pulls: (client, params) => client.call(operations.listPulls, { params, query: { limit: 1 } }),
  issues: (client, params) =>
    client.call(operations.listIssues, { params, query: { limit: 1, type: 'issues' } }),
  code: (client, params) => client.call(operations.listBranches, { params, query: { limit: 1 } }),
};

/**
 * Returns the audience of an event type: readers of a unit, or only administrators. Unknown types are only for
 * administrators.
 */
function audienceOf(eventType: string): ReadableUnit | 'administrators' {
  const family = familyOf(eventType);
  return family === undefined ? 'administrators' : eventFamilies[family].visibleTo;
}

/**
 * Returns the viewer for a forge account. Site administrators are operators here, because they can read everything on
 * the forge; other viewers see what the forge shows to their account. `known` is the last known identity.
 */
export function createForgeViewer(
  clientOf: () => Promise<Client>,
  clock: MonotonicClock,
  known: Pick<User, 'id' | 'login' | 'is_admin'>,
): Viewer {
  const selves = createTtlCache<'self', User>({ maxAgeMs, maxEntries: 1, clock });
  const readSelf = () => selves.get('self', async () => (await clientOf()).call(operations.getSelf, {}));
  let self = known;
  const isOperator = (): boolean => self.is_admin === true;

  const repositories = createTtlCache<string, DeliveryAccess>({ maxAgeMs, maxEntries: maxKept, clock });
  const units = createTtlCache<string, boolean>({ maxAgeMs, maxEntries: maxKept, clock });

  const read = async (params: RepositoryParams): Promise<Repository | undefined> =>
    orUndefined((await clientOf()).call(operations.getRepository, { params }));
  /**
   * Returns the access to the repository with this id. A renamed repository is recognized by its id; another repository
   * that now has the old name is not accepted.
   */
  const readAccess = async (id: number, params: RepositoryParams): Promise<DeliveryAccess> => {
    const found = await read(params);
    if (found === undefined || found.id !== id) return 'none';
    return found.permissions?.admin ? 'administrator' : 'reader';
  };
  const mayRead = (key: string, unit: ReadableUnit, params: RepositoryParams): Promise<boolean> =>
    units.get(`${key} ${unit}`, async () => {
      const client = await clientOf();
      return (await orUndefined(accessProbes[unit](client, params).then(() => true))) ?? false;
    });

  const resolveRepository = async (
    subject: Delivery,
  ): Promise<{ access: DeliveryAccess; key: string; params: RepositoryParams } | undefined> => {
    const { repository = '', repositoryId: id } = subject;
    const params = parseFullName(repository);
    if (id === undefined || params === undefined) return undefined;
    const key = `${id} ${repository}`;
    return { key, params, access: await repositories.get(key, () => readAccess(id, params)) };
  };

  return {
    name: `@${known.login} (${known.id})`,
    get isOperator() {
      return isOperator();
    },
    async confirm() {
      self = await asViewer(readSelf, [...unknownToForge, 'forge-forbidden']);
    },
    async accessTo(subject) {
      if (isOperator()) return 'administrator';
      try {
        const found = await asViewer(() => resolveRepository(subject));
        if (found?.access !== 'reader') return found?.access ?? 'none';
        const audience = audienceOf(subject.eventType);
        if (audience === 'administrators') return 'none';
        return (await asViewer(() => mayRead(found.key, audience, found.params))) ? 'reader' : 'none';
      } catch (error) {
        // A forge error for one repository must not affect the others.
        const isStumble =
          error instanceof ReeveError && !isOneOf(error, ['forge-unreachable', 'forge-timeout']);
        if (isStumble) return 'unknown';
        throw error;
      }
    },
    readableUnits: (subject) =>
      asViewer(async () => {
        const found = await resolveRepository(subject);
        if (found === undefined) return new Set();
        const all = Object.keys(accessProbes) as readonly ReadableUnit[];
        const may = await Promise.all(all.map((unit) => mayRead(found.key, unit, found.params)));
        return new Set(all.filter((_unit, at) => may[at]));
      }),
    findRepository: (name) =>
      asViewer(async () => {
        const params = parseFullName(name);
        return params && (await read(params))?.id;
      }),
  };
}

const unknownToForge: readonly ErrorCode[] = ['forge-unauthorized'];

/**
 * Calls the forge as the viewer. Throws `SignedOut` if the response shows that the forge no longer accepts the sign-in.
 */
async function asViewer<Answer>(
  ask: () => Promise<Answer>,
  over: readonly ErrorCode[] = unknownToForge,
): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    if (!isOneOf(error, over)) throw error;
    throw new SignedOut('the forge no longer accepts the sign-in', { cause: error });
  }
}

/** Returns the parts of a repository's full name; undefined for any other text. */
function parseFullName(name: string): RepositoryParams | undefined {
  const [, owner, repo] = /^([\w.-]+)\/([\w.-]+)$/.exec(name) ?? [];
  return owner === undefined || repo === undefined ? undefined : { owner, repo };
}

/** Returns undefined if the repository is not found, forbidden, moved or locked. */
async function orUndefined<Value>(asked: Promise<Value>): Promise<Value | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isOneOf(error, ['forge-not-found', 'forge-forbidden', 'forge-moved', 'forge-locked']))
      return undefined;
    throw error;
  }
}

function isOneOf(error: unknown, codes: readonly ErrorCode[]): boolean {
  return error instanceof ReeveError && codes.includes(error.code);
}

import type { Client } from '../client/client.ts';
import { type Family, familyOf } from '../contract/events.ts';
import { operations } from '../contract/operations.ts';
import type { User } from '../contract/users.ts';
import { type ErrorCode, ReeveError } from '../errors.ts';
import { createKept } from '../sources/kept.ts';
import { type Sight, SignedOut, type Viewer } from './viewer.ts';

/** What a person is asked to allow: reading who they are, and what they can read. */
export const signInScopes = ['read:user', 'read:repository', 'read:issue'] as const;

/** How long the forge’s word on what somebody may read is believed. */
const maxAgeMs = 60_000;
const maxKept = 5_000;

type At = { readonly owner: string; readonly repo: string };
type Look = (client: Client, params: At) => Promise<unknown>;

/** Lists that only those are shown who may read what they list. */
const pulls: Look = (client, params) => client.call(operations.listPulls, { params, query: { limit: 1 } });
const issues: Look = (client, params) =>
  client.call(operations.listIssues, { params, query: { limit: 1, type: 'issues' } });
const code: Look = (client, params) => client.call(operations.listBranches, { params, query: { limit: 1 } });

/** What tells whether a reader of the repository may read events of a family; the others are for its administrators. */
const looks: Partial<Record<Family, Look>> = {
  pull_request: pulls,
  pull_request_review: pulls,
  pull_request_comment: pulls,
  issues,
  issue_comment: issues,
  push: code,
  create: code,
  delete: code,
  status: code,
};

/**
 * Returns who signed in with their forge account: a site administrator is an operator here, since they can read everything
 * on the forge; everybody else sees what the forge shows them, which is asked as them. Rejects with a `forge-…` error.
 */
export async function personOf(clientOf: () => Promise<Client>, nowMs: () => number): Promise<Viewer> {
  const selves = createKept<'self', User>({ maxAgeMs, maxEntries: 1, nowMs });
  const readSelf = () => selves.get('self', async () => (await clientOf()).call(operations.getSelf, {}));
  let self = await readSelf();

  const repositories = createKept<string, Sight>({ maxAgeMs, maxEntries: maxKept, nowMs });
  const families = createKept<string, boolean>({ maxAgeMs, maxEntries: maxKept, nowMs });

  /** The name of then is followed to where the repository is now; another one that has that name is another one. */
  const lookAt = async (id: number, params: At): Promise<Sight> => {
    const found = await orUndefined((await clientOf()).call(operations.getRepository, { params }));
    if (found === undefined || found.id !== id) return 'none';
    return found.permissions?.admin ? 'administrator' : 'reader';
  };
  const mayRead = async (look: Look, params: At): Promise<boolean> => {
    const client = await clientOf();
    return (await orUndefined(look(client, params).then(() => true))) ?? false;
  };

  return {
    name: `@${self.login}`,
    get isOperator() {
      return self.is_admin === true;
    },
    async confirm() {
      try {
        self = await readSelf();
      } catch (error) {
        throw isOneOf(error, ['forge-unauthorized', 'forge-forbidden']) ? signedOut(error) : error;
      }
    },
    async sightOf({ eventType, repository, repositoryId }) {
      if (self.is_admin) return 'administrator';
      const [owner, repo] = repository?.split('/') ?? [];
      if (repositoryId === undefined || owner === undefined || repo === undefined) return 'none';
      const params = { owner, repo };
      const key = `${repositoryId} ${repository}`;
      const family = familyOf(eventType);
      const look = family === undefined ? undefined : looks[family];
      try {
        const sight = await repositories.get(key, () => lookAt(repositoryId, params));
        if (sight !== 'reader') return sight;
        if (look === undefined) return 'none';
        return (await families.get(`${key} ${look.name}`, () => mayRead(look, params))) ? 'reader' : 'none';
      } catch (error) {
        throw isOneOf(error, ['forge-unauthorized']) ? signedOut(error) : error;
      }
    },
  };
}

/** What is not there, or not for this person, is nothing to them. */
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

function signedOut(cause: unknown): SignedOut {
  return new SignedOut('the forge does not know the sign-in any more', { cause });
}

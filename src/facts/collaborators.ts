import { z } from 'zod';
import type { Client } from '../client/client.ts';
import { eventFamilies, type Family } from '../contract/events/event-families.ts';
import { operations } from '../contract/operations.ts';
import { User } from '../contract/resources/users.ts';
import { flag, int, list, resource, text } from '../contract/shape.ts';
import { ReeveError } from '../platform/errors.ts';
import { comment } from './comments.ts';
import { type AskContext, defineFact, type FactMemory, requestOf } from './fact.ts';
import { issue } from './issue.ts';
import { pullRequest } from './pull-request.ts';
import { review } from './reviews.ts';
import { ways } from './ways.ts';
import { absentAsUndefined, indexParams, repositoryParams } from './where.ts';
import { askNamed, askPermission, type NamedAccount, permissions } from './write-access.ts';

/** The collaborators of the repository, without users whose access comes from a team or from ownership. */
export const collaborators = defineFact({
  name: 'collaborators',
  meaning: 'The collaborators of the repository, without users who have access through a team or as owner.',
  shows: 'admin',
  visibleTo: 'administrators',
  shape: list(User),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.permitted],
  needs: { access: 'reader', scopes: ['repository'] },
  requests: 1,
  example: 'collaborators.exists(c, c.login == "release-bot")',
  async ask({ client, subject }) {
    const found: User[] = [];
    const params = repositoryParams(subject);
    for await (const one of client.items(operations.listCollaborators, { params })) found.push(one);
    return found;
  },
});

/** Number of concurrent requests. */
const width = 5;

/** A collaborator with the effective access, which may exceed the assigned access through a team or ownership. */
const CollaboratorPermission = resource({ id: int, login: text, permission: text }, {});
type CollaboratorPermission = { readonly id: number; readonly login: string; readonly permission: string };

/** The collaborators of the repository with their access. */
export const collaboratorPermissions = defineFact({
  name: 'collaborator_permissions',
  meaning:
    'The collaborators of the repository with the access they have in effect (`permission`: `read`, `write`, `admin`, `owner`), which may be more than they were given, through a team with administrator access. Access by unit through other teams is not included: `permission_of` has it.',
  shows: 'admin',
  visibleTo: 'administrators',
  shape: list(CollaboratorPermission),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.permitted],
  needs: { access: 'admin', scopes: ['repository'] },
  requests: 2,
  example: 'collaborator_permissions.exists(c, c.permission == "admin")',
  async ask({ client, subject, ask }) {
    const users = await ask(requestOf(collaborators));
    const params = repositoryParams(subject);
    const found: CollaboratorPermission[] = [];
    for (let at = 0; at < users.length; at += width) {
      const some = users.slice(at, at + width).map(async ({ id, login }) => {
        const answer = await client.call(operations.getPermission, {
          params: { ...params, collaborator: login },
        });
        return { id, login, permission: answer.permission };
      });
      found.push(...(await Promise.all(some)));
    }
    return found;
  },
});

/** The permission of the account that caused the event. */
export const senderPermission = defineFact({
  name: 'sender_permission',
  meaning:
    'The permission in the repository of the person who caused the event: `none`, `read`, `write`, `admin` or `owner`. `write` lets the person push: a member of a team that may write the code has it, and one of a team that may only write issues has not. If the forge does not show the members of such a team, the condition is `error`. For an event about a comment or review it is that of the live author. Only administrators of the repository may read it: without that access the condition is `error`. Events found by catching up name no person.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: z.enum(permissions),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  needs: { access: 'admin', scopes: ['repository', 'issue'] },
  families: Object.keys(eventFamilies) as Family[],
  requests: 4,
  example: 'sender_permission in ["write", "admin", "owner"]',
  async ask(context) {
    return askPermission(context, await personOf(context));
  },
});

async function personOf({ occasion, subject, ask }: AskContext): Promise<NamedAccount> {
  const author =
    subject.comment !== undefined
      ? (await ask(requestOf(comment))).user
      : subject.review !== undefined
        ? (await ask(requestOf(review))).user
        : occasion?.event.sender;
  // A deleted account has the id -1, and its displayed name may belong to another account.
  if (!author || author.id <= 0) throw new ReeveError('forge-not-found', 'the event names no account');
  return { id: author.id, login: author.login };
}

/** The permission of an account in the repository. */
export const permissionOf = defineFact({
  name: 'permission_of',
  meaning:
    'The permission that the account of this name has in the repository now (`permission`: `none`, `read`, `write`, `admin` or `owner`), with the id of the account; `write` lets it push, as in `sender_permission`; null if there is no such account. Only administrators of the repository may read it: without that access the condition is `error`.',
  shows: 'admin',
  visibleTo: 'administrators',
  shape: z.object({ id: int, permission: z.enum(permissions) }).nullable(),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  changes: [ways.permitted],
  needs: { access: 'admin', scopes: ['repository'] },
  argument: 'ada',
  requests: 3,
  example: 'permission_of("ada") != null && permission_of("ada").permission == "write"',
  async ask(context, login = '') {
    const found = await absentAsUndefined(askNamed(login, context));
    return found ?? null;
  },
});

/**
 * Maximum number of pull requests examined per author; an author with more than this is never treated as a newcomer.
 */
const maxPulls = 10_000;

/** The number of previously merged pull requests of the author. */
export const contributions = defineFact({
  name: 'contributions',
  meaning:
    'The number of merged pull requests of the author in this repository that were opened before this one; 0 means that none was merged, though others may be open (`first_pull_request`). What Reeve’s own account opens is none: it counts as 1 at least. A pull request of a deleted account has no author: the condition is then `error`.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: int,
  of: ['pull_request'],
  changes: [ways.elsewhere],
  needs: { access: 'reader', scopes: ['repository', 'user'] },
  requests: 3,
  example: 'contributions == 0',
  async ask({ client, subject, memory, ask }) {
    const { user } = await ask(requestOf(pullRequest));
    if (!user || user.id <= 0)
      throw new ReeveError('forge-not-found', 'the author of the pull request is deleted');
    const { index } = indexParams(subject);
    const query = { state: 'closed', poster: user.login };
    let merged = 0;
    let seen = 0;
    for await (const pull of client.items(operations.listPulls, {
      params: repositoryParams(subject),
      query,
    })) {
      seen += 1;
      if (seen > maxPulls)
        throw new Error(`too large to judge: ${user.login} has more than ${maxPulls} pull requests`);
      // The name may have belonged to another account earlier.
      if (pull.merged && pull.number < index && pull.user?.id === user.id) merged += 1;
    }
    // A release or backport pull request that Reeve opens must not count as a first contribution.
    return merged === 0 && user.id === (await ownId(client, memory)) ? 1 : merged;
  },
});

/** Whether the issue is the first one of its author in the repository. */
export const firstIssue = defineFact({
  name: 'first_issue',
  meaning:
    'Whether the author has opened no earlier issue in this repository; pull requests do not count. It is false for an issue of Reeve’s own account. An issue of a deleted account has no author: the condition is then `error`.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: flag,
  of: ['issue'],
  changes: [ways.elsewhere],
  needs: { access: 'reader', scopes: ['issue', 'user'] },
  requests: 3,
  example: 'first_issue',
  ask: async (context) => isFirstOf((await context.ask(requestOf(issue))).user, 'issues', context),
});

/** Whether the pull request is the first one of its author in the repository. */
export const firstPullRequest = defineFact({
  name: 'first_pull_request',
  meaning:
    'Whether the author has opened no earlier pull request in this repository, merged or not; issues do not count. It is false for a pull request of Reeve’s own account. A pull request of a deleted account has no author: the condition is then `error`.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: flag,
  of: ['pull_request'],
  changes: [ways.elsewhere],
  needs: { access: 'reader', scopes: ['issue', 'repository', 'user'] },
  requests: 3,
  example: 'first_pull_request',
  ask: async (context) => isFirstOf((await context.ask(requestOf(pullRequest))).user, 'pulls', context),
});

/** Returns whether an author other than Reeve opened no earlier issue or pull request of the repository. */
async function isFirstOf(
  user: User | null | undefined,
  type: 'issues' | 'pulls',
  { client, subject, memory }: AskContext,
): Promise<boolean> {
  if (!user || user.id <= 0) throw new ReeveError('forge-not-found', 'the author is deleted');
  const { index } = indexParams(subject);
  const query = { type, state: 'all', created_by: user.login };
  let seen = 0;
  // The newest are listed first, so one page is usually enough.
  for await (const one of client.items(operations.listIssues, { params: repositoryParams(subject), query })) {
    seen += 1;
    if (seen > maxPulls)
      throw new Error(`too large to judge: ${user.login} has more than ${maxPulls} ${type}`);
    // The name may have belonged to another account earlier.
    if (one.number < index && one.user?.id === user.id) return false;
  }
  return user.id !== (await ownId(client, memory));
}

const ownKey = 'self/id';

async function ownId(client: Client, memory: FactMemory): Promise<number> {
  const known = memory.get(ownKey) as number | undefined;
  const id = known ?? (await client.call(operations.getSelf, {})).id;
  memory.set(ownKey, id);
  return id;
}

import { z } from 'zod';
import { eventFamilies, type Family } from '../contract/events/event-families.ts';
import { operations } from '../contract/operations.ts';
import { ReeveError } from '../platform/errors.ts';
import { comment } from './comment.ts';
import { type AskContext, defineFact, requestOf } from './fact.ts';
import { review } from './review.ts';
import { repositoryParams } from './where.ts';

export const permissions = ['none', 'read', 'write', 'admin', 'owner'] as const;
type SenderPermission = (typeof permissions)[number];

type NamedAccount = { readonly id: number; readonly login: string };

/** The permission of the person who caused the event. */
export const senderPermission = defineFact({
  name: 'sender_permission',
  meaning:
    'The permission in the repository of the person who caused the event: `none`, `read`, `write`, `admin` or `owner`. For an event about a comment or review it is that of the live author. Only administrators of the repository may read it: without that access the condition is `error`. Events found by catching up name no person.',
  shows: 'repository',
  visibleTo: 'subject',
  shape: z.enum(permissions),
  of: ['repository', 'pull_request', 'issue', 'branch'],
  needs: { access: 'admin', scopes: ['repository', 'issue'] },
  families: Object.keys(eventFamilies) as Family[],
  requests: 2,
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
  // A deleted account has the id -1, and the name that it is shown under may belong to another.
  if (!author || author.id <= 0) throw new ReeveError('forge-not-found', 'the event names no account');
  return { id: author.id, login: author.login };
}

/**
 * Returns the permission of an account. It is asked by name: an answer about another account, which has the name now, is
 * an error.
 */
export async function askPermission(
  { client, subject }: Pick<AskContext, 'client' | 'subject'>,
  { id, login }: NamedAccount,
): Promise<SenderPermission> {
  const params = { ...repositoryParams(subject), collaborator: login };
  const { permission, user } = await client.call(operations.getPermission, { params });
  if (user && user.id !== id) throw new Error(`the account ${login} is another one now than in the event`);
  const known = permissions.find((name) => name === permission);
  if (known === undefined) throw new Error(`the forge knows a permission "${permission}"`);
  return known;
}

/** Says whether this permission lets an account push. */
export function isWriter(permission: SenderPermission): boolean {
  return permissions.indexOf(permission) >= permissions.indexOf('write');
}

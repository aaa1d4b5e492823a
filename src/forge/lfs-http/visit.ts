import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../access/actor.ts';
import { reaches } from '../access/permissions.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem } from '../core/errors.ts';

/** The content type of the API of Git LFS, which its clients have to accept. */
export const lfsMediaType = 'application/vnd.git-lfs+json';

type LfsPath = { readonly owner: string; readonly repo: string };
export type LfsRequest = FastifyRequest<{ Params: LfsPath & { readonly [name: string]: string } }>;

/** A request to the Git LFS of a repository that its sender may make. */
export type LfsVisit = RepositoryTarget & {
  readonly context: ForgeContext;
  readonly actor: Actor;
  readonly request: LfsRequest;
  readonly reply: FastifyReply;
};

/** What a request needs of the access to the code. */
export type LfsNeed = {
  readonly level: 'read' | 'write';
  /** What a caller without access reads; locks are for accounts alone. */
  readonly lockAction?: string;
};

/** Ends the request where the caller may not do as much with the repository. */
export function requireLfsAccess(
  { permission }: RepositoryTarget,
  actor: Actor,
  { level, lockAction }: LfsNeed,
): void {
  const isKnown = lockAction === undefined || actor.user !== undefined;
  if (!isKnown || !reaches(permission, level)) throw lfsRefusal(lockAction);
}

export function lfsRefusal(lockAction: string | undefined): ForgeProblem {
  const message = lockAction === undefined ? 'Unauthorized' : `You must have ${lockAction}`;
  return new ForgeProblem(401, message, 'error', { 'www-authenticate': 'Basic realm="gitea-lfs"' });
}

export function sendLfs(reply: FastifyReply, body: object): FastifyReply {
  return reply.type(lfsMediaType).serializer(JSON.stringify).send(body);
}

/** Sends what is about locks: plain JSON, as on the baseline. */
export function sendLock(reply: FastifyReply, body: object): FastifyReply {
  return reply.type('application/json;charset=utf-8').serializer(JSON.stringify).send(body);
}

import type { FastifyInstance, FastifyReply } from 'fastify';
import { type Actor, createActorReader, headerCredentials } from '../access/actor.ts';
import { findRepository } from '../access/guards.ts';
import { Redirect } from '../access/redirects.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem } from '../core/errors.ts';
import { refuseCrossSiteWrites } from '../http/cross-site.ts';
import { answerBatch } from './batch.ts';
import { createLock, listLocks, removeLock, verifyLocks } from './locks.ts';
import { downloadObject, uploadObject, verifyObject } from './objects.ts';
import {
  type LfsNeed,
  type LfsRequest,
  type LfsVisit,
  lfsMediaType,
  lfsRefusal,
  requireLfsAccess,
  sendLfs,
  sendLock,
} from './visit.ts';

type LfsHandler = (visit: LfsVisit) => Promise<FastifyReply>;
type RouteNeed = LfsNeed & {
  /** The client has to accept the media type. */
  readonly isApi?: boolean;
  /** The level that the scope of a token must have, where it is another than that of the access. */
  readonly scope?: 'read' | 'write';
};

/** Registers Git LFS below `/{owner}/{repo}/info/lfs`: the batch API with basic transfers, and locks. */
export function registerLfs(app: FastifyInstance, context: ForgeContext): void {
  const enter = createLfsEntrance(context);
  refuseCrossSiteWrites(app, context);
  app.removeAllContentTypeParsers();
  // The body stays a stream: an object may be larger than memory.
  app.addContentTypeParser('*', (_request, body, done) => done(null, body));
  const root = '/:owner/:repo/info/lfs';
  const lock = (action: string, level: 'read' | 'write', scope = level) => ({
    level,
    scope,
    isApi: true,
    lockAction: `${level === 'read' ? 'pull' : 'push'} access to ${action} locks`,
  });
  const large = { bodyLimit: Number.MAX_SAFE_INTEGER };
  app.post(`${root}/objects/batch`, enter({ level: 'read', isApi: true }, answerBatch));
  app.put(`${root}/objects/:oid/:size`, large, enter({ level: 'write' }, uploadObject));
  app.get(`${root}/objects/:oid`, enter({ level: 'read' }, downloadObject));
  app.get(`${root}/objects/:oid/:filename`, enter({ level: 'read' }, downloadObject));
  app.post(`${root}/verify`, enter({ level: 'write', isApi: true }, verifyObject));
  app.get(`${root}/locks`, enter(lock('list', 'read'), listLocks));
  app.post(`${root}/locks`, enter(lock('create', 'write'), createLock));
  app.post(`${root}/locks/verify`, enter(lock('verify', 'write', 'read'), verifyLocks));
  app.post(`${root}/locks/:id/unlock`, enter(lock('delete', 'write'), removeLock));
}

function createLfsEntrance(context: ForgeContext) {
  const readActor = createActorReader(context);
  return (need: RouteNeed, answer: LfsHandler) => async (request: LfsRequest, reply: FastifyReply) => {
    try {
      if (need.isApi && request.headers.accept?.split(';')[0] !== lfsMediaType) {
        throw new ForgeProblem(415, 'Unsupported Media Type');
      }
      const { level, scope = level } = need;
      const actor = await readActor(headerCredentials(request), [`${scope}:repository`]);
      const target = findLfsTarget(context, request, actor, need);
      requireLfsAccess(target, actor, need);
      return await answer({ ...target, context, actor, request, reply });
    } catch (error) {
      return refuseLfs(context, request, reply, error, need);
    }
  };
}

/**
 * What is not there is refused like what the caller may not see. The baseline answers 404 to the first and 401 to the second, and so
 * shows strangers which private repositories there are.
 */
function findLfsTarget(
  context: ForgeContext,
  { params }: LfsRequest,
  { user }: Actor,
  { lockAction }: LfsNeed,
): RepositoryTarget {
  try {
    return findRepository(context.db, params.owner, params.repo.replace(/\.git$/, ''), user, 'code');
  } catch (error) {
    if (!(error instanceof ForgeProblem) || error.status !== 404) throw error;
    throw lfsRefusal(lockAction);
  }
}

function refuseLfs(
  context: ForgeContext,
  request: LfsRequest,
  reply: FastifyReply,
  error: unknown,
  { lockAction }: LfsNeed,
): FastifyReply {
  if (error instanceof Redirect) {
    return reply.code(301).header('location', error.locationOf(request.url)).send();
  }
  const problem = error instanceof ForgeProblem ? error : new ForgeProblem(500, 'Internal Server Error');
  if (problem.status >= 500) {
    const { method, url } = request;
    context.log.error({ err: error, method, path: url.split('?')[0] }, 'Git LFS could not answer');
  }
  // What was not read of a body goes: the connection serves the next request, and the client reads the answer.
  request.raw.resume();
  reply.code(problem.status).headers(problem.headers);
  // The baseline has another member for the message of a lock.
  if (problem.status === 403) return reply.type('text/plain; charset=utf-8').send('Forbidden\n');
  return lockAction
    ? sendLock(reply, { message: problem.message })
    : sendLfs(reply, { Message: problem.message });
}

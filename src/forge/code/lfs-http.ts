import { posix } from 'node:path';
import { text } from 'node:stream/consumers';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ZodType, z } from 'zod';
import { type Actor, createActorReader, headerCredentials, requireScopes } from '../platform/access/actor.ts';
import { findRepository } from '../platform/access/guards.ts';
import { reaches } from '../platform/access/permissions.ts';
import { Redirect } from '../platform/access/redirects.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { Database } from '../platform/database.ts';
import { ForgeProblem } from '../platform/errors.ts';
import { refuseCrossSiteWrites } from '../platform/http/cross-site.ts';
import { readGitBody } from '../platform/http/request-body.ts';
import type { UserRow } from '../platform/rows.ts';
import { secondsOf, toInstant } from '../platform/time.ts';
import {
  findLfsObject,
  isLfsPointer,
  type LfsObjectRow,
  type LfsPointer,
  receiveLfsObject,
} from './lfs-rows.ts';
import { contentDisposition } from './serve-file.ts';

/** A lock on a path, with the name of its owner (null if the account was deleted). */
type LfsLockRow = {
  readonly id: number;
  readonly repo_id: number;
  readonly owner_id: number | null;
  readonly path: string;
  readonly created_at: number;
  readonly owner: string | null;
};

const locks = /* sql */ `
SELECT l.id, l.repo_id, l.owner_id, l.path, l.created_at, u.name AS owner FROM lfs_locks l LEFT JOIN users u ON u.id = l.owner_id`;

/** Returns a lock as the Git LFS API shows it. */
function toLfsLock({ id, path, created_at, owner }: LfsLockRow) {
  return { id: String(id), path, locked_at: toInstant(created_at), owner: { name: owner ?? 'Ghost' } };
}

/** Returns a normalized path relative to the repository root. */
function cleanLockPath(path: string): string {
  return (
    posix
      .normalize(`/${path}`)
      .replace(/(?<=.)\/$/, '')
      .slice(1) || (path === '' ? '' : '.')
  );
}

/** Returns the locks of a repository, oldest first; `limit` 0 means all. */
function listLfsLocks(
  db: Database,
  repositoryId: number,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): readonly LfsLockRow[] {
  return db.all<LfsLockRow>(
    `${locks} WHERE l.repo_id = ? ORDER BY l.id LIMIT ? OFFSET ?`,
    repositoryId,
    limit === 0 ? -1 : limit,
    offset,
  );
}

function findLfsLock(db: Database, repositoryId: number, id: number): LfsLockRow | undefined {
  return db.get<LfsLockRow>(`${locks} WHERE l.repo_id = ? AND l.id = ?`, repositoryId, id);
}

/** Returns the lock on a path, compared case-insensitively. */
function findLfsLockOfPath(db: Database, repositoryId: number, path: string): LfsLockRow | undefined {
  const lower = cleanLockPath(path).toLowerCase();
  return db.get<LfsLockRow>(`${locks} WHERE l.repo_id = ? AND l.lower_path = ?`, repositoryId, lower);
}

/** Locks a path. Returns the lock and whether it is new. */
function createLfsLock(
  { db, clock }: ForgeContext,
  wanted: { readonly repositoryId: number; readonly ownerId: number; readonly path: string },
): { readonly lock: LfsLockRow; readonly isNew: boolean } {
  const path = cleanLockPath(wanted.path);
  const { changes } = db.run(
    `INSERT INTO lfs_locks (repo_id, owner_id, path, lower_path, created_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (repo_id, lower_path) DO NOTHING`,
    wanted.repositoryId,
    wanted.ownerId,
    path,
    path.toLowerCase(),
    secondsOf(clock()),
  );
  const lock = findLfsLockOfPath(db, wanted.repositoryId, path);
  if (!lock) throw new TypeError('the inserted lock is missing');
  return { lock, isNew: changes === 1 };
}

function deleteLfsLock(db: Database, id: number): void {
  db.run('DELETE FROM lfs_locks WHERE id = ?', id);
}

type LfsHandler = (visit: LfsVisit) => Promise<FastifyReply>;
type RouteNeed = LfsNeed & {
  /** Whether the client must accept the Git LFS media type. */
  readonly isApi?: boolean;
  /** Required level of the token's scope, if it differs from the access level. */
  readonly scope?: 'read' | 'write';
};

/** Registers Git LFS under `/{owner}/{repo}/info/lfs`: the batch API with basic transfers, and locks. */
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
 * Returns the repository. A missing repository gets the same response as one that the caller may not see. Gitea
 * responds with 404 to the first and 401 to the second, which reveals private repositories to strangers.
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
    context.log.error({ err: error, method, path: url.split('?')[0] }, 'a Git LFS request failed');
  }
  // Discards the unread body, so that the client can read the response and the connection can serve the next request.
  request.raw.resume();
  reply.code(problem.status).headers(problem.headers);
  if (problem.status === 403) return reply.type('text/plain; charset=utf-8').send('Forbidden\n');
  // As in Gitea, lock responses name the field `message`, other responses `Message`.
  return lockAction
    ? sendLock(reply, { message: problem.message })
    : sendLfs(reply, { Message: problem.message });
}

const batchShape = z.object({
  operation: z.string().catch(''),
  objects: z.array(z.object({ oid: z.string().catch(''), size: z.number().catch(0) })).catch([]),
});

/** Maximum number of objects per request; git-lfs requests a hundred at a time. */
const maxObjects = 10_000;

/** Returns download URLs for objects, or upload URLs for objects that the repository lacks. */
async function answerBatch(visit: LfsVisit): Promise<FastifyReply> {
  const { operation, objects } = await readLfsBody(visit.request, batchShape, 400);
  if (operation !== 'upload' && operation !== 'download') throw new ForgeProblem(400, 'Bad Request');
  const level = operation === 'upload' ? 'write' : 'read';
  requireLfsAccess(visit, visit.actor, { level });
  requireScopes(visit.actor, [`${level}:repository`]);
  if (objects.length > maxObjects) throw new ForgeProblem(413, 'Request Entity Too Large');
  const answer = operation === 'upload' ? answerUpload : answerDownload;
  const answers = objects.map((object) => ({
    oid: object.oid,
    size: object.size,
    ...(isLfsPointer(object) ? answer(visit, object) : failure(422, 'Oid or size are invalid')),
  }));
  return sendLfs(visit.reply, { objects: answers.length === 0 ? null : answers });
}

type Link = { readonly href: string; readonly header?: Readonly<Record<string, string>> };
type ObjectAnswer =
  | { readonly actions?: Readonly<Record<string, Link>> }
  | { readonly error: { readonly code: number; readonly message: string } };

function failure(code: number, message: string): ObjectAnswer {
  return { error: { code, message } };
}

function answerDownload(visit: LfsVisit, pointer: LfsPointer): ObjectAnswer {
  const known = findLfsObject(visit.context.db, visit.repository.id, pointer.oid);
  if (!known) return failure(404, 'Not Found');
  if (known.size !== pointer.size) return wrongSize(pointer);
  return { actions: { download: linkTo(visit, `objects/${pointer.oid}`) } };
}

/**
 * Returns upload links for an object that the repository lacks. An object that only another repository has must be
 * uploaded again, because only a client that has the bytes may store them here.
 */
function answerUpload(visit: LfsVisit, pointer: LfsPointer): ObjectAnswer {
  const known = findLfsObject(visit.context.db, visit.repository.id, pointer.oid);
  if (known) return known.size === pointer.size ? {} : wrongSize(pointer);
  const { lfsBytes } = visit.context.limits;
  if (pointer.size > lfsBytes) return failure(422, `Size must be less than or equal to ${lfsBytes}`);
  return {
    actions: {
      upload: linkTo(visit, `objects/${pointer.oid}/${pointer.size}`, { 'Transfer-Encoding': 'chunked' }),
      verify: linkTo(visit, 'verify', { Accept: `${lfsMediaType};q=0.9, */*;q=0.8` }),
    },
  };
}

function wrongSize({ oid, size }: LfsPointer): ObjectAnswer {
  return failure(422, `Object ${oid} is not ${size} bytes`);
}

/** Returns a link that contains the credentials of the current request, for the client to send again. */
function linkTo({ context, owner, repository, request }: LfsVisit, path: string, more = {}): Link {
  const { authorization } = request.headers;
  const header = { ...(authorization ? { Authorization: authorization } : {}), ...more };
  return {
    href: `${context.rootUrl()}/${owner.name}/${repository.name}.git/info/lfs/${path}`,
    ...(Object.keys(header).length > 0 ? { header } : {}),
  };
}

const maxPage = 50;
const longestPath = 4_000;

type LockPage = { readonly locks: readonly LfsLockRow[]; readonly next: Readonly<Record<string, string>> };

/** Lists one lock (by id or path) or all locks, paginated if a limit is given. */
async function listLocks(visit: LfsVisit): Promise<FastifyReply> {
  const { context, repository, reply } = visit;
  const query = lockQueryOf(visit);
  const [id, path] = [query.get('id') ?? '', query.get('path') ?? ''];
  if (id !== '' || path !== '') {
    if (id !== '' && !/^-?\d{1,15}$/.test(id))
      throw new ForgeProblem(400, `bad request : ${id} is not a number`);
    const lock =
      id === ''
        ? findLfsLockOfPath(context.db, repository.id, path)
        : findLfsLock(context.db, repository.id, Number(id));
    return sendLock(reply, { locks: lock ? [toLfsLock(lock)] : [] });
  }
  const { locks, next } = readLockPage(visit);
  return sendLock(reply, { locks: locks.map(toLfsLock), ...next });
}

/** Lists the caller's locks separately from other locks: a push must not change paths locked by others. */
async function verifyLocks(visit: LfsVisit): Promise<FastifyReply> {
  const caller = signedIn(visit);
  const { locks, next } = readLockPage(visit);
  const isOurs = ({ owner_id }: LfsLockRow): boolean => owner_id === caller.id;
  const [ours, theirs] = [locks.filter(isOurs), locks.filter((lock) => !isOurs(lock))];
  return sendLock(visit.reply, { ours: ours.map(toLfsLock), theirs: theirs.map(toLfsLock), ...next });
}

function lockQueryOf({ request }: LfsVisit): URLSearchParams {
  return new URLSearchParams(request.url.split('?')[1]);
}

function readLockPage(visit: LfsVisit): LockPage {
  const query = lockQueryOf(visit);
  const numberOf = (name: string): number => {
    const text = query.get(name) ?? '';
    return /^\d{1,9}$/.test(text) ? Number(text) : 0;
  };
  const [cursor, limit] = [numberOf('cursor'), Math.min(numberOf('limit'), maxPage)];
  const offset = Math.max(cursor - 1, 0) * limit;
  const locks = listLfsLocks(visit.context.db, visit.repository.id, { limit, offset });
  const isFull = limit > 0 && locks.length === limit;
  return { locks, next: isFull ? { next_cursor: String(cursor + 1) } : {} };
}

const lockShape = z.object({ path: z.string().catch('') });

async function createLock(visit: LfsVisit): Promise<FastifyReply> {
  const { context, repository, reply } = visit;
  const { path } = await readLfsBody(visit.request, lockShape, 400);
  if (path.length > longestPath) throw new ForgeProblem(400, 'Bad Request');
  const wanted = { repositoryId: repository.id, ownerId: signedIn(visit).id, path };
  const { lock, isNew } = createLfsLock(context, wanted);
  return isNew
    ? sendLock(reply.code(201), { lock: toLfsLock(lock) })
    : sendLock(reply.code(409), { message: 'already created lock', lock: toLfsLock(lock) });
}

const unlockShape = z.object({ force: z.boolean().catch(false) });

/** Removes the caller's own lock or, with `force`, the lock of another account. */
async function removeLock(visit: LfsVisit): Promise<FastifyReply> {
  const { context, repository, request, reply } = visit;
  const caller = signedIn(visit);
  const { force } = await readLfsBody(request, unlockShape, 400);
  const id = /^\d{1,15}$/.test(request.params.id ?? '') ? Number(request.params.id) : 0;
  const lock = findLfsLock(context.db, repository.id, id);
  // Gitea sends this message for every failure.
  if (!lock || (!force && lock.owner_id !== caller.id)) {
    return sendLock(reply.code(500), { message: 'unable to delete lock : Internal Server Error' });
  }
  deleteLfsLock(context.db, lock.id);
  return sendLock(reply, { lock: toLfsLock(lock) });
}

/** Returns the signed-in account; the access check rejects anonymous callers. */
function signedIn({ actor }: LfsVisit): UserRow {
  if (!actor.user) throw lfsRefusal(undefined);
  return actor.user;
}

/** Receives an object whose id and size are in the URL. */
async function uploadObject(visit: LfsVisit): Promise<FastifyReply> {
  const { context, repository, request, reply } = visit;
  const { oid = '', size = '' } = request.params;
  const pointer = { oid, size: /^\d{1,15}$/.test(size) ? Number(size) : -1 };
  if (!isLfsPointer(pointer)) throw new ForgeProblem(422, 'Unprocessable Entity');
  if (findLfsObject(context.db, repository.id, oid)) {
    request.raw.resume();
    return sendLfs(reply, { Message: 'OK' });
  }
  const { lfsBytes } = context.limits;
  if (pointer.size > lfsBytes) throw new ForgeProblem(422, `Size must be less than or equal to ${lfsBytes}`);
  try {
    await receiveLfsObject(context, repository.id, pointer, readGitBody(request, pointer.size));
  } catch (error) {
    const isLonger = error instanceof ForgeProblem && error.status === 413;
    throw isLonger ? new ForgeProblem(422, 'content size does not match') : error;
  }
  return sendLfs(reply, { Message: 'OK' });
}

/** Sends an object, whole or from the position where a previous download stopped. */
async function downloadObject(visit: LfsVisit): Promise<FastifyReply> {
  const { context, request, reply } = visit;
  const { oid = '', filename = '' } = request.params;
  const row = findObject(visit, { oid, size: 0 });
  const range = readLfsRange(request.headers.range, row.size);
  const body = await context.attachments.read(row.uuid, range);
  if (!body) throw new ForgeProblem(404, 'Not Found');
  const length = String(range ? range.end - range.start + 1 : row.size);
  if (range) {
    reply
      .code(206)
      .header('content-range', `bytes ${range.start}-${range.end}/${row.size}`)
      .header('access-control-expose-headers', 'Content-Range');
  }
  if (filename !== '') {
    const name = Buffer.from(filename, 'base64url').toString('utf8');
    reply
      .header('content-disposition', contentDisposition('attachment', name))
      .header('access-control-expose-headers', 'Content-Disposition');
  }
  return reply
    .header('content-length', length)
    .header('x-gitea-lfs-content-length', length)
    .header('x-content-type-options', 'nosniff')
    .type('application/octet-stream')
    .send(body);
}

/** Parses a range that has a start; a malformed range means the whole object, as in Gitea. */
function readLfsRange(
  header: string | undefined,
  size: number,
): { readonly start: number; readonly end: number } | undefined {
  const match = /bytes=(\d{1,15})-(\d{0,15})/.exec(header ?? '');
  if (!match) return undefined;
  const start = Number(match[1]);
  if (start >= size) throw new ForgeProblem(416, 'Requested Range Not Satisfiable');
  const end = match[2] ? Number(match[2]) : size - 1;
  return { start, end: end >= start && end < size ? end : size - 1 };
}

const pointerShape = z.object({ oid: z.string().catch(''), size: z.number().catch(-1) });

/** Confirms to the client that the uploaded object is stored. */
async function verifyObject(visit: LfsVisit): Promise<FastifyReply> {
  const pointer = await readLfsBody(visit.request, pointerShape, 422);
  findObject(visit, pointer);
  return sendLfs(visit.reply, { Message: 'OK' });
}

function findObject({ context, repository }: LfsVisit, pointer: LfsPointer): LfsObjectRow {
  if (!isLfsPointer(pointer)) throw new ForgeProblem(422, 'Oid or size are invalid');
  const row = findLfsObject(context.db, repository.id, pointer.oid);
  if (!row) throw new ForgeProblem(404, 'Not Found');
  return row;
}

/** Maximum size of a request: ten thousand objects with a margin. No valid request is longer. */
const maxRequestBytes = 4 * 1024 * 1024;

/** Returns the JSON body of a request, validated by a schema; ends the request with `status` if it is invalid. */
async function readLfsBody<T>(request: FastifyRequest, shape: ZodType<T>, status: number): Promise<T> {
  const body = await text(readGitBody(request, maxRequestBytes));
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new ForgeProblem(status, status === 400 ? 'Bad Request' : 'Unprocessable Entity');
  }
  const parsed = shape.safeParse(value);
  if (!parsed.success)
    throw new ForgeProblem(status, status === 400 ? 'Bad Request' : 'Unprocessable Entity');
  return parsed.data;
}

/** The content type of the Git LFS API, which clients must accept. */
const lfsMediaType = 'application/vnd.git-lfs+json';

type LfsPath = { readonly owner: string; readonly repo: string };
type LfsRequest = FastifyRequest<{ Params: LfsPath & { readonly [name: string]: string } }>;

/** An authorized request to the Git LFS API of a repository. */
type LfsVisit = RepositoryTarget & {
  readonly context: ForgeContext;
  readonly actor: Actor;
  readonly request: LfsRequest;
  readonly reply: FastifyReply;
};

/** Required access to the code. */
type LfsNeed = {
  readonly level: 'read' | 'write';
  /** Error text for a caller without access; locks require an account. */
  readonly lockAction?: string;
};

/** Ends the request if the caller lacks the required access to the repository. */
function requireLfsAccess(
  { permission }: RepositoryTarget,
  actor: Actor,
  { level, lockAction }: LfsNeed,
): void {
  const isKnown = lockAction === undefined || actor.user !== undefined;
  if (!isKnown || !reaches(permission, level)) throw lfsRefusal(lockAction);
}

function lfsRefusal(lockAction: string | undefined): ForgeProblem {
  const message = lockAction === undefined ? 'Unauthorized' : `You must have ${lockAction}`;
  return new ForgeProblem(401, message, 'error', { 'www-authenticate': 'Basic realm="gitea-lfs"' });
}

function sendLfs(reply: FastifyReply, body: object): FastifyReply {
  return reply.type(lfsMediaType).serializer(JSON.stringify).send(body);
}

/** Sends a lock response: plain JSON, as in Gitea. */
function sendLock(reply: FastifyReply, body: object): FastifyReply {
  return reply.type('application/json;charset=utf-8').serializer(JSON.stringify).send(body);
}

import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { ForgeProblem } from '../core/errors.ts';
import type { UserRow } from '../core/rows.ts';
import {
  createLfsLock,
  deleteLfsLock,
  findLfsLock,
  findLfsLockOfPath,
  type LfsLockRow,
  listLfsLocks,
  toLfsLock,
} from '../lfs/lfs-locks.ts';
import { readLfsBody } from './body.ts';
import { type LfsVisit, lfsRefusal, sendLock } from './visit.ts';

const maxPage = 50;
const longestPath = 4_000;

type LockPage = { readonly locks: readonly LfsLockRow[]; readonly next: Readonly<Record<string, string>> };

/** Lists locks: the one of an id or a path, else all, page by page where a limit is given. */
export async function listLocks(visit: LfsVisit): Promise<FastifyReply> {
  const { context, repository, reply } = visit;
  const query = lockQueryOf(visit);
  const [id, path] = [query.get('id') ?? '', query.get('path') ?? ''];
  if (id !== '' || path !== '') {
    if (id !== '' && !/^-?\d{1,15}$/.test(id))
      throw new ForgeProblem(400, `bad request : ${id} is no number`);
    const lock =
      id === ''
        ? findLfsLockOfPath(context.db, repository.id, path)
        : findLfsLock(context.db, repository.id, Number(id));
    return sendLock(reply, { locks: lock ? [toLfsLock(lock)] : [] });
  }
  const { locks, next } = readLockPage(visit);
  return sendLock(reply, { locks: locks.map(toLfsLock), ...next });
}

/** Lists the locks of the caller apart from those of others: a push must not change what others have locked. */
export async function verifyLocks(visit: LfsVisit): Promise<FastifyReply> {
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

export async function createLock(visit: LfsVisit): Promise<FastifyReply> {
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

/** Removes a lock: one's own, or with `force` that of another account. */
export async function removeLock(visit: LfsVisit): Promise<FastifyReply> {
  const { context, repository, request, reply } = visit;
  const caller = signedIn(visit);
  const { force } = await readLfsBody(request, unlockShape, 400);
  const id = /^\d{1,15}$/.test(request.params.id ?? '') ? Number(request.params.id) : 0;
  const lock = findLfsLock(context.db, repository.id, id);
  // The baseline answers every failure with this.
  if (!lock || (!force && lock.owner_id !== caller.id)) {
    return sendLock(reply.code(500), { message: 'unable to delete lock : Internal Server Error' });
  }
  deleteLfsLock(context.db, lock.id);
  return sendLock(reply, { lock: toLfsLock(lock) });
}

/** The entrance lets accounts alone in. */
function signedIn({ actor }: LfsVisit): UserRow {
  if (!actor.user) throw lfsRefusal(undefined);
  return actor.user;
}

import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { requireScopes } from '../access/actor.ts';
import { ForgeProblem } from '../core/errors.ts';
import { findLfsObject } from '../lfs/lfs-objects.ts';
import { isLfsPointer, type LfsPointer } from '../lfs/pointer.ts';
import { readLfsBody } from './body.ts';
import { type LfsVisit, lfsMediaType, requireLfsAccess, sendLfs } from './visit.ts';

const batchShape = z.object({
  operation: z.string().catch(''),
  objects: z.array(z.object({ oid: z.string().catch(''), size: z.number().catch(0) })).catch([]),
});

/** More objects than a client sends at a time: git-lfs asks for a hundred. */
const maxObjects = 10_000;

/** Answers where a client fetches objects from, or sends those to that the repository does not have. */
export async function answerBatch(visit: LfsVisit): Promise<FastifyReply> {
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

/** What another repository has must be sent again: only who has the bytes may have them here. */
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

/** A client sends the same credentials again: those of its own request. */
function linkTo({ context, owner, repository, request }: LfsVisit, path: string, more = {}): Link {
  const { authorization } = request.headers;
  const header = { ...(authorization ? { Authorization: authorization } : {}), ...more };
  return {
    href: `${context.rootUrl()}/${owner.name}/${repository.name}.git/info/lfs/${path}`,
    ...(Object.keys(header).length > 0 ? { header } : {}),
  };
}

import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { contentDisposition } from '../code/serve-file.ts';
import { ForgeProblem } from '../core/errors.ts';
import { findLfsObject, type LfsObjectRow, receiveLfsObject } from '../lfs/lfs-objects.ts';
import { isLfsPointer, type LfsPointer } from '../lfs/pointer.ts';
import { readGitBody } from '../smart-http/request-body.ts';
import { readLfsBody } from './body.ts';
import { type LfsVisit, sendLfs } from './visit.ts';

/** Takes an object whose id and size the address names. */
export async function uploadObject(visit: LfsVisit): Promise<FastifyReply> {
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

/** Sends an object, whole or from where a client had stopped. */
export async function downloadObject(visit: LfsVisit): Promise<FastifyReply> {
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

/** One range of bytes with a start is served; what is none means the whole object, as on the baseline. */
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

/** Tells a client whether what it sent is there. */
export async function verifyObject(visit: LfsVisit): Promise<FastifyReply> {
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

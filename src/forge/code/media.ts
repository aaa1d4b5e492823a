import type { IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { ForgeContext } from '../core/context.ts';
import { found } from '../core/errors.ts';
import { sniffContentType, sniffedBytes } from '../detection/content-type.ts';
import type { GitRepository } from '../git/repository.ts';
import { findLfsObject, type LfsObjectRow } from '../lfs/lfs-objects.ts';
import { maxPointerBytes, parsePointer } from '../lfs/pointer.ts';
import {
  contentDisposition,
  contentHeaders,
  type FileAnswer,
  readRange,
  type ServedFile,
  serveFile,
} from './serve-file.ts';

/** Returns a file as an answer to a request; in place of a pointer of Git LFS what it stands for, where the repository has that. */
export async function serveMedia(
  context: ForgeContext,
  git: GitRepository,
  file: ServedFile,
  request: IncomingHttpHeaders,
): Promise<FileAnswer> {
  const row = await findContent(context, git, file);
  return row ? await serveContent(context, row, file, request) : await serveFile(git, file, request);
}

async function findContent(
  { db }: ForgeContext,
  git: GitRepository,
  { id, size }: ServedFile,
): Promise<LfsObjectRow | undefined> {
  if (size >= maxPointerBytes) return undefined;
  const content = (await git.objects.read(id))?.content;
  const pointer = content && parsePointer(content);
  return pointer && findLfsObject(db, git.id, pointer.oid);
}

async function serveContent(
  { attachments }: ForgeContext,
  { oid, size, uuid, created_at }: LfsObjectRow,
  { name }: ServedFile,
  request: IncomingHttpHeaders,
): Promise<FileAnswer> {
  const validators = { etag: `"${oid}"`, 'last-modified': new Date(created_at * 1000).toUTCString() };
  const known = request['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known?.some((tag) => tag === '*' || tag === validators.etag)) {
    return { status: 304, headers: validators, body: undefined };
  }
  const range = readRange(request.range, size);
  const first = { start: 0, end: Math.max(0, Math.min(size, sniffedBytes) - 1) };
  const head = size === 0 ? Buffer.alloc(0) : await buffer(found(await attachments.read(uuid, first)));
  const body = found(await attachments.read(uuid, range));
  const headers = {
    ...validators,
    ...contentHeaders(sniffContentType(head)),
    'cache-control': 'private, max-age=0, must-revalidate',
    'content-disposition': contentDisposition('inline', name),
    'access-control-expose-headers': 'Content-Disposition',
    'content-length': String(range ? range.end - range.start + 1 : size),
  };
  if (!range) return { status: 200, headers, body };
  const part = `bytes ${range.start}-${range.end}/${size}`;
  return { status: 206, headers: { ...headers, 'content-range': part }, body };
}

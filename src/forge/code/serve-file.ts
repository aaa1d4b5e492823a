import type { IncomingHttpHeaders } from 'node:http';
import { Transform } from 'node:stream';
import type { FileBody } from '../../contract/operation.ts';
import { ForgeProblem } from '../platform/errors.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import type { Seconds } from '../platform/rows.ts';

/** Number of leading bytes that determine the type of a file. */
export const sniffedBytes = 1024;

/**
 * Content types that browsers display, with the pattern of their first bytes; everything else is text or untyped bytes.
 */
const signatures: readonly (readonly [type: string, pattern: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n\x1a\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF.{4}WEBPVP/s],
  ['image/bmp', /^BM/],
  ['image/x-icon', /^\0\0[\x01\x02]\0/],
  ['image/avif', /^.{4}ftyp(avif|.{4}.*avif)/s],
  ['application/pdf', /^%PDF-/],
  ['audio/wave', /^RIFF.{4}WAVE/s],
  ['audio/aiff', /^FORM.{4}AIFF/s],
  ['audio/basic', /^\.snd/],
  ['audio/midi', /^MThd\0\0\0\x06/],
  ['audio/mpeg', /^ID3/],
  ['video/ogg', /^OggS\0.*(theora|dirac)/s],
  ['audio/ogg', /^OggS\0/],
  ['video/avi', /^RIFF.{4}AVI /s],
  ['video/webm', /^\x1aE\xdf\xa3/],
  ['video/mp4', /^.{4}ftyp(.{4}.{4})?.*mp4/s],
];

const svg = /^\s*(<\?xml[^>]*\?>\s*)?(<!--.*?-->\s*)*(<!DOCTYPE svg[^>]*>\s*)?(<!--.*?-->\s*)*<svg[\s/>]/is;

/**
 * Returns the content type of a file, from its first bytes: types that browsers display, `text/plain` for any text
 * (also HTML, which must not run), otherwise `application/octet-stream`. Source: forge
 * `modules/typesniffer/typesniffer.go`.
 */
export function sniffContentType(head: Buffer): string {
  const bytes = head.subarray(0, sniffedBytes);
  const latin1 = bytes.toString('latin1');
  const known = signatures.find(([, pattern]) => pattern.test(latin1))?.[0];
  if (known !== undefined && !(known === 'audio/mpeg' && isText(bytes.subarray(3)))) return known;
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'text/plain; charset=utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'text/plain; charset=utf-16be';
  if (!isText(bytes)) return 'application/octet-stream';
  return svg.test(latin1) ? 'image/svg+xml' : 'text/plain; charset=utf-8';
}

/** Returns whether the bytes are text, that is, contain no binary control characters. */
function isText(bytes: Buffer): boolean {
  return !/[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/.test(bytes.toString('latin1'));
}

/** A file of a repository, ready to send. */
export type ServedFile = {
  readonly id: string;
  /** Size in bytes. */
  readonly size: number;
  /** File name without folders. */
  readonly name: string;
  /** Time of the last commit that changed the file. */
  readonly modifiedAt: Seconds;
  /** Whether shared caches may keep a copy. */
  readonly isPublic: boolean;
};

/** A response with a file, a range of it, or no body if the client has it cached. */
export type FileAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: FileBody | undefined;
};

/** Larger files are streamed from git and never held in memory as a whole. */
const heldBytes = 1024 * 1024;

/** Returns a file of a repository as a response: whole, the requested range, or 304. */
export async function serveFile(
  git: GitRepository,
  file: ServedFile,
  request: IncomingHttpHeaders,
): Promise<FileAnswer> {
  const validators = {
    etag: `"${file.id}"`,
    'last-modified': new Date(file.modifiedAt * 1000).toUTCString(),
  };
  if (isUnchanged(file, request)) return { status: 304, headers: validators, body: undefined };
  const { head, body } = await openBlob(git, file);
  const type = sniffContentType(head);
  const headers = {
    ...validators,
    ...contentHeaders(type),
    'cache-control': `${file.isPublic ? 'public' : 'private'}, max-age=21600`,
    'content-disposition': contentDisposition('inline', file.name),
    'access-control-expose-headers': 'Content-Disposition',
  };
  const range = readRange(request.range, file.size);
  if (range === undefined) {
    return { status: 200, headers: { ...headers, 'content-length': String(file.size) }, body };
  }
  const { start, end } = range;
  return {
    status: 206,
    headers: {
      ...headers,
      'content-range': `bytes ${start}-${end}/${file.size}`,
      'content-length': String(end - start + 1),
    },
    body: Buffer.isBuffer(body) ? body.subarray(start, end + 1) : cut(body, start, end),
  };
}

/** Returns the headers that prevent user uploads from running in the forge's own origin. */
export function contentHeaders(type: string): Readonly<Record<string, string>> {
  const policy = type.startsWith('application/pdf')
    ? "default-src 'none'; style-src 'unsafe-inline'"
    : "default-src 'none'; style-src 'unsafe-inline'; sandbox";
  return {
    'content-type': type,
    'x-content-type-options': 'nosniff',
    ...(/^(audio|video)\//.test(type) ? {} : { 'content-security-policy': policy }),
  };
}

/** Returns the Content-Disposition header of a file: plain where possible (RFC 6266), percent-encoded otherwise. */
export function contentDisposition(kind: 'inline' | 'attachment', name: string): string {
  if (/^[\w.!#$&^`|~+-]+$/.test(name)) return `${kind}; filename=${name}`;
  if (/^[\x20-\x7e]+$/.test(name)) return `${kind}; filename="${name.replace(/["\\]/g, '\\$&')}"`;
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  );
  return `${kind}; filename*=utf-8''${encoded}`;
}

function isUnchanged({ id, modifiedAt }: ServedFile, request: IncomingHttpHeaders): boolean {
  const known = request['if-none-match'];
  if (known !== undefined) {
    const tags = known.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    return tags.includes('*') || tags.includes(`"${id}"`);
  }
  const since = Date.parse(request['if-modified-since'] ?? '');
  return !Number.isNaN(since) && modifiedAt * 1000 <= since;
}

async function openBlob(
  git: GitRepository,
  { id, size }: ServedFile,
): Promise<{ readonly head: Buffer; readonly body: FileBody }> {
  if (size <= heldBytes) {
    const body = (await git.objects.read(id))?.content ?? Buffer.alloc(0);
    return { head: body, body };
  }
  const body = git.git.stream(['cat-file', 'blob', id], { folder: git.folder });
  if (body === undefined) throw tooManyFiles();
  const head = await new Promise<Buffer>((resolve, reject) => {
    body.once('error', reject);
    body.once('readable', () => {
      body.off('error', reject);
      const first = (body.read() as Buffer | null) ?? Buffer.alloc(0);
      body.unshift(first);
      resolve(first.subarray(0, sniffedBytes));
    });
  });
  return { head, body };
}

/** Returns the error for a request that would exceed the number of large files being read at the same time. */
export function tooManyFiles(): ForgeProblem {
  return new ForgeProblem(503, 'too many files are being read, try again', 'error', { 'retry-after': '5' });
}

/**
 * Parses the `Range` header; undefined (no header, units other than bytes, an empty file) means the whole file. Ends
 * the request with 416 for several ranges or an invalid start, with 400 if the end precedes the start.
 */
export function readRange(
  header: string | undefined,
  size: number,
): { start: number; end: number } | undefined {
  if (size === 0 || header === undefined || !header.startsWith('bytes=')) return undefined;
  const match = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(header);
  const start = Number(match?.[1] ?? -1);
  if (start < 0 || start >= size) throw new ForgeProblem(416, 'invalid start range');
  const end = match?.[2] ? Math.min(Number(match[2]), size - 1) : size - 1;
  if (end < start) throw new ForgeProblem(400, 'invalid end range');
  return { start, end };
}

/** Streams the bytes from `start` to `end`, then closes the source. */
function cut(source: Exclude<FileBody, Buffer>, start: number, end: number): Transform {
  let at = 0;
  const part = new Transform({
    transform(piece: Buffer, _encoding, done) {
      const from = Math.max(0, start - at);
      const to = Math.max(0, end + 1 - at);
      at += piece.length;
      const wanted = piece.subarray(from, to);
      if (wanted.length > 0) this.push(wanted);
      if (at > end) {
        this.push(null);
        source.destroy();
      }
      done();
    },
  });
  source.on('error', (error) => part.destroy(error));
  part.on('close', () => source.destroy());
  return source.pipe(part);
}

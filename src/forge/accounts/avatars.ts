import { createHash, randomUUID } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import { sendFailure } from '../platform/http/respond.ts';
import { secondsOf } from '../platform/time.ts';

/** Owner of an avatar: an account, an organization or a repository. */
type AvatarOwner = { readonly table: 'users' | 'repositories'; readonly id: number };

type AvatarRow = { readonly uuid: string; readonly type: string; readonly size: number };

const maxBytes = 1024 * 1024;
const maxSide = 4096;

/** Decodes strict base64: `Buffer` alone would skip invalid characters. */
function decodeImage(base64: string): Buffer {
  const text = base64.replace(/[\r\n]/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0)
    throw new ForgeProblem(400, 'illegal base64 data');
  return Buffer.from(text, 'base64');
}

function assertImage(bytes: Buffer): ImageHeader {
  const header = readImageHeader(bytes);
  if (!header) throw new ForgeProblem(422, 'unknown image format: PNG, JPEG, GIF and WebP are accepted');
  if (header.width > maxSide)
    throw new ForgeProblem(422, `image width is too large: ${header.width} > ${maxSide}`);
  if (header.height > maxSide)
    throw new ForgeProblem(422, `image height is too large: ${header.height} > ${maxSide}`);
  if (bytes.length > maxBytes)
    throw new ForgeProblem(422, `image file is too large: ${bytes.length} > ${maxBytes}`);
  return header;
}

const ownerColumn = { users: 'user_id', repositories: 'repo_id' } as const;

function setAvatar(context: ForgeContext, { table, id }: AvatarOwner, base64: string): undefined {
  const { db, attachments, clock } = context;
  const bytes = decodeImage(base64);
  const { type } = assertImage(bytes);
  // The id is part of the hash, so that identical images of two owners can be deleted separately.
  const hash = createHash('sha256').update(`${id}-`).update(bytes).digest('hex');
  const uuid = randomUUID();
  attachments.keep(uuid, bytes, () => {
    db.run(`DELETE FROM avatars WHERE ${ownerColumn[table]} = ?`, id);
    db.run(
      `INSERT INTO avatars (hash, ${ownerColumn[table]}, uuid, type, size, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
      hash,
      id,
      uuid,
      type,
      bytes.length,
      secondsOf(clock()),
    );
    db.run(`UPDATE ${table} SET avatar = ? WHERE id = ?`, hash, id);
  });
  attachments.sweep();
  return undefined;
}

function removeAvatar({ db, attachments }: ForgeContext, { table, id }: AvatarOwner): undefined {
  db.transaction(() => {
    db.run(`DELETE FROM avatars WHERE ${ownerColumn[table]} = ?`, id);
    db.run(`UPDATE ${table} SET avatar = '' WHERE id = ?`, id);
  });
  attachments.sweep();
  return undefined;
}

/** Handlers for avatars. */
export const avatarHandlers = defineHandlers({
  updateAvatar: ({ context, caller, body }) =>
    setAvatar(context, { table: 'users', id: caller.id }, body.image),
  deleteAvatar: ({ context, caller }) => removeAvatar(context, { table: 'users', id: caller.id }),
  updateOrganizationAvatar: ({ context, organization, body }) =>
    setAvatar(context, { table: 'users', id: organization.id }, body.image),
  deleteOrganizationAvatar: ({ context, organization }) =>
    removeAvatar(context, { table: 'users', id: organization.id }),
  updateRepositoryAvatar: ({ context, repository, body }) =>
    setAvatar(context, { table: 'repositories', id: repository.id }, body.image),
  deleteRepositoryAvatar: ({ context, repository }) =>
    removeAvatar(context, { table: 'repositories', id: repository.id }),
});

/**
 * Serves avatars at `/avatars/{hash}` and `/repo-avatars/{hash}` to anyone who knows the URL; for an unknown hash,
 * returns a pattern derived from it, as Gitea does.
 */
export function registerAvatarFiles(app: FastifyInstance, context: ForgeContext): void {
  for (const [prefix, column] of [
    ['avatars', 'user_id'],
    ['repo-avatars', 'repo_id'],
  ] as const) {
    app.get<{ Params: { hash: string } }>(`/${prefix}/:hash`, async (request, reply) => {
      try {
        return await sendAvatar(context, reply, column, request.params.hash);
      } catch (error) {
        return sendFailure(context, request, reply, error);
      }
    });
  }
}

async function sendAvatar(
  context: ForgeContext,
  reply: FastifyReply,
  column: 'user_id' | 'repo_id',
  hash: string,
): Promise<FastifyReply> {
  const sql = `SELECT uuid, type, size FROM avatars WHERE hash = ? AND ${column} IS NOT NULL`;
  const row = context.db.get<AvatarRow>(sql, hash);
  const stored = row && (await context.attachments.read(row.uuid));
  reply
    .header('cache-control', 'public, max-age=21600')
    .header('x-content-type-options', 'nosniff')
    .header('content-security-policy', "default-src 'none'; sandbox");
  if (row && stored) return reply.type(row.type).header('content-length', row.size).send(stored);
  return reply.type('image/png').send(drawIdenticon(hash));
}

const cells = 5;
const cellSize = 40;
const margin = 20;
const size = cells * cellSize + 2 * margin;

/** Pattern colours, dark enough to be visible on the light background of the image, even within a dark page. */
const colours: readonly number[] = [
  0x1f6feb, 0x8250df, 0xbf3989, 0xcf222e, 0xbc4c00, 0x9a6700, 0x1a7f37, 0x0a7e8c, 0x57606a, 0x6639ba,
];
const ground = 0xf6f8fa;

/**
 * Returns a symmetric pattern as a PNG image. Equal seeds give equal patterns; different seeds almost always give
 * different patterns.
 */
export function drawIdenticon(seed: string): Buffer {
  const digest = createHash('sha256').update(seed).digest();
  const colour = colours[digest.readUInt16BE(0) % colours.length] ?? ground;
  const isFilled = (row: number, column: number): boolean => {
    const mirrored = Math.min(column, cells - 1 - column);
    return ((digest[2 + row * 3 + mirrored] ?? 0) & 1) === 1;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  // One bit per pixel (a palette index); default compression, filter and interlacing.
  header.set([1, 3, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from([...bytesOf(ground), ...bytesOf(colour)])),
    chunk('IDAT', deflateSync(pixelsOf(isFilled))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function bytesOf(colour: number): number[] {
  return [colour >> 16, (colour >> 8) & 0xff, colour & 0xff];
}

function pixelsOf(isFilled: (row: number, column: number) => boolean): Buffer {
  // Each line begins with a filter type byte.
  const stride = 1 + size / 8;
  const lines = Buffer.alloc(size * stride);
  const cellOf = (pixel: number) => Math.floor((pixel - margin) / cellSize);
  for (let y = margin; y < size - margin; y += 1) {
    for (let x = margin; x < size - margin; x += 1) {
      if (!isFilled(cellOf(y), cellOf(x))) continue;
      const at = y * stride + 1 + (x >> 3);
      lines[at] = (lines[at] ?? 0) | (0x80 >> (x & 7));
    }
  }
  return lines;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** Type and size of an image, read from its first bytes. */
type ImageHeader = {
  readonly type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  readonly width: number;
  readonly height: number;
};

/**
 * Returns the type and size of an image; undefined for bytes that are not PNG, JPEG, GIF or WebP. Does not read pixels.
 */
function readImageHeader(bytes: Buffer): ImageHeader | undefined {
  const header = readPng(bytes) ?? readGif(bytes) ?? readWebp(bytes) ?? readJpeg(bytes);
  return header && header.width > 0 && header.height > 0 ? header : undefined;
}

function startsWith(bytes: Buffer, text: string, at = 0): boolean {
  return bytes.toString('latin1', at, at + text.length) === text;
}

/** Source: PNG specification, sections 5.2 and 11.2.2. */
function readPng(bytes: Buffer): ImageHeader | undefined {
  if (bytes.length < 33 || !startsWith(bytes, '\x89PNG\r\n\x1a\n')) return undefined;
  if (bytes.readUInt32BE(8) !== 13 || !startsWith(bytes, 'IHDR', 12)) return undefined;
  if (crc32(bytes.subarray(12, 29)) !== bytes.readUInt32BE(29)) return undefined;
  return { type: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function readGif(bytes: Buffer): ImageHeader | undefined {
  if (bytes.length < 13 || !(startsWith(bytes, 'GIF87a') || startsWith(bytes, 'GIF89a'))) return undefined;
  return { type: 'image/gif', width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

/** The three forms of WebP. Source: RFC 9649, sections 2.5 to 2.7. */
function readWebp(bytes: Buffer): ImageHeader | undefined {
  if (bytes.length < 30 || !startsWith(bytes, 'RIFF') || !startsWith(bytes, 'WEBP', 8)) return undefined;
  const type = 'image/webp';
  if (startsWith(bytes, 'VP8X', 12))
    return { type, width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) };
  if (startsWith(bytes, 'VP8L', 12)) {
    if (bytes[20] !== 0x2f) return undefined;
    const bits = bytes.readUInt32LE(21);
    return { type, width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
  }
  if (!startsWith(bytes, 'VP8 ', 12) || !startsWith(bytes, '\x9d\x01\x2a', 23)) return undefined;
  return { type, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
}

/** Returns whether a marker has no length field: start of image, restart and temporary markers. */
const isBare = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
/** Returns whether a marker starts a frame that browsers decode: baseline, extended, progressive. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xc2;

/** Walks the segments up to the start of the frame. Source: ITU T.81, annex B. */
function readJpeg(bytes: Buffer): ImageHeader | undefined {
  if (!startsWith(bytes, '\xff\xd8\xff')) return undefined;
  let at = 2;
  while (at + 9 < bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    if (isFrame(marker))
      return { type: 'image/jpeg', height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    // 0xFF before a marker is padding; pixel data begins with 0xDA.
    if (marker === 0xff) at += 1;
    else if (isBare(marker)) at += 2;
    else if (marker === 0xda || marker === 0xd9) return undefined;
    else at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
  }
  return undefined;
}

import { createHash, randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem } from '../core/errors.ts';
import { secondsOf } from '../core/time.ts';
import { defineHandlers } from '../http/handler.ts';
import { sendFailure } from '../http/respond.ts';
import { drawIdenticon } from './identicon.ts';
import { type ImageHeader, readImageHeader } from './image-header.ts';

/** What has an avatar: an account or organization, or a repository. */
type AvatarOwner = { readonly table: 'users' | 'repositories'; readonly id: number };

type AvatarRow = { readonly uuid: string; readonly type: string; readonly size: number };

const maxBytes = 1024 * 1024;
const maxSide = 4096;

/** `Buffer` alone would skip over characters that are none of base64. */
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
  // The id is part of the hash: equal images of two owners go one by one.
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

/** What answers for avatars. */
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
 * Serves avatars at `/avatars/{hash}` and `/repo-avatars/{hash}`, to everyone who knows the address; any other name is answered with
 * the pattern that is derived from it, as on the baseline.
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

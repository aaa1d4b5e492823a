import type { FastifyInstance, FastifyReply } from 'fastify';
import { type Actor, createActorReader, hasScopes, headerCredentials } from '../platform/access/actor.ts';
import { permissionOf, reaches } from '../platform/access/permissions.ts';
import type { Scope } from '../platform/access/scopes.ts';
import type { ForgeContext } from '../platform/context.ts';
import { found } from '../platform/errors.ts';
import { sendFailure } from '../platform/http/respond.ts';
import type { ReleaseAssetRow, ReleaseRow } from '../releases/releases-rows.ts';
import type { AttachmentRow } from './attachments-rows.ts';
import { readIssueRow } from './changes.ts';
import { loadHomes } from './issues-rows.ts';

/**
 * Serves attached files at `/attachments/{uuid}` to accounts that may read their repository; other callers get 404. A
 * file is never displayed in the forge's own origin: it is sent as a download, with a type that no browser runs.
 */
export function registerAttachmentFiles(app: FastifyInstance, context: ForgeContext): void {
  const readActor = createActorReader(context);
  app.get<{ Params: { uuid: string } }>('/attachments/:uuid', async (request, reply) => {
    try {
      const attached = findAttached(context, request.params.uuid.toLowerCase());
      const actor = await readActor(headerCredentials(request), attached?.scopes ?? []);
      return await sendAttachment(
        context,
        reply,
        found(attached?.mayRead(actor) ? attached.file : undefined),
      );
    } catch (error) {
      return sendFailure(context, request, reply, error);
    }
  });
}

/** A file, with the table in which its downloads are counted. */
type AttachedFile = {
  readonly table: 'attachments' | 'release_assets';
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  readonly size: number;
};

/** Sends a file as a download, and counts the download. */
export async function sendAttachment(
  context: ForgeContext,
  reply: FastifyReply,
  file: AttachedFile,
): Promise<FastifyReply> {
  const bytes = found(await context.attachments.read(file.uuid));
  context.db.run(`UPDATE ${file.table} SET num_downloads = num_downloads + 1 WHERE id = ?`, file.id);
  return reply
    .type('application/octet-stream')
    .header('content-length', file.size)
    .header('content-disposition', dispositionOf(file.name))
    .header('x-content-type-options', 'nosniff')
    .header('content-security-policy', "default-src 'none'; sandbox")
    .header('cache-control', 'private, max-age=0, must-revalidate')
    .send(bytes);
}

/** A file, the required token scope, and who may read it. */
type FoundFile = {
  readonly file: AttachedFile;
  readonly scopes: readonly Scope[];
  readonly mayRead: (actor: Actor) => boolean;
};

function findAttached(context: ForgeContext, uuid: string): FoundFile | undefined {
  const attachment = context.db.get<AttachmentRow>('SELECT * FROM attachments WHERE uuid = ?', uuid);
  if (attachment === undefined) return findAsset(context, uuid);
  const { repository, owner } = found(loadHomes(context, [attachment.repo_id]).get(attachment.repo_id));
  const unit = readIssueRow(context, attachment.issue_id).is_pull ? 'pulls' : 'issues';
  const mayRead = ({ user }: Actor) =>
    reaches(permissionOf(context.db, user, repository, owner, unit), 'read');
  return { file: { ...attachment, table: 'attachments' }, scopes: ['read:issue'], mayRead };
}

function findAsset(context: ForgeContext, uuid: string): FoundFile | undefined {
  const sql = `SELECT a.*, r.repo_id, r.is_draft FROM release_assets a JOIN releases r ON r.id = a.release_id
    WHERE a.uuid = ?`;
  const asset = context.db.get<ReleaseAssetRow & Pick<ReleaseRow, 'repo_id' | 'is_draft'>>(sql, uuid);
  if (asset === undefined) return undefined;
  const { repository, owner } = found(loadHomes(context, [asset.repo_id]).get(asset.repo_id));
  const mayRead = (actor: Actor): boolean => {
    const permission = permissionOf(context.db, actor.user, repository, owner, 'releases');
    // Files of a draft release are visible only to writers, like the draft itself.
    return asset.is_draft
      ? reaches(permission, 'write') && hasScopes(actor, ['write:repository'])
      : reaches(permission, 'read');
  };
  return { file: { ...asset, table: 'release_assets' }, scopes: ['read:repository'], mayRead };
}

/**
 * Returns the Content-Disposition header of a download with an ASCII name for old clients and the percent-encoded full
 * name (RFC 6266).
 */
function dispositionOf(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

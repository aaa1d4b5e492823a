import type { FastifyInstance } from 'fastify';
import { createActorReader, headerCredentials } from '../access/actor.ts';
import { permissionOf, reaches } from '../access/permissions.ts';
import type { ForgeContext } from '../core/context.ts';
import { found } from '../core/errors.ts';
import type { AttachmentRow } from '../core/issue-rows.ts';
import type { UserRow } from '../core/rows.ts';
import { sendFailure } from '../http/respond.ts';
import { loadHomes } from '../views/issue-lists.ts';
import { readIssueRow } from './changes.ts';

/**
 * Serves attached files at `/attachments/{uuid}` to accounts that may read their repository; others get 404. A file
 * is never shown in the forge's own origin: it comes as a download, of no kind that a browser would run.
 */
export function registerAttachmentFiles(app: FastifyInstance, context: ForgeContext): void {
  const readActor = createActorReader(context);
  app.get<{ Params: { uuid: string } }>('/attachments/:uuid', async (request, reply) => {
    try {
      const actor = await readActor(headerCredentials(request));
      const attachment = findReadable(context, request.params.uuid, actor.user);
      const bytes = found(await context.attachments.read(attachment.uuid));
      context.db.run('UPDATE attachments SET num_downloads = num_downloads + 1 WHERE id = ?', attachment.id);
      return reply
        .type('application/octet-stream')
        .header('content-length', attachment.size)
        .header('content-disposition', dispositionOf(attachment.name))
        .header('x-content-type-options', 'nosniff')
        .header('content-security-policy', "default-src 'none'; sandbox")
        .header('cache-control', 'private, max-age=0, must-revalidate')
        .send(bytes);
    } catch (error) {
      return sendFailure(context, request, reply, error);
    }
  });
}

function findReadable(context: ForgeContext, uuid: string, user: UserRow | undefined): AttachmentRow {
  const attachment = found(
    context.db.get<AttachmentRow>('SELECT * FROM attachments WHERE uuid = ?', uuid.toLowerCase()),
  );
  const home = found(loadHomes(context, [attachment.repo_id]).get(attachment.repo_id));
  const { is_pull } = readIssueRow(context, attachment.issue_id);
  const unit = is_pull ? 'pulls' : 'issues';
  const permission = permissionOf(context.db, user, home.repository, home.owner, unit);
  return found(reaches(permission, 'read') ? attachment : undefined);
}

/** RFC 6266: a plain name for old clients, the whole one percent-encoded. */
function dispositionOf(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { createActorReader, headerCredentials } from '../access/actor.ts';
import { findRepository } from '../access/guards.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { ReleaseAssetRow, ReleaseRow } from '../core/rows.ts';
import { secondsOf } from '../core/time.ts';
import { defineHandlers } from '../http/handler.ts';
import { sendFailure } from '../http/respond.ts';
import { sendAttachment } from '../issues/attachment-files.ts';
import { toReleaseAsset, toReleases } from '../views/release.ts';
import { findRelease, findReleaseOfTag } from './find-release.ts';

/** A file passes through memory; Gitea takes 2 GiB. */
const maxMiB = 25;

function findAsset(
  { context }: { readonly context: ForgeContext },
  release: ReleaseRow,
  id: number,
): ReleaseAssetRow {
  const sql = 'SELECT * FROM release_assets WHERE id = ? AND release_id = ?';
  return found(context.db.get<ReleaseAssetRow>(sql, id, release.id));
}

/** Files of releases. */
export const releaseAssetHandlers = defineHandlers({
  listReleaseAssets(call) {
    const release = findRelease(call, call.params.id);
    return toReleases(call.context, [release], call)[0]?.assets ?? [];
  },

  getReleaseAsset: (call) =>
    toReleaseAsset(
      call.context,
      findAsset(call, findRelease(call, call.params.id), call.params.attachment_id),
    ),

  async createReleaseAsset(call) {
    const { context, caller, query } = call;
    if (!context.features.attachments) throw new ForgeProblem(404, 'attachment is not enabled');
    const release = findRelease(call, call.params.id);
    const { name: ownName, bytes } = await call.upload();
    const name = query.name || ownName;
    if (name === '') throw new ForgeProblem(400, 'Could not determine name of attachment.');
    if (bytes.length > maxMiB * 1024 * 1024) {
      throw new ForgeProblem(413, `attachment exceeds limit ${maxMiB} MiB`);
    }
    const uuid = randomUUID();
    return context.attachments.keep(uuid, bytes, () => {
      // The release may have gone while the file came.
      findRelease(call, release.id);
      const { lastId } = context.db.run(
        'INSERT INTO release_assets (uuid, release_id, uploader_id, name, size, created_at) VALUES (?, ?, ?, ?, ?, ?)',
        uuid,
        release.id,
        caller.id,
        name,
        bytes.length,
        secondsOf(context.clock()),
      );
      return toReleaseAsset(context, findAsset(call, release, lastId));
    });
  },

  editReleaseAsset(call) {
    const { context, body, params } = call;
    const asset = findAsset(call, findRelease(call, params.id), params.attachment_id);
    const renamed = { ...asset, name: body.name || asset.name };
    context.db.run('UPDATE release_assets SET name = ? WHERE id = ?', renamed.name, asset.id);
    return toReleaseAsset(context, renamed);
  },

  deleteReleaseAsset(call) {
    const { context, params } = call;
    const asset = findAsset(call, findRelease(call, params.id), params.attachment_id);
    context.db.run('DELETE FROM release_assets WHERE id = ?', asset.id);
    context.attachments.sweep();
    return undefined;
  },
});

type DownloadRequest = { Params: { owner: string; repo: string; '*': string } };

/** Serves the files of releases at `/OWNER/NAME/releases/download/TAG/FILE`; of files with one name, the newest. */
export function registerReleaseDownloads(app: FastifyInstance, context: ForgeContext): void {
  const readActor = createActorReader(context);
  app.get<DownloadRequest>('/:owner/:repo/releases/download/*', async (request, reply) => {
    try {
      const actor = await readActor(headerCredentials(request), ['read:repository']);
      const { owner, repo, '*': rest } = request.params;
      const target: RepositoryTarget = findRepository(context.db, owner, repo, actor.user, 'releases');
      if (target.permission === 'none') throw new ForgeProblem(404, 'not found');
      const cut = rest.lastIndexOf('/');
      const release = findReleaseOfTag({ ...target, context, actor }, rest.slice(0, cut));
      const sql = 'SELECT * FROM release_assets WHERE release_id = ? AND name = ? ORDER BY id DESC LIMIT 1';
      const asset = found(context.db.get<ReleaseAssetRow>(sql, release.id, rest.slice(cut + 1)));
      return await sendAttachment(context, reply, { ...asset, table: 'release_assets' });
    } catch (error) {
      return sendFailure(context, request, reply, error);
    }
  });
}

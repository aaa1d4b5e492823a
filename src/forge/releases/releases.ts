import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { shortenToColumns } from '../../contract/written-texts.ts';
import { toUser } from '../accounts/users-rows.ts';
import { withPush } from '../code/pushes.ts';
import { hasRelease, makeTag } from '../code/tags-service.ts';
import { releasePayload } from '../hooks/payloads.ts';
import { sendAttachment } from '../issues/attachment-files.ts';
import { recordActivity } from '../notifications/activities-service.ts';
import { type Actor, createActorReader, hasScopes, headerCredentials } from '../platform/access/actor.ts';
import { findRepository } from '../platform/access/guards.ts';
import { reaches } from '../platform/access/permissions.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { findRevision } from '../platform/git/refs.ts';
import { findTag } from '../platform/git/tags.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import { sendFailure } from '../platform/http/respond.ts';
import type { RepositoryRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { toRepository } from '../repositories/repositories-rows.ts';
import { type ReleaseAssetRow, type ReleaseRow, toReleaseAsset, toReleases } from './releases-rows.ts';

type ReleaseWrite = RepositoryTarget & {
  readonly context: ForgeContext;
  readonly caller: UserRow;
  readonly actor: Actor;
};

/** Handlers for releases, which are database rows in addition to git tags. */
export const releaseHandlers = defineHandlers({
  listReleases({ query, page, reply, ...call }) {
    const { db } = call.context;
    const filters = [
      ...(maySeeDrafts(call) ? [] : ['is_draft = 0']),
      ...(query.draft === undefined ? [] : [`is_draft = ${Number(query.draft)}`]),
      ...(query['pre-release'] === undefined ? [] : [`is_prerelease = ${Number(query['pre-release'])}`]),
    ];
    const from = `FROM releases WHERE ${['repo_id = ?', ...filters].join(' AND ')}`;
    const { id } = call.repository;
    reply.total(db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, id)?.count ?? 0);
    const rows = db.all<ReleaseRow>(
      `SELECT * ${from} ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`,
      id,
      page.limit,
      page.offset,
    );
    return toReleases(call.context, rows, call);
  },

  getRelease: (call) => toOne(call, findRelease(call, call.params.id)),
  getReleaseByTag: (call) => toOne(call, findReleaseOfTag(call, call.params.tag)),

  getLatestRelease(call) {
    const sql = `SELECT * FROM releases WHERE repo_id = ? AND is_draft = 0 AND is_prerelease = 0
      ORDER BY created_at DESC, id DESC LIMIT 1`;
    return toOne(call, found(call.context.db.get<ReleaseRow>(sql, call.repository.id)));
  },

  async createRelease({ body, ...call }) {
    const { context, repository } = call;
    const tag = body.tag_name.replace(/^--/, '');
    if (repository.is_empty) throw new ForgeProblem(422, 'repo is empty');
    guardFree(call, tag);
    const isTagged = (await findTag(context.git.open(repository.id), tag)) !== undefined;
    const row = {
      tag,
      // The target is ignored if the tag exists, but it is shown as given.
      target: body.target_commitish || (isTagged ? '' : repository.default_branch),
      title: shortenToColumns(body.name ?? '', maxTitle),
      body: body.body ?? '',
      is_draft: body.draft === true,
      is_prerelease: body.prerelease === true,
    };
    const { createdAt } = await ensureTag(call, { ...row, message: body.tag_message });
    return context.db.transaction(() => {
      guardFree(call, tag);
      const { lastId } = context.db.run(
        `INSERT INTO releases (repo_id, publisher_id, tag, lower_tag, target, title, body, is_draft, is_prerelease, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        repository.id,
        call.caller.id,
        tag,
        tag.toLowerCase(),
        row.target,
        row.title,
        row.body,
        row.is_draft,
        row.is_prerelease,
        createdAt ?? secondsOf(context.clock()),
      );
      const made = readRelease(context, lastId);
      if (!row.is_draft) emitRelease(call, made, 'published');
      return toOne(call, made);
    });
  },

  async editRelease({ body, params, ...call }) {
    const { context } = call;
    const before = findRelease(call, params.id);
    const isDraft = body.draft ?? before.is_draft === 1;
    const tag = body.tag_name || before.tag;
    if (tag.toLowerCase() !== before.lower_tag) guardFree(call, tag);
    const target = body.target_commitish || before.target || call.repository.default_branch;
    const tagged = await ensureTag(call, { tag, target, is_draft: isDraft });
    return context.db.transaction(() => {
      // Another request may have deleted the release in the meantime.
      findRelease(call, params.id);
      if (tag.toLowerCase() !== before.lower_tag) guardFree(call, tag);
      context.db.run(
        `UPDATE releases SET tag = ?, lower_tag = ?, target = ?, title = ?, body = ?, is_draft = ?, is_prerelease = ?,
           created_at = ? WHERE id = ?`,
        tag,
        tag.toLowerCase(),
        body.target_commitish || before.target,
        shortenToColumns(body.name || before.title, maxTitle),
        body.body || before.body,
        isDraft,
        body.prerelease ?? before.is_prerelease,
        isDraft || tagged.isNew ? secondsOf(context.clock()) : before.created_at,
        before.id,
      );
      const after = readRelease(context, before.id);
      if (!isDraft) emitRelease(call, after, tagged.isNew ? 'published' : 'updated');
      return toOne(call, after);
    });
  },

  deleteRelease: (call) => remove(call, findRelease(call, call.params.id)),
  deleteReleaseByTag: (call) => remove(call, findReleaseOfTag(call, call.params.tag)),

  // This forge signs nothing, like a Gitea instance without a configured signing key.
  getSigningKey: () => refuseSigningKey(),
  getRepositorySigningKey: () => refuseSigningKey(),
});

function refuseSigningKey(): never {
  throw new ForgeProblem(404, 'no signing key');
}

/** Maximum columns of a title; a longer title ends in an ellipsis. */
const maxTitle = 255;

function toOne({ context, repository, owner }: Omit<ReleaseWrite, 'caller'>, row: ReleaseRow) {
  return found(toReleases(context, [row], { repository, owner })[0]);
}

function readRelease({ db }: ForgeContext, id: number): ReleaseRow {
  return found(db.get<ReleaseRow>('SELECT * FROM releases WHERE id = ?', id));
}

function guardFree({ context, repository }: ReleaseWrite, tag: string): void {
  if (hasRelease(context.db, repository.id, tag)) throw new ForgeProblem(409, 'Release is has no Tag');
}

/** Whether a tag is new, and when an existing one was created. */
type TagState = { readonly isNew: boolean; readonly createdAt?: number };

/** Creates the tag of a release in git if it is missing; the creation counts as a push. A draft has no tag. */
async function ensureTag(
  { context, repository, owner, caller }: ReleaseWrite,
  release: {
    readonly tag: string;
    readonly target: string;
    readonly is_draft: boolean;
    readonly message?: string | undefined;
  },
): Promise<TagState> {
  if (release.is_draft) return { isNew: false };
  const git = context.git.open(repository.id);
  return await withPush<TagState>(context, { repository, owner, pusher: caller }, async () => {
    const known = await findTag(git, release.tag);
    if (known !== undefined) return { result: { isNew: false, createdAt: known.seconds }, changes: [] };
    const commit = found(await findRevision(git, release.target), 'target not found');
    const tag = { name: release.tag, message: release.message, commitId: commit.id };
    const change = await makeTag(context, { repository, owner, caller }, tag);
    return { result: { isNew: true }, changes: [change] };
  });
}

function remove(call: ReleaseWrite, release: ReleaseRow): undefined {
  const { context } = call;
  context.db.transaction(() => {
    if (!release.is_draft) emitRelease(call, release, 'deleted');
    context.db.run('DELETE FROM releases WHERE id = ?', release.id);
  });
  context.attachments.sweep();
  return undefined;
}

function emitRelease(
  call: ReleaseWrite,
  release: ReleaseRow,
  action: 'published' | 'updated' | 'deleted',
): void {
  const { context, repository, owner, caller } = call;
  const sql = 'SELECT * FROM repositories WHERE id = ?';
  const now = context.db.get<RepositoryRow>(sql, repository.id) ?? repository;
  const payload = () =>
    releasePayload({
      action,
      release: toOne(call, release),
      repository: toRepository(context, now, {
        owner,
        viewer: undefined,
        permission: call.permission,
        parentReader: caller,
      }),
      sender: toUser(context, caller, undefined),
    });
  if (action === 'published') {
    const told = { repositoryId: repository.id, actorId: caller.id, content: release.title };
    recordActivity(context, { ...told, type: 'publish_release', ref: `refs/tags/${release.tag}` });
  }
  context.emit({ type: 'release', repository: now, owner, payload });
}

type ReleaseRequest = RepositoryTarget & { readonly context: ForgeContext; readonly actor: Actor };

/** Returns whether a caller sees drafts. Requires write access and a credential that may write to repositories. */
function maySeeDrafts({ permission, actor }: Pick<ReleaseRequest, 'permission' | 'actor'>): boolean {
  return actor.user !== undefined && reaches(permission, 'write') && hasScopes(actor, ['write:repository']);
}

/**
 * Returns a release by its id. Ends the request with 404 if there is none, or if it is a draft that the caller may not
 * see.
 */
function findRelease(call: ReleaseRequest, id: number): ReleaseRow {
  const sql = 'SELECT * FROM releases WHERE repo_id = ? AND id = ?';
  return visibleOf(call, call.context.db.get<ReleaseRow>(sql, call.repository.id, id));
}

/** Returns the release of a tag, with the checks of `findRelease`. The tag name is case-insensitive. */
function findReleaseOfTag(call: ReleaseRequest, tag: string): ReleaseRow {
  const sql = 'SELECT * FROM releases WHERE repo_id = ? AND lower_tag = ?';
  return visibleOf(call, call.context.db.get<ReleaseRow>(sql, call.repository.id, tag.toLowerCase()));
}

function visibleOf(call: ReleaseRequest, row: ReleaseRow | undefined): ReleaseRow {
  return found(row?.is_draft && !maySeeDrafts(call) ? undefined : row);
}

/** Maximum size of a file, since it is held in memory; Gitea's limit is 2 GiB. */
const maxMiB = 25;

function findAsset(
  { context }: { readonly context: ForgeContext },
  release: ReleaseRow,
  id: number,
): ReleaseAssetRow {
  const sql = 'SELECT * FROM release_assets WHERE id = ? AND release_id = ?';
  return found(context.db.get<ReleaseAssetRow>(sql, id, release.id));
}

/** Handlers for release files. */
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
      // The release may have been deleted during the upload.
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

/**
 * Serves release files at `/OWNER/NAME/releases/download/TAG/FILE`; if several files have the same name, serves the
 * newest.
 */
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

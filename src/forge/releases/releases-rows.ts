import { loadUsers, toUser } from '../accounts/users-rows.ts';
import { escapePath, repositoryAddress } from '../code/commits-rows.ts';
import type { ForgeContext } from '../platform/context.ts';
import type { Bit, RepositoryRow, Seconds, UserRow } from '../platform/rows.ts';
import { toInstant } from '../platform/time.ts';

/** A release. Its tag exists in git, unless the release is a draft. */
export type ReleaseRow = {
  readonly id: number;
  readonly repo_id: number;
  /** Account of the publisher; null if the account was deleted. */
  readonly publisher_id: number | null;
  readonly tag: string;
  readonly lower_tag: string;
  /** The target commit or branch of the tag, as given by the caller. */
  readonly target: string;
  readonly title: string;
  readonly body: string;
  readonly is_draft: Bit;
  readonly is_prerelease: Bit;
  readonly created_at: Seconds;
};

/** A file of a release, whose bytes are in the attachment store under `uuid`. */
export type ReleaseAssetRow = {
  readonly id: number;
  readonly uuid: string;
  readonly release_id: number;
  readonly uploader_id: number | null;
  readonly name: string;
  /** Size in bytes. */
  readonly size: number;
  readonly num_downloads: number;
  readonly created_at: Seconds;
};

type ReleasePlace = { readonly repository: RepositoryRow; readonly owner: UserRow };

/** Returns releases of one repository as the API shows them, in the order given. */
export function toReleases(
  context: ForgeContext,
  rows: readonly ReleaseRow[],
  { repository, owner }: ReleasePlace,
) {
  const address = repositoryAddress(context.rootUrl(), owner.name, repository.name);
  const users = loadUsers(
    context,
    rows.flatMap(({ publisher_id }) => (publisher_id === null ? [] : [publisher_id])),
  );
  const assets = loadReleaseAssets(
    context,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => {
    const publisher = row.publisher_id === null ? undefined : users.get(row.publisher_id);
    const url = `${address.api}/releases/${row.id}`;
    const tag = escapePath(row.tag);
    return {
      id: row.id,
      tag_name: row.tag,
      target_commitish: row.target,
      name: row.title,
      body: row.body,
      url,
      html_url: `${address.html}/releases/tag/${tag}`,
      tarball_url: `${address.html}/archive/${tag}.tar.gz`,
      zipball_url: `${address.html}/archive/${tag}.zip`,
      upload_url: `${url}/assets`,
      draft: row.is_draft === 1,
      prerelease: row.is_prerelease === 1,
      created_at: toInstant(row.created_at),
      published_at: toInstant(row.created_at),
      author: publisher ? toUser(context, publisher, undefined) : null,
      assets: (assets.get(row.id) ?? []).map((asset) => ({
        ...toReleaseAsset(context, asset),
        browser_download_url: `${address.html}/releases/download/${encodeURIComponent(row.tag)}/${encodeURIComponent(asset.name)}`,
      })),
    };
  });
}

/**
 * Returns a single release file as the API shows it, with a URL that stays valid if the release or the file is renamed.
 */
export function toReleaseAsset(context: ForgeContext, asset: ReleaseAssetRow) {
  return {
    id: asset.id,
    name: asset.name,
    size: asset.size,
    download_count: asset.num_downloads,
    created_at: toInstant(asset.created_at),
    uuid: asset.uuid,
    browser_download_url: `${context.rootUrl()}/attachments/${asset.uuid}`,
  };
}

function loadReleaseAssets(
  context: ForgeContext,
  ids: readonly number[],
): ReadonlyMap<number, readonly ReleaseAssetRow[]> {
  const sql = `SELECT * FROM release_assets WHERE release_id IN (SELECT value FROM json_each(?)) ORDER BY release_id, id`;
  const rows = context.db.all<ReleaseAssetRow>(sql, JSON.stringify(ids));
  return Map.groupBy(rows, ({ release_id }) => release_id);
}

import type { ForgeContext } from '../platform/context.ts';
import type { Seconds } from '../platform/rows.ts';
import { toInstant } from '../platform/time.ts';

/** A file attached to an issue or to one of its comments; its bytes are in the attachment store under `uuid`. */
export type AttachmentRow = {
  readonly id: number;
  readonly uuid: string;
  readonly repo_id: number;
  readonly issue_id: number;
  readonly comment_id: number | null;
  readonly uploader_id: number;
  readonly name: string;
  /** Size in bytes. */
  readonly size: number;
  readonly num_downloads: number;
  readonly created_at: Seconds;
};

/** Returns an attached file as the API shows it. */
export function toAttachment(context: ForgeContext, attachment: AttachmentRow) {
  return {
    id: attachment.id,
    name: attachment.name,
    size: attachment.size,
    download_count: attachment.num_downloads,
    created_at: toInstant(attachment.created_at),
    uuid: attachment.uuid,
    browser_download_url: `${context.rootUrl()}/attachments/${attachment.uuid}`,
  };
}

/**
 * Returns the files of issues (without those of their comments) or of comments, by id of the issue or comment, in one
 * query.
 */
export function loadAttachments(
  context: ForgeContext,
  holder: 'issue' | 'comment',
  ids: readonly number[],
): ReadonlyMap<number, readonly AttachmentRow[]> {
  const among = 'IN (SELECT value FROM json_each(?))';
  const where = holder === 'issue' ? `issue_id ${among} AND comment_id IS NULL` : `comment_id ${among}`;
  const sql = `SELECT * FROM attachments WHERE ${where} ORDER BY id`;
  const rows = context.db.all<AttachmentRow>(sql, JSON.stringify(ids));
  return Map.groupBy(rows, (row) => (holder === 'issue' ? row.issue_id : (row.comment_id ?? 0)));
}

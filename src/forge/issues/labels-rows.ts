import type { ForgeContext } from '../platform/context.ts';
import type { Bit, RepositoryRow, Seconds, UserRow } from '../platform/rows.ts';

/** A label of a repository or of an organization. */
export type LabelRow = {
  readonly id: number;
  readonly repo_id: number | null;
  readonly org_id: number | null;
  readonly name: string;
  /** Six hex digits, lower case, no `#`. */
  readonly color: string;
  readonly description: string;
  readonly exclusive: Bit;
  readonly archived_at: Seconds;
  readonly num_issues: number;
  readonly created_at: Seconds;
  readonly updated_at: Seconds;
};

/** The repository of a label with its owner; for a label of an organization, only the organization. */
type LabelPlace = { readonly repository?: RepositoryRow; readonly owner: UserRow };

/** Returns a label as the API shows it. */
export function toLabel(context: ForgeContext, label: LabelRow, { repository, owner }: LabelPlace) {
  const api = `${context.rootUrl()}/api/v1`;
  const isOwn = label.repo_id !== null && repository !== undefined;
  const holder = isOwn ? `repos/${owner.name}/${repository.name}` : `orgs/${owner.name}`;
  return {
    id: label.id,
    name: label.name,
    exclusive: label.exclusive === 1,
    is_archived: label.archived_at > 0,
    color: label.color,
    description: label.description,
    url: `${api}/${holder}/labels/${label.id}`,
  };
}

/** Returns the labels of issues in one query, each list sorted by name. */
export function loadLabels(
  context: ForgeContext,
  issueIds: readonly number[],
): ReadonlyMap<number, readonly LabelRow[]> {
  const rows = context.db.all<LabelRow & { issue_id: number }>(
    `SELECT l.*, i.issue_id FROM issue_labels i JOIN labels l ON l.id = i.label_id
     WHERE i.issue_id IN (SELECT value FROM json_each(?)) ORDER BY l.name, l.id`,
    JSON.stringify(issueIds),
  );
  return Map.groupBy(rows, (row) => row.issue_id);
}

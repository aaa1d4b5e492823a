import type { ForgeContext } from '../core/context.ts';
import { ForgeProblem, found } from '../core/errors.ts';
import type { LabelRow } from '../core/issue-rows.ts';
import type { PageRange } from '../core/paging.ts';
import { secondsOf } from '../core/time.ts';
import { defineHandlers } from '../http/handler.ts';
import { toLabel } from '../views/label.ts';

/** Whose labels: a repository's or an organization's. */
type LabelHolder = { readonly column: 'repo_id' | 'org_id'; readonly id: number };

/** What a label is made from; the color as it was given. */
export type NewLabel = {
  readonly name: string;
  readonly color: string;
  readonly description?: string | undefined;
  readonly exclusive?: boolean | undefined;
  readonly is_archived?: boolean | undefined;
};

/** Returns six hex digits in lower case for `#abc`, `abc`, `#aabbcc` or `aabbcc`; other text ends the request with 422. */
function normalizeColor(text: string): string {
  const digits = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(text.trim())?.[1]?.toLowerCase();
  if (digits === undefined) throw new ForgeProblem(422, `bad color code: ${text}`);
  return digits.length === 3 ? [...digits].map((digit) => digit + digit).join('') : digits;
}

/** Makes a label of a repository or organization and returns its row; names need not be unique. */
export function insertLabel(context: ForgeContext, holder: LabelHolder, label: NewLabel): LabelRow {
  const { db, clock } = context;
  const now = secondsOf(clock());
  const { lastId } = db.run(
    `INSERT INTO labels (${holder.column}, name, color, description, exclusive, archived_at, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    holder.id,
    label.name,
    normalizeColor(label.color),
    label.description ?? '',
    label.exclusive ?? false,
    label.is_archived ? now : 0,
    now,
    now,
  );
  return found(db.get<LabelRow>('SELECT * FROM labels WHERE id = ?', lastId));
}

const orders: Readonly<Record<string, string>> = {
  reversealphabetically: 'name DESC, id DESC',
  leastissues: 'num_issues ASC, name, id',
  mostissues: 'num_issues DESC, name, id',
};

function listOf(
  context: ForgeContext,
  holder: LabelHolder,
  sort: string | undefined,
  page: PageRange,
): LabelRow[] {
  const order = orders[sort ?? ''] ?? 'name, id';
  const sql = `SELECT * FROM labels WHERE ${holder.column} = ? ORDER BY ${order} LIMIT ? OFFSET ?`;
  return context.db.all<LabelRow>(sql, holder.id, page.limit, page.offset);
}

function countOf(context: ForgeContext, holder: LabelHolder): number {
  const sql = `SELECT count(*) AS count FROM labels WHERE ${holder.column} = ?`;
  return context.db.get<{ count: number }>(sql, holder.id)?.count ?? 0;
}

/** Returns a label by id, or by name where a text is given. */
function labelOf(context: ForgeContext, holder: LabelHolder, id: number | string): LabelRow | undefined {
  const by = typeof id === 'number' ? 'id' : 'name';
  const sql = `SELECT * FROM labels WHERE ${holder.column} = ? AND ${by} = ? ORDER BY id LIMIT 1`;
  return context.db.get<LabelRow>(sql, holder.id, id);
}

type LabelEdit = { readonly [Name in keyof NewLabel]?: NewLabel[Name] | undefined };

function updateLabel(context: ForgeContext, label: LabelRow, edit: LabelEdit): LabelRow {
  const now = secondsOf(context.clock());
  // An absent `is_archived` un-archives: Gitea reads it as plain false.
  const archivedAt = edit.is_archived ? label.archived_at || now : 0;
  context.db.run(
    `UPDATE labels SET name = ?, color = ?, description = ?, exclusive = ?, archived_at = ?, updated_at = ? WHERE id = ?`,
    edit.name ?? label.name,
    edit.color === undefined ? label.color : normalizeColor(edit.color),
    edit.description ?? label.description,
    edit.exclusive ?? label.exclusive,
    archivedAt,
    now,
    label.id,
  );
  return found(context.db.get<LabelRow>('SELECT * FROM labels WHERE id = ?', label.id));
}

const ofRepository = (call: { repository: { id: number } }): LabelHolder => ({
  column: 'repo_id',
  id: call.repository.id,
});
const ofOrganization = (call: { organization: { id: number } }): LabelHolder => ({
  column: 'org_id',
  id: call.organization.id,
});

/** Handlers for labels of repositories and organizations. */
export const labelHandlers = defineHandlers({
  listLabels(call) {
    call.reply.total(countOf(call.context, ofRepository(call)));
    const rows = listOf(call.context, ofRepository(call), call.query.sort, call.page);
    return rows.map((row) => toLabel(call.context, row, call));
  },

  getLabel(call) {
    const { context, params } = call;
    return toLabel(context, found(labelOf(context, ofRepository(call), params.id)), call);
  },

  createLabel: (call) =>
    toLabel(call.context, insertLabel(call.context, ofRepository(call), call.body), call),

  editLabel(call) {
    const { context, params, body } = call;
    const label = found(labelOf(context, ofRepository(call), params.id));
    return toLabel(context, updateLabel(context, label, body), call);
  },

  deleteLabel({ context, params, repository }) {
    context.db.run('DELETE FROM labels WHERE repo_id = ? AND id = ?', repository.id, params.id);
    return undefined;
  },

  listOrganizationLabels(call) {
    call.reply.total(countOf(call.context, ofOrganization(call)));
    const rows = listOf(call.context, ofOrganization(call), call.query.sort, call.page);
    return rows.map((row) => toLabel(call.context, row, { owner: call.organization }));
  },

  createOrganizationLabel(call) {
    const row = insertLabel(call.context, ofOrganization(call), call.body);
    return toLabel(call.context, row, { owner: call.organization });
  },

  getOrganizationLabel(call) {
    const { context, params, organization } = call;
    const row = found(labelOf(context, ofOrganization(call), params.id));
    return toLabel(context, row, { owner: organization });
  },

  editOrganizationLabel(call) {
    const { context, params, organization, body } = call;
    const label = found(labelOf(context, ofOrganization(call), params.id));
    return toLabel(context, updateLabel(context, label, body), { owner: organization });
  },

  deleteOrganizationLabel({ context, params, organization }) {
    context.db.run('DELETE FROM labels WHERE org_id = ? AND id = ?', organization.id, params.id);
    return undefined;
  },
});

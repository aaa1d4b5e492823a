import { emitIssue, type IssueScene } from '../hooks/events.ts';
import { findIssue, type RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { PageRange } from '../platform/paging.ts';
import type { IssueRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { type LabelRow, loadLabels, toLabel } from './labels-rows.ts';
import {
  attachLabels,
  detachLabels,
  findLabels,
  insertLabel,
  type LabelHolder,
  type NewLabel,
  normalizeColor,
  replaceLabels,
} from './labels-service.ts';

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

/** Returns a label by id if a number is given, otherwise by name. */
function labelOf(context: ForgeContext, holder: LabelHolder, id: number | string): LabelRow | undefined {
  const by = typeof id === 'number' ? 'id' : 'name';
  const sql = `SELECT * FROM labels WHERE ${holder.column} = ? AND ${by} = ? ORDER BY id LIMIT 1`;
  return context.db.get<LabelRow>(sql, holder.id, id);
}

type LabelEdit = { readonly [Name in keyof NewLabel]?: NewLabel[Name] | undefined };

function updateLabel(context: ForgeContext, label: LabelRow, edit: LabelEdit): LabelRow {
  const now = secondsOf(context.clock());
  // An absent `is_archived` unarchives the label: Gitea reads it as false.
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

type LabelCall = RepositoryTarget & {
  readonly context: ForgeContext;
  readonly params: { readonly index: number };
};

/** Changes the labels of the issue in the path, then queues the webhook, even if nothing changed. */
function changeLabels(
  call: LabelCall & { readonly caller: UserRow },
  news: { readonly action: 'label_updated' | 'label_cleared'; readonly hidesLabels?: boolean },
  change: (scene: IssueScene) => void,
) {
  const { context } = call;
  return context.db.transaction(() => {
    const issue = findIssue(call);
    const scene: IssueScene = { ...call, issueId: issue.id, actor: call.caller };
    change(scene);
    emitIssue(context, scene, { topic: 'label', ...news });
    return labelsOf(call, issue);
  });
}

function labelsOf(call: LabelCall, issue: IssueRow) {
  const rows = loadLabels(call.context, [issue.id]).get(issue.id) ?? [];
  return rows.map((row) => toLabel(call.context, row, call));
}

/** Handlers for the labels of an issue or pull request. Every write emits one webhook, even if nothing changed. */
export const issueLabelHandlers = defineHandlers({
  listIssueLabels: (call) => labelsOf(call, findIssue(call)),

  // In the webhook payload, Gitea sends an empty list of labels; the response has the current labels.
  replaceIssueLabels: (call) =>
    changeLabels(call, { action: 'label_updated', hidesLabels: true }, (scene) =>
      replaceLabels(call.context, scene, findLabels(call.context, call, call.body.labels)),
    ),

  addIssueLabels: (call) =>
    changeLabels(call, { action: 'label_updated' }, (scene) =>
      attachLabels(call.context, scene, findLabels(call.context, call, call.body.labels)),
    ),

  removeIssueLabel(call) {
    changeLabels(call, { action: 'label_updated' }, (scene) => {
      const labels = findLabels(call.context, call, [call.params.id]);
      detachLabels(call.context, scene, [found(labels[0], 'label does not exist')]);
    });
    return undefined;
  },

  clearIssueLabels(call) {
    changeLabels(call, { action: 'label_cleared' }, (scene) => replaceLabels(call.context, scene, []));
    return undefined;
  },
});

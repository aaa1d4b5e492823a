import { findIssue } from '../access/find-issue.ts';
import type { RepositoryTarget } from '../access/targets.ts';
import type { ForgeContext } from '../core/context.ts';
import { found } from '../core/errors.ts';
import type { IssueRow, LabelRow } from '../core/issue-rows.ts';
import type { UserRow } from '../core/rows.ts';
import { secondsOf } from '../core/time.ts';
import { emitIssue, type IssueScene } from '../events/issue-events.ts';
import { recordEvent } from '../events/timeline.ts';
import { defineHandlers } from '../http/handler.ts';
import { loadLabels, toLabel } from '../views/label.ts';

/** Returns the text before the last slash of an exclusive label: an issue carries one label of each scope. */
function labelScope(label: Pick<LabelRow, 'name' | 'exclusive'>): string | undefined {
  const slash = label.name.lastIndexOf('/');
  const isScoped = label.exclusive === 1 && slash > 0 && slash < label.name.length - 1;
  return isScoped ? label.name.slice(0, slash) : undefined;
}

/**
 * Returns the labels that ids or names mean in a repository, by name: its own and those of its organization. What is
 * unknown or belongs elsewhere is dropped in silence; a name that both have gives both.
 */
export function findLabels(
  context: ForgeContext,
  place: RepositoryTarget,
  wanted: readonly (number | string)[],
): readonly LabelRow[] {
  return context.db.all<LabelRow>(
    `SELECT * FROM labels WHERE (repo_id = ?1 OR org_id = ?2)
       AND ${typeof wanted[0] === 'string' ? 'name' : 'id'} IN (SELECT value FROM json_each(?3)) ORDER BY name, id`,
    place.repository.id,
    place.owner.type === 'organization' ? place.owner.id : 0,
    JSON.stringify(wanted),
  );
}

/** Puts labels onto an issue; each exclusive one takes the place of its scope's others, the last one winning. */
export function attachLabels(context: ForgeContext, scene: IssueScene, labels: readonly LabelRow[]): void {
  const { issueId } = scene;
  for (const label of labels) {
    const held = loadLabels(context, [issueId]).get(issueId) ?? [];
    if (held.some((other) => other.id === label.id)) continue;
    const scope = labelScope(label);
    if (scope !== undefined)
      detachLabels(
        context,
        scene,
        held.filter((other) => labelScope(other) === scope),
      );
    context.db.run('INSERT INTO issue_labels (issue_id, label_id) VALUES (?, ?)', issueId, label.id);
    recordEvent(context, scene, { type: 'label', body: '1', refers: { label: label.id } });
    touch(context, issueId);
  }
}

/** Takes labels off an issue. */
function detachLabels(context: ForgeContext, scene: IssueScene, labels: readonly LabelRow[]): void {
  for (const label of labels) {
    const { changes } = context.db.run(
      'DELETE FROM issue_labels WHERE issue_id = ? AND label_id = ?',
      scene.issueId,
      label.id,
    );
    if (changes === 0) continue;
    recordEvent(context, scene, { type: 'label', refers: { label: label.id } });
    touch(context, scene.issueId);
  }
}

/** Leaves exactly these labels on an issue; of several exclusive ones of a scope the last in the list stays. */
export function replaceLabels(context: ForgeContext, scene: IssueScene, wanted: readonly LabelRow[]): void {
  const { issueId } = scene;
  const labels = wanted.filter((label, at) => {
    const scope = labelScope(label);
    return scope === undefined || !wanted.slice(at + 1).some((other) => labelScope(other) === scope);
  });
  attachLabels(context, scene, labels);
  const kept = new Set(labels.map((label) => label.id));
  const held = loadLabels(context, [issueId]).get(issueId) ?? [];
  detachLabels(
    context,
    scene,
    held.filter((label) => !kept.has(label.id)),
  );
}

function touch(context: ForgeContext, issueId: number): void {
  context.db.run('UPDATE issues SET updated_at = ? WHERE id = ?', secondsOf(context.clock()), issueId);
}

type LabelCall = RepositoryTarget & {
  readonly context: ForgeContext;
  readonly params: { readonly index: number };
};

/** Changes the labels of the issue in the path, then tells the hooks, whether or not anything changed. */
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

/** Handlers for the labels of an issue or pull request. Every write emits one webhook, also when nothing changed. */
export const issueLabelHandlers = defineHandlers({
  listIssueLabels: (call) => labelsOf(call, findIssue(call)),

  // Gitea forgets the labels it has read, and tells of none, whichever are there now.
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

import type { IssueScene } from '../hooks/events.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { secondsOf } from '../platform/time.ts';
import { type LabelRow, loadLabels } from './labels-rows.ts';
import { recordEvent } from './timeline-rows.ts';

/** Owner of labels: a repository or an organization. */
export type LabelHolder = { readonly column: 'repo_id' | 'org_id'; readonly id: number };

/** Input for a new label, with the color not yet normalized. */
export type NewLabel = {
  readonly name: string;
  readonly color: string;
  readonly description?: string | undefined;
  readonly exclusive?: boolean | undefined;
  readonly is_archived?: boolean | undefined;
};

/**
 * Returns six hex digits in lower case for `#abc`, `abc`, `#aabbcc` or `aabbcc`; other text ends the request with 422.
 */
export function normalizeColor(text: string): string {
  const digits = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(text.trim())?.[1]?.toLowerCase();
  if (digits === undefined) throw new ForgeProblem(422, `bad color code: ${text}`);
  return digits.length === 3 ? [...digits].map((digit) => digit + digit).join('') : digits;
}

/** Creates a label of a repository or organization and returns its row; names need not be unique. */
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

/**
 * Returns the scope of an exclusive label: the text before its last slash. An issue has at most one label of each
 * scope.
 */
function labelScope(label: Pick<LabelRow, 'name' | 'exclusive'>): string | undefined {
  const slash = label.name.lastIndexOf('/');
  const isScoped = label.exclusive === 1 && slash > 0 && slash < label.name.length - 1;
  return isScoped ? label.name.slice(0, slash) : undefined;
}

/**
 * Returns the labels of a repository and of its organization that have these ids or names, sorted by name. Unknown
 * labels and labels of other repositories are silently dropped; a name that exists in both returns both labels.
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

/**
 * Adds labels to an issue. An exclusive label replaces other labels of its scope; of several given labels of one scope,
 * the last one wins.
 */
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

/** Removes labels from an issue. */
export function detachLabels(context: ForgeContext, scene: IssueScene, labels: readonly LabelRow[]): void {
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

/** Replaces the labels of an issue. Of several exclusive labels of one scope, only the last in the list is kept. */
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

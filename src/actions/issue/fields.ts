import { operations } from '../../contract/operations.ts';
import { Issue } from '../../contract/resources/issues.ts';
import type { Milestone } from '../../contract/resources/milestones.ts';
import type { Change } from '../change.ts';
import { type ForgeObject, pathParams, readItems } from '../inverses/forms.ts';
import type { Inverse } from '../inverses/inverse.ts';
import { toLowerCase } from '../same-names.ts';

/**
 * Targets of `set-issue`: `issue.FIELD`, and `assignee:LOGIN` with the login in lower case. A value has the form of
 * `Change.value`: text, null for none, a bool for a presence.
 */

/** Returns the value of a target. */
export function issueFieldOf(live: Issue, target: string): unknown {
  if (target.startsWith(assigneePrefix)) return isAssigned(live, target.slice(assigneePrefix.length));
  const read: Readonly<Record<string, () => unknown>> = {
    'issue.title': () => live.title,
    'issue.state': () => live.state,
    'issue.milestone': () => live.milestone?.title ?? null,
    'issue.due_date': () => calendarDayOf(live.due_date),
    'issue.locked': () => live.is_locked ?? false,
    'issue.pinned': () => (live.pin_order ?? 0) > 0,
  };
  return read[target]?.();
}

const assigneePrefix = 'assignee:';

/** Returns whether a user is assigned. */
export function isAssigned({ assignees }: Issue, login: string): boolean {
  return (assignees ?? []).some((one) => toLowerCase(one.login) === toLowerCase(login));
}

/**
 * Returns the day of a date or of an RFC 3339 time, in UTC, as `2026-12-31`; null for anything else. A forge keeps the last
 * second of the day in the zone of the request, and ours are in UTC.
 */
export function calendarDayOf(text: string | null | undefined): string | null {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text ?? '');
  if (!isDay && !/^\d{4}-\d{2}-\d{2}T/.test(text ?? '')) return null;
  const ms = Date.parse(text ?? '');
  if (Number.isNaN(ms)) return null;
  const day = new Date(ms).toISOString().slice(0, 10);
  // A day that no month has would become one of the next month.
  return isDay && day !== text ? null : day;
}

/** Returns the body of the one PATCH that makes these changes: the assignees of others stay in the list, which it replaces. */
export function editOfFields(
  changes: readonly Pick<Change, 'target' | 'value'>[],
  live: Issue,
  milestones: readonly Milestone[],
): ForgeObject {
  const body: Record<string, unknown> = {};
  for (const { target, value } of changes) {
    if (target === 'issue.title') body.title = value;
    else if (target === 'issue.state') body.state = value;
    else if (target === 'issue.milestone') body.milestone = idOf(value, milestones);
    else if (target !== 'issue.due_date') continue;
    else if (value === null) body.unset_due_date = true;
    else body.due_date = `${value}T23:59:59Z`;
  }
  const named = changes.filter(({ target }) => target.startsWith(assigneePrefix));
  return named.length === 0 ? body : { ...body, assignees: assigneesAfter(named, live) };
}

/** Zero takes the milestone away. */
function idOf(title: unknown, milestones: readonly Milestone[]): number {
  if (title === null) return 0;
  const named = milestones.filter((one) => one.title === title);
  const [first, second] = named.some(({ state }) => state === 'open')
    ? named.filter(({ state }) => state === 'open')
    : named;
  if (first === undefined) throw new Error(`there is no milestone "${title}" in the repository`);
  if (second !== undefined) throw new Error(`there are several milestones "${title}" in the repository`);
  return first.id;
}

function assigneesAfter(
  changes: readonly Pick<Change, 'target' | 'value'>[],
  { assignees }: Issue,
): readonly string[] {
  const wanted = new Map(changes.map(({ target, value }) => [target.slice(assigneePrefix.length), value]));
  const kept = (assignees ?? []).map(({ login }) => login).filter((login) => !wanted.has(toLowerCase(login)));
  return [...kept, ...[...wanted].flatMap(([login, there]) => (there ? [login] : []))];
}

/** Sets a field back to its former value. */
export const undoIssueField: Inverse = async (change, client) => {
  const params = pathParams(change);
  const live = Issue.parse(await client.send(operations.getIssue, { params }));
  const { target, before } = change;
  const { index: _index, ...where } = params;
  const milestones =
    target === 'issue.milestone' && before !== null
      ? ((await readItems(client, operations.listMilestones, {
          params: where,
          query: { state: 'all' },
        })) as unknown as readonly Milestone[])
      : [];
  return {
    value: issueFieldOf(live, target),
    undo: () => {
      if (
        target === 'issue.milestone' &&
        before !== null &&
        !milestones.some(({ title }) => title === before)
      ) {
        return `the milestone "${before}" is gone`;
      }
      const body = editOfFields([{ target, value: before }], live, milestones);
      return { operation: operations.editIssue, input: { params, body } };
    },
  };
};

import { z } from 'zod';
import type { Operation } from '../contract/operation.ts';
import { operations } from '../contract/operations.ts';
import { Issue } from '../contract/resources/issues.ts';
import type { Milestone } from '../contract/resources/milestones.ts';
import { asWritten, isTitle, trimSpace } from '../contract/written-texts.ts';
import { type Facts, optionalRequestOf, requestOf } from '../facts/fact.ts';
import { issue as issueRow, timeline } from '../facts/issue.ts';
import { milestones } from '../facts/milestones.ts';
import { ways } from '../facts/ways.ts';
import { indexParams } from '../facts/where.ts';
import { compileGlob } from '../patterns/glob.ts';
import { condition, defineAction, forgeText, template } from './action.ts';
import type { Change } from './change.ts';
import {
  boundsOf,
  commandArguments,
  examineOnly,
  isFromCommand,
  maxCommandNames,
  planCommandAnswer,
  userBounds,
  usersOf,
} from './command-names.ts';
import { type ForgeObject, type Inverse, pathParams, readItems } from './inverses.ts';
import { pickByHash, toLowerCase, toNames } from './names.ts';
import type { PlanContext } from './plan-context.ts';
import { askWritten, commentInverses, isByUs } from './texts.ts';

/** Returns the live value of a target. */
function issueFieldOf(live: Issue, target: string): unknown {
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
function isAssigned({ assignees }: Issue, login: string): boolean {
  return (assignees ?? []).some((one) => toLowerCase(one.login) === toLowerCase(login));
}

/**
 * Returns the day of a date or of an RFC 3339 time, in UTC, as `2026-12-31`; null for anything else. A forge stores the
 * last second of the day in the time zone of the request, and our requests use UTC.
 */
function calendarDayOf(text: string | null | undefined): string | null {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text ?? '');
  if (!isDay && !/^\d{4}-\d{2}-\d{2}T/.test(text ?? '')) return null;
  const ms = Date.parse(text ?? '');
  if (Number.isNaN(ms)) return null;
  const day = new Date(ms).toISOString().slice(0, 10);
  // A nonexistent day is normalized to a day of the next month.
  return isDay && day !== text ? null : day;
}

/**
 * A field with its desired value. The target is `issue.FIELD`, or `assignee:LOGIN` with the login in lower case. The
 * value has the form of `Change.value`: a text, null if the field is empty, or a bool for presence.
 */
type FieldValue = { readonly target: string; readonly value: unknown };

/**
 * Returns the body of the single PATCH for these changes. The body includes all other assignees, because a PATCH
 * replaces the list.
 */
function editOfFields(
  changes: readonly FieldValue[],
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

/** Returns the id of the milestone with a title; for null, zero, which clears the milestone. */
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

function assigneesAfter(changes: readonly FieldValue[], { assignees }: Issue): readonly string[] {
  const wanted = new Map(changes.map(({ target, value }) => [target.slice(assigneePrefix.length), value]));
  const kept = (assignees ?? []).map(({ login }) => login).filter((login) => !wanted.has(toLowerCase(login)));
  return [...kept, ...[...wanted].flatMap(([login, there]) => (there ? [login] : []))];
}

/** Restores the former value of a field. */
const undoIssueField: Inverse = async (change, client) => {
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

const name = template().min(1).max(255);
const users = z.union([z.array(name).min(1).max(50), commandArguments('users')]);
const SetIssue = z
  .strictObject({
    title: forgeText().min(1).max(255).optional(),
    state: z.enum(['open', 'closed']).optional().meta({
      description: 'A person who changes it back is not overruled until `when` was false once.',
    }),
    assignees: z
      .strictObject({
        add: users.optional().meta({
          description: `Users to assign: a list, or \`\${{ command("assign").users }}\`: at most ${maxCommandNames} users of one comment, to whom issues can be assigned. Others are answered in one comment, if the sender has write access.`,
        }),
        remove: users.optional().meta({
          description: 'Users to unassign: a list, or `${{ command("unassign").users }}`.',
        }),
        from: z.literal('sender').optional().meta({
          description: 'A command without argument means the author of the comment.',
        }),
        pick: z.int().min(1).max(10).optional().meta({
          description:
            'How many of `add` are assigned, those already assigned included; which ones follows from the number of the issue. Default: all.',
        }),
      })
      .refine((given) => given.add || given.remove, { message: 'name at least one user under add or remove' })
      .refine((given) => given.pick === undefined || given.add, { message: 'pick chooses from add' })
      .optional(),
    // The first alternative that fits decides how the text is read.
    milestone: z
      .union([commandArguments('milestone'), name])
      .nullable()
      .optional()
      .meta({
        description:
          'Title of a milestone; null: none; or `${{ command("milestone").milestone }}` together with `only`.',
      }),
    only: z.array(z.string().min(1).max(255)).min(1).max(20).optional().meta({
      description:
        'Globs of the milestones that a command may name. One that does not match or does not exist is answered in one comment, if the sender has write access.',
    }),
    due_date: template().min(1).max(50).nullable().optional().meta({
      description: 'A date (`2026-12-31`), or an RFC 3339 time of which the date in UTC is used; null: none.',
    }),
    locked: z.boolean().optional().meta({ description: 'Needs admin access. Forgejo has no API for it.' }),
    pinned: z.boolean().optional().meta({ description: 'Needs admin access.' }),
    when: condition().optional().meta({
      description:
        'The fields have these values while this condition holds; while it does not, nothing is changed.',
    }),
  })
  .refine((given) => Object.keys(given).some((key) => key !== 'when' && key !== 'only'), {
    message: 'name at least one field',
  });
type SetIssue = z.output<typeof SetIssue>;

const issueFact = requestOf(issueRow);
const milestonesFact = requestOf(milestones);

/**
 * Sets fields of the issue or pull request: one PATCH for the state, one for all other fields, one each for lock and
 * pin.
 */
export const setIssue = defineAction<SetIssue>({
  name: 'set-issue',
  meaning:
    'Sets the given fields of the issue or pull request; other fields and other assignees are left unchanged. A person who reopened it (or closed it again, with `state: open`) is not overruled until `when` was false once.',
  example: `uses: set-issue
with:
  assignees: { add: [ada, grace, linus], pick: 1 }
  milestone: next
`,
  arguments: SetIssue,
  of: ['issue', 'pull_request'],
  ways: {
    writes: [ways.closed, ways.assignees, ways.milestone, ways.edited],
    after: [ways.closed, ways.assignees, ways.milestone, ways.edited],
  },
  needs: { access: 'writer', scopes: ['issue'] },
  // `only`: the reply depends on the permission of the sender, which only administrators may read.
  moreAccess: { locked: 'admin', pinned: 'admin', only: 'admin' },
  describesState: true,
  granted: true,
  visibleTo: 'subject',
  inverses: {
    [operations.editIssue.id]: undoIssueField,
    [operations.lockIssue.id]: undoModeration(operations.unlockIssue),
    [operations.unlockIssue.id]: undoModeration(operations.lockIssue),
    [operations.pinIssue.id]: undoModeration(operations.unpinIssue),
    [operations.unpinIssue.id]: undoModeration(operations.pinIssue),
    ...commentInverses,
  },
  adoption: undefined,
  operatorOnly: ['state', 'locked', 'pinned'],
  requires: { locked: 'issue_lock' },
  examine({ assignees: { add = [], remove = [], from, pick } = {}, milestone, only }) {
    const place = isFromCommand(milestone) ? 'milestone' : undefined;
    const found = [...examineOnly(only, place, { noun: 'milestones', example: 'v*' })];
    const isCommanded = isFromCommand(add) || isFromCommand(remove);
    if (from !== undefined && !isCommanded) {
      const message = 'from: sender completes a command without argument: add or remove must be one';
      found.push({ path: ['assignees', 'from'], message });
    }
    if (pick !== undefined && isFromCommand(add)) {
      const message = 'pick chooses from users that are listed here, not from those of a command';
      found.push({ path: ['assignees', 'pick'], message });
    }
    if (isFromCommand(add) || isFromCommand(remove)) return found;
    const removed = toNames(remove);
    const both = add.findIndex((one) => removed.includes(toLowerCase(one)));
    if (both < 0) return found;
    const message = `${add[both]} is listed under both add and remove`;
    return [...found, { path: ['assignees', 'add', both], message }];
  },
  facts: ({ milestone }) => (milestone ? [issueFact, milestonesFact] : [issueFact]),
  async plan(given, facts, context) {
    const live = await facts.ask(issueFact);
    if (given.when === false) {
      if (given.state !== undefined) await noteReleased(live.id, given.state, context);
      return [];
    }
    return [
      ...textChanges(given, live, facts),
      ...(await stateChanges(given, live, facts, context)),
      ...(await assigneeChanges(given, live, facts, context)),
      ...(await milestoneChanges(given, live, facts, context)),
      ...moderationChanges(given, live, facts),
    ];
  },
  async join(changes, facts) {
    const live = await facts.ask(issueFact);
    const all = changes.some(({ target }) => target === 'issue.milestone')
      ? await facts.ask(milestonesFact)
      : [];
    return { params: indexParams(facts.subject), body: editOfFields(changes, live, all) };
  },
  confirm(change, answer) {
    if (change.operation !== operations.editIssue.id) return undefined;
    const answered = Issue.safeParse(answer);
    if (!answered.success) return undefined;
    if (isFieldSet(change.target, issueFieldOf(answered.data, change.target), change.value)) return undefined;
    return `the forge did not set ${change.target} to this value`;
  },
  async remember({ target, value }, answer, context) {
    const answered = Issue.safeParse(answer);
    if (target === 'issue.state' && answered.success) await noteReached(answered.data.id, value, context);
  },
});

function fieldChange(target: string, value: unknown, live: Issue, facts: Facts): Change {
  const before = issueFieldOf(live, target);
  const isUpToDate = isFieldSet(target, before, value);
  return {
    action: 'set-issue',
    operation: operations.editIssue.id,
    input: { params: indexParams(facts.subject) },
    target,
    value,
    before,
    after: value,
    reason: isUpToDate ? 'already in the desired state' : 'it has another value',
    reads: [issueFact],
    joins: `fields of #${live.number}`,
    ...(isUpToDate && { already: true }),
  };
}

function isFieldSet(target: string, live: unknown, wanted: unknown): boolean {
  return live === wanted || (target === 'issue.title' && isTitle(String(live), String(wanted)));
}

function textChanges({ title, due_date }: SetIssue, live: Issue, facts: Facts): readonly Change[] {
  return [
    ...(title === undefined ? [] : [fieldChange('issue.title', wantedTitle(title), live, facts)]),
    ...(due_date === undefined ? [] : [fieldChange('issue.due_date', wantedDay(due_date), live, facts)]),
  ];
}

/** Trims a title as the forge trims the title of a new issue, although an edit would keep white space. */
function wantedTitle(written: string): string {
  const title = asWritten(operations.createIssue, 'title', written);
  if (title === '') throw new Error('a title must contain more than white space');
  return title;
}

function wantedDay(written: string | null): string | null {
  if (written === null) return null;
  const day = calendarDayOf(trimSpace(written));
  if (day === null) throw new Error(`"${written}" is not a date such as 2026-12-31`);
  return day;
}

async function stateChanges(
  { state }: SetIssue,
  live: Issue,
  facts: Facts,
  context: PlanContext,
): Promise<readonly Change[]> {
  if (state === undefined) return [];
  // Sent as a separate request, because the conditions are evaluated again immediately before it.
  const { joins: _joins, ...field } = fieldChange('issue.state', state, live, facts);
  const change = { ...field, input: { params: indexParams(facts.subject), body: { state } } };
  if (change.already) {
    await noteReached(live.id, state, context);
    return [change];
  }
  if (live.pull_request?.merged) {
    return [{ ...change, already: true, reason: 'a merged pull request stays closed' }];
  }
  if (await isHeldBack(live.id, state, facts, context)) {
    const done = state === 'closed' ? 'reopened' : 'closed';
    const reason = `a person ${done} it, and the condition has not been false since`;
    return [{ ...change, already: true, reason }];
  }
  return [{ ...change, reason: `it is ${live.state}`, reconsiders: true }];
}

async function assigneeChanges(
  { assignees }: SetIssue,
  live: Issue,
  facts: Facts,
  context: PlanContext,
): Promise<readonly Change[]> {
  if (assignees === undefined) return [];
  const named = await usersOf(assignees, facts);
  const there = named.add.filter((login) => isAssigned(live, login));
  const others = named.add.filter((login) => !isAssigned(live, login));
  const missing =
    assignees.pick === undefined ? others : pickByHash(others, assignees.pick - there.length, facts.subject);
  // Of the words of a command, only those that are assignees become targets.
  const removed = isFromCommand(assignees.remove)
    ? named.remove.filter((login) => isAssigned(live, login))
    : named.remove;
  const changes = [
    ...[...there, ...missing].map((login) => [login, true] as const),
    ...removed.map((login) => [login, false] as const),
  ].map(([login, value]) => {
    const accounts = value ? [login] : [];
    const change = { ...fieldChange(`assignee:${toLowerCase(login)}`, value, live, facts), accounts };
    const isCommanded = isFromCommand(value ? assignees.add : assignees.remove);
    const who = isCommanded ? 'a command of the comment' : 'the rule';
    return change.already ? change : { ...change, reason: `${who} ${value ? 'assigns it' : 'unassigns it'}` };
  });
  const words = {
    action: 'set-issue',
    key: 'users',
    noun: 'users',
    heading: 'These users were not assigned:',
    bounds: userBounds,
  };
  return [...changes, ...(await planCommandAnswer(named, words, { facts, context }))];
}

async function milestoneChanges(
  { milestone: written, only = [] }: SetIssue,
  live: Issue,
  facts: Facts,
  context: PlanContext,
): Promise<readonly Change[]> {
  if (written === undefined) return [];
  const isCommanded = isFromCommand(written);
  const named = isCommanded ? written.command.join(' ') : written;
  // The forge trims milestone titles.
  const milestone = named && trimSpace(named);
  if (isCommanded && milestone === '') return [];
  const isAllowed = !isCommanded || compileGlob(only)(milestone ?? '', context.meter);
  const change = fieldChange('issue.milestone', milestone, live, facts);
  if (isAllowed && (change.already || milestone === null)) return [change];
  const found = isAllowed && (await facts.ask(milestonesFact)).some(({ title }) => title === milestone);
  if (found) return [{ ...change, reads: [issueFact, milestonesFact] }];
  if (!isCommanded) throw new Error(`there is no milestone "${milestone}" in the repository`);
  const why = isAllowed ? 'it does not exist' : 'commands may not name it here';
  const words = {
    action: 'set-issue',
    key: 'milestone',
    noun: 'milestones',
    heading: 'The milestone was not set:',
    bounds: boundsOf('milestones', only),
  };
  return planCommandAnswer({ refused: [{ name: milestone ?? '', why }] }, words, { facts, context });
}

function moderationChanges({ locked, pinned }: SetIssue, live: Issue, facts: Facts): readonly Change[] {
  return [
    ...(locked === undefined ? [] : [moderationChange('issue.locked', locked, live, facts)]),
    ...(pinned === undefined ? [] : [moderationChange('issue.pinned', pinned, live, facts)]),
  ];
}

const moderation = {
  'issue.locked': { on: operations.lockIssue.id, off: operations.unlockIssue.id },
  'issue.pinned': { on: operations.pinIssue.id, off: operations.unpinIssue.id },
} as const;

/** Returns a change that is sent as a separate request, whose response is empty. */
function moderationChange(
  target: keyof typeof moderation,
  value: boolean,
  live: Issue,
  facts: Facts,
): Change {
  const { joins: _joins, ...change } = fieldChange(target, value, live, facts);
  const { on, off } = moderation[target];
  const params = indexParams(facts.subject);
  return {
    ...change,
    operation: value ? on : off,
    input: value && target === 'issue.locked' ? { params, body: {} } : { params },
    verify: true,
    ...(target === 'issue.locked' && !change.already && { requires: ['issue_lock'] }),
  };
}

/** Returns the inverse of locking, unlocking, pinning or unpinning. */
function undoModeration(opposite: Operation): Inverse {
  return async (change, client) => {
    const params = pathParams(change);
    const live = Issue.parse(await client.send(operations.getIssue, { params }));
    const input = opposite.body === undefined ? { params } : { params, body: {} };
    return { value: issueFieldOf(live, change.target), undo: () => ({ operation: opposite, input }) };
  };
}

/**
 * Records whether an issue has reached the state that a rule wants, so that Reeve detects when a person changes it
 * back. `reached` is stored once the issue has that state while the condition holds; `released` is stored once the
 * condition is false. The timeline shows who changed the state last.
 */
type Note = 'reached' | 'released';
type IssueState = 'open' | 'closed';

const undoes = { closed: 'reopen', open: 'close' } as const;

function keyOf(issueId: number, state: unknown, { rule }: PlanContext): string {
  return `set-issue ${rule} ${issueId} ${state}`;
}

async function readNote(issueId: number, state: unknown, context: PlanContext): Promise<Note | undefined> {
  // The cast is safe: only the functions below write this key.
  return (await context.memory.get(keyOf(issueId, state, context))) as Note | undefined;
}

/** Records that the issue has the state that the rule wants. */
async function noteReached(issueId: number, state: unknown, context: PlanContext): Promise<void> {
  if (context.dryRun || (await readNote(issueId, state, context)) === 'reached') return;
  await context.memory.set(keyOf(issueId, state, context), 'reached' satisfies Note);
}

/** Records that the condition is false, so that the rule may change the state again later. */
async function noteReleased(issueId: number, state: unknown, context: PlanContext): Promise<void> {
  if (context.dryRun || (await readNote(issueId, state, context)) !== 'reached') return;
  await context.memory.set(keyOf(issueId, state, context), 'released' satisfies Note);
}

/**
 * Returns whether a person changed the state back, so that the rule leaves the state unchanged. The timeline is read
 * only if the rule would change the state. If there is no note, the timeline alone shows whether a person undid a
 * change of the bot's account.
 */
async function isHeldBack(
  issueId: number,
  state: IssueState,
  facts: Facts,
  context: PlanContext,
): Promise<boolean> {
  const note = await readNote(issueId, state, context);
  if (note === 'released') return false;
  const entries = await askWritten(facts, optionalRequestOf(timeline));
  const [last, before] = entries.filter(({ type }) => type === 'close' || type === 'reopen').toReversed();
  // Without a timeline, as in a what-if, the note decides.
  if (last === undefined) return note === 'reached';
  if (last.type !== undoes[state] || isByUs(last, context)) return false;
  const isHeld = note === 'reached' || (before !== undefined && isByUs(before, context));
  if (isHeld) await noteReached(issueId, state, context);
  return isHeld;
}

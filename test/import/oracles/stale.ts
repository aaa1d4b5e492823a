/**
 * Bots of old issues and pull requests. Read at:
 *
 * - github.com/actions/stale 9461cb10066d1553762bac6a02599ab8c26b14dd: `processIssue`, `_processStaleIssue`,
 *   `_hasCommentsSince`, `hasOnlyStaleLabelingEventsSince`, `_updatedSince` (src/classes/issues-processor.ts),
 *   `Milestones`, `Assignees`, `ExemptDraftPullRequest`, `IgnoreUpdates`, `isLabeled`, `wordsToList`, and
 *   `_getAndValidateArgs` (src/main.ts);
 * - github.com/probot/stale 28b78d1d70fed3d550e1de7fe59b0db0b4bae543: `Stale.mark`, `sweep`, `getStale`, `getClosable`
 *   (lib/stale.js), `unmark` (index.js), the defaults (lib/schema.js);
 * - github.com/probot/no-response 74cbc5393669059479e157084e2b3cb2ed8421c2: `unmark`, `getClosableIssues`
 *   (lib/no-response.js), lib/defaults.js;
 * - github.com/dessant/lock-threads 09f5010c88118177de7b398c5da58eb3e3fb3121: `search`, `lock` (src/index.js),
 *   src/schema.js.
 *
 * What surprises. actions/stale: labels, milestones and assignees are compared without case and accents; one comment of a
 * person after the label stops the close even if the label stays; the label to close is removed from open items; `0` days
 * to close closes in the run that warns. probot/stale: exempt labels, `onlyLabels` and milestones keep from the warning
 * alone: whatever has the stale label is closed; any event of a person removes the label, and a comment on a pull request
 * reads the section of issues. no-response: the time counts from the last setting of the label. lock-threads:
 * `include-all` hides `include-any`.
 *
 * A schedule has the event action `schedule`, a comment `commented`; every other action is an event of the item itself.
 */
import { parse } from 'yaml';
import {
  DAY,
  type Decision,
  decision,
  type Effect,
  isMapping,
  listOf,
  type Mapping,
  mappingOf,
  nothing,
  type Oracle,
  type Subject,
  sameName,
} from './subject.ts';

/** Decides for a file of any of these bots, which is recognised by its content. */
export const decide: Oracle = (configuration, subject, now) => {
  if (stepsOf(configuration, 'actions/stale').length > 0)
    return decideStaleAction(configuration, subject, now);
  if (stepsOf(configuration, 'dessant/lock-threads').length > 0)
    return decideLockThreads(configuration, subject, now);
  if (stepsOf(configuration, 'lee-dohm/no-response').length > 0)
    return decideNoResponse(configuration, subject, now);
  const file = mappingOf(parse(configuration));
  return 'responseRequiredLabel' in file
    ? decideNoResponse(configuration, subject, now)
    : decideProbotStale(configuration, subject, now);
};

/** Returns the inputs of each step of a workflow that uses an action, as texts. */
export function stepsOf(workflow: string, action: string): Readonly<Record<string, string>>[] {
  const file = mappingOf(parse(workflow, { merge: true }));
  return Object.values(mappingOf(file.jobs)).flatMap((job) => {
    const steps = mappingOf(job).steps;
    return (Array.isArray(steps) ? steps : [])
      .map(mappingOf)
      .filter(({ uses }) => typeof uses === 'string' && (uses === action || uses.startsWith(`${action}@`)))
      .map((step) =>
        Object.fromEntries(
          Object.entries(mappingOf(step.with)).map(([name, value]) => [name, String(value ?? '').trim()]),
        ),
      );
  });
}

// actions/stale

const clean = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/g, '');
const words = (text: string): string[] => (text === '' ? [] : text.split(',').map((word) => word.trim()));

export const decideStaleAction: Oracle = (configuration, subject, now) => {
  const decisions = stepsOf(configuration, 'actions/stale').map((inputs) =>
    runStaleStep(inputs, subject, now),
  );
  return decision(
    decisions.flatMap(({ effects }) => effects),
    ...decisions.flatMap(({ because }) => because),
  );
};

function runStaleStep(inputs: Readonly<Record<string, string>>, subject: Subject, now: number): Decision {
  const input = (name: string, otherwise = ''): string => {
    const value = inputs[name];
    return value === undefined || value === '' ? otherwise : value;
  };
  const kind = subject.kind === 'pull' ? 'pr' : 'issue';
  /** The input of the kind, else the common one. */
  const own = (before: string, after: string, otherwise = ''): string =>
    input(`${before}${kind}-${after}`) || input(`${before}${after}`, otherwise);
  const ownFlag = (before: string, after: string, otherwise: string): boolean => {
    const value = input(`${before}${kind}-${after}`);
    const common = input(`${before}${after}`, otherwise);
    if (value === 'true' || value === 'false') return value === 'true';
    // What is on by default is off only for the text `false`.
    return otherwise === 'true' ? common !== 'false' : common === 'true';
  };
  const has = (label: string): boolean => subject.labels.some((other) => clean(other) === clean(label));
  const daysBefore = (end: string, otherwise: string): number => {
    // The days to close are whole numbers; those to warn may have a fraction.
    const read = (text: string): number =>
      end === 'close' ? Number.parseInt(text, 10) : Number.parseFloat(text);
    const days = read(input(`days-before-${kind}-${end}`));
    return Number.isNaN(days) ? read(input(`days-before-${end}`, otherwise)) : days;
  };
  const isRecent = (time: number, days: number): boolean => now - time <= days * DAY;

  if (input('debug-only') === 'true') return nothing('debug-only');
  if (subject.state === 'closed') return nothing('closed');
  if (subject.locked) return nothing('locked');
  if (input('include-only-assigned') === 'true' && subject.assignees.length === 0)
    return nothing('not assigned');
  // Types of issues are not modelled; no type is in no list.
  if (input('only-issue-types') !== '' && kind === 'issue') return nothing('type');
  if (!words(input(`only-${kind}-labels`) || input('only-labels')).every(has)) return nothing('only-labels');

  const effects: Effect[] = [];
  // Labels change during the run: one that was removed is added again, not kept.
  let labels = [...subject.labels];
  const remove = (label: string): void => {
    for (const found of labels.filter((other) => clean(other) === clean(label)))
      effects.push(`remove-label ${found}`);
    labels = labels.filter((other) => clean(other) !== clean(label));
  };
  const add = (label: string): void => {
    if (labels.some((other) => clean(other) === clean(label))) return;
    labels.push(label);
    effects.push(`add-label ${label}`);
  };
  const closeLabel = input(`close-${kind}-label`);
  if (closeLabel !== '') remove(closeLabel);
  if (input('start-date') !== '' && subject.created <= Date.parse(input('start-date')))
    return decision(effects, 'before the start date');
  if (words(input(`exempt-${kind}-labels`)).some(has)) return decision(effects, 'exempt label');
  const anyOf = words(input(`any-of-${kind}-labels`) || input('any-of-labels'));
  if (anyOf.length > 0 && !anyOf.some(has)) return decision(effects, 'any-of-labels');
  const { milestone } = subject;
  if (milestone !== null) {
    const all = ownFlag('exempt-all-', 'milestones', 'false');
    if (all || words(own('exempt-', 'milestones')).some((other) => clean(other) === clean(milestone)))
      return decision(effects, 'exempt milestone');
  }
  if (subject.assignees.length > 0) {
    const all = ownFlag('exempt-all-', 'assignees', 'false');
    const exempt = words(own('exempt-', 'assignees')).map(clean);
    if (all || subject.assignees.some((login) => exempt.includes(clean(login))))
      return decision(effects, 'exempt assignee');
  }
  if (kind === 'pr' && input('exempt-draft-pr') === 'true' && subject.draft)
    return decision(effects, 'draft');

  const staleLabel = input(`stale-${kind}-label`, 'Stale');
  const staleMessage = input(`stale-${kind}-message`);
  const staleDays = daysBefore('stale', '60');
  const closeDays = daysBefore('close', '7');
  const marked = !has(staleLabel);
  if (marked) {
    const since = ownFlag('ignore-', 'updates', 'false') ? subject.created : subject.updated;
    if (isRecent(since, staleDays)) return decision(effects, 'recent');
    if (staleDays < 0) return decision(effects, 'never stale');
    if (staleMessage !== '') effects.push('comment');
    add(staleLabel);
    for (const label of words(input('labels-to-remove-when-stale'))) remove(label);
  }

  // The label counts from its last setting; a mark of this run moves the time of the last update.
  const label = subject.labels.find((other) => clean(other) === clean(staleLabel)) ?? staleLabel;
  const markedAt = marked ? now : (subject.labelled[label] ?? subject.updated);
  const updated = marked ? now : subject.updated;
  const commented = subject.comments.some(
    ({ bot, body, time }) =>
      !marked && time >= markedAt && !bot && body.toLowerCase() !== staleMessage.toLowerCase(),
  );
  if (!marked && ownFlag('remove-', 'stale-when-updated', 'true')) {
    const later = Object.entries(subject.labelled).filter(([, time]) => time >= markedAt);
    const onlyLabel = later.length > 0 && later.every(([name]) => clean(name) === clean(staleLabel));
    const touched = updated - markedAt > 15_000 && !onlyLabel;
    if (touched || commented) {
      remove(staleLabel);
      for (const name of words(input('labels-to-remove-when-unstale'))) remove(name);
      for (const name of words(input('labels-to-add-when-unstale'))) add(name);
      return decision(effects, 'not stale any more');
    }
  }
  if (closeDays < 0) return decision(effects, 'never closed');
  // A mark of this run lies some milliseconds back, which is more than no days.
  if (commented || (marked ? closeDays > 0 : isRecent(updated, closeDays)))
    return decision(effects, 'not old enough to close');
  if (input(`close-${kind}-message`) !== '') effects.push('comment');
  if (closeLabel !== '') add(closeLabel);
  effects.push('close');
  if (input('delete-branch') === 'true' && kind === 'pr' && !subject.fork) effects.push('delete-branch');
  return decision(effects);
}

// probot/stale

const probotDefaults: Mapping = {
  daysUntilStale: 60,
  daysUntilClose: 7,
  onlyLabels: [],
  exemptLabels: ['pinned', 'security'],
  exemptMilestones: false,
  exemptAssignees: false,
  staleLabel: 'wontfix',
  markComment: 'Is this still relevant?',
  unmarkComment: false,
  closeComment: false,
};

export const decideProbotStale: Oracle = (configuration, subject, now) => {
  const file = { ...probotDefaults, ...mappingOf(parse(configuration, { merge: true })) };
  const { event } = subject;
  const type = subject.kind === 'issue' || event.action === 'commented' ? 'issues' : 'pulls';
  const get = (name: string): unknown => mappingOf(file[type])[name] ?? file[name];
  const staleLabel = String(get('staleLabel'));
  const has = (label: string): boolean => subject.labels.some((other) => sameName(other, label));

  if (event.action !== 'schedule') {
    // The comparison here is exact; that of the searches below is GitHub's.
    const isOwnLabel = event.action === 'labeled' && event.label === file.staleLabel;
    if (event.sender.endsWith('[bot]')) return nothing('a bot');
    if (!subject.labels.includes(staleLabel) || subject.state === 'closed' || isOwnLabel)
      return nothing('not stale');
    return decision([...(get('unmarkComment') ? ['comment' as const] : []), `remove-label ${staleLabel}`]);
  }
  if (typeof file.only === 'string' && file.only !== type) return nothing('only');
  if (subject.state === 'closed' || subject.locked) return nothing('closed or locked');
  const isOlder = (days: unknown): boolean =>
    subject.updated < Math.floor((now - Number(days) * DAY) / 1_000) * 1_000;
  if (has(staleLabel)) {
    const days = get('daysUntilClose');
    if (!days || !isOlder(days)) return nothing('not closed yet');
    return decision([...(get('closeComment') ? ['comment' as const] : []), 'close']);
  }
  if (!isOlder(get('daysUntilStale'))) return nothing('recent');
  if (listOf(get('exemptLabels')).some(has)) return nothing('exempt label');
  if (!listOf(get('onlyLabels')).every(has)) return nothing('onlyLabels');
  if (get('exemptMilestones') === true && subject.milestone !== null) return nothing('milestone');
  if (get('exemptAssignees') === true && subject.assignees.length > 0) return nothing('assignee');
  return decision([...(get('markComment') ? ['comment' as const] : []), `add-label ${staleLabel}`]);
};

// probot/no-response, and the action of the same options

export const decideNoResponse: Oracle = (configuration, subject, now) => {
  const [step] = stepsOf(configuration, 'lee-dohm/no-response');
  const file: Mapping = step ?? mappingOf(parse(configuration, { merge: true }));
  const label = String(file.responseRequiredLabel ?? 'more-information-needed');
  const { event, labels } = subject;
  if (event.action === 'commented') {
    if (!labels.includes(label) || event.comment?.author !== subject.author)
      return nothing('no answer of the author');
    const reopens = subject.state === 'closed' && subject.closedBy !== subject.author;
    return decision([`remove-label ${label}`, ...(reopens ? ['reopen' as const] : [])]);
  }
  if (event.action !== 'schedule') return nothing('no event of this bot');
  if (subject.kind !== 'issue' || subject.state === 'closed') return nothing('not an open issue');
  const found = labels.find((other) => sameName(other, label));
  const since = found === undefined ? undefined : subject.labelled[found];
  if (since === undefined || since >= now - Number(file.daysUntilClose ?? 14) * DAY)
    return nothing('not long enough');
  const comments = file.closeComment !== false && file.closeComment !== '' && file.closeComment !== 'false';
  return decision([...(comments ? ['comment' as const] : []), 'close']);
};

// dessant/lock-threads

export const decideLockThreads: Oracle = (configuration, subject, now) => {
  const effects: Effect[] = [];
  for (const inputs of stepsOf(configuration, 'dessant/lock-threads')) {
    const kind = subject.kind === 'pull' ? 'pr' : 'issue';
    const input = (name: string): string => inputs[name] ?? '';
    const list = (name: string): string[] =>
      words(input(name))
        .map((item) => item.replace(/^\s*["'](.+)["']\s*$/, '$1').trim())
        .filter((item) => item !== '');
    const only = list('process-only').map((item) => item.replace(/s$/, ''));
    if (only.length > 0 && !only.includes(kind)) continue;
    if (subject.state !== 'closed' || subject.locked) continue;
    const days = input(`${kind}-inactive-days`) === '' ? 365 : Number(input(`${kind}-inactive-days`));
    if (subject.updated >= Math.floor((now - days * DAY) / 1_000) * 1_000) continue;
    const has = (label: string): boolean => subject.labels.some((other) => sameName(other, label));
    const all = list(`include-all-${kind}-labels`);
    const any = list(`include-any-${kind}-labels`);
    if (all.length > 0 ? !all.every(has) : any.length > 0 && !any.some(has)) continue;
    if (list(`exclude-any-${kind}-labels`).some(has)) continue;
    if (
      isExcluded(input, kind, 'created', subject.created) ||
      isExcluded(input, kind, 'closed', subject.closed)
    )
      continue;
    if (input(`${kind}-comment`) !== '') effects.push('comment');
    for (const label of list(`add-${kind}-labels`))
      if (!subject.labels.includes(label)) effects.push(`add-label ${label}`);
    for (const label of list(`remove-${kind}-labels`))
      if (subject.labels.includes(label)) effects.push(`remove-label ${label}`);
    effects.push('lock');
  }
  return decision(effects);
};

function isExcluded(input: (name: string) => string, kind: string, of: string, time: number | null): boolean {
  if (time === null) return false;
  const read = (end: string): string => input(`exclude-${kind}-${of}-${end}`);
  const [from, to] = read('between').split('/');
  if (from !== undefined && to !== undefined) return time >= Date.parse(from) && time <= Date.parse(to);
  const before = read('before');
  const after = read('after');
  return (before !== '' && time <= Date.parse(before)) || (after !== '' && time >= Date.parse(after));
}

/** Returns whether a value is a workflow rather than a file of a bot. */
export const isWorkflow = (configuration: string): boolean => isMapping(mappingOf(parse(configuration)).jobs);

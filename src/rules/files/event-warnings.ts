import type { ASTNode } from '@marcbachmann/cel-js';
import { eventFamilies, type Family } from '../../contract/events/event-families.ts';
import { readMember } from '../../contract/events/payload-members.ts';
import { type Way, ways } from '../../facts/ways.ts';
import { automaticKinds, eventsAbout, silentWaysOf, waysOfRead } from '../automatic-events.ts';
import type { Problem } from '../problem.ts';
import type { LoadedRule } from '../rule.ts';
import { readsOf } from '../verdict.ts';
import { areApart, labelsNamedBy, ruleTreesOf, statusContextsOf } from './warnings.ts';
import type { YamlSource } from './yaml-source.ts';

/** Actions whose result holds back or lets through a merge. */
const deciding: ReadonlySet<string> = new Set(['merge', 'queue-merge', 'review', 'set-status']);

/**
 * Returns a warning for each deciding rule with `on: auto` and without a schedule that reads what can change without an
 * event.
 */
export function silentChanges(rules: readonly LoadedRule[], file: YamlSource): readonly Problem[] {
  return rules.flatMap((rule) => {
    if (rule.schedules.length > 0 || !rule.steps.some(({ action }) => deciding.has(action.name))) return [];
    const silent = silentWaysOf(rule).filter(({ way }) => !way.isSetting);
    if (silent.length === 0) return [];
    const message = `no event tells when ${silent.map(({ way }) => wordsOfWay(way)).join(', when ')}: write on: [auto, { schedule: "17 * * * *" }]`;
    return [file.problem('silent-change', message, file.keyAt(['rules', rule.name]))];
  });
}

/** Returns what happens in a way without an event, as a clause. */
export function wordsOfWay({ what, silentOn }: Way): string {
  return silentOn === undefined ? what : `${what} (${silentOn})`;
}

/** A rule that does not run after what another rule changes. */
export type OwnChange = {
  readonly rule: LoadedRule;
  /** The rules that change what it reads. */
  readonly by: readonly LoadedRule[];
  readonly message: string;
};

/**
 * Returns the rules with `on: auto` and without a schedule that read what another one of these rules, which are in force
 * together, changes: Reeve's own changes start no rule.
 */
export function ownChanges(rules: readonly LoadedRule[]): readonly OwnChange[] {
  return rules.flatMap((rule) => {
    if (rule.automatic === undefined || rule.schedules.length > 0) return [];
    const read = waysOfReads(rule);
    const found = rules.flatMap((other) => {
      if (other === rule || areApart(rule, other)) return [];
      const way = other.steps
        .flatMap(({ action }) => action.ways?.writes ?? [])
        .find((one) => read.includes(one) && mayMeet(one, other, rule));
      const place = other.source === rule.source ? '' : `${other.source}, `;
      return way === undefined ? [] : [{ other, words: `${other.name} (${place}${way.what})` }];
    });
    if (found.length === 0) return [];
    const names = found.map(({ words }) => words).join(', ');
    const message = `changes of Reeve start no rule, so that this rule does not run after ${names}: write on: [auto, { schedule: "17 * * * *" }]`;
    return [{ rule, by: found.map(({ other }) => other), message }];
  });
}

/** Returns the ways in which the values that a rule's expressions read change. */
function waysOfReads(rule: LoadedRule): readonly Way[] {
  return readsOf(rule)
    .flatMap(waysOfRead)
    .map(({ way }) => way);
}

/** Arguments of `set-issue` that change a value in each way. */
const fields: ReadonlyMap<Way, string> = new Map<Way, string>([
  [ways.edited, 'title'],
  [ways.closed, 'state'],
  [ways.assignees, 'assignees'],
  [ways.milestone, 'milestone'],
]);

/** Returns whether one rule may write what another one reads: not another label, status or field. */
function mayMeet(way: Way, writer: LoadedRule, reader: LoadedRule): boolean {
  const texts = [
    ...(reader.condition?.texts ?? []),
    ...reader.steps.flatMap((step) => [...(step.condition?.texts ?? []), ...(step.arguments.texts ?? [])]),
  ];
  const field = fields.get(way);
  if (field !== undefined)
    return writer.steps.some(
      ({ action, arguments: { written } }) =>
        action.name === 'set-issue' && readMember(written, field) !== undefined,
    );
  if (way === ways.reported) return statusContextsOf(writer).some((context) => texts.includes(context));
  if (way !== ways.labels) return true;
  return writer.steps.flatMap(labelsNamedBy).some((label) => texts.includes(label));
}

/**
 * Families that a rule with a list of events need not have: those of which one forge alone has the events, and pushes to
 * the base, each of which starts the rule for every open pull request.
 */
const optional: ReadonlySet<Family> = new Set([
  'push',
  'status',
  'action_run_success',
  'action_run_failure',
  'action_run_recover',
]);

/**
 * Returns a warning for each rule that keeps a state, lists its events, and does not list one after which what it reads
 * may differ.
 */
export function unheardChanges(rules: readonly LoadedRule[], file: YamlSource): readonly Problem[] {
  return rules.flatMap((rule) => {
    if (rule.automatic || rule.on.length === 0 || rule.schedules.length > 0) return [];
    if (rule.steps.some(({ action }) => action.ways === undefined)) return [];
    const kind = automaticKinds.find((one) =>
      rule.on.every(({ family }) => eventFamilies[family].subject === one),
    );
    if (kind === undefined || !followsChanges(rule) || !isAboutState(rule)) return [];
    const needsLabel = ruleTreesOf(rule).some(isFalseWithoutLabels);
    const missing = new Map<string, string>();
    for (const { of, way } of readsOf(rule).flatMap(waysOfRead)) {
      for (const event of eventsAbout(way, kind)) {
        const [family, activity] = event.split('.') as [Family, string | undefined];
        if (optional.has(family) || (needsLabel && activity === 'label_cleared')) continue;
        const isHeard = rule.on.some(
          (listening) =>
            listening.family === family &&
            (activity === undefined ||
              listening.activities === undefined ||
              listening.activities.includes(activity)),
        );
        if (!isHeard) missing.set(event, of);
      }
    }
    if (missing.size === 0) return [];
    const of = [...new Set(missing.values())].join(', ');
    const message = `what the rule reads (${of}) can also change by ${[...missing.keys()].join(', ')}: list these, or write on: auto`;
    return [file.problem('unheard-change', message, file.keyAt(['rules', rule.name]))];
  });
}

/** Activities with which an item begins or ends. */
const turns: readonly string[] = ['opened', 'reopened', 'closed', 'deleted'];

/** Returns whether a rule follows an item: not what is said about it, and not only its beginning or its end. */
function followsChanges({ on }: LoadedRule): boolean {
  if (on.some(({ family }) => family.endsWith('_comment'))) return false;
  return on.some(({ activities }) => activities?.some((one) => !turns.includes(one)) ?? true);
}

/** Returns whether a rule reads the live state alone: not what happened, nor who caused it. */
function isAboutState(rule: LoadedRule): boolean {
  const ofEvent = new Set(['event', 'sender', 'sender_permission', 'comment', 'review', 'command']);
  return !readsOf(rule).some(({ root }) => ofEvent.has(root.name));
}

/** Returns whether a condition cannot hold for an item without labels: it asks for one with `labelled`, and not in a negation. */
function isFalseWithoutLabels(tree: ASTNode): boolean {
  if (tree.op === '&&') return tree.args.some(isFalseWithoutLabels);
  if (tree.op === '||') return tree.args.every(isFalseWithoutLabels);
  return tree.op === 'call' && tree.args[0] === 'labelled';
}

import { problemOfContext, statusContextOf } from '../../actions/status-context.ts';
import { eventFamilies } from '../../contract/events/event-families.ts';
import { readMember } from '../../contract/events/payload-members.ts';
import type { SubjectKind } from '../../contract/events/subject.ts';
import type { Problem } from '../problem.ts';
import { type LoadedRule, type LoadedStep, runsForConcerned } from '../rule.ts';
import type { YamlSource } from './yaml-source.ts';

/** A step that writes a status, with the name of that status. */
type StatusStep = { readonly rule: LoadedRule; readonly step: LoadedStep; readonly context: string };

function statusStepsOf(rule: LoadedRule): readonly StatusStep[] {
  return rule.steps.flatMap((step) => {
    if (step.action.name !== 'set-status') return [];
    const written = readMember(step.arguments.written, 'context');
    const context = statusContextOf(typeof written === 'string' ? written : undefined, {
      rule: rule.name,
      level: rule.level,
    });
    return [{ rule, step, context }];
  });
}

/** Returns the names of the statuses that a rule writes. An expression for the base branch is still in them. */
export function statusContextsOf(rule: LoadedRule): readonly string[] {
  return statusStepsOf(rule).map(({ context }) => context);
}

/** Two steps that write one status: each would undo what the other says. */
export type StatusClash = { readonly rule: LoadedRule; readonly step: LoadedStep; readonly message: string };

/**
 * Returns what is wrong with the statuses of rules that are in force together: two steps that write one status of one kind of
 * subject, and rules whose name makes a status of Reeve itself. Rules that only observe, or are about other repositories, clash
 * with none.
 */
export function statusClashes(rules: readonly LoadedRule[]): readonly StatusClash[] {
  const known = new Map<string, StatusStep[]>();
  const clashes: StatusClash[] = [];
  for (const { rule, step, context } of rules.flatMap(statusStepsOf)) {
    const reserved = problemOfContext(context, { level: rule.level });
    if (reserved !== undefined) {
      clashes.push({ rule, step, message: `the status of rule ${rule.name}: ${reserved}` });
      continue;
    }
    const key = `${rule.level} ${context}`;
    const before = known.get(key) ?? [];
    known.set(key, [...before, { rule, step, context }]);
    const other = before.find((one) => clash(one, { rule, step, context }));
    if (other === undefined) continue;
    const message =
      other.rule === rule
        ? `two steps of rule ${rule.name} write the status ${context}: write one step with when and otherwise, or give one of them another context`
        : `rule ${other.rule.name} (${other.rule.source}:${other.step.line}) writes the status ${context} as well: give one of them another context`;
    clashes.push({ rule, step, message });
  }
  return clashes;
}

/** Returns the clashes between the rules of files of one level that are in force together. */
export function clashesOfFiles(files: readonly (readonly LoadedRule[])[]): readonly StatusClash[] {
  // What a file says of itself was said when it was loaded.
  const ofOneFile = new Set(files.flatMap((rules) => statusClashes(rules).map(({ step }) => step)));
  return statusClashes(files.flat()).filter(({ step }) => !ofOneFile.has(step));
}

function clash(one: StatusStep, other: StatusStep): boolean {
  if (one.rule === other.rule) return true;
  if (one.rule.mode === 'observe' || other.rule.mode === 'observe') return false;
  const kinds = kindsOf(other.rule);
  return [...kindsOf(one.rule)].some((kind) => kinds.has(kind)) && !areApart(one.rule, other.rule);
}

/** Returns the kinds of subjects that a rule runs for. */
function kindsOf(rule: LoadedRule): ReadonlySet<SubjectKind> {
  const heard = rule.on.map(({ family }) =>
    runsForConcerned(rule, family) ? ('pull_request' as const) : eventFamilies[family].subject,
  );
  return new Set([...heard, ...(rule.schedules.length > 0 && rule.each ? [rule.each.kind] : [])]);
}

/** Returns whether no repository is in the `in` of both: both name repositories, and none of them twice. */
function areApart(one: LoadedRule, other: LoadedRule): boolean {
  return one.scopes.some((scope) =>
    other.scopes.some((theirs) => {
      const names = scope.written.map((name) => name.toLowerCase());
      const others = theirs.written.map((name) => name.toLowerCase());
      const isPlain = [...names, ...others].every((name) => /^[\w.-]+\/[\w.-]+$/.test(name));
      return isPlain && names.every((name) => !others.includes(name));
    }),
  );
}

/** Activities after which another commit, or another base, may have the status of before. */
const gateActivities = ['opened', 'reopened', 'synchronized', 'edited'] as const;

/**
 * Returns a warning for each rule that sets a status of pull requests and does not run when one is opened, opened again, pushed
 * to or gets another base: the status of before then stays.
 */
export function deafGates(rules: readonly LoadedRule[], file: YamlSource): readonly Problem[] {
  return rules.flatMap((rule) => {
    if (statusStepsOf(rule).length === 0 || !kindsOf(rule).has('pull_request')) return [];
    const heard = rule.on.filter(({ family }) => family === 'pull_request');
    const missing = gateActivities.filter(
      (activity) =>
        !heard.some(({ activities }) => activities === undefined || activities.includes(activity)),
    );
    if (missing.length === 0) return [];
    const message = `the status of rule ${rule.name} stays as it was when a pull request is ${missing.map((one) => meanings[one]).join(', ')}: add ${missing.map((one) => `pull_request.${one}`).join(', ')} to its on`;
    return [file.problem('gate-events', message, file.keyAt(['rules', rule.name]))];
  });
}

const meanings: Readonly<Record<(typeof gateActivities)[number], string>> = {
  opened: 'opened',
  reopened: 'opened again',
  synchronized: 'pushed to',
  edited: 'moved to another base',
};

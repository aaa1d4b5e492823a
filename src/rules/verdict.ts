import type { Family } from '../contract/events/event-families.ts';
import type { Event } from '../contract/events/events.ts';
import type { Read } from './expressions/part.ts';
import type { Evidence } from './expressions/types.ts';
import type { Level, LoadedRule } from './rule.ts';

export type { Evidence as Finding };

/** Reasons for skipping a rule, with their explanations. */
export const skipReasons = {
  kind: 'it listens to other events',
  filter: 'its branches, tags or paths exclude this event',
  scope: 'its `in` excludes this repository',
  state: 'it is about items in another state: open, or closed',
  grant: 'the grants of its file do not cover this',
  own: 'Reeve itself caused this event, or cannot rule it out',
  gone: 'the comment or review that it is about no longer exists',
  'too old': 'the comment or review that it announces is older than the delivery lifetime',
  'not recoverable': 'the event was found by catching up, which does not recover what the rule reads',
  polled:
    'the event was found by polling, which does not find who caused it and what else only a delivery has',
} as const;
export type SkipReason = keyof typeof skipReasons;

/** Start of the reason of deliveries that Reeve itself caused and for which no rule ran. */
export const ownPrefix = 'own: ';

/** Reason of such a delivery. */
export const ownReason = `${ownPrefix}${skipReasons.own}`;

/** Returns why a rule was skipped or failed: the recorded reason, with an explanation for a known skip reason. */
export function wordsOf({ verdict, reason }: Judgement): string | undefined {
  if (verdict !== 'skipped' || reason === undefined) return reason;
  // Runs of other versions may contain unknown reasons.
  return isSkipReason(reason) ? `${reason}: ${skipReasons[reason]}` : reason;
}

/** Returns the explanation of the skip reason that all these rules share; undefined if they do not share one. */
export function commonSkip(verdicts: readonly Judgement[]): string | undefined {
  const [reason, ...others] = new Set(
    verdicts.map(({ verdict, reason }) => (verdict === 'skipped' ? reason : undefined)),
  );
  return reason !== undefined && others.length === 0 && isSkipReason(reason)
    ? skipReasons[reason]
    : undefined;
}

function isSkipReason(reason: string): reason is SkipReason {
  return Object.hasOwn(skipReasons, reason);
}

/** Result of a rule. */
type Judgement = {
  readonly verdict: 'matched' | 'unmatched' | 'failed' | 'skipped';
  /** A SkipReason if the verdict is `skipped`; the error if it is `failed`. */
  readonly reason?: string;
};

/** Result of a rule, including its evidence. */
export type Verdict = Judgement & {
  readonly rule: string;
  readonly source: string;
  /** The commit that the rule file was read from; empty for files in the operator's folder. */
  readonly commit: string;
  readonly line: number;
  /**
   * Code of the error that made the rule fail, if it is a Reeve error. For `forge-…` codes, `reason` may contain text
   * of a forge response.
   */
  readonly code?: string;
  /** Origin of the rule, and the revision of its file; absent in runs of earlier versions. */
  readonly level?: Level;
  readonly revision?: string;
  /** Set if the file was invalid: its last valid version ran, which `commit` and `revision` identify. */
  readonly isLastValid?: true;
  /** The events of a rule with `on: auto`, as text. */
  readonly automatic?: string;
  readonly findings: readonly Evidence[];
};

const answers = { held: 'yes', not: 'no', error: 'not known', unevaluated: 'not asked' } as const;

/** Returns a finding on one line: its answer, the expression, and the values it read. */
export function describeFinding({ result, expression, values }: Evidence): string {
  const seen = Object.entries(values)
    .map(([name, value]) => `${name} = ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
  return `${answers[result]}: ${expression}${seen === '' ? '' : `   [${seen}]`}`;
}

/** Returns the name of a rule from its identity (`source path#rule name`). */
export function nameOfRule(rule: string): string {
  return rule.slice(rule.lastIndexOf('#') + 1);
}

/**
 * Returns which version of its file a rule had, if that was its last valid version instead of the present one;
 * otherwise undefined.
 */
export function versionWords({ isLastValid, commit, revision = '' }: Verdict): string | undefined {
  if (!isLastValid) return undefined;
  const version = commit === '' ? `revision ${revision}` : `commit ${commit.slice(0, 10)}`;
  return `last valid version of the file (${version})`;
}

/** Payload members that catch-up recovers from live state, without a delivery. */
const recoverable = new Set([
  'action',
  'number',
  'pull_request',
  'issue',
  'ref',
  'ref_type',
  'before',
  'after',
  'repository',
  'caught_up',
]);

const decided = new WeakMap<LoadedRule, boolean>();
const needing = new WeakMap<LoadedRule, boolean>();

/**
 * Returns whether a rule without a schedule reads the event or its sender, so that live state alone is not enough to
 * evaluate it.
 */
export function needsEvent(rule: LoadedRule): boolean {
  // The loader ensures that rules with a schedule first test for an event.
  if (rule.schedules.length > 0 || rule.on.length === 0) return false;
  const known = needing.get(rule);
  if (known !== undefined) return known;
  const answer = readsOf(rule).some(({ root: { name } }) => name === 'event' || name === 'sender');
  needing.set(rule, answer);
  return answer;
}

/**
 * Returns whether a rule can be evaluated for an event that catch-up found: its expressions read neither the sender nor
 * members of `event` that cannot be recovered (`event.changes`, `event.commits`).
 */
export function isRecoverable(rule: LoadedRule): boolean {
  const known = decided.get(rule);
  if (known !== undefined) return known;
  const answer = !readsOf(rule).some(isTold);
  decided.set(rule, answer);
  return answer;
}

/**
 * Returns whether a rule can be evaluated for an event that polling found: its expressions read the sender only if it is
 * known, and members of `event` only if they can be read from the forge.
 */
export function isPollable(rule: LoadedRule, { sender, payload }: Event): boolean {
  return !readsOf(rule).some((read) => {
    const [member] = read.path;
    switch (read.root.name) {
      case 'sender':
      case 'sender_permission':
        return sender === undefined;
      case 'event':
        if (member === 'sender') return sender === undefined;
        return member !== undefined && Object.hasOwn(payload, String(member)) ? false : isTold(read);
      default:
        return false;
    }
  });
}

/** Activities that polling finds, by family; null: the events have no activity. Other families are not found. */
const polledActivities: Partial<Readonly<Record<Family, readonly string[] | null>>> = {
  issues: ['opened', 'closed', 'reopened', 'edited', 'label_updated'],
  pull_request: ['opened', 'closed', 'reopened', 'edited', 'label_updated', 'synchronized'],
  pull_request_review: ['approved', 'rejected', 'commented'],
  issue_comment: ['created', 'edited'],
  pull_request_comment: ['created', 'edited'],
  push: null,
  create: null,
  delete: null,
  status: null,
};
/** Families of which polled events name their sender. */
const authored: ReadonlySet<Family> = new Set([
  'issue_comment',
  'pull_request_comment',
  'pull_request_review',
]);
/** Members of polled events, in addition to those that catch-up recovers. */
const polledMembers: ReadonlySet<string> = new Set([
  ...['comment', 'is_pull', 'review', 'id', 'sha', 'state', 'context', 'description', 'target_url'],
  ...['created_at', 'updated_at', 'sender'],
]);

/** Returns why polling does not start a rule for some or all of its events; undefined if it starts the rule for all. */
export function pollingGap(rule: LoadedRule): string | undefined {
  if (rule.on.length === 0) return undefined;
  const hears = (wanted: Family, activity: string): boolean =>
    rule.on.some(({ family, activities }) => family === wanted && (activities?.includes(activity) ?? true));
  const unfound = rule.on.flatMap(({ family, activities }) => {
    const found = polledActivities[family];
    if (found === null) return [];
    // Polling finds the statuses that a run of Forgejo's Actions writes.
    if (family.startsWith('action_run_') && hears('status', '')) return [];
    if (found === undefined) return [family];
    // Without activities, a rule is about whatever happens. Every change of labels is found as an update of them.
    return (activities ?? []).flatMap((one) =>
      found.includes(one) || (one === 'label_cleared' && hears(family, 'label_updated'))
        ? []
        : [`${family}.${one}`],
    );
  });
  if (unfound.length > 0) return `polling does not find ${[...new Set(unfound)].join(', ')}`;
  const isAuthored = rule.on.every(({ family }) => authored.has(family));
  for (const { root, path } of readsOf(rule)) {
    const [member] = path;
    const isSender = root.name === 'event' ? member === 'sender' : root.name.startsWith('sender');
    if (isSender && !isAuthored)
      return `it reads ${root.name === 'event' ? 'event.sender' : root.name}, which polling finds of comments and reviews alone`;
    const isKnown =
      member === undefined || recoverable.has(String(member)) || polledMembers.has(String(member));
    if (root.name === 'event' && !isKnown)
      return `it reads event.${String(member)}, which only a delivery has`;
  }
  return undefined;
}

/** Returns a text for each rule that polling does not start for all of its events: the rule, and why. */
export function pollingGaps(rules: readonly LoadedRule[]): readonly string[] {
  return rules.flatMap((rule) => {
    const why = pollingGap(rule);
    return why === undefined ? [] : [`${rule.name}: ${why}`];
  });
}

/** Returns the member chains that the expressions of a rule read. */
export function readsOf({
  condition,
  steps,
}: {
  readonly condition?: LoadedRule['condition'] | undefined;
  readonly steps: LoadedRule['steps'];
}): readonly Read[] {
  return [
    ...(condition?.reads ?? []),
    ...steps.flatMap(({ condition: ofStep, arguments: given }) => [...(ofStep?.reads ?? []), ...given.reads]),
  ];
}

/**
 * Returns whether a read needs data that only a delivery contains: the sender, an unrecoverable member of the payload,
 * or the payload as a whole.
 */
function isTold({ root: { name }, path: [member], isAsked }: Read): boolean {
  if (name === 'sender') return true;
  if (name !== 'event') return false;
  return member === undefined ? !isAsked : !recoverable.has(String(member));
}

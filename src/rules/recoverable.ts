import type { LoadedRule } from './rule.ts';

/** What the payload of an event has that was found by reading what is, not told by a delivery. */
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

/** Says whether a rule without a schedule names the event or who caused it: it cannot be evaluated for live state alone. */
export function needsEvent(rule: LoadedRule): boolean {
  // The loader has made sure that rules with a schedule look first whether there is an event.
  if (rule.schedules.length > 0 || rule.on.length === 0) return false;
  const known = needing.get(rule);
  if (known !== undefined) return known;
  const answer = expressionsOf(rule).some((text) => /(?<![\w.])(event|sender)\b/.test(text));
  needing.set(rule, answer);
  return answer;
}

/**
 * Says whether a rule can be held against an event that was found by catching up: its expressions name no member of
 * `event` that cannot be found again (`event.changes`, `event.commits`), and not who did it.
 */
export function isRecoverable(rule: LoadedRule): boolean {
  const known = decided.get(rule);
  if (known !== undefined) return known;
  const answer = expressionsOf(rule).every((text) => !namesMore(text));
  decided.set(rule, answer);
  return answer;
}

function expressionsOf({ condition, steps }: LoadedRule): readonly string[] {
  const texts = [
    condition?.source,
    ...steps.flatMap((step) => [step.condition?.source, ...textsIn(step.arguments.written)]),
  ];
  return texts.filter((text) => text !== undefined);
}

/** Read from the text: a word in a literal that looks like a member makes a rule careful, never careless. */
function namesMore(text: string): boolean {
  if (/(?<![\w.])sender\b/.test(text)) return true;
  for (const [, , member] of text.matchAll(/(?<![\w.])event\s*(\.\s*(\w+)|\[\s*["'](\w+)["']\s*\])/g)) {
    if (member !== undefined && !recoverable.has(member)) return true;
  }
  return /(?<![\w.])event\s*\[/.test(text);
}

/** Strings of the arguments that may hold an expression: conditions as they stand, templates. Keys are never one. */
function textsIn(written: unknown): readonly string[] {
  if (typeof written === 'string') return [written];
  if (Array.isArray(written)) return written.flatMap(textsIn);
  return typeof written === 'object' && written !== null ? Object.values(written).flatMap(textsIn) : [];
}

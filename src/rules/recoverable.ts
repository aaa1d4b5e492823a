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

/**
 * Says whether a rule can be held against an event that was found by catching up: its expressions name no member of
 * `event` that cannot be found again (`event.changes`, `event.commits`), and not who did it.
 */
export function isRecoverable(rule: LoadedRule): boolean {
  const known = decided.get(rule);
  if (known !== undefined) return known;
  const texts = [
    rule.condition?.source,
    ...rule.steps.flatMap((step) => [step.condition?.source, ...textsIn(step.arguments.written)]),
  ];
  const answer = texts.every((text) => text === undefined || !namesMore(text));
  decided.set(rule, answer);
  return answer;
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

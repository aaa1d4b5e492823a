import { isRecord } from '../contract/events/payload-members.ts';
import type { RecordedChange, Run } from './record.ts';

/** What becomes of one thing, as a line of a difference. */
type DescribedChange = { readonly sign: '+' | '-' | '~'; readonly words: string };

/** A change as far as it is described. */
type Described = {
  readonly action: string;
  readonly target: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly irreversible?: string;
};

/** Actions whose `before` and `after` tell whether the thing is there, not what it is. */
const presenceActions: ReadonlySet<string> = new Set([
  'set-labels',
  'set-issue',
  'request-reviewers',
  'react',
]);

/**
 * Describes a change for people: what comes (`+`), what goes (`-`), and what becomes another (`~`), of which only the members
 * that differ are shown.
 */
export function describeChange(change: Described): DescribedChange {
  const { sign, words } = describeDifference(change);
  return { sign, words: change.irreversible === undefined ? words : `${words} (cannot be reverted)` };
}

function describeDifference({ action, target, before, after }: Described): DescribedChange {
  if (presenceActions.has(action) && typeof after === 'boolean') {
    return { sign: after ? '+' : '-', words: target };
  }
  if (before === 'absent' && after === 'present') return { sign: '+', words: target };
  if (after === null || after === undefined) return { sign: '-', words: target };
  // What a thing is made of stands in the request already.
  if (before === null || before === undefined) {
    return { sign: '+', words: isRecord(after) ? target : `${target}: ${short(after)}` };
  }
  if (isRecord(before) && isRecord(after))
    return { sign: '~', words: `${target}: ${members(before, after)}` };
  return { sign: '~', words: `${target}: ${turned(before, after)}` };
}

function members(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): string {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const differing = [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return differing.map((name) => `${name} ${turned(before[name], after[name])}`).join(', ');
}

const maxLength = 160;
/** What is shown of what two long texts share before they part. */
const shared = 40;

/** Both sides, long ones from a little before where they begin to differ. */
function turned(before: unknown, after: unknown): string {
  const [one, other] = [formatJson(before), formatJson(after)];
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  const isLong = Math.max(one.length, other.length) > maxLength;
  const from = isLong ? Math.max(same - shared, 0) : 0;
  return `${cut(one, from)} → ${cut(other, from)}`;
}

function short(value: unknown): string {
  return cut(formatJson(value), 0);
}

function formatJson(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}

function cut(text: string, from: number): string {
  const end = from + maxLength;
  return `${from > 0 ? '…' : ''}${text.slice(from, end)}${text.length > end ? '…' : ''}`;
}

/** How a change is marked that only rules in `observe` mode want. */
export const observedWords = 'observed, not sent';

/** Returns whether only rules in `observe` mode want a change of a run. In runs of earlier versions its outcome tells. */
export function isObserved({ mode, outcomes }: Run, { id, observed }: RecordedChange): boolean {
  if (observed) return true;
  return mode === 'enforce' && outcomes.some(({ change, status }) => change === id && status === 'planned');
}

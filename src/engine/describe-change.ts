import { isRecord } from '../contract/events/payload-members.ts';
import type { RecordedChange, Run } from './record.ts';

/** One line of a diff that describes a change. */
type DescribedChange = { readonly sign: '+' | '-' | '~'; readonly words: string };

/** Fields of a change that the description uses. */
type Described = {
  readonly action: string;
  readonly target: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly irreversible?: string;
};

/** Actions whose `before` and `after` state whether an object exists, instead of describing its contents. */
const presenceActions: ReadonlySet<string> = new Set([
  'set-labels',
  'set-issue',
  'request-reviewers',
  'react',
]);

/**
 * Describes a change for display: an addition (`+`), a removal (`-`), or a replacement (`~`). A replacement shows only
 * the fields that differ.
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
  // The fields of a new object are left out, because the request contains them.
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
/** Number of characters shown of the common prefix of two long texts. */
const shared = 40;

/** Returns the texts of both states; long texts start shortly before their first difference. */
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

/** Label of a change that is wanted only by rules in `observe` mode. */
export const observedWords = 'observed, not sent';

/**
 * Returns whether a change of a run is wanted only by rules in `observe` mode. In runs of earlier versions, this is
 * inferred from the outcomes.
 */
export function isObserved({ mode, outcomes }: Run, { id, observed }: RecordedChange): boolean {
  if (observed) return true;
  return mode === 'enforce' && outcomes.some(({ change, status }) => change === id && status === 'planned');
}

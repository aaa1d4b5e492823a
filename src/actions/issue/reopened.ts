import { type Facts, optionalRequestOf } from '../../facts/fact.ts';
import { timeline } from '../../facts/issue.ts';
import { askWritten, isByUs } from '../marker.ts';
import type { PlanContext } from '../plan-context.ts';

/**
 * Whether a person undid a state of an issue that a rule wants. The memory holds `reached` from the moment the issue has that
 * state while the condition holds, and `released` once the condition was false. The timeline says who changed the state last.
 */
type Note = 'reached' | 'released';
type IssueState = 'open' | 'closed';

const undoes = { closed: 'reopen', open: 'close' } as const;

function keyOf(issueId: number, state: unknown, { rule }: PlanContext): string {
  return `set-issue ${rule} ${issueId} ${state}`;
}

async function readNote(issueId: number, state: unknown, context: PlanContext): Promise<Note | undefined> {
  // The value in the memory was written by the functions below.
  return (await context.memory.get(keyOf(issueId, state, context))) as Note | undefined;
}

/** Notes that the issue has the state that the rule wants. */
export async function noteReached(issueId: number, state: unknown, context: PlanContext): Promise<void> {
  if (context.dryRun || (await readNote(issueId, state, context)) === 'reached') return;
  await context.memory.set(keyOf(issueId, state, context), 'reached' satisfies Note);
}

/** Notes that the condition is false: from now on, the rule may decide again. */
export async function noteReleased(issueId: number, state: unknown, context: PlanContext): Promise<void> {
  if (context.dryRun || (await readNote(issueId, state, context)) !== 'reached') return;
  await context.memory.set(keyOf(issueId, state, context), 'released' satisfies Note);
}

/**
 * Returns whether a person changed the state back, so that the rule leaves it. The timeline is read only where the rule would
 * change the state. Without a note, it decides alone: a person undid what our account did.
 */
export async function isHeldBack(
  issueId: number,
  state: IssueState,
  facts: Facts,
  context: PlanContext,
): Promise<boolean> {
  const note = await readNote(issueId, state, context);
  if (note === 'released') return false;
  const entries = await askWritten(facts, optionalRequestOf(timeline));
  const [last, before] = entries.filter(({ type }) => type === 'close' || type === 'reopen').toReversed();
  // The timeline says nothing, as in a what-if: the note decides.
  if (last === undefined) return note === 'reached';
  if (last.type !== undoes[state] || isByUs(last, context)) return false;
  const isHeld = note === 'reached' || (before !== undefined && isByUs(before, context));
  if (isHeld) await noteReached(issueId, state, context);
  return isHeld;
}

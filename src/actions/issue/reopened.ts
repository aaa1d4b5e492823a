import type { PlanContext } from '../plan-context.ts';

/**
 * Whether a person undid a state of an issue that a rule wants. The memory holds `reached` from the moment the issue has that
 * state while the condition holds, and nothing again once the condition was false: an issue that has the other state while
 * `reached` stands was reopened, or closed, by a person.
 */

function keyOf(issueId: number, state: unknown, { rule }: PlanContext): string {
  return `set-issue ${rule} ${issueId} ${state}`;
}

/** Notes that the issue has the state that the rule wants. */
export async function noteReached(issueId: number, state: unknown, context: PlanContext): Promise<void> {
  const key = keyOf(issueId, state, context);
  if (context.dryRun || (await context.memory.get(key)) !== undefined) return;
  await context.memory.set(key, { reached: context.now.toISOString() });
}

/** Notes that the condition is false: from now on, the rule may decide again. */
export async function noteReleased(issueId: number, state: unknown, context: PlanContext): Promise<void> {
  const key = keyOf(issueId, state, context);
  if (context.dryRun || (await context.memory.get(key)) === undefined) return;
  await context.memory.set(key, undefined);
}

/** Returns whether a person changed the state back, so that the rule leaves it. */
export async function isHeldBack(issueId: number, state: unknown, context: PlanContext): Promise<boolean> {
  return (await context.memory.get(keyOf(issueId, state, context))) !== undefined;
}

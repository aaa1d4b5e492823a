import type { Change } from '../change.ts';
import type { PlanContext } from '../plan-context.ts';
import { type HandReason, handReasons } from './notes.ts';

/**
 * What became of the attempts to apply a patch, until a comment or a pull request says it: a branch that we made, by its
 * commit, and a patch that the forge refused. Kept in the memory, so that a run which was interrupted is continued.
 */
type Trial = { readonly made: string } | { readonly refused: HandReason };

/** Identifies a backport: the repository, the merged commit, the target. */
type TrialPlace = {
  readonly params: Readonly<Record<string, unknown>>;
  readonly commit: string;
  readonly target: string;
};

function keyOf({ params, commit, target }: TrialPlace): string {
  return `backport ${params.owner}/${params.repo} ${commit} ${target}`;
}

/** Returns what became of the last attempt; undefined if there was none, or it has been reported. */
export async function recallTrial(
  place: TrialPlace,
  { memory }: Pick<PlanContext, 'memory'>,
): Promise<Trial | undefined> {
  // The value in the memory was written by the function below.
  return (await memory.get(keyOf(place))) as Trial | undefined;
}

/** Notes what became of an attempt; undefined: it is reported. */
export async function noteTrial(
  place: TrialPlace,
  trial: Trial | undefined,
  { memory }: Pick<PlanContext, 'memory'>,
): Promise<void> {
  await memory.set(keyOf(place), trial);
}

/** Returns the place of a change of a branch or pull request; undefined for a comment. */
export function trialPlaceOf({ value, input }: Change): TrialPlace | undefined {
  if (typeof value !== 'object' || value === null || !('onto' in value) || !('commit' in value))
    return undefined;
  return { params: input.params ?? {}, commit: String(value.commit), target: String(value.onto) };
}

/** Returns why a change ended without success that is a result of the step, and no failure. */
export function describeRefusal(reason: HandReason, target: string): string {
  return `not backported to ${target}: ${handReasons[reason]}`;
}

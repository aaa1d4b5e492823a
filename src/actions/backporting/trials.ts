import type { CommitEntry } from '../../contract/resources/branches.ts';
import type { Change } from '../change.ts';
import type { PlanContext } from '../plan-context.ts';
import { type HandReason, handReasons } from './notes.ts';

/**
 * What became of the attempts to apply a patch, until a comment or a pull request says it: a branch that we made, by its
 * commit, and a patch that the forge refused; until its answer is known, the message of the commit that was asked for. Kept in
 * the memory, so that a run which was interrupted is continued.
 */
type Trial =
  | { readonly intended: string; readonly at?: string }
  | { readonly made: string }
  | { readonly refused: HandReason };

/** The beginning of the keys of attempts. Their values have an instant `at`. */
export const trialPrefix = 'backport ';

/** Identifies a backport: the repository, the merged commit, the target. */
type TrialPlace = {
  readonly params: Readonly<Record<string, unknown>>;
  readonly commit: string;
  readonly target: string;
};

function keyOf({ params, commit, target }: TrialPlace): string {
  return `${trialPrefix}${params.owner}/${params.repo} ${commit} ${target}`;
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
  { memory, now }: Pick<PlanContext, 'memory' | 'now'>,
): Promise<void> {
  await memory.set(keyOf(place), trial && { ...trial, at: now.toISOString() });
}

/** Time between a run and the commit that it asked for, by the clocks of both. */
const maxDistanceMs = 5 * 60_000;

/**
 * Returns whether a commit is that of a request whose answer was lost: with the message that was sent, and made at that time. Forges
 * name the author of the change as its committer, too, so that no account identifies it.
 */
export function isAskedCommit(
  commit: CommitEntry | undefined,
  { intended, at = '' }: Extract<Trial, { readonly intended: string }>,
): boolean {
  const madeAt = commit?.commit?.committer?.date ?? commit?.created ?? '';
  const distanceMs = Math.abs(Date.parse(madeAt) - Date.parse(at));
  return commit?.commit?.message?.trimEnd() === intended.trimEnd() && distanceMs <= maxDistanceMs;
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

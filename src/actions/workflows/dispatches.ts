import type { DispatchedRun } from '../../facts/workflow-runs.ts';
import type { PlanContext } from '../plan-context.ts';

/** The beginning of the keys under which the memory keeps dispatches of workflows. Their values have an instant `at`. */
export const dispatchPrefix = 'dispatch ';

/** A dispatch, as the memory keeps it: its request was sent and its answer is not known (`sent`), or it was executed. */
export type NotedDispatch = {
  readonly state: 'sent' | 'done';
  readonly at: string;
  /** Id of the newest run before it. */
  readonly after?: number;
  /** The run that it started, if the forge said so. */
  readonly run?: number;
};

/** A run, and the dispatch that it belongs to. */
type ClaimedRun = { readonly at: string; readonly dispatch: string };

export async function readDispatch(key: string, { memory }: PlanContext): Promise<NotedDispatch | undefined> {
  // What this key holds was set below.
  return (await memory.get(`${dispatchPrefix}${key}`)) as NotedDispatch | undefined;
}

export async function noteDispatch(
  key: string,
  dispatch: NotedDispatch,
  { memory }: PlanContext,
): Promise<void> {
  await memory.set(`${dispatchPrefix}${key}`, dispatch);
}

/** Forgets a dispatch that the forge has refused. */
export async function forgetDispatch(key: string, { memory }: PlanContext): Promise<void> {
  await memory.set(`${dispatchPrefix}${key}`, undefined);
}

/** Notes which dispatch has started a run: another one whose answer is lost has not. */
export async function claimRun(
  dispatch: string,
  { repository, run }: { readonly repository: string; readonly run: number },
  { memory, now }: PlanContext,
): Promise<void> {
  await memory.set(claimKey(repository, run), { at: now.toISOString(), dispatch } satisfies ClaimedRun);
}

function claimKey(repository: string, run: number): string {
  return `${dispatchPrefix}run ${repository}#${run}`;
}

/**
 * Returns the oldest of these runs that a dispatch without an answer may have started: by our account, of the same branch or tag,
 * and of no other dispatch. In earnest, the dispatch is noted as executed.
 */
export async function findOwnRun(
  runs: readonly DispatchedRun[],
  { ref, key, repository }: { readonly ref: string; readonly key: string; readonly repository: string },
  context: PlanContext,
): Promise<number | undefined> {
  const { account, memory, dryRun, now } = context;
  for (const run of runs.toReversed()) {
    const isOurs = account === undefined || run.actor_id === 0 || run.actor_id === account.id;
    if (!isOurs || !isSameRef(run.ref, ref)) continue;
    const claimed = (await memory.get(claimKey(repository, run.id))) as ClaimedRun | undefined;
    if (claimed !== undefined && claimed.dispatch !== key) continue;
    if (!dryRun) {
      await claimRun(key, { repository, run: run.id }, context);
      await noteDispatch(key, { state: 'done', at: now.toISOString(), run: run.id }, context);
    }
    return run.id;
  }
  return undefined;
}

/** Forgejo shows the short name of a branch or tag. */
function isSameRef(shown: string, full: string): boolean {
  return shown === full || shown === full.replace(/^refs\/(heads|tags)\//, '');
}

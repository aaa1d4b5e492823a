import type { DispatchedRun } from '../../facts/statuses.ts';
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

/** Notes which dispatch has started a run, as the forge says: another one whose answer is lost has not. */
export async function claimRun(
  dispatch: string,
  { repository, run }: { readonly repository: string; readonly run: number },
  { memory, now }: PlanContext,
): Promise<void> {
  await memory.set(claimKey(repository, run), { at: now.toISOString(), dispatch } satisfies ClaimedRun);
}

/** Notes the same where no other dispatch has claimed the run; returns whether it is that of this one. */
async function claimFreeRun(
  dispatch: string,
  { repository, run }: { readonly repository: string; readonly run: number },
  { memory, now }: PlanContext,
): Promise<boolean> {
  const own = { at: now.toISOString(), dispatch } satisfies ClaimedRun;
  // What this key holds was set here alone.
  const claimed = (await memory.revise(claimKey(repository, run), (known) => known ?? own)) as ClaimedRun;
  return claimed.dispatch === dispatch;
}

function claimKey(repository: string, run: number): string {
  return `${dispatchPrefix}run ${repository}#${run}`;
}

/** Dispatches of one workflow and ref whose runs the forge did not name in its answers: those are none of others. */
type UnnamedDispatches = {
  readonly at: string;
  readonly dispatches: readonly { readonly dispatch: string; readonly after: number }[];
};

/** The workflow and ref of a dispatch, and its key in the memory. */
type DispatchPlace = {
  readonly repository: string;
  readonly workflow: string;
  readonly ref: string;
  readonly key: string;
};

/** Number of them that are kept, the newest: only those at the same time as a lost answer count. */
const maxUnnamed = 100;

function unnamedKey({ repository, workflow, ref }: DispatchPlace): string {
  return `${dispatchPrefix}unnamed ${repository} ${workflow}@${ref}`;
}

async function readUnnamed(
  place: DispatchPlace,
  { memory }: PlanContext,
): Promise<UnnamedDispatches['dispatches']> {
  return unnamedIn(await memory.get(unnamedKey(place)));
}

/** What these keys hold was set below. */
function unnamedIn(value: unknown): UnnamedDispatches['dispatches'] {
  return (value as UnnamedDispatches | undefined)?.dispatches ?? [];
}

/** Notes that a dispatch was executed by a forge that did not name its run, which is newer than `after`. */
export async function noteUnnamed(place: DispatchPlace, after: number, context: PlanContext): Promise<void> {
  const at = context.now.toISOString();
  await context.memory.revise(unnamedKey(place), (value) => {
    const others = unnamedIn(value).filter(({ dispatch }) => dispatch !== place.key);
    const dispatches = [...others, { dispatch: place.key, after }].slice(-maxUnnamed);
    return { at, dispatches } satisfies UnnamedDispatches;
  });
}

/**
 * Returns the oldest of these runs that a dispatch without an answer may have started: newer than `after`, by our account, of the
 * same branch or tag, and of no other dispatch. In earnest, the dispatch is noted as executed.
 */
export async function findOwnRun(
  runs: readonly DispatchedRun[],
  { after, ...place }: DispatchPlace & { readonly after: number },
  context: PlanContext,
): Promise<number | undefined> {
  const { account, memory, dryRun, now } = context;
  const { repository, ref, key } = place;
  // The runs of earlier ones are not newer than `after`: the forges create a run before they answer.
  const unnamed = (await readUnnamed(place, context)).filter(
    (one) => one.dispatch !== key && one.after >= after,
  );
  for (const run of runs.toReversed()) {
    if (account === undefined || run.actor_id !== account.id || !isSameRef(run.ref, ref)) continue;
    const claimed = (await memory.get(claimKey(repository, run.id))) as ClaimedRun | undefined;
    if (claimed !== undefined && claimed.dispatch !== key) continue;
    const other = claimed === undefined ? unnamed.findIndex((one) => one.after < run.id) : -1;
    if (other >= 0) {
      unnamed.splice(other, 1);
      continue;
    }
    if (!dryRun) {
      if (!(await claimFreeRun(key, { repository, run: run.id }, context))) continue;
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

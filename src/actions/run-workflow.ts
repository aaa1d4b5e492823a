import { createHash } from 'node:crypto';
import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { type Facts, optionalRequestOf, requestOf } from '../facts/fact.ts';
import { repository } from '../facts/repository.ts';
import { type DispatchedRun, workflowRuns } from '../facts/statuses.ts';
import { repositoryParams } from '../facts/where.ts';
import { ReeveError } from '../platform/errors.ts';
import { condition, defineAction, template } from './action.ts';
import type { DraftChange } from './change.ts';
import { irreversible } from './inverses.ts';
import type { PlanContext } from './plan-context.ts';
import { askWritten } from './texts.ts';

/**
 * Time that the forge may need to process a request whose response was lost. Until then, the absence of a run proves
 * nothing.
 */
const undecidedMs = 60_000;

const RunWorkflow = z.strictObject({
  workflow: z
    .string()
    .max(255)
    .regex(/^[\w.-]+\.ya?ml$/, 'name the file of a workflow without its folder, such as deploy.yml')
    .meta({
      description: 'Name of the workflow’s file, without its folder. It must have `workflow_dispatch`.',
    }),
  ref: z
    .string()
    .max(255)
    .regex(
      /^(?!.*\.\.)(refs\/(heads|tags)\/)?(?!refs\/)[^\s~^:?*[\\]+$/,
      'name a branch, or a tag as refs/tags/NAME',
    )
    .optional()
    .meta({ description: 'A branch, or a tag as `refs/tags/NAME`; default: the default branch.' }),
  inputs: z
    .record(z.string().min(1).max(100), z.union([template().max(10_000), z.number(), z.boolean()]))
    .refine((inputs) => Object.keys(inputs).length <= 25, 'at most 25 inputs')
    .optional()
    .meta({ description: 'Inputs by name; the forge drops those that the workflow does not declare.' }),
  when: condition().optional().meta({ description: 'It is started only if this condition holds.' }),
});
type RunWorkflow = z.output<typeof RunWorkflow>;

const repositoryFact = requestOf(repository);
/** Runs of all workflows. The newest of them separates earlier runs from those started later. */
const newestFact = optionalRequestOf(workflowRuns, '*');

/** Starts a workflow, once per trigger of the rule. */
export const runWorkflow = defineAction<RunWorkflow>({
  name: 'run-workflow',
  meaning:
    'Starts a workflow of the repository by hand (`workflow_dispatch`), once for each delivery or item of a sweep, however often that is tried. If the answer of the forge is lost, its runs are searched for the one that was started; the request is repeated only if there is none after a minute. Inputs with text of an event are data of its author: a workflow must not use them as code.',
  example: `uses: run-workflow
with:
  workflow: deploy.yml
  ref: main
  inputs:
    target: staging
    reason: "push by \${{ sender.login }}"
`,
  arguments: RunWorkflow,
  of: ['repository', 'branch', 'pull_request', 'issue'],
  needs: { access: 'writer', scopes: ['repository'] },
  describesState: false,
  needsMemory: true,
  granted: false,
  onlyFor: 'operator',
  visibleTo: 'administrators',
  inverses: {
    [operations.dispatchWorkflow.id]: irreversible('a workflow that was started cannot be taken back'),
  },
  adoption: undefined,
  requires: { workflow: 'workflow_dispatch' },
  facts: (given) =>
    given.when === false ? [] : [newestFact, ...(given.ref === undefined ? [repositoryFact] : [])],
  async plan(given, facts, context) {
    if (given.when === false) return [];
    if (context.level !== 'operator') throw new Error('only rules of the operator start workflows');
    const ref = await refOf(given, facts);
    const change = dispatchOf(given, ref, facts);
    const noted = await readDispatch(keyOf(change, context), context);
    if (noted?.state === 'done') return [{ ...change, already: true, reason: startedWords(noted.run) }];
    if (noted !== undefined) {
      const run = await runStartedBy(noted, change, facts, context);
      if (run !== undefined) return [{ ...change, already: true, reason: startedWords(run) }];
    }
    const [newest] = await askWritten(facts, newestFact);
    const reason = noted ? 'the earlier request for this trigger has started no run' : 'the rule starts it';
    return [{ ...change, before: { newest_run: newest?.id ?? 0 }, reason }];
  },
  async intend(change, context) {
    const key = keyOf(change, context);
    const { newest_run: after } = change.before as { readonly newest_run: number };
    await noteDispatch(key, { state: 'sent', at: context.now.toISOString(), after }, context);
    return () => forgetDispatch(key, context);
  },
  async remember(change, answer, context) {
    const run = startedRun(answer);
    const at = context.now.toISOString();
    const key = keyOf(change, context);
    await noteDispatch(key, { state: 'done', at, ...(run === undefined ? {} : { run }) }, context);
    if (run !== undefined) return claimRun(key, { ...placeOf(change), run }, context);
    const { newest_run: after } = change.before as { readonly newest_run: number };
    return noteUnnamed({ ...dispatchPlaceOf(change), key }, after, context);
  },
});

/** Returns the full ref of the branch or tag, because a short name is ambiguous. */
async function refOf({ ref }: RunWorkflow, facts: Facts): Promise<string> {
  const name = ref ?? (await facts.ask(repositoryFact)).default_branch;
  if (!name) throw new Error('the repository has no default branch');
  return name.startsWith('refs/') ? name : `refs/heads/${name}`;
}

function dispatchOf(given: RunWorkflow, ref: string, facts: Facts): DraftChange {
  const { workflow } = given;
  const inputs = Object.fromEntries(
    Object.entries(given.inputs ?? {}).map(([name, value]) => [name, String(value)]),
  );
  const named = Object.keys(inputs).length === 0 ? '' : ` ${shortInputs(inputs)}`;
  return {
    action: 'run-workflow',
    operation: operations.dispatchWorkflow.id,
    input: {
      params: { ...repositoryParams(facts.subject), workflow_id: workflow },
      query: { return_run_details: true },
      body: { ref, inputs, return_run_info: true },
    },
    // The target includes the inputs, because different inputs result in different runs: two rules with different
    // inputs do not conflict.
    target: `workflow:${workflow}@${ref.replace(/^refs\/heads\//, '')}${named}`,
    value: 'started',
    before: null,
    after: { workflow, ref, inputs },
    reads: [newestFact],
    requires: ['workflow_dispatch', 'workflow_runs'],
  };
}

const maxShown = 120;

function shortInputs(inputs: Readonly<Record<string, string>>): string {
  const text = JSON.stringify(inputs);
  return text.length <= maxShown ? text : `${text.slice(0, maxShown)}… ${inputsDigest(text).slice(0, 12)}`;
}

function inputsDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function startedWords(run: number | undefined): string {
  return run === undefined
    ? 'it was started for this trigger'
    : `it was started for this trigger: run ${run}`;
}

/** Returns the memory key of a dispatch: one per trigger, workflow, ref and inputs. */
function keyOf(change: DraftChange, { trigger }: PlanContext): string {
  const { repository: where } = placeOf(change);
  const { params, body } = change.input;
  const { ref, inputs } = body as { readonly ref: string; readonly inputs: unknown };
  return `${where} ${inputsDigest(JSON.stringify([params?.workflow_id, ref, inputs, trigger]))}`;
}

function placeOf({ input }: DraftChange): { readonly repository: string } {
  const { owner, repo } = input.params as { readonly owner: string; readonly repo: string };
  return { repository: `${owner}/${repo}`.toLowerCase() };
}

function dispatchPlaceOf(change: DraftChange): {
  readonly repository: string;
  readonly workflow: string;
  readonly ref: string;
} {
  const { workflow, ref } = change.after as { readonly workflow: string; readonly ref: string };
  return { ...placeOf(change), workflow, ref };
}

/**
 * Returns the run started by an earlier request whose response was lost; undefined if there is none. Throws a retryable
 * error while the forge may still be processing that request.
 */
async function runStartedBy(
  { at, after = 0 }: NotedDispatch,
  change: DraftChange,
  facts: Facts,
  context: PlanContext,
): Promise<number | undefined> {
  const { workflow } = dispatchPlaceOf(change);
  const searched = requestOf(workflowRuns, `${workflow}>${after}`);
  const runs = await facts.fresh([searched]).ask(searched);
  const key = keyOf(change, context);
  const own = await findOwnRun(runs, { ...dispatchPlaceOf(change), key, after }, context);
  if (own !== undefined) return own;
  const ageMs = context.now.getTime() - Date.parse(at);
  if (ageMs >= undecidedMs) return undefined;
  throw new ReeveError(
    'forge-unexpected',
    `it is not known yet whether the forge has started ${workflow}: the response was lost, and there is no run of it`,
    { retryAfterMs: Math.min(undecidedMs - ageMs, undecidedMs) },
  );
}

/** Returns the id of the run in the response to a dispatch; older releases omit the id. */
function startedRun(answer: unknown): number | undefined {
  const shown = z
    .object({ workflow_run_id: z.number().nullish(), id: z.number().nullish() })
    .safeParse(answer);
  return shown.success ? (shown.data.workflow_run_id ?? shown.data.id ?? undefined) : undefined;
}

/** Prefix of the memory keys of dispatches. Their values have an instant `at`. */
export const dispatchPrefix = 'dispatch ';

/** Stored state of a dispatch: sent without a known result (`sent`), or executed (`done`). */
type NotedDispatch = {
  readonly state: 'sent' | 'done';
  readonly at: string;
  /** Id of the newest run before the dispatch. */
  readonly after?: number;
  /** Id of the started run, if the response contained it. */
  readonly run?: number;
};

/** A claim on a run: the dispatch that started it. */
type ClaimedRun = { readonly at: string; readonly dispatch: string };

async function readDispatch(key: string, { memory }: PlanContext): Promise<NotedDispatch | undefined> {
  // The cast is safe: only the functions below write this key.
  return (await memory.get(`${dispatchPrefix}${key}`)) as NotedDispatch | undefined;
}

async function noteDispatch(key: string, dispatch: NotedDispatch, { memory }: PlanContext): Promise<void> {
  await memory.set(`${dispatchPrefix}${key}`, dispatch);
}

/** Deletes the record of a dispatch that the forge has refused. */
async function forgetDispatch(key: string, { memory }: PlanContext): Promise<void> {
  await memory.set(`${dispatchPrefix}${key}`, undefined);
}

/** Records which dispatch started a run, according to the forge's response: no other dispatch can have started it. */
export async function claimRun(
  dispatch: string,
  { repository, run }: { readonly repository: string; readonly run: number },
  { memory, now }: PlanContext,
): Promise<void> {
  await memory.set(claimKey(repository, run), { at: now.toISOString(), dispatch } satisfies ClaimedRun);
}

/**
 * Records which dispatch started a run, unless another dispatch has already claimed the run; returns whether this
 * dispatch holds the claim.
 */
async function claimFreeRun(
  dispatch: string,
  { repository, run }: { readonly repository: string; readonly run: number },
  { memory, now }: PlanContext,
): Promise<boolean> {
  const own = { at: now.toISOString(), dispatch } satisfies ClaimedRun;
  // The cast is safe: only this function and `claimRun` write this key.
  const claimed = (await memory.revise(claimKey(repository, run), (known) => known ?? own)) as ClaimedRun;
  return claimed.dispatch === dispatch;
}

function claimKey(repository: string, run: number): string {
  return `${dispatchPrefix}run ${repository}#${run}`;
}

/**
 * Dispatches of one workflow and ref whose responses did not contain the run. Other dispatches must not claim these
 * runs.
 */
type UnnamedDispatches = {
  readonly at: string;
  readonly dispatches: readonly { readonly dispatch: string; readonly after: number }[];
};

/** The workflow and ref of a dispatch, with its memory key. */
type DispatchPlace = {
  readonly repository: string;
  readonly workflow: string;
  readonly ref: string;
  readonly key: string;
};

/**
 * Maximum number of stored dispatches. The newest are kept, because only dispatches around the time of a lost response
 * matter.
 */
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

/** Reads a stored value. The cast is safe: only the functions below write these keys. */
function unnamedIn(value: unknown): UnnamedDispatches['dispatches'] {
  return (value as UnnamedDispatches | undefined)?.dispatches ?? [];
}

/** Records that a dispatch was executed but its response did not contain the run. The run is newer than `after`. */
export async function noteUnnamed(place: DispatchPlace, after: number, context: PlanContext): Promise<void> {
  const at = context.now.toISOString();
  await context.memory.revise(unnamedKey(place), (value) => {
    const others = unnamedIn(value).filter(({ dispatch }) => dispatch !== place.key);
    const dispatches = [...others, { dispatch: place.key, after }].slice(-maxUnnamed);
    return { at, dispatches } satisfies UnnamedDispatches;
  });
}

/**
 * Returns the oldest of these runs that a dispatch without a response may have started: newer than `after`, started by
 * the bot's account, of the same branch or tag, and not started by another dispatch. Except in a dry run, the dispatch
 * is recorded as executed.
 */
export async function findOwnRun(
  runs: readonly DispatchedRun[],
  { after, ...place }: DispatchPlace & { readonly after: number },
  context: PlanContext,
): Promise<number | undefined> {
  const { account, memory, dryRun, now } = context;
  const { repository, ref, key } = place;
  // Earlier dispatches are ignored: forges create a run before they respond, so the runs of earlier dispatches are not
  // newer than `after`.
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

/** Compares a ref shown by the forge with a full ref. Forgejo shows the short name of a branch or tag. */
function isSameRef(shown: string, full: string): boolean {
  return shown === full || shown === full.replace(/^refs\/(heads|tags)\//, '');
}

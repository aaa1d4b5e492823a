import { createHash } from 'node:crypto';
import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import { type Facts, optionalRequestOf, requestOf } from '../facts/fact.ts';
import { repository } from '../facts/repository.ts';
import { workflowRuns } from '../facts/statuses.ts';
import { repositoryParams } from '../facts/where.ts';
import { ReeveError } from '../platform/errors.ts';
import { condition, defineAction, template } from './action.ts';
import type { Change } from './change.ts';
import { irreversible } from './inverses/inverse.ts';
import { askWritten } from './marker.ts';
import type { PlanContext } from './plan-context.ts';
import {
  claimRun,
  findOwnRun,
  forgetDispatch,
  type NotedDispatch,
  noteDispatch,
  noteUnnamed,
  readDispatch,
} from './workflows/dispatches.ts';

/** Time that the forge may take for a request whose answer was lost. Until then, a missing run proves nothing. */
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
/** Runs of all workflows: the newest one tells which runs come later. */
const newestFact = optionalRequestOf(workflowRuns, '*');

/** Starts a workflow, once for what triggered the rule. */
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

/** Returns the full name of the branch or tag: a short one may stand for both. */
async function refOf({ ref }: RunWorkflow, facts: Facts): Promise<string> {
  const name = ref ?? (await facts.ask(repositoryFact)).default_branch;
  if (!name) throw new Error('the repository has no default branch');
  return name.startsWith('refs/') ? name : `refs/heads/${name}`;
}

function dispatchOf(
  given: RunWorkflow,
  ref: string,
  facts: Facts,
): Omit<Change, 'reason' | 'before'> & { readonly before: unknown } {
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
    // Other inputs make another run: two rules that want them do not contradict each other.
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

/** Returns where a dispatch belongs in the memory: one for each trigger, workflow, ref and inputs. */
function keyOf(change: Pick<Change, 'input'>, { trigger }: PlanContext): string {
  const { repository: where } = placeOf(change);
  const { params, body } = change.input;
  const { ref, inputs } = body as { readonly ref: string; readonly inputs: unknown };
  return `${where} ${inputsDigest(JSON.stringify([params?.workflow_id, ref, inputs, trigger]))}`;
}

function placeOf({ input }: Pick<Change, 'input'>): { readonly repository: string } {
  const { owner, repo } = input.params as ReturnType<typeof repositoryParams>;
  return { repository: `${owner}/${repo}`.toLowerCase() };
}

function dispatchPlaceOf(change: Pick<Change, 'input' | 'after'>): {
  readonly repository: string;
  readonly workflow: string;
  readonly ref: string;
} {
  const { workflow, ref } = change.after as { readonly workflow: string; readonly ref: string };
  return { ...placeOf(change), workflow, ref };
}

/**
 * Returns the run that an earlier request without an answer has started; undefined if there is none. Throws, to be tried again,
 * while the forge may not yet have executed that request.
 */
async function runStartedBy(
  { at, after = 0 }: NotedDispatch,
  change: Omit<Change, 'reason'>,
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
    `whether the forge has started ${workflow} is not known yet: the answer was lost, and there is no run of it`,
    { retryAfterMs: Math.min(undecidedMs - ageMs, undecidedMs) },
  );
}

/** Returns the id of the run in the answer to a dispatch; older releases answer without. */
function startedRun(answer: unknown): number | undefined {
  const shown = z
    .object({ workflow_run_id: z.number().nullish(), id: z.number().nullish() })
    .safeParse(answer);
  return shown.success ? (shown.data.workflow_run_id ?? shown.data.id ?? undefined) : undefined;
}

import { z } from 'zod';
import { readMember } from '../contract/events/payload-members.ts';
import { operations } from '../contract/operations.ts';
import type { CommitStatus } from '../contract/resources/statuses.ts';
import { asWritten } from '../contract/written-texts.ts';
import { type Facts, optionalRequestOf, requestOf } from '../facts/fact.ts';
import { head } from '../facts/head.ts';
import { pullRequest } from '../facts/pull-request.ts';
import { statuses } from '../facts/statuses.ts';
import { ways } from '../facts/ways.ts';
import { repositoryParams } from '../facts/where.ts';
import { baseTemplate, condition, defineAction, type Holder, template } from './action.ts';
import type { Change, DraftChange } from './change.ts';
import { type ForgeObject, type Inverse, pathParams, readItems } from './inverses.ts';
import type { PlanContext } from './plan-context.ts';
import {
  formerContextOf,
  namesBase,
  problemOfContext,
  renderContext,
  statusContextOf,
} from './status-context.ts';
import { askWritten } from './texts.ts';

const states = ['pending', 'success', 'error', 'failure', 'warning', 'skipped'] as const;
const said = {
  description: template().max(255).optional().meta({ description: 'One line beside it.' }),
  target_url: template()
    .max(2_000)
    .regex(/^(https?:\/\/|\$\{\{)/, 'a URL must begin with http:// or https://')
    .optional()
    .meta({ description: 'Where its details are.' }),
};
const SetStatus = z.strictObject({
  context: baseTemplate().max(255).optional().meta({
    description:
      'Name of the status; default: the name of the rule. Files of the operator choose it freely (default `reeve/RULE`), those of organizations write `reeve-org/NAME`, those of repositories `reeve-repo/NAME`. The one expression in it is `${{ pull_request.base.ref }}`: pull requests into other bases then do not count.',
  }),
  state: z.enum(states).default('success').meta({ description: 'State of the status.' }),
  ...said,
  when: condition().optional().meta({
    description: 'The status is `state` while this condition holds, and `otherwise` while it does not.',
  }),
  otherwise: z
    .strictObject({ state: z.enum(states), ...said })
    .optional()
    .meta({
      description: 'Default: failure if `state` is success, success for any other state, no description.',
    }),
});
type SetStatus = z.output<typeof SetStatus>;
type StatusState = SetStatus['state'];

const headFact = requestOf(head);
const pullFact = requestOf(pullRequest);
const statusesFact = optionalRequestOf(statuses);

const undoStatus: Inverse = async (change, client) => {
  const params = pathParams(change);
  const name = change.target.slice('status:'.length);
  const all = await readItems(client, operations.listStatuses, { params });
  const newest = all
    .filter(({ context }) => context === name)
    .toSorted((a, b) => Number(b.id) - Number(a.id))[0];
  const { status: state, description, target_url } = newest ?? {};
  return {
    value:
      newest === undefined ? null : { state, description: description ?? '', target_url: target_url ?? '' },
    undo: () =>
      change.before === null
        ? 'a status cannot be taken back, and there was none before'
        : {
            operation: operations.createStatus,
            input: { params, body: { context: name, ...(change.before as ForgeObject) } },
          },
  };
};

/**
 * Sets this status on the subject's newest commit. The status applies to a commit: it improves only after every open
 * pull request with this head has been evaluated, and shows the least favourable of their results. If another commit is
 * pushed in the meantime, the rule is evaluated again. A status is never deleted, because forges do not support that.
 */
export const setStatus = defineAction<SetStatus>({
  name: 'set-status',
  meaning:
    'Sets this status with `context` on the newest commit of the subject. With `when`, the status depends on the condition. A status belongs to a commit: before it becomes better, the rule judges every other open pull request with the same head commit, and the least favourable result is written; the description names the pull request that holds it back.',
  example: `uses: set-status
with:
  state: success
  description: The description says what was tested.
  when: repository.description.contains("tested")
  otherwise: { state: failure, description: Please say what was tested. }
`,
  arguments: SetStatus,
  of: ['pull_request', 'branch', 'repository'],
  // The status also depends on the base branches of other pull requests with this commit.
  ways: { writes: [ways.reported], after: [ways.retargeted] },
  needs: { access: 'writer', scopes: ['repository'] },
  protects: true,
  describesState: true,
  granted: true,
  pinsHead: true,
  ofCommit: {
    isBetter,
    passes: ({ value }) => rankOf(value) === passed,
    rankOf: ({ value }) => rankOf(value),
    heldBackBy,
    unjudged,
  },
  visibleTo: 'code',
  inverses: { [operations.createStatus.id]: undoStatus },
  adoption: undefined,
  examineAt: ({ context }, { level, subjects }) => {
    if (context === undefined) return [];
    // The name of the rule is not needed here, because a context is given.
    const message = problemOfContext(statusContextOf(context, { rule: '', level }), { level, subjects });
    return message === undefined ? [] : [{ path: ['context'], message }];
  },
  facts: () => [headFact, statusesFact],
  async plan(given, facts, context) {
    const name = await contextFor(given, facts, context);
    const wanted = wantedOf(given);
    // Checked after template expansion, because users click on this URL.
    if (!/^(https?:\/\/|$)/i.test(wanted.target_url)) {
      throw new Error(`target_url must begin with http:// or https://, not "${wanted.target_url}"`);
    }
    const { sha } = await facts.ask(headFact);
    const all = await askWritten(facts, statusesFact);
    const change = changeTo(wanted, { name, sha, all, facts });
    const reason = change.already
      ? 'the commit already has this status'
      : statusReason(given, liveOf(all, name)?.status);
    return [{ ...change, reason }, ...endFormer({ name, sha, all, facts }, context)];
  },
});

/** Name and commit of a status, with all statuses of that commit. */
type StatusPlace = {
  readonly name: string;
  readonly sha: string;
  readonly all: readonly CommitStatus[];
  readonly facts: Facts;
};

function changeTo(wanted: ShownStatus, { name, sha, all, facts }: StatusPlace): DraftChange {
  const live = liveOf(all, name);
  const before = live === undefined ? null : shown(live.status, live.description, live.target_url);
  return {
    action: 'set-status',
    operation: operations.createStatus.id,
    input: { params: { ...repositoryParams(facts.subject), sha }, body: { context: name, ...wanted } },
    target: `status:${name}`,
    value: wanted,
    before,
    after: wanted,
    reads: [statusesFact],
    reconsiders: true,
    ...(isGreen(before?.state) && before?.state !== wanted.state && rankOf(wanted) !== passed
      ? { protects: 'tightens' as const }
      : {}),
    ...(isThere(wanted, before, facts.subject.index) ? { already: true } : {}),
  };
}

/** Returns whether a required status of this state may allow a merge; `warning` is included as a precaution. */
function isGreen(state: string | undefined): boolean {
  return state === 'success' || state === 'skipped' || state === 'warning';
}

function liveOf(all: readonly CommitStatus[], name: string): CommitStatus | undefined {
  return all.find(({ context }) => context === name);
}

/** Returns the context of the status, with the base branch of the pull request inserted. */
async function contextFor(given: SetStatus, facts: Facts, context: PlanContext): Promise<string> {
  const name = statusContextOf(given.context, context);
  const base = namesBase(name) ? ((await facts.ask(pullFact)).base?.ref ?? '') : '';
  return asStatus('context', renderContext(name, base, context));
}

/**
 * Sets the status that this rule wrote under its former name to `error`: a branch may still require that status,
 * although it is no longer updated. The name is from before each level had its own prefix. Leaves the status unchanged
 * if an operator rule may use that name now.
 */
function endFormer(place: StatusPlace, context: PlanContext): readonly Change[] {
  const former = formerContextOf(context);
  const live = former === undefined ? undefined : liveOf(place.all, former);
  if (former === undefined || live === undefined || live.status === 'error') return [];
  const isOurs = context.account !== undefined && live.creator?.id === context.account.id;
  if (!isOurs || (context.isStatusOfOperator?.(former) ?? true)) return [];
  const ended = shown(
    'error',
    `This status is named ${place.name} now. Require that one.`.slice(0, maxDescription),
    '',
  );
  return [
    { ...changeTo(ended, { ...place, name: former }), reason: `the status is now named ${place.name}` },
  ];
}

/** Maximum length of a description. Forges accept more, but longer descriptions are not readable. */
const maxDescription = 255;

/**
 * Returns the rank of a state according to the forges' merge rules: `warning` blocks like `failure`, `skipped` passes.
 */
function rankOf(value: unknown): number {
  const state = readMember(value, 'state');
  if (state === 'success' || state === 'skipped') return passed;
  return state === 'failure' || state === 'error' || state === 'warning' ? failed : pending;
}
const [failed, pending, passed] = [0, 1, 2];

/** Matches the prefix in the description of a status that shows the result of one of several pull requests. */
const heldPattern = /^#(\d+): /;

/**
 * Returns whether a change improves the status of a commit, or replaces a result that came from a particular pull
 * request.
 */
function isBetter({ value, before }: Change): boolean {
  return (
    rankOf(value) > (before === null ? pending : rankOf(before)) ||
    heldPattern.test(String(readMember(before, 'description') ?? ''))
  );
}

/** Returns the description, as stored by the forge, of a status that shows the result of this pull request. */
function heldDescription(index: number | undefined, { description, state }: ShownStatus): string {
  return asStatus('description', `#${index}: ${description || state}`.slice(0, maxDescription));
}

/** Returns the change with the result of the pull request that holds back this one. */
function heldBackBy(change: Change, { number, url, change: theirs }: Holder): Change {
  const result = (theirs?.value ?? {
    state: 'pending',
    description: 'it cannot be evaluated yet',
  }) as ShownStatus;
  const value = {
    state: result.state,
    description: heldDescription(number, result),
    target_url: url,
  };
  const { already: _, ...rest } = change;
  const isSame = JSON.stringify(change.before) === JSON.stringify(value);
  return {
    ...rest,
    input: { ...change.input, body: { ...(change.input.body as object), ...value } },
    value,
    after: value,
    reason: `pull request #${number} has the same head commit, and holds this status back`,
    ...(isSame ? { already: true as const } : {}),
  };
}

/** Returns the arguments for a step that cannot be evaluated for a pull request. */
function unjudged(written: unknown): SetStatus {
  const context = readMember(written, 'context');
  return {
    ...(typeof context === 'string' ? { context } : {}),
    state: 'pending',
    description: 'the rule failed: it cannot be evaluated',
  };
}

/**
 * Returns whether the status already exists, possibly with a description that names the pull request itself as the
 * holder.
 */
function isThere(wanted: ShownStatus, before: ShownStatus | null, index: number | undefined): boolean {
  if (before === null) return false;
  if (JSON.stringify(before) === JSON.stringify(wanted)) return true;
  const isNamed = before.description === heldDescription(index, wanted);
  return before.state === wanted.state && rankOf(wanted) !== passed && isNamed;
}

type ShownStatus = { readonly state: string; readonly description: string; readonly target_url: string };

function wantedOf(given: SetStatus) {
  const isMain = given.when ?? true;
  const { state, description, target_url } = isMain
    ? given
    : (given.otherwise ?? { state: opposite(given.state) });
  return shown(state, asStatus('description', description ?? ''), asStatus('target_url', target_url ?? ''));
}

function asStatus(member: string, text: string): string {
  return asWritten(operations.createStatus, member, text);
}

function opposite(state: StatusState): StatusState {
  return state === 'success' ? 'failure' : 'success';
}

function shown(
  state: string | null | undefined,
  description: string | null | undefined,
  address: string | null | undefined,
): ShownStatus {
  return { state: state ?? '', description: description ?? '', target_url: address ?? '' };
}

function statusReason({ when }: SetStatus, live: string | null | undefined): string {
  const why =
    when === undefined ? 'the rule wants it' : when ? 'the condition holds' : 'the condition does not hold';
  return live ? `${why}, and the status is ${live}` : `${why}, and the commit has no such status`;
}

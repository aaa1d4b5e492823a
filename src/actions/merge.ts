import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import type { Branch } from '../contract/resources/branches.ts';
import type { PullRequest } from '../contract/resources/pulls.ts';
import type { CommitStatus } from '../contract/resources/statuses.ts';
import { type Facts, requestOf } from '../facts/fact.ts';
import { baseBranch, headBranch, pullRequest } from '../facts/pull-request.ts';
import { repository } from '../facts/repository.ts';
import { judgeRequiredChecks, statuses } from '../facts/statuses.ts';
import { ways } from '../facts/ways.ts';
import { indexParams } from '../facts/where.ts';
import type { Meter } from '../patterns/meter.ts';
import { condition, defineAction } from './action.ts';
import type { Change } from './change.ts';
import { deletionOf, undoDeleteBranch } from './delete-branch.ts';
import { irreversible } from './inverses.ts';
import {
  afterPushField,
  findDueProtection,
  mergeFields,
  sidesOf,
  untrustedPush,
  waiting,
} from './merging.ts';
import type { PlanContext } from './plan-context.ts';
import { mergeMethodOf } from './queue-desk.ts';

const MergeForm = z.strictObject({
  when: condition().optional().meta({ description: 'It is merged as soon as this condition holds.' }),
  ...mergeFields,
  ...afterPushField,
  'delete-branch': z
    .boolean()
    .default(false)
    .meta({ description: 'Deletes the head branch afterwards, as `delete-branch` does.' }),
});
type MergeArguments = z.output<typeof MergeForm>;

const pullFact = requestOf(pullRequest);
const repositoryFact = requestOf(repository);
const baseFact = requestOf(baseBranch);
const statusesFact = requestOf(statuses);

/**
 * Merges the pull request at the head commit that was read before any other fact. It never forces a merge, and never
 * uses the forge's own scheduled merge, which skips protections.
 */
export const merge = defineAction<MergeArguments>({
  name: 'merge',
  meaning:
    'Merges the pull request while `when` holds, at the head commit that the conditions were evaluated for; the forge refuses if the head has moved. It is never forced: a draft, a conflict, or a protection that is not met keeps it waiting. It goes last in a run, its conditions are evaluated again immediately before, and it is not sent if an earlier change of its rule failed, was refused or deferred.',
  example: `uses: merge
with:
  when: pull_request.labels.exists(l, l.name == "auto-merge") && statuses.all(s, s.status == "success")
  method: squash
  delete-branch: true
`,
  arguments: MergeForm,
  of: ['pull_request'],
  ways: { writes: [], after: [ways.edited, ways.ran, ways.reported, ways.reviewed, ways.requested] },
  needs: { access: 'writer', scopes: ['repository'] },
  describesState: false,
  granted: false,
  visibleTo: 'pulls',
  pinsHead: true,
  awaitsChecks: true,
  inverses: {
    [operations.mergePull.id]: irreversible('a merge cannot be taken back: revert its commits'),
    [operations.deleteBranch.id]: undoDeleteBranch,
  },
  adoption: undefined,
  async misplaced({ branch }, facts) {
    const base = (await facts.ask(pullFact)).base?.ref;
    return base === branch
      ? undefined
      : `this was merged into \`${base}\` instead of \`${branch}\`, for which the rule was evaluated: the base was changed at that moment`;
  },
  facts: (given) => (given.when === false ? [pullFact] : [pullFact, repositoryFact, baseFact]),
  async plan(given, facts, context) {
    const pull = await facts.ask(pullFact);
    const isWanted = given.when ?? true;
    if (!pull.merged && (!isWanted || pull.state !== 'open')) return [];
    const merging = pull.merged ? merged(pull, facts) : await mergingOf(pull, given, facts, context);
    if (!given['delete-branch'] || (pull.merged && !isMergedByUs(pull, context))) return [merging];
    const deletion = deletionOf(pull, await facts.ask(requestOf(headBranch)), facts, {
      action: 'merge',
      follows: merging,
    });
    return deletion ? [merging, deletion] : [merging];
  },
});

/**
 * Returns whether this account merged the pull request. If a person merged it and kept the branch, the branch is not
 * deleted.
 */
function isMergedByUs({ merged_by }: PullRequest, { account }: PlanContext): boolean {
  return account === undefined || merged_by?.id === account.id;
}

function targetOf({ number }: PullRequest): string {
  return `merge:#${number}`;
}

function merged(pull: PullRequest, facts: Facts): Change {
  return {
    action: 'merge',
    operation: operations.mergePull.id,
    input: { params: indexParams(facts.subject) },
    target: targetOf(pull),
    value: 'merged',
    before: 'merged',
    after: 'merged',
    reason: 'it is already merged',
    stage: 3,
    already: true,
  };
}

async function mergingOf(
  pull: PullRequest,
  given: MergeArguments,
  facts: Facts,
  context: PlanContext,
): Promise<Change> {
  const { head, base } = sidesOf(pull);
  const method = mergeMethodOf(given.method, await facts.ask(repositoryFact));
  const { title, message } = given;
  const change = {
    action: 'merge',
    operation: operations.mergePull.id,
    input: {
      params: indexParams(facts.subject),
      body: {
        do: method,
        head_commit_id: head,
        // Always sent, because if the field is omitted, the forge applies the setting of the repository.
        delete_branch_after_merge: false,
        ...(title === undefined ? {} : { merge_title_field: title }),
        ...(message === undefined ? {} : { merge_message_field: message }),
      },
    },
    target: targetOf(pull),
    value: {
      method,
      ...(title === undefined ? {} : { title }),
      ...(message === undefined ? {} : { message }),
    },
    before: 'open',
    after: 'merged',
    branch: base,
    causes: { event: 'merged', number: pull.number, head, base },
    stage: 3,
    reconsiders: true,
    reads: [pullFact],
    verify: true,
  } as const;
  if (pull.draft) return waiting(change, 'it is a draft');
  if (pull.mergeable === false) {
    return waiting(change, 'it conflicts with its base, or the forge has not checked that yet', true);
  }
  const untrusted = await untrustedPush(pull, given['after-push'], facts, context);
  if (untrusted !== undefined) return waiting(change, untrusted, true);
  const due = await findDueProtection(context.memory, facts.subject);
  if (due !== undefined) return waiting(change, due, true);
  const required = await facts.ask(baseFact);
  const unpassed = required.enable_status_check
    ? unpassedChecks(required, await facts.ask(statusesFact), context.meter)
    : undefined;
  if (unpassed !== undefined) return waiting(change, unpassed, true);
  return { ...change, reason: given.when === undefined ? 'the rule applies' : 'the condition holds' };
}

/** Returns why the required checks of a branch have not passed, or undefined if they have. */
function unpassedChecks(base: Branch, statuses: readonly CommitStatus[], meter: Meter): string | undefined {
  const check = judgeRequiredChecks(base, statuses, meter).find(({ state }) => state !== 'success');
  if (check === undefined) return undefined;
  const [open] = check.unpassed;
  if (open) return `the required status ${open.context} is ${open.status ?? 'not known'}`;
  if ((base.status_check_contexts ?? []).length === 0) {
    return 'the head has no status yet, and the base branch requires status checks';
  }
  return `the required status ${check.context} is missing`;
}

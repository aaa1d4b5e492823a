import { z } from 'zod';
import { operations } from '../contract/operations.ts';
import type { PullRequest } from '../contract/resources/pulls.ts';
import { type Facts, optionalRequestOf, requestOf } from '../facts/fact.ts';
import { pullRequest } from '../facts/pull-request.ts';
import { repository } from '../facts/repository.ts';
import { queueContext, statuses } from '../facts/statuses.ts';
import { ways } from '../facts/ways.ts';
import { repositoryOf, repositoryParams } from '../facts/where.ts';
import { condition, defineAction } from './action.ts';
import type { Change } from './change.ts';
import { type Inverse, pathParams, readItems } from './inverses.ts';
import {
  afterPushField,
  findDueProtection,
  mergeFields,
  sidesOf,
  untrustedPush,
  waiting,
} from './merging.ts';
import type { PlanContext } from './plan-context.ts';
import {
  mergeMethodOf,
  type PullAtHead,
  type QueuePlaceOfPull,
  type QueueStanding,
  type QueueWish,
} from './queue-desk.ts';
import { askWritten, isByUs } from './texts.ts';

const maxMinutes = 7 * 24 * 60;

const QueueMergeForm = z.strictObject({
  when: condition().optional().meta({
    description: 'It is in the queue while this condition holds, and leaves once it does not.',
  }),
  ...mergeFields,
  ...afterPushField,
  priority: z
    .int()
    .min(-100)
    .max(100)
    .default(0)
    .meta({ description: 'Larger numbers go first; equal ones in the order in which they entered.' }),
  timeout: z
    .int()
    .min(1)
    .max(maxMinutes)
    .default(60)
    .meta({ description: 'Minutes between its turn and its merge after which it leaves.' }),
  forks: z.boolean().default(false).meta({
    description:
      'Brings heads in forks up to date as well. The forge may then run workflows of the fork with the rights of Reeve’s account: see the security page. Without it, a fork’s pull request that is behind leaves.',
  }),
});
type QueueMergeForm = z.output<typeof QueueMergeForm>;

const pullFact = requestOf(pullRequest);
const repositoryFact = requestOf(repository);
const statusesFact = optionalRequestOf(statuses);

/** Prefix of the target of the change that adds a pull request; the number follows. */
const enteringTarget = 'queue:#';

/** Sets a status that removes the pull request from the queue; the server then deletes the queue entry. */
const undoEntering: Inverse = async (change, client) => {
  // A status that the queue writes after the pull request has entered cannot be reverted: the queue's next status would
  // replace it.
  if (!change.target.startsWith(enteringTarget))
    return {
      value: change.after,
      undo: () => 'the merge queue keeps this status itself: reeve queue remove',
    };
  const params = pathParams(change);
  const all = await readItems(client, operations.listStatuses, { params });
  const [newest] = all
    .filter(({ context }) => context === queueContext)
    .toSorted((a, b) => Number(b.id) - Number(a.id));
  const body = { context: queueContext, state: 'error', description: 'taken out of the merge queue' };
  return {
    value: newest === undefined ? null : { state: newest.status },
    undo: () => ({ operation: operations.createStatus, input: { params, body } }),
  };
};

/**
 * Adds the pull request to the merge queue of its base branch. The change writes the status that shows the pull request
 * as queued; from then on, the queue works independently: see `work/merge-queue/`.
 */
export const queueMerge = defineAction<QueueMergeForm>({
  name: 'queue-merge',
  meaning:
    'Puts the pull request into the merge queue of its base branch. One after the other, by priority and then in the order in which they entered, the queue brings them up to date with the base, waits for their required checks on that commit, and merges that commit. The status `reeve/queue` on the head shows it. A pull request leaves, with a comment that says why, when a check fails, it conflicts, someone pushes to it or closes it, `when` no longer holds, or its time is over. It does not enter again with the same head until `when` was false once. Only a server has a queue.',
  example: `uses: queue-merge
with:
  when: labels.exists(l, l.name == "auto-merge")
  method: squash
`,
  arguments: QueueMergeForm,
  of: ['pull_request'],
  ways: { writes: [], after: [ways.edited, ways.ran, ways.reported, ways.reviewed, ways.requested] },
  needs: { access: 'writer', scopes: ['repository'] },
  describesState: true,
  granted: false,
  visibleTo: 'pulls',
  pinsHead: true,
  awaitsChecks: true,
  inverses: { [operations.createStatus.id]: undoEntering },
  adoption: undefined,
  facts: (given) => (given.when === false ? [pullFact] : [pullFact, repositoryFact]),
  async plan(given, facts, context) {
    const pull = await facts.ask(pullFact);
    if (pull.state !== 'open' || pull.merged) return [];
    const { head, base, isFork } = sidesOf(pull);
    const place = { repository: repositoryOf(facts.subject), base, number: pull.number, head };
    if (given.when === false) {
      if (!context.dryRun) await context.queue?.desk.forgive(place);
      return [];
    }
    const wish = await wishOf(given, facts);
    const change = enteringOf(place, wish, facts, isFork);
    if (pull.draft) return [waiting(change, 'it is a draft')];
    const untrusted = await untrustedPush(pull, given['after-push'], facts, context);
    if (untrusted !== undefined) return [waiting(change, untrusted, true)];
    const due = await findDueProtection(context.memory, facts.subject);
    if (due !== undefined) return [waiting(change, due, true)];
    const found = await findPlace(pull, place, facts, context);
    if (found === 'queued') return [{ ...change, already: true, reason: 'it is in the merge queue' }];
    if (found !== undefined) return [waiting(change, found.why)];
    return [{ ...change, reason: given.when === undefined ? 'the rule applies' : 'the condition holds' }];
  },
  async intend(change, { queue }) {
    const { place, wish } = change.value as EnteringValue;
    const withdraw = await queue?.desk.enter({ ...place, repository: queue.repository }, wish, queue);
    return async () => withdraw?.();
  },
});

/** Value of the change. The repository is that of the run. */
type EnteringValue = { readonly place: PullAtHead; readonly wish: QueueWish };

async function wishOf(given: QueueMergeForm, facts: Facts): Promise<QueueWish> {
  const { title, message, priority, timeout, forks } = given;
  return {
    method: mergeMethodOf(given.method, await facts.ask(repositoryFact)),
    ...(title === undefined ? {} : { title }),
    ...(message === undefined ? {} : { message }),
    priority,
    timeoutMs: timeout * 60_000,
    forks,
  };
}

function enteringOf(
  { repository: _repository, ...place }: QueuePlaceOfPull,
  wish: QueueWish,
  facts: Facts,
  isFork: boolean,
): Change {
  const { base, number, head } = place;
  const description = `waits in the merge queue of ${base}`.slice(0, 250);
  return {
    action: 'queue-merge',
    operation: operations.createStatus.id,
    input: {
      params: { ...repositoryParams(facts.subject), sha: head },
      body: { context: queueContext, state: 'pending', description },
    },
    target: `${enteringTarget}${number}`,
    value: { place, wish } satisfies EnteringValue,
    before: null,
    after: { state: 'pending' },
    branch: base,
    ...(isFork && wish.forks ? ({ fork: true } as const) : {}),
    stage: 3,
    reconsiders: true,
    reads: [pullFact],
    reason: '',
  };
}

/**
 * Returns whether the pull request is queued. On the command line and in CI there is no queue, so the status is used
 * instead.
 */
async function findPlace(
  { head }: PullRequest,
  place: QueuePlaceOfPull,
  facts: Facts,
  context: PlanContext,
): Promise<QueueStanding> {
  if (context.queue) return context.queue.desk.find(place);
  if (!head) return undefined;
  const shown = (await askWritten(facts, statusesFact)).find((status) => status.context === queueContext);
  const isOurs = shown && isByUs({ user: shown.creator }, context);
  return isOurs && shown.status === 'pending' ? 'queued' : undefined;
}

import { z } from 'zod';
import type { Client } from '../../client/client.ts';
import { type Concern, concernOf } from '../../contract/events/concerns.ts';
import type { Event } from '../../contract/events/events.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import { operations } from '../../contract/operations.ts';
import type { PullRequest } from '../../contract/resources/pulls.ts';
import type { Run } from '../../engine/record.ts';
import type { FactMemory } from '../../facts/fact.ts';
import type { ReeveError } from '../../platform/errors.ts';
import { type RuleSet, runsForConcerned } from '../../rules/rule.ts';
import type { AdmittedEvent } from '../../rules/sources/admission.ts';
import type { InForce } from '../../rules/sources/rule-source.ts';
import { ownReason } from '../../rules/verdict.ts';
import type { Handled, HandleJob } from '../../store/leases.ts';
import type { Delivery } from '../../store/store.ts';
import type { Reeve } from '../reeve.ts';
import { storedEvent } from './route-delivery.ts';
import { deliveryOrigin, findOrigin, type RunAttempt } from './run-attempt.ts';
import type { LeaveWaiting } from './waiting.ts';

/** Maximum number of pull requests that run together with the event; if there are more, a job runs them. */
const maxWithEvent = 50;
/** Kind of the job that runs concerned pull requests. */
export const concernedKind = 'concerned-pulls';
/** Number of pull requests of the job that run concurrently. */
const atOnce = 8;

const ConcernedJob = z.object({ delivery: z.string() });
const ConcernedCheckpoint = z.object({ after: z.number() }).nullable().catch(null);

/** Dependencies of the runs: the attempt, and the storage of waiting rules. */
type RunParts = { readonly attempt: RunAttempt; readonly leaveWaiting: LeaveWaiting };

/** Result for the pull requests. `retry` is set if a later attempt may succeed for at least one of them. */
type ConcernedRuns = Handled & { readonly retry?: ReeveError | undefined };

/** Runs rules for pull requests that an event concerns but does not name. */
export interface ConcernedPulls {
  /** Drops the cached list of open pull requests of a repository if an event may have changed it. */
  note(event: AdmittedEvent): void;
  /** Runs the rules for each pull request, or stores a job for them if there are many. */
  run(
    delivery: Delivery,
    event: AdmittedEvent,
    force: InForce & { readonly signal: AbortSignal | undefined },
  ): Promise<ConcernedRuns>;
  /** Handles the job. */
  readonly handleJob: HandleJob;
}

/** Returns whether a rule matches the event type and runs for the pull requests that the event concerns. */
export function hasConcernedRules(rules: RuleSet, { family }: Event): boolean {
  return family !== undefined && rules.listeningTo(family).some((rule) => runsForConcerned(rule, family));
}

/** Creates the runner for concerned pull requests. */
export function createConcernedPulls(reeve: Reeve, parts: RunParts): ConcernedPulls {
  const { client, memory, store, clock } = reeve;
  return {
    note({ family, repository }) {
      if (family === 'push' || family === 'pull_request' || family === 'create' || family === 'delete') {
        memory.drop(`${repository.id}/open_pulls`);
      }
    },

    async run(delivery, event, force) {
      const concern = concernOf(event);
      if (concern === undefined) return { runs: [] };
      const { signal } = force;
      const { isOwn, cause } = await findOrigin(event, delivery, reeve, signal);
      if (isOwn && cause === undefined) return { runs: [], reason: ownReason };
      const counted = client.counted({ signal });
      const numbers = await findNumbers(event.repository, concern, { client: counted, memory });
      if (numbers.length <= maxWithEvent) {
        return runEach(delivery, event, { ...force, broken: [], numbers }, parts);
      }
      await store.enqueue({
        door: 'cron',
        uuid: `${concernedKind}#${delivery.id}`,
        kind: concernedKind,
        lane: `${concernedKind} ${event.repository.id}`,
        receivedAt: clock.now(),
        payload: { delivery: delivery.id } satisfies z.input<typeof ConcernedJob>,
      });
      return { runs: [], reason: `${numbers.length} pull requests are concerned: a job runs them` };
    },

    handleJob: createConcernedJobHandler(reeve, parts),
  };
}

/** The pull requests to run, with the rules in force. */
type RunningParts = InForce & {
  readonly signal: AbortSignal | undefined;
  readonly numbers: readonly number[];
};

async function runEach(
  delivery: Delivery,
  event: AdmittedEvent,
  { numbers, ...force }: RunningParts,
  { attempt, leaveWaiting }: RunParts,
): Promise<ConcernedRuns> {
  const runs: Run[] = [];
  let retry: ReeveError | undefined;
  let deferral: Handled['deferral'];
  for (const number of numbers) {
    const { repository } = event;
    const subject = { kind: 'pull_request', repository, index: number } as const;
    const item = `${repository.owner}/${repository.name}#${number}`;
    const ran = await attempt(delivery, { ...event, subject }, { ...force, item });
    runs.push(ran.run);
    retry ??= ran.retry;
    deferral ??= ran.deferral;
    await leaveWaiting(ran, { subject, job: delivery, delivery: delivery.id });
    // The remaining pull requests would fail in the same way.
    if (retry && (retry.isHostFailure || retry.code === 'stopped')) break;
  }
  return { runs, retry, deferral };
}

/**
 * Creates the handler of the job. It runs a batch of pull requests at a time, and ends each batch with a checkpoint.
 */
function createConcernedJobHandler(reeve: Reeve, parts: RunParts): HandleJob {
  const { client, memory, store } = reeve;
  return async (job, payload, lease) => {
    const { delivery: id } = ConcernedJob.parse(payload);
    const delivery = await store.readDelivery(id);
    if (delivery === undefined) return { runs: [], reason: `delivery ${id} is no longer kept` };
    const admission = await reeve.admissions.admit(deliveryOrigin(delivery), storedEvent(delivery));
    if (admission.state === 'ignored') return { runs: [], reason: admission.reason };
    const { event } = admission;
    const concern = concernOf(event);
    if (concern === undefined) return { runs: [] };
    const counted = client.counted({ signal: lease.signal });
    const after = ConcernedCheckpoint.parse(job.checkpoint ?? null)?.after ?? 0;
    const all = await findNumbers(event.repository, concern, { client: counted, memory });
    const numbers = all.filter((number) => number > after);
    const force = { ...(await reeve.rules.rulesFor(event)), broken: [], signal: lease.signal };
    let deferral: Handled['deferral'];
    for (let from = 0; from < numbers.length; from += atOnce) {
      if (lease.signal.aborted) throw lease.signal.reason;
      if (lease.stopping.aborted)
        throw lease.giveBack('the process is stopping; it continues at its checkpoint');
      const some = numbers.slice(from, from + atOnce);
      const about = { ...job, repeatOf: delivery.repeatOf };
      const made = await Promise.all(
        some.map((number) => runEach(about, event, { ...force, numbers: [number] }, parts)),
      );
      const retry = made.find((one) => one.retry)?.retry;
      if (retry) throw retry;
      deferral ??= made.find((one) => one.deferral)?.deferral;
      const runs = made.flatMap((one) => one.runs);
      const checkpoint = { after: some.at(-1) };
      await lease.advance({ runs, repositoryId: event.repository.id, checkpoint });
    }
    return { runs: [], deferral: deferral && { ...deferral, key: id } };
  };
}

/** An open pull request, with the fields that events concern. */
type OpenPull = { readonly number: number; readonly head: string; readonly base: string };

/** Returns the numbers of the concerned open pull requests, in ascending order. */
async function findNumbers(
  at: RepositoryRef,
  concern: Concern,
  { client, memory }: { readonly client: Client; readonly memory: FactMemory },
): Promise<readonly number[]> {
  const isConcerned = ({ head, base }: OpenPull): boolean =>
    'head' in concern ? head === concern.head : base === concern.base;
  const params = { owner: at.owner, repo: at.name };
  const key = `${at.id}/open_pulls`;
  // The value under this key was set below.
  const known = memory.get(key) as readonly OpenPull[] | undefined;
  const all = known ?? (await readAllOpen(client, params));
  if (known === undefined) memory.set(key, all);
  let found = all.filter(isConcerned);
  if (found.length === 0 && known !== undefined && 'head' in concern) {
    // A head may have moved without an event. The pull request is then among the most recently updated ones.
    const query = { state: 'open', sort: 'recentupdate', limit: 50 };
    found = (await client.call(operations.listPulls, { params, query })).map(toOpenPull).filter(isConcerned);
  }
  return [...new Set(found.map(({ number }) => number))].sort((a, b) => a - b);
}

async function readAllOpen(
  client: Client,
  params: { readonly owner: string; readonly repo: string },
): Promise<readonly OpenPull[]> {
  const all: OpenPull[] = [];
  for await (const pull of client.items(operations.listPulls, { params, query: { state: 'open' } })) {
    all.push(toOpenPull(pull));
  }
  return all;
}

function toOpenPull({ number, head, base }: PullRequest): OpenPull {
  return { number, head: head?.sha ?? '', base: base?.ref ?? '' };
}

import { mergeQueueKind } from '../../actions/merging/queue-desk.ts';
import type { Client } from '../../client/client.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import type { Consequences } from '../../engine/bounds/consequences.ts';
import { type MadeWithFacts, makeEventRun, makeItemRun, type RunSettings } from '../../engine/make-run.ts';
import type { Run } from '../../engine/record.ts';
import type { FactMemory } from '../../facts/fact.ts';
import type { Clock } from '../../platform/clock.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { createRuleSet } from '../../rules/rule.ts';
import { type Admissions, type AdmittedEvent, retryDenial } from '../../rules/sources/admission.ts';
import type { RuleSource } from '../../rules/sources/rule-source.ts';
import type { Verdict } from '../../rules/verdict.ts';
import { createStoredMemory } from '../../store/action-memory.ts';
import type { HandleJob, Lease } from '../../store/leases.ts';
import type { QueueEvent } from '../../store/queue-rows.ts';
import type { Delivery, Store } from '../../store/store.ts';
import { abandonQueue, editQueue } from '../merge-queue/edits.ts';
import { findHeldRules } from '../merge-queue/hold.ts';
import { lookAtQueue } from '../merge-queue/look.ts';
import { runOfAttempt, runOfWrite } from '../merge-queue/queue-runs.ts';
import { attemptRequest, blankDesk, sendQueueAttempt, sendQueueWrite } from '../merge-queue/send.ts';
import type { PullSeen, QueueEntry } from '../merge-queue/state.ts';
import { queueJob, readQueueJob } from '../merge-queue/wake.ts';
import { type QueuePlace, type QueuePorts, workOnQueue } from '../merge-queue/work.ts';
import { createWriteBudget, type WriteBudget } from '../merge-queue/write-budget.ts';
import { eventlessOf, storedEvent } from './route-delivery.ts';
import { deliveryOrigin, findEventCause } from './run-attempt.ts';

const hourMs = 3_600_000;
/** Wait before a queue is looked at under the new name of its repository. */
const renamedMs = 1_000;
/** A row that polls is replaced when it is this old: rows have a lifetime. */
const renewedMs = 6 * hourMs;

type MergeQueueOptions = {
  readonly client: Client;
  readonly account: () => Promise<{ id: number }>;
  readonly admissions: Pick<Admissions, 'admit' | 'forget'>;
  readonly rules: Pick<RuleSource, 'rulesFor'>;
  readonly memory: FactMemory;
  readonly store: Store;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly settings: RunSettings;
  readonly consequences?: Consequences | undefined;
  readonly onEnqueued: () => void;
  /** Told of the record of each request that a queue sends. */
  readonly onWrite?: ((run: Run) => void) | undefined;
  /** Told of everything that happens in queues, once it is stored. */
  readonly onQueueEvent?: ((event: QueueEvent & QueuePlace) => void) | undefined;
  readonly log: Log;
};

/** Creates the handler of the jobs that work on merge queues. Jobs of one queue run one after the other. */
export function createMergeQueueHandler(options: MergeQueueOptions): HandleJob {
  const { store, clock } = options;
  const budget = createWriteBudget({ store, clock });
  return async (job, payload, lease) => {
    const { repository: claimed, base, number, pushed } = readQueueJob(payload);
    const admission = await admitQueue(claimed, job, { ...options, now: clock.now });
    if (admission.state === 'ignored') {
      const { id: repositoryId, owner, name } = claimed;
      const left = { repositoryId, base, repository: `${owner}/${name}` };
      await leaveUnserved(left, admission.reason, { ...options, now: clock.now });
      return { runs: [], reason: admission.reason };
    }
    const { repository } = admission.event;
    const place = { repositoryId: repository.id, base, repository: `${repository.owner}/${repository.name}` };
    const working = { ...options, job, event: admission.event, base, place, lease };
    const ports = await portsOf(working, budget);
    const { afterMs, why, isPaused } = await workOnQueue(place, ports, { number, pushed }).catch((error) => {
      if (!(error instanceof ReeveError) || error.code !== 'forge-moved') throw error;
      options.admissions.forget(repository.id);
      return { afterMs: renamedMs, why: 'the repository was renamed', isPaused: undefined };
    });
    if (afterMs === undefined) return { runs: [], reason: why };
    const ageMs = clock.now().getTime() - job.receivedAt.getTime();
    if (ageMs >= renewedMs) {
      await store.enqueue(queueJob(repository, base, { at: clock.now() }));
      options.onEnqueued();
      return { runs: [], reason: 'a new job goes on' };
    }
    return { runs: [], deferral: { afterMs, why, key: mergeQueueKind, ...(isPaused ? { isPaused } : {}) } };
  };
}

type QueueWorking = MergeQueueOptions & {
  readonly job: Delivery;
  readonly event: AdmittedEvent;
  readonly base: string;
  readonly place: QueuePlace;
  readonly lease: Lease;
};

async function portsOf(working: QueueWorking, budget: WriteBudget): Promise<QueuePorts> {
  const { store, clock, base, consequences, settings, log } = working;
  const { signal } = working.lease;
  const { repository } = working.event;
  const client = working.client.counted({ signal });
  const account = await working.account();
  const sending = {
    client,
    account,
    repository,
    base,
    consequences,
    onRefused: (write: { readonly kind: string; readonly number: number }, error: Error) =>
      log.warn(
        { repository: repository.name, pull: write.number, error: messageOf(error) },
        `a ${write.kind} of the merge queue was refused`,
      ),
  };
  const record = createRecord(working, client);
  const judge = async (entry: QueueEntry) => {
    const judged = await judgeEntry(entry, working);
    record.note(entry.rule, judged.verdict);
    return judged;
  };
  return {
    rows: store,
    now: clock.now,
    look: (state, about) => lookAtQueue({ client, account, repository, now: clock.now, judge }, state, about),
    async write(write) {
      await budget.note(repository.id);
      const sent = await sendQueueWrite(write, sending);
      if (sent) await record.keep(write.rule, (parts) => runOfWrite(write, sent, parts));
    },
    async attempt(action) {
      await budget.note(repository.id);
      const request = attemptRequest(action, sending);
      const keep = (error?: string): Promise<void> =>
        record.keep(action.attempt.rule, (parts) => runOfAttempt(action, { ...request, error }, parts));
      const answer = await sendQueueAttempt(action, sending).catch(async (error: unknown) => {
        await keep(`${messageOf(error)}; what became of it is seen at the next look`);
        throw error;
      });
      await keep(answer?.kind === 'refused' ? answer.why : undefined);
      return answer;
    },
    async onFound(action) {
      const request = { ...attemptRequest(action, sending), isFound: true };
      await record.keep(action.attempt.rule, (parts) => runOfAttempt(action, request, parts));
    },
    async onMisplaced(action, error) {
      const request = { ...attemptRequest(action, sending), error, isMisplaced: true };
      await record.keep(action.attempt.rule, (parts) => runOfAttempt(action, request, parts));
    },
    waitMs: () => budget.waitMs(repository.id),
    async held(rules) {
      const name = `${repository.owner}/${repository.name}`;
      const queue = { repositoryId: repository.id, repository: name };
      return findHeldRules(rules, (await settings.pauses?.()) ?? [], queue);
    },
    onEvent: working.onQueueEvent,
  };
}

/** Keeps the records of what is written, each with the last verdict of its rule. */
function createRecord({ lease, place, job, clock, onWrite }: QueueWorking, client: Client) {
  const verdicts = new Map<string, Verdict>();
  let before = { requests: client.requests, ms: clock.monotonicMs() };
  return {
    note(rule: string, verdict: Verdict | undefined): void {
      if (verdict) verdicts.set(rule, verdict);
    },
    async keep(
      rule: string | undefined,
      make: (parts: Parameters<typeof runOfWrite>[2]) => Run,
    ): Promise<void> {
      const now = { requests: client.requests, ms: clock.monotonicMs() };
      const run = make({
        place,
        delivery: job.id,
        at: clock.now(),
        verdict: verdicts.get(rule ?? ''),
        requests: now.requests - before.requests,
        ms: Math.round(now.ms - before.ms),
      });
      before = now;
      await lease.advance({ runs: [run], repositoryId: place.repositoryId, checkpoint: null });
      onWrite?.(run);
    },
  };
}

/** Evaluates the rule of an entry, for what it ran for when the pull request entered, and says whether it is still wanted. */
async function judgeEntry(
  entry: QueueEntry,
  working: QueueWorking,
): Promise<{
  readonly wanted: PullSeen['wanted'];
  readonly facts: MadeWithFacts['facts'];
  readonly verdict: Verdict | undefined;
}> {
  const made = await evaluateEntry(entry, working);
  if (made.retry) throw made.retry;
  const verdict = made.run.rules.find(({ rule }) => rule === entry.rule);
  return { wanted: wantedOf(entry, made), facts: made.facts, verdict };
}

function wantedOf({ number, rule }: QueueEntry, { run, awaiting }: MadeWithFacts): PullSeen['wanted'] {
  const isIt = ({ action, target }: { readonly action: string; readonly target: string }): boolean =>
    action === 'queue-merge' && target === `queue:#${number}`;
  const change = run.changes.find(isIt);
  const refusal = run.refused.find((one) => isIt(one.change));
  // The border to the action, which wrote this value.
  const value = change?.value as { readonly wish: QueueEntry['request'] } | undefined;
  if (value && !refusal) return { state: 'yes', request: value.wish };
  if (awaiting?.includes(rule)) return { state: 'checks' };
  const verdict = run.rules.find((one) => one.rule === rule);
  const why = refusal?.why ?? (verdict?.verdict === 'failed' ? verdict.reason : undefined);
  return { state: 'no', why: why ?? (verdict ? 'its conditions no longer hold' : 'its rule is gone') };
}

async function evaluateEntry(entry: QueueEntry, working: QueueWorking): Promise<MadeWithFacts> {
  const { store, clock, client, memory, settings, job } = working;
  const { signal } = working.lease;
  const { repository } = working.event;
  const subject = { kind: 'pull_request', repository, index: entry.number } as const;
  const delivery = entry.delivery === undefined ? undefined : await store.readDelivery(entry.delivery);
  const event = await findAdmitted(delivery, working);
  const force = await working.rules.rulesFor({ ...working.event, subject });
  const account = await working.account();
  const parts = {
    ...settings,
    // A rule that is evaluated here says whether it wants the pull request, not whether it has entered.
    queue: blankDesk,
    mode: 'plan',
    door: 'cron',
    delivery: job.id,
    rules: createRuleSet(force.rules.rules.filter(({ id }) => id === entry.rule)),
    facts: { client, memory, signal },
    account,
    memory: createStoredMemory(store),
    clock,
  } as const;
  const item = `${repository.owner}/${repository.name}#${entry.number}`;
  if (event === undefined || delivery === undefined)
    return makeItemRun({ key: item, subject, value: {}, kind: mergeQueueKind }, parts);
  const cause = await findEventCause(event, account, { ...working, signal });
  return makeEventRun({ ...event, subject }, { ...parts, item, cause, announcedBy: delivery.id });
}

/** Returns the event of a delivery, while it is kept; what came without one is evaluated for live state alone. */
async function findAdmitted(
  delivery: Awaited<ReturnType<Store['readDelivery']>>,
  { admissions }: QueueWorking,
): Promise<AdmittedEvent | undefined> {
  if (delivery?.door !== 'webhook') return undefined;
  const admission = await admissions.admit(deliveryOrigin(delivery), storedEvent(delivery));
  return admission.state === 'ignored' ? undefined : admission.event;
}

/**
 * Admits the job of a queue. A repository that the forge has denied for ten minutes counts as gone: nothing else would ever end
 * its queues.
 */
async function admitQueue(
  repository: RepositoryRef,
  job: Delivery,
  { admissions, now }: { readonly admissions: Pick<Admissions, 'admit'>; readonly now: () => Date },
): ReturnType<Admissions['admit']> {
  try {
    return await admissions.admit({}, eventlessOf(repository, 0, job.eventType));
  } catch (error) {
    const doubt = retryDenial(error, job, now());
    const isDenied = error instanceof ReeveError && (error.status === 403 || error.status === 404);
    if (!isDenied || doubt !== error) throw doubt;
    return { state: 'ignored', reason: `${repository.owner}/${repository.name} is gone: ${error.message}` };
  }
}

/** Lets all pull requests of a queue go whose repository is not served any more. Nothing is written there. */
async function leaveUnserved(
  place: QueuePlace,
  why: string,
  options: {
    readonly store: Pick<Store, 'readQueue' | 'saveQueue'>;
    readonly now: () => Date;
    readonly onQueueEvent?: ((event: QueueEvent & QueuePlace) => void) | undefined;
  },
): Promise<void> {
  const at = options.now();
  let events: readonly QueueEvent[] = [];
  const isChanged = await editQueue(options.store, place, (state) => {
    const edited = abandonQueue(why, at, place.base)(state);
    events = edited?.events ?? [];
    return edited;
  });
  if (isChanged) for (const event of events) options.onQueueEvent?.({ ...event, ...place });
}

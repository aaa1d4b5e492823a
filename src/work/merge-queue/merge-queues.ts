import { mergeQueueKind, type QueueDesk, type QueuePlaceOfPull } from '../../actions/queue-desk.ts';
import type { Client } from '../../client/client.ts';
import type { RepositoryRef } from '../../contract/events/subject.ts';
import type { AnyInput } from '../../contract/operation.ts';
import { makeEventRun, makeItemRun } from '../../engine/make-run.ts';
import type { Run } from '../../engine/record.ts';
import type { Ran } from '../../engine/run.ts';
import type { Facts } from '../../facts/fact.ts';
import { queueContext } from '../../facts/statuses.ts';
import { isDenied, messageOf, ReeveError } from '../../platform/errors.ts';
import { createRuleSet } from '../../rules/rule.ts';
import type { AdmittedEvent } from '../../rules/sources/admission.ts';
import { retryDenial } from '../../rules/sources/admission.ts';
import type { Verdict } from '../../rules/verdict.ts';
import type { HandleJob, Lease } from '../../store/leases.ts';
import type { QueueEvent, QueueRow } from '../../store/queue-rows.ts';
import type { Delivery, DeliveryWithBody, Store } from '../../store/store.ts';
import type { Reeve } from '../reeve.ts';
import { eventlessOf, storedEvent } from '../runs/route-delivery.ts';
import { deliveryOrigin, findOrigin } from '../runs/run-attempt.ts';
import {
  abandonQueue,
  editQueue,
  enterQueue,
  findBar,
  forgiveLeft,
  removeFromQueue,
  withdrawEntry,
} from './edits.ts';
import { lookAtQueue } from './look.ts';
import {
  attemptRequest,
  blankDesk,
  type QueueRunParts,
  runOfAttempt,
  runOfWrite,
  sendQueueAttempt,
  sendQueueWrite,
} from './send.ts';
import { type PullSeen, type QueueEntry, queueJob, queueStateOf, readQueueJob } from './state.ts';
import { findHeldRules } from './step.ts';
import { type QueuePlace, type QueuePorts, workOnQueue } from './work.ts';
import { createWriteBudget, type WriteBudget } from './write-budget.ts';

const hourMs = 3_600_000;
/** Delay until a queue is processed under the new name of its repository. */
const renamedMs = 1_000;
/** Age at which a polling row is replaced, because rows have a lifetime. */
const renewedMs = 6 * hourMs;

/** Parts of a bot that the desk of the queues needs. The desk is passed to rules before the rest of the bot exists. */
type DeskParts = {
  readonly store: Store;
  readonly now: () => Date;
  readonly wake: () => void;
  readonly onEvent: (event: QueueEvent & QueuePlace) => void;
};

/** Counts and logs an event of a queue: one line for each thing that happened to a pull request. */
export function reportQueueEvent(
  event: QueueEvent & QueuePlace,
  { metrics, log }: Pick<Reeve, 'metrics' | 'log'>,
): void {
  metrics.countQueueEvent(event);
  const { repository, base, number, kind, reason, by, text } = event;
  log.info({ repository, base, number, kind, reason, by }, `merge queue: ${text}`);
}

/** Creates the desk through which rules add pull requests to the queues of a store. */
export function createQueueDesk({ store, now, wake, onEvent }: DeskParts): QueueDesk {
  const placeOf = ({ repository: { id, owner, name }, base }: QueuePlaceOfPull): QueuePlace => ({
    repositoryId: id,
    base,
    repository: `${owner}/${name}`,
  });
  return {
    async find(pull) {
      const state = queueStateOf(await store.readQueue(placeOf(pull)));
      const entry = state.entries.find(({ number }) => number === pull.number);
      // A different head is a push, unless the queue itself is currently updating the pull request.
      const isUpdated = state.attempt?.kind === 'update' && state.attempt.number === pull.number;
      if (entry && (entry.head === pull.head || isUpdated)) return 'queued';
      const bar = findBar(state, pull);
      if (bar === undefined) return undefined;
      return { why: `it left the merge queue at ${bar.at} with this head, for ${bar.reason}` };
    },
    async enter(pull, request, { rule, delivery }) {
      const place = placeOf(pull);
      const { number, head } = pull;
      const at = now();
      const hasEntered = await editQueue(
        store,
        place,
        enterQueue({ number, head, rule, delivery, request }, at, pull.base),
      );
      if (!hasEntered) return async () => {};
      onEvent({ ...place, at, kind: 'entered', number, head, text: 'entered' });
      const { entries, outbox } = queueStateOf(await store.readQueue(place));
      // Other pull requests are processed when their turn comes.
      const next = entries.find(({ held }) => !held);
      if (next?.number === number || outbox.length > 0) {
        await store.enqueue(queueJob(pull.repository, pull.base, { at }));
        wake();
      }
      return async () => {
        await editQueue(store, place, withdrawEntry(number, head));
      };
    },
    async forgive(pull) {
      await editQueue(store, placeOf(pull), forgiveLeft(pull.number));
    },
  };
}

/** Merge queues of a bot. Wakes them and handles their jobs. */
export class MergeQueues {
  readonly #reeve: Reeve;
  readonly #budget: WriteBudget;

  constructor(reeve: Reeve) {
    this.#reeve = reeve;
    this.#budget = createWriteBudget(reeve);
  }

  /**
   * Wakes the queues that an event may affect. Our own events also count, except the queue's own statuses. Correctness
   * does not depend on this, because waiting queues are polled.
   */
  async wakeFor(event: AdmittedEvent): Promise<void> {
    const { store, account } = this.#reeve;
    const { repository, family, activity, subject, payload } = event;
    for (const row of await store.listQueues({ repositoryId: repository.id })) {
      const { entries } = queueStateOf(row);
      const [first] = entries;
      if (first === undefined) continue;
      const number = entries.find((entry) => entry.number === subject.index)?.number;
      const isOfFirst = payload.sha === first.head && payload.context !== queueContext;
      const isCheck = isOfFirst || family?.startsWith('workflow_') || family?.startsWith('action_run_');
      const isBase = family === 'push' && payload.ref === `refs/heads/${row.base}`;
      if (number === undefined && !isCheck && !isBase) continue;
      // A polled event names no account. The queue itself compares the head with the one that it knows.
      const isPolled = payload.polled_since !== undefined;
      const pushed =
        number !== undefined &&
        activity === 'synchronized' &&
        !isPolled &&
        event.sender?.id !== (await account()).id;
      await this.#wake(repository, row.base, { number, ...(pushed ? { pushed } : {}) });
    }
  }

  /** Wakes every queue with pending work. Called after a start. */
  async wakeAll(): Promise<void> {
    for (const row of await this.#reeve.store.listQueues()) {
      const { entries, outbox } = queueStateOf(row);
      if (entries.length + outbox.length > 0) await this.#wake(repositoryOfRow(row), row.base);
    }
  }

  /** Removes the pull requests that a reverted run added to queues. */
  async leaveReverted(run: Run): Promise<void> {
    const { store, clock } = this.#reeve;
    const applied = new Set(
      run.outcomes.filter(({ status }) => status === 'applied').map(({ change }) => change),
    );
    for (const { id, action, target, input } of run.changes) {
      if (action !== 'queue-merge' || !applied.has(id)) continue;
      const number = Number(target.slice('queue:#'.length));
      // Store boundary: the change was recorded from an input of the contract.
      const { owner, repo } = (input as AnyInput).params ?? {};
      for (const row of await store.listQueues()) {
        if (row.repository !== `${owner}/${repo}`) continue;
        const edit = removeFromQueue(number, { by: 'a revert', at: clock.now() });
        if (await editQueue(store, row, edit)) await this.#wake(repositoryOfRow(row), row.base, { number });
      }
    }
  }

  /** Handles a job of a queue. Jobs of the same queue run sequentially. */
  readonly handleJob: HandleJob = async (job, payload, lease) => {
    const { store, clock, wake, admissions } = this.#reeve;
    const { repository: claimed, base, number, pushed } = readQueueJob(payload);
    const admission = await this.#admit(claimed, job);
    if (admission.state === 'ignored') {
      const { id: repositoryId, owner, name } = claimed;
      await this.#abandon({ repositoryId, base, repository: `${owner}/${name}` }, admission.reason);
      return { runs: [], reason: admission.reason };
    }
    const { event } = admission;
    const { repository } = event;
    const place = { repositoryId: repository.id, base, repository: `${repository.owner}/${repository.name}` };
    const queue = new QueueAtWork(this.#reeve, this.#budget, { job, event, place, lease });
    const work = workOnQueue(place, await queue.ports(), { number, pushed });
    const { afterMs, why, isPaused } = await work.catch((error) => {
      if (!(error instanceof ReeveError) || error.code !== 'forge-moved') throw error;
      admissions.forget(repository.id);
      return { afterMs: renamedMs, why: 'the repository was renamed', isPaused: undefined };
    });
    if (afterMs === undefined) return { runs: [], reason: why };
    const ageMs = clock.now().getTime() - job.receivedAt.getTime();
    if (ageMs >= renewedMs) {
      await store.enqueue(queueJob(repository, base, { at: clock.now() }));
      wake();
      return { runs: [], reason: 'a new job continues' };
    }
    return { runs: [], deferral: { afterMs, why, key: mergeQueueKind, ...(isPaused ? { isPaused } : {}) } };
  };

  /**
   * Admits the job of a queue. A repository that the forge has denied for ten minutes counts as deleted; otherwise, its
   * queues would never end.
   */
  async #admit(repository: RepositoryRef, job: Delivery) {
    try {
      return await this.#reeve.admissions.admit({}, eventlessOf(repository, 0, job.eventType));
    } catch (error) {
      const doubt = retryDenial(error, job, this.#reeve.clock.now());
      if (!isDenied(error) || doubt !== error) throw doubt;
      const reason = `${repository.owner}/${repository.name} is gone: ${error.message}`;
      return { state: 'ignored' as const, reason };
    }
  }

  /** Removes all pull requests from a queue whose repository is no longer served, without a write to the forge. */
  async #abandon(place: QueuePlace, why: string): Promise<void> {
    const { store, clock } = this.#reeve;
    const at = clock.now();
    let events: readonly QueueEvent[] = [];
    const isChanged = await editQueue(store, place, (state) => {
      const edited = abandonQueue(why, at, place.base)(state);
      events = edited?.events ?? [];
      return edited;
    });
    if (isChanged) for (const event of events) reportQueueEvent({ ...event, ...place }, this.#reeve);
  }

  async #wake(
    repository: RepositoryRef,
    base: string,
    about: { readonly number?: number | undefined; readonly pushed?: true } = {},
  ): Promise<void> {
    const { store, clock, wake } = this.#reeve;
    await store.enqueue(queueJob(repository, base, { at: clock.now(), ...about }));
    wake();
  }
}

function repositoryOfRow({ repositoryId, repository }: QueueRow): RepositoryRef {
  const [owner = '', name = ''] = repository.split('/');
  return { id: repositoryId, owner, name };
}

/** A job of a queue, with its context. */
type QueueWork = {
  readonly job: Delivery;
  readonly event: AdmittedEvent;
  readonly place: QueuePlace;
  readonly lease: Lease;
};

/** A queue during a job. Evaluates rules, sends requests, and records each request. */
class QueueAtWork {
  readonly #reeve: Reeve;
  readonly #budget: WriteBudget;
  readonly #work: QueueWork;
  readonly #client: Client;
  /** The last verdict of each rule. */
  readonly #verdicts = new Map<string, Verdict>();
  /** Number of requests, and time, when the last record was made. */
  #before: { readonly requests: number; readonly ms: number };

  constructor(reeve: Reeve, budget: WriteBudget, work: QueueWork) {
    this.#reeve = reeve;
    this.#budget = budget;
    this.#work = work;
    this.#client = reeve.client.counted({ signal: work.lease.signal });
    this.#before = { requests: this.#client.requests, ms: reeve.clock.monotonicMs() };
  }

  async ports(): Promise<QueuePorts> {
    const { store, clock, consequences, pauses, log, metrics } = this.#reeve;
    const { event, place } = this.#work;
    const { repository } = event;
    const client = this.#client;
    const account = await this.#reeve.account();
    const sending = {
      client,
      account,
      repository,
      base: place.base,
      consequences,
      onRefused: (write: { readonly kind: string; readonly number: number }, error: Error) =>
        log.warn(
          { repository: repository.name, pull: write.number, error: messageOf(error) },
          `a ${write.kind} of the merge queue was refused`,
        ),
    };
    const now = (): Date => clock.now();
    const judge = (entry: QueueEntry) => this.#judge(entry);
    return {
      rows: store,
      now,
      look: (state, about) => lookAtQueue({ client, account, repository, now, judge }, state, about),
      write: async (write) => {
        await this.#budget.note(repository.id);
        const sent = await sendQueueWrite(write, sending);
        if (sent) await this.#keep(write.rule, (parts) => runOfWrite(write, sent, parts));
      },
      attempt: async (action) => {
        await this.#budget.note(repository.id);
        const request = attemptRequest(action, sending.repository);
        const keep = (error?: string): Promise<void> =>
          this.#keep(action.attempt.rule, (parts) => runOfAttempt(action, { ...request, error }, parts));
        const answer = await sendQueueAttempt(action, sending).catch(async (error: unknown) => {
          await keep(`${messageOf(error)}; the next look determines the result`);
          throw error;
        });
        await keep(answer?.kind === 'refused' ? answer.why : undefined);
        return answer;
      },
      onFound: async (action) => {
        const request = { ...attemptRequest(action, sending.repository), isFound: true };
        await this.#keep(action.attempt.rule, (parts) => runOfAttempt(action, request, parts));
      },
      onMisplaced: async (action, error) => {
        const request = { ...attemptRequest(action, sending.repository), error, isMisplaced: true };
        await this.#keep(action.attempt.rule, (parts) => runOfAttempt(action, request, parts));
      },
      waitMs: () => this.#budget.waitMs(repository.id),
      held: async (rules) => findHeldRules(rules, (await pauses?.()) ?? [], place),
      onEvent: (one) => reportQueueEvent(one, { metrics, log }),
    };
  }

  /** Records a write together with the last verdict of its rule. */
  async #keep(rule: string | undefined, make: (parts: QueueRunParts) => Run): Promise<void> {
    const { clock, metrics } = this.#reeve;
    const { job, place, lease } = this.#work;
    const now = { requests: this.#client.requests, ms: clock.monotonicMs() };
    const run = make({
      place,
      delivery: job.id,
      at: clock.now(),
      verdict: this.#verdicts.get(rule ?? ''),
      requests: now.requests - this.#before.requests,
      ms: Math.round(now.ms - this.#before.ms),
    });
    this.#before = now;
    await lease.advance({ runs: [run], repositoryId: place.repositoryId, checkpoint: null });
    metrics.countRun(run);
  }

  /**
   * Evaluates the rule of an entry, for the same trigger as when the pull request entered. Returns whether the pull
   * request is still wanted.
   */
  async #judge(entry: QueueEntry): Promise<{ readonly wanted: PullSeen['wanted']; readonly facts: Facts }> {
    const ran = await this.#evaluate(entry);
    if (ran.retry) throw ran.retry;
    const verdict = ran.run.rules.find(({ rule }) => rule === entry.rule);
    if (verdict) this.#verdicts.set(entry.rule, verdict);
    return { wanted: wantedOf(entry, ran), facts: ran.facts };
  }

  async #evaluate(entry: QueueEntry): Promise<Ran> {
    const { store, rules } = this.#reeve;
    const { job, lease, event: own } = this.#work;
    const { repository } = own;
    const { signal } = lease;
    const subject = { kind: 'pull_request', repository, index: entry.number } as const;
    const delivery = entry.delivery === undefined ? undefined : await store.readDelivery(entry.delivery);
    const event = await this.#admitted(delivery);
    const force = await rules.rulesFor({ ...own, subject });
    // This evaluation determines whether the rule wants the pull request, not whether the pull request is queued.
    const context = { ...this.#reeve, queue: blankDesk };
    const request = {
      mode: 'plan',
      door: 'cron',
      delivery: job.id,
      rules: createRuleSet(force.rules.rules.filter(({ id }) => id === entry.rule)),
      signal,
    } as const;
    const item = `${repository.owner}/${repository.name}#${entry.number}`;
    if (event === undefined || delivery === undefined)
      return makeItemRun({ key: item, subject, value: {}, kind: mergeQueueKind }, request, context);
    const origin = await findOrigin(event, delivery, this.#reeve, signal);
    const about = { ...request, ...origin, item, announcedBy: delivery.id };
    return makeEventRun({ ...event, subject }, about, context);
  }

  /**
   * Returns the event of a delivery that is still kept. An entry without a delivery is evaluated for live state only.
   */
  async #admitted(delivery: DeliveryWithBody | undefined): Promise<AdmittedEvent | undefined> {
    if (delivery?.door !== 'webhook') return undefined;
    const admission = await this.#reeve.admissions.admit(deliveryOrigin(delivery), storedEvent(delivery));
    return admission.state === 'ignored' ? undefined : admission.event;
  }
}

function wantedOf({ number, rule }: QueueEntry, { run, awaiting }: Ran): PullSeen['wanted'] {
  const isIt = ({ action, target }: { readonly action: string; readonly target: string }): boolean =>
    action === 'queue-merge' && target === `queue:#${number}`;
  const change = run.changes.find(isIt);
  const refusal = run.refused.find((one) => isIt(one.change));
  // Boundary to the action, which wrote this value.
  const value = change?.value as { readonly wish: QueueEntry['request'] } | undefined;
  if (value && !refusal) return { state: 'yes', request: value.wish };
  if (awaiting?.includes(rule)) return { state: 'checks' };
  const verdict = run.rules.find((one) => one.rule === rule);
  const why = refusal?.why ?? (verdict?.verdict === 'failed' ? verdict.reason : undefined);
  return { state: 'no', why: why ?? (verdict ? 'its conditions no longer hold' : 'its rule is gone') };
}

import type { Client } from '../client/client.ts';
import type { Clock } from '../clock.ts';
import type { Consequences } from '../engine/bounds/consequences.ts';
import { isOfRepository } from '../engine/bounds/pauses.ts';
import { type MadeWithFacts, makeEventRun, makeItemRun, type RunSettings } from '../engine/make-run.ts';
import { messageOf } from '../errors.ts';
import type { FactMemory } from '../facts/fact.ts';
import type { Log } from '../log.ts';
import { lookAtQueue } from '../queue/look.ts';
import { blankDesk, ruleOfEntry, sendQueueAttempt, sendQueueWrite } from '../queue/send.ts';
import { type PullSeen, type QueueEntry, queueStateOf } from '../queue/state.ts';
import { mergeQueueKind, queueJob, readQueueJob } from '../queue/wake.ts';
import { type QueuePlace, type QueuePorts, workOnQueue } from '../queue/work.ts';
import { createRuleSet } from '../rules/rule-set.ts';
import type { Admissions, AdmittedEvent } from '../sources/admission.ts';
import type { RuleSource } from '../sources/rule-source.ts';
import { createStoredMemory } from '../store/action-memory.ts';
import type { HandleJob } from '../store/lease.ts';
import type { QueueEvent } from '../store/queue-rows.ts';
import type { Delivery, Store } from '../store/store.ts';
import { deliveryOrigin, findEventCause } from './run-attempt.ts';
import { eventlessOf, storedEvent } from './stored-event.ts';

/** Writes of the queues of one repository in an hour: their own budget, beside that of rules. */
const writesPerHour = 2_000;
const hourMs = 3_600_000;
const pausedMs = 60_000;
/** A row that polls is replaced when it is this old: rows have a lifetime. */
const renewedMs = 6 * hourMs;

type MergeQueueOptions = {
  readonly client: Client;
  readonly account: () => Promise<{ id: number }>;
  readonly admissions: Pick<Admissions, 'admit'>;
  readonly rules: Pick<RuleSource, 'rulesFor'>;
  readonly memory: FactMemory;
  readonly store: Store;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly settings: RunSettings;
  readonly consequences?: Consequences | undefined;
  readonly onEnqueued: () => void;
  /** Told of everything that happens in queues, once it is stored. */
  readonly onQueueEvent?: ((event: QueueEvent & QueuePlace) => void) | undefined;
  readonly log: Log;
};

/** Creates the handler of the jobs that work on merge queues. Jobs of one queue run one after the other. */
export function createMergeQueueHandler(options: MergeQueueOptions): HandleJob {
  const { store, clock } = options;
  const budget = createWriteBudget(clock);
  return async (job, payload, lease) => {
    const { repository: claimed, base, number, pushed } = readQueueJob(payload);
    const admission = await options.admissions.admit({}, eventlessOf(claimed, number ?? 0, mergeQueueKind));
    if (admission.state === 'ignored') return { runs: [], reason: admission.reason };
    const { repository } = admission.event;
    const place = { repositoryId: repository.id, base, repository: `${repository.owner}/${repository.name}` };
    const working = { ...options, job, event: admission.event, base, signal: lease.signal };
    const ports = await portsOf(working, budget);
    const { afterMs, why } = await workOnQueue(place, ports, { number, pushed });
    if (afterMs === undefined) return { runs: [], reason: why };
    const ageMs = clock.now().getTime() - job.receivedAt.getTime();
    if (ageMs >= renewedMs) {
      await store.enqueue(queueJob(repository, base, { at: clock.now() }));
      options.onEnqueued();
      return { runs: [], reason: 'a new job goes on' };
    }
    return { runs: [], deferral: { afterMs, why, key: mergeQueueKind } };
  };
}

type QueueWorking = MergeQueueOptions & {
  readonly job: Delivery;
  readonly event: AdmittedEvent;
  readonly base: string;
  readonly signal: AbortSignal;
};

type WriteBudget = { waitMs(repositoryId: number): number; note(repositoryId: number): void };

async function portsOf(working: QueueWorking, budget: WriteBudget): Promise<QueuePorts> {
  const { store, clock, base, signal, consequences, settings, log } = working;
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
  const judge = (entry: QueueEntry) => judgeEntry(entry, working);
  return {
    rows: store,
    now: clock.now,
    look: (state, about) => lookAtQueue({ client, account, repository, now: clock.now, judge }, state, about),
    async write(write) {
      budget.note(repository.id);
      await sendQueueWrite(write, sending);
    },
    async attempt(action) {
      budget.note(repository.id);
      const row = await store.readQueue({ repositoryId: repository.id, base });
      const rule = ruleOfEntry(queueStateOf(row), action.attempt.number);
      return sendQueueAttempt(action, rule, sending);
    },
    async waitMs() {
      const name = `${repository.owner}/${repository.name}`;
      const isPaused = ((await settings.pauses?.()) ?? []).some(
        ({ scope }) => scope.kind === 'all' || isOfRepository(scope, { name, id: repository.id }),
      );
      return isPaused ? pausedMs : budget.waitMs(repository.id);
    },
    onEvent: working.onQueueEvent,
  };
}

/** Evaluates the rule of an entry, for what it ran for when the pull request entered, and says whether it is still wanted. */
async function judgeEntry(
  entry: QueueEntry,
  working: QueueWorking,
): Promise<{ readonly wanted: PullSeen['wanted']; readonly facts: MadeWithFacts['facts'] }> {
  const made = await evaluateEntry(entry, working);
  if (made.retry) throw made.retry;
  return { wanted: wantedOf(entry, made), facts: made.facts };
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
  const { store, clock, client, memory, signal, settings, job } = working;
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

/** Counts writes of the last hour, by repository. What was written before a restart does not count. */
function createWriteBudget({ monotonicMs }: Pick<Clock, 'monotonicMs'>): WriteBudget {
  const written = new Map<number, number[]>();
  return {
    waitMs(repositoryId) {
      const times = written.get(repositoryId) ?? [];
      const from = monotonicMs() - hourMs;
      while ((times[0] ?? from + 1) <= from) times.shift();
      if (times.length === 0) written.delete(repositoryId);
      return times.length < writesPerHour ? 0 : (times[0] ?? 0) - from;
    },
    note(repositoryId) {
      const times = written.get(repositoryId) ?? [];
      times.push(monotonicMs());
      written.set(repositoryId, times);
    },
  };
}

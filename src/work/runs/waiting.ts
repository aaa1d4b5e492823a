import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Client } from '../../client/client.ts';
import type { Event } from '../../contract/events/events.ts';
import type { Subject } from '../../contract/events/subject.ts';
import { standardDeliveryLifetimeMs } from '../../engine/limits.ts';
import { type MadeRun, makeItemRun, type RunSettings } from '../../engine/make-run.ts';
import type { Run } from '../../engine/record.ts';
import type { Ran } from '../../engine/run.ts';
import type { FactMemory } from '../../facts/fact.ts';
import { BoundedMap } from '../../platform/cache/bounded-map.ts';
import type { Clock } from '../../platform/clock.ts';
import { createRuleSet } from '../../rules/rule.ts';
import type { Admissions, AdmittedEvent } from '../../rules/sources/admission.ts';
import type { RuleSource } from '../../rules/sources/rule-source.ts';
import { createStoredMemory } from '../../store/action-memory.ts';
import type { HandleJob } from '../../store/leases.ts';
import type { Delivery, Store } from '../../store/store.ts';
import { readResistance } from './resistance.ts';
import { eventlessOf, storedEvent } from './route-delivery.ts';
import { deliveryOrigin, type RunAttempt } from './run-attempt.ts';

/**
 * Rules whose merge waits for checks or for `mergeable` alone: not every forge sends events of these; and rules that failed to protect
 * a pull request, which is not merged until they do. Such a pull request
 * leaves a waiting row, a job that evaluates the rules again after 10 s, 30 s, and then every minute, until they no longer
 * wait. The row survives a restart, and a later row about the same pull request and rules takes its place. A change that the
 * forge refuses for no reason that it shows is tried a few times only, at a distance that doubles (`resistance.ts`).
 */
export const waitingKind = 'waiting';

const WaitingJob = z.object({
  repository: z.object({ id: z.number(), owner: z.string(), name: z.string() }),
  index: z.number(),
  rules: z.array(z.string()).readonly(),
  /** The delivery whose event the rules are evaluated for; absent if they are evaluated for live state alone. */
  delivery: z.string().optional(),
});

/** A run that may have left rules waiting: what it is about, its job or delivery, and the delivery of its event. */
type Waiter = {
  readonly subject: Subject;
  readonly job: Pick<Delivery, 'id'>;
  readonly delivery?: string | undefined;
};

/** Stores a waiting row if a run has rules that wait. */
export type LeaveWaiting = (ran: Pick<Ran, 'awaiting' | 'unprotected'>, waiter: Waiter) => Promise<void>;

/** Creates the function that stores waiting rows. */
export function createLeaveWaiting(options: {
  readonly store: Pick<Store, 'enqueue'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly onEnqueued: () => void;
}): LeaveWaiting {
  const { store, clock, onEnqueued } = options;
  return async ({ awaiting = [], unprotected = [] }, { subject, job, delivery }) => {
    const { kind, repository, index } = subject;
    const rules = [...new Set([...awaiting, ...unprotected])].sort();
    if (rules.length === 0 || kind !== 'pull_request' || repository === undefined || index === undefined)
      return;
    await store.enqueue({
      door: 'cron',
      uuid: `${waitingKind}#${job.id}#${repository.id}#${index}`,
      kind: waitingKind,
      lane: `${repository.id}#${index}`,
      receivedAt: clock.now(),
      payload: {
        repository,
        index,
        rules,
        ...(delivery === undefined ? {} : { delivery }),
      } satisfies z.input<typeof WaitingJob>,
    });
    onEnqueued();
  };
}

/** Ages of a row at which it is looked at for the first times; then every minute. */
const firstAgesMs = [10_000, 40_000];
const everyMs = 60_000;
/** Time between two looks of all rows together: each costs a few requests. */
const paceMs = 500;
const maxRows = 20_000;

type WaitingOptions = {
  readonly client: Client;
  readonly account: () => Promise<{ id: number }>;
  readonly admissions: Pick<Admissions, 'admit'>;
  readonly rules: Pick<RuleSource, 'rulesFor'>;
  readonly memory: FactMemory;
  readonly store: Pick<Store, 'readDelivery' | 'remember' | 'recall' | 'revise'>;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly settings?: RunSettings;
  readonly lifetimeMs?: number | undefined;
  readonly attempt: RunAttempt;
  /** Told of every run without an event. */
  readonly onRun?: (run: Run, event: Event) => void;
};

/** Creates the handler of waiting rows. A row ends when its rules no longer wait, are gone, or its lifetime ends. */
export function createWaitingHandler(options: WaitingOptions): HandleJob {
  const { clock, lifetimeMs = standardDeliveryLifetimeMs } = options;
  const pace = createPace();
  return async (job, payload, lease) => {
    const asked = WaitingJob.parse(payload);
    const key = `${waitingKind} ${createHash('sha256').update(asked.rules.join('\n')).digest('hex').slice(0, 16)}`;
    const why = `waits for checks of ${asked.repository.owner}/${asked.repository.name}#${asked.index}`;
    const ageMs = Math.max(clock.now().getTime() - (job.redrivenAt ?? job.receivedAt).getTime(), 0);
    const [firstAgeMs = 0] = firstAgesMs;
    if (ageMs < firstAgeMs) return { runs: [], deferral: { afterMs: firstAgeMs - ageMs, why, key } };
    const resistance = await readResistance(job.id, asked.rules, options);
    if (resistance.due.length === 0) return { runs: [], deferral: { afterMs: resistance.nextMs, why, key } };
    const turnMs = pace(job.id, clock.monotonicMs());
    if (turnMs > 0) return { runs: [], deferral: { afterMs: turnMs, why, key } };
    const ran = await look({ ...asked, rules: resistance.due }, { ...options, job, signal: lease.signal });
    if (typeof ran === 'string') return { runs: [], reason: ran };
    if (ran.retry) throw ran.retry;
    if (ran.deferral) return { runs: isTelling(ran.run) ? [ran.run] : [], deferral: ran.deferral };
    const { run, left, givenUp, nextMs: resistedMs } = await resistance.note(ran);
    const runs = isTelling(run) ? [run] : [];
    const isOver = ageMs + everyMs >= lifetimeMs;
    if (left.length === 0 || isOver) await resistance.forget();
    if (left.length === 0)
      return {
        runs,
        reason: givenUp.length > 0 ? 'the forge keeps refusing its changes' : 'its rules no longer wait',
      };
    if (isOver) return { runs, reason: 'it has waited for its whole lifetime' };
    const regularMs = (firstAgesMs.find((one) => one > ageMs) ?? ageMs + everyMs) - ageMs;
    return { runs, deferral: { afterMs: Math.max(regularMs, resistedMs), why, key } };
  };
}

/** Evaluates the rules of a row again; returns why there is nothing to evaluate. */
async function look(
  { repository, index, rules: ids, delivery: id }: z.output<typeof WaitingJob>,
  options: WaitingOptions & { readonly job: Delivery; readonly signal: AbortSignal },
): Promise<MadeRun | string> {
  const { admissions, job, signal } = options;
  const delivery = id === undefined ? undefined : await options.store.readDelivery(id);
  if (id !== undefined && delivery === undefined) return `delivery ${id} is not kept any more`;
  const claimed =
    delivery === undefined ? eventlessOf(repository, index, waitingKind) : storedEvent(delivery);
  const admission = await admissions.admit(delivery === undefined ? {} : deliveryOrigin(delivery), claimed);
  if (admission.state === 'ignored') return admission.reason;
  const subject = { ...admission.event.subject, kind: 'pull_request', index } as const;
  const event: AdmittedEvent = { ...admission.event, subject };
  const force = await options.rules.rulesFor(event);
  const rules = createRuleSet(force.rules.rules.filter((rule) => ids.includes(rule.id)));
  if (rules.rules.length === 0) return 'its rules are gone';
  const item = `${event.repository.owner}/${event.repository.name}#${index}`;
  if (delivery !== undefined) {
    const about = { ...job, repeatOf: delivery.repeatOf };
    return options.attempt(about, event, { rules, broken: [], signal, item, announcedBy: delivery.id });
  }
  const ran = await makeItemRun(
    { key: item, subject, value: {}, kind: waitingKind },
    {
      ...options.settings,
      mode: 'enforce',
      door: 'cron',
      delivery: job.id,
      rules,
      facts: { client: options.client, memory: options.memory, signal },
      account: await options.account(),
      memory: createStoredMemory(options.store),
      clock: options.clock,
    },
  );
  options.onRun?.(ran.run, event);
  return ran;
}

/** Returns whether something happened in a run: others are not kept where there are many. */
export function isTelling({ outcomes, rules }: Run): boolean {
  return outcomes.length > 0 || rules.some(({ verdict }) => verdict === 'failed');
}

/** Returns a function that says how long a row has to wait for its turn: rows take turns, in the order in which they ask. */
function createPace(): (row: string, nowMs: number) => number {
  const turns = new BoundedMap<string, number>(maxRows);
  let nextMs = Number.NEGATIVE_INFINITY;
  return (row, nowMs) => {
    const turn = turns.get(row) ?? Math.max(nextMs, nowMs);
    if (turn <= nowMs) {
      if (!turns.delete(row)) nextMs = turn + paceMs;
      return 0;
    }
    if (!turns.has(row)) {
      turns.set(row, turn);
      nextMs = turn + paceMs;
    }
    return turn - nowMs;
  };
}

import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Subject } from '../../contract/events/subject.ts';
import { makeItemRun } from '../../engine/make-run.ts';
import type { Run } from '../../engine/record.ts';
import type { Ran } from '../../engine/run.ts';
import { BoundedMap } from '../../platform/cache/bounded-map.ts';
import { createRuleSet } from '../../rules/rule.ts';
import type { AdmittedEvent } from '../../rules/sources/admission.ts';
import type { HandleJob } from '../../store/leases.ts';
import type { Delivery } from '../../store/store.ts';
import type { Reeve } from '../reeve.ts';
import { eventlessOf, storedEvent } from './route-delivery.ts';
import { deliveryOrigin, type RunAttempt } from './run-attempt.ts';

/**
 * Kind of the job for a pull request with rules that wait. Either their merge waits only for checks or for `mergeable`,
 * for which not every forge sends events; or they failed to protect the pull request, which is not merged until they
 * succeed. The job, a waiting row, evaluates the rules again after 10 s, after 40 s, and then every minute, until they
 * no longer wait. The row survives a restart, and a later row for the same pull request and rules replaces it. A change
 * that the forge refuses without showing a reason is retried only a few times, with a doubling delay
 * (`readResistance`).
 */
export const waitingKind = 'waiting';

const WaitingJob = z.object({
  repository: z.object({ id: z.number(), owner: z.string(), name: z.string() }),
  index: z.number(),
  rules: z.array(z.string()).readonly(),
  /** Delivery for whose event the rules are evaluated; absent if they are evaluated for live state only. */
  delivery: z.string().optional(),
});

/** A run that may have left rules waiting: its subject, its job or delivery, and the delivery of its event. */
type Waiter = {
  readonly subject: Subject;
  readonly job: { readonly id: string };
  readonly delivery?: string | undefined;
};

/** Stores a waiting row if a run has rules that wait. */
export type LeaveWaiting = (ran: Ran, waiter: Waiter) => Promise<void>;

/** Creates the function that stores waiting rows. */
export function createLeaveWaiting({ store, clock, wake }: Reeve): LeaveWaiting {
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
    wake();
  };
}

/** Ages of a row at which its first polls happen. Later polls happen every minute. */
const firstAgesMs = [10_000, 40_000];
const everyMs = 60_000;
/** Minimum interval between the polls of all rows together, because each poll costs a few requests. */
const paceMs = 500;
const maxRows = 20_000;

/**
 * Creates the handler of waiting rows. A row ends when its rules no longer wait or no longer exist, or when its
 * lifetime ends.
 */
export function createWaitingHandler(reeve: Reeve, attempt: RunAttempt): HandleJob {
  const { clock, lifetimeMs } = reeve;
  const pace = createPace();
  return async (job, payload, lease) => {
    const asked = WaitingJob.parse(payload);
    const key = `${waitingKind} ${createHash('sha256').update(asked.rules.join('\n')).digest('hex').slice(0, 16)}`;
    const why = `waits for checks of ${asked.repository.owner}/${asked.repository.name}#${asked.index}`;
    const ageMs = Math.max(clock.now().getTime() - (job.redrivenAt ?? job.receivedAt).getTime(), 0);
    const [firstAgeMs = 0] = firstAgesMs;
    if (ageMs < firstAgeMs) return { runs: [], deferral: { afterMs: firstAgeMs - ageMs, why, key } };
    const resistance = await readResistance(job.id, asked.rules, reeve);
    if (resistance.due.length === 0) return { runs: [], deferral: { afterMs: resistance.nextMs, why, key } };
    const turnMs = pace(job.id, clock.monotonicMs());
    if (turnMs > 0) return { runs: [], deferral: { afterMs: turnMs, why, key } };
    const look = { ...asked, rules: resistance.due, job, signal: lease.signal };
    const ran = await lookAtRow(look, reeve, attempt);
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

/** Evaluates the rules of a row again, or returns why there is nothing to evaluate. */
async function lookAtRow(
  {
    repository,
    index,
    rules: ids,
    delivery: id,
    job,
    signal,
  }: z.output<typeof WaitingJob> & { readonly job: Delivery; readonly signal: AbortSignal },
  reeve: Reeve,
  attempt: RunAttempt,
): Promise<Ran | string> {
  const delivery = id === undefined ? undefined : await reeve.store.readDelivery(id);
  if (id !== undefined && delivery === undefined) return `delivery ${id} is no longer kept`;
  const claimed =
    delivery === undefined ? eventlessOf(repository, index, waitingKind) : storedEvent(delivery);
  const origin = delivery === undefined ? {} : deliveryOrigin(delivery);
  const admission = await reeve.admissions.admit(origin, claimed);
  if (admission.state === 'ignored') return admission.reason;
  const subject = { ...admission.event.subject, kind: 'pull_request', index } as const;
  const event: AdmittedEvent = { ...admission.event, subject };
  const force = await reeve.rules.rulesFor(event);
  const rules = createRuleSet(force.rules.rules.filter((rule) => ids.includes(rule.id)));
  if (rules.rules.length === 0) return 'its rules are gone';
  const item = `${event.repository.owner}/${event.repository.name}#${index}`;
  if (delivery !== undefined) {
    const about = { ...job, repeatOf: delivery.repeatOf };
    return attempt(about, event, { rules, broken: [], signal, item, announcedBy: delivery.id });
  }
  const ran = await makeItemRun(
    { key: item, subject, value: {}, kind: waitingKind },
    { mode: 'enforce', door: 'cron', delivery: job.id, rules, signal },
    reeve,
  );
  reeve.metrics.countRun(ran.run, event);
  return ran;
}

/** Returns whether a run has a result. Runs without one are not kept where there are many. */
export function isTelling({ outcomes, rules }: Run): boolean {
  return outcomes.length > 0 || rules.some(({ verdict }) => verdict === 'failed');
}

/**
 * Returns a function that returns the time until a row may be polled. Rows are polled in turn, in the order in which
 * they asked.
 */
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

/** Key prefix under which the store keeps the refusals of waiting rows. Each value has an instant `at`. */
export const resistancePrefix = 'waiting refused ';

/**
 * Maximum number of refusals (409) of a change for which the forge shows no reason; it would show a conflict within
 * seconds. Other reasons persist until a user acts, which causes an event with a row of its own.
 */
const maxRefusals = 6;
/** Delay after the first refusal. It doubles with each further refusal. */
const firstWaitMs = 30_000;

/**
 * Longest delay for a rule that has to protect its subject. Such a rule is retried during the whole lifetime of its
 * row.
 */
const longestWaitMs = 3_600_000;

/**
 * Refusals by rule: their number, and the time of the next try. `lasts`: retried regardless of the number of refusals.
 */
type Refusals = Readonly<
  Record<string, { readonly count: number; readonly next: string; readonly lasts?: true }>
>;
type StoredRefusals = { readonly at: string; readonly refusals: Refusals };

/**
 * A recorded poll: the rules that still wait, the time until one of them may be tried, and the rules that are not tried
 * again.
 */
type NotedLook = {
  readonly left: readonly string[];
  readonly nextMs: number;
  readonly givenUp: readonly string[];
  /** The run, in which the changes that were given up are marked. */
  readonly run: Run;
};

/** Refusals by the forge, for the rules of one waiting row. */
type Resistance = {
  /** Rules to evaluate now. */
  readonly due: readonly string[];
  /** Time until the next rule is due. */
  readonly nextMs: number;
  /** Records the result of a poll. */
  readonly note: (ran: Ran) => Promise<NotedLook>;
  /** Deletes the stored refusals. Called at the end of the row. */
  readonly forget: () => Promise<void>;
};

/** Reads the refusals of a row, which survive a restart. */
async function readResistance(
  row: string,
  rules: readonly string[],
  { store, clock }: Reeve,
): Promise<Resistance> {
  const key = `${resistancePrefix}${row}`;
  // The value was stored by the function below.
  const { refusals: known = {} } = ((await store.recall(key)) ?? {}) as Partial<StoredRefusals>;
  const now = clock.now();
  let isStored = Object.keys(known).length > 0;
  const isGivenUp = (rule: string, refusals: Refusals): boolean =>
    (refusals[rule]?.count ?? 0) >= maxRefusals && !refusals[rule]?.lasts;
  const open = rules.filter((rule) => !isGivenUp(rule, known));
  const waitOf = (rule: string, refusals: Refusals): number =>
    Math.max(Date.parse(refusals[rule]?.next ?? now.toISOString()) - now.getTime(), 0);
  const nextMsOf = (some: readonly string[], refusals: Refusals): number =>
    some.length === 0 ? 0 : Math.min(...some.map((rule) => waitOf(rule, refusals)));
  const due = open.filter((rule) => waitOf(rule, known) === 0);
  return {
    due,
    nextMs: nextMsOf(open, known),
    async note({ awaiting = [], resisted = [], unprotected = [], run }) {
      const refusals: Record<string, Refusals[string]> = { ...known };
      const refused = [...new Set([...resisted, ...unprotected])].filter((rule) => due.includes(rule));
      for (const rule of refused) {
        const count = (known[rule]?.count ?? 0) + 1;
        const waitMs = Math.min(firstWaitMs * 2 ** (count - 1), longestWaitMs);
        const next = new Date(now.getTime() + waitMs).toISOString();
        refusals[rule] = { count, next, ...(unprotected.includes(rule) ? { lasts: true } : {}) };
      }
      if (refused.length > 0) {
        await store.remember(key, { at: now.toISOString(), refusals } satisfies StoredRefusals);
        isStored = true;
      }
      const givenUp = refused.filter((rule) => isGivenUp(rule, refusals));
      const waiting = [...awaiting, ...unprotected];
      const left = open.filter(
        (rule) => !givenUp.includes(rule) && (!due.includes(rule) || waiting.includes(rule)),
      );
      return { left, givenUp, nextMs: nextMsOf(left, refusals), run: withGivenUp(run, givenUp) };
    },
    async forget() {
      if (isStored) await store.remember(key, undefined);
    },
  };
}

/** Returns the run with the failed changes of these rules marked as not retried. */
function withGivenUp(run: Run, rules: readonly string[]): Run {
  if (rules.length === 0) return run;
  const ids = new Set(
    run.changes.filter((change) => change.rules.some((rule) => rules.includes(rule))).map(({ id }) => id),
  );
  const why = `refused ${maxRefusals} times: not tried again before the next event about the pull request`;
  return {
    ...run,
    outcomes: run.outcomes.map((outcome) =>
      outcome.status === 'failed' && ids.has(outcome.change)
        ? { ...outcome, error: [outcome.error, why].filter(Boolean).join('; ') }
        : outcome,
    ),
  };
}

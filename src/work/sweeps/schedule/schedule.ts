import { messageOf } from '../../../platform/errors.ts';
import type { LoadedRule, Schedule } from '../../../rules/rule.ts';
import type { DeliveryState, Store } from '../../../store/store.ts';
import type { Reeve } from '../../reeve.ts';
import { type Cron, createCron } from './cron.ts';

/** A rule or maintenance job, with one of its schedules. */
type RuleSchedule = { readonly id: string; readonly schedule: Schedule };

/** A recurring job: a scheduled rule, or a maintenance job. */
export type Scheduled = {
  /** Identity that survives restarts: the rule's id, or the name of the maintenance job. */
  readonly id: string;
  readonly schedule: Schedule;
  /** Kind of the job that is stored for a slot. */
  readonly kind: string;
  /** Plain data that is passed to the job together with its slot. */
  readonly payload: Readonly<Record<string, unknown>>;
};

/** State of one schedule. Instants are RFC 3339. */
export type ScheduleState = {
  /** Instant up to which slots have been processed. */
  readonly lookedAt: string;
  readonly lastSlot?: string;
  /** Id of the last slot's job in the store. */
  readonly job?: string;
  /** Number of slots skipped because the previous one was still running. */
  readonly overlaps: number;
  /** Number of slots that passed while Reeve was stopped. The last of them did run. */
  readonly missed: number;
};

/** States of a job that do not block the next slot. */
const atRest: ReadonlySet<DeliveryState> = new Set(['settled', 'dead', 'deferred']);

/** Returns the identity of a slot: the schedule's id, its cron fields, and the instant. */
function slotOf({ id, schedule }: RuleSchedule, at: Date): string {
  return `${keyOfSchedule({ id, schedule })}@${at.toISOString()}`;
}

/** Returns the key of a schedule's state. */
export function keyOfSchedule({ id, schedule }: RuleSchedule): string {
  return `${id}#${schedule.cron}`;
}

/** Key under which the store keeps the states of all schedules. */
const scheduleKey = 'schedules';

/** Interval at which the clock is read. */
const lookMs = 1_000;

/**
 * State of the schedules while this process is the leader. Another leader may have updated the stored state since an
 * earlier term.
 */
type Term = {
  readonly states: Map<string, ScheduleState>;
  /** Instants up to which this process has checked, so that nothing is written if nothing is due. */
  readonly cursors: Map<string, Date>;
  /** Time of the last check. */
  lookedAt?: Date;
};

/** A schedule that a check finds for the first time was added at most this long before, if there was a check before. */
const betweenChecksMs = 60_000;

/**
 * Enqueues due slots as jobs in the store, each slot once. If processes share a store, only the leader does so.
 * `entries` is called at each check, so that new rules take effect at once.
 */
export class Scheduler {
  readonly #reeve: Reeve;
  readonly #entries: () => Promise<readonly Scheduled[]>;
  readonly #crons = new Map<string, Cron>();
  #term: Term | undefined;
  #looking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lookedAtMinute: number | undefined;

  constructor(reeve: Reeve, entries: () => Promise<readonly Scheduled[]>) {
    this.#reeve = reeve;
    this.#entries = entries;
  }

  /** Checks once a second whether the clock shows a different minute, and if so enqueues what is due, until stopped. */
  start(): void {
    if (this.#timer) return;
    // A plain interval, because a wait computed from the wall clock would last for hours after the clock is set back.
    this.#timer = setInterval(() => this.#lookEachMinute(), lookMs).unref();
    this.#lookEachMinute();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#looking?.catch(() => {}); // The caller that awaited it got the error.
  }

  /** Returns the state of each schedule, by `id#cron`. */
  status(): Promise<ReadonlyMap<string, ScheduleState>> {
    return loadStates(this.#reeve.store);
  }

  /** Enqueues the slots that became due since the last check. A clock that was set back repeats no slot. */
  async tick(now: Date): Promise<void> {
    // Sequential, because two concurrent checks would both find that the previous slot's job is at rest.
    while (this.#looking) await this.#looking;
    this.#looking = this.#lookAtAll(now).finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
  }

  /** Checks the schedules if the minute differs from that of the last check, in either direction. */
  #lookEachMinute(): void {
    const { store, clock, log } = this.#reeve;
    // A process that becomes the leader checks at once.
    if (!store.isLeader()) {
      this.#lookedAtMinute = undefined;
      this.#term = undefined;
      return;
    }
    const minute = Math.floor(clock.now().getTime() / 60_000);
    if (minute === this.#lookedAtMinute) return;
    this.#lookedAtMinute = minute;
    this.tick(clock.now()).catch((error: unknown) => {
      // The next check, a minute later, also finds the slots that this one left.
      log.error({ error: messageOf(error) }, 'the scheduler cannot use its store');
    });
  }

  async #lookAtAll(now: Date): Promise<void> {
    const { store } = this.#reeve;
    if (!store.isLeader()) {
      this.#term = undefined;
      return;
    }
    this.#term ??= { states: await loadStates(store), cursors: new Map() };
    const term = this.#term;
    const changed: Record<string, ScheduleState> = {};
    for (const entry of await this.#entries()) {
      const key = keyOfSchedule(entry);
      const before = term.states.get(key);
      const after = await this.#enqueueDue(entry, before, now, term);
      if (after === before) continue;
      term.states.set(key, after);
      changed[key] = after;
    }
    term.lookedAt = now;
    if (Object.keys(changed).length === 0) return;
    await store.revise(scheduleKey, (kept) => ({ ...statesIn(kept), ...changed }));
  }

  /** Enqueues the due slot of a schedule and returns the new state, or the same state if nothing was due. */
  async #enqueueDue(
    entry: Scheduled,
    known: ScheduleState | undefined,
    now: Date,
    { cursors, lookedAt }: Term,
  ): Promise<ScheduleState> {
    const { store, log, wake } = this.#reeve;
    const at = now.toISOString();
    const state = known ?? { lookedAt: firstCheckOf(lookedAt, now).toISOString(), overlaps: 0, missed: 0 };
    const key = keyOfSchedule(entry);
    const since = cursors.get(key) ?? new Date(state.lookedAt);
    cursors.set(key, now);
    // The clock was set back: later slots become due again, and those that already ran are recognized.
    if (now < since) return at < state.lookedAt ? { ...state, lookedAt: at } : state;
    const { last, count } = this.#cronOf(entry.schedule).due(since, now);
    if (last === undefined) return state;
    const passed = { ...state, lookedAt: last.toISOString(), missed: state.missed + count - 1 };
    if (await isUnderWay(state.job, store)) {
      log.warn(
        { schedule: entry.id, slot: last.toISOString() },
        'skipped: the previous slot is still running',
      );
      return { ...passed, overlaps: state.overlaps + 1 };
    }
    const slot = slotOf(entry, last);
    // Changes that a budget deferred in the previous slot become part of this one.
    if (state.job !== undefined)
      await store.endDeferral(state.job, `was deferred; the slot ${slot} runs in its place`);
    const { id, known: isKnown } = await store.enqueue({
      door: 'cron',
      uuid: slot,
      kind: entry.kind,
      lane: `${entry.kind} ${entry.id}`,
      receivedAt: now,
      payload: { ...entry.payload, slot, dueAt: last.toISOString() },
    });
    if (count > 1 && !isKnown)
      log.info({ schedule: entry.id, missed: count - 1 }, 'slots were missed; the last one runs now');
    if (!isKnown) wake();
    return { ...passed, lastSlot: last.toISOString(), job: id };
  }

  #cronOf(schedule: Schedule): Cron {
    const key = `${schedule.cron} ${schedule.timezone}`;
    const cron = this.#crons.get(key) ?? createCron(schedule);
    this.#crons.set(key, cron);
    return cron;
  }
}

/**
 * Returns the time from which the slots of a new schedule are due: that of the check before, in which the schedule was not
 * there yet. Slots before the start are not caught up.
 */
function firstCheckOf(lookedAt: Date | undefined, now: Date): Date {
  if (lookedAt === undefined || lookedAt > now) return now;
  return new Date(Math.max(lookedAt.getTime(), now.getTime() - betweenChecksMs));
}

async function isUnderWay(job: string | undefined, store: Store): Promise<boolean> {
  const delivery = job === undefined ? undefined : await store.describeDelivery(job);
  return delivery !== undefined && !atRest.has(delivery.state);
}

async function loadStates(store: Store): Promise<Map<string, ScheduleState>> {
  return new Map(Object.entries(statesIn(await store.recall(scheduleKey))));
}

/** Store boundary: only the scheduler writes the value under this key. */
function statesIn(kept: unknown): Record<string, ScheduleState> {
  return (kept ?? {}) as Record<string, ScheduleState>;
}

/** Key under which the store keeps the schedules of the rules of repositories and organizations. */
const listKey = 'schedules of repositories and organizations';

/**
 * Saves the schedules of the rules of repositories and organizations as last read, because the process that reads the
 * rules may not be the one that enqueues slots.
 */
export async function saveScheduleList(store: Store, rules: readonly LoadedRule[]): Promise<void> {
  const list: readonly RuleSchedule[] = rules.flatMap(({ id, schedules }) =>
    schedules.map((schedule) => ({ id, schedule })),
  );
  const json = JSON.stringify(list);
  await store.revise(listKey, (kept) => (JSON.stringify(kept ?? []) === json ? kept : list));
}

export async function readScheduleList(store: Pick<Store, 'recall'>): Promise<readonly Scheduled[]> {
  // Store boundary: only `saveScheduleList` writes the value under this key.
  const list = ((await store.recall(listKey)) ?? []) as readonly RuleSchedule[];
  return list.map(sweepOf);
}

/** Returns the scheduler's entry for one schedule of a rule. */
export function sweepOf({ id, schedule }: RuleSchedule): Scheduled {
  return { id, schedule, kind: 'sweep', payload: { rule: id } };
}

import { messageOf } from '../../../platform/errors.ts';
import type { LoadedRule, Schedule } from '../../../rules/rule.ts';
import type { DeliveryState, Store } from '../../../store/store.ts';
import type { Reeve } from '../../reeve.ts';
import { type Cron, createCron } from './cron.ts';

/** A rule or chore with one of its schedules. */
type RuleSchedule = { readonly id: string; readonly schedule: Schedule };

/** Something that is due repeatedly: a scheduled rule, or a chore of our own. */
export type Scheduled = {
  /** Identity across restarts: the rule's id, or the chore's name. */
  readonly id: string;
  readonly schedule: Schedule;
  /** Kind of the job that a slot becomes. */
  readonly kind: string;
  /** Handed to the job beside its slot; plain data. */
  readonly payload: Readonly<Record<string, unknown>>;
};

/** What is known of one schedule. Instants are RFC 3339. */
export type ScheduleState = {
  /** Up to where its slots have been looked at. */
  readonly lookedAt: string;
  readonly lastSlot?: string;
  /** Our id of the last slot's job. */
  readonly job?: string;
  /** Slots left out because the one before was still under way. */
  readonly overlaps: number;
  /** Slots that passed while Reeve was stopped; the last of them ran. */
  readonly missed: number;
};

/** States of a job that keeps no slot from running. */
const atRest: ReadonlySet<DeliveryState> = new Set(['settled', 'dead', 'deferred']);

/** Returns the identity of a slot: what is due, by which clock, at which instant. */
function slotOf({ id, schedule }: RuleSchedule, at: Date): string {
  return `${keyOfSchedule({ id, schedule })}@${at.toISOString()}`;
}

/** Returns the key of a schedule's state. */
export function keyOfSchedule({ id, schedule }: RuleSchedule): string {
  return `${id}#${schedule.cron}`;
}

/** Key of the store under which the states of all schedules are kept. */
const scheduleKey = 'schedules';

/** How often the clock is read. */
const lookMs = 1_000;

/** What is known of the schedules for as long as this process is the leader: another leader may have looked since. */
type Term = {
  readonly states: Map<string, ScheduleState>;
  /** Up to where this process has looked: nothing is written where nothing is due. */
  readonly cursors: Map<string, Date>;
};

/**
 * Turns what is due into jobs of the store, each slot once. Of the processes that share a store, the leader does so. `entries` is
 * asked at each look, so that new rules count at once.
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

  /** Looks once a second whether the clock shows another minute, and then for what is due, until stopped. */
  start(): void {
    if (this.#timer) return;
    // A plain interval: a wait computed from the wall clock lasts for hours after the clock is set back.
    this.#timer = setInterval(() => this.#lookEachMinute(), lookMs).unref();
    this.#lookEachMinute();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#looking?.catch(() => {}); // It was told where it was waited for.
  }

  /** Returns what is known of each schedule, by `id#cron`. */
  status(): Promise<ReadonlyMap<string, ScheduleState>> {
    return loadStates(this.#reeve.store);
  }

  /** Enqueues what became due since the last look. A clock that was set back makes no slot run again. */
  async tick(now: Date): Promise<void> {
    // One at a time: two looks would both find the same slot's predecessor at rest.
    while (this.#looking) await this.#looking;
    this.#looking = this.#lookAtAll(now).finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
  }

  /** Looks when the clock shows another minute than at the last look, whichever way it went. */
  #lookEachMinute(): void {
    const { store, clock, log } = this.#reeve;
    // One that becomes the leader looks at once.
    if (!store.isLeader()) {
      this.#lookedAtMinute = undefined;
      this.#term = undefined;
      return;
    }
    const minute = Math.floor(clock.now().getTime() / 60_000);
    if (minute === this.#lookedAtMinute) return;
    this.#lookedAtMinute = minute;
    this.tick(clock.now()).catch((error: unknown) => {
      // The next minute looks again, and finds what this one left.
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
      const after = await this.#enqueueDue(entry, before, now, term.cursors);
      if (after === before) continue;
      term.states.set(key, after);
      changed[key] = after;
    }
    if (Object.keys(changed).length === 0) return;
    await store.revise(scheduleKey, (kept) => ({ ...statesIn(kept), ...changed }));
  }

  /** Enqueues the slot of a schedule that became due, and returns what is known of it then; the same if nothing happened. */
  async #enqueueDue(
    entry: Scheduled,
    state: ScheduleState | undefined,
    now: Date,
    cursors: Map<string, Date>,
  ): Promise<ScheduleState> {
    const { store, log, wake } = this.#reeve;
    const at = now.toISOString();
    // First sight: earlier slots were not asked for.
    if (state === undefined) return { lookedAt: at, overlaps: 0, missed: 0 };
    const key = keyOfSchedule(entry);
    const since = cursors.get(key) ?? new Date(state.lookedAt);
    cursors.set(key, now);
    // A clock that was set back: what is due from here on is due again, and its slot is known where it ran.
    if (now < since) return at < state.lookedAt ? { ...state, lookedAt: at } : state;
    const { last, count } = this.#cronOf(entry.schedule).due(since, now);
    if (last === undefined) return state;
    const passed = { ...state, lookedAt: last.toISOString(), missed: state.missed + count - 1 };
    if (await isUnderWay(state.job, store)) {
      log.warn(
        { schedule: entry.id, slot: last.toISOString() },
        'left out: the slot before is still under way',
      );
      return { ...passed, overlaps: state.overlaps + 1 };
    }
    const slot = slotOf(entry, last);
    // What a budget kept from being done in the slot before is part of this one.
    if (state.job !== undefined)
      await store.endDeferral(state.job, `was deferred; the slot ${slot} runs in its place`);
    const { id, known } = await store.enqueue({
      door: 'cron',
      uuid: slot,
      kind: entry.kind,
      lane: `${entry.kind} ${entry.id}`,
      receivedAt: now,
      payload: { ...entry.payload, slot, dueAt: last.toISOString() },
    });
    if (count > 1 && !known)
      log.info({ schedule: entry.id, missed: count - 1 }, 'slots were missed; the last one runs now');
    if (!known) wake();
    return { ...passed, lastSlot: last.toISOString(), job: id };
  }

  #cronOf(schedule: Schedule): Cron {
    const key = `${schedule.cron} ${schedule.timezone}`;
    const cron = this.#crons.get(key) ?? createCron(schedule);
    this.#crons.set(key, cron);
    return cron;
  }
}

async function isUnderWay(job: string | undefined, store: Store): Promise<boolean> {
  const delivery = job === undefined ? undefined : await store.describeDelivery(job);
  return delivery !== undefined && !atRest.has(delivery.state);
}

async function loadStates(store: Store): Promise<Map<string, ScheduleState>> {
  return new Map(Object.entries(statesIn(await store.recall(scheduleKey))));
}

/** The border to the store: what is under the key was written by the scheduler alone. */
function statesIn(kept: unknown): Record<string, ScheduleState> {
  return (kept ?? {}) as Record<string, ScheduleState>;
}

/** Key of the store under which the schedules of the rules of repositories and organizations are kept. */
const listKey = 'schedules of repositories and organizations';

/**
 * Saves the schedules of the rules of repositories and organizations, as of their last reading: the process that reads the rules need
 * not be the one that enqueues what is due.
 */
export async function saveScheduleList(store: Store, rules: readonly LoadedRule[]): Promise<void> {
  const list: readonly RuleSchedule[] = rules.flatMap(({ id, schedules }) =>
    schedules.map((schedule) => ({ id, schedule })),
  );
  const json = JSON.stringify(list);
  await store.revise(listKey, (kept) => (JSON.stringify(kept ?? []) === json ? kept : list));
}

export async function readScheduleList(store: Store): Promise<readonly Scheduled[]> {
  // The border to the store: what is under this key was written by `saveScheduleList` alone.
  const list = ((await store.recall(listKey)) ?? []) as readonly RuleSchedule[];
  return list.map(sweepOf);
}

/** Returns the entry of the scheduler for a schedule of a rule. */
export function sweepOf({ id, schedule }: RuleSchedule): Scheduled {
  return { id, schedule, kind: 'sweep', payload: { rule: id } };
}

import type { Clock } from '../../clock.ts';
import { messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Schedule } from '../../rules/rule.ts';
import type { DeliveryState, Store } from '../../store/store.ts';
import { type Cron, createCron } from './cron.ts';

/** Something that is due now and again: a scheduled rule, or a chore of our own. */
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
type ScheduleState = {
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

/** What the scheduler needs of the store. */
type ScheduleStore = Pick<Store, 'enqueue' | 'recall' | 'remember' | 'describeDelivery' | 'endDeferral'>;

/** Turns what is due into jobs of the store, each slot once. */
export interface Scheduler {
  /** Enqueues what became due since the last look. A clock that was set back makes no slot run again. */
  tick(now: Date): Promise<void>;
  /** Looks now and then whenever the clock shows another minute, until stopped. */
  start(): void;
  stop(): Promise<void>;
  /** Returns what is known of each schedule, by `id#cron`. */
  status(): ReadonlyMap<string, ScheduleState>;
}

/** Key of the store under which the states of all schedules are kept. */
const scheduleKey = 'schedules';

/** States of a job that keeps no slot from running. */
const atRest: ReadonlySet<DeliveryState> = new Set(['settled', 'dead', 'deferred']);

/** How often the clock is read. */
const lookMs = 1_000;

/** Returns the identity of a slot: what is due, by which clock, at which instant. */
function slotOf({ id, schedule }: Pick<Scheduled, 'id' | 'schedule'>, at: Date): string {
  return `${keyOfSchedule({ id, schedule })}@${at.toISOString()}`;
}

/** Returns the key of a schedule's state. */
export function keyOfSchedule({ id, schedule }: Pick<Scheduled, 'id' | 'schedule'>): string {
  return `${id}#${schedule.cron}`;
}

/** Creates the scheduler, at rest. `entries` is asked at each look, so that new rules count at once. */
export function createScheduler(options: {
  store: ScheduleStore;
  entries: () => readonly Scheduled[];
  clock: Pick<Clock, 'now'>;
  log: Log;
  /** Told that a job was stored. */
  onEnqueued?: () => void;
}): Scheduler {
  const { store, log, clock } = options;
  const crons = new Map<string, Cron>();
  /** Up to where this process has looked: nothing is written where nothing is due. */
  const cursors = new Map<string, Date>();
  let states: Map<string, ScheduleState> | undefined;
  let looking: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let lookedAtMinute: number | undefined;

  const load = async (): Promise<Map<string, ScheduleState>> => {
    if (states) return states;
    const kept = await store.recall(scheduleKey);
    // The border to the store: what is under this key was written by `save` alone.
    states = new Map(Object.entries((kept ?? {}) as Record<string, ScheduleState>));
    return states;
  };

  const cronOf = (schedule: Schedule): Cron => {
    const key = `${schedule.cron} ${schedule.timezone}`;
    const cron = crons.get(key) ?? createCron(schedule);
    crons.set(key, cron);
    return cron;
  };

  /** Returns what is known of a schedule after a look, or the same where nothing happened. */
  const look = async (
    entry: Scheduled,
    state: ScheduleState | undefined,
    now: Date,
  ): Promise<ScheduleState> => {
    const at = now.toISOString();
    // First sight: earlier slots were not asked for.
    if (state === undefined) return { lookedAt: at, overlaps: 0, missed: 0 };
    const key = keyOfSchedule(entry);
    const since = cursors.get(key) ?? new Date(state.lookedAt);
    cursors.set(key, now);
    // A clock that was set back: what is due from here on is due again, and its slot is known where it ran.
    if (now < since) return at < state.lookedAt ? { ...state, lookedAt: at } : state;
    const { last, count } = cronOf(entry.schedule).due(since, now);
    if (last === undefined) return state;
    const passed = { ...state, lookedAt: last.toISOString(), missed: state.missed + count - 1 };
    if (await isUnderWay(state.job)) {
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
    if (!known) options.onEnqueued?.();
    return { ...passed, lastSlot: last.toISOString(), job: id };
  };

  const isUnderWay = async (job: string | undefined): Promise<boolean> => {
    const delivery = job === undefined ? undefined : await store.describeDelivery(job);
    return delivery !== undefined && !atRest.has(delivery.state);
  };

  const lookAtAll = async (now: Date): Promise<void> => {
    const known = await load();
    let changed = false;
    for (const entry of options.entries()) {
      const key = keyOfSchedule(entry);
      const before = known.get(key);
      const after = await look(entry, before, now);
      if (after === before) continue;
      known.set(key, after);
      changed = true;
    }
    if (changed) await store.remember(scheduleKey, Object.fromEntries(known));
  };

  const tick = async (now: Date): Promise<void> => {
    // One at a time: two looks would both find the same slot's predecessor at rest.
    while (looking) await looking;
    looking = lookAtAll(now).finally(() => {
      looking = undefined;
    });
    await looking;
  };

  const tickOrTell = async (): Promise<void> => {
    try {
      await tick(clock.now());
    } catch (error) {
      // The next minute looks again, and finds what this one left.
      log.error({ error: messageOf(error) }, 'the scheduler cannot use its store');
    }
  };

  /** Looks when the clock shows another minute than at the last look, whichever way it went. */
  const lookEachMinute = (): void => {
    const minute = Math.floor(clock.now().getTime() / 60_000);
    if (minute === lookedAtMinute) return;
    lookedAtMinute = minute;
    void tickOrTell();
  };

  return {
    tick,
    start() {
      if (timer) return;
      // A plain interval: a wait computed from the wall clock lasts for hours after the clock is set back.
      timer = setInterval(lookEachMinute, lookMs).unref();
      lookEachMinute();
    },
    async stop() {
      clearInterval(timer);
      timer = undefined;
      await looking?.catch(() => {}); // It was told where it was waited for.
    },
    status: () => states ?? new Map(),
  };
}

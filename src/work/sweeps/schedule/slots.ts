import type { Log } from '../../../platform/log.ts';
import type { Schedule } from '../../../rules/rule.ts';
import type { DeliveryState, Store } from '../../../store/store.ts';
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
function slotOf({ id, schedule }: Pick<Scheduled, 'id' | 'schedule'>, at: Date): string {
  return `${keyOfSchedule({ id, schedule })}@${at.toISOString()}`;
}

/** Returns the key of a schedule's state. */
export function keyOfSchedule({ id, schedule }: Pick<Scheduled, 'id' | 'schedule'>): string {
  return `${id}#${schedule.cron}`;
}

/** Enqueues the slot of a schedule that became due, and returns what is known of the schedule after that. */
export type EnqueueDue = (
  entry: Scheduled,
  state: ScheduleState | undefined,
  now: Date,
) => Promise<ScheduleState>;

/** Creates the function. It returns the same state if nothing happened. */
export function createEnqueueDue(options: {
  readonly store: Pick<Store, 'enqueue' | 'describeDelivery' | 'endDeferral'>;
  readonly log: Log;
  /** Called when a job was stored. */
  readonly onEnqueued: () => void;
}): EnqueueDue {
  const { store, log, onEnqueued } = options;
  const crons = new Map<string, Cron>();
  /** Up to where this process has looked: nothing is written where nothing is due. */
  const cursors = new Map<string, Date>();
  const cronOf = (schedule: Schedule): Cron => {
    const key = `${schedule.cron} ${schedule.timezone}`;
    const cron = crons.get(key) ?? createCron(schedule);
    crons.set(key, cron);
    return cron;
  };

  const isUnderWay = async (job: string | undefined): Promise<boolean> => {
    const delivery = job === undefined ? undefined : await store.describeDelivery(job);
    return delivery !== undefined && !atRest.has(delivery.state);
  };

  return async (entry: Scheduled, state: ScheduleState | undefined, now: Date): Promise<ScheduleState> => {
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
    if (!known) onEnqueued();
    return { ...passed, lastSlot: last.toISOString(), job: id };
  };
}

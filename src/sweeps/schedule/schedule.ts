import type { Clock } from '../../clock.ts';
import { messageOf } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Store } from '../../store/store.ts';
import { createEnqueueDue, keyOfSchedule, type Scheduled, type ScheduleState } from './slots.ts';

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

/** How often the clock is read. */
const lookMs = 1_000;

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
  const enqueueDue = createEnqueueDue({ store, log, onEnqueued: options.onEnqueued ?? (() => {}) });
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

  const lookAtAll = async (now: Date): Promise<void> => {
    const known = await load();
    let changed = false;
    for (const entry of options.entries()) {
      const key = keyOfSchedule(entry);
      const before = known.get(key);
      const after = await enqueueDue(entry, before, now);
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

import type { Clock } from '../../../platform/clock.ts';
import { messageOf } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import type { LoadedRule, Schedule } from '../../../rules/rule.ts';
import type { Store } from '../../../store/store.ts';
import {
  createEnqueueDue,
  type EnqueueDue,
  keyOfSchedule,
  type Scheduled,
  type ScheduleState,
} from './slots.ts';

/** What the scheduler needs of the store. */
type ScheduleStore = Pick<
  Store,
  'enqueue' | 'recall' | 'revise' | 'describeDelivery' | 'endDeferral' | 'isLeader'
>;

/** Turns what is due into jobs of the store, each slot once. Of the processes that share a store, the leader does so. */
export interface Scheduler {
  /** Enqueues what became due since the last look. A clock that was set back makes no slot run again. */
  tick(now: Date): Promise<void>;
  /** Looks now and then whenever the clock shows another minute, until stopped. */
  start(): void;
  stop(): Promise<void>;
  /** Returns what is known of each schedule, by `id#cron`. */
  status(): Promise<ReadonlyMap<string, ScheduleState>>;
}

/** Key of the store under which the states of all schedules are kept. */
const scheduleKey = 'schedules';

/** How often the clock is read. */
const lookMs = 1_000;

type SchedulerOptions = {
  store: ScheduleStore;
  entries: () => readonly Scheduled[] | Promise<readonly Scheduled[]>;
  clock: Pick<Clock, 'now'>;
  log: Log;
  /** Told that a job was stored. */
  onEnqueued?: () => void;
};

/** Creates the scheduler, at rest. `entries` is asked at each look, so that new rules count at once. */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { store, log, clock } = options;
  const term = createTerm(options);
  let looking: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let lookedAtMinute: number | undefined;

  const tick = async (now: Date): Promise<void> => {
    // One at a time: two looks would both find the same slot's predecessor at rest.
    while (looking) await looking;
    looking = term.lookAtAll(now).finally(() => {
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
    // One that becomes the leader looks at once.
    if (!store.isLeader()) {
      lookedAtMinute = undefined;
      term.end();
      return;
    }
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
    status: () => loadStates(store),
  };
}

/**
 * Returns the look at all schedules, with what is known of them for as long as this process is the leader: another leader may
 * have looked since.
 */
function createTerm({ store, log, entries, onEnqueued = () => {} }: SchedulerOptions): {
  lookAtAll(now: Date): Promise<void>;
  end(): void;
} {
  let term: { readonly states: Map<string, ScheduleState>; readonly enqueueDue: EnqueueDue } | undefined;
  return {
    async lookAtAll(now) {
      if (!store.isLeader()) {
        term = undefined;
        return;
      }
      term ??= { states: await loadStates(store), enqueueDue: createEnqueueDue({ store, log, onEnqueued }) };
      const { states, enqueueDue } = term;
      const changed: Record<string, ScheduleState> = {};
      for (const entry of await entries()) {
        const key = keyOfSchedule(entry);
        const before = states.get(key);
        const after = await enqueueDue(entry, before, now);
        if (after === before) continue;
        states.set(key, after);
        changed[key] = after;
      }
      if (Object.keys(changed).length === 0) return;
      await store.revise(scheduleKey, (kept) => ({ ...statesIn(kept), ...changed }));
    },
    end() {
      term = undefined;
    },
  };
}

async function loadStates(store: Pick<Store, 'recall'>): Promise<Map<string, ScheduleState>> {
  return new Map(Object.entries(statesIn(await store.recall(scheduleKey))));
}

/** The border to the store: what is under the key was written by the scheduler alone. */
function statesIn(kept: unknown): Record<string, ScheduleState> {
  return (kept ?? {}) as Record<string, ScheduleState>;
}

/** Key of the store under which the list is kept. */
const listKey = 'schedules of repositories and organizations';

/** A rule with one of its schedules. */
type RuleSchedule = { readonly id: string; readonly schedule: Schedule };

/**
 * The schedules of the rules of repositories and organizations, as of their last reading. They are kept in the store: the process
 * that reads the rules need not be the one that enqueues what is due.
 */
interface ScheduleList {
  save(rules: readonly LoadedRule[]): Promise<void>;
  read(): Promise<readonly Scheduled[]>;
}

/** Creates the list on a store of plain data. */
export function createScheduleList(store: Pick<Store, 'recall' | 'revise'>): ScheduleList {
  return {
    async save(rules) {
      const list: readonly RuleSchedule[] = rules.flatMap(({ id, schedules }) =>
        schedules.map((schedule) => ({ id, schedule })),
      );
      const json = JSON.stringify(list);
      await store.revise(listKey, (kept) => (JSON.stringify(kept ?? []) === json ? kept : list));
    },
    async read() {
      // The border to the store: what is under this key was written by `save` alone.
      const list = ((await store.recall(listKey)) ?? []) as readonly RuleSchedule[];
      return list.map(sweepOf);
    },
  };
}

/** Returns the entry of the scheduler for a schedule of a rule. */
export function sweepOf({ id, schedule }: RuleSchedule): Scheduled {
  return { id, schedule, kind: 'sweep', payload: { rule: id } };
}

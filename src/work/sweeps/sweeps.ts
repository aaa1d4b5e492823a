import { standardDeliveryLifetimeMs } from '../../engine/limits.ts';
import { messageOf, ReeveError } from '../../platform/errors.ts';
import type { LoadedRule } from '../../rules/rule.ts';
import type { HandleJob } from '../../store/leases.ts';
import { type Retention, standardRetention } from '../../store/prune.ts';
import type { Store } from '../../store/store.ts';
import { createCatchUp } from './catch-up/catch-up.ts';
import type { Snapshots } from './catch-up/snapshots.ts';
import { createOpenPullsHandler, openPullsKind } from './open-pulls.ts';
import { createMaintenance, scheduledMaintenance } from './schedule/maintenance.ts';
import { createScheduleList, createScheduler, type Scheduler, sweepOf } from './schedule/schedule.ts';
import type { Scheduled } from './schedule/slots.ts';
import type { SweepParts } from './sweep.ts';
import { createSweepHandler } from './sweep-job.ts';
import { createSweepStore } from './sweep-store.ts';
import { createRunnerMemory } from './targets/runner-memory.ts';

/** Where rules with a clock come from. */
interface ClockRules {
  /** The operator's, at once. */
  operator(): readonly LoadedRule[];
  /** All there are, those of repositories and organizations read where they are old. */
  everyRule(): Promise<readonly LoadedRule[]>;
}

type SweepsOptions = Omit<SweepParts, 'runners' | 'store' | 'incidents'> & {
  readonly store: Store;
  readonly rules: ClockRules;
  readonly snapshots: Snapshots;
  /** Handles an event that was found by reading. */
  readonly handleCaughtUp: HandleJob;
  /** Default: `standardRetention`. */
  readonly retention?: Retention | undefined;
  /** Age of a comment beyond which it is not obeyed; default: seven days. */
  readonly lifetimeMs?: number | undefined;
  /** Asks the forge who we are, each time. */
  readonly askWhoWeAre: () => Promise<unknown>;
  /** Told that a job was stored. */
  readonly onEnqueued: () => void;
};

/** The scheduled half of the bot. */
export interface Sweeps {
  readonly scheduler: Scheduler;
  /** Handlers of the jobs that the scheduler, the command line and catching up store, by kind. */
  readonly jobHandlers: Readonly<
    Record<'sweep' | 'catch-up' | 'caught-up' | 'chore' | typeof openPullsKind, HandleJob>
  >;
  /** Begins: catches up with what was missed, then looks at the clock every minute. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** What was missed is looked for at every start, and as often as this. */
const catchUpCron = '*/30 * * * *';

/** Creates the scheduled half, at rest. */
export function createSweeps(options: SweepsOptions): Sweeps {
  const { store, rules, clock, log, onEnqueued } = options;
  const parts: SweepParts = {
    ...options,
    store: createSweepStore(store),
    incidents: store,
    runners: createRunnerMemory(store),
  };
  /** Rules of repositories and organizations, as of their last reading. */
  let others: readonly LoadedRule[] = [];
  const schedulesOfOthers = createScheduleList(store);
  const readRules = async (): Promise<void> => {
    others = (await rules.everyRule()).filter(({ level }) => level !== 'operator');
    await schedulesOfOthers.save(others);
  };
  const chores = createMaintenance({
    store,
    checkToken: options.askWhoWeAre,
    readRules,
    retention: options.retention ?? standardRetention,
    lifetimeMs: options.lifetimeMs ?? standardDeliveryLifetimeMs,
    log,
  });
  const catchUp = createCatchUp({ ...options, onEnqueued });
  const find = async (id: string): Promise<LoadedRule | undefined> => {
    const known = [...rules.operator(), ...others].find((rule) => rule.id === id);
    if (known) return known;
    await readRules();
    return others.find((rule) => rule.id === id);
  };
  const entries = async (): Promise<readonly Scheduled[]> => [
    ...scheduledRules(rules.operator()),
    ...(await schedulesOfOthers.read()),
    ...scheduledMaintenance(chores),
    { id: 'catch-up', schedule: { cron: catchUpCron, timezone: 'UTC' }, kind: 'catch-up', payload: {} },
  ];
  const scheduler = createScheduler({ store, entries, clock, log, onEnqueued });

  return {
    scheduler,
    jobHandlers: {
      sweep: createSweepHandler(parts, find),
      'catch-up': catchUp,
      'caught-up': options.handleCaughtUp,
      [openPullsKind]: createOpenPullsHandler(parts, rules.everyRule),
      async chore(_job, payload) {
        const name =
          typeof payload === 'object' && payload !== null ? Reflect.get(payload, 'chore') : undefined;
        const chore = chores[String(name)];
        if (chore === undefined) throw new ReeveError('internal', `there is no chore ${String(name)}`);
        await chore.run(clock.now());
        return { runs: [] };
      },
    },
    async start() {
      const now = clock.now();
      const start = `start@${now.toISOString()}`;
      const beginnings = [
        { kind: 'catch-up', lane: 'catch-up catch-up', payload: {} },
        { kind: openPullsKind, lane: openPullsKind, payload: {} },
        { kind: 'chore', lane: 'chore rules', payload: { chore: 'rules' } },
      ];
      for (const { kind, lane, payload } of beginnings) {
        const uuid = `${kind === 'chore' ? 'rules' : kind}#${start}`;
        await store.enqueue({ door: 'cron', uuid, kind, lane, payload, receivedAt: now });
      }
      onEnqueued();
      scheduler.start();
    },
    async stop() {
      await scheduler.stop();
      // The store may be full or lost; what is found again changes nothing, and the rest must be closed.
      await options.snapshots.save().catch((error: unknown) => {
        log.warn({ error: messageOf(error) }, 'the snapshots of catching up could not be saved');
      });
    },
  };
}

/** Returns the entries of the scheduler for rules with clocks: one for each clock. */
export function scheduledRules(rules: readonly LoadedRule[]): readonly Scheduled[] {
  return rules.flatMap(({ id, schedules }) => schedules.map((schedule) => sweepOf({ id, schedule })));
}

import { messageOf, ReeveError } from '../../platform/errors.ts';
import type { LoadedRule } from '../../rules/rule.ts';
import type { HandleJob } from '../../store/leases.ts';
import type { Reeve } from '../reeve.ts';
import type { LeaveWaiting } from '../runs/waiting.ts';
import { createCatchUp } from './catch-up/catch-up.ts';
import type { OwnNotes } from './catch-up/own-notes.ts';
import type { Poller } from './catch-up/poll.ts';
import type { Snapshots } from './catch-up/snapshots.ts';
import { createOpenPullsHandler, openPullsKind } from './open-pulls.ts';
import {
  createMaintenance,
  localLanesOf,
  type MaintenanceJob,
  scheduledMaintenance,
} from './schedule/maintenance.ts';
import {
  readScheduleList,
  type Scheduled,
  Scheduler,
  saveScheduleList,
  sweepOf,
} from './schedule/schedule.ts';
import { createSweepHandler } from './sweep.ts';

/** Dependencies of the scheduled work, in addition to the bot. */
type SweepsParts = {
  readonly snapshots: Snapshots;
  /** Called with each served repository that catching up visits. */
  readonly know: OwnNotes['know'];
  readonly leaveWaiting: LeaveWaiting;
  /** Requests the account of the token from the forge, bypassing caches. */
  readonly askWhoWeAre: () => Promise<unknown>;
  /** Finds changes in place of webhooks; absent: a search for missed changes is enough. */
  readonly poller: Poller | undefined;
  /** Further maintenance jobs, by name. */
  readonly jobs?: Readonly<Record<string, MaintenanceJob>> | undefined;
};

/** Schedule of the search for missed changes, which also runs after every start. */
const catchUpSchedule: Scheduled = {
  id: 'catch-up',
  schedule: { cron: '*/30 * * * *', timezone: 'UTC' },
  kind: 'catch-up',
  payload: {},
};

/** The scheduled work of a bot. It is not started on construction. */
export class Sweeps {
  readonly scheduler: Scheduler;
  /** Handlers, by kind, of the jobs that `start`, the scheduler and the command line store. */
  readonly jobHandlers: Readonly<Record<string, HandleJob>>;
  /** Lanes of the jobs that need no forge. */
  readonly localLanes: readonly string[];
  readonly #reeve: Reeve;
  readonly #snapshots: Snapshots;
  readonly #poller: Poller | undefined;
  readonly #chores: Readonly<Record<string, MaintenanceJob>>;
  /** Rules of repositories and organizations, as they were last read. */
  #others: readonly LoadedRule[] = [];

  constructor(reeve: Reeve, { snapshots, know, leaveWaiting, askWhoWeAre, poller, jobs }: SweepsParts) {
    this.#reeve = reeve;
    this.#snapshots = snapshots;
    this.#poller = poller;
    const maintenance = createMaintenance(reeve, {
      checkToken: askWhoWeAre,
      readRules: () => this.#readRules(),
    });
    this.#chores = { ...maintenance, ...jobs };
    this.localLanes = localLanesOf(this.#chores);
    this.scheduler = new Scheduler(reeve, () => this.#entries());
    this.jobHandlers = {
      sweep: createSweepHandler(reeve, leaveWaiting, (id) => this.#find(id)),
      'catch-up': createCatchUp(reeve, snapshots, know),
      [openPullsKind]: createOpenPullsHandler(reeve, leaveWaiting),
      chore: (_job, payload) => this.#doChore(payload),
    };
  }

  /** Starts the scheduled work: catches up with missed changes or polls, then checks the schedules every minute. */
  async start(): Promise<void> {
    const { store, clock, wake } = this.#reeve;
    const now = clock.now();
    const start = `start@${now.toISOString()}`;
    const beginnings = [
      ...(this.#poller ? [] : [{ kind: 'catch-up', lane: 'catch-up catch-up', payload: {} }]),
      { kind: openPullsKind, lane: openPullsKind, payload: {} },
      ...Object.entries(this.#chores)
        .filter(([, { atStart }]) => atStart)
        .map(([chore]) => ({ kind: 'chore', lane: `chore ${chore}`, payload: { chore, slot: start } })),
    ];
    for (const { kind, lane, payload } of beginnings) {
      const uuid = `${'chore' in payload ? payload.chore : kind}#${start}`;
      await store.enqueue({ door: 'cron', uuid, kind, lane, payload, receivedAt: now });
    }
    wake();
    this.scheduler.start();
    this.#poller?.start();
  }

  async stop(): Promise<void> {
    await this.scheduler.stop();
    await this.#poller?.stop();
    // The store may be full or lost. Changes that are found again have no effect, and everything else must still be
    // closed.
    await this.#snapshots.save().catch((error: unknown) => {
      this.#reeve.log.warn({ error: messageOf(error) }, 'the snapshots of catching up could not be saved');
    });
  }

  async #doChore(payload: unknown): Promise<{ runs: [] }> {
    const name = typeof payload === 'object' && payload !== null ? Reflect.get(payload, 'chore') : undefined;
    const chore = this.#chores[String(name)];
    if (chore === undefined) throw new ReeveError('internal', `there is no chore ${String(name)}`);
    // Store boundary: the scheduler and `start` write the slot.
    await chore.run(this.#reeve.clock.now(), String(Reflect.get(Object(payload), 'slot')));
    return { runs: [] };
  }

  async #find(id: string): Promise<LoadedRule | undefined> {
    const isIt = (rule: LoadedRule): boolean => rule.id === id;
    const known = [...this.#reeve.rules.operator(), ...this.#others].find(isIt);
    if (known) return known;
    await this.#readRules();
    return this.#others.find(isIt);
  }

  async #readRules(): Promise<void> {
    this.#others = (await this.#reeve.everyRule()).filter(({ level }) => level !== 'operator');
    await saveScheduleList(this.#reeve.store, this.#others);
  }

  async #entries(): Promise<readonly Scheduled[]> {
    return [
      ...scheduledRules(this.#reeve.rules.operator()),
      ...(await readScheduleList(this.#reeve.store)),
      ...scheduledMaintenance(this.#chores),
      ...(this.#poller ? [] : [catchUpSchedule]),
    ];
  }
}

/** Returns the scheduler's entries for rules with schedules, one for each schedule. */
export function scheduledRules(rules: readonly LoadedRule[]): readonly Scheduled[] {
  return rules.flatMap(({ id, schedules }) => schedules.map((schedule) => sweepOf({ id, schedule })));
}

import type { PauseScope } from '../../engine/bounds/pauses.ts';
import type { Incident } from '../../engine/incidents/incident.ts';
import type { Store } from '../../store/store.ts';
import type { CommandQueue } from '../../work/merge-queue/queue-commands.ts';
import type { SimulatedSubject, Simulation } from '../../work/runs/simulate.ts';

/** What the rule tests beside a rule reach of it. */
export type TestCoverage =
  | {
      readonly state: 'known';
      /** Cases of the file of tests, and how many of them fail. */
      readonly cases: number;
      readonly failed: number;
      /** A step is reached where a case has a change that it asked for. */
      readonly steps: readonly { readonly name: string; readonly isReached: boolean }[];
    }
  | { readonly state: 'no-tests' | 'unknown'; readonly why: string };

/** A rule that is in force, as people look for it. */
export type RuleRow = {
  /** Its identity, as runs and pauses name it. It has the path of its file: pages show `file`. */
  readonly id: string;
  readonly name: string;
  /** As in the operator’s folder, or with its repository. */
  readonly file: string;
  readonly line: number;
  readonly mode: 'observe' | 'enforce';
  /** What it listens to: `pull_request.opened`, `0 3 * * * UTC over repository`. */
  readonly listensTo: readonly string[];
  readonly description: string | undefined;
  /** Absent: rule tests are not run here. */
  readonly coverage?: TestCoverage | undefined;
};

/** One clock of a rule, and how its latest sweep went. */
export type ScheduleRow = {
  readonly rule: string;
  readonly clock: string;
  readonly next: Date | undefined;
  readonly lastSlot: Date | undefined;
  /** Slots that passed while Reeve was stopped, and those left out because the one before was under way. */
  readonly missed: number;
  readonly overlaps: number;
  /** Our id of the last slot’s job. */
  readonly job: string | undefined;
  /** How far it is, as a sentence; undefined where none is under way. */
  readonly underWay: string | undefined;
  readonly result: SweepRow | undefined;
};

export type SweepRow = {
  readonly endedAt: Date;
  /** What it did, as a sentence. */
  readonly sentence: string;
  /** False where the budget of requests ran out before the last item. */
  readonly isComplete: boolean;
  readonly drift: number;
  /** The first items that failed, each with its reason. */
  readonly failures: readonly { readonly item: string; readonly error: string }[];
};

/** A runner as sweeps saw it last. */
type RunnerState = {
  readonly name: string;
  /** `organization acme`, `repository acme/demo`, `user reeve`, `instance`. */
  readonly level: string;
  readonly status: 'online' | 'offline' | 'gone';
  readonly busy: boolean;
  readonly disabled: boolean;
  readonly labels: readonly string[];
  readonly since: Date;
  /** Changes between online and offline in the last hour that anybody looked. */
  readonly flaps: number;
};

/** One thing that is not as a rule wants it, and stays so. */
type DriftRow = {
  readonly rule: string;
  readonly item: string;
  readonly target: string;
  readonly live: unknown;
  readonly wanted: unknown;
  readonly since: Date;
  readonly why: string;
};

/** What is known of the forge as a whole. `refused`: it does not accept our credential. */
export type ForgeHealth =
  | { readonly state: 'ok' }
  | { readonly state: 'failing' | 'refused'; readonly since: Date; readonly reason: string };

/** The part of the store that pages read. */
export type DashboardStore = Pick<
  Store,
  | 'counts'
  | 'healthy'
  | 'oldestWaiting'
  | 'listDeliveries'
  | 'readDelivery'
  | 'describeDelivery'
  | 'readHeaders'
  | 'readSamples'
  | 'listRuns'
  | 'readRun'
  | 'readLatestRuns'
  | 'listAudit'
  | 'listPauses'
  | 'readQueue'
  | 'listQueues'
  | 'listQueueHistory'
  | 'sessions'
  | 'listProcesses'
>;

/** The data of the pages, read at each request. */
export type DashboardData = {
  readonly store: DashboardStore;
  readonly now: () => Date;
  /** Address of the forge as people open it, without a slash at its end. */
  readonly forgeUrl: string;
  readonly forge: () => ForgeHealth;
  readonly rules: () => readonly RuleRow[];
  /** What needs attention, seen last first; files of the operator are named as in the folder. */
  readonly incidents: () => Promise<readonly Incident[]>;
  readonly schedules: () => Promise<readonly ScheduleRow[]>;
  readonly runners: () => Promise<readonly RunnerState[]>;
  readonly drift: () => Promise<readonly DriftRow[]>;
  /** Deliveries refused by the receiver since the start, by status. */
  readonly refusals: () => ReadonlyMap<number, number>;
};

/** What people do on the pages. */
export type DashboardCommands = {
  /** Gives deliveries another life; returns how many there were to give it to. `by` is kept with them. */
  readonly redrive: (ids: readonly string[], by: string) => Promise<number>;
  /** Stops writes; returns false if this was paused already. `by` is kept with the pause and in the audit. */
  readonly pause: (scope: PauseScope, by: string) => Promise<boolean>;
  /** Ends a pause; what waited for its end runs again. Returns false if there was no such pause. */
  readonly resume: (scope: PauseScope, by: string) => Promise<boolean>;
  /** Moves, removes, pauses or resumes in a merge queue; returns whether this changed anything. `by` is kept in the audit. */
  readonly queue: CommandQueue;
  /** Plans what the rules in force would do with a live subject, in limited time. Writes nothing. */
  readonly simulate: (subject: SimulatedSubject) => Promise<Simulation>;
};

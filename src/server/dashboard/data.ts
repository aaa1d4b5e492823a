import type { PauseScope } from '../../engine/bounds/pauses.ts';
import type { Incident } from '../../engine/incidents/incident.ts';
import type { Store } from '../../store/store.ts';
import type { RuleSight } from '../../work/alarms/rule-sight.ts';
import type { CommandQueue } from '../../work/merge-queue/queue-commands.ts';
import type { AboutItem, NumberedItem } from '../../work/runs/about-item.ts';
import type { SimulatedSubject, Simulation } from '../../work/runs/simulate.ts';

/** Coverage of a rule by its rule tests. */
export type TestCoverage =
  | {
      readonly state: 'known';
      /** Number of cases in the test file, and number of failed cases. */
      readonly cases: number;
      readonly failed: number;
      /** A step is reached if at least one case contains a change from this step. */
      readonly steps: readonly { readonly name: string; readonly isReached: boolean }[];
    }
  | { readonly state: 'no-tests' | 'unknown'; readonly why: string };

/** A rule in force. */
export type RuleRow = {
  /** Identity of the rule, as in runs and pauses. It contains the full path of the file; pages show `file` instead. */
  readonly id: string;
  readonly name: string;
  /** Path in the operator’s folder, or path that includes the repository. */
  readonly file: string;
  readonly line: number;
  /** Whether the file is invalid, and the rule is of its last valid version. */
  readonly isLastValid?: boolean | undefined;
  readonly mode: 'observe' | 'enforce';
  /** Kinds of the items that its schedules visit, if it names any. */
  readonly each?: readonly string[] | undefined;
  /** Events of the rule, and its schedules in words: `pull_request.opened`, `at 03:00 every day, UTC, over repository`. */
  readonly listensTo: readonly string[];
  /** Schedules of the rule as expressions with their timezone: `0 3 * * * UTC`. */
  readonly clocks?: readonly string[];
  readonly description: string | undefined;
  /** Absent: rule tests are not run here. */
  readonly coverage?: TestCoverage | undefined;
};

/** Repositories that a rule reaches, or why they cannot be listed now. `isWhole`: false if there are more. */
export type RuleReach =
  | { readonly repositories: readonly string[]; readonly served: number; readonly isWhole: boolean }
  | { readonly error: string };

/** One schedule of a rule, with its latest sweep. */
export type ScheduleRow = {
  readonly rule: string;
  readonly clock: string;
  readonly next: Date | undefined;
  readonly lastSlot: Date | undefined;
  /** Slots missed while Reeve was stopped, and slots skipped because the previous one was still running. */
  readonly missed: number;
  readonly overlaps: number;
  /** Id of the last slot's job in the store. */
  readonly job: string | undefined;
  /** Progress as a sentence; undefined if no sweep is running. */
  readonly underWay: string | undefined;
  readonly result: SweepRow | undefined;
};

export type SweepRow = {
  readonly endedAt: Date;
  /** Summary as a sentence. */
  readonly sentence: string;
  /** False if the requests, or the items that the rule allows per slot, were used up before the last item. */
  readonly isComplete: boolean;
  readonly drift: number;
  /** The first failed items, each with its reason. */
  readonly failures: readonly { readonly item: string; readonly error: string }[];
};

/** Last known state of a runner. */
type RunnerState = {
  readonly name: string;
  /** `organization acme`, `repository acme/demo`, `user reeve`, `instance`. */
  readonly level: string;
  readonly status: 'online' | 'offline' | 'gone';
  readonly busy: boolean;
  readonly disabled: boolean;
  readonly labels: readonly string[];
  readonly since: Date;
  /** Set if its state is not known now: time at which it was seen last. */
  readonly notSeenSince?: Date | undefined;
  /** Number of changes between online and offline in the last observed hour. */
  readonly flaps: number;
};

/** One persistent drift from a rule. */
type DriftRow = {
  readonly rule: string;
  readonly item: string;
  readonly target: string;
  readonly live: unknown;
  readonly wanted: unknown;
  readonly since: Date;
  readonly why: string;
};

/** State of the forge. `refused`: the forge does not accept our credential. */
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
  /** URL of the forge for browsers, without a trailing slash. */
  readonly forgeUrl: string;
  readonly forge: () => ForgeHealth;
  readonly rules: () => readonly RuleRow[];
  /** Open incidents, most recently seen first. Operator files are named by their path in the folder. */
  readonly incidents: () => Promise<readonly Incident[]>;
  readonly schedules: () => Promise<readonly ScheduleRow[]>;
  /** When each rule of the operator could last run, and what it cannot see or do. */
  readonly sight: () => Promise<readonly RuleSight[]>;
  readonly runners: () => Promise<readonly RunnerState[]>;
  readonly drift: () => Promise<readonly DriftRow[]>;
  /** Returns the text of the file of a rule as it is now; undefined if it cannot be read or is larger than 256 KiB. */
  readonly ruleSource: (id: string) => Promise<string | undefined>;
  /** Returns the served repositories that the scope of a rule includes, as of the last minute. */
  readonly reach: (id: string) => Promise<RuleReach>;
  /** Returns everything that is stored about an issue or pull request. */
  readonly aboutItem: (item: NumberedItem) => Promise<AboutItem>;
  /** Deliveries refused by the receiver since startup, by status. */
  readonly refusals: () => ReadonlyMap<number, number>;
};

/** Commands of the pages. */
export type DashboardCommands = {
  /** Redrives deliveries; returns how many were redriven. `by` is recorded with the deliveries. */
  readonly redrive: (ids: readonly string[], by: string) => Promise<number>;
  /** Pauses writes; returns false if already paused. `by` is recorded with the pause and in the audit. */
  readonly pause: (scope: PauseScope, by: string) => Promise<boolean>;
  /** Ends a pause; deliveries that waited for its end run again. Returns false if there was no such pause. */
  readonly resume: (scope: PauseScope, by: string) => Promise<boolean>;
  /**
   * Moves, removes, pauses or resumes in a merge queue. Returns whether anything changed. `by` is recorded in the
   * audit.
   */
  readonly queue: CommandQueue;
  /** Starts the sweep of a rule with a schedule now, as `reeve sweep` does. Returns the id of its job. */
  readonly sweep: (rule: string, by: string) => Promise<string>;
  /** Plans the rules in force for a live subject, with a time limit. Writes nothing. */
  readonly simulate: (subject: SimulatedSubject) => Promise<Simulation>;
};

import type { ActionMemory } from '../actions/memory.ts';
import type { Event } from '../contract/events/events.ts';
import type { OwnWrites } from '../engine/bounds/own-writes.ts';
import type { RepeatedChoice } from '../engine/bounds/refusals.ts';
import type { Run } from '../engine/record.ts';
import type { RunContext } from '../engine/run-context.ts';
import type { Log } from '../platform/log.ts';
import type { LoadedRule } from '../rules/rule.ts';
import type { Admissions } from '../rules/sources/admission.ts';
import type { RuleSource } from '../rules/sources/rule-source.ts';
import type { Retention } from '../store/prune.ts';
import type { QueueEvent } from '../store/queue-rows.ts';
import type { Store } from '../store/store.ts';
import type { ServedBy } from './sweeps/targets/repositories.ts';

/** A running bot, as used by all work that has no caller. `server/` builds the single instance of a process. */
export type Reeve = RunContext & {
  readonly account: () => Promise<{ readonly id: number }>;
  readonly actionMemory: ActionMemory;
  /** Record of Reeve's own writes; absent: every event of the account counts as Reeve's own. */
  readonly ownWrites?: OwnWrites | undefined;
  /** The same record for found events, which may name no account. */
  readonly polledWrites?: OwnWrites | undefined;
  readonly log: Log;
  readonly store: Store;
  readonly admissions: Admissions;
  /** The rules in force. */
  readonly rules: RuleSource;
  /** Returns all rules. Rules of repositories and organizations are read again if they are outdated. */
  readonly everyRule: () => Promise<readonly LoadedRule[]>;
  /** Repositories that sweeps process. */
  readonly served: ServedBy;
  readonly metrics: WorkMetrics;
  /** Maximum age of a delivery, and of a comment or review that it announces as new. */
  readonly lifetimeMs: number;
  /** How to handle a delivery that repeats an earlier one; absent: it runs. */
  readonly repeated?: RepeatedChoice | undefined;
  readonly retention: Retention;
  /** Wakes the worker. Called when a job has been stored. */
  readonly wake: () => void;
};

/** Counters of the work, updated once a result is known. */
export interface WorkMetrics {
  countRun(run: Run, event?: Event): void;
  /** Counts a run for an item of a sweep. */
  countSweepRun(run: Run): void;
  countQueueEvent(event: QueueEvent): void;
}

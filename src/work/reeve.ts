import type { ActionMemory } from '../actions/memory.ts';
import type { Event } from '../contract/events/events.ts';
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

/** A running bot, as everything sees it that works without a caller. `server/` builds the one there is in a process. */
export type Reeve = RunContext & {
  readonly account: () => Promise<{ readonly id: number }>;
  readonly actionMemory: ActionMemory;
  readonly log: Log;
  readonly store: Store;
  readonly admissions: Admissions;
  /** The rules in force. */
  readonly rules: RuleSource;
  /** Returns every rule there is; those of repositories and organizations are read where they are old. */
  readonly everyRule: () => Promise<readonly LoadedRule[]>;
  /** The repositories that sweeps walk over. */
  readonly served: ServedBy;
  readonly metrics: WorkMetrics;
  /** Age of a delivery, and of what it announces as new, beyond which it is given up. */
  readonly lifetimeMs: number;
  /** What becomes of a delivery that repeats an earlier one; absent: it runs. */
  readonly repeated?: RepeatedChoice | undefined;
  readonly retention: Retention;
  /** Called when a job was stored: the worker looks for it. */
  readonly wake: () => void;
};

/** Counts what happened, once it is known what became of it. */
export interface WorkMetrics {
  countRun(run: Run, event?: Event): void;
  /** Counts a run over an item of a sweep. */
  countSweepRun(run: Run): void;
  countQueueEvent(event: QueueEvent): void;
}

import type { Meter } from '../patterns/meter.ts';
import type { ActionMemory } from './memory.ts';
import type { QueueDesk } from './queue-desk.ts';
import type { NamedSecrets } from './secrets.ts';

/** Context of a plan, in addition to arguments and facts. */
export type PlanContext = {
  /** Name of the rule, as used in markers and status contexts. */
  readonly rule: string;
  /** Source of the rule's file; only operator rules may reach beyond the event's repository. */
  readonly level: 'operator' | 'organization' | 'repository';
  /** Acts of people that the rule reads: texts of its conditions, of which some are names of labels, and commands. Absent: none. */
  readonly acts?: { readonly texts: readonly string[]; readonly commands: readonly string[] } | undefined;
  /** The bot's account; absent without a forge (a what-if). */
  readonly account?: { readonly id: number } | undefined;
  readonly memory: ActionMemory;
  /** What started the run, the delivery or job, and what it is about. The same when it is tried again. */
  readonly trigger: string;
  /** Fingerprints of named secrets; absent in a what-if, which has none. */
  readonly secrets?: Pick<NamedSecrets, 'fingerprint'> | undefined;
  /** Where pull requests enter a merge queue, for this rule and repository; absent where no server runs one. */
  readonly queue?:
    | {
        readonly desk: QueueDesk;
        readonly rule: string;
        readonly delivery?: string | undefined;
        readonly repository: { readonly id: number; readonly owner: string; readonly name: string };
      }
    | undefined;
  /** Time of the run. */
  readonly now: Date;
  /** Meter that is charged for patterns among the arguments. */
  readonly meter: Meter;
  /** Returns whether the grants of the rule's file cover what an action does to a branch; others are refused. Absent: all are. */
  readonly covers?: (action: string, branch: string) => Promise<boolean>;
  /** Returns whether a rule of the operator writes a status with this name. Absent: it is not known. */
  readonly isStatusOfOperator?: ((context: string) => boolean) | undefined;
  /** Nothing will be written: the memory must not change either. */
  readonly dryRun: boolean;
};

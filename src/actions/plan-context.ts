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
  /**
   * Acts by people that the rule reads: string literals of its conditions, some of which are label names, and commands.
   * Absent: none.
   */
  readonly acts?: { readonly texts: readonly string[]; readonly commands: readonly string[] } | undefined;
  /** The bot's account; absent without a forge (a what-if). */
  readonly account?: { readonly id: number } | undefined;
  readonly memory: ActionMemory;
  /** Identity of the run's trigger (delivery or job) and of its subject. Identical for a retry. */
  readonly trigger: string;
  /** Fingerprints of named secrets; absent in a what-if, which has none. */
  readonly secrets?: Pick<NamedSecrets, 'fingerprint'> | undefined;
  /** Access to the merge queue, for this rule and repository; absent without a server. */
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
  /** Meter charged for patterns in the arguments. */
  readonly meter: Meter;
  /**
   * Returns whether the grants of the rule's file cover an action on a branch; if not, the action is refused. Absent:
   * always covered.
   */
  readonly covers?: (action: string, branch: string) => Promise<boolean>;
  /** Returns whether an operator rule writes a status with this name. Absent: unknown. */
  readonly isStatusOfOperator?: ((context: string) => boolean) | undefined;
  /** Dry run: nothing is written, neither to the forge nor to the memory. */
  readonly dryRun: boolean;
};

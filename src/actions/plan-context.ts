import type { Meter } from '../patterns/meter.ts';
import type { ActionMemory } from './memory.ts';
import type { QueueDesk } from './queue-desk.ts';
import type { NamedSecrets } from './secrets.ts';

/** Context of a plan besides arguments and facts. */
export type PlanContext = {
  /** Name of the rule, as used in markers and status contexts. */
  readonly rule: string;
  /** Level of the rule's file; only operator rules may access anything beyond the event's repository. */
  readonly level: 'operator' | 'organization' | 'repository';
  /**
   * Acts by people that the rule reads: string literals of its conditions, which may be label names, and commands.
   * Absent: none.
   */
  readonly acts?: { readonly texts: readonly string[]; readonly commands: readonly string[] } | undefined;
  /** The bot's account; absent without a forge (a what-if). */
  readonly account?: { readonly id: number } | undefined;
  readonly memory: ActionMemory;
  /** Identifies the run's trigger (delivery or job) and its subject. A retry has the same value. */
  readonly trigger: string;
  /** Fingerprints of named secrets; absent in a what-if, which has no secrets. */
  readonly secrets?: Pick<NamedSecrets, 'fingerprint'> | undefined;
  /** Access of this rule to the merge queue of this repository; absent without a server. */
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
   * Returns whether the grants of the rule's file cover an action on a branch; if they do not, the action is refused.
   * Absent: always covered.
   */
  readonly covers?: (action: string, branch: string) => Promise<boolean>;
  /** Returns whether an operator rule writes a status with this name. Absent: unknown. */
  readonly isStatusOfOperator?: ((context: string) => boolean) | undefined;
  /**
   * Returns why the repository of the subject must not get this name (without owner); undefined if it may. Absent in a
   * what-if.
   */
  readonly barToRename?: ((name: string) => Promise<string | undefined>) | undefined;
  /** Dry run: nothing is written, neither to the forge nor to the memory. */
  readonly dryRun: boolean;
};

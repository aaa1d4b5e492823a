import type { Meter } from '../patterns/meter.ts';
import type { ActionMemory } from './memory.ts';
import type { NamedSecrets } from './secrets.ts';

/** What an action is told beside its arguments and the facts: for whom it plans, and what it may rely on. */
export type PlanContext = {
  /** Name of the rule, as markers and contexts of statuses carry it. */
  readonly rule: string;
  /** Where the rule's file comes from; what is beyond the event's repository is the operator's alone. */
  readonly level: 'operator' | 'organization' | 'repository';
  /** The account Reeve acts as; absent where no forge is there (a what-if). */
  readonly account?: { readonly id: number } | undefined;
  readonly memory: ActionMemory;
  /** Tells named secrets apart without their values; absent in a what-if, which knows none. */
  readonly secrets?: Pick<NamedSecrets, 'fingerprint'> | undefined;
  /** The run's instant. */
  readonly now: Date;
  /** What patterns among the arguments are paid for by. */
  readonly meter: Meter;
  /** Nothing will be written: the memory is not to be changed either. */
  readonly dryRun: boolean;
};

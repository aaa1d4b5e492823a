import type { ActionMemory } from '../actions/memory.ts';
import type { PlanContext } from '../actions/plan-context.ts';
import type { QueueDesk } from '../actions/queue-desk.ts';
import type { NamedSecrets } from '../actions/secrets.ts';
import type { Capabilities } from '../client/capabilities.ts';
import type { Client } from '../client/client.ts';
import type { Event } from '../contract/events/events.ts';
import type { FactMemory, Facts } from '../facts/fact.ts';
import type { Clock } from '../platform/clock.ts';
import type { RuleSet } from '../rules/rule.ts';
import type { Consequences, EventCause } from './bounds/consequences.ts';
import type { ReadPauses } from './bounds/pauses.ts';
import type { MessageDoor } from './bounds/refusals.ts';
import type { Budgets } from './budget/budgets.ts';
import type { BudgetLedger } from './budget/write-history.ts';
import { isEnforced, type PlannedChange } from './proposal.ts';
import type { RunMode, Trigger } from './record.ts';
import type { OpenPulls } from './same-commit.ts';

/** Limits and services of every run of a process, regardless of its subject. */
export type RunSettings = {
  /** Secrets that rules of the operator may name; absent in a what-if, which has no secrets. */
  readonly secrets?: NamedSecrets | undefined;
  /** Sender of messages to receivers other than the forge; absent if nothing is sent. */
  readonly messages?: MessageDoor | undefined;
  /** Interface for adding pull requests to merge queues; absent if there are no queues. */
  readonly queue?: QueueDesk | undefined;
  /**
   * Returns the capabilities of the forge; called if a change needs something that not every forge supports. Absent:
   * everything is supported.
   */
  readonly capabilities?: (() => Promise<Capabilities>) | undefined;
  /** Limits of writes; absent: the engine's defaults. */
  readonly budgets?: Budgets | undefined;
  /** Returns the pauses in force; absent: there are no pauses. */
  readonly pauses?: ReadPauses | undefined;
  /** Recent writes; absent: runs do not share budgets. */
  readonly ledger?: BudgetLedger | undefined;
  /** Store of changes that cause events; absent: our own events trigger nothing. */
  readonly consequences?: Consequences | undefined;
  /** Returns whether an operator rule writes a status with this name; absent: unknown. */
  readonly isStatusOfOperator?: PlanContext['isStatusOfOperator'];
};

/** Context that the runs of a process share. The server, the command line and the CI action each create one. */
export type RunContext = RunSettings & {
  readonly client: Client;
  /** Returns the account that Reeve acts as, whose own events trigger nothing; absent: no event counts as our own. */
  readonly account?: (() => Promise<{ readonly id: number }>) | undefined;
  readonly clock: Clock;
  /** Cached responses of the forge that outlive a run. */
  readonly memory: FactMemory;
  /** Memory of actions that outlives a run; absent: the memory ends with the run. */
  readonly actionMemory?: ActionMemory | undefined;
};

/** Input of the engine. The engine uses neither disk nor server of its own, and waits only for its requests. */
export type RunInput = RunSettings & {
  readonly id: string;
  readonly mode: RunMode;
  readonly trigger: Trigger;
  readonly rules: RuleSet;
  /** Absent if a schedule or a person started the run. */
  readonly event?: Event | undefined;
  /**
   * Our id of the delivery that announced the event, if a later job runs the event again; absent: the id of the
   * trigger's delivery.
   */
  readonly announcedBy?: string | undefined;
  /** The item of `each`, under its name in conditions (`{ notification: … }`). */
  readonly item?: Readonly<Record<string, unknown>> | undefined;
  readonly facts: Facts;
  /** The open pull requests of its repository; absent: there is no other. */
  readonly pulls?: OpenPulls | undefined;
  /** Absent: there is no forge, the run ends with its plan. */
  readonly client?: Client | undefined;
  readonly account?: { readonly id: number } | undefined;
  /** Memory of actions; absent: it ends with the run. */
  readonly memory?: ActionMemory | undefined;
  /**
   * Maximum age of a comment or review that the event announces as new; an older or deleted one triggers nothing.
   * Absent if past events are planned: neither age nor deletion is checked.
   */
  readonly maxAnnouncedAgeMs?: number | undefined;
  /** Cause of the event, if our own account caused it and it may still trigger rules. */
  readonly cause?: EventCause | undefined;
  /** Time of the run. */
  readonly now: Date;
  readonly clock: Clock;
  /** True if the record also shows the rules of other event types. */
  readonly explainAll?: boolean | undefined;
};

/** Returns whether a change is sent. Nothing is sent for rules in `observe` mode, or in a run that does not enforce. */
export function isSent(planned: PlannedChange, input: RunInput): boolean {
  return isWriting(input) && isEnforced(planned);
}

/** Returns whether a run sends anything at all. */
export function isWriting({ mode, client }: RunInput): boolean {
  return mode === 'enforce' && client !== undefined;
}

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

/**
 * Judges one-time changes. The guard records those without a reason as made before it returns, so that no other process
 * makes them as well.
 */
export type OneTimeGuard = (changes: readonly PlannedChange[], input: RunInput) => Promise<JudgedOnce>;

export type JudgedOnce = {
  /** Reasons against changes. */
  readonly reasons: ReadonlyMap<PlannedChange, string>;
  /** Takes back the record of changes that certainly had no effect. Absent if there is none. */
  readonly release?: (unmade: readonly PlannedChange[]) => Promise<void>;
};

/** Limits and services that apply to every run of a process, regardless of the run's subject. */
export type RunSettings = {
  /** Secrets that rules of the operator may name; absent in a what-if, which has no secrets. */
  readonly secrets?: NamedSecrets | undefined;
  /** Sender of messages to receivers other than the forge; absent if nothing is sent. */
  readonly messages?: MessageDoor | undefined;
  /** Guard of one-time changes; if absent, they are made once for each delivery. */
  readonly oneTime?: OneTimeGuard | undefined;
  /** Interface for adding pull requests to merge queues; absent if there are no queues. */
  readonly queue?: QueueDesk | undefined;
  /**
   * Returns the capabilities of the forge; called if a change requires a capability that not every forge has. If
   * absent, everything is supported.
   */
  readonly capabilities?: (() => Promise<Capabilities>) | undefined;
  /** Limits on writes; if absent, the engine's defaults. */
  readonly budgets?: Budgets | undefined;
  /** Returns the pauses in force; if absent, there are no pauses. */
  readonly pauses?: ReadPauses | undefined;
  /** Recent writes; if absent, each run has separate budgets. */
  readonly ledger?: BudgetLedger | undefined;
  /** Store of changes that cause events; if absent, Reeve's own events trigger nothing. */
  readonly consequences?: Consequences | undefined;
  /** Returns whether an operator rule writes a status with this name; if absent, this is unknown. */
  readonly isStatusOfOperator?: PlanContext['isStatusOfOperator'];
  /**
   * Returns why settings or rules forbid that a repository gets another name, both as `owner/name`; undefined if they do
   * not. If absent, no repository is renamed.
   */
  readonly barToRename?: ((from: string, to: string) => Promise<string | undefined>) | undefined;
};

/** Context that the runs of a process share. The server, the command line and the CI action each create one. */
export type RunContext = RunSettings & {
  readonly client: Client;
  /**
   * Returns the account that Reeve uses. Events that Reeve causes with it trigger nothing. If absent, no event counts
   * as Reeve's own.
   */
  readonly account?: (() => Promise<{ readonly id: number }>) | undefined;
  readonly clock: Clock;
  /** Cached values of facts that remain valid across runs. */
  readonly memory: FactMemory;
  /** Memory of actions that outlives a run; if absent, the memory ends with the run. */
  readonly actionMemory?: ActionMemory | undefined;
};

/**
 * Input of the engine. The engine does not itself access the disk or start a server, and waits only for its requests.
 */
export type RunInput = RunSettings & {
  readonly id: string;
  readonly mode: RunMode;
  readonly trigger: Trigger;
  readonly rules: RuleSet;
  /** Absent if a schedule or a person started the run. */
  readonly event?: Event | undefined;
  /**
   * Reeve's id of the delivery that announced the event, if a later job runs the event again. If absent, the id of the
   * trigger's delivery applies.
   */
  readonly announcedBy?: string | undefined;
  /** The item of `each`, under its name in conditions (`{ notification: … }`). */
  readonly item?: Readonly<Record<string, unknown>> | undefined;
  readonly facts: Facts;
  /** The open pull requests of the subject's repository; if absent, there are no others. */
  readonly pulls?: OpenPulls | undefined;
  /** Client for the forge; if absent, there is no forge, and the run ends once the plan is made. */
  readonly client?: Client | undefined;
  readonly account?: { readonly id: number } | undefined;
  /** Memory of actions; if absent, the memory ends with the run. */
  readonly memory?: ActionMemory | undefined;
  /**
   * Maximum age of a comment or review that the event announces as new; an older or deleted one triggers nothing.
   * Absent when past events are planned: neither age nor deletion is then checked.
   */
  readonly maxAnnouncedAgeMs?: number | undefined;
  /** Cause of the event, if Reeve's own account caused the event and it may still trigger rules. */
  readonly cause?: EventCause | undefined;
  /**
   * Whether Reeve caused the event of its own account, or cannot rule it out. If absent, the account of the sender
   * decides.
   */
  readonly isOwn?: boolean | undefined;
  /** Time of the run. */
  readonly now: Date;
  readonly clock: Clock;
  /** True if the record also lists the rules for other event types. */
  readonly explainAll?: boolean | undefined;
};

/** Returns whether a change is sent. Nothing is sent for rules in `observe` mode, or in a run that does not enforce. */
export function isSent(planned: PlannedChange, input: RunInput): boolean {
  return isWriting(input) && isEnforced(planned);
}

/** Returns whether a run may send requests that write. */
export function isWriting({ mode, client }: RunInput): boolean {
  return mode === 'enforce' && client !== undefined;
}

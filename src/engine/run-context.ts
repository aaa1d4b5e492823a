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

/** What bounds and serves every run of a process, whatever the run is about. */
export type RunSettings = {
  /** Values that rules of the operator may name; absent in a what-if, which knows none. */
  readonly secrets?: NamedSecrets | undefined;
  /** How messages to receivers that are not the forge leave; absent where nothing is sent. */
  readonly messages?: MessageDoor | undefined;
  /** Where pull requests enter merge queues; absent where there are none. */
  readonly queue?: QueueDesk | undefined;
  /** Returns what the forge can do, asked when a change needs more than every forge has; absent: everything. */
  readonly capabilities?: (() => Promise<Capabilities>) | undefined;
  /** How much may be written; absent: the engine's defaults. */
  readonly budgets?: Budgets | undefined;
  /** Returns the pauses in force; absent: there are none. */
  readonly pauses?: ReadPauses | undefined;
  /** Recent writes; absent: each run stands alone. */
  readonly ledger?: BudgetLedger | undefined;
  /** Where changes that cause events are noted; absent: events of our own trigger nothing. */
  readonly consequences?: Consequences | undefined;
  /** Returns whether a rule of the operator writes a status with this name; absent: it is not known. */
  readonly isStatusOfOperator?: PlanContext['isStatusOfOperator'];
};

/** What the runs of a process share. The server, the command line and the CI action each have one. */
export type RunContext = RunSettings & {
  readonly client: Client;
  /** Returns the account that Reeve acts as, whose own events trigger nothing; absent: no event is its own. */
  readonly account?: (() => Promise<{ readonly id: number }>) | undefined;
  readonly clock: Clock;
  /** Answers of the forge that outlive a run. */
  readonly memory: FactMemory;
  /** What actions remember beyond a run; absent: it ends with the run. */
  readonly actionMemory?: ActionMemory | undefined;
};

/** What the engine evaluates. It has no disk and no server of its own, and takes the time of nothing but its requests. */
export type RunInput = RunSettings & {
  readonly id: string;
  readonly mode: RunMode;
  readonly trigger: Trigger;
  readonly rules: RuleSet;
  /** Absent where a clock or a person started the run. */
  readonly event?: Event | undefined;
  /** Our id of the delivery that announced the event, where a later job runs it again; absent: that of the trigger. */
  readonly announcedBy?: string | undefined;
  /** The item of `each`, by the name that conditions know it by (`{ notification: … }`). */
  readonly item?: Readonly<Record<string, unknown>> | undefined;
  readonly facts: Facts;
  /** The open pull requests of its repository; absent: there is no other. */
  readonly pulls?: OpenPulls | undefined;
  /** Absent: there is no forge, the run ends with its plan. */
  readonly client?: Client | undefined;
  readonly account?: { readonly id: number } | undefined;
  /** What actions remember; absent: it ends with the run. */
  readonly memory?: ActionMemory | undefined;
  /**
   * Age beyond which a comment or review that the event announces as new triggers nothing; also whether it must still be
   * there. Absent where past events are planned: neither matters.
   */
  readonly maxAnnouncedAgeMs?: number | undefined;
  /** What caused the event, if our own account did and rules may run for it all the same. */
  readonly cause?: EventCause | undefined;
  /** The instant of the run. */
  readonly now: Date;
  readonly clock: Clock;
  /** True where the record shows the rules that listen to other kinds, too. */
  readonly explainAll?: boolean | undefined;
};

/** Returns whether a change is sent: a rule in `observe`, and every rule of a run that is no enforcement, only plans. */
export function isSent(planned: PlannedChange, input: RunInput): boolean {
  return isWriting(input) && isEnforced(planned);
}

/** Returns whether a run sends anything at all. */
export function isWriting({ mode, client }: RunInput): boolean {
  return mode === 'enforce' && client !== undefined;
}

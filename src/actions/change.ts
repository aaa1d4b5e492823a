import type { Capability } from '../client/capabilities.ts';
import type { AnyInput } from '../contract/operation.ts';
import type { FactRequest } from '../facts/fact.ts';

/**
 * An intended write: an operation of the contract with its arguments, not applied yet.
 *
 * `target` identifies what it decides (`label:bug`, `status:ctx`, `protection:main.required_approvals`), `value` is the
 * desired value: conflicts between rules are about targets, never about requests. `before` and `after` are the states
 * shown to people and used by `reeve revert`.
 */
export type Change = DraftChange & {
  /** The reason, in the words of the rule. */
  readonly reason: string;
};

/** A change whose reason is not decided yet. */
export type DraftChange = {
  readonly action: string;
  /** Id of the contract's operation. */
  readonly operation: string;
  readonly input: AnyInput;
  readonly target: string;
  readonly value: unknown;
  readonly before: unknown;
  readonly after: unknown;
  /**
   * Already in the desired state, so nothing is written. The change is kept so that a conflict with another rule is
   * detected.
   */
  readonly already?: true;
  /** Facts to read again immediately before the write, for a new plan that replaces the current one. */
  readonly reads?: readonly FactRequest[];
  /**
   * Facts that a new plan with `reconsiders` need not request again: those that never change, and, until the forge
   * refuses the change, those in `reads` that need reading only once per run.
   */
  readonly keeps?: readonly FactRequest[];
  /** Changes with the same key are sent as one request; the action's `join` returns the input of that request. */
  readonly joins?: string;
  /**
   * Logins that receive rights or tasks through this change, if its own input does not contain them because it is
   * joined with others.
   */
  readonly accounts?: readonly string[];
  /** Facts whose cached answers this write invalidates. */
  readonly forgets?: readonly string[];
  /**
   * Changes are applied by stage, then in plan order. 0 creates objects that others need, and writes what a protection
   * of the same run may forbid; 1 is everything else; 2 deletes; 3 ends the subject, and is not sent if an earlier
   * change of its rule failed, was refused or deferred.
   */
  readonly stage?: 0 | 1 | 2 | 3;
  /** `if` and `when` of its step are evaluated again from fresh facts immediately before the write. */
  readonly reconsiders?: true;
  /**
   * The change is not possible now, and is refused with this reason. `polls`: what it waits for sends no event, so its
   * rule is re-evaluated for some time.
   */
  readonly waits?: { readonly why: string; readonly polls: boolean };
  /** Target of another change of its step that must succeed first: a replaced object is deleted only after its successor exists. */
  readonly needs?: string;
  /**
   * The change deletes one of the `there` items of a list. A limit applies to the number of deletions from one list in
   * a run.
   */
  readonly removes?: { readonly from: string; readonly there: number };
  /** Required capabilities of the forge; without them the change is refused before anything is sent. */
  readonly requires?: readonly Capability[];
  /** Branch that the change writes or merges into, if any: grants cover branches. */
  readonly branch?: string;
  /** The change writes to a branch of a fork: only grants that include forks cover it. */
  readonly fork?: true;
  /** Action whose grant the change needs in addition to the grant of its own action. */
  readonly alsoNeeds?: string;
  /** Events of our own that the change causes: they run the rules other than those that caused them. */
  readonly causes?: Cause;
  /**
   * The request names the state that it replaces. If the forge refuses the request, the change is planned once more,
   * because that state may have changed.
   */
  readonly pinned?: true;
  /** Why the forge may answer 403 although the account has the access that the action needs. */
  readonly forbidden?: string;
  /**
   * The change protects the subject, or its repository, from a merge: it uses the reserved part of the budgets, and
   * while a limit delays it, nothing is merged there. `tightens`: the change can only make a merge harder, so neither a
   * rule's own limit nor the flip guard stops it; `may-tighten`: it may also make a merge easier.
   */
  readonly protects?: 'tightens' | 'may-tighten';
  /** The answer does not show the result, so a new plan from fresh reads verifies it after the write. */
  readonly verify?: true;
};

/** An event caused by a change, and the data that identifies it. */
export type Cause =
  | { readonly event: 'merged'; readonly number: number; readonly head: string; readonly base: string }
  /** `head` is the previous head commit; `branch` is absent for a head in a fork. */
  | { readonly event: 'updated'; readonly number: number; readonly head: string; readonly branch?: string }
  | { readonly event: 'created'; readonly branch: string }
  | { readonly event: 'deleted'; readonly branch: string }
  | { readonly event: 'opened'; readonly head: string; readonly base: string }
  /**
   * `head` is the previous head commit. The answer contains the new one; without an answer, the message identifies it.
   */
  | { readonly event: 'committed'; readonly branch: string; readonly head: string; readonly message: string };

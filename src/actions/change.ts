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
  /** The reason for the change, in the words of the rule. */
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
   * Set if the target is already in the desired state, so nothing is written. The change is kept so that a conflict
   * with another rule is detected.
   */
  readonly already?: true;
  /** Facts to read again immediately before the write, for a new plan that replaces the current one. */
  readonly reads?: readonly FactRequest[];
  /**
   * Facts that a new plan with `reconsiders` need not request again: facts that never change and, until the forge
   * refuses the change, facts in `reads` that need to be read only once per run.
   */
  readonly keeps?: readonly FactRequest[];
  /** Changes with the same key are sent as one request; `join` of the action returns the input of that request. */
  readonly joins?: string;
  /**
   * Logins that receive permissions or assignments through this change, if the change's own input does not contain them
   * because it is joined with others.
   */
  readonly accounts?: readonly string[];
  /** Facts whose cached values this write invalidates. */
  readonly forgets?: readonly string[];
  /**
   * Changes are applied by stage, then in plan order. 0 creates objects that others need, and writes what a protection
   * of the same run may forbid; 1 is everything else; 2 deletes; 3 ends the subject, or cannot be taken back; 4 archives
   * the repository, which then accepts no other change. 3 and 4 are not sent if an earlier change of their rule failed,
   * was refused or deferred.
   */
  readonly stage?: 0 | 1 | 2 | 3 | 4;
  /** Set if the change ends the archived state of the repository: no other change is sent to an archived one. */
  readonly unarchives?: true;
  /** Set if `if` and `when` of the step are evaluated again from fresh facts immediately before the write. */
  readonly reconsiders?: true;
  /**
   * Set if the change is not possible now; it is then refused with the reason `why`. `polls`: the forge sends no event
   * when the change becomes possible, so the rule is re-evaluated for some time.
   */
  readonly waits?: { readonly why: string; readonly polls: boolean };
  /**
   * Target of another change of the same step that must succeed first: a replaced object is deleted only after its
   * successor exists.
   */
  readonly needs?: string;
  /**
   * Set if the change deletes an item of a list that has `there` items. The number of deletions per list and run is
   * limited.
   */
  readonly removes?: { readonly from: string; readonly there: number };
  /** Required capabilities of the forge; without them the change is refused before anything is sent. */
  readonly requires?: readonly Capability[];
  /** Branch that the change writes or merges into, if any: grants cover branches. */
  readonly branch?: string;
  /** The change writes to a branch of a fork, so only grants that include forks cover it. */
  readonly fork?: true;
  /** Action whose grant the change needs in addition to the grant of its own action. */
  readonly alsoNeeds?: string;
  /** Event that the change causes. It runs all rules except those that caused it. */
  readonly causes?: Cause;
  /**
   * Set if the request contains the state that it replaces. If the forge refuses the request, the change is planned
   * once more, because that state may have changed.
   */
  readonly pinned?: true;
  /** Why the forge may return 403 although the account has the access that the action needs. */
  readonly forbidden?: string;
  /**
   * The change protects the subject, or its repository, from a merge: it uses the reserved part of the budgets, and
   * while a limit delays the change, nothing is merged there. `tightens`: the change can only make a merge harder, so
   * neither a rule's own limit nor the flip guard stops it; `may-tighten`: the change may also make a merge easier.
   */
  readonly protects?: 'tightens' | 'may-tighten';
  /** The response does not show the result, so a new plan from fresh reads verifies it after the write. */
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
   * `head` is the previous head commit. The response contains the new head; without a response, `message` identifies
   * the commit.
   */
  | { readonly event: 'committed'; readonly branch: string; readonly head: string; readonly message: string };

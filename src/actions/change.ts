import type { Capability } from '../client/capabilities.ts';
import type { AnyInput } from '../contract/operation.ts';
import type { FactRequest } from '../facts/fact.ts';

/**
 * One intended write: a row of the contract with its arguments filled in that has not happened yet.
 *
 * `target` names what it decides (`label:bug`, `status:ctx`, `protection:main.required_approvals`), `value` what that
 * shall be: two rules agree or quarrel about targets, never about requests. `before` and `after` are the subject's state
 * for people and for `reeve revert`.
 */
export type Change = {
  readonly action: string;
  /** Id of the contract's row. */
  readonly operation: string;
  readonly input: AnyInput;
  readonly target: string;
  readonly value: unknown;
  readonly before: unknown;
  readonly after: unknown;
  /** Why, in the words of the rule. */
  readonly reason: string;
  /** It is so already: nothing is written. Kept so that a rule that wants otherwise is noticed. */
  readonly already?: true;
  /** Facts to read again immediately before the write; the same plan made from them decides. */
  readonly reads?: readonly FactRequest[];
  /** Changes with the same key leave as one request; the action's `join` says with which input. */
  readonly joins?: string;
  /** Facts whose remembered answers this write makes untrue. */
  readonly forgets?: readonly string[];
  /** Changes are applied in order of stage, then of appearance: 0 makes what others need, 1 is the rest, 2 removes. */
  readonly stage?: 0 | 1 | 2;
  /** Target of another change of its step without which this one is not made: what is replaced goes only with its successor. */
  readonly needs?: string;
  /** It deletes one of the `there` things of a list; how much of one list may go at once is bounded. */
  readonly removes?: { readonly from: string; readonly there: number };
  /** What the forge must be able to do; where it cannot, the change is refused before anything is sent. */
  readonly requires?: readonly Capability[];
  /** The answer does not show what was done: it is planned again from fresh reads after the write, too. */
  readonly verify?: true;
};

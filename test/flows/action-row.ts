import type { Capability } from '../../src/client/capabilities.ts';
import { operations } from '../../src/contract/operations.ts';
import { at, type Harness } from '../support/harness.ts';
import type { HookReceiver } from '../support/hook-receiver.ts';
import { addFile } from '../support/privilege-setup.ts';

/** What a row keeps from its setup: the number of an issue or pull request. */
export type Arranged = { readonly index: number };

/** One action under test: its event, its effect, and the revert of the effect. */
export type ActionRow = {
  /** Distinguishes two rows of the same action. */
  readonly called?: string;
  readonly action: string;
  /** Capability that a forge needs for this row; a forge without it skips the row. */
  readonly requires?: Capability;
  /** The rule as YAML, without its name. `receiver` is a URL that accepts deliveries. */
  readonly rule: (receiver: string) => string;
  readonly arrange?: (harness: Harness, receiver: string) => Promise<Arranged>;
  /** Triggers the rule. A row without this function is triggered by a sweep. */
  readonly happens?: (harness: Harness, arranged: Arranged) => Promise<unknown>;
  /** Reads the state that the rule affects, and adjacent state. */
  readonly read: (harness: Harness, arranged: Arranged, receiver: HookReceiver) => Promise<unknown>;
  /** The state after the rule has run for the event. */
  readonly declared: unknown;
  /** What `reeve revert` reports for changes that the API cannot undo, by target. */
  readonly stays?: Readonly<Record<string, RegExp>>;
  /** The state after the revert, if it differs from the first state. */
  readonly back?: unknown;
};

/** Opens an issue as ada. */
export async function openIssue({ ada }: Harness, title: string): Promise<Arranged> {
  const { number } = await ada.call(operations.createIssue, { params: at, body: { title } });
  return { index: number };
}

/** Returns the `on` field of a rule for pushes to one branch. */
export const onPush = (branch: string): string => `on: { push: { branches: [${branch}] } }`;

/** Pushes a file to a new branch. */
export const push =
  (branch: string) =>
  ({ root }: Harness): Promise<void> =>
    addFile(root, at, branch, `pushed/${branch}.txt`);

/** Returns the fields of a rule that is swept only by the command, because its schedule is January 1. */
export const onEverySweep = (kind: string): string => `on: { schedule: "0 0 1 1 *" }
each: ${kind}`;

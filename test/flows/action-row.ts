import type { Capability } from '../../src/client/capabilities.ts';
import { operations } from '../../src/contract/operations.ts';
import { at, type Harness } from '../support/harness.ts';
import type { HookReceiver } from '../support/hook-receiver.ts';
import { addFile } from '../support/privilege-setup.ts';

/** What a row keeps of what it arranged: a number of an issue or pull request. */
export type Arranged = { readonly index: number };

/** One action from its event to its end and back again. */
export type ActionRow = {
  /** Two rows of one action differ in this. */
  readonly called?: string;
  readonly action: string;
  /** The row is skipped on a forge without it. */
  readonly requires?: Capability;
  /** The rule as YAML, without its name. `receiver` is an address that takes deliveries. */
  readonly rule: (receiver: string) => string;
  readonly arrange?: (harness: Harness, receiver: string) => Promise<Arranged>;
  /** What happens; a row without it is swept. */
  readonly happens?: (harness: Harness, arranged: Arranged) => Promise<unknown>;
  /** Reads what the rule is about, and what lies beside it. */
  readonly read: (harness: Harness, arranged: Arranged, receiver: HookReceiver) => Promise<unknown>;
  /** The state after the rule ran for the event. */
  readonly declared: unknown;
  /** What `reeve revert` says where the API has no way back, by target. */
  readonly stays?: Readonly<Record<string, RegExp>>;
  /** The state after the revert, where that is not the first state. */
  readonly back?: unknown;
};

/** Opens an issue as ada. */
export async function openIssue({ ada }: Harness, title: string): Promise<Arranged> {
  const { number } = await ada.call(operations.createIssue, { params: at, body: { title } });
  return { index: number };
}

/** Listens to pushes to one branch. */
export const onPush = (branch: string): string => `on: { push: { branches: [${branch}] } }`;

/** Pushes a file to a branch, which is made for it. */
export const push =
  (branch: string) =>
  ({ root }: Harness): Promise<void> =>
    addFile(root, at, branch, `pushed/${branch}.txt`);

/** Is swept, by a person's command: the clock says new year. */
export const onEverySweep = (kind: string): string => `on: { schedule: "0 0 1 1 *" }
each: ${kind}`;

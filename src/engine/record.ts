import type { ForgeRequest } from '../client/request-log.ts';
import type { Level } from '../rules/rule.ts';
import type { Verdict } from '../rules/verdict.ts';

/**
 * The types of a run, the same in the store, on the command line (`--json`), on the dashboard and in the CI summary.
 * Source: the rule language's section 5. They are plain data: later versions read the data stored today.
 */

/** Trigger of a run. */
export type Trigger = {
  readonly door: 'webhook' | 'cron' | 'cli' | 'ci';
  /** The event family (`pull_request`), or `schedule`. */
  readonly kind: string;
  /** The payload's `action` member (`opened`); empty if the kind has none. */
  readonly activity: string;
  /** Our id of the delivery. */
  readonly delivery?: string;
  /** The delivery has the body of an earlier one: it was redelivered, or recorded and replayed. */
  readonly repeated?: true;
  /** The change of an earlier run that caused the event, if it is an event of our own account that runs other rules. */
  readonly because?: { readonly run: string; readonly change: string };
  readonly slot?: string;
  readonly item?: string;
  /** Id of the account that caused the event. Absent in runs of earlier versions. */
  readonly sender?: number;
  /** The instant of the run, RFC 3339. */
  readonly at: string;
};

/** A recorded change: see `actions/change.ts` for the members of the change itself. */
export type RecordedChange = {
  readonly id: string;
  /** Identities of the rules that requested it (`source path#rule name`). */
  readonly rules: readonly string[];
  /** The most powerful origin among those rules; absent in runs of earlier versions. */
  readonly level?: Level;
  readonly step: string;
  readonly action: string;
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly input: unknown;
  readonly target: string;
  readonly value: unknown;
  readonly before: unknown;
  readonly after: unknown;
  readonly reason: string;
  /** Why it is irreversible, if it is. */
  readonly irreversible?: string;
  /** It protects its subject from a merge: see `actions/change.ts`. Absent in runs of earlier versions. */
  readonly protects?: 'tightens' | 'may-tighten';
  /** Only rules in `observe` mode want it: it is never sent. Absent in runs of earlier versions. */
  readonly observed?: true;
};

export type Outcome = {
  readonly change: string;
  readonly status: 'applied' | 'skipped' | 'failed' | 'planned';
  readonly error?: string;
  /** It was applied in another place than planned: an incident that no later run ends. */
  readonly misplaced?: true;
  /** Members of the result that only the response of the forge contains. Absent in runs of earlier versions. */
  readonly made?: Readonly<Record<string, unknown>>;
};

/** A wanted change that was not sent. */
type RecordedRefusal = {
  readonly change: RecordedChange;
  readonly why: string;
  /** RFC 3339; set if a limit defers the change: its trigger runs again at this instant. */
  readonly until?: string;
  /** Login that now belongs to another account than at first use, if that is the reason. Absent in runs of earlier versions. */
  readonly account?: string;
};

export type RunMode = 'enforce' | 'observe' | 'plan';

export type Run = {
  readonly schema: 1;
  readonly id: string;
  readonly mode: RunMode;
  readonly trigger: Trigger;
  readonly rules: readonly Verdict[];
  readonly changes: readonly RecordedChange[];
  readonly refused: readonly RecordedRefusal[];
  readonly outcomes: readonly Outcome[];
  /** Requests sent to the forge, by the client's own count. */
  readonly requests: number;
  /** The first of them, each with its response. Absent in runs of earlier versions and in runs without a forge. */
  readonly forgeRequests?: readonly ForgeRequest[];
  /** Number of omitted requests. Absent: none. */
  readonly forgeRequestsLeftOut?: number;
  readonly ms: number;
};

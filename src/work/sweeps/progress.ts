/** One item that a sweep could not finish, or a list that the forge refused. */
export type SweepFailure = {
  readonly item: string;
  readonly error: string;
  /** The request and the status by which the forge refused a list: `GET /orgs/acme/actions/runners: 403`. */
  readonly refused?: string;
};

/** How far a sweep is: part of its checkpoint, so that a reader sees the same after a restart. */
export type SweepProgress = {
  /** RFC 3339. */
  readonly startedAt: string;
  /** Items held against the rule. */
  readonly items: number;
  /** How many there are in all, where that is known. */
  readonly total: number | undefined;
  /** Changes that were made. */
  readonly changes: number;
  /** Changes that are wanted and were not made: the rule observes, or they were refused or failed. */
  readonly pending: number;
  readonly failed: number;
  /** Lists that the forge refused, which are among those that failed; absent in sweeps of earlier versions. */
  readonly refused?: number;
  /** The first failures; lists come before items. */
  readonly failures: readonly SweepFailure[];
  /** The limit of items of one slot, where it was reached. */
  readonly limit?: number | undefined;
  /** Requests to the forge. */
  readonly requests: number;
  /** Milliseconds at work, over all attempts. */
  readonly ms: number;
};

/** Failures that are listed; the rest are counted. */
const maxListed = 20;

/** Returns the progress of a sweep that begins. */
export function beginProgress(now: Date): SweepProgress {
  const counts = { items: 0, total: undefined, changes: 0, pending: 0, failed: 0, requests: 0, ms: 0 };
  return { startedAt: now.toISOString(), failures: [], ...counts };
}

export function withFailures(progress: SweepProgress, failures: readonly SweepFailure[]): SweepProgress {
  const all = [...progress.failures, ...failures];
  const [lists, items] = [true, false].map((is) =>
    all.filter(({ refused }) => (refused !== undefined) === is),
  );
  return {
    ...progress,
    failed: progress.failed + failures.length,
    refused: (progress.refused ?? 0) + failures.filter(({ refused }) => refused !== undefined).length,
    failures: [...(lists ?? []), ...(items ?? [])].slice(0, maxListed),
  };
}

/** Returns the progress as one sentence. */
export function describeProgress(progress: SweepProgress): string {
  const { items, total, changes, pending, failed, refused = 0, requests, limit } = progress;
  const of = total === undefined ? '' : ` of ${total}`;
  const refusal = refused === 0 ? '' : `: ${describeRefusals(progress)}`;
  const rest = pending === 0 ? '' : `, ${pending} wanted and not made`;
  const others = failed - refused;
  const wrong = others === 0 ? '' : `, ${others} failed`;
  const end = limit === undefined ? '' : `: ${describeLimit(limit)}`;
  return `${items}${of} items${refusal}, ${changes} changes${rest}${wrong}, ${requests} requests${end}`;
}

/** Returns that a slot has changed as many items as its rule allows. */
export function describeLimit(items: number): string {
  return `at most ${items === 1 ? '1 item is' : `${items} items are`} changed in one slot`;
}

/** Returns which lists the forge refused: `refused in acme, GET /orgs/acme/actions/runners: 403, and 2 more`. */
export function describeRefusals({ failures, refused = 0 }: SweepProgress): string {
  const first = failures.find((failure) => failure.refused !== undefined);
  if (first === undefined) return '';
  const more = refused === 1 ? '' : `, and ${refused - 1} more`;
  return `refused in ${first.item}, ${first.refused}${more}`;
}

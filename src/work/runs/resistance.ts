import type { Run } from '../../engine/record.ts';
import type { Ran } from '../../engine/run.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Store } from '../../store/store.ts';

/** The beginning of the keys under which the store keeps the refusals of waiting rows. Their values have an instant `at`. */
export const resistancePrefix = 'waiting refused ';

/**
 * A change that the forge refuses for no reason that it shows (409): of a conflict, it shows the reason within seconds. Other
 * reasons last until a person acts, which is an event with a row of its own.
 */
const maxRefusals = 6;
/** Wait after the first refusal; it doubles with each. */
const firstWaitMs = 30_000;

/** Longest wait of a rule that has to protect its subject: it is tried again as long as its row lives. */
const longestWaitMs = 3_600_000;

/** Rule → its refusals so far, and when it is tried again. `lasts`: however often it was refused. */
type Refusals = Readonly<
  Record<string, { readonly count: number; readonly next: string; readonly lasts?: true }>
>;
type StoredRefusals = { readonly at: string; readonly refusals: Refusals };

/** A look that was noted: the rules that still wait, the time until one of them may be tried, and those that are not tried again. */
type NotedLook = {
  readonly left: readonly string[];
  readonly nextMs: number;
  readonly givenUp: readonly string[];
  /** The run, which says what was given up. */
  readonly run: Run;
};

/** What forges refuse to the rules of one waiting row. */
export type Resistance = {
  /** Rules to look at now. */
  readonly due: readonly string[];
  /** Time until the next rule is due. */
  readonly nextMs: number;
  /** Notes what a look came to. */
  readonly note: (ran: Pick<Ran, 'awaiting' | 'resisted' | 'unprotected' | 'run'>) => Promise<NotedLook>;
  /** Deletes what is stored, at the end of the row. */
  readonly forget: () => Promise<void>;
};

/** Reads the refusals of a row; they survive a restart. */
export async function readResistance(
  row: string,
  rules: readonly string[],
  {
    store,
    clock,
  }: { readonly store: Pick<Store, 'remember' | 'recall'>; readonly clock: Pick<Clock, 'now'> },
): Promise<Resistance> {
  const key = `${resistancePrefix}${row}`;
  // The value was stored by the function below.
  const { refusals: known = {} } = ((await store.recall(key)) ?? {}) as Partial<StoredRefusals>;
  const now = clock.now();
  let isStored = Object.keys(known).length > 0;
  const isGivenUp = (rule: string, refusals: Refusals): boolean =>
    (refusals[rule]?.count ?? 0) >= maxRefusals && !refusals[rule]?.lasts;
  const open = rules.filter((rule) => !isGivenUp(rule, known));
  const waitOf = (rule: string, refusals: Refusals): number =>
    Math.max(Date.parse(refusals[rule]?.next ?? now.toISOString()) - now.getTime(), 0);
  const nextMsOf = (some: readonly string[], refusals: Refusals): number =>
    some.length === 0 ? 0 : Math.min(...some.map((rule) => waitOf(rule, refusals)));
  const due = open.filter((rule) => waitOf(rule, known) === 0);
  return {
    due,
    nextMs: nextMsOf(open, known),
    async note({ awaiting = [], resisted = [], unprotected = [], run }) {
      const refusals: Record<string, Refusals[string]> = { ...known };
      const refused = [...new Set([...resisted, ...unprotected])].filter((rule) => due.includes(rule));
      for (const rule of refused) {
        const count = (known[rule]?.count ?? 0) + 1;
        const waitMs = Math.min(firstWaitMs * 2 ** (count - 1), longestWaitMs);
        const next = new Date(now.getTime() + waitMs).toISOString();
        refusals[rule] = { count, next, ...(unprotected.includes(rule) ? { lasts: true } : {}) };
      }
      if (refused.length > 0) {
        await store.remember(key, { at: now.toISOString(), refusals } satisfies StoredRefusals);
        isStored = true;
      }
      const givenUp = refused.filter((rule) => isGivenUp(rule, refusals));
      const waiting = [...awaiting, ...unprotected];
      const left = open.filter(
        (rule) => !givenUp.includes(rule) && (!due.includes(rule) || waiting.includes(rule)),
      );
      return { left, givenUp, nextMs: nextMsOf(left, refusals), run: withGivenUp(run, givenUp) };
    },
    async forget() {
      if (isStored) await store.remember(key, undefined);
    },
  };
}

/** Returns the run whose failed changes of these rules say that they are not tried again. */
function withGivenUp(run: Run, rules: readonly string[]): Run {
  if (rules.length === 0) return run;
  const ids = new Set(
    run.changes.filter((change) => change.rules.some((rule) => rules.includes(rule))).map(({ id }) => id),
  );
  const why = `refused ${maxRefusals} times: not tried again before the next event about the pull request`;
  return {
    ...run,
    outcomes: run.outcomes.map((outcome) =>
      outcome.status === 'failed' && ids.has(outcome.change)
        ? { ...outcome, error: [outcome.error, why].filter(Boolean).join('; ') }
        : outcome,
    ),
  };
}

/**
 * Maximum number of changes: of all rules together (`all`), and of rules of repository files within that number
 * (`repository`).
 */
export type Budget = { readonly all: number; readonly repository: number };

/**
 * Maximum number of changes per delivery, and per hour in one repository. Changes beyond these numbers are deferred or
 * refused.
 */
export type Budgets = { readonly delivery: Budget; readonly hour: Budget };

/** Share of a budget, rounded down, that is reserved for protective changes (`Change.protects`). */
const reservedShare = 0.2;
/** Share of the unreserved budget that a single account without write access may cause per hour. */
const accountShare = 0.1;

/** Returns the part of a budget for changes that are not protective. */
export function unreserved({ all, repository }: Budget): Budget {
  const rest = (budget: number): number => budget - Math.floor(budget * reservedShare);
  return { all: rest(all), repository: rest(repository) };
}

/** Returns the share of a budget that a single account without write access may use: at least one change. */
export function shareOfAccount(budget: Budget): Budget {
  const { all, repository } = unreserved(budget);
  const share = (rest: number): number => Math.min(rest, Math.max(1, Math.floor(rest * accountShare)));
  return { all: share(all), repository: share(repository) };
}

/** Default budgets. */
export const budgets: Budgets = {
  delivery: { all: 50, repository: 20 },
  hour: { all: 500, repository: 100 },
};

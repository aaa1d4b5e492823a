/** How many changes may be made: by all rules together, and by the files of repositories among them. */
export type Budget = { readonly all: number; readonly repository: number };

/** Changes one delivery may make, and changes an hour may see in one repository. What is beyond them is refused. */
export type Budgets = { readonly delivery: Budget; readonly hour: Budget };

/** A part of a budget, rounded down, is reserved for protective changes (`Change.protects`). */
const reservedShare = 0.2;
/** Of the rest, what one account without write access may cause in an hour. */
const accountShare = 0.1;

/** Returns what of a budget is for changes that protect nothing. */
export function unreserved({ all, repository }: Budget): Budget {
  const rest = (budget: number): number => budget - Math.floor(budget * reservedShare);
  return { all: rest(all), repository: rest(repository) };
}

/** Returns what of a budget one account without write access may cause: one change at least. */
export function shareOfAccount(budget: Budget): Budget {
  const { all, repository } = unreserved(budget);
  const share = (rest: number): number => Math.min(rest, Math.max(1, Math.floor(rest * accountShare)));
  return { all: share(all), repository: share(repository) };
}

/** What is allowed where the operator says nothing. */
export const budgets: Budgets = {
  delivery: { all: 50, repository: 20 },
  hour: { all: 500, repository: 100 },
};

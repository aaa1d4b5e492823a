/** How many changes may be made: by all rules together, and by the files of repositories among them. */
export type Budget = { readonly all: number; readonly repository: number };

/** Changes one delivery may make, and changes an hour may see in one repository. What is beyond them is refused. */
export type Budgets = { readonly delivery: Budget; readonly hour: Budget };

/** What is allowed where the operator says nothing. */
export const budgets: Budgets = {
  delivery: { all: 50, repository: 20 },
  hour: { all: 500, repository: 100 },
};

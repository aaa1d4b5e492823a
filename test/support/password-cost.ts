/** The cheapest derivation of passwords, for forges of tests: they create thousands of accounts. */
export const passwordCost = 2;

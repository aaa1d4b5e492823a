/** Pull requests that were pushed to `refs/for/…` (AGit): their head is no branch, only `refs/pull/NUMBER/head`. */
export const agit = /* sql */ `
ALTER TABLE pulls ADD COLUMN flow INTEGER NOT NULL DEFAULT 0;
`;

/**
 * Hooks know who set their address: site administrators may name private ones. Answers know whether they are from one; those of
 * before this migration count as such. Nobody is known to have set the addresses of before.
 */
export const hookTargets = /* sql */ `
ALTER TABLE hooks ADD COLUMN url_by INTEGER REFERENCES users (id) ON DELETE SET NULL;
ALTER TABLE hook_tasks ADD COLUMN is_answer_private INTEGER NOT NULL DEFAULT 1;
`;

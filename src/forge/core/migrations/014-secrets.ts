/**
 * Secrets and variables of Actions, of a repository or of an account. A secret has no value: nothing of this forge reads one,
 * so none is kept.
 */
export const secrets = /* sql */ `
CREATE TABLE action_secrets (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER REFERENCES repositories (id) ON DELETE CASCADE,
  owner_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  CHECK ((repo_id IS NULL) <> (owner_id IS NULL))
) STRICT;
CREATE UNIQUE INDEX action_secrets_repo ON action_secrets (repo_id, name) WHERE repo_id IS NOT NULL;
CREATE UNIQUE INDEX action_secrets_owner ON action_secrets (owner_id, name) WHERE owner_id IS NOT NULL;

CREATE TABLE action_variables (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER REFERENCES repositories (id) ON DELETE CASCADE,
  owner_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  CHECK ((repo_id IS NULL) <> (owner_id IS NULL))
) STRICT;
CREATE UNIQUE INDEX action_variables_repo ON action_variables (repo_id, name) WHERE repo_id IS NOT NULL;
CREATE UNIQUE INDEX action_variables_owner ON action_variables (owner_id, name) WHERE owner_id IS NOT NULL;
`;

/**
 * Mirrors: repositories that follow another one (`mirrors`), and addresses that a repository is pushed to (`push_mirrors`).
 * Passwords are needed for every fetch and push; no operation answers them.
 */
export const mirrors = /* sql */ `
ALTER TABLE repositories ADD COLUMN original_url TEXT NOT NULL DEFAULT '';
ALTER TABLE repositories ADD COLUMN is_mirror INTEGER NOT NULL DEFAULT 0;
ALTER TABLE repositories ADD COLUMN mirror_interval INTEGER NOT NULL DEFAULT 0;
ALTER TABLE repositories ADD COLUMN mirror_synced_at INTEGER NOT NULL DEFAULT 0;

CREATE TABLE mirrors (
  repo_id INTEGER PRIMARY KEY REFERENCES repositories (id) ON DELETE CASCADE,
  address TEXT NOT NULL,
  username TEXT NOT NULL,
  password TEXT NOT NULL,
  next_at INTEGER NOT NULL
) STRICT;
CREATE INDEX mirrors_due ON mirrors (next_at) WHERE next_at > 0;

CREATE TABLE push_mirrors (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  remote_name TEXT NOT NULL,
  address TEXT NOT NULL,
  username TEXT NOT NULL,
  password TEXT NOT NULL,
  interval INTEGER NOT NULL,
  sync_on_commit INTEGER NOT NULL,
  last_error TEXT NOT NULL DEFAULT '',
  synced_at INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (repo_id, remote_name)
) STRICT;
CREATE INDEX push_mirrors_due ON push_mirrors (next_at) WHERE next_at > 0;
`;

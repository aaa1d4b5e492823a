/**
 * Runners of every level and the tokens with which they register. `repo_id` set: a repository's; `owner_id` set: a
 * person's or an organization's; neither: the instance's. A delivery knows which one it repeats.
 */
export const runners = /* sql */ `
CREATE TABLE runners (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER REFERENCES repositories (id) ON DELETE CASCADE,
  owner_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  labels TEXT NOT NULL DEFAULT '[]',
  is_ephemeral INTEGER NOT NULL DEFAULT 0,
  is_disabled INTEGER NOT NULL DEFAULT 0,
  last_online_at INTEGER NOT NULL DEFAULT 0,
  last_active_at INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  CHECK (repo_id IS NULL OR owner_id IS NULL)
) STRICT;
CREATE INDEX runners_online ON runners (last_online_at DESC, id);
CREATE INDEX runners_repo ON runners (repo_id, last_online_at DESC, id) WHERE repo_id IS NOT NULL;
CREATE INDEX runners_owner ON runners (owner_id, last_online_at DESC, id) WHERE owner_id IS NOT NULL;

CREATE TABLE runner_tokens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER REFERENCES repositories (id) ON DELETE CASCADE,
  owner_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  token TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX runner_tokens_holder ON runner_tokens (repo_id, owner_id);

ALTER TABLE hook_tasks ADD COLUMN again_of TEXT NOT NULL DEFAULT '';
`;

/**
 * Hooks of every level and what was sent to them. `repo_id` set: a repository's hook; `owner_id` set: a person's or an
 * organization's; neither: the instance's, `is_system` telling a hook that hears everything from a default one.
 */
export const hooks = /* sql */ `
CREATE TABLE hooks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER REFERENCES repositories (id) ON DELETE CASCADE,
  owner_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  is_system INTEGER NOT NULL DEFAULT 0,
  type TEXT NOT NULL,
  name TEXT NOT NULL DEFAULT '',
  url TEXT NOT NULL,
  content_type TEXT NOT NULL CHECK (content_type IN ('json', 'form')),
  secret TEXT NOT NULL DEFAULT '',
  meta TEXT NOT NULL DEFAULT '{}',
  events TEXT NOT NULL DEFAULT '[]',
  branch_filter TEXT NOT NULL DEFAULT '',
  authorization_header TEXT NOT NULL DEFAULT '',
  is_active INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK (repo_id IS NULL OR owner_id IS NULL)
) STRICT;
CREATE INDEX hooks_repo ON hooks (repo_id) WHERE repo_id IS NOT NULL;
CREATE INDEX hooks_owner ON hooks (owner_id) WHERE owner_id IS NOT NULL;
CREATE INDEX hooks_system ON hooks (is_system) WHERE repo_id IS NULL AND owner_id IS NULL;

CREATE TABLE hook_tasks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  hook_id INTEGER NOT NULL REFERENCES hooks (id) ON DELETE CASCADE,
  event_type TEXT NOT NULL,
  event TEXT NOT NULL,
  payload TEXT NOT NULL,
  request_headers TEXT NOT NULL DEFAULT '{}',
  request_body TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'sending', 'delivered', 'failed')),
  response_status INTEGER NOT NULL DEFAULT 0,
  response_headers TEXT NOT NULL DEFAULT '{}',
  response_body TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  delivered_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX hook_tasks_hook ON hook_tasks (hook_id, id);
CREATE INDEX hook_tasks_age ON hook_tasks (created_at);
CREATE INDEX hook_tasks_queued ON hook_tasks (id) WHERE state = 'queued';
CREATE INDEX hook_tasks_sending ON hook_tasks (id) WHERE state = 'sending';
`;

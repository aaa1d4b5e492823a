/**
 * Repositories and who may reach them. Triggers maintain the counters, whichever statement writes; settings
 * without a query of their own live in one JSON column.
 */
export const repositories = /* sql */ `
CREATE TABLE repositories (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner_id INTEGER NOT NULL REFERENCES users (id),
  name TEXT NOT NULL,
  lower_name TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  website TEXT NOT NULL DEFAULT '',
  default_branch TEXT NOT NULL DEFAULT 'main',
  object_format TEXT NOT NULL DEFAULT 'sha1' CHECK (object_format IN ('sha1', 'sha256')),
  is_private INTEGER NOT NULL DEFAULT 0,
  is_template INTEGER NOT NULL DEFAULT 0,
  is_empty INTEGER NOT NULL DEFAULT 1,
  archived_at INTEGER NOT NULL DEFAULT 0,
  fork_id INTEGER REFERENCES repositories (id) ON DELETE SET NULL,
  settings TEXT NOT NULL DEFAULT '{}',
  topics TEXT NOT NULL DEFAULT '[]',
  size INTEGER NOT NULL DEFAULT 0,
  num_branches INTEGER NOT NULL DEFAULT 0,
  num_forks INTEGER NOT NULL DEFAULT 0,
  num_stars INTEGER NOT NULL DEFAULT 0,
  num_watches INTEGER NOT NULL DEFAULT 0,
  num_releases INTEGER NOT NULL DEFAULT 0,
  num_open_issues INTEGER NOT NULL DEFAULT 0,
  num_open_pulls INTEGER NOT NULL DEFAULT 0,
  last_index INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (owner_id, lower_name)
) STRICT;
CREATE INDEX repositories_fork ON repositories (fork_id, owner_id);

CREATE TRIGGER repositories_forked AFTER INSERT ON repositories WHEN NEW.fork_id IS NOT NULL BEGIN
  UPDATE repositories SET num_forks = num_forks + 1 WHERE id = NEW.fork_id;
END;
CREATE TRIGGER repositories_unforked AFTER DELETE ON repositories WHEN OLD.fork_id IS NOT NULL BEGIN
  UPDATE repositories SET num_forks = num_forks - 1 WHERE id = OLD.fork_id;
END;

CREATE TABLE redirects (
  owner_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  lower_name TEXT NOT NULL,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  PRIMARY KEY (owner_id, lower_name)
) STRICT, WITHOUT ROWID;
CREATE INDEX redirects_repo ON redirects (repo_id);

CREATE TABLE team_repositories (
  team_id INTEGER NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  PRIMARY KEY (team_id, repo_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX team_repositories_repo ON team_repositories (repo_id);

CREATE TABLE collaborators (
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  permission TEXT NOT NULL CHECK (permission IN ('read', 'write', 'admin')),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (repo_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX collaborators_user ON collaborators (user_id, repo_id);

CREATE TABLE stars (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  UNIQUE (user_id, repo_id)
) STRICT;
CREATE INDEX stars_repo ON stars (repo_id);
CREATE TRIGGER stars_given AFTER INSERT ON stars BEGIN
  UPDATE repositories SET num_stars = num_stars + 1 WHERE id = NEW.repo_id;
  UPDATE users SET num_stars = num_stars + 1 WHERE id = NEW.user_id;
END;
CREATE TRIGGER stars_taken AFTER DELETE ON stars BEGIN
  UPDATE repositories SET num_stars = num_stars - 1 WHERE id = OLD.repo_id;
  UPDATE users SET num_stars = num_stars - 1 WHERE id = OLD.user_id;
END;
`;

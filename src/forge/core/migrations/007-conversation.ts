/**
 * What hangs on issues beside their text: dependencies, tracked times, attached files, who hears of them, and the
 * threads of news. Triggers count the watchers; before this migration the creator of a repository counted as its one watcher.
 */
export const conversation = /* sql */ `
CREATE TABLE dependencies (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  blocker_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  UNIQUE (issue_id, blocker_id)
) STRICT;
CREATE INDEX dependencies_blocker ON dependencies (blocker_id);
CREATE INDEX dependencies_user ON dependencies (user_id);

CREATE TABLE tracked_times (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  time INTEGER NOT NULL,
  is_deleted INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX tracked_times_issue ON tracked_times (issue_id, user_id);
CREATE INDEX tracked_times_repo ON tracked_times (repo_id, user_id);
CREATE INDEX tracked_times_user ON tracked_times (user_id);

CREATE TABLE attachments (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  comment_id INTEGER REFERENCES comments (id) ON DELETE CASCADE,
  uploader_id INTEGER NOT NULL REFERENCES users (id),
  name TEXT NOT NULL,
  size INTEGER NOT NULL,
  num_downloads INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX attachments_issue ON attachments (issue_id, comment_id);
CREATE INDEX attachments_comment ON attachments (comment_id) WHERE comment_id IS NOT NULL;
CREATE INDEX attachments_repo ON attachments (repo_id);
CREATE INDEX attachments_uploader ON attachments (uploader_id);
CREATE TABLE file_trash (uuid TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TRIGGER attachments_removed AFTER DELETE ON attachments BEGIN
  INSERT OR IGNORE INTO file_trash (uuid) VALUES (OLD.uuid);
END;

CREATE INDEX issues_pinned ON issues (repo_id, is_pull, pin_order) WHERE pin_order > 0;
CREATE INDEX comments_poster ON comments (issue_id, poster_id);

CREATE TABLE watches (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  UNIQUE (user_id, repo_id)
) STRICT;
CREATE INDEX watches_repo ON watches (repo_id);
INSERT INTO watches (user_id, repo_id, created_at)
  SELECT r.owner_id, r.id, r.created_at FROM repositories r JOIN users u ON u.id = r.owner_id WHERE u.type = 'user';
UPDATE repositories SET num_watches = (SELECT count(*) FROM watches w WHERE w.repo_id = repositories.id);
CREATE TRIGGER watches_begun AFTER INSERT ON watches BEGIN
  UPDATE repositories SET num_watches = num_watches + 1 WHERE id = NEW.repo_id;
END;
CREATE TRIGGER watches_ended AFTER DELETE ON watches BEGIN
  UPDATE repositories SET num_watches = num_watches - 1 WHERE id = OLD.repo_id;
END;
-- A repository that becomes private forgets who watched it, and a collaborator who goes watches no longer.
CREATE TRIGGER watches_closed AFTER UPDATE OF is_private ON repositories WHEN NEW.is_private = 1 AND OLD.is_private = 0
BEGIN
  DELETE FROM watches WHERE repo_id = NEW.id;
END;
CREATE TRIGGER watches_lost AFTER DELETE ON collaborators BEGIN
  DELETE FROM watches WHERE repo_id = OLD.repo_id AND user_id = OLD.user_id;
END;

CREATE TABLE issue_watches (
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  is_watching INTEGER NOT NULL,
  PRIMARY KEY (issue_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX issue_watches_user ON issue_watches (user_id);

CREATE TABLE notifications (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  source TEXT NOT NULL CHECK (source IN ('issue', 'pull', 'commit', 'repository')),
  status TEXT NOT NULL DEFAULT 'unread' CHECK (status IN ('unread', 'read', 'pinned')),
  issue_id INTEGER REFERENCES issues (id) ON DELETE CASCADE,
  commit_sha TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX notifications_issue ON notifications (issue_id, user_id) WHERE issue_id IS NOT NULL;
CREATE INDEX notifications_newest ON notifications (user_id, updated_at DESC, id DESC);
CREATE INDEX notifications_status ON notifications (user_id, status, updated_at DESC, id DESC);
CREATE INDEX notifications_repo ON notifications (repo_id, user_id, updated_at DESC, id DESC);
`;

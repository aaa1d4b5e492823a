/**
 * Labels, milestones, issues, comments and the pull-request side of an issue. A pull request has two ids: that of its
 * row in `pulls` (its API id) and that of its row in `issues`; the number is shared.
 */
export const issues = /* sql */ `
CREATE TABLE labels (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER REFERENCES repositories (id) ON DELETE CASCADE,
  org_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  color TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  exclusive INTEGER NOT NULL DEFAULT 0,
  archived_at INTEGER NOT NULL DEFAULT 0,
  num_issues INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK ((repo_id IS NULL) <> (org_id IS NULL))
) STRICT;
CREATE INDEX labels_repo ON labels (repo_id, name);
CREATE INDEX labels_org ON labels (org_id, name);

CREATE TABLE milestones (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  is_closed INTEGER NOT NULL DEFAULT 0,
  num_open INTEGER NOT NULL DEFAULT 0,
  num_closed INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL DEFAULT 0,
  closed_at INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX milestones_repo ON milestones (repo_id, is_closed);

CREATE TABLE issues (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  is_pull INTEGER NOT NULL DEFAULT 0,
  poster_id INTEGER NOT NULL REFERENCES users (id),
  title TEXT NOT NULL,
  body TEXT NOT NULL DEFAULT '',
  ref TEXT NOT NULL DEFAULT '',
  is_closed INTEGER NOT NULL DEFAULT 0,
  is_locked INTEGER NOT NULL DEFAULT 0,
  milestone_id INTEGER REFERENCES milestones (id) ON DELETE SET NULL,
  num_comments INTEGER NOT NULL DEFAULT 0,
  content_version INTEGER NOT NULL DEFAULT 0,
  time_estimate INTEGER NOT NULL DEFAULT 0,
  pin_order INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL DEFAULT 0,
  closed_at INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (repo_id, number)
) STRICT;
CREATE INDEX issues_newest ON issues (repo_id, is_closed, is_pull, created_at DESC, id DESC);
CREATE INDEX issues_kind ON issues (repo_id, is_pull, created_at DESC, id DESC);
CREATE INDEX issues_created ON issues (repo_id, created_at DESC, id DESC);
CREATE INDEX issues_milestone ON issues (milestone_id) WHERE milestone_id IS NOT NULL;
CREATE INDEX issues_poster ON issues (repo_id, poster_id);

CREATE TRIGGER issues_added AFTER INSERT ON issues BEGIN
  UPDATE repositories SET num_open_issues = num_open_issues + (NEW.is_closed = 0 AND NEW.is_pull = 0),
    num_open_pulls = num_open_pulls + (NEW.is_closed = 0 AND NEW.is_pull = 1) WHERE id = NEW.repo_id;
  UPDATE milestones SET num_open = num_open + (NEW.is_closed = 0), num_closed = num_closed + NEW.is_closed
    WHERE id = NEW.milestone_id;
END;
CREATE TRIGGER issues_changed AFTER UPDATE OF is_closed, milestone_id ON issues BEGIN
  UPDATE repositories SET num_open_issues = num_open_issues + (OLD.is_closed - NEW.is_closed) * (NEW.is_pull = 0),
    num_open_pulls = num_open_pulls + (OLD.is_closed - NEW.is_closed) * (NEW.is_pull = 1) WHERE id = NEW.repo_id;
  UPDATE milestones SET num_open = num_open - (OLD.is_closed = 0), num_closed = num_closed - OLD.is_closed
    WHERE id = OLD.milestone_id;
  UPDATE milestones SET num_open = num_open + (NEW.is_closed = 0), num_closed = num_closed + NEW.is_closed
    WHERE id = NEW.milestone_id;
END;

CREATE TABLE issue_labels (
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  label_id INTEGER NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
  PRIMARY KEY (issue_id, label_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX issue_labels_label ON issue_labels (label_id, issue_id);
CREATE TRIGGER issue_labels_added AFTER INSERT ON issue_labels BEGIN
  UPDATE labels SET num_issues = num_issues + 1 WHERE id = NEW.label_id;
END;
CREATE TRIGGER issue_labels_removed AFTER DELETE ON issue_labels BEGIN
  UPDATE labels SET num_issues = num_issues - 1 WHERE id = OLD.label_id;
END;

CREATE TABLE assignees (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  UNIQUE (issue_id, user_id)
) STRICT;
CREATE INDEX assignees_user ON assignees (user_id, issue_id);

CREATE TABLE comments (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  poster_id INTEGER NOT NULL REFERENCES users (id),
  body TEXT NOT NULL,
  content_version INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX comments_issue ON comments (issue_id, created_at, id);
CREATE INDEX comments_repo ON comments (repo_id);
CREATE TRIGGER comments_added AFTER INSERT ON comments BEGIN
  UPDATE issues SET num_comments = num_comments + 1 WHERE id = NEW.issue_id;
END;
CREATE TRIGGER comments_removed AFTER DELETE ON comments BEGIN
  UPDATE issues SET num_comments = num_comments - 1 WHERE id = OLD.issue_id;
END;

CREATE TABLE pulls (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  issue_id INTEGER NOT NULL UNIQUE REFERENCES issues (id) ON DELETE CASCADE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  base_branch TEXT NOT NULL,
  base_sha TEXT NOT NULL DEFAULT '',
  head_repo_id INTEGER REFERENCES repositories (id) ON DELETE SET NULL,
  head_branch TEXT NOT NULL,
  head_sha TEXT NOT NULL,
  is_head_gone INTEGER NOT NULL DEFAULT 0,
  merge_base TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'checking' CHECK (status IN ('checking', 'mergeable', 'conflict', 'error')),
  is_merged INTEGER NOT NULL DEFAULT 0,
  merged_commit_sha TEXT NOT NULL DEFAULT '',
  merged_at INTEGER NOT NULL DEFAULT 0,
  merger_id INTEGER REFERENCES users (id),
  allow_maintainer_edit INTEGER NOT NULL DEFAULT 0,
  additions INTEGER NOT NULL DEFAULT 0,
  deletions INTEGER NOT NULL DEFAULT 0,
  changed_files INTEGER NOT NULL DEFAULT 0,
  UNIQUE (repo_id, number)
) STRICT;
CREATE INDEX pulls_head ON pulls (head_repo_id, head_branch);
CREATE INDEX pulls_base ON pulls (repo_id, base_branch);
CREATE INDEX pulls_checking ON pulls (id) WHERE status = 'checking';
`;

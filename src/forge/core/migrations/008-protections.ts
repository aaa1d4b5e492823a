/**
 * Reviews, protections and statuses. What a branch protection says has no query of its own and lives in one JSON column.
 * A request for a review is a review of type REQUEST_REVIEW; one of a team has no reviewer.
 */
export const protections = /* sql */ `
CREATE TABLE branch_protections (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  rule_name TEXT NOT NULL,
  priority INTEGER NOT NULL,
  terms TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (repo_id, rule_name)
) STRICT;

CREATE TABLE tag_protections (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  name_pattern TEXT NOT NULL,
  whitelist_users TEXT NOT NULL DEFAULT '[]',
  whitelist_teams TEXT NOT NULL DEFAULT '[]',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX tag_protections_repo ON tag_protections (repo_id);

CREATE TABLE reviews (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  reviewer_id INTEGER REFERENCES users (id),
  team_id INTEGER REFERENCES teams (id) ON DELETE CASCADE,
  type TEXT NOT NULL CHECK (type IN ('PENDING', 'COMMENT', 'APPROVED', 'REQUEST_CHANGES', 'REQUEST_REVIEW')),
  body TEXT NOT NULL DEFAULT '',
  commit_id TEXT NOT NULL DEFAULT '',
  official INTEGER NOT NULL DEFAULT 0,
  stale INTEGER NOT NULL DEFAULT 0,
  dismissed INTEGER NOT NULL DEFAULT 0,
  dismissal TEXT NOT NULL DEFAULT '',
  comment_id INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK ((reviewer_id IS NULL) <> (team_id IS NULL))
) STRICT;
CREATE INDEX reviews_issue ON reviews (issue_id, reviewer_id);
CREATE INDEX reviews_reviewer ON reviews (reviewer_id);
CREATE INDEX reviews_team ON reviews (team_id) WHERE team_id IS NOT NULL;
CREATE TRIGGER reviews_added AFTER INSERT ON reviews WHEN NEW.comment_id > 0 BEGIN
  UPDATE issues SET num_comments = num_comments + 1 WHERE id = NEW.issue_id;
END;
CREATE TRIGGER reviews_submitted AFTER UPDATE OF comment_id ON reviews
WHEN OLD.comment_id = 0 AND NEW.comment_id > 0 BEGIN
  UPDATE issues SET num_comments = num_comments + 1 WHERE id = NEW.issue_id;
END;
CREATE TRIGGER reviews_removed AFTER DELETE ON reviews WHEN OLD.comment_id > 0 BEGIN
  UPDATE issues SET num_comments = num_comments - 1 WHERE id = OLD.issue_id;
END;

CREATE TABLE review_comments (
  id INTEGER PRIMARY KEY,
  review_id INTEGER NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  poster_id INTEGER NOT NULL REFERENCES users (id),
  body TEXT NOT NULL,
  path TEXT NOT NULL,
  line INTEGER NOT NULL,
  commit_id TEXT NOT NULL DEFAULT '',
  diff_hunk TEXT NOT NULL DEFAULT '',
  resolver_id INTEGER REFERENCES users (id),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX review_comments_review ON review_comments (review_id, id);
CREATE INDEX review_comments_repo ON review_comments (repo_id);

CREATE TABLE commit_statuses (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  sha TEXT NOT NULL,
  number INTEGER NOT NULL,
  state TEXT NOT NULL,
  target_url TEXT NOT NULL DEFAULT '',
  description TEXT NOT NULL DEFAULT '',
  context TEXT NOT NULL DEFAULT '',
  creator_id INTEGER NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  UNIQUE (repo_id, sha, number)
) STRICT;
CREATE INDEX commit_statuses_context ON commit_statuses (repo_id, sha, context, number);
`;

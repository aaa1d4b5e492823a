/**
 * Accounts, teams and tokens. People and organizations share one table, as in Gitea: either can own repositories, and
 * names are unique across both. Times are whole seconds since the epoch (the resolution of the API); 0 means "never".
 */
export const accounts = /* sql */ `
CREATE TABLE users (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL DEFAULT 'user' CHECK (type IN ('user', 'organization')),
  name TEXT NOT NULL,
  lower_name TEXT NOT NULL UNIQUE,
  full_name TEXT NOT NULL DEFAULT '',
  email TEXT NOT NULL DEFAULT '',
  password_hash TEXT NOT NULL DEFAULT '',
  is_admin INTEGER NOT NULL DEFAULT 0,
  is_active INTEGER NOT NULL DEFAULT 1,
  is_restricted INTEGER NOT NULL DEFAULT 0,
  prohibit_login INTEGER NOT NULL DEFAULT 0,
  must_change_password INTEGER NOT NULL DEFAULT 0,
  visibility TEXT NOT NULL DEFAULT 'public' CHECK (visibility IN ('public', 'limited', 'private')),
  description TEXT NOT NULL DEFAULT '',
  location TEXT NOT NULL DEFAULT '',
  website TEXT NOT NULL DEFAULT '',
  language TEXT NOT NULL DEFAULT '',
  repo_admin_change_team_access INTEGER NOT NULL DEFAULT 0,
  num_stars INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_login_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX users_email ON users (lower(email)) WHERE email <> '' AND type = 'user';

CREATE TABLE teams (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  lower_name TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  permission TEXT NOT NULL DEFAULT 'read' CHECK (permission IN ('none', 'read', 'write', 'admin', 'owner')),
  includes_all_repositories INTEGER NOT NULL DEFAULT 0,
  can_create_org_repo INTEGER NOT NULL DEFAULT 0,
  units_map TEXT NOT NULL DEFAULT '{}',
  visibility TEXT NOT NULL DEFAULT 'private',
  UNIQUE (org_id, lower_name)
) STRICT;

CREATE TABLE team_members (
  team_id INTEGER NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  org_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  PRIMARY KEY (team_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX team_members_user ON team_members (user_id, org_id);
CREATE INDEX team_members_org ON team_members (org_id);

CREATE TABLE tokens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  digest TEXT NOT NULL UNIQUE,
  last_eight TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL DEFAULT 0,
  UNIQUE (user_id, name)
) STRICT;
`;

/**
 * Repositories and access to them. Triggers update the counters with every statement; settings that no query filters by
 * are stored in one JSON column.
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

/**
 * Labels, milestones, issues, comments and the pull-request side of an issue. A pull request has two ids, that of its
 * row in `pulls` (its API id) and that of its row in `issues`, but only one number.
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

/**
 * Hooks at every level and their deliveries. A repository's hook has `repo_id`; a person's or an organization's hook
 * has `owner_id`; an instance hook has neither, and `is_system` distinguishes a system hook, which receives everything,
 * from a default one.
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

/**
 * Runners at every level and their registration tokens. A repository's runner has `repo_id`; a person's or an
 * organization's runner has `owner_id`; an instance runner has neither. A webhook delivery also references the delivery
 * that it repeats.
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

/**
 * Former account names, public memberships, pending repository transfers, and OAuth2 applications. Secrets, codes and
 * similar values are stored only as SHA-256 digests.
 */
export const memberships = /* sql */ `
-- People and organizations share a table; lists are of one kind, by name.
CREATE INDEX users_type ON users (type, lower_name);

CREATE TABLE account_redirects (
  lower_name TEXT PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX account_redirects_user ON account_redirects (user_id);

CREATE TABLE public_memberships (
  org_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  PRIMARY KEY (org_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX public_memberships_user ON public_memberships (user_id);
CREATE TRIGGER memberships_ended AFTER DELETE ON team_members BEGIN
  DELETE FROM public_memberships WHERE org_id = OLD.org_id AND user_id = OLD.user_id AND NOT EXISTS (
    SELECT 1 FROM team_members m WHERE m.org_id = OLD.org_id AND m.user_id = OLD.user_id);
END;

CREATE TABLE transfers (
  repo_id INTEGER PRIMARY KEY REFERENCES repositories (id) ON DELETE CASCADE,
  doer_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  recipient_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  team_ids TEXT NOT NULL DEFAULT '[]',
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX transfers_doer ON transfers (doer_id);
CREATE INDEX transfers_recipient ON transfers (recipient_id);

CREATE TABLE oauth2_applications (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  client_id TEXT NOT NULL UNIQUE,
  secret_digest TEXT NOT NULL,
  is_confidential INTEGER NOT NULL DEFAULT 0,
  skip_secondary_authorization INTEGER NOT NULL DEFAULT 0,
  redirect_uris TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX oauth2_applications_user ON oauth2_applications (user_id, id);

CREATE TABLE oauth2_grants (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  application_id INTEGER NOT NULL REFERENCES oauth2_applications (id) ON DELETE CASCADE,
  scope TEXT NOT NULL,
  nonce TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  UNIQUE (user_id, application_id)
) STRICT;
CREATE INDEX oauth2_grants_application ON oauth2_grants (application_id);

CREATE TABLE oauth2_codes (
  digest TEXT PRIMARY KEY,
  grant_id INTEGER NOT NULL REFERENCES oauth2_grants (id) ON DELETE CASCADE,
  redirect_uri TEXT NOT NULL,
  challenge TEXT NOT NULL DEFAULT '',
  challenge_method TEXT NOT NULL DEFAULT '',
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX oauth2_codes_grant ON oauth2_codes (grant_id);
CREATE INDEX oauth2_codes_expiry ON oauth2_codes (expires_at);

CREATE TABLE signing_keys (
  name TEXT PRIMARY KEY,
  private_key TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`;

/**
 * Issue data other than the text: dependencies, tracked times, attached files, subscriptions, and notification threads.
 * Triggers count the watchers; before this migration the creator of a repository counted as its only watcher.
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

/**
 * Reviews, protections and statuses. No query filters by the settings of a branch protection, so they are stored in one
 * JSON column. A review request is a review of type REQUEST_REVIEW; a request to a team has no reviewer.
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

/**
 * Unfinished work on both git and the database. Entries that exist when a process starts belong to interrupted work;
 * `recovery.ts` reconciles both sides.
 */
export const unfinished = /* sql */ `
CREATE TABLE unfinished (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  work TEXT NOT NULL CHECK (work IN ('creating', 'pushing'))
) STRICT;
CREATE INDEX unfinished_repo ON unfinished (repo_id);
`;

/**
 * Timeline entries of issues and pull requests other than comments, and reactions. Timeline entries share the id
 * sequence of comments (`takeCommentId`). The references of an entry are in one JSON column: most entries have one,
 * different for each type.
 */
export const timeline = /* sql */ `
CREATE TABLE timeline (
  id INTEGER PRIMARY KEY,
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  poster_id INTEGER NOT NULL REFERENCES users (id),
  type TEXT NOT NULL,
  body TEXT NOT NULL DEFAULT '',
  refers TEXT NOT NULL DEFAULT '{}',
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX timeline_issue ON timeline (issue_id, created_at, id);
CREATE INDEX timeline_poster ON timeline (poster_id);
INSERT INTO timeline (id, issue_id, poster_id, type, body, refers, created_at)
  SELECT comment_id, issue_id, reviewer_id, 'review', body, json_object('review', id), created_at FROM reviews
  WHERE comment_id > 0 AND reviewer_id IS NOT NULL AND type IN ('APPROVED', 'REQUEST_CHANGES', 'COMMENT');
CREATE TRIGGER reviews_forgotten AFTER DELETE ON reviews WHEN OLD.comment_id > 0 BEGIN
  DELETE FROM timeline WHERE id = OLD.comment_id;
END;

CREATE TABLE reactions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  comment_id INTEGER NOT NULL DEFAULT 0,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  content TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (issue_id, comment_id, user_id, content)
) STRICT;
CREATE INDEX reactions_comment ON reactions (comment_id) WHERE comment_id > 0;
CREATE INDEX reactions_user ON reactions (user_id);
CREATE TRIGGER comments_unreacted AFTER DELETE ON comments BEGIN
  DELETE FROM reactions WHERE comment_id = OLD.id AND comment_id > 0;
END;
CREATE TRIGGER review_comments_unreacted AFTER DELETE ON review_comments BEGIN
  DELETE FROM reactions WHERE comment_id = OLD.id AND comment_id > 0;
END;
`;

/** Runs of dispatched workflows and their jobs. Runners take no jobs from this forge, so the jobs stay queued. */
export const workflows = /* sql */ `
CREATE TABLE workflow_runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  workflow_id TEXT NOT NULL,
  ref TEXT NOT NULL,
  sha TEXT NOT NULL,
  title TEXT NOT NULL,
  event TEXT NOT NULL,
  actor_id INTEGER NOT NULL REFERENCES users (id),
  inputs TEXT NOT NULL DEFAULT '{}',
  status TEXT NOT NULL DEFAULT 'queued',
  conclusion TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  started_at INTEGER NOT NULL DEFAULT 0,
  completed_at INTEGER NOT NULL DEFAULT 0,
  UNIQUE (repo_id, number)
) STRICT;
CREATE INDEX workflow_runs_actor ON workflow_runs (actor_id);

CREATE TABLE workflow_jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id INTEGER NOT NULL REFERENCES workflow_runs (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  labels TEXT NOT NULL DEFAULT '[]',
  status TEXT NOT NULL
) STRICT;
CREATE INDEX workflow_jobs_run ON workflow_jobs (run_id);
`;

/** Adds an index for finding the references in an issue or comment when its text changes or is deleted. */
export const references = /* sql */ `
CREATE INDEX timeline_origin ON timeline (json_extract(refers, '$.refIssue'))
  WHERE type IN ('issue_ref', 'pull_ref', 'comment_ref');
`;

/**
 * Releases and their files. A tag without a release has no row here, because git stores it. The trigger counts
 * published releases; tag names of one repository that differ only in case are treated as equal.
 */
export const releases = /* sql */ `
CREATE TABLE releases (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  publisher_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  tag TEXT NOT NULL,
  lower_tag TEXT NOT NULL,
  target TEXT NOT NULL,
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  is_draft INTEGER NOT NULL,
  is_prerelease INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (repo_id, lower_tag)
) STRICT;
CREATE INDEX releases_newest ON releases (repo_id, created_at DESC, id DESC);
CREATE INDEX releases_publisher ON releases (publisher_id);
CREATE TRIGGER releases_made AFTER INSERT ON releases WHEN NEW.is_draft = 0 BEGIN
  UPDATE repositories SET num_releases = num_releases + 1 WHERE id = NEW.repo_id;
END;
CREATE TRIGGER releases_removed AFTER DELETE ON releases WHEN OLD.is_draft = 0 BEGIN
  UPDATE repositories SET num_releases = num_releases - 1 WHERE id = OLD.repo_id;
END;
CREATE TRIGGER releases_published AFTER UPDATE OF is_draft ON releases WHEN NEW.is_draft <> OLD.is_draft BEGIN
  UPDATE repositories SET num_releases = num_releases + OLD.is_draft - NEW.is_draft WHERE id = NEW.repo_id;
END;

CREATE TABLE release_assets (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  release_id INTEGER NOT NULL REFERENCES releases (id) ON DELETE CASCADE,
  uploader_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  name TEXT NOT NULL,
  size INTEGER NOT NULL,
  num_downloads INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX release_assets_release ON release_assets (release_id, id);
CREATE INDEX release_assets_uploader ON release_assets (uploader_id);
CREATE TRIGGER release_assets_removed AFTER DELETE ON release_assets BEGIN
  INSERT OR IGNORE INTO file_trash (uuid) VALUES (OLD.uuid);
END;
`;

/**
 * Actions secrets and variables of repositories and accounts. Secrets have no value column: this forge never reads the
 * values, so none are stored.
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

/**
 * Public keys. A key belongs to one account, or to the repositories that use it as a deploy key (`user_id` is null),
 * never to both: `git` over SSH identifies the owner by the key alone. The trigger removes a key with its last deploy
 * key.
 */
export const keys = /* sql */ `
CREATE TABLE public_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  fingerprint TEXT NOT NULL UNIQUE,
  content TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX public_keys_name ON public_keys (user_id, name) WHERE user_id IS NOT NULL;

CREATE TABLE deploy_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key_id INTEGER NOT NULL REFERENCES public_keys (id) ON DELETE CASCADE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  is_read_only INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (repo_id, name),
  UNIQUE (repo_id, key_id)
) STRICT;
CREATE INDEX deploy_keys_key ON deploy_keys (key_id);
CREATE TRIGGER deploy_keys_removed AFTER DELETE ON deploy_keys BEGIN
  DELETE FROM public_keys WHERE id = OLD.key_id AND user_id IS NULL
    AND NOT EXISTS (SELECT 1 FROM deploy_keys WHERE key_id = OLD.key_id);
END;
`;

/**
 * Account settings, additional e-mail addresses, followers and blocks. The primary address of an account is also in
 * `email_addresses`, so that one table holds every address: `createAccount` writes it, and a trigger follows its
 * changes (a trigger for new accounts would make SQLite look for rows of other tables that reference the account).
 */
export const people = /* sql */ `
ALTER TABLE users ADD COLUMN theme TEXT NOT NULL DEFAULT 'gitea-auto';
ALTER TABLE users ADD COLUMN diff_view_style TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN keep_email_private INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN keep_activity_private INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN num_followers INTEGER NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN num_following INTEGER NOT NULL DEFAULT 0;

CREATE TABLE email_addresses (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  lower_email TEXT NOT NULL UNIQUE,
  is_primary INTEGER NOT NULL
) STRICT;
CREATE INDEX email_addresses_user ON email_addresses (user_id, id);
INSERT INTO email_addresses (user_id, email, lower_email, is_primary)
  SELECT id, email, lower(email), 1 FROM users WHERE type = 'user' AND email <> '' ORDER BY id;
CREATE TRIGGER users_email_changed AFTER UPDATE OF email ON users WHEN NEW.type = 'user' AND NEW.email <> OLD.email BEGIN
  DELETE FROM email_addresses WHERE user_id = NEW.id AND is_primary = 1;
  INSERT INTO email_addresses (user_id, email, lower_email, is_primary)
    SELECT NEW.id, NEW.email, lower(NEW.email), 1 WHERE NEW.email <> '';
END;

CREATE TABLE follows (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  follower_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  followed_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  UNIQUE (follower_id, followed_id)
) STRICT;
CREATE INDEX follows_followed ON follows (followed_id, id);
CREATE TRIGGER follows_begun AFTER INSERT ON follows BEGIN
  UPDATE users SET num_following = num_following + 1 WHERE id = NEW.follower_id;
  UPDATE users SET num_followers = num_followers + 1 WHERE id = NEW.followed_id;
END;
CREATE TRIGGER follows_ended AFTER DELETE ON follows BEGIN
  UPDATE users SET num_following = num_following - 1 WHERE id = OLD.follower_id;
  UPDATE users SET num_followers = num_followers - 1 WHERE id = OLD.followed_id;
END;

CREATE TABLE blocks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  blocker_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  blocked_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  note TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  UNIQUE (blocker_id, blocked_id)
) STRICT;
CREATE INDEX blocks_blocked ON blocks (blocked_id);
`;

/**
 * Running stopwatches (one per account), and topics by name with their repositories, for the topic search.
 * `repositories.topics` remains the source of truth; triggers maintain the rest.
 */
export const searches = /* sql */ `
CREATE TABLE stopwatches (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL UNIQUE REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX stopwatches_issue ON stopwatches (issue_id);
CREATE TRIGGER stopwatches_of_collaborators AFTER DELETE ON collaborators
  WHEN EXISTS (SELECT 1 FROM repositories WHERE id = OLD.repo_id AND is_private = 1) BEGIN
  DELETE FROM stopwatches WHERE user_id = OLD.user_id
    AND issue_id IN (SELECT id FROM issues WHERE repo_id = OLD.repo_id);
END;

CREATE TABLE topics (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  repo_count INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX topics_used ON topics (repo_count DESC, id);
CREATE TABLE repository_topics (
  topic_id INTEGER NOT NULL REFERENCES topics (id) ON DELETE CASCADE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  PRIMARY KEY (topic_id, repo_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX repository_topics_repo ON repository_topics (repo_id);
CREATE TRIGGER repository_topics_added AFTER INSERT ON repository_topics BEGIN
  UPDATE topics SET repo_count = repo_count + 1 WHERE id = NEW.topic_id;
END;
CREATE TRIGGER repository_topics_removed AFTER DELETE ON repository_topics BEGIN
  UPDATE topics SET repo_count = repo_count - 1 WHERE id = OLD.topic_id;
END;
CREATE TRIGGER repositories_topics_made AFTER INSERT ON repositories WHEN NEW.topics <> '[]' BEGIN
  INSERT OR IGNORE INTO topics (name, created_at, updated_at)
    SELECT value, NEW.created_at, NEW.created_at FROM json_each(NEW.topics);
  INSERT OR IGNORE INTO repository_topics (topic_id, repo_id)
    SELECT t.id, NEW.id FROM json_each(NEW.topics) JOIN topics t ON t.name = value;
END;
CREATE TRIGGER repositories_topics_changed AFTER UPDATE OF topics ON repositories WHEN NEW.topics <> OLD.topics BEGIN
  INSERT OR IGNORE INTO topics (name, created_at, updated_at)
    SELECT value, NEW.updated_at, NEW.updated_at FROM json_each(NEW.topics);
  UPDATE topics SET updated_at = NEW.updated_at WHERE name IN (SELECT value FROM json_each(NEW.topics)
    UNION SELECT value FROM json_each(OLD.topics));
  DELETE FROM repository_topics WHERE repo_id = NEW.id AND topic_id NOT IN (
    SELECT t.id FROM json_each(NEW.topics) JOIN topics t ON t.name = value);
  INSERT OR IGNORE INTO repository_topics (topic_id, repo_id)
    SELECT t.id, NEW.id FROM json_each(NEW.topics) JOIN topics t ON t.name = value;
END;

INSERT INTO topics (name, created_at, updated_at)
  SELECT value, min(r.created_at), max(r.updated_at) FROM repositories r, json_each(r.topics) GROUP BY value;
INSERT INTO repository_topics (topic_id, repo_id)
  SELECT t.id, r.id FROM repositories r, json_each(r.topics) JOIN topics t ON t.name = value;
`;

/** Avatars of accounts, organizations and repositories: `avatar` is the hash in their URLs, empty for none. */
export const avatars = /* sql */ `
ALTER TABLE users ADD COLUMN avatar TEXT NOT NULL DEFAULT '';
ALTER TABLE repositories ADD COLUMN avatar TEXT NOT NULL DEFAULT '';
CREATE TABLE avatars (
  hash TEXT PRIMARY KEY,
  user_id INTEGER UNIQUE REFERENCES users (id) ON DELETE CASCADE,
  repo_id INTEGER UNIQUE REFERENCES repositories (id) ON DELETE CASCADE,
  uuid TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  size INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  CHECK ((user_id IS NULL) <> (repo_id IS NULL))
) STRICT, WITHOUT ROWID;
CREATE TRIGGER avatars_removed AFTER DELETE ON avatars BEGIN
  INSERT OR IGNORE INTO file_trash (uuid) VALUES (OLD.uuid);
END;
`;

/** Last run and run count of each administration task. */
export const cron = /* sql */ `
CREATE TABLE cron_runs (
  name TEXT PRIMARY KEY,
  previous_at INTEGER NOT NULL,
  runs INTEGER NOT NULL
) STRICT;
`;

/**
 * OpenPGP keys with their subkeys, and badges. `emails` is a JSON list of the addresses that belonged to the account
 * when the key was added; `content` is the key packet in base64. `is_signer` states whether commit signatures are
 * verified with the key.
 */
export const gpgKeys = /* sql */ `
CREATE TABLE gpg_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  primary_id INTEGER REFERENCES gpg_keys (id) ON DELETE CASCADE,
  key_id TEXT NOT NULL,
  content TEXT NOT NULL,
  emails TEXT NOT NULL DEFAULT '[]',
  can_sign INTEGER NOT NULL,
  can_encrypt INTEGER NOT NULL,
  is_signer INTEGER NOT NULL,
  is_verified INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX gpg_keys_primary ON gpg_keys (key_id) WHERE primary_id IS NULL;
CREATE INDEX gpg_keys_key ON gpg_keys (key_id);
CREATE INDEX gpg_keys_user ON gpg_keys (user_id, id);
CREATE INDEX gpg_keys_of_primary ON gpg_keys (primary_id);

CREATE TABLE badges (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  slug TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL DEFAULT '',
  image_url TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE user_badges (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  badge_id INTEGER NOT NULL REFERENCES badges (id) ON DELETE CASCADE,
  UNIQUE (user_id, badge_id)
) STRICT;
CREATE INDEX user_badges_badge ON user_badges (badge_id);
`;

/**
 * Packages, their versions and files. Names that differ only in case are treated as equal. A package is deleted with
 * its last version; the bytes of a file are in the attachment store under its uuid.
 */
export const packages = /* sql */ `
CREATE TABLE packages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  type TEXT NOT NULL,
  name TEXT NOT NULL,
  lower_name TEXT NOT NULL,
  UNIQUE (owner_id, type, lower_name)
) STRICT;

CREATE TABLE package_versions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  package_id INTEGER NOT NULL REFERENCES packages (id) ON DELETE CASCADE,
  owner_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  creator_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  version TEXT NOT NULL,
  lower_version TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (package_id, lower_version)
) STRICT;
CREATE INDEX package_versions_newest ON package_versions (owner_id, created_at DESC, id DESC);
CREATE INDEX package_versions_creator ON package_versions (creator_id);
CREATE TRIGGER package_versions_removed AFTER DELETE ON package_versions
WHEN NOT EXISTS (SELECT 1 FROM package_versions v WHERE v.package_id = OLD.package_id) BEGIN
  DELETE FROM packages WHERE id = OLD.package_id;
END;

CREATE TABLE package_files (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  version_id INTEGER NOT NULL REFERENCES package_versions (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  lower_name TEXT NOT NULL,
  size INTEGER NOT NULL,
  md5 TEXT NOT NULL,
  sha1 TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  sha512 TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (version_id, lower_name)
) STRICT;
CREATE TRIGGER package_files_removed AFTER DELETE ON package_files BEGIN
  INSERT OR IGNORE INTO file_trash (uuid) VALUES (OLD.uuid);
END;
`;

/**
 * Mirrors of other repositories (`mirrors`), and push targets of a repository (`push_mirrors`). Passwords are stored
 * because every fetch and push needs them; no operation returns them.
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

/**
 * Activities of accounts in repositories, for feeds and heat maps. An activity is in the feeds of its account, of the
 * organization that owns the repository, and of those who watched the repository at that time.
 */
export const activities = /* sql */ `
CREATE TABLE activities (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  actor_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  type TEXT NOT NULL,
  ref TEXT NOT NULL,
  content TEXT NOT NULL,
  comment_id INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX activities_repo ON activities (repo_id, id);
CREATE INDEX activities_actor ON activities (actor_id, created_at);

CREATE TABLE activity_receivers (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  activity_id INTEGER NOT NULL REFERENCES activities (id) ON DELETE CASCADE,
  PRIMARY KEY (user_id, activity_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX activity_receivers_activity ON activity_receivers (activity_id);
`;

/**
 * Scheduled merges, at most one per pull request, which wait for the conditions of the pull request. The trigger
 * removes the entry when the pull request is merged.
 */
export const scheduledMerges = /* sql */ `
CREATE TABLE scheduled_merges (
  pull_id INTEGER PRIMARY KEY REFERENCES pulls (id) ON DELETE CASCADE,
  doer_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  style TEXT NOT NULL,
  message TEXT NOT NULL,
  deletes_branch INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX scheduled_merges_doer ON scheduled_merges (doer_id);
CREATE TRIGGER scheduled_merges_done AFTER UPDATE OF is_merged ON pulls WHEN NEW.is_merged = 1 BEGIN
  DELETE FROM scheduled_merges WHERE pull_id = NEW.id;
END;
`;

/**
 * Pull requests that were pushed to `refs/for/…` (AGit). Their head is not a branch but only `refs/pull/NUMBER/head`.
 */
export const agit = /* sql */ `
ALTER TABLE pulls ADD COLUMN flow INTEGER NOT NULL DEFAULT 0;
`;

/**
 * Git LFS. The bytes of an object are in the attachment store under its uuid, once for all repositories that have the
 * object, and are removed when the last of these repositories no longer has it. A path has at most one lock; paths are
 * compared ignoring case.
 */
export const lfs = /* sql */ `
CREATE TABLE lfs_contents (
  oid TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  uuid TEXT NOT NULL UNIQUE
) STRICT;
CREATE TRIGGER lfs_contents_removed AFTER DELETE ON lfs_contents BEGIN
  INSERT OR IGNORE INTO file_trash (uuid) VALUES (OLD.uuid);
END;

CREATE TABLE lfs_objects (
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  oid TEXT NOT NULL REFERENCES lfs_contents (oid),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (repo_id, oid)
) STRICT, WITHOUT ROWID;
CREATE INDEX lfs_objects_oid ON lfs_objects (oid);
CREATE TRIGGER lfs_objects_removed AFTER DELETE ON lfs_objects
WHEN NOT EXISTS (SELECT 1 FROM lfs_objects o WHERE o.oid = OLD.oid) BEGIN
  DELETE FROM lfs_contents WHERE oid = OLD.oid;
END;

CREATE TABLE lfs_locks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  owner_id INTEGER REFERENCES users (id) ON DELETE SET NULL,
  path TEXT NOT NULL,
  lower_path TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (repo_id, lower_path)
) STRICT;
CREATE INDEX lfs_locks_owner ON lfs_locks (owner_id);
`;

/**
 * Deleted repositories whose folders still have to be removed: a process may die after deleting the row and before
 * removing the folder.
 */
export const removedRepositories = /* sql */ `
CREATE TABLE folder_trash (repo_id INTEGER PRIMARY KEY) STRICT;
CREATE TRIGGER repositories_removed AFTER DELETE ON repositories BEGIN
  INSERT OR IGNORE INTO folder_trash (repo_id) VALUES (OLD.id);
END;
`;

/**
 * The comment count of a pull request includes reviews, but is updated only when a comment is added or removed: a
 * review alone does not change it, as in Gitea. `login_name` is the external sign-in name of an account, set by
 * administrators.
 */
export const conversations = /* sql */ `
DROP TRIGGER reviews_added;
DROP TRIGGER reviews_submitted;
DROP TRIGGER reviews_removed;
DROP TRIGGER comments_added;
DROP TRIGGER comments_removed;
CREATE TRIGGER comments_added AFTER INSERT ON comments BEGIN
  UPDATE issues SET num_comments = (SELECT count(*) FROM comments c WHERE c.issue_id = NEW.issue_id)
    + (SELECT count(*) FROM reviews r WHERE r.issue_id = NEW.issue_id AND r.comment_id > 0) WHERE id = NEW.issue_id;
END;
CREATE TRIGGER comments_removed AFTER DELETE ON comments BEGIN
  UPDATE issues SET num_comments = (SELECT count(*) FROM comments c WHERE c.issue_id = OLD.issue_id)
    + (SELECT count(*) FROM reviews r WHERE r.issue_id = OLD.issue_id AND r.comment_id > 0) WHERE id = OLD.issue_id;
END;
ALTER TABLE users ADD COLUMN login_name TEXT NOT NULL DEFAULT '';
`;

/**
 * Hooks record who set their URL, because site administrators may use private addresses. Responses record whether they
 * came from a private address; responses from before this migration count as private. URLs from before this migration
 * have no recorded account.
 */
export const hookTargets = /* sql */ `
ALTER TABLE hooks ADD COLUMN url_by INTEGER REFERENCES users (id) ON DELETE SET NULL;
ALTER TABLE hook_tasks ADD COLUMN is_answer_private INTEGER NOT NULL DEFAULT 1;
`;

/**
 * Of a closed pull request, the API shows the tip of the branch as the head, as in Gitea; `head_sha` and
 * `refs/pull/NUMBER/head` keep the commit at which it was closed. Empty while the two are the same.
 */
export const movedHeads = /* sql */ `
ALTER TABLE pulls ADD COLUMN moved_sha TEXT NOT NULL DEFAULT '';
`;

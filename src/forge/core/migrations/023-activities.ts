/**
 * What accounts did in repositories, for feeds and heat maps. An activity is in the feed of who did it, of the organization that owns the
 * repository, and of who watched the repository then.
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

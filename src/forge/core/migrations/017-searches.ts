/**
 * Running stopwatches, one for an account; and topics by name, with the repositories that have them, for the search for topics.
 * `repositories.topics` stays what is read and written; triggers keep the rest.
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

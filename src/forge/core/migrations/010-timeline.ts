/**
 * The course of issues and pull requests beside their comments, and reactions. Entries are counted with the comments
 * (`takeCommentId`). What an entry refers to is in one JSON column: most entries refer to one thing, each kind to another.
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

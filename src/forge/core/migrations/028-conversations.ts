/**
 * The number of comments of a pull request counts reviews, but only when a comment is added or removed: a review alone does not
 * change it, as on Gitea. Accounts keep the name by which they sign in elsewhere, as administrators write it.
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

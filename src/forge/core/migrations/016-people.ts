/**
 * Settings of accounts, further e-mail addresses, who follows and who blocks whom. The primary address of an
 * account is in `email_addresses` too, so that every address is found in one place: `createAccount` writes it, and a trigger follows its
 * changes (a trigger for new accounts would make SQLite look for rows of other tables that wait for the account).
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

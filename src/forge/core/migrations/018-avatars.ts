/** Avatars of accounts, organizations and repositories: `avatar` is the hash in their addresses, empty for none. */
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

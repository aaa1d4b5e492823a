/**
 * Releases and their files. A tag without a release has no row here: git has it. The trigger counts what is published; names of
 * tags of one repository that differ in case alone are one.
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

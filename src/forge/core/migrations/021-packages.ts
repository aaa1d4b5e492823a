/**
 * Packages, their versions and files. Names that differ in case alone are one. A package goes with its last version; the bytes
 * of a file are in the attachment store under its uuid.
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

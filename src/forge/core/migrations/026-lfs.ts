/**
 * Git LFS. The bytes of a content are in the attachment store under its uuid, once however many repositories have it; it goes
 * with the last of them. A path has one lock, whatever its case.
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

/**
 * Work on git and database together that has begun: what still stands here at the start of a process was cut off, and
 * `recovery.ts` brings both sides in line again.
 */
export const unfinished = /* sql */ `
CREATE TABLE unfinished (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  work TEXT NOT NULL CHECK (work IN ('creating', 'pushing'))
) STRICT;
CREATE INDEX unfinished_repo ON unfinished (repo_id);
`;

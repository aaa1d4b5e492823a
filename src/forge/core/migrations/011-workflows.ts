/** Runs of workflows that were dispatched, and their jobs. No runner of this forge takes them: they stay queued. */
export const workflows = /* sql */ `
CREATE TABLE workflow_runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  workflow_id TEXT NOT NULL,
  ref TEXT NOT NULL,
  sha TEXT NOT NULL,
  title TEXT NOT NULL,
  event TEXT NOT NULL,
  actor_id INTEGER NOT NULL REFERENCES users (id),
  inputs TEXT NOT NULL DEFAULT '{}',
  status TEXT NOT NULL DEFAULT 'queued',
  conclusion TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  started_at INTEGER NOT NULL DEFAULT 0,
  completed_at INTEGER NOT NULL DEFAULT 0,
  UNIQUE (repo_id, number)
) STRICT;
CREATE INDEX workflow_runs_actor ON workflow_runs (actor_id);

CREATE TABLE workflow_jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id INTEGER NOT NULL REFERENCES workflow_runs (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  labels TEXT NOT NULL DEFAULT '[]',
  status TEXT NOT NULL
) STRICT;
CREATE INDEX workflow_jobs_run ON workflow_jobs (run_id);
`;

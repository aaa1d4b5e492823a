/** When each task of the administration ran last, and how often. */
export const cron = /* sql */ `
CREATE TABLE cron_runs (
  name TEXT PRIMARY KEY,
  previous_at INTEGER NOT NULL,
  runs INTEGER NOT NULL
) STRICT;
`;

/** Merges that wait until the conditions of their pull requests are met, one for a pull request. The trigger removes it with the merge. */
export const scheduledMerges = /* sql */ `
CREATE TABLE scheduled_merges (
  pull_id INTEGER PRIMARY KEY REFERENCES pulls (id) ON DELETE CASCADE,
  doer_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  style TEXT NOT NULL,
  message TEXT NOT NULL,
  deletes_branch INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX scheduled_merges_doer ON scheduled_merges (doer_id);
CREATE TRIGGER scheduled_merges_done AFTER UPDATE OF is_merged ON pulls WHEN NEW.is_merged = 1 BEGIN
  DELETE FROM scheduled_merges WHERE pull_id = NEW.id;
END;
`;

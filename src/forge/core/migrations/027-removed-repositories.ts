/** Repositories whose rows are gone and whose folders are to go: a process may die between the two. */
export const removedRepositories = /* sql */ `
CREATE TABLE folder_trash (repo_id INTEGER PRIMARY KEY) STRICT;
CREATE TRIGGER repositories_removed AFTER DELETE ON repositories BEGIN
  INSERT OR IGNORE INTO folder_trash (repo_id) VALUES (OLD.id);
END;
`;

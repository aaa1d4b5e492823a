/**
 * Normalizes an answer about files to the baseline's names: Forgejo calls the time of an entry's last commit
 * `last_commit_when`. Source: Forgejo `services/repository/files/content.go`.
 */
export function normalizeContents(answer: unknown): unknown {
  return Array.isArray(answer) ? answer.map(normalizeEntry) : normalizeEntry(answer);
}

function normalizeEntry(entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null || !('last_commit_when' in entry)) return entry;
  const { last_commit_when: at, ...rest } = entry;
  return { last_committer_date: at, ...rest };
}

import type { Operation } from '../contract/operation.ts';

/**
 * Returns the answer to a question about files in the baseline's words: Forgejo calls the instant of an entry's last commit
 * `last_commit_when`. Every other answer is returned as it is. Source: Forgejo `services/repository/files/content.go`.
 */
export function normalizeContents(operation: Operation, answer: unknown): unknown {
  if (operation.method !== 'GET' || !operation.path.includes('/contents')) return answer;
  return Array.isArray(answer) ? answer.map(normalizeEntry) : normalizeEntry(answer);
}

function normalizeEntry(entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null || !('last_commit_when' in entry)) return entry;
  const { last_commit_when: at, ...rest } = entry;
  return { last_committer_date: at, ...rest };
}

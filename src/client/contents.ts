import type { Operation } from '../contract/operation.ts';

/**
 * Normalizes an answer about files to the baseline's names: Forgejo calls the time of an entry's last commit
 * `last_commit_when`. Every other answer is returned unchanged. Source: Forgejo `services/repository/files/content.go`.
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

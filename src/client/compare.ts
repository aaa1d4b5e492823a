import { isRecord } from '../contract/events/payload-members.ts';

type FileEntry = { readonly filename: string; readonly status?: unknown };

/**
 * Returns the answer to a comparison with its files, for every forge: Gitea (1.26, 1.27) lists files per commit
 * only, Forgejo for the whole as well. Files combined from commits include all that differ, and also those that one commit
 * added and another deleted.
 */
export function normalizeCompare(answer: unknown): unknown {
  if (!isRecord(answer)) return answer;
  if (Array.isArray(answer.files) || !Array.isArray(answer.commits)) return answer;
  const files = new Map<string, FileEntry>();
  // Newest first: the newest commit determines the status of a file.
  for (const commit of answer.commits as readonly unknown[]) {
    for (const file of filesOf(commit)) if (!files.has(file.filename)) files.set(file.filename, file);
  }
  return { ...answer, files: [...files.values()] };
}

function filesOf(commit: unknown): readonly FileEntry[] {
  if (!isRecord(commit) || !Array.isArray(commit.files)) return [];
  return commit.files.filter(
    (file): file is FileEntry => isRecord(file) && typeof file.filename === 'string',
  );
}

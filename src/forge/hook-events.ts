/** Names that enable themselves. */
const plain = [
  ...['push', 'create', 'delete', 'fork', 'repository', 'wiki', 'release', 'package', 'status'],
  ...['workflow_run', 'workflow_job', 'issue_assign', 'issue_label', 'issue_milestone', 'issue_comment'],
  ...['pull_request_assign', 'pull_request_label', 'pull_request_milestone', 'pull_request_comment'],
  ...['pull_request_review', 'pull_request_review_request', 'pull_request_sync'],
];

/**
 * What a name in a hook's `events` enables. Two names mean a family as input and one kind as output, so a list that is
 * read and written back changes the hook: that is the baseline's trap, kept here.
 */
const enabledBy: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...plain.map((name) => [name, [name]] as const),
  ['issues', ['issues', 'issue_assign', 'issue_label', 'issue_milestone', 'issue_comment']],
  ['issues_only', ['issues']],
  ['pull_request', ['pull_request', ...plain.filter((name) => name.startsWith('pull_request_'))]],
  ['pull_request_only', ['pull_request']],
]);

/** Returns the kinds that a list of names enables, each once. Unknown names enable nothing; an absent or empty list is push. */
export function enabledEvents(names: readonly string[] | undefined): readonly string[] {
  const given = names === undefined || names.length === 0 ? ['push'] : names;
  return [...new Set(given.flatMap((name) => enabledBy.get(name.trim().toLowerCase()) ?? []))];
}

/** Names that enable themselves. */
const plain = [
  ...['push', 'create', 'delete', 'fork', 'repository', 'wiki', 'release', 'package', 'status'],
  ...['workflow_run', 'workflow_job', 'issue_assign', 'issue_label', 'issue_milestone', 'issue_comment'],
  ...['pull_request_assign', 'pull_request_label', 'pull_request_milestone', 'pull_request_comment'],
  ...['pull_request_review', 'pull_request_review_request', 'pull_request_sync'],
];

/**
 * Kinds that a name in a hook's `events` enables. Two names mean a family on input and a single kind on output, so a list
 * that is read and written back changes the hook. Source: forge `routers/api/v1/utils/hook.go`, `modules/webhook/events.go`.
 */
const enabledBy: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...plain.map((name) => [name, [name]] as const),
  ['issues', ['issues', 'issue_assign', 'issue_label', 'issue_milestone', 'issue_comment']],
  ['issues_only', ['issues']],
  ['pull_request', ['pull_request', ...plain.filter((name) => name.startsWith('pull_request_'))]],
  ['pull_request_only', ['pull_request']],
]);

/** Kinds that only Forgejo has. */
const ofForgejo = ['action_run_failure', 'action_run_recover', 'action_run_success'] as const;

/** All names that are accepted in a hook's `events`. */
export const hookEventNames: readonly string[] = [...enabledBy.keys(), ...ofForgejo];

/** Returns the kinds that a list of names enables, each once. Unknown names enable nothing; an absent or empty list is push. */
export function enabledEvents(names: readonly string[] | undefined): readonly string[] {
  const given = names === undefined || names.length === 0 ? ['push'] : names;
  return [...new Set(given.flatMap((name) => enabledBy.get(name.trim().toLowerCase()) ?? []))];
}

/**
 * Returns the sorted kinds of a hook from the names in a response: two lists are equivalent if these are equal. A hook for
 * all events lists reviews as three kinds, which are equivalent to the single name that can be sent.
 */
export function shownEvents(names: readonly string[]): readonly string[] {
  const one = (name: string) =>
    name.startsWith('pull_request_review_') && name !== 'pull_request_review_request'
      ? 'pull_request_review'
      : name;
  return [...new Set(names.map(one))].sort();
}

/** Returns the sorted kinds from names in a rule file (`pull_request` is the family). */
export function wantedEvents(names: readonly string[]): readonly string[] {
  const own = names.filter((name) => ofForgejo.some((one) => one === name));
  const known = names.filter((name) => !own.includes(name));
  return [...(known.length === 0 ? [] : enabledEvents(known)), ...own].sort();
}

/** Returns the names to send for a hook with exactly these kinds. */
export function namesToSend(kinds: readonly string[]): readonly string[] {
  return kinds.map((kind) => (kind === 'issues' || kind === 'pull_request' ? `${kind}_only` : kind));
}

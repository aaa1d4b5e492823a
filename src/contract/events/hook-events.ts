/** Names that enable only the kind of the same name. */
const plain = [
  ...['push', 'create', 'delete', 'fork', 'repository', 'wiki', 'release', 'package', 'status'],
  ...['workflow_run', 'workflow_job', 'issue_assign', 'issue_label', 'issue_milestone', 'issue_comment'],
  ...['pull_request_assign', 'pull_request_label', 'pull_request_milestone', 'pull_request_comment'],
  ...['pull_request_review', 'pull_request_review_request', 'pull_request_sync'],
];

/**
 * Kinds that each name in a hook's `events` enables. Two names mean a family on input but a single kind on output, so
 * writing back a list that was read changes the hook. Source: forge `routers/api/v1/utils/hook.go`,
 * `modules/webhook/events.go`.
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

/**
 * Returns the kinds that a list of names enables, each once. Unknown names enable nothing; an absent or empty list
 * enables push.
 */
export function enabledEvents(names: readonly string[] | undefined): readonly string[] {
  const given = names === undefined || names.length === 0 ? ['push'] : names;
  return [...new Set(given.flatMap((name) => enabledBy.get(name.trim().toLowerCase()) ?? []))];
}

/**
 * Returns the sorted kinds of a hook from the names in a response. Two lists are equivalent if their kinds are equal. A
 * hook for all events lists reviews as three kinds, which are equivalent to the single name that can be sent.
 */
export function shownEvents(names: readonly string[]): readonly string[] {
  const one = (name: string) =>
    name.startsWith('pull_request_review_') && name !== 'pull_request_review_request'
      ? 'pull_request_review'
      : name;
  return [...new Set(names.map(one))].sort();
}

/** Returns the sorted kinds for names in a rule file (`pull_request` is the family). */
export function wantedEvents(names: readonly string[]): readonly string[] {
  const own = names.filter((name) => ofForgejo.some((one) => one === name));
  const known = names.filter((name) => !own.includes(name));
  return [...(known.length === 0 ? [] : enabledEvents(known)), ...own].sort();
}

/** Returns the names to send for a hook that enables exactly these kinds. */
export function namesToSend(kinds: readonly string[]): readonly string[] {
  return kinds.map((kind) => (kind === 'issues' || kind === 'pull_request' ? `${kind}_only` : kind));
}

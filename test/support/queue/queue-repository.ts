import type { Client } from '../../../src/client/client.ts';
import { operations } from '../../../src/contract/operations.ts';
import type { PullRequest } from '../../../src/contract/resources/pulls.ts';

/** Repository, in the path parameters of the API. */
export type RepositoryAt = { readonly owner: string; readonly repo: string };

/** Rules that add every pull request to the queue of its base. */
export const queueRules = `version: 1
rules:
  queue:
    on: { pull_request: [opened, synchronized] }
    each: pull_request
    steps: [{ uses: queue-merge, with: { method: merge } }]
`;

/** Statuses that a base usually requires. `reeve/queue` prevents people from bypassing the queue. */
const usualContexts = ['ci', 'reeve/queue'] as const;

/** Makes a branch require statuses. */
export async function requireStatuses(
  root: Client,
  at: RepositoryAt,
  { branch = 'main', contexts = usualContexts }: { branch?: string; contexts?: readonly string[] } = {},
): Promise<void> {
  await root.call(operations.createBranchProtection, {
    params: at,
    body: {
      rule_name: branch,
      enable_push: true,
      enable_status_check: true,
      status_check_contexts: [...contexts],
    },
  });
}

type QueueRepositoryOptions = {
  readonly owner: string;
  readonly name: string;
  /** Account of the bot, which may write. */
  readonly bot: string;
  readonly contexts?: readonly string[];
};

/**
 * Creates a repository of an organization, with a protected `main` and write access for the bot. Returns the
 * repository's id.
 */
export async function makeQueueRepository(
  root: Client,
  { owner, name, bot, contexts }: QueueRepositoryOptions,
): Promise<{ readonly at: RepositoryAt; readonly id: number }> {
  const at = { owner, repo: name };
  const { id } = await root.call(operations.createOrganizationRepository, {
    params: { org: owner },
    body: { name, auto_init: true, default_branch: 'main' },
  });
  const params = { ...at, collaborator: bot };
  await root.call(operations.putCollaborator, { params, body: { permission: 'write' } });
  await requireStatuses(root, at, contexts === undefined ? {} : { contexts });
  return { at, id };
}

/**
 * Simulates CI: reports on the heads of open pull requests that have no report yet. `isRed` decides which heads fail.
 */
export async function reportChecks(
  root: Client,
  at: RepositoryAt,
  isRed: (pull: PullRequest) => boolean = () => false,
): Promise<void> {
  const open = await root.call(operations.listPulls, { params: at, query: { state: 'open' } });
  for (const pull of open) {
    const params = { ...at, sha: pull.head?.sha ?? '' };
    const known = await root.call(operations.listStatuses, { params });
    if (known.some(({ context }) => context === 'ci')) continue;
    const state = isRed(pull) ? 'failure' : 'success';
    await root.call(operations.createStatus, { params, body: { context: 'ci', state } });
  }
}

/** Returns the latest status of the queue on a commit. */
export async function newestQueueStatus(
  root: Client,
  at: RepositoryAt,
  sha: string,
): Promise<string | undefined> {
  const all = await root.call(operations.listStatuses, { params: { ...at, sha } });
  const [newest] = all
    .filter(({ context }) => context === 'reeve/queue')
    .toSorted((a, b) => Number(b.id) - Number(a.id));
  return newest?.status ?? undefined;
}

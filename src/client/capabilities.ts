import type { AnswerOf, InputOf, Operation } from '../contract/operation.ts';
import { operations } from '../contract/operations.ts';
import { ReeveError } from '../platform/errors.ts';

/** The part of a client that sends one call. */
type CallSender = { call<O extends Operation>(operation: O, input: InputOf<O>): Promise<AnswerOf<O>> };

/** `since` absent: no Gitea release has the feature. */
type CapabilityRow = {
  readonly since?: readonly [number, number];
  readonly forgejo: boolean;
  readonly what: string;
};

/**
 * Features that only some forges have. `since` is the first Gitea release with the feature, `forgejo` whether the
 * Forgejo line has it. Source: `modules/structs/` and `modules/webhook/type.go` of Gitea at the tags v1.21.0 to
 * v1.26.0, and of Forgejo.
 */
const table = {
  branches_before_tags: {
    since: [1, 24],
    forgejo: false,
    what: 'reading a file from a branch that has the name of a tag',
  },
  organization_public_again: {
    since: [1, 25],
    forgejo: false,
    what: 'making an organization public (possible on its settings page)',
  },
  contents_ext: { since: [1, 25], forgejo: false, what: 'the extended contents operation' },
  code_unit: { since: [1, 25], forgejo: false, what: 'disabling the code unit of a repository' },
  hook_names: { since: [1, 26], forgejo: false, what: 'names of hooks' },
  content_version: { since: [1, 26], forgejo: false, what: 'the content version of issues' },
  hook_package_edit: {
    since: [1, 24],
    forgejo: false,
    what: 'changing the package or action run events of an existing hook (delete it, and it is created again)',
  },
  restricted_approval: {
    since: [1, 20],
    forgejo: false,
    what: 'requiring approval for every workflow of a fork that a restricted account starts',
  },
  hook_header_removal: {
    since: [1, 19],
    forgejo: false,
    what: 'clearing the Authorization header of a hook (delete it, and it is created again)',
  },
  runner_disabled: { since: [1, 26], forgejo: false, what: 'disabling runners' },
  branch_update: { since: [1, 26], forgejo: false, what: 'moving a branch through the API' },
  branch_name_filter: { since: [1, 27], forgejo: false, what: 'filtering branches by name' },
  code_owner_paths: {
    since: [1, 26],
    forgejo: false,
    what: 'a leading slash and look-ahead in patterns of CODEOWNERS',
  },
  code_owners_of_forgejo: { forgejo: true, what: 'the file .forgejo/CODEOWNERS' },
  bypass_allowlist: { since: [1, 27], forgejo: false, what: 'the bypass list of branch protections' },
  issue_lock: { since: [1, 25], forgejo: false, what: 'locking issues' },
  issue_projects: { since: [1, 27], forgejo: false, what: 'projects of issues' },
  team_visibility: { since: [1, 27], forgejo: false, what: 'visibility of teams' },
  token_self: { since: [1, 27], forgejo: false, what: 'reading the token in use' },
  pull_sync_commits: {
    since: [1, 27],
    forgejo: false,
    what: 'the commits before and after a push to a pull request',
  },
  branch_protection_priority: { since: [1, 23], forgejo: false, what: 'the priority of branch protections' },
  force_push_protection: { since: [1, 23], forgejo: false, what: 'force-push lists of branch protections' },
  block_admin_merge_override: {
    since: [1, 23],
    forgejo: false,
    what: 'applying a protection to administrators',
  },
  status_events: { since: [1, 23], forgejo: false, what: 'the hook event status' },
  workflow_job_events: { since: [1, 24], forgejo: false, what: 'the hook event workflow_job' },
  workflow_run_events: { since: [1, 25], forgejo: false, what: 'the hook event workflow_run' },
  pull_reviewers_on_create: {
    since: [1, 23],
    forgejo: false,
    what: 'requesting reviewers when a pull request is opened',
  },
  workflow_dispatch: { since: [1, 24], forgejo: true, what: 'starting workflows' },
  workflow_runs: { since: [1, 25], forgejo: true, what: 'listing runs of workflows' },
  branch_filter_all_refs: {
    since: [1, 25],
    forgejo: false,
    what: 'branch filters on tags, create and delete',
  },
  authorization_hidden: { since: [1, 27], forgejo: false, what: 'hiding the authorization header of hooks' },
  apply_to_admins: { forgejo: true, what: 'the field apply_to_admins of branch protections' },
  label_delete_by_name: { forgejo: true, what: 'removing a label by its name' },
  action_run_events: { forgejo: true, what: 'hook events action_run_failure, _recover and _success' },
} as const satisfies Record<string, CapabilityRow>;

/** A feature of a forge. Code checks capabilities, never a product or a version. */
export type Capability = keyof typeof table;

/** The capability that a forge needs to send an event, by event family; the hook event has the same name. */
export const capabilityOfEvent: Readonly<Record<string, Capability>> = {
  status: 'status_events',
  workflow_run: 'workflow_run_events',
  workflow_job: 'workflow_job_events',
  action_run_failure: 'action_run_events',
  action_run_recover: 'action_run_events',
  action_run_success: 'action_run_events',
};

/** Capabilities of one forge. */
export type Capabilities = {
  /** Version as reported by the forge, for messages. */
  readonly version: string;
  /** False if the version does not identify the product line: safety must not depend on this table then. */
  readonly isCertain: boolean;
  readonly has: Readonly<Record<Capability, boolean>>;
};

/**
 * Returns the capabilities of a version. Gitea numbers its releases 1.N. Forgejo is identified by `+gitea-`, unless a
 * build omits it; the number after it does not indicate features. Any other version counts as Gitea, and missing
 * features show in the forge's responses.
 */
export function capabilitiesOf(version: string): Capabilities {
  const isForgejo = version.includes('+gitea-');
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  const release = major === undefined ? undefined : ([Number(major), Number(minor)] as const);
  const has = Object.entries(table).map(([name, row]: [string, CapabilityRow]) => {
    if (isForgejo) return [name, row.forgejo];
    if (row.since === undefined) return [name, false];
    return [name, release === undefined || !isBefore(release, row.since)];
  });
  return {
    version,
    isCertain: isForgejo || release?.[0] === 1,
    has: Object.fromEntries(has) as Record<Capability, boolean>,
  };
}

function isBefore(release: readonly [number, number], since: readonly [number, number]): boolean {
  return release[0] < since[0] || (release[0] === since[0] && release[1] < since[1]);
}

/**
 * Reads the capabilities of a forge from its version or, if that is hidden, from its settings, of which one field
 * distinguishes Gitea from Forgejo. One request, rarely two.
 */
export async function findCapabilities(client: CallSender): Promise<Capabilities> {
  const version = await unlessRefused(client.call(operations.getVersion, {}));
  const told = capabilitiesOf(version?.version ?? '');
  if (told.isCertain) return told;
  const settings = await unlessRefused(client.call(operations.getApiSettings, {}));
  if (version === undefined && settings === undefined) {
    throw new ReeveError('settings', 'FORGE_URL is not a forge: it has no /api/v1/version');
  }
  const isForgejo = settings !== undefined && typeof settings.default_max_response_size !== 'number';
  const found = isForgejo ? capabilitiesOf('0.0.0+gitea-0') : told;
  return { ...found, version: told.version || 'of a hidden version', isCertain: false };
}

/** Returns undefined if the forge refuses, because a proxy may hide its version from anonymous callers. */
async function unlessRefused<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    const isRefused =
      error instanceof ReeveError && (error.code === 'forge-not-found' || error.code === 'forge-forbidden');
    if (isRefused) return undefined;
    throw error;
  }
}

/**
 * Returns the reason why this forge does not support a change that needs these capabilities, or undefined if it does.
 */
export function unsupportedReason(
  capabilities: Capabilities,
  needed: readonly Capability[],
): string | undefined {
  const missing = needed.filter((name) => !capabilities.has[name]);
  if (missing.length === 0) return undefined;
  return `this forge (${capabilities.version}) does not support ${missing.map((name) => table[name].what).join(' and ')}`;
}

import type { RepositoryRow } from './rows.ts';

/** Settings of a repository that no query filters by, with the defaults of a new repository. */
const defaultSettings = {
  allow_fast_forward_only_merge: true,
  allow_manual_merge: false,
  allow_merge_commits: true,
  allow_merge_update: true,
  allow_rebase: true,
  allow_rebase_explicit: true,
  allow_rebase_update: true,
  allow_squash_merge: true,
  autodetect_manual_merge: false,
  default_allow_maintainer_edit: true,
  default_delete_branch_after_merge: false,
  default_merge_style: 'merge',
  default_update_style: 'merge',
  has_actions: true,
  has_code: true,
  has_issues: true,
  has_packages: true,
  has_projects: true,
  has_pull_requests: true,
  has_releases: true,
  has_wiki: true,
  ignore_whitespace_conflicts: false,
  projects_mode: 'all',
  internal_tracker: {
    enable_time_tracker: true,
    allow_only_contributors_to_track_time: true,
    enable_issue_dependencies: true,
  } as InternalTracker,
  external_tracker: undefined as ExternalTracker | undefined,
  external_wiki: undefined as { readonly external_wiki_url?: string | null | undefined } | undefined,
};

type InternalTracker = {
  readonly [Name in
    | 'enable_time_tracker'
    | 'allow_only_contributors_to_track_time'
    | 'enable_issue_dependencies']?: boolean | null | undefined;
};
type ExternalTracker = {
  readonly [Name in
    | 'external_tracker_url'
    | 'external_tracker_format'
    | 'external_tracker_style'
    | 'external_tracker_regexp_pattern']?: string | null | undefined;
};

/** Settings of a repository, with defaults filled in. */
export type RepositorySettings = typeof defaultSettings;

/** Returns the settings of a repository; settings that were never set have the defaults of a new repository. */
export function settingsOf(repository: RepositoryRow): RepositorySettings {
  // The cast is safe: only this forge writes the column.
  return { ...defaultSettings, ...(JSON.parse(repository.settings) as Partial<RepositorySettings>) };
}

/** Returns the text of the settings column after an edit; fields that the edit does not name are kept. */
export function mergeSettings(repository: RepositoryRow, edit: Readonly<Record<string, unknown>>): string {
  const merged: Record<string, unknown> = { ...settingsOf(repository) };
  for (const name of Object.keys(defaultSettings)) {
    if (edit[name] !== undefined && edit[name] !== null) merged[name] = edit[name];
  }
  return JSON.stringify(merged);
}

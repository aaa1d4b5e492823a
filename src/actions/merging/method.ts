import type { Repository } from '../../contract/resources/repositories.ts';

/** How a pull request can be merged. */
export const mergeMethods = ['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only'] as const;
export type MergeMethod = (typeof mergeMethods)[number];

/** Setting of the repository that allows a method. */
const permits: Readonly<Record<MergeMethod, keyof Repository>> = {
  merge: 'allow_merge_commits',
  rebase: 'allow_rebase',
  'rebase-merge': 'allow_rebase_explicit',
  squash: 'allow_squash_merge',
  'fast-forward-only': 'allow_fast_forward_only_merge',
};

/** Returns how to merge: as given, or as the repository does by default. Throws if the repository does not allow it. */
export function mergeMethodOf(given: MergeMethod | undefined, settings: Repository): MergeMethod {
  const byDefault = mergeMethods.find((one) => one === settings.default_merge_style) ?? 'merge';
  const method = given ?? byDefault;
  if (settings[permits[method]] !== false) return method;
  const allowed = mergeMethods.filter((one) => settings[permits[one]] !== false);
  throw new Error(
    `the repository does not allow the merge method ${method}; it allows ${allowed.join(', ') || 'none'}`,
  );
}

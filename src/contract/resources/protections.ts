import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { repositoryAs } from '../row-fields.ts';
import { flag, inRepository, instant, int, list, resource, text } from '../shape.ts';

/** Fields of a branch protection except its name; the resource and both bodies have the same fields. */
const terms = {
  /** Lower numbers win (1 wins over 2); 0 at creation means last. */
  priority: int,
  /** If false, no account can push; pull requests can still be merged. */
  enable_push: flag,
  enable_push_whitelist: flag,
  push_whitelist_usernames: z.array(text),
  push_whitelist_teams: z.array(text),
  push_whitelist_deploy_keys: flag,
  enable_force_push: flag,
  enable_force_push_allowlist: flag,
  force_push_allowlist_usernames: z.array(text),
  force_push_allowlist_teams: z.array(text),
  force_push_allowlist_deploy_keys: flag,
  enable_merge_whitelist: flag,
  merge_whitelist_usernames: z.array(text),
  merge_whitelist_teams: z.array(text),
  enable_bypass_allowlist: flag,
  bypass_allowlist_usernames: z.array(text),
  bypass_allowlist_teams: z.array(text),
  enable_status_check: flag,
  /** Globs without separator. Each must match a status, and all matching statuses must be success or skipped. */
  status_check_contexts: z.array(text),
  required_approvals: int,
  enable_approvals_whitelist: flag,
  /** The forge spells this field in the singular. */
  approvals_whitelist_username: z.array(text),
  approvals_whitelist_teams: z.array(text),
  block_on_rejected_reviews: flag,
  block_on_official_review_requests: flag,
  block_on_outdated_branch: flag,
  dismiss_stale_approvals: flag,
  ignore_stale_approvals: flag,
  /** Not enforced by the embedded forge, which has no signing keys; it only stores and returns the value. */
  require_signed_commits: flag,
  /** Globs separated by `;` for files that neither a push nor a merge may change. */
  protected_file_patterns: text,
  /** Globs separated by `;` for files that may be pushed without push permission. */
  unprotected_file_patterns: text,
  block_admin_merge_override: flag,
};

/**
 * A branch protection rule. `branch_name` is the rule name if it is not a glob, otherwise empty. The lists of users and
 * teams are sorted and contain only those that can currently read the repository. Forgejo lacks `priority` and the
 * fields for force-push, bypass and override.
 */
export const BranchProtection = resource(
  { rule_name: text },
  { branch_name: text, ...terms, created_at: instant, updated_at: instant },
);
export type BranchProtection = z.output<typeof BranchProtection>;

/** Fields of a request, all optional. */
export const EditBranchProtection = z.strictObject(terms).partial();
export type EditBranchProtection = z.output<typeof EditBranchProtection>;

/** `rule_name` or the older `branch_name` is required. */
export const CreateBranchProtection = EditBranchProtection.extend({
  rule_name: text.optional(),
  branch_name: text.optional(),
});
export type CreateBranchProtection = z.output<typeof CreateBranchProtection>;

/** A tag protection: only the listed users and teams can create, change or delete tags with a matching name. */
export const TagProtection = resource(
  { id: int, name_pattern: text },
  {
    whitelist_usernames: z.array(text),
    whitelist_teams: z.array(text),
    created_at: instant,
    updated_at: instant,
  },
);
export type TagProtection = z.output<typeof TagProtection>;

const TagTerms = z.strictObject({
  /** A glob without separator, or a regular expression between slashes. */
  name_pattern: text.optional(),
  whitelist_usernames: z.array(text).optional(),
  whitelist_teams: z.array(text).optional(),
});

const branchPath = '/repos/{owner}/{repo}/branch_protections';
const tagPath = '/repos/{owner}/{repo}/tag_protections';
const atRule = z.object({ ...inRepository, name: text });
const atTagRule = z.object({ ...inRepository, id: int });

export const protectionOperations = {
  listBranchProtections: defineOperation({
    id: 'branch-protection.list',
    meaning: 'Lists all branch protections by priority; never paged.',
    method: 'GET',
    path: branchPath,
    ...repositoryAs('admin'),
    success: 200,
    response: list(BranchProtection),
    errors: [403],
    source: 'routers/api/v1/repo/branch.go ListBranchProtections',
  }),
  getBranchProtection: defineOperation({
    id: 'branch-protection.get',
    meaning: 'Returns a branch protection by its exact name, which may contain slashes and stars.',
    method: 'GET',
    path: `${branchPath}/{name*}`,
    oneSegment: true,
    ...repositoryAs('admin'),
    params: atRule,
    success: 200,
    response: BranchProtection,
    errors: [403, 404],
    source: 'routers/api/v1/repo/branch.go GetBranchProtection',
  }),
  createBranchProtection: defineOperation({
    id: 'branch-protection.create',
    meaning: 'Creates a branch protection; names without write access are dropped, a name in use is 403.',
    method: 'POST',
    path: branchPath,
    ...repositoryAs('admin'),
    body: CreateBranchProtection,
    success: 201,
    response: BranchProtection,
    errors: [400, 403, 422, 423],
    archived: 'after-body',
    source: 'routers/api/v1/repo/branch.go CreateBranchProtection',
  }),
  editBranchProtection: defineOperation({
    id: 'branch-protection.edit',
    meaning:
      'Updates a branch protection; whitelist flags are read only together with `enable_push: true`, likewise for force pushes.',
    method: 'PATCH',
    path: `${branchPath}/{name*}`,
    oneSegment: true,
    ...repositoryAs('admin'),
    params: atRule,
    body: EditBranchProtection,
    success: 200,
    response: BranchProtection,
    errors: [403, 404, 422, 423],
    archived: 'after-body',
    source: 'routers/api/v1/repo/branch.go EditBranchProtection',
  }),
  deleteBranchProtection: defineOperation({
    id: 'branch-protection.delete',
    meaning: 'Deletes a branch protection.',
    method: 'DELETE',
    path: `${branchPath}/{name*}`,
    oneSegment: true,
    ...repositoryAs('admin'),
    params: atRule,
    success: 204,
    errors: [403, 404, 423],
    archived: 'after-body',
    source: 'routers/api/v1/repo/branch.go DeleteBranchProtection',
  }),
  orderBranchProtections: defineOperation({
    id: 'branch-protection.order',
    meaning:
      'Sets the priorities of branch protections in this order; the API does not show their ids. Not on Forgejo.',
    method: 'POST',
    path: `${branchPath}/priority`,
    ...repositoryAs('admin'),
    body: z.strictObject({ ids: z.array(int).optional() }),
    success: 204,
    errors: [403, 422, 423],
    archived: 'after-body',
    source: 'routers/api/v1/repo/branch.go UpdateBranchProtectionPriories',
  }),
  listTagProtections: defineOperation({
    id: 'tag-protection.list',
    meaning: 'Lists all tag protections; never paged.',
    method: 'GET',
    path: tagPath,
    ...repositoryAs('admin'),
    success: 200,
    response: list(TagProtection),
    errors: [403],
    source: 'routers/api/v1/repo/tag.go ListTagProtection',
  }),
  getTagProtection: defineOperation({
    id: 'tag-protection.get',
    meaning: 'Returns a tag protection.',
    method: 'GET',
    path: `${tagPath}/{id}`,
    ...repositoryAs('admin'),
    params: atTagRule,
    success: 200,
    response: TagProtection,
    errors: [403, 404],
    source: 'routers/api/v1/repo/tag.go GetTagProtection',
  }),
  createTagProtection: defineOperation({
    id: 'tag-protection.create',
    meaning: 'Creates a tag protection; a pattern in use is 403.',
    method: 'POST',
    path: tagPath,
    ...repositoryAs('admin'),
    body: TagTerms,
    success: 201,
    response: TagProtection,
    errors: [400, 403, 422, 423],
    archived: 'after-body',
    source: 'routers/api/v1/repo/tag.go CreateTagProtection',
  }),
  editTagProtection: defineOperation({
    id: 'tag-protection.edit',
    meaning: 'Updates a tag protection; absent members are unchanged, both lists may become empty.',
    method: 'PATCH',
    path: `${tagPath}/{id}`,
    ...repositoryAs('admin'),
    params: atTagRule,
    body: TagTerms,
    success: 200,
    response: TagProtection,
    errors: [403, 404, 422, 423],
    archived: 'after-body',
    source: 'routers/api/v1/repo/tag.go EditTagProtection',
  }),
  deleteTagProtection: defineOperation({
    id: 'tag-protection.delete',
    meaning: 'Deletes a tag protection, also in an archived repository.',
    method: 'DELETE',
    path: `${tagPath}/{id}`,
    ...repositoryAs('admin'),
    params: atTagRule,
    success: 204,
    errors: [403, 404],
    source: 'routers/api/v1/repo/tag.go DeleteTagProtection',
  }),
} as const;

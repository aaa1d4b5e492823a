// src/contract/operation.ts
function defineOperation(operation) {
  return operation;
}
function fillPath(operation, params = {}) {
  return operation.path.replace(/\{(\w+)(\*?)\}/g, (_, name, rest) => {
    const value = params[name];
    const text2 = value === void 0 || value === null ? "" : String(value);
    const segments = rest === "*" ? text2.split("/") : [text2];
    if (rest !== "*" && text2 === "")
      throw new TypeError(`${operation.id}: path parameter ${name} is missing`);
    if (segments.some((segment) => segment === ".." || segment === "." && text2 !== ".")) {
      throw new TypeError(`${operation.id}: path parameter ${name} must not contain "${text2}"`);
    }
    return segments.map(encodeURIComponent).join(operation.oneSegment ? "%2F" : "/");
  });
}

// src/contract/users.ts
import { z as z2 } from "zod";

// src/contract/shape.ts
import { z } from "zod";
var int = z.number().int();
var text = z.string();
var flag = z.boolean();
var instant = z.string();
function list(item) {
  return z.array(item).nullish().transform((items) => items ?? []);
}
function resource(required, optional) {
  const loose = Object.fromEntries(
    Object.entries(optional).map(([name, shape]) => [
      name,
      shape instanceof z.ZodArray ? list(shape.element) : shape.nullish()
    ])
  );
  return z.object({ ...required, ...loose });
}
var pages = { page: int.optional(), limit: int.optional() };
var inRepository = { owner: text, repo: text };

// src/contract/users.ts
var User = resource(
  { id: int, login: text },
  {
    username: text,
    active: flag,
    avatar_url: text,
    created: instant,
    description: text,
    email: text,
    followers_count: int,
    following_count: int,
    full_name: text,
    html_url: text,
    is_admin: flag,
    language: text,
    last_login: instant,
    location: text,
    login_name: text,
    prohibit_login: flag,
    restricted: flag,
    source_id: int,
    starred_repos_count: int,
    visibility: z2.enum(["public", "limited", "private"]),
    website: text
  }
);
var Organization = resource(
  { id: int, name: text },
  {
    username: text,
    avatar_url: text,
    description: text,
    email: text,
    full_name: text,
    location: text,
    repo_admin_change_team_access: flag,
    visibility: text,
    website: text
  }
);
var Team = resource(
  { id: int, name: text },
  {
    can_create_org_repo: flag,
    description: text,
    includes_all_repositories: flag,
    organization: Organization,
    permission: z2.enum(["none", "read", "write", "admin", "owner"]),
    units: z2.array(text),
    units_map: z2.record(text, text),
    visibility: text
  }
);
var AccessToken = resource(
  { id: int, name: text },
  { scopes: z2.array(text), sha1: text, token_last_eight: text, created_at: instant, last_used_at: instant }
);
var CreateOrganization = z2.strictObject({
  username: text,
  full_name: text.optional(),
  description: text.optional(),
  email: text.optional(),
  location: text.optional(),
  website: text.optional(),
  visibility: text.optional(),
  repo_admin_change_team_access: flag.optional()
});
var CurrentToken = resource(
  { id: int, name: text },
  {
    scopes: z2.array(text),
    created_at: instant,
    last_used_at: instant,
    user: resource({ id: int, login: text }, {})
  }
);
var inUser = z2.object({ username: text });
var inOrganization = z2.object({ org: text });
var userOperations = {
  getSelf: defineOperation({
    id: "user.get-self",
    meaning: "The account whose credential this is, with its private members.",
    method: "GET",
    path: "/user",
    params: z2.object({}),
    success: 200,
    response: User,
    errors: [],
    access: "self",
    scopes: ["user"],
    source: "routers/api/v1/user/user.go GetAuthenticatedUser"
  }),
  getUser: defineOperation({
    id: "user.get",
    meaning: "One account.",
    method: "GET",
    path: "/users/{username}",
    params: inUser,
    success: 200,
    response: User,
    errors: [404],
    access: "anyone",
    scopes: ["user"],
    source: "routers/api/v1/user/user.go GetInfo"
  }),
  createUser: defineOperation({
    id: "admin.create-user",
    meaning: "Makes an account.",
    method: "POST",
    path: "/admin/users",
    params: z2.object({}),
    body: z2.strictObject({
      username: text,
      email: text,
      password: text.optional(),
      full_name: text.optional(),
      must_change_password: flag.optional(),
      restricted: flag.optional(),
      visibility: text.optional()
    }),
    success: 201,
    response: User,
    errors: [400, 403, 422],
    access: "site",
    scopes: ["admin"],
    source: "routers/api/v1/admin/user.go CreateUser"
  }),
  createToken: defineOperation({
    id: "user.create-token",
    meaning: "Makes a personal access token; Basic credentials only.",
    method: "POST",
    path: "/users/{username}/tokens",
    params: inUser,
    body: z2.strictObject({ name: text, scopes: z2.array(text).optional() }),
    success: 201,
    response: AccessToken,
    errors: [400, 401, 403],
    access: "self",
    scopes: ["user"],
    source: "routers/api/v1/user/app.go CreateAccessToken"
  }),
  listTokens: defineOperation({
    id: "user.list-tokens",
    meaning: "The personal access tokens of an account, without their values; Basic credentials only.",
    method: "GET",
    path: "/users/{username}/tokens",
    params: inUser,
    query: z2.object(pages),
    success: 200,
    response: list(AccessToken),
    errors: [401, 403],
    access: "self",
    scopes: ["user"],
    paging: "count",
    source: "routers/api/v1/user/app.go ListAccessTokens"
  }),
  deleteToken: defineOperation({
    id: "user.delete-token",
    meaning: "Removes a personal access token, by id or name; Basic credentials only.",
    method: "DELETE",
    path: "/users/{username}/tokens/{token}",
    params: z2.object({ username: text, token: text }),
    success: 204,
    errors: [401, 403, 404],
    access: "self",
    scopes: ["user"],
    source: "routers/api/v1/user/app.go DeleteAccessToken"
  }),
  getCurrentToken: defineOperation({
    id: "token.get",
    meaning: "The token that the request carries in its Authorization header; 404 for any other credential.",
    method: "GET",
    path: "/token",
    params: z2.object({}),
    success: 200,
    response: CurrentToken,
    errors: [404],
    access: "self",
    scopes: [],
    source: "routers/api/v1/token/token.go GetCurrentToken"
  }),
  deleteCurrentToken: defineOperation({
    id: "token.delete",
    meaning: "Removes the token that the request carries.",
    method: "DELETE",
    path: "/token",
    params: z2.object({}),
    success: 204,
    errors: [404],
    access: "self",
    scopes: [],
    source: "routers/api/v1/token/token.go DeleteCurrentToken"
  }),
  getOrganization: defineOperation({
    id: "organization.get",
    meaning: "One organization.",
    method: "GET",
    path: "/orgs/{org}",
    params: inOrganization,
    success: 200,
    response: Organization,
    errors: [404],
    access: "anyone",
    scopes: ["organization"],
    source: "routers/api/v1/org/org.go Get"
  }),
  createOrganization: defineOperation({
    id: "organization.create",
    meaning: "Makes an organization that the caller owns.",
    method: "POST",
    path: "/orgs",
    params: z2.object({}),
    body: CreateOrganization,
    success: 201,
    response: Organization,
    errors: [403, 422],
    access: "signed-in",
    scopes: ["organization"],
    source: "routers/api/v1/org/org.go Create"
  }),
  listCollaborators: defineOperation({
    id: "collaborator.list",
    meaning: "The collaborators of a repository.",
    method: "GET",
    path: "/repos/{owner}/{repo}/collaborators",
    params: z2.object(inRepository),
    query: z2.object(pages),
    success: 200,
    response: list(User),
    errors: [403, 404],
    access: "signed-in",
    scopes: ["repository"],
    paging: "count",
    source: "routers/api/v1/repo/collaborators.go ListCollaborators"
  }),
  putCollaborator: defineOperation({
    id: "collaborator.put",
    meaning: "Makes an account a collaborator, or changes its access.",
    method: "PUT",
    path: "/repos/{owner}/{repo}/collaborators/{collaborator}",
    params: z2.object({ ...inRepository, collaborator: text }),
    body: z2.strictObject({ permission: z2.enum(["read", "write", "admin"]).optional() }),
    success: 204,
    errors: [403, 404, 422],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/collaborators.go AddOrUpdateCollaborator"
  }),
  getPermission: defineOperation({
    id: "collaborator.permission",
    meaning: "An account's access to a repository; one's own, or any for an administrator.",
    method: "GET",
    path: "/repos/{owner}/{repo}/collaborators/{collaborator}/permission",
    params: z2.object({ ...inRepository, collaborator: text }),
    success: 200,
    response: resource({ permission: text }, { role_name: text, user: User }),
    errors: [403, 404],
    access: "reader",
    scopes: ["repository"],
    source: "routers/api/v1/repo/collaborators.go GetRepoPermissions"
  }),
  checkCollaborator: defineOperation({
    id: "collaborator.check",
    meaning: "Tells whether an account is a collaborator: 204 or 404.",
    method: "GET",
    path: "/repos/{owner}/{repo}/collaborators/{collaborator}",
    params: z2.object({ ...inRepository, collaborator: text }),
    success: 204,
    errors: [404, 422],
    access: "signed-in",
    scopes: ["repository"],
    source: "routers/api/v1/repo/collaborators.go IsCollaborator"
  }),
  deleteCollaborator: defineOperation({
    id: "collaborator.delete",
    meaning: "Ends a collaboration; also says yes where there was none.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/collaborators/{collaborator}",
    params: z2.object({ ...inRepository, collaborator: text }),
    success: 204,
    errors: [403, 404, 422],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/collaborators.go DeleteCollaborator"
  })
};

// src/contract/hooks.ts
import { z as z3 } from "zod";
var Hook = resource(
  { id: int },
  {
    type: text,
    /** Absent on Forgejo and before 1.26. */
    name: text,
    active: flag,
    /** Event names as the forge stores them, in no order; what is read does not round-trip (see the families). */
    events: z3.array(text),
    branch_filter: text,
    /** Always empty from 1.27 on; the value cannot be read back. */
    authorization_header: text,
    config: z3.record(text, text),
    created_at: instant,
    updated_at: instant
  }
);
var CreateHook = z3.strictObject({
  type: text,
  /** `url`, `content_type` (json or form), `secret`. */
  config: z3.record(text, text),
  events: z3.array(text).optional(),
  active: flag.optional(),
  branch_filter: text.optional(),
  authorization_header: text.optional(),
  name: text.optional()
});
var EditHookOption = CreateHook.omit({ type: true }).partial();
var atHook = z3.object({ ...inRepository, id: int });
var hookOperations = {
  listHooks: defineOperation({
    id: "hook.list",
    meaning: "The hooks of a repository.",
    method: "GET",
    path: "/repos/{owner}/{repo}/hooks",
    params: z3.object(inRepository),
    query: z3.object(pages),
    success: 200,
    response: list(Hook),
    errors: [403, 404],
    access: "admin",
    scopes: ["repository"],
    paging: "count",
    source: "routers/api/v1/repo/hook.go ListHooks"
  }),
  getHook: defineOperation({
    id: "hook.get",
    meaning: "One hook of a repository.",
    method: "GET",
    path: "/repos/{owner}/{repo}/hooks/{id}",
    params: atHook,
    success: 200,
    response: Hook,
    errors: [403, 404],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/hook.go GetHook"
  }),
  createHook: defineOperation({
    id: "hook.create",
    meaning: "Makes a hook; inactive unless `active` is true, push only unless `events` names more.",
    method: "POST",
    path: "/repos/{owner}/{repo}/hooks",
    params: z3.object(inRepository),
    body: CreateHook,
    success: 201,
    response: Hook,
    errors: [400, 403, 404, 422],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/hook.go CreateHook"
  }),
  editHook: defineOperation({
    id: "hook.edit",
    meaning: "Changes a hook. No merge patch: absent events, branch_filter and authorization_header are reset.",
    method: "PATCH",
    path: "/repos/{owner}/{repo}/hooks/{id}",
    params: atHook,
    body: EditHookOption,
    success: 200,
    response: Hook,
    errors: [403, 404, 422],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/utils/hook.go editHook"
  }),
  deleteHook: defineOperation({
    id: "hook.delete",
    meaning: "Removes a hook with its queued deliveries.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/hooks/{id}",
    params: atHook,
    success: 204,
    errors: [403, 404],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/hook.go DeleteHook"
  }),
  testHook: defineOperation({
    id: "hook.test",
    meaning: 'Queues a push delivery of the head of `ref`; 204 says only "queued".',
    method: "POST",
    path: "/repos/{owner}/{repo}/hooks/{id}/tests",
    params: atHook,
    query: z3.object({ ref: text.optional() }),
    success: 204,
    errors: [403, 404],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/hook.go TestHook"
  })
};

// src/contract/protections.ts
import { z as z4 } from "zod";
var terms = {
  /** 1 wins over 2; 0 at creation means last. */
  priority: int,
  /** False: nobody pushes, merging pull requests remains possible. */
  enable_push: flag,
  enable_push_whitelist: flag,
  push_whitelist_usernames: z4.array(text),
  push_whitelist_teams: z4.array(text),
  push_whitelist_deploy_keys: flag,
  enable_force_push: flag,
  enable_force_push_allowlist: flag,
  force_push_allowlist_usernames: z4.array(text),
  force_push_allowlist_teams: z4.array(text),
  force_push_allowlist_deploy_keys: flag,
  enable_merge_whitelist: flag,
  merge_whitelist_usernames: z4.array(text),
  merge_whitelist_teams: z4.array(text),
  enable_bypass_allowlist: flag,
  bypass_allowlist_usernames: z4.array(text),
  bypass_allowlist_teams: z4.array(text),
  enable_status_check: flag,
  /** Globs without separator; each must match a status, and all matched must be success or skipped. */
  status_check_contexts: z4.array(text),
  required_approvals: int,
  enable_approvals_whitelist: flag,
  /** The forge spells this one in the singular. */
  approvals_whitelist_username: z4.array(text),
  approvals_whitelist_teams: z4.array(text),
  block_on_rejected_reviews: flag,
  block_on_official_review_requests: flag,
  block_on_outdated_branch: flag,
  dismiss_stale_approvals: flag,
  ignore_stale_approvals: flag,
  /** The embedded forge knows no keys: it keeps and shows this and checks nothing. */
  require_signed_commits: flag,
  /** Globs separated by `;`, of files that neither push nor merge may change. */
  protected_file_patterns: text,
  /** Globs separated by `;`, of files that may be pushed without the right to push. */
  unprotected_file_patterns: text,
  block_admin_merge_override: flag
};
var BranchProtection = resource(
  { rule_name: text },
  { branch_name: text, ...terms, created_at: instant, updated_at: instant }
);
var EditBranchProtection = z4.strictObject(terms).partial();
var CreateBranchProtection = EditBranchProtection.extend({
  rule_name: text.optional(),
  branch_name: text.optional()
});
var TagProtection = resource(
  { id: int, name_pattern: text },
  {
    whitelist_usernames: z4.array(text),
    whitelist_teams: z4.array(text),
    created_at: instant,
    updated_at: instant
  }
);
var TagTerms = z4.strictObject({
  /** A glob without separator, or a regular expression between slashes. */
  name_pattern: text.optional(),
  whitelist_usernames: z4.array(text).optional(),
  whitelist_teams: z4.array(text).optional()
});
var branchPath = "/repos/{owner}/{repo}/branch_protections";
var tagPath = "/repos/{owner}/{repo}/tag_protections";
var atRule = z4.object({ ...inRepository, name: text });
var atTagRule = z4.object({ ...inRepository, id: int });
var protectionOperations = {
  listBranchProtections: defineOperation({
    id: "branch-protection.list",
    meaning: "All rules for branches in the order in which they win; never paged.",
    method: "GET",
    path: branchPath,
    params: z4.object(inRepository),
    success: 200,
    response: list(BranchProtection),
    errors: [403],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/branch.go ListBranchProtections"
  }),
  getBranchProtection: defineOperation({
    id: "branch-protection.get",
    meaning: "One rule for branches by its exact name, which may hold slashes and stars.",
    method: "GET",
    path: `${branchPath}/{name*}`,
    oneSegment: true,
    params: atRule,
    success: 200,
    response: BranchProtection,
    errors: [403, 404],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/branch.go GetBranchProtection"
  }),
  createBranchProtection: defineOperation({
    id: "branch-protection.create",
    meaning: "Makes a rule for branches; names without write access are dropped, a name in use is 403.",
    method: "POST",
    path: branchPath,
    params: z4.object(inRepository),
    body: CreateBranchProtection,
    success: 201,
    response: BranchProtection,
    errors: [400, 403, 422, 423],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/branch.go CreateBranchProtection"
  }),
  editBranchProtection: defineOperation({
    id: "branch-protection.edit",
    meaning: "Changes a rule; whitelist flags are read only together with `enable_push: true`, likewise for force pushes.",
    method: "PATCH",
    path: `${branchPath}/{name*}`,
    oneSegment: true,
    params: atRule,
    body: EditBranchProtection,
    success: 200,
    response: BranchProtection,
    errors: [403, 404, 422, 423],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/branch.go EditBranchProtection"
  }),
  deleteBranchProtection: defineOperation({
    id: "branch-protection.delete",
    meaning: "Removes a rule for branches.",
    method: "DELETE",
    path: `${branchPath}/{name*}`,
    oneSegment: true,
    params: atRule,
    success: 204,
    errors: [403, 404, 423],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/branch.go DeleteBranchProtection"
  }),
  orderBranchProtections: defineOperation({
    id: "branch-protection.order",
    meaning: "Numbers the rules in this order; ids are shown nowhere in the API. Not on Forgejo.",
    method: "POST",
    path: `${branchPath}/priority`,
    params: z4.object(inRepository),
    body: z4.strictObject({ ids: z4.array(int).optional() }),
    success: 204,
    errors: [403, 422, 423],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/branch.go UpdateBranchProtectionPriories"
  }),
  listTagProtections: defineOperation({
    id: "tag-protection.list",
    meaning: "All rules for tags; never paged.",
    method: "GET",
    path: tagPath,
    params: z4.object(inRepository),
    success: 200,
    response: list(TagProtection),
    errors: [403],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/tag.go ListTagProtection"
  }),
  getTagProtection: defineOperation({
    id: "tag-protection.get",
    meaning: "One rule for tags.",
    method: "GET",
    path: `${tagPath}/{id}`,
    params: atTagRule,
    success: 200,
    response: TagProtection,
    errors: [403, 404],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/tag.go GetTagProtection"
  }),
  createTagProtection: defineOperation({
    id: "tag-protection.create",
    meaning: "Makes a rule for tags; a pattern in use is 403.",
    method: "POST",
    path: tagPath,
    params: z4.object(inRepository),
    body: TagTerms,
    success: 201,
    response: TagProtection,
    errors: [400, 403, 422, 423],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/tag.go CreateTagProtection"
  }),
  editTagProtection: defineOperation({
    id: "tag-protection.edit",
    meaning: "Changes a rule for tags; what is absent stays, both lists may become empty.",
    method: "PATCH",
    path: `${tagPath}/{id}`,
    params: atTagRule,
    body: TagTerms,
    success: 200,
    response: TagProtection,
    errors: [403, 404, 422, 423],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/tag.go EditTagProtection"
  }),
  deleteTagProtection: defineOperation({
    id: "tag-protection.delete",
    meaning: "Removes a rule for tags, on an archived repository too.",
    method: "DELETE",
    path: `${tagPath}/{id}`,
    params: atTagRule,
    success: 204,
    errors: [403, 404],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/tag.go DeleteTagProtection"
  })
};

// src/contract/teams.ts
import { z as z6 } from "zod";

// src/contract/repositories.ts
import { z as z5 } from "zod";
var ExternalTracker = resource(
  {},
  {
    external_tracker_format: text,
    external_tracker_regexp_pattern: text,
    external_tracker_style: text,
    external_tracker_url: text
  }
);
var InternalTracker = resource(
  {},
  { allow_only_contributors_to_track_time: flag, enable_issue_dependencies: flag, enable_time_tracker: flag }
);
var RepoTransfer = resource({}, { doer: User, recipient: User, teams: z5.array(Team) });
var Permissions = resource({}, { admin: flag, push: flag, pull: flag });
var identity = { id: int, name: text, full_name: text, owner: User };
var settings = {
  allow_fast_forward_only_merge: flag,
  allow_manual_merge: flag,
  allow_merge_commits: flag,
  allow_merge_update: flag,
  allow_rebase: flag,
  allow_rebase_explicit: flag,
  allow_rebase_update: flag,
  allow_squash_merge: flag,
  archived: flag,
  autodetect_manual_merge: flag,
  default_allow_maintainer_edit: flag,
  default_delete_branch_after_merge: flag,
  has_actions: flag,
  has_code: flag,
  has_issues: flag,
  has_packages: flag,
  has_projects: flag,
  has_pull_requests: flag,
  has_releases: flag,
  has_wiki: flag,
  ignore_whitespace_conflicts: flag,
  private: flag,
  template: flag,
  default_branch: text,
  default_merge_style: text,
  default_target_branch: text,
  default_update_style: text,
  description: text,
  mirror_interval: text,
  projects_mode: text,
  website: text,
  external_tracker: ExternalTracker,
  external_wiki: resource({}, { external_wiki_url: text }),
  internal_tracker: InternalTracker
};
var state = {
  empty: flag,
  fork: flag,
  internal: flag,
  mirror: flag,
  archived_at: instant,
  created_at: instant,
  mirror_last_sync_at: instant,
  mirror_updated: instant,
  updated_at: instant,
  avatar_url: text,
  clone_url: text,
  html_url: text,
  languages_url: text,
  original_url: text,
  ssh_url: text,
  url: text,
  link: text,
  language: text,
  branch_count: int,
  forks_count: int,
  open_issues_count: int,
  open_pr_counter: int,
  release_counter: int,
  /** KiB. */
  size: int,
  stars_count: int,
  watchers_count: int,
  object_format_name: text,
  licenses: z5.array(text),
  topics: z5.array(text),
  permissions: Permissions,
  repo_transfer: RepoTransfer
};
var Parent = resource(identity, { ...settings, ...state });
var Repository = resource(identity, { ...settings, ...state, parent: Parent });
var CreateRepository = z5.strictObject({
  name: text,
  description: text.optional(),
  private: flag.optional(),
  auto_init: flag.optional(),
  default_branch: text.optional(),
  gitignores: text.optional(),
  license: text.optional(),
  readme: text.optional(),
  issue_labels: text.optional(),
  template: flag.optional(),
  trust_model: text.optional(),
  object_format_name: z5.enum(["sha1", "sha256"]).optional()
});
var EditRepository = z5.strictObject({ ...settings, name: text }).omit({ default_target_branch: true }).partial();
var repositoryOperations = {
  getRepository: defineOperation({
    id: "repository.get",
    meaning: "One repository; 301 to the new path after a rename.",
    method: "GET",
    path: "/repos/{owner}/{repo}",
    params: z5.object(inRepository),
    success: 200,
    response: Repository,
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    source: "routers/api/v1/repo/repo.go Get"
  }),
  createRepository: defineOperation({
    id: "repository.create",
    meaning: "Makes a repository in the caller's account.",
    method: "POST",
    path: "/user/repos",
    params: z5.object({}),
    body: CreateRepository,
    success: 201,
    response: Repository,
    errors: [400, 403, 409, 422],
    access: "signed-in",
    scopes: ["user", "repository"],
    source: "routers/api/v1/repo/repo.go Create"
  }),
  createOrganizationRepository: defineOperation({
    id: "organization.create-repository",
    meaning: "Makes a repository in an organization; for its owners and for teams that may.",
    method: "POST",
    path: "/orgs/{org}/repos",
    params: z5.object({ org: text }),
    body: CreateRepository,
    success: 201,
    response: Repository,
    errors: [400, 403, 404, 409, 422],
    access: "signed-in",
    scopes: ["organization"],
    source: "routers/api/v1/repo/repo.go CreateOrgRepo"
  }),
  createFork: defineOperation({
    id: "repository.create-fork",
    meaning: "Makes a fork in the caller's account or in an organization of theirs.",
    method: "POST",
    path: "/repos/{owner}/{repo}/forks",
    params: z5.object(inRepository),
    body: z5.strictObject({ name: text.optional(), organization: text.optional() }),
    success: 202,
    response: Repository,
    errors: [403, 404, 409, 422],
    access: "reader",
    scopes: ["repository"],
    source: "routers/api/v1/repo/fork.go CreateFork"
  }),
  editRepository: defineOperation({
    id: "repository.edit",
    meaning: "Changes settings of a repository; `name` renames it, `archived` archives it.",
    method: "PATCH",
    path: "/repos/{owner}/{repo}",
    params: z5.object(inRepository),
    body: EditRepository,
    success: 200,
    response: Repository,
    errors: [403, 404, 422],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/repo.go Edit"
  }),
  deleteRepository: defineOperation({
    id: "repository.delete",
    meaning: "Removes a repository.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}",
    params: z5.object(inRepository),
    success: 204,
    errors: [403, 404],
    access: "owner",
    scopes: ["repository"],
    source: "routers/api/v1/repo/repo.go Delete"
  }),
  listOrganizationRepositories: defineOperation({
    id: "organization.list-repositories",
    meaning: "The readable repositories of an organization, by id.",
    method: "GET",
    path: "/orgs/{org}/repos",
    params: z5.object({ org: text }),
    query: z5.object(pages),
    success: 200,
    response: list(Repository),
    errors: [404],
    access: "anyone",
    scopes: ["organization"],
    paging: "link",
    source: "routers/api/v1/user/repo.go ListOrgRepos"
  }),
  listOwnRepositories: defineOperation({
    id: "user.list-repositories",
    meaning: "The repositories the caller owns or works on.",
    method: "GET",
    path: "/user/repos",
    params: z5.object({}),
    query: z5.object(pages),
    success: 200,
    response: list(Repository),
    errors: [],
    access: "self",
    scopes: ["user", "repository"],
    paging: "link",
    source: "routers/api/v1/user/repo.go ListMyRepos"
  }),
  listUserRepositories: defineOperation({
    id: "user.list-repositories-of",
    meaning: "The repositories of an account that the caller can read.",
    method: "GET",
    path: "/users/{username}/repos",
    params: z5.object({ username: text }),
    query: z5.object(pages),
    success: 200,
    response: list(Repository),
    errors: [404],
    access: "anyone",
    scopes: ["user", "repository"],
    paging: "link",
    source: "routers/api/v1/user/repo.go ListUserRepos"
  }),
  listStarred: defineOperation({
    id: "user.list-starred",
    meaning: "Repositories starred by an account; `permissions` are those of that account, not of the caller.",
    method: "GET",
    path: "/users/{username}/starred",
    params: z5.object({ username: text }),
    query: z5.object(pages),
    success: 200,
    response: list(Repository),
    errors: [403, 404],
    access: "signed-in",
    scopes: ["user"],
    paging: "link",
    source: "routers/api/v1/user/star.go GetStarredRepos"
  }),
  star: defineOperation({
    id: "user.star",
    meaning: "Stars a repository for the caller.",
    method: "PUT",
    path: "/user/starred/{owner}/{repo}",
    params: z5.object(inRepository),
    success: 204,
    errors: [403, 404],
    access: "reader",
    scopes: ["user", "repository"],
    source: "routers/api/v1/user/star.go Star"
  }),
  unstar: defineOperation({
    id: "user.unstar",
    meaning: "Takes the star back.",
    method: "DELETE",
    path: "/user/starred/{owner}/{repo}",
    params: z5.object(inRepository),
    success: 204,
    errors: [404],
    access: "reader",
    scopes: ["user", "repository"],
    source: "routers/api/v1/user/star.go Unstar"
  })
};

// src/contract/teams.ts
var settings2 = {
  /** At most 255 characters. */
  description: text.optional(),
  includes_all_repositories: flag.optional(),
  /** read, write or admin; anything else is none. */
  permission: text.optional(),
  /** Deprecated: every unit gets `permission`; `units_map` wins. */
  units: z6.array(text).optional(),
  /** `repo.code` and the like → none, read, write, admin. */
  units_map: z6.record(text, text).optional(),
  can_create_org_repo: flag.optional(),
  /** public, limited or private (the default). */
  visibility: z6.enum(["public", "limited", "private", ""]).optional()
};
var CreateTeam = z6.strictObject({ name: text, ...settings2 });
var EditTeam = z6.strictObject({ name: text.optional(), ...settings2 });
var inOrganization2 = z6.object({ org: text });
var atTeam = { id: int };
var atMember = z6.object({ ...atTeam, username: text });
var atRepository = z6.object({ ...atTeam, org: text, repo: text });
var inRepositoryAtTeam = z6.object({ ...inRepository, team: text });
var teamOperations = {
  listTeams: defineOperation({
    id: "team.list",
    meaning: "The teams of an organization that the caller may see; for members of the organization.",
    method: "GET",
    path: "/orgs/{org}/teams",
    params: inOrganization2,
    query: z6.object(pages),
    success: 200,
    response: list(Team),
    errors: [403, 404],
    access: "member",
    scopes: ["organization"],
    paging: "link",
    source: "routers/api/v1/org/team.go ListTeams"
  }),
  searchTeams: defineOperation({
    id: "team.search",
    meaning: "The teams of an organization whose name or description has a text.",
    method: "GET",
    path: "/orgs/{org}/teams/search",
    params: inOrganization2,
    query: z6.object({ q: text.optional(), include_desc: flag.optional(), ...pages }),
    success: 200,
    response: resource({}, { ok: flag, data: z6.array(Team) }),
    errors: [403, 404],
    access: "member",
    scopes: ["organization"],
    paging: "link",
    source: "routers/api/v1/org/team.go SearchTeam"
  }),
  listOwnTeams: defineOperation({
    id: "user.list-teams",
    meaning: "The teams the caller is in.",
    method: "GET",
    path: "/user/teams",
    params: z6.object({}),
    query: z6.object(pages),
    success: 200,
    response: list(Team),
    errors: [403],
    access: "self",
    scopes: ["user"],
    paging: "link",
    source: "routers/api/v1/org/team.go ListUserTeams"
  }),
  getTeam: defineOperation({
    id: "team.get",
    meaning: "One team, for those who may see it.",
    method: "GET",
    path: "/teams/{id}",
    params: z6.object(atTeam),
    success: 200,
    response: Team,
    errors: [403, 404],
    access: "signed-in",
    scopes: ["organization"],
    source: "routers/api/v1/org/team.go GetTeam"
  }),
  createTeam: defineOperation({
    id: "team.create",
    meaning: "Makes a team in an organization.",
    method: "POST",
    path: "/orgs/{org}/teams",
    params: inOrganization2,
    body: CreateTeam,
    success: 201,
    response: Team,
    errors: [403, 404, 422],
    access: "owner",
    scopes: ["organization"],
    baseline: { "no units": 500 },
    source: "routers/api/v1/org/team.go CreateTeam"
  }),
  editTeam: defineOperation({
    id: "team.edit",
    meaning: "Changes a team; of the owners team only its name and description.",
    method: "PATCH",
    path: "/teams/{id}",
    params: z6.object(atTeam),
    body: EditTeam,
    success: 200,
    response: Team,
    errors: [403, 404, 422],
    access: "owner",
    scopes: ["organization"],
    baseline: { "name in use": 500 },
    source: "routers/api/v1/org/team.go EditTeam"
  }),
  deleteTeam: defineOperation({
    id: "team.delete",
    meaning: "Removes a team.",
    method: "DELETE",
    path: "/teams/{id}",
    params: z6.object(atTeam),
    success: 204,
    errors: [403, 404],
    access: "owner",
    scopes: ["organization"],
    source: "routers/api/v1/org/team.go DeleteTeam"
  }),
  listTeamMembers: defineOperation({
    id: "team.list-members",
    meaning: "The members of a team; for members of the organization.",
    method: "GET",
    path: "/teams/{id}/members",
    params: z6.object(atTeam),
    query: z6.object(pages),
    success: 200,
    response: list(User),
    errors: [403, 404],
    access: "member",
    scopes: ["organization"],
    paging: "link",
    source: "routers/api/v1/org/team.go GetTeamMembers"
  }),
  getTeamMember: defineOperation({
    id: "team.get-member",
    meaning: "A member of a team; 404 where the account is none.",
    method: "GET",
    path: "/teams/{id}/members/{username}",
    params: atMember,
    success: 200,
    response: User,
    errors: [403, 404],
    access: "member",
    scopes: ["organization"],
    source: "routers/api/v1/org/team.go GetTeamMember"
  }),
  putTeamMember: defineOperation({
    id: "team.put-member",
    meaning: "Takes an account into a team, and so into the organization.",
    method: "PUT",
    path: "/teams/{id}/members/{username}",
    params: atMember,
    success: 204,
    errors: [403, 404],
    access: "owner",
    scopes: ["organization"],
    source: "routers/api/v1/org/team.go AddTeamMember"
  }),
  deleteTeamMember: defineOperation({
    id: "team.delete-member",
    meaning: "Takes an account out of a team; out of its last one, out of the organization. The last owner stays.",
    method: "DELETE",
    path: "/teams/{id}/members/{username}",
    params: atMember,
    success: 204,
    errors: [403, 404, 422],
    access: "owner",
    scopes: ["organization"],
    baseline: { "last owner": 500 },
    source: "routers/api/v1/org/team.go RemoveTeamMember"
  }),
  listTeamRepositories: defineOperation({
    id: "team.list-repositories",
    meaning: "The repositories of a team that the caller can read.",
    method: "GET",
    path: "/teams/{id}/repos",
    params: z6.object(atTeam),
    query: z6.object(pages),
    success: 200,
    response: list(Repository),
    errors: [403, 404],
    access: "signed-in",
    scopes: ["organization"],
    paging: "link",
    source: "routers/api/v1/org/team.go GetTeamRepos"
  }),
  getTeamRepository: defineOperation({
    id: "team.get-repository",
    meaning: "A repository of a team; 404 where the team does not have it.",
    method: "GET",
    path: "/teams/{id}/repos/{org}/{repo}",
    params: atRepository,
    success: 200,
    response: Repository,
    errors: [403, 404],
    access: "signed-in",
    scopes: ["organization"],
    source: "routers/api/v1/org/team.go GetTeamRepo"
  }),
  putTeamRepository: defineOperation({
    id: "team.put-repository",
    meaning: "Gives a team a repository of its organization.",
    method: "PUT",
    path: "/teams/{id}/repos/{org}/{repo}",
    params: atRepository,
    success: 204,
    errors: [403, 404],
    access: "member",
    scopes: ["organization"],
    source: "routers/api/v1/org/team.go AddTeamRepository"
  }),
  deleteTeamRepository: defineOperation({
    id: "team.delete-repository",
    meaning: "Takes a repository from a team.",
    method: "DELETE",
    path: "/teams/{id}/repos/{org}/{repo}",
    params: atRepository,
    success: 204,
    errors: [403, 404],
    access: "member",
    scopes: ["organization"],
    source: "routers/api/v1/org/team.go RemoveTeamRepository"
  }),
  listRepositoryTeams: defineOperation({
    id: "repository.list-teams",
    meaning: "The teams that have a repository of an organization.",
    method: "GET",
    path: "/repos/{owner}/{repo}/teams",
    params: z6.object(inRepository),
    success: 200,
    response: list(Team),
    errors: [404, 405],
    access: "signed-in",
    scopes: ["repository"],
    source: "routers/api/v1/repo/teams.go ListTeams"
  }),
  getRepositoryTeam: defineOperation({
    id: "repository.get-team",
    meaning: "A team, by name, that has a repository; 404 where it has not.",
    method: "GET",
    path: "/repos/{owner}/{repo}/teams/{team}",
    params: inRepositoryAtTeam,
    success: 200,
    response: Team,
    errors: [404, 405],
    access: "signed-in",
    scopes: ["repository"],
    source: "routers/api/v1/repo/teams.go IsTeam"
  }),
  putRepositoryTeam: defineOperation({
    id: "repository.put-team",
    meaning: "Gives a team, by name, a repository.",
    method: "PUT",
    path: "/repos/{owner}/{repo}/teams/{team}",
    params: inRepositoryAtTeam,
    success: 204,
    errors: [403, 404, 405, 422],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/teams.go AddTeam"
  }),
  deleteRepositoryTeam: defineOperation({
    id: "repository.delete-team",
    meaning: "Takes a repository from a team, by name.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/teams/{team}",
    params: inRepositoryAtTeam,
    success: 204,
    errors: [403, 404, 405, 422],
    access: "admin",
    scopes: ["repository"],
    source: "routers/api/v1/repo/teams.go DeleteTeam"
  })
};

// src/contract/accounts.ts
import { z as z7 } from "zod";
var EditUser = z7.strictObject({
  login_name: text,
  source_id: int.optional(),
  email: text.optional(),
  full_name: text.optional(),
  /** At least 8 characters. */
  password: text.optional(),
  must_change_password: flag.optional(),
  website: text.optional(),
  location: text.optional(),
  description: text.optional(),
  active: flag.optional(),
  admin: flag.optional(),
  prohibit_login: flag.optional(),
  restricted: flag.optional(),
  /** public, limited or private; empty leaves it. */
  visibility: text.optional()
});
var inUser2 = z7.object({ username: text });
var accountOperations = {
  searchUsers: defineOperation({
    id: "user.search",
    meaning: "The accounts whose name, full name or address has a text, as far as the caller may see them.",
    method: "GET",
    path: "/users/search",
    params: z7.object({}),
    query: z7.object({ q: text.optional(), uid: int.optional(), ...pages }),
    success: 200,
    response: resource({}, { ok: flag, data: z7.array(User) }),
    errors: [],
    access: "anyone",
    scopes: ["user"],
    paging: "link",
    source: "routers/api/v1/user/user.go Search"
  }),
  listUsers: defineOperation({
    id: "admin.list-users",
    meaning: "Every account, by name.",
    method: "GET",
    path: "/admin/users",
    params: z7.object({}),
    query: z7.object({
      q: text.optional(),
      visibility: text.optional(),
      is_active: flag.optional(),
      is_admin: flag.optional(),
      ...pages
    }),
    success: 200,
    response: list(User),
    errors: [403, 422],
    access: "site",
    scopes: ["admin"],
    paging: "link",
    source: "routers/api/v1/admin/user.go SearchUsers"
  }),
  editUser: defineOperation({
    id: "admin.edit-user",
    meaning: "Changes an account; what is absent stays.",
    method: "PATCH",
    path: "/admin/users/{username}",
    params: inUser2,
    body: EditUser,
    success: 200,
    response: User,
    errors: [400, 403, 404, 422],
    access: "site",
    scopes: ["admin"],
    source: "routers/api/v1/admin/user.go EditUser"
  }),
  deleteUser: defineOperation({
    id: "admin.delete-user",
    meaning: "Removes an account that owns no repository and is in no organization; with `purge` these go too.",
    method: "DELETE",
    path: "/admin/users/{username}",
    params: inUser2,
    query: z7.object({ purge: flag.optional() }),
    success: 204,
    errors: [403, 404, 422],
    access: "site",
    scopes: ["admin"],
    source: "routers/api/v1/admin/user.go DeleteUser"
  }),
  renameUser: defineOperation({
    id: "admin.rename-user",
    meaning: "Gives an account another name; the old one leads there.",
    method: "POST",
    path: "/admin/users/{username}/rename",
    params: inUser2,
    body: z7.strictObject({ new_username: text }),
    success: 204,
    errors: [403, 404, 422],
    access: "site",
    scopes: ["admin"],
    source: "routers/api/v1/admin/user.go RenameUser"
  })
};

// src/contract/attachments.ts
import { z as z11 } from "zod";

// src/contract/issues.ts
import { z as z10 } from "zod";

// src/contract/labels.ts
import { z as z8 } from "zod";
var Label = resource(
  { id: int, name: text },
  {
    /** Six hex digits, lower case, without `#`. */
    color: text,
    description: text,
    /** Of the labels of one scope (the text before the last `/`) an issue carries one. */
    exclusive: flag,
    is_archived: flag,
    url: text
  }
);
var CreateLabel = z8.strictObject({
  name: text,
  color: text,
  description: text.optional(),
  exclusive: flag.optional(),
  is_archived: flag.optional()
});
var EditLabel = CreateLabel.partial();
var onIssue = z8.object({ ...inRepository, index: int });
var LabelRefs = z8.strictObject({ labels: z8.union([z8.array(int), z8.array(text)]) });
var inOrganization3 = z8.object({ org: text });
var labelOperations = {
  listLabels: defineOperation({
    id: "label.list",
    meaning: "A repository's own labels, by name.",
    method: "GET",
    path: "/repos/{owner}/{repo}/labels",
    params: z8.object(inRepository),
    query: z8.object({ ...pages, sort: text.optional() }),
    success: 200,
    response: list(Label),
    errors: [404],
    access: "reader",
    scopes: ["issue"],
    paging: "count",
    source: "routers/api/v1/repo/label.go ListLabels"
  }),
  getLabel: defineOperation({
    id: "label.get",
    meaning: "One label of a repository, by id, or by a name that is no number.",
    method: "GET",
    path: "/repos/{owner}/{repo}/labels/{id}",
    params: z8.object({ ...inRepository, id: z8.union([int, text]) }),
    success: 200,
    response: Label,
    errors: [404],
    access: "reader",
    scopes: ["issue"],
    source: "routers/api/v1/repo/label.go GetLabel"
  }),
  createLabel: defineOperation({
    id: "label.create",
    meaning: "Makes a label; two labels may have one name.",
    method: "POST",
    path: "/repos/{owner}/{repo}/labels",
    params: z8.object(inRepository),
    body: CreateLabel,
    success: 201,
    response: Label,
    errors: [403, 404, 422],
    access: "writer",
    scopes: ["issue"],
    source: "routers/api/v1/repo/label.go CreateLabel"
  }),
  editLabel: defineOperation({
    id: "label.edit",
    meaning: "Changes a label; an absent `is_archived` un-archives it.",
    method: "PATCH",
    path: "/repos/{owner}/{repo}/labels/{id}",
    params: z8.object({ ...inRepository, id: int }),
    body: EditLabel,
    success: 200,
    response: Label,
    errors: [403, 404, 422],
    access: "writer",
    scopes: ["issue"],
    source: "routers/api/v1/repo/label.go EditLabel"
  }),
  deleteLabel: defineOperation({
    id: "label.delete",
    meaning: "Removes a label; 204 also when there is none.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/labels/{id}",
    params: z8.object({ ...inRepository, id: int }),
    success: 204,
    errors: [403, 404],
    access: "writer",
    scopes: ["issue"],
    source: "routers/api/v1/repo/label.go DeleteLabel"
  }),
  listOrganizationLabels: defineOperation({
    id: "organization.list-labels",
    meaning: "Labels usable in every repository of the organization.",
    method: "GET",
    path: "/orgs/{org}/labels",
    params: inOrganization3,
    query: z8.object({ ...pages, sort: text.optional() }),
    success: 200,
    response: list(Label),
    errors: [404],
    access: "reader",
    scopes: ["organization"],
    paging: "count",
    source: "routers/api/v1/org/label.go ListLabels"
  }),
  createOrganizationLabel: defineOperation({
    id: "organization.create-label",
    meaning: "Makes a label of the organization.",
    method: "POST",
    path: "/orgs/{org}/labels",
    params: inOrganization3,
    body: CreateLabel,
    success: 201,
    response: Label,
    errors: [403, 404, 422],
    access: "owner",
    scopes: ["organization"],
    source: "routers/api/v1/org/label.go CreateLabel"
  }),
  getOrganizationLabel: defineOperation({
    id: "organization.get-label",
    meaning: "One label of an organization, by id, or by a name that is no number.",
    method: "GET",
    path: "/orgs/{org}/labels/{id}",
    params: z8.object({ org: text, id: z8.union([int, text]) }),
    success: 200,
    response: Label,
    errors: [404],
    access: "signed-in",
    scopes: ["organization"],
    source: "routers/api/v1/org/label.go GetLabel"
  }),
  editOrganizationLabel: defineOperation({
    id: "organization.edit-label",
    meaning: "Changes a label of an organization; an absent `is_archived` un-archives it.",
    method: "PATCH",
    path: "/orgs/{org}/labels/{id}",
    params: z8.object({ org: text, id: int }),
    body: EditLabel,
    success: 200,
    response: Label,
    errors: [403, 404, 422],
    access: "owner",
    scopes: ["organization"],
    source: "routers/api/v1/org/label.go EditLabel"
  }),
  deleteOrganizationLabel: defineOperation({
    id: "organization.delete-label",
    meaning: "Removes a label of an organization; 204 also when there is none.",
    method: "DELETE",
    path: "/orgs/{org}/labels/{id}",
    params: z8.object({ org: text, id: int }),
    success: 204,
    errors: [403, 404],
    access: "owner",
    scopes: ["organization"],
    source: "routers/api/v1/org/label.go DeleteLabel"
  }),
  listIssueLabels: defineOperation({
    id: "issue.list-labels",
    meaning: "The labels an issue or pull request carries, by name; not paged.",
    method: "GET",
    path: "/repos/{owner}/{repo}/issues/{index}/labels",
    params: onIssue,
    success: 200,
    response: list(Label),
    errors: [404],
    access: "reader",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_label.go ListIssueLabels"
  }),
  replaceIssueLabels: defineOperation({
    id: "issue.replace-labels",
    meaning: "Sets exactly these labels; unknown ids and names are dropped in silence; always emits one `label_updated`, also when nothing changed.",
    method: "PUT",
    path: "/repos/{owner}/{repo}/issues/{index}/labels",
    params: onIssue,
    body: LabelRefs,
    success: 200,
    response: list(Label),
    errors: [400, 403, 404],
    access: "writer",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_label.go ReplaceIssueLabels"
  }),
  addIssueLabels: defineOperation({
    id: "issue.add-labels",
    meaning: "Adds labels; answers all labels of the issue.",
    method: "POST",
    path: "/repos/{owner}/{repo}/issues/{index}/labels",
    params: onIssue,
    body: LabelRefs,
    success: 200,
    response: list(Label),
    errors: [400, 403, 404],
    access: "writer",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_label.go AddIssueLabels"
  }),
  removeIssueLabel: defineOperation({
    id: "issue.remove-label",
    meaning: "Takes one label off, 204 also when the issue does not carry it. Unknown id: 404 (Forgejo: 422).",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/issues/{index}/labels/{id}",
    params: z8.object({ ...inRepository, index: int, id: int }),
    success: 204,
    errors: [403, 404, 422],
    access: "writer",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_label.go DeleteIssueLabel"
  }),
  clearIssueLabels: defineOperation({
    id: "issue.clear-labels",
    meaning: "Takes all labels off; emits `label_cleared`.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/issues/{index}/labels",
    params: onIssue,
    success: 204,
    errors: [403, 404],
    access: "writer",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_label.go ClearIssueLabels"
  })
};

// src/contract/milestones.ts
import { z as z9 } from "zod";
var Milestone = resource(
  { id: int, title: text },
  {
    description: text,
    state: z9.enum(["open", "closed"]),
    open_issues: int,
    closed_issues: int,
    created_at: instant,
    updated_at: instant,
    closed_at: instant,
    due_on: instant
  }
);
var named = z9.object({ ...inRepository, id: z9.union([int, text]) });
var milestoneOperations = {
  listMilestones: defineOperation({
    id: "milestone.list",
    meaning: "Milestones, open ones unless `state` says otherwise.",
    method: "GET",
    path: "/repos/{owner}/{repo}/milestones",
    params: z9.object(inRepository),
    query: z9.object({ ...pages, state: text.optional(), name: text.optional() }),
    success: 200,
    response: list(Milestone),
    errors: [404],
    access: "reader",
    scopes: ["issue"],
    paging: "count",
    source: "routers/api/v1/repo/milestone.go ListMilestones"
  }),
  createMilestone: defineOperation({
    id: "milestone.create",
    meaning: "Makes a milestone.",
    method: "POST",
    path: "/repos/{owner}/{repo}/milestones",
    params: z9.object(inRepository),
    body: z9.strictObject({
      title: text,
      description: text.optional(),
      due_on: instant.optional(),
      state: text.optional()
    }),
    success: 201,
    response: Milestone,
    errors: [403, 404],
    access: "writer",
    scopes: ["issue"],
    source: "routers/api/v1/repo/milestone.go CreateMilestone"
  }),
  getMilestone: defineOperation({
    id: "milestone.get",
    meaning: "One milestone, by id, or by title where no id fits.",
    method: "GET",
    path: "/repos/{owner}/{repo}/milestones/{id}",
    params: named,
    success: 200,
    response: Milestone,
    errors: [404],
    access: "reader",
    scopes: ["issue"],
    source: "routers/api/v1/repo/milestone.go GetMilestone"
  }),
  editMilestone: defineOperation({
    id: "milestone.edit",
    meaning: "Changes a milestone; an absent `due_on` clears the due date.",
    method: "PATCH",
    path: "/repos/{owner}/{repo}/milestones/{id}",
    params: named,
    body: z9.strictObject({
      title: text.optional(),
      description: text.optional(),
      /** closed closes; anything else opens. */
      state: text.optional(),
      /** Taken as the last second of that day. */
      due_on: instant.optional()
    }),
    success: 200,
    response: Milestone,
    errors: [403, 404, 422],
    access: "writer",
    scopes: ["issue"],
    source: "routers/api/v1/repo/milestone.go EditMilestone"
  }),
  deleteMilestone: defineOperation({
    id: "milestone.delete",
    meaning: "Removes a milestone; its issues stay.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/milestones/{id}",
    params: named,
    success: 204,
    errors: [403, 404],
    access: "writer",
    scopes: ["issue"],
    source: "routers/api/v1/repo/milestone.go DeleteMilestone"
  })
};

// src/contract/issues.ts
var Attachment = resource(
  { id: int, name: text },
  { uuid: text, size: int, download_count: int, created_at: instant, browser_download_url: text }
);
var Project = resource(
  { id: int },
  {
    title: text,
    description: text,
    owner_id: int,
    repo_id: int,
    creator_id: int,
    is_closed: flag,
    created_at: instant,
    updated_at: instant,
    closed_at: instant
  }
);
var Issue = resource(
  { id: int, number: int, title: text, state: z10.enum(["open", "closed"]) },
  {
    url: text,
    html_url: text,
    user: User,
    original_author: text,
    original_author_id: int,
    body: text,
    ref: text,
    assets: z10.array(Attachment),
    labels: z10.array(Label),
    milestone: Milestone,
    assignee: User,
    assignees: z10.array(User),
    projects: z10.array(Project),
    is_locked: flag,
    comments: int,
    content_version: int,
    created_at: instant,
    updated_at: instant,
    closed_at: instant,
    due_date: instant,
    time_estimate: int,
    pin_order: int,
    /** Set where the issue is a pull request. */
    pull_request: resource({}, { draft: flag, merged: flag, merged_at: instant, html_url: text }),
    repository: resource({ id: int }, { name: text, owner: text, full_name: text })
  }
);
var Comment = resource(
  { id: int },
  {
    body: text,
    user: User,
    original_author: text,
    original_author_id: int,
    html_url: text,
    issue_url: text,
    pull_request_url: text,
    assets: z10.array(Attachment),
    created_at: instant,
    updated_at: instant
  }
);
var atIndex = z10.object({ ...inRepository, index: int });
var atComment = z10.object({ ...inRepository, id: int });
var issueOperations = {
  listIssues: defineOperation({
    id: "issue.list",
    meaning: "Issues and pull requests, newest first; `type=issues` or `pulls` narrows, `labels` are names.",
    method: "GET",
    path: "/repos/{owner}/{repo}/issues",
    params: z10.object(inRepository),
    query: z10.object({
      ...pages,
      state: text.optional(),
      type: text.optional(),
      labels: text.optional(),
      q: text.optional(),
      milestones: text.optional(),
      since: instant.optional(),
      before: instant.optional(),
      created_by: text.optional(),
      assigned_by: text.optional(),
      mentioned_by: text.optional()
    }),
    success: 200,
    response: list(Issue),
    errors: [404, 422],
    access: "reader",
    scopes: ["issue"],
    paging: "link",
    source: "routers/api/v1/repo/issue.go ListIssues"
  }),
  getIssue: defineOperation({
    id: "issue.get",
    meaning: "One issue, or the issue side of a pull request.",
    method: "GET",
    path: "/repos/{owner}/{repo}/issues/{index}",
    params: atIndex,
    success: 200,
    response: Issue,
    errors: [404],
    access: "reader",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue.go GetIssue"
  }),
  createIssue: defineOperation({
    id: "issue.create",
    meaning: "Opens an issue; labels, assignees, milestone and due date of a caller without write access are dropped.",
    method: "POST",
    path: "/repos/{owner}/{repo}/issues",
    params: z10.object(inRepository),
    body: z10.strictObject({
      title: text,
      body: text.optional(),
      ref: text.optional(),
      assignee: text.optional(),
      assignees: z10.array(text).optional(),
      due_date: instant.optional(),
      milestone: int.optional(),
      labels: z10.array(int).optional(),
      closed: flag.optional()
    }),
    success: 201,
    response: Issue,
    errors: [403, 404, 412, 422, 423],
    access: "reader",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue.go CreateIssue"
  }),
  editIssue: defineOperation({
    id: "issue.edit",
    meaning: "Changes an issue or pull request; labels are not a member here.",
    method: "PATCH",
    path: "/repos/{owner}/{repo}/issues/{index}",
    params: atIndex,
    body: z10.strictObject({
      title: text.optional(),
      body: text.optional(),
      ref: text.optional(),
      state: text.optional(),
      assignee: text.optional(),
      assignees: z10.array(text).optional(),
      milestone: int.optional(),
      due_date: instant.optional(),
      unset_due_date: flag.optional(),
      content_version: int.optional()
    }),
    success: 201,
    response: Issue,
    errors: [403, 404, 409, 412, 422],
    access: "author",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue.go EditIssue"
  }),
  listComments: defineOperation({
    id: "comment.list",
    meaning: "The comments of an issue or pull request, oldest first, all at once.",
    method: "GET",
    path: "/repos/{owner}/{repo}/issues/{index}/comments",
    params: atIndex,
    query: z10.object({ since: instant.optional(), before: instant.optional() }),
    success: 200,
    response: list(Comment),
    errors: [404, 422],
    access: "reader",
    scopes: ["issue"],
    baseline: { "unknown issue": 500 },
    source: "routers/api/v1/repo/issue_comment.go ListIssueComments"
  }),
  createComment: defineOperation({
    id: "comment.create",
    meaning: "Writes a comment.",
    method: "POST",
    path: "/repos/{owner}/{repo}/issues/{index}/comments",
    params: atIndex,
    body: z10.strictObject({ body: text }),
    success: 201,
    response: Comment,
    errors: [403, 404, 422, 423],
    access: "reader",
    scopes: ["issue"],
    baseline: { "unknown issue": 500 },
    source: "routers/api/v1/repo/issue_comment.go CreateIssueComment"
  }),
  getComment: defineOperation({
    id: "comment.get",
    meaning: "One comment.",
    method: "GET",
    path: "/repos/{owner}/{repo}/issues/comments/{id}",
    params: atComment,
    success: 200,
    response: Comment,
    errors: [404],
    access: "reader",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_comment.go GetIssueComment"
  }),
  editComment: defineOperation({
    id: "comment.edit",
    meaning: "Changes the text of a comment.",
    method: "PATCH",
    path: "/repos/{owner}/{repo}/issues/comments/{id}",
    params: atComment,
    body: z10.strictObject({ body: text }),
    success: 200,
    response: Comment,
    errors: [403, 404, 422, 423],
    access: "author",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_comment.go EditIssueComment"
  }),
  deleteComment: defineOperation({
    id: "comment.delete",
    meaning: "Removes a comment.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/issues/comments/{id}",
    params: atComment,
    success: 204,
    errors: [403, 404],
    access: "author",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_comment.go DeleteIssueComment"
  }),
  deleteIssue: defineOperation({
    id: "issue.delete",
    meaning: "Removes an issue or pull request with all its comments and files.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/issues/{index}",
    params: atIndex,
    success: 204,
    errors: [403, 404],
    access: "admin",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue.go DeleteIssue"
  }),
  setIssueDeadline: defineOperation({
    id: "issue.set-deadline",
    meaning: "Sets the due date to the last second of that day, or clears it; hooks hear nothing.",
    method: "POST",
    path: "/repos/{owner}/{repo}/issues/{index}/deadline",
    params: atIndex,
    body: z10.strictObject({ due_date: instant.nullable().optional() }),
    success: 201,
    response: z10.object({ due_date: instant.nullish() }),
    errors: [403, 404, 422],
    access: "reader",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue.go UpdateIssueDeadline"
  }),
  lockIssue: defineOperation({
    id: "issue.lock",
    meaning: "From now on only writers may comment; hooks hear nothing.",
    method: "PUT",
    path: "/repos/{owner}/{repo}/issues/{index}/lock",
    params: atIndex,
    body: z10.strictObject({ lock_reason: text.optional() }),
    success: 204,
    errors: [403, 404],
    access: "admin",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_lock.go LockIssue"
  }),
  unlockIssue: defineOperation({
    id: "issue.unlock",
    meaning: "Everybody may comment again.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/issues/{index}/lock",
    params: atIndex,
    success: 204,
    errors: [403, 404],
    access: "admin",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_lock.go UnlockIssue"
  }),
  pinIssue: defineOperation({
    id: "issue.pin",
    meaning: "Pins an issue or pull request behind the others of its kind; at most three of each.",
    method: "POST",
    path: "/repos/{owner}/{repo}/issues/{index}/pin",
    params: atIndex,
    success: 204,
    errors: [400, 403, 404, 409],
    access: "admin",
    scopes: ["issue"],
    baseline: { "pinned already": 500 },
    source: "routers/api/v1/repo/issue_pin.go PinIssue"
  }),
  unpinIssue: defineOperation({
    id: "issue.unpin",
    meaning: "Pins an issue no longer; 204 also when it was not.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/issues/{index}/pin",
    params: atIndex,
    success: 204,
    errors: [403, 404],
    access: "admin",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_pin.go UnpinIssue"
  }),
  listPinnedIssues: defineOperation({
    id: "issue.list-pinned",
    meaning: "The pinned issues of a repository in their order, without pull requests.",
    method: "GET",
    path: "/repos/{owner}/{repo}/issues/pinned",
    params: z10.object(inRepository),
    success: 200,
    response: list(Issue),
    errors: [404],
    access: "reader",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_pin.go ListPinnedIssues"
  })
};

// src/contract/attachments.ts
var AttachmentSettings = resource(
  { enabled: flag },
  {
    /** File name extensions and media types, separated by commas; empty or one with every kind means all. */
    allowed_types: text,
    /** Files of one issue or comment. */
    max_files: int,
    /** MiB of one file. */
    max_size: int
  }
);
var onIssue2 = { ...inRepository, index: int };
var onComment = { ...inRepository, id: int };
var EditAttachment = z11.strictObject({ name: text.optional() });
var naming = z11.object({ name: text.optional() });
var attachmentOperations = {
  getAttachmentSettings: defineOperation({
    id: "instance.attachment-settings",
    meaning: "Limits of this forge for attachments.",
    method: "GET",
    path: "/settings/attachment",
    params: z11.object({}),
    success: 200,
    response: AttachmentSettings,
    errors: [],
    access: "anyone",
    scopes: [],
    source: "routers/api/v1/settings/settings.go GetGeneralAttachmentSettings"
  }),
  listIssueAttachments: defineOperation({
    id: "issue.list-attachments",
    meaning: "The files attached to an issue itself, not those of its comments.",
    method: "GET",
    path: "/repos/{owner}/{repo}/issues/{index}/assets",
    params: z11.object(onIssue2),
    success: 200,
    response: list(Attachment),
    errors: [404],
    access: "reader",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_attachment.go ListIssueAttachments"
  }),
  getIssueAttachment: defineOperation({
    id: "issue.get-attachment",
    meaning: "One file attached to an issue.",
    method: "GET",
    path: "/repos/{owner}/{repo}/issues/{index}/assets/{attachment_id}",
    params: z11.object({ ...onIssue2, attachment_id: int }),
    success: 200,
    response: Attachment,
    errors: [404],
    access: "reader",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_attachment.go GetIssueAttachment"
  }),
  createIssueAttachment: defineOperation({
    id: "issue.create-attachment",
    meaning: "Attaches a file to an issue; its author and writers may. Emits `edited` of the issue.",
    method: "POST",
    path: "/repos/{owner}/{repo}/issues/{index}/assets",
    params: z11.object(onIssue2),
    query: naming,
    upload: "attachment",
    success: 201,
    response: Attachment,
    errors: [400, 403, 404, 413, 422, 423],
    access: "author",
    scopes: ["issue"],
    baseline: { "no file": 500 },
    source: "routers/api/v1/repo/issue_attachment.go CreateIssueAttachment"
  }),
  editIssueAttachment: defineOperation({
    id: "issue.edit-attachment",
    meaning: "Renames a file attached to an issue; 201.",
    method: "PATCH",
    path: "/repos/{owner}/{repo}/issues/{index}/assets/{attachment_id}",
    params: z11.object({ ...onIssue2, attachment_id: int }),
    body: EditAttachment,
    success: 201,
    response: Attachment,
    errors: [403, 404, 422, 423],
    access: "author",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_attachment.go EditIssueAttachment"
  }),
  deleteIssueAttachment: defineOperation({
    id: "issue.delete-attachment",
    meaning: "Removes a file from an issue.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/issues/{index}/assets/{attachment_id}",
    params: z11.object({ ...onIssue2, attachment_id: int }),
    success: 204,
    errors: [403, 404, 423],
    access: "author",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_attachment.go DeleteIssueAttachment"
  }),
  listCommentAttachments: defineOperation({
    id: "comment.list-attachments",
    meaning: "The files attached to a comment; 200 without a body where its kind of issue is unreadable.",
    method: "GET",
    path: "/repos/{owner}/{repo}/issues/comments/{id}/assets",
    params: z11.object(onComment),
    success: 200,
    response: list(Attachment),
    errors: [404],
    access: "reader",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_comment_attachment.go ListIssueCommentAttachments"
  }),
  getCommentAttachment: defineOperation({
    id: "comment.get-attachment",
    meaning: "One file attached to a comment; 200 without a body where its kind of issue is unreadable.",
    method: "GET",
    path: "/repos/{owner}/{repo}/issues/comments/{id}/assets/{attachment_id}",
    params: z11.object({ ...onComment, attachment_id: int }),
    success: 200,
    response: Attachment,
    errors: [404],
    access: "reader",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_comment_attachment.go GetIssueCommentAttachment"
  }),
  createCommentAttachment: defineOperation({
    id: "comment.create-attachment",
    meaning: "Attaches a file to a comment; its author, if a writer, and administrators may. Emits `edited` of the comment.",
    method: "POST",
    path: "/repos/{owner}/{repo}/issues/comments/{id}/assets",
    params: z11.object(onComment),
    query: naming,
    upload: "attachment",
    success: 201,
    response: Attachment,
    errors: [400, 403, 404, 413, 422, 423],
    access: "author",
    scopes: ["issue"],
    baseline: { "no file": 500 },
    source: "routers/api/v1/repo/issue_comment_attachment.go CreateIssueCommentAttachment"
  }),
  editCommentAttachment: defineOperation({
    id: "comment.edit-attachment",
    meaning: "Renames a file attached to a comment; 201.",
    method: "PATCH",
    path: "/repos/{owner}/{repo}/issues/comments/{id}/assets/{attachment_id}",
    params: z11.object({ ...onComment, attachment_id: int }),
    body: EditAttachment,
    success: 201,
    response: Attachment,
    errors: [403, 404, 422, 423],
    access: "author",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_comment_attachment.go EditIssueCommentAttachment"
  }),
  deleteCommentAttachment: defineOperation({
    id: "comment.delete-attachment",
    meaning: "Removes a file from a comment.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/issues/comments/{id}/assets/{attachment_id}",
    params: z11.object({ ...onComment, attachment_id: int }),
    success: 204,
    errors: [403, 404, 423],
    access: "author",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_comment_attachment.go DeleteIssueCommentAttachment"
  })
};

// src/contract/branches.ts
import { z as z12 } from "zod";
var Identity = resource({}, { name: text, email: text, username: text });
var Verification = resource(
  {},
  {
    verified: flag,
    reason: text,
    signature: text,
    payload: text,
    signer: resource({}, { name: text, email: text, username: text })
  }
);
var Commit = resource(
  { id: text },
  {
    message: text,
    url: text,
    author: Identity,
    committer: Identity,
    timestamp: instant,
    verification: Verification,
    added: z12.array(text),
    modified: z12.array(text),
    removed: z12.array(text)
  }
);
var Branch = resource(
  { name: text },
  {
    commit: Commit,
    protected: flag,
    required_approvals: int,
    enable_status_check: flag,
    status_check_contexts: z12.array(text),
    user_can_push: flag,
    user_can_merge: flag,
    effective_branch_protection_name: text
  }
);
var CommitEntry = resource(
  { sha: text },
  {
    url: text,
    html_url: text,
    created: instant,
    commit: resource(
      {},
      {
        message: text,
        url: text,
        author: resource({}, { name: text, email: text, date: instant }),
        committer: resource({}, { name: text, email: text, date: instant }),
        tree: resource({}, { sha: text, url: text, created: instant })
      }
    ),
    parents: z12.array(resource({ sha: text }, { url: text, created: instant })),
    /** `status` is added, removed or modified. Not in every list. */
    files: z12.array(resource({ filename: text }, { status: text })),
    /** Lines. */
    stats: resource({}, { total: int, additions: int, deletions: int })
  }
);
var ChangedFile = resource(
  { filename: text },
  {
    previous_filename: text,
    /** added, changed, deleted, renamed, copied, unchanged. */
    status: text,
    additions: int,
    deletions: int,
    changes: int,
    html_url: text,
    contents_url: text,
    raw_url: text
  }
);
var Compare = resource(
  {},
  { total_commits: int, commits: z12.array(CommitEntry), files: z12.array(ChangedFile) }
);
var branchOperations = {
  listBranches: defineOperation({
    id: "branch.list",
    meaning: "Branches, last committed first; `null` for an empty repository; `q` filters by name (not on Forgejo).",
    method: "GET",
    path: "/repos/{owner}/{repo}/branches",
    params: z12.object(inRepository),
    query: z12.object({ ...pages, q: text.optional() }),
    success: 200,
    response: list(Branch),
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    paging: "link",
    source: "routers/api/v1/repo/branch.go ListBranches"
  }),
  getBranch: defineOperation({
    id: "branch.get",
    meaning: "One branch; its name may hold slashes.",
    method: "GET",
    path: "/repos/{owner}/{repo}/branches/{branch*}",
    params: z12.object({ ...inRepository, branch: text }),
    success: 200,
    response: Branch,
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    source: "routers/api/v1/repo/branch.go GetBranch"
  }),
  createBranch: defineOperation({
    id: "branch.create",
    meaning: "Makes a branch from a branch, tag or commit (the default branch when none is named).",
    method: "POST",
    path: "/repos/{owner}/{repo}/branches",
    params: z12.object(inRepository),
    body: z12.strictObject({
      new_branch_name: text,
      old_ref_name: text.optional(),
      old_branch_name: text.optional()
    }),
    success: 201,
    response: Branch,
    errors: [403, 404, 409, 422, 423],
    access: "writer",
    scopes: ["repository"],
    baseline: { "unknown old_ref_name": 500 },
    source: "routers/api/v1/repo/branch.go CreateBranch"
  }),
  deleteBranch: defineOperation({
    id: "branch.delete",
    meaning: "Removes a branch; never the default branch or a protected one.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/branches/{branch*}",
    params: z12.object({ ...inRepository, branch: text }),
    success: 204,
    errors: [403, 404, 423],
    access: "writer",
    scopes: ["repository"],
    source: "routers/api/v1/repo/branch.go DeleteBranch"
  }),
  updateBranch: defineOperation({
    id: "branch.update",
    meaning: "Moves a branch to another commit; backwards or sideways only with `force`.",
    method: "PUT",
    path: "/repos/{owner}/{repo}/branches/{branch*}",
    params: z12.object({ ...inRepository, branch: text }),
    body: z12.strictObject({
      new_commit_id: text,
      /** Refused with 422 where the branch is somewhere else by now. */
      old_commit_id: text.optional(),
      force: flag.optional()
    }),
    success: 204,
    errors: [403, 404, 422, 423],
    access: "writer",
    scopes: ["repository"],
    baseline: { "unknown commit": 500 },
    source: "routers/api/v1/repo/branch.go UpdateBranch; services/repository/branch.go UpdateBranch"
  }),
  renameBranch: defineOperation({
    id: "branch.rename",
    meaning: "Gives a branch another name; the default branch only by an administrator of the repository.",
    method: "PATCH",
    path: "/repos/{owner}/{repo}/branches/{branch*}",
    params: z12.object({ ...inRepository, branch: text }),
    body: z12.strictObject({ name: text }),
    success: 204,
    errors: [403, 404, 422, 423],
    access: "writer",
    scopes: ["repository"],
    source: "routers/api/v1/repo/branch.go RenameBranch; services/repository/branch.go RenameBranch"
  }),
  compare: defineOperation({
    id: "repository.compare",
    meaning: "Commits and files between two refs or commits, counted from their merge base (`base...head`).",
    method: "GET",
    path: "/repos/{owner}/{repo}/compare/{basehead*}",
    params: z12.object({ ...inRepository, basehead: text }),
    success: 200,
    response: Compare,
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    source: "routers/api/v1/repo/compare.go CompareDiff"
  })
};

// src/contract/commits.ts
import { z as z13 } from "zod";
var SingleCommit = CommitEntry.extend({
  author: User.nullish(),
  committer: User.nullish()
});
var commitOperations = {
  getCommit: defineOperation({
    id: "commit.get",
    meaning: "One commit by its id, or by a branch or tag; the parts not wanted are left out with `false`.",
    method: "GET",
    path: "/repos/{owner}/{repo}/git/commits/{sha}",
    params: z13.object({ ...inRepository, sha: text }),
    query: z13.object({ stat: flag.optional(), verification: flag.optional(), files: flag.optional() }),
    success: 200,
    response: SingleCommit,
    errors: [404, 422],
    access: "reader",
    scopes: ["repository"],
    source: "routers/api/v1/repo/commits.go GetSingleCommit"
  })
};

// src/contract/contents.ts
import { z as z14 } from "zod";
var ContentsEntry = resource(
  { name: text, path: text, type: z14.enum(["file", "dir", "symlink", "submodule"]) },
  {
    sha: text,
    size: int,
    url: text,
    html_url: text,
    git_url: text,
    download_url: text,
    /** `base64`; null for anything but a file, and for files above the forge's blob limit. */
    encoding: text,
    content: text,
    target: text,
    submodule_git_url: text,
    last_commit_sha: text,
    last_commit_message: text,
    last_committer_date: instant,
    last_author_date: instant,
    lfs_oid: text,
    lfs_size: int,
    _links: resource({}, { self: text, git: text, html: text })
  }
);
var ExtendedContents = resource(
  {},
  { file_contents: ContentsEntry, dir_contents: z14.array(ContentsEntry) }
);
var CommitUser = resource({}, { name: text, email: text, date: text });
var FileResponse = resource(
  {},
  {
    content: ContentsEntry,
    commit: resource(
      { sha: text },
      {
        url: text,
        html_url: text,
        created: instant,
        message: text,
        author: CommitUser,
        committer: CommitUser,
        parents: z14.array(resource({ sha: text }, { url: text, created: instant })),
        tree: resource({}, { sha: text, url: text, created: instant })
      }
    ),
    verification: resource({}, { verified: flag, reason: text, signature: text, payload: text })
  }
);
var FilesResponse = FileResponse.omit({ content: true }).extend({
  files: z14.array(ContentsEntry.nullable()).nullish()
});
var ChangeFile = z14.strictObject({
  /** create, update, upload (either), rename or delete. */
  operation: text,
  path: text,
  /** base64. */
  content: text.optional(),
  sha: text.optional(),
  from_path: text.optional()
});
var person = z14.strictObject({ name: text.optional(), email: text.optional() }).optional();
var writing = {
  message: text.optional(),
  branch: text.optional(),
  new_branch: text.optional(),
  author: person,
  committer: person,
  dates: z14.strictObject({ author: instant.optional(), committer: instant.optional() }).optional(),
  signoff: flag.optional()
};
var atPath = { ...inRepository, filepath: text };
var contentsOperations = {
  getContents: defineOperation({
    id: "contents.get",
    meaning: "One entry with its content, or the entries of a directory; `ref` is a branch, tag or commit.",
    method: "GET",
    path: "/repos/{owner}/{repo}/contents/{filepath*}",
    params: z14.object(atPath),
    query: z14.object({ ref: text.optional() }),
    success: 200,
    response: z14.union([ContentsEntry, z14.array(ContentsEntry)]),
    errors: [400, 404],
    access: "reader",
    scopes: ["repository"],
    source: "routers/api/v1/repo/file.go GetContents"
  }),
  getContentsExt: defineOperation({
    id: "contents.get-ext",
    meaning: "The same with the members asked for in `includes`; not on Forgejo. Errors may be followed by junk.",
    method: "GET",
    path: "/repos/{owner}/{repo}/contents-ext/{filepath*}",
    params: z14.object(atPath),
    query: z14.object({ ref: text.optional(), includes: text.optional() }),
    success: 200,
    response: ExtendedContents,
    errors: [400, 404],
    access: "reader",
    scopes: ["repository"],
    source: "routers/api/v1/repo/file.go GetContentsExt"
  }),
  createFile: defineOperation({
    id: "contents.create",
    meaning: "Commits a new file; `content` is base64.",
    method: "POST",
    path: "/repos/{owner}/{repo}/contents/{filepath*}",
    params: z14.object(atPath),
    body: z14.strictObject({ ...writing, content: text }),
    success: 201,
    response: FileResponse,
    errors: [403, 404, 422, 423],
    access: "writer",
    scopes: ["repository"],
    source: "routers/api/v1/repo/file.go CreateFile"
  }),
  changeFiles: defineOperation({
    id: "contents.change",
    meaning: "Commits changes of several files at once.",
    method: "POST",
    path: "/repos/{owner}/{repo}/contents",
    params: z14.object(inRepository),
    body: z14.strictObject({ ...writing, files: z14.array(ChangeFile) }),
    success: 201,
    response: FilesResponse,
    errors: [403, 404, 422, 423],
    access: "writer",
    scopes: ["repository"],
    source: "routers/api/v1/repo/file.go ChangeFiles"
  }),
  updateFile: defineOperation({
    id: "contents.update",
    meaning: "Commits a changed file; with `sha` of the old content 200, without it the file is made (201).",
    method: "PUT",
    path: "/repos/{owner}/{repo}/contents/{filepath*}",
    params: z14.object(atPath),
    body: z14.strictObject({ ...writing, content: text, sha: text.optional(), from_path: text.optional() }),
    success: 200,
    response: FileResponse,
    errors: [403, 404, 422, 423],
    access: "writer",
    scopes: ["repository"],
    source: "routers/api/v1/repo/file.go UpdateFile"
  }),
  deleteFile: defineOperation({
    id: "contents.delete",
    meaning: "Commits the removal of a file; `sha` of the content that goes is required.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/contents/{filepath*}",
    params: z14.object(atPath),
    body: z14.strictObject({ ...writing, sha: text }),
    success: 200,
    response: FileResponse,
    errors: [400, 403, 404, 422, 423],
    access: "writer",
    scopes: ["repository"],
    source: "routers/api/v1/repo/file.go DeleteFile"
  })
};

// src/contract/dependencies.ts
import { z as z15 } from "zod";
var IssueMeta = z15.strictObject({ index: int, owner: text, repo: text });
var Blocker = Issue.extend({ state: z15.enum(["open", "closed", ""]) });
var atIndex2 = z15.object({ ...inRepository, index: int });
var dependencyOperations = {
  listDependencies: defineOperation({
    id: "issue.list-dependencies",
    meaning: "The issues that must close before this one: those of its own repository first. One that the caller cannot read is a stub with `id` 0: without a title and a state for writers, open and called `HIDDEN` for others.",
    method: "GET",
    path: "/repos/{owner}/{repo}/issues/{index}/dependencies",
    params: atIndex2,
    query: z15.object(pages),
    success: 200,
    response: list(Blocker),
    errors: [404],
    access: "reader",
    scopes: ["issue"],
    paging: "link",
    source: "routers/api/v1/repo/issue_dependency.go GetIssueDependencies"
  }),
  addDependency: defineOperation({
    id: "issue.add-dependency",
    meaning: "Makes the issue of the body block the one of the path, and answers the latter; 404 to those who cannot write. Only the direct reverse counts as a cycle. With dependencies across repositories switched off: 400 and a bare JSON text.",
    method: "POST",
    path: "/repos/{owner}/{repo}/issues/{index}/dependencies",
    params: atIndex2,
    body: IssueMeta,
    success: 201,
    response: Issue,
    errors: [400, 404, 409, 423],
    access: "reader",
    scopes: ["issue"],
    baseline: { "exists already": 500, cycle: 500 },
    source: "routers/api/v1/repo/issue_dependency.go CreateIssueDependency"
  }),
  removeDependency: defineOperation({
    id: "issue.remove-dependency",
    meaning: "Takes a dependency away; 201 and the issue of the path. 404 to those who cannot write.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/issues/{index}/dependencies",
    params: atIndex2,
    body: IssueMeta,
    success: 201,
    response: Issue,
    errors: [400, 404, 423],
    access: "reader",
    scopes: ["issue"],
    baseline: { "no such dependency": 500 },
    source: "routers/api/v1/repo/issue_dependency.go RemoveIssueDependency"
  }),
  listBlocks: defineOperation({
    id: "issue.list-blocks",
    meaning: "The issues that wait for this one; those that the caller cannot read are left out after paging.",
    method: "GET",
    path: "/repos/{owner}/{repo}/issues/{index}/blocks",
    params: atIndex2,
    query: z15.object(pages),
    success: 200,
    response: list(Issue),
    errors: [404],
    access: "reader",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_dependency.go GetIssueBlocks"
  }),
  addBlock: defineOperation({
    id: "issue.add-block",
    meaning: "Makes the issue of the path block the one of the body, and answers the former.",
    method: "POST",
    path: "/repos/{owner}/{repo}/issues/{index}/blocks",
    params: atIndex2,
    body: IssueMeta,
    success: 201,
    response: Issue,
    errors: [400, 404, 409],
    access: "reader",
    scopes: ["issue"],
    baseline: { "exists already": 500, cycle: 500 },
    source: "routers/api/v1/repo/issue_dependency.go CreateIssueBlocking"
  }),
  removeBlock: defineOperation({
    id: "issue.remove-block",
    meaning: "The issue of the path blocks the one of the body no longer; 201 and the issue of the path.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/issues/{index}/blocks",
    params: atIndex2,
    body: IssueMeta,
    success: 201,
    response: Issue,
    errors: [400, 404],
    access: "reader",
    scopes: ["issue"],
    baseline: { "no such dependency": 500 },
    source: "routers/api/v1/repo/issue_dependency.go RemoveIssueBlocking"
  })
};

// src/contract/instance.ts
import { z as z16 } from "zod";
var Version = z16.object({ version: text });
var ApiSettings = resource(
  {},
  {
    max_response_items: int,
    default_paging_num: int,
    default_git_trees_per_page: int,
    default_max_blob_size: int,
    default_max_response_size: int
  }
);
var instanceOperations = {
  getVersion: defineOperation({
    id: "instance.version",
    meaning: "The version; Forgejo reports `<own>+gitea-<compatible>`.",
    method: "GET",
    path: "/version",
    params: z16.object({}),
    success: 200,
    response: Version,
    errors: [],
    access: "anyone",
    scopes: [],
    source: "routers/api/v1/misc/version.go"
  }),
  getApiSettings: defineOperation({
    id: "instance.api-settings",
    meaning: "Limits of this forge for lists and contents.",
    method: "GET",
    path: "/settings/api",
    params: z16.object({}),
    success: 200,
    response: ApiSettings,
    errors: [],
    access: "anyone",
    scopes: [],
    source: "routers/api/v1/settings/settings.go GetGeneralAPISettings"
  })
};

// src/contract/notifications.ts
import { z as z17 } from "zod";
var NotificationSubject = resource(
  { type: z17.enum(["Issue", "Pull", "Commit", "Repository"]) },
  {
    title: text,
    /** API address of an issue or pull request; web address of a commit; relative web path of a repository. */
    url: text,
    html_url: text,
    /** Empty where nobody has commented. */
    latest_comment_url: text,
    latest_comment_html_url: text,
    /** open, closed or merged; empty for a commit or repository. */
    state: text
  }
);
var NotificationThread = resource(
  { id: int },
  {
    /** Without `permissions`; null, like `subject`, where the account can read it no longer. */
    repository: Repository,
    subject: NotificationSubject,
    /** False also where the thread is pinned. */
    unread: flag,
    pinned: flag,
    updated_at: instant,
    url: text
  }
);
var statuses = { all: flag.optional(), "status-types": z17.array(text).optional() };
var narrowed = z17.object({
  ...pages,
  ...statuses,
  /** issue, pull, commit or repository. */
  "subject-type": z17.array(text).optional(),
  /** Inclusive. */
  since: instant.optional(),
  /** Inclusive. */
  before: instant.optional()
});
var marked = z17.object({
  ...statuses,
  /** Only threads that changed at or before this instant. */
  last_read_at: instant.optional(),
  /** read (default), unread or pinned; anything else is read. */
  "to-status": text.optional()
});
var notificationOperations = {
  listNotifications: defineOperation({
    id: "notification.list",
    meaning: "The threads of the caller, last changed first; unread and pinned ones unless asked otherwise.",
    method: "GET",
    path: "/notifications",
    params: z17.object({}),
    query: narrowed,
    success: 200,
    response: list(NotificationThread),
    errors: [422],
    access: "self",
    scopes: ["notification"],
    paging: "link",
    source: "routers/api/v1/notify/user.go ListNotifications"
  }),
  markNotifications: defineOperation({
    id: "notification.mark-all",
    meaning: "Marks threads of the caller, unread ones unless asked otherwise; 205 with those that changed.",
    method: "PUT",
    path: "/notifications",
    params: z17.object({}),
    query: marked,
    success: 205,
    response: list(NotificationThread),
    errors: [400],
    access: "self",
    scopes: ["notification"],
    source: "routers/api/v1/notify/user.go ReadNotifications"
  }),
  countNotifications: defineOperation({
    id: "notification.count",
    meaning: "How many threads of the caller are unread.",
    method: "GET",
    path: "/notifications/new",
    params: z17.object({}),
    success: 200,
    response: z17.object({ new: int }),
    errors: [],
    access: "self",
    scopes: ["notification"],
    source: "routers/api/v1/notify/notifications.go NewAvailable"
  }),
  getNotification: defineOperation({
    id: "notification.get",
    meaning: "One thread of the caller; anybody's for a site administrator.",
    method: "GET",
    path: "/notifications/threads/{id}",
    params: z17.object({ id: int }),
    success: 200,
    response: NotificationThread,
    errors: [403, 404],
    access: "self",
    scopes: ["notification"],
    source: "routers/api/v1/notify/threads.go GetThread"
  }),
  markNotification: defineOperation({
    id: "notification.mark",
    meaning: "Marks one thread of the caller, read unless `to-status` says otherwise; 205 with the thread.",
    method: "PATCH",
    path: "/notifications/threads/{id}",
    params: z17.object({ id: int }),
    query: z17.object({ "to-status": text.optional() }),
    success: 205,
    response: NotificationThread,
    errors: [403, 404],
    access: "self",
    scopes: ["notification"],
    baseline: { "a site administrator marks somebody else's": 500 },
    source: "routers/api/v1/notify/threads.go ReadThread"
  }),
  listRepositoryNotifications: defineOperation({
    id: "repository.list-notifications",
    meaning: "The caller's threads of one repository, last changed first.",
    method: "GET",
    path: "/repos/{owner}/{repo}/notifications",
    params: z17.object(inRepository),
    query: narrowed,
    success: 200,
    response: list(NotificationThread),
    errors: [404, 422],
    access: "signed-in",
    scopes: ["notification"],
    paging: "link",
    source: "routers/api/v1/notify/repo.go ListRepoNotifications"
  }),
  markRepositoryNotifications: defineOperation({
    id: "repository.mark-notifications",
    meaning: "Marks the caller's threads of one repository; 205 with those that changed.",
    method: "PUT",
    path: "/repos/{owner}/{repo}/notifications",
    params: z17.object(inRepository),
    query: marked,
    success: 205,
    response: list(NotificationThread),
    errors: [400, 404],
    access: "signed-in",
    scopes: ["notification"],
    source: "routers/api/v1/notify/repo.go ReadRepoNotifications"
  })
};

// src/contract/oauth2.ts
import { z as z18 } from "zod";
var OAuth2Application = resource(
  { id: int, name: text },
  {
    client_id: text,
    /** Shown in the answers that make it (create and edit, each a new one); empty everywhere else. */
    client_secret: text,
    confidential_client: flag,
    skip_secondary_authorization: flag,
    redirect_uris: z18.array(text),
    created: instant
  }
);
var CreateOAuth2Application = z18.strictObject({
  name: text,
  /** http or https addresses, at least one; compared exactly when somebody signs in. */
  redirect_uris: z18.array(text),
  /** Default false: a public client, which must use PKCE. */
  confidential_client: flag.optional(),
  skip_secondary_authorization: flag.optional()
});
var atApplication = z18.object({ id: int });
var oauth2Operations = {
  createOAuth2Application: defineOperation({
    id: "oauth2.create",
    meaning: "Registers an OAuth2 application of the caller; the answer is the one place that shows its secret.",
    method: "POST",
    path: "/user/applications/oauth2",
    params: z18.object({}),
    body: CreateOAuth2Application,
    success: 201,
    response: OAuth2Application,
    errors: [400, 403, 422],
    access: "self",
    scopes: ["user"],
    source: "routers/api/v1/user/app.go CreateOauth2Application"
  }),
  listOAuth2Applications: defineOperation({
    id: "oauth2.list",
    meaning: "The caller's OAuth2 applications, without their secrets.",
    method: "GET",
    path: "/user/applications/oauth2",
    params: z18.object({}),
    query: z18.object(pages),
    success: 200,
    response: list(OAuth2Application),
    errors: [403],
    access: "self",
    scopes: ["user"],
    paging: "count",
    source: "routers/api/v1/user/app.go ListOauth2Applications"
  }),
  getOAuth2Application: defineOperation({
    id: "oauth2.get",
    meaning: "One of the caller's OAuth2 applications, without its secret.",
    method: "GET",
    path: "/user/applications/oauth2/{id}",
    params: atApplication,
    success: 200,
    response: OAuth2Application,
    errors: [403, 404],
    access: "self",
    scopes: ["user"],
    source: "routers/api/v1/user/app.go GetOauth2Application"
  }),
  editOAuth2Application: defineOperation({
    id: "oauth2.edit",
    meaning: "Replaces the settings of an OAuth2 application and gives it a new secret.",
    method: "PATCH",
    path: "/user/applications/oauth2/{id}",
    params: atApplication,
    body: CreateOAuth2Application,
    success: 200,
    response: OAuth2Application,
    errors: [400, 403, 404, 422],
    access: "self",
    scopes: ["user"],
    source: "routers/api/v1/user/app.go UpdateOauth2Application"
  }),
  deleteOAuth2Application: defineOperation({
    id: "oauth2.delete",
    meaning: "Removes an OAuth2 application with everything that was granted to it.",
    method: "DELETE",
    path: "/user/applications/oauth2/{id}",
    params: atApplication,
    success: 204,
    errors: [403, 404],
    access: "self",
    scopes: ["user"],
    source: "routers/api/v1/user/app.go DeleteOauth2Application"
  })
};

// src/contract/organizations.ts
import { z as z19 } from "zod";
var EditOrganization = z19.strictObject({
  /** At most 100 characters. */
  full_name: text.optional(),
  /** The empty text clears it. */
  email: text.optional(),
  /** At most 255 characters. */
  description: text.optional(),
  /** An http or https address, or empty. */
  website: text.optional(),
  /** At most 50 characters. */
  location: text.optional(),
  /** public, limited or private; empty leaves it. */
  visibility: text.optional(),
  repo_admin_change_team_access: flag.optional()
});
var OrganizationPermissions = resource(
  {},
  { is_owner: flag, is_admin: flag, can_write: flag, can_read: flag, can_create_repository: flag }
);
var inOrganization4 = z19.object({ org: text });
var atMember2 = z19.object({ org: text, username: text });
var organizationOperations = {
  editOrganization: defineOperation({
    id: "organization.edit",
    meaning: "Changes the settings of an organization; what is absent stays.",
    method: "PATCH",
    path: "/orgs/{org}",
    params: z19.object({ org: text }),
    body: EditOrganization,
    success: 200,
    response: Organization,
    errors: [403, 404, 422],
    access: "owner",
    scopes: ["organization"],
    source: "routers/api/v1/org/org.go Edit"
  }),
  listOrganizations: defineOperation({
    id: "organization.list",
    meaning: "Every organization the caller may see, by name.",
    method: "GET",
    path: "/orgs",
    params: z19.object({}),
    query: z19.object(pages),
    success: 200,
    response: list(Organization),
    errors: [],
    access: "anyone",
    scopes: ["organization"],
    paging: "link",
    source: "routers/api/v1/org/org.go GetAll"
  }),
  listOwnOrganizations: defineOperation({
    id: "user.list-organizations",
    meaning: "The organizations the caller is a member of.",
    method: "GET",
    path: "/user/orgs",
    params: z19.object({}),
    query: z19.object(pages),
    success: 200,
    response: list(Organization),
    errors: [],
    access: "self",
    scopes: ["user", "organization"],
    paging: "link",
    source: "routers/api/v1/org/org.go ListMyOrgs"
  }),
  listUserOrganizations: defineOperation({
    id: "user.list-organizations-of",
    meaning: "The organizations an account is a member of, as far as the caller may see them.",
    method: "GET",
    path: "/users/{username}/orgs",
    params: z19.object({ username: text }),
    query: z19.object(pages),
    success: 200,
    response: list(Organization),
    errors: [404],
    access: "signed-in",
    scopes: ["user", "organization"],
    paging: "link",
    source: "routers/api/v1/org/org.go ListUserOrgs"
  }),
  getOrganizationPermissions: defineOperation({
    id: "user.organization-permissions",
    meaning: "What an account may do in an organization.",
    method: "GET",
    path: "/users/{username}/orgs/{org}/permissions",
    params: z19.object({ username: text, org: text }),
    success: 200,
    response: OrganizationPermissions,
    errors: [404],
    access: "signed-in",
    scopes: ["user", "organization"],
    source: "routers/api/v1/org/org.go GetUserOrgsPermissions"
  }),
  deleteOrganization: defineOperation({
    id: "organization.delete",
    meaning: "Removes an organization that owns no repository any more.",
    method: "DELETE",
    path: "/orgs/{org}",
    params: inOrganization4,
    success: 204,
    errors: [403, 404, 422],
    access: "owner",
    scopes: ["organization"],
    baseline: { "owns repositories": 500 },
    source: "routers/api/v1/org/org.go Delete"
  }),
  renameOrganization: defineOperation({
    id: "organization.rename",
    meaning: "Gives an organization another name; the old one leads there.",
    method: "POST",
    path: "/orgs/{org}/rename",
    params: inOrganization4,
    body: z19.strictObject({ new_name: text }),
    success: 204,
    errors: [403, 404, 422],
    access: "owner",
    scopes: ["organization"],
    source: "routers/api/v1/org/org.go Rename"
  }),
  deleteOrganizationRepositories: defineOperation({
    id: "organization.delete-repositories",
    meaning: "Removes all repositories of an organization: 202 while they go, 204 where there are none.",
    method: "DELETE",
    path: "/orgs/{org}/repos",
    params: inOrganization4,
    success: 202,
    errors: [403, 404],
    access: "owner",
    scopes: ["organization", "repository"],
    source: "routers/api/v1/org/org.go DeleteOrgRepos"
  }),
  listMembers: defineOperation({
    id: "organization.list-members",
    meaning: "The members of an organization; for strangers the public ones.",
    method: "GET",
    path: "/orgs/{org}/members",
    params: inOrganization4,
    query: z19.object(pages),
    success: 200,
    response: list(User),
    errors: [404],
    access: "signed-in",
    scopes: ["organization"],
    paging: "link",
    source: "routers/api/v1/org/member.go ListMembers"
  }),
  checkMember: defineOperation({
    id: "organization.check-member",
    meaning: "Tells whether an account is a member: 204 or 404; strangers are sent on to the public members (303).",
    method: "GET",
    path: "/orgs/{org}/members/{username}",
    params: atMember2,
    success: 204,
    errors: [303, 404],
    access: "signed-in",
    scopes: ["organization"],
    source: "routers/api/v1/org/member.go IsMember"
  }),
  deleteMember: defineOperation({
    id: "organization.delete-member",
    meaning: "Takes an account out of an organization and all its teams. The last owner stays.",
    method: "DELETE",
    path: "/orgs/{org}/members/{username}",
    params: atMember2,
    success: 204,
    errors: [403, 404, 422],
    access: "owner",
    scopes: ["organization"],
    baseline: { "last owner": 500 },
    source: "routers/api/v1/org/member.go DeleteMember"
  }),
  listPublicMembers: defineOperation({
    id: "organization.list-public-members",
    meaning: "The members of an organization who let themselves be seen.",
    method: "GET",
    path: "/orgs/{org}/public_members",
    params: inOrganization4,
    query: z19.object(pages),
    success: 200,
    response: list(User),
    errors: [404],
    access: "anyone",
    scopes: ["organization"],
    paging: "link",
    source: "routers/api/v1/org/member.go ListPublicMembers"
  }),
  checkPublicMember: defineOperation({
    id: "organization.check-public-member",
    meaning: "Tells whether an account is a public member: 204 or 404.",
    method: "GET",
    path: "/orgs/{org}/public_members/{username}",
    params: atMember2,
    success: 204,
    errors: [404],
    access: "anyone",
    scopes: ["organization"],
    source: "routers/api/v1/org/member.go IsPublicMember"
  }),
  publicizeMember: defineOperation({
    id: "organization.publicize-member",
    meaning: "Lets a membership be seen: one's own, or any for an owner.",
    method: "PUT",
    path: "/orgs/{org}/public_members/{username}",
    params: atMember2,
    success: 204,
    errors: [403, 404],
    access: "member",
    scopes: ["organization"],
    source: "routers/api/v1/org/member.go PublicizeMember"
  }),
  concealMember: defineOperation({
    id: "organization.conceal-member",
    meaning: "Hides a membership from strangers: one's own, or any for an owner.",
    method: "DELETE",
    path: "/orgs/{org}/public_members/{username}",
    params: atMember2,
    success: 204,
    errors: [403, 404],
    access: "member",
    scopes: ["organization"],
    source: "routers/api/v1/org/member.go ConcealMember"
  }),
  createOrganizationFor: defineOperation({
    id: "admin.create-organization",
    meaning: "Makes an organization that an account owns.",
    method: "POST",
    path: "/admin/users/{username}/orgs",
    params: z19.object({ username: text }),
    body: CreateOrganization,
    success: 201,
    response: Organization,
    errors: [403, 404, 422],
    access: "site",
    scopes: ["admin"],
    source: "routers/api/v1/admin/org.go CreateOrg"
  })
};

// src/contract/owner-hooks.ts
import { z as z20 } from "zod";
var ownerHookOperations = {
  listUserHooks: defineOperation({
    id: "user.list-hooks",
    meaning: "The caller's own hooks; they hear all of the caller's repositories.",
    method: "GET",
    path: "/user/hooks",
    params: z20.object({}),
    query: z20.object(pages),
    success: 200,
    response: list(Hook),
    errors: [403],
    access: "self",
    scopes: ["user"],
    paging: "link",
    source: "routers/api/v1/user/hook.go ListHooks"
  }),
  createUserHook: defineOperation({
    id: "user.create-hook",
    meaning: "Makes a hook for all of the caller's repositories.",
    method: "POST",
    path: "/user/hooks",
    params: z20.object({}),
    body: CreateHook,
    success: 201,
    response: Hook,
    errors: [400, 403, 422],
    access: "self",
    scopes: ["user"],
    source: "routers/api/v1/user/hook.go CreateHook"
  }),
  listOrganizationHooks: defineOperation({
    id: "organization.list-hooks",
    meaning: "The hooks of an organization.",
    method: "GET",
    path: "/orgs/{org}/hooks",
    params: z20.object({ org: text }),
    query: z20.object(pages),
    success: 200,
    response: list(Hook),
    errors: [403, 404],
    access: "owner",
    scopes: ["organization"],
    paging: "link",
    source: "routers/api/v1/org/hook.go ListHooks"
  }),
  createOrganizationHook: defineOperation({
    id: "organization.create-hook",
    meaning: "Makes a hook for all repositories of an organization.",
    method: "POST",
    path: "/orgs/{org}/hooks",
    params: z20.object({ org: text }),
    body: CreateHook,
    success: 201,
    response: Hook,
    errors: [400, 403, 404, 422],
    access: "owner",
    scopes: ["organization"],
    source: "routers/api/v1/org/hook.go CreateHook"
  }),
  getUserHook: defineOperation({
    id: "user.get-hook",
    meaning: "One hook of the caller.",
    method: "GET",
    path: "/user/hooks/{id}",
    params: z20.object({ id: int }),
    success: 200,
    response: Hook,
    errors: [403, 404],
    access: "self",
    scopes: ["user"],
    source: "routers/api/v1/user/hook.go GetHook"
  }),
  editUserHook: defineOperation({
    id: "user.edit-hook",
    meaning: "Changes a hook of the caller. No merge patch: absent events, branch_filter and authorization_header are reset.",
    method: "PATCH",
    path: "/user/hooks/{id}",
    params: z20.object({ id: int }),
    body: EditHookOption,
    success: 200,
    response: Hook,
    errors: [403, 404, 422],
    access: "self",
    scopes: ["user"],
    source: "routers/api/v1/user/hook.go EditHook"
  }),
  deleteUserHook: defineOperation({
    id: "user.delete-hook",
    meaning: "Removes a hook of the caller with its queued deliveries.",
    method: "DELETE",
    path: "/user/hooks/{id}",
    params: z20.object({ id: int }),
    success: 204,
    errors: [403, 404],
    access: "self",
    scopes: ["user"],
    source: "routers/api/v1/user/hook.go DeleteHook"
  }),
  getOrganizationHook: defineOperation({
    id: "organization.get-hook",
    meaning: "One hook of an organization.",
    method: "GET",
    path: "/orgs/{org}/hooks/{id}",
    params: z20.object({ org: text, id: int }),
    success: 200,
    response: Hook,
    errors: [403, 404],
    access: "owner",
    scopes: ["organization"],
    source: "routers/api/v1/org/hook.go GetHook"
  }),
  editOrganizationHook: defineOperation({
    id: "organization.edit-hook",
    meaning: "Changes a hook of an organization. No merge patch: absent events, branch_filter and authorization_header are reset.",
    method: "PATCH",
    path: "/orgs/{org}/hooks/{id}",
    params: z20.object({ org: text, id: int }),
    body: EditHookOption,
    success: 200,
    response: Hook,
    errors: [403, 404, 422],
    access: "owner",
    scopes: ["organization"],
    source: "routers/api/v1/org/hook.go EditHook"
  }),
  deleteOrganizationHook: defineOperation({
    id: "organization.delete-hook",
    meaning: "Removes a hook of an organization with its queued deliveries.",
    method: "DELETE",
    path: "/orgs/{org}/hooks/{id}",
    params: z20.object({ org: text, id: int }),
    success: 204,
    errors: [403, 404],
    access: "owner",
    scopes: ["organization"],
    source: "routers/api/v1/org/hook.go DeleteHook"
  }),
  listSystemHooks: defineOperation({
    id: "admin.list-hooks",
    meaning: "The hooks of the instance: system ones; `type` default for those that new repositories get; all for both.",
    method: "GET",
    path: "/admin/hooks",
    params: z20.object({}),
    query: z20.object({ type: text.optional(), ...pages }),
    success: 200,
    response: list(Hook),
    errors: [403],
    access: "site",
    scopes: ["admin"],
    paging: "link",
    source: "routers/api/v1/admin/hooks.go ListHooks"
  }),
  createSystemHook: defineOperation({
    id: "admin.create-hook",
    meaning: "Makes a hook of the instance. `config.is_system_webhook` true: it hears every repository; else new repositories get a copy.",
    method: "POST",
    path: "/admin/hooks",
    params: z20.object({}),
    body: CreateHook,
    success: 201,
    response: Hook,
    errors: [400, 403, 422],
    access: "site",
    scopes: ["admin"],
    source: "routers/api/v1/admin/hooks.go CreateHook"
  }),
  getSystemHook: defineOperation({
    id: "admin.get-hook",
    meaning: "One hook of the instance.",
    method: "GET",
    path: "/admin/hooks/{id}",
    params: z20.object({ id: int }),
    success: 200,
    response: Hook,
    errors: [403, 404],
    access: "site",
    scopes: ["admin"],
    source: "routers/api/v1/admin/hooks.go GetHook"
  }),
  editSystemHook: defineOperation({
    id: "admin.edit-hook",
    meaning: "Changes a hook of the instance. No merge patch: absent events, branch_filter and authorization_header are reset.",
    method: "PATCH",
    path: "/admin/hooks/{id}",
    params: z20.object({ id: int }),
    body: EditHookOption,
    success: 200,
    response: Hook,
    errors: [403, 404, 422],
    access: "site",
    scopes: ["admin"],
    source: "routers/api/v1/admin/hooks.go EditHook"
  }),
  deleteSystemHook: defineOperation({
    id: "admin.delete-hook",
    meaning: "Removes a hook of the instance with its queued deliveries.",
    method: "DELETE",
    path: "/admin/hooks/{id}",
    params: z20.object({ id: int }),
    success: 204,
    errors: [403, 404],
    access: "site",
    scopes: ["admin"],
    source: "routers/api/v1/admin/hooks.go DeleteHook"
  })
};

// src/contract/pull-branches.ts
import { z as z21 } from "zod";
var pullBranchOperations = {
  getPullDiff: defineOperation({
    id: "pull.diff",
    meaning: "The change of a pull request as text: `diff` in one piece, `patch` a mail for each commit.",
    method: "GET",
    path: "/repos/{owner}/{repo}/pulls/{index}.{diffType}",
    params: z21.object({ ...inRepository, index: int, diffType: text }),
    query: z21.object({ binary: flag.optional() }),
    success: 200,
    response: text,
    media: "text",
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    source: "routers/api/v1/repo/pull.go DownloadPullDiffOrPatch"
  }),
  updatePull: defineOperation({
    id: "pull.update",
    meaning: "Brings the base branch into the head branch, by a merge or (`style=rebase`) by a rebase.",
    method: "POST",
    path: "/repos/{owner}/{repo}/pulls/{index}/update",
    params: z21.object({ ...inRepository, index: int }),
    query: z21.object({ style: text.optional() }),
    success: 200,
    errors: [403, 404, 409, 422],
    access: "reader",
    scopes: ["repository"],
    baseline: { "head already up to date": 500 },
    source: "routers/api/v1/repo/pull.go UpdatePullRequest; services/pull/update.go"
  })
};

// src/contract/pulls.ts
import { z as z22 } from "zod";
var PRBranchInfo = resource(
  { ref: text, sha: text },
  { label: text, repo_id: int, repo: Repository }
);
var PullRequest = resource(
  { id: int, number: int, title: text, state: z22.enum(["open", "closed"]) },
  {
    /** The web address: unlike an issue's, a pull request's `url` is no API url. */
    url: text,
    html_url: text,
    diff_url: text,
    patch_url: text,
    user: User,
    body: text,
    labels: z22.array(Label),
    milestone: Milestone,
    assignee: User,
    assignees: z22.array(User),
    requested_reviewers: z22.array(User),
    requested_reviewers_teams: z22.array(Team),
    draft: flag,
    is_locked: flag,
    comments: int,
    review_comments: int,
    additions: int,
    deletions: int,
    changed_files: int,
    mergeable: flag,
    merged: flag,
    merged_at: instant,
    merge_commit_sha: text,
    merged_by: User,
    allow_maintainer_edit: flag,
    base: PRBranchInfo,
    head: PRBranchInfo,
    merge_base: text,
    due_date: instant,
    created_at: instant,
    updated_at: instant,
    closed_at: instant,
    pin_order: int,
    content_version: int
  }
);
var atIndex3 = z22.object({ ...inRepository, index: int });
var pullOperations = {
  listPulls: defineOperation({
    id: "pull.list",
    meaning: "Pull requests, newest first; without `state` open and closed ones; without additions and deletions.",
    method: "GET",
    path: "/repos/{owner}/{repo}/pulls",
    params: z22.object(inRepository),
    query: z22.object({
      ...pages,
      state: text.optional(),
      sort: text.optional(),
      milestone: int.optional(),
      labels: z22.array(int).optional(),
      poster: text.optional(),
      base_branch: text.optional()
    }),
    success: 200,
    response: list(PullRequest),
    errors: [400, 404],
    access: "reader",
    scopes: ["repository"],
    paging: "link",
    source: "routers/api/v1/repo/pull.go ListPullRequests"
  }),
  getPull: defineOperation({
    id: "pull.get",
    meaning: "One pull request.",
    method: "GET",
    path: "/repos/{owner}/{repo}/pulls/{index}",
    params: atIndex3,
    success: 200,
    response: PullRequest,
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    source: "routers/api/v1/repo/pull.go GetPullRequest"
  }),
  getPullByBranches: defineOperation({
    id: "pull.get-by-branches",
    meaning: "The pull request from `head` (`branch` or `owner:branch`) into `base`.",
    method: "GET",
    path: "/repos/{owner}/{repo}/pulls/{base}/{head*}",
    params: z22.object({ ...inRepository, base: text, head: text }),
    success: 200,
    response: PullRequest,
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    source: "routers/api/v1/repo/pull.go GetPullRequestByBaseHead"
  }),
  createPull: defineOperation({
    id: "pull.create",
    meaning: "Opens a pull request; a title starting with `WIP:` or `[WIP]` makes it a draft.",
    method: "POST",
    path: "/repos/{owner}/{repo}/pulls",
    params: z22.object(inRepository),
    body: z22.strictObject({
      title: text,
      head: text,
      base: text,
      body: text.optional(),
      assignee: text.optional(),
      assignees: z22.array(text).optional(),
      milestone: int.optional(),
      labels: z22.array(int).optional(),
      due_date: instant.optional(),
      reviewers: z22.array(text).optional(),
      team_reviewers: z22.array(text).optional(),
      allow_maintainer_edit: flag.optional()
    }),
    success: 201,
    response: PullRequest,
    errors: [400, 403, 404, 409, 422, 423],
    access: "reader",
    scopes: ["repository"],
    baseline: { "reviewer invalid": 500 },
    source: "routers/api/v1/repo/pull.go CreatePullRequest"
  }),
  editPull: defineOperation({
    id: "pull.edit",
    meaning: "Changes a pull request; `labels` here emits no webhook.",
    method: "PATCH",
    path: "/repos/{owner}/{repo}/pulls/{index}",
    params: atIndex3,
    body: z22.strictObject({
      title: text.optional(),
      body: text.optional(),
      base: text.optional(),
      assignee: text.optional(),
      assignees: z22.array(text).optional(),
      milestone: int.optional(),
      labels: z22.array(int).optional(),
      state: text.optional(),
      due_date: instant.optional(),
      unset_due_date: flag.optional(),
      allow_maintainer_edit: flag.optional(),
      content_version: int.optional()
    }),
    success: 201,
    response: PullRequest,
    errors: [403, 404, 409, 412, 422],
    access: "author",
    scopes: ["repository"],
    source: "routers/api/v1/repo/pull.go EditPullRequest"
  }),
  isPullMerged: defineOperation({
    id: "pull.is-merged",
    meaning: "Answers 204 where the pull request is merged, 404 where it is not.",
    method: "GET",
    path: "/repos/{owner}/{repo}/pulls/{index}/merge",
    params: atIndex3,
    success: 204,
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    source: "routers/api/v1/repo/pull.go IsPullRequestMerged"
  }),
  mergePull: defineOperation({
    id: "pull.merge",
    meaning: "Merges a pull request; `do` is merge, rebase, rebase-merge, squash, fast-forward-only or manually-merged. 405 for whoever may not.",
    method: "POST",
    path: "/repos/{owner}/{repo}/pulls/{index}/merge",
    params: atIndex3,
    body: z22.strictObject({
      do: text.optional(),
      /** The older spelling of `do`. */
      Do: text.optional(),
      merge_title_field: text.optional(),
      merge_message_field: text.optional(),
      merge_commit_id: text.optional(),
      /** Refused with 409 where the head is another by now. */
      head_commit_id: text.optional(),
      force_merge: flag.optional(),
      merge_when_checks_succeed: flag.optional(),
      delete_branch_after_merge: flag.optional()
    }),
    success: 200,
    errors: [403, 404, 405, 409, 412, 422, 423],
    access: "reader",
    scopes: ["repository"],
    baseline: { "open dependencies": 500 },
    source: "routers/api/v1/repo/pull.go MergePullRequest"
  }),
  listPullFiles: defineOperation({
    id: "pull.list-files",
    meaning: "The files a pull request changes against its merge base.",
    method: "GET",
    path: "/repos/{owner}/{repo}/pulls/{index}/files",
    params: atIndex3,
    query: z22.object({ ...pages, "skip-to": text.optional(), whitespace: text.optional() }),
    success: 200,
    response: list(ChangedFile),
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    paging: "link",
    source: "routers/api/v1/repo/pull.go GetPullRequestFiles"
  }),
  listPullCommits: defineOperation({
    id: "pull.list-commits",
    meaning: "The commits of a pull request, newest first.",
    method: "GET",
    path: "/repos/{owner}/{repo}/pulls/{index}/commits",
    params: atIndex3,
    query: z22.object(pages),
    success: 200,
    response: list(CommitEntry),
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    paging: "link",
    source: "routers/api/v1/repo/pull.go GetPullRequestCommits"
  })
};

// src/contract/reviews.ts
import { z as z23 } from "zod";
var PullReview = resource(
  { id: int },
  {
    user: User,
    team: Team,
    /** APPROVED, PENDING, COMMENT, REQUEST_CHANGES, REQUEST_REVIEW. */
    state: text,
    body: text,
    /** The head it was made on; empty for a request. */
    commit_id: text,
    stale: flag,
    /** Whether it counts where a protection asks for approvals. */
    official: flag,
    dismissed: flag,
    comments_count: int,
    submitted_at: instant,
    updated_at: instant,
    html_url: text,
    pull_request_url: text
  }
);
var PullReviewComment = resource(
  { id: int },
  {
    body: text,
    user: User,
    resolver: User,
    pull_request_review_id: int,
    created_at: instant,
    updated_at: instant,
    path: text,
    commit_id: text,
    original_commit_id: text,
    diff_hunk: text,
    position: int,
    original_position: int,
    html_url: text,
    pull_request_url: text
  }
);
var pullPath = "/repos/{owner}/{repo}/pulls/{index}";
var atIndex4 = z23.object({ ...inRepository, index: int });
var atReview = z23.object({ ...inRepository, index: int, id: int });
var atComment2 = z23.object({ ...inRepository, id: int });
var Reviewers = z23.strictObject({
  /** Names or e-mail addresses. */
  reviewers: z23.array(text).optional(),
  /** Names of teams; only where an organization owns the repository. */
  team_reviewers: z23.array(text).optional()
});
var inFile = "routers/api/v1/repo/pull_review.go";
var reviewOperations = {
  listReviews: defineOperation({
    id: "review.list",
    meaning: "Reviews and requests for them, oldest first; drafts of others are left out after paging.",
    method: "GET",
    path: `${pullPath}/reviews`,
    params: atIndex4,
    query: z23.object(pages),
    success: 200,
    response: list(PullReview),
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    paging: "count",
    source: `${inFile} ListPullReviews`
  }),
  getReview: defineOperation({
    id: "review.get",
    meaning: "One review; the draft of somebody else is not there.",
    method: "GET",
    path: `${pullPath}/reviews/{id}`,
    params: atReview,
    success: 200,
    response: PullReview,
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    source: `${inFile} GetPullReview`
  }),
  listReviewComments: defineOperation({
    id: "review.list-comments",
    meaning: "The comments on lines that belong to a review, all at once.",
    method: "GET",
    path: `${pullPath}/reviews/{id}/comments`,
    params: atReview,
    success: 200,
    response: list(PullReviewComment),
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    source: `${inFile} GetPullReviewComments`
  }),
  createReview: defineOperation({
    id: "review.create",
    meaning: "Reviews a pull request; an `event` that is unknown or absent keeps a draft.",
    method: "POST",
    path: `${pullPath}/reviews`,
    params: atIndex4,
    body: z23.strictObject({
      /** APPROVED, REQUEST_CHANGES, COMMENT; anything else is PENDING. */
      event: text.optional(),
      body: text.optional(),
      /** The current head where it is absent. */
      commit_id: text.optional(),
      comments: z23.array(
        z23.strictObject({
          path: text.optional(),
          body: text.optional(),
          new_position: int.optional(),
          old_position: int.optional()
        })
      ).optional()
    }),
    success: 200,
    response: PullReview,
    errors: [404, 422],
    access: "reader",
    scopes: ["repository"],
    baseline: { "unknown commit_id of an approval": 500 },
    source: `${inFile} CreatePullReview`
  }),
  submitReview: defineOperation({
    id: "review.submit",
    meaning: "Turns a draft into a review of the current head.",
    method: "POST",
    path: `${pullPath}/reviews/{id}`,
    params: atReview,
    body: z23.strictObject({ event: text.optional(), body: text.optional() }),
    success: 200,
    response: PullReview,
    errors: [404, 422],
    access: "reader",
    scopes: ["repository"],
    source: `${inFile} SubmitPullReview`
  }),
  deleteReview: defineOperation({
    id: "review.delete",
    meaning: "Removes a review and its comments; for its author and the site administrator.",
    method: "DELETE",
    path: `${pullPath}/reviews/{id}`,
    params: atReview,
    success: 204,
    errors: [400, 403, 404],
    access: "reader",
    scopes: ["repository"],
    baseline: { "a request instead of a review": 500 },
    source: `${inFile} DeletePullReview`
  }),
  dismissReview: defineOperation({
    id: "review.dismiss",
    meaning: "Marks an approval or a rejection as dismissed; its state stays, no webhook tells it.",
    method: "POST",
    path: `${pullPath}/reviews/{id}/dismissals`,
    params: atReview,
    body: z23.strictObject({
      message: text.optional(),
      /** Also dismisses every other review of the same account on this pull request. */
      priors: flag.optional()
    }),
    success: 200,
    response: PullReview,
    errors: [403, 404, 422],
    access: "admin",
    scopes: ["repository"],
    source: `${inFile} DismissPullReview`
  }),
  undismissReview: defineOperation({
    id: "review.undismiss",
    meaning: "Takes a dismissal back.",
    method: "POST",
    path: `${pullPath}/reviews/{id}/undismissals`,
    params: atReview,
    success: 200,
    response: PullReview,
    errors: [403, 404],
    access: "admin",
    scopes: ["repository"],
    source: `${inFile} UnDismissPullReview`
  }),
  requestReviews: defineOperation({
    id: "review.request",
    meaning: "Asks accounts and teams for a review; who is asked already is left out of the answer.",
    method: "POST",
    path: `${pullPath}/requested_reviewers`,
    params: atIndex4,
    body: Reviewers,
    success: 201,
    response: list(PullReview),
    errors: [403, 404, 422],
    access: "reader",
    scopes: ["repository"],
    source: `${inFile} CreateReviewRequests`
  }),
  cancelReviewRequests: defineOperation({
    id: "review.cancel-request",
    meaning: "Takes requests for a review back.",
    method: "DELETE",
    path: `${pullPath}/requested_reviewers`,
    params: atIndex4,
    body: Reviewers,
    success: 204,
    errors: [403, 404, 422],
    access: "reader",
    scopes: ["repository"],
    source: `${inFile} DeleteReviewRequests`
  }),
  resolveReviewComment: defineOperation({
    id: "review.resolve-comment",
    meaning: "Marks the conversation of a review comment as resolved.",
    method: "POST",
    path: "/repos/{owner}/{repo}/pulls/comments/{id}/resolve",
    params: atComment2,
    success: 204,
    errors: [400, 403, 404, 423],
    access: "reader",
    scopes: ["repository"],
    source: `${inFile} ResolvePullReviewComment`
  }),
  unresolveReviewComment: defineOperation({
    id: "review.unresolve-comment",
    meaning: "Opens the conversation of a review comment again.",
    method: "POST",
    path: "/repos/{owner}/{repo}/pulls/comments/{id}/unresolve",
    params: atComment2,
    success: 204,
    errors: [400, 403, 404, 423],
    access: "reader",
    scopes: ["repository"],
    source: `${inFile} UnresolvePullReviewComment`
  }),
  replyToReviewComment: defineOperation({
    id: "review.reply",
    meaning: "Answers a review comment on its line, as part of the same review.",
    method: "POST",
    path: `${pullPath}/comments/{id}/replies`,
    params: atReview,
    body: z23.strictObject({ body: text }),
    success: 201,
    response: PullReviewComment,
    errors: [400, 404, 422, 423],
    access: "reader",
    scopes: ["repository"],
    source: `${inFile} CreatePullReviewCommentReply`
  })
};

// src/contract/runners.ts
import { z as z24 } from "zod";
var ActionRunnerLabel = resource({ name: text }, { id: int, type: text });
var ActionRunner = resource(
  { id: int, name: text },
  {
    /** `online` (heard of within a minute) or `offline`. */
    status: text,
    /** Worked on a job within the last ten seconds. */
    busy: flag,
    /** Takes no new jobs. */
    disabled: flag,
    /** Takes one job and is gone. */
    ephemeral: flag,
    labels: z24.array(ActionRunnerLabel)
  }
);
var ActionRunnersResponse = resource({}, { total_count: int, runners: z24.array(ActionRunner) });
var RegistrationToken = resource({ token: text }, {});
function defineLevel(level) {
  const { id, whose, prefix, all, one: one2, access, file } = level;
  const common = { access, scopes: [level.scope] };
  const source = (name) => `routers/api/v1/${file} ${name}; routers/api/v1/shared/runners.go ${name}`;
  return {
    list: defineOperation({
      id: `${id}.list`,
      meaning: `The runners ${whose}, last online first; on Forgejo a bare list with other members.`,
      method: "GET",
      path: `${prefix}/actions/runners`,
      params: all,
      query: z24.object({ ...pages, disabled: flag.optional() }),
      success: 200,
      response: ActionRunnersResponse,
      errors: [403, 404],
      paging: "body",
      source: source("ListRunners"),
      ...common
    }),
    get: defineOperation({
      id: `${id}.get`,
      meaning: `One runner ${whose}.`,
      method: "GET",
      path: `${prefix}/actions/runners/{runner_id}`,
      params: one2,
      success: 200,
      response: ActionRunner,
      errors: [403, 404],
      source: source("GetRunner"),
      ...common
    }),
    edit: defineOperation({
      id: `${id}.edit`,
      meaning: `Stops a runner ${whose} from taking new jobs, or lets it; not on Forgejo.`,
      method: "PATCH",
      path: `${prefix}/actions/runners/{runner_id}`,
      params: one2,
      body: z24.strictObject({ disabled: flag }),
      success: 200,
      response: ActionRunner,
      errors: [403, 404, 422],
      source: source("UpdateRunner"),
      ...common
    }),
    remove: defineOperation({
      id: `${id}.delete`,
      meaning: `Removes a runner ${whose}.`,
      method: "DELETE",
      path: `${prefix}/actions/runners/{runner_id}`,
      params: one2,
      success: 204,
      errors: [403, 404],
      source: source("DeleteRunner"),
      ...common
    }),
    token: defineOperation({
      id: `${id}.registration-token`,
      meaning: `The token with which a runner ${whose} registers, made where there is none yet.`,
      method: "POST",
      path: `${prefix}/actions/runners/registration-token`,
      params: all,
      success: 200,
      response: RegistrationToken,
      errors: [403, 404],
      source: source("CreateRegistrationToken"),
      ...common
    })
  };
}
var one = { runner_id: int };
var ofOrganization = defineLevel({
  id: "organization-runner",
  whose: "of an organization",
  prefix: "/orgs/{org}",
  all: z24.object({ org: text }),
  one: z24.object({ org: text, ...one }),
  access: "owner",
  scope: "organization",
  file: "org/action.go"
});
var ofRepository = defineLevel({
  id: "repository-runner",
  whose: "of a repository",
  prefix: "/repos/{owner}/{repo}",
  all: z24.object(inRepository),
  one: z24.object({ ...inRepository, ...one }),
  access: "owner",
  scope: "repository",
  file: "repo/action.go"
});
var ofSelf = defineLevel({
  id: "user-runner",
  whose: "of the account itself",
  prefix: "/user",
  all: z24.object({}),
  one: z24.object(one),
  access: "self",
  scope: "user",
  file: "user/runners.go"
});
var ofSite = defineLevel({
  id: "admin-runner",
  whose: "of the whole instance, whichever level it registered at",
  prefix: "/admin",
  all: z24.object({}),
  one: z24.object(one),
  access: "site",
  scope: "admin",
  file: "admin/runners.go"
});
var runnerOperations = {
  listOrganizationRunners: ofOrganization.list,
  getOrganizationRunner: ofOrganization.get,
  editOrganizationRunner: ofOrganization.edit,
  deleteOrganizationRunner: ofOrganization.remove,
  createOrganizationRunnerToken: ofOrganization.token,
  listRepositoryRunners: ofRepository.list,
  getRepositoryRunner: ofRepository.get,
  editRepositoryRunner: ofRepository.edit,
  deleteRepositoryRunner: ofRepository.remove,
  createRepositoryRunnerToken: ofRepository.token,
  listOwnRunners: ofSelf.list,
  getOwnRunner: ofSelf.get,
  editOwnRunner: ofSelf.edit,
  deleteOwnRunner: ofSelf.remove,
  createOwnRunnerToken: ofSelf.token,
  listSiteRunners: ofSite.list,
  getSiteRunner: ofSite.get,
  editSiteRunner: ofSite.edit,
  deleteSiteRunner: ofSite.remove,
  createSiteRunnerToken: ofSite.token
};

// src/contract/statuses.ts
import { z as z25 } from "zod";
var CommitStatus = resource(
  { id: int },
  {
    /** pending, success, error, failure, warning, skipped. */
    status: text,
    target_url: text,
    description: text,
    url: text,
    /** Names the check; the newest status of a context wins. */
    context: text,
    creator: User,
    created_at: instant,
    updated_at: instant
  }
);
var CombinedStatus = resource(
  { state: text },
  {
    sha: text,
    total_count: int,
    statuses: z25.array(CommitStatus),
    repository: Repository,
    commit_url: text,
    url: text
  }
);
var filters = z25.object({
  ...pages,
  /** oldest, recentupdate, leastupdate, leastindex, highestindex. */
  sort: text.optional(),
  state: text.optional()
});
var statusOperations = {
  createStatus: defineOperation({
    id: "status.create",
    meaning: "Reports a status of a commit; needs write access to the code.",
    method: "POST",
    path: "/repos/{owner}/{repo}/statuses/{sha}",
    params: z25.object({ ...inRepository, sha: text }),
    body: z25.strictObject({
      state: text.optional(),
      target_url: text.optional(),
      description: text.optional(),
      context: text.optional()
    }),
    success: 201,
    response: CommitStatus,
    errors: [403, 404, 422],
    access: "writer",
    scopes: ["repository"],
    baseline: { "unknown sha": 500 },
    source: "routers/api/v1/repo/status.go NewCommitStatus"
  }),
  listStatuses: defineOperation({
    id: "status.list",
    meaning: "Every status ever reported of a commit, given by its full id; empty for an unknown one.",
    method: "GET",
    path: "/repos/{owner}/{repo}/statuses/{sha}",
    params: z25.object({ ...inRepository, sha: text }),
    query: filters,
    success: 200,
    response: list(CommitStatus),
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    paging: "link",
    source: "routers/api/v1/repo/status.go GetCommitStatuses"
  }),
  listStatusesByRef: defineOperation({
    id: "status.list-by-ref",
    meaning: "Every status ever reported of the commit that a branch, tag or id names.",
    method: "GET",
    path: "/repos/{owner}/{repo}/commits/{ref}/statuses",
    params: z25.object({ ...inRepository, ref: text }),
    query: filters,
    success: 200,
    response: list(CommitStatus),
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    paging: "link",
    source: "routers/api/v1/repo/status.go GetCommitStatusesByRef"
  }),
  getCombinedStatus: defineOperation({
    id: "status.combined",
    meaning: "The newest status of every context: failure where one failed, success where all did not, else pending.",
    method: "GET",
    path: "/repos/{owner}/{repo}/commits/{ref}/status",
    params: z25.object({ ...inRepository, ref: text }),
    query: z25.object(pages),
    success: 200,
    response: CombinedStatus,
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    paging: "link",
    source: "routers/api/v1/repo/status.go GetCombinedCommitStatusByRef"
  })
};

// src/contract/subscriptions.ts
import { z as z26 } from "zod";
var WatchInfo = resource(
  { subscribed: flag },
  { ignored: flag, reason: z26.unknown(), created_at: instant, url: text, repository_url: text }
);
var atIndex5 = { ...inRepository, index: int };
var subscriptionOperations = {
  getSubscription: defineOperation({
    id: "repository.get-subscription",
    meaning: "Whether the caller watches a repository; 404 when not.",
    method: "GET",
    path: "/repos/{owner}/{repo}/subscription",
    params: z26.object(inRepository),
    success: 200,
    response: WatchInfo,
    errors: [404],
    access: "signed-in",
    scopes: ["repository"],
    source: "routers/api/v1/user/watch.go IsWatching"
  }),
  watch: defineOperation({
    id: "repository.watch",
    meaning: "The caller watches a repository from now on.",
    method: "PUT",
    path: "/repos/{owner}/{repo}/subscription",
    params: z26.object(inRepository),
    success: 200,
    response: WatchInfo,
    errors: [403, 404],
    access: "signed-in",
    scopes: ["repository"],
    source: "routers/api/v1/user/watch.go Watch"
  }),
  unwatch: defineOperation({
    id: "repository.unwatch",
    meaning: "The caller watches a repository no longer; 204 also when they did not.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/subscription",
    params: z26.object(inRepository),
    success: 204,
    errors: [404],
    access: "signed-in",
    scopes: ["repository"],
    source: "routers/api/v1/user/watch.go Unwatch"
  }),
  listSubscribers: defineOperation({
    id: "repository.list-subscribers",
    meaning: "The accounts that watch a repository.",
    method: "GET",
    path: "/repos/{owner}/{repo}/subscribers",
    params: z26.object(inRepository),
    query: z26.object(pages),
    success: 200,
    response: list(User),
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    paging: "count",
    source: "routers/api/v1/repo/subscriber.go ListSubscribers"
  }),
  listOwnSubscriptions: defineOperation({
    id: "user.list-own-subscriptions",
    meaning: "The repositories the caller watches.",
    method: "GET",
    path: "/user/subscriptions",
    params: z26.object({}),
    query: z26.object(pages),
    success: 200,
    response: list(Repository),
    errors: [],
    access: "self",
    scopes: ["user"],
    paging: "count",
    source: "routers/api/v1/user/watch.go GetMyWatchedRepos"
  }),
  listSubscriptions: defineOperation({
    id: "user.list-subscriptions",
    meaning: "The repositories an account watches; private ones only when it is the caller.",
    method: "GET",
    path: "/users/{username}/subscriptions",
    params: z26.object({ username: text }),
    query: z26.object(pages),
    success: 200,
    response: list(Repository),
    errors: [404],
    access: "signed-in",
    scopes: ["user"],
    paging: "count",
    source: "routers/api/v1/user/watch.go GetWatchedRepos"
  }),
  listIssueSubscribers: defineOperation({
    id: "issue.list-subscribers",
    meaning: "The accounts that subscribed to an issue by hand; those who only take part are not among them.",
    method: "GET",
    path: "/repos/{owner}/{repo}/issues/{index}/subscriptions",
    params: z26.object(atIndex5),
    query: z26.object(pages),
    success: 200,
    response: list(User),
    errors: [404],
    access: "reader",
    scopes: ["issue"],
    paging: "count",
    source: "routers/api/v1/repo/issue_subscription.go GetIssueSubscribers"
  }),
  checkIssueSubscription: defineOperation({
    id: "issue.check-subscription",
    meaning: "Whether the caller hears of an issue: by hand, by watching its repository or by taking part.",
    method: "GET",
    path: "/repos/{owner}/{repo}/issues/{index}/subscriptions/check",
    params: z26.object(atIndex5),
    success: 200,
    response: WatchInfo,
    errors: [404],
    access: "signed-in",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_subscription.go CheckIssueSubscription"
  }),
  subscribeIssue: defineOperation({
    id: "issue.subscribe",
    meaning: "Subscribes an account to an issue; 201, or 200 where it was so. Oneself, or anybody for a site administrator.",
    method: "PUT",
    path: "/repos/{owner}/{repo}/issues/{index}/subscriptions/{user}",
    params: z26.object({ ...atIndex5, user: text }),
    success: 201,
    errors: [403, 404],
    access: "signed-in",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_subscription.go AddIssueSubscription"
  }),
  unsubscribeIssue: defineOperation({
    id: "issue.unsubscribe",
    meaning: "An account wants to hear of an issue no longer; 201, or 200 where it was so.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/issues/{index}/subscriptions/{user}",
    params: z26.object({ ...atIndex5, user: text }),
    success: 201,
    errors: [403, 404],
    access: "signed-in",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_subscription.go DelIssueSubscription"
  })
};

// src/contract/tags.ts
import { z as z27 } from "zod";
var Tag = resource(
  { name: text },
  {
    id: text,
    message: text,
    commit: resource({ sha: text }, { url: text, created: instant }),
    zipball_url: text,
    tarball_url: text
  }
);
var path = "/repos/{owner}/{repo}/tags";
var atTag = z27.object({ ...inRepository, tag: text });
var tagOperations = {
  listTags: defineOperation({
    id: "tag.list",
    meaning: "Tags, the youngest first.",
    method: "GET",
    path,
    params: z27.object(inRepository),
    query: z27.object(pages),
    success: 200,
    response: list(Tag),
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    paging: "count",
    source: "routers/api/v1/repo/tag.go ListTags"
  }),
  getTag: defineOperation({
    id: "tag.get",
    meaning: "One tag by its name, which may hold slashes.",
    method: "GET",
    path: `${path}/{tag*}`,
    params: atTag,
    success: 200,
    response: Tag,
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    source: "routers/api/v1/repo/tag.go GetTag"
  }),
  createTag: defineOperation({
    id: "tag.create",
    meaning: "Makes a tag of a branch, tag or commit (the default branch when none is named); with `message` annotated.",
    method: "POST",
    path,
    params: z27.object(inRepository),
    body: z27.strictObject({ tag_name: text, message: text.optional(), target: text.optional() }),
    success: 201,
    response: Tag,
    errors: [403, 404, 409, 422, 423],
    access: "writer",
    scopes: ["repository"],
    baseline: { "invalid tag name": 500 },
    source: "routers/api/v1/repo/tag.go CreateTag; services/release/release.go createTag"
  }),
  deleteTag: defineOperation({
    id: "tag.delete",
    meaning: "Removes a tag.",
    method: "DELETE",
    path: `${path}/{tag*}`,
    params: atTag,
    success: 204,
    errors: [403, 404, 409, 422, 423],
    access: "writer",
    scopes: ["repository"],
    source: "routers/api/v1/repo/tag.go DeleteTag"
  })
};

// src/contract/times.ts
import { z as z28 } from "zod";
var TrackedTime = resource(
  { id: int },
  {
    /** When the entry was made, or the instant its author gave. */
    created: instant,
    /** Seconds. */
    time: int,
    /** Deprecated: `user_name` says who. */
    user_id: int,
    user_name: text,
    /** Deprecated: `issue` says which. */
    issue_id: int,
    issue: Issue
  }
);
var atIndex6 = z28.object({ ...inRepository, index: int });
var narrowed2 = { ...pages, since: instant.optional(), before: instant.optional() };
var timeOperations = {
  listTimes: defineOperation({
    id: "issue.list-times",
    meaning: "The times tracked on an issue; who cannot write sees their own alone, and asking for those of another `user` is 403.",
    method: "GET",
    path: "/repos/{owner}/{repo}/issues/{index}/times",
    params: atIndex6,
    query: z28.object({ ...narrowed2, user: text.optional() }),
    success: 200,
    response: list(TrackedTime),
    errors: [403, 404, 422],
    access: "signed-in",
    scopes: ["issue"],
    paging: "count",
    source: "routers/api/v1/repo/issue_tracked_time.go ListTrackedTimes"
  }),
  addTime: defineOperation({
    id: "issue.add-time",
    meaning: "Tracks time on an issue; an administrator may say for whom. 400 where the tracker is off, a bare 403 where only contributors may track.",
    method: "POST",
    path: "/repos/{owner}/{repo}/issues/{index}/times",
    params: atIndex6,
    body: z28.strictObject({
      /** Seconds; zero is refused. */
      time: int,
      created: instant.optional(),
      user_name: text.optional()
    }),
    success: 200,
    response: TrackedTime,
    errors: [400, 403, 404, 422],
    access: "signed-in",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_tracked_time.go AddTime"
  }),
  resetTimes: defineOperation({
    id: "issue.reset-times",
    meaning: "Removes all of the caller's times on an issue; 404 where there are none.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/issues/{index}/times",
    params: atIndex6,
    success: 204,
    errors: [400, 403, 404],
    access: "signed-in",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_tracked_time.go ResetIssueTime"
  }),
  deleteTime: defineOperation({
    id: "issue.delete-time",
    meaning: "Removes one entry; somebody else's is for the site administrator alone.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/issues/{index}/times/{id}",
    params: z28.object({ ...inRepository, index: int, id: int }),
    success: 204,
    errors: [400, 403, 404],
    access: "signed-in",
    scopes: ["issue"],
    source: "routers/api/v1/repo/issue_tracked_time.go DeleteTime"
  }),
  listRepositoryTimes: defineOperation({
    id: "repository.list-times",
    meaning: "The times tracked in a repository; who cannot write sees their own alone.",
    method: "GET",
    path: "/repos/{owner}/{repo}/times",
    params: z28.object(inRepository),
    query: z28.object({ ...narrowed2, user: text.optional() }),
    success: 200,
    response: list(TrackedTime),
    errors: [400, 403, 404, 422],
    access: "signed-in",
    scopes: ["repository"],
    paging: "count",
    source: "routers/api/v1/repo/issue_tracked_time.go ListTrackedTimesByRepository"
  }),
  listTimesOfUser: defineOperation({
    id: "repository.list-times-of-user",
    meaning: "One account's times in a repository, all at once; others' are for administrators. Deprecated.",
    method: "GET",
    path: "/repos/{owner}/{repo}/times/{user}",
    params: z28.object({ ...inRepository, user: text }),
    success: 200,
    response: list(TrackedTime),
    errors: [400, 403, 404],
    access: "signed-in",
    scopes: ["repository"],
    source: "routers/api/v1/repo/issue_tracked_time.go ListTrackedTimesByUser"
  }),
  listOwnTimes: defineOperation({
    id: "user.list-times",
    meaning: "The caller's times in all repositories.",
    method: "GET",
    path: "/user/times",
    params: z28.object({}),
    query: z28.object(narrowed2),
    success: 200,
    response: list(TrackedTime),
    errors: [403, 422],
    access: "self",
    scopes: ["user"],
    paging: "count",
    source: "routers/api/v1/repo/issue_tracked_time.go ListMyTrackedTimes"
  })
};

// src/contract/transfers.ts
import { z as z29 } from "zod";
var transferOperations = {
  transferRepository: defineOperation({
    id: "repository.transfer",
    meaning: "Gives a repository away: 202 when it has moved already (the caller may create repositories there), 201 when the new owner must accept.",
    method: "POST",
    path: "/repos/{owner}/{repo}/transfer",
    params: z29.object(inRepository),
    body: z29.strictObject({
      new_owner: text,
      /** Teams of the new owner, an organization, that get the repository. */
      team_ids: z29.array(int).optional()
    }),
    success: 202,
    response: Repository,
    errors: [403, 404, 409, 422],
    access: "owner",
    scopes: ["repository"],
    source: "routers/api/v1/repo/transfer.go Transfer"
  }),
  acceptTransfer: defineOperation({
    id: "repository.accept-transfer",
    meaning: "Takes a repository that was offered.",
    method: "POST",
    path: "/repos/{owner}/{repo}/transfer/accept",
    params: z29.object(inRepository),
    success: 202,
    response: Repository,
    errors: [403, 404, 409],
    access: "signed-in",
    scopes: ["repository"],
    baseline: { "name in use": 500 },
    source: "routers/api/v1/repo/transfer.go AcceptTransfer"
  }),
  rejectTransfer: defineOperation({
    id: "repository.reject-transfer",
    meaning: "Refuses a repository that was offered.",
    method: "POST",
    path: "/repos/{owner}/{repo}/transfer/reject",
    params: z29.object(inRepository),
    success: 200,
    response: Repository,
    errors: [403, 404],
    access: "signed-in",
    scopes: ["repository"],
    source: "routers/api/v1/repo/transfer.go RejectTransfer"
  })
};

// src/contract/wiki.ts
import { z as z30 } from "zod";
var CommitUser2 = resource({ name: text }, { email: text, date: text });
var WikiCommit = resource(
  { sha: text },
  { author: CommitUser2, commiter: CommitUser2, message: text }
);
var metaData = { html_url: text, last_commit: WikiCommit };
var identity2 = { title: text, sub_url: text };
var WikiPageMetaData = resource(identity2, metaData);
var WikiPage = resource(identity2, {
  ...metaData,
  /** Base64; empty above 10 MiB. */
  content_base64: text,
  commit_count: int,
  /** Base64, too; empty where there is none. */
  sidebar: text,
  /** Base64, too; empty where there is none. */
  footer: text
});
var EditWikiPage = z30.strictObject({
  title: text.optional(),
  content_base64: text.optional(),
  message: text.optional()
});
var atPage = z30.object({ ...inRepository, pageName: text });
var wikiOperations = {
  listWikiPages: defineOperation({
    id: "wiki.list-pages",
    meaning: "The pages of a wiki in git order. Counts and positions include files that are no pages; a limit below 2 means 30.",
    method: "GET",
    path: "/repos/{owner}/{repo}/wiki/pages",
    params: z30.object(inRepository),
    query: z30.object(pages),
    success: 200,
    response: list(WikiPageMetaData),
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    paging: "link",
    source: "routers/api/v1/repo/wiki.go ListWikiPages"
  }),
  getWikiPage: defineOperation({
    id: "wiki.get-page",
    meaning: "One page of a wiki with its content, sidebar and footer.",
    method: "GET",
    path: "/repos/{owner}/{repo}/wiki/page/{pageName}",
    params: atPage,
    success: 200,
    response: WikiPage,
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    source: "routers/api/v1/repo/wiki.go GetWikiPage"
  }),
  createWikiPage: defineOperation({
    id: "wiki.create-page",
    meaning: "Writes a new page; the first one makes the wiki.",
    method: "POST",
    path: "/repos/{owner}/{repo}/wiki/new",
    params: z30.object(inRepository),
    body: EditWikiPage,
    success: 201,
    response: WikiPage,
    errors: [400, 403, 404, 423],
    access: "writer",
    scopes: ["repository"],
    source: "routers/api/v1/repo/wiki.go NewWikiPage"
  }),
  editWikiPage: defineOperation({
    id: "wiki.edit-page",
    meaning: "Writes a page again, or moves it to another title; an absent title keeps it.",
    method: "PATCH",
    path: "/repos/{owner}/{repo}/wiki/page/{pageName}",
    params: atPage,
    body: EditWikiPage,
    success: 200,
    response: WikiPage,
    errors: [400, 403, 404, 423],
    access: "writer",
    scopes: ["repository"],
    baseline: { "reserved title": 500, "no such wiki": 500 },
    source: "routers/api/v1/repo/wiki.go EditWikiPage"
  }),
  deleteWikiPage: defineOperation({
    id: "wiki.delete-page",
    meaning: "Removes a page.",
    method: "DELETE",
    path: "/repos/{owner}/{repo}/wiki/page/{pageName}",
    params: atPage,
    success: 204,
    errors: [403, 404, 423],
    access: "writer",
    scopes: ["repository"],
    source: "routers/api/v1/repo/wiki.go DeleteWikiPage"
  }),
  listWikiRevisions: defineOperation({
    id: "wiki.list-revisions",
    meaning: "The commits that wrote a page, newest first; 50 a page whatever `limit` says.",
    method: "GET",
    path: "/repos/{owner}/{repo}/wiki/revisions/{pageName}",
    params: atPage,
    query: z30.object({ page: int.optional() }),
    success: 200,
    response: resource({}, { commits: z30.array(WikiCommit), count: int }),
    errors: [404],
    access: "reader",
    scopes: ["repository"],
    paging: "count",
    source: "routers/api/v1/repo/wiki.go ListPageRevisions"
  })
};

// src/contract/operations.ts
var operations = {
  ...instanceOperations,
  ...userOperations,
  ...accountOperations,
  ...oauth2Operations,
  ...organizationOperations,
  ...teamOperations,
  ...repositoryOperations,
  ...transferOperations,
  ...wikiOperations,
  ...branchOperations,
  ...tagOperations,
  ...commitOperations,
  ...contentsOperations,
  ...labelOperations,
  ...issueOperations,
  ...pullOperations,
  ...pullBranchOperations,
  ...reviewOperations,
  ...protectionOperations,
  ...statusOperations,
  ...hookOperations,
  ...ownerHookOperations,
  ...runnerOperations,
  ...attachmentOperations,
  ...dependencyOperations,
  ...milestoneOperations,
  ...notificationOperations,
  ...subscriptionOperations,
  ...timeOperations
};
var byId = new Map(Object.values(operations).map((row) => [row.id, row]));
function findOperation(id) {
  return byId.get(id);
}

export {
  fillPath,
  int,
  text,
  flag,
  instant,
  list,
  resource,
  User,
  Organization,
  Label,
  Milestone,
  Attachment,
  Issue,
  Comment,
  Commit,
  Branch,
  CommitEntry,
  ChangedFile,
  Compare,
  Hook,
  Repository,
  NotificationThread,
  BranchProtection,
  EditBranchProtection,
  CreateBranchProtection,
  TagProtection,
  PullRequest,
  PullReview,
  CommitStatus,
  CreateTeam,
  TrackedTime,
  WikiPageMetaData,
  operations,
  findOperation
};

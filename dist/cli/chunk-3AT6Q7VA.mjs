import {
  createFormMarks,
  html,
  isSentByOtherSite
} from "./chunk-5BSG5FQ5.mjs";
import {
  isSameSecret
} from "./chunk-OK4C527H.mjs";
import {
  GlobError,
  createGlob,
  createMatcher,
  createUnlimitedMeter,
  enabledEvents,
  opcode
} from "./chunk-D4IFGYQO.mjs";
import {
  silentLog
} from "./chunk-OVHSHDHZ.mjs";
import {
  fillPath,
  operations
} from "./chunk-P5GSASXZ.mjs";
import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/forge/control/token.ts
import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
function controlTokenFile(folder) {
  return join(folder, "control.token");
}
function ensureControlToken(folder) {
  const file = controlTokenFile(folder);
  const known2 = readKnown(file);
  if (known2 !== void 0) {
    chmodSync(file, 384);
    return known2;
  }
  const token = randomBytes(32).toString("hex");
  writeFileSync(file, `${token}
`, { mode: 384 });
  chmodSync(file, 384);
  return token;
}
function readKnown(file) {
  try {
    const text = readFileSync(file, "utf8").trim();
    return text.length >= 24 ? text : void 0;
  } catch {
    return void 0;
  }
}
function isBearer(header, token) {
  const given = /^bearer (\S+)$/i.exec(header ?? "")?.[1] ?? "";
  return isSameSecret(given, token);
}

// src/forge/forge.ts
import { mkdirSync as mkdirSync3, mkdtempSync, rmSync as rmSync2 } from "node:fs";
import { tmpdir as tmpdir2 } from "node:os";
import { join as join6 } from "node:path";
import { setTimeout as setTimeout2 } from "node:timers/promises";
import fastify from "fastify";

// src/forge/binding.ts
import { z } from "zod";

// src/forge/errors.ts
var ForgeProblem = class extends Error {
  status;
  form;
  constructor(status, message, form = "error") {
    super(message);
    this.name = "ForgeProblem";
    this.status = status;
    this.form = form;
  }
};
function found(value, message = "not found") {
  if (value === void 0 || value === null) throw new ForgeProblem(404, message);
  return value;
}
function forbiddenInSilence() {
  return new ForgeProblem(403, "", "empty");
}
function problemBody(problem, rootUrl) {
  if (problem.form === "empty") return void 0;
  if (problem.form === "text") return JSON.stringify(problem.message);
  if (problem.form === "capital") return JSON.stringify({ Message: problem.message });
  if (problem.form === "message") return JSON.stringify({ message: problem.message });
  const body = JSON.stringify({ message: problem.message, url: `${rootUrl}/api/swagger` });
  return problem.form === "followed-by-null" ? `${body}null` : body;
}

// src/forge/json.ts
function parseBody(bytes) {
  const text = bytes?.toString("utf8").trim() ?? "";
  if (text === "") return {};
  const value = parse(text);
  const double = findDoubleName(text);
  if (double !== void 0) throw new ForgeProblem(422, `[]: duplicate object member name ${double}`);
  return value;
}
function parse(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ForgeProblem(422, `[]: ${error instanceof Error ? error.message : "no JSON"}`);
  }
}
function findDoubleName(text) {
  const objects = [];
  let last = "";
  for (let at = 0; at < text.length; at += 1) {
    const sign2 = text[at];
    if (sign2 === "{") objects.push(/* @__PURE__ */ new Set());
    else if (sign2 === "[") objects.push(void 0);
    else if (sign2 === "}" || sign2 === "]") objects.pop();
    else if (sign2 === '"') {
      const end = endOfText(text, at);
      last = text.slice(at, end + 1);
      at = end;
    } else if (sign2 === ":") {
      const name = JSON.parse(last);
      const names = objects.at(-1);
      if (names?.has(String(name))) return last;
      names?.add(String(name));
    }
  }
  return void 0;
}
function endOfText(text, start) {
  let end = start;
  do
    end = text.indexOf('"', end + 1);
  while (isEscaped(text, end));
  return end;
}
function isEscaped(text, at) {
  let slashes = 0;
  while (text[at - 1 - slashes] === "\\") slashes += 1;
  return slashes % 2 === 1;
}

// src/forge/binding.ts
var mayBeMissing = /* @__PURE__ */ new Set([
  "issue.replace-labels labels",
  "issue.add-labels labels",
  "milestone.create title",
  "repository.transfer new_owner",
  ...["add-dependency", "remove-dependency", "add-block", "remove-block"].flatMap(
    (name) => ["index", "owner", "repo"].map((member) => `issue.${name} ${member}`)
  )
]);
function bindParams(operation, given) {
  const params = {};
  for (const [name, schema] of Object.entries(operation.params.shape)) {
    const text = given[name] ?? "";
    const isEither = schema instanceof z.ZodUnion;
    if (schema instanceof z.ZodNumber) params[name] = readInteger(text) ?? 0;
    else params[name] = isEither ? readInteger(text) ?? text : text;
  }
  return params;
}
function bindQuery(operation, query) {
  const values = {};
  for (const [name, schema] of Object.entries(operation.query?.shape ?? {})) {
    const value = readQueryValue(unwrap(schema), query, name);
    if (value !== void 0) values[name] = value;
  }
  return values;
}
function readQueryValue(schema, query, name) {
  const first = query.get(name);
  if (first === null) return void 0;
  if (schema instanceof z.ZodArray) {
    const isNumeric = schema.element instanceof z.ZodNumber;
    return isNumeric ? query.getAll(name).map((text) => readInteger(text) ?? 0) : query.getAll(name);
  }
  if (schema instanceof z.ZodNumber) return readInteger(first);
  if (schema instanceof z.ZodBoolean) return first === "" ? void 0 : trueTexts.has(first);
  return first;
}
var trueTexts = /* @__PURE__ */ new Set(["1", "t", "T", "TRUE", "true", "True", "on"]);
function readInteger(text) {
  const number = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : void 0;
}
function bindBody(operation, bytes) {
  if (!operation.body) return void 0;
  return bind(operation.body, parseBody(bytes), { operation, name: "" });
}
function bind(schema, value, place) {
  if (schema instanceof z.ZodObject) return bindObject(schema, value, place);
  if (schema instanceof z.ZodOptional) return bind(schema.unwrap(), value, place);
  if (schema instanceof z.ZodNullable) return bind(schema.unwrap(), value, place);
  if (schema instanceof z.ZodArray) return bindList(schema.element, value, place);
  if (schema instanceof z.ZodUnion) return bindUnion(schema.options, value, place);
  if (schema instanceof z.ZodRecord) return bindRecord(schema.valueType, value, place);
  const result = schema.safeParse(value);
  if (!result.success) throw refused(place, "wrong type or value");
  return result.data;
}
function bindObject(schema, value, place) {
  if (!isRecord(value)) throw refused(place, "not an object");
  const bound = {};
  for (const [name, member] of Object.entries(schema.shape)) {
    const inner = { ...place, name };
    const given = Object.hasOwn(value, name) ? value[name] : void 0;
    const isRequired = !(member instanceof z.ZodOptional) && !mayBeMissing.has(`${place.operation.id} ${name}`);
    if (isRequired && isZero(given)) throw refused(inner, "Required");
    if (given !== void 0 && given !== null) bound[name] = bind(member, given, inner);
    else if (!(member instanceof z.ZodOptional)) bound[name] = emptyOf(member);
  }
  return bound;
}
function emptyOf(member) {
  if (member instanceof z.ZodNumber) return 0;
  return member instanceof z.ZodString ? "" : [];
}
function bindList(element, value, place) {
  if (!Array.isArray(value)) throw refused(place, "not a list");
  return value.map((item) => bind(element, item, place));
}
function bindUnion(options2, value, place) {
  if (!Array.isArray(value)) throw refused(place, "not a list");
  const cut = value.map((item) => typeof item === "number" ? Math.trunc(item) : item);
  for (const option of options2) {
    const result = option.safeParse(cut);
    if (result.success) return result.data;
  }
  throw new ForgeProblem(400, `[${place.name}]: must be all numbers or all texts`);
}
function bindRecord(valueType, value, place) {
  if (!isRecord(value)) throw refused(place, "not an object");
  const entries = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(entries.map(([name, item]) => [name, bind(valueType, item, { ...place, name })]));
}
function isZero(value) {
  return value === void 0 || value === null || value === "";
}
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function unwrap(schema) {
  return schema instanceof z.ZodOptional ? unwrap(schema.unwrap()) : schema;
}
function refused(place, text) {
  return new ForgeProblem(422, `[${place.name}]: ${text}`);
}

// src/forge/access.ts
var ladder = ["none", "read", "write", "admin", "owner"];
function reaches(held, needed2) {
  return ladder.indexOf(held) >= ladder.indexOf(needed2);
}
var rank = (column) => `CASE ${column} WHEN 'read' THEN 1 WHEN 'write' THEN 2 WHEN 'admin' THEN 3 WHEN 'owner' THEN 4 ELSE 0 END`;
var ofTeam = (rest) => `CASE WHEN t.permission IN ('admin', 'owner') THEN 4 ELSE ${rest} END`;
var inUnit = `CASE WHEN t.units_map = '{}' THEN ${rank("t.permission")}
  ELSE ${rank(`json_extract(t.units_map, '$."repo.' || :unit || '"')`)} END`;
var inAnyUnit = `CASE WHEN EXISTS (SELECT 1 FROM json_each(t.units_map) WHERE value <> 'none') THEN 1
  ELSE ${rank("t.permission")} END`;
var ranksOfMember = (
  /* sql */
  `
SELECT coalesce(max(whole), 0) AS whole, coalesce(max(unit), 0) AS unit, coalesce(max(any_unit), 0) AS any_unit FROM (
  SELECT ${rank("permission")} AS whole, ${rank("permission")} AS unit, ${rank("permission")} AS any_unit
  FROM collaborators WHERE repo_id = :repository AND user_id = :user
  UNION ALL
  SELECT ${ofTeam(rank("t.permission"))}, ${ofTeam(inUnit)}, ${ofTeam(inAnyUnit)}
  FROM team_members m JOIN teams t ON t.id = m.team_id
  WHERE m.user_id = :user AND m.org_id = :owner AND (t.includes_all_repositories = 1
    OR EXISTS (SELECT 1 FROM team_repositories r WHERE r.team_id = t.id AND r.repo_id = :repository))
)`.replaceAll(":repository", "?1").replaceAll(":user", "?2").replaceAll(":owner", "?3").replaceAll(":unit", "?4")
);
function permissionOf(db, user, repository, owner, unit) {
  if (user && (user.is_admin || user.id === owner.id)) return "owner";
  const open3 = isOpen(db, user, repository, owner);
  if (!user) return open3 ? "read" : "none";
  const row = db.get(ranksOfMember, repository.id, user.id, owner.id, unit ?? "");
  const granted = ladder[(unit ? row?.unit : row?.whole) ?? 0] ?? "none";
  return granted === "none" && open3 ? "read" : granted;
}
function canSee(db, user, repository, owner) {
  if (user && (user.is_admin || user.id === owner.id)) return true;
  if (isOpen(db, user, repository, owner)) return true;
  if (!user) return false;
  const row = db.get(ranksOfMember, repository.id, user.id, owner.id, "");
  return row !== void 0 && Math.max(row.whole, row.any_unit) > 0;
}
function isOpen(db, user, repository, owner) {
  return !repository.is_private && isVisible(db, owner, user) && !user?.is_restricted;
}
function isVisible(db, subject, caller) {
  if (subject.visibility === "public") return !caller?.is_restricted || isMember(db, subject, caller);
  if (!caller) return false;
  if (caller.is_admin || caller.id === subject.id) return true;
  if (subject.visibility === "limited" && !caller.is_restricted) return true;
  return isMember(db, subject, caller);
}
function isMember(db, organization, user) {
  const sql = "SELECT 1 AS one FROM team_members WHERE user_id = ? AND org_id = ? LIMIT 1";
  return db.get(sql, user.id, organization.id) !== void 0;
}
function isOrganizationOwner(db, organization, user) {
  if (user.is_admin) return true;
  const sql = `SELECT 1 AS one FROM team_members m JOIN teams t ON t.id = m.team_id
    WHERE m.user_id = ? AND m.org_id = ? AND t.permission = 'owner' LIMIT 1`;
  return db.get(sql, user.id, organization.id) !== void 0;
}
function canCreateRepositoryIn(db, organization, user) {
  if (user.is_admin) return true;
  const sql = `SELECT 1 AS one FROM team_members m JOIN teams t ON t.id = m.team_id
    WHERE m.user_id = ? AND m.org_id = ? AND (t.can_create_org_repo = 1 OR t.permission = 'owner') LIMIT 1`;
  return db.get(sql, user.id, organization.id) !== void 0;
}
function readableCondition(caller) {
  if (!caller) return { sql: `(r.is_private = 0 AND o.visibility = 'public')`, values: [] };
  if (caller.is_admin) return { sql: "1", values: [] };
  const open3 = caller.is_restricted ? "0" : `(r.is_private = 0 AND (o.visibility <> 'private' OR EXISTS (
        SELECT 1 FROM team_members v WHERE v.user_id = ? AND v.org_id = o.id)))`;
  const sql = `(${open3} OR r.owner_id = ?
    OR EXISTS (SELECT 1 FROM collaborators c WHERE c.repo_id = r.id AND c.user_id = ?)
    OR EXISTS (SELECT 1 FROM team_members m JOIN teams t ON t.id = m.team_id
      WHERE m.user_id = ? AND m.org_id = r.owner_id AND (t.includes_all_repositories = 1
        OR EXISTS (SELECT 1 FROM team_repositories x WHERE x.team_id = t.id AND x.repo_id = r.id))))`;
  const { id } = caller;
  return { sql, values: caller.is_restricted ? [id, id, id] : [id, id, id, id] };
}

// src/forge/moved.ts
var suffix = /(\.wiki)?(\.git)?$/i;
var Moved = class extends Error {
  from;
  to;
  /** The neighbouring segments of the path that are old, and what takes their place. */
  constructor(from, to) {
    super(`moved to ${to.join("/")}`);
    this.from = from;
    this.to = to;
  }
  /** Returns an address with the new names in it; everything else arrives as it was sent. */
  locationOf(url) {
    const mark2 = url.indexOf("?");
    const segments = (mark2 < 0 ? url : url.slice(0, mark2)).split("/");
    const start = url.startsWith("/api/v1/") ? 4 : 1;
    for (let at = start; at + this.from.length <= segments.length; at += 1) {
      const here = segments.slice(at, at + this.from.length);
      if (!here.every((segment, part) => nameIn(segment) === this.from[part]?.toLowerCase())) continue;
      const ending = suffix.exec(here.at(-1) ?? "")?.[0] ?? "";
      const names = this.to.map((name) => encodeURIComponent(name));
      segments.splice(at, here.length, ...names.slice(0, -1), `${names.at(-1)}${ending}`);
      break;
    }
    return segments.join("/") + (mark2 < 0 ? "" : url.slice(mark2));
  }
};
function nameIn(segment) {
  try {
    return decodeURIComponent(segment).replace(suffix, "").toLowerCase();
  } catch {
    return "";
  }
}
function userNamed(db, name) {
  return db.get("SELECT * FROM users WHERE lower_name = ? AND id > 0", name.toLowerCase());
}
function accountNamed(db, name, caller) {
  const account = userNamed(db, name);
  if (account) return account;
  const now = db.get(
    "SELECT u.* FROM account_redirects a JOIN users u ON u.id = a.user_id WHERE a.lower_name = ?",
    name.toLowerCase()
  );
  if (now && (caller || now.visibility === "public")) throw new Moved([name], [now.name]);
  throw new ForgeProblem(404, "user does not exist");
}

// src/forge/scopes.ts
var categories = [
  "activitypub",
  "admin",
  "issue",
  "misc",
  "notification",
  "organization",
  "package",
  "repository",
  "user"
];
var known = /* @__PURE__ */ new Set([
  "all",
  "public-only",
  ...categories.flatMap((category) => [`read:${category}`, `write:${category}`])
]);
function normalizeScopes(scopes) {
  const unknown = scopes.find((scope) => !known.has(scope));
  if (unknown !== void 0) return { unknown };
  const given = new Set(scopes);
  const implied = (scope) => scope !== "public-only" && (given.has("all") && scope !== "all" || scope.startsWith("read:") && given.has(scope.replace("read:", "write:")));
  return { scopes: [...given].filter((scope) => !implied(scope)).sort() };
}
function coversScopes(held, wanted) {
  if (held.includes("public-only") && !wanted.includes("public-only")) return false;
  return wanted.every(
    (scope) => scope === "public-only" || held.includes("all") || held.includes(scope) || scope.startsWith("read:") && held.includes(scope.replace("read:", "write:"))
  );
}
function lackingScopes(operation, held) {
  const level = levelOf(operation.method);
  return operation.scopes.filter((category) => !coversScopes(held.filter(isNoLimit), [`${level}:${category}`])).map((category) => `${level}:${category}`);
}
function levelOf(method) {
  return method === "GET" ? "read" : "write";
}
function isNoLimit(scope) {
  return scope !== "public-only";
}

// src/forge/settings.ts
var defaultSettings = {
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
  default_merge_style: "merge",
  default_update_style: "merge",
  has_actions: true,
  has_code: true,
  has_issues: true,
  has_packages: true,
  has_projects: true,
  has_pull_requests: true,
  has_releases: true,
  has_wiki: true,
  ignore_whitespace_conflicts: false,
  projects_mode: "all",
  internal_tracker: {
    enable_time_tracker: true,
    allow_only_contributors_to_track_time: true,
    enable_issue_dependencies: true
  },
  external_tracker: void 0,
  external_wiki: void 0
};
function settingsOf(repository) {
  return { ...defaultSettings, ...JSON.parse(repository.settings) };
}
function mergeSettings(repository, edit2) {
  const merged = { ...settingsOf(repository) };
  for (const name of Object.keys(defaultSettings)) {
    if (edit2[name] !== void 0 && edit2[name] !== null) merged[name] = edit2[name];
  }
  return JSON.stringify(merged);
}

// src/forge/team-access.ts
function findTeam(db, id) {
  const known2 = Number.isSafeInteger(id) ? id : 0;
  const team = found(db.get("SELECT * FROM teams WHERE id = ?", known2));
  const organization = found(db.get("SELECT * FROM users WHERE id = ?", team.org_id));
  return { team, organization };
}
function isInTeam(db, team, user) {
  const sql = "SELECT 1 AS one FROM team_members WHERE team_id = ? AND user_id = ?";
  return db.get(sql, team.id, user.id) !== void 0;
}
function guardTeam(db, operation, target, user) {
  const { team, organization } = target;
  if (user.is_admin) return;
  if (operation.access === "owner") {
    if (!isOrganizationOwner(db, organization, user))
      throw new ForgeProblem(403, "Must be an organization owner");
    return;
  }
  if (isOrganizationOwner(db, organization, user) || isInTeam(db, team, user)) return;
  const isColleague = isMember(db, organization, user);
  const isRead = operation.method === "GET";
  if (!isRead || !canReadTeam(db, target, user)) {
    throw isColleague ? new ForgeProblem(403, "Must be a team member") : new ForgeProblem(404, "not found");
  }
  if (operation.access === "member" && !isColleague)
    throw new ForgeProblem(403, "Must be an organization member");
}
function canReadTeam(db, { team, organization }, user) {
  if (team.visibility === "public") return isVisible(db, organization, user);
  return team.visibility === "limited" && isMember(db, organization, user);
}

// src/forge/units.ts
var unitNames = [
  "repo.code",
  "repo.issues",
  "repo.pulls",
  "repo.releases",
  "repo.wiki",
  "repo.ext_wiki",
  "repo.ext_issues",
  "repo.projects",
  "repo.packages",
  "repo.actions"
];
var inCode = /^\/repos\/\{owner\}\/\{repo\}\/(branches|contents|commits|compare|git|statuses|tags|raw)\b/;
function unitOf(operation, isPull) {
  const { path, scopes } = operation;
  if (/\/wiki\//.test(path)) return "wiki";
  if (/^\/repos\/\{owner\}\/\{repo\}\/pulls\b/.test(path)) return "pulls";
  if (scopes.includes("issue")) return isPull ? "pulls" : "issues";
  return inCode.test(path) ? "code" : void 0;
}

// src/forge/lookup.ts
function guard(db, operation, params, actor) {
  guardScopes(operation, actor);
  if (/^\/user(\/|$)/.test(operation.path)) requireUser(actor);
  const target = findTarget(db, operation, params, actor);
  const isArchived = target.kind === "repository" && target.repository.archived_at > 0;
  const refuse4 = isArchived && operation.errors.includes(423);
  if (refuse4 && /\/wiki\/page\//.test(operation.path)) throw archived(target);
  guardRole(db, operation, actor, target);
  if (refuse4 && !bindsFirst(operation)) throw archived(target);
  return target;
}
function guardAfterBody(operation, target) {
  const isArchived = target.kind === "repository" && target.repository.archived_at > 0;
  if (isArchived && operation.errors.includes(423) && bindsFirst(operation)) throw archived(target);
}
function bindsFirst(operation) {
  return /\/(branch|tag)_protections/.test(operation.path);
}
function archived(target) {
  return new ForgeProblem(423, `${target.owner.name}/${target.repository.name} is archived`);
}
var closedToPublicOnly = /^\/(notifications|user\/(hooks|applications|settings|emails|actions))/;
function guardScopes(operation, actor) {
  if (!actor.scopes) return;
  const lacking = lackingScopes(operation, actor.scopes);
  if (lacking.length > 0) {
    const scopes = lacking.join(", ");
    throw new ForgeProblem(403, `token does not have at least one of required scope(s): ${scopes}`);
  }
  if (actor.scopes.includes("public-only") && closedToPublicOnly.test(operation.path)) {
    throw new ForgeProblem(403, "this token is limited to public resources");
  }
}
function findTarget(db, operation, params, actor) {
  const isPublicOnly = actor.scopes?.includes("public-only") === true;
  if (params.owner !== void 0 && params.repo !== void 0) {
    const target = findRepository(db, params.owner, params.repo, actor.user);
    if (isPublicOnly && target.repository.is_private) throw new ForgeProblem(404, "not found");
    guardUnits(operation, target.repository);
    return { kind: "repository", ...inUnit2(db, operation, params, actor.user, target) };
  }
  if (operation.path.startsWith("/teams/")) {
    const target = findTeam(db, Number(params.id));
    if (isPublicOnly && target.organization.visibility !== "public")
      throw new ForgeProblem(403, "token is public-only");
    return { kind: "team", ...target };
  }
  if (params.username !== void 0 && /^\/(admin\/)?users\//.test(operation.path)) {
    return { kind: "account", account: accountNamed(db, params.username, actor.user) };
  }
  if (params.org !== void 0) {
    const organization = accountNamed(db, params.org, actor.user);
    if (organization.type !== "organization") throw new ForgeProblem(404, "not found");
    if (isPublicOnly && organization.visibility !== "public")
      throw new ForgeProblem(403, "token is public-only");
    return { kind: "organization", organization };
  }
  return { kind: "none" };
}
function inUnit2(db, operation, params, caller, target) {
  const number = Number(params.index);
  const sql = "SELECT is_pull FROM issues WHERE repo_id = ? AND number = ?";
  const issue = Number.isSafeInteger(number) ? db.get(sql, target.repository.id, number) : void 0;
  const unit = unitOf(operation, issue?.is_pull === 1);
  if (unit === void 0) return target;
  const permission = permissionOf(db, caller, target.repository, target.owner, unit);
  if (permission !== "none") return { ...target, permission };
  const status = unit === "code" ? 403 : 404;
  throw new ForgeProblem(status, status === 404 ? "not found" : "user should have read access to the code");
}
function findRepository(db, ownerName, name, caller, unit) {
  const owner = accountNamed(db, ownerName, caller);
  const repository = db.get(
    "SELECT * FROM repositories WHERE owner_id = ? AND lower_name = ?",
    owner.id,
    name.toLowerCase()
  ) ?? moved(db, owner, name);
  if (!canSee(db, caller, repository, owner)) throw new ForgeProblem(404, "not found");
  return { repository, owner, permission: permissionOf(db, caller, repository, owner, unit) };
}
function moved(db, owner, oldName) {
  const now = db.get(
    `SELECT u.name AS owner, r.name AS name FROM redirects d JOIN repositories r ON r.id = d.repo_id
     JOIN users u ON u.id = r.owner_id WHERE d.owner_id = ? AND d.lower_name = ?`,
    owner.id,
    oldName.toLowerCase()
  );
  if (now) throw new Moved([owner.name, oldName], [now.owner, now.name]);
  throw new ForgeProblem(404, "not found");
}
function guardUnits(operation, repository) {
  const { has_issues, has_pull_requests, has_wiki, external_wiki } = settingsOf(repository);
  if (/\/wiki\//.test(operation.path) && (!has_wiki || external_wiki))
    throw new ForgeProblem(404, "not found");
  const isAboutIssues = operation.scopes.includes("issue");
  if (isAboutIssues && !has_issues && !has_pull_requests) throw new ForgeProblem(404, "not found");
  if (operation.id === "issue.create" && !has_issues) throw new ForgeProblem(404, "not found");
  if (operation.path.startsWith("/repos/{owner}/{repo}/pulls") && !has_pull_requests) {
    throw new ForgeProblem(404, "not found");
  }
}
function requireUser(actor) {
  if (!actor.user) throw new ForgeProblem(401, "token is required");
}
var needed = { writer: "write", admin: "admin", owner: "owner" };
function guardRole(db, operation, actor, target) {
  const { access, method } = operation;
  const mayBeAnonymous = access === "anyone" || access === "reader" && method === "GET";
  if (!mayBeAnonymous) requireUser(actor);
  if (access === "site" && !actor.user?.is_admin)
    throw new ForgeProblem(403, "user should be the site admin");
  if (target.kind === "repository" && !reaches(target.permission, needed[access] ?? "read")) {
    throw new ForgeProblem(403, `user should be ${access} of the repository`);
  }
  if (target.kind === "organization") guardOrganization(db, operation, target.organization, actor.user);
  if (target.kind === "team" && actor.user) guardTeam(db, operation, target, actor.user);
  if (target.kind === "account") guardAccount(db, operation, target.account, actor.user);
}
function guardOrganization(db, operation, organization, user) {
  const { access, path } = operation;
  const isHidden = access === "owner" || access === "member" ? /\/((public_)?members|labels|repos)\b/.test(path) : true;
  if (isHidden && !isVisible(db, organization, user)) throw new ForgeProblem(404, "not found");
  if (user?.is_admin) return;
  if (access === "owner" && !(user && isOrganizationOwner(db, organization, user)))
    throw new ForgeProblem(403, "Must be an organization owner");
  if (access === "member" && !(user && isMember(db, organization, user)))
    throw new ForgeProblem(403, "Must be an organization member");
}
function guardAccount(db, operation, account, user) {
  if (operation.access === "self") {
    if (!user?.is_admin && user?.id !== account.id) {
      throw new ForgeProblem(403, "doer should be the site admin or be same as the contextUser");
    }
  } else if (operation.access !== "site" && !isVisible(db, account, user)) {
    throw new ForgeProblem(404, "not found");
  }
}

// src/forge/paging.ts
var defaultLimit = 30;
var maxLimit = 50;
function readPage(query) {
  const page2 = Math.max(1, readNumber(query.get("page")));
  const wanted = readNumber(query.get("limit"));
  const limit = wanted <= 0 ? defaultLimit : Math.min(wanted, maxLimit);
  return { page: page2, limit, offset: (page2 - 1) * limit };
}
function readNumber(text) {
  if (text === null || !/^[+-]?\d{1,12}$/.test(text)) return 0;
  return Number(text);
}
function pageHeaders(options2) {
  const { total, page: page2, address } = options2;
  const links = options2.links ? linkValues(address, page2, Math.ceil(total / page2.limit)) : [];
  const headers = {};
  if (links.length > 0) headers.Link = links.join(",");
  headers["X-Total-Count"] = String(total);
  headers["Access-Control-Expose-Headers"] = Object.keys(headers).join(", ");
  return headers;
}
function linkValues(address, page2, last) {
  const link = (to, relation) => {
    const there = new URL(address);
    there.searchParams.set("page", String(to));
    there.searchParams.sort();
    return `<${there.href}>; rel="${relation}"`;
  };
  const links = [];
  if (page2.page < last) links.push(link(page2.page + 1, "next"), link(last, "last"));
  if (page2.page > 1 && last > 0)
    links.push(link(1, "first"), link(Math.min(page2.page, last + 1) - 1, "prev"));
  return links;
}

// src/forge/uploads.ts
import { posix } from "node:path";
async function readUpload(part, request2) {
  const { contentType = "", bytes } = request2;
  if (!/^multipart\/form-data\s*;/i.test(contentType) || !bytes) {
    throw new ForgeProblem(400, `the file must come as multipart/form-data in the part "${part}"`);
  }
  const form = await parseForm(contentType, bytes);
  const file = form.get(part);
  if (!(file instanceof File)) throw new ForgeProblem(400, `http: no such file: ${part}`);
  const name = posix.basename(file.name.replaceAll("\\", "/"));
  return { name, bytes: new Uint8Array(await file.arrayBuffer()) };
}
async function parseForm(contentType, bytes) {
  try {
    return await new Response(new Uint8Array(bytes), { headers: { "content-type": contentType } }).formData();
  } catch (error) {
    throw new ForgeProblem(
      400,
      `the multipart body cannot be read: ${error instanceof Error ? error.message : ""}`
    );
  }
}

// src/forge/answer.ts
var json = "application/json;charset=utf-8";
function createAnswer(context, operation, handler, readActor) {
  return async (request2, reply) => {
    reply.header("cache-control", "max-age=0, private, must-revalidate");
    const query = new URLSearchParams(request2.url.split("?").slice(1).join("?"));
    if (queryTokenOf(query)) reply.header("x-gitea-warning", "tokens in the query are deprecated");
    try {
      const actor = await readActor(credentialsOf(request2, query));
      return await perform({ context, operation, handler, request: request2, reply, query, actor });
    } catch (error) {
      return sendFailure(context, request2, reply, error);
    }
  };
}
async function perform(passage) {
  const { context, operation, handler, request: request2, reply, query, actor } = passage;
  const given = paramsOf(operation, request2);
  const target = guard(context.db, operation, given, actor);
  const body = bindBody(operation, Buffer.isBuffer(request2.body) ? request2.body : void 0);
  guardAfterBody(operation, target);
  const page2 = readPage(query);
  const said = { status: operation.success, headers: {} };
  const call = {
    ...target,
    params: bindParams(operation, given),
    query: bindQuery(operation, query),
    body,
    caller: actor.user,
    actor,
    page: page2,
    context,
    upload: () => readUpload(operation.upload ?? "", sentBy(request2)),
    reply: createReply(said, passage, page2)
    // The row decides which members a call has; `Call` derives the same from the row's type.
  };
  const result = await handler(call);
  reply.code(said.status).headers(said.headers);
  if (result === void 0) return reply.send();
  if (operation.media === "text") return reply.type("text/plain; charset=utf-8").send(result);
  return reply.type(json).send(JSON.stringify(result));
}
function createReply(said, { context, operation, request: request2 }, page2) {
  return {
    status(code) {
      said.status = code;
    },
    header(name, value) {
      said.headers[name] = value;
    },
    total(count) {
      if (operation.paging === "body") return;
      const address = new URL(request2.url, `${context.rootUrl()}/`);
      const links = operation.paging === "link";
      Object.assign(said.headers, pageHeaders({ total: count, page: page2, links, address }));
    }
  };
}
function sentBy(request2) {
  const bytes = Buffer.isBuffer(request2.body) ? request2.body : void 0;
  return { contentType: request2.headers["content-type"], bytes };
}
function queryTokenOf(query) {
  return query.get("token") || query.get("access_token") || void 0;
}
function credentialsOf(request2, query) {
  const sudo = query.get("sudo") ?? request2.headers.sudo;
  return {
    authorization: request2.headers.authorization,
    queryToken: queryTokenOf(query),
    sudo: typeof sudo === "string" && sudo !== "" ? sudo : void 0
  };
}
function paramsOf(operation, request2) {
  const given = { ...request2.params };
  const rest = /\{(\w+)\*\}$/.exec(operation.path)?.[1];
  if (rest !== void 0) given[rest] = given["*"] ?? "";
  if ("pageName" in given) given.pageName = /\/([^/?]*)\/?(\?|$)/.exec(request2.url)?.[1] ?? "";
  return given;
}
function sendFailure(context, request2, reply, error) {
  if (error instanceof Moved) return reply.code(301).header("location", error.locationOf(request2.url)).send();
  const problem = error instanceof ForgeProblem ? error : new ForgeProblem(500, "");
  if (problem.status >= 500) {
    const [path] = request2.url.split("?");
    context.log.error({ err: error, method: request2.method, path }, "the forge failed to answer");
  }
  const body = problemBody(problem, context.rootUrl());
  return body === void 0 ? reply.code(problem.status).send() : reply.code(problem.status).type(json).send(body);
}

// src/forge/actor.ts
import { createHash as createHash2 } from "node:crypto";

// src/forge/instants.ts
var yearOne = "0001-01-01T00:00:00Z";
var epoch = "1970-01-01T00:00:00Z";
function secondsOf(date) {
  return Math.floor(date.getTime() / 1e3);
}
function toInstant(seconds) {
  return new Date(seconds * 1e3).toISOString().replace(".000Z", "Z");
}
function toInstantOrNull(seconds) {
  return seconds === 0 ? null : toInstant(seconds);
}
var rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
function parseInstant(text, options2 = {}) {
  if (text === void 0 || text === "") return void 0;
  const time = rfc3339.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time))
    throw new ForgeProblem(options2.status ?? 422, `parsing time "${text}": not RFC 3339`);
  return Math.floor(time / 1e3);
}
var secondsOfDay = 24 * 60 * 60;
function toEndOfDay(seconds) {
  return seconds === 0 ? 0 : Math.floor(seconds / secondsOfDay) * secondsOfDay + secondsOfDay - 1;
}

// src/forge/oauth2-tokens.ts
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify
} from "node:crypto";
var accessSeconds = 3600;
var refreshSeconds = 730 * 3600;
var keys = /* @__PURE__ */ new WeakMap();
function privateKeyOf({ db, clock }) {
  const known2 = keys.get(db);
  if (known2) return known2;
  const row = db.get(`SELECT private_key FROM signing_keys WHERE name = 'oauth2'`);
  const key = row ? createPrivateKey(row.private_key) : makeKey({ db, clock });
  keys.set(db, key);
  return key;
}
function makeKey({ db, clock }) {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  db.run(
    `INSERT INTO signing_keys (name, private_key, created_at) VALUES ('oauth2', ?, ?)`,
    privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    secondsOf(clock())
  );
  return privateKey;
}
function publicKeyOf(part) {
  const key = createPublicKey(privateKeyOf(part)).export({ format: "jwk" });
  return { ...key, alg: "RS256", use: "sig", kid: "oauth2" };
}
function signToken(part, claims) {
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const body = `${encode({ alg: "RS256", typ: "JWT", kid: "oauth2" })}.${encode(claims)}`;
  return `${body}.${sign("sha256", Buffer.from(body), privateKeyOf(part)).toString("base64url")}`;
}
function signTokens(part, grant) {
  const iat = secondsOf(part.clock());
  const make = (tt, seconds) => signToken(part, { gnt: grant.id, tt, exp: iat + seconds, iat });
  return { access: make(0, accessSeconds), refresh: make(1, refreshSeconds) };
}
function readAccessToken(part, text) {
  return readToken(part, text, 0);
}
function readRefreshToken(part, text) {
  return readToken(part, text, 1);
}
function readToken(part, text, kind) {
  const [head = "", body = "", signature = "", ...more] = text.split(".");
  if (more.length > 0 || signature === "" || !isOurs(part, `${head}.${body}`, signature)) return void 0;
  const claims = JSON.parse(Buffer.from(body, "base64url").toString("utf8"));
  if (claims.gnt === void 0 || claims.tt !== kind) return void 0;
  if ((claims.exp ?? 0) <= secondsOf(part.clock())) return void 0;
  return part.db.get("SELECT * FROM oauth2_grants WHERE id = ?", claims.gnt);
}
function isOurs(part, body, signature) {
  const key = createPublicKey(privateKeyOf(part));
  return verify("sha256", Buffer.from(body), key, Buffer.from(signature, "base64url"));
}
var general = /* @__PURE__ */ new Set(["openid", "profile", "email", "groups"]);
function scopesOfGrant(scope) {
  const named = scope.split(" ").filter((word) => word !== "" && !general.has(word));
  if (named.length === 0) return ["all"];
  const normal = normalizeScopes(named);
  return "unknown" in normal ? ["all"] : normal.scopes;
}

// src/forge/passwords.ts
import { createHash, randomBytes as randomBytes2, scrypt } from "node:crypto";
import { promisify } from "node:util";
var derive = promisify(scrypt);
async function hashPassword(password) {
  const salt = randomBytes2(16);
  const key = await derive(password, salt, 32);
  return `scrypt$${salt.toString("hex")}$${key.toString("hex")}`;
}
function createPasswordCheck(capacity = 1e3) {
  const right = /* @__PURE__ */ new Set();
  return async (password, hash) => {
    const digest = createHash("sha256").update(`${hash}\0${password}`).digest("hex");
    if (right.has(digest)) return true;
    if (!await isPassword(password, hash)) return false;
    if (right.size >= capacity) right.clear();
    right.add(digest);
    return true;
  };
}
async function isPassword(password, hash) {
  const [scheme, salt, key] = hash.split("$");
  if (scheme !== "scrypt" || salt === void 0 || key === void 0) return false;
  const derived = await derive(password, Buffer.from(salt, "hex"), 32);
  return isSameSecret(derived, Buffer.from(key, "hex"));
}

// src/forge/actor.ts
var anonymous = { user: void 0, scopes: void 0, token: void 0, isBasic: false };
function digestOf(token) {
  return createHash2("sha256").update(token).digest("hex");
}
function createActorReader(context) {
  const { db, clock } = context;
  const isPassword2 = createPasswordCheck();
  function userNamed2(name) {
    return db.get("SELECT * FROM users WHERE lower_name = ?", name.toLowerCase());
  }
  function byToken(text, isBasic) {
    if (text.includes(".")) return byGrant(text, isBasic);
    const token = db.get("SELECT * FROM tokens WHERE digest = ?", digestOf(text));
    if (!token) return void 0;
    const now = secondsOf(clock());
    if (now - token.last_used_at >= 60)
      db.run("UPDATE tokens SET last_used_at = ? WHERE id = ?", now, token.id);
    const user = db.get("SELECT * FROM users WHERE id = ?", token.user_id);
    return user && { user, scopes: JSON.parse(token.scopes), token, isBasic };
  }
  function byGrant(text, isBasic) {
    const grant = readAccessToken({ db, clock }, text);
    const user = grant && db.get("SELECT * FROM users WHERE id = ?", grant.user_id);
    return user && { user, scopes: scopesOfGrant(grant.scope), token: void 0, isBasic };
  }
  async function byBasic(encoded) {
    const decoded2 = Buffer.from(encoded, "base64").toString("utf8");
    const colon = decoded2.indexOf(":");
    if (colon < 0) return anonymous;
    const [name, password] = [decoded2.slice(0, colon), decoded2.slice(colon + 1)];
    const token = password === "" || password === "x-oauth-basic" ? name : password;
    const actor = byToken(token, true);
    if (actor) return actor;
    const user = userNamed2(name) ?? userByEmail(name);
    if (!user || !await isPassword2(password, user.password_hash)) throw unauthorized();
    return { user, scopes: void 0, token: void 0, isBasic: true };
  }
  function userByEmail(email) {
    if (!email.includes("@")) return void 0;
    return db.get(
      `SELECT * FROM users WHERE lower(email) = ? AND email <> '' AND type = 'user'`,
      email.toLowerCase()
    );
  }
  async function byHeader(header) {
    const words = header.split(" ");
    const [scheme = "", value = ""] = words;
    if (words.length !== 2) return anonymous;
    if (/^(token|bearer)$/i.test(scheme)) return found2(byToken(value, false));
    return /^basic$/i.test(scheme) ? byBasic(value) : anonymous;
  }
  return async ({ authorization, queryToken, sudo }) => {
    const actor = queryToken ? { ...found2(byToken(queryToken, false)), isQuery: true } : authorization ? await byHeader(authorization) : anonymous;
    if (actor.user) refuseBlockedAccount(actor.user);
    if (!sudo || !actor.user) return actor;
    if (!actor.user.is_admin) throw new ForgeProblem(403, "Only administrators allowed to sudo.", "message");
    const other = userNamed2(sudo);
    if (!other) throw new ForgeProblem(404, "user does not exist");
    return { ...actor, user: other };
  };
}
function found2(actor) {
  if (!actor) throw unauthorized();
  return actor;
}
function unauthorized() {
  return new ForgeProblem(401, "user does not exist or the credentials are wrong");
}
function refuseBlockedAccount(user) {
  if (!user.is_active || user.prohibit_login) {
    throw new ForgeProblem(403, "This account is prohibited from signing in.", "message");
  }
  if (user.must_change_password) {
    throw new ForgeProblem(403, "You must change your password first.", "message");
  }
}

// src/forge/payloads.ts
function issuePayload(event) {
  return {
    action: event.action,
    number: event.number,
    ...changesOf(event.changes),
    issue: event.issue,
    repository: event.repository,
    sender: event.sender,
    commit_id: event.commitId ?? ""
  };
}
function commentPayload(event) {
  return {
    action: event.action,
    issue: event.issue,
    ...event.pullRequest === void 0 ? {} : { pull_request: event.pullRequest },
    comment: event.comment,
    ...changesOf(event.changes),
    repository: event.repository,
    sender: event.sender,
    is_pull: event.pullRequest !== void 0
  };
}
function pullPayload(event) {
  return {
    action: event.action,
    ...event.before === void 0 ? {} : { before: event.before },
    ...event.after === void 0 ? {} : { after: event.after },
    number: event.number,
    ...changesOf(event.changes),
    pull_request: event.pullRequest,
    requested_reviewer: event.requestedReviewer ?? null,
    repository: event.repository,
    sender: event.sender,
    commit_id: event.commitId ?? "",
    review: event.review ?? null
  };
}
function changesOf(changes) {
  if (changes === void 0) return {};
  const texts = Object.entries(changes).map(([name, from]) => [name, { from }]);
  return { changes: { ...Object.fromEntries(texts), added_labels: null, removed_labels: null } };
}
function pushPayload(event) {
  return {
    ref: event.ref,
    before: event.before,
    after: event.after,
    compare_url: event.compareUrl,
    commits: event.commits,
    total_commits: event.totalCommits,
    head_commit: event.headCommit,
    repository: event.repository,
    pusher: event.sender,
    sender: event.sender
  };
}
function createPayload(event) {
  return {
    sha: event.sha,
    ref: event.ref,
    ref_type: event.refType,
    repository: event.repository,
    sender: event.sender
  };
}
function deletePayload(event) {
  return {
    ref: event.ref,
    ref_type: event.refType,
    pusher_type: "user",
    repository: event.repository,
    sender: event.sender
  };
}
function forkPayload(event) {
  return { forkee: event.source, repository: event.fork, sender: event.sender };
}
function repositoryPayload(event) {
  return {
    action: event.action,
    repository: event.repository,
    organization: event.owner,
    sender: event.sender
  };
}
function wikiPayload(event) {
  return {
    action: event.action,
    repository: event.repository,
    sender: event.sender,
    page: event.page,
    comment: event.comment
  };
}

// src/forge/resources/attachment.ts
function toAttachment(context, attachment) {
  return {
    id: attachment.id,
    name: attachment.name,
    size: attachment.size,
    download_count: attachment.num_downloads,
    created_at: toInstant(attachment.created_at),
    uuid: attachment.uuid,
    browser_download_url: `${context.rootUrl()}/attachments/${attachment.uuid}`
  };
}
function loadAttachments(context, holder, ids) {
  const among = "IN (SELECT value FROM json_each(?))";
  const where = holder === "issue" ? `issue_id ${among} AND comment_id IS NULL` : `comment_id ${among}`;
  const sql = `SELECT * FROM attachments WHERE ${where} ORDER BY id`;
  const rows = context.db.all(sql, JSON.stringify(ids));
  return Map.groupBy(rows, (row) => holder === "issue" ? row.issue_id : row.comment_id ?? 0);
}

// src/forge/resources/label.ts
function toLabel(context, label, { repository, owner }) {
  const api = `${context.rootUrl()}/api/v1`;
  const isOwn = label.repo_id !== null && repository !== void 0;
  const holder = isOwn ? `repos/${owner.name}/${repository.name}` : `orgs/${owner.name}`;
  return {
    id: label.id,
    name: label.name,
    exclusive: label.exclusive === 1,
    is_archived: label.archived_at > 0,
    color: label.color,
    description: label.description,
    url: `${api}/${holder}/labels/${label.id}`
  };
}
function loadLabels(context, issueIds) {
  const rows = context.db.all(
    `SELECT l.*, i.issue_id FROM issue_labels i JOIN labels l ON l.id = i.label_id
     WHERE i.issue_id IN (SELECT value FROM json_each(?)) ORDER BY l.name, l.id`,
    JSON.stringify(issueIds)
  );
  return Map.groupBy(rows, (row) => row.issue_id);
}

// src/forge/resources/milestone.ts
function toMilestone(milestone) {
  const state = milestone.is_closed ? "closed" : "open";
  return {
    id: milestone.id,
    title: milestone.title,
    description: milestone.description,
    state,
    open_issues: milestone.num_open,
    closed_issues: milestone.num_closed,
    created_at: toInstant(milestone.created_at),
    updated_at: toInstantOrNull(milestone.updated_at),
    closed_at: toInstantOrNull(milestone.closed_at),
    due_on: toInstantOrNull(milestone.due_at)
  };
}

// src/forge/resources/user.ts
import { createHash as createHash3 } from "node:crypto";
function toUser(context, user, viewer) {
  const isInsider = viewer !== void 0 && (viewer.is_admin === 1 || viewer.id === user.id);
  return toShape(context, user, { seesAddress: viewer !== void 0, isInsider });
}
function toOwner(context, owner, permission) {
  return toShape(context, owner, { seesAddress: permission !== "none", isInsider: false });
}
function toShape(context, user, { seesAddress, isInsider }) {
  return {
    id: user.id,
    login: user.name,
    login_name: "",
    source_id: 0,
    full_name: user.full_name,
    // An organization without an address shows none.
    email: seesAddress ? user.email : noReplyAddress(user),
    avatar_url: avatarUrl(context, user),
    html_url: `${context.rootUrl()}/${user.name}`,
    language: isInsider ? user.language : "",
    is_admin: isInsider && user.is_admin === 1,
    last_login: isInsider && user.last_login_at > 0 ? toInstant(user.last_login_at) : yearOne,
    created: toInstant(user.created_at),
    restricted: user.is_restricted === 1,
    active: isInsider && user.is_active === 1,
    prohibit_login: isInsider && user.prohibit_login === 1,
    location: user.location,
    website: user.website,
    description: user.description,
    visibility: user.visibility,
    followers_count: 0,
    following_count: 0,
    starred_repos_count: user.num_stars,
    username: user.name
  };
}
function noReplyAddress(user) {
  return `${user.id}+${user.lower_name}@noreply.localhost`;
}
function toOrganization(context, organization) {
  return {
    id: organization.id,
    name: organization.name,
    full_name: organization.full_name,
    email: organization.email,
    avatar_url: avatarUrl(context, organization),
    description: organization.description,
    website: organization.website,
    location: organization.location,
    visibility: organization.visibility,
    repo_admin_change_team_access: organization.repo_admin_change_team_access === 1,
    username: organization.name
  };
}
function avatarUrl(context, user) {
  const hash = createHash3("md5").update(user.email || user.lower_name).digest("hex");
  return `${context.rootUrl()}/avatars/${hash}`;
}
function loadUsers(context, ids) {
  const wanted = JSON.stringify([...new Set(ids)]);
  const rows = context.db.all(
    "SELECT * FROM users WHERE id IN (SELECT value FROM json_each(?))",
    wanted
  );
  return new Map(rows.map((row) => [row.id, row]));
}

// src/forge/resources/issue.ts
function isDraftTitle(title) {
  return /^\s*(wip:|\[wip\])/i.test(title);
}
function issueAddress(context, issue, place) {
  const kind = issue.is_pull ? "pulls" : "issues";
  return `${context.rootUrl()}/${place.owner.name}/${place.repository.name}/${kind}/${issue.number}`;
}
function toIssue(context, issue, place) {
  const [shape] = toIssues(context, [issue], place);
  if (!shape) throw new TypeError("one row gives one issue");
  return shape;
}
function toIssues(context, issues2, place) {
  const loaded = loadRelated(context, issues2);
  return issues2.map((issue) => toShape2(context, issue, place, loaded));
}
function loadRelated(context, issues2) {
  const { db } = context;
  const ids = issues2.map((issue) => issue.id);
  const given = JSON.stringify(ids);
  const assignees = db.all(
    `SELECT issue_id, user_id FROM assignees WHERE issue_id IN (SELECT value FROM json_each(?)) ORDER BY id`,
    given
  );
  const milestones = db.all(
    "SELECT * FROM milestones WHERE id IN (SELECT value FROM json_each(?))",
    JSON.stringify(issues2.map((issue) => issue.milestone_id).filter((id) => id !== null))
  );
  const pulls = issues2.some((issue) => issue.is_pull) ? db.all("SELECT * FROM pulls WHERE issue_id IN (SELECT value FROM json_each(?))", given) : [];
  const people = [...issues2.map((issue) => issue.poster_id), ...assignees.map((row) => row.user_id)];
  return {
    labels: loadLabels(context, ids),
    attachments: loadAttachments(context, "issue", ids),
    assignees: Map.groupBy(assignees, (row) => row.issue_id),
    milestones: new Map(milestones.map((row) => [row.id, row])),
    pulls: new Map(pulls.map((row) => [row.issue_id, row])),
    users: loadUsers(context, people)
  };
}
function toContent(context, issue, place, related) {
  const { labels, assignees, milestones, users } = related;
  const userOf = (id, viewer) => {
    const user = users.get(id);
    return user ? toUser(context, user, viewer) : null;
  };
  const assigned = (assignees.get(issue.id) ?? []).map((row) => userOf(row.user_id, void 0)).filter((user) => user !== null);
  const milestone = issue.milestone_id === null ? void 0 : milestones.get(issue.milestone_id);
  const state = issue.is_closed ? "closed" : "open";
  return {
    number: issue.number,
    user: userOf(issue.poster_id, place.viewer),
    title: issue.title,
    body: issue.body,
    labels: (labels.get(issue.id) ?? []).map((label) => toLabel(context, label, place)),
    milestone: milestone ? toMilestone(milestone) : null,
    assignee: assigned[0] ?? null,
    // A list without anybody is written as null, as the baseline does.
    assignees: assigned.length > 0 ? assigned : null,
    state,
    is_locked: issue.is_locked === 1,
    comments: issue.num_comments,
    created_at: toInstant(issue.created_at),
    updated_at: toInstant(issue.updated_at),
    closed_at: toInstantOrNull(issue.closed_at),
    due_date: toInstantOrNull(issue.due_at),
    pin_order: issue.pin_order,
    content_version: issue.content_version
  };
}
function toShape2(context, issue, place, related) {
  const { repository, owner } = place;
  const html_url = issueAddress(context, issue, place);
  const pull = related.pulls.get(issue.id);
  const full_name = `${owner.name}/${repository.name}`;
  return {
    id: issue.id,
    url: `${context.rootUrl()}/api/v1/repos/${full_name}/issues/${issue.number}`,
    html_url,
    ...toContent(context, issue, place, related),
    original_author: "",
    original_author_id: 0,
    ref: issue.ref,
    assets: (related.attachments.get(issue.id) ?? []).map((row) => toAttachment(context, row)),
    projects: null,
    time_estimate: issue.time_estimate,
    pull_request: pull ? toPullMeta(issue, pull, html_url) : null,
    repository: { id: repository.id, name: repository.name, owner: owner.name, full_name }
  };
}
function toPullMeta(issue, pull, html_url) {
  return {
    merged: pull.is_merged === 1,
    merged_at: toInstantOrNull(pull.merged_at),
    draft: isDraftTitle(issue.title),
    html_url
  };
}

// src/forge/resources/comment.ts
function toComment(context, comment, issue, place) {
  const [shape] = toComments(context, [comment], issue, place);
  if (!shape) throw new TypeError("one row gives one comment");
  return shape;
}
function toComments(context, comments, issue, place) {
  const users = loadUsers(
    context,
    comments.map((comment) => comment.poster_id)
  );
  const attachments = loadAttachments(
    context,
    "comment",
    comments.map((comment) => comment.id)
  );
  const address = issueAddress(context, issue, place);
  return comments.map((comment) => {
    const user = users.get(comment.poster_id);
    return {
      id: comment.id,
      html_url: `${address}#issuecomment-${comment.id}`,
      pull_request_url: issue.is_pull ? address : "",
      issue_url: issue.is_pull ? "" : address,
      user: user ? toUser(context, user, void 0) : null,
      original_author: "",
      original_author_id: 0,
      body: comment.body,
      assets: (attachments.get(comment.id) ?? []).map((row) => toAttachment(context, row)),
      created_at: toInstant(comment.created_at),
      updated_at: toInstant(comment.updated_at)
    };
  });
}

// src/forge/resources/team.ts
function toTeam(context, team, organization) {
  const isAdministrator = team.permission === "admin" || team.permission === "owner";
  const given = JSON.parse(team.units_map);
  const units = isAdministrator ? Object.fromEntries(unitNames.map((name) => [name, team.permission])) : given;
  return {
    id: team.id,
    name: team.name,
    description: team.description,
    organization: organization ? toOrganization(context, organization) : null,
    includes_all_repositories: team.includes_all_repositories === 1,
    // What the others may do is said by unit alone.
    permission: isAdministrator ? team.permission : "none",
    units: Object.keys(units),
    units_map: units,
    can_create_org_repo: team.can_create_org_repo === 1,
    visibility: team.visibility
  };
}
function toTeams(context, teams) {
  const organizations = loadUsers(
    context,
    teams.map((team) => team.org_id)
  );
  return teams.map((team) => toTeam(context, team, organizations.get(team.org_id)));
}

// src/forge/resources/transfer.ts
function toTransfer(context, repository) {
  const { db } = context;
  const row = db.get("SELECT * FROM transfers WHERE repo_id = ?", repository.id);
  if (!row) return void 0;
  const people = loadUsers(context, [row.doer_id, row.recipient_id]);
  const person2 = (id) => {
    const user = people.get(id);
    return user ? toUser(context, user, void 0) : null;
  };
  const teams = db.all(
    "SELECT * FROM teams WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
    row.team_ids
  );
  return {
    doer: person2(row.doer_id),
    recipient: person2(row.recipient_id),
    teams: teams.map((team) => toTeam(context, team))
  };
}

// src/forge/resources/repository.ts
function toRepository(context, repository, sight) {
  const parent = findParent(context, repository, sight);
  return { ...toBare(context, repository, sight), ...parent ? { parent } : {} };
}
function toRepositories(context, repositories2, viewer) {
  const owners = loadUsers(
    context,
    repositories2.map((repository) => repository.owner_id)
  );
  return repositories2.flatMap((repository) => {
    const owner = owners.get(repository.owner_id);
    return owner ? [toRepository(context, repository, { owner, viewer })] : [];
  });
}
function findParent(context, repository, sight) {
  if (repository.fork_id === null) return void 0;
  const parent = context.db.get("SELECT * FROM repositories WHERE id = ?", repository.fork_id);
  const owner = parent && loadUsers(context, [parent.owner_id]).get(parent.owner_id);
  if (!parent || !owner) return void 0;
  const permission = sight.permission ?? permissionOf(context.db, sight.viewer, repository, sight.owner);
  return toBare(context, parent, { owner, viewer: sight.viewer, permission });
}
function toBare(context, repository, sight) {
  const { owner, viewer } = sight;
  const permission = sight.permission ?? permissionOf(context.db, viewer, repository, owner);
  const transfer = toTransfer(context, repository);
  return {
    id: repository.id,
    owner: toOwner(context, owner, permission),
    name: repository.name,
    full_name: `${owner.name}/${repository.name}`,
    description: repository.description,
    empty: repository.is_empty === 1,
    private: repository.is_private === 1,
    fork: repository.fork_id !== null,
    template: repository.is_template === 1,
    mirror: false,
    internal: repository.is_private === 0 && owner.visibility === "private",
    size: Math.floor(repository.size / 1024),
    language: "",
    ...addresses(context, repository, owner),
    ...counters(repository),
    default_branch: repository.default_branch,
    archived: repository.archived_at > 0,
    created_at: toInstant(repository.created_at),
    updated_at: toInstant(repository.updated_at),
    archived_at: repository.archived_at > 0 ? toInstant(repository.archived_at) : epoch,
    permissions: {
      admin: reaches(permission, "admin"),
      push: reaches(permission, "write"),
      pull: reaches(permission, "read")
    },
    ...switches(repository),
    mirror_interval: "",
    mirror_updated: yearOne,
    mirror_last_sync_at: yearOne,
    avatar_url: "",
    object_format_name: repository.object_format,
    // The column holds what this forge wrote.
    topics: JSON.parse(repository.topics),
    licenses: [],
    ...transfer ? { repo_transfer: transfer } : {}
  };
}
function addresses(context, repository, owner) {
  const names = `${owner.name}/${repository.name}`;
  const web = `${context.rootUrl()}/${names}`;
  const api = `${context.rootUrl()}/api/v1/repos/${names}`;
  const { hostname } = new URL(web);
  return {
    html_url: web,
    url: api,
    link: "",
    languages_url: `${api}/languages`,
    ssh_url: `git@${hostname}:${names}.git`,
    clone_url: `${web}.git`,
    original_url: "",
    website: repository.website
  };
}
function counters(repository) {
  return {
    stars_count: repository.num_stars,
    forks_count: repository.num_forks,
    watchers_count: repository.num_watches,
    branch_count: repository.num_branches,
    open_issues_count: repository.num_open_issues,
    open_pr_counter: repository.num_open_pulls,
    release_counter: repository.num_releases
  };
}
function switches(repository) {
  const { internal_tracker, external_tracker, external_wiki, ...plain } = settingsOf(repository);
  const tracker = external_tracker ? { external_tracker } : { internal_tracker };
  return {
    ...plain,
    ...plain.has_issues ? tracker : {},
    ...plain.has_wiki && external_wiki ? { external_wiki } : {}
  };
}

// src/forge/announce.ts
function announceIssue(context, scene, news) {
  const issue = readIssue(context, scene.issueId);
  const kind = issue.is_pull ? "pull_request" : "issue";
  const plain = issue.is_pull ? "pull_request" : "issues";
  const { repository, owner } = scene;
  context.emit({
    type: news.topic === void 0 ? plain : `${kind}_${news.topic}`,
    repository,
    owner,
    payload() {
      const event = {
        action: news.action,
        number: issue.number,
        changes: news.changes,
        commitId: news.commitId,
        ...surroundings(context, scene)
      };
      const told = {
        ...news.hidesLabels ? { labels: [] } : {},
        // What is gone has no lines to count.
        ...news.action === "deleted" && issue.is_pull ? uncounted : {}
      };
      return issue.is_pull ? pullPayload({
        ...event,
        pullRequest: { ...context.toPull(context, issue, asActor(scene)), ...told }
      }) : issuePayload({ ...event, issue: { ...toIssue(context, issue, asActor(scene)), ...told } });
    }
  });
}
function announceComment(context, scene, news) {
  const issue = readIssue(context, scene.issueId);
  const { repository, owner } = scene;
  context.emit({
    type: issue.is_pull ? "pull_request_comment" : "issue_comment",
    repository,
    owner,
    payload: () => commentPayload({
      action: news.action,
      issue: toIssue(context, issue, asActor(scene)),
      pullRequest: issue.is_pull ? context.toPull(context, issue, asActor(scene)) : void 0,
      comment: toComment(context, news.comment, issue, asActor(scene)),
      changes: news.changes && { ...news.changes },
      ...surroundings(context, scene)
    })
  });
}
var uncounted = { additions: void 0, deletions: void 0, changed_files: void 0 };
function asActor({ repository, owner, actor }) {
  return { repository, owner, viewer: actor };
}
function surroundings(context, { repository, owner, actor }) {
  const permission = permissionOf(context.db, actor, repository, owner);
  return {
    repository: toRepository(context, repository, { owner, viewer: void 0, permission }),
    sender: toUser(context, actor, void 0)
  };
}
function readIssue(context, id) {
  const issue = context.db.get("SELECT * FROM issues WHERE id = ?", id);
  if (!issue) throw new TypeError(`issue ${id} is gone while it is announced`);
  return issue;
}

// src/forge/blockers.ts
function hasDependencies(repository) {
  const { has_issues, external_tracker, internal_tracker } = settingsOf(repository);
  if (!has_issues || external_tracker) return true;
  return internal_tracker.enable_issue_dependencies !== false;
}
function isBlocked({ db }, repository, issueId) {
  const sql = `SELECT 1 AS one FROM dependencies d JOIN issues i ON i.id = d.blocker_id
    WHERE d.issue_id = ? AND i.is_closed = 0 LIMIT 1`;
  return hasDependencies(repository) && db.get(sql, issueId) !== void 0;
}
function refuseBlocked(context, repository, issueId) {
  if (!isBlocked(context, repository, issueId)) return;
  throw new ForgeProblem(
    412,
    "cannot close this issue or pull request because it still has open dependencies"
  );
}

// src/forge/mentions.ts
var mention = /(?<=\s|^|\(|\[)@([-\w][-.\w]*?(?:\/[-\w][-.\w]*?)?)(?=\s|$|[:,;.?!](?:\s|$)|'|\)|\])/g;
var maxNames = 50;
function parseMentions(text) {
  const names = [...text.matchAll(mention)].map(([, name = ""]) => name.toLowerCase());
  return [...new Set(names)].slice(0, maxNames);
}
function findMentioned({ db }, place, text, author) {
  const names = JSON.stringify(parseMentions(text));
  const people = db.all(
    `SELECT * FROM users WHERE lower_name IN (SELECT value FROM json_each(?)) AND type = 'user'
       AND is_active = 1 AND prohibit_login = 0`,
    names
  );
  const members2 = db.all(
    `SELECT u.* FROM teams t JOIN team_members m ON m.team_id = t.id JOIN users u ON u.id = m.user_id
     WHERE t.org_id = ?1 AND t.lower_name IN (
         SELECT substr(value, length(?2) + 2) FROM json_each(?3) WHERE value LIKE ?2 || '/%')
       AND (t.includes_all_repositories = 1
         OR EXISTS (SELECT 1 FROM team_repositories r WHERE r.team_id = t.id AND r.repo_id = ?4))
       AND u.is_active = 1 AND u.prohibit_login = 0`,
    place.owner.id,
    place.owner.lower_name,
    names,
    place.repository.id
  );
  const ids = [...people, ...members2].map(({ id }) => id);
  return [...new Set(ids)].filter((id) => id !== author.id);
}

// src/forge/notify.ts
function notifyActivity(context, news) {
  const issue = readIssue2(context, news.issueId);
  const mentioned = findMentioned(context, news, news.text ?? "", news.actor);
  const isQuiet = issue.is_pull === 1 && isDraftTitle(issue.title);
  write(context, news, issue, [...audienceOf(context, issue, { isQuiet, actor: news.actor }), ...mentioned]);
}
function notifyOpened(context, news) {
  const issue = readIssue2(context, news.issueId);
  const mentioned = findMentioned(context, news, issue.body, news.actor);
  write(context, news, issue, [
    ...audienceOf(context, issue, { isQuiet: false, actor: news.actor }),
    ...mentioned
  ]);
}
function notifyPersons(context, news) {
  const ids = news.receivers.map(({ id }) => id).filter((id) => id !== news.actor.id);
  write(context, news, readIssue2(context, news.issueId), ids);
}
function notifyOfRepository(context, news) {
  const now = secondsOf(context.clock());
  for (const { id } of news.receivers) {
    context.db.run(
      `INSERT INTO notifications (user_id, repo_id, source, created_at, updated_at) VALUES (?, ?, 'repository', ?, ?)`,
      id,
      news.repository.id,
      now,
      now
    );
  }
}
var audience = (
  /* sql */
  `
SELECT user_id AS id FROM issue_watches WHERE issue_id = :issue AND is_watching = 1
UNION SELECT user_id FROM watches WHERE repo_id = :repository AND :quiet = 0
UNION SELECT poster_id FROM comments WHERE issue_id = :issue
UNION SELECT poster_id FROM issues WHERE id = :issue
UNION SELECT reviewer_id FROM reviews WHERE issue_id = :issue AND type IN ('APPROVED', 'REQUEST_CHANGES', 'COMMENT')
EXCEPT SELECT user_id FROM issue_watches WHERE issue_id = :issue AND is_watching = 0
EXCEPT SELECT :actor`.replaceAll(":issue", "?1").replaceAll(":repository", "?2").replaceAll(":quiet", "?3").replaceAll(":actor", "?4")
);
function audienceOf({ db }, issue, { isQuiet, actor }) {
  const rows = db.all(audience, issue.id, issue.repo_id, isQuiet, actor.id);
  return rows.map(({ id }) => id);
}
function write(context, place, issue, receivers) {
  const { db, clock } = context;
  const { repository, owner } = place;
  const settings = settingsOf(repository);
  if (!(issue.is_pull ? settings.has_pull_requests : settings.has_issues)) return;
  const unit = issue.is_pull ? "pulls" : "issues";
  const now = secondsOf(clock());
  for (const id of new Set(receivers)) {
    const user = db.get("SELECT * FROM users WHERE id = ?", id);
    if (!user || !reaches(permissionOf(db, user, repository, owner, unit), "read")) continue;
    db.run(
      `INSERT INTO notifications (user_id, repo_id, source, issue_id, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (issue_id, user_id) WHERE issue_id IS NOT NULL DO UPDATE SET updated_at = excluded.updated_at,
         status = CASE status WHEN 'read' THEN 'unread' ELSE status END`,
      id,
      issue.repo_id,
      issue.is_pull ? "pull" : "issue",
      issue.id,
      now,
      now
    );
  }
}
function readIssue2({ db }, id) {
  const issue = db.get("SELECT * FROM issues WHERE id = ?", id);
  if (!issue) throw new TypeError(`issue ${id} is gone while its news are told`);
  return issue;
}

// src/forge/git/commit.ts
function parseCommit(id, content) {
  const text = content.toString("utf8");
  const gap = text.indexOf("\n\n");
  const head = gap < 0 ? text : text.slice(0, gap);
  const message = gap < 0 ? "" : text.slice(gap + 2);
  const parents = [];
  const members2 = /* @__PURE__ */ new Map();
  for (const member of head.split(/\n(?! )/)) {
    const at = member.indexOf(" ");
    const name = member.slice(0, at);
    const value = member.slice(at + 1).replaceAll("\n ", "\n");
    if (name === "parent") parents.push(value);
    else members2.set(name, value);
  }
  const signature = members2.get("gpgsig") ?? members2.get("gpgsig-sha256") ?? "";
  return {
    id,
    tree: members2.get("tree") ?? "",
    parents,
    author: parseSignature(members2.get("author") ?? ""),
    committer: parseSignature(members2.get("committer") ?? ""),
    message,
    signature,
    signedText: signature === "" ? "" : text.replace(/\ngpgsig(-sha256)? [^\n]*(\n [^\n]*)*/, "")
  };
}
function parseSignature(text) {
  const match = /^(.*?) ?<(.*?)> (-?\d+) ([+-]\d{4})$/s.exec(text);
  return {
    name: match?.[1] ?? "",
    email: match?.[2] ?? "",
    seconds: Number(match?.[3] ?? 0),
    zone: match?.[4] ?? "+0000"
  };
}
function instantOf({ seconds, zone }) {
  const sign2 = zone.startsWith("-") ? -1 : 1;
  const minutes = sign2 * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3, 5)));
  const local = new Date((seconds + minutes * 60) * 1e3);
  if (Number.isNaN(local.getTime())) return "0001-01-01T00:00:00Z";
  const text = local.toISOString().slice(0, 19);
  return minutes === 0 ? `${text}Z` : `${text}${zone.slice(0, 3)}:${zone.slice(3)}`;
}

// src/forge/git/names.ts
var maxSegmentBytes = 255;
var maxNameBytes = 1e3;
function isRefName(name) {
  if (name === "" || name === "@" || name === "HEAD" || Buffer.byteLength(name) > maxNameBytes) return false;
  if (!name.isWellFormed() || /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{/.test(name)) return false;
  if (name.startsWith("-") || name.endsWith(".")) return false;
  return name.split("/").every(isRefSegment);
}
function isRefSegment(segment) {
  if (segment === "" || segment.startsWith(".") || segment.endsWith(".lock")) return false;
  return Buffer.byteLength(segment) <= maxSegmentBytes;
}
function isObjectId(text) {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}
function isIdPrefix(text) {
  return /^[0-9a-f]{4,64}$/i.test(text);
}
function isZeroId(id) {
  return /^0+$/.test(id);
}
function zeroIdLike(id) {
  return "0".repeat(id.length);
}
function cleanTreePath(path) {
  if (!path.isWellFormed() || path.includes("\0") || Buffer.byteLength(path) > 4e3) return void 0;
  const segments = [];
  for (const segment of path.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment === ".." || segment.toLowerCase() === ".git") return void 0;
    if (Buffer.byteLength(segment) > maxSegmentBytes) return void 0;
    segments.push(segment);
  }
  return segments.join("/");
}

// src/forge/git/refs.ts
async function listRefs(repository, under = ["refs/heads", "refs/tags"]) {
  const { stdout } = await repository.git.run(
    ["for-each-ref", "--format=%(objectname) %(refname)", "--", ...under],
    { folder: repository.folder }
  );
  const lines = stdout.toString("utf8").split("\n").filter(Boolean);
  return lines.map((line2) => {
    const at = line2.indexOf(" ");
    return { id: line2.slice(0, at), name: line2.slice(at + 1) };
  });
}
async function listBranchNames(repository) {
  const { stdout } = await repository.git.run(
    ["for-each-ref", "--sort=refname", "--sort=-committerdate", "--format=%(refname:lstrip=2)", "refs/heads"],
    { folder: repository.folder }
  );
  return stdout.toString("utf8").split("\n").filter(Boolean);
}
async function isEmpty(repository) {
  const { stdout } = await repository.git.run(["for-each-ref", "--count=1", "refs/heads"], {
    folder: repository.folder
  });
  return stdout.length === 0;
}
async function readRef(repository, name) {
  return (await repository.objects.info(name))?.id;
}
async function readBranch(repository, name) {
  return isRefName(name) ? await readCommit(repository, `refs/heads/${name}`) : void 0;
}
async function readTag(repository, name) {
  return isRefName(name) ? await readCommit(repository, `refs/tags/${name}^{commit}`) : void 0;
}
async function readCommit(repository, name) {
  const object = await repository.objects.read(name);
  return object?.type === "commit" ? parseCommit(object.id, object.content) : void 0;
}
async function resolveRef(repository, word) {
  const full = /^refs\/(heads|tags)\/(.+)$/s.exec(word);
  const name = full?.[2] ?? word;
  const branch = full?.[1] === "tags" ? void 0 : await readBranch(repository, name);
  if (branch) return { kind: "branch", commit: branch };
  const tag = full?.[1] === "heads" ? void 0 : await readTag(repository, name);
  if (tag) return { kind: "tag", commit: tag };
  const commit = isIdPrefix(word) ? await readCommit(repository, `${word}^{commit}`) : void 0;
  return commit ? { kind: "commit", commit } : void 0;
}
async function moveRefs(repository, moves) {
  const lines = moves.map(({ name, before, after }) => {
    if (!isRefName(name.replace(/^refs\//, ""))) {
      throw new ReeveError("git-failed", `"${name}" is no name of a ref`);
    }
    if (after === void 0) return `delete ${name} ${before ?? ""}
`;
    return `update ${name} ${after} ${before ?? zeroIdLike(after)}
`;
  });
  const { code, stderr } = await repository.git.run(["update-ref", "--stdin"], {
    folder: repository.folder,
    input: lines.join(""),
    expect: [0, 128]
  });
  if (code === 0) return true;
  if (/cannot lock ref|unable to resolve|already exists|is at /.test(stderr)) return false;
  throw new ReeveError("git-failed", `git update-ref ended with ${code}: ${stderr.trim().slice(0, 500)}`);
}

// src/forge/git/history.ts
function argumentsOf({ from, to }) {
  const ids = from === void 0 ? [to] : [to, `^${from}`];
  for (const id of ids) {
    if (!isIdPrefix(id.replace(/^\^/, ""))) throw new TypeError(`"${id}" is no commit id`);
  }
  return ids;
}
async function countCommits(repository, stretch) {
  const { stdout } = await repository.git.run(["rev-list", "--count", ...argumentsOf(stretch), "--"], {
    folder: repository.folder
  });
  return Number(stdout.toString("latin1").trim());
}
async function listCommits(repository, stretch, { skip = 0, limit }) {
  const { stdout } = await repository.git.run(
    ["rev-list", `--skip=${skip}`, `--max-count=${limit}`, ...argumentsOf(stretch), "--"],
    { folder: repository.folder }
  );
  const ids = stdout.toString("latin1").split("\n").filter(Boolean);
  const objects = await Promise.all(ids.map((id) => repository.objects.read(id)));
  return objects.flatMap((object) => object ? [parseCommit(object.id, object.content)] : []);
}
async function listOwnCommits(repository, { to, branch }, limit) {
  const { stdout } = await repository.git.run(
    [
      "rev-list",
      `--max-count=${limit}`,
      ...argumentsOf({ to }),
      "--not",
      `--exclude=${branch}`,
      "--branches",
      "--"
    ],
    { folder: repository.folder }
  );
  const own = new Set(stdout.toString("latin1").split("\n"));
  const commits = await listCommits(repository, { to }, { limit });
  const end = commits.findIndex(({ id }) => !own.has(id));
  return end === -1 ? commits : commits.slice(0, end);
}
async function findMergeBase(repository, one, other) {
  if (one === other) return one;
  const { stdout } = await repository.git.run(
    ["merge-base", ...argumentsOf({ to: one }), ...argumentsOf({ to: other })],
    { folder: repository.folder, expect: [0, 1] }
  );
  return stdout.toString("latin1").trim() || void 0;
}
async function isAncestor(repository, old, young) {
  const { code } = await repository.git.run(
    ["merge-base", "--is-ancestor", ...argumentsOf({ to: old }), ...argumentsOf({ to: young })],
    { folder: repository.folder, expect: [0, 1] }
  );
  return code === 0;
}
async function lastCommits(repository, commitId, directory, names) {
  const missing = new Set(names);
  const found3 = /* @__PURE__ */ new Map();
  const prefix2 = directory === "" ? "" : `${directory}/`;
  let rest = "";
  let commit = "";
  const paths = names.length === 1 ? [`${prefix2}${names[0]}`] : directory === "" ? [] : [directory];
  await repository.git.run(
    ["log", "-z", "-c", "-t", "--no-renames", "--name-only", "--format=%x01%H", commitId, "--", ...paths],
    {
      folder: repository.folder,
      onOutput(piece) {
        const fields = (rest + piece.toString("utf8")).split("\0");
        rest = fields.pop() ?? "";
        for (const field of fields) {
          const path = field.replace(/^\n+/, "");
          if (/^\x01[0-9a-f]+$/.test(path)) {
            commit = path.slice(1);
            continue;
          }
          if (!path.startsWith(prefix2)) continue;
          const name = path.slice(prefix2.length).split("/", 1)[0] ?? "";
          if (missing.delete(name)) found3.set(name, commit);
        }
        return missing.size > 0;
      }
    }
  );
  const commits = /* @__PURE__ */ new Map();
  for (const [name, id] of found3) {
    const data = await readCommit(repository, id);
    if (data) commits.set(name, data);
  }
  return commits;
}
async function findMergeCommit(repository, old, young) {
  const stretch = argumentsOf({ from: old, to: young });
  const { stdout } = await repository.git.run(
    ["rev-list", "--ancestry-path", "--merges", "--reverse", ...stretch, "--"],
    { folder: repository.folder }
  );
  return stdout.toString("latin1").split("\n")[0] || void 0;
}

// src/forge/git/merge.ts
async function mergeTrees(repository, ours, theirs) {
  requireIds(ours, theirs);
  const { code, stdout } = await repository.git.run(
    ["merge-tree", "--write-tree", "--no-messages", ours, theirs],
    { folder: repository.folder, expect: [0, 1, 128] }
  );
  return code === 0 ? stdout.toString("latin1").trim().split("\n")[0] : void 0;
}
async function commitTree(repository, tree, options2) {
  requireIds(tree, ...options2.parents);
  const { author, committer } = options2;
  const { stdout } = await repository.git.run(
    ["commit-tree", ...options2.parents.flatMap((id) => ["-p", id]), "-F", "-", tree],
    {
      folder: repository.folder,
      input: options2.message,
      environment: {
        GIT_AUTHOR_NAME: author.name,
        GIT_AUTHOR_EMAIL: author.email,
        GIT_AUTHOR_DATE: `${author.seconds} ${author.zone}`,
        GIT_COMMITTER_NAME: committer.name,
        GIT_COMMITTER_EMAIL: committer.email,
        GIT_COMMITTER_DATE: `${committer.seconds} ${committer.zone}`
      }
    }
  );
  return stdout.toString("latin1").trim();
}
async function takeRef(repository, from, { source, target }) {
  const common = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"];
  await repository.git.run(["fetch", ...common, "--", from.folder, `+${source}:${target}`], {
    folder: repository.folder
  });
}
function requireIds(...ids) {
  for (const id of ids) if (!isObjectId(id)) throw new TypeError(`"${id}" is no object id`);
}

// src/forge/git/changes.ts
import { createHash as createHash4 } from "node:crypto";
var statuses = {
  A: "added",
  D: "deleted",
  R: "renamed",
  C: "copied"
};
async function listChanges(repository, from, to) {
  requireIds2(from, to);
  const { stdout } = await repository.git.run(
    ["diff-tree", "-r", "-z", "-M", "--raw", "--numstat", from, to, "--"],
    {
      folder: repository.folder
    }
  );
  return parseChanges(fieldsOf(stdout)).changes;
}
var atOnce = 500;
async function listChangesOf(repository, commitIds) {
  requireIds2(...commitIds);
  const found3 = /* @__PURE__ */ new Map();
  for (let from = 0; from < commitIds.length; from += atOnce) {
    const fields = await compareWithParents(repository, commitIds.slice(from, from + atOnce));
    for (let at = 0; at < fields.length; ) {
      const id = fields[at] ?? "";
      const { changes, end } = parseChanges(fields, at + 1);
      if (isObjectId(id)) found3.set(id, changes);
      at = end;
    }
  }
  return found3;
}
async function compareWithParents(repository, commitIds) {
  const { stdout } = await repository.git.run(
    ["diff-tree", "--stdin", "-r", "-z", "-M", "--root", "--first-parent", "-m", "--raw", "--numstat"],
    { folder: repository.folder, input: commitIds.map((id) => `${id}
`).join("") }
  );
  return fieldsOf(stdout);
}
function touchedBy(changes) {
  const paths = { added: [], removed: [], modified: [] };
  for (const { status, path, from } of changes) {
    paths[touches[status]].push(path);
    if (status === "renamed" && from !== void 0) paths.removed.push(from);
  }
  paths.removed.sort();
  return paths;
}
var touches = {
  added: "added",
  changed: "modified",
  deleted: "removed",
  renamed: "added",
  copied: "added"
};
function fieldsOf(output) {
  return output.toString("utf8").split("\0");
}
function parseChanges(fields, start = 0) {
  const changes = [];
  const counts = /* @__PURE__ */ new Map();
  let at = start;
  const next = () => fields[at++] ?? "";
  while (at < fields.length) {
    const field = next();
    if (field.startsWith(":")) {
      const sign2 = field.split(" ")[4]?.[0] ?? "M";
      const first = next();
      const isMoved = sign2 === "R" || sign2 === "C";
      const path2 = isMoved ? next() : first;
      const status = statuses[sign2] ?? "changed";
      changes.push({ path: path2, from: isMoved ? first : void 0, status, additions: 0, deletions: 0 });
      continue;
    }
    const [added, deleted, path] = field.split("	");
    if (added === void 0 || deleted === void 0 || path === void 0) {
      at -= 1;
      break;
    }
    if (path === "") next();
    const name = path === "" ? next() : path;
    counts.set(name, { additions: Number(added) || 0, deletions: Number(deleted) || 0 });
  }
  return { changes: changes.map((change) => ({ ...change, ...counts.get(change.path) })), end: at };
}
async function listTouched(repository, commitId) {
  const changes = await listChangesOf(repository, [commitId]);
  return touchedBy(changes.get(commitId) ?? []);
}
async function markOfChange(repository, from, to) {
  requireIds2(from, to);
  const hash = createHash4("sha256");
  const { stdout } = await repository.git.run(
    ["diff-tree", "-r", "-p", "-U0", "--no-renames", from, to, "--"],
    {
      folder: repository.folder,
      maxBytes: 256 * 1024 * 1024
    }
  );
  for (const line2 of stdout.toString("latin1").split("\n")) {
    if (/^(index |@@ )/.test(line2)) continue;
    hash.update(line2).update("\n");
  }
  return hash.digest("hex");
}
function requireIds2(...ids) {
  for (const id of ids) if (!isObjectId(id)) throw new TypeError(`"${id}" is no object id`);
}

// src/forge/pull-inspection.ts
async function inspectPull(git, base, head) {
  const mergeBase = await findMergeBase(git, base, head);
  const from = mergeBase ?? base;
  const changes = from === head ? [] : await listChanges(git, from, head);
  const isForward = mergeBase === base || mergeBase === head;
  const merges = isForward || mergeBase !== void 0 && await mergeTrees(git, base, head) !== void 0;
  return {
    merge_base: from,
    additions: changes.reduce((sum, change) => sum + change.additions, 0),
    deletions: changes.reduce((sum, change) => sum + change.deletions, 0),
    changed_files: changes.length,
    status: merges ? "mergeable" : "conflict"
  };
}

// src/forge/pull-checks.ts
var checking = (
  /* sql */
  `
FROM pulls p JOIN issues i ON i.id = p.issue_id WHERE p.status = 'checking' AND i.is_closed = 0`
);
function scheduleChecks(context) {
  context.background.add(async () => {
    for (const { id } of context.db.all(`SELECT p.id ${checking}`)) {
      context.background.add(() => checkPull(context, id));
    }
  });
}
async function checkPull(context, id) {
  const { db, git } = context;
  const find = () => db.get(`SELECT p.* ${checking} AND p.id = ?`, id);
  const repositoryId = find()?.repo_id;
  if (repositoryId === void 0) return;
  await git.exclusively(repositoryId, "pulls", async () => {
    const pull = find();
    const base = pull && await readBranch(git.open(pull.repo_id), pull.base_branch);
    if (!base) return;
    const seen2 = await inspectPull(git.open(pull.repo_id), base.id, pull.head_sha);
    db.run(
      `UPDATE pulls SET base_sha = ?, merge_base = ?, additions = ?, deletions = ?, changed_files = ?, status = ?
       WHERE id = ? AND head_sha = ?`,
      base.id,
      seen2.merge_base,
      seen2.additions,
      seen2.deletions,
      seen2.changed_files,
      seen2.status,
      id,
      pull.head_sha
    );
  });
}

// src/forge/resources/reviewers.ts
var counted = (
  /* sql */
  `r.dismissed = 0 AND r.reviewer_id IS NOT NULL AND r.type IN`
);
function reviewersOf(context, issueId) {
  const users = context.db.all(
    `SELECT u.* FROM (SELECT r.reviewer_id, max(r.updated_at) AS at, max(r.id) AS id FROM reviews r WHERE r.issue_id = ?
       AND ${counted} ('APPROVED', 'REQUEST_CHANGES', 'REQUEST_REVIEW', 'COMMENT') GROUP BY r.reviewer_id) latest
     JOIN users u ON u.id = latest.reviewer_id ORDER BY latest.at, latest.id`,
    issueId
  );
  return users.map((user) => toUser(context, user, void 0));
}
function reviewTeamsOf(context, issueId) {
  const teams = context.db.all(
    "SELECT DISTINCT t.* FROM reviews r JOIN teams t ON t.id = r.team_id WHERE r.issue_id = ? ORDER BY r.id",
    issueId
  );
  return toTeams(context, teams);
}
function loadReviewSummaries(context, issueIds) {
  const given = JSON.stringify(issueIds);
  const rows = context.db.all(
    `SELECT u.*, latest.issue_id FROM (SELECT r.issue_id, r.reviewer_id, max(r.updated_at) AS at, max(r.id) AS last
       FROM reviews r WHERE r.issue_id IN (SELECT value FROM json_each(?))
       AND ${counted} ('APPROVED', 'REQUEST_CHANGES', 'REQUEST_REVIEW') GROUP BY r.issue_id, r.reviewer_id) latest
     JOIN users u ON u.id = latest.reviewer_id ORDER BY latest.at, latest.last`,
    given
  );
  const counts = context.db.all(
    `SELECT issue_id, count(*) AS count FROM reviews WHERE comment_id > 0
       AND issue_id IN (SELECT value FROM json_each(?)) GROUP BY issue_id`,
    given
  );
  const countOf2 = new Map(counts.map((row) => [row.issue_id, row.count]));
  const byIssue = Map.groupBy(rows, (row) => row.issue_id);
  return new Map(
    [.../* @__PURE__ */ new Set([...countOf2.keys(), ...byIssue.keys()])].map((id) => [
      id,
      {
        reviewers: byIssue.get(id)?.map((user) => toUser(context, user, void 0)) ?? null,
        count: countOf2.get(id) ?? 0
      }
    ])
  );
}

// src/forge/resources/pull.ts
var noTeams = null;
function toPull(context, issue, place) {
  const pull = context.db.get("SELECT * FROM pulls WHERE issue_id = ?", issue.id);
  if (!pull) throw new TypeError(`issue ${issue.id} has no pull request`);
  const [shape] = toPulls(context, [{ issue, pull }], place);
  if (!shape) throw new TypeError("one row gives one pull request");
  const { additions, deletions, changed_files } = pull;
  return {
    ...shape,
    assignees: shape.assignees ?? [],
    requested_reviewers: reviewersOf(context, issue.id),
    requested_reviewers_teams: reviewTeamsOf(context, issue.id),
    additions,
    deletions,
    changed_files
  };
}
function toPulls(context, pulls, place) {
  const issues2 = toIssues(
    context,
    pulls.map(({ issue }) => issue),
    place
  );
  const mergers = loadUsers(
    context,
    pulls.flatMap(({ pull }) => pull.merger_id === null ? [] : [pull.merger_id])
  );
  const repositoryOf = createRepositoryShapes(context, place);
  const reviews = loadReviewSummaries(
    context,
    pulls.map(({ issue }) => issue.id)
  );
  return pulls.flatMap(({ issue, pull }, index) => {
    const shape = issues2[index];
    return shape ? [toShape3({ context, issue, pull, place, shape, mergers, repositoryOf, reviews })] : [];
  });
}
function toShape3(given) {
  const { context, issue, pull, place, shape, repositoryOf } = given;
  const address = issueAddress(context, issue, place);
  const merger = pull.merger_id === null ? void 0 : given.mergers.get(pull.merger_id);
  const isDraft = shape.pull_request?.draft === true;
  const summary = given.reviews.get(issue.id);
  return {
    id: pull.id,
    // Unlike an issue's, the address for people.
    url: address,
    number: pull.number,
    user: shape.user,
    title: shape.title,
    body: shape.body,
    labels: shape.labels,
    milestone: shape.milestone,
    assignee: shape.assignee,
    assignees: shape.assignees,
    requested_reviewers: summary?.reviewers ?? null,
    // A list never tells teams.
    requested_reviewers_teams: noTeams,
    state: shape.state,
    draft: isDraft,
    is_locked: shape.is_locked,
    comments: shape.comments,
    // Counts reviews, not the comments on lines, and is left out at 0, as on the baseline.
    ...summary && summary.count > 0 ? { review_comments: summary.count } : {},
    html_url: address,
    diff_url: `${address}.diff`,
    patch_url: `${address}.patch`,
    // What is merged stays what it was before, as on the baseline.
    mergeable: pull.status === "mergeable" && !isDraft,
    merged: pull.is_merged === 1,
    merged_at: toInstantOrNull(pull.merged_at),
    merge_commit_sha: pull.is_merged === 1 ? pull.merged_commit_sha : null,
    merged_by: merger ? toUser(context, merger, void 0) : null,
    allow_maintainer_edit: pull.allow_maintainer_edit === 1,
    base: toBranch({ name: pull.base_branch, sha: pull.base_sha, repositoryId: pull.repo_id }, repositoryOf),
    head: toHead(pull, repositoryOf),
    merge_base: pull.merge_base,
    due_date: shape.due_date,
    created_at: shape.created_at,
    updated_at: shape.updated_at,
    closed_at: shape.closed_at,
    pin_order: shape.pin_order,
    content_version: shape.content_version
  };
}
function toBranch({ name, sha, repositoryId }, repositoryOf) {
  return { label: name, ref: name, sha, repo_id: repositoryId, repo: repositoryOf(repositoryId) };
}
function toHead(pull, repositoryOf) {
  const repo = repositoryOf(pull.head_repo_id);
  const ref = pull.is_head_gone === 1 || repo === null ? `refs/pull/${pull.number}/head` : pull.head_branch;
  return {
    label: pull.head_branch,
    ref,
    sha: pull.head_sha,
    repo_id: repo === null ? -1 : pull.head_repo_id ?? -1,
    repo
  };
}
function createRepositoryShapes(context, { repository, owner, viewer }) {
  const known2 = /* @__PURE__ */ new Map([
    [repository.id, toRepository(context, repository, { owner, viewer })]
  ]);
  return (id) => {
    if (id === null) return null;
    if (!known2.has(id)) known2.set(id, findShape(context, id, viewer));
    return known2.get(id) ?? null;
  };
}
function findShape(context, id, viewer) {
  const repository = context.db.get("SELECT * FROM repositories WHERE id = ?", id);
  const owner = repository && loadUsers(context, [repository.owner_id]).get(repository.owner_id);
  if (!repository || !owner) return null;
  const isReadable2 = viewer === void 0 || reaches(permissionOf(context.db, viewer, repository, owner), "read");
  return isReadable2 ? toRepository(context, repository, { owner, viewer }) : null;
}

// src/forge/pull-events.ts
function emitPull(context, place, issueId, event) {
  const { repository, owner, actor } = place;
  const { type, requestedReviewer, ...rest } = event;
  context.emit({
    type,
    repository,
    owner,
    payload: () => {
      const { db } = context;
      const issue = db.get("SELECT * FROM issues WHERE id = ?", issueId);
      if (!issue) throw new TypeError(`issue ${issueId} is gone while its event is told`);
      const permission = permissionOf(db, actor, repository, owner);
      return pullPayload({
        ...rest,
        number: issue.number,
        pullRequest: toPull(context, issue, { repository, owner, viewer: actor }),
        requestedReviewer: requestedReviewer && toUser(context, requestedReviewer, void 0),
        repository: toRepository(context, repository, { owner, viewer: void 0, permission }),
        sender: toUser(context, actor, void 0)
      });
    }
  });
}

// src/forge/pull-closing.ts
function closePull(context, place, pull) {
  context.db.transaction(() => {
    if (isBlocked(context, place.repository, pull.issue_id)) return;
    closeIssue(context, pull);
    tellClosed(context, place, pull);
  });
}
function markMerged(context, pull, merge) {
  context.db.transaction(() => {
    context.db.run(
      "UPDATE pulls SET is_merged = 1, merged_commit_sha = ?, merged_at = ?, merger_id = ?, base_sha = ? WHERE id = ?",
      merge.commit,
      secondsOf(context.clock()),
      merge.merger.id,
      merge.base,
      pull.id
    );
    closeIssue(context, pull);
  });
}
function closeIssue({ db, clock }, pull) {
  const now = secondsOf(clock());
  db.run(
    "UPDATE issues SET is_closed = 1, closed_at = ?, updated_at = ? WHERE id = ?",
    now,
    now,
    pull.issue_id
  );
}
function tellClosed(context, place, pull) {
  emitPull(context, place, pull.issue_id, { type: "pull_request", action: "closed" });
  notifyActivity(context, { ...place, issueId: pull.issue_id });
}

// src/forge/review-change.ts
async function isOtherChange(git, before, after) {
  try {
    const [one, other] = [
      await markOfChange(git, before.from, before.to),
      await markOfChange(git, after.from, after.to)
    ];
    return one !== other;
  } catch (error) {
    if (error instanceof ReeveError && error.code === "git-failed") return true;
    throw error;
  }
}

// src/forge/branch-protection-access.ts
function mayWrite({ db, repository, owner }, user) {
  return reaches(permissionOf(db, user, repository, owner, "code"), "write");
}
function isAdmin({ db, repository, owner }, user) {
  return reaches(permissionOf(db, user, repository, owner), "admin");
}
function isInTeams(db, user, teamIds2) {
  if (teamIds2.length === 0) return false;
  const sql = "SELECT 1 AS one FROM team_members WHERE user_id = ? AND team_id IN (SELECT value FROM json_each(?)) LIMIT 1";
  return db.get(sql, user.id, JSON.stringify(teamIds2)) !== void 0;
}
function isListed(db, rule, list2, user) {
  return rule.users[list2].includes(user.id) || isInTeams(db, user, rule.teams[list2]);
}
function mayPush(place, rule, user) {
  if (!rule.enable_push) return false;
  return rule.enable_push_whitelist ? isListed(place.db, rule, "push", user) : mayWrite(place, user);
}
function mayForcePush(place, rule, user) {
  if (!rule.enable_force_push || !mayPush(place, rule, user)) return false;
  return !rule.enable_force_push_allowlist || isListed(place.db, rule, "force_push", user);
}
function mayMerge(place, rule, user) {
  if (!rule?.enable_merge_whitelist) return mayWrite(place, user);
  return isListed(place.db, rule, "merge", user);
}
function mayBypass(place, rule, user) {
  if (isAdmin(place, user) && !rule.block_admin_merge_override) return true;
  return rule.enable_bypass_allowlist && isListed(place.db, rule, "bypass", user);
}
function isOfficialReviewer(place, rule, user) {
  if (!rule?.enable_approvals_whitelist) return mayWrite(place, user);
  return isListed(place.db, rule, "approvals", user);
}

// src/forge/branch-protection-rules.ts
var ruleLists = ["push", "force_push", "merge", "approvals", "bypass"];
function loadBranchRules(db, repositoryId) {
  const rows = db.all("SELECT * FROM branch_protections WHERE repo_id = ?", repositoryId);
  return rows.map(toRule).sort(byPrecedence);
}
function findBranchRule(db, repositoryId, branch) {
  return matchingRule(loadBranchRules(db, repositoryId), branch);
}
function matchingRule(rules, branch) {
  return rules.find((rule) => matchesRule(rule.rule_name, branch));
}
function readBranchRule(db, repositoryId, name) {
  const sql = "SELECT * FROM branch_protections WHERE repo_id = ? AND rule_name = ?";
  const row = db.get(sql, repositoryId, name);
  return row && toRule(row);
}
function toRule({ terms, ...row }) {
  return { ...JSON.parse(terms), ...row };
}
function byPrecedence(one, other) {
  return one.priority - other.priority || Number(isPattern(one.rule_name)) - Number(isPattern(other.rule_name)) || one.created_at - other.created_at || one.id - other.id;
}
function isPattern(ruleName) {
  return /[*?\\[\]{}]/.test(ruleName);
}
function matchesRule(ruleName, branch) {
  if (!isPattern(ruleName)) return ruleName.toLowerCase() === branch.toLowerCase();
  return compileForgeGlob(ruleName, "/")?.(branch) ?? ruleName === branch;
}
function compileForgeGlob(pattern, separator) {
  try {
    return createGlob(pattern.replace(/^!/, "\\!"), { separator, segments: false });
  } catch (error) {
    if (error instanceof GlobError) return void 0;
    throw error;
  }
}
function compileFilePatterns(patterns) {
  const matchers = patterns.toLowerCase().split(";").map((pattern) => pattern.trim()).flatMap((pattern) => pattern === "" ? [] : [compileForgeGlob(pattern, "/.")]).filter((matcher) => matcher !== void 0);
  if (matchers.length === 0) return void 0;
  return (path) => {
    const wanted = path.trim().toLowerCase();
    return matchers.some((matches) => matches(wanted));
  };
}

// src/forge/review-rows.ts
function readReview(db, id) {
  return found(
    db.get("SELECT * FROM reviews WHERE id = ?", id),
    `review does not exist [id: ${id}]`
  );
}
function mayKnow(review, caller) {
  if (review.type !== "PENDING") return true;
  return caller !== void 0 && (caller.is_admin === 1 || caller.id === review.reviewer_id);
}
function findDraft(db, issueId, user) {
  const sql = `SELECT * FROM reviews WHERE issue_id = ? AND reviewer_id = ? AND type = 'PENDING' ORDER BY id LIMIT 1`;
  return db.get(sql, issueId, user.id);
}
function lastOpinion(db, issueId, userId) {
  const sql = `SELECT * FROM reviews WHERE issue_id = ? AND reviewer_id = ?
    AND type IN ('APPROVED', 'REQUEST_CHANGES', 'REQUEST_REVIEW') ORDER BY id DESC LIMIT 1`;
  return db.get(sql, issueId, userId);
}
function takeCommentId(db) {
  db.run(
    `INSERT INTO sqlite_sequence (name, seq) SELECT 'comments', 0
     WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'comments')`
  );
  const sql = `UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'comments' RETURNING seq`;
  return found(db.get(sql)).seq;
}

// src/forge/review-state.ts
var eventTypes = {
  APPROVED: "pull_request_review_approved",
  REQUEST_CHANGES: "pull_request_review_rejected",
  COMMENT: "pull_request_review_comment"
};
function isOfficial({ db }, place, pull, user) {
  const rule = findBranchRule(db, pull.repo_id, pull.base_branch);
  return isOfficialReviewer({ ...place, db }, rule, user);
}
function recordReview(context, place, both, opinion) {
  const { db } = context;
  const { actor } = place;
  const isVote2 = opinion.type === "APPROVED" || opinion.type === "REQUEST_CHANGES";
  const issueId = both.issue.id;
  if (isVote2) {
    db.run("UPDATE reviews SET official = 0 WHERE issue_id = ? AND reviewer_id = ?", issueId, actor.id);
  }
  const official = isVote2 && isOfficial(context, place, both.pull, actor);
  const draft = findDraft(db, issueId, actor);
  if (opinion.type !== "PENDING") answerRequests(db, issueId, actor, isVote2);
  const id = draft ? submitDraft(context, draft, opinion, official) : insertReview(context, issueId, { ...opinion, reviewer: actor, official, isVote: isVote2 });
  db.run("UPDATE issues SET updated_at = ? WHERE id = ?", secondsOf(context.clock()), issueId);
  const type = eventTypes[opinion.type];
  if (type !== void 0) {
    const review = { type, content: opinion.body };
    emitPull(context, place, issueId, { type, action: "reviewed", requestedReviewer: actor, review });
    notifyActivity(context, { ...place, issueId, text: opinion.body });
  }
  return readReview(db, id);
}
function answerRequests(db, issueId, user, isVote2) {
  const asked = `DELETE FROM reviews WHERE issue_id = ? AND type = 'REQUEST_REVIEW'`;
  db.run(`${asked} AND reviewer_id = ?`, issueId, user.id);
  if (!isVote2) return;
  db.run(`${asked} AND team_id IN (SELECT team_id FROM team_members WHERE user_id = ?)`, issueId, user.id);
}
function submitDraft({ db, clock }, draft, opinion, official) {
  db.run(
    `UPDATE reviews SET type = ?, body = ?, commit_id = ?, stale = ?, official = ?, comment_id = ?, updated_at = ?
     WHERE id = ?`,
    opinion.type,
    opinion.body,
    opinion.commitId,
    opinion.isStale,
    official,
    draft.comment_id || takeCommentId(db),
    secondsOf(clock()),
    draft.id
  );
  return draft.id;
}
function insertReview({ db, clock }, issueId, given) {
  const now = secondsOf(clock());
  if (given.isVote) {
    db.run(
      `UPDATE reviews SET dismissed = 1, updated_at = ? WHERE issue_id = ? AND reviewer_id = ? AND dismissed = 0
         AND type IN ('APPROVED', 'REQUEST_CHANGES')`,
      now,
      issueId,
      given.reviewer.id
    );
  }
  const { lastId } = db.run(
    `INSERT INTO reviews (issue_id, reviewer_id, type, body, commit_id, stale, official, comment_id, created_at,
       updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    issueId,
    given.reviewer.id,
    given.type,
    given.body,
    given.commitId,
    given.isStale,
    given.official,
    takeCommentId(db),
    now,
    now
  );
  return lastId;
}
function openDraft({ db, clock }, issueId, user, commitId) {
  const draft = findDraft(db, issueId, user);
  if (draft) return draft.id;
  const now = secondsOf(clock());
  const { lastId } = db.run(
    `INSERT INTO reviews (issue_id, reviewer_id, type, commit_id, created_at, updated_at)
     VALUES (?, ?, 'PENDING', ?, ?, ?)`,
    issueId,
    user.id,
    commitId,
    now,
    now
  );
  return lastId;
}
function setDismissed({ db, clock }, reviews, dismissed, message = "") {
  for (const review of reviews) {
    if (review.type !== "APPROVED" && review.type !== "REQUEST_CHANGES") continue;
    if (review.dismissed === 1 === dismissed) continue;
    const sql = "UPDATE reviews SET dismissed = ?, dismissal = ?, updated_at = ? WHERE id = ?";
    db.run(sql, dismissed, message, secondsOf(clock()), review.id);
  }
}
function followHeadWithReviews(context, pull, { head, isOtherChange: isOtherChange2 }) {
  const { db } = context;
  if (isOtherChange2) {
    db.run("UPDATE reviews SET stale = 1 WHERE issue_id = ?", pull.issue_id);
    if (findBranchRule(db, pull.repo_id, pull.base_branch)?.dismiss_stale_approvals) {
      const sql = `SELECT * FROM reviews WHERE issue_id = ? AND type = 'APPROVED' AND dismissed = 0`;
      const approvals = db.all(sql, pull.issue_id);
      setDismissed(
        context,
        approvals,
        true,
        "New commits were pushed: approvals are dismissed by the protection"
      );
    }
  }
  db.run("UPDATE reviews SET stale = 0 WHERE issue_id = ? AND commit_id = ?", pull.issue_id, head);
}
function hasReviews(db, issueId) {
  return db.get("SELECT 1 AS one FROM reviews WHERE issue_id = ? LIMIT 1", issueId) !== void 0;
}
function recountOfficial(context, place, issueId) {
  const { db } = context;
  const votes = `issue_id = ? AND type IN ('APPROVED', 'REQUEST_CHANGES')`;
  db.run(`UPDATE reviews SET official = 0 WHERE ${votes}`, issueId);
  const pull = db.get("SELECT * FROM pulls WHERE issue_id = ?", issueId);
  const latest = db.all(
    `SELECT * FROM reviews WHERE id IN (SELECT max(id) FROM reviews WHERE ${votes} GROUP BY reviewer_id)`,
    issueId
  );
  for (const review of latest) {
    const user = db.get("SELECT * FROM users WHERE id = ?", review.reviewer_id);
    if (!pull || !user || !isOfficial(context, place, pull, user)) continue;
    db.run("UPDATE reviews SET official = 1 WHERE id = ?", review.id);
  }
}
function removeReview({ db }, review) {
  db.run("DELETE FROM reviews WHERE id = ?", review.id);
  if (review.official === 1 && review.reviewer_id !== null)
    restoreOfficial(db, review.issue_id, review.reviewer_id);
}
function restoreOfficial(db, issueId, userId) {
  db.run(
    `UPDATE reviews SET official = 1 WHERE id = (SELECT max(id) FROM reviews WHERE issue_id = ? AND reviewer_id = ?
       AND type IN ('APPROVED', 'REQUEST_CHANGES', 'REQUEST_REVIEW'))`,
    issueId,
    userId
  );
}

// src/forge/pull-refresh.ts
var openPulls = (
  /* sql */
  `
SELECT p.* FROM pulls p JOIN issues i ON i.id = p.issue_id WHERE i.is_closed = 0`
);
async function refreshPulls(context, branch, actor) {
  const { db, git } = context;
  const heads = db.all(
    `${openPulls} AND p.head_repo_id = ? AND p.head_branch = ? ORDER BY p.id`,
    branch.repositoryId,
    branch.name
  );
  for (const { id, repo_id } of heads) {
    await git.exclusively(repo_id, "pulls", () => followHead(context, id, actor));
  }
  await git.exclusively(branch.repositoryId, "pulls", () => followBase(context, branch, actor));
}
function followReopened(context, issueId, actor) {
  const { db, git, background } = context;
  const pull = db.get("SELECT * FROM pulls WHERE issue_id = ?", issueId);
  if (!pull) return;
  db.run(`UPDATE pulls SET status = 'checking' WHERE id = ?`, pull.id);
  db.afterCommit(() => {
    background.add(() => git.exclusively(pull.repo_id, "pulls", () => followHead(context, pull.id, actor)));
    scheduleChecks(context);
  });
}
async function followHead(context, id, actor) {
  const { db, git } = context;
  const pull = db.get(`${openPulls} AND p.id = ?`, id);
  const place = pull && placeOf(context, pull.repo_id, actor);
  if (!pull || !place || pull.head_repo_id === null) return;
  const [baseGit, headGit] = [git.open(pull.repo_id), git.open(pull.head_repo_id)];
  const [base, head] = [
    await readBranch(baseGit, pull.base_branch),
    await readBranch(headGit, pull.head_branch)
  ];
  if (!head) {
    db.run("UPDATE pulls SET is_head_gone = 1 WHERE id = ?", id);
    closePull(context, place, pull);
    return;
  }
  if (!base || head.id === pull.head_sha) return;
  await keepHead(baseGit, headGit, pull);
  const seen2 = await inspectPull(baseGit, base.id, head.id);
  const before = { from: pull.merge_base, to: pull.head_sha };
  const after = { from: seen2.merge_base, to: head.id };
  const isOther = hasReviews(db, pull.issue_id) && await isOtherChange(baseGit, before, after);
  db.transaction(() => {
    db.run(
      `UPDATE pulls SET head_sha = ?, base_sha = ?, merge_base = ?, additions = ?, deletions = ?, changed_files = ?,
         status = 'checking' WHERE id = ?`,
      head.id,
      base.id,
      seen2.merge_base,
      seen2.additions,
      seen2.deletions,
      seen2.changed_files,
      id
    );
    db.run("UPDATE issues SET updated_at = ? WHERE id = ?", secondsOf(context.clock()), pull.issue_id);
    followHeadWithReviews(context, pull, { head: head.id, isOtherChange: isOther });
    const heads = { before: pull.head_sha, after: head.id };
    emitPull(context, place, pull.issue_id, { type: "pull_request_sync", action: "synchronized", ...heads });
    notifyActivity(context, { ...place, issueId: pull.issue_id });
    db.run("UPDATE pulls SET status = ? WHERE id = ?", seen2.status, id);
  });
}
async function followBase(context, branch, actor) {
  const { db, git } = context;
  const base = await readBranch(git.open(branch.repositoryId), branch.name);
  const pulls = db.all(
    `${openPulls} AND p.repo_id = ? AND p.base_branch = ? AND p.base_sha <> ? ORDER BY p.id`,
    branch.repositoryId,
    branch.name,
    base?.id ?? ""
  );
  const place = pulls.length === 0 ? void 0 : placeOf(context, branch.repositoryId, actor);
  if (!place) return;
  for (const pull of pulls) {
    if (!base) closePull(context, place, pull);
    else if (await wasMergedByHand(place.repository, git.open(pull.repo_id), pull, base.id)) {
      await recordMerge(context, place, pull, base.id);
    } else {
      db.run(`UPDATE pulls SET base_sha = ?, status = 'checking' WHERE id = ?`, base.id, pull.id);
    }
  }
  scheduleChecks(context);
}
async function wasMergedByHand(repository, git, pull, base) {
  if (!settingsOf(repository).autodetect_manual_merge || pull.merge_base === pull.head_sha) return false;
  return await isAncestor(git, pull.head_sha, base);
}
async function recordMerge(context, place, pull, base) {
  const found3 = await findMergeCommit(context.git.open(pull.repo_id), pull.head_sha, base);
  context.db.transaction(() => {
    markMerged(context, pull, { commit: found3 ?? pull.head_sha, base, merger: place.actor });
    tellClosed(context, place, pull);
  });
}
async function keepHead(base, head, pull) {
  const target = `refs/pull/${pull.number}/head`;
  const source = `refs/heads/${pull.head_branch}`;
  if (base.id !== head.id) {
    await takeRef(base, head, { source, target });
    return;
  }
  const [before, after] = [await readRef(base, target), await readRef(head, source)];
  if (after !== void 0 && after !== before) await moveRefs(base, [{ name: target, before, after }]);
}
function placeOf(context, repositoryId, actor) {
  const repository = context.db.get("SELECT * FROM repositories WHERE id = ?", repositoryId);
  const owner = repository && context.db.get("SELECT * FROM users WHERE id = ?", repository.owner_id);
  return repository && owner && { repository, owner, actor };
}

// src/forge/issue-changes.ts
function insertIssue(context, issue) {
  const { db, clock } = context;
  const now = secondsOf(clock());
  const next = found(
    db.get(
      "UPDATE repositories SET last_index = last_index + 1, updated_at = ? WHERE id = ? RETURNING last_index AS number",
      now,
      issue.repository.id
    )
  );
  const { lastId } = db.run(
    `INSERT INTO issues (repo_id, number, is_pull, poster_id, title, body, ref, milestone_id, due_at, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    issue.repository.id,
    next.number,
    issue.isPull ?? false,
    issue.poster.id,
    issue.title,
    issue.body ?? "",
    issue.ref ?? "",
    issue.milestoneId,
    issue.dueAt ?? 0,
    now,
    now
  );
  return readIssueRow(context, lastId);
}
function readIssueRow(context, id) {
  return found(context.db.get("SELECT * FROM issues WHERE id = ?", id));
}
function touchIssue(context, id) {
  update(context, id, {});
}
function update(context, id, values) {
  const columns = Object.keys(values).map((name) => `${name} = ?, `);
  context.db.run(
    `UPDATE issues SET ${columns.join("")}updated_at = ? WHERE id = ?`,
    ...Object.values(values),
    secondsOf(context.clock()),
    id
  );
}
function changeTitle(context, scene, title) {
  const { title: from } = readIssueRow(context, scene.issueId);
  if (title === from) return;
  update(context, scene.issueId, { title });
  announceIssue(context, scene, { action: "edited", changes: { title: from } });
  const { is_pull } = readIssueRow(context, scene.issueId);
  if (is_pull && isDraftTitle(from) && !isDraftTitle(title)) notifyActivity(context, scene);
}
function changeBody(context, scene, body, version) {
  const { body: from, content_version } = readIssueRow(context, scene.issueId);
  if (version !== void 0 && version !== content_version) {
    throw new ForgeProblem(409, "the content was changed by somebody else meanwhile");
  }
  if (body === from) return;
  update(context, scene.issueId, { body, content_version: content_version + 1 });
  announceIssue(context, scene, { action: "edited", changes: { body: from } });
}
function changeRef(context, scene, ref) {
  if (ref !== readIssueRow(context, scene.issueId).ref) update(context, scene.issueId, { ref });
}
function changeDueDate(context, scene, dueAt) {
  if (dueAt !== readIssueRow(context, scene.issueId).due_at)
    update(context, scene.issueId, { due_at: dueAt });
}
function changeState(context, scene, state, commitId) {
  if (state !== "open" && state !== "closed") throw new ForgeProblem(412, `unknown state: ${state}`);
  const isClosed = state === "closed" ? 1 : 0;
  if (readIssueRow(context, scene.issueId).is_closed === isClosed) return;
  if (isClosed) refuseBlocked(context, scene.repository, scene.issueId);
  const closedAt = isClosed ? secondsOf(context.clock()) : 0;
  update(context, scene.issueId, { is_closed: isClosed, closed_at: closedAt });
  announceIssue(context, scene, { action: isClosed ? "closed" : "reopened", commitId });
  notifyActivity(context, scene);
  if (!isClosed) followReopened(context, scene.issueId, scene.actor);
}
function changeMilestone(context, scene, milestoneId) {
  const { milestone_id: from } = readIssueRow(context, scene.issueId);
  if ((from ?? 0) === milestoneId) return;
  if (milestoneId !== 0 && !hasMilestone(context, scene.repository, milestoneId)) {
    throw new ForgeProblem(404, "milestone does not exist");
  }
  update(context, scene.issueId, { milestone_id: milestoneId === 0 ? null : milestoneId });
  const action = milestoneId === 0 ? "demilestoned" : "milestoned";
  announceIssue(context, scene, { topic: "milestone", action });
}
function hasMilestone(context, repository, id) {
  const sql = "SELECT 1 AS one FROM milestones WHERE id = ? AND repo_id = ?";
  return context.db.get(sql, id, repository.id) !== void 0;
}
function findAssignees(context, place, names) {
  return [...new Set(names.map((name) => name.toLowerCase()))].map((name) => {
    const user = userNamed(context.db, name);
    if (user?.type !== "user") throw new ForgeProblem(422, `assignee does not exist: [name: ${name}]`);
    if (!mayBeAssigned(context, place, user)) {
      throw new ForgeProblem(422, `user ${user.name} cannot be assigned in this repository`);
    }
    return user;
  });
}
function mayBeAssigned({ db }, { repository, owner }, user) {
  const reaching = (unit, permission) => reaches(permissionOf(db, user, repository, owner, unit), permission);
  const units = ["code", "issues", "pulls", "wiki"];
  return reaching("pulls", "read") || units.some((unit) => reaching(unit, "write"));
}
function attachAssignees({ db }, issueId, users) {
  for (const { id } of users) {
    db.run("INSERT INTO assignees (issue_id, user_id) VALUES (?, ?)", issueId, id);
  }
}
function announceAssignees(context, scene, users) {
  for (const user of users) {
    announceIssue(context, scene, { topic: "assign", action: "assigned" });
    notifyPersons(context, { ...scene, receivers: [user] });
  }
}
function changeAssignees(context, scene, wanted) {
  const { db } = context;
  const held = db.all("SELECT user_id FROM assignees WHERE issue_id = ?", scene.issueId);
  const wantedIds = new Set(wanted.map((user) => user.id));
  const going = held.filter((row) => !wantedIds.has(row.user_id));
  const heldIds = new Set(held.map((row) => row.user_id));
  const coming = wanted.filter(({ id }) => !heldIds.has(id));
  if (going.length + coming.length === 0) return;
  for (const { user_id } of going) {
    db.run("DELETE FROM assignees WHERE issue_id = ? AND user_id = ?", scene.issueId, user_id);
  }
  attachAssignees(context, scene.issueId, coming);
  update(context, scene.issueId, {});
  for (const _one of going) announceIssue(context, scene, { topic: "assign", action: "unassigned" });
  announceAssignees(context, scene, coming);
}

// src/forge/resources/issue-lists.ts
function loadHomes(context, ids) {
  const repositories2 = context.db.all(
    "SELECT * FROM repositories WHERE id IN (SELECT value FROM json_each(?))",
    JSON.stringify([...new Set(ids)])
  );
  const owners = loadUsers(
    context,
    repositories2.map(({ owner_id }) => owner_id)
  );
  const homes = repositories2.flatMap((repository) => {
    const owner = owners.get(repository.owner_id);
    return owner ? [[repository.id, { repository, owner }]] : [];
  });
  return new Map(homes);
}
function toIssuesById(context, issues2, { homes, viewer }) {
  const shapes = /* @__PURE__ */ new Map();
  for (const [repositoryId, rows] of Map.groupBy(issues2, ({ repo_id }) => repo_id)) {
    const home = homes.get(repositoryId);
    if (!home) continue;
    for (const shape of toIssues(context, rows, { ...home, viewer })) shapes.set(shape.id, shape);
  }
  return shapes;
}

// src/forge/attachment-files.ts
function registerAttachmentFiles(app, context) {
  const readActor = createActorReader(context);
  app.get("/attachments/:uuid", async (request2, reply) => {
    try {
      const { authorization } = request2.headers;
      const actor = await readActor({ authorization, queryToken: void 0, sudo: void 0 });
      const attachment = findReadable(context, request2.params.uuid, actor.user);
      const bytes = found(await context.attachments.read(attachment.uuid));
      context.db.run("UPDATE attachments SET num_downloads = num_downloads + 1 WHERE id = ?", attachment.id);
      return reply.type("application/octet-stream").header("content-length", attachment.size).header("content-disposition", dispositionOf(attachment.name)).header("x-content-type-options", "nosniff").header("content-security-policy", "default-src 'none'; sandbox").header("cache-control", "private, max-age=0, must-revalidate").send(bytes);
    } catch (error) {
      return sendFailure(context, request2, reply, error);
    }
  });
}
function findReadable(context, uuid, user) {
  const attachment = found(
    context.db.get("SELECT * FROM attachments WHERE uuid = ?", uuid.toLowerCase())
  );
  const home = found(loadHomes(context, [attachment.repo_id]).get(attachment.repo_id));
  const { is_pull } = readIssueRow(context, attachment.issue_id);
  const unit = is_pull ? "pulls" : "issues";
  const permission = permissionOf(context.db, user, home.repository, home.owner, unit);
  return found(reaches(permission, "read") ? attachment : void 0);
}
function dispositionOf(name) {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (sign2) => `%${sign2.charCodeAt(0).toString(16)}`
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

// src/forge/attachment-store.ts
import { mkdirSync, rmSync, writeFileSync as writeFileSync2 } from "node:fs";
import { open } from "node:fs/promises";
import { join as join2 } from "node:path";
function createAttachmentStore(db, folder) {
  const pathOf = (uuid) => join2(folder, uuid.slice(0, 2), uuid);
  function sweep() {
    for (const { uuid } of db.all("SELECT uuid FROM file_trash")) {
      rmSync(pathOf(uuid), { force: true });
      db.run("DELETE FROM file_trash WHERE uuid = ?", uuid);
    }
  }
  return {
    keep(uuid, bytes, record2) {
      db.run("INSERT INTO file_trash (uuid) VALUES (?)", uuid);
      mkdirSync(join2(folder, uuid.slice(0, 2)), { recursive: true });
      writeFileSync2(pathOf(uuid), bytes, { flag: "wx" });
      return db.transaction(() => {
        db.run("DELETE FROM file_trash WHERE uuid = ?", uuid);
        return record2();
      });
    },
    async read(uuid) {
      try {
        const handle = await open(pathOf(uuid));
        return handle.createReadStream();
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "ENOENT") return void 0;
        throw error;
      }
    },
    sweep
  };
}

// src/forge/background.ts
function createBackground(log) {
  let last = Promise.resolve();
  let isClosed = false;
  async function perform2(before, work) {
    await before;
    if (isClosed) return;
    try {
      await work();
    } catch (error) {
      log.error({ err: error }, `work in the background failed: ${messageOf(error)}`);
    }
  }
  return {
    add(work) {
      if (!isClosed) last = perform2(last, work);
    },
    async idle() {
      let seen2;
      do {
        seen2 = last;
        await seen2;
      } while (seen2 !== last);
    },
    async close() {
      isClosed = true;
      await last;
    }
  };
}

// src/forge/control/faults.ts
function createFaults() {
  let fault;
  let left = 0;
  return {
    put(given) {
      fault = given;
      left = given.count;
    },
    take() {
      if (left <= 0) return void 0;
      left -= 1;
      return fault;
    }
  };
}

// src/forge/control/movable-clock.ts
function createMovableClock(clock) {
  let offsetMs = 0;
  return {
    now: () => new Date(clock().getTime() + offsetMs),
    set(to) {
      offsetMs = to.getTime() - clock().getTime();
    }
  };
}

// src/forge/control/routes.ts
import { z as z3 } from "zod";

// src/forge/runner-rows.ts
var onlineMs = 6e4;
var busyMs = 1e4;
function isOnline(runner, now) {
  return now.getTime() - runner.last_online_at * 1e3 <= onlineMs;
}
function isBusy(runner, now) {
  return isOnline(runner, now) && now.getTime() - runner.last_active_at * 1e3 <= busyMs;
}
function toRunner(runner, now) {
  return {
    id: runner.id,
    name: runner.name,
    status: isOnline(runner, now) ? "online" : "offline",
    busy: isBusy(runner, now),
    disabled: runner.is_disabled === 1,
    ephemeral: runner.is_ephemeral === 1,
    // The column holds what `replaceRunners` wrote.
    labels: JSON.parse(runner.labels).map((name, id) => ({ id, name, type: "custom" }))
  };
}
function listRunners({ db }, holder, options2) {
  const conditions = [];
  const values = [];
  if (holder.column !== "all") {
    conditions.push(`${holder.column} = ?`);
    values.push(holder.id);
  }
  if (options2.disabled !== void 0) {
    conditions.push("is_disabled = ?");
    values.push(options2.disabled ? 1 : 0);
  }
  const where = conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
  const count = db.get(`SELECT count(*) AS count FROM runners ${where}`, ...values);
  const runners2 = db.all(
    `SELECT * FROM runners ${where} ORDER BY last_online_at DESC, id LIMIT ? OFFSET ?`,
    ...values,
    options2.limit,
    options2.offset
  );
  return { runners: runners2, total: count?.count ?? 0 };
}
function findRunner({ db }, holder, id) {
  const runner = db.get("SELECT * FROM runners WHERE id = ?", id);
  if (!runner || holder.column === "all") return runner;
  return runner[holder.column] === holder.id ? runner : void 0;
}
function replaceRunners(context, told) {
  const { db, clock } = context;
  db.transaction(() => {
    const kept = [];
    for (const runner of told) {
      const known2 = db.all(
        "SELECT id FROM runners WHERE repo_id IS ? AND owner_id IS ? AND name = ? ORDER BY id",
        runner.repo_id,
        runner.owner_id,
        runner.name
      ).find(({ id }) => !kept.includes(id));
      const { lastId } = db.run(
        `INSERT OR REPLACE INTO runners (id, repo_id, owner_id, name, labels, is_ephemeral, is_disabled, last_online_at,
           last_active_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        known2?.id,
        runner.repo_id,
        runner.owner_id,
        runner.name,
        JSON.stringify(runner.labels),
        runner.isEphemeral,
        runner.isDisabled,
        runner.lastOnlineAt,
        runner.lastActiveAt,
        secondsOf(clock())
      );
      kept.push(lastId);
    }
    db.run("DELETE FROM runners WHERE id NOT IN (SELECT value FROM json_each(?))", JSON.stringify(kept));
  });
}

// src/forge/handler.ts
function defineHandlers(handlers2) {
  return handlers2;
}

// src/forge/users.ts
async function createAccount(context, account) {
  const { db, clock } = context;
  const hash = account.password ? await hashPassword(account.password) : "";
  return db.transaction(() => {
    assertNameIsFree(context, account.name);
    assertEmailIsFree(context, account.email);
    db.run("DELETE FROM account_redirects WHERE lower_name = ?", account.name.toLowerCase());
    const now = secondsOf(clock());
    db.run(
      `INSERT INTO users (name, lower_name, full_name, email, password_hash, is_admin, is_restricted,
         must_change_password, visibility, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      account.name,
      account.name.toLowerCase(),
      account.full_name ?? "",
      account.email,
      hash,
      account.isAdmin ?? false,
      account.isRestricted ?? false,
      account.mustChangePassword ?? false,
      account.visibility ?? "public",
      now,
      now
    );
    return userOrThrow(context, account.name);
  });
}
async function ensureAdministrator(context, account) {
  if (!userNamed(context.db, account.name)) return createAccount(context, { ...account, isAdmin: true });
  const hash = await hashPassword(account.password ?? "");
  context.db.run(
    "UPDATE users SET password_hash = ?, is_admin = 1 WHERE lower_name = ?",
    hash,
    account.name.toLowerCase()
  );
  return userOrThrow(context, account.name);
}
function userOrThrow(context, name) {
  const row = userNamed(context.db, name);
  if (!row) throw new TypeError(`account ${name} is gone right after it was written`);
  return row;
}
var reservedNames = /* @__PURE__ */ new Set([
  ...[".", "..", ".well-known", "api", "metrics", "v2", "assets", "attachments", "avatar", "avatars"],
  ...["repo-avatars", "captcha", "login", "org", "repo", "user", "explore", "issues", "pulls", "milestones"],
  ...["notifications", "favicon.ico", "manifest.json", "robots.txt", "sitemap.xml", "ssh_info"],
  ...["swagger.v1.json", "openapi3.v1.json", "ghost", "gitea-actions"]
]);
function isReserved(name) {
  return reservedNames.has(name.toLowerCase()) || /\.(keys|gpg|rss|atom|png)$/i.test(name);
}
function assertNameIsFree(context, name) {
  const isUsable = /^[a-zA-Z0-9](?:[a-zA-Z0-9]|[-_.](?![-_.]))*$/.test(name) && /[a-zA-Z0-9]$/.test(name);
  if (!isUsable || name.length > 40 || isReserved(name)) {
    throw new ForgeProblem(422, `name is invalid or reserved [name: ${name}]`);
  }
  if (userNamed(context.db, name)) throw new ForgeProblem(422, `user already exists [name: ${name}]`);
}
function assertEmailIsFree(context, email) {
  if (!isEmail(email)) throw new ForgeProblem(422, `e-mail invalid [email: ${email}]`);
  const taken = context.db.get(
    `SELECT 1 AS one FROM users WHERE lower(email) = ? AND email <> '' AND type = 'user'`,
    email.toLowerCase()
  );
  if (taken) throw new ForgeProblem(422, `e-mail already in use [email: ${email}]`);
}
function isEmail(text) {
  return text.length <= 254 && /^[^\s@<>()[\],;:"\\-][^\s@<>()[\],;:"\\]*@[^\s@<>()[\],;:"\\]+$/.test(text);
}
function readVisibility(text) {
  if (text === void 0 || text === "") return void 0;
  if (text === "public" || text === "limited" || text === "private") return text;
  throw new ForgeProblem(422, `[Visibility]: In(,public,limited,private)`);
}
var userHandlers = defineHandlers({
  getSelf: ({ caller, context }) => toUser(context, caller, caller),
  getUser: ({ account, caller, context }) => toUser(context, account, caller),
  async createUser({ body, caller, context }) {
    const account = await createAccount(context, {
      name: body.username,
      email: body.email,
      password: body.password,
      full_name: body.full_name,
      visibility: readVisibility(body.visibility),
      isRestricted: body.restricted,
      // The baseline's default for an account that an administrator makes.
      mustChangePassword: body.must_change_password ?? true
    });
    return toUser(context, account, caller);
  }
});

// src/forge/seed/caller.ts
import { randomBytes as randomBytes3 } from "node:crypto";
function createSeedCaller(app, context) {
  const { db, clock } = context;
  const tokens = /* @__PURE__ */ new Map();
  function tokenOf(name) {
    const known2 = tokens.get(name.toLowerCase());
    if (known2) return known2.secret;
    const user = userNamed(db, name);
    if (!user) throw new ReeveError("usage", `there is no account ${name}`);
    const secret = randomBytes3(20).toString("hex");
    const { lastId } = db.run(
      "INSERT INTO tokens (user_id, name, digest, last_eight, scopes, created_at) VALUES (?, ?, ?, ?, ?, ?)",
      user.id,
      `seed-${secret.slice(0, 8)}`,
      digestOf(secret),
      secret.slice(-8),
      '["all"]',
      secondsOf(clock())
    );
    tokens.set(name.toLowerCase(), { id: lastId, secret });
    return secret;
  }
  return {
    async call(name, operation, input) {
      const { params, query, body } = input;
      const path = fillPath(operation, params);
      const search = new URLSearchParams(
        Object.entries(query ?? {}).map(([member, value]) => [member, String(value)])
      );
      const answer2 = await app.inject({
        method: operation.method,
        url: `/api/v1${path}?${search}`,
        headers: { authorization: `token ${tokenOf(name)}`, "content-type": "application/json" },
        ...body === void 0 ? {} : { payload: JSON.stringify(body) }
      });
      if (answer2.statusCode >= 300) {
        throw new ReeveError(
          "usage",
          `${operation.method} ${path} as ${name}: ${answer2.statusCode} ${answer2.body.slice(0, 300)}`
        );
      }
      const shaped = operation.response?.parse(answer2.body === "" ? null : answer2.json());
      return shaped;
    },
    close() {
      for (const { id } of tokens.values()) db.run("DELETE FROM tokens WHERE id = ?", id);
      tokens.clear();
    }
  };
}

// src/forge/seed/references.ts
var lower = (text) => text.toLowerCase();
function collectNames(seed, db) {
  const people = new Set(seed.accounts?.map(({ name }) => lower(name)));
  const organizations = new Set(seed.organizations?.map(({ name }) => lower(name)));
  const repositories2 = new Set(seed.repositories?.map(({ name }) => lower(name)));
  return {
    isPerson: (name) => people.has(lower(name)) || userNamed(db, name)?.type === "user",
    isOwner: (name) => people.has(lower(name)) || organizations.has(lower(name)) || userNamed(db, name) !== void 0,
    isRepository(fullName) {
      if (repositories2.has(lower(fullName))) return true;
      const sql = `SELECT 1 AS one FROM repositories r JOIN users o ON o.id = r.owner_id
        WHERE o.lower_name || '/' || r.lower_name = ?`;
      return db.get(sql, lower(fullName)) !== void 0;
    }
  };
}
function findSeedProblems(seed, db) {
  const problems = [];
  const names = collectNames(seed, db);
  const report2 = (path, message) => {
    problems.push({ path, message });
  };
  const person2 = (path, name) => {
    if (!names.isPerson(name)) report2(path, `there is no account ${name}`);
  };
  const repository = (path, name) => {
    if (!names.isRepository(name)) report2(path, `there is no repository ${name}`);
  };
  findDoubles(seed, report2);
  for (const [at, account] of (seed.accounts ?? []).entries()) {
    for (const [star, name] of (account.starred ?? []).entries())
      repository(["accounts", at, "starred", star], name);
  }
  for (const [at, organization] of (seed.organizations ?? []).entries())
    checkOrganization(organization, ["organizations", at], { person: person2, repository });
  for (const [at, one] of (seed.repositories ?? []).entries()) {
    const path = ["repositories", at];
    const [owner = ""] = one.name.split("/");
    if (!names.isOwner(owner)) report2([...path, "name"], `there is no account or organization ${owner}`);
    const organization = seed.organizations?.find(({ name }) => lower(name) === lower(owner));
    checkRepository(one, path, { person: person2, report: report2, organization });
  }
  for (const [at, runner] of (seed.runners ?? []).entries()) {
    const path = ["runners", at];
    if (runner.repository !== void 0) repository([...path, "repository"], runner.repository);
    if (runner.owner !== void 0 && !names.isOwner(runner.owner))
      report2([...path, "owner"], `there is no organization or account ${runner.owner}`);
    if (runner.repository !== void 0 && runner.owner !== void 0)
      report2(path, "a runner has a repository or an owner, not both");
  }
  return problems;
}
function findDoubles(seed, report2) {
  const seen2 = /* @__PURE__ */ new Set();
  const once = (path, key, name) => {
    if (seen2.has(key)) report2(path, `${name} is made twice`);
    seen2.add(key);
  };
  for (const list2 of ["accounts", "organizations", "repositories"]) {
    for (const [at, { name }] of (seed[list2] ?? []).entries()) once([list2, at, "name"], lower(name), name);
  }
}
function checkOrganization(organization, path, check) {
  check.person([...path, "owner"], organization.owner);
  for (const [at, team] of (organization.teams ?? []).entries()) {
    for (const [place, name] of (team.members ?? []).entries())
      check.person([...path, "teams", at, "members", place], name);
    for (const [place, name] of (team.repositories ?? []).entries())
      check.repository([...path, "teams", at, "repositories", place], `${organization.name}/${name}`);
  }
}
function checkRepository(repository, path, check) {
  const { person: person2, report: report2, organization } = check;
  const branches = /* @__PURE__ */ new Set([repository.default_branch ?? "main"]);
  const needsCommits = ["branches", "tags", "pulls"];
  for (const member of needsCommits) {
    if (repository.files === void 0 && (repository[member]?.length ?? 0) > 0)
      report2([...path, member], "a repository without files has no commit to start from");
  }
  for (const name of Object.keys(repository.collaborators ?? {}))
    person2([...path, "collaborators", name], name);
  for (const [at, branch] of (repository.branches ?? []).entries()) {
    if (branch.from !== void 0 && !branches.has(branch.from))
      report2([...path, "branches", at, "from"], `there is no branch ${branch.from} before this one`);
    branches.add(branch.name);
  }
  const labels = new Set(
    [...repository.labels ?? [], ...organization?.labels ?? []].map(({ name }) => name)
  );
  const milestones = new Set(repository.milestones?.map(({ title }) => title));
  const conversation2 = (issue, place) => {
    person2([...place, "by"], issue.by);
    for (const [at, name] of (issue.assignees ?? []).entries()) person2([...place, "assignees", at], name);
    for (const [at, { by }] of (issue.comments ?? []).entries()) person2([...place, "comments", at, "by"], by);
    for (const [at, name] of (issue.labels ?? []).entries()) {
      if (!labels.has(name)) report2([...place, "labels", at], `there is no label ${name}`);
    }
    if (issue.milestone !== void 0 && !milestones.has(issue.milestone))
      report2([...place, "milestone"], `there is no milestone ${issue.milestone}`);
  };
  for (const [at, issue] of (repository.issues ?? []).entries()) conversation2(issue, [...path, "issues", at]);
  for (const [at, pull] of (repository.pulls ?? []).entries()) {
    const place = [...path, "pulls", at];
    conversation2(pull, place);
    for (const member of ["head", "base"]) {
      const branch = pull[member];
      if (branch !== void 0 && !branches.has(branch))
        report2([...place, member], `there is no branch ${branch}`);
    }
    for (const [one, name] of (pull.reviewers ?? []).entries()) person2([...place, "reviewers", one], name);
    for (const [one, { by }] of (pull.reviews ?? []).entries()) person2([...place, "reviews", one, "by"], by);
    if (pull.merged !== void 0 && pull.state !== void 0)
      report2([...place, "state"], "a merged pull request is closed");
  }
}

// src/forge/seed/conversations.ts
async function createConversations(making) {
  const { issues: issues2 = [], pulls = [] } = making.repository;
  if (issues2.length + pulls.length === 0) return;
  const ids = await readIds(making);
  for (const issue of issues2) await createIssue(making, ids, issue);
  for (const pull of pulls) await createPull(making, ids, pull);
}
async function readIds({ caller, by, params, repository }) {
  const wanted = new Set(
    [...repository.issues ?? [], ...repository.pulls ?? []].flatMap(({ labels: labels2 }) => labels2 ?? [])
  );
  const own = new Set(repository.labels?.map(({ name }) => name));
  const labels = /* @__PURE__ */ new Map();
  const milestones = /* @__PURE__ */ new Map();
  const isShared = [...wanted].some((name) => !own.has(name));
  if (isShared) {
    const at = { org: params.owner };
    await eachPage(async (query) => {
      const page2 = await caller.call(by, operations.listOrganizationLabels, { params: at, query });
      for (const { name, id } of page2) labels.set(name, id);
      return page2.length;
    });
  }
  await eachPage(async (query) => {
    const page2 = await caller.call(by, operations.listLabels, { params, query });
    for (const { name, id } of page2) labels.set(name, id);
    return page2.length;
  });
  for (const { title } of repository.milestones ?? []) {
    const at = { params: { ...params, id: title } };
    milestones.set(title, (await caller.call(by, operations.getMilestone, at)).id);
  }
  return { labels, milestones };
}
async function eachPage(read) {
  for (let page2 = 1; await read({ page: page2, limit: 50 }) > 0; ) page2 += 1;
}
function opening(issue) {
  return { title: issue.title, body: issue.body, assignees: issue.assignees, due_date: issue.due_date };
}
async function dress(making, ids, issue, index) {
  const { caller, by, params } = making;
  const at = { ...params, index };
  const labels = (issue.labels ?? []).map((name) => idOf(ids.labels, name));
  if (labels.length > 0) await caller.call(by, operations.addIssueLabels, { params: at, body: { labels } });
  const body = {
    ...issue.milestone === void 0 ? {} : { milestone: idOf(ids.milestones, issue.milestone) },
    ...issue.assignees === void 0 ? {} : { assignees: issue.assignees },
    ...issue.due_date === void 0 ? {} : { due_date: issue.due_date }
  };
  if (Object.keys(body).length > 0) await caller.call(by, operations.editIssue, { params: at, body });
  for (const comment of issue.comments ?? []) {
    const said = { body: comment.body };
    await caller.call(comment.by, operations.createComment, { params: at, body: said });
  }
}
function idOf(ids, name) {
  const id = ids.get(name);
  if (id === void 0)
    throw new ReeveError("usage", `there is no "${name}" among the first of the repository`);
  return id;
}
async function createIssue(making, ids, issue) {
  const { caller, by, params } = making;
  const { title, body } = opening(issue);
  const { number } = await caller.call(issue.by, operations.createIssue, { params, body: { title, body } });
  await dress(making, ids, issue, number);
  if (issue.state === "closed") {
    const at = { ...params, index: number };
    await caller.call(by, operations.editIssue, { params: at, body: { state: "closed" } });
  }
}
async function createPull(making, ids, pull) {
  const { caller, by, params, repository } = making;
  const { title, body } = opening(pull);
  const base = pull.base ?? repository.default_branch ?? "main";
  const made = await caller.call(pull.by, operations.createPull, {
    params,
    body: { title, body, head: pull.head, base }
  });
  const at = { ...params, index: made.number };
  await dress(making, ids, pull, made.number);
  if (pull.reviewers) {
    await caller.call(by, operations.requestReviews, { params: at, body: { reviewers: pull.reviewers } });
  }
  for (const status of pull.statuses ?? []) {
    const commit = { ...params, sha: made.head?.sha ?? "" };
    await caller.call(by, operations.createStatus, { params: commit, body: status });
  }
  for (const { by: reviewer, ...review } of pull.reviews ?? []) {
    await caller.call(reviewer, operations.createReview, { params: at, body: review });
  }
  if (pull.merged) await caller.call(by, operations.mergePull, { params: at, body: { do: pull.merged } });
  else if (pull.state === "closed")
    await caller.call(by, operations.editPull, { params: at, body: { state: "closed" } });
}

// src/forge/seed/repository.ts
async function createSeedRepository(context, caller, seed, repository) {
  const [owner = "", repo = ""] = repository.name.split("/");
  if (isThere(context, owner, repo)) return;
  const by = makerOf(context, seed, owner);
  const making = { caller, by, params: { owner, repo }, repository };
  await createEmpty(context, making);
  try {
    await giveToTeams(context, seed, making);
    await fill(making);
  } catch (error) {
    await caller.call(by, operations.deleteRepository, { params: making.params });
    throw error;
  }
}
function isThere({ db }, owner, name) {
  const sql = `SELECT 1 AS one FROM repositories r JOIN users o ON o.id = r.owner_id
    WHERE o.lower_name = ? AND r.lower_name = ?`;
  return db.get(sql, owner.toLowerCase(), name.toLowerCase()) !== void 0;
}
function makerOf({ db }, seed, owner) {
  const told = seed.organizations?.find(({ name }) => name.toLowerCase() === owner.toLowerCase());
  if (told) return told.owner;
  const row = userNamed(db, owner);
  if (row?.type === "user") return row.name;
  const first = db.get(
    `SELECT u.name FROM team_members m JOIN teams t ON t.id = m.team_id JOIN users u ON u.id = m.user_id
     WHERE m.org_id = ? AND t.permission = 'owner' ORDER BY u.id LIMIT 1`,
    row?.id
  );
  if (!first) throw new ReeveError("usage", `nobody owns ${owner}`);
  return first.name;
}
async function createEmpty(context, { caller, by, params, repository }) {
  const { description, private: isPrivate, template, default_branch } = repository;
  const body = { name: params.repo, description, private: isPrivate, template, default_branch };
  if (userNamed(context.db, params.owner)?.type === "organization") {
    await caller.call(by, operations.createOrganizationRepository, { params: { org: params.owner }, body });
  } else await caller.call(by, operations.createRepository, { body });
}
async function giveToTeams(context, seed, { caller, by, params }) {
  const isNamed2 = (one, other) => one.toLowerCase() === other.toLowerCase();
  const organization = seed.organizations?.find(({ name }) => isNamed2(name, params.owner));
  for (const { name, repositories: repositories2 = [] } of organization?.teams ?? []) {
    if (!repositories2.some((repository) => isNamed2(repository, params.repo))) continue;
    const row = context.db.get(
      "SELECT t.id FROM teams t JOIN users o ON o.id = t.org_id WHERE o.lower_name = ? AND t.lower_name = ?",
      params.owner.toLowerCase(),
      name.toLowerCase()
    );
    if (!row) throw new ReeveError("usage", `the organization has no team ${name}`);
    const at = { id: row.id, org: params.owner, repo: params.repo };
    await caller.call(by, operations.putTeamRepository, { params: at });
  }
}
async function fill(making) {
  const { caller, by, params, repository } = making;
  for (const [collaborator, permission] of Object.entries(repository.collaborators ?? {})) {
    const at = { ...params, collaborator };
    await caller.call(by, operations.putCollaborator, { params: at, body: { permission } });
  }
  await writeHistory(making);
  for (const [title, text] of Object.entries(repository.wiki ?? {})) {
    const body = { title, content_base64: toBase64(text) };
    await caller.call(by, operations.createWikiPage, { params, body });
  }
  for (const body of repository.labels ?? []) await caller.call(by, operations.createLabel, { params, body });
  for (const { state, ...body } of repository.milestones ?? []) {
    await caller.call(by, operations.createMilestone, { params, body: { ...body, state } });
  }
  for (const hook of repository.hooks ?? []) {
    await caller.call(by, operations.createHook, { params, body: hookBody(hook) });
  }
  await createConversations(making);
  for (const body of repository.protections ?? []) {
    await caller.call(by, operations.createBranchProtection, { params, body });
  }
  if (repository.archived)
    await caller.call(by, operations.editRepository, { params, body: { archived: true } });
}
async function writeHistory({ caller, by, params, repository }) {
  const commit = async (files, message, branch) => {
    const edits = Object.entries(files).map(([path, text]) => ({
      operation: "upload",
      path,
      content: toBase64(text)
    }));
    await caller.call(by, operations.changeFiles, { params, body: { message, branch, files: edits } });
  };
  if (repository.files) await commit(repository.files, "Initial commit", repository.default_branch ?? "main");
  for (const { name, from, files, message } of repository.branches ?? []) {
    const body = { new_branch_name: name, ...from === void 0 ? {} : { old_ref_name: from } };
    await caller.call(by, operations.createBranch, { params, body });
    if (files) await commit(files, message ?? `Work on ${name}`, name);
  }
  for (const { name, target, message } of repository.tags ?? []) {
    await caller.call(by, operations.createTag, { params, body: { tag_name: name, target, message } });
  }
}
function hookBody({
  url,
  type = "gitea",
  content_type = "json",
  secret,
  active = true,
  ...rest
}) {
  return {
    type,
    config: { url, content_type, ...secret === void 0 ? {} : { secret } },
    active,
    ...rest
  };
}
function toBase64(text) {
  return Buffer.from(text).toString("base64");
}

// src/forge/seed/runner-shape.ts
import { z as z2 } from "zod";
var instant = z2.iso.datetime({ offset: true });
var Runner = z2.strictObject({
  name: z2.string().min(1).max(255),
  repository: z2.string().optional().describe("owner/name; without it and owner the runner is the instance\u2019s."),
  owner: z2.string().optional().describe("An organization or an account."),
  labels: z2.array(z2.string().min(1)).optional(),
  ephemeral: z2.boolean().optional(),
  disabled: z2.boolean().optional(),
  state: z2.enum(["offline", "idle", "busy"]).optional().describe("Absent: as the two instants say."),
  last_online_at: instant.optional().describe("Online for a minute from here."),
  last_active_at: instant.optional().describe("Busy for ten seconds from here, where it is online.")
});
var always = Date.UTC(9999, 11, 31, 23, 59, 59) / 1e3;
function readRunner(db, runner) {
  const { repository, owner, state } = runner;
  if (repository !== void 0 && owner !== void 0)
    return { problem: "has a repository or an owner, not both" };
  const repositoryId = repository === void 0 ? null : findRepositoryId(db, repository);
  const ownerId = owner === void 0 ? null : userNamed(db, owner)?.id;
  if (repositoryId === void 0) return { problem: `there is no repository ${repository}` };
  if (ownerId === void 0) return { problem: `there is no organization or account ${owner}` };
  const isOnline2 = state === "idle" || state === "busy";
  const told = (text) => parseInstant(text) ?? 0;
  return {
    repo_id: repositoryId,
    owner_id: ownerId,
    name: runner.name,
    labels: runner.labels ?? [],
    isEphemeral: runner.ephemeral ?? false,
    isDisabled: runner.disabled ?? false,
    lastOnlineAt: state === void 0 ? told(runner.last_online_at) : isOnline2 ? always : 0,
    lastActiveAt: state === void 0 ? told(runner.last_active_at) : state === "busy" ? always : 0
  };
}
function findRepositoryId(db, fullName) {
  const [owner = "", name = ""] = fullName.split("/");
  return db.get(
    `SELECT r.id FROM repositories r JOIN users o ON o.id = r.owner_id WHERE o.lower_name = ? AND r.lower_name = ?`,
    owner.toLowerCase(),
    name.toLowerCase()
  )?.id;
}

// src/forge/seed/apply.ts
var plainPlace = (path) => path.map(String).join(".");
async function applySeed(app, context, { seed, placeOf: placeOf4 = plainPlace }) {
  const problems = findSeedProblems(seed, context.db);
  if (problems.length > 0) {
    const lines = problems.map(({ path, message }) => `${placeOf4(path)}: ${message}`);
    throw new ReeveError("usage", `the seed cannot be used
${lines.join("\n")}`);
  }
  const caller = createSeedCaller(app, context);
  const at = async (path, work) => {
    try {
      await work();
    } catch (cause) {
      throw new ReeveError("usage", `${placeOf4(path)}: the seed stopped here: ${messageOf(cause)}`, {
        cause
      });
    }
  };
  try {
    for (const [index, account] of (seed.accounts ?? []).entries()) {
      await at(["accounts", index], () => ensureAccount(context, account));
    }
    for (const [index, organization] of (seed.organizations ?? []).entries()) {
      await at(["organizations", index], () => ensureOrganization(context, caller, organization));
    }
    for (const [index, repository] of (seed.repositories ?? []).entries()) {
      await at(["repositories", index], () => createSeedRepository(context, caller, seed, repository));
    }
    for (const [index, account] of (seed.accounts ?? []).entries()) {
      await at(["accounts", index, "starred"], () => giveStars(caller, account));
    }
    if (seed.runners !== void 0) putRunners(context, seed.runners);
  } finally {
    caller.close();
  }
}
function putRunners(context, runners2) {
  const told = [];
  for (const [at, runner] of runners2.entries()) {
    const row = readRunner(context.db, runner);
    if ("problem" in row) throw new ReeveError("usage", `runners.${at}: ${row.problem}`);
    told.push(row);
  }
  replaceRunners(context, told);
}
async function ensureAccount(context, account) {
  if (userNamed(context.db, account.name)) return;
  await createAccount(context, {
    name: account.name,
    email: account.email ?? `${account.name}@localhost`,
    password: account.password,
    full_name: account.full_name,
    visibility: account.visibility,
    isRestricted: account.restricted,
    isAdmin: account.admin
  });
}
async function giveStars(caller, account) {
  for (const fullName of account.starred ?? []) {
    const [owner = "", repo = ""] = fullName.split("/");
    await caller.call(account.name, operations.star, { params: { owner, repo } });
  }
}
async function ensureOrganization(context, caller, organization) {
  const { name, owner, teams = [], labels = [], hooks: hooks2 = [], ...profile } = organization;
  if (userNamed(context.db, name)) return;
  const params = { org: name };
  await caller.call(owner, operations.createOrganization, { body: { username: name, ...profile } });
  for (const { members: members2 = [], repositories: _, ...team } of teams) {
    const { id } = await caller.call(owner, operations.createTeam, { params, body: team });
    for (const username of members2) {
      await caller.call(owner, operations.putTeamMember, { params: { id, username } });
    }
  }
  for (const label of labels) {
    await caller.call(owner, operations.createOrganizationLabel, { params, body: label });
  }
  for (const hook of hooks2) {
    await caller.call(owner, operations.createOrganizationHook, { params, body: hookBody(hook) });
  }
}

// src/forge/control/routes.ts
var Runners = z3.union([z3.array(Runner), z3.strictObject({ runners: z3.array(Runner) })]);
var Clock = z3.union([
  z3.strictObject({ now: z3.iso.datetime({ offset: true }) }),
  z3.strictObject({ advance_ms: z3.int() })
]);
var FaultShape = z3.strictObject({
  latency_ms: z3.int().min(0).max(6e5).default(0),
  status: z3.int().min(400).max(599).optional(),
  count: z3.int().min(0).default(1)
});
function registerControl(app, context, control) {
  app.addHook("onRequest", async (request2, reply) => {
    if (!isBearer(request2.headers.authorization, control.token)) {
      return reply.code(401).send({ message: "the bearer in control.token is required" });
    }
  });
  app.put(
    "/-/control/runners",
    (request2, reply) => answer(request2, reply, Runners, (given) => {
      putRunners(context, Array.isArray(given) ? given : given.runners);
      return void 0;
    })
  );
  app.post(
    "/-/control/clock",
    (request2, reply) => answer(request2, reply, Clock, (given) => {
      const now = context.clock().getTime();
      control.clock.set("now" in given ? new Date(given.now) : new Date(now + given.advance_ms));
      return { now: context.clock().toISOString() };
    })
  );
  app.put(
    "/-/control/faults",
    (request2, reply) => answer(request2, reply, FaultShape, ({ latency_ms, status, count }) => {
      control.faults.put({ latencyMs: latency_ms, status, count });
      return void 0;
    })
  );
  app.post(
    "/-/control/hooks/:id/deliveries/:uuid/redeliver",
    (request2, reply) => {
      const { id, uuid } = request2.params;
      const again = redeliverOf(context, Number(id), uuid);
      if (again === void 0) return reply.code(404).send({ message: "no such delivery of this hook" });
      return reply.code(202).send({ uuid: again });
    }
  );
}
function redeliverOf(context, hookId, uuid) {
  const sql = "SELECT * FROM hook_tasks WHERE uuid = ? AND hook_id = ?";
  const task = context.db.get(sql, uuid, Number.isSafeInteger(hookId) ? hookId : 0);
  return task && context.deliveries.redeliver(task.uuid);
}
function answer(request2, reply, shape, work) {
  const parsed = shape.safeParse(request2.body ?? {});
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      ({ path, message }) => `${path.join(".") || "the body"}: ${message}`
    );
    return reply.code(422).send({ message: problems.join("\n") });
  }
  try {
    const said = work(parsed.data);
    return said ? reply.code(200).send(said) : reply.code(204).send();
  } catch (error) {
    if (error instanceof ReeveError && error.code === "usage")
      return reply.code(422).send({ message: messageOf(error) });
    throw error;
  }
}

// src/forge/database.ts
import { DatabaseSync } from "node:sqlite";

// src/forge/migrations/001-accounts.ts
var accounts = (
  /* sql */
  `
CREATE TABLE users (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL DEFAULT 'user' CHECK (type IN ('user', 'organization')),
  name TEXT NOT NULL,
  lower_name TEXT NOT NULL UNIQUE,
  full_name TEXT NOT NULL DEFAULT '',
  email TEXT NOT NULL DEFAULT '',
  password_hash TEXT NOT NULL DEFAULT '',
  is_admin INTEGER NOT NULL DEFAULT 0,
  is_active INTEGER NOT NULL DEFAULT 1,
  is_restricted INTEGER NOT NULL DEFAULT 0,
  prohibit_login INTEGER NOT NULL DEFAULT 0,
  must_change_password INTEGER NOT NULL DEFAULT 0,
  visibility TEXT NOT NULL DEFAULT 'public' CHECK (visibility IN ('public', 'limited', 'private')),
  description TEXT NOT NULL DEFAULT '',
  location TEXT NOT NULL DEFAULT '',
  website TEXT NOT NULL DEFAULT '',
  language TEXT NOT NULL DEFAULT '',
  repo_admin_change_team_access INTEGER NOT NULL DEFAULT 0,
  num_stars INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_login_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX users_email ON users (lower(email)) WHERE email <> '' AND type = 'user';

CREATE TABLE teams (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  org_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  lower_name TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  permission TEXT NOT NULL DEFAULT 'read' CHECK (permission IN ('none', 'read', 'write', 'admin', 'owner')),
  includes_all_repositories INTEGER NOT NULL DEFAULT 0,
  can_create_org_repo INTEGER NOT NULL DEFAULT 0,
  units_map TEXT NOT NULL DEFAULT '{}',
  visibility TEXT NOT NULL DEFAULT 'private',
  UNIQUE (org_id, lower_name)
) STRICT;

CREATE TABLE team_members (
  team_id INTEGER NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  org_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  PRIMARY KEY (team_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX team_members_user ON team_members (user_id, org_id);
CREATE INDEX team_members_org ON team_members (org_id);

CREATE TABLE tokens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  digest TEXT NOT NULL UNIQUE,
  last_eight TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL DEFAULT 0,
  UNIQUE (user_id, name)
) STRICT;
`
);

// src/forge/migrations/002-repositories.ts
var repositories = (
  /* sql */
  `
CREATE TABLE repositories (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner_id INTEGER NOT NULL REFERENCES users (id),
  name TEXT NOT NULL,
  lower_name TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  website TEXT NOT NULL DEFAULT '',
  default_branch TEXT NOT NULL DEFAULT 'main',
  object_format TEXT NOT NULL DEFAULT 'sha1' CHECK (object_format IN ('sha1', 'sha256')),
  is_private INTEGER NOT NULL DEFAULT 0,
  is_template INTEGER NOT NULL DEFAULT 0,
  is_empty INTEGER NOT NULL DEFAULT 1,
  archived_at INTEGER NOT NULL DEFAULT 0,
  fork_id INTEGER REFERENCES repositories (id) ON DELETE SET NULL,
  settings TEXT NOT NULL DEFAULT '{}',
  topics TEXT NOT NULL DEFAULT '[]',
  size INTEGER NOT NULL DEFAULT 0,
  num_branches INTEGER NOT NULL DEFAULT 0,
  num_forks INTEGER NOT NULL DEFAULT 0,
  num_stars INTEGER NOT NULL DEFAULT 0,
  num_watches INTEGER NOT NULL DEFAULT 0,
  num_releases INTEGER NOT NULL DEFAULT 0,
  num_open_issues INTEGER NOT NULL DEFAULT 0,
  num_open_pulls INTEGER NOT NULL DEFAULT 0,
  last_index INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (owner_id, lower_name)
) STRICT;
CREATE INDEX repositories_fork ON repositories (fork_id, owner_id);

CREATE TRIGGER repositories_forked AFTER INSERT ON repositories WHEN NEW.fork_id IS NOT NULL BEGIN
  UPDATE repositories SET num_forks = num_forks + 1 WHERE id = NEW.fork_id;
END;
CREATE TRIGGER repositories_unforked AFTER DELETE ON repositories WHEN OLD.fork_id IS NOT NULL BEGIN
  UPDATE repositories SET num_forks = num_forks - 1 WHERE id = OLD.fork_id;
END;

CREATE TABLE redirects (
  owner_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  lower_name TEXT NOT NULL,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  PRIMARY KEY (owner_id, lower_name)
) STRICT, WITHOUT ROWID;
CREATE INDEX redirects_repo ON redirects (repo_id);

CREATE TABLE team_repositories (
  team_id INTEGER NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  PRIMARY KEY (team_id, repo_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX team_repositories_repo ON team_repositories (repo_id);

CREATE TABLE collaborators (
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  permission TEXT NOT NULL CHECK (permission IN ('read', 'write', 'admin')),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (repo_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX collaborators_user ON collaborators (user_id, repo_id);

CREATE TABLE stars (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  UNIQUE (user_id, repo_id)
) STRICT;
CREATE INDEX stars_repo ON stars (repo_id);
CREATE TRIGGER stars_given AFTER INSERT ON stars BEGIN
  UPDATE repositories SET num_stars = num_stars + 1 WHERE id = NEW.repo_id;
  UPDATE users SET num_stars = num_stars + 1 WHERE id = NEW.user_id;
END;
CREATE TRIGGER stars_taken AFTER DELETE ON stars BEGIN
  UPDATE repositories SET num_stars = num_stars - 1 WHERE id = OLD.repo_id;
  UPDATE users SET num_stars = num_stars - 1 WHERE id = OLD.user_id;
END;
`
);

// src/forge/migrations/003-issues.ts
var issues = (
  /* sql */
  `
CREATE TABLE labels (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER REFERENCES repositories (id) ON DELETE CASCADE,
  org_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  color TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  exclusive INTEGER NOT NULL DEFAULT 0,
  archived_at INTEGER NOT NULL DEFAULT 0,
  num_issues INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK ((repo_id IS NULL) <> (org_id IS NULL))
) STRICT;
CREATE INDEX labels_repo ON labels (repo_id, name);
CREATE INDEX labels_org ON labels (org_id, name);

CREATE TABLE milestones (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  title TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  is_closed INTEGER NOT NULL DEFAULT 0,
  num_open INTEGER NOT NULL DEFAULT 0,
  num_closed INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL DEFAULT 0,
  closed_at INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX milestones_repo ON milestones (repo_id, is_closed);

CREATE TABLE issues (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  is_pull INTEGER NOT NULL DEFAULT 0,
  poster_id INTEGER NOT NULL REFERENCES users (id),
  title TEXT NOT NULL,
  body TEXT NOT NULL DEFAULT '',
  ref TEXT NOT NULL DEFAULT '',
  is_closed INTEGER NOT NULL DEFAULT 0,
  is_locked INTEGER NOT NULL DEFAULT 0,
  milestone_id INTEGER REFERENCES milestones (id) ON DELETE SET NULL,
  num_comments INTEGER NOT NULL DEFAULT 0,
  content_version INTEGER NOT NULL DEFAULT 0,
  time_estimate INTEGER NOT NULL DEFAULT 0,
  pin_order INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL DEFAULT 0,
  closed_at INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (repo_id, number)
) STRICT;
CREATE INDEX issues_newest ON issues (repo_id, is_closed, is_pull, created_at DESC, id DESC);
CREATE INDEX issues_kind ON issues (repo_id, is_pull, created_at DESC, id DESC);
CREATE INDEX issues_created ON issues (repo_id, created_at DESC, id DESC);
CREATE INDEX issues_milestone ON issues (milestone_id) WHERE milestone_id IS NOT NULL;
CREATE INDEX issues_poster ON issues (repo_id, poster_id);

CREATE TRIGGER issues_added AFTER INSERT ON issues BEGIN
  UPDATE repositories SET num_open_issues = num_open_issues + (NEW.is_closed = 0 AND NEW.is_pull = 0),
    num_open_pulls = num_open_pulls + (NEW.is_closed = 0 AND NEW.is_pull = 1) WHERE id = NEW.repo_id;
  UPDATE milestones SET num_open = num_open + (NEW.is_closed = 0), num_closed = num_closed + NEW.is_closed
    WHERE id = NEW.milestone_id;
END;
CREATE TRIGGER issues_changed AFTER UPDATE OF is_closed, milestone_id ON issues BEGIN
  UPDATE repositories SET num_open_issues = num_open_issues + (OLD.is_closed - NEW.is_closed) * (NEW.is_pull = 0),
    num_open_pulls = num_open_pulls + (OLD.is_closed - NEW.is_closed) * (NEW.is_pull = 1) WHERE id = NEW.repo_id;
  UPDATE milestones SET num_open = num_open - (OLD.is_closed = 0), num_closed = num_closed - OLD.is_closed
    WHERE id = OLD.milestone_id;
  UPDATE milestones SET num_open = num_open + (NEW.is_closed = 0), num_closed = num_closed + NEW.is_closed
    WHERE id = NEW.milestone_id;
END;

CREATE TABLE issue_labels (
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  label_id INTEGER NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
  PRIMARY KEY (issue_id, label_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX issue_labels_label ON issue_labels (label_id, issue_id);
CREATE TRIGGER issue_labels_added AFTER INSERT ON issue_labels BEGIN
  UPDATE labels SET num_issues = num_issues + 1 WHERE id = NEW.label_id;
END;
CREATE TRIGGER issue_labels_removed AFTER DELETE ON issue_labels BEGIN
  UPDATE labels SET num_issues = num_issues - 1 WHERE id = OLD.label_id;
END;

CREATE TABLE assignees (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  UNIQUE (issue_id, user_id)
) STRICT;
CREATE INDEX assignees_user ON assignees (user_id, issue_id);

CREATE TABLE comments (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  poster_id INTEGER NOT NULL REFERENCES users (id),
  body TEXT NOT NULL,
  content_version INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX comments_issue ON comments (issue_id, created_at, id);
CREATE INDEX comments_repo ON comments (repo_id);
CREATE TRIGGER comments_added AFTER INSERT ON comments BEGIN
  UPDATE issues SET num_comments = num_comments + 1 WHERE id = NEW.issue_id;
END;
CREATE TRIGGER comments_removed AFTER DELETE ON comments BEGIN
  UPDATE issues SET num_comments = num_comments - 1 WHERE id = OLD.issue_id;
END;

CREATE TABLE pulls (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  issue_id INTEGER NOT NULL UNIQUE REFERENCES issues (id) ON DELETE CASCADE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  base_branch TEXT NOT NULL,
  base_sha TEXT NOT NULL DEFAULT '',
  head_repo_id INTEGER REFERENCES repositories (id) ON DELETE SET NULL,
  head_branch TEXT NOT NULL,
  head_sha TEXT NOT NULL,
  is_head_gone INTEGER NOT NULL DEFAULT 0,
  merge_base TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'checking' CHECK (status IN ('checking', 'mergeable', 'conflict', 'error')),
  is_merged INTEGER NOT NULL DEFAULT 0,
  merged_commit_sha TEXT NOT NULL DEFAULT '',
  merged_at INTEGER NOT NULL DEFAULT 0,
  merger_id INTEGER REFERENCES users (id),
  allow_maintainer_edit INTEGER NOT NULL DEFAULT 0,
  additions INTEGER NOT NULL DEFAULT 0,
  deletions INTEGER NOT NULL DEFAULT 0,
  changed_files INTEGER NOT NULL DEFAULT 0,
  UNIQUE (repo_id, number)
) STRICT;
CREATE INDEX pulls_head ON pulls (head_repo_id, head_branch);
CREATE INDEX pulls_base ON pulls (repo_id, base_branch);
CREATE INDEX pulls_checking ON pulls (id) WHERE status = 'checking';
`
);

// src/forge/migrations/004-hooks.ts
var hooks = (
  /* sql */
  `
CREATE TABLE hooks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER REFERENCES repositories (id) ON DELETE CASCADE,
  owner_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  is_system INTEGER NOT NULL DEFAULT 0,
  type TEXT NOT NULL,
  name TEXT NOT NULL DEFAULT '',
  url TEXT NOT NULL,
  content_type TEXT NOT NULL CHECK (content_type IN ('json', 'form')),
  secret TEXT NOT NULL DEFAULT '',
  meta TEXT NOT NULL DEFAULT '{}',
  events TEXT NOT NULL DEFAULT '[]',
  branch_filter TEXT NOT NULL DEFAULT '',
  authorization_header TEXT NOT NULL DEFAULT '',
  is_active INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK (repo_id IS NULL OR owner_id IS NULL)
) STRICT;
CREATE INDEX hooks_repo ON hooks (repo_id) WHERE repo_id IS NOT NULL;
CREATE INDEX hooks_owner ON hooks (owner_id) WHERE owner_id IS NOT NULL;
CREATE INDEX hooks_system ON hooks (is_system) WHERE repo_id IS NULL AND owner_id IS NULL;

CREATE TABLE hook_tasks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  hook_id INTEGER NOT NULL REFERENCES hooks (id) ON DELETE CASCADE,
  event_type TEXT NOT NULL,
  event TEXT NOT NULL,
  payload TEXT NOT NULL,
  request_headers TEXT NOT NULL DEFAULT '{}',
  request_body TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'sending', 'delivered', 'failed')),
  response_status INTEGER NOT NULL DEFAULT 0,
  response_headers TEXT NOT NULL DEFAULT '{}',
  response_body TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  delivered_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX hook_tasks_hook ON hook_tasks (hook_id, id);
CREATE INDEX hook_tasks_age ON hook_tasks (created_at);
CREATE INDEX hook_tasks_queued ON hook_tasks (id) WHERE state = 'queued';
CREATE INDEX hook_tasks_sending ON hook_tasks (id) WHERE state = 'sending';
`
);

// src/forge/migrations/005-runners.ts
var runners = (
  /* sql */
  `
CREATE TABLE runners (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER REFERENCES repositories (id) ON DELETE CASCADE,
  owner_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  labels TEXT NOT NULL DEFAULT '[]',
  is_ephemeral INTEGER NOT NULL DEFAULT 0,
  is_disabled INTEGER NOT NULL DEFAULT 0,
  last_online_at INTEGER NOT NULL DEFAULT 0,
  last_active_at INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  CHECK (repo_id IS NULL OR owner_id IS NULL)
) STRICT;
CREATE INDEX runners_online ON runners (last_online_at DESC, id);
CREATE INDEX runners_repo ON runners (repo_id, last_online_at DESC, id) WHERE repo_id IS NOT NULL;
CREATE INDEX runners_owner ON runners (owner_id, last_online_at DESC, id) WHERE owner_id IS NOT NULL;

CREATE TABLE runner_tokens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER REFERENCES repositories (id) ON DELETE CASCADE,
  owner_id INTEGER REFERENCES users (id) ON DELETE CASCADE,
  token TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX runner_tokens_holder ON runner_tokens (repo_id, owner_id);

ALTER TABLE hook_tasks ADD COLUMN again_of TEXT NOT NULL DEFAULT '';
`
);

// src/forge/migrations/006-memberships.ts
var memberships = (
  /* sql */
  `
-- People and organizations share a table; lists are of one kind, by name.
CREATE INDEX users_type ON users (type, lower_name);

CREATE TABLE account_redirects (
  lower_name TEXT PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX account_redirects_user ON account_redirects (user_id);

CREATE TABLE public_memberships (
  org_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  PRIMARY KEY (org_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX public_memberships_user ON public_memberships (user_id);
CREATE TRIGGER memberships_ended AFTER DELETE ON team_members BEGIN
  DELETE FROM public_memberships WHERE org_id = OLD.org_id AND user_id = OLD.user_id AND NOT EXISTS (
    SELECT 1 FROM team_members m WHERE m.org_id = OLD.org_id AND m.user_id = OLD.user_id);
END;

CREATE TABLE transfers (
  repo_id INTEGER PRIMARY KEY REFERENCES repositories (id) ON DELETE CASCADE,
  doer_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  recipient_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  team_ids TEXT NOT NULL DEFAULT '[]',
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX transfers_doer ON transfers (doer_id);
CREATE INDEX transfers_recipient ON transfers (recipient_id);

CREATE TABLE oauth2_applications (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  client_id TEXT NOT NULL UNIQUE,
  secret_digest TEXT NOT NULL,
  is_confidential INTEGER NOT NULL DEFAULT 0,
  skip_secondary_authorization INTEGER NOT NULL DEFAULT 0,
  redirect_uris TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX oauth2_applications_user ON oauth2_applications (user_id, id);

CREATE TABLE oauth2_grants (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  application_id INTEGER NOT NULL REFERENCES oauth2_applications (id) ON DELETE CASCADE,
  scope TEXT NOT NULL,
  nonce TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  UNIQUE (user_id, application_id)
) STRICT;
CREATE INDEX oauth2_grants_application ON oauth2_grants (application_id);

CREATE TABLE oauth2_codes (
  digest TEXT PRIMARY KEY,
  grant_id INTEGER NOT NULL REFERENCES oauth2_grants (id) ON DELETE CASCADE,
  redirect_uri TEXT NOT NULL,
  challenge TEXT NOT NULL DEFAULT '',
  challenge_method TEXT NOT NULL DEFAULT '',
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX oauth2_codes_grant ON oauth2_codes (grant_id);
CREATE INDEX oauth2_codes_expiry ON oauth2_codes (expires_at);

CREATE TABLE signing_keys (
  name TEXT PRIMARY KEY,
  private_key TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`
);

// src/forge/migrations/007-conversation.ts
var conversation = (
  /* sql */
  `
CREATE TABLE dependencies (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  blocker_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  UNIQUE (issue_id, blocker_id)
) STRICT;
CREATE INDEX dependencies_blocker ON dependencies (blocker_id);
CREATE INDEX dependencies_user ON dependencies (user_id);

CREATE TABLE tracked_times (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  time INTEGER NOT NULL,
  is_deleted INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX tracked_times_issue ON tracked_times (issue_id, user_id);
CREATE INDEX tracked_times_repo ON tracked_times (repo_id, user_id);
CREATE INDEX tracked_times_user ON tracked_times (user_id);

CREATE TABLE attachments (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  comment_id INTEGER REFERENCES comments (id) ON DELETE CASCADE,
  uploader_id INTEGER NOT NULL REFERENCES users (id),
  name TEXT NOT NULL,
  size INTEGER NOT NULL,
  num_downloads INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX attachments_issue ON attachments (issue_id, comment_id);
CREATE INDEX attachments_comment ON attachments (comment_id) WHERE comment_id IS NOT NULL;
CREATE INDEX attachments_repo ON attachments (repo_id);
CREATE INDEX attachments_uploader ON attachments (uploader_id);
CREATE TABLE file_trash (uuid TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TRIGGER attachments_removed AFTER DELETE ON attachments BEGIN
  INSERT OR IGNORE INTO file_trash (uuid) VALUES (OLD.uuid);
END;

CREATE INDEX issues_pinned ON issues (repo_id, is_pull, pin_order) WHERE pin_order > 0;
CREATE INDEX comments_poster ON comments (issue_id, poster_id);

CREATE TABLE watches (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  UNIQUE (user_id, repo_id)
) STRICT;
CREATE INDEX watches_repo ON watches (repo_id);
INSERT INTO watches (user_id, repo_id, created_at)
  SELECT r.owner_id, r.id, r.created_at FROM repositories r JOIN users u ON u.id = r.owner_id WHERE u.type = 'user';
UPDATE repositories SET num_watches = (SELECT count(*) FROM watches w WHERE w.repo_id = repositories.id);
CREATE TRIGGER watches_begun AFTER INSERT ON watches BEGIN
  UPDATE repositories SET num_watches = num_watches + 1 WHERE id = NEW.repo_id;
END;
CREATE TRIGGER watches_ended AFTER DELETE ON watches BEGIN
  UPDATE repositories SET num_watches = num_watches - 1 WHERE id = OLD.repo_id;
END;
-- A repository that becomes private forgets who watched it, and a collaborator who goes watches no longer.
CREATE TRIGGER watches_closed AFTER UPDATE OF is_private ON repositories WHEN NEW.is_private = 1 AND OLD.is_private = 0
BEGIN
  DELETE FROM watches WHERE repo_id = NEW.id;
END;
CREATE TRIGGER watches_lost AFTER DELETE ON collaborators BEGIN
  DELETE FROM watches WHERE repo_id = OLD.repo_id AND user_id = OLD.user_id;
END;

CREATE TABLE issue_watches (
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  is_watching INTEGER NOT NULL,
  PRIMARY KEY (issue_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX issue_watches_user ON issue_watches (user_id);

CREATE TABLE notifications (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  source TEXT NOT NULL CHECK (source IN ('issue', 'pull', 'commit', 'repository')),
  status TEXT NOT NULL DEFAULT 'unread' CHECK (status IN ('unread', 'read', 'pinned')),
  issue_id INTEGER REFERENCES issues (id) ON DELETE CASCADE,
  commit_sha TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX notifications_issue ON notifications (issue_id, user_id) WHERE issue_id IS NOT NULL;
CREATE INDEX notifications_newest ON notifications (user_id, updated_at DESC, id DESC);
CREATE INDEX notifications_status ON notifications (user_id, status, updated_at DESC, id DESC);
CREATE INDEX notifications_repo ON notifications (repo_id, user_id, updated_at DESC, id DESC);
`
);

// src/forge/migrations/008-protections.ts
var protections = (
  /* sql */
  `
CREATE TABLE branch_protections (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  rule_name TEXT NOT NULL,
  priority INTEGER NOT NULL,
  terms TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (repo_id, rule_name)
) STRICT;

CREATE TABLE tag_protections (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  name_pattern TEXT NOT NULL,
  whitelist_users TEXT NOT NULL DEFAULT '[]',
  whitelist_teams TEXT NOT NULL DEFAULT '[]',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX tag_protections_repo ON tag_protections (repo_id);

CREATE TABLE reviews (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  issue_id INTEGER NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
  reviewer_id INTEGER REFERENCES users (id),
  team_id INTEGER REFERENCES teams (id) ON DELETE CASCADE,
  type TEXT NOT NULL CHECK (type IN ('PENDING', 'COMMENT', 'APPROVED', 'REQUEST_CHANGES', 'REQUEST_REVIEW')),
  body TEXT NOT NULL DEFAULT '',
  commit_id TEXT NOT NULL DEFAULT '',
  official INTEGER NOT NULL DEFAULT 0,
  stale INTEGER NOT NULL DEFAULT 0,
  dismissed INTEGER NOT NULL DEFAULT 0,
  dismissal TEXT NOT NULL DEFAULT '',
  comment_id INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  CHECK ((reviewer_id IS NULL) <> (team_id IS NULL))
) STRICT;
CREATE INDEX reviews_issue ON reviews (issue_id, reviewer_id);
CREATE INDEX reviews_reviewer ON reviews (reviewer_id);
CREATE INDEX reviews_team ON reviews (team_id) WHERE team_id IS NOT NULL;
CREATE TRIGGER reviews_added AFTER INSERT ON reviews WHEN NEW.comment_id > 0 BEGIN
  UPDATE issues SET num_comments = num_comments + 1 WHERE id = NEW.issue_id;
END;
CREATE TRIGGER reviews_submitted AFTER UPDATE OF comment_id ON reviews
WHEN OLD.comment_id = 0 AND NEW.comment_id > 0 BEGIN
  UPDATE issues SET num_comments = num_comments + 1 WHERE id = NEW.issue_id;
END;
CREATE TRIGGER reviews_removed AFTER DELETE ON reviews WHEN OLD.comment_id > 0 BEGIN
  UPDATE issues SET num_comments = num_comments - 1 WHERE id = OLD.issue_id;
END;

CREATE TABLE review_comments (
  id INTEGER PRIMARY KEY,
  review_id INTEGER NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  poster_id INTEGER NOT NULL REFERENCES users (id),
  body TEXT NOT NULL,
  path TEXT NOT NULL,
  line INTEGER NOT NULL,
  commit_id TEXT NOT NULL DEFAULT '',
  diff_hunk TEXT NOT NULL DEFAULT '',
  resolver_id INTEGER REFERENCES users (id),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX review_comments_review ON review_comments (review_id, id);
CREATE INDEX review_comments_repo ON review_comments (repo_id);

CREATE TABLE commit_statuses (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  sha TEXT NOT NULL,
  number INTEGER NOT NULL,
  state TEXT NOT NULL,
  target_url TEXT NOT NULL DEFAULT '',
  description TEXT NOT NULL DEFAULT '',
  context TEXT NOT NULL DEFAULT '',
  creator_id INTEGER NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  UNIQUE (repo_id, sha, number)
) STRICT;
CREATE INDEX commit_statuses_context ON commit_statuses (repo_id, sha, context, number);
`
);

// src/forge/migrations/009-unfinished.ts
var unfinished = (
  /* sql */
  `
CREATE TABLE unfinished (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repo_id INTEGER NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
  work TEXT NOT NULL CHECK (work IN ('creating', 'pushing'))
) STRICT;
CREATE INDEX unfinished_repo ON unfinished (repo_id);
`
);

// src/forge/database.ts
var migrations = [
  accounts,
  repositories,
  issues,
  hooks,
  runners,
  memberships,
  conversation,
  protections,
  unfinished
];
function openDatabase(file) {
  const sqlite = new DatabaseSync(file, { timeout: 5e3, enableForeignKeyConstraints: true });
  sqlite.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA recursive_triggers = OFF;");
  migrate(sqlite, file);
  return createDatabase(sqlite);
}
function migrate(sqlite, file) {
  const { user_version: version } = sqlite.prepare("PRAGMA user_version").get();
  if (version > migrations.length) {
    throw new ReeveError(
      "store-newer",
      `${file}: schema ${version} is newer than this program knows (${migrations.length}); use the newer program`
    );
  }
  for (const [index, migration] of migrations.entries()) {
    if (index < version) continue;
    sqlite.exec(`BEGIN IMMEDIATE; ${migration}; PRAGMA user_version = ${index + 1}; COMMIT;`);
  }
}
function createDatabase(sqlite) {
  const statements = /* @__PURE__ */ new Map();
  let waiting = [];
  let depth = 0;
  function prepare(sql) {
    const known2 = statements.get(sql);
    if (known2) return known2;
    const statement = sqlite.prepare(sql);
    if (statements.size > 2e3) statements.clear();
    statements.set(sql, statement);
    return statement;
  }
  function transaction(work) {
    const [begin, commit, rollback] = depth === 0 ? ["BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"] : [`SAVEPOINT s${depth}`, `RELEASE s${depth}`, `ROLLBACK TO s${depth}; RELEASE s${depth}`];
    const before = waiting.length;
    sqlite.exec(begin);
    depth += 1;
    let result;
    try {
      result = work();
      if (result instanceof Promise) throw new TypeError("a transaction must not wait");
      sqlite.exec(commit);
    } catch (error) {
      if (sqlite.isTransaction) sqlite.exec(rollback);
      waiting.length = before;
      throw error;
    } finally {
      depth -= 1;
    }
    if (depth === 0) runWaiting();
    return result;
  }
  function runWaiting() {
    const due = waiting;
    waiting = [];
    for (const work of due) work();
  }
  return {
    // The rows' types are the callers' knowledge of the schema; SQLite has none to offer.
    all: (sql, ...values) => prepare(sql).all(...values.map(toInput)),
    get: (sql, ...values) => prepare(sql).get(...values.map(toInput)),
    run(sql, ...values) {
      const { changes, lastInsertRowid } = prepare(sql).run(...values.map(toInput));
      return { changes: Number(changes), lastId: Number(lastInsertRowid) };
    },
    transaction,
    afterCommit(work) {
      if (depth === 0) work();
      else waiting.push(work);
    },
    close: () => sqlite.close()
  };
}
function toInput(value) {
  if (typeof value === "boolean") return value ? 1 : 0;
  return value === void 0 ? null : value;
}

// src/forge/deliver.ts
import { createHmac, randomUUID } from "node:crypto";

// src/forge/exchange.ts
import http from "node:http";
import https from "node:https";
var maxAnswerBytes = 1024 * 1024;
var maxRedirects = 10;
async function post({ url, headers, body, signal }) {
  let hop = { method: "POST", url: new URL(url), headers: { ...headers } };
  for (let redirects = 0; ; redirects += 1) {
    const answer2 = await request(hop, hop.method === "POST" ? body : void 0, signal);
    const next = redirectOf(hop, answer2);
    if (next === void 0) return answer2;
    if (redirects === maxRedirects) throw new Error(`stopped after ${maxRedirects} redirects`);
    hop = next;
  }
}
function redirectOf(hop, answer2) {
  const location = answer2.headers.location;
  if (location === void 0 || ![301, 302, 303, 307, 308].includes(answer2.status)) return void 0;
  const url = new URL(location, hop.url);
  const headers = { ...hop.headers };
  if (url.hostname !== hop.url.hostname) delete headers.Authorization;
  return { method: answer2.status >= 307 ? hop.method : "GET", url, headers };
}
function request(hop, body, signal) {
  const { promise, resolve, reject } = Promise.withResolvers();
  if (hop.url.protocol !== "http:" && hop.url.protocol !== "https:") {
    throw new Error(`unsupported protocol scheme "${hop.url.protocol}"`);
  }
  const length = body === void 0 ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
  const program = hop.url.protocol === "https:" ? https : http;
  const sent = program.request(hop.url, {
    method: hop.method,
    agent: false,
    signal,
    headers: { ...hop.headers, ...length }
  });
  sent.on("error", reject);
  sent.on("response", (response) => {
    const pieces = [];
    let bytes = 0;
    const finish2 = () => {
      const headers = {};
      for (const [name, value] of Object.entries(response.headers)) headers[name] = String(value);
      const kept = Buffer.concat(pieces).subarray(0, maxAnswerBytes).toString("utf8");
      resolve({ status: response.statusCode ?? 0, headers, body: kept });
    };
    response.on("data", (piece) => {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes < maxAnswerBytes) return;
      finish2();
      response.destroy();
    });
    response.on("error", reject);
    response.on("end", finish2);
  });
  sent.end(body);
  return promise;
}

// src/forge/deliver.ts
var keptSeconds = 7 * 24 * 3600;
var cleaningMs = 36e5;
var perHook = 4;
var inAll = 64;
function createDeliveries(options2) {
  const { database, log, now, timeoutMs = 5e3 } = options2;
  const underWay = /* @__PURE__ */ new Map();
  let waiting = [];
  let isClosed = false;
  let isWoken = false;
  database.run(
    `UPDATE hook_tasks SET state = 'failed', response_body = ? WHERE state = 'sending'`,
    "the forge stopped"
  );
  const settleWaiting = () => {
    if (isWoken || underWay.size > 0) return;
    const due = waiting;
    waiting = [];
    for (const resolve of due) resolve();
  };
  const nextTask = () => {
    const counts = /* @__PURE__ */ new Map();
    for (const { hookId } of underWay.values()) counts.set(hookId, (counts.get(hookId) ?? 0) + 1);
    const full = [...counts].filter(([, count]) => count >= perHook).map(([hookId]) => hookId);
    return database.get(
      `SELECT * FROM hook_tasks WHERE state = 'queued' AND hook_id NOT IN (SELECT value FROM json_each(?))
       ORDER BY id LIMIT 1`,
      JSON.stringify(full)
    );
  };
  const pump = () => {
    isWoken = false;
    while (!isClosed && underWay.size < inAll) {
      const task = nextTask();
      if (task === void 0) break;
      database.run(`UPDATE hook_tasks SET state = 'sending' WHERE id = ?`, task.id);
      const abort = new AbortController();
      const done = send(task, abort.signal).finally(() => {
        underWay.delete(task.id);
        wake();
      });
      underWay.set(task.id, { hookId: task.hook_id, abort, done });
    }
    settleWaiting();
  };
  const wake = () => {
    if (isWoken || isClosed) return;
    isWoken = true;
    setImmediate(pump);
  };
  async function send(task, stop) {
    const hook = database.get("SELECT * FROM hooks WHERE id = ?", task.hook_id);
    if (hook === void 0) return;
    if (hook.is_active === 0) {
      record2(task.id, "failed", { body: "the hook is not active" });
      return;
    }
    const body = bodyOf(hook, task.payload);
    const headers = headersOf(task, hook, targetTypeOf(database, hook));
    database.run(
      "UPDATE hook_tasks SET request_headers = ?, request_body = ? WHERE id = ?",
      JSON.stringify(headers),
      body,
      task.id
    );
    const authorization = hook.authorization_header;
    try {
      const answer2 = await post({
        url: hook.url,
        headers: authorization === "" ? headers : { ...headers, Authorization: authorization },
        body,
        signal: AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)])
      });
      record2(task.id, answer2.status >= 200 && answer2.status <= 299 ? "delivered" : "failed", answer2);
    } catch (error) {
      if (stop.aborted) {
        database.run(`UPDATE hook_tasks SET state = 'queued' WHERE id = ?`, task.id);
        return;
      }
      const reason = messageOf(error);
      record2(task.id, "failed", { body: `Delivery: ${reason}` });
      log.info({ delivery: task.uuid, hook: hook.id, reason }, "a delivery failed");
    }
  }
  function record2(id, state, answer2) {
    database.run(
      `UPDATE hook_tasks SET state = ?, response_status = ?, response_headers = ?, response_body = ?, delivered_at = ?
       WHERE id = ?`,
      state,
      answer2.status ?? 0,
      JSON.stringify(answer2.headers ?? {}),
      answer2.body,
      now(),
      id
    );
  }
  const clean2 = () => {
    const old = now() - keptSeconds;
    database.run(`DELETE FROM hook_tasks WHERE created_at < ? AND state IN ('delivered', 'failed')`, old);
  };
  const cleaning = setInterval(clean2, cleaningMs);
  cleaning.unref();
  clean2();
  wake();
  return {
    wake,
    idle: () => {
      const promise = new Promise((resolve) => waiting.push(resolve));
      wake();
      if (isClosed) settleWaiting();
      return promise;
    },
    list: (hookId, limit = 50) => database.all(
      "SELECT * FROM hook_tasks WHERE hook_id = ? ORDER BY id DESC LIMIT ?",
      hookId,
      limit
    ),
    redeliver(uuid) {
      const again = randomUUID();
      const { changes } = database.run(
        `INSERT INTO hook_tasks (uuid, hook_id, event_type, event, payload, created_at, again_of)
         SELECT ?, hook_id, event_type, event, payload, ?, uuid FROM hook_tasks WHERE uuid = ?`,
        again,
        now(),
        uuid
      );
      if (changes === 0) return void 0;
      database.afterCommit(wake);
      return again;
    },
    async close() {
      isClosed = true;
      clearInterval(cleaning);
      const ending = [...underWay.values()];
      for (const { abort } of ending) abort.abort();
      await Promise.all(ending.map(({ done }) => done));
      isWoken = false;
      settleWaiting();
    }
  };
}
function bodyOf(hook, payload) {
  return hook.content_type === "form" ? new URLSearchParams({ payload }).toString() : payload;
}
function targetTypeOf(database, hook) {
  if (hook.repo_id !== null) return "repository";
  if (hook.owner_id === null) return hook.is_system === 1 ? "system" : "default";
  const owner = database.get("SELECT type FROM users WHERE id = ?", hook.owner_id);
  return owner?.type ?? "user";
}
function headersOf(task, hook, targetType) {
  const sign2 = (algorithm) => hook.secret === "" ? "" : createHmac(algorithm, hook.secret).update(task.payload).digest("hex");
  const sha256 = sign2("sha256");
  return {
    "User-Agent": "Go-http-client/1.1",
    "Content-Type": hook.content_type === "form" ? "application/x-www-form-urlencoded" : "application/json",
    ...Object.fromEntries(
      ["Gitea", "Gogs", "GitHub"].flatMap((name) => [
        [`X-${name}-Delivery`, task.uuid],
        [`X-${name}-Event`, task.event],
        [`X-${name}-Event-Type`, task.event_type]
      ])
    ),
    "X-Gitea-Signature": sha256,
    "X-Gogs-Signature": sha256,
    "X-Hub-Signature": `sha1=${sign2("sha1")}`,
    "X-Hub-Signature-256": `sha256=${sha256}`,
    "X-Gitea-Hook-Installation-Target-Type": targetType,
    "X-GitHub-Hook-Installation-Target-Type": targetType
  };
}

// src/forge/events.ts
import { randomUUID as randomUUID2 } from "node:crypto";
var eventNames = {
  issue_assign: "issues",
  issue_label: "issues",
  issue_milestone: "issues",
  pull_request_assign: "pull_request",
  pull_request_label: "pull_request",
  pull_request_milestone: "pull_request",
  pull_request_sync: "pull_request",
  pull_request_review_request: "pull_request",
  pull_request_comment: "issue_comment",
  pull_request_review_approved: "pull_request_approved",
  pull_request_review_rejected: "pull_request_rejected",
  pull_request_review_comment: "pull_request_comment"
};
var filtered = /* @__PURE__ */ new Set(["push", "create", "delete"]);
var narrow = /* @__PURE__ */ new Set(["repository", "wiki"]);
function eventNameOf(type) {
  return eventNames[type] ?? type;
}
function payloadText(type, payload) {
  return JSON.stringify(payload, null, narrow.has(type) ? 1 : 2);
}
var hooksOf = (
  /* sql */
  `
SELECT * FROM (SELECT *, 0 AS level FROM hooks WHERE repo_id = ?1
  UNION ALL SELECT *, 1 FROM hooks WHERE owner_id = ?2
  UNION ALL SELECT *, 2 FROM hooks WHERE repo_id IS NULL AND owner_id IS NULL AND is_system = 1)
WHERE is_active = 1 ORDER BY level, id`
);
function createEmit(context, wake) {
  const { db } = context;
  return (emission) => {
    const hooks2 = db.all(hooksOf, emission.repository?.id ?? 0, emission.owner.id).filter((hook) => wants(hook, emission));
    if (hooks2.length === 0) return;
    const text = payloadText(emission.type, emission.payload());
    for (const hook of hooks2) queueDelivery(context, hook.id, emission.type, text);
    db.afterCommit(wake);
  };
}
function queueDelivery({ db, clock }, hookId, type, text) {
  const uuid = randomUUID2();
  db.run(
    "INSERT INTO hook_tasks (uuid, hook_id, event_type, event, payload, created_at) VALUES (?, ?, ?, ?, ?, ?)",
    uuid,
    hookId,
    type,
    eventNameOf(type),
    text,
    secondsOf(clock())
  );
  return uuid;
}
function wants(hook, { type, ref }) {
  const events = JSON.parse(hook.events);
  const subscription = /^pull_request_review_(approved|rejected|comment)$/.test(type) ? "pull_request_review" : type;
  if (!events.includes(type) && !events.includes(subscription)) return false;
  return !filtered.has(type) || ref === void 0 || passesFilter(hook.branch_filter, ref);
}
function passesFilter(filter, ref) {
  if (filter === "" || filter === "*" || filter === "**") return true;
  try {
    const matches = createGlob(filter.replace(/^!/, "\\!"), { separator: "" });
    return matches(ref) || ref.startsWith("refs/heads/") && matches(ref.slice("refs/heads/".length));
  } catch (error) {
    if (error instanceof GlobError) return false;
    throw error;
  }
}

// src/forge/features.ts
var defaultFeatures = { crossRepositoryDependencies: true, attachments: true };

// src/forge/git/store.ts
import { existsSync, mkdirSync as mkdirSync2, writeFileSync as writeFileSync3 } from "node:fs";
import { rm } from "node:fs/promises";
import { join as join3 } from "node:path";

// src/forge/git/commit-files.ts
import { randomUUID as randomUUID3 } from "node:crypto";
async function commitFiles(repository, commit) {
  if (!isRefName(commit.branch)) throw new ReeveError("git-failed", `"${commit.branch}" is no branch name`);
  const temporary = `refs/reeve/${randomUUID3()}`;
  const { stdout } = await repository.git.run(["fast-import", "--quiet", "--force", "--date-format=raw"], {
    folder: repository.folder,
    input: streamOf(commit, temporary)
  });
  const id = stdout.toString("latin1").trim();
  const isMoved = await moveRefs(repository, [
    { name: `refs/heads/${commit.branch}`, before: commit.before, after: id },
    { name: temporary, before: id, after: void 0 }
  ]);
  if (isMoved) return id;
  await moveRefs(repository, [{ name: temporary, before: id, after: void 0 }]);
  throw new ReeveError("forge-conflict", `the branch ${commit.branch} was moved by somebody else`);
}
function streamOf(commit, ref) {
  const parts = [
    `commit ${ref}
mark :1
`,
    `author ${lineOf(commit.author)}
committer ${lineOf(commit.committer)}
`,
    ...dataOf(Buffer.from(commit.message))
  ];
  if (commit.parent !== void 0) parts.push(`from ${commit.parent}
`);
  for (const { path, content, mode = "100644" } of commit.edits) {
    const clean2 = cleanTreePath(path);
    if (!clean2) throw new ReeveError("git-failed", `"${path}" is no path of a file`);
    if (content === void 0) parts.push(`D ${quotePath(clean2)}
`);
    else parts.push(`M ${mode} inline ${quotePath(clean2)}
`, ...dataOf(content));
  }
  parts.push("\nget-mark :1\n");
  return Buffer.concat(parts.map((part) => typeof part === "string" ? Buffer.from(part) : part));
}
function dataOf(content) {
  return [`data ${content.length}
`, content, "\n"];
}
function quotePath(path) {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
function lineOf({ name, email, seconds, zone }) {
  const clean2 = (text) => text.replace(/[<>\n\0]/g, "").trim();
  return `${clean2(name)} <${clean2(email)}> ${Math.trunc(seconds)} ${zone}`;
}

// src/forge/git/objects.ts
function createObjectReader(git, folder) {
  let child;
  let questions = [];
  const drop = (dead, reason) => {
    if (child !== dead) return;
    child = void 0;
    const unanswered = questions;
    questions = [];
    for (const { reject } of unanswered) reject(new ReeveError("git-failed", `git cat-file ${reason}`));
  };
  const open3 = () => {
    const opened = git.start(["cat-file", "--batch-command"], { folder });
    const parse2 = createAnswerParser(() => questions.shift());
    opened.stdout.on("data", (piece) => {
      if (child === opened) parse2(piece);
    });
    opened.stderr.resume();
    opened.stdin.on("error", () => {
    });
    opened.on("error", (error) => drop(opened, `did not start: ${error.message}`));
    opened.on("close", () => drop(opened, "ended before it answered"));
    return opened;
  };
  const ask = (wantsContent, name) => {
    if (/[\0\n]/.test(name)) return Promise.resolve(void 0);
    const { promise, resolve, reject } = Promise.withResolvers();
    child ??= open3();
    questions.push({ wantsContent, resolve, reject });
    child.stdin.write(`${wantsContent ? "contents" : "info"} ${name}
`);
    return promise;
  };
  return {
    info: (name) => ask(false, name),
    read: (name) => ask(true, name),
    close() {
      if (child === void 0) return;
      const closing2 = child;
      drop(closing2, "was closed");
      closing2.kill("SIGKILL");
    }
  };
}
function createAnswerParser(nextQuestion) {
  let rest = [];
  let length = 0;
  let pending;
  const take = (bytes) => {
    const whole = rest.length === 1 && rest[0] ? rest[0] : Buffer.concat(rest);
    rest = bytes < whole.length ? [whole.subarray(bytes)] : [];
    length = whole.length - bytes;
    return whole.subarray(0, bytes);
  };
  const lineEnd = () => {
    let before = 0;
    for (const piece of rest) {
      const at = piece.indexOf(10);
      if (at >= 0) return before + at;
      before += piece.length;
    }
    return -1;
  };
  return (piece) => {
    rest.push(piece);
    length += piece.length;
    for (; ; ) {
      if (pending) {
        if (length < pending.info.size + 1) return;
        const content = Buffer.from(take(pending.info.size + 1).subarray(0, -1));
        pending.question.resolve({ ...pending.info, content });
        pending = void 0;
        continue;
      }
      const end = lineEnd();
      if (end < 0) return;
      const info = parseInfo(take(end + 1).toString("utf8"));
      const question = nextQuestion();
      if (question === void 0) return;
      if (info !== void 0 && question.wantsContent) pending = { question, info };
      else question.resolve(info === void 0 ? void 0 : { ...info, content: Buffer.alloc(0) });
    }
  };
}
function parseInfo(line2) {
  const match = /^([0-9a-f]+) (commit|tree|blob|tag) (\d+)\n$/.exec(line2);
  if (!match?.[1]) return void 0;
  return { id: match[1], type: match[2], size: Number(match[3]) };
}

// src/forge/git/process.ts
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";

// src/forge/git/slots.ts
function createSlots(count) {
  let free = count;
  const waiting = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
function createLanes() {
  const lanes = /* @__PURE__ */ new Map();
  return async (key, work) => {
    const lane = lanes.get(key) ?? { run: createSlots(1), users: 0 };
    lanes.set(key, lane);
    lane.users += 1;
    try {
      return await lane.run(work);
    } finally {
      lane.users -= 1;
      if (lane.users === 0) lanes.delete(key);
    }
  };
}

// src/forge/git/process.ts
function createGit(configFile) {
  const inSlot = createSlots(Math.max(4, availableParallelism() * 2));
  const start = (args, options2) => spawn("git", [...args], {
    cwd: options2.folder ?? "/",
    env: cleanEnvironment(configFile, options2),
    stdio: "pipe"
  });
  return {
    start,
    run: (args, options2 = {}) => inSlot(() => finish(start(args, options2), args, options2))
  };
}
function cleanEnvironment(configFile, options2) {
  return {
    // Where git is installed is the machine's business; nothing else of the environment is passed on.
    PATH: process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin",
    HOME: "/nonexistent",
    LC_ALL: "C",
    TZ: "UTC",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: configFile,
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_LITERAL_PATHSPECS: "1",
    // A pushed refs/replace/* would otherwise show other content than what is stored.
    GIT_NO_REPLACE_OBJECTS: "1",
    ...options2.folder === void 0 ? {} : { GIT_DIR: options2.folder },
    ...options2.environment
  };
}
function finish(child, args, options2) {
  const { expect = [0], timeoutMs = 6e4, maxBytes = 64 * 1024 * 1024 } = options2;
  const { promise, resolve, reject } = Promise.withResolvers();
  const pieces = [];
  let bytes = 0;
  let stderr = "";
  let isEnough = false;
  let refusal;
  const end = (reason) => {
    refusal = reason;
    child.kill("SIGKILL");
  };
  const timer = setTimeout(() => end(`took longer than ${timeoutMs} ms`), timeoutMs);
  child.stdout.on("data", (piece) => {
    if (isEnough || refusal !== void 0) return;
    if (options2.onOutput === void 0) {
      bytes += piece.length;
      pieces.push(piece);
      if (bytes > maxBytes) end(`answered more than ${maxBytes} bytes`);
    } else if (!options2.onOutput(piece)) {
      isEnough = true;
      child.kill("SIGKILL");
    }
  });
  child.stderr.on("data", (piece) => {
    if (stderr.length < 4e3) stderr += piece.toString("utf8");
  });
  child.on("error", (cause) => {
    clearTimeout(timer);
    reject(new ReeveError("git-failed", `the git program did not start: ${cause.message}`, { cause }));
  });
  child.on("close", (code) => {
    clearTimeout(timer);
    const status = code ?? -1;
    if (refusal === void 0 && (isEnough || expect.includes(status))) {
      resolve({ code: status, stdout: Buffer.concat(pieces), stderr });
      return;
    }
    const reason = refusal ?? `ended with ${status}: ${stderr.trim().slice(0, 500)}`;
    reject(new ReeveError("git-failed", `git ${args[0] ?? ""} ${reason}`));
  });
  child.stdin.on("error", () => {
  });
  if (options2.input === void 0 || typeof options2.input === "string" || Buffer.isBuffer(options2.input)) {
    child.stdin.end(options2.input);
  } else {
    options2.input.on("error", (error) => end(`lost its input: ${error.message}`)).pipe(child.stdin);
  }
  return promise;
}

// src/forge/git/store.ts
var maxReaders = 24;
var idleReaderMs = 3e4;
var configuration = `[core]
	hooksPath = /dev/null
[safe]
	directory = *
[gc]
	autoDetach = false
[receive]
	fsckObjects = true
	hideRefs = refs/pull
[transfer]
	hideRefs = refs/reeve
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
[protocol]
	allow = never
[protocol "file"]
	allow = always
[fastimport]
	unpackLimit = 100
`;
function createGitStore(folder) {
  mkdirSync2(folder, { recursive: true });
  const configFile = join3(folder, "git.config");
  writeFileSync3(configFile, configuration);
  const git = createGit(configFile);
  const readers = createReaderPool(git);
  const [inRefs, inPulls] = [createLanes(), createLanes()];
  const folderOf = (id) => {
    const known2 = Number.isSafeInteger(id) ? id : 0;
    return join3(folder, known2 < 0 ? `${-known2}.wiki.git` : `${known2}.git`);
  };
  const open3 = (id) => ({
    id,
    folder: folderOf(id),
    git,
    objects: readers.of(id, folderOf(id))
  });
  return {
    open: open3,
    exists: (id) => existsSync(join3(folderOf(id), "HEAD")),
    async create(id, { defaultBranch, objectFormat = "sha1" }) {
      const head = `--initial-branch=${defaultBranch}`;
      await git.run([
        "init",
        "--bare",
        "--quiet",
        "--template=",
        head,
        `--object-format=${objectFormat}`,
        folderOf(id)
      ]);
    },
    async copy(fromId, id) {
      await git.run([
        "clone",
        "--bare",
        "--quiet",
        "--no-hardlinks",
        "--template=",
        "--",
        folderOf(fromId),
        folderOf(id)
      ]);
    },
    async setDefaultBranch(id, branch) {
      await git.run(["symbolic-ref", "HEAD", `refs/heads/${branch}`], { folder: folderOf(id) });
    },
    commitFiles: (id, commit) => commitFiles(open3(id), commit),
    async sizeOf(id) {
      const { stdout } = await git.run(["count-objects", "-v"], { folder: folderOf(id) });
      const sizes = stdout.toString("latin1").matchAll(/^size(?:-pack)?: (\d+)$/gm);
      return [...sizes].reduce((sum, [, kibibytes]) => sum + Number(kibibytes) * 1024, 0);
    },
    async remove(id) {
      for (const one of [id, -Math.abs(id)]) {
        readers.drop(one);
        await rm(folderOf(one), { recursive: true, force: true });
      }
    },
    exclusively: (id, room, work) => room === "refs" ? inRefs(id, work) : inPulls(id, work),
    close: readers.close
  };
}
function createReaderPool(git) {
  const readers = /* @__PURE__ */ new Map();
  const drop = (id) => {
    const entry = readers.get(id);
    if (entry === void 0) return;
    clearTimeout(entry.timer);
    readers.delete(id);
    entry.reader.close();
  };
  return {
    drop,
    of(id, folder) {
      const known2 = readers.get(id);
      if (known2) clearTimeout(known2.timer);
      const reader = known2?.reader ?? createObjectReader(git, folder);
      readers.delete(id);
      const timer = setTimeout(() => drop(id), idleReaderMs);
      timer.unref();
      readers.set(id, { reader, timer });
      for (const [oldest] of readers) {
        if (readers.size <= maxReaders) break;
        drop(oldest);
      }
      return reader;
    },
    close() {
      for (const id of [...readers.keys()]) drop(id);
    }
  };
}

// src/forge/git-http.ts
import { pipeline as pipeline2 } from "node:stream/promises";
import { createGunzip } from "node:zlib";

// src/forge/git-receive.ts
import { createReadStream as createReadStream2, createWriteStream } from "node:fs";
import { mkdtemp, rm as rm2 } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join as join5 } from "node:path";
import { pipeline } from "node:stream/promises";

// src/forge/enforcement-push.ts
import { createReadStream } from "node:fs";
import { mkdir, open as open2 } from "node:fs/promises";
import { join as join4 } from "node:path";

// src/patterns/re2-program.ts
import { RE2JS } from "re2js";
var operations2 = {
  alternative: 1,
  alternativeMatch: 2,
  capture: 3,
  emptyWidth: 4,
  fail: 5,
  match: 6,
  nop: 7,
  firstRune: 8,
  lastRune: 11
};
function compileRe2Program(pattern) {
  const compiled = RE2JS.compile(pattern).re2();
  const instructions = compiled.prog.inst;
  const skip = (place) => {
    let at = place;
    for (; ; ) {
      const one = instructions[at];
      if (one?.op !== operations2.nop && one?.op !== operations2.capture) return at;
      at = one.out;
    }
  };
  const size = instructions.length;
  const ops = new Uint8Array(size);
  const next = new Int32Array(size);
  const other = new Int32Array(size);
  for (const [place, { op, out, arg }] of instructions.entries()) {
    ops[place] = opcodeOf(op);
    next[place] = skip(out);
    other[place] = ops[place] === opcode.fork ? skip(arg) : arg;
  }
  return {
    size,
    start: skip(compiled.prog.start),
    ops,
    next,
    other,
    accepts: (place, rune) => instructions[place]?.matchRune(rune) ?? false,
    bounds: compiled.dfa.classBounds
  };
}
function opcodeOf(op) {
  switch (op) {
    case operations2.alternative:
    case operations2.alternativeMatch:
      return opcode.fork;
    case operations2.emptyWidth:
      return opcode.assert;
    case operations2.match:
      return opcode.match;
    case operations2.capture:
    case operations2.nop:
    case operations2.fail:
      return opcode.fail;
    default:
      if (op >= operations2.firstRune && op <= operations2.lastRune) return opcode.rune;
      throw new TypeError(`the RE2 library has an instruction ${op} that is not known here`);
  }
}

// src/patterns/re2-size.ts
var groupSize = 20;
function estimateRe2Size(pattern) {
  return new SizeReader(pattern).read();
}
var SizeReader = class {
  #pattern;
  #at = 0;
  constructor(pattern) {
    this.#pattern = pattern;
  }
  read() {
    const open3 = [0];
    let last = 0;
    const add2 = (size) => {
      open3.push((open3.pop() ?? 0) + last);
      last = size;
    };
    while (this.#at < this.#pattern.length) {
      const sign2 = this.#pattern[this.#at];
      const repeat = sign2 === "{" ? this.#repetition() : void 0;
      if (repeat !== void 0) last = repeat(last);
      else if (sign2 === "(") {
        add2(0);
        open3.push(0);
        this.#at += 1;
      } else if (sign2 === ")" && open3.length > 1) {
        const inner = (open3.pop() ?? 0) + last;
        last = inner + 3;
        this.#at += 1;
      } else if (sign2 === "*" || sign2 === "+" || sign2 === "?" || sign2 === "|") {
        last += sign2 === "*" || sign2 === "|" ? 2 : 1;
        this.#at += 1;
      } else add2(this.#atom());
    }
    return open3.reduce((sum, size) => sum + size, last + 3);
  }
  /** Reads `{n}`, `{n,}` or `{n,m}`; undefined where a brace is only a brace. */
  #repetition() {
    const found3 = /^\{(\d{1,4})(,?)(\d{0,4})\}/.exec(this.#pattern.slice(this.#at, this.#at + 12));
    if (!found3) return void 0;
    this.#at += found3[0].length;
    const least = Number(found3[1]);
    if (found3[2] === "") return (size) => size * Math.max(1, least);
    const most = found3[3] === "" ? least + 1 : Number(found3[3]);
    return (size) => size * Math.max(1, least) + (size + 1) * Math.max(0, most - least);
  }
  #atom() {
    const sign2 = this.#pattern[this.#at];
    if (sign2 === "\\") return this.#escape();
    if (sign2 === "[") return this.#class();
    this.#at += 1;
    return 1;
  }
  #escape() {
    const name = this.#pattern[this.#at + 1];
    this.#at += 2;
    return name === "p" || name === "P" ? groupSize : 1;
  }
  #class() {
    const begin = this.#at;
    this.#at += 1;
    if (this.#pattern[this.#at] === "^") this.#at += 1;
    if (this.#pattern[this.#at] === "]") this.#at += 1;
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== "]") {
      const posix3 = /^\[:\^?\w+:\]/.exec(this.#pattern.slice(this.#at, this.#at + 20));
      this.#at += posix3 ? posix3[0].length : this.#pattern[this.#at] === "\\" ? 2 : 1;
    }
    this.#at += 1;
    const groups = this.#pattern.slice(begin, this.#at).match(/\\[pP]/g)?.length ?? 0;
    return 1 + groups * groupSize;
  }
};

// src/patterns/re2.ts
var maxLength = 200;
var maxSize = 2500;
var maxTotalSize = 5e4;
var Re2Compiler = class {
  #compiled = /* @__PURE__ */ new Map();
  #left = maxTotalSize;
  compile(pattern) {
    const before = this.#compiled.get(pattern);
    if (before) return before;
    const compiled = this.#compile(pattern);
    this.#compiled.set(pattern, compiled);
    return compiled;
  }
  #compile(pattern) {
    if (pattern.length > maxLength) return { reason: `the pattern is longer than ${maxLength} characters` };
    const size = estimateRe2Size(pattern);
    if (size > maxSize) {
      const written = `with its repetitions written out the pattern has about ${size} steps`;
      return { reason: `${written}, more than ${maxSize}; repeat less, lengths can be asked with size()` };
    }
    this.#left -= size;
    if (this.#left < 0) {
      const total = `the patterns of this file have more than ${maxTotalSize} steps together`;
      return {
        reason: `${total}, with their repetitions written out; repeat less, or make it several files`
      };
    }
    try {
      const program = compileRe2Program(pattern);
      return { matches: createMatcher(() => program) };
    } catch (error) {
      return { reason: `the pattern is not RE2: ${messageOf(error)}` };
    }
  }
};

// src/forge/protection-lists.ts
function reachesUnit(...units) {
  const words = units.map(
    (unit) => `coalesce(json_extract(t.units_map, '$."repo.${unit}"'), 'none') <> 'none'`
  );
  return `(t.permission IN ('admin', 'owner') OR CASE WHEN t.units_map = '{}' THEN t.permission <> 'none'
    ELSE ${words.join(" OR ")} END)`;
}
var hasRepository = (
  /* sql */
  `(t.includes_all_repositories = 1
  OR EXISTS (SELECT 1 FROM team_repositories r WHERE r.team_id = t.id AND r.repo_id = ?1))`
);
var peopleOfRepository = (
  /* sql */
  `
SELECT u.* FROM users u WHERE u.type = 'user' AND u.id IN (SELECT ?2
  UNION SELECT c.user_id FROM collaborators c WHERE c.repo_id = ?1
  UNION SELECT m.user_id FROM teams t JOIN team_members m ON m.team_id = t.id
    WHERE t.org_id = ?2 AND ${reachesUnit("pulls")} AND ${hasRepository})
ORDER BY u.lower_name`
);
var teamsOfRepository = (
  /* sql */
  `
SELECT t.* FROM teams t WHERE t.org_id = ?2 AND ${reachesUnit("code", "pulls")} AND ${hasRepository}
ORDER BY t.lower_name`
);
function readersOf({ db, repository, owner }) {
  return {
    people: db.all(peopleOfRepository, repository.id, owner.id),
    teams: db.all(teamsOfRepository, repository.id, owner.id)
  };
}
function namesAmong(readers, ids) {
  return readers.filter(({ id }) => ids.includes(id)).map(({ name }) => name);
}
function userIds({ db }, names = []) {
  const ids = names.map((name) => {
    const user = userNamed(db, name);
    if (!user) throw new ForgeProblem(422, `user does not exist [uid: 0, name: ${name}]`);
    return user.id;
  });
  return [...new Set(ids)];
}
function teamIds({ db, owner }, names = []) {
  if (owner.type !== "organization") return [];
  const ids = names.map((name) => {
    const sql = "SELECT id FROM teams WHERE org_id = ? AND lower_name = ?";
    const team = db.get(sql, owner.id, name.toLowerCase());
    if (!team) throw new ForgeProblem(422, `team does not exist [org_id: ${owner.id}, name: ${name}]`);
    return team.id;
  });
  return [...new Set(ids)];
}
function keepWriters(place, before, wanted) {
  const { db, repository, owner } = place;
  return keep(before, wanted, (id) => {
    const user = db.get("SELECT * FROM users WHERE id = ?", id);
    return user !== void 0 && reaches(permissionOf(db, user, repository, owner, "code"), "write");
  });
}
function keepReaders(readers, before, wanted) {
  return keep(before, wanted, (id) => readers.some((reader) => reader.id === id));
}
function keep(before, wanted, isKept) {
  const isSame = before.length === wanted.length && wanted.every((id) => before.includes(id));
  return isSame ? [...before] : wanted.filter(isKept);
}

// src/forge/tag-protections.ts
var tagProtectionHandlers = defineHandlers({
  listTagProtections(call) {
    const readers = readersOf(placeOf2(call));
    return loadRules(call.context.db, call.repository.id).map((row) => toTagProtection(row, readers));
  },
  getTagProtection(call) {
    return toTagProtection(findRule(call, call.params.id), readersOf(placeOf2(call)));
  },
  createTagProtection(call) {
    const { context, repository, body } = call;
    const place = placeOf2(call);
    const pattern = (body.name_pattern ?? "").trim();
    if (pattern === "") throw new ForgeProblem(400, "name_pattern are empty");
    if (!body.whitelist_usernames?.length && !body.whitelist_teams?.length) {
      throw new ForgeProblem(400, "both whitelist_usernames and whitelist_teams are empty");
    }
    return context.db.transaction(() => {
      const same = "SELECT 1 AS one FROM tag_protections WHERE repo_id = ? AND name_pattern = ?";
      if (context.db.get(same, repository.id, pattern)) {
        throw new ForgeProblem(403, "Tag protection already exist");
      }
      const now = secondsOf(context.clock());
      const { lastId } = context.db.run(
        `INSERT INTO tag_protections (repo_id, name_pattern, whitelist_users, whitelist_teams, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?)`,
        repository.id,
        pattern,
        JSON.stringify(userIds(place, body.whitelist_usernames)),
        JSON.stringify(teamIds(place, body.whitelist_teams)),
        now,
        now
      );
      return toTagProtection(findRule(call, lastId), readersOf(place));
    });
  },
  editTagProtection(call) {
    const { context, body } = call;
    const place = placeOf2(call);
    return context.db.transaction(() => {
      const rule = findRule(call, call.params.id);
      const { whitelist_usernames: users, whitelist_teams: teams } = body;
      context.db.run(
        `UPDATE tag_protections SET name_pattern = ?, whitelist_users = ?, whitelist_teams = ?, updated_at = ?
         WHERE id = ?`,
        body.name_pattern ?? rule.name_pattern,
        users ? JSON.stringify(userIds(place, users)) : rule.whitelist_users,
        teams ? JSON.stringify(teamIds(place, teams)) : rule.whitelist_teams,
        secondsOf(context.clock()),
        rule.id
      );
      return toTagProtection(findRule(call, rule.id), readersOf(place));
    });
  },
  deleteTagProtection(call) {
    const rule = findRule(call, call.params.id);
    call.context.db.run("DELETE FROM tag_protections WHERE id = ?", rule.id);
    return void 0;
  }
});
function placeOf2({ context, repository, owner }) {
  return { db: context.db, repository, owner };
}
function loadRules(db, repositoryId) {
  return db.all("SELECT * FROM tag_protections WHERE repo_id = ? ORDER BY id", repositoryId);
}
function findRule({ context, repository }, id) {
  const sql = "SELECT * FROM tag_protections WHERE id = ? AND repo_id = ?";
  return found(context.db.get(sql, id, repository.id));
}
function idsOf(list2) {
  return JSON.parse(list2);
}
function toTagProtection(row, { people, teams }) {
  return {
    id: row.id,
    name_pattern: row.name_pattern,
    whitelist_usernames: namesAmong(people, idsOf(row.whitelist_users)),
    whitelist_teams: namesAmong(teams, idsOf(row.whitelist_teams)),
    created_at: toInstant(row.created_at),
    updated_at: toInstant(row.updated_at)
  };
}
function hasTagRules(db, repositoryId) {
  return db.get("SELECT 1 AS one FROM tag_protections WHERE repo_id = ? LIMIT 1", repositoryId) !== void 0;
}
function mayControlTag({ db, repository }, tag, user) {
  const matching = loadRules(db, repository.id).filter((rule) => matchesTag(rule.name_pattern, tag));
  return matching.length === 0 || matching.some(
    (rule) => idsOf(rule.whitelist_users).includes(user.id) || isInTeams(db, user, idsOf(rule.whitelist_teams))
  );
}
function matchesTag(pattern, tag) {
  if (pattern.length >= 2 && pattern.startsWith("/") && pattern.endsWith("/")) {
    return compileExpression(pattern.slice(1, -1))?.(tag) ?? true;
  }
  return compileForgeGlob(pattern, "")?.(tag) ?? true;
}
function compileExpression(text) {
  const compiled = new Re2Compiler().compile(text);
  return "matches" in compiled ? (tag) => compiled.matches(tag, createUnlimitedMeter()) : void 0;
}

// src/forge/enforcement.ts
function hasRules(db, repositoryId) {
  const sql = "SELECT 1 AS one FROM branch_protections WHERE repo_id = ? LIMIT 1";
  return db.get(sql, repositoryId) !== void 0 || hasTagRules(db, repositoryId);
}
async function refusalOf(mover, change) {
  const [, kind, name = ""] = /^refs\/(heads|tags)\/(.+)$/s.exec(change.ref) ?? [];
  if (kind === "tags") return mayControlTag(mover, name, mover.user) ? void 0 : `tag ${name} is protected`;
  const rule = kind === "heads" ? findBranchRule(mover.db, mover.repository.id, name) : void 0;
  return rule && await refusalOfBranch(mover, rule, name, change);
}
async function guardMove(mover, change) {
  const refusal = await refusalOf(mover, change);
  if (refusal !== void 0) throw new ForgeProblem(403, refusal);
}
async function refusalOfBranch(mover, rule, branch, { before, after }) {
  if (after === void 0) return `branch ${branch} is protected from deletion`;
  const isForced = before !== void 0 && !await isAncestor(mover.git, before, after);
  if (isForced && !rule.enable_force_push) return `branch ${branch} is protected from force push`;
  const isProtected = compileFilePatterns(rule.protected_file_patterns);
  const isFree = compileFilePatterns(rule.unprotected_file_patterns);
  const isAllowed = isForced ? mayForcePush(mover, rule, mover.user) : mayPush(mover, rule, mover.user);
  if (isAllowed && !isProtected) return void 0;
  const files = isProtected || isFree ? await listAffected(mover, before, after) : [];
  const held = isProtected && files.find(isProtected);
  if (held !== void 0) return `branch ${branch} is protected from changing file ${held}`;
  if (isAllowed || isFree && files.every(isFree)) return void 0;
  return `you may not ${isForced ? "force-push" : "push"} to the protected branch ${branch}`;
}
var emptyTrees = {
  sha1: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  sha256: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
};
async function listAffected({ git, repository }, before, after) {
  const from = before ?? await findOrigin(git, repository.default_branch, after);
  return await listChangedPaths(git, from ?? emptyTrees[repository.object_format], after);
}
async function findOrigin(git, branch, after) {
  const { stdout, code } = await git.git.run(
    ["rev-parse", "--verify", "--quiet", "--end-of-options", `refs/heads/${branch}^{commit}`],
    { folder: git.folder, expect: [0, 1, 128] }
  );
  return code === 0 ? await findMergeBase(git, stdout.toString("latin1").trim(), after) : void 0;
}
async function listChangedPaths(git, from, to) {
  const { stdout } = await git.git.run(
    ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to, "--"],
    { folder: git.folder }
  );
  return stdout.toString("utf8").split("\0").filter(Boolean);
}
function guardFiles(place, user, branch, paths) {
  const rule = findBranchRule(place.db, place.repository.id, branch);
  if (!rule) return;
  const isAllowed = mayPush(place, rule, user);
  const isFree = compileFilePatterns(rule.unprotected_file_patterns);
  const isProtected = compileFilePatterns(rule.protected_file_patterns);
  for (const path of paths) {
    if (!isAllowed && !isFree?.(path)) {
      throw new ForgeProblem(403, `${user.name} may not commit to the protected branch ${branch}`);
    }
    if (isProtected?.(path))
      throw new ForgeProblem(403, `path is protected and can not be changed [path: ${path}]`);
  }
}
function guardRemoval(db, repositoryId, branch) {
  if (findBranchRule(db, repositoryId, branch)) throw new ForgeProblem(403, `branch protected: ${branch}`);
}
function guardRename(db, repositoryId, from) {
  if (readBranchRule(db, repositoryId, from) || !findBranchRule(db, repositoryId, from)) return;
  throw new ForgeProblem(403, "the branch is protected by a pattern and keeps its name");
}
function renameRule(db, repositoryId, from, to) {
  const own = readBranchRule(db, repositoryId, from);
  if (!own || readBranchRule(db, repositoryId, to)) return;
  db.run("UPDATE branch_protections SET rule_name = ? WHERE id = ?", to, own.id);
}

// src/forge/enforcement-push.ts
var maxCommandBytes = 4 * 1024 * 1024;
async function refusePush(mover, { file, room }) {
  if (!hasRules(mover.db, mover.repository.id)) return void 0;
  const push = await readPush(file);
  const git = await takeAside(mover.git, push, { file, room });
  if (!git) return report(push, "index-pack failed", /* @__PURE__ */ new Map());
  const refusals = /* @__PURE__ */ new Map();
  for (const change of push.changes) {
    const refusal = await refusalOf({ ...mover, git }, change);
    if (refusal !== void 0) refusals.set(change.ref, refusal);
  }
  return refusals.size === 0 ? void 0 : report(push, "ok", refusals);
}
async function readPush(file) {
  const handle = await open2(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(maxCommandBytes), 0, maxCommandBytes, 0);
    return parsePush(buffer.subarray(0, bytesRead));
  } finally {
    await handle.close();
  }
}
function parsePush(bytes) {
  const { lines, end } = readLines(bytes, 0);
  const capabilities = [];
  const changes = [];
  for (const line2 of lines) {
    const [command = "", words] = line2.replace(/\n$/, "").split("\0");
    if (words !== void 0) capabilities.push(...words.trim().split(" "));
    if (command.startsWith("shallow ")) continue;
    const [before = "", after = "", ...ref] = command.split(" ");
    if (!isObjectId(before) || !isObjectId(after) || ref.length === 0) throw malformed();
    changes.push({ ref: ref.join(" "), before: idOrNone(before), after: idOrNone(after) });
  }
  const options2 = capabilities.includes("push-options") ? readLines(bytes, end).end : end;
  const hasPack = changes.some(({ after }) => after !== void 0);
  return { changes, capabilities, packAt: hasPack ? options2 : void 0 };
}
function idOrNone(id) {
  return isZeroId(id) ? void 0 : id;
}
function readLines(bytes, start) {
  const lines = [];
  let at = start;
  while (at + 4 <= bytes.length) {
    const size = Number.parseInt(bytes.toString("latin1", at, at + 4), 16);
    if (size === 0) return { lines, end: at + 4 };
    if (!(size >= 4) || at + size > bytes.length) break;
    lines.push(bytes.toString("utf8", at + 4, at + size));
    at += size;
  }
  throw malformed();
}
function malformed() {
  return new ForgeProblem(400, "the push has no commands that can be read");
}
async function takeAside(git, { packAt }, { file, room }) {
  if (packAt === void 0) return git;
  const objects = join4(room, "objects");
  await mkdir(join4(objects, "pack"), { recursive: true });
  const environment = {
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join4(git.folder, "objects")
  };
  const run = (args, options2 = {}) => git.git.run(args, { ...options2, environment: { ...options2.environment, ...environment } });
  try {
    await run(["index-pack", "--stdin", "--fix-thin"], {
      folder: git.folder,
      input: createReadStream(file, { start: packAt }),
      timeoutMs: 6e5
    });
  } catch (error) {
    if (error instanceof ReeveError && error.code === "git-failed") return void 0;
    throw error;
  }
  return { ...git, git: { ...git.git, run } };
}
function report(push, unpacked, refusals) {
  const other = unpacked === "ok" ? "another ref of this push is refused" : "unpacker error";
  const lines = push.changes.map(({ ref }) => line(`ng ${ref} ${refusals.get(ref) ?? other}
`));
  const status = Buffer.concat([line(`unpack ${unpacked}
`), ...lines, flush]);
  const isAsked = push.capabilities.some((word) => /^report-status(-v2)?$/.test(word));
  const answer2 = isAsked ? status : Buffer.alloc(0);
  if (!push.capabilities.includes("side-band-64k")) return answer2;
  const words = [...refusals.values()].map((text) => line(`${text}
`));
  const pieces = [];
  for (let at = 0; at < answer2.length; at += maxBandBytes) {
    pieces.push(line(Buffer.concat([Buffer.from([1]), answer2.subarray(at, at + maxBandBytes)])));
  }
  return Buffer.concat([...words, ...pieces, flush]);
}
var flush = Buffer.from("0000");
var maxBandBytes = 65e3;
function line(content) {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, "0")), bytes]);
}

// src/forge/commits.ts
function addressOf(rootUrl, owner, name) {
  const path = `${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;
  return { api: `${rootUrl}/api/v1/repos/${path}`, html: `${rootUrl}/${path}` };
}
function escapePath(path) {
  return path.split("/").map(encodeURIComponent).join("/");
}
function accountByEmail(db, email) {
  if (email === "") return void 0;
  return db.get(
    `SELECT * FROM users WHERE lower(email) = ? AND email <> '' AND type = 'user'`,
    email.toLowerCase()
  );
}
function toVerification(commit) {
  const reason = commit.signature === "" ? "gpg.error.not_signed_commit" : "gpg.error.no_gpg_keys_found";
  return {
    verified: false,
    reason,
    signature: commit.signature,
    signer: null,
    payload: commit.signedText
  };
}
function toPayloadCommit(db, address, commit, touched) {
  const person2 = ({ name, email }) => ({
    name,
    email,
    username: accountByEmail(db, email)?.name ?? ""
  });
  return {
    id: commit.id,
    message: commit.message,
    url: `${address.html}/commit/${commit.id}`,
    author: person2(commit.author),
    committer: person2(commit.committer),
    verification: touched === void 0 ? toVerification(commit) : null,
    timestamp: instantOf(commit.author),
    added: touched?.added ?? null,
    removed: touched?.removed ?? null,
    modified: touched?.modified ?? null
  };
}
function toMeta(address, kind, sha, created) {
  return { url: `${address.api}/git/${kind}/${sha}`, sha, created };
}
function toCommitEntry(address, commit, toUser2) {
  const created = instantOf(commit.committer);
  const url = `${address.api}/git/commits/${commit.id}`;
  const person2 = (signature) => ({
    name: signature.name,
    email: signature.email,
    date: instantOf(signature)
  });
  return {
    url,
    sha: commit.id,
    created,
    html_url: `${address.html}/commit/${commit.id}`,
    commit: {
      url,
      author: person2(commit.author),
      committer: person2(commit.committer),
      message: commit.message,
      tree: toMeta(address, "trees", commit.tree, created),
      verification: toVerification(commit)
    },
    author: toUser2(commit.author.email),
    committer: toUser2(commit.committer.email),
    parents: commit.parents.map((sha) => toMeta(address, "commits", sha, yearOne))
  };
}
function toFileCommit(address, commit) {
  const person2 = ({ name, email, seconds }) => ({ name, email, date: toInstant(seconds) });
  return {
    ...toMeta(address, "commits", commit.id, yearOne),
    html_url: `${address.html}/commit/${commit.id}`,
    author: person2(commit.author),
    committer: person2(commit.committer),
    parents: commit.parents.map((sha) => toMeta(address, "commits", sha, yearOne)),
    message: commit.message,
    tree: toMeta(address, "trees", commit.tree, yearOne)
  };
}
function tellChanges(changes) {
  const sum = (member) => changes.reduce((total, change) => total + change[member], 0);
  const [additions, deletions] = [sum("additions"), sum("deletions")];
  const paths = touchedBy(changes);
  return {
    files: ["added", "removed", "modified"].flatMap(
      (status) => paths[status].map((filename) => ({ filename, status }))
    ),
    stats: { total: additions + deletions, additions, deletions }
  };
}

// src/forge/references.ts
var reference = /(?<=\s|^|\(|\[|'|")([0-9a-zA-Z-_.]+\/[0-9a-zA-Z-_.]+)?[#!]([0-9]{1,15})(?=\s|$|\)|\]|'|"|[:;,.?!](?:\s|$))/g;
var closing = /(?:\s|^|\(|\[)(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?):? $/i;
var reopening = /(?:\s|^|\(|\[)reopen(?:s|ed)?:? $/i;
var reach = 16;
var maxReferences = 100;
function parseReferences(text) {
  const references = [];
  for (const match of text.matchAll(reference)) {
    const before = text.slice(Math.max(0, match.index - reach), match.index);
    const repository = match[1]?.toLowerCase();
    references.push({
      ...repository === void 0 ? {} : { repository },
      number: Number(match[2]),
      asks: closing.test(before) ? "close" : reopening.test(before) ? "reopen" : void 0
    });
    if (references.length === maxReferences) break;
  }
  return references;
}
function withoutCode(markdown) {
  return markdown.replace(/```[\s\S]*?(?:```|$)/g, " ").replace(/`[^`\n]*`/g, " ");
}

// src/forge/reference-closing.ts
function closeByCommits(context, place, {
  branch,
  commits
}) {
  for (const { id, message } of commits.toReversed()) {
    for (const reference2 of parseReferences(message)) {
      const named = reference2.asks && findNamed(context, place, reference2);
      if (!named || !mayClose(context, named, place.actor)) continue;
      const own = named.issue.ref.replace(/^refs\/heads\//, "");
      if (branch !== (own || place.repository.default_branch)) continue;
      settle(context, { ...named, actor: place.actor }, reference2.asks, id);
    }
  }
}
function closeByMerge(context, place, pull) {
  const { db } = context;
  const issue = db.get("SELECT * FROM issues WHERE id = ?", pull.issue_id);
  if (!issue) return;
  const comments = db.all("SELECT * FROM comments WHERE issue_id = ? ORDER BY id", issue.id);
  const authors = loadUsers(context, [issue.poster_id, ...comments.map(({ poster_id }) => poster_id)]);
  const wanted = /* @__PURE__ */ new Map();
  const read = (text, author, isOwnText) => {
    for (const reference2 of parseReferences(text)) {
      const named = reference2.asks && findNamed(context, place, reference2);
      if (!named || named.issue.is_pull || author === void 0) continue;
      const isMergers = isOwnText && named.repository.id === place.repository.id;
      if (!isMergers && !mayClose(context, named, author)) continue;
      wanted.set(named.issue.id, { named, asks: reference2.asks });
    }
  };
  read(issue.title, authors.get(issue.poster_id), true);
  read(withoutCode(issue.body), authors.get(issue.poster_id), true);
  for (const { body, poster_id } of comments) read(withoutCode(body), authors.get(poster_id), false);
  for (const { named, asks } of wanted.values()) {
    settle(context, { ...named, actor: place.actor }, asks, pull.merged_commit_sha);
  }
}
function findNamed({ db }, { repository, owner }, reference2) {
  const [name, rest = ""] = (reference2.repository ?? `${owner.lower_name}/${repository.lower_name}`).split(
    "/"
  );
  const holder = db.get("SELECT * FROM users WHERE lower_name = ?", name ?? "");
  const sql = "SELECT * FROM repositories WHERE owner_id = ? AND lower_name = ?";
  const found3 = holder && db.get(sql, holder.id, rest);
  const issue = found3 && db.get("SELECT * FROM issues WHERE repo_id = ? AND number = ?", found3.id, reference2.number);
  return holder && found3 && issue ? { issue, repository: found3, owner: holder } : void 0;
}
function mayClose({ db }, { issue, repository, owner }, user) {
  if (issue.is_pull) return false;
  return issue.poster_id === user.id || reaches(permissionOf(db, user, repository, owner, "issues"), "write");
}
function settle(context, { issue, repository, owner, actor }, asks, commitId) {
  if (asks === "close" && isBlocked(context, repository, issue.id)) return;
  const scene = { issueId: issue.id, repository, owner, actor };
  changeState(context, scene, asks === "close" ? "closed" : "open", commitId);
}

// src/forge/unfinished.ts
function beginWork(db, repositoryId, work) {
  return db.run("INSERT INTO unfinished (repo_id, work) VALUES (?, ?)", repositoryId, work).lastId;
}
function endWork(db, id) {
  db.run("DELETE FROM unfinished WHERE id = ?", id);
}
function endCreation(db, repositoryId) {
  db.run(`DELETE FROM unfinished WHERE repo_id = ? AND work = 'creating'`, repositoryId);
}

// src/forge/pushes.ts
var maxCommits = 5;
var maxOfNewBranch = 10;
var maxRead = 1e3;
async function withPush(context, pushed, work) {
  const begun = beginWork(context.db, pushed.repository.id, "pushing");
  try {
    const { result, changes } = await context.git.exclusively(pushed.repository.id, "refs", async () => {
      const done = await work();
      await recordPush(context, pushed, done.changes);
      return done;
    });
    for (const { ref } of changes) {
      if (!ref.startsWith("refs/heads/")) continue;
      const branch = { repositoryId: pushed.repository.id, name: ref.slice("refs/heads/".length) };
      await refreshPulls(context, branch, pushed.pusher);
    }
    return result;
  } finally {
    endWork(context.db, begun);
  }
}
async function recordPush(context, pushed, changes) {
  const row = context.db.get("SELECT * FROM repositories WHERE id = ?", pushed.repository.id);
  if (changes.length === 0 || row === void 0) return;
  const git = context.git.open(row.id);
  const repository = await updateRepository(context, git, row, changes);
  const told = { ...pushed, repository };
  for (const change of changes) {
    const isBranch = change.ref.startsWith("refs/heads/");
    if (!isBranch && !change.ref.startsWith("refs/tags/")) continue;
    const news = await gatherNews(context, git, told, change);
    context.db.transaction(() => {
      if (isBranch) {
        const place = { ...told, actor: told.pusher };
        closeByCommits(context, place, { branch: shortOf(change.ref).ref, commits: news.read });
      }
      tell(context, told, change, news);
    });
  }
}
async function updateRepository(context, git, repository, changes) {
  const { db } = context;
  const [branches, size] = await Promise.all([
    listRefs(git, ["refs/heads"]),
    context.git.sizeOf(repository.id)
  ]);
  const names = branches.map(({ name }) => name.slice("refs/heads/".length));
  const isFirst = repository.is_empty === 1 && names.length > 0;
  const fresh = changes.find(({ ref, after }) => after !== void 0 && ref.startsWith("refs/heads/"));
  const isRenamed = isFirst && !names.includes(repository.default_branch) && fresh !== void 0;
  const defaultBranch = isRenamed ? fresh.ref.slice("refs/heads/".length) : repository.default_branch;
  if (isRenamed) await context.git.setDefaultBranch(repository.id, defaultBranch);
  db.run(
    "UPDATE repositories SET updated_at = ?, num_branches = ?, is_empty = ?, default_branch = ?, size = ? WHERE id = ?",
    secondsOf(context.clock()),
    names.length,
    names.length === 0,
    defaultBranch,
    size,
    repository.id
  );
  return db.get("SELECT * FROM repositories WHERE id = ?", repository.id) ?? repository;
}
var nothing = { commits: [], read: [], total: 0, head: null, comparison: "" };
async function gatherNews(context, git, { repository, owner }, { ref, before, after }) {
  const head = after === void 0 ? void 0 : await readCommit(git, `${after}^{commit}`);
  if (after === void 0 || head === void 0) return nothing;
  const path = `${owner.name}/${repository.name}/compare`;
  const address = addressOf(context.rootUrl(), owner.name, repository.name);
  const told = (commit) => tellCommit(context, git, address, commit);
  if (ref.startsWith("refs/tags/")) {
    return {
      ...nothing,
      head: await told(head),
      comparison: `${path}/${zeroIdLike(after)}...${after}`
    };
  }
  const stretch = { from: before, to: after };
  const commits = before === void 0 ? await listOwnCommits(git, { to: after, branch: shortOf(ref).ref }, maxOfNewBranch) : await listCommits(git, stretch, { limit: maxRead });
  const isCut = commits.length === maxRead;
  const shown4 = await Promise.all(commits.slice(0, maxCommits).map(told));
  const origin = before ?? commits.at(-1)?.parents[0] ?? originOf(repository, ref);
  return {
    commits: shown4,
    read: commits,
    total: isCut ? await countCommits(git, stretch) : commits.length,
    head: commits[0]?.id === head.id && shown4[0] ? shown4[0] : await told(head),
    comparison: origin === void 0 ? "" : `${path}/${origin}...${after}`
  };
}
function originOf(repository, ref) {
  return ref === `refs/heads/${repository.default_branch}` ? void 0 : repository.default_branch;
}
async function tellCommit(context, git, address, commit) {
  return toPayloadCommit(context.db, address, commit, await listTouched(git, commit.id));
}
function tell(context, pushed, change, news) {
  const { ref, before, after } = change;
  const isTag = ref.startsWith("refs/tags/");
  const isNew = before === void 0 || isTag;
  if (after !== void 0 && isNew && !isTag) tellCreation(context, pushed, ref, after);
  if (after !== void 0 || isTag) tellPush(context, pushed, change, news);
  if (after !== void 0 && isTag) tellCreation(context, pushed, ref, after);
  if (after === void 0) tellRemoval(context, pushed, ref);
}
function tellPush(context, pushed, change, news) {
  const { ref, before, after } = change;
  const zero = zeroIdLike(before ?? after ?? "");
  const isNewTag = ref.startsWith("refs/tags/") && after !== void 0;
  emitRef(
    context,
    pushed,
    { type: "push", ref, permission: "owner" },
    (surroundings2) => pushPayload({
      ...surroundings2,
      ref,
      before: isNewTag ? zero : before ?? zero,
      after: after ?? zero,
      compareUrl: `${context.rootUrl()}/${news.comparison}`,
      commits: news.commits,
      totalCommits: news.total,
      headCommit: news.head
    })
  );
}
function tellCreation(context, pushed, ref, sha) {
  emitRef(
    context,
    pushed,
    { type: "create", ref, permission: "none" },
    (surroundings2) => createPayload({ ...surroundings2, ...shortOf(ref), sha })
  );
}
function tellRemoval(context, pushed, ref) {
  emitRef(
    context,
    pushed,
    { type: "delete", ref, permission: "owner" },
    (surroundings2) => deletePayload({ ...surroundings2, ...shortOf(ref) })
  );
}
function tellRename(context, pushed, { from, to, sha }) {
  tellRemoval(context, pushed, `refs/heads/${from}`);
  tellCreation(context, pushed, `refs/heads/${to}`, sha);
}
function shortOf(ref) {
  const refType = ref.startsWith("refs/tags/") ? "tag" : "branch";
  return { ref: ref.replace(/^refs\/(heads|tags)\//, ""), refType };
}
function emitRef(context, { repository, owner, pusher }, { type, ref, permission }, build) {
  const payload = () => build({
    repository: toRepository(context, repository, { owner, viewer: void 0, permission }),
    sender: toUser(context, pusher, void 0)
  });
  context.emit({ type, repository, owner, ref, payload });
}

// src/forge/git-receive.ts
async function receivePush(context, { repository, owner, caller, gitId, isWiki }, { body, environment }) {
  if (caller === void 0) throw new ForgeProblem(401, "credentials are needed");
  const room = await mkdtemp(join5(tmpdir(), "forge-push-"));
  try {
    const file = join5(room, "body");
    await pipeline(body, createWriteStream(file));
    const take = async () => {
      const mover = { db: context.db, repository, owner, user: caller, git: context.git.open(gitId) };
      const refusal = isWiki ? void 0 : await refusePush(mover, { file, room });
      if (refusal) return { result: refusal, changes: [] };
      return await takePack(context, gitId, file, environment);
    };
    return isWiki ? (await context.git.exclusively(gitId, "refs", take)).result : await withPush(context, { repository, owner, pusher: caller }, take);
  } finally {
    await rm2(room, { recursive: true, force: true });
  }
}
async function takePack(context, gitId, file, environment) {
  const git = context.git.open(gitId);
  const before = await listRefs(git);
  const { stdout } = await git.git.run(["receive-pack", "--stateless-rpc", git.folder], {
    folder: git.folder,
    input: createReadStream2(file),
    environment,
    timeoutMs: 6e5,
    expect: [0, 1, 128]
  });
  return { result: stdout, changes: compareRefs(before, await listRefs(git)) };
}
function compareRefs(before, after) {
  const old = new Map(before.map(({ name, id }) => [name, id]));
  const now = new Map(after.map(({ name, id }) => [name, id]));
  const names = [.../* @__PURE__ */ new Set([...old.keys(), ...now.keys()])].sort();
  return names.map((ref) => ({ ref, before: old.get(ref), after: now.get(ref) })).filter((change) => change.before !== change.after);
}

// src/forge/wiki-repository.ts
var wikiBranch = "main";
function wikiIdOf(repository) {
  return -repository.id;
}
function hasWiki(context, repository) {
  return context.git.exists(wikiIdOf(repository));
}
async function ensureWiki(context, repository) {
  if (hasWiki(context, repository)) return;
  const options2 = { defaultBranch: wikiBranch, objectFormat: repository.object_format };
  await context.git.exclusively(wikiIdOf(repository), "pulls", async () => {
    if (!hasWiki(context, repository)) await context.git.create(wikiIdOf(repository), options2);
  });
}

// src/forge/git-http.ts
var uploadMs = 6e5;
var maxUploads = 32;
var services = ["git-upload-pack", "git-receive-pack"];
function registerGitHttp(app, context) {
  const enter = createEntrance(context);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, body, done) => done(null, body));
  app.get("/:owner/:repo/info/refs", async (request2, reply) => {
    const service = new URLSearchParams(request2.url.split("?")[1]).get("service") ?? "";
    return await enter(request2, reply, service, (visit) => advertise(context, visit, request2, reply));
  });
  let uploads = 0;
  app.post(
    "/:owner/:repo/git-upload-pack",
    async (request2, reply) => enter(request2, reply, "git-upload-pack", async (visit) => {
      if (uploads >= maxUploads) throw new ForgeProblem(503, "too many clones at a time, try again");
      uploads += 1;
      reply.raw.once("close", () => {
        uploads -= 1;
      });
      return await upload(context, visit, request2, reply);
    })
  );
  app.post(
    "/:owner/:repo/git-receive-pack",
    async (request2, reply) => enter(request2, reply, "git-receive-pack", async (visit) => {
      const report2 = await receivePush(context, visit, {
        body: bodyOf2(request2),
        environment: protocolOf(request2)
      });
      return await reply.type("application/x-git-receive-pack-result").send(report2);
    })
  );
}
function createEntrance(context) {
  const readActor = createActorReader(context);
  return async (request2, reply, service, answer2) => {
    reply.headers({
      "cache-control": "no-cache, max-age=0, must-revalidate",
      expires: "Fri, 01 Jan 1980 00:00:00 GMT",
      pragma: "no-cache"
    });
    try {
      if (!services.includes(service)) throw new ForgeProblem(403, "only smart HTTP is served");
      const actor = await readActor({
        authorization: request2.headers.authorization,
        queryToken: void 0,
        sudo: void 0
      });
      const isRead = service === "git-upload-pack";
      const scope = `${isRead ? "read" : "write"}:repository`;
      if (actor.scopes && !coversScopes(actor.scopes, [scope])) {
        throw new ForgeProblem(403, `token does not have the scope ${scope}`);
      }
      const target = findTarget2(context, request2, actor.user);
      if (!isRead) guardPush(target, actor.user);
      const visit = { ...target, caller: actor.user, service };
      return await answer2({ ...visit, gitId: await gitIdOf(context, target, isRead) });
    } catch (error) {
      return refuse(request2, reply, error);
    }
  };
}
function findTarget2(context, request2, caller) {
  const { owner, repo } = request2.params;
  const name = repo.replace(/\.git$/, "");
  const isWiki = name.endsWith(".wiki");
  const unit = isWiki ? "wiki" : "code";
  try {
    const target = findRepository(context.db, owner, name.replace(/\.wiki$/, ""), caller, unit);
    if (target.permission === "none") throw new ForgeProblem(404, "Repository not found");
    return { ...target, isWiki };
  } catch (error) {
    const isHidden = error instanceof ForgeProblem && error.status === 404 && caller === void 0;
    throw isHidden ? new ForgeProblem(401, "credentials are needed") : error;
  }
}
async function gitIdOf(context, { repository, isWiki }, isRead) {
  if (!isWiki) return repository.id;
  if (!settingsOf(repository).has_wiki) throw new ForgeProblem(403, "repository wiki is disabled");
  if (!isRead) await ensureWiki(context, repository);
  else if (!hasWiki(context, repository)) throw new ForgeProblem(404, "Repository not found");
  return wikiIdOf(repository);
}
function guardPush({ repository, permission }, caller) {
  if (caller === void 0) throw new ForgeProblem(401, "credentials are needed");
  if (!reaches(permission, "write")) throw new ForgeProblem(403, "User permission denied for writing.");
  if (repository.archived_at > 0) {
    throw new ForgeProblem(403, "This repo is archived. You can view files and clone it, but cannot push.");
  }
}
function refuse(request2, reply, error) {
  if (error instanceof Moved) {
    return reply.code(301).header("location", error.locationOf(request2.url)).send();
  }
  if (!(error instanceof ForgeProblem)) throw error;
  if (error.status === 401) reply.header("www-authenticate", 'Basic realm="Gitea"');
  return reply.code(error.status).type("text/plain; charset=utf-8").send(`${error.message}
`);
}
function protocolOf(request2) {
  const given = request2.headers["git-protocol"];
  const isPlain = typeof given === "string" && /^[0-9a-zA-Z=:-]{1,100}$/.test(given);
  return isPlain ? { GIT_PROTOCOL: given } : {};
}
async function advertise(context, { gitId, service }, request2, reply) {
  const { git, folder } = context.git.open(gitId);
  const { stdout } = await git.run(
    [service.slice("git-".length), "--stateless-rpc", "--advertise-refs", folder],
    { folder, environment: protocolOf(request2) }
  );
  const line2 = `# service=${service}
`;
  const head = `${(line2.length + 4).toString(16).padStart(4, "0")}${line2}0000`;
  return reply.type(`application/x-${service}-advertisement`).send(Buffer.concat([Buffer.from(head), stdout]));
}
function bodyOf2(request2) {
  const body = request2.body;
  return request2.headers["content-encoding"] === "gzip" ? body.pipe(createGunzip()) : body;
}
async function upload(context, { gitId }, request2, reply) {
  const { git, folder } = context.git.open(gitId);
  const child = git.start(["upload-pack", "--stateless-rpc", "--strict", folder], {
    folder,
    environment: protocolOf(request2)
  });
  child.stderr.resume();
  child.on("error", (error) => child.stdout.destroy(error));
  const timer = setTimeout(() => child.kill("SIGKILL"), uploadMs);
  reply.raw.on("close", () => {
    clearTimeout(timer);
    child.kill("SIGKILL");
  });
  pipeline2(bodyOf2(request2), child.stdin).catch(() => child.kill("SIGKILL"));
  return reply.type("application/x-git-upload-pack-result").send(child.stdout);
}

// src/forge/resources/hook.ts
function toHook(hook) {
  return {
    id: hook.id,
    type: hook.type,
    name: hook.name,
    branch_filter: hook.branch_filter,
    // Both columns hold what this forge wrote.
    config: {
      ...JSON.parse(hook.meta),
      content_type: hook.content_type,
      url: hook.url
    },
    events: JSON.parse(hook.events),
    authorization_header: "",
    active: hook.is_active === 1,
    updated_at: toInstant(hook.updated_at),
    created_at: toInstant(hook.created_at)
  };
}

// src/forge/hooks.ts
var types = /* @__PURE__ */ new Set([
  ...[
    "gitea",
    "gogs",
    "slack",
    "discord",
    "dingtalk",
    "telegram",
    "msteams",
    "feishu",
    "matrix",
    "wechatwork"
  ],
  "packagist"
]);
function readUrl(text) {
  const isEmpty2 = /^https?:\/\/$/i.test(text);
  if (!isEmpty2 && !(/^https?:\/\//i.test(text) && URL.canParse(text))) {
    throw new ForgeProblem(422, "Invalid url");
  }
  return text;
}
function readContentType(text) {
  if (text !== "json" && text !== "form") throw new ForgeProblem(422, "Invalid content type");
  return text;
}
function readBranchFilter(text) {
  const filter = text ?? "";
  if (filter === "") return filter;
  try {
    createGlob(filter, { separator: "" });
  } catch (error) {
    if (error instanceof GlobError) throw new ForgeProblem(422, `Invalid branch filter: ${error.message}`);
    throw error;
  }
  return filter;
}
function readName(text) {
  const name = text.trim();
  if (name.length > 255) throw new ForgeProblem(422, "[Name]: MaxSize(255)");
  return name;
}
function readMeta(type, config) {
  if (type !== "slack") return "{}";
  const { channel = "", username = "", icon_url = "", color = "" } = config;
  if (!/^[#@]?[^\s#@]+$/.test(channel.trim())) throw new ForgeProblem(400, "Invalid slack channel name");
  return JSON.stringify({ channel: channel.trim(), username, icon_url, color });
}
function readSystemFlag(text) {
  if (["1", "t", "T", "TRUE", "true", "True"].includes(text)) return true;
  if (["", "0", "f", "F", "FALSE", "false", "False"].includes(text)) return false;
  throw new ForgeProblem(422, "Invalid is_system_webhook value");
}
function insertHook(context, holder, hook) {
  const { db, clock } = context;
  const config = hook.config ?? {};
  if (!types.has(hook.type)) throw new ForgeProblem(422, `Invalid hook type: ${hook.type}`);
  for (const member of ["url", "content_type"]) {
    if (!Object.hasOwn(config, member)) throw new ForgeProblem(422, `Missing config option: ${member}`);
  }
  const now = secondsOf(clock());
  const isSystem = readSystemFlag(config.is_system_webhook ?? "");
  const { lastId } = db.run(
    `INSERT INTO hooks (repo_id, owner_id, is_system, type, name, url, content_type, secret, meta, events, branch_filter,
       authorization_header, is_active, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    holder !== "instance" && holder.column === "repo_id" ? holder.id : null,
    holder !== "instance" && holder.column === "owner_id" ? holder.id : null,
    isSystem,
    hook.type,
    readName(hook.name ?? ""),
    readUrl(config.url ?? ""),
    readContentType(config.content_type ?? ""),
    config.secret ?? "",
    readMeta(hook.type, config),
    JSON.stringify(enabledEvents(hook.events)),
    readBranchFilter(hook.branch_filter),
    hook.authorization_header ?? "",
    hook.active ?? false,
    now,
    now
  );
  return found(db.get("SELECT * FROM hooks WHERE id = ?", lastId));
}
function updateHook(context, hook, edit2) {
  const { db, clock } = context;
  db.run(
    `UPDATE hooks SET name = ?, url = ?, content_type = ?, events = ?, branch_filter = ?, authorization_header = ?,
       is_active = ?, updated_at = ? WHERE id = ?`,
    edit2.name === void 0 ? hook.name : readName(edit2.name),
    edit2.config?.url === void 0 ? hook.url : readUrl(edit2.config.url),
    edit2.config?.content_type === void 0 ? hook.content_type : readContentType(edit2.config.content_type),
    JSON.stringify(enabledEvents(edit2.events)),
    readBranchFilter(edit2.branch_filter),
    edit2.authorization_header ?? "",
    edit2.active ?? hook.is_active,
    secondsOf(clock()),
    hook.id
  );
  return found(db.get("SELECT * FROM hooks WHERE id = ?", hook.id));
}
function conditionOf(holder) {
  if (holder === "instance") return { sql: "repo_id IS NULL AND owner_id IS NULL", values: [] };
  return { sql: `${holder.column} = ?`, values: [holder.id] };
}
function listOf({ context, page: page2, reply }, { sql, values }) {
  const { db } = context;
  const count = `SELECT count(*) AS count FROM hooks WHERE ${sql}`;
  reply.total(db.get(count, ...values)?.count ?? 0);
  const list2 = `SELECT * FROM hooks WHERE ${sql} ORDER BY id LIMIT ? OFFSET ?`;
  return db.all(list2, ...values, page2.limit, page2.offset).map(toHook);
}
function hookOf({ context, params }, holder) {
  const { sql, values } = conditionOf(holder);
  return found(context.db.get(`SELECT * FROM hooks WHERE id = ? AND ${sql}`, params.id, ...values));
}
function removeHook(call, holder) {
  call.context.db.run("DELETE FROM hooks WHERE id = ?", hookOf(call, holder).id);
  return void 0;
}
function findHook(call) {
  return hookOf(call, inRepository(call.repository.id));
}
function copyDefaultHooks({ db, clock }, repositoryId) {
  const copied = "type, name, url, content_type, secret, meta, events, branch_filter, authorization_header, is_active";
  db.run(
    `INSERT INTO hooks (repo_id, ${copied}, created_at, updated_at) SELECT ?1, ${copied}, ?2, ?2 FROM hooks
     WHERE repo_id IS NULL AND owner_id IS NULL AND is_system = 0 ORDER BY id`,
    repositoryId,
    secondsOf(clock())
  );
}
function inRepository(id) {
  return { column: "repo_id", id };
}
function ofOwner(id) {
  return { column: "owner_id", id };
}
function instanceCondition(type) {
  const condition = conditionOf("instance");
  if (type === "all") return condition;
  return { sql: `${condition.sql} AND is_system = ?`, values: [type === "default" ? 0 : 1] };
}
var hookHandlers = defineHandlers({
  listHooks: (call) => listOf(call, conditionOf(inRepository(call.repository.id))),
  getHook: (call) => toHook(findHook(call)),
  createHook: ({ context, repository, body }) => toHook(insertHook(context, inRepository(repository.id), body)),
  editHook: (call) => toHook(updateHook(call.context, findHook(call), call.body)),
  deleteHook: (call) => removeHook(call, inRepository(call.repository.id)),
  listUserHooks: (call) => listOf(call, conditionOf(ofOwner(call.caller.id))),
  createUserHook: ({ context, caller, body }) => toHook(insertHook(context, ofOwner(caller.id), body)),
  getUserHook: (call) => toHook(hookOf(call, ofOwner(call.caller.id))),
  editUserHook: (call) => toHook(updateHook(call.context, hookOf(call, ofOwner(call.caller.id)), call.body)),
  deleteUserHook: (call) => removeHook(call, ofOwner(call.caller.id)),
  listOrganizationHooks: (call) => listOf(call, conditionOf(ofOwner(call.organization.id))),
  createOrganizationHook: ({ context, organization, body }) => toHook(insertHook(context, ofOwner(organization.id), body)),
  getOrganizationHook: (call) => toHook(hookOf(call, ofOwner(call.organization.id))),
  editOrganizationHook: (call) => toHook(updateHook(call.context, hookOf(call, ofOwner(call.organization.id)), call.body)),
  deleteOrganizationHook: (call) => removeHook(call, ofOwner(call.organization.id)),
  listSystemHooks: (call) => listOf(call, instanceCondition(call.query.type)),
  createSystemHook: ({ context, body }) => toHook(insertHook(context, "instance", body)),
  getSystemHook: (call) => toHook(hookOf(call, "instance")),
  editSystemHook: (call) => toHook(updateHook(call.context, hookOf(call, "instance"), call.body)),
  deleteSystemHook: (call) => removeHook(call, "instance")
});

// src/forge/label-sets.ts
var sets = {
  Default: [
    { name: "bug", color: "ee0701", description: "Something is not working" },
    { name: "duplicate", color: "cccccc", description: "This issue or pull request already exists" },
    { name: "enhancement", color: "84b6eb", description: "New feature" },
    { name: "help wanted", color: "128a0c", description: "Need some help" },
    { name: "invalid", color: "e6e6e6", description: "Something is wrong" },
    { name: "question", color: "cc317c", description: "More information is needed" },
    { name: "wontfix", color: "ffffff", description: "This won't be fixed" }
  ]
};
function labelSet(name) {
  if (name === void 0 || name === "") return [];
  const labels = Object.hasOwn(sets, name) ? sets[name] : void 0;
  if (!labels) throw new ForgeProblem(422, `template "${name}" is not a set of labels`);
  return labels;
}

// src/forge/labels.ts
function normalizeColor(text) {
  const digits = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(text.trim())?.[1]?.toLowerCase();
  if (digits === void 0) throw new ForgeProblem(422, `bad color code: ${text}`);
  return digits.length === 3 ? [...digits].map((digit) => digit + digit).join("") : digits;
}
function insertLabel(context, holder, label) {
  const { db, clock } = context;
  const now = secondsOf(clock());
  const { lastId } = db.run(
    `INSERT INTO labels (${holder.column}, name, color, description, exclusive, archived_at, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    holder.id,
    label.name,
    normalizeColor(label.color),
    label.description ?? "",
    label.exclusive ?? false,
    label.is_archived ? now : 0,
    now,
    now
  );
  return found(db.get("SELECT * FROM labels WHERE id = ?", lastId));
}
var orders = {
  reversealphabetically: "name DESC, id DESC",
  leastissues: "num_issues ASC, name, id",
  mostissues: "num_issues DESC, name, id"
};
function listOf2(context, holder, sort, page2) {
  const order = orders[sort ?? ""] ?? "name, id";
  const sql = `SELECT * FROM labels WHERE ${holder.column} = ? ORDER BY ${order} LIMIT ? OFFSET ?`;
  return context.db.all(sql, holder.id, page2.limit, page2.offset);
}
function countOf(context, holder) {
  const sql = `SELECT count(*) AS count FROM labels WHERE ${holder.column} = ?`;
  return context.db.get(sql, holder.id)?.count ?? 0;
}
function labelOf(context, holder, id) {
  const by = typeof id === "number" ? "id" : "name";
  const sql = `SELECT * FROM labels WHERE ${holder.column} = ? AND ${by} = ? ORDER BY id LIMIT 1`;
  return context.db.get(sql, holder.id, id);
}
function updateLabel(context, label, edit2) {
  const now = secondsOf(context.clock());
  const archivedAt = edit2.is_archived ? label.archived_at || now : 0;
  context.db.run(
    `UPDATE labels SET name = ?, color = ?, description = ?, exclusive = ?, archived_at = ?, updated_at = ? WHERE id = ?`,
    edit2.name ?? label.name,
    edit2.color === void 0 ? label.color : normalizeColor(edit2.color),
    edit2.description ?? label.description,
    edit2.exclusive ?? label.exclusive,
    archivedAt,
    now,
    label.id
  );
  return found(context.db.get("SELECT * FROM labels WHERE id = ?", label.id));
}
var ofRepository = (call) => ({
  column: "repo_id",
  id: call.repository.id
});
var ofOrganization = (call) => ({
  column: "org_id",
  id: call.organization.id
});
var labelHandlers = defineHandlers({
  listLabels(call) {
    call.reply.total(countOf(call.context, ofRepository(call)));
    const rows = listOf2(call.context, ofRepository(call), call.query.sort, call.page);
    return rows.map((row) => toLabel(call.context, row, call));
  },
  getLabel(call) {
    const { context, params } = call;
    return toLabel(context, found(labelOf(context, ofRepository(call), params.id)), call);
  },
  createLabel: (call) => toLabel(call.context, insertLabel(call.context, ofRepository(call), call.body), call),
  editLabel(call) {
    const { context, params, body } = call;
    const label = found(labelOf(context, ofRepository(call), params.id));
    return toLabel(context, updateLabel(context, label, body), call);
  },
  deleteLabel({ context, params, repository }) {
    context.db.run("DELETE FROM labels WHERE repo_id = ? AND id = ?", repository.id, params.id);
    return void 0;
  },
  listOrganizationLabels(call) {
    call.reply.total(countOf(call.context, ofOrganization(call)));
    const rows = listOf2(call.context, ofOrganization(call), call.query.sort, call.page);
    return rows.map((row) => toLabel(call.context, row, { owner: call.organization }));
  },
  createOrganizationLabel(call) {
    const row = insertLabel(call.context, ofOrganization(call), call.body);
    return toLabel(call.context, row, { owner: call.organization });
  },
  getOrganizationLabel(call) {
    const { context, params, organization } = call;
    const row = found(labelOf(context, ofOrganization(call), params.id));
    return toLabel(context, row, { owner: organization });
  },
  editOrganizationLabel(call) {
    const { context, params, organization, body } = call;
    const label = found(labelOf(context, ofOrganization(call), params.id));
    return toLabel(context, updateLabel(context, label, body), { owner: organization });
  },
  deleteOrganizationLabel({ context, params, organization }) {
    context.db.run("DELETE FROM labels WHERE org_id = ? AND id = ?", organization.id, params.id);
    return void 0;
  }
});

// src/forge/watches.ts
function watchRepository(context, userId, repositoryId) {
  context.db.run(
    "INSERT INTO watches (user_id, repo_id, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    userId,
    repositoryId,
    secondsOf(context.clock())
  );
}
function unwatchRepository({ db }, userId, repositoryId) {
  db.run("DELETE FROM watches WHERE user_id = ? AND repo_id = ?", userId, repositoryId);
}
function isWatching({ db }, userId, repositoryId) {
  const sql = "SELECT 1 AS one FROM watches WHERE user_id = ? AND repo_id = ?";
  return db.get(sql, userId, repositoryId) !== void 0;
}
function hearsOfIssue(context, userId, issue) {
  const { db } = context;
  const said = db.get(
    "SELECT is_watching FROM issue_watches WHERE issue_id = ? AND user_id = ?",
    issue.id,
    userId
  );
  if (said) return said.is_watching === 1;
  if (userId === issue.poster_id || isWatching(context, userId, issue.repo_id)) return true;
  const sql = "SELECT 1 AS one FROM comments WHERE issue_id = ? AND poster_id = ? LIMIT 1";
  return db.get(sql, issue.id, userId) !== void 0;
}
function sayAboutIssue({ db }, userId, issueId, wanted) {
  db.run(
    `INSERT INTO issue_watches (issue_id, user_id, is_watching) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET is_watching = excluded.is_watching`,
    issueId,
    userId,
    wanted
  );
}

// src/forge/new-repository.ts
async function createRepository(context, owner, actor, wanted) {
  const { db, git } = context;
  const branch = wanted.default_branch || "main";
  if (!isRefName(branch)) throw new ForgeProblem(422, `invalid branch name: ${branch}`);
  if (wanted.readme && wanted.auto_init && wanted.readme !== "Default") {
    throw new ForgeProblem(400, `readme template does not exist, available templates: [Default]`);
  }
  const repository = db.transaction(() => insertRepository(context, { owner, actor }, wanted, branch));
  try {
    await git.create(repository.id, {
      defaultBranch: branch,
      objectFormat: wanted.object_format_name ?? "sha1"
    });
    if (wanted.auto_init) await writeFirstCommit(context, repository, actor);
  } catch (error) {
    db.run("DELETE FROM repositories WHERE id = ?", repository.id);
    git.remove(repository.id);
    throw error;
  }
  return db.transaction(() => {
    endCreation(db, repository.id);
    const row = found(db.get("SELECT * FROM repositories WHERE id = ?", repository.id));
    announceRepository(context, { repository: row, owner, actor, action: "created" });
    return row;
  });
}
function insertRepository(context, { owner, actor }, wanted, branch) {
  const { db, clock } = context;
  assertRepositoryName(wanted.name);
  if (isTaken(context, owner, wanted.name)) {
    throw new ForgeProblem(409, "The repository with the same name already exists.");
  }
  if ((wanted.description ?? "").length > 2048) throw new ForgeProblem(422, "[Description]: MaxSize(2048)");
  const now = secondsOf(clock());
  const { lastId } = db.run(
    `INSERT INTO repositories (owner_id, name, lower_name, description, default_branch, object_format, is_private,
       is_template, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    owner.id,
    wanted.name,
    wanted.name.toLowerCase(),
    wanted.description ?? "",
    branch,
    wanted.object_format_name ?? "sha1",
    wanted.private ?? false,
    wanted.template ?? false,
    now,
    now
  );
  beginWork(db, lastId, "creating");
  copyDefaultHooks(context, lastId);
  for (const label of labelSet(wanted.issue_labels))
    insertLabel(context, { column: "repo_id", id: lastId }, label);
  watchRepository(context, actor.id, lastId);
  return found(db.get("SELECT * FROM repositories WHERE id = ?", lastId));
}
async function writeFirstCommit(context, repository, actor) {
  const author = {
    name: actor.full_name || actor.name,
    email: actor.email || noReplyAddress(actor),
    seconds: secondsOf(context.clock()),
    zone: "+0000"
  };
  const text = `# ${repository.name}

${repository.description}`.trimEnd();
  await context.git.commitFiles(repository.id, {
    branch: repository.default_branch,
    message: "Initial commit\n",
    author,
    committer: author,
    edits: [{ path: "README.md", content: Buffer.from(`${text}
`) }]
  });
  context.db.run("UPDATE repositories SET is_empty = 0, num_branches = 1 WHERE id = ?", repository.id);
}
function assertRepositoryName(name) {
  const isUsable = /^[-_.a-zA-Z0-9]{1,100}$/.test(name);
  const isReserved2 = /^(\.|\.\.|-)$/.test(name) || /\.(git|wiki|rss|atom)$/i.test(name);
  if (!isUsable || isReserved2) throw new ForgeProblem(422, `name is invalid or reserved [name: ${name}]`);
}
function isTaken(context, owner, name) {
  const sql = "SELECT 1 AS one FROM repositories WHERE owner_id = ? AND lower_name = ?";
  return context.db.get(sql, owner.id, name.toLowerCase()) !== void 0;
}
function announceRepository(context, news) {
  const { repository, owner, actor, action } = news;
  context.emit({
    type: "repository",
    repository,
    owner,
    payload: () => repositoryPayload({
      action,
      repository: toRepository(context, repository, { owner, viewer: void 0, permission: "owner" }),
      owner: toUser(context, owner, void 0),
      sender: toUser(context, actor, void 0)
    })
  });
}

// src/forge/removal.ts
var ghostId = -1;
function removeRepository(context, news) {
  const { repository } = news;
  context.db.transaction(() => {
    announceRepository(context, { ...news, action: "deleted" });
    context.db.run("DELETE FROM repositories WHERE id = ?", repository.id);
    context.db.afterCommit(() => context.git.remove(repository.id));
  });
}
function countRepositories({ db }, owner) {
  const sql = "SELECT count(*) AS count FROM repositories WHERE owner_id = ?";
  return db.get(sql, owner.id)?.count ?? 0;
}
function removeOrganization(context, organization) {
  if (countRepositories(context, organization) > 0) {
    throw new ForgeProblem(422, `user still has ownership of repositories [name: ${organization.name}]`);
  }
  removeRow(context, organization);
}
function removeAccount(context, { account, actor, purge }) {
  const { db } = context;
  const administrators = `SELECT count(*) AS count FROM users WHERE is_admin = 1 AND is_active = 1`;
  const isLast = account.is_admin && db.get(administrators)?.count === 1;
  if (isLast) throw new ForgeProblem(422, `can not delete the last admin user [name: ${account.name}]`);
  db.transaction(() => {
    if (purge) purgeOf(context, account, actor);
    if (countRepositories(context, account) > 0) {
      throw new ForgeProblem(422, `user still has ownership of repositories [name: ${account.name}]`);
    }
    if (db.get("SELECT 1 AS one FROM team_members WHERE user_id = ?", account.id)) {
      throw new ForgeProblem(422, `user still has membership of organizations [name: ${account.name}]`);
    }
    removeRow(context, account);
  });
}
function purgeOf(context, account, actor) {
  const { db } = context;
  removeAllRepositories(context, account, actor);
  const organizations = db.all(
    `SELECT o.* FROM users o WHERE o.id IN (SELECT t.org_id FROM teams t JOIN team_members m ON m.team_id = t.id
       WHERE t.permission = 'owner' AND m.user_id = ?1
       AND NOT EXISTS (SELECT 1 FROM team_members x WHERE x.team_id = t.id AND x.user_id <> ?1))`,
    account.id
  );
  for (const organization of organizations) {
    removeAllRepositories(context, organization, actor);
    removeOrganization(context, organization);
  }
  db.run("DELETE FROM team_members WHERE user_id = ?", account.id);
}
function removeAllRepositories(context, owner, actor) {
  const sql = "SELECT * FROM repositories WHERE owner_id = ? ORDER BY id";
  for (const repository of context.db.all(sql, owner.id)) {
    removeRepository(context, { repository, owner, actor });
  }
}
function removeRow({ db }, account) {
  db.run(
    `INSERT OR IGNORE INTO users (id, type, name, lower_name, is_active, prohibit_login, created_at, updated_at)
     VALUES (?, 'user', 'Ghost', 'ghost', 0, 1, 0, 0)`,
    ghostId
  );
  const kept = db.all(
    `SELECT m.name AS table_name, f."from" AS column_name FROM sqlite_master m, pragma_foreign_key_list(m.name) f
     WHERE m.type = 'table' AND f."table" = 'users' AND f.on_delete = 'NO ACTION' AND m.name <> 'repositories'`
  );
  for (const { table_name, column_name } of kept) {
    db.run(`UPDATE "${table_name}" SET "${column_name}" = ? WHERE "${column_name}" = ?`, ghostId, account.id);
  }
  db.run("DELETE FROM users WHERE id = ?", account.id);
}

// src/forge/renaming.ts
function renameAccount(context, account, name) {
  const { db, clock } = context;
  if (name === account.name) return;
  const lower2 = name.toLowerCase();
  db.transaction(() => {
    if (lower2 !== account.lower_name) {
      assertNameIsFree(context, name);
      db.run(
        "INSERT OR REPLACE INTO account_redirects (lower_name, user_id) VALUES (?, ?)",
        account.lower_name,
        account.id
      );
    } else if (!/^[-_.a-zA-Z0-9]+$/.test(name))
      throw new ForgeProblem(422, `name is invalid [name: ${name}]`);
    freeName(context, name);
    db.run(
      "UPDATE users SET name = ?, lower_name = ?, updated_at = ? WHERE id = ?",
      name,
      lower2,
      secondsOf(clock()),
      account.id
    );
  });
}
function freeName({ db }, name) {
  db.run("DELETE FROM account_redirects WHERE lower_name = ?", name.toLowerCase());
}

// src/forge/accounts.ts
var longest = {
  ...{ email: 254, full_name: 100, password: 255, website: 255, location: 50, description: 255 }
};
var shortestPassword = 8;
function assertTexts(edit2) {
  for (const [member, size] of Object.entries(longest)) {
    const value = edit2[member];
    if (typeof value === "string" && value.length > size)
      throw new ForgeProblem(422, `[${member}]: MaxSize(${size})`);
  }
  if (edit2.website && !/^https?:\/\/[^\s/]/i.test(edit2.website))
    throw new ForgeProblem(422, "[Website]: Url");
  if (edit2.password && edit2.password.length < shortestPassword) {
    throw new ForgeProblem(400, `password must be at least ${shortestPassword} characters`);
  }
}
function assertEmail({ db }, account, email) {
  if (email === void 0) return;
  if (!isEmail(email)) throw new ForgeProblem(400, `e-mail invalid [email: ${email}]`);
  const sql = `SELECT 1 AS one FROM users WHERE lower(email) = ? AND email <> '' AND type = 'user' AND id <> ?`;
  if (db.get(sql, email.toLowerCase(), account.id))
    throw new ForgeProblem(400, `e-mail already in use [email: ${email}]`);
}
async function updateAccount(context, account, edit2) {
  const { db } = context;
  assertTexts(edit2);
  const visibility = readVisibility(edit2.visibility) ?? account.visibility;
  const hash = edit2.password ? await hashPassword(edit2.password) : account.password_hash;
  assertEmail(context, account, edit2.email);
  const administrators = "SELECT count(*) AS count FROM users WHERE is_admin = 1 AND is_active = 1";
  const isLast = account.is_admin && db.get(administrators)?.count === 1;
  if (isLast && edit2.admin === false)
    throw new ForgeProblem(400, `can not delete the last admin user [name: ${account.name}]`);
  db.run(
    `UPDATE users SET full_name = ?, email = ?, website = ?, location = ?, description = ?, visibility = ?,
       password_hash = ?, is_active = ?, is_admin = ?, is_restricted = ?, prohibit_login = ?, must_change_password = ?,
       updated_at = ? WHERE id = ?`,
    edit2.full_name ?? account.full_name,
    edit2.email ?? account.email,
    edit2.website ?? account.website,
    edit2.location ?? account.location,
    edit2.description ?? account.description,
    visibility,
    hash,
    edit2.active ?? account.is_active,
    edit2.admin ?? account.is_admin,
    edit2.restricted ?? account.is_restricted,
    edit2.prohibit_login ?? account.prohibit_login,
    edit2.must_change_password ?? account.must_change_password,
    secondsOf(context.clock()),
    account.id
  );
  return found(db.get("SELECT * FROM users WHERE id = ?", account.id));
}
function listOf3({ context, caller, page: page2, reply }, { word, where, values }) {
  const from = `FROM users u WHERE u.type = 'user' AND u.id > 0 AND (?1 = '' OR instr(u.lower_name, ?1) > 0
    OR instr(lower(u.full_name), ?1) > 0 OR lower(u.email) = ?1) AND ${where}`;
  const given = [(word ?? "").trim().toLowerCase(), ...values];
  const { db } = context;
  reply.total(db.get(`SELECT count(*) AS count ${from}`, ...given)?.count ?? 0);
  const limits = `LIMIT ?${given.length + 1} OFFSET ?${given.length + 2}`;
  const rows = db.all(
    `SELECT u.* ${from} ORDER BY u.lower_name ${limits}`,
    ...given,
    page2.limit,
    page2.offset
  );
  return rows.map((row) => toUser(context, row, caller));
}
function visibleTo(caller) {
  if (!caller) return `u.visibility = 'public' AND ?3 = ?3`;
  if (caller.is_admin) return "?3 = ?3";
  return `(u.visibility <> 'private' OR u.id = ?3 OR EXISTS (SELECT 1 FROM team_members a
    JOIN team_members b ON b.org_id = a.org_id WHERE a.user_id = ?3 AND b.user_id = u.id))`;
}
function personOnly(account) {
  if (account.type === "organization") throw new ForgeProblem(422, "target is an organization but not user");
}
var accountHandlers = defineHandlers({
  searchUsers(call) {
    const { q, uid } = call.query;
    const where = `(?2 = 0 OR u.id = ?2) AND u.is_active = 1 AND ${visibleTo(call.caller)}`;
    const data = listOf3(call, { word: q, where, values: [uid ?? 0, call.caller?.id ?? 0] });
    return { ok: true, data };
  },
  listUsers(call) {
    const { q, visibility, is_active, is_admin } = call.query;
    const flag = (value) => value === void 0 ? -1 : Number(value);
    const where = `(?2 = '' OR u.visibility = ?2) AND (?3 = -1 OR u.is_active = ?3) AND (?4 = -1 OR u.is_admin = ?4)`;
    const values = [readVisibility(visibility) ?? "", flag(is_active), flag(is_admin)];
    return listOf3(call, { word: q, where, values });
  },
  async editUser({ context, account, body, caller }) {
    personOnly(account);
    return toUser(context, await updateAccount(context, account, body), caller);
  },
  renameUser({ context, account, body }) {
    personOnly(account);
    renameAccount(context, account, body.new_username);
    return void 0;
  },
  deleteUser({ context, account, caller, query }) {
    personOnly(account);
    if (account.id === caller.id) throw new ForgeProblem(422, "you cannot delete yourself");
    removeAccount(context, { account, actor: caller, purge: query.purge ?? false });
    return void 0;
  }
});

// src/forge/attachments.ts
import { randomUUID as randomUUID4 } from "node:crypto";
import { extname } from "node:path";

// src/forge/issue-labels.ts
function exclusiveScope(label) {
  const slash = label.name.lastIndexOf("/");
  const isScoped = label.exclusive === 1 && slash > 0 && slash < label.name.length - 1;
  return isScoped ? label.name.slice(0, slash) : void 0;
}
function findLabels(context, place, wanted) {
  return context.db.all(
    `SELECT * FROM labels WHERE (repo_id = ?1 OR org_id = ?2)
       AND ${typeof wanted[0] === "string" ? "name" : "id"} IN (SELECT value FROM json_each(?3)) ORDER BY name, id`,
    place.repository.id,
    place.owner.type === "organization" ? place.owner.id : 0,
    JSON.stringify(wanted)
  );
}
function attachLabels(context, issueId, labels) {
  for (const label of labels) {
    const held = loadLabels(context, [issueId]).get(issueId) ?? [];
    if (held.some((other) => other.id === label.id)) continue;
    const scope = exclusiveScope(label);
    if (scope !== void 0)
      detachLabels(
        context,
        issueId,
        held.filter((other) => exclusiveScope(other) === scope)
      );
    context.db.run("INSERT INTO issue_labels (issue_id, label_id) VALUES (?, ?)", issueId, label.id);
    touch(context, issueId);
  }
}
function detachLabels(context, issueId, labels) {
  for (const label of labels) {
    const { changes } = context.db.run(
      "DELETE FROM issue_labels WHERE issue_id = ? AND label_id = ?",
      issueId,
      label.id
    );
    if (changes > 0) touch(context, issueId);
  }
}
function replaceLabels(context, issueId, wanted) {
  const labels = wanted.filter((label, at) => {
    const scope = exclusiveScope(label);
    return scope === void 0 || !wanted.slice(at + 1).some((other) => exclusiveScope(other) === scope);
  });
  attachLabels(context, issueId, labels);
  const kept = new Set(labels.map((label) => label.id));
  const held = loadLabels(context, [issueId]).get(issueId) ?? [];
  detachLabels(
    context,
    issueId,
    held.filter((label) => !kept.has(label.id))
  );
}
function touch(context, issueId) {
  context.db.run("UPDATE issues SET updated_at = ? WHERE id = ?", secondsOf(context.clock()), issueId);
}
function findIssue({ context, repository, params }) {
  const sql = "SELECT * FROM issues WHERE repo_id = ? AND number = ?";
  const issue = found(context.db.get(sql, repository.id, params.index));
  const { has_issues, has_pull_requests } = settingsOf(repository);
  const isOn = issue.is_pull ? has_pull_requests : has_issues;
  return found(isOn ? issue : void 0);
}
function changeLabels(call, news, change) {
  const { context } = call;
  return context.db.transaction(() => {
    const issue = findIssue(call);
    change(issue);
    const scene = { ...call, issueId: issue.id, actor: call.caller };
    announceIssue(context, scene, { topic: "label", ...news });
    return labelsOf(call, issue);
  });
}
function labelsOf(call, issue) {
  const rows = loadLabels(call.context, [issue.id]).get(issue.id) ?? [];
  return rows.map((row) => toLabel(call.context, row, call));
}
var issueLabelHandlers = defineHandlers({
  listIssueLabels: (call) => labelsOf(call, findIssue(call)),
  // The baseline forgets the labels it has read, and tells of none, whichever are there now.
  replaceIssueLabels: (call) => changeLabels(
    call,
    { action: "label_updated", hidesLabels: true },
    (issue) => replaceLabels(call.context, issue.id, findLabels(call.context, call, call.body.labels))
  ),
  addIssueLabels: (call) => changeLabels(
    call,
    { action: "label_updated" },
    (issue) => attachLabels(call.context, issue.id, findLabels(call.context, call, call.body.labels))
  ),
  removeIssueLabel(call) {
    changeLabels(call, { action: "label_updated" }, (issue) => {
      const labels = findLabels(call.context, call, [call.params.id]);
      detachLabels(call.context, issue.id, [found(labels[0], "label does not exist")]);
    });
    return void 0;
  },
  clearIssueLabels(call) {
    changeLabels(call, { action: "label_cleared" }, (issue) => replaceLabels(call.context, issue.id, []));
    return void 0;
  }
});

// src/forge/attachments.ts
var attachmentLimits = {
  maxMiB: 25,
  maxFiles: 5,
  types: ".avif,.cpuprofile,.csv,.dmp,.docx,.fodg,.fodp,.fods,.fodt,.gif,.gz,.jpeg,.jpg,.json,.jsonc,.log,.md,.mov,.mp4,.odf,.odg,.odp,.ods,.odt,.patch,.pdf,.png,.pptx,.svg,.tgz,.txt,.webm,.webp,.xls,.xlsx,.zip"
};
var allowed = new Set(attachmentLimits.types.split(","));
function guardEnabled({ context }) {
  if (!context.features.attachments) throw new ForgeProblem(404, "not found");
}
function issueOf(call) {
  guardEnabled(call);
  return { issue: findIssue(call) };
}
function commentOf(call) {
  guardEnabled(call);
  const { context, repository, params } = call;
  const sql = "SELECT * FROM comments WHERE id = ? AND repo_id = ?";
  const comment = found(
    context.db.get(sql, params.id, repository.id),
    "no matching issue comment found"
  );
  const issue = readIssueRow(context, comment.issue_id);
  const { has_issues, has_pull_requests } = settingsOf(repository);
  return (issue.is_pull ? has_pull_requests : has_issues) ? { issue, comment } : void 0;
}
function guardChange(call, { issue, comment }) {
  const { caller, permission } = call;
  const isAdministrator = reaches(permission, "admin");
  const mayChange = comment ? (caller.id === comment.poster_id || isAdministrator) && reaches(permission, "write") : caller.id === issue.poster_id || reaches(permission, "write");
  if (!mayChange) throw new ForgeProblem(403, "user should have permission to edit what the file hangs on");
}
function findAttachment({ context, repository }, { issue, comment }, id) {
  const attachment = context.db.get(
    "SELECT * FROM attachments WHERE id = ? AND repo_id = ? AND issue_id = ?",
    id,
    repository.id,
    issue.id
  );
  const isIts = comment === void 0 || attachment?.comment_id === comment.id;
  return found(isIts ? attachment : void 0, "no such attachment");
}
function guardName(name) {
  if (allowed.has(extname(name).toLowerCase())) return;
  throw new ForgeProblem(
    422,
    "This file cannot be uploaded or modified due to a forbidden file extension or type."
  );
}
async function attach(call, holder) {
  const { context, repository, caller } = call;
  guardChange(call, holder);
  const { name: ownName, bytes } = await call.upload();
  const name = call.query.name || ownName;
  guardName(name);
  if (bytes.length > attachmentLimits.maxMiB * 1024 * 1024) {
    throw new ForgeProblem(413, `attachment exceeds limit ${attachmentLimits.maxMiB} MiB`);
  }
  const uuid = randomUUID4();
  return context.attachments.keep(uuid, bytes, () => {
    const { lastId } = context.db.run(
      `INSERT INTO attachments (uuid, repo_id, issue_id, comment_id, uploader_id, name, size, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      uuid,
      repository.id,
      holder.issue.id,
      holder.comment?.id,
      caller.id,
      name,
      bytes.length,
      secondsOf(context.clock())
    );
    tellEdited(call, holder);
    return toAttachment(context, found(context.db.get("SELECT * FROM attachments WHERE id = ?", lastId)));
  });
}
function tellEdited(call, { issue, comment }) {
  const { context, repository, owner, caller } = call;
  const now = secondsOf(context.clock());
  const scene = { repository, owner, actor: caller, issueId: issue.id };
  if (comment) {
    context.db.run("UPDATE comments SET updated_at = ? WHERE id = ?", now, comment.id);
    const edited = { ...comment, updated_at: now };
    announceComment(context, scene, { comment: edited, action: "edited", changes: { body: comment.body } });
    return;
  }
  context.db.run(
    "UPDATE issues SET content_version = content_version + 1, updated_at = ? WHERE id = ?",
    now,
    issue.id
  );
  announceIssue(context, scene, { action: "edited", changes: { body: issue.body } });
}
function rename(call, holder, { id, name }) {
  guardChange(call, holder);
  const attachment = findAttachment(call, holder, id);
  const renamed = { ...attachment, name: name || attachment.name };
  guardName(renamed.name);
  call.context.db.run("UPDATE attachments SET name = ? WHERE id = ?", renamed.name, attachment.id);
  return toAttachment(call.context, renamed);
}
function remove(call, holder, id) {
  guardChange(call, holder);
  const { db, attachments } = call.context;
  db.run("DELETE FROM attachments WHERE id = ?", findAttachment(call, holder, id).id);
  attachments.sweep();
  return void 0;
}
var writable = (holder) => found(holder);
var nothing2 = void 0;
var attachmentHandlers = defineHandlers({
  getAttachmentSettings: ({ context }) => ({
    enabled: context.features.attachments,
    allowed_types: attachmentLimits.types,
    max_files: attachmentLimits.maxFiles,
    max_size: attachmentLimits.maxMiB
  }),
  listIssueAttachments(call) {
    const { issue } = issueOf(call);
    const rows = loadAttachments(call.context, "issue", [issue.id]).get(issue.id) ?? [];
    return rows.map((row) => toAttachment(call.context, row));
  },
  getIssueAttachment: (call) => toAttachment(call.context, findAttachment(call, issueOf(call), call.params.attachment_id)),
  createIssueAttachment: (call) => attach(call, issueOf(call)),
  editIssueAttachment: (call) => rename(call, issueOf(call), { id: call.params.attachment_id, name: call.body.name }),
  deleteIssueAttachment: (call) => remove(call, issueOf(call), call.params.attachment_id),
  listCommentAttachments(call) {
    const holder = commentOf(call);
    if (!holder) return nothing2;
    const { id } = holder.comment;
    const rows = loadAttachments(call.context, "comment", [id]).get(id) ?? [];
    return rows.map((row) => toAttachment(call.context, row));
  },
  getCommentAttachment(call) {
    const holder = commentOf(call);
    if (!holder) return nothing2;
    return toAttachment(call.context, findAttachment(call, holder, call.params.attachment_id));
  },
  createCommentAttachment: (call) => attach(call, writable(commentOf(call))),
  editCommentAttachment: (call) => rename(call, writable(commentOf(call)), { id: call.params.attachment_id, name: call.body.name }),
  deleteCommentAttachment: (call) => remove(call, writable(commentOf(call)), call.params.attachment_id)
});

// src/forge/branch-moves.ts
async function requireCommits(git) {
  if (await isEmpty(git)) throw new ForgeProblem(404, "Git Repository is empty.");
}
async function rename2(place, from, to) {
  const { context, repository, owner, caller, permission } = place;
  const git = context.git.open(repository.id);
  await requireCommits(git);
  if (!isRefName(to) || to.length > 100)
    throw new ForgeProblem(422, `[Name]: "${to}" is no name of a branch`);
  await context.git.exclusively(repository.id, "refs", async () => {
    if (from === to || await readBranch(git, to)) {
      throw new ForgeProblem(422, "Cannot rename a branch to its own name or to one that already exists.");
    }
    const { id } = found(await readBranch(git, from), "Branch doesn't exist.");
    const isDefault = from === repository.default_branch;
    if (isDefault && !reaches(permission, "admin")) {
      throw new ForgeProblem(403, "User must be a repo or site admin to rename the default branch.");
    }
    const names = (await listRefs(git, ["refs/heads"])).map(({ name }) => name.slice("refs/heads/".length));
    const isInTheWay = (other) => other !== from && (other.startsWith(`${to}/`) || to.startsWith(`${other}/`));
    if (names.some(isInTheWay)) throw new ForgeProblem(422, `the name conflicts with another branch: ${to}`);
    guardRename(context.db, repository.id, from);
    await moveName(git, { from, to, id });
    if (isDefault) await context.git.setDefaultBranch(repository.id, to);
    context.db.transaction(() => {
      const { db } = context;
      renameRule(db, repository.id, from, to);
      db.run(
        "UPDATE pulls SET base_branch = ? WHERE repo_id = ? AND base_branch = ? AND is_merged = 0",
        to,
        repository.id,
        from
      );
      db.run(
        "UPDATE pulls SET head_branch = ? WHERE head_repo_id = ? AND head_branch = ? AND is_merged = 0",
        to,
        repository.id,
        from
      );
      if (isDefault) db.run("UPDATE repositories SET default_branch = ? WHERE id = ?", to, repository.id);
      tellRename(context, { repository, owner, pusher: caller }, { from, to, sha: id });
    });
  });
}
async function moveName(git, { from, to, id }) {
  const going = { name: `refs/heads/${from}`, before: id, after: void 0 };
  const coming = { name: `refs/heads/${to}`, before: void 0, after: id };
  const isNested = from.startsWith(`${to}/`) || to.startsWith(`${from}/`);
  const isDone = isNested ? await moveRefs(git, [going]) && await moveRefs(git, [coming]) : await moveRefs(git, [going, coming]);
  if (!isDone) throw new ForgeProblem(422, "the branch was moved by somebody else meanwhile");
}
var branchMoveHandlers = defineHandlers({
  async updateBranch(call) {
    const { context, params, body, repository, owner, caller } = call;
    const git = context.git.open(repository.id);
    await requireCommits(git);
    await withPush(context, { repository, owner, pusher: caller }, async () => {
      const before = found(await readBranch(git, params.branch), "not found").id;
      if (body.old_commit_id) {
        const expected = (await resolveRef(git, body.old_commit_id))?.commit.id;
        if (expected !== before) {
          throw new ForgeProblem(
            422,
            `branch commit does not match [expected: ${body.old_commit_id}, given: ${before}]`
          );
        }
      }
      const { commit } = found(await resolveRef(git, body.new_commit_id), "the new commit does not exist");
      if (commit.id === before) return { result: void 0, changes: [] };
      if (!body.force && !await isAncestor(git, before, commit.id)) {
        throw new ForgeProblem(422, `Force push ${params.branch} need a confirm force parameter`);
      }
      const ref = `refs/heads/${params.branch}`;
      const mover = { db: context.db, repository, owner, user: caller, git };
      await guardMove(mover, { ref, before, after: commit.id });
      if (!await moveRefs(git, [{ name: ref, before, after: commit.id }])) {
        throw new ForgeProblem(422, "the branch was moved by somebody else meanwhile");
      }
      return { result: void 0, changes: [{ ref, before, after: commit.id }] };
    });
    return void 0;
  },
  async renameBranch(call) {
    await rename2(call, call.params.branch, call.body.name);
    return void 0;
  }
});

// src/forge/branches.ts
var branchHandlers = defineHandlers({
  listBranches: async ({ context, query, page: page2, reply, caller, ...target }) => {
    const git = context.git.open(target.repository.id);
    const all = await listBranchNames(git);
    const wanted = (query.q ?? "").toLowerCase();
    const names = all.filter((name) => name.toLowerCase().includes(wanted));
    reply.total(names.length);
    if (all.length === 0) return null;
    const shown4 = names.slice(page2.offset, page2.offset + page2.limit);
    const heads = await Promise.all(shown4.map((name) => readBranch(git, name)));
    const toBranch2 = createBranchShape(context, target, caller);
    return heads.flatMap((commit, at) => commit ? [toBranch2(shown4[at] ?? "", commit)] : []);
  },
  getBranch: async ({ context, params, caller, ...target }) => {
    const commit = await readBranch(context.git.open(target.repository.id), params.branch);
    const toBranch2 = createBranchShape(context, target, caller);
    return toBranch2(params.branch, found(commit, `branch does not exist [name: ${params.branch}]`));
  },
  createBranch: async ({ context, body, caller, ...target }) => {
    const name = body.new_branch_name;
    const git = context.git.open(target.repository.id);
    if (await isEmpty(git)) throw new ForgeProblem(404, "Git Repository is empty.");
    return await withPush(context, { ...target, pusher: caller }, async () => {
      const commit = await findOrigin2(git, target, body);
      await guardName2(git, name);
      const ref = `refs/heads/${name}`;
      const mover = { db: context.db, ...target, user: caller, git };
      await guardMove(mover, { ref, before: void 0, after: commit.id });
      if (!await moveRefs(git, [{ name: ref, before: void 0, after: commit.id }])) {
        throw new ForgeProblem(409, "The branch already exists.");
      }
      const result = createBranchShape(context, target, caller)(name, commit);
      return { result, changes: [{ ref, before: void 0, after: commit.id }] };
    });
  },
  deleteBranch: async ({ context, params, caller, ...target }) => {
    const name = params.branch;
    const git = context.git.open(target.repository.id);
    await withPush(context, { ...target, pusher: caller }, async () => {
      const before = found(await readBranch(git, name), `branch does not exist [name: ${name}]`).id;
      if (name === target.repository.default_branch) {
        throw new ForgeProblem(403, `can not delete default or pull request target branch: ${name}`);
      }
      guardRemoval(context.db, target.repository.id, name);
      const ref = `refs/heads/${name}`;
      if (!await moveRefs(git, [{ name: ref, before, after: void 0 }])) {
        throw new ForgeProblem(404, `branch does not exist [name: ${name}]`);
      }
      return { result: void 0, changes: [{ ref, before, after: void 0 }] };
    });
    return void 0;
  }
});
async function findOrigin2(git, { repository }, body) {
  if (body.old_ref_name) {
    return found(await resolveRef(git, body.old_ref_name), "The given ref does not exist").commit;
  }
  const name = body.old_branch_name || repository.default_branch;
  return found(await readBranch(git, name), "The old branch does not exist");
}
async function guardName2(git, name) {
  if (!isRefName(name)) throw new ForgeProblem(422, `"${name}" is no name of a branch`);
  if (await readRef(git, `refs/heads/${name}`)) throw new ForgeProblem(409, "The branch already exists.");
  if (await readTag(git, name)) throw new ForgeProblem(409, "The branch with the same tag already exists.");
  const others = (await listRefs(git, ["refs/heads"])).map((ref) => ref.name.slice("refs/heads/".length));
  if (others.some((other) => other.startsWith(`${name}/`) || name.startsWith(`${other}/`))) {
    throw new ForgeProblem(409, `branch name conflicts with an existing one [name: ${name}]`);
  }
}
function createBranchShape(context, { repository, owner, permission }, caller) {
  const { db } = context;
  const place = { db, repository, owner };
  const rules = loadBranchRules(db, repository.id);
  const address = addressOf(context.rootUrl(), owner.name, repository.name);
  const writes = caller !== void 0 && reaches(permission, "write");
  return (name, commit) => {
    const rule = matchingRule(rules, name);
    const isHeld = rule !== void 0 && caller !== void 0;
    return {
      name,
      commit: toPayloadCommit(db, address, commit),
      protected: rule !== void 0,
      required_approvals: rule?.required_approvals ?? 0,
      enable_status_check: rule?.enable_status_check ?? false,
      status_check_contexts: rule ? rule.status_check_contexts && [...rule.status_check_contexts] : [],
      user_can_push: isHeld ? mayPush(place, rule, caller) : writes,
      user_can_merge: isHeld ? mayMerge(place, rule, caller) : writes,
      // Only administrators of the repository hear which rule it is.
      effective_branch_protection_name: rule && reaches(permission, "admin") ? rule.rule_name : ""
    };
  };
}

// src/forge/collaborators.ts
function collaboratorNamed(db, name) {
  const user = userNamed(db, name);
  if (!user) throw new ForgeProblem(422, "user does not exist");
  return user;
}
var collaboratorHandlers = defineHandlers({
  listCollaborators({ context, repository, caller, page: page2, reply }) {
    const { db } = context;
    const count = "SELECT count(*) AS count FROM collaborators WHERE repo_id = ?";
    reply.total(db.get(count, repository.id)?.count ?? 0);
    const users = db.all(
      `SELECT u.* FROM collaborators c JOIN users u ON u.id = c.user_id WHERE c.repo_id = ?
       ORDER BY c.created_at, c.user_id LIMIT ? OFFSET ?`,
      repository.id,
      page2.limit,
      page2.offset
    );
    return users.map((user) => toUser(context, user, caller));
  },
  checkCollaborator({ context, repository, params }) {
    const user = collaboratorNamed(context.db, params.collaborator);
    const sql = "SELECT 1 AS one FROM collaborators WHERE repo_id = ? AND user_id = ?";
    found(context.db.get(sql, repository.id, user.id));
    return void 0;
  },
  deleteCollaborator({ context, repository, params }) {
    const user = collaboratorNamed(context.db, params.collaborator);
    context.db.run("DELETE FROM collaborators WHERE repo_id = ? AND user_id = ?", repository.id, user.id);
    return void 0;
  },
  putCollaborator({ context, repository, params, body }) {
    const user = collaboratorNamed(context.db, params.collaborator);
    if (user.type !== "user") throw new ForgeProblem(422, "user does not exist");
    if (user.id === repository.owner_id) return void 0;
    context.db.run(
      `INSERT INTO collaborators (repo_id, user_id, permission, created_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (repo_id, user_id) DO UPDATE SET permission = excluded.permission`,
      repository.id,
      user.id,
      body.permission ?? "write",
      secondsOf(context.clock())
    );
    return void 0;
  },
  getPermission({ context, repository, owner, permission, caller, params }) {
    if (!caller) throw new ForgeProblem(401, "token is required");
    const isOwn = params.collaborator.toLowerCase() === caller.lower_name;
    if (!isOwn && !reaches(permission, "admin")) {
      throw new ForgeProblem(
        403,
        "Only admins can query all permissions, repo admins can query all repo permissions"
      );
    }
    const user = found(userNamed(context.db, params.collaborator));
    const held = permissionOf(context.db, user, repository, owner);
    return { permission: held, role_name: held, user: toUser(context, user, caller) };
  }
});

// src/forge/issue-list.ts
function listIssueRows(context, place, filter, page2) {
  const conditions = conditionsOf(context, place, filter);
  const where = conditions.map((condition) => condition.sql).join(" AND ");
  const values = conditions.flatMap((condition) => condition.values);
  const { db } = context;
  const counted2 = db.get(
    `SELECT count(*) AS count FROM issues i WHERE ${where}`,
    ...values
  );
  const rows = db.all(
    `SELECT i.* FROM issues i WHERE ${where} ORDER BY i.created_at DESC, i.id DESC LIMIT ? OFFSET ?`,
    ...values,
    page2.limit,
    page2.offset
  );
  return { rows, total: counted2?.count ?? 0 };
}
function conditionsOf(context, place, filter) {
  const since = parseInstant(filter.since);
  const before = parseInstant(filter.before);
  const candidates = [
    { sql: "i.repo_id = ?", values: [place.repository.id] },
    filter.state === "all" ? void 0 : { sql: "i.is_closed = ?", values: [filter.state === "closed" ? 1 : 0] },
    kindOf(filter.type),
    labelsOf2(context, place, filter.labels),
    milestonesOf(context, place, filter.milestones),
    textOf(filter.q),
    since === void 0 ? void 0 : { sql: "i.updated_at >= ?", values: [since] },
    before === void 0 ? void 0 : { sql: "i.updated_at <= ?", values: [before] },
    person(context, filter.created_by, "i.poster_id = ?"),
    person(
      context,
      filter.assigned_by,
      "EXISTS (SELECT 1 FROM assignees a WHERE a.issue_id = i.id AND a.user_id = ?)"
    ),
    mentionOf(context, filter.mentioned_by)
  ];
  return candidates.filter((condition) => condition !== void 0);
}
function kindOf(type) {
  if (type !== "issues" && type !== "pulls") return void 0;
  return { sql: "i.is_pull = ?", values: [type === "pulls" ? 1 : 0] };
}
function labelsOf2(context, place, names) {
  const ids = context.db.all(
    `SELECT name, json_group_array(id) AS ids FROM labels WHERE (repo_id = ? OR org_id = ?)
       AND name IN (SELECT value FROM json_each(?)) GROUP BY name`,
    place.repository.id,
    place.owner.type === "organization" ? place.owner.id : 0,
    JSON.stringify(splitList(names))
  );
  if (ids.length === 0) return void 0;
  const held = `EXISTS (SELECT 1 FROM issue_labels l WHERE l.issue_id = i.id
    AND l.label_id IN (SELECT value FROM json_each(?)))`;
  return { sql: ids.map(() => held).join(" AND "), values: ids.map((row) => row.ids) };
}
function milestonesOf(context, place, names) {
  const wanted = splitList(names);
  if (wanted.length === 0) return void 0;
  const rows = context.db.all(
    `SELECT id FROM milestones WHERE repo_id = ?1 AND (title IN (SELECT value FROM json_each(?2))
       OR CAST(id AS TEXT) IN (SELECT value FROM json_each(?2)))`,
    place.repository.id,
    JSON.stringify(wanted)
  );
  const ids = JSON.stringify(rows.map((row) => row.id));
  return { sql: "i.milestone_id IN (SELECT value FROM json_each(?))", values: [ids] };
}
function textOf(words) {
  const text = words?.trim().toLowerCase();
  if (!text) return void 0;
  const sql = `(instr(lower(i.title), ?) > 0 OR instr(lower(i.body), ?) > 0
    OR EXISTS (SELECT 1 FROM comments c WHERE c.issue_id = i.id AND instr(lower(c.body), ?) > 0))`;
  return { sql, values: [text, text, text] };
}
function person(context, name, sql) {
  if (!name) return void 0;
  const user = userNamed(context.db, name);
  if (!user) throw new ForgeProblem(404, "user does not exist");
  return { sql, values: [user.id] };
}
function mentionOf(context, name) {
  const known2 = person(context, name, "1");
  return known2 && textOf(`@${name}`);
}
function splitList(text) {
  return (text ?? "").split(",").map((part) => part.trim()).filter((part) => part !== "");
}

// src/forge/issues.ts
function requireAuthorOrWriter(target, caller, authorId) {
  if (caller.id !== authorId && !reaches(target.permission, "write")) throw forbiddenInSilence();
}
function openIssue(place, text) {
  const { context, repository, caller } = place;
  const given = reaches(place.permission, "write") ? text : { title: text.title, body: text.body, ref: text.ref };
  const names = [...given.assignees ?? [], ...given.assignee ? [given.assignee] : []];
  const assignees = findAssignees(context, place, names);
  const milestoneId = given.milestone && hasMilestone(context, repository, given.milestone) ? given.milestone : void 0;
  const issue = insertIssue(context, {
    repository,
    poster: caller,
    title: given.title,
    body: given.body,
    ref: given.ref,
    milestoneId,
    dueAt: parseInstant(given.due_date)
  });
  const scene = { ...place, actor: caller, issueId: issue.id };
  const labels = findLabels(context, place, given.labels ?? []);
  attachLabels(context, issue.id, labels);
  attachAssignees(context, issue.id, assignees);
  announceIssue(context, scene, { action: "opened" });
  notifyOpened(context, scene);
  if (labels.length > 0) announceIssue(context, scene, { topic: "label", action: "label_updated" });
  if (milestoneId) announceIssue(context, scene, { topic: "milestone", action: "milestoned" });
  announceAssignees(context, scene, assignees);
  if (given.closed) changeState(context, scene, "closed");
  return readIssueRow(context, issue.id);
}
function editIssue(place, issue, edit2) {
  const { context } = place;
  const scene = { ...place, actor: place.caller, issueId: issue.id };
  if (edit2.title) changeTitle(context, scene, edit2.title);
  if (edit2.body !== void 0) changeBody(context, scene, edit2.body, edit2.content_version);
  if (edit2.ref !== void 0) changeRef(context, scene, edit2.ref);
  if (reaches(place.permission, "write")) editAsWriter(place, scene, edit2);
  if (edit2.state !== void 0) {
    if (isMerged(context, issue)) throw new ForgeProblem(412, "cannot change state of a merged pull request");
    changeState(context, scene, edit2.state);
  }
  return readIssueRow(context, issue.id);
}
function editAsWriter(place, scene, edit2) {
  const { context } = place;
  if (edit2.unset_due_date) changeDueDate(context, scene, 0);
  else if (edit2.due_date !== void 0) changeDueDate(context, scene, parseInstant(edit2.due_date) ?? 0);
  if (edit2.assignees !== void 0 || edit2.assignee !== void 0) {
    const names = [...edit2.assignees ?? [], ...edit2.assignee ? [edit2.assignee] : []];
    changeAssignees(context, scene, findAssignees(context, place, names));
  }
  if (edit2.milestone !== void 0) changeMilestone(context, scene, edit2.milestone);
}
function isMerged(context, issue) {
  const sql = "SELECT 1 AS one FROM pulls WHERE issue_id = ? AND is_merged = 1";
  return issue.is_pull === 1 && context.db.get(sql, issue.id) !== void 0;
}
var issueHandlers = defineHandlers({
  listIssues(call) {
    const { context, reply, page: page2, caller } = call;
    const { rows, total } = listIssueRows(context, call, call.query, page2);
    reply.total(total);
    return toIssues(context, rows, { ...call, viewer: caller });
  },
  getIssue: (call) => toIssue(call.context, findIssue(call), { ...call, viewer: call.caller }),
  createIssue(call) {
    const issue = call.context.db.transaction(() => openIssue(call, call.body));
    return toIssue(call.context, issue, { ...call, viewer: call.caller });
  },
  editIssue(call) {
    const issue = call.context.db.transaction(() => {
      const found3 = findIssue(call);
      requireAuthorOrWriter(call, call.caller, found3.poster_id);
      return editIssue(call, found3, call.body);
    });
    return toIssue(call.context, issue, { ...call, viewer: call.caller });
  }
});

// src/forge/comments.ts
function findComment({ context, repository, params }) {
  const sql = "SELECT * FROM comments WHERE id = ? AND repo_id = ?";
  const comment = found(context.db.get(sql, params.id, repository.id));
  return { comment, issue: readIssueRow(context, comment.issue_id) };
}
function sceneOf(place, issueId) {
  return { repository: place.repository, owner: place.owner, actor: place.caller, issueId };
}
function withoutAssets(comment) {
  return { ...comment, assets: [] };
}
var commentHandlers = defineHandlers({
  listComments(call) {
    const { context, query, reply } = call;
    const issue = findIssue(call);
    const rows = context.db.all(
      `SELECT * FROM comments WHERE issue_id = ? AND updated_at >= ? AND updated_at <= ? ORDER BY created_at, id`,
      issue.id,
      parseInstant(query.since) ?? 0,
      parseInstant(query.before) ?? Number.MAX_SAFE_INTEGER
    );
    reply.total(rows.length);
    return toComments(context, rows, issue, { ...call, viewer: call.caller });
  },
  createComment(call) {
    const { context, caller, body } = call;
    const { db, clock } = context;
    return db.transaction(() => {
      const issue = findIssue(call);
      if (issue.is_locked && !reaches(call.permission, "write"))
        throw new ForgeProblem(403, "the issue is locked");
      const now = secondsOf(clock());
      const { lastId } = db.run(
        `INSERT INTO comments (repo_id, issue_id, poster_id, body, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)`,
        issue.repo_id,
        issue.id,
        caller.id,
        body.body,
        now,
        now
      );
      db.run("UPDATE issues SET updated_at = ? WHERE id = ?", now, issue.id);
      const comment = found(db.get("SELECT * FROM comments WHERE id = ?", lastId));
      announceComment(context, sceneOf(call, issue.id), { comment, action: "created" });
      notifyActivity(context, { ...sceneOf(call, issue.id), text: comment.body });
      return toComment(context, comment, readIssueRow(context, issue.id), { ...call, viewer: caller });
    });
  },
  getComment(call) {
    const { comment, issue } = findComment(call);
    return withoutAssets(toComment(call.context, comment, issue, { ...call, viewer: call.caller }));
  },
  editComment(call) {
    const { context, caller, body } = call;
    return context.db.transaction(() => {
      const { comment, issue } = findComment(call);
      requireAuthorOrWriter(call, caller, comment.poster_id);
      const edited = { ...comment, body: body.body, updated_at: secondsOf(context.clock()) };
      if (body.body !== comment.body) {
        context.db.run(
          "UPDATE comments SET body = ?, content_version = content_version + 1, updated_at = ? WHERE id = ?",
          edited.body,
          edited.updated_at,
          comment.id
        );
        const changes = { body: comment.body };
        announceComment(context, sceneOf(call, issue.id), { comment: edited, action: "edited", changes });
      }
      return withoutAssets(toComment(context, edited, issue, { ...call, viewer: caller }));
    });
  },
  deleteComment(call) {
    const { context, caller } = call;
    context.db.transaction(() => {
      const { comment, issue } = findComment(call);
      requireAuthorOrWriter(call, caller, comment.poster_id);
      context.db.run("DELETE FROM comments WHERE id = ?", comment.id);
      announceComment(context, sceneOf(call, issue.id), { comment, action: "deleted" });
    });
    return void 0;
  }
});

// src/forge/head-repository.ts
function findHead(context, base, word, caller) {
  const colon = word.indexOf(":");
  if (colon < 0) return { ...base, name: word };
  const [place, name] = [word.slice(0, colon), word.slice(colon + 1)];
  const [ownerName = "", repositoryName] = place.split("/");
  if (repositoryName !== void 0) {
    return { ...findRepository(context.db, ownerName, repositoryName, caller), name };
  }
  const owner = found(userNamed(context.db, ownerName), `user does not exist [name: ${ownerName}]`);
  if (owner.id === base.owner.id) return { ...base, name };
  const repository = findFork(context, base.repository, owner);
  if (!repository) throw new ForgeProblem(400, `${ownerName} has no fork of ${base.repository.name}`);
  const permission = permissionOf(context.db, caller, repository, owner);
  if (permission === "none") throw new ForgeProblem(404, "not found");
  return { repository, owner, permission, name };
}
function findFork(context, base, owner) {
  return context.db.get(
    `WITH RECURSIVE
       up (id, fork_id) AS (SELECT id, fork_id FROM repositories WHERE id = ?1
         UNION SELECT r.id, r.fork_id FROM repositories r JOIN up ON r.id = up.fork_id),
       network (id) AS (SELECT id FROM up UNION SELECT r.id FROM repositories r JOIN network n ON r.fork_id = n.id)
     SELECT r.* FROM repositories r JOIN network n ON n.id = r.id WHERE r.owner_id = ?2 ORDER BY r.id LIMIT 1`,
    base.id,
    owner.id
  );
}

// src/forge/compare.ts
var compareHandlers = defineHandlers({
  compare: async ({ context, params, caller, ...target }) => {
    const { base, head, isDirect } = await openComparison(context, target, params.basehead, caller);
    const git = context.git.open(target.repository.id);
    const from = isDirect ? base : await findMergeBase(git, base, head);
    const commits = await listCommits(git, { from: from ?? base, to: head }, { limit: maxCommits2 });
    const address = addressOf(context.rootUrl(), target.owner.name, target.repository.name);
    return {
      total_commits: commits.length,
      commits: await toEntries(git, commits, (commit) => toEntry(context, address, commit, caller))
    };
  }
});
var maxCommits2 = 1e4;
async function openComparison(context, target, words, caller) {
  const git = context.git.open(target.repository.id);
  const separator = words.includes("...") ? "..." : words.includes("..") ? ".." : void 0;
  const [left = "", right = ""] = separator === void 0 ? [target.repository.default_branch, words] : splitOnce(words, separator);
  const base = await resolveRef(git, left || target.repository.default_branch);
  const head = await openHead(context, target, right || target.repository.default_branch, caller);
  if (!base || !head) throw new ForgeProblem(404, "The target could not be found.");
  return { base: base.commit.id, head, isDirect: separator === ".." };
}
function splitOnce(text, separator) {
  const at = text.indexOf(separator);
  return [text.slice(0, at), text.slice(at + separator.length)];
}
async function openHead(context, target, word, caller) {
  const git = context.git.open(target.repository.id);
  const { repository, name } = findHead(context, target, word, caller);
  const from = context.git.open(repository.id);
  const resolved = await resolveRef(from, name);
  if (resolved === void 0 || from.id === git.id) return resolved?.commit.id;
  if (resolved.kind === "branch") await borrow(git, from, name, resolved.commit.id);
  return (await readCommit(git, resolved.commit.id))?.id;
}
async function borrow(git, from, branch, id) {
  if (await readRef(git, id)) return;
  const target = `refs/reeve/compare-${id}`;
  await takeRef(git, from, { source: `refs/heads/${branch}`, target });
  await moveRefs(git, [{ name: target, before: id, after: void 0 }]);
}
function toEntry(context, address, commit, viewer) {
  return toCommitEntry(address, commit, (email) => {
    const account = accountByEmail(context.db, email);
    return account ? toUser(context, account, viewer) : null;
  });
}
async function toEntries(git, commits, toOne) {
  const ids = commits.map(({ id }) => id);
  const changes = await listChangesOf(git, ids);
  return commits.map((commit) => ({ ...toOne(commit), ...tellChanges(changes.get(commit.id) ?? []) }));
}
function toChangedFile(address, change, { base, head }) {
  const commit = change.status === "deleted" ? base : head;
  const path = escapePath(change.path);
  return {
    filename: change.path,
    ...change.status === "renamed" ? { previous_filename: change.from } : {},
    status: change.status,
    additions: change.additions,
    deletions: change.deletions,
    changes: change.additions + change.deletions,
    html_url: `${address.html}/src/commit/${commit}/${path}`,
    contents_url: `${address.api}/contents/${path}?ref=${commit}`,
    raw_url: `${address.html}/raw/commit/${commit}/${path}`
  };
}

// src/forge/contents.ts
import { posix as posix2 } from "node:path";

// src/forge/git/tree.ts
var maxBlobBytes = 10 * 1024 * 1024;
var kinds = {
  "40000": "dir",
  "120000": "symlink",
  "160000": "submodule"
};
async function readTree(repository, id) {
  const object = await repository.objects.read(`${id}^{tree}`);
  if (object?.type !== "tree") return void 0;
  return parseTree(object.content, object.id.length / 2);
}
function parseTree(content, idBytes) {
  const entries = [];
  let at = 0;
  while (at < content.length) {
    const space = content.indexOf(32, at);
    const nul = content.indexOf(0, space);
    const mode = content.toString("latin1", at, space);
    const name = content.toString("utf8", space + 1, nul);
    at = nul + 1 + idBytes;
    entries.push({ name, id: content.toString("hex", nul + 1, at), kind: kinds[mode] ?? "file", mode });
  }
  return entries;
}
async function findEntry(repository, commitId, path) {
  let entries = await readTree(repository, commitId);
  let found3;
  for (const segment of path.split("/")) {
    if (found3) entries = found3.kind === "dir" ? await readTree(repository, found3.id) : void 0;
    found3 = entries?.find((entry) => entry.name === segment);
    if (found3 === void 0) return void 0;
  }
  return found3;
}
async function readBlob(repository, id, maxBytes = maxBlobBytes) {
  const info = await repository.objects.info(id);
  if (info?.type !== "blob") return void 0;
  if (info.size > maxBytes) return { size: info.size, content: void 0 };
  return { size: info.size, content: (await repository.objects.read(id))?.content };
}

// src/forge/contents-entry.ts
var maxPointerBytes = 1024;
async function toContentsEntry(place, entry, includes, last) {
  const { repository, address, path } = place;
  const self = `${address.api}/contents/${escapePath(path)}?ref=${encodeURIComponent(place.view.word)}`;
  const isBlob = entry.kind === "file" || entry.kind === "symlink";
  const size = isBlob ? (await repository.objects.info(entry.id))?.size ?? 0 : 0;
  const isLocal = entry.kind !== "submodule";
  const html2 = isLocal ? `${address.html}/src/${linkOf(place.view)}/${escapePath(path)}` : null;
  const git = isLocal ? `${address.api}/git/blobs/${entry.id}` : null;
  return {
    name: entry.name,
    path,
    sha: entry.id,
    ...tellCommit2(includes, last),
    type: entry.kind,
    size,
    encoding: null,
    content: null,
    target: entry.kind === "symlink" ? await readTarget(repository, entry) : null,
    url: self,
    html_url: html2,
    git_url: git,
    download_url: isBlob ? `${address.html}/raw/${linkOf(place.view)}/${escapePath(path)}` : null,
    submodule_git_url: entry.kind === "submodule" ? await readSubmoduleUrl(place) : null,
    _links: { self, git, html: html2 },
    ...entry.kind === "file" ? await readFile(repository, entry, size, includes) : {}
  };
}
function tellCommit2(includes, last) {
  if (last === void 0) return {};
  const dates = {
    last_commit_sha: last.id,
    last_committer_date: instantOf(last.committer),
    last_author_date: instantOf(last.author)
  };
  return {
    ...includes.commit ? dates : {},
    ...includes.message ? { last_commit_message: last.message } : {}
  };
}
function linkOf({ ref, word }) {
  if (ref.kind === "commit") return `commit/${ref.commit.id}`;
  return `${ref.kind}/${escapePath(word.replace(/^refs\/(heads|tags)\//, ""))}`;
}
async function readTarget(repository, entry) {
  const blob = await readBlob(repository, entry.id);
  return blob?.content?.subarray(0, 1024).toString("utf8") ?? "";
}
async function readFile(repository, entry, size, includes) {
  const mayBePointer = size > 0 && size < maxPointerBytes && (includes.lfs || includes.fileContent);
  if (!includes.fileContent && !mayBePointer) return {};
  const content = (await readBlob(repository, entry.id))?.content;
  if (content === void 0) return {};
  return {
    ...mayBePointer ? parsePointer(content.toString("utf8")) : {},
    ...includes.fileContent ? { encoding: "base64", content: content.toString("base64") } : {}
  };
}
function parsePointer(text) {
  if (!text.startsWith("version https://git-lfs.github.com/spec/v1\n")) return {};
  const oid = /^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1];
  const size = /^size (\d+)$/m.exec(text)?.[1];
  return oid === void 0 || size === void 0 ? {} : { lfs_oid: oid, lfs_size: Number(size) };
}
async function readSubmoduleUrl({ repository, view, path }) {
  const file = await findEntry(repository, view.ref.commit.id, ".gitmodules");
  const blob = file?.kind === "file" ? await readBlob(repository, file.id, 64 * 1024) : void 0;
  for (const section of (blob?.content?.toString("utf8") ?? "").split(/^\s*\[/m)) {
    const value = (name) => new RegExp(`^\\s*${name}\\s*=\\s*(.*?)\\s*$`, "m").exec(section)?.[1];
    if (value("path") === path) return value("url") ?? null;
  }
  return null;
}

// src/forge/contents.ts
var contentsHandlers = defineHandlers({
  getContents: async ({ params, query, ...call }) => {
    const includes = { fileContent: true, lfs: false, commit: true, message: false };
    return await readContents({ ...call, filepath: params.filepath, ref: query.ref || void 0 }, includes);
  },
  getContentsExt: async ({ params, query, ...call }) => {
    const filepath = /^[./]$/.test(params.filepath) ? "" : params.filepath;
    const includes = parseIncludes(query.includes ?? "");
    try {
      const found3 = await readContents({ ...call, filepath, ref: query.ref || void 0 }, includes);
      if (!Array.isArray(found3)) return { file_contents: found3 };
      return found3.length === 0 ? {} : { dir_contents: found3 };
    } catch (error) {
      if (error instanceof ForgeProblem)
        throw new ForgeProblem(error.status, error.message, "followed-by-null");
      throw error;
    }
  }
});
var options = {
  file_content: "fileContent",
  lfs_metadata: "lfs",
  commit_metadata: "commit",
  commit_message: "message"
};
function parseIncludes(text) {
  const includes = { fileContent: false, lfs: false, commit: false, message: false };
  for (const word of text.split(",")) {
    if (word === "") continue;
    const option = Object.hasOwn(options, word) ? options[word] : void 0;
    if (option === void 0) throw new ForgeProblem(400, `unknown include option "${word}"`);
    includes[option] = true;
  }
  return includes;
}
async function readContents(asked, includes) {
  const { context, repository, ref, filepath } = asked;
  const git = context.git.open(repository.id);
  const path = cleanTreePath(withoutClimbing(filepath));
  const word = ref ?? repository.default_branch;
  const resolved = word.startsWith("refs/") ? void 0 : await resolveRef(git, word);
  if (resolved === void 0) throw new ForgeProblem(404, `object does not exist [id: ${word}, rel_path: ]`);
  if (filepath.includes("\0")) throw new ForgeProblem(404, "object does not exist");
  if (path === void 0 || path === "" && filepath !== "") {
    throw new ForgeProblem(400, `path contains a malformed path component [path: ${filepath}]`);
  }
  const view = { ref: resolved, word };
  if (path === "")
    return await listDirectory(asked, git, view, { path, treeId: resolved.commit.id }, includes);
  const entry = await findEntry(git, resolved.commit.id, path);
  if (entry === void 0) throw new ForgeProblem(404, `object does not exist [id: , rel_path: ${path}]`);
  if (entry.kind === "dir") {
    return await listDirectory(asked, git, view, { path, treeId: entry.id }, includes);
  }
  return await describeEntry(asked, git, view, { path, entry }, includes);
}
function withoutClimbing(filepath) {
  return filepath.split("/").includes("..") ? posix2.join("/", filepath).slice(1) : filepath;
}
async function describeEntry({ context, owner, repository }, git, view, { path, entry }, includes) {
  const directory = path.split("/").slice(0, -1).join("/");
  const wantsCommit = includes.commit || includes.message;
  const last = wantsCommit ? await lastCommits(git, view.ref.commit.id, directory, [entry.name]) : void 0;
  const address = addressOf(context.rootUrl(), owner.name, repository.name);
  return await toContentsEntry(
    { repository: git, address, view, path },
    entry,
    includes,
    last?.get(entry.name)
  );
}
async function listDirectory({ context, owner, repository }, git, view, { path, treeId }, includes) {
  const entries = await readTree(git, treeId) ?? [];
  const names = entries.map((entry) => entry.name);
  const wantsCommit = (includes.commit || includes.message) && names.length > 0;
  const last = wantsCommit ? await lastCommits(git, view.ref.commit.id, path, names) : void 0;
  const address = addressOf(context.rootUrl(), owner.name, repository.name);
  const inList = { ...includes, fileContent: false };
  return await Promise.all(
    entries.map((entry) => {
      const place = {
        repository: git,
        address,
        view,
        path: path === "" ? entry.name : `${path}/${entry.name}`
      };
      return toContentsEntry(place, entry, inList, last?.get(entry.name));
    })
  );
}

// src/forge/dependencies.ts
var sameRepositoryFirst = "CASE WHEN i.repo_id = ? THEN 0 ELSE i.repo_id END, i.created_at DESC, i.id";
function findEnds(call) {
  const { context, body, repository, owner, permission, caller } = call;
  const here = { issue: findIssue(call), repository, owner, permission };
  const isHere = body.owner === owner.name && body.repo === repository.name;
  if (!isHere && !context.features.crossRepositoryDependencies) {
    throw new ForgeProblem(400, "CrossRepositoryDependencies not enabled", "text");
  }
  const home = isHere ? { repository, owner } : findHome(context, body.owner, body.repo);
  const sql = "SELECT * FROM issues WHERE repo_id = ? AND number = ?";
  const issue = found(context.db.get(sql, home.repository.id, body.index));
  const theirs = permissionOf(context.db, caller, home.repository, home.owner, unitOf2(issue));
  return { here, named: { ...home, issue, permission: theirs } };
}
function findHome({ db }, ownerName, name) {
  const owner = found(userNamed(db, ownerName));
  const sql = "SELECT * FROM repositories WHERE owner_id = ? AND lower_name = ?";
  return { owner, repository: found(db.get(sql, owner.id, name.toLowerCase())) };
}
function guard2(waiting, blocker) {
  const isOpen2 = waiting.repository.archived_at === 0 && hasDependencies(waiting.repository);
  const isAllowed = reaches(waiting.permission, "write") && reaches(blocker.permission, "read");
  if (!isOpen2 || !isAllowed) throw new ForgeProblem(404, "not found");
}
function add(call, waiting, blocker) {
  guard2(waiting, blocker);
  const { context, caller } = call;
  const has = (issue, by) => context.db.get("SELECT 1 AS one FROM dependencies WHERE issue_id = ? AND blocker_id = ?", issue, by);
  if (has(waiting.issue.id, blocker.issue.id)) throw new ForgeProblem(409, "dependency exists already");
  if (has(blocker.issue.id, waiting.issue.id)) {
    throw new ForgeProblem(409, "circular dependency: the two would wait for each other");
  }
  context.db.run(
    "INSERT INTO dependencies (issue_id, blocker_id, user_id, created_at) VALUES (?, ?, ?, ?)",
    waiting.issue.id,
    blocker.issue.id,
    caller.id,
    secondsOf(context.clock())
  );
  touchIssue(context, waiting.issue.id);
  touchIssue(context, blocker.issue.id);
}
function remove2({ context }, waiting, blocker) {
  guard2(waiting, blocker);
  const { changes } = context.db.run(
    "DELETE FROM dependencies WHERE issue_id = ? AND blocker_id = ?",
    waiting.issue.id,
    blocker.issue.id
  );
  if (changes === 0) throw new ForgeProblem(404, "dependency does not exist");
  touchIssue(context, waiting.issue.id);
  touchIssue(context, blocker.issue.id);
}
function between(call, change) {
  const issue = call.context.db.transaction(() => {
    const { here, named } = findEnds(call);
    change(here, named);
    return readIssueRow(call.context, here.issue.id);
  });
  return toIssue(call.context, issue, { ...call, viewer: call.caller });
}
var dependencyHandlers = defineHandlers({
  listDependencies(call) {
    const { context, page: page2, reply, repository, caller } = call;
    found(hasDependencies(repository) ? repository : void 0);
    const issue = findIssue(call);
    const from = "FROM dependencies d JOIN issues i ON i.id = d.blocker_id WHERE d.issue_id = ?";
    reply.total(context.db.get(`SELECT count(*) AS count ${from}`, issue.id)?.count ?? 0);
    const rows = context.db.all(
      `SELECT i.* ${from} ORDER BY ${sameRepositoryFirst} LIMIT ? OFFSET ?`,
      issue.id,
      repository.id,
      page2.limit,
      page2.offset
    );
    const homes = loadHomes(
      context,
      rows.map(({ repo_id }) => repo_id)
    );
    const isReadable2 = createReadable(context, homes, caller);
    const shapes = toIssuesById(context, rows.filter(isReadable2), { homes, viewer: caller });
    const isWriter = reaches(call.permission, "write");
    return rows.map((row) => shapes.get(row.id) ?? toStub(isWriter));
  },
  addDependency: (call) => between(call, (here, named) => add(call, here, named)),
  removeDependency: (call) => between(call, (here, named) => remove2(call, here, named)),
  listBlocks(call) {
    const { context, query, repository, caller } = call;
    const issue = findIssue(call);
    const limit = (query.limit ?? 0) <= 1 ? defaultLimit : query.limit ?? defaultLimit;
    const rows = context.db.all(
      `SELECT i.* FROM dependencies d JOIN issues i ON i.id = d.issue_id WHERE d.blocker_id = ?
       ORDER BY ${sameRepositoryFirst} LIMIT ? OFFSET ?`,
      issue.id,
      repository.id,
      Math.min(limit, maxBlocks),
      Math.min((Math.max(query.page ?? 1, 1) - 1) * limit, Number.MAX_SAFE_INTEGER)
    );
    const homes = loadHomes(
      context,
      rows.map(({ repo_id }) => repo_id)
    );
    const isReadable2 = createReadable(context, homes, caller);
    const shapes = toIssuesById(context, rows.filter(isReadable2), { homes, viewer: caller });
    return rows.flatMap((row) => shapes.get(row.id) ?? []);
  },
  addBlock: (call) => between(call, (here, named) => add(call, named, here)),
  removeBlock: (call) => between(call, (here, named) => remove2(call, named, here))
});
var maxBlocks = 1e6;
function createReadable({ db }, homes, caller) {
  const known2 = /* @__PURE__ */ new Map();
  return (issue) => {
    const home = homes.get(issue.repo_id);
    if (!home) return false;
    const unit = unitOf2(issue);
    const key = `${issue.repo_id} ${unit}`;
    const isReadable2 = known2.get(key) ?? reaches(permissionOf(db, caller, home.repository, home.owner, unit), "read");
    known2.set(key, isReadable2);
    return isReadable2;
  };
}
function unitOf2(issue) {
  return issue.is_pull ? "pulls" : "issues";
}
function toStub(isWriter) {
  return {
    id: 0,
    url: "",
    html_url: "",
    number: 0,
    user: null,
    original_author: "",
    original_author_id: 0,
    title: isWriter ? "" : "HIDDEN",
    body: "",
    ref: "",
    assets: [],
    labels: [],
    milestone: null,
    assignee: null,
    assignees: null,
    projects: null,
    state: isWriter ? "" : "open",
    is_locked: false,
    comments: 0,
    created_at: toInstant(0),
    updated_at: toInstant(0),
    closed_at: null,
    due_date: null,
    time_estimate: 0,
    pull_request: null,
    repository: null,
    pin_order: 0,
    content_version: 0
  };
}

// src/forge/file-edit.ts
async function planEdit(git, commitId, request2) {
  const { kind, path, content } = request2;
  const from = request2.from === void 0 ? path : cleanTreePath(request2.from);
  if (!from) throw new ForgeProblem(422, `path contains a malformed path component [path: ${request2.from}]`);
  const old = await findBefore(git, commitId, { ...request2, from });
  if (kind === "delete") return [{ path, content: void 0 }];
  const isNew = kind === "create" || from !== path;
  if (commitId !== void 0) await guardTarget(git, commitId, path, isNew);
  const mode = old?.mode === "100755" ? "100755" : "100644";
  const kept = kind === "rename" && old ? (await git.objects.read(old.id))?.content : content;
  const write3 = { path, content: kept ?? Buffer.alloc(0), mode };
  return from === path ? [write3] : [{ path: from, content: void 0 }, write3];
}
async function findBefore(git, commitId, { kind, from, sha }) {
  if (kind === "create" || commitId === void 0) {
    return kind === "create" || kind === "upload" ? void 0 : await findOld(git, commitId, from, sha);
  }
  if (kind === "upload" && !sha) return await findEntry(git, commitId, from);
  return await findOld(git, commitId, from, sha);
}
async function findOld(git, commitId, path, sha) {
  const entry = commitId === void 0 ? void 0 : await findEntry(git, commitId, path);
  if (entry === void 0) throw new ForgeProblem(404, `repository file does not exist [path: ${path}]`);
  if (entry.id !== sha) {
    throw new ForgeProblem(422, `sha does not match [given: ${sha}, expected: ${entry.id}]`);
  }
  return entry;
}
async function guardTarget(git, commitId, path, isNew) {
  const segments = path.split("/");
  for (let count = 1; count <= segments.length; count += 1) {
    const part = segments.slice(0, count).join("/");
    const entry = await findEntry(git, commitId, part);
    if (entry === void 0) return;
    const isEnd = count === segments.length;
    if (!isEnd && entry.kind !== "dir") {
      throw new ForgeProblem(422, `a file exists where a directory is needed [path: ${part}]`);
    }
    if (isEnd && entry.kind !== "file") {
      throw new ForgeProblem(422, `a ${entry.kind} exists where the file shall be [path: ${part}]`);
    }
    if (isEnd && isNew) throw new ForgeProblem(422, `repository file already exists [path: ${part}]`);
  }
}

// src/forge/files.ts
var fileHandlers = defineHandlers({
  createFile: ({ params, body, ...call }) => writeFile(call, body, {
    kind: "create",
    path: params.filepath,
    content: decodeContent(body.content)
  }),
  updateFile: async ({ params, body, ...call }) => {
    const kind = body.sha ? "update" : "create";
    if (kind === "create") call.reply.status(201);
    return await writeFile(call, body, {
      kind,
      path: params.filepath,
      content: decodeContent(body.content),
      from: body.from_path || void 0,
      sha: body.sha
    });
  },
  deleteFile: ({ params, body, ...call }) => writeFile(call, body, { kind: "delete", path: params.filepath, sha: body.sha }),
  changeFiles: async ({ body, ...call }) => {
    const requests = body.files.map(
      (file) => ({
        kind: readKind(file.operation),
        path: file.path,
        content: decodeContent(file.content ?? ""),
        from: file.from_path || void 0,
        sha: file.sha
      })
    );
    const { entries, ...rest } = await writeFiles(call, body, requests);
    return { files: entries.length === 0 ? null : entries, ...rest };
  }
});
var kinds2 = ["create", "update", "upload", "rename", "delete"];
function readKind(operation) {
  const kind = kinds2.find((known2) => known2 === operation);
  if (!kind) throw new ForgeProblem(422, `[Operation]: In(${kinds2.join(",")})`);
  return kind;
}
function decodeContent(text) {
  const plain = text.replace(/[\r\n]/g, "");
  const isBase64 = /^[A-Za-z0-9+/]*={0,2}$/.test(plain) && plain.length % 4 === 0;
  if (!isBase64) throw new ForgeProblem(422, "illegal base64 data");
  return Buffer.from(plain, "base64");
}
async function writeFile(writer, writing, request2) {
  const { entries, ...rest } = await writeFiles(writer, writing, [request2]);
  return { content: entries[0] ?? null, ...rest };
}
async function writeFiles(writer, writing, given) {
  const { context, repository, owner, caller } = writer;
  const branch = writing.branch || repository.default_branch;
  const target = writing.new_branch || branch;
  const requests = given.map((request2) => {
    const path = cleanTreePath(request2.path);
    if (!path)
      throw new ForgeProblem(422, `path contains a malformed path component [path: ${request2.path}]`);
    return { ...request2, path };
  });
  return await withPush(context, { repository, owner, pusher: caller }, async () => {
    const git = context.git.open(repository.id);
    const head = await readBranch(git, branch);
    if (!head && repository.is_empty === 0)
      throw new ForgeProblem(404, `branch does not exist [name: ${branch}]`);
    if (target !== branch && (!isRefName(target) || await readBranch(git, target))) {
      throw new ForgeProblem(422, `branch already exists or is no name of one [name: ${target}]`);
    }
    if (!isRefName(target)) throw new ForgeProblem(422, `"${target}" is no name of a branch`);
    const edits = [];
    for (const request2 of requests) edits.push(...await planEdit(git, head?.id, request2));
    guardFiles(
      { db: context.db, repository, owner },
      caller,
      target,
      edits.map((edit2) => edit2.path)
    );
    const before = target === branch ? head?.id : void 0;
    const people = signaturesOf(writer, writing);
    const message = messageOf2(requests, writing, people.committer);
    const commit = { branch: target, before, parent: head?.id, message, ...people, edits };
    const after = await context.git.commitFiles(repository.id, commit);
    const paths = requests.map(({ path }) => path);
    const result = await describe(writer, { target, paths, commitId: after });
    return { result, changes: [{ ref: `refs/heads/${target}`, before, after }] };
  });
}
async function describe({ context, repository, owner }, { target, paths, commitId }) {
  const git = context.git.open(repository.id);
  const commit = await readCommit(git, commitId);
  if (!commit) throw new TypeError(`commit ${commitId} is gone right after it was written`);
  const view = { ref: { kind: "branch", commit }, word: target };
  const includes = { fileContent: true, lfs: false, commit: true, message: false };
  const address = addressOf(context.rootUrl(), owner.name, repository.name);
  const entries = await Promise.all(
    paths.map(async (path) => {
      const entry = await findEntry(git, commitId, path);
      const place = { repository: git, address, view, path };
      return entry ? await toContentsEntry(place, entry, includes, commit) : null;
    })
  );
  return { entries, commit: toFileCommit(address, commit), verification: toVerification(commit) };
}
function signaturesOf({ context, caller }, { author, committer, dates }) {
  const now = secondsOf(context.clock());
  const sign2 = (person2, other, date) => {
    const named = isNamed(person2) ? person2 : isNamed(other) ? other : void 0;
    return {
      name: named?.name || caller.full_name || caller.name,
      email: named?.email || caller.email || noReplyAddress(caller),
      seconds: parseInstant(date) ?? now,
      zone: "+0000"
    };
  };
  return {
    author: sign2(author, committer, dates?.author),
    committer: sign2(committer, author, dates?.committer)
  };
}
function isNamed(person2) {
  return Boolean(person2?.name || person2?.email);
}
var verbs = [
  ["Add", ["create"]],
  ["Update", ["update", "upload", "rename"]],
  ["Delete", ["delete"]]
];
function messageOf2(requests, writing, committer) {
  const lines = verbs.flatMap(([verb, ofVerb]) => {
    const paths = requests.filter(({ kind }) => ofVerb.some((known2) => known2 === kind)).map(({ path }) => path);
    return paths.length > 0 ? [`${verb} ${paths.join(", ")}`] : [];
  });
  const text = writing.message?.trim() || lines.join("\n");
  const sign2 = writing.signoff ? `

Signed-off-by: ${committer.name} <${committer.email}>` : "";
  return `${text}${sign2}
`;
}

// src/forge/forks.ts
var forkHandlers = defineHandlers({
  async createFork({ context, body, caller, ...source }) {
    const holder = findHolder(context, caller, body.organization);
    const fork = await forkRepository(context, source, { holder, actor: caller, name: body.name });
    return toRepository(context, fork, { owner: holder, viewer: caller, permission: "owner" });
  }
});
var unitsOfFork = {
  has_issues: false,
  has_wiki: false,
  has_projects: false,
  has_releases: false,
  has_packages: false,
  has_actions: false
};
function findHolder(context, caller, name) {
  if (name === void 0) return caller;
  const organization = userNamed(context.db, name);
  if (organization?.type !== "organization") {
    throw new ForgeProblem(404, `organization does not exist [name: ${name}]`);
  }
  if (isMember(context.db, organization, caller)) return organization;
  throw new ForgeProblem(403, `User is no Member of Organisation '${organization.name}'`);
}
async function forkRepository(context, source, {
  holder,
  actor,
  name = source.repository.name
}) {
  const { db, git } = context;
  const row = db.transaction(() => insertFork(context, source, { holder, actor }, name));
  try {
    await git.copy(source.repository.id, row.id);
  } catch (error) {
    db.run("DELETE FROM repositories WHERE id = ?", row.id);
    await git.remove(row.id);
    throw error;
  }
  db.transaction(() => {
    endCreation(db, row.id);
    announceFork(context, source, { fork: row, holder, actor });
  });
  return row;
}
function insertFork(context, { repository }, { holder, actor }, name) {
  const { db, clock } = context;
  assertRepositoryName(name);
  const sql = "SELECT 1 AS one FROM repositories WHERE owner_id = ? AND (fork_id = ? OR id = ?)";
  const isForked = db.get(sql, holder.id, repository.id, repository.id) !== void 0;
  if (isForked || isTaken(context, holder, name)) {
    throw new ForgeProblem(409, "The repository is forked already, or one of the same name exists.");
  }
  const now = secondsOf(clock());
  const { lastId } = db.run(
    `INSERT INTO repositories (owner_id, name, lower_name, description, website, default_branch, object_format,
       is_private, is_empty, fork_id, size, num_branches, created_at, updated_at)
     SELECT ?, ?, ?, description, website, default_branch, object_format, is_private, is_empty, id, size, num_branches,
       ?, ? FROM repositories WHERE id = ?`,
    holder.id,
    name,
    name.toLowerCase(),
    now,
    now,
    repository.id
  );
  beginWork(db, lastId, "creating");
  watchRepository(context, actor.id, lastId);
  const read = () => found(db.get("SELECT * FROM repositories WHERE id = ?", lastId));
  db.run("UPDATE repositories SET settings = ? WHERE id = ?", mergeSettings(read(), unitsOfFork), lastId);
  return read();
}
function announceFork(context, { repository, owner }, { fork, holder, actor }) {
  context.emit({
    type: "fork",
    repository,
    owner,
    payload: () => forkPayload({
      source: toRepository(context, repository, { owner, viewer: actor }),
      fork: toRepository(context, fork, { owner: holder, viewer: void 0, permission: "owner" }),
      sender: toUser(context, actor, void 0)
    })
  });
  if (holder.type !== "organization") return;
  announceRepository(context, { repository: fork, owner: holder, actor, action: "created" });
}

// src/forge/hook-test.ts
var hookTestHandlers = defineHandlers({
  async testHook({ context, params, query, caller, ...target }) {
    const { repository, owner } = target;
    const hook = findHook({ context, repository, params });
    const git = context.git.open(repository.id);
    const given = query.ref ? await resolveRef(git, query.ref) : void 0;
    const word = given && query.ref ? query.ref : `refs/heads/${repository.default_branch}`;
    const resolved = await isEmpty(git) ? void 0 : given ?? await resolveRef(git, word);
    const { commit } = found(resolved, "repository is empty");
    if (!wants(hook, { type: "push", ref: word })) return void 0;
    const address = addressOf(context.rootUrl(), owner.name, repository.name);
    const shape = toPayloadCommit(context.db, address, commit);
    const payload = pushPayload({
      ref: word,
      before: commit.id,
      after: commit.id,
      compareUrl: `${address.html}/compare/${commit.id}...${commit.id}`,
      commits: [shape],
      totalCommits: 1,
      headCommit: shape,
      repository: toRepository(context, repository, { owner, viewer: void 0, permission: "none" }),
      sender: toUser(context, caller, void 0)
    });
    queueDelivery(context, hook.id, "push", payloadText("push", payload));
    context.deliveries.wake();
    return void 0;
  }
});

// src/forge/instance.ts
var baselineVersion = "1.27.0";
var instanceHandlers = defineHandlers({
  getVersion: () => ({ version: baselineVersion }),
  getApiSettings: () => ({
    max_response_items: maxLimit,
    default_paging_num: defaultLimit,
    default_git_trees_per_page: 1e3,
    default_max_blob_size: 10485760,
    default_max_response_size: 104857600
  })
});

// src/forge/issue-moderation.ts
var maxPinned = 3;
function setLock(call, isLocked) {
  const { context } = call;
  context.db.transaction(() => {
    const issue = findIssue(call);
    if (issue.is_locked === isLocked) return;
    context.db.run("UPDATE issues SET is_locked = ? WHERE id = ?", isLocked, issue.id);
    touchIssue(context, issue.id);
  });
  return void 0;
}
function pin({ db }, issue) {
  if (issue.pin_order > 0) throw new ForgeProblem(409, "the issue is pinned already");
  const held = db.get(
    `SELECT count(*) AS count, coalesce(max(pin_order), 0) AS last FROM issues
     WHERE repo_id = ? AND is_pull = ? AND pin_order > 0`,
    issue.repo_id,
    issue.is_pull
  );
  if ((held?.count ?? 0) >= maxPinned)
    throw new ForgeProblem(400, "You have reached the max number of pinned Issues");
  db.run("UPDATE issues SET pin_order = ? WHERE id = ?", (held?.last ?? 0) + 1, issue.id);
}
var issueModerationHandlers = defineHandlers({
  deleteIssue(call) {
    const { context } = call;
    context.db.transaction(() => {
      const issue = findIssue(call);
      announceIssue(context, { ...call, actor: call.caller, issueId: issue.id }, { action: "deleted" });
      context.db.run("UPDATE issues SET is_closed = 1 WHERE id = ?", issue.id);
      context.db.run("UPDATE issues SET milestone_id = NULL WHERE id = ?", issue.id);
      context.db.run("DELETE FROM issues WHERE id = ?", issue.id);
    });
    context.attachments.sweep();
    return void 0;
  },
  setIssueDeadline(call) {
    const { context, body, permission } = call;
    const issue = findIssue(call);
    if (!reaches(permission, "write")) throw new ForgeProblem(403, "Not repo writer");
    const dueAt = toEndOfDay(parseInstant(body.due_date ?? void 0) ?? 0);
    context.db.transaction(() => {
      context.db.run("UPDATE issues SET due_at = ? WHERE id = ?", dueAt, issue.id);
      touchIssue(context, issue.id);
    });
    return { due_date: toInstant(dueAt) };
  },
  lockIssue: (call) => setLock(call, 1),
  unlockIssue: (call) => setLock(call, 0),
  pinIssue(call) {
    const { context } = call;
    context.db.transaction(() => {
      const issue = findIssue(call);
      pin(context, issue);
      touchIssue(context, issue.id);
    });
    return void 0;
  },
  unpinIssue(call) {
    const { context } = call;
    context.db.transaction(() => {
      const issue = findIssue(call);
      if (issue.pin_order === 0) return;
      context.db.run("UPDATE issues SET pin_order = 0 WHERE id = ?", issue.id);
      touchIssue(context, issue.id);
    });
    return void 0;
  },
  listPinnedIssues(call) {
    const { context, repository, caller } = call;
    const rows = context.db.all(
      "SELECT * FROM issues WHERE repo_id = ? AND is_pull = 0 AND pin_order > 0 ORDER BY pin_order",
      repository.id
    );
    return toIssues(context, rows, { ...call, viewer: caller });
  }
});

// src/forge/milestones.ts
function findMilestone({ context, repository, params }) {
  const { db } = context;
  const byId = "SELECT * FROM milestones WHERE repo_id = ? AND id = ?";
  const byTitle = "SELECT * FROM milestones WHERE repo_id = ? AND title = ? ORDER BY id LIMIT 1";
  const row = typeof params.id === "number" ? db.get(byId, repository.id, params.id) : void 0;
  return found(row ?? db.get(byTitle, repository.id, String(params.id)));
}
var milestoneHandlers = defineHandlers({
  listMilestones({ context, query, repository, page: page2, reply }) {
    const { db } = context;
    const conditions = ["repo_id = ?"];
    const values = [repository.id];
    if (query.state !== "all") {
      conditions.push("is_closed = ?");
      values.push(query.state === "closed" ? 1 : 0);
    }
    if (query.name) {
      conditions.push("instr(lower(title), lower(?)) > 0");
      values.push(query.name);
    }
    const where = conditions.join(" AND ");
    const sql = `SELECT count(*) AS count FROM milestones WHERE ${where}`;
    reply.total(db.get(sql, ...values)?.count ?? 0);
    const rows = db.all(
      `SELECT * FROM milestones WHERE ${where} ORDER BY due_at, title, id LIMIT ? OFFSET ?`,
      ...values,
      page2.limit,
      page2.offset
    );
    return rows.map(toMilestone);
  },
  createMilestone({ body, context, repository }) {
    const { db, clock } = context;
    const now = secondsOf(clock());
    const isClosed = body.state === "closed";
    const { lastId } = db.run(
      `INSERT INTO milestones (repo_id, title, description, is_closed, due_at, closed_at, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      repository.id,
      body.title,
      body.description ?? "",
      isClosed,
      parseInstant(body.due_on) ?? 0,
      isClosed ? now : 0,
      now,
      now
    );
    return toMilestone(found(db.get("SELECT * FROM milestones WHERE id = ?", lastId)));
  },
  getMilestone: (call) => toMilestone(findMilestone(call)),
  editMilestone(call) {
    const { body, context } = call;
    const { db, clock } = context;
    const dueAt = toEndOfDay(parseInstant(body.due_on) ?? 0);
    return db.transaction(() => {
      const milestone = findMilestone(call);
      const isClosed = body.state === void 0 ? milestone.is_closed === 1 : body.state === "closed";
      const now = secondsOf(clock());
      const closedAt = milestone.is_closed === 1 ? milestone.closed_at : now;
      db.run(
        `UPDATE milestones SET title = ?, description = ?, is_closed = ?, due_at = ?, closed_at = ?, updated_at = ?
         WHERE id = ?`,
        body.title || milestone.title,
        body.description ?? milestone.description,
        isClosed,
        dueAt,
        isClosed ? closedAt : 0,
        now,
        milestone.id
      );
      return toMilestone(found(db.get("SELECT * FROM milestones WHERE id = ?", milestone.id)));
    });
  },
  deleteMilestone(call) {
    const { context } = call;
    context.db.run("DELETE FROM milestones WHERE id = ?", findMilestone(call).id);
    return void 0;
  }
});

// src/forge/resources/notification.ts
function toThreads(context, rows) {
  const loaded = load(context, rows);
  const repositoryOf = createRepositoryShapes2(context, loaded);
  return rows.map((row) => {
    const home = loaded.homes.get(row.repo_id);
    const repository = repositoryOf(row);
    return {
      id: row.id,
      // Who lost access keeps the thread and learns nothing from it.
      repository,
      subject: home && repository ? toSubject(context, row, { home, loaded }) : null,
      unread: row.status === "unread",
      pinned: row.status === "pinned",
      updated_at: toInstant(row.updated_at),
      url: `${context.rootUrl()}/api/v1/notifications/threads/${row.id}`
    };
  });
}
function load(context, rows) {
  const { db } = context;
  const ids = JSON.stringify(rows.flatMap(({ issue_id }) => issue_id ?? []));
  const among = "IN (SELECT value FROM json_each(?))";
  const issues2 = db.all(`SELECT * FROM issues WHERE id ${among}`, ids);
  const merged = db.all(`SELECT * FROM pulls WHERE is_merged = 1 AND issue_id ${among}`, ids);
  const comments = db.all(
    `SELECT max(id) AS id, issue_id FROM comments WHERE issue_id ${among} GROUP BY issue_id`,
    ids
  );
  return {
    homes: loadHomes(
      context,
      rows.map(({ repo_id }) => repo_id)
    ),
    users: loadUsers(
      context,
      rows.map(({ user_id }) => user_id)
    ),
    issues: new Map(issues2.map((issue) => [issue.id, issue])),
    merged: new Set(merged.map(({ issue_id }) => issue_id)),
    comments: new Map(comments.map(({ id, issue_id }) => [issue_id, id]))
  };
}
function createRepositoryShapes2(context, { homes, users }) {
  const make = (home, user) => {
    if (!home || !user) return null;
    if (!canSee(context.db, user, home.repository, home.owner)) return null;
    const { permissions: _, ...shape } = toRepository(context, home.repository, {
      owner: home.owner,
      viewer: user
    });
    return shape;
  };
  const known2 = /* @__PURE__ */ new Map();
  return ({ repo_id, user_id }) => {
    const key = `${repo_id} ${user_id}`;
    const shape = known2.has(key) ? known2.get(key) ?? null : make(homes.get(repo_id), users.get(user_id));
    known2.set(key, shape);
    return shape;
  };
}
function toSubject(context, row, { home, loaded }) {
  const name = `${home.owner.name}/${home.repository.name}`;
  const web = `${context.rootUrl()}/${name}`;
  const quiet = { latest_comment_url: "", latest_comment_html_url: "", state: "" };
  if (row.source === "repository") {
    return { ...quiet, type: "Repository", title: name, url: `/${name}`, html_url: web };
  }
  if (row.source === "commit") {
    const url = `${web}/commit/${row.commit_sha}`;
    return { ...quiet, type: "Commit", title: row.commit_sha, url, html_url: url };
  }
  const type = row.source === "pull" ? "Pull" : "Issue";
  const issue = row.issue_id === null ? void 0 : loaded.issues.get(row.issue_id);
  if (!issue) return { ...quiet, type, title: "", url: "", html_url: "" };
  const api = `${context.rootUrl()}/api/v1/repos/${name}/issues`;
  const html_url = issueAddress(context, issue, { ...home, viewer: void 0 });
  const comment = loaded.comments.get(issue.id);
  const state = issue.is_closed ? "closed" : "open";
  return {
    type,
    title: issue.title,
    url: `${api}/${issue.number}`,
    html_url,
    latest_comment_url: comment === void 0 ? "" : `${api}/comments/${comment}`,
    latest_comment_html_url: comment === void 0 ? "" : `${html_url}#issuecomment-${comment}`,
    state: loaded.merged.has(issue.id) ? "merged" : state
  };
}

// src/forge/notifications.ts
var statuses2 = ["unread", "read", "pinned"];
var sources = ["issue", "pull", "commit", "repository"];
function statusOf(text) {
  return statuses2.find((known2) => known2 === text.trim().toLowerCase());
}
function oneOf(column, wanted) {
  if (wanted.length === 0) return [];
  return [{ sql: `${column} IN (${wanted.map(() => "?").join(", ")})`, values: [...new Set(wanted)] }];
}
function conditionsOf2({ user, repositoryId }, wanted, usual) {
  const given = wanted["status-types"] ?? [];
  const asked = (given.length > 0 ? given : usual).flatMap((text) => statusOf(text) ?? []);
  const kinds3 = (wanted["subject-type"] ?? []).flatMap(
    (text) => sources.find((known2) => known2 === text.toLowerCase()) ?? []
  );
  const since = parseInstant(wanted.since) ?? 0;
  const before = parseInstant(wanted.before) ?? 0;
  const conditions = [
    { sql: "user_id = ?", values: [user.id] },
    ...repositoryId === void 0 ? [] : [{ sql: "repo_id = ?", values: [repositoryId] }],
    ...wanted.all ? [] : oneOf("status", [...new Set(asked)]),
    ...oneOf("source", [...new Set(kinds3)]),
    ...since === 0 ? [] : [{ sql: "updated_at >= ?", values: [since] }],
    ...before === 0 ? [] : [{ sql: "updated_at <= ?", values: [before] }]
  ];
  return {
    sql: conditions.map(({ sql }) => sql).join(" AND "),
    values: conditions.flatMap(({ values }) => values)
  };
}
function listThreads({ context, page: page2, reply }, whose2, wanted) {
  const { db } = context;
  const { sql, values } = conditionsOf2(whose2, wanted, ["unread", "pinned"]);
  const counted2 = db.get(
    `SELECT count(*) AS count FROM notifications WHERE ${sql}`,
    ...values
  );
  reply.total(counted2?.count ?? 0);
  const rows = db.all(
    `SELECT * FROM notifications WHERE ${sql} ORDER BY updated_at DESC, id DESC LIMIT ? OFFSET ?`,
    ...values,
    page2.limit,
    page2.offset
  );
  return toThreads(context, rows);
}
function markThreads(context, whose2, marking) {
  parseInstant(marking.last_read_at, { status: 400 });
  const wanted = { all: marking.all, "status-types": marking["status-types"], before: marking.last_read_at };
  const { sql, values } = conditionsOf2(whose2, wanted, ["unread"]);
  const rows = context.db.transaction(() => {
    const ids = context.db.all(
      `UPDATE notifications SET status = ?, updated_at = ? WHERE ${sql} RETURNING id`,
      statusOf(marking["to-status"] ?? "") ?? "read",
      secondsOf(context.clock()),
      ...values
    );
    return context.db.all(
      "SELECT * FROM notifications WHERE id IN (SELECT value FROM json_each(?)) ORDER BY updated_at DESC, id DESC",
      JSON.stringify(ids.map(({ id }) => id))
    );
  });
  return toThreads(context, rows);
}
function findThread({ db }, id, caller) {
  const row = found(
    db.get("SELECT * FROM notifications WHERE id = ?", id),
    "notification does not exist"
  );
  if (row.user_id === caller.id || caller.is_admin) return row;
  throw new ForgeProblem(403, `only user itself and admin are allowed to read/change this thread ${id}`);
}
function only(context, row) {
  return found(toThreads(context, [row])[0]);
}
var notificationHandlers = defineHandlers({
  listNotifications: (call) => listThreads(call, { user: call.caller }, call.query),
  markNotifications: ({ context, caller, query }) => markThreads(context, { user: caller }, query),
  countNotifications({ context, caller }) {
    const sql = `SELECT count(*) AS count FROM notifications WHERE user_id = ? AND status = 'unread'`;
    return { new: context.db.get(sql, caller.id)?.count ?? 0 };
  },
  getNotification: ({ context, params, caller }) => only(context, findThread(context, params.id, caller)),
  markNotification({ context, params, query, caller }) {
    const { id, user_id } = findThread(context, params.id, caller);
    if (user_id !== caller.id)
      throw new ForgeProblem(403, `Can't change notification of another user: ${id}`);
    const row = context.db.get(
      "UPDATE notifications SET status = ?, updated_at = ? WHERE id = ? RETURNING *",
      statusOf(query["to-status"] ?? "") ?? "read",
      secondsOf(context.clock()),
      id
    );
    return only(context, found(row));
  },
  listRepositoryNotifications: (call) => listThreads(call, { user: call.caller, repositoryId: call.repository.id }, call.query),
  markRepositoryNotifications: ({ context, caller, repository, query }) => markThreads(context, { user: caller, repositoryId: repository.id }, query)
});

// src/forge/oauth2.ts
import { randomBytes as randomBytes4, randomUUID as randomUUID5 } from "node:crypto";
function toApplication(row, secret = "") {
  return {
    id: row.id,
    name: row.name,
    client_id: row.client_id,
    client_secret: secret,
    confidential_client: row.is_confidential === 1,
    skip_secondary_authorization: row.skip_secondary_authorization === 1,
    // The column holds what this file wrote.
    redirect_uris: JSON.parse(row.redirect_uris),
    created: toInstant(row.created_at)
  };
}
function makeSecret(prefix2) {
  const alphabet = "abcdefghijklmnopqrstuvwxyz234567";
  const bits = [...randomBytes4(32)].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const letters = bits.match(/.{1,5}/g) ?? [];
  return `${prefix2}_${letters.map((five) => alphabet[Number.parseInt(five.padEnd(5, "0"), 2)]).join("")}`;
}
function assertAddresses(addresses2) {
  const wrong = addresses2.find((address) => {
    const url = URL.parse(address);
    return !url || !/^https?:\/\/[^\s/?#]/i.test(address) || url.hostname === "";
  });
  if (wrong !== void 0) throw new ForgeProblem(400, `invalid redirect URI: ${wrong}`);
}
function insertApplication(context, owner, wanted, secret) {
  const { db, clock } = context;
  const now = secondsOf(clock());
  const { lastId } = db.run(
    `INSERT INTO oauth2_applications (user_id, name, client_id, secret_digest, is_confidential,
       skip_secondary_authorization, redirect_uris, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    owner.id,
    wanted.name,
    randomUUID5(),
    digestOf(secret),
    wanted.confidential_client ?? false,
    wanted.skip_secondary_authorization ?? false,
    JSON.stringify(wanted.redirect_uris),
    now,
    now
  );
  return found(db.get("SELECT * FROM oauth2_applications WHERE id = ?", lastId));
}
function ownApplication({ context, caller, params }) {
  const sql = "SELECT * FROM oauth2_applications WHERE id = ? AND user_id = ?";
  return found(context.db.get(sql, params.id, caller.id));
}
var oauth2Handlers = defineHandlers({
  createOAuth2Application({ context, caller, body }) {
    assertAddresses(body.redirect_uris);
    const secret = makeSecret("gto");
    return toApplication(insertApplication(context, caller, body, secret), secret);
  },
  listOAuth2Applications({ context, caller, page: page2, reply }) {
    const { db } = context;
    const count = "SELECT count(*) AS count FROM oauth2_applications WHERE user_id = ?";
    reply.total(db.get(count, caller.id)?.count ?? 0);
    const rows = db.all(
      "SELECT * FROM oauth2_applications WHERE user_id = ? ORDER BY id LIMIT ? OFFSET ?",
      caller.id,
      page2.limit,
      page2.offset
    );
    return rows.map((row) => toApplication(row));
  },
  getOAuth2Application: (call) => toApplication(ownApplication(call)),
  editOAuth2Application(call) {
    const { context, body } = call;
    assertAddresses(body.redirect_uris);
    const { id } = ownApplication(call);
    const secret = makeSecret("gto");
    context.db.run(
      `UPDATE oauth2_applications SET name = ?, secret_digest = ?, is_confidential = ?,
         skip_secondary_authorization = ?, redirect_uris = ?, updated_at = ? WHERE id = ?`,
      body.name,
      digestOf(secret),
      body.confidential_client ?? false,
      body.skip_secondary_authorization ?? false,
      JSON.stringify(body.redirect_uris),
      secondsOf(context.clock()),
      id
    );
    return toApplication(ownApplication(call), secret);
  },
  deleteOAuth2Application(call) {
    call.context.db.run("DELETE FROM oauth2_applications WHERE id = ?", ownApplication(call).id);
    return void 0;
  }
});

// src/forge/team-members.ts
function addTeamMember(db, team, user) {
  db.run(
    "INSERT INTO team_members (team_id, user_id, org_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    team.id,
    user.id,
    team.org_id
  );
}
function removeTeamMember(db, team, user) {
  const count = "SELECT count(*) AS count FROM team_members WHERE team_id = ?";
  const isLast = db.get(count, team.id)?.count === 1;
  if (team.permission === "owner" && isLast && isInTeam(db, team, user)) {
    throw new ForgeProblem(422, `user is the last member of owner team [name: ${user.name}]`);
  }
  db.run("DELETE FROM team_members WHERE team_id = ? AND user_id = ?", team.id, user.id);
}
var teamMemberHandlers = defineHandlers({
  listTeamMembers({ context, team, caller, page: page2, reply }) {
    const count = "SELECT count(*) AS count FROM team_members WHERE team_id = ?";
    reply.total(context.db.get(count, team.id)?.count ?? 0);
    const users = context.db.all(
      `SELECT u.* FROM team_members m JOIN users u ON u.id = m.user_id WHERE m.team_id = ?
       ORDER BY u.lower_name LIMIT ? OFFSET ?`,
      team.id,
      page2.limit,
      page2.offset
    );
    return users.map((user) => toUser(context, user, caller));
  },
  getTeamMember({ context, team, caller, params }) {
    const user = accountNamed(context.db, params.username, caller);
    return toUser(context, found(isInTeam(context.db, team, user) ? user : void 0), caller);
  },
  putTeamMember({ context, team, caller, params }) {
    const user = accountNamed(context.db, params.username, caller);
    if (user.type !== "user") throw new ForgeProblem(422, "an organization cannot be a member");
    addTeamMember(context.db, team, user);
    return void 0;
  },
  deleteTeamMember({ context, team, caller, params }) {
    const user = accountNamed(context.db, params.username, caller);
    context.db.transaction(() => removeTeamMember(context.db, team, user));
    return void 0;
  }
});

// src/forge/members.ts
function listOf4({ context, organization, caller, page: page2, reply }, isPublic) {
  const { db } = context;
  const isInsider = caller && (caller.is_admin || isMember(db, organization, caller));
  const isOpen2 = `EXISTS (SELECT 1 FROM public_memberships p WHERE p.org_id = ?1 AND p.user_id = u.id)`;
  const isMate = `EXISTS (SELECT 1 FROM team_members a JOIN team_members b ON b.team_id = a.team_id
    WHERE a.org_id = ?1 AND a.user_id = ?2 AND b.user_id = u.id)`;
  const limited = caller?.is_restricted && !caller.is_admin ? `AND (${isMate} OR ${isOpen2})` : "";
  const shown4 = isInsider && !isPublic ? limited : `AND ${isOpen2}`;
  const from = `FROM users u WHERE ?2 = ?2 AND u.id IN (SELECT user_id FROM team_members WHERE org_id = ?1) ${shown4}`;
  const values = [organization.id, caller?.id ?? 0];
  reply.total(db.get(`SELECT count(*) AS count ${from}`, ...values)?.count ?? 0);
  const sql = `SELECT u.* ${from} ORDER BY u.id LIMIT ?3 OFFSET ?4`;
  return db.all(sql, ...values, page2.limit, page2.offset).map((user) => toUser(context, user, caller));
}
function removeMember({ db }, organization, user) {
  db.transaction(() => {
    const teams = db.all(
      "SELECT t.* FROM teams t JOIN team_members m ON m.team_id = t.id WHERE t.org_id = ? AND m.user_id = ?",
      organization.id,
      user.id
    );
    for (const team of teams) removeTeamMember(db, team, user);
  });
}
function changeable({ context: { db }, organization, caller, params }) {
  const user = accountNamed(db, params.username, caller);
  if (user.id !== caller.id && !isOrganizationOwner(db, organization, caller)) {
    throw new ForgeProblem(403, "Cannot change member visibility");
  }
  return user;
}
var memberHandlers = defineHandlers({
  listMembers: (call) => listOf4(call, false),
  listPublicMembers: (call) => listOf4(call, true),
  checkMember({ context, organization, caller, params, reply }) {
    const { db } = context;
    const user = accountNamed(db, params.username, caller);
    if (isMember(db, organization, caller) || caller.is_admin) {
      found(isMember(db, organization, user) || void 0);
      return void 0;
    }
    if (user.id === caller.id) throw new ForgeProblem(404, "not found");
    const [name, member] = [organization.name, user.name].map(encodeURIComponent);
    reply.status(303);
    reply.header("location", `/api/v1/orgs/${name}/public_members/${member}`);
    return void 0;
  },
  checkPublicMember({ context: { db }, organization, caller, params }) {
    const user = accountNamed(db, params.username, caller);
    const sql = "SELECT 1 AS one FROM public_memberships WHERE org_id = ? AND user_id = ?";
    found(db.get(sql, organization.id, user.id));
    return void 0;
  },
  deleteMember({ context, organization, caller, params }) {
    removeMember(context, organization, accountNamed(context.db, params.username, caller));
    return void 0;
  },
  publicizeMember(call) {
    const { db } = call.context;
    const user = changeable(call);
    const sql = "INSERT INTO public_memberships (org_id, user_id) VALUES (?, ?) ON CONFLICT DO NOTHING";
    if (isMember(db, call.organization, user)) db.run(sql, call.organization.id, user.id);
    return void 0;
  },
  concealMember(call) {
    const sql = "DELETE FROM public_memberships WHERE org_id = ? AND user_id = ?";
    call.context.db.run(sql, call.organization.id, changeable(call).id);
    return void 0;
  }
});

// src/forge/organizations.ts
function createOwnersTeam(context, organizationId, owner) {
  const { db } = context;
  const { lastId } = db.run(
    `INSERT INTO teams (org_id, name, lower_name, permission, includes_all_repositories, can_create_org_repo, visibility)
     VALUES (?, 'Owners', 'owners', 'owner', 1, 1, 'limited')`,
    organizationId
  );
  db.run(
    "INSERT INTO team_members (team_id, user_id, org_id) VALUES (?, ?, ?)",
    lastId,
    owner.id,
    organizationId
  );
}
var longest2 = {
  full_name: 100,
  email: 255,
  description: 255,
  website: 255,
  location: 50
};
function assertProfile(profile) {
  for (const [member, size] of Object.entries(longest2)) {
    const value = profile[member];
    if (typeof value === "string" && value.length > size) {
      throw new ForgeProblem(422, `[${member}]: MaxSize(${size})`);
    }
  }
  if (profile.email && !isEmail(profile.email)) throw new ForgeProblem(422, "e-mail invalid");
  if (profile.website && !/^https?:\/\/[^\s/]/i.test(profile.website))
    throw new ForgeProblem(422, "[website]: Url");
}
function updateOrganization(context, organization, edit2) {
  assertProfile(edit2);
  const row = { ...organization, ...edit2 };
  context.db.run(
    `UPDATE users SET full_name = ?, email = ?, description = ?, website = ?, location = ?, visibility = ?,
       repo_admin_change_team_access = ?, updated_at = ? WHERE id = ?`,
    row.full_name,
    row.email,
    row.description,
    row.website,
    row.location,
    readVisibility(edit2.visibility) ?? organization.visibility,
    row.repo_admin_change_team_access,
    secondsOf(context.clock()),
    organization.id
  );
  return found(context.db.get("SELECT * FROM users WHERE id = ?", organization.id));
}
function insertOrganization(context, owner, wanted) {
  const { db } = context;
  const visibility = readVisibility(wanted.visibility) ?? "public";
  assertProfile(wanted);
  return db.transaction(() => {
    assertNameIsFree(context, wanted.username);
    freeName(context, wanted.username);
    const now = secondsOf(context.clock());
    const { lastId } = db.run(
      `INSERT INTO users (type, name, lower_name, full_name, email, description, location, website, visibility,
         repo_admin_change_team_access, created_at, updated_at)
       VALUES ('organization', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      wanted.username,
      wanted.username.toLowerCase(),
      wanted.full_name ?? "",
      wanted.email ?? "",
      wanted.description ?? "",
      wanted.location ?? "",
      wanted.website ?? "",
      visibility,
      wanted.repo_admin_change_team_access ?? false,
      now,
      now
    );
    createOwnersTeam(context, lastId, owner);
    return found(db.get("SELECT * FROM users WHERE id = ?", lastId));
  });
}
var publicMembership = `EXISTS (SELECT 1 FROM public_memberships p WHERE p.org_id = u.id AND p.user_id = ?1)`;
var membersOnly = `FROM users u WHERE u.id IN (SELECT org_id FROM team_members WHERE user_id = ?1)`;
function seen(caller) {
  if (!caller) return `u.visibility = 'public'`;
  return caller.is_admin ? "1" : `u.visibility <> 'private'`;
}
function pageOf(context, { page: page2, reply }, from, id = 0) {
  const rest = `${from} AND ?1 = ?1`;
  reply.total(context.db.get(`SELECT count(*) AS count ${rest}`, id)?.count ?? 0);
  const sql = `SELECT u.* ${rest} ORDER BY u.lower_name LIMIT ?2 OFFSET ?3`;
  const rows = context.db.all(sql, id, page2.limit, page2.offset);
  return rows.map((row) => toOrganization(context, row));
}
var organizationHandlers = defineHandlers({
  ...memberHandlers,
  getOrganization: ({ organization, caller, context }) => {
    const shown4 = toOrganization(context, organization);
    return caller ? shown4 : { ...shown4, email: "" };
  },
  editOrganization: ({ organization, body, context }) => toOrganization(context, updateOrganization(context, organization, body)),
  createOrganization: ({ body, caller, context }) => toOrganization(context, insertOrganization(context, caller, body)),
  createOrganizationFor: ({ body, account, context }) => toOrganization(context, insertOrganization(context, account, body)),
  renameOrganization({ organization, body, context }) {
    renameAccount(context, organization, body.new_name);
    return void 0;
  },
  deleteOrganization({ organization, context }) {
    removeOrganization(context, organization);
    return void 0;
  },
  deleteOrganizationRepositories({ organization, caller, context, reply }) {
    const sql = "SELECT * FROM repositories WHERE owner_id = ? ORDER BY id";
    const repositories2 = context.db.all(sql, organization.id);
    if (repositories2.length === 0) reply.status(204);
    for (const repository of repositories2)
      removeRepository(context, { repository, owner: organization, actor: caller });
    return void 0;
  },
  listOrganizations({ caller, context, page: page2, reply }) {
    return pageOf(
      context,
      { caller, page: page2, reply },
      `FROM users u WHERE u.type = 'organization' AND ${seen(caller)}`
    );
  },
  listOwnOrganizations: ({ caller, context, page: page2, reply }) => pageOf(context, { caller, page: page2, reply }, membersOnly, caller.id),
  listUserOrganizations({ account, caller, context, page: page2, reply }) {
    const sight = { caller, page: page2, reply };
    const isAll = caller.is_admin || caller.id === account.id;
    return pageOf(
      context,
      sight,
      isAll ? membersOnly : `${membersOnly} AND ${publicMembership} AND ${seen(caller)}`,
      account.id
    );
  },
  getOrganizationPermissions({ account, caller, context: { db }, params }) {
    const organization = accountNamed(db, params.org, caller);
    if (organization.type !== "organization" || !isVisible(db, organization, caller))
      throw new ForgeProblem(404, "not found");
    const ranks = ["none", "read", "write", "admin", "owner"];
    const sql = `SELECT t.permission FROM teams t JOIN team_members m ON m.team_id = t.id
      WHERE t.org_id = ? AND m.user_id = ?`;
    const teams = db.all(sql, organization.id, account.id);
    const levels = teams.map(({ permission }) => ranks.indexOf(permission)).filter((level2) => level2 > 2);
    const level = Math.max(0, ...levels);
    return {
      can_read: level > 0,
      can_write: level > 1,
      is_admin: level > 2,
      is_owner: level > 3,
      can_create_repository: canCreateRepositoryIn(db, organization, { ...account, is_admin: 0 })
    };
  }
});

// src/forge/branch-protection-terms.ts
function newTerms(place, asked) {
  const isOn = (flag) => flag === true;
  const push = isOn(asked.enable_push);
  const pushList = push && isOn(asked.enable_push_whitelist);
  const force = push && isOn(asked.enable_force_push);
  const forceList = force && isOn(asked.enable_force_push_allowlist);
  const bypass = isOn(asked.enable_bypass_allowlist);
  const wanted = bypass ? asked : { ...asked, bypass_allowlist_usernames: [], bypass_allowlist_teams: [] };
  return {
    ...keepLists(place, noLists, wantedLists(place, noLists, wanted)),
    enable_push: push,
    enable_push_whitelist: pushList,
    push_whitelist_deploy_keys: pushList && isOn(asked.push_whitelist_deploy_keys),
    enable_force_push: force,
    enable_force_push_allowlist: forceList,
    force_push_allowlist_deploy_keys: forceList && isOn(asked.force_push_allowlist_deploy_keys),
    enable_merge_whitelist: isOn(asked.enable_merge_whitelist),
    enable_bypass_allowlist: bypass,
    enable_status_check: isOn(asked.enable_status_check),
    status_check_contexts: asked.status_check_contexts ?? null,
    required_approvals: Math.max(0, asked.required_approvals ?? 0),
    enable_approvals_whitelist: isOn(asked.enable_approvals_whitelist),
    block_on_rejected_reviews: isOn(asked.block_on_rejected_reviews),
    block_on_official_review_requests: isOn(asked.block_on_official_review_requests),
    block_on_outdated_branch: isOn(asked.block_on_outdated_branch),
    dismiss_stale_approvals: isOn(asked.dismiss_stale_approvals),
    ignore_stale_approvals: isOn(asked.ignore_stale_approvals),
    require_signed_commits: isOn(asked.require_signed_commits),
    protected_file_patterns: asked.protected_file_patterns ?? "",
    unprotected_file_patterns: asked.unprotected_file_patterns ?? "",
    block_admin_merge_override: isOn(asked.block_admin_merge_override)
  };
}
function editedTerms(place, before, asked) {
  const { required_approvals = -1 } = asked;
  const bypass = asked.enable_bypass_allowlist ?? before.enable_bypass_allowlist;
  const wanted = wantedLists(place, before, asked);
  const kept = keepLists(place, before, bypass ? wanted : withoutBypass(wanted));
  return {
    ...before,
    ...definedOf(plainMembers(asked)),
    ...pushFlags(before, asked),
    ...forcePushFlags(before, asked),
    ...kept,
    enable_bypass_allowlist: bypass,
    required_approvals: required_approvals >= 0 ? required_approvals : before.required_approvals
  };
}
function plainMembers(asked) {
  return {
    enable_merge_whitelist: asked.enable_merge_whitelist,
    enable_status_check: asked.enable_status_check,
    status_check_contexts: asked.status_check_contexts,
    enable_approvals_whitelist: asked.enable_approvals_whitelist,
    block_on_rejected_reviews: asked.block_on_rejected_reviews,
    block_on_official_review_requests: asked.block_on_official_review_requests,
    block_on_outdated_branch: asked.block_on_outdated_branch,
    dismiss_stale_approvals: asked.dismiss_stale_approvals,
    ignore_stale_approvals: asked.ignore_stale_approvals,
    require_signed_commits: asked.require_signed_commits,
    protected_file_patterns: asked.protected_file_patterns,
    unprotected_file_patterns: asked.unprotected_file_patterns,
    block_admin_merge_override: asked.block_admin_merge_override
  };
}
function definedOf(members2) {
  return Object.fromEntries(Object.entries(members2).filter(([, value]) => value !== void 0));
}
function pushFlags(before, asked) {
  if (asked.enable_push === void 0) return {};
  const list2 = asked.enable_push && (asked.enable_push_whitelist ?? before.enable_push_whitelist);
  const keys2 = asked.enable_push_whitelist === true ? asked.push_whitelist_deploy_keys : void 0;
  return {
    enable_push: asked.enable_push,
    enable_push_whitelist: list2,
    push_whitelist_deploy_keys: list2 && (keys2 ?? before.push_whitelist_deploy_keys)
  };
}
function forcePushFlags(before, asked) {
  if (asked.enable_force_push === void 0) return {};
  const isListed2 = asked.enable_force_push_allowlist;
  const list2 = asked.enable_force_push && (isListed2 ?? before.enable_force_push_allowlist);
  const keys2 = isListed2 === true ? asked.force_push_allowlist_deploy_keys : void 0;
  return {
    enable_force_push: asked.enable_force_push,
    enable_force_push_allowlist: list2,
    force_push_allowlist_deploy_keys: list2 && (keys2 ?? before.force_push_allowlist_deploy_keys)
  };
}
var none = {
  push: [],
  force_push: [],
  merge: [],
  approvals: [],
  bypass: []
};
var noLists = { users: none, teams: none };
function withoutBypass({ users, teams }) {
  return { users: { ...users, bypass: [] }, teams: { ...teams, bypass: [] } };
}
function wantedLists(place, before, asked) {
  const people = {
    push: asked.push_whitelist_usernames,
    force_push: asked.force_push_allowlist_usernames,
    merge: asked.merge_whitelist_usernames,
    approvals: asked.approvals_whitelist_username,
    bypass: asked.bypass_allowlist_usernames
  };
  const teams = {
    push: asked.push_whitelist_teams,
    force_push: asked.force_push_allowlist_teams,
    merge: asked.merge_whitelist_teams,
    approvals: asked.approvals_whitelist_teams,
    bypass: asked.bypass_allowlist_teams
  };
  return {
    users: perList((list2) => people[list2] ? userIds(place, people[list2]) : before.users[list2]),
    teams: perList((list2) => teams[list2] ? teamIds(place, teams[list2]) : before.teams[list2])
  };
}
function keepLists(place, before, wanted) {
  const readers = readersOf(place);
  return {
    users: perList((list2) => keepWriters(place, before.users[list2], wanted.users[list2])),
    teams: perList((list2) => keepReaders(readers.teams, before.teams[list2], wanted.teams[list2]))
  };
}
function perList(idsOf3) {
  return Object.fromEntries(ruleLists.map((list2) => [list2, idsOf3(list2)]));
}

// src/forge/protections.ts
var protectionHandlers = defineHandlers({
  listBranchProtections(call) {
    const place = placeOf3(call);
    const readers = readersOf(place);
    return loadBranchRules(place.db, place.repository.id).map((rule) => toProtection(rule, readers));
  },
  getBranchProtection(call) {
    return show(placeOf3(call), call.params.name);
  },
  createBranchProtection(call) {
    const place = placeOf3(call);
    const name = call.body.rule_name || call.body.branch_name || "";
    if (name === "") throw new ForgeProblem(400, "both rule_name and branch_name are empty");
    return place.db.transaction(() => {
      if (readBranchRule(place.db, place.repository.id, name)) {
        throw new ForgeProblem(403, "Branch protection already exist");
      }
      const now = secondsOf(call.context.clock());
      place.db.run(
        `INSERT INTO branch_protections (repo_id, rule_name, priority, terms, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?)`,
        place.repository.id,
        name,
        call.body.priority || lowestPriority(place) + 1,
        JSON.stringify(newTerms(place, call.body)),
        now,
        now
      );
      return show(place, name);
    });
  },
  editBranchProtection(call) {
    const place = placeOf3(call);
    const { name } = call.params;
    return place.db.transaction(() => {
      const rule = found(readBranchRule(place.db, place.repository.id, name));
      place.db.run(
        "UPDATE branch_protections SET priority = ?, terms = ?, updated_at = ? WHERE id = ?",
        call.body.priority ?? rule.priority,
        JSON.stringify(editedTerms(place, termsOf(rule), call.body)),
        secondsOf(call.context.clock()),
        rule.id
      );
      return show(place, name);
    });
  },
  deleteBranchProtection({ context, repository, params }) {
    const rule = found(readBranchRule(context.db, repository.id, params.name));
    context.db.run("DELETE FROM branch_protections WHERE id = ?", rule.id);
    return void 0;
  },
  orderBranchProtections({ context, repository, body }) {
    const sql = "UPDATE branch_protections SET priority = ? WHERE id = ? AND repo_id = ?";
    context.db.transaction(() => {
      for (const [at, id] of (body.ids ?? []).entries()) context.db.run(sql, at + 1, id, repository.id);
    });
    return void 0;
  }
});
function placeOf3({ context, repository, owner }) {
  return { db: context.db, repository, owner };
}
function lowestPriority({ db, repository }) {
  const sql = "SELECT coalesce(max(priority), 0) AS lowest FROM branch_protections WHERE repo_id = ?";
  return db.get(sql, repository.id)?.lowest ?? 0;
}
function termsOf(rule) {
  const { id, repo_id, rule_name, priority, created_at, updated_at, ...terms } = rule;
  return terms;
}
function show(place, name) {
  const rule = found(readBranchRule(place.db, place.repository.id, name));
  return toProtection(rule, readersOf(place));
}
function toProtection(rule, { people, teams }) {
  return {
    branch_name: isPattern(rule.rule_name) ? "" : rule.rule_name,
    rule_name: rule.rule_name,
    priority: rule.priority,
    enable_push: rule.enable_push,
    enable_push_whitelist: rule.enable_push_whitelist,
    push_whitelist_usernames: namesAmong(people, rule.users.push),
    push_whitelist_teams: namesAmong(teams, rule.teams.push),
    push_whitelist_deploy_keys: rule.push_whitelist_deploy_keys,
    enable_force_push: rule.enable_force_push,
    enable_force_push_allowlist: rule.enable_force_push_allowlist,
    force_push_allowlist_usernames: namesAmong(people, rule.users.force_push),
    force_push_allowlist_teams: namesAmong(teams, rule.teams.force_push),
    force_push_allowlist_deploy_keys: rule.force_push_allowlist_deploy_keys,
    enable_merge_whitelist: rule.enable_merge_whitelist,
    merge_whitelist_usernames: namesAmong(people, rule.users.merge),
    merge_whitelist_teams: namesAmong(teams, rule.teams.merge),
    enable_bypass_allowlist: rule.enable_bypass_allowlist,
    bypass_allowlist_usernames: namesAmong(people, rule.users.bypass),
    bypass_allowlist_teams: namesAmong(teams, rule.teams.bypass),
    enable_status_check: rule.enable_status_check,
    status_check_contexts: rule.status_check_contexts && [...rule.status_check_contexts],
    required_approvals: rule.required_approvals,
    enable_approvals_whitelist: rule.enable_approvals_whitelist,
    approvals_whitelist_username: namesAmong(people, rule.users.approvals),
    approvals_whitelist_teams: namesAmong(teams, rule.teams.approvals),
    block_on_rejected_reviews: rule.block_on_rejected_reviews,
    block_on_official_review_requests: rule.block_on_official_review_requests,
    block_on_outdated_branch: rule.block_on_outdated_branch,
    dismiss_stale_approvals: rule.dismiss_stale_approvals,
    ignore_stale_approvals: rule.ignore_stale_approvals,
    require_signed_commits: rule.require_signed_commits,
    protected_file_patterns: rule.protected_file_patterns,
    unprotected_file_patterns: rule.unprotected_file_patterns,
    block_admin_merge_override: rule.block_admin_merge_override,
    created_at: toInstant(rule.created_at),
    updated_at: toInstant(rule.updated_at)
  };
}

// src/forge/git/diff.ts
async function readDiff(repository, from, to, options2) {
  if (!isObjectId(from) || !isObjectId(to)) throw new TypeError(`"${from}..${to}" are no object ids`);
  const command = options2.kind === "patch" ? ["format-patch", "--binary", "--stdout", `${from}..${to}`, "--"] : ["diff", ...options2.binary ? ["-p", "--binary"] : ["-p"], from, to, "--"];
  const { stdout } = await repository.git.run(command, { folder: repository.folder });
  return stdout.toString("utf8");
}

// src/forge/merge-commits.ts
var mergeStyles = ["merge", "rebase", "rebase-merge", "squash", "fast-forward-only"];
async function makeMerge(git, style, merge) {
  const { base, head, mergeBase, message, committer } = merge;
  if (style === "fast-forward-only") return mergeBase === base.id ? head.id : void 0;
  if (style === "rebase") return await rebase(git, merge);
  const tip = style === "rebase-merge" ? await rebase(git, merge) : head.id;
  const tree = tip === void 0 ? void 0 : await mergeTrees(git, base.id, tip);
  if (tip === void 0 || tree === void 0) return void 0;
  const author = style === "squash" ? head.author : committer;
  const parents = style === "squash" ? [base.id] : [base.id, tip];
  return await commitTree(git, tree, {
    parents,
    message,
    author: { ...author, seconds: committer.seconds },
    committer
  });
}
async function rebase(git, { base, head, mergeBase, committer }) {
  if (mergeBase === base.id) return head.id;
  const commits = await listCommits(git, { from: mergeBase, to: head.id }, { limit: 1e4 });
  let tip = base;
  for (const commit of commits.toReversed()) {
    if (commit.parents.length !== 1) continue;
    const tree = await pick(git, tip, commit, committer);
    if (tree === void 0) return void 0;
    const { author, message } = commit;
    const id = await commitTree(git, tree, { parents: [tip.id], message, author, committer });
    const next = await readCommit(git, id);
    if (next === void 0) return void 0;
    tip = next;
  }
  return tip.id;
}
async function pick(git, tip, commit, committer) {
  const parents = commit.parents;
  const standIn = await commitTree(git, tip.tree, {
    parents,
    message: "stand-in\n",
    author: committer,
    committer
  });
  return await mergeTrees(git, standIn, commit.id);
}

// src/forge/pull-rows.ts
var orders2 = {
  oldest: "i.created_at, i.id",
  recentupdate: "i.updated_at DESC, i.id DESC",
  leastupdate: "i.updated_at, i.id",
  recentclose: "i.closed_at DESC, i.id DESC",
  mostcomment: "i.num_comments DESC, i.id DESC",
  leastcomment: "i.num_comments, i.id",
  priority: "i.pin_order DESC, i.created_at DESC, i.id DESC"
};
function listPullRows({ db }, { repository }, filter, page2) {
  const conditions = ["i.repo_id = ?", "i.is_pull = 1"];
  const values = [repository.id];
  const add2 = (condition, value) => {
    conditions.push(condition);
    values.push(value);
  };
  if (filter.state === "open" || filter.state === "closed") {
    add2("i.is_closed = ?", filter.state === "closed" ? 1 : 0);
  }
  if (filter.milestone) add2("i.milestone_id = ?", filter.milestone);
  if (filter.base_branch) add2("p.base_branch = ?", filter.base_branch);
  if (filter.poster) {
    const poster = userNamed(db, filter.poster);
    if (!poster) throw new ForgeProblem(400, `user does not exist [name: ${filter.poster}]`);
    add2("i.poster_id = ?", poster.id);
  }
  const labels = filter.labels ?? [];
  if (labels.length > 0) add2("l.label_id IN (SELECT value FROM json_each(?))", JSON.stringify(labels));
  const from = `FROM issues i JOIN pulls p ON p.issue_id = i.id
    ${labels.length > 0 ? "JOIN issue_labels l ON l.issue_id = i.id" : ""} WHERE ${conditions.join(" AND ")}`;
  const total = db.get(`SELECT count(*) AS total ${from}`, ...values)?.total ?? 0;
  const order = Object.hasOwn(orders2, filter.sort ?? "") ? orders2[filter.sort ?? ""] : void 0;
  const rows = db.all(
    `SELECT i.id ${from} ORDER BY ${order ?? "i.created_at DESC, i.id DESC"} LIMIT ? OFFSET ?`,
    ...values,
    page2.limit,
    page2.offset
  );
  const pulls = loadPulls(
    db,
    rows.map(({ id }) => id)
  );
  return { pulls, total };
}
function loadPulls(db, issueIds) {
  const given = JSON.stringify(issueIds);
  const issues2 = db.all("SELECT * FROM issues WHERE id IN (SELECT value FROM json_each(?))", given);
  const sides = db.all(
    "SELECT * FROM pulls WHERE issue_id IN (SELECT value FROM json_each(?))",
    given
  );
  const byId = new Map(issues2.map((issue) => [issue.id, issue]));
  const byIssue = new Map(sides.map((pull) => [pull.issue_id, pull]));
  return issueIds.flatMap((id) => {
    const [issue, pull] = [byId.get(id), byIssue.get(id)];
    return issue && pull ? [{ issue, pull }] : [];
  });
}
function findPull({ db }, { repository }, number) {
  const pull = found(
    db.get("SELECT * FROM pulls WHERE repo_id = ? AND number = ?", repository.id, number),
    `pull request does not exist [index: ${number}]`
  );
  return { pull, issue: found(db.get("SELECT * FROM issues WHERE id = ?", pull.issue_id)) };
}
function findByBranches({ db }, { baseId, base, headId, head }, options2) {
  const row = db.get(
    `SELECT p.number FROM pulls p JOIN issues i ON i.id = p.issue_id
     WHERE p.repo_id = ? AND p.base_branch = ? AND p.head_repo_id = ? AND p.head_branch = ?
       ${options2.openOnly ? "AND i.is_closed = 0" : ""} ORDER BY i.is_closed, p.id DESC LIMIT 1`,
    baseId,
    base,
    headId,
    head
  );
  return row?.number;
}

// src/forge/pull-branches.ts
function headOf(context, pull) {
  const sql = "SELECT * FROM repositories WHERE id = ?";
  const repository = context.db.get(sql, pull.head_repo_id);
  const owner = repository && context.db.get("SELECT * FROM users WHERE id = ?", repository.owner_id);
  if (!repository || !owner) throw new ForgeProblem(404, "the head repository is gone");
  return { repository, owner };
}
function guardUpdate({ context, pull, base, head, caller, isRebase }, isMaintainer) {
  const settings = settingsOf(base);
  const allows = isRebase ? settings.allow_rebase_update : settings.allow_merge_update;
  const mayPush2 = reaches(permissionOf(context.db, caller, head.repository, head.owner), "write");
  const mayHelp = pull.allow_maintainer_edit === 1 && isMaintainer;
  if (!allows || !(mayPush2 || mayHelp)) throw forbiddenInSilence();
}
async function borrowBase(head, base, branch) {
  if (head.id === base.id) return;
  const target = "refs/reeve/update";
  await takeRef(head, base, { source: `refs/heads/${branch}`, target });
}
async function update2(updating) {
  const { context, pull, base, head, caller, isRebase } = updating;
  const [headGit, baseGit] = [context.git.open(head.repository.id), context.git.open(base.id)];
  await withPush(context, { ...head, pusher: caller }, async () => {
    await borrowBase(headGit, baseGit, pull.base_branch);
    const onto = found(await readBranch(baseGit, pull.base_branch), "the base branch is gone");
    const tip = found(await readBranch(headGit, pull.head_branch), "the head branch is gone");
    const mergeBase = await findMergeBase(headGit, onto.id, tip.id);
    if (mergeBase === onto.id) throw new ForgeProblem(409, `HeadBranch of PR ${pull.number} is up to date`);
    const committer = {
      name: caller.full_name || caller.name,
      email: caller.email || noReplyAddress(caller),
      seconds: secondsOf(context.clock()),
      zone: "+0000"
    };
    const message = `Merge branch '${pull.base_branch}' into ${pull.head_branch}
`;
    const common = { mergeBase: mergeBase ?? onto.id, message, committer };
    const after = isRebase ? await makeMerge(headGit, "rebase", { ...common, base: onto, head: tip }) : await makeMerge(headGit, "merge", { ...common, base: tip, head: onto });
    const way = isRebase ? "rebase" : "merge";
    if (after === void 0) throw new ForgeProblem(409, `${way} failed because of conflict`);
    const ref = `refs/heads/${pull.head_branch}`;
    await guardMove({ db: context.db, ...head, user: caller, git: headGit }, { ref, before: tip.id, after });
    if (!await moveRefs(headGit, [{ name: ref, before: tip.id, after }])) {
      throw new ForgeProblem(409, "the head branch was moved meanwhile");
    }
    return { result: void 0, changes: [{ ref, before: tip.id, after }] };
  });
}
var pullBranchHandlers = defineHandlers({
  async getPullDiff({ context, params, query, ...target }) {
    const kind = params.diffType;
    if (kind !== "diff" && kind !== "patch") throw new ForgeProblem(404, "not found");
    const { pull: before } = findPull(context, target, params.index);
    if (before.status === "checking") await checkPull(context, before.id);
    const { pull } = findPull(context, target, params.index);
    const git = context.git.open(target.repository.id);
    return await readDiff(git, pull.merge_base, pull.head_sha, { kind, binary: query.binary ?? false });
  },
  async updatePull({ context, params, query, caller, repository, owner, permission }) {
    const { pull, issue } = findPull(context, { repository, owner, permission }, params.index);
    if (pull.is_merged === 1) throw new ForgeProblem(422, "pull request is already merged");
    if (issue.is_closed === 1) throw new ForgeProblem(422, "pull request is already closed");
    const isRebase = query.style === "rebase";
    const updating = { context, pull, base: repository, head: headOf(context, pull), caller, isRebase };
    guardUpdate(updating, reaches(permission, "write"));
    await update2(updating);
    return void 0;
  }
});

// src/forge/status-rows.ts
var newest = (
  /* sql */
  `
SELECT max(number) FROM commit_statuses WHERE repo_id = ?1 AND sha = ?2 GROUP BY context ORDER BY max(number) DESC`
);
function latestStatuses(db, repositoryId, sha, page2 = { limit: -1, offset: 0 }) {
  return db.all(
    `SELECT * FROM commit_statuses WHERE repo_id = ?1 AND sha = ?2 AND number IN (${newest} LIMIT ?3 OFFSET ?4)
     ORDER BY id`,
    repositoryId,
    sha,
    page2.limit,
    page2.offset
  );
}
function combineStates(states) {
  if (states.some((state) => ["error", "failure", "warning"].includes(state))) return "failure";
  const passed = states.filter((state) => state === "success" || state === "skipped");
  return states.length > 0 && passed.length === states.length ? "success" : "pending";
}

// src/forge/enforcement-merge.ts
function guardMerger(place, user, branch) {
  const rule = findBranchRule(place.db, place.repository.id, branch);
  if (!mayMerge(place, rule, user)) throw new ForgeProblem(405, "User not allowed to merge PR");
}
async function guardConditions(merging) {
  const rule = findBranchRule(merging.db, merging.repository.id, merging.pull.base_branch);
  const unmet = rule && await unmetCondition(merging, rule);
  if (!rule || unmet === void 0) return;
  if (merging.isForced && mayBypass(merging, rule, merging.user)) return;
  throw new ForgeProblem(405, `not ready to merge: ${unmet}`);
}
async function unmetCondition({ git, ...place }, rule) {
  const { pull } = place;
  if (rule.enable_status_check && !passesChecks(place, rule))
    return "a required status check is not successful";
  if (countApprovals(place, rule) < rule.required_approvals) return "it has not enough approvals";
  if (rule.block_on_rejected_reviews && hasOfficial(place, "REQUEST_CHANGES")) return "changes are requested";
  if (rule.block_on_official_review_requests && hasOfficial(place, "REQUEST_REVIEW")) {
    return "an official review is still requested";
  }
  if (rule.block_on_outdated_branch && !await isAncestor(git, pull.base_sha, pull.head_sha)) {
    return "the head branch is behind the base branch";
  }
  const isProtected = compileFilePatterns(rule.protected_file_patterns);
  const held = isProtected && (await listChangedPaths(git, pull.merge_base, pull.head_sha)).find(isProtected);
  return held === void 0 ? void 0 : `it changes the protected file ${held}`;
}
function passesChecks({ db, repository, pull }, rule) {
  const statuses3 = latestStatuses(db, repository.id, pull.head_sha);
  const patterns = rule.status_check_contexts ?? [];
  if (patterns.length === 0) return combineStates(statuses3.map(({ state }) => state)) === "success";
  const matchers = patterns.flatMap((pattern) => compileForgeGlob(pattern, "") ?? []);
  const areMet = matchers.every((matches) => statuses3.some(({ context }) => matches(context)));
  const asked = statuses3.filter(({ context }) => matchers.some((matches) => matches(context)));
  return areMet && combineStates(asked.map(({ state }) => state)) === "success";
}
function countApprovals({ db, pull }, rule) {
  const sql = `SELECT count(*) AS count FROM reviews WHERE issue_id = ? AND type = 'APPROVED' AND official = 1
    AND dismissed = 0 AND (? = 0 OR stale = 0)`;
  return db.get(sql, pull.issue_id, rule.ignore_stale_approvals)?.count ?? 0;
}
function hasOfficial({ db, pull }, type) {
  const sql = `SELECT 1 AS one FROM reviews WHERE issue_id = ? AND type = ? AND official = 1 AND dismissed = 0 LIMIT 1`;
  return db.get(sql, pull.issue_id, type) !== void 0;
}

// src/forge/pull-merge.ts
var permits = {
  merge: "allow_merge_commits",
  rebase: "allow_rebase",
  "rebase-merge": "allow_rebase_explicit",
  squash: "allow_squash_merge",
  "fast-forward-only": "allow_fast_forward_only_merge",
  "manually-merged": "allow_manual_merge"
};
var pullMergeHandlers = defineHandlers({
  isPullMerged({ context, params, ...target }) {
    const { pull } = findPull(context, target, params.index);
    if (pull.is_merged === 0) throw new ForgeProblem(404, "not found");
    return void 0;
  },
  async mergePull({ params, body, ...place }) {
    const { context } = place;
    const style = readStyle(body.do || body.Do || "");
    const { pull } = findPull(context, place, params.index);
    await (style === "manually-merged" ? recordMerge2(place, params.index, body.merge_commit_id ?? "") : mergeBranch(place, params.index, style, body));
    const actor = place.caller;
    tellClosed(context, { ...place, actor }, pull);
    const merged = findPull(context, place, params.index).pull;
    context.db.transaction(() => closeByMerge(context, { ...place, actor }, merged));
    if (body.delete_branch_after_merge) await removeHead(place, findPull(context, place, params.index));
    return void 0;
  }
});
function readStyle(text) {
  const style = [...mergeStyles, "manually-merged"].find((known2) => known2 === text);
  if (style === void 0) throw new ForgeProblem(422, "[Do]: In(merge,rebase,rebase-merge,squash,\u2026)");
  return style;
}
function guardMerge(place, number, style) {
  const both = findPull(place.context, place, number);
  const { pull, issue } = both;
  if (pull.is_merged === 1) throw new ForgeProblem(405, "The PR is already merged");
  if (issue.is_closed === 1) throw new ForgeProblem(404, "The PR is closed");
  guardMerger({ ...place, db: place.context.db }, place.caller, pull.base_branch);
  const isRecord2 = style === "manually-merged";
  if (!isRecord2 && isDraftTitle(issue.title)) {
    throw new ForgeProblem(405, "Work in progress PRs cannot be merged");
  }
  if (settingsOf(place.repository)[permits[style]] !== true) {
    throw new ForgeProblem(405, `Invalid merge style: ${style}`);
  }
  return both;
}
async function mergeBranch(place, number, style, wish) {
  const { context, repository, owner, caller } = place;
  const git = context.git.open(repository.id);
  await withPush(context, { repository, owner, pusher: caller }, async () => {
    const both = guardMerge(place, number, style);
    const { pull } = both;
    if (wish.head_commit_id && wish.head_commit_id !== pull.head_sha) {
      throw new ForgeProblem(409, "head out of date");
    }
    const base = found(await readBranch(git, pull.base_branch));
    const head = found(await readCommit(git, pull.head_sha));
    const mergeBase = await findMergeBase(git, base.id, head.id) ?? base.id;
    const isForced = wish.force_merge === true;
    const now = { ...pull, base_sha: base.id, merge_base: mergeBase };
    await guardConditions({ ...place, db: context.db, git, pull: now, user: caller, isForced });
    refuseBlocked(context, repository, both.issue.id);
    const message = messageOf3(both, style, wish);
    const committer = {
      name: caller.full_name || caller.name,
      email: caller.email || noReplyAddress(caller),
      seconds: secondsOf(context.clock()),
      zone: "+0000"
    };
    const after = await makeMerge(git, style, { base, head, mergeBase, message, committer });
    if (after === void 0) throw new ForgeProblem(405, "Please try again later");
    const ref = `refs/heads/${pull.base_branch}`;
    if (!await moveRefs(git, [{ name: ref, before: base.id, after }])) {
      throw new ForgeProblem(409, "the base branch was moved meanwhile");
    }
    markMerged(context, pull, { commit: after, base: after, merger: caller });
    return { result: void 0, changes: [{ ref, before: base.id, after }] };
  });
}
async function recordMerge2(place, number, commitId) {
  const { context, repository, caller } = place;
  const git = context.git.open(repository.id);
  await context.git.exclusively(repository.id, "refs", async () => {
    const { pull } = guardMerge(place, number, "manually-merged");
    const base = found(await readBranch(git, pull.base_branch));
    const commit = await findOnBase(place, commitId, base);
    markMerged(context, pull, { commit: commit.id, base: base.id, merger: caller });
  });
}
async function findOnBase({ context, repository }, id, base) {
  const git = context.git.open(repository.id);
  const isId = /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(id);
  const commit = isId ? await readCommit(git, id) : void 0;
  if (commit === void 0 || !await isAncestor(git, commit.id, base.id)) {
    throw new ForgeProblem(409, "Wrong commit ID");
  }
  return commit;
}
function messageOf3({ issue, pull }, style, wish) {
  const from = pull.head_branch;
  const title = style === "squash" ? `${issue.title} (#${issue.number})` : `Merge pull request '${issue.title}' (#${issue.number}) from ${from} into ${pull.base_branch}`;
  const body = wish.merge_message_field?.trim() ? `

${wish.merge_message_field.trim()}` : "";
  return `${wish.merge_title_field?.trim() || title}${body}
`;
}
async function removeHead(place, { pull }) {
  const { context, repository, owner, caller } = place;
  if (pull.head_repo_id !== repository.id || pull.head_branch === repository.default_branch) return;
  const others = context.db.get(
    `SELECT 1 AS one FROM pulls p JOIN issues i ON i.id = p.issue_id
     WHERE i.is_closed = 0 AND p.head_repo_id = ? AND p.head_branch = ?`,
    repository.id,
    pull.head_branch
  );
  if (others !== void 0 || findBranchRule(context.db, repository.id, pull.head_branch)) return;
  const git = context.git.open(repository.id);
  await withPush(context, { repository, owner, pusher: caller }, async () => {
    const ref = `refs/heads/${pull.head_branch}`;
    const before = (await readBranch(git, pull.head_branch))?.id;
    const isGone = before !== void 0 && await moveRefs(git, [{ name: ref, before, after: void 0 }]);
    if (isGone) context.db.run("UPDATE pulls SET is_head_gone = 1 WHERE id = ?", pull.id);
    return { result: void 0, changes: isGone ? [{ ref, before, after: void 0 }] : [] };
  });
}

// src/forge/review-requests.ts
function findReviewers(context, owner, named) {
  const { db } = context;
  const people = (named.reviewers ?? []).map(
    (name) => found(name.includes("@") ? accountByEmail(db, name) : userNamed(db, name), `user doesn't exist: ${name}`)
  );
  if (owner.type !== "organization") return { people, teams: [] };
  const teams = (named.team_reviewers ?? []).map((name) => {
    const sql = "SELECT * FROM teams WHERE org_id = ? AND lower_name = ?";
    return found(db.get(sql, owner.id, name.toLowerCase()), `team doesn't exist: ${name}`);
  });
  return { people, teams };
}
function guardRequest(context, place, both, user) {
  const { db } = context;
  const { repository, owner } = place;
  if (user.type === "organization") throw invalid("an organization cannot review");
  if (permissionOf(db, user, repository, owner, "pulls") === "none")
    throw invalid(`${user.name} cannot read it`);
  if (user.id === both.issue.poster_id) throw invalid("the author cannot review");
  if (!mayChoose(context, place, both)) throw invalid("you may not choose reviewers");
}
function requestReview(context, place, both, user) {
  guardRequest(context, place, both, user);
  const { db } = context;
  const last = lastOpinion(db, both.issue.id, user.id);
  if (last?.type === "REQUEST_REVIEW") return void 0;
  if (last && both.issue.is_closed === 1)
    throw new ForgeProblem(403, "a closed pull request needs no review");
  const official = isOfficial(context, place, both.pull, user);
  if (official) {
    db.run("UPDATE reviews SET official = 0 WHERE issue_id = ? AND reviewer_id = ?", both.issue.id, user.id);
  }
  const review = insertRequest(context, both, { reviewerId: user.id, official });
  announce(context, place, both, { user, action: "review_requested" });
  return review;
}
function cancelRequest(context, place, both, user) {
  const { db } = context;
  const last = lastOpinion(db, both.issue.id, user.id);
  const isOwn = last?.type === "REQUEST_REVIEW" && user.id === place.actor.id;
  if (user.type === "organization") throw invalid("an organization cannot review");
  if (!isOwn && !mayChoose(context, place, both)) throw invalid("you may not remove reviewers");
  if (last?.type !== "REQUEST_REVIEW") return;
  db.run("DELETE FROM reviews WHERE id = ?", last.id);
  if (isOfficial(context, place, both.pull, user)) restoreOfficial(db, both.issue.id, user.id);
  announce(context, place, both, { user, action: "review_request_removed" });
}
function requestTeamReview(context, place, both, team) {
  const { db } = context;
  if (place.repository.is_private === 1 && !hasRepository2(context, team, place.repository.id)) {
    throw invalid(`the team ${team.name} cannot read it`);
  }
  if (!mayChoose(context, place, both)) throw invalid("you may not choose reviewers");
  if (findTeamRequest(context, both, team)) return void 0;
  const official = isOfficialTeam(context, both, team) || isOfficial(context, place, both.pull, place.actor);
  const review = insertRequest(context, both, { teamId: team.id, official });
  const members2 = db.all(
    "SELECT u.* FROM team_members m JOIN users u ON u.id = m.user_id WHERE m.team_id = ? AND u.id <> ? ORDER BY u.id",
    team.id,
    both.issue.poster_id
  );
  for (const user of members2) announce(context, place, both, { user, action: "review_requested" });
  return review;
}
function cancelTeamRequest(context, place, both, team) {
  if (!mayChoose(context, place, both)) throw invalid("you may not remove reviewers");
  const request2 = findTeamRequest(context, both, team);
  if (request2) context.db.run("DELETE FROM reviews WHERE id = ?", request2.id);
}
function invalid(reason) {
  return new ForgeProblem(422, `not a valid review request: ${reason}`);
}
function mayChoose({ db }, { repository, actor }, { issue }) {
  if (repository.archived_at > 0) return false;
  if (actor.id === issue.poster_id || actor.id === repository.owner_id) return true;
  const sql = `SELECT 1 AS one FROM collaborators WHERE repo_id = ?1 AND user_id = ?2
    UNION SELECT 1 FROM team_members m JOIN teams t ON t.id = m.team_id
    WHERE m.user_id = ?2 AND m.org_id = ?3 AND ${reachesUnit("pulls")}
      AND (t.includes_all_repositories = 1
        OR EXISTS (SELECT 1 FROM team_repositories r WHERE r.team_id = t.id AND r.repo_id = ?1)) LIMIT 1`;
  return db.get(sql, repository.id, actor.id, repository.owner_id) !== void 0;
}
function hasRepository2({ db }, team, repositoryId) {
  if (team.includes_all_repositories === 1) return true;
  const sql = "SELECT 1 AS one FROM team_repositories WHERE team_id = ? AND repo_id = ?";
  return db.get(sql, team.id, repositoryId) !== void 0;
}
function isOfficialTeam({ db }, { pull }, team) {
  const rule = findBranchRule(db, pull.repo_id, pull.base_branch);
  if (!rule) return false;
  if (rule.enable_approvals_whitelist) return rule.teams.approvals.includes(team.id);
  const units = JSON.parse(team.units_map);
  const isWhole = Object.keys(units).length === 0 || reaches(team.permission, "admin");
  const held = isWhole ? team.permission : units["repo.code"];
  return held === "write" || held === "admin" || held === "owner";
}
function findTeamRequest({ db }, { issue }, team) {
  const sql = "SELECT * FROM reviews WHERE issue_id = ? AND team_id = ? ORDER BY id DESC LIMIT 1";
  return db.get(sql, issue.id, team.id);
}
function insertRequest({ db, clock }, { issue }, given) {
  const now = secondsOf(clock());
  const { lastId } = db.run(
    `INSERT INTO reviews (issue_id, reviewer_id, team_id, type, official, created_at, updated_at)
     VALUES (?, ?, ?, 'REQUEST_REVIEW', ?, ?, ?)`,
    issue.id,
    given.reviewerId,
    given.teamId,
    given.official,
    now,
    now
  );
  return readReview(db, lastId);
}
function announce(context, place, { issue }, {
  user,
  action
}) {
  const event = { type: "pull_request_review_request", action, requestedReviewer: user };
  emitPull(context, place, issue.id, event);
  if (action === "review_requested")
    notifyPersons(context, { ...place, issueId: issue.id, receivers: [user] });
}

// src/forge/pull-create.ts
async function openPull(place, text) {
  const { context, repository } = place;
  if (text.head === text.base) {
    throw new ForgeProblem(422, "Invalid PullRequest: There are no changes between the head and the base");
  }
  const head = findHead(context, place, text.head, place.caller);
  await requireBranch(context, repository.id, text.base);
  await requireBranch(context, head.repository.id, head.name);
  guardOpener(place, head);
  return await context.git.exclusively(repository.id, "pulls", async () => {
    refuseDouble(place, head, text.base);
    const issue = await insertPull(place, head, text, findWanted(place, text));
    return issue;
  });
}
async function requireBranch(context, repositoryId, name) {
  const resolved = found(
    await resolveRef(context.git.open(repositoryId), name),
    `branch does not exist [name: ${name}]`
  );
  if (resolved.kind !== "branch") throw new ForgeProblem(422, `${name} is a ${resolved.kind}, not a branch`);
}
function guardOpener({ context, repository, owner, permission, caller }, head) {
  const { db } = context;
  if (reaches(permission, "write")) return;
  const sql = "SELECT 1 AS one FROM collaborators WHERE repo_id = ? AND user_id = ?";
  if (db.get(sql, repository.id, caller.id) !== void 0) return;
  if (owner.type === "organization" && isMember(db, owner, caller)) return;
  if (reaches(head.permission, "write")) return;
  throw new ForgeProblem(403, "user should be a collaborator of the base or a writer of the head");
}
function refuseDouble({ context, repository }, head, base) {
  const branches = { baseId: repository.id, base, headId: head.repository.id, head: head.name };
  const number = findByBranches(context, branches, { openOnly: true });
  if (number === void 0) return;
  throw new ForgeProblem(
    409,
    `pull request already exists for these targets [index: ${number}, head: ${head.name}, base: ${base}]`
  );
}
function findWanted(place, text) {
  const { context, repository } = place;
  const names = [...text.assignees ?? [], ...text.assignee ? [text.assignee] : []];
  const milestoneId = text.milestone || void 0;
  if (milestoneId !== void 0 && !hasMilestone(context, repository, milestoneId)) {
    throw new ForgeProblem(404, "milestone does not exist");
  }
  return {
    labels: findLabels(context, place, text.labels ?? []),
    assignees: findAssignees(context, place, names),
    reviewers: findReviewers(context, place.owner, {
      ...text,
      reviewers: [...new Set((text.reviewers ?? []).map((name) => name.toLowerCase()))]
    }),
    milestoneId,
    dueAt: parseInstant(text.due_date)
  };
}
async function insertPull(place, head, text, wanted) {
  const { context, repository, caller } = place;
  const { db, git } = context;
  const { milestoneId, dueAt } = wanted;
  const issue = db.transaction(() => {
    const row = insertIssue(context, {
      repository,
      poster: caller,
      title: text.title,
      body: text.body,
      isPull: true,
      milestoneId,
      dueAt
    });
    insertRow(place, head, text, row);
    attachLabels(context, row.id, wanted.labels);
    attachAssignees(context, row.id, wanted.assignees);
    return row;
  });
  const [baseGit, headGit] = [git.open(repository.id), git.open(head.repository.id)];
  try {
    await keepHead(baseGit, headGit, { number: issue.number, head_branch: head.name });
    const [base, tip] = [await resolveRef(baseGit, text.base), await resolveRef(headGit, head.name)];
    const seen2 = await inspectPull(baseGit, base?.commit.id ?? "", tip?.commit.id ?? "");
    db.run(
      `UPDATE pulls SET base_sha = ?, head_sha = ?, merge_base = ?, additions = ?, deletions = ?, changed_files = ?
       WHERE issue_id = ?`,
      base?.commit.id ?? "",
      tip?.commit.id ?? "",
      seen2.merge_base,
      seen2.additions,
      seen2.deletions,
      seen2.changed_files,
      issue.id
    );
    const both = findPull(context, place, issue.number);
    const asking = { ...place, actor: caller };
    for (const user of wanted.reviewers.people) guardRequest(context, asking, both, user);
    db.transaction(() => {
      announce2(place, issue, wanted);
      db.run("UPDATE pulls SET status = ? WHERE issue_id = ?", seen2.status, issue.id);
    });
    return issue;
  } catch (error) {
    if (!(error instanceof ForgeProblem)) db.run("DELETE FROM issues WHERE id = ?", issue.id);
    throw error;
  }
}
function insertRow({ context, repository }, head, text, issue) {
  const mayEdit = text.allow_maintainer_edit ?? settingsOf(repository).default_allow_maintainer_edit;
  const row = {
    issue_id: issue.id,
    repo_id: repository.id,
    number: issue.number,
    base_branch: text.base,
    head_repo_id: head.repository.id,
    head_branch: head.name
  };
  context.db.run(
    `INSERT INTO pulls (issue_id, repo_id, number, base_branch, head_repo_id, head_branch, head_sha, merge_base,
       allow_maintainer_edit) VALUES (?, ?, ?, ?, ?, ?, '', '', ?)`,
    ...Object.values(row),
    mayEdit
  );
}
function announce2(place, issue, wanted) {
  const { context, caller } = place;
  const scene = { ...place, actor: caller, issueId: issue.id };
  const both = findPull(context, place, issue.number);
  const asking = { ...place, actor: caller };
  for (const user of wanted.reviewers.people) requestReview(context, asking, both, user);
  for (const team of wanted.reviewers.teams) requestTeamReview(context, asking, both, team);
  announceIssue(context, scene, { action: "opened" });
  notifyOpened(context, scene);
  if (wanted.labels.length > 0) announceIssue(context, scene, { topic: "label", action: "label_updated" });
  if (wanted.milestoneId) announceIssue(context, scene, { topic: "milestone", action: "milestoned" });
  announceAssignees(context, scene, wanted.assignees);
}

// src/forge/pull-edit.ts
async function changePull(place, number, edit2) {
  const { context, repository } = place;
  await context.git.exclusively(repository.id, "pulls", async () => {
    const pull = findPull(context, place, number);
    const retarget = await planRetarget(place, pull, edit2.base);
    context.db.transaction(() => {
      applyTexts(place, pull, edit2);
      if (reaches(place.permission, "write")) applyAsWriter(place, pull, edit2);
      if (edit2.state !== void 0) applyState(place, pull, edit2.state);
      retarget?.();
      if (edit2.allow_maintainer_edit !== void 0) {
        const sql = "UPDATE pulls SET allow_maintainer_edit = ? WHERE id = ?";
        context.db.run(sql, edit2.allow_maintainer_edit, pull.pull.id);
      }
    });
  });
}
function sceneOf2(place, { issue }) {
  return { ...place, actor: place.caller, issueId: issue.id };
}
function applyTexts(place, pull, edit2) {
  const { context } = place;
  if (edit2.title) changeTitle(context, sceneOf2(place, pull), edit2.title);
  if (edit2.body !== void 0) changeBody(context, sceneOf2(place, pull), edit2.body, edit2.content_version);
}
function applyAsWriter(place, pull, edit2) {
  const { context } = place;
  const scene = sceneOf2(place, pull);
  if (edit2.unset_due_date) changeDueDate(context, scene, 0);
  else if (edit2.due_date !== void 0) changeDueDate(context, scene, parseInstant(edit2.due_date) ?? 0);
  if (edit2.assignees !== void 0 || edit2.assignee) {
    const names = [...edit2.assignees ?? [], ...edit2.assignee ? [edit2.assignee] : []];
    changeAssignees(context, scene, findAssignees(context, place, names));
  }
  if (edit2.milestone) changeMilestone(context, scene, edit2.milestone);
  if (edit2.labels !== void 0) {
    replaceLabels(context, scene.issueId, findLabels(context, place, edit2.labels));
  }
}
function applyState(place, { issue, pull }, state) {
  if (pull.is_merged === 1) throw new ForgeProblem(412, "cannot change state of a merged pull request");
  changeState(place.context, sceneOf2(place, { issue, pull }), state);
}
function refuseDouble2({ context, repository }, { pull }, base) {
  const branches = {
    baseId: repository.id,
    base,
    headId: pull.head_repo_id ?? 0,
    head: pull.head_branch
  };
  const number = findByBranches(context, branches, { openOnly: true });
  if (number === void 0 || number === pull.number) return;
  throw new ForgeProblem(409, `pull request already exists for these targets [index: ${number}]`);
}
async function planRetarget(place, { issue, pull }, base) {
  const { context, repository } = place;
  if (!base || base === pull.base_branch) return void 0;
  if (pull.is_merged === 1) throw new ForgeProblem(409, "a merged pull request keeps its base");
  if (issue.is_closed === 1) throw new ForgeProblem(422, "cannot change the base of a closed pull request");
  const git = context.git.open(repository.id);
  const tip = found(await readBranch(git, base), `new base '${base}' not exist`);
  refuseDouble2(place, { issue, pull }, base);
  const isItsOwn = pull.head_repo_id === repository.id && pull.head_branch === base;
  if (isItsOwn) throw new ForgeProblem(422, "the base must not be the head");
  const seen2 = await inspectPull(git, tip.id, pull.head_sha);
  return () => {
    context.db.run(
      `UPDATE pulls SET base_branch = ?, base_sha = ?, merge_base = ?, additions = ?, deletions = ?, changed_files = ?,
         status = ? WHERE id = ?`,
      base,
      tip.id,
      seen2.merge_base,
      seen2.additions,
      seen2.deletions,
      seen2.changed_files,
      seen2.status,
      pull.id
    );
    recountOfficial(context, place, issue.id);
    const event = { type: "pull_request", action: "edited", changes: { ref: base } };
    emitPull(context, { ...place, actor: place.caller }, issue.id, event);
  };
}

// src/forge/pulls.ts
var pullHandlers = defineHandlers({
  listPulls(call) {
    const { context, query, page: page2, caller, reply } = call;
    const { pulls, total } = listPullRows(context, call, query, page2);
    reply.total(total);
    return toPulls(context, pulls, { ...call, viewer: caller });
  },
  getPull: async (call) => {
    const { issue } = await findChecked(call.context, call, call.params.index);
    return toPull(call.context, issue, { ...call, viewer: call.caller });
  },
  async getPullByBranches(call) {
    const { context, params, caller } = call;
    const head = findHead(context, call, params.head, caller);
    const branches = {
      baseId: call.repository.id,
      base: params.base,
      headId: head.repository.id,
      head: head.name
    };
    const number = found(findByBranches(context, branches, { openOnly: false }));
    const { issue } = await findChecked(context, call, number);
    return toPull(context, issue, { ...call, viewer: caller });
  },
  async createPull(call) {
    const issue = await openPull(call, call.body);
    const { issue: row } = findPull(call.context, call, issue.number);
    return toPull(call.context, row, { ...call, viewer: call.caller });
  },
  async editPull(call) {
    const { context, params, caller } = call;
    requireAuthorOrWriter(call, caller, findPull(context, call, params.index).issue.poster_id);
    await changePull(call, params.index, call.body);
    return toPull(context, findPull(context, call, params.index).issue, { ...call, viewer: caller });
  },
  async listPullFiles({ context, params, page: page2, reply, ...target }) {
    const { pull } = await findChecked(context, target, params.index);
    const git = context.git.open(target.repository.id);
    const changes = await listChanges(git, pull.merge_base, pull.head_sha);
    tellPage(reply, page2, changes.length);
    const address = addressOf(context.rootUrl(), target.owner.name, target.repository.name);
    const ends = { base: pull.merge_base, head: pull.head_sha };
    return changes.slice(page2.offset, page2.offset + page2.limit).map((change) => toChangedFile(address, change, ends));
  },
  async listPullCommits({ context, params, page: page2, reply, caller, ...target }) {
    const { pull } = await findChecked(context, target, params.index);
    const git = context.git.open(target.repository.id);
    const stretch = { from: pull.merge_base, to: pull.head_sha };
    tellPage(reply, page2, await countCommits(git, stretch));
    const commits = await listCommits(git, stretch, { skip: page2.offset, limit: page2.limit });
    const address = addressOf(context.rootUrl(), target.owner.name, target.repository.name);
    return toEntries(git, commits, (commit) => toEntry(context, address, commit, caller));
  }
});
async function findChecked(context, target, number) {
  const { pull } = findPull(context, target, number);
  if (pull.status === "checking") await checkPull(context, pull.id);
  return findPull(context, target, number);
}
function tellPage(reply, page2, total) {
  reply.total(total);
  const last = Math.ceil(total / page2.limit);
  reply.header("X-Page", String(page2.page));
  reply.header("X-PerPage", String(page2.limit));
  reply.header("X-PageCount", String(last));
  reply.header("X-HasMore", String(page2.page < last));
}

// src/forge/repositories.ts
function rename3(context, { repository, owner }, name) {
  const { db } = context;
  const lower2 = name.toLowerCase();
  assertRepositoryName(name);
  if (lower2 !== repository.lower_name) {
    if (isTaken(context, owner, name))
      throw new ForgeProblem(422, `repo name is already taken [name: ${name}]`);
    db.run("DELETE FROM redirects WHERE owner_id = ? AND lower_name = ?", owner.id, lower2);
    db.run(
      "INSERT OR REPLACE INTO redirects (owner_id, lower_name, repo_id) VALUES (?, ?, ?)",
      owner.id,
      repository.lower_name,
      repository.id
    );
  }
  db.run("UPDATE repositories SET name = ?, lower_name = ? WHERE id = ?", name, lower2, repository.id);
}
function updateRepository2(context, target, edit2, branch) {
  const { repository } = target;
  const now = secondsOf(context.clock());
  if (edit2.name !== void 0 && edit2.name !== repository.name) rename3(context, target, edit2.name);
  if (edit2.private && !repository.is_private)
    context.db.run("DELETE FROM stars WHERE repo_id = ?", repository.id);
  const archivedAt = edit2.archived ?? repository.archived_at > 0 ? repository.archived_at || now : 0;
  context.db.run(
    `UPDATE repositories SET description = ?, website = ?, is_private = ?, is_template = ?, archived_at = ?,
       default_branch = ?, settings = ?, updated_at = ? WHERE id = ?`,
    edit2.description ?? repository.description,
    edit2.website ?? repository.website,
    edit2.private ?? repository.is_private,
    edit2.template ?? repository.is_template,
    archivedAt,
    branch,
    mergeSettings(repository, edit2),
    now,
    repository.id
  );
}
async function branchAfter(context, repository, wanted) {
  if (!wanted || wanted === repository.default_branch) return repository.default_branch;
  const exists = await readBranch(context.git.open(repository.id), wanted);
  if (!exists && !repository.is_empty) return repository.default_branch;
  await context.git.setDefaultBranch(repository.id, wanted);
  return wanted;
}
var sharedIds = (
  /* sql */
  `
SELECT repo_id AS id FROM collaborators WHERE user_id = ?1
UNION SELECT r.id FROM team_members m JOIN teams t ON t.id = m.team_id AND t.includes_all_repositories = 1
  JOIN repositories r ON r.owner_id = m.org_id WHERE m.user_id = ?1
UNION SELECT x.repo_id FROM team_members m JOIN team_repositories x ON x.team_id = m.team_id WHERE m.user_id = ?1`
);
var ownInOrder = (
  /* sql */
  `
SELECT id, lower_name FROM repositories WHERE owner_id = ?1
UNION ALL
SELECT id, lower_name FROM repositories WHERE id IN (${sharedIds}) AND owner_id <> ?1
ORDER BY lower_name, id`
);
var countOwn = (
  /* sql */
  `
SELECT (SELECT count(*) FROM repositories WHERE owner_id = ?1)
  + (SELECT count(*) FROM repositories WHERE id IN (${sharedIds}) AND owner_id <> ?1) AS count`
);
var repositoryHandlers = defineHandlers({
  getRepository: (call) => toRepository(call.context, call.repository, { ...call, viewer: call.caller }),
  async createRepository({ context, caller, body }) {
    const repository = await createRepository(context, caller, caller, body);
    return toRepository(context, repository, { owner: caller, viewer: caller });
  },
  async createOrganizationRepository({ context, organization, caller, body }) {
    const { db } = context;
    if (!canCreateRepositoryIn(db, organization, caller)) {
      throw new ForgeProblem(403, "Given user is not allowed to create repository in organization.");
    }
    const repository = await createRepository(context, organization, caller, body);
    if (!reaches(permissionOf(db, caller, repository, organization), "admin")) {
      db.run(
        `INSERT INTO collaborators (repo_id, user_id, permission, created_at) VALUES (?, ?, 'admin', ?)`,
        repository.id,
        caller.id,
        secondsOf(context.clock())
      );
    }
    return toRepository(context, repository, { owner: organization, viewer: caller });
  },
  async editRepository(call) {
    const { context, repository, owner, caller, body } = call;
    const branch = await branchAfter(context, repository, body.default_branch);
    const edited = context.db.transaction(() => {
      updateRepository2(context, call, body, branch);
      return found(context.db.get("SELECT * FROM repositories WHERE id = ?", repository.id));
    });
    return toRepository(context, edited, { owner, viewer: caller });
  },
  deleteRepository({ context, repository, owner, caller }) {
    removeRepository(context, { repository, owner, actor: caller });
    return void 0;
  },
  listOrganizationRepositories({ context, organization, caller, page: page2, reply }) {
    const { db } = context;
    const open3 = caller ? "" : "AND is_private = 0";
    const count = `SELECT count(*) AS count FROM repositories WHERE owner_id = ? ${open3}`;
    reply.total(db.get(count, organization.id)?.count ?? 0);
    const readable = readableCondition(caller);
    const rows = db.all(
      `SELECT r.* FROM (SELECT * FROM repositories WHERE owner_id = ? ${open3} ORDER BY id LIMIT ? OFFSET ?) r
       JOIN users o ON o.id = r.owner_id WHERE ${readable.sql} ORDER BY r.id`,
      organization.id,
      page2.limit,
      page2.offset,
      ...readable.values
    );
    return toRepositories(context, rows, caller);
  },
  listUserRepositories({ context, account, caller, page: page2, reply }) {
    const { db } = context;
    const readable = readableCondition(caller);
    const from = `FROM repositories r JOIN users o ON o.id = r.owner_id WHERE r.owner_id = ? AND ${readable.sql}`;
    const values = [account.id, ...readable.values];
    reply.total(db.get(`SELECT count(*) AS count ${from}`, ...values)?.count ?? 0);
    const sql = `SELECT r.* ${from} ORDER BY r.id LIMIT ? OFFSET ?`;
    return toRepositories(context, db.all(sql, ...values, page2.limit, page2.offset), caller);
  },
  listOwnRepositories({ context, caller, page: page2, reply }) {
    const { db } = context;
    reply.total(db.get(countOwn, caller.id)?.count ?? 0);
    const rows = db.all(
      `SELECT r.* FROM (${ownInOrder} LIMIT ?2 OFFSET ?3) p JOIN repositories r ON r.id = p.id
       ORDER BY p.lower_name, p.id`,
      caller.id,
      page2.limit,
      page2.offset
    );
    return toRepositories(context, rows, caller);
  }
});

// src/forge/resources/review.ts
function toReviews(context, reviews, issue, place) {
  const users = loadUsers(context, idsOf2(reviews.map((review) => review.reviewer_id)));
  const counts = countComments(context, reviews);
  const address = issueAddress(context, issue, place);
  return reviews.map((review) => ({
    id: review.id,
    user: shapeOf(context, users, review.reviewer_id, place.viewer),
    team: review.team_id === null ? null : findTeam2(context, review.team_id),
    state: review.type,
    body: review.body,
    commit_id: review.commit_id,
    stale: review.stale === 1,
    official: review.official === 1,
    dismissed: review.dismissed === 1,
    comments_count: counts.get(review.id) ?? 0,
    submitted_at: toInstant(review.created_at),
    updated_at: toInstant(review.updated_at),
    // A request has no place in the discussion.
    html_url: review.comment_id === 0 ? "" : `${address}#issuecomment-${review.comment_id}`,
    pull_request_url: address
  }));
}
function toReviewComments(context, comments, issue, place) {
  const people = comments.flatMap(({ poster_id, resolver_id }) => [poster_id, resolver_id]);
  const users = loadUsers(context, idsOf2(people));
  const address = issueAddress(context, issue, place);
  return comments.map((comment) => ({
    id: comment.id,
    body: comment.body,
    user: shapeOf(context, users, comment.poster_id, place.viewer),
    resolver: shapeOf(context, users, comment.resolver_id, place.viewer),
    pull_request_review_id: comment.review_id,
    created_at: toInstant(comment.created_at),
    updated_at: toInstant(comment.updated_at),
    path: comment.path,
    commit_id: comment.commit_id,
    original_commit_id: "",
    diff_hunk: comment.diff_hunk,
    position: Math.max(0, comment.line),
    original_position: Math.max(0, -comment.line),
    html_url: `${address}#issuecomment-${comment.id}`,
    pull_request_url: address
  }));
}
function idsOf2(ids) {
  return ids.filter((id) => id !== null);
}
function shapeOf(context, users, id, viewer) {
  const user = id === null ? void 0 : users.get(id);
  return user ? toUser(context, user, viewer) : null;
}
function findTeam2(context, id) {
  const team = context.db.get("SELECT * FROM teams WHERE id = ?", id);
  return team ? toTeam(context, team) : null;
}
function countComments({ db }, reviews) {
  const rows = db.all(
    `SELECT review_id AS id, count(*) AS count FROM review_comments
     WHERE review_id IN (SELECT value FROM json_each(?)) GROUP BY review_id`,
    JSON.stringify(reviews.map(({ id }) => id))
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}

// src/forge/requested-reviewers.ts
var requestedReviewerHandlers = defineHandlers({
  requestReviews(call) {
    const { context, caller, repository, owner, body } = call;
    const { both, reviewers } = findRequested(call, body);
    const place = { repository, owner, actor: caller };
    const { transaction } = context.db;
    const made = [
      ...reviewers.people.map((user) => transaction(() => requestReview(context, place, both, user))),
      ...reviewers.teams.map((team) => transaction(() => requestTeamReview(context, place, both, team)))
    ].filter((review) => review !== void 0);
    return toReviews(context, made, both.issue, { ...call, viewer: caller });
  },
  cancelReviewRequests(call) {
    const { context, caller, repository, owner, body } = call;
    const { both, reviewers } = findRequested(call, body);
    const place = { repository, owner, actor: caller };
    const { transaction } = context.db;
    for (const user of reviewers.people) transaction(() => cancelRequest(context, place, both, user));
    for (const team of reviewers.teams) transaction(() => cancelTeamRequest(context, place, both, team));
    return void 0;
  }
});
function findRequested(call, named) {
  const both = findPull(call.context, call, call.params.index);
  return { both, reviewers: findReviewers(call.context, call.owner, named) };
}

// src/forge/review-hunk.ts
var maxLines = 4;
async function findAuthorCommit(git, head, { path, line: line2 }) {
  if (line2 <= 0 || path === "" || !isObjectId(head)) return void 0;
  const { code, stdout } = await git.git.run(
    ["blame", "--porcelain", "-L", `${line2},${line2}`, head, "--", path],
    { folder: git.folder, expect: [0, 1, 128] }
  );
  return code === 0 ? /^[0-9a-f]+/.exec(stdout.toString("latin1"))?.[0] : void 0;
}
async function cutHunk(git, { base, head }, place) {
  if (place.path === "" || cleanTreePath(place.path) !== place.path || place.line === 0) return "";
  const { stdout } = await git.git.run(
    ["diff-tree", "-p", "-r", "--no-renames", base, head, "--", place.path],
    { folder: git.folder }
  );
  return cutAround(stdout.toString("utf8").split("\n"), place.line);
}
function cutAround(lines, line2) {
  let [old, now] = [0, 0];
  let seen2 = [];
  for (const text of lines) {
    const header = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text);
    if (header) {
      [old, now] = [Number(header[1]), Number(header[2])];
      seen2 = [];
      continue;
    }
    const sign2 = text[0];
    if (now === 0 && old === 0) continue;
    if (sign2 !== " " && sign2 !== "+" && sign2 !== "-") continue;
    seen2.push({ text, old, now });
    const isMeant = line2 > 0 ? sign2 !== "-" && now === line2 : sign2 !== "+" && old === -line2;
    if (isMeant) return write2(seen2.slice(-maxLines));
    if (sign2 !== "+") old += 1;
    if (sign2 !== "-") now += 1;
  }
  return "";
}
function write2(kept) {
  const [first] = kept;
  if (!first) return "";
  const count = (other) => kept.filter(({ text }) => text[0] !== other).length;
  const header = `@@ -${first.old},${count("+")} +${first.now},${count("-")} @@`;
  return [header, ...kept.map(({ text }) => text)].join("\n");
}

// src/forge/review-comments.ts
async function prepareComment(context, pull, given) {
  const git = context.git.open(pull.repo_id);
  const author = await findAuthorCommit(git, given.commitId || pull.head_sha, given);
  const ends = { base: pull.merge_base, head: pull.head_sha };
  return { ...given, commitId: author ?? pull.head_sha, hunk: await cutHunk(git, ends, given) };
}
function insertComment({ db, clock }, reviewId, given) {
  const now = secondsOf(clock());
  const id = takeCommentId(db);
  db.run(
    `INSERT INTO review_comments (id, review_id, repo_id, poster_id, body, path, line, commit_id, diff_hunk, created_at,
       updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    reviewId,
    given.repositoryId,
    given.poster.id,
    given.body,
    given.path,
    given.line,
    given.commitId,
    given.hunk,
    now,
    now
  );
  return found(db.get("SELECT * FROM review_comments WHERE id = ?", id));
}
function findReviewComment({ db }, { repository }, id) {
  const sql = "SELECT * FROM review_comments WHERE id = ? AND repo_id = ?";
  const comment = db.get(sql, id, repository.id);
  if (!comment) {
    const plain = db.get("SELECT 1 AS one FROM comments WHERE id = ? AND repo_id = ?", id, repository.id);
    if (plain) throw new ForgeProblem(400, "comment is not a review comment");
    throw new ForgeProblem(404, `comment does not exist [id: ${id}]`);
  }
  const { issue_id } = readReview(db, comment.review_id);
  return {
    comment,
    issue: found(db.get("SELECT * FROM issues WHERE id = ?", issue_id)),
    pull: found(db.get("SELECT * FROM pulls WHERE issue_id = ?", issue_id))
  };
}
function setResolved(context, place, id, isResolved) {
  const { db } = context;
  const { repository, owner, caller } = place;
  const { comment, issue, pull } = findReviewComment(context, place, id);
  const isAllowed = caller.id === issue.poster_id || reaches(permissionOf(db, caller, repository, owner, "pulls"), "write") || isOfficial(context, place, pull, caller);
  if (!isAllowed) throw new ForgeProblem(403, "user should have permission to resolve comment");
  const resolver = isResolved ? comment.resolver_id ?? caller.id : void 0;
  db.run("UPDATE review_comments SET resolver_id = ? WHERE id = ?", resolver, comment.id);
}
var reviewCommentHandlers = defineHandlers({
  resolveReviewComment(call) {
    setResolved(call.context, call, call.params.id, true);
    return void 0;
  },
  unresolveReviewComment(call) {
    setResolved(call.context, call, call.params.id, false);
    return void 0;
  },
  async replyToReviewComment(call) {
    const { context, caller, repository, owner, params, body } = call;
    const { comment: parent, issue, pull } = findReviewComment(context, call, params.id);
    if (issue.number !== params.index) throw new ForgeProblem(404, "not found");
    const { path, line: line2, commit_id: commitId } = parent;
    const draft = await prepareComment(context, pull, { path, line: line2, commitId, body: body.body });
    return context.db.transaction(() => {
      const author = { repositoryId: repository.id, poster: caller };
      const kept = { commitId, hunk: parent.diff_hunk };
      const comment = insertComment(context, parent.review_id, { ...draft, ...kept, ...author });
      const told = { ...comment, issue_id: issue.id, content_version: 0 };
      const scene = { repository, owner, actor: caller, issueId: issue.id };
      announceComment(context, scene, { comment: told, action: "created" });
      return found(toReviewComments(context, [comment], issue, { ...call, viewer: caller })[0]);
    });
  }
});

// src/forge/reviews.ts
var reviewHandlers = defineHandlers({
  listReviews(call) {
    const { context, caller, page: page2, reply } = call;
    const { issue } = findPull(context, call, call.params.index);
    const count = "SELECT count(*) AS count FROM reviews WHERE issue_id = ?";
    reply.total(context.db.get(count, issue.id)?.count ?? 0);
    const rows = context.db.all(
      "SELECT * FROM reviews WHERE issue_id = ? ORDER BY created_at, id LIMIT ? OFFSET ?",
      issue.id,
      page2.limit,
      page2.offset
    );
    const known2 = rows.filter((review) => mayKnow(review, caller));
    return toReviews(context, known2, issue, { ...call, viewer: caller });
  },
  getReview(call) {
    const { review, both } = findReview(call);
    return show2(call, review, both);
  },
  listReviewComments(call) {
    const { context, caller } = call;
    const { review, both } = findReview(call);
    const sql = "SELECT * FROM review_comments WHERE review_id = ? ORDER BY id";
    const rows = context.db.all(sql, review.id);
    return toReviewComments(context, rows, both.issue, { ...call, viewer: caller });
  },
  async createReview(call) {
    const { context, caller, params, body } = call;
    const comments = body.comments ?? [];
    const type = readEvent(findPull(context, call, params.index), caller, {
      event: body.event,
      body: body.body,
      hasComments: comments.length > 0
    });
    return await context.git.exclusively(call.repository.id, "pulls", async () => {
      const both = findPull(context, call, params.index);
      const commitId = body.commit_id || both.pull.head_sha;
      const drafts = await Promise.all(
        comments.map(
          (comment) => prepareComment(context, both.pull, {
            path: comment.path ?? "",
            body: comment.body ?? "",
            line: comment.old_position ? -comment.old_position : comment.new_position ?? 0,
            commitId
          })
        )
      );
      const isStale = isVote(type) && await isStaleAtBirth(context, both, commitId);
      const opinion = { type, body: body.body ?? "", commitId, isStale };
      return context.db.transaction(() => {
        const draftId = drafts.length === 0 ? 0 : openDraft(context, both.issue.id, caller, commitId);
        const author = { repositoryId: call.repository.id, poster: caller };
        for (const draft of drafts) insertComment(context, draftId, { ...draft, ...author });
        return show2(call, record(call, both, opinion), both);
      });
    });
  },
  submitReview(call) {
    const { context, caller, body } = call;
    return context.db.transaction(() => {
      const { review, both } = findReview(call);
      if (review.type !== "PENDING") throw new ForgeProblem(422, "only a pending review can be submitted");
      const said = { event: body.event, body: body.body, hasComments: false };
      const type = readEvent(both, caller, said);
      if (type === "PENDING") throw new ForgeProblem(422, "review stay pending");
      const opinion = { type, body: body.body ?? "", commitId: both.pull.head_sha, isStale: false };
      return show2(call, record(call, both, opinion), both);
    });
  },
  deleteReview(call) {
    const { context, caller } = call;
    const { review } = findReview(call);
    if (caller.is_admin === 0 && caller.id !== review.reviewer_id) {
      throw new ForgeProblem(403, "no permission to delete comment");
    }
    if (review.type === "REQUEST_REVIEW") throw new ForgeProblem(400, "a request is taken back, not deleted");
    context.db.transaction(() => removeReview(context, review));
    return void 0;
  },
  dismissReview(call) {
    const { context, body } = call;
    return context.db.transaction(() => {
      const { review, both } = findVote(call);
      setDismissed(context, [review], true, body.message ?? "");
      if (body.priors) {
        const sql = "SELECT * FROM reviews WHERE issue_id = ? AND reviewer_id = ? AND dismissed = 0";
        const priors = context.db.all(sql, review.issue_id, review.reviewer_id);
        setDismissed(context, priors, true, body.message ?? "");
      }
      notifyActivity(context, { ...call, actor: call.caller, issueId: both.issue.id });
      return show2(call, readReview(context.db, review.id), both);
    });
  },
  undismissReview(call) {
    const { context } = call;
    return context.db.transaction(() => {
      const { review, both } = findVote(call);
      setDismissed(context, [review], false);
      return show2(call, readReview(context.db, review.id), both);
    });
  }
});
function isVote(type) {
  return type === "APPROVED" || type === "REQUEST_CHANGES";
}
function readEvent({ issue }, caller, said) {
  const known2 = ["APPROVED", "REQUEST_CHANGES", "COMMENT"];
  const type = known2.find((word) => word === said.event) ?? "PENDING";
  const hasBody = (said.body ?? "").trim() !== "";
  if (isVote(type) && caller.id === issue.poster_id) {
    throw new ForgeProblem(422, `${type === "APPROVED" ? "approve" : "reject"} your own pull is not allowed`);
  }
  const needsBody = type === "REQUEST_CHANGES" || type === "PENDING";
  if (needsBody && !hasBody) throw new ForgeProblem(422, `review event ${said.event ?? ""} requires a body`);
  if (type === "COMMENT" && !hasBody && !said.hasComments) {
    throw new ForgeProblem(422, "review event COMMENT requires a body or a comment");
  }
  return type;
}
function record({ context, repository, owner, caller }, both, opinion) {
  if (isVote(opinion.type) && both.issue.is_closed === 1) {
    throw new ForgeProblem(422, "can't submit review for a closed or merged PR");
  }
  return recordReview(context, { repository, owner, actor: caller }, both, opinion);
}
async function isStaleAtBirth(context, { pull }, commitId) {
  if (commitId === pull.head_sha) return false;
  const git = context.git.open(pull.repo_id);
  const commit = isObjectId(commitId) ? await readCommit(git, commitId) : void 0;
  const seen2 = found(commit, `commit does not exist [sha: ${commitId}]`).id;
  const base = await findMergeBase(git, pull.base_sha, seen2) ?? pull.merge_base;
  return await isOtherChange(git, { from: base, to: seen2 }, { from: pull.merge_base, to: pull.head_sha });
}
function findReview(call) {
  const both = findPull(call.context, call, call.params.index);
  const review = readReview(call.context.db, call.params.id);
  if (review.issue_id !== both.issue.id || !mayKnow(review, call.caller)) {
    throw new ForgeProblem(404, "not found");
  }
  return { review, both };
}
function findVote(call) {
  const { review, both } = findReview(call);
  if (!isVote(review.type)) {
    throw new ForgeProblem(403, "only an approval or a request for changes can be dismissed");
  }
  if (both.issue.is_closed === 1) throw new ForgeProblem(403, "the pull request is closed or merged");
  return { review, both };
}
function show2(call, review, { issue }) {
  return found(toReviews(call.context, [review], issue, { ...call, viewer: call.caller })[0]);
}

// src/forge/runners.ts
import { randomBytes as randomBytes5 } from "node:crypto";
function list({ context, page: page2, query }, holder) {
  const { runners: runners2, total } = listRunners(context, holder, { ...page2, disabled: query.disabled });
  const now = context.clock();
  return { runners: runners2.map((runner) => toRunner(runner, now)), total_count: total };
}
function show3({ context, params }, holder) {
  const runner = found(findRunner(context, holder, params.runner_id), "No permission to access this runner");
  return toRunner(runner, context.clock());
}
function edit(call, holder) {
  const { id } = show3(call, holder);
  call.context.db.run("UPDATE runners SET is_disabled = ? WHERE id = ?", call.body.disabled, id);
  return show3(call, holder);
}
function remove3(call, holder) {
  call.context.db.run("DELETE FROM runners WHERE id = ?", show3(call, holder).id);
}
function register({ context }, holder) {
  const { db, clock } = context;
  const repositoryId = holder.column === "repo_id" ? holder.id : null;
  const ownerId = holder.column === "owner_id" ? holder.id : null;
  const known2 = db.get(
    "SELECT token FROM runner_tokens WHERE repo_id IS ? AND owner_id IS ? ORDER BY id DESC LIMIT 1",
    repositoryId,
    ownerId
  );
  if (known2) return known2;
  const token = randomBytes5(20).toString("hex");
  db.run(
    "INSERT INTO runner_tokens (repo_id, owner_id, token, created_at) VALUES (?, ?, ?, ?)",
    repositoryId,
    ownerId,
    token,
    secondsOf(clock())
  );
  return { token };
}
var ofOrganization2 = (call) => ({
  column: "owner_id",
  id: call.organization.id
});
var ofRepository2 = (call) => ({
  column: "repo_id",
  id: call.repository.id
});
var ofCaller = (call) => ({
  column: "owner_id",
  id: call.caller.id
});
var ofSite = { column: "all" };
var runnerHandlers = defineHandlers({
  listOrganizationRunners: (call) => list(call, ofOrganization2(call)),
  getOrganizationRunner: (call) => show3(call, ofOrganization2(call)),
  editOrganizationRunner: (call) => edit(call, ofOrganization2(call)),
  deleteOrganizationRunner: (call) => remove3(call, ofOrganization2(call)),
  createOrganizationRunnerToken: (call) => register(call, ofOrganization2(call)),
  listRepositoryRunners: (call) => list(call, ofRepository2(call)),
  getRepositoryRunner: (call) => show3(call, ofRepository2(call)),
  editRepositoryRunner: (call) => edit(call, ofRepository2(call)),
  deleteRepositoryRunner: (call) => remove3(call, ofRepository2(call)),
  createRepositoryRunnerToken: (call) => register(call, ofRepository2(call)),
  listOwnRunners: (call) => list(call, ofCaller(call)),
  getOwnRunner: (call) => show3(call, ofCaller(call)),
  editOwnRunner: (call) => edit(call, ofCaller(call)),
  deleteOwnRunner: (call) => remove3(call, ofCaller(call)),
  createOwnRunnerToken: (call) => register(call, ofCaller(call)),
  listSiteRunners: (call) => list(call, ofSite),
  getSiteRunner: (call) => show3(call, ofSite),
  editSiteRunner: (call) => edit(call, ofSite),
  deleteSiteRunner: (call) => remove3(call, ofSite),
  createSiteRunnerToken: (call) => register(call, ofSite)
});

// src/forge/single-commit.ts
var commitHandlers = defineHandlers({
  async getCommit({ context, params, query, caller, repository, owner }) {
    const { sha } = params;
    if (!isRefName(sha) && !isIdPrefix(sha)) throw new ForgeProblem(422, `no valid ref or sha: ${sha}`);
    const git = context.git.open(repository.id);
    const byId = isIdPrefix(sha) ? await readCommit(git, `${sha}^{commit}`) : void 0;
    const commit = found(byId ?? (await resolveRef(git, sha))?.commit, `commit doesn't exist: ${sha}`);
    const entry = toEntry(context, addressOf(context.rootUrl(), owner.name, repository.name), commit, caller);
    const { verification, ...plain } = entry.commit;
    const { files, stats } = tellChanges((await listChangesOf(git, [commit.id])).get(commit.id) ?? []);
    return {
      ...entry,
      commit: query.verification === false ? plain : { ...plain, verification },
      files: query.files === false ? null : files,
      stats: query.stat === false ? null : stats
    };
  }
});

// src/forge/stars.ts
var starHandlers = defineHandlers({
  listStarred({ context, account, caller, page: page2, reply }) {
    reply.total(account.num_stars);
    const rows = context.db.all(
      `SELECT r.* FROM stars s JOIN repositories r ON r.id = s.repo_id WHERE s.user_id = ? AND (r.is_private = 0 OR ?)
       ORDER BY s.id LIMIT ? OFFSET ?`,
      account.id,
      account.id === caller.id,
      page2.limit,
      page2.offset
    );
    const owners = loadUsers(
      context,
      rows.map((row) => row.owner_id)
    );
    return rows.flatMap((row) => {
      const owner = owners.get(row.owner_id);
      const permission = owner ? permissionOf(context.db, account, row, owner) : "none";
      if (!owner || permission === "none") return [];
      return [toRepository(context, row, { owner, viewer: caller, permission })];
    });
  },
  star({ context, repository, caller }) {
    context.db.run(
      "INSERT INTO stars (user_id, repo_id, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
      caller.id,
      repository.id,
      secondsOf(context.clock())
    );
    return void 0;
  },
  unstar({ context, repository, caller }) {
    context.db.run("DELETE FROM stars WHERE user_id = ? AND repo_id = ?", caller.id, repository.id);
    return void 0;
  }
});

// src/forge/statuses.ts
var orders3 = {
  oldest: "created_at, number",
  recentupdate: "created_at DESC, number DESC",
  leastupdate: "created_at, number",
  // The two names mean the reverse of what they say, as on the baseline.
  leastindex: "number DESC",
  highestindex: "number"
};
var knownStates = ["pending", "success", "error", "failure", "warning"];
var statusHandlers = defineHandlers({
  async createStatus(call) {
    const { context, repository, caller, params, body } = call;
    const git = context.git.open(repository.id);
    const { commit } = found(await resolveRef(git, params.sha), `commit does not exist [sha: ${params.sha}]`);
    const touched = await listTouched(git, commit.id);
    return context.db.transaction(() => {
      const row = insertStatus(call, commit.id, body);
      const { html: html2, api } = addressOf(context.rootUrl(), call.owner.name, repository.name);
      const told = toPayloadCommit(context.db, { html: html2, api }, commit, touched);
      announceStatus(call, row, { sender: caller, commit: told });
      return toStatus(call, row, caller);
    });
  },
  listStatuses(call) {
    return listRows(call, call.params.sha, call);
  },
  async listStatusesByRef(call) {
    return listRows(call, await commitOf(call, call.params.ref), call);
  },
  async getCombinedStatus(call) {
    const { context, repository, owner, caller, page: page2, reply } = call;
    const sha = await commitOf(call, call.params.ref);
    const count = `SELECT count(DISTINCT context) AS count FROM commit_statuses WHERE repo_id = ? AND sha = ?`;
    reply.total(context.db.get(count, repository.id, sha)?.count ?? 0);
    const rows = latestStatuses(context.db, repository.id, sha, page2);
    const { api } = addressOf(context.rootUrl(), owner.name, repository.name);
    return {
      state: combineStates(rows.map(({ state }) => state)),
      sha,
      total_count: rows.length,
      statuses: rows.length === 0 ? null : toStatuses(call, rows),
      repository: toRepository(context, repository, { owner, viewer: caller }),
      commit_url: `${api}/commits/${sha}`,
      url: `${api}/commits/${sha}/status`
    };
  }
});
async function commitOf({ context, repository }, ref) {
  const resolved = await resolveRef(context.git.open(repository.id), ref);
  return found(resolved, `object does not exist [id: ${ref}]`).commit.id;
}
function insertStatus({ context: { db, clock }, repository, caller }, sha, report2) {
  const { lastId } = db.run(
    `INSERT INTO commit_statuses (repo_id, sha, number, state, target_url, description, context, creator_id, created_at)
     VALUES (?1, ?2, 1 + (SELECT coalesce(max(number), 0) FROM commit_statuses WHERE repo_id = ?1 AND sha = ?2),
       ?3, ?4, ?5, ?6, ?7, ?8)`,
    repository.id,
    sha,
    report2.state ?? "",
    (report2.target_url ?? "").trim(),
    (report2.description ?? "").trim(),
    (report2.context ?? "").trim(),
    caller.id,
    secondsOf(clock())
  );
  return found(db.get("SELECT * FROM commit_statuses WHERE id = ?", lastId));
}
function announceStatus({ context, repository, owner }, row, { sender, commit }) {
  context.emit({
    type: "status",
    repository,
    owner,
    payload: () => ({
      commit,
      context: row.context,
      created_at: toInstant(row.created_at),
      description: row.description,
      // Of the row: the API's id counts within the commit.
      id: row.id,
      repository: toRepository(context, repository, { owner, viewer: void 0, permission: "owner" }),
      sender: toUser(context, sender, void 0),
      sha: row.sha,
      state: row.state,
      target_url: absolute(context, row.target_url),
      updated_at: toInstant(row.created_at)
    })
  });
}
function absolute(context, url) {
  return /^https?:\/\//i.test(url) ? url : `${context.rootUrl()}/${url.replace(/^\/+/, "")}`;
}
function listRows(place, sha, {
  query,
  page: page2,
  reply
}) {
  const { context, repository } = place;
  const state = (query.state ?? "").trim();
  const where = `FROM commit_statuses WHERE repo_id = ?1 AND sha = ?2 ${knownStates.includes(state) ? "AND state = ?3" : "AND ?3 IS NOT NULL"}`;
  const values = [repository.id, sha, state];
  reply.total(context.db.get(`SELECT count(*) AS count ${where}`, ...values)?.count ?? 0);
  const sort = (query.sort ?? "").trim();
  const order = (Object.hasOwn(orders3, sort) ? orders3[sort] : void 0) ?? "created_at DESC, number DESC";
  const rows = context.db.all(
    `SELECT * ${where} ORDER BY ${order} LIMIT ?4 OFFSET ?5`,
    ...values,
    page2.limit,
    page2.offset
  );
  return toStatuses(place, rows);
}
function toStatuses(place, rows) {
  const creators = loadUsers(
    place.context,
    rows.map((row) => row.creator_id)
  );
  return rows.map((row) => toStatus(place, row, creators.get(row.creator_id)));
}
function toStatus({ context, repository, owner }, row, creator) {
  const { api } = addressOf(context.rootUrl(), owner.name, repository.name);
  return {
    id: row.number,
    status: row.state,
    target_url: row.target_url,
    description: row.description,
    url: `${api}/statuses/${row.sha}`,
    context: row.context,
    creator: creator ? toUser(context, creator, void 0) : null,
    created_at: toInstant(row.created_at),
    updated_at: toInstant(row.created_at)
  };
}

// src/forge/subscriptions.ts
function apiOf({ context, owner, repository }) {
  return `${context.rootUrl()}/api/v1/repos/${owner.name}/${repository.name}`;
}
function toWatchInfo(call) {
  const api = apiOf(call);
  return {
    subscribed: true,
    ignored: false,
    reason: null,
    created_at: toInstant(call.repository.created_at),
    url: `${api}/subscription`,
    repository_url: api
  };
}
function listAccounts(call, from, id, viewer) {
  const { context, page: page2, reply } = call;
  reply.total(context.db.get(`SELECT count(*) AS count ${from}`, id)?.count ?? 0);
  const rows = context.db.all(
    `SELECT u.* ${from} ORDER BY u.id LIMIT ? OFFSET ?`,
    id,
    page2.limit,
    page2.offset
  );
  return rows.map((row) => toUser(context, row, viewer));
}
function listWatched({ context, page: page2, reply }, watcher, viewer) {
  const readable = readableCondition(watcher);
  const isOwn = watcher.id === viewer.id;
  const from = `FROM watches w JOIN repositories r ON r.id = w.repo_id JOIN users o ON o.id = r.owner_id
    WHERE w.user_id = ? AND ${isOwn ? "" : "r.is_private = 0 AND "}${readable.sql}`;
  const values = [watcher.id, ...readable.values];
  reply.total(context.db.get(`SELECT count(*) AS count ${from}`, ...values)?.count ?? 0);
  const rows = context.db.all(
    `SELECT r.* ${from} ORDER BY w.id LIMIT ? OFFSET ?`,
    ...values,
    page2.limit,
    page2.offset
  );
  const owners = loadUsers(
    context,
    rows.map(({ owner_id }) => owner_id)
  );
  return rows.flatMap((repository) => {
    const owner = owners.get(repository.owner_id);
    if (!owner) return [];
    const permission = permissionOf(context.db, watcher, repository, owner);
    return [toRepository(context, repository, { owner, viewer, permission })];
  });
}
function say(call, wanted) {
  const { context, params, caller, reply } = call;
  const issue = findIssue(call);
  const user = found(userNamed(context.db, params.user));
  if (user.id !== caller.id && !caller.is_admin) {
    throw new ForgeProblem(403, `${caller.name} is not permitted to change subscriptions for ${user.name}`);
  }
  if (hearsOfIssue(context, user.id, issue) === wanted) reply.status(200);
  else sayAboutIssue(context, user.id, issue.id, wanted);
  return void 0;
}
var isActive = "u.is_active = 1 AND u.prohibit_login = 0";
var subscriptionHandlers = defineHandlers({
  getSubscription(call) {
    found(isWatching(call.context, call.caller.id, call.repository.id) ? call : void 0);
    return toWatchInfo(call);
  },
  watch(call) {
    watchRepository(call.context, call.caller.id, call.repository.id);
    return toWatchInfo(call);
  },
  unwatch({ context, caller, repository }) {
    unwatchRepository(context, caller.id, repository.id);
    return void 0;
  },
  listSubscribers: (call) => listAccounts(
    call,
    "FROM watches w JOIN users u ON u.id = w.user_id WHERE w.repo_id = ?",
    call.repository.id,
    call.caller
  ),
  listOwnSubscriptions: (call) => listWatched(call, call.caller, call.caller),
  listSubscriptions: (call) => listWatched(call, call.account, call.caller),
  listIssueSubscribers: (call) => listAccounts(
    call,
    `FROM issue_watches w JOIN users u ON u.id = w.user_id WHERE w.issue_id = ? AND w.is_watching = 1 AND ${isActive}`,
    findIssue(call).id,
    call.caller
  ),
  checkIssueSubscription(call) {
    const issue = findIssue(call);
    const subscribed = hearsOfIssue(call.context, call.caller.id, issue);
    const api = apiOf(call);
    return {
      subscribed,
      ignored: !subscribed,
      reason: null,
      created_at: toInstant(issue.created_at),
      url: `${api}/issues/${issue.number}/subscriptions`,
      repository_url: api
    };
  },
  subscribeIssue: (call) => say(call, true),
  unsubscribeIssue: (call) => say(call, false)
});

// src/forge/git/tags.ts
var format = "%(refname:lstrip=2)%00%(objectname)%00%(*objectname)%00%(creatordate:unix)%00%(contents)%00%00";
async function listTags(repository, pattern = "refs/tags") {
  const { stdout } = await repository.git.run(
    ["for-each-ref", "--sort=refname", "--sort=-creatordate", `--format=${format}`, "--", pattern],
    { folder: repository.folder }
  );
  return stdout.toString("utf8").split("\0\0\n").filter(Boolean).map((entry) => {
    const [name = "", id = "", peeled = "", seconds = "", ...message] = entry.split("\0");
    return { name, id, commitId: peeled || id, message: message.join("\0"), seconds: Number(seconds) || 0 };
  });
}
async function findTag(repository, name) {
  if (!isRefName(name)) return void 0;
  const tags = await listTags(repository, `refs/tags/${name}`);
  return tags.find((tag) => tag.name === name);
}
async function writeTagObject(repository, tag) {
  if (!isRefName(tag.name) || !isObjectId(tag.commitId))
    throw new TypeError(`"${tag.name}" cannot be tagged`);
  const clean2 = (text) => text.replace(/[<>\n\0]/g, "").trim();
  const { name, email, seconds, zone } = tag.tagger;
  const lines = [
    `object ${tag.commitId}`,
    "type commit",
    `tag ${tag.name}`,
    `tagger ${clean2(name)} <${clean2(email)}> ${Math.trunc(seconds)} ${zone}`,
    "",
    `${tag.message.replaceAll("\0", "").trimEnd()}
`
  ];
  const { stdout } = await repository.git.run(["mktag"], {
    folder: repository.folder,
    input: lines.join("\n")
  });
  return stdout.toString("latin1").trim();
}

// src/forge/tags.ts
function toTag({ context, repository, owner }, tag) {
  const address = addressOf(context.rootUrl(), owner.name, repository.name);
  const archive = `${address.html}/archive/${encodeURIComponent(tag.name)}`;
  return {
    name: tag.name,
    message: tag.message,
    id: tag.id,
    commit: {
      url: `${address.api}/git/commits/${tag.commitId}`,
      sha: tag.commitId,
      created: toInstant(tag.seconds)
    },
    zipball_url: `${archive}.zip`,
    tarball_url: `${archive}.tar.gz`
  };
}
async function guardTag(...[mover, move, verb]) {
  try {
    await guardMove(mover, move);
  } catch (error) {
    if (!(error instanceof ForgeProblem)) throw error;
    throw new ForgeProblem(422, `user not allowed to ${verb} protected tag`);
  }
}
var tagHandlers = defineHandlers({
  async listTags(call) {
    const { context, repository, page: page2, reply } = call;
    const tags = await listTags(context.git.open(repository.id));
    reply.total(tags.length);
    return tags.slice(page2.offset, page2.offset + page2.limit).map((tag) => toTag(call, tag));
  },
  async getTag(call) {
    const tag = await findTag(call.context.git.open(call.repository.id), call.params.tag);
    return toTag(call, found(tag, `tag doesn't exist: ${call.params.tag}`));
  },
  async createTag(call) {
    const { context, repository, owner, caller, body } = call;
    const git = context.git.open(repository.id);
    const ref = `refs/tags/${body.tag_name}`;
    return await withPush(context, { repository, owner, pusher: caller }, async () => {
      const target = body.target || repository.default_branch;
      const { commit } = found(await resolveRef(git, target), `target not found: ${target}`);
      if (!isRefName(body.tag_name)) throw new ForgeProblem(422, `"${body.tag_name}" is no name of a tag`);
      if (await readRef(git, ref)) throw new ForgeProblem(409, `tag already exists [name: ${body.tag_name}]`);
      const mover = { db: context.db, repository, owner, user: caller, git };
      await guardTag(mover, { ref, before: void 0, after: commit.id }, "create");
      const tagger = {
        name: caller.full_name || caller.name,
        email: caller.email || noReplyAddress(caller),
        seconds: secondsOf(context.clock()),
        zone: "+0000"
      };
      const after = body.message ? await writeTagObject(git, {
        name: body.tag_name,
        commitId: commit.id,
        message: body.message,
        tagger
      }) : commit.id;
      if (!await moveRefs(git, [{ name: ref, before: void 0, after }])) {
        throw new ForgeProblem(409, `the name conflicts with another tag [name: ${body.tag_name}]`);
      }
      const result = toTag(call, found(await findTag(git, body.tag_name)));
      return { result, changes: [{ ref, before: void 0, after }] };
    });
  },
  async deleteTag({ context, params, caller, repository, owner }) {
    const git = context.git.open(repository.id);
    await withPush(context, { repository, owner, pusher: caller }, async () => {
      const { id: before } = found(await findTag(git, params.tag), "not found");
      const ref = `refs/tags/${params.tag}`;
      const mover = { db: context.db, repository, owner, user: caller, git };
      await guardTag(mover, { ref, before, after: void 0 }, "delete");
      if (!await moveRefs(git, [{ name: ref, before, after: void 0 }])) {
        throw new ForgeProblem(404, "not found");
      }
      return { result: void 0, changes: [{ ref, before, after: void 0 }] };
    });
    return void 0;
  }
});

// src/forge/team-repositories.ts
var hasRepository3 = (team, repository) => `(${team}.includes_all_repositories = 1 OR EXISTS (
    SELECT 1 FROM team_repositories x WHERE x.team_id = ${team}.id AND x.repo_id = ${repository}.id))`;
function isOfTeam(db, team, repository) {
  if (team.includes_all_repositories === 1) return true;
  const sql = "SELECT 1 AS one FROM team_repositories WHERE team_id = ? AND repo_id = ?";
  return db.get(sql, team.id, repository.id) !== void 0;
}
function addTeamRepository(db, team, repository) {
  const sql = "INSERT INTO team_repositories (team_id, repo_id) VALUES (?, ?) ON CONFLICT DO NOTHING";
  db.run(sql, team.id, repository.id);
}
function removeTeamRepository(db, team, repository) {
  db.run("DELETE FROM team_repositories WHERE team_id = ? AND repo_id = ?", team.id, repository.id);
}
function repositoryNamed(db, { organization }, name) {
  const sql = "SELECT * FROM repositories WHERE owner_id = ? AND lower_name = ?";
  return found(db.get(sql, organization.id, name.toLowerCase()));
}
function changeable2({ db, caller, name, ...target }) {
  const { organization } = target;
  const repository = repositoryNamed(db, target, name);
  if (!organization.repo_admin_change_team_access && !isOrganizationOwner(db, organization, caller)) {
    throw new ForgeProblem(403, "user is nor repo admin nor owner");
  }
  if (!reaches(permissionOf(db, caller, repository, organization), "admin")) {
    throw new ForgeProblem(403, "Must have admin-level access to the repository");
  }
  return repository;
}
function teamNamed(db, { owner }, name) {
  if (owner.type !== "organization") throw new ForgeProblem(405, "repo is not owned by an organization");
  const sql = "SELECT * FROM teams WHERE org_id = ? AND lower_name = ?";
  return found(db.get(sql, owner.id, name.toLowerCase()), "team does not exist");
}
function changeableTeam(db, target, name) {
  if (target.owner.type !== "organization")
    throw new ForgeProblem(405, "repo is not owned by an organization");
  if (!target.owner.repo_admin_change_team_access && target.permission !== "owner") {
    throw new ForgeProblem(403, "user is nor repo admin nor owner");
  }
  return teamNamed(db, target, name);
}
var teamRepositoryHandlers = defineHandlers({
  listTeamRepositories({ context, team, caller, page: page2, reply }) {
    const { db } = context;
    const from = `FROM repositories r JOIN teams t ON t.id = ?1
      WHERE r.owner_id = t.org_id AND ${hasRepository3("t", "r")}`;
    reply.total(db.get(`SELECT count(*) AS count ${from}`, team.id)?.count ?? 0);
    const rows = db.all(
      `SELECT r.* ${from} ORDER BY r.lower_name LIMIT ?2 OFFSET ?3`,
      team.id,
      page2.limit,
      page2.offset
    );
    const owner = found(db.get("SELECT * FROM users WHERE id = ?", team.org_id));
    return toRepositories(
      context,
      rows.filter((row) => canSee(db, caller, row, owner)),
      caller
    );
  },
  getTeamRepository({ context, caller, params, ...target }) {
    const { team, organization } = target;
    const repository = repositoryNamed(context.db, target, params.repo);
    const isThere2 = isOfTeam(context.db, team, repository);
    found(isThere2 && canSee(context.db, caller, repository, organization) ? repository : void 0);
    return toRepository(context, repository, { owner: organization, viewer: caller });
  },
  putTeamRepository({ context: { db }, caller, params, team, organization }) {
    addTeamRepository(db, team, changeable2({ db, caller, team, organization, name: params.repo }));
    return void 0;
  },
  deleteTeamRepository({ context: { db }, caller, params, team, organization }) {
    removeTeamRepository(db, team, changeable2({ db, caller, team, organization, name: params.repo }));
    return void 0;
  },
  listRepositoryTeams({ context, repository, owner }) {
    if (owner.type !== "organization") throw new ForgeProblem(405, "repo is not owned by an organization");
    const rows = context.db.all(
      `SELECT t.* FROM teams t JOIN repositories r ON r.id = ?
       WHERE t.org_id = r.owner_id AND ${hasRepository3("t", "r")}
       ORDER BY CASE WHEN t.permission = 'owner' THEN '' ELSE t.name END`,
      repository.id
    );
    return rows.map((row) => toTeam(context, row));
  },
  getRepositoryTeam({ context, params, repository, owner, permission }) {
    const team = teamNamed(context.db, { repository, owner, permission }, params.team);
    return toTeam(context, found(isOfTeam(context.db, team, repository) ? team : void 0));
  },
  putRepositoryTeam({ context: { db }, params, repository, owner, permission }) {
    const team = changeableTeam(db, { repository, owner, permission }, params.team);
    if (isOfTeam(db, team, repository))
      throw new ForgeProblem(422, `team '${team.name}' is already added to repo`);
    addTeamRepository(db, team, repository);
    return void 0;
  },
  deleteRepositoryTeam({ context: { db }, params, repository, owner, permission }) {
    const team = changeableTeam(db, { repository, owner, permission }, params.team);
    if (!isOfTeam(db, team, repository))
      throw new ForgeProblem(422, `team '${team.name}' was not added to repo`);
    removeTeamRepository(db, team, repository);
    return void 0;
  }
});

// src/forge/teams.ts
function insertTeam(context, organization, wanted) {
  const { db } = context;
  const permission = readPermission(wanted.permission);
  assertTexts2(wanted);
  const units = permission === "admin" ? allUnits(permission) : readUnits(wanted);
  if (units === void 0) throw new ForgeProblem(422, "units permission should not be empty");
  assertNameIsFree2(context, organization.id, wanted.name);
  const { lastId } = db.run(
    `INSERT INTO teams (org_id, name, lower_name, description, permission, includes_all_repositories,
       can_create_org_repo, units_map, visibility) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    organization.id,
    wanted.name,
    wanted.name.toLowerCase(),
    wanted.description ?? "",
    permission,
    wanted.includes_all_repositories ?? false,
    wanted.can_create_org_repo ?? false,
    JSON.stringify(units),
    wanted.visibility || "private"
  );
  return found(db.get("SELECT * FROM teams WHERE id = ?", lastId));
}
function readPermission(word) {
  return word === "read" || word === "write" || word === "admin" ? word : "none";
}
function allUnits(permission) {
  return Object.fromEntries(
    unitNames.map((name) => [name, name.startsWith("repo.ext_") ? "read" : permission])
  );
}
function readUnits(given) {
  const known2 = new Set(unitNames);
  const levels = /* @__PURE__ */ new Set(["none", "read", "write", "admin", "owner"]);
  const map = Object.entries(given.units_map ?? {});
  if (map.length > 0) {
    const readable = map.map(
      ([name, level2]) => [name.toLowerCase(), levels.has(level2) ? level2 : "none"]
    );
    return Object.fromEntries(readable.filter(([name]) => known2.has(name)));
  }
  const units = given.units ?? [];
  if (units.length === 0) return void 0;
  const level = given.permission === "read" || given.permission === "write" ? given.permission : "none";
  const names = units.map((name) => name.toLowerCase()).filter((name) => known2.has(name));
  return Object.fromEntries(names.map((name) => [name, level]));
}
function assertTexts2({ name, description }) {
  const isNamed2 = name === void 0 || name === "" || /^[-_.a-zA-Z0-9]{1,255}$/.test(name);
  if (!isNamed2) throw new ForgeProblem(422, "[Name]: AlphaDashDot");
  if ((description ?? "").length > 255) throw new ForgeProblem(422, "[Description]: MaxSize(255)");
}
function assertNameIsFree2({ db }, organizationId, name, except = 0) {
  if (name.toLowerCase() === "new") throw new ForgeProblem(422, "name is reserved [name: new]");
  const sql = "SELECT 1 AS one FROM teams WHERE org_id = ? AND lower_name = ? AND id <> ?";
  if (db.get(sql, organizationId, name.toLowerCase(), except)) {
    throw new ForgeProblem(422, `team already exists [name: ${name}]`);
  }
}
function updateTeam(context, team, edit2) {
  const isOwners = team.permission === "owner";
  assertTexts2(edit2);
  const name = edit2.name || team.name;
  assertNameIsFree2(context, team.org_id, name, team.id);
  const isGiven = !isOwners && Boolean(edit2.permission);
  const permission = isGiven ? readPermission(edit2.permission) : team.permission;
  const includesAll = isGiven ? edit2.includes_all_repositories : void 0;
  const units = isOwners ? void 0 : permission === "admin" ? allUnits(permission) : readUnits(edit2);
  context.db.run(
    `UPDATE teams SET name = ?, lower_name = ?, description = ?, permission = ?, includes_all_repositories = ?,
       can_create_org_repo = ?, units_map = ?, visibility = ? WHERE id = ?`,
    name,
    name.toLowerCase(),
    edit2.description ?? team.description,
    permission,
    includesAll ?? team.includes_all_repositories,
    isOwners || (edit2.can_create_org_repo ?? team.can_create_org_repo),
    units ? JSON.stringify(units) : team.units_map,
    (isOwners ? void 0 : edit2.visibility) || team.visibility,
    team.id
  );
  return found(context.db.get("SELECT * FROM teams WHERE id = ?", team.id));
}
function searchTeams({ context, organization, caller, page: page2, reply }, word = "", inText = true) {
  const { db } = context;
  const where = `t.org_id = ?1 AND (?2 OR t.visibility <> 'private' OR EXISTS (
      SELECT 1 FROM team_members m WHERE m.team_id = t.id AND m.user_id = ?3))
    AND (?4 = '' OR instr(t.lower_name, ?4) > 0 OR (?5 AND instr(lower(t.description), ?4) > 0))`;
  const values = [
    organization.id,
    isOrganizationOwner(db, organization, caller),
    caller.id,
    word.trim().toLowerCase(),
    inText
  ];
  reply.total(
    db.get(`SELECT count(*) AS count FROM teams t WHERE ${where}`, ...values)?.count ?? 0
  );
  return db.all(
    `SELECT t.* FROM teams t WHERE ${where}
     ORDER BY CASE WHEN t.permission = 'owner' THEN '' ELSE t.lower_name END LIMIT ?6 OFFSET ?7`,
    ...values,
    page2.limit,
    page2.offset
  );
}
var teamHandlers = defineHandlers({
  ...teamMemberHandlers,
  ...teamRepositoryHandlers,
  listTeams: (call) => searchTeams(call).map((team) => toTeam(call.context, team)),
  searchTeams: (call) => {
    const { q, include_desc } = call.query;
    const data = searchTeams(call, q, include_desc ?? true).map((team) => toTeam(call.context, team));
    return { ok: true, data };
  },
  listOwnTeams({ context, caller, page: page2, reply }) {
    const count = "SELECT count(*) AS count FROM team_members WHERE user_id = ?";
    reply.total(context.db.get(count, caller.id)?.count ?? 0);
    const rows = context.db.all(
      `SELECT t.* FROM team_members m JOIN teams t ON t.id = m.team_id WHERE m.user_id = ?
       ORDER BY CASE WHEN t.permission = 'owner' THEN '' ELSE t.lower_name END, t.id LIMIT ? OFFSET ?`,
      caller.id,
      page2.limit,
      page2.offset
    );
    return toTeams(context, rows);
  },
  getTeam: ({ context, team, organization }) => toTeam(context, team, organization),
  createTeam: ({ context, organization, body }) => toTeam(
    context,
    context.db.transaction(() => insertTeam(context, organization, body)),
    organization
  ),
  editTeam: ({ context, team, body }) => toTeam(
    context,
    context.db.transaction(() => updateTeam(context, team, body))
  ),
  deleteTeam({ context, team }) {
    context.db.run("DELETE FROM teams WHERE id = ?", team.id);
    return void 0;
  }
});

// src/forge/times.ts
var disabled = "time tracking disabled";
function hasTracker(repository) {
  const { has_issues, external_tracker, internal_tracker } = settingsOf(repository);
  return !has_issues || external_tracker !== void 0 || internal_tracker.enable_time_tracker !== false;
}
function mayTrack(call, issue) {
  const { internal_tracker } = settingsOf(call.repository);
  if (internal_tracker.allow_only_contributors_to_track_time === false) return true;
  if (reaches(call.permission, "write") || issue.poster_id === call.caller.id) return true;
  const sql = "SELECT 1 AS one FROM assignees WHERE issue_id = ? AND user_id = ?";
  return call.context.db.get(sql, issue.id, call.caller.id) !== void 0;
}
function findTrackable(call, form) {
  const issue = findIssue(call);
  if (!hasTracker(call.repository)) throw new ForgeProblem(400, disabled, form);
  if (!mayTrack(call, issue)) throw forbiddenInSilence();
  return issue;
}
function whose(call, name) {
  const wanted = name?.trim() ? found(userNamed(call.context.db, name.trim()), "user does not exist").id : 0;
  if (wanted === call.caller.id || reaches(call.permission, "write")) return wanted;
  if (wanted !== 0) throw new ForgeProblem(403, "query by user not allowed; not enough rights");
  return call.caller.id;
}
function select(context, filter, span, page2) {
  const bounds = { since: parseInstant(span.since) ?? 0, before: parseInstant(span.before) ?? 0 };
  const conditions = [
    ["issue_id = ?", filter.issueId],
    ["repo_id = ?", filter.repositoryId],
    ["user_id = ?", filter.userId],
    ["created_at >= ?", bounds.since],
    ["created_at <= ?", bounds.before]
  ].filter((pair) => Boolean(pair[1]));
  const where = ["is_deleted = 0", ...conditions.map(([sql]) => sql)].join(" AND ");
  const values = conditions.map(([, value]) => value);
  const counted2 = context.db.get(
    `SELECT count(*) AS count FROM tracked_times WHERE ${where}`,
    ...values
  );
  const rows = context.db.all(
    `SELECT * FROM tracked_times WHERE ${where} ORDER BY id LIMIT ? OFFSET ?`,
    ...values,
    page2?.limit ?? -1,
    page2?.offset ?? 0
  );
  return { rows, total: counted2?.count ?? 0 };
}
function toTimes(context, times, viewer) {
  const { db } = context;
  const homes = new Map(
    [
      ...loadHomes(
        context,
        times.map(({ repo_id }) => repo_id)
      )
    ].filter(([, home]) => isReadable(context, home, viewer))
  );
  const issues2 = db.all(
    "SELECT * FROM issues WHERE id IN (SELECT value FROM json_each(?))",
    JSON.stringify([...new Set(times.map(({ issue_id }) => issue_id))])
  );
  const shapes = toIssuesById(context, issues2, { homes, viewer });
  const users = loadUsers(
    context,
    times.map(({ user_id }) => user_id)
  );
  return times.flatMap((time) => {
    const issue = shapes.get(time.issue_id);
    return issue ? [{ ...toBare2(time, users.get(time.user_id)), issue }] : [];
  });
}
function isReadable({ db }, { repository, owner }, viewer) {
  return canSee(db, viewer, repository, owner);
}
function toBare2(time, user) {
  return {
    id: time.id,
    created: toInstant(time.created_at),
    time: time.time,
    user_id: time.user_id,
    user_name: user?.name ?? "Ghost",
    issue_id: time.issue_id
  };
}
function trackedFor(call, name) {
  const mayName = reaches(call.permission, "admin");
  return name && mayName ? found(userNamed(call.context.db, name), "user does not exist") : call.caller;
}
function insertTime(call, issue, time) {
  const { db, clock } = call.context;
  const now = secondsOf(clock());
  const { lastId } = db.run(
    "INSERT INTO tracked_times (issue_id, repo_id, user_id, time, created_at) VALUES (?, ?, ?, ?, ?)",
    issue.id,
    issue.repo_id,
    time.user.id,
    time.seconds,
    now
  );
  touchIssue(call.context, issue.id);
  return found(db.get("SELECT * FROM tracked_times WHERE id = ?", lastId));
}
var timeHandlers = defineHandlers({
  listTimes(call) {
    const { context, query, page: page2, reply, repository, caller } = call;
    if (!hasTracker(repository)) throw new ForgeProblem(404, "timetracker is disabled");
    const issueId = findIssue(call).id;
    const userId = whose(call, query.user);
    const { rows, total } = select(context, { issueId, userId }, query, page2);
    reply.total(total);
    return toTimes(context, rows, caller);
  },
  addTime(call) {
    const { context, body, caller } = call;
    const issue = findTrackable(call, "error");
    if (body.time === 0) throw new ForgeProblem(422, "[Time]: Required");
    const created = parseInstant(body.created);
    const user = trackedFor(call, body.user_name);
    const row = context.db.transaction(() => insertTime(call, issue, { seconds: body.time, user }));
    const [shape] = toTimes(context, [row], caller);
    return { ...found(shape), ...created === void 0 ? {} : { created: toInstant(created) } };
  },
  resetTimes(call) {
    const { context, caller } = call;
    context.db.transaction(() => {
      const issue = findTrackable(call, "capital");
      const { changes } = context.db.run(
        "UPDATE tracked_times SET is_deleted = 1 WHERE issue_id = ? AND user_id = ? AND is_deleted = 0",
        issue.id,
        caller.id
      );
      if (changes === 0) throw new ForgeProblem(404, "tracked_time does not exist");
      touchIssue(context, issue.id);
    });
    return void 0;
  },
  deleteTime(call) {
    const { context, caller, params } = call;
    context.db.transaction(() => {
      const issue = findTrackable(call, "capital");
      const sql = "SELECT * FROM tracked_times WHERE id = ? AND issue_id = ? AND is_deleted = 0";
      const time = found(context.db.get(sql, params.id, issue.id));
      if (!caller.is_admin && time.user_id !== caller.id) throw forbiddenInSilence();
      context.db.run("UPDATE tracked_times SET is_deleted = 1 WHERE id = ?", time.id);
      touchIssue(context, issue.id);
    });
    return void 0;
  },
  listRepositoryTimes(call) {
    const { context, query, page: page2, reply, repository, caller } = call;
    if (!hasTracker(repository)) throw new ForgeProblem(400, disabled);
    const wish = query;
    const userId = whose(call, wish.user);
    const { rows, total } = select(context, { repositoryId: repository.id, userId }, wish, page2);
    reply.total(total);
    return toTimes(context, rows, caller);
  },
  listTimesOfUser(call) {
    const { context, params, repository, permission, caller } = call;
    if (!hasTracker(repository)) throw new ForgeProblem(400, disabled);
    const user = found(userNamed(context.db, params.user), "user does not exist");
    if (user.id !== caller.id && !reaches(permission, "admin")) {
      throw new ForgeProblem(403, "query by user not allowed; not enough rights");
    }
    const filter = { repositoryId: repository.id, userId: user.id };
    return toTimes(context, select(context, filter, {}, void 0).rows, caller);
  },
  listOwnTimes({ context, query, page: page2, reply, caller }) {
    const { rows, total } = select(context, { userId: caller.id }, query, page2);
    reply.total(total);
    return toTimes(context, rows, caller);
  }
});

// src/forge/tokens.ts
import { randomBytes as randomBytes6 } from "node:crypto";
function toToken(token, sha1 = "") {
  return {
    id: token.id,
    name: token.name,
    sha1,
    token_last_eight: token.last_eight,
    // The column holds what `createToken` wrote.
    scopes: JSON.parse(token.scopes),
    created_at: toInstant(token.created_at),
    last_used_at: toInstant(token.last_used_at)
  };
}
function requireBasic(actor) {
  if (!actor.isBasic) throw new ForgeProblem(401, "auth required");
}
function readScopes(actor, wanted) {
  const normal = normalizeScopes(wanted);
  if ("unknown" in normal)
    throw new ForgeProblem(400, `invalid access token scope provided: ${normal.unknown}`);
  if (normal.scopes.length === 0) throw new ForgeProblem(400, "access token must have a scope");
  if (actor.scopes && !coversScopes(actor.scopes, normal.scopes)) {
    throw new ForgeProblem(403, "a token cannot have a wider scope than the one that makes it");
  }
  return normal.scopes;
}
function currentToken({ actor }) {
  return found(actor.isBasic || actor.isQuery ? void 0 : actor.token, "invalid access token");
}
var tokenHandlers = defineHandlers({
  createToken({ account, actor, body, context }) {
    requireBasic(actor);
    const { db, clock } = context;
    const scopes = readScopes(actor, body.scopes ?? []);
    const secret = randomBytes6(20).toString("hex");
    const row = db.transaction(() => {
      const isTaken2 = db.get(
        "SELECT 1 AS one FROM tokens WHERE user_id = ? AND name = ?",
        account.id,
        body.name
      );
      if (isTaken2) throw new ForgeProblem(400, "access token name has been used already");
      const { lastId } = db.run(
        `INSERT INTO tokens (user_id, name, digest, last_eight, scopes, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
        account.id,
        body.name,
        digestOf(secret),
        secret.slice(-8),
        JSON.stringify(scopes),
        secondsOf(clock())
      );
      return found(db.get("SELECT * FROM tokens WHERE id = ?", lastId));
    });
    return toToken(row, secret);
  },
  getCurrentToken({ actor, context }) {
    const token = currentToken({ actor });
    const sql = "SELECT * FROM users WHERE id = ?";
    const user = found(context.db.get(sql, token.user_id));
    const { id, name, scopes, created_at, last_used_at } = toToken(token);
    return { id, name, scopes, created_at, last_used_at, user: { id: user.id, login: user.name } };
  },
  deleteCurrentToken({ actor, context }) {
    context.db.run("DELETE FROM tokens WHERE id = ?", currentToken({ actor }).id);
    return void 0;
  },
  listTokens({ account, actor, context, page: page2, reply }) {
    requireBasic(actor);
    const { db } = context;
    const sql = "SELECT count(*) AS count FROM tokens WHERE user_id = ?";
    reply.total(db.get(sql, account.id)?.count ?? 0);
    const rows = db.all(
      "SELECT * FROM tokens WHERE user_id = ? ORDER BY id DESC LIMIT ? OFFSET ?",
      account.id,
      page2.limit,
      page2.offset
    );
    return rows.map((row) => toToken(row));
  },
  deleteToken({ account, actor, context, params }) {
    requireBasic(actor);
    const byId = /^\d{1,15}$/.test(params.token) ? Number(params.token) : 0;
    const token = found(
      context.db.get(
        "SELECT * FROM tokens WHERE user_id = ?1 AND (id = ?2 OR name = ?3) ORDER BY id = ?2 DESC LIMIT 1",
        account.id,
        byId,
        params.token
      )
    );
    context.db.run("DELETE FROM tokens WHERE id = ?", token.id);
    return void 0;
  }
});

// src/forge/transfers.ts
function moveRepository(context, { repository, from, to, teamIds: teamIds2, doerId }) {
  const { db } = context;
  const { id, lower_name } = repository;
  db.run("UPDATE repositories SET owner_id = ? WHERE id = ?", to.id, id);
  db.run(
    `DELETE FROM collaborators WHERE repo_id = ?1 AND (user_id = ?2
       OR user_id IN (SELECT user_id FROM team_members WHERE org_id = ?2))`,
    id,
    to.id
  );
  db.run(
    "DELETE FROM team_repositories WHERE repo_id = ? AND team_id IN (SELECT id FROM teams WHERE org_id <> ?)",
    id,
    to.id
  );
  db.run(
    `DELETE FROM issue_labels WHERE issue_id IN (SELECT id FROM issues WHERE repo_id = ?1)
       AND label_id IN (SELECT id FROM labels WHERE org_id IS NOT NULL AND org_id <> ?2)`,
    id,
    to.id
  );
  db.run("DELETE FROM transfers WHERE repo_id = ?", id);
  db.run("DELETE FROM redirects WHERE owner_id = ? AND lower_name = ?", to.id, lower_name);
  db.run(
    "INSERT OR REPLACE INTO redirects (owner_id, lower_name, repo_id) VALUES (?, ?, ?)",
    from.id,
    lower_name,
    id
  );
  for (const teamId of teamIds2) addTeamRepository(db, { id: teamId }, repository);
  watchRepository(context, doerId, id);
  return found(db.get("SELECT * FROM repositories WHERE id = ?", id));
}
function recipientNamed({ db }, name, caller) {
  const missing = "The new owner does not exist or cannot be found";
  const recipient = found(userNamed(db, name), missing);
  const isHidden = recipient.type === "organization" && recipient.visibility === "private";
  if (isHidden && !caller.is_admin && !isMember(db, recipient, caller)) throw new ForgeProblem(404, missing);
  return recipient;
}
function readTeams({ db }, recipient, ids) {
  if (ids === void 0) return [];
  if (recipient.type !== "organization") {
    throw new ForgeProblem(422, "Teams can only be added to organization-owned repositories");
  }
  for (const id of ids) {
    const team = db.get("SELECT * FROM teams WHERE id = ?", id);
    if (!team) throw new ForgeProblem(422, `team ${id} not found`);
    if (team.org_id !== recipient.id)
      throw new ForgeProblem(403, `team ${id} belongs not to org ${recipient.id}`);
  }
  return ids;
}
function refuseTaken(context, recipient, repository, status) {
  if (isTaken(context, recipient, repository.name)) {
    throw new ForgeProblem(status, `repository already exists [name: ${recipient.name}/${repository.name}]`);
  }
}
function offer(context, { repository, to, teamIds: teamIds2, doer }) {
  const { db } = context;
  const now = secondsOf(context.clock());
  const owner = found(db.get("SELECT * FROM users WHERE id = ?", repository.owner_id));
  if (!canSee(db, to, repository, owner)) {
    db.run(
      `INSERT INTO collaborators (repo_id, user_id, permission, created_at) VALUES (?, ?, 'read', ?)`,
      repository.id,
      to.id,
      now
    );
  }
  db.run(
    "INSERT INTO transfers (repo_id, doer_id, recipient_id, team_ids, created_at) VALUES (?, ?, ?, ?, ?)",
    repository.id,
    doer.id,
    to.id,
    JSON.stringify(teamIds2),
    now
  );
  notifyOfRepository(context, { repository, receivers: answerersOf(context, to) });
}
function answerersOf({ db }, recipient) {
  if (recipient.type === "user") return [recipient];
  return db.all(
    `SELECT DISTINCT m.user_id AS id FROM team_members m JOIN teams t ON t.id = m.team_id
     WHERE m.org_id = ? AND (t.can_create_org_repo = 1 OR t.permission = 'owner')`,
    recipient.id
  );
}
function answerable({ db }, repository, caller) {
  const transfer = found(
    db.get("SELECT * FROM transfers WHERE repo_id = ?", repository.id),
    "repository has no pending transfer"
  );
  const recipient = found(db.get("SELECT * FROM users WHERE id = ?", transfer.recipient_id));
  const person2 = { ...caller, is_admin: 0 };
  const mayAnswer = recipient.type === "user" ? recipient.id === caller.id : canCreateRepositoryIn(db, recipient, person2);
  if (!mayAnswer) throw new ForgeProblem(403, "permission denied");
  return { transfer, recipient };
}
var transferHandlers = defineHandlers({
  transferRepository({ context, repository, owner, caller, body, reply }) {
    const { db } = context;
    const to = recipientNamed(context, body.new_owner, caller);
    const teamIds2 = readTeams(context, to, body.team_ids);
    const moved2 = db.transaction(() => {
      if (db.get("SELECT 1 AS one FROM transfers WHERE repo_id = ?", repository.id)) {
        throw new ForgeProblem(409, "repository transfer is already in progress");
      }
      refuseTaken(context, to, repository, 422);
      const isOurs2 = to.type === "organization" && canCreateRepositoryIn(db, to, caller);
      if (caller.is_admin || caller.id === to.id || isOurs2) {
        return moveRepository(context, { repository, from: owner, to, teamIds: teamIds2, doerId: caller.id });
      }
      offer(context, { repository, to, teamIds: teamIds2, doer: caller });
      return void 0;
    });
    if (!moved2) reply.status(201);
    const shown4 = moved2 ? { row: moved2, owner: to } : { row: repository, owner };
    return toRepository(context, shown4.row, { owner: shown4.owner, viewer: caller, permission: "admin" });
  },
  acceptTransfer({ context, repository, owner, caller }) {
    const { recipient, row } = context.db.transaction(() => {
      const { transfer, recipient: recipient2 } = answerable(context, repository, caller);
      refuseTaken(context, recipient2, repository, 409);
      const wanted = JSON.parse(transfer.team_ids);
      const isThere2 = "SELECT 1 AS one FROM teams WHERE id = ? AND org_id = ?";
      const teamIds2 = wanted.filter((id) => context.db.get(isThere2, id, recipient2.id));
      const move = { repository, from: owner, to: recipient2, teamIds: teamIds2, doerId: transfer.doer_id };
      return { recipient: recipient2, row: moveRepository(context, move) };
    });
    const permission = permissionOf(context.db, caller, row, recipient);
    return toRepository(context, row, { owner: recipient, viewer: caller, permission });
  },
  rejectTransfer({ context, repository, owner, caller, permission }) {
    context.db.transaction(() => {
      answerable(context, repository, caller);
      context.db.run("DELETE FROM transfers WHERE repo_id = ?", repository.id);
    });
    return toRepository(context, repository, { owner, viewer: caller, permission });
  }
});

// src/forge/wiki-names.ts
var reserved = /* @__PURE__ */ new Set(["_pages", "_new", "_edit", "raw"]);
var mark = ".-";
function webNameOf(title) {
  const name = clean(toSegment(title.trim(), false));
  return name === "" || name === "." ? "unnamed" : name;
}
function webNameIn(segment) {
  return clean(segment).replaceAll("/", "%2F");
}
function titleOf(webName) {
  const last = webName.split("/").at(-1) ?? "";
  const bare = last.endsWith(".md") ? decode(last.slice(0, -3), false) : last;
  return fromSegment(bare);
}
function fileNameOf(webName) {
  if (webName.endsWith(".md")) return clean(decode(webName, false));
  const segments = webName.split("/").map((segment) => toSegment(fromSegment(segment), segment.endsWith(mark)));
  return `${segments.join("/").replaceAll("%20", " ").replaceAll("+", " ")}.md`;
}
function webNameOfFile(file) {
  const bare = file.slice(0, -".md".length);
  if (!file.endsWith(".md") || tryDecode(bare) === void 0) return void 0;
  return toSegment(fromSegment(bare), bare.endsWith(mark));
}
function assertUsable(webName) {
  for (const segment of webName.split("/")) {
    const title = fromSegment(segment);
    if (reserved.has(title)) throw new ForgeProblem(400, `wiki title is reserved: ${title}`);
  }
}
function fromSegment(segment) {
  const bare = segment.endsWith(mark) ? segment.slice(0, -mark.length) : segment.replaceAll("-", " ");
  return decode(bare, true);
}
function toSegment(title, wasMarked) {
  const isMarked = wasMarked || title.includes("-") || title.endsWith(".md");
  return queryEscape(isMarked ? title + mark : title.replaceAll(" ", "-"));
}
function queryEscape(text) {
  return encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/g, (sign2) => `%${sign2.charCodeAt(0).toString(16).toUpperCase()}`).replaceAll("%20", "+");
}
function decode(text, plusIsSpace) {
  return tryDecode(plusIsSpace ? text.replaceAll("+", " ") : text) ?? text;
}
function tryDecode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return void 0;
  }
}
function clean(path) {
  const segments = [];
  for (const segment of path.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return segments.join("/");
}

// src/forge/wiki-pages.ts
async function readWiki(context, repository) {
  if (!hasWiki(context, repository)) return void 0;
  const git = context.git.open(wikiIdOf(repository));
  const head = await readBranch(git, wikiBranch);
  return head && { git, head, entries: await readTree(git, head.id) ?? [] };
}
function findPage(wiki, webName) {
  const file = fileNameOf(webName);
  const named = (name) => wiki.entries.find((entry) => entry.name === name && entry.kind === "file");
  return named(file) ?? named(decoded(file));
}
function decoded(file) {
  try {
    return decodeURIComponent(file.replaceAll("+", " "));
  } catch {
    return file;
  }
}
function toWikiCommit(commit) {
  const person2 = (who) => ({
    name: who.name,
    email: who.email,
    date: instantOf({ ...who, zone: "+0000" })
  });
  return {
    sha: commit.id,
    author: person2(commit.author),
    commiter: person2(commit.committer),
    message: commit.message
  };
}
function toMetaData(context, { owner, repository }, webName, commit) {
  return {
    title: titleOf(webName),
    html_url: `${context.rootUrl()}/${owner.name}/${repository.name}/wiki/${webName}`,
    sub_url: webName,
    last_commit: commit ? toWikiCommit(commit) : null
  };
}
async function contentOf(wiki, entry) {
  const blob = entry && await readBlob(wiki.git, entry.id);
  return blob?.content?.toString("base64") ?? "";
}
async function toWikiPage(context, target, webName) {
  const wiki = found(await readWiki(context, target.repository));
  const entry = found(findPage(wiki, webName));
  const commits = await lastCommits(wiki.git, wiki.head.id, "", [entry.name]);
  return {
    ...toMetaData(context, target, webName, commits.get(entry.name)),
    content_base64: await contentOf(wiki, entry),
    commit_count: (await listRevisions(wiki, entry)).length,
    sidebar: await contentOf(wiki, findPage(wiki, "_Sidebar")),
    footer: await contentOf(wiki, findPage(wiki, "_Footer"))
  };
}
async function listRevisions(wiki, entry) {
  const { stdout } = await wiki.git.git.run(["rev-list", wiki.head.id, "--", entry.name], {
    folder: wiki.git.folder
  });
  return stdout.toString("latin1").split("\n").filter(Boolean);
}
async function readCommits(wiki, ids) {
  const commits = await Promise.all(ids.map((id) => readCommit(wiki.git, id)));
  return commits.filter((commit) => commit !== void 0);
}

// src/forge/wiki.ts
async function commitPages({ context, repository, caller }, message, plan) {
  await ensureWiki(context, repository);
  const id = wikiIdOf(repository);
  await context.git.exclusively(id, "refs", async () => {
    const wiki = await readWiki(context, repository);
    const author = {
      name: caller.full_name || caller.name,
      email: caller.email || noReplyAddress(caller),
      seconds: secondsOf(context.clock()),
      zone: "+0000"
    };
    const edits = plan(wiki);
    const at = { before: wiki?.head.id, parent: wiki?.head.id };
    await context.git.commitFiles(id, {
      branch: wikiBranch,
      ...at,
      message,
      author,
      committer: author,
      edits
    });
  });
}
function announce3({ context, repository, owner, caller }, { action, page: page2, comment }) {
  context.emit({
    type: "wiki",
    repository,
    owner,
    payload: () => wikiPayload({
      action,
      page: page2,
      comment: comment ?? "",
      repository: toRepository(context, repository, { owner, viewer: void 0, permission: "owner" }),
      sender: toUser(context, caller, void 0)
    })
  });
}
function readContent(body) {
  const text = (body.content_base64 ?? "").replace(/[\r\n]/g, "");
  const isBase64 = text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
  if (!isBase64) throw new ForgeProblem(400, "illegal base64 data");
  return Buffer.from(text, "base64");
}
function fileToWrite(wiki, webName) {
  const known2 = wiki && findPage(wiki, webName);
  const file = cleanTreePath(known2?.name ?? fileNameOf(webName));
  if (!file || file.includes("/")) throw new ForgeProblem(400, `wiki title is not usable: ${webName}`);
  return file;
}
async function createPage(scene, body) {
  if ((body.title ?? "").trim() === "") throw new ForgeProblem(400, "title is required");
  const title = body.title ?? "";
  const webName = webNameOf(title);
  const message = body.message || `Add ${JSON.stringify(title)}`;
  const content = readContent(body);
  assertUsable(webName);
  fileToWrite(void 0, webName);
  await commitPages(scene, message, (wiki) => {
    if (wiki && findPage(wiki, webName))
      throw new ForgeProblem(400, `wiki page already exists [title: ${fileNameOf(webName)}]`);
    return [{ path: fileToWrite(wiki, webName), content }];
  });
  announce3(scene, { action: "created", page: webName, comment: message });
  return toWikiPage(scene.context, scene, webName);
}
async function editPage(scene, oldName, body) {
  const webName = webNameOf((body.title ?? "").trim() || "unnamed");
  const message = body.message || `Update ${JSON.stringify(webName)}`;
  const content = readContent(body);
  assertUsable(webName);
  fileToWrite(void 0, webName);
  await commitPages(scene, message, (wiki) => {
    const file = fileToWrite(wiki, webName);
    const old = wiki && findPage(wiki, oldName);
    const write3 = { path: file, content };
    return old && old.name !== file ? [{ path: old.name, content: void 0 }, write3] : [write3];
  });
  announce3(scene, { action: "edited", page: webName, comment: message });
  return toWikiPage(scene.context, scene, webName);
}
function limitOf(limit) {
  return limit === void 0 || limit <= 1 ? defaultLimit : limit;
}
var revisionsPerPage = 50;
var wikiHandlers = defineHandlers({
  async listWikiPages({ context, repository, owner, query, page: page2, reply }) {
    const wiki = found(await readWiki(context, repository));
    const limit = limitOf(query.limit);
    const offset = (page2.page - 1) * limit;
    const shown4 = wiki.entries.slice(offset, offset + limit).filter(({ kind }) => kind === "file");
    const address = new URL(
      `${context.rootUrl()}/api/v1/repos/${encodeURIComponent(owner.name)}/${encodeURIComponent(repository.name)}/wiki/pages`
    );
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, String(value));
    const headers = pageHeaders({
      total: wiki.entries.length,
      page: { page: page2.page, limit, offset },
      links: true,
      address
    });
    for (const [name, value] of Object.entries(headers)) reply.header(name, value);
    const names = shown4.map(({ name }) => name);
    const commits = await lastCommits(wiki.git, wiki.head.id, "", names);
    return names.flatMap((name) => {
      const webName = webNameOfFile(name);
      return webName === void 0 ? [] : [toMetaData(context, { owner, repository }, webName, commits.get(name))];
    });
  },
  getWikiPage: ({ context, repository, owner, params }) => toWikiPage(context, { repository, owner }, webNameIn(params.pageName)),
  createWikiPage: ({ body, ...scene }) => createPage(scene, body),
  editWikiPage: ({ body, params, ...scene }) => editPage(scene, webNameIn(params.pageName), body),
  async deleteWikiPage({ params, ...scene }) {
    const webName = webNameIn(params.pageName);
    found(await readWiki(scene.context, scene.repository));
    await commitPages(scene, `Delete page ${JSON.stringify(webName)}`, (wiki) => {
      const entry = found(wiki && findPage(wiki, webName));
      return [{ path: entry.name, content: void 0 }];
    });
    announce3(scene, { action: "deleted", page: webName });
    return void 0;
  },
  async listWikiRevisions({ context, repository, params, page: page2, reply }) {
    const wiki = found(await readWiki(context, repository));
    const entry = found(findPage(wiki, webNameIn(params.pageName) || "Home"));
    const ids = await listRevisions(wiki, entry);
    reply.total(ids.length);
    const start = (page2.page - 1) * revisionsPerPage;
    const commits = await readCommits(wiki, ids.slice(start, start + revisionsPerPage));
    return { commits: commits.map(toWikiCommit), count: ids.length };
  }
});

// src/forge/handlers.ts
var handlers = {
  ...timeHandlers,
  ...subscriptionHandlers,
  ...notificationHandlers,
  ...issueModerationHandlers,
  ...dependencyHandlers,
  ...attachmentHandlers,
  ...contentsHandlers,
  ...pullHandlers,
  ...pullMergeHandlers,
  ...pullBranchHandlers,
  ...branchMoveHandlers,
  ...commitHandlers,
  ...tagHandlers,
  ...forkHandlers,
  ...fileHandlers,
  ...compareHandlers,
  ...branchHandlers,
  ...collaboratorHandlers,
  ...commentHandlers,
  ...hookHandlers,
  ...hookTestHandlers,
  ...issueLabelHandlers,
  ...issueHandlers,
  ...labelHandlers,
  ...milestoneHandlers,
  ...organizationHandlers,
  ...repositoryHandlers,
  ...runnerHandlers,
  ...starHandlers,
  ...reviewHandlers,
  ...reviewCommentHandlers,
  ...requestedReviewerHandlers,
  ...protectionHandlers,
  ...tagProtectionHandlers,
  ...statusHandlers,
  ...tokenHandlers,
  ...instanceHandlers,
  ...userHandlers,
  ...accountHandlers,
  ...teamHandlers,
  ...transferHandlers,
  ...oauth2Handlers,
  ...wikiHandlers
};

// src/forge/oauth2-grants.ts
import { createHash as createHash5 } from "node:crypto";
var codeSeconds = 600;
function applicationOf({ db }, clientId) {
  return db.get("SELECT * FROM oauth2_applications WHERE client_id = ?", clientId);
}
function allowsAddress(application, address) {
  const registered = JSON.parse(application.redirect_uris).map(comparable);
  if (registered.includes(comparable(address))) return true;
  const url = URL.parse(address);
  const isLoopback2 = url?.protocol === "http:" && /^(127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (application.is_confidential || !url || !isLoopback2 || url.port === "") return false;
  return registered.includes(comparable(address.replace(`:${url.port}`, "")));
}
function comparable(address) {
  return address.replace(/[A-Z]/g, (letter) => letter.toLowerCase()).replace(/\/$/, "");
}
function isSecretOf(application, secret) {
  return isSameSecret(digestOf(secret), application.secret_digest);
}
function grantOf({ db }, application, user) {
  const sql = "SELECT * FROM oauth2_grants WHERE application_id = ? AND user_id = ?";
  return db.get(sql, application.id, user.id);
}
function insertGrant({ db, clock }, application, user, scope) {
  const { lastId } = db.run(
    "INSERT INTO oauth2_grants (user_id, application_id, scope, created_at) VALUES (?, ?, ?, ?)",
    user.id,
    application.id,
    scope,
    secondsOf(clock())
  );
  return found(db.get("SELECT * FROM oauth2_grants WHERE id = ?", lastId));
}
function insertCode({ db, clock }, grant, terms) {
  const code = makeSecret("gta");
  const now = secondsOf(clock());
  db.run("DELETE FROM oauth2_codes WHERE expires_at < ?", now);
  if (terms.nonce !== "") db.run("UPDATE oauth2_grants SET nonce = ? WHERE id = ?", terms.nonce, grant.id);
  db.run(
    `INSERT INTO oauth2_codes (digest, grant_id, redirect_uri, challenge, challenge_method, expires_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
    digestOf(code),
    grant.id,
    terms.redirectUri,
    terms.challenge,
    terms.challengeMethod,
    now + codeSeconds
  );
  return code;
}
function takeCode({ db, clock }, application, given) {
  const row = db.get("SELECT * FROM oauth2_codes WHERE digest = ?", digestOf(given.code));
  const grant = row && db.get("SELECT * FROM oauth2_grants WHERE id = ?", row.grant_id);
  const refuse4 = (error, error_description) => ({ error, error_description });
  if (!row || !grant) return refuse4("unauthorized_client", "client is not authorized");
  if (row.expires_at < secondsOf(clock())) return refuse4("invalid_grant", "authorization code expired");
  if (!meetsChallenge(row, given.verifier))
    return refuse4("unauthorized_client", "failed PKCE code challenge");
  if (row.redirect_uri !== "" && row.redirect_uri !== given.redirectUri) {
    return refuse4("invalid_grant", "redirect_uri differs from the original authorization request");
  }
  if (grant.application_id !== application.id) return refuse4("invalid_grant", "invalid grant");
  const { changes } = db.run("DELETE FROM oauth2_codes WHERE digest = ?", row.digest);
  return changes === 1 ? grant : refuse4("invalid_grant", "authorization code already used");
}
function meetsChallenge({ challenge, challenge_method }, verifier) {
  if (challenge === "" && challenge_method === "") return true;
  if (verifier === "") return false;
  const derived = challenge_method === "S256" ? createHash5("sha256").update(verifier).digest("base64url") : verifier;
  return isSameSecret(derived, challenge);
}

// src/forge/pages/page.ts
function page(title, content) {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<link rel="stylesheet" href="/assets/forge.css"></head>
<body><header><a href="/">forge</a> · <a href="/api/swagger">API</a></header><main><h1>${title}</h1>${content}</main></body>
</html>
`.text;
}
var styles = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.25rem .5rem;border-bottom:1px solid #8884;vertical-align:top}
pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid #8884;padding:.5rem}
.label{border:1px solid #888;border-radius:1rem;padding:0 .5rem}article{border-top:1px solid #8884}h2{font-size:1.1rem}details{margin:.25rem 0}
:root{color-scheme:light dark}
`;
var policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

// src/forge/sessions.ts
import { randomBytes as randomBytes7 } from "node:crypto";
var cookie = "forge_session";
var lifeSeconds = 3600;
var maxSessions = 1e4;
function createSessions(options2) {
  const marks = createFormMarks();
  const kept = /* @__PURE__ */ new Map();
  function start(reply, userId) {
    const id = randomBytes7(32).toString("base64url");
    kept.set(id, { userId, endsAt: options2.clock().getTime() + lifeSeconds * 1e3 });
    for (const oldest of kept.keys()) {
      if (kept.size <= maxSessions) break;
      kept.delete(oldest);
    }
    const secure = options2.isSecure() ? "; Secure" : "";
    const flags = `Path=/login; HttpOnly; SameSite=Lax; Max-Age=${lifeSeconds}${secure}`;
    reply.header("set-cookie", `${cookie}=${id}; ${flags}`);
    return { id, userId };
  }
  return {
    open(request2, reply) {
      const id = /(?:^|;\s*)forge_session=([\w-]+)/.exec(request2.headers.cookie ?? "")?.[1] ?? "";
      const known2 = kept.get(id);
      if (known2 && known2.endsAt > options2.clock().getTime()) return { id, userId: known2.userId };
      kept.delete(id);
      return start(reply, void 0);
    },
    signIn(session, reply, userId) {
      kept.delete(session.id);
      return start(reply, userId);
    },
    markOf: ({ id }, purpose) => marks.markOf(id, purpose),
    isMarked: (request2, { id }, purpose, mark2) => !isSentByOtherSite(request2.headers) && marks.isMarkOf(mark2, id, purpose)
  };
}

// src/forge/authorize.ts
var members = [
  ...["client_id", "redirect_uri", "response_type", "state", "scope", "nonce"],
  ...["code_challenge", "code_challenge_method"]
];
function registerAuthorize(app, context) {
  const { db, clock } = context;
  const isSecure = () => context.rootUrl().startsWith("https:");
  const sessions = createSessions({ clock, isSecure });
  const readActor = createActorReader(context);
  app.get("/login/oauth/authorize", (request2, reply) => {
    const query = new URLSearchParams(request2.url.split("?").slice(1).join("?"));
    return visit(request2, reply, query, (seen2) => welcome(seen2));
  });
  app.post(
    "/login/oauth/sign-in",
    (request2, reply) => visit(request2, reply, formOf(request2), (seen2) => signIn(seen2))
  );
  app.post(
    "/login/oauth/grant",
    (request2, reply) => visit(request2, reply, formOf(request2), (seen2) => decide(seen2))
  );
  async function visit(request2, reply, form, answer2) {
    const asked = Object.fromEntries(members.map((name) => [name, form.get(name) ?? ""]));
    const application = applicationOf(context, asked.client_id);
    protect(
      reply,
      application && allowsAddress(application, asked.redirect_uri) ? asked.redirect_uri : void 0
    );
    if (!application) return refuse2(reply, "Client ID not registered");
    if (!allowsAddress(application, asked.redirect_uri)) return refuse2(reply, "Unregistered Redirect URI");
    const problem = problemOf(asked, application);
    if (problem) return sendBack(reply, asked, problem);
    const session = sessions.open(request2, reply);
    return answer2({ request: request2, reply, session, form, asked, application });
  }
  function personOf({ userId }) {
    const user = db.get("SELECT * FROM users WHERE id = ?", userId ?? 0);
    return user?.is_active && !user.prohibit_login && !user.must_change_password ? user : void 0;
  }
  function welcome(seen2) {
    const { reply, asked, application, session } = seen2;
    const user = personOf(session);
    if (!user) return show4(reply, "Sign in", signInForm(seen2, ""));
    const grant = grantOf(context, application, user);
    const isKnown = application.is_confidential || application.skip_secondary_authorization;
    if (grant && isKnown) return sendCode(reply, asked, insertCode(context, grant, termsOf2(asked)));
    return show4(reply, `Allow ${application.name}?`, consentForm(seen2, user));
  }
  async function signIn(seen2) {
    const { request: request2, reply, session, form, asked } = seen2;
    if (!sessions.isMarked(request2, session, "sign-in", form.get("mark") ?? ""))
      return refuse2(reply, stale, 403);
    const words = `${form.get("user_name") ?? ""}:${form.get("password") ?? ""}`;
    try {
      const authorization = `Basic ${Buffer.from(words).toString("base64")}`;
      const actor = await readActor({ authorization, queryToken: void 0, sudo: void 0 });
      if (!actor.user || actor.scopes) throw new ForgeProblem(401, "only a password signs in here");
      sessions.signIn(session, reply, actor.user.id);
    } catch (error) {
      if (!(error instanceof ForgeProblem)) throw error;
      return show4(reply.code(error.status), "Sign in", signInForm(seen2, "Name or password are wrong."));
    }
    return reply.redirect(`/login/oauth/authorize?${new URLSearchParams(asked)}`, 303);
  }
  function decide(seen2) {
    const { request: request2, reply, session, form, asked, application } = seen2;
    const user = personOf(session);
    const isMarked = sessions.isMarked(request2, session, purposeOf(asked), form.get("mark") ?? "");
    if (!user || !isMarked) return refuse2(reply, stale, 403);
    if (form.get("granted") !== "true") {
      return sendBack(reply, asked, { error: "access_denied", text: "the request is denied" });
    }
    const grant = grantOf(context, application, user) ?? insertGrant(context, application, user, asked.scope);
    if (grant.scope !== asked.scope) {
      return sendBack(reply, asked, { error: "server_error", text: "a grant exists with different scope" });
    }
    return sendCode(reply, asked, insertCode(context, grant, termsOf2(asked)));
  }
  function signInForm({ session, asked }, problem) {
    return html`${problem === "" ? void 0 : html`<p role="alert">${problem}</p>`}
<form method="post" action="/login/oauth/sign-in">${hidden(asked, sessions.markOf(session, "sign-in"))}
<p><label>Name or e-mail <input name="user_name" autocomplete="username" required></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password" required></label></p>
<p><button>Sign in</button></p></form>`;
  }
  function consentForm({ session, asked, application }, user) {
    const maker = db.get("SELECT * FROM users WHERE id = ?", application.user_id);
    const scopes = scopesOfGrant(asked.scope).join(", ");
    return html`<p><strong>${application.name}</strong>, made by ${maker?.name ?? "nobody known"}, asks to act as
<strong>${user.name}</strong>. It will be allowed: ${scopes}. You will be sent to <strong>${asked.redirect_uri}</strong>.</p>
<form method="post" action="/login/oauth/grant">${hidden(asked, sessions.markOf(session, purposeOf(asked)))}
<p><button name="granted" value="true">Allow</button> <button name="granted" value="false">Refuse</button></p></form>`;
  }
}
var stale = "this form is out of date: start again from the program";
function purposeOf(asked) {
  return JSON.stringify(members.map((name) => asked[name]));
}
function termsOf2(asked) {
  return {
    redirectUri: asked.redirect_uri,
    challenge: asked.code_challenge,
    challengeMethod: asked.code_challenge_method,
    nonce: asked.nonce
  };
}
function problemOf(asked, application) {
  if (asked.response_type !== "code") {
    return { error: "unsupported_response_type", text: "Only code response type is supported." };
  }
  const method = asked.code_challenge_method;
  if (method === "S256" || method === "plain") return void 0;
  if (method !== "") return { error: "invalid_request", text: "unsupported code challenge method" };
  if (application.is_confidential) return void 0;
  return { error: "invalid_request", text: "PKCE is required for public clients" };
}
function sendBack(reply, asked, problem) {
  const address = new URL(asked.redirect_uri);
  address.searchParams.set("error", problem.error);
  address.searchParams.set("error_description", problem.text);
  address.searchParams.set("state", asked.state);
  return reply.redirect(address.href, 303);
}
function sendCode(reply, asked, code) {
  const address = new URL(asked.redirect_uri);
  if (asked.state !== "") address.searchParams.set("state", asked.state);
  address.searchParams.set("code", code);
  return reply.redirect(address.href, 303);
}
function refuse2(reply, text, status = 400) {
  return show4(reply.code(status), "Not allowed", html`<p>${text}</p>`);
}
function show4(reply, title, content) {
  return reply.type("text/html; charset=utf-8").send(page(title, content));
}
function protect(reply, address) {
  const origin = address === void 0 ? "" : ` ${new URL(address).origin}`;
  reply.headers({
    "content-security-policy": policy.replace(/form-action [^;]*/, `form-action 'self'${origin}`),
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff"
  });
}
function hidden(asked, mark2) {
  const fields = [...members.map((name) => [name, asked[name]]), ["mark", mark2]];
  return fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
}
function formOf(request2) {
  return new URLSearchParams(Buffer.isBuffer(request2.body) ? request2.body.toString("utf8") : "");
}

// src/forge/oauth2-http.ts
function registerOAuth2(app, context) {
  const readActor = createActorReader(context);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "*",
    { parseAs: "buffer", bodyLimit: 65536 },
    (_request, body, done) => done(null, body)
  );
  registerAuthorize(app, context);
  app.post("/login/oauth/access_token", (request2, reply) => {
    const form = readForm(request2);
    const client = readClient(request2, form);
    const answer2 = "error" in client ? client : exchange(context, form, client);
    reply.header("cache-control", "no-store");
    return reply.code("error" in answer2 ? 400 : 200).send(answer2);
  });
  app.get("/login/oauth/keys", (_request, reply) => reply.send({ keys: [publicKeyOf(context)] }));
  app.get("/.well-known/openid-configuration", (_request, reply) => reply.send(describe2(context)));
  app.post("/login/oauth/introspect", (request2, reply) => introspect(context, request2, reply));
  app.route({
    method: ["GET", "POST"],
    url: "/login/oauth/userinfo",
    async handler(request2, reply) {
      try {
        const { authorization } = request2.headers;
        const actor = await readActor({ authorization, queryToken: void 0, sudo: void 0 });
        if (!actor.user || actor.isBasic) throw new ForgeProblem(401, "no valid authorization");
        if (actor.scopes && !coversScopes(actor.scopes, ["read:user"])) {
          throw new ForgeProblem(403, "token does not have required scope: read:user");
        }
        const isPublic = actor.scopes?.includes("public-only") === true;
        return reply.send(informationOf(context, actor.user, isPublic));
      } catch (error) {
        if (!(error instanceof ForgeProblem)) throw error;
        reply.header("www-authenticate", 'Bearer realm="Gitea OAuth2"').code(error.status);
        return reply.type("text/plain; charset=utf-8").send(error.message);
      }
    }
  });
}
function readForm(request2) {
  const text = Buffer.isBuffer(request2.body) ? request2.body.toString("utf8") : "";
  if (!/^application\/json\b/i.test(request2.headers["content-type"] ?? "")) return new URLSearchParams(text);
  try {
    const given = JSON.parse(text);
    const entries = typeof given === "object" && given !== null ? Object.entries(given) : [];
    return new URLSearchParams(entries.filter(([, value]) => typeof value === "string"));
  } catch {
    return new URLSearchParams();
  }
}
function readBasic(request2) {
  const encoded = /^basic (\S+)$/i.exec(request2.headers.authorization ?? "")?.[1];
  const [id, ...secret] = Buffer.from(encoded ?? "", "base64").toString("utf8").split(":");
  return encoded !== void 0 && id !== void 0 && secret.length > 0 ? { id, secret: secret.join(":") } : void 0;
}
function readClient(request2, form) {
  const [id, secret] = [form.get("client_id") ?? "", form.get("client_secret") ?? ""];
  if (id !== "" && secret !== "" || !request2.headers.authorization) return { id, secret };
  const invalid2 = (error_description) => ({ error: "invalid_request", error_description });
  const basic = readBasic(request2);
  if (!basic) return invalid2("cannot parse basic auth header");
  if (id !== "" && id !== basic.id)
    return invalid2("client_id in request body inconsistent with Authorization header");
  if (secret !== "" && !isSameSecret(secret, basic.secret))
    return invalid2("client_secret in request body inconsistent with Authorization header");
  return basic;
}
function exchange(context, form, client) {
  const kind = form.get("grant_type");
  const refuse4 = (error, error_description) => ({ error, error_description });
  if (kind !== "authorization_code" && kind !== "refresh_token") {
    const text = "Only refresh_token or authorization_code grant type is supported";
    return refuse4("unsupported_grant_type", text);
  }
  const application = applicationOf(context, client.id);
  if (!application) return refuse4("invalid_client", `cannot load client with client id: "${client.id}"`);
  if (application.is_confidential && !isSecretOf(application, client.secret)) {
    const text = client.secret === "" ? "invalid empty client secret" : "invalid client secret";
    return refuse4(kind === "refresh_token" ? "invalid_client" : "unauthorized_client", text);
  }
  const grant = kind === "refresh_token" ? refresh(context, form, application) : redeem(context, form, application);
  return "error" in grant ? grant : tokensOf(context, grant, application);
}
function redeem(context, form, application) {
  const given = {
    code: form.get("code") ?? "",
    verifier: form.get("code_verifier") ?? "",
    redirectUri: form.get("redirect_uri") ?? ""
  };
  return context.db.transaction(() => takeCode(context, application, given));
}
function refresh(context, form, application) {
  const grant = readRefreshToken(context, form.get("refresh_token") ?? "");
  if (!grant) return { error: "unauthorized_client", error_description: "unable to parse refresh token" };
  if (grant.application_id === application.id) return grant;
  return { error: "invalid_grant", error_description: "refresh token belongs to a different client" };
}
function tokensOf(context, grant, application) {
  const { access, refresh: again } = signTokens(context, grant);
  const words = grant.scope.split(" ");
  const user = context.db.get("SELECT * FROM users WHERE id = ?", grant.user_id);
  const isOpen2 = words.includes("openid") && user !== void 0;
  return {
    access_token: access,
    token_type: "bearer",
    expires_in: accessSeconds,
    refresh_token: again,
    ...isOpen2 ? { id_token: signToken(context, identityOf(context, { grant, application, user, words })) } : {}
  };
}
function identityOf(context, {
  grant,
  application,
  user,
  words
}) {
  const iat = secondsOf(context.clock());
  const about = informationOf(context, user, false);
  const { name, preferred_username, picture, email, groups } = about;
  const profile = {
    name,
    preferred_username,
    picture,
    profile: `${context.rootUrl()}/${user.name}`,
    website: user.website
  };
  return {
    iss: context.rootUrl(),
    sub: about.sub,
    aud: [application.client_id],
    exp: iat + accessSeconds,
    iat,
    ...grant.nonce === "" ? {} : { nonce: grant.nonce },
    ...words.includes("profile") ? profile : {},
    ...words.includes("email") ? { email, email_verified: user.is_active === 1 } : {},
    ...words.includes("groups") ? { groups } : {}
  };
}
function informationOf(context, user, isPublicOnly) {
  const rows = context.db.all(
    `SELECT o.name AS organization, t.lower_name AS team FROM team_members m JOIN teams t ON t.id = m.team_id
     JOIN users o ON o.id = m.org_id WHERE m.user_id = ? AND (? = 0 OR o.visibility = 'public') ORDER BY o.id, t.id`,
    user.id,
    isPublicOnly
  );
  const groups = new Set(rows.flatMap(({ organization, team }) => [organization, `${organization}:${team}`]));
  return {
    sub: String(user.id),
    name: user.full_name || user.name,
    preferred_username: user.name,
    email: user.email,
    picture: toUser(context, user, user).avatar_url,
    groups: groups.size > 0 ? [...groups] : null
  };
}
function introspect(context, request2, reply) {
  const client = readBasic(request2);
  const application = client && applicationOf(context, client.id);
  if (!client || !application || !isSecretOf(application, client.secret)) {
    reply.header("www-authenticate", 'Basic realm="Gitea OAuth2"').code(401);
    return reply.type("text/plain; charset=utf-8").send("no valid authorization");
  }
  const token = readForm(request2).get("token") ?? "";
  const grant = readAccessToken(context, token) ?? readRefreshToken(context, token);
  if (!grant || grant.application_id !== application.id) return reply.send({ active: false });
  const user = context.db.get("SELECT * FROM users WHERE id = ?", grant.user_id);
  return reply.send({
    active: true,
    scope: grant.scope,
    username: user?.name,
    iss: context.rootUrl(),
    sub: String(grant.user_id),
    aud: [application.client_id]
  });
}
function describe2(context) {
  const root = context.rootUrl();
  const at = (name) => `${root}/login/oauth/${name}`;
  return {
    issuer: root,
    authorization_endpoint: at("authorize"),
    token_endpoint: at("access_token"),
    jwks_uri: at("keys"),
    userinfo_endpoint: at("userinfo"),
    introspection_endpoint: at("introspect"),
    response_types_supported: ["code", "id_token"],
    id_token_signing_alg_values_supported: ["RS256"],
    subject_types_supported: ["public"],
    scopes_supported: ["openid", "profile", "email", "groups"],
    code_challenge_methods_supported: ["plain", "S256"],
    grant_types_supported: ["authorization_code", "refresh_token"]
  };
}

// src/forge/description.ts
import { z as z4 } from "zod";
function describeApi(rootUrl) {
  const paths = {};
  const known2 = /* @__PURE__ */ new Map();
  for (const operation of Object.values(operations)) {
    const own = operation.path.replace(/\*\}/g, "}");
    const shape = own.replace(/\{\w+\}/g, "{}");
    const path = known2.get(shape) ?? own;
    known2.set(shape, path);
    const described = describeOperation(operation, namesBetween(own, path));
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: described };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Forge API",
      version: baselineVersion,
      description: "The API of the embedded forge; lists may be `null` where nothing is there.",
      license: { name: "MIT", identifier: "MIT" }
    },
    servers: [{ url: `${rootUrl}/api/v1` }],
    components: {
      schemas: {
        Error: {
          type: "object",
          properties: { message: { type: "string" }, url: { type: "string" } },
          required: ["message"]
        }
      },
      securitySchemes: {
        basic: { type: "http", scheme: "basic" },
        token: {
          type: "apiKey",
          in: "header",
          name: "Authorization",
          description: "`token <token>` or `Bearer <token>`"
        }
      }
    },
    security: [{ token: [] }, { basic: [] }, {}],
    paths
  };
}
function namesBetween(own, other) {
  const names = (path) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
  const others = names(other);
  return new Map(names(own).map((name, at) => [name, others[at] ?? name]));
}
function describeOperation(operation, names) {
  const scopes = operation.scopes.length > 0 ? ` Token scopes: ${operation.scopes.join(", ")}.` : "";
  return {
    operationId: operation.id,
    summary: operation.meaning,
    description: `For: ${operation.access}.${scopes}`,
    tags: [operation.id.split(".")[0]],
    parameters: [
      ...describeParameters(operation.params, "path", names),
      ...operation.query ? describeParameters(operation.query, "query") : []
    ],
    ...describeBody(operation),
    responses: describeResponses(operation)
  };
}
function describeParameters(shape, place, names = /* @__PURE__ */ new Map()) {
  return Object.entries(shape.shape).map(([name, schema]) => ({
    name: names.get(name) ?? name,
    in: place,
    required: place === "path",
    schema: toSchema(schema)
  }));
}
var failures = {
  400: "The request cannot be read.",
  401: "Nobody is signed in, or the credentials are wrong.",
  403: "The role or the scope of the token does not reach.",
  404: "There is no such thing for this caller.",
  422: "The body or what it asks for is not valid.",
  423: "The repository is archived."
};
function describeResponses(operation) {
  const { success, response, media } = operation;
  const content = response && (media === "text" ? asText : asJson(response));
  const statuses3 = /* @__PURE__ */ new Set([401, 403, 404, ...operation.errors]);
  const refusal = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
  const refusals = [...statuses3].map((status) => [
    status,
    { description: failures[status] ?? "The operation is refused.", content: refusal }
  ]);
  return {
    ...Object.fromEntries(refusals),
    [success]: { description: "Done.", ...content && { content } }
  };
}
var asText = { "text/plain": { schema: { type: "string" } } };
function describeBody({ upload: upload2, body }) {
  if (upload2 !== void 0) {
    const file = { type: "string", format: "binary" };
    const schema = { type: "object", properties: { [upload2]: file }, required: [upload2] };
    return { requestBody: { required: true, content: { "multipart/form-data": { schema } } } };
  }
  return body ? { requestBody: { required: true, content: asJson(body) } } : {};
}
function asJson(schema) {
  return { "application/json": { schema: toSchema(schema) } };
}
function toSchema(schema) {
  const { $schema: _, ...plain } = z4.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return plain;
}

// src/forge/pages/api.ts
function apiPage(rootUrl) {
  const rows = Object.values(operations).toSorted(
    (one, other) => one.path < other.path ? -1 : 1
  );
  const entries = rows.map(
    (row) => html`<details id="${row.id}"><summary><code>${row.method} ${row.path}</code> ${row.meaning}</summary>
<p>For: ${row.access}. Token scopes: ${row.scopes.join(", ") || "none"}. Answers ${row.success};
refuses with ${row.errors.join(", ") || "nothing of its own"}.
${row.paging ? "A list in pages: page, limit." : void 0}</p>
${row.query ? html`<p>Query: ${Object.keys(row.query.shape).join(", ")}</p>` : void 0}
${row.body && "shape" in row.body ? html`<p>Body: ${Object.keys(row.body.shape).join(", ")}</p>` : void 0}
</details>`
  );
  const content = html`<p>Address: <code>${rootUrl}/api/v1</code>. For programs:
<a href="/swagger.v1.json">swagger.v1.json</a> (OpenAPI).</p>${entries}`;
  return { title: "API", content };
}

// src/forge/pages/forms.ts
function createFormGuard() {
  const marks = createFormMarks();
  const nameOf = (caller) => String(caller?.id ?? 0);
  return {
    markOf: (caller, purpose) => marks.markOf(nameOf(caller), purpose),
    check(request2, caller, purpose) {
      const given = request2.body instanceof URLSearchParams ? request2.body.get("mark") ?? "" : "";
      const isRight = marks.isMarkOf(given, nameOf(caller), purpose);
      if (isSentByOtherSite(request2.headers) || !isRight)
        throw new ForgeProblem(403, "this form is out of date: load its page again");
    }
  };
}

// src/forge/pages/hooks.ts
var shown = 50;
var ofRepository3 = (context) => ({ names, caller }) => {
  const { repository, owner, permission } = findRepository(context.db, names.owner, names.repo, caller);
  if (!reaches(permission, "admin")) throw new ForgeProblem(404, "not found");
  const title = `${owner.name}/${repository.name}`;
  return { title, path: `/${title}/settings/hooks`, column: "repo_id", id: repository.id };
};
var ofOrganization3 = (context) => ({ names, caller }) => {
  const organization = userNamed(context.db, names.org);
  const isOwner = organization && caller && isOrganizationOwner(context.db, organization, caller);
  if (organization?.type !== "organization" || !isOwner) throw new ForgeProblem(404, "not found");
  const { name: title, id } = organization;
  return { title, path: `/org/${title}/settings/hooks`, column: "owner_id", id };
};
var ofCaller2 = ({ caller }) => {
  const { name: title, id } = found(caller);
  return { title, path: "/user/settings/hooks", column: "owner_id", id };
};
function registerHookPages(app, context, { show: show5, act, guard: guard3 }) {
  const levels = [
    ["/:owner/:repo/settings/hooks", ofRepository3(context)],
    ["/org/:org/settings/hooks", ofOrganization3(context)],
    ["/user/settings/hooks", ofCaller2]
  ];
  for (const [path, holderOf] of levels) {
    app.get(path, (request2, reply) => show5(request2, reply, (visit) => hooksPage(context, holderOf(visit))));
    app.get(
      `${path}/:id`,
      (request2, reply) => show5(request2, reply, (visit) => historyPage(context, guard3, holderOf(visit), visit))
    );
    app.post(
      `${path}/:id/deliveries/:uuid/redeliver`,
      (request2, reply) => act(request2, reply, (visit) => {
        const holder = holderOf(visit);
        guard3.check(request2, visit.caller, visit.names.uuid);
        const hook = hookOf2(context, holder, visit.names.id);
        found(redeliverOf(context, hook.id, visit.names.uuid), "not found");
        return `${holder.path}/${hook.id}`;
      })
    );
  }
}
function hookOf2({ db }, { column, id }, text) {
  const hookId = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  return found(
    db.get(`SELECT * FROM hooks WHERE id = ? AND ${column} = ?`, hookId, id),
    "not found"
  );
}
function hooksPage({ db }, holder) {
  const sql = `SELECT * FROM hooks WHERE ${holder.column} = ? ORDER BY id LIMIT ?`;
  const lines = db.all(sql, holder.id, shown).map(
    (hook) => html`<tr><td><a href="${holder.path}/${hook.id}">${hook.url}</a></td>
<td>${hook.is_active ? "active" : "inactive"}</td><td>${hook.events}</td></tr>`
  );
  return { title: `Hooks of ${holder.title}`, content: html`<table>${lines}</table>` };
}
function historyPage(context, guard3, holder, visit) {
  const hook = hookOf2(context, holder, visit.names.id);
  const entries = context.deliveries.list(hook.id, shown).map(
    (delivery) => viewDelivery(delivery, {
      action: `${holder.path}/${hook.id}/deliveries/${delivery.uuid}/redeliver`,
      mark: guard3.markOf(visit.caller, delivery.uuid)
    })
  );
  const content = html`<p>${hook.url}, ${hook.is_active ? "active" : "inactive"}</p>
${entries.length > 0 ? entries : html`<p>Nothing was sent yet.</p>`}`;
  return { title: `Deliveries of hook ${hook.id} of ${holder.title}`, content };
}
function viewDelivery(delivery, form) {
  const again = delivery.again_of && html`<p>Sent again: repeats <code>${delivery.again_of}</code></p>`;
  const isOver = delivery.state === "delivered" || delivery.state === "failed";
  const button = html`<form method="post" action="${form.action}">
<input type="hidden" name="mark" value="${form.mark}"><button>Send again</button></form>`;
  return html`<article id="${delivery.uuid}"><h2>${delivery.event_type}: ${delivery.state}
${delivery.response_status || ""}</h2>
<p><code>${delivery.uuid}</code>, ${toInstant(delivery.created_at)}</p>${again || void 0}
${isOver ? button : void 0}
<details><summary>Request and answer</summary><h3>Headers sent</h3><pre>${delivery.request_headers}</pre>
<h3>Payload</h3><pre>${delivery.payload}</pre>
<h3>Answer</h3><pre>${delivery.response_headers}</pre><pre>${delivery.response_body}</pre></details></article>`;
}

// src/forge/pages/reviews.ts
function viewReviews(context, pull, caller) {
  const { db } = context;
  const reviews = db.all(
    `SELECT v.*, coalesce(u.name, t.name, 'ghost') AS who FROM reviews v LEFT JOIN users u ON u.id = v.reviewer_id
       LEFT JOIN teams t ON t.id = v.team_id WHERE v.issue_id = ? ORDER BY v.id`,
    pull.issue_id
  ).filter((review) => mayKnow(review, caller));
  const lines = reviews.map(
    ({ who, type, body, official, stale: stale2, dismissed }) => html`<tr><td>${who}</td><td>${type}
${official ? "official" : void 0} ${stale2 ? "stale" : void 0} ${dismissed ? "dismissed" : void 0}</td>
<td>${body}</td></tr>`
  );
  const statuses3 = db.all(
    `SELECT context, state, description FROM commit_statuses WHERE id IN (
       SELECT max(id) FROM commit_statuses WHERE repo_id = ? AND sha = ? GROUP BY context) ORDER BY context`,
    pull.repo_id,
    pull.head_sha
  );
  const checks = statuses3.map(
    ({ context: name, state, description }) => html`<tr><td>${name}</td><td>${state}</td><td>${description}</td></tr>`
  );
  return html`${lines.length > 0 ? html`<h2>Reviews</h2><table>${lines}</table>` : void 0}
${checks.length > 0 ? html`<h2>Statuses</h2><table>${checks}</table>` : void 0}`;
}
function viewProtections(context, repositoryId) {
  const rules = context.db.all(
    "SELECT rule_name, terms FROM branch_protections WHERE repo_id = ? ORDER BY priority, id",
    repositoryId
  );
  const lines = rules.map(({ rule_name, terms }) => {
    const members2 = Object.entries(JSON.parse(terms)).filter(
      ([, value]) => Boolean(value) && !(Array.isArray(value) && value.length === 0)
    );
    const said = members2.map(([name, value]) => html`<li>${name}: ${JSON.stringify(value)}</li>`);
    return html`<tr><td><code>${rule_name}</code></td><td><ul>${said}</ul></td></tr>`;
  });
  return lines.length > 0 ? html`<table>${lines}</table>` : html`<p>No branch is protected.</p>`;
}

// src/forge/pages/runners.ts
var shown2 = 500;
function registerRunnerPages(app, context, show5) {
  const { db } = context;
  const page2 = (path, holderOf) => {
    app.get(
      path,
      (request2, reply) => show5(request2, reply, (visit) => {
        const { title, holder } = holderOf(visit);
        return { title: `Runners of ${title}`, content: viewRunners(context, holder) };
      })
    );
  };
  page2("/:owner/:repo/settings/actions/runners", ({ names, caller }) => {
    const { repository, owner, permission } = findRepository(db, names.owner, names.repo, caller);
    if (!reaches(permission, "owner")) throw new ForgeProblem(404, "not found");
    return { title: `${owner.name}/${repository.name}`, holder: { column: "repo_id", id: repository.id } };
  });
  page2("/org/:org/settings/actions/runners", ({ names, caller }) => {
    const organization = userNamed(db, names.org);
    const isOwner = organization && caller && isOrganizationOwner(db, organization, caller);
    if (organization?.type !== "organization" || !isOwner) throw new ForgeProblem(404, "not found");
    return { title: organization.name, holder: { column: "owner_id", id: organization.id } };
  });
  page2("/user/settings/actions/runners", ({ caller }) => {
    const { name, id } = found(caller);
    return { title: name, holder: { column: "owner_id", id } };
  });
  page2("/-/admin/actions/runners", ({ caller }) => {
    if (!caller?.is_admin) throw new ForgeProblem(404, "not found");
    return { title: "this instance", holder: { column: "all" } };
  });
}
function viewRunners(context, holder) {
  const { runners: runners2, total } = listRunners(context, holder, { limit: shown2, offset: 0 });
  const lines = runners2.map((row) => viewRunner(context, row));
  return html`<p>${total} in all</p><table>
<tr><th>Name</th><th>State</th><th>Takes jobs</th><th>Labels</th><th>Of</th></tr>${lines}</table>`;
}
function viewRunner(context, row) {
  const { name, status, busy, disabled: disabled2, ephemeral, labels } = toRunner(row, context.clock());
  const takes = disabled2 ? "no" : ephemeral ? "one, then it is gone" : "yes";
  return html`<tr><td>${name}</td><td>${busy ? "online, busy" : status}</td><td>${takes}</td>
<td>${labels.map((label) => html`<span class="label">${label.name}</span> `)}</td><td>${levelOf2(context, row)}</td></tr>`;
}
function levelOf2({ db }, row) {
  if (row.repo_id !== null) {
    const sql = `SELECT o.name || '/' || r.name AS name FROM repositories r JOIN users o ON o.id = r.owner_id WHERE r.id = ?`;
    return db.get(sql, row.repo_id)?.name ?? "";
  }
  if (row.owner_id === null) return "the instance";
  return db.get("SELECT name FROM users WHERE id = ?", row.owner_id)?.name ?? "";
}

// src/forge/pages/views.ts
var shown3 = 50;
function viewRepositories(repositories2) {
  const lines = repositories2.map(
    ({ owner, name, description }) => html`<tr><td><a href="/${owner}/${name}">${owner}/${name}</a></td><td>${description}</td></tr>`
  );
  return html`<table>${lines}</table>`;
}
function viewRepository(context, { repository, owner }) {
  const { db } = context;
  const names = `${owner.name}/${repository.name}`;
  const list2 = (isPull) => db.all(
    `SELECT * FROM issues WHERE repo_id = ? AND is_closed = 0 AND is_pull = ? ORDER BY created_at DESC, id DESC LIMIT ?`,
    repository.id,
    isPull,
    shown3
  );
  const labels = db.all(
    "SELECT * FROM labels WHERE repo_id = ? ORDER BY name, id LIMIT ?",
    repository.id,
    shown3
  );
  const settings = html`<p><a href="/${names}/settings/hooks">Hooks</a> ·
<a href="/${names}/settings/branches">Protections</a> ·
<a href="/${names}/settings/actions/runners">Runners</a></p>`;
  return html`<p>${repository.description}</p><p><code>git clone ${context.rootUrl()}/${names}.git</code></p>
<p>${viewLabels(labels)}</p>${settings}
<h2>Issues</h2>${viewIssues(context, names, list2(0))}<h2>Pull requests</h2>${viewIssues(context, names, list2(1))}`;
}
function viewLabels(labels) {
  return html`${labels.map((label) => html`<span class="label">${label.name}</span> `)}`;
}
function viewIssues(context, names, issues2) {
  const labels = loadLabels(
    context,
    issues2.map((issue) => issue.id)
  );
  const lines = issues2.map(
    (issue) => html`<tr><td>#${issue.number}</td>
<td><a href="/${names}/${issue.is_pull ? "pulls" : "issues"}/${issue.number}">${issue.title}</a></td>
<td>${viewLabels(labels.get(issue.id) ?? [])}</td></tr>`
  );
  return html`<table>${lines}</table>`;
}
function viewIssue(context, issue, caller) {
  const { db } = context;
  const sql = "SELECT * FROM comments WHERE issue_id = ? ORDER BY created_at, id";
  const comments = db.all(sql, issue.id);
  const people = loadUsers(context, [issue.poster_id, ...comments.map((comment) => comment.poster_id)]);
  const said = (posterId, at, body) => html`<p>${people.get(posterId)?.name ?? "ghost"}, ${toInstant(at)}</p><pre>${body}</pre>`;
  const pull = db.get("SELECT * FROM pulls WHERE issue_id = ?", issue.id);
  return html`<p>${pull?.is_merged ? "merged" : issue.is_closed ? "closed" : "open"}
${viewLabels(loadLabels(context, [issue.id]).get(issue.id) ?? [])}</p>
${pull && html`<p><code>${pull.head_branch}</code> into <code>${pull.base_branch}</code>, ${pull.status}</p>`}
${said(issue.poster_id, issue.created_at, issue.body)}
${comments.map((comment) => said(comment.poster_id, comment.created_at, comment.body))}
${pull && viewReviews(context, pull, caller)}`;
}

// src/forge/pages/visit.ts
function createVisits(context) {
  const readActor = createActorReader(context);
  async function visitOf(request2, level) {
    const { authorization } = request2.headers;
    const actor = await readActor({ authorization, queryToken: void 0, sudo: void 0 });
    const needed2 = [`${level}:repository`, `${level}:issue`];
    if (actor.scopes && !coversScopes(actor.scopes, needed2)) {
      throw new ForgeProblem(403, `the token does not have the scopes ${needed2.join(" and ")}`);
    }
    return { names: request2.params, caller: actor.user };
  }
  function protect2(reply) {
    reply.headers({
      "content-security-policy": policy,
      "cache-control": "no-store",
      "referrer-policy": "same-origin",
      "x-content-type-options": "nosniff"
    });
  }
  return {
    async show(request2, reply, view) {
      protect2(reply);
      try {
        const { title, content } = view(await visitOf(request2, "read"));
        return reply.type("text/html; charset=utf-8").send(page(title, content));
      } catch (error) {
        return refuse3(reply, error);
      }
    },
    async act(request2, reply, act) {
      protect2(reply);
      try {
        return reply.redirect(act(await visitOf(request2, "write")), 303);
      } catch (error) {
        return refuse3(reply, error);
      }
    }
  };
}
function refuse3(reply, error) {
  if (error instanceof Moved) return reply.redirect(error.locationOf(reply.request.url), 301);
  if (!(error instanceof ForgeProblem)) throw error;
  const isStranger = error.status === 404 || error.status === 401;
  if (isStranger && !reply.request.headers.authorization) {
    reply.code(401).header("www-authenticate", 'Basic realm="forge", charset="UTF-8"');
  } else reply.code(error.status);
  return reply.type("text/html; charset=utf-8").send(page(error.message || "forbidden", html``));
}

// src/forge/pages/routes.ts
function registerPages(app, context) {
  const { show: show5, act } = createVisits(context);
  const { db } = context;
  const targetOf = ({ names, caller }) => findRepository(db, names.owner, names.repo, caller);
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: 4096 },
    (_request, body, done) => done(null, new URLSearchParams(String(body)))
  );
  app.get("/assets/forge.css", (_request, reply) => reply.type("text/css; charset=utf-8").send(styles));
  app.get("/swagger.v1.json", (_request, reply) => reply.send(describeApi(context.rootUrl())));
  app.get("/api/swagger", (request2, reply) => show5(request2, reply, () => apiPage(context.rootUrl())));
  app.get("/", (request2, reply) => show5(request2, reply, ({ caller }) => frontPage(context, caller)));
  app.get(
    "/:owner/:repo",
    (request2, reply) => show5(request2, reply, (visit) => {
      const target = targetOf(visit);
      return { title: titleOf2(target), content: viewRepository(context, target) };
    })
  );
  for (const kind of ["issues", "pulls"]) {
    app.get(
      `/:owner/:repo/${kind}/:id`,
      (request2, reply) => show5(request2, reply, (visit) => issuePage(context, targetOf(visit), visit))
    );
  }
  app.get(
    "/:owner/:repo/settings/branches",
    (request2, reply) => show5(request2, reply, (visit) => {
      const target = targetOf(visit);
      if (!reaches(target.permission, "admin")) throw new ForgeProblem(404, "not found");
      const content = viewProtections(context, target.repository.id);
      return { title: `Protections of ${titleOf2(target)}`, content };
    })
  );
  registerHookPages(app, context, { show: show5, act, guard: createFormGuard() });
  registerRunnerPages(app, context, show5);
}
function titleOf2({ repository, owner }) {
  return `${owner.name}/${repository.name}`;
}
function frontPage(context, caller) {
  const readable = readableCondition(caller);
  const rows = context.db.all(
    `SELECT r.*, o.name AS owner FROM repositories r JOIN users o ON o.id = r.owner_id WHERE ${readable.sql}
     ORDER BY r.id DESC LIMIT 50`,
    ...readable.values
  );
  return { title: "Repositories", content: viewRepositories(rows) };
}
function issuePage(context, target, { names, caller }) {
  const sql = "SELECT * FROM issues WHERE repo_id = ? AND number = ?";
  const issue = found(context.db.get(sql, target.repository.id, Number(names.id) || 0));
  return { title: `#${issue.number} ${issue.title}`, content: viewIssue(context, issue, caller) };
}

// src/forge/recovery.ts
async function recover(context) {
  const { db, git } = context;
  const rows = db.all("SELECT DISTINCT repo_id, work FROM unfinished");
  for (const { repo_id } of rows.filter(({ work }) => work === "creating")) {
    context.log.warn({ repository: repo_id }, "a repository was half made when the forge stopped; it goes");
    db.run("DELETE FROM repositories WHERE id = ?", repo_id);
    await git.remove(repo_id);
  }
  const pushed = [];
  for (const { repo_id } of rows.filter(({ work }) => work === "pushing")) {
    const repository = db.get("SELECT * FROM repositories WHERE id = ?", repo_id);
    if (repository) pushed.push(await readAgain(context, repository));
  }
  return () => {
    for (const repository of pushed) followPulls(context, repository);
    context.background.add(async () => {
      for (const { repo_id } of rows) db.run("DELETE FROM unfinished WHERE repo_id = ?", repo_id);
    });
  };
}
async function readAgain(context, repository) {
  const repositoryGit = context.git.open(repository.id);
  const refs = await listRefs(repositoryGit, ["refs/heads"]);
  const changes = refs.map(({ name, id }) => ({ ref: name, before: void 0, after: id }));
  return await updateRepository(context, repositoryGit, repository, changes);
}
function followPulls(context, repository) {
  const { db } = context;
  const owner = db.get("SELECT * FROM users WHERE id = ?", repository.owner_id);
  if (!owner) return;
  const branches = db.all(
    `SELECT p.base_branch AS name FROM pulls p JOIN issues i ON i.id = p.issue_id WHERE i.is_closed = 0 AND p.repo_id = ?1
     UNION SELECT p.head_branch FROM pulls p JOIN issues i ON i.id = p.issue_id WHERE i.is_closed = 0 AND p.head_repo_id = ?1`,
    repository.id
  );
  for (const { name } of branches) {
    context.background.add(() => refreshPulls(context, { repositoryId: repository.id, name }, owner));
  }
}

// src/forge/route.ts
var prefix = "/api/v1";
var methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
function registerOperations(app, context, handlers2) {
  const readActor = createActorReader(context);
  const routes = routesOf(handlers2);
  for (const { method, url, operation, handler } of routes) {
    app.route({ method, url, handler: createAnswer(context, operation, handler, readActor) });
  }
  for (const sameShape of Map.groupBy(routes, shapeOf2).values()) {
    const known2 = new Set(sameShape.map((route) => route.method));
    const others = methods.filter((method) => !known2.has(method));
    const url = sameShape[0]?.url;
    if (url !== void 0 && others.length > 0) app.route({ method: others, url, handler: refuseMethod });
  }
}
function routesOf(handlers2) {
  const routes = Object.entries(handlers2).map(([name, handler]) => {
    const operation = operations[name];
    const anyHandler = handler;
    return { method: operation.method, url: toUrl(operation.path), operation, handler: anyHandler };
  });
  const taken = new Set(routes.map((route) => `${route.method} ${shapeOf2(route)}`));
  const roots = routes.filter(({ method, operation }) => method === "GET" && operation.path.endsWith("*}")).map((route) => ({ ...route, url: route.url.replace(/\/\*$/, "") })).filter((route) => !taken.has(`${route.method} ${shapeOf2(route)}`));
  return [...routes, ...roots];
}
function shapeOf2(route) {
  return route.url.replace(/:\w+/g, ":");
}
function toUrl(path) {
  return prefix + path.replace(/\{\w+\*\}$/, "*").replace(/\{(\w+)\}/g, ":$1");
}
function refuseMethod(_request, reply) {
  return reply.code(405).send();
}

// src/forge/forge.ts
var bodyLimit = 32 * 1024 * 1024;
async function createForge(options2) {
  const folder = options2.data ?? mkdtempSync(join6(tmpdir2(), "forge-"));
  mkdirSync3(folder, { recursive: true });
  const db = openDatabase(join6(folder, "forge.db"));
  const git = createGitStore(join6(folder, "repositories"));
  let address = options2.rootUrl?.replace(/\/+$/, "");
  const rootUrl = () => {
    if (address === void 0) throw new ReeveError("internal", "the forge has no address before it listens");
    return address;
  };
  const { log = silentLog } = options2;
  const movable = createMovableClock(options2.clock);
  const clock = movable.now;
  const deliveries = createDeliveries({ database: db, log, now: () => secondsOf(clock()) });
  const emit = createEmit({ db, clock }, deliveries.wake);
  const background = createBackground(log);
  const attachments = createAttachmentStore(db, join6(folder, "attachments"));
  attachments.sweep();
  const features = { ...defaultFeatures, ...options2.features };
  const context = {
    db,
    git,
    clock,
    log,
    rootUrl,
    emit,
    deliveries,
    background,
    toPull,
    attachments,
    features
  };
  const finishRecovery = await recover(context);
  scheduleChecks(context);
  const control = options2.control ? { token: ensureControlToken(folder), clock: movable, faults: createFaults() } : void 0;
  const app = createApp(context, control);
  await app.ready();
  return {
    get url() {
      return rootUrl();
    },
    controlToken: control?.token,
    async listen({ port = 0, host = "127.0.0.1" } = {}) {
      if (control && !isLoopback(host)) {
        throw new ReeveError("usage", `the control routes are for loopback alone, not for ${host}`);
      }
      const listening = await listen(app, port, host);
      address ??= listening;
      finishRecovery();
      if (options2.seed) await applySeed(app, context, options2.seed);
      return listening;
    },
    deliveries,
    createAdministrator: (account) => createAdministrator(context, account),
    close: () => close(app, context, options2.data === void 0 ? folder : void 0)
  };
}
function isLoopback(host) {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}
function createApp(context, control) {
  const app = fastify({
    bodyLimit,
    forceCloseConnections: true,
    // A sender that trickles its request would hold a connection for ever: fastify sets no limit by itself.
    requestTimeout: 6e4,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 4096 },
    // A path that is not percent-encoded text never reaches a route.
    frameworkErrors(_error, _request, reply) {
      reply.code(400).type("text/plain; charset=utf-8").send("400 Bad Request\n");
    }
  });
  app.setNotFoundHandler(
    (_request, reply) => reply.code(404).type("text/plain; charset=utf-8").send("404 page not found\n")
  );
  app.setErrorHandler((error, request2, reply) => {
    const status = error.statusCode ?? 500;
    const problem = status >= 400 && status < 500 ? new ForgeProblem(status, error.message) : error;
    return sendFailure(context, request2, reply, problem);
  });
  app.register(async (api) => {
    api.removeAllContentTypeParsers();
    api.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    if (control) registerFaults(api, control.faults);
    registerOperations(api, context, handlers);
  });
  if (control) app.register(async (scope) => registerControl(scope, context, control));
  app.register(async (scope) => registerGitHttp(scope, context));
  app.register(async (scope) => registerAttachmentFiles(scope, context));
  app.register(async (scope) => registerOAuth2(scope, context));
  app.register(async (scope) => registerPages(scope, context));
  return app;
}
function registerFaults(app, faults) {
  app.addHook("onRequest", async (_request, reply) => {
    const fault = faults.take();
    if (!fault) return;
    if (fault.latencyMs > 0) await setTimeout2(fault.latencyMs);
    if (fault.status !== void 0)
      return reply.code(fault.status).send({ message: "told to fail", url: "" });
  });
}
async function listen(app, port, host) {
  try {
    return await app.listen({ port, host });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    throw new ReeveError("port-taken", `port ${port} on ${host} is taken by another program`, {
      cause: error
    });
  }
}
async function createAdministrator(context, account) {
  const email = account.email ?? `${account.name}@localhost`;
  return ensureAdministrator(context, { ...account, email });
}
async function close(app, context, temporary) {
  await app.close();
  await context.background.close();
  await context.deliveries.close();
  context.git.close();
  context.db.close();
  if (temporary !== void 0) rmSync2(temporary, { recursive: true, force: true });
}

export {
  Runner,
  controlTokenFile,
  createForge
};

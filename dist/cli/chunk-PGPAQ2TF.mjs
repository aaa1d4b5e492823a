import {
  GlobError,
  createGlob,
  hookEventNames,
  namesToSend,
  shownEvents,
  wantedEvents
} from "./chunk-D4IFGYQO.mjs";
import {
  Attachment,
  Branch,
  BranchProtection,
  ChangedFile,
  Comment,
  CommitEntry,
  CommitStatus,
  Compare,
  EditBranchProtection,
  Hook,
  Issue,
  Label,
  Milestone,
  NotificationThread,
  Organization,
  PullRequest,
  PullReview,
  Repository,
  TagProtection,
  TrackedTime,
  User,
  WikiPageMetaData,
  flag,
  instant,
  int,
  list,
  operations,
  text
} from "./chunk-P5GSASXZ.mjs";
import {
  ReeveError
} from "./chunk-KZNQZHIP.mjs";

// src/facts/ask.ts
import { z as z4 } from "zod";

// src/facts/fact.ts
function defineFact(fact) {
  return fact;
}
function keyOf(request) {
  return request.argument === void 0 ? request.name : `${request.name}(${JSON.stringify(request.argument)})`;
}

// src/facts/where.ts
function repositoryOf(subject) {
  if (subject.repository === void 0)
    throw new ReeveError("forge-not-found", `this ${subject.kind} has no repository`);
  return subject.repository;
}
function inRepository(subject) {
  const { owner, name: name4 } = repositoryOf(subject);
  return { owner, repo: name4 };
}
function inOrganization(subject) {
  return { org: subject.organization ?? repositoryOf(subject).owner };
}
function atIndex(subject) {
  if (subject.index === void 0)
    throw new ReeveError("forge-not-found", `this ${subject.kind} is about nothing with a number`);
  return { ...inRepository(subject), index: subject.index };
}

// src/facts/attachments.ts
var Attached = Attachment.extend({ on: text });
var attachments = defineFact({
  name: "attachments",
  meaning: 'The files attached to the issue or pull request (`on` is "issue"), and, where the event is about a comment, those attached to that comment (`on` is "comment"). A facts file may give names alone.',
  shows: "repository",
  shape: list(Attached),
  of: ["issue", "pull_request"],
  requests: 1,
  example: 'attachments.exists(a, a.name.glob("*.{log,txt}"))',
  complete: (written) => Array.isArray(written) ? written.map(
    (one, place) => typeof one === "string" ? { id: place + 1, name: one, on: "issue" } : { on: "issue", ...one }
  ) : written,
  async ask(context) {
    const [ofIssue, ofComment] = await Promise.all([onIssue(context), onComment(context)]);
    return [...ofIssue, ...ofComment];
  }
});
async function onIssue({ client, subject }) {
  const found = await client.call(operations.listIssueAttachments, { params: atIndex(subject) });
  return found.map((one) => ({ ...one, on: "issue" }));
}
async function onComment({ client, subject, ask }) {
  if (subject.comment === void 0) return [];
  const id = subject.comment;
  const { assets } = await ask({ name: "comment" });
  const found = await Promise.all(
    assets.map(
      (asset) => client.call(operations.getCommentAttachment, {
        params: { ...inRepository(subject), id, attachment_id: asset.id }
      })
    )
  );
  return found.map((one) => ({ ...one, on: "comment" }));
}

// src/facts/branch.ts
var branch = defineFact({
  name: "branch",
  meaning: "The branch as it is now. After a `delete` it cannot be asked.",
  shows: "repository",
  shape: Branch,
  of: ["branch"],
  requests: 1,
  example: "branch.protected && branch.required_approvals < 2",
  ask: ({ client, subject }) => {
    if (subject.ref === void 0) throw new ReeveError("internal", `a ${subject.kind} has no ref`);
    return client.call(operations.getBranch, { params: { ...inRepository(subject), branch: subject.ref } });
  }
});

// src/facts/branch-protections.ts
var branchProtections = defineFact({
  name: "branch_protections",
  meaning: "All branch protections of the repository, in the order in which they win. Names in their lists are those that can read the repository now.",
  shows: "admin",
  shape: list(BranchProtection),
  of: ["repository", "pull_request", "issue", "branch"],
  requests: 1,
  example: 'branch_protections.exists(p, p.rule_name == "main" && p.required_approvals > 0)',
  ask: ({ client, subject }) => client.call(operations.listBranchProtections, { params: inRepository(subject) })
});

// src/facts/branches.ts
var branches = defineFact({
  name: "branches",
  meaning: "All branches of the repository with their newest commit, last committed first; none while it is empty.",
  shows: "repository",
  shape: list(Branch),
  of: ["repository", "pull_request", "issue", "branch"],
  requests: 1,
  example: 'branches.exists(b, b.name == "develop" && b.protected)',
  async ask({ client, subject }) {
    const found = [];
    for await (const one of client.items(operations.listBranches, { params: inRepository(subject) }))
      found.push(one);
    return found;
  }
});

// src/facts/collaborators.ts
var collaborators = defineFact({
  name: "collaborators",
  meaning: "The collaborators of the repository; people who have access through a team or as owner are not among them.",
  shows: "admin",
  shape: list(User),
  of: ["repository", "pull_request", "issue", "branch"],
  requests: 1,
  example: 'collaborators.exists(c, c.login == "release-bot")',
  async ask({ client, subject }) {
    const found = [];
    const params = inRepository(subject);
    for await (const one of client.items(operations.listCollaborators, { params })) found.push(one);
    return found;
  }
});

// src/facts/comment.ts
var comment = defineFact({
  name: "comment",
  meaning: "The comment that the event is about, as it is now; only events of comments have one.",
  shows: "repository",
  shape: Comment,
  of: ["issue", "pull_request"],
  requests: 1,
  example: 'comment.body.startsWith("/label ")',
  ask: ({ client, subject }) => {
    if (subject.comment === void 0) {
      throw new ReeveError("forge-not-found", `this ${subject.kind} event is not about a comment`);
    }
    return client.call(operations.getComment, { params: { ...inRepository(subject), id: subject.comment } });
  }
});

// src/facts/comments.ts
var comments = defineFact({
  name: "comments",
  meaning: "The comments of the issue or pull request, oldest first; those on lines of the diff are not among them.",
  shows: "repository",
  shape: list(Comment),
  of: ["issue", "pull_request"],
  requests: 1,
  example: 'comments.exists(c, c.user.login == "ci" && c.body.startsWith("Coverage"))',
  ask: ({ client, subject }) => client.call(operations.listComments, { params: atIndex(subject) })
});

// src/facts/push-range.ts
async function comparePush({ client, subject, ask }) {
  if (subject.range === void 0) {
    throw new ReeveError("forge-not-found", "only a push has files and commits: this event names none");
  }
  const { before, after } = subject.range;
  if (isNothing(after)) return void 0;
  const base = isNothing(before) ? await defaultBranch(ask) : before;
  return client.call(operations.compare, {
    params: { ...inRepository(subject), basehead: `${base}...${after}` }
  });
}
async function defaultBranch(ask) {
  const repository2 = await ask({ name: "repository" });
  return repository2.default_branch ?? "main";
}
function isNothing(commit) {
  return /^0+$/.test(commit);
}

// src/facts/commits.ts
var commits = defineFact({
  name: "commits",
  meaning: "The commits of a pull request, or those that a push brought, newest first.",
  shows: "repository",
  shape: list(CommitEntry),
  of: ["pull_request", "branch"],
  requests: 1,
  example: 'commits.all(c, c.commit.message.contains("Signed-off-by: "))',
  async ask(context) {
    const { client, subject } = context;
    if (subject.kind === "branch")
      return (await comparePush(context))?.commits ?? [];
    const found = [];
    for await (const commit of client.items(operations.listPullCommits, { params: atIndex(subject) })) {
      found.push(commit);
    }
    return found;
  }
});

// src/facts/compare.ts
var compare = defineFact({
  name: "compare",
  meaning: "The commits and files that the second of two branches or commits has and the first has not, counted from their merge base (`base...head`; `owner:branch` names a fork).",
  // The head may be a fork that is somebody else's.
  shows: "beyond",
  shape: Compare,
  of: ["repository", "pull_request", "issue", "branch"],
  argument: "base...head",
  requests: 1,
  example: 'compare("main...develop").total_commits > 0',
  complete: (written) => typeof written === "object" && written !== null && "files" in written && Array.isArray(written.files) ? { ...written, files: written.files.map(completeFile) } : written,
  ask: ({ client, subject }, basehead = "") => client.call(operations.compare, { params: { ...inRepository(subject), basehead } })
});
function completeFile(file) {
  return typeof file === "string" ? { filename: file, status: "changed" } : file;
}

// src/facts/contents.ts
import { z } from "zod";
var File = z.object({
  path: text,
  /** file, dir, symlink, submodule. */
  type: text,
  /** The text, read as UTF-8; null for anything but a file, and for files above the forge's limit. */
  content: text.nullable(),
  /** Bytes. */
  size: int.nullish(),
  sha: text.nullish(),
  last_commit_sha: text.nullish(),
  last_commit_message: text.nullish(),
  last_committer_date: instant.nullish(),
  last_author_date: instant.nullish(),
  lfs_oid: text.nullish(),
  lfs_size: int.nullish()
});
var contents = defineFact({
  name: "contents",
  meaning: "One file of the repository with its text and, where the forge tells it, its last commit; null where there is none. Read from the default branch, of a push from what it brought, of a pull request from the branch it aims at. A facts file may give the text alone.",
  shows: "repository",
  shape: File.nullable(),
  of: ["repository", "pull_request", "issue", "branch"],
  argument: "path",
  requests: 1,
  example: 'contents("CODEOWNERS") != null && contents("CODEOWNERS").content.contains("@acme/release")',
  complete: (written) => typeof written === "string" ? { path: "", type: "file", content: written } : written,
  async ask(context, path = "") {
    const query = await refOf(context);
    const params = { ...inRepository(context.subject), filepath: path };
    const entry = await extended(context, params, query) ?? await plain(context, params, query);
    return entry === void 0 ? null : toFile(entry, path);
  }
});
var hasExtended = "forge/contents-ext";
async function refOf(context) {
  const { subject, ask } = context;
  if (subject.kind === "pull_request") {
    const { base } = await ask({ name: "pull_request" });
    return refOfBranch(context, base?.ref);
  }
  if (subject.kind !== "branch") return refOfBranch(context, void 0);
  const { range, ref, isTag } = subject;
  if (range && !isNothing(range.after)) return { ref: range.after };
  return isTag && ref !== void 0 ? { ref } : refOfBranch(context, ref);
}
async function refOfBranch({ client, ask }, branch3) {
  if ((await client.capabilities()).has.branches_before_tags) {
    return branch3 === void 0 ? {} : { ref: branch3 };
  }
  const name4 = branch3 ?? await defaultBranch(ask);
  return { ref: `refs/heads/${name4}` };
}
async function extended({ client, memory }, params, query) {
  const includes = "file_content,lfs_metadata,commit_metadata,commit_message";
  const answer = await unlessAbsent(
    client.call(operations.getContentsExt, { params, query: { ...query, includes } })
  );
  if (answer === void 0) return void 0;
  memory.set(hasExtended, true);
  return answer.file_contents ?? "directory";
}
async function plain({ client, memory }, params, query) {
  if (memory.get(hasExtended)) return void 0;
  const answer = await unlessAbsent(client.call(operations.getContents, { params, query }));
  return Array.isArray(answer) ? "directory" : answer;
}
async function unlessAbsent(asked) {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ReeveError && error.code === "forge-not-found") return void 0;
    throw error;
  }
}
function toFile(entry, path) {
  if (entry === "directory") return { path, type: "dir", content: null };
  const { encoding, content, ...rest } = entry;
  const isText = entry.type === "file" && encoding === "base64" && typeof content === "string";
  return { ...rest, content: isText ? Buffer.from(content, "base64").toString("utf8") : null };
}

// src/facts/dependencies.ts
var dependencies = defineFact({
  name: "dependencies",
  meaning: "The issues and pull requests that must close before this one may, those of its own repository first. One that the account cannot read has `number` and `state` at most. Files of repositories and organizations see of those in other repositories the number and the state alone.",
  shows: "repository",
  shape: list(Issue),
  of: ["issue", "pull_request"],
  requests: 1,
  example: 'dependencies.exists(i, i.state == "open")',
  async ask({ client, subject }) {
    const found = [];
    for await (const issue2 of client.items(operations.listDependencies, { params: atIndex(subject) })) {
      found.push({ ...issue2, state: issue2.state || "open" });
    }
    return found;
  },
  narrow: (value, subject) => Array.isArray(value) ? value.map((issue2) => isAtHome(issue2, subject) ? issue2 : beyond(issue2)) : value
});
function isAtHome({ repository: repository2 }, subject) {
  return repository2?.id !== void 0 && repository2.id === subject.repository?.id;
}
function beyond({ number, state }) {
  return { number, state };
}

// src/facts/files.ts
var files = defineFact({
  name: "files",
  meaning: "The files that a pull request changes against its merge base, or that a push changed between its two commits; a renamed one has `previous_filename`. A facts file may give paths alone.",
  shows: "repository",
  shape: list(ChangedFile),
  of: ["pull_request", "branch"],
  requests: 1,
  example: 'files.exists(f, f.filename.glob("docs/**"))',
  complete: (written) => Array.isArray(written) ? written.map((file) => typeof file === "string" ? { filename: file, status: "changed" } : file) : written,
  ask: (context) => context.subject.kind === "pull_request" ? ofPullRequest(context) : ofPush(context)
});
async function ofPullRequest({ client, subject }) {
  const found = [];
  for await (const file of client.items(operations.listPullFiles, { params: atIndex(subject) }))
    found.push(file);
  return found;
}
async function ofPush(context) {
  return (await comparePush(context))?.files ?? [];
}

// src/facts/head.ts
import { z as z2 } from "zod";
var head = defineFact({
  name: "head",
  meaning: "The newest commit of the subject: of a pull request its head, of a push what it brought, of a branch its tip, of a repository that of the default branch.",
  shows: "repository",
  shape: z2.object({ sha: text }),
  of: ["pull_request", "branch", "repository"],
  requests: 1,
  example: 'head.sha != ""',
  async ask(context) {
    const sha = await headOf(context);
    if (!sha || isNothing(sha)) throw new ReeveError("forge-not-found", "there is no commit here");
    return { sha };
  }
});
async function headOf({ client, subject, ask }) {
  if (subject.kind === "pull_request") {
    return (await ask({ name: "pull_request" })).head?.sha;
  }
  if (subject.kind === "branch") {
    return subject.range?.after ?? (await ask({ name: "branch" })).commit?.id;
  }
  const { default_branch } = await ask({ name: "repository" });
  const params = { ...inRepository(subject), branch: default_branch ?? "main" };
  return (await client.call(operations.getBranch, { params })).commit?.id;
}

// src/facts/hooks.ts
var SeenHook = Hook.omit({ authorization_header: true }).extend({
  has_authorization: flag.optional()
});
var hooks = defineFact({
  name: "hooks",
  meaning: "The hooks of the repository, or of the organization where that is the subject. `has_authorization` is there where the forge shows that a header is sent; its value never is.",
  shows: "admin",
  shape: list(SeenHook),
  of: ["repository", "organization"],
  requests: 1,
  example: 'hooks.exists(h, h.active && h.config["url"].startsWith("https://ci.example.org/"))',
  complete: completeHooks,
  ask: ({ client, subject }) => seen(
    subject.kind === "organization" ? client.items(operations.listOrganizationHooks, { params: inOrganization(subject) }) : client.items(operations.listHooks, { params: inRepository(subject) })
  )
});
var accountHooks = defineFact({
  name: "account_hooks",
  meaning: "The hooks of the account Reeve acts as; they hear all repositories that this account owns.",
  shows: "beyond",
  shape: list(SeenHook),
  of: ["repository", "organization"],
  requests: 1,
  example: "account_hooks.all(h, h.active)",
  complete: completeHooks,
  ask: ({ client }) => seen(client.items(operations.listUserHooks, {}))
});
async function seen(pages) {
  const found = [];
  for await (const { authorization_header: header, ...hook } of pages) {
    found.push(header ? { ...hook, has_authorization: true } : hook);
  }
  return found;
}
function completeHooks(written) {
  if (!Array.isArray(written)) return written;
  return written.map((hook, place) => ({
    id: place + 1,
    type: "gitea",
    active: true,
    events: ["push"],
    branch_filter: "",
    ...hook
  }));
}

// src/facts/issue.ts
var issue = defineFact({
  name: "issue",
  meaning: "The issue as it is now; of a pull request, its issue side.",
  shows: "repository",
  shape: Issue,
  of: ["issue", "pull_request", "notification"],
  requests: 1,
  example: 'issue.state == "open" && issue.title.lower().contains("crash")',
  ask: ({ client, subject }) => client.call(operations.getIssue, { params: atIndex(subject) })
});

// src/facts/labels.ts
var labels = defineFact({
  name: "labels",
  meaning: "The labels that the issue or pull request carries now. A facts file may give names alone.",
  shows: "repository",
  shape: list(Label),
  of: ["issue", "pull_request", "notification"],
  requests: 1,
  within: ["pull_request", "issue"],
  example: 'labels.exists(l, l.name == "security")',
  complete: completeLabels,
  ask: ({ client, subject }) => client.call(operations.listIssueLabels, { params: atIndex(subject) })
});
function completeLabels(written) {
  if (!Array.isArray(written)) return written;
  return written.map((label, place) => typeof label === "string" ? { id: place + 1, name: label } : label);
}

// src/facts/label-definitions.ts
var LabelDefinition = Label.extend({ level: text });
var labelDefinitions = defineFact({
  name: "label_definitions",
  meaning: "All labels that issues of the repository may carry: its own (`level` repository), then its organization\u2019s (`level` organization). Remembered until a label is made or does not fit.",
  shows: "repository",
  shape: list(LabelDefinition),
  of: ["repository", "issue", "pull_request", "branch"],
  requests: 2,
  example: 'label_definitions.exists(l, l.name == "triage")',
  complete: (written) => {
    const completed = completeLabels(written);
    return Array.isArray(completed) ? completed.map((label) => ({ level: "repository", ...label })) : completed;
  },
  async ask(context) {
    const key = `${repositoryOf(context.subject).id}/label_definitions`;
    const remembered = context.anew ? void 0 : context.memory.get(key);
    if (remembered !== void 0) return remembered;
    const [own, shared] = await Promise.all([ownLabels(context), sharedLabels(context)]);
    const definitions = [...own, ...shared];
    context.memory.set(key, definitions);
    return definitions;
  }
});
async function ownLabels({ client, subject }) {
  const found = [];
  for await (const label of client.items(operations.listLabels, { params: inRepository(subject) })) {
    found.push({ ...label, level: "repository" });
  }
  return found;
}
async function sharedLabels({ client, subject }) {
  const found = [];
  try {
    const { owner } = inRepository(subject);
    for await (const label of client.items(operations.listOrganizationLabels, { params: { org: owner } })) {
      found.push({ ...label, level: "organization" });
    }
  } catch (error) {
    const absent = error instanceof ReeveError && (error.code === "forge-not-found" || error.code === "forge-forbidden");
    if (!absent) throw error;
  }
  return found;
}

// src/facts/milestone.ts
var milestone = defineFact({
  name: "milestone",
  meaning: "The milestone of the issue or pull request; null where it has none.",
  shows: "repository",
  shape: Milestone.nullable(),
  of: ["issue", "pull_request"],
  requests: 1,
  example: 'milestone != null && milestone.state == "open"',
  async ask({ subject, ask }) {
    const name4 = subject.kind === "pull_request" ? "pull_request" : "issue";
    const carrier = await ask({ name: name4 });
    return carrier.milestone ?? null;
  }
});

// src/facts/notification.ts
var notification = defineFact({
  name: "notification",
  meaning: "A thread of the account\u2019s own notifications. Conditions see it as the sweep listed it; before it is marked it is read again.",
  shows: "beyond",
  shape: NotificationThread,
  of: ["notification"],
  requests: 1,
  example: 'notification.subject.state in ["closed", "merged"]',
  ask: ({ client, subject }) => {
    if (subject.thread === void 0) throw new ReeveError("internal", `a ${subject.kind} has no thread`);
    return client.call(operations.getNotification, { params: { id: subject.thread } });
  }
});

// src/facts/open-pull.ts
var openPull = defineFact({
  name: "open_pull",
  meaning: "The open pull request into the first of two branches from the second (`base...head`; `owner:branch` names a fork); null where there is none.",
  shows: "beyond",
  shape: PullRequest.nullable(),
  of: ["repository", "pull_request", "issue", "branch"],
  argument: "base...head",
  requests: 1,
  example: 'open_pull("main...develop") == null',
  async ask({ client, subject }, between = "") {
    const [base = "", head5 = ""] = between.split("...");
    try {
      const params = { ...inRepository(subject), base, head: head5 };
      const pull = await client.call(operations.getPullByBranches, { params });
      return pull.state === "open" ? pull : null;
    } catch (error) {
      if (error instanceof ReeveError && error.code === "forge-not-found") return null;
      throw error;
    }
  }
});

// src/facts/organization.ts
var organization = defineFact({
  name: "organization",
  meaning: "The organization with its settings: the item of a sweep, else the owner of the repository. Where a person owns it, it cannot be asked.",
  shows: "beyond",
  shape: Organization,
  of: ["organization", "repository", "pull_request", "issue", "branch"],
  requests: 1,
  example: 'organization.visibility == "private"',
  ask: ({ client, subject }) => client.call(operations.getOrganization, { params: inOrganization(subject) })
});

// src/facts/own-issues.ts
var ownIssues = defineFact({
  name: "own_issues",
  meaning: "The issues that the account of Reeve opened in the named repository (`owner/name`), closed ones too, newest first.",
  shows: "beyond",
  shape: list(Issue),
  of: ["repository", "pull_request", "issue", "branch", "organization", "notification", "runner"],
  argument: "owner/name",
  requests: 2,
  example: 'own_issues("acme/ops").filter(i, i.state == "open").size() < 20',
  async ask({ client, memory }, at2 = "") {
    const [owner = "", repo = ""] = at2.split("/");
    const login = memory.get("self/login") ?? (await client.call(operations.getSelf, {})).login;
    memory.set("self/login", login);
    const found = [];
    const query = { type: "issues", state: "all", created_by: login };
    for await (const issue2 of client.items(operations.listIssues, { params: { owner, repo }, query })) {
      found.push(issue2);
    }
    return found;
  }
});

// src/facts/own-labels.ts
var ownLabels2 = defineFact({
  name: "own_labels",
  meaning: "The labels that the repository defines itself, without those of its organization; of an organization, its own. Never remembered. A facts file may give names alone.",
  shows: "repository",
  shape: list(Label),
  of: ["repository", "organization"],
  requests: 1,
  example: 'own_labels.all(l, l.description != "")',
  complete: completeLabels,
  async ask({ client, subject }) {
    const found = [];
    const pages = subject.kind === "organization" ? client.items(operations.listOrganizationLabels, { params: inOrganization(subject) }) : client.items(operations.listLabels, { params: inRepository(subject) });
    for await (const label of pages) found.push(label);
    return found;
  }
});

// src/facts/pull-request.ts
var pullRequest = defineFact({
  name: "pull_request",
  meaning: "The pull request as it is now, with the lines it adds and deletes.",
  shows: "repository",
  shape: PullRequest,
  of: ["pull_request", "notification"],
  requests: 1,
  example: "!pull_request.draft && pull_request.additions + pull_request.deletions > 500",
  ask: ({ client, subject }) => client.call(operations.getPull, { params: atIndex(subject) })
});

// src/facts/repository.ts
var repository = defineFact({
  name: "repository",
  meaning: "The repository as it is now.",
  shows: "repository",
  shape: Repository,
  of: ["repository", "pull_request", "issue", "branch", "notification", "runner"],
  requests: 1,
  example: '!repository.archived && repository.default_branch == "main"',
  ask: ({ client, subject }) => client.call(operations.getRepository, { params: inRepository(subject) })
});

// src/facts/repository-id.ts
import { z as z3 } from "zod";
var repositoryId = defineFact({
  name: "repository_id",
  meaning: "The id of the repository that is found under the owner and name of the event. Remembered for a few minutes.",
  shows: "repository",
  shape: z3.object({ id: int }),
  of: ["repository", "pull_request", "issue", "branch", "notification", "runner"],
  requests: 1,
  example: "repository_id.id == event.repository.id",
  async ask({ subject, memory, anew, ask }) {
    const { id, owner, name: name4 } = repositoryOf(subject);
    const key = `${id}/repository_id/${owner}/${name4}`.toLowerCase();
    const remembered = anew ? void 0 : memory.get(key);
    if (remembered !== void 0) return remembered;
    const found = await ask({ name: "repository" });
    const answer = { id: found.id };
    memory.set(key, answer);
    return answer;
  }
});

// src/facts/review.ts
var review = defineFact({
  name: "review",
  meaning: "The review that the event is about, as it is now: the newest one of its state by whoever caused the event. Only events of reviews have one.",
  shows: "repository",
  shape: PullReview,
  of: ["pull_request"],
  requests: 1,
  example: "review.official && !review.stale",
  async ask({ subject, ask }) {
    const { review: about } = subject;
    if (about === void 0) {
      throw new ReeveError("forge-not-found", `this ${subject.kind} event is not about a review`);
    }
    const all = await ask({ name: "reviews" });
    const found = all.filter(({ user, state }) => user?.id === about.reviewer && state === about.state).toSorted((a, b) => b.id - a.id)[0];
    if (found === void 0) throw new ReeveError("forge-not-found", "the review is not there any more");
    return found;
  }
});

// src/facts/reviews.ts
var reviews = defineFact({
  name: "reviews",
  meaning: "The reviews of the pull request and the requests for them (`state` REQUEST_REVIEW), oldest first; dismissed and stale ones too.",
  shows: "repository",
  shape: list(PullReview),
  of: ["pull_request"],
  requests: 1,
  example: 'reviews.exists(r, r.state == "APPROVED" && r.official && !r.dismissed)',
  async ask({ client, subject }) {
    const found = [];
    for await (const one of client.items(operations.listReviews, { params: atIndex(subject) }))
      found.push(one);
    return found;
  }
});

// src/facts/statuses.ts
var statuses = defineFact({
  name: "statuses",
  meaning: "The newest status of every `context` of the subject's newest commit (`head`); the member `status` is success, pending, failure, error, warning or skipped.",
  shows: "repository",
  shape: list(CommitStatus),
  of: ["pull_request", "branch", "repository"],
  requests: 2,
  example: 'statuses.all(s, s.status == "success")',
  async ask({ client, subject, ask }) {
    const { sha } = await ask({ name: "head" });
    const newest = /* @__PURE__ */ new Map();
    const params = { ...inRepository(subject), sha };
    for await (const one of client.items(operations.listStatuses, { params })) {
      const context = one.context ?? "";
      const known = newest.get(context);
      if (known === void 0 || one.id > known.id) newest.set(context, one);
    }
    return [...newest.values()];
  }
});

// src/facts/tag-protections.ts
var tagProtections = defineFact({
  name: "tag_protections",
  meaning: "All tag protections of the repository. Names in their lists are those that can read the repository now.",
  shows: "admin",
  shape: list(TagProtection),
  of: ["repository", "pull_request", "issue", "branch"],
  requests: 1,
  example: 'tag_protections.exists(p, p.name_pattern == "v*")',
  ask: ({ client, subject }) => client.call(operations.listTagProtections, { params: inRepository(subject) })
});

// src/facts/tracked-times.ts
var trackedTimes = defineFact({
  name: "tracked_times",
  meaning: "The times that people tracked on the issue or pull request, in seconds. An account that may not write issues sees its own alone. Where the repository tracks no time it cannot be asked.",
  shows: "repository",
  shape: list(TrackedTime),
  of: ["issue", "pull_request"],
  requests: 1,
  example: "tracked_times.exists(t, t.time > 8 * 3600)",
  async ask({ client, subject }) {
    const found = [];
    for await (const time of client.items(operations.listTimes, { params: atIndex(subject) }))
      found.push(time);
    return found;
  }
});

// src/facts/wiki.ts
var Page = WikiPageMetaData.partial({ sub_url: true }).extend({
  content: text,
  sidebar: text.nullish(),
  footer: text.nullish(),
  commit_count: int.nullish()
});
var wiki = defineFact({
  name: "wiki",
  meaning: "One page of the repository's wiki with its text, sidebar and footer; null where there is none. A facts file may give the text alone.",
  shows: "repository",
  shape: Page.nullable(),
  of: ["repository", "pull_request", "issue", "branch"],
  argument: "page",
  requests: 1,
  example: 'wiki("Freeze") != null && wiki("Freeze").content.contains("frozen: yes")',
  complete: (written) => typeof written === "string" ? { title: "", content: written } : written,
  async ask({ client, subject }, pageName = "") {
    try {
      const page = await client.call(operations.getWikiPage, {
        params: { ...inRepository(subject), pageName }
      });
      return toPage(page);
    } catch (error) {
      if (error instanceof ReeveError && error.code === "forge-not-found") return null;
      throw error;
    }
  }
});
function toPage({ content_base64, sidebar, footer, ...page }) {
  return { ...page, content: decode(content_base64), sidebar: decode(sidebar), footer: decode(footer) };
}
function decode(written) {
  return Buffer.from(written ?? "", "base64").toString("utf8");
}

// src/facts/wiki-pages.ts
var wikiPages = defineFact({
  name: "wiki_pages",
  meaning: "All pages of the repository's wiki with their last commit, without their text; none while there is no wiki.",
  shows: "repository",
  shape: list(WikiPageMetaData),
  of: ["repository", "pull_request", "issue", "branch"],
  requests: 1,
  example: 'wiki_pages.exists(p, p.title == "Home")',
  async ask({ client, subject }) {
    const found = [];
    const params = inRepository(subject);
    try {
      for await (const page of client.items(operations.listWikiPages, { params })) found.push(page);
    } catch (error) {
      if (!(error instanceof ReeveError && error.code === "forge-not-found")) throw error;
    }
    return found;
  }
});

// src/facts/facts.ts
var facts = [
  repository,
  repositoryId,
  pullRequest,
  issue,
  comment,
  branch,
  labels,
  labelDefinitions,
  files,
  ownLabels2,
  dependencies,
  trackedTimes,
  attachments,
  organization,
  notification,
  hooks,
  accountHooks,
  commits,
  compare,
  head,
  statuses,
  reviews,
  review,
  comments,
  milestone,
  branches,
  branchProtections,
  tagProtections,
  collaborators,
  contents,
  wikiPages,
  wiki,
  openPull,
  ownIssues
];
var byName = new Map(facts.map((fact) => [fact.name, fact]));
function findFact(name4) {
  return byName.get(name4);
}

// src/facts/ask.ts
var memoryMs = 5 * 6e4;
var memoryEntries = 2e3;
function createFactMemory(nowMs) {
  const entries = /* @__PURE__ */ new Map();
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry === void 0 || entry.until < nowMs()) return void 0;
      return entry.value;
    },
    set(key, value) {
      entries.delete(key);
      entries.set(key, { value, until: nowMs() + memoryMs });
      const [oldest] = entries.keys();
      if (entries.size > memoryEntries && oldest !== void 0) entries.delete(oldest);
    },
    drop(prefix) {
      for (const key of entries.keys()) if (key.startsWith(prefix)) entries.delete(key);
    }
  };
}
function createFacts(options) {
  return asking(/* @__PURE__ */ new Map(), /* @__PURE__ */ new Set());
  function asking(asked, anew) {
    const ask = (request) => {
      const key = keyOf(request);
      const known = asked.get(key);
      if (known) return known.answer;
      const source = anew.has(key) ? void 0 : sourceOf(request);
      const entry = {
        answer: source ? takeFrom(source, request, ask) : askForge(request, ask, anew.has(key)),
        answeredAtMs: Number.POSITIVE_INFINITY
      };
      asked.set(key, entry);
      const stamp = () => {
        entry.answeredAtMs = Math.min(options.nowMs(), source?.answeredAtMs ?? Number.POSITIVE_INFINITY);
      };
      entry.answer.then(stamp, stamp);
      return entry.answer;
    };
    const sourceOf = ({ name: name4 }) => {
      const names2 = findFact(name4)?.within?.filter((known) => asked.has(keyOf({ name: known }))) ?? [];
      return names2[0] === void 0 ? void 0 : asked.get(keyOf({ name: names2[0] }));
    };
    return {
      subject: options.subject,
      ask,
      fresh(requests, maxAgeMs = -1) {
        const kept2 = new Map(asked);
        const dropped = /* @__PURE__ */ new Set();
        for (const key of requests.map(keyOf)) {
          const entry = kept2.get(key);
          if (entry && options.nowMs() - entry.answeredAtMs <= maxAgeMs) continue;
          kept2.delete(key);
          dropped.add(key);
        }
        return asking(kept2, dropped);
      },
      forget(names2) {
        const id = options.subject.repository?.id;
        for (const name4 of names2) options.memory.drop(`${id}/${name4}`);
      }
    };
  }
  async function takeFrom(source, request, ask) {
    const answer = await source.answer.catch(() => void 0);
    const value = typeof answer === "object" && answer !== null ? Reflect.get(answer, request.name) : void 0;
    return value === void 0 || value === null ? askForge(request, ask, false) : value;
  }
  async function askForge(request, ask, anew) {
    const fact = findFact(request.name);
    const { client, subject, memory } = options;
    if (fact === void 0) throw new ReeveError("internal", `there is no fact "${request.name}"`);
    if (!fact.of.includes(subject.kind)) {
      throw new ReeveError("forge-not-found", `a ${subject.kind} has no ${request.name}`);
    }
    return fact.ask({ client, subject, memory, ask, anew }, request.argument);
  }
}
var FactNotGiven = class extends Error {
};
function createGivenFacts(options) {
  const facts2 = {
    subject: options.subject,
    async ask(request) {
      const fact = findFact(request.name);
      const given = givenValue(request, fact, options.given);
      const value = given === void 0 ? standIn(request.name, options.payload) : given;
      if (value === void 0) throw new FactNotGiven(`${keyOf(request)} is not given`);
      return fact?.complete ? fact.complete(value) : value;
    },
    fresh: () => facts2,
    forget() {
    }
  };
  return facts2;
}
function givenValue(request, fact, given) {
  const value = Object.hasOwn(given, request.name) ? given[request.name] : void 0;
  if (fact?.argument === void 0 || request.argument === void 0) return value;
  const byArgument = typeof value === "object" && value !== null ? value : {};
  return Object.hasOwn(byArgument, request.argument) ? byArgument[request.argument] : void 0;
}
var standIns = /* @__PURE__ */ new Set(["repository", "pull_request", "issue", "comment"]);
function standIn(name4, payload = {}) {
  if (standIns.has(name4)) return payload[name4] ?? void 0;
  const carrier = payload.pull_request ?? payload.issue;
  if (name4 === "head") return headIn(carrier) ?? headIn({ head: { sha: payload.after } });
  if (typeof carrier !== "object" || carrier === null) return void 0;
  if (name4 === "labels") return "labels" in carrier ? carrier.labels ?? [] : void 0;
  if (name4 === "milestone") return "milestone" in carrier ? carrier.milestone : void 0;
  return void 0;
}
function headIn(carrier) {
  const sides = z4.object({ head: z4.object({ sha: z4.string() }) }).safeParse(carrier);
  return sides.success ? sides.data.head : void 0;
}

// src/actions/comment.ts
import { z as z6 } from "zod";

// src/actions/action.ts
import { z as z5 } from "zod";
function defineAction(action) {
  return action;
}
function condition() {
  return z5.union([z5.string().min(1), z5.boolean()]).meta({ holds: "condition" });
}
function template() {
  return z5.string().meta({ holds: "template" });
}

// src/actions/marker.ts
function markerOf(context, key, note = "") {
  const name4 = [context.rule, key].map(encodeURIComponent).join("/");
  return `<!-- reeve:${name4}${note === "" ? "" : ` ${note}`} -->`;
}
function withMarker(marker, text2) {
  return `${marker}
${text2.trim()}`;
}
function isOurs(written, marker, context) {
  const [first = ""] = (written.body ?? "").split("\n", 1);
  return first.trimEnd() === marker && isByUs(written, context);
}
function isByUs(written, { account }) {
  return account === void 0 || written.user?.id === account.id;
}
function isSameText(one, other) {
  const plain2 = (text2) => text2.replaceAll("\r\n", "\n").trimEnd();
  return plain2(one ?? "") === plain2(other);
}
async function askWritten(facts2, request) {
  try {
    return await facts2.ask(request);
  } catch (error) {
    if (error instanceof FactNotGiven) return [];
    throw error;
  }
}

// src/actions/comment.ts
var Comment2 = z6.strictObject({
  key: z6.string().min(1).max(100).default("main").meta({ description: "Tells the comments of one rule apart; one comment per key." }),
  text: template().min(1).max(6e4).optional().meta({ description: "What it says." }),
  wiki: z6.string().min(1).max(255).optional().meta({ description: "Takes the text from this page of the repository\u2019s wiki instead." }),
  when: condition().optional().meta({ description: "The comment is there while this holds; without it, always." }),
  otherwise: template().min(1).max(6e4).optional().meta({
    description: "What an existing comment says while `when` does not hold; without it, it is removed."
  })
}).refine((given) => given.text === void 0 !== (given.wiki === void 0), {
  message: "give either text or wiki"
});
var commentsFact = { name: "comments" };
var comment2 = defineAction({
  name: "comment",
  meaning: "One comment per key stands on the issue or pull request and says this while `when` holds. It is edited in place, never repeated; without `when` holding it is removed, or says `otherwise`. Comments of others are never touched.",
  example: `uses: comment
with:
  when: repository.has_wiki
  text: "Thank you, \${{ sender.login }}! The notes for newcomers are in the wiki."
`,
  arguments: Comment2,
  of: ["issue", "pull_request"],
  needs: { access: "reader", scopes: ["issue"] },
  granted: true,
  facts: ({ wiki: wiki2, when }) => wiki2 === void 0 || when === false ? [commentsFact] : [commentsFact, wikiFact(wiki2)],
  async plan(given, facts2, context) {
    const marker = markerOf(context, given.key);
    const all = await askWritten(facts2, commentsFact);
    const live = all.find((one) => isOurs(one, marker, context));
    const holds = given.when ?? true;
    if (!holds && (given.otherwise === void 0 || live === void 0)) {
      return [live ? removal(live, given, facts2, context) : absence(given, facts2, context)];
    }
    const text2 = holds ? await textOf(given, facts2) : given.otherwise ?? "";
    return [writing(live, withMarker(marker, text2), given, facts2, context)];
  }
});
async function textOf(given, facts2) {
  if (given.wiki === void 0) return given.text ?? "";
  const page = await facts2.ask(wikiFact(given.wiki));
  if (page === null) throw new Error(`there is no wiki page "${given.wiki}"`);
  if (page.content.trim() === "") throw new Error(`the wiki page "${given.wiki}" is empty`);
  return page.content;
}
function wikiFact(argument) {
  return { name: "wiki", argument };
}
function head2(given, facts2, context) {
  return {
    action: "comment",
    target: `comment:${context.rule}/${given.key} on #${atIndex(facts2.subject).index}`,
    reads: [commentsFact]
  };
}
function writing(live, body, given, facts2, context) {
  const common = { ...head2(given, facts2, context), value: body, before: live?.body ?? null, after: body };
  if (live === void 0) {
    return {
      ...common,
      operation: operations.createComment.id,
      input: { params: atIndex(facts2.subject), body: { body } },
      reason: "the rule wants a comment that is not there"
    };
  }
  const params = { ...inRepository(facts2.subject), id: live.id };
  return {
    ...common,
    operation: operations.editComment.id,
    input: { params, body: { body } },
    ...isSameText(live.body, body) ? { already: true, reason: "it says so already" } : { reason: "the comment shall say something else" }
  };
}
function removal(live, given, facts2, context) {
  return {
    ...head2(given, facts2, context),
    operation: operations.deleteComment.id,
    input: { params: { ...inRepository(facts2.subject), id: live.id } },
    value: null,
    before: live.body ?? null,
    after: null,
    reason: "its condition does not hold any more",
    stage: 2
  };
}
function absence(given, facts2, context) {
  return {
    ...head2(given, facts2, context),
    operation: operations.createComment.id,
    input: { params: atIndex(facts2.subject) },
    value: null,
    before: null,
    after: null,
    reason: "its condition does not hold",
    already: true
  };
}

// src/actions/dismiss-stale-reviews.ts
import { z as z7 } from "zod";
var DismissStaleReviews = z7.strictObject({
  states: z7.array(z7.enum(["APPROVED", "REQUEST_CHANGES"])).min(1).default(["APPROVED"]).meta({ description: "Which reviews are dismissed." }),
  message: template().max(5e3).default("New commits arrived after this review."),
  "ignore-paths": z7.array(z7.string().min(1).max(500)).min(1).max(100).optional().meta({ description: "A review is kept while everything that changed since lies under these globs." }),
  "keep-on-rebase": z7.boolean().default(false).meta({
    description: "A review is kept while the forge does not call it stale: the diff is still the same."
  }),
  priors: z7.boolean().default(false).meta({ description: "Dismisses the older reviews of the same person as well." })
});
var pullFact = { name: "pull_request" };
var reviewsFact = { name: "reviews" };
var dismissStaleReviews = defineAction({
  name: "dismiss-stale-reviews",
  meaning: "Reviews in `states` that the forge calls stale, or whose commit is not the head any more, are dismissed with `message`. Reviews of a pull request that is closed, and those that are dismissed already, stay as they are.",
  example: `uses: dismiss-stale-reviews
with:
  states: [APPROVED]
  message: New commits arrived after this review.
  ignore-paths: ["docs/**"]
`,
  arguments: DismissStaleReviews,
  of: ["pull_request"],
  needs: { access: "admin", scopes: ["repository"] },
  granted: false,
  examine(written) {
    const globs = written["ignore-paths"];
    try {
      if (globs) createGlob(globs);
      return [];
    } catch (error) {
      if (!(error instanceof GlobError)) throw error;
      const place = globs?.indexOf(error.pattern) ?? -1;
      return [{ path: place < 0 ? ["ignore-paths"] : ["ignore-paths", place], message: error.message }];
    }
  },
  facts: () => [pullFact, reviewsFact],
  async plan(given, facts2) {
    const pull = await facts2.ask(pullFact);
    if (pull.state === "closed") return [];
    const head5 = pull.head?.sha;
    if (!head5) throw new Error("the pull request has no head commit");
    const all = await facts2.ask(reviewsFact);
    const changes = [];
    for (const review2 of all) {
      const why = review2.dismissed ? void 0 : reasonAgainst(review2, head5, given);
      if (why === void 0 || await isUnderIgnored(review2, head5, given, facts2)) continue;
      changes.push(dismissal(review2, why, given, facts2));
    }
    return changes;
  },
  confirm(change, answer) {
    if (change.operation !== operations.dismissReview.id) return void 0;
    const review2 = PullReview.safeParse(answer);
    return review2.success && review2.data.dismissed === false ? "the forge did not dismiss it" : void 0;
  }
});
function reasonAgainst(review2, head5, given) {
  if (!given.states.some((state) => state === review2.state)) return void 0;
  if (review2.stale) return "the forge calls it stale";
  const isOlder = Boolean(review2.commit_id) && review2.commit_id !== head5;
  return isOlder && !given["keep-on-rebase"] ? `it was given for ${review2.commit_id?.slice(0, 10)}` : void 0;
}
async function isUnderIgnored(review2, head5, given, facts2) {
  const globs = given["ignore-paths"];
  if (globs === void 0 || !review2.commit_id) return false;
  if (review2.commit_id === head5) return false;
  const changed = await changedSince(review2.commit_id, head5, facts2);
  if (changed === void 0) return false;
  const paths = changed.files.flatMap(
    ({ filename, previous_filename }) => previous_filename ? [filename, previous_filename] : [filename]
  );
  return paths.every(createGlob(globs));
}
async function changedSince(commit, head5, facts2) {
  try {
    return await facts2.ask({ name: "compare", argument: `${commit}...${head5}` });
  } catch (error) {
    if (error instanceof ReeveError && error.code === "forge-not-found") return void 0;
    throw error;
  }
}
function dismissal(review2, why, given, facts2) {
  const who = review2.user?.login ?? "somebody";
  return {
    action: "dismiss-stale-reviews",
    operation: operations.dismissReview.id,
    input: {
      params: { ...atIndex(facts2.subject), id: review2.id },
      body: { message: given.message, priors: given.priors }
    },
    target: `review:${review2.id}`,
    value: "dismissed",
    before: { state: review2.state, by: who, dismissed: false },
    after: { state: review2.state, by: who, dismissed: true },
    reason: why,
    reads: [reviewsFact]
  };
}

// src/actions/mark-notifications.ts
import { z as z8 } from "zod";
var MarkNotifications = z8.strictObject({
  as: z8.enum(["read", "unread", "pinned"]).meta({ description: "A pinned thread that shall be read is pinned no longer." })
});
var notificationFact = { name: "notification" };
var markNotifications = defineAction({
  name: "mark-notifications",
  meaning: "The notification is read, unread or pinned. Notifications are those of the account Reeve acts as, never those of other people.",
  example: `uses: mark-notifications
with: { as: read }
`,
  arguments: MarkNotifications,
  of: ["notification"],
  needs: { access: "self", scopes: ["notification"] },
  granted: false,
  facts: () => [notificationFact],
  async plan(given, facts2) {
    const thread = await facts2.ask(notificationFact);
    const before = statusOf(thread);
    const isSo = before === given.as;
    return [
      {
        action: "mark-notifications",
        operation: operations.markNotification.id,
        input: { params: { id: thread.id }, query: { "to-status": given.as } },
        target: `notification:${thread.id}`,
        value: given.as,
        before,
        after: given.as,
        reason: isSo ? "it is so already" : `the rule wants it ${given.as}`,
        reads: [notificationFact],
        verify: true,
        ...isSo && { already: true }
      }
    ];
  }
});
function statusOf({ pinned, unread }) {
  if (pinned) return "pinned";
  return unread ? "unread" : "read";
}

// src/actions/open-pull-request.ts
import { z as z9 } from "zod";

// src/actions/label-names.ts
function resolveLabel(name4, definitions) {
  for (const level of ["repository", "organization"]) {
    const found = definitions.filter((label) => label.name === name4 && label.level === level);
    if (found.length > 1) throw new Error(`there are ${found.length} labels named "${name4}" in the ${level}`);
    if (found[0]) return found[0];
  }
  return void 0;
}
function exclusiveScope(label) {
  const slash = label.name.lastIndexOf("/");
  if (!label.exclusive || slash <= 0 || slash === label.name.length - 1) return void 0;
  return label.name.slice(0, slash);
}

// src/actions/same-names.ts
function isSame(one, other) {
  if (!Array.isArray(one) && !Array.isArray(other)) return one === other;
  const [first, second] = [namesOf(one), namesOf(other)];
  return first.length === second.length && first.every((name4, place) => name4 === second[place]);
}
function namesOf(value) {
  return Array.isArray(value) ? [...new Set(value.map(lower))].sort() : [];
}
function lower(name4) {
  return String(name4).toLowerCase();
}

// src/actions/open-pull-request.ts
var branch2 = z9.string().min(1).max(255).regex(/^(?!.*\.\.)[^\s~^?*[\\]+$/, "name a branch");
var name = z9.string().min(1).max(255);
var OpenPullRequest = z9.strictObject({
  head: branch2.meta({ description: "The branch that is to be merged; `owner:branch` names a fork." }),
  base: branch2.meta({ description: "The branch it is to be merged into." }),
  title: template().min(1).max(255),
  body: template().max(6e4).optional(),
  labels: z9.array(name).max(50).optional().meta({ description: "Labels it is opened with." }),
  reviewers: z9.array(name).max(50).optional().meta({ description: "Who is asked for a review when it is opened." }),
  team_reviewers: z9.array(name).max(50).optional().meta({ description: "Teams that are asked for a review." })
}).refine((given) => given.head !== given.base, { message: "head and base are the same branch" });
var definitionsFact = { name: "label_definitions" };
var openPullRequest = defineAction({
  name: "open-pull-request",
  meaning: "A pull request from `head` to `base` is open, found again by the two branches; none is opened while there is no difference. Title and body of one that Reeve opened stay as said; one that a person opened is left alone. Labels and reviewers are given when it is opened.",
  example: `uses: open-pull-request
with:
  head: develop
  base: main
  title: Merge develop into main
  labels: [release]
`,
  arguments: OpenPullRequest,
  of: ["repository", "branch", "pull_request", "issue"],
  needs: { access: "reader", scopes: ["repository"] },
  granted: false,
  requires: {
    reviewers: "pull_reviewers_on_create",
    team_reviewers: "pull_reviewers_on_create"
  },
  facts: (given) => [openPullFact(given)],
  async plan(given, facts2, context) {
    const open = await facts2.ask(openPullFact(given));
    if (open !== null) return [kept(open, given, facts2, context)];
    const between = await facts2.ask({ name: "compare", argument: branchesOf(given) });
    if (between.commits.length === 0 && !between.total_commits) return [];
    return [await opening(given, facts2)];
  },
  confirm(change, answer) {
    if (change.operation !== operations.createPull.id) return void 0;
    const pull = PullRequest.safeParse(answer);
    if (!pull.success) return void 0;
    const body = change.input.body;
    const asked = pull.data.requested_reviewers.map(({ login }) => lower(login));
    const missing = (body.reviewers ?? []).filter((reviewer) => !asked.includes(lower(reviewer)));
    if (missing.length > 0)
      return `it was opened, but the forge did not ask ${missing.join(", ")} for a review`;
    const isShort = (body.labels ?? []).some((id) => !pull.data.labels.some((label) => label.id === id));
    return isShort ? "it was opened, but the forge dropped a label in silence" : void 0;
  },
  // It is open now, whatever is missing: opening it again could only fail.
  learn: async (change) => change.operation === operations.createPull.id
});
function branchesOf({ base, head: head5 }) {
  return `${base}...${head5}`;
}
function openPullFact(given) {
  return { name: "open_pull", argument: branchesOf(given) };
}
function wish(given) {
  const { title, body = "" } = given;
  const said2 = { title, ...given.body === void 0 ? {} : { body } };
  return {
    action: "open-pull-request",
    target: `pull:${branchesOf(given)}`,
    value: said2,
    after: { state: "open", ...said2 },
    reads: [openPullFact(given)]
  };
}
async function opening(given, facts2) {
  const { head: head5, base, title, body, reviewers, team_reviewers } = given;
  const labels2 = given.labels === void 0 ? void 0 : await labelIds(given.labels, facts2);
  return {
    ...wish(given),
    operation: operations.createPull.id,
    input: {
      params: inRepository(facts2.subject),
      body: {
        head: head5,
        base,
        title,
        ...body === void 0 ? {} : { body },
        ...labels2 ? { labels: labels2 } : {},
        ...reviewers ? { reviewers } : {},
        ...team_reviewers ? { team_reviewers } : {}
      }
    },
    before: null,
    reason: `${head5} has what ${base} has not, and no pull request is open`,
    ...reviewers || team_reviewers ? { requires: ["pull_reviewers_on_create"] } : {}
  };
}
async function labelIds(labels2, facts2) {
  const definitions = await facts2.ask(definitionsFact);
  return labels2.map((label) => {
    const found = resolveLabel(label, definitions);
    if (found) return found.id;
    throw new Error(`there is no label "${label}" in the repository or its organization`);
  });
}
function kept(open, given, facts2, context) {
  const { title, body } = given;
  const change = {
    ...wish(given),
    operation: operations.editPull.id,
    input: {
      params: { ...inRepository(facts2.subject), index: open.number },
      body: { title, ...body === void 0 ? {} : { body } }
    },
    before: { state: "open", title: open.title, body: open.body ?? "" }
  };
  if (!isByUs(open, context))
    return { ...change, already: true, reason: "it is open, and a person opened it" };
  const isSaid = open.title === title && (body === void 0 || isSameText(open.body, body));
  if (isSaid) return { ...change, already: true, reason: "it is open already" };
  return { ...change, reason: "it shall say something else" };
}

// src/actions/protect-tags.ts
import { z as z10 } from "zod";

// src/actions/dropped.ts
var againMs = 7 * 24 * 60 * 6e4;
async function rememberDropped(key, wanted, got, { memory, now }) {
  const kept2 = { wanted, got, at: now.toISOString() };
  await memory.set(`dropped ${key}`, kept2);
}
async function isKnownDropped(key, wanted, live, { memory, now }) {
  const kept2 = await memory.get(`dropped ${key}`);
  if (kept2 === void 0 || now.getTime() - Date.parse(kept2.at) > againMs) return false;
  return isSame(kept2.wanted, wanted) && isSame(kept2.got, live);
}

// src/actions/protection-fields.ts
async function planProtection(one, context) {
  const { live, wanted, target } = one;
  const changes = [presence(one)];
  for (const [member, value] of Object.entries(wanted)) {
    const before = live?.[member] ?? null;
    const isSo = live !== void 0 && isSame(before, value);
    const isDropped = !isSo && live !== void 0 && await isKnownDropped(keyOf2(one, member), value, before, context);
    const capability = one.requires(member);
    changes.push({
      ...head3(one, { [member]: value }),
      target: `${target}.${member}`,
      value,
      before,
      after: value,
      reason: isSo ? "it is so already" : isDropped ? "the forge drops what is missing" : live === void 0 ? "the rule says so" : "the rule says otherwise",
      ...capability ? { requires: [capability] } : {},
      ...isSo || isDropped ? { already: true } : {}
    });
  }
  return changes;
}
function head3(one, body) {
  const { operation, params } = one.live === void 0 ? one.create : one.edit;
  return { action: one.action, operation, input: { params, body }, reads: one.reads, joins: one.target };
}
function presence(one) {
  return {
    ...head3(one, one.live === void 0 ? one.naming : {}),
    target: one.target,
    value: "present",
    before: one.live === void 0 ? "absent" : "present",
    after: "present",
    reason: one.live === void 0 ? "there is no such protection" : "it is there already",
    ...one.live === void 0 ? {} : { already: true }
  };
}
function keyOf2({ edit: edit2, target }, member) {
  return keyFor(edit2.params, `${target}.${member}`);
}
function keyFor({ owner, repo }, target) {
  return `${owner}/${repo} ${target}`;
}
function pruneProtection(options) {
  const { action, target, call, live, reads, from, there } = options;
  return {
    action,
    operation: call.operation,
    input: { params: call.params },
    target,
    value: "absent",
    before: live,
    after: null,
    reason: "the rule does not name it, and prune is set",
    reads,
    stage: 2,
    removes: { from, there }
  };
}
function bodyOf(changes) {
  return Object.assign({}, ...changes.map((change) => change.input.body));
}
function unshown({ input }, answer) {
  if (typeof answer !== "object" || answer === null || typeof input.body !== "object") return void 0;
  for (const [member, value] of Object.entries(input.body ?? {})) {
    const got = Reflect.get(answer, member);
    if (isSame(got, value)) continue;
    const missing = Array.isArray(value) ? value.filter((name4) => !namesOf(got).includes(lower(name4))) : [];
    return missing.length > 0 ? `the forge dropped ${missing.join(", ")} in silence: no such access here; it is not tried again for a week` : `the forge did not take ${member}: it says ${JSON.stringify(got ?? null)}`;
  }
  return void 0;
}
async function learnDropped(change, answer, context) {
  if (!Array.isArray(change.value) || typeof answer !== "object" || answer === null) return false;
  const member = change.target.slice(change.target.lastIndexOf(".") + 1);
  const got = Reflect.get(answer, member);
  await rememberDropped(keyFor(change.input.params ?? {}, change.target), change.value, got, context);
  return true;
}

// src/actions/protect-tags.ts
var names = z10.array(z10.string().min(1).max(255)).max(200).optional();
var ProtectTags = z10.strictObject({
  tags: z10.array(
    z10.strictObject({
      name_pattern: z10.string().min(1).max(255).meta({ description: "A glob in which `*` crosses `/`, or a regular expression between slashes." }),
      whitelist_usernames: names.meta({ description: "Who may make, change and remove such tags." }),
      whitelist_teams: names.meta({
        description: "Teams who may; only where an organization owns the repository."
      })
    })
  ).max(100),
  prune: z10.boolean().default(false).meta({ description: "Removes the tag protections that are not named." })
});
var protectionsFact = { name: "tag_protections" };
var protectTags = defineAction({
  name: "protect-tags",
  meaning: "The named tag protections exist with these lists of who may make such tags; a list that is not given stays. Others go only with `prune: true`. Names that the forge drops for want of access are reported once and tried again after a week.",
  example: `uses: protect-tags
with:
  tags:
    - { name_pattern: "v*", whitelist_teams: [release] }
`,
  arguments: ProtectTags,
  of: ["repository", "branch", "pull_request", "issue"],
  needs: { access: "admin", scopes: ["repository"] },
  granted: false,
  examine: (written) => twice(written.tags.map((tag) => tag.name_pattern)),
  facts: () => [protectionsFact],
  async plan(given, facts2, context) {
    const all = await facts2.ask(protectionsFact);
    const at2 = inRepository(facts2.subject);
    const changes = [];
    for (const { name_pattern, ...lists } of given.tags) {
      const live = all.find((one) => one.name_pattern === name_pattern);
      if (live === void 0 && Object.values(lists).flat().length === 0) {
        throw new Error(
          `a new protection of "${name_pattern}" needs a person or a team: forges refuse it without`
        );
      }
      changes.push(
        ...await planProtection(
          {
            action: "protect-tags",
            target: `tag-protection:${name_pattern}`,
            naming: { name_pattern },
            wanted: lists,
            live,
            create: { operation: operations.createTagProtection.id, params: at2 },
            edit: { operation: operations.editTagProtection.id, params: { ...at2, id: live?.id } },
            reads: [protectionsFact],
            requires: () => void 0
          },
          context
        )
      );
    }
    if (!given.prune) return changes;
    const named = new Set(given.tags.map((tag) => tag.name_pattern));
    for (const live of all.filter((one) => !named.has(one.name_pattern))) {
      changes.push(
        pruneProtection({
          action: "protect-tags",
          target: `tag-protection:${live.name_pattern}`,
          call: { operation: operations.deleteTagProtection.id, params: { ...at2, id: live.id } },
          live,
          reads: [protectionsFact],
          from: "tag protections",
          there: all.length
        })
      );
    }
    return changes;
  },
  join: async (changes) => ({ params: changes[0]?.input.params ?? {}, body: bodyOf(changes) }),
  confirm: unshown,
  learn: learnDropped
});
function twice(patterns) {
  return patterns.flatMap(
    (pattern, place) => patterns.indexOf(pattern) === place ? [] : [{ path: ["tags", place, "name_pattern"], message: `"${pattern}" is named twice in this step` }]
  );
}

// src/actions/report-issue.ts
import { z as z11 } from "zod";
var ReportIssue = z11.strictObject({
  when: condition().optional().meta({ description: "The issue is open while this holds, and closed once it does not." }),
  repository: z11.string().regex(/^[\w.-]+\/[\w.-]+$/, "name a repository as owner/name").optional().meta({ description: "Where the issue is; without it, the repository of the event." }),
  key: template().min(1).max(200).meta({ description: "What it is about; one issue per key." }),
  title: template().min(1).max(255),
  body: template().max(6e4).optional()
});
var reportIssue = defineAction({
  name: "report-issue",
  meaning: "One issue per key is open and says this while `when` holds; it is edited in place and closed once it does not. An issue that a person closed stays closed until `when` did not hold once; the same issue is opened again when it holds anew. Issues of others are never touched.",
  example: `uses: report-issue
with:
  when: repository.open_pr_counter > 50
  repository: acme/ops
  key: pulls-\${{ repository.id }}
  title: "\${{ repository.full_name }} has \${{ repository.open_pr_counter }} open pull requests"
`,
  arguments: ReportIssue,
  of: ["repository", "pull_request", "issue", "branch", "organization", "notification", "runner"],
  needs: { access: "reader", scopes: ["issue"] },
  granted: false,
  operatorOnly: ["repository"],
  facts: (given) => given.repository === void 0 ? [] : [issuesFact(given.repository)],
  async plan(given, facts2, context) {
    const place = placeOf(given, facts2, context);
    const all = await askWritten(facts2, issuesFact(`${place.owner}/${place.repo}`));
    const found = all.filter((issue2) => [place.standing, place.settled].some((marker) => isOurs(issue2, marker, context))).toSorted((a, b) => a.number - b.number)[0];
    const holds = given.when ?? true;
    if (found === void 0) return [holds ? opening2(given, place) : nothing(given, place)];
    const isSettled = isOurs(found, place.settled, context);
    return [holds ? standing(found, isSettled, given, place) : settled(found, isSettled, given, place)];
  }
});
function placeOf(given, facts2, context) {
  const home = facts2.subject.repository;
  const here = home === void 0 ? void 0 : `${home.owner}/${home.name}`;
  const where = given.repository ?? here;
  if (where === void 0) throw new Error(`a ${facts2.subject.kind} has no repository: say repository`);
  if (context.level !== "operator" && where.toLowerCase() !== here?.toLowerCase()) {
    throw new Error(`only rules of the operator report to another repository, and ${where} is not ${here}`);
  }
  const [owner = "", repo = ""] = where.split("/");
  return {
    owner,
    repo,
    standing: markerOf(context, given.key),
    settled: markerOf(context, given.key, "settled")
  };
}
function issuesFact(argument) {
  return { name: "own_issues", argument };
}
function head4(given, place) {
  return {
    action: "report-issue",
    target: `issue:${given.key} in ${place.owner}/${place.repo}`,
    reads: [issuesFact(`${place.owner}/${place.repo}`)]
  };
}
function saying({ title, body = "" }, marker) {
  return { title, body: withMarker(marker, body) };
}
function opening2(given, place) {
  const { owner, repo } = place;
  const text2 = saying(given, place.standing);
  return {
    ...head4(given, place),
    operation: operations.createIssue.id,
    input: { params: { owner, repo }, body: text2 },
    value: { state: "open", ...text2 },
    before: null,
    after: { state: "open", ...text2 },
    reason: "its condition holds, and there is no such issue"
  };
}
function nothing(given, { owner, repo, ...place }) {
  return {
    ...head4(given, { owner, repo, ...place }),
    operation: operations.createIssue.id,
    input: { params: { owner, repo } },
    value: { state: "closed" },
    before: null,
    after: null,
    reason: "its condition does not hold",
    already: true
  };
}
function edit(issue2, body, given, place) {
  const { owner, repo } = place;
  return {
    ...head4(given, place),
    operation: operations.editIssue.id,
    input: { params: { owner, repo, index: issue2.number }, body },
    before: { state: issue2.state, title: issue2.title, body: issue2.body ?? "" }
  };
}
function standing(issue2, isSettled, given, place) {
  const text2 = saying(given, place.standing);
  const value = { state: "open", ...text2 };
  const change = { ...edit(issue2, { state: "open", ...text2 }, given, place), value, after: value };
  if (issue2.state === "closed" && !isSettled) {
    return { ...change, already: true, reason: "a person closed it, and its condition holds ever since" };
  }
  if (issue2.state === "closed") return { ...change, reason: "its condition holds again" };
  const isSaid = issue2.title === given.title && isSameText(issue2.body, text2.body);
  if (isSaid) return { ...change, already: true, reason: "it says so already" };
  const { title, body } = text2;
  return { ...change, ...edit(issue2, { title, body }, given, place), reason: "it shall say something else" };
}
function settled(issue2, isSettled, given, place) {
  const body = withoutFirstLine(issue2.body ?? "", place.settled);
  const value = { state: "closed" };
  const change = { value, after: { state: "closed", title: issue2.title, body } };
  if (isSettled) {
    return {
      ...edit(issue2, {}, given, place),
      ...change,
      already: true,
      reason: "it was closed once already"
    };
  }
  if (issue2.state === "closed") {
    const reason2 = "its condition does not hold: what a person closed may be opened when it holds again";
    return { ...edit(issue2, { body }, given, place), ...change, reason: reason2 };
  }
  const reason = "its condition does not hold any more";
  return { ...edit(issue2, { state: "closed", body }, given, place), ...change, reason };
}
function withoutFirstLine(body, marker) {
  const [, ...rest] = body.split("\n");
  return withMarker(marker, rest.join("\n"));
}

// src/actions/set-labels.ts
import { z as z12 } from "zod";
var name2 = z12.string().min(1).max(255);
var SetLabels = z12.strictObject({
  add: z12.array(name2).max(100).optional().meta({ description: "Labels that shall be there." }),
  remove: z12.array(name2).max(100).optional().meta({ description: "Labels that shall not be there." }),
  sync: z12.record(name2, condition()).optional().meta({ description: "Label \u2192 condition: there while it holds, not there while it does not." }),
  create: z12.strictObject({
    color: z12.string().regex(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/, 'a color has 3 or 6 hex digits, such as "0e8a16"'),
    description: z12.string().max(500).optional()
  }).optional().meta({
    description: "Makes a label that exists nowhere yet in the repository; without it such a label fails."
  })
}).refine((given) => given.add || given.remove || given.sync, {
  message: "name at least one label under add, remove or sync"
});
var labelsFact = { name: "labels" };
var definitionsFact2 = { name: "label_definitions" };
var setLabels = defineAction({
  name: "set-labels",
  meaning: "The named labels are on the issue or pull request, or are not, as said; every other label stays as it is. Names are looked up in the repository, then in its organization.",
  example: `uses: set-labels
with:
  add: [triage]
  sync:
    area/docs: files.exists(f, f.filename.glob("docs/**"))
    size/L: pull_request.additions + pull_request.deletions > 500
`,
  arguments: SetLabels,
  of: ["issue", "pull_request"],
  needs: { access: "writer", scopes: ["issue"] },
  granted: true,
  operatorOnly: ["create"],
  examine: (written) => {
    const places = [
      ...(written.add ?? []).map((label, place) => ({ label, path: ["add", place] })),
      ...(written.remove ?? []).map((label, place) => ({ label, path: ["remove", place] })),
      ...Object.keys(written.sync ?? {}).map((label) => ({ label, path: ["sync", label] }))
    ];
    const seen2 = /* @__PURE__ */ new Set();
    return places.flatMap(({ label, path }) => {
      if (!seen2.has(label)) {
        seen2.add(label);
        return [];
      }
      return [{ path, message: `the label "${label}" is named twice in this step` }];
    });
  },
  facts: () => [labelsFact, definitionsFact2],
  async plan(given, facts2) {
    const wanted = wantedLabels(given);
    const live = await facts2.ask(labelsFact);
    const missing = [...wanted].filter(([label, there]) => there && !live.some((one) => one.name === label));
    const definitions = missing.length === 0 ? [] : await definitionsFor(
      missing.map(([label]) => label),
      facts2
    );
    const changes = [];
    const added = [];
    for (const [label] of missing) {
      const found = definitions === void 0 ? { name: label } : resolveLabel(label, definitions);
      if (found === void 0 && given.create === void 0) {
        throw new Error(
          `there is no label "${label}" in the repository or its organization; make it, or say create`
        );
      }
      if (found === void 0) changes.push(createChange(label, given.create ?? { color: "" }, facts2));
      added.push(found ?? { name: label });
    }
    const kept2 = live.filter((label) => wanted.get(label.name) === true);
    refuseRivals([...kept2, ...added]);
    for (const label of added) changes.push(labelChange(label.name, true, "the rule wants it", facts2));
    for (const [label, there] of wanted) {
      if (live.some((one) => one.name === label) === there) changes.push(labelAlready(label, there, facts2));
    }
    for (const label of live) {
      if (wanted.get(label.name) === false) {
        changes.push(labelChange(label.name, false, "the rule does not want it", facts2));
        continue;
      }
      const rival = added.find(
        (one) => exclusiveScope(one) !== void 0 && exclusiveScope(one) === exclusiveScope(label)
      );
      if (rival) {
        const why = `"${rival.name}" is exclusive in ${exclusiveScope(rival)}/`;
        changes.push(labelChange(label.name, false, why, facts2));
      }
    }
    return changes;
  },
  words({ target, value, operation }, written) {
    const { add, remove, sync } = written;
    if (operation === operations.createLabel.id) return void 0;
    const label = target.slice("label:".length);
    const text2 = sync?.[label];
    if (text2 !== void 0) return `${text2} ${value ? "holds" : "does not hold"}`;
    if (add?.includes(label) && value) return "the rule adds it";
    return remove?.includes(label) ? "the rule removes it" : void 0;
  },
  async join(changes, facts2) {
    const live = await facts2.ask(labelsFact);
    const gone = new Set(changes.filter((change) => change.value === false).map(labelOf));
    const added = changes.filter((change) => change.value === true).map(labelOf);
    const kept2 = live.filter((label) => !gone.has(label.name));
    const definitions = added.length === 0 ? [] : await definitionsFor(added, facts2);
    const params = atIndex(facts2.subject);
    const found = added.map((label) => definitions && resolveLabel(label, definitions));
    if (found.some((one) => one?.id === void 0)) {
      return { params, body: { labels: [...kept2.map((label) => label.name), ...added] } };
    }
    const ids = [...kept2, ...found].flatMap((label) => label?.id ?? []);
    return { params, body: { labels: [...new Set(ids)].sort((a, b) => a - b) } };
  },
  confirm(change, answer) {
    const answered = Label.array().safeParse(answer);
    if (!answered.success || change.operation !== operations.replaceIssueLabels.id) return void 0;
    const there = answered.data.some((label) => label.name === labelOf(change));
    if (there === change.value) return void 0;
    return change.value ? "the forge dropped the label in silence" : "the forge kept the label";
  }
});
function wantedLabels(given) {
  return new Map([
    ...(given.add ?? []).map((label) => [label, true]),
    ...(given.remove ?? []).map((label) => [label, false]),
    ...Object.entries(given.sync ?? {})
  ]);
}
async function definitionsFor(wanted, facts2) {
  try {
    const remembered = await facts2.ask(definitionsFact2);
    if (wanted.every((label) => remembered.some((one) => one.name === label))) return remembered;
    return await facts2.fresh([definitionsFact2], 1e3).ask(definitionsFact2);
  } catch (error) {
    if (error instanceof FactNotGiven) return void 0;
    throw error;
  }
}
function refuseRivals(present) {
  const holders = /* @__PURE__ */ new Map();
  for (const label of present) {
    const scope = exclusiveScope(label);
    if (scope === void 0) continue;
    const holder = holders.get(scope);
    if (holder !== void 0 && holder !== label.name) {
      throw new Error(
        `"${holder}" and "${label.name}" exclude each other (scope ${scope}/), and both are wanted`
      );
    }
    holders.set(scope, label.name);
  }
}
function labelOf(change) {
  return change.target.slice("label:".length);
}
function labelChange(label, there, reason, facts2) {
  const { index } = atIndex(facts2.subject);
  return {
    action: "set-labels",
    operation: operations.replaceIssueLabels.id,
    input: { params: atIndex(facts2.subject) },
    target: `label:${label}`,
    value: there,
    before: !there,
    after: there,
    reason,
    reads: [labelsFact],
    joins: `labels of #${index}`
  };
}
function labelAlready(label, there, facts2) {
  return { ...labelChange(label, there, "it is so already", facts2), before: there, already: true };
}
function createChange(label, create, facts2) {
  const body = {
    name: label,
    color: create.color.replace("#", "").toLowerCase(),
    description: create.description ?? ""
  };
  return {
    action: "set-labels",
    operation: operations.createLabel.id,
    input: { params: inRepository(facts2.subject), body },
    target: `label-definition:${label}`,
    value: { color: body.color, description: body.description },
    before: null,
    after: body,
    reason: "the rule wants a label that does not exist yet",
    forgets: ["label_definitions"],
    reads: [labelsFact, definitionsFact2],
    stage: 0
  };
}

// src/actions/set-status.ts
import { z as z13 } from "zod";
var states = ["pending", "success", "error", "failure", "warning", "skipped"];
var said = {
  description: template().max(255).optional().meta({ description: "One line beside it." }),
  target_url: template().max(2e3).regex(/^(https?:\/\/|\$\{\{)/, "an address begins with http:// or https://").optional().meta({ description: "Where its details are." })
};
var SetStatus = z13.strictObject({
  context: z13.string().min(1).max(255).optional().meta({ description: "Names the status; `reeve/RULE` without it, and always in files of repositories." }),
  state: z13.enum(states).default("success").meta({ description: "What the status says." }),
  ...said,
  when: condition().optional().meta({ description: "The status says `state` while this holds, and `otherwise` while it does not." }),
  otherwise: z13.strictObject({ state: z13.enum(states), ...said }).optional().meta({ description: "Without it: failure for success, success for everything else, no description." })
});
var headFact = { name: "head" };
var statusesFact = { name: "statuses" };
var setStatus = defineAction({
  name: "set-status",
  meaning: "The newest commit of the subject has this status in `context`. With `when`, the status says whether it holds. Files of repositories write in the context `reeve/RULE` alone, so that they cannot pass for a check of others.",
  example: `uses: set-status
with:
  state: success
  description: The description says what was tested.
  when: repository.description.contains("tested")
  otherwise: { state: failure, description: Please say what was tested. }
`,
  arguments: SetStatus,
  of: ["pull_request", "branch", "repository"],
  needs: { access: "writer", scopes: ["repository"] },
  granted: true,
  facts: () => [headFact, statusesFact],
  async plan(given, facts2, context) {
    const name4 = contextOf(given, context);
    const wanted = wantedOf(given);
    if (!/^(https?:\/\/|$)/i.test(wanted.target_url)) {
      throw new Error(`target_url must begin with http:// or https://, not "${wanted.target_url}"`);
    }
    const { sha } = await facts2.ask(headFact);
    const all = await askWritten(facts2, statusesFact);
    const live = all.find((status) => status.context === name4);
    const before = live === void 0 ? null : shown(live.status, live.description, live.target_url);
    const already = before !== null && JSON.stringify(before) === JSON.stringify(wanted);
    return [
      {
        action: "set-status",
        operation: operations.createStatus.id,
        input: { params: { ...inRepository(facts2.subject), sha }, body: { context: name4, ...wanted } },
        target: `status:${name4}`,
        value: wanted,
        before,
        after: wanted,
        reason: already ? "it says so already" : reasonOf(given, live?.status),
        reads: [statusesFact],
        ...already ? { already } : {}
      }
    ];
  }
});
function contextOf({ context: name4 }, { rule, level }) {
  return level === "operator" && name4 !== void 0 ? name4 : `reeve/${rule}`;
}
function wantedOf(given) {
  if (given.when ?? true) return shown(given.state, given.description, given.target_url);
  const { state, description, target_url } = given.otherwise ?? { state: opposite(given.state) };
  return shown(state, description, target_url);
}
function opposite(state) {
  return state === "success" ? "failure" : "success";
}
function shown(state, description, address) {
  return { state: state ?? "", description: description ?? "", target_url: address ?? "" };
}
function reasonOf({ when }, live) {
  const why = when === void 0 ? "the rule wants it" : when ? "its condition holds" : "its condition does not hold";
  return live ? `${why}, and the status says ${live}` : `${why}, and the commit has no such status`;
}

// src/actions/sync-branch-protections.ts
import { z as z14 } from "zod";

// src/actions/protection-terms.ts
var dependsOn = {
  enable_push_whitelist: "enable_push",
  push_whitelist_deploy_keys: "enable_push_whitelist",
  enable_force_push_allowlist: "enable_force_push",
  force_push_allowlist_deploy_keys: "enable_force_push_allowlist"
};
var listsOf = {
  bypass_allowlist_usernames: "enable_bypass_allowlist",
  bypass_allowlist_teams: "enable_bypass_allowlist"
};
var chains = [
  ["enable_push", "enable_push_whitelist", "push_whitelist_deploy_keys"],
  ["enable_force_push", "enable_force_push_allowlist", "force_push_allowlist_deploy_keys"]
];
function contradictionsIn(wanted, live) {
  return Object.entries({ ...dependsOn, ...listsOf }).flatMap(([member, parent]) => {
    const value = wanted[member];
    const isWanted = value === true || Array.isArray(value) && value.length > 0;
    if (!isWanted || (wanted[parent] ?? live?.[parent] ?? false) === true) return [];
    return [{ member, message: `${member} counts only with ${parent}: true` }];
  });
}
function withSwitches(body, live) {
  const sent = { ...body };
  for (const chain of chains) {
    if (!chain.some((member) => member in body)) continue;
    for (const member of chain) {
      const value = body[member] ?? live?.[member] ?? false;
      sent[member] = value;
      if (value !== true) break;
    }
  }
  return sent;
}
function capabilityFor(member) {
  if (member === "priority") return "branch_protection_priority";
  if (member === "block_admin_merge_override") return "block_admin_merge_override";
  if (member.includes("bypass_allowlist")) return "bypass_allowlist";
  return member.includes("force_push") ? "force_push_protection" : void 0;
}

// src/actions/sync-branch-protections.ts
var Protection = EditBranchProtection.extend({
  rule_name: z14.string().min(1).max(255).meta({ description: "A branch, or a glob in which `*` stops at `/` and `**` crosses it." }),
  // 0 is no place: a forge turns it into the last one.
  priority: z14.number().int().min(1).optional().meta({ description: "1 wins over 2." }),
  required_approvals: z14.number().int().min(0).max(1e3).optional()
});
var SyncBranchProtections = z14.strictObject({
  protections: z14.array(Protection).max(100),
  prune: z14.boolean().default(false).meta({ description: "Removes the branch protections that are not named." })
});
var protectionsFact2 = { name: "branch_protections" };
var syncBranchProtections = defineAction({
  name: "sync-branch-protections",
  meaning: "Each named branch protection exists and is as said in every member given; members that are not given stay. Others go only with `prune: true`. Names that the forge drops for want of access are reported once and tried again after a week.",
  example: `uses: sync-branch-protections
with:
  protections:
    - rule_name: main
      enable_push: false
      required_approvals: 1
      dismiss_stale_approvals: true
      block_on_rejected_reviews: true
    - rule_name: release/*
      enable_push: true
      enable_push_whitelist: true
      push_whitelist_teams: [release]
`,
  arguments: SyncBranchProtections,
  of: ["repository", "branch", "pull_request", "issue"],
  needs: { access: "admin", scopes: ["repository"] },
  granted: false,
  requires: Object.fromEntries(
    Object.keys(Protection.shape).flatMap((member) => {
      const capability = capabilityFor(member);
      return capability ? [[`protections.${member}`, capability]] : [];
    })
  ),
  examine: (written) => written.protections.flatMap((protection, place) => [
    ...twice2(written, place),
    // What is not said may be on already; what is said to be off cannot carry what rests on it.
    ...contradictionsIn(protection, allOn).map(({ member, message }) => ({
      path: ["protections", place, member],
      message
    }))
  ]),
  facts: () => [protectionsFact2],
  async plan(given, facts2, context) {
    const all = await facts2.ask(protectionsFact2);
    const at2 = inRepository(facts2.subject);
    const changes = [];
    for (const { rule_name, ...wanted } of given.protections) {
      const live = all.find((one) => one.rule_name === rule_name);
      const [wrong] = contradictionsIn(wanted, live);
      if (wrong) throw new Error(`${rule_name}: ${wrong.message}, and it is off`);
      changes.push(
        ...await planProtection(
          {
            action: "sync-branch-protections",
            target: `protection:${rule_name}`,
            naming: { rule_name },
            wanted,
            live,
            create: { operation: operations.createBranchProtection.id, params: at2 },
            edit: { operation: operations.editBranchProtection.id, params: { ...at2, name: rule_name } },
            reads: [protectionsFact2],
            requires: capabilityFor
          },
          context
        )
      );
    }
    return given.prune ? [...changes, ...pruning(given, all, facts2)] : changes;
  },
  async join(changes, facts2) {
    const params = changes[0]?.input.params ?? {};
    const all = await facts2.ask(protectionsFact2);
    const live = all.find((one) => one.rule_name === params.name);
    return { params, body: withSwitches(bodyOf(changes), live) };
  },
  confirm: unshown,
  learn: learnDropped
});
var allOn = Object.fromEntries(Object.keys(Protection.shape).map((member) => [member, true]));
function twice2({ protections }, place) {
  const name4 = protections[place]?.rule_name;
  const first = protections.findIndex((one) => one.rule_name === name4);
  return first === place ? [] : [{ path: ["protections", place, "rule_name"], message: `"${name4}" is named twice in this step` }];
}
function pruning(given, all, facts2) {
  const named = new Set(given.protections.map((one) => one.rule_name));
  return all.filter((live) => !named.has(live.rule_name)).map(
    (live) => pruneProtection({
      action: "sync-branch-protections",
      target: `protection:${live.rule_name}`,
      call: {
        operation: operations.deleteBranchProtection.id,
        params: { ...inRepository(facts2.subject), name: live.rule_name }
      },
      live,
      reads: [protectionsFact2],
      from: "branch protections",
      there: all.length
    })
  );
}

// src/actions/hook-changes.ts
function differing(declared, hook) {
  const { branch_filter, content_type, name: name4 } = declared;
  const eventsDiffer = shownEvents(hook.events).join() !== [...declared.events].sort().join();
  return [
    ...eventsDiffer ? ["events"] : [],
    ...branch_filter !== void 0 && branch_filter !== (hook.branch_filter ?? "") ? ["branch_filter"] : [],
    ...declared.active === (hook.active ?? false) ? [] : ["active"],
    ...content_type !== void 0 && content_type !== hook.config?.content_type ? ["content_type"] : [],
    ...name4 !== void 0 && name4 !== hook.name ? ["name"] : []
  ];
}
function edition(situation, { hook, known }) {
  const { wanted, prints, place, isBlind } = situation;
  const lost = differing(declaredOf(wanted), hook);
  const isOther = !isBlind && prints.authorization !== void 0 && prints.authorization !== known?.authorization;
  if (isOther || givesUpHeader(wanted, hook)) lost.push("authorization");
  const isSo = lost.length === 0;
  const body = {
    events: namesToSend(wantedEvents(wanted.events)),
    branch_filter: wanted.branch_filter ?? hook.branch_filter ?? "",
    authorization_header: isSo ? "" : headerOf(wanted, known),
    active: wanted.active,
    ...wanted.content_type && { config: { content_type: wanted.content_type } },
    ...wanted.name && { name: wanted.name }
  };
  return {
    ...commonOf(situation),
    operation: place.edit,
    input: { params: { ...place.params, id: hook.id }, body },
    before: stateOf(hook),
    reason: isSo ? "it is so already" : `the rule wants another ${lost.join(", ")}`,
    ...requiresOf(wanted, hook),
    ...isSo && { already: true }
  };
}
function creation(situation, replaced) {
  const { wanted, place } = situation;
  const [old] = replaced;
  const name4 = wanted.name ?? old?.hook.name;
  const config = {
    url: wanted.url,
    content_type: wanted.content_type ?? old?.hook.config?.content_type ?? "json",
    ...wanted.hmac && { secret: wanted.hmac }
  };
  const body = {
    type: old?.hook.type ?? "gitea",
    config,
    events: namesToSend(wantedEvents(wanted.events)),
    branch_filter: wanted.branch_filter ?? old?.hook.branch_filter ?? "",
    authorization_header: old ? headerOf(wanted, old.known) : headerOf(wanted, { authorization: "none" }),
    active: wanted.active,
    ...name4 && { name: name4 }
  };
  return {
    ...commonOf(situation),
    operation: place.create,
    input: { params: place.params, body },
    before: old ? { replaces: replaced.map(({ hook }) => hook.id), ...stateOf(old.hook) } : null,
    reason: old ? "it is not known to sign with this secret, which cannot be edited: it is made anew" : "there is no hook to this url",
    stage: 0
  };
}
function headerOf({ url, authorization }, known) {
  if (authorization === "none") return "";
  if (authorization !== void 0) return authorization;
  if (known?.authorization === "none") return "";
  throw new Error(
    `nobody can see whether the hook to ${url} sends an Authorization header, and this would clear it: say authorization: none, or name its secret`
  );
}
async function testChange(situation, id, facts2) {
  const { wanted, place } = situation;
  if (place.test === void 0 || !wanted.active || await isEmpty(facts2)) return [];
  return [
    {
      action: "sync-hooks",
      operation: place.test,
      input: { params: { ...place.params, id } },
      target: `hook-test:${wanted.url}`,
      value: true,
      before: null,
      after: true,
      reason: "the new hook is tried before the old one goes",
      reads: [place.fact]
    }
  ];
}
async function isEmpty(facts2) {
  try {
    const { empty } = await facts2.ask({ name: "repository" });
    return empty === true;
  } catch (error) {
    if (error instanceof FactNotGiven) return false;
    throw error;
  }
}
function removal2({ wanted, place }, { hook }) {
  return {
    action: "sync-hooks",
    operation: place.delete,
    input: { params: { ...place.params, id: hook.id } },
    target: `hook:${wanted.url}#${hook.id}`,
    value: null,
    before: stateOf(hook),
    after: null,
    reason: "another hook has taken its place",
    reads: [place.fact],
    stage: 2
  };
}
function declaredOf({ url: _, ...rest }) {
  return { ...rest, events: [...wantedEvents(rest.events)] };
}
function commonOf({ wanted, place }) {
  const declared = declaredOf(wanted);
  return {
    action: "sync-hooks",
    target: `hook:${wanted.url}`,
    value: declared,
    after: declared,
    reads: [place.fact],
    ...requiresOf(wanted)
  };
}
var capabilityOfEvent = {
  status: "status_events",
  workflow_job: "workflow_job_events",
  workflow_run: "workflow_run_events",
  action_run_failure: "action_run_events",
  action_run_recover: "action_run_events",
  action_run_success: "action_run_events"
};
function requiresOf(wanted, hook) {
  const needed = new Set(wanted.events.flatMap((event) => capabilityOfEvent[event] ?? []));
  if (wanted.name !== void 0) needed.add("hook_names");
  if (hook && movesFixed(wanted, hook)) needed.add("hook_package_edit");
  if (hook && givesUpHeader(wanted, hook)) needed.add("hook_header_removal");
  return needed.size === 0 ? {} : { requires: [...needed] };
}
function givesUpHeader({ authorization }, { has_authorization }) {
  return authorization === "none" && has_authorization === true;
}
var fixedKinds = ["package", "action_run_failure", "action_run_recover", "action_run_success"];
function movesFixed({ events }, { events: shown2 }) {
  const wanted = wantedEvents(events);
  return fixedKinds.some((kind) => wanted.includes(kind) !== shown2.includes(kind));
}
function stateOf({ events, branch_filter, active, config, name: name4 }) {
  return {
    events: shownEvents(events),
    branch_filter: branch_filter ?? "",
    active: active ?? false,
    content_type: config?.content_type ?? null,
    ...name4 && { name: name4 }
  };
}
function replacedBy({ before }) {
  const replaces = typeof before === "object" && before !== null && "replaces" in before ? before.replaces : [];
  return Array.isArray(replaces) ? replaces.filter((id) => typeof id === "number") : [];
}

// src/actions/hook-forms.ts
import { z as z15 } from "zod";
var SecretForm = z15.strictObject({
  secret: z15.string().regex(/^[A-Za-z]\w{0,63}$/, "a secret is named by letters, digits and _")
});
var HookForm = z15.strictObject({
  url: z15.url({ protocol: /^https?$/ }).max(2e3).meta({ description: "Where it delivers; a hook is found by it." }),
  events: z15.array(z15.enum(hookEventNames)).min(1).meta({ description: "Families (`pull_request`) or single kinds (`pull_request_only`)." }),
  branch_filter: z15.string().max(255).optional().meta({ description: "Glob of branches; left out, it stays." }),
  active: z15.boolean().default(true),
  content_type: z15.enum(["json", "form"]).optional().meta({ description: "json where the hook is made." }),
  name: z15.string().min(1).max(255).optional(),
  authorization: z15.union([SecretForm, z15.literal("none")]).optional().meta({ description: "The value of the Authorization header, named: `{ secret: NAME }`; or none." }),
  hmac: SecretForm.optional().meta({
    description: "The secret deliveries are signed with, named. Another value makes the hook anew."
  })
});
var SyncHooks = z15.strictObject({
  hooks: z15.array(HookForm).min(1).max(20),
  "of-account": z15.boolean().default(false).meta({ description: "The hooks of the account Reeve acts as, instead of those of the subject." })
});

// src/actions/hook-place.ts
function hookPlace(ofAccount, { subject }) {
  if (ofAccount) {
    return {
      fact: { name: "account_hooks" },
      params: {},
      create: operations.createUserHook.id,
      edit: operations.editUserHook.id,
      delete: operations.deleteUserHook.id
    };
  }
  const fact = { name: "hooks" };
  if (subject.kind === "organization") {
    return {
      fact,
      params: inOrganization(subject),
      create: operations.createOrganizationHook.id,
      edit: operations.editOrganizationHook.id,
      delete: operations.deleteOrganizationHook.id
    };
  }
  return {
    fact,
    params: inRepository(subject),
    create: operations.createHook.id,
    edit: operations.editHook.id,
    delete: operations.deleteHook.id,
    test: operations.testHook.id
  };
}

// src/actions/hook-secrets.ts
import { z as z16 } from "zod";

// src/actions/secrets.ts
import { createHmac } from "node:crypto";
function createNamedSecrets(values, key) {
  const reveal = (value) => {
    if (isSecretName(value)) {
      const found = values.get(value.secret);
      if (found === void 0) throw new ReeveError("settings", unknownSecret(value.secret));
      return found;
    }
    if (Array.isArray(value)) return value.map(reveal);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name4, member]) => [name4, reveal(member)]));
  };
  return {
    fingerprint(name4) {
      const value = values.get(name4);
      return value === void 0 ? void 0 : createHmac("sha256", key).update(value).digest("base64url");
    },
    reveal: (input) => "body" in input ? { ...input, body: reveal(input.body) } : input,
    hide(text2) {
      let hidden = text2;
      for (const [name4, value] of values) hidden = hidden.replaceAll(value, `{secret: ${name4}}`);
      return hidden;
    }
  };
}
function unknownSecret(name4) {
  return `there is no secret named "${name4}": give it under named-secrets in the operator file, or as REEVE_SECRET_${name4}`;
}
function isSecretName(value) {
  return typeof value === "object" && value !== null && Object.keys(value).length === 1 && "secret" in value && typeof value.secret === "string";
}
function namesSecret(value) {
  if (isSecretName(value)) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(namesSecret);
}

// src/actions/hook-secrets.ts
var KnownHook = z16.object({
  /** `none`: it sends no header. */
  authorization: z16.string().optional(),
  hmac: z16.string().optional(),
  /** Hooks that this one takes the place of; they go once it works. */
  replaces: z16.array(z16.number()).optional()
});
var keyOf3 = (id) => `sync-hooks/${id}`;
async function recallHook(memory, id) {
  const found = KnownHook.safeParse(await memory.get(keyOf3(id)));
  return found.success ? found.data : void 0;
}
async function keepHook(memory, id, known) {
  await memory.set(keyOf3(id), known);
}
function printsOf(wanted, context) {
  const { secrets, level } = context;
  const print = (name4) => {
    if (level !== "operator") throw new Error("only rules of the operator may name secrets");
    if (secrets === void 0) return void 0;
    const found = secrets.fingerprint(name4);
    if (found === void 0) throw new Error(unknownSecret(name4));
    return found;
  };
  const { authorization, hmac } = wanted;
  const header = authorization === "none" ? "none" : authorization && print(authorization.secret);
  const signature = hmac && print(hmac.secret);
  return { ...header && { authorization: header }, ...signature && { hmac: signature } };
}

// src/actions/sync-hooks.ts
var syncHooks = defineAction({
  name: "sync-hooks",
  meaning: "Each hook exists on the repository, on the organization where that is the subject, or on the account, and is as declared; other hooks are untouched. Secrets are named, and their values never written anywhere. Another value of `hmac` makes the hook anew, tests it and removes the old one. A forge hides the header of a hook: where an edit would clear one that nobody declares, the step fails and says so.",
  example: `uses: sync-hooks
with:
  hooks:
    - url: https://ci.example.org/hook
      events: [push, pull_request]
      branch_filter: "{main,release/*}"
      authorization: { secret: CI_HEADER }
      hmac: { secret: CI_SIGNATURE }
`,
  arguments: SyncHooks,
  of: ["repository", "organization"],
  needs: { access: "admin", scopes: ["repository"] },
  granted: false,
  requires: {
    "hooks.name": "hook_names",
    ...Object.fromEntries(
      Object.entries(capabilityOfEvent).map(([event, needed]) => [`hooks.events=${event}`, needed])
    )
  },
  examine: (written) => written.hooks.flatMap(
    ({ url }, place) => written.hooks.findIndex((one) => one.url === url) === place ? [] : [{ path: ["hooks", place, "url"], message: "this url is named twice in this step" }]
  ),
  facts: (given) => [{ name: given["of-account"] ? "account_hooks" : "hooks" }],
  async plan(given, facts2, context) {
    const place = hookPlace(given["of-account"], facts2);
    const live = await facts2.ask(place.fact);
    const changes = [];
    for (const wanted of given.hooks) {
      const there = live.filter((hook) => hook.config?.url === wanted.url);
      const held = await Promise.all(
        there.map(
          async (hook) => ({ hook, known: await recallHook(context.memory, hook.id) })
        )
      );
      const prints = printsOf(wanted, context);
      const situation = { wanted, prints, place, isBlind: context.secrets === void 0 };
      changes.push(...await planHook(situation, held, facts2));
    }
    return changes;
  },
  confirm(change, answer) {
    const answered = Hook.safeParse(answer);
    if (!answered.success || !isDeclared(change.value)) return void 0;
    const lost = differing(change.value, answered.data);
    return lost.length === 0 ? void 0 : `the forge did not take ${lost.join(", ")} of the hook`;
  },
  async remember(change, answer, { memory, ...context }) {
    const answered = Hook.safeParse(answer);
    if (!answered.success || !isDeclared(change.value)) return;
    const prints = printsOf(change.value, { memory, ...context });
    if (change.stage !== 0) {
      const known = await recallHook(memory, answered.data.id);
      return keepHook(memory, answered.data.id, {
        ...known,
        authorization: prints.authorization ?? known?.authorization
      });
    }
    await keepHook(memory, answered.data.id, {
      authorization: "none",
      ...prints,
      replaces: replacedBy(change)
    });
  }
});
async function planHook(situation, held, facts2) {
  const { prints, isBlind } = situation;
  const replaced = new Set(held.flatMap(({ known }) => known?.replaces ?? []));
  const leftovers = held.filter(({ hook }) => replaced.has(hook.id));
  const current = pick(
    held.filter(({ hook }) => !replaced.has(hook.id)),
    situation.wanted.url
  );
  if (current === void 0) return [creation(situation, [])];
  const isOther = !isBlind && prints.hmac !== void 0 && prints.hmac !== current.known?.hmac;
  const leaving = isOther ? [current, ...leftovers] : leftovers;
  const first = isOther ? creation(situation, leaving) : edition(situation, current);
  if (leaving.length === 0) return [first];
  const testing = await testChange(situation, isOther ? 0 : current.hook.id, facts2);
  const after = [...testing, ...leaving.map((old) => removal2(situation, old))];
  return [first, ...isOther ? after.map((change) => ({ ...change, needs: first.target })) : after];
}
function pick(held, url) {
  if (held.length <= 1) return held[0];
  const [own, ...others] = held.filter(({ known }) => known);
  if (own && others.length === 0) return own;
  throw new Error(`there are ${held.length} hooks to ${url}, and each delivers: remove all but one`);
}
function isDeclared(value) {
  return typeof value === "object" && value !== null && "events" in value;
}

// src/actions/sync-labels.ts
import { z as z17 } from "zod";
var name3 = z17.string().min(1).max(255);
var Definition = z17.strictObject({
  name: name3,
  color: z17.string().regex(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/, 'a color has 3 or 6 hex digits, such as "0e8a16"'),
  description: z17.string().max(500).optional(),
  exclusive: z17.boolean().optional().meta({
    description: "Of the labels of one scope (the text before the last slash) an issue carries one."
  }),
  archived: z17.boolean().optional(),
  previously: z17.array(name3).max(20).optional().meta({ description: "Former names: a label of this name is renamed, and stays on its issues." })
});
var SyncLabels = z17.strictObject({
  labels: z17.array(Definition).min(1).max(200),
  prune: z17.boolean().optional().meta({ description: "Remove all other labels, at most 5 or a quarter of them at once. Default false." })
});
var ownLabelsFact = { name: "own_labels" };
var syncLabels = defineAction({
  name: "sync-labels",
  meaning: "The repository, or the organization where that is the subject, defines these labels: color, and description, exclusive and archived where they are given. A label under a former name is renamed and stays on its issues. Other labels go only with `prune`.",
  example: `uses: sync-labels
with:
  labels:
    - { name: kind/bug, color: d73a4a, exclusive: true, previously: [bug] }
    - { name: kind/feature, color: a2eeef, exclusive: true, description: Something new }
`,
  arguments: SyncLabels,
  of: ["repository", "organization"],
  needs: { access: "writer", scopes: ["issue"] },
  granted: false,
  examine: namedTwice,
  facts: () => [ownLabelsFact],
  async plan(given, facts2) {
    const live = await facts2.ask(ownLabelsFact);
    const taken = /* @__PURE__ */ new Set();
    const changes = given.labels.map((wanted) => {
      const found = findLabel(wanted, live);
      if (found) taken.add(found.id);
      return definitionChange(wanted, found, facts2);
    });
    if (!given.prune) return changes;
    const others = live.filter((label) => !taken.has(label.id));
    return [...changes, ...others.map((label) => removal3(label, live.length, facts2))];
  },
  confirm(change, answer) {
    const answered = Label.safeParse(answer);
    if (!answered.success || change.value === null) return void 0;
    const wanted = change.value;
    const live = membersOf(answered.data);
    const lost = Object.keys(wanted).filter(
      (key) => live[key] !== wanted[key]
    );
    return lost.length === 0 ? void 0 : `the forge did not take ${lost.join(", ")} of the label`;
  }
});
function namedTwice(written) {
  const seen2 = /* @__PURE__ */ new Set();
  return written.labels.flatMap(
    (label, place) => [label.name, ...label.previously ?? []].flatMap((one, former) => {
      if (!seen2.has(one)) {
        seen2.add(one);
        return [];
      }
      const path = former === 0 ? ["labels", place, "name"] : ["labels", place, "previously", former - 1];
      return [{ path, message: `the label "${one}" is named twice in this step` }];
    })
  );
}
function findLabel(wanted, live) {
  for (const one of [wanted.name, ...wanted.previously ?? []]) {
    const found = live.filter((label) => label.name === one);
    if (found.length > 1) throw new Error(`there are ${found.length} labels named "${one}"`);
    if (found[0]) return found[0];
  }
  return void 0;
}
function membersOf(label) {
  return {
    name: label.name,
    color: (label.color ?? "").replace("#", "").toLowerCase(),
    description: label.description ?? "",
    exclusive: label.exclusive ?? false,
    is_archived: label.is_archived ?? false
  };
}
function wantedMembers({
  name: wanted,
  color,
  description,
  exclusive,
  archived
}) {
  const digits = color.replace("#", "").toLowerCase();
  return {
    name: wanted,
    color: digits.length === 3 ? [...digits].map((digit) => digit + digit).join("") : digits,
    ...description !== void 0 && { description },
    ...exclusive !== void 0 && { exclusive },
    ...archived !== void 0 && { is_archived: archived }
  };
}
function definitionChange(definition, found, facts2) {
  const value = wantedMembers(definition);
  const common = {
    action: "sync-labels",
    target: `label-definition:${definition.name}`,
    value,
    forgets: ["label_definitions"],
    reads: [ownLabelsFact],
    stage: 0
  };
  if (found === void 0) {
    const reason = "there is no label of this name";
    return { ...common, ...at("create", facts2), before: null, after: value, reason, ...bodyOf2(facts2, value) };
  }
  const live = membersOf(found);
  const after = { ...live, ...value };
  const differing2 = Object.keys(value).filter(
    (key) => live[key] !== after[key]
  );
  const isSo = differing2.length === 0;
  const was = found.name === definition.name ? "" : `it is named "${found.name}" until now; `;
  const body = { ...value, is_archived: after.is_archived };
  return {
    ...common,
    ...at("edit", facts2),
    before: live,
    after,
    reason: isSo ? "it is so already" : `${was}the rule wants another ${differing2.join(", ")}`,
    ...bodyOf2(facts2, body, found.id),
    ...isSo && { already: true }
  };
}
function removal3(label, there, facts2) {
  return {
    action: "sync-labels",
    ...at("delete", facts2),
    ...bodyOf2(facts2, void 0, label.id),
    target: `label-definition:${label.name}`,
    value: null,
    before: membersOf(label),
    after: null,
    reason: "the rule does not list it, and prunes",
    removes: { from: "labels", there },
    forgets: ["label_definitions"],
    reads: [ownLabelsFact],
    stage: 2
  };
}
var rows = {
  repository: {
    create: operations.createLabel.id,
    edit: operations.editLabel.id,
    delete: operations.deleteLabel.id
  },
  organization: {
    create: operations.createOrganizationLabel.id,
    edit: operations.editOrganizationLabel.id,
    delete: operations.deleteOrganizationLabel.id
  }
};
function at(what, { subject }) {
  return { operation: rows[subject.kind === "organization" ? "organization" : "repository"][what] };
}
function bodyOf2({ subject }, body, id) {
  const where = subject.kind === "organization" ? inOrganization(subject) : inRepository(subject);
  const params = id === void 0 ? where : { ...where, id };
  return { input: body === void 0 ? { params } : { params, body } };
}

// src/actions/sync-organization.ts
import { z as z18 } from "zod";
var SyncOrganization = z18.strictObject({
  full_name: z18.string().max(100).optional(),
  email: z18.union([z18.literal(""), z18.email().max(255)]).optional().meta({ description: "Shown to everybody who may see the organization; the empty text clears it." }),
  description: z18.string().max(255).optional(),
  website: z18.union([z18.literal(""), z18.url({ protocol: /^https?$/ }).max(255)]).optional().meta({ description: "An http or https address, or empty." }),
  location: z18.string().max(50).optional(),
  visibility: z18.enum(["public", "limited", "private"]).optional().meta({ description: "Who sees it: everybody, whoever is signed in, its members." }),
  repo_admin_change_team_access: z18.boolean().optional().meta({ description: "Whether administrators of a repository may change which teams reach it." })
}).refine((given) => Object.keys(given).length > 0, { message: "name at least one setting" });
var organizationFact = { name: "organization" };
var clearedByAbsence = ["full_name", "description", "website", "location"];
var syncOrganization = defineAction({
  name: "sync-organization",
  meaning: "The organization has these settings; those that are not named stay as they are. Of a repository, it is the organization that owns it. An organization has no events of its own: give the rule a schedule.",
  example: `uses: sync-organization
with:
  visibility: limited
  website: https://acme.example.org
  repo_admin_change_team_access: false
`,
  arguments: SyncOrganization,
  of: ["organization", "repository"],
  needs: { access: "owner", scopes: ["organization"] },
  granted: false,
  facts: () => [organizationFact],
  async plan(given, facts2) {
    const live = await facts2.ask(organizationFact);
    return Object.entries(given).flatMap(
      ([setting, value]) => value === void 0 ? [] : [settingChange(setting, value, live, facts2)]
    );
  },
  async join(changes, facts2) {
    const live = await facts2.ask(organizationFact);
    const kept2 = Object.fromEntries(clearedByAbsence.map((setting) => [setting, live[setting] ?? ""]));
    const wanted = Object.fromEntries(changes.map((change) => [settingOf(change), change.value]));
    return { params: inOrganization(facts2.subject), body: { ...kept2, ...wanted } };
  },
  confirm(change, answer) {
    const answered = Organization.safeParse(answer);
    if (!answered.success || answered.data[settingOf(change)] === change.value) return void 0;
    return `the forge kept ${settingOf(change)} as it was, or made something else of it`;
  }
});
function requiredFor(target, value) {
  return target === "organization:visibility" && value === "public" ? ["organization_public_again"] : [];
}
function settingChange(setting, value, live, facts2) {
  const params = inOrganization(facts2.subject);
  const before = live[setting] ?? null;
  const isSo = before === value;
  const target = `organization:${setting}`;
  const requires = isSo ? [] : requiredFor(target, value);
  return {
    action: "sync-organization",
    operation: operations.editOrganization.id,
    input: { params },
    target,
    value,
    before,
    after: value,
    reason: isSo ? "it is so already" : "the rule wants it otherwise",
    reads: [organizationFact],
    joins: `settings of ${params.org}`,
    ...isSo && { already: true },
    ...requires.length > 0 && { requires }
  };
}
function settingOf(change) {
  return change.target.slice("organization:".length);
}

// src/actions/actions.ts
var actions = [
  setLabels,
  syncOrganization,
  syncLabels,
  syncHooks,
  markNotifications,
  comment2,
  setStatus,
  reportIssue,
  dismissStaleReviews,
  openPullRequest,
  syncBranchProtections,
  protectTags
];
var byName2 = new Map(actions.map((action) => [action.name, action]));
function findAction(name4) {
  return byName2.get(name4);
}

export {
  keyOf,
  facts,
  findFact,
  createFactMemory,
  createFacts,
  createGivenFacts,
  capabilityOfEvent,
  createNamedSecrets,
  namesSecret,
  clearedByAbsence,
  requiredFor,
  actions,
  findAction
};

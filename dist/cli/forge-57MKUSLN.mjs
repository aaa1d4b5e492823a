import {
  Runner,
  controlTokenFile,
  createForge
} from "./chunk-3AT6Q7VA.mjs";
import {
  untilStopped
} from "./chunk-JYGNNTIO.mjs";
import "./chunk-5BSG5FQ5.mjs";
import "./chunk-OK4C527H.mjs";
import "./chunk-D4IFGYQO.mjs";
import {
  createLog
} from "./chunk-OVHSHDHZ.mjs";
import {
  CreateBranchProtection,
  CreateTeam
} from "./chunk-P5GSASXZ.mjs";
import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/commands/forge.ts
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

// src/forge/seed/file.ts
import { LineCounter, parseDocument } from "yaml";

// src/forge/seed/shape.ts
import { z } from "zod";
var name = z.string().min(1);
var names = z.array(name);
var instant = z.iso.datetime({ offset: true });
var visibility = z.enum(["public", "limited", "private"]);
var Account = z.strictObject({
  name,
  password: z.string().min(1).optional().describe("Absent: nobody signs in with a password."),
  email: z.string().optional().describe("Absent: NAME@localhost."),
  full_name: z.string().optional(),
  admin: z.boolean().optional().describe("Administers the site."),
  restricted: z.boolean().optional(),
  visibility: visibility.optional(),
  starred: names.optional().describe("Repositories as owner/name.")
});
var Label = z.strictObject({
  name,
  color: z.string().describe("Three or six hex digits, with or without #."),
  description: z.string().optional(),
  exclusive: z.boolean().optional()
});
var Hook = z.strictObject({
  url: z.string(),
  type: z.string().optional().describe("Absent: gitea."),
  content_type: z.enum(["json", "form"]).optional().describe("Absent: json."),
  secret: z.string().optional(),
  authorization_header: z.string().optional(),
  events: names.optional().describe("Absent: push."),
  branch_filter: z.string().optional(),
  active: z.boolean().optional().describe("Absent: true."),
  name: z.string().optional()
});
var Team = CreateTeam.extend({
  name,
  members: names.optional(),
  repositories: names.optional().describe("Names without the organization.")
});
var Organization = z.strictObject({
  name,
  owner: name.describe("The first member of its team Owners."),
  full_name: z.string().optional(),
  description: z.string().optional(),
  website: z.string().optional(),
  location: z.string().optional(),
  email: z.string().optional(),
  visibility: visibility.optional(),
  teams: z.array(Team).optional(),
  labels: z.array(Label).optional(),
  hooks: z.array(Hook).optional()
});
var files = z.record(z.string(), z.string()).describe("Path to text.");
var Comment = z.strictObject({ by: name, body: name });
var conversation = {
  title: name,
  by: name.describe("Who opened it."),
  body: z.string().optional(),
  labels: names.optional().describe("Of the repository, or of its organization."),
  milestone: name.optional().describe("Its title."),
  assignees: names.optional(),
  due_date: instant.optional(),
  comments: z.array(Comment).optional(),
  state: z.enum(["open", "closed"]).optional()
};
var Issue = z.strictObject(conversation);
var Pull = z.strictObject({
  ...conversation,
  head: name.describe("A branch of the repository."),
  base: name.optional().describe("Absent: the default branch."),
  reviewers: names.optional(),
  reviews: z.array(
    z.strictObject({
      by: name,
      event: z.enum(["APPROVED", "REQUEST_CHANGES", "COMMENT"]),
      body: z.string().optional()
    })
  ).optional(),
  statuses: z.array(
    z.strictObject({
      context: name,
      state: z.enum(["pending", "success", "error", "failure", "warning", "skipped"]),
      description: z.string().optional(),
      target_url: z.string().optional()
    })
  ).optional().describe("Of the head, as the owner tells them."),
  merged: z.enum(["merge", "rebase", "rebase-merge", "squash", "fast-forward-only"]).optional().describe("Merged by the owner, in this way.")
});
var Repository = z.strictObject({
  name: z.string().regex(/^[^/]+\/[^/]+$/, "owner/name").describe("owner/name"),
  description: z.string().optional(),
  private: z.boolean().optional(),
  template: z.boolean().optional(),
  archived: z.boolean().optional(),
  default_branch: name.optional().describe("Absent: main."),
  collaborators: z.record(name, z.enum(["read", "write", "admin"])).optional(),
  files: files.optional().describe("The first commit. Absent: the repository is empty."),
  branches: z.array(
    z.strictObject({
      name,
      from: name.optional().describe("Absent: the default branch."),
      files: files.optional().describe("One commit on the branch."),
      message: z.string().optional()
    })
  ).optional(),
  tags: z.array(
    z.strictObject({
      name,
      target: name.optional().describe("Absent: the default branch."),
      message: z.string().optional().describe("Makes it an annotated tag.")
    })
  ).optional(),
  wiki: files.optional().describe("Title of the page to its text."),
  labels: z.array(Label).optional(),
  milestones: z.array(
    z.strictObject({
      title: name,
      description: z.string().optional(),
      due_on: instant.optional(),
      state: z.enum(["open", "closed"]).optional()
    })
  ).optional(),
  hooks: z.array(Hook).optional(),
  issues: z.array(Issue).optional().describe("Numbered from 1 in this order."),
  pulls: z.array(Pull).optional().describe("Numbered after the issues."),
  protections: z.array(CreateBranchProtection.extend({ rule_name: name })).optional()
});
var Seed = z.strictObject({
  version: z.literal(1),
  accounts: z.array(Account).optional(),
  organizations: z.array(Organization).optional(),
  repositories: z.array(Repository).optional(),
  runners: z.array(Runner).optional().describe("The runners of every level; each start makes them these and no others.")
});
function describeSeed() {
  return z.toJSONSchema(Seed, { io: "input", unrepresentable: "any" });
}

// src/forge/seed/file.ts
function parseSeed(text, file) {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    version: "1.2",
    merge: false
  });
  const at = (offset) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) return { problems: faults.map((fault) => `${at(fault.pos[0])}: ${fault.message}`) };
  const placeOf = (path) => at(offsetOf(document, path));
  let value;
  try {
    value = document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    return { problems: [`${file}: ${error instanceof Error ? error.message : "not readable"}`] };
  }
  const parsed = Seed.safeParse(value);
  if (parsed.success) return { seed: parsed.data, placeOf };
  return {
    problems: parsed.error.issues.map(
      (issue) => `${placeOf(issue.path)}: ${issue.path.join(".") || "the file"}: ${issue.message}`
    )
  };
}
function offsetOf(document, path) {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    const range = typeof node === "object" && node !== null && "range" in node ? node.range : void 0;
    if (Array.isArray(range) && typeof range[0] === "number") return range[0];
  }
  return 0;
}

// src/commands/forge.ts
async function forge(options, terminal) {
  const administrator = readAdministrator(options);
  const port = readPort(options.port ?? "3000");
  const seed = options.seed === void 0 ? void 0 : readSeed(options.seed);
  const data = resolve(options.data ?? "./data/forge");
  const log = createLog({ level: "warn", secrets: administrator ? [administrator.password] : [] });
  const running = await createForge({
    clock: () => /* @__PURE__ */ new Date(),
    data,
    log,
    seed,
    control: options.control ?? false
  });
  try {
    if (administrator) await running.createAdministrator(administrator);
    if (options.admin !== void 0) {
      terminal.error(
        "The password stands in the process list of this machine; --admin-password-file keeps it out."
      );
    }
    const stopped = untilStopped();
    const url = await running.listen({ port, host: "127.0.0.1" });
    if (options.json) terminal.out(JSON.stringify({ url }));
    else {
      terminal.out(`The embedded forge listens on ${url} (API: ${url}/api/v1)`);
      if (options.control) terminal.out(`Control: ${url}/-/control/, bearer in ${controlTokenFile(data)}`);
    }
    await stopped;
    return 0;
  } finally {
    await running.close();
  }
}
function readSeed(path) {
  let text;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new ReeveError("usage", `--seed: ${messageOf(cause)}`, { cause });
  }
  const read = parseSeed(text, path);
  if ("problems" in read)
    throw new ReeveError("usage", `the seed cannot be used
${read.problems.join("\n")}`);
  return read;
}
function readAdministrator(options) {
  if (options.adminPasswordFile !== void 0) {
    try {
      return {
        name: "root",
        password: readFileSync(options.adminPasswordFile, "utf8").replace(/\r?\n$/, "")
      };
    } catch (cause) {
      throw new ReeveError("usage", `--admin-password-file: ${messageOf(cause)}`, { cause });
    }
  }
  if (options.admin === void 0) return void 0;
  const colon = options.admin.indexOf(":");
  if (colon < 1 || colon === options.admin.length - 1)
    throw new ReeveError("usage", "--admin takes NAME:PASSWORD");
  return { name: options.admin.slice(0, colon), password: options.admin.slice(colon + 1) };
}
function seedSchema(terminal) {
  terminal.out(JSON.stringify(describeSeed(), void 0, 2));
  return 0;
}
function readPort(text) {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65535))
    throw new ReeveError("usage", `--port takes a number from 0 to 65535, not "${text}"`);
  return port;
}
export {
  forge,
  seedSchema
};

import {
  ReeveError
} from "./chunk-KZNQZHIP.mjs";

// src/contract/events.ts
var families = {
  pull_request: {
    types: {
      pull_request: ["opened", "closed", "reopened", "edited", "deleted"],
      pull_request_sync: ["synchronized"],
      pull_request_assign: ["assigned", "unassigned"],
      pull_request_label: ["label_updated", "label_cleared"],
      pull_request_milestone: ["milestoned", "demilestoned"],
      pull_request_review_request: ["review_requested", "review_request_removed"]
    },
    subject: "pull_request",
    members: ["action", "number", "pull_request", "repository"]
  },
  pull_request_review: {
    types: {
      pull_request_review_approved: ["approved"],
      pull_request_review_rejected: ["rejected"],
      pull_request_review_comment: ["commented"]
    },
    subject: "pull_request",
    members: ["action", "number", "pull_request", "repository"]
  },
  issues: {
    types: {
      issues: ["opened", "closed", "reopened", "edited", "deleted"],
      issue_assign: ["assigned", "unassigned"],
      issue_label: ["label_updated", "label_cleared"],
      issue_milestone: ["milestoned", "demilestoned"]
    },
    subject: "issue",
    members: ["action", "number", "issue", "repository"]
  },
  issue_comment: {
    types: { issue_comment: ["created", "edited", "deleted"] },
    subject: "issue",
    members: ["action", "issue", "comment", "repository"]
  },
  pull_request_comment: {
    types: { pull_request_comment: ["created", "edited", "deleted"] },
    subject: "pull_request",
    members: ["action", "issue", "comment", "repository"]
  },
  push: { types: { push: [] }, subject: "branch", members: ["ref", "before", "after", "repository"] },
  create: { types: { create: [] }, subject: "branch", members: ["ref", "ref_type", "repository"] },
  delete: { types: { delete: [] }, subject: "branch", members: ["ref", "ref_type", "repository"] },
  fork: { types: { fork: [] }, subject: "repository", members: ["forkee", "repository"] },
  repository: {
    types: { repository: ["created", "deleted"] },
    subject: "repository",
    members: ["action", "repository"]
  },
  release: {
    types: { release: ["published", "updated", "deleted"] },
    subject: "repository",
    members: ["action", "release", "repository"]
  },
  wiki: {
    types: { wiki: ["created", "edited", "deleted"] },
    subject: "repository",
    members: ["action", "page", "repository"]
  },
  package: {
    types: { package: ["created", "deleted"] },
    subject: "repository",
    members: ["action", "package"]
  },
  status: { types: { status: [] }, subject: "repository", members: ["sha", "state", "repository"] },
  workflow_run: {
    types: { workflow_run: ["requested", "in_progress", "completed"] },
    subject: "repository",
    members: ["action", "workflow_run", "repository"]
  },
  workflow_job: {
    types: { workflow_job: ["queued", "waiting", "in_progress", "completed"] },
    subject: "repository",
    members: ["action", "workflow_job", "repository"]
  },
  action_run_failure: {
    types: { action_run_failure: [] },
    subject: "repository",
    members: ["action", "run"]
  },
  action_run_recover: {
    types: { action_run_recover: [] },
    subject: "repository",
    members: ["action", "run"]
  },
  action_run_success: {
    types: { action_run_success: [] },
    subject: "repository",
    members: ["action", "run"]
  }
};
var eventFamilies = families;
var familyOfType = new Map(
  Object.entries(eventFamilies).flatMap(
    ([family, row]) => Object.keys(row.types).map((type) => [type, family])
  )
);
function familyOf(eventType) {
  return familyOfType.get(eventType);
}
function activitiesOf(family) {
  return [...new Set(Object.values(eventFamilies[family].types).flat())];
}
var prefixes = ["x-forgejo", "x-gitea", "x-gogs", "x-github"];
function readEventHeaders(headers) {
  const first = (suffix) => {
    for (const prefix of prefixes) {
      const value = headers[`${prefix}-${suffix}`];
      if (typeof value === "string" && value !== "") return value;
    }
    return void 0;
  };
  const delivery = first("delivery");
  const eventType = first("event-type") ?? first("event");
  if (delivery === void 0 || eventType === void 0) return void 0;
  return { delivery, eventType };
}
function parseEvent(eventType, payload) {
  if (!isRecord(payload))
    throw new ReeveError("delivery-malformed", `the body of ${eventType} is not an object`);
  const family = familyOf(eventType);
  const row = family === void 0 ? void 0 : eventFamilies[family];
  for (const member of row?.members ?? []) {
    if (payload[member] === void 0) {
      throw new ReeveError("delivery-malformed", `the body of ${eventType} has no member "${member}"`);
    }
  }
  const repository = repositoryOf(family, payload);
  return {
    eventType,
    family,
    activity: activityOf(eventType, family, payload),
    payload,
    repository,
    subject: row && repository ? { ...subjectOf(row.subject, repository, payload), ...reviewOf(eventType, payload) } : void 0,
    ownerId: ownerIdOf(family, payload),
    sender: senderOf(payload.sender)
  };
}
function activityOf(eventType, family, payload) {
  if (family === "pull_request_review") return eventFamilies[family].types[eventType]?.[0] ?? "";
  return typeof payload.action === "string" ? payload.action : "";
}
function sourceOfRepository(family, payload) {
  if (family === "package") return isRecord(payload.package) ? payload.package.repository : void 0;
  if (payload.repository === void 0 && isRecord(payload.run)) return payload.run.repository;
  return payload.repository;
}
function repositoryOf(family, payload) {
  const repository = sourceOfRepository(family, payload);
  if (!isRecord(repository) || !Number.isSafeInteger(repository.id)) return void 0;
  const full = typeof repository.full_name === "string" ? repository.full_name.split("/") : [];
  const [owner, name] = full;
  if (full.length !== 2 || !owner || !name) return void 0;
  return { id: repository.id, owner, name };
}
function subjectOf(kind, repository, payload) {
  if (kind === "pull_request" || kind === "issue") {
    const inner = isRecord(payload.pull_request) ? payload.pull_request : payload.issue;
    const index = payload.number ?? (isRecord(inner) ? inner.number : void 0);
    if (!Number.isSafeInteger(index))
      throw new ReeveError("delivery-malformed", `the body has no number of the ${kind}`);
    const comment = isRecord(payload.comment) ? payload.comment.id : void 0;
    const about = { kind, repository, index };
    return Number.isSafeInteger(comment) ? { ...about, comment } : about;
  }
  if (kind === "branch" && typeof payload.ref === "string") {
    const ref = payload.ref.replace(/^refs\/(heads|tags)\//, "");
    const { before, after } = payload;
    const moved = typeof before === "string" && typeof after === "string";
    const isTag = payload.ref_type === "tag" || payload.ref.startsWith("refs/tags/");
    return {
      ...{ kind, repository, ref },
      ...isTag ? { isTag } : {},
      ...moved ? { range: { before, after } } : {}
    };
  }
  return { kind: "repository", repository };
}
var stateOfReview = {
  pull_request_review_approved: "APPROVED",
  pull_request_review_rejected: "REQUEST_CHANGES",
  pull_request_review_comment: "COMMENT"
};
function reviewOf(eventType, payload) {
  const state = stateOfReview[eventType];
  const reviewer = senderOf(payload.sender);
  return state !== void 0 && reviewer ? { review: { reviewer: reviewer.id, state } } : {};
}
function ownerIdOf(family, payload) {
  const repository = sourceOfRepository(family, payload);
  const own = isRecord(payload.package) ? payload.package.owner : void 0;
  const owner = isRecord(repository) ? repository.owner : payload.organization ?? own;
  return isRecord(owner) && Number.isSafeInteger(owner.id) ? owner.id : void 0;
}
function senderOf(sender) {
  if (!isRecord(sender) || !Number.isSafeInteger(sender.id)) return void 0;
  return { id: sender.id, login: typeof sender.login === "string" ? sender.login : "" };
}
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
function laneOf(event) {
  if (event.repository) {
    const index = event.subject?.index;
    return index === void 0 ? `${event.repository.id}` : `${event.repository.id}#${index}`;
  }
  return event.ownerId === void 0 ? "instance" : `owner ${event.ownerId}`;
}

// src/rules/grammar.ts
import { z } from "zod";
var families2 = Object.keys(eventFamilies);
var Patterns = z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(50)]).describe(
  "A glob or a list of globs; an entry that starts with ! takes out again, the last match decides."
);
var Name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/);
var RuleModeWord = z.enum(["enforce", "observe"]).describe(
  "`observe` plans and records, and never writes; default `enforce`. A rule may only be stricter than its file."
);
var Limits = z.strictObject({
  changes: z.number().int().min(0).max(50).optional().describe("Changes one run of a rule may make; may only narrow.")
}).describe("Narrows what a run may do.");
function filterOf(family) {
  const activities = activitiesOf(family);
  const names = {
    branches: Patterns.optional().describe(
      "Target branch of a pull request; ref of push, create and delete."
    ),
    "branches-ignore": Patterns.optional(),
    tags: Patterns.optional().describe("Tag of push, create and delete."),
    "tags-ignore": Patterns.optional(),
    paths: Patterns.optional().describe(
      "Files that the pull request or push changes; a rename counts with both paths."
    ),
    "paths-ignore": Patterns.optional()
  };
  const types = activities.length === 0 ? {} : { types: oneOrMore(activities).optional() };
  return z.strictObject({ ...types, ...names });
}
function oneOrMore(words) {
  const word = z.enum(words);
  return z.union([word, z.array(word).min(1)]);
}
function formOf(family) {
  const activities = activitiesOf(family);
  const filter = filterOf(family);
  const form = activities.length === 0 ? z.union([z.null(), filter]) : z.union([z.null(), oneOrMore(activities), filter]);
  return form.optional().describe(`Events of the family ${family}; without activities, all of them.`);
}
var Schedule = z.union([
  z.string().min(1),
  z.strictObject({ cron: z.string().min(1), timezone: z.string().min(1).optional() })
]).describe("Five cron fields, in UTC unless a timezone is given. Needs `each`.");
var familyForms = Object.fromEntries(families2.map((family) => [family, formOf(family)]));
var EventMap = z.strictObject({ ...familyForms, schedule: Schedule.optional() });
var EventWord = z.enum([
  ...families2,
  ...families2.flatMap((family) => activitiesOf(family).map((activity) => `${family}.${activity}`))
]);
var On = z.union([
  EventWord,
  z.array(z.union([EventWord, EventMap])).min(1).max(50),
  EventMap
]).describe(
  "What the rule listens to: a family, `family.activity`, a list of these, or a map of families to filters."
);
var eachKinds = [
  "repository",
  "organization",
  "pull_request",
  "issue",
  "branch",
  "notification",
  "runner"
];
var withState = z.strictObject({ state: z.enum(["open", "closed", "all"]).optional() });
var EachForm = z.union([
  z.enum(eachKinds),
  z.strictObject({ pull_request: withState }),
  z.strictObject({ issue: withState })
]).describe(
  "What a schedule walks over: open ones by default, `{ pull_request: { state: all } }` for others."
);
var Expression = z.union([z.string().min(1), z.boolean()]).describe("A CEL expression that answers true or false.");
var StepForm = z.strictObject({
  name: z.string().min(1).max(100).optional(),
  uses: z.string().min(1).describe("The action."),
  if: Expression.optional().describe("Whether this step speaks at all."),
  with: z.record(z.string(), z.unknown()).optional().describe("Arguments of the action.")
}).describe("One thing to do.");
var RuleForm = z.strictObject({
  description: z.string().max(1e3).optional(),
  in: Patterns.optional().describe(
    "Repositories as `owner/name` globs. Operator and organization files only."
  ),
  mode: RuleModeWord.optional(),
  limits: Limits.optional(),
  on: On,
  each: EachForm.optional(),
  if: Expression.optional().describe(
    "Whether the rule speaks at all: where it does not hold, nothing is touched."
  ),
  steps: z.array(StepForm).min(1).max(10)
}).describe("One rule: when, whether, what.");
var RuleFile = z.strictObject({
  version: z.literal(1),
  mode: RuleModeWord.optional(),
  limits: Limits.optional(),
  in: Patterns.optional().describe(
    "Repositories as `owner/name` globs. Operator and organization files only."
  ),
  rules: z.record(Name, RuleForm)
}).describe("A file of rules for Reeve.");
var maxRules = 100;

export {
  eventFamilies,
  familyOf,
  activitiesOf,
  readEventHeaders,
  parseEvent,
  laneOf,
  RuleModeWord,
  On,
  EachForm,
  Expression,
  StepForm,
  RuleFile,
  maxRules
};

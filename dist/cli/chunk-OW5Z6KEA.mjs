import {
  adviseOn
} from "./chunk-4PU7AWH5.mjs";
import {
  clearedByAbsence,
  findAction,
  requiredFor
} from "./chunk-PGPAQ2TF.mjs";
import {
  lackOf
} from "./chunk-WHXP6K3X.mjs";
import {
  namesToSend,
  shownEvents
} from "./chunk-D4IFGYQO.mjs";
import {
  fillPath,
  operations
} from "./chunk-P5GSASXZ.mjs";
import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/revert-job.ts
import { randomUUID } from "node:crypto";

// src/actions/inverse.ts
function isStill(after, live) {
  if (typeof after !== "object" || after === null) return (after ?? null) === (live ?? null);
  if (Array.isArray(after)) {
    return Array.isArray(live) && after.length === live.length && after.every((item, at) => isStill(item, live[at]));
  }
  if (typeof live !== "object" || live === null) return false;
  return Object.entries(after).every(([key, value]) => isStill(value, Reflect.get(live, key)));
}

// src/actions/hook-inverse.ts
import { z } from "zod";
function madeHook(list, remove) {
  return async ({ input, before, after }, client) => {
    const { config } = input.body ?? {};
    const found = await hooksTo(config?.url, list, input.params ?? {}, client);
    const [hook] = found;
    if (hook === void 0) return { value: null, undo: () => "it is gone" };
    const live = { events: shownEvents(hook.events), active: hook.active ?? false };
    return {
      value: typeof after === "object" && after !== null ? { ...after, ...live } : live,
      undo: () => {
        if (before !== null) return "the hook whose place it took is gone, and its secret cannot be read";
        if (found.length > 1) return "there are several hooks to this url now";
        return { operation: remove, input: { params: { ...input.params, id: hook.id } } };
      }
    };
  };
}
var Before = z.object({
  events: z.array(z.string()),
  branch_filter: z.string(),
  active: z.boolean(),
  content_type: z.string().nullable(),
  name: z.string().optional()
});
function editedHook(get, edit) {
  return async ({ input, before, after }, client) => {
    const params = input.params ?? {};
    const hook = await client.send(get, { params });
    const members = { ...hook, content_type: hook.config?.content_type, events: shownEvents(hook.events) };
    const isSame = isStill(withoutSecrets(after), members);
    return {
      value: isSame ? after : members,
      undo: () => {
        const had = Before.safeParse(before);
        if (!had.success) return "what it was before is not known";
        const sent = input.body ?? {};
        if (sent.authorization_header !== "") {
          return "it sends a secret as its header, which an edit without the value would clear";
        }
        const { events, content_type, ...rest } = had.data;
        const config = content_type === null ? {} : { config: { content_type } };
        const body = { ...rest, ...config, events: namesToSend(events), authorization_header: "" };
        return { operation: edit, input: { params, body }, except: "a header it may have sent before" };
      }
    };
  };
}
function withoutSecrets(after) {
  if (typeof after !== "object" || after === null) return after;
  return Object.fromEntries(
    Object.entries(after).filter(([name]) => name !== "authorization" && name !== "hmac")
  );
}
var deletedHook = async () => ({
  value: null,
  undo: () => "another hook has its place, and its own secret cannot be read"
});
var testedHook = async () => ({
  value: true,
  undo: () => "what was delivered cannot be called back"
});
async function hooksTo(url, list, params, client) {
  const found = [];
  for await (const hook of client.items(list, { params })) {
    if (hook.config?.url === url) found.push(hook);
  }
  return found;
}

// src/actions/inverse-forms.ts
import { z as z2 } from "zod";
async function itemsOf(client, operation, input) {
  const found = [];
  for await (const item of client.items(operation, input)) found.push(item);
  return found;
}
function paramsOf(change) {
  return change.input.params ?? {};
}
function membersLike(state, live) {
  const names = typeof state === "object" && state !== null ? Object.keys(state) : [];
  return Object.fromEntries(names.map((name) => [name, plain(name, live[name])]));
}
function plain(name, value) {
  if (name === "color" && typeof value === "string") return value.replace("#", "").toLowerCase();
  return value;
}
function bodyFor(operation, state) {
  const shape = operation.body instanceof z2.ZodObject ? operation.body.shape : {};
  const members = Object.entries(state ?? {});
  return Object.fromEntries(members.filter(([name]) => Object.hasOwn(shape, name)));
}
function made(list, remove, key = "id", name = key) {
  return async (change, client) => {
    const items = await itemsOf(client, list, { params: paramsOf(change) });
    const asked = change.input.body;
    const found = items.filter((item) => isStill(asked, membersLike(asked, item)));
    const [only] = found;
    if (found.length > 1) return { value: change.after, undo: () => "there are several like it now" };
    return {
      value: only === void 0 ? null : change.after,
      undo: () => ({ operation: remove, input: { params: { ...paramsOf(change), [name]: only?.[key] } } })
    };
  };
}
function edited(get, edit) {
  return async (change, client) => {
    const live = await client.send(get, { params: paramsOf(change) });
    return {
      value: membersLike(change.after, live),
      undo: () => ({
        operation: edit,
        input: { params: paramsOf(change), body: bodyFor(edit, change.before) }
      })
    };
  };
}
function deleted(list, create, names) {
  return async (change, client) => {
    const { id: _id, name: _name, ...where } = paramsOf(change);
    const before = change.before;
    const items = await itemsOf(client, list, { params: where });
    const taken = items.some(
      (item) => names.some((name) => before[name] !== void 0 && item[name] === before[name])
    );
    return {
      value: taken ? before : null,
      undo: () => ({ operation: create, input: { params: where, body: bodyFor(create, before) } })
    };
  };
}
function member(get, edit, sign, along = () => []) {
  return async (change, client) => {
    const name = change.target.slice(change.target.lastIndexOf(sign) + 1);
    const live = await client.send(get, { params: paramsOf(change) });
    const beside = Object.fromEntries(along(name).map((one) => [one, live[one]]));
    const body = { ...beside, [name]: change.before };
    return {
      value: live[name],
      undo: () => change.before === null ? `there was no ${name} before` : { operation: edit, input: { params: paramsOf(change), body } }
    };
  };
}

// src/actions/inverses.ts
var issueLabel = async (change, client) => {
  const params = paramsOf(change);
  const name = change.target.slice("label:".length);
  const labels = await itemsOf(client, operations.listIssueLabels, { params });
  const label = labels.find((one) => one.name === name);
  return {
    value: label !== void 0,
    undo: () => label === void 0 ? { operation: operations.addIssueLabels, input: { params, body: { labels: [name] } } } : { operation: operations.removeIssueLabel, input: { params: { ...params, id: label.id } } }
  };
};
var editedSetting = member(
  operations.getOrganization,
  operations.editOrganization,
  ":",
  () => clearedByAbsence
);
var editedOrganization = async (change, client) => {
  const live = await editedSetting(change, client);
  const required = requiredFor(change.target, change.before);
  if (required.length === 0) return live;
  const lack = lackOf(await client.capabilities(), required);
  return lack === void 0 ? live : { ...live, undo: () => lack };
};
var madeComment = async (change, client) => {
  const params = paramsOf(change);
  const found = (await itemsOf(client, operations.listComments, { params })).find(
    ({ body }) => body === change.after
  );
  const { index: _index, ...where } = params;
  return {
    value: found === void 0 ? null : change.after,
    undo: () => ({ operation: operations.deleteComment, input: { params: { ...where, id: found?.id } } })
  };
};
var editedComment = async (change, client) => {
  const live = await client.send(operations.getComment, { params: paramsOf(change) });
  const input = { params: paramsOf(change), body: { body: change.before } };
  return { value: live.body, undo: () => ({ operation: operations.editComment, input }) };
};
var madeIssue = async (change, client) => {
  const params = paramsOf(change);
  const open = await itemsOf(client, operations.listIssues, {
    params,
    query: { state: "open", type: "issues" }
  });
  const found = open.find((issue) => isStill(change.after, membersLike(change.after, issue)));
  return {
    value: found === void 0 ? null : change.after,
    // An issue is no administrator's to delete through this account: it is closed.
    undo: () => ({
      operation: operations.editIssue,
      input: { params: { ...params, index: found?.number }, body: { state: "closed" } }
    })
  };
};
var status = async (change, client) => {
  const params = paramsOf(change);
  const name = change.target.slice("status:".length);
  const all = await itemsOf(client, operations.listStatuses, { params });
  const newest = all.filter(({ context }) => context === name).toSorted((a, b) => Number(b.id) - Number(a.id))[0];
  const { status: state, description, target_url } = newest ?? {};
  return {
    value: newest === void 0 ? null : { state, description: description ?? "", target_url: target_url ?? "" },
    undo: () => change.before === null ? "a status cannot be taken back, and there was none before" : {
      operation: operations.createStatus,
      input: { params, body: { context: name, ...change.before } }
    }
  };
};
var dismissal = async (change, client) => {
  const live = await client.send(operations.getReview, { params: paramsOf(change) });
  return {
    // Who gave it stands in the change for people; the review's number decides which it is.
    value: { ...change.after, state: live.state, dismissed: live.dismissed },
    undo: () => ({ operation: operations.undismissReview, input: { params: paramsOf(change) } })
  };
};
var notification = async (change, client) => {
  const live = await client.send(operations.getNotification, { params: paramsOf(change) });
  const value = live.pinned ? "pinned" : live.unread ? "unread" : "read";
  const input = { params: paramsOf(change), query: { "to-status": change.before } };
  return { value, undo: () => ({ operation: operations.markNotification, input }) };
};
var madePull = async (change, client) => {
  const { head, base } = change.input.body ?? {};
  const params = paramsOf(change);
  const open = await itemsOf(client, operations.listPulls, { params, query: { state: "open" } });
  const found = open.find(
    (pull) => pull.head?.ref === head && pull.base?.ref === base
  );
  return {
    value: found === void 0 ? null : change.after,
    undo: () => ({
      operation: operations.editPull,
      input: { params: { ...params, index: found?.number }, body: { state: "closed" } }
    })
  };
};
var madeAtOnce = /* @__PURE__ */ new Set([
  operations.createBranchProtection.id,
  operations.createTagProtection.id
]);
var inverses = {
  [operations.replaceIssueLabels.id]: issueLabel,
  [operations.createLabel.id]: made(operations.listLabels, operations.deleteLabel),
  [operations.editLabel.id]: edited(operations.getLabel, operations.editLabel),
  [operations.deleteLabel.id]: deleted(operations.listLabels, operations.createLabel, ["name"]),
  [operations.createOrganizationLabel.id]: made(
    operations.listOrganizationLabels,
    operations.deleteOrganizationLabel
  ),
  [operations.editOrganizationLabel.id]: edited(
    operations.getOrganizationLabel,
    operations.editOrganizationLabel
  ),
  [operations.deleteOrganizationLabel.id]: deleted(
    operations.listOrganizationLabels,
    operations.createOrganizationLabel,
    ["name"]
  ),
  [operations.createComment.id]: madeComment,
  [operations.editComment.id]: editedComment,
  [operations.deleteComment.id]: async () => ({
    value: null,
    undo: () => "a comment that was deleted cannot be written in its old place"
  }),
  [operations.createIssue.id]: madeIssue,
  [operations.editIssue.id]: edited(operations.getIssue, operations.editIssue),
  [operations.createStatus.id]: status,
  [operations.dismissReview.id]: dismissal,
  [operations.markNotification.id]: notification,
  [operations.createHook.id]: madeHook(operations.listHooks, operations.deleteHook),
  [operations.createOrganizationHook.id]: madeHook(
    operations.listOrganizationHooks,
    operations.deleteOrganizationHook
  ),
  [operations.createUserHook.id]: madeHook(operations.listUserHooks, operations.deleteUserHook),
  [operations.editHook.id]: editedHook(operations.getHook, operations.editHook),
  [operations.editOrganizationHook.id]: editedHook(
    operations.getOrganizationHook,
    operations.editOrganizationHook
  ),
  [operations.editUserHook.id]: editedHook(operations.getUserHook, operations.editUserHook),
  [operations.deleteHook.id]: deletedHook,
  [operations.deleteOrganizationHook.id]: deletedHook,
  [operations.deleteUserHook.id]: deletedHook,
  [operations.testHook.id]: testedHook,
  [operations.createPull.id]: madePull,
  [operations.editPull.id]: edited(operations.getPull, operations.editPull),
  [operations.editOrganization.id]: editedOrganization,
  [operations.createBranchProtection.id]: made(
    operations.listBranchProtections,
    operations.deleteBranchProtection,
    "rule_name",
    "name"
  ),
  [operations.editBranchProtection.id]: member(
    operations.getBranchProtection,
    operations.editBranchProtection,
    ".",
    // The forge reads what stands under pushes only beside their switch.
    (name) => name.includes("force_push") ? ["enable_force_push"] : name.includes("push") ? ["enable_push"] : []
  ),
  [operations.deleteBranchProtection.id]: deleted(
    operations.listBranchProtections,
    operations.createBranchProtection,
    ["rule_name"]
  ),
  [operations.createTagProtection.id]: made(operations.listTagProtections, operations.deleteTagProtection),
  [operations.editTagProtection.id]: member(operations.getTagProtection, operations.editTagProtection, "."),
  [operations.deleteTagProtection.id]: deleted(
    operations.listTagProtections,
    operations.createTagProtection,
    ["name_pattern"]
  )
};

// src/engine/revert.ts
async function revertRun(done, options) {
  const { client, mode, now, nowMs } = options;
  const startedMs = nowMs();
  const changes = [];
  const refused = [];
  const outcomes = [];
  const applied = new Set(
    done.outcomes.filter(({ status: status2 }) => status2 === "applied").map(({ change }) => change)
  );
  const requests = /* @__PURE__ */ new Set();
  const toTakeBack = done.changes.filter((change) => {
    if (!applied.has(change.id)) return false;
    if (!madeAtOnce.has(change.operation)) return true;
    const request = JSON.stringify([change.operation, change.input]);
    const isFirst = !requests.has(request);
    requests.add(request);
    return isFirst;
  });
  for (const change of toTakeBack.toReversed()) {
    const undo = await undoOf(change, client);
    if (typeof undo === "string") {
      refused.push({ change: inverted(change, done), why: undo });
      continue;
    }
    const except = undo.except === void 0 ? "" : `, except ${undo.except}`;
    const plain2 = inverted(change, done);
    const back = { ...plain2, reason: `${plain2.reason}${except}`, ...requestOf(undo) };
    changes.push(back);
    outcomes.push(await send(undo, back, mode, client));
  }
  return {
    schema: 1,
    id: options.id,
    mode,
    trigger: { door: "cli", kind: "revert", activity: "", item: done.id, at: now.toISOString() },
    rules: [],
    changes,
    refused,
    outcomes,
    requests: client.requests,
    ms: Math.round(nowMs() - startedMs)
  };
}
async function undoOf(change, client) {
  const inverse = inverses[change.operation];
  if (inverse === void 0) return `there is no way back from ${change.operation}`;
  const { operation, target, before, after } = change;
  const asked = { operation, input: change.input, target, before, after };
  try {
    const live = await inverse(asked, client);
    if (!isStill(after, live.value)) return `changed since: it is ${JSON.stringify(live.value ?? null)} now`;
    return live.undo();
  } catch (error) {
    return `it cannot be read now: ${messageOf(error)}`;
  }
}
function inverted(change, done) {
  const { before, after } = change;
  return { ...change, before: after, after: before, value: before, reason: `takes back run ${done.id}` };
}
function requestOf({
  operation,
  input
}) {
  return {
    operation: operation.id,
    method: operation.method,
    path: fillPath(operation, input.params),
    input
  };
}
async function send({ operation, input }, change, mode, client) {
  if (mode === "plan") return { change: change.id, status: "planned" };
  try {
    await client.send(operation, input);
    return { change: change.id, status: "applied" };
  } catch (error) {
    const needs = findAction(change.action)?.needs;
    return { change: change.id, status: "failed", error: `${change.target}: ${adviseOn(error, needs)}` };
  }
}

// src/revert-job.ts
var revertKind = "revert";
async function revertStored({ run: id }, options) {
  const { store, mode, clock, nowMs } = options;
  const done = await store.readRun(id);
  if (done === void 0) throw new ReeveError("usage", `there is no run "${id}"`);
  const client = options.client.counted();
  return revertRun(done, { id: randomUUID(), client, mode, now: clock.now(), nowMs });
}
function readRevertJob(payload) {
  const run = typeof payload === "object" && payload !== null ? Reflect.get(payload, "run") : void 0;
  if (typeof run !== "string") throw new ReeveError("internal", "the job names no run to take back");
  return { run };
}

export {
  revertKind,
  revertStored,
  readRevertJob
};

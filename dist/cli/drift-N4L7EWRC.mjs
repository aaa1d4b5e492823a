import {
  ageOf
} from "./chunk-HVPQSNP6.mjs";
import {
  clientOf,
  openStore
} from "./chunk-7OPT6IFU.mjs";
import {
  readDrift
} from "./chunk-FMNVGFWC.mjs";
import "./chunk-XJ67IZNZ.mjs";
import {
  plain
} from "./chunk-2N6KPMKU.mjs";
import "./chunk-WHXP6K3X.mjs";
import "./chunk-OVHSHDHZ.mjs";
import {
  EditBranchProtection,
  operations
} from "./chunk-P5GSASXZ.mjs";
import {
  ReeveError
} from "./chunk-KZNQZHIP.mjs";

// src/commands/adopt.ts
import { stringify } from "yaml";
async function adopt(client, name) {
  const [owner = "", repo] = name.split("/");
  const left = [];
  const read = (what, ask) => ask().catch((error) => {
    const isDenied = error instanceof ReeveError && error.code === "forge-forbidden";
    if (!isDenied) throw error;
    left.push(`${what}: the account may not read them`);
    return void 0;
  });
  const steps = repo === void 0 ? await ofOrganization(client, owner, { read, left }) : await ofRepository(client, { owner, repo }, { read, left });
  const rule = {
    description: `What was live in ${name} when it was adopted.`,
    // An organization lies in the pattern of its repositories.
    in: [repo === void 0 ? `${name}/*` : name],
    on: { schedule: "17 3 * * *" },
    each: repo === void 0 ? "organization" : "repository",
    steps
  };
  const file = { version: 1, rules: { [name.replace(/[^\w-]/g, "-").toLowerCase()]: rule } };
  return { yaml: stringify(file, { lineWidth: 110, aliasDuplicateObjects: false }), left };
}
async function ofRepository(client, params, { read, left }) {
  const branches = await read(
    "branch protections",
    () => client.call(operations.listBranchProtections, { params })
  );
  const tags = await read("tag protections", () => client.call(operations.listTagProtections, { params }));
  const labels = await read("labels", () => all(client.items(operations.listLabels, { params })));
  const hooks = await read("hooks", () => all(client.items(operations.listHooks, { params })));
  const protections = (branches ?? []).map((one) => ({ rule_name: one.rule_name, ...termsOf(one) }));
  const patterns = (tags ?? []).map(({ name_pattern, whitelist_usernames, whitelist_teams }) => ({
    name_pattern,
    ...whitelist_usernames?.length ? { whitelist_usernames } : {},
    ...whitelist_teams?.length ? { whitelist_teams } : {}
  }));
  return [
    ...stepIf("sync-branch-protections", "protections", protections),
    ...stepIf("protect-tags", "tags", patterns),
    ...stepIf("sync-labels", "labels", (labels ?? []).map(labelOf)),
    ...stepIf("sync-hooks", "hooks", hooksOf(hooks ?? [], left))
  ];
}
async function ofOrganization(client, org, { read, left }) {
  const params = { org };
  const live = await client.call(operations.getOrganization, { params });
  const labels = await read("labels", () => all(client.items(operations.listOrganizationLabels, { params })));
  const hooks = await read("hooks", () => all(client.items(operations.listOrganizationHooks, { params })));
  const { full_name, email, description, website, location, visibility, repo_admin_change_team_access } = live;
  const settings = {
    full_name,
    email,
    description,
    website,
    location,
    visibility,
    repo_admin_change_team_access
  };
  const known = Object.entries(settings).filter(([, value]) => value !== void 0 && value !== null);
  return [
    { uses: "sync-organization", with: Object.fromEntries(known) },
    ...stepIf("sync-labels", "labels", (labels ?? []).map(labelOf)),
    ...stepIf("sync-hooks", "hooks", hooksOf(hooks ?? [], left))
  ];
}
function stepIf(uses, argument, items) {
  return items.length === 0 ? [] : [{ uses, with: { [argument]: items } }];
}
function termsOf(protection) {
  const names = Object.keys(EditBranchProtection.shape);
  const said = names.map((name) => [name, protection[name]]);
  return Object.fromEntries(said.filter(([, value]) => saysSomething(value)));
}
function saysSomething(value) {
  if (Array.isArray(value)) return value.length > 0;
  return value !== void 0 && value !== null && value !== false && value !== "" && value !== 0;
}
function labelOf({
  name,
  color,
  description,
  exclusive,
  is_archived
}) {
  return {
    name,
    color: color ?? "ededed",
    ...description ? { description } : {},
    ...exclusive ? { exclusive } : {},
    ...is_archived ? { archived: true } : {}
  };
}
function hooksOf(hooks, left) {
  return hooks.flatMap((hook) => {
    const { url, content_type } = hook.config ?? {};
    if (hook.type !== "gitea" || url === void 0 || hook.events.length === 0) {
      left.push(`hook ${hook.id}: it is of the kind ${hook.type ?? "unknown"}, which no rule can say`);
      return [];
    }
    return [
      {
        url,
        events: hook.events.toSorted(),
        ...hook.branch_filter && hook.branch_filter !== "*" ? { branch_filter: hook.branch_filter } : {},
        ...hook.active === false ? { active: false } : {},
        ...content_type === "form" ? { content_type } : {}
      }
    ];
  });
}
async function all(items) {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
}

// src/commands/drift.ts
async function drift(items, options, settings, terminal) {
  if (options.adopt) return adoptAll(items, settings, terminal);
  const store = await openStore(settings);
  try {
    const found = (await readDrift(store)).filter(({ item }) => items.length === 0 || items.includes(item));
    if (options.json) terminal.out(JSON.stringify(found));
    else if (found.length === 0) terminal.out("nothing drifts, as far as sweeps have seen");
    else for (const one of found) print(one, terminal);
    return found.length > 0 ? 1 : 0;
  } finally {
    await store.close();
  }
}
function print({ rule, item, target, live, wanted, since, why }, terminal) {
  terminal.out(terminal.style("bold", plain(`${item}  ${target}`)));
  terminal.out(plain(`  is ${JSON.stringify(live) ?? "not there"}, wanted ${JSON.stringify(wanted)}`));
  terminal.out(plain(`  since ${since} (${ageOf(since, /* @__PURE__ */ new Date())}), by ${rule}: ${why}`));
}
async function adoptAll(items, settings, terminal) {
  if (items.length !== 1) {
    throw new ReeveError("usage", "name one repository (acme/demo) or organization (acme) to adopt");
  }
  const { yaml, left } = await adopt(clientOf(settings), items[0] ?? "");
  for (const line of left) terminal.error(plain(`left out: ${line}`));
  terminal.out(yaml.trimEnd());
  return 0;
}
export {
  drift
};

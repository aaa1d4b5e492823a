import {
  NamedSecretsForm,
  isSecretVariable,
  isWholeScope,
  readNamedSecrets
} from "./chunk-W47FSTJL.mjs";
import {
  budgets
} from "./chunk-Z6LLQXQ6.mjs";
import {
  createScope,
  nearest
} from "./chunk-VTTQ2TL3.mjs";
import {
  actions,
  facts
} from "./chunk-PGPAQ2TF.mjs";
import {
  apiRoot,
  secretsOf
} from "./chunk-WHXP6K3X.mjs";
import {
  createGlob
} from "./chunk-D4IFGYQO.mjs";
import {
  logLevels
} from "./chunk-OVHSHDHZ.mjs";
import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/operator-file.ts
import { readFile } from "node:fs/promises";
import { isMap, parseDocument } from "yaml";
import { z as z2 } from "zod";

// src/operator-file/webhook.ts
import { z } from "zod";
var fullName = z.string().regex(/^[^/\s]+\/[^/\s]+$/, "a repository is named owner/name");
var accountName = z.string().regex(/^[\w][\w.-]*$/, "an account or organization is named as in its address");
var address = z.url({ protocol: /^https?$/, error: "an address begins with http:// or https://" });
var WebhookForm = z.strictObject({
  url: address.describe("Where the forge delivers: `/webhook` of Reeve, as the forge reaches it."),
  system: z.boolean().optional().describe("A hook of the instance, which hears every repository."),
  users: z.array(accountName).optional().describe("Accounts with a hook of their own."),
  organizations: z.array(accountName).optional().describe("Organizations with a hook."),
  repositories: z.array(fullName).optional().describe("Repositories with a hook."),
  events: z.enum(["all", "rules"]).optional().describe(
    "What the hooks hear: everything, or only what the operator\u2019s rules listen to, push and repository. Default all, since files of repositories may listen to anything."
  )
});
var DashboardForm = z.strictObject({
  url: address.describe(
    "Address of the dashboard, as people reach it: where they come back to from signing in."
  )
});

// src/operator-file.ts
var values = z2.union([z2.string(), z2.array(z2.string())]).transform((given) => Array.isArray(given) ? given : [given]);
var Entry = z2.strictObject({
  name: z2.string().min(1),
  scope: values.describe('Repositories it may speak for: "acme/*", or "*" for all.'),
  authorization: values.optional().describe("Live values of the Authorization header."),
  "authorization-file": z2.string().optional().describe("A file with one live value a line."),
  hmac: values.optional().describe("Live secrets of the signature."),
  "hmac-file": z2.string().optional().describe("A file with one live secret a line.")
});
var organizationName = z2.string().regex(/^[\w][\w.-]*$/, "an organization is named as in its address");
var Organization = z2.strictObject({
  rules: fullName.describe("Repository whose rules/*.yml, on its default branch, apply to the organization."),
  id: z2.int().positive().optional().describe("Id of that repository. Left out, the id seen first is kept, and another one is refused.")
});
var namesOf = (rows) => rows.map(({ name }) => name);
var nameOf = (what, known) => z2.string().check((context) => {
  if (known.includes(context.value)) return;
  const near = nearest(context.value, known);
  const hint = near === void 0 ? `; known are ${known.join(", ")}` : `, did you mean "${near}"?`;
  context.issues.push({
    code: "custom",
    input: context.value,
    message: `there is no ${what} "${context.value}"${hint}`
  });
});
var patterns = z2.array(z2.string()).check((context) => {
  if (context.value.length === 0) return;
  try {
    createScope(context.value);
  } catch (error) {
    context.issues.push({ code: "custom", input: context.value, message: messageOf(error) });
  }
});
var Grant = z2.strictObject({
  repositories: patterns.min(1).optional().describe("Repositories whose own file gets it."),
  organizations: z2.array(organizationName).min(1).optional().describe("Organizations whose rules repository gets it."),
  actions: z2.array(nameOf("action", namesOf(actions))).optional().describe("Actions, by name."),
  facts: z2.array(nameOf("fact", namesOf(facts))).optional().describe("Facts that show more than the repository, by name.")
}).refine((grant) => grant.repositories ?? grant.organizations, {
  message: "say who gets it: repositories or organizations"
}).refine((grant) => grant.actions ?? grant.facts, { message: "say what they get: actions or facts" });
var count = z2.int().min(1).max(1e5);
var Limits = z2.strictObject({
  delivery: count.optional().describe(`Changes one delivery may make. Default ${budgets.delivery.all}.`),
  hour: count.optional().describe(`Changes an hour in one repository. Default ${budgets.hour.all}.`),
  "repository-delivery": count.optional().describe(`Of a delivery's changes, those of repository files. Default ${budgets.delivery.repository}.`),
  "repository-hour": count.optional().describe(`Of an hour's changes, those of repository files. Default ${budgets.hour.repository}.`)
});
var OperatorFile = z2.strictObject({
  version: z2.literal(1),
  secrets: z2.array(Entry).optional().describe("Who may send deliveries, and about which repositories."),
  repositories: patterns.optional().describe("Served repositories, beside those the account has starred: names or patterns."),
  organizations: z2.record(organizationName, Organization).optional().describe("Organizations with rules of their own, in a repository of theirs. Default: none."),
  grants: z2.array(Grant).optional().describe(
    "What files of repositories and organizations may use beyond the small set. Default: nothing more."
  ),
  limits: Limits.optional().describe("How many changes may be made before the rest is refused."),
  preview: z2.boolean().optional().describe("Check the rule file of pull requests that touch it, and answer with a status. Default false."),
  "report-problems": z2.enum(["status", "issue", "none"]).optional().describe(
    "How a repository is told that its rule file cannot be used: the status reeve/rules on its default branch, one issue, or not at all. Default status."
  ),
  "named-secrets": NamedSecretsForm.optional(),
  webhook: WebhookForm.optional().describe("The hooks that `reeve setup` keeps and `reeve doctor` looks at."),
  dashboard: DashboardForm.optional(),
  "allow-admin": z2.boolean().optional().describe("Run although the account is a site administrator. Default false.")
});
async function readOperatorFile(path) {
  try {
    return parseOperatorFile(path, await readFile(path, "utf8"));
  } catch (error) {
    return { problems: [`REEVE_CONFIG: ${messageOf(error)}`] };
  }
}
function parseOperatorFile(path, text) {
  const document = parseDocument(text, { prettyErrors: false, version: "1.2", merge: false });
  const placeOf = (offset) => {
    const before = text.slice(0, offset).split("\n");
    return `${path}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
  };
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0)
    return { problems: faults.map((fault) => `${placeOf(fault.pos[0])}: ${fault.message}`) };
  const parsed = OperatorFile.safeParse(document.toJS({ maxAliasCount: 0 }));
  if (parsed.success) return { file: parsed.data, problems: [] };
  return { problems: parsed.error.issues.flatMap((issue) => explain(issue, document, placeOf)) };
}
function explain(issue, document, placeOf) {
  const where = issue.path.join(".") || "the file";
  if (issue.code !== "unrecognized_keys") {
    return [`${placeOf(offsetOf(document, issue.path))}: ${where}: ${issue.message}`];
  }
  return issue.keys.map((key) => {
    const near = nearest(key, knownKeys);
    const hint = near === void 0 ? "" : `, did you mean "${near}"?`;
    return `${placeOf(offsetOf(document, issue.path, key))}: ${where}: there is no key "${key}"${hint}`;
  });
}
var knownKeys = [OperatorFile, Entry, Organization, Grant, Limits, WebhookForm, DashboardForm].flatMap(
  (schema) => Object.keys(schema.shape)
);
function offsetOf(document, path, key) {
  const found = path.length === 0 ? document.contents : document.getIn(path, true);
  const pair = key !== void 0 && isMap(found) ? found.items.find((item) => String(item.key) === key) : void 0;
  const node = pair ? pair.key : found;
  const range = typeof node === "object" && node !== null && "range" in node ? node.range : void 0;
  return Array.isArray(range) ? Number(range[0]) : 0;
}

// src/config.ts
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

// src/receiver/secrets.ts
var minSecretBytes = 24;
function examineSecrets(entries) {
  const problems = [];
  if (!entries.some((entry) => entry.authorization.length + entry.hmac.length > 0)) {
    problems.push(
      "no webhook secret is configured: set WEBHOOK_AUTHORIZATION or WEBHOOK_SECRET, or name entries"
    );
  }
  const names = /* @__PURE__ */ new Set();
  for (const [index, entry] of entries.entries()) {
    const label = entry.name === "" ? `webhook entry ${index + 1}` : `webhook entry "${entry.name}"`;
    if (entry.name === "") problems.push(`${label} has no name`);
    if (names.has(entry.name)) problems.push(`${label} appears twice`);
    names.add(entry.name);
    problems.push(...examineScope(entry.scope, label), ...examineValues(entry, label));
  }
  return problems;
}
function examineScope(scope, label) {
  if (scope.length === 0) return [`${label} has no scope: name repositories ("acme/*"), or "*" for all`];
  const problems = [];
  for (const pattern of scope) {
    if (isWholeScope([pattern])) continue;
    if (!pattern.includes("/")) {
      problems.push(`${label}: scope "${pattern}" names no repository; write "${pattern}/*"`);
      continue;
    }
    try {
      createGlob(pattern);
    } catch (error) {
      problems.push(`${label}: scope "${pattern}" is no pattern: ${messageOf(error)}`);
    }
  }
  return problems;
}
function examineValues(entry, label) {
  const problems = [];
  if (entry.authorization.length + entry.hmac.length === 0) {
    problems.push(`${label} has neither an authorization nor an hmac value: it would let everybody in`);
  }
  for (const kind of ["authorization", "hmac"]) {
    for (const [index, value] of entry[kind].entries()) {
      const bytes = Buffer.byteLength(value);
      if (bytes < minSecretBytes) {
        problems.push(
          `${label}: ${kind} value ${index + 1} has ${bytes} bytes, at least ${minSecretBytes} are needed`
        );
      }
      if (kind === "authorization" && (value.trim() !== value || /[^\x20-\x7e]/.test(value))) {
        problems.push(`${label}: ${kind} value ${index + 1} has characters that no header carries`);
      }
    }
  }
  return problems;
}

// src/config.ts
var settingsTable = [
  {
    name: "FORGE_URL",
    meaning: "The forge, with or without /api/v1. Unset: serve starts the embedded forge."
  },
  { name: "FORGE_TOKEN", meaning: "Access token of the account Reeve acts as.", secret: true },
  { name: "FORGE_USER", meaning: "Instead of a token: the account\u2019s name." },
  { name: "FORGE_PASSWORD", meaning: "Instead of a token: the account\u2019s password.", secret: true },
  {
    name: "WEBHOOK_AUTHORIZATION",
    meaning: "Value of the Authorization header that deliveries carry; one live value per line.",
    secret: true
  },
  {
    name: "WEBHOOK_SECRET",
    meaning: "Secret that deliveries are signed with; one live value per line.",
    secret: true
  },
  {
    name: "SETUP_TOKEN",
    meaning: "Access token of somebody who may make and see hooks, for reeve setup and reeve doctor alone; unset: FORGE_TOKEN. It is kept nowhere.",
    secret: true
  },
  {
    name: "OAUTH2_CLIENT_ID",
    meaning: "The OAuth2 application on the forge by which people sign in to the dashboard; reeve setup makes it."
  },
  { name: "OAUTH2_CLIENT_SECRET", meaning: "Its secret.", secret: true },
  { name: "REEVE_RULES", meaning: "Folder of the operator\u2019s rule files." },
  { name: "REEVE_DATA", meaning: "Folder for everything that survives a restart.", default: "./data" },
  {
    name: "REEVE_CONFIG",
    meaning: "The operator file: scoped secrets, grants, served repositories, organizations, limits."
  },
  {
    name: "REEVE_SECRET_NAME",
    meaning: "Value of the secret NAME that rules of the operator name as { secret: NAME }; any number of them.",
    secret: true
  },
  { name: "HOST", meaning: "Address to listen on.", default: "127.0.0.1" },
  { name: "PORT", meaning: "Port to listen on; 0 takes a free one.", default: "8080" },
  { name: "FORGE_PORT", meaning: "Port of the embedded forge; 0 takes a free one.", default: "3000" },
  { name: "LOG_LEVEL", meaning: `What is logged: ${logLevels.join(", ")}.`, default: "info" }
];
var ours = /^(REEVE|WEBHOOK)_/;
async function loadSettings(environment) {
  const problems = [];
  const read = createReader(environment, problems);
  const path = read("REEVE_CONFIG");
  const operator = path === void 0 ? { problems: [] } : await readOperatorFile(path);
  problems.push(...operator.problems);
  const forge = readForge(read, problems);
  const secrets = [...readEnvironmentEntry(read), ...readEntries(operator.file, problems)];
  if (read("FORGE_URL") !== void 0 || secrets.length > 0) problems.push(...examineSecrets(secrets));
  const settings = {
    forge,
    setupToken: read("SETUP_TOKEN"),
    webhook: operator.file?.webhook,
    dashboard: operator.file?.dashboard?.url,
    signIn: readSignIn(read, problems),
    secrets,
    rules: read("REEVE_RULES"),
    data: resolve(read("REEVE_DATA") ?? "./data"),
    repositories: operator.file?.repositories ?? [],
    allowAdmin: operator.file?.["allow-admin"] ?? false,
    ...readPowers(operator.file),
    namedSecrets: readNamedSecrets(operator.file?.["named-secrets"], environment, problems),
    host: read("HOST") ?? "127.0.0.1",
    port: readPort("PORT", 8080, read, problems),
    forgePort: readPort("FORGE_PORT", 3e3, read, problems),
    logLevel: readLevel(read, problems)
  };
  if (problems.length > 0) {
    throw new ReeveError(
      "settings",
      `${problems.length} settings cannot be used:
  ${problems.join("\n  ")}`
    );
  }
  return settings;
}
function readPowers(file) {
  const limits = file?.limits ?? {};
  return {
    organizations: Object.entries(file?.organizations ?? {}).map(([name, { rules, id }]) => ({
      name,
      rules,
      ...id === void 0 ? {} : { id }
    })),
    grants: (file?.grants ?? []).map((grant) => ({
      repositories: grant.repositories ?? [],
      organizations: grant.organizations ?? [],
      names: [...grant.actions ?? [], ...grant.facts ?? []]
    })),
    budgets: {
      delivery: {
        all: limits.delivery ?? budgets.delivery.all,
        repository: limits["repository-delivery"] ?? budgets.delivery.repository
      },
      hour: {
        all: limits.hour ?? budgets.hour.all,
        repository: limits["repository-hour"] ?? budgets.hour.repository
      }
    },
    preview: file?.preview ?? false,
    reportProblems: file?.["report-problems"] ?? "status"
  };
}
function loadForge(environment) {
  const problems = [];
  const read = createReader(environment, problems);
  if (read("FORGE_URL") === void 0 || (read("FORGE_TOKEN") ?? read("FORGE_USER")) === void 0)
    return void 0;
  const forge = readForge(read, problems);
  if (problems.length === 0) return forge;
  throw new ReeveError("settings", `the forge cannot be asked:
  ${problems.join("\n  ")}`);
}
function readSecret(environment, name) {
  const problems = [];
  const value = createReader(environment, problems)(name);
  if (problems.length === 0) return value;
  throw new ReeveError("settings", `${name} cannot be used:
  ${problems.join("\n  ")}`);
}
function createReader(environment, problems) {
  const known = new Set(
    settingsTable.flatMap(({ name, secret }) => secret ? [name, `${name}_FILE`] : [name])
  );
  for (const name of Object.keys(environment)) {
    if (ours.test(name) && !known.has(name) && !isSecretVariable(name))
      problems.push(`${name} is no setting of Reeve; known are ${[...known].join(", ")}`);
  }
  return (name) => {
    const value = environment[name] === "" ? void 0 : environment[name];
    const file = known.has(`${name}_FILE`) ? environment[`${name}_FILE`] : void 0;
    if (file === void 0 || file === "") return value;
    if (value !== void 0) problems.push(`${name} and ${name}_FILE are both set; keep one`);
    return readSecretFile(`${name}_FILE`, file, problems);
  };
}
function readSecretFile(name, path, problems) {
  try {
    const text = readFileSync(path, "utf8").replace(/\r?\n$/, "");
    if (text === "") problems.push(`${name}: ${path} is empty`);
    return text;
  } catch (error) {
    problems.push(`${name}: ${messageOf(error)}`);
    return void 0;
  }
}
function readForge(read, problems) {
  const url = read("FORGE_URL");
  const [token, user, password] = [read("FORGE_TOKEN"), read("FORGE_USER"), read("FORGE_PASSWORD")];
  if (url === void 0) {
    if (token ?? user ?? password)
      problems.push("FORGE_TOKEN, FORGE_USER or FORGE_PASSWORD is set, but FORGE_URL is not");
    return void 0;
  }
  try {
    apiRoot(url);
  } catch (error) {
    problems.push(messageOf(error));
  }
  if (token !== void 0 && (user ?? password) !== void 0) {
    problems.push("FORGE_TOKEN and FORGE_USER or FORGE_PASSWORD are both set; keep one way to sign in");
  }
  if (token !== void 0) return { url, credentials: { token } };
  if (user === void 0 || password === void 0) {
    problems.push("FORGE_URL is set, but neither FORGE_TOKEN nor FORGE_USER with FORGE_PASSWORD");
    return void 0;
  }
  return { url, credentials: { user, password } };
}
function readSignIn(read, problems) {
  const [clientId, clientSecret] = [read("OAUTH2_CLIENT_ID"), read("OAUTH2_CLIENT_SECRET")];
  if (clientId !== void 0 && clientSecret !== void 0) return { clientId, clientSecret };
  if (clientId ?? clientSecret)
    problems.push("OAUTH2_CLIENT_ID and OAUTH2_CLIENT_SECRET go together; one is missing");
  return void 0;
}
function linesOf(text) {
  return (text ?? "").split(/\r?\n/).filter((line) => line !== "");
}
function readEnvironmentEntry(read) {
  const entry = {
    name: "environment",
    scope: ["*"],
    authorization: linesOf(read("WEBHOOK_AUTHORIZATION")),
    hmac: linesOf(read("WEBHOOK_SECRET"))
  };
  return entry.authorization.length + entry.hmac.length > 0 ? [entry] : [];
}
function readEntries(file, problems) {
  return (file?.secrets ?? []).map((entry) => ({
    name: entry.name,
    scope: entry.scope,
    authorization: withFile(entry, "authorization", problems),
    hmac: withFile(entry, "hmac", problems)
  }));
}
function withFile(entry, kind, problems) {
  const path = entry[`${kind}-file`];
  const fromFile = path === void 0 ? void 0 : readSecretFile(`secrets "${entry.name}" ${kind}-file`, path, problems);
  return [...entry[kind] ?? [], ...linesOf(fromFile)];
}
function readPort(name, standard, read, problems) {
  const text = read(name);
  if (text === void 0) return standard;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= 0 && port <= 65535) return port;
  problems.push(`${name} must be a port from 0 to 65535, not "${text}"`);
  return standard;
}
function readLevel(read, problems) {
  const text = read("LOG_LEVEL") ?? "info";
  const level = logLevels.find((one) => one === text);
  if (level === void 0) problems.push(`LOG_LEVEL must be one of ${logLevels.join(", ")}, not "${text}"`);
  return level ?? "info";
}
function secretValues(settings) {
  const { forge, secrets, setupToken, signIn } = settings;
  return [
    ...setupToken === void 0 ? [] : [setupToken],
    ...signIn === void 0 ? [] : [signIn.clientSecret],
    ...forge ? secretsOf(forge.credentials) : [],
    ...secrets.flatMap((entry) => [...entry.authorization, ...entry.hmac]),
    ...settings.namedSecrets.values()
  ];
}

export {
  WebhookForm,
  parseOperatorFile,
  loadSettings,
  loadForge,
  readSecret,
  secretValues
};

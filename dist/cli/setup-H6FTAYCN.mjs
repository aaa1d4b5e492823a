import {
  editEnvText,
  mergeEnvironments,
  readEnvFile,
  writePrivateFile
} from "./chunk-ZJOZMDT2.mjs";
import {
  Stopped,
  bringAboutSignIn,
  createHookAt,
  createReport,
  createSteps,
  deleteHookAt,
  editHookAt,
  entryFor,
  findingOfTry,
  hookKinds,
  hookSecretsOf,
  keepHook,
  listen,
  localAddress,
  lookAtAccount,
  lookAtAdministrator,
  lookAtForge,
  lookAtScopes,
  matchHooks,
  neededScopes,
  ok,
  placesOf,
  printsOf,
  recallHook,
  seeHooks,
  skipped,
  titleOf,
  tryHook,
  wrong
} from "./chunk-FT7EGP65.mjs";
import {
  WebhookForm,
  loadForge,
  loadSettings,
  parseOperatorFile,
  readSecret,
  secretValues
} from "./chunk-SW2RTCO5.mjs";
import "./chunk-2YZQZDXR.mjs";
import "./chunk-F5HW2RH7.mjs";
import {
  openSqliteStore
} from "./chunk-XJ67IZNZ.mjs";
import {
  loadFingerprintKey
} from "./chunk-W47FSTJL.mjs";
import "./chunk-Z6LLQXQ6.mjs";
import {
  count
} from "./chunk-2N6KPMKU.mjs";
import {
  loadRuleFiles
} from "./chunk-MMU7GUSS.mjs";
import "./chunk-QVU6XQ2A.mjs";
import "./chunk-VTTQ2TL3.mjs";
import "./chunk-PGPAQ2TF.mjs";
import {
  createClient,
  secretsOf
} from "./chunk-WHXP6K3X.mjs";
import {
  namesToSend,
  shownEvents
} from "./chunk-D4IFGYQO.mjs";
import "./chunk-OVHSHDHZ.mjs";
import "./chunk-P5GSASXZ.mjs";
import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/commands/setup.ts
import { existsSync as existsSync3 } from "node:fs";

// src/commands/connection/operator-text.ts
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { parseDocument } from "yaml";
var head = `# The operator file of Reeve: docs/reference/operator-file.md says what can stand here.
version: 1
`;
async function readOperatorText(path) {
  if (!existsSync(path)) return head;
  const text = await readFile(path, "utf8");
  const { problems } = parseOperatorFile(path, text);
  if (problems.length === 0) return text;
  throw new ReeveError("settings", `the operator file cannot be used:
  ${problems.join("\n  ")}`);
}
function editOperatorText(text, edit) {
  const document = parseDocument(text, { version: "1.2", merge: false });
  const live = document.toJS({ maxAliasCount: 0 });
  let isSame = true;
  for (const [key, value] of Object.entries(edit)) {
    const wanted = value === void 0 ? void 0 : JSON.parse(JSON.stringify(value));
    if (isDeepStrictEqual(live[key], wanted)) continue;
    isSame = false;
    if (wanted === void 0) document.delete(key);
    else document.set(key, wanted);
  }
  return isSame ? text : document.toString({ lineWidth: 110 });
}

// src/commands/setup/answers.ts
import { resolve } from "node:path";
var keptVariables = [
  ...["FORGE_URL", "FORGE_TOKEN", "FORGE_TOKEN_FILE", "FORGE_USER", "FORGE_PASSWORD", "FORGE_PASSWORD_FILE"],
  ...["REEVE_CONFIG", "REEVE_DATA", "REEVE_RULES", "HOST", "PORT"]
];
async function gatherAnswers(options, given, prompt) {
  const envFile = resolve(options.settings ?? "reeve.env");
  const environment = mergeEnvironments(
    readEnvFile(envFile, { mustExist: false }),
    given
  );
  if (options.url !== void 0) environment.FORGE_URL = options.url;
  if (options.tokenFile !== void 0) {
    for (const name of ["FORGE_TOKEN", "FORGE_USER", "FORGE_PASSWORD", "FORGE_PASSWORD_FILE"])
      delete environment[name];
    environment.FORGE_TOKEN_FILE = resolve(options.tokenFile);
  }
  if (options.adminTokenFile !== void 0) {
    delete environment.SETUP_TOKEN;
    environment.SETUP_TOKEN_FILE = options.adminTokenFile;
  }
  environment.FORGE_URL ||= await need(prompt, "Address of the forge", "--url or FORGE_URL");
  if (!(environment.FORGE_TOKEN || environment.FORGE_TOKEN_FILE || environment.FORGE_USER)) {
    environment.FORGE_TOKEN = await need(
      prompt,
      "Access token of the account Reeve acts as (not shown)",
      "--token-file, FORGE_TOKEN or FORGE_TOKEN_FILE",
      { hidden: true }
    );
  }
  const config = resolve(options.config ?? environment.REEVE_CONFIG ?? "reeve.yml");
  environment.REEVE_CONFIG = config;
  environment.REEVE_DATA = resolve(environment.REEVE_DATA || "./data");
  if (environment.REEVE_RULES) environment.REEVE_RULES = resolve(environment.REEVE_RULES);
  const forge = loadForge(environment);
  if (forge === void 0) throw new ReeveError("usage", "the forge and a way to sign in are needed");
  return { forge, setupToken: readSecret(environment, "SETUP_TOKEN"), environment, envFile, config };
}
async function need(prompt, question, where, options = {}) {
  const answer = await prompt?.ask(question, options);
  if (answer) return answer;
  throw new ReeveError("usage", `${question}: nobody gave it; say ${where}`);
}

// src/commands/setup/files.ts
import { chmod, mkdir, readFile as readFile2, stat } from "node:fs/promises";
import { dirname } from "node:path";
async function bringAboutEnvFile(path, values, plan) {
  const live = await textOf(path);
  const wanted = editEnvText(live ?? "", values);
  return bringAboutFile({ path, live, wanted, plan, isPrivate: await modeOf(path) === 384 });
}
async function bringAboutOperatorFile(path, edit, plan) {
  const live = await textOf(path);
  const wanted = editOperatorText(await readOperatorText(path), edit);
  return bringAboutFile({ path, live, wanted, plan, isPrivate: live !== void 0 });
}
async function bringAboutFile(file) {
  const { path, live, wanted, plan, isPrivate } = file;
  if (live === wanted && isPrivate) return ok(`${path} is as it must be`);
  const what = live === void 0 ? "written" : live === wanted ? "made private" : "brought up to date";
  if (plan) return { state: "planned", text: `${path} would be ${what}` };
  await mkdir(dirname(path), { recursive: true });
  if (live === wanted) await chmod(path, 384);
  else await writePrivateFile(path, wanted);
  return { state: "changed", text: `${path} ${what} (mode 0600)` };
}
async function textOf(path) {
  return readFile2(path, "utf8").catch((error) => {
    if (error.code === "ENOENT") return void 0;
    throw error;
  });
}
async function modeOf(path) {
  const about = await stat(path).catch(() => void 0);
  return about && about.mode & 511;
}

// src/commands/setup/secrets.ts
import { randomBytes } from "node:crypto";
var secretVariables = ["WEBHOOK_AUTHORIZATION", "WEBHOOK_SECRET"];
var make = (variable) => {
  const random = randomBytes(32).toString("base64url");
  return variable === "WEBHOOK_AUTHORIZATION" ? `Bearer ${random}` : random;
};
function planSecrets(environment, options) {
  const given = secretVariables.filter((name) => readSecret(environment, name) !== void 0);
  if (given.length === 0 && options.hasEntries) {
    return {
      values: {},
      finding: ok("the operator file has entries of secrets: the hooks get their first values")
    };
  }
  const missing = secretVariables.filter((name) => !given.includes(name));
  const inFiles = given.filter((name) => environment[`${name}_FILE`]);
  if (options.rotate && inFiles.length > 0) {
    return {
      values: {},
      finding: wrong(
        `${inFiles.join(" and ")} come from files that setup does not write`,
        "put a new value on a line before the old one in each, then run setup without --rotate"
      )
    };
  }
  const rotated = options.rotate && !options.isRotating ? given : [];
  const values = Object.fromEntries([
    ...missing.map((name) => [name, make(name)]),
    ...rotated.map((name) => [name, `${make(name)}
${environment[name]}`])
  ]);
  return { values, finding: findingOf(missing, rotated, options) };
}
function findingOf(missing, rotated, { plan, rotate }) {
  if (missing.length + rotated.length === 0) {
    return ok(
      rotate ? "new secrets were made before; the rotation goes on" : "header and signature have their secrets"
    );
  }
  const what = [
    ...missing.length > 0 ? [`${missing.join(" and ")}: 32 random bytes each`] : [],
    ...rotated.length > 0 ? [`${rotated.join(" and ")}: a new value before the live one`] : []
  ].join("; ");
  return { state: plan ? "planned" : "changed", text: plan ? `would make ${what}` : `made ${what}` };
}
function withoutOldValues(environment) {
  const several = secretVariables.filter((name) => (environment[name] ?? "").includes("\n"));
  return Object.fromEntries(several.map((name) => [name, environment[name]?.split("\n")[0] ?? ""]));
}

// src/commands/setup/settle-hooks.ts
import { randomBytes as randomBytes2 } from "node:crypto";
import { existsSync as existsSync2 } from "node:fs";
import { join } from "node:path";

// src/commands/setup/hooks.ts
function planHook(match, known, wish) {
  const prints = printsOf(hookSecretsOf(wish.entry), wish.key);
  const hook = match.found ?? match.elsewhere;
  const others = match.duplicates;
  if (hook === void 0) return { do: "create", others, why: ["there is none"] };
  const isOurs = known?.id === hook.id && known.hmac === prints.hmac;
  if (!isOurs) {
    const why2 = known?.id === hook.id ? "it signs with another secret" : "nobody knows what it signs with";
    return { do: "replace", hook, others: [hook, ...others], why: [why2] };
  }
  const why = [
    ...match.found === void 0 ? [`it pointed to ${hook.config?.url}`] : [],
    ...shownEvents(hook.events).join() === wish.kinds.join() ? [] : ["events"],
    ...hook.active ? [] : ["it was inactive"],
    ...hook.config?.content_type === "json" ? [] : ["content type"],
    ...known.authorization === prints.authorization ? [] : ["header"]
  ];
  return { do: why.length === 0 ? "nothing" : "edit", hook, others, why };
}
async function isRemembered(store, place, { entry, key }) {
  const known = await recallHook(store, place);
  const prints = printsOf(hookSecretsOf(entry), key);
  return known !== void 0 && known.hmac === prints.hmac && known.authorization === prints.authorization;
}
async function lookAtHook(live, { place, store }, wish) {
  const known = await recallHook(store, place);
  return planHook(matchHooks(live, wish.url, known), known, wish);
}
async function bringAbout(bringing, plan, wish) {
  const { client, place, store } = bringing;
  const secrets = hookSecretsOf(wish.entry);
  const body = {
    url: wish.url,
    events: namesToSend(wish.kinds),
    branch_filter: plan.hook?.branch_filter ?? "",
    authorization_header: secrets.authorization
  };
  const keep = (id) => keepHook(store, place, { id, ...printsOf(secrets, wish.key) });
  if (plan.do === "nothing" && plan.hook) return { id: plan.hook.id, others: plan.others };
  if (plan.do === "edit" && plan.hook) {
    const { id } = plan.hook;
    const edited = await editHookAt(client, place, { ...body, id });
    await keep(id);
    if (shownEvents(edited.events).join() === wish.kinds.join()) return { id, others: plan.others };
  }
  const made = await createHookAt(client, place, { ...body, secret: secrets.hmac });
  await keep(made.id);
  const old = plan.hook === void 0 || plan.others.includes(plan.hook) ? [] : [plan.hook];
  return { id: made.id, others: [...old, ...plan.others] };
}
async function removeHooks(client, place, hooks) {
  for (const { id } of hooks) await deleteHookAt(client, place, id);
  return hooks.length;
}
var said = {
  nothing: "is as it must be",
  create: "made",
  edit: "edited",
  replace: "made anew"
};
function findingOfPlan(plan, place, isPlan) {
  const title = `hook of ${titleOf(place)}`;
  const gone = plan.do === "replace" ? plan.others.length - 1 : plan.others.length;
  const rest = gone === 0 ? "" : `; ${gone} more deliver here and ${isPlan ? "would go" : "go"}`;
  if (plan.do === "nothing") {
    const state = gone === 0 ? "ok" : isPlan ? "planned" : "changed";
    return { state, text: `${title}: ${said.nothing}${rest}` };
  }
  const text = `${title}: ${isPlan ? "would be " : ""}${said[plan.do]} (${plan.why.join(", ")})${rest}`;
  return { state: isPlan ? "planned" : "changed", text };
}

// src/commands/setup/settle-hooks.ts
async function settleHooks(hooks) {
  const { settings, steps, places } = hooks;
  const [first] = settings.secrets;
  if (hooks.plan || !hooks.test || first === void 0) return withStore(hooks, void 0);
  const entry = places.map((place) => entryFor(place, settings.secrets)).find(Boolean) ?? first;
  const heard = await steps.attempt("receiver", () => listen(settings, entry));
  if ("advice" in heard) {
    steps.tell("receiver", wrong(heard.text, heard.advice), { mustBeRight: true });
    return false;
  }
  const where = `${settings.host}:${settings.port}`;
  steps.tell(
    "receiver",
    ok(heard.by === "own" ? `listens on ${where} for a moment` : `Reeve runs on ${where} with these secrets`)
  );
  try {
    return await withStore(hooks, heard);
  } finally {
    await heard.close();
  }
}
async function withStore(hooks, heard) {
  const { settings, plan, steps } = hooks;
  if (heard) return settleAll(hooks, heard.store, heard);
  const path = join(settings.data, "reeve.db");
  if (plan && !existsSync2(path))
    return settleAll(hooks, { recall: async () => void 0, remember: async () => {
    } }, void 0);
  const store = await steps.attempt("store", () => openSqliteStore({ path, role: "reader" }));
  try {
    return await settleAll(hooks, store, void 0);
  } finally {
    await store.close();
  }
}
async function settleAll(hooks, store, heard) {
  const { settings, plan, steps } = hooks;
  const isNew = plan && !existsSync2(join(settings.data, "fingerprint.key"));
  const key = isNew ? randomBytes2(32) : await steps.attempt("store", () => loadFingerprintKey(settings.data));
  let isWhole = true;
  for (const place of hooks.places) {
    const entry = entryFor(place, settings.secrets);
    if (entry === void 0) {
      const text = `no entry of secrets may speak for all of ${titleOf(place)}`;
      steps.tell(
        "hook",
        wrong(
          text,
          "add one to secrets in the operator file, or set WEBHOOK_SECRET and WEBHOOK_AUTHORIZATION"
        )
      );
      isWhole = false;
      continue;
    }
    const wish = { url: hooks.url, kinds: hooks.kinds, entry, key };
    const isRight = await steps.attemptAlone("hook", () => settle(hooks, place, wish, store, heard));
    isWhole &&= isRight ?? false;
  }
  return isWhole;
}
async function settle({ makers, plan: isPlan, steps, url }, place, wish, store, heard) {
  const seen = await seeHooks(makers, place).catch(async (error) => {
    const isMade = error instanceof ReeveError && await isRemembered(store, place, wish);
    if (!isMade) throw error;
    return messageOf(error);
  });
  if (typeof seen === "string") {
    steps.tell(
      "hook",
      skipped(`hook of ${titleOf(place)}: made by an earlier run, and cannot be seen now: ${seen}`)
    );
    return true;
  }
  const { client, live } = seen;
  const plan = await lookAtHook(live, { place, store }, wish);
  if (isPlan) {
    steps.tell("hook", findingOfPlan(plan, place, true));
    return true;
  }
  const { id, others } = await bringAbout({ client, place, store }, plan, wish);
  steps.tell("hook", findingOfPlan(plan, place, false));
  if (heard) {
    const finding = await findingOfTry(
      await tryHook({ client, place, hookId: id, listening: heard }),
      place,
      url
    );
    steps.tell("delivery", finding);
    if (finding.state === "wrong") return false;
  }
  const gone = await removeHooks(client, place, others);
  if (gone > 0)
    steps.tell("hook", {
      state: "changed",
      text: `hook of ${titleOf(place)}: ${count(gone, "old one")} removed`
    });
  return true;
}

// src/commands/setup/wanted-webhook.ts
async function wantWebhook(options, live, around) {
  const isSaid = options.system || options.user || options.organization || options.repository || live !== void 0;
  const { prompt } = around;
  const answer = isSaid ? "" : await prompt?.ask("Hooks where? Names of repositories (owner/name) and organizations, user, system");
  const names = (answer ?? "").split(/[\s,]+/).filter(Boolean);
  const isOrganization = (name) => !["system", "user"].includes(name) && !name.includes("/");
  const asked = options.webhook ?? live?.url;
  const url = asked ?? await prompt?.ask("Address of Reeve, as the forge reaches it", { standard: around.standardUrl });
  const form = {
    url: withPath(url ?? around.standardUrl),
    system: live?.system || options.system || names.includes("system") || void 0,
    users: union(live?.users, options.user || names.includes("user") ? [around.login] : []),
    organizations: union(live?.organizations, options.organization, names.filter(isOrganization)),
    repositories: union(
      live?.repositories,
      options.repository,
      names.filter((name) => name.includes("/"))
    ),
    events: options.events ?? live?.events
  };
  return examine(form);
}
function union(...lists) {
  const all = [...new Set(lists.flatMap((list) => list ?? []))];
  return all.length === 0 ? void 0 : all;
}
function withPath(url) {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  if (parsed.pathname === "/") parsed.pathname = "/webhook";
  return parsed.href;
}
function examine(form) {
  const parsed = WebhookForm.safeParse(form);
  if (!parsed.success) {
    const lines = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
    throw new ReeveError("usage", `the hooks cannot be as said:
  ${lines.join("\n  ")}`);
  }
  if (placesOf(parsed.data).length > 0) return parsed.data;
  throw new ReeveError(
    "usage",
    "say where the hooks shall be: --repository owner/name, --organization name, --user or --system"
  );
}

// src/commands/setup.ts
async function setup(options, given, terminal, prompt) {
  const answers = await gatherAnswers(options, given, prompt);
  const secrets = [
    ...secretsOf(answers.forge.credentials),
    ...answers.setupToken ? [answers.setupToken] : []
  ];
  const report = createReport(terminal, { json: options.json ?? false, secrets: () => secrets });
  const steps = createSteps(report);
  try {
    await connect({ options, answers, prompt, steps, secrets });
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  }
  const states = report.entries.map(({ state }) => state);
  const changed = states.filter((state) => state === "changed").length;
  if (options.json) {
    terminal.out(
      JSON.stringify({ ok: steps.status === 0, changed, plan: options.plan ?? false, steps: report.entries })
    );
  } else if (steps.status !== 0) {
    terminal.out(terminal.style("red", "Not connected yet: mend what is marked, and run this again."));
  } else if (options.plan) {
    const planned = states.filter((state) => state === "planned").length;
    terminal.out(
      planned === 0 ? "Nothing would change." : `${count(planned, "change")} would be made; nothing was.`
    );
  } else {
    terminal.out(
      terminal.style("green", changed === 0 ? "Connected; nothing had to be changed." : "Connected.")
    );
    terminal.out(
      `Next: reeve doctor --settings ${answers.envFile}, then reeve serve --settings ${answers.envFile}`
    );
  }
  return steps.status;
}
async function connect(run) {
  const { options, answers, steps, prompt } = run;
  const { environment } = answers;
  const plan = options.plan ?? false;
  const client = createClient(answers.forge);
  const capabilities = await learn(steps, "forge", () => lookAtForge(client, answers.forge.url));
  const account = await learn(steps, "token", () => lookAtAccount(client));
  const { file } = parseOperatorFile(
    answers.config,
    await steps.attempt("operator-file", () => readOperatorText(answers.config))
  );
  const allowAdmin = options.allowAdmin || file?.["allow-admin"] || false;
  steps.tell("administrator", lookAtAdministrator(account, allowAdmin), { mustBeRight: true });
  const rules = await steps.attempt("rules", () => loadRules(environment));
  if ("token" in answers.forge.credentials) {
    const look = () => lookAtScopes(client, neededScopes(rules), { capabilities, readOnly: plan });
    steps.tell("scopes", await steps.attempt("scopes", look));
  }
  const maker = answers.setupToken === void 0 ? client : createClient({ url: answers.forge.url, credentials: { token: answers.setupToken } });
  const makerAccount = maker === client ? account : await learn(steps, "admin-token", () => lookAtAccount(maker));
  const standardUrl = localAddress(environment.HOST || "127.0.0.1", Number(environment.PORT || 8080));
  const webhook = await wantWebhook(options, file?.webhook, {
    prompt,
    login: makerAccount.login,
    standardUrl
  });
  const kinds = hookKinds(webhook.events ?? "all", rules, capabilities);
  const dashboard = options.dashboard ?? file?.dashboard?.url;
  const secretPlan = planSecrets(environment, {
    hasEntries: (file?.secrets ?? []).length > 0,
    rotate: options.rotate ?? false,
    isRotating: secretVariables.some((name) => (environment[name] ?? "").includes("\n")),
    plan
  });
  run.secrets.push(...Object.values(secretPlan.values).flatMap((value) => value.split("\n")));
  steps.tell("secrets", secretPlan.finding, { mustBeRight: true });
  const wanted = { ...environment, ...secretPlan.values };
  const writeEnvFile = () => bringAboutEnvFile(answers.envFile, keptOf(wanted), plan);
  steps.tell("env-file", await steps.attempt("env-file", writeEnvFile));
  const edit = {
    webhook,
    dashboard: dashboard && { url: dashboard },
    "allow-admin": allowAdmin || file?.["allow-admin"]
  };
  const writeOperatorFile = () => bringAboutOperatorFile(answers.config, edit, plan);
  steps.tell("operator-file", await steps.attempt("operator-file", writeOperatorFile));
  if (dashboard !== void 0) {
    const [clientId, clientSecret] = [wanted.OAUTH2_CLIENT_ID, wanted.OAUTH2_CLIENT_SECRET];
    const live = clientId && clientSecret ? { clientId, clientSecret } : void 0;
    const made = await steps.attemptAlone("sign-in", () => bringAboutSignIn(client, dashboard, live, plan));
    if (made?.signIn) {
      run.secrets.push(made.signIn.clientSecret);
      wanted.OAUTH2_CLIENT_ID = made.signIn.clientId;
      wanted.OAUTH2_CLIENT_SECRET = made.signIn.clientSecret;
      await steps.attempt("env-file", writeEnvFile);
    }
    if (made) steps.tell("sign-in", made.finding);
  }
  const isFileless = plan && !existsSync3(answers.config);
  const settings = await steps.attempt(
    "settings",
    () => loadSettings(isFileless ? { ...wanted, REEVE_CONFIG: "" } : wanted)
  );
  run.secrets.push(...secretValues(settings));
  const isWhole = await settleHooks({
    ...{ settings, steps, plan, test: options.test ?? true, kinds },
    makers: [
      { client: maker, login: makerAccount.login },
      ...maker === client ? [] : [{ client, login: account.login }]
    ],
    places: placesOf(webhook),
    url: webhook.url
  });
  const left = withoutOldValues(wanted);
  if (options.rotate && isWhole && !plan && Object.keys(left).length > 0) {
    Object.assign(wanted, left);
    await steps.attempt("env-file", writeEnvFile);
    steps.tell("rotation", {
      state: "changed",
      text: `no hook sends the old values any more: ${answers.envFile} holds the new ones alone`
    });
  }
}
async function learn(steps, id, look) {
  const { finding, value } = await steps.attempt(id, look);
  steps.tell(id, finding);
  return value;
}
async function loadRules(environment) {
  if (!environment.REEVE_RULES) return [];
  return (await loadRuleFiles([environment.REEVE_RULES])).flatMap(({ rules }) => rules);
}
function keptOf(wanted) {
  const names = [
    ...keptVariables,
    ...secretVariables.flatMap((name) => [name, `${name}_FILE`]),
    "OAUTH2_CLIENT_ID",
    "OAUTH2_CLIENT_SECRET"
  ];
  return Object.fromEntries(names.map((name) => [name, wanted[name] || void 0]));
}
export {
  setup
};

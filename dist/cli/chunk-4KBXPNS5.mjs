import {
  maxConnections,
  receiver,
  redirectOf,
  serverOptions
} from "./chunk-YK7TMJ5P.mjs";
import {
  openSqliteStore
} from "./chunk-XJ67IZNZ.mjs";
import {
  createScope
} from "./chunk-W47FSTJL.mjs";
import {
  plain
} from "./chunk-2N6KPMKU.mjs";
import {
  eventFamilies
} from "./chunk-QVU6XQ2A.mjs";
import {
  capabilityOfEvent,
  createNamedSecrets
} from "./chunk-PGPAQ2TF.mjs";
import {
  createClient,
  findCapabilities
} from "./chunk-WHXP6K3X.mjs";
import {
  hookEventNames,
  shownEvents,
  wantedEvents
} from "./chunk-D4IFGYQO.mjs";
import {
  createRedactor,
  silentLog
} from "./chunk-OVHSHDHZ.mjs";
import {
  Hook,
  operations
} from "./chunk-P5GSASXZ.mjs";
import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/commands/connection/finding.ts
var ok = (text) => ({ state: "ok", text });
var wrong = (text, advice) => ({ state: "wrong", text, advice });
var skipped = (text) => ({ state: "skipped", text });
var marks = {
  ok: ["\u2713", "green"],
  changed: ["\u2713", "cyan"],
  planned: ["\xB7", "yellow"],
  wrong: ["\u2717", "red"],
  skipped: ["\u2013", "dim"]
};
function createReport(terminal, options) {
  const entries = [];
  return {
    entries,
    add(id, finding) {
      const hide = createRedactor(options.secrets());
      const entry = {
        id,
        state: finding.state,
        text: plain(hide(finding.text)),
        ...finding.advice === void 0 ? {} : { advice: plain(hide(finding.advice)) }
      };
      entries.push(entry);
      if (!options.json) printEntry(entry, terminal);
    }
  };
}
function printEntry({ id, state, text, advice }, terminal) {
  const [mark, colour] = marks[state];
  terminal.out(`${terminal.style(colour, mark)} ${id.padEnd(17)} ${text}`);
  if (advice !== void 0) terminal.out(`${" ".repeat(20)}\u2192 ${advice}`);
}

// src/client/token-scopes.ts
import { randomBytes } from "node:crypto";
var tries = {
  "read:user": (client) => client.call(operations.getSelf, {}),
  "write:user": (client) => client.call(operations.deleteUserHook, { params: { id: 0 } }),
  "read:repository": (client, owner) => client.call(operations.getRepository, { params: { owner, repo: "none" } }),
  "write:repository": (client, owner) => client.call(operations.deleteHook, { params: { owner, repo: "none", id: 0 } }),
  "read:issue": (client, owner) => client.call(operations.listLabels, { params: { owner, repo: "none" } }),
  "write:issue": (client, owner) => client.call(operations.deleteLabel, { params: { owner, repo: "none", id: 0 } }),
  "read:organization": (client, org) => client.call(operations.getOrganization, { params: { org } }),
  "write:organization": (client, org) => client.call(operations.deleteOrganizationHook, { params: { org, id: 0 } }),
  "read:notification": (client) => client.call(operations.countNotifications, {}),
  "write:notification": (client) => client.call(operations.markNotification, { params: { id: 0 }, query: {} })
};
async function askScopes(client, scopes, { capabilities, readOnly = false }) {
  const listed = capabilities.has.token_self ? await listScopes(client) : void 0;
  if (listed !== void 0) return new Map(scopes.map((scope) => [scope, isCovered(scope, listed)]));
  const nobody = `no-such-${randomBytes(10).toString("hex")}`;
  const answers = await Promise.all(
    scopes.map(async (scope) => {
      const attempt = tries[scope];
      if (attempt === void 0 || readOnly && scope.startsWith("write:")) return [scope, "unknown"];
      return [scope, await holding(attempt(client, nobody))];
    })
  );
  return new Map(answers);
}
function isCovered(scope, listed) {
  const wider = scope.replace(/^read:/, "write:");
  return listed.some((one) => one === "all" || one === scope || one === wider) ? "held" : "missing";
}
async function listScopes(client) {
  try {
    return (await client.call(operations.getCurrentToken, {})).scopes ?? [];
  } catch (error) {
    if (error instanceof ReeveError && error.code === "forge-not-found") return void 0;
    throw error;
  }
}
async function holding(answer) {
  try {
    await answer;
    return "held";
  } catch (error) {
    if (!(error instanceof ReeveError) || error.status === void 0 || error.code === "forge-unauthorized") {
      throw error;
    }
    if (error.status === 403) return /scope/.test(messageOf(error)) ? "missing" : "unknown";
    return error.status < 500 ? "held" : "unknown";
  }
}

// src/commands/connection/forge-findings.ts
async function lookAtForge(client, url) {
  const value = await findCapabilities(client).catch((error) => {
    if (error instanceof ReeveError && error.code === "forge-unauthorized")
      return findCapabilities(createClient({ url }));
    throw error;
  });
  const name = value.version.includes("+gitea-") ? "Forgejo" : "Gitea";
  return { finding: ok(`${name} ${value.version} answers at ${url}`), value };
}
async function lookAtAccount(client) {
  const value = await client.call(operations.getSelf, {});
  return { finding: ok(`the forge knows it: it belongs to @${value.login}`), value };
}
function lookAtAdministrator({ login, is_admin }, allowAdmin) {
  if (!is_admin) return ok(`@${login} is no site administrator`);
  if (allowAdmin) return ok(`@${login} is a site administrator, which the operator file allows`);
  return wrong(
    `@${login} is a site administrator: a stolen token, or a rule gone wrong, would reach everything`,
    "make an account with the rights that the rules need and give its token; or say --allow-admin (allow-admin: true in the operator file)"
  );
}
async function lookAtScopes(client, needs, options) {
  const held = await askScopes(
    client,
    needs.map(({ scope }) => scope),
    options
  );
  const missing = needs.filter(({ scope }) => held.get(scope) === "missing");
  const unknown = needs.filter(({ scope }) => held.get(scope) === "unknown");
  if (missing.length > 0) {
    return wrong(
      `the token lacks ${missing.map(({ scope, why }) => `${scope} (${why})`).join(", ")}`,
      `make a token with the scopes ${needs.map(({ scope }) => scope).join(", ")}`
    );
  }
  const rest = unknown.length === 0 ? "" : `; not tried: ${unknown.map(({ scope }) => scope).join(", ")}`;
  const names = needs.filter((need) => !unknown.includes(need)).map(({ scope }) => scope);
  return ok(`the token has ${names.join(", ")}${rest}`);
}

// src/commands/connection/hook-kinds.ts
var always = ["push", "repository"];
function hookKinds(events, rules, capabilities) {
  const named = events === "all" ? hookEventNames : namesOf(rules);
  const known = named.filter((name) => {
    const needed = capabilityOfEvent[name];
    return needed === void 0 || capabilities.has[needed];
  });
  return wantedEvents([...always, ...known]);
}
function namesOf(rules) {
  const types = rules.flatMap(
    ({ on }) => on.flatMap(({ family }) => Object.keys(eventFamilies[family].types))
  );
  return shownEvents(types).map(
    (kind) => kind === "issues" || kind === "pull_request" ? `${kind}_only` : kind
  );
}

// src/commands/connection/needs.ts
var always2 = [
  { scope: "read:user", why: "to know its own account and the repositories it has starred" },
  { scope: "read:repository", why: "to read repositories, pull requests and rule files" },
  { scope: "read:organization", why: "to read organizations and their labels" },
  { scope: "write:issue", why: "to set labels and comment, which every rule file may" }
];
function neededScopes(rules) {
  const found = new Map(always2.map((need) => [need.scope, need]));
  const add = (scope, why) => {
    if (!found.has(scope)) found.set(scope, { scope, why });
  };
  for (const rule of rules) {
    if (rule.each?.kind === "notification")
      add("read:notification", `for rule ${rule.name}, each: notification`);
    for (const { action, arguments: given } of rule.steps) {
      const why = `for rule ${rule.name}, action ${action.name}`;
      for (const category of categoriesOf(rule, action.needs.scopes, given.written))
        add(`write:${category}`, why);
    }
  }
  return [...found.values()].filter(
    ({ scope }) => !found.has(scope.replace(/^read:/, "write:")) || !scope.startsWith("read:")
  );
}
function categoriesOf(rule, declared, written) {
  const isOfAccount = typeof written === "object" && written !== null && "of-account" in written && written["of-account"] === true;
  if (isOfAccount) return ["user"];
  return rule.each?.kind === "organization" ? ["organization"] : declared;
}

// src/commands/connection/places.ts
var rows = {
  system: {
    list: (client) => client.items(operations.listSystemHooks, {}),
    create: operations.createSystemHook,
    edit: operations.editSystemHook,
    delete: operations.deleteSystemHook
  },
  user: {
    list: (client) => client.items(operations.listUserHooks, {}),
    create: operations.createUserHook,
    edit: operations.editUserHook,
    delete: operations.deleteUserHook
  },
  organization: {
    list: (client, params) => client.items(operations.listOrganizationHooks, { params }),
    create: operations.createOrganizationHook,
    edit: operations.editOrganizationHook,
    delete: operations.deleteOrganizationHook
  },
  repository: {
    list: (client, params) => client.items(operations.listHooks, { params }),
    create: operations.createHook,
    edit: operations.editHook,
    delete: operations.deleteHook
  }
};
function placesOf(webhook) {
  const named = (level, names = []) => names.map((name) => ({ level, name }));
  return [
    ...named("system", webhook.system ? [""] : []),
    ...named("organization", webhook.organizations),
    ...named("user", webhook.users),
    ...named("repository", webhook.repositories)
  ];
}
function titleOf({ level, name }) {
  return level === "system" ? "the instance" : `${level} ${name}`;
}
function repositoryAt({ name }) {
  const [owner = "", repo = ""] = name.split("/");
  return { owner, repo };
}
function paramsOf(place) {
  return { ...repositoryAt(place), org: place.name };
}
async function listHooksAt(client, place) {
  const found = [];
  for await (const hook of rows[place.level].list(client, paramsOf(place))) found.push(hook);
  return found;
}
async function createHookAt(client, place, { url, secret, ...body }) {
  const config = {
    url,
    content_type: "json",
    secret,
    ...place.level === "system" ? { is_system_webhook: "true" } : {}
  };
  return send(client, rows[place.level].create, {
    params: paramsOf(place),
    body: { type: "gitea", active: true, ...body, config }
  });
}
async function editHookAt(client, place, { id, url, ...body }) {
  return send(client, rows[place.level].edit, {
    params: { ...paramsOf(place), id },
    body: { active: true, ...body, config: { url, content_type: "json" } }
  });
}
async function deleteHookAt(client, place, id) {
  await client.send(rows[place.level].delete, { params: { ...paramsOf(place), id } });
}
async function send(client, operation, input) {
  return Hook.parse(await client.send(operation, input));
}

// src/commands/connection/probe-receiver.ts
import { sign } from "@octokit/webhooks-methods";
import ky from "ky";
async function probeReceiver(address, entry) {
  const body = JSON.stringify({ from: "reeve" });
  const [authorization] = entry.authorization;
  const [hmac] = entry.hmac;
  try {
    const response = await ky.post(address, {
      body,
      headers: {
        "content-type": "application/json",
        "user-agent": "reeve",
        ...authorization === void 0 ? {} : { authorization },
        ...hmac === void 0 ? {} : { "x-hub-signature-256": await sign(hmac, body) }
      },
      // The values are for this address alone.
      redirect: "manual",
      throwHttpErrors: false,
      retry: 0,
      timeout: false,
      signal: AbortSignal.timeout(5e3)
    });
    const text = await response.text();
    if (response.status === 400 && text.includes("name a delivery")) return { who: "ours" };
    if (response.status === 401 && text.includes("not authorized")) return { who: "other-secrets" };
    if (response.status === 429) return { who: "throttled" };
    return { who: "stranger", why: `it answers ${response.status}` };
  } catch (error) {
    return { who: "silent", why: reasonOf(error) };
  }
}
function reasonOf(thrown) {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if ("code" in error && typeof error.code === "string") return error.code;
  }
  return messageOf(thrown);
}
function localAddress(host, port) {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}/webhook`;
}

// src/commands/setup/sign-in.ts
var applicationName = "Reeve";
async function findApplication(client, signIn) {
  let named;
  for await (const application of client.items(operations.listOAuth2Applications, {})) {
    if (application.client_id === signIn?.clientId) return application;
    if (application.name === applicationName) named ??= application;
  }
  return named;
}
function faultOf(application, dashboard, signIn) {
  if (application === void 0) return "there is none";
  if (signIn === void 0) return "nobody knows its secret";
  if (application.client_id !== signIn.clientId) return "the settings name another one";
  const redirects = application.redirect_uris;
  return redirects.includes(redirectOf(dashboard)) ? void 0 : `it leads back to ${redirects.join(", ") || "nowhere"}`;
}
async function bringAboutSignIn(client, dashboard, signIn, plan) {
  const application = await findApplication(client, signIn);
  const fault = faultOf(application, dashboard, signIn);
  if (fault === void 0)
    return { finding: ok(`people sign in with the OAuth2 application ${application?.name}`) };
  const what = `the OAuth2 application ${applicationName} ${application ? "gets a new secret" : "is registered"} (${fault}); people come back to ${redirectOf(dashboard)}`;
  if (plan) return { finding: { state: "planned", text: what } };
  const body = { name: applicationName, redirect_uris: [redirectOf(dashboard)], confidential_client: true };
  const made = application ? await client.call(operations.editOAuth2Application, { params: { id: application.id }, body }) : await client.call(operations.createOAuth2Application, { body });
  if (!made.client_id || !made.client_secret) {
    return {
      finding: wrong(
        "the forge made an OAuth2 application and told no secret",
        "remove it on the forge and run this again"
      )
    };
  }
  return {
    finding: { state: "changed", text: what },
    signIn: { clientId: made.client_id, clientSecret: made.client_secret }
  };
}

// src/commands/setup/steps.ts
var Stopped = class extends Error {
};
function createSteps(report) {
  let status = 0;
  const fail = (id, error) => {
    const known = error instanceof ReeveError;
    report.add(id, wrong(messageOf(error), adviceOf(error)));
    status ||= known ? error.exit : 1;
  };
  return {
    get status() {
      return status;
    },
    tell(id, finding, { mustBeRight = false } = {}) {
      report.add(id, finding);
      if (finding.state !== "wrong") return;
      status ||= mustBeRight ? 2 : 1;
      if (mustBeRight) throw new Stopped();
    },
    async attempt(id, run) {
      try {
        return await run();
      } catch (error) {
        if (error instanceof Stopped) throw error;
        fail(id, error);
        throw new Stopped();
      }
    },
    async attemptAlone(id, run) {
      try {
        return await run();
      } catch (error) {
        if (error instanceof Stopped) throw error;
        fail(id, error);
        return void 0;
      }
    }
  };
}
function adviceOf(error) {
  if (!(error instanceof ReeveError)) return "this is our mistake: please report it with this line";
  if (error.code === "forge-unauthorized") return "make a new access token on the forge and give that";
  if (error.code === "forge-forbidden") {
    return "give the token of somebody who may: an administrator of the repository, an owner of the organization (--admin-token-file, SETUP_TOKEN)";
  }
  if (error.code === "forge-not-found")
    return "see whether it is spelled so, and whether the account may see it";
  if (error.exit === 3)
    return "see whether the forge runs, and whether its address is reached from this machine";
  return error.retryable ? "run it again" : "mend that and run it again";
}

// src/commands/connection/entries.ts
function entryFor(place, entries) {
  return entries.find(({ scope }) => {
    const covers = createScope(scope);
    if (place.level === "system") return covers(void 0);
    return covers(place.level === "repository" ? place.name : `${place.name}/any-repository-of-it`);
  });
}

// src/commands/connection/listening.ts
import { join } from "node:path";
import fastify from "fastify";
async function listen(settings, entry) {
  const { host, port } = settings;
  const address = localAddress(host, port);
  const there = await probeReceiver(address, entry);
  if (there.who === "silent") return open(settings);
  if (there.who === "ours") return beside(settings);
  if (there.who === "stranger") {
    return {
      text: `another program listens on ${host}:${port} (${there.why})`,
      advice: "set PORT to a free one, or end that program"
    };
  }
  return {
    text: `a Reeve runs on ${host}:${port} with other webhook secrets`,
    advice: "start it anew with these settings (reeve serve --settings FILE), then run this again"
  };
}
var path = (settings) => join(settings.data, "reeve.db");
async function beside(settings) {
  const store = await openSqliteStore({ path: path(settings), role: "reader" });
  return { by: "running", store, refused: () => 0, close: () => store.close() };
}
async function open(settings) {
  const store = await openSqliteStore({ path: path(settings), role: "worker" }).catch((error) => {
    if (error instanceof ReeveError && error.code === "store-locked") return error.message;
    throw error;
  });
  if (typeof store === "string") {
    return {
      text: `${store}; and nothing listens on ${settings.host}:${settings.port}`,
      advice: "give this command the HOST and PORT of the Reeve that runs, or end it"
    };
  }
  let refusedCount = 0;
  const app = fastify({ ...serverOptions(), logger: false, forceCloseConnections: "idle" });
  app.server.maxConnections = maxConnections;
  app.register(receiver, {
    store,
    secrets: settings.secrets,
    log: silentLog,
    onAnswer: (_status, reason) => {
      if (reason === "unauthorized" || reason === "throttled") refusedCount += 1;
    }
  });
  try {
    await app.listen({ host: settings.host, port: settings.port });
  } catch (error) {
    await store.close();
    return {
      text: `cannot listen on ${settings.host}:${settings.port}: ${messageOf(error)}`,
      advice: "set HOST to an address of this machine, and PORT to a free port"
    };
  }
  return {
    by: "own",
    store,
    refused: () => refusedCount,
    async close() {
      await app.close();
      await store.close();
    }
  };
}

// src/commands/connection/seeing.ts
async function seeHooks(signed, place) {
  const isTheirs = ({ login }) => place.level !== "user" || login.toLowerCase() === place.name.toLowerCase();
  let refusal = new ReeveError("forge-forbidden", `only a token of @${place.name} shows its hooks`, {
    status: 403
  });
  let isRefused = false;
  for (const { client } of signed.filter(isTheirs)) {
    try {
      return { client, live: await listHooksAt(client, place) };
    } catch (error) {
      if (!(error instanceof ReeveError) || error.status !== 403 && error.status !== 404) throw error;
      if (!isRefused) refusal = error;
      isRefused = true;
    }
  }
  throw refusal;
}

// src/commands/connection/target.ts
import { lookup } from "node:dns/promises";
import { BlockList, isIPv6 } from "node:net";
var loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");
var private_ = new BlockList();
for (const [net, bits] of [
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
  ["100.64.0.0", 10]
]) {
  private_.addSubnet(net, bits, "ipv4");
}
private_.addSubnet("fc00::", 7, "ipv6");
private_.addSubnet("fe80::", 10, "ipv6");
async function reachOf(address) {
  const host = new URL(address).hostname.replace(/^\[(.*)\]$/, "$1");
  const found = await lookup(host, { all: true }).catch(() => []);
  const isIn = (list) => found.some(({ address: ip }) => list.check(ip, isIPv6(ip) ? "ipv6" : "ipv4"));
  if (found.length === 0) return "unknown";
  if (isIn(loopback)) return "loopback";
  return isIn(private_) ? "private" : "external";
}
function allowAdvice(reach) {
  return `unless told, a forge sends hooks to public addresses alone: in its app.ini set [webhook] ALLOWED_HOST_LIST = external,${reach} and restart it`;
}

// src/commands/connection/tried.ts
async function findingOfTry(tried, place, url) {
  const title = titleOf(place);
  if (tried.came === "untried") return skipped(tried.why);
  if (tried.came === "arrived")
    return ok(`a delivery by the hook of ${title} came and was verified after ${tried.ms} ms`);
  if (tried.came === "refused") {
    return wrong(
      `a delivery by the hook of ${title} came, and its header or signature is not what the settings say`,
      "run reeve setup again, which makes the hook anew; or give the secrets it was made with"
    );
  }
  const reach = await reachOf(url);
  const advice = reach === "loopback" || reach === "private" ? allowAdvice(reach) : `see whether the forge\u2019s machine reaches ${url}: name, proxy, firewall, certificate; the page of the hook on the forge shows what was answered`;
  return wrong(`no delivery by the hook of ${title} came within ${tried.seconds} s`, advice);
}

// src/commands/connection/try-hook.ts
import { randomBytes as randomBytes2 } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
var Body = z.looseObject({ repository: z.looseObject({ full_name: z.string() }) });
async function tryHook(options, timeoutMs = 12e3) {
  const { listening } = options;
  const last = (await listening.store.listDeliveries({ limit: 1 })).items[0]?.id ?? "0";
  const refusedBefore = listening.refused();
  const provoked = await provoke(options);
  if ("why" in provoked) return { came: "untried", why: provoked.why };
  const started = performance.now();
  try {
    while (performance.now() - started < timeoutMs) {
      if (await hasArrived(listening, last, provoked)) {
        return { came: "arrived", ms: Math.round(performance.now() - started) };
      }
      if (listening.refused() > refusedBefore) break;
      await wait(100);
    }
  } finally {
    await provoked.tidy();
  }
  const came = listening.refused() > refusedBefore ? "refused" : "nothing";
  return { came, seconds: Math.round((performance.now() - started) / 1e3) };
}
async function provoke(options) {
  const { client, place, hookId } = options;
  try {
    if (place.level !== "repository") return await makeRepository(client, place);
    const params = repositoryAt(place);
    const { full_name, empty } = await client.call(operations.getRepository, { params });
    if (empty) return { why: `${full_name} is empty: its hook can be tried once something is pushed` };
    await client.call(operations.testHook, { params: { ...params, id: hookId } });
    return { type: "push", repository: full_name, tidy: async () => {
    } };
  } catch (error) {
    if (!(error instanceof ReeveError) || error.retryable) throw error;
    return { why: `the hook of ${titleOf(place)} cannot be tried: ${messageOf(error)}` };
  }
}
async function makeRepository(client, place) {
  const body = { name: `reeve-try-${randomBytes2(5).toString("hex")}`, private: true };
  const made = place.level === "organization" ? await client.call(operations.createOrganizationRepository, { params: { org: place.name }, body }) : await client.call(operations.createRepository, { body });
  const params = { owner: made.owner.login, repo: made.name };
  const tidy = () => client.call(operations.deleteRepository, { params });
  return { type: "repository", repository: made.full_name, tidy };
}
async function hasArrived(listening, after, { type, repository }) {
  const { items } = await listening.store.listDeliveries({ limit: 100 });
  for (const { id, eventType } of items) {
    if (BigInt(id) <= BigInt(after)) return false;
    if (eventType !== type) continue;
    const stored = await listening.store.readDelivery(id);
    if (stored && repositoryOf(stored.body) === repository) return true;
  }
  return false;
}
function repositoryOf(body) {
  try {
    return Body.parse(JSON.parse(Buffer.from(body).toString("utf8"))).repository.full_name;
  } catch {
    return void 0;
  }
}

// src/commands/connection/hook-match.ts
import { z as z2 } from "zod";
var KnownHook = z2.object({
  id: z2.number(),
  authorization: z2.string().optional(),
  hmac: z2.string().optional()
});
var keyOf = (place) => `setup hook ${titleOf(place)}`;
async function recallHook(store, place) {
  const found = KnownHook.safeParse(await store.recall(keyOf(place)));
  return found.success ? found.data : void 0;
}
async function keepHook(store, place, known) {
  await store.remember(keyOf(place), known);
}
function hookSecretsOf(entry) {
  return { authorization: entry.authorization[0] ?? "", hmac: entry.hmac[0] ?? "" };
}
function printsOf(secrets, key) {
  const named = createNamedSecrets(new Map(Object.entries(secrets)), key);
  const print = (name) => named.fingerprint(name) ?? "";
  return { authorization: print("authorization"), hmac: print("hmac") };
}
function matchHooks(live, url, known) {
  const here = live.filter((hook) => hook.config?.url === url);
  const remembered = live.find(({ id }) => id === known?.id);
  if (remembered && !here.includes(remembered)) return { elsewhere: remembered, duplicates: here };
  const found = remembered ?? here.find(({ active }) => active === true) ?? here[0];
  if (found === void 0) return { duplicates: [] };
  return { found, duplicates: here.filter((hook) => hook !== found) };
}
function missingKinds(hook, kinds) {
  const heard = shownEvents(hook.events);
  return kinds.filter((kind) => !heard.includes(kind));
}

export {
  ok,
  wrong,
  skipped,
  createReport,
  lookAtForge,
  lookAtAccount,
  lookAtAdministrator,
  lookAtScopes,
  hookKinds,
  neededScopes,
  placesOf,
  titleOf,
  createHookAt,
  editHookAt,
  deleteHookAt,
  probeReceiver,
  localAddress,
  entryFor,
  listen,
  seeHooks,
  reachOf,
  allowAdvice,
  findingOfTry,
  tryHook,
  recallHook,
  keepHook,
  hookSecretsOf,
  printsOf,
  matchHooks,
  missingKinds,
  findApplication,
  faultOf,
  bringAboutSignIn,
  Stopped,
  createSteps,
  adviceOf
};

import {
  adviceOf,
  allowAdvice,
  createReport,
  entryFor,
  faultOf,
  findApplication,
  findingOfTry,
  hookKinds,
  listen,
  localAddress,
  lookAtAccount,
  lookAtAdministrator,
  lookAtForge,
  lookAtScopes,
  matchHooks,
  missingKinds,
  neededScopes,
  ok,
  placesOf,
  printsOf,
  probeReceiver,
  reachOf,
  recallHook,
  seeHooks,
  skipped,
  titleOf,
  tryHook,
  wrong
} from "./chunk-4KBXPNS5.mjs";
import {
  loadSettings,
  parseOperatorFile,
  secretValues
} from "./chunk-SW2RTCO5.mjs";
import "./chunk-YK7TMJ5P.mjs";
import "./chunk-F5HW2RH7.mjs";
import {
  migrations,
  openSqliteStore,
  takeWorkerLock
} from "./chunk-XJ67IZNZ.mjs";
import {
  loadFingerprintKey
} from "./chunk-W47FSTJL.mjs";
import "./chunk-Z6LLQXQ6.mjs";
import "./chunk-OK4C527H.mjs";
import {
  lackingIn
} from "./chunk-HDSWMYWU.mjs";
import {
  count
} from "./chunk-2N6KPMKU.mjs";
import {
  formatProblem
} from "./chunk-LTENOIKX.mjs";
import {
  loadRuleFiles
} from "./chunk-MMU7GUSS.mjs";
import "./chunk-QVU6XQ2A.mjs";
import "./chunk-VTTQ2TL3.mjs";
import "./chunk-PGPAQ2TF.mjs";
import {
  apiRoot,
  createClient,
  unreachable
} from "./chunk-WHXP6K3X.mjs";
import "./chunk-D4IFGYQO.mjs";
import "./chunk-OVHSHDHZ.mjs";
import {
  operations
} from "./chunk-P5GSASXZ.mjs";
import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/commands/doctor/forge-checks.ts
import { readFileSync } from "node:fs";

// src/client/forge-date.ts
import ky from "ky";
async function askForgeDate(url, now = Date.now) {
  const address = new URL(`${apiRoot(url).href}/version`);
  const before = now();
  try {
    const response = await ky(address, {
      redirect: "manual",
      throwHttpErrors: false,
      retry: 0,
      timeout: false,
      signal: AbortSignal.timeout(1e4)
    });
    await response.arrayBuffer();
    const forgeMs = Date.parse(response.headers.get("date") ?? "");
    return Number.isNaN(forgeMs) ? void 0 : { forgeMs, ourMs: (before + now()) / 2 };
  } catch (cause) {
    throw unreachable(`GET ${address.pathname}`, cause);
  }
}

// src/commands/doctor/access.ts
var ranks = ["reader", "writer", "admin"];
async function lookAtAccess({ client, account, rules }) {
  const loaded = (await rules()).flatMap((file) => file.rules);
  if (loaded.length === 0) return skipped("there are no rules of the operator");
  const repositories = [];
  const params = { username: (await account()).login };
  for await (const { full_name, archived, permissions } of client.items(operations.listStarred, { params })) {
    const held = permissions?.admin ? "admin" : permissions?.push ? "writer" : "reader";
    if (!archived) repositories.push({ full_name, held });
  }
  const gaps = repositories.flatMap((repository) => loaded.flatMap((rule) => gapOf(repository, rule)));
  const [first] = gaps;
  if (first === void 0) {
    return ok(
      `the account may do what ${count(loaded.length, "rule")} would, in ${count(repositories.length, "place")}`
    );
  }
  return wrong(
    `in ${first.repository} the account is ${first.held}, and rule ${first.rule} needs ${first.needed}${gaps.length > 1 ? `; ${gaps.length - 1} more such` : ""}`,
    "give the account that permission there, or narrow the rule by in"
  );
}
function gapOf({ full_name, held }, rule) {
  if (!rule.scopes.every((scope) => scope.matches(full_name))) return [];
  const needed = rule.steps.map(({ action }) => action.needs.access).filter((access2) => ranks.indexOf(access2) > ranks.indexOf(held)).sort((a, b) => ranks.indexOf(b) - ranks.indexOf(a))[0];
  return needed === void 0 ? [] : [{ repository: full_name, held, needed, rule: rule.name }];
}

// src/commands/doctor/forge-checks.ts
var mostSkewMs = 3e4;
function clockFinding(forgeMs, ourMs) {
  const skewMs = Math.abs(forgeMs - ourMs);
  const seconds = Math.round(skewMs / 1e3);
  if (skewMs <= mostSkewMs) return ok(`the clocks differ by ${seconds} s at most`);
  const which = forgeMs > ourMs ? "behind" : "before";
  return wrong(
    `this machine\u2019s clock is ${seconds} s ${which} the forge\u2019s`,
    "set both by NTP: what happened when, and what was missed, is told by the two"
  );
}
var forgeChecks = [
  {
    id: "forge",
    looks: "`FORGE_URL`: whether a Gitea or Forgejo answers there, and which.",
    fails: "Nobody answers, or something that is no forge.",
    remedy: "See whether the forge runs and this machine reaches it; mend `FORGE_URL`.",
    run: async ({ capabilities }) => ok((await capabilities()).version)
  },
  {
    id: "clock",
    looks: "The forge\u2019s `Date` header beside this machine\u2019s clock.",
    fails: "They differ by more than 30 s.",
    remedy: "Set both clocks by NTP.",
    after: ["forge"],
    run: async ({ forgeUrl }) => {
      const date = await askForgeDate(forgeUrl);
      return date ? clockFinding(date.forgeMs, date.ourMs) : skipped("the forge tells no date");
    }
  },
  {
    id: "token",
    looks: "Whether the forge knows the token, and whose it is.",
    fails: "It is wrong, expired or removed, or its account may not sign in.",
    remedy: "Make a new token on the forge, as the account of the bot, and give it as `FORGE_TOKEN`.",
    after: ["forge"],
    run: async ({ account }) => ok(`the forge knows it: it belongs to @${(await account()).login}`)
  },
  {
    id: "administrator",
    looks: "Whether the account is a site administrator.",
    fails: "It is, and `allow-admin` does not say that this is meant.",
    remedy: "Make an account with the rights that the rules need; or set `allow-admin: true` in the operator file.",
    after: ["token"],
    run: async ({ account, settings }) => lookAtAdministrator(await account(), settings.allowAdmin)
  },
  {
    id: "scopes",
    looks: "The scopes of the token beside those that Reeve and the actions of the operator\u2019s rules need. Where the forge lists none, each is tried by a call that can do nothing.",
    fails: "One is missing.",
    remedy: "Make a token with the scopes that it names.",
    after: ["token"],
    run: async ({ client, capabilities, rules, settings }) => {
      if (settings.forge && !("token" in settings.forge.credentials))
        return ok("a password has no scopes: it may what the account may");
      const loaded = (await rules()).flatMap((file) => file.rules);
      return lookAtScopes(client, neededScopes(loaded), await capabilities());
    }
  },
  {
    id: "served",
    looks: "The repositories that Reeve serves: starred by its account, or listed in the operator file.",
    fails: "There is none: nothing is done anywhere.",
    remedy: "Star a repository as the bot, or name some under `repositories` in the operator file.",
    after: ["token"],
    run: async (examination) => lookAtServed(examination)
  },
  {
    id: "access",
    looks: "What the account may do in the starred repositories, beside what the operator\u2019s rules need there.",
    fails: "A rule needs more: its changes would be refused.",
    remedy: "Make the account a collaborator with that permission, or narrow the rule by `in`.",
    after: ["token"],
    run: async (examination) => lookAtAccess(examination)
  },
  {
    id: "capabilities",
    looks: "What the operator\u2019s rules ask of the forge.",
    fails: "This version cannot do it, or does not send that event.",
    remedy: "Update the forge, or take that out of the rule; `reeve check` shows the line.",
    after: ["forge"],
    run: async ({ rules, capabilities }) => {
      const loaded = (await rules()).flatMap((file) => file.rules);
      const known = await capabilities();
      const lacking = lackingIn(loaded, known.capabilities, (path) => readFileSync(path, "utf8"));
      const [first] = lacking;
      if (first === void 0)
        return ok(`${count(loaded.length, "rule")} of the operator, nothing the forge cannot do`);
      return wrong(
        `${first.path}:${first.line}: ${first.message}`,
        `update the forge, or take it out (${count(lacking.length, "place")})`
      );
    }
  },
  {
    id: "sign-in",
    looks: "The OAuth2 application that people sign in to the dashboard with.",
    fails: "It is not there, or leads back to another address than `dashboard.url`.",
    remedy: "`reeve setup --dashboard URL` registers it.",
    after: ["token"],
    run: async ({ client, settings: { dashboard, signIn } }) => {
      if (dashboard === void 0) return skipped("the operator file names no dashboard");
      const fault = faultOf(await findApplication(client, signIn), dashboard, signIn);
      if (fault === void 0) return ok("the OAuth2 application is as it must be");
      return wrong(`the OAuth2 application: ${fault}`, `reeve setup --dashboard ${dashboard}`);
    }
  }
];
async function lookAtServed({ client, account, settings }) {
  const { login } = await account();
  let starred = 0;
  for await (const { archived } of client.items(operations.listStarred, { params: { username: login } })) {
    if (!archived) starred += 1;
  }
  const listed = settings.repositories.length;
  if (starred + listed === 0) {
    return wrong(
      `@${login} has starred no repository, and the operator file lists none: nothing is done anywhere`,
      `star the repositories that Reeve shall serve, as @${login}`
    );
  }
  const more = listed === 0 ? "" : `, and ${count(listed, "pattern")} in the operator file`;
  return ok(`${count(starred, "starred repository").replace(/repositorys$/, "repositories")}${more}`);
}

// src/commands/doctor/delivery-checks.ts
var deliveryChecks = [
  {
    id: "webhook-address",
    looks: "Who answers at `webhook.url`, asked from this machine.",
    fails: "Not this Reeve: nobody, another program, a proxy that does not pass /webhook on, or a Reeve with other secrets.",
    remedy: "Have the proxy pass POST /webhook to `HOST` and `PORT`; mend `webhook.url`.",
    after: ["process"],
    run: lookAtAddress
  },
  {
    id: "delivery",
    looks: "A delivery by each hook, made now: whether it comes, and passes the receiver. Hooks of organizations, accounts and the instance only with `--thorough`, since a repository is made and removed for it.",
    fails: "It does not come, or its header or signature is not what the settings say.",
    remedy: "As it says: let the forge send there, mend the address, or run `reeve setup`, which makes the hook anew.",
    after: ["token", "store", "process", "hooks"],
    run: lookAtDeliveries
  },
  {
    id: "target",
    looks: "Whether `webhook.url` is an address that forges refuse unless told (loopback, private), where no delivery came.",
    fails: "No delivery came, and it is.",
    remedy: "In the forge\u2019s app.ini set `[webhook] ALLOWED_HOST_LIST = external,loopback` (or `private`) and restart it.",
    after: ["token", "store", "process", "hooks"],
    run: lookAtTarget
  },
  {
    id: "dead",
    looks: "Deliveries in the store that were given up.",
    fails: "There are some: what they asked for was not done.",
    remedy: "`reeve redrive --all` tries them again, once the cause is mended.",
    after: ["store"],
    run: async ({ store }) => {
      const { dead, retry, settled } = await (await store()).counts();
      const text = `${count(settled, "delivery").replace(/ys$/, "ies")} settled, ${retry} waiting for a retry, ${dead} given up`;
      return dead === 0 ? ok(text) : wrong(text, "reeve redrive --all tries them again");
    }
  }
];
async function lookAtAddress({ settings, listening }) {
  const { webhook } = settings;
  const [entry] = settings.secrets;
  if (webhook === void 0 || entry === void 0) return skipped("the operator file names no webhook.url");
  const heard = await listening();
  if ("advice" in heard) return skipped(heard.text);
  const there = await probeReceiver(webhook.url, entry);
  const advice = `have ${new URL(webhook.url).host} pass POST /webhook on to ${settings.host}:${settings.port}, or mend webhook.url`;
  if (there.who === "ours") return ok(`${webhook.url} leads to this Reeve`);
  if (there.who === "other-secrets")
    return wrong(`${webhook.url} leads to a Reeve with other secrets`, advice);
  if (there.who === "throttled")
    return skipped(`${webhook.url} has refused too much to answer; try in a minute`);
  return wrong(`${webhook.url} does not lead here (${there.why})`, advice);
}
var tries = /* @__PURE__ */ new WeakMap();
function tryAll(examination) {
  const known = tries.get(examination) ?? tryEach(examination);
  tries.set(examination, known);
  return known;
}
async function tryEach(examination) {
  const { settings, test, hooks, listening } = examination;
  const heard = test === "none" ? void 0 : await listening();
  const answers = [];
  for (const look of (await hooks()).seen) {
    const { place, client, match } = look;
    const untried = (why) => answers.push({ look, tried: { came: "untried", why } });
    if (heard === void 0) untried("--no-test: no hook was made to deliver");
    else if ("advice" in heard) untried(heard.text);
    else if (!match.found?.active) untried(`${titleOf(place)} has no active hook that delivers here`);
    else if (entryFor(place, settings.secrets) === void 0)
      untried(`${titleOf(place)} has no entry of secrets`);
    else if (place.level !== "repository" && test !== "thorough") {
      untried(`the hook of ${titleOf(place)} is tried with --thorough alone: a repository is made for it`);
    } else {
      answers.push({
        look,
        tried: await tryHook({ client, place, hookId: match.found.id, listening: heard })
      });
    }
  }
  return answers;
}
async function lookAtDeliveries(examination) {
  const url = examination.settings.webhook?.url ?? "";
  const answers = await tryAll(examination);
  const findings = await Promise.all(answers.map(({ look, tried }) => findingOfTry(tried, look.place, url)));
  if (findings.length === 0) return skipped("no place with a hook can be seen");
  const worst = findings.find(({ state }) => state === "wrong");
  if (worst) return worst;
  const isAny = findings.some(({ state }) => state === "ok");
  return { state: isAny ? "ok" : "skipped", text: findings.map(({ text }) => text).join("; ") };
}
async function lookAtTarget(examination) {
  const { webhook } = examination.settings;
  if (webhook === void 0) return skipped("the operator file names no webhook.url");
  const reach = await reachOf(webhook.url);
  const { hostname } = new URL(webhook.url);
  if (reach === "unknown") return wrong(`${hostname} has no address here`, "mend webhook.url, or the name");
  if (reach === "external") return ok(`${hostname} is a public address, which every forge may send to`);
  const came = (await tryAll(examination)).map(({ tried }) => tried.came);
  if (came.includes("nothing"))
    return wrong(`${hostname} is a ${reach} address, and no delivery came`, allowAdvice(reach));
  if (came.includes("arrived") || came.includes("refused"))
    return ok(`${hostname} is a ${reach} address, and the forge sends there`);
  return skipped(
    `${hostname} is a ${reach} address: a forge sends there only where ALLOWED_HOST_LIST says so`
  );
}

// src/commands/doctor/hook-checks.ts
var noWebhook = "the operator file says nothing of hooks (webhook): reeve setup makes them, and they can be looked at";
var again = "run reeve setup again: it mends the hooks";
var hookChecks = [
  {
    id: "hooks",
    looks: "The places that the operator file names under `webhook`, and which of them the token may see. Those it may not see are told, and passed over.",
    fails: "It names an address and no place: nothing is heard.",
    remedy: "`reeve setup` with `--repository`, `--organization`, `--user` or `--system`. To look at hidden ones, give `SETUP_TOKEN`.",
    after: ["token", "store"],
    run: async ({ settings, hooks }) => {
      if (settings.webhook === void 0) return skipped(noWebhook);
      const { seen, hidden } = await hooks();
      if (seen.length + hidden.length === 0) {
        return wrong("the operator file names no place for a hook", "reeve setup --repository owner/name");
      }
      const titles = seen.map(({ place }) => titleOf(place)).join(", ");
      if (hidden.length === 0) return ok(`the hooks of ${titles} can be seen`);
      return skipped(
        `the hooks of ${count(hidden.length, "place")} cannot be seen without SETUP_TOKEN of somebody who may: ${hidden.join("; ")}${titles && `; those of ${titles} can`}`
      );
    }
  },
  {
    id: "hook-missing",
    looks: "Whether each place has a hook to `webhook.url`.",
    fails: "One has none: nothing is heard from there.",
    remedy: "`reeve setup` makes it.",
    after: ["token", "store", "hooks"],
    run: ofHooks("each place has its hook", ({ match, live }, url) => {
      if (match.found ?? match.elsewhere) return [];
      const others = live.map((hook) => hook.config?.url).filter((other) => other?.endsWith("/webhook"));
      return [`has no hook to ${url}${others.length > 0 ? ` (but to ${others.join(", ")})` : ""}`];
    })
  },
  {
    id: "hook-elsewhere",
    looks: "Whether the hook that setup made still delivers to `webhook.url`.",
    fails: "Somebody pointed it elsewhere, or the address of Reeve changed.",
    remedy: "`reeve setup` points it here; `--webhook URL` gives Reeve\u2019s new address.",
    after: ["token", "store", "hooks"],
    run: ofHooks(
      "hooks point here",
      ({ match }) => match.elsewhere ? [`has a hook that now points to ${match.elsewhere.config?.url}`] : []
    )
  },
  {
    id: "hook-inactive",
    looks: "Whether the hooks are active.",
    fails: "One was switched off.",
    remedy: "`reeve setup` switches it on.",
    after: ["token", "store", "hooks"],
    run: ofHooks(
      "hooks are active",
      ({ match }) => match.found && !match.found.active ? ["has a hook that is switched off"] : []
    )
  },
  {
    id: "hook-duplicate",
    looks: "Whether more than one hook of a place delivers here.",
    fails: "Each event comes several times.",
    remedy: "`reeve setup` keeps one.",
    after: ["token", "store", "hooks"],
    run: ofHooks("each place has one", ({ match }) => {
      const here = match.duplicates.length + (match.found ? 1 : 0);
      return here > 1 ? [`has ${here} hooks that deliver here`] : [];
    })
  },
  {
    id: "hook-events",
    looks: "What the hooks hear, beside what the operator\u2019s rules listen to.",
    fails: "An event that a rule waits for never comes.",
    remedy: "`reeve setup` has the hooks hear it.",
    after: ["token", "store", "hooks"],
    run: async (examination) => {
      const { capabilities } = await examination.capabilities();
      const rules = (await examination.rules()).flatMap((file) => file.rules);
      const kinds = hookKinds(examination.settings.webhook?.events ?? "all", rules, capabilities);
      const look = ofHooks("hooks hear all that they shall", ({ match }) => {
        const missing = match.found ? missingKinds(match.found, kinds) : [];
        return missing.length > 0 ? [`has a hook that does not hear ${missing.join(", ")}`] : [];
      });
      return look(examination);
    }
  },
  {
    id: "hook-secret",
    looks: "Fingerprints of the header and the secret that setup gave each hook, beside those of the settings: no forge shows the values.",
    fails: "The settings have other values now: every delivery would be refused.",
    remedy: "`reeve setup` gives the hooks the values of the settings.",
    after: ["token", "store", "hooks"],
    run: lookAtSecrets
  },
  ...deliveryChecks
];
function ofHooks(right, faults) {
  return async ({ hooks, settings }) => {
    if (settings.webhook === void 0) return skipped(noWebhook);
    const { seen } = await hooks();
    if (seen.length === 0) return skipped("no place with a hook can be seen");
    const found = seen.flatMap(
      (look) => faults(look, settings.webhook?.url ?? "").map((fault) => `${titleOf(look.place)} ${fault}`)
    );
    return found.length === 0 ? ok(right) : wrong(found.join("; "), again);
  };
}
async function lookAtSecrets(examination) {
  const { secrets, data } = examination.settings;
  const key = await loadFingerprintKey(data);
  const unknown = [];
  const look = ofHooks("hooks send what the settings say", ({ place, match, known }) => {
    if (match.found === void 0) return [];
    const entry = entryFor(place, secrets);
    if (entry === void 0) return ["has no entry of secrets that may speak for all of it"];
    if (known?.id !== match.found.id) unknown.push(titleOf(place));
    else if (!isLive(known, entry, key)) return ["has a hook that was made with other values"];
    return [];
  });
  const finding = await look(examination);
  if (finding.state !== "ok" || unknown.length === 0) return finding;
  return skipped(`${unknown.join(", ")}: not made by setup, so that only a delivery shows what it sends`);
}
function isLive(known, entry, key) {
  const isAmong = (kind) => {
    const values = entry[kind].length === 0 ? [""] : entry[kind];
    return values.some((value) => printsOf({ authorization: value, hmac: value }, key)[kind] === known[kind]);
  };
  return isAmong("authorization") && isAmong("hmac");
}

// src/commands/doctor/machine-checks.ts
import { access, constants, mkdtemp, rm, stat as stat2, statfs } from "node:fs/promises";
import { join as join2 } from "node:path";
import { DatabaseSync } from "node:sqlite";

// src/commands/doctor/file-modes.ts
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
var privateFiles = ["reeve.db", "reeve.db-wal", "fingerprint.key", "dashboard.password"];
async function openFiles({ environment, envFile, settings }) {
  const named = Object.entries(environment).flatMap(
    ([name, path]) => /^(FORGE|WEBHOOK|SETUP|OAUTH2|REEVE_SECRET)_\w+_FILE$/.test(name) && path ? [path] : []
  );
  const config = environment.REEVE_CONFIG;
  const own = [
    ...envFile === void 0 ? [] : [envFile],
    ...config && await holdsSecrets(config) ? [config] : [],
    ...privateFiles.map((name) => join(settings.data, name))
  ];
  const open = [
    ...await Promise.all(own.map(async (path) => await modeOf(path) & 63 ? [path] : [])),
    ...await Promise.all(named.map(async (path) => await modeOf(path) & 7 ? [path] : []))
  ];
  return [...new Set(open.flat())];
}
async function modeOf(path) {
  return (await stat(path).catch(() => void 0))?.mode ?? 0;
}
async function holdsSecrets(path) {
  const { file } = parseOperatorFile(path, await readFile(path, "utf8"));
  const isInline = (file?.secrets ?? []).some((entry) => entry.authorization ?? entry.hmac);
  return isInline || Object.values(file?.["named-secrets"] ?? {}).some(({ value }) => value !== void 0);
}

// src/commands/doctor/weak-secrets.ts
var placeholders = /change.?me|replace.?me|placeholder|example|password|passw0rd|your.?(own|secret|token)|12345|qwertz?y?/i;
var leastDifferent = 10;
function weaknessOf(entry) {
  const faults = [];
  for (const kind of ["authorization", "hmac"]) {
    for (const [place, value] of entry[kind].entries()) {
      const what = `${kind} value ${place + 1} of "${entry.name}"`;
      const own = value.replace(/^(Bearer|Basic|token) /i, "");
      if (placeholders.test(own)) faults.push(`${what} looks like an example`);
      else if (new Set(own).size < leastDifferent) faults.push(`${what} has few different letters`);
      else if (isDouble(own, entry, kind)) faults.push(`${what} is used for header and signature`);
    }
  }
  return faults;
}
function isDouble(own, entry, kind) {
  return kind === "authorization" && entry.hmac.some((value) => value === own);
}

// src/commands/doctor/machine-checks.ts
var leastFreeBytes = 200 * 2 ** 20;
function nodeFinding(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > 22 || major === 22 && minor >= 18) return ok(`Node ${version}`);
  return wrong(`Node ${version} is too old`, "install Node 22.18 or later");
}
function addressOf(host) {
  return `http://${host.includes(":") ? `[${host}]` : host}`;
}
var machineChecks = [
  {
    id: "node",
    looks: "The version of Node.",
    fails: "It is older than 22.18.",
    remedy: "Install Node 22.18 or later, or use the one that comes with `npm ci`.",
    run: async () => nodeFinding(process.versions.node)
  },
  {
    id: "secret-strength",
    looks: "The webhook secrets: how many letters differ, words of examples, the same value twice.",
    fails: "A value could be guessed, or header and signature share one.",
    remedy: "`reeve setup --rotate` makes 32 random bytes each.",
    run: async ({ settings }) => {
      const faults = settings.secrets.flatMap(weaknessOf);
      if (faults.length === 0)
        return ok(
          `${count(settings.secrets.length, "entry").replace(/entrys$/, "entries")} of webhook secrets, none that can be guessed`
        );
      return wrong(faults.join("; "), "reeve setup --rotate makes 32 random bytes each");
    }
  },
  {
    id: "file-modes",
    looks: "Who may read the env file, files of secrets, an operator file with secrets in it, the store, its key and the password of the dashboard.",
    fails: "Somebody else on this machine may.",
    remedy: "`chmod 600 FILE`.",
    run: async (examination) => {
      const open = await openFiles(examination);
      if (open.length === 0) return ok("files with secrets are readable by their owner alone");
      return wrong(`others on this machine may read ${open.join(", ")}`, `chmod 600 ${open.join(" ")}`);
    }
  },
  {
    id: "bind",
    looks: "`HOST`, and whether `webhook.url` begins with https.",
    fails: "Reeve listens beyond this machine, and the forge sends secrets to it in clear: no TLS proxy stands before it.",
    remedy: "Set `HOST=127.0.0.1` behind a proxy with TLS, and `webhook.url` to its https address.",
    run: async ({ settings: { host, webhook } }) => {
      const reach = await reachOf(addressOf(host));
      if (reach === "loopback") return ok(`listens on ${host}, which this machine alone reaches`);
      if (webhook?.url.startsWith("https:"))
        return ok(`listens on ${host}; the forge comes by ${webhook.url}`);
      return wrong(
        `listens on ${host}, and deliveries come in clear: header and payload can be read on the way`,
        "set HOST=127.0.0.1 behind a proxy with TLS, and webhook.url in the operator file to its https address"
      );
    }
  },
  {
    id: "forge-tls",
    looks: "`FORGE_URL`.",
    fails: "The token goes to a public address in clear (http).",
    remedy: "Use the https address of the forge.",
    run: async ({ forgeUrl }) => {
      if (forgeUrl.startsWith("https:")) return ok("the token goes over https");
      const reach = await reachOf(forgeUrl);
      if (reach !== "external") return ok(`the token goes over http, to a ${reach} address`);
      return wrong(
        `the token goes to ${new URL(forgeUrl).host} in clear`,
        "set FORGE_URL to the https address"
      );
    }
  },
  {
    id: "dashboard-tls",
    looks: "`dashboard.url` of the operator file, and `HOST`.",
    fails: "People send the password, or the session of their forge account, to another machine in clear (http).",
    remedy: "Put a proxy with TLS before Reeve, and its https address into `dashboard.url`.",
    run: async ({ settings: { dashboard, host, webhook } }) => {
      const advice = "put a proxy with TLS before Reeve, and its https address into dashboard.url of the operator file";
      if (dashboard?.startsWith("https:")) return ok("people reach the dashboard over https");
      if (dashboard !== void 0 && await reachOf(dashboard) !== "loopback")
        return wrong(`passwords and sessions go to ${new URL(dashboard).host} in clear`, advice);
      const reach = await reachOf(addressOf(host));
      if (reach === "loopback") return ok("the dashboard is for this machine alone");
      if (webhook?.url.startsWith("https:"))
        return ok(`the dashboard is shown on ${host}, behind the proxy of ${webhook.url}`);
      return wrong(`whoever reaches ${host} is asked for the password of the dashboard in clear`, advice);
    }
  },
  {
    id: "data-folder",
    looks: "`REEVE_DATA`: whether it can be written, and how much is free there.",
    fails: "It cannot be written, or less than 200 MB or 5 % of the disk is free, whichever is less.",
    remedy: "Make the folder writable for Reeve\u2019s user; free some space, or move the folder.",
    run: lookAtFolder
  },
  {
    id: "store",
    looks: "The schema version of the store.",
    fails: "A newer Reeve has been there, or the file is no store.",
    remedy: "Start the newer Reeve, or go back to a copy of `REEVE_DATA` from before.",
    after: ["data-folder"],
    run: lookAtStore
  },
  {
    id: "process",
    looks: "Which process has the store, and who listens on `HOST` and `PORT`.",
    fails: "A second process has the store, another program has the port, or a Reeve with other secrets runs there.",
    remedy: "End the one that is too many; start Reeve anew with these settings.",
    after: ["store"],
    run: lookAtProcess
  },
  {
    id: "rules",
    looks: "The operator\u2019s rule files (`REEVE_RULES`).",
    fails: "A file has problems, and is therefore not in force; or the folder is not there.",
    remedy: "`reeve check` lists every problem with its place.",
    run: async ({ settings, rules }) => {
      if (settings.rules === void 0)
        return skipped("REEVE_RULES is not set: there are only rules of repositories");
      const files = await rules();
      const problems = files.flatMap((file) => file.problems);
      const [first] = problems;
      if (first === void 0) return ok(`${count(files.length, "file")} in ${settings.rules}, no problems`);
      const [line = ""] = formatProblem(first).split("\n");
      return wrong(`${count(problems.length, "problem")}: ${line}`, `reeve check ${settings.rules}`);
    }
  }
];
async function lookAtFolder({ settings: { data } }) {
  const advice = `make ${data} writable for the user that Reeve runs as`;
  if (!await stat2(data).catch(() => void 0)) {
    return wrong(`${data} is not there`, "run reeve setup, or give the folder of reeve serve as REEVE_DATA");
  }
  try {
    await access(data, constants.W_OK);
    await rm(await mkdtemp(join2(data, "doctor-")), { recursive: true });
  } catch (error) {
    return wrong(`${data} cannot be written (${error instanceof Error ? error.message : error})`, advice);
  }
  const space = await statfs(data);
  return spaceFinding(data, space.bavail * space.bsize, space.blocks * space.bsize);
}
function spaceFinding(data, freeBytes, allBytes) {
  const text = `${data} can be written; ${Math.floor(freeBytes / 2 ** 20)} MB are free`;
  if (freeBytes >= Math.min(leastFreeBytes, 0.05 * allBytes)) return ok(text);
  return wrong(text, "free some space there: a delivery that cannot be stored is lost");
}
async function lookAtStore({ settings: { data } }) {
  const path = join2(data, "reeve.db");
  if (!await stat2(path).catch(() => void 0)) return ok("there is none yet; reeve serve makes it");
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const version = Number(database.prepare("PRAGMA user_version").get()?.user_version);
      const known = migrations.length;
      if (version > known)
        return wrong(`the store has schema ${version}, this Reeve knows ${known}`, "start the newer Reeve");
      return ok(
        version === known ? `schema ${version}` : `schema ${version}; the next start brings it to ${known}`
      );
    } finally {
      database.close();
    }
  } catch (error) {
    return wrong(
      `${path} is no store (${error instanceof Error ? error.message : error})`,
      "go back to a copy of REEVE_DATA, or move the file away: what was missed is found by reading the forge"
    );
  }
}
async function lookAtProcess({ settings }) {
  const where = `${settings.host}:${settings.port}`;
  const [entry] = settings.secrets;
  if (entry === void 0) return skipped("no webhook secret is configured");
  const there = await probeReceiver(localAddress(settings.host, settings.port), entry);
  if (there.who === "ours") return ok(`Reeve runs on ${where} with these secrets`);
  if (there.who === "throttled")
    return skipped(`the Reeve on ${where} has refused too much to answer; try in a minute`);
  if (there.who === "other-secrets") {
    return wrong(`the Reeve on ${where} has other webhook secrets`, "start it anew with these settings");
  }
  if (there.who === "stranger") {
    return wrong(
      `another program listens on ${where} (${there.why})`,
      "set PORT to a free one, or end that program"
    );
  }
  try {
    takeWorkerLock(join2(settings.data, "reeve.db")).release();
    return ok(`no Reeve runs on ${where} now`);
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error;
    return wrong(
      `${error.message}; and nothing answers on ${where}`,
      "end the other one, or give its HOST and PORT"
    );
  }
}

// src/commands/doctor/checks.ts
var checks = [...machineChecks, ...forgeChecks, ...hookChecks];

// src/commands/doctor/examination.ts
import { join as join3 } from "node:path";

// src/commands/doctor/hook-looks.ts
async function lookAtHooks(signed, { webhook }, store) {
  const seen = [];
  const hidden = [];
  for (const place of webhook ? placesOf(webhook) : []) {
    const known = await recallHook(store, place);
    try {
      const { client, live } = await seeHooks(signed, place);
      seen.push({ place, client, live, known, match: matchHooks(live, webhook?.url ?? "", known) });
    } catch (error) {
      if (!(error instanceof ReeveError) || error.status !== 403 && error.status !== 404) throw error;
      hidden.push(`${titleOf(place)} (${messageOf(error)})`);
    }
  }
  return { seen, hidden };
}

// src/commands/doctor/examination.ts
function examine(given) {
  const { settings } = given;
  if (settings.forge === void 0)
    throw new ReeveError(
      "usage",
      "no forge is connected: set FORGE_URL, name --settings, or run reeve setup"
    );
  const client = createClient(settings.forge);
  const { url } = settings.forge;
  const closing = [];
  const account = once(async () => (await lookAtAccount(client)).value);
  const store = once(async () => {
    const opened = await openSqliteStore({ path: join3(settings.data, "reeve.db"), role: "reader" });
    closing.push(() => opened.close());
    return opened;
  });
  return {
    ...given,
    forgeUrl: url,
    client,
    capabilities: once(async () => {
      const { finding, value } = await lookAtForge(client, url);
      return { version: finding.text, capabilities: value };
    }),
    account,
    rules: once(async () => settings.rules === void 0 ? [] : loadRuleFiles([settings.rules])),
    store,
    hooks: once(async () => {
      const signed = [{ client, login: (await account()).login }];
      if (settings.setupToken !== void 0) {
        const setupClient = createClient({ url, credentials: { token: settings.setupToken } });
        signed.unshift({ client: setupClient, login: (await lookAtAccount(setupClient)).value.login });
      }
      return lookAtHooks(signed, settings, await store());
    }),
    listening: once(async () => {
      const [entry] = settings.secrets;
      if (entry === void 0) throw new ReeveError("settings", "no webhook secret is configured");
      const heard = await listen(settings, entry);
      if ("close" in heard) closing.push(() => heard.close());
      return heard;
    }),
    async close() {
      for (const end of closing.reverse()) await end();
    }
  };
}
function once(ask) {
  let asked;
  return () => {
    asked ??= ask();
    return asked;
  };
}

// src/commands/doctor.ts
async function doctor(options, environment, terminal) {
  let secrets = [];
  const report = createReport(terminal, { json: options.json ?? false, secrets: () => secrets });
  const settings = await readSettings(environment, report);
  let status = settings === void 0 ? 2 : 0;
  if (settings !== void 0) {
    secrets = secretValues(settings);
    const test = options.test === false ? "none" : options.thorough ? "thorough" : "repositories";
    const examination = examine({ environment, envFile: options.settings, settings, test });
    try {
      status = await runAll(checks, examination, report);
    } finally {
      await examination.close();
    }
  }
  const faults = report.entries.filter(({ state }) => state === "wrong").length;
  if (options.json) terminal.out(JSON.stringify({ ok: faults === 0, checks: report.entries }));
  else if (faults === 0) terminal.out(terminal.style("green", "Nothing is wrong."));
  else terminal.out(terminal.style("red", `${count(faults, "thing")} ${faults === 1 ? "is" : "are"} wrong.`));
  return status;
}
async function readSettings(environment, report) {
  try {
    const settings = await loadSettings(environment);
    report.add("settings", { state: "ok", text: "the settings can be used" });
    return settings;
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error;
    report.add(
      "settings",
      wrong(messageOf(error), "mend these; docs/reference/settings.md tells what each means")
    );
    return void 0;
  }
}
async function runAll(table, examination, report) {
  let status = 0;
  const blocked = /* @__PURE__ */ new Set();
  for (const check of table) {
    const before = check.after?.find((id) => blocked.has(id));
    if (before) {
      blocked.add(check.id);
      report.add(check.id, { state: "skipped", text: `not looked at: ${before} comes first` });
      continue;
    }
    try {
      const finding = await check.run(examination);
      report.add(check.id, finding);
      if (finding.state !== "wrong") continue;
      blocked.add(check.id);
      status ||= 1;
    } catch (error) {
      if (!(error instanceof ReeveError)) throw error;
      blocked.add(check.id);
      report.add(check.id, wrong(messageOf(error), adviceOf(error)));
      status = error.exit === 3 ? 3 : status || 1;
    }
  }
  return status;
}
export {
  doctor
};

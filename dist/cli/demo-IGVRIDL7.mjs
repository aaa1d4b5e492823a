import {
  passwordPath,
  startServer
} from "./chunk-LNAWKJL2.mjs";
import "./chunk-FMNVGFWC.mjs";
import "./chunk-4FRPHDSK.mjs";
import "./chunk-OW5Z6KEA.mjs";
import "./chunk-IIAQHJFW.mjs";
import "./chunk-ZICOA7TD.mjs";
import "./chunk-4PU7AWH5.mjs";
import "./chunk-QIWTVMRL.mjs";
import "./chunk-PWAXHV5D.mjs";
import {
  packageRoot
} from "./chunk-2FKHOA73.mjs";
import "./chunk-2YZQZDXR.mjs";
import "./chunk-F5HW2RH7.mjs";
import "./chunk-XJ67IZNZ.mjs";
import "./chunk-W47FSTJL.mjs";
import "./chunk-Z6LLQXQ6.mjs";
import {
  createForge
} from "./chunk-H3FGY5PF.mjs";
import "./chunk-3VFWE24E.mjs";
import "./chunk-PIDYP5MN.mjs";
import {
  formatProblems
} from "./chunk-LTENOIKX.mjs";
import {
  loadRuleFile,
  registry
} from "./chunk-MMU7GUSS.mjs";
import "./chunk-QVU6XQ2A.mjs";
import "./chunk-VTTQ2TL3.mjs";
import "./chunk-PGPAQ2TF.mjs";
import {
  createClient
} from "./chunk-WHXP6K3X.mjs";
import "./chunk-D4IFGYQO.mjs";
import {
  createLog
} from "./chunk-OVHSHDHZ.mjs";
import {
  operations
} from "./chunk-P5GSASXZ.mjs";
import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/demo/demo.ts
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join as join4, relative } from "node:path";

// src/demo/env-file.ts
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { chmod, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
var names = {
  rootPassword: "DEMO_ROOT_PASSWORD",
  adaPassword: "DEMO_ADA_PASSWORD",
  reevePassword: "DEMO_BOT_PASSWORD",
  reeveToken: "DEMO_BOT_TOKEN",
  authorization: "DEMO_AUTHORIZATION",
  secret: "DEMO_SECRET"
};
function demoFile(data) {
  return join(data, "demo.env");
}
function readDemoSecrets(data) {
  const path = demoFile(data);
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
  const known = new Map(
    lines.map((line) => [line.slice(0, line.indexOf("=")), unquote(line.slice(line.indexOf("=") + 1))])
  );
  const secrets = Object.entries(names).map(([member, name]) => [
    member,
    known.get(name) ?? makeSecret(member)
  ]);
  return Object.fromEntries(secrets);
}
function makeSecret(member) {
  if (member === "reeveToken") return "";
  const random = randomBytes(24).toString("hex");
  return member === "authorization" ? `Bearer ${random}` : random;
}
function unquote(text) {
  return text.replace(/^'(.*)'$/, "$1");
}
async function writeDemoFile(data, secrets, urls) {
  const path = demoFile(data);
  const lines = [
    "# Made by `reeve serve` without FORGE_URL. Load it into a shell with:  . PATH/demo.env",
    `DEMO_URL='${urls.forge}'`,
    `DEMO_REPOSITORY='${urls.forge}/acme/demo.git'`,
    `DEMO_WEBHOOK_URL='${urls.webhook}'`,
    "DEMO_ROOT='root'",
    "DEMO_ADA='ada'",
    "DEMO_BOT='reeve'",
    ...Object.entries(names).map(([member, name]) => `${name}='${secrets[member]}'`)
  ];
  await writeFile(`${path}.new`, `${lines.join("\n")}
`, { mode: 384 });
  await chmod(`${path}.new`, 384);
  await rename(`${path}.new`, path);
  return path;
}

// src/demo/repository.ts
var at = { owner: "acme", repo: "demo" };
var labels = [
  { name: "area/docs", color: "0075ca" },
  { name: "area/code", color: "1d76db" },
  { name: "size/L", color: "d93f0b" },
  { name: "help wanted", color: "008672" }
];
async function findOrCreatePeople(url, secrets) {
  const as = (user, password) => createClient({ url, credentials: { user, password } });
  const people = {
    root: as("root", secrets.rootPassword),
    ada: as("ada", secrets.adaPassword),
    reeve: as("reeve", secrets.reevePassword)
  };
  for (const [username, password] of [
    ["ada", secrets.adaPassword],
    ["reeve", secrets.reevePassword]
  ]) {
    await findOr(
      people.root,
      operations.getUser,
      { params: { username } },
      () => people.root.call(operations.createUser, {
        body: { username, password, email: `${username}@example.org`, must_change_password: false }
      })
    );
    await people[username].call(operations.getSelf, {}).catch((cause) => {
      throw new ReeveError(
        "settings",
        `the demo's account ${username} has another password than demo.env says: remove the data folder and start again`,
        { cause }
      );
    });
  }
  return people;
}
var tokenName = "reeve-demo";
var tokenScopes = ["read:user", "read:repository", "write:issue", "read:organization"];
async function findOrCreateToken(url, people, known) {
  if (known !== "") {
    const works = await createClient({ url, credentials: { token: known } }).call(operations.getSelf, {}).catch(() => void 0);
    if (works) return known;
  }
  const params = { username: "reeve" };
  for await (const token of people.reeve.items(operations.listTokens, { params })) {
    if (token.name !== tokenName) continue;
    await people.reeve.call(operations.deleteToken, { params: { ...params, token: tokenName } });
  }
  const made = await people.reeve.call(operations.createToken, {
    params,
    body: { name: tokenName, scopes: tokenScopes }
  });
  return made.sha1 ?? "";
}
async function findOrCreateRepository(people) {
  const { root } = people;
  await findOr(
    root,
    operations.getOrganization,
    { params: { org: at.owner } },
    () => root.call(operations.createOrganization, { body: { username: at.owner, full_name: "Acme" } })
  );
  await findOr(
    root,
    operations.getRepository,
    { params: at },
    () => root.call(operations.createOrganizationRepository, {
      params: { org: at.owner },
      body: {
        name: at.repo,
        auto_init: true,
        default_branch: "main",
        description: "What Reeve is shown with."
      }
    })
  );
  const known = /* @__PURE__ */ new Set();
  for await (const label of root.items(operations.listLabels, { params: at })) known.add(label.name);
  for (const label of labels) {
    if (!known.has(label.name)) await root.call(operations.createLabel, { params: at, body: label });
  }
  for (const collaborator of ["ada", "reeve"]) {
    await root.call(operations.putCollaborator, {
      params: { ...at, collaborator },
      body: { permission: "write" }
    });
  }
  await people.reeve.call(operations.star, { params: at });
  return root.call(operations.getRepository, { params: at });
}
async function pushRules(root, text) {
  const params = { ...at, filepath: ".reeve.yml" };
  const content = Buffer.from(text).toString("base64");
  const live = await root.call(operations.getContents, { params }).catch((error) => {
    if (error instanceof ReeveError && error.code === "forge-not-found") return void 0;
    throw error;
  });
  if (live === void 0) {
    await root.call(operations.createFile, { params, body: { content, message: "Rules for labels" } });
    return "made";
  }
  if (Array.isArray(live) || live.content === content) return "there";
  const body = { content, message: "Change the rules for labels", sha: live.sha ?? "" };
  await root.call(operations.updateFile, { params, body });
  return "changed";
}
async function findOrCreateHook(root, url, secrets) {
  const events = ["push", "create", "delete", "issues", "issue_comment", "pull_request", "repository"];
  const rest = { events, active: true, branch_filter: "*", authorization_header: secrets.authorization };
  for await (const hook2 of root.items(operations.listHooks, { params: at })) {
    if (!hook2.config?.url?.endsWith("/webhook")) continue;
    await root.call(operations.editHook, {
      params: { ...at, id: hook2.id },
      body: { ...rest, config: { url, content_type: "json" } }
    });
    return hook2.id;
  }
  const config = { url, content_type: "json", secret: secrets.secret };
  const hook = await root.call(operations.createHook, {
    params: at,
    body: { type: "gitea", config, ...rest }
  });
  return hook.id;
}
async function findOr(client, get, input, create) {
  try {
    await client.send(get, input);
  } catch (error) {
    if (!(error instanceof ReeveError) || error.code !== "forge-not-found") throw error;
    await create();
  }
}

// src/demo/scenario.ts
import { join as join3 } from "node:path";

// src/demo/git.ts
import { execFile } from "node:child_process";
import { mkdir, writeFile as writeFile2 } from "node:fs/promises";
import { dirname, join as join2 } from "node:path";
import { promisify } from "node:util";
var execute = promisify(execFile);
async function cloneAs(options) {
  const { url, folder, person } = options;
  const basic = Buffer.from(`${person.name}:${person.password}`).toString("base64");
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: person.name,
    GIT_AUTHOR_EMAIL: `${person.name}@example.org`,
    GIT_COMMITTER_NAME: person.name,
    GIT_COMMITTER_EMAIL: `${person.name}@example.org`,
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "http.extraHeader",
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic}`
  };
  const git = async (...args) => {
    try {
      const { stdout } = await execute("git", args, { cwd: folder, env, timeout: 3e4 });
      return stdout.trim();
    } catch (cause) {
      const said = typeof cause === "object" && cause !== null && "stderr" in cause ? String(cause.stderr) : messageOf(cause);
      throw new ReeveError("git-failed", `git ${args[0]}: ${said.trim()}`, { cause });
    }
  };
  await mkdir(folder, { recursive: true });
  await git("clone", "--quiet", url, ".");
  return {
    async switchTo(branch2) {
      const known = await git("ls-remote", "--heads", "origin", branch2);
      await (known === "" ? git("switch", "--quiet", "-c", branch2) : git("switch", "--quiet", branch2));
    },
    async commit(message, files) {
      for (const [path, content] of Object.entries(files)) {
        if (content === null) {
          await git("rm", "--quiet", "--", path);
          continue;
        }
        await mkdir(dirname(join2(folder, path)), { recursive: true });
        await writeFile2(join2(folder, path), content);
        await git("add", "--", path);
      }
      if (await git("status", "--porcelain") !== "") await git("commit", "--quiet", "-m", message);
      await git("push", "--quiet", "origin", "HEAD");
      return git("rev-parse", "HEAD");
    }
  };
}

// src/demo/scenario.ts
var branch = "ada/handbook";
var title = "Write the handbook";
var handbook = [
  "# Handbook",
  "",
  ...Array.from({ length: 12 }, (_, line) => `${line + 1}. Ask the reeve.`),
  ""
].join("\n");
var program = Array.from({ length: 60 }, (_, line) => `export const rule${line} = ${line};`).join("\n");
async function playScenario(options) {
  const { people, say, waitForRun } = options;
  const known = await findPull(people.ada);
  if (known) {
    say("pull", `#${known.number} "${known.title}" is there already: ${known.html_url}`);
    say("labels", await labelsOf(people.ada, known.number));
    return;
  }
  const checkout = await cloneAs({
    url: options.cloneUrl,
    folder: join3(options.folder, "ada"),
    person: options.ada
  });
  await checkout.switchTo(branch);
  const first = await checkout.commit("Write the handbook", { "docs/handbook.md": handbook });
  say("push", `ada pushes ${branch} at ${first.slice(0, 10)}: docs/handbook.md`);
  const wanted = await labelId(people.root, "help wanted");
  let after = Date.now();
  const pull = await people.ada.call(operations.createPull, {
    params: at,
    body: { title, head: branch, base: "main", labels: [wanted], body: "Somebody has to." }
  });
  say("pull", `#${pull.number} "${pull.title}" by ada, labelled by her: help wanted   ${pull.html_url}`);
  await follow("opened", pull.number, after, ["help wanted"]);
  const before = await namesOf(people.ada, pull.number);
  after = Date.now();
  const second = await checkout.commit("Write a program instead", {
    "docs/handbook.md": null,
    "src/rules.js": program
  });
  say(
    "push",
    `ada pushes ${branch} at ${second.slice(0, 10)}: no docs/handbook.md any more, but src/rules.js with 60 lines`
  );
  await follow("synchronized", pull.number, after, before);
  async function follow(activity, index, since, labelsBefore) {
    const run = await waitForRun({ activity, index, after: since });
    const delivery = await options.store.readDelivery(run.trigger.delivery ?? "");
    say(
      "delivery",
      `${run.trigger.kind}.${activity} accepted as ${run.trigger.delivery}, ${delivery?.bytes ?? 0} bytes, vouched for by "${delivery?.entry}"`
    );
    sayRun(run, say);
    const labelsAfter = await namesOf(people.ada, index);
    say("labels", `before: ${show(labelsBefore)}   after: ${show(labelsAfter)}`);
    assertDone(run, labelsAfter);
  }
}
function sayRun(run, say) {
  for (const rule of run.rules) {
    const name = rule.rule.slice(rule.rule.lastIndexOf("#") + 1);
    const place = `${rule.source}:${rule.line}${rule.commit ? ` at ${rule.commit.slice(0, 10)}` : ""}`;
    const reason = rule.reason === void 0 ? "" : `: ${rule.reason}`;
    say("rule", `${name} ${rule.verdict}${reason}   (${place})`);
  }
  const requests = new Map(run.changes.map((change) => [JSON.stringify(change.input), change]));
  for (const { method, path, input } of requests.values()) {
    const body = input?.body;
    say(
      "request",
      `${method} ${path} ${JSON.stringify(body ?? {})}   (${run.requests} requests in ${run.ms} ms)`
    );
  }
}
function assertDone(run, labels2) {
  const failed = run.rules.find(({ verdict }) => verdict === "failed");
  if (failed) throw new ReeveError("rules-broken", `${failed.rule} failed: ${failed.reason}`);
  if (run.changes.length === 0) {
    throw new ReeveError(
      "rules-broken",
      "no rule asked for a change of labels here: look at rules/demo/labels.yml"
    );
  }
  for (const { change, status, error } of run.outcomes) {
    if (status === "failed")
      throw new ReeveError("rules-broken", `${change} was not applied: ${error ?? status}`);
  }
  for (const { target, value } of run.changes) {
    const name = target.slice("label:".length);
    if (target.startsWith("label:") && labels2.includes(name) !== value) {
      throw new ReeveError("rules-broken", `the label "${name}" should ${value ? "" : "not "}be there`);
    }
  }
}
async function findPull(client) {
  for await (const pull of client.items(operations.listPulls, { params: at, query: { state: "all" } })) {
    if (pull.title === title) return pull;
  }
  return void 0;
}
async function labelId(client, name) {
  for await (const label of client.items(operations.listLabels, { params: at }))
    if (label.name === name) return label.id;
  throw new ReeveError("internal", `the demo's repository has no label "${name}"`);
}
async function namesOf(client, index) {
  const labels2 = await client.call(operations.listIssueLabels, { params: { ...at, index } });
  return labels2.map((label) => label.name);
}
async function labelsOf(client, index) {
  return show(await namesOf(client, index));
}
function show(names2) {
  return names2.length === 0 ? "(none)" : names2.join(", ");
}

// src/demo/demo.ts
var ruleFile = join4(packageRoot, "rules/demo/labels.yml");
async function runDemo(options, settings, terminal) {
  const say = (about, text) => terminal.out(`${terminal.style("bold", about.padEnd(10))} ${text}`);
  const rules = await readDemoRules();
  const data = options.once ? await mkdtemp(join4(tmpdir(), "reeve-demo-")) : settings.data;
  const scratch = await mkdtemp(join4(tmpdir(), "reeve-clone-"));
  const closing = [() => rm(scratch, { recursive: true, force: true })];
  if (options.once) closing.unshift(() => rm(data, { recursive: true, force: true }));
  try {
    const secrets = readDemoSecrets(data);
    const level = settings.logLevel === "info" ? "warn" : settings.logLevel;
    const log = createLog({ level, secrets: Object.values(secrets) });
    const forge = await createForge({ clock: () => /* @__PURE__ */ new Date(), data: join4(data, "forge"), log });
    closing.push(() => forge.close());
    await forge.createAdministrator({ name: "root", password: secrets.rootPassword });
    const forgePort = options.once ? 0 : settings.forgePort;
    const forgeUrl = await forge.listen({ port: forgePort, host: "127.0.0.1" }).catch((cause) => {
      if (!(cause instanceof ReeveError) || cause.code !== "port-taken") throw cause;
      throw new ReeveError("port-taken", `FORGE_PORT ${forgePort}: ${cause.message}; set FORGE_PORT`, {
        cause
      });
    });
    say(
      "forge",
      `${forgeUrl} is the embedded forge, with the accounts root (administrator), ada and reeve (the bot)`
    );
    const people = await findOrCreatePeople(forgeUrl, secrets);
    const repository = await findOrCreateRepository(people);
    const rulesWere = await pushRules(people.root, rules);
    say(
      "repository",
      `${repository.html_url}, its rules in .reeve.yml (${rulesWere}, from rules/demo/labels.yml)`
    );
    const token = await findOrCreateToken(forgeUrl, people, secrets.reeveToken);
    const watch = createWatch();
    const server = await startServer({
      forge: { url: forgeUrl, credentials: { token } },
      secrets: [
        { name: "demo", scope: ["*"], authorization: [secrets.authorization], hmac: [secrets.secret] },
        ...settings.secrets
      ],
      data,
      rules: settings.rules,
      repositories: settings.repositories,
      allowAdmin: settings.allowAdmin,
      host: settings.host,
      port: options.once ? 0 : settings.port,
      log: createLog({ level, secrets: [...Object.values(secrets), token] }),
      onRun: watch.onRun
    });
    closing.push(() => server.stop());
    const webhook = `${server.url}/webhook`;
    const hook = await findOrCreateHook(people.root, webhook, secrets);
    say(
      "hook",
      `number ${hook} of ${at.owner}/${at.repo} \u2192 ${webhook}, signed, and with an authorization header`
    );
    const path = await writeDemoFile(data, { ...secrets, reeveToken: token }, { forge: forgeUrl, webhook });
    await playScenario({
      people,
      cloneUrl: `${forgeUrl}/${at.owner}/${at.repo}.git`,
      ada: { name: "ada", password: secrets.adaPassword },
      folder: scratch,
      store: server.store,
      waitForRun: watch.waitForRun,
      say
    });
    if (options.once) {
      say("done", "the labels are what the rules ask for");
      return;
    }
    const stopped = options.untilStopped();
    sayNext({ path, data, url: server.url }, terminal);
    await stopped;
  } finally {
    for (const close of closing.toReversed()) await close();
  }
}
async function readDemoRules() {
  const text = await readFile(ruleFile, "utf8");
  const path = relative(process.cwd(), ruleFile);
  const { problems } = loadRuleFile({ path, text, level: "repository", commit: "", registry });
  if (problems.length === 0) return text;
  throw new ReeveError(
    "rules-broken",
    `the rule file of the demo cannot be used:

${formatProblems(problems)}`
  );
}
var patienceMs = 2e4;
function createWatch() {
  const seen = [];
  const listeners = /* @__PURE__ */ new Set();
  return {
    onRun(run, event) {
      seen.push({ run, index: event.subject?.index, atMs: Date.now() });
      for (const listener of listeners) listener();
    },
    waitForRun: ({ activity, index, after }) => new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        listeners.delete(look);
        const told = seen.map(({ run }) => `${run.trigger.kind}.${run.trigger.activity}`).join(", ") || "nothing";
        reject(
          new ReeveError(
            "internal",
            `no run for ${activity} of #${index} within ${patienceMs / 1e3} s; seen: ${told}`
          )
        );
      }, patienceMs);
      const look = () => {
        const found = seen.find(
          (one) => one.run.trigger.activity === activity && one.index === index && one.atMs >= after
        );
        if (!found) return;
        clearTimeout(timer);
        listeners.delete(look);
        resolve(found.run);
      };
      listeners.add(look);
      look();
    })
  };
}
function sayNext({ path, data, url }, terminal) {
  terminal.out(`
Everything is up; Ctrl-C stops it. Addresses and accounts are in ${path}. In another shell:

  . ${path}
  git clone "http://ada:$DEMO_ADA_PASSWORD@\${DEMO_URL#http://}/acme/demo.git"
  curl -u "ada:$DEMO_ADA_PASSWORD" "$DEMO_URL/api/v1/repos/acme/demo/issues/1/labels"
  curl -i -X POST "$DEMO_WEBHOOK_URL" -H 'content-type: application/json' -d '{}'    # 401: nobody vouches for it

In a browser, ${url}/ shows every delivery and why each rule did what it did; the password is in ${passwordPath(data)}.
`);
}
export {
  runDemo
};

import {
  openDriftBook,
  readDrift
} from "./chunk-FMNVGFWC.mjs";
import {
  findAccount
} from "./chunk-4FRPHDSK.mjs";
import {
  readRevertJob,
  revertKind,
  revertStored
} from "./chunk-OW5Z6KEA.mjs";
import {
  createKept,
  createPowers,
  createRuleSource,
  eventOf,
  readFileAt,
  readFilesAt,
  replayEvent,
  routingOf
} from "./chunk-IIAQHJFW.mjs";
import {
  createLedger,
  createRuleSet,
  isInScope,
  runEvent,
  runItem,
  skipRule
} from "./chunk-ZICOA7TD.mjs";
import {
  describeChange,
  nameOfRule,
  wordsOf
} from "./chunk-QIWTVMRL.mjs";
import {
  createRunnerMemory,
  flapsWithinMs
} from "./chunk-PWAXHV5D.mjs";
import {
  packageVersion
} from "./chunk-2FKHOA73.mjs";
import {
  createThrottle,
  maxConnections,
  receiver,
  redirectOf,
  serverOptions,
  signInPath
} from "./chunk-2YZQZDXR.mjs";
import {
  parsePayload
} from "./chunk-F5HW2RH7.mjs";
import {
  deliveryStates,
  openSqliteStore
} from "./chunk-XJ67IZNZ.mjs";
import {
  loadFingerprintKey,
  loadGenerated
} from "./chunk-W47FSTJL.mjs";
import {
  createFormMarks,
  html,
  isSentByOtherSite
} from "./chunk-3VFWE24E.mjs";
import {
  createCron
} from "./chunk-PIDYP5MN.mjs";
import {
  formatProblem
} from "./chunk-LTENOIKX.mjs";
import {
  findRuleFiles,
  loadRuleFiles,
  repositoryPaths
} from "./chunk-MMU7GUSS.mjs";
import {
  familyOf,
  laneOf,
  parseEvent
} from "./chunk-QVU6XQ2A.mjs";
import {
  createScope
} from "./chunk-VTTQ2TL3.mjs";
import {
  createFactMemory,
  createFacts,
  createNamedSecrets,
  facts,
  findAction
} from "./chunk-PGPAQ2TF.mjs";
import {
  apiRoot,
  createClient,
  createLimiter,
  failureOf,
  readText,
  remembering,
  unreachable
} from "./chunk-WHXP6K3X.mjs";
import {
  silentLog
} from "./chunk-OVHSHDHZ.mjs";
import {
  operations
} from "./chunk-P5GSASXZ.mjs";
import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/dashboard-password.ts
import { randomBytes } from "node:crypto";
import { join } from "node:path";
var leastLength = 16;
function passwordPath(data) {
  return join(data, "dashboard.password");
}
async function loadDashboardPassword(data) {
  const path = passwordPath(data);
  const held = await loadGenerated(path, () => `${randomBytes(24).toString("base64url")}
`);
  const [password = ""] = held.toString("utf8").split(/\r?\n/, 1);
  if (password.length >= leastLength) return password;
  throw new ReeveError(
    "settings",
    `REEVE_DATA: ${path} holds less than ${leastLength} characters: write a longer password, or remove the file and one is made`
  );
}

// src/sweeps/progress.ts
var maxListed = 20;
function beginProgress(now) {
  const counts = { items: 0, total: void 0, changes: 0, pending: 0, failed: 0, requests: 0, ms: 0 };
  return { startedAt: now.toISOString(), failures: [], ...counts };
}
function withFailures(progress, failures) {
  return {
    ...progress,
    failed: progress.failed + failures.length,
    failures: [...progress.failures, ...failures].slice(0, maxListed)
  };
}
function describeProgress({
  items,
  total,
  changes,
  pending,
  failed,
  requests
}) {
  const of = total === void 0 ? "" : ` of ${total}`;
  const rest = pending === 0 ? "" : `, ${pending} wanted and not made`;
  const wrong = failed === 0 ? "" : `, ${failed} failed`;
  return `${items}${of} items, ${changes} changes${rest}${wrong}, ${requests} requests`;
}

// src/sweeps/sweep-store.ts
function createSweepStore(store) {
  return {
    remember: (key, value) => store.remember(key, value),
    recall: (key) => store.recall(key),
    keepRest: (rule, next) => store.remember(`sweep-rest ${rule}`, next),
    readRest: (rule) => store.recall(`sweep-rest ${rule}`),
    keepResult: (rule, result) => store.remember(`sweep ${rule}`, result),
    // The border to the store: what is under this key was written by `keepResult` alone.
    readResult: async (rule) => await store.recall(`sweep ${rule}`)
  };
}

// src/server.ts
import { join as join2 } from "node:path";

// src/app.ts
import fastify from "fastify";

// src/dashboard/page.ts
function wholePage({ title: title2, content }, { root, entries: entries2, viewer, leadsTo }) {
  const bar = entries2.map(({ path, text }) => html`<li><a href="${root}${path}">${text}</a></li>`);
  const leaving = leadsTo && html`<meta http-equiv="refresh" content="0; url=${leadsTo}">`;
  const signOut = viewer && html`<form method="post" action="${root}sign-out"><input type="hidden" name="mark" value="${viewer.signOutMark}">
<span>${viewer.name}</span> <button>Sign out</button></form>`;
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">${leaving || void 0}
<title>${title2} · Reeve</title><link rel="stylesheet" href="${root}assets/dashboard.css"></head>
<body><a class="skip" href="#main">Skip to the page</a>
<header><nav aria-label="Pages"><ul>${bar}</ul></nav>${signOut}</header>
<main id="main"><h1>${title2}</h1>${content}</main></body>
</html>
`.text;
}
function instant(at) {
  if (at === void 0) return void 0;
  const text = new Date(at).toISOString();
  return html`<time datetime="${text}">${text.slice(0, 19).replace("T", " ")} UTC</time>`;
}
function table(heads, rows, empty) {
  if (rows.length === 0) return html`<p>${empty}</p>`;
  const head = heads.map((text) => html`<th scope="col">${text}</th>`);
  const body = rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`);
  return html`<div class="wide" tabindex="0" role="group" aria-label="${heads.join(", ")}"><table><thead><tr>${head}</tr></thead>
<tbody>${body}</tbody></table></div>`;
}
var styles = `:root{color-scheme:light dark;--line:#8886;--soft:#8882;background:light-dark(#fff,#16181c);color:light-dark(#1b1b1b,#e8e8e8)}
a{color:light-dark(#0b4fad,#8ab4f8)}
main{overflow-wrap:anywhere}body{font:16px/1.5 system-ui,sans-serif;max-width:75rem;margin:0 auto;padding:0 1rem 3rem}
header{display:flex;flex-wrap:wrap;gap:.5rem 2rem;justify-content:space-between;align-items:center;border-bottom:1px solid var(--line);padding:.75rem 0}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;margin:0;padding:0}
h1{font-size:1.5rem;overflow-wrap:anywhere}summary{overflow-wrap:anywhere}h2{font-size:1.2rem;margin-top:2rem}h3{font-size:1rem;margin-bottom:.25rem}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.25rem;background:Canvas;padding:.25rem .5rem}
.wide{overflow-x:auto}table{border-collapse:collapse;min-width:100%}
td,th{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--line)}
td{overflow-wrap:anywhere}td time{white-space:nowrap}
code,pre{font:.875rem/1.5 ui-monospace,monospace}pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--soft);padding:.75rem;max-height:40rem;overflow:auto}
.mark{border:1px solid currentColor;border-radius:.75rem;padding:0 .5rem;font-size:.875rem;white-space:nowrap}
.dead,.failed,.offline,.refused{color:light-dark(#a40000,#ff9a9a)}.settled,.applied,.matched,.online{color:light-dark(#0a5c1e,#86dfa0)}
form.filter{display:flex;flex-wrap:wrap;gap:.75rem;align-items:end}form.filter label{display:grid}
button,input,select{font:inherit;padding:.25rem .6rem}dl{display:grid;grid-template-columns:fit-content(45%) minmax(0,1fr);gap:.15rem 1.5rem}dd{margin:0;overflow-wrap:anywhere}
[role=alert]{border-left:.25rem solid #c60000;padding-left:.75rem}
`;
var policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

// src/dashboard/deliveries.ts
var shown = 50;
var maxLooked = 200;
async function deliveriesPage(visit, { store }) {
  const { query, viewer, root } = visit;
  const state = deliveryStates.find((one) => one === query.get("state"));
  const search = (query.get("search") ?? "").trim().slice(0, 200);
  const before = /^\d{1,15}$/.exec(query.get("before") ?? "")?.[0];
  const asked = { ...state ? { state } : {}, ...search ? { search } : {}, ...before ? { before } : {} };
  const { items, next, unknown } = viewer.isOperator ? { ...await store.listDeliveries({ ...asked, limit: shown }), unknown: 0 } : await visibleTo(viewer, store, asked);
  const rows = items.map((delivery) => rowOf(delivery, root));
  const older = next && new URLSearchParams({ state: state ?? "", search, before: next }).toString();
  const mayRedrive = state === "dead" && search === "" && viewer.isOperator && rows.length > 0;
  const empty = next ? "None that you may see among these; there are older ones." : "There is none.";
  const content = html`${filterForm(root, state, search)}
${mayRedrive ? visit.button("deliveries/dead/run", "Try all dead ones again") : void 0}
${table(["id", "received", "kind", "about", "state", "why"], rows, empty)}
${unknown > 0 ? html`<p role="alert">Of ${unknown} the forge did not say whether you may see them.</p>` : void 0}
${older ? html`<p><a rel="next" href="${root}deliveries?${older}">Older</a></p>` : void 0}`;
  return { title: "Deliveries", content };
}
async function visibleTo(viewer, store, { state, search = "", before }) {
  const repositoryId = search.includes("/") ? await viewer.findRepository(search) : void 0;
  const stretch = await store.listDeliveries({
    limit: maxLooked,
    ...before === void 0 ? {} : { before },
    ...repositoryId === void 0 ? {} : { repositoryId }
  });
  const sights = await Promise.all(stretch.items.map((delivery) => viewer.sightOf(delivery)));
  const isWanted = (delivery) => (state === void 0 || delivery.state === state) && isFoundBy(delivery, search);
  const visible = stretch.items.filter((delivery, at) => isSeen(sights[at]) && isWanted(delivery));
  const items = visible.slice(0, shown);
  return {
    items,
    next: visible.length > shown ? items.at(-1)?.id : stretch.next,
    unknown: sights.filter((sight) => sight === "unknown").length
  };
}
function isSeen(sight) {
  return sight === "reader" || sight === "administrator";
}
function isFoundBy({ eventType, repository = "", uuid }, search) {
  const text = search.toLowerCase();
  return [eventType, repository, uuid].some((one) => one.toLowerCase().includes(text));
}
function filterForm(root, state, search) {
  const options = deliveryStates.map(
    (one) => one === state ? html`<option value="${one}" selected>${one}</option>` : html`<option value="${one}">${one}</option>`
  );
  return html`<form class="filter" method="get" action="${root}deliveries">
<label>State <select name="state"><option value="">any</option>${options}</select></label>
<label>Kind, repository or id of the forge <input type="search" name="search" value="${search}"></label>
<button>Show</button></form>`;
}
function rowOf(delivery, root) {
  const { id, receivedAt, eventType, state, reason, copyOf } = delivery;
  return [
    html`<a href="${root}deliveries/${id}">${id}</a>`,
    instant(receivedAt),
    eventType,
    placeOf(delivery),
    stateMark(state),
    copyOf === void 0 ? reason : `copy of ${copyOf}`
  ];
}
function placeOf({ repository, lane }) {
  return repository && `${repository}${/#\d+$/.exec(lane ?? "")?.[0] ?? ""}`;
}
function stateMark(state) {
  return html`<span class="mark ${state}">${state}</span>`;
}

// src/dashboard/readers.ts
async function onlookerAt(viewer, found) {
  const { isOperator } = viewer;
  if (found === void 0)
    return { isOperator, sight: "administrator", repository: void 0, units: /* @__PURE__ */ new Set() };
  const { delivery, sight } = found;
  const units = isOperator ? /* @__PURE__ */ new Set() : await viewer.unitsOf(delivery);
  return { isOperator, sight, repository: delivery.repository, units };
}
var readersOfFact = {
  attachments: "own",
  branch: "code",
  branches: "code",
  comment: "own",
  comments: "own",
  commits: "code",
  contents: "code",
  files: "code",
  head: "code",
  issue: "own",
  label_definitions: "any",
  labels: "own",
  milestone: "own",
  own_labels: "any",
  pull_request: "own",
  repository: "any",
  review: "own",
  reviews: "own",
  statuses: "code"
};
var variables = /* @__PURE__ */ new Set(["event", "sender", "now"]);
var factNames = new Map(facts.map((fact) => [fact.name, fact]));
function maySeeValue(name, { isOperator, sight, units }) {
  if (isOperator) return true;
  const root = /^\w+/.exec(name)?.[0] ?? "";
  if (variables.has(root)) return sight === "administrator" || !/\bemail\b/i.test(name);
  const fact = factNames.get(root);
  if (fact === void 0 || fact.narrow !== void 0 || fact.shows === "beyond") return false;
  if (sight === "administrator") return true;
  const needed = readersOfFact[root];
  if (fact.shows !== "repository" || needed === void 0 || /\bemail\b/i.test(name)) return false;
  return needed === "own" || needed === "any" || units.has(needed);
}
function valueFor(value, { isOperator, sight }) {
  if (typeof value === "string") return value;
  const isWhole = isOperator || sight === "administrator";
  const text = JSON.stringify(value, (key, one) => !isWhole && /^email$/i.test(key) ? void 0 : one);
  return text ?? "nothing";
}
var readersOfAction = {
  comment: "own",
  "open-pull-request": "pulls",
  "report-issue": "issues",
  "set-labels": "own",
  "set-status": "code",
  "sync-labels": "any"
};
function maySeeChange({ path, action }, status, { isOperator, sight, repository, units }) {
  if (isOperator) return true;
  const home = `/repos/${repository}/`.toLowerCase();
  if (repository === void 0 || !path.toLowerCase().startsWith(home)) return false;
  if (sight === "administrator") return true;
  const needed = readersOfAction[action];
  if (needed === void 0 || status !== "applied") return false;
  return needed === "own" || needed === "any" || units.has(needed);
}
function maySeeErrors({ source }, { isOperator, sight, repository }) {
  if (isOperator) return true;
  return sight === "administrator" && repository !== void 0 && source.startsWith(`${repository}/`);
}

// src/dashboard/run-view.ts
var notForReaders = "not for readers of this repository";
function viewRun(run, onlooker) {
  const { requests, ms, mode } = run;
  const view = (verdict) => viewVerdict(verdict, onlooker);
  const asked = run.rules.filter(({ verdict }) => verdict !== "skipped").map(view);
  const others = onlooker.isOperator ? run.rules : [];
  const skipped = others.filter(({ verdict }) => verdict === "skipped").map(view);
  const planned = run.changes.map((change) => changeRow(change, outcomeOf(run, change), onlooker));
  const refused = run.refused.map(
    ({ change, why }) => changeRow(change, { status: "refused", words: why }, onlooker)
  );
  const rows = [...planned, ...refused];
  return html`<p>Run <code>${run.id}</code>, ${mode}, ${requests} requests, ${ms} ms</p>
${asked.length > 0 ? asked : html`<p>No rule was asked.</p>`}
${skipped.length > 0 ? html`<details><summary>Rules that were not asked: ${skipped.length}</summary>${skipped}</details>` : void 0}
<h3>Changes</h3>${table(["what", "why", "request", "became"], rows, "Nothing was to be changed.")}`;
}
var answers = { held: "yes", not: "no", error: "not known", unevaluated: "not asked" };
function viewVerdict(verdict, onlooker) {
  const { rule, source, commit, line, findings } = verdict;
  const why = verdict.verdict !== "failed" || maySeeErrors(verdict, onlooker) ? wordsOf(verdict) : void 0;
  const file = onlooker.isOperator ? source : source.slice(source.lastIndexOf("/") + 1);
  const at = commit === "" ? "" : ` at ${commit.slice(0, 10)}`;
  const rows = findings.map((finding) => [
    answers[finding.result],
    html`<code>${finding.expression}</code>`,
    seenBy(finding, verdict, onlooker),
    `${finding.line}:${finding.column}`
  ]);
  const head = html`<strong>${nameOfRule(rule)}</strong> <span class="mark ${verdict.verdict}">${verdict.verdict}</span>
${why === void 0 ? void 0 : html`<span class="why">${why}</span>`} <code>${file}:${line}${at}</code>`;
  if (rows.length === 0) return html`<p>${head}</p>`;
  const shown3 = table(["answer", "condition", "saw", "place"], rows, "");
  return html`<details${verdict.verdict === "unmatched" ? void 0 : openMark}><summary>${head}</summary>${shown3}</details>`;
}
var openMark = html` open`;
function seenBy({ values, result }, verdict, onlooker) {
  const maySee = (name) => result === "error" && name === "error" ? maySeeErrors(verdict, onlooker) : maySeeValue(name, onlooker);
  const lines = Object.entries(values).map(
    ([name, value]) => maySee(name) ? html`<div><code>${name}</code> = ${valueFor(value, onlooker)}</div>` : html`<div><code>${name}</code>: ${notForReaders}</div>`
  );
  return html`${lines}`;
}
function changeRow(change, { status, words }, onlooker) {
  const mark = html`<span class="mark ${status}">${status}</span>`;
  if (!maySeeChange(change, status, onlooker)) return [change.action, notForReaders, "", mark];
  const described = describeChange(change);
  const body = change.input?.body;
  const details = body === void 0 ? void 0 : html`<details><summary>body</summary><pre>${JSON.stringify(body, null, 2)}</pre></details>`;
  return [
    html`<code>${described.sign} ${described.words}</code>`,
    change.reason,
    html`<code>${change.method} ${change.path}</code>${details}`,
    html`${mark} ${words}`
  ];
}
function outcomeOf(run, { id }) {
  const outcome = run.outcomes.find((one) => one.change === id);
  return { status: outcome?.status ?? "planned", words: outcome?.error };
}

// src/dashboard/delivery.ts
var maxShownBytes = 256 * 1024;
var maxRuns = 20;
async function findDelivery({ viewer, params }, store, id = params.id ?? "") {
  const delivery = await store.describeDelivery(id);
  if (delivery === void 0) return void 0;
  const sight = await viewer.sightOf(delivery);
  return sight === "reader" || sight === "administrator" ? { delivery, sight } : void 0;
}
async function deliveryPage(visit, { store }) {
  const { root, viewer } = visit;
  const found = await findDelivery(visit, store);
  if (found === void 0) return void 0;
  const { delivery, sight } = found;
  const { items, next } = await store.listRuns({ delivery: delivery.id, limit: maxRuns });
  const onlooker = await onlookerAt(viewer, found);
  const runs = items.map(
    (run) => html`<section><h2>Run of ${instant(run.trigger.at)}</h2>${viewRun(run, onlooker)}</section>`
  );
  const whole = sight === "administrator" ? await store.readDelivery(delivery.id) : void 0;
  const content = html`${aboutDelivery(delivery)}
${mayRunAgain(delivery, sight) ? visit.button(`deliveries/${delivery.id}/run`, "Run it again") : void 0}
${runs.length > 0 ? runs : html`<p>No rule was asked: there is no run of it.</p>`}
${next ? html`<p>There are more runs than these ${maxRuns}.</p>` : void 0}
${whole && viewPayload(whole, root)}`;
  const place = placeOf(delivery);
  const what = place ? `${delivery.eventType} in ${place}` : delivery.eventType;
  return { title: `Delivery ${delivery.id}: ${what}`, content };
}
function mayRunAgain({ state, door }, sight) {
  const hasEnded = state === "dead" || state === "settled" && door === "webhook";
  return hasEnded && sight === "administrator";
}
function aboutDelivery(delivery) {
  const { state, reason, redrivenAt, redrivenBy, retryAt, copyOf } = delivery;
  const about = [
    ["State", stateMark(state)],
    ["Why", reason],
    ["Received", instant(delivery.receivedAt)],
    ["By", delivery.door],
    ["Kind", delivery.eventType],
    ["Repository", delivery.repository],
    ["Id of the forge", delivery.door === "webhook" ? delivery.uuid : void 0],
    ["Vouched for by", delivery.entry || void 0],
    ["Type", delivery.contentType || void 0],
    ["Attempts", delivery.attempts],
    ["Failing since", instant(delivery.failingSince)],
    ["Next attempt", instant(retryAt)],
    ["Settled", instant(delivery.settledAt)],
    ["Copy of", copyOf],
    ["Run again", redrivenAt && html`${instant(redrivenAt)} by ${redrivenBy ?? "somebody"}`]
  ];
  const entries2 = about.filter(([, value]) => value !== void 0).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`);
  return html`<dl>${entries2}</dl>`;
}
function viewPayload(delivery, root) {
  return html`<section><h2>Payload</h2>
<p><a href="${root}deliveries/${delivery.id}/payload">As it came</a>, ${delivery.bytes} bytes</p>
<pre tabindex="0">${payloadText(delivery)}</pre></section>`;
}
function payloadText({ body }) {
  const text = Buffer.from(body.subarray(0, maxShownBytes)).toString("utf8");
  if (body.byteLength > maxShownBytes) return `${text}\u2026`;
  try {
    return JSON.stringify(parsePayload(body), null, 2);
  } catch {
    return text;
  }
}

// src/dashboard/drift.ts
var shown2 = 500;
async function driftPage(_visit, readings) {
  const found = await readings.drift();
  const rows = found.slice(0, shown2).map(({ item, target, live, wanted, since, rule, why }) => [
    item,
    target,
    html`<code>${JSON.stringify(live) ?? "not there"}</code>`,
    html`<code>${JSON.stringify(wanted) ?? "nothing"}</code>`,
    instant(since),
    rule,
    why
  ]);
  const heads = ["where", "what", "is", "wanted", "since", "rule", "why it stays"];
  const content = html`${table(heads, rows, "Nothing drifts, as far as sweeps have seen.")}
${found.length > shown2 ? html`<p>These are the ${shown2} oldest of ${found.length}; <code>reeve drift</code> prints all.</p>` : void 0}`;
  return { title: "Drift", content };
}

// src/dashboard/hosts.ts
import { isIP } from "node:net";
function hostOf(request) {
  const address = `http://${request.headers.host ?? ""}/`;
  return URL.canParse(address) ? new URL(address).hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "") : void 0;
}
function isKnownHost(request, dashboardUrl) {
  const host = hostOf(request);
  if (host === void 0 || host === "") return false;
  if (isIP(host) !== 0 || host === "localhost") return true;
  return dashboardUrl !== void 0 && new URL(dashboardUrl).hostname === host;
}
function isSecureHost(request, dashboardUrl) {
  if (dashboardUrl === void 0) return false;
  const { protocol, hostname } = new URL(dashboardUrl);
  return protocol === "https:" && hostname.replace(/^\[|\]$/g, "") === hostOf(request);
}

// src/dashboard/runs.ts
var runHeads = ["when", "by", "about", "rules that matched", "changes"];
async function runTable(runs, store, root) {
  const rows = runs.map(async (run) => {
    const { delivery: id } = run.trigger;
    const delivery = id === void 0 ? void 0 : await store.describeDelivery(id);
    return runRow(run, delivery && placeOf(delivery), root);
  });
  return table(runHeads, await Promise.all(rows), "There is none.");
}
function runRow(run, place, root) {
  const { trigger, rules, outcomes, changes, refused } = run;
  const activity = trigger.activity === "" ? "" : `.${trigger.activity}`;
  const matched = rules.filter(({ verdict }) => verdict === "matched").map(({ rule }) => nameOfRule(rule));
  const failed = rules.filter(({ verdict }) => verdict === "failed").length;
  const applied = outcomes.filter(({ status }) => status === "applied").length;
  const wrong = outcomes.filter(({ status }) => status === "failed").length;
  const said = [
    changes.length === 0 ? "" : `${applied} of ${changes.length}`,
    wrong > 0 ? `${wrong} failed` : "",
    refused.length > 0 ? `${refused.length} refused` : ""
  ];
  return [
    html`<a href="${root}runs/${run.id}">${instant(trigger.at)}</a>`,
    trigger.door,
    [`${trigger.kind}${activity}`, trigger.item ?? place].filter(Boolean).join(" "),
    `${matched.join(", ")}${failed > 0 ? ` (${failed} failed)` : ""}`,
    said.filter(Boolean).join(", ") || "none"
  ];
}
async function runsPage({ query, root }, { store }) {
  const before = /^\d{1,15}$/.exec(query.get("before") ?? "")?.[0];
  const { items, next } = await store.listRuns(before === void 0 ? {} : { before });
  const older = next && html`<p><a rel="next" href="${root}runs?before=${next}">Older</a></p>`;
  return { title: "Runs", content: html`${await runTable(items, store, root)}${older || void 0}` };
}
async function runPage(visit, { store }) {
  const { params, viewer, root } = visit;
  const run = await store.readRun(params.id ?? "");
  if (run === void 0) return void 0;
  const { delivery: id } = run.trigger;
  const found = id === void 0 ? void 0 : await findDelivery(visit, store, id);
  if (found === void 0 && !viewer.isOperator) return void 0;
  const onlooker = await onlookerAt(viewer, found);
  const from = found && html`<p>Of <a href="${root}deliveries/${found.delivery.id}">delivery ${found.delivery.id}</a></p>`;
  const { trigger } = run;
  const about = trigger.item === void 0 ? "" : ` ${trigger.item}`;
  return {
    title: `Run: ${trigger.kind}${about}`,
    content: html`${from}<section><h2>${instant(trigger.at)}, by ${trigger.door}</h2>${viewRun(run, onlooker)}</section>`
  };
}

// src/dashboard/overview.ts
var shownRuns = 10;
async function overviewPage(visit, readings) {
  const { viewer, root } = visit;
  if (!viewer.isOperator) return deliveriesPage(visit, readings);
  const { store } = readings;
  const [counts, oldest, runs, drift, runners] = await Promise.all([
    store.counts(),
    store.oldestWaiting(),
    store.listRuns({ limit: shownRuns }),
    readings.drift(),
    readings.runners()
  ]);
  const states = deliveryStates.map((state) => [
    html`<a href="${root}deliveries?state=${state}">${stateMark(state)}</a>`,
    counts[state]
  ]);
  const refusals2 = [...readings.refusals()].map(([code, count2]) => `${count2} with ${code}`);
  const broken = readings.brokenFiles().length;
  const offline = runners.filter(({ status }) => status === "offline").length;
  const notes = [
    broken > 0 && html`<li><a href="${root}rules">Rule files that cannot be used: ${broken}</a></li>`,
    counts.dead > 0 && html`<li><a href="${root}deliveries?state=dead">Dead deliveries: ${counts.dead}</a></li>`,
    drift.length > 0 && html`<li><a href="${root}drift">Things that are not as a rule wants them: ${drift.length}</a></li>`,
    offline > 0 && html`<li><a href="${root}runners">Runners that are offline: ${offline}</a></li>`
  ].filter((note) => note !== false);
  const content = html`<h2>To look at</h2>
${notes.length > 0 ? html`<ul>${notes}</ul>` : html`<p>Nothing: no file is broken, nothing is dead, nothing drifts.</p>`}
<h2>Deliveries and jobs</h2>${table(["state", "how many"], states, "")}
<p>${oldest ? html`The oldest that waits came ${instant(oldest)}.` : "None waits."}</p>
${refusals2.length > 0 ? html`<p>Refused at the door since the start: ${refusals2.join(", ")}. The log says why.</p>` : void 0}
<h2>Latest runs</h2>${await runTable(runs.items, store, root)}
<p><a href="${root}runs">All runs</a></p>`;
  return { title: "Overview", content };
}

// src/same-text.ts
import { createHash, timingSafeEqual } from "node:crypto";
function isSameText(one, other) {
  const digest = (text) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

// src/dashboard/password.ts
function isSignedIn(authorization, password) {
  const encoded = /^basic\s+([A-Za-z0-9+/=]+)\s*$/i.exec(authorization ?? "")?.[1];
  if (encoded === void 0) return false;
  const given = Buffer.from(encoded, "base64").toString("utf8");
  const colon = given.indexOf(":");
  return isSameText(colon === -1 ? "" : given.slice(colon + 1), password);
}

// src/dashboard/rules.ts
async function rulesPage(_visit, readings) {
  const broken = readings.brokenFiles().map(
    ({ file, commit, problems }) => html`<h3>${file}${commit === "" ? "" : ` at ${commit.slice(0, 10)}`}</h3>
<pre tabindex="0">${problems.join("\n\n")}</pre>`
  );
  const rows = readings.rules().map(({ name, file, line, mode, listensTo, description }) => [
    name,
    listensTo.join(", "),
    mode,
    `${file}:${line}`,
    description
  ]);
  const heads = ["rule", "listens to", "mode", "place", "what for"];
  const content = html`${broken.length > 0 ? html`<h2>Files that cannot be used</h2>${broken}` : void 0}
<h2>In force, of the operator</h2>${table(heads, rows, "There is none.")}
<p>Rules of repositories and organizations stand in their own files; each run says which it asked.</p>`;
  return { title: "Rules", content };
}

// src/dashboard/runners.ts
var order = ["offline", "online", "gone"];
async function runnersPage(_visit, readings) {
  const found = await readings.runners();
  const sorted = found.toSorted(
    (a, b) => order.indexOf(a.status) - order.indexOf(b.status) || a.name.localeCompare(b.name)
  );
  const rows = sorted.map(({ name, level, status, since, busy, disabled, flaps, labels }) => [
    name,
    level,
    stateMark(status),
    instant(since),
    [busy ? "works" : "", disabled ? "disabled" : ""].filter(Boolean).join(", "),
    flaps,
    labels.join(" ")
  ]);
  const heads = ["runner", "where", "status", "since", "now", "flaps", "labels"];
  const empty = "No sweep has seen a runner yet: a rule with `each: runner` looks.";
  return { title: "Runners", content: table(heads, rows, empty) };
}

// src/dashboard/sessions.ts
import { randomBytes as randomBytes2 } from "node:crypto";
var lifeMs = 12 * 36e5;
var maxSessions = 1e3;
var maxOfOne = 10;
function createSessions(options) {
  const { nowMs } = options;
  const kept = /* @__PURE__ */ new Map();
  const marks = createFormMarks();
  const nameFor = (request) => options.isSecure(request) ? "__Host-reeve_session" : "reeve_session";
  const idOf2 = (request) => readCookie(request, nameFor(request)) ?? "";
  const write = (request, reply, value, seconds3) => {
    const secure = options.isSecure(request) ? "; Secure" : "";
    const flags = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds3}${secure}`;
    reply.header("set-cookie", `${nameFor(request)}=${value}; ${flags}`);
  };
  const makeRoom = ({ name }) => {
    for (const [id, { endsMs }] of kept) if (endsMs <= nowMs()) kept.delete(id);
    const own = [...kept].filter(([, { viewer }]) => viewer.name === name);
    const others = [...kept].filter(([, { viewer }]) => !viewer.isOperator);
    const [oldest] = own.length >= maxOfOne ? own : kept.size >= maxSessions ? [...others, ...kept] : [];
    if (oldest) kept.delete(oldest[0]);
  };
  return {
    find(request) {
      const id = idOf2(request);
      const known = kept.get(id);
      if (known && nowMs() < known.endsMs) return { id, viewer: known.viewer };
      kept.delete(id);
      return void 0;
    },
    start(request, reply, viewer) {
      kept.delete(idOf2(request));
      const id = randomBytes2(32).toString("base64url");
      makeRoom(viewer);
      kept.set(id, { viewer, endsMs: nowMs() + lifeMs });
      write(request, reply, id, lifeMs / 1e3);
    },
    end(request, reply) {
      kept.delete(idOf2(request));
      write(request, reply, "", 0);
    },
    markOf: ({ id }, purpose) => marks.markOf(id, purpose),
    isMarked(request, { id }, purpose) {
      const given = request.body instanceof URLSearchParams ? request.body.get("mark") ?? "" : "";
      return !isSentByOtherSite(request.headers) && marks.isMarkOf(given, id, purpose);
    }
  };
}
function readCookie(request, name) {
  for (const pair of (request.headers.cookie ?? "").split(";")) {
    const [key, ...value] = pair.trim().split("=");
    if (key === name) return value.join("=");
  }
  return void 0;
}

// src/dashboard/viewer.ts
var SignedOut = class extends Error {
};
var everyUnit = /* @__PURE__ */ new Set(["issues", "pulls", "code"]);
var passwordHolder = {
  name: "operator",
  isOperator: true,
  confirm: async () => {
  },
  sightOf: async () => "administrator",
  unitsOf: async () => everyUnit,
  findRepository: async () => void 0
};

// src/dashboard/person.ts
var signInScopes = ["read:user", "read:repository", "read:issue"];
var maxAgeMs = 6e4;
var maxKept = 5e3;
var looks = {
  pulls: (client, params) => client.call(operations.listPulls, { params, query: { limit: 1 } }),
  issues: (client, params) => client.call(operations.listIssues, { params, query: { limit: 1, type: "issues" } }),
  code: (client, params) => client.call(operations.listBranches, { params, query: { limit: 1 } })
};
var unitOfFamily = {
  pull_request: "pulls",
  pull_request_review: "pulls",
  pull_request_comment: "pulls",
  issues: "issues",
  issue_comment: "issues",
  push: "code",
  create: "code",
  delete: "code",
  status: "code"
};
function unitOf(eventType) {
  const family = familyOf(eventType);
  return family && unitOfFamily[family];
}
async function personOf(clientOf, nowMs) {
  const selves = createKept({ maxAgeMs, maxEntries: 1, nowMs });
  const readSelf = () => selves.get("self", async () => (await clientOf()).call(operations.getSelf, {}));
  let self = await readSelf();
  const isOperator = () => self.is_admin === true;
  const repositories = createKept({ maxAgeMs, maxEntries: maxKept, nowMs });
  const units = createKept({ maxAgeMs, maxEntries: maxKept, nowMs });
  const read = async (params) => orUndefined((await clientOf()).call(operations.getRepository, { params }));
  const lookAt = async (id, params) => {
    const found = await read(params);
    if (found === void 0 || found.id !== id) return "none";
    return found.permissions?.admin ? "administrator" : "reader";
  };
  const mayRead = (key, unit, params) => units.get(`${key} ${unit}`, async () => {
    const client = await clientOf();
    return await orUndefined(looks[unit](client, params).then(() => true)) ?? false;
  });
  const look = async (place) => {
    const { repository = "", repositoryId: id } = place;
    const params = atOf(repository);
    if (id === void 0 || params === void 0) return void 0;
    const key = `${id} ${repository}`;
    return { key, params, sight: await repositories.get(key, () => lookAt(id, params)) };
  };
  return {
    name: `@${self.login} (${self.id})`,
    get isOperator() {
      return isOperator();
    },
    async confirm() {
      self = await asThem(readSelf, [...unknownToForge, "forge-forbidden"]);
    },
    async sightOf(place) {
      if (isOperator()) return "administrator";
      try {
        const found = await asThem(() => look(place));
        if (found?.sight !== "reader") return found?.sight ?? "none";
        const unit = unitOf(place.eventType);
        if (unit === void 0) return "none";
        return await asThem(() => mayRead(found.key, unit, found.params)) ? "reader" : "none";
      } catch (error) {
        const isStumble = error instanceof ReeveError && !isOneOf(error, ["forge-unreachable", "forge-timeout"]);
        if (isStumble) return "unknown";
        throw error;
      }
    },
    unitsOf: (place) => asThem(async () => {
      const found = await look(place);
      if (found === void 0) return /* @__PURE__ */ new Set();
      const all = Object.keys(looks);
      const may = await Promise.all(all.map((unit) => mayRead(found.key, unit, found.params)));
      return new Set(all.filter((_unit, at) => may[at]));
    }),
    findRepository: (name) => asThem(async () => {
      const params = atOf(name);
      return params && (await read(params))?.id;
    })
  };
}
var unknownToForge = ["forge-unauthorized"];
async function asThem(ask, over = unknownToForge) {
  try {
    return await ask();
  } catch (error) {
    if (!isOneOf(error, over)) throw error;
    throw new SignedOut("the forge does not know the sign-in any more", { cause: error });
  }
}
function atOf(name) {
  const [, owner, repo] = /^([\w.-]+)\/([\w.-]+)$/.exec(name) ?? [];
  return owner === void 0 || repo === void 0 ? void 0 : { owner, repo };
}
async function orUndefined(asked) {
  try {
    return await asked;
  } catch (error) {
    if (isOneOf(error, ["forge-not-found", "forge-forbidden", "forge-moved", "forge-locked"]))
      return void 0;
    throw error;
  }
}
function isOneOf(error, codes) {
  return error instanceof ReeveError && codes.includes(error.code);
}

// src/dashboard/personal-client.ts
var renewBeforeMs = 3e4;
var patience = { timeoutMs: 5e3, tries: 2 };
function createPersonalClient(options) {
  const { forge, oauth2, nowMs } = options;
  const hold = ({ accessToken, refreshToken, expiresInMs }, before) => ({
    client: createClient({ ...forge, ...patience, credentials: { token: accessToken, scheme: "Bearer" } }),
    refreshToken: refreshToken ?? before,
    endsMs: nowMs() + expiresInMs
  });
  let held = hold(options.tokens);
  let renewal;
  const renew = async () => {
    if (held.refreshToken === void 0) throw new SignedOut("the sign-in is over");
    try {
      held = hold(await oauth2.refresh(held.refreshToken), held.refreshToken);
    } catch (error) {
      const isOver = error instanceof ReeveError && error.code === "forge-refused";
      throw isOver ? new SignedOut("the forge does not renew the sign-in", { cause: error }) : error;
    }
  };
  return async () => {
    if (nowMs() >= held.endsMs - renewBeforeMs) {
      renewal ??= renew().finally(() => {
        renewal = void 0;
      });
      await renewal;
    }
    return held.client;
  };
}

// src/dashboard/sign-in-state.ts
import { createHash as createHash2, randomBytes as randomBytes3 } from "node:crypto";
var seconds = 600;
function createSignInState(isSecure) {
  const marks = createFormMarks();
  const nameFor = (request) => isSecure(request) ? "__Host-reeve_sign_in" : "reeve_sign_in";
  const write = (request, reply, value, maxAge) => {
    const secure = isSecure(request) ? "; Secure" : "";
    const cookie = `${nameFor(request)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAge}${secure}`;
    const others = [reply.getHeader("set-cookie")].flat().filter((one) => one !== void 0);
    reply.removeHeader("set-cookie");
    for (const one of [...others, cookie]) reply.header("set-cookie", String(one));
  };
  const challengeOf = (verifier) => createHash2("sha256").update(verifier).digest("base64url");
  const random = () => randomBytes3(32).toString("base64url");
  return {
    begin(request, reply, to) {
      const [state, verifier] = [random(), random()];
      const parts = [state, verifier, Buffer.from(to).toString("base64url")].join(".");
      write(request, reply, `${parts}.${marks.markOf("", parts)}`, seconds);
      return { state, verifier, challenge: challengeOf(verifier), to };
    },
    find(request, given) {
      const held = readCookie(request, nameFor(request)) ?? "";
      const parts = held.slice(0, held.lastIndexOf("."));
      if (!marks.isMarkOf(held.slice(held.lastIndexOf(".") + 1), "", parts)) return void 0;
      const [state = "", verifier = "", to = ""] = parts.split(".");
      if (state === "" || !isSameText(given, state)) return void 0;
      return {
        state,
        verifier,
        challenge: challengeOf(verifier),
        to: Buffer.from(to, "base64url").toString("utf8")
      };
    },
    forget: (request, reply) => write(request, reply, "", 0)
  };
}

// src/dashboard/visits.ts
function createVisits(options) {
  const { sessions, entries: entries2, log } = options;
  const frameOf = (request, session) => {
    const root = rootOf(request);
    if (session === void 0) return { root, entries: [] };
    const { viewer } = session;
    return {
      root,
      entries: entries2.filter(({ audience }) => viewer.isOperator || audience === "everyone"),
      viewer: { name: viewer.name, signOutMark: sessions.markOf(session, "sign-out") }
    };
  };
  const send = (request, reply, session, view) => protect(reply).type("text/html; charset=utf-8").send(wholePage(view, frameOf(request, session)));
  const askToSignIn = (request, reply) => {
    reply.code(401).header("www-authenticate", 'Session realm="reeve"');
    const to = request.method === "GET" ? request.url : "/";
    return send(request, reply, void 0, options.signInView(rootOf(request), to));
  };
  const lookAgain = (request, reply) => {
    const leadsTo = `${rootOf(request)}${request.url.slice(1)}`;
    const content = html`<p><a href="${leadsTo}">Go on</a></p>`;
    const frame = { ...frameOf(request, void 0), leadsTo };
    return protect(reply).type("text/html; charset=utf-8").send(wholePage({ title: "Reeve", content }, frame));
  };
  const visitOf = (request, { id, viewer }) => {
    const root = rootOf(request);
    return {
      viewer,
      // The router fills in the names of the path, texts all of them.
      params: request.params,
      query: queryOf(request),
      root,
      button(path, text) {
        const mark = sessions.markOf({ id, viewer }, path);
        return html`<form method="post" action="${root}${path}"><input type="hidden" name="mark" value="${mark}">
<button>${text}</button></form>`;
      }
    };
  };
  const answer = async (request, reply, audience, run) => {
    const session = sessions.find(request);
    if (session === void 0)
      return isFromElsewhere(request) ? lookAgain(request, reply) : askToSignIn(request, reply);
    try {
      if (audience !== "signing-out") await session.viewer.confirm();
      if (audience === "operators" && !session.viewer.isOperator) {
        return send(request, reply.code(403), session, forOperators);
      }
      return await run(session) ?? send(request, reply.code(404), session, notThere);
    } catch (error) {
      if (error instanceof SignedOut) {
        sessions.end(request, reply);
        return askToSignIn(request, reply);
      }
      log.warn({ page: request.routeOptions.url, error: messageOf(error) }, "a page cannot be shown now");
      const status = error instanceof ReeveError ? error.http : 500;
      return send(request, reply.code(status), session, cannotNow);
    }
  };
  return {
    show: (request, reply, audience, view) => answer(request, reply, audience, async (session) => {
      const shown3 = await view(visitOf(request, session));
      return shown3 && send(request, reply, session, shown3);
    }),
    send: (request, reply, find) => answer(request, reply, "everyone", async (session) => {
      const file = await find(visitOf(request, session));
      return file && protect(reply).type("application/octet-stream").header("content-disposition", `attachment; filename="${file.name}"`).send(Buffer.from(file.bytes));
    }),
    act: (request, reply, audience, act) => answer(request, reply, audience, async (session) => {
      if (!sessions.isMarked(request, session, pathOf(request).slice(1)))
        return send(request, reply.code(403), session, outOfDate);
      const path = await act(visitOf(request, session));
      return path === void 0 ? void 0 : protect(reply).redirect(`${rootOf(request)}${path}`, 303);
    }),
    showStranger(request, reply, view, { leadsTo } = {}) {
      const frame = { ...frameOf(request, void 0), ...leadsTo === void 0 ? {} : { leadsTo } };
      return protect(reply).type("text/html; charset=utf-8").send(wholePage(view, frame));
    }
  };
}
function refuseStrangeHost(request, reply, dashboardUrl) {
  if (isKnownHost(request, dashboardUrl)) return false;
  const text = "421: Reeve is not known by this name: write its address into `dashboard.url` of the operator file\n";
  protect(reply).code(421).type("text/plain; charset=utf-8").send(text);
  return true;
}
function protect(reply) {
  return reply.headers({
    "content-security-policy": policy,
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin"
  });
}
function rootOf(request) {
  return "../".repeat(pathOf(request).split("/").length - 2) || "./";
}
function queryOf(request) {
  return new URLSearchParams(request.url.split("?").slice(1).join("?"));
}
function isFromElsewhere({ method, headers }) {
  const site = headers["sec-fetch-site"];
  const isOther2 = site === "cross-site" || site === "same-site";
  return method === "GET" && isOther2 && headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
}
function pathOf(request) {
  return request.url.split("?", 1)[0] ?? "/";
}
var notThere = {
  title: "Not found",
  content: html`<p>There is nothing here, or nothing that you may see.</p>`
};
var forOperators = {
  title: "For operators",
  content: html`<p>This page is for operators: sign in with the password of this installation, or as a site administrator
of the forge.</p>`
};
var outOfDate = {
  title: "Out of date",
  content: html`<p role="alert">This form is out of date, and nothing was done: load its page again.</p>`
};
var cannotNow = {
  title: "Not now",
  content: html`<p role="alert">This cannot be shown now: the forge or the store did not answer. The log says why.</p>`
};

// src/dashboard/forge-sign-in.ts
var maxAtOnce = 4;
function registerForgeSignIn(app, visits, parts) {
  const { forge, sessions, throttle, log, nowMs } = parts;
  const { oauth2, redirectUri, url, onRequest } = forge;
  const state = createSignInState(parts.isSecure);
  const limiter = createLimiter({ max: maxAtOnce });
  const shared = { url, limiter, ...onRequest ? { onRequest } : {} };
  const fail = (request, reply, code, problem) => {
    state.forget(request, reply);
    return parts.showForm(request, reply.code(code), problem);
  };
  app.get("/sign-in/forge", async (request, reply) => {
    try {
      const { state: word, challenge } = state.begin(request, reply, pathOnly(queryOf(request).get("to")));
      const asked = { redirectUri, state: word, challenge, scopes: signInScopes };
      return protect(reply).redirect(await oauth2.authorizeUrl(asked), 303);
    } catch (error) {
      if (!throttle.isTooMuch(request.ip))
        log.warn({ error: messageOf(error) }, "the forge does not say where people sign in");
      return fail(request, reply, 502, "The forge cannot be asked now.");
    }
  });
  app.get(signInPath, async (request, reply) => {
    const query = queryOf(request);
    const begun = state.find(request, query.get("state") ?? "");
    if (begun === void 0) {
      const problem = "This sign-in was not begun in this browser, or too long ago: begin again.";
      return fail(request, reply, 403, problem);
    }
    const code = query.get("code");
    if (!code) {
      const said = query.get("error") ?? "nothing";
      if (said !== "access_denied") log.warn({ said: said.slice(0, 100) }, "the forge signs nobody in");
      const problem = said === "access_denied" ? "The forge says that you did not allow Reeve to see who you are." : "The forge could not sign you in: begin again.";
      return fail(request, reply, 403, problem);
    }
    try {
      const tokens = await oauth2.redeem(code, { verifier: begun.verifier, redirectUri });
      const client = createPersonalClient({ forge: shared, oauth2, tokens, nowMs });
      const viewer = await personOf(client, nowMs);
      sessions.start(request, reply, viewer);
      log.info({ viewer: viewer.name, operator: viewer.isOperator }, "signed in to the dashboard");
    } catch (error) {
      if (!throttle.isTooMuch(request.ip))
        log.warn({ error: messageOf(error) }, "a sign-in with a forge account failed");
      return fail(request, reply, 502, "The forge did not accept the sign-in: begin again.");
    }
    state.forget(request, reply);
    const leadsTo = `${rootOf(request)}${pathOnly(begun.to).slice(1)}`;
    const content = html`<p>You are signed in: <a href="${leadsTo}">go on</a>.</p>`;
    return visits.showStranger(request, reply, { title: "Signed in", content }, { leadsTo });
  });
}
function pathOnly(to) {
  return to !== null && /^\/[a-z]*(\/[\w-]+)*(\?[\w=&%.+-]*)?$/.test(to) ? to : "/";
}

// src/dashboard/sign-in.ts
function signInPage(dashboardUrl) {
  return (root, to, problem) => {
    const alert = problem === void 0 ? void 0 : html`<p role="alert">${problem}</p>`;
    const byForge = dashboardUrl && html`<p>${forgeLink(dashboardUrl, to)}: you see what you can read there.</p>`;
    const content = html`${alert}${byForge || void 0}
<form method="post" action="${root}sign-in"><input type="hidden" name="to" value="${pathOnly(to)}">
<input name="user" value="operator" autocomplete="username" hidden>
<p><label>Password of this installation <input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button></p></form>
<p>It stands in <code>dashboard.password</code> in the folder of Reeve’s data, and lets see everything.</p>`;
    return { title: "Sign in", content };
  };
}
function forgeLink(dashboardUrl, to) {
  const query = new URLSearchParams({ to: pathOnly(to) }).toString();
  return html`<a href="${dashboardUrl.replace(/\/+$/, "")}/sign-in/forge?${query}">Sign in with your forge account</a>`;
}
function registerSignIn(app, visits, parts) {
  const { sessions, forge, dashboardUrl, throttle, log } = parts;
  const view = signInPage(forge && dashboardUrl);
  const showForm = (request, reply, to, problem) => visits.showStranger(request, reply, view(rootOf(request), to, problem));
  app.get("/sign-in", async (request, reply) => showForm(request, reply, "/"));
  app.post("/sign-in", async (request, reply) => {
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    const to = form.get("to") ?? "/";
    if (isSentByOtherSite(request.headers)) {
      return showForm(request, reply.code(403), to, "Another site sent this form: sign in here.");
    }
    if (!isSameText(form.get("password") ?? "", parts.password)) {
      const isTooMuch = throttle.isTooMuch(request.ip);
      if (!isTooMuch) log.warn({ address: request.ip }, "a wrong password for the dashboard");
      const problem = isTooMuch ? "Wrong too often: wait a minute." : "This is not the password of this installation.";
      return showForm(request, reply.code(isTooMuch ? 429 : 401), to, problem);
    }
    sessions.start(request, reply, passwordHolder);
    log.info({ address: request.ip }, "signed in to the dashboard with its password");
    return protect(reply).redirect(`${rootOf(request)}${pathOnly(to).slice(1)}`, 303);
  });
  app.post(
    "/sign-out",
    (request, reply) => visits.act(request, reply, "signing-out", async () => {
      sessions.end(request, reply);
      return "sign-in";
    })
  );
  if (forge === void 0) return;
  registerForgeSignIn(app, visits, {
    ...{ forge, sessions, throttle, log, nowMs: parts.nowMs },
    isSecure: (request) => isSecureHost(request, dashboardUrl),
    showForm: (request, reply, problem) => showForm(request, reply, "/", problem)
  });
}

// src/dashboard/sweeps.ts
async function sweepsPage({ root }, readings) {
  const rows = (await readings.schedules()).map((row) => [
    row.rule,
    html`<code>${row.clock}</code>`,
    instant(row.next),
    row.job === void 0 ? instant(row.lastSlot) : html`<a href="${root}deliveries/${row.job}">${instant(row.lastSlot)}</a>`,
    wentHow(row)
  ]);
  const heads = ["rule", "clock", "next", "last", "how it went"];
  return { title: "Sweeps", content: table(heads, rows, "No rule has a schedule.") };
}
function wentHow({ underWay, result, missed, overlaps }) {
  const failures = result?.failures.map(({ item, error }) => html`<li>${item}: ${error}</li>`) ?? [];
  return html`${underWay && html`<div><span class="mark claimed">under way</span> ${underWay}</div>`}
${result && html`<div>${instant(result.endedAt)}: ${result.sentence}${result.isComplete ? "" : ", the rest goes on with the next"}</div>`}
${result && result.drift > 0 ? html`<div>drift: ${result.drift}</div>` : void 0}
${failures.length > 0 ? html`<details><summary>What failed</summary><ul>${failures}</ul></details>` : void 0}
${missed + overlaps > 0 ? html`<div>slots missed: ${missed}, left out: ${overlaps}</div>` : void 0}`;
}

// src/dashboard/route.ts
var pages = [
  { path: "/", audience: "everyone", entry: "Overview", view: overviewPage },
  { path: "/deliveries", audience: "everyone", entry: "Deliveries", view: deliveriesPage },
  { path: "/deliveries/:id", audience: "everyone", view: deliveryPage },
  { path: "/runs", audience: "operators", entry: "Runs", view: runsPage },
  { path: "/runs/:id", audience: "everyone", view: runPage },
  { path: "/sweeps", audience: "operators", entry: "Sweeps", view: sweepsPage },
  { path: "/runners", audience: "operators", entry: "Runners", view: runnersPage },
  { path: "/drift", audience: "operators", entry: "Drift", view: driftPage },
  { path: "/rules", audience: "operators", entry: "Rules", view: rulesPage }
];
var entries = pages.flatMap(
  ({ path, audience, entry }) => entry === void 0 ? [] : [{ path: path.slice(1), audience, text: entry }]
);
var maxFormBytes = 8192;
var maxFailures = 10;
var dashboard = async (app, parts) => {
  const throttle = createThrottle({ perMinute: maxFailures, clock: { now: parts.readings.now } });
  registerMetrics(app, parts, throttle);
  await app.register(async (inner) => registerPages(inner, parts, throttle));
};
function registerMetrics(app, { metrics, readings, password, log }, throttle) {
  app.get("/metrics", async (request, reply) => {
    const { authorization } = request.headers;
    if (!isSignedIn(authorization, password)) {
      const isTooMuch = authorization !== void 0 && throttle.isTooMuch(request.ip);
      if (authorization !== void 0 && !isTooMuch)
        log.warn({ address: request.ip }, "a wrong password for the metrics");
      return reply.code(isTooMuch ? 429 : 401).header("www-authenticate", 'Basic realm="reeve", charset="UTF-8"').type("text/plain; charset=utf-8").send("401: sign in with any user and the password in REEVE_DATA/dashboard.password\n");
    }
    try {
      const text = await metrics.text(readings);
      return reply.header("cache-control", "no-store").type(metrics.contentType).send(text);
    } catch (error) {
      log.warn({ error: messageOf(error) }, "the metrics cannot be read now");
      return reply.code(503).type("text/plain; charset=utf-8").send("503: the store cannot be read now\n");
    }
  });
}
function registerPages(app, parts, throttle) {
  const { readings, dashboardUrl, forge, log, nowMs } = parts;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: maxFormBytes },
    (_request, body, done) => done(null, new URLSearchParams(String(body)))
  );
  app.addHook("onRequest", async (request, reply) => {
    if (refuseStrangeHost(request, reply, dashboardUrl)) return reply;
  });
  const sessions = createSessions({ nowMs, isSecure: (request) => isSecureHost(request, dashboardUrl) });
  const signInView = signInPage(forge && dashboardUrl);
  const visits = createVisits({ sessions, entries, signInView, log });
  app.setErrorHandler((error, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500)
      log.error({ page: request.routeOptions.url, error: messageOf(error) }, "a page failed");
    const title2 = status === 413 ? "Too large" : status < 500 ? "Not understood" : "Not now";
    return visits.showStranger(request, reply.code(status), { title: title2, content: html`<p>${status}</p>` });
  });
  registerSignIn(app, visits, { ...parts, forge, dashboardUrl, sessions, throttle });
  for (const { path, audience, view } of pages) {
    app.get(
      path,
      (request, reply) => visits.show(request, reply, audience, (visit) => view(visit, readings))
    );
  }
  registerDeeds(app, visits, parts);
  app.get(
    "/assets/dashboard.css",
    async (_request, reply) => protect(reply).header("cache-control", "max-age=300").type("text/css; charset=utf-8").send(styles)
  );
}
function registerDeeds(app, visits, { readings, deeds, log }) {
  const { store } = readings;
  const by = ({ viewer }) => `${viewer.name} by the dashboard`;
  app.get(
    "/deliveries/:id/payload",
    (request, reply) => visits.send(request, reply, async (visit) => {
      const found = await findDelivery(visit, store);
      if (found?.sight !== "administrator") return void 0;
      const whole = await store.readDelivery(found.delivery.id);
      return whole && { name: `delivery-${whole.id}.json`, bytes: whole.body };
    })
  );
  app.post(
    "/deliveries/:id/run",
    (request, reply) => visits.act(request, reply, "everyone", async (visit) => {
      const found = await findDelivery(visit, store);
      if (found?.sight !== "administrator") return void 0;
      const { id } = found.delivery;
      const count2 = mayRunAgain(found.delivery, found.sight) ? await deeds.runAgain([id], by(visit)) : 0;
      if (count2 > 0) log.info({ delivery: id, by: visit.viewer.name }, "runs again");
      return `deliveries/${id}`;
    })
  );
  app.post(
    "/deliveries/dead/run",
    (request, reply) => visits.act(request, reply, "operators", async (visit) => {
      let before;
      let count2 = 0;
      do {
        const page = await store.listDeliveries({ state: "dead", limit: 500, ...before ? { before } : {} });
        const ids = page.items.map(({ id }) => id);
        count2 += await deeds.runAgain(ids, by(visit));
        before = page.next;
      } while (before !== void 0);
      log.info({ count: count2, by: visit.viewer.name }, "dead deliveries run again");
      return "deliveries";
    })
  );
}

// src/app.ts
function createApp({ store, secrets, onStored, ...parts }) {
  const { log, metrics } = parts;
  const app = fastify({ ...serverOptions(), logger: false, forceCloseConnections: "idle" });
  app.server.maxConnections = maxConnections;
  let isClosing = false;
  app.addHook("preClose", async () => {
    isClosing = true;
  });
  app.addHook("onSend", async (_request, reply) => {
    if (isClosing) reply.header("connection", "close");
  });
  const onAnswer = (code, result) => metrics.countDelivery(code, result);
  app.register(receiver, { store, secrets, log, onStored, onAnswer });
  app.addHook("onResponse", async (request, reply) => {
    if (request.routeOptions.url === "/webhook") metrics.countAnswer(reply.elapsedTime);
  });
  app.register(dashboard, parts);
  app.get("/healthz", async (_request, reply) => reply.type("application/json").send('{"status":"ok"}'));
  app.get("/readyz", async (_request, reply) => {
    const health = await store.healthy();
    if (!health.ok) log.warn({ reason: health.reason }, "not ready");
    const status = health.ok ? "ok" : "unavailable";
    return reply.code(health.ok ? 200 : 503).type("application/json").send(JSON.stringify({ status }));
  });
  return app;
}
async function listen(app, { host, port }) {
  try {
    return await app.listen({ host, port });
  } catch (cause) {
    if (typeof cause === "object" && cause !== null && "code" in cause && cause.code === "EADDRINUSE") {
      throw new ReeveError(
        "port-taken",
        `PORT ${port} on ${host} is taken: another program listens there; set PORT`,
        { cause }
      );
    }
    throw new ReeveError("settings", `HOST ${host} PORT ${port}: ${messageOf(cause)}`, { cause });
  }
}

// src/client/oauth2.ts
import ky from "ky";
import { z } from "zod";
var Description = z.object({ authorization_endpoint: z.url({ protocol: /^https?$/ }) });
var TokenAnswer = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().optional(),
  expires_in: z.number().positive().optional()
});
var TokenRefusal = z.object({ error: z.string(), error_description: z.string().optional() });
var standardLifeMs = 3e5;
var descriptionAgeMs = 6e5;
var maxAnswerBytes = 64 * 1024;
var refusals = /* @__PURE__ */ new Set(["invalid_grant", "invalid_client", "unauthorized_client"]);
function createOAuth2(options) {
  const { application, timeoutMs = 1e4, nowMs = () => performance.now() } = options;
  const root = new URL(apiRoot(options.url).href.replace(/\/api\/v1$/, "/"));
  const send = async (path, form) => {
    const where = `${form ? "POST" : "GET"} /${path}`;
    const patience2 = new AbortController();
    const timer = setTimeout(() => patience2.abort(new DOMException("timed out", "TimeoutError")), timeoutMs);
    try {
      const response = await ky(new URL(path, root), {
        method: form ? "post" : "get",
        headers: { accept: "application/json", "user-agent": "reeve" },
        ...form ? { body: form } : {},
        redirect: "manual",
        throwHttpErrors: false,
        retry: 0,
        // Of the whole exchange: that of ky ends with the head of the answer.
        timeout: false,
        signal: patience2.signal,
        credentials: "omit"
      });
      return { status: response.status, text: await readText(response, where, maxAnswerBytes) };
    } catch (thrown) {
      throw unreachable(where, thrown);
    } finally {
      clearTimeout(timer);
    }
  };
  const ask = async (form) => {
    const { clientId, clientSecret } = application;
    const body = new URLSearchParams({ ...form, client_id: clientId, client_secret: clientSecret });
    const { status, text } = await send("login/oauth/access_token", body);
    const json = parse(text);
    const tokens = status === 200 ? TokenAnswer.safeParse(json) : void 0;
    if (tokens?.success) {
      const { access_token, refresh_token, expires_in } = tokens.data;
      return {
        accessToken: access_token,
        ...refresh_token === void 0 ? {} : { refreshToken: refresh_token },
        expiresInMs: expires_in === void 0 ? standardLifeMs : expires_in * 1e3
      };
    }
    const where = "POST /login/oauth/access_token";
    const refusal = TokenRefusal.safeParse(json);
    if (refusal.success && refusals.has(refusal.data.error)) {
      const words = hide(`${refusal.data.error}: ${refusal.data.error_description ?? ""}`, body);
      throw new ReeveError("forge-refused", `${where}: the forge answered ${status} ${words}`, { status });
    }
    if (status >= 400) throw failureOf(where, status, "", null);
    throw new ReeveError("forge-junk", `${where}: the forge answered ${status} and no token`, { status });
  };
  const findAuthorize = remembering(
    async () => {
      const { status, text } = await send(".well-known/openid-configuration");
      const described = Description.safeParse(parse(text));
      if (described.success) return described.data.authorization_endpoint;
      throw new ReeveError(
        "forge-junk",
        `GET /.well-known/openid-configuration: the forge answered ${status} and no address to sign in at`
      );
    },
    { maxAgeMs: descriptionAgeMs, nowMs }
  );
  return {
    async authorizeUrl({ redirectUri, state, challenge, scopes }) {
      const url = new URL(await findAuthorize());
      const asked = {
        client_id: application.clientId,
        redirect_uri: redirectUri,
        response_type: "code",
        state,
        scope: scopes.join(" "),
        code_challenge: challenge,
        code_challenge_method: "S256"
      };
      for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
      return url.href;
    },
    redeem: (code, { verifier, redirectUri }) => ask({ grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: redirectUri }),
    refresh: (refreshToken) => ask({ grant_type: "refresh_token", refresh_token: refreshToken })
  };
}
function hide(text, sent) {
  let left = text.slice(0, 500);
  for (const value of sent.values()) {
    for (const form of [value, encodeURIComponent(value)]) {
      if (form !== "") left = left.replaceAll(form, "[hidden]");
    }
  }
  return left.replace(new RegExp("\\p{Cc}", "gu"), " ").slice(0, 200);
}
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return void 0;
  }
}

// src/dashboard/metrics.ts
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

// src/dashboard/metric-table.ts
var metricTable = {
  reeve_build_info: { type: "gauge", labels: ["version"], help: "Always 1; the version is what counts." },
  reeve_webhook_requests_total: {
    type: "counter",
    labels: ["code", "result"],
    help: "Requests to /webhook by status and what became of them: stored, copy, known, or the guard that refused."
  },
  reeve_webhook_seconds: {
    type: "histogram",
    labels: [],
    help: "Time from the request to the answer of /webhook; forges give up after 5 s."
  },
  reeve_deliveries: {
    type: "gauge",
    labels: ["state"],
    help: "Deliveries and jobs in the store: accepted and retry wait, dead ones wait for `reeve redrive`."
  },
  reeve_queue_oldest_seconds: {
    type: "gauge",
    labels: [],
    help: "Age of the oldest delivery that waits for an attempt; 0 where none waits."
  },
  reeve_run_seconds: {
    type: "histogram",
    labels: ["door"],
    help: "Time of a run over one event or item, by how it came in: webhook, cron, cli."
  },
  reeve_rule_verdicts_total: {
    type: "counter",
    labels: ["verdict"],
    help: "What rules said: matched, unmatched, skipped, or failed where one could not be judged."
  },
  reeve_changes_total: {
    type: "counter",
    labels: ["action", "status"],
    help: "Changes by what became of them: applied, skipped, failed, planned (a rule that observes), refused."
  },
  reeve_forge_requests_total: {
    type: "counter",
    labels: ["method", "code"],
    help: "Requests to the forge; the code is none where no answer came."
  },
  reeve_forge_request_seconds: {
    type: "histogram",
    labels: ["method"],
    help: "Time that the forge took to answer."
  },
  reeve_runners: {
    type: "gauge",
    labels: ["level", "status"],
    help: "Runners by the level they are of (organization, repository, user, instance) and their status, as sweeps saw them last."
  },
  reeve_drift: {
    type: "gauge",
    labels: [],
    help: "Things that were not as the operator\u2019s rules want them, and stayed so, when they were swept last; `reeve drift` lists them."
  },
  reeve_sweep_last_end_timestamp_seconds: {
    type: "gauge",
    labels: ["rule"],
    help: "When the latest sweep of an operator\u2019s rule ended, in seconds since 1970."
  },
  reeve_sweep_items: {
    type: "gauge",
    labels: ["rule"],
    help: "Items that the latest sweep of an operator\u2019s rule held against it."
  },
  reeve_sweep_failed_items: {
    type: "gauge",
    labels: ["rule"],
    help: "Items that the latest sweep of an operator\u2019s rule could not finish."
  }
};

// src/dashboard/metrics.ts
var seconds2 = [5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
function createMetrics() {
  const register = new Registry();
  let isAsked = false;
  const common = (name) => {
    const { help, labels } = metricTable[name];
    return { name, help, labelNames: [...labels], registers: [register] };
  };
  const counter = (name) => new Counter(common(name));
  const gauge = (name) => new Gauge(common(name));
  const histogram = (name) => new Histogram({ ...common(name), buckets: seconds2 });
  const refused = /* @__PURE__ */ new Map();
  const webhookRequests = counter("reeve_webhook_requests_total");
  const webhookSeconds = histogram("reeve_webhook_seconds");
  const runSeconds = histogram("reeve_run_seconds");
  const verdicts = counter("reeve_rule_verdicts_total");
  const changes = counter("reeve_changes_total");
  const forgeRequests = counter("reeve_forge_requests_total");
  const forgeSeconds = histogram("reeve_forge_request_seconds");
  const deliveries = gauge("reeve_deliveries");
  const oldest = gauge("reeve_queue_oldest_seconds");
  const runners = gauge("reeve_runners");
  const drift = gauge("reeve_drift");
  const sweepEnds = gauge("reeve_sweep_last_end_timestamp_seconds");
  const sweepItems = gauge("reeve_sweep_items");
  const sweepFailures = gauge("reeve_sweep_failed_items");
  gauge("reeve_build_info").set({ version: packageVersion() }, 1);
  const read = async ({ store, now, ...readings }) => {
    const [counts, waiting, levels, swept] = await Promise.all([
      store.counts(),
      store.oldestWaiting(),
      readings.runners(),
      readings.sweeps()
    ]);
    for (const [state, count2] of Object.entries(counts)) deliveries.set({ state }, count2);
    oldest.set(waiting === void 0 ? 0 : Math.max((now().getTime() - waiting.getTime()) / 1e3, 0));
    drift.set(swept.reduce((sum, one) => sum + one.drift, 0));
    for (const one of [runners, sweepEnds, sweepItems, sweepFailures]) one.reset();
    for (const { level, status } of levels) {
      runners.inc({ level: level.split(" ", 1)[0] ?? level, status });
    }
    for (const { rule, endedAt, items, failed } of swept) {
      sweepEnds.set({ rule }, endedAt.getTime() / 1e3);
      sweepItems.set({ rule }, items);
      sweepFailures.set({ rule }, failed);
    }
  };
  return {
    countRun({ trigger, rules, changes: made, outcomes, refused: refused2, ms }) {
      runSeconds.observe({ door: trigger.door }, ms / 1e3);
      for (const { verdict } of rules) verdicts.inc({ verdict });
      const actions = new Map(made.map(({ id, action }) => [id, action]));
      for (const { change, status } of outcomes) changes.inc({ action: actions.get(change) ?? "", status });
      for (const { change } of refused2) changes.inc({ action: change.action, status: "refused" });
    },
    countRequest({ method, status, ms }) {
      forgeRequests.inc({ method, code: status === void 0 ? "none" : String(status) });
      forgeSeconds.observe({ method }, ms / 1e3);
    },
    countDelivery(code, result) {
      webhookRequests.inc({ code: String(code), result });
      if (code >= 400) refused.set(code, (refused.get(code) ?? 0) + 1);
    },
    refusals: () => refused,
    countAnswer: (ms) => webhookSeconds.observe(ms / 1e3),
    async text(readings) {
      if (!isAsked) collectDefaultMetrics({ register });
      isAsked = true;
      await read(readings);
      return register.metrics();
    },
    contentType: register.contentType
  };
}

// src/sources/report.ts
import { createHash as createHash3 } from "node:crypto";
var statusContext = "reeve/rules";
var marker = "<!-- reeve:rules -->";
var title = "The rules of this repository cannot be used";
function createReporter(options) {
  const { client, how, pins, log = silentLog } = options;
  let telling = Promise.resolve();
  const report = async (head, files) => {
    if (head.commit === "" || head.archived) return;
    const key = `report rules ${head.at.id}`;
    const before = await pins.recall(key);
    const problems = files.flatMap((file) => file.problems);
    const digest = createHash3("sha256").update(problems.join("\n")).digest("hex");
    const isNew = before === void 0 ? problems.length > 0 : isOther(before, head.commit, digest, how);
    if (!isNew) return;
    const issue = how === "issue" ? await tellIssue(client, head, problems, before?.issue) : void 0;
    if (how === "status") await postRuleStatus(client, head.at, head.commit, summaryOf(problems));
    const isOver = problems.length === 0 && issue === void 0;
    const told2 = { commit: head.commit, digest, ...issue === void 0 ? {} : { issue } };
    await pins.remember(key, isOver ? void 0 : told2);
  };
  return {
    onRead(head, files) {
      if (how === "none") return;
      telling = telling.then(() => report(head, files)).catch((error) => {
        const repository = `${head.at.owner}/${head.at.name}`;
        log.warn(
          { repository, error: messageOf(error) },
          "could not tell the repository about its rule file"
        );
      });
    },
    async idle() {
      await telling;
    }
  };
}
function isOther(before, commit, digest, how) {
  return before.digest !== digest || how === "status" && before.commit !== commit;
}
function summaryOf(problems, good = "the rules can be used") {
  const [first] = problems;
  if (first === void 0) return { state: "success", description: good };
  const more = problems.length === 1 ? "" : ` (and ${problems.length - 1} more)`;
  const line = (first.split("\n")[0] ?? "").replace(new RegExp("\\p{Cc}", "gu"), " ");
  return { state: "failure", description: `${line.slice(0, 220)}${more}` };
}
async function postRuleStatus(client, at, sha, { state, description }) {
  await client.call(operations.createStatus, {
    params: { owner: at.owner, repo: at.name, sha },
    body: { context: statusContext, state, description }
  });
}
async function tellIssue(client, { at, commit }, problems, known) {
  const params = { owner: at.owner, repo: at.name };
  if (problems.length === 0) {
    if (known === void 0) return void 0;
    await client.call(operations.editIssue, {
      params: { ...params, index: known },
      body: { state: "closed" }
    });
    return void 0;
  }
  const body = `${marker}
Until this is mended none of the rules in the file is used. Read at ${commit}.

${fenced(problems)}`;
  if (known === void 0) {
    const made = await client.call(operations.createIssue, { params, body: { title, body } });
    return made.number;
  }
  await client.call(operations.editIssue, {
    params: { ...params, index: known },
    body: { body, state: "open" }
  });
  return known;
}
function fenced(problems) {
  const text = problems.join("\n\n").slice(0, 2e4);
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text
${text}
${fence}`;
}

// src/preview.ts
var activities = ["opened", "reopened", "synchronized"];
var replayed = 20;
function createPreview(options) {
  const { client, store, memory, nowMs, clock } = options;
  const powers = createPowers(options.grants);
  const look = async (at, index) => {
    const where = { owner: at.owner, repo: at.name };
    const pull = await client.call(operations.getPull, { params: { ...where, index } });
    const sha = pull.head?.sha;
    if (pull.state !== "open" || !sha) return;
    const shared = options.organizations.find(
      ({ rules: rules2 }) => rules2.toLowerCase() === `${at.owner}/${at.name}`.toLowerCase()
    );
    if (!await touchesRules(client, where, index, shared !== void 0)) return;
    const own = await readFileAt(client, at, { at, commit: sha, ref: sha }, powers.ofRepository(at));
    const ofOrganization2 = shared ? await readFilesAt(client, shared, { at, commit: sha, ref: sha }, powers.ofOrganization(shared.name)) : [];
    const files = [own, ...ofOrganization2];
    const problems = files.flatMap((file) => file.problems);
    const rules = files.flatMap((file) => file.rules).length;
    const mayReplay = problems.length === 0 && own.rules.length > 0 && await mayWrite(client, where, pull);
    const told2 = mayReplay ? `; ${await replay(at, sha, own)}` : "";
    const good = `${rules} ${rules === 1 ? "rule" : "rules"}, no problems${told2}`;
    await postRuleStatus(client, at, sha, summaryOf(problems, good));
  };
  const replay = async (at, commit, own) => {
    const actions = powers.ofRepository(at).filter((name) => findAction(name));
    const modest = await readFileAt(client, at, { at, commit, ref: commit }, actions);
    if (modest.problems.length > 0) return "not replayed, since it reads facts that were granted";
    const rules = createRuleSet(own.rules);
    const account = await options.account();
    const { items } = await store.listDeliveries({ repositoryId: at.id, limit: replayed });
    let changes = 0;
    let count2 = 0;
    for (const { id, door } of items) {
      const delivery = door === "webhook" ? await store.readDelivery(id) : void 0;
      if (delivery === void 0) continue;
      const run = await replayEvent(eventOf(delivery), {
        client,
        rules,
        memory,
        now: clock.now(),
        nowMs,
        account,
        delivery: id
      });
      changes += run.changes.length;
      count2 += 1;
    }
    return `on the last ${count2} deliveries it would make ${changes} ${changes === 1 ? "change" : "changes"}`;
  };
  return async (event) => {
    const { repository, subject } = event;
    if (event.family !== "pull_request" || !activities.includes(event.activity)) return;
    if (repository === void 0 || subject?.index === void 0) return;
    try {
      if (await options.served.has(repository)) await look(repository, subject.index);
    } catch (error) {
      if (error instanceof ReeveError && error.keepsWork) throw error;
      options.log.warn({ error: messageOf(error) }, "the rule file of a pull request could not be looked at");
    }
  };
}
async function touchesRules(client, where, index, isShared) {
  const isRule = (path) => typeof path === "string" && (repositoryPaths.some((known) => known === path) || isShared && /^rules\/[^/]+\.yml$/.test(path));
  for await (const file of client.items(operations.listPullFiles, { params: { ...where, index } })) {
    if (isRule(file.filename) || isRule(file.previous_filename)) return true;
  }
  return false;
}
async function mayWrite(client, where, pull) {
  const login = pull.user?.login;
  if (!login) return false;
  try {
    const params = { ...where, collaborator: login };
    const { permission } = await client.call(operations.getPermission, { params });
    return ["write", "admin", "owner"].includes(permission ?? "");
  } catch (error) {
    if (!(error instanceof ReeveError) || error.code !== "forge-forbidden") throw error;
    return pull.head?.repo_id !== void 0 && pull.head?.repo_id === pull.base?.repo_id;
  }
}

// src/readings.ts
import { relative } from "node:path";

// src/sweeps/schedule.ts
import { schedule as startTask } from "node-cron";
var scheduleKey = "schedules";
function slotOf({ id, schedule }, at) {
  return `${keyOf({ id, schedule })}@${at.toISOString()}`;
}
function keyOf({ id, schedule }) {
  return `${id}#${schedule.cron}`;
}
function createScheduler(options) {
  const { store, log, clock } = options;
  const crons = /* @__PURE__ */ new Map();
  const cursors = /* @__PURE__ */ new Map();
  let states;
  let looking;
  let timer;
  const load = async () => {
    if (states) return states;
    const kept = await store.recall(scheduleKey);
    states = new Map(Object.entries(kept ?? {}));
    return states;
  };
  const cronOf = (schedule) => {
    const key = `${schedule.cron} ${schedule.timezone}`;
    const cron = crons.get(key) ?? createCron(schedule);
    crons.set(key, cron);
    return cron;
  };
  const look = async (entry, state, now) => {
    const at = now.toISOString();
    if (state === void 0) return { lookedAt: at, overlaps: 0, missed: 0 };
    const key = keyOf(entry);
    const since = cursors.get(key) ?? new Date(state.lookedAt);
    cursors.set(key, now);
    if (now < since) return at < state.lookedAt ? { ...state, lookedAt: at } : state;
    const { last, count: count2 } = cronOf(entry.schedule).due(since, now);
    if (last === void 0) return state;
    const passed = { ...state, lookedAt: last.toISOString(), missed: state.missed + count2 - 1 };
    if (await isUnderWay(state.job)) {
      log.warn(
        { schedule: entry.id, slot: last.toISOString() },
        "left out: the slot before is still under way"
      );
      return { ...passed, overlaps: state.overlaps + 1 };
    }
    const slot = slotOf(entry, last);
    const { id, known } = await store.enqueue({
      door: "cron",
      uuid: slot,
      kind: entry.kind,
      lane: `${entry.kind} ${entry.id}`,
      receivedAt: now,
      payload: { ...entry.payload, slot, dueAt: last.toISOString() }
    });
    if (count2 > 1 && !known)
      log.info({ schedule: entry.id, missed: count2 - 1 }, "slots were missed; the last one runs now");
    if (!known) options.onEnqueued?.();
    return { ...passed, lastSlot: last.toISOString(), job: id };
  };
  const isUnderWay = async (job) => {
    const delivery = job === void 0 ? void 0 : await store.readDelivery(job);
    return delivery !== void 0 && delivery.state !== "settled" && delivery.state !== "dead";
  };
  const lookAtAll = async (now) => {
    const known = await load();
    let changed = false;
    for (const entry of options.entries()) {
      const key = keyOf(entry);
      const before = known.get(key);
      const after = await look(entry, before, now);
      if (after === before) continue;
      known.set(key, after);
      changed = true;
    }
    if (changed) await store.remember(scheduleKey, Object.fromEntries(known));
  };
  const tick = async (now) => {
    while (looking) await looking;
    looking = lookAtAll(now).finally(() => {
      looking = void 0;
    });
    await looking;
  };
  const tickOrTell = async () => {
    try {
      await tick(clock.now());
    } catch (error) {
      log.error({ error: messageOf(error) }, "the scheduler cannot use its store");
    }
  };
  return {
    tick,
    start() {
      if (timer) return;
      timer = startTask("* * * * *", tickOrTell, {
        timezone: "UTC",
        noOverlap: true,
        unref: true,
        suppressMissedWarning: true
      });
      void tickOrTell();
    },
    async stop() {
      await timer?.destroy();
      timer = void 0;
      await looking?.catch(() => {
      });
    },
    status: () => states ?? /* @__PURE__ */ new Map()
  };
}

// src/sweeps/catch-up.ts
import { createHash as createHash4 } from "node:crypto";
import { z as z2 } from "zod";

// src/sweeps/seen-repository.ts
var maxItems = 1e3;
function seenItemOf(value, kind) {
  if (typeof value !== "object" || value === null) return void 0;
  const { state, updated_at, labels, title: title2, body, head, base } = value;
  if (typeof state !== "string" || typeof updated_at !== "string") return void 0;
  const commit = memberOf(head, "sha");
  return {
    kind,
    state,
    updated: updated_at,
    labels: (Array.isArray(labels) ? labels : []).map((label) => String(memberOf(label, "name"))).sort().join("\n"),
    text: `${String(title2 ?? "")}
${String(memberOf(base, "ref") ?? "")}
${digestOf(String(body ?? ""))}`,
    ...typeof commit === "string" ? { head: commit } : {}
  };
}
function memberOf(value, name) {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : void 0;
}
function digestOf(text) {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum, 31) + text.charCodeAt(at) | 0;
  return `${text.length}:${sum}`;
}

// src/sweeps/difference.ts
var nothing = "0".repeat(40);
function differencesOf(seen, live) {
  const items = live.items.toSorted((a, b) => a.number - b.number);
  return [
    ...seen.isNew ? [madeNow] : [],
    ...refDifferences(seen.refs, live.refs),
    ...seen.tags ? tagDifferences(seen.tags, live.tags) : [],
    ...items.flatMap((item) => itemDifferences(seen, item))
  ];
}
var madeNow = { eventType: "repository", payload: { action: "created" }, key: "created" };
function* refDifferences(before, after) {
  for (const [name, commit] of Object.entries(after)) {
    const known = before[name];
    if (known === commit) continue;
    if (known === void 0) {
      const payload2 = { ref: name, ref_type: "branch", sha: commit };
      yield { eventType: "create", payload: payload2, key: `create ${name} ${commit}` };
    }
    const payload = { ref: `refs/heads/${name}`, before: known ?? nothing, after: commit };
    yield { eventType: "push", payload, key: `push ${name} ${known ?? nothing} ${commit}` };
  }
  for (const [name, commit] of Object.entries(before)) {
    if (after[name] !== void 0) continue;
    const payload = { ref: name, ref_type: "branch" };
    yield { eventType: "delete", payload, key: `delete ${name} ${commit}` };
  }
}
function* tagDifferences(before, after) {
  for (const [name, { id, commit }] of Object.entries(after)) {
    const known = before[name];
    if (known === id || known === commit) continue;
    const push = { ref: `refs/tags/${name}`, before: nothing, after: id };
    yield { eventType: "push", payload: push, key: `push tag ${name} ${id}` };
    const payload = { ref: name, ref_type: "tag", sha: id };
    yield { eventType: "create", payload, key: `create tag ${name} ${id}` };
  }
  for (const [name, known] of Object.entries(before)) {
    if (after[name] !== void 0) continue;
    const push = { ref: `refs/tags/${name}`, before: known, after: nothing };
    yield { eventType: "push", payload: push, key: `push tag ${name} ${known} gone` };
    const payload = { ref: name, ref_type: "tag" };
    yield { eventType: "delete", payload, key: `delete tag ${name} ${known}` };
  }
}
function itemDifferences(seen, item) {
  const now = seenItemOf(item.value, item.kind);
  if (now === void 0) return [];
  const before = seen.items[item.number];
  return activitiesOf(before, now, { item, seen }).map(
    (activity) => missedOf(item, now, { activity, before })
  );
}
function activitiesOf(before, now, { item, seen }) {
  const since = Date.parse(seen.at);
  const isOpen = now.state === "open";
  if (before === void 0) {
    const moved = item.hasMoved ? ["synchronized"] : [];
    if (instantOf(item.value.created_at) >= since) return ["opened", ...moved, ...isOpen ? [] : ["closed"]];
    if (seen.isNew) return [];
    if (isOpen) return ["reopened", ...moved];
    return instantOf(item.value.closed_at) >= since ? ["closed"] : [];
  }
  const found = [];
  const wasOpen = before.state === "open";
  if (isOpen && !wasOpen) found.push("reopened");
  const isMoved = before.head !== void 0 && now.head !== void 0 && before.head !== now.head;
  if (isMoved && (isOpen || wasOpen)) found.push("synchronized");
  if (wasOpen && !isOpen) found.push("closed");
  if (before.text !== now.text) found.push("edited");
  if (before.labels !== now.labels) found.push("label_updated");
  return found;
}
function instantOf(value) {
  return typeof value === "string" ? Date.parse(value) : Number.NaN;
}
var typesOf = {
  pull_request: { synchronized: "pull_request_sync", label_updated: "pull_request_label" },
  issue: { label_updated: "issue_label" }
};
function missedOf({ kind, number, value }, now, { activity, before }) {
  const plain = kind === "issue" ? "issues" : "pull_request";
  const isMoved = activity === "synchronized";
  return {
    eventType: typesOf[kind][activity] ?? plain,
    payload: {
      action: activity,
      number,
      [kind]: value,
      // Where nobody knows which commit was there before, all of the pull request is told.
      ...isMoved ? { before: before?.head ?? value.merge_base ?? now.head, after: now.head } : {}
    },
    key: `${number} ${activity} ${now.updated} ${now.head ?? ""}`
  };
}

// src/sweeps/live.ts
async function readLive({ login, name }, client, before) {
  const params = { owner: login, repo: name };
  const refs = {};
  for await (const branch of client.items(operations.listBranches, { params })) {
    if (branch.commit?.id) refs[branch.name] = branch.commit.id;
  }
  const tags = {};
  for await (const tag of client.items(operations.listTags, { params })) {
    const commit = tag.commit?.sha ?? tag.id;
    if (commit) tags[tag.name] = { id: tag.id ?? commit, commit };
  }
  const items = /* @__PURE__ */ new Map();
  const add = (kind, number, value) => {
    items.set(number, { kind, number, value });
  };
  for await (const pull of client.items(operations.listPulls, { params, query: { state: "open" } })) {
    add("pull_request", pull.number, pull);
  }
  const query = before === void 0 ? { state: "open", type: "issues" } : { state: "all", since: before.at };
  for await (const issue of client.items(operations.listIssues, { params, query })) {
    if (!issue.pull_request) add("issue", issue.number, issue);
    else if (!items.has(issue.number) && isNews(issue, before)) {
      const index = issue.number;
      add("pull_request", index, await client.call(operations.getPull, { params: { ...params, index } }));
    }
  }
  for (const [number, item] of items) {
    if (before === void 0 || !await hasMoved(item, { client, params, before })) continue;
    items.set(number, { ...item, hasMoved: true });
  }
  return { refs, tags, items: [...items.values()] };
}
async function hasMoved({ kind, number, value }, {
  client,
  params,
  before
}) {
  const [createdMs, updatedMs] = [value.created_at, value.updated_at].map((at) => Date.parse(String(at)));
  const sha = seenItemOf(value, kind)?.head;
  if (sha === void 0 || before.items[number] !== void 0 || createdMs === updatedMs) return false;
  try {
    const query = { stat: false, verification: false, files: false };
    const { created } = await client.call(operations.getCommit, { params: { ...params, sha }, query });
    return Date.parse(created ?? "") > Math.max(createdMs ?? 0, Date.parse(before.at));
  } catch (error) {
    if (error instanceof ReeveError && error.code === "forge-not-found") return false;
    throw error;
  }
}
function isNews({ number, updated_at }, before) {
  const known = before?.items[number];
  return known === void 0 || Date.parse(known.updated) !== Date.parse(updated_at ?? "");
}

// src/sweeps/patience.ts
var maxPauses = 3;
var maxPauseMs = 3e5;
function pauseFor(error, pauses) {
  if (!(error instanceof ReeveError) || error.code !== "forge-throttled" || pauses >= maxPauses)
    return void 0;
  const pauseMs = error.retryAfterMs ?? 1e3;
  return pauseMs > maxPauseMs ? void 0 : pauseMs;
}
function patientClient(client, pause) {
  const patiently = async (ask) => {
    for (let pauses = 0; ; pauses += 1) {
      try {
        return await ask();
      } catch (error) {
        const pauseMs = pauseFor(error, pauses);
        if (pauseMs === void 0) throw error;
        await pause(pauseMs);
      }
    }
  };
  const pages2 = async function* (operation, input, from = 1) {
    let next = from;
    let source = client.pages(operation, input, next);
    for (; ; ) {
      const step2 = await patiently(async () => {
        try {
          return await source.next();
        } catch (error) {
          source = client.pages(operation, input, next);
          throw error;
        }
      });
      if (step2.done) return;
      next = step2.value.page + 1;
      yield step2.value;
    }
  };
  return {
    get requests() {
      return client.requests;
    },
    call: (operation, input) => patiently(() => client.call(operation, input)),
    // A write is planned again from fresh reads, never just repeated.
    send: (operation, input) => client.send(operation, input),
    pages: pages2,
    async *items(operation, input) {
      for await (const { items } of pages2(operation, input)) yield* items;
    },
    counted: () => patientClient(client.counted(), pause),
    capabilities: () => client.capabilities()
  };
}

// src/sweeps/pages.ts
var maxStalePages = 20;
var maxReturns = 50;
async function* freshPages(open, options) {
  const { idOf: idOf2, seen = /* @__PURE__ */ new Set() } = options;
  let from = options.from ?? 1;
  let before;
  let stale = 0;
  let returns = 0;
  while (from !== void 0) {
    const start = from;
    from = void 0;
    for await (const page of open(start)) {
      const lost = before === void 0 || page.total === void 0 ? 0 : before - page.total;
      before = page.total ?? before;
      if (lost > 0 && page.page > 1 && returns < maxReturns) {
        returns += 1;
        from = Math.max(1, page.page - Math.ceil(lost / Math.max(page.items.length, 1)));
        if (from < page.page) break;
        from = void 0;
      }
      const items = page.items.filter((item) => !seen.has(idOf2(item)));
      for (const item of items) seen.add(idOf2(item));
      stale = items.length === 0 && page.items.length > 0 ? stale + 1 : 0;
      if (stale > maxStalePages) {
        throw new ReeveError("forge-paging", `the list does not end: ${stale} pages brought nothing new`);
      }
      yield { ...page, items };
    }
  }
}

// src/sweeps/repositories.ts
async function* servedRepositories(client, { login, listed, only }, from = { source: 0, page: 1 }) {
  const isListed = listed.length === 0 ? () => false : createScope(listed);
  const seen = /* @__PURE__ */ new Set();
  const sources = only ? only.map((name) => named(client, name)) : [starredBy(client, login), ...listedSources(client, listed)];
  for (const [source, open] of sources.entries()) {
    if (source < from.source) continue;
    const start = source === from.source ? from.page : 1;
    for await (const { items, page, total } of freshPages(open, { from: start, idOf, seen })) {
      const repositories = items.filter(
        (one) => !one.archived && (only || source === 0 || isListed(`${one.owner.login}/${one.name}`))
      );
      yield {
        repositories,
        place: { source, page },
        following: { source, page: page + 1 },
        total: source === 0 && sources.length === 1 ? total : void 0
      };
    }
  }
}
function refOf({ id, owner, name }) {
  return { id, owner: owner.login, name };
}
function idOf({ id }) {
  return id;
}
function starredBy(client, login) {
  return async function* (from) {
    yield* client.pages(operations.listStarred, { params: { username: await login() } }, from);
  };
}
function listedSources(client, listed) {
  const positive = listed.filter((pattern) => !pattern.startsWith("!"));
  if (positive.length === 0) return [];
  const exact = positive.filter((pattern) => /^[^/*?[\]{}]+\/[^/*?[\]{}]+$/.test(pattern));
  const owners = new Set(
    positive.filter((pattern) => !exact.includes(pattern)).map((pattern) => pattern.split("/")[0] ?? "").filter((owner) => /^[^*?[\]{}]+$/.test(owner))
  );
  return [
    (from) => client.pages(operations.listOwnRepositories, {}, from),
    ...[...owners].map((org) => ofOrganization(client, org)),
    ...exact.map((name) => named(client, name))
  ];
}
function ofOrganization(client, org) {
  return (from) => unlessMissing(client.pages(operations.listOrganizationRepositories, { params: { org } }, from));
}
function named(client, name) {
  const [owner = "", repo = ""] = name.split("/");
  return (from) => unlessMissing(one(from));
  async function* one(from) {
    if (from > 1) return;
    const found = await client.call(operations.getRepository, { params: { owner, repo } });
    yield { page: 1, items: [found], total: 1 };
  }
}
async function* unlessMissing(pages2) {
  try {
    yield* pages2;
  } catch (error) {
    if (!(error instanceof ReeveError) || error.code !== "forge-not-found") throw error;
  }
}

// src/sweeps/catch-up.ts
var CaughtUp = z2.object({ eventType: z2.string(), payload: z2.record(z2.string(), z2.unknown()) });
function caughtUpEvent(payload) {
  const { eventType, payload: whole } = CaughtUp.parse(payload);
  return parseEvent(eventType, whole);
}
var restKey = "catch-up rest";
var passKey = "catch-up at";
var standardRequests = 2e4;
function createCatchUp(options) {
  const { store, seen, log, clock } = options;
  const listeningFrom = clock.now();
  return async (_job, _payload, lease) => {
    const mayGoOn = () => {
      if (lease.signal.aborted) throw lease.signal.reason;
      if (lease.stopping.aborted) throw lease.giveBack("the process is stopping");
    };
    const stop = AbortSignal.any([lease.signal, lease.stopping]);
    const client = patientClient(options.client.counted(), async (ms) => {
      await options.sleep(ms, stop).catch(() => {
      });
      mayGoOn();
    });
    const budget = options.maxCatchUpRequests ?? standardRequests;
    const beganAt = clock.now();
    await seen.save();
    const found = await candidates(client, options.served);
    await beginNew(found, options, listeningFrom);
    await store.remember(passKey, beganAt.toISOString());
    const waiting = await inOrder(found, store);
    const rest = [];
    let [missed, failed] = [0, 0];
    for (const candidate of waiting) {
      mayGoOn();
      if (client.requests >= budget) {
        rest.push(candidate.id);
        continue;
      }
      try {
        missed += await catchUpWith(candidate, client, options);
      } catch (error) {
        if (error instanceof ReeveError && error.code === "forge-unreachable") throw error;
        failed += 1;
        log.warn(
          { repository: candidate.full_name, error: messageOf(error) },
          "could not catch up with a repository"
        );
      }
      await lease.advance({ runs: [], checkpoint: null });
    }
    await store.remember(restKey, rest.length === 0 ? void 0 : rest);
    const repositories = waiting.length - rest.length;
    log.info({ repositories, missed, failed, left: rest.length, requests: client.requests }, "caught up");
    return [];
  };
}
async function candidates(client, served) {
  const found = [];
  for await (const { repositories } of servedRepositories(client, served)) {
    for (const { id, name, full_name, owner, created_at, updated_at } of repositories) {
      const updatedMs = Date.parse(updated_at ?? "") || 0;
      found.push({ id, name, full_name, login: owner.login, createdAt: created_at ?? void 0, updatedMs });
    }
  }
  return found;
}
async function beginNew(found, { seen, store }, listeningFrom) {
  const before = Math.floor(Date.parse(String(await store.recall(passKey))) / 1e3) * 1e3;
  for (const { id, createdAt } of found) {
    const createdMs = Date.parse(createdAt ?? "");
    if (createdAt === void 0 || !(createdMs >= before && createdMs < listeningFrom.getTime())) continue;
    if (await seen.read(id) !== void 0) continue;
    await seen.write(id, { at: createdAt, items: {}, refs: {}, tags: {}, isNew: true });
  }
}
async function inOrder(found, store) {
  const rest = new Set(await store.recall(restKey) ?? []);
  return found.toSorted(
    (a, b) => Number(rest.has(b.id)) - Number(rest.has(a.id)) || b.updatedMs - a.updatedMs
  );
}
async function catchUpWith(candidate, client, options) {
  const { seen, store, clock } = options;
  const before = await seen.read(candidate.id);
  const live = await readLive(candidate, client, before);
  const missed = before === void 0 ? [] : differencesOf(before, live);
  for (const one of missed) await enqueue(one, candidate, { store, now: clock.now() });
  if (missed.length > 0) options.onEnqueued();
  const known = await seen.read(candidate.id) ?? before;
  const { updatedMs } = candidate;
  const from = updatedMs > 0 ? new Date(updatedMs) : clock.now();
  await seen.write(candidate.id, advance(known, live, from));
  return missed.length;
}
async function enqueue({ eventType, payload, key }, { id, name, full_name, login }, { store, now }) {
  const repository = { id, name, full_name, owner: { login } };
  const whole = { ...payload, repository, sender: null, caught_up: true };
  const digest = createHash4("sha256").update(key).digest("hex").slice(0, 32);
  await store.enqueue({
    door: "cron",
    uuid: `caught-up#${id}#${digest}`,
    kind: "caught-up",
    lane: laneOf(parseEvent(eventType, whole)),
    receivedAt: now,
    payload: { eventType, payload: whole }
  });
}
function advance(known, live, from) {
  const { refs, items } = live;
  const tags = Object.fromEntries(Object.entries(live.tags).map(([name, { commit }]) => [name, commit]));
  const after = { ...known?.items };
  let at = known?.at;
  for (const { kind, number, value } of items) {
    const item = seenItemOf(value, kind);
    if (item === void 0) continue;
    after[number] = item;
    if (at === void 0 || Date.parse(item.updated) > Date.parse(at)) at = item.updated;
  }
  return { at: at ?? from.toISOString(), items: after, refs, tags };
}

// src/sweeps/chores.ts
var standardRetention = { days: 30, maxBytes: 5 * 2 ** 30 };
function createChores(options) {
  const { store, log, retention } = options;
  return {
    retention: {
      cron: "41 3 * * *",
      async run(now) {
        const olderThan = new Date(now.getTime() - retention.days * 864e5);
        const gone = await store.prune({ olderThan, maxBytes: retention.maxBytes });
        log.info(gone, "forgot what is old");
      }
    },
    health: {
      cron: "*/10 * * * *",
      async run() {
        const health = await store.healthy();
        if (!health.ok) log.error({ reason: health.reason }, "the disk needs attention");
        try {
          await options.checkToken();
        } catch (error) {
          log.error({ error: messageOf(error) }, "the forge does not take our credential");
        }
      }
    },
    rules: { cron: "23 * * * *", run: options.readRules }
  };
}
function scheduledChores(chores) {
  return Object.entries(chores).map(([name, { cron }]) => ({
    id: name,
    schedule: { cron, timezone: "UTC" },
    kind: "chore",
    payload: { chore: name }
  }));
}

// src/sweeps/jobs.ts
import { z as z3 } from "zod";

// src/sweeps/sweep-item.ts
import { createHash as createHash5 } from "node:crypto";
async function runPatiently(target, given) {
  for (let pauses = 0; ; pauses += 1) {
    const ran = await runOne(target, given);
    const pauseMs = pauseFor(ran.retry, pauses);
    if (pauseMs === void 0) return ran;
    await given.pause(pauseMs);
  }
}
async function runOne(target, { parts, order: order2, rules, account }) {
  const { clock, memory, nowMs } = parts;
  const client = parts.client.counted();
  const now = clock.now();
  return runItem({
    ...parts.settings,
    id: runIdOf(order2.slot, target.key, now),
    mode: "enforce",
    trigger: {
      door: order2.door,
      kind: "schedule",
      activity: "",
      delivery: order2.job,
      slot: order2.slot,
      item: target.key,
      at: now.toISOString()
    },
    rules,
    item: target.item,
    facts: createFacts({ client, subject: target.subject, memory, nowMs }),
    client,
    account,
    memory: parts.actionMemory,
    now,
    nowMs
  }).catch((error) => {
    throw new ReeveError("internal", `${target.key}: ${messageOf(error)}`, { cause: error });
  });
}
function runIdOf(slot, item, now) {
  const hex = createHash5("sha256").update(`${slot}
${item}
${now.toISOString()}`).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    "-"
  );
}

// src/sweeps/in-repositories.ts
var atOnce = 8;
async function* targetsInRepositories(each, walk) {
  const from = walk.from;
  for await (const page of servedRepositories(walk.client, walk.served, from)) {
    const isFirst = from?.source === page.place.source && from.page === page.place.page;
    const refs = page.repositories.map(refOf).filter((repository) => walk.isInScope({ kind: "repository", repository }));
    let done = isFirst ? from.done : 0;
    let inside = isFirst ? from.inside : void 0;
    for (; done < refs.length; done += atOnce) {
      yield* ofSome(refs.slice(done, done + atOnce), { each, walk, place: { ...page.place, done }, inside });
      inside = void 0;
    }
    yield { targets: [], next: { ...page.following, done: 0 } };
  }
}
async function* ofSome(refs, some) {
  const { each, walk, place, inside } = some;
  const skipped = inside ? refs.findIndex(({ id }) => id === inside.repository) : -1;
  const lists = refs.slice(Math.max(skipped, 0)).map((ref) => {
    const start = inside === void 0 ? 1 : ref.id === inside.repository ? inside.page : 2;
    return { ref, pages: listOf(each, ref, { client: walk.client, from: start }) };
  });
  const firsts = await Promise.all(lists.map(async (list) => ({ ...list, first: await step(list.pages) })));
  const [longest] = firsts.filter(({ first }) => "page" in first);
  yield {
    targets: firsts.flatMap(({ first }) => "page" in first ? first.page.items : []),
    failures: firsts.flatMap(({ ref, first }) => "error" in first ? [failureAt(ref, first.error)] : []),
    next: longest ? { ...place, inside: { repository: longest.ref.id, page: (inside?.page ?? 1) + 1 } } : { ...place, done: place.done + atOnce }
  };
  for (const { ref, pages: pages2, first } of firsts) {
    if (!("page" in first)) continue;
    for (let at = await step(pages2); !("end" in at); at = await step(pages2)) {
      if ("error" in at) {
        yield { targets: [], failures: [failureAt(ref, at.error)], next: place };
        break;
      }
      const next = { ...place, inside: { repository: ref.id, page: at.page.page + 1 } };
      yield { targets: at.page.items, next };
    }
  }
}
async function step(pages2) {
  try {
    const { value, done } = await pages2.next();
    return done ? { end: true } : { page: value };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}
function failureAt({ owner, name }, error) {
  return { item: `${owner}/${name}`, error };
}
async function* listOf(each, repository, { client, from }) {
  const at = `${repository.owner}/${repository.name}`;
  const params = { owner: repository.owner, repo: repository.name };
  const state = each.state ?? "open";
  if (each.kind === "branch") {
    const open2 = (page) => client.pages(operations.listBranches, { params }, page);
    for await (const page of freshPages(open2, { from, idOf: ({ name }) => name })) {
      const items = page.items.map(
        (branch) => ({
          key: `${at}@${branch.name}`,
          subject: { kind: "branch", repository, ref: branch.name },
          item: { branch }
        })
      );
      yield { ...page, items };
    }
    return;
  }
  if (each.kind === "issue") {
    const query = { type: "issues", state };
    const open2 = (page) => client.pages(operations.listIssues, { params, query }, page);
    for await (const page of freshPages(open2, { from, idOf: ({ number }) => number })) {
      const items = page.items.map(
        (issue) => ({
          key: `${at}#${issue.number}`,
          subject: { kind: "issue", repository, index: issue.number },
          item: { issue }
        })
      );
      yield { ...page, items };
    }
    return;
  }
  const open = (page) => client.pages(operations.listPulls, { params, query: { state } }, page);
  for await (const page of freshPages(open, { from, idOf: ({ number }) => number })) {
    const items = page.items.map(
      ({ number }) => ({
        key: `${at}#${number}`,
        subject: { kind: "pull_request", repository, index: number },
        item: {}
      })
    );
    yield { ...page, items };
  }
}

// src/sweeps/narrow.ts
import { parse as parse2 } from "@marcbachmann/cel-js";
var subjectTypes = {
  Issue: "issue",
  Pull: "pull",
  Commit: "commit",
  Repository: "repository"
};
function narrowNotifications(condition, now) {
  const parts = condition === void 0 ? [] : conjuncts(parse2(condition).ast);
  return { ...statuses(parts, condition ?? ""), ...types(parts), ...bounds(parts, now) };
}
function conjuncts(node) {
  return node.op === "&&" ? [...conjuncts(node.args[0]), ...conjuncts(node.args[1])] : [node];
}
function statuses(parts, condition) {
  const said = (name) => {
    for (const part of parts) {
      const answer = saysFlag(part, `notification.${name}`);
      if (answer !== void 0) return answer;
    }
    return void 0;
  };
  const [unread, pinned] = [said("unread"), said("pinned")];
  if (unread === true) return { "status-types": ["unread"] };
  if (pinned === true) return { "status-types": ["pinned"] };
  if (unread === false && pinned === false) return { "status-types": ["read"] };
  if (unread === false) return { "status-types": ["read", "pinned"] };
  if (pinned === false && !/notification\.unread\b/.test(condition)) return { "status-types": ["unread"] };
  return /notification\.(unread|pinned)\b/.test(condition) ? { all: true } : {};
}
function saysFlag(node, chain) {
  if (textOf(node) === chain) return true;
  if (node.op === "!_") {
    const inner = saysFlag(node.args, chain);
    return inner === void 0 ? void 0 : !inner;
  }
  if (node.op !== "==" || textOf(node.args[0]) !== chain || node.args[1].op !== "value") return void 0;
  const value = node.args[1].args;
  return typeof value === "boolean" ? value : void 0;
}
function types(parts) {
  for (const part of parts) {
    if (part.op !== "==" && part.op !== "in") continue;
    const [left, right] = part.args;
    if (textOf(left) !== "notification.subject.type") continue;
    const written = right.op === "list" ? right.args : [right];
    const words = written.map(
      (one) => one.op === "value" ? subjectTypes[String(one.args)] : void 0
    );
    if (words.length > 0 && words.every((word) => word !== void 0)) {
      return { "subject-type": words };
    }
  }
  return {};
}
function bounds(parts, now) {
  const found = {};
  for (const part of parts) {
    if (part.op !== "<" && part.op !== "<=" && part.op !== ">" && part.op !== ">=") continue;
    const [left, right] = part.args;
    const isLeft = isUpdated(left);
    if (!isLeft && !isUpdated(right)) continue;
    const instant2 = instantOf2(isLeft ? right : left, now);
    if (instant2 === void 0) continue;
    const isUpper = part.op.startsWith("<") === isLeft;
    if (isUpper) found.before = earlier(found.before, instant2);
    else found.since = later(found.since, instant2);
  }
  return found;
}
function earlier(known, instant2) {
  return known === void 0 || instant2 < known ? instant2 : known;
}
function later(known, instant2) {
  return known === void 0 || instant2 > known ? instant2 : known;
}
function isUpdated(node) {
  return node.op === "call" && node.args[0] === "timestamp" && textOf(node.args[1][0]) === "notification.updated_at";
}
function instantOf2(node, now) {
  if (textOf(node) === "now") return now.toISOString();
  if (node.op === "call" && node.args[0] === "timestamp") {
    const at = new Date(literalText(node.args[1][0]) ?? Number.NaN);
    return Number.isNaN(at.getTime()) ? void 0 : at.toISOString();
  }
  if (node.op !== "-" || textOf(node.args[0]) !== "now") return void 0;
  const length = node.args[1];
  if (length.op !== "call" || length.args[0] !== "duration") return void 0;
  const ms = durationMs(literalText(length.args[1][0]) ?? "");
  return ms === void 0 ? void 0 : new Date(now.getTime() - ms).toISOString();
}
var unitMs = { ms: 1, s: 1e3, m: 6e4, h: 36e5 };
function durationMs(written) {
  if (!/^(\d{1,9}(\.\d{1,3})?(ms|s|m|h)){1,4}$/.test(written)) return void 0;
  let sum = 0;
  for (const [, amount, unit] of written.matchAll(/([\d.]+)(ms|s|m|h)/g)) {
    sum += Number(amount) * (unitMs[unit ?? ""] ?? 0);
  }
  return sum;
}
function literalText(node) {
  return node?.op === "value" && typeof node.args === "string" ? node.args : void 0;
}
function textOf(node) {
  if (node === void 0) return "";
  if (node.op === "id") return node.args;
  if (node.op === ".") return `${textOf(node.args[0])}.${node.args[1]}`;
  return "";
}

// src/sweeps/notifications.ts
var itemsPerPage = 50;
var maxStalePages2 = 20;
var maxSeen = 5e3;
async function* targetsInNotifications(walk) {
  const { before: last, ...narrowed } = narrowNotifications(walk.rule.condition?.source, walk.now);
  let before = walk.from?.before ?? last;
  const seen = /* @__PURE__ */ new Set();
  let page = 1;
  let isNews2 = false;
  let stale = 0;
  for (; ; ) {
    const query = {
      ...queryOf2(narrowed),
      ...before === void 0 ? {} : { before },
      limit: itemsPerPage,
      page
    };
    const threads = await walk.client.call(operations.listNotifications, { query });
    const fresh = threads.filter(({ id }) => !seen.has(id));
    for (const { id } of fresh) seen.add(id);
    for (const id of seen) if (seen.size > maxSeen) seen.delete(id);
    const end = threads.at(-1);
    if (end === void 0) {
      if (page === 1 || !isNews2) return;
      page = 1;
      isNews2 = false;
      continue;
    }
    isNews2 ||= fresh.length > 0;
    stale = fresh.length === 0 ? stale + 1 : 0;
    if (stale > maxStalePages2) {
      throw new ReeveError(
        "forge-paging",
        `the notifications do not end: ${stale} pages brought nothing new`
      );
    }
    const until = end.updated_at ?? before;
    const targets = fresh.map(targetOf).filter(({ subject }) => walk.isInScope(subject));
    yield { targets, next: { ...until === void 0 ? {} : { before: until } } };
    const isSameInstant = until === void 0 || before !== void 0 && Date.parse(until) >= Date.parse(before);
    page = isSameInstant ? page + 1 : 1;
    if (!isSameInstant) isNews2 = false;
    before = isSameInstant ? before : until;
  }
}
function queryOf2(narrowed) {
  const { "status-types": statuses2, "subject-type": types2, ...rest } = narrowed;
  return {
    ...rest,
    ...statuses2 ? { "status-types": [...statuses2] } : {},
    ...types2 ? { "subject-type": [...types2] } : {}
  };
}
function targetOf(notification) {
  const repository = notification.repository ? refOf(notification.repository) : void 0;
  return {
    key: `notification ${notification.id}`,
    subject: subjectOf(notification, repository),
    item: { notification }
  };
}
function subjectOf(thread, repository) {
  const number = /\/(?:issues|pulls)\/(\d+)$/.exec(thread.subject?.url ?? "")?.[1];
  return {
    kind: "notification",
    thread: thread.id,
    ...repository ? { repository } : {},
    ...number === void 0 ? {} : { index: Number(number) }
  };
}

// src/sweeps/runners.ts
async function* targetsInRunners(walk) {
  const { client } = walk;
  const known = /* @__PURE__ */ new Set();
  if (walk.from === void 0) {
    for await (const { name } of client.items(operations.listOwnOrganizations, {})) {
      const subject3 = { kind: "runner", organization: name };
      if (!walk.isInScope(subject3)) continue;
      yield* ofLevel({ level: "organization", owner: name }, operations.listOrganizationRunners, {
        walk,
        subject: subject3,
        known,
        params: { org: name }
      });
    }
    const owner = await walk.served.login();
    const subject2 = { kind: "runner" };
    if (walk.isInScope(subject2)) {
      yield* ofLevel({ level: "user", owner }, operations.listOwnRunners, {
        walk,
        subject: subject2,
        known,
        params: {}
      });
    }
  }
  yield* ofRepositories(walk, known);
  const subject = { kind: "runner" };
  if (walk.isInScope(subject)) {
    for (const id of await knownElsewhere(walk)) known.add(id);
    const options = { walk, subject, known, params: {} };
    yield* ofLevel({ level: "instance", owner: "" }, operations.listSiteRunners, options);
  }
}
async function knownElsewhere(walk) {
  const levels = Object.entries(await walk.runners.levels()).filter(([name]) => name !== "instance");
  return levels.flatMap(
    ([, records]) => Object.entries(records).flatMap(([id, { status }]) => status === "gone" ? [] : [Number(id)])
  );
}
async function* ofRepositories(walk, known) {
  const from = walk.from;
  const start = from && "page" in from ? from : void 0;
  for await (const page of servedRepositories(walk.client, walk.served, start)) {
    for (const one of page.repositories) {
      const repository = refOf(one);
      const subject = { kind: "runner", repository };
      if (!one.permissions?.admin || !walk.isInScope(subject)) continue;
      const owner = `${repository.owner}/${repository.name}`;
      const params = { owner: repository.owner, repo: repository.name };
      const level = { level: "repository", owner };
      yield* ofLevel(level, operations.listRepositoryRunners, {
        walk,
        subject,
        known,
        params,
        next: page.place
      });
    }
    yield { targets: [], next: page.following };
  }
}
async function* ofLevel(level, operation, asked) {
  const { walk, subject, known, params } = asked;
  const name = [level.level, level.owner].filter(Boolean).join(" ");
  const next = asked.next ?? { stage: "repositories" };
  let seen;
  try {
    seen = (await listRunners(walk.client, operation, params)).filter(({ id }) => !known.has(id));
  } catch (error) {
    if (isPassedOver(error)) return;
    if (error instanceof ReeveError && error.code === "forge-unreachable") throw error;
    yield { targets: [], next, failures: [{ item: `runners of ${name}`, error: asError(error) }] };
    return;
  }
  for (const { id } of seen) known.add(id);
  const records = await walk.runners.observe(name, seen, walk.now);
  const present = Object.entries(records).filter(([, { status }]) => status !== "gone");
  const gone = Object.entries(records).filter(
    ([, { status, told: told2 }]) => status === "gone" && !told2?.includes(walk.rule.id)
  );
  const targets = [...present, ...gone].map(
    ([id, record]) => targetOf2(id, record, { ...level, subject, walk })
  );
  yield { targets, next };
  if (gone.length > 0) {
    const ids = gone.map(([id]) => id);
    await walk.runners.told(name, ids, walk.rule.id);
  }
}
function isPassedOver(error) {
  return error instanceof ReeveError && (error.code === "forge-forbidden" || error.code === "forge-not-found");
}
function asError(error) {
  return error instanceof Error ? error : new Error(messageOf(error));
}
function targetOf2(id, record, { level, owner, subject, walk }) {
  const sinceMs = (instant2) => Math.max(walk.now.getTime() - Date.parse(instant2), 0);
  const isIdle = record.status === "online" && !record.busy;
  const runner = {
    id: Number(id),
    name: record.name,
    status: record.status,
    busy: record.busy,
    disabled: record.disabled,
    labels: record.labels.map((name) => ({ name })),
    level,
    owner,
    offline_for: record.status === "offline" ? sinceMs(record.since) : 0,
    idle_for: isIdle ? Math.min(sinceMs(record.activeAt), sinceMs(record.since)) : 0,
    flaps: record.changes.filter((change) => sinceMs(change) < flapsWithinMs).length
  };
  return { key: `runner ${id} (${record.name})`, subject, item: { runner } };
}
async function listRunners(client, operation, params) {
  const found = /* @__PURE__ */ new Map();
  const items = client.items(operation, {
    params
  });
  for await (const { id, name, status, busy, disabled, labels } of items) {
    found.set(id, {
      ...{ id, name },
      status: status === "offline" ? "offline" : "online",
      busy: busy ?? false,
      disabled: disabled ?? false,
      labels: labels.map((label) => label.name)
    });
  }
  return [...found.values()];
}

// src/sweeps/targets.ts
function eachTarget(each, walk) {
  switch (each.kind) {
    case "repository":
      return ofRepositories2(walk);
    case "organization":
      return ofOrganizations(walk);
    case "notification":
      return targetsInNotifications(walk);
    case "runner":
      return targetsInRunners(walk);
    default:
      return targetsInRepositories(each, walk);
  }
}
async function* ofRepositories2(walk) {
  const from = walk.from;
  for await (const page of servedRepositories(walk.client, walk.served, from)) {
    const targets = page.repositories.map((repository) => {
      const ref = refOf(repository);
      const subject = { kind: "repository", repository: ref };
      return { key: `${ref.owner}/${ref.name}`, subject, item: { repository } };
    }).filter(({ subject }) => walk.isInScope(subject));
    const isWhole = targets.length === page.repositories.length;
    yield { targets, next: page.following, total: isWhole ? page.total : void 0 };
  }
}
async function* ofOrganizations(walk) {
  const from = walk.from?.page;
  for await (const { items, page, total } of walk.client.pages(operations.listOwnOrganizations, {}, from)) {
    const targets = items.map((organization) => {
      const { name } = organization;
      return {
        key: name,
        subject: { kind: "organization", organization: name },
        item: { organization }
      };
    }).filter(({ subject }) => walk.isInScope(subject));
    yield { targets, next: { page: page + 1 }, total };
  }
}

// src/sweeps/together.ts
async function together(items, atOnce2, work) {
  const waiting = items.values();
  let failure;
  const hand = async () => {
    for (const item of waiting) {
      if (failure) return;
      try {
        await work(item);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce2, items.length) }, hand));
  if (failure) throw failure.error;
}

// src/sweeps/sweep.ts
var defaults = { atOnce: 8, maxRequests: 1e5 };
var maxFailedInARow = 25;
async function runSweep(parts, order2, lease) {
  const sweep = await openSweep(parts, order2, lease);
  const { log, store } = parts;
  const { rule } = order2;
  const pages2 = eachTarget(rule.each ?? { kind: "repository" }, {
    client: sweep.listing,
    served: parts.served,
    rule,
    isInScope: order2.isInScope,
    runners: parts.runners,
    now: sweep.now,
    from: order2.checkpoint?.next ?? await store.readRest(rule.id)
  });
  const maxRequests = parts.maxRequests ?? defaults.maxRequests;
  let rest;
  for await (const page of pages2) {
    if (rest !== void 0 && page.targets.length > 0) {
      await store.keepRest(rule.id, rest);
      log.warn(
        { rule: rule.id, ...sweep.progress() },
        "a sweep has used its requests; the next slot goes on"
      );
      return sweep.end(false);
    }
    await sweep.take(page);
    rest = sweep.progress().requests >= maxRequests ? page.next : void 0;
  }
  return sweep.end(true);
}
async function openSweep(parts, order2, lease) {
  const { clock, nowMs, log, store } = parts;
  const { rule, checkpoint } = order2;
  const account = await parts.account();
  const rules = createRuleSet([rule]);
  const drift = await openDriftBook(store, rule.id);
  const now = clock.now();
  const beganMs = nowMs();
  let progress = checkpoint ? { ...checkpoint.progress, ...checkpoint.before } : beginProgress(now);
  const earlier2 = progress;
  let before = recountedOf(progress);
  let itemRequests = 0;
  let next = checkpoint?.next;
  let failedInARow = 0;
  const current = () => ({
    ...progress,
    requests: earlier2.requests + itemRequests + listing.requests,
    ms: earlier2.ms + Math.round(nowMs() - beganMs)
  });
  const checkpointNow = () => ({ next, progress: current(), before });
  const mayGoOn = () => {
    if (lease.signal.aborted) throw lease.signal.reason;
    if (lease.stopping.aborted) throw lease.giveBack("the process is stopping; it goes on at its checkpoint");
  };
  const stop = AbortSignal.any([lease.signal, lease.stopping]);
  const pause = async (ms) => {
    await parts.sleep(ms, stop).catch(() => {
    });
    mayGoOn();
  };
  const listing = patientClient(parts.client.counted(), pause);
  const fail = (item, error) => {
    progress = withFailures(progress, [{ item, error: error.message }]);
    log.warn({ rule: rule.id, item, error: error.message }, "a sweep left an item behind");
  };
  const takeOne = async (target) => {
    mayGoOn();
    const { run, retry } = await runPatiently(target, { parts, order: order2, rules, account, pause });
    itemRequests += run.requests;
    progress = count(progress, run);
    drift.note(target.key, run, clock.now());
    if (isTelling(run)) await record(run, target.subject.repository?.id);
    parts.onRun?.(run);
    const reason = retry?.message ?? run.rules.find(({ verdict }) => verdict === "failed")?.reason;
    if (reason !== void 0) fail(target.key, retry ?? new Error(reason));
    failedInARow = retry === void 0 ? 0 : failedInARow + 1;
    if (retry && (retry.code === "forge-unreachable" || failedInARow >= maxFailedInARow)) throw retry;
  };
  const record = async (run, repositoryId) => {
    const about = repositoryId === void 0 ? {} : { repositoryId };
    await lease.advance({ runs: [run], ...about, checkpoint: checkpointNow() });
  };
  return {
    now,
    listing,
    progress: current,
    async take(page) {
      mayGoOn();
      for (const { item, error } of page.failures ?? []) fail(item, error);
      progress = { ...progress, total: page.total ?? progress.total };
      await together(page.targets, parts.atOnce ?? defaults.atOnce, takeOne);
      await drift.save();
      next = page.next;
      before = recountedOf(progress);
      await lease.advance({ runs: [], checkpoint: checkpointNow() });
    },
    async end(isComplete) {
      if (isComplete && progress.failed === 0) drift.close(new Date(progress.startedAt));
      await drift.save();
      const ended = current();
      if (isComplete) await store.keepRest(rule.id, void 0);
      await store.keepResult(rule.id, {
        ...ended,
        slot: order2.slot,
        endedAt: clock.now().toISOString(),
        drift: drift.size,
        isComplete
      });
      log.info({ rule: rule.id, slot: order2.slot, ...ended }, `sweep ended: ${describeProgress(ended)}`);
      return ended;
    }
  };
}
function recountedOf({ items, pending, failed, failures }) {
  return { items, pending, failed, failures };
}
function count(progress, run) {
  const applied = run.outcomes.filter(({ status }) => status === "applied").length;
  const skipped = run.outcomes.filter(({ status }) => status === "skipped").length;
  const pending = run.changes.length - applied - skipped + run.refused.length;
  return {
    ...progress,
    items: progress.items + 1,
    changes: progress.changes + applied,
    pending: progress.pending + pending
  };
}
function isTelling(run) {
  return run.changes.length > 0 || run.refused.length > 0 || run.rules.some(({ verdict }) => verdict === "failed");
}

// src/sweeps/jobs.ts
var jobKinds = ["sweep", "catch-up", "caught-up", "chore"];
var SweepPayload = z3.object({
  /** Id of the rule. */
  rule: z3.string(),
  slot: z3.string(),
  /** Patterns of a person on the command line, beside the rule's own `in`. */
  in: z3.array(z3.string()).optional()
});
function createJobHandler(handlers) {
  return async (job, payload, lease) => {
    const kind = jobKinds.find((one) => one === job.eventType);
    if (kind === void 0) throw new ReeveError("internal", `nobody handles jobs of kind ${job.eventType}`);
    return handlers[kind](job, payload, lease);
  };
}
function createSweepHandler(parts, find) {
  return async (job, payload, lease) => {
    const asked = SweepPayload.parse(payload);
    const rule = await find(asked.rule);
    if (rule === void 0) {
      parts.log.info({ rule: asked.rule, slot: asked.slot }, "a sweep has nothing to do: its rule is gone");
      return [];
    }
    const named2 = asked.in === void 0 ? () => true : createScope(asked.in);
    const only = rule.level === "repository" ? { only: [rule.source.split("/").slice(0, 2).join("/")] } : {};
    const order2 = {
      rule,
      slot: asked.slot,
      job: job.id,
      door: job.door === "cli" ? "cli" : "cron",
      isInScope: (subject) => isInScope(rule, subject) && isAtHome(rule, subject) && named2(nameOf(subject)),
      // The border to the store: a checkpoint of this job was written by the sweep alone.
      ...job.checkpoint === null || job.checkpoint === void 0 ? {} : { checkpoint: job.checkpoint }
    };
    await runSweep({ ...parts, served: { ...parts.served, ...only } }, order2, lease);
    return [];
  };
}
function isAtHome({ level, home }, { repository, organization }) {
  if (level === "operator") return true;
  if (home === void 0) return false;
  if ("repositoryId" in home) return repository?.id === home.repositoryId;
  return (repository?.owner ?? organization ?? "").toLowerCase() === home.organization.toLowerCase();
}
function nameOf({ repository, organization }) {
  return repository ? `${repository.owner}/${repository.name}` : organization ?? "*";
}

// src/sweeps/sweeps.ts
var catchUpCron = "*/30 * * * *";
function createSweeps(options) {
  const { store, rules, clock, log, onEnqueued } = options;
  const parts = {
    ...options,
    store: createSweepStore(store),
    runners: createRunnerMemory(store)
  };
  let others = [];
  const readRules = async () => {
    others = (await rules.everyRule()).filter(({ level }) => level !== "operator");
  };
  const chores = createChores({
    store,
    checkToken: options.account,
    readRules,
    retention: options.retention ?? standardRetention,
    log
  });
  const catchUp = createCatchUp({ ...options, onEnqueued });
  const find = async (id) => {
    const known = [...rules.operator(), ...others].find((rule) => rule.id === id);
    if (known) return known;
    await readRules();
    return others.find((rule) => rule.id === id);
  };
  const entries2 = () => [
    ...scheduledRules([...rules.operator(), ...others]),
    ...scheduledChores(chores),
    { id: "catch-up", schedule: { cron: catchUpCron, timezone: "UTC" }, kind: "catch-up", payload: {} }
  ];
  const scheduler = createScheduler({ store, entries: entries2, clock, log, onEnqueued });
  return {
    scheduler,
    handleJob: createJobHandler({
      sweep: createSweepHandler(parts, find),
      "catch-up": catchUp,
      "caught-up": options.handleCaughtUp,
      async chore(_job, payload) {
        const name = typeof payload === "object" && payload !== null ? Reflect.get(payload, "chore") : void 0;
        const chore = chores[String(name)];
        if (chore === void 0) throw new ReeveError("internal", `there is no chore ${String(name)}`);
        await chore.run(clock.now());
        return [];
      }
    }),
    async start() {
      const now = clock.now();
      const lane = { lane: "catch-up catch-up", receivedAt: now };
      const start = `start@${now.toISOString()}`;
      await store.enqueue({
        door: "cron",
        uuid: `catch-up#${start}`,
        kind: "catch-up",
        payload: {},
        ...lane
      });
      const payload = { chore: "rules" };
      const reading = { door: "cron", uuid: `rules#${start}`, kind: "chore", payload };
      await store.enqueue({ ...reading, lane: "chore rules", receivedAt: now });
      onEnqueued();
      scheduler.start();
    },
    async stop() {
      await scheduler.stop();
      await options.seen.save();
    }
  };
}
function scheduledRules(rules) {
  return rules.flatMap(
    (rule) => rule.schedules.map((schedule) => ({
      id: rule.id,
      schedule,
      kind: "sweep",
      payload: { rule: rule.id }
    }))
  );
}

// src/readings.ts
function readingsOf(store, rules, {
  clock,
  folder = "",
  sweeps: { scheduler },
  metrics
}) {
  const memory = createRunnerMemory(store);
  const sweeps = createSweepStore(store);
  const short = (path) => {
    const within = folder === "" ? path : relative(folder, path);
    return within.startsWith("..") ? path : within;
  };
  const operator = () => rules.source.operator();
  return {
    store,
    now: () => clock.now(),
    refusals: () => metrics.refusals(),
    rules: () => operator().map((rule) => rowOf2(rule, short)),
    brokenFiles: () => rules.brokenFiles(),
    async runners() {
      const levels = Object.entries(await memory.levels());
      return levels.flatMap(
        ([level, records]) => Object.values(records).map(({ since, changes, ...record }) => ({
          ...record,
          level,
          since: new Date(since),
          flaps: changes.length
        }))
      );
    },
    async drift() {
      const found = await readDrift(store);
      return found.map((one) => ({ ...one, rule: short(one.rule), since: new Date(one.since) }));
    },
    async sweeps() {
      const found = [];
      for (const { id, schedules } of operator()) {
        const result = schedules.length > 0 ? await sweeps.readResult(id) : void 0;
        if (result) found.push({ ...result, rule: short(id), endedAt: new Date(result.endedAt) });
      }
      return found;
    },
    async schedules() {
      const rows = [];
      for (const entry of scheduledRules(operator())) {
        const { id, schedule } = entry;
        const state = scheduler.status().get(keyOf(entry));
        const result = await sweeps.readResult(id);
        const job = state?.job === void 0 ? void 0 : await store.describeDelivery(state.job);
        const checkpoint = job?.checkpoint;
        const isUnderWay = job !== void 0 && job.state !== "settled" && job.state !== "dead";
        rows.push({
          rule: short(id),
          clock: clockOf(schedule),
          next: createCron(schedule).next(clock.now()),
          lastSlot: state?.lastSlot === void 0 ? void 0 : new Date(state.lastSlot),
          missed: state?.missed ?? 0,
          overlaps: state?.overlaps ?? 0,
          job: job?.id,
          underWay: isUnderWay && checkpoint ? describeProgress(checkpoint.progress) : void 0,
          result: result && sweptOf(result)
        });
      }
      return rows;
    }
  };
}
function sweptOf(result) {
  const { endedAt, isComplete, drift, failures } = result;
  return { endedAt: new Date(endedAt), sentence: describeProgress(result), isComplete, drift, failures };
}
function rowOf2(rule, short) {
  const { name, source, line, mode, description, on, schedules, each } = rule;
  const over = each === void 0 ? "" : ` over ${each.kind}`;
  const events = on.flatMap(
    ({ family, activities: activities2 }) => activities2 === void 0 ? [family] : activities2.map((activity) => `${family}.${activity}`)
  );
  const clocks = schedules.map((schedule) => `${clockOf(schedule)}${over}`);
  return { name, file: short(source), line, mode, description, listensTo: [...events, ...clocks] };
}
function clockOf({ cron, timezone }) {
  return `${cron} ${timezone}`;
}

// src/server/rules-in-force.ts
import { relative as relative2 } from "node:path";

// src/sources/watch.ts
import { createHash as createHash6 } from "node:crypto";
import { watch } from "node:fs";
import { readFile } from "node:fs/promises";
var pollMs = 1e4;
var settleMs = 150;
function watchFolder(folder, options) {
  const { log, onRules } = options;
  let seen = options.known;
  let looking = Promise.resolve();
  let timer;
  const lookOnce = async () => {
    try {
      const now = await signatureOf(folder);
      if (now === seen) return;
      const files = await loadRuleFiles([folder]);
      seen = now;
      tellProblems(files, log);
      const rules = files.flatMap((file) => file.rules);
      onRules(rules, files);
      log.info({ folder, files: files.length, rules: rules.length }, "rules of the operator are in force");
    } catch (error) {
      log.warn({ folder, error: messageOf(error) }, "the folder of rules cannot be read");
    }
  };
  const look = () => {
    looking = looking.then(lookOnce);
    return looking;
  };
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(look, settleMs);
  };
  const poll = setInterval(look, pollMs);
  poll.unref();
  const watcher = openWatcher(folder, soon, log);
  return {
    look,
    async stop() {
      clearInterval(poll);
      clearTimeout(timer);
      watcher?.close();
      await looking;
    }
  };
}
function openWatcher(folder, onChange, log) {
  try {
    const watcher = watch(folder, { recursive: true, persistent: false }, onChange);
    watcher.on("error", (error) => log.warn({ folder, error: messageOf(error) }, "the folder is polled"));
    return watcher;
  } catch (error) {
    log.warn({ folder, error: messageOf(error) }, "the folder cannot be watched; it is polled");
    return void 0;
  }
}
function tellProblems(files, log) {
  for (const file of files.filter(({ problems }) => problems.length > 0)) {
    log.error({ file: file.path, problems: file.problems.map(formatProblem) }, "rule file refused");
  }
}
async function signatureOf(folder) {
  const digest = createHash6("sha256");
  for (const path of await findRuleFiles([folder])) {
    const text = await readFile(path);
    digest.update(`${path}\0${text.length}\0`).update(text);
  }
  return digest.digest("hex");
}

// src/server/rules-in-force.ts
var maxBroken = 1e3;
async function openRules(options) {
  const { folder, client, pins, log } = options;
  const reporter = createReporter({ client, how: options.reportProblems, pins, log });
  const broken = /* @__PURE__ */ new Map();
  const note = (files) => {
    for (const { source: source2, commit, problems } of files) {
      broken.delete(source2);
      if (problems.length > 0) broken.set(source2, { file: source2, commit, problems });
      const [oldest] = broken.keys();
      if (broken.size > maxBroken && oldest !== void 0) broken.delete(oldest);
    }
  };
  const source = createRuleSource({
    ...options,
    operatorRules: [],
    onRead(head, files) {
      note(files);
      reporter.onRead(head, files);
    }
  });
  let own = [];
  const watch2 = await putInForce(folder, log, (loaded, files) => {
    own = files.filter(({ problems }) => problems.length > 0).map((file) => brokenOf(file, folder));
    source.replaceOperatorRules(loaded);
  });
  return {
    source,
    brokenFiles: () => [...own, ...broken.values()],
    async stop() {
      await watch2?.stop();
      await reporter.idle();
    }
  };
}
function brokenOf({ path, problems }, folder = "") {
  const file = relative2(folder, path);
  return { file, commit: "", problems: problems.map((problem) => formatProblem({ ...problem, path: file })) };
}
async function putInForce(folder, log, onRules) {
  if (folder === void 0) {
    log.info({}, "no REEVE_RULES: there are no rules of the operator, only those of repositories");
    return void 0;
  }
  await findRuleFiles([folder]);
  const watch2 = watchFolder(folder, { log, onRules });
  await watch2.look();
  return watch2;
}

// src/server/work.ts
import { setTimeout as wait } from "node:timers/promises";

// src/handle-delivery.ts
import { randomUUID } from "node:crypto";

// src/rules/recoverable.ts
var recoverable = /* @__PURE__ */ new Set([
  "action",
  "number",
  "pull_request",
  "issue",
  "ref",
  "ref_type",
  "before",
  "after",
  "repository",
  "caught_up"
]);
var decided = /* @__PURE__ */ new WeakMap();
function isRecoverable(rule) {
  const known = decided.get(rule);
  if (known !== void 0) return known;
  const texts = [
    rule.condition?.source,
    ...rule.steps.flatMap((step2) => [step2.condition?.source, ...textsIn(step2.arguments.written)])
  ];
  const answer = texts.every((text) => text === void 0 || !namesMore(text));
  decided.set(rule, answer);
  return answer;
}
function namesMore(text) {
  if (/(?<![\w.])sender\b/.test(text)) return true;
  for (const [, , member] of text.matchAll(/(?<![\w.])event\s*(\.\s*(\w+)|\[\s*["'](\w+)["']\s*\])/g)) {
    if (member !== void 0 && !recoverable.has(member)) return true;
  }
  return /(?<![\w.])event\s*\[/.test(text);
}
function textsIn(written) {
  if (typeof written === "string") return [written];
  if (Array.isArray(written)) return written.flatMap(textsIn);
  return typeof written === "object" && written !== null ? Object.values(written).flatMap(textsIn) : [];
}

// src/store/action-memory.ts
function createStoredMemory(store) {
  return {
    get: (key) => store.recall(`action ${key}`),
    set: (key, value) => store.remember(`action ${key}`, value)
  };
}

// src/handle-delivery.ts
function createDeliveryHandler(options) {
  const { clock, memory, nowMs } = options;
  const actionMemory = createStoredMemory(options.store);
  const attempt = async (delivery, event, { rules: all, broken, repository }) => {
    const { rules, left } = event.payload.caught_up === true ? withoutLost(all, event) : { rules: all, left: [] };
    const found = repository ? follow(event, repository) : event;
    const client = options.client.counted();
    const now = clock.now();
    const ran = await runEvent({
      ...options.settings,
      id: randomUUID(),
      mode: "enforce",
      trigger: {
        door: delivery.door,
        kind: event.family ?? event.eventType,
        activity: event.activity,
        delivery: delivery.id,
        at: now.toISOString()
      },
      rules,
      event: found,
      facts: createFacts({ client, subject: found.subject ?? { kind: "repository" }, memory, nowMs }),
      client,
      account: await options.account(),
      memory: actionMemory,
      now,
      nowMs
    });
    const run = { ...ran.run, rules: [...broken.map(refusedFile), ...left, ...ran.run.rules] };
    options.onRun?.(run, event);
    return { ...ran, run };
  };
  return async (delivery, event) => {
    if (event.family === void 0 || event.subject === void 0) return [];
    await options.preview?.(event);
    const runs = [];
    for (let attempts = 0; ; attempts += 1) {
      const force = await options.rules.rulesFor(event);
      if (force.rules.listeningTo(event.family).length === 0 && force.broken.length === 0) return runs;
      const { run, retry, moved } = await attempt(delivery, event, force);
      runs.push(run);
      if (moved && event.repository && attempts === 0) {
        options.rules.forget(event.repository.id);
        memory.drop(`${event.repository.id}/`);
        continue;
      }
      if (retry === void 0) return runs;
      const about = event.repository ? { repositoryId: event.repository.id } : {};
      await options.store.appendRuns(runs, about);
      throw retry;
    }
  };
}
function follow(event, repository) {
  return { ...event, repository, ...event.subject ? { subject: { ...event.subject, repository } } : {} };
}
function withoutLost(all, { family }) {
  const lost = family === void 0 ? [] : all.listeningTo(family).filter((rule) => !isRecoverable(rule));
  if (lost.length === 0) return { rules: all, left: [] };
  return {
    rules: createRuleSet(all.rules.filter((rule) => !lost.includes(rule))),
    left: lost.map((rule) => skipRule(rule, "not recoverable"))
  };
}
function refusedFile(file) {
  return {
    rule: file.source,
    source: file.source,
    commit: file.commit,
    line: 1,
    verdict: "failed",
    reason: `the rule file cannot be used:
${file.problems.join("\n")}`,
    findings: []
  };
}

// src/sweeps/noted.ts
var told = {
  closed: ["state"],
  reopened: ["state"],
  synchronized: ["head"],
  edited: ["text"],
  label_updated: ["labels"],
  label_cleared: ["labels"]
};
function withEvent(seen, event) {
  const { family, payload, subject } = event;
  if (family === "push" || family === "create" || family === "delete") return withRef(seen, event);
  const item = seenItemOf(payload.pull_request, "pull_request") ?? seenItemOf(payload.issue, "issue");
  if (item === void 0 || subject?.index === void 0) return seen;
  const known = seen.items[subject.index];
  const after = known === void 0 ? firstOf(seen, item, event) : merged(known, item, event);
  return after === known ? seen : { ...seen, items: { ...seen.items, [subject.index]: after } };
}
function firstOf({ items }, item, { activity }) {
  const isFull = Object.keys(items).length >= maxItems;
  return isFull || activity === "opened" || activity === "reopened" ? item : void 0;
}
function merged(known, item, { activity }) {
  if (Date.parse(known.updated) > Date.parse(item.updated) || known.kind !== item.kind) return known;
  const fields = told[activity] ?? [];
  const after = { ...known, ...Object.fromEntries(fields.map((field) => [field, item[field]])) };
  const isWhole = ["state", "labels", "text", "head"].every(
    (field) => after[field] === item[field]
  );
  return isWhole ? item : after;
}
function withRef(seen, { family, payload, subject }) {
  if (subject?.ref === void 0) return seen;
  const isTag = payload.ref_type === "tag" || String(payload.ref).startsWith("refs/tags/");
  const before = isTag ? seen.tags : seen.refs;
  if (before === void 0) return seen;
  const known = before[subject.ref];
  const commit = family === "create" ? payload.sha : family === "push" ? payload.after : void 0;
  const refs = { ...before };
  if (typeof commit !== "string" || isNothing(commit)) {
    delete refs[subject.ref];
  } else {
    const from = String(payload.before);
    const follows = known === void 0 ? isNothing(from) : known === from || known === commit;
    if (family === "push" && !isTag && !follows) return seen;
    refs[subject.ref] = commit;
  }
  return { ...seen, [isTag ? "tags" : "refs"]: refs };
}
function isNothing(commit) {
  return /^0+$/.test(commit);
}

// src/sweeps/seen.ts
var maxRepositories = 50;
var saveAfterMs = 3e4;
function createSeen(store, nowMs) {
  const kept = /* @__PURE__ */ new Map();
  let savedAtMs = nowMs();
  const keyOf2 = (id) => `seen ${id}`;
  const put = async (id, seen, isDirty) => {
    kept.delete(id);
    kept.set(id, { seen, isDirty });
    const [oldest] = kept;
    if (kept.size <= maxRepositories || oldest === void 0) return;
    kept.delete(oldest[0]);
    if (oldest[1].isDirty) await store.remember(keyOf2(oldest[0]), oldest[1].seen);
  };
  const seenStore = {
    async read(id) {
      const known = kept.get(id);
      if (known) return known.seen;
      return await store.recall(keyOf2(id));
    },
    async write(id, seen) {
      const bounded = { ...seen, items: latest(seen.items) };
      await store.remember(keyOf2(id), bounded);
      await put(id, bounded, false);
    },
    async note(event) {
      const id = event.repository?.id;
      const before = id === void 0 ? void 0 : await seenStore.read(id);
      if (id === void 0 || before === void 0) return;
      const after = withEvent(before, event);
      if (after === before) return;
      await put(id, after, true);
      if (nowMs() - savedAtMs > saveAfterMs) await seenStore.save();
    },
    async save() {
      savedAtMs = nowMs();
      for (const [id, entry] of kept) {
        if (!entry.isDirty) continue;
        entry.isDirty = false;
        await store.remember(keyOf2(id), { ...entry.seen, items: latest(entry.seen.items) });
      }
    }
  };
  return seenStore;
}
function latest(items) {
  const entries2 = Object.entries(items);
  if (entries2.length <= maxItems) return items;
  return Object.fromEntries(
    entries2.toSorted(([, a], [, b]) => Date.parse(b.updated) - Date.parse(a.updated)).slice(0, maxItems)
  );
}

// src/worker/backoff.ts
function createBackoff(options = {}) {
  const { firstMs = 1e4, maxMs = 72e5, maxAttempts = 12, maxAgeMs: maxAgeMs3 = 864e5 } = options;
  const random = options.random ?? Math.random;
  return ({ attempts, failingSince }, { now, retryAfterMs = 0 }) => {
    if (attempts >= maxAttempts) return { giveUp: `failed ${attempts} times` };
    const doubled = firstMs * 2 ** Math.min(attempts - 1, 40);
    const jittered = Math.min(doubled * (0.8 + 0.4 * random()), maxMs);
    const at = new Date(now.getTime() + Math.max(jittered, retryAfterMs));
    const since = failingSince ?? now;
    if (at.getTime() - since.getTime() > maxAgeMs3) {
      return { giveUp: `failing since ${since.toISOString()}` };
    }
    return { at };
  };
}

// src/worker/breaker.ts
function createBreaker({ firstMs = 1e3, maxMs = 6e4 } = {}) {
  let delayMs = firstMs;
  let openedAt;
  const waitedMs = (now) => now.getTime() - (openedAt?.getTime() ?? 0);
  return {
    state(now) {
      if (openedAt === void 0) return "closed";
      return waitedMs(now) >= delayMs || waitedMs(now) < 0 ? "half-open" : "open";
    },
    failed(startedAt, now) {
      if (openedAt !== void 0 && startedAt.getTime() <= openedAt.getTime()) return;
      delayMs = openedAt === void 0 ? firstMs : Math.min(delayMs * 2, maxMs);
      openedAt = now;
    },
    reached() {
      openedAt = void 0;
      delayMs = firstMs;
    },
    probeAt: () => openedAt === void 0 ? void 0 : new Date(openedAt.getTime() + delayMs)
  };
}

// src/worker/ending.ts
var Cut = class extends Error {
  ending;
  constructor(ending, message) {
    super(message);
    this.name = "Cut";
    this.ending = ending;
  }
};
function endingOf(error, claim, backoff, now) {
  const reason = messageOf(error);
  if (error instanceof Cut && error.ending === "lost") return { how: "lost" };
  if (error instanceof Cut && error.ending === "released") return { how: "released", reason };
  if (error instanceof ReeveError) {
    if (error.code === "lease-lost") return { how: "lost" };
    if (error.code === "forge-unreachable") return { how: "released", reason };
    if (!error.keepsWork) return { how: "dead", reason };
  } else if (!(error instanceof Cut)) {
    return { how: "dead", reason: `unexpected: ${reason}` };
  }
  const retryAfterMs = error instanceof ReeveError ? error.retryAfterMs : void 0;
  const next = backoff(claim, { now, retryAfterMs });
  if ("at" in next) return { how: "retry", at: next.at, reason };
  return { how: "dead", reason: `${next.giveUp}; last: ${reason}` };
}

// src/worker/heart.ts
function startHeart(claim, cut, options) {
  const { store, timer, leaseMs, stallMs, log } = options;
  let sinceProgressMs = 0;
  let isBeating = true;
  const beat = async () => {
    sinceProgressMs += leaseMs / 4;
    if (sinceProgressMs > stallMs) {
      cut.abort(new Cut("retry", `no progress within ${Math.round(stallMs / 1e3)} s`));
      return;
    }
    try {
      await store.heartbeat(claim, leaseMs);
    } catch (error) {
      if (error instanceof ReeveError && error.code === "lease-lost")
        cut.abort(new Cut("lost", error.message));
      else log.warn({ delivery: claim.id, error }, "a heartbeat failed");
    }
    if (isBeating) callOff = timer(beat, leaseMs / 4);
  };
  let callOff = timer(beat, leaseMs / 4);
  return {
    progress() {
      sinceProgressMs = 0;
    },
    stop() {
      isBeating = false;
      callOff();
    }
  };
}

// src/worker.ts
var routingBatch = 200;
var systemTimer = (run, ms) => {
  const timeout = setTimeout(run, ms);
  return () => clearTimeout(timeout);
};
function createWorker(options) {
  const { store, log, clock = { now: () => /* @__PURE__ */ new Date() }, timer = systemTimer, onEnd = () => {
  } } = options;
  const { concurrency = 8, leaseMs = 6e4, stallMs = 6e5, pollMs: pollMs2 = 1e3 } = options;
  const maxAttempts = options.backoff?.maxAttempts ?? 12;
  const backoff = createBackoff(options.backoff);
  const breaker = createBreaker(options.breaker);
  const tasks = /* @__PURE__ */ new Set();
  const stopping = new AbortController();
  let isStarted = false;
  let isStopping = false;
  let isAwake = false;
  let ticking;
  let callOffPoll = () => {
  };
  const sleep2 = (ms, signal) => new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const callOff = timer(resolve, ms);
    signal?.addEventListener("abort", () => {
      callOff();
      resolve();
    });
  });
  const free = () => {
    const state = breaker.state(clock.now());
    if (isStopping || state === "open") return 0;
    return state === "half-open" ? 1 - tasks.size : concurrency - tasks.size;
  };
  const route = async () => {
    const deliveries = await store.unrouted(routingBatch);
    if (deliveries.length === 0) return false;
    const routed = deliveries.map((delivery) => ({ delivery, routing: routingOf(delivery) }));
    await store.route(routed.map(({ routing }) => routing));
    for (const { delivery, routing } of routed) {
      if (routing.to === "lane") continue;
      if (routing.to === "dead") {
        log.warn({ delivery: delivery.id, reason: routing.reason }, "a delivery is malformed");
      }
      onEnd(routing.to, delivery.eventType);
    }
    return true;
  };
  const look = async () => {
    try {
      const hasMore = await route();
      const limit = free();
      if (limit > 0) for (const claim of await store.claim({ limit, leaseMs })) begin(claim);
      if (hasMore) wake();
    } catch (error) {
      log.error({ error: messageOf(error) }, "the worker cannot use its store");
    }
  };
  const tick = async () => {
    ticking ??= look().finally(() => {
      ticking = void 0;
    });
    await ticking;
  };
  const begin = (claim) => {
    const cut = new AbortController();
    const done = attend(claim, cut).finally(() => {
      tasks.delete(task);
      wake();
    });
    const task = { cut, done };
    tasks.add(task);
  };
  const attend = async (claim, cut) => {
    const heart = startHeart(claim, cut, { store, timer, leaseMs, stallMs, log });
    const ending = await attempt(claim, cut.signal, heart);
    const how = await record(claim, ending, cut.signal);
    heart.stop();
    onEnd(how, claim.eventType);
  };
  const attempt = async (claim, signal, heart) => {
    const startedAt = clock.now();
    if (claim.attempts > maxAttempts) {
      return { how: "dead", reason: `begun ${maxAttempts} times and never ended: it takes the process down` };
    }
    try {
      const runs = await Promise.race([handle(claim, signal, heart), rejectionOf(signal)]);
      breaker.reached();
      return { how: "settled", runs };
    } catch (error) {
      if (error instanceof ReeveError && error.code === "forge-unreachable") {
        breaker.failed(startedAt, clock.now());
      } else if (!(error instanceof Cut)) {
        breaker.reached();
      }
      return endingOf(error, claim, backoff, clock.now());
    }
  };
  const handle = async (claim, signal, heart) => {
    const lease = {
      signal,
      stopping: stopping.signal,
      giveBack: (reason) => new Cut("released", reason),
      async advance(part) {
        heart.progress();
        await store.advance(claim, part);
      }
    };
    if (claim.door === "webhook") return options.handle(claim, eventOf(claim), lease);
    if (options.handleJob === void 0) {
      throw new ReeveError("internal", `nobody handles jobs of kind ${claim.eventType}`);
    }
    return options.handleJob(claim, parsePayload(claim.body), lease);
  };
  const record = async (claim, ending, signal) => {
    for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, 3e4)) {
      try {
        await write(claim, ending);
        logEnding(claim, ending);
        return ending.how;
      } catch (error) {
        const mayPass = error instanceof ReeveError && error.code === "store-unwritable" && !isStopping;
        log.warn(
          { delivery: claim.id, error: messageOf(error) },
          `could not record that it was ${ending.how}`
        );
        if (!mayPass) return "lost";
        await sleep2(waitMs, signal);
        if (signal.aborted) return "lost";
      }
    }
  };
  const write = async (claim, ending) => {
    if (ending.how === "settled") return store.settle(claim, ending.runs);
    if (ending.how === "retry") return store.retry(claim, ending);
    if (ending.how === "dead") return store.bury(claim, ending.reason);
    if (ending.how === "released") return store.release(claim);
  };
  const logEnding = (claim, ending) => {
    const { id, eventType, attempts } = claim;
    if (ending.how === "settled") log.debug({ delivery: id, eventType, attempts }, "settled");
    else log.warn({ delivery: id, eventType, attempts, ...ending }, `a delivery is ${ending.how}`);
  };
  const poll = async () => {
    await tick();
    if (isStarted && !isStopping) callOffPoll = timer(poll, pollMs2);
  };
  const lookAgain = async () => {
    isAwake = false;
    await ticking;
    if (!isStopping) await tick();
  };
  const wake = () => {
    if (!isStarted || isStopping || isAwake) return;
    isAwake = true;
    setImmediate(lookAgain);
  };
  const idle = async () => {
    while (tasks.size > 0) await Promise.all([...tasks].map((task) => task.done));
  };
  return {
    start() {
      if (isStarted) return;
      isStarted = true;
      callOffPoll = timer(poll, 0);
    },
    wake,
    tick,
    idle,
    async stop({ graceMs = 8e3 } = {}) {
      isStopping = true;
      stopping.abort();
      callOffPoll();
      await ticking;
      const finished = new AbortController();
      await Promise.race([idle(), sleep2(graceMs, finished.signal)]);
      finished.abort();
      for (const task of tasks) task.cut.abort(new Cut("released", "the process is stopping"));
      await idle();
    },
    status: () => ({ active: tasks.size, breaker: breaker.state(clock.now()) })
  };
}
function rejectionOf(signal) {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}

// src/server/work.ts
function createWork(options) {
  const { client, account, rules, memory, store, settings, metrics, clock, nowMs, log } = options;
  const { preview, backoff } = options;
  const handle = createDeliveryHandler({
    ...{ client, account, rules, memory, store, clock, nowMs, settings },
    ...preview ? { preview } : {},
    onRun(run, event) {
      metrics.countRun(run);
      options.onRun?.(run, event);
    }
  });
  const seen = createSeen(store, nowMs);
  const sweeps = createSweeps({
    ...{ client, account, memory, store, clock, nowMs, sleep, log, settings, seen, rules },
    served: { login: options.whoAmI, listed: options.repositories },
    actionMemory: createStoredMemory(store),
    handleCaughtUp: async (job, payload) => handle(job, caughtUpEvent(payload)),
    onEnqueued: () => worker.wake(),
    onRun(run) {
      metrics.countRun(run);
      options.onSweepRun?.(run);
    }
  });
  const handleJob = async (job, payload, lease) => {
    if (job.eventType !== revertKind) return sweeps.handleJob(job, payload, lease);
    const reverting = { store, client, mode: "enforce", clock, nowMs };
    const run = await revertStored(readRevertJob(payload), reverting);
    metrics.countRun(run);
    return [run];
  };
  const noting = async (delivery, event) => {
    const runs = await handle(delivery, event);
    await seen.note(event);
    return runs;
  };
  const worker = createWorker({
    ...{ store, handle: noting, handleJob, log, clock },
    ...backoff ? { backoff } : {}
  });
  return { worker, sweeps };
}
function sleep(ms, signal) {
  return wait(ms, void 0, signal ? { signal } : {});
}

// src/sources/served.ts
var maxAgeMs2 = 5 * 6e4;
var minAgeMs = 1e4;
function createServed(options) {
  const isListed = options.listed.length === 0 ? () => false : createScope(options.listed);
  let stars = /* @__PURE__ */ new Map();
  let readAtMs = Number.NEGATIVE_INFINITY;
  let reading;
  const read = () => {
    reading ??= options.login().then((login) => readStars(options.client, login)).then((found) => {
      stars = found;
      readAtMs = options.nowMs();
    }).finally(() => {
      reading = void 0;
    });
    return reading;
  };
  return {
    async has(repository) {
      if (isListed(`${repository.owner}/${repository.name}`)) return true;
      const ageMs = options.nowMs() - readAtMs;
      if (ageMs > maxAgeMs2 || ageMs > minAgeMs && !stars.has(repository.id)) await read();
      return stars.has(repository.id);
    },
    async starred() {
      if (options.nowMs() - readAtMs > maxAgeMs2) await read();
      return [...stars.values()];
    }
  };
}
async function readStars(client, login) {
  const found = /* @__PURE__ */ new Map();
  for await (const repository of client.items(operations.listStarred, { params: { username: login } })) {
    if (repository.archived) continue;
    found.set(repository.id, { id: repository.id, owner: repository.owner.login, name: repository.name });
  }
  return found;
}

// src/server.ts
async function startServer(options) {
  const { log, organizations = [], grants = [], repositories } = options;
  const clock = options.clock ?? { now: () => /* @__PURE__ */ new Date() };
  const nowMs = () => performance.now();
  const metrics = createMetrics();
  const onRequest = metrics.countRequest;
  const client = createClient({ ...options.forge, log, onRequest });
  const account = remembering(() => findAccount(client, options));
  const login = await greet(account, log);
  const whoAmI = async () => login ?? (await account()).login;
  const store = await openSqliteStore({ path: join2(options.data, "reeve.db"), role: "worker", clock });
  let rules;
  try {
    const served = createServed({ client, login: whoAmI, listed: repositories, nowMs });
    rules = await openRules({
      ...{ folder: options.rules, client, served, organizations, grants, pins: store, nowMs, log },
      reportProblems: options.reportProblems ?? "status"
    });
    const memory = createFactMemory(nowMs);
    const looks2 = { client, account, served, grants, organizations, store, memory, clock, nowMs, log };
    const { worker, sweeps } = createWork({
      ...{ client, account, whoAmI, repositories, memory, store, metrics, clock, nowMs, log },
      rules: rules.source,
      settings: await runSettings(options, { client, store, clock }),
      preview: options.preview ? createPreview(looks2) : void 0,
      backoff: options.backoff,
      onRun: options.onRun,
      onSweepRun: options.onSweepRun
    });
    const readings = readingsOf(store, rules, { clock, folder: options.rules, sweeps, metrics });
    const doors = options.jobsOnly ? void 0 : await openDoors(options, { store, log, metrics, readings, nowMs, wake: () => worker.wake() });
    const url = doors?.url ?? "";
    worker.start();
    if (!options.jobsOnly) await sweeps.start();
    const { data } = options;
    log.info({ url, data, ...doors ? { passwordFile: passwordPath(data) } : {} }, "listening");
    return {
      url,
      store,
      async stop() {
        await doors?.app.close();
        await sweeps.scheduler.stop();
        await worker.stop();
        await sweeps.stop();
        await rules?.stop();
        await store.close();
      }
    };
  } catch (error) {
    await rules?.stop();
    await store.close();
    throw error;
  }
}
async function runSettings({ budgets, namedSecrets, data }, { client, store, clock }) {
  const readRuns = (repositoryId, before) => store.listRuns({ repositoryId, limit: 100, ...before === void 0 ? {} : { before } });
  return {
    ledger: createLedger({ now: clock.now, readRuns }),
    ...budgets ? { budgets } : {},
    secrets: createNamedSecrets(namedSecrets ?? /* @__PURE__ */ new Map(), await loadFingerprintKey(data)),
    capabilities: () => client.capabilities()
  };
}
async function openDoors({ data, secrets, host, port, forge, dashboard: dashboard2, signIn }, {
  wake,
  ...parts
}) {
  const password = await loadDashboardPassword(data);
  const oauth2 = signIn && createOAuth2({ url: forge.url, application: signIn });
  const app = createApp({
    ...{ ...parts, secrets, password, dashboardUrl: dashboard2, onStored: wake },
    forge: oauth2 && dashboard2 ? {
      oauth2,
      url: forge.url,
      redirectUri: redirectOf(dashboard2),
      onRequest: parts.metrics.countRequest
    } : void 0,
    deeds: {
      async runAgain(ids, by) {
        const revived = await parts.store.redrive(ids, by, { settled: true });
        wake();
        return revived;
      }
    }
  });
  return { app, url: await listen(app, { host, port }) };
}
async function greet(account, log) {
  try {
    const { login } = await account();
    log.info({ account: login }, `acting as @${login}; events by @${login} trigger nothing`);
    return login;
  } catch (error) {
    if (!(error instanceof ReeveError) || !error.retryable) throw error;
    log.warn({ error: error.message }, "the forge cannot be asked now; deliveries are stored and wait");
    return void 0;
  }
}

export {
  passwordPath,
  describeProgress,
  createSweepStore,
  startServer
};

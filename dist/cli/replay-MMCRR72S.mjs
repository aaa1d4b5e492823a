import {
  namedEvent
} from "./chunk-OXS3I5PU.mjs";
import {
  readData
} from "./chunk-I2STYYVY.mjs";
import {
  printRun
} from "./chunk-RUA6Q7CN.mjs";
import {
  clientOf,
  openStore
} from "./chunk-7OPT6IFU.mjs";
import {
  createRuleSource,
  eventOf,
  replayEvent
} from "./chunk-IIAQHJFW.mjs";
import {
  createRuleSet,
  runEvent
} from "./chunk-ZICOA7TD.mjs";
import "./chunk-4PU7AWH5.mjs";
import "./chunk-QIWTVMRL.mjs";
import "./chunk-F5HW2RH7.mjs";
import "./chunk-XJ67IZNZ.mjs";
import "./chunk-Z6LLQXQ6.mjs";
import {
  plain
} from "./chunk-2N6KPMKU.mjs";
import {
  formatProblem
} from "./chunk-LTENOIKX.mjs";
import {
  loadRuleFiles
} from "./chunk-MMU7GUSS.mjs";
import "./chunk-QVU6XQ2A.mjs";
import "./chunk-VTTQ2TL3.mjs";
import {
  createFactMemory,
  createGivenFacts
} from "./chunk-PGPAQ2TF.mjs";
import "./chunk-WHXP6K3X.mjs";
import "./chunk-D4IFGYQO.mjs";
import "./chunk-OVHSHDHZ.mjs";
import "./chunk-P5GSASXZ.mjs";
import {
  ReeveError
} from "./chunk-KZNQZHIP.mjs";

// src/commands/compare-runs.ts
function compareRuns(given) {
  const { id, event, before, after } = given;
  const old = verdictsOf(before);
  const now = verdictsOf(after);
  const rules = [.../* @__PURE__ */ new Set([...old.keys(), ...now.keys()])];
  const { repository } = event;
  return {
    delivery: id,
    event: event.activity === "" ? event.family ?? "" : `${event.family}.${event.activity}`,
    repository: repository ? `${repository.owner}/${repository.name}` : "",
    verdicts: rules.filter((rule) => old.get(rule) !== now.get(rule)).map((rule) => {
      const [was, is] = [old.get(rule), now.get(rule)];
      return {
        rule,
        ...was === void 0 ? {} : { before: was },
        ...is === void 0 ? {} : { after: is }
      };
    }),
    changes: after.changes.map(({ target, value, reason }) => ({ target, value, reason })),
    failed: after.rules.filter(({ verdict }) => verdict === "failed").map(({ rule }) => rule)
  };
}
function verdictsOf(run) {
  const considered = (run?.rules ?? []).filter(({ verdict }) => verdict !== "skipped");
  return new Map(considered.map(({ rule, verdict }) => [rule, verdict]));
}
function printComparison(compared, since, terminal) {
  const different = compared.filter(({ verdicts, changes }) => verdicts.length + changes.length > 0);
  for (const { delivery, event, repository, verdicts, changes } of different) {
    terminal.out(terminal.style("bold", plain(`delivery ${delivery}  ${event}  ${repository}`)));
    for (const { rule, before = "not considered", after = "not considered" } of verdicts) {
      terminal.out(terminal.style("yellow", plain(`  ~ ${rule}: ${before} \u2192 ${after}`)));
    }
    for (const { target, value, reason } of changes) {
      terminal.out(terminal.style("green", plain(`  + ${target} = ${JSON.stringify(value)}  (${reason})`)));
    }
  }
  terminal.out(`${different.length} of ${compared.length} deliveries of the last ${since} differ`);
}

// src/commands/replay.ts
async function replay(given, options, settings, terminal) {
  if (given === void 0 === (options.since === void 0))
    throw new ReeveError("usage", "name a file or the id of a delivery, or say --since 7d");
  if (options.since !== void 0) return replaySince(options.since, options, settings, terminal);
  const isStored = /^\d+$/.test(given ?? "");
  const event = isStored ? await readStored(given ?? "", settings) : await readRecorded(given ?? "", options);
  const player = await createPlayer(options, settings, terminal);
  const run = await player(event, isStored ? given : void 0);
  if (options.json) terminal.out(JSON.stringify(run));
  else printRun(run, terminal);
  return run.rules.some(({ verdict }) => verdict === "failed") ? 1 : 0;
}
async function readStored(id, settings) {
  const store = await openStore(settings);
  try {
    const delivery = await store.readDelivery(id);
    if (delivery === void 0) throw new ReeveError("usage", `there is no delivery ${id}`);
    if (delivery.door !== "webhook") throw new ReeveError("usage", `delivery ${id} is a job of Reeve's own`);
    return eventOf(delivery);
  } finally {
    await store.close();
  }
}
async function readRecorded(path, { event }) {
  const data = await readData(path);
  const { eventType, payload } = data;
  if (typeof eventType === "string" && typeof payload === "object" && payload !== null)
    return namedEvent(eventType, payload);
  if (event === void 0)
    throw new ReeveError("usage", `${path} does not say its kind: give --event, or { eventType, payload }`);
  return namedEvent(event, data);
}
async function createPlayer(options, settings, terminal) {
  const operatorRules = await readRules(options.rules ?? settings.rules, terminal);
  const nowMs = () => performance.now();
  const source = sourceOf(operatorRules, options, settings, nowMs);
  const memory = createFactMemory(nowMs);
  const client = settings.forge ? clientOf(settings) : void 0;
  return async (event, delivery) => {
    const { rules, repository } = await source.rulesFor(event);
    const found = repository && event.subject ? { ...event, repository, subject: { ...event.subject, repository } } : event;
    const now = /* @__PURE__ */ new Date();
    const common = { rules, now, nowMs, explainAll: true, ...delivery === void 0 ? {} : { delivery } };
    if (client) return replayEvent(found, { ...common, client, memory });
    const subject = event.subject ?? { kind: "repository" };
    const facts = createGivenFacts({ subject, given: {}, payload: event.payload });
    const trigger = {
      kind: event.family ?? event.eventType,
      activity: event.activity,
      at: now.toISOString()
    };
    const { run } = await runEvent({
      ...common,
      id: "replay",
      mode: "plan",
      trigger: { door: "cli", ...trigger },
      event,
      facts
    });
    return run;
  };
}
async function readRules(path, terminal) {
  const files = path === void 0 ? [] : await loadRuleFiles([path]);
  for (const problem of files.flatMap((file) => file.problems)) terminal.error(`${formatProblem(problem)}
`);
  return files.flatMap((file) => file.rules);
}
function sourceOf(operatorRules, options, settings, nowMs) {
  if (options.rules !== void 0 || settings.forge === void 0) {
    const rules = createRuleSet(operatorRules);
    return { rulesFor: async () => ({ rules, broken: [] }) };
  }
  const { organizations, grants } = settings;
  const served = { has: async () => true, starred: async () => [] };
  return createRuleSource({
    client: clientOf(settings),
    served,
    operatorRules,
    organizations,
    grants,
    nowMs
  });
}
async function replaySince(since, options, settings, terminal) {
  const from = new Date(Date.now() - durationMs(since));
  const store = await openStore(settings);
  try {
    const player = await createPlayer(options, settings, terminal);
    const compared = [];
    for await (const { id, event, before } of storedSince(from, store)) {
      compared.push(compareRuns({ id, before, after: await player(event, id), event }));
    }
    if (options.json) for (const one of compared) terminal.out(JSON.stringify(one));
    else printComparison(compared, since, terminal);
    return compared.some(({ failed }) => failed.length > 0) ? 1 : 0;
  } finally {
    await store.close();
  }
}
async function* storedSince(from, store) {
  for (let before; ; ) {
    const page = await store.listDeliveries({ limit: 200, ...before === void 0 ? {} : { before } });
    for (const { id, door, receivedAt, copyOf } of page.items) {
      if (receivedAt < from) return;
      const delivery = door === "webhook" && copyOf === void 0 ? await store.readDelivery(id) : void 0;
      if (delivery === void 0 || delivery.state === "dead") continue;
      const event = eventOf(delivery);
      if (event.family === void 0) continue;
      const [run] = (await store.listRuns({ delivery: id, limit: 1 })).items;
      yield { id, event, before: run };
    }
    if (page.next === void 0) return;
    before = page.next;
  }
}
function durationMs(text) {
  const [, number, unit = ""] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const unitMs = { m: 6e4, h: 36e5, d: 864e5 }[unit];
  if (unitMs === void 0) throw new ReeveError("usage", `"${text}" is no time: write 30m, 12h or 7d`);
  return Number(number) * unitMs;
}
export {
  durationMs,
  replay
};

import {
  TestFile
} from "./chunk-VLKRB5AY.mjs";
import {
  readData
} from "./chunk-I2STYYVY.mjs";
import {
  createRuleSet,
  runEvent,
  runItem
} from "./chunk-ZICOA7TD.mjs";
import "./chunk-4PU7AWH5.mjs";
import "./chunk-Z6LLQXQ6.mjs";
import {
  pathsOrDefault
} from "./chunk-4DXCG5MQ.mjs";
import "./chunk-HDSWMYWU.mjs";
import {
  count,
  plain
} from "./chunk-2N6KPMKU.mjs";
import "./chunk-PIDYP5MN.mjs";
import {
  formatProblem
} from "./chunk-LTENOIKX.mjs";
import {
  findRuleFiles,
  loadRuleFiles,
  problemsOf,
  readYaml
} from "./chunk-MMU7GUSS.mjs";
import {
  eventFamilies,
  parseEvent
} from "./chunk-QVU6XQ2A.mjs";
import "./chunk-VTTQ2TL3.mjs";
import {
  createGivenFacts
} from "./chunk-PGPAQ2TF.mjs";
import "./chunk-WHXP6K3X.mjs";
import "./chunk-D4IFGYQO.mjs";
import "./chunk-OVHSHDHZ.mjs";
import "./chunk-P5GSASXZ.mjs";
import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/commands/rule-tests.ts
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

// src/rules/tests.ts
import { isDeepStrictEqual } from "node:util";
function loadRuleTests({ path, text }) {
  const file = readYaml(path, text);
  if (!file.readable || file.problems.length > 0) return { cases: [], problems: file.problems };
  const parsed = TestFile.safeParse(file.value);
  if (!parsed.success) return { cases: [], problems: problemsOf(file.value, TestFile, file, []) };
  const cases = parsed.data.cases.map((form, place) => {
    const { line } = file.lineOf(file.valueAt(["cases", place]).start);
    const expected = {
      facts: form.facts ?? {},
      now: form.now === void 0 ? void 0 : new Date(form.now),
      expected: form.expect
    };
    const [item] = Object.entries(form.item ?? {});
    if (item) {
      const of = { kind: item[0], value: item[1] ?? {} };
      return { name: form.name, line, eventType: "schedule", item: of, ...expected };
    }
    const { kind, activity, payload, file: recorded } = form.event ?? { kind: "" };
    const said = activity ?? (typeof payload?.action === "string" ? payload.action : "");
    return {
      name: form.name,
      line,
      eventType: eventTypeFor(kind, said),
      ...payload && { payload: said === "" ? payload : { ...payload, action: said } },
      ...recorded !== void 0 && { file: recorded },
      ...expected
    };
  });
  return { cases, problems: [] };
}
function eventTypeFor(kind, activity) {
  if (!Object.hasOwn(eventFamilies, kind)) return kind;
  const types = Object.entries(eventFamilies[kind].types);
  const [first] = types;
  const fitting = types.find(([, activities]) => activities.includes(activity));
  return (fitting ?? first)?.[0] ?? kind;
}
async function runRuleTests(options) {
  const results = [];
  const reached = /* @__PURE__ */ new Set();
  for (const file of options.files) {
    for (const one of file.cases) {
      results.push(await runCase(one, file, options.run, reached));
    }
  }
  const rules = options.files.flatMap((file) => file.rules);
  const steps = rules.flatMap((rule) => rule.steps.map((step) => `${rule.id} / ${step.name}`));
  return {
    results,
    unreached: {
      rules: [...new Set(rules.map((rule) => rule.id))].filter((id) => !reached.has(id)),
      steps: [...new Set(steps)].filter((step) => !reached.has(step))
    }
  };
}
async function runCase(one, file, run, reached) {
  const head = { path: file.path, name: one.name, line: one.line };
  try {
    const outcome = await run(one, file);
    for (const verdict of outcome.rules) if (verdict.verdict === "matched") reached.add(verdict.rule);
    for (const change of outcome.changes) {
      for (const rule of change.rules) reached.add(`${rule} / ${change.step}`);
    }
    return { ...head, differences: compareCase(one.expected, outcome) };
  } catch (error) {
    return { ...head, differences: [`the case could not run: ${messageOf(error)}`] };
  }
}
function compareCase(expected, outcome) {
  return [
    ...expected.changes ? compareChanges(expected.changes, outcome.changes) : [],
    ...compareVerdicts(expected, outcome.rules)
  ];
}
function compareChanges(expected, actual) {
  const takenBy = pairUp(expected, actual);
  const found = new Set(takenBy.values());
  return [
    ...expected.filter((wanted) => !found.has(wanted)).map((wanted) => `missing change: ${show(wanted)}`),
    ...actual.filter((change) => !takenBy.has(change)).map(({ action, target, value }) => `unexpected change: ${show({ action, target, value })}`)
  ];
}
function pairUp(expected, actual) {
  const takenBy = /* @__PURE__ */ new Map();
  const place = (wanted, tried) => {
    for (const change of actual) {
      if (tried.has(change) || !fits(wanted, change)) continue;
      tried.add(change);
      const holder = takenBy.get(change);
      if (holder !== void 0 && !place(holder, tried)) continue;
      takenBy.set(change, wanted);
      return true;
    }
    return false;
  };
  for (const wanted of expected) place(wanted, /* @__PURE__ */ new Set());
  return takenBy;
}
function fits(wanted, change) {
  return Object.entries(wanted).every(([name, value]) => isDeepStrictEqual(value, Reflect.get(change, name)));
}
function compareVerdicts(expected, verdicts) {
  const wanted = new Map(Object.entries(expected.verdicts ?? {}));
  if (expected.failed !== void 0) wanted.set(expected.failed, "failed");
  const differences = [];
  for (const [name, verdict] of wanted) {
    const seen = verdicts.find(({ rule }) => rule === name || rule.endsWith(`#${name}`));
    const actual = seen?.verdict ?? "skipped";
    if (actual !== verdict)
      differences.push(`rule ${name}: expected ${verdict}, was ${actual}${because(seen)}`);
  }
  for (const seen of verdicts) {
    const name = seen.rule.slice(seen.rule.indexOf("#") + 1);
    if (seen.verdict === "failed" && !wanted.has(name) && !wanted.has(seen.rule)) {
      differences.push(`rule ${name} failed${because(seen)}`);
    }
  }
  return differences;
}
function because(verdict) {
  return verdict?.reason === void 0 ? "" : ` (${verdict.reason})`;
}
function show(value) {
  return JSON.stringify(value);
}

// src/commands/rule-tests.ts
async function testRules(given) {
  const paths = given.map((path) => path.replace(/\.test(\.ya?ml)$/, "$1"));
  const files = await loadRuleFiles(await findRuleFiles(paths));
  const tested = [];
  const problems = files.flatMap((file) => file.problems);
  for (const file of files) {
    const path = file.path.replace(/(\.ya?ml)$/, ".test$1");
    const text = await readFile(path, "utf8").catch(() => void 0);
    const loaded = text === void 0 ? { cases: [], problems: [] } : loadRuleTests({ path, text });
    problems.push(...loaded.problems);
    tested.push({ path, cases: loaded.cases, rules: file.rules });
  }
  const { results, unreached } = await runRuleTests({ files: tested, run: runCase2 });
  const failed = results.filter(({ differences }) => differences.length > 0);
  const rules = tested.flatMap((file) => file.rules);
  const steps = rules.flatMap((rule) => rule.steps).length;
  const summary = `${count(results.length - failed.length, "case")} passed, ${failed.length} failed; reached ${rules.length - unreached.rules.length} of ${count(rules.length, "rule")}, ${steps - unreached.steps.length} of ${count(steps, "step")}`;
  return { results, unreached, problems, failed, summary };
}
async function runCase2(one, file) {
  if (one.item) return runItemCase(one.item, one, file);
  const payload = one.payload ?? await readData(join(dirname(file.path), one.file ?? ""));
  const event = parseEvent(one.eventType, payload);
  const subject = event.subject ?? { kind: "repository" };
  const now = one.now ?? /* @__PURE__ */ new Date();
  const { run } = await runEvent({
    id: "test",
    mode: "plan",
    trigger: {
      door: "cli",
      kind: event.family ?? event.eventType,
      activity: event.activity,
      at: now.toISOString()
    },
    rules: createRuleSet(file.rules),
    event,
    facts: createGivenFacts({ subject, given: one.facts, payload: event.payload }),
    now,
    nowMs: () => performance.now()
  });
  return run;
}
async function runItemCase({ kind, value }, one, file) {
  const now = one.now ?? /* @__PURE__ */ new Date();
  const { run } = await runItem({
    id: "test",
    mode: "plan",
    trigger: { door: "cli", kind: "schedule", activity: "", at: now.toISOString() },
    rules: createRuleSet(file.rules.filter(({ each }) => each?.kind === kind)),
    item: { [kind]: value },
    facts: createGivenFacts({ subject: subjectOfItem(kind, value), given: { [kind]: value, ...one.facts } }),
    account: { id: 1 },
    now,
    nowMs: () => performance.now()
  });
  return run;
}
function subjectOfItem(kind, value) {
  const holder = kind === "repository" ? value : value.repository;
  const { full_name, id = 1 } = typeof holder === "object" && holder !== null ? holder : {};
  const [owner, name] = typeof full_name === "string" ? full_name.split("/") : [];
  const organization = kind === "organization" ? value.name : value.owner;
  return {
    kind,
    ...owner && name ? { repository: { id: Number(id), owner, name } } : {},
    ...typeof value.number === "number" ? { index: value.number } : {},
    ...kind === "branch" && typeof value.name === "string" ? { ref: value.name } : {},
    ...kind === "notification" && typeof value.id === "number" ? { thread: value.id } : {},
    ...typeof organization === "string" && !organization.includes("/") ? { organization } : {}
  };
}

// src/commands/test.ts
async function test(given, options, terminal) {
  const { results, unreached, problems, failed, summary } = await testRules(
    pathsOrDefault(given, options.rules)
  );
  const status = failed.length + problems.length > 0 ? 1 : 0;
  if (options.json) {
    terminal.out(JSON.stringify({ cases: results.length, failed, unreached, problems }));
    return status;
  }
  for (const problem of problems) terminal.out(`${formatProblem(problem)}
`);
  for (const result of results) {
    const isGood = result.differences.length === 0;
    const mark = isGood ? terminal.style("green", "\u2713") : terminal.style("red", "\u2717");
    terminal.out(`${mark} ${plain(`${result.path}:${result.line} ${result.name}`)}`);
    for (const difference of result.differences) terminal.out(`    ${plain(difference)}`);
  }
  for (const rule of unreached.rules)
    terminal.out(terminal.style("yellow", plain(`not reached: rule ${rule}`)));
  for (const step of unreached.steps)
    terminal.out(terminal.style("yellow", plain(`not reached: step ${step}`)));
  terminal.out(summary);
  if (results.length === 0 && problems.length === 0) throw new ReeveError("usage", "no rule test was found");
  return status;
}
export {
  test
};

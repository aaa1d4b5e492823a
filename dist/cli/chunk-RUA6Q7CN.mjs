import {
  describeChange,
  nameOfRule,
  wordsOf
} from "./chunk-QIWTVMRL.mjs";
import {
  plain
} from "./chunk-2N6KPMKU.mjs";

// src/commands/print-run.ts
function printRun(run, terminal) {
  const { trigger } = run;
  const activity = trigger.activity === "" ? "" : `.${trigger.activity}`;
  terminal.out(terminal.style("bold", plain(`${trigger.kind}${activity}`)));
  for (const verdict of run.rules) printVerdict(verdict, terminal);
  if (run.changes.length + run.refused.length === 0) {
    terminal.out("Nothing to change.");
    return;
  }
  for (const [request, changes] of byRequest(run.changes)) {
    terminal.out(terminal.style("bold", plain(request)));
    for (const change of changes) printChange(change, outcomeOf(run, change.id), terminal);
  }
  for (const { change, why } of run.refused) {
    const { sign, words } = describeChange(change);
    terminal.out(
      terminal.style("yellow", plain(`  ! ${sign} ${words}  (${change.reason}): refused, ${why}`))
    );
  }
}
var marks = {
  matched: ["green", "\u2713"],
  unmatched: ["dim", "\xB7"],
  failed: ["red", "\u2717"],
  skipped: ["dim", "-"]
};
function printVerdict(verdict, terminal) {
  const [style, mark] = marks[verdict.verdict];
  const why = wordsOf(verdict);
  const reason = why === void 0 ? "" : ` (${why})`;
  const place = `${verdict.source}:${verdict.line}`;
  const name = nameOfRule(verdict.rule);
  terminal.out(
    `${terminal.style(style, mark)} ${plain(`${name}: ${verdict.verdict}${reason}`)}  ${terminal.style("dim", plain(place))}`
  );
  for (const finding of verdict.findings) printFinding(finding, terminal);
}
var answers = { held: "yes", not: "no", error: "not known", unevaluated: "not asked" };
function printFinding(finding, terminal) {
  const seen = Object.entries(finding.values).map(([name, value]) => `${name} = ${typeof value === "string" ? value : JSON.stringify(value)}`).join(", ");
  const line = `    ${answers[finding.result]}: ${finding.expression}${seen === "" ? "" : `   [${seen}]`}`;
  terminal.out(terminal.style("dim", plain(line)));
}
function byRequest(changes) {
  const grouped = /* @__PURE__ */ new Map();
  for (const change of changes) {
    const body = change.input?.body;
    const request = `${change.method} ${change.path}${body === void 0 ? "" : ` ${JSON.stringify(body)}`}`;
    grouped.set(request, [...grouped.get(request) ?? [], change]);
  }
  return grouped;
}
var colours = { "+": "green", "-": "red", "~": "yellow" };
function printChange(change, outcome, terminal) {
  const { sign, words } = describeChange(change);
  const line = terminal.style(colours[sign], plain(`  ${sign} ${words}`));
  terminal.out(`${line}  ${terminal.style("dim", `(${plain(change.reason)})${outcome}`)}`);
}
function outcomeOf(run, id) {
  const outcome = run.outcomes.find((one) => one.change === id);
  if (outcome === void 0 || outcome.status === "planned") return "";
  return plain(`  ${outcome.status}${outcome.error === void 0 ? "" : `: ${outcome.error}`}`);
}

export {
  printRun
};

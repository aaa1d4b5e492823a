import {
  lackingIn
} from "./chunk-HDSWMYWU.mjs";
import {
  count
} from "./chunk-2N6KPMKU.mjs";
import {
  nextTimes
} from "./chunk-PIDYP5MN.mjs";
import {
  formatProblem
} from "./chunk-LTENOIKX.mjs";
import {
  loadRuleFiles,
  repositoryPaths
} from "./chunk-MMU7GUSS.mjs";
import {
  createClient,
  findCapabilities
} from "./chunk-WHXP6K3X.mjs";
import {
  ReeveError
} from "./chunk-KZNQZHIP.mjs";

// src/commands/check.ts
import { existsSync, readFileSync } from "node:fs";
function pathsOrDefault(given, rules) {
  if (given.length > 0) return given;
  const here = repositoryPaths.filter((path) => existsSync(path));
  if (here.length > 0) return here;
  if (rules !== void 0) return [rules];
  if (existsSync("rules")) return ["rules"];
  throw new ReeveError(
    "usage",
    `no rule file here: name one, or make ${repositoryPaths[0]} or the folder rules/`
  );
}
async function check(given, options, terminal) {
  const files = await loadRuleFiles(pathsOrDefault(given, options.rules));
  const lacking = options.forge ? lackingIn(
    files.flatMap(({ rules: rules2 }) => rules2),
    await findCapabilities(createClient(options.forge)),
    (path) => readFileSync(path, "utf8")
  ) : [];
  const problems = [...files.flatMap((file) => file.problems), ...lacking];
  if (options.json) {
    terminal.out(
      JSON.stringify({ files: files.length, rules: files.flatMap(({ rules: rules2 }) => rules2).length, problems })
    );
    return problems.length === 0 ? 0 : 1;
  }
  for (const problem of problems) terminal.out(`${formatProblem(problem)}
`);
  printClocks(
    files.flatMap((file) => file.rules),
    terminal
  );
  const rules = files.flatMap((file) => file.rules).length;
  const broken = new Set(problems.map(({ path }) => path)).size;
  if (files.length === 0) throw new ReeveError("usage", "no rule file was found");
  terminal.out(
    problems.length === 0 ? terminal.style("green", `${count(files.length, "file")}, ${count(rules, "rule")}: no problems`) : terminal.style(
      "red",
      `${count(problems.length, "problem")} in ${count(broken, "file")} of ${files.length}`
    )
  );
  return problems.length === 0 ? 0 : 1;
}
function printClocks(rules, terminal) {
  for (const rule of rules) {
    for (const schedule of rule.schedules) {
      const times = nextTimes(schedule, /* @__PURE__ */ new Date(), 3).map(
        (at) => at.toISOString().slice(0, 16).replace("T", " ")
      );
      const next = times.length === 0 ? "never" : `${times.join(", ")} UTC`;
      terminal.out(
        terminal.style("dim", `${rule.name}: ${schedule.cron} ${schedule.timezone}, next ${next}`)
      );
    }
  }
}

export {
  pathsOrDefault,
  check
};

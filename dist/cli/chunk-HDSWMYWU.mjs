import {
  lackOf
} from "./chunk-WHXP6K3X.mjs";

// src/commands/lacking.ts
var capabilityOfFamily = {
  status: "status_events",
  workflow_run: "workflow_run_events",
  workflow_job: "workflow_job_events",
  action_run_failure: "action_run_events",
  action_run_recover: "action_run_events",
  action_run_success: "action_run_events"
};
function lackingIn(rules, capabilities, textOf) {
  return rules.flatMap((rule) => {
    const report = (line, what, needed) => {
      const why = lackOf(capabilities, needed);
      if (why === void 0) return [];
      const source = textOf(rule.source).split(/\r?\n/)[line - 1] ?? "";
      const column = source.search(/\S/) + 1 || 1;
      const width = Math.max(1, source.trim().length);
      return [
        { code: "capability", message: `${what}: ${why}`, path: rule.source, line, column, source, width }
      ];
    };
    const families = [...new Set(rule.on.map(({ family }) => family))];
    return [
      ...families.flatMap((family) => {
        const needed = capabilityOfFamily[family];
        return needed ? report(rule.line, `rule ${rule.name} listens to ${family}`, [needed]) : [];
      }),
      ...rule.steps.flatMap(
        (step) => Object.entries(step.action.requires ?? {}).flatMap(
          ([path, needed]) => says(step.arguments.written, path) ? report(step.line, `${step.action.name} says ${path.replace("=", " ")}`, [needed]) : []
        )
      )
    ];
  });
}
function says(written, path) {
  const [names = "", text] = path.split("=");
  let found = [written];
  for (const name of names.split(".")) {
    found = found.flat().flatMap((value) => {
      const inner = typeof value === "object" && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : void 0;
      return inner === void 0 ? [] : [inner];
    });
  }
  return text === void 0 ? found.length > 0 : found.flat().includes(text);
}

export {
  lackingIn
};

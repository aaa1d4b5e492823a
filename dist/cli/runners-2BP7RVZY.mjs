import {
  ageOf,
  tableOf
} from "./chunk-HVPQSNP6.mjs";
import {
  openStore
} from "./chunk-7OPT6IFU.mjs";
import {
  createRunnerMemory
} from "./chunk-PWAXHV5D.mjs";
import "./chunk-XJ67IZNZ.mjs";
import {
  plain
} from "./chunk-2N6KPMKU.mjs";
import "./chunk-WHXP6K3X.mjs";
import "./chunk-OVHSHDHZ.mjs";
import "./chunk-P5GSASXZ.mjs";
import "./chunk-KZNQZHIP.mjs";

// src/commands/runners.ts
async function runners(options, settings, terminal) {
  const store = await openStore(settings);
  try {
    const levels = await createRunnerMemory(store).levels();
    const found = Object.entries(levels).flatMap(
      ([level, records]) => Object.entries(records).map(([id, record]) => ({ level, id: Number(id), ...record }))
    );
    const order = ["offline", "online", "gone"];
    const sorted = found.toSorted(
      (a, b) => order.indexOf(a.status) - order.indexOf(b.status) || a.name.localeCompare(b.name)
    );
    if (options.json) terminal.out(JSON.stringify(sorted));
    else if (sorted.length === 0)
      terminal.out("no sweep has seen a runner yet: a rule with `each: runner` looks");
    else {
      const now = /* @__PURE__ */ new Date();
      const rows = sorted.map(({ name, level, status, since, busy, disabled, labels, changes }) => [
        plain(name),
        plain(level),
        disabled ? `${status}, disabled` : status,
        ageOf(since, now),
        busy ? "works" : "",
        String(changes.length),
        plain(labels.join(" "))
      ]);
      terminal.out(tableOf(["runner", "where", "status", "for", "now", "flaps", "labels"], rows));
    }
    return sorted.some(({ status }) => status === "offline") ? 1 : 0;
  } finally {
    await store.close();
  }
}
export {
  runners
};

import {
  printRun
} from "./chunk-RUA6Q7CN.mjs";
import {
  openStore
} from "./chunk-7OPT6IFU.mjs";
import "./chunk-QIWTVMRL.mjs";
import "./chunk-XJ67IZNZ.mjs";
import {
  plain
} from "./chunk-2N6KPMKU.mjs";
import "./chunk-WHXP6K3X.mjs";
import "./chunk-OVHSHDHZ.mjs";
import "./chunk-P5GSASXZ.mjs";
import {
  ReeveError
} from "./chunk-KZNQZHIP.mjs";

// src/commands/explain.ts
async function explain(id, options, settings, terminal) {
  const store = await openStore(settings);
  try {
    const runs = await findRuns(id, store);
    if (runs.length === 0) {
      throw new ReeveError(
        "usage",
        `there is no run or delivery "${id}"; reeve explain last shows the newest run`
      );
    }
    for (const run of runs) {
      if (options.json) terminal.out(JSON.stringify(run));
      else printExplained(run, terminal);
    }
    return 0;
  } finally {
    await store.close();
  }
}
async function findRuns(id, store) {
  if (id === "last") return (await store.listRuns({ limit: 1 })).items;
  const run = await store.readRun(id);
  if (run) return [run];
  return /^\d+$/.test(id) ? (await store.listRuns({ delivery: id })).items.toReversed() : [];
}
function printExplained(run, terminal) {
  const { trigger, mode } = run;
  const from = trigger.delivery === void 0 ? trigger.door : `delivery ${trigger.delivery}`;
  const item = trigger.item === void 0 ? "" : `, ${trigger.item}`;
  terminal.out(terminal.style("dim", plain(`run ${run.id}  ${trigger.at}  ${from}${item}  ${mode}`)));
  printRun(run, terminal);
  terminal.out(terminal.style("dim", `${run.requests} requests, ${run.ms} ms`));
}
export {
  explain,
  findRuns
};

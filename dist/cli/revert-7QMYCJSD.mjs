import {
  printRun
} from "./chunk-RUA6Q7CN.mjs";
import {
  clientOf,
  openStore
} from "./chunk-7OPT6IFU.mjs";
import {
  revertKind,
  revertStored
} from "./chunk-OW5Z6KEA.mjs";
import "./chunk-4PU7AWH5.mjs";
import "./chunk-QIWTVMRL.mjs";
import "./chunk-XJ67IZNZ.mjs";
import "./chunk-2N6KPMKU.mjs";
import "./chunk-PGPAQ2TF.mjs";
import "./chunk-WHXP6K3X.mjs";
import "./chunk-D4IFGYQO.mjs";
import "./chunk-OVHSHDHZ.mjs";
import "./chunk-P5GSASXZ.mjs";
import {
  ReeveError
} from "./chunk-KZNQZHIP.mjs";

// src/commands/revert.ts
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
var patienceMs = 6e4;
async function revert(id, options, settings, terminal) {
  const run = options.plan ? await revertHere(id, "plan", settings) : await revertNow(id, settings);
  if (options.json) terminal.out(JSON.stringify(run));
  else {
    printRun(run, terminal);
    if (run.changes.length > 0)
      terminal.out("The rules stay as they are: the next event may do the same again.");
  }
  return run.refused.length > 0 || run.outcomes.some(({ status }) => status === "failed") ? 1 : 0;
}
async function revertNow(id, settings) {
  try {
    return await revertHere(id, "enforce", settings);
  } catch (error) {
    if (error instanceof ReeveError && error.code === "store-locked") return revertThere(id, settings);
    throw error;
  }
}
async function revertHere(id, mode, settings) {
  const client = clientOf(settings);
  const store = await openStore(settings, mode === "plan" ? "reader" : "worker");
  try {
    const clock = { now: () => /* @__PURE__ */ new Date() };
    const run = await revertStored(
      { run: id },
      { store, client, mode, clock, nowMs: () => performance.now() }
    );
    if (mode === "enforce") await store.appendRuns([run]);
    return run;
  } finally {
    await store.close();
  }
}
async function revertThere(id, settings) {
  const store = await openStore(settings);
  try {
    if (await store.readRun(id) === void 0) throw new ReeveError("usage", `there is no run "${id}"`);
    const job = await store.enqueue({
      door: "cli",
      uuid: randomUUID(),
      kind: revertKind,
      lane: "revert",
      receivedAt: /* @__PURE__ */ new Date(),
      payload: { run: id }
    });
    return await runOf(job.id, store);
  } finally {
    await store.close();
  }
}
async function runOf(job, store) {
  for (const until = Date.now() + patienceMs; Date.now() < until; await wait(100)) {
    const delivery = await store.readDelivery(job);
    if (delivery?.state === "dead")
      throw new ReeveError("internal", delivery.reason ?? "the job was given up");
    if (delivery?.state !== "settled") continue;
    const [run] = (await store.listRuns({ delivery: job })).items;
    if (run) return run;
  }
  throw new ReeveError("internal", `the server has not come to it yet: see reeve explain ${job} later`);
}
export {
  revert
};

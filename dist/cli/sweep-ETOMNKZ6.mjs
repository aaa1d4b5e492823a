import {
  openStore
} from "./chunk-7OPT6IFU.mjs";
import {
  secretValues
} from "./chunk-SW2RTCO5.mjs";
import {
  createSweepStore,
  describeProgress,
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
import "./chunk-2FKHOA73.mjs";
import "./chunk-2YZQZDXR.mjs";
import "./chunk-F5HW2RH7.mjs";
import "./chunk-XJ67IZNZ.mjs";
import "./chunk-W47FSTJL.mjs";
import "./chunk-Z6LLQXQ6.mjs";
import {
  untilStopped
} from "./chunk-JYGNNTIO.mjs";
import "./chunk-3VFWE24E.mjs";
import {
  pathsOrDefault
} from "./chunk-4DXCG5MQ.mjs";
import "./chunk-HDSWMYWU.mjs";
import {
  plain
} from "./chunk-2N6KPMKU.mjs";
import "./chunk-PIDYP5MN.mjs";
import "./chunk-LTENOIKX.mjs";
import {
  loadRuleFiles
} from "./chunk-MMU7GUSS.mjs";
import "./chunk-QVU6XQ2A.mjs";
import "./chunk-VTTQ2TL3.mjs";
import "./chunk-PGPAQ2TF.mjs";
import "./chunk-WHXP6K3X.mjs";
import "./chunk-D4IFGYQO.mjs";
import {
  createLog
} from "./chunk-OVHSHDHZ.mjs";
import "./chunk-P5GSASXZ.mjs";
import {
  ReeveError
} from "./chunk-KZNQZHIP.mjs";

// src/commands/sweep.ts
import { setTimeout as sleep } from "node:timers/promises";

// src/commands/progress-line.ts
var everyMs = 5e3;
var barWidth = 24;
function createProgressLine(name, { stream, nowMs }) {
  if (!stream.isTTY) {
    let writtenAtMs = nowMs();
    return {
      show(progress) {
        if (nowMs() - writtenAtMs < everyMs) return;
        writtenAtMs = nowMs();
        stream.write(`${name}: ${describeProgress(progress)}
`);
      },
      end() {
      }
    };
  }
  let isDrawn = false;
  return {
    show(progress) {
      isDrawn = true;
      stream.write(
        `\r\x1B[2K${lineOf(name, progress).slice(0, Math.max((stream.columns ?? 100) - 1, 20))}`
      );
    },
    end() {
      if (isDrawn) stream.write("\n");
      isDrawn = false;
    }
  };
}
function lineOf(name, progress) {
  const { items, total, ms } = progress;
  if (total === void 0 || total === 0) return `${name}  ${describeProgress(progress)}  ${clockOf(ms)}`;
  const share = Math.min(items / total, 1);
  const done = Math.round(share * barWidth);
  const bar = `${"\u2588".repeat(done)}${"\u2591".repeat(barWidth - done)}`;
  const left = items === 0 ? "" : `  ${clockOf(ms / items * Math.max(total - items, 0))} left`;
  return `${name}  ${bar} ${Math.floor(share * 100)} %  ${describeProgress(progress)}${left}`;
}
function clockOf(ms) {
  const seconds = Math.round(ms / 1e3);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

// src/commands/sweep.ts
async function sweep(name, options, settings, terminal, stream = process.stderr) {
  const rule = await findRule(name, settings);
  const stopped = untilStopped();
  const door = await openDoor(settings, terminal);
  const line = createProgressLine(rule.name, { stream, nowMs: () => performance.now() });
  try {
    const job = await startJob(rule, options.in ?? [], door.store);
    const ended = await Promise.race([follow(job, door.store, line), stopped.then(() => void 0)]);
    line.end();
    if (ended === void 0) {
      terminal.error(
        door.isAlone ? "stopped; the same command goes on where it was" : "no longer watching; the server goes on with it"
      );
      return 130;
    }
    return await tell(rule, ended, { options, store: door.store, terminal });
  } finally {
    line.end();
    await door.close();
  }
}
async function findRule(name, settings) {
  const files = await loadRuleFiles(pathsOrDefault([], settings.rules));
  const scheduled = files.flatMap(({ rules }) => rules).filter(({ schedules }) => schedules.length > 0);
  const found = scheduled.filter((rule2) => rule2.id === name || rule2.name === name);
  const [rule] = found;
  if (rule && found.length === 1) return rule;
  const known = scheduled.map(({ id }) => id).join("\n  ");
  if (found.length > 1) throw new ReeveError("usage", `"${name}" is the name of several rules:
  ${known}`);
  throw new ReeveError(
    "usage",
    known === "" ? "no rule has a schedule" : `no rule with a schedule is named "${name}"; there are
  ${known}`
  );
}
async function openDoor(settings, terminal) {
  const { forge } = settings;
  if (forge === void 0)
    throw new ReeveError("usage", "a sweep asks a forge: set FORGE_URL and FORGE_TOKEN");
  const log = createLog({ level: quietest(settings.logLevel), secrets: secretValues(settings) });
  try {
    const server = await startServer({ ...settings, forge, log, jobsOnly: true });
    return { store: server.store, isAlone: true, close: () => server.stop() };
  } catch (error) {
    if (!(error instanceof ReeveError) || error.code !== "store-locked") throw error;
    terminal.error("a server runs on this store: it does the sweep");
    const store = await openStore(settings);
    return { store, isAlone: false, close: () => store.close() };
  }
}
function quietest(level) {
  return level === "info" ? "error" : level;
}
async function startJob(rule, patterns, store) {
  const key = `sweep-by-hand ${rule.id}`;
  const before = await store.recall(key);
  if (before && JSON.stringify(before.in) === JSON.stringify(patterns)) {
    const delivery = await store.readDelivery(before.job);
    if (delivery && !hasEnded(delivery)) return before.job;
  }
  const now = /* @__PURE__ */ new Date();
  const slot = `${rule.id}#by hand@${now.toISOString()}`;
  const { id } = await store.enqueue({
    door: "cli",
    uuid: slot,
    kind: "sweep",
    lane: `sweep ${rule.id}`,
    receivedAt: now,
    payload: { rule: rule.id, slot, ...patterns.length > 0 ? { in: patterns } : {} }
  });
  await store.remember(key, { job: id, in: patterns });
  return id;
}
function hasEnded({ state }) {
  return state === "settled" || state === "dead";
}
async function follow(job, store, line) {
  for (; ; ) {
    const delivery = await store.readDelivery(job);
    if (delivery === void 0) throw new ReeveError("internal", `job ${job} is gone`);
    const checkpoint = delivery.checkpoint;
    if (checkpoint?.progress) line.show(checkpoint.progress);
    if (hasEnded(delivery)) return delivery;
    await sleep(200);
  }
}
async function tell(rule, job, { options, store, terminal }) {
  if (job.state === "dead") throw new ReeveError("rules-broken", `the sweep was given up: ${job.reason}`);
  const result = await createSweepStore(store).readResult(rule.id);
  if (result?.slot !== job.uuid) {
    throw new ReeveError(
      "rules-broken",
      `whoever did the sweep does not know ${rule.id}: is REEVE_RULES the same?`
    );
  }
  if (options.json) terminal.out(JSON.stringify({ rule: rule.id, ...result }));
  else {
    terminal.out(`${rule.name}: ${describeProgress(result)}, ${(result.ms / 1e3).toFixed(1)} s`);
    for (const { item, error } of result.failures) terminal.out(plain(`  ${item}: ${error}`));
    if (result.failed > result.failures.length) {
      terminal.out(`  and ${result.failed - result.failures.length} more`);
    }
  }
  return result.failed > 0 ? 1 : 0;
}
export {
  sweep
};

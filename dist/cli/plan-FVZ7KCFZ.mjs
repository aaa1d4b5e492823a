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
  findAccount
} from "./chunk-4FRPHDSK.mjs";
import {
  createRuleSet,
  runEvent
} from "./chunk-ZICOA7TD.mjs";
import "./chunk-4PU7AWH5.mjs";
import "./chunk-QIWTVMRL.mjs";
import "./chunk-Z6LLQXQ6.mjs";
import {
  pathsOrDefault
} from "./chunk-4DXCG5MQ.mjs";
import "./chunk-HDSWMYWU.mjs";
import "./chunk-2N6KPMKU.mjs";
import "./chunk-PIDYP5MN.mjs";
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
  createFacts,
  createGivenFacts
} from "./chunk-PGPAQ2TF.mjs";
import {
  createClient
} from "./chunk-WHXP6K3X.mjs";
import "./chunk-D4IFGYQO.mjs";
import "./chunk-OVHSHDHZ.mjs";
import "./chunk-P5GSASXZ.mjs";
import "./chunk-KZNQZHIP.mjs";

// src/commands/plan.ts
import { randomUUID } from "node:crypto";
async function plan(options, settings, terminal) {
  const payload = await readData(options.payload);
  const event = namedEvent(options.event, payload);
  const files = await loadRuleFiles(pathsOrDefault(options.rules ? [options.rules] : [], settings.rules));
  const problems = files.flatMap((file) => file.problems);
  for (const problem of problems) terminal.error(`${formatProblem(problem)}
`);
  const rules = createRuleSet(files.flatMap((file) => file.rules));
  const now = /* @__PURE__ */ new Date();
  const facts = await factsFor(event, options, settings);
  const { run } = await runEvent({
    id: randomUUID(),
    mode: "plan",
    trigger: {
      door: "cli",
      kind: event.family ?? event.eventType,
      activity: event.activity,
      at: now.toISOString()
    },
    rules,
    event,
    facts: facts.facts,
    ...facts.client ? { client: facts.client, account: facts.account } : {},
    now,
    nowMs: () => performance.now(),
    explainAll: true
  });
  if (options.json) terminal.out(JSON.stringify(run));
  else printRun(run, terminal);
  return problems.length > 0 || hasFailed(run) ? 1 : 0;
}
function hasFailed(run) {
  return run.rules.some(({ verdict }) => verdict === "failed") || run.refused.length > 0;
}
async function factsFor(event, options, settings) {
  const subject = event.subject ?? { kind: "repository" };
  if (options.facts !== void 0 || settings.forge === void 0) {
    const given = options.facts === void 0 ? {} : await readData(options.facts);
    return { facts: createGivenFacts({ subject, given, payload: event.payload }) };
  }
  const client = createClient({ ...settings.forge });
  const nowMs = () => performance.now();
  const facts = createFacts({ client, subject, memory: createFactMemory(nowMs), nowMs });
  return { facts, client, account: await findAccount(client, { allowAdmin: true }) };
}
export {
  plan
};

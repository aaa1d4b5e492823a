import { parseEvent } from '../../src/contract/events/events.ts';
import { runRules } from '../../src/engine/run.ts';
import { createGivenFacts } from '../../src/facts/given-facts.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { createRuleSet, type LoadedRule, type RuleSet } from '../../src/rules/rule.ts';
import { type BenchRow, type Measure, median, round } from './row.ts';
import { hostileData, hostileExpressions } from './rules/hostile.ts';
import { hostileRuns, prepareHostileRun } from './rules/hostile-runs.ts';
import { measureRequests } from './rules/requests.ts';

const payload = {
  action: 'opened',
  number: 7,
  issue: { number: 7, title: 'A crash', body: 'x'.repeat(60_000), state: 'open', labels: [] },
  repository: { id: 1, full_name: 'acme/demo', owner: { id: 2 } },
  sender: { id: 3, login: 'ada' },
};
const event = parseEvent('issues', payload);
const subject = event.subject ?? { kind: 'repository' as const };

function load(text: string, path: string): readonly LoadedRule[] {
  const { rules, problems } = loadRuleFile({ path, text, level: 'operator', commit: '', registry });
  if (problems[0]) throw new Error(problems[0].message);
  return rules;
}

/** Returns a file of rules; those named `busy` listen to the event that is measured. */
function fileOf(from: number, count: number, on: string): string {
  const rules = Array.from({ length: count }, (_, place) => {
    const name = `rule-${from + place}`;
    return `  ${name}:\n    on: ${on}\n    if: event.repository.full_name.startsWith("acme/") && !("${name}" in ["x"])\n    steps: [{ uses: set-labels, with: { add: [${name}] } }]\n`;
  });
  return `version: 1\nrules:\n${rules.join('')}`;
}

const base = {
  id: 'bench',
  mode: 'plan',
  trigger: { door: 'cli', kind: 'issues', activity: 'opened', at: '' },
  now: new Date(0),
  clock: systemClock,
} as const;

async function runOnce(rules: RuleSet): Promise<number> {
  const startedMs = performance.now();
  await runRules({ ...base, rules, event, facts: createGivenFacts({ subject, given: {}, payload }) });
  return performance.now() - startedMs;
}

async function measureListening(rounds: number): Promise<BenchRow> {
  const busy = load(fileOf(0, 10, 'issues.opened'), 'busy.yml');
  const idle = Array.from({ length: 10 }, (_, place) =>
    load(fileOf(10 + place * 99, 99, 'pull_request.opened'), `idle-${place}.yml`),
  ).flat();
  const [few, many] = [createRuleSet(busy), createRuleSet([...busy, ...idle])];
  const times = { few: [] as number[], many: [] as number[] };
  for (let turn = 0; turn < rounds; turn += 1) {
    // In turns: whatever else the machine does falls on both.
    times.few.push(await runOnce(few));
    times.many.push(await runOnce(many));
  }
  const [alone, among] = [median(times.few), median(times.many)];
  const ratio = round(among / alone);
  return {
    name: 'event through 1,000 rules of which 10 listen',
    value: round(among),
    unit: 'ms',
    against: 'those 10 alone',
    ratio,
    target: '<= 1.2 x',
    ok: ratio <= 1.2,
  };
}

function measureLoading(): BenchRow {
  const texts = Array.from({ length: 100 }, (_, place) => fileOf(place * 100, 100, 'issues'));
  let count = 0;
  const once = (): number => {
    const startedMs = performance.now();
    const rules = texts.flatMap((text, place) => load(text, `${place}.yml`));
    count = createRuleSet(rules).rules.length;
    return performance.now() - startedMs;
  };
  // All but a tenth of it is spent in the YAML parser; the best of three leaves out what else the machine does.
  const seconds = round(Math.min(once(), once(), once()) / 1_000);
  const name = `${count.toLocaleString('en')} rules loaded, best of three`;
  return alone(name, seconds, 's', '<= 2 s', seconds <= 2);
}

/** The budget is one for each run: a run of all hostile rules may cost no more than one of them alone. */
async function measureHostile(): Promise<BenchRow> {
  const data = hostileData();
  const hostileEvent = parseEvent('issues', {
    ...payload,
    issue: { ...payload.issue, body: data.issue.body },
  });
  const texts = hostileExpressions.map((expression, place) => ruleOf(`hostile-${place}`, expression));
  // What the loader refuses costs nothing when it would run.
  const each = texts.flatMap((rule, place) =>
    loadIfAllowed(`{ "version": 1, "rules": { ${rule} } }`, `${place}.yml`),
  );
  const runs = [...each.map((rule) => [rule]), each].map((rules) => async () => {
    const facts = createGivenFacts({ subject, given: data, payload: hostileEvent.payload });
    await runRules({ ...base, rules: createRuleSet(rules), event: hostileEvent, facts });
  });
  let worst = 0;
  for (const once of [...runs, ...Object.values(hostileRuns).map(prepareHostileRun)]) {
    // What else the machine does, and the compiler in the first rounds, fall on some of the rounds.
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 8; round += 1) {
      const before = process.cpuUsage();
      await once();
      const { user, system } = process.cpuUsage(before);
      best = Math.min(best, (user + system) / 1_000);
    }
    worst = Math.max(worst, best);
  }
  const count = runs.length + Object.keys(hostileRuns).length;
  const name = `CPU of the worst of ${count} hostile runs, 60 KB text and 1,000 labels`;
  return alone(name, round(worst), 'ms', '<= 50 ms', worst <= 50);
}

function ruleOf(name: string, expression: string): string {
  const rule = { on: 'issues', if: expression, steps: [{ uses: 'set-labels', with: { add: ['x'] } }] };
  return `${JSON.stringify(name)}: ${JSON.stringify(rule)}`;
}

function loadIfAllowed(text: string, path: string): readonly LoadedRule[] {
  return loadRuleFile({ path, text, level: 'operator', commit: '', registry }).rules;
}

function alone(name: string, value: number, unit: string, target: string, ok: boolean): BenchRow {
  return { name, value, unit, against: '', ratio: null, target, ok };
}

/** Rules: how much many of them cost, how fast they load, how bad an expression can be, and what a label costs. */
export const measure: Measure = async ({ quick }) => {
  const rows = [await measureListening(quick ? 300 : 3_000), measureLoading(), await measureHostile()];
  const { changing, idle, withPull } = await measureRequests();
  return [
    ...rows,
    alone(
      'requests of a label rule that changes something',
      changing.requests,
      'requests',
      '<= 3',
      changing.requests <= 3,
    ),
    alone(
      'requests of one that reads the pull request, too',
      withPull.requests,
      'requests',
      '<= 3',
      withPull.requests <= 3,
    ),
    alone('writes of a label rule when nothing changes', idle.writes, 'writes', '0', idle.writes === 0),
  ];
};

import { parseEvent } from '../../src/contract/events.ts';
import { runEvent } from '../../src/engine/run.ts';
import { createGivenFacts } from '../../src/facts/ask.ts';
import { loadRuleFile } from '../../src/rules/load.ts';
import { registry } from '../../src/rules/registry.ts';
import type { LoadedRule } from '../../src/rules/rule.ts';
import { createRuleSet, type RuleSet } from '../../src/rules/rule-set.ts';
import { type BenchRow, type Measure, median, round } from './row.ts';
import { hostileExpressions } from './rules/hostile.ts';
import { measureRequests } from './rules/requests.ts';

const labels = Array.from({ length: 1_000 }, (_, id) => ({ id, name: `label-${id}`, color: 'ffffff' }));
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

async function runOnce(rules: RuleSet): Promise<number> {
  const startedMs = performance.now();
  await runEvent({
    id: 'bench',
    mode: 'plan',
    trigger: { door: 'cli', kind: 'issues', activity: 'opened', at: '' },
    rules,
    event,
    facts: createGivenFacts({ subject, given: {}, payload }),
    now: new Date(0),
    nowMs: () => performance.now(),
  });
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

async function measureHostile(): Promise<BenchRow> {
  let worst = 0;
  for (const expression of hostileExpressions) {
    const text = JSON.stringify({
      version: 1,
      rules: { r: { on: 'issues', if: expression, steps: [{ uses: 'set-labels', with: { add: ['x'] } }] } },
    });
    const { rules } = loadRuleFile({ path: 'x.yml', text, level: 'operator', commit: '', registry });
    const [rule] = rules;
    // What the loader refuses costs nothing when it would run.
    if (rule?.condition === undefined) continue;
    const { condition } = rule;
    const known: Readonly<Record<string, unknown>> = { event: payload, issue: payload.issue, labels };
    const ask = (): number => {
      const startedMs = performance.now();
      condition.evaluate({
        find: ({ name }) => (Object.hasOwn(known, name) ? { value: known[name] } : undefined),
      });
      return performance.now() - startedMs;
    };
    // A pause of the machine is not the expression's.
    worst = Math.max(worst, Math.min(ask(), ask(), ask()));
  }
  return alone(
    'worst hostile expression, 60 KB text and 1,000 labels',
    round(worst),
    'ms',
    '<= 50 ms',
    worst <= 50,
  );
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

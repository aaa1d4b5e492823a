import { describe, expect, it } from 'vitest';
import { hostileTexts } from '../../scripts/bench/hostile.ts';
import { parseEvent } from '../../src/contract/events/events.ts';
import type { Run } from '../../src/engine/record.ts';
import { runRules } from '../../src/engine/run.ts';
import { createGivenFacts } from '../../src/facts/given-facts.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { createRuleSet, type Level, type LoadedRule, type RuleHome } from '../../src/rules/rule.ts';
import { makeClock } from '../support/make-clock.ts';

const body = hostileTexts.letters;
const files = (count: number) =>
  Array.from({ length: count }, (_, place) => ({
    filename: `src/folder-${place % 50}/part/file-${place}.ts`,
  }));
const pull = { number: 7, title: 'fix: it', body, state: 'open', base: { ref: 'main' }, head: { sha: 'b' } };
const payload = {
  action: 'opened',
  number: 7,
  pull_request: pull,
  repository: { id: 1, full_name: 'acme/site', owner: { id: 2 } },
  sender: { id: 3, login: 'ada' },
};
const costly = 'event.pull_request.body.matches("(([abc]{1,30})a){30}$")';
const cheap = 'event.pull_request.title.matches("^fix: ")';

type Source = { readonly level: Level; readonly path: string; readonly home?: RuleHome };
const operator: Source = { level: 'operator', path: 'rules/a.yml' };
const repository: Source = { level: 'repository', path: 'acme/site/.reeve.yml', home: { repositoryId: 1 } };

/** Loads rules of one source, given as conditions or as objects. */
function load(source: Source, rules: Readonly<Record<string, string | object>>): readonly LoadedRule[] {
  const forms = Object.entries(rules).map(([name, rule]) => {
    const more = typeof rule === 'string' ? { if: rule } : rule;
    const steps = [{ uses: 'set-labels', with: { add: ['x'] } }];
    return [name, { on: 'pull_request.opened', steps, ...more }];
  });
  const text = JSON.stringify({ version: 1, rules: Object.fromEntries(forms) });
  const { level, path, home } = source;
  const loaded = loadRuleFile({ path, text, level, commit: '', registry });
  if (loaded.problems[0]) throw new Error(loaded.problems[0].message);
  return loaded.rules.map((rule) => ({ ...rule, ...(home && { home }) }));
}

async function run(
  rules: readonly LoadedRule[],
  given: Readonly<Record<string, unknown>> = {},
): Promise<Run> {
  const event = parseEvent('pull_request', payload);
  const subject = event.subject ?? { kind: 'pull_request' as const };
  const known = { labels: [], label_definitions: [{ id: 1, name: 'x' }], ...given };
  const { run: record } = await runRules({
    id: '1',
    mode: 'plan',
    trigger: { door: 'cli', kind: 'pull_request', activity: 'opened', at: '' },
    rules: createRuleSet(rules),
    event,
    facts: createGivenFacts({ subject, given: known, payload }),
    now: new Date('2026-01-01T00:00:00Z'),
    clock: makeClock({ monotonicMs: () => 0 }),
  });
  return record;
}

const verdicts = ({ rules }: Run): Readonly<Record<string, string>> =>
  Object.fromEntries(rules.map(({ rule, verdict }) => [rule.split('#')[1], verdict]));

describe('the budget of a run', () => {
  it('is shared by all rules of a source: the first expensive rules use it up, however many there are', async () => {
    const names = Array.from({ length: 40 }, (_, place) => `rule-${place}`);
    // Each of these conditions costs about a third of the budget, so none exceeds the budget alone.
    const third = `event.pull_request.body.substring(0, 700).matches("(([abc]{1,30})a){30}$")`;
    const record = await run(load(operator, Object.fromEntries(names.map((name) => [name, third]))));

    const failed = record.rules.filter(({ verdict }) => verdict === 'failed');
    expect(record.rules[0]?.verdict).toBe('unmatched');
    expect(failed.length).toBeGreaterThan(30);
    expect(failed[0]?.reason).toContain("the evaluation budget of the operator's rules is used up");
    expect(failed[0]?.reason).toContain('docs/reference/limits.md');
  });

  const globOf = (name: string) => `files.exists(f, f.filename.glob("src/${name}/**"))`;
  const reasonOf = (record: Run, rule: string) =>
    record.rules.find((one) => one.rule.endsWith(`#${rule}`))?.reason;

  it('that is used up is reported with the label that used most of it', async () => {
    const sync: Record<string, string> = {
      heavy: 'event.pull_request.body.substring(0, 700).matches("(([abc]{1,30})a){30}$")',
    };
    for (let n = 0; n < 113; n += 1) sync[`area-${n}`] = globOf(`none-${n}`);
    const labels = { steps: [{ uses: 'set-labels', with: { sync } }] };
    const record = await run(load(operator, { labels }), { files: files(3_000) });

    expect(verdicts(record)).toEqual({ labels: 'failed' });
    expect(reasonOf(record, 'labels')).toMatch(
      /used up \(24 million units for one run\), and sync\.heavy of step 1 set-labels of rule labels used most of it \(\d\d %\)/,
    );
  });

  it('that is used up is reported with the condition that used most of it, also for other rules of the source', async () => {
    const third = 'event.pull_request.body.substring(0, 700).matches("(([abc]{1,30})a){30}$")';
    const step = { if: `${third} || ${third}`, uses: 'set-labels', with: { add: ['x'] } };
    const record = await run(load(operator, { one: { steps: [step] }, two: third, three: { if: third } }));

    const reasons = record.rules.flatMap(({ reason }) => reason ?? []);
    expect(reasons.length).toBeGreaterThan(0);
    for (const reason of reasons)
      expect(reason).toContain('and if of step 1 set-labels of rule one used most of it (');
  });

  it('that is used up is reported as an error of the finding, with its position', async () => {
    const { rules } = await run(load(operator, { one: costly }));

    expect(rules[0]?.verdict).toBe('failed');
    expect(rules[0]?.findings[0]).toMatchObject({
      expression: costly,
      result: 'error',
      line: 1,
      values: {
        error: expect.stringContaining('evaluation budget'),
        'event.pull_request.body': expect.any(String),
      },
    });
  });

  it('is divided among the sources: a file of the repository cannot spend the share of the operator’s rules', async () => {
    const theirs = load(
      repository,
      Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`r${n}`, costly])),
    );
    const all = `files.exists(f, f.filename.glob("**/*.md")) || ${cheap}`;
    const record = await run([...theirs, ...load(operator, { ours: all })], { files: files(3_000) });

    expect(verdicts(record)).toMatchObject({ ours: 'matched', r0: 'failed', r49: 'failed' });
  });

  it('reserves a share for each rule, so that an expensive rule cannot stop a cheap one', async () => {
    const record = await run(load(repository, { a: costly, b: costly, c: cheap, d: 'event.number == 7' }));

    expect(verdicts(record)).toEqual({ a: 'failed', b: 'failed', c: 'matched', d: 'matched' });
  });

  it('is enough for a thousand rules of the operator', async () => {
    const rules = Array.from({ length: 10 }, (_, file) =>
      load(
        { level: 'operator', path: `rules/${file}.yml` },
        Object.fromEntries(
          Array.from({ length: 100 }, (_unused, n) => [
            `r${file}-${n}`,
            `event.pull_request.title.matches("^(feat|fix|docs)(\\\\(.+\\\\))?!?: .{1,72}$") && files.exists(f, f.filename.glob("src/folder-${n % 50}/**")) && event.number != ${n + 8}`,
          ]),
        ),
      ),
    ).flat();
    const record = await run(rules, { files: files(60) });

    expect(record.rules).toHaveLength(1_000);
    expect(record.rules.filter(({ verdict }) => verdict === 'failed')).toEqual([]);
  });

  it('is enough for labels by path on 10,000 files', async () => {
    const sync = {
      docs: '"docs/**"',
      tests: '"**/*.test.ts"',
      code: '["src/**", "!src/gen/**"]',
      ci: '".gitea/**"',
    };
    const conditions = Object.entries(sync).map(([label, glob]) => [
      label,
      `files.exists(f, f.filename.glob(${glob}))`,
    ]);
    const steps = [{ uses: 'set-labels', with: { sync: Object.fromEntries(conditions) } }];
    const definitions = Object.keys(sync).map((name, id) => ({ id, name }));
    const record = await run(load(repository, { label: { if: 'true', steps } }), {
      files: files(10_000),
      label_definitions: definitions,
    });

    expect(verdicts(record)).toEqual({ label: 'matched' });
    expect(record.changes.map(({ target }) => target)).toEqual(['label:code']);
  });

  it('is enough for ordinary patterns on a body of 256 KiB', async () => {
    const long = 'Some text that closes nothing at all, as people write it. '.repeat(4_515);
    const about = (pattern: string): string => `pull_request.body.matches("${pattern}")`;
    const conditions = {
      closes: about('(?i)\\\\b(closes|fixes|resolves) #\\\\d+'),
      tasks: about('(?m)^- \\\\[ \\\\] .{1,200}$'),
      signed: about('(?m)^Signed-off-by: .+ <.+@.+>$'),
    };
    const record = await run(load(repository, conditions), { pull_request: { ...pull, body: long } });

    expect(long.length).toBeGreaterThan(255 * 1024);
    expect(verdicts(record)).toEqual({ closes: 'unmatched', tasks: 'unmatched', signed: 'unmatched' });
  });
});

describe('a pattern outside of expressions is charged to the budget as well', () => {
  const stars = (length: number): string => `**/${'*a'.repeat(length)}b`;
  /** Paths on which a glob with many stars has many states. */
  const paths = Array.from({ length: 2_000 }, (_, place) => ({ filename: `x/${'a'.repeat(200)}${place}` }));
  const many = Array.from({ length: 50 }, (_, place) => `${stars(120)}${place}`);

  it('in paths', async () => {
    const on = { pull_request: { types: ['opened'], paths: many } };
    const record = await run(load(repository, { one: { on }, two: cheap }), { files: paths });

    expect(verdicts(record)).toEqual({ one: 'failed', two: 'matched' });
    expect(record.rules[0]?.reason).toContain(
      'paths: the evaluation budget of the rules of acme/site/.reeve.yml',
    );
  });

  it('in paths-ignore', async () => {
    const on = {
      pull_request: {
        types: ['opened'],
        'paths-ignore': ['x/**', ...many.slice(0, 40).map((glob) => `!${glob}`)],
      },
    };
    const record = await run(load(repository, { one: { on } }), { files: paths });

    expect(verdicts(record)).toEqual({ one: 'failed' });
  });

  it('in branches, which are evaluated before anything else', async () => {
    const ref = 'a'.repeat(250_000);
    const event = parseEvent('pull_request', { ...payload, pull_request: { ...pull, base: { ref } } });
    const on = { pull_request: { types: ['opened'], branches: many.slice(0, 40) } };
    const { run: record } = await runRules({
      id: '1',
      mode: 'plan',
      trigger: { door: 'cli', kind: 'pull_request', activity: 'opened', at: '' },
      rules: createRuleSet(load(repository, { one: { on }, two: 'event.number == 7' })),
      event,
      facts: createGivenFacts({ subject: event.subject ?? { kind: 'pull_request' }, given: {}, payload }),
      now: new Date(0),
      clock: makeClock({ monotonicMs: () => 0 }),
    });

    expect(record.rules[0]).toMatchObject({ verdict: 'failed', findings: [] });
    expect(record.rules[0]?.reason).toContain('evaluation budget');
    expect(record.rules[1]?.findings[0]?.result).toBe('held');
  });

  it('in ignore-paths of an action', async () => {
    const steps = [{ uses: 'dismiss-stale-reviews', with: { 'ignore-paths': many } }];
    const review = {
      id: 1,
      state: 'APPROVED',
      commit_id: 'a',
      stale: true,
      dismissed: false,
      user: { id: 4, login: 'eve' },
    };
    const record = await run(load(operator, { one: { if: 'true', steps } }), {
      pull_request: pull,
      reviews: [review],
      changed_since: { a: paths },
    });

    expect(verdicts(record)).toEqual({ one: 'failed' });
    expect(record.rules[0]?.reason).toContain('evaluation budget');
  });
});

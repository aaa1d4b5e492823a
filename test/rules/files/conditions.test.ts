import { describe, expect, it } from 'vitest';
import { createUnlimitedMeter, Meter } from '../../../src/patterns/meter.ts';
import { formatExpanded, loadRuleFile } from '../../../src/rules/files/load.ts';
import { registry } from '../../../src/rules/registry.ts';

type Loading = Partial<Parameters<typeof loadRuleFile>[0]>;

function load(
  conditions: Readonly<Record<string, unknown>>,
  rules: Readonly<Record<string, object>>,
  more: Loading = {},
) {
  const text = JSON.stringify({ version: 1, conditions, rules }, null, 1);
  return loadRuleFile({ path: 'a.yml', text, level: 'operator', commit: '', registry, ...more });
}

const steps = [{ uses: 'set-labels', with: { add: ['x'] } }];
const onPull = (condition: string, more: object = {}) => ({
  on: 'pull_request',
  if: condition,
  steps,
  ...more,
});

function messages(
  conditions: Readonly<Record<string, unknown>>,
  condition: string,
  more: object = {},
): readonly string[] {
  return load(conditions, { one: onPull(condition, more) }).problems.map(({ message }) => message);
}

function evaluate(
  conditions: Readonly<Record<string, unknown>>,
  condition: string,
  given: Readonly<Record<string, unknown>>,
) {
  const { rules, problems } = load(conditions, { one: onPull(condition) });
  expect(problems).toEqual([]);
  const find = ({ name }: { readonly name: string }) =>
    Object.hasOwn(given, name) ? { value: given[name] } : undefined;
  return rules[0]?.condition?.evaluate({ find }, createUnlimitedMeter());
}

const given = {
  labels: [{ name: 'ready' }],
  statuses: [{ context: 'ci/a', status: 'success' }],
  files: [{ filename: 'docs/a.md' }],
  pull_request: { draft: false, title: 'fix: a', additions: 7 },
};

describe('a named condition', () => {
  it.each([
    [{ green: 'passed("ci/*")' }, 'green', 'held'],
    [{ green: 'passed("ci/*")' }, '!green', 'not'],
    [{ green: 'passed("ci/*")' }, 'green && labelled("ready")', 'held'],
    [{ green: 'passed("ci/*")', ready: 'green && labelled("ready")' }, 'ready', 'held'],
    [{ names: 'labels.map(l, l.name)' }, '"ready" in names && names.size() == 1', 'held'],
    [{ names: 'labels.map(l, l.name)' }, 'names[0] == "ready" && names.exists(n, n == "ready")', 'held'],
    [{ ready: 'labels.exists(l, l.name == "ready")' }, 'labels.all(l, ready && l.name == "ready")', 'held'],
    [{ big: true }, 'big', 'held'],
    [{ pull: 'pull_request' }, 'pull.additions == 7', 'held'],
  ] as const)('%j makes %s: %s', (conditions, condition, expected) => {
    expect(evaluate(conditions, condition, given)?.result).toBe(expected);
  });

  it('is shown by its name, with the values that it reads', () => {
    expect(
      evaluate({ green: 'passed("ci/*") && !pull_request.draft' }, 'green && labelled("ready")', given)
        ?.findings,
    ).toEqual([
      {
        expression: 'green',
        result: 'held',
        values: { statuses: [{ context: 'ci/a', status: 'success' }], 'pull_request.draft': false },
        file: 'a.yml',
        line: expect.any(Number),
        column: expect.any(Number),
      },
      expect.objectContaining({ expression: 'labelled("ready")', values: { labels: ['ready'] } }),
    ]);
  });

  it('brings its facts, literals and need for checks to the rule', () => {
    const { rules } = load({ green: 'passed("ci/*") && labelled("ready")' }, { one: onPull('green') });
    const condition = rules[0]?.condition;

    expect(condition?.facts.map(({ name }) => name)).toEqual(['statuses', 'labels']);
    expect(condition?.texts).toEqual(['ci/*', 'ready']);
    const find = ({ name }: { readonly name: string }) => ({
      value: name === 'labels' ? [{ name: 'ready' }] : [],
    });
    expect(condition?.prospect({ find }, createUnlimitedMeter())).toBe('awaits');
  });

  it('may be used in arguments and templates', () => {
    const { rules, problems } = load(
      { docs: 'touches("docs/**")', author: 'pull_request.user.login' },
      {
        one: {
          on: 'pull_request',
          steps: [
            { uses: 'set-labels', with: { sync: { docs: 'docs' } } },
            { uses: 'comment', with: { key: 'a', when: 'docs', text: 'Thanks, ${{ author }}' } },
          ],
        },
      },
    );

    expect(problems).toEqual([]);
    expect(rules[0]?.steps.map(({ arguments: { facts } }) => facts.map(({ name }) => name))).toEqual([
      ['files'],
      ['pull_request', 'files'],
    ]);
  });

  it('is evaluated once for all expressions of a rule, and again with other knowledge', () => {
    const { rules } = load(
      { slow: 'labels.all(l, labels.all(k, k.name != "x" + l.name))' },
      { one: onPull('slow') },
    );
    const find = () => ({ value: Array.from({ length: 40 }, (_, n) => ({ name: `l${n}` })) });
    const [knowledge, other] = [{ find }, { find }];
    const costOf = (known: typeof knowledge): number => {
      const pool = { left: 1e9 };
      rules[0]?.condition?.evaluate(known, new Meter({ pool, reserve: 0, describe: () => '' }));
      return 1e9 - pool.left;
    };
    const first = costOf(knowledge);

    expect(costOf(knowledge)).toBeLessThan(first / 10);
    expect(costOf(other)).toBe(first);
  });

  it('does not multiply the work, however often others use it', () => {
    const conditions: Record<string, string> = { c0: 'labels.size() > 0' };
    for (let n = 1; n < 60; n += 1) conditions[`c${n}`] = `c${n - 1} && (c${n - 1} || c${n - 1})`;

    expect(evaluate(conditions, 'c59', given)?.result).toBe('held');
  });
});

describe('a named condition is a problem', () => {
  it.each([
    [{ green: 'passed(' }, 'green', /Unexpected|unexpected|expected/],
    [{ green: '${{ labels }}' }, 'green', /remove/],
    [
      { 'is-green': 'true' },
      'true',
      '"is-green" is not a valid name of a condition: use letters, digits and "_", starting with a letter, as in is_green',
    ],
    ...[
      'labels',
      'event',
      'sender',
      'now',
      'touches',
      'has',
      'size',
      'true',
      'in',
      'params',
      'sets',
      'runner',
    ].map(
      (name) =>
        [
          { [name]: 'true' },
          'true',
          `"${name}" already has a meaning in expressions: choose another name`,
        ] as const,
    ),
    [
      { green: 'passed("!a")' },
      'green',
      'condition green: the pattern "!a" only excludes: first list what should match',
    ],
    [{ green: 'weather' }, 'green && green', /^condition green: there is nothing named "weather"/],
    [
      { green: 'green' },
      'green',
      'condition green: a condition must not use itself: green, which uses green',
    ],
    [
      { a: 'b', b: 'a' },
      'a',
      /^condition a: condition b: a condition must not use itself: a, which uses b, which uses a/,
    ],
    [{ count: 'labels.size()' }, 'count', 'a condition must be true or false, this is a number'],
    [{ green: 'true' }, 'labels.exists(green, true)', '"green" is already in use: choose another name'],
    [{ green: 'true' }, 'has(green)', 'has() takes data of the forge: write has() into the condition green'],
    [{ green: 'true' }, 'gren', /there is nothing named "gren"/],
  ] as const)('%j, used as %s', (conditions, condition, message) => {
    const found = messages(conditions, condition);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(message);
  });

  it('where a rule that uses it has no such fact, at the use', () => {
    const loaded = load(
      { docs: 'touches("docs/**")' },
      {
        one: onPull('docs'),
        two: { on: 'issues', if: 'docs', steps },
      },
    );

    expect(loaded.problems).toMatchObject([{ message: 'condition docs: issues has no files', line: 23 }]);
  });

  it('where the file needs a grant for what it reads', () => {
    const found = load(
      { admins: 'collaborators.size() > 0' },
      { one: onPull('admins') },
      { level: 'repository' },
    );

    expect(found.problems[0]?.message).toContain(
      'condition admins: files of the repository may not use collaborators',
    );
  });

  it('for more than a hundred', () => {
    const conditions = Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`c${n}`, 'true']));

    expect(messages(conditions, 'c1')).toEqual(['a file may have at most 100 conditions']);
  });
});

it('parameters are inserted into named conditions', () => {
  const text = `version: 1
params: { label: { type: string, default: ready } }
conditions: { marked: labelled(params.label) }
rules:
  one: { on: pull_request, if: marked, steps: [{ uses: set-labels, with: { add: [x] } }] }
`;
  const loaded = loadRuleFile({ path: 'a.yml', text, level: 'operator', commit: '', registry });

  expect(loaded.problems).toEqual([]);
  expect(loaded.rules[0]?.condition?.texts).toEqual(['ready']);
});

it('a pack has its own, and the expanded file names those that differ', () => {
  const pack = JSON.stringify({
    version: 1,
    conditions: { marked: 'labelled("pack")' },
    rules: { two: onPull('marked') },
  });
  const packs = new Map([['p', { path: 'packs/p.yml', text: pack, isReadable: true, packs: new Map() }]]);
  const text = JSON.stringify({
    version: 1,
    include: [{ name: 'p', file: 'packs/p.yml' }],
    conditions: { marked: 'labelled("own")' },
    rules: { one: onPull('marked') },
  });
  const loaded = loadRuleFile({ path: 'a.yml', text, level: 'operator', commit: '', registry, packs });

  expect(loaded.problems).toEqual([]);
  expect(loaded.rules.map(({ name, condition }) => [name, condition?.texts])).toEqual([
    ['one', ['own']],
    ['p/two', ['pack']],
  ]);
  expect(formatExpanded({ path: 'a.yml', ...loaded })).toContain(
    '# In the rules of packs/p.yml, marked is "labelled(\\"pack\\")".\nversion: 1\nconditions:\n  marked: labelled("own")\n',
  );
});

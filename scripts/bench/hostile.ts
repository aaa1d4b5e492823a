import { parseEvent } from '../../src/contract/events/events.ts';
import type { Run } from '../../src/engine/record.ts';
import { runRules } from '../../src/engine/run.ts';
import { createGivenFacts } from '../../src/facts/given-facts.ts';
import { limits } from '../../src/rules/expressions/budget.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { createRuleSet } from '../../src/rules/rule.ts';
import { makeClock } from '../../test/support/make-clock.ts';

/** Texts for which patterns and searches are as expensive as possible. */
export const hostileTexts = {
  /** Three letters in an order that no pattern can predict. */
  letters: shuffled('abc', 60_000),
  ab: 'ab'.repeat(30_000),
  spaces: `${' '.repeat(59_999)}a`,
} as const;

/** Returns data that an attacker may submit to a hostile rule: a body of 60 KB, 1,000 labels, 1,000 files. */
export function hostileData(body: string = hostileTexts.letters) {
  const labels = Array.from({ length: 1_000 }, (_, id) => ({ id, name: `label-${id}`, color: 'ffffff' }));
  const files = Array.from({ length: 1_000 }, (_, place) => ({
    filename: `src/folder-${place % 50}/file-${place}.ts`,
    additions: place,
  }));
  const pull = { number: 7, title: 'fix: it', body, labels, base: { ref: 'main' } };
  return {
    pull_request: pull,
    issue: { number: 7, title: 'A crash', body, labels },
    labels,
    files,
    event: { action: 'opened', number: 7, pull_request: structuredClone(pull), issue: { body, labels } },
    now: new Date('2026-01-01T00:00:00Z'),
  };
}

/** Expressions designed to be expensive. `test/rules/expressions/hostile.test.ts` generates thousands more. */
export const hostileExpressions: readonly string[] = [
  'issue.body.matches("(([abc]{1,30})a){30}$")',
  'issue.body.matches("(a+)+$")',
  'issue.body.matches("((a?){20}){30}$")',
  'issue.body.matches("[abc]*a[abc]{100}x")',
  `issue.body.glob("${'*a'.repeat(249)}")`,
  `labels.exists(l, ${Array(60).fill('issue.body').join(' + ')} == "x")`,
  'labels.exists(l, event.issue.body == issue.body && l.name == "")',
  'labels.all(l, event.issue.labels == labels)',
  'labels.all(l, l in event.issue.labels)',
  'labels.all(l, labels.all(k, k.id + l.id >= 0))',
  `labels.exists(l, ${Array(40).fill('l.url.contains("a")').join(' || ')})`,
  'labels.exists(l, issue.body.size() > 100000)',
  `(${Array(20).fill('labels').join(' + ')}).exists(l, l.name == "")`,
  `labels.exists(l, ${'!'.repeat(21)}(l.id == 1))`,
  'labels.exists(l, issue.body.contains(l.name))',
  'labels.exists(l, issue.body.lower().contains("q"))',
  'issue.body.split("x").size() > 1',
  'labels.all(l, issue.body.replace("a", "bb").size() > l.id)',
  'issue.body.replace("", "x".replace("", issue.body)).size() > 1',
  'labels.all(l, labels.map(k, k.name).sort().size() > 0)',
  '(labels + labels + labels).distinct().size() == 1000',
  'labels.all(l, sets.contains(event.issue.labels, labels))',
  'labels.all(l, "%s %s %s".format([labels, issue.body, l]).size() > 0)',
  'labels.map(l, labels.map(k, labels)).flatten(3).size() > 0',
  '"%s".format([labels.map(l, labels)]).size() > 0',
  `labels.map(l, l.name).join().contains("${'x'.repeat(500)}")`,
];

function shuffled(letters: string, length: number): string {
  let seed = 12_345;
  let text = '';
  for (let place = 0; place < length; place += 1) {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    text += letters[(seed >> 16) % letters.length] ?? '';
  }
  return text;
}

const steps = [{ uses: 'set-labels', with: { add: ['x'] } }];
const letters = hostileTexts.letters.slice(0, 50_000);
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, number) => number);
/** Scrambles a number, for texts in which no state of a pattern matches twice. */
const spread = (number: number): number => Math.imul(number, 0x9e3779b1) >>> 9;
const text = (length: number, character: (number: number) => number): string =>
  numbers(length)
    .map((number) => String.fromCodePoint(character(spread(number))))
    .join('');
const wide = (count: number) => Object.fromEntries(numbers(count).map((number) => [`k${number}`, 1]));
const many = (count: number, rule: (number: number) => object): Readonly<Record<string, object>> =>
  Object.fromEntries(numbers(count).map((number) => [`r${number}`, rule(number)]));
const any = (count: number, part: (number: number) => string): string =>
  numbers(count).map(part).join(' || ');

/** Returns a glob that matches many names together with its neighbours. */
const overlapping = (number: number): string =>
  `**/*${numbers(4)
    .map((at) => String.fromCharCode(97 + (spread(number * 4 + at) % 24)))
    .join('*')}*Z`;

const pull = { number: 7, title: 'fix: it', state: 'open', base: { ref: 'main' }, head: { sha: 'b' } };
const costly = { if: 'event.pull_request.body.matches("(([abc]{1,30})a){30}$")' };
const bodyIs = (pattern: string): string => `event.pull_request.body.matches("${pattern}")`;

/** Rule file of a repository, with the event and the facts for which it is evaluated. */
type HostileRun = {
  readonly rules: Readonly<Record<string, object>>;
  /** Fields of the pull request. */
  readonly pull?: Readonly<Record<string, unknown>>;
  readonly facts?: Readonly<Record<string, unknown>>;
  /** Whether some of the rules must be stopped because they exceed the budget of a run. */
  readonly isStopped: boolean;
};

/** Runs designed to be expensive, each with one kind of work. Each rule file has at most 64 KiB. */
export const hostileRuns: Readonly<Record<string, HostileRun>> = {
  'patterns with overlapping repetitions': {
    isStopped: true,
    rules: many(7, () => costly),
    pull: { body: letters },
  },
  'globs of 249 stars': {
    isStopped: true,

    rules: many(7, () => ({ if: `event.pull_request.body.glob("${'*a'.repeat(249)}")` })),
    pull: { body: 'a'.repeat(50_000) },
  },
  'patterns that tell a thousand classes of characters apart': {
    isStopped: true,

    rules: { one: { if: bodyIs('[\\\\pL\\\\pN]*[a\\\\p{Lu}][\\\\pL\\\\pN]{40}x') } },
    pull: { body: text(50_000, (number) => 0x100 + (number % 0x2e00)) },
  },
  'patterns over texts in other scripts': {
    isStopped: true,

    rules: many(60, (rule) => ({ if: any(8, (n) => bodyIs(`\\\\pN[жk]${rule}x${n}y\\\\pL`)) })),
    pull: { body: 'Привет мир это длинный текст без всего '.repeat(1_500) },
  },
  'patterns that each rule has meet another text': {
    isStopped: false,

    rules: many(46, (rule) => ({
      if: any(
        18,
        (n) =>
          `event.pull_request.${rule === 0 ? 'body' : 'title'}.matches("\\\\pL*${'abcdefghijklmnopqr'[n]}[\\\\pL]{9}x")`,
      ),
    })),
    pull: { body: text(250, (number) => 97 + (number % 18)) },
  },
  'a hundred overlapping globs over 10,000 files': {
    isStopped: true,
    rules: { one: { if: `touches(${JSON.stringify(numbers(100).map((n) => overlapping(n)))})` } },
    facts: {
      files: numbers(10_000).map((n) => ({ filename: `${text(60, (at) => 97 + ((at + n) % 24))}-${n}` })),
    },
  },
  'globs below one folder over 10,000 files': {
    isStopped: true,
    rules: many(40, (rule) => ({
      if: `touches(${JSON.stringify(numbers(60).map((n) => `src/${overlapping(rule * 60 + n).slice(3)}`))})`,
    })),
    facts: { files: numbers(10_000).map((n) => ({ filename: `src/${n}/${n % 7}/file-${n}` })) },
  },
  'a labeler of 114 labels with three globs each over 3,000 files': {
    isStopped: false,
    rules: {
      one: {
        steps: [
          {
            uses: 'set-labels',
            with: {
              sync: Object.fromEntries(
                numbers(114).map((n) => [
                  `area-${n}`,
                  `touches(["packages/p${n}/**", "docs/p${n}/**/*.md", "**/p${n}-*.ts"])`,
                ]),
              ),
            },
          },
        ],
      },
    },
    facts: {
      files: numbers(3_000).map((n) => ({
        filename: `packages/p${n % 4}/src/feature-${n % 37}/file-${n}.ts`,
      })),
      label_definitions: numbers(114).map((n) => ({ id: n + 1, name: `area-${n}` })),
    },
  },
  'thousands of globs that are used once': {
    isStopped: false,

    rules: many(28, (rule) => ({
      if: any(60, (n) => `event.action.glob("*${(rule * 60 + n).toString(36)}")`),
    })),
  },
  'thousands of parts after the budget is used up': {
    isStopped: true,

    rules: {
      costly,
      ...many(26, () => ({
        steps: [
          {
            uses: 'set-labels',
            with: {
              sync: Object.fromEntries(numbers(9).map((n) => [`l${n}`, Array(42).fill('1>2').join('||')])),
            },
          },
        ],
      })),
    },
    pull: { body: letters },
  },
  'templates with long texts': {
    isStopped: true,

    rules: many(5, (rule) => ({
      steps: [
        { uses: 'comment', with: { key: `k${rule}`, text: '${{event.pull_request.body}}'.repeat(400) } },
      ],
    })),
    pull: { body: '\n \t@a '.repeat(10_000) },
    facts: { comments: [] },
  },
  'paths of 10,000 files in a hundred rules': {
    isStopped: true,

    rules: many(100, () => ({ on: { pull_request: { types: ['opened'], paths: ['q'] } } })),
    facts: { files: numbers(10_000).map((number) => ({ filename: `src/f${number}.ts` })) },
  },
  'objects of many members': {
    isStopped: true,

    rules: many(60, () => ({ if: 'event.pull_request.labels.exists(l, size(l) == 3)' })),
    pull: { labels: numbers(1_000).map(() => wide(limits.members - 50)) },
  },
  'objects of more members than an expression may look at': {
    isStopped: true,

    rules: many(50, () => ({ if: 'event.pull_request == event.repository' })),
    pull: wide(2_000),
  },
};

/**
 * Returns a function that executes a hostile run, and that can be called any number of times. Throws if the rule file
 * is refused.
 */
export function prepareHostileRun({ rules, pull: more, facts }: HostileRun): () => Promise<Run> {
  const forms = Object.entries(rules).map(([name, rule]) => [
    name,
    { on: 'pull_request.opened', steps, ...rule },
  ]);
  const file = JSON.stringify({ version: 1, rules: Object.fromEntries(forms) });
  const loaded = loadRuleFile({ path: '.reeve.yml', text: file, level: 'repository', commit: '', registry });
  if (loaded.problems[0]) throw new Error(loaded.problems[0].message);
  const ruleSet = createRuleSet(loaded.rules);
  const payload = {
    action: 'opened',
    number: 7,
    pull_request: { ...pull, ...more },
    repository: { id: 1, full_name: 'acme/site', owner: { id: 2, login: 'acme' } },
    sender: { id: 3, login: 'ada' },
  };
  const event = parseEvent('pull_request', payload);
  const given = { labels: [], label_definitions: [{ id: 1, name: 'x' }], ...facts };
  return async () => {
    const subject = event.subject ?? { kind: 'pull_request' as const };
    const { run } = await runRules({
      id: '1',
      mode: 'plan',
      trigger: { door: 'cli', kind: 'pull_request', activity: 'opened', at: '' },
      rules: ruleSet,
      event,
      facts: createGivenFacts({ subject, given, payload }),
      now: new Date('2026-01-01T00:00:00Z'),
      clock: makeClock({ monotonicMs: () => 0 }),
    });
    return run;
  };
}

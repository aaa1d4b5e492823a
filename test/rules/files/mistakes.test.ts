import { describe, expect, it } from 'vitest';
import { loadRuleFile } from '../../../src/rules/files/load.ts';
import { fixOf, type Problem } from '../../../src/rules/problem.ts';
import { registry } from '../../../src/rules/registry.ts';
import { loadRuleTests } from '../../../src/rules/rule-tests.ts';

/** Mistake of a new user, the position in the expected message, and the words of the message that show the fix. */
type Mistake = readonly [name: string, text: string, place: string, remedy: string];

const ruleOf = (on: string, rest: string): string => `version: 1\nrules:\n  a:\n    on: ${on}\n${rest}`;
const steps = '    steps:\n      - uses: set-labels\n        with: { add: [bug] }\n';
const condition = (text: string): string => ruleOf('pull_request', `    if: ${text}\n${steps}`);
const step = (text: string): string => ruleOf('pull_request', `    steps:\n${text}`);
const comment = (text: string): string =>
  step(`      - uses: comment\n        with: { key: x, text: '${text}' }\n`);
const schedule = (text: string): string => ruleOf(`{ schedule: ${text} }`, `    each: issue\n${steps}`);
const caseOf = (text: string): string => `cases:\n  - name: a\n${text}`;

const ofOtherLanguages: readonly Mistake[] = [
  ['includes() of a text', condition('pull_request.title.includes("fix")'), '5:9', 'did you mean "contains"'],
  [
    'includes() of a list',
    condition('labels.map(l, l.name).includes("bug")'),
    '5:9',
    'did you mean "exists"',
  ],
  ['length of a list', condition('files.length > 3'), '5:15', 'did you mean "files.size()"'],
  ['toLowerCase()', condition('pull_request.title.toLowerCase() == "x"'), '5:9', 'did you mean "lower"'],
  ['some()', condition('files.some(f, f.filename == "x")'), '5:9', 'did you mean "exists"'],
  ['every()', condition('files.every(f, f.filename != "x")'), '5:9', 'did you mean "all"'],
  [
    'an arrow function',
    condition('files.exists(f => f.filename == "x")'),
    '5:24',
    'names its variable first',
  ],
  ['===', condition('pull_request.title === "x"'), '5:30', 'equality is written =='],
  ['a regular expression literal', condition('pull_request.title.match(/x/)'), '5:34', 'text.matches("…")'],
  ['?.', condition('pull_request?.draft'), '5:22', 'ask with has(…)'],
  ['??', condition('(pull_request.body ?? "") == ""'), '5:29', 'write has(x) ? x : "…"'],
  ['undefined', condition('pull_request.body == undefined'), '5:30', 'did you mean "null"'],
  ['len()', condition('len(files) > 3'), '5:9', 'did you mean "size"'],
  ['not', condition('not pull_request.draft'), '5:13', '"not" is written !'],
  ['is not', condition('pull_request.milestone is not null'), '5:32', '"is not" is written !='],
  ['a filter of Jinja', comment('${{ pull_request.title | upper }}'), '7:55', 'there are no filters'],
  ['~= of Mergify', condition('pull_request.title ~= "^fix"'), '5:28', 'text.matches("…")'],
  [
    'contains() of workflows',
    condition('contains(pull_request.title, "x")'),
    '5:9',
    'is written x.contains(…)',
  ],
  ['always()', condition('always()'), '5:9', 'leave this out'],
  ['the github context', condition('github.event.action == "opened"'), '5:9', 'did you mean "event"'],
  ['${{ }} around a condition', condition('${{ pull_request.draft }}'), '5:9', 'remove ${{ and }}'],
  [
    'a path as condition',
    step('      - uses: set-labels\n        with: { sync: { docs: "docs/**" } }\n'),
    '7:37',
    'touches("docs/**")',
  ],
];

const ofNames: readonly Mistake[] = [
  ['an unknown name', condition('pr.draft'), '5:9', 'did you mean "pull_request"'],
  ['a name that shares a word', condition('unresolvedReviews > 1'), '5:9', 'did you mean "reviews"'],
  ['a name of Mergify', condition('approved_reviews.size() > 1'), '5:9', 'did you mean "approvals"'],
  [
    'an object as text of a function',
    condition(`'labels.filter(l, l.startsWith("kind/")).size() > 0'`),
    '5:27',
    'of an object; write l.name.startsWith(…)',
  ],
  [
    'a list as text of a function',
    condition(`'labels.startsWith("kind/")'`),
    '5:10',
    'write labels.exists(x, x.name.startsWith(…))',
  ],
  ['a member as name', condition('draft'), '5:9', 'did you mean "pull_request.draft"'],
  ['a name of nothing', condition('weather == "x"'), '5:9', ', attachments, '],
  ['an unknown member', condition('pull_request.head.reff == "x"'), '5:27', 'did you mean "ref"'],
  ['a member of another API', condition('pull_request.author == "bot"'), '5:22', 'did you mean "user.login"'],
  ['a member of nothing', condition('pull_request.head.weather == ""'), '5:27', 'it has label, ref, '],
  ['an object as text', condition('pull_request.user == "bot"'), '5:9', 'compare pull_request.user.login'],
  [
    'text in a list of objects',
    condition(`'"bug" in labels'`),
    '5:10',
    'write labels.exists(x, x.name == "…")',
  ],
  ['a member of a list', condition('files.filename == "x"'), '5:15', 'files.exists(x, x.filename == "…")'],
  ['an object in a template', comment('${{ pull_request.user }}'), '7:36', 'write pull_request.user.login'],
  [
    'an action of Mergify',
    step('      - uses: label\n        with: { add: [x] }\n'),
    '6:15',
    'did you mean "set-labels"',
  ],
  ['an action of workflows', step('      - uses: actions/labeler@v5\n'), '6:15', 'did you mean "set-labels"'],
  ['an action of nothing', step('      - uses: brew-coffee\n'), '6:15', 'there are backport, comment, '],
  ['an event of workflows', ruleOf('workflow_dispatch', steps), '4:9', 'there are pull_request, '],
  [
    'an activity of GitHub',
    ruleOf('{ pull_request: [labeled] }', steps),
    '4:26',
    'did you mean "label_updated"',
  ],
];

const ofForm: readonly Mistake[] = [
  ['version "1"', 'version: "1"\nrules: {}\n', '1:10', 'write version: 1, without quotes'],
  ['version "2"', 'version: "2"\nrules: {}\n', '1:10', 'the only version of rule files is 1'],
  ['an empty file', '# nothing\n', '1:1', 'it begins with "version: 1" and "rules:"'],
  ['no version', 'rules: {}\n', '1:1', 'begin the file with "version: 1"'],
  [
    'a list of rules',
    'version: 1\nrules:\n  - name: a\n    on: push\n',
    '3:3',
    'write the name of each rule as a key',
  ],
  ['a file of Mergify', 'version: 1\nrules: {}\npull_request_rules: []\n', '3:1', 'the key is "rules"'],
  ['a workflow file', 'version: 1\nrules: {}\njobs: {}\n', '3:1', 'this is a key of workflow files'],
  [
    'keys of the rule beside it',
    'version: 1\nrules:\n  a:\n  on: push\n  steps: []\n',
    '4:3',
    'must be indented below the name of its rule, "a"',
  ],
  [
    'the rule beside "rules"',
    'version: 1\nrules:\na:\n  on: push\n  steps: []\n',
    '3:1',
    'must be indented below "rules"',
  ],
  [
    'a line between two columns',
    ruleOf('push', '   steps: []\n'),
    '5:1',
    'indented differently from those before it',
  ],
  ['tabs', 'version: 1\nrules:\n\ta: {}\n', '3:1', 'use spaces'],
  [
    'no space after a colon',
    'version: 1\nrules:\n  a:\n    on:push\n    steps: []\n',
    '4:5',
    'a space is missing after "on:"',
  ],
  [
    'an unquoted colon in a value with double quotes',
    condition('pull_request.title.startsWith("fix: ")'),
    '5:43',
    'put the whole value in single quotes',
  ],
  [
    'an unquoted colon in a value with both quotes',
    condition(`pull_request.title.startsWith("fix: ") || pull_request.title != 'x'`),
    '5:43',
    'write >- after the colon',
  ],
  [
    'an expression as a list',
    step('      - uses: dismiss-stale-reviews\n        with: { states: "${{ labels }}", message: x }\n'),
    '7:25',
    'write the items one by one: an expression inserts text, not a list',
  ],
  [
    '": " in a text',
    step('      - uses: comment\n        with: { key: x, text: Note: this }\n'),
    '7:35',
    'put the whole value in quotes',
  ],
  ['an unquoted !', condition('!pull_request.draft'), '5:9', '"!pull_request.draft"'],
  ['a map of steps', step('        uses: set-labels\n'), '6:9', 'put "- " before "uses"'],
  ['an action as key', step('      - set-labels: { add: [bug] }\n'), '6:9', 'write "uses: set-labels"'],
  ['a command', step('      - run: echo\n'), '6:9', 'a step runs no commands'],
  [
    'text for a list',
    step('      - uses: set-labels\n        with: { add: bug }\n'),
    '7:22',
    'write a list: ["bug"]',
  ],
  [
    'a number for text',
    step('      - uses: set-labels\n        with: { add: [1] }\n'),
    '7:23',
    'put it in quotes: "1"',
  ],
  [
    'arguments beside "with"',
    step('      - uses: set-labels\n        with:\n        add: [bug]\n'),
    '7:14',
    'indent the arguments below "with"',
  ],
  [
    'conditions as a list',
    ruleOf('push', '    if: [a, b]\n    steps: []\n'),
    '5:9',
    'join the conditions with && or ||',
  ],
  [
    'the repositories of a rule, misspelt',
    ruleOf('push', `    repositorys: [acme/demo]\n${steps}`),
    '5:5',
    'listed under "in"',
  ],
  ['"conditions"', ruleOf('push', `    conditions: []\n${steps}`), '5:5', 'one expression under "if"'],
  ['"schedule" beside "on"', ruleOf('issues', `    schedule: daily\n${steps}`), '5:5', 'write it below "on"'],
  ['a switch', ruleOf('issues', `    enabled: false\n${steps}`), '5:5', 'say mode: observe'],
  ['another mode', `version: 1\nmode: dry-run\nrules: {}\n`, '2:7', 'did you mean "observe"'],
  [
    'a name with spaces',
    'version: 1\nrules:\n  Label it: { on: issues, steps: [] }\n',
    '3:3',
    'did you mean "Label-it"',
  ],
];

const ofTime: readonly Mistake[] = [
  ['a minute', schedule('"60 3 * * *"'), '4:21', 'field 1 (minute) cannot be "60"; it takes 0 to 59'],
  ['an hour', schedule('"0 24 * * *"'), '4:21', 'field 2 (hour) cannot be "24"; it takes 0 to 23'],
  ['a day of the month', schedule('"0 3 0 * *"'), '4:21', 'field 3 (day of month) cannot be "0"'],
  ['a month', schedule('"0 3 1 13 *"'), '4:21', 'field 4 (month) cannot be "13"'],
  ['a day of the week', schedule('"0 3 * * mondey"'), '4:21', 'field 5 (day of week) cannot be "mondey"'],
  ['a list as workflows have it', schedule('[{ cron: "1 2 * * *" }]'), '4:21', 'without a list'],
  ['a word', schedule('"@daily"'), '4:21', 'five cron fields, "17 3 * * *"'],
  ['a city', schedule('{ cron: "1 3 * * *", timezone: Berlin }'), '4:52', 'did you mean "Europe/Berlin"'],
  [
    'days',
    condition('now - timestamp(pull_request.updated_at) > duration("14d")'),
    '5:61',
    'write it like 336h',
  ],
  [
    'a number of days',
    condition('timestamp(pull_request.updated_at) < now - 14'),
    '5:46',
    'now - duration("72h")',
  ],
];

const ofTests: readonly Mistake[] = [
  [
    'each',
    caseOf('    each: pull_request\n    expect: {}\n'),
    '3:5',
    'item: { pull_request: { number: 1, … } }',
  ],
  [
    'neither event nor item',
    caseOf('    expect: {}\n'),
    '2:5',
    'specify either event: { kind, activity, payload }, or item:',
  ],
  [
    'a word for the item',
    caseOf('    item: pull_request\n    expect: {}\n'),
    '3:11',
    'write item: { pull_request: { number: 1 } }',
  ],
  [
    'a schedule as event',
    caseOf('    event: { kind: schedule, payload: {} }\n    expect: {}\n'),
    '3:20',
    'item: { pull_request: { number: 1 } }',
  ],
  [
    'kind with activity',
    caseOf('    event: { kind: push.opened, payload: {} }\n    expect: {}\n'),
    '3:20',
    'kind: push, activity: opened',
  ],
  [
    'a word for the event',
    caseOf('    event: push\n    expect: {}\n'),
    '3:12',
    'write event: { kind: pull_request',
  ],
  [
    'changes as a map',
    caseOf('    event: { kind: push, payload: {} }\n    expect: { changes: {} }\n'),
    '4:24',
    'write changes: [{ action:',
  ],
  ['no expectation', caseOf('    event: { kind: push, payload: {} }\n'), '2:5', 'expect: { changes: [] }'],
  [
    'a date for now',
    caseOf('    now: 2026-01-01\n    event: { kind: push, payload: {} }\n    expect: {}\n'),
    '3:10',
    'such as 2026-01-31T12:00:00Z',
  ],
];

const load = (text: string | Uint8Array) =>
  loadRuleFile({ path: 'a.yml', text, level: 'operator', commit: '', registry });

function answers(problems: readonly Problem[]): readonly string[] {
  return problems.map(
    ({ line, column, message, suggestion }) =>
      `${line}:${column} ${message}${suggestion === undefined ? '' : `, did you mean "${suggestion}"`}`,
  );
}

/** Expects exactly one of the problems to have this position and contain these words. */
function expectAnswer(problems: readonly Problem[], place: string, remedy: string): void {
  const found = answers(problems);
  const fitting = found.filter((one) => one.startsWith(`${place} `) && one.includes(remedy));
  expect(fitting, found.join('\n')).toHaveLength(1);
}

describe('a mistake is reported with its position and the fix', () => {
  describe.each([
    ['words of other languages', ofOtherLanguages],
    ['names', ofNames],
    ['the form of the file', ofForm],
    ['times', ofTime],
  ])('%s', (_, mistakes) => {
    it.each(mistakes)('%s', (_name, text, place, remedy) => expectAnswer(load(text).problems, place, remedy));
  });

  it.each(ofTests)('rule tests: %s', (_name, text, place, remedy) =>
    expectAnswer(loadRuleTests({ path: 'a.test.yml', text }).problems, place, remedy),
  );
});

describe('the edit of a remedy', () => {
  const mistakes = [...ofOtherLanguages, ...ofNames, ...ofForm, ...ofTime];
  /** Every edit of a mistake, with the problem that it remedies. */
  const edits = mistakes.flatMap(([name, text]) =>
    load(text).problems.flatMap((problem) => {
      const fix = fixOf(problem, text);
      return fix ? [[`${name}: ${fix.text}`, { text, problem, fix }] as const] : [];
    }),
  );

  it('exists for every suggestion', () => {
    expect(edits.length).toBeGreaterThan(25);
  });

  it.each(edits)('%s', (_, { text, problem, fix }) => {
    const { problems } = load(text.slice(0, fix.start) + fix.text + text.slice(fix.end));
    const isSame = ({ message }: Problem): boolean => message === problem.message;
    const isOfForm = ({ code }: Problem): boolean => code === 'yaml';
    const before = load(text).problems;

    // The problem is gone, once where it stood several times, and the file is not broken.
    expect(problems.filter(isSame).length, answers(problems).join('\n')).toBeLessThan(
      before.filter(isSame).length,
    );
    expect(problems.filter(isOfForm).length).toBeLessThanOrEqual(before.filter(isOfForm).length);
  });
});

describe('a file in another encoding', () => {
  const text = Buffer.from('version: 1\nrules: {}\n', 'utf16le');

  it.each([
    ['UTF-16 with a mark, little endian', Buffer.concat([Buffer.from([0xff, 0xfe]), text])],
    ['UTF-16 with a mark, big endian', Buffer.concat([Buffer.from([0xff, 0xfe]), text]).swap16()],
    ['UTF-16 without a mark, little endian', text],
    ['UTF-16 without a mark, big endian', Buffer.from(text).swap16()],
  ])('%s, is detected, and only the encoding is reported', (_, bytes) => {
    expect(answers(load(bytes).problems)).toEqual([
      expect.stringMatching(/^1:1 the file is in UTF-16 \((little|big) endian\): save it as UTF-8$/),
    ]);
  });

  it('UTF-8 with a byte order mark is read', () => {
    expect(load(Buffer.from('\ufeffversion: 1\nrules: {}\n')).problems).toEqual([]);
  });
});

describe('template syntax of other languages in a text', () => {
  it.each([
    ['{{ author }}', '{{'],
    ['{% if x %}', '{%'],
    ['${ title }', '${'],
  ])('%s causes a warning, because the text is allowed', (text, sign) => {
    const { problems, warnings = [] } = load(comment(text));

    expect(problems).toEqual([]);
    expect(answers(warnings)).toEqual([
      `7:32 "${sign}" inserts nothing and stays in the text: an expression is written \${{ … }}`,
    ]);
  });

  it.each(['$${{ author }}', '${{ pull_request.title }}', '{ a }'])('%s causes no warning', (text) => {
    expect(load(comment(text)).warnings ?? []).toEqual([]);
  });
});

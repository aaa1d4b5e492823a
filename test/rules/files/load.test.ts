import { describe, expect, it } from 'vitest';
import { formatProblem } from '../../../src/rules/problem.ts';
import { granted } from '../../support/granted.ts';
import { conditionFile, fileOf, load, placesOf, ruleOf } from '../support/load.ts';

const step = 'steps: [{ uses: say, with: { text: hi } }]';
const on = 'on: pull_request';

describe('a file without problems', () => {
  it('loads with all parts of its rule', () => {
    const rule = ruleOf(
      `
version: 1
mode: observe
limits: { changes: 9 }
in: "acme/*"
rules:
  labels:
    description: Labels follow paths.
    in: ["acme/*", "!acme/attic"]
    limits: { changes: 3 }
    on:
      pull_request: { types: [opened, synchronized], branches: [main], paths: "src/**" }
      schedule: { cron: "*/15 * * * *", timezone: Europe/Berlin }
    each: pull_request
    if: "!pull_request.draft && contents(\\"README.md\\") != null"
    steps:
      - name: first
        uses: tag
        if: labels.size() > 0
        with: { sync: { docs: 'files.exists(f, f.filename.glob("docs/**"))' } }
      - uses: say
        with: { text: hello }
`,
      { commit: 'c0ffee' },
    );

    expect(rule).toMatchObject({
      id: 'rules/test.yml#labels',
      name: 'labels',
      commit: 'c0ffee',
      line: 7,
      mode: 'observe',
      limits: { changes: 3 },
      each: [{ kind: 'pull_request', state: 'open' }],
      schedules: [{ cron: '*/15 * * * *', timezone: 'Europe/Berlin' }],
      on: [{ family: 'pull_request', activities: ['opened', 'synchronized'] }],
      steps: [{ name: 'first' }, { name: '2 say' }],
    });
    expect(rule.steps[1]?.arguments.written).toEqual({ text: 'hello', as: 'note' });
  });

  it.each([
    ['on: push', [{ family: 'push' }]],
    ['on: pull_request.opened', [{ family: 'pull_request', activities: ['opened'] }]],
    ['on: [push, create]', [{ family: 'push' }, { family: 'create' }]],
    [
      'on: { pull_request: [opened, closed] }',
      [{ family: 'pull_request', activities: ['opened', 'closed'] }],
    ],
    ['on: { push: }', [{ family: 'push' }]],
    ['on: { issues: opened }', [{ family: 'issues', activities: ['opened'] }]],
    [
      'on: [issues.opened, { push: { tags: "v*" } }]',
      [{ family: 'issues', activities: ['opened'] }, { family: 'push' }],
    ],
  ])('accepts %s', (text, expected) => {
    expect(ruleOf(fileOf(`${text}\n${step}`)).on).toMatchObject(expected);
  });
});

describe('problems with the structure of a file', () => {
  it.each([
    ['another version', 'version: 2\nrules: {}', ['1:10 value']],
    ['no version', 'rules: {}', ['1:1 missing-key']],
    ['an unknown key on top', 'version: 1\nrulez: {}\nrules: {}', ['2:1 unknown-key']],
    ['a list for rules', 'version: 1\nrules: []', ['2:8 type']],
    [
      'a broken name of a rule',
      'version: 1\nrules:\n  "a b":\n    on: push\n    steps: [{ uses: say, with: { text: x } }]',
      ['3:3 value'],
    ],
    ['an unknown key in a rule', fileOf(`${on}\nunless: x\n${step}`), ['5:5 unknown-key']],
    ['no steps', fileOf(on), ['3:3 missing-key']],
    ['an empty list of steps', fileOf(`${on}\nsteps: []`), ['5:12 value']],
    ['a wrong type', fileOf(`${on}\nlimits: { changes: many }\n${step}`), ['5:24 type']],
    ['an unknown kind', fileOf(`on: pull_requests\n${step}`), ['4:9 unknown-kind']],
    [
      'an unknown activity',
      fileOf(`on: { pull_request: [opened, synchronize] }\n${step}`),
      ['4:34 unknown-activity'],
    ],
    ['an activity of another family', fileOf(`on: push.opened\n${step}`), ['4:9 unknown-activity']],
    ['a member of a family', fileOf(`on: [pull_request_sync]\n${step}`), ['4:10 unknown-kind']],
    ['a member of a family as key', fileOf(`on: { issue_label: }\n${step}`), ['4:11 unknown-kind']],
    ['an unknown action', fileOf(`${on}\nsteps: [{ uses: tagg }]`), ['5:21 unknown-action']],
    [
      'an unknown argument',
      fileOf(`${on}\nsteps: [{ uses: say, with: { text: a, txt: b } }]`),
      ['5:43 unknown-key'],
    ],
    ['a missing argument', fileOf(`${on}\nsteps: [{ uses: say }]`), ['5:13 missing-key']],
    [
      'a wrong argument',
      fileOf(`${on}\nsteps: [{ uses: say, with: { text: a, as: shout } }]`),
      ['5:47 argument'],
    ],
    [
      'what an action finds itself',
      fileOf(`${on}\nsteps: [{ uses: tag, with: { add: [a, ""] } }]`),
      ['5:43 argument'],
    ],
    [
      'an action for another subject',
      fileOf('on: push\nsteps: [{ uses: tag, with: { add: [a] } }]'),
      ['5:21 subject'],
    ],
    ['a broken pattern', fileOf(`on: { pull_request: { paths: [ok, "src/["] } }\n${step}`), ['4:39 pattern']],
    ['a pattern that cannot match', fileOf(`on: { push: { paths: /src } }\n${step}`), ['4:26 pattern']],
    [
      'a filter that the kind cannot have',
      fileOf(`on: { issues: { branches: main } }\n${step}`),
      ['4:21 filter'],
    ],
    [
      'both ways of one filter',
      fileOf(`on: { push: { tags: a, tags-ignore: b } }\n${step}`),
      ['4:28 filter'],
    ],
    ['a scope without owner', fileOf(`in: site\n${on}\n${step}`), ['4:9 pattern']],
    ['a schedule without each', fileOf(`on: { schedule: "1 * * * *" }\n${step}`), ['4:5 each']],
    [
      'a schedule of four fields',
      fileOf(`on: { schedule: "* * * *" }\neach: repository\n${step}`),
      ['4:21 schedule'],
    ],
    [
      'a schedule that cannot be',
      fileOf(`on: { schedule: "61 * * * *" }\neach: repository\n${step}`),
      ['4:21 schedule'],
    ],
    [
      'an unknown timezone',
      fileOf(`on: { schedule: { cron: "1 * * * *", timezone: Mars } }\neach: repository\n${step}`),
      ['4:52 schedule'],
    ],
    [
      'each that does not fit the event',
      fileOf(`on: [push, { schedule: "1 * * * *" }]\neach: repository\n${step}`),
      ['5:11 each'],
    ],
    [
      'a mode that is less strict',
      `version: 1\nmode: observe\nrules:\n  a:\n    mode: enforce\n    ${on}\n    ${step}`,
      ['5:11 stricter'],
    ],
    [
      'a limit that is wider',
      `version: 1\nlimits: { items: 2 }\nrules:\n  a:\n    limits: { items: 3 }\n    on: { schedule: "7 3 * * *" }\n    each: issue\n    ${step}`,
      ['5:22 stricter'],
    ],
    [
      'a limit of items without a schedule',
      `version: 1\nlimits: { items: 2 }\nrules:\n  a:\n    limits: { items: 1 }\n    ${on}\n    ${step}`,
      ['5:15 each'],
    ],
    [
      'a limit that is less strict than that of the file',
      `version: 1\nlimits: { changes: 2 }\nrules:\n  a:\n    limits: { changes: 3 }\n    ${on}\n    ${step}`,
      ['5:24 stricter'],
    ],
    [
      'a template where none may stand',
      fileOf(`${on}\nsteps: [{ uses: tag, with: { add: ["\${{ sender.login }}"] } }]`),
      ['5:41 template'],
    ],
    ['a template in uses', fileOf(`${on}\nsteps: [{ uses: "\${{ x }}" }]`), ['5:21 template']],
  ])('%s', (_, text, expected) => {
    expect(placesOf(text)).toEqual(expected);
  });

  it('are all reported at once', () => {
    const text = fileOf(`on: pull_requests
unless: x
steps:
  - uses: sai
  - uses: say
    with: { txt: hi }`);

    expect(placesOf(text)).toEqual([
      '4:9 unknown-kind',
      '5:5 unknown-key',
      '7:15 unknown-action',
      '9:9 missing-key',
      '9:17 unknown-key',
    ]);
    expect(load(text).rules).toEqual([]);
  });

  it('cause the whole file to be refused', () => {
    const text = `version: 1\nrules:\n  good: { ${on}, ${step} }\n  bad: { ${on}, ${step}, if: pull_request.drafft }`;

    expect(load(text).rules).toEqual([]);
    expect(placesOf(text)).toHaveLength(1);
  });
});

describe('problems of YAML', () => {
  it.each([
    ['an unquoted !', conditionFile('!pull_request.draft'), '5:9 yaml-tag', '"!pull_request.draft"'],
    ['an unquoted !( )', conditionFile('!(a || b)'), '5:9 yaml-tag', '"!(a || b)"'],
    [
      'an unquoted template in a flow map',
      fileOf(`${on}\nsteps: [{ uses: say, with: { text: \${{ sender.login }} } }]`),
      '5:40 yaml',
      'must be in quotes',
    ],
    [
      'a colon in a plain text',
      conditionFile('pull_request.draft ? true : false'),
      '5:35 yaml',
      'put the whole value in quotes',
    ],
    ['a quoted start', conditionFile('"x" == pull_request.title'), '5:13 yaml', 'different quotes'],
    ['braces in if', conditionFile('${{ pull_request.draft }}'), '5:9 template', 'remove'],
    ['an alias', 'version: 1\nrules: &a {}\nmode: *a', '2:11 yaml-alias', 'anchors'],
    ['a tag', 'version: !!int 1\nrules: {}', '1:10 yaml-tag', 'tags are not allowed'],
    [
      'a duplicate rule',
      `version: 1\nrules:\n  a: { ${on}, ${step} }\n  a: { ${on}, ${step} }`,
      '4:3 duplicate-key',
      '"a" stands twice',
    ],
    ['two documents', 'version: 1\nrules: {}\n---\na: 1', '3:1 yaml', 'one document'],
    ['a tab', 'version: 1\nrules:\n\ta: {}', '3:1 yaml', 'abs are not allowed'],
  ])('%s has a specific message', (_, text, place, words) => {
    const [problem] = load(text).problems;

    expect(`${problem?.line}:${problem?.column} ${problem?.code}`).toBe(place);
    expect(problem?.message).toContain(words);
  });

  it('include files that are too large, empty, named like a rule test, or have another extension', () => {
    expect(placesOf(`# ${'x'.repeat(65_536)}`)).toEqual(['1:1 file-size']);
    expect(placesOf('')).toEqual(['1:1 type']);
    expect(placesOf('version: 1\nrules: {}', { path: 'a.test.yml' })).toEqual(['1:1 file-name']);
    expect(placesOf('version: 1\nrules: {}', { path: 'a.yaml' })).toEqual(['1:1 file-name']);
  });
});

describe('terms of other systems', () => {
  it.each([
    ['on: { pull_request: [synchronize] }', 'synchronized'],
    ['on: { pull_request: [labeled] }', 'label_updated'],
    ['on: pull_request_target', 'pull_request'],
    ['on: { pull_request: [openned] }', 'opened'],
    ['on: pullrequest', 'pull_request'],
  ])('%s is reported with the suggestion %s', (text, expected) => {
    expect(load(fileOf(`${text}\n${step}`)).problems[0]?.suggestion).toBe(expected);
  });

  it.each([
    ['reviews by GitHub’s states', 'pull_request.title == "CHANGES_REQUESTED"', 'REQUEST_CHANGES'],
    ['activities by GitHub’s names', 'event.action == "synchronize"', 'synchronized'],
    ['and', 'pull_request.draft and true', '&&'],
    ['a single =', 'pull_request.number = 1', '=='],
  ])('%s in a condition', (_, condition, expected) => {
    const [problem] = load(conditionFile(condition)).problems;

    expect(`${problem?.message} ${problem?.suggestion}`).toContain(expected);
  });
});

describe('files of repositories', () => {
  const level = { level: 'repository' as const, path: '.reeve.yml' };
  it.each([
    ['in', fileOf(`in: "acme/*"\n${on}\n${step}`), ['4:5 level']],
    ['in of the file', `version: 1\nin: "acme/*"\nrules: { a: { ${on}, ${step} } }`, ['2:1 level']],
    [
      'a schedule more than hourly',
      fileOf(`on: { schedule: "*/5 * * * *" }\neach: issue\n${step}`),
      ['4:21 level'],
    ],
    ['each runner', fileOf(`on: { schedule: "5 * * * *" }\neach: runner\n${step}`), ['5:11 level']],
    [
      'an action without grant',
      fileOf('on: repository\nsteps: [{ uses: guard, with: { branches: [a] } }]'),
      ['5:21 level'],
    ],
    [
      'an argument of operators',
      fileOf(`${on}\nsteps: [{ uses: tag, with: { create: { color: red } } }]`),
      ['5:34 level'],
    ],
    ['a fact beyond the repository', fileOf(`${on}\nif: collaborators.size() > 1\n${step}`), ['5:9 level']],
  ])('may not contain %s', (_, text, expected) => {
    expect(placesOf(text, level)).toEqual(expected);
  });

  it('may contain actions that the operator grants', () => {
    const text = fileOf('on: repository\nsteps: [{ uses: guard, with: { branches: [a] } }]');

    expect(placesOf(text, { ...level, grants: granted(['guard']) })).toEqual([]);
  });

  it('may contain `in` only if they belong to an organization', () => {
    expect(placesOf(fileOf(`in: "acme/*"\n${on}\n${step}`), { level: 'organization' })).toEqual([]);
  });
});

describe('a problem formatted for people', () => {
  it('shows the line with a pointer below the position', () => {
    const [problem] = load(conditionFile('pull_request.titel == "x"')).problems;

    expect(problem && formatProblem(problem)).toBe(
      `rules/test.yml:5:22: unknown-member: pull_request has no member "titel", did you mean "title"?
    5 |     if: pull_request.titel == "x"
      |                      ^^^^^`,
    );
  });

  it('never writes control characters to a terminal', () => {
    const [problem] = load(`version: "\u001b[31m\u202e"\nrules: {}`).problems;

    expect(problem && formatProblem(problem)).not.toMatch(/[\u001b\u202e]/);
  });

  it.each([
    ['a folded text', '>-\n  !pull_request.draft &&\n  pull_request.titel == "x"', '7:20'],
    ['a literal block', '|\n  true &&\n  pull_request.titel == "x"', '7:20'],
    ['double quotes with escapes', '"\\"a\\" == pull_request.titel"', '5:32'],
    ['single quotes', "'\"it''s\" == pull_request.titel'", '5:34'],
    ['a plain text over two lines', 'true &&\n  pull_request.titel == "x"', '6:20'],
  ])('points to the position inside %s', (_, condition, place) => {
    const [problem] = load(conditionFile(condition)).problems;

    expect(`${problem?.line}:${problem?.column}`).toBe(place);
  });
});

describe('C5: a file that is not UTF-8', () => {
  const text = 'version: 1\n# gr\u00fcn \ufffd\nrules: {}\n';

  it('is refused with the position of the first invalid byte', () => {
    const bytes = Buffer.concat([Buffer.from(text), Buffer.from('# Stra\u00dfe\n', 'latin1')]);

    expect(placesOf('', { text: bytes })).toEqual(['4:7 encoding']);
    expect(placesOf('', { text: Buffer.from('# \u00fc', 'latin1') })).toEqual(['1:3 encoding']);
  });

  it('is not confused with a file that contains the replacement character or begins with a byte order mark', () => {
    expect(placesOf('', { text: Buffer.from(text) })).toEqual([]);
    expect(placesOf('', { text: Buffer.from(`\ufeff${text}`) })).toEqual([]);
  });
});

it('C5: lists every problem of a rule in addition to an unknown activity or kind', () => {
  const rest = 'if: issue.titel == "x"\nsteps: [{ uses: say, with: { text: 5 } }, { uses: nothing }]';
  const others = ['5:15 unknown-member', '6:40 argument', '6:55 unknown-action'];

  expect(placesOf(fileOf(`on: issues.opend\n${rest}`))).toEqual(['4:9 unknown-activity', ...others]);
  expect(placesOf(fileOf(`on: { issues: [opend] }\n${rest}`))).toEqual(['4:20 unknown-activity', ...others]);
  expect(placesOf(fileOf(`on: [issues, isues]\n${rest}`))).toEqual(['4:18 unknown-kind', ...others]);
});

describe('C5: warnings', () => {
  const warningsOf = (text: string) =>
    (load(text).warnings ?? []).map(({ line, column, code, message }) => [
      `${line}:${column} ${code}`,
      message,
    ]);
  const fileWith = (condition: string, value = 'hi') =>
    fileOf(`on: issues\nif: ${condition}\nsteps: [{ uses: say, with: { text: '${value}' } }]`);

  it('are given for members that are often null, where null cannot be used', () => {
    expect(warningsOf(fileWith('issue.milestone.title == "1.0"'))).toEqual([
      [
        '5:9 null-member',
        'issue.milestone is null without a milestone, and the rule then fails: ask has(issue.milestone) first',
      ],
    ]);
    expect(warningsOf(fileWith('timestamp(issue.closed_at) < now')).map(([place]) => place)).toEqual([
      '5:19 null-member',
    ]);
    expect(warningsOf(fileWith('true', 'by ${{ issue.assignee.login }}')).map(([place]) => place)).toEqual([
      '6:48 null-member',
    ]);
  });

  it.each([
    'has(issue.milestone) && issue.milestone.title == "1.0"',
    'issue.milestone != null && issue.milestone.title == "1.0"',
    'issue.milestone == null || issue.milestone.title == "1.0"',
    'issue.milestone == null',
    'has(issue.milestone.title)',
    'issue.user.login == "ada"',
  ])('are not given for %s', (condition) => {
    expect(load(fileWith(`'${condition}'`)).problems).toEqual([]);
    expect(warningsOf(fileWith(`'${condition}'`))).toEqual([]);
  });
});

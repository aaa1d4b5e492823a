import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testRules } from '../../src/cli/commands/rules/rule-tests.ts';
import { registry } from '../../src/rules/registry.ts';
import { fileOf, load } from './support/load.ts';

const schedule = '{ schedule: "7 3 * * *" }';
const step = 'steps: [{ uses: set-labels, with: { add: [x] } }]';
const messages = (text: string): readonly string[] =>
  load(text, { registry }).problems.map(({ code, message, suggestion }) =>
    [code, message, ...(suggestion === undefined ? [] : [suggestion])].join(': '),
  );
const eachOf = (each: string, on = schedule): readonly string[] =>
  messages(fileOf(`on: ${on}\neach: ${each}\n${step}`));
const onBoth = (condition: string): readonly string[] =>
  messages(
    fileOf(
      `on: [issue_comment.created, pull_request_review, status, ${schedule}]\neach: [issue, pull_request]\nif: ${JSON.stringify(condition)}\n${step}`,
    ),
  );

describe('each with issues and pull requests', () => {
  it.each([
    ['[issue, pull_request]', 'open', 'open'],
    ['[pull_request, issue]', 'open', 'open'],
    ['{ issue: { state: all }, pull_request: {} }', 'all', 'open'],
    ['{ pull_request: { state: closed }, issue: { state: all } }', 'all', 'closed'],
  ])('%s visits issues that are %s, and pull requests that are %s', (each, issues, pulls) => {
    const { problems, rules } = load(fileOf(`on: ${schedule}\neach: ${each}\n${step}`), { registry });

    expect(problems).toEqual([]);
    expect(rules[0]?.each).toEqual([
      { kind: 'issue', state: issues },
      { kind: 'pull_request', state: pulls },
    ]);
  });

  const remedy =
    'each: a rule is about one kind, or about issue and pull_request together: write a rule for each kind';
  it.each([
    ['[issue, branch]', [remedy]],
    ['[issue, pull_request, milestone]', [remedy]],
    ['[issue, issue]', [remedy]],
    ['{ issue: {}, milestone: { state: all } }', [remedy]],
    ['{}', [remedy]],
    ['{ issue: {}, notification: { in: a/b } }', [remedy]],
    ['{ notification: {} }', ['missing-key: "in" is missing here']],
    ['[issue]', [`${remedy}: issue`]],
    ['[]', ['value: this needs at least 1 entry']],
    ['[issue, pulls]', [expect.stringContaining('"pulls"')]],
  ])('no other list or map: %s', (each, expected) => {
    expect(eachOf(each)).toEqual(expected);
  });

  it.each([
    '[issues.opened, pull_request.opened]',
    '[issue_comment, pull_request_comment, pull_request_review]',
    '[push, status, workflow_run]',
    '{ issues: opened, pull_request: { branches: main, paths: "src/**" } }',
  ])('takes events about either, and those that concern pull requests: %s', (on) => {
    expect(eachOf('[issue, pull_request]', on)).toEqual([]);
  });

  it('takes no events about other subjects, and no paths of commits', () => {
    expect(eachOf('[issue, pull_request]', '[issues, release]')).toEqual([
      'each: events of release are about a repository, not a issue or pull_request: write two rules',
      'subject: set-labels works on issue, pull_request; this rule is also about repository',
    ]);
    expect(eachOf('[issue, pull_request]', '{ push: { paths: "src/**" } }')).toEqual([
      expect.stringContaining('events of push have no paths'),
    ]);
  });

  it('needs actions that work on both', () => {
    const text = fileOf(`on: ${schedule}\neach: [issue, pull_request]\nsteps: [{ uses: merge }]`);

    expect(messages(text)).toEqual(['subject: merge works on pull_request; this rule is also about issue']);
  });

  it('can be used by files of repositories', () => {
    const text = fileOf(`on: ${schedule}\neach: [issue, pull_request]\n${step}`);

    expect(load(text, { registry, level: 'repository', path: '.reeve.yml' }).problems).toEqual([]);
  });
});

describe('an expression of a rule about both', () => {
  it.each([
    'item.number > 1 && item.title == "x" && item.user.login == "ada" && item.state == "open"',
    'item.labels.exists(l, l.name == "x") && item.assignees.size() == 0 && !has(item.milestone)',
    'timestamp(item.updated_at) < now - duration("1h") && !item.is_locked && labelled("x")',
    'has(issue) && issue.title == "x"',
    'has(pull_request) && pull_request.draft',
    '!has(pull_request) || pull_request.draft',
    'has(issue) || pull_request.draft',
    'has(issue) ? issue.title == "x" : pull_request.behind > 3 && touches("src/**")',
    '!has(issue) && pull_request.draft || has(issue) && issue.title == "x"',
    'has(pull_request) ? pull_request.draft : issue_is_quiet',
    'has(pull_request) && touches("src/**") && approvals.size() > 0',
    'has(pull_request) ? pull_request.behind > 3 && passed("ci/*") : true',
    'labels.exists(item, item.name == "x")',
  ])('may read %s', (condition) => {
    expect(onBoth(condition.replace('issue_is_quiet', 'item.comments == 0'))).toEqual([]);
  });

  const shared = 'item has the members that issues and pull requests share';
  it.each([
    ['item.draft', 'item has no member "draft"'],
    ['item.state == "merged"', 'item.state is never "merged"'],
    ['issue.title == "x"', `has no issue: ask has(issue) first; ${shared}`],
    [
      'pull_request.draft',
      `a schedule over each issue has no pull_request: ask has(pull_request) first; ${shared}`,
    ],
    ['!has(item.milestone) && issue.title == "x"', 'ask has(issue) first'],
    ['!has(issue) || pull_request.draft', 'ask has(pull_request) first'],
    ['has(issue) || issue.title == "x"', 'ask has(issue) first'],
    ['has(issue) && pull_request.draft', 'ask has(pull_request) first'],
    ['touches("src/**")', 'has no files: ask has(pull_request) first'],
    ['approvals.size() > 0', 'has no approvals: ask has(pull_request) first'],
    ['pull_request.behind > 3', 'has no pull_request.behind: ask has(pull_request) first'],
    ['has(issue) && passed("ci/*")', 'has no statuses: ask has(pull_request) first'],
  ])('may not read %s', (condition, expected) => {
    expect(onBoth(condition).join('\n')).toContain(expected);
  });

  it('reads issue for a pull request as before if the rule has no each', () => {
    const on = 'on: [issue_comment.created, pull_request_comment.created]';

    expect(messages(fileOf(`${on}\nif: issue.title == "x" && item.title == "x"\n${step}`))).toEqual([]);
  });
});

const repository = { id: 1, full_name: 'acme/demo' };
const open = { number: 7, title: 'Work', state: 'open', labels: [], repository };
const quiet = { ...open, updated_at: '2026-01-01T00:00:00Z' };
const both = { on: { schedule: '7 3 * * *' }, each: ['issue', 'pull_request'] };
const now = '2026-06-01T03:07:00Z';
const facts = { label_definitions: ['x'], labels: [] };
const files = [{ filename: 'src/a.ts', status: 'added' }];

/** Runs the cases on one rule with this condition, and returns the differences of each. */
async function differencesOf(condition: string, cases: readonly object[], on: object = both) {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-both-'));
  const steps = [{ uses: 'set-labels', with: { add: ['x'] } }];
  writeFileSync(
    join(folder, 'a.yml'),
    JSON.stringify({ version: 1, rules: { x: { ...on, if: condition, steps } } }),
  );
  const written = cases.map((one, place) => ({ name: `case ${place}`, now, facts, ...one }));
  writeFileSync(join(folder, 'a.test.yml'), JSON.stringify({ cases: written }));
  try {
    const { results, problems } = await testRules([join(folder, 'a.yml')]);
    expect(problems).toEqual([]);
    return results.map(({ differences }) => differences);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const labelled = { expect: { changes: [{ target: 'label:x', value: true }] } };
const left = { expect: { changes: [], verdicts: { x: 'unmatched' } } };

describe('a rule test of a rule about both', () => {
  it('names the kind of its item', async () => {
    const old = 'timestamp(item.updated_at) < now - duration("24h")';

    expect(
      await differencesOf(old, [
        { item: { issue: quiet }, ...labelled },
        { item: { pull_request: quiet }, ...labelled },
        { item: { issue: { ...quiet, updated_at: now } }, ...left },
      ]),
    ).toEqual([[], [], []]);
  });

  it.each([
    ['has(pull_request) && pull_request.draft', left, labelled],
    ['!has(pull_request) || !pull_request.draft', labelled, left],
    ['has(pull_request) ? pull_request.draft : item.number == 7', labelled, labelled],
    ['[has(pull_request) ? pull_request.draft : false].exists(x, x)', left, labelled],
    ['[has(pull_request) ? pull_request.behind > 2 : false].exists(x, x)', left, labelled],
    ['[has(issue) ? false : touches("src/**")].exists(x, x)', left, labelled],
    ['"draft" == (has(pull_request) && pull_request.draft ? "draft" : "issue")', left, labelled],
    ['has(issue) && issue.title == "Work"', labelled, left],
    ['has(issue) ? issue.title == "Work" : false', labelled, left],
    ['has(issue) || pull_request.draft', labelled, labelled],
    ['has(issue) ? false : pull_request.draft', left, labelled],
  ])('%s tells the kinds apart', async (condition, ofIssue, ofPull) => {
    const cases = [
      { item: { issue: quiet }, ...ofIssue },
      { item: { pull_request: { ...quiet, draft: true, behind: 3 } }, facts: { ...facts, files }, ...ofPull },
    ];

    expect(await differencesOf(condition, cases)).toEqual([[], []]);
  });

  it('takes item from the subject of the event', async () => {
    const on = { on: ['issues.opened', 'pull_request.opened', 'status'], each: ['issue', 'pull_request'] };
    const about = (kind: string, payload: object) => ({
      event: {
        kind,
        ...(kind === 'status' ? {} : { activity: 'opened' }),
        payload: { ...payload, repository },
      },
    });

    expect(
      await differencesOf(
        'item.title == "Work"',
        [
          { ...about('issues', { number: 7, issue: open }), ...labelled },
          { ...about('pull_request', { number: 7, pull_request: open }), ...labelled },
          {
            ...about('status', { sha: 'a'.repeat(40), context: 'ci', state: 'success' }),
            facts: { pull_request: open, labels: [], label_definitions: ['x'] },
            ...labelled,
          },
        ],
        on,
      ),
    ).toEqual([[], [], []]);
  });
});

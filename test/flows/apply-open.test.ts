import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommandLine } from '../../src/cli/cli.ts';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { onOpenItems } from '../../src/work/sweeps/open-items.ts';
import { reeve, start, waitForExit } from '../support/command.ts';
import { at, type Harness } from '../support/harness.ts';
import { startOperatorHarness, writesOf } from '../support/operator-harness.ts';
import { rulesOf } from '../support/sweep-harness.ts';

const text = `version: 1
rules:
  triage:
    on: issues.opened
    if: '!issue.title.startsWith("quiet")'
    steps: [{ uses: set-labels, with: { add: [kept] } }]
  pulls:
    on: { issues: {}, pull_request: { branches: [main] } }
    steps: [{ uses: set-labels, with: { add: [area/docs] } }]
  pushes:
    on: push
    steps: [{ uses: run-workflow, with: { workflow: x.yml, ref: main } }]
  reading:
    on: issues.label_updated
    if: event.action == "label_updated"
    steps: [{ uses: set-labels, with: { add: [kept] } }]
`;

/** More than one page of the list. */
const issues = 55;

let harness: Harness;
beforeAll(async () => {
  harness = await startOperatorHarness(text, { on: 'the embedded forge', hook: 'none' });
  for (let n = 1; n <= issues; n += 1)
    await harness.ada.call(operations.createIssue, {
      params: at,
      body: { title: n === 2 ? 'quiet one' : `issue ${n}` },
    });
  const { number } = await harness.ada.call(operations.createIssue, {
    params: at,
    body: { title: 'closed' },
  });
  await harness.ada.call(operations.editIssue, {
    params: { ...at, index: number },
    body: { state: 'closed' },
  });
});
afterAll(() => harness?.close());

const environment = (): Record<string, string> => ({
  ...harness.environment,
  REEVE_RULES: harness.rules ?? '',
});

async function labelled(name: string): Promise<number> {
  let count = 0;
  for await (const { labels } of harness.ada.items(operations.listIssues, {
    params: at,
    query: { state: 'all' },
  }))
    if (labels?.some((label) => label.name === name)) count += 1;
  return count;
}

/** Runs the command with a person at the terminal who gives this answer. */
async function applyAsked(answer: string) {
  const printed: string[] = [];
  const questions: string[] = [];
  const status = await runCommandLine(['apply', 'triage', '--open'], {
    environment: { PATH: process.env.PATH, NO_COLOR: '1', ...environment() },
    terminal: {
      out: (line) => printed.push(line),
      error: (line) => printed.push(line),
      style: (_style, line) => line,
    },
    prompt: {
      async ask(question) {
        questions.push(question);
        return answer;
      },
    },
  });
  return { status, questions, printed: printed.join('\n') };
}

describe('reeve apply RULE --open', () => {
  it('with --plan shows each open item with its changes, and writes nothing', async () => {
    const from = harness.proxy.passed.length;

    const { status, out } = await reeve(['apply', 'triage', '--open', '--plan', '--json'], {
      environment: environment(),
    });

    const runs: readonly Run[] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(status).toBe(0);
    expect(runs).toHaveLength(issues);
    expect(runs.filter(({ changes }) => changes.length === 1)).toHaveLength(issues - 1);
    expect(runs.map(({ trigger }) => trigger.item)).not.toContain(`acme/demo#${issues + 1}`);
    expect(writesOf(harness, from)).toEqual([]);
  });

  it('shows the plan and asks, and writes nothing without the answer yes', async () => {
    const from = harness.proxy.passed.length;

    const { status, questions, printed } = await applyAsked('no');

    expect(status).toBe(0);
    expect(questions).toEqual([`Make these ${issues - 1} changes? (yes or no)`]);
    expect(printed).toMatch(new RegExp(`triage +${issues} +${issues - 1} +${issues - 1} `));
    expect(printed).toContain('nothing was written');
    expect(printed).toContain('applied by hand');
    expect(printed).not.toContain('schedule');
    expect(writesOf(harness, from)).toEqual([]);
  });

  it('asks for --yes or --plan if the input is not a terminal', async () => {
    const { status, error } = await reeve(['apply', 'triage', '--open'], { environment: environment() });

    expect(status).toBe(2);
    expect(error).toContain('--yes makes them without asking, --plan only shows them');
  });

  it.each([
    ['pushes', 'it listens to push, and none of these is about an open issue or pull request'],
    ['reading', 'it reads event or sender, and there is no event'],
    ['never', 'no rule is named "never"'],
  ])('says why the rule %s cannot run, with and without --plan', async (name, why) => {
    for (const flags of [['--plan'], []]) {
      const { status, error } = await reeve(['apply', name, '--open', ...flags], {
        environment: environment(),
      });

      expect(status).toBe(2);
      expect(error).toContain(why);
      expect(error).not.toContain('--yes');
    }
  });

  it('is run by the server as a job, changes each open item once, and the next call changes nothing', async () => {
    const { status, out } = await reeve(['apply', 'triage', '--open', '--yes', '--json'], {
      environment: environment(),
    });

    expect(status).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      items: issues,
      changes: issues - 1,
      failed: 0,
      isComplete: true,
    });
    expect(await labelled('kept')).toBe(issues - 1);
    const again = await reeve(['apply', 'triage', '--open', '--yes', '--json'], {
      environment: environment(),
    });
    expect(JSON.parse(again.out)).toMatchObject({ items: issues, changes: 0, failed: 0 });
    const { items } = await harness.server.store.listDeliveries({ door: 'job', search: 'sweep' });
    expect(items.map(({ door, state }) => [door, state])).toEqual([
      ['cli', 'settled'],
      ['cli', 'settled'],
    ]);
    const answered = await applyAsked('yes');
    expect(answered).toMatchObject({ status: 0, questions: [] });
  });

  it('is shown as applied by hand by runs and explain', async () => {
    const runs = await reeve(['runs', '--changes'], { environment: environment() });
    const explained = await reeve(['explain', 'last'], { environment: environment() });

    expect(runs.out.match(/applied by hand/g)?.length).toBeGreaterThan(1);
    expect(`${runs.out}${explained.out}`).not.toContain('schedule');
    expect(explained.out).toMatch(/^applied by hand/m);
  });

  it('fails when the forge refuses the changes, and names item, reason and run', async () => {
    harness.proxy.decide = ({ method }) =>
      method === 'GET'
        ? { kind: 'pass' }
        : { kind: 'answer', status: 422, body: '{"message":"not these labels"}' };

    const { status, out } = await reeve(['apply', 'pulls', '--open', '--yes'], {
      environment: environment(),
    });
    harness.proxy.decide = () => ({ kind: 'pass' });

    expect(out).toContain(`, 0 changes, ${issues} wanted and not made, ${issues} failed`);
    expect(out).toMatch(/^ {2}acme\/demo#\d+: label.*not these labels/m);
    expect(out).toMatch(new RegExp(`^ {2}and ${issues - 20} more$`, 'm'));
    expect(out).toMatch(/: reeve explain [0-9a-f-]{36}$/m);
    expect(status).toBe(1);
  });

  it('without a server, continues after it was ended, and repeats nothing', async () => {
    await harness.openPull('work', { 'a.txt': 'a' });
    await harness.root.call(operations.createBranch, { params: at, body: { new_branch_name: 'other' } });
    await harness.root.call(operations.createPull, {
      params: at,
      body: { title: 'into another branch', head: 'work', base: 'other' },
    });
    await harness.server.stop();
    const from = harness.proxy.passed.length;
    const child = start(['apply', 'pulls', '--open', '--yes'], { environment: environment() });
    harness.proxy.decide = () => {
      if (writesOf(harness, from).length === 20) child.kill('SIGKILL');
      return { kind: 'pass' };
    };
    await waitForExit(child);
    harness.proxy.decide = () => ({ kind: 'pass' });
    expect(await labelled('area/docs')).toBeLessThan(issues);

    const { status, out } = await waitForExit(
      start(['apply', 'pulls', '--open', '--yes', '--json'], { environment: environment() }),
    );

    expect(status).toBe(0);
    // The pull request into another branch is evaluated, and the filter of the rule excludes it.
    expect(JSON.parse(out)).toMatchObject({ items: issues + 2, failed: 0, isComplete: true });
    expect(await labelled('area/docs')).toBe(issues + 1);
    expect(writesOf(harness, from)).toHaveLength(issues + 1);
  }, 120_000);
});

describe('reeve apply --open without a rule', () => {
  let several: Harness;
  beforeAll(async () => {
    const step = (label: string) => `steps: [{ uses: set-labels, with: { add: [${label}] } }]`;
    several = await startOperatorHarness(
      {
        'first.yml': `version: 1
rules:
  one: { on: issues.opened, ${step('kept')} }
  also: { on: issues, if: 'issue.title == "first"', ${step('kept')} }
  watching: { mode: observe, on: issues, if: 'issue.title == "second"', ${step('area/docs')} }
  pushes: { on: push, steps: [{ uses: run-workflow, with: { workflow: x.yml, ref: main } }] }
`,
        'second.yml': `version: 1
rules:
  docs: { on: issues, if: 'issue.title == "first"', ${step('area/docs')} }
`,
      },
      { on: 'the embedded forge', hook: 'none' },
    );
    for (const title of ['first', 'second', 'third'])
      await several.ada.call(operations.createIssue, { params: at, body: { title } });
  });
  afterAll(() => several?.close());
  const run = (...words: string[]) =>
    reeve(['apply', '--open', ...words], {
      environment: { ...several.environment, REEVE_RULES: several.rules ?? '' },
    });

  it('plans all rules of the operator: each change of an item once, by name, with its rules', async () => {
    const from = several.proxy.passed.length;
    const { status, out } = await run('--plan');
    const all = await run('--plan', '--all', '--rules', `${several.rules}/second.yml`);

    expect(status).toBe(0);
    const items = out.slice(out.indexOf('\n\n')).trim();
    expect(items.split('\n')).toEqual([
      'acme/demo#3',
      '  + label:kept  (one)',
      'acme/demo#2',
      '  + label:kept  (one)',
      '  + label:area/docs  observed, not sent  (watching)',
      'acme/demo#1',
      '  + label:kept  (one, also)',
      '  + label:area/docs  (docs)',
      '',
      'nothing was written',
    ]);
    expect(out).toContain(
      '- pushes: not planned (it listens to push, and none of these is about an open issue',
    );
    // One rule has its reasons, as with its name.
    expect(all.out).toContain('docs: matched');
    expect(all.out).not.toContain('kept');
    expect(writesOf(several, from)).toEqual([]);
  });

  it('says why nothing runs, and that a file which is not in force writes nothing', async () => {
    const other = join(await mkdtemp(join(tmpdir(), 'reeve-other-')), 'other.yml');
    await writeFile(other, text);

    const plan = await run('--plan', '--rules', other);
    const write = await run('--yes', '--rules', other);
    const broken = await run('pushes', '--plan', '--rules', `${several.rules}/first.yml`);

    expect(plan.out).toContain('- reading: not planned (it reads event or sender');
    expect(write).toMatchObject({ status: 2 });
    expect(write.error).toContain(`${other} is not in force, so that it writes nothing`);
    expect(broken.status).toBe(2);
    expect(broken.error).toContain('first.yml can run on what is open\n  pushes: it listens to push');
  });

  it('with --yes runs each rule, and prints the changes of the items by name', async () => {
    const first = await run('--yes', '--rules', `${several.rules}/second.yml`);
    const rest = await run('--yes');
    const json = await run('--yes', '--json');

    expect([first.status, rest.status, json.status]).toEqual([0, 0, 0]);
    expect(first.out).toMatch(/^docs: .*\nacme\/demo#1\n {2}\+ label:area\/docs {2}applied {2}\(docs\)\n$/);
    expect(first.error).toContain('a server uses this store: it runs the rule\n');
    expect(rest.out).toContain('acme/demo#3\n  + label:kept  applied  (one)\n');
    expect(rest.out).toContain('acme/demo#2\n');
    expect(rest.out).toContain('  + label:area/docs  observed, not sent  (watching)\n');
    expect(rest.error).toContain('a server uses this store: it runs the rules\n');
    expect(rest.error).toContain('pushes: does not run (it listens to push');
    expect(
      json.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).rule.split('#')[1]),
    ).toEqual(['one', 'also', 'watching', 'docs']);
  });
});

describe('what a rule listens to', () => {
  const found = (on: string, more = '') => {
    const [rule] = rulesOf(
      `version: 1\nrules: { one: { on: ${on}, ${more} steps: [{ uses: comment, with: { text: x } }] } }\n`,
    );
    if (rule === undefined) throw new Error('no rule');
    const open = onOpenItems(rule);
    return 'why' in open
      ? open.why
      : [...open.parts].map(([kind, part]) => [kind, part.on.map(({ family }) => family)]);
  };

  it.each([
    ['issues', '', [['issue', ['issues']]]],
    [
      '[issues, pull_request]',
      '',
      [
        ['issue', ['issues']],
        ['pull_request', ['pull_request']],
      ],
    ],
    ['pull_request_review', '', [['pull_request', ['pull_request_review']]]],
    ['[issues.opened, issue_comment]', '', [['issue', ['issues']]]],
    ['status', 'each: pull_request,', [['pull_request', ['status']]]],
    ['pull_request.closed', '', expect.stringContaining('it listens to pull_request.closed, and none')],
    ['issue_comment.created', '', expect.stringContaining('it listens to issue_comment.created, and none')],
    ['{ schedule: "0 3 * * *" }', 'each: issue,', expect.stringContaining('reeve sweep one runs')],
  ])(
    'of %s (%s) is run for what is open: its issues, its pull requests, or neither',
    (on, more, expected) => {
      expect(found(on, more)).toEqual(expected);
    },
  );
});

import { afterEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { SweepStore } from '../../src/work/sweeps/progress.ts';
import { reeve } from '../support/command.ts';
import { at, type Harness, type HarnessOptions } from '../support/harness.ts';
import { startOperatorHarness, writesOf } from '../support/operator-harness.ts';
import { acme, type SweepHarness, startSweepHarness } from '../support/sweep-harness.ts';

// Rules with `each: [issue, pull_request]`.

let close: () => Promise<void>;
afterEach(() => close());

describe('a schedule over issues and pull requests', () => {
  const demo = { owner: acme, repo: 'demo' } as const;
  const ops = { owner: acme, repo: 'ops' } as const;
  let harness: SweepHarness;

  const start = async (rule: string): Promise<void> => {
    harness = await startSweepHarness();
    close = () => harness.close();
    for (const params of [demo, ops])
      await harness.bot.call(operations.createLabel, { params, body: { name: 'seen', color: 'cccccc' } });
    harness.setRules(`
version: 1
rules:
  both:
    on: { schedule: "*/15 * * * *" }
    each: [issue, pull_request]
${rule}`);
    await harness.tick();
  };
  const openIssue = async (title: string, params: typeof demo | typeof ops = demo): Promise<number> =>
    (await harness.bot.call(operations.createIssue, { params, body: { title } })).number;
  const openPull = async (title: string): Promise<number> => {
    const file = { content: Buffer.from(title).toString('base64'), branch: 'main', new_branch: title };
    await harness.bot.call(operations.createFile, {
      params: { ...demo, filepath: `${title}.txt` },
      body: file,
    });
    const body = { title: `WIP: ${title}`, head: title, base: 'main' };
    return (await harness.bot.call(operations.createPull, { params: demo, body })).number;
  };
  const slot = async () => {
    const from = { runs: harness.runs.length, requests: harness.proxy.passed.length };
    harness.advance(15);
    await harness.tick();
    return {
      runs: harness.runs.slice(from.runs),
      paths: harness.proxy.passed
        .slice(from.requests)
        .map(({ method, path }) => `${method} ${path.split(`/${acme}/`)[1] ?? path}`),
    };
  };
  const labelled = async (): Promise<readonly number[]> => {
    const found = await harness.bot.call(operations.listIssues, {
      params: demo,
      query: { labels: 'seen', state: 'all' },
    });
    return found.map(({ number }) => number).toSorted((a, b) => a - b);
  };
  const result = () => new SweepStore(harness.store).readResult('rules.yml#both');

  it('visits both from one list, and reads item without a request for each', async () => {
    await start(`    if: item.title.endsWith("quiet")
    steps: [{ uses: set-labels, with: { add: [seen] } }]`);
    const issue = await openIssue('an issue, quiet');
    const pull = await openPull('quiet');
    const others = [await openIssue('loud'), await openPull('loud')];
    await openIssue('elsewhere, quiet', ops);

    const { runs, paths } = await slot();

    expect(runs.map(({ trigger }) => trigger.item).toSorted()).toEqual(
      [...[issue, pull, ...others].map((number) => `${acme}/demo#${number}`), `${acme}/ops#1`].toSorted(),
    );
    expect(await labelled()).toEqual([issue, pull]);
    expect(paths.filter((path) => /^GET demo\/(issues|pulls)(\?|$)/.test(path))).toHaveLength(1);
    for (const number of others) expect(paths.filter((path) => path.includes(`/${number}`))).toEqual([]);
    expect(paths.filter((path) => path.includes('pulls'))).toEqual([]);
    expect(await result()).toMatchObject({ items: 5, changes: 3, failed: 0, isComplete: true });
    expect((await slot()).runs.flatMap(({ changes }) => changes)).toEqual([]);
  });

  it('tells the kinds apart with has()', async () => {
    await start(`    if: 'has(pull_request) ? pull_request.draft : issue.title == "question"'
    steps:
      - uses: comment
        with: { text: "\${{ has(issue) ? 'issue' : pull_request.head.ref }} \${{ item.number }}" }`);
    const [issue, other] = [await openIssue('question'), await openIssue('answer')];
    const pull = await openPull('draft');

    const { runs } = await slot();

    expect(runs.map(({ rules }) => rules[0]?.verdict).toSorted()).toEqual([
      'matched',
      'matched',
      'unmatched',
    ]);
    const said = async (index: number) =>
      (await harness.bot.call(operations.listComments, { params: { ...demo, index } })).map(({ body }) =>
        body?.split('\n').at(-1),
      );
    expect(await said(issue)).toEqual([`issue ${issue}`]);
    expect(await said(other)).toEqual([]);
    expect(await said(pull)).toEqual([`draft ${pull}`]);
  });

  it('has one limit of items for both, and gives each its turn', async () => {
    await start(`    limits: { items: 2 }
    steps: [{ uses: set-labels, with: { add: [seen] } }]`);
    const numbers = [
      await openIssue('a'),
      await openPull('b'),
      await openIssue('c'),
      await openPull('d'),
      await openIssue('e'),
    ];

    await slot();
    expect(await labelled()).toHaveLength(2);
    expect(await result()).toMatchObject({ changes: 2, limit: 2, isComplete: false });
    await slot();
    expect(await labelled()).toHaveLength(4);
    await slot();
    expect(await labelled()).toEqual(numbers);
  });

  it('reads an item again before it is closed', async () => {
    await start(`    if: item.title == "quiet"
    steps: [{ uses: set-issue, with: { state: closed } }]`);
    const issue = await openIssue('quiet');
    let renamed: Promise<unknown> | undefined;
    // The title changes after the list was read, when the action reads the issue.
    harness.proxy.decide = ({ method, path }) => {
      if (method === 'GET' && path.endsWith(`/demo/issues/${issue}`)) {
        renamed ??= harness.bot.call(operations.editIssue, {
          params: { ...demo, index: issue },
          body: { title: 'loud' },
        });
      }
      return { kind: 'pass' };
    };

    const { runs } = await slot();
    await renamed;

    expect(runs.flatMap(({ changes }) => changes)).toHaveLength(1);
    const live = await harness.bot.call(operations.getIssue, { params: { ...demo, index: issue } });
    expect(live).toMatchObject({ title: 'loud', state: 'open' });
  });
});

describe('events of issues and pull requests', () => {
  const rules = `version: 1
rules:
  both:
    on: [issues.opened, pull_request.opened, push]
    each: [issue, pull_request]
    if: item.state == "open" && (has(issue) || pull_request.behind > 0)
    steps: [{ uses: set-labels, with: { add: [kept] } }]
`;
  let harness: Harness;
  const start = async (options: HarnessOptions = {}): Promise<void> => {
    harness = await startOperatorHarness(rules, options);
    close = () => harness.close();
  };
  const openBoth = async (): Promise<readonly [number, number]> => {
    const issue = await harness.ada.call(operations.createIssue, { params: at, body: { title: 'x' } });
    const pull = await harness.openPull('work', { 'a.txt': 'a' });
    return [issue.number, pull.number];
  };
  const moveMain = () =>
    harness.ada.call(operations.createFile, {
      params: { ...at, filepath: 'b.txt' },
      body: { content: Buffer.from('b').toString('base64'), branch: 'main' },
    });
  const endedFor = (kind: string, number: number) => (run: Run) =>
    run.trigger.kind === kind && run.rules.length > 0 && (run.trigger.item ?? '').endsWith(`#${number}`);
  const labels = async (...numbers: readonly number[]) =>
    Promise.all(numbers.map((number) => harness.labelsOf(number)));

  it('start a rule about both, also those that only concern pull requests', async () => {
    await start();
    const [issue, pull] = await openBoth();
    await harness.idle();
    expect(await labels(issue, pull)).toEqual([['kept'], []]);

    await harness.waitForPush(moveMain);
    await harness.waitForRun(endedFor('push', pull));
    await harness.idle();
    expect(await labels(issue, pull)).toEqual([['kept'], ['kept']]);
  });

  it('are not needed for what is open: reeve plan and reeve apply visit both', async () => {
    await start({ hook: 'none' });
    const [issue, pull] = await openBoth();
    await moveMain();
    const from = harness.proxy.passed.length;
    const environment = { ...harness.environment, REEVE_RULES: harness.rules ?? '' };
    for (const [flag, number] of [
      ['--issue', issue],
      ['--pull', pull],
    ] as const) {
      const planned = await reeve(['plan', flag, `${at.owner}/${at.repo}#${number}`], { environment });
      expect(planned.out).toContain('label:kept');
    }
    expect(writesOf(harness, from)).toEqual([]);

    const { status, out } = await reeve(['apply', 'both', '--open', '--yes', '--json'], { environment });

    expect(status).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ items: 2, changes: 2, failed: 0, isComplete: true });
    expect(await labels(issue, pull)).toEqual([['kept'], ['kept']]);
  });
});

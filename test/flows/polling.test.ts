import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { readLastPoll } from '../../src/work/sweeps/catch-up/poll.ts';
import { reeve } from '../support/command.ts';
import { signInWithPassword } from '../support/dashboard-client.ts';
import {
  acme,
  at,
  type Harness,
  type HarnessOptions,
  people,
  repositoryScopes,
  startHarness,
} from '../support/harness.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { startSecondServer } from '../support/second-server.ts';

// No hook reaches Reeve in these flows: it polls the forge.

const rules = `version: 1
rules:
  opened: { on: issues.opened, steps: [{ uses: set-labels, with: { add: [area/docs] } }] }
  labelled:
    on: issues.label_updated
    if: labels.exists(l, l.name == "kept")
    steps: [{ uses: set-labels, with: { add: [area/code] } }]
  obey:
    on: [issue_comment.created, pull_request_comment.created]
    if: command("ship").found
    steps: [{ uses: set-labels, with: { add: [kept] } }]
  obey-writers:
    on: issue_comment.created
    if: command("code").found && sender.login == "${people.ada}"
    steps: [{ uses: set-labels, with: { add: [area/code] } }]
`;

let harness: Harness;
afterEach(() => harness.close());

const start = async (options: HarnessOptions = {}): Promise<void> => {
  harness = await startHarness({
    rules,
    hook: 'none',
    scopes: repositoryScopes,
    ...options,
    server: { poll: 0.25, secrets: [], ...options.server },
  });
  await poll();
  harness.runs.length = 0;
};

/** Waits until a poll that began after now has ended, and everything that it found is handled. */
async function poll(): Promise<void> {
  const now = new Date().toISOString();
  await expect
    .poll(async () => (await readLastPoll(harness.server.store))?.at ?? '', { timeout: 60_000, interval: 50 })
    .satisfy((last: string) => last > now);
  await harness.idle();
}

async function openIssue(title = 'x', as = harness.ada): Promise<number> {
  const { number } = await as.call(operations.createIssue, { params: at, body: { title } });
  await poll();
  return number;
}

const label = (index: number, labels: readonly string[], as = harness.ada) =>
  as.call(operations.replaceIssueLabels, { params: { ...at, index }, body: { labels: [...labels] } });

const comment = (index: number, body: string, as = harness.ada) =>
  as.call(operations.createComment, { params: { ...at, index }, body: { body } });

/** Waits for the next second: times of the forge have no more precision. */
const nextSecond = () => new Promise((resolve) => setTimeout(resolve, 1_100));

const kinds = (runs: readonly Run[] = harness.runs): readonly string[] =>
  runs.map(({ trigger }) => `${trigger.kind}.${trigger.activity}`);

const sortedLabels = async (index: number): Promise<readonly string[]> =>
  (await harness.labelsOf(index)).toSorted();

describe('polling', () => {
  it('sets labels on an issue that is opened, and has no route for hooks', async () => {
    await start();
    const index = await openIssue();

    expect(await harness.labelsOf(index)).toEqual(['area/docs']);
    expect((await fetch(`${harness.server.url}/webhook`, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${harness.server.url}/readyz`)).status).toBe(200);
  });

  it('names the item of each event, and that it was found by reading the forge, on the dashboard', async () => {
    await start();
    const index = await openIssue();
    const run = harness.runs[0];
    const password = await readFile(join(harness.data, 'dashboard.password'), 'utf8');
    const operator = await signInWithPassword(harness.server.url, password.trim());
    const paths = ['/', '/runs', `/runs/${run?.id}`, `/deliveries/${run?.trigger.delivery}`];
    for (const path of paths) {
      const { text } = await operator.get(path);
      expect(text, path).toContain(`${acme}/demo#${index}`);
      expect(text, path).toContain('found by reading the forge');
      expect(/.{0,80}(by cron|>cron<).{0,20}/.exec(text)?.[0], path).toBeUndefined();
    }
    const { text } = await operator.get(`/deliveries/${run?.trigger.delivery}`);
    expect(text).toContain(`subjects/${acme}/demo/issues/${index}"`);
  });

  it('names the item and the event in the lists and explanations of the command line', async () => {
    await start();
    const index = await openIssue();
    const { id, trigger } = harness.runs[0] ?? {};
    const ask = async (...words: readonly string[]) =>
      (await reeve(words, { environment: harness.environment })).out;

    expect(await ask('runs')).toMatch(new RegExp(`${id} .* issues.opened +${acme}/demo#${index} +opened`));
    expect(await ask('deliveries')).toMatch(
      new RegExp(`^ *${trigger?.delivery} .* issues.opened +${acme}/demo#${index} `, 'm'),
    );
    expect(await ask('explain', id ?? '')).toContain(
      `delivery ${trigger?.delivery}, ${acme}/demo#${index}  `,
    );
    expect(await ask('explain', `${acme}/demo#${index}`)).toContain(id);
    expect(await ask('runs', '--repository', `${acme}/demo`)).toContain(id);
  });

  it('finds what a person does with the account of Reeve, and nothing that Reeve does', async () => {
    await start();
    const index = await openIssue('x', harness.bot);
    await poll();

    expect(kinds()).toEqual(['issues.opened']);
    expect(await harness.labelsOf(index)).toEqual(['area/docs']);

    await nextSecond();
    await label(index, ['area/docs', 'kept'], harness.bot);
    await poll();
    await poll();
    expect(kinds()).toEqual(['issues.opened', 'issues.label_updated']);
    expect(await sortedLabels(index)).toEqual(['area/code', 'area/docs', 'kept']);
  });

  it('finds a change of a person that Reeve has overwritten between two polls', async () => {
    // The person sets `kept` while a run of Reeve is about to add another label: Reeve then writes both.
    await start();
    const index = await openIssue();
    harness.runs.length = 0;
    await nextSecond();
    let isDone = false;
    harness.proxy.decide = ({ method, path }) => {
      if (method !== 'GET' || !path.includes(`/issues/${index}/labels`) || isDone) return { kind: 'pass' };
      isDone = true;
      return { kind: 'pass', before: () => label(index, ['area/docs', 'kept']) };
    };
    await comment(index, '/code');
    await poll();
    await poll();

    expect(kinds()).toContain('issues.label_updated');
    expect(await sortedLabels(index)).toEqual(['area/code', 'area/docs', 'kept']);
    const found = harness.runs.filter(({ trigger }) => trigger.activity === 'label_updated');
    expect(
      found.flatMap(({ rules: all }) => all.filter(({ verdict }) => verdict === 'matched')),
    ).toHaveLength(1);
  });

  it('executes commands of the author of a comment, who is its sender', async () => {
    await start();
    const index = await openIssue();
    await comment(index, '/ship');
    await poll();
    expect(await sortedLabels(index)).toEqual(['area/docs', 'kept']);

    await comment(index, '/code', harness.root);
    await poll();
    expect(await sortedLabels(index)).toEqual(['area/docs', 'kept']);

    await comment(index, '/code');
    await poll();
    expect(await sortedLabels(index)).toEqual(['area/code', 'area/docs', 'kept']);
  });

  it('executes no command of a comment that was edited before the poll', async () => {
    await start({ server: { poll: 2 } });
    const index = await openIssue();
    const { id } = await comment(index, 'hello');
    await nextSecond();
    await harness.root.call(operations.editComment, { params: { ...at, id }, body: { body: '/ship' } });
    await poll();
    await poll();

    expect(kinds().filter((kind) => kind.startsWith('issue_comment'))).not.toEqual([]);
    expect(await harness.labelsOf(index)).toEqual(['area/docs']);
  });

  it('skips rules that read the sender of another event, and names polling', async () => {
    await start({
      rules: `version: 1
rules:
  by-sender: { on: issues, if: sender.login == "${people.ada}", steps: [{ uses: set-labels, with: { add: [kept] } }] }
  by-permission: { on: issues, if: sender_permission == "write", steps: [{ uses: set-labels, with: { add: [kept] } }] }
  by-event: { on: issues, if: has(event.changes.title), steps: [{ uses: set-labels, with: { add: [kept] } }] }
  by-issue: { on: issues, if: event.issue.title == "x", steps: [{ uses: set-labels, with: { add: [area/docs] } }] }
`,
    });
    const index = await openIssue();

    expect(await harness.labelsOf(index)).toEqual(['area/docs']);
    const [run] = harness.runs;
    expect(run?.rules.map(({ rule, verdict, reason }) => [rule.split('#')[1], verdict, reason])).toEqual(
      expect.arrayContaining([
        ['by-sender', 'skipped', 'polled'],
        ['by-permission', 'skipped', 'polled'],
        ['by-event', 'skipped', 'polled'],
        ['by-issue', 'matched', undefined],
      ]),
    );
  });

  it('starts a rule about issues and pull requests for either', async () => {
    await start({
      rules: `version: 1
rules:
  both:
    on: [issues.opened, pull_request.opened]
    each: [issue, pull_request]
    if: item.state == "open" && (has(issue) || pull_request.head.ref == "work")
    steps: [{ uses: set-labels, with: { add: [kept] } }]
`,
    });
    const issue = await openIssue();
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await poll();

    expect(await harness.labelsOf(issue)).toEqual(['kept']);
    expect(await harness.labelsOf(number)).toEqual(['kept']);
  });

  it('finds statuses, pushes, reviews and comments of pull requests', async () => {
    await start({
      rules: `version: 1
rules:
  checked:
    on: status
    each: pull_request
    if: statuses.exists(s, s.context == "ci")
    steps: [{ uses: set-labels, with: { add: [area/code] } }]
  pushed: { on: pull_request.synchronized, steps: [{ uses: set-labels, with: { add: [area/docs] } }] }
  approved: { on: pull_request_review.approved, if: sender.login == "${people.root}", steps: [{ uses: set-labels, with: { add: [kept] } }] }
  branch: { on: push, if: event.ref == "refs/heads/work", steps: [{ uses: set-status, with: { context: seen, state: success } }] }
  said: { on: pull_request_comment.created, if: command("seen").found, steps: [{ uses: set-status, with: { context: said, state: success } }] }
`,
    });
    const { number, head } = await harness.openPull('work', { 'a.txt': 'a' });
    await poll();
    harness.runs.length = 0;
    const sha = head?.sha ?? '';
    await harness.ada.call(operations.createStatus, {
      params: { ...at, sha },
      body: { context: 'ci', state: 'success' },
    });
    await poll();
    expect(await harness.labelsOf(number)).toEqual(['area/code']);

    await nextSecond();
    await harness.root.call(operations.createReview, {
      params: { ...at, index: number },
      body: { event: 'APPROVED', body: 'good' },
    });
    await comment(number, '/seen');
    await poll();
    expect(await sortedLabels(number)).toEqual(['area/code', 'kept']);

    await nextSecond();
    await harness.ada.call(operations.createFile, {
      params: { ...at, filepath: 'b.txt' },
      body: { content: 'Yg==', message: 'b', branch: 'work' },
    });
    await expect
      .poll(
        async () => {
          await poll();
          return sortedLabels(number);
        },
        { timeout: 60_000 },
      )
      .toEqual(['area/code', 'area/docs', 'kept']);
    expect(kinds()).toEqual(
      expect.arrayContaining([
        'status.',
        'push.',
        'pull_request_review.approved',
        'pull_request_comment.created',
      ]),
    );

    // Nothing happens any more: what Reeve wrote is found by no poll.
    await poll();
    harness.runs.length = 0;
    await poll();
    await poll();
    expect(kinds()).toEqual([]);
  });

  it('ends a loop of two rules that undo each other, with one account', async () => {
    await start({
      rules: `version: 1
rules:
  keep: { on: issues, if: '!labels.exists(l, l.name == "kept")', steps: [{ uses: set-labels, with: { add: [kept] } }] }
  drop: { on: issues, if: 'labels.exists(l, l.name == "kept")', steps: [{ uses: set-labels, with: { remove: [kept] } }] }
`,
    });
    const index = await openIssue('x', harness.bot);
    for (let polls = 0; polls < 4; polls += 1) await poll();

    expect(await harness.labelsOf(index)).toEqual(['kept']);
    expect(kinds()).toEqual(['issues.opened']);
  });

  it('starts the rules that did not cause a commit or a merge of Reeve, and no rule by its own', async () => {
    harness = await startOperatorHarness(
      `version: 1
rules:
  commit:
    on: { push: { branches: [main] } }
    steps:
      - uses: commit-files
        with: { branch: main, message: Note, files: [{ path: last.txt, content: "\${{ event.after }}" }] }
  pushed:
    on: { push: { branches: [main] } }
    if: event.before != event.after
    steps: [{ uses: report-issue, with: { key: "\${{ event.after }}", title: "Pushed \${{ event.after }}" } }]
  merge:
    on: pull_request.label_updated
    if: labels.exists(l, l.name == "kept")
    steps: [{ uses: merge, with: { method: merge, after-push: anyone } }]
  merged:
    on: pull_request.closed
    if: pull_request.merged
    steps: [{ uses: set-labels, with: { add: [area/docs] } }]
`,
      { hook: 'none', server: { poll: 0.25, secrets: [] } },
    );
    await poll();
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await poll();
    await label(number, ['kept']);
    await expect.poll(() => sortedLabels(number), { timeout: 60_000 }).toEqual(['area/docs', 'kept']);
    for (let polls = 0; polls < 5; polls += 1) await poll();

    const matched = harness.runs.flatMap(({ trigger, rules: all }) =>
      all.flatMap(({ rule, verdict }) =>
        verdict === 'matched' ? [`${rule.split('#')[1]} ${trigger.kind}.${trigger.activity}`] : [],
      ),
    );
    // The merge and the commit may be one push between two polls.
    expect(matched.filter((one) => one.startsWith('merged'))).toEqual(['merged pull_request.closed']);
    expect(matched.filter((one) => one.startsWith('commit')).length).toBeLessThanOrEqual(1);
    expect(matched.filter((one) => one.startsWith('pushed')).length).toBeGreaterThanOrEqual(1);
    expect(matched.filter((one) => one.startsWith('pushed')).length).toBeLessThanOrEqual(2);
    harness.runs.length = 0;
    await poll();
    await poll();
    expect(harness.runs).toEqual([]);
  });

  it('loses nothing that happens while Reeve is stopped, and repeats nothing', async () => {
    await start();
    const known = await openIssue('known');
    let made = 0;
    await harness.restart({
      async between() {
        await nextSecond();
        const { number } = await harness.bot.call(operations.createIssue, {
          params: at,
          body: { title: 'new' },
        });
        made = number;
        await comment(known, '/ship', harness.bot);
      },
    });
    await poll();
    await poll();

    expect(await harness.labelsOf(made)).toEqual(['area/docs']);
    expect(await sortedLabels(known)).toEqual(['area/docs', 'kept']);
    expect(kinds().filter((kind) => kind === 'issues.opened')).toHaveLength(2);
  });

  it('continues after an outage of the forge', async () => {
    await start();
    harness.proxy.decide = () => ({ kind: 'answer', status: 502, body: '' });
    await harness.ada.call(operations.createIssue, { params: at, body: { title: 'x' } });
    await expect
      .poll(async () => (await readLastPoll(harness.server.store))?.error ?? '', { timeout: 60_000 })
      .not.toBe('');
    harness.proxy.decide = () => ({ kind: 'pass' });
    await poll();

    await expect.poll(() => harness.labelsOf(1), { timeout: 60_000 }).toEqual(['area/docs']);
  });
});

describe('polling with processes that share a PostgreSQL database', () => {
  let database: Awaited<ReturnType<typeof startPostgres>>;
  beforeAll(async () => {
    database = await startPostgres();
  });
  afterAll(() => database.stop());

  it('one of them polls, each event starts rules once, and another goes on after it', async () => {
    const url = new URL(database.url.replace(/^postgres:/, 'http:'));
    url.searchParams.set('schema', 'polling');
    const databaseUrl = url.href.replace(/^http:/, 'postgres:');
    await start({ on: 'the embedded forge', server: { databaseUrl } });
    const others: Run[] = [];
    const other = await startSecondServer(harness, databaseUrl, {
      poll: 0.25,
      onRun: (run) => others.push(run),
    });
    try {
      const indexes: number[] = [];
      for (let n = 0; n < 6; n += 1) indexes.push(await openIssue(`${n}`));
      await poll();
      for (const index of indexes) expect(await harness.labelsOf(index)).toEqual(['area/docs']);
      const opened = [...harness.runs, ...others].filter(({ trigger }) => trigger.activity === 'opened');
      expect(opened).toHaveLength(6);

      await harness.restart({
        async between() {
          const { number } = await harness.ada.call(operations.createIssue, {
            params: at,
            body: { title: 'last' },
          });
          await expect.poll(() => harness.labelsOf(number), { timeout: 60_000 }).toEqual(['area/docs']);
        },
      });
      expect(others.length).toBeGreaterThan(0);
    } finally {
      await other.stop();
    }
  });
});

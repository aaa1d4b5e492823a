import { afterEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { isThorough } from '../support/figure.ts';
import { skipWithout } from '../support/flow-requirements.ts';
import { at, authorization, type Harness, secret } from '../support/harness.ts';
import { mergeByHand } from '../support/merge-by-hand.ts';
import { startOperatorHarness, writesOf } from '../support/operator-harness.ts';
import { addFile } from '../support/privilege-setup.ts';
import { appliedRules, mergeRules, shippedFiles } from '../support/shipped-rules.ts';

let harness: Harness;
/** How far the server's clock is ahead. */
let aheadMs = 0;
afterEach(async () => {
  aheadMs = 0;
  await harness.close();
});
const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
const timeout = 240_000;

/** Auto-merge rules as a maintainer writes them: merge pull requests that are green and ready. */
const rules = `version: 1
rules:
  auto-merge:
    on: { pull_request: { types: [edited], branches: [main] }, status: {}, workflow_run: [completed], action_run_success: {} }
    each: pull_request
    if: pull_request.title.startsWith("Ready") && pull_request.base.ref == "main"
    steps:
      - uses: merge
        with:
          method: merge
          when: 'statuses.exists(s, s.context == "ci") && statuses.all(s, s.status == "success")'
`;

const start = async (yaml = rules) => {
  harness = await startOperatorHarness(yaml, { server: { clock, backoff: { firstMs: 50 } } });
};

/** Returns whether the forge sends status events. Forgejo does not. */
const sendsStatuses = async () => (await harness.bot.capabilities()).has.status_events;

async function hearStatuses(): Promise<void> {
  await harness.root.call(operations.createHook, {
    params: at,
    body: {
      type: 'gitea',
      active: true,
      events: ['status'],
      config: { url: `${harness.server.url}/webhook`, content_type: 'json', secret },
      authorization_header: authorization,
    },
  });
}

async function report(state: 'success' | 'pending' | 'failure', index: number): Promise<void> {
  const { head } = await harness.root.call(operations.getPull, { params: { ...at, index } });
  const params = { ...at, sha: head?.sha ?? '' };
  await harness.root.call(operations.createStatus, { params, body: { state, context: 'ci' } });
}

const retitle = (index: number, title = 'Ready') =>
  harness.ada.call(operations.editPull, { params: { ...at, index }, body: { title } });
const stateOf = async (index: number) => {
  const { merged, state } = await harness.root.call(operations.getPull, { params: { ...at, index } });
  return merged ? 'merged' : state;
};
const waitingRows = async () => {
  const { items } = await harness.server.store.listDeliveries({ limit: 500 });
  return items.filter(({ eventType }) => eventType === 'waiting');
};
const openRows = async () => (await waitingRows()).filter(({ state }) => state !== 'settled');
/** Waits until only one row is left and is waiting. The test may advance time only then. */
const oneRowWaits = async () => {
  await expect.poll(openRows, { timeout }).toHaveLength(1);
  await harness.idle();
};
const merges = () => writesOf(harness).filter((request) => request.endsWith('/merge'));

describe('auto-merge on green', () => {
  it('merges on a status event, but only the pull request whose head is the commit of the status', async (context) => {
    await start();
    skipWithout('status events: the forge sends none', await sendsStatuses(), context);
    await hearStatuses();
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    const { number: other } = await harness.openPull('other', { 'b.txt': 'b' });
    await retitle(number);
    await retitle(other);
    await harness.idle();
    expect(merges()).toEqual([]);

    await report('success', number);
    await expect.poll(() => stateOf(number), { timeout }).toBe('merged');
    await harness.idle();

    expect(await stateOf(other)).toBe('open');
    const run = harness.runs.find(({ outcomes }) => outcomes.some(({ status }) => status === 'applied'));
    expect(run?.trigger).toMatchObject({ kind: 'status', item: `${at.owner}/${at.repo}#${number}` });
  });

  it('merges without a status event: a waiting row checks again, and ends', async () => {
    await start();
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await report('pending', number);
    await retitle(number);
    await oneRowWaits();
    await report('success', number);
    await harness.idle();
    expect(await stateOf(number)).toBe('open');

    aheadMs = 11_000;
    await expect.poll(() => stateOf(number), { timeout }).toBe('merged');
    await expect.poll(openRows, { timeout }).toEqual([]);
    expect(merges()).toHaveLength(1);
  });

  it('checks again if the forge reported a conflict only at the merge', async () => {
    await start();
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await report('success', number);
    let refuses = true;
    harness.proxy.decide = ({ method, path }) =>
      refuses && method === 'POST' && path.endsWith('/merge')
        ? { kind: 'answer', status: 409, body: '{"message":""}' }
        : { kind: 'pass' };
    await retitle(number);
    await oneRowWaits();

    refuses = false;
    aheadMs = 11_000;
    await expect.poll(() => stateOf(number), { timeout }).toBe('merged');
    await expect.poll(openRows, { timeout }).toEqual([]);
  });

  it('limits the attempts if the forge keeps refusing the merge for the same reason', async () => {
    await start();
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await report('success', number);
    let refused = 0;
    harness.proxy.decide = ({ method, path }) => {
      if (method !== 'POST' || !path.endsWith('/merge')) return { kind: 'pass' };
      refused += 1;
      return { kind: 'answer', status: 409, body: '{"message":"not now"}' };
    };
    await retitle(number);
    await oneRowWaits();

    // Each check plans the refused request again, and sends it once more.
    for (let looks = 1; looks <= 6; looks += 1) {
      await harness.idle();
      aheadMs += 20 * 60_000;
      await expect.poll(() => refused, { timeout }).toBe(2 + 2 * looks);
    }
    await expect.poll(openRows, { timeout }).toEqual([]);
    const [last] = harness.runs.slice(-1);
    const { items } = await harness.server.store.listRuns({ limit: 1 });
    expect(last?.outcomes).toMatchObject([{ status: 'failed' }]);
    expect(items[0]?.outcomes[0]?.error).toMatch(/not now.*; refused 6 times: not tried again/);

    harness.proxy.decide = () => ({ kind: 'pass' });
    await retitle(number, 'Ready again');
    await expect.poll(() => stateOf(number), { timeout }).toBe('merged');
  });

  it('waits only for checks: a condition that a person must fulfil leaves no waiting row', async () => {
    await start();
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await report('pending', number);
    await retitle(number, 'Not ready');
    await harness.idle();

    expect(await waitingRows()).toEqual([]);
  });

  it('keeps one row per pull request, however many events arrived', async () => {
    await start();
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    for (const title of ['Ready 1', 'Ready 2', 'Ready 3']) await retitle(number, title);
    await expect.poll(waitingRows, { timeout }).toHaveLength(3);

    await oneRowWaits();
  });

  it('continues waiting after a restart', async () => {
    await start();
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await report('pending', number);
    await retitle(number);
    await oneRowWaits();

    await harness.restart();
    await harness.idle();
    await report('success', number);
    aheadMs = 11_000;

    await expect.poll(() => stateOf(number), { timeout }).toBe('merged');
    expect(merges()).toHaveLength(1);
  });

  it('merges at start a pull request that became green while the server was down', async () => {
    await start();
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await retitle(number);
    await harness.idle();

    await harness.restart({ between: () => report('success', number) });

    await expect.poll(() => stateOf(number), { timeout }).toBe('merged');
    expect(merges()).toHaveLength(1);
  });

  it('leaves a pull request into another branch alone: filters are applied to live state, also at start', async () => {
    await start(`version: 1
rules:
  auto-merge:
    on: { pull_request: { types: [edited], branches: [main] } }
    if: pull_request.title.startsWith("Ready")
    steps: [{ uses: merge, with: { method: merge } }]
`);
    await harness.root.call(operations.createBranch, { params: at, body: { new_branch_name: 'release' } });
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    // The first event shows the earlier base.
    harness.proxy.decide = ({ method, path }) =>
      method === 'POST' && path.endsWith('/merge')
        ? { kind: 'answer', status: 500, body: '{"message":"not in this test"}' }
        : { kind: 'pass' };
    await harness.ada.call(operations.editPull, {
      params: { ...at, index: number },
      body: { base: 'release', title: 'Ready' },
    });
    await harness.idle();
    const [first] = harness.runs.filter(({ changes }) => changes.length > 0);
    expect(first?.outcomes.map(({ status }) => status) ?? []).not.toContain('failed');

    await harness.restart();
    await expect
      .poll(
        async () => {
          const { items } = await harness.server.store.listDeliveries({ search: 'open-pulls' });
          return items.map(({ state }) => state);
        },
        { timeout },
      )
      .toEqual(['settled', 'settled']);
    expect(await stateOf(number)).toBe('open');
    expect(merges()).toEqual([]);
  });
});

describe('a merge on a command', () => {
  const onCommand = (rule: string) => `version: 1
rules:
  merge-on-command:
    on: { pull_request_comment: [created] }
${rule}
`;
  const when = 'statuses.exists(s, s.context == "ci") && statuses.all(s, s.status == "success")';
  const variants = [
    [
      'if',
      `    if: command("merge").found && ${when}\n    steps: [{ uses: merge, with: { method: merge } }]`,
    ],
    [
      'when',
      `    steps: [{ uses: merge, with: { method: merge, when: 'command("merge").found && ${when}' } }]`,
    ],
    [
      'if, and the checks are in when',
      `    if: command("merge").found\n    steps: [{ uses: merge, with: { method: merge, when: '${when}' } }]`,
    ],
  ] as const;

  /** Creates a pull request with a command that waits for checks. */
  const sayMerge = async (rule: string) => {
    await start(onCommand(rule));
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await report('pending', number);
    const params = { ...at, index: number };
    const { id } = await harness.ada.call(operations.createComment, { params, body: { body: '/merge' } });
    await oneRowWaits();
    return { number, id };
  };

  // The third variant is used by the next test, which restarts the server while the command waits.
  it.each(isThorough ? variants : variants.slice(0, 2))(
    'waits for checks if the command is in %s',
    async (_, rule) => {
      const { number } = await sayMerge(rule);
      // The first check finds the command, and the run continues to wait.
      aheadMs = 11_000;
      await harness.idle();
      await report('success', number);
      aheadMs = 60_000;

      await expect.poll(() => stateOf(number), { timeout }).toBe('merged');
      expect(merges()).toHaveLength(1);
    },
  );

  it('continues waiting after a restart', async () => {
    const { number } = await sayMerge(variants[2][1]);

    await harness.restart();
    await harness.idle();
    await report('success', number);
    aheadMs = 11_000;

    await expect.poll(() => stateOf(number), { timeout }).toBe('merged');
    expect(merges()).toHaveLength(1);
  });

  it.each([
    [
      'edited',
      (id: number) =>
        harness.root.call(operations.editComment, { params: { ...at, id }, body: { body: '/merge now' } }),
    ],
    ['deleted', (id: number) => harness.root.call(operations.deleteComment, { params: { ...at, id } })],
  ])('ends if the comment was %s in the meantime', async (_, change) => {
    const { number, id } = await sayMerge(variants[2][1]);
    await change(id);
    await report('success', number);
    aheadMs = 11_000;

    await expect.poll(openRows, { timeout }).toEqual([]);
    await harness.idle();
    expect(await stateOf(number)).toBe('open');
    expect(merges()).toEqual([]);
  });
});

describe('events that concern pull requests indirectly', () => {
  it('a push updates the pull requests into the pushed branch', async () => {
    await start(`version: 1
rules:
  up-to-date:
    on: { push: { branches: [main] } }
    each: pull_request
    steps: [{ uses: update-branch }]
`);
    await harness.openPull('one', { 'a.txt': 'a' });
    await harness.openPull('two', { 'b.txt': 'b' });
    await harness.idle();

    await addFile(harness.root, at, 'main', 'ahead.txt');
    const behind = async () => {
      const both = await Promise.all(
        ['one', 'two'].map((name) =>
          harness.root.call(operations.compare, { params: { ...at, basehead: `${name}...main` } }),
        ),
      );
      return both.map(({ total_commits }) => total_commits);
    };
    await expect.poll(behind, { timeout }).toEqual([0, 0]);
    await harness.idle();
    expect(writesOf(harness).filter((request) => request.includes('/update'))).toHaveLength(2);
  });

  it('a status of a commit that is not a head concerns no pull request', async (context) => {
    await start();
    skipWithout('status events: the forge sends none', await sendsStatuses(), context);
    await hearStatuses();
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await retitle(number);
    const main = await harness.root.call(operations.getBranch, { params: { ...at, branch: 'main' } });

    await harness.root.call(operations.createStatus, {
      params: { ...at, sha: main.commit?.id ?? '' },
      body: { state: 'success', context: 'ci' },
    });
    await harness.idle();

    const { items } = await harness.server.store.listDeliveries({ search: 'status' });
    expect(items.map(({ state, reason }) => [state, reason])).toEqual([
      ['settled', 'no open pull request is concerned'],
    ]);
    expect(merges()).toEqual([]);
  });
});

describe('the shipped rules', () => {
  it('merge labelled and green pull requests, follow the base, and delete merged branches', async () => {
    harness = await startOperatorHarness(await shippedFiles(mergeRules), {
      server: { clock },
      labels: ['auto-merge', 'keep-updated'],
    });
    const merged = await harness.openPull('work', { 'a.txt': 'a' }, ['auto-merge']);
    const kept = await harness.openPull('slow', { 'b.txt': 'b' }, ['keep-updated']);
    const byHand = await harness.openPull('manual', { 'c.txt': 'c' });
    // The base requires no checks, so an approval is needed instead.
    await harness.root.call(operations.createReview, {
      params: { ...at, index: merged.number },
      body: { event: 'APPROVED', body: 'Good.' },
    });
    await report('success', merged.number);
    aheadMs = 11_000;
    await expect.poll(() => stateOf(merged.number), { timeout }).toBe('merged');
    const body = { do: 'merge', delete_branch_after_merge: false } as const;
    await mergeByHand(harness.root, byHand.number, body);

    const branches = async () =>
      (await harness.root.call(operations.listBranches, { params: at })).map(({ name }) => name).toSorted();
    await expect.poll(branches, { timeout }).toEqual(['main', 'slow']);
    const behind = async () =>
      (await harness.root.call(operations.compare, { params: { ...at, basehead: 'slow...main' } }))
        .total_commits;
    await expect.poll(behind, { timeout }).toBe(0);
    await harness.idle();
    expect(await stateOf(kept.number)).toBe('open');
    expect(appliedRules(harness.runs)).toEqual(['auto-merge', 'delete-merged', 'keep-updated']);
  });
});

describe('consequences of our own writes', () => {
  const chain = `version: 1
rules:
  merge-ready:
    on: { pull_request: [edited, synchronized, closed] }
    if: pull_request.title.startsWith("Ready")
    steps: [{ uses: merge, with: { method: merge } }]
  say-so:
    on: { pull_request: [closed] }
    if: pull_request.merged
    steps: [{ uses: comment, with: { text: "Merged." } }]
  keep-up:
    on: { push: { branches: [main] } }
    each: pull_request
    steps: [{ uses: update-branch }]
  label-new-heads:
    on: { pull_request: [synchronized] }
    steps: [{ uses: set-labels, with: { add: [kept] } }]
`;
  const ruleNames = () =>
    harness.runs
      .filter(({ trigger }) => trigger.because !== undefined)
      .flatMap(({ rules: verdicts, trigger }) =>
        verdicts.map(({ rule, verdict, reason }) => [
          `${trigger.kind}.${trigger.activity} ${rule.split('#')[1]} ${reason ?? verdict}`,
        ]),
      )
      .flat()
      .filter((line) => !line.endsWith(' kind'))
      .toSorted();

  it('trigger the rules that did not cause them, one after the other, and then end', async () => {
    await start(chain);
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    const other = await harness.openPull('other', { 'b.txt': 'b' });
    await retitle(number);

    await expect.poll(() => harness.labelsOf(other.number), { timeout }).toEqual(['kept']);
    await harness.idle();

    const comments = await harness.root.call(operations.listComments, {
      params: { ...at, index: number },
    });
    expect(comments.map(({ body }) => body?.split('\n').at(-1))).toEqual(['Merged.']);
    expect(ruleNames()).toEqual([
      'pull_request.closed merge-ready own',
      'pull_request.closed say-so matched',
      'pull_request.synchronized label-new-heads matched',
      'pull_request.synchronized merge-ready own',
      'push. keep-up matched',
    ]);
    const first = harness.runs.find(({ changes }) => changes.some(({ action }) => action === 'merge'));
    const said = harness.runs.find(({ changes }) => changes.some(({ action }) => action === 'comment'));
    expect(said?.trigger.because).toEqual({ run: first?.id, change: first?.changes[0]?.id });
    // The comment and the label are our own events as well, and trigger nothing.
    expect(writesOf(harness).filter((write) => write.includes('/merge'))).toHaveLength(1);
  });

  it('are recognized even if the response to the merge was lost', async () => {
    await start(chain);
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    let isMerged = false;
    harness.proxy.decide = ({ method, path }) => {
      if (method !== 'POST' || !path.endsWith('/merge') || isMerged) return { kind: 'pass' };
      isMerged = true;
      return { kind: 'lose' };
    };
    await retitle(number);
    await expect.poll(() => isMerged, { timeout }).toBe(true);

    const said = () => harness.root.call(operations.listComments, { params: { ...at, index: number } });
    await expect.poll(said, { timeout }).toHaveLength(1);
    expect(await stateOf(number)).toBe('merged');
    expect(merges()).toHaveLength(1);
  });
});

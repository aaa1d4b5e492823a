import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { operations } from '../../src/contract/operations.ts';
import type { PullRequest } from '../../src/contract/resources/pulls.ts';
import { queueStateOf } from '../../src/queue/state.ts';
import { reeve } from '../support/command.ts';
import { signInWithPassword } from '../support/dashboard-client.ts';
import { at, type Harness, people } from '../support/harness.ts';
import { startOperatorHarness, writesOf } from '../support/operator-harness.ts';
import { addFile } from '../support/privilege-setup.ts';
import { queueRules, shippedFiles } from '../support/shipped-rules.ts';

let harness: Harness;
/** How far the clock of the server is ahead: polls come when this test says. */
let aheadMs = 0;
afterEach(async () => {
  aheadMs = 0;
  await harness.close();
});
const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
const label = 'merge-queue';
const timeout = 240_000;

/** `method` takes the place of that in the rule. */
async function start(method = 'merge', required: readonly string[] = ['ci', 'reeve/queue']): Promise<void> {
  const files = await shippedFiles(queueRules);
  const yaml = (files['merge-queue.yml'] ?? '').replaceAll('method: merge', `method: ${method}`);
  harness = await startOperatorHarness(yaml, {
    labels: [label, 'queue-first'],
    server: { clock, backoff: { firstMs: 50 } },
  });
  await harness.root.call(operations.editRepository, {
    params: at,
    body: { allow_fast_forward_only_merge: true },
  });
  await harness.root.call(operations.createBranchProtection, {
    params: at,
    body: {
      rule_name: 'main',
      enable_push: true,
      enable_status_check: true,
      status_check_contexts: [...required],
    },
  });
}

const read = (index: number): Promise<PullRequest> =>
  harness.root.call(operations.getPull, { params: { ...at, index } });
const stateOf = async (index: number) => {
  const { merged, state } = await read(index);
  return merged ? 'merged' : state;
};
const queued = async () => {
  const [row] = await harness.server.store.listQueues();
  return queueStateOf(row).entries.map(({ number }) => number);
};
const history = async () => {
  const rows = await harness.server.store.listQueueHistory({ limit: 500 });
  return rows.toReversed();
};
const mergedByQueue = async () =>
  (await history()).filter(({ kind }) => kind === 'merged').map(({ number }) => number);
const left = async () =>
  (await history()).filter(({ kind }) => kind === 'left').map(({ number, reason }) => [number, reason]);
const commentsOf = async (index: number) =>
  (await harness.root.call(operations.listComments, { params: { ...at, index } })).map(({ body }) => body);

async function lineUp(branch: string, files: Readonly<Record<string, string>>): Promise<number> {
  const { number } = await harness.openPull(branch, files);
  await addLabel(number);
  await expect.poll(queued, { timeout: 20_000 }).toContain(number);
  return number;
}

async function addLabel(index: number): Promise<void> {
  const known = await harness.root.call(operations.listLabels, { params: at });
  const labels = known.filter(({ name }) => name === label).map(({ id }) => id);
  await harness.ada.call(operations.addIssueLabels, { params: { ...at, index }, body: { labels } });
}

/** CI: reports on heads without a report; on those of pull requests in `red` that they failed. */
async function runChecks(red: readonly number[] = []): Promise<void> {
  const open = await harness.root.call(operations.listPulls, { params: at, query: { state: 'open' } });
  for (const { number, head } of open) {
    const params = { ...at, sha: head?.sha ?? '' };
    const known = await harness.root.call(operations.listStatuses, { params });
    if (known.some(({ context }) => context === 'ci')) continue;
    const state = red.includes(number) ? 'failure' : 'success';
    await harness.root.call(operations.createStatus, { params, body: { context: 'ci', state } });
  }
}

/** Lets CI and time go on until the queue is empty. `each` happens once in every round. */
async function drain(
  options: { red?: readonly number[]; each?: () => Promise<unknown> } = {},
): Promise<void> {
  const deadline = performance.now() + timeout - 20_000;
  for (;;) {
    await runChecks(options.red);
    await options.each?.();
    if ((await queued()).length === 0) break;
    if (performance.now() > deadline)
      throw new Error(`still queued: ${JSON.stringify((await harness.server.store.listQueues())[0]?.state)}`);
    aheadMs += 5_000;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await harness.idle();
}

/** Every merge of the queue has the commit before it as its first parent, and as a part of its head. */
async function expectTested(numbers: readonly number[]): Promise<void> {
  for (const index of numbers) {
    const { merge_commit_sha: sha, head } = await read(index);
    const params = { ...at, sha: sha ?? '' };
    const { parents } = await harness.root.call(operations.getCommit, { params });
    const onto = parents?.[0]?.sha ?? '';
    const basehead = `${head?.sha}...${onto}`;
    const { total_commits: lacks } = await harness.root.call(operations.compare, {
      params: { ...at, basehead },
    });
    expect(lacks, `what the head of #${index} lacked of its base`).toBe(0);
  }
}

describe('a merge queue', { timeout }, () => {
  it('merges ten green pull requests in their order, each tested with those before it', async () => {
    await start();
    const numbers: number[] = [];
    for (let count = 0; count < 10; count += 1) {
      numbers.push(await lineUp(`work-${count}`, { [`${count}.txt`]: `${count}` }));
    }
    expect(await queued()).toEqual(numbers);

    await drain();

    expect(await mergedByQueue()).toEqual(numbers);
    await expectTested(numbers);
    // A forge that still checks a pull request answers 405, and is asked again.
    const merges = writesOf(harness).filter((request) => request.endsWith('/merge'));
    expect(new Set(merges).size).toBe(10);
  });

  it('lets the one go whose check fails, with a comment, and merges the others', async () => {
    await start();
    const [one, two, three] = [
      await lineUp('one', { 'one.txt': '1' }),
      await lineUp('two', { 'two.txt': '2' }),
      await lineUp('three', { 'three.txt': '3' }),
    ];
    await drain({ red: [two] });

    expect(await mergedByQueue()).toEqual([one, three]);
    expect(await left()).toEqual([[two, 'checks']]);
    expect(await stateOf(two)).toBe('open');
    expect((await commentsOf(two)).filter((body) => body?.includes('the check ci failed'))).toHaveLength(1);
    await expectTested([one, three]);
  });

  it('lets one go that conflicts with what was merged before it', async () => {
    await start();
    const one = await lineUp('one', { 'same.txt': 'one\n' });
    const two = await lineUp('two', { 'same.txt': 'two\n' });
    await drain();

    expect(await mergedByQueue()).toEqual([one]);
    expect(await left()).toEqual([[two, 'conflict']]);
  });

  it('tests again after a merge by hand, which is not its own', async () => {
    await start();
    const one = await lineUp('one', { 'one.txt': '1' });
    const beside = await harness.openPull('beside', { 'beside.txt': 'b' });
    let isDone = false;
    await drain({
      async each() {
        if (isDone) return;
        isDone = true;
        await harness.root.call(operations.mergePull, {
          params: { ...at, index: beside.number },
          body: { do: 'merge', force_merge: true },
        });
      },
    });

    expect(await mergedByQueue()).toEqual([one]);
    expect(await stateOf(beside.number)).toBe('merged');
    await expectTested([one]);
  });

  it('tells that someone wrote to the base between the last look and the merge, and stops until its checks passed', async () => {
    await start();
    const one = await lineUp('one', { 'one.txt': '1' });
    const two = await lineUp('two', { 'two.txt': '2' });
    let writes = 0;
    harness.proxy.decide = ({ method, path }) =>
      method === 'POST' && path.endsWith('/merge') && writes === 0
        ? {
            kind: 'pass',
            async before() {
              writes += 1;
              await addFile(harness.root, at, 'main', 'between.txt');
            },
          }
        : { kind: 'pass' };
    await drain({
      async each() {
        const { commit } = await harness.root.call(operations.getBranch, {
          params: { ...at, branch: 'main' },
        });
        const params = { ...at, sha: commit?.id ?? '' };
        const known = await harness.root.call(operations.listStatuses, { params });
        if (writes === 0 || known.length > 0 || (await mergedByQueue()).length === 0) return;
        await harness.root.call(operations.createStatus, {
          params,
          body: { context: 'ci', state: 'success' },
        });
      },
    });

    expect(await mergedByQueue()).toEqual([one, two]);
    const told = (await history()).filter(({ kind }) => kind === 'foreign-write');
    expect(told.map(({ number }) => number)).toEqual([one]);
    expect((await commentsOf(one)).join()).toContain('someone wrote to main');
    await expectTested([two]);
  });

  it('merges fast forward only, onto the base that was tested', async () => {
    await start('fast-forward-only');
    const one = await lineUp('one', { 'one.txt': '1' });
    const two = await lineUp('two', { 'two.txt': '2' });
    await drain();

    expect(await mergedByQueue()).toEqual([one, two]);
    const { commit } = await harness.root.call(operations.getBranch, { params: { ...at, branch: 'main' } });
    expect(commit?.id).toBe((await read(two)).head?.sha);
  });

  it('lets a pull request of a fork go that is behind, and merges one that is not', async () => {
    await start();
    await harness.ada.call(operations.createFork, { params: at, body: { name: 'copy' } });
    const fork = { owner: people.ada, repo: 'copy' };
    const numbers: number[] = [];
    for (const branch of ['theirs', 'late']) {
      await addFile(harness.ada, fork, branch, `${branch}.txt`);
      const body = { title: branch, head: `${people.ada}:${branch}`, base: 'main' };
      const { number } = await harness.ada.call(operations.createPull, { params: at, body });
      await addLabel(number);
      await expect.poll(queued, { timeout: 20_000 }).toContain(number);
      numbers.push(number);
    }
    await drain();

    expect(await mergedByQueue()).toEqual(numbers.slice(0, 1));
    expect(await left()).toEqual([[numbers[1], 'fork']]);
    expect(writesOf(harness).filter((request) => request.includes('/update'))).toEqual([]);
  });

  it('lets one go that is pushed to, closed, or no longer wanted', async () => {
    await start();
    const one = await lineUp('one', { 'one.txt': '1' });
    const closed = await lineUp('closed', { 'closed.txt': '1' });
    const unwanted = await lineUp('unwanted', { 'unwanted.txt': '1' });
    await harness.ada.call(operations.editPull, {
      params: { ...at, index: closed },
      body: { state: 'closed' },
    });
    const known = await harness.root.call(operations.listLabels, { params: at });
    const id = known.find(({ name }) => name === label)?.id ?? 0;
    const params = { ...at, index: unwanted, id };
    await harness.ada.call(operations.removeIssueLabel, { params });
    await addFile(harness.ada, at, 'one', 'more.txt');
    await expect.poll(left, { timeout: 30_000 }).toHaveLength(3);

    expect(Object.fromEntries(await left())).toEqual({
      [one]: 'pushed',
      [closed]: 'closed',
      [unwanted]: 'unwanted',
    });
    // With its label it enters again, with the new commit.
    await drain();
    expect(await mergedByQueue()).toEqual([one]);
  });

  it('goes on where it was, when every write of it ends with a restart', async () => {
    await start();
    const one = await lineUp('one', { 'one.txt': '1' });
    const two = await lineUp('two', { 'two.txt': '2' });
    const seen = new Set<string>();
    let restart: Promise<void> | undefined;
    harness.proxy.decide = ({ method, path }) => {
      const key = `${method} ${path.replace(/[0-9a-f]{40}/, 'SHA')}`;
      const count = [...seen].filter((one) => one.startsWith(key)).length;
      if (method === 'GET' || restart || count >= 2) return { kind: 'pass' };
      seen.add(`${key} ${count}`);
      restart = harness.restart().then(() => {
        restart = undefined;
      });
      // Once before the forge has it, once after.
      return count === 0 ? { kind: 'reset' } : { kind: 'lose' };
    };
    await drain({ each: async () => restart });

    expect(await mergedByQueue()).toEqual([one, two]);
    await expectTested([one, two]);
    expect(seen.size).toBeGreaterThan(6);
    for (const number of [one, two]) expect(await commentsOf(number)).toEqual([]);
  });

  it('is paused, changed and resumed by commands beside the running server, and the audit says by whom', async () => {
    await start();
    const [one, two, three] = [
      await lineUp('one', { 'one.txt': '1' }),
      await lineUp('two', { 'two.txt': '2' }),
      await lineUp('three', { 'three.txt': '3' }),
    ];
    await harness.idle();
    const repository = `${at.owner}/${at.repo}`;
    const run = async (...args: readonly string[]) => {
      const { status } = await reeve(['queue', ...args], { environment: { REEVE_DATA: harness.data } });
      return status;
    };

    expect(await run('pause', repository)).toBe(0);
    const from = harness.proxy.passed.length;
    await runChecks();
    aheadMs += 120_000;
    expect(await run('move', `${repository}#${three}`, '1')).toBe(0);
    expect(await run('remove', `${repository}#${two}`)).toBe(0);
    await harness.idle();
    expect(writesOf(harness, from)).toEqual([]);
    expect(await run('resume', repository)).toBe(0);
    await drain();

    expect(await mergedByQueue()).toEqual([three, one]);
    await expectTested([three, one]);
    expect(await left()).toEqual([[two, 'removed']]);
    expect((await commentsOf(two)).join()).toContain('by reeve queue');
    const audit = await harness.server.store.listAudit();
    expect(audit.map(({ action }) => action)).toEqual(['resume', 'remove', 'move', 'pause']);
    const password = (await readFile(join(harness.data, 'dashboard.password'), 'utf8')).trim();
    const operator = await signInWithPassword(harness.server.url, password);
    expect((await operator.get('/queues')).text).toContain(`<td>#${two}</td><td>left</td>`);
    const authorization = `Basic ${btoa(`prometheus:${password}`)}`;
    const metrics = await (
      await fetch(`${harness.server.url}/metrics`, { headers: { authorization } })
    ).text();
    expect(metrics).toMatch(/^reeve_merge_queue_merged_total 2$/m);
    expect(metrics).toMatch(/^reeve_merge_queue_removed_total\{reason="removed"\} 1$/m);
  });
});

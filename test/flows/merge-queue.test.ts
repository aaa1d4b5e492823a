import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { PullRequest } from '../../src/contract/resources/pulls.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { queueStateOf } from '../../src/work/merge-queue/state.ts';
import { reeve } from '../support/command.ts';
import { signInWithPassword } from '../support/dashboard-client.ts';
import { isThorough } from '../support/figure.ts';
import { cloneRepository, runGit } from '../support/git-client.ts';
import { at, type Harness, people } from '../support/harness.ts';
import { mergeByHand } from '../support/merge-by-hand.ts';
import { startOperatorHarness, writesOf } from '../support/operator-harness.ts';
import { addFile } from '../support/privilege-setup.ts';
import { reportChecks, requireStatuses } from '../support/queue/queue-repository.ts';
import { queueRules, shippedFiles } from '../support/shipped-rules.ts';

let harness: Harness;
/** How far the server's clock is ahead. Polls happen when this test advances it. */
let aheadMs = 0;
afterEach(async () => {
  aheadMs = 0;
  await harness.close();
});
const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
const label = 'merge-queue';
const timeout = 900_000;
/** Number of pull requests in the queue. */
const lineLength = isThorough ? 10 : 3;

const methods = ['merge', 'squash', 'rebase', 'rebase-merge', 'fast-forward-only'] as const;
/** A rule for each method, with a label of the same name. */
const rulesOfMethods = `version: 1
rules:
${methods
  .map(
    (method) => `  ${method}:
    on: { pull_request: [label_updated] }
    each: pull_request
    steps:
      - uses: queue-merge
        with: { when: 'labels.exists(l, l.name == "${method}")', method: ${method} }
`,
  )
  .join('')}`;

/** Starts with this rule file, by default with the shipped rules. */
async function start(yaml?: string): Promise<void> {
  const files = await shippedFiles(queueRules);
  harness = await startOperatorHarness(yaml ?? files['merge-queue.yml'] ?? '', {
    labels: [label, 'queue-first', ...methods],
    server: { clock, backoff: { firstMs: 50 } },
  });
  await harness.root.call(operations.editRepository, {
    params: at,
    body: {
      allow_fast_forward_only_merge: true,
      allow_squash_merge: true,
      allow_rebase: true,
      allow_rebase_explicit: true,
    },
  });
  await requireStatuses(harness.root, at);
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
const commitOf = (sha: string) => harness.root.call(operations.getCommit, { params: { ...at, sha } });
const tipOfMain = async (): Promise<string> => {
  const { commit } = await harness.root.call(operations.getBranch, { params: { ...at, branch: 'main' } });
  return commit?.id ?? '';
};
const mergedByQueue = async () =>
  (await history()).filter(({ kind }) => kind === 'merged').map(({ number }) => number);
const left = async () =>
  (await history()).filter(({ kind }) => kind === 'left').map(({ number, reason }) => [number, reason]);
const commentsOf = async (index: number) =>
  (await harness.root.call(operations.listComments, { params: { ...at, index } })).map(({ body }) => body);

async function lineUp(
  branch: string,
  files: Readonly<Record<string, string>>,
  wanted?: string,
): Promise<number> {
  const { number } = await harness.openPull(branch, files);
  await addLabel(number, wanted);
  await expect.poll(queued).toContain(number);
  return number;
}

async function addLabel(index: number, wanted = label): Promise<void> {
  const known = await harness.root.call(operations.listLabels, { params: at });
  const labels = known.filter(({ name }) => name === wanted).map(({ id }) => id);
  await harness.ada.call(operations.addIssueLabels, { params: { ...at, index }, body: { labels } });
}

const runChecks = (red: readonly number[] = []) =>
  reportChecks(harness.root, at, ({ number }) => red.includes(number));

/** Returns whether the server is handling something, or is restarting. */
async function isWorking(): Promise<boolean> {
  const counts = await harness.server.store.counts().catch(() => undefined);
  return counts === undefined || counts.accepted + counts.claimed > 0;
}

/** Reports CI results and advances time until the queue is empty. `each` runs once per round. */
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
    // Time advances only when the server has finished its current work, so that a busy machine makes nothing late.
    do await new Promise((resolve) => setTimeout(resolve, 100));
    while (await isWorking());
    aheadMs += 5_000;
  }
  await harness.idle();
}

/** Asserts that every merge of the queue has the commit before it as first parent, and contains it in its head. */
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
  it('merges green pull requests in order, each tested with those before it', async () => {
    await start();
    const numbers: number[] = [];
    for (let count = 0; count < lineLength; count += 1) {
      numbers.push(await lineUp(`work-${count}`, { [`${count}.txt`]: `${count}` }));
    }
    expect(await queued()).toEqual(numbers);

    await drain();

    expect(await mergedByQueue()).toEqual(numbers);
    await expectTested(numbers);
    // A forge that is still checking a pull request returns 405, and the merge is requested again.
    const merges = writesOf(harness).filter((request) => request.endsWith('/merge'));
    expect(new Set(merges).size).toBe(lineLength);
  });

  it('removes the pull request whose check fails, with a comment, and merges the others', async () => {
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

    // The history shows why each pull request was merged: the rule, the tested head and base, and the result. It also
    // shows the other writes.
    const events = await history();
    for (const number of [one, three]) {
      const merged = events.find((event) => event.kind === 'merged' && event.number === number);
      const run = await harness.server.store.readRun(merged?.run ?? '');
      const { head } = await read(number);
      expect(run?.trigger).toMatchObject({ kind: 'merge-queue', item: `${at.owner}/${at.repo}#${number}` });
      expect(run?.rules).toMatchObject([
        { verdict: 'matched', rule: expect.stringMatching(/#merge-queue$/) },
      ]);
      expect(run?.changes).toMatchObject([
        {
          rules: [run?.rules[0]?.rule],
          operation: operations.mergePull.id,
          target: `merge:#${number}`,
          before: { head: head?.sha, base: merged?.baseCommit },
          irreversible: 'a merge cannot be taken back: revert its commits',
        },
      ]);
      expect(run?.outcomes).toMatchObject([{ status: 'applied' }]);
    }
    const { items } = await harness.server.store.listRuns({ limit: 100 });
    const written = items
      .filter(({ trigger }) => trigger.kind === 'merge-queue')
      .flatMap(({ changes }) => changes.map(({ operation, target }) => `${operation} ${target}`));
    expect(new Set(written)).toEqual(
      new Set([
        ...[one, two, three].map((number) => `${operations.createStatus.id} status:#${number}`),
        ...[two, three].map((number) => `${operations.updatePull.id} update:#${number}`),
        `${operations.createComment.id} comment:#${two}`,
        ...[one, three].map((number) => `${operations.mergePull.id} merge:#${number}`),
      ]),
    );
    const last = events.findLast(({ kind }) => kind === 'merged')?.run ?? '';
    const explained = await reeve(['explain', last], { environment: harness.environment });
    expect(explained.out).toMatch(/its checks passed on [0-9a-f]{10}, which contains [0-9a-f]{10} of main/);
    const reverted = await reeve(['revert', last, '--plan'], { environment: harness.environment });
    expect(`${reverted.out}${reverted.error}`).toContain('a merge cannot be taken back');
  });

  it('removes a pull request that conflicts with an earlier merge', async () => {
    await start();
    const one = await lineUp('one', { 'same.txt': 'one\n' });
    const two = await lineUp('two', { 'same.txt': 'two\n' });
    await drain();

    expect(await mergedByQueue()).toEqual([one]);
    expect(await left()).toEqual([[two, 'conflict']]);
  });

  it.runIf(isThorough)('tests again after a manual merge, which it does not count as its own', async () => {
    await start();
    const one = await lineUp('one', { 'one.txt': '1' });
    const beside = await harness.openPull('beside', { 'beside.txt': 'b' });
    let isDone = false;
    await drain({
      async each() {
        if (isDone) return;
        isDone = true;
        await mergeByHand(harness.root, beside.number, { do: 'merge', force_merge: true });
      },
    });

    expect(await mergedByQueue()).toEqual([one]);
    expect(await stateOf(beside.number)).toBe('merged');
    await expectTested([one]);
  });

  it('reports a write to the base between the last check and the merge, and stops until the base passes its checks', async () => {
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

  it.runIf(isThorough)('merges the tested content onto the tested base with each method', async () => {
    await start(rulesOfMethods);
    const numbers: number[] = [];
    for (const method of methods) numbers.push(await lineUp(method, { [`${method}.txt`]: method }, method));
    const before = await tipOfMain();
    await drain();

    expect(await mergedByQueue()).toEqual(numbers);
    const merged = (await history()).filter(({ kind }) => kind === 'merged');
    let tip = before;
    const clone = await cloneRepository(harness.cloneFrom(people.ada));
    const treeOf = (sha: string) => clone.git('rev-parse', `${sha}^{tree}`);
    for (const [at, { number = 0, head = '', baseCommit = '' }] of merged.entries()) {
      const { merge_commit_sha: made } = await read(number);
      const result = await commitOf(made ?? '');
      const parents = result.parents?.map(({ sha }) => sha) ?? [];
      // The tested base is the result of the merge before it, with nothing in between.
      expect(baseCommit).toBe(tip);
      expect(await treeOf(made ?? '')).toBe(await treeOf(head));
      const method = methods[at];
      if (method === 'merge') expect(parents).toEqual([tip, head]);
      else if (method === 'rebase-merge') expect(parents[0]).toBe(tip);
      else if (method === 'fast-forward-only') expect(made).toBe(head);
      // Forgejo does not rebase a head that contains the base.
      else if (method === 'rebase' && made === head) expect(harness.forge.embedded).toBeUndefined();
      else expect(parents).toEqual([tip]);
      tip = made ?? '';
    }
    clone.remove();
    expect(await tipOfMain()).toBe(tip);
    expect((await history()).filter(({ kind }) => kind === 'foreign-write')).toEqual([]);
  });

  it("does not mistake a person's commit for its own update, and tests again when it cannot tell the difference", async () => {
    await start();
    const { email } = await harness.ada.call(operations.getSelf, {});
    const known = { name: 'Ada', email: email ?? '' };
    const unknown = { name: 'reeve', email: 'reeve@elsewhere.example' };
    const clone = await cloneRepository(harness.cloneFrom(people.ada), unknown);
    const cases = [
      { branch: 'by-ada', person: known, merges: 'origin/main' },
      { branch: 'not-of-base', person: unknown, merges: 'origin/beside' },
      { branch: 'not-to-tell', person: unknown, merges: 'origin/main' },
    ];
    const numbers: number[] = [];
    for (const { branch } of cases) numbers.push(await lineUp(branch, { [`${branch}.txt`]: '1' }));
    await addFile(harness.ada, at, 'beside', 'beside.txt');
    // The first pull request may already have its turn, and must not be updated before the person's push.
    const queue = (command: string) =>
      reeve(['queue', command, `${at.owner}/${at.repo}`], { environment: { REEVE_DATA: harness.data } });
    expect((await queue('pause')).status).toBe(0);
    await addFile(harness.root, at, 'main', 'moved.txt');
    await harness.idle();
    // Without events, the queue can recognize its update only by the commit.
    for (const { id } of await harness.root.call(operations.listHooks, { params: at })) {
      const params = { ...at, id: id ?? 0 };
      await harness.root.call(operations.editHook, { params, body: { active: false } });
    }
    const pushes = new Map<number, Promise<unknown>>();
    const push = async ({ branch, person, merges }: (typeof cases)[number]): Promise<void> => {
      await clone.git('fetch', '--quiet', 'origin');
      await clone.git('checkout', '--quiet', '-B', branch, `origin/${branch}`);
      const identity = ['-c', `user.name=${person.name}`, '-c', `user.email=${person.email}`];
      await runGit(clone.folder, [...identity, 'merge', '--quiet', '--no-ff', '-m', 'Merge', merges], person);
      await clone.git('push', '--quiet', 'origin', branch);
    };
    // None of the queue's updates arrives, because a person is faster and the request is lost.
    harness.proxy.decide = ({ path }) => {
      const number = Number(/\/pulls\/(\d+)\/update/.exec(path)?.[1] ?? 0);
      const made = cases[numbers.indexOf(number)];
      if (made === undefined) return { kind: 'pass' };
      if (!pushes.has(number)) pushes.set(number, push(made));
      return { kind: 'reset' };
    };
    expect((await queue('resume')).status).toBe(0);
    await drain({ red: numbers.slice(2), each: () => Promise.all(pushes.values()) });
    clone.remove();

    // Each pull request leaves the queue once. On a busy machine, catching up may find one that was pushed to, and
    // enqueue it again.
    const reasons = new Map((await left()).toReversed() as [number, string][]);
    expect([...reasons].toSorted(([a], [b]) => a - b)).toEqual([
      [numbers[0], 'pushed'],
      [numbers[1], 'pushed'],
      [numbers[2], 'checks'],
    ]);
    expect(pushes.size).toBe(3);
    expect(await mergedByQueue()).toEqual([]);
  });

  it('removes a pull request from a fork that is behind, and merges one that is not', async () => {
    await start();
    await harness.ada.call(operations.createFork, { params: at, body: { name: 'copy' } });
    const fork = { owner: people.ada, repo: 'copy' };
    const numbers: number[] = [];
    for (const branch of ['theirs', 'late']) {
      await addFile(harness.ada, fork, branch, `${branch}.txt`);
      const body = { title: branch, head: `${people.ada}:${branch}`, base: 'main' };
      const { number } = await harness.ada.call(operations.createPull, { params: at, body });
      await addLabel(number);
      await expect.poll(queued).toContain(number);
      numbers.push(number);
    }
    await drain();

    expect(await mergedByQueue()).toEqual(numbers.slice(0, 1));
    expect(await left()).toEqual([[numbers[1], 'fork']]);
    expect(writesOf(harness).filter((request) => request.includes('/update'))).toEqual([]);
  });

  it('removes a pull request that is pushed to, closed, or no longer labelled', async () => {
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
    await expect.poll(left).toHaveLength(3);

    expect(Object.fromEntries(await left())).toEqual({
      [one]: 'pushed',
      [closed]: 'closed',
      [unwanted]: 'unwanted',
    });
    // The pull request that was pushed to still has its label, so it enters again with the new commit.
    await expect.poll(queued).toEqual([one]);
    await drain();
    expect(await mergedByQueue()).toEqual([one]);
  });

  it.runIf(isThorough)('resumes where it stopped if the server restarts at each of its writes', async () => {
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
      // Each write fails once before the forge receives it, and once after.
      return count === 0 ? { kind: 'reset' } : { kind: 'lose' };
    };
    await drain({ each: async () => restart });

    expect(await mergedByQueue()).toEqual([one, two]);
    await expectTested([one, two]);
    expect(seen.size).toBeGreaterThan(6);
    for (const number of [one, two]) expect(await commentsOf(number)).toEqual([]);
    const found = (await history()).find(({ kind, number }) => kind === 'merged' && number === one);
    const run = await harness.server.store.readRun(found?.run ?? '');
    expect(run?.outcomes).toMatchObject([{ status: 'applied' }]);
    expect(run?.changes[0]?.reason).toMatch(/there was no answer, and the next look found it done$/);
  });

  it.runIf(isThorough)(
    'is paused, changed and resumed by commands while the server runs, and the audit names the actor',
    async () => {
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

      const beside = (...args: readonly string[]) =>
        reeve(args, { environment: { ...harness.environment, REEVE_RULES: harness.rules ?? '' } });
      expect(await beside('pause', 'merge-queue')).toMatchObject({ status: 0 });
      // This is longer than the timeout that applies once a pull request has its turn.
      aheadMs += 7_200_000;
      expect(await run('resume', repository)).toBe(0);
      await harness.idle();
      expect(writesOf(harness, from)).toEqual([]);
      const { out } = await beside('queue', 'list');
      expect(out).toMatch(new RegExp(`#${three} .*the end of a pause: rule merge-queue is paused since`));
      expect(out).toContain('reeve resume merge-queue ends it');
      expect(await beside('resume', 'merge-queue')).toMatchObject({ status: 0 });
      // Only the end of the pause wakes the queue.
      await expect.poll(() => writesOf(harness, from)).not.toEqual([]);
      await drain();

      expect(await mergedByQueue()).toEqual([three, one]);
      await expectTested([three, one]);
      expect(await left()).toEqual([[two, 'removed']]);
      expect((await commentsOf(two)).join()).toContain('by reeve queue');
      const audit = await harness.server.store.listAudit();
      expect(audit.map(({ action }) => action)).toEqual([
        'resume',
        'resume',
        'pause',
        'remove',
        'move',
        'pause',
      ]);
      const password = (await readFile(join(harness.data, 'dashboard.password'), 'utf8')).trim();
      const operator = await signInWithPassword(harness.server.url, password);
      expect((await operator.get('/queues')).text).toMatch(
        new RegExp(
          `#${two}</span></a></div></td><td [^>]*><div><a [^>]*>left<|#${two}</span></a></div></td><td [^>]*><div>left<`,
        ),
      );
      const authorization = `Basic ${btoa(`prometheus:${password}`)}`;
      const metrics = await (
        await fetch(`${harness.server.url}/metrics`, { headers: { authorization } })
      ).text();
      expect(metrics).toMatch(/^reeve_merge_queue_merged_total 2$/m);
      expect(metrics).toMatch(/^reeve_merge_queue_removed_total\{reason="removed"\} 1$/m);
    },
  );
});

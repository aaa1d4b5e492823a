import { join } from 'node:path';
import { type Client, createClient } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
import { createForgeInstance } from '../../src/forge/forge.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { editQueue, enterQueue } from '../../src/work/merge-queue/edits.ts';
import { lookAtQueue } from '../../src/work/merge-queue/look.ts';
import { sendQueueAttempt, sendQueueWrite } from '../../src/work/merge-queue/send.ts';
import { queueStateOf } from '../../src/work/merge-queue/state.ts';
import { type QueuePorts, workOnQueue } from '../../src/work/merge-queue/work.ts';
import { benchRow, type Measure, onStage } from './runner.ts';

const at = { owner: 'root', repo: 'queued' };
const checkMs = 10_000;
const request = { method: 'merge', priority: 0, timeoutMs: 3_600_000, forks: false } as const;

/**
 * Measures the requests per pull request of a merge queue whose checks take 10 s, on the embedded forge with a
 * simulated clock.
 */
export const measure: Measure = ({ quick }) =>
  onStage(async ({ folder: data, defer }) => {
    const count = quick ? 8 : 50;
    let nowMs = Date.now();
    const now = (): Date => new Date(nowMs);
    const forge = await createForgeInstance({ clock: now, data: join(data, 'forge') });
    defer(forge.close);
    const store = await openSqliteStore({
      path: join(data, 'reeve.db'),
      role: 'worker',
      clock: { ...systemClock, now },
    });
    defer(store.close);
    await forge.createAdministrator({ name: 'root', password: 'password-of-root' });
    const url = await forge.listen({ port: 0 });
    const root = createClient({ url, credentials: { user: 'root', password: 'password-of-root' } });
    const { id: repositoryId } = await arrange(root);
    const repository = { id: repositoryId, owner: at.owner, name: at.repo };
    const place = { repositoryId, base: 'main', repository: `${at.owner}/${at.repo}` };
    for (let number = 1; number <= count; number += 1) {
      const head = await openPull(root, number);
      nowMs += 1_000;
      await editQueue(store, place, enterQueue({ number, head, rule: 'bench', request }, now(), 'main'));
    }
    const client = root.counted();
    const account = await root.call(operations.getSelf, {});
    const sending = { client, account, repository, base: 'main', onRefused: () => {} };
    const tally = { polls: 0, looks: 0, writes: 0 };
    const memory = createFactMemory(systemClock);
    const ports: QueuePorts = {
      rows: store,
      now,
      waitMs: async () => 0,
      async look(state, about) {
        const before = client.requests;
        const seen = await lookAtQueue({ client, account, repository, now, judge }, state, about);
        tally.looks += client.requests - before;
        // Each poll reads the pull request, its base and its statuses; the other requests are sent only once.
        tally.polls += Math.min(client.requests - before, seen.base ? 3 : 1);
        return seen;
      },
      async write(write) {
        await sendQueueWrite(write, sending);
        tally.writes += 1;
      },
      async attempt(action) {
        tally.writes += 1;
        return sendQueueAttempt(action, sending);
      },
    };
    const judge: Parameters<typeof lookAtQueue>[0]['judge'] = async ({ number: index }) => ({
      wanted: { state: 'yes', request },
      facts: createFacts({
        client,
        subject: { kind: 'pull_request', repository, index },
        memory,
        clock: systemClock,
      }),
    });
    const seenAt = new Map<string, number>();
    while (queueStateOf(await store.readQueue(place)).entries.length > 0) {
      await runChecks(root, seenAt, nowMs);
      const { afterMs = 1_000 } = await workOnQueue(place, ports);
      nowMs += Math.max(afterMs, 1);
    }
    const merged = (await store.listQueueHistory({ limit: 500 })).filter(({ kind }) => kind === 'merged');
    if (merged.length !== count) throw new Error(`${merged.length} of ${count} were merged`);
    const once = (client.requests - tally.polls) / count;
    const name = `a merge queue of ${count}, checks of 10 s`;
    return [
      benchRow({
        name: `${name}: requests of each beside polling`,
        value: once,
        unit: 'requests',
        target: '<= 6',
      }),
      benchRow({
        name: `${name}: requests of each in all`,
        value: client.requests / count,
        unit: 'requests',
      }),
    ];
  });

async function arrange(root: Client) {
  const repository = await root.call(operations.createRepository, {
    body: { name: at.repo, auto_init: true, default_branch: 'main' },
  });
  const body = { rule_name: 'main', enable_status_check: true, status_check_contexts: ['ci', 'reeve/queue'] };
  await root.call(operations.createBranchProtection, { params: at, body });
  return repository;
}

async function openPull(root: Client, number: number): Promise<string> {
  const branch = `work-${number}`;
  const params = { ...at, filepath: `${number}.txt` };
  const body = {
    content: Buffer.from('x').toString('base64'),
    message: 'Work',
    branch: 'main',
    new_branch: branch,
  };
  await root.call(operations.createFile, { params, body });
  const pull = await root.call(operations.createPull, {
    params: at,
    body: { title: branch, head: branch, base: 'main' },
  });
  return pull.head?.sha ?? '';
}

/** Reports the success of CI for each head that has been checked for long enough. */
async function runChecks(root: Client, seenAt: Map<string, number>, nowMs: number): Promise<void> {
  for await (const { head } of root.items(operations.listPulls, { params: at, query: { state: 'open' } })) {
    const sha = head?.sha ?? '';
    const since = seenAt.get(sha) ?? nowMs;
    seenAt.set(sha, since);
    if (nowMs - since < checkMs || since < 0) continue;
    seenAt.set(sha, Number.NEGATIVE_INFINITY);
    await root.call(operations.createStatus, {
      params: { ...at, sha },
      body: { context: 'ci', state: 'success' },
    });
  }
}

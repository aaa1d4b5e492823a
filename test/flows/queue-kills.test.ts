import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { queueStateOf } from '../../src/work/merge-queue/state.ts';
import { authorization, secret } from '../support/bot-hook.ts';
import { builtProgram } from '../support/built-program.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { isThorough } from '../support/figure.ts';
import { type FlowForge, startFlowForge } from '../support/flow-forge.ts';
import { acme, people } from '../support/flow-names.ts';
import { addFile } from '../support/privilege-setup.ts';
import { watchProcess } from '../support/processes.ts';
import {
  makeQueueRepository,
  newestQueueStatus,
  queueRules,
  type RepositoryAt,
  reportChecks,
} from '../support/queue/queue-repository.ts';
import type { ServeOptions } from '../support/queue/serve-process.ts';

/** A server in its own process, which can be killed and restarted with the same data and port. */
interface KilledServer {
  readonly port: number;
  /** Store of the server, read by the test process. */
  readonly store: Store;
  /** Kills the process with SIGKILL, and resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts the process again if it was killed. */
  revive(): Promise<void>;
  /** Advances the server's clock by this many milliseconds. */
  advance(ms: number): void;
  close(): Promise<void>;
}

/** Starts the server on a free port. */
async function startKilledServer(options: Omit<ServeOptions, 'port' | 'aheadMs'>): Promise<KilledServer> {
  let aheadMs = 0;
  let port = 0;
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const given = JSON.stringify({ ...options, port, aheadMs } satisfies ServeOptions);
    child = watchProcess(fork(builtProgram('serve-process'), [given], { execArgv: [] }));
    port = await portOf(child);
  };
  await start();
  const store = await openSqliteStore({ path: join(options.data, 'reeve.db'), role: 'reader' });
  const kill = async (): Promise<void> => {
    const dying = child;
    child = undefined;
    if (dying === undefined) return;
    const gone = once(dying, 'exit');
    dying.kill('SIGKILL');
    await gone;
  };
  return {
    port,
    store,
    kill,
    async revive() {
      if (child === undefined) await start();
    },
    advance(ms) {
      aheadMs += ms;
      child?.send({ aheadMs });
    },
    async close() {
      await kill();
      await store.close();
    },
  };
}

async function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('message', ({ port }: { readonly port: number }) => resolve(port));
    child.once('exit', (code) => reject(new Error(`the server ended with ${code} before it listened`)));
  });
}

/** Kills the process at its k-th write request: before the forge receives it, or after the forge has answered it. */
type Kill = { readonly at: number; readonly when: 'before' | 'after' };

let folder: string;
let forge: FlowForge;
let root: Client;
let token: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-kills-'));
  forge = await startFlowForge({ data: folder });
  root = await forge.makePerson(people.root, { isAdministrator: true });
  await forge.makePerson(people.bot);
  await root.call(operations.createOrganization, { body: { username: acme } });
  const scopes = ['read:user', 'read:organization', 'write:repository', 'write:issue'];
  ({ token } = await forge.makeToken(people.bot, scopes));
  await writeFile(join(folder, 'rules.yml'), queueRules);
});
afterAll(async () => {
  await forge.close();
  await rm(folder, { recursive: true, force: true });
});

type Place = { readonly at: RepositoryAt; readonly id: number };

let places = 0;
function makePlace(): Promise<Place> {
  places += 1;
  return makeQueueRepository(root, { owner: acme, name: `killed-${places}`, bot: people.bot });
}

/** Reports CI results, advances time, and restarts the server after each kill, until the condition holds. */
async function until(place: Place, server: KilledServer, holds: () => Promise<boolean>): Promise<void> {
  for (;;) {
    await server.revive();
    await reportChecks(root, place.at);
    if (await holds()) return;
    const { accepted, claimed } = await server.store.counts();
    // Time advances only while the server is idle, so that a busy machine makes nothing late.
    if (accepted + claimed === 0) server.advance(5_000);
    // A real server checks in the background, by its own clock, whether a pull request can be merged.
    await sleep(forge.embedded ? 50 : 300);
  }
}

/** Lets the queue merge two pull requests, and returns its writes and the place. */
async function play(kill?: Kill): Promise<{ readonly place: Place; readonly written: readonly string[] }> {
  const place = await makePlace();
  const { at } = place;
  const data = join(folder, at.repo);
  const proxy = await startFaultProxy(forge.url);
  const server = await startKilledServer({
    url: proxy.url,
    token,
    data,
    rules: folder,
    repository: `${at.owner}/${at.repo}`,
  });
  const written: string[] = [];
  proxy.decide = ({ method, path }) => {
    if (method === 'GET') return { kind: 'pass' };
    written.push(path.split('?')[0] ?? '');
    if (written.length !== kill?.at) return { kind: 'pass' };
    if (kill.when === 'after') return { kind: 'pass', after: () => server.kill() };
    void server.kill();
    return { kind: 'hang' };
  };
  try {
    await root.call(operations.createHook, {
      params: at,
      body: {
        type: 'gitea',
        active: true,
        events: ['push', 'pull_request', 'status'],
        config: { url: `http://127.0.0.1:${server.port}/webhook`, content_type: 'json', secret },
        authorization_header: authorization,
      },
    });
    const readState = async () =>
      queueStateOf((await server.store.listQueues({ repositoryId: place.id }))[0]);
    // Both pull requests start from the current base, so the second one must be updated.
    for (const name of ['one', 'two']) await addFile(root, at, name, `${name}.txt`);
    for (const name of ['one', 'two']) {
      await root.call(operations.createPull, { params: at, body: { title: name, head: name, base: 'main' } });
      // The pull requests enter in this order, or have already left the queue.
      const number = name === 'one' ? 1 : 2;
      const hasEntered = async (): Promise<boolean> =>
        (await server.store.listQueueHistory({ repositoryId: place.id })).some(
          (row) => row.number === number,
        );
      await until(place, server, hasEntered);
    }
    await until(place, server, async () => {
      const { entries, outbox } = await readState();
      return entries.length + outbox.length === 0;
    });
    return { place, written };
  } finally {
    await server.close();
    await proxy.close();
  }
}

/** Returns the merges into a branch, oldest first, with what each of them merged. */
async function mergesInto({ at }: Place, branch: string) {
  const { commit } = await root.call(operations.getBranch, { params: { ...at, branch } });
  const merges: { readonly sha: string; readonly merged: string | undefined }[] = [];
  for (let sha = commit?.id; sha; ) {
    const { parents } = await root.call(operations.getCommit, { params: { ...at, sha } });
    const [before, ...merged] = (parents ?? []).map((parent) => parent.sha);
    if (before) merges.unshift({ sha, merged: merged.join() });
    sha = before;
  }
  return merges;
}

/**
 * Asserts that both pull requests were merged once and in order, that the second one was tested with the first, and
 * that nothing else was reported.
 */
async function expectMerged(place: Place): Promise<void> {
  const { at } = place;
  const read = (index: number) => root.call(operations.getPull, { params: { ...at, index } });
  const pulls = [await read(1), await read(2)];
  expect(pulls.map(({ merged, merged_by }) => [merged, merged_by?.login])).toEqual([
    [true, people.bot],
    [true, people.bot],
  ]);
  const [one = '', two = ''] = pulls.map(({ head }) => head?.sha ?? '');
  const merges = await mergesInto(place, 'main');
  expect(
    merges.map(({ merged }) => merged),
    'what was merged, in order',
  ).toEqual([one, two]);
  const basehead = `${two}...${merges[0]?.sha}`;
  const { total_commits: lacks } = await root.call(operations.compare, { params: { ...at, basehead } });
  expect(lacks, 'what the second one lacked of the first').toBe(0);
  for (const { number, head } of pulls) {
    const comments = await root.call(operations.listComments, { params: { ...at, index: number } });
    expect(comments.map(({ body }) => body)).toEqual([]);
    expect(await newestQueueStatus(root, at, head?.sha ?? '')).toBe('success');
  }
}

describe('a merge queue whose process is killed', () => {
  it('merges each pull request once, tested and in order, regardless of the write at which it is killed', async () => {
    const { place, written } = await play();
    await expectMerged(place);
    const kinds = written.map((path) => path.split('/').at(-1) ?? '');
    expect(kinds.filter((kind) => kind === 'merge' || kind === 'update')).toEqual([
      'merge',
      'update',
      'merge',
    ]);
    const all = written.flatMap((_path, index) =>
      (['before', 'after'] as const).map((when): Kill => ({ at: index + 1, when })),
    );
    // A normal run tries a few kills at the writes that must not be repeated, alternately before and after the write.
    const attempts = all.filter(({ at }) => ['merge', 'update'].includes(kinds[at - 1] ?? ''));
    const sample = attempts.filter(({ when }, index) => (when === 'after') === index < 4);
    // A normal run skips the kill at the first merge, and includes one at the second merge.
    const usual = isThorough ? sample : sample.slice(1);
    const kills = process.env.LONG ? all : usual;

    const lane = async (): Promise<void> => {
      for (let kill = kills.shift(); kill; kill = kills.shift()) {
        const played = await play(kill);
        await expectMerged(played.place).catch((error: unknown) => {
          throw new Error(`killed ${kill?.when} write ${kill?.at} (${kinds[(kill?.at ?? 1) - 1]})`, {
            cause: error,
          });
        });
      }
    };
    // The lanes run concurrently, because the processes wait most of their time.
    await Promise.all([lane(), lane(), lane()]);
  });
});

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/forge/platform/database.ts';
import { start, waitForOutput } from '../support/command.ts';
import { basic } from '../support/contract-forge.ts';
import { startReceiver } from '../support/hook-receiver.ts';
import { findDifferences, findUntold } from '../support/kill/differences.ts';
import {
  type ConfirmedWrite,
  type KindOfWrite,
  kindsOfWrite,
  prepareWrites,
} from '../support/kill/kinds-of-write.ts';

/** Minimum number of kills, and of confirmed writes. */
const [kills, writes] = process.env.LONG ? [40, 1_000] : [3, 20];
/** Maximum number of writes per kind between two kills, so that quick writes leave room for slow ones. */
const perRound = 2;

const timeout = process.env.LONG ? 3_600_000 : 600_000;

describe('the embedded forge killed in the middle of writes', { timeout }, () => {
  let data: string;
  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), 'killed-'));
  });
  afterEach(() => rmSync(data, { recursive: true, force: true }));

  async function open() {
    const args = ['forge', '--port', '0', '--data', data, '--admin', 'root:password', '--json'];
    const child = start(args);
    const line = /\{"url":"([^"]+)"\}/.exec(await waitForOutput(child, /\{"url"/));
    const url = line?.[1] ?? '';
    const ask = async (method: string, path: string, body?: unknown) => {
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: { ...basic('root', 'password'), 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
      return { status: response.status, json: (text === '' ? undefined : JSON.parse(text)) as any };
    };
    const kill = async (signal: NodeJS.Signals): Promise<void> => {
      const gone = once(child, 'exit');
      child.kill(signal);
      await gone;
    };
    return { url, ask, kill };
  }

  it('keeps every confirmed write of every kind, and keeps git and the database consistent', async () => {
    const confirmed: ConfirmedWrite[] = [];
    let server = await open();
    const prepared = await prepareWrites(server.ask, server.url);
    let round = 0;
    for (; round < kills || confirmed.length < writes; round += 1) {
      let isOver = false;
      const { url, ask, kill } = server;
      const writer = async (kind: string, write: KindOfWrite): Promise<void> => {
        for (let at = 0; !isOver && at < perRound; at += 1) {
          const name = `${kind.replaceAll(' ', '-')}-${round}-${at}`;
          const found = await write({ url, ask, name, ...prepared }).catch(() => undefined);
          if (found) confirmed.push({ kind, name, found });
          // A write that is refused immediately lets other writes run.
          else await new Promise((resolve) => setTimeout(resolve, 5));
        }
      };
      const writers = Object.entries(kindsOfWrite).map(([kind, write]) => writer(kind, write));
      // Kills at a different moment in each round, while these writes take effect. In every fifth round all writes
      // complete, because a merge is the last of three writes.
      const enough = round % 5 === 4 ? Number.POSITIVE_INFINITY : confirmed.length + 5 + ((round * 7) % 30);
      let isDone = false;
      const all = Promise.all(writers).then(() => {
        isDone = true;
      });
      while (confirmed.length < enough && !isDone) {
        await new Promise((resolve) => setTimeout(resolve, round % 7));
      }
      await kill('SIGKILL');
      isOver = true;
      await all;
      server = await open();
    }

    const lost: string[] = [];
    for (const { kind, name, found } of confirmed) {
      if (!(await found(server))) lost.push(`${kind}: ${name}`);
    }
    expect(lost).toEqual([]);
    expect(await findUntold(server.ask, data)).toEqual([]);
    await server.kill('SIGTERM');
    prepared.work.remove();
    expect(findDifferences(data)).toEqual([]);
    const counts = Object.keys(kindsOfWrite).map((kind) => [
      kind,
      confirmed.filter((write) => write.kind === kind).length,
    ]);
    if (process.env.LONG) {
      const told = JSON.stringify(Object.fromEntries(counts));
      process.stdout.write(`${confirmed.length} writes, ${round} kills: ${told}\n`);
      expect(counts.filter(([, count]) => count === 0)).toEqual([]);
    }
  });

  it('reconciles a repository whose push was interrupted, and removes a half-created one', async () => {
    const first = await open();
    await first.ask('POST', '/user/repos', { name: 'pushed' });
    await first.ask('POST', '/user/repos', { name: 'half' });
    await first.kill('SIGTERM');
    // This is the state left by a process that died after git moved a branch, or before git created the folder.
    const db = openDatabase(join(data, 'forge.db'));
    const idOf = (name: string) =>
      db.get<{ id: number }>('SELECT id FROM repositories WHERE name = ?', name)?.id ?? 0;
    const folder = join(data, 'repositories', `${idOf('pushed')}.git`);
    commitTo(folder, 'trunk');
    db.run(
      `INSERT INTO unfinished (repo_id, work) VALUES (?, 'pushing'), (?, 'creating')`,
      idOf('pushed'),
      idOf('half'),
    );
    rmSync(join(data, 'repositories', `${idOf('half')}.git`), { recursive: true });
    db.close();

    const second = await open();

    const { json } = await second.ask('GET', '/repos/root/pushed');
    const half = await second.ask('GET', '/repos/root/half');
    const again = await second.ask('POST', '/user/repos', { name: 'half' });
    await second.kill('SIGTERM');
    expect([json.empty, json.default_branch, half.status, again.status]).toEqual([false, 'trunk', 404, 201]);
  });

  it('resumes the deliveries that were waiting', async () => {
    let isWell = false;
    const receiver = await startReceiver(() => (isWell ? { status: 200 } : undefined));
    const first = await open();
    await first.ask('POST', '/user/repos', { name: 'r' });
    const config = { url: receiver.url, content_type: 'json' };
    const hook = { type: 'gitea', config, events: ['issues'], active: true };
    await first.ask('POST', '/repos/root/r/hooks', hook);
    const count = 12;
    for (let at = 0; at < count; at += 1) await first.ask('POST', '/repos/root/r/issues', { title: `${at}` });
    await first.kill('SIGKILL');
    const before = receiver.received.length;
    isWell = true;

    const second = await open();

    // Four deliveries were in progress to a receiver that never answered. They are lost, as in Gitea.
    await expect.poll(() => receiver.received.length).toBe(before + count - 4);
    const titles = receiver.payloads('issues').map(({ issue }) => issue.title);
    await second.kill('SIGTERM');
    await receiver.close();
    expect(new Set(titles).size).toBe(count);
  });
});

function commitTo(folder: string, branch: string): void {
  const environment = {
    ...process.env,
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@localhost',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@localhost',
  };
  const git = (input: string, ...args: string[]) =>
    execFileSync('git', args, { cwd: folder, input, env: environment, encoding: 'utf8' }).trim();
  const tree = git('', 'mktree');
  const commit = git('message\n', 'commit-tree', '-F', '-', tree);
  git('', 'update-ref', `refs/heads/${branch}`, commit);
}

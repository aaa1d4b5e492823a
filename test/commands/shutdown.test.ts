import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { finished, printed, start } from '../support/command.ts';
import { type StuckForge, startStuckForge, stuckAnswers } from '../support/stuck-forge.ts';

// A stop that has to be forced ends with status 1, 9.5 s after the signal: status 0 says that everything was closed before.

const authorization = 'a-value-that-only-the-hook-knows';
const rules = `version: 1
rules:
  labelled:
    on: { schedule: "17 3 * * *" }
    each: repository
    steps: [{ uses: sync-labels, with: { labels: [{ name: kept, color: ff0000 }] } }]
`;

let folder: string;
let forge: StuckForge;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-shutdown-'));
});
afterEach(async () => {
  await forge?.close();
  await rm(folder, { recursive: true, force: true });
});

const environment = (more: Record<string, string> = {}): Record<string, string> => ({
  FORGE_URL: forge.url,
  FORGE_TOKEN: 'a-token-of-the-account-of-the-bot',
  WEBHOOK_AUTHORIZATION: authorization,
  REEVE_DATA: join(folder, 'data'),
  PORT: '0',
  ...more,
});

const push = (repository: number): RequestInit => ({
  method: 'POST',
  headers: {
    authorization,
    'content-type': 'application/json',
    'x-gitea-delivery': `delivery-${repository}`,
    'x-gitea-event': 'push',
    'x-gitea-event-type': 'push',
  },
  body: JSON.stringify({
    ref: 'refs/heads/main',
    before: '0',
    after: '1',
    repository: { id: repository, full_name: `acme/r${repository}`, owner: { id: 1, login: 'acme' } },
    sender: { id: 2, login: 'ada' },
  }),
});

/** Starts the bot and waits until it listens; the stuck forge holds it up for 5 s. */
async function listening(more?: Record<string, string>) {
  const child = start(['serve'], { environment: environment(more) });
  const ended = finished(child);
  const said = await printed(child, /"listening"/);
  return { child, ended, url: /"url":"([^"]+)"/.exec(said)?.[1] ?? '' };
}

describe.each(Object.keys(stuckAnswers) as (keyof typeof stuckAnswers)[])('while the forge %s', (answer) => {
  beforeEach(async () => {
    forge = await startStuckForge(answer);
  });

  it('SIGTERM ends the process and gives back the deliveries that are being handled', async () => {
    const { child, ended, url } = await listening();
    for (const repository of [1, 2, 3]) {
      expect((await fetch(`${url}/webhook`, push(repository))).status).toBe(202);
    }
    const path = join(folder, 'data', 'reeve.db');
    const store = await openSqliteStore({ path, role: 'reader' });
    // The three, and the jobs that catch up and read the rules.
    await expect.poll(async () => (await store.counts()).claimed).toBe(5);
    child.kill('SIGTERM');

    const { status, error } = await ended;
    expect(error).not.toContain('could be closed');
    expect(status).toBe(0);
    expect(await store.counts()).toMatchObject({ accepted: 5, claimed: 0, retry: 0, dead: 0 });
    const { items } = await store.listDeliveries();
    expect(items.map(({ attempts }) => attempts)).toEqual([0, 0, 0, 0, 0]);
    await store.close();
  });

  it('a second signal ends the process at once', async () => {
    const { child, ended, url } = await listening();
    await fetch(`${url}/webhook`, push(1));
    await forge.asked(2);
    child.kill('SIGTERM');
    await printed(child, /"stopping"/);
    child.kill('SIGTERM');

    expect((await ended).status).toBe(128 + 15);
  });

  it('a process that is killed spends no attempt of the deliveries that were in flight together', async () => {
    const { child, ended, url } = await listening();
    for (const repository of [1, 2, 3]) await fetch(`${url}/webhook`, push(repository));
    const path = join(folder, 'data', 'reeve.db');
    const reader = await openSqliteStore({ path, role: 'reader' });
    await expect.poll(async () => (await reader.counts()).claimed).toBe(5);
    await reader.close();
    child.kill('SIGKILL');
    await ended;

    const store = await openSqliteStore({ path, role: 'worker' });
    const { items } = await store.listDeliveries();
    expect(items.map(({ state, attempts, crashes }) => ({ state, attempts, crashes }))).toEqual(
      Array.from({ length: 5 }, () => ({ state: 'accepted', attempts: 0, crashes: 0 })),
    );
    await store.close();
  });

  it('SIGTERM ends a sweep that is run by hand', async () => {
    await writeFile(join(folder, 'rules.yml'), rules);
    const child = start(['sweep', 'labelled'], {
      environment: environment({ REEVE_RULES: join(folder, 'rules.yml') }),
    });
    const ended = finished(child);
    await forge.asked(2);
    child.kill('SIGTERM');

    expect((await ended).status).toBe(130);
  });
});

describe('asked to stop before it is up', () => {
  it.each([
    ['SIGTERM', 'sends headers and never a body'],
    ['SIGHUP', 'never answers'],
    ['SIGINT', 'never answers'],
  ] as const)('%s ends the process while the forge %s', async (signal, answer) => {
    forge = await startStuckForge(answer);
    const child = start(['serve'], { environment: environment() });
    const ended = finished(child);
    await forge.asked(1);
    child.kill(signal);

    expect(await ended).toMatchObject({ status: 0, error: '' });
  });
});

describe('without a forge that hangs', () => {
  beforeEach(async () => {
    forge = await startStuckForge('never answers');
  });

  it('SIGTERM ends the embedded forge', async () => {
    const child = start(['forge', '--port', '0', '--data', join(folder, 'forge'), '--json']);
    const ended = finished(child);
    await printed(child, /"url"/);
    child.kill('SIGTERM');

    expect((await ended).status).toBe(0);
  });

  it('SIGTERM ends the demo before its end, which leaves no temporary folder', async () => {
    const child = start(['serve', '--once'], { environment: { TMPDIR: folder } });
    const ended = finished(child);
    await printed(child, /^forge/m);
    child.kill('SIGTERM');

    expect(await ended).toMatchObject({ status: 1, error: '' });
    expect(await readdir(folder)).toEqual([]);
  });
});

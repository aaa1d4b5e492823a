import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { start, waitForExit, waitForOutput } from '../../support/command.ts';
import { isThorough } from '../../support/figure.ts';
import { type StuckForge, startStuckForge, stuckAnswers } from '../../support/stuck-forge.ts';

// A forced stop ends with status 1, 9.5 s after the signal; status 0 shows that everything was closed before that.

const authorization = 'a-value-that-only-the-hook-knows';
const rules = `version: 1
rules:
  labelled:
    on: { schedule: "17 3 * * *" }
    each: repository
    steps: [{ uses: sync-labels, with: { labels: [{ name: kept, color: ff0000 }] } }]
`;

type Place = { readonly folder: string; readonly forge: StuckForge; readonly children: ChildProcess[] };

// Each test waits for seconds, so the tests run concurrently, each with a folder and forge of its own.
const it = test.extend<{ place: Place; answer: keyof typeof stuckAnswers }>({
  answer: 'never answers',
  place: async ({ answer }, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'reeve-shutdown-'));
    const forge = await startStuckForge(answer);
    const children: ChildProcess[] = [];
    await use({ folder, forge, children });
    for (const child of children) child.kill('SIGKILL');
    await forge.close();
    await rm(folder, { recursive: true, force: true });
  },
});

const environment = (
  { forge, folder }: Place,
  more: Record<string, string> = {},
): Record<string, string> => ({
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

function startIn({ children }: Place, ...args: Parameters<typeof start>): ChildProcess {
  const child = start(...args);
  children.push(child);
  return child;
}

/** Starts the server and waits until it listens. The stuck forge delays this by 5 s. */
async function listening(place: Place) {
  const child = startIn(place, ['serve'], { environment: environment(place) });
  const ended = waitForExit(child);
  const said = await waitForOutput(child, /"listening"/);
  return { child, ended, url: /"url":"([^"]+)"/.exec(said)?.[1] ?? '' };
}

describe.concurrent.each(Object.keys(stuckAnswers) as (keyof typeof stuckAnswers)[])(
  'while the forge %s',
  (answer) => {
    it.override({ answer });

    it('SIGTERM ends the process and releases the deliveries that are being handled', async ({
      place,
      expect,
    }) => {
      const { child, ended, url } = await listening(place);
      for (const repository of [1, 2, 3]) {
        expect((await fetch(`${url}/webhook`, push(repository))).status).toBe(202);
      }
      const path = join(place.folder, 'data', 'reeve.db');
      const store = await openSqliteStore({ path, role: 'reader' });
      // The three deliveries, and the jobs that catch up, read the rules and the open pull requests, and look for what
      // rules cannot see.
      await expect.poll(async () => (await store.counts()).claimed).toBe(7);
      child.kill('SIGTERM');

      const { status, error } = await ended;
      expect(error).not.toContain('could be closed');
      expect(status).toBe(0);
      expect(await store.counts()).toMatchObject({ accepted: 7, claimed: 0, retry: 0, dead: 0 });
      const { items } = await store.listDeliveries({ state: 'accepted' });
      expect(items.map(({ attempts }) => attempts)).toEqual([0, 0, 0, 0, 0, 0, 0]);
      await store.close();
    });

    // The kind of hang matters only to a stop that waits. For an immediate stop, testing the first kind is enough.
    const isFirst = answer === 'never answers';
    it.runIf(isThorough || isFirst)('a second signal ends the process at once', async ({ place, expect }) => {
      const { child, ended, url } = await listening(place);
      await fetch(`${url}/webhook`, push(1));
      await place.forge.asked(2);
      child.kill('SIGTERM');
      await waitForOutput(child, /"stopping"/);
      child.kill('SIGTERM');

      expect((await ended).status).toBe(128 + 15);
    });

    it.runIf(isThorough || isFirst)(
      'killing the process does not count as an attempt for deliveries that were in flight together',
      async ({ place, expect }) => {
        const { child, ended, url } = await listening(place);
        for (const repository of [1, 2, 3]) await fetch(`${url}/webhook`, push(repository));
        const path = join(place.folder, 'data', 'reeve.db');
        const reader = await openSqliteStore({ path, role: 'reader' });
        await expect.poll(async () => (await reader.counts()).claimed).toBe(7);
        await reader.close();
        child.kill('SIGKILL');
        await ended;

        const store = await openSqliteStore({ path, role: 'worker' });
        const { items } = await store.listDeliveries({ state: 'accepted' });
        expect(items.map(({ state, attempts, crashes }) => ({ state, attempts, crashes }))).toEqual(
          Array.from({ length: 7 }, () => ({ state: 'accepted', attempts: 0, crashes: 0 })),
        );
        await store.close();
      },
    );

    it.runIf(isThorough || isFirst)(
      'SIGTERM ends a sweep that was started manually',
      async ({ place, expect }) => {
        await writeFile(join(place.folder, 'rules.yml'), rules);
        const child = startIn(place, ['sweep', 'labelled'], {
          environment: environment(place, { REEVE_RULES: join(place.folder, 'rules.yml') }),
        });
        const ended = waitForExit(child);
        await place.forge.asked(2);
        child.kill('SIGTERM');

        expect((await ended).status).toBe(130);
      },
    );
  },
);

describe.concurrent.each([
  ['SIGTERM', 'sends headers and never a body'],
  ['SIGHUP', 'never answers'],
  ['SIGINT', 'never answers'],
] as const)('%s before the server is up, while the forge %s,', (signal, answer) => {
  it.override({ answer });

  it('ends the process', async ({ place, expect }) => {
    const child = startIn(place, ['serve'], { environment: environment(place) });
    const ended = waitForExit(child);
    await place.forge.asked(1);
    child.kill(signal);

    expect(await ended).toMatchObject({ status: 0, error: '' });
  });
});

describe.concurrent('without a forge that hangs', () => {
  it('SIGTERM ends the embedded forge', async ({ place, expect }) => {
    const args = ['forge', '--port', '0', '--data', join(place.folder, 'forge'), '--json'];
    const child = startIn(place, args);
    const ended = waitForExit(child);
    await waitForOutput(child, /"url"/);
    child.kill('SIGTERM');

    expect((await ended).status).toBe(0);
  });

  it('SIGTERM ends the demo early, and no temporary folder remains', async ({ place, expect }) => {
    const child = startIn(place, ['serve', '--once'], { environment: { TMPDIR: place.folder } });
    const ended = waitForExit(child);
    await waitForOutput(child, /^forge/m);
    child.kill('SIGTERM');

    // On a busy machine, the stop may have to be forced. The command then reports this, and still removes the folders.
    expect(await ended).toMatchObject({
      status: 1,
      error: expect.stringMatching(/^$|^reeve: not everything could be closed/),
    });
    expect(await readdir(place.folder)).toEqual([]);
  });

  it('a second signal ends the demo at once, and no temporary folder remains', async ({ place, expect }) => {
    const child = startIn(place, ['serve', '--once'], { environment: { TMPDIR: place.folder } });
    const ended = waitForExit(child);
    await waitForOutput(child, /^forge/m);
    // The two signals differ because two pending signals of the same kind would count as one.
    child.kill('SIGTERM');
    child.kill('SIGINT');

    expect((await ended).status).not.toBe(0);
    expect(await readdir(place.folder)).toEqual([]);
  });
});

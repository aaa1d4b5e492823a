import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { openStoreAt } from '../../src/store/open-store.ts';
import { makeDelivery } from '../store/make.ts';
import { reeve, reeveProcess, start, waitForExit, waitForOutput } from '../support/command.ts';
import { isThorough } from '../support/figure.ts';
import { requiring } from '../support/flow-requirements.ts';
import { type ManyRepositories, startManyRepositories } from '../support/many-repositories.ts';

const it = requiring('a played forge');

const rules = `
version: 1
rules:
  labelled:
    on: { schedule: "17 3 * * *" }
    each: repository
    steps:
      - uses: sync-labels
        with: { labels: [{ name: kept, color: ff0000 }] }
`;

let folder: string;
let forge: ManyRepositories;
let environment: Record<string, string>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-sweep-'));
  await writeFile(join(folder, 'rules.yml'), rules);
});
afterEach(async () => {
  await forge.close();
  await rm(folder, { recursive: true, force: true });
});

const setForge = async (count: number): Promise<void> => {
  forge = await startManyRepositories(count);
  environment = {
    FORGE_URL: forge.url,
    FORGE_TOKEN: 'a-token-of-the-account-of-the-bot',
    WEBHOOK_SECRET: 'a-secret-that-only-the-hook-knows',
    REEVE_RULES: join(folder, 'rules.yml'),
    REEVE_DATA: join(folder, 'data'),
    PORT: '0',
  };
};

/** Number of items on several pages of fifty, and the write at which the process is killed, in the middle of a page. */
const [items, killedAt] = isThorough ? [500, 180] : [180, 80];
const writes = () => forge.asked.filter(({ method }) => method === 'POST');

it(`the sweep command finishes a sweep over ${items} repositories after a kill in the middle, and repeats and skips nothing`, async () => {
  await setForge(items);
  let child = start(['sweep', 'labelled'], { environment });
  forge.meddle = () => {
    if (writes().length === killedAt) child.kill('SIGKILL');
    return undefined;
  };
  await waitForExit(child);
  const before = writes().length;
  expect(before).toBeLessThan(items - 50);
  forge.meddle = () => undefined;

  child = start(['sweep', 'labelled', '--json'], { environment });
  const { status, out } = await waitForExit(child);

  expect(status).toBe(0);
  expect([...forge.labels.values()].filter((labels) => labels.length !== 1)).toEqual([]);
  expect(writes()).toHaveLength(items);
  // One page of fifty is read again, and none of its items is counted twice.
  expect(JSON.parse(out)).toMatchObject({ items, failed: 0 });
});

it('the sweep command stops at Ctrl-C, and the same command resumes', async () => {
  await setForge(200);
  const child = start(['sweep', 'labelled'], { environment });
  forge.meddle = () => {
    if (writes().length === 60) child.kill('SIGINT');
    return undefined;
  };
  const stopped = await waitForExit(child);
  expect(stopped).toMatchObject({ status: 130 });
  expect(stopped.error).toContain('stopped; the same command continues');
  const asked = forge.asked.length;

  const { status, out } = await reeve(['sweep', 'labelled', '--json'], { environment });

  expect(status).toBe(0);
  const { items, changes } = JSON.parse(out) as { items: number; changes: number };
  expect(items).toBe(200);
  // Up to eight items are in progress when the signal arrives. A write whose response is aborted is later found to be
  // done.
  expect(changes).toBeGreaterThanOrEqual(200 - 8);
  expect(changes).toBeLessThanOrEqual(200);
  expect(writes()).toHaveLength(200);
  expect(forge.asked.length - asked).toBeLessThan(470);
});

it('a commanded sweep is performed by the server that runs on the store', async () => {
  await setForge(60);
  const server = start(['serve'], { environment });
  await waitForOutput(server, /listening/);

  const second = await reeveProcess(['serve'], { environment });
  const { status, error, out } = await reeve(['sweep', 'labelled', '--in', 'acme/r1', 'acme/r2'], {
    environment,
  });
  server.kill('SIGTERM');
  await waitForExit(server);

  expect(second).toMatchObject({ status: 2 });
  expect(second.error).toMatch(/store|worker/);
  expect(error).toContain('a server uses this store');
  expect(out).toContain('2 items, 2 changes');
  expect(status).toBe(0);
  expect(
    writes()
      .map(({ repository }) => repository)
      .toSorted(),
  ).toEqual(['r1', 'r2']);
});

it('a commanded sweep reports failures with numbers, and continues with the other items', async () => {
  await setForge(120);
  forge.meddle = ({ repository }) => (repository === 'r7' ? { status: 500 } : undefined);

  const { status, out } = await reeve(['sweep', 'labelled'], { environment });

  expect(status).toBe(1);
  expect(out).toContain('119 changes');
  expect(out).toContain('1 failed');
  expect(out).toContain('acme/r7');
});

it('changes that the forge refuses fail the command, which names item, reason and run; deferred changes do not', async () => {
  await setForge(3);
  forge.meddle = ({ method, repository }) =>
    method === 'POST' && repository !== 'r3' ? { status: 422 } : undefined;

  const { status, out } = await reeve(['sweep', 'labelled'], { environment });
  const [, run = ''] = /reeve explain (\S+)/.exec(out) ?? [];
  const explained = await reeve(['explain', run], { environment });

  expect(out).toContain('3 of 3 items, 1 change, 2 wanted and not made, 2 failed');
  expect(out).toMatch(/^ {2}acme\/r1: .*meddled/m);
  expect(out).toMatch(/^ {2}acme\/r2: .*meddled/m);
  expect(status).toBe(1);
  expect(explained.out).toContain('meddled');
  const listed = await reeve(['rules'], { environment });
  const today = new Date().toISOString().slice(0, 10);
  expect(listed.out).toMatch(new RegExp(`^labelled +enforce +${today} \\S+ UTC +${today} \\S+ UTC +–$`, 'm'));

  await reeve(['pause', 'all'], { environment });
  const paused = await reeve(['sweep', 'labelled'], { environment });
  expect(paused.out).toContain('3 of 3 items, 0 changes, 2 wanted and not made, ');
  expect(paused.out).not.toContain('failed');
  expect(paused.out).toContain('a running server continues at');
  expect(paused.status).toBe(0);
});

it('the sweep command lists the existing rules if no rule has the given name', async () => {
  await setForge(1);

  const { status, error } = await reeve(['sweep', 'labeled'], { environment });

  expect(status).toBe(2);
  expect(error).toContain('#labelled');
});

it('a sweep without the secrets of hooks is refused while deliveries wait, which it would have to refuse', async () => {
  await setForge(2);
  const { WEBHOOK_SECRET: _, ...withoutSecret } = environment;
  const store = await openStoreAt({ data: join(folder, 'data') }, { role: 'worker' });
  await store.accept(makeDelivery());
  await store.close();

  const refused = await reeve(['sweep', 'labelled'], { environment: withoutSecret });
  expect(refused.status).toBe(2);
  expect(refused.error).toContain('deliveries wait in this store');
  expect(writes()).toEqual([]);

  const { status } = await reeve(['sweep', 'labelled'], { environment });
  expect(status).toBe(0);
  expect(writes()).toHaveLength(2);
});

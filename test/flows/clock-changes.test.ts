import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { finished, printed, start } from '../support/command.ts';
import { type FakeTime, fakeTimeIsMissing, makeFakeTime } from '../support/fake-time.ts';
import { type ManyRepositories, startManyRepositories } from '../support/many-repositories.ts';

const rules = `version: 1
rules:
  each-minute:
    on: { schedule: "* * * * *" }
    each: repository
    steps: [{ uses: sync-labels, with: { labels: [{ name: kept, color: ff0000 }] } }]
`;
const patienceMs = 60_000;

describe.skipIf(fakeTimeIsMissing)(`clock changes ${fakeTimeIsMissing ?? 'of a running server'}`, () => {
  let folder: string;
  let forge: ManyRepositories;
  let time: FakeTime;
  let store: Store;
  let child: ChildProcess;
  let url: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reeve-clock-'));
    await writeFile(join(folder, 'rules.yml'), rules);
    forge = await startManyRepositories(1);
    time = makeFakeTime(folder);
    child = start(['serve'], {
      environment: {
        FORGE_URL: forge.url,
        FORGE_TOKEN: 'a-token-of-the-account-of-the-bot',
        WEBHOOK_SECRET: 'a-secret-that-only-the-hook-knows',
        REEVE_RULES: folder,
        REEVE_DATA: join(folder, 'data'),
        PORT: '0',
        ...time.environment,
      },
    });
    url = /"url":"([^"]+)"/.exec(await printed(child, /"listening"/))?.[1] ?? '';
    store = await openSqliteStore({ path: join(folder, 'data', 'reeve.db'), role: 'reader' });
  });
  afterEach(async () => {
    const ended = finished(child);
    child.kill('SIGTERM');
    await ended;
    await store.close();
    await forge.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Returns the slots of the rule that have run, as instants. */
  const slots = async (): Promise<readonly string[]> => {
    const { items } = await store.listDeliveries({ state: 'settled', search: 'sweep', limit: 500 });
    return items.map(({ uuid }) => uuid.split('@')[1] ?? '').toReversed();
  };
  const minuteOf = (aheadMs: number): string =>
    `${new Date(Date.now() + aheadMs).toISOString().slice(0, 16)}:00.000Z`;
  /** Sets the clock and waits until the slot of its minute, or of the one after it, has run. */
  const runsAt = async (seconds: number): Promise<void> => {
    time.setAhead(seconds);
    const [now, next] = [minuteOf(seconds * 1_000), minuteOf(seconds * 1_000 + 60_000)];
    await expect
      .poll(async () => (await slots()).some((slot) => slot === now || slot === next), {
        timeout: patienceMs,
      })
      .toBe(true);
  };
  const cpuSeconds = async (): Promise<number> => {
    const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  };

  it('a clock that goes 3 h ahead and back again stops no schedule', {
    timeout: 4 * patienceMs,
  }, async () => {
    await runsAt(61);
    await runsAt(3 * 3_600);
    await runsAt(122);

    expect(new Set(await slots()).size).toBe((await slots()).length);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  it('a clock that goes 30 days ahead costs no more than a moment', { timeout: 4 * patienceMs }, async () => {
    await runsAt(61);
    const before = await cpuSeconds();
    await runsAt(30 * 86_400);

    expect(await cpuSeconds()).toBeLessThan(before + 5);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });
});

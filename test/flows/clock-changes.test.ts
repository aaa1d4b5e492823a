import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { start, waitForExit, waitForOutput } from '../support/command.ts';
import { cpuMs } from '../support/cpu-time.ts';
import { type FakeTime, fakeTimeIsMissing, makeFakeTime } from '../support/fake-time.ts';
import { type ManyRepositories, startManyRepositories } from '../support/many-repositories.ts';

const rules = `version: 1
rules:
  each-minute:
    on: { schedule: "* * * * *" }
    each: repository
    steps: [{ uses: sync-labels, with: { labels: [{ name: kept, color: ff0000 }] } }]
`;
/** Time for several slots, since a schedule of minutes owes one within a minute and a busy machine needs longer. */
const patienceMs = 240_000;
/** How long before the end of a minute the clock is set: the slot of the next minute is due soon. */
const beforeMinuteMs = 5_000;

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
    url = /"url":"([^"]+)"/.exec(await waitForOutput(child, /"listening"/))?.[1] ?? '';
    store = await openSqliteStore({ path: join(folder, 'data', 'reeve.db'), role: 'reader' });
  });
  afterEach(async () => {
    const ended = waitForExit(child);
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
  /**
   * Sets the clock about that far ahead, shortly before a minute ends, and waits until a slot of the new time has run: the
   * one of the next minute, or one of the hour after it where the machine is busy.
   */
  const runsAt = async (seconds: number): Promise<void> => {
    const aheadMs = seconds * 1_000;
    const untilMinuteMs = 60_000 - ((Date.now() + aheadMs) % 60_000);
    const shiftMs = aheadMs + untilMinuteMs - beforeMinuteMs;
    time.setAhead(Math.round(shiftMs / 1_000));
    const next = Date.now() + shiftMs;
    const isOfNewTime = (slot: string): boolean =>
      Date.parse(slot) > next && Date.parse(slot) < next + 3_600_000;
    await expect.poll(async () => (await slots()).some(isOfNewTime), { timeout: patienceMs }).toBe(true);
  };

  it('a clock that goes 3 h ahead and back again stops no schedule', {
    timeout: 4 * patienceMs,
  }, async () => {
    await runsAt(61);
    await runsAt(3 * 3_600);
    // Later than anything that ran before the clock went ahead.
    await runsAt(600);

    expect(new Set(await slots()).size).toBe((await slots()).length);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  it('a clock that goes 30 days ahead costs no more than a moment', { timeout: 4 * patienceMs }, async () => {
    await runsAt(61);
    const before = cpuMs(child.pid);
    await runsAt(30 * 86_400);

    expect(cpuMs(child.pid)).toBeLessThan(before + 5_000);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });
});

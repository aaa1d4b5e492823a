import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type ExpectStatic, test } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { start, waitForExit, waitForOutput } from '../support/command.ts';
import { cpuMs } from '../support/cpu-time.ts';
import { recordFigure } from '../support/figure.ts';
import { type ManyRepositories, startManyRepositories } from '../support/many-repositories.ts';

/**
 * A wall clock that a test sets in another process while it runs. The monotonic clock of the process is not affected.
 */
type FakeTime = {
  /** Environment with which the process must be started. */
  readonly environment: Readonly<Record<string, string>>;
  /** Sets the wall clock of the process to this many seconds ahead of the real one. */
  setAhead(seconds: number): void;
};

const library = ['/usr/lib', '/usr/local/lib', '/usr/lib64']
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => [folder, ...readdirSync(folder).map((name) => join(folder, name))])
  .map((folder) => join(folder, 'faketime/libfaketime.so.1'))
  .find((path) => existsSync(path));

/** Reason why the clock of another process cannot be set here; undefined if it can. */
const fakeTimeIsMissing = library === undefined ? 'skipped: libfaketime is not installed' : undefined;

/** Prepares a clock whose offset is in a file of the folder. */
function makeFakeTime(folder: string): FakeTime {
  const file = join(folder, 'clock-offset');
  const setAhead = (seconds: number): void =>
    writeFileSync(file, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`);
  setAhead(0);
  return {
    environment: {
      LD_PRELOAD: library ?? '',
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      // The variable's name differs between releases.
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    setAhead,
  };
}

const rules = `version: 1
rules:
  each-minute:
    on: { schedule: "* * * * *" }
    each: repository
    steps: [{ uses: sync-labels, with: { labels: [{ name: kept, color: ff0000 }] } }]
`;
/** Time for several slots, because a schedule of minutes has one slot per minute and a busy machine needs longer. */
const patienceMs = 240_000;
/** Time before the end of a minute at which the clock is set, so that the slot of the next minute is due soon. */
const beforeMinuteMs = 5_000;

type Place = {
  readonly time: FakeTime;
  readonly child: ChildProcess;
  readonly url: string;
  /** Returns the slots of the rule that have run, as instants. */
  readonly slots: () => Promise<readonly string[]>;
};

/** Starts a server with its own clock. */
async function startServerOn(folder: string, forge: ManyRepositories) {
  await writeFile(join(folder, 'rules.yml'), rules);
  const time = makeFakeTime(folder);
  const child = start(['serve'], {
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
  const url = /"url":"([^"]+)"/.exec(await waitForOutput(child, /"listening"/))?.[1] ?? '';
  return { time, child, url };
}

// The tests wait for the ends of minutes, so they run concurrently, each with its own folder, forge and server.
const it = test.extend<{ place: Place }>({
  place: async ({ task: _task }, use) => {
    const folder = await mkdtemp(join(tmpdir(), 'reeve-clock-'));
    const forge = await startManyRepositories(1);
    const server = await startServerOn(folder, forge);
    const store = await openSqliteStore({ path: join(folder, 'data', 'reeve.db'), role: 'reader' });
    const slots = async (): Promise<readonly string[]> => {
      const { items } = await store.listDeliveries({ state: 'settled', search: 'sweep', limit: 500 });
      return items.map(({ uuid }) => uuid.split('@')[1] ?? '').toReversed();
    };
    await use({ ...server, slots });
    const ended = waitForExit(server.child);
    server.child.kill('SIGTERM');
    await ended;
    await store.close();
    await forge.close();
    await rm(folder, { recursive: true, force: true });
  },
});

/**
 * Sets the clock about that many seconds ahead, shortly before a minute ends, and waits until a slot of the new time
 * has run: the slot of the next minute, or one within an hour after it if the machine is busy.
 */
async function runsAt(seconds: number, { time, slots }: Place, expect: ExpectStatic): Promise<void> {
  const aheadMs = seconds * 1_000;
  const untilMinuteMs = 60_000 - ((Date.now() + aheadMs) % 60_000);
  const shiftMs = aheadMs + untilMinuteMs - beforeMinuteMs;
  time.setAhead(Math.round(shiftMs / 1_000));
  const next = Date.now() + shiftMs;
  const isOfNewTime = (slot: string): boolean =>
    Date.parse(slot) > next && Date.parse(slot) < next + 3_600_000;
  await expect.poll(async () => (await slots()).some(isOfNewTime), { timeout: patienceMs }).toBe(true);
}

const title = `clock changes ${fakeTimeIsMissing ?? 'of a running server'}`;
describe.skipIf(fakeTimeIsMissing)(title, { concurrent: true, timeout: 4 * patienceMs }, () => {
  it('a clock that jumps 3 h ahead and back again stops no schedule', async ({ place, expect, task }) => {
    await runsAt(61, place, expect);
    await runsAt(3 * 3_600, place, expect);
    // This time is later than anything that ran before the clock jumped ahead.
    await runsAt(600, place, expect);

    const slots = await place.slots();
    expect(new Set(slots).size).toBe(slots.length);
    recordFigure({ task }, `3 h ahead and back: ${slots.length} slots ran, 0 twice`);
    expect((await fetch(`${place.url}/readyz`)).status).toBe(200);
  });

  it('a clock that jumps 30 days ahead takes little processor time', async ({ place, expect, task }) => {
    await runsAt(61, place, expect);
    const before = cpuMs(place.child.pid);
    await runsAt(30 * 86_400, place, expect);

    const spentMs = cpuMs(place.child.pid) - before;
    expect(spentMs).toBeLessThan(5_000);
    recordFigure(
      { task },
      `30 days ahead: the next slot runs, ${(spentMs / 1_000).toFixed(1)} s of processor time`,
    );
    expect((await fetch(`${place.url}/readyz`)).status).toBe(200);
  });
});

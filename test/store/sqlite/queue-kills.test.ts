import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { mainQueue } from '../queue-contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'reeve-kills-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, 'reeve.db');

/**
 * Saves in an endless loop. Each save has two events and an audit entry; the loop prints its revision once it is
 * stored.
 */
const saver = `
  import { openSqliteStore } from ${JSON.stringify(new URL('../../../src/store/sqlite/sqlite-store.ts', import.meta.url).href)};
  const store = await openSqliteStore({ path: process.argv[1], role: 'worker' });
  const key = ${JSON.stringify({ ...mainQueue, repository: 'acme/shop' })};
  for (;;) {
    const revision = (await store.readQueue(key))?.revision ?? 0;
    const n = revision + 1;
    const lease = await store.claimQueue(key, 60_000);
    const event = (text) => ({ at: new Date(), kind: 'entered', text });
    await store.saveQueue({
      ...key, revision, lease, state: { n }, events: [event('a' + n), event('b' + n)],
      audit: { action: 'move', by: 'ada', object: String(n) },
    });
    await store.releaseQueue(lease);
    process.stdout.write(n + '\\n');
  }`;

/** Kills a saving process right after it has printed the given number of lines, and returns the last number printed. */
async function saveUntilKilled(lines: number): Promise<number> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', saver, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let last = 0;
  let seen = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    last = Number(line);
    seen += 1;
    if (seen === lines) child.kill('SIGKILL');
  }
  return last;
}

it('a save is stored entirely or not at all, whenever the process is killed', {
  timeout: 300_000,
}, async () => {
  const kills = process.env.LONG ? 100 : 5;
  for (let kill = 1; kill <= kills; kill += 1) {
    const acknowledged = await saveUntilKilled(3 + kill);

    const store = await openSqliteStore({ path: path, role: 'worker' });
    const row = await store.readQueue(mainQueue);
    const history = await store.listQueueHistory({ limit: 500 });
    const audit = await store.listAudit({ limit: 500 });
    // The killed process held the lease.
    expect(await store.claimQueue(mainQueue, 1_000)).toBeDefined();
    await store.close();
    const revision = row?.revision ?? 0;
    const saves = Array.from({ length: Math.min(revision, 250) }, (_, at) => revision - at);
    expect(revision).toBeGreaterThanOrEqual(acknowledged);
    expect(row?.state).toEqual({ n: revision });
    expect(history.map(({ text }) => text)).toEqual(saves.flatMap((n) => [`b${n}`, `a${n}`]));
    expect(audit.slice(0, 250).map(({ object }) => object)).toEqual(saves.map(String));
  }
});

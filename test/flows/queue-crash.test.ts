import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crashQueue } from '../../scripts/crash/queue/crash-queue.ts';
import { isThorough } from '../support/figure.ts';
import { startPostgres } from '../support/postgres-server.ts';

const afterMerge = { at: 'merge', when: 'after' } as const;
/** A kill after an update. `queue-kills` also covers it with a single process. */
const afterUpdate = { at: 'update', when: 'after' } as const;

// In a normal run, `queue-kills` covers the same with a single process.
describe.runIf(isThorough)('two processes with one merge queue', () => {
  let database: Awaited<ReturnType<typeof startPostgres>>;
  beforeAll(async () => {
    // A separate server that syncs to disk, because the bot refuses one that does not.
    database = await startPostgres();
  });
  afterAll(() => database.stop());

  it('merge every pull request once and tested, or report why not, when they are killed', async () => {
    const wrong: string[] = [];
    const seed = process.env.LONG ? Math.floor(Math.random() * 1_000_000) : 1;

    const { merged, mergedTwice, untested, brokenBases, lost, ...report } = await crashQueue({
      databaseUrl: database.url,
      seed,
      gapMs: 1_000,
      onWrong: (finding) => wrong.push(finding),
      ...(process.env.LONG
        ? { kills: 60, stops: 3 }
        : {
            kills: 4,
            stops: 0,
            openAtOnce: 2,
            // Without this plan, the test would wait half a minute for a request that never reaches the forge.
            plan: [afterUpdate, afterMerge, 'both'],
          }),
    });

    expect(wrong, `seed ${seed}`).toEqual([]);
    const { wrong: unexpected, misreported, comments } = report;
    expect({ mergedTwice, untested, brokenBases, lost, unexpected, misreported, comments }).toEqual({
      mergedTwice: 0,
      untested: 0,
      brokenBases: 0,
      lost: 0,
      unexpected: 0,
      misreported: 0,
      comments: 0,
    });
    expect(merged).toBeGreaterThan(0);
  });
});

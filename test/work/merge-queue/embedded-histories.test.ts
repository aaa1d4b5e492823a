import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isThorough } from '../../support/figure.ts';
import { proveHistory } from '../../support/queue/prove-history.ts';
import { type QueueInstallation, startQueueInstallation } from '../../support/queue/queue-installation.ts';
import { openPull, openStage, rest } from '../../support/queue/queue-stage.ts';
import { happen, type QueueHappening, randomHappening } from '../../support/queue/random-happenings.ts';

/** Number and size of the histories. A history of the smallest size takes a second on an idle machine. */
const size = process.env.LONG
  ? { numRuns: 300, pulls: 3, maxLength: 16 }
  : { numRuns: isThorough ? 20 : 3, pulls: 2, maxLength: 10 };

let installation: QueueInstallation;
beforeAll(async () => {
  installation = await startQueueInstallation();
});
afterAll(() => installation.close());

const settings = fc.record({
  method: fc.constantFrom('merge', 'squash', 'rebase-merge', 'fast-forward-only'),
  requiresQueue: fc.boolean(),
});

async function play(
  given: Parameters<typeof openStage>[1],
  { happenings, hasChecks }: { readonly happenings: readonly QueueHappening[]; readonly hasChecks: boolean },
): Promise<void> {
  const stage = await openStage(installation, given);
  for (let opened = 0; opened < size.pulls; opened += 1) await openPull(stage);
  await stage.bot.settle();
  for (const one of happenings) {
    await happen(stage, one);
    await stage.bot.settle();
  }
  expect(await rest(stage, { hasChecks }), 'nothing is left to do within a day').toBe(true);
  // Faults planned for requests that were never sent must not affect the next history.
  installation.armed.length = 0;
  await proveHistory(stage);
}

/** History in which a merge is lost, and the queue of another branch then merges the pull request. */
const retargetedAtItsMerge: [{ method: string; requiresQueue: boolean }, QueueHappening[], boolean] = [
  { method: 'fast-forward-only', requiresQueue: true },
  [
    { kind: 'checks' },
    { kind: 'lose a request' },
    { kind: 'checks' },
    { kind: 'race' },
    { kind: 'refuse a merge' },
    { kind: 'retarget', pull: 3 },
    { kind: 'die after a write' },
  ],
  true,
];

describe('random histories of merge queues on a forge', () => {
  it('merge in order, only pull requests that were green together with their base, say why others left, and end', async () => {
    await fc.assert(
      fc.asyncProperty(
        settings,
        fc.array(randomHappening, { minLength: 4, maxLength: size.maxLength }),
        fc.boolean(),
        (given, happenings, hasChecks) => play(given, { happenings, hasChecks }),
      ),
      // Shrinking a failing history would take minutes, and the original is already short.
      { numRuns: size.numRuns, endOnFailure: true, examples: isThorough ? [retargetedAtItsMerge] : [] },
    );
  });
});

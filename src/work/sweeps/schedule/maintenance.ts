import { trialPrefix } from '../../../actions/backport.ts';
import { storedFileKeptMs, storedFilePrefix } from '../../../actions/commit-files.ts';
import { dueProtectionPrefix } from '../../../actions/merging.ts';
import { dispatchPrefix } from '../../../actions/run-workflow.ts';
import { sentMessageKeptMs, sentMessagePrefix } from '../../../actions/sent-messages.ts';
import { ledgerKeptMs, ledgerPrefix } from '../../../engine/budget/ledger.ts';
import { executionPrefix } from '../../../engine/evaluate-rules.ts';
import { mergeBaseKeptMs, mergeBasePrefix } from '../../../facts/reviews.ts';
import { messageOf } from '../../../platform/errors.ts';
import { storedMemoryKey } from '../../../store/action-memory.ts';
import { sampleWidths } from '../../../store/samples.ts';
import { queueWritesKeptMs, queueWritesPrefix } from '../../merge-queue/write-budget.ts';
import type { Reeve } from '../../reeve.ts';
import { resistancePrefix } from '../../runs/waiting.ts';
import type { Scheduled } from './schedule.ts';

/** Something that Reeve does for itself repeatedly. */
export type MaintenanceJob = { readonly cron: string; readonly run: (now: Date) => Promise<void> };

/**
 * Returns the chores by name: `retention` deletes what is old once a day, `size` keeps the store below its size, `health` looks
 * at token and disk and tells the log before anything fails, `rules` reads the rules of repositories and organizations for
 * their clocks.
 */
export function createMaintenance(
  { store, log, retention, lifetimeMs }: Reeve,
  asks: {
    /** Asks the forge who we are. */
    readonly checkToken: () => Promise<unknown>;
    /** Reads the rules of repositories and organizations anew. */
    readonly readRules: () => Promise<void>;
  },
): Readonly<Record<string, MaintenanceJob>> {
  return {
    retention: {
      cron: '41 3 * * *',
      async run(now) {
        const { settledMs, deadMs } = retention;
        const olderThan = new Date(now.getTime() - settledMs);
        const deadOlderThan = new Date(now.getTime() - deadMs);
        // A comment that is older than the lifetime is not obeyed, whether or not a rule has executed its commands before.
        const before = new Date(olderThan.getTime() - lifetimeMs);
        const memory = [
          { prefix: storedMemoryKey(executionPrefix), before },
          // What starts a workflow is attempted no longer than its lifetime.
          { prefix: storedMemoryKey(dispatchPrefix), before },
          // A pull request that is merged is backported soon, or by hand.
          { prefix: storedMemoryKey(trialPrefix), before },
          // A deferred run is repeated within the lifetime of its delivery.
          { prefix: storedMemoryKey(dueProtectionPrefix), before },
          // A head that is still one is seen again; of another one, the merge base is then found from the commits.
          { prefix: storedMemoryKey(mergeBasePrefix), before: new Date(now.getTime() - mergeBaseKeptMs) },
          { prefix: storedMemoryKey(storedFilePrefix), before: new Date(now.getTime() - storedFileKeptMs) },
          // Rows delete theirs when they end, unless a later row takes their place.
          { prefix: resistancePrefix, before },
          { prefix: ledgerPrefix, before: new Date(now.getTime() - ledgerKeptMs) },
          { prefix: queueWritesPrefix, before: new Date(now.getTime() - queueWritesKeptMs) },
          { prefix: storedMemoryKey(sentMessagePrefix), before: new Date(now.getTime() - sentMessageKeptMs) },
        ];
        const samples = sampleWidths.map(({ minutes, keptMs }) => ({
          minutes,
          before: new Date(now.getTime() - keptMs),
        }));
        const gone = await store.prune({ olderThan, deadOlderThan, memory, samples });
        log.info(gone, 'deleted what is older than it is kept');
      },
    },
    size: {
      cron: '11 * * * *',
      async run() {
        const gone = await store.prune({ maxBytes: retention.maxBytes });
        if (gone.deliveries + gone.runs === 0) return;
        // Younger than the retention: to keep that, the store needs more room.
        log.warn({ ...gone, maxBytes: retention.maxBytes }, 'deleted the oldest: the store is at its size');
      },
    },
    health: {
      cron: '*/10 * * * *',
      async run() {
        const health = await store.healthy();
        if (!health.ok) log.error({ reason: health.reason }, 'the disk needs attention');
        try {
          await asks.checkToken();
        } catch (error) {
          log.error({ error: messageOf(error) }, 'the forge does not take our credential');
        }
      },
    },
    rules: { cron: '23 * * * *', run: asks.readRules },
  };
}

/** Lanes of the chores that need no forge: a store must not fill up during an outage. */
export const maintenanceLanes: readonly string[] = ['chore retention', 'chore size'];

/** Returns the chores as entries of the scheduler. */
export function scheduledMaintenance(chores: Readonly<Record<string, MaintenanceJob>>): readonly Scheduled[] {
  return Object.entries(chores).map(([name, { cron }]) => ({
    id: name,
    schedule: { cron, timezone: 'UTC' },
    kind: 'chore',
    payload: { chore: name },
  }));
}

import { trialPrefix } from '../../../actions/backport.ts';
import { storedFileKeptMs, storedFilePrefix } from '../../../actions/commit-files.ts';
import { dueProtectionPrefix } from '../../../actions/merging.ts';
import { dispatchPrefix } from '../../../actions/run-workflow.ts';
import { sentMessageKeptMs, sentMessagePrefix } from '../../../actions/sent-messages.ts';
import { ownWritesKeptMs, ownWritesPrefix } from '../../../engine/bounds/own-writes.ts';
import { ledgerKeptMs, ledgerPrefix } from '../../../engine/budget/ledger.ts';
import { executionPrefix } from '../../../engine/evaluate-rules.ts';
import {
  mergeBaseKeptMs,
  mergeBasePrefix,
  ownReviewKeptMs,
  ownReviewPrefix,
} from '../../../facts/reviews.ts';
import { messageOf } from '../../../platform/errors.ts';
import { storedMemoryKey } from '../../../store/action-memory.ts';
import { sampleWidths } from '../../../store/samples.ts';
import { queueWritesKeptMs, queueWritesPrefix } from '../../merge-queue/write-budget.ts';
import type { Reeve } from '../../reeve.ts';
import { resistancePrefix } from '../../runs/waiting.ts';
import type { Scheduled } from './schedule.ts';

/** A recurring maintenance job of Reeve. */
export type MaintenanceJob = {
  readonly cron: string;
  /** Default UTC. */
  readonly timezone?: string | undefined;
  /** Whether it also runs after every start. */
  readonly atStart?: true;
  /** Whether its work needs no forge, so that it also runs while the forge fails or refuses the credential. */
  readonly isLocal?: boolean;
  /** `slot` identifies the slot, or the start, and is the same for each try. */
  readonly run: (now: Date, slot: string) => Promise<void>;
};

/**
 * Returns the maintenance jobs by name: `retention` deletes expired data once a day, `size` keeps the store below its
 * size limit, `health` checks token and disk and logs an error before anything fails, and `rules` reads the rules of
 * repositories and organizations for their schedules.
 */
export function createMaintenance(
  { store, log, retention, lifetimeMs }: Reeve,
  asks: {
    /** Requests the account of the token from the forge. */
    readonly checkToken: () => Promise<unknown>;
    /** Reads the rules of repositories and organizations again. */
    readonly readRules: () => Promise<void>;
  },
): Readonly<Record<string, MaintenanceJob>> {
  return {
    retention: {
      cron: '41 3 * * *',
      // The store must not fill up during an outage.
      isLocal: true,
      async run(now) {
        const { settledMs, deadMs } = retention;
        const olderThan = new Date(now.getTime() - settledMs);
        const deadOlderThan = new Date(now.getTime() - deadMs);
        // A comment older than the lifetime is not executed, regardless of whether a rule has already executed its
        // commands.
        const before = new Date(olderThan.getTime() - lifetimeMs);
        const memory = [
          { prefix: storedMemoryKey(executionPrefix), before },
          // The start of a workflow is retried only within its lifetime.
          { prefix: storedMemoryKey(dispatchPrefix), before },
          // A merged pull request is backported soon, or manually.
          { prefix: storedMemoryKey(trialPrefix), before },
          // A deferred run is repeated within the lifetime of its delivery.
          { prefix: storedMemoryKey(dueProtectionPrefix), before },
          // The merge base of a head that still exists is stored again; for others, it is then computed from the
          // commits.
          { prefix: storedMemoryKey(mergeBasePrefix), before: new Date(now.getTime() - mergeBaseKeptMs) },
          { prefix: storedMemoryKey(ownReviewPrefix), before: new Date(now.getTime() - ownReviewKeptMs) },
          { prefix: storedMemoryKey(storedFilePrefix), before: new Date(now.getTime() - storedFileKeptMs) },
          // Rows delete their own data when they end, unless a later row replaces them.
          { prefix: resistancePrefix, before },
          { prefix: ledgerPrefix, before: new Date(now.getTime() - ledgerKeptMs) },
          { prefix: ownWritesPrefix, before: new Date(now.getTime() - ownWritesKeptMs) },
          { prefix: queueWritesPrefix, before: new Date(now.getTime() - queueWritesKeptMs) },
          { prefix: storedMemoryKey(sentMessagePrefix), before: new Date(now.getTime() - sentMessageKeptMs) },
        ];
        const samples = sampleWidths.map(({ minutes, keptMs }) => ({
          minutes,
          before: new Date(now.getTime() - keptMs),
        }));
        const gone = await store.prune({ olderThan, deadOlderThan, memory, samples });
        log.info(gone, 'deleted expired data');
      },
    },
    size: {
      cron: '11 * * * *',
      isLocal: true,
      async run() {
        const gone = await store.prune({ maxBytes: retention.maxBytes });
        if (gone.deliveries + gone.runs === 0) return;
        // The deleted data was younger than the retention. Keeping it requires a larger store.
        log.warn(
          { ...gone, maxBytes: retention.maxBytes },
          'deleted the oldest data: the store has reached its size limit',
        );
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
          log.error({ error: messageOf(error) }, 'the forge does not accept our credential');
        }
      },
    },
    rules: { cron: '23 * * * *', atStart: true, run: asks.readRules },
  };
}

/** Returns the lanes of the maintenance jobs that need no forge. */
export function localLanesOf(chores: Readonly<Record<string, MaintenanceJob>>): readonly string[] {
  return Object.entries(chores).flatMap(([name, { isLocal }]) => (isLocal ? [`chore ${name}`] : []));
}

/** Returns the maintenance jobs as entries for the scheduler. */
export function scheduledMaintenance(chores: Readonly<Record<string, MaintenanceJob>>): readonly Scheduled[] {
  return Object.entries(chores).map(([name, { cron, timezone = 'UTC' }]) => ({
    id: name,
    schedule: { cron, timezone },
    kind: 'chore',
    payload: { chore: name },
  }));
}

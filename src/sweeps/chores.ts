import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store/store.ts';
import type { Scheduled } from './schedule.ts';

/** Something that Reeve does for itself now and again. */
export type Chore = { readonly cron: string; readonly run: (now: Date) => Promise<void> };

/** How long what happened is kept, and how much of it. */
export type Retention = { readonly days: number; readonly maxBytes: number };

export const standardRetention: Retention = { days: 30, maxBytes: 5 * 2 ** 30 };

/**
 * Returns the chores by name: `retention` forgets what is old, `health` looks at token and disk and tells the log before
 * anything fails, `rules` reads the rules of repositories and organizations for their clocks.
 */
export function createChores(options: {
  store: Pick<Store, 'prune' | 'healthy'>;
  /** Asks the forge who we are. */
  checkToken: () => Promise<unknown>;
  /** Reads the rules of repositories and organizations anew. */
  readRules: () => Promise<void>;
  retention: Retention;
  log: Log;
}): Readonly<Record<string, Chore>> {
  const { store, log, retention } = options;
  return {
    retention: {
      cron: '41 3 * * *',
      async run(now) {
        const olderThan = new Date(now.getTime() - retention.days * 86_400_000);
        const gone = await store.prune({ olderThan, maxBytes: retention.maxBytes });
        log.info(gone, 'forgot what is old');
      },
    },
    health: {
      cron: '*/10 * * * *',
      async run() {
        const health = await store.healthy();
        if (!health.ok) log.error({ reason: health.reason }, 'the disk needs attention');
        try {
          await options.checkToken();
        } catch (error) {
          log.error({ error: messageOf(error) }, 'the forge does not take our credential');
        }
      },
    },
    rules: { cron: '23 * * * *', run: options.readRules },
  };
}

/** Returns the chores as entries of the scheduler. */
export function scheduledChores(chores: Readonly<Record<string, Chore>>): readonly Scheduled[] {
  return Object.entries(chores).map(([name, { cron }]) => ({
    id: name,
    schedule: { cron, timezone: 'UTC' },
    kind: 'chore',
    payload: { chore: name },
  }));
}

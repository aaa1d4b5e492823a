import type { FastifyInstance } from 'fastify';
import { systemClock } from '../../src/platform/clock.ts';
import { silentLog } from '../../src/platform/log.ts';
import { type AppParts, createApp } from '../../src/server/app.ts';
import { createMetrics } from '../../src/server/dashboard/metrics.ts';
import type { Store } from '../../src/store/store.ts';
import { createCommandQueue } from '../../src/work/merge-queue/queue-commands.ts';
import { readAboutItem } from '../../src/work/runs/about-item.ts';
import { startSweepByHand } from '../../src/work/sweeps/by-hand.ts';

const standingClock = (): Date => new Date('2030-01-01T00:00:00Z');

/** Password of the installation that `makeDashboardApp` creates. */
export const dashboardPassword = 'a password of this installation';

/** Returns the commands of the pages for a store without a worker. */
export function storeCommands(store: Store): AppParts['commands'] {
  return {
    redrive: (ids, by) => store.redrive(ids, by, { settled: true }),
    pause: (scope, by) => store.pause(scope, by),
    resume: (scope, by) => store.resume(scope, by),
    queue: createCommandQueue(store, { now: standingClock }),
    sweep: (rule) => startSweepByHand({ id: rule }, store, { patterns: [], now: standingClock() }),
    simulate: async () => ({ runs: [], left: [], broken: [], ignored: undefined }),
  };
}

/** Returns the page data of a bot that has swept nothing and has no rules. */
export function dashboardData(store: Store, now: () => Date = standingClock): AppParts['dashboardData'] {
  return {
    store,
    now,
    forgeUrl: 'https://forge.example.org',
    rules: () => [],
    incidents: async () => [],
    schedules: async () => [],
    ruleSource: async () => undefined,
    reach: async () => ({ repositories: [], served: 0, isWhole: true }),
    sight: async () => [],
    runners: async () => [],
    drift: async () => [],
    aboutItem: (item) => readAboutItem(item, { store, schedules: [], now: now() }),
    forge: () => ({ state: 'ok' }),
    refusals: () => new Map(),
    sweeps: async () => [],
  };
}

/**
 * Creates the HTTP server of a bot for a store, but without the rest of the bot: nothing was swept, there are no rules,
 * and the clock stands still.
 */
export function makeDashboardApp(
  store: Store,
  parts: Partial<AppParts> = {},
  now: () => Date = standingClock,
): FastifyInstance {
  return createApp({
    store,
    log: silentLog,
    secrets: [{ name: 'all', scope: ['*'], authorization: ['x'.repeat(24)], hmac: [] }],
    metrics: createMetrics(),
    dashboardData: { ...dashboardData(store, now), ...parts.dashboardData },
    commands: storeCommands(store),
    readPassword: async () => dashboardPassword,
    clock: systemClock,
    onStored: () => {},
    ...parts,
  });
}

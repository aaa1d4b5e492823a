import type { FastifyInstance } from 'fastify';
import { systemClock } from '../../src/clock.ts';
import { createMetrics } from '../../src/dashboard/metrics/metrics.ts';
import { silentLog } from '../../src/log.ts';
import { type AppParts, createApp } from '../../src/server/app.ts';
import type { Store } from '../../src/store/store.ts';

/** The password of the installation that `makeDashboardApp` makes. */
export const dashboardPassword = 'a password of this installation';

/** Creates the doors of a bot on a store, without a bot behind them: nothing swept, no rules, a clock that stands. */
export function makeDashboardApp(
  store: Store,
  parts: Partial<AppParts> = {},
  now: () => Date = () => new Date('2030-01-01T00:00:00Z'),
): FastifyInstance {
  const dashboardData: AppParts['dashboardData'] = {
    store,
    now,
    rules: () => [],
    incidents: async () => [],
    schedules: async () => [],
    runners: async () => [],
    drift: async () => [],
    forge: () => ({ state: 'ok' }),
    refusals: () => new Map(),
    sweeps: async () => [],
  };
  return createApp({
    store,
    log: silentLog,
    secrets: [{ name: 'all', scope: ['*'], authorization: ['x'.repeat(24)], hmac: [] }],
    metrics: createMetrics(),
    dashboardData: { ...dashboardData, ...parts.dashboardData },
    commands: { redrive: (ids, by) => store.redrive(ids, by, { settled: true }) },
    password: dashboardPassword,
    clock: systemClock,
    onStored: () => {},
    ...parts,
  });
}

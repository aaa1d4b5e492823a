import { createOAuth2, type SignInApplication } from '../client/oauth2.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { nameOfRule } from '../rules/verdict.ts';
import type { Store } from '../store/store.ts';
import { createCommandQueue } from '../work/merge-queue/queue-commands.ts';
import { startSweepByHand } from '../work/sweeps/by-hand.ts';
import type { Activity } from './activity.ts';
import { type AppParts, createApp, listenOn } from './app.ts';
import type { Metrics } from './dashboard/metrics.ts';
import { redirectUri } from './dashboard/sign-in/forge-sign-in.ts';
import type { SecretEntry } from './receiver/secrets.ts';
import { openDashboardPassword, passwordPath } from './settings/secrets/dashboard-password.ts';
import { loadSignInKey } from './settings/secrets/installation-secret.ts';

/** The running receiver and dashboard. */
export type Doors = {
  readonly url: string;
  /** Absent if the password is in a database that processes share. */
  readonly passwordFile: string | undefined;
  /** Stops accepting connections and waits up to 5 s for open requests. */
  close(): Promise<void>;
};

type DoorsOptions = {
  readonly store: Store;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly activity: Activity;
  readonly dashboardData: AppParts['dashboardData'];
  readonly clock: Clock;
  readonly isPublic: boolean;
  /** Data folder, which contains the dashboard's password. */
  readonly data: string;
  readonly secrets: readonly SecretEntry[];
  readonly maxBodyBytes?: number | undefined;
  readonly host: string;
  readonly port: number;
  readonly forgeUrl: string;
  /** Public URL of the dashboard. */
  readonly dashboard?: string | undefined;
  /** OAuth2 application for sign-in. */
  readonly signIn?: SignInApplication | undefined;
  readonly simulate: AppParts['commands']['simulate'];
  /** Called when work has been stored. */
  readonly wake: () => void;
};

/** On shutdown, pages wait at most this long for the forge. */
const pageGraceMs = 2_000;
/** On shutdown, open requests are ended after this time. A forge gives up on a delivery after 5 s. */
const requestGraceMs = 5_000;

/** Opens the receiver and the dashboard. Throws `port-taken` or `settings`. */
export async function openDoors(options: DoorsOptions): Promise<Doors> {
  const { data, secrets, host, port, forgeUrl, dashboard, signIn, wake, maxBodyBytes } = options;
  const { store, log, metrics, activity, dashboardData, clock, isPublic } = options;
  const parts = { store, log, metrics, activity, dashboardData, clock, isPublic };
  const pages = new AbortController();
  const readPassword = await openDashboardPassword(data, parts);
  const commandQueue = createCommandQueue(parts.store, parts.dashboardData);
  const oauth2 = signIn && createOAuth2({ url: forgeUrl, application: signIn, signal: pages.signal });
  const app = createApp({
    ...parts,
    secrets,
    readPassword,
    signInKey: await loadSignInKey(data, parts.store),
    dashboardUrl: dashboard,
    onStored: wake,
    maxBodyBytes,
    forge:
      oauth2 && dashboard
        ? {
            oauth2,
            url: forgeUrl,
            redirectUri: redirectUri(dashboard),
            onRequest: parts.metrics.countRequest,
            signal: pages.signal,
          }
        : undefined,
    commands: {
      async redrive(ids, by) {
        const revived = await parts.store.redrive(ids, by, { settled: true });
        wake();
        return revived;
      },
      pause: (scope, by) => parts.store.pause(scope, by),
      async resume(scope, by) {
        const isEnded = await parts.store.resume(scope, by);
        wake();
        return isEnded;
      },
      async queue(queue, command, by) {
        const isChanged = await commandQueue(queue, command, by);
        wake();
        return isChanged;
      },
      async sweep(rule, by) {
        const id = await startSweepByHand({ id: rule }, parts.store, {
          patterns: [],
          now: parts.clock.now(),
        });
        await parts.store.noteAudit({ by, action: 'sweep', object: `rule ${nameOfRule(rule)}` });
        wake();
        return id;
      },
      simulate: options.simulate,
    },
  });
  const url = await listenOn(app, { host, port });
  return {
    url,
    passwordFile: parts.store.isShared ? undefined : passwordPath(data),
    async close() {
      const timers = [
        setTimeout(() => pages.abort(), pageGraceMs),
        setTimeout(() => app.server.closeAllConnections(), requestGraceMs),
      ];
      await app.close();
      for (const timer of timers) clearTimeout(timer);
      pages.abort();
    },
  };
}

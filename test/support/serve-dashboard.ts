import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach } from 'vitest';
import type { RuleRow } from '../../src/server/dashboard/data.ts';
import type { Store } from '../../src/store/store.ts';
import { dashboardData, dashboardPassword, makeDashboardApp } from './dashboard-app.ts';
import { type DashboardClient, signInWithPassword } from './dashboard-client.ts';
import { makeStore } from './make-store.ts';

/** Dashboard of a store, with a client that is signed in as the operator. */
export type ServedDashboard = {
  url: string;
  store: Store;
  operator: DashboardClient;
  /** Closes the HTTP server before the test ends. */
  stop: () => Promise<void>;
};

/**
 * Serves the dashboard of an empty store with these rules before each test of this file, and closes it after the test.
 */
export function serveDashboard(rules: readonly RuleRow[] = []): ServedDashboard {
  const served = {} as ServedDashboard;
  let end = async (): Promise<void> => {};
  beforeEach(async () => {
    const made = await makeStore();
    const dashboard = { ...dashboardData(made.store), rules: () => rules };
    const app = makeDashboardApp(made.store, { dashboardData: dashboard });
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as AddressInfo;
    served.url = `http://127.0.0.1:${port}`;
    served.store = made.store;
    served.operator = await signInWithPassword(served.url, dashboardPassword);
    served.stop = async () => {
      await app.close();
    };
    end = async () => {
      await app.close();
      await made.close();
    };
  });
  afterEach(() => end());
  return served;
}

/** Returns the text of each cell of each row of the tables of a page. */
export const tableCells = (page: string): readonly (readonly string[])[] =>
  [...page.matchAll(/<tr[^>]*>(<td.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) =>
      cell.replaceAll(/<[^>]*>/g, '').trim(),
    ),
  );

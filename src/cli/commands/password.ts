import { existsSync } from 'node:fs';
import { ReeveError } from '../../platform/errors.ts';
import type { Settings } from '../../server/settings/config.ts';
import {
  openDashboardPassword,
  passwordPath,
  renewDashboardPassword,
} from '../../server/settings/secrets/dashboard-password.ts';
import { storeFileOf } from '../../store/open-store.ts';
import type { Terminal } from '../output/terminal.ts';
import { openStore } from './open-store.ts';

/**
 * Prints the password of the dashboard; with `renew`, first replaces it with a generated one. Returns the exit status.
 */
export async function showPassword(
  { renew = false, json = false }: { renew?: boolean; json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const password =
    settings.databaseUrl === undefined
      ? await passwordInFile(settings, renew, terminal)
      : await passwordInDatabase(settings, renew, terminal);
  terminal.out(json ? JSON.stringify({ password, renewed: renew }) : password);
  return 0;
}

async function passwordInFile(settings: Settings, renew: boolean, terminal: Terminal): Promise<string> {
  const { data } = settings;
  const path = passwordPath(data);
  // A password file outside the server's folder would have no effect. Beside a store, it is the one that the server
  // will use, also before its first start.
  if (!existsSync(path) && !existsSync(storeFileOf(settings)))
    throw new ReeveError(
      'usage',
      `there is no password at ${path}: set REEVE_DATA to the folder of reeve serve`,
    );
  if (!renew) return (await openDashboardPassword(data, { store: undefined }))();
  const password = await renewDashboardPassword(data, undefined);
  terminal.error('The new password is accepted when reeve serve starts again, which ends all sessions.');
  return password;
}

async function passwordInDatabase(settings: Settings, renew: boolean, terminal: Terminal): Promise<string> {
  const store = await openStore(settings);
  try {
    if (!renew) return await (await openDashboardPassword(settings.data, { store }))();
    const password = await renewDashboardPassword(settings.data, store);
    // Sessions are removed after the password is replaced, so that sessions started meanwhile with the old password end
    // as well.
    await store.sessions.removeAll();
    terminal.error('Every process requires the new password from now on. All sessions have ended.');
    return password;
  } finally {
    await store.close();
  }
}

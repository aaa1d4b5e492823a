import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ReeveError } from '../../../platform/errors.ts';
import type { Log } from '../../../platform/log.ts';
import {
  type InstallationSecret,
  loadInstallationSecret,
  replaceGenerated,
  replaceInstallationSecret,
  type SecretStore,
} from './installation-secret.ts';

const leastLength = 16;

const password: InstallationSecret = {
  name: 'password of the dashboard',
  file: 'dashboard.password',
  generate: () => `${randomBytes(24).toString('base64url')}\n`,
  check(value, place) {
    if (firstLineOf(value).length >= leastLength) return;
    throw new ReeveError(
      'settings',
      `${place} contains fewer than ${leastLength} characters: write a longer password, or generate one with reeve password --renew`,
    );
  },
};

/** Returns the path of the password file, which is used if the store is a file. */
export function passwordPath(data: string): string {
  return join(data, password.file);
}

/**
 * Returns the function that reads the password of the dashboard and `/metrics`: the first line of
 * `DATA/dashboard.password` (mode 0600) as read at startup, or the current value in a shared database. A missing
 * password is generated. Throws `settings`.
 */
export async function openDashboardPassword(
  data: string,
  { store, log }: { readonly store: SecretStore | undefined; readonly log?: Log },
): Promise<() => Promise<string>> {
  const first = firstLineOf(await loadInstallationSecret(password, { data, store, log }));
  if (!store?.isShared) return async () => first;
  return async () => firstLineOf(await loadInstallationSecret(password, { data, store }));
}

/**
 * Replaces the password with a generated one and returns it. A server with a shared database requires the new password
 * immediately, other servers after a restart.
 */
export async function renewDashboardPassword(data: string, store: SecretStore | undefined): Promise<string> {
  if (store?.isShared) return firstLineOf(await replaceInstallationSecret(password, store));
  return firstLineOf(await replaceGenerated(passwordPath(data), password.generate));
}

function firstLineOf(value: Buffer): string {
  return value.toString('utf8').split(/\r?\n/, 1)[0] ?? '';
}

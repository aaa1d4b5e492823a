import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ReeveError } from '../../errors.ts';
import { loadGenerated } from './generated-file.ts';

const leastLength = 16;

/** Returns where the password of an installation stands. */
export function passwordPath(data: string): string {
  return join(data, 'dashboard.password');
}

/**
 * Returns the password that opens the dashboard and `/metrics`: the first line of `DATA/dashboard.password` (mode 0600), made where there is
 * none. To set another password, write it there.
 */
export async function loadDashboardPassword(data: string): Promise<string> {
  const path = passwordPath(data);
  const held = await loadGenerated(path, () => `${randomBytes(24).toString('base64url')}\n`);
  const [password = ''] = held.toString('utf8').split(/\r?\n/, 1);
  if (password.length >= leastLength) return password;
  throw new ReeveError(
    'settings',
    `REEVE_DATA: ${path} contains fewer than ${leastLength} characters: write a longer password, or delete the file to generate one`,
  );
}

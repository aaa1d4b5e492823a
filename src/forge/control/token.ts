import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSameSecret } from '../../platform/http/constant-time-equal.ts';

/** Returns the path of the file that holds the bearer of the control routes. */
export function controlTokenFile(folder: string): string {
  return join(folder, 'control.token');
}

/** Returns the bearer of the control routes from `DATA/control.token` (mode 0600), made where there is none. */
export function ensureControlToken(folder: string): string {
  const file = controlTokenFile(folder);
  const known = readKnown(file);
  if (known !== undefined) {
    chmodSync(file, 0o600);
    return known;
  }
  const token = randomBytes(32).toString('hex');
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  // An empty file that was there keeps the mode it had.
  chmodSync(file, 0o600);
  return token;
}

function readKnown(file: string): string | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text.length >= 24 ? text : undefined;
  } catch {
    // Not there yet: the first start.
    return undefined;
  }
}

/** Tells whether a header carries the bearer, in the same time whatever it carries. */
export function isBearer(header: string | undefined, token: string): boolean {
  const given = /^bearer (\S+)$/i.exec(header ?? '')?.[1] ?? '';
  return isSameSecret(given, token);
}

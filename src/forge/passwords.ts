import { createHash, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { isSameSecret } from '../same-secret.ts';

const derive = promisify<string, Buffer, number, Buffer>(scrypt);

/** Returns the text that is stored instead of a password: `scrypt$salt$key`, both hex. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, 32);
  return `scrypt$${salt.toString('hex')}$${key.toString('hex')}`;
}

/**
 * Creates a check of passwords that remembers digests of those that were right: a client sends Basic with every request,
 * and a derivation takes tens of milliseconds. A changed password has another hash, so nothing has to be forgotten.
 */
export function createPasswordCheck(capacity = 1000): (password: string, hash: string) => Promise<boolean> {
  const right = new Set<string>();
  return async (password, hash) => {
    const digest = createHash('sha256').update(`${hash}\0${password}`).digest('hex');
    if (right.has(digest)) return true;
    if (!(await isPassword(password, hash))) return false;
    if (right.size >= capacity) right.clear();
    right.add(digest);
    return true;
  };
}

async function isPassword(password: string, hash: string): Promise<boolean> {
  const [scheme, salt, key] = hash.split('$');
  // An account without a password (an organization, a user made without one) never signs in with one.
  if (scheme !== 'scrypt' || salt === undefined || key === undefined) return false;
  const derived = await derive(password, Buffer.from(salt, 'hex'), 32);
  return isSameSecret(derived, Buffer.from(key, 'hex'));
}

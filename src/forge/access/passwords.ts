import { randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { isSameSecret } from '../../http/constant-time-equal.ts';

const derive = promisify<string, Buffer, number, Buffer>(scrypt);

/** Returns the text that is stored instead of a password: `scrypt$salt$key`, both hex. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(password, salt, 32);
  return `scrypt$${salt.toString('hex')}$${key.toString('hex')}`;
}

/** Salt of the derivation for accounts without a hash. */
const noSalt = '00'.repeat(16);

/**
 * Returns whether a password matches a stored hash. An account without a password (an organization, a user created without
 * one) gets false after the same work: the time must not reveal which accounts exist.
 */
export async function isPassword(password: string, hash: string): Promise<boolean> {
  const [scheme, salt = '', key = ''] = hash.split('$');
  const isStored = scheme === 'scrypt' && salt !== '' && key !== '';
  const derived = await derive(password, Buffer.from(isStored ? salt : noSalt, 'hex'), 32);
  return isSameSecret(derived, Buffer.from(key, 'hex')) && isStored;
}

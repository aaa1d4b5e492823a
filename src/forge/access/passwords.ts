import { randomBytes, type ScryptOptions, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { isSameSecret } from '../../platform/http/constant-time-equal.ts';

const deriveKey = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** The cost N of scrypt, a power of 2: about 40 ms of processor time and 16 MB for one derivation. */
export const defaultPasswordCost = 16_384;

/** Salt of the derivation for accounts without a hash. */
const noSalt = '00'.repeat(16);

/** Hashes and verifies passwords, with one cost: hashes of another cost do not match. */
export interface Passwords {
  /** Returns the text that is stored instead of a password: `scrypt$salt$key`, both hex. */
  hash(password: string): Promise<string>;
  /**
   * Returns whether a password matches a stored hash. An account without a password (an organization, a user created without
   * one) gets false after the same work: the time must not reveal which accounts exist.
   */
  verify(password: string, hash: string): Promise<boolean>;
}

/** Creates the hashing of passwords. `cost` is the N of scrypt. */
export function createPasswords(cost: number = defaultPasswordCost): Passwords {
  const derive = (password: string, salt: Buffer): Promise<Buffer> =>
    deriveKey(password, salt, 32, { N: cost });
  return {
    async hash(password) {
      const salt = randomBytes(16);
      const key = await derive(password, salt);
      return `scrypt$${salt.toString('hex')}$${key.toString('hex')}`;
    },
    async verify(password, hash) {
      const [scheme, salt = '', key = ''] = hash.split('$');
      const isStored = scheme === 'scrypt' && salt !== '' && key !== '';
      const derived = await derive(password, Buffer.from(isStored ? salt : noSalt, 'hex'));
      return isSameSecret(derived, Buffer.from(key, 'hex')) && isStored;
    },
  };
}

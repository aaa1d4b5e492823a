import { createHash, randomBytes, type ScryptOptions, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { BoundedMap } from '../../../platform/cache/bounded-map.ts';
import { isSameSecret } from '../../../platform/http/constant-time-equal.ts';
import { createFailureThrottle } from '../../../platform/http/failure-throttle.ts';
import type { PasswordAttempt, PasswordGate } from '../context.ts';
import { ForgeProblem } from '../errors.ts';
import { createSlots } from '../git/slots.ts';

const kinds = ['pair', 'address', 'name'] as const;
type Kind = (typeof kinds)[number];

/** Failures per minute after which the next attempt is refused. */
const limits: Readonly<Record<Kind, number>> = { pair: 10, address: 50, name: 100 };
/** Maximum entries in each map of recent sign-ins. */
const capacity = 1_000;
/** Maximum concurrent derivations; each occupies a thread for tens of milliseconds. */
const atOnce = 4;

/** Creates the gate. All entry points of a forge share one gate, so that attempts are counted together. */
export function createPasswordGate(now: () => Date, passwords: Passwords): PasswordGate {
  const throttleOf = (kind: Kind) => createFailureThrottle({ perMinute: limits[kind], clock: { now } });
  const throttles = {
    pair: throttleOf('pair'),
    address: throttleOf('address'),
    name: throttleOf('name'),
  };
  /** Digests of correct passwords, because a client sends its password with every request and a derivation is slow. */
  const right = new BoundedMap<string, true>(capacity);
  /**
   * Pairs of address and name that have signed in: failures of others with the same address or name do not lock them
   * out.
   */
  const trusted = new BoundedMap<string, true>(capacity);
  const inSlot = createSlots(atOnce);

  function assertNotThrottled(keys: Readonly<Record<Kind, string>>): void {
    const watched = trusted.has(keys.pair) ? (['pair'] as const) : kinds;
    if (!watched.some((kind) => throttles[kind].isBlocked(keys[kind]))) return;
    throw new ForgeProblem(429, 'too many wrong passwords: wait a minute', 'error', { 'retry-after': '60' });
  }

  return {
    async check(attempt) {
      const keys = keysOf(attempt);
      const hash = attempt.user?.password_hash ?? '';
      const digest = attemptDigest(hash, attempt.password);
      const isKnown = (): boolean => {
        if (!right.has(digest)) return false;
        trusted.set(keys.pair, true);
        return true;
      };
      assertNotThrottled(keys);
      if (isKnown()) return true;
      return await inSlot(async () => {
        // Check again: simultaneous attempts waited here while the first ones failed.
        assertNotThrottled(keys);
        if (isKnown()) return true;
        const isRight = await passwords.verify(attempt.password, hash);
        if (isRight) {
          right.set(digest, true);
          trusted.set(keys.pair, true);
        } else for (const kind of kinds) throttles[kind].recordFailure(keys[kind]);
        return isRight;
      });
    },
    async hash(password) {
      const hash = await passwords.hash(password);
      right.set(attemptDigest(hash, password), true);
      return hash;
    },
  };
}

/**
 * Returns the keys under which an attempt is counted. A name counts as sent: counting an account's name and its e-mail
 * address together would reveal, by the status 429, which address belongs to which account.
 */
function keysOf({ address, name: sent }: PasswordAttempt): Readonly<Record<Kind, string>> {
  const name = createHash('sha256').update(sent.toLowerCase()).digest('hex');
  return { pair: `${address} ${name}`, address, name };
}

/** Returns the digest of an attempt. A changed password has another hash, so no entry becomes stale. */
function attemptDigest(hash: string, password: string): string {
  return createHash('sha256').update(`${hash}\0${password}`).digest('hex');
}

const deriveKey = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** The cost N of scrypt, a power of 2. One derivation takes about 40 ms of processor time and 16 MB. */
const defaultPasswordCost = 16_384;

/** Salt of the derivation for accounts without a hash. */
const noSalt = '00'.repeat(16);

/** Hashes and verifies passwords with one cost; hashes made with another cost do not match. */
interface Passwords {
  /** Returns the text that is stored instead of a password: `scrypt$salt$key`, both hex. */
  hash(password: string): Promise<string>;
  /**
   * Returns whether a password matches a stored hash. For an account without a password (an organization, a user
   * created without one), the result is false after the same work: the time must not reveal which accounts exist.
   */
  verify(password: string, hash: string): Promise<boolean>;
}

/** Creates the password hasher. `cost` is the N of scrypt. */
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

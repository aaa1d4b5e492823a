import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf, ReeveError } from '../../../platform/errors.ts';
import { isSameSecret } from '../../../platform/http/constant-time-equal.ts';
import type { Log } from '../../../platform/log.ts';
import type { MemoryRows } from '../../../store/store.ts';

/** A random value shared by all processes of an installation, generated once. */
export type InstallationSecret = {
  /** Name in messages: `password of the dashboard`. */
  readonly name: string;
  /** File in the data folder. */
  readonly file: string;
  readonly generate: () => Uint8Array | string;
  /** Throws `settings` if the value cannot be used. `place` says where the value is. */
  readonly check: (value: Buffer, place: string) => void;
};

/** Length of generated keys. */
const keyBytes = 32;

/** Describes a key of 32 random bytes. `repair` is the remedy for a key of a different length. */
function describeKey({
  repair,
  ...key
}: Pick<InstallationSecret, 'name' | 'file'> & { readonly repair: string }): InstallationSecret {
  return {
    ...key,
    generate: () => randomBytes(keyBytes),
    check(value, place) {
      if (value.byteLength === keyBytes) return;
      throw new ReeveError('settings', `${place} does not contain ${keyBytes} bytes: ${repair}`);
    },
  };
}

/** The store as a source of secrets, in addition to the data folder. */
export type SecretStore = MemoryRows & { readonly isShared: boolean };

type SecretOptions = {
  /** Data folder, which contains the files. */
  readonly data: string;
  /** A shared store contains the secrets instead of the files; undefined: there is no store. */
  readonly store: SecretStore | undefined;
  /** Absent: nothing is logged. */
  readonly log?: Log | undefined;
};

const keyOf = ({ file }: InstallationSecret): string => `installation/${file}`;
const placeInStore = ({ name }: InstallationSecret): string => `DATABASE_URL: the ${name} in the database`;

/**
 * Returns a secret of this installation, and generates it if there is none. Processes with a shared database keep the
 * secret there; if several start concurrently, they all use the value of the first one. If the database does not have
 * the secret yet, an existing file in the data folder is copied there. Throws `settings`.
 */
export async function loadInstallationSecret(
  secret: InstallationSecret,
  { data, store, log }: SecretOptions,
): Promise<Buffer> {
  const path = join(data, secret.file);
  if (!store?.isShared) {
    const value = await loadGenerated(path, secret.generate);
    secret.check(value, `REEVE_DATA: ${path}`);
    return value;
  }
  const known = decode(await store.recall(keyOf(secret)));
  const inFile = await readIfThere(path);
  if (known === undefined && inFile) secret.check(inFile, `REEVE_DATA: ${path}`);
  const offered = encode(inFile ?? Buffer.from(secret.generate()));
  const held = known ?? decode(await store.revise(keyOf(secret), (value) => value ?? offered));
  if (held === undefined) throw new ReeveError('settings', `${placeInStore(secret)} cannot be read`);
  secret.check(held, placeInStore(secret));
  if (inFile && known === undefined && isSameSecret(inFile, held))
    log?.info({ file: path }, `the ${secret.name} is in the database now: this file is no longer read`);
  else if (inFile && !isSameSecret(inFile, held))
    log?.warn({ file: path }, `this file is not read: the ${secret.name} is in the database`);
  return held;
}

/** Returns a secret of this installation without generating one; undefined if there is none. Throws `settings`. */
async function readInstallationSecret(
  secret: InstallationSecret,
  { data, store }: SecretOptions,
): Promise<Buffer | undefined> {
  const path = join(data, secret.file);
  const value = (store?.isShared && decode(await store.recall(keyOf(secret)))) || (await readIfThere(path));
  if (value) secret.check(value, store?.isShared ? placeInStore(secret) : `REEVE_DATA: ${path}`);
  return value;
}

/** Replaces a secret in a shared store. */
export async function replaceInstallationSecret(
  secret: InstallationSecret,
  store: Pick<SecretStore, 'revise'>,
): Promise<Buffer> {
  const value = Buffer.from(secret.generate());
  await store.revise(keyOf(secret), () => encode(value));
  return value;
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw new ReeveError('settings', `REEVE_DATA: ${path} cannot be used: ${messageOf(cause)}`, { cause });
  }
}

function encode(value: Buffer): unknown {
  return { base64: value.toString('base64') };
}

function decode(held: unknown): Buffer | undefined {
  if (typeof held !== 'object' || held === null || !('base64' in held)) return undefined;
  return typeof held.base64 === 'string' ? Buffer.from(held.base64, 'base64') : undefined;
}

/**
 * Returns the content of a file of this installation, and creates the file (mode 0600) if it is missing. If two
 * processes start concurrently, the second uses the file of the first. Throws `settings` if the file cannot be read or
 * written.
 */
async function loadGenerated(path: string, make: () => Uint8Array | string): Promise<Buffer> {
  const made = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    // An existing file is only read, because the disk may be full.
    const held = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    if (held) return held;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(made, make(), { mode: 0o600, flag: 'wx' });
    await link(made, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    return await readFile(path);
  } catch (cause) {
    throw new ReeveError('settings', `REEVE_DATA: ${path} cannot be used: ${messageOf(cause)}`, { cause });
  } finally {
    await rm(made, { force: true });
  }
}

/**
 * Atomically replaces a file of this installation and returns its new content. Throws `settings` if the file cannot be
 * written.
 */
export async function replaceGenerated(path: string, make: () => Uint8Array | string): Promise<Buffer> {
  const made = `${path}.${randomBytes(6).toString('hex')}`;
  const value = Buffer.from(make());
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(made, value, { mode: 0o600, flag: 'wx' });
    await rename(made, path);
    return value;
  } catch (cause) {
    throw new ReeveError('settings', `REEVE_DATA: ${path} cannot be used: ${messageOf(cause)}`, { cause });
  } finally {
    await rm(made, { force: true });
  }
}

const signInKey = describeKey({
  name: 'key of sign-ins in progress',
  file: 'sign-in.key',
  repair: 'delete it',
});

/**
 * Returns the key that signs the cookie of a sign-in at the forge. The redirect from the forge may reach another
 * process, so processes with a shared database share the key. Otherwise, the key lasts only as long as the process.
 */
export async function loadSignInKey(data: string, store: SecretStore): Promise<Uint8Array> {
  return store.isShared ? loadInstallationSecret(signInKey, { data, store }) : randomBytes(keyBytes);
}

const fingerprintKey = describeKey({
  name: 'key of the fingerprints of secrets',
  file: 'fingerprint.key',
  repair: 'delete it; hooks with secrets are then written again',
});

/**
 * Returns the key of this installation's fingerprints: 32 bytes in `DATA/fingerprint.key` (mode 0600), or in a shared
 * database. A missing key is generated. With a different key, the secrets of hooks are not recognized and are written
 * once more.
 */
export function loadFingerprintKey(
  data: string,
  { store, log }: { readonly store: SecretStore | undefined; readonly log?: Log },
): Promise<Uint8Array> {
  return loadInstallationSecret(fingerprintKey, { data, store, log });
}

/** Returns the key of the fingerprints; undefined if none has been generated yet. */
export function readFingerprintKey(
  data: string,
  store: SecretStore | undefined,
): Promise<Uint8Array | undefined> {
  return readInstallationSecret(fingerprintKey, { data, store });
}

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ReeveError } from '../../../platform/errors.ts';
import { isSameSecret } from '../../../platform/http/constant-time-equal.ts';
import type { Log } from '../../../platform/log.ts';
import type { Store } from '../../../store/store.ts';
import { loadGenerated } from './generated-file.ts';

/** A random value that all processes of an installation have in common. It is generated once. */
export type InstallationSecret = {
  /** Name for people: `password of the dashboard`. */
  readonly name: string;
  /** File in the data folder. */
  readonly file: string;
  readonly generate: () => Uint8Array | string;
  /** Throws `settings` if the value cannot be used. `place` names where it is. */
  readonly check: (value: Buffer, place: string) => void;
};

/** Length of the keys that are generated. */
export const keyBytes = 32;

/** Describes a key of 32 random bytes. `repair` says what a person does about one of another length. */
export function describeKey({
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

/** What the secrets of an installation are read from, beside its data folder. */
export type SecretStore = Pick<Store, 'isShared' | 'recall' | 'revise'>;

type SecretOptions = {
  /** Folder of the files. */
  readonly data: string;
  /** A shared store has the secrets in the place of the files. Undefined: there is no store. */
  readonly store: SecretStore | undefined;
  /** Absent: nothing is logged. */
  readonly log?: Pick<Log, 'info' | 'warn'> | undefined;
};

const keyOf = ({ file }: InstallationSecret): string => `installation/${file}`;
const placeInStore = ({ name }: InstallationSecret): string => `DATABASE_URL: the ${name} in the database`;

/**
 * Returns a secret of this installation, and generates it if there is none. Processes that share a database have it there: of
 * several that start at once, the first decides. A file of the data folder is taken over into a database that has none. Throws
 * `settings`.
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
    log?.info({ file: path }, `the ${secret.name} is in the database now: this file is not read any more`);
  else if (inFile && !isSameSecret(inFile, held))
    log?.warn({ file: path }, `this file is not read: the ${secret.name} is in the database`);
  return held;
}

/** Returns a secret of this installation without generating one; undefined if there is none. Throws `settings`. */
export async function readInstallationSecret(
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

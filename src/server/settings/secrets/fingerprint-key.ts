import type { Log } from '../../../platform/log.ts';
import {
  describeKey,
  loadInstallationSecret,
  readInstallationSecret,
  type SecretStore,
} from './installation-secret.ts';

const fingerprintKey = describeKey({
  name: 'key of the fingerprints of secrets',
  file: 'fingerprint.key',
  repair: 'delete it, and hooks with secrets are written again',
});

/**
 * Returns the key of this installation's fingerprints: 32 bytes in `DATA/fingerprint.key` (mode 0600), or in a shared database.
 * It is generated where there is none. With another key, secrets of hooks are not recognised and are written once more.
 */
export function loadFingerprintKey(
  data: string,
  { store, log }: { readonly store: SecretStore | undefined; readonly log?: Pick<Log, 'info' | 'warn'> },
): Promise<Uint8Array> {
  return loadInstallationSecret(fingerprintKey, { data, store, log });
}

/** Returns the key; undefined if none was generated yet. */
export function readFingerprintKey(
  data: string,
  store: SecretStore | undefined,
): Promise<Uint8Array | undefined> {
  return readInstallationSecret(fingerprintKey, { data, store });
}

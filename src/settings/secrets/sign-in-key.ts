import { randomBytes } from 'node:crypto';
import { ReeveError } from '../../errors.ts';
import { type InstallationSecret, loadInstallationSecret, type SecretStore } from './installation-secret.ts';

const keyBytes = 32;

const signInKey: InstallationSecret = {
  name: 'key of sign-ins under way',
  file: 'sign-in.key',
  generate: () => randomBytes(keyBytes),
  check(value, place) {
    if (value.byteLength === keyBytes) return;
    throw new ReeveError('settings', `${place} does not contain ${keyBytes} bytes: delete it`);
  },
};

/**
 * Returns the key that signs what a browser holds between leaving for the forge to sign in and coming back, which may be to
 * another process of those that share a database. Where there is one process alone, the key ends with it.
 */
export async function loadSignInKey(data: string, store: SecretStore): Promise<Uint8Array> {
  return store.isShared ? loadInstallationSecret(signInKey, { data, store }) : randomBytes(keyBytes);
}

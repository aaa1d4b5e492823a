import { randomBytes } from 'node:crypto';
import { describeKey, keyBytes, loadInstallationSecret, type SecretStore } from './installation-secret.ts';

const signInKey = describeKey({
  name: 'key of sign-ins under way',
  file: 'sign-in.key',
  repair: 'delete it',
});

/**
 * Returns the key that signs what a browser holds between leaving for the forge to sign in and coming back, which may be to
 * another process of those that share a database. Where there is one process alone, the key ends with it.
 */
export async function loadSignInKey(data: string, store: SecretStore): Promise<Uint8Array> {
  return store.isShared ? loadInstallationSecret(signInKey, { data, store }) : randomBytes(keyBytes);
}

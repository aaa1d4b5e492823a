import { operations } from '../contract/operations.ts';
import { ReeveError } from '../platform/errors.ts';
import type { Client } from './client.ts';

/** The bot's account. */
export type Account = { readonly id: number; readonly login: string };

/**
 * Returns the account of the credential. A site administrator is refused unless the operator allows it: a stolen token or a
 * wrong rule could otherwise change everything on the forge.
 */
export async function findAccount(client: Client, options: { allowAdmin: boolean }): Promise<Account> {
  const self = await client.call(operations.getSelf, {});
  if (self.is_admin && !options.allowAdmin) {
    throw new ReeveError(
      'settings',
      `@${self.login} is a site administrator: use an account with only the access that your rules need, or set allow-admin: true in the operator file`,
    );
  }
  return { id: self.id, login: self.login };
}

import { operations } from '../contract/operations.ts';
import { ReeveError } from '../errors.ts';
import type { Client } from './client.ts';

/** The account Reeve acts as. */
export type Account = { readonly id: number; readonly login: string };

/**
 * Finds the account of the credential. A site administrator is refused unless the operator says so: a stolen token, or a
 * rule gone wrong, would otherwise reach everything there is.
 */
export async function findAccount(client: Client, options: { allowAdmin: boolean }): Promise<Account> {
  const self = await client.call(operations.getSelf, {});
  if (self.is_admin && !options.allowAdmin) {
    throw new ReeveError(
      'settings',
      `@${self.login} is a site administrator: use an account with the rights your rules need, or say allow-admin: true in the operator file`,
    );
  }
  return { id: self.id, login: self.login };
}

import { z } from 'zod';
import type { Account } from '../client/client.ts';
import type { MemoryRows } from '../store/store.ts';

/** The account with which a server works. A store of an earlier version has only the id. */
export type ServerAccount = Pick<Account, 'id'> & { readonly login?: string | undefined };

const key = 'account of the server';

const Remembered = z.union([
  z.number().transform((id): ServerAccount => ({ id })),
  z.object({ id: z.number(), login: z.string() }),
]);

/** Returns the account with which a server last worked; undefined if none has. */
export async function recallServerAccount(
  store: Pick<MemoryRows, 'recall'>,
): Promise<ServerAccount | undefined> {
  const found = Remembered.safeParse(await store.recall(key));
  return found.success ? found.data : undefined;
}

/** Stores the account with which a server works. */
export async function rememberServerAccount(
  store: Pick<MemoryRows, 'remember'>,
  { id, login }: Account,
): Promise<void> {
  await store.remember(key, { id, login });
}

/** Returns the account by its login, or by its id if the login is not known. */
export function nameOfAccount({ id, login }: ServerAccount): string {
  return login === undefined ? `the account ${id}` : `@${login}`;
}

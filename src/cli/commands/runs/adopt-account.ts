import { accountKey, confirmAccounts, type KnownAccount } from '../../../engine/bounds/accounts.ts';
import { systemClock } from '../../../platform/clock.ts';
import { ReeveError } from '../../../platform/errors.ts';
import type { Settings } from '../../../server/settings/config.ts';
import { createStoredMemory } from '../../../store/action-memory.ts';
import type { IncidentRows } from '../../../store/store.ts';
import { plain, type Terminal } from '../../output/terminal.ts';
import { openStore } from '../open-store.ts';

/**
 * Confirms the account that currently has a login, so that rules may again give rights to the login. Without a login,
 * lists the logins that now belong to a different account. The next event or sweep makes the refused changes. Returns
 * the exit status: 1 if there was nothing to confirm.
 */
export async function adoptAccount(
  { login, id }: { readonly login: string | undefined; readonly id: string | undefined },
  options: { json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  const store = await openStore(settings);
  try {
    if (login === undefined) return await listChanged(store, options, terminal);
    const memory = createStoredMemory(store);
    const before = (await memory.get(accountKey(login))) as KnownAccount | undefined;
    const confirmed = id === undefined ? before?.other?.id : readId(id);
    const isNew = confirmed !== undefined && confirmed > 0 && confirmed !== before?.id;
    if (isNew) await confirmAccounts(memory, { [login]: confirmed }, systemClock.now());
    if (isNew || id !== undefined) await store.clear('account-changed', [login.toLowerCase()]);
    const account = isNew ? confirmed : before?.id;
    if (options.json)
      terminal.out(JSON.stringify({ login, id: account ?? null, before: before?.id ?? null }));
    else terminal.out(plain(wordsFor(login, before, isNew ? confirmed : undefined)));
    return isNew ? 0 : 1;
  } finally {
    await store.close();
  }
}

async function listChanged(
  store: IncidentRows,
  { json }: { json?: boolean },
  terminal: Terminal,
): Promise<number> {
  const found = await store.listIncidents(['account-changed']);
  if (json)
    terminal.out(JSON.stringify(found.map(({ key, reason, lastAt }) => ({ login: key, reason, lastAt }))));
  else if (found.length === 0) terminal.out('Every login that rules name still belongs to the same account.');
  else for (const { reason } of found) terminal.out(plain(reason));
  return 0;
}

function readId(id: string): number {
  if (/^[1-9]\d{0,14}$/.test(id)) return Number(id);
  throw new ReeveError('usage', `"${id}" is not the id of an account`);
}

function wordsFor(login: string, before: KnownAccount | undefined, confirmed: number | undefined): string {
  if (confirmed !== undefined) {
    const was = before === undefined ? '' : `, and was account ${before.id}`;
    return `${login} is account ${confirmed} from now on${was}`;
  }
  if (before === undefined) return `no rule has used ${login} yet: there is nothing to confirm`;
  if (before.other !== undefined)
    return `no account that Reeve can see has the login ${login}, which was that of account ${before.id}: correct the rule file, or name an id`;
  return `${login} is account ${before.id}, as before: there is nothing to confirm`;
}

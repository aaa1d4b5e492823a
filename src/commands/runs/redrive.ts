import { userInfo } from 'node:os';
import { ReeveError } from '../../errors.ts';
import { count, type Terminal } from '../../output/terminal.ts';
import type { Settings } from '../../settings/config.ts';
import type { Store } from '../../store/store.ts';
import { openStore } from '../open-store.ts';

/**
 * Gives dead deliveries another life with all attempts: those named, or all. A running server takes them within a
 * second. Who did it, and when, is kept with them. Returns the exit status: 1 where one of those named was not dead.
 */
export async function redrive(
  ids: readonly string[],
  options: { all?: boolean; json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  if (ids.length > 0 === (options.all ?? false))
    throw new ReeveError('usage', 'name the ids of dead deliveries, or say --all');
  const store = await openStore(settings);
  try {
    const wanted = options.all ? await deadIds(store) : ids;
    const revived = await store.redrive(wanted, `${userInfo().username} by reeve redrive`);
    if (options.json) terminal.out(JSON.stringify({ asked: wanted.length, redriven: revived }));
    else
      terminal.out(`${count(revived, 'delivery').replace(/deliverys$/, 'deliveries')} will be tried again`);
    return revived === wanted.length ? 0 : 1;
  } finally {
    await store.close();
  }
}

async function deadIds(store: Store): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let before: string | undefined; ; ) {
    const page = await store.listDeliveries({
      state: 'dead',
      limit: 500,
      ...(before === undefined ? {} : { before }),
    });
    ids.push(...page.items.map(({ id }) => id));
    if (page.next === undefined) return ids;
    before = page.next;
  }
}

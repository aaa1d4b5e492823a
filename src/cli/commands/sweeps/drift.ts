import { ReeveError } from '../../../platform/errors.ts';
import type { Settings } from '../../../server/settings/config.ts';
import { type Drift, readDrift } from '../../../work/sweeps/drift.ts';
import { ageOf } from '../../output/table.ts';
import { plain, type Terminal } from '../../output/terminal.ts';
import { clientOf, openStore } from '../open-store.ts';
import { adopt } from './adopt.ts';

/**
 * Prints what sweeps found to be otherwise than a rule wants it, and since when; with `adopt` the rule file that
 * describes what is live there. Returns the exit status: 1 where something drifts.
 */
export async function drift(
  items: readonly string[],
  options: { adopt?: boolean; json?: boolean },
  settings: Settings,
  terminal: Terminal,
): Promise<number> {
  if (options.adopt) return adoptAll(items, settings, terminal);
  const store = await openStore(settings);
  try {
    const found = (await readDrift(store)).filter(({ item }) => items.length === 0 || items.includes(item));
    if (options.json) terminal.out(JSON.stringify(found));
    else if (found.length === 0) terminal.out('nothing drifts, as far as sweeps have seen');
    else for (const one of found) print(one, terminal);
    return found.length > 0 ? 1 : 0;
  } finally {
    await store.close();
  }
}

function print({ rule, item, target, live, wanted, since, why }: Drift, terminal: Terminal): void {
  terminal.out(terminal.style('bold', plain(`${item}  ${target}`)));
  terminal.out(plain(`  is ${JSON.stringify(live) ?? 'not there'}, wanted ${JSON.stringify(wanted)}`));
  terminal.out(plain(`  since ${since} (${ageOf(since, new Date())}), by ${rule}: ${why}`));
}

async function adoptAll(items: readonly string[], settings: Settings, terminal: Terminal): Promise<number> {
  if (items.length !== 1) {
    throw new ReeveError('usage', 'name one repository (acme/demo) or organization (acme) to adopt');
  }
  const { yaml, left } = await adopt(clientOf(settings), items[0] ?? '');
  for (const line of left) terminal.error(plain(`left out: ${line}`));
  terminal.out(yaml.trimEnd());
  return 0;
}

import { createClient } from '../../../client/client.ts';
import { operations } from '../../../contract/operations.ts';
import { systemClock } from '../../../platform/clock.ts';
import { messageOf } from '../../../platform/errors.ts';
import { loadRuleFiles } from '../../../rules/sources/folder.ts';
import type { Settings } from '../../../server/settings/config.ts';
import { makeReport } from '../../../work/alarms/weekly-report.ts';
import type { ForgeState } from '../../../work/deliveries/breaker.ts';
import { plain, type Terminal } from '../../output/terminal.ts';
import { openStore } from '../open-store.ts';

/** Maximum duration of the request to the forge. */
const forgeTimeoutMs = 10_000;

/** Prints the regular report as it would be now, and sends it nowhere. Returns 1 if something needs attention. */
export async function printReport(settings: Settings, terminal: Terminal): Promise<number> {
  const files =
    settings.rules === undefined ? [] : await loadRuleFiles([settings.rules], { isOperators: true });
  const operator = files.flatMap((file) => file.rules);
  const forge = await askForge(settings);
  const store = await openStore(settings);
  try {
    const about = { store, clock: systemClock, rules: { operator: () => operator } };
    const { text, attention } = await makeReport(about, forge);
    terminal.out(text.split('\n').map(plain).join('\n'));
    return attention === 0 ? 0 : 1;
  } finally {
    await store.close();
  }
}

async function askForge({ forge }: Settings): Promise<ForgeState> {
  const since = systemClock.now();
  if (forge === undefined) return { state: 'failing', since, reason: 'FORGE_URL is not set' };
  try {
    const signal = AbortSignal.timeout(forgeTimeoutMs);
    await createClient(forge).counted({ tries: 1, signal }).call(operations.getSelf, {});
    return { state: 'ok' };
  } catch (error) {
    return { state: 'failing', since, reason: messageOf(error) };
  }
}

import { createNamedSecrets } from '../actions/secrets.ts';
import type { Client } from '../client/client.ts';
import type { Budgets } from '../engine/budget/budgets.ts';
import { createBudgetLedger, type ReadRuns } from '../engine/budget/ledger.ts';
import type { RunSettings } from '../engine/make-run.ts';
import type { Clock } from '../platform/clock.ts';
import { createMessageSender } from '../platform/http/message-sender.ts';
import type { Log } from '../platform/log.ts';
import type { Store } from '../store/store.ts';
import { loadFingerprintKey } from './settings/secrets/fingerprint-key.ts';

type RunOptions = {
  readonly budgets?: Budgets | undefined;
  readonly namedSecrets?: ReadonlyMap<string, string> | undefined;
  readonly notifyHosts?: readonly string[] | undefined;
  /** Folder of the key for fingerprints of secrets. */
  readonly data: string;
  readonly log: Log;
};

/** Returns what every run of this process is given, whatever it is about. */
export async function runSettings(
  { budgets, namedSecrets, notifyHosts, data, log }: RunOptions,
  { client, store, clock }: { readonly client: Client; readonly store: Store; readonly clock: Clock },
): Promise<RunSettings> {
  const readRuns: ReadRuns = (repositoryId, before) =>
    store.listRuns({ repositoryId, limit: 100, ...(before === undefined ? {} : { before }) });
  return {
    ledger: createBudgetLedger({ now: clock.now, readRuns, store }),
    pauses: () => store.listPauses(),
    budgets,
    secrets: createNamedSecrets(namedSecrets ?? new Map(), await loadFingerprintKey(data, { store, log })),
    messages: createMessageSender({ hosts: notifyHosts ?? [] }),
    capabilities: () => client.capabilities(),
  };
}

import type { Clock } from '../../../platform/clock.ts';
import type { Store } from '../../store.ts';
import type { IncidentTable } from '../incident-table.ts';

/** Returns the methods of the store that are about incidents alone. */
export function createIncidentMethods(
  incidents: IncidentTable,
  {
    write,
    read,
    clock,
  }: {
    readonly write: <Result>(work: () => Result) => Promise<Result>;
    readonly read: <Result>(ask: () => Result) => Result;
    readonly clock: Pick<Clock, 'now'>;
  },
): Pick<Store, 'raise' | 'clear' | 'listIncidents'> {
  return {
    async raise(occurrences) {
      if (occurrences.length === 0) return;
      await write(() => {
        for (const occurrence of occurrences) incidents.raise(occurrence);
      });
    },
    async clear(kind, keys, { before } = {}) {
      return keys.length === 0 ? 0 : write(() => incidents.clear(kind, keys, before));
    },
    listIncidents: async () => read(() => incidents.list(clock.now())),
  };
}

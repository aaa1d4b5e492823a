import type { DatabaseSync } from 'node:sqlite';
import { ReeveError } from '../../../platform/errors.ts';
import type { QueueRows } from '../../queue-rows.ts';
import { createNoteAudit } from '../audit.ts';
import { createQueueTable } from '../queue-table.ts';
import type { StoreContext } from './context.ts';

/** Returns the methods of the store about merge queues. With `takeBack`, the leases of an earlier process end now. */
export function createQueueMethods(
  database: DatabaseSync,
  { write, read, clock }: Pick<StoreContext, 'write' | 'read' | 'clock'>,
  { takeBack }: { readonly takeBack: boolean },
): QueueRows {
  const table = createQueueTable(database);
  const note = createNoteAudit(database);
  if (takeBack) table.releaseAll();

  return {
    readQueue: async (key) => read(() => table.read(key)),
    listQueues: async (query = {}) => read(() => table.list(query)),
    async saveQueue(save) {
      const saved = await write(() => {
        const now = clock.now();
        const result = table.save(save, now);
        if (result === 'saved' && save.audit) note({ at: now, ...save.audit });
        return result;
      });
      if (saved === 'lost') {
        const name = `${save.repository} ${save.base}`;
        throw new ReeveError('lease-lost', `the merge queue ${name} is no longer ours: its lease has ended`);
      }
      return saved === 'saved';
    },
    claimQueue: (key, leaseMs) => write(() => table.claim(key, leaseMs, clock.now())),
    extendQueue: (lease, leaseMs) => write(() => table.extend(lease, leaseMs, clock.now())),
    releaseQueue: (lease) => write(() => table.release(lease)),
    listQueueHistory: async (query) => read(() => table.history(query)),
  };
}

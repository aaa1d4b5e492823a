import { ReeveError } from '../../src/platform/errors.ts';
import type {
  QueueHistoryRow,
  QueueKey,
  QueueLease,
  QueueRow,
  QueueRows,
} from '../../src/store/queue-rows.ts';

/** Freezes a value and everything in it. If a value is already frozen, so is everything in it. */
function freezeDeep<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) freezeDeep(member);
  return Object.freeze(value);
}

/**
 * Creates rows of merge queues in memory, for tests of code that works on them. States are frozen: as in a store, a
 * saved or read value never changes, and code that tries to change it fails.
 */
export function createMemoryQueueRows(now: () => Date): QueueRows {
  const rows = new Map<string, QueueRow>();
  const leases = new Map<string, { readonly token: string; readonly untilMs: number }>();
  const history: QueueHistoryRow[] = [];
  let tokens = 0;
  const keyOf = ({ repositoryId, base }: QueueKey): string => `${repositoryId} ${base}`;
  const isHeld = (lease: QueueLease): boolean => {
    const held = leases.get(keyOf(lease));
    return held?.token === lease.token && held.untilMs > now().getTime();
  };
  return {
    async readQueue(key) {
      return rows.get(keyOf(key));
    },
    async listQueues({ repositoryId } = {}) {
      const all = [...rows.values()];
      return all.filter((row) => repositoryId === undefined || row.repositoryId === repositoryId);
    },
    async saveQueue({ repositoryId, base, repository, state, revision, lease, events = [] }) {
      if (lease && !isHeld(lease)) throw new ReeveError('lease-lost', 'the lease of the queue has ended');
      const key = keyOf({ repositoryId, base });
      if ((rows.get(key)?.revision ?? 0) !== revision) return false;
      const row = { repositoryId, base, repository, revision: revision + 1, updatedAt: now() };
      rows.set(key, freezeDeep({ ...row, state }));
      for (const event of events) {
        history.unshift({ ...event, id: history.length + 1, repositoryId, base, repository });
      }
      return true;
    },
    async claimQueue(key, leaseMs) {
      const held = leases.get(keyOf(key));
      if (held && held.untilMs > now().getTime()) return undefined;
      tokens += 1;
      leases.set(keyOf(key), { token: String(tokens), untilMs: now().getTime() + leaseMs });
      return { ...key, token: String(tokens) };
    },
    async extendQueue(lease, leaseMs) {
      if (!isHeld(lease)) return false;
      leases.set(keyOf(lease), { token: lease.token, untilMs: now().getTime() + leaseMs });
      return true;
    },
    async releaseQueue(lease) {
      if (isHeld(lease)) leases.delete(keyOf(lease));
    },
    async listQueueHistory({ limit = 50 } = {}) {
      return history.slice(0, limit);
    },
  };
}

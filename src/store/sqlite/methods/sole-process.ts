import { hostname } from 'node:os';
import type { Clock } from '../../../platform/clock.ts';
import { packageVersion } from '../../../platform/package.ts';
import { createMemorySessions } from '../../session-rows.ts';
import type { SharedStore } from '../../shared-store.ts';

/** Returns what processes share of a store that has one process beside its readers. */
export function createSoleProcess(
  role: 'worker' | 'reader',
  clock: Pick<Clock, 'now' | 'monotonicMs'>,
): Omit<SharedStore, 'revise'> {
  const startedAt = clock.now();
  return {
    isShared: false,
    sessions: createMemorySessions(clock),
    announce() {},
    isLeader: () => role === 'worker',
    async listProcesses() {
      if (role === 'reader') return [];
      const name = `${hostname()} ${process.pid}`;
      const about = { id: String(process.pid), name, role: 'all', version: packageVersion() } as const;
      return [{ ...about, startedAt, seenAt: clock.now(), isLeader: true, isSelf: true }];
    },
  };
}

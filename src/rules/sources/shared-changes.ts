import { randomUUID } from 'node:crypto';
import type { Clock } from '../../platform/clock.ts';
import type { Pins } from './organization.ts';

/** Notifies the processes of one store of changed rules of an organization: a push reaches only one of them. */
interface SharedChanges {
  /** Notes a change that this process has seen. */
  tell(owner: string): Promise<void>;
  /** Looks for changes that other processes have seen, at most every five seconds. */
  look(owner: string): Promise<void>;
}

/** Interval of the reads. A change is in force everywhere within ten seconds. */
const lookEveryMs = 5_000;

/** Creates them. `onChange` is called with the organization for changes by other processes. */
export function createSharedChanges(options: {
  pins: Pins;
  clock: Pick<Clock, 'monotonicMs'>;
  /** Whether an owner, in lower case, is an organization with rules. */
  has: (owner: string) => boolean;
  onChange: (owners: ReadonlySet<string>) => void;
}): SharedChanges {
  const { pins, clock, has, onChange } = options;
  const seen = new Map<string, { change: unknown; atMs: number }>();
  const keyOf = (owner: string): string => `rules changed ${owner}`;
  return {
    async tell(owner) {
      const change = randomUUID();
      seen.set(owner, { change, atMs: clock.monotonicMs() });
      await pins.remember(keyOf(owner), change);
    },
    async look(name) {
      const owner = name.toLowerCase();
      if (!has(owner)) return;
      const before = seen.get(owner);
      const nowMs = clock.monotonicMs();
      if (before && nowMs - before.atMs < lookEveryMs) return;
      seen.set(owner, { change: before?.change, atMs: nowMs });
      const change = await pins.recall(keyOf(owner));
      const known = seen.get(owner);
      // A change of our own that was noted meanwhile is newer than what was read.
      if (known === undefined || known.change !== before?.change) return;
      seen.set(owner, { change, atMs: nowMs });
      if (before !== undefined && change !== before.change) onChange(new Set([owner]));
    },
  };
}

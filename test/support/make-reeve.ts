import { createActionMemory } from '../../src/actions/memory.ts';
import { standardDeliveryLifetimeMs } from '../../src/engine/limits.ts';
import { createFactMemory } from '../../src/facts/ask.ts';
import { silentLog } from '../../src/platform/log.ts';
import { standardRetention } from '../../src/store/prune.ts';
import type { Reeve } from '../../src/work/reeve.ts';
import { makeClock } from './make-clock.ts';

/** Parts of a bot that a test replaces. Test doubles need only the members that are used. */
type ReeveParts = { readonly [Name in keyof Reeve]?: Partial<Reeve[Name]> | Reeve[Name] };

/** Creates a bot whose clock stands still. A test passes its client, its store, and whatever else it uses. */
export function makeReeve(parts: ReeveParts): Reeve {
  const clock = makeClock();
  return {
    account: async () => ({ id: 9 }),
    clock,
    log: silentLog,
    memory: createFactMemory(clock),
    actionMemory: createActionMemory(),
    everyRule: async () => [],
    served: { login: async () => 'reeve', listed: [] },
    metrics: { countRun: () => {}, countSweepRun: () => {}, countQueueEvent: () => {} },
    lifetimeMs: standardDeliveryLifetimeMs,
    retention: standardRetention,
    wake: () => {},
    ...parts,
  } as Reeve;
}

import { createActionMemory } from '../../src/actions/memory.ts';
import type { PlanContext } from '../../src/actions/plan-context.ts';
import { createUnlimitedMeter } from '../../src/patterns/meter.ts';

/** Creates the context of `plan`: account 9, an operator rule named `tidy`, an empty memory. */
export function makeContext(given: Partial<PlanContext> = {}): PlanContext {
  return {
    rule: 'tidy',
    level: 'operator',
    account: { id: 9 },
    memory: createActionMemory(),
    trigger: 'delivery-1',
    now: new Date('2026-03-01T12:00:00Z'),
    meter: createUnlimitedMeter(),
    dryRun: false,
    ...given,
  };
}

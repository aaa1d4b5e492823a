import type { Readings } from './dashboard/metrics.ts';
import type { RuleSource } from './sources/rules-for.ts';
import type { Store } from './store/store.ts';
import { readDrift } from './sweeps/drift.ts';
import { createRunnerMemory } from './sweeps/runner-memory.ts';
import { createSweepStore } from './sweeps/sweep-store.ts';

/** Returns what the metrics show of sweeps and runners, which the dashboard knows nothing of. */
export function readingsOf(
  store: Store,
  rules: Pick<RuleSource, 'operator'>,
  clock: { now(): Date },
): Readings {
  const memory = createRunnerMemory(store);
  const sweeps = createSweepStore(store);
  return {
    store,
    now: () => clock.now(),
    drift: async () => (await readDrift(store)).length,
    async runners() {
      const levels = Object.entries(await memory.levels());
      return levels.flatMap(([level, records]) =>
        Object.values(records).map(({ status }) => ({ level, status })),
      );
    },
    async sweeps() {
      const found = [];
      for (const { id } of rules.operator()) {
        const result = await sweeps.readResult(id);
        if (result) found.push({ ...result, rule: id, endedAt: new Date(result.endedAt) });
      }
      return found;
    },
  };
}

import type { Readings } from './dashboard/metrics.ts';
import type { RuleSource } from './sources/rules-for.ts';
import type { Store } from './store/store.ts';
import { createRunnerMemory } from './sweeps/runner-memory.ts';
import { createSweepStore } from './sweeps/sweep-store.ts';

/**
 * Returns what the metrics show of sweeps and runners, which the dashboard knows nothing of. A rule is named as in its
 * `folder`, wherever that lies.
 */
export function readingsOf(
  store: Store,
  rules: Pick<RuleSource, 'operator'>,
  { clock, folder = '' }: { clock: { now(): Date }; folder?: string | undefined },
): Readings {
  const memory = createRunnerMemory(store);
  const sweeps = createSweepStore(store);
  return {
    store,
    now: () => clock.now(),
    async runners() {
      const levels = Object.entries(await memory.levels());
      return levels.flatMap(([level, records]) =>
        Object.values(records).map(({ status }) => ({ level, status })),
      );
    },
    async sweeps() {
      const found = [];
      for (const { id, schedules } of rules.operator()) {
        const result = schedules.length > 0 ? await sweeps.readResult(id) : undefined;
        const rule = id.startsWith(`${folder}/`) ? id.slice(folder.length + 1) : id;
        if (result) found.push({ ...result, rule, endedAt: new Date(result.endedAt) });
      }
      return found;
    },
  };
}

import { judgeSoak } from '../../soak/judge.ts';
import { runSoak } from '../../soak/run-soak.ts';
import type { Drill } from '../promise.ts';

/** Runs `reeve serve` under load and faults, like `npm run soak`, for an hour or for a few seconds. */
export const drill: Drill = async ({ isQuick, signal }) => {
  const rows = judgeSoak(await runSoak({ store: 'sqlite', seconds: isQuick ? 15 : 3_600, signal }));
  return {
    figure: rows.map(({ name, value }) => `${name}: ${value}`).join('; '),
    isKept: rows.every(({ ok }) => ok !== false),
  };
};

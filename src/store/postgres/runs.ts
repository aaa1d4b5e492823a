import type { EncodedRun } from '../encoded-runs.ts';
import { storableText } from './link/text.ts';

export const insertRuns = 'INSERT INTO runs (id, delivery, repository_id, started_at, run)';

export const replaceRun = `ON CONFLICT (id) DO UPDATE SET number = DEFAULT, delivery = excluded.delivery,
  repository_id = excluded.repository_id, started_at = excluded.started_at, run = excluded.run`;

/** Of runs with one id, the last is kept. */
export function lastOfEach(runs: readonly EncodedRun[]): readonly EncodedRun[] {
  return [...new Map(runs.map((run) => [storableText(run.id), run])).values()];
}

import type { RecordedChange, Run } from './record.ts';

/** How a change is marked that only rules in `observe` mode want. */
export const observedWords = 'observed, not sent';

/** Says whether only rules in `observe` mode want a change of a run. In runs of earlier versions its outcome tells. */
export function isObserved(
  { mode, outcomes }: Pick<Run, 'mode' | 'outcomes'>,
  { id, observed }: Pick<RecordedChange, 'id' | 'observed'>,
): boolean {
  if (observed) return true;
  return mode === 'enforce' && outcomes.some(({ change, status }) => change === id && status === 'planned');
}

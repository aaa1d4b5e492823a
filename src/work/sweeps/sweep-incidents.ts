import { shorten } from '../../engine/incidents/incident.ts';
import type { LoadedRule } from '../../rules/rule.ts';
import type { Store } from '../../store/store.ts';
import { describeRefusals } from './progress.ts';
import type { SweepResult } from './sweep-store.ts';

/** Where incidents are counted. */
export type IncidentStore = Pick<Store, 'raise' | 'clear' | 'listIncidents'>;

/**
 * Counts a sweep that could not list everything as an incident. One that looked at every item there is (`isWhole`) ends
 * that incident, and the failures that earlier sweeps of the rule met: what still fails was counted again in this one.
 */
export async function noteSweepResult(
  store: IncidentStore,
  { id, level, source, revision, home }: LoadedRule,
  { result, isWhole }: { readonly result: SweepResult; readonly isWhole: boolean },
): Promise<void> {
  const { refused = 0, startedAt, endedAt, items } = result;
  if (refused > 0) {
    const about = home && 'repositoryId' in home ? { repositoryId: home.repositoryId } : {};
    const reason = shorten(`${items} items: ${describeRefusals(result)}`);
    const occurrence = { key: id, at: new Date(endedAt), reason, level, source, revision, ...about };
    await store.raise([{ kind: 'sweep-failed', ...occurrence }]);
    return;
  }
  if (!isWhole) return;
  await store.clear('sweep-failed', [id]);
  const failed = (await store.listIncidents()).some(
    ({ kind, key, isSweep }) => kind === 'rule-failed' && key === id && isSweep,
  );
  if (failed) await store.clear('rule-failed', [id], { before: new Date(startedAt) });
}

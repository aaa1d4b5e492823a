import { shorten } from '../../engine/incidents/incident.ts';
import type { LoadedRule } from '../../rules/rule.ts';
import type { Store } from '../../store/store.ts';
import { describeRefusals, type SweepProgress } from './progress.ts';

/** How the latest sweep of a rule went. */
export type SweepResult = SweepProgress & {
  readonly slot: string;
  /** RFC 3339. */
  readonly endedAt: string;
  /** Things that are not as the rule wants them. */
  readonly drift: number;
  /** False where the budget of requests ran out before the last item. */
  readonly isComplete: boolean;
};

/** What sweeps keep between slots, by the rule's id. */
export type SweepStore = Pick<Store, 'remember' | 'recall' | 'revise'> & {
  /** Keeps where the next slot goes on; undefined where it begins anew. */
  keepRest(rule: string, next: unknown): Promise<void>;
  readRest(rule: string): Promise<unknown>;
  keepResult(rule: string, result: SweepResult): Promise<void>;
  readResult(rule: string): Promise<SweepResult | undefined>;
};

export function createSweepStore(store: Pick<Store, 'remember' | 'recall' | 'revise'>): SweepStore {
  return {
    remember: (key, value) => store.remember(key, value),
    recall: (key) => store.recall(key),
    revise: (key, edit) => store.revise(key, edit),
    keepRest: (rule, next) => store.remember(`sweep-rest ${rule}`, next),
    readRest: (rule) => store.recall(`sweep-rest ${rule}`),
    keepResult: (rule, result) => store.remember(`sweep ${rule}`, result),
    // The border to the store: what is under this key was written by `keepResult` alone.
    readResult: async (rule) => (await store.recall(`sweep ${rule}`)) as SweepResult | undefined,
  };
}

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

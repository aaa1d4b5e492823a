import type { Store } from '../../store/store.ts';
import type { SweepProgress } from './progress.ts';

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

import { mergeQueueKind } from '../../actions/merging/queue-desk.ts';
import { BoundedMap } from '../../platform/cache/bounded-map.ts';
import type { PlannedChange } from '../proposal.ts';
import type { Run } from '../record.ts';
import { createSharedLedger, type SharedLedgerStore } from './shared-ledger.ts';
import {
  type BudgetLedger,
  createWriteHistory,
  type LedgerEntry,
  type LedgerState,
  type NotedWrite,
  noteWrites,
  type WriteHistory,
} from './write-history.ts';

/** Returns the stored runs of a repository, newest first, page by page. */
export type ReadRuns = (
  repositoryId: number,
  before: string | undefined,
) => Promise<{
  readonly items: readonly Run[];
  readonly next: string | undefined;
}>;

/** Flips of one target within ten minutes after which further ones wait. */
export const maxFlips = 5;
const hourMs = 3_600_000;
const maxPlaces = 5_000;

/** What the ledger needs of a store that processes share. */
export type LedgerStore = SharedLedgerStore & { readonly isShared: boolean };

/**
 * Creates the ledger. It is counted from the stored runs when a repository is first seen, so that a restart forgives nothing.
 * From then on it is in memory, or, in a store that processes share, in the store: they spend one budget together. `now` is
 * the system's clock: stored runs carry its instants.
 */
export function createBudgetLedger(options: {
  readonly now: () => Date;
  readonly readRuns?: ReadRuns;
  /** Default: the ledger is in memory. */
  readonly store?: LedgerStore;
}): BudgetLedger {
  const { readRuns, store } = options;
  const nowMs = (): number => options.now().getTime();

  const load = async (place: number | string): Promise<LedgerState> => {
    const found: NotedWrite[] = [];
    const state = (): LedgerState => ({ writes: found.sort((a, b) => a.atMs - b.atMs), reserved: [] });
    if (typeof place === 'string' || readRuns === undefined) return state();
    for (let before: string | undefined, page = 0; page < 20; page += 1) {
      const { items, next } = await readRuns(place, before);
      const recent = items.filter((run) => Date.parse(run.trigger.at) > nowMs() - hourMs);
      found.push(...recent.flatMap((run) => noteWrites(run.id, entriesOf(run))));
      if (next === undefined || recent.length < items.length) break;
      before = next;
    }
    return state();
  };
  return store?.isShared ? createSharedLedger({ store, load, nowMs }) : createLedgerInMemory(load, nowMs);
}

function createLedgerInMemory(
  load: (place: number | string) => Promise<LedgerState>,
  nowMs: () => number,
): BudgetLedger {
  const places = new BoundedMap<number | string, Promise<WriteHistory>>(maxPlaces);
  return {
    async edit(place, work) {
      const known = places.get(place);
      if (known !== undefined) return work(await known);
      const past = load(place).then((state) => createWriteHistory(state, nowMs));
      places.set(place, past);
      past.catch(() => places.delete(place));
      return work(await past);
    },
  };
}

/**
 * Returns what a change decides, without the names of the repository and the number of the thing: a rename does not make it
 * another target, nor does a hook that is made anew.
 */
export function targetKey(params: Readonly<Record<string, unknown>> | undefined, target: string): string {
  const { owner: _owner, repo: _repo, id: _id, ...rest } = params ?? {};
  return `${JSON.stringify(rest)} ${target}`;
}

/** Returns a planned change as the ledger compares it. */
export function writeOf({
  change,
  proposals,
}: PlannedChange): Pick<LedgerEntry, 'target' | 'before' | 'after' | 'rules'> {
  return {
    target: targetKey(change.input.params, change.target),
    before: JSON.stringify(change.before) ?? '',
    after: JSON.stringify(change.after) ?? '',
    rules: [...new Set(proposals.map(({ rule }) => rule.id))],
  };
}

/** Returns the writes of a stored run that count; a merge queue has a budget of its own. */
function entriesOf(run: Run): readonly LedgerEntry[] {
  if (run.trigger.kind === mergeQueueKind) return [];
  const written = new Set(
    run.outcomes.filter(({ status }) => status === 'applied').map(({ change }) => change),
  );
  return run.changes
    .filter(({ id }) => written.has(id))
    .map((change) => ({
      atMs: Date.parse(run.trigger.at),
      level: change.level ?? 'repository',
      target: targetKey((change.input as { params?: Record<string, unknown> } | null)?.params, change.target),
      before: JSON.stringify(change.before) ?? '',
      after: JSON.stringify(change.after) ?? '',
      rules: change.rules,
      by: run.trigger.sender,
    }));
}

import { type Leases, leaseLost } from '../../leases.ts';
import { encodeRuns } from '../../rows.ts';
import type { Claim, Store } from '../../store.ts';
import type { Completion } from '../complete.ts';
import type { Redrive } from '../redrive.ts';
import type { StoreContext } from './context.ts';
import type { SettledCount } from './settled-count.ts';

/** Returns the methods of the store that end an attempt, and those that record runs or revive deliveries. */
export function createCompleteMethods(
  parts: { readonly completion: Completion; readonly redrive: Redrive },
  options: { readonly context: StoreContext; readonly leases: Leases; readonly settled: SettledCount },
): Pick<
  Store,
  'settle' | 'advance' | 'retry' | 'defer' | 'endDeferral' | 'release' | 'bury' | 'appendRuns' | 'redrive'
> {
  const { context, leases, settled } = options;
  const { write, requireWorker, clock } = context;
  const { completion, redrive } = parts;

  /** Writes under a lease. The write says whether it was still held; it must not throw, or the whole batch runs again. */
  const fenced = async (claim: Claim, work: () => boolean): Promise<void> => {
    requireWorker();
    if (await write(work)) return;
    leases.end(claim.lease);
    throw leaseLost(claim);
  };

  return {
    async settle(claim, runs, reason) {
      const encoded = encodeRuns(runs, claim.repositoryId);
      await fenced(claim, () => completion.settle(claim, encoded, clock.now(), reason));
      leases.end(claim.lease);
      settled.add(1);
    },
    async advance(claim, { runs, repositoryId, checkpoint }) {
      const encoded = encodeRuns(runs, repositoryId ?? claim.repositoryId);
      const json = JSON.stringify(checkpoint ?? null);
      await fenced(claim, () => completion.advance(claim, encoded, repositoryId, json));
    },
    async retry(claim, again) {
      await fenced(claim, () => completion.retry(claim, again, clock.now()));
      leases.end(claim.lease);
    },
    async defer(claim, runs, wait) {
      const encoded = encodeRuns(runs);
      let superseded = 0;
      await fenced(claim, () => {
        const count = completion.defer(claim, encoded, wait, clock.now());
        superseded = count ?? 0;
        return count !== undefined;
      });
      leases.end(claim.lease);
      settled.add(superseded);
    },
    async endDeferral(id, reason) {
      if (await write(() => completion.endDeferral(id, reason, clock.now()))) settled.add(1);
    },
    async release(claim) {
      await fenced(claim, () => completion.release(claim));
      leases.end(claim.lease);
    },
    async bury(claim, reason, runs = []) {
      const encoded = encodeRuns(runs, claim.repositoryId);
      await fenced(claim, () => completion.bury(claim, encoded, reason, clock.now()));
      leases.end(claim.lease);
    },

    async appendRuns(runs, { repositoryId } = {}) {
      const encoded = encodeRuns(runs);
      await write(() => completion.append(encoded, undefined, repositoryId));
    },

    async redrive(ids, by, { settled: also = false } = {}) {
      const { dead, settled: ended } = await write(() => redrive(ids, { by, at: clock.now(), also }));
      settled.add(-ended);
      return dead + ended;
    },
  };
}

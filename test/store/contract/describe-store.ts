import { describe, expect, it } from 'vitest';
import { makeDelivery } from '../make.ts';
import { describeAccepting } from './accepting.ts';
import { describeClaimsAndLeases } from './claims-and-leases.ts';
import { describeEndingsAndJobs } from './endings-and-jobs.ts';
import { describeReading } from './reading.ts';
import { describeRetriesAndDeferrals } from './retries-and-deferrals.ts';
import { describeRoutingAndRepeats } from './routing-and-repeats.ts';
import { describeRuleTexts } from './rule-texts.ts';
import { describeSamplesAndPruning } from './samples-and-pruning.ts';
import { type Backend, createStoreBench } from './store-bench.ts';

/** Tests what `store.ts` promises, on one kind of store. */
export function describeStore(title: string, backend: Backend): void {
  describe(title, () => {
    const bench = createStoreBench(backend);
    const { acceptInLane, advanceMs, claimOne, open, reopen } = bench;

    describeAccepting(bench);
    describeRoutingAndRepeats(bench);
    describeClaimsAndLeases(bench);
    describeRetriesAndDeferrals(bench);
    describeEndingsAndJobs(bench);
    describeReading(bench);
    describeSamplesAndPruning(bench);
    describeRuleTexts(bench);

    it('never assigns an id twice, whatever was pruned', async () => {
      const id = await acceptInLane('1');
      await bench.store.settle(await claimOne(), []);
      advanceMs(60_000);
      await bench.store.prune({ olderThan: bench.now });
      await reopen();

      const next = await bench.store.accept(makeDelivery());

      expect(Number(next.id)).toBeGreaterThan(Number(id));
    });

    it('is healthy', async () => {
      expect(await bench.store.healthy()).toMatchObject({ ok: true });
    });

    it('accepts nothing after it was closed, and completes calls in progress', async () => {
      const begun = bench.store.accept(makeDelivery());
      await bench.store.close();

      await expect(begun).resolves.toMatchObject({ known: false });
      await expect(bench.store.accept(makeDelivery())).rejects.toMatchObject({ code: 'store-unwritable' });
      const reopened = await open();
      expect((await reopened.counts()).accepted).toBe(1);
    });
  });
}

import { describe, expect, it } from 'vitest';
import { makeRun } from '../../store/make.ts';
import { createWorkerBench } from './worker-bench.ts';

const bench = createWorkerBench();
const { pass, start } = bench;

describe('a job', () => {
  const job = {
    door: 'cron',
    uuid: 'sweep@12:00',
    kind: 'sweep',
    lane: 'sweep labels',
    payload: { rule: 'labels' },
  } as const;

  it('goes to its own handler, which records its progress', async () => {
    start({
      handleJob: async (claim, payload, lease) => {
        await lease.advance({ runs: [makeRun({ id: 'page 1' })], repositoryId: 4, checkpoint: { page: 2 } });
        return { runs: [makeRun({ id: JSON.stringify([claim.eventType, payload]) })] };
      },
    });
    const { id } = await bench.store.enqueue({ ...job, receivedAt: bench.now });

    await pass();

    expect((await bench.store.listRuns()).items.map((run) => run.id)).toEqual([
      '["sweep",{"rule":"labels"}]',
      'page 1',
    ]);
    expect(await bench.store.readDelivery(id)).toMatchObject({ state: 'settled', checkpoint: { page: 2 } });
  });

  it('without a handler is dead', async () => {
    start();
    const { id } = await bench.store.enqueue({ ...job, receivedAt: bench.now });

    await pass();

    expect(await bench.store.readDelivery(id)).toMatchObject({
      state: 'dead',
      reason: 'there is no handler for jobs of kind sweep',
    });
  });
});

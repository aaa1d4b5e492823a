import { describe, test } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Fault } from '../support/fault-proxy.ts';
import { recordFigure } from '../support/figure.ts';
import { realServer, timeoutMs } from '../support/flow-names.ts';
import { at, type Harness, startHarness } from '../support/harness.ts';

const rules = `version: 1
rules:
  mark:
    on: [issues.opened]
    steps: [{ uses: set-labels, with: { sync: { area/docs: 'issue.title.contains("docs")' } } }]
`;
/** Duration of the forge's failure: ten minutes in the long run. */
const outageMs = process.env.LONG ? 600_000 : 6_000;
const page = '<html><title>Bad gateway</title></html>';

// The tests wait most of their time, so they run concurrently, each with its own forge and bot.
const it = test.extend<{ harness: Harness }>({
  harness: async ({ task: _task }, use) => {
    const harness = await startHarness({ rules });
    await use(harness);
    await harness.close();
  },
});

const outages: Readonly<Record<string, Fault>> = {
  'answers 502 for everything': { kind: 'answer', status: 502, body: page },
  'answers 504 for everything': { kind: 'answer', status: 504, body: page },
  'refuses the credential': { kind: 'answer', status: 401, body: '{"message":"token is revoked"}' },
  'is replaced by the error page of a proxy': { kind: 'answer', status: 200, body: page },
  'breaks every connection': { kind: 'reset' },
};

// On a real server the tests share names, so they run one after the other.
describe('a forge outage', { concurrent: realServer === undefined }, () => {
  it.for(Object.keys(outages))(
    'events while the forge %s are handled when it is back, and no attempt is counted',
    { timeout: 4 * timeoutMs + outageMs + 120_000 },
    async (outage, { harness, expect, task }) => {
      await harness.idle();
      harness.proxy.decide = () => outages[outage] ?? { kind: 'pass' };
      const from = harness.proxy.passed.length;

      const issues: number[] = [];
      for (let number = 0; number < 12; number += 1) {
        const body = { title: `docs ${number}` };
        issues.push((await harness.ada.call(operations.createIssue, { params: at, body })).number);
      }
      await harness.forge.settle();
      await new Promise((resolve) => setTimeout(resolve, outageMs));
      // After the requests in progress, at most one probe is sent per 30 s, instead of one request per delivery and
      // second.
      expect(harness.proxy.passed.length - from).toBeLessThan(60 + outageMs / 10_000);
      expect((await harness.server.store.counts()).dead).toBe(0);

      harness.proxy.decide = () => ({ kind: 'pass' });
      for (const issue of issues) {
        await expect.poll(() => harness.labelsOf(issue)).toEqual(['area/docs']);
      }
      await harness.idle();
      const { items } = await harness.server.store.listDeliveries({ search: 'issues', limit: 100 });
      expect(new Set(items.map(({ attempts }) => attempts))).toEqual(new Set([1]));
      recordFigure(
        { task },
        `forge that ${outage} for ${outageMs / 1_000} s: ${issues.length} of ${issues.length} done, 1 attempt each`,
      );
    },
  );

  it('a single issue for which the forge returns 500 delays no other issue', {
    timeout: 8 * timeoutMs,
  }, async ({ harness, expect }) => {
    await harness.idle();
    harness.proxy.decide = ({ path }) =>
      path.includes('/issues/1/') || path.endsWith('/issues/1')
        ? { kind: 'answer', status: 500, body: '{"message":"internal"}' }
        : { kind: 'pass' };

    for (let number = 0; number < 6; number += 1) {
      const body = { title: `docs ${number}` };
      await harness.ada.call(operations.createIssue, { params: at, body });
    }

    for (const issue of [2, 3, 4, 5, 6]) {
      await expect.poll(() => harness.labelsOf(issue), { timeout: 2 * timeoutMs }).toEqual(['area/docs']);
    }
    const poisoned = async () => {
      const { items } = await harness.server.store.listDeliveries({ search: 'issues', limit: 100 });
      return items.find(({ lane }) => lane?.endsWith('#1'));
    };
    await expect.poll(async () => (await poisoned())?.state, { timeout: 2 * timeoutMs }).toBe('retry');
    expect((await poisoned())?.reason).toContain('500');
  });
});

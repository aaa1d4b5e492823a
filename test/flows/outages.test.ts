import { afterEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Fault } from '../support/fault-proxy.ts';
import { patienceMs } from '../support/flow-names.ts';
import { at, type Stage, setStage } from '../support/stage.ts';

const rules = `version: 1
rules:
  mark:
    on: [issues.opened]
    steps: [{ uses: set-labels, with: { sync: { area/docs: 'issue.title.contains("docs")' } } }]
`;
/** How long the forge fails: ten minutes in the long run. */
const outageMs = process.env.LONG ? 600_000 : 6_000;
const page = '<html><title>Bad gateway</title></html>';

let stage: Stage;
afterEach(() => stage.close());

const outages: Readonly<Record<string, Fault>> = {
  'answers 502 for everything': { kind: 'answer', status: 502, body: page },
  'answers 504 for everything': { kind: 'answer', status: 504, body: page },
  'refuses the credential': { kind: 'answer', status: 401, body: '{"message":"token is revoked"}' },
  'is hidden by the page of a proxy': { kind: 'answer', status: 200, body: page },
  'breaks every connection': { kind: 'reset' },
};

it.each(Object.keys(outages))(
  'what happens while the forge %s is done when it is back, and no attempt is spent',
  { timeout: 4 * patienceMs + outageMs + 120_000 },
  async (outage) => {
    stage = await setStage({ rules });
    await stage.quiet();
    stage.proxy.decide = () => outages[outage] ?? { kind: 'pass' };
    const from = stage.proxy.passed.length;

    const issues: number[] = [];
    for (let number = 0; number < 12; number += 1) {
      const body = { title: `docs ${number}` };
      issues.push((await stage.ada.call(operations.createIssue, { params: at, body })).number);
    }
    await stage.forge.settle();
    await new Promise((resolve) => setTimeout(resolve, outageMs));
    // A probe every 30 s at most, after those that were under way; not a request for each delivery and second.
    expect(stage.proxy.passed.length - from).toBeLessThan(60 + outageMs / 10_000);
    expect((await stage.server.store.counts()).dead).toBe(0);

    stage.proxy.decide = () => ({ kind: 'pass' });
    for (const issue of issues) {
      await expect.poll(() => stage.labelsOf(issue)).toEqual(['area/docs']);
    }
    await stage.quiet();
    const { items } = await stage.server.store.listDeliveries({ search: 'issues', limit: 100 });
    expect(new Set(items.map(({ attempts }) => attempts))).toEqual(new Set([1]));
  },
);

it('an issue for which alone the forge answers 500 keeps no other waiting', {
  timeout: 8 * patienceMs,
}, async () => {
  stage = await setStage({ rules });
  await stage.quiet();
  stage.proxy.decide = ({ path }) =>
    path.includes('/issues/1/') || path.endsWith('/issues/1')
      ? { kind: 'answer', status: 500, body: '{"message":"internal"}' }
      : { kind: 'pass' };

  for (let number = 0; number < 6; number += 1) {
    const body = { title: `docs ${number}` };
    await stage.ada.call(operations.createIssue, { params: at, body });
  }

  for (const issue of [2, 3, 4, 5, 6]) {
    await expect.poll(() => stage.labelsOf(issue), { timeout: 2 * patienceMs }).toEqual(['area/docs']);
  }
  const poisoned = async () => {
    const { items } = await stage.server.store.listDeliveries({ search: 'issues', limit: 100 });
    return items.find(({ lane }) => lane?.endsWith('#1'));
  };
  await expect.poll(async () => (await poisoned())?.state, { timeout: 2 * patienceMs }).toBe('retry');
  expect((await poisoned())?.reason).toContain('500');
});

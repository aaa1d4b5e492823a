import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { SweepStore } from '../../src/work/sweeps/progress.ts';
import { SlotLimit } from '../../src/work/sweeps/sweep.ts';
import { acme, rulesOf, type SweepHarness, startSweepHarness } from '../support/sweep-harness.ts';

let harness: SweepHarness;
const demo = { owner: acme, repo: 'demo' } as const;
beforeEach(async () => {
  harness = await startSweepHarness();
});
afterEach(() => harness.close());

async function makeIssues(count: number): Promise<readonly number[]> {
  const numbers: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const { number } = await harness.ada.call(operations.createIssue, {
      params: demo,
      body: { title: `issue ${n}` },
    });
    numbers.push(number);
  }
  return numbers;
}

const closing = (items: number, more = '') => `
version: 1
rules:
  old:
    on: { schedule: "*/15 * * * *" }
    each: issue
    limits: { items: ${items} }
    ${more}
    steps: [{ uses: set-issue, with: { state: closed } }]
`;

/** Runs the next slot, and returns the number of open issues after it. */
async function slot(): Promise<number> {
  harness.advance(15);
  await harness.tick();
  const open = await harness.bot.call(operations.listIssues, { params: demo, query: { state: 'open' } });
  return open.length;
}
const result = () => new SweepStore(harness.store).readResult('rules.yml#old');

describe('the item limit of a rule per slot', () => {
  it('lets each slot change that many items until no item is left', async () => {
    await makeIssues(12);
    harness.setRules(closing(5));
    await harness.tick();

    expect(await slot()).toBe(7);
    expect(await result()).toMatchObject({ changes: 5, limit: 5, isComplete: false, failed: 0 });
    expect(await slot()).toBe(2);
    expect(await slot()).toBe(0);
    expect(await result()).toMatchObject({ changes: 2, isComplete: true });
    expect(await result()).not.toHaveProperty('limit');
  });

  it('is not reached if no further item needs a change', async () => {
    await makeIssues(3);
    harness.setRules(closing(3));
    await harness.tick();

    expect(await slot()).toBe(0);
    expect(await result()).toMatchObject({ changes: 3, isComplete: true });
  });

  it('counts items instead of changes, and ignores items without changes', async () => {
    const numbers = await makeIssues(6);
    harness.setRules(
      closing(2, `if: issue.number != ${numbers[5]} && issue.number != ${numbers[4]}`).replace(
        'steps: [',
        'steps: [{ uses: comment, with: { text: Closed. } }, ',
      ),
    );
    await harness.tick();

    expect(await slot()).toBe(4);
    expect(await result()).toMatchObject({ changes: 4, limit: 2 });
    // Two items were changed in this slot and two in the last one. The two that are left do not match the rule.
    expect(await slot()).toBe(2);
    expect(await slot()).toBe(2);
    expect(await result()).toMatchObject({ changes: 0, isComplete: true });
  });

  it('gives each item a turn, even if some need a change in every slot', async () => {
    const numbers = await makeIssues(5);
    harness.setRules(`
version: 1
rules:
  old:
    on: { schedule: "*/15 * * * *" }
    each: issue
    limits: { items: 2 }
    steps: [{ uses: comment, with: { key: "at-\${{ now.getHours() }}-\${{ now.getMinutes() }}", text: Still? } }]
`);
    await harness.tick();
    const counts = () =>
      Promise.all(
        numbers.map(async (index) => {
          const params = { ...demo, index };
          return (await harness.bot.call(operations.listComments, { params })).length;
        }),
      );

    await slot();
    expect((await counts()).toSorted()).toEqual([0, 0, 0, 1, 1]);
    await slot();
    expect((await counts()).toSorted()).toEqual([0, 1, 1, 1, 1]);
    await slot();
    // The last item has had its turn, which ends the round.
    expect(await counts()).toEqual([1, 1, 1, 1, 1]);
    await slot();
    expect((await counts()).toSorted()).toEqual([1, 1, 1, 2, 2]);
  });

  it('does not limit a rule that only observes', async () => {
    await makeIssues(3);
    harness.setRules(closing(1, 'mode: observe'));
    await harness.tick();

    expect(await slot()).toBe(3);
    expect(await result()).toMatchObject({ items: 3, changes: 0, pending: 3, isComplete: true });
  });

  it('survives an interruption of the slot, whichever process resumes it', async () => {
    const [rule] = rulesOf(closing(2));
    if (rule === undefined) throw new Error('the rule is not there');
    const { store } = harness;
    const ran = (...states: readonly string[]) =>
      ({ outcomes: states.map((status) => ({ change: 'c1', status })) }) as unknown as Run;
    const first = await SlotLimit.open(store, rule, { slot: 'a' });
    expect(await first?.begin()).toBe(true);
    await first?.end('one', ran('skipped'));
    expect(await first?.begin()).toBe(true);
    await first?.end('one', ran('applied', 'skipped'));
    // The process ends here, while the changes of an item are in progress.
    expect(await first?.begin()).toBe(true);

    const again = await SlotLimit.open(store, rule, { slot: 'a' });
    expect([await again?.begin(), again?.isReached]).toEqual([false, true]);
    const next = await SlotLimit.open(store, rule, { slot: 'b' });
    expect([await next?.begin(), next?.isReached]).toEqual([true, false]);
    // A failed change may have been made.
    await next?.end('two', ran('failed'));
    expect([await next?.begin(), await next?.begin()]).toEqual([true, false]);
  });
});

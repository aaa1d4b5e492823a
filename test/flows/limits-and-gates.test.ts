import { afterEach, describe, expect, it } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { at, type Harness, people } from '../support/harness.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';
import { addFile } from '../support/privilege-setup.ts';

let harness: Harness;
/** How far the server's clock is ahead. */
let aheadMs = 0;
const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
const hourMs = 3_600_000;
const budgetsOf = (all: number) => ({
  delivery: { all: 50, repository: 20 },
  hour: { all, repository: all },
});
afterEach(async () => {
  await harness.close();
  aheadMs = 0;
});

const gate = `  gate:
    on: { pull_request: [opened, reopened, synchronized, edited] }
    steps:
      - uses: set-status
        with:
          context: reeve/gate
          state: success
          when: pull_request.body.contains("was tested")
`;

async function statusOf(index: number): Promise<string | undefined> {
  const { head } = await harness.root.call(operations.getPull, { params: { ...at, index } });
  const all = await harness.root.call(operations.listStatuses, { params: { ...at, sha: head?.sha ?? '' } });
  const newest = all
    .filter(({ context }) => context === 'reeve/gate')
    .toSorted((a, b) => Number(b.id) - Number(a.id));
  return newest[0]?.status ?? undefined;
}

async function describePull(client: Client, index: number, body: string): Promise<void> {
  await client.call(operations.editPull, { params: { ...at, index }, body: { body } });
  await harness.idle();
}

/** Advances the server's clock, and waits for an effect; by default, until nothing is deferred any more. */
async function passTime(
  ms: number,
  isDone = async () => (await harness.server.store.counts()).deferred === 0,
): Promise<void> {
  aheadMs += ms;
  await expect.poll(isDone, { timeout: timeoutMs }).toBe(true);
  await harness.idle();
}

const refusals = () => harness.runs.flatMap(({ refused }) => refused.map(({ why }) => why));

describe('a limit never opens a gate', () => {
  it('a status follows the description, however often an author changes it', async () => {
    harness = await startOperatorHarness(`version: 1\nrules:\n${gate}`, { server: { clock } });
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await harness.idle();
    for (let turn = 0; turn < 9; turn += 1) {
      const isTested = turn % 2 === 0;
      await describePull(harness.ada, number, isTested ? 'It was tested.' : 'No.');
      expect([turn, await statusOf(number)]).toEqual([turn, isTested ? 'success' : 'failure']);
    }
    await describePull(harness.ada, number, 'Not at all.');

    expect(await statusOf(number)).toBe('failure');
    expect(refusals()).toEqual([]);
  });

  it('a label follows its condition, however often the condition changes', async () => {
    harness = await startOperatorHarness(
      `version: 1
rules:
  label:
    on: { pull_request: [opened, edited] }
    steps:
      - uses: set-labels
        with: { sync: { kept: 'pull_request.body.contains("was tested")' } }
`,
      { server: { clock } },
    );
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    for (let turn = 0; turn < 9; turn += 1) {
      await describePull(harness.ada, number, turn % 2 === 0 ? 'It was tested.' : 'No.');
      expect([turn, await harness.labelsOf(number)]).toEqual([turn, turn % 2 === 0 ? ['kept'] : []]);
    }
  });

  it('a change stopped by the flip guard is planned again when its ten minutes end', async () => {
    harness = await startOperatorHarness(
      `version: 1
rules:
  keeps:
    on: { issues: [opened, label_updated, edited] }
    steps:
      - { uses: set-labels, with: { add: [kept] } }
`,
      { server: { clock } },
    );
    const { number: index } = await harness.ada.call(operations.createIssue, {
      params: at,
      body: { title: 'tug of war' },
    });
    await harness.idle();
    const labels = await harness.root.call(operations.listLabels, { params: at });
    const id = labels.find(({ name }) => name === 'kept')?.id ?? 0;
    for (let turn = 0; turn < 6; turn += 1) {
      await harness.ada.call(operations.removeIssueLabel, { params: { ...at, index, id } });
      await harness.idle();
    }
    expect(await harness.labelsOf(index)).toEqual([]);
    expect(refusals().at(-1)).toMatch(
      /^deferred, label:kept went back and forth 5 times in ten minutes: another writer/,
    );

    await passTime(600_000);
    expect(await harness.labelsOf(index)).toEqual(['kept']);
  });

  it('a change over the limit of one delivery is made later', async () => {
    const names = Array.from({ length: 30 }, (_, place) => `l${place}`);
    harness = await startOperatorHarness(
      `version: 1
rules:
  many:
    on: { issues: [opened] }
    steps:
      - { uses: set-labels, with: { add: [${names.join(', ')}] } }
`,
      {
        labels: names,
        server: {
          clock,
          budgets: { delivery: { all: 20, repository: 20 }, hour: { all: 500, repository: 100 } },
        },
      },
    );
    const { number } = await harness.ada.call(operations.createIssue, {
      params: at,
      body: { title: 'many' },
    });
    await harness.idle();
    expect(await harness.labelsOf(number)).toHaveLength(20);

    await passTime(600_000);
    expect(await harness.labelsOf(number)).toHaveLength(30);
  });

  it("a stranger's issues use a tenth of the hourly budget, and delay neither a dismissal nor the rules of others", async () => {
    harness = await startOperatorHarness(
      `version: 1
rules:
  mark:
    on: { issues: [opened] }
    steps:
      - { uses: set-labels, with: { add: [kept] } }
  stale:
    on: { pull_request: [synchronized] }
    steps:
      - { uses: dismiss-stale-reviews }
`,
      { server: { clock, budgets: budgetsOf(25) } },
    );
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    const { id } = await harness.root.call(operations.createReview, {
      params: { ...at, index: number },
      body: { event: 'APPROVED', body: 'Good.' },
    });
    const eve = await harness.forge.makePerson(people.eve);
    for (let issue = 0; issue < 25; issue += 1)
      await eve.call(operations.createIssue, { params: at, body: { title: `noise ${issue}` } });
    await harness.idle();
    // One account may use a tenth of the 20 unreserved changes, so 2 of 25 are made.
    expect((await harness.server.store.counts()).deferred).toBe(23);
    expect(refusals().at(-1)).toMatch(/one account without write access/);

    await addFile(harness.ada, at, 'work', 'late.txt');
    await harness.idle();
    const review = await harness.root.call(operations.getReview, { params: { ...at, index: number, id } });
    expect(review.dismissed).toBe(true);
    for (let issue = 0; issue < 5; issue += 1)
      await harness.ada.call(operations.createIssue, { params: at, body: { title: `work ${issue}` } });
    await harness.idle();
    const counts = await harness.server.store.counts();
    expect(counts.deferred).toBe(23);
  });

  it('a deferred protective change is made after an hour, however often its author causes it anew', async () => {
    harness = await startOperatorHarness(`version: 1\nrules:\n${gate}`, {
      server: { clock, budgets: budgetsOf(1) },
    });
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await harness.idle();
    await passTime(hourMs);
    await describePull(harness.ada, number, 'It was tested.');
    if ((await statusOf(number)) !== 'success') await passTime(hourMs);
    for (const body of ['No.', 'Not yet.', 'Not at all.']) await describePull(harness.ada, number, body);
    expect(await statusOf(number)).toBe('success');

    await passTime(hourMs);
    expect(await statusOf(number)).toBe('failure');
  });

  it('a deferred protective change blocks the merge, is an incident, and is made later', async () => {
    harness = await startOperatorHarness(
      `version: 1
rules:
${gate}  merge:
    on: { pull_request: [label_updated] }
    if: pull_request.labels.exists(l, l.name == "kept")
    steps:
      - { uses: merge, with: { method: merge } }
`,
      { server: { clock, budgets: budgetsOf(1) } },
    );
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await harness.idle();
    await passTime(hourMs);
    await describePull(harness.ada, number, 'It was tested.');
    if ((await statusOf(number)) !== 'success') await passTime(hourMs);
    expect(await statusOf(number)).toBe('success');

    await describePull(harness.ada, number, 'No.');
    expect(await statusOf(number)).toBe('success');
    const incidents = await harness.server.store.listIncidents();
    expect(incidents.map(({ kind, key, reason }) => [kind, key.split('#')[1], reason])).toEqual([
      ['rule-failed', 'gate', expect.stringContaining('Nothing is merged there until then.')],
    ]);
    const labels = await harness.root.call(operations.listLabels, { params: at });
    const kept = labels.find(({ name }) => name === 'kept')?.id ?? 0;
    await harness.ada.call(operations.addIssueLabels, {
      params: { ...at, index: number },
      body: { labels: [kept] },
    });
    await harness.idle();
    expect(refusals().at(-1)).toMatch(
      /^a protective change of .*#gate has not been applied yet: deferred, over the budget/,
    );

    // The merge of the same hour waits for its budget.
    await passTime(hourMs, async () => (await statusOf(number)) === 'failure');
    expect((await harness.server.store.counts()).deferred).toBe(1);
    expect(await harness.server.store.listIncidents()).toEqual([]);
  });
});

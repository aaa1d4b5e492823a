import { afterEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { at, type Harness } from '../support/harness.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';
import { addFile, untilPushListed } from '../support/privilege-setup.ts';

let harness: Harness;
/** How far the server's clock is ahead. */
let aheadMs = 0;
const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
afterEach(async () => {
  await harness.close();
  aheadMs = 0;
});

const rules = (stale: string, ends: 'merge' | 'queue-merge') => `version: 1
rules:
  stale:
    on: { pull_request: [synchronized] }
${stale}
  merge:
    on: { pull_request: [synchronized, label_updated] }
    if: labels.exists(l, l.name == "kept")
    steps: [{ uses: ${ends}, with: { method: merge } }]
`;

const dismissal = '    steps: [{ uses: dismiss-stale-reviews }]';

type Failing = {
  readonly stale: string;
  /** Returns whether the forge refuses a request. */
  readonly refuses: (method: string, path: string) => boolean;
};

const ways: Readonly<Record<string, Failing>> = {
  'the forge refuses the change of the rule': {
    stale: dismissal,
    refuses: (method, path) => method === 'POST' && path.endsWith('/dismissals'),
  },
  'the condition of the rule cannot be evaluated': {
    stale: `    if: files.size() > 0\n${dismissal}`,
    refuses: (_, path) => /\/pulls\/\d+\/files/.test(path),
  },
};

const refusals = () => harness.runs.flatMap(({ refused }) => refused.map(({ why }) => why));
const skips = () => harness.runs.flatMap(({ outcomes }) => outcomes.flatMap(({ error }) => error ?? []));

async function pullOf(index: number) {
  return harness.root.call(operations.getPull, { params: { ...at, index } });
}

async function label(index: number): Promise<void> {
  const labels = await harness.root.call(operations.listLabels, { params: at });
  const id = labels.find(({ name }) => name === 'kept')?.id ?? 0;
  await harness.ada.call(operations.addIssueLabels, { params: { ...at, index }, body: { labels: [id] } });
  await harness.idle();
}

/** Creates a pull request with reviews of its first commit, and pushes a second commit. */
async function pushAfterReviews(): Promise<{ readonly number: number; readonly review: number }> {
  const { number } = await harness.openPull('work', { 'a.txt': 'a' });
  const { id } = await harness.root.call(operations.createReview, {
    params: { ...at, index: number },
    body: { event: 'APPROVED', body: 'Good.' },
  });
  await harness.idle();
  await addFile(harness.ada, at, 'work', 'late.txt');
  await untilPushListed(harness.root, { ...at, index: number, branch: 'work' });
  await harness.idle();
  return { number, review: id };
}

describe.each(Object.entries(ways))('if %s', (_, { stale, refuses }) => {
  it.each(['merge', 'queue-merge'] as const)(
    '%s merges nothing until the failed protective rule has succeeded, which is retried automatically',
    async (ends) => {
      harness = await startOperatorHarness(rules(stale, ends), { server: { clock } });
      let isRefusing = true;
      harness.proxy.decide = ({ method, path }) =>
        isRefusing && refuses(method, path) ? { kind: 'answer', status: 403, body: '{}' } : { kind: 'pass' };
      const { number, review } = await pushAfterReviews();

      await label(number);
      expect((await pullOf(number)).merged).toBe(false);
      expect(refusals().at(-1)).toMatch(/^a protective change of .*#stale has not been applied yet: /);

      isRefusing = false;
      // Waiting rows and queues check again after a while. Time stands still while they work, because a lease would
      // expire.
      const isMerged = async () => {
        aheadMs += 30_000;
        await harness.idle();
        return (await pullOf(number)).merged;
      };
      await expect.poll(isMerged, { interval: 200, timeout: timeoutMs }).toBe(true);
      const params = { ...at, index: number, id: review };
      expect((await harness.root.call(operations.getReview, { params })).dismissed).toBe(true);
    },
  );

  it('a merge of the same run is not sent', async () => {
    harness = await startOperatorHarness(rules(stale, 'merge'), { server: { clock } });
    harness.proxy.decide = ({ method, path }) =>
      refuses(method, path) ? { kind: 'answer', status: 403, body: '{}' } : { kind: 'pass' };
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await harness.root.call(operations.createReview, {
      params: { ...at, index: number },
      body: { event: 'APPROVED', body: 'Good.' },
    });
    // Drafts are not merged, so that the label alone does not end the test.
    const draft = (title: string) =>
      harness.root.call(operations.editPull, { params: { ...at, index: number }, body: { title } });
    await draft('WIP: work');
    await label(number);
    await draft('work');
    await harness.idle();
    await addFile(harness.ada, at, 'work', 'late.txt');
    await harness.waitForRun(({ trigger }) => trigger.activity === 'synchronized');
    await harness.idle();

    // A real server may not have checked yet whether the pull request can be merged, and is then asked again.
    const reasons = () => [...refusals(), ...skips()].join('\n');
    const later = async () => {
      aheadMs += 30_000;
      await harness.idle();
      return reasons();
    };
    await expect
      .poll(later, { interval: 200, timeout: timeoutMs })
      .toMatch(/a protective change of .*#stale has not been applied yet/);
    expect((await pullOf(number)).merged).toBe(false);
  });
});

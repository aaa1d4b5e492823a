import { afterEach, describe, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { PullReview } from '../../src/contract/resources/reviews.ts';
import { reeve } from '../support/command.ts';
import { timeoutMs } from '../support/flow-names.ts';
import { at, type Harness, people } from '../support/harness.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';
import { addFile } from '../support/privilege-setup.ts';

const rules = `version: 1
rules:
  review:
    on: { pull_request: [opened, edited, synchronized, reopened] }
    steps:
      - uses: review
        with:
          verdict: request-changes
          when: '!pull_request.body.contains("was tested")'
          text: "Say what was tested, \${{ pull_request.user.login }}."
          message: It says so now.
`;
const approving = `version: 1
rules:
  approve:
    on: { pull_request: [opened, edited, synchronized] }
    steps:
      - uses: review
        with: { verdict: approve, when: 'pull_request.body.contains("was tested")' }
  merge:
    on: [pull_request.edited, pull_request.synchronized, pull_request_review]
    if: approvals.size() > 0
    steps: [{ uses: merge, with: { method: merge } }]
`;

let harness: Harness;
afterEach(() => harness?.close());

async function reviews(index: number): Promise<readonly PullReview[]> {
  const found: PullReview[] = [];
  for await (const one of harness.root.items(operations.listReviews, { params: { ...at, index } }))
    if (one.user?.login === people.bot) found.push(one);
  return found;
}
const shown = async (index: number) =>
  (await reviews(index)).map(({ state, dismissed }) => (dismissed ? `${state}, dismissed` : state));
async function describePull(index: number, body: string): Promise<void> {
  await harness.ada.call(operations.editPull, { params: { ...at, index }, body: { body } });
  await harness.idle();
}
const refusals = () => harness.runs.flatMap(({ refused }) => refused.map(({ why }) => why));

describe('the review of a rule', () => {
  it('stands on the head while the condition holds, is dismissed and renewed, and is made again after a push', async () => {
    harness = await startOperatorHarness(rules);
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await harness.idle();

    const [first] = await reviews(number);
    expect(first).toMatchObject({ state: 'REQUEST_CHANGES', dismissed: false });
    expect(first?.body).toContain(`Say what was tested, ${people.ada}.`);
    await describePull(number, 'It is described.');
    expect(await shown(number)).toEqual(['REQUEST_CHANGES']);

    await describePull(number, 'It was tested.');
    expect(await shown(number)).toEqual(['REQUEST_CHANGES, dismissed']);
    await describePull(number, 'Not any more.');
    expect(await shown(number)).toEqual(['REQUEST_CHANGES']);

    await addFile(harness.ada, at, 'work', 'late.txt');
    await harness.idle();
    await expect
      .poll(async () => (await shown(number)).slice(1), { timeout: timeoutMs })
      .toEqual(['REQUEST_CHANGES']);
    const { head } = await harness.root.call(operations.getPull, { params: { ...at, index: number } });
    expect((await reviews(number)).at(-1)?.commit_id).toBe(head?.sha);
    await describePull(number, 'It was tested.');
    expect(new Set(await shown(number))).toEqual(new Set(['REQUEST_CHANGES, dismissed']));
  });

  it('is one for each rule, and no rule approves while another one requests changes', async () => {
    harness = await startOperatorHarness(`version: 1
rules:
  approve:
    on: pull_request.edited
    steps: [{ uses: review, with: { verdict: approve, when: 'pull_request.body.contains("ok")' } }]
  one:
    on: pull_request.edited
    steps: [{ uses: review, with: { verdict: request-changes, when: '!pull_request.body.contains("one")' } }]
  two:
    on: pull_request.edited
    steps: [{ uses: review, with: { verdict: request-changes, when: '!pull_request.body.contains("two")' } }]
`);
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await describePull(number, 'Nothing.');
    expect(await shown(number)).toHaveLength(2);
    await describePull(number, 'Nothing again.');
    expect(await shown(number)).toEqual(['REQUEST_CHANGES', 'REQUEST_CHANGES']);

    await describePull(number, 'one, ok');
    expect((await shown(number)).toSorted()).toEqual(['REQUEST_CHANGES', 'REQUEST_CHANGES, dismissed']);
    expect(refusals()).toContain('Reeve’s account requests changes of this pull request');
    await describePull(number, 'one, two, ok');
    await describePull(number, 'one, two, ok.');
    expect((await shown(number)).at(-1)).toBe('APPROVED');
  });

  it('that a person dismissed is not repeated on the same commit', async () => {
    harness = await startOperatorHarness(rules);
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await harness.idle();
    const [first] = await reviews(number);
    await harness.root.call(operations.dismissReview, {
      params: { ...at, index: number, id: first?.id ?? 0 },
      body: { message: 'It is fine.' },
    });

    await describePull(number, 'Still without it.');
    expect(await shown(number)).toEqual(['REQUEST_CHANGES, dismissed']);
  });

  it('does not count as an approval for rules: two rules cannot merge without a person', async () => {
    harness = await startOperatorHarness(approving);
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await describePull(number, 'It was tested.');
    expect(await shown(number)).toEqual(['APPROVED']);
    await describePull(number, 'It was tested again.');

    const { merged } = await harness.root.call(operations.getPull, { params: { ...at, index: number } });
    expect(merged).toBe(false);
    const seen = harness.runs.flatMap((run) => run.rules).flatMap(({ findings }) => findings);
    expect(seen.map(({ values }) => values['approvals, not counted'])).toContainEqual([
      `${people.bot}: a rule of Reeve approved, not a person`,
    ]);

    await harness.root.call(operations.createReview, {
      params: { ...at, index: number },
      body: { event: 'APPROVED', body: 'Good.' },
    });
    await harness.idle();
    await expect
      .poll(
        async () =>
          (await harness.root.call(operations.getPull, { params: { ...at, index: number } })).merged,
        { timeout: timeoutMs },
      )
      .toBe(true);
  });

  it('is refused for a pull request of Reeve’s own account, with the reason', async () => {
    harness = await startOperatorHarness(rules);
    await addFile(harness.bot, at, 'own', 'own.txt');
    const { number } = await harness.bot.call(operations.createPull, {
      params: at,
      body: { title: 'Own', head: 'own', base: 'main', body: 'Nothing.' },
    });
    await harness.ada.call(operations.editPull, {
      params: { ...at, index: number },
      body: { title: 'Own one' },
    });
    await harness.idle();

    expect(await shown(number)).toEqual([]);
    expect(refusals()).toContain(
      'Reeve’s account opened the pull request, and an account cannot review its own pull request',
    );
  });

  it('fails before the first write if the account could not dismiss it', async () => {
    harness = await startOperatorHarness(rules, { access: 'write' });
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await harness.idle();

    expect(await shown(number)).toEqual([]);
    expect(harness.runs.flatMap((run) => run.rules).map(({ reason }) => reason)).toContainEqual(
      expect.stringContaining('has to be an administrator of the repository to dismiss the review later'),
    );
  });

  it('is dismissed by reeve revert, and the message says that it stays visible', async () => {
    harness = await startOperatorHarness(rules);
    const { number } = await harness.openPull('work', { 'a.txt': 'a' });
    await harness.idle();
    const environment = { ...harness.environment, REEVE_RULES: harness.rules ?? '' };

    const { out, status } = await reeve(['revert', 'last'], { environment });

    expect([status, out]).toEqual([0, expect.stringContaining('the dismissed review stays visible')]);
    await harness.idle();
    expect(await shown(number)).toEqual(['REQUEST_CHANGES, dismissed']);
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';
import type { GitClone } from '../support/git-client.ts';
import { type HookReceiver, startReceiver } from '../support/hook-receiver.ts';
import { lines, openReviewedPull, pushes, type ReviewedPull } from '../support/review-pushes.ts';

describeContract('approvals and pushes', (forge) => {
  let [ada, bob]: Account[] = [];
  let receiver: HookReceiver;
  let repository: string;
  let work: GitClone;
  let commits: ReviewedPull['commits'];
  const clones: GitClone[] = [];
  beforeAll(async () => {
    [ada, bob] = [await forge.makeUser(), await forge.makeUser()];
    receiver = await startReceiver();
  });
  afterAll(() => receiver.close());
  beforeEach(async () => {
    ({ repository, work, commits } = await openReviewedPull(forge, ada as Account, bob as Account));
    clones.push(work);
    const config = { url: receiver.url, content_type: 'json' };
    await ask('POST', '/hooks', { type: 'gitea', config, events: ['pull_request_sync'], active: true });
  });
  afterEach(() => {
    for (const clone of clones.splice(0)) clone.remove();
  });

  const ask = (method: string, path: string, body?: unknown, as = ada): Promise<Answer> =>
    forge.ask(method, `/repos/${repository}${path}`, { as, body });
  const approve = async (commit?: string): Promise<{ id: number; stale: boolean }> => {
    const body = { event: 'APPROVED', body: '', ...(commit === undefined ? {} : { commit_id: commit }) };
    return (await ask('POST', '/pulls/1/reviews', body, bob)).json;
  };
  /**
   * Pushes and waits for the webhook. A real forge evaluates reviews in the background, before it sends the webhook.
   */
  async function pushAndWait(): Promise<void> {
    const head = (await work.git('rev-parse', 'HEAD')).trim();
    await work.git('push', '--quiet', '--force', 'origin', 'topic');
    const told = () =>
      receiver
        .payloads('pull_request_sync')
        .filter((one) => one.repository.full_name === repository)
        .map((one) => one.pull_request.head.sha);
    await expect.poll(told, { timeout: 30_000, interval: 50 }).toContain(head);
  }

  it.each(pushes)('after "$push", stale is $isStale', async ({ make, isStale }) => {
    const { id } = await approve();

    await make(work, commits);
    await pushAndWait();

    expect((await ask('GET', `/pulls/1/reviews/${id}`)).json.stale).toBe(isStale);
  });

  describe('of an older commit', () => {
    it.each([
      ['is stale immediately if the head has further changes', { 'b.txt': 'b again\n' }, true],
      ['is not stale if the head has reverted the newer changes', { 'a.txt': lines() }, false],
    ] as const)('%s', async (_, files, isStale) => {
      const older = (await work.git('rev-parse', 'HEAD')).trim();
      await work.commit(files);
      await pushAndWait();

      expect((await approve(older)).stale).toBe(isStale);
    });
  });
});

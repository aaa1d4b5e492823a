import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ActionMemory, createActionMemory } from '../../src/actions/memory.ts';
import { createClient } from '../../src/client/client.ts';
import type { Subject } from '../../src/contract/events/subject.ts';
import { approvals } from '../../src/facts/approvals.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
import { commits as commitsRow } from '../../src/facts/commits.ts';
import { type Facts, requestOf } from '../../src/facts/fact.ts';
import { changedSinceFact, files as filesRow } from '../../src/facts/files.ts';
import { currentReviews } from '../../src/facts/reviews.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';
import type { GitClone } from '../support/git-client.ts';
import { lineOf, realForge } from '../support/real-forge.ts';
import { lines, openReviewedPull, pushes, type ReviewedPull } from '../support/review-pushes.ts';

const server = realForge();
const isForgejo = (url: string) => url === server?.url && lineOf(server.version).kind === 'forgejo';

describeContract('reviews and what changed since', (forge) => {
  let [ada, bob]: Account[] = [];
  let pull: ReviewedPull;
  let id: number;
  let work: GitClone;
  const clones: GitClone[] = [];
  beforeAll(async () => {
    [ada, bob] = [await forge.makeUser(), await forge.makeUser()];
  });
  beforeEach(async () => {
    pull = await openReviewedPull(forge, ada as Account, bob as Account);
    work = pull.work;
    clones.push(work);
    id = (await forge.ask('GET', `/repos/${pull.repository}`, { as: ada })).json.id;
  });
  afterEach(() => {
    for (const clone of clones.splice(0)) clone.remove();
  });

  const ask = (method: string, path: string, body?: unknown, as = ada): Promise<Answer> =>
    forge.ask(method, `/repos/${pull.repository}${path}`, { as, body });
  /** Reviews the head of the clone. Without `commit_id`, a server uses the last head that it has processed, which may be an older one. */
  const review = async (event: string): Promise<void> => {
    const body = { event, body: 'x', commit_id: await head() };
    expect((await ask('POST', '/pulls/1/reviews', body, bob)).status).toBe(200);
  };
  const head = async () => (await work.git('rev-parse', 'HEAD')).trim();
  const live = async () => (await ask('GET', '/pulls/1')).json;
  async function push(): Promise<void> {
    const commit = await head();
    await work.git('push', '--quiet', '--force', 'origin', 'topic');
    await expect.poll(async () => (await live()).head.sha, { timeout: 30_000 }).toBe(commit);
  }
  const repository = () => {
    const [owner = '', name = ''] = pull.repository.split('/');
    return { id, owner, name };
  };
  /** Facts of a run. With `memory`, the run has a store. */
  function factsOf(subject: Subject, memory?: ActionMemory): Facts & { requests(): number } {
    const client = createClient({ url: forge.url, credentials: { token: ada?.token ?? '' } });
    const records = memory && {
      get: memory.get,
      set: (key: string, value: object) => memory.set(key, { ...value, at: '2026-01-01T00:00:00Z' }),
    };
    const memoryOfFacts = createFactMemory(systemClock);
    const facts = createFacts({ client, subject, memory: memoryOfFacts, clock: systemClock, records });
    return { ...facts, requests: () => client.requests };
  }
  const facts = (memory?: ActionMemory) =>
    factsOf({ kind: 'pull_request', index: 1, repository: repository() }, memory);
  const countOf = async (memory?: ActionMemory) => (await facts(memory).ask(requestOf(approvals))).length;

  it.each(pushes)('an approval and $push: the approval counts is $isSame', async ({ make, isSame }) => {
    await review('APPROVED');
    expect(await countOf()).toBe(1);

    await make(work, pull.commits);
    await push();

    expect(await countOf()).toBe(isSame ? 1 : 0);
  });

  describe('an approval of a head into which the base was merged', () => {
    beforeEach(async () => {
      await work.git('checkout', '--quiet', 'main');
      await work.commit({ 'other.txt': 'of the base\n' });
      await work.git('push', '--quiet', 'origin', 'main');
      await work.git('checkout', '--quiet', 'topic');
      await work.git('merge', '--quiet', '--no-edit', 'main');
      await push();
      await review('APPROVED');
    });

    it('counts after a rebase if its merge base was recorded', async () => {
      const memory = createActionMemory();
      expect(await countOf(memory)).toBe(1);

      await work.git('rebase', '--quiet', 'main');
      await push();

      expect(await countOf(memory)).toBe(1);
      // Forgejo no longer lists the merge commit among the commits that the reviewed head has and the base lacks, so
      // one candidate is left.
      expect(await countOf()).toBe(isForgejo(forge.url) ? 1 : 0);
    });

    it('does not count if the base has since changed the same file', async () => {
      const memory = createActionMemory();
      expect(await countOf(memory)).toBe(1);

      await work.git('checkout', '--quiet', 'main');
      await work.commit({ 'a.txt': lines({ 10: 'of the base' }) });
      await work.git('push', '--quiet', 'origin', 'main');
      await work.git('checkout', '--quiet', 'topic');
      await work.git('merge', '--quiet', '--no-edit', 'main');
      await push();

      expect(await countOf(memory)).toBe(0);
    });
  });

  it('an approval is evaluated against the current base after the base changes', async () => {
    await ask('POST', '/branches', { new_branch_name: 'older', old_branch_name: 'main' });
    await review('APPROVED');
    await work.git('checkout', '--quiet', 'main');
    await work.commit({ 'secret.txt': 'secret\n' });
    await work.git('push', '--quiet', 'origin', 'main');
    await work.git('checkout', '--quiet', 'topic');
    await work.git('rebase', '--quiet', 'main');
    await push();
    expect(await countOf()).toBe(1);

    expect((await ask('PATCH', '/pulls/1', { base: 'older' })).status).toBe(201);

    // The rebase brings a commit of main into the older branch, and this commit was not approved.
    expect(await countOf()).toBe(0);
  });

  it('if changes cannot be compared, an approval does not count and a rejection stays', async () => {
    await work.git('update-index', '--add', '--cacheinfo', `160000,${pull.commits.base},module`);
    await work.git('commit', '--quiet', '-m', 'submodule');
    await push();
    await review('APPROVED');
    await work.git('commit', '--quiet', '--amend', '-m', 'same');
    await push();
    const states = async () => (await facts().ask(requestOf(currentReviews))).map(({ state }) => state);
    expect(await states()).toEqual([]);

    await review('REQUEST_CHANGES');
    await work.git('commit', '--quiet', '--amend', '-m', 'same again');
    await push();

    expect(await states()).toEqual(['REQUEST_CHANGES']);
    await work.commit({ 'c.txt': 'c\n' });
    await push();
    expect(await states()).toEqual(['REQUEST_CHANGES']);
  });

  it('a change on the second page of a folder listing is detected', { timeout: 600_000 }, async () => {
    const files = Array.from({ length: 1_001 }, (_, place) => [`f${1_000 + place}.txt`, `${place}\n`]);
    await work.commit(Object.fromEntries(files));
    await push();
    await review('APPROVED');
    await work.git('commit', '--quiet', '--amend', '-m', 'same');
    await push();
    expect(await countOf()).toBe(1);

    await work.commit({ 'f2000.txt': 'another\n' });
    await push();

    expect(await countOf()).toBe(0);
  });

  it('a branch named like a commit has no effect', async () => {
    await review('APPROVED');
    await work.git('push', '--quiet', 'origin', `${pull.commits.base}:refs/heads/${pull.commits.last}`);
    await work.git('reset', '--quiet', '--hard', pull.commits.base);
    await work.git('commit', '--quiet', '--allow-empty', '-m', 'empty');
    await push();
    expect(await countOf()).toBe(0);

    // If the base were compared by its commit id, it would contain all commits but the last.
    await work.git('push', '--quiet', 'origin', `${pull.commits.first}:refs/heads/${pull.commits.base}`);
    await work.git('cherry-pick', pull.commits.last);
    await push();

    expect(await countOf()).toBe(0);
  });

  it('reviews are compared once for each reviewed commit, with one comparison if all are of the head', async () => {
    await review('APPROVED');
    await work.git('commit', '--quiet', '--amend', '-m', 'same');
    await push();
    const run = facts();
    await run.ask(requestOf(currentReviews));
    const first = run.requests();

    await run.anew([requestOf(currentReviews)]).ask(requestOf(currentReviews));
    await run.fresh([requestOf(currentReviews)]).ask(requestOf(currentReviews));

    // The pull request and its reviews are read again, as is the merge base of the head.
    expect(run.requests() - first).toBeLessThanOrEqual(4);
  });

  describe('the changes since a commit', () => {
    const since = async (commit: string) =>
      (await facts().ask(requestOf(changedSinceFact, commit)))?.map(({ filename }) => filename).sort();
    const pushed = (before: string, after: string) =>
      factsOf({ kind: 'branch', ref: 'topic', range: { before, after }, repository: repository() });
    const filesOf = async (before: string, after: string) =>
      (await pushed(before, after).ask(requestOf(filesRow))).map(({ filename }) => filename).sort();

    it('include what a force-push removed', async () => {
      await work.git('reset', '--quiet', '--hard', 'main');
      const after = await work.commit({ 'docs.md': 'docs\n' });
      await push();

      const expected = ['a.txt', 'b.txt', 'docs.md', 'gone.txt'];
      expect(await since(pull.commits.last)).toEqual(expected);
      expect(await filesOf(pull.commits.last, after)).toEqual(expected);
      const statuses = await pushed(pull.commits.last, after).ask(requestOf(filesRow));
      expect(statuses.find(({ filename }) => filename === 'b.txt')?.status).toBe('removed');
    });

    it('include what a merge drops by taking only the other side', async () => {
      await work.git('checkout', '--quiet', '--detach', 'main');
      await work.git('merge', '--quiet', '--no-edit', '-s', 'ours', 'topic');
      await work.git('branch', '--force', 'topic');
      await work.git('checkout', '--quiet', 'topic');
      await push();

      expect(await since(pull.commits.last)).toEqual(['a.txt', 'b.txt', 'gone.txt']);
      expect(await filesOf(pull.commits.last, await head())).toEqual(['a.txt', 'b.txt', 'gone.txt']);
    });

    it('include everything if the commit is missing or the history is unrelated', async () => {
      const gone = 'd'.repeat(40);
      expect(await facts().ask(requestOf(changedSinceFact, gone))).toBeNull();
      const lost = await pushed(gone, pull.commits.last).ask(requestOf(filesRow));
      expect(lost.map(({ filename, status }) => [filename, status])).toEqual(
        ['README.md', 'a.txt', 'b.txt', 'other.txt'].map((name) => [name, 'unknown']),
      );
      await expect(pushed(gone, pull.commits.last).ask(requestOf(commitsRow))).rejects.toThrow('cannot list');

      await work.git('checkout', '--quiet', '--orphan', 'lone');
      await work.git('rm', '-r', '--quiet', '--force', '.');
      const lone = await work.commit({ 'lone.txt': 'lone\n' });
      await work.git('push', '--quiet', 'origin', 'lone');
      const all = await filesOf(pull.commits.last, lone);
      expect(all).toContain('lone.txt');
    });

    it('of a new branch come from the commits that the default branch lacks', async () => {
      expect(await filesOf('0'.repeat(40), pull.commits.last)).toEqual(['a.txt', 'b.txt', 'gone.txt']);
      expect(await filesOf('0'.repeat(40), pull.commits.base)).toEqual([]);
    });
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';
import { cloneRepository, type GitClone } from '../support/git-client.ts';
import { type HookReceiver, startReceiver } from '../support/hook-receiver.ts';

/** A text of ten lines, some of them replaced. */
function lines(replaced: Readonly<Record<number, string>> = {}): string {
  return Array.from({ length: 10 }, (_, at) => `${replaced[at + 1] ?? `line ${at + 1}`}\n`).join('');
}

type Push = (work: GitClone, commits: { readonly base: string; readonly first: string }) => Promise<unknown>;

const amend = ['commit', '--quiet', '--amend', '--allow-empty', '-m', 'amended'] as const;
async function commitBase(work: GitClone, files: Readonly<Record<string, string>>): Promise<void> {
  await work.git('checkout', '--quiet', 'main');
  await work.commit(files, 'base');
  await work.git('push', '--quiet', 'origin', 'main');
  await work.git('checkout', '--quiet', 'topic');
}
const merge = (work: GitClone) => work.git('merge', '--quiet', '--no-edit', 'main');
const rebase = (work: GitClone) => work.git('rebase', '--quiet', 'main');
const elsewhere = { 'other.txt': 'of the base\n' };
/** The base changes the last line of a file of which the pull request changes the first. */
const otherPart = { 'a.txt': lines({ 10: 'of the base' }) };

/**
 * Pushes after an approval, and whether Gitea then calls it stale. The approved change has two commits: the first one changes `a.txt`
 * and deletes `gone.txt`, the last one adds `b.txt`.
 */
const pushes: readonly { readonly push: string; readonly isStale: boolean; readonly make: Push }[] = [
  // What is taken back has the content of the merge base: it is no change.
  {
    push: 'the last commit dropped',
    isStale: false,
    make: (work, { first }) => work.git('reset', '--quiet', '--hard', first),
  },
  {
    push: 'the last commit reverted',
    isStale: false,
    make: (work) => work.git('revert', '--no-edit', 'HEAD'),
  },
  {
    push: 'a changed file put back',
    isStale: false,
    make: (work) => work.commit({ 'a.txt': lines() }),
  },
  {
    push: 'a deleted file put back',
    isStale: false,
    make: (work) => work.commit({ 'gone.txt': 'gone\n' }),
  },
  {
    push: 'everything but an empty commit dropped',
    isStale: false,
    async make(work, { base }) {
      await work.git('reset', '--quiet', '--hard', base);
      await work.git('commit', '--quiet', '--allow-empty', '-m', 'empty');
    },
  },
  {
    push: 'the last commit amended so that a reviewed file has the content of the base',
    isStale: false,
    async make(work, { base }) {
      await work.git('checkout', '--quiet', base, '--', 'a.txt');
      await work.git(...amend);
    },
  },
  // A file of the pull request that the base changes differs from what was reviewed and from the merge base.
  {
    push: 'the base merged in, which changed another part of a reviewed file',
    isStale: true,
    async make(work) {
      await commitBase(work, otherPart);
      await merge(work);
    },
  },
  {
    push: 'a rebase onto a base that changed another part of a reviewed file',
    isStale: true,
    async make(work) {
      await commitBase(work, otherPart);
      await rebase(work);
    },
  },
  {
    push: 'new content of a reviewed file',
    isStale: true,
    make: (work) => work.commit({ 'a.txt': lines({ 1: 'changed again' }) }),
  },
  { push: 'a new file', isStale: true, make: (work) => work.commit({ 'c.txt': 'c\n' }) },
  {
    push: 'another mode of a reviewed file',
    isStale: true,
    async make(work) {
      await work.git('update-index', '--chmod=+x', 'b.txt');
      await work.git('commit', '--quiet', '-m', 'mode');
    },
  },
  {
    push: 'a reviewed file renamed',
    isStale: true,
    async make(work) {
      await work.git('mv', 'b.txt', 'renamed.txt');
      await work.git('commit', '--quiet', '-m', 'rename');
    },
  },
  {
    push: 'another file of the base changed',
    isStale: true,
    make: (work) => work.commit({ 'other.txt': 'of the head\n' }),
  },
  { push: 'the last commit amended in its message', isStale: false, make: (work) => work.git(...amend) },
  {
    push: 'an empty commit',
    isStale: false,
    make: (work) => work.git('commit', '--quiet', '--allow-empty', '-m', 'empty'),
  },
  {
    push: 'the base merged in, which changed other files',
    isStale: false,
    async make(work) {
      await commitBase(work, elsewhere);
      await merge(work);
    },
  },
  {
    push: 'a rebase onto a base that changed other files',
    isStale: false,
    async make(work) {
      await commitBase(work, elsewhere);
      await rebase(work);
    },
  },
];

describeContract('approvals and pushes', (forge) => {
  let [ada, bob]: Account[] = [];
  let receiver: HookReceiver;
  let repository: string;
  let work: GitClone;
  let commits: { base: string; first: string };
  const clones: GitClone[] = [];
  beforeAll(async () => {
    [ada, bob] = [await forge.makeUser(), await forge.makeUser()];
    receiver = await startReceiver();
  });
  afterAll(() => receiver.close());
  beforeEach(async () => {
    repository = await forge.makeRepository(ada as Account, { auto_init: true, default_branch: 'main' });
    await forge.share(repository, ada as Account, { with: bob as Account, permission: 'write' });
    const url = new URL(`${forge.url}/${repository}.git`);
    Object.assign(url, { username: ada?.name, password: ada?.password });
    work = await cloneRepository(url.href);
    clones.push(work);
    const base = await work.commit({ 'a.txt': lines(), 'gone.txt': 'gone\n', 'other.txt': 'other\n' });
    await work.git('push', '--quiet', 'origin', 'HEAD:main');
    await work.git('checkout', '--quiet', '-b', 'topic');
    await work.git('rm', '--quiet', 'gone.txt');
    const first = await work.commit({ 'a.txt': lines({ 1: 'changed' }) }, 'first');
    await work.commit({ 'b.txt': 'b\n' }, 'last');
    await work.git('push', '--quiet', 'origin', 'topic');
    commits = { base, first };
    await ask('POST', '/pulls', { title: 'A change', head: 'topic', base: 'main' });
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
  /** Reviews are judged in the background on a real forge, and before the webhook. */
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

  it.each(pushes)('$push: stale is $isStale', async ({ make, isStale }) => {
    const { id } = await approve();

    await make(work, commits);
    await pushAndWait();

    expect((await ask('GET', `/pulls/1/reviews/${id}`)).json.stale).toBe(isStale);
  });

  describe('of an older commit', () => {
    it.each([
      ['is stale at birth where the head changes something else', { 'b.txt': 'b again\n' }, true],
      ['is not where the head takes something back', { 'a.txt': lines() }, false],
    ] as const)('%s', async (_, files, isStale) => {
      const older = (await work.git('rev-parse', 'HEAD')).trim();
      await work.commit(files);
      await pushAndWait();

      expect((await approve(older)).stale).toBe(isStale);
    });
  });
});

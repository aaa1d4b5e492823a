import type { Account, ContractForge } from './contract-forge.ts';
import { cloneRepository, type GitClone } from './git-client.ts';

/** Returns a text of ten lines, in which the given lines are replaced. */
export function lines(replaced: Readonly<Record<number, string>> = {}): string {
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
/** Change of the base to the last line of a file. The pull request changes the first line of the same file. */
const otherPart = { 'a.txt': lines({ 10: 'of the base' }) };

/**
 * Pushes after an approval, and whether Gitea then marks the approval as stale. The approved change has two commits:
 * the first one changes `a.txt` and deletes `gone.txt`, the last one adds `b.txt`.
 */
export const pushes: readonly {
  readonly push: string;
  readonly isStale: boolean;
  /** Whether the changes of the pull request are byte for byte the same as before. */
  readonly isSame: boolean;
  readonly make: Push;
}[] = [
  // A file that is reverted has the content of the merge base, so it is no longer changed.
  {
    push: 'the last commit dropped',
    isStale: false,
    isSame: false,
    make: (work, { first }) => work.git('reset', '--quiet', '--hard', first),
  },
  {
    push: 'the last commit reverted',
    isStale: false,
    isSame: false,
    make: (work) => work.git('revert', '--no-edit', 'HEAD'),
  },
  {
    push: 'a changed file put back',
    isStale: false,
    isSame: false,
    make: (work) => work.commit({ 'a.txt': lines() }),
  },
  {
    push: 'a deleted file put back',
    isStale: false,
    isSame: false,
    make: (work) => work.commit({ 'gone.txt': 'gone\n' }),
  },
  {
    push: 'everything but an empty commit dropped',
    isStale: false,
    isSame: false,
    async make(work, { base }) {
      await work.git('reset', '--quiet', '--hard', base);
      await work.git('commit', '--quiet', '--allow-empty', '-m', 'empty');
    },
  },
  {
    push: 'the last commit amended so that a reviewed file has the content of the base',
    isStale: false,
    isSame: false,
    async make(work, { base }) {
      await work.git('checkout', '--quiet', base, '--', 'a.txt');
      await work.git(...amend);
    },
  },
  // If the base changes a file of the pull request, the file differs both from the reviewed version and from the merge
  // base.
  {
    push: 'the base merged in, which changed another part of a reviewed file',
    isStale: true,
    isSame: false,
    async make(work) {
      await commitBase(work, otherPart);
      await merge(work);
    },
  },
  {
    push: 'a rebase onto a base that changed another part of a reviewed file',
    isStale: true,
    isSame: false,
    async make(work) {
      await commitBase(work, otherPart);
      await rebase(work);
    },
  },
  {
    push: 'new content of a reviewed file',
    isStale: true,
    isSame: false,
    make: (work) => work.commit({ 'a.txt': lines({ 1: 'changed again' }) }),
  },
  { push: 'a new file', isStale: true, isSame: false, make: (work) => work.commit({ 'c.txt': 'c\n' }) },
  {
    push: 'another mode of a reviewed file',
    isStale: true,
    isSame: false,
    async make(work) {
      await work.git('update-index', '--chmod=+x', 'b.txt');
      await work.git('commit', '--quiet', '-m', 'mode');
    },
  },
  {
    push: 'a reviewed file renamed',
    isStale: true,
    isSame: false,
    async make(work) {
      await work.git('mv', 'b.txt', 'renamed.txt');
      await work.git('commit', '--quiet', '-m', 'rename');
    },
  },
  {
    push: 'another file of the base changed',
    isStale: true,
    isSame: false,
    make: (work) => work.commit({ 'other.txt': 'of the head\n' }),
  },
  {
    push: 'the last commit amended in its message',
    isStale: false,
    isSame: true,
    make: (work) => work.git(...amend),
  },
  {
    push: 'an empty commit',
    isStale: false,
    isSame: true,
    make: (work) => work.git('commit', '--quiet', '--allow-empty', '-m', 'empty'),
  },
  {
    push: 'the base merged in, which changed other files',
    isStale: false,
    isSame: true,
    async make(work) {
      await commitBase(work, elsewhere);
      await merge(work);
    },
  },
  {
    push: 'a rebase onto a base that changed other files',
    isStale: false,
    isSame: true,
    async make(work) {
      await commitBase(work, elsewhere);
      await rebase(work);
    },
  },
];

/** Pull request of ada from `topic` into `main`, which bob may approve, with ada's clone. */
export type ReviewedPull = {
  readonly repository: string;
  readonly work: GitClone;
  readonly commits: { readonly base: string; readonly first: string; readonly last: string };
};

/** Creates the pull request that receives the pushes: number 1 of a new repository. */
export async function openReviewedPull(
  forge: ContractForge,
  ada: Account,
  bob: Account,
): Promise<ReviewedPull> {
  const repository = await forge.makeRepository(ada, { auto_init: true, default_branch: 'main' });
  await forge.share(repository, ada, { with: bob, permission: 'write' });
  const url = new URL(`${forge.url}/${repository}.git`);
  Object.assign(url, { username: ada.name, password: ada.password });
  const work = await cloneRepository(url.href);
  const base = await work.commit({ 'a.txt': lines(), 'gone.txt': 'gone\n', 'other.txt': 'other\n' });
  await work.git('push', '--quiet', 'origin', 'HEAD:main');
  await work.git('checkout', '--quiet', '-b', 'topic');
  await work.git('rm', '--quiet', 'gone.txt');
  const first = await work.commit({ 'a.txt': lines({ 1: 'changed' }) }, 'first');
  const last = await work.commit({ 'b.txt': 'b\n' }, 'last');
  await work.git('push', '--quiet', 'origin', 'topic');
  const body = { title: 'A change', head: 'topic', base: 'main' };
  await forge.ask('POST', `/repos/${repository}/pulls`, { as: ada, body });
  return { repository, work, commits: { base, first, last } };
}

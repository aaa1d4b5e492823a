import { operations } from '../../../src/contract/operations.ts';
import type { Random } from '../random.ts';
import type { Installation } from './installation.ts';

/**
 * Pull request of the history. A pull request that waits for others stays open, because the scheduled rules about
 * waiting consider only open pull requests.
 */
export type Pull = {
  readonly at: At;
  readonly index: number;
  /** Repository of its commits: its own repository, or a fork. */
  readonly home: At;
  readonly branch: string;
  readonly base: string;
  readonly waits: boolean;
  isDraft: boolean;
  isOpen: boolean;
  isMerged: boolean;
};

type Issue = { readonly at: At; readonly index: number; readonly waits: boolean; isOpen: boolean };
export type At = { readonly owner: string; readonly repo: string };

/** Past events, as far as later events depend on them. The same draws produce the same history on every forge. */
export type EventHistory = {
  readonly installation: Installation;
  readonly random: Random;
  readonly repositories: At[];
  readonly pulls: Pull[];
  readonly issues: Issue[];
  readonly branches: { readonly at: At; readonly name: string }[];
  readonly tags: { readonly at: At; readonly name: string }[];
  /** Counter for unique names. */
  serial: number;
};

const folders = ['docs', 'src', 'test', 'lib'];
const kinds = ['md', 'ts', 'test.ts', 'txt'];

/** Returns a number that nothing uses yet. */
export function next(history: EventHistory): number {
  history.serial += 1;
  return history.serial;
}

/** Opens a pull request by ada from a new branch. */
export async function openPull(
  history: EventHistory,
  at: At,
  draft = history.random.below(6) === 0,
): Promise<Pull> {
  const { installation, random } = history;
  history.serial += 1;
  const branch = `work-${history.serial}`;
  const isForeign = at.repo === 'site' && random.below(4) === 0;
  const home = isForeign ? { owner: 'ada', repo: at.repo } : at;
  // For pull requests into main, the branch protection dismisses approvals. For pull requests into next, only the rule
  // does.
  const base = random.below(2) === 0 && !isForeign && isOld(at) ? 'next' : 'main';
  await addFile(history, home, { branch: base, new_branch: branch });
  const title = `${draft ? 'WIP: ' : ''}Work ${history.serial}`;
  const head = isForeign ? `ada:${branch}` : branch;
  const body = { title, head, base, body: random.below(3) === 0 ? '' : 'What it is for.' };
  const { number } = await installation.ada.call(operations.createPull, { params: at, body });
  const waits = random.below(4) === 0;
  const pull = {
    at,
    index: number,
    home,
    branch,
    base,
    waits,
    isDraft: draft,
    isOpen: true,
    isMerged: false,
  };
  history.pulls.push(pull);
  return pull;
}

/** Returns whether a repository existed from the start. Only such a repository has a branch other than main. */
function isOld({ repo }: At): boolean {
  return repo === 'site' || repo === 'tools';
}

/** Commits a new file in a random folder, with a random length. */
export async function addFile(history: EventHistory, at: At, on: object): Promise<void> {
  const { installation, random } = history;
  history.serial += 1;
  const name = `file-${history.serial}.${random.pick(kinds)}`;
  const filepath =
    random.below(8) === 0 ? `part-${history.serial}/package.json` : `${random.pick(folders)}/${name}`;
  const lines = random.pick([2, 20, 90, 600]) ?? 1;
  const text = Array.from({ length: lines }, (_, line) => `${history.serial} ${line}`).join('\n');
  const content = Buffer.from(text).toString('base64');
  await installation.ada.call(operations.createFile, {
    params: { ...at, filepath },
    body: { content, message: filepath, ...on },
  });
}

/** Pushes to a pull request, as ada. */
export async function push(history: EventHistory, { home, branch }: Pull): Promise<void> {
  await addFile(history, home, { branch });
}

export function openPulls({ pulls }: EventHistory): readonly Pull[] {
  return pulls.filter(({ isOpen }) => isOpen);
}

/** Returns the pull requests that may be closed. */
export function freePulls(history: EventHistory): readonly Pull[] {
  return openPulls(history).filter(({ waits, isDraft }) => !waits && !isDraft);
}

/** Returns open issues and pull requests that wait for others. */
export function waiting(history: EventHistory): readonly { readonly at: At; readonly index: number }[] {
  return [...openPulls(history), ...history.issues.filter(({ isOpen }) => isOpen)].filter(
    ({ waits }) => waits,
  );
}

import { operations } from '../../../src/contract/operations.ts';
import type { Chance } from './chance.ts';
import type { Manor } from './manor.ts';

/** A pull request as the story knows it. What waits for others stays open: its clocked rules look at open ones alone. */
export type Pull = {
  readonly at: At;
  readonly index: number;
  /** Where its commits come from: its own repository, or a fork. */
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

/** What has happened so far, as far as what happens next builds on it. The same draws tell the same story on every forge. */
export type Story = {
  readonly manor: Manor;
  readonly chance: Chance;
  readonly places: At[];
  readonly pulls: Pull[];
  readonly issues: Issue[];
  readonly branches: { readonly at: At; readonly name: string }[];
  readonly tags: { readonly at: At; readonly name: string }[];
  /** Numbers things, so that no two have one name. */
  serial: number;
};

const folders = ['docs', 'src', 'test', 'lib'];
const kinds = ['md', 'ts', 'test.ts', 'txt'];

/** Returns a number that nothing has yet. */
export function next(story: Story): number {
  story.serial += 1;
  return story.serial;
}

/** Opens a pull request by ada from a branch of its own. */
export async function openPull(story: Story, at: At, draft = story.chance.below(6) === 0): Promise<Pull> {
  const { manor, chance } = story;
  story.serial += 1;
  const branch = `work-${story.serial}`;
  const isForeign = at.repo === 'site' && chance.below(4) === 0;
  const home = isForeign ? { owner: 'ada', repo: at.repo } : at;
  // What goes into main is dismissed by its protection; what goes into next, by the rule alone.
  const base = chance.below(2) === 0 && !isForeign && isOld(at) ? 'next' : 'main';
  await addFile(story, home, { branch: base, new_branch: branch });
  const title = `${draft ? 'WIP: ' : ''}Work ${story.serial}`;
  const head = isForeign ? `ada:${branch}` : branch;
  const body = { title, head, base, body: chance.below(3) === 0 ? '' : 'What it is for.' };
  const { number } = await manor.ada.call(operations.createPull, { params: at, body });
  const waits = chance.below(4) === 0;
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
  story.pulls.push(pull);
  return pull;
}

/** The repositories that were there from the start have a branch beside main. */
function isOld({ repo }: At): boolean {
  return repo === 'site' || repo === 'tools';
}

/** Commits a file that was not there before, somewhere and of some length. */
export async function addFile(story: Story, at: At, on: object): Promise<void> {
  const { manor, chance } = story;
  story.serial += 1;
  const name = `file-${story.serial}.${chance.of(kinds)}`;
  const filepath =
    chance.below(8) === 0 ? `part-${story.serial}/package.json` : `${chance.of(folders)}/${name}`;
  const lines = chance.of([2, 20, 90, 600]) ?? 1;
  const text = Array.from({ length: lines }, (_, line) => `${story.serial} ${line}`).join('\n');
  const content = Buffer.from(text).toString('base64');
  await manor.ada.call(operations.createFile, {
    params: { ...at, filepath },
    body: { content, message: filepath, ...on },
  });
}

/** Pushes to a pull request, as ada. */
export async function push(story: Story, { home, branch }: Pull): Promise<void> {
  await addFile(story, home, { branch });
}

export function openPulls({ pulls }: Story): readonly Pull[] {
  return pulls.filter(({ isOpen }) => isOpen);
}

/** Pull requests that may be closed. */
export function freePulls(story: Story): readonly Pull[] {
  return openPulls(story).filter(({ waits, isDraft }) => !waits && !isDraft);
}

/** Open issues and pull requests that wait for others. */
export function waiting(story: Story): readonly { readonly at: At; readonly index: number }[] {
  return [...openPulls(story), ...story.issues.filter(({ isOpen }) => isOpen)].filter(({ waits }) => waits);
}

import fc from 'fast-check';
import { operations } from '../../../src/contract/operations.ts';
import type { PullRequest } from '../../../src/contract/resources/pulls.ts';
import { ReeveError } from '../../../src/platform/errors.ts';
import { addFile } from '../privilege-setup.ts';
import { requireStatuses } from './queue-repository.ts';
import { listAllPulls, openPull, type QueueStage, report, runChecks } from './queue-stage.ts';

/** Happenings to a pull request, by name. */
const toPulls = {
  green: ({ head }, stage) => report(stage, head?.sha ?? '', 'success'),
  red: ({ head }, stage) => report(stage, head?.sha ?? '', 'failure'),
  push: (pull, stage) => addFile(stage.root, stage.at, pull.head?.ref ?? '', `more-${nextSerial(stage)}.txt`),
  'write what conflicts': (pull, stage) =>
    addFile(stage.root, stage.at, 'main', `${pull.head?.ref?.split('-')[1]}.txt`, 'something else'),
  unlabel: (pull, stage) => putLabels(pull, stage, []),
  label: (pull, stage) => putLabels(pull, stage, ['merge']),
  close: (pull, stage) => edit(pull, stage, { state: 'closed' }),
  reopen: (pull, stage) => edit(pull, stage, { state: 'open' }),
  draft: (pull, stage) => edit(pull, stage, { title: `WIP: ${pull.title}` }),
  ready: (pull, stage) => edit(pull, stage, { title: (pull.title ?? '').replaceAll('WIP: ', '') }),
  retarget: async (pull, stage) => {
    await makeNext(stage);
    await edit(pull, stage, { base: 'next' });
    // The queue does not accept the head for this base until someone approves it (`after-push`).
    const params = { ...stage.at, index: pull.number };
    await stage.ada.call(operations.createReview, { params, body: { event: 'APPROVED', body: 'Good.' } });
  },
  comment: ({ number: index }, { root, at }) =>
    root.call(operations.createComment, { params: { ...at, index }, body: { body: 'Any news?' } }),
  'merge by hand': ({ number: index }, { root, at }) =>
    root.call(operations.mergePull, { params: { ...at, index }, body: { do: 'merge', force_merge: true } }),
  delete: ({ number: index }, { root, at }) =>
    root.call(operations.deleteIssue, { params: { ...at, index } }),
  'delete head': (pull, { root, at }) =>
    root.call(operations.deleteBranch, { params: { ...at, branch: pull.head?.ref ?? '' } }),
} as const satisfies Readonly<Record<string, (pull: PullRequest, stage: QueueStage) => Promise<unknown>>>;

/** Happenings to the repository, CI, the forge or the bot, by name. */
const toAll = {
  checks: async (stage) => {
    await runChecks(stage);
    // The bot receives no status events, but within this time it looks again.
    stage.advance(60_000);
  },
  base: (stage) => addFile(stage.root, stage.at, 'main', `base-${nextSerial(stage)}.txt`),
  race: async (stage) => {
    const before = async (number: number): Promise<void> => {
      stage.raced.push(number);
      await addFile(stage.root, stage.at, 'main', `race-${nextSerial(stage)}.txt`);
    };
    arm(stage, 'merge', (number) => ({ kind: 'pass', before: () => before(number) }));
  },
  'lose an answer': async (stage) => arm(stage, 'attempt', () => ({ kind: 'lose' })),
  'lose a request': async (stage) => arm(stage, 'attempt', () => ({ kind: 'reset' })),
  'refuse a merge': async (stage) =>
    arm(stage, 'merge', () => ({
      kind: 'answer',
      status: 405,
      body: '{"message":"Please try again later"}',
    })),
  'fail at a write': async (stage) => arm(stage, 'write', () => ({ kind: 'answer', status: 502, body: '' })),
  'die before a write': async (stage) =>
    arm(stage, 'write', () => {
      stage.bot.kill();
      return { kind: 'reset' };
    }),
  'die after a write': async (stage) =>
    arm(stage, 'write', () => ({ kind: 'pass', after: async () => stage.bot.kill() })),
  die: async ({ bot }) => bot.kill(),
  rename: async (stage) => {
    const name = `renamed-${nextSerial(stage)}-${stage.at.repo}`.slice(0, 60);
    await stage.root.call(operations.editRepository, { params: stage.at, body: { name } });
    stage.at.repo = name;
  },
} as const satisfies Readonly<Record<string, (stage: QueueStage) => Promise<unknown>>>;

/** A happening. `pull` selects a pull request by its position among the existing ones. */
export type QueueHappening =
  | { readonly kind: keyof typeof toPulls; readonly pull: number }
  | { readonly kind: keyof typeof toAll }
  | { readonly kind: 'open'; readonly isUrgent: boolean }
  | { readonly kind: 'time'; readonly seconds: number };

const namesOf = <Name extends string>(table: Readonly<Record<Name, unknown>>) => Object.keys(table) as Name[];

/** Generates happenings; checks pass and time advances often, because otherwise little would be merged. */
export const randomHappening: fc.Arbitrary<QueueHappening> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('checks' as const) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom(...namesOf(toPulls)), pull: fc.nat(9) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom(...namesOf(toAll)) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('race' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('open' as const), isUrgent: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('time' as const), seconds: fc.integer({ min: 1, max: 120 }) }),
  },
);

/**
 * Performs a happening. It has no effect if the forge refuses it; for example, a closed pull request cannot be merged
 * manually.
 */
export async function happen(stage: QueueStage, one: QueueHappening): Promise<void> {
  stage.advance(1_000);
  try {
    if (one.kind === 'open') await openPull(stage, one);
    else if (one.kind === 'time') stage.advance(one.seconds * 1_000);
    else if ('pull' in one) await happenToPull(stage, one);
    else await toAll[one.kind](stage);
  } catch (error) {
    if (!(error instanceof ReeveError) || error.status === undefined || error.status >= 500) throw error;
  }
}

async function happenToPull(
  stage: QueueStage,
  one: Extract<QueueHappening, { readonly pull: number }>,
): Promise<void> {
  const number = stage.opened[one.pull % stage.opened.length];
  const pull = (await listAllPulls(stage)).find((each) => each.number === number);
  if (pull) await toPulls[one.kind](pull, stage);
}

function arm(
  stage: QueueStage,
  at: 'write' | 'attempt' | 'merge',
  fault: QueueStage['armed'][0]['fault'],
): void {
  stage.armed.push({ at, fault });
}

function nextSerial(stage: QueueStage): number {
  stage.serial += 1;
  return stage.serial;
}

async function putLabels({ number: index }: PullRequest, { root, at }: QueueStage, names: readonly string[]) {
  const known = await root.call(operations.listLabels, { params: at });
  const labels = known.filter(({ name }) => names.includes(name)).map(({ id }) => id);
  await root.call(operations.replaceIssueLabels, { params: { ...at, index }, body: { labels } });
}

async function edit(
  { number: index }: PullRequest,
  { root, at }: QueueStage,
  body: { readonly state?: string; readonly title?: string; readonly base?: string },
): Promise<void> {
  await root.call(operations.editPull, { params: { ...at, index }, body });
}

async function makeNext(stage: QueueStage): Promise<void> {
  const { root, at } = stage;
  const all = await root.call(operations.listBranches, { params: at });
  if (all.some(({ name }) => name === 'next')) return;
  await root.call(operations.createBranch, { params: at, body: { new_branch_name: 'next' } });
  await requireStatuses(root, at, { branch: 'next', contexts: ['ci'] });
}

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../../src/contract/operations.ts';
import { isThorough } from '../../support/figure.ts';
import { addFile } from '../../support/privilege-setup.ts';
import { proveHistory } from '../../support/queue/prove-history.ts';
import {
  type QueueInstallation,
  queueRules,
  startQueueInstallation,
} from '../../support/queue/queue-installation.ts';
import { requireStatuses } from '../../support/queue/queue-repository.ts';
import {
  listStageQueues,
  openPull,
  openStage,
  type QueueStage,
  report,
  rest,
} from '../../support/queue/queue-stage.ts';
import { rulesOf } from '../../support/sweep-harness.ts';

let installation: QueueInstallation;
let stage: QueueStage;
/** Numbers of two waiting pull requests. The first is behind its base, and is updated when its turn comes. */
let [one, two] = [0, 0];
beforeAll(async () => {
  installation = await startQueueInstallation();
});
afterAll(() => installation.close());
beforeEach(async () => {
  stage = await openStage(installation, { method: 'merge', requiresQueue: true });
  [one, two] = [await openPull(stage), await openPull(stage)];
  await addFile(stage.root, stage.at, 'main', 'ahead.txt');
});

/** Gives the first pull request its turn: it is updated, and CI has not yet reported on the new head. */
async function giveTurn(): Promise<void> {
  await stage.bot.settle();
  stage.advance(5_000);
  await stage.bot.settle();
  const [queue] = await listStageQueues(stage);
  expect(queue?.entries.map(({ number, phase }) => [number, phase])).toEqual([
    [one, 'testing'],
    [two, 'waiting'],
  ]);
}

const endsOf = async (): Promise<readonly (readonly [number | undefined, string | undefined, string])[]> => {
  const rows = await stage.bot.store.listQueueHistory({ repositoryId: stage.repositoryId, limit: 500 });
  return rows
    .toReversed()
    .filter(({ kind }) => kind === 'merged' || kind === 'left')
    .map(({ number, kind, reason, text }) => [number, reason ?? kind, text]);
};
const reasons = async () => (await endsOf()).map(([number, reason]) => [number, reason] as const);
const finish = async (): Promise<void> => {
  expect(await rest(stage, { hasChecks: true })).toBe(true);
  await proveHistory(stage);
};
const edit = (body: { readonly name?: string; readonly archived?: boolean }) =>
  stage.root.call(operations.editRepository, { params: stage.at, body });

describe('a merge queue with pull requests in it', () => {
  it('drops the first pull request after it was deleted, and merges the next one', async () => {
    await giveTurn();
    await stage.root.call(operations.deleteIssue, { params: { ...stage.at, index: one } });
    await finish();

    expect(await endsOf()).toMatchObject([
      [one, 'closed', 'the forge does not show it any more'],
      [two, 'merged', expect.anything()],
    ]);
  });

  it.runIf(isThorough)('continues under the new name of its repository', async () => {
    await giveTurn();
    const { repo } = stage.at;
    await edit({ name: `${repo}-renamed` });
    stage.at.repo = `${repo}-renamed`;
    await finish();

    expect(await reasons()).toEqual([
      [one, 'merged'],
      [two, 'merged'],
    ]);
  });

  it('is left by all when its repository is archived, and writes nothing there', async () => {
    await giveTurn();
    await edit({ archived: true });
    // Waits longer than the cached state of the repository is used.
    stage.advance(11 * 60_000);
    await stage.bot.settle();

    expect(await endsOf()).toEqual([
      [one, 'unserved', `${stage.at.owner}/${stage.at.repo} is archived`],
      [two, 'unserved', `${stage.at.owner}/${stage.at.repo} is archived`],
    ]);
    expect(await listStageQueues(stage)).toMatchObject([{ entries: [], outbox: [] }]);
    expect(await stage.bot.nextDue()).toBeUndefined();
  });

  it('is left by all when its repository has been gone for ten minutes', async () => {
    await giveTurn();
    await stage.root.call(operations.deleteRepository, { params: stage.at });
    for (let due = await stage.bot.nextDue(); due; due = await stage.bot.nextDue()) {
      stage.advance(Math.max(due.getTime() - stage.now().getTime(), 1));
      await stage.bot.settle();
    }

    expect(await reasons()).toEqual([
      [one, 'unserved'],
      [two, 'unserved'],
    ]);
  });

  it.runIf(isThorough)('is left by the pull requests whose rule was removed', async () => {
    await giveTurn();
    installation.bot.setRules([]);
    try {
      await finish();
    } finally {
      installation.bot.setRules(rulesOf(queueRules));
    }

    expect(await endsOf()).toEqual([
      [one, 'unwanted', 'its rule is gone'],
      [two, 'unwanted', 'its rule is gone'],
    ]);
  });

  it('waits for the checks that the base currently requires', async () => {
    await giveTurn();
    await stage.root.call(operations.deleteBranchProtection, { params: { ...stage.at, name: 'main' } });
    await requireStatuses(stage.root, stage.at, { contexts: ['ci', 'lint'] });
    await finish();

    expect(await reasons()).toEqual([
      [one, 'timeout'],
      [two, 'timeout'],
    ]);
  });

  it.runIf(isThorough)(
    'is left by all when its base is renamed, and they enter the queue of the new name when their rule runs',
    async () => {
      await giveTurn();
      await stage.root.call(operations.renameBranch, {
        params: { ...stage.at, branch: 'main' },
        body: { name: 'trunk' },
      });
      await finish();
      expect(await reasons()).toEqual([
        [one, 'retargeted'],
        [two, 'retargeted'],
      ]);

      for (const index of [one, two])
        await stage.root.call(operations.editPull, {
          params: { ...stage.at, index },
          body: { title: 'Work' },
        });
      await finish();

      expect((await reasons()).slice(2)).toEqual([
        [one, 'merged'],
        [two, 'merged'],
      ]);
    },
  );

  it.runIf(isThorough)('drops a pull request that the forge refuses to merge for ten minutes', async () => {
    await giveTurn();
    for (let times = 0; times < 3; times += 1)
      stage.armed.push({
        at: 'merge',
        fault: () => ({ kind: 'answer', status: 405, body: '{"message":"Please try again later"}' }),
      });
    await finish();

    expect(await reasons()).toEqual([
      [one, 'refused'],
      [two, 'merged'],
    ]);
  });

  it('ends for two pull requests with the same head, whichever of their queues is faster', async () => {
    const { root, at } = stage;
    await root.call(operations.createBranch, { params: at, body: { new_branch_name: 'next' } });
    await requireStatuses(stage.root, stage.at, { branch: 'next', contexts: ['ci'] });
    const labels = (await root.call(operations.listLabels, { params: at }))
      .filter(({ name }) => name === 'merge')
      .map(({ id }) => id);
    const { head } = await root.call(operations.getPull, { params: { ...at, index: one } });
    const body = { title: 'The same', head: head?.ref ?? '', base: 'next', labels };
    const { number } = await root.call(operations.createPull, { params: at, body });
    // This history is not proved like the others, because both pull requests share the statuses of the commit.
    expect(await rest(stage, { hasChecks: true })).toBe(true);

    const ends = new Map(await reasons());
    expect(ends.get(two)).toBe('merged');
    // The slower queue sees either a head that it did not create, or a head that is already merged.
    expect([
      ['merged', 'merged'],
      ['merged', 'pushed'],
    ]).toContainEqual([ends.get(one), ends.get(number)].toSorted());
  });

  // `test/flows/merge-queue.test.ts` asserts the same, and also the comment.
  it.runIf(isThorough)('is not left by the other pull requests when CI fails on the first', async () => {
    await giveTurn();
    const { head } = await stage.root.call(operations.getPull, { params: { ...stage.at, index: one } });
    await report(stage, head?.sha ?? '', 'failure');
    await finish();

    expect(await reasons()).toEqual([
      [one, 'checks'],
      [two, 'merged'],
    ]);
  });
});

import { afterEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { realServer, timeoutMs, uniqueName } from '../support/flow-names.ts';
import { requiring } from '../support/flow-requirements.ts';
import { cloneRepository } from '../support/git-client.ts';
import { acme, at, type Harness, people, startHarness } from '../support/harness.ts';

const rules = `version: 1
rules:
  mark:
    on: [issues.opened, issues.edited]
    steps: [{ uses: set-labels, with: { sync: { area/docs: 'issue.title.contains("docs")' } } }]
  by-path:
    on: { pull_request: [opened, synchronized] }
    steps: [{ uses: set-labels, with: { sync: { area/code: 'files.exists(f, f.filename.glob("src/**"))' } } }]
`;
/** How long the hook's target is unavailable: a minute in the long run. */
const awayMs = process.env.LONG ? 60_000 : 2_000;

let harness: Harness;
afterEach(() => harness.close());

const openIssue = async (title: string): Promise<number> =>
  (await harness.ada.call(operations.createIssue, { params: at, body: { title } })).number;
const isApplied = (run: Run): boolean => run.outcomes.some(({ status }) => status === 'applied');

/** Runs something once, just before the first write of labels reaches the forge. */
function beforeTheWrite(happen: () => Promise<unknown>): void {
  let isOver = false;
  harness.proxy.decide = ({ method, path }) => {
    if (isOver || method !== 'PUT' || !path.endsWith('/labels')) return { kind: 'pass' };
    isOver = true;
    return { kind: 'pass', before: happen };
  };
}

/** Returns the labels of an issue at the current location of the repository. */
const labelsIn = async (place: { owner: string; repo: string }, index: number) =>
  (await harness.root.call(operations.listIssueLabels, { params: { ...place, index } })).map(
    ({ name }) => name,
  );

it('events sent while the hook had no target are caught up with, and nothing is done twice', {
  timeout: 4 * timeoutMs + awayMs,
}, async () => {
  harness = await startHarness({ rules });
  const old = await openIssue('quiet');
  await harness.waitForRun(({ trigger }) => trigger.activity === 'opened');
  await harness.idle();
  let [issue, pull] = [0, 0];
  await harness.restart({
    async between() {
      const until = performance.now() + awayMs;
      issue = await openIssue('docs are missing');
      await harness.ada.call(operations.editIssue, {
        params: { ...at, index: old },
        body: { title: 'docs after all' },
      });
      const clone = await cloneRepository(harness.cloneFrom(people.ada));
      await clone.git('checkout', '--quiet', '-b', 'work');
      await clone.git('mv', 'README.md', 'README.txt');
      await clone.git('commit', '--quiet', '-m', 'Rename');
      await clone.git('push', '--quiet', 'origin', 'work');
      clone.remove();
      const body = { title: 'Work', head: 'work', base: 'main' };
      ({ number: pull } = await harness.ada.call(operations.createPull, { params: at, body }));
      await harness.ada.call(operations.createFile, {
        params: { ...at, filepath: 'src/a.js' },
        body: { branch: 'work', content: 'YQ==', message: 'code' },
      });
      // A server may be slow to notice the closed connection. A delivery that it sent after that would not be missed.
      await harness.forge.settle();
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, until - performance.now())));
    },
  });

  await expect.poll(() => harness.labelsOf(issue), { timeout: timeoutMs }).toEqual(['area/docs']);
  await expect.poll(() => harness.labelsOf(old), { timeout: timeoutMs }).toEqual(['area/docs']);
  await expect.poll(() => harness.labelsOf(pull), { timeout: timeoutMs }).toEqual(['area/code']);
  await harness.idle();
  const changing = harness.runs.filter(({ changes }) => changes.length > 0);
  // A server that is slow to give up may have delivered one of the events after all. Then that delivery triggered the
  // change, also once.
  const doors = realServer ? ['cron', 'webhook'] : ['cron'];
  expect(changing).toHaveLength(3);
  for (const { trigger } of changing) expect(doors).toContain(trigger.door);

  const from = harness.proxy.passed.length;
  await harness.restart();
  await harness.idle();
  expect(harness.proxy.passed.slice(from).filter(({ method }) => method !== 'GET')).toEqual([]);
});

it('a token that is revoked in the middle of a run keeps the delivery waiting until there is another token', async () => {
  harness = await startHarness({ rules });
  beforeTheWrite(() => harness.revokeToken());
  const index = await openIssue('docs');
  const failed = await harness.waitForRun(({ outcomes }) =>
    outcomes.some(({ status }) => status === 'failed'),
  );
  expect(failed.outcomes[0]?.error).toContain('401');
  expect(failed.outcomes[0]?.error).not.toContain(harness.token);
  expect(await harness.labelsOf(index)).toEqual([]);

  await harness.renewToken();
  await harness.restart();

  await harness.waitForRun(isApplied);
  expect(await harness.labelsOf(index)).toEqual(['area/docs']);
});

const moves: Readonly<Record<string, { owner: string; repo: string; move: () => Promise<unknown> }>> = {
  renamed: {
    owner: acme,
    repo: 'renamed',
    move: () => harness.root.call(operations.editRepository, { params: at, body: { name: 'renamed' } }),
  },
  transferred: {
    owner: uniqueName('heirs'),
    repo: at.repo,
    move: () =>
      harness.root.call(operations.transferRepository, {
        params: at,
        body: { new_owner: uniqueName('heirs') },
      }),
  },
};

it.each(Object.keys(moves))('a repository that is %s in the middle of a run is followed', async (how) => {
  const { move, ...place } = moves[how] ?? { ...at, move: async () => {} };
  harness = await startHarness({ rules });
  await harness.root.call(operations.createOrganization, { body: { username: uniqueName('heirs') } });
  beforeTheWrite(move);
  const index = await openIssue('docs');

  await harness.waitForRun(isApplied);
  expect(await labelsIn(place, index)).toEqual(['area/docs']);
  const seen = harness.runs.length;
  const { number } = await harness.ada.call(operations.createIssue, {
    params: place,
    body: { title: 'docs again' },
  });
  await harness.waitForRun((run) => harness.runs.indexOf(run) >= seen && isApplied(run));
  expect(await labelsIn(place, number)).toEqual(['area/docs']);
});

it('a repository that is archived in the middle of a run ends the delivery, and is served again when it is unarchived', async () => {
  harness = await startHarness({ rules });
  const archive = (archived: boolean) =>
    harness.root.call(operations.editRepository, { params: at, body: { archived } });
  beforeTheWrite(() => archive(true));
  const index = await openIssue('docs');
  const run = await harness.waitForRun(({ outcomes }) => outcomes.length > 0);
  await harness.idle();

  // Some forges allow label changes in an archived repository, but nothing else. The run shows what happened.
  const [outcome] = run.outcomes;
  if (outcome?.status === 'failed') expect(outcome.error).toContain('423');
  expect(await labelsIn(at, index)).toEqual(outcome?.status === 'applied' ? ['area/docs'] : []);
  const { accepted, claimed, retry } = await harness.server.store.counts();
  expect({ accepted, claimed, retry }).toEqual({ accepted: 0, claimed: 0, retry: 0 });

  await archive(false);
  await harness.restart();
  for (const { id } of await harness.root.call(operations.listIssueLabels, { params: { ...at, index } }))
    await harness.root.call(operations.removeIssueLabel, { params: { ...at, index, id } });
  const seen = harness.runs.length;
  await harness.ada.call(operations.editIssue, { params: { ...at, index }, body: { title: 'docs again' } });
  await harness.waitForRun((one) => harness.runs.indexOf(one) >= seen && isApplied(one));
  expect(await labelsIn(at, index)).toEqual(['area/docs']);
});

it('a repository that is deleted in the middle of a run is retried for a while, and affects no other repository', async () => {
  harness = await startHarness({ rules });
  beforeTheWrite(() => harness.root.call(operations.deleteRepository, { params: at }));
  await openIssue('docs');
  const failed = await harness.waitForRun(({ outcomes }) =>
    outcomes.some(({ status }) => status === 'failed'),
  );
  await harness.idle();

  expect(failed.outcomes[0]?.error).toContain('404');
  // The delivery may be in progress again.
  await expect
    .poll(async () => (await harness.server.store.listDeliveries({ search: 'issues' })).items[0])
    .toMatchObject({ state: 'retry', reason: expect.stringContaining('access is retried until') });
  expect((await fetch(`${harness.server.url}/readyz`)).status).toBe(200);
});

requiring('a restart')(
  'the labels are set after a restart of the forge in the middle of a run',
  { timeout: 3 * timeoutMs + 60_000 },
  async () => {
    harness = await startHarness({ rules });
    let restarted: Promise<void> | undefined;
    beforeTheWrite(async () => {
      restarted = harness.forge.restart();
      // The request is sent while no server listens, or to a server that has just started to listen.
      await new Promise((resolve) => setTimeout(resolve, 100));
    });
    const index = await openIssue('docs');

    await expect
      .poll(() => labelsIn(at, index).catch(() => []), { timeout: 2 * timeoutMs })
      .toEqual(['area/docs']);
    await restarted;
    const next = await openIssue('more docs');
    await expect.poll(() => labelsIn(at, next), { timeout: 2 * timeoutMs }).toEqual(['area/docs']);
    await harness.idle();
    const { dead, retry } = await harness.server.store.counts();
    expect({ dead, retry }).toEqual({ dead: 0, retry: 0 });
  },
);

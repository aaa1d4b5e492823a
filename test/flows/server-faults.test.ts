import { afterEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { named, patienceMs, realServer } from '../support/flow-names.ts';
import { needing } from '../support/flow-needs.ts';
import { cloneRepository } from '../support/git-client.ts';
import { acme, at, people, type Stage, setStage } from '../support/stage.ts';

const rules = `version: 1
rules:
  mark:
    on: [issues.opened, issues.edited]
    steps: [{ uses: set-labels, with: { sync: { area/docs: 'issue.title.contains("docs")' } } }]
  by-path:
    on: { pull_request: [opened, synchronized] }
    steps: [{ uses: set-labels, with: { sync: { area/code: 'files.exists(f, f.filename.glob("src/**"))' } } }]
`;
/** How long the hook's target is away: a minute in the long run. */
const awayMs = process.env.LONG ? 60_000 : 2_000;

let stage: Stage;
afterEach(() => stage.close());

const openIssue = async (title: string): Promise<number> =>
  (await stage.ada.call(operations.createIssue, { params: at, body: { title } })).number;
const isApplied = (run: Run): boolean => run.outcomes.some(({ status }) => status === 'applied');

/** Lets something happen once, just before the first write of labels reaches the forge. */
function beforeTheWrite(happen: () => Promise<unknown>): void {
  let isOver = false;
  stage.proxy.decide = ({ method, path }) => {
    if (isOver || method !== 'PUT' || !path.endsWith('/labels')) return { kind: 'pass' };
    isOver = true;
    return { kind: 'pass', before: happen };
  };
}

/** Returns the labels of an issue wherever the repository is now. */
const labelsIn = async (place: { owner: string; repo: string }, index: number) =>
  (await stage.root.call(operations.listIssueLabels, { params: { ...place, index } })).map(
    ({ name }) => name,
  );

it('what happened while the hook had no target is caught up with, and nothing is done twice', {
  timeout: 4 * patienceMs + awayMs,
}, async () => {
  stage = await setStage({ rules });
  const old = await openIssue('quiet');
  await stage.run(({ trigger }) => trigger.activity === 'opened');
  await stage.quiet();
  let [issue, pull] = [0, 0];
  await stage.restart({
    async between() {
      const until = performance.now() + awayMs;
      issue = await openIssue('docs are missing');
      await stage.ada.call(operations.editIssue, {
        params: { ...at, index: old },
        body: { title: 'docs after all' },
      });
      const clone = await cloneRepository(stage.cloneFrom(people.ada));
      await clone.git('checkout', '--quiet', '-b', 'work');
      await clone.git('mv', 'README.md', 'README.txt');
      await clone.git('commit', '--quiet', '-m', 'Rename');
      await clone.git('push', '--quiet', 'origin', 'work');
      clone.remove();
      const body = { title: 'Work', head: 'work', base: 'main' };
      ({ number: pull } = await stage.ada.call(operations.createPull, { params: at, body }));
      await stage.ada.call(operations.createFile, {
        params: { ...at, filepath: 'src/a.js' },
        body: { branch: 'work', content: 'YQ==', message: 'code' },
      });
      // A server may be slow to notice the closed connection: what it sent later would be no miss.
      await stage.forge.settle();
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, until - performance.now())));
    },
  });

  await expect.poll(() => stage.labelsOf(issue), { timeout: patienceMs }).toEqual(['area/docs']);
  await expect.poll(() => stage.labelsOf(old), { timeout: patienceMs }).toEqual(['area/docs']);
  await expect.poll(() => stage.labelsOf(pull), { timeout: patienceMs }).toEqual(['area/code']);
  await stage.quiet();
  const changing = stage.runs.filter(({ changes }) => changes.length > 0);
  // A server that is slow to give up may have told one of them after all: then it is done by that, and once as well.
  const doors = realServer ? ['cron', 'webhook'] : ['cron'];
  expect(changing).toHaveLength(3);
  for (const { trigger } of changing) expect(doors).toContain(trigger.door);

  const from = stage.proxy.passed.length;
  await stage.restart();
  await stage.quiet();
  expect(stage.proxy.passed.slice(from).filter(({ method }) => method !== 'GET')).toEqual([]);
});

it('a token that is revoked in the middle of a run keeps the delivery until there is another', async () => {
  stage = await setStage({ rules });
  beforeTheWrite(() => stage.revokeToken());
  const index = await openIssue('docs');
  const failed = await stage.run(({ outcomes }) => outcomes.some(({ status }) => status === 'failed'));
  expect(failed.outcomes[0]?.error).toContain('401');
  expect(failed.outcomes[0]?.error).not.toContain(stage.token);
  expect(await stage.labelsOf(index)).toEqual([]);

  await stage.renewToken();
  await stage.restart();

  await stage.run(isApplied);
  expect(await stage.labelsOf(index)).toEqual(['area/docs']);
});

const moves: Readonly<Record<string, { owner: string; repo: string; move: () => Promise<unknown> }>> = {
  renamed: {
    owner: acme,
    repo: 'renamed',
    move: () => stage.root.call(operations.editRepository, { params: at, body: { name: 'renamed' } }),
  },
  transferred: {
    owner: named('heirs'),
    repo: at.repo,
    move: () =>
      stage.root.call(operations.transferRepository, { params: at, body: { new_owner: named('heirs') } }),
  },
};

it.each(Object.keys(moves))('a repository that is %s in the middle of a run is followed', async (how) => {
  const { move, ...place } = moves[how] ?? { ...at, move: async () => {} };
  stage = await setStage({ rules });
  await stage.root.call(operations.createOrganization, { body: { username: named('heirs') } });
  beforeTheWrite(move);
  const index = await openIssue('docs');

  await stage.run(isApplied);
  expect(await labelsIn(place, index)).toEqual(['area/docs']);
  const seen = stage.runs.length;
  const { number } = await stage.ada.call(operations.createIssue, {
    params: place,
    body: { title: 'docs again' },
  });
  await stage.run((run) => stage.runs.indexOf(run) >= seen && isApplied(run));
  expect(await labelsIn(place, number)).toEqual(['area/docs']);
});

it('a repository that is archived in the middle of a run ends the delivery, and is served again when it is open', async () => {
  stage = await setStage({ rules });
  const archive = (archived: boolean) =>
    stage.root.call(operations.editRepository, { params: at, body: { archived } });
  beforeTheWrite(() => archive(true));
  const index = await openIssue('docs');
  const run = await stage.run(({ outcomes }) => outcomes.length > 0);
  await stage.quiet();

  // Forges let labels of an archive be set, and nothing else of it; the run shows what happened.
  const [outcome] = run.outcomes;
  if (outcome?.status === 'failed') expect(outcome.error).toContain('423');
  expect(await labelsIn(at, index)).toEqual(outcome?.status === 'applied' ? ['area/docs'] : []);
  const { accepted, claimed, retry } = await stage.server.store.counts();
  expect({ accepted, claimed, retry }).toEqual({ accepted: 0, claimed: 0, retry: 0 });

  await archive(false);
  await stage.restart();
  for (const { id } of await stage.root.call(operations.listIssueLabels, { params: { ...at, index } }))
    await stage.root.call(operations.removeIssueLabel, { params: { ...at, index, id } });
  const seen = stage.runs.length;
  await stage.ada.call(operations.editIssue, { params: { ...at, index }, body: { title: 'docs again' } });
  await stage.run((one) => stage.runs.indexOf(one) >= seen && isApplied(one));
  expect(await labelsIn(at, index)).toEqual(['area/docs']);
});

it('a repository that is deleted in the middle of a run is asked again for a while, and harms no other', async () => {
  stage = await setStage({ rules });
  beforeTheWrite(() => stage.root.call(operations.deleteRepository, { params: at }));
  await openIssue('docs');
  const failed = await stage.run(({ outcomes }) => outcomes.some(({ status }) => status === 'failed'));
  await stage.quiet();

  expect(failed.outcomes[0]?.error).toContain('404');
  const { items } = await stage.server.store.listDeliveries({ search: 'issues' });
  expect(items[0]).toMatchObject({ state: 'retry', reason: expect.stringContaining('asked again until') });
  expect((await fetch(`${stage.server.url}/readyz`)).status).toBe(200);
});

needing('a restart')(
  'a server that is restarted in the middle of a run finds its labels set afterwards',
  { timeout: 3 * patienceMs + 60_000 },
  async () => {
    stage = await setStage({ rules });
    let restarted: Promise<void> | undefined;
    beforeTheWrite(async () => {
      restarted = stage.forge.restart();
      // The request goes out while no server listens, or to a server that has just begun to.
      await new Promise((resolve) => setTimeout(resolve, 100));
    });
    const index = await openIssue('docs');

    await expect
      .poll(() => labelsIn(at, index).catch(() => []), { timeout: 2 * patienceMs })
      .toEqual(['area/docs']);
    await restarted;
    const next = await openIssue('more docs');
    await expect.poll(() => labelsIn(at, next), { timeout: 2 * patienceMs }).toEqual(['area/docs']);
    await stage.quiet();
    const { dead, retry } = await stage.server.store.counts();
    expect({ dead, retry }).toEqual({ dead: 0, retry: 0 });
  },
);

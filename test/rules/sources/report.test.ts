import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../../src/contract/operations.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createReporter } from '../../../src/rules/sources/report.ts';
import { at, type Harness, startHarness } from '../../support/harness.ts';

describe('processes that read one rule file at the same time', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness({ hook: 'none' });
  });
  afterAll(() => harness.close());

  it('open one issue about the problems of the file, and report the correction once', async () => {
    const { store } = harness.server;
    const { id } = await harness.root.call(operations.getRepository, { params: at });
    let waits = 0;
    let nowMs = Date.now();
    const clock = {
      ...systemClock,
      now: () => new Date(nowMs),
      async sleep(ms: number) {
        waits += 1;
        await systemClock.sleep(ms / 20);
      },
    };
    const reporters = Array.from({ length: 4 }, () =>
      createReporter({ client: harness.root, how: 'issue', pins: store, clock }),
    );
    const readWith = (commit: string, problems: readonly string[]): void => {
      const head = { at: { id, owner: at.owner, name: at.repo }, commit, archived: false, isPrivate: false };
      const file = {
        rules: [],
        source: 'acme/demo/.reeve.yml',
        level: 'repository' as const,
        commit,
        problems,
      };
      for (const { onRead } of reporters)
        onRead({ level: 'repository', name: 'acme/demo', repositoryId: id, head, files: [file] });
    };
    const issues = () => harness.root.call(operations.listIssues, { params: at, query: { state: 'all' } });
    const kept = () => store.recall(`report rules ${id}`);

    readWith('a'.repeat(40), ['a mistake']);
    await expect.poll(kept).toMatchObject({ commit: 'a'.repeat(40), issue: expect.any(Number) });
    for (const { idle } of reporters) await idle();
    expect((await issues()).map(({ state }) => state)).toEqual(['open']);
    expect(waits).toBeGreaterThan(0);

    readWith('b'.repeat(40), []);
    await expect.poll(kept).toBeUndefined();
    for (const { idle } of reporters) await idle();
    expect((await issues()).map(({ state }) => state)).toEqual(['closed']);

    // A process that died while reporting delays the others by one minute.
    await store.remember(`report rules ${id}`, { claim: { by: 'dead', at: clock.now().toISOString() } });
    readWith('c'.repeat(40), ['another mistake']);
    for (const { idle } of reporters) await idle();
    expect(await issues()).toHaveLength(1);
    nowMs += 60_000;
    await expect.poll(kept).toMatchObject({ commit: 'c'.repeat(40) });
    for (const { idle } of reporters) await idle();
    expect(await issues()).toHaveLength(2);
  });

  it('say in the status that succeeds what polling does not find, for each commit, and then that it is solved', async () => {
    const { store } = harness.server;
    const { default_branch: branch } = await harness.root.call(operations.getRepository, {
      params: at,
    });
    // Reporters of the test above may still write the report of the repository’s id.
    const id = 1_000_000;
    const head = await harness.root.call(operations.getBranch, { params: { ...at, branch: branch ?? '' } });
    const sha = head.commit?.id ?? '';
    let warnings: readonly string[] = ['on-assigned: polling does not find issues.assigned'];
    const make = (how: 'status' | 'issue') =>
      createReporter({ client: harness.root, how, pins: store, warnings: () => warnings });
    const read = async (how: 'status' | 'issue') => {
      const { onRead, idle } = make(how);
      onRead({
        ...{ level: 'repository', name: 'acme/demo', repositoryId: id, files: [] },
        head: { at: { id, owner: at.owner, name: at.repo }, commit: sha, archived: false, isPrivate: false },
      });
      await idle();
      const statuses = await harness.root.call(operations.listStatuses, { params: { ...at, sha } });
      return statuses
        .filter(({ context }) => context === 'reeve/rules')
        .map(({ status, description }) => `${status}: ${description}`);
    };

    expect(await read('issue')).toEqual([]);
    const said =
      'success: the rules can be used; warning: on-assigned: polling does not find issues.assigned';
    expect(await read('status')).toEqual([said]);
    expect(await read('status')).toEqual([said]);
    warnings = [];
    expect((await read('status')).toSorted()).toEqual(['success: the rules can be used', said].toSorted());
    expect(await store.recall(`report rules ${id}`)).toBeUndefined();
  });
});

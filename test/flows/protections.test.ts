import { afterEach, describe, expect, it } from 'vitest';
import { findCapabilities, unsupportedReason } from '../../src/client/capabilities.ts';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { passwordOf, uniqueName } from '../support/flow-names.ts';
import { at, type Harness, people } from '../support/harness.ts';
import { startOperatorHarness, writesOf } from '../support/operator-harness.ts';
import { addFile } from '../support/privilege-setup.ts';

const reader = uniqueName('ghost-reader');
let harness: Harness;
afterEach(() => harness.close());

const pushes = (run: Run): boolean =>
  run.trigger.kind === 'push' && run.rules.some(({ verdict }) => verdict !== 'skipped');

/** Pushes to a branch and returns the resulting run. */
async function push(branch: string): Promise<Run> {
  const count = harness.runs.filter(pushes).length;
  await addFile(harness.root, at, branch, `pushed/${branch}-${count}.txt`);
  return harness.waitForRun((run) => pushes(run) && harness.runs.filter(pushes).indexOf(run) === count);
}

const outcomes = (run: Run) => run.outcomes.map(({ status, error }) => error ?? status);

describe('sync-branch-protections', () => {
  const rules = `version: 1
rules:
  guard-main:
    on: { push: { branches: [main] } }
    steps:
      - uses: sync-branch-protections
        with:
          protections:
            - { rule_name: main, required_approvals: 1, enable_push: true, enable_push_whitelist: true, push_whitelist_usernames: [${people.bot}, ${people.root}, ${reader}] }
            - { rule_name: "release/*", enable_push: false }
`;

  it('creates and repairs protections, reports once a name that the forge drops, and then needs one read', async () => {
    harness = await startOperatorHarness(rules);
    await harness.root.call(operations.createUser, {
      body: { username: reader, password: passwordOf(reader), email: `${reader}@example.org` },
    });
    const first = await push('main');
    const names = (await harness.root.call(operations.listBranchProtections, { params: at })).map(
      ({ rule_name, required_approvals, push_whitelist_usernames }) => [
        rule_name,
        required_approvals,
        push_whitelist_usernames?.toSorted(),
      ],
    );

    expect(outcomes(first).filter((outcome) => outcome !== 'applied')).toEqual([
      expect.stringContaining(`the forge dropped ${reader}`),
    ]);
    expect(names).toEqual([
      ['main', 1, [people.bot, people.root].toSorted()],
      ['release/*', 0, []],
    ]);

    expect((await push('main')).changes).toEqual([]);
    await harness.root.call(operations.editBranchProtection, {
      params: { ...at, name: 'main' },
      body: { required_approvals: 0, block_on_outdated_branch: true },
    });
    expect((await push('main')).changes.map(({ target }) => target)).toEqual([
      'protection:main.required_approvals',
    ]);
    expect(
      await harness.root.call(operations.getBranchProtection, { params: { ...at, name: 'main' } }),
    ).toMatchObject({
      required_approvals: 1,
      block_on_outdated_branch: true,
    });

    const from = harness.proxy.passed.length;
    const settled = await push('main');
    expect([settled.changes, writesOf(harness, from)]).toEqual([[], []]);
    expect(harness.proxy.passed.slice(from).filter(({ path }) => path.includes('protections'))).toHaveLength(
      1,
    );
  });
});

describe('protect-tags', () => {
  it('creates and repairs the given protection, and keeps other protections unless it prunes', async () => {
    harness = await startOperatorHarness(`version: 1
rules:
  tags:
    on: { push: { branches: [main] } }
    steps:
      - { uses: protect-tags, with: { tags: [{ name_pattern: "v*", whitelist_usernames: [${people.root}] }] } }
`);
    await harness.root.call(operations.createTagProtection, {
      params: at,
      body: { name_pattern: 'own-*', whitelist_usernames: [people.ada] },
    });
    const live = async () =>
      (await harness.root.call(operations.listTagProtections, { params: at })).map(
        ({ name_pattern, whitelist_usernames }) => [name_pattern, whitelist_usernames],
      );

    expect(outcomes(await push('main'))).toEqual(['applied', 'applied']);
    expect(await live()).toEqual([
      ['own-*', [people.ada]],
      ['v*', [people.root]],
    ]);
    const [, made] = await harness.root.call(operations.listTagProtections, { params: at });
    await harness.root.call(operations.editTagProtection, {
      params: { ...at, id: made?.id ?? 0 },
      body: { whitelist_usernames: [people.ada, people.root] },
    });
    await push('main');
    expect(await live()).toEqual([
      ['own-*', [people.ada]],
      ['v*', [people.root]],
    ]);
    expect((await push('main')).changes).toEqual([]);
  });
});

describe('open-pull-request', () => {
  it('opens a pull request if the branches differ, restores its title, and then plans nothing more', async () => {
    harness = await startOperatorHarness(`version: 1
rules:
  promote:
    on: { push: { branches: [develop] } }
    steps:
      - uses: open-pull-request
        with: { head: develop, base: main, title: Promote develop, body: All of it., labels: [kept] }
`);
    const pulls = async () =>
      (await harness.root.call(operations.listPulls, { params: at, query: { state: 'all' } })).map((pull) => [
        pull.number,
        pull.state,
        pull.title,
        pull.labels.map(({ name }) => name),
      ]);

    expect(outcomes(await push('develop'))).toEqual(['applied']);
    expect(await pulls()).toEqual([[1, 'open', 'Promote develop', ['kept']]]);
    await harness.root.call(operations.editPull, { params: { ...at, index: 1 }, body: { title: 'Mine' } });
    await push('develop');
    expect(await pulls()).toEqual([[1, 'open', 'Promote develop', ['kept']]]);
    expect((await push('develop')).changes).toEqual([]);
  });

  it('requests reviewers on creation if the forge supports it, and otherwise opens no pull request', async () => {
    harness = await startOperatorHarness(`version: 1
rules:
  promote:
    on: { push: { branches: [develop] } }
    steps:
      - uses: open-pull-request
        with: { head: develop, base: main, title: Promote develop, reviewers: [${people.ada}] }
`);
    const lack = unsupportedReason(await findCapabilities(harness.root), ['pull_reviewers_on_create']);

    const run = await push('develop');

    const [pull] = await harness.root.call(operations.listPulls, { params: at, query: { state: 'all' } });
    const expected = lack === undefined ? [[people.ada], []] : [undefined, [expect.stringContaining(lack)]];
    expect([pull?.requested_reviewers?.map(({ login }) => login), run.refused.map(({ why }) => why)]).toEqual(
      expected,
    );
  });
});

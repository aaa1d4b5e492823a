import { afterEach, beforeEach, expect, it } from 'vitest';
import { operations } from '../../src/contract/operations.ts';
import { makeRevertRun } from '../../src/engine/make-run.ts';
import type { Run } from '../../src/engine/record.ts';
import { createBarToRename } from '../../src/server/renames.ts';
import { acme, rulesOf, type SweepHarness, startSweepHarness } from '../support/sweep-harness.ts';

const demo = { owner: acme, repo: 'demo' } as const;
let harness: SweepHarness;
let rules = '';

beforeEach(async () => {
  const settings = { secrets: [], repositories: [] };
  harness = await startSweepHarness({
    settings: { barToRename: createBarToRename(settings, async () => rulesOf(rules)) },
  });
});
afterEach(() => harness.close());

async function inForce(scope: string, steps: string): Promise<void> {
  rules = `version: 1
rules:
  keep:
    in: ${scope}
    on: { schedule: "0 * * * *" }
    each: repository
    steps:
${steps.replace(/^/gm, '      ')}
`;
  harness.setRules(rules);
  await harness.tick();
}

/** Runs the next slot, and returns its runs and the writes of the bot. */
async function sweep() {
  const [runsBefore, requestsBefore] = [harness.runs.length, harness.proxy.passed.length];
  harness.advance(60);
  await harness.tick();
  const runs = harness.runs.slice(runsBefore);
  const passed = harness.proxy.passed.slice(requestsBefore);
  return {
    runs,
    outcomes: runs.flatMap((run) => run.outcomes.map(({ status, error }) => error ?? status)),
    refused: runs.flatMap((run) => run.refused.map(({ change, why }) => [change.target, why])),
    writes: passed.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`),
  };
}

const read = (name = 'demo') =>
  harness.root.call(operations.getRepository, { params: { owner: acme, repo: name } });
const edit = (body: object, repo = 'demo') =>
  harness.bot.call(operations.editRepository, { params: { owner: acme, repo }, body });

/** Reverts the first of these runs, as `reeve revert` does. */
async function revert({ runs: [run] }: { readonly runs: readonly Run[] }): Promise<Run> {
  if (run === undefined) throw new Error('no run');
  return makeRevertRun(run, { mode: 'enforce', client: harness.bot, clock: harness.clock });
}

const patchDemo = `PATCH /api/v1/repos/${acme}/demo`;

it('archives a repository after everything else, and visits it from then on without a write', async () => {
  await edit({ private: true });
  await harness.bot.call(operations.star, { params: demo });
  await inForce(
    `${acme}/demo`,
    `- uses: sync-repository
  with: { archived: true, description: Old }
- uses: sync-labels
  with: { labels: [{ name: last, color: ff0000 }] }
- uses: sync-repository
  with: { private: false, publish: true }`,
  );
  const first = await sweep();

  expect(first.outcomes).toEqual(['applied', 'applied', 'applied', 'applied']);
  expect(first.writes).toEqual([`POST /api/v1/repos/${acme}/demo/labels`, patchDemo, patchDemo, patchDemo]);
  expect(first.runs[0]?.changes.at(-1)).toMatchObject({ target: 'repository:archived', after: true });
  expect(await read()).toMatchObject({ archived: true, private: false, description: 'Old' });

  const second = await sweep();
  expect(second.runs).toHaveLength(1);
  expect(second.runs[0]?.rules).toMatchObject([{ verdict: 'matched' }]);
  expect([second.outcomes, second.refused, second.writes]).toEqual([[], [], []]);
});

it('writes only archived: false in an archived repository, and says why it writes nothing else', async () => {
  await edit({ archived: true });
  await inForce(`${acme}/demo`, '- uses: sync-labels\n  with: { labels: [{ name: last, color: ff0000 }] }');
  expect((await sweep()).runs).toEqual([]);

  await inForce(
    `${acme}/demo`,
    `- uses: sync-repository
  with: { archived: false, description: New, topics: [x] }
- uses: sync-labels
  with: { labels: [{ name: last, color: ff0000 }] }`,
  );
  const first = await sweep();

  expect(first.outcomes).toEqual(['applied']);
  expect(first.writes).toEqual([patchDemo]);
  const why = 'the repository is archived, and only archived: false is written there first';
  expect(first.refused.toSorted()).toEqual([
    ['label-definition:last', `${acme}/demo is archived: only archived: false is written there`],
    ['repository:description', why],
    ['repository:topics', why],
  ]);
  expect(await read()).toMatchObject({ archived: false, description: '' });

  const second = await sweep();
  expect(second.outcomes).toEqual(['applied', 'applied', 'applied']);
  expect(await read()).toMatchObject({ archived: false, description: 'New' });
  expect((await sweep()).writes).toEqual([]);
});

it('does not archive a repository while another change of its rule fails', async () => {
  await inForce(
    `${acme}/demo`,
    `- uses: sync-repository
  with: { archived: true }
- uses: sync-labels
  with: { labels: [{ name: last, color: ff0000 }] }`,
  );
  harness.proxy.decide = ({ method, path }) =>
    method === 'POST' && path.endsWith('/labels')
      ? { kind: 'replace', status: 422, body: '{}' }
      : { kind: 'pass' };
  const { outcomes } = await sweep();

  expect(outcomes).toHaveLength(2);
  expect(outcomes.at(-1)).toBe('an earlier change of its rule failed');
  expect(await read()).toMatchObject({ archived: false });
});

it('archived: true is taken back by a revert', async () => {
  await inForce(`${acme}/demo`, '- uses: sync-repository\n  with: { archived: true, template: true }');
  const done = await sweep();
  expect(await read()).toMatchObject({ archived: true, template: true });

  const back = await revert(done);

  expect(back.outcomes.map(({ status }) => status)).toEqual(['applied', 'applied']);
  expect(await read()).toMatchObject({ archived: false, template: false });
});

it('publishes a repository, and neither publishes nor hides one by a revert', async () => {
  await edit({ private: true });
  // The forge has removed the star of the bot.
  await harness.bot.call(operations.star, { params: demo });
  await inForce(`${acme}/demo`, '- uses: sync-repository\n  with: { private: false, publish: true }');
  const published = await sweep();
  expect(published.outcomes).toEqual(['applied']);
  expect(await read()).toMatchObject({ private: false });

  const back = await revert(published);
  expect(back.refused.map(({ why }) => why)).toEqual([
    expect.stringContaining('a publication cannot be taken back by reverting it'),
  ]);
  expect(await read()).toMatchObject({ private: false });

  await inForce(`${acme}/demo`, '- uses: sync-repository\n  with: { private: true }');
  const hidden = await sweep();
  expect(await read()).toMatchObject({ private: true });
  const again = await revert(hidden);
  expect(again.refused.map(({ why }) => why)).toEqual([
    'this would publish the repository: only a step with private: false and publish: true does that',
  ]);
  expect(await read()).toMatchObject({ private: true });
});

it('renames a repository once, keeps it under its new name, and reverts that', async () => {
  const { id } = await read();
  await inForce(
    `[${acme}/demo, ${acme}/docs]`,
    '- uses: sync-repository\n  with: { name: docs, description: New }',
  );
  const first = await sweep();

  expect(first.outcomes).toEqual(['applied', 'applied']);
  expect(first.runs[0]?.changes.map(({ target }) => target)).toEqual([
    'repository:description',
    'repository:name',
  ]);
  expect(await read('docs')).toMatchObject({ id, description: 'New' });
  // The former name leads to the repository.
  expect(await read('demo')).toMatchObject({ id, name: 'docs' });

  const second = await sweep();
  expect(second.runs).toMatchObject([{ rules: [{ verdict: 'matched' }] }]);
  expect(second.writes).toEqual([]);

  const back = await revert(first);
  expect(back.outcomes.map(({ status, error }) => error ?? status)).toEqual(['applied', 'applied']);
  expect(await read('demo')).toMatchObject({ id, name: 'demo', description: '' });
});

it('archives a renamed repository in the run after that', async () => {
  await inForce(
    `[${acme}/demo, ${acme}/docs]`,
    '- uses: sync-repository\n  with: { name: docs, archived: true }',
  );

  const first = await sweep();
  expect([first.outcomes, first.refused]).toEqual([
    ['applied'],
    [['repository:archived', 'the repository does not have its new name yet']],
  ]);
  expect((await sweep()).outcomes).toEqual(['applied']);
  expect(await read('docs')).toMatchObject({ archived: true });
});

it('refuses a name that another repository has or had', async () => {
  await inForce(`[${acme}/demo, ${acme}/ops]`, '- uses: sync-repository\n  with: { name: ops }');
  const taken = await sweep();
  expect(taken.refused).toEqual([['repository:name', `there is a repository ${acme}/ops`]]);

  await edit({ name: 'tools' }, 'ops');
  const led = await sweep();
  expect(led.refused).toEqual([
    ['repository:name', `${acme}/ops is a former name that leads to ${acme}/tools`],
  ]);
  expect([...taken.writes, ...led.writes]).toEqual([]);
  expect(await read()).toMatchObject({ name: 'demo' });
});

it('sync-milestones keeps milestones, and prunes those without items', async () => {
  const make = (title: string, more: object = {}) =>
    harness.root.call(operations.createMilestone, { params: demo, body: { title, ...more } });
  await make('v1', { due_on: '2026-06-30T12:00:00Z' });
  await make('empty', { state: 'closed' });
  const used = await make('used');
  await harness.root.call(operations.createIssue, {
    params: demo,
    body: { title: 'Broken', milestone: used.id },
  });
  // Forgejo counts in the background.
  const countOf = async () =>
    (await harness.root.call(operations.getMilestone, { params: { ...demo, id: used.id } })).open_issues;
  await expect.poll(countOf, { timeout: 60_000 }).toBe(1);
  await inForce(
    `${acme}/demo`,
    `- uses: sync-milestones
  with:
    prune: true
    milestones:
      - { title: v1, description: First, state: closed }
      - { title: v2, due_on: 2026-12-31 }`,
  );
  const first = await sweep();

  expect(first.outcomes).toEqual(['applied', 'applied', 'applied']);
  const why = 'the milestone "used" has 1 item (issues and pull requests): it is not deleted';
  expect(first.refused).toEqual([['milestone:used', why]]);
  const query = { state: 'all' };
  const live = await harness.root.call(operations.listMilestones, { params: demo, query });
  expect(
    live
      .map(({ title, description, state, due_on }) => [title, description, state, due_on?.slice(0, 10)])
      .toSorted(),
  ).toEqual([
    ['used', '', 'open', undefined],
    ['v1', 'First', 'closed', '2026-06-30'],
    ['v2', '', 'open', '2026-12-31'],
  ]);

  expect((await sweep()).writes).toEqual([]);
  const back = await revert(first);
  expect(back.outcomes.map(({ status, error }) => error ?? status)).toEqual([
    'applied',
    'applied',
    'applied',
  ]);
  const restored = await harness.root.call(operations.listMilestones, { params: demo, query });
  expect(restored.map(({ title, state }) => [title, state]).toSorted()).toEqual([
    ['empty', 'closed'],
    ['used', 'open'],
    ['v1', 'open'],
  ]);
});

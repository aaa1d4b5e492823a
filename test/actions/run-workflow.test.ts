import { beforeEach, describe, expect, it } from 'vitest';
import type { Change } from '../../src/actions/change.ts';
import { type ActionMemory, createActionMemory } from '../../src/actions/memory.ts';
import { runWorkflow } from '../../src/actions/run-workflow.ts';
import type { DispatchedRun } from '../../src/facts/statuses.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';

const run = (id: number, more: Partial<DispatchedRun> = {}): DispatchedRun => ({
  id,
  ref: 'refs/heads/main',
  status: 'queued',
  conclusion: '',
  actor_id: 9,
  ...more,
});
/** Facts of a repository with these runs before the request, and with the runs that a search finds. */
const factsOf = (before: readonly DispatchedRun[], found: Readonly<Record<string, unknown>> = {}) =>
  makeFacts({
    repository: { id: 1, name: 'site', default_branch: 'main' },
    workflow_runs: { '*': before, ...found },
  });

const given = { workflow: 'deploy.yml', inputs: { target: 'staging', count: 3, dry: true } };
const start = Date.parse('2026-03-01T12:00:00Z');
let memory: ActionMemory;
beforeEach(() => {
  memory = createActionMemory();
});
const contextAt = (seconds: number, more: Partial<Parameters<typeof makeContext>[0]> = {}) =>
  makeContext({ memory, now: new Date(start + seconds * 1_000), ...more });

async function planned(facts = factsOf([run(5)]), context = contextAt(0), asked = given): Promise<Change> {
  const [change] = await runWorkflow.plan(asked, facts, context);
  if (change === undefined) throw new Error('nothing planned');
  return change;
}

/** Plans a request whose response is lost. */
async function lose(context = contextAt(0), asked = given): Promise<Change> {
  const change = await planned(factsOf([run(5)]), context, asked);
  await runWorkflow.intend?.(change, context);
  return change;
}

describe('run-workflow plans', () => {
  it('a request with inputs as texts, and with the newest run before it', async () => {
    expect(await planned()).toMatchObject({
      input: {
        params: { owner: 'acme', repo: 'site', workflow_id: 'deploy.yml' },
        query: { return_run_details: true },
        body: {
          ref: 'refs/heads/main',
          inputs: { target: 'staging', count: '3', dry: 'true' },
          return_run_info: true,
        },
      },
      target: 'workflow:deploy.yml@main {"target":"staging","count":"3","dry":"true"}',
      before: { newest_run: 5 },
      requires: ['workflow_dispatch', 'workflow_runs'],
    });
  });

  it.each([
    ['release', 'refs/heads/release'],
    ['refs/heads/a/b', 'refs/heads/a/b'],
    ['refs/tags/v1', 'refs/tags/v1'],
  ])('the full name of %s', async (ref, full) => {
    const [change] = await runWorkflow.plan({ workflow: 'deploy.yml', ref }, factsOf([]), contextAt(0));

    expect(change?.input.body).toMatchObject({ ref: full });
    expect(change?.before).toEqual({ newest_run: 0 });
  });

  it('nothing while its condition does not hold, and never for rules of other levels', async () => {
    const facts = factsOf([]);
    expect(await runWorkflow.plan({ ...given, when: false }, facts, contextAt(0))).toEqual([]);
    for (const level of ['repository', 'organization'] as const) {
      const asked = runWorkflow.plan(given, facts, contextAt(0, { level }));
      await expect(asked).rejects.toThrow('only rules of the operator');
    }
    expect(facts.asked).toEqual([]);
  });

  it('nothing more for a trigger once the run was started', async () => {
    const context = contextAt(0);
    const change = await planned();
    await runWorkflow.intend?.(change, context);
    await runWorkflow.remember?.(change, { workflow_run_id: 6 }, context);

    expect(await planned(factsOf([run(6)]), contextAt(1))).toMatchObject({
      already: true,
      reason: 'it was started for this trigger: run 6',
    });
    // Other inputs, and another trigger, start another run.
    const other = { ...given, inputs: { ...given.inputs, target: 'production' } };
    expect((await planned(factsOf([]), contextAt(1), other)).already).toBeUndefined();
    const next = contextAt(1, { trigger: 'delivery-2' });
    expect((await planned(factsOf([]), next)).already).toBeUndefined();
  });

  it('the request again if the forge refused it', async () => {
    const context = contextAt(0);
    const withdraw = await runWorkflow.intend?.(await planned(), context);
    await withdraw?.();

    expect((await planned(factsOf([run(5)]), contextAt(1))).already).toBeUndefined();
  });
});

describe('after a lost answer', () => {
  it.each<[string, DispatchedRun, number | undefined]>([
    ['a run of our account', run(6), 6],
    ['a run of an account that the forge does not show', run(6, { actor_id: 0 }), undefined],
    ['a run with the short name of the branch', run(6, { ref: 'main' }), 6],
    ['a run of another account', run(6, { actor_id: 7 }), undefined],
    ['a run of another branch', run(6, { ref: 'refs/heads/other' }), undefined],
  ])('the started run is recognized or not: %s', async (_, found, id) => {
    await lose();
    const facts = factsOf([found], { 'deploy.yml>5': [found] });

    const result = planned(facts, contextAt(2));

    if (id === undefined) await expect(result).rejects.toMatchObject({ code: 'forge-unexpected' });
    else
      expect(await result).toMatchObject({
        already: true,
        reason: `it was started for this trigger: run ${id}`,
      });
  });

  it('the request is not repeated within a minute, and is retried afterwards', async () => {
    await lose();
    const facts = factsOf([run(5)], { 'deploy.yml>5': [] });

    await expect(planned(facts, contextAt(59))).rejects.toMatchObject({
      code: 'forge-unexpected',
      keepsWork: true,
      retryAfterMs: 1_000,
    });
    expect(await planned(facts, contextAt(60))).toMatchObject({
      reason: 'the earlier request for this trigger has started no run',
    });
  });

  it('nothing is sent while the runs cannot be listed', async () => {
    await lose();

    await expect(
      planned(factsOf([], { 'deploy.yml>5': new Error('no runs') }), contextAt(600)),
    ).rejects.toThrow();
  });

  it('two dispatches share no run', async () => {
    const second = { trigger: 'delivery-2' };
    await lose();
    await lose(contextAt(0, second));
    const facts = factsOf([run(6)], { 'deploy.yml>5': [run(6)] });

    expect(await planned(facts, contextAt(60))).toMatchObject({ already: true });
    expect((await planned(facts, contextAt(60, second))).already).toBeUndefined();
    expect(await planned(facts, contextAt(61))).toMatchObject({ already: true });
  });

  it('a run that is known to belong to another dispatch does not count', async () => {
    const second = contextAt(0, { trigger: 'delivery-2' });
    await lose();
    const change = await planned(factsOf([run(5)]), second);
    await runWorkflow.remember?.(change, { id: 6, run_number: 1 }, second);

    const facts = factsOf([run(6)], { 'deploy.yml>5': [run(6)] });
    expect((await planned(facts, contextAt(60))).already).toBeUndefined();
  });

  it('a run is left to an earlier dispatch whose response contained no run id', async () => {
    const second = contextAt(0, { trigger: 'delivery-2' });
    await lose();
    const change = await planned(factsOf([run(5)]), second);
    await runWorkflow.remember?.(change, undefined, second);
    const lost = (...ids: readonly number[]) =>
      planned(
        factsOf([run(7)], { 'deploy.yml>5': ids.map((id) => run(id)) }),
        contextAt(60, { dryRun: true }),
      );

    expect((await lost(6)).already).toBeUndefined();
    expect(await lost(7, 6)).toMatchObject({ reason: 'it was started for this trigger: run 7' });
    // The number of runs of another ref does not matter.
    const [other] = await runWorkflow.plan(
      { ...given, ref: 'refs/tags/v1' },
      factsOf([run(5)]),
      contextAt(0, { trigger: 'delivery-3' }),
    );
    if (other) await runWorkflow.remember?.(other, undefined, contextAt(0, { trigger: 'delivery-3' }));
    expect(await lost(7, 6)).toMatchObject({ already: true });
  });

  it('a run is found even if an earlier response contained no run id', async () => {
    const first = contextAt(0, { trigger: 'delivery-0' });
    await runWorkflow.remember?.(await planned(factsOf([run(4)]), first), undefined, first);
    await lose();

    expect(await planned(factsOf([run(6)], { 'deploy.yml>5': [run(6)] }), contextAt(2))).toMatchObject({
      reason: 'it was started for this trigger: run 6',
    });
  });

  it('a dry run finds the run, and records nothing', async () => {
    await lose();
    const facts = factsOf([run(6)], { 'deploy.yml>5': [run(6)] });

    expect(await planned(facts, contextAt(60, { dryRun: true }))).toMatchObject({ already: true });
    expect((await planned(factsOf([], { 'deploy.yml>5': [] }), contextAt(61))).already).toBeUndefined();
  });
});

it.each([
  { workflow: '../deploy.yml' },
  { workflow: 'deploy' },
  { workflow: 'deploy.yml', ref: 'refs/pull/1/head' },
  { workflow: 'deploy.yml', ref: 'a..b' },
  {
    workflow: 'deploy.yml',
    inputs: Object.fromEntries(Array.from({ length: 26 }, (_, at) => [`i${at}`, 'x'])),
  },
  { workflow: 'deploy.yml', inputs: { list: ['x'] } },
])('run-workflow refuses %j at load', (written) => {
  expect(runWorkflow.arguments.safeParse(written).success).toBe(false);
});

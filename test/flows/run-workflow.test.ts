import { afterEach, describe, expect, it } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { operations } from '../../src/contract/operations.ts';
import type { Run } from '../../src/engine/record.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { workflowByHand } from '../actions/scenarios.ts';
import { post } from '../support/deliveries.ts';
import type { Fault } from '../support/fault-proxy.ts';
import { at, type Harness } from '../support/harness.ts';
import { startOperatorHarness } from '../support/operator-harness.ts';
import { addFile } from '../support/privilege-setup.ts';

let harness: Harness;
let aheadMs = 0;
const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
afterEach(() => harness.close());

const rules = `version: 1
rules:
  deploy:
    on: { push: { branches: [release] } }
    steps:
      - uses: run-workflow
        with: { workflow: deploy.yml, ref: main, inputs: { target: staging } }
`;

const isDispatch = ({ method, path }: { method: string; path: string }): boolean =>
  method === 'POST' && path.includes('/dispatches');
const dispatches = () => harness.proxy.passed.filter(isDispatch).length;

async function started(): Promise<number> {
  const { workflow_runs } = await harness.root.call(operations.listWorkflowRuns, { params: at });
  return (workflow_runs ?? []).length;
}

async function start(yaml = rules): Promise<void> {
  aheadMs = 0;
  harness = await startOperatorHarness(yaml, { server: { clock } });
  await harness.root.call(operations.editRepository, { params: at, body: { has_actions: true } });
  await addFile(harness.root, at, 'main', '.gitea/workflows/deploy.yml', workflowByHand);
  await harness.idle();
}

/** Applies a fault to the first dispatch. Later dispatches pass. */
function meddle(fault: Fault): void {
  let met = 0;
  harness.proxy.decide = (passing) => {
    if (!isDispatch(passing)) return { kind: 'pass' };
    met += 1;
    return met === 1 ? fault : { kind: 'pass' };
  };
}

const push = (path: string) => addFile(harness.ada, at, 'release', path);
const isDecided = ({ rules: all, outcomes }: Run): boolean =>
  all.some(({ rule, verdict }) => rule.endsWith('#deploy') && verdict === 'matched') && outcomes.length > 0;

describe('run-workflow', () => {
  it('starts the workflow once for each push, even if a delivery is repeated', async () => {
    await start();
    await push('one.txt');
    const run = await harness.waitForRun(isDecided);
    await harness.idle();

    expect(run.outcomes.map(({ status, error }) => error ?? status)).toEqual(['applied']);
    expect(run.changes[0]).toMatchObject({ irreversible: expect.stringContaining('cannot be taken back') });
    expect([dispatches(), await started()]).toEqual([1, 1]);

    const delivery = await harness.server.store.readDelivery(run.trigger.delivery ?? '');
    const payload = JSON.parse(Buffer.from(delivery?.body ?? []).toString('utf8'));
    await post(harness.server.url, { eventType: 'push', payload });
    const repeated = await harness.waitForRun(({ trigger }) => trigger.repeated === true);
    await harness.idle();
    expect(repeated.refused.map(({ why }) => why)).toEqual([expect.stringContaining('is not repeated')]);
    expect(await started()).toBe(1);

    await push('two.txt');
    await harness.waitForRun((one) => isDecided(one) && one.id !== run.id);
    await harness.idle();
    expect(await started()).toBe(2);
  });

  it('finds its run if the response was lost, and sends nothing again', async () => {
    await start();
    meddle({ kind: 'lose' });
    await push('one.txt');
    await harness.waitForRun(
      ({ trigger, outcomes }) =>
        trigger.kind === 'push' && outcomes.some(({ status }) => status === 'failed'),
    );
    await harness.waitForRun(
      ({ rules: all, outcomes }) =>
        outcomes.length === 0 &&
        all.some(({ rule, verdict }) => rule.endsWith('#deploy') && verdict === 'matched'),
    );
    await harness.idle();

    expect([dispatches(), await started()]).toEqual([1, 1]);
  });

  it('waits a minute if the request may be lost, even across a restart, and then sends it once more', async () => {
    await start();
    meddle({ kind: 'reset' });
    await push('one.txt');
    const isUndecided = ({ rules: all }: Run): boolean =>
      all.some(({ reason }) => reason?.includes('not known yet') ?? false);
    await harness.waitForRun(isUndecided);
    await harness.idle();
    expect([dispatches(), await started()]).toEqual([1, 0]);

    await harness.restart({
      async between() {
        aheadMs = 120_000;
      },
    });
    await harness.waitForRun(({ outcomes }) => outcomes.some(({ status }) => status === 'applied'));
    await harness.idle();

    expect([dispatches(), await started()]).toEqual([2, 1]);
  });

  it("reports the forge's refusal, and starts the workflow for the next trigger", async () => {
    await start();
    meddle({ kind: 'answer', status: 422, body: '{"message":"no dispatch"}' });
    await push('one.txt');
    const run = await harness.waitForRun(isDecided);

    expect(run.outcomes).toMatchObject([{ status: 'failed', error: expect.stringContaining('no dispatch') }]);
    await push('two.txt');
    await harness.waitForRun(({ outcomes }) => outcomes.some(({ status }) => status === 'applied'));
    expect(await started()).toBe(1);
  });

  it('does not react to the end of a run that it started itself, but to others of its account, which Forgejo reports without a sender', async () => {
    await start(rules.replace('{ push: { branches: [release] } }', 'action_run_success'));
    const repository = await harness.root.call(operations.getRepository, { params: at });
    const ended = async (id: number, person: Client) => {
      const run = { id, title: 'Deploy', status: 'success', event: '', repository };
      const trigger_user = await person.call(operations.getSelf, {});
      const payload = {
        action: 'success',
        run: { ...run, trigger_event: 'workflow_dispatch', trigger_user },
        prior_status: 'running',
      };
      await post(harness.server.url, { eventType: 'action_run_success', payload });
    };

    const runsOf = (text: string): readonly Run[] =>
      harness.runs.filter(({ rules: all }) =>
        all.some(({ verdict, reason }) => (reason ?? verdict) === text),
      );

    await ended(90_001, harness.ada);
    await harness.waitForRun(isDecided);
    await harness.idle();
    expect([dispatches(), await started()]).toEqual([1, 1]);

    const { workflow_runs: list } = await harness.root.call(operations.listWorkflowRuns, { params: at });
    await ended(list?.[0]?.id ?? 0, harness.bot);
    await harness.idle();
    expect(runsOf('own')).toHaveLength(1);
    expect(dispatches()).toBe(1);

    // A run that a person started with the same account.
    await ended(90_002, harness.bot);
    await harness.idle();
    expect(runsOf('matched').map(({ trigger }) => trigger.isByPerson)).toEqual([undefined, true]);
    expect(dispatches()).toBe(2);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Action } from '../../src/actions/action.ts';
import { actions } from '../../src/actions/actions.ts';
import type { Change } from '../../src/actions/change.ts';
import { createActionMemory } from '../../src/actions/memory.ts';
import { createNamedSecrets } from '../../src/actions/secrets.ts';
import type { Client } from '../../src/client/client.ts';
import type { Subject } from '../../src/contract/events/subject.ts';
import { applyPlan } from '../../src/engine/apply.ts';
import { makePlan } from '../../src/engine/plan.ts';
import type { PlannedChange } from '../../src/engine/proposal.ts';
import type { Run } from '../../src/engine/record.ts';
import { revertRun } from '../../src/engine/revert.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Message } from '../../src/platform/http/message-sender.ts';
import { makeContext } from '../support/make-context.ts';
import { plainRule } from '../support/plain-rule.ts';
import { type PrivilegeSetup, startPrivilegeForge } from '../support/privilege-setup.ts';
import { scenarios } from './scenarios.ts';

const rule = plainRule();

const secrets = createNamedSecrets(
  new Map([['CHAT', 'https://chat.example.org/hooks/secret']]),
  new Uint8Array(32),
);

let privilegeForge: Awaited<ReturnType<typeof startPrivilegeForge>>;
beforeAll(async () => {
  privilegeForge = await startPrivilegeForge();
});
afterAll(() => privilegeForge.close());

it('every action has a scenario', () => {
  expect(Object.keys(scenarios).toSorted()).toEqual(actions.map(({ name }) => name).toSorted());
});

describe.each(Object.entries(scenarios))('%s', (name, scenario) => {
  const action = actions.find((one) => one.name === name) as Action;
  let setup: PrivilegeSetup;
  let subject: Subject;
  let done: Run;
  let wanted: readonly string[] = [];
  let memory = createActionMemory();
  /** Messages to receivers other than the forge. */
  const sent: Message[] = [];
  // An action that requests nothing from the forge needs no access to it.
  const isOutside = action.needs.scopes.length === 0;
  beforeAll(async () => {
    setup = await privilegeForge.make(action.needs);
    await scenario.arrange?.(setup);
    subject = typeof scenario.on === 'function' ? await scenario.on(setup) : setup.subjects[scenario.on];
  });

  it('plans the same twice, and sends only GET requests for it', async () => {
    setup.requests.length = 0;
    sent.length = 0;

    const first = await plan();
    const second = await plan();

    expect(open(first)).not.toEqual([]);
    expect(second).toEqual(first);
    const operations = first.map(({ operation }) => operation);
    expect(Object.keys(action.inverses)).toEqual(expect.arrayContaining(operations));
    expect(setup.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(sent).toEqual([]);
  });

  const needsNothing = async (): Promise<void> => {
    memory = createActionMemory();
    setup.requests.length = 0;

    const { outcomes } = await apply(await plan(), setup.underprivileged.client);

    expect(outcomes.map(({ status, error }) => error ?? status)).toEqual(['applied']);
    expect(setup.requests).toEqual([]);
    expect(sent.length).toBe(1);
    memory = createActionMemory();
  };

  if (isOutside) it('needs no access: it sends one message and no request to the forge', needsNothing);
  else {
    it('needs the access it declares: it is refused with less', async () => {
      if (scenario.refuses) {
        await expect(plan(setup.underprivileged.client)).rejects.toThrow(scenario.refuses);
        return;
      }
      const { outcomes } = await apply(await plan(), setup.underprivileged.client);

      const refusals = (scenario.refusal ?? [403]).join('|');
      expect(outcomes.filter(({ status }) => status === 'applied')).toEqual([]);
      expect(outcomes[0]?.error).toMatch(new RegExp(`the forge answered (${refusals})`));
    });

    it('needs the scopes it declares: a read-only token is refused', async () => {
      const { outcomes } = await apply(await plan(), setup.readOnlyClient);

      expect(outcomes.filter(({ status }) => status === 'applied')).toEqual([]);
      expect(outcomes[0]?.error).toContain('the forge answered 403');
    });
  }

  it('plans nothing more once applied, and changes nothing that is not named', async () => {
    const before = await unrelatedState();
    const planned = await plan();

    const applied = await apply(planned, setup.holder.client);
    done = recordOf(applied);

    expect(applied.outcomes.map(({ status, error }) => error ?? status)).toEqual(
      open(planned).map(() => 'applied'),
    );
    expect(open(await plan())).toEqual([]);
    expect(await unrelatedState()).toEqual(before);
    wanted = open(planned);
  });

  it('is undone as far as the forge permits, and then planned again', async () => {
    const client = setup.holder.client.counted();

    const back = await revertRun(done, {
      id: 'back',
      client,
      mode: 'enforce',
      trigger: { door: 'cli', kind: 'revert', activity: '', at: new Date().toISOString() },
      clock: systemClock,
    });

    expect(back.outcomes.map(({ status, error }) => error ?? status)).toEqual(
      back.changes.map(() => 'applied'),
    );
    const stays = back.refused.map(({ change, why }) => `${change.target}: ${why}`);
    expect(stays.filter((description) => !(scenario.stays ?? /^$/).test(description))).toEqual([]);
    const still = new Set(back.refused.map(({ change }) => change.target));
    const anew = scenario.rests ? [] : wanted.filter((target) => !still.has(target));
    expect(open(await plan()).toSorted()).toEqual(anew.toSorted());
  });

  async function unrelatedState(): Promise<unknown> {
    const { settings, ...others } = await setup.unrelatedState();
    const kept = Object.entries(settings).filter(([name]) => !scenario.names?.includes(name));
    return { ...others, settings: kept };
  }

  const context = () => makeContext({ account: { id: setup.holder.id }, memory, secrets });

  async function plan(client = setup.holder.client): Promise<readonly Change[]> {
    return action.plan(scenario.arguments(setup), factsOf(client), context());
  }

  async function apply(changes: readonly Change[], client: Client) {
    const wish = {
      rule,
      step: '1',
      action,
      arguments: scenario.arguments(setup),
      context: context(),
      changes,
    };
    const { changes: planned } = makePlan([wish]);
    return { planned, ...(await applyPlan({ changes: planned, facts: factsOf(), client, secrets, send })) };
  }

  async function send(message: Message): Promise<void> {
    sent.push(message);
  }

  function factsOf(client = setup.holder.client) {
    return createFacts({
      client,
      subject,
      memory: createFactMemory(systemClock),
      clock: systemClock,
    });
  }
});

type Applied = Awaited<ReturnType<typeof applyPlan>> & { readonly planned: readonly PlannedChange[] };

/** Returns the run that a store would keep of the applied changes. */
function recordOf({ planned, outcomes, sent }: Applied): Run {
  const changes = planned.map(({ id, change }) => ({
    ...change,
    id,
    rules: [rule.id],
    step: '1',
    method: '',
    path: '',
    input: sent.get(id) ?? change.input,
  }));
  const trigger = { door: 'cli', kind: 'test', activity: '', at: new Date(0).toISOString() } as const;
  return {
    schema: 1,
    id: 'done',
    mode: 'enforce',
    trigger,
    rules: [],
    changes,
    refused: [],
    outcomes,
    requests: 0,
    ms: 0,
  };
}

function open(changes: readonly Change[]): readonly string[] {
  return changes.filter(({ already }) => !already).map(({ target }) => target);
}

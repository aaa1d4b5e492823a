import { beforeEach, describe, expect, it } from 'vitest';
import type { Action } from '../../src/actions/action.ts';
import type { Change } from '../../src/actions/change.ts';
import { createActionMemory } from '../../src/actions/memory.ts';
import { findDueProtection } from '../../src/actions/merging.ts';
import type { PlanContext } from '../../src/actions/plan-context.ts';
import type { QueueDesk } from '../../src/actions/queue-desk.ts';
import { capabilitiesOf } from '../../src/client/capabilities.ts';
import type { Client } from '../../src/client/client.ts';
import type { Subject } from '../../src/contract/events/subject.ts';
import type { AnyInput, Operation } from '../../src/contract/operation.ts';
import type { Consequences } from '../../src/engine/bounds/consequences.ts';
import type { Pause } from '../../src/engine/bounds/pauses.ts';
import { createBudgetLedger } from '../../src/engine/budget/ledger.ts';
import { runRules } from '../../src/engine/run.ts';
import type { RunInput } from '../../src/engine/run-context.ts';
import type { Facts } from '../../src/facts/fact.ts';
import { type ErrorCode, ReeveError } from '../../src/platform/errors.ts';
import { createRuleSet, type LoadedRule, type LoadedStep } from '../../src/rules/rule.ts';
import { makeClock } from '../support/make-clock.ts';
import { makeFacts } from '../support/make-facts.ts';
import { plainAction, plainChange } from '../support/plain-action.ts';
import { plainRule } from '../support/plain-rule.ts';
import { makeRecordingClient } from '../support/recording-client.ts';

const now = new Date('2026-03-01T12:00:00Z');
const home = { id: 1, owner: 'acme', name: 'demo' };
const pause: Pause = { scope: { kind: 'all' }, at: new Date(0), by: 'ada' };

const step = (action: Partial<Action>, name = '1', written: unknown = {}): LoadedStep => ({
  name,
  action: plainAction(action),
  line: 1,
  arguments: { written, facts: [], reads: [], resolve: () => ({ findings: [], ok: true, value: written }) },
});
/** Creates a step that proposes these changes. */
const wanting = (...changes: readonly Change[]): LoadedStep => step({ plan: async () => changes });

const makeRule = (name: string, steps: readonly LoadedStep[], more: Partial<LoadedRule> = {}): LoadedRule =>
  plainRule({ id: `r.yml#${name}`, name, source: 'r.yml', steps, ...more });

/** Responses of the forge, in order; an error is thrown. */
let answers: unknown[];
let sent: unknown[];
let kept: unknown[];
beforeEach(() => {
  [answers, sent, kept] = [[], [], []];
});

type RunGiven = Partial<RunInput> & { readonly subject?: Subject };

async function run(
  rules: readonly LoadedRule[],
  { subject = { kind: 'issue', index: 1, repository: home }, ...more }: RunGiven = {},
) {
  const facts: Facts = {
    ...makeFacts({ repository_id: { id: 1 }, labels: [] }),
    subject,
    anew(given) {
      kept.push(given);
      return facts;
    },
    fresh: () => facts,
  };
  const client: Client = {
    ...makeRecordingClient(),
    send: (async (_operation: Operation, { body }: AnyInput) => {
      sent.push((body as { title: unknown }).title);
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    }) as unknown as Client['send'],
  };
  const ran = await runRules({
    id: 'r1',
    mode: 'enforce',
    trigger: { door: 'cron', kind: 'schedule', activity: '', delivery: 'd1', at: now.toISOString() },
    rules: createRuleSet(rules),
    item: {},
    facts,
    client,
    now,
    clock: makeClock({ monotonicMs: () => 0 }),
    ...more,
  });
  const { run: record } = ran;
  const targets = new Map(record.changes.map(({ id, target }) => [id, target]));
  const ends = record.outcomes.map(({ change, status }) => `${targets.get(change)} ${status}`);
  const refused = record.refused.map(({ change, why }) => `${change.target}: ${why}`);
  return { ...ran, record, ends, refused };
}

const refusal = (code: ErrorCode, status?: number) =>
  new ReeveError(code, `the forge answered ${status}`, { status });

it('a protective change that is paused after planning remains due, before later changes are sent and after the run', async () => {
  const memory = createActionMemory();
  const place = { repository: home, index: 1 };
  const tighten: Change = { ...plainChange('gate'), protects: 'tightens' };
  const gate = makeRule('gate', [step({ protects: true, plan: async () => [tighten] })]);
  const other = makeRule('other', [wanting(plainChange('later'))]);
  const ofGate: Pause = { ...pause, scope: { kind: 'rule', name: gate.id } };
  let reads = 0;
  const seen: unknown[] = [];

  const paused = await run([gate, other], {
    subject: { kind: 'pull_request', ...place },
    memory,
    pauses: async () => {
      reads += 1;
      return reads === 1 ? [] : [ofGate];
    },
    client: {
      ...makeRecordingClient(),
      send: (async () => void seen.push(await findDueProtection(memory, place))) as unknown as Client['send'],
    },
  });

  expect(paused.ends).toEqual(['gate skipped', 'later applied']);
  const due = expect.stringContaining('of r.yml#gate has not been applied yet: rule r.yml#gate is paused');
  expect([...seen, await findDueProtection(memory, place)]).toEqual([due, due]);

  await run([gate, other], { subject: { kind: 'pull_request', ...place }, memory, pauses: async () => [] });
  expect(await findDueProtection(memory, place)).toBeUndefined();
});

describe('a step whose changes may require further changes', () => {
  /** Creates a step that returns these plans in succession. */
  const following = (
    plans: readonly (readonly Change[] | Error)[],
    more: Partial<Action> = {},
  ): LoadedStep => {
    const [first = [], second = []] = plans;
    const planned = (changes: readonly Change[] | Error) => {
      if (changes instanceof Error) throw changes;
      return changes;
    };
    return step({
      plan: async () => planned(first),
      followUp: async () => planned(second),
      ...more,
    });
  };
  const [a, b] = [plainChange('a'), plainChange('b')];

  it.each<[string, readonly (readonly Change[] | Error)[], Partial<Action>, readonly string[]]>([
    ['another one', [[a], [b]], {}, ['a applied', 'b applied']],
    ['another value', [[a], [{ ...a, value: 2 }]], {}, ['a applied', 'a applied']],
    ['nothing', [[a], []], {}, ['a applied']],
    ['what is there', [[a], [{ ...b, already: true }]], {}, ['a applied']],
    ['an error', [[a], new Error('odd')], {}, ['a applied']],
    ['another one, of a step that has none', [[a], [b]], { followUp: undefined as never }, ['a applied']],
  ])('is planned once more after its changes are sent: %s', async (_title, plans, more, ends) => {
    const made = await run([makeRule('x', [following(plans, more)])]);

    expect(made.ends).toEqual(ends);
    expect(made.record.changes.map(({ id }) => id)).toEqual(['c1', 'c2'].slice(0, ends.length));
    expect(sent.length).toBe(ends.length);
    expect(made.retry).toBeUndefined();
    expect(made.record.rules).toHaveLength(1);
  });

  it('is planned once more for all of its changes together, and without facts that are no longer valid', async () => {
    const labels = { name: 'labels' };
    const changes = [{ ...a, keeps: [labels, { name: 'files' }], reads: [labels] }, b];
    const before: unknown[] = [];
    const followUp: Action['followUp'] = async (_given, _facts, _context, planned) => {
      before.push(planned);
      return [plainChange('c')];
    };
    const made = await run([
      makeRule('x', [following([changes], { followUp })]),
      makeRule('y', [wanting(plainChange('d'))]),
    ]);

    expect(made.ends).toEqual(['a applied', 'b applied', 'd applied', 'c applied']);
    expect(made.record.changes.map(({ id }) => id)).toEqual(['c1', 'c2', 'c3', 'c4']);
    expect(kept).toEqual([[{ name: 'files' }]]);
    expect(before).toEqual([changes]);
  });

  it('is not planned again if nothing was sent', async () => {
    const planned = await run([makeRule('x', [following([[a], [b]])])], { mode: 'plan' });
    expect(planned.ends).toEqual(['a planned']);
    const observed = await run([makeRule('x', [following([[a], [b]])], { mode: 'observe' })]);
    expect(observed.ends).toEqual(['a planned']);
  });

  it('adds the refusals, pause and errors of its second plan to the same record', async () => {
    const away = refusal('forge-unavailable', 502);
    expect(await run([makeRule('x', [following([[a], away])])])).toMatchObject({
      ends: ['a applied'],
      retry: away,
    });

    answers = [{}, refusal('forge-throttled', 429)];
    const late = await run([makeRule('x', [following([[a], [b]])])]);
    expect([late.ends, late.retry?.code, late.moved]).toEqual([
      ['a applied', 'b failed'],
      'forge-throttled',
      undefined,
    ]);

    answers = [{}, refusal('forge-moved')];
    expect(await run([makeRule('x', [following([[a], [b]])])])).toMatchObject({ moved: true });

    sent = [];
    const paused = await run([makeRule('x', [following([[a], [b]])])], {
      pauses: async () => (sent.length > 0 ? [pause] : []),
    });
    expect([paused.ends, paused.deferral?.isPaused]).toEqual([['a applied'], true]);
    expect(paused.refused).toEqual([expect.stringMatching(/^b: all writes are paused/)]);
  });
});

describe('a change that causes events', () => {
  const causes = { event: 'deleted', branch: 'work' } as const;

  it.each<[string, RunGiven, unknown]>([
    ['of a person', {}, { rules: ['r.yml#x', 'r.yml#y'], depth: 1 }],
    [
      'of a chain',
      { cause: { because: { run: 'r0', change: 'c9' }, rules: ['r.yml#w', 'r.yml#y'], depth: 2 } },
      { rules: ['r.yml#w', 'r.yml#y', 'r.yml#x'], depth: 3 },
    ],
    ['outside of repositories', { subject: { kind: 'organization', organization: 'acme' } }, undefined],
  ])('is recorded with the rules of the chain: %s', async (_title, more, noted) => {
    const begun: unknown[] = [];
    const shared = wanting(plainChange('a', { causes }), plainChange('b'));
    const { ends } = await run([makeRule('x', [shared]), makeRule('y', [shared])], {
      consequences: {
        async begin(id: number, change: unknown) {
          begun.push(id, change);
          return async () => {};
        },
      } as unknown as Consequences,
      ...more,
    });

    expect(ends).toEqual(['a applied', 'b applied']);
    const because = { run: 'r1', change: 'c1' };
    expect(begun).toEqual(noted === undefined ? [] : [1, { because, causes, ...(noted as object) }]);
  });
});

describe('a run', () => {
  it('names once each rule that waits for a change of state without an event', async () => {
    const waits = (polls: boolean) => ({ waits: { why: 'checks run', polls } });
    const merge = plainChange('m', { reconsiders: true });
    answers = [refusal('forge-conflict', 409), refusal('forge-conflict', 409)];
    const made = await run([
      makeRule('x', [wanting(plainChange('a', waits(true)), plainChange('b', waits(true)))]),
      makeRule('y', [wanting(plainChange('c', waits(false)))]),
      makeRule('z', [step({ plan: async () => [merge], awaitsChecks: true })]),
    ]);

    expect(made.refused).toEqual(['a: checks run', 'b: checks run', 'c: checks run']);
    expect([made.awaiting, made.resisted]).toEqual([['r.yml#x', 'r.yml#z'], ['r.yml#z']]);
    const plain = await run([makeRule('y', [wanting(plainChange('c'))])]);
    expect(plain).not.toHaveProperty('awaiting');
    expect(plain).not.toHaveProperty('resisted');
  });

  it('writes nothing if a fact of one rule cannot be read now, or if there is no forge', async () => {
    const away = refusal('forge-unavailable', 502);
    const failing = step({ plan: () => Promise.reject(away) }, 'ask');
    const rules = [makeRule('x', [wanting(plainChange('a'))]), makeRule('y', [failing])];
    const made = await run(rules);

    expect([made.ends, made.retry, sent]).toEqual([[], away, []]);
    expect(made.record.rules[1]).toMatchObject({
      verdict: 'failed',
      reason: 'step ask: the forge answered 502',
      code: 'forge-unavailable',
    });
    const planned = await run([makeRule('x', [wanting(plainChange('a'))])], { client: undefined });
    expect([planned.ends, planned.record.requests, sent]).toEqual([['a planned'], 0, []]);
  });

  it('keeps the changes of the steps before a failed one, except the last change of its rule', async () => {
    const last = wanting(plainChange('last', { stage: 3 }));
    const failing = step({ plan: () => Promise.reject(new Error('odd')) }, 'two');
    const made = await run([
      makeRule('x', [wanting(plainChange('a')), last, failing, wanting(plainChange('c'))]),
      makeRule('y', [wanting(plainChange('d', { stage: 3 }))]),
    ]);

    expect(made.ends).toEqual(['a applied', 'd applied']);
    expect(made.refused).toEqual(['last: it must be applied last, and a step of its rule failed']);
    expect(made.record.rules[0]).toMatchObject({ verdict: 'failed', reason: 'step two: odd' });
    expect(made.record.rules[0]).not.toHaveProperty('code');
  });

  it('makes the last change of a rule wait for the others', async () => {
    const rules = [
      makeRule('x', [
        wanting(
          plainChange('a', { waits: { why: 'not now', polls: false } }),
          plainChange('z', { stage: 3 }),
        ),
      ]),
    ];
    expect((await run(rules)).refused).toEqual([
      'a: not now',
      'z: it must be applied last, and a of its rule was refused',
    ]);
  });

  it('charges applied changes to the budget of its repository, organization or notifications', async () => {
    const ledger = createBudgetLedger({ now: () => now });
    const spentIn = (place: number | string) => ledger.edit(place, (past) => past.spent().all);
    answers = [{}, refusal('forge-refused', 422), {}];
    const rules = ['a', 'b', 'c'].map((name) => makeRule(name, [wanting(plainChange(name))]));
    await run(rules, { ledger });
    expect(await spentIn(1)).toBe(2);

    await run(rules, {
      ledger,
      subject: { kind: 'organization', organization: 'acme' },
    });
    expect(await spentIn('organization acme')).toBe(3);
    await run(rules, { ledger, subject: { kind: 'notification' } });
    expect(await spentIn('notification ')).toBe(3);

    let asked = 0;
    const counting: typeof ledger = {
      edit(place, work) {
        asked += 1;
        return ledger.edit(place, work);
      },
    };
    await run([makeRule('x', [wanting(plainChange('a', { already: true }))])], { ledger: counting });
    await run([makeRule('x', [wanting()])], { ledger: counting });
    expect(asked).toBe(0);
  });

  it('that is stopped by a budget and by a pause may run again when the earlier of the two ends', async () => {
    const ledger = createBudgetLedger({ now: () => now });
    const budgets = { delivery: { all: 9, repository: 9 }, hour: { all: 1, repository: 1 } };
    const rules = [makeRule('x', [wanting(plainChange('a'), plainChange('b'))])];

    let looks = 0;
    const late = await run(rules, {
      ledger,
      budgets,
      async pauses() {
        looks += 1;
        return looks > 1 ? [pause] : [];
      },
    });
    expect(late.deferral).toMatchObject({ afterMs: 3_600_000, isPaused: true });
    const [first] = late.refused;
    expect([late.ends, first]).toEqual([
      ['a skipped'],
      expect.stringMatching(/^b: deferred, over the budget/),
    ]);

    const alone = await run(rules, { pauses: async () => [pause] });
    expect(alone.deferral).toMatchObject({ afterMs: 86_400_000, isPaused: true });
    const over = await run(rules, { ledger: createBudgetLedger({ now: () => now }), budgets });
    expect(over.deferral).not.toHaveProperty('isPaused');
  });

  it('reports the refusal of a change before the refusals of changes that need it', async () => {
    const made = await run(
      [
        makeRule('x', [
          wanting(plainChange('new', { requires: ['hook_names'] }), plainChange('old', { needs: 'new' })),
        ]),
      ],
      { capabilities: async () => capabilitiesOf('1.20.0') },
    );
    expect(made.ends).toEqual([]);
    expect(made.refused[1]).toBe('old: it requires new, which is not made');
  });
});

describe('an action', () => {
  const contextOf = async (
    rule: Partial<LoadedRule> = {},
    more: Parameters<typeof run>[1] = {},
  ): Promise<PlanContext> => {
    let seen: PlanContext | undefined;
    const plan: Action['plan'] = async (_given, _facts, context) => {
      seen = context;
      return [];
    };
    await run([makeRule('x', [step({ plan })], rule)], more);
    if (seen === undefined) throw new Error('the action was not asked');
    return seen;
  };

  it.each<[string, RunGiven, string]>([
    ['a delivery', {}, 'd1 1#1'],
    ['a job for an earlier delivery', { announcedBy: 'd0' }, 'd0 1#1'],
    ['a command', { trigger: { door: 'cli', kind: 'x', activity: '', at: '' } }, 'r1 1#1'],
    [
      'a push',
      { subject: { kind: 'repository', repository: home, ref: 'refs/heads/x' } },
      'd1 1#refs/heads/x',
    ],
    ['an organization', { subject: { kind: 'organization' } }, 'd1 #'],
  ])('receives a stable name of the trigger: %s', async (_title, more, trigger) => {
    expect((await contextOf({}, more)).trigger).toBe(trigger);
  });

  it.each<[Partial<LoadedRule>, Partial<RunInput>, boolean]>([
    [{}, {}, false],
    [{ mode: 'observe' }, {}, true],
    [{}, { mode: 'plan' }, true],
    [{}, { client: undefined }, true],
  ])('is told whether its changes will be written: %j %j', async (rule, more, dryRun) => {
    expect((await contextOf(rule, more)).dryRun).toBe(dryRun);
  });

  it('receives the merge queue of its repository if there is one', async () => {
    const queue = {} as QueueDesk;
    expect((await contextOf({}, { queue })).queue).toEqual({
      desk: queue,
      rule: 'r.yml#x',
      delivery: 'd1',
      repository: home,
    });
    expect((await contextOf({}, { queue, announcedBy: 'd0' })).queue?.delivery).toBe('d0');
    expect((await contextOf({}, { queue, subject: { kind: 'organization' } })).queue).toBeUndefined();
    expect((await contextOf()).queue).toBeUndefined();
  });

  it('is planned after its facts are read, even if some of them cannot be read', async () => {
    const asked: string[] = [];
    const action: Partial<Action> = {
      facts: () => [{ name: 'labels' }, { name: 'nothing' }],
      async plan(_given, facts) {
        asked.push(...(facts as ReturnType<typeof makeFacts>).asked);
        return [plainChange('a', { reason: 'said' })];
      },
    };
    const { record } = await run([makeRule('x', [step(action, '1', { when: 'a  ==\n b' })])]);

    expect(asked).toEqual(['labels', 'nothing']);
    expect(record.changes[0]?.reason).toBe('said, decided by when: a == b');
  });
});

it.each<[string, Partial<Action>, Partial<Change>, unknown, string]>([
  ['its own', {}, {}, { when: true }, 'said'],
  ['of nothing written', {}, {}, undefined, 'said'],
  ['of an action with words', { words: () => 'labels: size/L' }, {}, { when: 'x' }, 'labels: size/L'],
  [
    'of an action without words for it',
    { words: () => undefined },
    {},
    { when: 'x' },
    'said, decided by when: x',
  ],
  ['that is long', { words: () => 'x'.repeat(301) }, {}, {}, `${'x'.repeat(299)}…`],
  ['that is as long as may be', { words: () => ` ${'x'.repeat(300)} ` }, {}, {}, 'x'.repeat(300)],
])('the reason of a change uses the words of its rule: %s', async (_title, action, more, written, reason) => {
  const plan: Action['plan'] = async () => [plainChange('a', { reason: 'said', ...more })];
  const { record } = await run([makeRule('x', [step({ plan, ...action }, '1', written)])]);

  expect(record.changes[0]?.reason).toBe(reason);
});

import { beforeEach, describe, expect, it } from 'vitest';
import type { Action } from '../../src/actions/action.ts';
import type { Change } from '../../src/actions/change.ts';
import { createNamedSecrets } from '../../src/actions/secrets.ts';
import { messageOperation } from '../../src/actions/sent-messages.ts';
import type { AnyInput, Operation } from '../../src/contract/operation.ts';
import { type ApplyOptions, applyPlan } from '../../src/engine/apply.ts';
import type { Pause } from '../../src/engine/bounds/pauses.ts';
import { makePlan } from '../../src/engine/plan.ts';
import type { Proposal } from '../../src/engine/proposal.ts';
import type { Reconsidered } from '../../src/engine/reconsider.ts';
import type { FactRequest, Facts } from '../../src/facts/fact.ts';
import { type ErrorCode, ReeveError } from '../../src/platform/errors.ts';
import type { LoadedRule } from '../../src/rules/rule.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';
import { plainAction, plainChange, plainParams, titled } from '../support/plain-action.ts';
import { makeRecordingClient } from '../support/recording-client.ts';

function step(
  changes: readonly Change[],
  action: Partial<Action> = {},
  { rule = 'a', level = 'operator' }: { rule?: string; level?: LoadedRule['level'] } = {},
): Proposal {
  const loaded = {
    id: rule,
    name: rule,
    source: 'r.yml',
    level,
    mode: 'enforce',
    limits: {},
    steps: [],
  } as unknown as LoadedRule;
  return {
    rule: loaded,
    step: '1',
    action: plainAction(action),
    arguments: {},
    context: makeContext(),
    changes,
  };
}

/** Responses of the forge, in order; an error is thrown. When the list is exhausted, the response is undefined. */
let answers: unknown[];
/** Titles of the requests that were sent. */
let sent: unknown[];
/** Facts that were read again, with the maximum age of the value in milliseconds. */
let reads: (readonly [string, number | undefined])[];
let kept: string[];
let forgotten: readonly string[];
let homeId: number;
beforeEach(() => {
  [answers, sent, reads, kept, forgotten, homeId] = [[], [], [], [], [], 1];
});

const namesOf = (requests: readonly FactRequest[]): string => requests.map(({ name }) => name).join(' ');

async function apply(proposals: readonly Proposal[], options: Partial<ApplyOptions> = {}) {
  const subject = { kind: 'issue', repository: { id: 1, owner: 'acme', name: 'demo' } } as const;
  const facts: Facts = {
    ...makeFacts({ repository_id: { id: homeId } }, { subject }),
    fresh(requests, maxAgeMs) {
      reads.push([namesOf(requests), maxAgeMs]);
      return facts;
    },
    anew(given = []) {
      kept.push(namesOf(given));
      return facts;
    },
    forget(names) {
      forgotten = names;
    },
  };
  const client = {
    ...makeRecordingClient(),
    async send(_operation: Operation, { body }: AnyInput) {
      sent.push((body as { title: unknown }).title);
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    },
  } as unknown as ApplyOptions['client'];
  const { changes } = makePlan(proposals);
  const applied = await applyPlan({ changes, facts, client, ...options });
  const targets = new Map(changes.map(({ id, change }) => [id, change.target]));
  const ends = applied.outcomes.map(({ change, status, error }) =>
    error === undefined ? `${targets.get(change)} ${status}` : `${targets.get(change)} ${status}: ${error}`,
  );
  return { ...applied, ends };
}

const refusal = (code: ErrorCode, status?: number, message = `the forge answered ${status}`) =>
  new ReeveError(code, message, { status });

describe('the requests of a plan', () => {
  it('are sent in order; changes with the same key are joined at the position of the first', async () => {
    const joins = { joins: 'k', forgets: ['labels'] };
    const changes = [plainChange('a'), plainChange('b', joins), plainChange('c'), plainChange('d', joins)];
    const join: Action['join'] = async (group) => titled(group.map(({ target }) => target).join('+'));

    const applied = await apply([step(changes, { join })]);

    expect(sent).toEqual(['a', 'b+d', 'c']);
    expect(applied.ends).toEqual(['a applied', 'b applied', 'c applied', 'd applied']);
    expect(applied.sent).toEqual(
      new Map([
        ['c1', titled('a')],
        ['c2', titled('b+d')],
        ['c3', titled('c')],
        ['c4', titled('b+d')],
      ]),
    );
    expect(await apply([step([plainChange('alone', { forgets: ['files'] })])])).toMatchObject({
      retry: undefined,
      moved: undefined,
      awaiting: new Set(),
      resisted: new Set(),
      paused: [],
    });
    expect(forgotten).toEqual(['files']);
  });

  it('rely on a recent read before the first write, and on fresh reads after it', async () => {
    const changes = ['labels', 'files'].map((name) => plainChange(name, { reads: [{ name }] }));

    expect((await apply([step(changes, { plan: async () => changes })])).ends).toEqual([
      'labels applied',
      'files applied',
    ]);
    expect(reads).toEqual([
      ['labels', 250],
      ['files', -1],
    ]);
  });

  const read = plainChange('t', { reads: [{ name: 'labels' }] });
  it.each<[string, readonly Change[], string, readonly unknown[]]>([
    ['no longer needed', [], 't skipped: already in the desired state', []],
    ['made by someone else', [{ ...read, already: true }], 't skipped: already in the desired state', []],
    ['wanted otherwise', [{ ...read, value: 2 }], 't skipped: already in the desired state', []],
    ['of another target', [{ ...read, target: 'u' }], 't skipped: already in the desired state', []],
    [
      'not possible now',
      [{ ...read, waits: { why: 'checks run', polls: false } }],
      't skipped: checks run',
      [],
    ],
    ['made by another request', [{ ...read, input: titled('new') }], 't applied', ['new']],
  ])('are planned again from fresh reads: a change %s', async (_title, now, end, titles) => {
    const { ends } = await apply([step([read], { plan: async () => now })]);

    expect([ends, sent]).toEqual([[end], titles]);
  });

  it('are sent while at least one of the steps that requested them still wants them', async () => {
    const steps = [step([read]), step([read], { plan: async () => [read] }, { rule: 'b' })];

    expect((await apply(steps)).ends).toEqual(['t applied']);
  });

  it('fail if they would write outside the repository, or if it is now a different repository', async () => {
    const elsewhere = plainChange('x', { input: { params: { owner: 'acme', repo: 'other' } } });
    const { ends } = await apply([step([elsewhere], {}, { level: 'repository' })]);
    expect(ends).toEqual(['x failed: x: a rule of acme/demo must not write anywhere else']);

    homeId = 2;
    const [moved] = (await apply([step([plainChange('y')])])).ends;
    expect(moved).toMatch(/^y failed: y: acme\/demo is now a different repository/);
    expect(sent).toEqual([]);
  });

  it('fail if the operation does not exist, or if no messages can be sent', async () => {
    const nothing = plainChange('x', { operation: 'nothing' });
    const message = plainChange('m', {
      operation: messageOperation,
      input: { body: { to: { secret: 'CHAT' }, id: '1', type: 'text/plain', content: '' } },
    });
    const secrets = createNamedSecrets(new Map([['CHAT', 'https://chat.example.org']]), new Uint8Array(32));

    const { ends } = await apply([step([nothing]), step([message], {}, { rule: 'b' })], { secrets });
    expect(ends).toEqual([
      'x failed: x: no operation "nothing"',
      'm failed: m: messages cannot be sent from here',
    ]);
    expect(sent).toEqual([]);
  });
});

describe('a change that fails', () => {
  it('stops its step, and the last changes of its rule', async () => {
    answers = [refusal('forge-conflict', 409)];
    const last = { stage: 3 } as const;
    const shared = plainChange('shared');
    const { ends } = await apply([
      step([plainChange('a1'), plainChange('a2'), shared]),
      step([plainChange('a3'), plainChange('a4', last)]),
      step([plainChange('b1'), shared, plainChange('b2', last)], {}, { rule: 'b' }),
    ]);

    expect(ends.slice(1)).toEqual([
      'a2 skipped: an earlier change of its step failed',
      'shared applied',
      'a3 applied',
      'b1 applied',
      'a4 skipped: an earlier change of its rule failed',
      'b2 applied',
    ]);
    expect(ends[0]).toMatch(/^a1 failed: a1: the forge answered 409; /);
    expect(sent).toEqual(['a1', 'shared', 'a3', 'b1', 'b2']);
  });

  it('blocks the last change of its rule; a change that already holds or is not possible now does not', async () => {
    const there = plainChange('there', { reads: [{ name: 'labels' }] });
    const last = plainChange('last', { stage: 3 });
    expect((await apply([step([there]), step([last])])).ends.at(-1)).toBe('last applied');

    answers = [refusal('forge-conflict', 409)];
    expect((await apply([step([plainChange('a')]), step([last])])).ends.at(-1)).toBe(
      'last skipped: an earlier change of its rule failed',
    );
    // Another rule, which has not failed, wants the change too.
    answers = [refusal('forge-conflict', 409)];
    const { ends } = await apply([step([plainChange('a')]), step([last]), step([last], {}, { rule: 'b' })]);
    expect(ends.at(-1)).toBe('last applied');
  });

  it('is retried if a retry may help, with the first retryable error and without values of secrets', async () => {
    const secrets = createNamedSecrets(new Map([['CHAT', 'hidden-value']]), new Uint8Array(32));
    const throttled = new ReeveError('forge-throttled', 'wait with hidden-value', {
      status: 429,
      retryAfterMs: 7,
    });
    answers = [
      new Error('odd'),
      refusal('forge-refused', 422),
      throttled,
      refusal('forge-unavailable', 502),
      refusal('forge-moved'),
    ];
    const steps = ['a', 'b', 'c', 'd', 'e'].map((name) => step([plainChange(name)], {}, { rule: name }));

    const { retry, moved, ends } = await apply(steps, { secrets });

    expect(retry).toMatchObject({
      code: 'forge-throttled',
      message: 'wait with {secret: CHAT}',
      status: 429,
      retryAfterMs: 7,
    });
    expect(moved).toBe(true);
    expect(ends[0]).toBe('a failed: a: odd');
    expect(ends[2]).toBe('c failed: c: wait with {secret: CHAT}');
    answers = [refusal('forge-refused', 422)];
    expect(await apply([step([plainChange('a')])])).toMatchObject({ retry: undefined, moved: undefined });
  });

  it.each([
    [refusal('forge-forbidden', 403), /403; it needs writer access and a token with write:issue$/],
    [refusal('forge-forbidden'), /^t failed: t: the forge answered undefined$/],
    [refusal('forge-not-found', 404), /404; the object does not exist/],
    [refusal('forge-moved'), /; the repository was renamed/],
    [refusal('forge-unavailable', 502), /502$/],
  ])('reports how to fix it: %s', async (error, words) => {
    answers = [error];
    expect((await apply([step([plainChange('t')])])).ends[0]).toMatch(words);
  });

  it('reports why a 403 may have a reason other than missing access', async () => {
    answers = [refusal('forge-forbidden', 403)];
    const { ends } = await apply([step([plainChange('t', { forbidden: 'it may be archived' })])]);
    expect(ends[0]).toMatch(/write:issue, and it may be archived$/);
  });
});

describe('a response that does not show a change', () => {
  const confirm: Action['confirm'] = ({ target }, answer) =>
    (answer as readonly string[] | undefined)?.includes(target) ? undefined : `${target} is missing`;
  const facts: Action['facts'] = () => [{ name: 'definitions' }];
  const pair = ['t', 'u'].map((target) => plainChange(target, { joins: 'k', reads: [{ name: 'labels' }] }));
  const plan: Action['plan'] = async () => pair;
  const later = plainChange('later');

  it.each<[string, readonly (readonly string[])[], Partial<Action>, readonly string[], number]>([
    [
      'is sent once more, from facts that know nothing',
      [['u'], ['t', 'u'], ['later']],
      {},
      ['t applied', 'u applied', 'later applied'],
      3,
    ],
    [
      'fails where the second answer does not show it either',
      [['u'], ['u']],
      {},
      ['t failed: t: t is missing', 'u applied', 'later skipped: an earlier change of its step failed'],
      2,
    ],
    [
      'fails alone where the forge is known to drop it',
      [['u'], ['later']],
      { learn: async () => true },
      ['t failed: t is missing', 'u applied', 'later applied'],
      2,
    ],
    [
      'is sent once more where only a part is known to be dropped',
      [[], ['t', 'u'], ['later']],
      { learn: async ({ target }) => target === 'u' },
      ['t applied', 'u applied', 'later applied'],
      3,
    ],
  ])('%s', async (_title, shown, more, ends, requests) => {
    answers = [...shown];
    const applied = await apply([step([...pair, later], { confirm, facts, plan, ...more })]);

    expect(applied.ends).toEqual(ends);
    expect(sent.length).toBe(requests);
  });

  it('does not send the change again if a fresh read shows it', async () => {
    answers = [[]];
    let plans = 0;
    const once: Action['plan'] = async () => {
      plans += 1;
      return plans > 1 ? [] : pair;
    };
    const [first] = pair;
    const { ends } = await apply([step(first ? [first] : [], { confirm, facts, plan: once })]);

    expect(ends).toEqual(['t skipped: already in the desired state']);
    expect(sent.length).toBe(1);
    expect(reads).toEqual([
      ['labels', 250],
      ['labels definitions', undefined],
    ]);
  });
});

describe('a change that names the state it replaces', () => {
  const pinned = plainChange('t', { pinned: true, reads: [{ name: 'contents' }] });
  it.each<[string, unknown, readonly Change[], Partial<Change>, readonly unknown[], RegExp]>([
    [
      '409, something else to send',
      refusal('forge-conflict', 409),
      [{ ...pinned, input: titled('new') }],
      {},
      ['t', 'new'],
      /applied/,
    ],
    [
      '404, something else to send',
      refusal('forge-not-found', 404),
      [{ ...pinned, input: titled('new') }],
      {},
      ['t', 'new'],
      /applied/,
    ],
    [
      '422, something else to send',
      refusal('forge-refused', 422),
      [{ ...pinned, input: titled('new') }],
      {},
      ['t', 'new'],
      /applied/,
    ],
    ['409, the same to send', refusal('forge-conflict', 409), [pinned], {}, ['t'], /failed/],
    ['409, nothing to send', refusal('forge-conflict', 409), [], {}, ['t'], /skipped/],
    [
      'an outage',
      refusal('forge-unavailable', 502),
      [{ ...pinned, input: titled('new') }],
      {},
      ['t'],
      /failed/,
    ],
    ['an error of ours', new Error('odd'), [{ ...pinned, input: titled('new') }], {}, ['t'], /failed/],
    [
      '409 of a change that names none',
      refusal('forge-conflict', 409),
      [{ ...pinned, input: titled('new') }],
      { pinned: undefined as never },
      ['t'],
      /failed/,
    ],
  ])('is planned again once after a refusal: %s', async (_title, error, now, more, titles, end) => {
    answers = [error];
    let plans = 0;
    const plan: Action['plan'] = async () => {
      plans += 1;
      return plans === 1 ? [{ ...pinned, ...more }] : now;
    };
    const { ends } = await apply([step([{ ...pinned, ...more }], { plan })]);

    expect([ends[0]?.split(':')[0], sent]).toEqual([expect.stringMatching(end), titles]);
  });
});

describe('a change whose conditions are checked immediately before it is sent', () => {
  const merge = plainChange('t', {
    reconsiders: true,
    keeps: [{ name: 'files' }, { name: 'reviews' }],
    reads: [{ name: 'reviews' }],
  });
  const conflict = () => refusal('forge-conflict', 409);
  const unprocessable = () => refusal('forge-refused', 422);
  const apart = (rules: readonly string[], action: Partial<Action> = {}) =>
    rules.map((rule) => step([merge], action, { rule }));

  it.each<
    [string, readonly unknown[], Partial<Action>, RegExp, number, readonly string[], readonly string[]]
  >([
    ['refused once', [conflict()], {}, /^t applied/, 2, [], []],
    ['refused twice', [conflict(), conflict()], {}, /^t failed/, 2, [], []],
    [
      'refused twice where checks may still end',
      [conflict(), conflict()],
      { awaitsChecks: true },
      /^t failed/,
      2,
      ['a'],
      ['a'],
    ],
    [
      'refused twice with a wish to wait',
      [conflict(), refusal('forge-conflict', 405, 'Please try again later')],
      {},
      /^t failed/,
      2,
      ['a'],
      [],
    ],
    [
      'refused twice by what is a result',
      [unprocessable(), refusal('forge-unavailable', 500)],
      { refused: async () => 'it cannot' },
      /^t skipped: it cannot/,
      2,
      [],
      [],
    ],
    [
      'refused twice by a conflict, which is no result',
      [conflict(), conflict()],
      { refused: async () => 'it cannot' },
      /^t failed/,
      2,
      [],
      [],
    ],
    [
      'refused twice by what the action does not know',
      [unprocessable(), unprocessable()],
      { refused: async () => undefined },
      /^t failed/,
      2,
      [],
      [],
    ],
    ['refused for its values', [unprocessable()], {}, /^t failed/, 1, [], []],
    [
      'forbidden',
      [refusal('forge-forbidden', 403)],
      { refused: async () => 'it cannot' },
      /^t failed/,
      1,
      [],
      [],
    ],
    ['lost', [new Error('odd')], { refused: async () => 'it cannot' }, /^t failed/, 1, [], []],
  ])('%s', async (_title, given, action, end, requests, awaiting, resisted) => {
    answers = [...given];
    const applied = await apply(apart(['a'], { plan: async () => [merge], ...action }));

    expect(applied.ends).toEqual([expect.stringMatching(end)]);
    expect(sent.length).toBe(requests);
    expect(kept).toEqual(['files reviews', 'files'].slice(0, requests));
    expect([[...applied.awaiting], [...applied.resisted]]).toEqual([awaiting, resisted]);
  });

  it.each<[string, Record<string, Reconsidered>, string, unknown, readonly string[]]>([
    [
      'by none of its rules',
      { a: { why: 'not now', polls: false }, b: { why: 'never', polls: true } },
      't skipped: not now',
      [],
      ['b'],
    ],
    [
      'by the second',
      { a: { why: 'not now', polls: true }, b: { change: merge } },
      't applied',
      ['t'],
      ['a'],
    ],
    [
      'by both',
      {
        a: { change: { ...merge, input: titled('one') } },
        b: { change: { ...merge, input: titled('two') } },
      },
      't applied',
      ['one'],
      [],
    ],
  ])(
    'is sent in the form that its rules want at that moment: %s',
    async (_title, wanted, end, titles, awaiting) => {
      const applied = await apply(apart(['a', 'b']), {
        reconsider: async ({ rule }) => wanted[rule.id] ?? { why: '', polls: false },
      });

      expect([applied.ends, sent, [...applied.awaiting]]).toEqual([[end], titles, awaiting]);
    },
  );

  it('counts a refusal only against the rules that wanted the request that was sent', async () => {
    answers = [conflict(), conflict()];
    const { awaiting } = await apply(apart(['a', 'b', 'c'], { awaitsChecks: true }), {
      reconsider: async ({ rule }) => ({ change: { ...merge, value: rule.id === 'b' ? 2 : 1 } }),
    });

    expect([...awaiting]).toEqual(['a', 'c']);
  });
});

describe('a change that was sent', () => {
  it('is looked up when the response does not show it', async () => {
    const verified = plainChange('t', { verify: true, reads: [{ name: 'labels' }] });
    for (const [isThere, end] of [
      [true, 't applied'],
      [false, 't failed: t: the forge accepted the request, but the change is missing'],
    ] as const) {
      const plan: Action['plan'] = async () => (isThere && sent.length > 0 ? [] : [verified]);
      sent = [];
      expect((await apply([step([verified], { plan })])).ends).toEqual([end]);
      expect(reads.at(-1)).toEqual(['labels', undefined]);
    }
  });

  it('is remembered with its response, and recorded with values that only the response contains', async () => {
    const remembered: unknown[] = [];
    answers = [{ id: 5 }];
    const { outcomes } = await apply([
      step([plainChange('t')], {
        remember: async ({ target }, answer) => void remembered.push([target, answer]),
        made: (_change, answer) => answer as { id: number },
      }),
    ]);

    expect(remembered).toEqual([['t', { id: 5 }]]);
    expect(outcomes).toEqual([{ change: 'c1', status: 'applied', made: { id: 5 } }]);
  });

  it.each<[string, unknown, boolean]>([
    ['with success', {}, false],
    ['with 400', refusal('forge-refused', 400), true],
    ['with 499', refusal('forge-refused', 499), true],
    ['with 408', refusal('forge-timeout', 408), false],
    ['with 500', refusal('forge-unavailable', 500), false],
    ['with 301', refusal('forge-moved', 301), true],
    ['with nothing', refusal('forge-timeout'), false],
    ['by an error of ours', new Error('odd'), false],
  ])(
    'is noted before the request, and the note is removed if the request had no effect: answered %s',
    async (_title, answer, isTakenBack) => {
      answers = [answer];
      const notes: unknown[] = [];
      const intend: Action['intend'] = async ({ target }) => {
        notes.push([target, sent.length]);
        return async () => void notes.push(`not ${target}`);
      };
      const causes = { event: 'created', branch: 'work' } as const;
      const ended: unknown[] = [];

      await apply([step([plainChange('t', { causes })], { intend })], {
        beginCause: async ({ id }) => {
          ended.push([id, sent.length]);
          return async (given) => void ended.push(given);
        },
      });

      expect(notes).toEqual([['t', 0], ...(isTakenBack ? ['not t'] : [])]);
      expect(ended).toEqual([['c1', 0], answer instanceof Error ? undefined : answer]);
    },
  );

  it('contains no values of secrets if a repository rule wants part of the request', async () => {
    const secrets = createNamedSecrets(new Map([['CHAT', 'hidden-value']]), new Uint8Array(32));
    const join: Action['join'] = async () => ({ params: plainParams, body: { title: { secret: 'CHAT' } } });
    const joins = { joins: 'k' };
    const { ends } = await apply(
      [
        step([plainChange('a', joins)], { join }),
        step([plainChange('b', joins)], { join }, { rule: 'b', level: 'repository' }),
      ],
      { secrets },
    );

    expect(ends).toEqual(
      ['a', 'b'].map((name) => `${name} failed: ${name}: only rules of the operator may name secrets`),
    );
    expect(sent).toEqual([]);
  });

  it('records no cause if no event follows from it', async () => {
    let begun = 0;
    await apply([step([plainChange('t')])], {
      beginCause: async () => {
        begun += 1;
        return async () => {};
      },
    });
    expect([begun, sent]).toEqual([0, ['t']]);
  });

  it.each([
    ['operator', true, ['hidden-value'], 't applied'],
    ['operator', false, [], 't failed: t: only rules of the operator may name secrets'],
    ['organization', true, [], 't failed: t: only rules of the operator may name secrets'],
    ['repository', true, [], 't failed: t: only rules of the operator may name secrets'],
  ] as const)(
    'contains values of secrets only for operator rules: %s, %s',
    async (level, areThere, titles, end) => {
      const secrets = createNamedSecrets(new Map([['CHAT', 'hidden-value']]), new Uint8Array(32));
      const change = plainChange('t', {
        input: { params: plainParams, body: { title: { secret: 'CHAT' } } },
      });
      const { ends, sent: noted } = await apply([step([change], {}, { level })], areThere ? { secrets } : {});

      expect([ends, sent]).toEqual([[end], titles]);
      expect(JSON.stringify([...noted])).not.toContain('hidden-value');
    },
  );
});

it('a pause that begins between two requests stops the remaining changes and is not a failure', async () => {
  const pause: Pause = { scope: { kind: 'all' }, at: new Date(0), by: 'ada' };
  const joins = { joins: 'k' };
  const changes = [plainChange('a'), plainChange('b', joins), plainChange('c', joins), plainChange('d')];
  const join: Action['join'] = async () => titled('joined');

  const { ends, paused } = await apply([step(changes, { join })], {
    pauses: async () => (sent.length === 0 ? [] : [pause]),
  });

  expect(sent).toEqual(['a']);
  const words = 'all writes are paused since 1970-01-01T00:00:00.000Z by ada; reeve resume all ends it';
  expect(ends).toEqual(['a applied', ...['b', 'c', 'd'].map((target) => `${target} skipped: ${words}`)]);
  expect(paused.map(({ planned, why }) => [planned.change.target, why])).toEqual(
    ['b', 'c', 'd'].map((target) => [target, words]),
  );
});

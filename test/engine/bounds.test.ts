import { describe, expect, it } from 'vitest';
import type { Action } from '../../src/actions/action.ts';
import type { Change } from '../../src/actions/change.ts';
import { messageOperation } from '../../src/actions/sent-messages.ts';
import { coversAction, isGrantedAt } from '../../src/engine/bounds/grants.ts';
import { refuseEarlyEnds, refuseMessages } from '../../src/engine/bounds/refusals.ts';
import { makePlan } from '../../src/engine/plan.ts';
import type { Plan, PlannedChange, Proposal } from '../../src/engine/proposal.ts';
import { createReconsider, readHeadFirst } from '../../src/engine/reconsider.ts';
import type { RunInput } from '../../src/engine/run-context.ts';
import { ReeveError } from '../../src/platform/errors.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import type { LoadedRule } from '../../src/rules/rule.ts';
import { createGrants, type Grant } from '../../src/rules/sources/grants.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';
import { plainAction, plainChange } from '../support/plain-action.ts';

const proposal = (rule: string, ...changes: readonly Change[]): Proposal => ({
  rule: { id: rule, name: rule, level: 'operator', mode: 'enforce', limits: {} } as unknown as LoadedRule,
  step: '1',
  action: plainAction(),
  arguments: {},
  context: makeContext(),
  changes,
});
const targets = (changes: readonly PlannedChange[]) => changes.map(({ change }) => change.target);
const reasons = ({ refused }: Plan) => refused.map(({ planned, why }) => `${planned.change.target}: ${why}`);

it('only messages are refused when no messages can be sent', () => {
  const message = plainChange('message', { operation: messageOperation });
  const earlier = plainChange('earlier', { waits: { why: 'not now', polls: false } });
  const plan = makePlan([proposal('a', earlier, message, plainChange('label'))]);

  const refused = refuseMessages(plan, { refusal: 'this is a what-if' });
  expect(targets(refused.changes)).toEqual(['label']);
  expect(reasons(refused)).toEqual(['earlier: not now', 'message: this is a what-if']);
  for (const door of [undefined, async () => {}]) expect(refuseMessages(plan, door)).toEqual(plan);
});

it.each<[string, readonly Proposal[], readonly string[], readonly string[], string | undefined]>([
  ['its rule failed', [proposal('a')], ['a'], [], 'a step of its rule failed'],
  ['another rule failed', [proposal('a')], ['b'], [], undefined],
  ['one of its rules failed', [proposal('a'), proposal('b')], ['a'], [], undefined],
  ['all of its rules failed', [proposal('a'), proposal('b')], ['a', 'b'], [], 'a step of its rule failed'],
  [
    'a change of its rule waits for the budget',
    [proposal('a')],
    [],
    ['first'],
    'first of its rule is deferred',
  ],
  ['another last change of its rule waits', [proposal('a')], [], ['end'], undefined],
])('a change that ends its subject: %s', (_title, rules, failed, deferred, why) => {
  const last = { stage: 3 } as const;
  const plan = makePlan([
    ...rules.map((one) => ({ ...one, changes: [plainChange('close', last)] })),
    proposal('a', plainChange('first'), plainChange('end', last)),
  ]);
  const isDeferred = ({ change }: PlannedChange) => deferred.includes(change.target);
  const given: Plan = {
    changes: plan.changes.filter((planned) => !isDeferred(planned) && planned.change.target !== 'end'),
    refused: plan.changes.filter(isDeferred).map((planned) => ({ planned, why: 'x', until: 'later' })),
  };
  const verdicts = failed.map((rule) => ({ rule, verdict: 'failed' })) as never;

  const left = refuseEarlyEnds(given, verdicts);
  expect(targets(left.changes).includes('close')).toBe(why === undefined);
  expect(reasons(left).slice(deferred.length)).toEqual(
    why === undefined ? [] : [`close: it must be applied last, and ${why}`],
  );
});

describe('a grant', () => {
  const home = { id: 1, owner: 'acme', name: 'demo' };
  const grantsOf = (...rows: readonly Partial<Grant>[]) =>
    createGrants(
      rows.map((row) => ({ repositories: ['acme/*'], organizations: [], names: ['merge'], ...row })),
    );
  const ruleOf = (grants: ReturnType<typeof grantsOf>, more: Partial<LoadedRule> = {}) =>
    ({
      id: 'x#x',
      source: 'acme/demo/.reeve.yml',
      level: 'repository',
      byGrant: ['merge'],
      grants: grants.ofRepository(home),
      ...more,
    }) as unknown as LoadedRule;

  it.each<[string, LoadedRule, string, boolean, number]>([
    ['of the default branch', ruleOf(grantsOf({})), 'main', true, 1],
    ['of the default branch, asked for another', ruleOf(grantsOf({})), 'work', false, 1],
    ['that a rule does not use', ruleOf(grantsOf({}), { byGrant: [] }), 'work', true, 0],
    ['of nothing', ruleOf(grantsOf({ names: ['react'] })), 'main', false, 1],
    ['that the operator does not need', ruleOf(grantsOf({}), { level: 'operator' }), 'work', true, 0],
  ])(
    '%s is checked against the branch, and the default branch is read only if needed',
    async (_title, rule, branch, covers, asked) => {
      const facts = makeFacts({ repository: { default_branch: 'main' } }, { subject: { repository: home } });

      expect(await coversAction(rule, { action: 'merge', branch }, facts)).toBe(covers);
      expect(facts.asked.length).toBe(asked);
    },
  );

  it('without branches covers nothing if the repository has no default branch', async () => {
    const facts = makeFacts({ repository: { default_branch: '' } }, { subject: { repository: home } });
    expect(await coversAction(ruleOf(grantsOf({})), { action: 'merge', branch: 'main' }, facts)).toBe(false);
  });

  it('is required for each action that a rule uses by grant, in the repository of the subject', () => {
    const both = { byGrant: ['merge', 'react'] };
    const at = { kind: 'issue', repository: home } as const;
    expect(isGrantedAt(ruleOf(grantsOf({}), both), at)).toBe(false);
    expect(isGrantedAt(ruleOf(grantsOf({}, { names: ['react'] }), both), at)).toBe(true);
    expect(isGrantedAt(ruleOf(grantsOf(), { ...both, level: 'operator' }), at)).toBe(true);
    expect(isGrantedAt(ruleOf(grantsOf(), { byGrant: [] }), at)).toBe(true);
    expect(isGrantedAt(ruleOf(grantsOf()), at)).toBe(false);
  });
});

describe('a step that is planned again before its write', () => {
  const load = (rule: object) => {
    const text = JSON.stringify({ version: 1, rules: { x: { on: 'issues.opened', ...rule } } });
    const { rules, problems } = loadRuleFile({
      path: 'r.yml',
      text,
      level: 'operator',
      commit: '',
      registry,
    });
    expect(problems).toEqual([]);
    return rules[0] as LoadedRule;
  };
  const steps = [
    { name: 'one', uses: 'set-labels', with: { add: ['x'] } },
    {
      name: 'two',
      if: 'issue.title == "go"',
      uses: 'set-labels',
      with: { sync: { x: 'issue.state == "open"' } },
    },
  ];
  const wanted = plainChange('t');
  const input = { item: {}, now: new Date(0) };
  const again = async (
    planned: readonly Change[],
    { title = 'go', isEvaluated = true, name = 'two', more = {} } = {},
  ) => {
    const seen: unknown[] = [];
    const action: Action = plainAction({
      async plan(given) {
        seen.push(given);
        return planned;
      },
    });
    const rule = load({ if: 'issue.state == "open"', steps, ...more });
    const facts = makeFacts({ issue: { title, state: 'open' } }, { subject: { kind: 'issue' } });
    const step = { ...proposal('x'), rule, step: name, action, arguments: { add: ['old'] } };
    const found = await createReconsider(isEvaluated ? (input as unknown as RunInput) : undefined)(
      step,
      't',
      facts,
    );
    return { found, seen };
  };

  it('uses the current values of its conditions and arguments', async () => {
    const { found, seen } = await again([plainChange('other'), wanted]);
    expect([found, seen]).toEqual([{ change: wanted }, [{ sync: { x: true } }]]);
    expect((await again([wanted], { name: 'one' })).seen).toEqual([{ add: ['x'] }]);
    const unevaluated = await again([wanted], { isEvaluated: false, title: 'stop' });
    expect([unevaluated.found, unevaluated.seen]).toEqual([{ change: wanted }, [{ add: ['old'] }]]);
  });

  const waits = { why: 'checks run', polls: true };
  it.each<[string, readonly Change[], object, string, boolean]>([
    ['its own condition', [wanted], { title: 'stop' }, 'its conditions no longer hold', false],
    [
      'the condition of its rule',
      [wanted],
      { more: { if: 'issue.state == "closed"' } },
      'its conditions no longer hold',
      false,
    ],
    ['the live state', [plainChange('other')], {}, 'it is no longer wanted', false],
    ['someone else', [{ ...wanted, already: true }], {}, 'already in the desired state', false],
    ['checks', [{ ...wanted, waits }], {}, 'checks run', true],
    [
      'what it goes with',
      [plainChange('a'), { ...wanted, needs: 'b' }, plainChange('b')],
      {},
      'it requires b, which has not been made',
      false,
    ],
  ])('proposes no change because of %s', async (_title, planned, options, why, polls) => {
    expect((await again(planned, options)).found).toEqual({ why, polls });
  });

  it('keeps a change if the change it needs is already in effect', async () => {
    const change = { ...wanted, needs: 'b' };
    const { found } = await again([plainChange('b', { already: true }), change]);
    expect(found).toEqual({ change });
  });

  it('fails if its conditions cannot be evaluated, with the original error, so that the run may be retried', async () => {
    const rule = load({ if: 'issue.state == "open"', steps });
    const step = { ...proposal('x'), rule, step: 'one' };
    const ask = (error: Error) =>
      createReconsider(input as unknown as RunInput)(
        step,
        't',
        makeFacts({ issue: error }, { subject: { kind: 'issue' } }),
      );

    const away = new ReeveError('forge-unavailable', 'the forge answered 502');
    await expect(ask(away)).rejects.toBe(away);
    await expect(ask(new Error('odd'))).rejects.toThrow('odd');
  });

  it('reads the head of the pull request first if one of its actions depends on it', async () => {
    const pinning = { steps: [{ action: plainAction() }, { action: plainAction({ pinsHead: true }) }] };
    const plain = { steps: [{ action: plainAction() }] };
    const asked = async (rules: readonly object[], kind: 'issue' | 'pull_request') => {
      const facts = makeFacts({}, { subject: { kind } });
      await readHeadFirst(rules as readonly LoadedRule[], facts);
      return facts.asked;
    };

    expect(await asked([plain, pinning], 'pull_request')).toEqual(['pull_request']);
    expect(await asked([plain, pinning], 'issue')).toEqual([]);
    expect(await asked([plain], 'pull_request')).toEqual([]);
  });
});

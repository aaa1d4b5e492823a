import { describe, expect, it } from 'vitest';
import type { Change } from '../../src/actions/change.ts';
import { messageOperation } from '../../src/actions/sent-messages.ts';
import { parseEvent } from '../../src/contract/events/events.ts';
import type { Subject } from '../../src/contract/events/subject.ts';
import { selectRules } from '../../src/engine/evaluate-rules.ts';
import { makePlan, refuseUnfounded } from '../../src/engine/plan.ts';
import { inputOf, type Proposal } from '../../src/engine/proposal.ts';
import { assertInScope, refuseOutOfScope } from '../../src/engine/write-scope.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { createRuleSet, type LoadedRule } from '../../src/rules/rule.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';
import { plainAction, plainChange, titled } from '../support/plain-action.ts';

const home = { id: 1, owner: 'acme', name: 'demo' };
const payload = {
  number: 7,
  repository: { id: 1, full_name: 'acme/demo', owner: { id: 2 } },
  sender: { id: 9, login: 'ada' },
};
const steps = [{ uses: 'set-labels', with: { add: ['x'] } }];

/** Returns the names of the rules that are evaluated, and the reasons why others are skipped. */
function select(
  rules: Readonly<Record<string, object>>,
  about: ReturnType<typeof parseEvent> | undefined,
  subject: Subject,
) {
  const forms = Object.entries(rules).map(([name, rule]) => [name, { steps, ...rule }]);
  const text = JSON.stringify({ version: 1, rules: Object.fromEntries(forms) });
  const file = loadRuleFile({ path: 'r.yml', text, level: 'operator', commit: '', registry });
  expect(file.problems).toEqual([]);
  const facts = { ...makeFacts(), subject };
  const selection = selectRules({
    event: about,
    rules: createRuleSet(file.rules),
    facts,
    account: { id: 5 },
  });
  const skipped = selection.decided.map(({ rule, reason }) => `${rule.split('#')[1]} ${reason}`);
  return [...selection.considered.map(({ rule }) => rule.name), ...skipped];
}

describe('the rules of a run', () => {
  const issue: Subject = { kind: 'issue', index: 7, repository: home };
  const pull: Subject = { kind: 'pull_request', index: 7, repository: home };

  it('about an item are those in scope that do not depend on an event', () => {
    const rules = {
      swept: { on: { schedule: '7 3 * * *' }, each: 'issue' },
      elsewhere: { on: { schedule: '7 3 * * *' }, each: 'issue', in: 'other/*' },
      asked: { on: 'issues.opened' },
      told: { on: 'issues.opened', if: 'event.sender.login == "ada"' },
    };
    expect(select(rules, undefined, issue)).toEqual([
      'swept',
      'asked',
      'elsewhere scope',
      'told not recoverable',
    ]);
  });

  it('about an event are those that listen to it; for a pull request that the event concerns, only the rules for pull requests', () => {
    const rules = {
      direct: { on: 'pull_request.opened' },
      other: { on: 'issues.opened' },
      status: { on: 'status', steps: [{ uses: 'report-issue', with: { key: 'k', title: 't' } }] },
      concerned: { on: 'status', each: 'pull_request' },
    };
    const opened = parseEvent('pull_request', { ...payload, action: 'opened', pull_request: { number: 7 } });
    const status = parseEvent('status', { ...payload, sha: 'a'.repeat(40), state: 'success', context: 'ci' });
    expect(select(rules, opened, pull)).toEqual(['direct']);
    expect(select(rules, status, status.subject ?? { kind: 'repository', repository: home })).toEqual([
      'status',
    ]);
    expect(select(rules, status, pull)).toEqual(['concerned']);
    expect(select(rules, parseEvent('odd', payload), { kind: 'repository', repository: home })).toEqual([]);
    const { sender: _, ...unsent } = payload;
    const found = parseEvent('pull_request', { ...unsent, action: 'opened', pull_request: { number: 7 } });
    expect(select(rules, found, pull)).toEqual(['direct']);
  });
});

const proposal = (changes: readonly Change[], rule: Partial<LoadedRule> = {}): Proposal => ({
  rule: {
    id: 'acme/demo#x',
    name: 'x',
    source: 'acme/demo',
    level: 'repository',
    mode: 'enforce',
    limits: {},
    steps: [],
    ...rule,
  } as unknown as LoadedRule,
  step: '1',
  action: plainAction(),
  arguments: {},
  context: makeContext(),
  changes,
});
const to = (owner: string, repo?: string) => ({ input: { params: { owner, ...(repo && { repo }) } } });

describe("the scope of a plan's writes", () => {
  const organization = { level: 'organization', home: { organization: 'acme' }, id: 'o#x' } as const;
  const operator = { level: 'operator', id: 'op#x' } as const;
  const elsewhere = plainChange('t', to('other', 'demo'));

  it.each<[string, readonly Proposal[], string | undefined]>([
    ['its repository, whatever the case', [proposal([plainChange('t', to('ACME', 'Demo'))])], undefined],
    ['another owner', [proposal([elsewhere])], 'a rule of acme/demo must not write anywhere else'],
    [
      'another repository of the owner',
      [proposal([plainChange('t', to('acme', 'other'))])],
      'a rule of acme/demo must not write anywhere else',
    ],
    ['its organization', [proposal([plainChange('t', to('acme', 'other'))], organization)], undefined],
    [
      'another organization',
      [proposal([elsewhere], organization)],
      'a rule of acme must not write anywhere else',
    ],
    [
      'the instance',
      [proposal([plainChange('t', { input: { params: {} } })], organization)],
      'a rule of acme must not write anywhere else',
    ],
    ['anything, for the operator', [proposal([elsewhere], operator)], undefined],
    [
      'anything that the operator wants, too',
      [proposal([elsewhere]), proposal([elsewhere], operator)],
      undefined,
    ],
    [
      'a repository that is not its home',
      [proposal([plainChange('t')], { home: { repositoryId: 2 } })],
      'a rule of acme/demo must not write to another repository',
    ],
    [
      'an operation that there is not',
      [proposal([plainChange('t', { operation: 'odd' })])],
      'there is no operation "odd"',
    ],
    ['a path that leads elsewhere', [proposal([plainChange('t', to('..', 'demo'))], operator)], 'path'],
    [
      'a receiver of messages',
      [proposal([plainChange('t', { operation: messageOperation, input: { body: {} } })], operator)],
      undefined,
    ],
  ])('%s', (_title, proposals, why) => {
    const before = {
      planned: makePlan([proposal([plainChange('before')])]).changes[0] ?? never(),
      why: 'before',
    };
    const plan = makePlan(proposals);
    const { changes, refused } = refuseOutOfScope(
      { ...plan, refused: [before] },
      { kind: 'issue', repository: home },
      undefined,
    );

    expect(changes.length).toBe(why === undefined ? 1 : 0);
    expect(refused.map((one) => one.why)).toEqual(
      why === undefined ? ['before'] : ['before', why === 'path' ? expect.stringContaining('..') : why],
    );
  });

  it('is empty for rules of a repository file if the subject has no repository', () => {
    const { refused } = refuseOutOfScope(
      makePlan([proposal([plainChange('t')])]),
      { kind: 'organization', organization: 'acme' },
      undefined,
    );
    expect(refused.map(({ why }) => why)).toEqual(['a rule of acme/demo must not write anywhere else']);
  });

  it('is checked against the identity of the repository only if the plan writes to the repository', async () => {
    const facts = makeFacts({ repository_id: { id: 1 } }, { subject: { repository: home } });
    const [planned] = makePlan([proposal([elsewhere], operator)]).changes;
    await assertInScope(planned ?? never(), elsewhere.input, facts);
    await assertInScope(planned ?? never(), { body: {} }, facts);
    expect(facts.asked).toEqual([]);
    await assertInScope(planned ?? never(), titled('t'), facts);
    expect(facts.asked).toEqual(['repository_id']);
  });
});

function never(): never {
  throw new Error('no change was planned');
}

describe('a plan', () => {
  it('refuses changes that have to wait, with the reason, and names the rules that disagree', () => {
    const waits = { waits: { why: 'checks run', polls: false } };
    const [a, b] = [{ id: 'a' }, { id: 'b' }].map((rule) => proposal([], rule));
    const of = (one: Proposal | undefined, ...changes: readonly Change[]): Proposal => ({
      ...(one ?? never()),
      changes,
    });
    const { changes, refused } = makePlan([
      of(a, plainChange('w', waits), plainChange('q', { value: 1 }), plainChange('u', { value: undefined })),
      of(b, plainChange('q', { value: 2 }), plainChange('u', { value: undefined })),
    ]);

    expect(changes.map(({ change, proposals }) => [change.target, proposals.length])).toEqual([['u', 2]]);
    const quarrel = 'a and b want different values, and neither ranks higher';
    expect(refused.map(({ planned, why }) => `${planned.change.target}: ${why}`)).toEqual([
      'w: checks run',
      `q: ${quarrel}`,
      `q: ${quarrel}`,
    ]);
  });

  it('bases sent changes only on sent changes, and observed changes on both kinds', () => {
    const make = plainChange('new');
    const remove = plainChange('old', { needs: 'new' });
    const observe = { mode: 'observe', id: 'o' } as const;
    const left = (...proposals: readonly Proposal[]) =>
      refuseUnfounded(makePlan(proposals)).changes.map(({ change }) => change.target);

    expect(left(proposal([make, remove], observe))).toEqual(['new', 'old']);
    expect(left(proposal([make]), proposal([make, remove], observe))).toEqual(['new', 'old']);
    expect(left(proposal([make]), proposal([remove], { id: 'b' }))).toEqual(['new']);
    // It is enough that one of the rules that want the removal also wants the replacement.
    expect(left(proposal([make]), proposal([make, remove], { id: 'b' }))).toEqual(['new', 'old']);
  });

  it('has one input for changes joined into one request, and otherwise the input of the change', async () => {
    const join = async () => titled('both');
    const action = plainAction({ join });
    const inputFor = (changes: readonly Change[]) =>
      inputOf(makePlan([{ ...proposal(changes), action }]).changes, makeFacts());

    expect(await inputFor([plainChange('a', { joins: 'k' }), plainChange('b', { joins: 'k' })])).toEqual(
      titled('both'),
    );
    expect(await inputFor([plainChange('a')])).toEqual(titled('a'));
    await expect(inputFor([])).rejects.toThrow('without a change');
  });
});

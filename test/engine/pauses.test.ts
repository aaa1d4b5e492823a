import { describe, expect, it } from 'vitest';
import type { Subject } from '../../src/contract/events/subject.ts';
import { operations } from '../../src/contract/operations.ts';
import {
  findPause,
  nameOfScope,
  type PauseScope,
  pausedReason,
  pausedWords,
  refusePaused,
  requireUnpaused,
  WritesPaused,
} from '../../src/engine/bounds/pauses.ts';
import { isObserved } from '../../src/engine/describe-change.ts';
import { makePlan } from '../../src/engine/plan.ts';
import type { PlannedChange, Proposal } from '../../src/engine/proposal.ts';
import { recordChanges, recordRound, recordRun } from '../../src/engine/record-run.ts';
import type { RunInput } from '../../src/engine/run-context.ts';
import type { LoadedRule, RuleMode } from '../../src/rules/rule.ts';
import { makeContext } from '../support/make-context.ts';
import { makeFacts } from '../support/make-facts.ts';
import { plainAction, plainChange, plainParams, titled } from '../support/plain-action.ts';
import { makeRecordingClient } from '../support/recording-client.ts';

const at = new Date('2026-03-01T12:00:00Z');
const pauseOf = (scope: PauseScope) => ({ scope, at, by: 'ada' });
const rule = (name: string, mode: RuleMode = 'enforce') =>
  ({ id: `r.yml#${name}`, name, mode, level: 'operator', limits: {}, steps: [] }) as unknown as LoadedRule;
const proposal = (of: LoadedRule, target = 't', more: Parameters<typeof plainChange>[1] = {}): Proposal => ({
  rule: of,
  step: 'one',
  action: plainAction(),
  arguments: {},
  context: makeContext(),
  changes: [plainChange(target, more)],
});
const planned = (...proposals: readonly Proposal[]): PlannedChange => {
  const [first] = makePlan(proposals).changes;
  if (first === undefined) throw new Error('no change was planned');
  return first;
};
const home = { id: 7, owner: 'acme', name: 'shop' };
const subject: Subject = { kind: 'issue', repository: home };
const ofRepository = (name: string, repositoryId?: number): PauseScope => ({
  kind: 'repository',
  name,
  repositoryId,
});
const ofRule = (name: string): PauseScope => ({ kind: 'rule', name });

describe('a pause', () => {
  it.each<[string, PauseScope, boolean]>([
    ['of everything', { kind: 'all' }, true],
    ['of the repository that is written to', ofRepository('Acme/Demo'), true],
    ['of the repository of the subject', ofRepository('acme/SHOP'), true],
    ['of the repository under an earlier name', ofRepository('acme/old', 7), true],
    ['of another repository', ofRepository('acme/old', 8), false],
    ['of another repository without a known id', ofRepository('acme/old'), false],
    ['of the name of a rule', ofRule('a'), true],
    ['of a rule by its identity', ofRule('r.yml#a'), true],
    ['of another rule', ofRule('b'), false],
    ['of a rule that is called like the repository', ofRule('acme/shop'), false],
  ])('%s', async (_title, scope, stops) => {
    const change = planned(proposal(rule('a')));
    const pauses = [pauseOf(ofRule('x')), pauseOf(scope)];
    const why = stops ? pausedWords(pauseOf(scope)) : undefined;

    expect(pausedReason(change, subject, pauses)).toBe(why);
    const refused = refusePaused({ changes: [change], refused: [] }, pauses, { subject, isSent: () => true });
    expect([refused.plan.changes.length, refused.deferral?.why]).toEqual([stops ? 0 : 1, why]);
    const asked = requireUnpaused([change], subject, async () => pauses);
    await (stops ? expect(asked).rejects.toBeInstanceOf(WritesPaused) : asked);
    // Observed changes are not sent, so a pause does not stop them.
    const observed = refusePaused({ changes: [change], refused: [] }, pauses, {
      subject,
      isSent: () => false,
    });
    expect([observed.plan.changes.length, observed.deferral]).toEqual([1, undefined]);
  });

  it('of a rule stops only changes that no other rule wants, unless both rules are paused', () => {
    const both = planned(proposal(rule('a')), proposal(rule('b')));
    expect(pausedReason(both, subject, [pauseOf(ofRule('a'))])).toBeUndefined();
    expect(pausedReason(both, subject, [pauseOf(ofRule('b'))])).toBeUndefined();
    expect(pausedReason(both, subject, [pauseOf(ofRule('b')), pauseOf(ofRule('a'))])).toContain(
      'rule a is paused',
    );
    const organization = { kind: 'organization', organization: 'acme' } as const;
    expect(pausedReason(both, organization, [pauseOf(ofRepository('acme/shop', 7))])).toBeUndefined();
    expect(pausedReason(both, organization, [pauseOf(ofRepository('acme/demo'))])).toContain(
      'repository acme/demo',
    );
    expect(
      pausedReason(planned(proposal(rule('a', 'observe'))), subject, [pauseOf(ofRule('a'))]),
    ).toBeUndefined();
  });

  it.each<[PauseScope, boolean]>([
    [{ kind: 'all' }, true],
    [ofRepository('Acme/Shop'), true],
    [ofRepository('x/y', 7), true],
    [ofRepository('x/y', 8), false],
    [ofRule('r.yml#a'), true],
    [ofRule('a'), true],
    [ofRule('b'), false],
    [ofRule('acme/shop'), false],
  ])('is found for a repository and a rule: %j', (scope, isFound) => {
    const found = findPause([pauseOf(scope)], { repository: { name: 'acme/shop', id: 7 }, rule: 'r.yml#a' });
    expect(found).toEqual(isFound ? pauseOf(scope) : undefined);
  });

  it('gives its scope the name that the command line uses', () => {
    const names = [{ kind: 'all' } as const, ofRepository('acme/shop'), ofRule('a'), ofRule('stale/warn')];
    expect(names.map(nameOfScope)).toEqual(['all', 'acme/shop', 'a', '#stale/warn']);
    expect(pausedWords(pauseOf(ofRule('stale/warn')))).toBe(
      'rule stale/warn is paused since 2026-03-01T12:00:00.000Z by ada; reeve resume #stale/warn ends it',
    );
  });
});

describe('the record of a run', () => {
  it('contains each change with its request and rules, what was sent, and what is deferred', async () => {
    const plan = makePlan([
      proposal(rule('a')),
      proposal(rule('b')),
      proposal(rule('w', 'observe')),
      proposal(rule('w', 'observe'), 'seen'),
      proposal(rule('a'), 'odd', { input: { params: { owner: 'acme' } } }),
    ]);
    const [late] = makePlan([proposal(rule('a'), 'late')]).changes;
    const input = {
      id: 'r1',
      mode: 'enforce',
      trigger: { door: 'cli', kind: 'issues', activity: '', at: at.toISOString() },
      facts: makeFacts(),
      client: { ...makeRecordingClient(), requests: 3, requestList: { requests: [], leftOut: 2 } },
      clock: { monotonicMs: () => 30.4 },
    } as unknown as RunInput;
    const refused = late ? [{ planned: late, why: 'deferred', until: 'later' }] : [];
    const shown = await recordChanges(plan.changes, input.facts);
    const sent = titled('other');
    const round = recordRound({ ...plan, refused }, shown, {
      outcomes: [{ change: 'c1', status: 'applied' }],
      sent: new Map([['c1', { ...sent, params: { ...plainParams, repo: 'new' } }]]),
    });
    const run = recordRun(input, { verdicts: [], rounds: [round], startedMs: 10 });

    const line = { method: 'POST', operation: operations.createIssue.id };
    expect(run.changes).toMatchObject([
      {
        ...line,
        target: 't',
        step: 'one',
        rules: ['r.yml#a', 'r.yml#b', 'r.yml#w'],
        path: '/repos/acme/new/issues',
      },
      { ...line, target: 'odd', path: operations.createIssue.path },
      { ...line, target: 'seen', rules: ['r.yml#w'], observed: true, path: '/repos/acme/demo/issues' },
    ]);
    expect(run.changes[0]).toMatchObject({ input: { body: { title: 'other' } }, level: 'operator' });
    expect(run.changes.map((change) => isObserved({ ...run, mode: 'plan', outcomes: [] }, change))).toEqual([
      false,
      false,
      true,
    ]);
    expect(run.outcomes.map(({ status }) => status)).toEqual(['applied', 'planned', 'planned']);
    expect(run.refused).toMatchObject([{ change: { target: 'late' }, why: 'deferred', until: 'later' }]);
    expect(run).toMatchObject({ requests: 3, forgeRequestsLeftOut: 2, ms: 20 });
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '../../../src/contract/operations.ts';
import { readSight } from '../../../src/work/alarms/rule-sight.ts';
import { readKnownRunners } from '../../../src/work/alarms/runner-sight.ts';
import { startSweepByHand } from '../../../src/work/sweeps/by-hand.ts';
import { describeProgress, type SweepResult, SweepStore } from '../../../src/work/sweeps/progress.ts';
import { acme, people, rulesOf, type SweepHarness, startSweepHarness } from '../../support/sweep-harness.ts';

let harness: SweepHarness;
beforeEach(async () => {
  harness = await startSweepHarness();
});
afterEach(() => harness.close());

const ruleOver = (each: string, scope = ''): string => `version: 1
rules:
  walk:
    on: { schedule: "0 * * * *" }
    each: ${each}
    ${scope}
    steps:
      - uses: report-issue
        with: { when: "false", repository: ${acme}/ops, key: k, title: t }
`;

/** Runs a sweep of the rule while the forge answers some paths with a status. */
async function sweep(rules: string, refused: Readonly<Record<string, number>> = {}): Promise<SweepResult> {
  harness.setRules(rules);
  await harness.tick();
  harness.proxy.decide = ({ path }) => {
    const found = Object.entries(refused).find(([part]) => path.split('?')[0]?.endsWith(part));
    if (found === undefined) return { kind: 'pass' };
    return { kind: 'answer', status: found[1], body: '{"message":"no"}' };
  };
  harness.advance(60);
  await harness.tick();
  const result = await new SweepStore(harness.store).readResult('rules.yml#walk');
  if (result === undefined) throw new Error('no sweep has ended');
  return result;
}

describe('C1: a sweep over runners', () => {
  it.each([
    ['an organization', `/orgs/${acme}/actions/runners`, acme],
    ['the account', '/user/actions/runners', people.bot],
    ['a repository', `/repos/${acme}/demo/actions/runners`, `${acme}/demo`],
  ])(
    'names the refused list of %s, and is an incident until the list is accessible',
    async (_, path, place) => {
      const result = await sweep(ruleOver('runner'), { [path]: 403 });

      expect(describeProgress(result)).toContain(`0 items: refused in ${place}, GET ${path}: 403, 0 changes`);
      expect(await harness.store.listIncidents()).toMatchObject([
        { kind: 'sweep-failed', key: 'rules.yml#walk', reason: expect.stringContaining(`GET ${path}: 403`) },
      ]);
      expect((await sweep(ruleOver('runner'))).failed).toBe(0);
      expect(await harness.store.listIncidents()).toEqual([]);
    },
  );

  it('lists the runners of the instance only as a site administrator', async () => {
    await sweep(ruleOver('runner'));
    expect(harness.proxy.passed.filter(({ path }) => path.includes('/admin/'))).toEqual([]);
  });

  it('skips levels that the forge does not have, but fails if all are missing', async () => {
    expect((await sweep(ruleOver('runner'), { '/user/actions/runners': 404 })).failed).toBe(0);

    const none = await sweep(ruleOver('runner'), { '/actions/runners': 404 });
    expect(describeProgress(none)).toContain('0 items: refused in');
    expect(describeProgress(none)).toContain('actions/runners: 404, and 3 more');
  });
});

describe('runners whose list the forge refuses', () => {
  const rules = ruleOver('runner');
  const list = `/orgs/${acme}/actions/runners`;
  const known = async (now = harness.now()) =>
    (await readKnownRunners(rulesOf(rules), harness.store, now)).map(({ name, status, notSeenSince }) => ({
      name,
      status,
      notSeenSince,
    }));
  const seen = { name: 'builder', status: 'online', notSeenSince: undefined };
  beforeEach(() => harness.putRunners([{ name: 'builder', owner: acme, state: 'idle' }]));

  it('are not seen since the last sweep that listed them, until one lists them again', async () => {
    await sweep(rules);
    const last = harness.now();
    expect(await known()).toEqual([seen]);

    await sweep(rules, { [list]: 403 });
    expect(await known()).toEqual([{ ...seen, notSeenSince: last }]);

    await sweep(rules);
    expect(await known()).toEqual([seen]);
  });

  it('are not seen either when two slots have passed without a sweep', async () => {
    await sweep(rules);
    const last = harness.now();
    const later = (hours: number): Date => new Date(last.getTime() + hours * 3_600_000);

    expect(await known(later(1.5))).toEqual([seen]);
    expect(await known(later(2.1))).toEqual([{ ...seen, notSeenSince: last }]);
  });

  it('a sweep that only covers another place says nothing about them', async () => {
    await sweep(rules);
    harness.advance(1);
    await startSweepByHand({ id: 'rules.yml#walk' }, harness.store, {
      patterns: ['elsewhere/*'],
      now: harness.now(),
    });
    await harness.drain();

    expect(await new SweepStore(harness.store).readResult('rules.yml#walk')).toMatchObject({
      isPartial: true,
    });
    expect(await known()).toEqual([seen]);
  });

  it('and a sweep that sees nothing is not the time at which the rule could last run', async () => {
    const sight = async () => (await readSight(rulesOf(rules), harness.store))[0];
    await sweep(rules, { [list]: 403 });
    expect(await sight()).toMatchObject({ isBlind: true, lastRunAt: undefined });
    await sweep(rules);
    const last = harness.now();
    expect(await sight()).toMatchObject({ isBlind: false, lastRunAt: last });
    for (let slot = 0; slot < 2; slot += 1) await sweep(rules, { [list]: 403 });

    expect(await sight()).toMatchObject({ isBlind: true, lastRunAt: last });
  });

  it('a sweep that finds no open issue is not blind', async () => {
    await sweep(ruleOver('issue'));

    expect((await readSight(rulesOf(ruleOver('issue')), harness.store))[0]).toMatchObject({
      isBlind: false,
      lastRunAt: harness.now(),
    });
  });
});

describe('C1: a sweep over organizations', () => {
  it('names the refused list', async () => {
    const result = await sweep(ruleOver('organization'), { '/user/orgs': 403 });

    expect(describeProgress(result)).toContain('0 items: refused in the list, GET /user/orgs: 403');
    expect(await harness.store.listIncidents()).toMatchObject([{ kind: 'sweep-failed' }]);
  });

  it("names an organization in the rule's scope if the account is not a member of it", async () => {
    const result = await sweep(ruleOver('organization', `in: ["${acme}/*", "guild/*"]`));

    expect(describeProgress(result)).toContain(
      '1 of 1 item: refused in guild, the account is not a member of it',
    );
  });
});

describe('C1: a sweep over repositories', () => {
  it('names a list that is refused in a repository', async () => {
    const result = await sweep(ruleOver('issue'), { [`/repos/${acme}/demo/issues`]: 403 });

    expect(describeProgress(result)).toContain(
      `refused in ${acme}/demo, GET /repos/${acme}/demo/issues: 403`,
    );
  });
});

describe('C2: a rule that fails on items of a sweep', () => {
  const failing = (condition: string): string => `version: 1
rules:
  walk:
    on: { schedule: "0 * * * *" }
    each: issue
    if: ${condition}
    steps: [{ uses: set-labels, with: { add: [x], create: { color: ff0000 } } }]
`;

  it('is an incident until a complete sweep passes', async () => {
    const params = { owner: acme, repo: 'demo' };
    await harness.ada.call(operations.createIssue, { params, body: { title: 'one' } });

    await sweep(failing('issue.milestone.title == "1.0"'));
    expect(await harness.store.listIncidents()).toMatchObject([
      { kind: 'rule-failed', subject: `${acme}/demo#1`, count: 1 },
    ]);
    // The rule finds nothing to do, so the run is not stored.
    await sweep(failing('has(issue.number) && issue.number == 2'));

    expect(await harness.store.listIncidents()).toEqual([]);
  });
});

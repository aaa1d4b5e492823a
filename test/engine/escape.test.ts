import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Action } from '../../src/actions/action.ts';
import { actions } from '../../src/actions/actions.ts';
import type { Change } from '../../src/actions/change.ts';
import { parseEvent } from '../../src/contract/events/events.ts';
import type { Operation } from '../../src/contract/operation.ts';
import { operations } from '../../src/contract/operations.ts';
import { runRules } from '../../src/engine/run.ts';
import { loadRuleFile } from '../../src/rules/files/load.ts';
import { registry } from '../../src/rules/registry.ts';
import { createRuleSet, type LoadedRule } from '../../src/rules/rule.ts';
import { propertyRuns, recordFigure } from '../support/figure.ts';
import { granted } from '../support/granted.ts';
import { makeClock } from '../support/make-clock.ts';
import { makeFacts } from '../support/make-facts.ts';
import { plainAction } from '../support/plain-action.ts';
import { plainRule } from '../support/plain-rule.ts';
import { makeRecordingClient } from '../support/recording-client.ts';

const numRuns = process.env.LONG ? 100_000 : propertyRuns(3_000);
const home = { id: 1, owner: 'acme', name: 'demo' };
const every: readonly Operation[] = Object.values(operations);
const rows = every.filter(({ method }) => method !== 'GET');

const name = fc.constantFrom(
  'acme',
  'Acme',
  'evil',
  'demo',
  'DEMO',
  'other',
  '..',
  '',
  'acme/demo',
  '%2e%2e',
  'ac\u200bme',
);
const params = fc.record(
  {
    owner: name,
    repo: name,
    org: name,
    index: fc.integer({ min: 1, max: 3 }),
    id: fc.integer({ min: 1, max: 3 }),
    username: name,
  },
  { requiredKeys: [] },
);
const changes = fc.array(fc.record({ id: fc.constantFrom(...rows.map(({ id }): string => id)), params }), {
  minLength: 1,
  maxLength: 4,
});

/** Creates an action without checks: it proposes whatever its arguments say. */
function careless(wanted: readonly { id: string; params: object }[]): Action {
  return plainAction({
    name: 'careless',
    needs: { access: 'writer', scopes: [] },
    plan: async () =>
      wanted.map(
        ({ id, params: given }, place): Change => ({
          action: 'careless',
          operation: id,
          input: { params: given as Record<string, unknown> },
          target: `t${place}`,
          value: true,
          before: false,
          after: true,
          reason: '',
        }),
      ),
  });
}

function ruleWith(action: Action, more: Partial<LoadedRule>): LoadedRule {
  const given = {
    written: {},
    facts: [],
    reads: [],
    resolve: () => ({ findings: [], ok: true as const, value: {} }),
  };
  return plainRule({
    id: 'x#x',
    name: 'x',
    source: 'x',
    level: 'repository',
    on: [{ family: 'issues' }],
    steps: [{ name: '1', action, line: 1, arguments: given }],
    ...more,
  });
}

const event = parseEvent('issues', {
  action: 'opened',
  number: 1,
  issue: { number: 1 },
  repository: { id: 1, full_name: 'acme/demo', owner: { id: 2 } },
  sender: { id: 9, login: 'ada' },
});

async function sentBy(rule: LoadedRule, liveId = home.id) {
  const client = makeRecordingClient();
  const { run } = await runRules({
    id: 'r',
    mode: 'enforce',
    trigger: { door: 'webhook', kind: 'issues', activity: 'opened', at: '' },
    rules: createRuleSet([rule]),
    event,
    facts: makeFacts(
      { repository_id: { id: liveId } },
      { subject: { kind: 'issue', index: 1, repository: home } },
    ),
    client,
    now: new Date(0),
    clock: makeClock({ monotonicMs: () => 0 }),
  });
  return { sent: client.sent, run };
}

const lower = (value: unknown): string => String(value).toLowerCase();

describe('whatever an action plans', () => {
  it(`rules of a repository write only to the event's repository (${numRuns} runs)`, async (context) => {
    let written = 0;
    await fc.assert(
      fc.asyncProperty(changes, async (wanted) => {
        const { sent } = await sentBy(ruleWith(careless(wanted), { home: { repositoryId: 1 } }));
        written += sent.length;
        for (const { input } of sent) {
          expect([lower(input.params?.owner), lower(input.params?.repo)]).toEqual(['acme', 'demo']);
        }
      }),
      { numRuns },
    );
    // A check that refuses everything would pass as well.
    expect(written).toBeGreaterThan(numRuns / 300);
    recordFigure(
      context,
      `${numRuns.toLocaleString('en')} runs that try to leave their repository: ${written.toLocaleString('en')} writes inside, 0 outside`,
    );
  });

  it('rules of an organization write only to the organization and its repositories', async () => {
    let written = 0;
    const more = { level: 'organization', home: { organization: 'acme' } } as const;
    await fc.assert(
      fc.asyncProperty(changes, async (wanted) => {
        const { sent } = await sentBy(ruleWith(careless(wanted), more));
        written += sent.length;
        for (const { input } of sent) expect(lower(input.params?.owner ?? input.params?.org)).toBe('acme');
      }),
      { numRuns: numRuns / 10 },
    );
    expect(written).toBeGreaterThan(0);
  });

  it('nothing is written if another repository has taken the name, or if the rule belongs to another repository', async () => {
    const wanted = [{ id: operations.createIssue.id, params: { owner: 'acme', repo: 'demo' } }];

    expect((await sentBy(ruleWith(careless(wanted), {}), 2)).sent).toEqual([]);
    const foreign = await sentBy(ruleWith(careless(wanted), { home: { repositoryId: 7 } }));
    expect(foreign.sent).toEqual([]);
    expect(foreign.run.refused).toMatchObject([{ why: expect.stringContaining('another repository') }]);
    expect((await sentBy(ruleWith(careless(wanted), { home: { repositoryId: 1 } }))).sent).toHaveLength(1);
  });
});

describe('a repository file', () => {
  const small = ['set-labels', 'set-issue', 'request-reviewers', 'react', 'comment', 'set-status'];

  it.each(actions.map((action) => [action.name]))('gets %s by grant, or as part of the small set', (uses) => {
    const example = actions.find((action) => action.name === uses);
    const load = (grants: readonly string[]) =>
      loadRuleFile({
        path: '.reeve.yml',
        text: `version: 1\nrules:\n  r:\n    on: ${example?.of.includes('pull_request') ? 'pull_request' : 'push'}\n    steps:\n      - ${example?.example.trimEnd().replaceAll('\n', '\n        ')}\n`,
        level: 'repository',
        commit: '',
        registry,
        grants: granted(grants),
      }).problems.filter(({ code, message }) => code === 'level' && message.includes(uses));

    expect(load([]).length).toBe(small.includes(uses) ? 0 : 1);
    expect(load([uses]).length).toBe(example?.onlyFor === undefined ? 0 : 1);
  });
});

it.each(['repository', 'organization'] as const)(
  'no rule file of the %s reads a file of another repository, whatever is granted',
  (level) => {
    const load = (expression: string, grants: readonly string[]) =>
      loadRuleFile({
        path: '.reeve.yml',
        text: JSON.stringify({
          version: 1,
          rules: { r: { on: 'issues', if: expression, steps: [{ uses: 'comment', with: { text: 'x' } }] } },
        }),
        level,
        commit: '',
        registry,
        grants: granted(grants),
      }).problems.map(({ code, message }) => `${code}: ${message}`);

    expect(load('file_of("evil/demo:key@main") != null', ['file_of', 'commit-files'])).toEqual([
      expect.stringContaining('whatever the grants'),
    ]);
    expect(load('file_at("main:key") != null && named_branch("main") != null', [])).toEqual([]);
  },
);

describe.each(['repository', 'organization', 'operator'] as const)(
  'a branch of another repository in a rule file of the %s',
  (level) => {
    const all = ['open-pull-request', 'compare', 'open_pull'];
    const problemsOf = (rule: Readonly<Record<string, unknown>>, grants: readonly string[] = all) =>
      loadRuleFile({
        path: '.reeve.yml',
        text: JSON.stringify({ version: 1, rules: { r: { on: 'push', ...rule } } }),
        level,
        commit: '',
        registry,
        grants: granted(grants),
      }).problems.map(({ code, message }) => `${code}: ${message}`);
    const opening = (more: object) => ({
      steps: [
        {
          uses: 'open-pull-request',
          with: { head: 'work', base: 'main', title: `\${{ event.ref }}`, ...more },
        },
      ],
    });
    const reading = (condition: string) => ({ if: condition, steps: [{ uses: 'run-nothing' }] });
    const refusals =
      level === 'operator' ? [] : [expect.stringMatching(/^level: .*whatever the grants: .*owner:branch/s)];
    const unknownAction = expect.stringContaining('no action "run-nothing"');

    it.each([{ head: 'evil:main' }, { head: 'evil/private:main' }, { head: ':main' }, { base: 'evil:main' }])(
      'cannot be the head or base of a pull request below operator level, whatever is granted: %j',
      (more) => {
        expect(problemsOf(opening(more))).toEqual(refusals);
        expect(problemsOf(opening({ head: 'release/1' }))).toEqual([]);
      },
    );

    it.each([
      'compare("main...evil:main").total_commits > 0',
      'open_pull("main...evil/private:main") == null',
    ])('cannot be read by a condition below operator level, whatever is granted: %s', (condition) => {
      expect(problemsOf(reading(condition))).toEqual([...refusals, unknownAction]);
      expect(problemsOf(reading('compare("main...work").total_commits > 0'))).toEqual([unknownAction]);
    });
  },
);

describe('a dry run', () => {
  const label = fc.constantFrom('a', 'b', 'c', 'd');
  const step = fc.oneof(
    fc.record({ add: fc.uniqueArray(label, { minLength: 1 }) }),
    fc.record({ remove: fc.uniqueArray(label, { minLength: 1 }) }),
    fc.record({
      sync: fc.dictionary(label, fc.constantFrom('true', 'false', 'event.number > 0'), { minKeys: 1 }),
    }),
  );

  it('plans what the real run sends, and sends nothing', async (context) => {
    let [plans, writes] = [0, 0];
    const definitions = ['a', 'b', 'c', 'd'].map((one, place) => ({
      id: place + 1,
      name: one,
      level: 'repository',
    }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 4 }),
        fc.uniqueArray(label),
        async (steps, there) => {
          const rules = Object.fromEntries(
            steps.map((given, place) => [
              `r${place}`,
              { on: 'issues', steps: [{ uses: 'set-labels', with: given }] },
            ]),
          );
          const text = JSON.stringify({ version: 1, rules });
          const loaded = loadRuleFile({ path: 'x.yml', text, level: 'operator', commit: '', registry });
          const runs = await Promise.all(
            (['plan', 'enforce'] as const).map(async (mode) => {
              const client = makeRecordingClient();
              const { run } = await runRules({
                id: 'r',
                mode,
                trigger: { door: 'webhook', kind: 'issues', activity: 'opened', at: '' },
                rules: createRuleSet(loaded.rules),
                event,
                facts: makeFacts(
                  {
                    labels: definitions.filter(({ name: one }) => there.includes(one as 'a')),
                    label_definitions: definitions,
                    repository_id: { id: 1 },
                  },
                  { subject: { kind: 'issue', index: 1, repository: home } },
                ),
                client,
                now: new Date(0),
                clock: makeClock({ monotonicMs: () => 0 }),
              });
              return { run, sent: client.sent.map(({ input }) => input) };
            }),
          );
          const [dry, real] = runs;

          expect(loaded.problems).toEqual([]);
          expect(dry?.sent).toEqual([]);
          expect(dry?.run.changes).toEqual(real?.run.changes);
          expect(dry?.run.refused).toEqual(real?.run.refused);
          const planned = [...new Set(dry?.run.changes.map(({ input }) => JSON.stringify(input)))];
          expect(real?.sent.map((input) => JSON.stringify(input))).toEqual(planned);
          plans += 1;
          writes += planned.length;
        },
      ),
      { numRuns: process.env.LONG ? 10_000 : propertyRuns(300) },
    );
    recordFigure(
      context,
      `${plans.toLocaleString('en')} plans equal ${writes.toLocaleString('en')} writes of the real run, and wrote nothing`,
    );
  });
});

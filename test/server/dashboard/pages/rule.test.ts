import { expect, it } from 'vitest';
import type { Verdict } from '../../../../src/rules/verdict.ts';
import { makeDelivery, makeRun } from '../../../store/make.ts';
import { serveDashboard, tableCells } from '../../../support/serve-dashboard.ts';

const id = '/srv/rules/triage.yml#triage';
const dashboard = serveDashboard([
  {
    id,
    name: 'triage',
    file: 'triage.yml',
    line: 3,
    mode: 'enforce',
    listensTo: ['pull_request.opened'],
    description: 'Labels by <path>.',
    coverage: {
      state: 'known',
      cases: 3,
      failed: 1,
      steps: [
        { name: 'mark', isReached: true },
        { name: 'end', isReached: false },
      ],
    },
  },
  {
    id: '/srv/rules/other.yml#other',
    name: 'other',
    file: 'other.yml',
    line: 3,
    mode: 'observe',
    listensTo: ['issues'],
    description: undefined,
    coverage: { state: 'no-tests', why: 'there is no other.test.yml beside its file' },
  },
]);
const path = `/rules/show?rule=${encodeURIComponent('triage.yml#triage')}`;

const runWith = (verdict: Verdict['verdict'], rule = id) => ({
  ...makeRun({}),
  rules: [{ rule, source: '/srv/rules/triage.yml', commit: '', line: 3, verdict, findings: [] }],
});

it('a rule shows how often it matched, and each evaluation with a link to its run', async () => {
  const runs = [runWith('matched'), runWith('matched'), runWith('unmatched'), runWith('failed')];
  const others = [runWith('skipped'), runWith('matched', '/srv/rules/other.yml#triage')];
  await dashboard.store.appendRuns([...runs, ...others]);

  const { text } = await dashboard.operator.get(path);

  expect(text).toContain('<h1>Rule triage</h1>');
  expect(text).toContain('Labels by &lt;path&gt;.');
  expect(text).toContain('<strong>50 %</strong>matched');
  expect(text).toContain('<strong>1</strong>times failed');
  expect(
    tableCells(text)
      .slice(2)
      .map(([verdict]) => verdict),
  ).toEqual(['failed', 'unmatched', 'matched', 'matched']);
  for (const run of runs) expect(text).toContain(`href="../runs/${run.id}"`);
});

it('the list of rules shows the hit rate, last run and last failure of each rule', async () => {
  const at = (run: ReturnType<typeof runWith>, time: string) => ({
    ...run,
    trigger: { ...run.trigger, at: time },
  });
  const failed = at(runWith('failed'), '2029-12-31T23:00:00.000Z');
  const latest = at(runWith('matched'), '2029-12-31T23:50:00.000Z');
  expect(tableCells((await dashboard.operator.get('/rules')).text)[0]?.slice(3, 6)).toEqual(['–', '–', '–']);
  await dashboard.store.appendRuns([runWith('matched'), failed, runWith('skipped'), latest]);

  const { text } = await dashboard.operator.get('/rules');

  expect(tableCells(text)[0]?.slice(3, 6)).toEqual(['67 % of 3', '10 min ago', '1 h ago']);
  for (const run of [failed, latest]) expect(text).toContain(`href="./runs/${run.id}"`);
});

it('a run of which the forge refused a change is a failure of the rule that wanted it, and of no other', async () => {
  const other = '/srv/rules/other.yml#other';
  const change = { id: 'c1', rules: [id], action: 'set-labels', target: 'labels', input: {}, path: '/x' };
  const error = 'labels: the forge answered 422';
  const run = {
    ...runWith('matched'),
    rules: [...runWith('matched').rules, ...runWith('matched', other).rules],
    changes: [change as never],
    outcomes: [{ change: 'c1', status: 'failed' as const, error }],
  };
  await dashboard.store.appendRuns([run, runWith('matched')]);

  const [own, others] = tableCells((await dashboard.operator.get('/rules')).text);
  const page = (await dashboard.operator.get(path)).text;

  expect(own?.[3]).toBe('50 % of 2');
  expect(own?.[5]).not.toBe('–');
  expect(others?.slice(3, 6)).toEqual(['100 % of 1', own?.[5], '–']);
  expect(page).toContain('<strong>50 %</strong>matched');
  expect(page).toContain('<strong>1</strong>times failed');
  expect(tableCells(page).map(([verdict]) => verdict)).toContain(`failed ${error}`);
});

it('a rule without evaluations is shown as not evaluated, and an unknown rule is not found', async () => {
  expect((await dashboard.operator.get(path)).text).toContain('No evaluation among all runs.');
  expect((await dashboard.operator.get('/rules/show?rule=nothing')).status).toBe(404);
  expect((await dashboard.operator.get('/rules/show')).status).toBe(404);
});

it('a rule of a repository, which is in no folder of the operator, is found through its runs', async () => {
  const run = runWith('matched', 'acme/shop/.reeve.yml#mark');
  await dashboard.store.appendRuns([run]);

  const { status, text } = await dashboard.operator.get('/rules/show?rule=acme%2Fshop%2F.reeve.yml%23mark');

  expect(status).toBe(200);
  expect(text).toContain('<strong>100 %</strong>matched');
});

it('the overview lists each dead delivery with its reason', async () => {
  const { store } = dashboard;
  const { id: delivery } = await store.accept(makeDelivery({ eventType: 'issues' }));
  await store.route([{ id: delivery, to: 'dead', reason: 'malformed: no repository' }]);

  const { text } = await dashboard.operator.get('/');

  expect(text).toContain('Dead deliveries: 1');
  expect(text).toContain(`<a class="id" href="./deliveries/${delivery}">${delivery}</a> issues`);
  expect(text).toContain('malformed: no repository');
  expect(text).toMatch(new RegExp(`action="./deliveries/${delivery}/run">.*<button>Try again</button>`, 's'));
});

it('a rule shows which steps its tests reach, or why the steps are unknown', async () => {
  const { text } = await dashboard.operator.get(path);
  const other = await dashboard.operator.get('/rules/show?rule=other.yml%23other');
  await dashboard.store.appendRuns([runWith('matched', 'acme/shop/.reeve.yml#mark')]);
  const ofRepository = await dashboard.operator.get('/rules/show?rule=acme%2Fshop%2F.reeve.yml%23mark');
  const list = await dashboard.operator.get('/rules');

  expect(text).toContain(
    '1 of 2 steps reached by the 3 cases beside its file; 1 fail: reeve test shows why.',
  );
  expect(tableCells(text)).toEqual([
    ['mark', 'reached'],
    ['end', 'not reached'],
  ]);
  expect(other.text).toContain('No tests: there is no other.test.yml beside its file.');
  expect(ofRepository.text).toContain('Unknown: the rule is not in a folder of the operator');
  expect(tableCells(list.text).map((cells) => cells[6])).toEqual(['1 of 2 steps', 'no tests']);
});

import { expect, it } from 'vitest';
import type { RuleRow } from '../../../../src/server/dashboard/data.ts';
import { makeDelivery, makeRun } from '../../../store/make.ts';
import { serveDashboard } from '../../../support/serve-dashboard.ts';

const hostile = '"><img src=x onerror=pwned()>';
const by = 'operator by the dashboard';

const ruleNamed = (name: string): RuleRow => ({
  id: `/etc/reeve/rules/${name}.yml#${name}`,
  name,
  file: `${name}.yml`,
  line: 3,
  mode: 'enforce',
  listensTo: ['issues.opened'],
  description: undefined,
});
const dashboard = serveDashboard([ruleNamed('docs'), ruleNamed('all')]);

const scopes = async () => (await dashboard.store.listPauses()).map(({ scope }) => scope);

it('the overview pauses all writes, shows who paused them and since when, and resumes them', async () => {
  expect((await dashboard.operator.get('/')).text).toContain('Pause all writes');

  const paused = await dashboard.operator.submit('/', 'pauses', { kind: 'all' });

  expect(paused).toEqual({ status: 303, location: './' });
  const [pause] = await dashboard.store.listPauses();
  expect(pause).toMatchObject({ scope: { kind: 'all' }, by });
  const { text } = await dashboard.operator.get('/');
  expect(text).toMatch(
    new RegExp(
      `Paused: all writes, since <time datetime="${pause?.at.toISOString()}"[^>]*>[^<]*</time> by ${by}`,
    ),
  );
  expect(text).not.toContain('Pause all writes');
  const resumed = await dashboard.operator.submit('/', 'pauses/end', { kind: 'all' });
  expect(resumed).toEqual({ status: 303, location: '../' });
  expect(await scopes()).toEqual([]);
  const audit = await dashboard.store.listAudit();
  expect(audit.map((entry) => [entry.by, entry.action, entry.object])).toEqual([
    [by, 'resume', 'all writes'],
    [by, 'pause', 'all writes'],
  ]);
});

it('the page of rules pauses and resumes one rule, even one that is named "all"', async () => {
  for (const name of ['docs', 'all']) {
    const fields = { kind: 'rule', name, back: 'rules' };
    expect(await dashboard.operator.submit('/rules', 'pauses', fields)).toEqual({
      status: 303,
      location: './rules',
    });

    expect(await scopes()).toEqual([{ kind: 'rule', name }]);
    const { text } = await dashboard.operator.get('/rules');
    expect(text).toContain(`Paused: rule ${name}, since`);
    expect(text).toContain(`Pause rule ${name === 'all' ? 'docs' : 'all'}`);
    await dashboard.operator.submit('/rules', 'pauses/end', fields);
    expect(await scopes()).toEqual([]);
  }
});

it('the page of rules shows a pause that names a rule by its id', async () => {
  await dashboard.store.pause({ kind: 'rule', name: '/etc/reeve/rules/docs.yml#docs' }, 'root');

  const { text } = await dashboard.operator.get('/rules');

  expect(text.match(/Paused: /g)).toHaveLength(1);
  expect(text).not.toContain('Pause rule docs');
});

it("the page of a delivery pauses its repository by id, and shows a pause under the repository's earlier name", async () => {
  const { store } = dashboard;
  const { id } = await store.accept(makeDelivery());
  await store.route([{ id, to: 'lane', lane: '7', repositoryId: 7, repository: 'acme/Shop' }]);
  const fields = { kind: 'repository', name: 'acme/Shop', back: `deliveries/${id}` };

  const answer = await dashboard.operator.submit(`/deliveries/${id}`, 'pauses', fields);

  expect(answer).toEqual({ status: 303, location: `./deliveries/${id}` });
  expect(await scopes()).toEqual([{ kind: 'repository', name: 'acme/shop', repositoryId: 7 }]);
  await dashboard.operator.submit(`/deliveries/${id}`, 'pauses/end', fields);
  expect(await scopes()).toEqual([]);
  await store.pause({ kind: 'repository', name: 'acme/before', repositoryId: 7 }, 'root');
  expect((await dashboard.operator.get(`/deliveries/${id}`)).text).toContain(
    'Paused: repository acme/before, since',
  );
});

it('a typed name may be a rule of the operator, a rule of a recent run, or a repository', async () => {
  const run = makeRun({});
  const verdict = { source: 'acme/shop/.reeve.yml', commit: '', line: 1, findings: [] };
  await dashboard.store.appendRuns([
    { ...run, rules: [{ ...verdict, rule: 'acme/shop/.reeve.yml#mark', verdict: 'matched' as const }] },
  ]);

  for (const name of ['docs', ' mark ', 'acme/unseen'])
    expect((await dashboard.operator.submit('/', 'pauses', { name })).status).toBe(303);

  expect(await scopes()).toEqual(
    expect.arrayContaining([
      { kind: 'rule', name: 'docs' },
      { kind: 'rule', name: 'mark' },
      { kind: 'repository', name: 'acme/unseen' },
    ]),
  );
});

it.each([hostile, '', '  ', 'x'.repeat(2_000), 'dosc'])('pauses nothing for the name %j', async (name) => {
  expect((await dashboard.operator.submit('/', 'pauses', { name })).status).toBe(400);

  expect(await dashboard.store.listPauses()).toEqual([]);
});

it('a button pressed a second time does nothing, and redirects only to our own pages', async () => {
  await dashboard.operator.submit('/', 'pauses', { kind: 'all' });
  const back = 'https://evil.example/';

  const again = [
    await dashboard.operator.submit('/rules', 'pauses', { kind: 'rule', name: 'docs', back }),
    await dashboard.operator.submit('/', 'pauses', { kind: 'all' }),
    await dashboard.operator.submit('/', 'pauses/end', { kind: 'rule', name: 'never', back }),
  ];

  expect(again.map(({ location }) => location)).toEqual(['./', './', '../']);
  expect(await dashboard.store.listAudit()).toHaveLength(2);
});

it('a form without its own form token does nothing', async () => {
  await dashboard.store.pause({ kind: 'all' }, 'root');
  const { text } = await dashboard.operator.get('/');
  const markOf = (path: string): string =>
    new RegExp(`action="\\./${path}"><input type="hidden" name="mark" value="(\\w+)"`).exec(text)?.[1] ?? '';
  expect(markOf('pauses')).not.toBe(markOf('pauses/end'));

  const answers = [
    await dashboard.operator.post('pauses/end', '00', { kind: 'all' }),
    await dashboard.operator.post('pauses/end', markOf('pauses'), { kind: 'all' }),
    await dashboard.operator.post('pauses', markOf('pauses/end'), { kind: 'rule', name: 'docs' }),
  ];

  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
  expect(await scopes()).toEqual([{ kind: 'all' }]);
});

it('the overview shows fifty pauses and counts the rest', async () => {
  for (let n = 0; n < 60; n += 1)
    await dashboard.store.pause({ kind: 'rule', name: `rule ${n} ${hostile}` }, hostile);

  const { text } = await dashboard.operator.get('/');

  expect(text.match(/Paused: /g)).toHaveLength(50);
  expect(text).toContain('And 10 more pauses');
  expect(text).not.toContain('<img');
});

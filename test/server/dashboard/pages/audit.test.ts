import { expect, it } from 'vitest';
import { makeDelivery } from '../../../store/make.ts';
import { serveDashboard, tableCells } from '../../../support/serve-dashboard.ts';

const dashboard = serveDashboard();

it('an audit log without entries states that it is empty', async () => {
  const { status, text } = await dashboard.operator.get('/audit');

  expect(status).toBe(200);
  expect(text).toContain('No entries yet.');
  expect(text).toContain('<a href="./audit" aria-current="page">Audit</a>');
});

it('entries show who did what, newest first, with links only to deliveries and runs', async () => {
  const { store } = dashboard;
  const { id } = await store.accept(makeDelivery());
  await store.route([{ id, to: 'dead', reason: 'malformed' }]);
  await store.redrive([id], 'ada by the dashboard');
  const run = '0198f4a2-0000-7000-8000-000000000001';
  await store.noteAudit({ by: 'root by reeve revert', action: 'revert', object: `run ${run}` });
  await store.pause({ kind: 'repository', name: 'Acme/Shop' }, 'root by reeve pause');
  await store.resume({ kind: 'repository', name: 'acme/shop' }, 'eve <b> by reeve resume');
  await store.noteAudit({ by: 'x', action: 'revert', object: 'run ../sign-out?"' });

  const { text } = await dashboard.operator.get('/audit');

  expect(tableCells(text).map(([, ...rest]) => rest)).toEqual([
    ['x', 'reverted', 'run ../sign-out?&quot;'],
    ['eve &lt;b&gt; by reeve resume', 'resumed', 'repository acme/shop'],
    ['root by reeve pause', 'paused', 'repository Acme/Shop'],
    ['root by reeve revert', 'reverted', `run ${run}`],
    ['ada by the dashboard', 'ran again', `delivery ${id}`],
  ]);
  const links = [...text.matchAll(/<div><a href="([^"]*)"/g)].map(([, link]) => link);
  expect(links).toEqual([`./runs/${run}`, `./deliveries/${id}`]);
});

it('the pages of the audit log link to older entries until there are none, and show each entry once', async () => {
  for (let n = 1; n <= 150; n += 1)
    await dashboard.store.noteAudit({ by: 'ada', action: 'revert', object: `entry ${n}` });
  const seen: string[] = [];
  const sizes: number[] = [];
  let path: string | undefined = '/audit';
  while (path !== undefined) {
    const { text }: { text: string } = await dashboard.operator.get(path);
    const rows = tableCells(text).map(([, , , object = '']) => object);
    seen.push(...rows);
    sizes.push(rows.length);
    const next: string | undefined = /rel="next" href="\.\/([^"]+)"/.exec(text)?.[1];
    path = next && `/${next}`;
  }

  expect(sizes).toEqual([50, 50, 50]);
  expect(seen).toEqual(Array.from({ length: 150 }, (_, at) => `entry ${150 - at}`));
});

it('a position that is not a number, or beyond the first entry, is not an error', async () => {
  await dashboard.store.noteAudit({ by: 'ada', action: 'revert', object: 'entry 1' });

  expect((await dashboard.operator.get('/audit?before=%22%3E%3Cscript%3E')).text).toContain('entry 1');
  expect((await dashboard.operator.get('/audit?before=999999999999999')).text).toContain('entry 1');
  expect((await dashboard.operator.get('/audit?before=1')).text).toContain('No older entries.');
});

import { expect, it } from 'vitest';
import type { QueueEvent } from '../../../../src/store/queue-rows.ts';
import { queueStateOf } from '../../../../src/work/merge-queue/state.ts';
import { serveDashboard, tableCells } from '../../../support/serve-dashboard.ts';
import { makeQueueEntry, saveQueueState } from '../../../support/stored-queue.ts';

const hostile = '"><img src=x onerror=pwned()>';
const by = 'operator by the dashboard';
const at = new Date('2030-01-01T00:00:00Z');
const main = { repositoryId: 7, base: 'main' };
const fields = { repository: '7', base: 'main' };

const dashboard = serveDashboard();

const stateOf = async (key = main) => queueStateOf(await dashboard.store.readQueue(key));
const numbers = async () => (await stateOf()).entries.map(({ number }) => number);
const auditOf = async () =>
  (await dashboard.store.listAudit()).map(({ by, action, object }) => [by, action, object]);
const saveThree = (): Promise<void> =>
  saveQueueState(dashboard.store, {
    entries: [
      makeQueueEntry(11, { phase: 'testing', turnAt: at.toISOString(), sinceAt: at.toISOString() }),
      makeQueueEntry(12),
      makeQueueEntry(13),
    ],
  });

it('without merge queues, the page states that there are none', async () => {
  const { status, text } = await dashboard.operator.get('/queues');

  expect(status).toBe(200);
  expect(text).toContain('No merge queue contains a pull request or is paused.');
  expect(text).toContain('Nothing has happened yet.');
  expect(text).toContain('<a href="./queues" aria-current="page">Merge queues</a>');
});

it("a pause of the queue's rule is shown, with who paused the rule and since when", async () => {
  await saveThree();
  await dashboard.store.pause({ kind: 'rule', name: 'queue' }, hostile);

  const { text } = await dashboard.operator.get('/queues');

  expect(text).toMatch(/<p role="status">rule queue is paused since .*reeve resume queue ends it\.<\/p>/);
  const waits = tableCells(text).map((cells) => cells[6]);
  expect(waits).toEqual(
    [1, 2, 3].map(() => expect.stringMatching(/^the end of a pause: rule queue is paused/)),
  );
  expect(text).not.toContain('<img');
});

it('each pull request is shown with its position, phase, times and what it waits for', async () => {
  await saveThree();

  const { text } = await dashboard.operator.get('/queues');

  expect(text).toContain('<h2>acme/shop main</h2>');
  expect(tableCells(text).map((row) => row.slice(0, 7))).toEqual([
    ['1', '#11', '0', 'testing', 'just now', 'just now', 'its checks'],
    ['2', '#12', '0', 'waiting', 'just now', '', '#11'],
    ['3', '#13', '0', 'waiting', 'just now', '', '#11 and 1 more'],
  ]);
  // Labels and buttons differ, so that a screen reader distinguishes them.
  for (const number of [11, 12, 13]) {
    expect(text).toContain(`<label>Position of #${number} <input name="position"`);
    expect(text).toContain(`<button>Remove #${number}</button>`);
  }
  expect(text.split('<script').slice(1)).toEqual([
    expect.stringMatching(/^ src=".\/assets\/live.js" defer><\/script>/),
  ]);
});

it('the form for a new position moves a pull request, and the audit log records who moved it', async () => {
  await saveThree();

  const answer = await dashboard.operator.submit('/queues', 'queues/move', {
    ...fields,
    number: '13',
    position: ' 1 ',
  });

  expect(answer).toEqual({ status: 303, location: '../queues' });
  expect(await numbers()).toEqual([13, 11, 12]);
  expect(await auditOf()).toEqual([[by, 'move', 'acme/shop#13 in the queue of main to position 1']]);
  expect((await dashboard.operator.get('/audit')).text).toMatch(/<td [^>]*><div>moved</);
});

it('a removed pull request is shown as leaving, and the server is woken to remove it', async () => {
  await saveThree();

  const answer = await dashboard.operator.submit('/queues', 'queues/remove', { ...fields, number: '12' });

  expect(answer.status).toBe(303);
  expect((await stateOf()).entries[1]?.removal).toEqual({ by });
  expect((await dashboard.operator.get('/queues')).text).toContain(`its removal, asked for by ${by}`);
  expect(await auditOf()).toEqual([[by, 'remove', 'acme/shop#12 in the queue of main']]);
  const { items } = await dashboard.store.listDeliveries();
  expect(items.map(({ eventType, lane }) => [eventType, lane])).toEqual([
    ['merge-queue', 'merge-queue 7 main'],
  ]);
});

it('a queue is paused and resumed, and the page shows who paused it and since when', async () => {
  await saveThree();

  expect((await dashboard.operator.submit('/queues', 'queues/pause', fields)).status).toBe(303);

  const { text } = await dashboard.operator.get('/queues');
  expect((await stateOf()).paused).toEqual({ by, at: at.toISOString() });
  expect(text).toContain(
    `Paused since <time datetime="2030-01-01T00:00:00.000Z" title="2030-01-01 00:00:00 UTC">just now</time> by ${by}`,
  );
  expect(text).toContain('the end of the pause');
  expect(text).not.toContain('Pause the queue');
  expect((await dashboard.operator.submit('/queues', 'queues/resume', fields)).status).toBe(303);
  expect((await stateOf()).paused).toBeUndefined();
  expect(await auditOf()).toEqual([
    [by, 'resume', 'queue acme/shop main'],
    [by, 'pause', 'queue acme/shop main'],
  ]);
});

it('a button pressed a second time, or a button of a queue that no longer exists, does nothing', async () => {
  await saveThree();
  const remove = { ...fields, number: '12' };

  const answers = [
    await dashboard.operator.submit('/queues', 'queues/remove', remove),
    await dashboard.operator.submit('/queues', 'queues/remove', remove),
    await dashboard.operator.submit('/queues', 'queues/move', { ...fields, number: '99', position: '1' }),
    await dashboard.operator.submit('/queues', 'queues/pause', { ...fields, base: 'gone' }),
    await dashboard.operator.submit('/queues', 'queues/pause', { ...fields, repository: '8' }),
  ];

  expect(answers.map(({ status, location }) => [status, location])).toEqual(
    answers.map(() => [303, '../queues']),
  );
  expect(await auditOf()).toHaveLength(1);
  expect(await dashboard.store.listQueues()).toHaveLength(1);
});

it.each([
  ['queues/move', { number: '12' }],
  ['queues/move', { number: '12', position: '0' }],
  ['queues/move', { number: '12', position: 'first' }],
  ['queues/move', { number: '12', position: '1'.repeat(20) }],
  ['queues/remove', { number: hostile }],
  ['queues/remove', {}],
  ['queues/pause', { repository: '../7' }],
  ['queues/pause', { base: '' }],
  ['queues/pause', { base: 'x'.repeat(2_000) }],
])('%s with %j is refused and changes nothing', async (action, more) => {
  await saveThree();

  const { status, text } = await dashboard.operator.show('/queues', action, {
    ...fields,
    ...more,
  });

  expect(status).toBe(400);
  expect(text).toContain('nothing was changed');
  expect(await numbers()).toEqual([11, 12, 13]);
  expect(await auditOf()).toEqual([]);
});

it('a form without its own form token does nothing', async () => {
  await saveThree();
  const { text } = await dashboard.operator.get('/queues');
  const markOf = (path: string): string =>
    new RegExp(`action="\\./${path}"><input type="hidden" name="mark" value="(\\w+)"`).exec(text)?.[1] ?? '';
  expect(markOf('queues/pause')).not.toBe('');

  const answers = [
    await dashboard.operator.post('queues/pause', '00', fields),
    await dashboard.operator.post('queues/resume', markOf('queues/pause'), fields),
    await dashboard.operator.post('queues/remove', markOf('queues/move'), { ...fields, number: '12' }),
  ];

  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
  expect(await auditOf()).toEqual([]);
});

it('an anonymous viewer sees no queue and changes none', async () => {
  await saveThree();
  const { url } = dashboard;

  const page = await fetch(`${url}/queues`);
  const form = await fetch(`${url}/queues/pause`, { method: 'POST', body: new URLSearchParams(fields) });

  expect([page.status, form.status]).toEqual([401, 401]);
  expect(await page.text()).not.toContain('acme');
  expect((await stateOf()).paused).toBeUndefined();
});

it('a base with foreign writes is reported, and hostile names are shown as text', async () => {
  const since = at.toISOString();
  await saveQueueState(
    dashboard.store,
    {
      blocked: { commit: hostile, since },
      entries: [makeQueueEntry(4, { phase: 'testing', turnAt: since, removal: { by: hostile } })],
    },
    {
      repository: hostile,
      base: hostile,
      events: [{ at, kind: 'left', number: 4, reason: 'checks', text: hostile, by: hostile }],
    },
  );

  const { text } = await dashboard.operator.get('/queues');

  expect(text).toContain('role="alert"');
  expect(text).toContain('&quot;&gt;&lt;img');
  expect(text).not.toContain('<img');
  const address = new URLSearchParams({ repository: '7', base: hostile }).toString();
  expect((await dashboard.operator.get(`/queues?${address}`)).text).toContain('All merge queues');
});

it('the history shows what happened, why, who did it, and the time in the queue', async () => {
  const enteredAt = new Date(at.getTime() - 5_400_000);
  await saveQueueState(
    dashboard.store,
    {},
    {
      events: [
        { at, kind: 'entered', number: 4, text: 'entered with priority 0' },
        { at, kind: 'merged', number: 4, text: 'merged into main', enteredAt },
        { at, kind: 'foreign-write', number: 4, text: 'someone wrote to main' },
        { at, kind: 'paused', text: 'paused', by: 'ada' },
      ],
    },
  );

  const { text } = await dashboard.operator.get('/queues');

  expect(tableCells(text).map(([, ...rest]) => rest)).toEqual([
    ['acme/shop main', '', 'paused', 'paused', 'ada', ''],
    ['acme/shop main', '#4', 'base bypassed', 'someone wrote to main', '', ''],
    ['acme/shop main', '#4', 'merged', 'merged into main', '', '90 min'],
    ['acme/shop main', '#4', 'entered', 'entered with priority 0', '', ''],
  ]);
});

it('ten thousand events are paged, and each is shown once, for all queues or for one', async () => {
  for (const [base, repositoryId] of [
    ['main', 7],
    ['main', 8],
  ] as const) {
    const events = Array.from(
      { length: 5_000 },
      (_, n): QueueEvent => ({ at, kind: 'entered', text: `${repositoryId}-${n}` }),
    );
    await saveQueueState(dashboard.store, {}, { base, repositoryId, events });
  }
  const textsFrom = async (first: string, most: number): Promise<readonly string[]> => {
    const seen: string[] = [];
    let path: string | undefined = first;
    for (let page = 0; page < most && path !== undefined; page += 1) {
      const { text }: { text: string } = await dashboard.operator.get(path);
      seen.push(...tableCells(text).map(([, , , , why = '']) => why));
      const next: string | undefined = /rel="next" href="\.\/([^"]+)"/.exec(text)?.[1];
      path = next && `/${next.replaceAll('&amp;', '&')}`;
    }
    return seen;
  };
  const down = (id: number, count = 5_000): readonly string[] =>
    Array.from({ length: count }, (_, n) => `${id}-${4_999 - n}`);

  expect(await textsFrom('/queues', 3)).toEqual(down(8, 150));
  expect(await textsFrom('/queues?repository=7&base=main', 1_000)).toEqual(down(7));
  expect(await textsFrom('/queues?repository=7&base=main&before=3', 9)).toEqual(['7-1', '7-0']);
});

it('a position that is not a number, or before the first event, is not an error', async () => {
  await saveQueueState(dashboard.store, {}, { events: [{ at, kind: 'entered', text: 'event 1' }] });

  expect((await dashboard.operator.get('/queues?before=%22%3E%3Cscript%3E')).text).toContain('event 1');
  expect((await dashboard.operator.get('/queues?repository=x&base=main')).text).toContain('event 1');
  expect((await dashboard.operator.get('/queues?before=1')).text).toContain('No older events.');
});

it('only part of a long queue is shown, and the rest is counted', async () => {
  const entries = Array.from({ length: 1_000 }, (_, n) => makeQueueEntry(n + 1));
  for (let n = 1; n <= 60; n += 1)
    await saveQueueState(
      dashboard.store,
      { entries: n === 1 ? entries : [makeQueueEntry(1)] },
      {
        repositoryId: n,
        repository: `acme/r${String(n).padStart(2, '0')}`,
      },
    );

  const { text } = await dashboard.operator.get('/queues');

  expect(text).toContain('And 900 more; <code>reeve queue list</code> prints all.');
  expect(text.match(/<section>/g)).toHaveLength(50);
  expect(text).toContain('And 10 more queues');
});

import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { type Log, silentLog } from '../../../src/platform/log.ts';
import { createChangeWatch, createLiveStreams } from '../../../src/server/dashboard/streams.ts';
import { makeRun } from '../../store/make.ts';
import { dashboardData, dashboardPassword, makeDashboardApp } from '../../support/dashboard-app.ts';
import { serveDashboard } from '../../support/serve-dashboard.ts';
import { storeKinds } from '../../support/store-kinds.ts';

const dashboard = serveDashboard();

it('a session has one stream: a newer stream replaces the older one, and a stop ends it', async () => {
  const { operator } = dashboard;
  const streams = [1, 2].map(async (number) => ({ number, ...(await operator.get('/live')) }));

  const ended = await Promise.race(streams);

  expect(ended.headers.get('content-type')).toBe('text/event-stream');
  expect(ended.text).toMatch(/^retry: \d+\n\nevent: replaced\ndata: 1\n\n$/);
  await dashboard.stop();
  const [other] = (await Promise.all(streams)).filter(({ number }) => number !== ended.number);
  expect(other?.text).toMatch(/^retry: \d+\n\n$/);
});

it.each(storeKinds)(
  'an event says only that a row was added, and nothing about the row: $title',
  async (kind) => {
    const made = await kind.make({});
    // If processes share the store, another process writes.
    const writer = made.store.isShared ? await made.open('worker') : made.store;
    const streams = createLiveStreams(createChangeWatch(dashboardData(made.store), silentLog));
    const stream = streams.open('session');
    const changed = new Promise<string>((resolve) =>
      stream?.on('data', (bytes) => String(bytes).startsWith('event') && resolve(String(bytes))),
    );

    // Writes repeatedly, so that at least one row follows the first comparison.
    const writing = setInterval(() => void writer.appendRuns([makeRun({})]), 500);

    expect(await changed).toBe('event: changed\ndata: 1\n\n');
    clearInterval(writing);
    streams.close();
    if (made.store.isShared) await writer.close();
    await made.close();
  },
);

it('the number of streams is limited, and no stream opens after the close', () => {
  const streams = createLiveStreams(createChangeWatch(dashboardData(dashboard.store), silentLog));
  const opened = Array.from({ length: 200 }, (_, number) => streams.open(`session ${number}`));

  expect(opened).not.toContain(undefined);
  expect(streams.open('one more')).toBeUndefined();
  expect(streams.open('session 7')).toBeDefined();
  streams.close();
  expect(streams.open('late')).toBeUndefined();
});

it('a page that follows changes includes our own script; other pages include none', async () => {
  const { text } = await dashboard.operator.get('/runs');

  expect(text.match(/<script[^>]*>.*?<\/script>/gs)).toEqual([
    '<script src="./assets/live.js" defer></script>',
  ]);
  expect((await dashboard.operator.get('/simulate')).text).not.toContain('<script');
});

it('a window that is closed leaves nothing in the log, whether the stream has begun or not', async () => {
  const logged: unknown[] = [];
  const note = (...line: unknown[]): void => void logged.push(line);
  const log: Log = { ...silentLog, warn: note, error: note };
  const app = makeDashboardApp(dashboard.store, { log });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const signedIn = await fetch(`${url}/sign-in`, {
    method: 'POST',
    body: new URLSearchParams({ password: dashboardPassword }),
    redirect: 'manual',
  });
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  const openStream = (path: string): ClientRequest =>
    request(`${url}${path}`, { headers: { cookie } })
      .on('error', () => {})
      .end();

  for (const path of ['/live', '/runs']) {
    const begun = openStream(path);
    const [answer] = (await once(begun, 'response')) as [IncomingMessage];
    await once(answer, 'data');
    begun.destroy();
    const unanswered = openStream(path);
    await once(unanswered, 'finish');
    unanswered.destroy();
  }

  const connections = () =>
    new Promise((resolve) => app.server.getConnections((_error, count) => resolve(count)));
  await expect.poll(connections).toBeLessThanOrEqual(1);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(logged).toEqual([]);
  await app.close();
});

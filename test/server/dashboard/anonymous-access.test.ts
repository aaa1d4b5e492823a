import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeDashboardApp } from '../../support/dashboard-app.ts';
import { makeStore } from '../../support/make-store.ts';

/** Paths of the sign-in page and its assets, which contain no data of any account. */
const isOpen = new Set(['/sign-in', '/assets/dashboard.css', '/assets/mark.svg', '/assets/live.js']);
/** Every HTTP route of the server, by method. */
const found: (readonly [string, string])[] = [];
const health = { '/healthz': '{"status":"ok"}', '/readyz': '{"status":"ok"}' } as const;

let made: Awaited<ReturnType<typeof makeStore>>;
let app: ReturnType<typeof makeDashboardApp>;
beforeAll(async () => {
  made = await makeStore();
  await made.store.enqueue({
    door: 'cron',
    uuid: 'acme',
    kind: 'sweep',
    lane: 'acme',
    receivedAt: new Date(),
    payload: 4711,
  });
  app = makeDashboardApp(made.store);
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) found.push([one, url]);
  });
  await app.ready();
});
afterAll(async () => {
  await app.close();
  await made.close();
});

it('an anonymous client gets no data from any route except health, and from health only the state', async () => {
  expect(found).toEqual(
    expect.arrayContaining([
      ['GET', '/metrics'],
      ['GET', '/'],
      ['GET', '/deliveries/:id/payload'],
      ['POST', '/deliveries/:id/run'],
      ['POST', '/webhook'],
    ]),
  );

  for (const [method, path] of [...found, ...Object.keys(health).map((path) => ['GET', path] as const)]) {
    const answer = await app.inject({ method: method as 'GET', url: path });
    if (path in health) {
      expect(answer.statusCode, path).toBe(200);
      expect(answer.body).toBe(health[path as keyof typeof health]);
      continue;
    }
    if (isOpen.has(path)) continue;
    expect([401, 404, 405, 415], `${method} ${path}: ${answer.statusCode}`).toContain(answer.statusCode);
    expect(answer.body).not.toMatch(/reeve_|process_|4711|acme/);
  }
});

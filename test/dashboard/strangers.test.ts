import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApp } from '../../src/app.ts';
import { createMetrics } from '../../src/dashboard/metrics.ts';
import { silentLog } from '../../src/log.ts';
import { makeStore } from '../support/make-store.ts';

const password = 'a password of this installation';
const health = { '/healthz': '{"status":"ok"}', '/readyz': '{"status":"ok"}' } as const;

let made: Awaited<ReturnType<typeof makeStore>>;
let app: ReturnType<typeof createApp>;
beforeAll(async () => {
  made = await makeStore();
  const readings = {
    store: made.store,
    now: () => new Date(),
    runners: async () => [],
    sweeps: async () => [],
  };
  const metrics = createMetrics();
  const secrets = [{ name: 'all', scope: ['*'], authorization: ['x'.repeat(24)], hmac: [] }];
  app = createApp({
    store: made.store,
    log: silentLog,
    secrets,
    metrics,
    readings,
    password,
    onStored: () => {},
  });
  await app.ready();
});
afterAll(async () => {
  await app.close();
  await made.close();
});

/** Every route there is, by method. */
function routes(): readonly (readonly [string, string])[] {
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, path, methods = ''] = /(\/\S*) \(([^)]+)\)/.exec(line) ?? [];
      return path === undefined ? [] : methods.split(', ').map((method) => [method, path] as const);
    });
}

it('learns from no route but its health, and of that only its state', async () => {
  const found = routes();
  expect(found).toEqual(
    expect.arrayContaining([
      ['GET', '/metrics'],
      ['POST', '/webhook'],
      ['GET', '/healthz'],
    ]),
  );

  for (const [method, path] of found) {
    const answer = await app.inject({ method: method as 'GET', url: path });
    if (path in health) {
      expect(answer.statusCode, path).toBe(200);
      if (method === 'GET') expect(answer.body).toBe(health[path as keyof typeof health]);
      continue;
    }
    expect([401, 404, 405, 415], `${method} ${path}: ${answer.statusCode}`).toContain(answer.statusCode);
    expect(answer.body).not.toMatch(/reeve_|process_/);
  }
});

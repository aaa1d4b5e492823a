import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOAuth2 } from '../../../../src/client/oauth2.ts';
import { operations } from '../../../../src/contract/operations.ts';
import { ReeveError } from '../../../../src/platform/errors.ts';
import { redirectUri } from '../../../../src/server/dashboard/sign-in/forge-sign-in.ts';
import { openPostgresStore } from '../../../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../../../src/store/store.ts';
import { dashboardPassword, makeDashboardApp } from '../../../support/dashboard-app.ts';
import { createDashboardClient, signInWithPassword } from '../../../support/dashboard-client.ts';
import { type FlowForge, startFlowForge } from '../../../support/flow-forge.ts';
import { passwordOf } from '../../../support/flow-names.ts';
import { openMiniBrowser } from '../../../support/mini-browser.ts';
import { connectDirectly, makeSchema } from '../../../support/postgres.ts';

let data: string;
let forge: FlowForge;
let schema: string;
const stores: Store[] = [];
const apps: FastifyInstance[] = [];
/** URL of each process. */
const urls: string[] = [];
/** Proxy in front of the processes, which forwards requests to each process in turn. */
let proxy: Server;
let url: string;
let turn = 0;
let nowMs = 0;
let now = new Date('2030-01-01T00:00:00Z');
/** Refresh tokens used in a round. This forge accepts each token only once. */
const used: string[] = [];

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'reeve-shared-sessions-'));
  forge = await startFlowForge({ data, on: 'the embedded forge' });
  const root = await forge.makePerson('root', { isAdministrator: true });
  await forge.makePerson('ada');
  proxy = createServer((request, response) => {
    const target = urls[turn++ % urls.length] ?? '';
    const passed = forward(
      `${target}${request.url}`,
      { method: request.method ?? '', headers: request.headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${portOf(proxy)}`;
  const made = await root.call(operations.createOAuth2Application, {
    body: { name: 'Reeve', redirect_uris: [redirectUri(url)], confidential_client: true },
  });
  const application = { clientId: made.client_id ?? '', clientSecret: made.client_secret ?? '' };
  const oauth2 = createOAuth2({ url: forge.url, application });
  const once: typeof oauth2 = {
    ...oauth2,
    async refresh(token) {
      if (used.includes(token)) throw new ReeveError('forge-refused', 'the token was used before');
      used.push(token);
      return oauth2.refresh(token);
    },
  };
  schema = await makeSchema();
  const signInKey = randomBytes(32);
  for (let n = 0; n < 2; n += 1) {
    const store = await openPostgresStore({ url: schema, role: 'web', isVolatile: true });
    const app = makeDashboardApp(
      store,
      {
        forge: { oauth2: once, url: forge.url, redirectUri: redirectUri(url) },
        dashboardUrl: url,
        signInKey,
        clock: { monotonicMs: () => nowMs },
      },
      () => now,
    );
    await app.listen({ port: 0, host: '127.0.0.1' });
    stores.push(store);
    apps.push(app);
    urls.push(`http://127.0.0.1:${portOf(app.server)}`);
  }
});
afterAll(async () => {
  proxy.close();
  for (const app of apps) await app.close();
  for (const store of stores) await store.close();
  await forge.close();
  await rm(data, { recursive: true, force: true });
});

const [first, second] = [() => urls[0] ?? '', () => urls[1] ?? ''];
/** Returns the status of a page at each process for a request with this cookie. */
const statusesOf = (cookie: string, path = '/'): Promise<readonly number[]> =>
  Promise.all(
    urls.map(
      async (base) => (await fetch(`${base}${path}`, { headers: { cookie }, redirect: 'manual' })).status,
    ),
  );
const passwordCookie = async (base: string): Promise<string> => {
  const body = new URLSearchParams({ password: dashboardPassword });
  const answer = await fetch(`${base}/sign-in`, { method: 'POST', body, redirect: 'manual' });
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
};
/** Signs in on the forge through the proxy and returns the cookie. */
const forgeCookie = async (name: string): Promise<string> => {
  const browser = openMiniBrowser();
  const form = await browser.go(`${url}/sign-in/forge`);
  const consent = await browser.submit(form, '/login/oauth/sign-in', {
    user_name: name,
    password: passwordOf(name),
  });
  if (!consent.url.startsWith(url)) await browser.submit(consent, '/login/oauth/grant', { granted: 'true' });
  return browser.cookiesOf(url);
};

describe('a person who signed in with the password', () => {
  it('is signed in at every process, and can submit the form of one process to another', async () => {
    const operator = await signInWithPassword(url, dashboardPassword);

    for (let n = 0; n < 4; n += 1) expect((await operator.get('/runs')).status).toBe(200);
    // One process serves the page, and the other process receives the form.
    const turnBefore = turn;
    expect((await operator.submit('/', 'sign-out')).status).toBe(303);
    expect(turn - turnBefore).toBe(2);
    for (let n = 0; n < 2; n += 1) expect((await operator.get('/runs')).status).toBe(401);
  });

  it('is signed out everywhere after signing out at one process', async () => {
    const cookie = await passwordCookie(first());
    expect(await statusesOf(cookie)).toEqual([200, 200]);

    await createDashboardClient(second(), cookie).submit('/', 'sign-out');

    expect(await statusesOf(cookie)).toEqual([401, 401]);
  });

  it('is signed out everywhere when the session ends, or when all sessions end', async () => {
    const [ended, other] = [await passwordCookie(first()), await passwordCookie(second())];
    const database = await connectDirectly(schema);
    const { rows } = await database.query('SELECT ends_at - sealed_at AS life FROM sessions LIMIT 1');
    expect(rows[0].life.toPostgres()).toBe('12 hours');
    await database.query(
      'UPDATE sessions SET ends_at = now() WHERE number = (SELECT min(number) FROM sessions)',
    );
    await database.end();

    expect(await statusesOf(ended)).toEqual([401, 401]);
    expect(await statusesOf(other)).toEqual([200, 200]);
    await stores[0]?.sessions.removeAll();
    expect(await statusesOf(other)).toEqual([401, 401]);
  });

  it('needs the cookie: neither a key from the database nor a guess opens a session', async () => {
    const cookie = await passwordCookie(first());
    const database = await connectDirectly(schema);
    const { rows } = await database.query('SELECT key, sealed FROM sessions');
    await database.end();

    expect(rows).toHaveLength(1);
    const [name = '', id = ''] = cookie.split('=');
    expect(JSON.stringify(rows)).not.toContain(id);
    for (const value of [rows[0].key, rows[0].sealed, id.slice(1), `${id}A`, 'A'.repeat(43), '']) {
      expect(await statusesOf(`${name}=${value}`)).toEqual([401, 401]);
    }
    expect(await statusesOf(cookie)).toEqual([200, 200]);
  });
});

describe('a person who signed in with a forge account', () => {
  it('is sent from one process to the forge, returns to another process, and is signed in at both', async () => {
    const cookie = await forgeCookie('ada');

    expect(await statusesOf(cookie, '/deliveries')).toEqual([200, 200]);
    // Ada is not an operator at any process; the administrator is an operator at all of them.
    expect(await statusesOf(cookie, '/runs')).toEqual([403, 403]);
    expect(await statusesOf(await forgeCookie('root'), '/runs')).toEqual([200, 200]);
    const page = await createDashboardClient(second(), cookie).get('/deliveries');
    expect(page.text).toContain('@ada');
  });

  it('leaves no readable token in the database', async () => {
    await forgeCookie('ada');
    const database = await connectDirectly(schema);
    const { rows } = await database.query(
      'SELECT person, is_operator, sealed FROM sessions ORDER BY number DESC',
    );
    await database.end();

    expect(rows[0]).toMatchObject({ person: expect.stringMatching(/^@ada \(\d+\)$/), is_operator: false });
    for (const { sealed } of rows) {
      expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toMatch(
        /accessToken|refreshToken|"kind":"|is_admin/i,
      );
    }
  });

  it('is renewed once if several processes need a new token at the same time, and stays signed in', async () => {
    const cookie = await forgeCookie('ada');
    expect(await statusesOf(cookie, '/deliveries')).toEqual([200, 200]);
    for (let round = 1; round <= 3; round += 1) {
      used.length = 0;
      nowMs += 7_200_000;

      expect(await statusesOf(cookie, '/deliveries')).toEqual([200, 200]);
      expect(used).toHaveLength(1);
    }
  });

  it('is refused with a sign-in cookie that another key signed, or that is ten minutes old', async () => {
    const browser = openMiniBrowser();
    await browser.go(`${url}/sign-in/forge`);
    const [name = '', held = ''] = browser.cookiesOf(url).split('=');
    const [state = ''] = held.split('.');
    const problemOf = async (value: string): Promise<string> => {
      const answer = await fetch(`${second()}/sign-in/callback?code=x&state=${state}`, {
        headers: { cookie: `${name}=${value}` },
      });
      return /role="alert">([^<]*)/.exec(await answer.text())?.[1] ?? '';
    };

    // The code is wrong, but the cookie shows that this browser started the sign-in.
    expect(await problemOf(held)).toContain('The forge did not accept the sign-in');
    for (const value of [`${held.slice(0, -1)}x`, `${state}.v.L3.99999999999999.${'0'.repeat(64)}`, state]) {
      expect(await problemOf(value)).toContain('not started in this browser');
    }
    now = new Date(now.getTime() + 600_000);
    expect(await problemOf(held)).toContain('not started in this browser');
  });
});

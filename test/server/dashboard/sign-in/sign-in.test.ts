import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dashboardPassword, makeDashboardApp } from '../../../support/dashboard-app.ts';
import { makeStore } from '../../../support/make-store.ts';

let made: Awaited<ReturnType<typeof makeStore>>;
let app: FastifyInstance;
let nowMs = 0;
let now = new Date('2030-01-01T00:00:00Z');
beforeAll(async () => {
  made = await makeStore({ clock: { now: () => now, monotonicMs: () => nowMs } });
  app = makeDashboardApp(
    made.store,
    { clock: { monotonicMs: () => nowMs }, dashboardUrl: 'https://reeve.example.org/bot/' },
    () => now,
  );
});
afterAll(async () => {
  await app.close();
  await made.close();
});

const post = (url: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
  app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(form).toString(),
  });
const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });
const signIn = (headers: Record<string, string> = {}, to = '/') =>
  post('/sign-in', { password: dashboardPassword, to }, headers);
const cookieOf = (answer: { headers: Record<string, unknown> }): string =>
  String(answer.headers['set-cookie'] ?? '').split(';')[0] ?? '';

describe('an anonymous viewer', () => {
  it('gets the sign-in form with 401 on every page, and returns to that page after signing in', async () => {
    for (const path of ['/', '/deliveries?state=dead', '/runs/4711', '/rules']) {
      const answer = await get(path);
      expect(answer.statusCode).toBe(401);
      expect(answer.headers['www-authenticate']).toContain('Session');
      expect(answer.body).toContain(`name="to" value="${path}"`);
      expect(answer.body).not.toContain('<nav');
    }
  });

  it('cannot submit a form', async () => {
    const answer = await post('/deliveries/dead/run', { mark: '00' });

    expect(answer.statusCode).toBe(401);
  });

  it.each(['', 'x', `${dashboardPassword} `, dashboardPassword.toUpperCase()])(
    'is not signed in with the password %j',
    async (password) => {
      const answer = await post('/sign-in', { password });

      expect([401, 429]).toContain(answer.statusCode);
      expect(answer.headers['set-cookie']).toBeUndefined();
    },
  );

  it('is rejected without a password comparison for a minute after ten wrong passwords', async () => {
    const codes = [];
    for (let i = 0; i < 12; i += 1) codes.push((await post('/sign-in', { password: 'no' })).statusCode);
    const right = await signIn();
    const elsewhere = await app.inject({
      method: 'POST',
      url: '/sign-in',
      remoteAddress: '192.0.2.7',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ password: dashboardPassword }).toString(),
    });
    now = new Date(now.getTime() + 60_000);

    expect(codes.slice(-2)).toEqual([429, 429]);
    expect([right.statusCode, right.headers['set-cookie']]).toEqual([429, undefined]);
    expect(right.headers['retry-after']).toBe('60');
    expect(elsewhere.statusCode).toBe(303);
    expect((await signIn()).statusCode).toBe(303);
  });

  it('is not signed in by a form submitted from another site', async () => {
    const answer = await signIn({ 'sec-fetch-site': 'cross-site' });

    expect(answer.statusCode).toBe(403);
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  it('cannot submit a large form or another content type', async () => {
    const large = await post('/sign-in', { password: 'x'.repeat(9_000) });
    const json = await app.inject({
      method: 'POST',
      url: '/sign-in',
      payload: { password: dashboardPassword },
    });

    expect([large.statusCode, json.statusCode]).toEqual([413, 415]);
  });

  it('cannot sign in through the forge if that is not configured', async () => {
    expect((await get('/sign-in')).body).not.toContain('forge account');
    expect((await get('/sign-in/forge')).statusCode).toBe(404);
    expect((await get('/sign-in/callback?code=a&state=b')).statusCode).toBe(404);
  });
});

describe('the password', () => {
  it('grants full access through a cookie that scripts and other sites cannot read', async () => {
    const answer = await signIn({}, '/deliveries?state=dead');
    const cookie = String(answer.headers['set-cookie']);

    expect(answer.statusCode).toBe(303);
    expect(answer.headers.location).toBe('./deliveries?state=dead');
    expect(cookie).toMatch(/^reeve_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
    const page = await get('/', { cookie: cookieOf(answer) });
    expect(page.statusCode).toBe(200);
    expect(page.body).toContain('operator');
  });

  it('sets a secure cookie at an HTTPS address, and accepts no other cookie there', async () => {
    const host = 'reeve.example.org';
    const answer = await signIn({ host });

    expect(String(answer.headers['set-cookie'])).toMatch(
      /^__Host-reeve_session=.*; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect((await get('/', { host, cookie: cookieOf(answer) })).statusCode).toBe(200);
    const stripped = cookieOf(answer).replace('__Host-', '');
    expect((await get('/', { host, cookie: stripped })).statusCode).toBe(401);
  });

  it.each([
    '//evil.example/',
    'https://evil.example/',
    '/\\evil.example',
    '/deliveries/../../x',
    '/javascript:alert(1)',
    '/a\r\nset-cookie: x=y',
  ])('never redirects to %j', async (to) => {
    const answer = await signIn({}, to);

    expect(answer.headers.location).toBe('./');
  });

  it('is valid for twelve hours', async () => {
    const cookie = cookieOf(await signIn());

    nowMs += 12 * 3_600_000 - 1;
    expect((await get('/', { cookie })).statusCode).toBe(200);
    nowMs += 1;
    expect((await get('/', { cookie })).statusCode).toBe(401);
  });

  it('starts a new session every time, and ends the previous one', async () => {
    const first = cookieOf(await signIn());
    const second = cookieOf(await signIn({ cookie: first }));

    expect(second).not.toBe(first);
    expect((await get('/', { cookie: first })).statusCode).toBe(401);
    expect((await get('/', { cookie: second })).statusCode).toBe(200);
  });

  it('is still required from a client with the id of a session that never existed', async () => {
    expect((await get('/', { cookie: `reeve_session=${'A'.repeat(43)}` })).statusCode).toBe(401);
    expect((await get('/', { cookie: 'reeve_session=' })).statusCode).toBe(401);
  });
});

describe('many sessions', () => {
  it("of one person end that person's oldest sessions", async () => {
    const cookies: string[] = [];
    for (let n = 0; n < 12; n += 1) cookies.push(cookieOf(await signIn()));

    const codes = await Promise.all(cookies.map(async (cookie) => (await get('/', { cookie })).statusCode));

    expect(codes).toEqual([401, 401, ...Array(10).fill(200)]);
  });
});

describe('a link from another site', () => {
  const elsewhere = {
    'sec-fetch-site': 'cross-site',
    'sec-fetch-mode': 'navigate',
    'sec-fetch-dest': 'document',
  };

  it('is redirected to the same page from our own site, so that the browser sends the session cookie', async () => {
    const answer = await get('/deliveries/7?x=%22%3E', elsewhere);

    expect(answer.statusCode).toBe(200);
    expect(answer.body).toContain('content="0; url=../deliveries/7?x=%22%3E"');
    expect(answer.body).not.toContain('Password');
  });

  it('is not redirected in a frame or for a form', async () => {
    expect((await get('/deliveries/7', { ...elsewhere, 'sec-fetch-dest': 'iframe' })).statusCode).toBe(401);
    expect((await post('/sign-out', {}, elsewhere)).statusCode).toBe(401);
  });
});

describe('signing out', () => {
  const markOf = (body: string) =>
    /action="[^"]*sign-out"><input type="hidden" name="mark" value="(\w+)"/.exec(body)?.[1];

  it('ends the session for good', async () => {
    const cookie = cookieOf(await signIn());
    const mark = markOf((await get('/', { cookie })).body) ?? '';

    const answer = await post('/sign-out', { mark }, { cookie });

    expect(answer.statusCode).toBe(303);
    expect(String(answer.headers['set-cookie'])).toContain('Max-Age=0');
    expect((await get('/', { cookie })).statusCode).toBe(401);
  });

  it('requires a token of this session, submitted from our own site', async () => {
    const [cookie, other] = [cookieOf(await signIn()), cookieOf(await signIn())];
    const mark = markOf((await get('/', { cookie })).body) ?? '';
    const foreign = markOf((await get('/', { cookie: other })).body) ?? '';

    for (const [given, headers] of [
      ['', {}],
      [foreign, {}],
      [mark.replace(/^./, (sign) => (sign === '0' ? '1' : '0')), {}],
      [mark, { 'sec-fetch-site': 'cross-site' }],
      [mark, { 'sec-fetch-site': 'same-site' }],
    ] as const) {
      expect((await post('/sign-out', { mark: given }, { cookie, ...headers })).statusCode).toBe(403);
    }
    expect((await get('/', { cookie })).statusCode).toBe(200);
  });
});

describe('the host name of a request', () => {
  it.each([
    '127.0.0.1:8080',
    '[::1]:8080',
    'localhost:8080',
    '192.168.1.5',
    'reeve.example.org',
    'REEVE.example.org.',
  ])('may be %s', async (host) => {
    expect((await get('/sign-in', { host })).statusCode).toBe(200);
  });

  it.each(['evil.example', 'localhost.evil.example', 'reeve.example.org.evil.example', '127.0.0.1.nip.io'])(
    'cannot be %j, which may be a hostile page that points here',
    async (host) => {
      const answer = await get('/', { host });

      expect(answer.statusCode).toBe(421);
      expect(answer.body).toContain('dashboard.url');
    },
  );

  it('does not matter for the receiver and for health', async () => {
    expect((await get('/healthz', { host: 'anything' })).statusCode).toBe(200);
    expect(
      (await app.inject({ method: 'POST', url: '/webhook', headers: { host: 'anything' } })).statusCode,
    ).toBe(415);
  });
});

it('every response restricts what browsers may do with it', async () => {
  const cookie = cookieOf(await signIn());
  for (const answer of [
    await get('/'),
    await get('/', { cookie }),
    await get('/runs/4711', { cookie }),
    await signIn(),
  ]) {
    expect(answer.headers).toMatchObject({
      'content-security-policy':
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
    });
  }
});

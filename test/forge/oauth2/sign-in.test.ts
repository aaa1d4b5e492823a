import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, startEmbedded } from '../../support/contract-forge.ts';

type Forge = Awaited<ReturnType<typeof startEmbedded>>;
type Application = { client_id: string; client_secret: string; id: number };
const address = 'http://127.0.0.1/back';

describe('signing in to an application', () => {
  let forge: Forge;
  let ada: Account;
  let bob: Account;
  let open: Application;
  let closed: Application;
  beforeAll(async () => {
    forge = await startEmbedded();
    ada = await forge.makeUser();
    bob = await forge.makeUser();
    open = await makeApplication({});
    closed = await makeApplication({ confidential_client: true });
  });
  afterAll(() => forge.close());

  async function makeApplication(more: object): Promise<Application> {
    const body = { name: 'Dash <b>', redirect_uris: [address], ...more };
    return (await forge.ask('POST', '/user/applications/oauth2', { as: ada, body })).json;
  }

  /** A minimal browser: cookies, forms, and no redirects followed. */
  function browse() {
    let cookie = '';
    const send = async (path: string, init: RequestInit = {}) => {
      const headers = { ...(init.headers as Record<string, string>), cookie };
      const response = await fetch(`${forge.url}${path}`, { redirect: 'manual', ...init, headers });
      cookie = response.headers.get('set-cookie')?.split(';')[0] ?? cookie;
      return { response, text: await response.text(), location: response.headers.get('location') ?? '' };
    };
    return {
      open: (path: string) => send(path),
      submit(text: string, given: Record<string, string>, headers: Record<string, string> = {}) {
        const action = /action="([^"]+)"/.exec(text)?.[1] ?? '';
        const fields = [...text.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
        const kept = fields.map(([, name, value]) => [name, (value ?? '').replaceAll('&amp;', '&')] as const);
        const body = new URLSearchParams([
          ...kept.map(([name, value]) => [name ?? '', value]),
          ...Object.entries(given),
        ]);
        return send(action, { method: 'POST', body, headers });
      },
    };
  }

  const ask = (application: Application, more: Record<string, string> = {}) =>
    `/login/oauth/authorize?${new URLSearchParams({
      client_id: application.client_id,
      redirect_uri: address,
      response_type: 'code',
      state: 'st&te',
      ...more,
    })}`;

  const verifier = randomBytes(32).toString('base64url');
  const challenge = {
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };

  async function signedIn(path: string, who: Account = bob) {
    const browser = browse();
    const first = await browser.open(path);
    const { location } = await browser.submit(first.text, { user_name: who.name, password: who.password });
    return { browser, next: await browser.open(location) };
  }

  async function codeFor(application: Application, more: Record<string, string> = {}, who: Account = bob) {
    const { browser, next } = await signedIn(ask(application, more), who);
    const known = next.location !== '';
    const { location } = known ? next : await browser.submit(next.text, { granted: 'true' });
    const back = new URL(location);
    return { back, code: back.searchParams.get('code') ?? '' };
  }

  async function redeem(form: Record<string, string>, headers: Record<string, string> = {}) {
    const body = new URLSearchParams({ grant_type: 'authorization_code', redirect_uri: address, ...form });
    const response = await fetch(`${forge.url}/login/oauth/access_token`, { method: 'POST', body, headers });
    return { status: response.status, json: await response.json() };
  }

  const secretOf = ({ client_id, client_secret }: Application) => ({ client_id, client_secret });

  it('asks for the password, then for consent, and sends the application a code', async () => {
    const { next } = await signedIn(ask(open, { ...challenge, scope: 'read:user' }));
    const { back, code } = await codeFor(open, { ...challenge, scope: 'read:user' });
    const tokens = await redeem({ client_id: open.client_id, code, code_verifier: verifier });

    expect(next.text).toContain('Dash &lt;b&gt;');
    expect(next.text).toContain('read:user');
    expect([back.origin + back.pathname, back.searchParams.get('state')]).toEqual([address, 'st&te']);
    expect(tokens.status).toBe(200);
    expect(tokens.json).toMatchObject({ token_type: 'bearer', expires_in: 3600 });
    const self = await forge.ask('GET', '/user', {
      headers: { authorization: `Bearer ${tokens.json.access_token}` },
    });
    expect(self.json.login).toBe(bob.name);
  });

  it('allows only what the account consented to, and nothing once the application is deleted', async () => {
    const application = await makeApplication({ confidential_client: true });
    const { code } = await codeFor(application, { scope: 'read:user' });
    const { json } = await redeem({ ...secretOf(application), code });
    const use = (path: string) => forge.ask('GET', path, { as: json.access_token });

    expect([(await use('/user')).status, (await use('/notifications')).status]).toEqual([200, 403]);
    expect((await forge.ask('GET', '/token', { as: json.access_token })).status).toBe(404);
    await forge.ask('DELETE', `/user/applications/oauth2/${application.id}`, { as: ada });
    expect((await use('/user')).status).toBe(401);
  });

  it('also limits access outside the API to what the account consented to', async () => {
    const repository = await forge.makeRepository(bob, { private: true, auto_init: true });
    const application = await makeApplication({ confidential_client: true });
    const { code } = await codeFor(application, { scope: 'read:misc' });
    const { json } = await redeem({ ...secretOf(application), code });
    const paths = ['raw/branch/main/README.md', 'archive/main.zip', 'info/refs?service=git-upload-pack', ''];

    for (const path of paths) {
      const use = (token: string) =>
        fetch(`${forge.url}/${repository}/${path}`, { headers: { authorization: `Bearer ${token}` } });

      expect([(await use(json.access_token)).status, (await use(bob.token)).status]).toEqual([403, 200]);
    }
  });

  it('accepts a code once, and issues new tokens for the refresh token', async () => {
    const { code } = await codeFor(closed);
    const first = await redeem({ ...secretOf(closed), code });
    const second = await redeem({ ...secretOf(closed), code });
    const refresh = { grant_type: 'refresh_token', refresh_token: first.json.refresh_token };
    const again = await redeem({ ...refresh, ...secretOf(closed) });
    const stolen = await redeem({ ...refresh, client_id: open.client_id });
    const swapped = await redeem({ ...refresh, refresh_token: first.json.access_token, ...secretOf(closed) });
    const asAccess = await forge.ask('GET', '/user', { as: first.json.refresh_token });

    expect([first.status, second.status, again.status]).toEqual([200, 400, 200]);
    expect([second.json.error, stolen.json.error, swapped.json.error]).toEqual([
      'unauthorized_client',
      'invalid_grant',
      'unauthorized_client',
    ]);
    expect(asAccess.status).toBe(401);
  });

  it.each([
    ['a wrong verifier', { code_verifier: 'guess' }, 'unauthorized_client'],
    ['no verifier', {}, 'unauthorized_client'],
    [
      'another redirect URI',
      { code_verifier: verifier, redirect_uri: 'http://127.0.0.1:1/back' },
      'invalid_grant',
    ],
    ['an unknown client', { client_id: 'missing' }, 'invalid_client'],
    ['an unsupported grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
  ])('refuses a code sent with %s, and accepts the code afterwards', async (_, wrong, error) => {
    const { code } = await codeFor(open, { ...challenge, scope: 'read:user' });
    const refused = await redeem({ client_id: open.client_id, code, ...wrong });
    const taken = await redeem({ client_id: open.client_id, code, code_verifier: verifier });

    expect([refused.status, refused.json.error]).toEqual([400, error]);
    expect(taken.status).toBe(200);
  });

  it('accepts the secret of a confidential application in the form or as Basic credentials, but no wrong secret', async () => {
    const inHeader = {
      authorization: `Basic ${Buffer.from(`${closed.client_id}:${closed.client_secret}`).toString('base64')}`,
    };
    const right = await redeem({ code: (await codeFor(closed)).code }, inHeader);
    const wrong = await redeem({ client_id: closed.client_id, client_secret: 'gto_x', code: 'gta_x' });
    const both = await redeem({ client_id: 'other', code: 'gta_x' }, inHeader);

    expect([right.status, wrong.json.error, both.json.error]).toEqual([
      200,
      'unauthorized_client',
      'invalid_request',
    ]);
  });

  it.each([
    ['an unknown application', { client_id: 'missing' }],
    ['an unregistered redirect URI', { redirect_uri: 'https://evil.example.org/' }],
    [
      'a redirect URI that only begins like a registered one',
      { redirect_uri: `${address}.evil.example.org` },
    ],
  ])('does not redirect for %s', async (_, wrong) => {
    const { response, location } = await browse().open(ask(open, { ...challenge, ...wrong }));

    expect([response.status, location]).toEqual([400, '']);
  });

  it.each([
    ['a code without PKCE for a public application', {}, 'invalid_request'],
    [
      'a code with an unknown challenge method',
      { code_challenge: 'x', code_challenge_method: 'S1' },
      'invalid_request',
    ],
    ['a token instead of a code', { ...challenge, response_type: 'token' }, 'unsupported_response_type'],
  ])('redirects with the error if the application requests %s', async (_, wrong, error) => {
    const { location } = await browse().open(ask(open, wrong));

    expect(new URL(location).searchParams.get('error')).toBe(error);
    expect(new URL(location).searchParams.get('state')).toBe('st&te');
  });

  it('allows any port for an application on loopback', async () => {
    const { response } = await browse().open(
      ask(open, { ...challenge, redirect_uri: 'http://127.0.0.1:8123/back' }),
    );

    expect(response.status).toBe(200);
  });

  it('reports a denied consent to the application', async () => {
    const { browser, next } = await signedIn(ask(await makeApplication({}), challenge));
    const { location } = await browser.submit(next.text, { granted: 'false' });

    expect(new URL(location).searchParams.get('error')).toBe('access_denied');
  });

  it('accepts consent only from its own page, and only for exactly what that page showed', async () => {
    const application = await makeApplication({});
    const { browser, next } = await signedIn(ask(application, { ...challenge, scope: 'read:user' }));

    const wider = await browser.submit(next.text.replace('value="read:user"', 'value="write:admin"'), {
      granted: 'true',
    });
    const foreign = await browser.submit(next.text, { granted: 'true' }, { 'sec-fetch-site': 'cross-site' });
    const unmarked = await browser.submit(next.text.replace(/name="mark" value="\w+"/, ''), {
      granted: 'true',
    });
    const stranger = await browse().submit(next.text, { granted: 'true' });

    for (const { response, location } of [wider, foreign, unmarked, stranger]) {
      expect([response.status, location]).toEqual([403, '']);
    }
  });

  it('refuses a wrong password and a token in place of the password, and renews the session at sign-in', async () => {
    const browser = browse();
    const first = await browser.open(ask(closed));
    const before = first.response.headers.get('set-cookie');
    const wrong = await browser.submit(first.text, { user_name: bob.name, password: 'guess' });
    const token = await browser.submit(first.text, { user_name: bob.name, password: bob.token });
    const right = await browser.submit(first.text, { user_name: bob.name, password: bob.password });

    expect([wrong.response.status, token.response.status, right.response.status]).toEqual([401, 401, 303]);
    expect(right.response.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Lax/);
    expect(right.response.headers.get('set-cookie')).not.toBe(before);
  });

  it('issues a signed id token for clients with the openid scope', async () => {
    const organization = await forge.makeOrganization(bob);
    const { code } = await codeFor(await makeApplicationOnce(), {
      scope: 'openid profile email groups',
      nonce: 'n1',
    });
    const { json } = await redeem({ ...secretOf(await makeApplicationOnce()), code });
    const information = await fetch(`${forge.url}/login/oauth/userinfo`, {
      headers: { authorization: `Bearer ${json.access_token}` },
    });
    const keys = (await (await fetch(`${forge.url}/login/oauth/keys`)).json()) as { keys: object[] };
    const anonymous = await fetch(`${forge.url}/login/oauth/userinfo`);

    expect(await information.json()).toMatchObject({
      preferred_username: bob.name,
      groups: [organization, `${organization}:owners`],
    });
    const [head, body, signature] = json.id_token.split('.');
    const key = createPublicKey({ key: keys.keys[0] as never, format: 'jwk' });
    expect(verify('sha256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))).toBe(
      true,
    );
    expect(JSON.parse(Buffer.from(body, 'base64url').toString())).toMatchObject({
      nonce: 'n1',
      iss: forge.url,
      preferred_username: bob.name,
    });
    expect([anonymous.status, anonymous.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="Gitea OAuth2"',
    ]);
  });

  let once: Application | undefined;
  async function makeApplicationOnce(): Promise<Application> {
    once ??= await makeApplication({ confidential_client: true });
    return once;
  }

  it('rejects tokens that the forge did not sign', async () => {
    const { code } = await codeFor(closed);
    const { json } = await redeem({ ...secretOf(closed), code });
    const [head, body, signature] = json.access_token.split('.');
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
    const root = Buffer.from(JSON.stringify({ gnt: 1, tt: 0, exp: 9_999_999_999 })).toString('base64url');

    for (const forged of [
      `${none}.${body}.`,
      `${head}.${root}.${signature}`,
      `${head}.${body}`,
      'a.b.c',
      '...',
    ]) {
      expect((await forge.ask('GET', '/user', { as: forged })).status).toBe(401);
    }
  });

  it('shows pages without scripts, and forbids framing', async () => {
    const { response, text } = await browse().open(ask(closed));
    const policy = response.headers.get('content-security-policy') ?? '';

    expect(text).not.toContain('<script');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("form-action 'self' http://127.0.0.1");
    expect(policy).toContain("frame-ancestors 'none'");
  });
});

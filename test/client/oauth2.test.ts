import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createOAuth2, type OAuth2 } from '../../src/client/oauth2.ts';
import { type BareServer, startBareServer } from '../support/bare-server.ts';

const application = { clientId: 'id of reeve', clientSecret: 'a secret of the application' };
const proof = { verifier: 'a verifier', redirectUri: 'https://reeve.example/sign-in/callback' };

let server: BareServer;
let oauth2: OAuth2;
let answer: { status: number; body: string; headers: Record<string, string> };
beforeAll(async () => {
  server = await startBareServer((_request, response) => {
    response
      .writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
      .end(answer.body);
  });
});
afterAll(() => server.close());
beforeEach(() => {
  server.requests.length = 0;
  oauth2 = createOAuth2({ url: `${server.url}/forge/api/v1`, application });
});

const formOf = (index = 0) => Object.fromEntries(new URLSearchParams(server.requests[index]?.body));
const says = (status: number, body: unknown, headers = {}): void => {
  answer = { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
};

describe('a code', () => {
  it('is exchanged for tokens at the configured forge, below its path', async () => {
    says(200, { access_token: 'a', refresh_token: 'r', expires_in: 3600, token_type: 'bearer' });

    const tokens = await oauth2.redeem('the code', proof);

    expect(tokens).toEqual({ accessToken: 'a', refreshToken: 'r', expiresInMs: 3_600_000 });
    expect(server.requests).toMatchObject([{ method: 'POST', path: '/forge/login/oauth/access_token' }]);
    expect(formOf()).toEqual({
      grant_type: 'authorization_code',
      code: 'the code',
      code_verifier: proof.verifier,
      redirect_uri: proof.redirectUri,
      client_id: application.clientId,
      client_secret: application.clientSecret,
    });
  });

  it("that the forge refuses is reported with the forge's message, without the sent values", async () => {
    says(400, {
      error: 'unauthorized_client',
      error_description: `client is not authorized: ${application.clientSecret}, the code`,
    });

    const thrown = await oauth2.redeem('the code', proof).catch((error: unknown) => error);

    expect(thrown).toMatchObject({ code: 'forge-refused', status: 400 });
    expect(inspect(thrown, { depth: 9 })).toContain('unauthorized_client: client is not authorized');
    for (const secret of [application.clientSecret, 'the code', proof.verifier]) {
      expect(inspect(thrown, { depth: 9 })).not.toContain(secret);
    }
  });

  it.each([
    [200, '{}', 'forge-junk'],
    [200, '{"access_token":""}', 'forge-junk'],
    [200, '{"access_token":4711}', 'forge-junk'],
    [200, '<html>', 'forge-junk'],
    [200, '', 'forge-junk'],
    [302, '', 'forge-junk'],
    [400, '{}', 'forge-refused'],
    [400, '{"error":"slow_down"}', 'forge-refused'],
    [404, '{}', 'forge-not-found'],
    [429, '', 'forge-throttled'],
    [200, 'x'.repeat(70_000), 'forge-unexpected'],
  ])('yields no token if the response is %i %s', async (status, body, code) => {
    says(status, body, { location: 'http://127.0.0.1:1/elsewhere' });

    await expect(oauth2.redeem('the code', proof)).rejects.toMatchObject({ code });
    expect(server.requests).toHaveLength(1);
  });

  it('that cannot be redeemed is reported with the kind of failure, without waiting', async () => {
    says(503, 'later');
    await expect(oauth2.redeem('the code', proof)).rejects.toMatchObject({ code: 'forge-unavailable' });
    const gone = createOAuth2({ url: 'http://127.0.0.1:1', application });
    const thrown = await gone.redeem('the code', proof).catch((error: unknown) => error);

    expect(thrown).toMatchObject({ code: 'forge-unreachable' });
    expect(inspect(thrown, { depth: 9 })).not.toContain(application.clientSecret);
  });

  it('that yields a token without expiry leads to a refresh after a few minutes', async () => {
    says(200, { access_token: 'a' });

    expect(await oauth2.refresh('r')).toEqual({ accessToken: 'a', expiresInMs: 300_000 });
    expect(formOf().grant_type).toBe('refresh_token');
  });
});

it('a token request times out if the response arrives too slowly', async () => {
  const slow = await startBareServer((_request, response) => {
    response.writeHead(200).write('{');
  });
  const impatient = createOAuth2({ url: slow.url, application, timeoutMs: 200 });

  await expect(impatient.redeem('the code', proof)).rejects.toMatchObject({ code: 'forge-timeout' });
  await slow.close();
});

/** Starts a forge that drops its first connection and then returns the body; `count` is the number of its requests. */
async function startDropping(body: string) {
  let requests = 0;
  const dropping = await startBareServer((_request, response) => {
    requests += 1;
    if (requests === 1) response.destroy();
    else response.writeHead(200).end(body);
  });
  const client = createOAuth2({ url: dropping.url, application });
  return { client, count: () => requests, close: () => dropping.close() };
}

it('the description of the forge is requested again after a lost connection', async () => {
  const endpoint = 'https://git.example.org/login/oauth/authorize';
  const { client, count, close } = await startDropping(JSON.stringify({ authorization_endpoint: endpoint }));

  const wanted = { redirectUri: proof.redirectUri, state: 's', challenge: 'c', scopes: [] };
  expect(await client.authorizeUrl(wanted)).toContain(endpoint);
  expect(count()).toBe(2);
  await close();
});

it('a code is sent once, even if the connection is lost', async () => {
  const { client, count, close } = await startDropping('{"access_token":"a"}');

  await expect(client.redeem('the code', proof)).rejects.toMatchObject({ code: 'forge-unreachable' });
  expect(count()).toBe(1);
  await close();
});

it('a response of more than 64 KiB is an error', async () => {
  says(200, `{"access_token":"${'a'.repeat(65_536)}"}`);

  await expect(oauth2.redeem('the code', proof)).rejects.toMatchObject({ code: 'forge-unexpected' });
});

it('an error hides the sent values in every encoding, but no empty value', async () => {
  const code = 'a code/with signs';
  says(400, {
    error: 'invalid_grant',
    error_description: `${code} is ${encodeURIComponent(code)}: ${'x'.repeat(9_000)}`,
  });

  const thrown = await oauth2.redeem(code, { ...proof, verifier: '' }).catch((error: unknown) => error);

  expect(thrown).toMatchObject({ code: 'forge-refused' });
  const { message } = thrown as Error;
  expect(message).toContain('invalid_grant: [secret] is [secret]: xxx');
  expect(message.length).toBeLessThan(400);
});

describe('the authorization URL', () => {
  const wanted = { redirectUri: proof.redirectUri, state: 's', challenge: 'c', scopes: ['read:user'] };

  it('comes from the forge, which may use another name than the configured one', async () => {
    says(200, { authorization_endpoint: 'https://git.example.org/forge/login/oauth/authorize?x=1' });

    const address = new URL(await oauth2.authorizeUrl(wanted));

    expect(server.requests).toMatchObject([
      { method: 'GET', path: '/forge/.well-known/openid-configuration' },
    ]);
    expect(address.origin + address.pathname).toBe('https://git.example.org/forge/login/oauth/authorize');
    expect(Object.fromEntries(address.searchParams)).toEqual({
      x: '1',
      client_id: application.clientId,
      redirect_uri: proof.redirectUri,
      response_type: 'code',
      state: 's',
      scope: 'read:user',
      code_challenge: 'c',
      code_challenge_method: 'S256',
    });
    expect(address.href).not.toContain('secret');
    await oauth2.authorizeUrl(wanted);
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    '{}',
    '{"authorization_endpoint":"javascript:alert(1)"}',
    '{"authorization_endpoint":"/login"}',
    'none',
  ])('is an error if the forge responds with %s', async (body) => {
    says(200, body);

    await expect(oauth2.authorizeUrl(wanted)).rejects.toMatchObject({ code: 'forge-junk' });
  });
});

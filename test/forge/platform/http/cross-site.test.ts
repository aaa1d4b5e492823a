import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isCrossSite } from '../../../../src/forge/platform/http/cross-site.ts';
import { type Account, basic, freshName, startEmbedded } from '../../../support/contract-forge.ts';

const elsewhere = 'https://evil.example';

describe('writes with Basic credentials stored in a browser', () => {
  let forge: Awaited<ReturnType<typeof startEmbedded>>;
  let ada: Account;
  let repository: string;
  beforeAll(async () => {
    forge = await startEmbedded();
    ada = await forge.makeUser();
    repository = await forge.makeRepository(ada, { auto_init: true });
    await forge.ask('POST', `/repos/${repository}/issues`, { as: ada, body: { title: 'one' } });
  });
  afterAll(() => forge.close());

  const stored = () => basic(ada.name, ada.password);
  const post = (path: string, headers: Record<string, string>, body?: string | FormData | URLSearchParams) =>
    fetch(`${forge.url}${path}`, { method: 'POST', headers, redirect: 'manual', ...(body && { body }) });
  const labelForm = () => new URLSearchParams({ name: freshName('label'), color: 'fff' });
  const labelPath = () => `/api/v1/repos/${repository}/labels`;

  it.each([
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ 'sec-fetch-site': 'cross-site', origin: 'null' }],
    [{ origin: elsewhere }],
    [{ origin: 'null' }],
    [{ origin: 'http://127.0.0.1:1' }],
    [{ origin: 'file://' }],
  ])('A6: are refused from another site: %j', async (headers) => {
    const before = (await forge.ask('GET', `/repos/${repository}/labels`)).json.length;

    const answer = await post(labelPath(), { ...stored(), ...headers }, labelForm());

    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ message: expect.stringContaining('another site') });
    expect((await forge.ask('GET', `/repos/${repository}/labels`)).json).toHaveLength(before);
  });

  it('A6: are refused in every encoding that a page can send without a preflight request', async () => {
    const headers = { ...stored(), origin: elsewhere };
    const file = new FormData();
    file.set('attachment', new Blob(['x']), 'x.txt');
    const parts = new FormData();
    parts.set('title', 'x');

    const statuses = [
      (await post(labelPath(), headers, labelForm())).status,
      (await post(`/api/v1/repos/${repository}/issues`, headers, parts)).status,
      (await post(`/api/v1/repos/${repository}/issues/1/assets`, headers, file)).status,
      (await post(`/api/v1/repos/${repository}/issues`, { ...headers, 'content-type': 'text/plain' }, '{}'))
        .status,
      (await post(`/api/v1/user/repos?name=${freshName('repo')}`, headers)).status,
      (await post(`/${repository}.git/git-receive-pack`, headers, '0000')).status,
      (await post(`/${repository}/settings/hooks/1/deliveries/x/redeliver`, headers, 'mark=x')).status,
    ];

    expect(statuses).toEqual([403, 403, 403, 403, 403, 403, 403]);
  });

  it('A6: never reach git with the content type of a form', async () => {
    const answer = await post(`/${repository}.git/git-receive-pack`, stored(), new URLSearchParams('0000'));

    expect(answer.status).toBe(400);
  });

  it.each([
    ['the pages of the forge', () => ({ ...stored(), 'sec-fetch-site': 'same-origin', origin: forge.url })],
    ['the pages of the forge on plain http', () => ({ ...stored(), origin: forge.url })],
    ['a person who enters a URL', () => ({ ...stored(), 'sec-fetch-site': 'none' })],
    ['a program that is not a browser', () => stored()],
    [
      'a page of another site with a token in the header',
      () => ({ authorization: `token ${ada.token}`, origin: elsewhere }),
    ],
    [
      'a page of another site with a bearer token',
      () => ({ authorization: `Bearer ${ada.token}`, 'sec-fetch-site': 'cross-site' }),
    ],
  ])('A6: are accepted from %s', async (_, headers) => {
    expect((await post(labelPath(), headers(), labelForm())).status).toBe(201);
  });

  it('A6: are refused without affecting reads, whose responses a browser hides from other sites', async () => {
    const headers = { ...stored(), origin: elsewhere, 'sec-fetch-site': 'cross-site' };

    const answer = await fetch(`${forge.url}/api/v1/user`, { headers });

    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, null]);
  });
});

it.each([
  [{ origin: 'https://forge.example', host: 'upstream:3000' }, false],
  [{ origin: 'https://forge.example:443', host: 'upstream:3000' }, false],
  [{ origin: 'https://forge.example:8443', host: 'upstream:3000' }, true],
  [{ origin: 'http://box.lan:3000', host: 'box.lan:3000' }, false],
  [{ origin: 'http://box.lan', host: 'box.lan:80' }, false],
  [{ origin: 'http://box.lan:3001', host: 'box.lan:3000' }, true],
  [{ origin: 'not an origin', host: 'box.lan:3000' }, true],
  [{ origin: 'http://[::1]:3000', host: '[::1]:3000' }, false],
])('A6: behind https://forge.example, headers %j are cross-site: %s', (headers, expected) => {
  expect(isCrossSite(headers, 'https://forge.example')).toBe(expected);
});

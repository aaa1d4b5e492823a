import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../../src/contract/operations.ts';
import { type Account, basic, startEmbedded } from '../../support/contract-forge.ts';
import { startReceiver } from '../../support/hook-receiver.ts';

describe('pages of the embedded forge', () => {
  let forge: Awaited<ReturnType<typeof startEmbedded>>;
  let ada: Account;
  let open: string;
  let secret: string;
  let hook: number;
  beforeAll(async () => {
    forge = await startEmbedded();
    ada = await forge.makeUser();
    open = await forge.makeRepository(ada, { description: '<script>alert(1)</script>' });
    secret = await forge.makeRepository(ada, { private: true });
    const receiver = await startReceiver(() => ({ status: 202, body: 'thanks & <bye>' }));
    const config = { url: receiver.url, content_type: 'json' };
    const write = (path: string, body: object) =>
      forge.ask('POST', `/repos/${open}${path}`, { as: ada, body });
    hook = (await write('/hooks', { type: 'gitea', config, events: ['issues'], active: true })).json.id;
    await write('/labels', { name: 'bug', color: 'fff' });
    await write('/issues', {
      title: 'A "bad" <b>title</b>',
      body: '</pre><img src=x onerror=alert(1)>',
      labels: [1],
    });
    await write('/issues/1/comments', { body: 'me & <you>' });
    await forge.forge.deliveries.idle();
    await receiver.close();
  });
  afterAll(() => forge.close());

  const read = async (path: string, as?: Account) => {
    const response = await fetch(`${forge.url}${path}`, {
      headers: as ? basic(as.name, as.password) : {},
      redirect: 'manual',
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  it.each([
    ['/', ['REPO']],
    ['/REPO', ['git clone', 'bug', '&lt;script&gt;', '#1']],
    ['/REPO/issues/1', ['open', 'bug', 'me &amp; &lt;you&gt;', '&lt;/pre&gt;&lt;img']],
    ['/REPO/settings/hooks', ['active']],
    ['/REPO/settings/hooks/HOOK', ['delivered', '202', 'thanks &amp; &lt;bye&gt;', 'issue_label']],
    ['/api/swagger', ['swagger.v1.json']],
  ])('show at %s what is there, escaped', async (path, texts) => {
    const filled = (text: string) => text.replace('REPO', open).replace('HOOK', String(hook));

    const answer = await read(filled(path), ada);

    expect(answer.status).toBe(200);
    for (const text of texts) expect(answer.text).toContain(filled(text));
    expect(answer.text).not.toMatch(/<script|<img|<b>/);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('ask strangers who they are where there is nothing for them', async () => {
    for (const path of [`/${secret}`, '/missing/nothing', `/${open}/settings/hooks`]) {
      const answer = await read(path);
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringContaining('Basic'),
      ]);
    }
    const stranger = await forge.makeUser();
    expect((await read(`/${secret}`, stranger)).status).toBe(404);
    expect((await read(`/${open}/settings/hooks/${hook}`, stranger)).status).toBe(404);
    expect((await read('/', stranger)).text).not.toContain(secret);
  });

  it('describe every operation', async () => {
    const description = JSON.parse((await read('/swagger.v1.json')).text);

    const ids = Object.values<Record<string, { operationId: string }>>(description.paths)
      .flatMap((methods) => Object.values(methods))
      .map((operation) => operation.operationId);
    expect(ids.sort()).toEqual(
      Object.values(operations)
        .map((operation) => operation.id)
        .sort(),
    );
  });
});

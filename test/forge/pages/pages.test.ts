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

  it.each<[path: string, texts: string[], as?: string]>([
    ['/', ['REPO']],
    ['/REPO', ['git clone', 'bug', '&lt;script&gt;', '#1']],
    ['/REPO/issues/1', ['open', 'bug', 'me &amp; &lt;you&gt;', '&lt;/pre&gt;&lt;img']],
    ['/REPO/settings/hooks', ['active']],
    // The receiver has a private address. Only site administrators see responses from private addresses.
    ['/REPO/settings/hooks/HOOK', ['delivered', '202', 'thanks &amp; &lt;bye&gt;', 'issue_label'], 'root'],
    ['/api/swagger', ['swagger.v1.json']],
  ])('show escaped content at %s', async (path, texts, as = '') => {
    const filled = (text: string) => text.replace('REPO', open).replace('HOOK', String(hook));

    const root: Account = { name: 'root', password: 'correct horse', token: forge.adminToken };
    const answer = await read(filled(path), as === 'root' ? root : ada);

    expect(answer.status).toBe(200);
    for (const text of texts) expect(answer.text).toContain(filled(text));
    expect(answer.text).not.toMatch(/<script|<img|<b>/);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('ask anonymous visitors to sign in if a page is not visible to them', async () => {
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

  it('hide issues and code from accounts that have access only to another unit', async () => {
    const reader = await forge.makeUser();
    const organization = await forge.makeOrganization(ada);
    const closed = await forge.makeRepository(ada, { private: true, auto_init: true, in: organization });
    const body = {
      name: 'wiki-only',
      permission: 'read',
      units_map: { 'repo.wiki': 'read' },
      includes_all_repositories: true,
    };
    const team = await forge.ask('POST', `/orgs/${organization}/teams`, { as: ada, body });
    await forge.ask('PUT', `/teams/${team.json.id}/members/${reader.name}`, { as: ada });
    await forge.ask('POST', `/repos/${closed}/issues`, { as: ada, body: { title: 'secret title' } });

    const home = await read(`/${closed}`, reader);
    const hidden = ['/issues/1', '/issues', '/pulls', '/commits/branch/main', '/branches', '/pulls/new/main'];
    const answers = await Promise.all(hidden.map((path) => read(`/${closed}${path}`, reader)));

    expect(home.status).toBe(200);
    expect(home.text).not.toContain('secret title');
    expect(answers.map(({ status }) => status)).toEqual(hidden.map(() => 404));
    expect((await read(`/${closed}/issues/1`, ada)).text).toContain('secret title');
  });

  it('open no pull request from a form for another branch, or for an account without permission', async () => {
    const [repository, stranger] = [
      await forge.makeRepository(ada, { auto_init: true }),
      await forge.makeUser(),
    ];
    const body = { content: '', message: 'x', new_branch: 'topic' };
    await forge.ask('POST', `/repos/${repository}/contents/x`, { as: ada, body });
    const path = `/${repository}/pulls/new/topic`;
    const markOf = async (as: Account) =>
      /name="mark" value="([^"]+)"/.exec((await read(path, as)).text)?.[1] ?? '';
    const send = async (address: string, as: Account, mark: string) => {
      const answer = await fetch(`${forge.url}${address}`, {
        method: 'POST',
        redirect: 'manual',
        headers: basic(as.name, as.password),
        body: new URLSearchParams({ mark, title: 'x', base: 'main' }),
      });
      return answer.status;
    };

    const mark = await markOf(ada);
    expect((await read(path)).status).toBe(401);
    expect(await send(path, ada, '')).toBe(403);
    expect(await send(`/${repository}/pulls/new/main`, ada, mark)).toBe(403);
    expect(await send(path, stranger, mark)).toBe(403);
    expect(await send(path, stranger, await markOf(stranger))).toBe(403);
    expect(await send(path, ada, mark)).toBe(303);
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

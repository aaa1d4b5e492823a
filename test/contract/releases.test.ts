import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';
import { cloneRepository } from '../support/git-client.ts';
import { type HookReceiver, startReceiver } from '../support/hook-receiver.ts';

describeContract('releases', (forge) => {
  let ada: Account;
  let reader: Account;
  let repository: string;
  beforeAll(async () => {
    ada = await forge.makeUser();
    reader = await forge.makeUser();
  });
  beforeEach(async () => {
    repository = await forge.makeRepository(ada, { auto_init: true });
  });

  const ask = (
    method: string,
    path: string,
    body?: unknown,
    as: Account | string | undefined = ada,
  ): Promise<Answer> => forge.ask(method, `/repos/${repository}${path}`, { as, body });
  const make = (tag: string, more: object = {}) => ask('POST', '/releases', { tag_name: tag, ...more });
  const tagsOf = (answer: Answer) => answer.json.map((release: { tag_name: string }) => release.tag_name);
  const statusOf = async (answer: Promise<Answer>) => (await answer).status;

  async function upload(id: number, name: string, text: string, query = ''): Promise<Answer> {
    const form = new FormData();
    form.append('attachment', new Blob([text]), name);
    const url = `${forge.url}/api/v1/repos/${repository}/releases/${id}/assets${query}`;
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `token ${ada.token}` },
      body: form,
    });
    const answer = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text: answer,
      json: JSON.parse(answer || 'null'),
    };
  }

  it('include every field, and create a tag', async () => {
    const head = (await ask('GET', '/branches/main')).json.commit.id;

    const { status, json } = await make('v1', { name: 'One', body: 'notes', tag_message: 'the first' });

    const api = `${forge.url}/api/v1/repos/${repository}/releases/${json.id}`;
    const html = `${forge.url}/${repository}`;
    expect([status, json]).toMatchObject([
      201,
      {
        tag_name: 'v1',
        target_commitish: 'main',
        name: 'One',
        body: 'notes',
        url: api,
        html_url: `${html}/releases/tag/v1`,
        tarball_url: `${html}/archive/v1.tar.gz`,
        zipball_url: `${html}/archive/v1.zip`,
        upload_url: `${api}/assets`,
        draft: false,
        prerelease: false,
        author: { login: ada.name },
        assets: [],
      },
    ]);
    expect(json.published_at).toBe(json.created_at);
    const tag = (await ask('GET', '/tags/v1')).json;
    expect([tag.commit.sha, tag.message]).toEqual([head, expect.stringContaining('the first')]);
    expect(tag.id).not.toBe(head);
    for (const path of [
      `/releases/${json.id}`,
      '/releases/tags/v1',
      '/releases/tags/V1',
      '/releases/latest',
    ]) {
      expect((await ask('GET', path, undefined, reader)).json, path).toEqual(json);
    }
    expect((await ask('GET', '')).json.release_counter).toBe(1);
  });

  it('use an existing tag and ignore the target', async () => {
    await ask('POST', '/tags', { tag_name: 'v1' });

    const { status, json } = await make('v1', { target_commitish: 'nowhere' });
    const plain = await make('v2', { target_commitish: 'nowhere' });

    expect([status, json.target_commitish]).toEqual([201, 'nowhere']);
    expect(plain.status).toBe(404);
  });

  it('create tags with slashes, also on another branch', async () => {
    await ask('POST', '/branches', { new_branch_name: 'topic' });

    const { status, json } = await make('rel/v1', { target_commitish: 'topic' });

    expect([status, json.html_url]).toEqual([201, `${forge.url}/${repository}/releases/tag/rel/v1`]);
    expect((await ask('GET', '/releases/tags/rel%2Fv1')).json.id).toBe(json.id);
  });

  it.each([
    ['no tag', {}, [422]],
    ['an empty tag', { tag_name: '' }, [422]],
    // Gitea and Forgejo return 500.
    ['a name that git refuses', { tag_name: 'a..b' }, [422, 500]],
  ])('are refused with %s', async (_, body, statuses) => {
    expect(statuses).toContain((await ask('POST', '/releases', body)).status);
    expect((await ask('GET', '/releases')).json).toEqual([]);
  });

  it('are refused for a tag that already has a release, ignoring case, and in an empty repository', async () => {
    await make('v1');
    const empty = await forge.makeRepository(ada);

    expect(await statusOf(make('v1'))).toBe(409);
    expect(await statusOf(make('V1'))).toBe(409);
    expect(
      (await forge.ask('POST', `/repos/${empty}/releases`, { as: ada, body: { tag_name: 'x' } })).status,
    ).toBe(422);
  });

  it('are refused if the tag is protected from their author', async () => {
    const writer = await forge.makeUser();
    await forge.share(repository, ada, { with: writer, permission: 'write' });
    await ask('POST', '/tag_protections', { name_pattern: 'v*', whitelist_usernames: [ada.name] });

    const answer = await ask('POST', '/releases', { tag_name: 'v1' }, writer);

    expect(answer.status).toBe(422);
    expect((await ask('GET', '/tags')).json).toEqual([]);
  });

  describe('that are drafts', () => {
    it('have no tag, accept any target, and are visible only to writers', async () => {
      const { status, json } = await make('v1', { draft: true, target_commitish: 'nowhere' });

      expect([status, json.draft]).toEqual([201, true]);
      expect((await ask('GET', '/tags')).json).toEqual([]);
      for (const path of [`/releases/${json.id}`, '/releases/tags/v1', `/releases/${json.id}/assets`]) {
        expect(await statusOf(ask('GET', path)), path).toBe(200);
        expect(await statusOf(ask('GET', path, undefined, reader)), path).toBe(404);
        expect((await forge.ask('GET', `/repos/${repository}${path}`)).status, path).toBe(404);
      }
      expect(tagsOf(await ask('GET', '/releases'))).toEqual(['v1']);
      expect(tagsOf(await ask('GET', '/releases', undefined, reader))).toEqual([]);
      expect(await statusOf(ask('GET', '/releases/latest'))).toBe(404);
      expect((await ask('GET', '')).json.release_counter).toBe(0);
    });

    it('get their tag when they are published', async () => {
      const { id } = (await make('v1', { draft: true })).json;

      const { status, json } = await ask('PATCH', `/releases/${id}`, { draft: false });

      expect([status, json.draft, json.target_commitish]).toEqual([200, false, 'main']);
      expect(tagsOf(await ask('GET', '/releases', undefined, reader))).toEqual(['v1']);
      expect((await ask('GET', '/tags/v1')).status).toBe(200);
      expect((await ask('GET', '')).json.release_counter).toBe(1);
    });

    it('are published by a push of their tag, and become drafts again when a push deletes it', async () => {
      const { id } = (await make('v1', { draft: true })).json;
      const url = new URL(`${forge.url}/${repository}.git`);
      Object.assign(url, { username: ada.name, password: ada.token });
      const clone = await cloneRepository(url.href);
      const isDraft = async () => (await ask('GET', `/releases/${id}`)).json.draft;
      try {
        await clone.git('tag', 'v1');
        await clone.git('push', '--quiet', 'origin', 'v1');
        await expect.poll(isDraft).toBe(false);
        await clone.git('push', '--quiet', '--delete', 'origin', 'v1');
        await expect.poll(isDraft).toBe(true);
      } finally {
        clone.remove();
      }
    });
  });

  it('are listed newest first, page by page, filtered by kind', async () => {
    for (const [tag, more] of [
      ['v1', {}],
      ['v2', { prerelease: true }],
      ['v3', {}],
      ['v4', { draft: true }],
    ] as const) {
      await make(tag, more);
    }

    const page = await ask('GET', '/releases?limit=2&page=2');

    expect(tagsOf(await ask('GET', '/releases'))).toEqual(['v4', 'v3', 'v2', 'v1']);
    expect([tagsOf(page), page.headers.get('x-total-count')]).toEqual([['v2', 'v1'], '4']);
    expect(page.headers.get('link')).toContain('rel="prev"');
    expect(tagsOf(await ask('GET', '/releases?draft=true'))).toEqual(['v4']);
    expect(tagsOf(await ask('GET', '/releases?draft=true', undefined, reader))).toEqual([]);
    expect(tagsOf(await ask('GET', '/releases?pre-release=true'))).toEqual(['v2']);
    expect(tagsOf(await ask('GET', '/releases?pre-release=false&draft=false'))).toEqual(['v3', 'v1']);
    expect((await ask('GET', '/releases/latest')).json.tag_name).toBe('v3');
    expect((await ask('GET', '')).json.release_counter).toBe(3);
  });

  it('change only the given fields, and ignore empty texts', async () => {
    const { id } = (await make('v1', { name: 'One', body: 'notes' })).json;

    const edited = await ask('PATCH', `/releases/${id}`, { name: 'Two', body: '', prerelease: true });
    const moved = await ask('PATCH', `/releases/${id}`, { tag_name: 'v2' });

    expect([edited.status, edited.json]).toMatchObject([
      200,
      { name: 'Two', body: 'notes', prerelease: true },
    ]);
    expect([moved.status, moved.json]).toMatchObject([200, { tag_name: 'v2', name: 'Two' }]);
    expect((await ask('GET', '/tags')).json.map(({ name }: { name: string }) => name).sort()).toEqual([
      'v1',
      'v2',
    ]);
    await make('v3');
    // Gitea and Forgejo return 500.
    expect([409, 500]).toContain(await statusOf(ask('PATCH', `/releases/${id}`, { tag_name: 'v3' })));
  });

  it('keep their tag when they are deleted', async () => {
    const { id } = (await make('v1')).json;
    await make('v2');

    expect(await statusOf(ask('DELETE', '/tags/v1'))).toBe(409);
    expect(await statusOf(ask('DELETE', `/releases/${id}`))).toBe(204);
    expect(await statusOf(ask('DELETE', '/releases/tags/v2'))).toBe(204);
    expect(await statusOf(ask('DELETE', `/releases/${id}`))).toBe(404);
    expect(await statusOf(ask('DELETE', '/releases/tags/v2'))).toBe(404);
    expect((await ask('GET', '/releases')).json).toEqual([]);
    expect((await ask('GET', '/tags')).json).toHaveLength(2);
    expect(await statusOf(ask('DELETE', '/tags/v1'))).toBe(204);
    expect(await statusOf(make('v2', { name: 'again' }))).toBe(201);
  });

  it.each(['/releases/987654321', '/releases/x', '/releases/tags/nothing', '/releases/latest'])(
    'are not found at %s',
    async (path) => {
      expect(await statusOf(ask('GET', path))).toBe(404);
    },
  );

  it('are written by writers, and read by everyone unless the repository is private', async () => {
    const { id } = (await make('v1')).json;
    const hidden = await forge.makeRepository(ada, { auto_init: true, private: true });

    for (const as of [reader, undefined]) {
      const expected = as === undefined ? 401 : 403;
      for (const [method, path, body] of [
        ['POST', '/releases', { tag_name: 'x' }],
        ['PATCH', `/releases/${id}`, { name: 'x' }],
        ['DELETE', `/releases/${id}`, undefined],
        ['DELETE', '/releases/tags/v1', undefined],
      ] as const) {
        const answer = await forge.ask(method, `/repos/${repository}${path}`, { as, body });
        expect([method, path, answer.status]).toEqual([method, path, expected]);
      }
      expect((await forge.ask('GET', `/repos/${repository}/releases`, { as })).status).toBe(200);
    }
    expect((await forge.ask('GET', `/repos/${hidden}/releases`, { as: reader })).status).toBe(404);
  });

  it('are closed if their unit is disabled, except to administrators', async () => {
    await make('v1');
    await ask('PATCH', '', { has_releases: false });

    expect(await statusOf(ask('GET', '/releases', undefined, reader))).toBe(403);
    expect(await statusOf(ask('GET', '/releases'))).toBe(200);
  });

  it('cannot be created or changed in an archived repository', async () => {
    const { id } = (await make('v1')).json;
    await ask('PATCH', '', { archived: true });

    // Gitea and Forgejo return 500.
    expect([423, 500]).toContain(await statusOf(make('v2')));
    expect([423, 500]).toContain(await statusOf(ask('PATCH', `/releases/${id}`, { name: 'x' })));
  });

  describe('with files', () => {
    it('are uploaded in a form or as the whole body, listed and renamed', async () => {
      const { id } = (await make('v1')).json;

      const first = await upload(id, 'a.txt', 'one');
      const named = await upload(id, 'b.txt', 'two', '?name=other.bin');
      const whole = await forge.ask('POST', `/repos/${repository}/releases/${id}/assets?name=raw.bin`, {
        as: ada,
        body: 'three!',
        headers: { 'content-type': 'application/octet-stream' },
      });
      const renamed = await ask('PATCH', `/releases/${id}/assets/${first.json.id}`, { name: 'c d.txt' });
      const list = await ask('GET', `/releases/${id}/assets`, undefined, reader);

      expect([first.status, first.json]).toMatchObject([
        201,
        {
          name: 'a.txt',
          size: 3,
          download_count: 0,
          browser_download_url: `${forge.url}/attachments/${first.json.uuid}`,
        },
      ]);
      expect([named.status, named.json.name, whole.status, whole.json.name, whole.json.size]).toEqual([
        201,
        'other.bin',
        201,
        'raw.bin',
        6,
      ]);
      expect([renamed.status, renamed.json.name]).toEqual([201, 'c d.txt']);
      expect(list.json.map(({ name }: { name: string }) => name)).toEqual([
        'c d.txt',
        'other.bin',
        'raw.bin',
      ]);
      expect((await ask('GET', `/releases/${id}/assets/${first.json.id}`)).json.name).toBe('c d.txt');
      expect((await ask('GET', '/releases/latest')).json.assets).toEqual(list.json);
    });

    it('are downloaded and counted', async () => {
      const { id } = (await make('rel/v1')).json;
      const { json } = await upload(id, 'a b.txt', 'content');
      const [listed] = (await ask('GET', `/releases/${id}/assets`)).json;

      const byId = await fetch(json.browser_download_url);
      const byName = await fetch(listed.browser_download_url);

      expect(listed.browser_download_url).toBe(
        `${forge.url}/${repository}/releases/download/rel%2Fv1/a%20b.txt`,
      );
      expect([byId.status, await byId.text(), byName.status, await byName.text()]).toEqual([
        200,
        'content',
        200,
        'content',
      ]);
      expect((await ask('GET', `/releases/${id}/assets/${json.id}`)).json.download_count).toBe(2);
    });

    it('show the files of a draft only to writers', async () => {
      const { id } = (await make('v1', { draft: true })).json;
      const { json } = await upload(id, 'a.txt', 'x');

      const anonymous = await fetch(json.browser_download_url, { redirect: 'manual' });

      expect(await statusOf(ask('GET', `/releases/${id}/assets/${json.id}`, undefined, reader))).toBe(404);
      expect(anonymous.status).not.toBe(200);
    });

    it('are deleted one by one, and with the release', async () => {
      const { id } = (await make('v1')).json;
      const [one, two] = [await upload(id, 'a.txt', 'x'), await upload(id, 'b.txt', 'y')];

      expect(await statusOf(ask('DELETE', `/releases/${id}/assets/${one.json.id}`))).toBe(204);
      expect(await statusOf(ask('DELETE', `/releases/${id}/assets/${one.json.id}`))).toBe(404);
      expect((await ask('GET', `/releases/${id}/assets`)).json).toHaveLength(1);
      await ask('DELETE', `/releases/${id}`);
      expect((await fetch(two.json.browser_download_url)).status).toBe(404);
    });

    it('refuse a file without a name, a form without the file part, and the id of another release', async () => {
      const { id } = (await make('v1')).json;
      const other = (await make('v2')).json.id;
      const { json } = await upload(id, 'a.txt', 'x');
      const path = `/repos/${repository}/releases/${id}/assets`;
      const bytes = { as: ada, body: 'x', headers: { 'content-type': 'application/octet-stream' } };
      const form = new FormData();
      form.append('other', new Blob(['x']), 'x');
      const headers = { authorization: `token ${ada.token}` };
      const wrong = await fetch(`${forge.url}/api/v1${path}`, { method: 'POST', headers, body: form });

      expect((await forge.ask('POST', path, bytes)).status).toBe(400);
      // Gitea returns 500.
      expect([400, 500]).toContain(wrong.status);
      expect(await statusOf(ask('GET', `/releases/${other}/assets/${json.id}`))).toBe(404);
      expect(await statusOf(ask('PATCH', `/releases/${other}/assets/${json.id}`, { name: 'x' }))).toBe(404);
      expect((await forge.ask('POST', path, { ...bytes, as: reader })).status).toBe(403);
    });
  });

  describe('send hooks', () => {
    let receiver: HookReceiver;
    beforeAll(async () => {
      receiver = await startReceiver();
    });
    afterAll(() => receiver.close());

    it('when they are published, changed or deleted, but not for drafts', async () => {
      const config = { url: receiver.url, content_type: 'json' };
      const hook = { type: 'gitea', config, events: ['release', 'create'], active: true };
      await ask('POST', '/hooks', hook);

      const { id } = (await make('v1', { draft: true, name: 'One' })).json;
      await ask('PATCH', `/releases/${id}`, { name: 'Two' });
      await ask('PATCH', `/releases/${id}`, { draft: false });
      await ask('PATCH', `/releases/${id}`, { name: 'Three' });
      await ask('DELETE', `/releases/${id}`);

      await expect.poll(() => receiver.received.length).toBe(4);
      expect(receiver.types().toSorted()).toEqual(['create', 'release', 'release', 'release']);
      const told = receiver.payloads('release');
      const seen = told.map(({ action, release }) => `${action} ${release.name}`);
      expect(seen.toSorted()).toEqual(['deleted Three', 'published Two', 'updated Three']);
      expect(told[0]).toMatchObject({
        release: { tag_name: 'v1' },
        repository: { full_name: repository },
        sender: { login: ada.name },
      });
      expect(Object.keys(told[0])).toEqual(['action', 'release', 'repository', 'sender']);
    });
  });

  it('return 404 for the signing key if there is none', async () => {
    for (const path of ['/signing-key.gpg', `/repos/${repository}/signing-key.gpg`]) {
      const { status } = await forge.ask('GET', path);
      expect([path, status]).toEqual([path, 404]);
    }
  });

  it('have web pages', async () => {
    const { json } = await make('rel/v1', { name: '<b>One</b>' });

    const page = await fetch(json.html_url);

    expect([page.status, (await page.text()).includes('<b>One</b>')]).toEqual([200, false]);
    const headers = { authorization: `token ${ada.token}` };
    const missing = await fetch(`${forge.url}/${repository}/releases/tag/nothing`, { headers });
    expect(missing.status).toBe(404);
  });
});

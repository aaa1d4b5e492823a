import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { createFactMemory, createFacts } from '../../src/facts/ask.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { type Account, describeContract, freshName } from '../support/contract-forge.ts';
import { type HookReceiver, startReceiver } from '../support/hook-receiver.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const text = (encoded: string) => Buffer.from(encoded, 'base64').toString('utf8');

describeContract('a wiki', (forge) => {
  let ada: Account;
  let repository: string;
  const wiki = (path: string) => `/repos/${repository}/wiki${path}`;
  const write = (title: string, content: string, as: Account | undefined = ada) =>
    forge.ask('POST', wiki('/new'), { as, body: { title, content_base64: base64(content) } });
  beforeAll(async () => {
    ada = await forge.makeUser();
    repository = await forge.makeRepository(ada);
  });

  it('does not exist before its first page', async () => {
    const fresh = await forge.makeRepository(ada);
    const answers = await Promise.all(
      ['/pages', '/page/Home', '/revisions/Home'].map((path) =>
        forge.ask('GET', `/repos/${fresh}/wiki${path}`),
      ),
    );
    const gone = await forge.ask('DELETE', `/repos/${fresh}/wiki/page/Home`, { as: ada });

    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    // Gitea returns 500.
    expect([404, 500]).toContain(gone.status);
  });

  it.each([
    'Release-Freeze',
    'Release Freeze',
    'pre-release  notes',
    'notes.md',
    'C++ & 100% Größe',
    'a/b-c',
    'ends in.-',
    '-',
  ])('has a page titled %j, which the `wiki` fact finds by title regardless of the URL', async (title) => {
    const [owner = '', name = ''] = repository.split('/');
    const made = await write(title, `text of ${title}`);
    const client = createClient({ timeoutMs: 60_000, url: forge.url, credentials: { token: ada.token } });
    const facts = createFacts({
      client,
      subject: { kind: 'repository', repository: { id: 1, owner, name } },
      memory: createFactMemory(systemClock),
      clock: systemClock,
    });

    expect(made.status).toBe(201);
    for (const argument of [title, ` ${title}\n`])
      expect(await facts.ask({ name: 'wiki', argument })).toMatchObject({
        title,
        content: `text of ${title}`,
      });
  });

  it('stores a page, shows it, and counts its revisions', async () => {
    const made = await write('Home', 'welcome');
    const body = { title: 'Home', content_base64: base64('welcome back'), message: 'warmer' };
    const edited = await forge.ask('PATCH', wiki('/page/Home'), { as: ada, body });
    const read = await forge.ask('GET', wiki('/page/Home'));
    const revisions = await forge.ask('GET', wiki('/revisions/Home'));

    expect([made.status, edited.status, read.status]).toEqual([201, 200, 200]);
    expect(made.json).toMatchObject({ title: 'Home', sub_url: 'Home', commit_count: 1 });
    expect(made.json.last_commit.message.trim()).toBe('Add "Home"');
    expect(text(read.json.content_base64)).toBe('welcome back');
    expect(read.json).toMatchObject({ commit_count: 2, sidebar: '', footer: '' });
    expect(read.json.html_url).toContain(`/${repository}/wiki/Home`);
    expect(read.json.last_commit.author.date).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(read.json.last_commit.commiter.name).toBeTruthy();
    expect(revisions.json.count).toBe(2);
    expect(revisions.json.commits[0].message.trim()).toBe('warmer');
    expect(revisions.headers.get('x-total-count')).toBe('2');
  });

  it('shows sidebar and footer, in base64, with every page', async () => {
    await write('_Sidebar', 'beside');
    await write('_Footer', 'below');
    await write('Framed', 'x');

    const { json } = await forge.ask('GET', wiki('/page/Framed'));

    expect([text(json.sidebar), text(json.footer)]).toEqual(['beside', 'below']);
  });

  it.each([
    ['that contains spaces', 'Two Words', 'Two-Words'],
    ['that contains a dash', 'well-known', 'well-known.-'],
    ['that contains a slash', 'docs/setup', 'docs%2Fsetup'],
    ['that contains non-ASCII characters', 'Größe', 'Gr%C3%B6%C3%9Fe'],
    ['that contains a percent sign', '100% sure', '100%25-sure'],
    ['that contains path traversal', '../../etc/passwd', '..%2F..%2Fetc%2Fpasswd'],
    ['that looks like a command-line option', '--upload-pack=x', '--upload-pack%3Dx.-'],
    ['that looks like a pathspec', ':(top)x', '%3A%28top%29x'],
  ])('accepts a page title %s', async (_, title, subUrl) => {
    const made = await write(title, title);
    const read = await forge.ask('GET', wiki(`/page/${subUrl}`));
    const listed = await forge.ask('GET', wiki('/pages?limit=100'));

    expect(made.json).toMatchObject({ title, sub_url: subUrl });
    expect(read.status).toBe(200);
    expect(text(read.json.content_base64)).toBe(title);
    expect(read.json.commit_count).toBe(1);
    expect(listed.json.map((page: { title: string }) => page.title)).toContain(title);
  });

  it('moves a page to another title', async () => {
    await write('Old', 'same');
    const moved = await forge.ask('PATCH', wiki('/page/Old'), {
      as: ada,
      body: { title: 'New', content_base64: base64('same') },
    });
    const old = await forge.ask('GET', wiki('/page/Old'));

    expect(moved.json).toMatchObject({ title: 'New' });
    expect(old.status).toBe(404);
  });

  it('deletes a page', async () => {
    await write('Doomed', 'x');

    const gone = await forge.ask('DELETE', wiki('/page/Doomed'), { as: ada });
    const again = await forge.ask('DELETE', wiki('/page/Doomed'), { as: ada });

    expect([gone.status, again.status]).toEqual([204, 404]);
  });

  it.each([
    ['no title', { title: '', content_base64: '' }],
    ['a reserved title', { title: '_new', content_base64: '' }],
    ['a title in use', { title: 'Home', content_base64: '' }],
    ['content that is not base64', { title: freshName('page'), content_base64: '***' }],
  ])('refuses a page with %s', async (_, body) => {
    await write('Home', 'x');

    expect((await forge.ask('POST', wiki('/new'), { as: ada, body })).status).toBe(400);
  });

  it('treats a limit of 1 as the default, has no maximum limit, and sends links', async () => {
    const roomy = await forge.makeRepository(ada);
    const make = (title: string) =>
      forge.ask('POST', `/repos/${roomy}/wiki/new`, {
        as: ada,
        body: { title, content_base64: base64('x') },
      });
    for (const title of ['a', 'b', 'c']) await make(title);
    const list = (query: string) => forge.ask('GET', `/repos/${roomy}/wiki/pages${query}`);

    const one = await list('?limit=1');
    const two = await list('?limit=2');
    const rest = await list('?limit=2&page=2');
    const beyond = await list('?limit=2&page=9');

    expect([one, two, rest, beyond].map(({ json }) => json.length)).toEqual([3, 2, 1, 0]);
    expect(two.headers.get('x-total-count')).toBe('3');
    expect(two.headers.get('link')).toContain('rel="next"');
    expect(rest.headers.get('link')).not.toContain('rel="next"');
  });

  it('is read by readers and written by writers', async () => {
    const secret = await forge.makeRepository(ada, { private: true });
    await forge.ask('POST', `/repos/${secret}/wiki/new`, {
      as: ada,
      body: { title: 'Home', content_base64: '' },
    });
    const [writer, reader, stranger] = await Promise.all([
      forge.makeUser(),
      forge.makeUser(),
      forge.makeUser(),
    ]);
    await forge.share(secret, ada, { with: writer, permission: 'write' });
    await forge.share(secret, ada, { with: reader, permission: 'read' });
    const readers = [ada, writer, reader, stranger, undefined];
    const reads: number[] = [];
    const writes: number[] = [];
    for (const as of readers) {
      const body = { title: freshName('page'), content_base64: base64('x') };
      reads.push((await forge.ask('GET', `/repos/${secret}/wiki/page/Home`, { as })).status);
      writes.push((await forge.ask('POST', `/repos/${secret}/wiki/new`, { as, body })).status);
    }

    expect(reads).toEqual([200, 200, 200, 404, 404]);
    expect(writes).toEqual([201, 201, 403, 404, 404]);
  });

  it('refuses an anonymous write to a public wiki with 401', async () => {
    const answers = await Promise.all([
      forge.ask('POST', wiki('/new'), { body: { title: 'x' } }),
      forge.ask('PATCH', wiki('/page/Home'), { body: {} }),
      forge.ask('DELETE', wiki('/page/Home')),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
  });

  it('is read-only in an archived repository, and not found if the unit is disabled', async () => {
    const old = await forge.makeRepository(ada);
    const at = `/repos/${old}`;
    const page = { title: 'Home', content_base64: base64('x') };
    await forge.ask('POST', `${at}/wiki/new`, { as: ada, body: page });
    await forge.ask('PATCH', at, { as: ada, body: { archived: true } });
    const closed = await Promise.all([
      forge.ask('POST', `${at}/wiki/new`, { as: ada, body: { ...page, title: 'b' } }),
      forge.ask('PATCH', `${at}/wiki/page/Home`, { as: ada, body: page }),
      forge.ask('DELETE', `${at}/wiki/page/Home`, { as: ada }),
    ]);
    const read = await forge.ask('GET', `${at}/wiki/page/Home`);
    await forge.ask('PATCH', at, { as: ada, body: { archived: false, has_wiki: false } });
    const off = await forge.ask('GET', `${at}/wiki/pages`);

    expect(closed.map(({ status }) => status)).toEqual([423, 423, 423]);
    expect([read.status, off.status]).toEqual([200, 404]);
  });

  describe('emits events', () => {
    let receiver: HookReceiver;
    beforeAll(async () => {
      receiver = await startReceiver();
    });
    afterAll(() => receiver.close());

    const heard = (count: number) => expect.poll(() => receiver.received.length).toBe(count);

    it('for changes of a page', async () => {
      const repository = await forge.makeRepository(ada);
      const at = `/repos/${repository}`;
      const hook = {
        type: 'gitea',
        active: true,
        events: ['wiki'],
        config: { url: receiver.url, content_type: 'json' },
      };
      await forge.ask('POST', `${at}/hooks`, { as: ada, body: hook });
      const body = { title: 'My page', content_base64: base64('x'), message: 'first' };
      await forge.ask('POST', `${at}/wiki/new`, { as: ada, body });
      await heard(1);
      await forge.ask('PATCH', `${at}/wiki/page/My-page`, {
        as: ada,
        body: { title: 'My page', content_base64: base64('y') },
      });
      await heard(2);
      await forge.ask('DELETE', `${at}/wiki/page/My-page`, { as: ada });
      await heard(3);

      const news = receiver.payloads('wiki');
      expect(news.map(({ action, page, comment }) => [action, page, comment])).toEqual([
        ['created', 'My-page', 'first'],
        ['edited', 'My-page', 'Update "My-page"'],
        ['deleted', 'My-page', ''],
      ]);
      expect(news[0]).toMatchObject({ repository: { full_name: repository }, sender: { login: ada.name } });
      expect(Object.keys(news[0])).toEqual(['action', 'repository', 'sender', 'page', 'comment']);
    });
  });
});

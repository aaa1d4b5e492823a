import { beforeEach, describe, expect, it } from 'vitest';
import { type Account, describeContract, freshName } from '../support/contract-forge.ts';
import { makeSharedRepository, type SharedRepository, waitFor } from '../support/shared-repository.ts';

type Thread = { id: number; subject: { title: string; type: string }; unread: boolean; pinned: boolean };

describeContract('notifications', (forge) => {
  let shared: SharedRepository;
  beforeEach(async () => {
    shared = await makeSharedRepository(forge, { auto_init: true });
  });

  const list = (as: Account, query = '') => forge.ask('GET', `/notifications${query}`, { as });
  /** Returns the titles of an account's threads once there are as many as expected. */
  async function titles(as: Account, count: number, query = ''): Promise<string[]> {
    const { json } = await waitFor(
      () => list(as, query),
      (answer) => answer.json.length === count,
    );
    return json.map((thread: Thread) => thread.subject.title).sort();
  }
  const open = (title: string, as: Account = shared.writer, more: object = {}) =>
    shared.ask('POST', '/issues', { body: { title, ...more }, as });
  const mark = (as: Account, id: number, status = '') =>
    forge.ask('PATCH', `/notifications/threads/${id}${status && `?to-status=${status}`}`, { as });
  async function first(as: Account): Promise<Thread> {
    await titles(as, 1, '?all=true');
    return (await list(as, '?all=true')).json[0];
  }

  it('notify a watcher of a new issue, with all fields', async () => {
    await open('crash');

    const thread = await first(shared.owner);
    const [owner = '', name = ''] = shared.fullName.split('/');
    expect(thread).toMatchObject({
      unread: true,
      pinned: false,
      url: `${forge.url}/api/v1/notifications/threads/${thread.id}`,
      repository: { full_name: shared.fullName, name, owner: { login: owner } },
      subject: {
        type: 'Issue',
        title: 'crash',
        state: 'open',
        url: `${forge.url}/api/v1/repos/${shared.fullName}/issues/1`,
        html_url: `${forge.url}/${shared.fullName}/issues/1`,
        latest_comment_url: '',
        latest_comment_html_url: '',
      },
    });
    expect(thread).not.toHaveProperty('repository.permissions');
    const single = await forge.ask('GET', `/notifications/threads/${thread.id}`, { as: shared.owner });
    expect([single.status, single.json]).toEqual([200, thread]);
  });

  it("are not sent for one's own actions", async () => {
    await open('my own', shared.owner, { body: `@${shared.owner.name}`, assignees: [shared.owner.name] });
    await shared.ask('POST', '/issues/1/comments', { body: { body: 'hm' } });
    await open('another', shared.writer);

    expect(await titles(shared.owner, 1)).toEqual(['another']);
  });

  it('notify mentioned accounts only if they can read the repository', async () => {
    const text = `see (@${shared.reader.name}), @${shared.stranger.name} and mail@${shared.owner.name}.example`;
    await open('mention', shared.owner, { body: text });
    await shared.ask('POST', '/issues/1/comments', { body: { body: `@${shared.writer.name}: you too` } });

    expect(await titles(shared.reader, 1)).toEqual(['mention']);
    expect(await titles(shared.writer, 1)).toEqual(['mention']);
    expect(await titles(shared.stranger, 0)).toEqual([]);
  });

  it('notify the mentioned team of the organization, not the team of one with a similar name', async () => {
    const { owner, writer, reader } = shared;
    const organization = freshName('a_b');
    await forge.ask('POST', '/orgs', { as: owner, body: { username: organization } });
    for (const [name, member] of [
      ['near', writer],
      ['far', reader],
    ] as const) {
      const team = { name, permission: 'read', units: ['repo.issues'], includes_all_repositories: true };
      const { json } = await forge.ask('POST', `/orgs/${organization}/teams`, { as: owner, body: team });
      await forge.ask('PUT', `/teams/${json.id}/members/${member.name}`, { as: owner });
    }
    const repository = await forge.makeRepository(owner, { in: organization });
    // Gitea lets the members of the teams watch a new repository.
    for (const as of [writer, reader]) await forge.ask('DELETE', `/repos/${repository}/subscription`, { as });
    const body = `@${organization}/near and @${organization.replace('_', 'x')}/far`;
    await forge.ask('POST', `/repos/${repository}/issues`, { as: owner, body: { title: 'teams', body } });

    expect(await titles(writer, 1)).toEqual(['teams']);
    expect(await titles(reader, 0)).toEqual([]);
  });

  it('notify assignees', async () => {
    await open('work', shared.owner, { assignees: [shared.writer.name] });

    expect(await titles(shared.writer, 1)).toEqual(['work']);
    expect(await titles(shared.reader, 0)).toEqual([]);
  });

  it('notify participants of comments and state changes', async () => {
    await open('talk', shared.reader);
    await shared.ask('POST', '/issues/1/comments', { body: { body: 'an answer' } });
    const thread = await first(shared.reader);
    await mark(shared.reader, thread.id);
    await shared.ask('PATCH', '/issues/1', { body: { state: 'closed' } });

    const { json } = await waitFor(
      () => list(shared.reader),
      (answer) => answer.json.length === 1,
    );
    expect(json[0]).toMatchObject({ id: thread.id, unread: true, subject: { state: 'closed' } });
    expect(json[0].subject.latest_comment_url).toMatch(/\/issues\/comments\/\d+$/);
    expect(json[0].subject.latest_comment_html_url).toMatch(/\/issues\/1#issuecomment-\d+$/);
  });

  it('report pull requests: opened, requested for review, pushed to and merged', async () => {
    const write = (path: string, more: object) =>
      shared.ask('POST', `/contents/${path}`, {
        body: { content: 'eA==', message: path, ...more },
        as: 'writer',
      });
    await write('a.txt', { new_branch: 'topic' });
    const body = { title: 'a change', head: 'topic', base: 'main', reviewers: [shared.reader.name] };
    await shared.ask('POST', '/pulls', { body, as: 'writer' });
    const thread = await first(shared.owner);
    expect(thread.subject).toMatchObject({ type: 'Pull', title: 'a change', state: 'open' });
    expect(await titles(shared.reader, 1)).toEqual(['a change']);

    await mark(shared.owner, thread.id);
    await write('b.txt', { branch: 'topic' });
    expect(await titles(shared.owner, 1)).toEqual(['a change']);

    await mark(shared.owner, thread.id);
    const isMergeable = () => shared.ask('GET', '/pulls/1');
    await waitFor(isMergeable, ({ json }) => json.mergeable === true);
    await shared.ask('POST', '/pulls/1/merge', { body: { do: 'merge' }, as: 'writer' });
    const { json } = await waitFor(
      () => list(shared.owner),
      (answer) => answer.json.length === 1,
    );
    expect(json[0].subject.state).toBe('merged');
  });

  it('notify the author of a pull request about a review, and the reviewer about later activity', async () => {
    const more = { body: { content: 'eA==', message: 'a', new_branch: 'topic' }, as: 'writer' as const };
    await shared.ask('POST', '/contents/a.txt', more);
    const body = { title: 'a change', head: 'topic', base: 'main' };
    await shared.ask('POST', '/pulls', { body, as: 'writer' });
    const review = { event: 'APPROVED', body: 'good' };
    await shared.ask('POST', '/pulls/1/reviews', { body: review, as: 'reader' });
    expect(await titles(shared.writer, 1)).toEqual(['a change']);
    expect(await titles(shared.reader, 0)).toEqual([]);

    await shared.ask('POST', '/issues/1/comments', { body: { body: 'thanks' }, as: 'writer' });

    expect(await titles(shared.reader, 1)).toEqual(['a change']);
  });

  it('notify the recipient of a repository transfer', async () => {
    await shared.ask('POST', '/transfer', { body: { new_owner: shared.reader.name } });

    const { subject } = await first(shared.reader);
    expect(subject).toMatchObject({
      type: 'Repository',
      title: shared.fullName,
      url: `/${shared.fullName}`,
      state: '',
    });
  });

  it('do not notify watchers about a draft', async () => {
    const more = { body: { content: 'eA==', message: 'a', new_branch: 'topic' }, as: 'writer' as const };
    await shared.ask('POST', '/contents/a.txt', more);
    const body = { title: 'WIP: a change', head: 'topic', base: 'main' };
    await shared.ask('POST', '/pulls', { body, as: 'writer' });
    await mark(shared.owner, (await first(shared.owner)).id);
    await shared.ask('POST', '/issues/1/comments', { body: { body: 'to myself' }, as: 'writer' });
    await open('marker');
    expect(await titles(shared.owner, 1)).toEqual(['marker']);

    await shared.ask('PATCH', '/pulls/1', { body: { title: 'a change' }, as: 'writer' });

    expect(await titles(shared.owner, 2)).toEqual(['a change', 'marker']);
  });

  it('stop when the account unsubscribes, except for mentions', async () => {
    await open('quiet', shared.reader);
    await shared.ask('DELETE', `/issues/1/subscriptions/${shared.reader.name}`, { as: 'reader' });
    await shared.ask('POST', '/issues/1/comments', { body: { body: 'nothing for you' } });
    await open('loud', shared.reader);
    await shared.ask('POST', '/issues/2/comments', { body: { body: 'for you' } });
    expect(await titles(shared.reader, 1)).toEqual(['loud']);

    await shared.ask('POST', '/issues/1/comments', { body: { body: `@${shared.reader.name} please` } });

    expect(await titles(shared.reader, 2)).toEqual(['loud', 'quiet']);
  });

  it('stay pinned on new activity, and become unread again if read', async () => {
    await open('pinned');
    await open('read');
    await titles(shared.owner, 2);
    for (const { id, subject } of (await list(shared.owner)).json as Thread[])
      expect((await mark(shared.owner, id, subject.title)).status).toBe(205);
    for (const index of [1, 2])
      await shared.ask('POST', `/issues/${index}/comments`, { body: { body: 'news' }, as: 'writer' });

    const { json } = await waitFor(
      () => list(shared.owner),
      (answer) => answer.json.length === 2,
    );
    const states = json.map(({ subject, unread, pinned }: Thread) => [subject.title, unread, pinned]);
    expect(states.sort()).toEqual([
      ['pinned', false, true],
      ['read', true, false],
    ]);
  });

  it('are counted', async () => {
    await open('one');
    await open('two');
    await titles(shared.owner, 2);
    await mark(shared.owner, (await list(shared.owner)).json[0].id, 'pinned');

    const { status, json } = await forge.ask('GET', '/notifications/new', { as: shared.owner });

    expect([status, json]).toEqual([200, { new: 1 }]);
  });

  describe('with one of each status', () => {
    beforeEach(async () => {
      for (const title of ['unread', 'read', 'pinned']) await open(title);
      await titles(shared.owner, 3);
      for (const { id, subject } of (await list(shared.owner)).json as Thread[])
        if (subject.title !== 'unread') await mark(shared.owner, id, subject.title);
    });

    it.each([
      ['', ['pinned', 'unread']],
      ['?all=true', ['pinned', 'read', 'unread']],
      ['?status-types=read', ['read']],
      ['?status-types=read&status-types=UNREAD', ['read', 'unread']],
      ['?status-types=read&status-types=odd', ['read']],
      ['?status-types=odd', ['pinned', 'read', 'unread']],
      ['?all=true&status-types=read', ['pinned', 'read', 'unread']],
      ['?subject-type=Issue', ['pinned', 'unread']],
      ['?subject-type=pull', []],
      ['?subject-type=pull&subject-type=issue', ['pinned', 'unread']],
      ['?subject-type=commit&subject-type=repository', []],
      ['?since=2999-01-01T00:00:00Z', []],
      ['?before=2001-01-01T00:00:00Z', []],
      ['?since=2001-01-01T00:00:00Z&before=2999-01-01T00:00:00Z', ['pinned', 'unread']],
    ])('are filtered by the query "%s"', async (query, expected) => {
      expect(await titles(shared.owner, expected.length, query)).toEqual(expected);
      const { json } = await shared.ask('GET', `/notifications${query}`);
      expect(json.map((thread: Thread) => thread.subject.title).sort()).toEqual(expected);
    });

    it.each([
      ['', ['read', 'unread'], ['pinned']],
      ['?to-status=pinned', ['read'], ['pinned', 'unread']],
      ['?to-status=odd', ['read', 'unread'], ['pinned']],
      ['?status-types=pinned', ['pinned', 'read'], ['unread']],
      ['?all=true', ['pinned', 'read', 'unread'], []],
      ['?all=true&to-status=unread', [], ['pinned', 'read', 'unread']],
      ['?last_read_at=2001-01-01T00:00:00Z', ['read'], ['pinned', 'unread']],
    ])('PUT with the query "%s" leaves %j read and %j unread or pinned', async (query, read, other) => {
      for (const path of ['/notifications', `/repos/${shared.fullName}/notifications`]) {
        expect((await forge.ask('PUT', path + query, { as: shared.owner })).status).toBe(205);

        expect(await titles(shared.owner, read.length, '?status-types=read')).toEqual(read);
        expect(await titles(shared.owner, other.length)).toEqual(other);
      }
    });

    it('refuse an invalid time bound', async () => {
      for (const path of ['/notifications', `/repos/${shared.fullName}/notifications`]) {
        const answers = [
          await forge.ask('GET', `${path}?since=soon`, { as: shared.owner }),
          await forge.ask('GET', `${path}?before=soon`, { as: shared.owner }),
          await forge.ask('PUT', `${path}?last_read_at=soon`, { as: shared.owner }),
        ];
        expect(answers.map(({ status }) => status)).toEqual([422, 422, 400]);
      }
    });

    it('come in pages', async () => {
      for (const path of ['/notifications', `/repos/${shared.fullName}/notifications`]) {
        const { json, headers } = await forge.ask('GET', `${path}?all=true&limit=2&page=2`, {
          as: shared.owner,
        });

        expect(json).toHaveLength(1);
        expect(headers.get('x-total-count')).toBe('3');
        expect(headers.get('link')).toContain('rel="first"');
      }
    });
  });

  it('are filtered by repository', async () => {
    const other = await forge.makeRepository(shared.owner);
    await forge.ask('POST', `/repos/${other}/issues`, { as: shared.stranger, body: { title: 'elsewhere' } });
    await open('here');
    expect(await titles(shared.owner, 2)).toEqual(['elsewhere', 'here']);

    const { json } = await shared.ask('GET', '/notifications');
    await shared.ask('PUT', '/notifications');

    expect(json.map((thread: Thread) => thread.subject.title)).toEqual(['here']);
    expect(await titles(shared.owner, 1)).toEqual(['elsewhere']);
  });

  it('are visible only to their own account', async () => {
    await open('private');
    const { id } = await first(shared.owner);
    const path = `/notifications/threads/${id}`;

    for (const as of [shared.writer, shared.stranger]) {
      expect((await forge.ask('GET', path, { as })).status).toBe(403);
      expect((await forge.ask('PATCH', path, { as })).status).toBe(403);
    }
    expect((await forge.ask('GET', path, { as: forge.adminToken })).status).toBe(200);
    expect([403, 500]).toContain((await forge.ask('PATCH', path, { as: forge.adminToken })).status);
    expect((await forge.ask('GET', '/notifications/threads/999999999', { as: shared.owner })).status).toBe(
      404,
    );
    expect((await forge.ask('PATCH', '/notifications/threads/999999999', { as: shared.owner })).status).toBe(
      404,
    );
    expect(await shared.statuses('GET', '/notifications')).toEqual([200, 200, 200, 404, 404]);
    expect(await shared.statuses('PUT', '/notifications')).toEqual([205, 205, 205, 404, 404]);
  });

  it.each([
    ['GET', '/notifications'],
    ['PUT', '/notifications'],
    ['GET', '/notifications/new'],
    ['GET', '/notifications/threads/1'],
    ['PATCH', '/notifications/threads/1'],
  ])('require authentication for %s %s', async (method, path) => {
    expect((await forge.ask(method, path)).status).toBe(401);
  });

  it('hide repositories that the account can no longer read', async () => {
    await open('secret', shared.reader);
    await shared.ask('POST', '/issues/1/comments', { body: { body: 'hm' } });
    const { id } = await first(shared.reader);
    await shared.ask('DELETE', `/collaborators/${shared.reader.name}`);

    const { json } = await forge.ask('GET', `/notifications/threads/${id}`, { as: shared.reader });

    expect(json).toMatchObject({ id, repository: null, subject: null });
  });
});

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';
import { waitFor } from '../support/shared-repository.ts';

describeContract('issues', (forge) => {
  let ada: Account;
  let bob: Account;
  let repository: string;
  beforeAll(async () => {
    ada = await forge.makeUser();
    bob = await forge.makeUser();
  });
  beforeEach(async () => {
    repository = await forge.makeRepository(ada);
  });

  const ask = (method: string, path: string, body?: unknown, as: Account | undefined = ada) =>
    forge.ask(method, `/repos/${repository}${path}`, { as, body });
  const titles = (answer: { json: { title: string }[] }) => answer.json.map((issue) => issue.title);

  it('have milestones whose titles are trimmed', async () => {
    const made = await ask('POST', '/milestones', { title: ' \t\u00a0\u3000one two\u0085\n' });
    const edited = await ask('PATCH', `/milestones/${made.json.id}`, { title: '\u00a0three ' });
    const found = await ask('GET', '/milestones/three');

    expect([made.json.title, edited.json.title, found.json.id]).toEqual(['one two', 'three', made.json.id]);
  });

  describe('when opened', () => {
    it('get every field that a writer sets', async () => {
      const label = await ask('POST', '/labels', { name: 'bug', color: 'fff' });
      const milestone = await ask('POST', '/milestones', { title: 'v1' });
      const body = {
        title: 'crash',
        body: 'it falls over',
        ref: 'main',
        labels: [label.json.id],
        milestone: milestone.json.id,
        assignees: [ada.name],
        due_date: '2030-01-02T03:04:05+01:00',
      };

      const answer = await ask('POST', '/issues', body);

      expect(answer.status).toBe(201);
      expect(answer.json).toMatchObject({
        number: 1,
        title: 'crash',
        body: 'it falls over',
        ref: 'main',
        state: 'open',
        user: { login: ada.name },
        labels: [{ name: 'bug' }],
        milestone: { title: 'v1', open_issues: 1 },
        assignee: { login: ada.name },
        assignees: [{ login: ada.name }],
        repository: { full_name: repository },
        pull_request: null,
      });
      expect(Date.parse(answer.json.due_date)).toBe(Date.parse('2030-01-02T02:04:05Z'));
    });

    it('silently drop fields that a reader may not set', async () => {
      const label = await ask('POST', '/labels', { name: 'bug', color: 'fff' });
      const body = {
        title: 'x',
        labels: [label.json.id],
        assignees: [ada.name],
        milestone: 1,
        due_date: '2030-01-02T00:00:00Z',
      };

      const answer = await ask('POST', '/issues', body, bob);

      expect(answer.status).toBe(201);
      expect(answer.json).toMatchObject({
        labels: [],
        assignees: null,
        assignee: null,
        milestone: null,
        due_date: null,
      });
    });

    it.each([
      ['no title', { title: '' }],
      ['an unknown assignee', { title: 'x', assignees: ['missing-account'] }],
    ])('are refused with %s', async (_, body) => {
      expect((await ask('POST', '/issues', body)).status).toBe(422);
    });

    it('accept an assignee only if the account can read pull requests', async () => {
      const body = { title: 'x', assignees: [bob.name] };
      expect((await ask('POST', '/issues', body)).json.assignees[0].login).toBe(bob.name);
      await ask('PATCH', '', { private: true });

      expect((await ask('POST', '/issues', body)).status).toBe(422);
    });

    it('may be closed immediately', async () => {
      const answer = await ask('POST', '/issues', { title: 'x', closed: true });

      expect(answer.json.state).toBe('closed');
      expect(answer.json.closed_at).not.toBeNull();
    });

    it('are refused in an archived repository', async () => {
      await ask('PATCH', '', { archived: true });

      expect((await ask('POST', '/issues', { title: 'x' })).status).toBe(423);
    });

    it('are counted by the repository while they are open', async () => {
      const count = async () => (await ask('GET', '')).json.open_issues_count;
      await ask('POST', '/issues', { title: 'a' });
      await ask('POST', '/issues', { title: 'b' });
      const before = await count();

      await ask('PATCH', '/issues/1', { state: 'closed' });

      expect([before, await count()]).toEqual([2, 1]);
    });
  });

  describe('when edited', () => {
    beforeEach(() => ask('POST', '/issues', { title: 'first', body: 'text' }));

    it('return 201 and keep omitted fields', async () => {
      const answer = await ask('PATCH', '/issues/1', { title: 'second' });

      expect([answer.status, answer.json.title, answer.json.body]).toEqual([201, 'second', 'text']);
    });

    it('close and reopen, and accept no other state', async () => {
      const closed = await ask('PATCH', '/issues/1', { state: 'closed' });
      const open = await ask('PATCH', '/issues/1', { state: 'open' });
      const wrong = await ask('PATCH', '/issues/1', { state: 'merged' });

      expect([closed.json.state, open.json.state, open.json.closed_at]).toEqual(['closed', 'open', null]);
      expect(wrong.status).toBe(412);
    });

    it('refuse a body based on an outdated version', async () => {
      const { content_version } = (await ask('GET', '/issues/1')).json;

      const first = await ask('PATCH', '/issues/1', { body: 'mine', content_version });
      const second = await ask('PATCH', '/issues/1', { body: 'yours', content_version });

      expect([first.status, second.status]).toEqual([201, 409]);
      expect((await ask('GET', '/issues/1')).json.body).toBe('mine');
    });

    it('change assignees, milestone and due date, and remove them again', async () => {
      const milestone = await ask('POST', '/milestones', { title: 'v1' });
      const due_date = '2031-05-06T00:00:00Z';
      const set = await ask('PATCH', '/issues/1', {
        assignees: [ada.name],
        milestone: milestone.json.id,
        due_date,
      });
      const unset = await ask('PATCH', '/issues/1', { assignees: [], milestone: 0, unset_due_date: true });

      expect(set.json).toMatchObject({ assignees: [{ login: ada.name }], milestone: { title: 'v1' } });
      expect(unset.json).toMatchObject({ assignees: null, milestone: null, due_date: null });
    });

    it('can be edited by their author', async () => {
      const own = await ask('POST', '/issues', { title: 'mine' }, bob);

      const answer = await ask(
        'PATCH',
        `/issues/${own.json.number}`,
        { title: 'still mine', state: 'closed' },
        bob,
      );

      expect(answer.json).toMatchObject({ title: 'still mine', state: 'closed' });
    });

    it('are refused to a stranger with an empty 403', async () => {
      const answer = await ask('PATCH', '/issues/1', { title: 'x' }, bob);

      expect([answer.status, answer.text]).toEqual([403, '']);
    });

    it('return 404 if they do not exist', async () => {
      expect((await ask('PATCH', '/issues/7', { title: 'x' })).status).toBe(404);
    });
  });

  describe('in a list', () => {
    beforeEach(async () => {
      for (const name of ['bug', 'docs']) await ask('POST', '/labels', { name, color: 'fff' });
      const v1 = await ask('POST', '/milestones', { title: 'v1' });
      await ask('POST', '/issues', { title: 'alpha', body: `hello @${bob.name}` });
      await ask('POST', '/issues', { title: 'beta', milestone: v1.json.id });
      await ask('POST', '/issues', { title: 'gamma', assignees: [ada.name] });
      await ask('POST', '/issues', { title: 'delta' }, bob);
      await ask('PUT', '/issues/1/labels', { labels: ['bug', 'docs'] });
      await ask('PUT', '/issues/2/labels', { labels: ['bug'] });
      await ask('PATCH', '/issues/3', { state: 'closed' });
    });

    it.each([
      ['', ['delta', 'beta', 'alpha']],
      ['state=closed', ['gamma']],
      ['state=all', ['delta', 'gamma', 'beta', 'alpha']],
      ['state=nonsense', ['delta', 'beta', 'alpha']],
      ['type=pulls', []],
      ['type=issues&state=all&limit=2&page=2', ['beta', 'alpha']],
      ['labels=bug', ['beta', 'alpha']],
      ['labels=bug,docs', ['alpha']],
      ['labels=docs,nothing', ['alpha']],
      ['labels=nothing', ['delta', 'beta', 'alpha']],
      ['milestones=v1', ['beta']],
      ['q=ALPH', ['alpha']],
      ['created_by=BOB', ['delta']],
      ['assigned_by=ADA&state=all', ['gamma']],
      ['mentioned_by=BOB', ['alpha']],
      ['since=2100-01-01T00:00:00Z', []],
      ['before=2100-01-01T00:00:00Z', ['delta', 'beta', 'alpha']],
    ])('are filtered by %s', async (query, expected) => {
      const path = `/issues?${query.replace('BOB', bob.name).replace('ADA', ada.name)}`;
      const isFound = (answer: Answer): boolean => titles(answer).length === expected.length;

      // A real forge adds issues to its search index a moment later.
      expect(titles(await waitFor(() => ask('GET', path), isFound))).toEqual(expected);
    });

    it.each([
      ['since=yesterday', 422],
      ['created_by=missing-account', 404],
    ])('are refused with %s', async (query, status) => {
      expect((await ask('GET', `/issues?${query}`)).status).toBe(status);
    });
  });

  describe('comments', () => {
    beforeEach(() => ask('POST', '/issues', { title: 'first' }));

    it('are listed for their issue, oldest first, without paging', async () => {
      for (const body of ['one', 'two', 'three']) await ask('POST', '/issues/1/comments', { body });

      const list = await ask('GET', '/issues/1/comments?limit=1');

      expect(list.json.map((comment: { body: string }) => comment.body)).toEqual(['one', 'two', 'three']);
      expect(list.headers.get('x-total-count')).toBe('3');
      expect((await ask('GET', '/issues/1')).json.comments).toBe(3);
    });

    it('contain the web URL of the issue, and no pull request URL', async () => {
      const answer = await ask('POST', '/issues/1/comments', { body: 'hm' });

      expect(answer.status).toBe(201);
      expect(answer.json.issue_url).toMatch(new RegExp(`/${repository}/issues/1$`));
      expect(answer.json.html_url).toBe(`${answer.json.issue_url}#issuecomment-${answer.json.id}`);
      expect(answer.json.pull_request_url).toBe('');
    });

    it('are filtered by time', async () => {
      await ask('POST', '/issues/1/comments', { body: 'hm' });

      const later = await ask('GET', '/issues/1/comments?since=2100-01-01T00:00:00Z');
      const wrong = await ask('GET', '/issues/1/comments?since=now');

      expect([later.json, wrong.status]).toEqual([[], 422]);
    });

    it('can be edited by their author and writers, and return an empty 403 to strangers', async () => {
      const own = (await ask('POST', '/issues/1/comments', { body: 'mine' }, bob)).json.id;
      const others = (await ask('POST', '/issues/1/comments', { body: 'hers' })).json.id;

      const byAuthor = await ask('PATCH', `/issues/comments/${own}`, { body: 'still mine' }, bob);
      const byWriter = await ask('PATCH', `/issues/comments/${own}`, { body: 'now hers' });
      const byStranger = await ask('PATCH', `/issues/comments/${others}`, { body: 'x' }, bob);
      const removal = await ask('DELETE', `/issues/comments/${others}`, undefined, bob);

      expect([byAuthor.json.body, byWriter.json.body]).toEqual(['still mine', 'now hers']);
      expect([byStranger.status, byStranger.text, removal.status, removal.text]).toEqual([403, '', 403, '']);
    });

    it('are not found after deletion', async () => {
      const { id } = (await ask('POST', '/issues/1/comments', { body: 'hm' })).json;

      const gone = await ask('DELETE', `/issues/comments/${id}`);
      const read = await ask('GET', `/issues/comments/${id}`);

      expect([gone.status, read.status, (await ask('GET', '/issues/1')).json.comments]).toEqual([
        204, 404, 0,
      ]);
    });

    it('of another repository are not found', async () => {
      const { id } = (await ask('POST', '/issues/1/comments', { body: 'hm' })).json;
      const other = await forge.makeRepository(ada);

      const answers = await Promise.all([
        forge.ask('GET', `/repos/${other}/issues/comments/${id}`, { as: ada }),
        forge.ask('PATCH', `/repos/${other}/issues/comments/${id}`, { as: ada, body: { body: 'x' } }),
        forge.ask('DELETE', `/repos/${other}/issues/comments/${id}`, { as: ada }),
      ]);

      expect(answers.map((answer) => answer.status)).toEqual([404, 404, 404]);
    });

    it('require a body', async () => {
      expect((await ask('POST', '/issues/1/comments', { body: '' })).status).toBe(422);
    });

    it('of an unknown issue return 404, or 500 on Gitea', async () => {
      const list = await ask('GET', '/issues/77/comments');
      const write = await ask('POST', '/issues/77/comments', { body: 'x' });

      for (const { status } of [list, write]) expect([404, 500]).toContain(status);
    });
  });

  describe('milestones', () => {
    it('are listed by due date, those without one first, only open ones by default', async () => {
      for (const [title, due_on, state] of [
        ['none', undefined, 'open'],
        ['late', '2031-01-01T00:00:00Z', 'open'],
        ['soon', '2030-01-01T00:00:00Z', 'open'],
        ['done', undefined, 'closed'],
      ]) {
        await ask('POST', '/milestones', { title, due_on, state });
      }

      expect(titles(await ask('GET', '/milestones'))).toEqual(['none', 'soon', 'late']);
      expect(titles(await ask('GET', '/milestones?state=closed'))).toEqual(['done']);
      expect(titles(await ask('GET', '/milestones?state=all&name=o'))).toEqual(['done', 'none', 'soon']);
    });

    it('count their issues', async () => {
      const { id } = (await ask('POST', '/milestones', { title: 'v1' })).json;
      await ask('POST', '/issues', { title: 'a', milestone: id });
      await ask('POST', '/issues', { title: 'b', milestone: id });
      await ask('PATCH', '/issues/2', { state: 'closed' });

      // Some forges count in the background.
      await expect
        .poll(async () => (await ask('GET', '/milestones')).json[0])
        .toMatchObject({ open_issues: 1, closed_issues: 1 });
    });
  });
});

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';

describeContract('pull requests', (forge) => {
  let ada: Account;
  let repository: string;
  beforeAll(async () => {
    ada = await forge.makeUser();
  });
  beforeEach(async () => {
    repository = await forge.makeRepository(ada, { auto_init: true });
    await write('a.txt', 'one\ntwo\n', { new_branch: 'topic' });
  });

  const ask = (method: string, path: string, body?: unknown, as: Account = ada): Promise<Answer> =>
    forge.ask(method, `/repos/${repository}${path}`, { as, body });
  async function write(path: string, text: string, more: object = {}): Promise<string> {
    const content = Buffer.from(text).toString('base64');
    return (await ask('POST', `/contents/${path}`, { content, message: path, ...more })).json.commit.sha;
  }
  const open = (more: object = {}, as: Account = ada): Promise<Answer> =>
    ask('POST', '/pulls', { title: 'A change', head: 'topic', base: 'main', ...more }, as);

  describe('opened', () => {
    it('include every field', async () => {
      const { status, json } = await open({ body: 'why' });

      const head = (await ask('GET', '/branches/topic')).json.commit.id;
      const base = (await ask('GET', '/branches/main')).json.commit.id;
      const address = `${forge.url}/${repository}/pulls/1`;
      expect(status).toBe(201);
      expect(json).toMatchObject({
        number: 1,
        url: address,
        html_url: address,
        diff_url: `${address}.diff`,
        patch_url: `${address}.patch`,
        title: 'A change',
        body: 'why',
        state: 'open',
        draft: false,
        is_locked: false,
        comments: 0,
        labels: [],
        milestone: null,
        assignee: null,
        assignees: [],
        requested_reviewers: [],
        requested_reviewers_teams: [],
        user: { login: ada.name },
        merged: false,
        merged_at: null,
        merge_commit_sha: null,
        merged_by: null,
        base: { label: 'main', ref: 'main', sha: base, repo: { full_name: repository } },
        head: { label: 'topic', ref: 'topic', sha: head, repo: { full_name: repository } },
        merge_base: base,
        due_date: null,
        closed_at: null,
        additions: 2,
        deletions: 0,
        changed_files: 1,
      });
      const issue = (await ask('GET', '/issues/1')).json;
      expect(issue.pull_request).toMatchObject({ merged: false, draft: false, html_url: address });
    });

    it.each([
      ['WIP: x', true],
      ['wip: x', true],
      ['[WIP] x', true],
      ['x WIP:', false],
    ])('titled "%s" are drafts: %s', async (title, draft) => {
      expect((await open({ title })).json.draft).toBe(draft);
    });

    it('get labels, assignees, milestone and due date, without unknown labels', async () => {
      const label = (await ask('POST', '/labels', { name: 'bug', color: '#ff0000' })).json.id;
      const milestone = (await ask('POST', '/milestones', { title: 'one' })).json.id;

      const { json } = await open({
        labels: [label, 999_999],
        milestone,
        assignees: [ada.name],
        due_date: '2030-01-02T00:00:00Z',
      });

      expect(json.labels.map((one: { name: string }) => one.name)).toEqual(['bug']);
      expect([json.milestone.title, json.assignee.login]).toEqual(['one', ada.name]);
      expect(json.due_date).not.toBeNull();
    });

    it.each([
      ['head and base are the same', { head: 'main' }, 422],
      ['the base is unknown', { base: 'nothing' }, 404],
      ['the head is unknown', { head: 'nothing' }, 404],
      ['the head user is unknown', { head: 'missing-account:topic' }, 404],
      ['the head repository is unknown', { head: 'missing/nothing:topic' }, 404],
      ['the milestone is unknown', { milestone: 999_999 }, 404],
      ['an assignee is unknown', { assignees: ['missing-account'] }, 422],
      ['a reviewer is unknown', { reviewers: ['missing-account'] }, 404],
      ['the title is missing', { title: '' }, 422],
      ['the head looks like a command-line option', { head: '--help' }, 404],
    ])('are refused if %s', async (_, more, status) => {
      expect((await open(more)).status).toBe(status);

      expect((await ask('GET', '/pulls')).json).toEqual([]);
    });

    it('are refused if the head is a commit', async () => {
      const head = (await ask('GET', '/branches/topic')).json.commit.id;

      expect((await open({ head })).status).toBe(422);
    });

    it('are refused while another is open between the same branches', async () => {
      await open();

      expect((await open()).status).toBe(409);
      await ask('PATCH', '/pulls/1', { state: 'closed' });
      expect((await open()).status).toBe(201);
      // Gitea checks this only on creation.
      expect((await ask('PATCH', '/pulls/1', { state: 'open' })).status).toBe(201);
    });

    it('are refused to strangers and in an archived repository', async () => {
      const stranger = await forge.makeUser();

      expect((await open({}, stranger)).status).toBe(403);
      await ask('PATCH', '', { archived: true });
      expect((await open()).status).toBe(423);
    });

    it("are refused if the head's user has no fork", async () => {
      const other = await forge.makeUser();

      expect((await open({ head: `${other.name}:topic` })).status).toBe(400);
    });
  });

  describe('listed', () => {
    beforeEach(async () => {
      await write('b.txt', 'x', { new_branch: 'second' });
      await write('c.txt', 'x', { new_branch: 'third' });
      await open({ title: 'first' });
      await open({ title: 'second', head: 'second' });
      await open({ title: 'third', head: 'third', base: 'topic' });
      await ask('PATCH', '/pulls/2', { state: 'closed' });
    });
    const titles = async (query: string): Promise<string[]> =>
      (await ask('GET', `/pulls${query}`)).json.map((pull: { title: string }) => pull.title);

    it.each([
      ['', ['third', 'second', 'first']],
      ['?state=open', ['third', 'first']],
      ['?state=closed', ['second']],
      ['?state=whatever', ['third', 'second', 'first']],
      ['?sort=oldest', ['first', 'second', 'third']],
      ['?base_branch=topic', ['third']],
      ['?limit=1&page=2', ['second']],
      ['?page=9', []],
    ])('with "%s" are %j', async (query, expected) => {
      expect(await titles(query)).toEqual(expected);
    });

    it('include the total count, but no line counts', async () => {
      const answer = await ask('GET', '/pulls?limit=1');

      expect(answer.headers.get('x-total-count')).toBe('3');
      expect(answer.headers.get('link')).toContain('rel="last"');
      expect(answer.json[0]).not.toHaveProperty('additions');
      expect(answer.json[0].assignees).toBeNull();
    });

    it('are filtered by poster, label and milestone', async () => {
      const label = (await ask('POST', '/labels', { name: 'bug', color: '#ff0000' })).json.id;
      const milestone = (await ask('POST', '/milestones', { title: 'one' })).json.id;
      await ask('PATCH', '/pulls/3', { labels: [label], milestone });

      expect(await titles(`?labels=${label}`)).toEqual(['third']);
      expect(await titles(`?milestone=${milestone}`)).toEqual(['third']);
      expect(await titles(`?poster=${ada.name}`)).toHaveLength(3);
      expect((await ask('GET', '/pulls?poster=missing-account')).status).toBe(400);
    });
  });

  describe('read', () => {
    it('are found by number or by their branches', async () => {
      await open();
      const owner = repository.split('/')[0];

      expect((await ask('GET', '/pulls/1')).json.number).toBe(1);
      expect((await ask('GET', '/pulls/main/topic')).json.number).toBe(1);
      expect((await ask('GET', `/pulls/main/${owner}:topic`)).json.number).toBe(1);
      expect((await ask('GET', '/pulls/main/other')).status).toBe(404);
      expect((await ask('GET', '/pulls/99')).status).toBe(404);
      expect((await ask('GET', '/pulls/one')).status).toBe(404);
    });

    it('show the tip of their branch as the head once they are closed, and keep their end as a ref', async () => {
      const end = (await open()).json.head.sha;
      await ask('PATCH', '/pulls/1', { state: 'closed' });
      const late = await write('late.txt', 'late\n', { branch: 'topic' });
      const closed = await ask('GET', '/pulls/1');
      const [ref] = (await ask('GET', '/git/refs/pull/1/head')).json;
      await ask('DELETE', '/branches/topic');
      const gone = await ask('GET', '/git/refs/pull/1/head');

      expect(late).not.toBe(end);
      expect(closed.json.head).toMatchObject({ ref: 'topic', sha: late });
      expect(ref).toMatchObject({ ref: 'refs/pull/1/head', object: { type: 'commit', sha: end } });
      expect(gone.json).toMatchObject([{ object: { sha: end } }]);
    });

    it('have the tip of their branch as the head once they are reopened', async () => {
      await open();
      await ask('PATCH', '/pulls/1', { state: 'closed' });
      const late = await write('late.txt', 'late\n', { branch: 'topic' });
      await ask('PATCH', '/pulls/1', { state: 'open' });

      await expect
        .poll(async () => (await ask('GET', '/git/refs/pull/1/head')).json[0].object.sha, { timeout: 60_000 })
        .toBe(late);
      expect((await ask('GET', '/pulls/1')).json.head.sha).toBe(late);
    });

    it('by their branches are the oldest match, even if it is closed', async () => {
      await open();
      await ask('PATCH', '/pulls/1', { state: 'closed' });
      await open();

      expect((await ask('GET', '/pulls/main/topic')).json).toMatchObject({ number: 1, state: 'closed' });
    });

    it('list their files and commits', async () => {
      const commit = (await ask('GET', '/branches/topic')).json.commit.id;
      await open();

      const files = await ask('GET', '/pulls/1/files');
      const commits = await ask('GET', '/pulls/1/commits');

      expect(files.json).toEqual([
        {
          filename: 'a.txt',
          status: 'added',
          additions: 2,
          deletions: 0,
          changes: 2,
          html_url: `${forge.url}/${repository}/src/commit/${commit}/a.txt`,
          contents_url: expect.stringContaining(`/contents/a.txt?ref=${commit}`),
          raw_url: `${forge.url}/${repository}/raw/commit/${commit}/a.txt`,
        },
      ]);
      expect(commits.json.map((entry: { sha: string }) => entry.sha)).toEqual([commit]);
      expect([files.headers.get('x-total-count'), commits.headers.get('x-total-count')]).toEqual(['1', '1']);
      expect((await ask('GET', '/pulls/9/files')).status).toBe(404);
    });

    it('refer to the head commit in the URLs of a deleted file', async () => {
      const { sha } = (await ask('GET', '/contents/README.md?ref=topic')).json;
      const body = { branch: 'topic', sha, message: 'No description' };
      expect((await ask('DELETE', '/contents/README.md', body)).status).toBe(200);
      const head = (await ask('GET', '/branches/topic')).json.commit.id;
      await open();

      const files = (await ask('GET', '/pulls/1/files')).json;

      expect(files).toContainEqual(
        expect.objectContaining({
          status: 'deleted',
          contents_url: expect.stringContaining(`/contents/README.md?ref=${head}`),
        }),
      );
    });
  });

  describe('edited', () => {
    beforeEach(async () => {
      await open({ title: 'WIP: x' });
    });
    const edit = (body: object, as: Account = ada): Promise<Answer> => ask('PATCH', '/pulls/1', body, as);

    it('return 201 with the new values', async () => {
      const { status, json } = await edit({ title: 'x', body: 'new', due_date: '2030-01-02T00:00:00Z' });

      expect(status).toBe(201);
      expect(json).toMatchObject({ title: 'x', body: 'new', draft: false, content_version: 1 });
      expect((await edit({ unset_due_date: true })).json.due_date).toBeNull();
    });

    it('refuse a body based on an outdated version', async () => {
      await edit({ body: 'first' });

      expect((await edit({ body: 'second', content_version: 0 })).status).toBe(409);
      expect((await edit({ body: 'second', content_version: 1 })).status).toBe(201);
    });

    it('close and reopen', async () => {
      const closed = await edit({ state: 'closed' });

      expect([closed.json.state, typeof closed.json.closed_at]).toEqual(['closed', 'string']);
      expect((await edit({ base: 'topic' })).status).toBe(422);
      expect((await edit({ state: 'open' })).json.state).toBe('open');
      expect((await edit({ state: 'merged' })).status).toBe(412);
    });

    it('change their base', async () => {
      await ask('POST', '/branches', { new_branch_name: 'next', old_ref_name: 'main' });

      expect((await edit({ base: 'next' })).json.base.ref).toBe('next');
      expect((await edit({ base: 'nothing' })).status).toBe(404);
    });

    it('replace their labels, and remove all if the list is empty', async () => {
      const make = async (name: string): Promise<number> =>
        (await ask('POST', '/labels', { name, color: '#123456' })).json.id;
      const [one, two] = [await make('one'), await make('two')];

      await edit({ labels: [one] });
      const { json } = await edit({ labels: [two] });

      expect(json.labels.map((label: { name: string }) => label.name)).toEqual(['two']);
      expect((await edit({ labels: [] })).json.labels).toEqual([]);
    });

    it('accept changes by their author and by writers; others get an empty 403', async () => {
      const stranger = await forge.makeUser();

      const { status, text } = await edit({ title: 'mine' }, stranger);

      expect([status, text]).toEqual([403, '']);
    });
  });
});

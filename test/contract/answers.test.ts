import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, describeContract, freshName } from '../support/contract-forge.ts';

describeContract('responses', (forge) => {
  let ada: Account;
  let ben: Account;
  let repository: string;
  beforeAll(async () => {
    [ada, ben] = [await forge.makeUser(), await forge.makeUser()];
    repository = await forge.makeRepository(ada, { auto_init: true });
  });
  const ask = (method: string, path: string, body?: unknown, as: Account | undefined = ada) =>
    forge.ask(method, path, { as, ...(body === undefined ? {} : { body }) });
  const inRepository = (method: string, path: string, body?: unknown, as: Account | undefined = ada) =>
    ask(method, `/repos/${repository}${path}`, body, as);

  describe('have headers', () => {
    it('that forbid content type sniffing', async () => {
      const { headers } = await inRepository('GET', '');

      expect(headers.get('x-content-type-options')).toBe('nosniff');
    });

    it('without a link to a page beyond the last one', async () => {
      const beyond = await inRepository('GET', '/branches?page=99&limit=1');
      const second = await inRepository('GET', '/commits?page=99&limit=1');

      expect([beyond.headers.get('link'), second.headers.get('link')]).toEqual([null, null]);
    });
  });

  describe('to writes with a title', () => {
    it('cut the title to 255 columns and trim its white space', async () => {
      const long = await inRepository('POST', '/issues', { title: 'x'.repeat(256) });
      const whole = await inRepository('POST', '/issues', { title: 'x'.repeat(255) });
      const spaced = await inRepository('POST', '/issues', { title: '  a title  ' });

      expect(long.json.title).toBe(`${'x'.repeat(252)}…`);
      expect(whole.json.title).toBe('x'.repeat(255));
      expect(spaced.json.title).toBe('a title');
    });
  });

  describe('to callers without credentials', () => {
    it('are 403 if the role is checked before authentication', async () => {
      const none = { as: undefined };
      const answers = [
        await forge.ask('GET', `/repos/${repository}/push_mirrors`, none),
        await forge.ask('PUT', `/repos/${repository}/topics/bot`, none),
        await forge.ask('DELETE', `/repos/${repository}/avatar`, none),
        await forge.ask('GET', `/users/${ada.name}/tokens`, none),
      ];

      expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    });
  });

  it('to token creation refuse a token as credentials before the body is read', async () => {
    const { status } = await ask('POST', `/users/${ada.name}/tokens`, []);

    expect(status).toBe(401);
  });

  it('about topics list the invalid names; a missing list counts as an empty one', async () => {
    const wrong = await inRepository('PUT', '/topics', { topics: ['fine', 'Not Fine'] });
    await inRepository('PUT', '/topics', { topics: ['fine'] });
    const cleared = await inRepository('PUT', '/topics', {});

    expect([wrong.status, wrong.json.invalidTopics]).toEqual([422, ['not fine']]);
    expect(cleared.status).toBe(204);
    expect((await inRepository('GET', '/topics')).json.topics).toEqual([]);
  });

  it('are 404 for the pull requests of a repository without commits', async () => {
    const empty = await forge.makeRepository(ada);

    const { status } = await ask('GET', `/repos/${empty}/pulls`);

    expect(status).toBe(404);
  });

  it('show a template repository with actions disabled', async () => {
    const made = await ask('POST', '/user/repos', { name: freshName('repo'), template: true });

    expect(made.json).toMatchObject({ template: true, has_actions: false, has_issues: true });
  });

  it('hide the email address of a repository owner who hides it, even from the owner', async () => {
    const shy = await forge.makeUser();
    const own = await forge.makeRepository(shy);
    await ask('PATCH', '/user/settings', { hide_email: true }, shy);

    const { json } = await ask('GET', `/repos/${own}`, undefined, shy);

    expect(json.owner.email).toMatch(/@noreply\./);
  });

  it('count reviews among the comments of a pull request once a comment is added', async () => {
    const file = { content: '', message: 'x', new_branch: 'topic' };
    await inRepository('POST', '/contents/a.txt', file);
    const { json: pull } = await inRepository('POST', '/pulls', { title: 't', head: 'topic', base: 'main' });
    await inRepository('POST', `/pulls/${pull.number}/reviews`, { event: 'COMMENT', body: 'r' }, ben);
    const before = (await inRepository('GET', `/pulls/${pull.number}`)).json.comments;
    await inRepository('POST', `/issues/${pull.number}/comments`, { body: 'c' });

    const after = (await inRepository('GET', `/pulls/${pull.number}`)).json.comments;

    expect([before, after]).toEqual([0, 2]);
  });

  it('show team members as watchers of a repository that was added to the team', async () => {
    const organization = await forge.makeOrganization(ada);
    const teamRepository = await forge.makeRepository(ada, { in: organization });
    const units = ['repo.code'];
    const { json: team } = await ask('POST', `/orgs/${organization}/teams`, {
      name: 'team',
      permission: 'read',
      units,
    });
    await ask('PUT', `/teams/${team.id}/members/${ben.name}`);
    await ask('PUT', `/teams/${team.id}/repos/${teamRepository}`);

    const { json } = await ask('GET', `/repos/${teamRepository}/subscribers`);

    expect(json.map(({ login }: { login: string }) => login)).toContain(ben.name);
  });

  it('list OAuth2 applications newest first', async () => {
    const person = await forge.makeUser();
    for (const name of ['first', 'second']) {
      const body = { name, redirect_uris: ['http://127.0.0.1/'], confidential_client: true };
      await ask('POST', '/user/applications/oauth2', body, person);
    }

    const { json } = await ask('GET', '/user/applications/oauth2', undefined, person);

    expect(json.map(({ name }: { name: string }) => name)).toEqual(['second', 'first']);
  });

  it('of the administration API refuse a short password, and contain an edited login name', async () => {
    const name = freshName('user');
    const body = { username: name, email: `${name}@example.org`, password: 'x' };
    const admin = { as: forge.adminToken };

    const short = await forge.ask('POST', '/admin/users', { ...admin, body });
    await forge.ask('POST', '/admin/users', { ...admin, body: { ...body, password: 'long enough 1' } });
    const edit = { source_id: 0, login_name: 'other' };
    const edited = await forge.ask('PATCH', `/admin/users/${name}`, { ...admin, body: edit });

    expect([short.status, edited.json.login_name]).toEqual([400, 'other']);
  });
});

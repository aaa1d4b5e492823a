import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, type Answer, basic, describeContract, freshName } from '../support/contract-forge.ts';

describeContract('account settings', (forge) => {
  let ada: Account;
  let stranger: Account;
  beforeAll(async () => {
    [ada, stranger] = [await forge.makeUser(), await forge.makeUser()];
  });
  const ask = (method: string, path: string, body?: unknown, as: Account | string = ada): Promise<Answer> =>
    forge.ask(method, path, { as, body });

  describe('email addresses', () => {
    const own = () => `${ada.name}@example.org`;
    const another = freshName('another');
    const emails = ({ json }: Answer) => json.map(({ email }: { email: string }) => email);

    it('include the primary address and added ones', async () => {
      const before = await ask('GET', '/user/emails');
      const added = await ask('POST', '/user/emails', { emails: [`${another}@Example.org`] });

      expect([before.status, before.json]).toEqual([
        200,
        [{ email: own(), verified: true, primary: true, user_id: 0, username: '' }],
      ]);
      expect([added.status, emails(added)]).toEqual([201, [own(), `${another}@Example.org`]]);
      expect(added.json[1]).toMatchObject({ verified: true, primary: false });
    });

    it('are unique across accounts, ignoring case', async () => {
      const taken = { emails: [`${another}@EXAMPLE.org`] };
      const user = {
        username: freshName('user'),
        email: `${another}@example.org`,
        password: 'correct horse',
      };

      const mine = await ask('POST', '/user/emails', taken);
      const primary = await ask('POST', '/user/emails', { emails: [own()] });
      const theirs = await ask('POST', '/user/emails', taken, stranger);

      expect([mine, primary, theirs].map(({ status }) => status)).toEqual([422, 422, 422]);
      expect(theirs.json.message).toContain(`Email address has been used: ${another}@EXAMPLE.org`);
      expect((await ask('POST', '/admin/users', user, forge.adminToken)).status).toBe(422);
      const edit = { login_name: stranger.name, source_id: 0, email: user.email };
      const edited = await ask('PATCH', `/admin/users/${stranger.name}`, edit, forge.adminToken);
      expect([400, 422]).toContain(edited.status);
    });

    it('can be used to sign in with the password, and identify the account in commits', async () => {
      const repository = await forge.makeRepository(ada);
      const author = { name: 'x', email: `${another}@example.org` };
      const body = { content: '', message: 'x', author };
      const made = await ask('POST', `/repos/${repository}/contents/x`, body);
      const commit = await ask('GET', `/repos/${repository}/git/commits/${made.json.commit.sha}`);

      const headers = basic(`${another}@example.org`, ada.password);
      expect((await forge.ask('GET', '/user', { headers })).json.login).toBe(ada.name);
      expect(commit.json.author.login).toBe(ada.name);
    });

    it('are validated', async () => {
      const refused = await ask('POST', '/user/emails', { emails: ['x'] });

      expect([refused.status, refused.json.message]).toEqual([422, 'Email address "x" invalid']);
      expect((await ask('POST', '/user/emails', { emails: [] })).status).toBe(422);
      expect((await ask('POST', '/user/emails', { emails: [`-${freshName('a')}@example.org`] })).status).toBe(
        422,
      );
    });

    it('can be deleted, except the primary one', async () => {
      expect((await ask('DELETE', '/user/emails', { emails: [] })).status).toBe(204);
      expect((await ask('DELETE', '/user/emails', { emails: ['stranger@example.org'] })).status).toBe(404);
      // Gitea and Forgejo return 500.
      expect([422, 500]).toContain((await ask('DELETE', '/user/emails', { emails: [own()] })).status);
      const deleted = await ask('DELETE', '/user/emails', { emails: [`${another}@example.org`] });
      expect(deleted.status).toBe(204);
      expect(emails(await ask('GET', '/user/emails'))).toEqual([own()]);
    });

    it('replace the primary address and free the old one', async () => {
      const guest = await forge.makeUser();
      const email = `${freshName('new')}@example.org`;
      const edit = { login_name: guest.name, source_id: 0, email };
      await ask('PATCH', `/admin/users/${guest.name}`, edit, forge.adminToken);

      expect((await ask('GET', '/user/emails', undefined, guest)).json).toMatchObject([
        { email, primary: true },
      ]);
      const old = { emails: [`${guest.name}@example.org`] };
      expect((await ask('POST', '/user/emails', old)).status).toBe(201);
    });
  });

  it('are read, and changed field by field', async () => {
    const before = await ask('GET', '/user/settings');
    const edit = {
      full_name: 'Ada L.',
      website: 'https://example.org',
      location: 'London',
      language: 'de-DE',
    };
    const first = await ask('PATCH', '/user/settings', edit);
    const second = await ask('PATCH', '/user/settings', {
      description: 'hi',
      website: '',
      hide_activity: true,
    });

    expect([before.status, before.json]).toMatchObject([
      200,
      { full_name: '', website: '', diff_view_style: '', hide_email: false, hide_activity: false },
    ]);
    expect([first.status, first.json]).toMatchObject([200, edit]);
    expect(second.json).toMatchObject({ ...edit, website: '', description: 'hi', hide_activity: true });
    expect((await ask('GET', '/user')).json).toMatchObject({ full_name: 'Ada L.', language: 'de-DE' });
  });

  it('reject texts that are too long, and invalid websites', async () => {
    for (const edit of [
      { full_name: 'x'.repeat(101) },
      { description: 'x'.repeat(256) },
      { location: 'x'.repeat(51) },
      { website: 'javascript:alert(1)' },
      { hide_email: 'yes' },
    ]) {
      expect([edit, (await ask('PATCH', '/user/settings', edit)).status]).toEqual([edit, 422]);
    }
  });

  it('can hide the email address from others, including in commits', async () => {
    const shown = await ask('GET', `/users/${ada.name}`, undefined, stranger);
    await ask('PATCH', '/user/settings', { hide_email: true });
    const hidden = await ask('GET', `/users/${ada.name}`, undefined, stranger);
    const own = await ask('GET', `/users/${ada.name}`);
    const repository = await forge.makeRepository(ada);
    const made = await ask('POST', `/repos/${repository}/contents/x`, { content: '', message: 'x' });

    expect(shown.json.email).toBe(`${ada.name}@example.org`);
    expect(hidden.json.email).toContain('@noreply.');
    expect(own.json.email).toBe(`${ada.name}@example.org`);
    expect(made.json.commit.author.email).toContain('@noreply.');
  });

  it('are closed to strangers and to tokens limited to public resources', async () => {
    const body = { name: freshName('token'), scopes: ['write:user', 'public-only'] };
    const headers = basic(ada.name, ada.password);
    const token = (await forge.ask('POST', `/users/${ada.name}/tokens`, { headers, body })).json.sha1;
    for (const path of ['/user/emails', '/user/settings']) {
      const anonymous = await forge.ask('GET', path);
      const limited = await ask('GET', path, undefined, token);
      expect([path, anonymous.status, limited.status]).toEqual([path, 401, 403]);
    }
  });
});

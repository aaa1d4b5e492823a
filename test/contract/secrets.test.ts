import { beforeAll, expect, it } from 'vitest';
import { type Account, basic, describeContract, freshName } from '../support/contract-forge.ts';

describeContract('secrets and variables', (forge) => {
  let owner: Account;
  let member: Account;
  let organization: string;
  let repository: string;
  beforeAll(async () => {
    [owner, member] = await Promise.all([forge.makeUser(), forge.makeUser()]);
    organization = await forge.makeOrganization(owner);
    repository = await forge.makeRepository(owner, { in: organization });
    await forge.share(repository, owner, { with: member, permission: 'admin' });
    // A member of the organization who owns neither the organization nor the repository.
    const body = { name: 'team', permission: 'write', units: ['repo.code', 'repo.actions'] };
    const team = await forge.ask('POST', `/orgs/${organization}/teams`, { as: owner, body });
    await forge.ask('PUT', `/teams/${team.json.id}/members/${member.name}`, { as: owner });
  });

  /** For each level: its path, its owner, and a related account without access. */
  const levels = (): readonly (readonly [string, Account, Account | undefined])[] => [
    [`/orgs/${organization}/actions`, owner, member],
    [`/repos/${repository}/actions`, owner, member],
    ['/user/actions', owner, undefined],
  ];
  const listed = (): readonly string[] => [`/orgs/${organization}/actions`, `/repos/${repository}/actions`];

  it('are created, replaced and deleted, and the value of a secret is never returned', async () => {
    for (const [path, as] of levels()) {
      const name = freshName('s').replace('-', '_');
      const at = `${path}/secrets/${name}`;
      const body = { data: 'value-of-a-secret', description: 'for tests' };

      const made = await forge.ask('PUT', at, { as, body });
      const changed = await forge.ask('PUT', at.toUpperCase().replace(/^.*\/SECRETS/, `${path}/secrets`), {
        as,
        body: { data: 'another-value' },
      });
      const list = listed().includes(path) ? await forge.ask('GET', `${path}/secrets`, { as }) : undefined;
      const single = await forge.ask('GET', at, { as });
      const gone = await forge.ask('DELETE', at, { as });
      const again = await forge.ask('DELETE', at, { as });

      const statuses = [made, changed, single, gone, again].map(({ status }) => status);
      expect([path, ...statuses]).toEqual([path, 201, 204, 405, 204, 404]);
      expect([made.text, changed.text, single.text].join('')).not.toContain('value');
      if (list === undefined) continue;
      expect(list.json.map((secret: { name: string }) => secret.name)).toContain(name.toUpperCase());
      expect(list.text).not.toMatch(/-value|value-/);
      expect(list.headers.get('x-total-count')).toBe('1');
    }
  });

  it('include variables with a value, which can be renamed', async () => {
    for (const [path, as] of levels()) {
      const name = freshName('v').replace('-', '_');
      const at = `${path}/variables/${name}`;

      const made = await forge.ask('POST', at, { as, body: { value: 'one\r\ntwo' } });
      const twice = await forge.ask('POST', at.replace(name, name.toUpperCase()), {
        as,
        body: { value: 'x' },
      });
      const first = await forge.ask('GET', at, { as });
      const renamed = await forge.ask('PUT', at, { as, body: { name: `${name}_b`, value: 'three' } });
      const second = await forge.ask('GET', `${at}_b`, { as });
      const list = await forge.ask('GET', `${path}/variables?limit=1`, { as });
      const old = await forge.ask('PUT', at, { as, body: { value: 'x' } });
      const gone = await forge.ask('DELETE', `${at}_b`, { as });

      const answers = [made, twice, first, renamed, second, old, gone];
      expect([path, ...answers.map(({ status }) => status)]).toEqual([
        path,
        201,
        409,
        200,
        204,
        200,
        404,
        204,
      ]);
      expect(first.json).toMatchObject({ name: name.toUpperCase(), data: 'one\ntwo', description: '' });
      expect(Number(first.json.owner_id > 0) + Number(first.json.repo_id > 0)).toBe(1);
      expect(second.json).toMatchObject({ name: `${name}_B`.toUpperCase(), data: 'three' });
      expect(list.json).toMatchObject([second.json]);
      expect(list.headers.get('x-total-count')).toBe('1');
    }
  });

  it('include variables that are listed by name, page by page', async () => {
    const path = `/repos/${await forge.makeRepository(owner)}/actions/variables`;
    for (const name of ['C', 'A', 'B']) {
      await forge.ask('POST', `${path}/${name}`, { as: owner, body: { value: 'x' } });
    }

    const first = await forge.ask('GET', `${path}?limit=2`, { as: owner });
    const second = await forge.ask('GET', `${path}?limit=2&page=2`, { as: owner });

    const names = [...first.json, ...second.json].map((variable: { name: string }) => variable.name);
    expect(names).toEqual(['A', 'B', 'C']);
    expect(first.headers.get('link')).toContain('rel="next"');
  });

  it.each(['1A', 'a-b', 'CI', 'github_token', 'Gitea_x', 'a%20b'])('cannot be named %s', async (name) => {
    for (const [path, as] of levels()) {
      const secret = await forge.ask('PUT', `${path}/secrets/${name}`, { as, body: { data: 'x' } });
      const variable = await forge.ask('POST', `${path}/variables/${name}`, { as, body: { value: 'x' } });

      expect([path, secret.status, variable.status]).toEqual([path, 400, 400]);
    }
  });

  it('require a value of limited length', async () => {
    for (const [path, as] of levels()) {
      const ask = (method: string, at: string, body: object) => forge.ask(method, path + at, { as, body });
      const long = 'x'.repeat(65_537);
      const answers = [
        await ask('PUT', '/secrets/A', { data: '' }),
        await ask('POST', '/variables/A', {}),
        await ask('PUT', '/secrets/A', { data: long }),
        await ask('POST', '/variables/A', { value: long }),
      ];

      expect([path, ...answers.map(({ status }) => status)]).toEqual([path, 422, 422, 400, 400]);
    }
  });

  it('are accessible only to the owner of their level', async () => {
    const calls = [
      ['GET', '/secrets', undefined],
      ['PUT', '/secrets/A', { data: 'x' }],
      ['DELETE', '/secrets/A', undefined],
      ['GET', '/variables', undefined],
      ['GET', '/variables/A', undefined],
      ['POST', '/variables/A', { value: 'x' }],
      ['PUT', '/variables/A', { value: 'x' }],
      ['DELETE', '/variables/A', undefined],
      ['GET', '/runners/registration-token', undefined],
    ] as const;
    for (const [path, , stranger] of levels()) {
      for (const [method, rest, body] of calls) {
        if (path === '/user/actions' && rest === '/secrets') continue;
        const anonymous = await forge.ask(method, path + rest, { body });
        expect([method, path, rest, anonymous.status]).toEqual([method, path, rest, 401]);
        if (!stranger) continue;
        const close = await forge.ask(method, path + rest, { as: stranger, body });
        expect([method, path, rest, close.status]).toEqual([method, path, rest, 403]);
      }
    }
  });

  it('of an account are closed to a token limited to public resources', async () => {
    const body = { name: freshName('public'), scopes: ['write:user', 'public-only'] };
    const headers = basic(owner.name, owner.password);
    const token = (await forge.ask('POST', `/users/${owner.name}/tokens`, { headers, body })).json.sha1;

    const write = await forge.ask('PUT', '/user/actions/secrets/A', { as: token, body: { data: 'x' } });
    const read = await forge.ask('GET', '/user/actions/variables', { as: token });

    expect([write.status, read.status]).toEqual([403, 403]);
  });

  it('of an organization are deleted with it', async () => {
    const name = await forge.makeOrganization(owner);
    const at = `/orgs/${name}/actions/variables/A`;
    await forge.ask('POST', at, { as: owner, body: { value: 'x' } });
    await forge.ask('DELETE', `/orgs/${name}`, { as: owner });
    await forge.ask('POST', '/orgs', { as: owner, body: { username: name } });

    expect((await forge.ask('GET', at, { as: owner })).status).toBe(404);
  });
});

describeContract('tasks', (forge) => {
  it('are listed for readers, with the total count in the body', async () => {
    const [owner, stranger] = await Promise.all([forge.makeUser(), forge.makeUser()]);
    const repository = await forge.makeRepository(owner, { private: true });

    const list = await forge.ask('GET', `/repos/${repository}/actions/tasks?limit=1`, { as: owner });
    const hidden = await forge.ask('GET', `/repos/${repository}/actions/tasks`, { as: stranger });

    expect([list.status, list.json.total_count, list.json.workflow_runs]).toEqual([200, 0, []]);
    expect(hidden.status).toBe(404);
  });
});

describeContract('runner registration tokens', (forge) => {
  it('are the same for GET and for POST', async () => {
    const owner = await forge.makeUser();
    const organization = await forge.makeOrganization(owner);
    const repository = await forge.makeRepository(owner);
    const levels = [
      [`/orgs/${organization}`, '/actions/runners/registration-token', owner],
      [`/repos/${repository}`, '/actions/runners/registration-token', owner],
      ['/user', '/actions/runners/registration-token', owner],
      ['/admin', '/runners/registration-token', forge.adminToken],
    ] as const;
    for (const [path, rest, as] of levels) {
      const post = `${path}/actions/runners/registration-token`;
      const [got, made] = [
        await forge.ask('GET', path + rest, { as }),
        await forge.ask('POST', post, { as, body: {} }),
      ];
      expect([path, got.status, got.json]).toEqual([path, 200, made.json]);
      expect(got.json.token).toMatch(/^\w{20,}$/);
    }
    const refused = await forge.ask('GET', '/admin/runners/registration-token', { as: owner });
    expect(refused.status).toBe(403);
  });
});

import { beforeAll, beforeEach, expect, it } from 'vitest';
import { type Account, type Answer, describeContract } from '../support/contract-forge.ts';

describeContract('a tag protection', (forge) => {
  let ada: Account;
  let writer: Account;
  let repository: string;
  beforeAll(async () => {
    [ada, writer] = [await forge.makeUser(), await forge.makeUser()];
  });
  beforeEach(async () => {
    repository = await forge.makeRepository(ada, { auto_init: true });
    await forge.share(repository, ada, { with: writer, permission: 'write' });
  });

  const ask = (method: string, path: string, body?: unknown, as: Account = ada): Promise<Answer> =>
    forge.ask(method, `/repos/${repository}/tag_protections${path}`, { as, body });
  const make = (name_pattern: string, names: string[] = [ada.name]): Promise<Answer> =>
    ask('POST', '', { name_pattern, whitelist_usernames: names });

  it('is created, listed, read, changed and deleted', async () => {
    const made = await make(' v* ');
    const { id } = made.json;

    expect(made.status).toBe(201);
    expect(Object.keys(made.json).sort()).toEqual([
      'created_at',
      'id',
      'name_pattern',
      'updated_at',
      'whitelist_teams',
      'whitelist_usernames',
    ]);
    expect(made.json).toMatchObject({
      name_pattern: 'v*',
      whitelist_usernames: [ada.name],
      whitelist_teams: [],
    });
    expect((await ask('GET', '')).json).toEqual([made.json]);
    expect((await ask('GET', `/${id}`)).json).toEqual(made.json);
    const edited = await ask('PATCH', `/${id}`, { whitelist_usernames: [] });
    expect([edited.status, edited.json.name_pattern, edited.json.whitelist_usernames]).toEqual([
      200,
      'v*',
      [],
    ]);
    expect((await ask('PATCH', `/${id}`, { name_pattern: 'w*' })).json.name_pattern).toBe('w*');
    expect((await ask('DELETE', `/${id}`)).status).toBe(204);
    expect((await ask('GET', `/${id}`)).status).toBe(404);
  });

  it('refuses blank patterns, empty lists, a pattern in use and unknown names', async () => {
    const { id } = (await make('v*')).json;

    expect((await make('  ')).status).toBe(400);
    expect((await make('x', [])).status).toBe(400);
    expect((await make('v*', [writer.name])).status).toBe(403);
    expect((await make('x', ['missing-account'])).status).toBe(422);
    expect((await ask('PATCH', `/${id}`, { whitelist_usernames: ['missing-account'] })).status).toBe(422);
    for (const method of ['GET', 'DELETE']) expect((await ask(method, '/99999999')).status).toBe(404);
    expect((await ask('PATCH', '/99999999', {})).status).toBe(404);
  });

  it('accepts teams only on repositories of an organization', async () => {
    const organization = await forge.makeOrganization(ada);
    const theirs = await forge.makeRepository(ada, { in: organization });
    const body = { name_pattern: 'v*', whitelist_teams: ['Owners'] };

    const made = await forge.ask('POST', `/repos/${theirs}/tag_protections`, { as: ada, body });
    const unknown = await forge.ask('POST', `/repos/${theirs}/tag_protections`, {
      as: ada,
      body: { name_pattern: 'x', whitelist_teams: ['No such team'] },
    });
    const onPersons = await ask('POST', '', body);

    expect([made.status, made.json.whitelist_teams]).toEqual([201, ['Owners']]);
    expect(unknown.status).toBe(422);
    expect([onPersons.status, onPersons.json.whitelist_teams]).toEqual([201, []]);
  });

  it('requires an administrator, and allows only deletions in an archived repository', async () => {
    const { id } = (await make('v*')).json;

    expect((await ask('GET', '', undefined, writer)).status).toBe(403);
    expect((await ask('GET', `/${id}`, undefined, writer)).status).toBe(403);
    expect((await ask('POST', '', { name_pattern: 'x' }, writer)).status).toBe(403);
    expect((await ask('PATCH', `/${id}`, {}, writer)).status).toBe(403);
    expect((await ask('DELETE', `/${id}`, undefined, writer)).status).toBe(403);
    expect((await forge.ask('GET', `/repos/${repository}/tag_protections`)).status).toBe(401);
    await forge.ask('PATCH', `/repos/${repository}`, { as: ada, body: { archived: true } });
    expect((await make('x')).status).toBe(423);
    expect((await ask('PATCH', `/${id}`, {})).status).toBe(423);
    expect((await ask('DELETE', `/${id}`)).status).toBe(204);
  });
});

import { beforeAll, expect, it } from 'vitest';
import { type Account, describeContract, freshName } from '../support/contract-forge.ts';

describeContract('a repository transfer', (forge) => {
  let ada: Account;
  let bob: Account;
  let eve: Account;
  beforeAll(async () => {
    ada = await forge.makeUser();
    bob = await forge.makeUser();
    eve = await forge.makeUser();
  });

  const give = (repository: string, to: string, more: object = {}, as: Account | string = ada) =>
    forge.ask('POST', `/repos/${repository}/transfer`, { as, body: { new_owner: to, ...more } });
  const reply = (repository: string, word: 'accept' | 'reject', as: Account | string | undefined) =>
    forge.ask('POST', `/repos/${repository}/transfer/${word}`, { as });
  const nameOf = (repository: string) => repository.split('/')[1];

  it('waits for the new owner, who can read the repository meanwhile', async () => {
    const repository = await forge.makeRepository(ada, { private: true });
    const offered = await give(repository, bob.name);
    const twice = await give(repository, eve.name);
    const seen = await forge.ask('GET', `/repos/${repository}`, { as: bob });

    expect(offered.status).toBe(201);
    expect(offered.json.repo_transfer).toMatchObject({
      doer: { login: ada.name },
      recipient: { login: bob.name },
      teams: [],
    });
    expect(offered.json.owner.login).toBe(ada.name);
    expect(twice.status).toBe(409);
    expect(seen.json.permissions).toEqual({ admin: false, push: false, pull: true });
  });

  it('completes when the new owner accepts, and the old name redirects', async () => {
    const repository = await forge.makeRepository(ada);
    const name = nameOf(repository);
    await forge.share(repository, ada, { with: eve, permission: 'write' });
    const hook = { type: 'gitea', config: { url: 'http://localhost:9/', content_type: 'json' } };
    await forge.ask('POST', `/repos/${repository}/hooks`, { as: ada, body: hook });
    await give(repository, bob.name);
    const byOther = await Promise.all(
      [ada, eve, forge.adminToken].map((as) => reply(repository, 'accept', as)),
    );
    const anonymous = await reply(repository, 'accept', undefined);
    const accepted = await reply(repository, 'accept', bob);
    const old = await forge.ask('GET', `/repos/${repository}?x=1`);
    const hooks = await forge.ask('GET', `/repos/${bob.name}/${name}/hooks`, { as: bob });
    const collaborators = await forge.ask('GET', `/repos/${bob.name}/${name}/collaborators`, { as: bob });

    expect(byOther.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect([anonymous.status, accepted.status]).toEqual([401, 202]);
    expect(accepted.json.full_name).toBe(`${bob.name}/${name}`);
    expect(accepted.json.repo_transfer).toBeUndefined();
    expect([old.status, old.headers.get('location')]).toEqual([301, `/api/v1/repos/${bob.name}/${name}?x=1`]);
    expect(hooks.json).toHaveLength(1);
    expect(collaborators.json.map((user: { login: string }) => user.login)).toEqual([eve.name]);
    expect((await forge.ask('PATCH', `/repos/${bob.name}/${name}`, { as: ada, body: {} })).status).toBe(403);
  });

  it('is cancelled when the new owner rejects it', async () => {
    const repository = await forge.makeRepository(ada);
    await give(repository, bob.name);
    const byOther = await reply(repository, 'reject', eve);
    const rejected = await reply(repository, 'reject', bob);
    const late = await reply(repository, 'accept', bob);

    expect([byOther.status, rejected.status, late.status]).toEqual([403, 200, 404]);
    expect(rejected.json.full_name).toBe(repository);
    expect(rejected.json.repo_transfer).toBeUndefined();
  });

  it('completes immediately if the caller may create repositories in the new organization, and adds the given teams', async () => {
    const organization = await forge.makeOrganization(ada);
    const body = { name: 'crew', permission: 'read', units_map: { 'repo.code': 'read' } };
    const team = await forge.ask('POST', `/orgs/${organization}/teams`, { as: ada, body });
    await forge.ask('PUT', `/teams/${team.json.id}/members/${eve.name}`, { as: ada });
    const repository = await forge.makeRepository(ada, { private: true });
    await forge.share(repository, ada, { with: eve, permission: 'write' });

    const moved = await give(repository, organization, { team_ids: [team.json.id] });

    const at = `/repos/${organization}/${nameOf(repository)}`;
    expect([moved.status, moved.json.full_name]).toEqual([202, `${organization}/${nameOf(repository)}`]);
    const teams = await forge.ask('GET', `${at}/teams`, { as: ada });
    expect(teams.json.map((row: { name: string }) => row.name)).toEqual(['Owners', 'crew']);
    // A member of the new owner is no longer a collaborator.
    expect((await forge.ask('GET', `${at}/collaborators/${eve.name}`, { as: ada })).status).toBe(404);
  });

  it('removes the labels of the old organization', async () => {
    const organization = await forge.makeOrganization(ada);
    const repository = await forge.makeRepository(ada, { in: organization });
    const label = await forge.ask('POST', `/orgs/${organization}/labels`, {
      as: ada,
      body: { name: 'ours', color: 'fff' },
    });
    await forge.ask('POST', `/repos/${repository}/issues`, {
      as: ada,
      body: { title: 'x', labels: [label.json.id] },
    });

    const moved = await give(repository, ada.name);

    const { json } = await forge.ask('GET', `/repos/${ada.name}/${nameOf(repository)}/issues/1`, { as: ada });
    expect([moved.status, json.labels]).toEqual([202, []]);
  });

  it('is refused for an invalid new owner, and to callers who are not the owner', async () => {
    const repository = await forge.makeRepository(ada);
    const name = nameOf(repository);
    const organization = await forge.makeOrganization(ada);
    const secret = await forge.makeOrganization(eve, { visibility: 'private' });
    const body = { name: 'crew', permission: 'admin' };
    const foreign = await forge.ask('POST', `/orgs/${secret}/teams`, { as: eve, body });
    await forge.ask('POST', '/user/repos', { as: eve, body: { name } });
    await forge.share(repository, ada, { with: bob, permission: 'admin' });

    const answers = [
      await give(repository, freshName('missing')),
      await give(repository, secret),
      await give(repository, eve.name),
      await give(repository, ada.name),
      await give(repository, bob.name, { team_ids: [1] }),
      await give(repository, organization, { team_ids: [999_999_999] }),
      await give(repository, organization, { team_ids: [foreign.json.id] }),
      await give(repository, bob.name, {}, bob),
      await give(repository, bob.name, {}, eve),
    ];

    expect(answers.map(({ status }) => status)).toEqual([404, 404, 422, 422, 422, 422, 403, 403, 403]);
  });

  it('completes immediately for site administrators', async () => {
    const repository = await forge.makeRepository(ada);

    const moved = await give(repository, bob.name, {}, forge.adminToken);

    expect([moved.status, moved.json.owner.login]).toEqual([202, bob.name]);
  });
});

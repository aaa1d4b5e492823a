import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Account, describeContract } from '../support/contract-forge.ts';
import { type HookReceiver, startReceiver } from '../support/hook-receiver.ts';

describeContract('hooks of every level', (forge) => {
  let receiver: HookReceiver;
  let ada: Account;
  let stranger: Account;
  let organization: string;
  const config = () => ({ url: receiver.url, content_type: 'json' });
  const made: { path: string; as: Account | string }[] = [];
  beforeAll(async () => {
    receiver = await startReceiver();
    ada = await forge.makeUser();
    stranger = await forge.makeUser();
    organization = await forge.makeOrganization(ada);
  });
  afterAll(async () => {
    // A system hook must not remain on a real forge.
    for (const { path, as } of made) await forge.ask('DELETE', path, { as });
    await receiver.close();
  });

  const levels = () => [
    { path: '/user/hooks', as: ada, others: [404, 401] },
    { path: `/orgs/${organization}/hooks`, as: ada, others: [403, 401] },
    { path: '/admin/hooks', as: forge.adminToken, others: [403, 401] },
  ];
  const make = async (level: { path: string; as: Account | string }, more: object = {}) => {
    const body = { type: 'gitea', config: { ...config(), is_system_webhook: 'true' }, ...more };
    const answer = await forge.ask('POST', level.path, { as: level.as, body });
    if (answer.status === 201) made.push({ path: `${level.path}/${answer.json.id}`, as: level.as });
    return answer;
  };

  it.each([0, 1, 2])('are created, read, changed and deleted (%i)', async (at) => {
    const level = levels()[at] as ReturnType<typeof levels>[number];
    const hook = await make(level, { events: ['issues_only'], branch_filter: 'main' });
    const path = `${level.path}/${hook.json.id}`;
    const ask = (method: string, body?: object) =>
      forge.ask(method, path, { as: level.as, ...(body ? { body } : {}) });
    const read = await ask('GET');
    const edited = await ask('PATCH', { active: true });
    const wrong = await ask('PATCH', { config: { url: 'ftp://x' } });
    const refused = [
      (await forge.ask('GET', path, { as: stranger })).status,
      (await forge.ask('GET', path)).status,
    ];
    const gone = await ask('DELETE');

    expect(hook.status).toBe(201);
    expect(read.json).toMatchObject({
      id: hook.json.id,
      active: false,
      events: ['issues_only'.replace('_only', '')],
      branch_filter: 'main',
    });
    // Unlike a merge patch, this edit resets omitted fields.
    expect(edited.json).toMatchObject({ active: true, events: ['push'], branch_filter: '' });
    expect([wrong.status, gone.status]).toEqual([422, 204]);
    expect(refused).toEqual(level.others);
    expect([(await ask('GET')).status, (await ask('DELETE')).status]).toEqual([404, 404]);
    // Gitea returns 500 for instance hooks.
    expect([404, 500]).toContain((await ask('PATCH', {})).status);
  });

  it('of the instance receive all events, or are copied into new repositories', async () => {
    const level = { path: '/admin/hooks', as: forge.adminToken };
    const system = await make(level);
    const copied = await make(level, { config: config(), events: ['wiki'] });
    const repository = await forge.makeRepository(ada);
    const ids = async (query: string) =>
      (await forge.ask('GET', `/admin/hooks?limit=50${query}`, level)).json.map(
        ({ id }: { id: number }) => id,
      );
    const own = await forge.ask('GET', `/repos/${repository}/hooks`, { as: ada });
    const odd = await make(level, { config: { ...config(), is_system_webhook: 'maybe' } });
    await forge.ask('DELETE', `/admin/hooks/${copied.json.id}`, level);

    expect(await ids('')).toContain(system.json.id);
    expect(await ids('&type=default')).not.toContain(system.json.id);
    expect(own.json).toMatchObject([{ events: ['wiki'], config: config() }]);
    expect(odd.status).toBe(422);
  });

  it('each receive one delivery per event in a repository below them', async () => {
    const repository = await forge.makeRepository(ada, { in: organization });
    const more = { active: true, events: ['issues_only'], config: config() };
    const ofInstance = { ...more, config: { ...config(), is_system_webhook: 'true' } };
    await make({ path: `/repos/${repository}/hooks`, as: ada }, more);
    await make({ path: `/orgs/${organization}/hooks`, as: ada }, more);
    await make({ path: '/admin/hooks', as: forge.adminToken }, ofInstance);
    await make({ path: '/user/hooks', as: ada }, more);

    await forge.ask('POST', `/repos/${repository}/issues`, { as: ada, body: { title: 'heard' } });

    const heard = () =>
      receiver.received.filter(({ body }) => JSON.parse(body).repository?.full_name === repository);
    await expect.poll(() => heard().length).toBe(3);
    const targets = heard().map(({ headers }) => headers['x-gitea-hook-installation-target-type']);
    expect(targets.sort()).toEqual(['organization', 'repository', 'system']);
    const own = await forge.makeRepository(ada);
    await forge.ask('POST', `/repos/${own}/issues`, { as: ada, body: { title: 'heard' } });
    const ofOwn = () =>
      receiver.received.filter(({ body }) => JSON.parse(body).repository?.full_name === own);
    await expect.poll(() => ofOwn().length).toBe(2);
    expect(
      ofOwn()
        .map(({ headers }) => headers['x-gitea-hook-installation-target-type'])
        .sort(),
    ).toEqual(['system', 'user']);
  });
});

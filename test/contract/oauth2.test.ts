import { beforeAll, expect, it } from 'vitest';
import { type Account, basic, describeContract } from '../support/contract-forge.ts';

const address = 'https://dashboard.example.org/back';

describeContract('OAuth2 applications', (forge) => {
  let ada: Account;
  const path = '/user/applications/oauth2';
  const make = (more: object = {}, as: Account = ada) =>
    forge.ask('POST', path, { as, body: { name: 'Dashboard', redirect_uris: [address], ...more } });
  beforeAll(async () => {
    ada = await forge.makeUser();
  });

  it('show their secret only once', async () => {
    const made = await make();
    const read = await forge.ask('GET', `${path}/${made.json.id}`, { as: ada });
    const list = await forge.ask('GET', path, { as: ada });

    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({
      name: 'Dashboard',
      redirect_uris: [address],
      confidential_client: false,
      skip_secondary_authorization: false,
    });
    expect(made.json.client_secret).toMatch(/^gto_[a-z2-7]{52}$/);
    expect(made.json.client_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(read.json).toEqual({ ...made.json, client_secret: '' });
    expect(list.text).not.toContain(made.json.client_secret);
    expect(Number(list.headers.get('x-total-count'))).toBe(list.json.length);
    expect(list.headers.get('link')).toBeNull();
  });

  it('get a new secret when edited', async () => {
    const made = await make();
    const body = { name: 'Board', redirect_uris: [`${address}/2`], confidential_client: true };

    const edited = await forge.ask('PATCH', `${path}/${made.json.id}`, { as: ada, body });

    expect(edited.status).toBe(200);
    expect(edited.json).toMatchObject({ ...body, client_id: made.json.client_id });
    expect(edited.json.client_secret).toMatch(/^gto_/);
    expect(edited.json.client_secret).not.toBe(made.json.client_secret);
  });

  it.each([
    ['no name', { name: '' }, 422],
    ['a redirect URI of another scheme', { redirect_uris: ['javascript:alert(1)'] }, 400],
    ['an invalid redirect URI', { redirect_uris: ['nonsense'] }, 400],
  ])('are refused with %s', async (_, more, status) => {
    const made = await make();
    const edit = { name: 'x', redirect_uris: [address], ...more };

    expect((await make(more)).status).toBe(status);
    expect((await forge.ask('PATCH', `${path}/${made.json.id}`, { as: ada, body: edit })).status).toBe(
      status,
    );
  });

  it('may have no redirect URL', async () => {
    expect((await make({ redirect_uris: [] })).status).toBe(201);
  });

  it('are hidden from other accounts', async () => {
    const { id } = (await make()).json;
    const other = await forge.makeUser();
    const body = { name: 'x', redirect_uris: [address] };
    const statuses = async (as: Account | undefined) =>
      Promise.all(
        (['GET', 'PATCH', 'DELETE'] as const).map(async (method) => {
          const given = method === 'PATCH' ? { body } : {};
          return (await forge.ask(method, `${path}/${id}`, { as, ...given })).status;
        }),
      );

    const [read, edited, removed] = await statuses(other);
    expect([read, removed]).toEqual([404, 404]);
    // Gitea returns 500.
    expect([404, 500]).toContain(edited);
    expect(await statuses(undefined)).toEqual([401, 401, 401]);
    expect((await forge.ask('GET', path)).status).toBe(401);
  });

  it('are closed to tokens limited to public resources and to tokens without the scope', async () => {
    const token = async (scopes: string[]) => {
      const body = { name: scopes.join(), scopes };
      const headers = basic(ada.name, ada.password);
      return (await forge.ask('POST', `/users/${ada.name}/tokens`, { headers, body })).json.sha1;
    };

    const open = await forge.ask('GET', path, { as: await token(['public-only', 'all']) });
    const other = await forge.ask('GET', path, { as: await token(['write:issue']) });

    expect([open.status, other.status]).toEqual([403, 403]);
  });

  it('are deleted', async () => {
    const { id } = (await make()).json;

    const gone = await forge.ask('DELETE', `${path}/${id}`, { as: ada });
    const again = await forge.ask('DELETE', `${path}/${id}`, { as: ada });

    expect([gone.status, again.status]).toEqual([204, 404]);
  });
});

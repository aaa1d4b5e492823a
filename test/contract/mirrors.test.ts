import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, describeContract, freshName } from '../support/contract-forge.ts';
import { makeSharedRepository, waitFor } from '../support/shared-repository.ts';

describeContract('mirrors', (forge) => {
  let ada: Account;
  let ben: Account;
  /** A private repository of Ada with two branches and a tag. */
  let source: string;

  const addressOf = (repository: string) => `${forge.url}/${repository}.git`;
  const add = (repository: string, path: string, more: object = {}, as = ada) =>
    forge.ask('POST', `/repos/${repository}/contents/${path}`, {
      as,
      body: { content: Buffer.from(path).toString('base64'), ...more },
    });
  const tipOf = async (repository: string, as: Account, branch = 'main'): Promise<string | undefined> =>
    (await forge.ask('GET', `/repos/${repository}/branches/${branch}`, { as })).json?.commit?.id;

  beforeAll(async () => {
    [ada, ben] = await Promise.all([forge.makeUser(), forge.makeUser()]);
    source = await forge.makeRepository(ada, { auto_init: true, private: true, default_branch: 'trunk' });
    await add(source, 'a.txt', { new_branch: 'side' });
    await forge.ask('POST', `/repos/${source}/tags`, { as: ada, body: { tag_name: 'v1' } });
  });

  const migrate = (as: Account | string | undefined, body: object) =>
    forge.ask('POST', '/repos/migrate', {
      as,
      body: {
        clone_addr: addressOf(source),
        repo_name: freshName('copy'),
        auth_username: ada.name,
        auth_password: ada.password,
        ...body,
      },
    });

  describe('of other repositories', () => {
    it('are cloned once', async () => {
      const { status, json, text } = await migrate(ben, { description: 'Copied', private: true });
      const branches = await forge.ask('GET', `/repos/${json.full_name}/branches`, { as: ben });
      const tags = await forge.ask('GET', `/repos/${json.full_name}/tags`, { as: ben });

      expect([status, json]).toMatchObject([
        201,
        {
          description: 'Copied',
          private: true,
          empty: false,
          mirror: false,
          mirror_interval: '',
          default_branch: 'trunk',
          original_url: addressOf(source),
        },
      ]);
      expect(text).not.toContain(ada.password);
      const namesOf = (list: { name: string }[]) => list.map(({ name }) => name).toSorted();
      expect([namesOf(branches.json), namesOf(tags.json)]).toEqual([['side', 'trunk'], ['v1']]);
      expect((await forge.ask('POST', `/repos/${json.full_name}/mirror-sync`, { as: ben })).status).toBe(400);
    });

    it('are synchronized periodically', async () => {
      const { status, json } = await migrate(ben, { mirror: true, mirror_interval: '1h30m' });
      const mirror = json.full_name;
      await add(source, 'b.txt');
      const tip = await tipOf(source, ada, 'trunk');
      const synced = await forge.ask('POST', `/repos/${mirror}/mirror-sync`, { as: ben });
      const arrived = await waitFor(
        () => tipOf(mirror, ben, 'trunk'),
        (found) => found === tip,
      );

      expect([status, json]).toMatchObject([201, { mirror: true, mirror_interval: '1h30m0s' }]);
      expect([synced.status, synced.text]).toEqual([200, '']);
      expect(arrived).toBe(tip);
    });

    it('cannot be archived', async () => {
      const { json } = await migrate(ben, { mirror: true, mirror_interval: '0' });
      const path = `/repos/${json.full_name}`;
      const edit = (archived: boolean) => forge.ask('PATCH', path, { as: ben, body: { archived } });

      expect([(await edit(true)).status, (await edit(false)).status]).toEqual([422, 422]);
    });

    it('refuse commits', async () => {
      const { json } = await migrate(ben, { mirror: true, mirror_interval: '0' });

      expect(json.mirror_interval).toBe('0s');
      expect((await add(json.full_name, 'own.txt', {}, ben)).status).toBe(423);
    });

    it('are refused for invalid settings', async () => {
      const statuses = [];
      for (const body of [
        { clone_addr: '' },
        { clone_addr: '/etc' },
        { clone_addr: 'file:///etc' },
        { clone_addr: 'ftp://example.org/a.git' },
        { clone_addr: 'http://[::1/a.git' },
        { clone_addr: 'http://no-such-host.invalid/a.git' },
        { clone_addr: addressOf(`${ada.name}/none`) },
        { auth_password: 'wrong' },
        { repo_name: '' },
        { repo_name: 'a b' },
        { repo_owner: freshName('absent') },
      ])
        statuses.push([body, (await migrate(ben, body)).status]);

      expect(statuses.map(([body, status]) => [body, status])).toEqual(statuses.map(([body]) => [body, 422]));
      expect((await migrate(ben, { repo_owner: ada.name })).status).toBe(403);
      expect((await migrate(undefined, {})).status).toBe(401);
      const name = (await forge.makeRepository(ben)).split('/')[1];
      expect((await migrate(ben, { repo_name: name })).status).toBe(409);
    });

    it('leave no repository behind when they fail', async () => {
      const repo_name = freshName('failed');
      await migrate(ben, { repo_name, auth_password: 'wrong' });

      expect((await forge.ask('GET', `/repos/${ben.name}/${repo_name}`, { as: ben })).status).toBe(404);
      expect((await migrate(ben, { repo_name })).status).toBe(201);
    });

    it('are synchronized by writers', async () => {
      const shared = await makeSharedRepository(forge);

      expect(await shared.statuses('POST', '/mirror-sync')).toEqual([400, 400, 403, 404, 404]);
    });
  });

  describe('on other servers', () => {
    async function makePair(more: object = {}) {
      const from = await forge.makeRepository(ada, { auto_init: true });
      const to = await forge.makeRepository(ben, { private: true });
      const body = {
        remote_address: addressOf(to),
        remote_username: ben.name,
        remote_password: ben.password,
        interval: '0',
        ...more,
      };
      const created = await forge.ask('POST', `/repos/${from}/push_mirrors`, { as: ada, body });
      return { from, to, created };
    }
    const sync = (repository: string) =>
      forge.ask('POST', `/repos/${repository}/push_mirrors-sync`, { as: ada });

    it('are synchronized on demand, including deleted refs', async () => {
      const { from, to, created } = await makePair({ interval: '8h' });
      const name = created.json.remote_name;
      await add(from, 'a.txt', { new_branch: 'side' });
      const first = await sync(from);
      const tip = await tipOf(from, ada);
      const arrived = await waitFor(
        () => tipOf(to, ben),
        (found) => found === tip,
      );
      await forge.ask('DELETE', `/repos/${from}/branches/side`, { as: ada });
      await sync(from);
      const shown = await forge.ask('GET', `/repos/${from}/push_mirrors/${name}`, { as: ada });
      const gone = await waitFor(
        () => tipOf(to, ben, 'side'),
        (found) => found === undefined,
      );

      expect([created.status, created.json]).toMatchObject([
        200,
        {
          repo_name: from.split('/')[1],
          remote_name: expect.stringMatching(/^remote_mirror_/),
          remote_address: addressOf(to),
          created: expect.any(String),
          last_update: '1970-01-01T00:00:00Z',
          last_error: '',
          interval: '8h0m0s',
          sync_on_commit: false,
        },
      ]);
      expect([first.status, first.text, arrived, gone]).toEqual([200, '', tip, undefined]);
      expect(shown.json).toMatchObject({
        remote_name: name,
        last_error: '',
        last_update: expect.any(String),
      });
      expect(shown.text).not.toContain(ben.password);
    });

    it('are synchronized after each push if requested', async () => {
      const { from, to } = await makePair({ sync_on_commit: true });
      await add(from, 'a.txt');
      const tip = await tipOf(from, ada);

      expect(
        await waitFor(
          () => tipOf(to, ben),
          (found) => found === tip,
        ),
      ).toBe(tip);
    });

    it('are listed and deleted', async () => {
      const { from, created } = await makePair();
      const path = `/repos/${from}/push_mirrors`;
      const list = await forge.ask('GET', path, { as: ada });
      const removed = await forge.ask('DELETE', `${path}/${created.json.remote_name}`, { as: ada });

      expect([list.headers.get('x-total-count'), list.json.length]).toEqual(['1', 1]);
      expect(list.json[0].remote_name).toBe(created.json.remote_name);
      expect(removed.status).toBe(204);
      expect((await forge.ask('GET', path, { as: ada })).json).toEqual([]);
      expect((await forge.ask('GET', `${path}/${created.json.remote_name}`, { as: ada })).status).toBe(404);
      expect((await forge.ask('DELETE', `${path}/none`, { as: ada })).status).toBe(204);
    });

    it('that fail are reported with the reason and without the password', async () => {
      const { from, created } = await makePair({ remote_password: 'wrong-password' });
      const failed = await sync(from);
      const path = `/repos/${from}/push_mirrors/${created.json.remote_name}`;
      const { json, text } = await forge.ask('GET', path, { as: ada });

      expect([failed.status, failed.json.message]).toEqual([
        422,
        `error occurred when syncing push mirrors: ${created.json.remote_name}`,
      ]);
      expect(json.last_error).not.toBe('');
      expect(text).not.toContain('wrong-password');
    });

    it('refuse invalid URLs and intervals', async () => {
      for (const [more, status] of [
        [{ interval: '' }, 400],
        [{ interval: 'soon' }, 400],
        [{ interval: '5m' }, 400],
        [{ remote_address: 'ftp://example.org/a.git' }, 400],
        [{ remote_address: '/etc' }, 401],
      ] as const) {
        expect([more, (await makePair(more)).created.status]).toEqual([more, status]);
      }
    });

    it('require an administrator', async () => {
      const shared = await makeSharedRepository(forge);
      const admins = [403, 403, 404, 404];

      expect(await shared.statuses('GET', '/push_mirrors')).toEqual([200, ...admins]);
      expect(await shared.statuses('GET', '/push_mirrors/none')).toEqual([404, ...admins]);
      expect(await shared.statuses('POST', '/push_mirrors', {})).toEqual([400, ...admins]);
      expect(await shared.statuses('DELETE', '/push_mirrors/none')).toEqual([204, ...admins]);
      expect(await shared.statuses('POST', '/push_mirrors-sync')).toEqual([200, ...admins]);
    });
  });
});

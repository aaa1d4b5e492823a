import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createForgeInstance, type ForgeInstance } from '../../../src/forge/forge.ts';
import { basic } from '../../support/contract-forge.ts';
import { launcher } from '../../support/launcher.ts';
import { passwordCost } from '../../support/privilege-setup.ts';

const day = 86_400_000;

describe('administration tasks', () => {
  const data = mkdtempSync(join(tmpdir(), 'tasks-'));
  let now = Date.parse('2026-01-01T00:00:00Z');
  let forge: ForgeInstance;
  let url: string;
  beforeAll(async () => {
    forge = await createForgeInstance({ passwordCost, launcher, data, clock: () => new Date(now) });
    url = await forge.listen();
    await forge.createAdministrator({ name: 'root', password: 'correct horse' });
  });
  afterAll(async () => {
    await forge.close();
    rmSync(data, { recursive: true, force: true });
  });

  const headers = { ...basic('root', 'correct horse'), 'content-type': 'application/json' };
  async function ask(method: string, path: string, body?: object) {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return { status: response.status, json: text === '' ? undefined : JSON.parse(text) };
  }
  const runsOf = async (task: string) =>
    (await ask('GET', '/admin/cron?limit=50')).json.find(({ name }: { name: string }) => name === task)
      .exec_times;
  async function run(task: string): Promise<void> {
    const before = await runsOf(task);
    expect((await ask('POST', `/admin/cron/${task}`)).status).toBe(204);
    await expect.poll(() => runsOf(task)).toBe(before + 1);
  }
  async function makeLost(name: string): Promise<string> {
    const { id } = (await ask('POST', '/user/repos', { name, auto_init: true })).json;
    const folder = join(data, 'repositories', `${id}.git`);
    expect(existsSync(folder)).toBe(true);
    rmSync(folder, { recursive: true });
    return folder;
  }

  it('create a missing folder again, without commits, and leave other folders unchanged', async () => {
    await ask('POST', '/user/repos', { name: 'kept', auto_init: true });
    const folder = await makeLost('lost');

    await run('reinit_missing_repos');

    expect(existsSync(folder)).toBe(true);
    const branches = async (name: string) => (await ask('GET', `/repos/root/${name}/branches`)).json ?? [];
    expect([(await branches('lost')).length, (await branches('kept')).length]).toEqual([0, 1]);
  });

  it('remove repositories whose folder is missing, but not a repository that is being created', async () => {
    await makeLost('gone');
    await makeLost('begun');
    const database = new DatabaseSync(join(data, 'forge.db'));
    database.exec(`INSERT INTO unfinished (repo_id, work)
      SELECT id, 'creating' FROM repositories WHERE name = 'begun'`);
    database.close();

    await run('delete_missing_repos');

    const statuses = ['gone', 'begun', 'kept'].map((name) => ask('GET', `/repos/root/${name}`));
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([404, 200, 200]);
  });

  it('remove accounts that own nothing and have been inactive for three hours', async () => {
    for (const username of ['active', 'idle', 'owner', 'late']) {
      if (username === 'late') now += 4 * 3_600_000;
      const email = `${username}@example.org`;
      await ask('POST', '/admin/users', { username, email, password: 'correct horse' });
      if (username === 'owner') await ask('POST', '/admin/users/owner/repos', { name: 'x' });
      if (username !== 'active')
        await ask('PATCH', `/admin/users/${username}`, {
          active: false,
          login_name: username,
          source_id: 0,
        });
    }

    await run('delete_inactive_accounts');

    const { json } = await ask('GET', '/admin/users?limit=50');
    expect(json.map(({ login }: { login: string }) => login)).toEqual(['active', 'late', 'owner', 'root']);
  });

  it('remove deliveries after a week', async () => {
    await ask('POST', '/user/repos', { name: 'heard', auto_init: true });
    const config = { url: 'http://127.0.0.1:9/', content_type: 'json' };
    const { id } = (
      await ask('POST', '/repos/root/heard/hooks', {
        type: 'gitea',
        config,
        active: true,
        events: ['issues'],
      })
    ).json;
    const open = async () => {
      await ask('POST', '/repos/root/heard/issues', { title: 'x' });
      await forge.deliveries.idle();
      return forge.deliveries.list(id).length;
    };
    expect(await open()).toBe(1);
    now += 8 * day;
    expect(await open()).toBe(2);

    await run('cleanup_hook_task_table');

    expect(forge.deliveries.list(id)).toHaveLength(1);
  });

  it('end immediately if there is nothing to do', async () => {
    await run('archive_cleanup');
    await run('rebuild_issue_indexer');
  });
});

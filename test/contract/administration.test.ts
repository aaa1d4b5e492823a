import { beforeAll, expect, it } from 'vitest';
import { type Account, describeContract, freshName } from '../support/contract-forge.ts';

describeContract('administration', (forge) => {
  let ada: Account;
  beforeAll(async () => {
    ada = await forge.makeUser();
  });

  const ask = (method: string, path: string) => forge.ask(method, path, { as: forge.adminToken });

  it('requires a site administrator', async () => {
    const calls = [
      ['GET', '/admin/cron'],
      ['POST', '/admin/cron/check_repo_stats'],
      ['GET', '/admin/emails'],
      ['GET', '/admin/emails/search?q=a'],
      ['GET', '/admin/orgs'],
      ['GET', '/admin/unadopted'],
      ['POST', `/admin/unadopted/${ada.name}/x`],
      ['DELETE', `/admin/unadopted/${ada.name}/x`],
    ] as const;
    for (const [method, path] of calls) {
      const [anonymous, person] = [await forge.ask(method, path), await forge.ask(method, path, { as: ada })];
      expect([method, path, anonymous.status, person.status]).toEqual([method, path, 401, 403]);
    }
  });

  it('lists tasks, and runs one by name', async () => {
    const list = await ask('GET', '/admin/cron?page=1&limit=2');
    const { exec_times: before } = (await findTask('check_repo_stats')) ?? {};
    const run = await ask('POST', '/admin/cron/check_repo_stats');
    const unknown = await ask('POST', '/admin/cron/no_such_task');

    expect([list.status, run.status, unknown.status]).toEqual([200, 204, 404]);
    expect(list.json).toHaveLength(2);
    expect(Number(list.headers.get('x-total-count'))).toBeGreaterThan(15);
    expect(list.headers.get('link')).toBeNull();
    await expect.poll(async () => (await findTask('check_repo_stats'))?.exec_times).toBeGreaterThan(before);
    expect(Date.parse((await findTask('check_repo_stats'))?.prev)).toBeGreaterThan(0);
  });

  it('has the tasks that API clients run by name', async () => {
    const { json } = await ask('GET', '/admin/cron?limit=50');

    expect(json.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining([
        'update_mirrors',
        'repo_health_check',
        'check_repo_stats',
        'archive_cleanup',
        'cleanup_hook_task_table',
        'delete_inactive_accounts',
        'delete_repo_archives',
        'git_gc_repos',
        'resync_all_hooks',
        'resync_all_sshkeys',
        'reinit_missing_repos',
        'delete_missing_repos',
        'delete_old_actions',
        'rebuild_issue_indexer',
      ]),
    );
  });

  async function findTask(name: string) {
    const { json } = await ask('GET', '/admin/cron?limit=50');
    return json.find((task: { name: string }) => task.name === name);
  }

  it('lists and searches email addresses', async () => {
    const found = await ask('GET', `/admin/emails/search?q=${ada.name.toUpperCase()}@EXAMPLE`);
    const byName = await ask('GET', `/admin/emails/search?q=${ada.name}`);
    const none = await ask('GET', '/admin/emails/search?q=no-such-address%25');
    const list = await ask('GET', '/admin/emails?limit=1');

    expect([found.status, found.json]).toEqual([
      200,
      [
        {
          email: `${ada.name}@example.org`,
          verified: true,
          primary: true,
          user_id: expect.any(Number),
          username: ada.name,
        },
      ],
    ]);
    expect(byName.json).toEqual(found.json);
    expect([none.json, none.headers.get('x-total-count')]).toEqual([[], '0']);
    expect(list.json).toHaveLength(1);
    expect(list.headers.get('link')).toContain('rel="next"');
  });

  it('lists every organization, including private ones', async () => {
    const name = await forge.makeOrganization(ada, { visibility: 'private' });
    const names: string[] = [];
    for (let page = 1; page < 100; page += 1) {
      const { json } = await ask('GET', `/admin/orgs?limit=50&page=${page}`);
      names.push(...json.map((organization: { username: string }) => organization.username));
      if (json.length < 50) break;
    }

    expect(names).toContain(name);
    expect(names).toEqual(names.toSorted());
  });

  it('lists no repositories to adopt if there are none, and returns 404 for missing and already known ones', async () => {
    const known = await forge.makeRepository(ada);
    const list = await ask('GET', `/admin/unadopted?query=${freshName('absent')}/*`);
    const paths = [
      `/admin/unadopted/${known}`,
      `/admin/unadopted/${ada.name}/missing`,
      '/admin/unadopted/no-such/x',
    ];
    const statuses: number[] = [];
    for (const path of paths) {
      for (const method of ['POST', 'DELETE']) statuses.push((await ask(method, path)).status);
    }

    expect([list.status, list.json, list.headers.get('x-total-count')]).toEqual([200, [], '0']);
    expect(statuses).toEqual([404, 404, 404, 404, 404, 404]);
    expect((await forge.ask('GET', `/repos/${known}`, { as: ada })).status).toBe(200);
  });
});

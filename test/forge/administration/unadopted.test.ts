import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, startEmbedded } from '../../support/contract-forge.ts';

describe('repositories on disk without a row', () => {
  let data: string;
  let forge: Awaited<ReturnType<typeof startEmbedded>>;
  let ada: Account;
  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'unadopted-'));
    forge = await startEmbedded({ data });
    ada = await forge.makeUser();
  });
  afterAll(async () => {
    await forge.close();
    rmSync(data, { recursive: true, force: true });
  });

  const ask = (method: string, path: string) => forge.ask(method, path, { as: forge.adminToken });
  const folderOf = (owner: string, name: string) => join(data, 'repositories', owner, `${name}.git`);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.org', ...args], { stdio: 'pipe' });

  /** Creates a bare repository with a branch and a tag, and with settings and a hook that must not be adopted. */
  function makeFolder(owner: string, name: string, options: string[] = []): string {
    const folder = folderOf(owner, name);
    mkdirSync(join(data, 'repositories', owner), { recursive: true });
    const work = mkdtempSync(join(tmpdir(), 'work-'));
    git('init', '-q', '-b', 'trunk', ...options, work);
    writeFileSync(join(work, 'a.txt'), 'text\n');
    git('-C', work, 'add', '.');
    git('-C', work, 'commit', '-q', '-m', 'first');
    git('-C', work, 'tag', 'v1');
    git('clone', '-q', '--bare', work, folder);
    mkdirSync(join(folder, 'hooks'), { recursive: true });
    writeFileSync(join(folder, 'hooks', 'update'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    rmSync(work, { recursive: true, force: true });
    return folder;
  }

  it('are listed by a pattern, page by page', async () => {
    for (const name of ['one', 'two', 'three']) makeFolder(ada.name, name);
    makeFolder('no-such-account', 'one');

    const first = await ask('GET', `/admin/unadopted?query=${ada.name}/t*&limit=1`);
    const all = await ask('GET', '/admin/unadopted');

    expect([first.json, first.headers.get('x-total-count')]).toEqual([[`${ada.name}/three`], '2']);
    expect(all.json).toEqual(['one', 'three', 'two'].map((name) => `${ada.name}/${name}`));
  });

  it('are adopted as private repositories with their history, and without their hooks and settings', async () => {
    const folder = makeFolder(ada.name, 'old');

    const adopted = await ask('POST', `/admin/unadopted/${ada.name}/old`);
    const again = await ask('POST', `/admin/unadopted/${ada.name}/old`);

    const path = `/repos/${ada.name}/old`;
    const repository = (await forge.ask('GET', path, { as: ada })).json;
    const file = await forge.ask('GET', `${path}/raw/a.txt`, { as: ada });
    const tags = (await forge.ask('GET', `${path}/tags`, { as: ada })).json;
    const body = { content: 'eA==', message: 'x' };
    const written = await forge.ask('POST', `${path}/contents/b.txt`, { as: ada, body });
    expect([adopted.status, again.status]).toEqual([204, 404]);
    expect(repository).toMatchObject({ private: true, empty: false, default_branch: 'trunk' });
    expect([file.text, tags[0].name, written.status]).toEqual(['text\n', 'v1', 201]);
    expect((await forge.ask('GET', path)).status).toBe(404);
    expect(existsSync(folder)).toBe(false);
  });

  it('may use the object format SHA-256, or have no commit', async () => {
    makeFolder(ada.name, 'wide', ['--object-format=sha256']);
    git('init', '-q', '--bare', folderOf(ada.name, 'bare'));

    const statuses = [
      (await ask('POST', `/admin/unadopted/${ada.name}/wide`)).status,
      (await ask('POST', `/admin/unadopted/${ada.name}/bare`)).status,
    ];

    const wide = (await forge.ask('GET', `/repos/${ada.name}/wide`, { as: ada })).json;
    const bare = (await forge.ask('GET', `/repos/${ada.name}/bare`, { as: ada })).json;
    expect(statuses).toEqual([204, 204]);
    expect([wide.object_format_name, bare.empty, bare.default_branch]).toEqual(['sha256', true, 'main']);
  });

  it('are deleted on request', async () => {
    const folder = makeFolder(ada.name, 'unwanted');

    const deleted = await ask('DELETE', `/admin/unadopted/${ada.name}/unwanted`);

    expect([deleted.status, existsSync(folder)]).toEqual([204, false]);
    expect((await forge.ask('GET', `/repos/${ada.name}/unwanted`, { as: ada })).status).toBe(404);
  });

  it('are never looked up outside the repositories folder', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'elsewhere-'));
    git('init', '-q', '--bare', join(elsewhere, 'x.git'));
    mkdirSync(join(data, 'repositories', ada.name), { recursive: true });
    symlinkSync(join(elsewhere, 'x.git'), folderOf(ada.name, 'link'));

    const statuses: number[] = [];
    for (const name of ['link', '..%2F..%2Fx', '..%2F1', '%2F'])
      statuses.push((await ask('DELETE', `/admin/unadopted/${ada.name}/${name}`)).status);

    expect(statuses.filter((status) => status !== 404)).toEqual([]);
    expect(existsSync(join(elsewhere, 'x.git', 'HEAD'))).toBe(true);
    expect(existsSync(join(data, 'repositories', '1.git'))).toBe(true);
    rmSync(elsewhere, { recursive: true, force: true });
  });

  it('are not adopted if they cannot be read', async () => {
    const folder = makeFolder(ada.name, 'broken');
    rmSync(join(folder, 'HEAD'));

    const refused = await ask('POST', `/admin/unadopted/${ada.name}/broken`);

    expect(refused.status).toBe(500);
    expect((await forge.ask('GET', `/repos/${ada.name}/broken`, { as: ada })).status).toBe(404);
    expect(existsSync(folder)).toBe(true);
  });

  it('have wrong counters corrected by a task', async () => {
    const repository = await forge.makeRepository(ada);
    await forge.ask('PUT', `/user/starred/${repository}`, { as: ada });
    const database = new DatabaseSync(join(data, 'forge.db'));
    database.exec('UPDATE repositories SET num_stars = 7, num_watches = 7; UPDATE users SET num_stars = 7;');
    database.close();
    const read = async () => (await forge.ask('GET', `/repos/${repository}`, { as: ada })).json;
    expect((await read()).stars_count).toBe(7);

    const list = async () => (await ask('GET', '/admin/cron')).json;
    const names = (await list()).map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['check_repo_stats', 'delete_old_actions', 'git_gc_repos']));
    for (const name of names)
      expect([name, (await ask('POST', `/admin/cron/${name}`)).status]).toEqual([name, 204]);

    await expect
      .poll(async () => (await list()).every((task: { exec_times: number }) => task.exec_times === 1))
      .toBe(true);
    expect(await read()).toMatchObject({ stars_count: 1, watchers_count: 1 });
  });
});

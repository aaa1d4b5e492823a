import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createForgeInstance } from '../../src/forge/forge.ts';
import { createPrivateFolder } from '../../src/platform/private-files.ts';
import { start, waitForExit, waitForOutput } from '../support/command.ts';
import { basic } from '../support/contract-forge.ts';
import { passwordCost } from '../support/privilege-setup.ts';

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** Returns the paths below a folder that its group or others may read, write or enter. */
function listOpenPaths(folder: string): string[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  return [folder, ...paths]
    .filter((path) => (statSync(path).mode & 0o077) !== 0)
    .map((path) => relative(folder, path));
}

describe('private data on disk', () => {
  let folder: string;
  let data: string;
  let umask: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'private-'));
    data = join(folder, 'data');
    // Child processes inherit this umask, so their files are open to all unless they restrict the mode.
    umask = process.umask(0);
  });
  afterEach(() => {
    process.umask(umask);
    rmSync(folder, { recursive: true, force: true });
  });

  it('A6: includes everything that `reeve forge` writes, such as git repositories and attachments', async () => {
    const args = ['forge', '--port', '0', '--data', data, '--admin', 'root:password', '--control', '--json'];
    const child = start(args);
    const url = /"url":"([^"]+)"/.exec(await waitForOutput(child, /\{"url"/))?.[1] ?? '';
    const post = async (path: string, body: object | FormData): Promise<number> => {
      const isForm = body instanceof FormData;
      const response = await fetch(`${url}/api/v1${path}`, {
        method: 'POST',
        headers: { ...basic('root', 'password'), ...(isForm ? {} : { 'content-type': 'application/json' }) },
        body: isForm ? body : JSON.stringify(body),
      });
      return response.status;
    };
    const file = new FormData();
    file.set('attachment', new Blob(['x']), 'x.txt');

    const statuses = [
      await post('/user/repos', { name: 'notes', auto_init: true }),
      await post('/repos/root/notes/contents/a.txt', { content: 'eA==', message: 'x' }),
      await post('/repos/root/notes/wiki/new', { title: 'Home', content_base64: 'eA==' }),
      await post('/repos/root/notes/issues', { title: 'x' }),
      await post('/repos/root/notes/issues/1/assets', file),
      await post('/repos/root/notes/forks', { name: 'fork' }),
    ];

    const open = listOpenPaths(data);
    const count = readdirSync(data, { recursive: true }).length;
    const end = waitForExit(child);
    child.kill('SIGTERM');
    expect([(await end).status, statuses]).toEqual([0, [201, 201, 201, 201, 201, 409]]);
    expect(count).toBeGreaterThan(30);
    expect(open).toEqual([]);
  });

  it("A6: includes everything that `reeve serve` and the demo's forge write", async () => {
    const environment = { REEVE_DATA: data, PORT: '0', FORGE_PORT: '0', LOG_LEVEL: 'warn' };
    const child = start(['serve'], { environment, cwd: folder });
    await waitForOutput(child, /Everything is up/);

    const open = listOpenPaths(data);
    const names = readdirSync(data);
    const end = waitForExit(child);
    child.kill('SIGTERM');
    expect((await end).status).toBe(0);
    expect(names).toEqual(expect.arrayContaining(['reeve.db', 'demo.env', 'forge', 'dashboard.password']));
    expect(open).toEqual([]);
  });

  it('A6: is restricted at the next start if an earlier version left it accessible to others', async () => {
    const first = await createForgeInstance({ passwordCost, clock: () => new Date(), data });
    await first.close();
    const paths = ['', 'forge.db', 'repositories', 'repositories/git.config'].map((name) => join(data, name));
    for (const path of paths) chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o644);

    const second = await createForgeInstance({ passwordCost, clock: () => new Date(), data });
    await second.close();

    expect(paths.map(modeOf)).toEqual(['700', '600', '700', '600']);
  });

  it.each([
    ['an empty folder', 0o755, [], '700'],
    ['a folder with a file of ours', 0o755, ['forge.db', 'else'], '700'],
    ['a folder with files of others', 0o755, ['else'], '755'],
    ['a world-writable folder', 0o1777, ['forge.db'], '777'],
  ])('A6: restricts %s only if it belongs to the program', (_, mode, names, expected) => {
    const path = join(folder, 'given');
    mkdirSync(path);
    for (const name of names) writeFileSync(join(path, name), '');
    chmodSync(path, mode);

    createPrivateFolder(path, { holds: 'forge.db' });

    expect(modeOf(path)).toBe(expected);
  });
});

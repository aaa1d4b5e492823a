import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createForgeInstance } from '../../../src/forge/forge.ts';
import { fillForge, type Size } from './fill.ts';

/** What the load needs to know of a forge that was made. */
export type BenchAccess = { readonly token: string; readonly labels: readonly number[] };

/**
 * Makes a forge in a folder: one repository with branches, a file, an issue and two labels through its API, the bulk of
 * the size through SQL. Nothing runs when it returns.
 */
export async function createBenchForge(
  data: string,
  size: Size & { readonly branches: number },
): Promise<BenchAccess> {
  mkdirSync(data, { recursive: true });
  const forge = await createForgeInstance({ clock: () => new Date(), data });
  try {
    await forge.listen();
    await forge.createAdministrator({ name: 'owner', password: 'password' });
    const basic = `Basic ${Buffer.from('owner:password').toString('base64')}`;
    const post = async (path: string, body: object): Promise<{ id: number; sha1: string }> => {
      const response = await fetch(`${forge.url}/api/v1${path}`, {
        method: 'POST',
        headers: { authorization: basic, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      // The answers of these few operations all have what is asked for.
      return (await response.json()) as { id: number; sha1: string };
    };
    const { sha1: token } = await post('/users/owner/tokens', { name: 'bench', scopes: ['all'] });
    const { id } = await post('/user/repos', { name: 'measured', auto_init: true });
    const labels: number[] = [];
    for (const name of ['one', 'two']) {
      labels.push((await post('/repos/owner/measured/labels', { name, color: 'ffffff' })).id);
    }
    await post('/repos/owner/measured/issues', { title: 'measured', body: 'text', labels });
    addBranches(join(data, 'repositories', `${id}.git`), size.branches);
    return { token, labels };
  } finally {
    await forge.close();
    fillForge(join(data, 'forge.db'), size);
  }
}

function addBranches(folder: string, count: number): void {
  const head = execFileSync('git', ['rev-parse', 'main'], { cwd: folder, encoding: 'utf8' }).trim();
  const lines = Array.from({ length: count }, (_, at) => `create refs/heads/branch-${at} ${head}\n`);
  execFileSync('git', ['update-ref', '--stdin'], { cwd: folder, input: lines.join('') });
}

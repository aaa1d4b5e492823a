import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { calledAs } from '../../../src/cli/output/called-as.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-called-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Installs a program like npm: a link in `.bin` to a file of the package. Returns the path of the link. */
async function install(name: string): Promise<string> {
  const file = join(folder, 'node_modules', name, 'bin', 'reeve.mjs');
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, '');
  const link = join(folder, 'node_modules', '.bin', 'reeve');
  await mkdir(join(link, '..'), { recursive: true });
  await symlink(file, link);
  return link;
}

it('a program that npx runs is called with npx, under the name of its package', async () => {
  const installed = await install('@reeve-forge/reeve');
  const checkout = join(folder, 'bin.mjs');
  await writeFile(checkout, '');

  expect(calledAs(installed, { npm_command: 'exec' })).toBe('npx @reeve-forge/reeve');
  expect(calledAs(checkout, { npm_command: 'exec' })).toBe('npx reeve');
});

it('another is called by its name if it is on PATH, otherwise by its path', async () => {
  const installed = await install('@reeve-forge/reeve');
  const here = join(process.cwd(), 'node_modules', '.bin', 'reeve');

  expect(calledAs(installed, { PATH: `/usr/bin:${join(installed, '..')}` })).toBe('reeve');
  expect(calledAs(installed, { PATH: '/usr/bin' })).toBe(installed);
  expect(calledAs(here, { PATH: '/usr/bin' })).toBe(join('node_modules', '.bin', 'reeve'));
  expect(calledAs('/app/bin/reeve.mjs', { PATH: '/usr/bin' })).toBe('reeve');
});

/** Builds the documentation site into `site/dist`: `npm run site`; with `-- --serve`, also serves it on this machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findLinkProblems } from './site/check-links.ts';
import { stagePages } from './site/stage.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const site = join(root, 'site');

/** Runs a program, and exits with its exit status if it fails. */
async function run(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { cwd: root, stdio: 'inherit' });
  const [status] = await once(child, 'close');
  if (status !== 0) process.exit(status ?? 1);
}

/** Exits if there are problems. */
function failWith(title: string, problems: readonly string[]): void {
  if (problems.length === 0) return;
  console.error(`${title}:\n${problems.join('\n')}`);
  process.exit(1);
}

/** Returns whether the installed generator matches the lockfile. */
function isInstalled(): boolean {
  const [lock, installed] = [join(site, 'package-lock.json'), join(site, 'node_modules/.package-lock.json')];
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs;
}

/** Returns the references of a built page that a browser would load from another host. */
export function foreignRequests(page: string): readonly string[] {
  const loaded = /<(?:script|img|iframe|source|link)\b[^>]*?\b(?:src|href)="((?:https?:)?\/\/[^"]*)"/g;
  return [...page.matchAll(loaded)].map(([, address = '']) => address);
}

if (import.meta.main) {
  failWith('links that lead nowhere', findLinkProblems(root));
  if (!isInstalled()) await run('npm', ['ci', '--prefix', site]);
  stagePages(root, join(site, 'pages'));
  const vitepress = join(site, 'node_modules/vitepress/bin/vitepress.js');
  await run(process.execPath, [vitepress, 'build', site]);
  const dist = join(site, 'dist');
  const pages = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.html'),
  );
  const foreign = pages.flatMap((path) =>
    foreignRequests(readFileSync(join(dist, path), 'utf8')).map((address) => `${path}: ${address}`),
  );
  failWith('pages that load from other hosts', foreign);
  console.log(`${pages.length} pages in site/dist`);
  if (process.argv.includes('--serve'))
    await run(process.execPath, [vitepress, 'preview', site, '--host', '127.0.0.1']);
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Harness, type HarnessOptions, repositoryScopes, startHarness } from './harness.ts';

/**
 * Starts a harness with rules of the operator, given as one file or as several files by name. The bot administers the
 * repository, because actions that only the operator may use need this access.
 */
export async function startOperatorHarness(
  yaml: string | Readonly<Record<string, string>>,
  options: HarnessOptions = {},
): Promise<Harness> {
  const rules = await mkdtemp(join(tmpdir(), 'reeve-rules-'));
  const files = typeof yaml === 'string' ? { 'rules.yml': yaml } : yaml;
  for (const [name, text] of Object.entries(files)) await writeFile(join(rules, name), text);
  const server = { ...options.server, rules };
  const harness = await startHarness({ access: 'admin', scopes: repositoryScopes, ...options, server });
  const close = harness.close.bind(harness);
  return Object.assign(harness, {
    async close() {
      await close();
      await rm(rules, { recursive: true, force: true });
    },
  });
}

/** Returns the requests that could change something, starting at a position in the proxy's list. */
export function writesOf(harness: Harness, from = 0): readonly string[] {
  return harness.proxy.passed
    .slice(from)
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path }) => `${method} ${path.split('/demo/')[1] ?? path}`);
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryScopes, type Stage, type StageOptions, setStage } from './stage.ts';

/**
 * Sets the stage with rules of the operator, one file or several by name; the bot administers the repository, as those
 * actions need.
 */
export async function setOperatorStage(
  yaml: string | Readonly<Record<string, string>>,
  options: StageOptions = {},
): Promise<Stage> {
  const rules = await mkdtemp(join(tmpdir(), 'reeve-rules-'));
  const files = typeof yaml === 'string' ? { 'rules.yml': yaml } : yaml;
  for (const [name, text] of Object.entries(files)) await writeFile(join(rules, name), text);
  const server = { ...options.server, rules };
  const stage = await setStage({ access: 'admin', scopes: repositoryScopes, ...options, server });
  const close = stage.close.bind(stage);
  return Object.assign(stage, {
    async close() {
      await close();
      await rm(rules, { recursive: true, force: true });
    },
  });
}

/** Returns the requests that could change something, since a moment of the proxy. */
export function writesOf(stage: Stage, from = 0): readonly string[] {
  return stage.proxy.passed
    .slice(from)
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path }) => `${method} ${path.split('/demo/')[1] ?? path}`);
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operations } from '../../src/contract/operations.ts';
import { at, type Stage, setStage } from './stage.ts';

/** Sets the stage with one file of operator rules; the bot administers the repository, as those actions need. */
export async function setOperatorStage(yaml: string): Promise<Stage> {
  const rules = await mkdtemp(join(tmpdir(), 'reeve-rules-'));
  await writeFile(join(rules, 'rules.yml'), yaml);
  const stage = await setStage({ server: { rules } });
  await stage.root.call(operations.putCollaborator, {
    params: { ...at, collaborator: 'reeve' },
    body: { permission: 'admin' },
  });
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

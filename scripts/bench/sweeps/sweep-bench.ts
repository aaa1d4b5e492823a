import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import memory from '../../../bin/memory.json' with { type: 'json' };
import { createForgeInstance } from '../../../src/forge/forge.ts';
import { bundling, requireBanner } from '../../build/bundling.ts';
import { type Child, type Start, startChild } from '../child.ts';
import { fillForSweeps, type Size } from './fill.ts';
import type { Cost } from './reeve.ts';

/** An embedded forge of some size and Reeve beside it, each in a process of its own. */
export interface SweepBench {
  /** Sweeps with a rule of `rules.yml` over so many items, with this latency before every answer. */
  sweep(rule: 'repositories' | 'notifications' | 'runners', count: number, latencyMs?: number): Promise<Cost>;
  stop(): Promise<void>;
}

/** As `reeve sweep` starts, and the collector at hand. */
const started: Start = { ...memory, nodeFlags: [...memory.nodeFlags, '--expose-gc'] };

/** Makes the forge and starts both. */
export async function startSweepBench(size: Size): Promise<SweepBench> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'));
  const data = join(folder, 'forge');
  const empty = await createForgeInstance({ clock: () => new Date(), data });
  await empty.createAdministrator({ name: 'root', password: 'password' });
  await empty.close();
  fillForSweeps(join(data, 'forge.db'), size);
  const children: Child[] = [];
  const begin = async (script: URL, args: readonly string[], how: Start = {}) => {
    const { child, ready } = await startChild(script, args, how);
    children.push(child);
    return { child, ready };
  };
  const forge = await begin(here('./forge.ts'), [data]);
  const bundle = await bundleReeve();
  const rules = fileURLToPath(here('./rules.yml'));
  const reeve = await begin(bundle, [String(forge.ready), join(folder, 'reeve'), rules], started);
  return {
    async sweep(rule, count, latencyMs = 0) {
      await forge.child.ask(latencyMs);
      return reeve.child.ask<Cost>({ rule, count });
    },
    async stop() {
      for (const child of children.toReversed()) await child.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Returns Reeve's script as JavaScript, as the installed package runs: taking the types off sources holds some 25 MB for
 * as long as the process lives.
 */
async function bundleReeve(): Promise<URL> {
  const outfile = fileURLToPath(
    new URL('../../../node_modules/.cache/reeve-bench/reeve.mjs', import.meta.url),
  );
  const entryPoints = [fileURLToPath(here('./reeve.ts'))];
  await build({ ...bundling, entryPoints, outfile, banner: { js: requireBanner } });
  return pathToFileURL(outfile);
}

function here(path: string): URL {
  return new URL(path, import.meta.url);
}

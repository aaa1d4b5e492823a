import { spawnSync } from 'node:child_process';
import { buildSync } from 'esbuild';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/platform/package.ts';
import { isThorough } from '../support/figure.ts';
import { nodeOf } from '../support/nodes.ts';

it.runIf(isThorough)('Node 20 prints no warning while many requests of a sweep wait', async ({ skip }) => {
  const node = await nodeOf(20);
  if (node === undefined) return skip('no Node 20 for this machine in the registry');
  const contents = `import { createSweepSignal } from './src/ci/sweep.ts';
const signal = createSweepSignal();
for (let n = 0; n < 50; n += 1) signal.addEventListener('abort', () => {});`;
  const { outputFiles } = buildSync({
    stdin: { contents, resolveDir: packageRoot, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire('/');" },
    write: false,
    logLevel: 'silent',
  });

  const input = outputFiles[0]?.text ?? '';
  const { status, stderr } = spawnSync(node, ['--input-type=module'], { input, encoding: 'utf8' });

  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

// Builds the action's bundle, dist/action.mjs, which is committed. With --check it only compares: a stale bundle would
// run old rules in its users' CI.
import { readFile, writeFile } from 'node:fs/promises';
import { build } from 'esbuild';
import { bundling, requireBanner, root } from './build/bundling.ts';

const banner = `// Built from src/ci/main.ts by \`npm run build\`; do not edit.
const [major] = process.versions.node.split('.').map(Number);
if (major < 20) { console.log('::error::Reeve needs Node 20 or later in the job container; this is ' + process.versions.node); process.exit(2); }`;

/** Returns the text of the action's bundle, built from the current sources. It runs on Node 20 and later. */
export async function bundleAction(): Promise<string> {
  const { outputFiles } = await build({
    ...bundling,
    stdin: {
      contents: `import { runAction } from './src/ci/main.ts';
process.exitCode = await runAction(process.env, (line) => process.stdout.write(line + '\\n'));`,
      resolveDir: root,
      sourcefile: 'action.ts',
      loader: 'ts',
    },
    write: false,
    target: 'node20',
    minify: true,
    legalComments: 'none',
    banner: { js: `${banner}\n${requireBanner}` },
  });
  return outputFiles[0]?.text ?? '';
}

if (import.meta.main) {
  const path = new URL('../dist/action.mjs', import.meta.url);
  const made = await bundleAction();
  if (process.argv.includes('--check')) {
    const kept = await readFile(path, 'utf8').catch(() => '');
    if (kept !== made) {
      console.error('dist/action.mjs is stale: run npm run build and commit it');
      process.exit(1);
    }
    console.log('dist/action.mjs is what the sources make');
  } else {
    await writeFile(path, made);
    console.log(`dist/action.mjs: ${Math.round(made.length / 1024)} KB`);
  }
}

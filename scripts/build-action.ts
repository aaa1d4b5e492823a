// Builds the action's bundle (dist/action.mjs, committed) and the package's command line (dist/cli.mjs, not committed).
// With --check it only compares: a stale bundle would run old rules in somebody's CI.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const banner = `// Built from src/ci.ts by \`npm run build\`; do not edit.
const [major] = process.versions.node.split('.').map(Number);
if (major < 20) { console.log('::error::Reeve needs Node 20 or later in the job container; this is ' + process.versions.node); process.exit(2); }`;

/** Messages of shapes in fifty languages are a third of the bundle; ours are English. */
const withoutLocales: Plugin = {
  name: 'without-locales',
  setup(building) {
    building.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({ contents: 'export {};' }));
  },
};

/** Returns the text of the action's bundle as the sources make it now. It runs on Node 20 and later. */
export async function bundleAction(): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { runAction } from './src/ci.ts';
process.exitCode = await runAction(process.env, (line) => process.stdout.write(line + '\\n'));`,
      resolveDir: root,
      sourcefile: 'action.ts',
      loader: 'ts',
    },
    absWorkingDir: root,
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minify: true,
    legalComments: 'none',
    plugins: [withoutLocales],
    banner: {
      js: `${banner}\nimport { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`,
    },
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
    await build({
      entryPoints: [`${root}src/cli.ts`],
      absWorkingDir: root,
      bundle: true,
      splitting: true,
      outdir: `${root}dist/cli`,
      outExtension: { '.js': '.mjs' },
      format: 'esm',
      platform: 'node',
      target: 'node22',
      packages: 'external',
    });
    console.log(`dist/action.mjs: ${Math.round(made.length / 1024)} KB`);
  }
}

// Builds what the npm package runs, dist/package/, which is not committed: `npm pack` and `npm publish` call it (prepack).
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { build } from 'esbuild';
import { bundling, requireBanner, root } from './build/bundling.ts';
import { declarationsOf } from './build/declarations.ts';
import { licensesOf } from './build/licenses.ts';

/** What other programs import: `exports` of package.json. */
const declared = ['run-reeve', 'embedded-forge'];

/** Builds the package's JavaScript, type declarations and licences into a folder that does not exist yet. */
async function buildPackage(folder: string): Promise<void> {
  const { metafile } = await build({
    ...bundling,
    entryPoints: ['src/cli.ts', ...declared.map((name) => `src/exports/${name}.ts`)],
    // Commands are imported when they are called: each loads the chunks it needs, and no more.
    entryNames: '[name]',
    splitting: true,
    chunkNames: 'chunks/[hash]',
    outdir: folder,
    target: 'node22',
    legalComments: 'none',
    metafile: true,
    banner: { js: requireBanner },
  });
  for (const name of declared)
    await writeFile(`${folder}/${name}.d.ts`, declarationsOf(`src/exports/${name}.ts`));
  await writeFile(`${folder}/third-party-licenses.txt`, licensesOf(Object.keys(metafile.inputs)));
}

if (import.meta.main) {
  const folder = `${root}dist/package`;
  const made = `${folder}-${process.pid}`;
  try {
    await mkdir(made, { recursive: true });
    await buildPackage(made);
    await rm(folder, { recursive: true, force: true });
    await rename(made, folder);
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

// Builds what the npm package runs, dist/package/, which is not committed: `npm pack` and `npm publish` call it (prepack).
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { replacedModules, root } from './build/bundling.ts';
import { chunksByPrograms } from './build/chunks.ts';
import { declarationsOf } from './build/declarations.ts';
import { licensesOf } from './build/licenses.ts';

/** What other programs import: `exports` of package.json. */
const declared = ['run-reeve', 'embedded-forge'];

/** Programs of threads, which are found by the names of their files. */
const threads = ['src/forge/issues/render-markdown.ts'];

/**
 * The programs that chunks are made for: the command line, which prints its help with nothing else loaded, and the commands
 * that differ much in what they load. Other commands load the chunks of these, and what only they need.
 */
const programs = [
  'src/cli/cli.ts',
  'src/server/settings/config.ts',
  'src/cli/commands/password.ts',
  'src/cli/commands/runs/explain.ts',
  'src/cli/commands/rules/check.ts',
  'src/cli/commands/doctor.ts',
  'src/cli/commands/serve.ts',
  'src/cli/commands/forge.ts',
].map((path) => join(root, path));

const replacing: Plugin = {
  name: 'replaced-modules',
  load(id) {
    const replaced = replacedModules.find(({ path }) => path.test(id));
    return replaced && { code: replaced.contents(), moduleType: 'js' };
  },
};

/** Builds the package's JavaScript, type declarations and licences into a folder that does not exist yet. */
async function buildPackage(folder: string): Promise<void> {
  const entries = ['src/cli/cli.ts', ...threads, ...declared.map((name) => `src/exports/${name}.ts`)];
  const bundle = await rolldown({
    cwd: root,
    platform: 'node',
    input: Object.fromEntries(entries.map((path) => [path.replace(/^.*\/|\.ts$/g, ''), path])),
    plugins: [replacing],
    moduleTypes: { '.gitignore': 'text' },
    transform: { target: 'node22' },
    // `includeDependenciesRecursively: false` requires it; the entries gain no export by it.
    preserveEntrySignatures: 'allow-extension',
  });
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    // A message of Node about an error in the package quotes the line: it is one of the program, not the whole file.
    minify: false,
    comments: false,
    codeSplitting: {
      // A module goes into the chunk that is named for it, not into that of a module that imports it.
      includeDependenciesRecursively: false,
      groups: [{ name: chunksByPrograms(programs), debugName: 'needed-by' }],
    },
  });
  const chunks = output.filter((file) => file.type === 'chunk');
  for (const name of declared)
    await writeFile(`${folder}/${name}.d.ts`, declarationsOf(`src/exports/${name}.ts`));
  const inputs = chunks.flatMap(({ moduleIds }) => moduleIds.map((id) => relative(root, id)));
  await writeFile(`${folder}/third-party-licenses.txt`, licensesOf(inputs));
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

// Builds what the npm package runs, dist/package/, which is not committed: `npm pack` and `npm publish` call it (prepack).

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import ts from 'typescript';
import { replacedModules, root } from './build/bundling.ts';

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

/** What is known of a module while a bundle is divided into chunks. */
type ModuleGraph = {
  /** Returns the ids of the modules that a module imports at its start, or null for an unknown one. */
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
};

/**
 * Returns a function that names the chunk of a module by those of the programs (ids of modules) that need the module at their
 * start: a program then loads what it needs and nothing else, in few files. Undefined: none of them needs the module, or it is
 * such a program itself.
 *
 * Imports lead to modules that as many programs need or more, so chunks do not import each other in a circle.
 */
function chunksByPrograms(
  programs: readonly string[],
): (id: string, graph: ModuleGraph) => string | undefined {
  let users: Map<string, string> | undefined;
  return (id, graph) => {
    users ??= usersOfModules(programs, graph);
    return programs.includes(id) ? undefined : users.get(id);
  };
}

/** Returns the numbers of the programs that need each module, joined. */
function usersOfModules(programs: readonly string[], graph: ModuleGraph): Map<string, string> {
  const users = new Map<string, string>();
  for (const [number, program] of programs.entries()) {
    const needed = new Set([program]);
    // A set is walked to its end while it grows.
    for (const id of needed) {
      const info = graph.getModuleInfo(id);
      if (info === null) throw new Error(`${id} is no module of the bundle`);
      for (const imported of info.importedIds) needed.add(imported);
    }
    for (const id of needed) users.set(id, `${users.get(id) ?? 'needed-by'}-${number}`);
  }
  return users;
}

/**
 * Returns the type declarations of one source file as the compiler writes them. Throws when its exports need types of
 * another file: what the package declares must stand without the sources and without any library.
 */
function declarationsOf(path: string): string {
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(readFileSync(join(root, path), 'utf8'), {
    fileName: path,
    reportDiagnostics: true,
    compilerOptions: {
      isolatedDeclarations: true,
      target: ts.ScriptTarget.ES2024,
      module: ts.ModuleKind.NodeNext,
    },
  });
  const [first] = diagnostics;
  if (first !== undefined)
    throw new Error(`${path}: ${ts.flattenDiagnosticMessageText(first.messageText, ' ')}`);
  if (/\bimport\b|\bfrom '/.test(outputText.replaceAll(/\/\*[\s\S]*?\*\//g, ''))) {
    throw new Error(`${path}: its declarations import another file`);
  }
  return outputText;
}

/**
 * Returns the names, versions and licence texts of the libraries that the input files of a bundle belong to. Throws for a
 * library that states no licence: its copy must not be shipped.
 */
function licensesOf(inputs: readonly string[]): string {
  const folders = new Set<string>();
  for (const input of inputs) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? [];
    if (folder !== undefined) folders.add(folder);
  }
  const texts = [...folders].sort().map(licenseOf);
  return [`This package contains ${texts.length} libraries. Their licences follow.`, ...texts].join(
    `\n\n${'-'.repeat(80)}\n\n`,
  );
}

function licenseOf(folder: string): string {
  const path = join(root, folder);
  const about: unknown = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const { name, version, license } = about as { name?: string; version?: string; license?: unknown };
  if (typeof license !== 'string') throw new Error(`${folder}/package.json names no licence`);
  const files = existsSync(path)
    ? readdirSync(path, { withFileTypes: true })
        .filter((entry) => entry.isFile() && /^(licen[cs]e|notice)/i.test(entry.name))
        .map(({ name: file }) => file)
    : [];
  const texts = files.sort().map((file) => readFileSync(join(path, file), 'utf8').trim());
  return [`${name} ${version} (${license})`, ...texts].join('\n\n');
}

// Builds dist/package/, the code that the npm package runs. It is not committed; `npm pack` and `npm publish` run this
// script (prepack).

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import ts from 'typescript';
import { replacedModules, root } from './build/bundling.ts';

/** Modules that other programs import: `exports` of package.json. */
const declared = ['run-reeve', 'embedded-forge'];

/** Programs of threads, which are loaded by their file names. */
const threads = ['src/forge/issues/render-markdown.ts'];

/**
 * Programs for which separate chunks are made: the command line, which prints its help without loading anything else,
 * and the commands that load considerably different modules. Other commands load the chunks of these programs, and the
 * modules that only they need.
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

/** Builds the package's JavaScript, type declarations and licences into a new folder. */
async function buildPackage(folder: string): Promise<void> {
  const entries = ['src/cli/cli.ts', ...threads, ...declared.map((name) => `src/exports/${name}.ts`)];
  const bundle = await rolldown({
    cwd: root,
    platform: 'node',
    input: Object.fromEntries(entries.map((path) => [path.replace(/^.*\/|\.ts$/g, ''), path])),
    plugins: [replacing],
    moduleTypes: { '.gitignore': 'text' },
    transform: { target: 'node22' },
    // `includeDependenciesRecursively: false` requires this option; it adds no export to the entries.
    preserveEntrySignatures: 'allow-extension',
  });
  const { output } = await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    // When Node reports an error in the package, it quotes the line, which must not be the whole file.
    minify: false,
    comments: false,
    codeSplitting: {
      // A module belongs to the chunk named for it, not to the chunk of a module that imports it.
      includeDependenciesRecursively: false,
      groups: [{ name: chunksByPrograms(programs), debugName: 'needed-by' }],
    },
  });
  const chunks = output.filter((file) => file.type === 'chunk');
  for (const { fileName, code } of chunks) await writeFile(join(folder, fileName), asciiOnly(fileName, code));
  for (const name of declared)
    await writeFile(`${folder}/${name}.d.ts`, declarationsOf(`src/exports/${name}.ts`));
  const inputs = chunks.flatMap(({ moduleIds }) => moduleIds.map((id) => relative(root, id)));
  await writeFile(`${folder}/third-party-licenses.txt`, licensesOf(inputs));
}

/**
 * Returns the same program without characters beyond ASCII: V8 keeps a source with a single one of them as two bytes per
 * character, which is 4 MB of memory for `reeve serve`. Throws if an escape could change the meaning.
 */
function asciiOnly(name: string, code: string): string {
  if (!/[^\x00-\x7f]/.test(code)) return code;
  const source = ts.createSourceFile(name, code, ts.ScriptTarget.ES2024, false, ts.ScriptKind.JS);
  const visit = (node: ts.Node): void => {
    // The tag String.raw sees the text as it is written; no other tag of the program does.
    const isRaw = ts.isTaggedTemplateExpression(node) && node.tag.getText(source).endsWith('raw');
    if (isRaw && /[^\x00-\x7f]/.test(node.template.getText(source)))
      throw new Error(`${name} has a String.raw with characters beyond ASCII`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return code.replace(/[^\x00-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
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

/** Data about modules while a bundle is divided into chunks. */
type ModuleGraph = {
  /** Returns the ids of the modules that a module imports at its start, or null if the module is unknown. */
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null;
};

/**
 * Returns a function that names the chunk of a module after the programs (ids of modules) that need the module at their
 * start, so that a program loads only what it needs, from few files. The name is undefined if no program needs the
 * module, or if the module is such a program itself.
 *
 * At least as many programs need an imported module as the importing one, so chunks do not import each other in a
 * cycle.
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

/** Returns, for each module, the joined numbers of the programs that need it. */
function usersOfModules(programs: readonly string[], graph: ModuleGraph): Map<string, string> {
  const users = new Map<string, string>();
  for (const [number, program] of programs.entries()) {
    const needed = new Set([program]);
    // The loop also visits entries that are added to the set meanwhile.
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
 * Returns the type declarations of one source file as written by the compiler. Throws if its exports need types of
 * another file, because the package's declarations must not depend on the sources or on any library.
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
 * Returns the names, versions and licence texts of the libraries to which the input files of a bundle belong. Throws
 * for a library without a licence, because it must not be shipped.
 */
export function licensesOf(inputs: readonly string[]): string {
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

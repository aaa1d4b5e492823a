import { globSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const sources = globSync('src/**/*.ts').sort();

/** Folders of one file per thing, which may have any number of files. */
const wideFolders = ['src/actions', 'src/contract/resources', 'src/facts', 'src/forge/core/migrations'];

const linesOf = (text: string): number => text.trimEnd().split('\n').length;

/** Returns the functions of a file that span more lines, as `path name`. */
function functionsOver(lines: number, path: string): readonly string[] {
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const [start, end] = [node.getStart(file), node.getEnd()].map(
        (at) => file.getLineAndCharacterOfPosition(at).line,
      );
      if ((end ?? 0) - (start ?? 0) + 1 > lines) found.push(`${path} ${nameOf(node)}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function nameOf(node: ts.Node): string {
  const named = [node, node.parent].find((one) => 'name' in one && one.name !== undefined);
  return named === undefined ? '(unnamed)' : ((named as ts.NamedDeclaration).name?.getText() ?? '(unnamed)');
}

describe('the folders of src', () => {
  it('hold at most 25 files, but for those of one file per thing', () => {
    const sizes = new Map<string, number>();
    for (const path of sources) sizes.set(dirname(path), (sizes.get(dirname(path)) ?? 0) + 1);
    const wide = [...sizes].filter(([folder, files]) => files > 25 && !wideFolders.includes(folder));

    expect(sources.length).toBeGreaterThan(300);
    expect(wide).toEqual([]);
  });

  it('hold at most eight files at the top level', () => {
    expect(sources.filter((path) => dirname(path) === 'src').length).toBeLessThanOrEqual(8);
  });

  it('are not beside a file of the same name', () => {
    const folders = new Set(sources.map((path) => dirname(path)));

    expect(sources.filter((path) => folders.has(path.slice(0, -'.ts'.length)))).toEqual([]);
  });
});

describe('the files of src', () => {
  it('have at most 300 lines', () => {
    const long = sources.filter((path) => linesOf(readFileSync(path, 'utf8')) > 300);

    expect(long).toEqual([]);
  });

  it('have functions of at most 80 lines', () => {
    const long = sources.flatMap((path) => functionsOver(80, path));

    expect(long).toEqual([]);
  });

  it('do not have names that say nothing', () => {
    const empty = /^(utils?|helpers?|common|index|manager|service)\.ts$/;

    expect(sources.filter((path) => empty.test(basename(path)))).toEqual([]);
  });
});

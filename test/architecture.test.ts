import { existsSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const page = read('docs/architecture.md');

/** A row of a table: a file, and the name of a declaration in it. */
type Stop = { readonly section: string; readonly file: string; readonly name: string };

/** Rows of all tables that name a file and a declaration, with the title of their section. */
const stops = page.split(/^## /m).flatMap((text): readonly Stop[] => {
  const section = text.split('\n', 1)[0] ?? '';
  const rows = text.matchAll(/^\| (?:\d+ \| )?`(src\/[^`]+)` \| `([\w.#]+)` \|/gm);
  return [...rows].map(([, file = '', name = '']) => ({ section, file, name }));
});

describe('docs/architecture.md', () => {
  it('has six walks, whose rows are numbered without a gap', () => {
    const numbers = [...page.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => Number(number));
    const wrong = numbers.filter((number, at) => number !== 1 && number !== (numbers[at - 1] ?? 0) + 1);

    expect(numbers.filter((number) => number === 1)).toHaveLength(6);
    expect(wrong).toEqual([]);
    expect(stops.length).toBeGreaterThan(numbers.length);
  });

  it('names in each row exactly one declaration that has a body', () => {
    const wrong = stops.flatMap(({ file, name }) => {
      const found = countDeclarations(file, name);
      return found === 1 ? [] : [`${file} ${name}: ${found} declarations with a body`];
    });

    expect(wrong).toEqual([]);
  });

  it.each([
    ['a member of an interface', 'src/server/receiver/guards.ts', 'Guards.admit'],
    ['a member of a type', 'src/engine/proposal.ts', 'changes'],
    ['a type', 'src/engine/proposal.ts', 'Proposal'],
    ['a function without a statement', 'src/server/dashboard/visibility.ts', 'confirm'],
    ['a member of another class', 'src/work/deliveries/router.ts', 'Router.keep'],
    ['a name in a file that does not exist', 'src/engine/gone.ts', 'runRules'],
  ])('must not name %s', (_what, file, name) => {
    expect(countDeclarations(file, name)).toBe(0);
  });

  it('names paths that exist', () => {
    const paths = [...page.matchAll(/`((?:src|test)\/[\w./-]+)`/g)].map(([, path = '']) => path);

    expect(paths.filter((path) => !existsSync(new URL(`../${path}`, import.meta.url)))).toEqual([]);
  });
});

describe('CONTRIBUTING.md', () => {
  it('states how many lines there are to read, with an error of less than a tenth', () => {
    const principle = /^6\. .*\n(?: .*\n)*/m.exec(read('CONTRIBUTING.md'))?.[0].replaceAll(/\s+/g, ' ') ?? '';
    const figures = /about ([\d,]+) lines\..* the (\d+) files of the first walk .* have ([\d,]+) lines/;
    const [, lines, files, linesOfWalk] = figures.exec(principle) ?? [];
    const named = [...principle.matchAll(/`(src\/[^`]+)`/g)].map(([, path = '']) => path);
    const walk = new Set(stops.filter(({ section }) => section === 'One delivery').map(({ file }) => file));

    expect(Number(files)).toBe(walk.size);
    expectAbout(lines, countLines(named));
    expectAbout(linesOfWalk, countLines([...walk]));
  });
});

/** Expects a written figure to be within a tenth of the counted one. */
function expectAbout(written: string | undefined, counted: number): void {
  const figure = Number(written?.replaceAll(',', ''));
  expect(Math.abs(figure - counted) / counted, `${written} is written, ${counted} counted`).toBeLessThan(0.1);
}

function countLines(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + read(path).split('\n').length - 1, 0);
}

/** Declaration with a body, and the names of the classes and functions that contain it. */
type Declaration = { readonly name: string; readonly owners: readonly string[] };

const known = new Map<string, readonly Declaration[]>();

/** Returns the functions, classes, constants and methods that a file declares with a body. */
function declarationsIn(file: string): readonly Declaration[] {
  const found: Declaration[] = [];
  const visit = (node: ts.Node, owners: readonly string[]): void => {
    const name = nameOf(node);
    if (name !== undefined && hasBody(node)) found.push({ name, owners });
    const inner = name === undefined ? owners : [...owners, name];
    ts.forEachChild(node, (child) => visit(child, inner));
  };
  visit(ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true), []);
  return found;
}

/**
 * Returns the number of declarations of a file that have this name. `Owner.name` is a declaration inside the class or
 * function `Owner`.
 */
function countDeclarations(file: string, name: string): number {
  if (!existsSync(new URL(`../${file}`, import.meta.url))) return 0;
  const declared = known.get(file) ?? declarationsIn(file);
  known.set(file, declared);
  const [wanted, owner] = name.split('.').reverse();
  return declared.filter((one) => one.name === wanted && (owner === undefined || one.owners.includes(owner)))
    .length;
}

/** Returns the name that a node declares for a value, or undefined for other nodes, including types. */
function nameOf(node: ts.Node): string | undefined {
  const isValue =
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isPropertyAssignment(node);
  return isValue ? node.name?.getText() : undefined;
}

/**
 * Returns whether a declaration has a body: a function has a statement, or a member is a function or a row of a table.
 */
function hasBody(node: ts.Node): boolean {
  if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) return !isEmpty(node.body);
  if (ts.isClassDeclaration(node)) return node.members.length > 0;
  const isMember = ts.isPropertyDeclaration(node) || ts.isPropertyAssignment(node);
  if (!isMember && !ts.isVariableDeclaration(node)) return false;
  const { initializer } = node;
  if (initializer === undefined) return false;
  if (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer))
    return !isEmpty(initializer.body);
  const isRow = ts.isCallExpression(initializer) && initializer.expression.getText().startsWith('define');
  return !isMember || isRow;
}

function isEmpty(body: ts.ConciseBody | undefined): boolean {
  return body === undefined || (ts.isBlock(body) && body.statements.length === 0);
}

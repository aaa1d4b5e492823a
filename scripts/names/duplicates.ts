import { globSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/** A name that is declared at the top level of more than one file. */
export type DuplicateName = {
  readonly name: string;
  /** `type`: types, interfaces and classes, exported or not. `function`: at least one of them is exported. */
  readonly kind: 'type' | 'function';
  /** `path:line` of each declaration. */
  readonly places: readonly string[];
};

type Declaration = {
  readonly name: string;
  readonly kind: DuplicateName['kind'];
  readonly isExported: boolean;
  readonly path: string;
  readonly line: number;
};

/**
 * Returns the names of types that more than one file below `src` of a folder declares, and the names of exported functions
 * that another file uses for a function of its own. Unexported functions may share a name: it never leaves its file.
 */
export function findDuplicateNames(root: string): readonly DuplicateName[] {
  const byName = new Map<string, Declaration[]>();
  for (const path of globSync('src/**/*.ts', { cwd: root }).sort()) {
    for (const one of declarationsOf(path, readFileSync(`${root}/${path}`, 'utf8'))) {
      const key = `${one.kind} ${one.name}`;
      byName.set(key, [...(byName.get(key) ?? []), one]);
    }
  }
  return [...byName.values()].filter(isDuplicate).map((declarations) => ({
    name: declarations[0]?.name ?? '',
    kind: declarations[0]?.kind ?? 'type',
    places: declarations.map(({ path, line }) => `${path}:${line}`),
  }));
}

function isDuplicate(declarations: readonly Declaration[]): boolean {
  if (new Set(declarations.map(({ path }) => path)).size < 2) return false;
  return declarations.some(({ kind, isExported }) => kind === 'type' || isExported);
}

/** Returns the types and functions that a file declares at its top level; overloads and merged declarations each. */
function declarationsOf(path: string, text: string): readonly Declaration[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  return file.statements.flatMap((statement) => {
    const isExported =
      ts.canHaveModifiers(statement) &&
      (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    return namesIn(statement).map(({ name, kind }) => ({
      name: name.text,
      kind,
      isExported,
      path,
      line: file.getLineAndCharacterOfPosition(name.getStart(file)).line + 1,
    }));
  });
}

type Named = { readonly name: ts.Identifier; readonly kind: DuplicateName['kind'] };

function namesIn(statement: ts.Statement): readonly Named[] {
  if (ts.isFunctionDeclaration(statement) && statement.name) {
    return [{ name: statement.name, kind: 'function' }];
  }
  const isType =
    ts.isTypeAliasDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isClassDeclaration(statement);
  if (isType) return statement.name ? [{ name: statement.name, kind: 'type' }] : [];
  if (!ts.isVariableStatement(statement)) return [];
  return statement.declarationList.declarations.flatMap(({ name, initializer }) => {
    const isFunction =
      initializer !== undefined && (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer));
    return isFunction && ts.isIdentifier(name) ? [{ name, kind: 'function' as const }] : [];
  });
}

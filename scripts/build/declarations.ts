import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from './bundling.ts';

/**
 * Returns the type declarations of one source file as the compiler writes them. Throws when its exports need types of
 * another file: what the package declares must stand without the sources and without any library.
 */
export function declarationsOf(path: string): string {
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

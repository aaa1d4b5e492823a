import { LineCounter, parseDocument } from 'yaml';
import { Seed } from './shape.ts';

/** Something wrong at a path of the document, such as `['repositories', 3, 'name']`. */
export type SeedProblem = { readonly path: readonly PropertyKey[]; readonly message: string };

/** A seed with the way back into its file. */
export type SeedFile = {
  readonly seed: Seed;
  /** Returns `file:line:column` of a path. */
  readonly positionOf: (path: readonly PropertyKey[]) => string;
};

/**
 * Reads the text of a seed file (YAML 1.2, no aliases). Returns the seed, or everything that is wrong with it, each with
 * its place. `file` is only named.
 */
export function parseSeed(text: string, file: string): SeedFile | { readonly problems: readonly string[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    version: '1.2',
    merge: false,
  });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) return { problems: faults.map((fault) => `${at(fault.pos[0])}: ${fault.message}`) };
  const positionOf = (path: readonly PropertyKey[]): string => at(offsetOf(document, path));
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    return { problems: [`${file}: ${error instanceof Error ? error.message : 'not readable'}`] };
  }
  const parsed = Seed.safeParse(value);
  if (parsed.success) return { seed: parsed.data, positionOf };
  return {
    problems: parsed.error.issues.map(
      (issue) => `${positionOf(issue.path)}: ${issue.path.join('.') || 'the file'}: ${issue.message}`,
    ),
  };
}

/** Where a path is, or the nearest thing above it that is there: a missing member has no place of its own. */
function offsetOf(document: ReturnType<typeof parseDocument>, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined;
    if (Array.isArray(range) && typeof range[0] === 'number') return range[0];
  }
  return 0;
}

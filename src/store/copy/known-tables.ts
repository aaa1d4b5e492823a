import { ReeveError } from '../../platform/errors.ts';
import { copiedTables, omittedTables, type StoreKind } from './copied-tables.ts';
import type { CopySide } from './copy-side.ts';

/** Returns what of a schema a copy would leave out without a reason, and what it expects and is not there. */
export function unknownColumnsOf(
  kind: StoreKind,
  schema: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const known = new Map(
    copiedTables.map((table) => {
      const columns = [
        ...Object.keys(table.columns),
        ...Object.keys(table.derived?.[kind] ?? {}),
        ...(table.unset?.[kind] ?? []),
      ];
      return [table.name, new Set(columns)];
    }),
  );
  const differences: string[] = [];
  for (const [name, columns] of schema) {
    if (Object.hasOwn(omittedTables, name)) continue;
    const expected = known.get(name);
    if (expected === undefined) {
      differences.push(`table ${name}`);
      continue;
    }
    const unknown = columns.filter((column) => !expected.has(column));
    const missing = [...expected].filter((column) => !columns.includes(column));
    differences.push(...[...unknown, ...missing].map((column) => `column ${name}.${column}`));
  }
  const gone = [...known.keys()].filter((name) => !schema.has(name));
  return [...differences, ...gone.map((name) => `table ${name}`)];
}

/** Throws `internal` if a store has tables or columns that a copy does not know. */
export async function requireKnownTables(side: CopySide): Promise<void> {
  const differences = unknownColumnsOf(side.kind, await side.columns());
  if (differences.length === 0) return;
  throw new ReeveError(
    'internal',
    `${side.name} has another structure than a copy handles: ${differences.join(', ')}. Nothing was copied`,
  );
}

import { ReeveError } from '../../platform/errors.ts';
import {
  type CopiedTable,
  type CopyRow,
  convertRow,
  copiedTables,
  omittedTables,
  RowDigest,
  type StoreKind,
} from './copied-tables.ts';
import { type CopyMark, parseMark } from './copy-mark.ts';

/** Values of a row's primary key. */
type CopyKey = readonly (string | number)[];

/** Maximum number of rows and bytes in one batch. The first row of a batch may be larger. */
export type BatchLimits = { readonly rows: number; readonly bytes: number };

export const standardBatch: BatchLimits = { rows: 2_000, bytes: 4 * 2 ** 20 };

/** `after`: key of the last row that was read; `mode`: whether `bytes` columns return the bytes or their SHA-256. */
export type PageQuery = { readonly after?: CopyKey | undefined; readonly mode: 'content' | 'digest' };

/** A store that is read or written row by row while no server uses it. */
export interface CopySide {
  readonly kind: StoreKind;
  /** Name of the store in messages and marks, without a password. */
  readonly name: string;
  /** Returns the columns of every table, by name. */
  columns(): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Returns the next rows in key order; empty at the end. */
  page(table: CopiedTable, query: PageQuery): Promise<readonly CopyRow[]>;
  /** Returns the last number that the database has generated; 0 if there is none. */
  lastNumber(table: CopiedTable): Promise<number>;
  close(): Promise<void>;
}

/** The target store of a copy. */
export interface CopyTarget extends CopySide {
  /** Returns the stored mark, if there is one. */
  readMark(): Promise<string | undefined>;
  writeMark(mark: string): Promise<void>;
  isEmpty(table: CopiedTable): Promise<boolean>;
  /** Inserts rows and writes the mark, in one transaction. */
  write(table: CopiedTable, rows: readonly CopyRow[], mark: string): Promise<void>;
  /** Sets the last generated number. */
  setLastNumber(table: CopiedTable, number: number): Promise<void>;
  /** Deletes all rows of the tables and writes the mark, in one transaction. */
  clear(tables: readonly CopiedTable[], mark: string): Promise<void>;
  /** Syncs everything to disk and prepares the store for its first use. */
  settleDown(): Promise<void>;
}

/** Returns the key of a row. */
function copyKeyOf({ key }: CopiedTable, row: CopyRow): CopyKey {
  return key.map((column) => {
    const value = row[column];
    return typeof value === 'number' ? value : String(value);
  });
}

/** Comparison of one table between both stores after the copy. */
export type ComparedTable = {
  readonly table: string;
  readonly rows: number;
  /** The sum of the SHA-256 of each row, in hexadecimal. It does not depend on the order. */
  readonly digest: string;
  /** Whether the target has the same content. */
  readonly isEqual: boolean;
};

/** Result of a copy. */
export type CopyReport = {
  readonly from: string;
  readonly to: string;
  /** `resumed`: the copy was started earlier; `verified`: the copy was already complete, and was only compared. */
  readonly begun: 'new' | 'resumed' | 'verified';
  readonly tables: readonly ComparedTable[];
};

type CopyOptions = {
  readonly now: () => Date;
  /** Whether an unfinished copy in the target is deleted and started anew. */
  readonly restart?: boolean;
  /** Called after each batch. */
  readonly onProgress?: (progress: { readonly table: string; readonly rows: number }) => void;
};

/**
 * Copies a store into an empty one and compares the two. An interrupted copy continues after its last batch. The target
 * is complete and can be opened once everything is equal; until then, it is refused. Throws `usage` if the target
 * contains something else.
 */
export async function transferStore(
  source: CopySide,
  target: CopyTarget,
  options: CopyOptions,
): Promise<CopyReport> {
  if (source.name === target.name) throw new ReeveError('usage', `${source.name} cannot be copied to itself`);
  await requireKnownTables(source);
  await requireKnownTables(target);
  const { mark, begun } = await begin(source, target, options);
  if (begun !== 'verified') {
    await copyTables(source, target, mark, options);
    await target.settleDown();
  }
  const tables = await compare(source, target);
  const report: CopyReport = { from: source.name, to: target.name, begun, tables };
  const isEqual = tables.every((table) => table.isEqual);
  if (begun === 'verified' && !isEqual)
    throw new ReeveError(
      'usage',
      `${target.name} contains a copy of ${source.name} that was completed at ${mark.completedAt} and has changed since: name an empty location`,
    );
  if (begun !== 'verified' && isEqual)
    await target.writeMark(JSON.stringify({ ...mark, completedAt: options.now().toISOString() }));
  return report;
}

/** Determines the starting position, and marks the target as unfinished. */
async function begin(
  source: CopySide,
  target: CopyTarget,
  { now, restart = false }: CopyOptions,
): Promise<{ readonly mark: CopyMark; readonly begun: CopyReport['begun'] }> {
  const fresh: CopyMark = { source: source.name, startedAt: now().toISOString() };
  const mark = parseMark(await target.readMark());
  if (mark === undefined || (mark.completedAt !== undefined && mark.source !== source.name)) {
    await requireEmpty(target);
    await target.writeMark(JSON.stringify(fresh));
    return { mark: fresh, begun: 'new' };
  }
  if (mark.completedAt !== undefined) return { mark, begun: 'verified' };
  if (restart) {
    await target.clear(copiedTables, JSON.stringify(fresh));
    return { mark: fresh, begun: 'new' };
  }
  if (mark.source === source.name) return { mark, begun: 'resumed' };
  throw new ReeveError(
    'usage',
    `${target.name} contains an unfinished copy of ${mark.source}: copy from there to finish it, or delete it with --restart`,
  );
}

async function requireEmpty(target: CopyTarget): Promise<void> {
  for (const table of copiedTables) {
    if (await target.isEmpty(table)) continue;
    throw new ReeveError(
      'usage',
      `${target.name} is not empty (${table.name}): name a new location. A copy never overwrites a store`,
    );
  }
}

async function copyTables(
  source: CopySide,
  target: CopyTarget,
  mark: CopyMark,
  { onProgress = () => {} }: CopyOptions,
): Promise<void> {
  const kinds = { from: source.kind, to: target.kind };
  const first = Math.max(
    copiedTables.findIndex(({ name }) => name === mark.table),
    0,
  );
  for (const [index, table] of copiedTables.slice(first).entries()) {
    let after = index === 0 ? mark.after : undefined;
    for (let count = 0; ; ) {
      const rows = await source.page(table, { after, mode: 'content' });
      const last = rows.at(-1);
      if (last === undefined) break;
      after = copyKeyOf(table, last);
      const converted = rows.map((row) => convertRow(table, row, kinds));
      await target.write(table, converted, JSON.stringify({ ...mark, table: table.name, after }));
      count += rows.length;
      onProgress({ table: table.name, rows: count });
    }
    if (table.numbered !== undefined) await target.setLastNumber(table, await source.lastNumber(table));
  }
}

async function compare(source: CopySide, target: CopyTarget): Promise<readonly ComparedTable[]> {
  const compared: ComparedTable[] = [];
  for (const table of copiedTables) {
    const wanted = await digestRows(source, table, target.kind);
    const found = await digestRows(target, table, target.kind);
    const isBehind =
      table.numbered !== undefined && (await target.lastNumber(table)) < (await source.lastNumber(table));
    compared.push({
      table: table.name,
      rows: found.count,
      digest: found.hex,
      isEqual: found.count === wanted.count && found.hex === wanted.hex && !isBehind,
    });
  }
  return compared;
}

/** Returns the digest of a table in one store, in the form used by a store of the kind `to`. */
async function digestRows(side: CopySide, table: CopiedTable, to: StoreKind): Promise<RowDigest> {
  const digest = new RowDigest();
  for (let after: CopyMark['after']; ; ) {
    const rows = await side.page(table, { after, mode: 'digest' });
    const last = rows.at(-1);
    if (last === undefined) return digest;
    after = copyKeyOf(table, last);
    digest.add(
      table,
      rows.map((row) => convertRow(table, row, { from: side.kind, to })),
    );
  }
}

/** Returns the parts of a schema that a copy would omit without a reason, and the expected parts that are missing. */
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

/** Throws `internal` if a store has tables or columns that are unknown to the copy. */
async function requireKnownTables(side: CopySide): Promise<void> {
  const differences = unknownColumnsOf(side.kind, await side.columns());
  if (differences.length === 0) return;
  throw new ReeveError(
    'internal',
    `${side.name} has a structure that a copy does not support: ${differences.join(', ')}. Nothing was copied`,
  );
}

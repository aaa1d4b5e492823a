import { existsSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { storeFileOf } from '../open-store.ts';
import type { CopySide, CopyTarget } from './copy-store.ts';
import { openSqliteSource, openSqliteTarget } from './sqlite-side.ts';

/** Location of a store to copy: the connection string of a database, or the path of a file or data folder. */
export type CopyPlace = { readonly databaseUrl: string } | { readonly path: string };

/** Returns whether both locations have the same name, in which case the store would wait for its own lock. */
export function isSamePlace(one: CopyPlace, other: CopyPlace): boolean {
  if ('path' in one) return 'path' in other && filePathOf(one.path) === filePathOf(other.path);
  return 'databaseUrl' in other && one.databaseUrl === other.databaseUrl;
}

/** Opens the store to copy from. */
export async function openCopySource(place: CopyPlace): Promise<CopySide> {
  if ('path' in place) return openSqliteSource(filePathOf(place.path));
  // Loaded lazily, because most installations have no database server.
  const { openPostgresSource } = await import('./postgres-side.ts');
  return openPostgresSource(place.databaseUrl);
}

/** Opens the store to copy to. */
export async function openCopyTarget(place: CopyPlace): Promise<CopyTarget> {
  if ('path' in place) return openSqliteTarget(filePathOf(place.path));
  const { openPostgresTarget } = await import('./postgres-side.ts');
  return openPostgresTarget(place.databaseUrl);
}

/** Returns the database file for a path. A nonexistent path is a file if it ends in `.db`, otherwise a data folder. */
function filePathOf(given: string): string {
  const path = resolve(given);
  if (!existsSync(path)) return path.endsWith('.db') ? path : storeFileOf({ data: path });
  const real = realpathSync(path);
  return statSync(real).isDirectory() ? storeFileOf({ data: real }) : real;
}

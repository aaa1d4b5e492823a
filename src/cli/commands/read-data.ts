import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { messageOf, ReeveError } from '../../platform/errors.ts';

/** Reads a JSON or YAML file that must contain a map. */
export async function readData(path: string): Promise<Record<string, unknown>> {
  let value: unknown;
  try {
    const text = await readFile(path, 'utf8');
    value = path.endsWith('.json') ? JSON.parse(text) : parse(text, { maxAliasCount: 0 });
  } catch (cause) {
    throw new ReeveError('usage', `${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new ReeveError('usage', `${path} must contain a map`);
}

import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, it } from 'vitest';

/** Returns the names of operations in the exported tables of a module. */
async function namesIn(file: string, suffix: 'Operations' | 'Handlers'): Promise<readonly string[]> {
  const tables: Record<string, unknown> = await import(`../../src/${file}`);
  return Object.entries(tables)
    .filter(([name]) => name.endsWith(suffix))
    .flatMap(([, table]) => Object.keys(table as object))
    .sort();
}

const forgeFiles = readdirSync('src/forge', { recursive: true, encoding: 'utf8' });

it.each(readdirSync('src/contract/resources'))(
  'handles the operations of %s in one file of the same name',
  async (resource) => {
    const declared = await namesIn(`contract/resources/${resource}`, 'Operations');
    const files = forgeFiles.filter((file) => basename(file) === resource && !file.startsWith('pages/'));
    const handled = await Promise.all(files.map((file) => namesIn(`forge/${file}`, 'Handlers')));

    expect(declared.length).toBeGreaterThan(0);
    expect(handled.filter((names) => names.length > 0)).toEqual([declared]);
  },
);

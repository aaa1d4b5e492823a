import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { findDuplicateNames } from '../scripts/names/duplicates.ts';

it('names of types and exported functions in src have one meaning', () => {
  expect(findDuplicateNames(fileURLToPath(new URL('..', import.meta.url)))).toEqual([]);
});

it('the search finds types of one name, and an exported function beside a local one', () => {
  const root = mkdtempSync(join(tmpdir(), 'names-'));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  try {
    write('src/a.ts', 'type Place = string;\nexport function keyOf() {}\nfunction show() {}\n');
    write('src/b/c.ts', 'interface Place {}\n\nconst keyOf = () => 1;\nconst show = () => 2;\n');

    const found = findDuplicateNames(root);

    expect(found).toEqual([
      { name: 'Place', kind: 'type', places: ['src/a.ts:1', 'src/b/c.ts:1'] },
      { name: 'keyOf', kind: 'function', places: ['src/a.ts:2', 'src/b/c.ts:3'] },
    ]);
  } finally {
    rmSync(root, { recursive: true });
  }
});

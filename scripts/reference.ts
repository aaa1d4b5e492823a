// Writes docs/reference/ from the tables and schemas that the program itself uses. With --check it writes nothing and
// exits 1 if a page is stale, missing or left over.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { referencePages } from './reference/pages.ts';

const folder = fileURLToPath(new URL('../docs/reference', import.meta.url));

/** Returns the incorrect pages, by path below docs/reference, with the reason. */
export function stalePages(): readonly string[] {
  const pages = referencePages();
  const there = existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.md'))
    : [];
  const wrong = [...pages].filter(([path, text]) => {
    const file = join(folder, path);
    return !existsSync(file) || readFileSync(file, 'utf8') !== text;
  });
  const left = there.filter((path) => !pages.has(path));
  return [...wrong.map(([path]) => `${path} is stale`), ...left.map((path) => `${path} is about nothing`)];
}

function write(): void {
  rmSync(folder, { recursive: true, force: true });
  for (const [path, text] of referencePages()) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

if (import.meta.main) {
  if (process.argv.includes('--check')) {
    const stale = stalePages();
    for (const line of stale) console.error(line);
    if (stale.length > 0) console.error('node scripts/reference.ts writes them anew');
    process.exitCode = stale.length > 0 ? 1 : 0;
  } else {
    write();
    console.log(`${referencePages().size} pages in docs/reference`);
  }
}

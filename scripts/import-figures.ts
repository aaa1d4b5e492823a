import { readdir, readFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { runCase } from '../src/cli/commands/rules/rule-tests.ts';
import { type Format, SourceError, type SourceFile } from '../src/import/conversion.ts';
import { formats } from '../src/import/formats.ts';
import { importFile } from '../src/import/import-file.ts';
import { createNames } from '../src/import/names.ts';
import type { Counts } from '../src/import/report.ts';

/**
 * `node scripts/import-figures.ts FOLDER…`: converts all files of folders of the form `FOLDER/<format>/FILE` and prints
 * the table "Figures" of docs/import.md, with sums over all folders. For formats that read the files of a repository
 * together, `FOLDER/<format>/<repository>/…` is one repository. `carried`: exact and differing parts in percent of those
 * that mean something. Files that are not of their format are named on the error output and not counted.
 */
const folders = process.argv.slice(2);
if (folders.length === 0) throw new Error('usage: node scripts/import-figures.ts FOLDER…');

const columns = ['format', 'files', 'entries', 'exact', 'differs', 'left out', 'carried'];
console.log(`| ${columns.join(' | ')} |\n| ${columns.map(() => '---').join(' | ')} |`);
for (const format of formats) {
  const sum = { files: 0, exact: 0, differs: 0, leftOut: 0 };
  for (const folder of folders) {
    for (const source of await sourcesOf(join(folder, format.name), format)) {
      const counts = await figuresOf(source, format);
      if (counts === undefined) continue;
      sum.files += 1 + (source.others?.length ?? 0);
      sum.exact += counts.exact;
      sum.differs += counts.differs;
      sum.leftOut += counts.leftOut;
    }
  }
  if (sum.files === 0) continue;
  const entries = sum.exact + sum.differs + sum.leftOut;
  const carried = entries === 0 ? '–' : `${((100 * (entries - sum.leftOut)) / entries).toFixed(1)} %`;
  const row = [`\`${format.name}\``, sum.files, entries, sum.exact, sum.differs, sum.leftOut, carried];
  console.log(`| ${row.join(' | ')} |`);
}

async function figuresOf(source: SourceFile, format: Format): Promise<Counts | undefined> {
  const context = { target: 'operator' as const, names: createNames() };
  try {
    const { counts } = await importFile(source, { format, context, name: 'imported', run: runCase });
    return counts;
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    console.error(`${source.path}:${error.line}: ${error.message}`);
    return undefined;
  }
}

/** Each file of a folder; each folder inside it is a repository, whose files have one result if the format is grouped. */
async function sourcesOf(folder: string, format: Format): Promise<readonly SourceFile[]> {
  const found: SourceFile[] = [];
  for (const name of (await readdir(folder).catch(() => [])).toSorted()) {
    const path = join(folder, name);
    const inner = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => undefined);
    if (inner === undefined) {
      found.push({ path: name, text: await readFile(path, 'utf8') });
      continue;
    }
    const files: SourceFile[] = [];
    for (const entry of inner) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      files.push({ path: basename(file), place: relative(path, file), text: await readFile(file, 'utf8') });
    }
    const [first, ...others] = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    if (first === undefined) continue;
    found.push(...(format.isGrouped ? [{ ...first, others }] : [first, ...others]));
  }
  return found;
}

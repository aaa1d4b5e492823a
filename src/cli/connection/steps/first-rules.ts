import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ReeveError } from '../../../platform/errors.ts';
import { packageRoot } from '../../../platform/package.ts';
import { nearest } from '../../../rules/problem.ts';
import { type Finding, ok } from '../finding.ts';

/** Folder of the rule files that ship with Reeve. */
const shipped = join(packageRoot, 'rules');

/**
 * Copies shipped rule files into the folder of the operator's rules, in the mode `observe`: they show what they would
 * change, and change nothing until a person removes that line. Files that exist are left as they are. Throws `usage`
 * for an unknown name.
 */
export async function copyFirstRules(
  names: readonly string[],
  folder: string,
  plan: boolean,
): Promise<Finding> {
  const known = (await readdir(shipped))
    .filter((file) => /^[\w-]+\.yml$/.test(file))
    .map((file) => file.replace(/\.yml$/, ''));
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    const near = nearest(unknown, known);
    const hint = near === undefined ? `known are ${known.join(', ')}` : `did you mean "${near}"?`;
    throw new ReeveError('usage', `no rule file "${unknown}" ships with Reeve; ${hint}`);
  }
  const missing = names.filter((name) => !existsSync(join(folder, `${name}.yml`)));
  if (missing.length === 0) return ok(`${names.join(', ')} are in ${folder}`);
  const files = missing.map((name) => `${name}.yml`).join(', ');
  if (plan) return { state: 'planned', text: `${files} would be copied to ${folder}, in mode observe` };
  await mkdir(folder, { recursive: true });
  for (const name of missing) {
    const text = await readFile(join(shipped, `${name}.yml`), 'utf8');
    // Not over a file that was created meanwhile.
    await writeFile(join(folder, `${name}.yml`), inObserveMode(text), { flag: 'wx' });
  }
  return {
    state: 'changed',
    text: `${files} copied to ${folder}, in mode observe: reeve runs shows what they would change; remove the line "mode: observe" to let them`,
  };
}

function inObserveMode(text: string): string {
  return text.replace(/^version: 1\n/m, 'version: 1\nmode: observe\n');
}

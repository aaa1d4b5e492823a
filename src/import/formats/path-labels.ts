import { type Condition, listLiteral, literal, never, samplePath, someFile } from '../condition.ts';
import { convertIgnores } from '../gitignore-glob.ts';

/** A changed file matches patterns of `.gitignore`, as bots with the library `ignore` test them. */
export function ignoredFile(patterns: readonly string[]): Condition | { readonly problem: string } {
  const found = convertIgnores(patterns);
  if ('problem' in found) return found;
  const { globs } = found;
  if (globs.length === 0) return never;
  const [only = ''] = globs;
  const sample = globs.map(samplePath).find((path) => path !== undefined);
  return someFile(
    `f.filename.lower().glob(${globs.length === 1 ? literal(only) : listLiteral(globs)})`,
    sample,
  );
}

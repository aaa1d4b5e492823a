import { posix } from 'node:path';
import type { IncludeForm } from '../files/grammar.ts';
import type { ProblemCode } from '../problem.ts';
import type { Level } from '../rule.ts';

type RequestProblem = { readonly key: string; readonly code: ProblemCode; readonly message: string };

/** Returns what is wrong with the place that an include names, for a file of this level; undefined where nothing is. */
export function problemOfRequest(
  { name, file, pack }: Pick<IncludeForm, 'name' | 'file' | 'pack'>,
  level: Level,
): RequestProblem | undefined {
  if (file !== undefined && pack !== undefined) {
    return { key: 'pack', code: 'include', message: 'an include names a file or a pack, not both' };
  }
  if (level === 'repository' && file !== undefined) {
    const message = `files of the repository include packs by name, those that its organization or the operator offers: write include: [{ name: ${name} }]`;
    return { key: 'file', code: 'level', message };
  }
  if (level === 'operator' && file === undefined) {
    const message = `files of the operator include packs by their path from the folder of the file: write file: packs/${pack ?? name}.yml`;
    return { key: 'name', code: 'include', message };
  }
  const wrong = file === undefined ? undefined : problemOfPackPath(file);
  return wrong === undefined ? undefined : { key: 'file', code: 'include', message: wrong };
}

/** Returns why a path is none of a pack below the folder of the including file, or undefined. */
export function problemOfPackPath(file: string): string | undefined {
  const parts = file.split('/');
  if (parts.includes('..')) return 'a pack is in the folder of its file, or below it: ".." is not allowed';
  if (posix.isAbsolute(file) || /^[A-Za-z]:|\\/.test(file)) {
    return 'the path of a pack starts at the folder of its file, and has "/" between folders, as in packs/stale.yml';
  }
  if (parts.some((part) => part === '' || part.startsWith('.')))
    return 'the path of a pack has no empty parts, and none that starts with "."';
  if (/\p{Cc}/u.test(file)) return 'the path of a pack has no control characters';
  return /\.yml$/.test(file) && !file.endsWith('.test.yml')
    ? undefined
    : 'packs are files that end in .yml, and no rule tests';
}

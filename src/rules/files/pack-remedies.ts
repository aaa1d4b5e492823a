/** Returns how an include is written, with the path or the name that was written. */
export function includeExample(seen: unknown): string {
  const list = Array.isArray(seen) ? seen[0] : seen;
  const written = typeof list === 'string' ? list : 'packs/stale.yml';
  const name = written.replace(/^.*\//, '').replace(/\.ya?ml$/, '');
  const entry = written.includes('/') ? `{ name: ${name}, file: ${written} }` : `{ name: ${name} }`;
  return `write include: [${entry}]`;
}

const typesOf: Readonly<Record<string, string>> = { number: 'int', boolean: 'bool' };

/** Returns how a parameter is declared, with what was written as its default. */
export function parameterExample(name: string, seen: unknown): string {
  const type = Array.isArray(seen) ? 'list' : (typesOf[typeof seen] ?? 'string');
  return `write ${name}: { type: ${type}, default: ${JSON.stringify(seen ?? '')} }`;
}

/** Types of parameters as others call them. */
const typesElsewhere: Readonly<Record<string, string>> = {
  integer: 'int',
  number: 'int',
  text: 'string',
  str: 'string',
  boolean: 'bool',
  array: 'list',
  strings: 'list',
  choice: 'string',
};

/** Returns what to do about a type that parameters do not have, or undefined if it is no known mistake. */
export function remedyForParameterType(
  seen: string,
  allowed: readonly string[],
): { readonly message: string; readonly suggestion: string } | undefined {
  const suggestion = Object.hasOwn(typesElsewhere, seen) ? typesElsewhere[seen] : undefined;
  if (suggestion === undefined) return undefined;
  return { message: `there is no type "${seen}" (${allowed.join(', ')})`, suggestion };
}

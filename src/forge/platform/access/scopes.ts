import type { Operation, ScopeCategory } from '../../../contract/operation.ts';

const categories = [
  'activitypub',
  'admin',
  'issue',
  'misc',
  'notification',
  'organization',
  'package',
  'repository',
  'user',
];
const known = new Set([
  'all',
  'public-only',
  ...categories.flatMap((category) => [`read:${category}`, `write:${category}`]),
]);

/** Returns the scopes without duplicates and without those that a wider scope implies, or the first unknown scope. */
export function normalizeScopes(
  scopes: readonly string[],
): { readonly scopes: readonly string[] } | { readonly unknown: string } {
  const unknown = scopes.find((scope) => !known.has(scope));
  if (unknown !== undefined) return { unknown };
  const given = new Set(scopes);
  const implied = (scope: string) =>
    scope !== 'public-only' &&
    ((given.has('all') && scope !== 'all') ||
      (scope.startsWith('read:') && given.has(scope.replace('read:', 'write:'))));
  return { scopes: [...given].filter((scope) => !implied(scope)).sort() };
}

/** Returns whether a token with the scopes `held` may issue a token with the scopes `wanted`. */
export function coversScopes(held: readonly string[], wanted: readonly string[]): boolean {
  if (held.includes('public-only') && !wanted.includes('public-only')) return false;
  return wanted.every(
    (scope) =>
      scope === 'public-only' ||
      held.includes('all') ||
      held.includes(scope) ||
      (scope.startsWith('read:') && held.includes(scope.replace('read:', 'write:'))),
  );
}

/** A scope that a route requires. */
export type Scope = `${'read' | 'write'}:${ScopeCategory}`;

/** Returns the scopes that a token lacks. The restriction to public resources is checked once the resource is known. */
export function missingScopes(held: readonly string[], needed: readonly Scope[]): readonly Scope[] {
  const wide = held.filter((scope) => scope !== 'public-only');
  return needed.filter((scope) => !coversScopes(wide, [scope]));
}

/** Returns the scopes that a token needs for an operation. */
export function scopesOf({ method, scopes }: Operation): readonly Scope[] {
  const level = method === 'GET' ? 'read' : 'write';
  return scopes.map((category) => `${level}:${category}` as const);
}

/** Returns whether a token is restricted to public resources; credentials without scopes are not restricted. */
export function isPublicOnly(held: readonly string[] | undefined): boolean {
  return held?.includes('public-only') === true;
}

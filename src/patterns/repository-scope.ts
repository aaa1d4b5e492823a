import { compileGlob } from './glob.ts';
import { GlobError } from './glob-error.ts';
import { createUnlimitedMeter } from './meter.ts';
import type { Matcher } from './pattern.ts';

/**
 * Returns a function that says whether a repository (`owner/name`) or an organization (`owner`) lies in the scope.
 * `*` alone is everything, `acme/*` every repository of acme and acme itself, `!acme/attic` takes one out again.
 * Letters compare without case, since no two owners or repositories of a forge differ in case alone.
 */
export function compileScope(patterns: string | readonly string[]): Matcher {
  const list = typeof patterns === 'string' ? [patterns] : patterns;
  const matches = compileGlob(list.flatMap(scopeEntry));
  return (fullName, meter) => matches(fullName.toLowerCase(), meter);
}

/** Returns the same for the scopes of settings, which need no meter. */
export function createRepositoryScope(patterns: string | readonly string[]): (fullName: string) => boolean {
  const matches = compileScope(patterns);
  const meter = createUnlimitedMeter();
  return (fullName) => matches(fullName, meter);
}

function scopeEntry(entry: string): string[] {
  const excludes = entry.startsWith('!') ? '!' : '';
  const pattern = entry.slice(excludes.length).toLowerCase();
  if (/\s/u.test(pattern)) throw new GlobError(entry, 'names no repository: names have no white space');
  if (pattern === '*' || pattern === '**') return [`${excludes}**`];
  const [owner, name, ...more] = pattern.split('/');
  if (!owner || !name || more.length > 0) {
    throw new GlobError(entry, `names no repository: write "owner/name", "owner/*" or "*"`);
  }
  const whole = name === '*' || name === '**';
  return whole ? [`${excludes}${pattern}`, `${excludes}${owner}`] : [`${excludes}${pattern}`];
}

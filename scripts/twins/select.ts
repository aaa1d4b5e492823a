import type { Twin } from './twin.ts';

/**
 * Returns the twins that the command line asks for: those named by `only`, then every Nth of them for `shard` `K/N`.
 * Throws when a name is unknown, or the shard is malformed.
 */
export function selectTwins(
  twins: readonly Twin[],
  { only, shard }: { only: readonly string[]; shard: string },
): readonly Twin[] {
  const unknown = only.filter((name) => !twins.some((twin) => twin.name === name));
  if (unknown.length > 0) throw new Error(`test/twins/ has no ${unknown.join(', ')}`);
  const named = only.length === 0 ? twins : twins.filter(({ name }) => only.includes(name));
  const [, part = '0', parts = '0'] = /^(\d{1,3})\/(\d{1,3})$/.exec(shard) ?? [];
  if (Number(part) < 1 || Number(part) > Number(parts)) {
    throw new Error(`--shard wants PART/PARTS, 1/4 for instance, not "${shard}"`);
  }
  return named.filter((_twin, index) => index % Number(parts) === Number(part) - 1);
}

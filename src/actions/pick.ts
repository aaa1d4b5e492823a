import { createHash } from 'node:crypto';
import type { Subject } from '../contract/events/subject.ts';
import { trimSpace } from '../contract/written-texts.ts';
import { toLowerCase } from './same-names.ts';

/**
 * Returns `count` of the names, chosen by a hash of the subject and the name: always the same ones for an issue or pull request,
 * evenly spread over many. A name that joins or leaves the pool moves only choices that fall on it.
 */
export function pickByHash(
  pool: readonly string[],
  count: number,
  { repository, index }: Subject,
): readonly string[] {
  const rankOf = (name: string): string =>
    createHash('sha256')
      .update(`${repository?.id}#${index} ${toLowerCase(name)}`)
      .digest('hex');
  const ranked = pool.map((name) => ({ name, rank: rankOf(name) }));
  const inOrder = ranked.toSorted((one, other) => (one.rank < other.rank ? -1 : 1));
  return inOrder.slice(0, Math.max(count, 0)).map(({ name }) => name);
}

/** Returns the names of accounts or teams, which have no white space, each once whatever its case, in order. */
export function distinctNames(written: readonly string[]): readonly string[] {
  const names = written.map(trimSpace);
  return [
    ...new Map(names.map((name) => [toLowerCase(name), name] as const).toReversed()).values(),
  ].toReversed();
}

import { licenseSketches } from './license-sketches.ts';
import { shinglesOf } from './shingles.ts';

/** Share of a licence's text that a file must have, as on the baseline. */
const minShare = 0.85;
/** A licence is at the beginning of its file; what follows may be anything. */
const maxCharacters = 200_000;

/**
 * Returns the SPDX ids of the licences whose text a file has, by name. Of licences with much of the same text, the one that the
 * file has most of is listed, or the longer one: `BSD-2-Clause` is part of `BSD-3-Clause`.
 */
export function licensesOf(text: string): readonly string[] {
  const present = shinglesOf(text.slice(0, maxCharacters));
  const matched = licenseSketches.flatMap((license) => {
    const hashes = license.sketch.split(' ').map((hash) => Number.parseInt(hash, 36));
    const share = hashes.filter((hash) => present.has(hash)).length / hashes.length;
    return share >= minShare ? [{ ...license, share }] : [];
  });
  type Match = (typeof matched)[number];
  const isBetter = (one: Match, other: Match): boolean =>
    one.share > other.share || (one.share === other.share && one.length > other.length);
  return matched
    .filter((one) => !matched.some((other) => other.related.includes(one.id) && isBetter(other, one)))
    .map(({ id }) => id);
}

import { licenseSketches } from './license-sketches.ts';

/** Share of a licence's text that a file must have, as on Gitea. */
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

/** Words that one shingle has. */
const width = 5;

/**
 * Returns the hashes of all runs of five words of a text, without case, punctuation, and lines that name who has the
 * copyright: two copies of one licence have the same ones.
 */
export function shinglesOf(text: string): ReadonlySet<number> {
  const plain = text
    .toLowerCase()
    .replace(/^.*(copyright|©).*\b(\d{4}|year|yyyy)\b.*$/gm, ' ')
    .replace(/<[^<>\n]{1,60}>|\[[^[\]\n]{1,60}\]/g, ' ');
  const words = plain.match(/[\p{L}\p{N}]+/gu) ?? [];
  const hashes = new Set<number>();
  for (let at = 0; at + width <= words.length; at += 1) {
    hashes.add(hashOf(words.slice(at, at + width).join(' ')));
  }
  return hashes;
}

/** FNV-1a of 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  }
  return hash;
}

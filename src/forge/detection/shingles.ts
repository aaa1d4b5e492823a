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

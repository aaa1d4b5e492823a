/** Returns a number with its noun in the right form: `1 entry`, `2 entries`. `noun` is in the singular. */
export function count(number: number, noun: string): string {
  if (number === 1) return `1 ${noun}`;
  if (/[^aeiou]y$/.test(noun)) return `${number} ${noun.slice(0, -1)}ies`;
  return `${number} ${noun}${/(?:s|x|ch|sh)$/.test(noun) ? 'es' : 's'}`;
}

/** Returns whether two values are equal; lists of names are unordered, and names case-insensitive. */
export function isSame(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) && !Array.isArray(other)) return one === other;
  const [first, second] = [toNames(one), toNames(other)];
  return first.length === second.length && first.every((name, place) => name === second[place]);
}

/** Returns the names of a list in lower case, sorted and without duplicates; null is an empty list. */
export function toNames(value: unknown): readonly string[] {
  return Array.isArray(value) ? [...new Set(value.map(toLowerCase))].sort() : [];
}

/** Returns a name as forges compare it. */
export function toLowerCase(name: unknown): string {
  return String(name).toLowerCase();
}

/** One place of a path pattern: a character, a class of characters once or repeated, or a jump over an optional part. */
type Place =
  | { readonly kind: 'character'; readonly character: string }
  /** `any`: every character; otherwise every character except the slash. */
  | { readonly kind: 'class' | 'repeat'; readonly any: boolean }
  | { readonly kind: 'optional'; readonly to: number };

/** A set of paths, as a regular expression of the whole path and as an automaton. */
export type PathPattern = {
  /** Valid in RE2 and in the engines of the forges; without anchors, and without alternatives outside of a group. */
  readonly text: string;
  readonly places: readonly Place[];
  /** Text with which all of its paths begin. */
  readonly start: string;
};

/** Part of a pattern; see `pathPattern`. */
export type PatternPart =
  /** Text that stands for itself. */
  | string
  /** `[^/]` once. */
  | { readonly one: true }
  /** `[^/]*`, or with `least: 1` `[^/]+`. */
  | { readonly within: true; readonly least?: 1 }
  /** `.*`, or with `least: 1` `.+`. */
  | { readonly all: true; readonly least?: 1 }
  | { readonly optional: readonly PatternPart[] };

/** Returns the pattern of these parts, one after the other. */
export function pathPattern(parts: readonly PatternPart[]): PathPattern {
  const places: Place[] = [];
  const write = (some: readonly PatternPart[]): string =>
    some
      .map((part) => {
        if (typeof part === 'string') {
          for (const character of part) places.push({ kind: 'character', character });
          return part.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');
        }
        if ('optional' in part) {
          const at = places.length;
          places.push({ kind: 'optional', to: at });
          const text = write(part.optional);
          places[at] = { kind: 'optional', to: places.length };
          return `(${text})?`;
        }
        const any = 'all' in part;
        const sign = any ? '.' : '[^/]';
        if ('one' in part) {
          places.push({ kind: 'class', any });
          return sign;
        }
        if (part.least) places.push({ kind: 'class', any });
        places.push({ kind: 'repeat', any });
        return `${sign}${part.least ? '+' : '*'}`;
      })
      .join('');
  const text = write(parts);
  const end = places.findIndex(({ kind }) => kind !== 'character');
  const first = end === -1 ? places : places.slice(0, end);
  const start = first.map((place) => (place.kind === 'character' ? place.character : '')).join('');
  return { text, places, start };
}

/** Places that are reached without a character. */
function closure(places: readonly Place[], from: Iterable<number>): ReadonlySet<number> {
  const reached = new Set<number>();
  const left = [...from];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    if (reached.has(at)) continue;
    reached.add(at);
    const place = places[at];
    if (place?.kind === 'repeat') left.push(at + 1);
    if (place?.kind === 'optional') left.push(at + 1, place.to);
  }
  return reached;
}

function step(places: readonly Place[], from: ReadonlySet<number>, character: string): ReadonlySet<number> {
  const next: number[] = [];
  for (const at of from) {
    const place = places[at];
    if (place === undefined || place.kind === 'optional') continue;
    const fits = place.kind === 'character' ? place.character === character : place.any || character !== '/';
    if (fits) next.push(place.kind === 'repeat' ? at : at + 1);
  }
  return closure(places, next);
}

/** Whether a path is in the set. */
export function isInPattern({ places }: PathPattern, path: string): boolean {
  let at = closure(places, [0]);
  for (const character of path) at = step(places, at, character);
  return at.has(places.length);
}

/** Steps of automata that searches may still take; without any left, their answer is `unknown`. */
export type SearchBudget = { left: number };

/** Steps of one search without a budget, about 0.2 s. */
const maxSteps = 500_000;

/**
 * Returns a short path that is in all patterns of `within` and in none of `without`; undefined if there is none, and
 * `unknown` if the search was too long. The path is one that git can have: it neither begins nor ends with a slash.
 */
export function findPath({
  within,
  without = [],
  budget = { left: maxSteps },
}: {
  readonly within: readonly PathPattern[];
  readonly without?: readonly PathPattern[];
  readonly budget?: SearchBudget;
}): string | undefined | 'unknown' {
  const all = [...within, ...without];
  const isApart = (one: PathPattern, other: PathPattern): boolean =>
    !one.start.startsWith(other.start) && !other.start.startsWith(one.start);
  if (within.some((one, place) => within.slice(0, place).some((other) => isApart(one, other))))
    return undefined;
  const literal = all.flatMap(({ places }) =>
    places.flatMap((place) => (place.kind === 'character' ? [place.character] : [])),
  );
  // `a` stands for all characters that no pattern names. Other characters come first, so that samples are readable.
  const other = ['x', 'y', 'z', 'q', '~'].find((one) => !literal.includes(one)) ?? '\u0001';
  const alphabet = [...new Set([other, ...literal, '/'])];
  type State = { readonly sets: readonly ReadonlySet<number>[]; readonly path: string };
  const start: State = { sets: all.map(({ places }) => closure(places, [0])), path: '' };
  const seen = new Set<string>();
  let front: State[] = [start];
  while (front.length > 0) {
    const next: State[] = [];
    for (const { sets, path } of front) {
      const isFound = all.every(
        ({ places }, place) => (sets[place]?.has(places.length) ?? false) === place < within.length,
      );
      if (isFound && path !== '' && !path.endsWith('/')) return path;
      for (const character of alphabet) {
        if (character === '/' && (path === '' || path.endsWith('/'))) continue;
        budget.left -= all.length;
        if (budget.left < 0) return 'unknown';
        const moved = all.map(({ places }, place) => step(places, sets[place] ?? new Set(), character));
        if (within.some((_, place) => moved[place]?.size === 0)) continue;
        // Whether the path ends with a slash decides what may follow.
        const key = `${character === '/'}|${moved.map((set) => [...set].sort((a, b) => a - b).join(',')).join('|')}`;
        if (seen.has(key)) continue;
        seen.add(key);
        next.push({ sets: moved, path: path + character });
      }
    }
    front = next;
  }
  return undefined;
}

/** Owners of a set of paths, in the order of the source. */
export type OwnedPaths = {
  readonly pattern: PathPattern;
  /** Patterns of paths that the owners do not own, in addition to those that follow from the order. */
  readonly except?: readonly PathPattern[];
  readonly owners: readonly string[];
};

/** The lines of a CODEOWNERS file of the forge in which the last entry that matches a path owns it. */
export type LastMatch = {
  /** Pattern of the line as a regular expression; undefined if later entries own all of its paths. */
  readonly text: string | undefined;
  /** A path that this entry owns. */
  readonly sample: string | undefined;
  /**
   * A path that this line gives to its owners although a later entry (its index) owns it: the excluded patterns would
   * be longer than a pattern may be, or the forge has no look-ahead.
   */
  readonly beyond?: { readonly path: string | undefined; readonly index: number };
  readonly hasLookahead: boolean;
};

/** Steps of all searches for one file, a few seconds. */
const maxStepsOfFile = 3_000_000;
/** Number of excluded patterns of which those that others include are left out. */
const maxCompared = 100;

/**
 * Converts entries of which the last that matches wins into lines that add up, as those of the forge do: a line
 * excludes, with a look-ahead, the later entries that own some of its paths and do not have all of its owners.
 */
export function lastMatchLines(
  entries: readonly OwnedPaths[],
  { hasLookahead, maxLength }: { readonly hasLookahead: boolean; readonly maxLength: number },
): readonly LastMatch[] {
  let left = maxStepsOfFile;
  const find = (within: readonly PathPattern[], without: readonly PathPattern[] = []) => {
    const budget = { left: Math.min(left, maxSteps) };
    left -= budget.left;
    const found = findPath({ within, without, budget });
    left += Math.max(0, budget.left);
    return found;
  };
  return entries.map((entry, index): LastMatch => {
    const { pattern, owners } = entry;
    const except = (entry.except ?? []).map((one) => ({ pattern: one, index }));
    const later = entries
      .slice(index + 1)
      .map((one, place) => ({ pattern: one.pattern, owners: one.owners, index: index + 1 + place }))
      .filter((one) => find([pattern, one.pattern]) !== undefined);
    const own = find(
      [pattern],
      [...later, ...except].map((one) => one.pattern),
    );
    if (own === undefined) return { text: undefined, sample: undefined, hasLookahead: false };
    const sample = own === 'unknown' ? undefined : own;
    const foreign = [
      ...except,
      ...later.filter((one) => owners.some((owner) => !one.owners.includes(owner))),
    ];
    // A pattern that another one includes, as far as paths of this line are concerned, needs no exclusion of its own.
    const excluded: typeof foreign = [];
    for (const [place, one] of foreign.entries()) {
      const others = foreign.length > maxCompared ? [] : [...excluded, ...foreign.slice(place + 1)];
      const isCovered = others.some((other) => find([pattern, one.pattern], [other.pattern]) === undefined);
      if (!isCovered) excluded.push(one);
    }
    const kept: PathPattern[] = [];
    let beyond: LastMatch['beyond'];
    for (const one of excluded) {
      if (hasLookahead && lookahead([...kept, one.pattern], pattern).length + 2 <= maxLength) {
        kept.push(one.pattern);
        continue;
      }
      if (beyond !== undefined) continue;
      const path = find([pattern, one.pattern], kept);
      if (path !== undefined) beyond = { path: path === 'unknown' ? undefined : path, index: one.index };
    }
    const text = kept.length === 0 ? pattern.text : lookahead(kept, pattern);
    return { text, sample, hasLookahead: kept.length > 0, ...(beyond && { beyond }) };
  });
}

/** `(?!A|B)C`: paths of C that are neither in A nor in B. */
function lookahead(excluded: readonly PathPattern[], { text }: PathPattern): string {
  const alternatives = excluded.map((one) => {
    if (one.text.endsWith('(/.*)?')) return `${one.text.slice(0, -'(/.*)?'.length)}(/|$)`;
    if (one.text.endsWith('.*') && !one.text.endsWith('\\.*')) return one.text.slice(0, -2);
    return `${one.text}$`;
  });
  return `(?!${alternatives.join('|')})${text}`;
}

/**
 * Writes a pattern as the first word of a line of CODEOWNERS, in which `\`, spaces and `#` have a meaning of their own,
 * and `!` at the start.
 */
export function ownersWord(pattern: string): string {
  const positive = pattern.startsWith('!') ? `[!]${pattern.slice(1)}` : pattern;
  return positive.replace(/\t/g, '\\t').replace(/[\\ #]/g, '\\$&');
}

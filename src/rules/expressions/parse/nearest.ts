/** Returns the known word nearest to what was written, or undefined where none is near enough to be meant. */
export function nearest(written: string, known: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(written.length / 3));
  const wanted = normal(written);
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const word of known) {
    if (word === written || Math.abs(word.length - written.length) > limit + 1) continue;
    const distance = editDistance(wanted, normal(word), bestDistance);
    if (distance < bestDistance) {
      best = word;
      bestDistance = distance;
    }
  }
  return best;
}

/** `pullRequest`, `pull-request` and `Pull_Request` are slips of one word, not different words. */
function normal(word: string): string {
  return word.toLowerCase().replace(/[-_ ]/g, '');
}

/** Returns the number of letters to add, drop, change or swap with a neighbour; `limit` where it is at least that. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, place) => place);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return Math.min(last[b.length] ?? limit, limit);
}

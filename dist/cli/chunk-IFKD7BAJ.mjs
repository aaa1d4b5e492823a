// src/rules/nearest.ts
function nearest(written, known) {
  const limit = Math.max(1, Math.floor(written.length / 3));
  const wanted = normal(written);
  let best;
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
function normal(word) {
  return word.toLowerCase().replace(/[-_ ]/g, "");
}
function editDistance(a, b, limit) {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforeLast = [];
  let last = Array.from({ length: b.length + 1 }, (_, place) => place);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1)
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

export {
  nearest
};

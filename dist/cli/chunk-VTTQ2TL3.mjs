import {
  GlobError,
  compileGlob,
  createUnlimitedMeter
} from "./chunk-D4IFGYQO.mjs";

// src/patterns/repository-scope.ts
function compileScope(patterns) {
  const list = typeof patterns === "string" ? [patterns] : patterns;
  const matches = compileGlob(list.flatMap(scopeEntry));
  return (fullName, meter) => matches(fullName.toLowerCase(), meter);
}
function createScope(patterns) {
  const matches = compileScope(patterns);
  const meter = createUnlimitedMeter();
  return (fullName) => matches(fullName, meter);
}
function scopeEntry(entry) {
  const excludes = entry.startsWith("!") ? "!" : "";
  const pattern = entry.slice(excludes.length).toLowerCase();
  if (pattern === "*" || pattern === "**") return [`${excludes}**`];
  const [owner, name, ...more] = pattern.split("/");
  if (!owner || !name || more.length > 0) {
    throw new GlobError(entry, `names no repository: write "owner/name", "owner/*" or "*"`);
  }
  const whole = name === "*" || name === "**";
  return whole ? [`${excludes}${pattern}`, `${excludes}${owner}`] : [`${excludes}${pattern}`];
}

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
  createScope,
  nearest
};

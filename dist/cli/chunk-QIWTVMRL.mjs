// src/engine/describe-change.ts
var tellPresence = /* @__PURE__ */ new Set(["set-labels"]);
function describeChange({ action, target, before, after }) {
  if (tellPresence.has(action) && typeof after === "boolean") {
    return { sign: after ? "+" : "-", words: target };
  }
  if (before === "absent" && after === "present") return { sign: "+", words: target };
  if (after === null || after === void 0) return { sign: "-", words: target };
  if (before === null || before === void 0) {
    return { sign: "+", words: isRecord(after) ? target : `${target}: ${short(after)}` };
  }
  if (isRecord(before) && isRecord(after))
    return { sign: "~", words: `${target}: ${members(before, after)}` };
  return { sign: "~", words: `${target}: ${turned(before, after)}` };
}
function members(before, after) {
  const names = /* @__PURE__ */ new Set([...Object.keys(before), ...Object.keys(after)]);
  const differing = [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return differing.map((name) => `${name} ${turned(before[name], after[name])}`).join(", ");
}
var maxLength = 160;
var shared = 40;
function turned(before, after) {
  const [one, other] = [textOf(before), textOf(after)];
  let same = 0;
  while (same < one.length && one[same] === other[same]) same += 1;
  const isLong = Math.max(one.length, other.length) > maxLength;
  const from = isLong ? Math.max(same - shared, 0) : 0;
  return `${cut(one, from)} \u2192 ${cut(other, from)}`;
}
function short(value) {
  return cut(textOf(value), 0);
}
function textOf(value) {
  return value === void 0 ? "nothing" : JSON.stringify(value);
}
function cut(text, from) {
  const end = from + maxLength;
  return `${from > 0 ? "\u2026" : ""}${text.slice(from, end)}${text.length > end ? "\u2026" : ""}`;
}
function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// src/rules/verdict.ts
var skipReasons = {
  kind: "it listens to other events",
  filter: "its branches, tags or paths leave this out",
  scope: "its `in` leaves this repository out",
  grant: "the operator does not let its file do this",
  own: "Reeve\u2019s own account did this",
  "not recoverable": "the event was found by catching up, which does not tell what the rule names"
};
function wordsOf({ verdict, reason }) {
  if (verdict !== "skipped" || reason === void 0) return reason;
  return Object.hasOwn(skipReasons, reason) ? `${reason}: ${skipReasons[reason]}` : reason;
}
function nameOfRule(rule) {
  return rule.slice(rule.lastIndexOf("#") + 1);
}

export {
  describeChange,
  wordsOf,
  nameOfRule
};

// src/glob.ts
import { RE2JS } from "re2js";
var GlobError = class extends Error {
  pattern;
  reason;
  /** Where in the pattern, counted from 0. */
  offset;
  constructor(pattern, reason, offset = 0) {
    super(`the pattern "${pattern}" ${reason}`);
    this.name = "GlobError";
    this.pattern = pattern;
    this.reason = reason;
    this.offset = offset;
  }
};
var maxLength = 500;
var maxDepth = 8;
var maxCompiled = 2e3;
function globToRe2(pattern, options = {}) {
  const separator = options.separator ?? "/";
  const segments = options.segments ?? separator === "/";
  if (pattern === "") throw new GlobError(pattern, "is empty");
  if (pattern.length > maxLength) throw new GlobError(pattern, `is longer than ${maxLength} characters`);
  if (segments) refuseImpossiblePath(pattern);
  return `^(?s:${new Translation(pattern, separator, segments).alternatives()})$`;
}
function createGlob(pattern, options = {}) {
  const list = typeof pattern === "string" ? [pattern] : pattern;
  const entries = list.map((entry) => {
    const excludes = entry.startsWith("!");
    return { excludes, matches: createMatcher(excludes ? entry.slice(1) : entry, options) };
  });
  const [first] = entries;
  if (first === void 0) throw new GlobError("", "is an empty list");
  if (entries.every((entry) => entry.excludes)) {
    throw new GlobError(list[0] ?? "", "only takes out: name first what shall match");
  }
  if (entries.length === 1) return first.matches;
  return (text) => {
    let included = false;
    for (const { excludes, matches } of entries) {
      if (included === excludes && matches(text)) included = !excludes;
    }
    return included;
  };
}
function createScope(patterns) {
  const list = typeof patterns === "string" ? [patterns] : patterns;
  const matches = createGlob(list.flatMap(scopeEntry));
  return (fullName) => matches(fullName.toLowerCase());
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
function refuseImpossiblePath(pattern) {
  const cannot = (reason) => {
    throw new GlobError(pattern, `cannot match: ${reason}`);
  };
  if (pattern.startsWith("/")) cannot("paths have no slash in front");
  if (pattern.endsWith("/")) cannot(`paths do not end with a slash; "${pattern}**" means all below`);
  if (pattern.includes("//")) cannot("paths have no empty part");
  if (pattern.split("/").some((part) => part === "." || part === "..")) cannot('paths have no "." or ".."');
}
var compiled = /* @__PURE__ */ new Map();
function createMatcher(pattern, options) {
  const text = globToRe2(pattern, options);
  if (!/[*?[\]{}\\]/.test(pattern)) return (candidate) => candidate === pattern;
  const known = compiled.get(text);
  if (known) return known;
  let engine;
  const matcher = (candidate) => {
    engine ??= RE2JS.compile(text);
    return engine.test(candidate);
  };
  if (compiled.size >= maxCompiled) compiled.clear();
  compiled.set(text, matcher);
  return matcher;
}
var Translation = class {
  #pattern;
  #separator;
  #segments;
  /** One character that is no separator. */
  #one;
  #at = 0;
  #depth = 0;
  constructor(pattern, separator, segments) {
    this.#pattern = pattern;
    this.#separator = separator;
    this.#segments = segments;
    this.#one = separator === "" ? "." : `[^${separator}]`;
  }
  /** Reads alternatives up to the end of the pattern, or up to the brace that closes the current group. */
  alternatives() {
    let text = "";
    while (this.#at < this.#pattern.length) {
      const sign = this.#pattern[this.#at];
      if (sign === "}") {
        if (this.#depth === 0) this.#refuse("closes a brace that was never opened");
        return text;
      }
      text += sign === "," && this.#depth > 0 ? this.#take("|") : this.#piece();
    }
    return text;
  }
  #piece() {
    switch (this.#pattern[this.#at]) {
      case "*":
        return this.#star();
      case "?":
        return this.#take(this.#one);
      case "[":
        return this.#class();
      case "{":
        return this.#group();
      default:
        return quote(this.#character());
    }
  }
  #star() {
    if (this.#pattern[this.#at + 1] !== "*") return this.#take(`${this.#one}*`);
    const opens = this.#at === 0 || "/{,".includes(this.#pattern[this.#at - 1] ?? "");
    while (this.#pattern[this.#at] === "*") this.#at += 1;
    if (!this.#segments || !opens) return ".*";
    const ends = this.#at === this.#pattern.length && this.#depth === 0;
    if (this.#pattern[this.#at] !== "/") return ends ? ".+" : ".*";
    this.#at += 1;
    return "(?:.*/)?";
  }
  #group() {
    const opened = this.#at;
    const range = /^\{[^{},]*\.\.[^{},]*\}/.exec(this.#pattern.slice(opened));
    if (range) this.#refuse(`has the range ${range[0]}, which globs here do not know: list the values`);
    this.#depth += 1;
    if (this.#depth > maxDepth) this.#refuse(`nests braces deeper than ${maxDepth}`);
    this.#at += 1;
    const inner = this.alternatives();
    if (this.#at >= this.#pattern.length) this.#refuse("does not close its brace", opened);
    this.#at += 1;
    this.#depth -= 1;
    return `(?:${inner})`;
  }
  #class() {
    const opened = this.#at;
    this.#at += 1;
    const negated = this.#pattern[this.#at] === "!" || this.#pattern[this.#at] === "^";
    if (negated) this.#at += 1;
    let members = "";
    while (this.#pattern[this.#at] !== "]") {
      members += this.#member(opened);
    }
    if (members === "") this.#refuse("has an empty class []", opened);
    this.#at += 1;
    return negated ? `[^${members}${quote(this.#separator)}]` : `[${members}]`;
  }
  #member(opened) {
    if (this.#at >= this.#pattern.length) this.#refuse("does not close its bracket", opened);
    const first = this.#character();
    const next = this.#pattern[this.#at + 1];
    if (this.#pattern[this.#at] !== "-" || next === "]" || next === void 0) return quote(first);
    this.#at += 1;
    const last = this.#character();
    if ((last.codePointAt(0) ?? 0) < (first.codePointAt(0) ?? 0)) {
      this.#refuse(`has the range ${first}-${last}, which runs backwards`, opened);
    }
    return `${quote(first)}-${quote(last)}`;
  }
  /** Reads one character, the next one where this is a backslash. */
  #character() {
    if (this.#pattern[this.#at] === "\\") {
      this.#at += 1;
      if (this.#at >= this.#pattern.length) this.#refuse("ends with a backslash", this.#at - 1);
    }
    const point = String.fromCodePoint(this.#pattern.codePointAt(this.#at) ?? 0);
    this.#at += point.length;
    return point;
  }
  #take(text) {
    this.#at += 1;
    return text;
  }
  #refuse(reason, offset = this.#at) {
    throw new GlobError(this.#pattern, reason, offset);
  }
};
function quote(text) {
  return text.replace(/[\\^$.|?*+()[\]{}\-&~#/]/g, "\\$&");
}

// src/contract/hook-events.ts
var plain = [
  ...["push", "create", "delete", "fork", "repository", "wiki", "release", "package", "status"],
  ...["workflow_run", "workflow_job", "issue_assign", "issue_label", "issue_milestone", "issue_comment"],
  ...["pull_request_assign", "pull_request_label", "pull_request_milestone", "pull_request_comment"],
  ...["pull_request_review", "pull_request_review_request", "pull_request_sync"]
];
var enabledBy = new Map([
  ...plain.map((name) => [name, [name]]),
  ["issues", ["issues", "issue_assign", "issue_label", "issue_milestone", "issue_comment"]],
  ["issues_only", ["issues"]],
  ["pull_request", ["pull_request", ...plain.filter((name) => name.startsWith("pull_request_"))]],
  ["pull_request_only", ["pull_request"]]
]);
var ofForgejo = ["action_run_failure", "action_run_recover", "action_run_success"];
var hookEventNames = [...enabledBy.keys(), ...ofForgejo];
function enabledEvents(names) {
  const given = names === void 0 || names.length === 0 ? ["push"] : names;
  return [...new Set(given.flatMap((name) => enabledBy.get(name.trim().toLowerCase()) ?? []))];
}
function shownEvents(names) {
  const one = (name) => name.startsWith("pull_request_review_") && name !== "pull_request_review_request" ? "pull_request_review" : name;
  return [...new Set(names.map(one))].sort();
}
function wantedEvents(names) {
  const own = names.filter((name) => ofForgejo.some((one) => one === name));
  const known = names.filter((name) => !own.includes(name));
  return [...known.length === 0 ? [] : enabledEvents(known), ...own].sort();
}
function namesToSend(kinds) {
  return kinds.map((kind) => kind === "issues" || kind === "pull_request" ? `${kind}_only` : kind);
}

export {
  GlobError,
  createGlob,
  createScope,
  hookEventNames,
  enabledEvents,
  shownEvents,
  wantedEvents,
  namesToSend
};

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

// src/patterns/glob-error.ts
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

// src/patterns/meter.ts
var LimitExceeded = class extends Error {
  constructor(message) {
    super(message);
    this.name = "LimitExceeded";
  }
};
var Meter = class {
  #pool;
  #message;
  #reserve;
  constructor(options) {
    this.#pool = options.pool;
    this.#reserve = options.reserve;
    this.#message = options.message;
  }
  /** Spends units. Throws LimitExceeded where fewer are left; then nothing is spent. */
  charge(units) {
    const left = this.#pool.left - units;
    if (left >= 0) this.#pool.left = left;
    else this.#spendReserve(units);
  }
  /** Throws LimitExceeded where fewer units are left. Called before work whose exact cost is known only afterwards. */
  require(units) {
    if (this.#pool.left < units && this.#reserve < units) throw new LimitExceeded(this.#message);
  }
  #spendReserve(units) {
    if (this.#reserve < units) throw new LimitExceeded(this.#message);
    this.#reserve -= units;
  }
};
function createUnlimitedMeter() {
  return new Meter({ pool: { left: Number.POSITIVE_INFINITY }, reserve: 0, message: "" });
}

// src/patterns/program.ts
var opcode = { fail: 0, match: 1, fork: 2, assert: 3, rune: 4 };
var assertion = {
  beginLine: 1,
  endLine: 2,
  beginText: 4,
  endText: 8,
  wordBoundary: 16,
  noWordBoundary: 32
};

// src/patterns/program-builder.ts
var maxRune = 1114111;
var everyRune = [0, maxRune];
function complementOf(ranges) {
  const inverted = [];
  let from = 0;
  for (const [first, last] of merge(ranges)) {
    if (first > from) inverted.push(from, first - 1);
    from = last + 1;
  }
  if (from <= maxRune) inverted.push(from, maxRune);
  return inverted;
}
function uniteRanges(ranges) {
  return merge(ranges).flat();
}
function merge(ranges) {
  const pairs = Array.from({ length: ranges.length / 2 }, (_, place) => [
    ranges[place * 2] ?? 0,
    ranges[place * 2 + 1] ?? 0
  ]);
  pairs.sort(([left], [right]) => left - right);
  const merged = [];
  for (const [first, last] of pairs) {
    const before = merged.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  return merged;
}
function buildProgram(node) {
  const builder = new Builder();
  const match = builder.add(opcode.match, 0, 0);
  const end = builder.add(opcode.assert, match, assertion.endText);
  const body = builder.emit(node, end);
  return builder.build(builder.add(opcode.assert, body, assertion.beginText));
}
var Builder = class {
  #ops = [opcode.fail];
  #next = [0];
  #other = [0];
  #ranges = [[]];
  add(op, next, other, ranges = []) {
    this.#ops.push(op);
    this.#next.push(next);
    this.#other.push(other);
    return this.#ranges.push(ranges) - 1;
  }
  /** Returns where the node begins; after it, the program continues at `after`. */
  emit(node, after) {
    switch (node.kind) {
      case "runes":
        return this.add(opcode.rune, after, 0, node.ranges);
      case "sequence":
        return node.of.reduceRight((next, part) => this.emit(part, next), after);
      case "choice": {
        const [first, ...rest] = node.of.map((part) => this.emit(part, after));
        return rest.reduce((chosen, way) => this.add(opcode.fork, chosen, way), first ?? after);
      }
      case "any-number": {
        const fork = this.add(opcode.fork, 0, after);
        this.#next[fork] = this.emit(node.of, fork);
        return fork;
      }
    }
  }
  build(start) {
    const ranges = this.#ranges;
    return {
      size: this.#ops.length,
      start,
      ops: Uint8Array.from(this.#ops),
      next: Int32Array.from(this.#next),
      other: Int32Array.from(this.#other),
      accepts: (at, rune) => isIn(ranges[at] ?? [], rune),
      bounds: boundsOf(ranges)
    };
  }
};
function isIn(ranges, rune) {
  for (let at = 0; at < ranges.length; at += 2) {
    if (rune < (ranges[at] ?? 0)) return false;
    if (rune <= (ranges[at + 1] ?? 0)) return true;
  }
  return false;
}
function boundsOf(all) {
  const bounds = new Set(
    all.flatMap((ranges) => ranges.map((rune, place) => place % 2 === 0 ? rune : rune + 1))
  );
  bounds.delete(0);
  bounds.delete(maxRune + 1);
  return Int32Array.from(bounds).sort();
}

// src/patterns/glob-syntax.ts
var maxDepth = 8;
var empty = { kind: "sequence", of: [] };
function parseGlob(pattern, separator, segments) {
  return new GlobParser(pattern, separator, segments).alternatives();
}
var GlobParser = class {
  #pattern;
  #segments;
  #separators;
  /** One character that is no separator. */
  #one;
  #at = 0;
  #depth = 0;
  constructor(pattern, separator, segments) {
    this.#pattern = pattern;
    this.#segments = segments;
    this.#separators = [...separator].flatMap((sign) => runeRange(sign));
    this.#one = { kind: "runes", ranges: complementOf(this.#separators) };
  }
  /** Reads alternatives up to the end of the pattern, or up to the brace that closes the current group. */
  alternatives() {
    const ways = [[]];
    while (this.#at < this.#pattern.length) {
      const sign = this.#pattern[this.#at];
      if (sign === "}") {
        if (this.#depth === 0) this.#refuse("closes a brace that was never opened");
        break;
      }
      if (sign === "," && this.#depth > 0) {
        this.#at += 1;
        ways.push([]);
      } else ways.at(-1)?.push(this.#piece());
    }
    const choices = ways.map((of) => ({ kind: "sequence", of }));
    return choices.length === 1 ? choices[0] ?? empty : { kind: "choice", of: choices };
  }
  #piece() {
    switch (this.#pattern[this.#at]) {
      case "*":
        return this.#star();
      case "?":
        this.#at += 1;
        return this.#one;
      case "[":
        return this.#class();
      case "{":
        return this.#group();
      default:
        return { kind: "runes", ranges: runeRange(this.#character()) };
    }
  }
  #star() {
    if (this.#pattern[this.#at + 1] !== "*") {
      this.#at += 1;
      return { kind: "any-number", of: this.#one };
    }
    const opens = this.#at === 0 || "/{,".includes(this.#pattern[this.#at - 1] ?? "");
    while (this.#pattern[this.#at] === "*") this.#at += 1;
    const any = { kind: "runes", ranges: everyRune };
    const text = { kind: "any-number", of: any };
    if (!this.#segments || !opens) return text;
    const ends = this.#at === this.#pattern.length && this.#depth === 0;
    if (this.#pattern[this.#at] !== "/") return ends ? { kind: "sequence", of: [any, text] } : text;
    this.#at += 1;
    const folders = { kind: "sequence", of: [text, { kind: "runes", ranges: runeRange("/") }] };
    return { kind: "choice", of: [folders, empty] };
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
    return inner;
  }
  #class() {
    const opened = this.#at;
    this.#at += 1;
    const negated = this.#pattern[this.#at] === "!" || this.#pattern[this.#at] === "^";
    if (negated) this.#at += 1;
    const members = [];
    while (this.#pattern[this.#at] !== "]") members.push(...this.#member(opened));
    if (members.length === 0) this.#refuse("has an empty class []", opened);
    this.#at += 1;
    const ranges = negated ? complementOf([...members, ...this.#separators]) : uniteRanges(members);
    return { kind: "runes", ranges };
  }
  #member(opened) {
    if (this.#at >= this.#pattern.length) this.#refuse("does not close its bracket", opened);
    const first = this.#character();
    const next = this.#pattern[this.#at + 1];
    if (this.#pattern[this.#at] !== "-" || next === "]" || next === void 0) return runeRange(first);
    this.#at += 1;
    const last = this.#character();
    const [from, to] = [first.codePointAt(0) ?? 0, last.codePointAt(0) ?? 0];
    if (to < from) this.#refuse(`has the range ${first}-${last}, which runs backwards`, opened);
    return [from, to];
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
  #refuse(reason, offset = this.#at) {
    throw new GlobError(this.#pattern, reason, offset);
  }
};
function runeRange(sign) {
  const rune = sign.codePointAt(0) ?? 0;
  return [rune, rune];
}

// src/patterns/automaton.ts
var perCharacter = 3;
var perTransition = 300;
var perInstruction = 20;
var afterBegin = 1;
var afterNewline = 2;
var afterWord = 4;
var unknown = 0;
var matched = -1;
var dead = -2;
var endOfText = -1;
var newline = 10;
var maxEntries = 256 * 1024;
var maxCost = 1e6;
var Automaton = class {
  #program;
  /** Whether nothing matches that does not begin at the beginning of the text. */
  #anchored;
  /** The contexts that the program asks for; others would only multiply the states. */
  #contexts;
  /** Classes of code points, and one more for the end of the text. */
  #width;
  #latin = new Uint16Array(256);
  #marks;
  #stack;
  #mark = 0;
  #meter;
  #states = [];
  #byHash = /* @__PURE__ */ new Map();
  /** Transitions that the current meter has paid for. */
  #table = new Int32Array(0);
  /** All transitions that are known, and what each costs. */
  #known = new Int32Array(0);
  #costs = new Int32Array(0);
  #instructions = 0;
  #spent = 0;
  #taken = 0;
  constructor(program) {
    this.#program = program;
    this.#width = program.bounds.length + 2;
    this.#marks = new Int32Array(program.size);
    this.#stack = new Int32Array(program.size + 1);
    for (let rune = 0; rune < 256; rune += 1) this.#latin[rune] = this.#search(rune);
    this.#contexts = contextsOf(program);
    this.#anchored = !this.#reaches(program.start, ~assertion.beginText);
    this.#drop();
  }
  /** How much is remembered, in entries of four bytes. */
  get entries() {
    return this.#states.length * this.#width * 3 + this.#instructions;
  }
  /** Says whether some part of the text matches. Throws LimitExceeded before it costs more than the meter has. */
  matches(text, meter) {
    meter.require(text.length * perCharacter);
    if (this.#meter !== meter) this.#startTurn(meter);
    const width = this.#width;
    const latin = this.#latin;
    let table = this.#table;
    let row = width;
    let at = 0;
    while (at < text.length) {
      let rune = text.charCodeAt(at);
      at += 1;
      let column;
      if (rune < 256) column = latin[rune] ?? 0;
      else {
        if (rune >= 55296 && rune < 56320) {
          rune = text.codePointAt(at - 1) ?? rune;
          if (rune > 65535) at += 1;
        }
        column = this.#search(rune);
      }
      let next = table[row + column] ?? unknown;
      if (next === unknown) {
        next = this.#advance(row, column, rune, meter);
        table = this.#table;
      }
      if (next < 0) {
        meter.charge(at * perCharacter);
        return next === matched;
      }
      row = next;
    }
    meter.charge(at * perCharacter);
    let last = table[row + width - 1] ?? unknown;
    if (last === unknown) last = this.#advance(row, width - 1, endOfText, meter);
    return last === matched;
  }
  /** Returns the class of a code point: how many bounds are at or below it. */
  #search(rune) {
    const { bounds } = this.#program;
    let low = 0;
    let high = bounds.length;
    while (low < high) {
      const middle = low + high >> 1;
      if ((bounds[middle] ?? 0) <= rune) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  #startTurn(meter) {
    this.#meter = meter;
    this.#spent = 0;
    this.#taken = 0;
    if (this.entries > maxEntries / 4) this.#drop();
    else this.#table.fill(unknown);
  }
  /** Forgets all states but that at the beginning of a text. */
  #drop() {
    this.#states = [];
    this.#byHash = /* @__PURE__ */ new Map();
    this.#instructions = 0;
    this.#spent = 0;
    this.#taken = 0;
    this.#table = new Int32Array(this.#width * 8);
    this.#known = new Int32Array(this.#width * 8);
    this.#costs = new Int32Array(this.#width * 8);
    this.#states.push(none);
    this.#intern(Int32Array.of(this.#program.start), (afterBegin | afterNewline) & this.#contexts);
  }
  /** Returns the transition of a state, paid for; it is worked out where nobody did before. */
  #advance(row, column, rune, meter) {
    const at = row + column;
    let target = this.#known[at] ?? unknown;
    if (target === unknown) {
      meter.require(perTransition + perInstruction * this.#program.size);
      target = this.#work(row, column, rune);
    }
    const cost = this.#costs[at] ?? 0;
    meter.charge(cost);
    this.#spent += cost;
    this.#taken += this.#width * 3;
    if (target > 0 && (this.#spent > maxCost || this.#taken > maxEntries)) {
      const { kernel, context } = this.#stateAt(target);
      this.#drop();
      return this.#intern(kernel, context);
    }
    this.#table[at] = target;
    return target;
  }
  /** Works out a transition and remembers it with what it costs. */
  #work(row, column, rune) {
    const { ops, next, accepts, start } = this.#program;
    const { kernel, context } = this.#stateAt(row);
    const closed = this.#close(kernel, flagsBetween(context, rune));
    const at = row + column;
    this.#costs[at] = perTransition + perInstruction * closed.length;
    const targets = [];
    this.#mark += 1;
    for (const place of closed) {
      if (ops[place] === opcode.match) return this.#remember(at, matched);
      if (rune === endOfText || ops[place] !== opcode.rune || !accepts(place, rune)) continue;
      const target = next[place] ?? 0;
      if (this.#marks[target] === this.#mark) continue;
      this.#marks[target] = this.#mark;
      targets.push(target);
    }
    if (rune === endOfText) return this.#remember(at, dead);
    if (!this.#anchored && this.#marks[start] !== this.#mark) targets.push(start);
    if (targets.length === 0) return this.#remember(at, dead);
    return this.#remember(
      at,
      this.#intern(Int32Array.from(targets).sort(), contextAfter(rune) & this.#contexts)
    );
  }
  #remember(at, target) {
    this.#known[at] = target;
    return target;
  }
  /** Returns the instructions that are reached from a set without reading a character. */
  #close(kernel, flags) {
    const { ops, next, other } = this.#program;
    const marks = this.#marks;
    this.#mark += 1;
    const closed = [];
    let depth = 0;
    const stack = this.#stack;
    const push = (place) => {
      if (marks[place] === this.#mark) return;
      marks[place] = this.#mark;
      stack[depth] = place;
      depth += 1;
    };
    for (const place of kernel) push(place);
    while (depth > 0) {
      depth -= 1;
      const place = stack[depth] ?? 0;
      closed.push(place);
      if (ops[place] === opcode.fork) {
        push(next[place] ?? 0);
        push(other[place] ?? 0);
      } else if (ops[place] === opcode.assert && ((other[place] ?? 0) & ~flags) === 0) {
        push(next[place] ?? 0);
      }
    }
    return closed;
  }
  /** Says whether something that reads a character, or a match, is reached where these assertions hold. */
  #reaches(place, flags) {
    const { ops } = this.#program;
    return this.#close(Int32Array.of(place), flags).some(
      (one) => ops[one] === opcode.rune || ops[one] === opcode.match
    );
  }
  #stateAt(row) {
    return this.#states[row / this.#width] ?? none;
  }
  /** Returns the row of the state with these instructions, which is made where there is none. */
  #intern(kernel, context) {
    let hash = context;
    for (const place of kernel) hash = Math.imul(hash, 31) + place | 0;
    const known = this.#byHash.get(hash) ?? [];
    for (const row2 of known) {
      const state = this.#stateAt(row2);
      if (state.context === context && sameNumbers(state.kernel, kernel)) return row2;
    }
    const row = this.#states.length * this.#width;
    this.#states.push({ kernel, context });
    this.#byHash.set(hash, [...known, row]);
    this.#instructions += kernel.length;
    if (row + this.#width > this.#table.length) this.#grow();
    return row;
  }
  #grow() {
    this.#table = doubled(this.#table);
    this.#known = doubled(this.#known);
    this.#costs = doubled(this.#costs);
  }
};
var none = { kernel: new Int32Array(0), context: 0 };
function doubled(numbers) {
  const larger = new Int32Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
}
function sameNumbers(left, right) {
  return left.length === right.length && left.every((number, place) => number === right[place]);
}
function isWord(rune) {
  return rune >= 97 && rune <= 122 || rune >= 65 && rune <= 90 || rune >= 48 && rune <= 57 || rune === 95;
}
function contextsOf({ ops, other }) {
  let contexts = 0;
  for (const [place, flags] of other.entries()) {
    if (ops[place] !== opcode.assert) continue;
    if ((flags & assertion.beginText) !== 0) contexts |= afterBegin;
    if ((flags & assertion.beginLine) !== 0) contexts |= afterNewline;
    if ((flags & (assertion.wordBoundary | assertion.noWordBoundary)) !== 0) contexts |= afterWord;
  }
  return contexts;
}
function contextAfter(rune) {
  if (rune === newline) return afterNewline;
  return isWord(rune) ? afterWord : 0;
}
function flagsBetween(context, rune) {
  let flags = 0;
  if ((context & afterBegin) !== 0) flags |= assertion.beginText;
  if ((context & afterNewline) !== 0) flags |= assertion.beginLine;
  if (rune === endOfText) flags |= assertion.endText | assertion.endLine;
  if (rune === newline) flags |= assertion.endLine;
  const atBoundary = (context & afterWord) !== 0 !== (rune !== endOfText && isWord(rune));
  return flags | (atBoundary ? assertion.wordBoundary : assertion.noWordBoundary);
}

// src/patterns/pattern.ts
var maxKeptEntries = 8 * 1024;
function createMatcher(compile) {
  let program;
  let kept;
  let large;
  return (text, meter) => {
    program ??= compile();
    const automaton = kept ?? large?.deref() ?? new Automaton(program);
    const matches = automaton.matches(text, meter);
    if (automaton.entries <= maxKeptEntries) kept = automaton;
    else if (kept === automaton || large?.deref() !== automaton) {
      kept = void 0;
      large = new WeakRef(automaton);
    }
    return matches;
  };
}

// src/patterns/glob.ts
var maxLength = 500;
var perComparison = 20;
function compileGlob(pattern, options = {}) {
  const list = typeof pattern === "string" ? [pattern] : pattern;
  const entries = list.map((entry) => {
    const excludes = entry.startsWith("!");
    return { excludes, matches: compileEntry(excludes ? entry.slice(1) : entry, options) };
  });
  const [first] = entries;
  if (first === void 0) throw new GlobError("", "is an empty list");
  if (entries.every((entry) => entry.excludes)) {
    throw new GlobError(list[0] ?? "", "only takes out: name first what shall match");
  }
  if (entries.length === 1) return first.matches;
  return (text, meter) => {
    let included = false;
    for (const { excludes, matches } of entries) {
      if (included === excludes && matches(text, meter)) included = !excludes;
    }
    return included;
  };
}
function createGlob(pattern, options = {}) {
  const matches = compileGlob(pattern, options);
  const meter = createUnlimitedMeter();
  return (text) => matches(text, meter);
}
function compileEntry(pattern, options) {
  const separator = options.separator ?? "/";
  const segments = options.segments ?? separator === "/";
  if (pattern === "") throw new GlobError(pattern, "is empty");
  if (pattern.length > maxLength) throw new GlobError(pattern, `is longer than ${maxLength} characters`);
  if (segments) refuseImpossiblePath(pattern);
  parseGlob(pattern, separator, segments);
  if (!/[*?[\]{}\\]/.test(pattern)) return (text, meter) => isSame(text, pattern, meter);
  return createMatcher(() => buildProgram(parseGlob(pattern, separator, segments)));
}
function isSame(text, pattern, meter) {
  meter.charge(perComparison + pattern.length);
  return text === pattern;
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

export {
  GlobError,
  opcode,
  createUnlimitedMeter,
  createMatcher,
  compileGlob,
  createGlob,
  hookEventNames,
  enabledEvents,
  shownEvents,
  wantedEvents,
  namesToSend
};

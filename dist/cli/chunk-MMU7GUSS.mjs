import {
  EachForm,
  Expression,
  On,
  RuleFile,
  RuleModeWord,
  StepForm,
  activitiesOf,
  eventFamilies,
  familyOf,
  maxRules
} from "./chunk-QVU6XQ2A.mjs";
import {
  createScope,
  nearest
} from "./chunk-VTTQ2TL3.mjs";
import {
  actions,
  facts,
  keyOf
} from "./chunk-PGPAQ2TF.mjs";
import {
  GlobError,
  createGlob
} from "./chunk-D4IFGYQO.mjs";
import {
  Attachment,
  Comment,
  Commit,
  Issue,
  Organization,
  PullRequest,
  Repository,
  User,
  flag,
  instant,
  int,
  resource,
  text
} from "./chunk-P5GSASXZ.mjs";
import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/rules/types.ts
var anyType = { kind: "any" };
var boolType = { kind: "bool" };
function unionOf(types2) {
  const flat = types2.flatMap((type) => type.kind === "union" ? type.of : [type]);
  const distinct = [];
  for (const type of flat) {
    const isScalar3 = !["list", "map", "object"].includes(type.kind);
    if (!distinct.some((other) => other === type || isScalar3 && other.kind === type.kind))
      distinct.push(type);
  }
  const [only] = distinct;
  if (only === void 0) return anyType;
  return distinct.length === 1 ? only : { kind: "union", of: distinct };
}
function alternatives(type) {
  return type.kind === "union" ? type.of : [type];
}
function mayBe(type, kinds) {
  return alternatives(type).some((one) => one.kind === "any" || kinds.includes(one.kind));
}
var known = /* @__PURE__ */ new WeakMap();
function typeOf(shape) {
  const before = known.get(shape);
  if (before) return before;
  known.set(shape, anyType);
  const type = shape.meta()?.holds === "duration" ? { kind: "duration" } : read(shape);
  known.set(shape, type);
  return type;
}
function definitionOf(shape) {
  return shape.def;
}
function read(shape) {
  const definition = definitionOf(shape);
  switch (definition.type) {
    case "string":
    case "template_literal":
    case "enum":
      return { kind: "string" };
    case "number":
    case "int":
    case "bigint":
      return { kind: "number" };
    case "boolean":
      return boolType;
    case "date":
      return { kind: "timestamp" };
    case "null":
      return { kind: "null" };
    case "literal":
      return unionOf((definition.values ?? []).map(typeOfValue));
    case "object":
      return { kind: "object", members: definition.shape ?? {} };
    case "array":
      return { kind: "list", item: definition.element ? typeOf(definition.element) : anyType };
    case "record":
      return { kind: "map", value: definition.valueType ? typeOf(definition.valueType) : anyType };
    case "union":
      return unionOf((definition.options ?? []).map(typeOf));
    case "lazy":
      return definition.getter ? typeOf(definition.getter()) : anyType;
    case "pipe":
      return typeOfPipe(definition);
    default:
      return definition.innerType ? typeOf(definition.innerType) : anyType;
  }
}
function typeOfPipe({ in: before, out: after }) {
  const shape = after && definitionOf(after).type !== "transform" ? after : before;
  return shape && definitionOf(shape).type !== "transform" ? typeOf(shape) : anyType;
}
function typeOfValue(value) {
  switch (typeof value) {
    case "string":
      return { kind: "string" };
    case "number":
    case "bigint":
      return { kind: "number" };
    case "boolean":
      return boolType;
    default:
      return value === null ? { kind: "null" } : anyType;
  }
}
var words = {
  bool: "true or false",
  number: "a number",
  string: "text",
  timestamp: "an instant",
  duration: "a duration",
  null: "null",
  any: "anything",
  list: "a list",
  map: "a map",
  object: "an object",
  union: "one of several types"
};
function describeType(type) {
  return [...new Set(alternatives(type).map((one) => words[one.kind]))].join(" or ");
}

// src/rules/environment.ts
function createEnvironment(options) {
  const { registry: registry2, occasions, level, grants = [] } = options;
  const names = /* @__PURE__ */ new Map();
  const absent = /* @__PURE__ */ new Map();
  const add = (name, rowOf2) => {
    const rows = occasions.map(rowOf2);
    const there = rows.filter((row) => row.type !== void 0);
    const missingOn = occasions.filter((_, place) => rows[place]?.type === void 0).map(describeOccasion);
    const fact = there.find((row) => row.fact)?.fact;
    if (there.length === 0) {
      absent.set(name, `${[...new Set(missingOn)].join(" and ")} has no ${name}`);
      return;
    }
    const type = unionOf(there.map((row) => row.type ?? anyType));
    const needsGrant = fact && level !== "operator" && !grants.includes(fact.name);
    const refusal = needsGrant ? refusalOf(fact, level) : void 0;
    const shapes = new Set(there.map((row) => row.shape));
    const [shape] = shapes.size === 1 ? shapes : [];
    names.set(name, {
      type,
      ...shape && { shape },
      missingOn: [...new Set(missingOn)],
      ...fact && { fact },
      ...refusal !== void 0 && { refusal }
    });
  };
  const factsByName = new Map(registry2.facts.map((fact) => [fact.name, fact]));
  for (const fact of registry2.facts) {
    add(fact.name, ({ subject }) => rowOfFact(fact, subject, registry2));
  }
  for (const [name, shape] of Object.entries(registry2.variables)) {
    if (factsByName.has(name)) continue;
    add(name, (occasion) => variableApplies(name, occasion) ? rowOf(shape) : { type: void 0 });
  }
  add("event", ({ family }) => family ? rowOfPayload(registry2, family) : { type: void 0 });
  add("now", () => ({ type: { kind: "timestamp" } }));
  return { names, absent };
}
function rowOfFact(fact, subject, registry2) {
  if (fact.of.includes(subject)) return { fact, ...rowOf(fact.shape) };
  const item = fact.name === subject ? registry2.variables[fact.name] : void 0;
  return item ? rowOf(item) : { type: void 0 };
}
function variableApplies(name, occasion) {
  if (name === "sender") return occasion.family !== void 0;
  return occasion.family === void 0 && occasion.subject === name;
}
function rowOf(shape) {
  return { shape, type: typeOf(shape) };
}
function rowOfPayload(registry2, family) {
  const shape = registry2.payloads[family];
  return shape ? rowOf(shape) : { type: anyType };
}
function describeOccasion({ family, subject }) {
  return family === void 0 ? `a schedule over each ${subject}` : `${family}`;
}
function refusalOf(fact, level) {
  if (fact.shows === "repository") return void 0;
  const seenBy = fact.shows === "admin" ? "the repository's administrators" : "people beyond the repository";
  return `files of the ${level} may not use ${fact.name} without the operator's grant: it shows what only ${seenBy} may see`;
}

// src/rules/yaml-source.ts
import {
  isAlias,
  isMap,
  isNode,
  isScalar as isScalar2,
  isSeq,
  LineCounter,
  parseDocument
} from "yaml";

// src/rules/scalar-place.ts
import { isScalar } from "yaml";

// src/rules/yaml-place.ts
function sourceLine(text3, offset) {
  const at = Math.max(0, Math.min(offset, text3.length));
  const start = text3.lastIndexOf("\n", at - 1) + 1;
  return text3.slice(start, endOfLine(text3, at)).replace(/\r$/, "");
}
function endOfLine(text3, offset) {
  const end = text3.indexOf("\n", offset);
  return end < 0 ? text3.length : end;
}
function spanOf(node) {
  const [start = 0, end = start] = node.range ?? [];
  return { start, end };
}

// src/rules/scalar-place.ts
function insideScalar(node, text3, offset) {
  if (node === void 0) return 0;
  const { start, end } = spanOf(node);
  if (!isScalar(node) || typeof node.value !== "string") return start;
  const { value, type } = node;
  const isBlock = type === "BLOCK_LITERAL" || type === "BLOCK_FOLDED";
  let at = isBlock ? endOfLine(text3, start) + 1 : start + (type === "PLAIN" ? 0 : 1);
  for (let place = 0; place < Math.min(offset, value.length) && at < end; place += 1) {
    at = skipFolding(text3, at, end, value[place] ?? "");
    at += type === "QUOTE_DOUBLE" && text3[at] === "\\" ? lengthOfEscape(text3, at) : 1;
    if (type === "QUOTE_SINGLE" && text3[at - 1] === "'" && text3[at] === "'") at += 1;
  }
  if (offset < value.length) at = skipFolding(text3, at, end, value[offset] ?? "");
  return Math.min(at, end);
}
function skipFolding(text3, from2, end, wanted) {
  let at = from2;
  if (text3[at] === wanted && wanted !== " " && wanted !== "\n") return at;
  if (wanted === " " || wanted === "\n") {
    if (text3[at] === wanted) return at;
    if (text3[at] !== "\n" && text3[at] !== "\r") return at;
    while (at + 1 < end && /\s/.test(text3[at + 1] ?? "")) at += 1;
    return at;
  }
  while (at < end && /\s/.test(text3[at] ?? "")) at += 1;
  return at;
}
function lengthOfEscape(text3, at) {
  const lengths = { x: 4, u: 6, U: 10 };
  return lengths[text3[at + 1] ?? ""] ?? 2;
}

// src/rules/yaml-words.ts
function tagProblem(span, text3, problem) {
  const before = text3.lastIndexOf("!", span.start);
  const lineStart = text3.lastIndexOf("\n", span.start - 1) + 1;
  const first = text3.slice(lineStart, span.end).search(/(?<=[:\s[{,-]|^)!/);
  const start = first >= 0 ? lineStart + first : Math.max(0, before);
  const line = text3.slice(start, endOfLine(text3, start));
  if (line.startsWith("!!")) return problem("yaml-tag", "tags are not allowed", { start, end: span.end });
  const message = `YAML reads an unquoted "!" as a tag: put the value in quotes, "${line.trim().replaceAll('"', "'")}"`;
  return problem("yaml-tag", message, { start, end: start + line.trimEnd().length });
}
function explainYaml(code, message, span, text3, problem) {
  const line = sourceLine(text3, span.start).slice(0, 1e3);
  const lower = message.charAt(0).toLowerCase() + message.slice(1);
  const value = /^\s*(?:- )?["']?[\w.-]+["']?:\s+(.*)$/.exec(line)?.[1] ?? "";
  if (code === "TAG_RESOLVE_FAILED") return tagProblem(span, text3, problem);
  if (code === "BAD_ALIAS") return problem("yaml-alias", "aliases are not allowed", span);
  if (code === "NON_STRING_KEY" && /\{\{/.test(line)) {
    return problem("yaml", 'a value that starts with "{" must be in quotes', span);
  }
  if (/[[{,]\s*[\w"'-]+\s*:\s*\$\{\{|[[,]\s*\$\{\{/.test(line)) {
    const start = text3.lastIndexOf(line, span.start) + line.indexOf("${{");
    return problem("yaml", "inside of { } or [ ], a value with ${{ must be in quotes", {
      start,
      end: start + 3
    });
  }
  if (code === "BLOCK_AS_IMPLICIT_KEY") {
    const at = text3.indexOf(": ", span.start);
    const place = at >= 0 && at < endOfLine(text3, span.start) ? { start: at, end: at + 1 } : span;
    return problem("yaml", 'an unquoted text must not contain ": ": put the whole value in quotes', place);
  }
  if (/^["']/.test(value) && /at node end/.test(message)) {
    return problem(
      "yaml",
      "a value that starts with a quote ends with it: put the whole value in other quotes",
      span
    );
  }
  if (code === "MULTIPLE_DOCS")
    return problem("yaml", 'a file has one document: leave out the second "---"', span);
  return problem("yaml", lower, span);
}

// src/rules/yaml-source.ts
var maxFileBytes = 64 * 1024;
var maxProblems = 100;
var tooDeep = /(?:[[{]\s*){50}|(?:[-?] ){50}/;
function readYaml(path, text3) {
  const lines = new LineCounter();
  const lineOf = (offset) => {
    const { line, col } = lines.linePos(Math.max(0, Math.min(offset, text3.length)));
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const problem = (code, message, span, suggestion) => {
    const { line, column } = lineOf(span.start);
    const source = sourceLine(text3, span.start);
    const width = Math.max(1, Math.min(span.end - span.start, source.length - column + 1));
    return {
      code,
      message,
      path,
      line,
      column,
      source,
      width,
      ...suggestion !== void 0 && { suggestion }
    };
  };
  const unreadable = (found) => ({
    value: void 0,
    problems: [found],
    readable: false,
    valueAt: () => start,
    keyAt: () => start,
    inside: () => 0,
    lineOf,
    problem
  });
  const start = { start: 0, end: 0 };
  if (Buffer.byteLength(text3) > maxFileBytes) {
    return unreadable(problem("file-size", "the file is larger than 64 KiB", start));
  }
  const nested = tooDeep.exec(text3);
  if (nested) {
    const span = { start: nested.index, end: nested.index + 1 };
    return unreadable(problem("yaml", "the text is nested too deep", span));
  }
  try {
    return readWithin(text3, lines, lineOf, problem);
  } catch (error) {
    const reason = error instanceof RangeError ? "the text is nested too deep" : messageOf(error);
    return unreadable(problem("yaml", reason, start));
  }
}
function readWithin(text3, lines, lineOf, problem) {
  const document = parseDocument(text3, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    // The parser compares every key with every other; the reader below needs one look at each.
    uniqueKeys: false,
    logLevel: "error",
    version: "1.2"
  });
  const root = document.contents;
  const reader = new Reader(text3, problem);
  const value = reader.read(root);
  const { forbidden } = reader;
  const taken = new Set(forbidden.map(({ line }) => line));
  const errors = [...document.errors, ...document.warnings].slice(0, maxProblems).flatMap(({ code, message, pos }) => {
    const span = { start: pos[0], end: pos[1] };
    const found = explainYaml(code, message, span, text3, problem);
    if (taken.has(found.line)) return [];
    taken.add(found.line);
    return [found];
  });
  const directive = /^%/m.exec(text3);
  if (directive && document.directives?.yaml.explicit) {
    errors.push(
      problem("yaml", "directives are not allowed", { start: directive.index, end: directive.index + 1 })
    );
  }
  const harmless2 = /* @__PURE__ */ new Set(["duplicate-key", "yaml-tag"]);
  const readable = [...errors, ...forbidden].every(({ code }) => harmless2.has(code));
  const find = (path) => findNode(root, path, text3.length);
  return {
    value: readable ? value : void 0,
    problems: [...forbidden, ...errors],
    readable,
    valueAt: (path) => find(path).value,
    keyAt: (path) => find(path).key,
    inside: (path, offset) => insideScalar(find(path).node, text3, offset),
    lineOf,
    problem
  };
}
var Reader = class {
  forbidden = [];
  #text;
  #problem;
  constructor(text3, problem) {
    this.#text = text3;
    this.#problem = problem;
  }
  read(node) {
    if (!isNode(node)) return null;
    this.#check(node);
    if (isScalar2(node)) return node.value;
    if (isSeq(node)) return node.items.map((item) => this.read(item));
    if (!isMap(node)) return null;
    const value = {};
    for (const { key, value: member } of node.items) {
      const name = String(this.read(key));
      if (Object.hasOwn(value, name)) this.#forbid("duplicate-key", `"${name}" stands twice here`, key);
      setOwn(value, name, this.read(member));
    }
    return value;
  }
  #check(node) {
    if (isAlias(node)) this.#forbid("yaml-alias", "aliases are not allowed: write the value out", node);
    else if (node.anchor) this.#forbid("yaml-alias", "anchors are not allowed", node);
    else if (node.tag && this.forbidden.length < maxProblems) {
      this.forbidden.push(tagProblem(spanOf(node), this.#text, this.#problem));
    }
  }
  #forbid(code, message, node) {
    if (this.forbidden.length >= maxProblems || !isNode(node)) return;
    this.forbidden.push(this.#problem(code, message, spanOf(node)));
  }
};
function setOwn(object, name, value) {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}
function findNode(root, path, length2) {
  const whole = { start: 0, end: Math.min(1, length2) };
  let found = root ? { node: root, value: spanOf(root), key: whole } : { node: void 0, value: whole, key: whole };
  for (const step of path) {
    const inner = stepInto(found.node, step);
    if (inner === void 0) return { ...found, node: void 0 };
    found = inner;
  }
  return found;
}
function stepInto(node, step) {
  if (isSeq(node)) {
    const item = node.items[Number(step)];
    return isNode(item) ? { node: item, value: spanOf(item), key: spanOf(item) } : void 0;
  }
  if (!isMap(node)) return void 0;
  const pair = pairsOf(node).get(String(step));
  if (pair === void 0 || !isNode(pair.key)) return void 0;
  const key = spanOf(pair.key);
  return isNode(pair.value) ? { node: pair.value, value: spanOf(pair.value), key } : { node: void 0, value: key, key };
}
var indexed = /* @__PURE__ */ new WeakMap();
function pairsOf(map) {
  const known2 = indexed.get(map);
  if (known2) return known2;
  const pairs = new Map(map.items.map((pair) => [isScalar2(pair.key) ? String(pair.key.value) : "", pair]));
  indexed.set(map, pairs);
  return pairs;
}

// src/rules/context.ts
var FileContext = class {
  path;
  level;
  commit;
  registry;
  grants;
  file;
  problems;
  constructor(source, file) {
    this.path = source.path;
    this.level = source.level;
    this.commit = source.commit;
    this.registry = source.registry;
    this.grants = source.grants ?? [];
    this.file = file;
    this.problems = [...file.problems];
  }
  reportKey(path, code, message, suggestion) {
    this.add(this.file.problem(code, message, this.file.keyAt(path), suggestion));
  }
  reportValue(path, code, message, suggestion) {
    this.add(this.file.problem(code, message, this.file.valueAt(path), suggestion));
  }
  reportInside(path, { code, message, suggestion, start, end }) {
    const span = { start: this.file.inside(path, start), end: this.file.inside(path, end) };
    this.add(this.file.problem(code, message, span, suggestion));
  }
  /** Keeps a problem, unless YAML already stumbled on its line: what follows is its consequence. */
  add(problem) {
    if (this.problems.length >= maxProblems) return;
    if (this.file.problems.some(({ line }) => line === problem.line)) return;
    this.problems.push(problem);
  }
  /** Returns the names for a rule that starts on these occasions; rules of a file mostly share them. */
  environment(occasions) {
    return environmentFor(this.registry, { occasions, level: this.level, grants: this.grants });
  }
};
var environments = /* @__PURE__ */ new WeakMap();
var maxEnvironments = 500;
function environmentFor(registry2, options) {
  const known2 = environments.get(registry2) ?? /* @__PURE__ */ new Map();
  environments.set(registry2, known2);
  const { occasions, level, grants } = options;
  const starts = occasions.map(({ family, subject }) => [family ?? null, subject]);
  const key = JSON.stringify([level, grants, ...starts]);
  const before = known2.get(key);
  if (before) return before;
  if (known2.size >= maxEnvironments) known2.clear();
  const environment = createEnvironment({ registry: registry2, occasions, level, grants });
  known2.set(key, environment);
  return environment;
}

// src/rules/literals.ts
import { evaluate } from "@marcbachmann/cel-js";

// src/rules/patterns.ts
import { RE2JS } from "re2js";
var maxPatternLength = 200;
var instructionsPerCharacter = 100;
function compilePattern(pattern) {
  if (pattern.length > maxPatternLength)
    return { reason: `the pattern is longer than ${maxPatternLength} characters` };
  try {
    const engine = RE2JS.compile(pattern);
    return {
      test: (text3) => engine.test(text3),
      weight: Math.max(1, Math.ceil(engine.programSize() / instructionsPerCharacter))
    };
  } catch (error) {
    return { reason: `the pattern is not RE2: ${messageOf(error)}` };
  }
}
function compileGlob(globs) {
  try {
    return { test: createGlob(globs), weight: globs.length };
  } catch (error) {
    if (error instanceof GlobError) return { reason: error.message };
    throw error;
  }
}

// src/rules/literals.ts
function literalOf(node) {
  return node.op === "value" ? node.args : void 0;
}
function readLiteral(use, name, argument) {
  switch (use) {
    case "pattern":
      return readPattern(argument);
    case "glob":
      return readGlob(argument);
    case "timezone":
      return readTimezone(argument);
    case "moment":
      return readMoment(name, argument);
  }
}
function readPattern(argument) {
  const value = literalOf(argument);
  if (typeof value !== "string") {
    return {
      code: "expression",
      reason: "the pattern must be a literal text, so that it can be checked here"
    };
  }
  const compiled = compilePattern(value);
  return "reason" in compiled ? { code: "pattern", reason: compiled.reason } : { pattern: compiled };
}
function readGlob(argument) {
  const globs = (argument.op === "list" ? argument.args : [argument]).map(literalOf);
  const texts = globs.filter((glob) => typeof glob === "string");
  if (texts.length !== globs.length) {
    return { code: "expression", reason: "globs must be literal texts, so that they can be checked here" };
  }
  const compiled = compileGlob(texts);
  return "reason" in compiled ? { code: "pattern", reason: compiled.reason } : { pattern: compiled };
}
function readTimezone(argument) {
  const value = literalOf(argument);
  if (typeof value !== "string") return { code: "expression", reason: "the timezone must be a literal text" };
  return isTimezone(value) ? {} : { code: "value", reason: `there is no timezone "${value}"` };
}
function isTimezone(name) {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
function readMoment(name, argument) {
  const value = literalOf(argument);
  if (typeof value !== "string") return {};
  try {
    evaluate(`${name}(${JSON.stringify(value.slice(0, 64))})`);
    return {};
  } catch {
    const example = name === "duration" ? "15m, 1h30m or 72h" : "2026-01-31T12:00:00Z";
    return { code: "value", reason: `"${value.slice(0, 64)}" is no ${name}; write it like ${example}` };
  }
}

// src/rules/scope.ts
var emptyScope = { variables: /* @__PURE__ */ new Map(), present: /* @__PURE__ */ new Set(), inLoop: false };
function withPresent(scope, present) {
  return present.size === 0 ? scope : { ...scope, present: /* @__PURE__ */ new Set([...scope.present, ...present]) };
}
function presentAfter(node, truth) {
  switch (node.op) {
    case "&&":
    case "||": {
      const [left, right] = node.args;
      const both = node.op === "&&" === truth;
      const first = presentAfter(left, truth);
      const second = presentAfter(right, truth);
      return new Set(both ? [...first, ...second] : [...first].filter((chain) => second.has(chain)));
    }
    case "!_":
      return presentAfter(node.args, !truth);
    case "call": {
      const [argument] = node.args[1];
      return truth && node.args[0] === "has" && argument ? prefixes(chainOf(argument)) : /* @__PURE__ */ new Set();
    }
    default:
      return /* @__PURE__ */ new Set();
  }
}
function chainOf(node) {
  if (node.op === "id") return [node.args];
  if (node.op !== ".") return void 0;
  const before = chainOf(node.args[0]);
  return before && [...before, node.args[1]];
}
function prefixes(chain) {
  return new Set((chain ?? []).map((_, place) => (chain ?? []).slice(0, place + 1).join(".")));
}

// src/rules/foreign-words.ts
var foreign = {
  synchronize: "synchronized",
  labeled: "label_updated",
  unlabeled: "label_updated",
  milestone: "milestoned",
  ready_for_review: "edited",
  converted_to_draft: "edited",
  submitted: "approved",
  CHANGES_REQUESTED: "REQUEST_CHANGES",
  COMMENTED: "COMMENT",
  DISMISSED: "REQUEST_CHANGES",
  pull_request_target: "pull_request",
  issue: "issues",
  merge_request: "pull_request",
  cron: "schedule"
};
function wordOfForge(word) {
  return Object.hasOwn(foreign, word) ? foreign[word] : void 0;
}
function foreignActivities(left, right) {
  const chains = [left, right].map((side) => chainOf(side)?.join("."));
  if (!chains.includes("event.action")) return [];
  const words2 = [left, right].flatMap((side) => side.op === "list" ? side.args : [side]);
  return words2.filter((word) => {
    const text3 = literalOf(word);
    return typeof text3 === "string" && wordOfForge(text3) !== void 0;
  });
}

// src/rules/issues.ts
function problemsOf(value, schema, file, at, fallback) {
  const result = schema.safeParse(value);
  if (result.success) return [];
  const issues = result.error.issues.slice(0, maxProblems).flatMap((issue) => flatten(issue, value, []));
  return issues.flatMap(({ issue, path }) => explain(issue, path, value, schema, at)).map((found) => {
    const path = [...at, ...found.path];
    const span = found.atKey ? file.keyAt(path) : file.valueAt(path);
    const code = fallback && (found.code === "type" || found.code === "value") ? fallback : found.code;
    return file.problem(code, found.message, span, found.suggestion);
  });
}
function flatten(issue, value, before) {
  const path = [...before, ...issue.path];
  if (issue.code !== "invalid_union") return [{ issue, path }];
  const branches = issue.errors.map((errors) => errors.flatMap((inner) => flatten(inner, value, path)));
  const best = branches.toSorted((a, b) => scoreOf(b, path.length) - scoreOf(a, path.length))[0];
  return best && best.length > 0 ? best : [{ issue, path }];
}
function scoreOf(branch, depth) {
  const wrongType = branch.some(({ issue, path }) => path.length === depth && issue.code === "invalid_type");
  const deepest = Math.max(...branch.map(({ path }) => path.length));
  return (wrongType ? -1e3 : 0) + (deepest - depth) * 10 - branch.length;
}
function explain(issue, path, value, schema, at) {
  const full = [...at, ...path];
  const seen = valueIn(value, path);
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => explainKey(key, path, schema, full));
    case "invalid_value":
      if (seen === void 0) return [missing(path)];
      return [explainValue(seen, issue.values.map(String), path, full)];
    case "invalid_type":
      if (seen === void 0) return [missing(path)];
      return [
        { code: "type", message: `this must be ${wordFor(issue.expected)}, not ${describe(seen)}`, path }
      ];
    case "invalid_key":
      return [
        {
          code: "value",
          message: `"${String(path.at(-1))}" is no name: letters, digits, ".", "_" and "-", at most 63`,
          path,
          atKey: true
        }
      ];
    case "too_small":
      return [
        {
          code: "value",
          message: `this needs at least ${issue.minimum} ${unitOf(issue.origin)}`.trimEnd(),
          path
        }
      ];
    case "too_big":
      return [
        {
          code: "value",
          message: `this has more than ${issue.maximum} ${unitOf(issue.origin)}`.trimEnd(),
          path
        }
      ];
    case "invalid_union":
      return [{ code: "type", message: `this cannot be ${describe(seen)}`, path }];
    default:
      return [
        { code: "value", message: issue.message.charAt(0).toLowerCase() + issue.message.slice(1), path }
      ];
  }
}
function unitOf(origin) {
  const units2 = {
    string: "characters",
    array: "entries",
    record: "entries"
  };
  return units2[origin] ?? "";
}
function missing(path) {
  return {
    code: "missing-key",
    message: `"${String(path.at(-1))}" is missing here`,
    path: path.slice(0, -1),
    atKey: true
  };
}
var types = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a map",
  record: "a map",
  null: "empty"
};
function wordFor(expected) {
  return types[expected] ?? expected;
}
function describe(value) {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  return types[typeof value] ?? typeof value;
}
function explainKey(key, path, schema, full) {
  const place = { path: [...path, key], atKey: true };
  if (isListeningMap(full)) return { ...explainKind(key), ...place };
  const known2 = keysAt(schema, path);
  const suggestion = nearest(key, known2);
  const list = known2.length > 0 && known2.length <= 14 ? `; there are ${known2.join(", ")}` : "";
  const hint = suggestion === void 0 ? list : "";
  return { code: "unknown-key", message: `there is no key "${key}" here${hint}`, suggestion, ...place };
}
function isListeningMap(full) {
  const at = full.indexOf("on");
  return at >= 0 && (full.length === at + 1 || full.length === at + 2 && typeof full[at + 1] === "number");
}
function explainKind(word) {
  const family = familyOf(word);
  if (family !== void 0) {
    const activities = activitiesOf(family).length > 0 ? ` with ${typesOf(family, word)}` : "";
    return {
      code: "unknown-kind",
      message: `"${word}" belongs to the family ${family}: write ${family}${activities}`
    };
  }
  const suggestion = wordOfForge(word) ?? nearest(word, [...Object.keys(eventFamilies), "schedule"]);
  return { code: "unknown-kind", message: `there is no kind of event "${word}"`, suggestion };
}
function typesOf(family, eventType) {
  return `[${(eventFamilies[family].types[eventType] ?? []).join(", ")}]`;
}
function explainValue(seen, allowed, path, full) {
  const at = full.indexOf("on");
  if (at >= 0 && typeof seen === "string") return explainListening(seen, full.slice(at + 1), path);
  const word = typeof seen === "object" ? describe(seen) : `"${String(seen)}"`;
  const suggestion = typeof seen === "string" ? suggest(seen, allowed) : void 0;
  const list = allowed.length <= 14 ? ` (${allowed.join(", ")})` : "";
  return { code: "value", message: `${word} is none of the words allowed here${list}`, suggestion, path };
}
function explainListening(seen, inside, path) {
  const family = inside.find((step) => typeof step === "string" && Object.hasOwn(eventFamilies, step));
  if (family !== void 0) return { ...explainActivity(family, seen), path };
  const [kind = "", activity] = seen.split(".");
  if (activity !== void 0 && Object.hasOwn(eventFamilies, kind)) {
    return { ...explainActivity(kind, activity), path };
  }
  return { ...explainKind(activity === void 0 ? seen : kind), path };
}
function explainActivity(family, word) {
  const known2 = activitiesOf(family);
  const list = known2.length > 0 ? ` (${known2.join(", ")})` : "; it has none";
  const suggestion = suggest(word, known2);
  return { code: "unknown-activity", message: `${family} has no activity "${word}"${list}`, suggestion };
}
function suggest(word, known2) {
  const translated = wordOfForge(word);
  return translated !== void 0 && known2.includes(translated) ? translated : nearest(word, known2);
}
function keysAt(schema, path) {
  let level = plain(schema);
  for (const step of path) level = level.flatMap((one) => childOf(one, step)).flatMap(plain);
  return [...new Set(level.flatMap((one) => Object.keys(definitionOf(one).shape ?? {})))];
}
function plain(schema) {
  const { innerType, in: before, options } = definitionOf(schema);
  if (options) return options.flatMap(plain);
  const inner = innerType ?? before;
  return inner ? plain(inner) : [schema];
}
function childOf(schema, step) {
  const { shape, element, valueType } = definitionOf(schema);
  const child = typeof step === "number" ? element : shape?.[step] ?? valueType;
  return child ? [child] : [];
}
function valueIn(value, path) {
  let inner = value;
  for (const step of path) {
    if (typeof inner !== "object" || inner === null || !Object.hasOwn(inner, step)) return void 0;
    inner = Reflect.get(inner, step);
  }
  return inner;
}

// src/rules/schedule.ts
import { validate } from "node-cron";
function checkSchedule(written2, path, context) {
  const cron = (typeof written2 === "string" ? written2 : written2.cron).trim();
  const timezone = typeof written2 === "string" ? "UTC" : written2.timezone ?? "UTC";
  const at = typeof written2 === "string" ? path : [...path, "cron"];
  const fields = cron.split(/\s+/);
  const problem = explainCron(cron, fields);
  if (problem !== void 0) {
    context.reportValue(at, "schedule", problem);
    return void 0;
  }
  if (!isTimezone(timezone)) {
    context.reportValue([...path, "timezone"], "schedule", `there is no timezone "${timezone}"`);
    return void 0;
  }
  if (context.level !== "operator" && !/^\d+$/.test(fields[0] ?? "")) {
    const message = `files of the ${context.level} run at most hourly: the first field must be one minute`;
    context.reportValue(at, "level", message);
    return void 0;
  }
  return { cron, timezone };
}
function explainCron(cron, fields) {
  if (fields.length === 6) return "six cron fields: seconds are not for rules, write five";
  if (fields.length !== 5) return `"${cron}" is no schedule: five cron fields, such as "17 3 * * *"`;
  return validate(cron) ? void 0 : `"${cron}" is no schedule: one of its fields cannot be`;
}

// src/rules/listening.ts
function readOn(written2, at, context) {
  const on = [];
  const schedules = [];
  const entries = Array.isArray(written2) ? written2.map((entry, place) => ({ entry, path: [...at, place] })) : [{ entry: written2, path: at }];
  for (const { entry, path } of entries) {
    if (typeof entry === "string") {
      on.push(readWord(entry));
      continue;
    }
    for (const [key, form] of Object.entries(entry)) {
      const place = [...path, key];
      if (key === "schedule") {
        const schedule = checkSchedule(form, place, context);
        if (schedule) schedules.push(schedule);
      } else if (form !== void 0) {
        on.push(readForm(key, form, place, context));
      }
    }
  }
  return { on, schedules };
}
function readWord(word) {
  const [family = "", activity] = word.split(".");
  return { family, ...activity !== void 0 && { activities: [activity] } };
}
function readForm(family, form, path, context) {
  if (form === null) return { family };
  if (typeof form === "string") return { family, activities: [form] };
  if (Array.isArray(form)) return { family, activities: form };
  return readFilter(family, form, path, context);
}
var filterNames = {
  branches: "branches",
  "branches-ignore": "branchesIgnore",
  tags: "tags",
  "tags-ignore": "tagsIgnore",
  paths: "paths",
  "paths-ignore": "pathsIgnore"
};
function allowedFilters(family) {
  if (family === "push") return Object.keys(filterNames);
  if (family === "create" || family === "delete")
    return ["branches", "branches-ignore", "tags", "tags-ignore"];
  if (eventFamilies[family].subject === "pull_request") {
    return ["branches", "branches-ignore", "paths", "paths-ignore"];
  }
  return [];
}
function readFilter(family, filter, path, context) {
  const { types: types2, ...patterns } = filter;
  const listening = {};
  const allowed = allowedFilters(family);
  for (const [key, written2] of Object.entries(patterns)) {
    if (written2 === void 0) continue;
    if (!allowed.includes(key)) {
      context.reportKey(
        [...path, key],
        "filter",
        `events of ${family} have no ${key.replace("-ignore", "")} to filter by`
      );
      continue;
    }
    if (key.endsWith("-ignore") && patterns[key.replace("-ignore", "")] !== void 0) {
      context.reportKey(
        [...path, key],
        "filter",
        `${key} beside ${key.replace("-ignore", "")}: use ! in one list`
      );
      continue;
    }
    const pattern = readPattern2(written2, [...path, key], context);
    if (pattern) listening[filterNames[key]] = pattern;
  }
  const activities = types2 === void 0 ? {} : { activities: typeof types2 === "string" ? [types2] : types2 };
  return { family, ...activities, ...listening };
}
function readPattern2(written2, path, context, create = createGlob) {
  const list = typeof written2 === "string" ? [written2] : written2;
  try {
    return { written: list, matches: create(list) };
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    const place = list.findIndex(
      (entry) => entry.replace(/^!/, "") === error.pattern || entry === error.pattern
    );
    const at = typeof written2 === "string" || place < 0 ? path : [...path, place];
    context.reportValue(at, "pattern", error.message);
    return void 0;
  }
}

// src/rules/expression.ts
import { ParseError as ParseError2 } from "@marcbachmann/cel-js";

// src/rules/values.ts
import { Duration } from "@marcbachmann/cel-js/evaluator";
var maxItems = 1e4;
var maxText = 256 * 1024;
var maxDepth = 64;
var maxShown = 200;
var TooLarge = class {
  what;
  constructor(what) {
    this.what = what;
  }
};
var converted = /* @__PURE__ */ new WeakMap();
function toCel(value, shape) {
  if (typeof value !== "object" || value === null) return convert(value, shape, 0);
  const before = converted.get(value);
  if (before !== void 0) return before;
  const result = convert(value, shape, 0);
  converted.set(value, result);
  return result;
}
function convert(value, shape, depth) {
  if (depth > maxDepth) return new TooLarge(`nested deeper than ${maxDepth}`);
  const inner = shape && unwrap(shape);
  if (inner?.meta()?.holds === "duration") return toDuration(value);
  if (value === null && inner && definitionOf(inner).type === "array") return [];
  switch (typeof value) {
    case "number":
      return Number.isSafeInteger(value) ? BigInt(value) : value;
    case "string":
      return value.length > maxText ? new TooLarge(`a text of ${value.length} characters`) : value;
    case "object":
      return value === null ? null : convertObject(value, inner, depth);
    case "boolean":
    case "bigint":
      return value;
    default:
      return null;
  }
}
function convertObject(value, shape, depth) {
  if (value instanceof Date || value instanceof Duration) return value;
  if (Array.isArray(value)) {
    if (value.length > maxItems) return new TooLarge(`a list of ${value.length} items`);
    const element = shape && definitionOf(shape).element;
    return value.map((item) => convert(item, element, depth + 1));
  }
  const members = shape && definitionOf(shape).shape;
  const result = /* @__PURE__ */ Object.create(null);
  for (const [name, member] of Object.entries(value)) {
    if (member !== void 0) result[name] = convert(member, members?.[name], depth + 1);
  }
  return result;
}
function unwrap(shape) {
  let current2 = shape;
  for (let step = 0; step < 8 && current2.meta()?.holds === void 0; step += 1) {
    const { innerType, in: before } = definitionOf(current2);
    const next = innerType ?? before;
    if (next === void 0) break;
    current2 = next;
  }
  return current2;
}
var units = { ms: 1, s: 1e3, m: 6e4, h: 36e5 };
function toDuration(value) {
  if (value instanceof Duration || value === null || value === void 0) return value ?? null;
  if (typeof value === "number" && Number.isFinite(value)) return Duration.fromMilliseconds(value);
  if (typeof value !== "string" || !/^(\d{1,9}(\.\d{1,3})?(ms|s|m|h)){1,4}$/.test(value)) return null;
  let milliseconds = 0;
  for (const [, amount, unit] of value.matchAll(/([\d.]+)(ms|s|m|h)/g)) {
    milliseconds += Number(amount) * (units[unit ?? ""] ?? 0);
  }
  return Duration.fromMilliseconds(milliseconds);
}
function toReading(value) {
  if (value instanceof TooLarge) return `(${value.what})`;
  if (typeof value === "string") return cut(value);
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "number" || typeof value === "boolean" || value === null) return value;
  if (value === void 0) return null;
  const text3 = toText(value);
  if (text3.length > maxShown) return cut(text3);
  const plain2 = JSON.parse(text3);
  return plain2;
}
function cut(text3) {
  return text3.length <= maxShown ? text3 : `${text3.slice(0, maxShown - 1)}\u2026`;
}
function toText(value) {
  let left = maxShown * 2;
  const write = (item) => {
    if (left <= 0) return "\u2026";
    if (typeof item === "string") {
      left -= item.length + 2;
      return cut(item);
    }
    left -= 4;
    if (typeof item === "bigint") return Number(item);
    if (item instanceof TooLarge) return `(${item.what})`;
    if (item instanceof Date) return item.toISOString();
    if (item instanceof Duration) return item.toString();
    if (Array.isArray(item)) return takeWhile(item, () => left > 0).map(write);
    if (typeof item === "object" && item !== null) {
      const entries = takeWhile(Object.entries(item), () => left > 0);
      return Object.fromEntries(entries.map(([name, member]) => [name, write(member)]));
    }
    return item;
  };
  return JSON.stringify(write(value)) ?? "null";
}
function takeWhile(items, may) {
  return may() ? items.slice(0, maxShown) : [];
}

// src/rules/budget.ts
var TooLargeToJudge = class extends Error {
  constructor(what) {
    super(`too large to judge: ${what}`);
    this.name = "TooLargeToJudge";
  }
};
var maxCharacters = 1e6;
var maxSteps = 1e6;
var maxErrors = 2e3;
var freeText = 256;
var maxNeedle = 1024;
var objectWeight = 20;
var maxMs = 1e3;
var Budget = class {
  #characters = maxCharacters;
  #steps = maxSteps;
  #errors = maxErrors;
  #deadline = performance.now() + maxMs;
  #failure;
  /** Charges for looking at a value as a whole, and returns it. */
  pay(value) {
    if (typeof value === "string") {
      if (value.length > freeText) this.read(value, 1);
    } else if (Array.isArray(value)) {
      if (value.length > maxItems) this.fail(`a list of ${value.length} items`);
      this.#charge(this.#weigh(value, 0));
    } else if (typeof value === "object" && value !== null) {
      this.#charge(this.#weigh(value, 0));
    }
    return value;
  }
  /** Charges for reading a text, each character `weight` times. */
  read(text3, weight) {
    if (text3.length > maxText) this.fail(`a text of ${text3.length} characters`);
    this.#charge(text3.length * weight);
  }
  /** Returns a text that is searched for, unless it is too long for that. */
  needle(value) {
    if (typeof value === "string" && value.length > maxNeedle) {
      this.fail(`the text searched for has more than ${maxNeedle} characters`);
    }
    return value;
  }
  /** Returns the list of a loop whose body has so many parts; each item that the loop takes is watched. */
  loop(list, parts) {
    if (!Array.isArray(list)) return list;
    if (list.length > maxItems) this.fail(`a list of ${list.length} items`);
    this.#steps -= list.length * parts;
    if (this.#steps < 0) this.fail(`more than ${maxSteps} steps`);
    return list.length < 64 ? list : new Proxy(list, { get: (items, key) => this.#next(items, key) });
  }
  /** Counts an error that the expression ran into. */
  error() {
    this.#errors -= 1;
    if (this.#errors < 0) this.fail(`more than ${maxErrors} errors`);
  }
  fail(what) {
    this.#failure ??= new TooLargeToJudge(what);
    throw this.#failure;
  }
  #next(items, key) {
    if (this.#failure) throw this.#failure;
    if (performance.now() > this.#deadline) this.fail(`more than ${maxMs} ms`);
    return Reflect.get(items, key);
  }
  #charge(characters) {
    this.#characters -= characters;
    if (this.#characters < 0) this.fail(`more than ${maxCharacters} characters`);
  }
  /** Comparing lists or objects looks at all that is in them; counting stops where the budget would. */
  #weigh(value, depth) {
    if (typeof value === "string") return value.length > freeText ? value.length : 1;
    if (typeof value !== "object" || value === null || value instanceof TooLarge || depth > 64) return 1;
    const known2 = weights.get(value);
    if (known2 !== void 0) return known2;
    let weight = objectWeight;
    for (const member of Array.isArray(value) ? value : Object.values(value)) {
      weight += this.#weigh(member, depth + 1);
      if (weight > this.#characters) break;
    }
    if (weight <= this.#characters) weights.set(value, weight);
    return weight;
  }
};
var weights = /* @__PURE__ */ new WeakMap();

// src/rules/program.ts
import {
  Environment as CelEnvironment,
  EvaluationError,
  ParseError
} from "@marcbachmann/cel-js";

// src/rules/functions.ts
var number = { kind: "number" };
var string = { kind: "string" };
var strings = { kind: "list", item: string };
var timestamp = { kind: "timestamp" };
var duration = { kind: "duration" };
var text2 = ["string"];
var numbers = ["number"];
var textFunctions = [
  {
    name: "startsWith",
    of: text2,
    takes: [text2],
    gives: boolType,
    meaning: "The text starts with this.",
    searches: true
  },
  {
    name: "endsWith",
    of: text2,
    takes: [text2],
    gives: boolType,
    meaning: "The text ends with this.",
    searches: true
  },
  {
    name: "contains",
    of: text2,
    takes: [text2],
    gives: boolType,
    meaning: "The text contains this.",
    searches: true
  },
  {
    name: "matches",
    of: text2,
    takes: [text2],
    gives: boolType,
    meaning: "Some part of the text matches this RE2 pattern (a literal).",
    literal: "pattern"
  },
  {
    name: "glob",
    of: text2,
    takes: [["string", "list"]],
    gives: boolType,
    meaning: "The whole text matches this glob, or the list of globs (literals).",
    literal: "glob"
  },
  { name: "lower", of: text2, takes: [], gives: string, meaning: "The text in small letters." },
  { name: "lowerAscii", of: text2, takes: [], gives: string, meaning: "The text in small letters." },
  { name: "upperAscii", of: text2, takes: [], gives: string, meaning: "The text in capital letters." },
  { name: "trim", of: text2, takes: [], gives: string, meaning: "The text without white space at its ends." },
  {
    name: "indexOf",
    of: text2,
    takes: [text2],
    gives: number,
    meaning: "Where this first stands in the text, from 0; -1 where it does not.",
    searches: true
  },
  {
    name: "lastIndexOf",
    of: text2,
    takes: [text2],
    gives: number,
    meaning: "Where this last stands in the text; -1 where it does not.",
    searches: true
  },
  { name: "substring", of: text2, takes: [numbers], gives: string, meaning: "The text from this place on." },
  {
    name: "substring",
    of: text2,
    takes: [numbers, numbers],
    gives: string,
    meaning: "The text from the first place up to, without, the second."
  },
  {
    name: "split",
    of: text2,
    takes: [text2],
    gives: strings,
    meaning: "The parts of the text between this.",
    outsideLoops: true,
    searches: true
  },
  {
    name: "join",
    of: ["list"],
    takes: [],
    gives: string,
    meaning: "The texts of the list, one after the other.",
    outsideLoops: true
  },
  {
    name: "join",
    of: ["list"],
    takes: [text2],
    gives: string,
    meaning: "The texts of the list with this between them.",
    outsideLoops: true,
    searches: true
  }
];
var sized = ["string", "list", "map", "object"];
var generalFunctions = [
  { name: "size", takes: [sized], gives: number, meaning: "How many characters, items or members." },
  { name: "size", of: sized, takes: [], gives: number, meaning: "How many characters, items or members." },
  { name: "string", takes: [["string", "number", "bool"]], gives: string, meaning: "The value as text." },
  { name: "int", takes: [["string", "number"]], gives: number, meaning: "The value as a whole number." },
  {
    name: "double",
    takes: [["string", "number"]],
    gives: number,
    meaning: "The value as a number with a fraction."
  },
  {
    name: "bool",
    takes: [["string", "bool"]],
    gives: boolType,
    meaning: "The text `true` or `false` as a bool."
  },
  {
    name: "timestamp",
    takes: [["string", "number"]],
    gives: timestamp,
    meaning: "The instant of an RFC 3339 text, or of seconds since 1970.",
    literal: "moment"
  },
  {
    name: "duration",
    takes: [text2],
    gives: duration,
    meaning: "A span of time such as `15m`, `1h30m` or `72h`.",
    literal: "moment"
  }
];
var calendar = {
  getFullYear: "The year.",
  getMonth: "The month, from 0 for January.",
  getDate: "The day of the month, from 1.",
  getDayOfMonth: "The day of the month, from 0.",
  getDayOfWeek: "The day of the week, from 0 for Sunday.",
  getDayOfYear: "The day of the year, from 0.",
  getHours: "The hour.",
  getMinutes: "The minute.",
  getSeconds: "The second.",
  getMilliseconds: "The millisecond."
};
var timeFunctions = Object.entries(calendar).flatMap(([name, meaning]) => [
  // A span of time has hours to milliseconds in all of it; the others only exist for instants.
  {
    name,
    of: /Hours|Minutes|Seconds|Milliseconds/.test(name) ? ["timestamp", "duration"] : ["timestamp"],
    takes: [],
    gives: number,
    meaning
  },
  {
    name,
    of: ["timestamp"],
    takes: [text2],
    gives: number,
    meaning: `${meaning} In this timezone (a literal).`,
    literal: "timezone",
    // Each call formats a date, thousands of times the cost of anything else.
    outsideLoops: true
  }
]);
var functions = [...textFunctions, ...generalFunctions, ...timeFunctions];
var loops = {
  all: { meaning: "The condition holds for every item.", gives: () => boolType },
  exists: { meaning: "The condition holds for some item.", gives: () => boolType },
  exists_one: { meaning: "The condition holds for exactly one item.", gives: () => boolType },
  map: {
    meaning: "The list of what the expression gives for each item.",
    gives: (_item, body) => ({ kind: "list", item: body })
  },
  filter: { meaning: "The items for which the condition holds.", gives: (item) => ({ kind: "list", item }) }
};
function findFunctions(name, hasReceiver) {
  return functions.filter((row) => row.name === name && row.of !== void 0 === hasReceiver);
}
var functionNames = [
  .../* @__PURE__ */ new Set([...functions.map((row) => row.name), ...Object.keys(loops), "has"])
];

// src/rules/printer.ts
var freeKinds = ["string", "list", "map", "object"];
var partsOfLogic = 8;
var Printer = class {
  calls = [];
  patterns = [];
  #resolved;
  #variables = [];
  constructor(resolved) {
    this.#resolved = resolved;
  }
  print(node) {
    switch (node.op) {
      case "value":
        return node.input.slice(node.start, node.end);
      case "id":
        return node.args;
      case ".":
        return `${this.print(node.args[0])}.${node.args[1]}`;
      case "[]":
        return `${this.print(node.args[0])}[${this.print(node.args[1])}]`;
      case "call":
        return this.#call(node.args[0], node.args[1]);
      case "rcall":
        return this.#method(node, node.args[0], node.args[1], node.args[2]);
      case "list":
        return `[${node.args.map((item) => this.print(item)).join(", ")}]`;
      case "map":
        return `{${node.args.map(([key, value]) => `${this.print(key)}: ${this.print(value)}`).join(", ")}}`;
      case "?:": {
        const [condition, then, otherwise] = node.args.map((part) => this.print(part));
        return `(${condition} ? ${then} : ${otherwise})`;
      }
      case "!_":
        return `!${this.print(node.args)}`;
      case "-_":
        return `-${this.print(node.args)}`;
      case "&&":
      case "||":
        return `(${this.print(node.args[0])} ${node.op} ${this.print(node.args[1])})`;
      case ".?":
      case "[?]":
        throw new TypeError(`"${node.op}" was not refused`);
      default:
        return `(${this.#paid(node.args[0])} ${node.op} ${this.#paid(node.args[1])})`;
    }
  }
  #call(name, given) {
    const [first] = given;
    if (first === void 0) throw new TypeError(`${name}() was not refused`);
    if (name === "has") return this.#has(first);
    const argument = literalOf(first);
    if (!functions.some((row) => row.name === name && row.of === void 0)) {
      return this.#fact({ name, argument: String(argument) });
    }
    const isLiteral = argument !== void 0;
    if (name === "size") return `size(${this.#paid(first)})`;
    return `${name}(${isLiteral ? this.print(first) : `n_(${this.print(first)})`})`;
  }
  #fact(request) {
    const place = this.calls.findIndex((call) => keyOf(call) === keyOf(request));
    if (place >= 0) return `f_(${place})`;
    this.calls.push(request);
    return `f_(${this.calls.length - 1})`;
  }
  #has(node) {
    const [root = "", ...chain] = chainOf(node) ?? [];
    const names = JSON.stringify(chain);
    return this.#variables.includes(root) ? `h_(${root}, ${names})` : `k_("${root}", ${names})`;
  }
  #method(node, name, receiver, given) {
    if (Object.hasOwn(loops, name)) return this.#loop(name, receiver, given);
    const pattern = this.#resolved.patterns.get(node);
    if (pattern) {
      this.patterns.push(pattern);
      return `m_(${this.print(receiver)}, ${this.patterns.length - 1})`;
    }
    const printedArguments = given.map(
      (argument) => literalOf(argument) === void 0 ? `n_(${this.print(argument)})` : this.print(argument)
    );
    return `${this.#paid(receiver)}.${name}(${printedArguments.join(", ")})`;
  }
  #loop(name, receiver, [variable, ...bodies]) {
    if (variable?.op !== "id") throw new TypeError(`${name} without a name was not refused`);
    const parts = bodies.reduce((sum, body) => sum + countParts(body), 1);
    const list = this.print(receiver);
    this.#variables.push(variable.args);
    const inner = bodies.map((body) => this.print(body));
    this.#variables.pop();
    return `l_(${list}, ${parts}).${name}(${[variable.args, ...inner].join(", ")})`;
  }
  #paid(node) {
    const text3 = this.print(node);
    if (node.op === "value") return text3;
    const type = this.#resolved.types.get(node);
    return type === void 0 || mayBe(type, freeKinds) ? `p_(${text3})` : text3;
  }
};
function countParts(node) {
  const own = node.op === "&&" || node.op === "||" || node.op === "?:" ? partsOfLogic : 1;
  let sum = own;
  for (const child of childrenOf(node)) sum += countParts(child);
  return sum;
}
function childrenOf(node) {
  switch (node.op) {
    case "value":
    case "id":
      return [];
    case ".":
    case ".?":
      return [node.args[0]];
    case "call":
      return node.args[1];
    case "rcall":
      return [node.args[1], ...node.args[2]];
    case "list":
      return node.args;
    case "map":
      return node.args.flat();
    case "!_":
    case "-_":
      return [node.args];
    default:
      return node.args;
  }
}

// src/rules/program.ts
var written = new CelEnvironment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 400, maxDepth: 24, maxListElements: 100, maxMapEntries: 20, maxCallArguments: 8 }
});
var current = { budget: new Budget(), patterns: [], facts: [], names: {} };
Object.defineProperty(Object.getPrototypeOf(EvaluationError.prototype), "name", {
  configurable: true,
  get: () => "CelError",
  set: () => current.budget.error()
});
var sync = { async: false };
var printed = new CelEnvironment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 4e3, maxDepth: 250, maxListElements: 100, maxMapEntries: 20, maxCallArguments: 9 }
}).registerFunction("p_(dyn): dyn", (value) => current.budget.pay(value), sync).registerFunction("n_(dyn): dyn", (value) => current.budget.needle(value), sync).registerFunction(
  "l_(dyn, int): dyn",
  (list, parts) => current.budget.loop(list, Number(parts)),
  sync
).registerFunction("f_(int): dyn", (place) => current.facts[Number(place)], sync).registerFunction(
  "h_(dyn, list): bool",
  (value, chain) => hasChain(value, chain),
  sync
).registerFunction(
  "k_(string, list): bool",
  (name, chain) => hasChain(current.names[name], chain),
  sync
).registerFunction(
  "m_(string, int): bool",
  (text3, place) => matches(text3, Number(place)),
  sync
).registerFunction("string.lower(): string", (text3) => text3.toLowerCase(), sync).registerOperator("int + double", (a, b) => Number(a) + b).registerOperator("double + int", (a, b) => a + Number(b)).registerOperator("int - double", (a, b) => Number(a) - b).registerOperator("double - int", (a, b) => a - Number(b)).registerOperator("int * double", (a, b) => Number(a) * b).registerOperator("double * int", (a, b) => a * Number(b)).registerOperator("int / double", (a, b) => Number(a) / b).registerOperator("double / int", (a, b) => a / Number(b));
function matches(text3, place) {
  const pattern = current.patterns[place];
  if (pattern === void 0) return false;
  current.budget.read(text3, pattern.weight);
  return pattern.test(text3);
}
function hasChain(value, chain) {
  let inner = value;
  for (const name of chain) {
    if (typeof inner !== "object" || inner === null || !Object.hasOwn(inner, name)) return false;
    inner = inner[name];
  }
  return inner !== void 0 && inner !== null;
}
function unlessTooDeep(make) {
  try {
    return make();
  } catch (error) {
    if (error instanceof RangeError || error instanceof ParseError) return void 0;
    throw error;
  }
}
function createProgram(node, resolved) {
  const printer = new Printer(resolved);
  const text3 = printer.print(node);
  const program = printed.parse(text3);
  return {
    calls: printer.calls,
    run(names, facts2, budget) {
      const before = current;
      const limit = Error.stackTraceLimit;
      current = { budget, patterns: printer.patterns, facts: facts2, names };
      Error.stackTraceLimit = 0;
      try {
        const value = program(names);
        return value;
      } finally {
        current = before;
        Error.stackTraceLimit = limit;
      }
    },
    check() {
      const result = program.check();
      if (result.valid || result.error === void 0) return void 0;
      return { message: result.error.summary, node };
    }
  };
}

// src/rules/reads.ts
function readsOf(node) {
  const collector = new Collector();
  collector.visit(node, /* @__PURE__ */ new Set());
  return {
    reads: [...collector.reads.values()],
    needs: [...collector.needs.values()],
    asks: [...collector.asks.values()]
  };
}
var Collector = class {
  reads = /* @__PURE__ */ new Map();
  needs = /* @__PURE__ */ new Map();
  asks = /* @__PURE__ */ new Map();
  visit(node, variables) {
    if (this.#chain(node, variables, [])) return;
    if (node.op === "call" && node.args[0] === "has") {
      this.#has(node.args[1][0], variables);
      return;
    }
    if (node.op === "rcall" && Object.hasOwn(loops, node.args[0])) {
      this.#loop(node.args[1], node.args[2], variables);
      return;
    }
    for (const child of childrenOf(node)) this.visit(child, variables);
  }
  /** Takes a whole chain; says whether the node was one. */
  #chain(node, variables, shown) {
    const path = [];
    let inner = node;
    while (inner.op === "." || inner.op === "[]") {
      const key = inner.op === "." ? inner.args[1] : literalOf(inner.args[1]);
      if (typeof key !== "string" && typeof key !== "bigint") return false;
      path.unshift(typeof key === "bigint" ? Number(key) : key);
      inner = inner.args[0];
    }
    const root = rootOf(inner);
    if (root === void 0) return false;
    if (root.argument === void 0 && variables.has(root.name)) return true;
    const text3 = node.input.slice(node.start, node.end);
    this.reads.set(text3, { text: text3, root, path, shown });
    this.needs.set(keyOf(root), root);
    return true;
  }
  #has(argument, variables) {
    const [name, ...path] = (argument && chainOf(argument)) ?? [];
    if (argument === void 0 || name === void 0 || variables.has(name)) return;
    const text3 = argument.input.slice(argument.start, argument.end);
    const root = { name };
    if (!this.reads.has(text3)) this.reads.set(text3, { text: text3, root, path, shown: [] });
    this.asks.set(name, root);
  }
  #loop(list, [variable, ...bodies], variables) {
    const name = variable?.op === "id" ? variable.args : "";
    const shown = /* @__PURE__ */ new Set();
    for (const body of bodies) membersOf(body, name, shown);
    if (!this.#chain(list, variables, [...shown])) this.visit(list, variables);
    const inner = /* @__PURE__ */ new Set([...variables, name]);
    for (const body of bodies) this.visit(body, inner);
  }
};
function rootOf(node) {
  if (node.op === "id") return { name: node.args };
  if (node.op !== "call" || node.args[0] === "has" || node.args[1].length !== 1) return void 0;
  const [argument] = node.args[1];
  const literal = argument && literalOf(argument);
  const name = node.args[0];
  const isFunction = ["size", "string", "int", "double", "bool", "timestamp", "duration"].includes(name);
  return typeof literal === "string" && !isFunction ? { name, argument: literal } : void 0;
}
function membersOf(node, variable, into) {
  if (node.op === "." && node.args[0].op === "id" && node.args[0].args === variable) into.add(node.args[1]);
  for (const child of childrenOf(node)) membersOf(child, variable, into);
}
function follow(read2, root) {
  let value = root;
  let text3 = read2.root.name;
  for (const [place, key] of read2.path.entries()) {
    if (value === null || value === void 0) return { value: null, broken: `${text3} is null` };
    const inner = Reflect.get(Object(value), key);
    text3 = place === read2.path.length - 1 ? read2.text : `${text3}.${key}`;
    if (inner === void 0) return { value: null, broken: `${text3} is missing` };
    value = inner;
  }
  if (value === null) return { value, broken: `${text3} is null` };
  return { value: Array.isArray(value) ? value.slice(0, 200).map((item) => show(item, read2.shown)) : value };
}
function show(item, members) {
  if (members.length === 0 || typeof item !== "object" || item === null) return item;
  const object = item;
  const [only] = members;
  if (members.length === 1 && only !== void 0) return object[only] ?? null;
  return Object.fromEntries(members.map((name) => [name, object[name] ?? null]));
}

// src/rules/members.ts
function memberOf(type, name) {
  const found = [];
  let missing2 = false;
  for (const one of alternatives(type)) {
    const inner = memberOfOne(one, name);
    if (inner) found.push(inner);
    else if (one.kind !== "null") missing2 = true;
  }
  return found.length === 0 ? void 0 : { type: unionOf(found), missing: missing2 };
}
function memberOfOne(type, name) {
  if (type.kind === "any") return anyType;
  if (type.kind === "map") return type.value;
  if (type.kind !== "object" || !Object.hasOwn(type.members, name)) return void 0;
  const shape = type.members[name];
  return shape && typeOf(shape);
}
function memberNames(type) {
  const names = alternatives(type).flatMap((one) => one.kind === "object" ? Object.keys(one.members) : []);
  return [...new Set(names)];
}

// src/rules/operators.ts
var number2 = { kind: "number" };
var string2 = { kind: "string" };
var timestamp2 = { kind: "timestamp" };
var duration2 = { kind: "duration" };
function applyOperator(operator, left, right) {
  switch (operator) {
    case "==":
    case "!=":
      return overlaps(left, right) ? { type: boolType } : mismatch(operator, left, right);
    case "<":
    case "<=":
    case ">":
    case ">=":
      return ordered.some((kind) => mayBe(left, [kind]) && mayBe(right, [kind])) ? { type: boolType } : mismatch(operator, left, right);
    case "in":
      return membership(left, right);
    default: {
      const type = resultOf(operator, alternatives(left), alternatives(right));
      return type ? { type } : mismatch(operator, left, right);
    }
  }
}
var ordered = ["number", "string", "timestamp", "duration", "bool"];
function membership(value, list) {
  if (!mayBe(list, ["list", "map", "object"])) {
    const hint = mayBe(list, ["string"]) ? "; text has .contains()" : "";
    return { reason: `in needs a list or a map, this is ${describeType(list)}${hint}`, side: "right" };
  }
  const items = alternatives(list).flatMap((one) => one.kind === "list" ? [one.item] : []);
  const isListAlone = items.length === alternatives(list).length;
  if (!isListAlone || items.some((item2) => overlaps(value, item2))) return { type: boolType };
  const item = describeType(unionOf(items));
  return { reason: `${describeType(value)} cannot be in a list of ${item}`, side: "left" };
}
function mismatch(operator, left, right) {
  const isTimeAndText = mayBe(left, ["timestamp"]) !== mayBe(right, ["timestamp"]) && mayBe(unionOf([left, right]), ["string"]);
  const hint = isTimeAndText ? "; times of the forge are text: timestamp(\u2026) reads them" : "";
  const reason = `"${operator}" cannot have ${describeType(left)} and ${describeType(right)}${hint}`;
  return { reason, side: "both" };
}
function overlaps(left, right) {
  const isOpen = (type) => type.kind === "any" || type.kind === "null";
  return alternatives(left).some(
    (one) => alternatives(right).some((two) => isOpen(one) || isOpen(two) || familyOf2(one) === familyOf2(two))
  );
}
function familyOf2(type) {
  return type.kind === "map" ? "object" : type.kind;
}
var arithmetic = {
  "+": [
    ["number", "number", number2],
    ["string", "string", string2],
    ["list", "list", { kind: "list", item: anyType }],
    ["timestamp", "duration", timestamp2],
    ["duration", "timestamp", timestamp2],
    ["duration", "duration", duration2]
  ],
  "-": [
    ["number", "number", number2],
    ["timestamp", "timestamp", duration2],
    ["timestamp", "duration", timestamp2],
    ["duration", "duration", duration2]
  ],
  "*": [["number", "number", number2]],
  "/": [["number", "number", number2]],
  "%": [["number", "number", number2]]
};
function resultOf(operator, left, right) {
  const fits = (type, kind) => type.kind === kind || type.kind === "any";
  const results = (arithmetic[operator] ?? []).filter(([a, b]) => left.some((type) => fits(type, a)) && right.some((type) => fits(type, b))).map(([, , result]) => result);
  return results.length === 0 ? void 0 : unionOf(results);
}

// src/rules/resolve.ts
var maxLoops = 5;
var Resolver = class {
  problems = [];
  facts = /* @__PURE__ */ new Map();
  patterns = /* @__PURE__ */ new Map();
  types = /* @__PURE__ */ new Map();
  #environment;
  #loops = 0;
  constructor(environment) {
    this.#environment = environment;
  }
  /** Returns the type of the expression; problems are collected on the way. */
  resolve(node, scope) {
    const type = this.#typeOf(node, scope);
    this.types.set(node, type);
    return type;
  }
  #typeOf(node, scope) {
    switch (node.op) {
      case "value":
        return this.#literal(node);
      case "id":
        return this.#name(node, scope);
      case ".":
        return this.#member(node, node.args[0], node.args[1], scope);
      case "[]":
        return this.#index(node, node.args[0], node.args[1], scope);
      case "call":
        return this.#call(node, node.args[0], node.args[1], scope);
      case "rcall":
        return this.#method(node, node.args[0], node.args[1], node.args[2], scope);
      case "list":
        return { kind: "list", item: unionOf(node.args.map((item) => this.resolve(item, scope))) };
      case "map":
        return { kind: "map", value: unionOf(node.args.map((entry) => this.#entry(entry, scope))) };
      case "?:":
        return this.#choice(node.args, scope);
      case "&&":
      case "||":
        this.#bool(node.args[0], scope);
        this.#bool(node.args[1], withPresent(scope, presentAfter(node.args[0], node.op === "&&")));
        return boolType;
      case "!_":
        this.#bool(node.args, scope);
        return boolType;
      case "-_":
        return this.#expect(node.args, ["number"], this.resolve(node.args, scope));
      case ".?":
      case "[?]":
        return this.#refuse(
          node,
          "expression",
          "optional access is not part of this language; ask with has()"
        );
      default:
        return this.#binary(node, node.args, scope);
    }
  }
  #literal(node) {
    const value = node.args;
    if (typeof value === "string") {
      if (value === "CHANGES_REQUESTED") this.#foreign(node, value);
      return { kind: "string" };
    }
    if (typeof value === "boolean") return boolType;
    if (value === null) return { kind: "null" };
    if (typeof value === "bigint" || typeof value === "number") return { kind: "number" };
    return this.#refuse(node, "expression", "bytes and unsigned numbers are not part of this language");
  }
  #foreign(node, word) {
    this.#refuse(node, "value", `the forge does not say "${word}"`, wordOfForge(word));
  }
  #name(node, scope) {
    const name = node.args;
    const variable = scope.variables.get(name);
    if (variable) return variable;
    const known2 = this.#environment.names.get(name);
    if (known2 === void 0) return this.#unknownName(node, name, scope);
    if (known2.refusal !== void 0) return this.#refuse(node, "level", known2.refusal);
    if (known2.fact?.argument !== void 0) {
      return this.#refuse(node, "expression", `${name} needs its ${known2.fact.argument}: ${name}("\u2026")`);
    }
    if (known2.missingOn.length > 0 && !scope.present.has(name)) {
      this.#refuse(
        node,
        "needs-has",
        `${known2.missingOn.join(" and ")} has no ${name}: ask has(${name}) first`
      );
    }
    if (known2.fact) this.facts.set(name, { name });
    return known2.type;
  }
  #unknownName(node, name, scope) {
    const absent = this.#environment.absent.get(name);
    if (absent !== void 0) return this.#refuse(node, "subject", absent);
    const names = [...scope.variables.keys(), ...this.#environment.names.keys()];
    const isFunction = functionNames.includes(name);
    const message = isFunction ? `${name} is a function: write ${name}(\u2026)` : `there is nothing named "${name}"`;
    return this.#refuse(node, "unknown-name", message, isFunction ? void 0 : nearest(name, names));
  }
  #member(node, object, member, scope) {
    const type = this.resolve(object, scope);
    const found = memberOf(type, member);
    const place = { start: node.pos, end: node.end };
    if (found === void 0) {
      const owner = node.input.slice(object.start, object.end);
      const kinds = describeType(type);
      const known2 = memberNames(type);
      const message = known2.length > 0 ? `${owner} has no member "${member}"` : `${owner} is ${kinds}, it has no members`;
      return this.#refuse(place, "unknown-member", message, nearest(member, known2));
    }
    const chain = chainOf(node)?.join(".");
    if (found.missing && !(chain !== void 0 && scope.present.has(chain))) {
      const text3 = node.input.slice(node.start, node.end);
      this.#refuse(place, "needs-has", `not every event of this rule has ${text3}: ask has(${text3}) first`);
    }
    return found.type;
  }
  #index(node, object, index, scope) {
    const type = this.resolve(object, scope);
    const key = this.resolve(index, scope);
    const literal = literalOf(index);
    if (typeof literal === "string" && alternatives(type).some((one) => one.kind === "object")) {
      const found = memberOf(type, literal);
      if (found) return found.type;
      const message = `there is no member "${literal}"`;
      return this.#refuse(index, "unknown-member", message, nearest(literal, memberNames(type)));
    }
    const inside = alternatives(type).flatMap((one) => {
      if (one.kind === "any" || one.kind === "object") return [anyType];
      if (one.kind === "list" && mayBe(key, ["number"])) return [one.item];
      return one.kind === "map" && mayBe(key, ["string"]) ? [one.value] : [];
    });
    if (inside.length > 0) return unionOf(inside);
    return this.#refuse(node, "expression-type", `${describeType(type)} has nothing at ${describeType(key)}`);
  }
  #call(node, name, given, scope) {
    if (name === "has") return this.#has(node, given, scope);
    const known2 = this.#environment.names.get(name);
    if (known2?.fact) return this.#factCall(node, name, given, scope);
    return this.#apply(node, name, void 0, given, scope);
  }
  #has(node, given, scope) {
    const [chainNode] = given;
    const chain = chainNode && chainOf(chainNode);
    if (given.length !== 1 || chainNode === void 0 || chain === void 0) {
      return this.#refuse(
        node,
        "expression",
        "has() takes one name or member, such as has(event.pull_request)"
      );
    }
    const [root = ""] = chain;
    if (chain.length === 1 && !scope.variables.has(root) && !this.#environment.names.has(root)) {
      const absent = this.#environment.absent.has(root);
      if (!absent) this.#unknownName(chainNode, root, scope);
      return boolType;
    }
    const all = new Set(chain.map((_, place) => chain.slice(0, place + 1).join(".")));
    this.resolve(chainNode, withPresent(scope, all));
    return boolType;
  }
  #factCall(node, name, given, scope) {
    const known2 = this.#environment.names.get(name);
    const [argument] = given;
    if (known2 === void 0) return anyType;
    if (known2.refusal !== void 0) return this.#refuse(node, "level", known2.refusal);
    if (known2.fact?.argument === void 0) {
      return this.#refuse(node, "expression", `${name} takes no argument: write ${name}`);
    }
    const literal = argument && literalOf(argument);
    if (given.length !== 1 || typeof literal !== "string") {
      const message = `${name} takes its ${known2.fact.argument} as a literal text: ${name}("\u2026")`;
      return this.#refuse(argument ?? node, "expression", message);
    }
    if (known2.missingOn.length > 0 && !scope.present.has(name)) {
      this.#refuse(node, "needs-has", `${known2.missingOn.join(" and ")} has no ${name}`);
    }
    const request = { name, argument: literal };
    this.facts.set(keyOf(request), request);
    return known2.type;
  }
  #method(node, name, receiver, given, scope) {
    if (Object.hasOwn(loops, name)) return this.#loop(node, name, receiver, given, scope);
    return this.#apply(node, name, receiver, given, scope);
  }
  #loop(node, name, receiver, given, scope) {
    const list = this.resolve(receiver, scope);
    const [variable, ...bodies] = given;
    const takesFilter = name === "map" && bodies.length === 2;
    if (variable?.op !== "id" || bodies.length !== 1 && !takesFilter) {
      return this.#refuse(node, "expression", `${name} takes a name and an expression: list.${name}(x, \u2026)`);
    }
    if (scope.inLoop) return this.#refuse(node, "expression", "a loop must not stand inside of a loop");
    this.#loops += 1;
    if (this.#loops > maxLoops) return this.#refuse(node, "expression", `more than ${maxLoops} loops`);
    if (this.#environment.names.has(variable.args)) {
      this.#refuse(variable, "expression", `"${variable.args}" already means something: choose another name`);
    }
    const items = alternatives(list).flatMap((one) => {
      if (one.kind === "any") return [anyType];
      return one.kind === "list" ? [one.item] : [];
    });
    if (items.length === 0) {
      return this.#refuse(receiver, "expression-type", `${name} needs a list, this is ${describeType(list)}`);
    }
    const item = unionOf(items);
    const inner = {
      variables: new Map([...scope.variables, [variable.args, item]]),
      present: scope.present,
      inLoop: true
    };
    const [first, second] = bodies;
    if (first === void 0) return anyType;
    if (second) this.#bool(first, inner);
    const last = second ?? first;
    const body = name === "map" ? this.resolve(last, inner) : this.#bool(last, inner);
    return loops[name]?.gives(item, body) ?? anyType;
  }
  #apply(node, name, receiver, given, scope) {
    const rows = findFunctions(name, receiver !== void 0);
    if (rows.length === 0) return this.#unknownFunction(node, name, receiver !== void 0);
    const owner = receiver && this.resolve(receiver, scope);
    const types2 = given.map((argument) => this.resolve(argument, scope));
    const row = rows.find((candidate) => accepts(candidate, owner, types2));
    if (row === void 0) {
      const written2 = types2.map(describeType).join(", ");
      const before = owner ? ` of ${describeType(owner)}` : "";
      return this.#refuse(node, "expression-type", `there is no ${name}(${written2})${before}`);
    }
    if (row.outsideLoops && scope.inLoop) {
      this.#refuse(node, "expression", `${name} with these arguments must not stand inside of a loop`);
    }
    this.#checkLiteral(node, row, given[0]);
    return row.gives;
  }
  #checkLiteral(node, row, argument) {
    if (row.literal === void 0 || argument === void 0) return;
    const read2 = readLiteral(row.literal, row.name, argument);
    if ("reason" in read2) this.#refuse(argument, read2.code, read2.reason);
    else if (read2.pattern) this.patterns.set(node, read2.pattern);
  }
  #unknownFunction(node, name, isMethod) {
    const other = findFunctions(name, !isMethod);
    if (other.length > 0 || !isMethod && Object.hasOwn(loops, name)) {
      const usage = isMethod ? `${name}(x)` : `x.${name}(\u2026)`;
      return this.#refuse(node, "expression", `${name} is written ${usage}`);
    }
    const factArgument = this.#environment.absent.get(name);
    if (factArgument !== void 0) return this.#refuse(node, "subject", factArgument);
    const names = [...functionNames, ...isMethod ? [] : this.#environment.names.keys()];
    return this.#refuse(node, "unknown-name", `there is no function "${name}"`, nearest(name, names));
  }
  #entry([key, value], scope) {
    this.#expect(key, ["string"], this.resolve(key, scope));
    return this.resolve(value, scope);
  }
  #choice([condition, then, otherwise], scope) {
    this.#bool(condition, scope);
    return unionOf([
      this.resolve(then, withPresent(scope, presentAfter(condition, true))),
      this.resolve(otherwise, withPresent(scope, presentAfter(condition, false)))
    ]);
  }
  #binary(node, args, scope) {
    if (!Array.isArray(args) || args.length !== 2) {
      return this.#refuse(node, "expression", `"${node.op}" is not part of this language`);
    }
    const [left, right] = args;
    for (const word of foreignActivities(left, right)) this.#foreign(word, String(literalOf(word)));
    const result = applyOperator(node.op, this.resolve(left, scope), this.resolve(right, scope));
    if ("type" in result) return result.type;
    const place = { left, right, both: node }[result.side];
    return this.#refuse(place, "expression-type", result.reason);
  }
  #bool(node, scope) {
    return this.#expect(node, ["bool"], this.resolve(node, scope));
  }
  #expect(node, kinds, type) {
    if (mayBe(type, kinds)) return type;
    const wanted = kinds.map((kind) => describeType(kind === "bool" ? boolType : asType(kind))).join(" or ");
    return this.#refuse(node, "expression-type", `this must be ${wanted}, it is ${describeType(type)}`);
  }
  #refuse(place, code, message, suggestion) {
    this.problems.push({
      code,
      message,
      start: place.start,
      end: place.end,
      ...suggestion !== void 0 && { suggestion }
    });
    return anyType;
  }
};
function accepts(row, owner, given) {
  if (row.takes.length !== given.length) return false;
  if (row.of && owner && !mayBe(owner, row.of)) return false;
  return row.takes.every((kinds, place) => mayBe(given[place] ?? anyType, kinds));
}
function asType(kind) {
  return kind === "number" || kind === "string" ? { kind } : anyType;
}

// src/rules/expression.ts
var maxSource = 2e3;
function resolveExpression(source, environment) {
  const node = parse(source);
  if ("message" in node) return { problems: [node] };
  const resolver = new Resolver(environment);
  const type = resolver.resolve(node, emptyScope);
  return resolver.problems.length > 0 ? { problems: resolver.problems } : { node, type, resolver };
}
function parse(source) {
  const whole = { code: "expression", start: 0, end: source.length };
  if (source.trim() === "") return { ...whole, message: "the expression is empty" };
  if (source.length > maxSource)
    return { ...whole, message: `the expression is longer than ${maxSource} characters` };
  try {
    return written.parse(source).ast;
  } catch (error) {
    if (error instanceof RangeError) return { ...whole, message: "the expression is nested too deep" };
    if (!(error instanceof ParseError2)) return { ...whole, message: messageOf(error) };
    const start = Math.min(error.range?.start ?? 0, source.length);
    const end = Math.max(start, Math.min(error.range?.end ?? start, source.length));
    return { code: "expression", message: explainSyntax(error.summary, source, start), start, end };
  }
}
var limits = {
  AstNodes: "parts",
  Depth: "levels of nesting",
  ListElements: "items in a list",
  MapEntries: "entries in a map",
  CallArguments: "arguments of a function"
};
function explainSyntax(summary, source, at) {
  const near = source.slice(Math.max(0, at - 1), at + 4);
  const word = /^\w+/.exec(source.slice(at))?.[0] ?? "";
  const instead = {
    and: "&&",
    or: "||",
    not: "!",
    AND: "&&",
    OR: "||",
    NOT: "!"
  };
  if (Object.hasOwn(instead, word)) return `"${word}" is written ${instead[word]}`;
  if (/===|!==/.test(near)) return "equality is written == and !=";
  if (/=(?!=)/.test(source.slice(at, at + 1))) return "equality is written ==";
  if (/^&(?!&)|^\|(?!\|)/.test(source.slice(at))) return "and is written &&, or is written ||";
  const limit = /^Exceeded max(\w+) \((\d+)\)/.exec(summary);
  if (limit) return `the expression has more than ${limit[2]} ${limits[limit[1] ?? ""] ?? "parts"}`;
  return summary.charAt(0).toLowerCase() + summary.slice(1);
}
function tooDeep2(source) {
  const message = "the expression is nested too deep";
  return { problems: [{ code: "expression", message, start: 0, end: source.length }] };
}
function createPart(node, resolver) {
  return {
    node,
    text: node.input.slice(node.start, node.end),
    reads: readsOf(node),
    program: createProgram(node, resolver)
  };
}
var Values = class {
  budget = new Budget();
  #knowledge;
  #environment;
  #known = /* @__PURE__ */ new Map();
  constructor(knowledge, environment) {
    this.#knowledge = knowledge;
    this.#environment = environment;
  }
  find(request) {
    const key = keyOf(request);
    if (!this.#known.has(key)) this.#known.set(key, this.#convert(request));
    return this.#known.get(key);
  }
  #convert(request) {
    const known2 = this.#knowledge.find(request);
    if (known2 === void 0 || "error" in known2) return known2;
    return { value: toCel(known2.value, this.#environment.names.get(request.name)?.shape) };
  }
};
function runPart(part, values) {
  const names = /* @__PURE__ */ Object.create(null);
  for (const request of part.reads.needs) {
    const known2 = values.find(request);
    if (known2 === void 0) return { error: `there is no ${keyOf(request)} here` };
    if ("error" in known2) return failure(known2.error);
    if (request.argument === void 0) names[request.name] = known2.value;
  }
  for (const { name } of part.reads.asks) {
    const known2 = values.find({ name });
    if (known2 && "value" in known2) names[name] ??= known2.value;
    else if (known2 && !isAbsence(known2.error)) return failure(known2.error);
  }
  const facts2 = part.program.calls.map((call) => {
    const known2 = values.find(call);
    return known2 && "value" in known2 ? known2.value : void 0;
  });
  try {
    return { value: part.program.run(names, facts2, values.budget) };
  } catch (error) {
    return { error: explain2(error, part, values) };
  }
}
function isAbsence(error) {
  return error instanceof ReeveError && error.code === "forge-not-found";
}
function failure(cause) {
  return { error: cause.message, cause };
}
function explain2(error, part, values) {
  if (error instanceof TooLargeToJudge) return error.message;
  const summary = error instanceof Error && "summary" in error ? String(error.summary) : messageOf(error);
  if (summary.includes("TooLarge")) return `too large to judge: ${largeOf(part, values)}`;
  return brokenChain(part, values) ?? summary;
}
function largeOf(part, values) {
  const texts = Object.entries(readingsOf(part, values)).filter(
    ([, value]) => /^\(a (list|text) of /.test(String(value))
  );
  return texts.map(([name, value]) => `${name} is ${String(value).slice(1, -1)}`).join(", ") || "a list or a text";
}
function brokenChain(part, values) {
  for (const read2 of part.reads.reads) {
    const known2 = values.find(read2.root);
    const broken = known2 && "value" in known2 ? follow(read2, known2.value).broken : void 0;
    if (broken !== void 0) return broken;
  }
  return void 0;
}
function readingsOf(part, values) {
  const readings = {};
  for (const read2 of part.reads.reads) {
    const known2 = values.find(read2.root);
    if (known2 && "value" in known2) readings[read2.text] = toReading(follow(read2, known2.value).value);
  }
  return readings;
}

// src/rules/conditions.ts
function compileCondition(source, environment, place) {
  const resolved = resolveExpression(source, environment);
  if ("problems" in resolved) return resolved;
  const { node, type, resolver } = resolved;
  if (!mayBe(type, ["bool"])) {
    const message = `a condition must be ${describeType(boolType)}, this is ${describeType(type)}`;
    return { problems: [{ code: "expression-type", message, start: 0, end: source.length }] };
  }
  const plant = (leaf) => ({
    kind: "leaf",
    part: createPart(leaf, resolver),
    where: { file: place.file, ...place.at(leaf.start) }
  });
  const tree = unlessTooDeep(() => treeOf(node, plant));
  if (tree === void 0) return tooDeep2(source);
  const leaves = leavesOf(tree);
  const problems = leaves.flatMap(({ part }) => checkPart(part));
  if (problems.length > 0) return { problems };
  const facts2 = [...resolver.facts.values()];
  const evaluate2 = (knowledge) => ask(tree, leaves, new Values(knowledge, environment));
  return { condition: { source, facts: facts2, evaluate: evaluate2 } };
}
function checkPart(part) {
  const wrong = part.program.check();
  if (wrong === void 0) return [];
  return [{ code: "expression-type", message: wrong.message, start: part.node.start, end: part.node.end }];
}
function treeOf(node, plant) {
  switch (node.op) {
    case "&&":
    case "||":
      return { kind: node.op, left: treeOf(node.args[0], plant), right: treeOf(node.args[1], plant) };
    case "!_":
      return { kind: "!", inner: treeOf(node.args, plant) };
    case "?:": {
      const [condition, held, missed] = node.args;
      return {
        kind: "?:",
        condition: treeOf(condition, plant),
        held: treeOf(held, plant),
        missed: treeOf(missed, plant)
      };
    }
    default:
      return plant(node);
  }
}
function leavesOf(tree) {
  switch (tree.kind) {
    case "leaf":
      return [tree];
    case "!":
      return leavesOf(tree.inner);
    case "?:":
      return [...leavesOf(tree.condition), ...leavesOf(tree.held), ...leavesOf(tree.missed)];
    default:
      return [...leavesOf(tree.left), ...leavesOf(tree.right)];
  }
}
function ask(tree, leaves, values) {
  const answers = /* @__PURE__ */ new Map();
  const truth = truthOf(tree, (leaf) => {
    const answer = answerOf(leaf.part, values);
    answers.set(leaf, answer);
    return answer.truth;
  });
  const findings = leaves.map((leaf) => findingOf(leaf, answers.get(leaf), values));
  if (truth !== "error") return { result: truth ? "held" : "not", findings };
  const failed = [...answers.entries()].filter(([, answer]) => answer.truth === "error");
  const [first] = failed;
  const reason = first ? `${first[0].part.text}: ${first[1].error}` : "it could not be known";
  const causes = failed.flatMap(([, { cause: cause2 }]) => cause2 ? [cause2] : []);
  const cause = causes.find((one) => one instanceof ReeveError && one.keepsWork) ?? causes[0];
  return { result: "error", findings, reason, ...cause && { cause } };
}
function truthOf(tree, answer) {
  switch (tree.kind) {
    case "leaf":
      return answer(tree);
    case "!": {
      const inner = truthOf(tree.inner, answer);
      return inner === "error" ? "error" : !inner;
    }
    case "?:": {
      const condition = truthOf(tree.condition, answer);
      if (condition === "error") return "error";
      return truthOf(condition ? tree.held : tree.missed, answer);
    }
    default: {
      const decides = tree.kind === "||";
      const left = truthOf(tree.left, answer);
      if (left === decides) return decides;
      const right = truthOf(tree.right, answer);
      if (right === decides) return decides;
      return left === "error" || right === "error" ? "error" : !decides;
    }
  }
}
function answerOf(part, values) {
  const result = runPart(part, values);
  if ("error" in result) return { truth: "error", ...result };
  if (typeof result.value === "boolean") return { truth: result.value };
  return { truth: "error", error: `${part.text} is ${result.value === null ? "null" : "not true or false"}` };
}
function findingOf({ part, where: place }, answer, values) {
  const where = { expression: part.text, ...place };
  if (answer === void 0) return { ...where, result: "unevaluated", values: {} };
  const seen = readingsOf(part, values);
  if (answer.truth === "error")
    return { ...where, result: "error", values: { ...seen, error: answer.error } };
  return { ...where, result: answer.truth ? "held" : "not", values: seen };
}

// src/rules/template.ts
var opening = "${{";
var maxInserted = 1024;
function hasTemplate(text3) {
  return text3.includes(opening);
}
function compileTemplate(source, environment) {
  const split = splitTemplate(source);
  if ("problems" in split) return split;
  const problems = [];
  const facts2 = [];
  const pieces = split.pieces.map((piece) => {
    if (typeof piece === "string") return piece;
    const compiled = compilePiece(piece, environment);
    if ("problems" in compiled) {
      problems.push(...compiled.problems);
      return "";
    }
    facts2.push(...compiled.facts);
    return compiled.part;
  });
  if (problems.length > 0) return { problems };
  const fill = (knowledge) => fillPieces(pieces, new Values(knowledge, environment));
  return { template: { source, facts: facts2, fill } };
}
function splitTemplate(source) {
  const pieces = [];
  let literal = "";
  let at = 0;
  while (at < source.length) {
    if (source.startsWith(`$${opening}`, at)) {
      literal += opening;
      at += opening.length + 1;
    } else if (source.startsWith(opening, at)) {
      const end = findEnd(source, at + opening.length);
      if (end === void 0) {
        const message = `this ${opening} is never closed by }}; a literal one is written $${opening}`;
        return { problems: [{ code: "template", message, start: at, end: source.length }] };
      }
      if (literal !== "") pieces.push(literal);
      literal = "";
      pieces.push({ expression: source.slice(at + opening.length, end), offset: at + opening.length });
      at = end + 2;
    } else {
      literal += source[at];
      at += 1;
    }
  }
  if (literal !== "" || pieces.length === 0) pieces.push(literal);
  return { pieces };
}
function findEnd(source, from2) {
  let depth = 0;
  for (let at = from2; at < source.length; at += 1) {
    const sign = source[at];
    if (sign === '"' || sign === "'") {
      const closed = endOfText(source, at);
      if (closed === void 0) return void 0;
      at = closed;
    } else if (sign === "{") depth += 1;
    else if (sign === "}" && depth > 0) depth -= 1;
    else if (sign === "}" && source[at + 1] === "}") return at;
  }
  return void 0;
}
function endOfText(source, from2) {
  for (let at = from2 + 1; at < source.length; at += 1) {
    if (source[at] === "\\") at += 1;
    else if (source[at] === source[from2]) return at;
  }
  return void 0;
}
function compilePiece(piece, environment) {
  const shift = (problem) => ({
    ...problem,
    start: problem.start + piece.offset,
    end: problem.end + piece.offset
  });
  const resolved = resolveExpression(piece.expression, environment);
  if ("problems" in resolved) return { problems: resolved.problems.map(shift) };
  const { node, type, resolver } = resolved;
  if (!mayBe(type, ["string", "number", "bool"])) {
    const message = "only text, numbers and true or false can be inserted";
    return { problems: [shift({ code: "expression-type", message, start: node.start, end: node.end })] };
  }
  const part = unlessTooDeep(() => createPart(node, resolver));
  if (part === void 0) return tooDeep2(piece.expression);
  const problems = checkPart(part);
  if (problems.length > 0) return { problems: problems.map(shift) };
  return { part, facts: [...resolver.facts.values()] };
}
function fillPieces(pieces, values) {
  const [only] = pieces;
  if (pieces.length === 1 && typeof only === "object") return insert(only, values);
  let text3 = "";
  for (const piece of pieces) {
    if (typeof piece === "string") {
      text3 += piece;
      continue;
    }
    const inserted = insert(piece, values);
    if ("error" in inserted) return inserted;
    text3 += String(inserted.value);
  }
  return { value: text3 };
}
function insert(part, values) {
  const result = runPart(part, values);
  if ("error" in result) return { ...result, error: `${part.text}: ${result.error}` };
  const { value } = result;
  if (typeof value === "string") return { value: harmless(value) };
  if (typeof value === "boolean" || typeof value === "number") return { value };
  if (typeof value === "bigint") return { value: Number(value) };
  return {
    error: `${part.text} is ${value === null ? "null" : "no text, number or bool"} and cannot be inserted`
  };
}
var unwanted = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
function harmless(text3) {
  const clean = text3.replace(/\s*[\r\n\u2028\u2029]\s*|\t/g, " ").replace(unwanted, "").toWellFormed();
  const short = clean.length > maxInserted ? cutToBytes(clean) : shortEnough(clean);
  return short.replace(/(?<![\w.+/-])@(?=[\w-])/g, "@\u200B");
}
function shortEnough(text3) {
  return Buffer.byteLength(text3) > maxInserted ? cutToBytes(text3) : text3;
}
function cutToBytes(text3) {
  const bytes = Buffer.from(text3.slice(0, maxInserted), "utf8").subarray(0, maxInserted - 3);
  return `${bytes.toString("utf8").replace(/\ufffd+$/, "")}\u2026`;
}

// src/rules/arguments.ts
function compileArguments(written2, schema, environment, placeOf) {
  const problems = [];
  const slots = [];
  for (const found of textsOf(written2, schema, [])) {
    const compiled = compileText(found, environment, placeOf);
    if (compiled === void 0) continue;
    if ("problems" in compiled) {
      problems.push(...compiled.problems.map((problem) => ({ path: found.path, problem })));
    } else {
      slots.push({ path: found.path, schema: found.schema, fills: compiled });
    }
  }
  if (problems.length > 0) return { problems };
  const facts2 = slots.flatMap(({ fills }) => ("condition" in fills ? fills.condition : fills.template).facts);
  return { arguments: { written: written2, facts: facts2, resolve: (knowledge) => resolveSlots(written2, slots, knowledge) } };
}
function* textsOf(value, schema, path) {
  const inner = schema && unwrap2(schema, value);
  if (typeof value === "string") {
    if (schema && inner) yield { path, text: value, schema, holds: inner.meta()?.holds };
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const definition = inner && definitionOf(inner);
  for (const [key, member] of Object.entries(value)) {
    const step = Array.isArray(value) ? Number(key) : key;
    const shape = definition?.shape?.[key] ?? definition?.element ?? definition?.valueType;
    yield* textsOf(member, shape, [...path, step]);
  }
}
function unwrap2(schema, value) {
  let current2 = schema;
  for (let step = 0; step < 16 && current2.meta()?.holds === void 0; step += 1) {
    const { innerType, in: before, options, getter } = definitionOf(current2);
    const fitting2 = options?.find((option) => option.safeParse(value).success);
    const next = innerType ?? before ?? fitting2 ?? getter?.();
    if (next === void 0) break;
    current2 = next;
  }
  return current2;
}
function compileText({ path, text: text3, holds }, environment, placeOf) {
  if (holds === "condition") {
    const braces = bracesProblem(text3);
    return braces ? { problems: [braces] } : compileCondition(text3, environment, placeOf(path));
  }
  if (!hasTemplate(text3)) return void 0;
  if (holds === "template") return compileTemplate(text3, environment);
  const message = `no ${opening} }} here: this argument is taken as it is written`;
  const start = text3.indexOf(opening);
  return { problems: [{ code: "template", message, start, end: text3.length }] };
}
function bracesProblem(text3) {
  const start = text3.indexOf(opening);
  if (start < 0) return void 0;
  const message = `a condition is an expression already: leave out ${opening} and }}`;
  return { code: "template", message, start, end: text3.length };
}
function resolveSlots(written2, slots, knowledge) {
  const findings = [];
  const failures = [];
  const values = /* @__PURE__ */ new Map();
  for (const { path, schema, fills } of slots) {
    const name = path.join(".");
    if ("condition" in fills) {
      const answer = fills.condition.evaluate(knowledge);
      findings.push(...answer.findings);
      if (answer.result === "error")
        failures.push({ reason: `${name}: ${answer.reason}`, ...causeOf(answer) });
      else values.set(JSON.stringify(path), answer.result === "held");
    } else {
      const filled = fills.template.fill(knowledge);
      if ("error" in filled) failures.push({ reason: `${name}: ${filled.error}`, ...causeOf(filled) });
      else values.set(JSON.stringify(path), fitting(filled.value, schema));
    }
  }
  const failure2 = failures.find(({ cause }) => cause instanceof ReeveError && cause.keepsWork) ?? failures[0];
  if (failure2) return { findings, ok: false, ...failure2 };
  return { findings, ok: true, value: slots.length === 0 ? written2 : replace(written2, values, []) };
}
function causeOf({ cause }) {
  return cause === void 0 ? {} : { cause };
}
function fitting(value, schema) {
  return typeof value === "string" || schema.safeParse(value).success ? value : String(value);
}
function replace(value, values, path) {
  const key = JSON.stringify(path);
  if (values.has(key)) return values.get(key);
  if (Array.isArray(value)) return value.map((item, place) => replace(item, values, [...path, place]));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, replace(member, values, [...path, name])])
  );
}

// src/rules/load-step.ts
function loadStep(form, number3, at, options) {
  const { context, environment, occasions } = options;
  const before = context.problems.length;
  const condition = loadCondition(form.if, [...at, "if"], context, environment);
  const action = findAction(form.uses, [...at, "uses"], context);
  if (action === void 0) return void 0;
  checkPowers(action, form, at, context);
  checkSubjects(action, at, context, occasions);
  const given = loadArguments(action, form.with ?? {}, [...at, "with"], context, environment);
  if (given === void 0 || context.problems.length > before) return void 0;
  return {
    name: form.name ?? `${number3} ${action.name}`,
    action,
    arguments: given,
    line: context.file.lineOf(context.file.valueAt(at).start).line,
    ...condition && { condition }
  };
}
function loadCondition(written2, at, context, environment) {
  if (written2 === void 0 || environment === void 0) return void 0;
  const text3 = String(written2);
  const braces = bracesProblem(text3);
  const compiled = braces ? { problems: [braces] } : compileCondition(text3, environment, placeIn(context, at));
  if ("condition" in compiled) return compiled.condition;
  for (const problem of compiled.problems) context.reportInside(at, problem);
  return void 0;
}
function placeIn(context, at) {
  return { file: context.path, at: (offset) => context.file.lineOf(context.file.inside(at, offset)) };
}
function findAction(name, at, context) {
  const action = context.registry.actions.find((one) => one.name === name);
  if (action) return action;
  const known2 = context.registry.actions.map((one) => one.name);
  const isTemplate = hasTemplate(name);
  const message = isTemplate ? "uses takes no expression: name the action" : `there is no action "${name}"`;
  context.reportValue(at, isTemplate ? "template" : "unknown-action", message, nearest(name, known2));
  return void 0;
}
function checkPowers(action, form, at, context) {
  const { level } = context;
  if (level === "operator" || context.grants.includes(action.name)) return;
  if (!action.granted) {
    const granted = context.registry.actions.filter((one) => one.granted).map((one) => one.name);
    const message = `files of the ${level} may not use ${action.name} without the operator's grant; they may use ${granted.join(", ")}`;
    context.reportValue([...at, "uses"], "level", message);
    return;
  }
  for (const name of action.operatorOnly ?? []) {
    const path = name.split(".");
    if (!has(form.with, path)) continue;
    const message = `files of the ${level} may not say ${name} of ${action.name} without the operator's grant`;
    context.reportKey([...at, "with", ...path], "level", message);
  }
}
function has(value, path) {
  let inner = value;
  for (const name of path) {
    if (typeof inner !== "object" || inner === null || !Object.hasOwn(inner, name)) return false;
    inner = Reflect.get(inner, name);
  }
  return inner !== void 0;
}
function checkSubjects(action, at, context, occasions) {
  const wrong = [...new Set(occasions.map(({ subject }) => subject))].filter(
    (subject) => !action.of.includes(subject)
  );
  if (wrong.length === 0) return;
  const message = `${action.name} works on ${action.of.join(", ")}; this rule is also about ${wrong.join(", ")}`;
  context.reportValue(
    [...at, "uses"],
    "subject",
    message.replace("also ", occasions.length > 1 ? "also " : "")
  );
}
function loadArguments(action, written2, at, context, environment) {
  const schema = action.arguments;
  const parsed = schema.safeParse(written2);
  if (!parsed.success) {
    for (const problem of problemsOf(written2, schema, context.file, at, "argument")) context.add(problem);
  } else {
    for (const { path, message } of action.examine?.(parsed.data) ?? []) {
      context.reportValue([...at, ...path], "argument", message);
    }
  }
  if (environment === void 0) return void 0;
  const value = parsed.success ? parsed.data : written2;
  const placeOf = (path) => placeIn(context, [...at, ...path]);
  const compiled = compileArguments(value, schema, environment, placeOf);
  if ("arguments" in compiled) return parsed.success ? compiled.arguments : void 0;
  for (const { path, problem } of compiled.problems) context.reportInside([...at, ...path], problem);
  return void 0;
}

// src/rules/load-rule.ts
function loadDefaults(value, context) {
  const file = asRecord(value);
  const mode = RuleModeWord.safeParse(file.mode);
  const changes = asRecord(file.limits).changes;
  const scope = loadScope(file.in, ["in"], context);
  return {
    mode: mode.success ? mode.data : "enforce",
    ...typeof changes === "number" && { changes },
    ...scope && { scope }
  };
}
function loadRule(name, value, defaults, context) {
  const at = ["rules", name];
  const before = context.problems.length;
  const rule = asRecord(value);
  const scope = loadScope(rule.in, [...at, "in"], context);
  const mode = loadMode(rule.mode, defaults.mode, [...at, "mode"], context);
  const changes = loadLimit(
    asRecord(rule.limits).changes,
    defaults.changes,
    [...at, "limits", "changes"],
    context
  );
  const on = On.safeParse(rule.on);
  const heard = on.success ? readOn(on.data, [...at, "on"], context) : { on: [], schedules: [] };
  const each = loadEach(rule.each, heard, at, context);
  const occasions = occasionsOf(heard, each);
  const environment = on.success && occasions.length > 0 ? context.environment(occasions) : void 0;
  const written2 = Expression.safeParse(rule.if);
  const condition = written2.success ? loadCondition(written2.data, [...at, "if"], context, environment) : void 0;
  const steps = [];
  for (const [place, form] of asList(rule.steps).entries()) {
    const parsed = StepForm.safeParse(form);
    if (!parsed.success) continue;
    const options = { context, environment, occasions };
    const step = loadStep(parsed.data, place + 1, [...at, "steps", place], options);
    if (step) steps.push(step);
  }
  if (environment === void 0 || context.problems.length > before) return void 0;
  const scopes = [defaults.scope, scope].filter((one) => one !== void 0);
  return {
    id: `${context.path}#${name}`,
    name,
    source: context.path,
    level: context.level,
    commit: context.commit,
    line: context.file.lineOf(context.file.keyAt(at).start).line,
    mode,
    limits: changes === void 0 ? {} : { changes },
    scopes,
    on: heard.on,
    schedules: heard.schedules,
    steps,
    facts: factsOf(heard, condition?.facts ?? [], steps),
    ...typeof rule.description === "string" && { description: rule.description },
    ...each && { each },
    ...condition && { condition }
  };
}
function loadScope(written2, at, context) {
  if (written2 === void 0) return void 0;
  if (context.level === "repository") {
    context.reportKey(
      at,
      "level",
      "files of the repository have no `in`: they are about that repository alone"
    );
    return void 0;
  }
  const list = typeof written2 === "string" ? [written2] : asList(written2);
  const texts = list.filter((entry) => typeof entry === "string");
  if (texts.length === 0 || texts.length !== list.length) return void 0;
  return readPattern2(texts, at, context, createScope);
}
function loadMode(written2, ofFile, at, context) {
  if (written2 === "enforce" && ofFile === "observe") {
    context.reportValue(at, "stricter", "the file says observe: a rule of it cannot say enforce");
  }
  return written2 === "observe" ? "observe" : ofFile;
}
function loadLimit(written2, ofFile, at, context) {
  if (typeof written2 !== "number") return ofFile;
  if (ofFile !== void 0 && written2 > ofFile) {
    context.reportValue(
      at,
      "stricter",
      `the file allows ${ofFile} changes: a rule of it cannot allow ${written2}`
    );
  }
  return Math.min(written2, ofFile ?? written2);
}
var eachBelowOperator = ["pull_request", "issue", "branch"];
function loadEach(written2, heard, at, context) {
  const parsed = EachForm.safeParse(written2);
  if (!parsed.success) {
    if (written2 === void 0 && heard.schedules.length > 0) {
      context.reportKey([...at, "on"], "each", "a schedule needs `each`: what it walks over");
    }
    return void 0;
  }
  const each = eachOf(parsed.data);
  if (context.level !== "operator" && !eachBelowOperator.includes(each.kind)) {
    const message = `files of the ${context.level} walk over ${eachBelowOperator.join(", ")} only`;
    context.reportValue([...at, "each"], "level", message);
  }
  for (const { family } of heard.on) {
    const { subject } = eventFamilies[family];
    if (subject === each.kind) continue;
    const message = `events of ${family} are about a ${subject}, not a ${each.kind}: make it two rules`;
    context.reportValue([...at, "each"], "each", message);
    break;
  }
  return each;
}
function eachOf(written2) {
  if (typeof written2 === "string") {
    const hasState = written2 === "pull_request" || written2 === "issue";
    return { kind: written2, ...hasState && { state: "open" } };
  }
  const [kind = "repository", filter] = Object.entries(written2 ?? {})[0] ?? [];
  return { kind, state: filter?.state ?? "open" };
}
function occasionsOf(heard, each) {
  const families = [...new Set(heard.on.map(({ family }) => family))];
  const events = families.map((family) => ({ family, subject: eventFamilies[family].subject }));
  return heard.schedules.length > 0 && each ? [...events, { subject: each.kind }] : events;
}
function factsOf(heard, ofCondition, steps) {
  const filtered = heard.on.some(({ paths, pathsIgnore }) => paths || pathsIgnore);
  const all = [
    ...filtered ? [{ name: "files" }] : [],
    ...ofCondition,
    ...steps.flatMap((step) => [...step.condition?.facts ?? [], ...step.arguments.facts])
  ];
  return [...new Map(all.map((request) => [keyOf(request), request])).values()];
}
function asRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
function asList(value) {
  return Array.isArray(value) ? value : [];
}

// src/rules/load.ts
function isRuleFileName(path) {
  return path.endsWith(".yml") && !path.endsWith(".test.yml");
}
function loadRuleFile(source) {
  const file = readYaml(source.path, source.text);
  const context = new FileContext(source, file);
  if (!isRuleFileName(source.path)) {
    const message = source.path.endsWith(".test.yml") ? "this is a rule test: it is never loaded as rules" : "files of rules end in .yml";
    context.add(file.problem("file-name", message, { start: 0, end: 1 }));
  }
  const rules = file.readable ? loadValue(file.value, context) : [];
  if (context.problems.length === 0) return { rules, problems: [] };
  const problems = context.problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
  return { rules: [], problems };
}
function loadValue(value, context) {
  for (const problem of problemsOf(value, RuleFile, context.file, [])) context.add(problem);
  const defaults = loadDefaults(value, context);
  const written2 = typeof value === "object" && value !== null && "rules" in value ? value.rules : void 0;
  if (typeof written2 !== "object" || written2 === null || Array.isArray(written2)) return [];
  const entries = Object.entries(written2);
  if (entries.length > maxRules) {
    context.reportKey(
      ["rules"],
      "value",
      `a file has at most ${maxRules} rules, this one has ${entries.length}`
    );
  }
  return entries.slice(0, maxRules).flatMap(([name, rule]) => loadRule(name, rule, defaults, context) ?? []);
}

// src/contract/payloads.ts
import { z } from "zod";
var from = resource({}, { from: text });
var Changes = resource({}, { title: from, body: from, ref: from });
var subjectEvent = {
  action: text,
  number: int,
  repository: Repository,
  sender: User
};
var pullEvent = {
  ...subjectEvent,
  pull_request: PullRequest
};
var extraOfPull = {
  changes: Changes,
  /** Heads before and after a push (`synchronized`), since 1.27. */
  before: text,
  after: text,
  requested_reviewer: User,
  review: resource({}, { type: text, content: text }),
  commit_id: text,
  /** True where Reeve found the event by reading, having missed the delivery. */
  caught_up: flag
};
var PullRequestPayload = resource(pullEvent, extraOfPull);
var CommentPayload = resource(
  { action: text, issue: Issue, comment: Comment, repository: Repository, sender: User },
  { pull_request: PullRequest, changes: Changes, is_pull: flag }
);
var Release = resource(
  { id: int, tag_name: text },
  {
    target_commitish: text,
    name: text,
    body: text,
    url: text,
    html_url: text,
    tarball_url: text,
    zipball_url: text,
    upload_url: text,
    draft: flag,
    prerelease: flag,
    created_at: instant,
    published_at: instant,
    author: User,
    assets: z.array(Attachment)
  }
);
var Package = resource(
  { id: int, type: text, name: text, version: text },
  { owner: User, repository: Repository, creator: User, html_url: text, created_at: instant }
);
var Workflow = resource(
  { name: text },
  {
    id: text,
    path: text,
    state: text,
    url: text,
    html_url: text,
    badge_url: text,
    created_at: instant,
    updated_at: instant,
    deleted_at: instant
  }
);
var WorkflowRun = resource(
  { id: int, head_sha: text, status: text },
  {
    url: text,
    html_url: text,
    display_title: text,
    path: text,
    event: text,
    run_attempt: int,
    run_number: int,
    head_branch: text,
    conclusion: text,
    actor: User,
    trigger_actor: User,
    /** Since 1.27; null for a first attempt. */
    previous_attempt_url: text,
    pull_requests: z.array(resource({}, { id: int, number: int, url: text })),
    repository: Repository,
    head_repository: Repository,
    started_at: instant,
    completed_at: instant
  }
);
var WorkflowJob = resource(
  { id: int, name: text, status: text },
  {
    url: text,
    html_url: text,
    run_id: int,
    run_url: text,
    labels: z.array(text),
    run_attempt: int,
    head_sha: text,
    head_branch: text,
    conclusion: text,
    runner_id: int,
    runner_name: text,
    steps: z.array(
      resource(
        { name: text },
        { number: int, status: text, conclusion: text, started_at: instant, completed_at: instant }
      )
    ),
    created_at: instant,
    started_at: instant,
    completed_at: instant
  }
);
var ActionRun = resource(
  {
    action: text,
    run: resource({ id: int }, { title: text, status: text, event: text, repository: Repository })
  },
  { prior_status: text, sender: User }
);
var inRepository = { repository: Repository, sender: User };
var payloadShapes = {
  pull_request: PullRequestPayload,
  pull_request_review: PullRequestPayload,
  issues: resource({ ...subjectEvent, issue: Issue }, { changes: Changes, commit_id: text, caught_up: flag }),
  issue_comment: CommentPayload,
  pull_request_comment: CommentPayload,
  push: resource(
    { ref: text, before: text, after: text, repository: Repository, sender: User },
    {
      compare_url: text,
      commits: z.array(Commit),
      /** The real number, though `commits` is cut at 5 (Forgejo 15). */
      total_commits: int,
      head_commit: Commit,
      pusher: User,
      caught_up: flag
    }
  ),
  create: resource({ ref: text, ref_type: text, ...inRepository }, { sha: text, caught_up: flag }),
  delete: resource({ ref: text, ref_type: text, ...inRepository }, { pusher_type: text, caught_up: flag }),
  fork: resource({ forkee: Repository, ...inRepository }, {}),
  /** `organization` is the owner in the shape of an account, even a person. */
  repository: resource({ action: text, ...inRepository }, { organization: User }),
  release: resource({ action: text, release: Release, ...inRepository }, {}),
  wiki: resource({ action: text, page: text, ...inRepository }, { comment: text }),
  package: resource({ action: text, package: Package, sender: User }, { organization: Organization }),
  status: resource(
    { sha: text, state: text, ...inRepository },
    {
      commit: Commit,
      context: text,
      description: text,
      id: int,
      target_url: text,
      created_at: instant,
      updated_at: instant
    }
  ),
  workflow_run: resource(
    { action: text, workflow_run: WorkflowRun, ...inRepository },
    { workflow: Workflow, organization: Organization }
  ),
  workflow_job: resource(
    { action: text, workflow_job: WorkflowJob, ...inRepository },
    { organization: Organization }
  ),
  action_run_failure: ActionRun,
  action_run_recover: ActionRun,
  action_run_success: ActionRun
};

// src/contract/runner-item.ts
import { z as z2 } from "zod";
var length = z2.number().meta({ holds: "duration" });
var RunnerItem = z2.object({
  id: int,
  name: text,
  /** `online`, `offline`, or once `gone` where it is no longer listed. */
  status: z2.enum(["online", "offline", "gone"]),
  busy: flag,
  disabled: flag,
  labels: z2.array(z2.object({ name: text })),
  /** Where it is registered: organization, repository, user, instance. */
  level: z2.enum(["organization", "repository", "user", "instance"]),
  /** The organization, the repository's full name or the account; empty for the instance's. */
  owner: text,
  /** How long it has been offline, as far as Reeve saw; zero while it is not. */
  offline_for: length,
  /** How long it has been online without work, as far as Reeve saw; zero while it works or is offline. */
  idle_for: length,
  /** Changes between online and offline within the last hour. */
  flaps: int
});

// src/rules/registry.ts
var registry = {
  facts,
  actions,
  payloads: payloadShapes,
  variables: { sender: User, runner: RunnerItem }
};

// src/sources/paths.ts
var repositoryPaths = [".reeve.yml", ".forgejo/reeve.yml", ".gitea/reeve.yml"];
function levelOf(path) {
  const name = path.replaceAll("\\", "/");
  return repositoryPaths.some((known2) => name === known2 || name.endsWith(`/${known2}`)) ? "repository" : "operator";
}

// src/sources/folder.ts
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative } from "node:path";
async function findRuleFiles(paths) {
  const found = [];
  for (const path of paths) {
    const about = await stat(path).catch((cause) => {
      throw new ReeveError("usage", `${path} cannot be read: ${messageOf(cause)}`, { cause });
    });
    if (about.isDirectory()) found.push(...await inFolder(path));
    else found.push(path);
  }
  return found;
}
async function inFolder(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name) && !/\.test\.ya?ml$/.test(entry.name)).map((entry) => join(entry.parentPath, entry.name)).filter(
    (path) => !relative(folder, path).split("/").some((part) => part.startsWith(".") || part === "node_modules")
  ).toSorted();
}
async function loadRuleFiles(paths) {
  const found = await findRuleFiles(paths);
  return Promise.all(
    found.map(async (path) => {
      const text3 = await readFile(path, "utf8");
      return { path, ...loadRuleFile({ path, text: text3, level: levelOf(path), commit: "", registry }) };
    })
  );
}

export {
  readYaml,
  problemsOf,
  isRuleFileName,
  loadRuleFile,
  registry,
  repositoryPaths,
  findRuleFiles,
  loadRuleFiles
};

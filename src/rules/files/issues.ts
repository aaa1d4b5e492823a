import type { z } from 'zod';
import { activitiesOf, eventFamilies, type Family, familyOf } from '../../contract/events/event-families.ts';
import { opening } from '../expressions/template.ts';
import { definitionOf } from '../expressions/types.ts';
import { foreignEventWords, keysElsewhere, typesElsewhere } from '../foreign-words.ts';
import { nearest, type Problem, type ProblemCode, withHint } from '../problem.ts';
import { maxProblems, type YamlPath, type YamlSource } from './yaml-source.ts';

/** Text of a message about a wrong value. */
type Wording = {
  readonly code: ProblemCode;
  readonly message: string;
  readonly suggestion?: string | undefined;
  /** The text that replaces the whole value, if the suggestion is only a part of it, or a remedy in the message is it. */
  readonly text?: string | undefined;
};

/** An explained schema issue: its path, its message, and whether the key or the value is wrong. */
type Explained = Wording & { readonly path: YamlPath; readonly atKey?: boolean };

/**
 * Returns the schema issues of a value as problems with Reeve's messages and positions. `at` is the path of the value
 * in the file.
 */
export function problemsOf(
  value: unknown,
  schema: z.ZodType,
  file: YamlSource,
  at: YamlPath,
  { fallback, actions = [] }: { readonly fallback?: ProblemCode; readonly actions?: readonly string[] } = {},
): readonly Problem[] {
  const result = schema.safeParse(value);
  if (result.success) return [];
  const issues = result.error.issues.slice(0, maxProblems).flatMap((issue) => flatten(issue, value, []));
  return issues
    .flatMap(({ issue, path }) => explainSchemaIssue(issue, path, { value, schema, at, actions }))
    .map((found) => {
      const path = [...at, ...found.path];
      const span = found.atKey ? file.keyAt(path) : file.valueAt(path);
      // A wrong type or value gets the code of the caller, if given: `argument` for the arguments of an action.
      const code = fallback && (found.code === 'type' || found.code === 'value') ? fallback : found.code;
      const fix = found.text === undefined ? undefined : { ...span, text: found.text };
      return file.problem(code, found.message, span, found.suggestion, fix);
    });
}

/** Input for explaining an issue: the value, its schema, its path, and the available actions. */
type Examined = {
  readonly value: unknown;
  readonly schema: z.ZodType;
  readonly at: YamlPath;
  readonly actions: readonly string[];
};

type SchemaIssue = z.core.$ZodIssue;
type Placed = { readonly issue: SchemaIssue; readonly path: YamlPath };

/**
 * Returns the issue itself or, for a union, the issues of the alternative that is nearest to the value: one of the same
 * type if there is any, then the one with the deepest and the fewest issues.
 */
function flatten(issue: SchemaIssue, value: unknown, before: YamlPath): readonly Placed[] {
  const path = [...before, ...(issue.path as YamlPath)];
  if (issue.code !== 'invalid_union') return [{ issue, path }];
  const branches = issue.errors.map((errors) => errors.flatMap((inner) => flatten(inner, value, path)));
  const best = branches.toSorted((a, b) => scoreOf(b, path.length) - scoreOf(a, path.length))[0];
  return best && best.length > 0 ? best : [{ issue, path }];
}

function scoreOf(branch: readonly Placed[], depth: number): number {
  const wrongType = branch.some(({ issue, path }) => path.length === depth && issue.code === 'invalid_type');
  const deepest = Math.max(...branch.map(({ path }) => path.length));
  return (wrongType ? -1_000 : 0) + (deepest - depth) * 10 - branch.length;
}

function explainSchemaIssue(
  issue: SchemaIssue,
  path: YamlPath,
  { value, schema, at, actions }: Examined,
): readonly Explained[] {
  const full = [...at, ...path];
  const seen = valueIn(value, path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => explainKey(key, path, { known: keysAt(schema, path), full, actions }));
    case 'invalid_value':
      if (seen === undefined) return [missing(path)];
      return [explainValue(seen, issue.values.map(String), path, full)];
    case 'invalid_type':
      if (seen === undefined) return [missing(path)];
      return [
        {
          code: 'type',
          message: withHint(
            `this must be ${wordFor(issue.expected)}, not ${describe(seen)}`,
            remedyForType(issue.expected, seen, full),
          ),
          text: textForType(issue.expected, seen),
          path,
        },
      ];
    case 'invalid_key':
      return [{ ...noName(String(path.at(-1))), path, atKey: true }];
    case 'too_small':
      return [
        {
          code: 'value',
          message: `this needs at least ${issue.minimum} ${unitName(issue.origin, issue.minimum)}`.trimEnd(),
          path,
        },
      ];
    case 'too_big':
      return [
        {
          code: 'value',
          message: `this has more than ${issue.maximum} ${unitName(issue.origin, issue.maximum)}`.trimEnd(),
          path,
        },
      ];
    case 'invalid_union':
      return [{ code: 'type', message: `this cannot be ${describe(seen)}`, path }];
    case 'invalid_format':
      if (issue.format === 'regex' && typeof seen === 'string' && full[0] === 'include')
        return [{ ...noName(seen), path }];
      return [{ code: 'value', message: lowerFirst(issue.message), path }];
    default:
      return [{ code: 'value', message: lowerFirst(issue.message), path }];
  }
}

function noName(written: string): Wording {
  const message = `"${written}" is not a name: use letters, digits, ".", "_" and "-", at most 63`;
  return { code: 'value', message, suggestion: plainName(written) };
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Returns a valid name that is similar to a name with invalid characters. */
function plainName(written: string): string | undefined {
  const name = written.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+|-+$/g, '');
  return name === '' ? undefined : name.slice(0, 63);
}

function unitName(origin: string, count: unknown): string {
  const units: Readonly<Record<string, string>> = {
    string: 'character',
    array: 'entry',
    record: 'entry',
  };
  const unit = units[origin] ?? '';
  return Number(count) === 1 || unit === '' ? unit : unit.replace(/y$/, 'ie').concat('s');
}

function missing(path: YamlPath): Explained {
  return {
    code: 'missing-key',
    message: withHint(`"${String(path.at(-1))}" is missing here`, remedyForMissing(String(path.at(-1)))),
    path: path.slice(0, -1),
    atKey: true,
  };
}

const types: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
  null: 'empty',
};

function wordFor(expected: string): string {
  return types[expected] ?? expected;
}

function describe(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  return types[typeof value] ?? typeof value;
}

function explainKey(
  key: string,
  path: YamlPath,
  {
    known,
    full,
    actions,
  }: {
    readonly known: readonly string[];
    readonly full: YamlPath;
    readonly actions: readonly string[];
  },
): Explained {
  const place = { path: [...path, key], atKey: true } as const;
  if (isListeningMap(full)) return { ...explainKind(key), ...place };
  const remedy = remedyForKey(key, known, actions);
  if (remedy !== undefined) {
    return { code: 'unknown-key', message: `there is no key "${key}" here; ${remedy}`, ...place };
  }
  const suggestion = nearest(key, known);
  const list = known.length > 0 && known.length <= 14 ? `; there are ${known.join(', ')}` : '';
  const hint = suggestion === undefined ? list : '';
  return { code: 'unknown-key', message: `there is no key "${key}" here${hint}`, suggestion, ...place };
}

/** Returns whether a path leads to a map of event families: `rules.NAME.on`, or an item of that list. */
function isListeningMap(full: YamlPath): boolean {
  const at = full.indexOf('on');
  return at >= 0 && (full.length === at + 1 || (full.length === at + 2 && typeof full[at + 1] === 'number'));
}

function explainKind(word: string): Wording {
  const family = familyOf(word);
  if (family !== undefined) {
    const activities = activitiesOf(family).length > 0 ? ` with ${typesOf(family, word)}` : '';
    return {
      code: 'unknown-kind',
      message: `"${word}" belongs to the family ${family}: write ${family}${activities}`,
    };
  }
  const known = [...Object.keys(eventFamilies), 'schedule'];
  const suggestion = foreignEventWords.get(word) ?? nearest(word, known);
  const list = suggestion === undefined ? `there are ${known.join(', ')}` : undefined;
  return { code: 'unknown-kind', message: withHint(`there is no kind of event "${word}"`, list), suggestion };
}

function typesOf(family: Family, eventType: string): string {
  return `[${(eventFamilies[family].types[eventType] ?? []).join(', ')}]`;
}

function explainValue(seen: unknown, allowed: readonly string[], path: YamlPath, full: YamlPath): Explained {
  const at = full.indexOf('on');
  if (at >= 0 && typeof seen === 'string') return explainListening(seen, full.slice(at + 1), path);
  const word = typeof seen === 'object' ? describe(seen) : `"${String(seen)}"`;
  const suggestion = typeof seen === 'string' ? suggest(seen, allowed) : undefined;
  const list = allowed.length <= 14 ? ` (${allowed.join(', ')})` : '';
  const remedy = remedyForValue(seen, allowed, full);
  if (remedy !== undefined) return { code: 'value', path, ...remedy };
  return { code: 'value', message: `${word} is not one of the values allowed here${list}`, suggestion, path };
}

function explainListening(seen: string, inside: YamlPath, path: YamlPath): Explained {
  const family = inside.find((step) => typeof step === 'string' && Object.hasOwn(eventFamilies, step));
  if (family !== undefined) return { ...explainActivity(family as Family, seen), path };
  const [kind = '', activity] = seen.split('.');
  const ofFamily = activity !== undefined && Object.hasOwn(eventFamilies, kind);
  const found = ofFamily
    ? explainActivity(kind as Family, activity)
    : explainKind(activity === undefined ? seen : kind);
  const { suggestion } = found;
  if (activity === undefined || suggestion === undefined) return { ...found, path };
  return { ...found, text: ofFamily ? `${kind}.${suggestion}` : `${suggestion}.${activity}`, path };
}

function explainActivity(family: Family, word: string): Wording {
  const known = activitiesOf(family);
  const list = known.length > 0 ? ` (${known.join(', ')})` : '; it has none';
  const suggestion = suggest(word, known);
  return { code: 'unknown-activity', message: `${family} has no activity "${word}"${list}`, suggestion };
}

function suggest(word: string, known: readonly string[]): string | undefined {
  const translated = foreignEventWords.get(word);
  return translated !== undefined && known.includes(translated) ? translated : nearest(word, known);
}

/** Returns the keys that a schema allows at a path, over all of its alternatives. */
export function keysAt(schema: z.ZodType, path: YamlPath): readonly string[] {
  const level = schemasAt(schema, path).flatMap(unwrapped);
  return [...new Set(level.flatMap((one) => Object.keys(definitionOf(one).shape ?? {})))];
}

/** Returns the schemas that a value at a path may have, over all alternatives of what contains it. */
export function schemasAt(schema: z.ZodType, path: YamlPath): readonly z.ZodType[] {
  let level: readonly z.ZodType[] = [schema];
  for (const step of path) level = level.flatMap(unwrapped).flatMap((one) => childOf(one, step));
  return level;
}

/** Returns the alternatives of a schema, without what makes it optional. */
export function unwrapped(schema: z.ZodType): readonly z.ZodType[] {
  const { innerType, in: before, options, getter } = definitionOf(schema);
  if (options) return options.flatMap(unwrapped);
  const inner = innerType ?? before ?? getter?.();
  return inner ? unwrapped(inner) : [schema];
}

function childOf(schema: z.ZodType, step: string | number): readonly z.ZodType[] {
  const { shape, element, valueType } = definitionOf(schema);
  const own = shape !== undefined && Object.hasOwn(shape, step) ? shape[step] : undefined;
  const child = typeof step === 'number' ? element : (own ?? valueType);
  return child ? [child] : [];
}

function valueIn(value: unknown, path: YamlPath): unknown {
  let inner = value;
  for (const step of path) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, step)) return undefined;
    inner = Reflect.get(inner, step);
  }
  return inner;
}

/** Returns the remedy for an unknown key, given the allowed keys; undefined if it is not a common mistake. */
function remedyForKey(key: string, known: readonly string[], actions: readonly string[]): string | undefined {
  const part = (Object.keys(parts) as FilePart[]).find((one) => known.includes(parts[one]));
  if (part === undefined) return undefined;
  if (part === 'step' && actions.includes(key)) {
    return `write "uses: ${key}", and its arguments below "with"`;
  }
  const elsewhere = keysElsewhere[part];
  const misspelt = nearest(key, known) === undefined ? nearest(key, elsewhere.keys()) : undefined;
  return elsewhere.get(key) ?? elsewhere.get(misspelt ?? '');
}

const missingKeys: Readonly<Record<string, string>> = {
  version: 'begin the file with "version: 1"',
  rules: 'rules are written below "rules:", each below its name',
  on: 'it names the events, as in on: pull_request.opened',
  steps: 'it lists the actions, as in steps: [{ uses: set-labels, with: { add: [bug] } }]',
  uses: 'it names the action, as in "- uses: set-labels"',
  expect: 'it says what the rules do, as in expect: { changes: [] }',
};

/** Returns an example for a missing key, or undefined if the name alone is enough. */
function remedyForMissing(key: string): string | undefined {
  return Object.hasOwn(missingKeys, key) ? missingKeys[key] : undefined;
}

/** Returns the remedy for a value of the wrong type, or undefined if it is not a common mistake. */
function remedyForType(expected: string, seen: unknown, full: YamlPath): string | undefined {
  const key = full.at(-1);
  const isItem = typeof key === 'number';
  if (key === 'rules' && full.length === 1) return 'write the name of each rule as a key below it';
  if (full[0] === 'include' && full.length <= 2) return includeExample(seen);
  if (full[0] === 'params' && full.length === 2) return parameterExample(String(key), seen);
  if (full[0] === 'cases') return remedyInTest(full, seen);
  if (key === 'steps' && !Array.isArray(seen)) return 'put "- " before "uses" of each step';
  if (full.at(-2) === 'steps' && isItem && typeof seen === 'string') return `write "- uses: ${seen}"`;
  if (key === 'schedule') return 'write schedule: "17 3 * * *", without a list';
  if (key === 'with' && seen === null) return 'indent the arguments below "with"';
  if (key === 'if' && Array.isArray(seen)) return 'join the conditions with && or ||';
  if (expected === 'string' && (typeof seen === 'number' || typeof seen === 'boolean')) {
    return `put it in quotes: "${String(seen)}"`;
  }
  if (expected === 'array' && typeof seen === 'string') {
    return seen.includes(opening)
      ? 'write the items one by one: an expression inserts text, not a list'
      : `write a list: [${JSON.stringify(seen)}]`;
  }
  if (expected === 'object' && full.length === 2 && full[0] === 'rules' && seen === null) {
    return 'a rule has "on" and "steps", indented below its name';
  }
  return undefined;
}

/** Returns the text that makes a value of the wrong type right, where `remedyForType` says how. */
function textForType(expected: string, seen: unknown): string | undefined {
  if (expected === 'string' && (typeof seen === 'number' || typeof seen === 'boolean'))
    return JSON.stringify(String(seen));
  return expected === 'array' && typeof seen === 'string' && !seen.includes(opening)
    ? `[${JSON.stringify(seen)}]`
    : undefined;
}

const examples: Readonly<Record<string, string>> = {
  item: 'write the kind of item as its key: item: { pull_request: { number: 1 } }',
  event: 'write event: { kind: pull_request, activity: opened, payload: { … } }',
  expect: 'write expect: { changes: [{ action: set-labels, target: "label:bug", value: true }] }',
  changes: 'write changes: [{ action: set-labels, target: "label:bug", value: true }], or [] for none',
  facts: 'write facts: { files: [README.md] }',
};

function remedyInTest(full: YamlPath, seen: unknown): string | undefined {
  const key = full.at(-1);
  if (key === 'item' && typeof seen === 'string') return `write item: { ${seen}: { number: 1 } }`;
  return typeof key === 'string' && Object.hasOwn(examples, key) ? examples[key] : undefined;
}

/** Returns the remedy for a value outside an enumeration, or undefined if it is not a common mistake. */
function remedyForValue(
  seen: unknown,
  allowed: readonly string[],
  full: YamlPath,
): Omit<Wording, 'code'> | undefined {
  const key = full.at(-1);
  if (key === 'version' && full.length === 1) {
    const written = JSON.stringify(seen);
    if (String(seen) === '1')
      return { message: 'the version is a number, not text: write version: 1, without quotes', text: '1' };
    return {
      message: `version ${written} does not exist: the only version of rule files is 1, write version: 1`,
      text: '1',
    };
  }
  if (key === 'mode') {
    return typeof seen === 'string' && /dry|plan|off|disabled|audit|warn/.test(seen)
      ? { message: `there is no mode "${seen}" (${allowed.join(', ')})`, suggestion: 'observe' }
      : undefined;
  }
  if (full[0] === 'params' && key === 'type' && typeof seen === 'string')
    return remedyForParameterType(seen, allowed);
  if (full[0] !== 'cases' || key !== 'kind' || typeof seen !== 'string') return undefined;
  if (seen === 'schedule') {
    return {
      message:
        'a schedule is not an event: give the item of a sweep as item: { pull_request: { number: 1 } }',
    };
  }
  const [kind = '', activity] = seen.split('.');
  if (activity === undefined || !allowed.includes(kind)) return undefined;
  return { message: `kind and activity are separate: kind: ${kind}, activity: ${activity}` };
}

/** Returns an example of an include that uses the written path or name. */
function includeExample(seen: unknown): string {
  const list = Array.isArray(seen) ? seen[0] : seen;
  const written = typeof list === 'string' ? list : 'packs/stale.yml';
  const name = written.replace(/^.*\//, '').replace(/\.ya?ml$/, '');
  const entry = written.includes('/') ? `{ name: ${name}, file: ${written} }` : `{ name: ${name} }`;
  return `write include: [${entry}]`;
}

/** Returns an example of a parameter declaration with the written value as its default. */
function parameterExample(name: string, seen: unknown): string {
  const type = Array.isArray(seen) ? 'list' : (typesElsewhere.get(typeof seen) ?? 'string');
  return `write ${name}: { type: ${type}, default: ${JSON.stringify(seen ?? '')} }`;
}

/** Returns the remedy for an unknown parameter type, or undefined if it is not a common mistake. */
function remedyForParameterType(
  seen: string,
  allowed: readonly string[],
): { readonly message: string; readonly suggestion: string } | undefined {
  const suggestion = typesElsewhere.get(seen);
  if (suggestion === undefined) return undefined;
  return { message: `there is no type "${seen}" (${allowed.join(', ')})`, suggestion };
}

/** Parts of a file, each identified by a key that no other part has. */
const parts: Readonly<Record<FilePart, string>> = {
  file: 'rules',
  rule: 'steps',
  step: 'uses',
  case: 'expect',
  event: 'payload',
};
type FilePart = keyof typeof keysElsewhere;

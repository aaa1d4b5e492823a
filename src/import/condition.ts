import { compileGlob, GlobError } from '../patterns/glob.ts';
import { createUnlimitedMeter } from '../patterns/meter.ts';
import { Re2Compiler } from '../patterns/re2.ts';

/**
 * Values of facts under which a condition holds or does not hold, for a rule test. Maps are merged, lists are
 * concatenated. It is a proposal: a test is only written with what the rule really did.
 */
export type Situation = { readonly [fact: string]: unknown };

/** An expression with its binding strength, and situations in which it holds and in which it does not. */
export class Condition {
  readonly text: string;
  readonly binds: 'or' | 'and' | 'relation' | 'unary';
  readonly yes: Situation;
  readonly no: Situation;

  constructor(
    text: string,
    binds: Condition['binds'],
    { yes = {}, no = {} }: { readonly yes?: Situation | undefined; readonly no?: Situation | undefined } = {},
  ) {
    this.text = text;
    this.binds = binds;
    this.yes = yes;
    this.no = no;
  }
}

export const always = new Condition('true', 'unary');
export const never = new Condition('false', 'unary');

const order = ['or', 'and', 'relation', 'unary'] as const;

function enclosed(condition: Condition, least: Condition['binds']): string {
  const isWeaker = order.indexOf(condition.binds) < order.indexOf(least);
  return isWeaker ? `(${condition.text})` : condition.text;
}

/** Returns the conjunction; `always` without conditions. */
export function and(...conditions: readonly Condition[]): Condition {
  const parts = distinct(conditions.filter((condition) => condition !== always));
  if (parts.includes(never)) return never;
  const [first] = parts;
  if (first === undefined) return always;
  if (parts.length === 1) return first;
  return new Condition(parts.map((part) => enclosed(part, 'and')).join(' && '), 'and', {
    yes: mergeSituations(...parts.map(({ yes }) => yes)),
    // The first parts are often guards, such as `!draft`, which other conditions need.
    no: parts.at(-1)?.no,
  });
}

/** Returns the disjunction; `never` without conditions. */
export function or(...conditions: readonly Condition[]): Condition {
  const parts = distinct(conditions.filter((condition) => condition !== never));
  if (parts.includes(always)) return always;
  const [first] = parts;
  if (first === undefined) return never;
  if (parts.length === 1) return first;
  return new Condition(parts.map((part) => enclosed(part, 'and')).join(' || '), 'or', {
    yes: first.yes,
    no: mergeSituations(...parts.map(({ no }) => no)),
  });
}

export function not(condition: Condition): Condition {
  if (condition === always) return never;
  if (condition === never) return always;
  const { yes, no } = condition;
  if (condition.binds === 'unary' && condition.text.startsWith('!'))
    return new Condition(condition.text.slice(1), 'unary', { yes: no, no: yes });
  return new Condition(`!${enclosed(condition, 'unary')}`, 'unary', { yes: no, no: yes });
}

function distinct(conditions: readonly Condition[]): readonly Condition[] {
  return [...new Map(conditions.map((condition) => [condition.text, condition])).values()];
}

/** Returns text as a literal of an expression: one line, without control characters. */
export function literal(text: string): string {
  const escaped = JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return escaped;
}

export function listLiteral(texts: readonly string[]): string {
  return `[${texts.map(literal).join(', ')}]`;
}

/** A call such as `labelled("docs")` or `touches("docs/**")`: one entry without, several with brackets. */
export function call(
  name: string,
  texts: readonly string[],
  situations: { readonly yes?: Situation; readonly no?: Situation } = {},
): Condition {
  const [only] = texts;
  const given = texts.length === 1 && only !== undefined ? literal(only) : listLiteral(texts);
  return new Condition(`${name}(${given})`, 'unary', situations);
}

/** Returns situations merged into one: maps by member, lists one after the other, otherwise the later value. */
export function mergeSituations(...situations: readonly Situation[]): Situation {
  const merged: Record<string, unknown> = {};
  for (const situation of situations) {
    for (const [name, value] of Object.entries(situation)) merged[name] = mergeValues(merged[name], value);
  }
  return merged;
}

function mergeValues(before: unknown, value: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(value)) {
    const all = [...before, ...value];
    return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
  }
  if (isPlain(before) && isPlain(value)) return mergeSituations(before, value);
  return value;
}

function isPlain(value: unknown): value is Situation {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the situation in which the value at a path, such as `pull_request.base.ref`, is this one. */
export function situationOf(path: string, value: unknown): Situation {
  const names = path.split('.');
  return names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Situation;
}

/** `path == "text"`. */
export function equals(path: string, text: string): Condition {
  return new Condition(`${path} == ${literal(text)}`, 'relation', {
    yes: situationOf(path, text),
    no: situationOf(path, `${text}-other`),
  });
}

/** Whether the value at `path` is one of the texts. */
export function isOneOf(path: string, texts: readonly string[]): Condition {
  const [first] = texts;
  if (first === undefined) return never;
  if (texts.length === 1) return equals(path, first);
  return new Condition(`${path} in ${listLiteral(texts)}`, 'relation', {
    yes: situationOf(path, first),
    no: situationOf(path, `${first}-other`),
  });
}

/** A pattern of a test on text: how it continues the value (`x` + `.matches("…")`), and a text that matches. */
export type TextTest = {
  /** Returns the expression for a value, such as `pull_request.title`. */
  readonly on: (value: string) => Condition;
  /** A text that matches, as far as one was found. */
  readonly sample: string | undefined;
};

/** Why a pattern cannot be carried over; `isInvalid`: the bot, which has RE2 as well, cannot read it either. */
export type Unusable = { readonly problem: string; readonly isInvalid?: boolean };

/** Dialect in which a regular expression is written. */
export type RegexDialect = 'js' | 'go' | 'python';

/**
 * Converts a regular expression that is searched for anywhere in a text. Returns the test, or why it cannot be carried
 * over. The language has RE2 with at most 200 characters, plus a leading `^(?!X)`.
 */
export function regularExpression(
  pattern: string,
  {
    dialect,
    ignoreCase = false,
    flags: others = '',
  }: {
    readonly dialect: RegexDialect;
    readonly ignoreCase?: boolean;
    /** Further flags: `m` (anchors match at lines), `s` (`.` matches line breaks). */
    readonly flags?: string;
  },
): TextTest | Unusable {
  const plainer = dialect === 'go' ? pattern : withoutLookahead(pattern);
  const re2 =
    dialect === 'js' ? plainer.replace(/\\\//g, '/').replace(/\(\?<(?=[A-Za-z])/g, '(?P<') : plainer;
  const differing = divergence(re2, dialect);
  if (differing !== undefined) return { problem: `the regular expression ${shown(pattern)} ${differing}` };
  const flags = `${ignoreCase ? 'i' : ''}${others}`;
  const plain = flags === '' ? plainText(re2) : undefined;
  if (plain) return plainTest(plain);
  const written = flags === '' ? re2 : `(?${flags})${re2}`;
  if (flags.includes('m') && re2.startsWith('^(?!'))
    return { problem: `the regular expression ${shown(pattern)} has a look-ahead at the start of each line` };
  const compiled = new Re2Compiler().compile(written);
  if ('reason' in compiled)
    return {
      problem: `the regular expression ${shown(pattern)} cannot be used: ${compiled.reason}`,
      ...(dialect === 'go' && compiled.isSyntax ? { isInvalid: true } : {}),
    };
  const sample = sampleOf(re2);
  const isMatch = sample !== undefined && compiled.matches(sample, createUnlimitedMeter());
  return textTest((value) => `${value}.matches(${literal(written)})`, isMatch ? sample : undefined);
}

/** `^(?=.*X).*$` is found where `^.*X.*$` is. */
function withoutLookahead(pattern: string): string {
  const [, inner, end = ''] = /^\^\(\?=(\.\*.*)\)(\.\*\$?)$/s.exec(pattern) ?? [];
  if (inner === undefined || /[\\[]|\(\?/.test(inner.replace(/\\[.\-/_]/g, ''))) return pattern;
  let depth = 0;
  for (const sign of inner.replace(/\\./g, '')) {
    if (sign === '(') depth += 1;
    if (sign === ')') depth -= 1;
    if (depth < 0 || (sign === '|' && depth === 0)) return pattern;
  }
  return depth === 0 ? `^${inner}${end}` : pattern;
}

function shown(pattern: string): string {
  return `\`${pattern.length > 120 ? `${pattern.slice(0, 119)}…` : pattern}\``;
}

/** Returns what the dialect means by the pattern and RE2 does not, as far as RE2 would accept it. */
function divergence(pattern: string, dialect: RegexDialect): string | undefined {
  if (dialect === 'go') return undefined;
  if (dialect === 'python' && /\{,\d/.test(pattern)) return 'has a repetition that RE2 reads as text';
  if (dialect === 'python' && /\\[pPQEC]|\(\?[a-z]*U/.test(pattern))
    return 'has an escape or flag with another meaning in RE2';
  if (dialect === 'python' && /\[[^\]]*\[:/.test(pattern)) return 'has a class that RE2 reads in another way';
  if (dialect === 'js' && /\\u\{?[0-9a-fA-F]|\\c[A-Za-z]/.test(pattern))
    return 'has an escape that RE2 does not have';
  if (dialect === 'js' && /\\[pP]\{|\\[QEAzZ](?![a-z])|\(\?[ims-]+[:)]/.test(pattern))
    return 'has an escape or group with another meaning in RE2';
  if (dialect === 'js' && /\[\]|\[\^\]/.test(pattern))
    return 'has an empty class, which RE2 reads in another way';
  if (dialect === 'js' && /\[[^\]]*\[:/.test(pattern)) return 'has a class that RE2 reads in another way';
  return undefined;
}

/** A pattern without metacharacters, by where it is anchored. */
type Plain = { readonly text: string; readonly start: boolean; readonly end: boolean };

function plainText(pattern: string): Plain | undefined {
  const [, start = '', body = '', end = ''] = /^(\^?)(.*?)(\$?)$/s.exec(pattern) ?? [];
  if (end === '$' && /(^|[^\\])(\\\\)*\\$/.test(body)) return undefined;
  if (/[\^$.*+?()[\]{}|]/.test(body.replace(/\\[^\dA-Za-z]/g, ''))) return undefined;
  if (/\\[\dA-Za-z]/.test(body.replace(/\\\\/g, ''))) return undefined;
  return { text: body.replace(/\\(.)/gs, '$1'), start: start !== '', end: end !== '' };
}

function plainTest({ text, start, end }: Plain): TextTest {
  if (start && end) return { on: (value) => equals(value, text), sample: text };
  if (text === '') return { on: () => always, sample: '' };
  const method = start ? 'startsWith' : end ? 'endsWith' : 'contains';
  return textTest((value) => `${value}.${method}(${literal(text)})`, text);
}

function textTest(write: (value: string) => string, sample: string | undefined): TextTest {
  const isPath = (value: string): boolean => /^[a-z_]+(\.[a-z_]+)+$/.test(value);
  return {
    on: (value) =>
      new Condition(write(value), 'unary', {
        yes: sample !== undefined && isPath(value) ? situationOf(value, sample) : {},
        no: isPath(value) ? situationOf(value, 'zz') : {},
      }),
    sample,
  };
}

/** Returns a text that a simple regular expression matches. It is checked by its callers. */
function sampleOf(pattern: string): string | undefined {
  let rest = pattern.replace(/^\(\?i\)/, '').replace(/^\^\(\?![^)]*\)/, '^');
  for (let round = 0; round < 50; round += 1) {
    // From the inside out: the first alternative of each group without groups in it, once.
    const next = rest.replace(
      /(?<!\\)\((?:\?(?:P?<[^>]*>|:|i\)?:?))?((?:\\.|\[[^\]]*\]|[^()\\])*)\)([?*]|\+|\{\d+(?:,\d*)?\})?/,
      (_, inner: string, quantifier: string | undefined) =>
        quantifier === '?' || quantifier === '*' ? '' : firstAlternative(inner),
    );
    if (next === rest) break;
    rest = next;
  }
  return firstAlternative(rest)
    .replace(/^\^|\$$/g, '')
    .replace(/\\[bB]/g, '')
    .replace(
      /(\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\])([*?]|\+|\{(\d+)(?:,\d*)?\})?\??/gs,
      (_, one: string, quantifier: string | undefined, times: string | undefined) => {
        if (quantifier === '*' || quantifier === '?') return '';
        return sampleOfOne(one).repeat(Math.min(100, Number(times ?? 1)));
      },
    );
}

function firstAlternative(pattern: string): string {
  const [first = ''] = /^(?:\\.|\[[^\]]*\]|[^|\\])*/s.exec(pattern) ?? [];
  return first;
}

function sampleOfOne(one: string): string {
  if (one === '.') return 'x';
  if (one.startsWith('[')) {
    const inner = one.slice(1, -1);
    if (inner.startsWith('^')) return ['x', '0', '-', ' ', 'Q'].find((c) => !inner.includes(c)) ?? '~';
    const first = /^\\?./s.exec(inner)?.[0] ?? '';
    return first.startsWith('\\') ? sampleOfOne(first) : first;
  }
  if (!one.startsWith('\\')) return one;
  const known: Readonly<Record<string, string>> = { d: '1', w: 'a', s: ' ', S: 'x', D: 'x', W: '-' };
  return known[one.slice(1)] ?? one.slice(1);
}

/** Returns a path that a glob of the language matches; undefined if the glob is invalid or none was found. */
export function samplePath(glob: string): string | undefined {
  const sample = glob
    .replace(/\{([^{},]*)[^{}]*\}/g, '$1')
    .replace(/\*\*\//g, '')
    .replace(/\*\*|\*/g, 'x')
    .replace(/\?/g, 'x')
    .replace(/\[!?\]?([^\]])[^\]]*\]/g, '$1')
    .replace(/\\(.)/g, '$1');
  try {
    return compileGlob(glob)(sample, createUnlimitedMeter()) ? sample : undefined;
  } catch (error) {
    if (error instanceof GlobError) return undefined;
    throw error;
  }
}

/** `touches([…])`: one of the changed files, renamed ones by both names, matches a glob of the language. */
export function touches(globs: readonly string[]): Condition {
  const sample = globs.map(samplePath).find((path) => path !== undefined);
  return call('touches', globs, {
    yes: sample === undefined ? {} : { files: [sample] },
    no: { files: ['zz'] },
  });
}

/** `labelled([…])`: one of the labels is set. Names that start with `!`, which `labelled` excludes, are compared. */
export function labelled(names: readonly string[]): Condition {
  // An entry with `!` would exclude.
  const plain = names.filter((name) => !name.startsWith('!') && name !== '');
  const others = names.filter((name) => name.startsWith('!'));
  return or(
    ...(plain.length > 0
      ? [call('labelled', plain, { yes: { labels: plain.slice(0, 1) }, no: { labels: [] } })]
      : []),
    ...(others.length > 0
      ? [
          new Condition(`labels.exists(l, l.name in ${listLiteral(others)})`, 'unary', {
            yes: { labels: others.slice(0, 1) },
            no: { labels: [] },
          }),
        ]
      : []),
  );
}

/** One changed file has a property: `test` is an expression about the file `f`, and `sample` a path that has it. */
export function someFile(test: string, sample: string | undefined): Condition {
  return new Condition(`files.exists(f, ${test})`, 'unary', {
    yes: sample === undefined ? {} : { files: [sample] },
    no: { files: ['zz'] },
  });
}

/** All changed files have a property, also if there is none. */
export function everyFile(test: string, sample: string | undefined): Condition {
  return new Condition(`files.all(f, ${test})`, 'unary', {
    yes: sample === undefined ? {} : { files: [sample] },
    no: { files: ['zz'] },
  });
}

/** Returns the expression of the first line of a text, such as the title of a commit. */
export function firstLine(path: string): string {
  return `(${path}.contains("\\n") ? ${path}.substring(0, ${path}.indexOf("\\n")) : ${path})`;
}

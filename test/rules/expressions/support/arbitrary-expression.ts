import fc from 'fast-check';

/** Expression in two spellings: ours and the library's. */
export type TwoSpellings = { readonly ours: string; readonly library: string };

/** Values of the names in generated expressions. */
export const given = {
  i: 7,
  j: -3,
  zero: 0,
  large: 9_007_199_254_740_991,
  x: 1.5,
  y: -0.25,
  s: 'fix: a thing',
  t: 'Ünïcode 😀',
  empty: '',
  yes: true,
  no: false,
  nothing: null,
  at: '2026-01-02T03:04:05Z',
  ints: [1, 2, 3, 7],
  mixed: [1, 1.5, 'a', null, true, [1], { a: 1 }],
  texts: ['bug', 'docs', ''],
  none: [],
  o: { a: 1, b: { c: 'x', d: null }, l: [1, 2], f: 2.5 },
  people: [
    { login: 'ada', id: 1, admin: true },
    { login: 'eve', id: 2 },
    { login: 'bob', id: 3, admin: null },
  ],
} as const;

const same = (text: string): TwoSpellings => ({ ours: text, library: text });
/**
 * Returns a literal, wrapped in `dyn()` for the library. Without `dyn()`, the library checks known types before
 * running; this language checks them at run time.
 */
const literal = (text: string): TwoSpellings => ({ ours: text, library: `dyn(${text})` });
const join = (strings: TemplateStringsArray, parts: readonly TwoSpellings[]): TwoSpellings => ({
  ours: String.raw({ raw: strings }, ...parts.map(({ ours }) => ours)),
  library: `dyn(${String.raw({ raw: strings }, ...parts.map(({ library }) => library))})`,
});
/** Joins parts into a text. */
const write = (strings: TemplateStringsArray, ...parts: readonly (TwoSpellings | string)[]): TwoSpellings =>
  join(
    strings,
    parts.map((part) => (typeof part === 'string' ? same(part) : part)),
  );

const ints = fc.constantFrom(
  ...['0', '1', '2', '3', '7', '-1', '-5', '4611686018427387904', '9007199254740993'].map(literal),
  ...['i', 'j', 'zero', 'large', 'o.a', 'ints[1]', 'people[1].id'].map(same),
);
const doubles = fc.constantFrom(
  ...['0.0', '0.5', '1.5', '2.0', '-2.5', '7.0', '1e3'].map(literal),
  ...['x', 'y', 'o.f', 'mixed[1]'].map(same),
);
const texts = fc.constantFrom(
  ...[
    '""',
    '"a"',
    '"bug"',
    '"fix"',
    '"4"',
    '"-7"',
    '"1.5"',
    '"true"',
    '"x y"',
    '"😀"',
    '"2026-01-02T03:04:05Z"',
  ].map(literal),
  ...['s', 't', 'empty', 'at', 'o.b.c', 'texts[0]', 'people[0].login'].map(same),
);
/**
 * Texts that convert to numbers. The empty text is left out: the library converts it to 0, while CEL does not convert
 * it.
 */
const numerals = fc.constantFrom(
  ...['"4"', '"-7"', '"+1"', '"1.5"', '" 4"', '"x"', '"9223372036854775807"', '"9223372036854775808"'].map(
    literal,
  ),
);
const lists = fc.constantFrom(...['ints', 'mixed', 'texts', 'none', 'o.l', 'people'].map(same));
const maps = fc.constantFrom(...['o', 'o.b', 'people[2]', 'mixed[6]'].map(same));
const bools = fc.constantFrom(
  ...['true', 'false'].map(literal),
  ...['yes', 'no', 'people[0].admin'].map(same),
);
/** Null, missing and invalid values. */
const odd = fc.constantFrom(
  ...['null'].map(literal),
  ...[
    'nothing',
    'o.missing',
    'o.b.d',
    'o.b.d.e',
    'people[9]',
    'people[1].admin',
    'ints[-1]',
    'o["zzz"]',
    's.x',
  ].map(same),
);
const times = fc.constantFrom(
  ...['timestamp("2026-01-02T03:04:05Z")', 'timestamp("2024-02-29T23:59:59Z")', 'timestamp(at)'].map(same),
);
const durations = fc.constantFrom(
  ...['duration("1s")', 'duration("90m")', 'duration("48h")', 'duration("-1h")'].map(same),
);
const chains = fc.constantFrom(
  ['o', 'a'],
  ['o', 'b', 'd'],
  ['o', 'zzz', 'q'],
  ['nothing'],
  ['i'],
  ['nothing', 'x'],
  ['s', 'y'],
);

const has = (chain: readonly string[]): TwoSpellings => ({
  ours: `has(${chain.join('.')})`,
  library: `dyn(has_(${chain[0]}, ${JSON.stringify(chain.slice(1))}))`,
});
/** Returns a negation. The library does not check whether the negated int is still in range. */
const minus = (part: TwoSpellings): TwoSpellings => ({
  ours: `-(${part.ours})`,
  library: `dyn(minus_(${part.library}))`,
});

type Kinds = Record<
  'bool' | 'number' | 'text' | 'list' | 'map' | 'time' | 'duration' | 'any' | 'inLoop' | 'loop',
  TwoSpellings
>;

const operators = {
  arithmetic: ['+', '-', '*', '/', '%'],
  order: ['<', '<=', '>', '>='],
  equality: ['==', '!='],
} as const;

/** Generates expressions of every kind, many of which contain an error. */
export const expression: fc.Arbitrary<TwoSpellings> = fc.letrec<Kinds>((tie) => {
  const pair = (left: keyof Kinds, signs: readonly string[], right: keyof Kinds) =>
    fc
      .tuple(tie(left), fc.constantFrom(...signs), tie(right))
      .map(([one, sign, two]) => write`(${one} ${sign} ${two})`);
  const method = (of: keyof Kinds, names: readonly string[]) =>
    fc.tuple(tie(of), fc.constantFrom(...names)).map(([value, name]) => write`(${value}).${name}()`);
  const methodOf = (of: keyof Kinds, names: readonly string[], argument: fc.Arbitrary<TwoSpellings>) =>
    fc
      .tuple(tie(of), fc.constantFrom(...names), argument)
      .map(([value, name, other]) => write`(${value}).${name}(${other})`);
  const call = (name: string, argument: fc.Arbitrary<TwoSpellings>) =>
    argument.map((one) => write`${name}(${one})`);
  const choice = (kind: keyof Kinds) =>
    fc
      .tuple(tie('bool'), tie(kind), tie('any'))
      .map(([when, then, other]) => write`(${when} ? ${then} : ${other})`);
  const quantifier = fc
    .tuple(tie('loop'), fc.constantFrom('all', 'exists', 'exists_one'), tie('inLoop'))
    .map(([list, name, body]) => write`(${list}).${name}(v, ${body})`);
  return {
    bool: fc.oneof(
      { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
      bools,
      pair('number', operators.order, 'number'),
      pair('text', operators.order, 'text'),
      pair('time', operators.order, 'time'),
      pair('duration', [...operators.order, ...operators.equality], 'duration'),
      pair('any', [...operators.order, ...operators.equality], 'any'),
      pair('any', ['in'], 'list'),
      pair('text', ['in'], 'map'),
      fc
        .tuple(tie('bool'), fc.constantFrom('&&', '||'), tie('bool'))
        .map(([a, sign, b]) => write`(${a} ${sign} ${b})`),
      fc
        .tuple(tie('any'), fc.constantFrom('&&', '||'), tie('bool'))
        .map(([a, sign, b]) => write`(${a} ${sign} ${b})`),
      tie('bool').map((one) => write`!(${one})`),
      chains.map(has),
      choice('bool'),
      quantifier,
      methodOf('text', ['startsWith', 'endsWith', 'contains'], tie('text')),
      methodOf(
        'text',
        ['matches'],
        fc.constantFrom(...['"^fix"', '"[a-z]+: "', '"\\\\d"', '"(bug|docs)$"'].map(same)),
      ),
      methodOf('text', ['glob'], fc.constantFrom(...['"fix*"', '"**"', '"{bug,docs}"', '"[!a]*"'].map(same))),
      call('bool', texts),
    ),
    number: fc.oneof(
      { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
      ints,
      doubles,
      pair('number', operators.arithmetic, 'number'),
      tie('number').map(minus),
      call('size', fc.oneof(tie('text'), tie('list'), tie('map'))),
      method('list', ['size']),
      methodOf('text', ['indexOf', 'lastIndexOf'], tie('text')),
      call('int', fc.oneof(numerals, ints, doubles)),
      call('double', fc.oneof(texts, ints, doubles)),
      method('time', [
        'getFullYear',
        'getMonth',
        'getDate',
        'getDayOfMonth',
        'getDayOfWeek',
        'getHours',
        'getMinutes',
      ]),
      method('duration', ['getHours', 'getMinutes', 'getSeconds', 'getMilliseconds']),
      choice('number'),
    ),
    text: fc.oneof(
      { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
      texts,
      pair('text', ['+'], 'text'),
      method('text', ['lower', 'lowerAscii', 'upperAscii', 'trim']),
      methodOf('text', ['substring'], fc.oneof(ints, doubles)),
      fc
        .tuple(tie('text'), ints, ints)
        .map(([value, from, to]) => write`(${value}).substring(${from}, ${to})`),
      call('string', fc.oneof(tie('number'), tie('bool'), tie('text'))),
      methodOf('list', ['join'], texts),
      method('list', ['join']),
      choice('text'),
    ),
    list: fc.oneof(
      { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
      lists,
      pair('list', ['+'], 'list'),
      fc.array(tie('any'), { maxLength: 3 }).map((items) => list(items)),
      methodOf('text', ['split'], texts),
      fc.tuple(tie('loop'), tie('inLoop')).map(([items, body]) => write`(${items}).filter(v, ${body})`),
      fc.tuple(tie('loop'), tie('inLoop')).map(([items, body]) => write`(${items}).map(v, ${body})`),
      fc
        .tuple(tie('loop'), tie('inLoop'), tie('inLoop'))
        .map(([items, holds, body]) => write`(${items}).map(v, ${holds}, ${body})`),
    ),
    map: fc.oneof(
      { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
      maps,
      fc.tuple(tie('any'), tie('any')).map(([one, two]) => write`{"a": ${one}, "b": ${two}}`),
    ),
    time: fc.oneof(
      { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
      times,
      pair('time', ['+', '-'], 'duration'),
      pair('duration', ['+'], 'time'),
      call('timestamp', texts),
    ),
    duration: fc.oneof(
      { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
      durations,
      pair('time', ['-'], 'time'),
      pair('duration', ['+', '-'], 'duration'),
    ),
    any: fc.oneof(
      { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
      odd,
      tie('bool'),
      tie('number'),
      tie('text'),
      tie('list'),
      tie('map'),
      tie('time'),
      tie('duration'),
      pair('any', [...operators.arithmetic], 'any'),
      fc.tuple(tie('list'), ints).map(([items, place]) => write`(${items})[${place}]`),
      fc.tuple(tie('map'), fc.constantFrom('a', 'b', 'zzz')).map(([map, name]) => write`(${map}).${name}`),
    ),
    loop: fc.oneof(
      { weight: 5, arbitrary: lists },
      { weight: 1, arbitrary: odd },
      { weight: 1, arbitrary: maps },
    ),
    // The items of a loop differ, so some fail while others decide the result.
    inLoop: fc.oneof(
      { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(
        ...[
          'v == 2',
          'v.id > 1',
          'v.admin',
          'v.login.startsWith("a")',
          'v',
          'v > 1',
          'v + v',
          '10 / (v - 2) > 1',
          'v in ints',
          'ints.exists(w, w == v)',
          'people.all(w, w.id < v || w.admin)',
          'mixed.map(w, w == v).size() > ints.filter(w, w > v).size()',
        ].map(same),
      ),
      fc
        .tuple(tie('inLoop'), fc.constantFrom('&&', '||'), tie('inLoop'))
        .map(([a, sign, b]) => write`(${a} ${sign} ${b})`),
      fc.constantFrom(['v', 'admin'], ['v', 'x', 'y'], ['v']).map(has),
      tie('bool'),
    ),
  };
}).any;

function list(items: readonly TwoSpellings[]): TwoSpellings {
  return {
    ours: `[${items.map(({ ours }) => ours).join(', ')}]`,
    library: `dyn([${items.map(({ library }) => library).join(', ')}])`,
  };
}

import type { Meter } from '../../patterns/meter.ts';
import { costs, limits } from './budget.ts';
import type { FunctionRow, RunFunction } from './function-row.ts';
import { arithmetic, type Orderable, orderNameOf, toNumber, toOrderable, ValueSet } from './operators.ts';
import { alternatives, anyType, boolType, type Type, unionOf } from './types.ts';
import { describeValue, Failure, kindOf } from './values.ts';

const number: Type = { kind: 'number' };
const anyList: Type = { kind: 'list', item: anyType };
const list = ['list'] as const;
const numbers = ['number'] as const;

/** Functions of lists and numbers, under the names of CEL's extension libraries. */
export const listFunctions: readonly FunctionRow[] = [
  ofTwoLists('sets.contains', 'Every item of the second list is in the first.', (one, two, meter) =>
    isSubset(two, one, meter),
  ),
  ofTwoLists('sets.intersects', 'Some item of the second list is in the first.', intersects),
  ofTwoLists(
    'sets.equivalent',
    'Both lists have the same items, whatever their order and number.',
    (a, b, meter) => {
      const forth = isSubset(a, b, meter);
      return forth === true ? isSubset(b, a, meter) : forth;
    },
  ),
  ...ofList('distinct', 'The items of the list, each once.', distinct, ([type]) => type ?? anyList),
  ...ofList(
    'sort',
    'The items of the list in order: numbers, texts, instants or durations.',
    sort,
    ([type]) => type ?? anyList,
  ),
  ...ofList(
    'flatten',
    'The items of the lists in the list.',
    (items, meter) => flatten(items, 1, meter),
    flattened,
  ),
  {
    name: 'flatten',
    of: list,
    takes: [numbers],
    gives: anyList,
    meaning: 'The items of the lists in the list, down to this depth.',
    run: ([items, depth], meter) =>
      Number.isSafeInteger(depth) && Number(depth) >= 0
        ? flatten(itemsOf(items), Number(depth), meter)
        : new Failure('flatten() needs a depth that is not negative'),
  },
  {
    name: 'sum',
    of: list,
    takes: [],
    gives: number,
    givesFor: ([type]) => sumType(type ?? anyList),
    meaning: 'The sum of the numbers or durations; 0 of none.',
    run: ([items], meter) => sum(itemsOf(items), meter),
  },
  ...extreme('math.greatest', 'greatest', (value, best) => value > best),
  ...extreme('math.least', 'least', (value, best) => value < best),
];

function ofTwoLists(
  name: string,
  meaning: string,
  run: (one: readonly unknown[], two: readonly unknown[], meter: Meter) => unknown,
): FunctionRow {
  return {
    name,
    takes: [list, list],
    gives: boolType,
    meaning,
    run: ([one, two], meter) => run(itemsOf(one), itemsOf(two), meter),
  };
}

/** Defines a function of one list in two spellings: `x.sort()` and `lists.sort(x)`. */
function ofList(
  name: string,
  meaning: string,
  change: (items: readonly unknown[], meter: Meter) => unknown,
  givesFor: (types: readonly Type[]) => Type,
): readonly FunctionRow[] {
  const run: RunFunction = ([items], meter) => change(itemsOf(items), meter);
  const shared = { gives: anyList, givesFor, meaning, run };
  return [
    { name, of: list, takes: [], ...shared },
    { name: `lists.${name}`, takes: [list], ...shared },
  ];
}

function extreme(
  name: string,
  word: string,
  isBetter: (value: number | bigint, best: number | bigint) => boolean,
): readonly FunctionRow[] {
  const choose = (items: readonly unknown[], meter: Meter): unknown => {
    meter.charge(items.length * costs.member);
    const [first] = items;
    if (items.length === 0) return new Failure(`${name}() of an empty list`);
    let best = first;
    for (const item of items) {
      if (orderNameOf(item) !== 'number') return new Failure(`${name}() cannot have ${describeValue(item)}`);
      if (isBetter(toComparable(item), toComparable(best))) best = item;
    }
    return best;
  };
  return [
    {
      name,
      takes: [numbers],
      repeats: true,
      gives: number,
      meaning: `The ${word} of the numbers.`,
      run: (values, meter) => choose(values, meter),
    },
    {
      name,
      takes: [list],
      gives: number,
      meaning: `The ${word} number of the list.`,
      run: ([items], meter) => choose(itemsOf(items), meter),
    },
  ];
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function toComparable(value: unknown): number | bigint {
  return typeof value === 'bigint' ? value : toNumber(value);
}

function setOf(items: readonly unknown[], meter: Meter): ValueSet {
  const set = new ValueSet(meter);
  for (const item of items) set.add(item);
  return set;
}

function isSubset(part: readonly unknown[], whole: readonly unknown[], meter: Meter): boolean | Failure {
  const set = setOf(whole, meter);
  for (const item of part) {
    const found = set.has(item);
    if (found !== true) return found;
  }
  return true;
}

function intersects(one: readonly unknown[], two: readonly unknown[], meter: Meter): boolean | Failure {
  const set = setOf(one, meter);
  for (const item of two) {
    const found = set.has(item);
    if (found !== false) return found;
  }
  return false;
}

function distinct(items: readonly unknown[], meter: Meter): readonly unknown[] | Failure {
  const seen = new ValueSet(meter);
  const kept: unknown[] = [];
  for (const item of items) {
    const found = seen.has(item);
    if (found instanceof Failure) return found;
    if (found) continue;
    seen.add(item);
    kept.push(item);
  }
  return kept;
}

/** Sorts a list. The cost of n · log2(n) comparisons is charged in advance. */
function sort(items: readonly unknown[], meter: Meter): readonly unknown[] | Failure {
  const rounds = Math.ceil(Math.log2(items.length + 1));
  meter.charge(items.length * (rounds + 1) * costs.step);
  const [first] = items;
  const order = orderNameOf(first);
  let characters = 0;
  for (const item of items) {
    if (order === undefined || orderNameOf(item) !== order) {
      return new Failure(`sort() cannot have ${describeValue(first)} and ${describeValue(item)}`);
    }
    if (typeof item === 'string') characters += item.length;
  }
  meter.charge(characters * rounds * costs.copiedCharacter);
  const keyed = items.map((item) => ({ item, key: toOrderable(item) }));
  return keyed.sort((a, b) => compare(a.key, b.key)).map(({ item }) => item);
}

function compare(left: Orderable, right: Orderable): number {
  if (left < right) return -1;
  return left > right ? 1 : 0;
}

function flatten(items: readonly unknown[], depth: number, meter: Meter): readonly unknown[] | Failure {
  let flat = items;
  for (let level = 0; level < depth && flat.some(Array.isArray); level += 1) {
    const length = flat.reduce<number>((total, item) => total + (Array.isArray(item) ? item.length : 1), 0);
    if (length > limits.items) return new Failure(`too large to judge: a list of ${length} items`);
    meter.charge((flat.length + length) * costs.member);
    flat = flat.flat();
  }
  return flat;
}

function flattened([type]: readonly Type[]): Type {
  const items = alternatives(type ?? anyType).flatMap((one) =>
    one.kind === 'list' ? [one.item] : [anyType],
  );
  const inner = items.flatMap(alternatives).map((item) => (item.kind === 'list' ? item.item : item));
  return { kind: 'list', item: unionOf(inner) };
}

function sumType(type: Type): Type {
  const items = alternatives(type).flatMap((one) =>
    one.kind === 'list' ? alternatives(one.item) : [anyType],
  );
  if (items.every(({ kind }) => kind === 'number')) return number;
  if (items.every(({ kind }) => kind === 'duration')) return { kind: 'duration' };
  return unionOf([number, { kind: 'duration' }]);
}

function sum(items: readonly unknown[], meter: Meter): unknown {
  meter.charge(items.length * costs.step);
  const [first = 0, ...rest] = items;
  const isSummable = ['int', 'double', 'duration'].includes(kindOf(first));
  if (!isSummable) return new Failure(`sum() cannot have ${describeValue(first)}`);
  let total: unknown = first;
  for (const item of rest) {
    total = arithmetic['+'](total, item, meter);
    if (total instanceof Failure) return total;
  }
  return total;
}

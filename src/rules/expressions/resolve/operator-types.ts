import { alternatives, anyType, boolType, describeType, mayBe, type Type, unionOf } from '../values/types.ts';

const number: Type = { kind: 'number' };
const string: Type = { kind: 'string' };
const timestamp: Type = { kind: 'timestamp' };
const duration: Type = { kind: 'duration' };

/** What an operator gives, or why it cannot have these two sides and which of them is to blame. */
type OperatorResult =
  | { readonly type: Type }
  | { readonly reason: string; readonly side: 'left' | 'right' | 'both' };

/** Returns what a binary operator gives for the types of its sides, or why it cannot. */
export function applyOperator(operator: string, left: Type, right: Type): OperatorResult {
  switch (operator) {
    case '==':
    case '!=':
      return overlaps(left, right) ? { type: boolType } : typeMismatch(operator, left, right);
    case '<':
    case '<=':
    case '>':
    case '>=':
      return ordered.some((kind) => mayBe(left, [kind]) && mayBe(right, [kind]))
        ? { type: boolType }
        : typeMismatch(operator, left, right);
    case 'in':
      return membership(left, right);
    default: {
      const type = resultOf(operator, alternatives(left), alternatives(right));
      return type ? { type } : typeMismatch(operator, left, right);
    }
  }
}

const ordered: readonly Type['kind'][] = ['number', 'string', 'timestamp', 'duration', 'bool'];

function membership(value: Type, list: Type): OperatorResult {
  if (!mayBe(list, ['list', 'map', 'object'])) {
    const hint = mayBe(list, ['string']) ? '; text has .contains()' : '';
    return { reason: `in needs a list or a map, this is ${describeType(list)}${hint}`, side: 'right' };
  }
  const items = alternatives(list).flatMap((one) => (one.kind === 'list' ? [one.item] : []));
  const isListAlone = items.length === alternatives(list).length;
  if (!isListAlone || items.some((item) => overlaps(value, item))) return { type: boolType };
  const item = describeType(unionOf(items));
  return { reason: `${describeType(value)} cannot be in a list of ${item}`, side: 'left' };
}

function typeMismatch(operator: string, left: Type, right: Type): OperatorResult {
  const isTimeAndText =
    mayBe(left, ['timestamp']) !== mayBe(right, ['timestamp']) && mayBe(unionOf([left, right]), ['string']);
  const isTimeAndNumber = operator !== '==' && mayBe(left, ['timestamp']) && mayBe(right, ['number']);
  const span = isTimeAndNumber ? '; spans of time are durations: now - duration("72h")' : '';
  const hint = isTimeAndText ? '; times of the forge are text: timestamp(…) reads them' : span;
  const reason = `"${operator}" cannot have ${describeType(left)} and ${describeType(right)}${hint}`;
  return { reason, side: 'both' };
}

/** Says whether a value of one type may be of the other, too. Null and what no shape says may equal anything. */
export function overlaps(left: Type, right: Type): boolean {
  const isOpen = (type: Type): boolean => type.kind === 'any' || type.kind === 'null';
  return alternatives(left).some((one) =>
    alternatives(right).some((two) => isOpen(one) || isOpen(two) || kindName(one) === kindName(two)),
  );
}

function kindName(type: Type): string {
  return type.kind === 'map' ? 'object' : type.kind;
}

/** Operators over two numbers, and the other pairs that some of them take: left, right, result. */
const arithmetic: Readonly<Record<string, readonly (readonly [Type['kind'], Type['kind'], Type])[]>> = {
  '+': [
    ['number', 'number', number],
    ['string', 'string', string],
    ['list', 'list', { kind: 'list', item: anyType }],
    ['timestamp', 'duration', timestamp],
    ['duration', 'timestamp', timestamp],
    ['duration', 'duration', duration],
  ],
  '-': [
    ['number', 'number', number],
    ['timestamp', 'timestamp', duration],
    ['timestamp', 'duration', timestamp],
    ['duration', 'duration', duration],
  ],
  '*': [['number', 'number', number]],
  '/': [['number', 'number', number]],
  '%': [['number', 'number', number]],
};

/** Returns what an operator gives for two types, or undefined where no pair of their alternatives fits. */
function resultOf(operator: string, left: readonly Type[], right: readonly Type[]): Type | undefined {
  const fits = (type: Type, kind: Type['kind']): boolean => type.kind === kind || type.kind === 'any';
  const results = (arithmetic[operator] ?? [])
    .filter(([a, b]) => left.some((type) => fits(type, a)) && right.some((type) => fits(type, b)))
    .map(([, , result]) => result);
  return results.length === 0 ? undefined : unionOf(results);
}

import type { ASTNode } from '@marcbachmann/cel-js';
import { createUnlimitedMeter } from '../../../patterns/meter.ts';
import type { Matcher } from '../../../patterns/pattern.ts';
import { costs } from '../budget/costs.ts';
import { type FunctionRow, kindsTaken, type RunFunction, takesCount } from '../functions/function-row.ts';
import { findFunctions } from '../functions/functions.ts';
import { literalOf } from '../parse/tree.ts';
import type { Type } from '../values/types.ts';
import { describeValue, Failure, kindOf, type ValueKind } from '../values/values.ts';
import type { Builder } from './builder.ts';
import { isUnusable, toFailure } from './failures.ts';
import type { Evaluate } from './frame.ts';

/** A function as it is called: its name, and what it is called with, the part before the dot first. */
type FunctionCall = { readonly name: string; readonly nodes: readonly ASTNode[]; readonly isMethod: boolean };

/** Returns a function, ready to run: rows of one name are told apart by the kinds of their values. */
export function interpretFunction(builder: Builder, node: ASTNode, call: FunctionCall): Evaluate {
  const { name, nodes, isMethod } = call;
  const [first] = nodes;
  const matcher = builder.resolution.matchers.get(node);
  if (matcher && first) return interpretMatch(builder.build(first), first, matcher);
  const rows = findFunctions(name, isMethod).flatMap((row) => bindRow(row, call));
  const parts = nodes.map((part) => builder.build(part));
  const [only] = rows;
  if (only?.row.literal === 'moment' && parts.length === 1 && first && literalOf(first) !== undefined) {
    return interpretConstant(parts[0], only.run);
  }
  return (frame) => {
    frame.meter.charge(costs.call);
    const values: unknown[] = [];
    for (let place = 0; place < parts.length; place += 1) {
      const value = parts[place]?.(frame);
      if (isUnusable(value, false)) return toFailure(value, nodes[place] ?? node, frame);
      values.push(value);
    }
    for (const bound of rows) if (takes(bound, values)) return bound.run(values, frame.meter);
    return new Failure(`there is no ${name}() of ${values.map(describeValue).join(' and ')}`);
  };
}

/** `matches` and `glob`: the pattern was compiled when the file was loaded. */
function interpretMatch(text: Evaluate, node: ASTNode, matches: Matcher): Evaluate {
  return (frame) => {
    frame.meter.charge(costs.match);
    const value = text(frame);
    if (typeof value === 'string') return matches(value, frame.meter);
    if (isUnusable(value, false)) return toFailure(value, node, frame);
    return new Failure(`a pattern cannot be held against ${describeValue(value)}`);
  };
}

/** An instant or a duration that is written out is the same each time. */
function interpretConstant(part: Evaluate | undefined, run: RunFunction): Evaluate {
  const meter = createUnlimitedMeter();
  const value = run([part?.({ slots: [], meter })], meter);
  return () => value;
}

/** A row of the table as it is called: the kinds of its values, and what runs it. */
type BoundFunction = {
  readonly kinds: readonly ReadonlySet<ValueKind>[];
  readonly run: RunFunction;
  readonly row: FunctionRow;
};

/** Returns the row with what runs it, or nothing where it takes another number of values. */
function bindRow(row: FunctionRow, { nodes, isMethod }: FunctionCall): readonly BoundFunction[] {
  const count = nodes.length - (isMethod ? 1 : 0);
  if (!takesCount(row, count)) return [];
  const last = nodes.at(-1);
  const literal = last && literalOf(last);
  const run = row.bind && typeof literal === 'string' ? row.bind(literal) : row.run;
  const taken = kindsTaken(row, count);
  const kinds = (row.of ? [row.of, ...taken] : taken).map(
    (types) => new Set(types.flatMap((type) => valueKinds[type] ?? [])),
  );
  return [{ kinds, run, row }];
}

/** The kinds that the values of a type may be of while an expression runs. */
const valueKinds: Readonly<Partial<Record<Type['kind'], readonly ValueKind[]>>> = {
  bool: ['bool'],
  number: ['int', 'double'],
  string: ['string'],
  timestamp: ['timestamp'],
  duration: ['duration'],
  list: ['list'],
  map: ['map'],
};

function takes({ kinds }: BoundFunction, values: readonly unknown[]): boolean {
  for (let place = 0; place < kinds.length; place += 1) {
    if (!kinds[place]?.has(kindOf(values[place]))) return false;
  }
  return true;
}

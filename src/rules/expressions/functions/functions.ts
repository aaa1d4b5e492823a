import { boolType, type Type } from '../values/types.ts';
import { formatFunction } from './format-function.ts';
import type { FunctionRow } from './function-row.ts';
import { generalFunctions } from './general-functions.ts';
import { listFunctions } from './list-functions.ts';
import { textFunctions } from './text-functions.ts';
import { timeFunctions } from './time-functions.ts';

/** Every function that expressions may call, `has` and the loops aside. */
export const functions: readonly FunctionRow[] = [
  ...textFunctions,
  formatFunction,
  ...generalFunctions,
  ...listFunctions,
  ...timeFunctions,
];

/** The loops over a list, and the type each gives for the type of its body. */
export const loops: Readonly<
  Record<string, { readonly meaning: string; readonly gives: (item: Type, body: Type) => Type }>
> = {
  all: { meaning: 'The condition holds for every item.', gives: () => boolType },
  exists: { meaning: 'The condition holds for some item.', gives: () => boolType },
  exists_one: { meaning: 'The condition holds for exactly one item.', gives: () => boolType },
  map: {
    meaning: 'The list of what the expression gives for each item.',
    gives: (_item, body) => ({ kind: 'list', item: body }),
  },
  filter: { meaning: 'The items for which the condition holds.', gives: (item) => ({ kind: 'list', item }) },
};

const byName = new Map<string, readonly FunctionRow[]>();
for (const row of functions) byName.set(row.name, [...(byName.get(row.name) ?? []), row]);

/** Returns the rows with this name, with or without something before the dot. */
export function findFunctions(name: string, hasReceiver: boolean): readonly FunctionRow[] {
  return (byName.get(name) ?? []).filter((row) => (row.of !== undefined) === hasReceiver);
}

/** The names of all functions, for "did you mean". */
export const functionNames: readonly string[] = [...byName.keys(), ...Object.keys(loops), 'has'];

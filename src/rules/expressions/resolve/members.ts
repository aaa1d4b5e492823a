import { alternatives, anyType, type Type, typeOf, unionOf } from '../values/types.ts';

/** A member of a value: its type, and whether some alternatives of the value have no such member. */
type Member = { readonly type: Type; readonly missing: boolean };

/** Returns the member of a type, or undefined where no alternative has it. */
export function memberOf(type: Type, name: string): Member | undefined {
  const found: Type[] = [];
  let missing = false;
  for (const one of alternatives(type)) {
    const inner = memberOfOne(one, name);
    if (inner) found.push(inner);
    // Null has no members either, but that is known only when the rule runs.
    else if (one.kind !== 'null') missing = true;
  }
  return found.length === 0 ? undefined : { type: unionOf(found), missing };
}

function memberOfOne(type: Type, name: string): Type | undefined {
  if (type.kind === 'any') return anyType;
  if (type.kind === 'map') return type.value;
  if (type.kind !== 'object' || !Object.hasOwn(type.members, name)) return undefined;
  const shape = type.members[name];
  return shape && typeOf(shape);
}

/** Returns the names of all members a value may have, for "did you mean". */
export function memberNamesOfType(type: Type): readonly string[] {
  const names = alternatives(type).flatMap((one) => (one.kind === 'object' ? Object.keys(one.members) : []));
  return [...new Set(names)];
}

import { z } from 'zod';
import type { Client } from '../../client/client.ts';
import type { AnyInput, Operation } from '../../contract/operation.ts';
import { type DoneChange, type Inverse, isStill } from './inverse.ts';

/** An object in an answer of the forge, known only at run time. */
export type ForgeObject = Readonly<Record<string, unknown>>;

/** Returns the items of a list, all pages. The rows are known at run time only, so their items are plain objects here. */
export async function readItems(
  client: Client,
  operation: Operation,
  input: AnyInput,
): Promise<readonly ForgeObject[]> {
  const found: ForgeObject[] = [];
  for await (const item of client.items(operation, input as never)) found.push(item as ForgeObject);
  return found;
}

/** Returns the path parameters of a change. */
export function pathParams(change: DoneChange): ForgeObject {
  return change.input.params ?? {};
}

/** Returns the members of an object that occur in the change's state, in the same form. */
export function membersLike(state: unknown, live: ForgeObject): ForgeObject {
  const names = typeof state === 'object' && state !== null ? Object.keys(state) : [];
  return Object.fromEntries(names.map((name) => [name, normalizeMember(name, live[name])]));
}

/** Forges write colors with or without `#`, and null for an empty text. */
function normalizeMember(name: string, value: unknown): unknown {
  if (name === 'color' && typeof value === 'string') return value.replace('#', '').toLowerCase();
  return value;
}

/** Returns the members that an operation's body accepts: an answer has more of them. */
function bodyFor(operation: Operation, state: unknown): ForgeObject {
  const shape = operation.body instanceof z.ZodObject ? operation.body.shape : {};
  const members = Object.entries((state ?? {}) as ForgeObject);
  return Object.fromEntries(members.filter(([name]) => Object.hasOwn(shape, name)));
}

/** Returns the inverse of a creation: deletes the item, found by the fields it was created with, if it still has them. */
export function undoCreate(list: Operation, remove: Operation, key = 'id', name: string = key): Inverse {
  return async (change, client) => {
    const items = await readItems(client, list, { params: pathParams(change) });
    const asked = change.input.body;
    const found = items.filter((item) => isStill(asked, membersLike(asked, item)));
    const [only] = found;
    if (found.length > 1) return { value: change.after, undo: () => 'there are several like it now' };
    return {
      value: only === undefined ? null : change.after,
      undo: () => ({ operation: remove, input: { params: { ...pathParams(change), [name]: only?.[key] } } }),
    };
  };
}

/** Returns the inverse of an edit: restores the members it had. */
export function undoEdit(get: Operation, edit: Operation): Inverse {
  return async (change, client) => {
    const live = (await client.send(get, { params: pathParams(change) })) as ForgeObject;
    return {
      value: membersLike(change.after, live),
      undo: () => ({
        operation: edit,
        input: { params: pathParams(change), body: bodyFor(edit, change.before) },
      }),
    };
  };
}

/** Returns the inverse of a deletion: creates the item again, with another id, unless one with its name exists. */
export function undoDelete(list: Operation, create: Operation, names: readonly string[]): Inverse {
  return async (change, client) => {
    const { id: _id, name: _name, ...where } = pathParams(change);
    const before = change.before as ForgeObject;
    const items = await readItems(client, list, { params: where });
    const taken = items.some((item) =>
      names.some((name) => before[name] !== undefined && item[name] === before[name]),
    );
    return {
      value: taken ? before : null,
      undo: () => ({ operation: create, input: { params: where, body: bodyFor(create, before) } }),
    };
  };
}

/** Returns the inverse of an edit of one member; the member's name follows the last `sign` of the target. */
export function undoMember(
  get: Operation,
  edit: Operation,
  sign: string,
  along: (name: string) => readonly string[] = () => [],
): Inverse {
  return async (change, client) => {
    const name = change.target.slice(change.target.lastIndexOf(sign) + 1);
    const live = (await client.send(get, { params: pathParams(change) })) as ForgeObject;
    const beside = Object.fromEntries(along(name).map((one) => [one, live[one]]));
    const body = { ...beside, [name]: change.before };
    return {
      value: live[name],
      undo: () =>
        change.before === null
          ? `there was no ${name} before`
          : { operation: edit, input: { params: pathParams(change), body } },
    };
  };
}

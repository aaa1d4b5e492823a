import { z } from 'zod';
import type { Client } from '../client/client.ts';
import type { AnyInput, Operation } from '../contract/operation.ts';
import { operations } from '../contract/operations.ts';

/** An applied change, reduced to the fields that a revert needs. Plain data from the store. */
export type DoneChange = {
  readonly operation: string;
  readonly input: AnyInput;
  readonly target: string;
  readonly before: unknown;
  readonly after: unknown;
};

/**
 * The request that reverts a change; `except` lists the parts that cannot be restored. If several changes were sent as
 * one request, and their undos have `join`, one request reverts them all; `join` returns its input.
 */
export type Undo = {
  readonly operation: Operation;
  readonly input: AnyInput;
  readonly except?: string;
  readonly join?: (inputs: readonly AnyInput[]) => AnyInput;
};

/**
 * Live state in the form of the change's `after`. `undo` returns the request that restores `before`, or the reason why
 * `before` cannot be restored.
 */
type LiveValue = { readonly value: unknown; readonly undo: () => Undo | string };

/** Plans the revert of a change with a given operation. Only reads, and returns the request to send. */
export type Inverse = (change: DoneChange, client: Client) => Promise<LiveValue>;

/** Returns whether live state still equals the change's result, in every field of `after`. */
export function isStill(after: unknown, live: unknown): boolean {
  if (typeof after !== 'object' || after === null) return (after ?? null) === (live ?? null);
  if (Array.isArray(after)) {
    return (
      Array.isArray(live) &&
      after.length === live.length &&
      after.every((item, at) => isStill(item, live[at]))
    );
  }
  if (typeof live !== 'object' || live === null) return false;
  return Object.entries(after).every(([key, value]) => isStill(value, Reflect.get(live, key)));
}

const reasons = new WeakMap<Inverse, string>();

/** Returns the inverse for changes that cannot be reverted, with the reason. */
export function irreversible(reason: string): Inverse {
  const inverse: Inverse = async ({ after }) => ({ value: after, undo: () => reason });
  reasons.set(inverse, reason);
  return inverse;
}

/** Returns why changes with this inverse are never reverted; undefined if they can be reverted. */
export function irreversibleReason(inverse: Inverse | undefined): string | undefined {
  return inverse && reasons.get(inverse);
}

/** An object in a response of the forge, whose fields are known only at run time. */
export type ForgeObject = Readonly<Record<string, unknown>>;

/**
 * Returns the items of a list, from all pages. The operation is known only at run time, so the items are returned as
 * plain objects.
 */
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

/** Returns the fields of a live object that also occur in the change's state, normalized for comparison. */
export function membersLike(state: unknown, live: ForgeObject): ForgeObject {
  const names = typeof state === 'object' && state !== null ? Object.keys(state) : [];
  return Object.fromEntries(names.map((name) => [name, normalizeMember(name, live[name])]));
}

/** Normalizes a field: forges write colors with or without `#`. */
function normalizeMember(name: string, value: unknown): unknown {
  if (name === 'color' && typeof value === 'string') return value.replace('#', '').toLowerCase();
  return value;
}

/** Returns the fields that an operation's body accepts; a response contains additional fields. */
function bodyFor(operation: Operation, state: unknown): ForgeObject {
  const shape = operation.body instanceof z.ZodObject ? operation.body.shape : {};
  const members = Object.entries((state ?? {}) as ForgeObject);
  return Object.fromEntries(members.filter(([name]) => Object.hasOwn(shape, name)));
}

/**
 * Returns the inverse of a creation: deletes the created item, which is found by the fields it was created with and
 * must still have the same values.
 */
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

/** Returns the inverse of an edit: restores the fields that the edit changed. */
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

/**
 * Returns the inverse of a deletion: creates the item again (with another id), unless an item with the same name
 * exists.
 */
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

/** Returns the inverse of an edit of one field. The part of the target after the last `sign` is the field's name. */
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

/**
 * Closes an opened pull request, because no API can delete it. It is identified by its branches among the open pull
 * requests.
 */
export const undoCreatePull: Inverse = async (change, client) => {
  const { head, base } = (change.input.body ?? {}) as ForgeObject;
  const params = pathParams(change);
  const open = await readItems(client, operations.listPulls, { params, query: { state: 'open' } });
  const found = open.find((pull) => {
    const [from, into] = [pull.head as ForgeObject | null, pull.base as ForgeObject | null];
    // A fork may have a branch with the same name, and a pull request from that branch.
    return from?.ref === head && into?.ref === base && from?.repo_id === into?.repo_id;
  });
  return {
    value: found === undefined ? null : change.after,
    undo: () => ({
      operation: operations.editPull,
      input: { params: { ...params, index: found?.number }, body: { state: 'closed' } },
    }),
  };
};

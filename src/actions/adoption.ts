import type { Client } from '../client/client.ts';

/** Where `reeve drift --adopt` reads live state: a repository, or an organization if `repo` is absent. */
export type AdoptedPlace = { readonly owner: string; readonly repo?: string | undefined };

/**
 * Live state as arguments of a step. `arguments` is absent if there is nothing to declare; `left` lists what the step
 * cannot express.
 */
export type Adopted = {
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly left?: readonly string[];
};

/** How `reeve drift --adopt` turns live state into a step of an action. A run with that step wants no change. */
export type Adoption = {
  /** Name of the data, for the report that the account may not read it; absent: the command fails then. */
  readonly what?: string;
  readonly read: (client: Client, place: AdoptedPlace) => Promise<Adopted>;
};

/** Returns the items of a list, all pages. */
export async function readAll<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

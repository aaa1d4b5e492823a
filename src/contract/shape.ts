import { z } from 'zod';

/** A whole number of at most 53 bits (the forge's int64 ids stay far below). */
export const int = z.number().int();
export const text = z.string();
export const flag = z.boolean();
/** RFC 3339 text in whatever zone the forge is set to: compare instants, not texts. */
export const instant = z.string();

/** A list as forges write it: `null` and a missing member mean empty. */
export function list<S extends z.ZodType>(item: S) {
  return z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);
}

type Loose<O extends Record<string, z.ZodType>> = {
  [K in keyof O]: O[K] extends z.ZodArray<infer Item extends z.ZodType>
    ? ReturnType<typeof list<Item>>
    : z.ZodOptional<z.ZodNullable<O[K]>>;
};

/**
 * A resource as it is read: the `required` members identify it and must be there, every other may be missing or null,
 * since forges and releases differ; a list that is missing or null is empty; members we do not know are dropped.
 */
export function resource<R extends z.core.$ZodLooseShape, O extends Record<string, z.ZodType>>(
  required: R,
  optional: O,
) {
  const loose = Object.fromEntries(
    Object.entries(optional).map(([name, shape]) => [
      name,
      shape instanceof z.ZodArray ? list(shape.element as z.ZodType) : shape.nullish(),
    ]),
  ) as Loose<O>;
  return z.object({ ...required, ...loose });
}

/** Query members of a paged list: 1-based page, items a page (the forge caps it, usually at 50). */
export const pages = { page: int.optional(), limit: int.optional() };

/** Path parameters of everything inside a repository. */
export const inRepository = { owner: text, repo: text };

import { z } from 'zod';

/** A whole number of at most 53 bits (the forge's int64 ids stay far below that). */
export const int = z.number().int();
export const text = z.string();
export const flag = z.boolean();
/** RFC 3339 text in the time zone of the forge. Compare instants, not texts. */
export const instant = z.string();

/** A list as forges serialize it: `null` and a missing field mean empty. */
export function list<S extends z.ZodType>(item: S) {
  return z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);
}

const nullishShapes = new WeakMap<z.ZodType, z.ZodType>();

/**
 * Returns a schema that also accepts null and undefined. Cached, because a thousand resource fields share a few
 * schemas.
 */
function nullish(shape: z.ZodType): z.ZodType {
  const known = nullishShapes.get(shape) ?? shape.nullish();
  nullishShapes.set(shape, known);
  return known;
}

type Loose<O extends Record<string, z.ZodType>> = {
  [K in keyof O]: O[K] extends z.ZodArray<infer Item extends z.ZodType>
    ? ReturnType<typeof list<Item>>
    : z.ZodOptional<z.ZodNullable<O[K]>>;
};

/**
 * A resource in a response. The `required` fields identify it. Every other field may be missing or null, because forges
 * and releases differ. A missing or null list is empty; unknown fields are dropped.
 */
export function resource<R extends z.core.$ZodLooseShape, O extends Record<string, z.ZodType>>(
  required: R,
  optional: O,
) {
  const loose = Object.fromEntries(
    Object.entries(optional).map(([name, shape]) => [
      name,
      shape instanceof z.ZodArray ? list(shape.element as z.ZodType) : nullish(shape),
    ]),
  ) as Loose<O>;
  return z.object({ ...required, ...loose });
}

/** Query fields of a paged list: 1-based page, and items per page (limited by the forge, usually to 50). */
export const pages = { page: int.optional(), limit: int.optional() };

/** Path parameters of operations inside a repository. */
export const inRepository = { owner: text, repo: text };

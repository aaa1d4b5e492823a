import { z } from 'zod';

/** Returns the paths of a value's members that a shape does not name; what it takes as it comes has none. */
export function unknownMembers(shape: z.ZodType, value: unknown, path = ''): readonly string[] {
  if (value === null || value === undefined) return [];
  const bare = unwrap(shape);
  if (bare instanceof z.ZodArray && Array.isArray(value)) {
    const paths = value.flatMap((element) => unknownMembers(bare.element as z.ZodType, element, `${path}[]`));
    return [...new Set(paths)];
  }
  if (!(bare instanceof z.ZodObject) || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const known = (bare.shape as Record<string, z.ZodType>)[name];
    const at = path === '' ? name : `${path}.${name}`;
    return known === undefined ? [at] : unknownMembers(known, member, at);
  });
}

/** Takes off what says that a member may be absent, null, or is completed. */
function unwrap(shape: z.ZodType): z.ZodType {
  if (shape instanceof z.ZodOptional || shape instanceof z.ZodNullable)
    return unwrap(shape.unwrap() as z.ZodType);
  if (shape instanceof z.ZodPipe) return unwrap(shape.in as z.ZodType);
  if (shape instanceof z.ZodLazy) return unwrap(shape.unwrap() as z.ZodType);
  return shape;
}

import fc from 'fast-check';
import { z } from 'zod';

/** Texts that have a meaning in some operation. They supplement arbitrary text. */
const meaningful = [
  ...['main', 'feature', 'v1', 'README.md', 'bug', 'Home', 'open', 'closed', 'all', 'read', 'write', 'admin'],
  ...[
    'merge',
    'rebase',
    'squash',
    'APPROVED',
    'REQUEST_CHANGES',
    'success',
    'pending',
    'gitea',
    'json',
    'push',
  ],
  ...[
    'public',
    'private',
    'repo.code',
    'create',
    'upload',
    'delete',
    'fff',
    'aGVsbG8=',
    '2030-01-01T00:00:00Z',
  ],
  ...['http://127.0.0.1:9/', 'https://example.org', 'a@example.org', '*', 'feature/*', '/^v/', '1', ''],
];

/**
 * Returns an arbitrary of values that a shape of the contract accepts. `texts` are names of existing objects. Supports
 * the kinds of shapes used by the contract and throws for any other kind.
 */
export function arbitraryOf(schema: z.ZodType, texts: readonly string[]): fc.Arbitrary<unknown> {
  // The classes of zod hide the type of their inner schema behind that of zod's core. All of these schemas belong to
  // the same zod instance.
  const inner = (of: unknown) => arbitraryOf(of as z.ZodType, texts);
  if (schema instanceof z.ZodOptional) return fc.option(inner(schema.unwrap()), { nil: undefined });
  if (schema instanceof z.ZodNullable) return fc.option(inner(schema.unwrap()), { nil: null });
  if (schema instanceof z.ZodDefault) return inner(schema.unwrap());
  if (schema instanceof z.ZodString || schema instanceof z.ZodStringFormat) {
    return fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...texts, ...meaningful) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
    );
  }
  if (schema instanceof z.ZodNumber) {
    return fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: 1, max: 5 }) },
      { weight: 1, arbitrary: fc.constantFrom(0, -1, 2 ** 31, 2 ** 53 - 1, -(2 ** 53 - 1)) },
    );
  }
  if (schema instanceof z.ZodBoolean) return fc.boolean();
  if (schema instanceof z.ZodEnum) return fc.constantFrom(...schema.options);
  if (schema instanceof z.ZodLiteral) return fc.constantFrom(...schema.values);
  if (schema instanceof z.ZodArray) return fc.array(inner(schema.element), { maxLength: 4 });
  if (schema instanceof z.ZodRecord) {
    const keys = fc.constantFrom(
      'url',
      'content_type',
      'secret',
      'repo.code',
      'repo.issues',
      '__proto__',
      'x',
    );
    return fc.dictionary(keys, inner(schema.valueType), { maxKeys: 4 });
  }
  if (schema instanceof z.ZodUnion) return fc.oneof(...schema.options.map(inner));
  if (schema instanceof z.ZodObject) {
    const members = Object.entries(schema.shape).map(([name, of]) => [name, inner(of)] as const);
    return fc.record(Object.fromEntries(members));
  }
  throw new TypeError(`no arbitrary for ${schema.constructor.name}`);
}

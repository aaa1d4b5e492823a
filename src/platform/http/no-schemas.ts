import type { FastifyServerOptions } from 'fastify';

const refuse = (): never => {
  throw new Error('routes have no schemas: zod validates the input');
};

/**
 * The `schemaController` option of Fastify. Without it, every start loads the JSON Schema compilers, which takes a
 * twentieth of the startup time, although no route has a schema.
 */
export const noSchemas: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: refuse, buildSerializer: refuse },
};

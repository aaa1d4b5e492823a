import type { FastifyServerOptions } from 'fastify';

const refuse = (): never => {
  throw new Error('routes have no schemas: zod validates what is read');
};

/**
 * Option `schemaController` of fastify. Without it, every start loads the compilers of JSON Schema, which is a twentieth of
 * its time, although no route has a schema.
 */
export const noSchemas: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: refuse, buildSerializer: refuse },
};

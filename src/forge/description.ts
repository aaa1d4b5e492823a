import { z } from 'zod';
import type { Operation } from '../contract/operation.ts';
import { operations } from '../contract/operations.ts';
import { baselineVersion } from './instance.ts';

/** Returns the OpenAPI description of everything the forge answers, made from the contract. */
export function describeApi(rootUrl: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of Object.values<Operation>(operations)) {
    const path = operation.path.replace(/\*\}/g, '}');
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: describeOperation(operation) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Forge API', version: baselineVersion },
    servers: [{ url: `${rootUrl}/api/v1` }],
    components: {
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic' },
        token: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: '`token <token>` or `Bearer <token>`',
        },
      },
    },
    security: [{ token: [] }, { basic: [] }, {}],
    paths,
  };
}

function describeOperation(operation: Operation): object {
  const scopes = operation.scopes.length > 0 ? ` Token scopes: ${operation.scopes.join(', ')}.` : '';
  return {
    operationId: operation.id,
    summary: operation.meaning,
    description: `For: ${operation.access}.${scopes}`,
    parameters: [
      ...describeParameters(operation.params, 'path'),
      ...(operation.query ? describeParameters(operation.query, 'query') : []),
    ],
    ...(operation.body ? { requestBody: { required: true, content: asJson(operation.body) } } : {}),
    responses: describeResponses(operation),
  };
}

function describeParameters(shape: z.ZodObject, place: 'path' | 'query'): object[] {
  return Object.entries(shape.shape).map(([name, schema]) => ({
    name,
    in: place,
    required: place === 'path',
    schema: toSchema(schema as z.ZodType),
  }));
}

function describeResponses(operation: Operation): object {
  const content = operation.response ? { content: asJson(operation.response) } : {};
  const failures = operation.errors.map((status) => [status, { description: 'refused' }]);
  return { ...Object.fromEntries(failures), [operation.success]: { description: 'done', ...content } };
}

function asJson(schema: z.ZodType): object {
  return { 'application/json': { schema: toSchema(schema) } };
}

function toSchema(schema: z.ZodType): object {
  const { $schema: _, ...plain } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return plain;
}

import { z } from 'zod';
import type { Operation } from '../../contract/operation.ts';
import { operations } from '../../contract/operations.ts';
import { baselineVersion } from '../administration/instance.ts';

/** Returns the OpenAPI description of the forge's API, generated from the contract. */
export function describeApi(rootUrl: string): object {
  const paths: Record<string, Record<string, object>> = {};
  const known = new Map<string, string>();
  for (const operation of Object.values<Operation>(operations)) {
    const own = operation.path.replace(/\*\}/g, '}');
    // Paths that differ only in their parameter names are one path in OpenAPI; the first of them determines the names.
    const shape = own.replace(/\{\w+\}/g, '{}');
    const path = known.get(shape) ?? own;
    known.set(shape, path);
    const described = describeOperation(operation, namesBetween(own, path));
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: described };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Forge API',
      version: baselineVersion,
      description: 'The API of the embedded forge; empty lists may be `null`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: `${rootUrl}/api/v1` }],
    components: {
      schemas: {
        Error: {
          type: 'object',
          properties: { message: { type: 'string' }, url: { type: 'string' } },
          required: ['message'],
        },
      },
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

/** Maps the name of each parameter in one path to its name in another path of the same shape. */
function namesBetween(own: string, other: string): ReadonlyMap<string, string> {
  const names = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  const others = names(other);
  return new Map(names(own).map((name, at) => [name, others[at] ?? name]));
}

function describeOperation(operation: Operation, names: ReadonlyMap<string, string>): object {
  const scopes = operation.scopes.length > 0 ? ` Token scopes: ${operation.scopes.join(', ')}.` : '';
  return {
    operationId: operation.id,
    summary: operation.meaning,
    description: `For: ${operation.access}.${scopes}`,
    tags: [operation.id.split('.')[0]],
    parameters: [
      ...describeParameters(operation.params, 'path', names),
      ...(operation.query ? describeParameters(operation.query, 'query') : []),
    ],
    ...describeBody(operation),
    responses: describeResponses(operation),
  };
}

function describeParameters(
  shape: z.ZodObject,
  place: 'path' | 'query',
  names: ReadonlyMap<string, string> = new Map(),
): object[] {
  return Object.entries(shape.shape).map(([name, schema]) => ({
    name: names.get(name) ?? name,
    in: place,
    required: place === 'path',
    schema: toSchema(schema as z.ZodType),
  }));
}

const failures: Readonly<Record<number, string>> = {
  400: 'The request is malformed.',
  401: 'Missing or invalid credentials.',
  403: 'Insufficient role or token scope.',
  404: 'The resource does not exist, or the caller may not see it.',
  422: 'The body or a requested value is invalid.',
  423: 'The repository is archived.',
};

function describeResponses(operation: Operation): object {
  const { success, response, media } = operation;
  const content = response && (media === undefined ? asJson(response) : contentOf[media]);
  // Statuses that every operation can return, in addition to its own.
  const statuses = new Set([401, 403, 404, ...operation.errors]);
  const refusal = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  const refusals = [...statuses].map((status) => [
    status,
    { description: failures[status] ?? 'The operation is refused.', content: refusal },
  ]);
  return {
    ...Object.fromEntries(refusals),
    [success]: { description: 'Done.', ...(content && { content }) },
  };
}

const contentOf = {
  text: { 'text/plain': { schema: { type: 'string' } } },
  file: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
};

/** Describes the request body: a file in a form, JSON, or none. */
function describeBody({ upload, body }: Operation): object {
  if (upload !== undefined) {
    const file = { type: 'string', format: 'binary' };
    const schema = { type: 'object', properties: { [upload]: file }, required: [upload] };
    return { requestBody: { required: true, content: { 'multipart/form-data': { schema } } } };
  }
  return body ? { requestBody: { required: true, content: asJson(body) } } : {};
}

function asJson(schema: z.ZodType): object {
  return { 'application/json': { schema: toSchema(schema) } };
}

function toSchema(schema: z.ZodType): object {
  const { $schema: _, ...plain } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return plain;
}

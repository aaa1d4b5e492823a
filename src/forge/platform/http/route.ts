import type { FastifyInstance, FastifyReply } from 'fastify';
import createRouter, { type HTTPMethod } from 'find-my-way';
import { z } from 'zod';
import { type Operation, restParameter } from '../../../contract/operation.ts';
import { type OperationName, operations } from '../../../contract/operations.ts';
import { createActorReader } from '../access/actor.ts';
import type { ForgeContext } from '../context.ts';
import type { Handler, Handlers } from './handler.ts';
import { createRequestHandler } from './respond.ts';

const prefix = '/api/v1';
const methods: readonly HTTPMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

type RouteShape = {
  readonly method: HTTPMethod;
  readonly url: string;
  readonly operation: Operation;
  readonly handler: Handler<Operation>;
};

/** Target of a path: an operation, or the error for an unsupported method. */
type Destination = Pick<RouteShape, 'operation' | 'handler'> | 'refusal';

/** Maximum length of one path parameter. */
export const maxParamLength = 4_096;

/**
 * Registers every operation of the contract that has a handler, under `/api/v1`. fastify sees all paths as one route:
 * registering them one by one took nine tenths of the time that a process needs to start another forge.
 */
export function registerOperations(app: FastifyInstance, context: ForgeContext, handlers: Handlers): void {
  const router = routerOf(handlers);
  const answer = createRequestHandler(context, createActorReader(context));
  app.route({
    method: [...methods],
    url: `${prefix}/*`,
    async handler(request, reply) {
      // fastify handles HEAD as GET, without the body.
      const method = request.method === 'HEAD' ? 'GET' : (request.method as HTTPMethod);
      const found = router.find(method, request.url);
      if (found === null) return reply.callNotFound();
      const destination = found.store as Destination | null;
      // The path matches, but a parameter is too long.
      if (destination === null) return sendBadRequest(reply);
      if (destination === 'refusal') return reply.code(405).send();
      // The cast is safe: the type allows `undefined` for optional parameters, which no path has.
      return answer({ ...destination, given: found.params as Record<string, string> }, request, reply);
    },
  });
}

/** Sends the response to an invalid path, regardless of what is registered. */
export function sendBadRequest(reply: FastifyReply): FastifyReply {
  return reply.code(400).type('text/plain; charset=utf-8').send('400 Bad Request\n');
}

type OperationRouter = ReturnType<typeof createRouter>;

/** The routers of this process, shared by all its forges, which have the same operations. */
const routers = new WeakMap<Handlers, OperationRouter>();

function routerOf(handlers: Handlers): OperationRouter {
  const known = routers.get(handlers);
  if (known) return known;
  const nothing = (): void => {};
  const router = createRouter({ ignoreTrailingSlash: true, maxParamLength, onMaxParamLength: nothing });
  const add = (method: HTTPMethod | HTTPMethod[], url: string, destination: Destination): void =>
    router.on(method, url, nothing, destination);
  const routes = routesOf(handlers);
  for (const { method, url, operation, handler } of routes) add(method, url, { operation, handler });
  for (const sameShape of Map.groupBy(routes, shapeOf).values()) {
    const served = new Set(sameShape.map((route) => route.method));
    const others = methods.filter((method) => !served.has(method));
    const url = sameShape[0]?.url;
    if (url !== undefined && others.length > 0) add(others, url, 'refusal');
  }
  routers.set(handlers, router);
  return router;
}

function routesOf(handlers: Handlers): RouteShape[] {
  const routes = Object.entries(handlers).map(([name, handler]): RouteShape => {
    const operation: Operation = operations[name as OperationName];
    // The table holds functions of different types; each is called with the values bound for its own operation.
    const anyHandler = handler as unknown as Handler<Operation>;
    return { method: operation.method, url: toUrl(operation), operation, handler: anyHandler };
  });
  // A path with a catch-all parameter (`contents/{filepath*}`) also matches without it, unless another operation
  // does.
  const taken = new Set(routes.map((route) => `${route.method} ${shapeOf(route)}`));
  const roots = routes
    .filter(({ method, operation }) => method === 'GET' && restParameter(operation) !== undefined)
    .map((route) => ({ ...route, url: route.url.replace(/\/\*$/, '') }))
    .filter((route) => !taken.has(`${route.method} ${shapeOf(route)}`));
  return [...routes, ...roots];
}

/** Returns the shape of a path. The router treats paths that differ only in their parameter names as equal. */
function shapeOf(route: { readonly url: string }): string {
  return route.url.replace(/:\w+/g, ':');
}

/**
 * Returns the router's URL of an operation. An enumerated parameter matches only its values: `commits/v1.2` is a commit
 * by its tag. A parameter before a dot ends at the first dot, as in Gitea: `commits/v1.diff` is the diff of a commit,
 * `commits/v1.2.diff` a commit with that name.
 */
function toUrl({ path, params }: Operation): string {
  const url = path.replace(/\{\w+\*\}$/, '*').replace(/\{(\w+)\}(\.?)/g, (_, name: string, dot: string) => {
    const shape = params.shape[name];
    if (shape instanceof z.ZodEnum) return `:${name}(${shape.options.join('|')})${dot}`;
    return dot === '' ? `:${name}` : `:${name}([^.]+)${dot}`;
  });
  return prefix + url;
}

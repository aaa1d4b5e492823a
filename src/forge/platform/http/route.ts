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

/** What a path leads to: an operation, or the refusal of a method that the path does not have. */
type Destination = Pick<RouteShape, 'operation' | 'handler'> | 'refusal';

/** Longest text of one parameter. */
export const maxParamLength = 4_096;

/**
 * Answers every operation of the contract that has a handler, below `/api/v1`. The paths are one route to fastify: registered one by
 * one, they were nine tenths of the time in which a process starts a further forge.
 */
export function registerOperations(app: FastifyInstance, context: ForgeContext, handlers: Handlers): void {
  const router = routerOf(handlers);
  const answer = createRequestHandler(context, createActorReader(context));
  app.route({
    method: [...methods],
    url: `${prefix}/*`,
    async handler(request, reply) {
      // fastify answers HEAD as GET, without the body.
      const method = request.method === 'HEAD' ? 'GET' : (request.method as HTTPMethod);
      const found = router.find(method, request.url);
      if (found === null) return reply.callNotFound();
      const destination = found.store as Destination | null;
      // A parameter is too long.
      if (destination === null) return sendBadRequest(reply);
      if (destination === 'refusal') return reply.code(405).send();
      // The types have `undefined` for a parameter that may be left out: no path has one.
      return answer({ ...destination, given: found.params as Record<string, string> }, request, reply);
    },
  });
}

/** Answers a path that is no path of the forge, whatever is served. */
export function sendBadRequest(reply: FastifyReply): FastifyReply {
  return reply.code(400).type('text/plain; charset=utf-8').send('400 Bad Request\n');
}

type OperationRouter = ReturnType<typeof createRouter>;

/** The routers of this process: all its forges have the same operations. */
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
    // One table of differently typed functions: each is called with what its own row has bound.
    const anyHandler = handler as unknown as Handler<Operation>;
    return { method: operation.method, url: toUrl(operation), operation, handler: anyHandler };
  });
  // A path that takes the rest (`contents/{filepath*}`) also answers without it, unless another operation does.
  const taken = new Set(routes.map((route) => `${route.method} ${shapeOf(route)}`));
  const roots = routes
    .filter(({ method, operation }) => method === 'GET' && restParameter(operation) !== undefined)
    .map((route) => ({ ...route, url: route.url.replace(/\/\*$/, '') }))
    .filter((route) => !taken.has(`${route.method} ${shapeOf(route)}`));
  return [...routes, ...roots];
}

/** Two paths that differ in the names of their parameters alone are one to the router. */
function shapeOf(route: { readonly url: string }): string {
  return route.url.replace(/:\w+/g, ':');
}

/**
 * A parameter of few values matches these alone: `commits/v1.2` is a commit by its tag. One before a dot ends at the first
 * dot, as on Gitea: `commits/v1.diff` is what a commit changes, `commits/v1.2.diff` a commit by a name like that.
 */
function toUrl({ path, params }: Operation): string {
  const url = path.replace(/\{\w+\*\}$/, '*').replace(/\{(\w+)\}(\.?)/g, (_, name: string, dot: string) => {
    const shape = params.shape[name];
    if (shape instanceof z.ZodEnum) return `:${name}(${shape.options.join('|')})${dot}`;
    return dot === '' ? `:${name}` : `:${name}([^.]+)${dot}`;
  });
  return prefix + url;
}

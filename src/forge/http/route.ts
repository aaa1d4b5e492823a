import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { z } from 'zod';
import { type Operation, restParameter } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import { createActorReader } from '../access/actor.ts';
import type { ForgeContext } from '../core/context.ts';
import type { Handler, Handlers } from './handler.ts';
import { createRequestHandler } from './respond.ts';

const prefix = '/api/v1';
const methods: readonly HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

type RouteShape = {
  readonly method: HTTPMethods;
  readonly url: string;
  readonly operation: Operation;
  readonly handler: Handler<Operation>;
};

/** Registers a route for every operation of the contract that has a handler, below `/api/v1`. */
export function registerOperations(app: FastifyInstance, context: ForgeContext, handlers: Handlers): void {
  const readActor = createActorReader(context);
  const routes = routesOf(handlers);
  for (const { method, url, operation, handler } of routes) {
    app.route({ method, url, handler: createRequestHandler(context, operation, handler, readActor) });
  }
  for (const sameShape of Map.groupBy(routes, shapeOf).values()) {
    const known = new Set(sameShape.map((route) => route.method));
    const others = methods.filter((method) => !known.has(method));
    const url = sameShape[0]?.url;
    if (url !== undefined && others.length > 0) app.route({ method: others, url, handler: refuseMethod });
  }
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
 * dot, as on the baseline: `commits/v1.diff` is what a commit changes, `commits/v1.2.diff` a commit by a name like that.
 */
function toUrl({ path, params }: Operation): string {
  const url = path.replace(/\{\w+\*\}$/, '*').replace(/\{(\w+)\}(\.?)/g, (_, name: string, dot: string) => {
    const shape = params.shape[name];
    if (shape instanceof z.ZodEnum) return `:${name}(${shape.options.join('|')})${dot}`;
    return dot === '' ? `:${name}` : `:${name}([^.]+)${dot}`;
  });
  return prefix + url;
}

function refuseMethod(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply.code(405).send();
}

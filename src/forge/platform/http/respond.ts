import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Operation, restParameter } from '../../../contract/operation.ts';
import type { Actor, createActorReader } from '../access/actor.ts';
import { guard, guardAfterBody } from '../access/guards.ts';
import { Redirect } from '../access/redirects.ts';
import { scopesOf } from '../access/scopes.ts';
import type { ForgeContext } from '../context.ts';
import { ForgeProblem, problemBody } from '../errors.ts';
import { type PageRange, pageHeaders, readPage } from '../paging.ts';
import { bindBody, bindParams, bindQuery } from './binding.ts';
import { readBody, readUpload } from './body.ts';
import type { Handler, HandlerCall, Reply } from './handler.ts';

const json = 'application/json;charset=utf-8';
const exposeHeaders = 'Access-Control-Expose-Headers';

/** The operation that a request targets. */
type AskedOperation = {
  readonly operation: Operation;
  readonly handler: Handler<Operation>;
  /** Values of the path parameters. The key of a catch-all parameter is `*`. */
  readonly given: Readonly<Record<string, string>>;
};

/** Handles one request. */
type RequestHandler = (
  asked: AskedOperation,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<FastifyReply>;

/** Creates the request handler for operations: credentials, guards, binding, the handler, and error responses. */
export function createRequestHandler(
  context: ForgeContext,
  readActor: ReturnType<typeof createActorReader>,
): RequestHandler {
  return async (asked, request, reply) => {
    reply.header('cache-control', 'max-age=0, private, must-revalidate');
    const query = new URLSearchParams(request.url.split('?').slice(1).join('?'));
    if (queryTokenOf(query)) reply.header('x-gitea-warning', 'tokens in the query are deprecated');
    try {
      const actor = await readActor(credentialsOf(request, query), scopesOf(asked.operation));
      return await perform({ ...asked, context, request, reply, query, actor });
    } catch (error) {
      return sendFailure(context, request, reply, error);
    }
  };
}

type Passage = AskedOperation & {
  readonly context: ForgeContext;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly query: URLSearchParams;
  readonly actor: Actor;
};

async function perform(passage: Passage): Promise<FastifyReply> {
  const { context, operation, handler, request, reply, query, actor } = passage;
  const given = requestParams(passage);
  const target = guard(context.db, operation, given, actor);
  const body = await readBoundBody(operation, request, query);
  guardAfterBody(operation, target);
  const page = readPage(query);
  const said = { status: operation.success, headers: {} as Record<string, string> };
  const call = {
    ...target,
    params: bindParams(operation, given),
    query: bindQuery(operation, query),
    body,
    caller: actor.user,
    actor,
    page,
    context,
    upload: () => readUpload(operation.upload ?? '', sentBy(request), operation),
    reply: createReply(said, passage, page),
    headers: request.headers,
    // The operation determines the fields of a call; `HandlerCall` derives them from the operation's type.
  } as unknown as HandlerCall;
  const result = await handler(call);
  reply.code(said.status).headers(said.headers);
  if (result === undefined) return reply.send();
  // The handler that serves a file sets the content type.
  if (operation.media === 'file') return reply.send(result);
  if (operation.media === 'text') return reply.type('text/plain; charset=utf-8').send(result);
  return reply.type(json).send(JSON.stringify(result));
}

async function readBoundBody(
  operation: Operation,
  request: FastifyRequest,
  query: URLSearchParams,
): Promise<unknown> {
  if (!operation.body) return undefined;
  const sent = await readBody({ ...sentBy(request), method: request.method, query });
  return bindBody(operation, sent);
}

function createReply(
  said: { status: number; headers: Record<string, string> },
  { context, operation, request }: Passage,
  page: PageRange,
): Reply {
  return {
    status(code) {
      said.status = code;
    },
    header(name, value) {
      said.headers[name] = value;
    },
    expose(name, value) {
      said.headers[name] = value;
      const exposed = said.headers[exposeHeaders];
      said.headers[exposeHeaders] = exposed === undefined ? name : `${exposed}, ${name}`;
    },
    total(count) {
      if (operation.paging === 'body') return;
      const address = new URL(request.url, `${context.rootUrl()}/`);
      const links = operation.paging === 'link';
      Object.assign(said.headers, pageHeaders({ total: count, page, links, address }));
    },
  };
}

function sentBy(request: FastifyRequest) {
  const bytes = Buffer.isBuffer(request.body) ? request.body : undefined;
  return { contentType: request.headers['content-type'], bytes };
}

function queryTokenOf(query: URLSearchParams): string | undefined {
  return query.get('token') || query.get('access_token') || undefined;
}

function credentialsOf(request: FastifyRequest, query: URLSearchParams) {
  const sudo = query.get('sudo') ?? request.headers.sudo;
  return {
    address: request.ip,
    authorization: request.headers.authorization,
    queryToken: queryTokenOf(query),
    sudo: typeof sudo === 'string' && sudo !== '' ? sudo : undefined,
  };
}

function requestParams({ operation, request, ...asked }: Passage): Record<string, string> {
  const given = { ...asked.given };
  const rest = restParameter(operation);
  if (rest !== undefined) given[rest] = given['*'] ?? '';
  // A wiki page's name is itself percent-encoded: decoding it here would make two different names equal.
  if ('pageName' in given) given.pageName = /\/([^/?]*)\/?(\?|$)/.exec(request.url)?.[1] ?? '';
  return given;
}

/** Sends an error response; only a `ForgeProblem` reveals more than its status. */
export function sendFailure(
  context: ForgeContext,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): FastifyReply {
  if (error instanceof Redirect)
    return reply.code(error.status).header('location', error.locationOf(request.url)).send();
  const problem = error instanceof ForgeProblem ? error : new ForgeProblem(500, '');
  if (problem.status >= 500) {
    const [path] = request.url.split('?');
    context.log.error({ err: error, method: request.method, path }, 'the request failed');
  }
  reply.headers(problem.headers);
  const body = problemBody(problem, context.rootUrl());
  return body === undefined
    ? reply.code(problem.status).send()
    : reply.code(problem.status).type(json).send(body);
}

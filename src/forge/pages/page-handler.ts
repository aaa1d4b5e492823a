import type { FastifyReply, FastifyRequest } from 'fastify';
import { createCsrfTokens, isSentByOtherSite } from '../../platform/http/constant-time-equal.ts';
import { type FormFields, formFieldsOf } from '../../platform/http/form.ts';
import { html } from '../../platform/http/html.ts';
import type { FileAnswer } from '../code/serve-file.ts';
import { createActorReader, headerCredentials } from '../platform/access/actor.ts';
import { Redirect } from '../platform/access/redirects.ts';
import { isPublicOnly, type Scope } from '../platform/access/scopes.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import type { UserRow } from '../platform/rows.ts';
import { type PageContent, page, policy } from './page.ts';

/** Names that the path of a page carries; those it has not are undefined. */
type PathNames = {
  readonly owner: string;
  readonly repo: string;
  readonly org: string;
  readonly id: string;
  readonly uuid: string;
  readonly kind: string;
  readonly sha: string;
  readonly '*': string;
};
/** Who looks at which page, and what they look for: fields of the query. */
export type PageVisit = {
  readonly names: PathNames;
  readonly caller: UserRow | undefined;
  readonly query: FormFields;
};

/** Answers a request with what a visitor may see. */
export type Show = (
  request: FastifyRequest,
  reply: FastifyReply,
  view: (visit: PageVisit) => PageContent | Promise<PageContent>,
) => Promise<FastifyReply>;

/** Answers a request with a file of a repository, whose access is the code's alone. */
export type SendFile = (
  request: FastifyRequest,
  reply: FastifyReply,
  serve: (visit: PageVisit) => Promise<FileAnswer>,
) => Promise<FastifyReply>;

/** Answers a form: does what it asks, then leads to a page. `act` returns the path of that page. */
export type Act = (
  request: FastifyRequest,
  reply: FastifyReply,
  act: (visit: PageVisit) => string | Promise<string>,
) => Promise<FastifyReply>;

/** Creates the handler of pages and forms. Basic credentials identify the caller; the browser asks for them. */
export function createForgePageHandler(context: ForgeContext): {
  readonly show: Show;
  readonly act: Act;
  readonly sendFile: SendFile;
} {
  const readActor = createActorReader(context);

  async function visitOf(request: FastifyRequest, scopes: readonly Scope[]): Promise<PageVisit> {
    const actor = await readActor(headerCredentials(request), scopes);
    // Pages show what is public beside what is not.
    if (isPublicOnly(actor.scopes)) throw new ForgeProblem(403, 'this token is limited to public resources');
    // The router fills in the names of the path, texts all of them.
    const names = request.params as PathNames;
    return { names, caller: actor.user, query: formFieldsOf(request.query) };
  }

  function protect(reply: FastifyReply): void {
    reply.headers({
      'content-security-policy': policy,
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    });
  }

  return {
    async show(request, reply, view) {
      protect(reply);
      try {
        const content = await view(await visitOf(request, readScopes));
        return reply.type('text/html; charset=utf-8').send(page(content));
      } catch (error) {
        return refuse(reply, error);
      }
    },
    async act(request, reply, act) {
      protect(reply);
      try {
        return reply.redirect(await act(await visitOf(request, writeScopes)), 303);
      } catch (error) {
        return refuse(reply, error);
      }
    },
    async sendFile(request, reply, serve) {
      try {
        const { status, headers, body } = await serve(await visitOf(request, ['read:repository']));
        return reply.code(status).headers(headers).send(body);
      } catch (error) {
        protect(reply);
        return refuse(reply, error);
      }
    },
  };
}

const readScopes = ['read:repository', 'read:issue'] as const;
const writeScopes = ['write:repository', 'write:issue'] as const;

/** A page that is missing for this caller may exist for another one: 404, no request for credentials. */
function refuse(reply: FastifyReply, error: unknown): FastifyReply {
  if (error instanceof Redirect) return reply.redirect(error.locationOf(reply.request.url), 301);
  if (!(error instanceof ForgeProblem)) throw error;
  const isStranger = error.status === 404 || error.status === 401;
  if (isStranger && !reply.request.headers.authorization) {
    reply.code(401).header('www-authenticate', 'Basic realm="forge", charset="UTF-8"');
  } else reply.code(error.status).headers(error.headers);
  return reply
    .type('text/html; charset=utf-8')
    .send(page({ title: error.message || 'forbidden', content: html`` }));
}

/** Guards the forms of the pages, which people who sign in with Basic credentials are shown. */
export interface FormGuard {
  /** Returns the mark of a form for what it does. */
  csrfToken(caller: UserRow | undefined, purpose: string): string;
  /** Ends the request with 403 where the mark is missing or of another form, or where another site sent it. */
  check(request: FastifyRequest, caller: UserRow | undefined, purpose: string): void;
}

export function createFormGuard(): FormGuard {
  const csrfTokens = createCsrfTokens();
  const nameOf = (caller: UserRow | undefined): string => String(caller?.id ?? 0);
  return {
    csrfToken: (caller, purpose) => csrfTokens.tokenFor(nameOf(caller), purpose),
    check(request, caller, purpose) {
      const given = formFieldsOf(request.body).get('mark');
      const isRight = csrfTokens.isValid(given, nameOf(caller), purpose);
      if (isSentByOtherSite(request.headers) || !isRight)
        throw new ForgeProblem(403, 'this form is out of date: load its page again');
    },
  };
}

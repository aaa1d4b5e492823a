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

/** Path parameters of a page; those absent from its path are undefined. */
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
/** The visitor of a page, the path parameters, and the query. */
export type PageVisit = {
  readonly names: PathNames;
  readonly caller: UserRow | undefined;
  readonly query: FormFields;
};

/** Renders a page for a visitor. */
export type Show = (
  request: FastifyRequest,
  reply: FastifyReply,
  view: (visit: PageVisit) => PageContent | Promise<PageContent>,
) => Promise<FastifyReply>;

/** Sends a file of a repository. `serve` checks the access to the code. */
export type SendFile = (
  request: FastifyRequest,
  reply: FastifyReply,
  serve: (visit: PageVisit) => Promise<FileAnswer>,
) => Promise<FastifyReply>;

/** Handles a submitted form: performs its action, then redirects to the path that `act` returns. */
export type Act = (
  request: FastifyRequest,
  reply: FastifyReply,
  act: (visit: PageVisit) => string | Promise<string>,
) => Promise<FastifyReply>;

/** Creates the handlers of pages and forms. Basic credentials identify the caller; the browser prompts for them. */
export function createForgePageHandler(context: ForgeContext): {
  readonly show: Show;
  readonly act: Act;
  readonly sendFile: SendFile;
} {
  const readActor = createActorReader(context);

  async function visitOf(request: FastifyRequest, scopes: readonly Scope[]): Promise<PageVisit> {
    const actor = await readActor(headerCredentials(request), scopes);
    // Public-only tokens are refused, because pages mix public and private content.
    if (isPublicOnly(actor.scopes)) throw new ForgeProblem(403, 'this token is limited to public resources');
    // The router fills in the path parameters, all of them strings.
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

/**
 * Sends an error page. For a hidden or missing page, the response to a request without credentials is a challenge,
 * because the page may be visible after sign-in; with credentials, it is 404.
 */
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

/** CSRF protection for forms of users who sign in with Basic credentials. */
export interface FormGuard {
  /** Returns the CSRF token of a form with this purpose. */
  csrfToken(caller: UserRow | undefined, purpose: string): string;
  /** Ends the request with 403 if the token is missing or belongs to another form, or if another site sent the form. */
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

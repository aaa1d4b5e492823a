import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BoundedMap } from '../../platform/cache/bounded-map.ts';
import { createCsrfTokens, isSentByOtherSite } from '../../platform/http/csrf-tokens.ts';

/** A browser on the pages where people sign in to authorize a program. */
export type ForgeSession = { readonly id: string; readonly userId: number | undefined };

/**
 * Sessions of browsers, kept in memory: after a restart people sign in again. A form carries a mark that only a page of
 * this forge, shown to this very session for this very purpose, could have given.
 */
export interface ForgeSessions {
  /** Returns the session of a browser; a new one, and its cookie, where it has none. */
  open(request: FastifyRequest, reply: FastifyReply): ForgeSession;
  /** Makes the session that of a person, under a new id, which no one can have known before. */
  signIn(session: ForgeSession, reply: FastifyReply, userId: number): ForgeSession;
  csrfToken(session: ForgeSession, purpose: string): string;
  /** Returns whether a mark is right, and no other site made the browser send it. */
  hasCsrfToken(request: FastifyRequest, session: ForgeSession, purpose: string, mark: string): boolean;
}

const cookie = 'forge_session';
const lifeSeconds = 3600;
const maxSessions = 10_000;

/** Creates the sessions; `isSecure` tells whether people reach the forge over HTTPS. */
export function createForgeSessions(options: { clock: () => Date; isSecure: () => boolean }): ForgeSessions {
  const csrfTokens = createCsrfTokens();
  const kept = new BoundedMap<string, { readonly userId: number | undefined; readonly endsAt: number }>(
    maxSessions,
  );

  function start(reply: FastifyReply, userId: number | undefined): ForgeSession {
    const id = randomBytes(32).toString('base64url');
    kept.set(id, { userId, endsAt: options.clock().getTime() + lifeSeconds * 1000 });
    const flags = { path: '/login', httpOnly: true, sameSite: 'lax', maxAge: lifeSeconds } as const;
    reply.setCookie(cookie, id, { ...flags, secure: options.isSecure() });
    return { id, userId };
  }

  return {
    open(request, reply) {
      const id = request.cookies[cookie] ?? '';
      const known = kept.get(id);
      if (known && known.endsAt > options.clock().getTime()) return { id, userId: known.userId };
      kept.delete(id);
      return start(reply, undefined);
    },
    signIn(session, reply, userId) {
      kept.delete(session.id);
      return start(reply, userId);
    },
    csrfToken: ({ id }, purpose) => csrfTokens.tokenFor(id, purpose),
    hasCsrfToken: (request, { id }, purpose, mark) =>
      !isSentByOtherSite(request.headers) && csrfTokens.isValid(mark, id, purpose),
  };
}

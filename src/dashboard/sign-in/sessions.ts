import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../clock.ts';
import { createCsrfTokens, isSentByOtherSite } from '../../http/csrf-tokens.ts';
import { formFieldsOf } from '../../http/form.ts';
import type { Viewer } from '../viewer.ts';

/** A signed-in person, in one browser. */
export type Session = { readonly id: string; readonly viewer: Viewer };

/** Sessions, kept in memory: after a restart people sign in again, and nothing of theirs was written anywhere. */
export interface Sessions {
  find(request: FastifyRequest): Session | undefined;
  /** Starts a session under a new random id, and ends the one the browser had. */
  start(request: FastifyRequest, reply: FastifyReply, viewer: Viewer): void;
  end(request: FastifyRequest, reply: FastifyReply): void;
  /** Returns the mark of a form of this session. */
  csrfToken(session: Session, purpose: string): string;
  /** Tells whether a form is one that a page of ours showed in this session, and no other site sent it. */
  hasCsrfToken(request: FastifyRequest, session: Session, purpose: string): boolean;
}

const lifeMs = 12 * 3_600_000;
const maxSessions = 1_000;
/** Sessions of one person; one sign-in more ends the oldest of theirs, and no one else's. */
const maxOfOne = 10;

/** Creates the sessions. `isSecure` tells whether a request came to an address that people reach over HTTPS. */
export function createSessions(options: {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly isSecure: (request: FastifyRequest) => boolean;
}): Sessions {
  const { clock } = options;
  const kept = new Map<string, { readonly viewer: Viewer; readonly endsMs: number }>();
  const csrfTokens = createCsrfTokens();

  // A browser takes `__Host-` only over HTTPS, and from this very host alone.
  const nameFor = (request: FastifyRequest): string =>
    options.isSecure(request) ? '__Host-reeve_session' : 'reeve_session';
  const idOf = (request: FastifyRequest): string => request.cookies[nameFor(request)] ?? '';
  const write = (request: FastifyRequest, reply: FastifyReply, value: string, seconds: number): void => {
    const secure = options.isSecure(request);
    const flags = { path: '/', httpOnly: true, sameSite: 'strict', maxAge: seconds, secure } as const;
    reply.setCookie(nameFor(request), value, flags);
  };

  const makeRoom = ({ name }: Viewer): void => {
    for (const [id, { endsMs }] of kept) if (endsMs <= clock.monotonicMs()) kept.delete(id);
    const own = [...kept].filter(([, { viewer }]) => viewer.name === name);
    // Operators are let be: the others can be as many as a forge has accounts.
    const others = [...kept].filter(([, { viewer }]) => !viewer.isOperator);
    const [oldest] = own.length >= maxOfOne ? own : kept.size >= maxSessions ? [...others, ...kept] : [];
    if (oldest) kept.delete(oldest[0]);
  };

  return {
    find(request) {
      const id = idOf(request);
      const known = kept.get(id);
      if (known && clock.monotonicMs() < known.endsMs) return { id, viewer: known.viewer };
      kept.delete(id);
      return undefined;
    },
    start(request, reply, viewer) {
      kept.delete(idOf(request));
      const id = randomBytes(32).toString('base64url');
      makeRoom(viewer);
      kept.set(id, { viewer, endsMs: clock.monotonicMs() + lifeMs });
      write(request, reply, id, lifeMs / 1_000);
    },
    end(request, reply) {
      kept.delete(idOf(request));
      write(request, reply, '', 0);
    },
    csrfToken: ({ id }, purpose) => csrfTokens.tokenFor(id, purpose),
    hasCsrfToken(request, { id }, purpose) {
      const given = formFieldsOf(request.body).get('mark');
      return !isSentByOtherSite(request.headers) && csrfTokens.isValid(given, id, purpose);
    },
  };
}

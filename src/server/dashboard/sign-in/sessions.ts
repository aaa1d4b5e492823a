import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Tokens } from '../../../client/oauth2.ts';
import { BoundedMap } from '../../../platform/cache/bounded-map.ts';
import { systemClock } from '../../../platform/clock.ts';
import { isSameSecret, isSentByOtherSite } from '../../../platform/http/constant-time-equal.ts';
import { formFieldsOf } from '../../../platform/http/form.ts';
import type { SessionRows } from '../../../store/session-rows.ts';
import { passwordViewer, SignedOut, type Viewer } from '../visibility.ts';
import type { ForgeAccounts, ShareRenewal } from './forge-accounts.ts';
import {
  type AccountSession,
  formTokenOf,
  keyOfSession,
  type SessionContent,
  sealSession,
  unsealSession,
} from './session-seal.ts';

/** A signed-in person, in one browser. */
export type Session = { readonly id: string; readonly viewer: Viewer };

/**
 * Sessions of signed-in people, shared by all processes with one store. Only the cookie contains the session id: the
 * store has a key derived from the id, and the content is encrypted with another derived key.
 */
export interface Sessions {
  /** Returns the session of a request; undefined if the request has none. Rejects if the store cannot be read. */
  find(request: FastifyRequest): Promise<Session | undefined>;
  /** Starts a session under a new random id, ends the browser's previous one, and returns the viewer. */
  start(request: FastifyRequest, reply: FastifyReply, content: SessionContent): Promise<Viewer>;
  /** Ends the session, in all processes. */
  end(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Returns the CSRF token for a form of this session. */
  csrfToken(session: Session, purpose: string): string;
  /** Returns whether a form has the CSRF token of this session and was not sent by another site. */
  hasCsrfToken(request: FastifyRequest, session: Session, purpose: string): boolean;
}

const lifeMs = 12 * 3_600_000;
const limits = { lifeMs, maxSessions: 10_000, maxOfPerson: 10 } as const;
/** Maximum number of cached viewers with their access; the data of evicted viewers is requested again. */
const maxViewers = 1_000;

/** Creates the sessions. `isSecure` returns whether a request was sent to an address that browsers reach over HTTPS. */
export function createSessions(options: {
  readonly rows: SessionRows;
  /** Absent: no sign-in with forge accounts. */
  readonly accounts: ForgeAccounts | undefined;
  readonly isSecure: (request: FastifyRequest) => boolean;
}): Sessions {
  const { rows, accounts } = options;
  const viewers = new BoundedMap<string, Viewer>(maxViewers);

  // Browsers accept the `__Host-` prefix only over HTTPS, and only from this host.
  const nameFor = (request: FastifyRequest): string =>
    options.isSecure(request) ? '__Host-reeve_session' : 'reeve_session';
  const idOf = (request: FastifyRequest): string => request.cookies[nameFor(request)] ?? '';
  const write = (request: FastifyRequest, reply: FastifyReply, value: string, seconds: number): void => {
    const secure = options.isSecure(request);
    const flags = { path: '/', httpOnly: true, sameSite: 'strict', maxAge: seconds, secure } as const;
    reply.setCookie(nameFor(request), value, flags);
  };
  const remove = async (id: string): Promise<void> => {
    if (id === '') return;
    viewers.delete(keyOfSession(id));
    await rows.remove(keyOfSession(id));
  };
  /**
   * Returns the viewer of a session; undefined if sign-in with forge accounts was disabled, or if the row does not
   * belong to this session.
   */
  const viewerOf = (id: string, { sealed, ageMs }: { sealed: string; ageMs: number }): Viewer | undefined => {
    const content = unsealSession(id, sealed);
    if (content?.kind === 'password') return passwordViewer;
    if (content === undefined) return undefined;
    const tokens = agedTokens(content, ageMs);
    return accounts?.viewerOf({ ...content, tokens }, createSharedRenewal(rows, id, sealed));
  };

  return {
    async find(request) {
      const id = idOf(request);
      if (id === '') return undefined;
      const key = keyOfSession(id);
      const row = await rows.read(key);
      if (row === undefined) {
        viewers.delete(key);
        return undefined;
      }
      let viewer = viewers.get(key);
      if (viewer === undefined) {
        viewer = viewerOf(id, row);
        if (viewer) viewers.set(key, viewer);
      }
      return viewer && { id, viewer };
    },
    async start(request, reply, content) {
      await remove(idOf(request));
      const id = randomBytes(32).toString('base64url');
      const sealed = sealSession(id, content);
      const viewer = viewerOf(id, { sealed, ageMs: 0 });
      if (viewer === undefined) throw new Error('there is no sign-in with forge accounts');
      const { name: person, isOperator } = viewer;
      const key = keyOfSession(id);
      await rows.add({ key, person, isOperator, sealed }, limits);
      viewers.set(key, viewer);
      write(request, reply, id, lifeMs / 1_000);
      return viewer;
    },
    async end(request, reply) {
      write(request, reply, '', 0);
      await remove(idOf(request));
    },
    csrfToken: ({ id }, purpose) => formTokenOf(id, purpose),
    hasCsrfToken(request, { id }, purpose) {
      const given = formFieldsOf(request.body).get('mark');
      return !isSentByOtherSite(request.headers) && isSameSecret(given, formTokenOf(id, purpose));
    },
  };
}

/** Lifetime of a renewal claim, longer than a renewal takes. */
const claimMs = 25_000;
/** Interval of the check whether another process has renewed the tokens. */
const lookMs = 100;

/** Returns tokens with the lifetime that remains `ageMs` after they were sealed. */
function agedTokens({ tokens }: AccountSession, ageMs: number): Tokens {
  return { ...tokens, expiresInMs: tokens.expiresInMs - ageMs };
}

/**
 * Returns the function that renews the tokens of a session only once for all processes, because a forge may accept each
 * refresh token only once. The other processes use the result of the first one. `sealed` is the content with the
 * tokens.
 */
function createSharedRenewal(rows: SessionRows, id: string, sealed: string): ShareRenewal {
  const key = keyOfSession(id);
  let seen = sealed;
  return async (renew) => {
    for (;;) {
      const row = await rows.read(key);
      const content = row && unsealSession(id, row.sealed);
      if (row === undefined || content?.kind !== 'forge') throw new SignedOut('the session has ended');
      if (row.sealed !== seen) {
        seen = row.sealed;
        return agedTokens(content, row.ageMs);
      }
      if (await rows.claimRenewal(key, seen, claimMs)) return renewAlone(content, renew);
      await systemClock.sleep(lookMs);
    }
  };

  async function renewAlone(content: AccountSession, renew: () => Promise<Tokens>): Promise<Tokens> {
    let tokens: Tokens;
    try {
      tokens = await renew();
    } catch (error) {
      // A claim that is not released only delays the next attempt.
      await rows.releaseRenewal(key).catch(() => {});
      throw error;
    }
    seen = sealSession(id, { ...content, tokens: { ...tokens } });
    await rows.reseal(key, seen);
    return tokens;
  }
}

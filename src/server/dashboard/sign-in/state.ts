import { createHash, randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../../platform/clock.ts';
import { isSameSecret } from '../../../platform/http/constant-time-equal.ts';
import { createCsrfTokens } from '../../../platform/http/csrf-tokens.ts';

/** A sign-in with a forge account that a browser has begun. */
type Begun = {
  readonly state: string;
  readonly verifier: string;
  /** SHA-256 of the verifier, base64url. */
  readonly challenge: string;
  /** The path that the person came for. */
  readonly to: string;
};

/** What ties the forge's answer to the browser that asked: a cookie that only a process of this installation can have made. */
interface SignInState {
  begin(request: FastifyRequest, reply: FastifyReply, to: string): Begun;
  /** Returns what this browser began, where `state` is that of it; undefined for everything else. */
  find(request: FastifyRequest, state: string): Begun | undefined;
  forget(request: FastifyRequest, reply: FastifyReply): void;
}

const seconds = 600;

/**
 * Creates it. Over HTTPS the cookie is one that no neighbouring site can set. It is signed with `signInKey`, so that the forge may
 * send people back to another process that has the same key.
 */
export function createSignInState({
  isSecure,
  signInKey,
  clock,
}: {
  readonly isSecure: (request: FastifyRequest) => boolean;
  readonly signInKey: Uint8Array | undefined;
  readonly clock: Pick<Clock, 'now'>;
}): SignInState {
  const csrfTokens = createCsrfTokens(signInKey);
  const nameFor = (request: FastifyRequest): string =>
    isSecure(request) ? '__Host-reeve_sign_in' : 'reeve_sign_in';
  // Lax: the forge's answer is a visit that begins on its site, and must bring this along.
  const write = (request: FastifyRequest, reply: FastifyReply, value: string, maxAge: number): void => {
    const flags = { path: '/', httpOnly: true, sameSite: 'lax', maxAge, secure: isSecure(request) } as const;
    reply.setCookie(nameFor(request), value, flags);
  };
  const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');
  const random = (): string => randomBytes(32).toString('base64url');

  return {
    begin(request, reply, to) {
      const [state, verifier] = [random(), random()];
      const ends = String(clock.now().getTime() + seconds * 1_000);
      const parts = [state, verifier, Buffer.from(to).toString('base64url'), ends].join('.');
      write(request, reply, `${parts}.${csrfTokens.tokenFor('', parts)}`, seconds);
      return { state, verifier, challenge: challengeOf(verifier), to };
    },
    find(request, given) {
      const held = request.cookies[nameFor(request)] ?? '';
      const parts = held.slice(0, held.lastIndexOf('.'));
      if (!csrfTokens.isValid(held.slice(held.lastIndexOf('.') + 1), '', parts)) return undefined;
      const [state = '', verifier = '', to = '', ends] = parts.split('.');
      if (state === '' || !isSameSecret(given, state)) return undefined;
      // A browser may keep a cookie for longer than it was told to.
      if (clock.now().getTime() >= Number(ends)) return undefined;
      return {
        state,
        verifier,
        challenge: challengeOf(verifier),
        to: Buffer.from(to, 'base64url').toString('utf8'),
      };
    },
    forget: (request, reply) => write(request, reply, '', 0),
  };
}

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ForgeProblem } from '../errors.ts';
import type { UserRow } from '../rows.ts';

/**
 * Guards the forms of the pages. A browser sends Basic credentials along with whatever another site makes it send, so a
 * form also carries a mark that only a page of this forge, shown to this very person, could have given.
 */
export interface FormGuard {
  /** Returns the mark of a form for what it does. */
  markOf(caller: UserRow | undefined, purpose: string): string;
  /** Ends the request with 403 where the mark is missing or of another form, or where another site sent it. */
  check(request: FastifyRequest, caller: UserRow | undefined, purpose: string): void;
}

/** Creates the guard; its secret lasts as long as the process, so a form of a former one has to be loaded again. */
export function createFormGuard(): FormGuard {
  const secret = randomBytes(32);
  const digest = (caller: UserRow | undefined, purpose: string): Buffer =>
    createHmac('sha256', secret)
      .update(`${caller?.id ?? 0}\0${purpose}`)
      .digest();
  return {
    markOf: (caller, purpose) => digest(caller, purpose).toString('hex'),
    check(request, caller, purpose) {
      const site = request.headers['sec-fetch-site'];
      const isForeign = site !== undefined && site !== 'same-origin' && site !== 'none';
      const given = request.body instanceof URLSearchParams ? (request.body.get('mark') ?? '') : '';
      const wanted = digest(caller, purpose);
      const bytes = Buffer.from(given, 'hex');
      const isRight = bytes.length === wanted.length && timingSafeEqual(bytes, wanted);
      if (isForeign || !isRight) throw new ForgeProblem(403, 'this form is out of date: load its page again');
    },
  };
}

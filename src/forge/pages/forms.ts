import type { FastifyRequest } from 'fastify';
import { createCsrfTokens, isSentByOtherSite } from '../../platform/http/csrf-tokens.ts';
import { formFieldsOf } from '../../platform/http/form.ts';
import { ForgeProblem } from '../core/errors.ts';
import type { UserRow } from '../core/rows.ts';

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

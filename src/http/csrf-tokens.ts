import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isSameSecret } from './constant-time-equal.ts';

/**
 * Marks that forms carry. A browser sends credentials along with whatever another site makes it send, so a form also
 * carries what only a page of ours, shown to this very person for this very purpose, could have given.
 */
interface CsrfTokens {
  /** Returns the mark of a form, by who was shown it and what it does. */
  tokenFor(who: string, purpose: string): string;
  /** Tells whether a mark is that form's. Compared in constant time. */
  isValid(mark: string, who: string, purpose: string): boolean;
}

/** Creates the marks; their secret lasts as long as the process, so a form of a former one has to be loaded again. */
export function createCsrfTokens(): CsrfTokens {
  const secret = randomBytes(32);
  const tokenFor = (who: string, purpose: string): string =>
    createHmac('sha256', secret).update(`${who}\0${purpose}`).digest('hex');
  return {
    tokenFor,
    isValid: (mark, who, purpose) => isSameSecret(mark, tokenFor(who, purpose)),
  };
}

/** Tells whether a browser says that another site made it send this. Browsers that say nothing are not accused. */
export function isSentByOtherSite(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

import type { Redact } from '../platform/redactor.ts';

/** One HTTP request to the forge, as a run records it: neither headers nor bodies. */
export type ForgeRequest = {
  readonly method: string;
  /** Below the API, with the number and size of a page and no other part of the query. */
  readonly path: string;
  /** Absent where there was no answer. */
  readonly status?: number;
  readonly ms: number;
  /** Number of the try, from 1. */
  readonly attempt: number;
  /** Beginning of the forge's message in an error answer, or the reason why there was no answer. */
  readonly error?: string;
};

/** The requests of one client: the first ones, and how many came after them. */
export type RequestList = { readonly requests: readonly ForgeRequest[]; readonly leftOut: number };

/** Requests that are kept of one client; a run with more has walked over pages. */
export const maxLoggedRequests = 50;
const maxPathLength = 300;
/** Characters of an error that are held until the run is recorded: its secrets are removed before it is cut. */
const maxHeldError = 4_000;
/** Parts of a query that say which page was asked for. All others are left out: they may hold anything. */
const shownParameters = ['page', 'limit'];

/** A request that has ended. */
type EndedRequest = Omit<ForgeRequest, 'path' | 'status' | 'error'> & {
  readonly url: URL;
  readonly status: number | undefined;
  readonly error: string | undefined;
};

/** Keeps the first requests of a client. Every text passes `redact`. */
export class RequestLog {
  readonly #requests: ForgeRequest[] = [];
  readonly #redact: Redact;
  #leftOut = 0;

  constructor(redact: Redact) {
    this.#redact = redact;
  }

  add({ method, url, status, ms, attempt, error }: EndedRequest): void {
    if (this.#requests.length >= maxLoggedRequests) {
      this.#leftOut += 1;
      return;
    }
    this.#requests.push({
      method,
      path: this.#redact(pathOf(url)).slice(0, maxPathLength),
      ...(status === undefined ? {} : { status }),
      ms: Math.round(ms),
      attempt,
      ...(error === undefined ? {} : { error: this.#redact(error).slice(0, maxHeldError) }),
    });
  }

  list(): RequestList {
    return { requests: [...this.#requests], leftOut: this.#leftOut };
  }
}

function pathOf(url: URL): string {
  const path = url.pathname.replace(/^\S*?\/api\/v1(?=\/)/, '');
  // The parameters of a URL are parsed when they are first asked for.
  if (url.search === '') return path;
  const shown = shownParameters.flatMap((name) => {
    const value = url.searchParams.get(name);
    return value !== null && /^\d{1,9}$/.test(value) ? [`${name}=${value}`] : [];
  });
  return shown.length === 0 ? path : `${path}?${shown.join('&')}`;
}

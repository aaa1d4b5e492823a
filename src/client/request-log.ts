import type { Redact } from '../platform/redactor.ts';

/** One recorded HTTP request to the forge, without headers and bodies. */
export type ForgeRequest = {
  readonly method: string;
  /** Path relative to the API, with page number and size and no other part of the query. */
  readonly path: string;
  /** Absent without a response. */
  readonly status?: number;
  readonly ms: number;
  /** Number of the try, from 1. */
  readonly attempt: number;
  /** Beginning of the forge's message in an error response, or the reason why there is no response. */
  readonly error?: string;
};

/** The requests of one client: the first ones, and the count of the others. */
export type RequestList = { readonly requests: readonly ForgeRequest[]; readonly leftOut: number };

/** Maximum recorded requests of one client; a run with more has paged through lists. */
export const maxLoggedRequests = 50;
const maxPathLength = 300;
/** Maximum characters of an error until the run is recorded: its secrets are removed before it is truncated. */
const maxHeldError = 4_000;
/** Query parameters that identify the requested page. All others are omitted: they may contain anything. */
const shownParameters = ['page', 'limit'];

/** A completed request. */
type EndedRequest = Omit<ForgeRequest, 'path' | 'status' | 'error'> & {
  readonly url: URL;
  readonly status: number | undefined;
  readonly error: string | undefined;
};

/** Records the first requests of a client. Every text is passed through `redact`. */
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
  // Reading `searchParams` parses the query, which most URLs do not have.
  if (url.search === '') return path;
  const shown = shownParameters.flatMap((name) => {
    const value = url.searchParams.get(name);
    return value !== null && /^\d{1,9}$/.test(value) ? [`${name}=${value}`] : [];
  });
  return shown.length === 0 ? path : `${path}?${shown.join('&')}`;
}

/**
 * All error codes of Reeve, in one table. A code is stable: scripts, logs and the dashboard branch on it.
 *
 * `http` is the status of an HTTP response, `exit` the exit status of the command line,
 * `retryable` whether the same work may succeed later without any change.
 */
const codes = {
  // command line and settings
  usage: { http: 400, exit: 2, retryable: false },
  settings: { http: 500, exit: 2, retryable: false },
  'port-taken': { http: 500, exit: 2, retryable: false },
  'rules-broken': { http: 422, exit: 1, retryable: false },
  // requests to a forge
  'forge-unreachable': { http: 502, exit: 3, retryable: true },
  'forge-timeout': { http: 504, exit: 3, retryable: true },
  'forge-unavailable': { http: 502, exit: 3, retryable: true },
  'forge-throttled': { http: 429, exit: 3, retryable: true },
  'forge-junk': { http: 502, exit: 3, retryable: true },
  'forge-unexpected': { http: 502, exit: 3, retryable: true },
  'forge-unauthorized': { http: 502, exit: 2, retryable: false },
  'forge-forbidden': { http: 502, exit: 1, retryable: false },
  'forge-not-found': { http: 404, exit: 1, retryable: false },
  'forge-conflict': { http: 409, exit: 1, retryable: false },
  'forge-locked': { http: 423, exit: 1, retryable: false },
  'forge-refused': { http: 422, exit: 1, retryable: false },
  'forge-moved': { http: 409, exit: 1, retryable: false },
  'forge-paging': { http: 502, exit: 1, retryable: true },
  'repository-missing': { http: 404, exit: 1, retryable: true },
  // store and worker
  'store-unwritable': { http: 503, exit: 1, retryable: true },
  'store-locked': { http: 503, exit: 2, retryable: false },
  'store-lost': { http: 503, exit: 1, retryable: false },
  'store-newer': { http: 503, exit: 2, retryable: false },
  'store-unfinished': { http: 503, exit: 2, retryable: false },
  'lease-lost': { http: 500, exit: 1, retryable: true },
  // the process
  stopped: { http: 503, exit: 1, retryable: true },
  // messages to receivers that are not the forge
  'message-refused': { http: 502, exit: 1, retryable: false },
  'message-unsent': { http: 502, exit: 1, retryable: true },
  // deliveries
  'delivery-malformed': { http: 400, exit: 1, retryable: false },
  'delivery-refused': { http: 403, exit: 1, retryable: false },
  // embedded forge, and internal errors
  'git-failed': { http: 500, exit: 1, retryable: false },
  internal: { http: 500, exit: 1, retryable: false },
} as const;

export type ErrorCode = keyof typeof codes;

/**
 * Codes that mean a failure of the forge as a whole, for any request: it is unreachable or returns invalid responses, a
 * proxy responds in its place, or it refuses our credential.
 */
const hostFailures: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'forge-unreachable',
  'forge-timeout',
  'forge-unavailable',
  'forge-junk',
  'forge-unauthorized',
]);

/** The table of codes, for the page that explains them and the test that counts them. */
export const errorCodes: Readonly<Record<ErrorCode, { http: number; exit: number; retryable: boolean }>> =
  codes;

/**
 * Raised when no lower layer can recover. The message says what failed, where, what was seen and what to do; it never
 * contains a credential. The original error is in `cause`.
 */
export class ReeveError extends Error {
  readonly code: ErrorCode;
  /** Delay in milliseconds that the remote server requested (`Retry-After`). */
  readonly retryAfterMs: number | undefined;
  /** The HTTP status of the forge's response, if any. */
  readonly status: number | undefined;
  /** Method and path of the refused request, relative to the API root. */
  readonly request: string | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      cause?: unknown;
      retryAfterMs?: number | undefined;
      status?: number | undefined;
      request?: string | undefined;
    } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'ReeveError';
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
    this.request = options.request;
  }

  get http(): number {
    return codes[this.code].http;
  }
  get exit(): number {
    return codes[this.code].exit;
  }
  get retryable(): boolean {
    return codes[this.code].retryable;
  }
  /** Whether other work at the forge would currently fail in the same way. */
  get isHostFailure(): boolean {
    return hostFailures.has(this.code);
  }
  /**
   * Whether work that failed with this error is kept and tried again. This holds for retryable errors and for errors
   * that the operator has to fix: otherwise, an expired token would lose every delivery until someone notices. An
   * immediate retry after such an error is useless, however.
   */
  get keepsWork(): boolean {
    return this.retryable || this.code === 'forge-unauthorized' || this.code === 'settings';
  }
}

/** Returns the message of a thrown value, for use within a sentence. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/**
 * Returns whether an error is a 403 or 404 of the forge: the account may not see what was requested, or it does not
 * exist. Forges do not always tell which.
 */
export function isDenied(error: unknown): error is ReeveError {
  return error instanceof ReeveError && (error.status === 403 || error.status === 404);
}

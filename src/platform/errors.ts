/**
 * Every way in which Reeve gives up, in one table. A code is stable: scripts, logs and the dashboard branch on it.
 *
 * `http` is the status a door that speaks HTTP answers with, `exit` the status of the command line,
 * `retryable` whether the same work may succeed later without anybody changing anything.
 */
const codes = {
  // command line and settings
  usage: { http: 400, exit: 2, retryable: false },
  settings: { http: 500, exit: 2, retryable: false },
  'port-taken': { http: 500, exit: 2, retryable: false },
  'rules-broken': { http: 422, exit: 1, retryable: false },
  // asking a forge
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
  // being a forge
  'git-failed': { http: 500, exit: 1, retryable: false },
  internal: { http: 500, exit: 1, retryable: false },
} as const;

export type ErrorCode = keyof typeof codes;

/**
 * Codes by which the forge as a whole may fail, whatever was asked: it cannot be reached or answers for nothing, something
 * before it answers in its place, or it refuses our credential.
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
 * Raised when no code further down can recover. The message says what failed, where, what was seen and what to do;
 * it never carries a credential. What caused it stands in `cause`.
 */
export class ReeveError extends Error {
  readonly code: ErrorCode;
  /** Milliseconds that the other side asked us to wait, when it did (`Retry-After`). */
  readonly retryAfterMs: number | undefined;
  /** The HTTP status the forge answered, when there was one. */
  readonly status: number | undefined;
  /** Method and path of the request that the forge refused, below the root of its API. */
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
  /** Whether other work at the forge would probably fail in the same way now. */
  get isHostFailure(): boolean {
    return hostFailures.has(this.code);
  }
  /**
   * Whether work that met this is kept and tried again: what is retryable, and what the operator has to repair. A token that
   * runs out would otherwise cost every delivery until it is noticed; asking the same again at once is of no use, though.
   */
  get keepsWork(): boolean {
    return this.retryable || this.code === 'forge-unauthorized' || this.code === 'settings';
  }
}

/** Returns the text of whatever was thrown, for a message that continues a sentence. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

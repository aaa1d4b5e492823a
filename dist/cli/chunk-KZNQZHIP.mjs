// src/errors.ts
var codes = {
  // command line and settings
  usage: { http: 400, exit: 2, retryable: false },
  settings: { http: 500, exit: 2, retryable: false },
  "port-taken": { http: 500, exit: 2, retryable: false },
  "rules-broken": { http: 422, exit: 1, retryable: false },
  // asking a forge
  "forge-unreachable": { http: 502, exit: 3, retryable: true },
  "forge-timeout": { http: 504, exit: 3, retryable: true },
  "forge-unavailable": { http: 502, exit: 3, retryable: true },
  "forge-throttled": { http: 429, exit: 3, retryable: true },
  "forge-junk": { http: 502, exit: 3, retryable: true },
  "forge-unauthorized": { http: 502, exit: 2, retryable: false },
  "forge-forbidden": { http: 502, exit: 1, retryable: false },
  "forge-not-found": { http: 404, exit: 1, retryable: false },
  "forge-conflict": { http: 409, exit: 1, retryable: false },
  "forge-locked": { http: 423, exit: 1, retryable: false },
  "forge-refused": { http: 422, exit: 1, retryable: false },
  "forge-moved": { http: 409, exit: 1, retryable: false },
  "forge-paging": { http: 502, exit: 1, retryable: true },
  // store and worker
  "store-unwritable": { http: 503, exit: 1, retryable: true },
  "store-locked": { http: 503, exit: 2, retryable: false },
  "store-newer": { http: 503, exit: 2, retryable: false },
  "lease-lost": { http: 500, exit: 1, retryable: true },
  // deliveries
  "delivery-malformed": { http: 400, exit: 1, retryable: false },
  // being a forge
  "git-failed": { http: 500, exit: 1, retryable: false },
  internal: { http: 500, exit: 1, retryable: false }
};
var ReeveError = class extends Error {
  code;
  /** Milliseconds that the other side asked us to wait, when it did (`Retry-After`). */
  retryAfterMs;
  /** The HTTP status the forge answered, when there was one. */
  status;
  constructor(code, message, options = {}) {
    super(message, options.cause === void 0 ? {} : { cause: options.cause });
    this.name = "ReeveError";
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
  }
  get http() {
    return codes[this.code].http;
  }
  get exit() {
    return codes[this.code].exit;
  }
  get retryable() {
    return codes[this.code].retryable;
  }
  /**
   * Whether work that met this is kept and tried again: what is retryable, and a refused credential. A token that runs out
   * would otherwise cost every delivery until somebody notices; asking the same again at once is of no use, though.
   */
  get keepsWork() {
    return this.retryable || this.code === "forge-unauthorized";
  }
};
function messageOf(thrown) {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

export {
  ReeveError,
  messageOf
};

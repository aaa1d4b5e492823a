import {
  parsePayload
} from "./chunk-F5HW2RH7.mjs";
import {
  createScope,
  isWholeScope
} from "./chunk-W47FSTJL.mjs";
import {
  digestOfSecret,
  isSameDigest,
  isSameSecret
} from "./chunk-OK4C527H.mjs";
import {
  laneOf,
  parseEvent,
  readEventHeaders
} from "./chunk-QVU6XQ2A.mjs";
import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/dashboard/sign-in-address.ts
var signInPath = "/sign-in/callback";
function redirectOf(dashboard) {
  return `${dashboard.replace(/\/+$/, "")}${signInPath}`;
}

// src/receiver/limits.ts
var defaultMaxBodyBytes = 8 * 2 ** 20;
var maxConnections = 2e3;
function serverOptions(limits = {}) {
  const { headersTimeoutMs = 5e3, requestTimeoutMs = 1e4, checkingIntervalMs = 1e3 } = limits;
  return {
    requestTimeout: requestTimeoutMs,
    // Behind a proxy the address of a failure is the proxy's: better than one that the sender may choose.
    trustProxy: false,
    routerOptions: { ignoreTrailingSlash: false },
    http: {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: checkingIntervalMs
    }
  };
}

// src/throttle.ts
var maxAddresses = 1e4;
var windowMs = 6e4;
function createThrottle({
  perMinute,
  clock
}) {
  const seen = /* @__PURE__ */ new Map();
  return {
    isTooMuch(address) {
      const nowMs = clock.now().getTime();
      const last = seen.get(address);
      const isFresh = last !== void 0 && Math.abs(nowMs - last.startMs) < windowMs;
      const entry = isFresh ? last : { startMs: nowMs, failures: 0 };
      entry.failures += 1;
      seen.delete(address);
      seen.set(address, entry);
      if (seen.size > maxAddresses) {
        for (const oldest of seen.keys()) {
          seen.delete(oldest);
          break;
        }
      }
      return entry.failures > perMinute;
    }
  };
}

// src/receiver/body.ts
var BodyError = class extends Error {
  status;
  constructor(status, message) {
    super(message);
    this.name = "BodyError";
    this.status = status;
  }
};
var lingerMs = 2e3;
var lingerBytes = 64 * 2 ** 20;
function createBodies({ maxBytes, budgetBytes }) {
  let held = 0;
  const open = /* @__PURE__ */ new Map();
  const hold = (request, bytes) => {
    held += bytes;
    open.set(request, (open.get(request) ?? 0) + bytes);
    if (held > budgetBytes && eldest() !== request) request.pause();
  };
  const eldest = () => open.keys().next().value;
  const release = (request) => {
    held -= open.get(request) ?? 0;
    open.delete(request);
    for (const waiting of open.keys()) {
      if (waiting.isPaused()) waiting.resume();
      if (held > budgetBytes) break;
    }
  };
  return {
    read(request) {
      return new Promise((resolve, reject) => {
        const chunks = [];
        let length = 0;
        const stop = (error) => {
          request.off("data", onData).off("end", onEnd).off("error", onBreak).off("close", onBreak);
          chunks.length = 0;
          release(request);
          if (error.status === 413) linger(request);
          reject(error);
        };
        const onData = (chunk) => {
          length += chunk.length;
          if (length > maxBytes) {
            stop(new BodyError(413, `the body is larger than ${maxBytes} bytes`));
            return;
          }
          chunks.push(chunk);
          hold(request, chunk.length);
        };
        const onEnd = () => {
          request.off("close", onBreak);
          const [only] = chunks;
          const bytes = chunks.length === 1 && only !== void 0 ? only : Buffer.concat(chunks, length);
          resolve({ bytes, release: () => release(request) });
        };
        const onBreak = () => stop(new BodyError(400, "the body broke off"));
        if (Number(request.headers["content-length"]) > maxBytes) {
          stop(new BodyError(413, `the body is larger than ${maxBytes} bytes`));
          return;
        }
        request.on("data", onData).on("end", onEnd).on("error", onBreak).on("close", onBreak);
      });
    }
  };
}
function linger(request) {
  const timer = setTimeout(() => request.destroy(), lingerMs);
  timer.unref();
  let rest = lingerBytes;
  request.on("data", (chunk) => {
    rest -= chunk.length;
    if (rest < 0) request.destroy();
  });
  request.on("error", () => {
  }).on("close", () => clearTimeout(timer));
  request.resume();
}

// src/receiver/verify.ts
import { isUtf8 } from "node:buffer";
import { sign } from "@octokit/webhooks-methods";
function createVerify(entries) {
  const guards = entries.map((entry) => ({
    name: entry.name,
    digests: entry.authorization.map(digestOfSecret),
    hmac: entry.hmac,
    voucher: {
      name: entry.name,
      isTrustedUnread: entry.hmac.length > 0 && isWholeScope(entry.scope),
      covers: createScope(entry.scope)
    }
  }));
  return async (headers, body) => {
    const given = headers.authorization;
    const digest = digestOfSecret(typeof given === "string" ? given : "");
    const signature = signatureOf(headers);
    const text = signature !== void 0 && isUtf8(body) ? body.toString("utf8") : "";
    const vouchers = [];
    const failed = [];
    for (const guard of guards) {
      const isKnown = isAuthorized(digest, guard.digests);
      const isSigned = await hasSignature(text, signature, guard.hmac);
      if (isKnown && isSigned) vouchers.push(guard.voucher);
      else failed.push({ entry: guard.name, guard: isKnown ? "signature" : "authorization" });
    }
    return { vouchers, failed };
  };
}
function isAuthorized(digest, digests) {
  let found = digests.length === 0;
  for (const live of digests) {
    if (isSameDigest(digest, live)) found = true;
  }
  return found;
}
async function hasSignature(text, signature, secrets) {
  let found = secrets.length === 0;
  if (signature === void 0 || text === "") return found;
  for (const secret of secrets) {
    if (isSameSecret(signature, await sign(secret, text))) found = true;
  }
  return found;
}
var bareHeaders = ["x-forgejo-signature", "x-gitea-signature", "x-gogs-signature"];
function signatureOf(headers) {
  for (const name of bareHeaders) {
    const value = headers[name];
    if (typeof value === "string" && value !== "") return `sha256=${value}`;
  }
  const prefixed = headers["x-hub-signature-256"];
  return typeof prefixed === "string" && prefixed !== "" && prefixed !== "sha256=" ? prefixed : void 0;
}

// src/receiver/route.ts
var Refusal = class extends Error {
  status;
  answer;
  headers;
  constructor(status, answer, message, headers = {}) {
    super(message);
    this.status = status;
    this.answer = answer;
    this.headers = headers;
  }
};
var types = /* @__PURE__ */ new Set(["application/json", "application/x-www-form-urlencoded"]);
async function receiver(app, options) {
  const { store, log, clock = { now: () => /* @__PURE__ */ new Date() }, onAnswer = () => {
  }, onStored = () => {
  } } = options;
  const bodies = createBodies({
    maxBytes: options.maxBodyBytes ?? defaultMaxBodyBytes,
    budgetBytes: options.budgetBytes ?? 32 * 2 ** 20
  });
  const verify = createVerify(options.secrets);
  const throttle = createThrottle({ perMinute: options.failuresPerMinute ?? 60, clock });
  const refuseUnauthorized = (request, failed) => {
    if (throttle.isTooMuch(request.ip)) {
      throw new Refusal(429, "throttled", "too many refused requests", { "retry-after": "60" });
    }
    log.warn({ address: request.ip, failed }, "refused a delivery: no entry of secrets passes");
    throw new Refusal(401, "unauthorized", "not authorized");
  };
  const receive = async (request, bytes) => {
    const receivedAt = clock.now();
    const contentType = typeOf(request);
    const body = contentType === "application/json" ? bytes : payloadOfForm(bytes);
    const { vouchers, failed } = await verify(request.headers, body);
    if (vouchers.length === 0) refuseUnauthorized(request, failed);
    const headers = readHeaders(request);
    const { voucher, route } = examine(vouchers, headers, body);
    const delivery = {
      uuid: headers.delivery,
      eventType: headers.eventType,
      entry: voucher.name,
      contentType,
      receivedAt,
      body
    };
    return store.accept(route === void 0 ? delivery : { ...delivery, route });
  };
  app.server.maxConnections = maxConnections;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, payload, done) => {
    bodies.read(payload).then((body) => done(null, body), done);
  });
  app.setErrorHandler((error, request, reply) => {
    const refusal = refusalOf(error);
    if (refusal.status >= 500) log.error({ error: messageOf(error) }, "could not take a delivery");
    else if (refusal.answer !== "unauthorized" && refusal.answer !== "throttled") {
      log.warn({ address: request.ip, status: refusal.status }, `refused a delivery: ${refusal.message}`);
    }
    onAnswer(refusal.status, refusal.answer);
    return reply.code(refusal.status).headers(refusal.headers).send({ message: refusal.message });
  });
  const others = app.supportedMethods.filter((method) => method !== "POST");
  app.route({
    method: others,
    url: "/webhook",
    onRequest: async () => {
      throw new Refusal(405, "method", "deliveries come by POST", { allow: "POST" });
    },
    handler: () => {
    }
  });
  app.post("/webhook", {
    onRequest: (request, _reply, done) => {
      const isPlain = (request.headers["content-encoding"] ?? "identity") === "identity";
      if (isPlain && types.has(typeOf(request))) done();
      else done(new Refusal(415, "type", "the body must be application/json or a form, not compressed"));
    },
    handler: async (request, reply) => {
      const held = request.body;
      try {
        const accepted = await receive(request, held?.bytes ?? Buffer.alloc(0));
        const status = accepted.known ? 200 : 202;
        onAnswer(status, accepted.known ? "known" : accepted.copyOf === void 0 ? "stored" : "copy");
        if (status === 202 && accepted.copyOf === void 0) onStored();
        return reply.code(status).header("content-type", "application/json").send(`{"id":"${accepted.id}"}`);
      } finally {
        held?.release();
      }
    }
  });
}
function examine(vouchers, headers, body) {
  const trusted = vouchers.find((voucher2) => voucher2.isTrustedUnread);
  if (trusted !== void 0) return { voucher: trusted, route: void 0 };
  const event = parseEvent(headers.eventType, parsePayload(body));
  const { repository } = event;
  const fullName = repository === void 0 ? void 0 : `${repository.owner}/${repository.name}`;
  const voucher = vouchers.find((each) => each.covers(fullName));
  if (voucher === void 0) {
    throw new Refusal(403, "scope", `${fullName ?? "an event without a repository"} is outside of the scope`);
  }
  const lane = laneOf(event);
  if (repository === void 0 || fullName === void 0) return { voucher, route: { lane } };
  return { voucher, route: { lane, repositoryId: repository.id, repository: fullName } };
}
var plainHeader = /^[\x21-\x7e]{1,200}$/;
function readHeaders(request) {
  const headers = readEventHeaders(request.headers);
  if (headers === void 0 || !plainHeader.test(headers.delivery) || !plainHeader.test(headers.eventType)) {
    throw new Refusal(400, "malformed", "the headers do not name a delivery and its event type");
  }
  return headers;
}
function typeOf(request) {
  const type = request.headers["content-type"] ?? "";
  const end = type.indexOf(";");
  return (end === -1 ? type : type.slice(0, end)).trim().toLowerCase();
}
function payloadOfForm(bytes) {
  return Buffer.from(new URLSearchParams(bytes.toString("utf8")).get("payload") ?? "");
}
function refusalOf(error) {
  if (error instanceof Refusal) return error;
  if (error instanceof BodyError) {
    return new Refusal(error.status, error.status === 413 ? "size" : "malformed", error.message);
  }
  if (!(error instanceof ReeveError)) return new Refusal(500, "internal", "this is our mistake: see the log");
  if (error.http === 400) return new Refusal(400, "malformed", error.message);
  const seconds = Math.max(Math.ceil((error.retryAfterMs ?? 5e3) / 1e3), 1);
  return new Refusal(503, "unavailable", "the store cannot take it now", { "retry-after": String(seconds) });
}

export {
  maxConnections,
  serverOptions,
  createThrottle,
  receiver,
  signInPath,
  redirectOf
};

import { isUtf8 } from 'node:buffer';
import { sign } from '@octokit/webhooks-methods';
import type { FastifyRequest } from 'fastify';
import { type EventHeaders, readEventHeaders } from '../../contract/events/event-headers.ts';
import { laneOf, parseDelivery } from '../../contract/events/events.ts';
import { parsePayload } from '../../contract/events/parse-payload.ts';
import type { WallClock } from '../../platform/clock.ts';
import { digestOfSecret, isSameDigest } from '../../platform/http/constant-time-equal.ts';
import { createFailureThrottle } from '../../platform/http/failure-throttle.ts';
import type { Log } from '../../platform/log.ts';
import type { NewDelivery, Route } from '../../store/store.ts';
import { encodeHeaders, type KeptHeader } from '../../store/stored-headers.ts';
import { ReceiverRefusal } from './answers.ts';
import type { Bodies } from './body.ts';
import { createEntryScope, isWholeScope, type SecretEntry } from './secrets.ts';

const types: ReadonlySet<string> = new Set(['application/json', 'application/x-www-form-urlencoded']);

/** The guards that a request has to pass, before and after its body is read. */
export interface Guards {
  /**
   * Checks a request before its body is read. Returns the digest of its `Authorization` header. Throws ReceiverRefusal
   * or BodyError.
   */
  examineHeaders(request: FastifyRequest): Buffer;
  /**
   * Returns the delivery that a request carries; `authorization` comes from `examineHeaders`. Throws ReceiverRefusal.
   */
  admit(request: FastifyRequest, authorization: Buffer, bytes: Buffer): Promise<NewDelivery>;
}

/** Creates the guards. */
export function createGuards(options: {
  readonly bodies: Bodies;
  readonly secrets: readonly SecretEntry[];
  /** Number of refused requests per minute and address that get 401; further ones get 429. */
  readonly failuresPerMinute: number;
  readonly clock: WallClock;
  readonly log: Log;
}): Guards {
  const { bodies, clock, log } = options;
  const verify = createVerify(options.secrets);
  const keptHeaders = createKeptHeaders();
  const mayPass = createHeaderCheck(options.secrets);
  const throttle = createFailureThrottle({ perMinute: options.failuresPerMinute, clock });

  const unauthorized = (request: FastifyRequest, failed: object): ReceiverRefusal => {
    if (throttle.recordFailure(request.ip)) {
      return new ReceiverRefusal(429, 'throttled', 'too many refused requests', { 'retry-after': '60' });
    }
    log.warn({ address: request.ip, failed }, 'refused a delivery: no entry of secrets matches');
    return new ReceiverRefusal(401, 'unauthorized', 'not authorized');
  };

  return {
    examineHeaders(request) {
      const isPlain = (request.headers['content-encoding'] ?? 'identity') === 'identity';
      if (!isPlain || !types.has(contentTypeOf(request))) {
        throw new ReceiverRefusal(415, 'type', 'the body must be application/json or a form, not compressed');
      }
      const tooLarge = bodies.refuse(request.raw);
      if (tooLarge !== undefined) throw tooLarge;
      const authorization = digestOfAuthorization(request.headers);
      if (!mayPass(authorization)) throw unauthorized(request, { guard: 'authorization' });
      return authorization;
    },

    async admit(request, authorization, bytes) {
      const receivedAt = clock.now();
      const contentType = contentTypeOf(request);
      const body = contentType === 'application/json' ? bytes : payloadOfForm(bytes);
      const { verifiedEntries, failed } = await verify(request.headers, body, authorization);
      if (verifiedEntries.length === 0) throw unauthorized(request, failed);
      const headers = readHeaders(request);
      const { verifiedEntry, route } = examineRequest(verifiedEntries, headers, body);
      const uuid = headers.delivery;
      const delivery = {
        uuid,
        headers: keptHeaders(request.raw.rawHeaders, {
          uuid,
          eventType: headers.eventType,
          bytes: body.length,
        }),
        eventType: headers.eventType,
        entry: verifiedEntry.name,
        contentType,
        receivedAt,
        body,
      };
      return route === undefined ? delivery : { ...delivery, route };
    },
  };
}

/**
 * Parses the body unless one of the verified entries is trusted without it. Returns the entry that covers the delivery.
 */
function examineRequest(
  verifiedEntries: readonly VerifiedEntry[],
  headers: EventHeaders,
  body: Buffer,
): { verifiedEntry: VerifiedEntry; route: Route | undefined } {
  const trusted = verifiedEntries.find((verifiedEntry) => verifiedEntry.isTrustedUnread);
  if (trusted !== undefined) return { verifiedEntry: trusted, route: undefined };
  const event = parseDelivery(headers.eventType, parsePayload(body));
  const { repository } = event;
  const fullName = repository === undefined ? undefined : `${repository.owner}/${repository.name}`;
  const verifiedEntry = verifiedEntries.find((each) => each.covers(fullName));
  if (verifiedEntry === undefined) {
    throw new ReceiverRefusal(
      403,
      'scope',
      `${fullName ?? 'an event without a repository'} is outside the scope`,
    );
  }
  const lane = laneOf(event);
  if (repository === undefined || fullName === undefined) return { verifiedEntry, route: { lane } };
  return { verifiedEntry, route: { lane, repositoryId: repository.id, repository: fullName } };
}

/** The `User-Agent` of the requests with which `reeve setup` and `reeve doctor` identify the receiver at an address. */
export const probeAgent = 'reeve-probe';

/** Printable and of limited length, because these headers are stored, searched and shown. */
const plainHeader = /^[\x21-\x7e]{1,200}$/;

function readHeaders(request: FastifyRequest): EventHeaders {
  const headers = readEventHeaders(request.headers);
  if (headers === undefined && request.headers['user-agent'] === probeAgent) {
    throw new ReceiverRefusal(400, 'probe', 'a probe: its headers do not name a delivery');
  }
  if (headers === undefined || !plainHeader.test(headers.delivery) || !plainHeader.test(headers.eventType)) {
    throw new ReceiverRefusal(400, 'malformed', 'the headers do not name a delivery and its event type');
  }
  return headers;
}

function contentTypeOf(request: FastifyRequest): string {
  const type = request.headers['content-type'] ?? '';
  const end = type.indexOf(';');
  return (end === -1 ? type : type.slice(0, end)).trim().toLowerCase();
}

/** Returns the JSON inside a form, which is the signed text; empty if there is none. */
function payloadOfForm(bytes: Buffer): Buffer {
  return Buffer.from(new URLSearchParams(bytes.toString('utf8')).get('payload') ?? '');
}

/** Entry that verified a request. */
type VerifiedEntry = {
  readonly name: string;
  /**
   * Whether the sender has signed the body and the entry's scope is the whole forge. The body then need not be parsed
   * before the response.
   */
  readonly isTrustedUnread: boolean;
  readonly covers: (repository: string | undefined) => boolean;
};

/**
 * Result of the checks. `verifiedEntries` contains the entries that passed all their checks, in order; `failed` is only
 * for the log.
 */
type Verification = {
  readonly verifiedEntries: readonly VerifiedEntry[];
  readonly failed: readonly { readonly entry: string; readonly guard: 'authorization' | 'signature' }[];
};

/** Verifies a request. `given` is the result of `digestOfAuthorization` for the headers, if already known. */
export type Verify = (headers: RequestHeaders, body: Buffer, given?: Buffer) => Promise<Verification>;

/**
 * Creates the check of header and signature for all entries. Values are compared as digests in constant time, and every
 * value of every entry is always compared, so that the duration does not reveal which check failed.
 */
export function createVerify(entries: readonly SecretEntry[]): Verify {
  const guards = entries.map((entry) => ({
    name: entry.name,
    digests: entry.authorization.map(digestOfSecret),
    hmac: entry.hmac,
    verifiedEntry: {
      name: entry.name,
      isTrustedUnread: entry.hmac.length > 0 && isWholeScope(entry.scope),
      covers: createEntryScope(entry.scope),
    },
  }));

  return async (headers, body, given = digestOfAuthorization(headers)) => {
    const signature = signatureHeader(headers);
    // HMAC covers bytes, but the library takes text, so the text is used only if the bytes are valid UTF-8.
    const text = signature !== undefined && isUtf8(body) ? body.toString('utf8') : '';
    const verifiedEntries: VerifiedEntry[] = [];
    const failed: { entry: string; guard: 'authorization' | 'signature' }[] = [];
    for (const guard of guards) {
      const isKnown = guard.digests.length === 0 || isAuthorized(given, guard.digests);
      const isSigned = await hasSignature(text, signature, guard.hmac);
      if (isKnown && isSigned) verifiedEntries.push(guard.verifiedEntry);
      else failed.push({ entry: guard.name, guard: isKnown ? 'signature' : 'authorization' });
    }
    return { verifiedEntries, failed };
  };
}

async function hasSignature(
  text: string,
  signature: string | undefined,
  secrets: readonly string[],
): Promise<boolean> {
  let found = secrets.length === 0;
  // The library throws for an empty text. An empty body contains no event.
  if (signature === undefined || text === '') return found;
  const given = Buffer.from(signature);
  for (const secret of secrets) {
    const expected = Buffer.from(await sign(secret, text));
    // A signature is itself a digest of known length, so hashing both again would hide nothing.
    if (given.length === expected.length && isSameDigest(given, expected)) found = true;
  }
  return found;
}

const bareHeaders = ['x-forgejo-signature', 'x-gitea-signature', 'x-gogs-signature'];

/**
 * Returns the signature in the library's format. The forge's own header contains bare hex, and is empty if there is no
 * secret.
 */
function signatureHeader(headers: RequestHeaders): string | undefined {
  for (const name of bareHeaders) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return `sha256=${value}`;
  }
  const prefixed = headers['x-hub-signature-256'];
  return typeof prefixed === 'string' ? prefixed : undefined;
}

type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns the digest of a request's `Authorization` header; without the header, the digest of the empty text. */
function digestOfAuthorization(headers: RequestHeaders): Buffer {
  const given = headers.authorization;
  return digestOfSecret(typeof given === 'string' ? given : '');
}

/** Returns whether the digest equals one of these. All are compared, even after a match. */
export function isAuthorized(given: Buffer, digests: readonly Buffer[]): boolean {
  let found = false;
  for (const live of digests) {
    if (isSameDigest(given, live)) found = true;
  }
  return found;
}

/**
 * Creates the check that precedes the body. It returns false if every entry requires an `Authorization` header and the
 * digest matches none of their values; the body is then refused unread. An entry without a header value can still pass
 * by its signature, which covers the body, so with such an entry the check passes every request.
 */
function createHeaderCheck(entries: readonly SecretEntry[]): (given: Buffer) => boolean {
  if (entries.some((entry) => entry.authorization.length === 0)) return () => true;
  const digests = entries.flatMap((entry) => entry.authorization.map(digestOfSecret));
  return (given) => isAuthorized(given, digests);
}

/** Headers whose values are stored. All other values may be secrets, or names of machines behind a proxy. */
const shown: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
  'user-agent',
  ...['forgejo', 'gitea', 'gogs', 'github'].flatMap((forge) =>
    [
      'delivery',
      'event',
      'event-type',
      'hook-id',
      'hook-installation-target-id',
      'hook-installation-target-type',
    ].map((suffix) => `x-${forge}-${suffix}`),
  ),
]);

const maxHeaders = 64;
const maxNameLength = 64;
/** Printable and of limited length. */
const plainValue = /^[\x20-\x7e]{0,200}$/;

/** Expected value of a known header; undefined if the value is never stored. */
type Expected = string | { readonly same: 'uuid' | 'bytes' } | undefined;

/** Headers of an earlier delivery, with names and values alternating, and the text stored for them. */
type KnownHeaders = {
  readonly names: readonly (string | undefined)[];
  readonly expected: readonly Expected[];
  readonly text: string;
};

type HeaderOwner = { readonly uuid: string; readonly eventType: string; readonly bytes: number };

/** Maximum number of event types whose latest headers are cached. */
const maxKnownTypes = 256;

/**
 * Creates the function that returns the stored form of a delivery's headers: the values of headers that every webhook
 * has, and only the names of all others, which include `authorization`, signatures and cookies. It takes raw headers,
 * with names and values alternating. A forge sends the same headers with every delivery of an event type, so headers
 * that equal the cached ones are not processed again.
 */
export function createKeptHeaders(): (rawHeaders: readonly string[], delivery: HeaderOwner) => string {
  const known = new Map<string, KnownHeaders>();
  return (rawHeaders, delivery) => {
    const before = known.get(delivery.eventType);
    if (before !== undefined && areKnown(rawHeaders, before, delivery)) return before.text;
    const read = readKnownHeaders(rawHeaders, delivery);
    if (known.size >= maxKnownTypes) known.clear();
    known.set(delivery.eventType, read);
    return read.text;
  };
}

function areKnown(rawHeaders: readonly string[], known: KnownHeaders, { uuid, bytes }: HeaderOwner): boolean {
  if (rawHeaders.length !== known.names.length * 2) return false;
  for (let at = 0; at < known.names.length; at += 1) {
    if (rawHeaders[2 * at] !== known.names[at]) return false;
    const expected = known.expected[at];
    if (expected === undefined) continue;
    const value = rawHeaders[2 * at + 1];
    if (typeof expected === 'string') {
      if (value !== expected) return false;
    } else if (expected.same === 'uuid' ? value !== uuid : Number(value) !== bytes) return false;
  }
  return true;
}

function readKnownHeaders(rawHeaders: readonly string[], delivery: HeaderOwner): KnownHeaders {
  const kept: KeptHeader[] = [];
  const names: (string | undefined)[] = [];
  const expected: Expected[] = [];
  let leftOut = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [given = '', value = ''] = rawHeaders.slice(at, at + 2);
    const name = given.toLowerCase();
    const isLeftOut = kept.length === maxHeaders || name.length > maxNameLength;
    const header = keptHeader(name, value, delivery);
    if (isLeftOut) leftOut += 1;
    else kept.push(header);
    // A value that is omitted because of its content may be different in the next delivery.
    const isOdd = isLeftOut || (shown.has(name) && header.length === 1);
    names.push(isOdd ? undefined : given);
    expected.push(header[1]);
  }
  return { names, expected, text: encodeHeaders(kept, leftOut) };
}

function keptHeader(name: string, value: string, { uuid, bytes }: HeaderOwner): KeptHeader {
  if (!shown.has(name)) return [name];
  if (name === 'content-length') return value === String(bytes) ? [name, { same: 'bytes' }] : [name];
  if (value === uuid) return [name, { same: 'uuid' }];
  return plainValue.test(value) ? [name, value] : [name];
}

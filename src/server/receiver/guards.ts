import type { FastifyRequest } from 'fastify';
import { type EventHeaders, readEventHeaders } from '../../contract/events/event-headers.ts';
import { laneOf, parseDelivery } from '../../contract/events/events.ts';
import { parsePayload } from '../../contract/events/parse-payload.ts';
import type { Clock } from '../../platform/clock.ts';
import { createFailureThrottle } from '../../platform/http/failure-throttle.ts';
import type { Log } from '../../platform/log.ts';
import type { NewDelivery, Route } from '../../store/store.ts';
import type { Bodies } from './body.ts';
import { createKeptHeaders } from './kept-headers.ts';
import { ReceiverRefusal } from './refusal.ts';
import type { SecretEntry } from './secrets.ts';
import { createHeaderCheck, createVerify, digestOfAuthorization, type VerifiedEntry } from './verify.ts';

const types: ReadonlySet<string> = new Set(['application/json', 'application/x-www-form-urlencoded']);

/** The guards that a request passes, before and after its body is read. */
export interface Guards {
  /** Checks a request before its body is read. Returns the digest of its `Authorization` header. Throws ReceiverRefusal or BodyError. */
  examineHeaders(request: FastifyRequest): Buffer;
  /** Returns the delivery that a request carries; `authorization` comes from `examineHeaders`. Throws ReceiverRefusal. */
  admit(request: FastifyRequest, authorization: Buffer, bytes: Buffer): Promise<NewDelivery>;
}

/** Creates the guards. */
export function createGuards(options: {
  readonly bodies: Pick<Bodies, 'refuse'>;
  readonly secrets: readonly SecretEntry[];
  /** Refused requests per minute and address that get 401; further ones get 429. */
  readonly failuresPerMinute: number;
  readonly clock: Pick<Clock, 'now'>;
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
    log.warn({ address: request.ip, failed }, 'refused a delivery: no entry of secrets passes');
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

/** Parses the body if a verifying entry requires it; returns the entry that covers the delivery. */
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

/** The sender of requests by which `reeve setup` and `reeve doctor` find out whose receiver answers at an address. */
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

/** Returns the JSON inside a form, which is the signed text; empty if missing. */
function payloadOfForm(bytes: Buffer): Buffer {
  return Buffer.from(new URLSearchParams(bytes.toString('utf8')).get('payload') ?? '');
}
